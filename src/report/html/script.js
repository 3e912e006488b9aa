// Shows the tables of the chosen decision beside the source, and the place in the contents. The page reads without it.
(function () {
  'use strict';
  function show(link) {
    var target = document.getElementById(link.hash.slice(1));
    var view = link.closest('.source-view');
    var panel = view && view.querySelector('aside.vectors');
    var section = target && target.closest('section.together');
    if (!panel || !section || getComputedStyle(panel).display === 'none') { return false; }
    var copy = section.cloneNode(true);
    copy.className = '';
    [copy].concat(Array.from(copy.querySelectorAll('[id]'))).forEach(function (node) { node.removeAttribute('id'); });
    panel.replaceChildren(copy);
    return true;
  }
  document.addEventListener('click', function (event) {
    var link = event.target.closest('a.condition');
    if (link && !event.ctrlKey && !event.metaKey && show(link)) { event.preventDefault(); }
  });
  document.querySelectorAll('.source-view').forEach(function (view) {
    var first = view.querySelector('a.condition.bad, a.condition.caution') || view.querySelector('a.condition');
    if (first) { show(first); }
  });
  var entries = Array.from(document.querySelectorAll('nav a'));
  var seen = new IntersectionObserver(function (changes) {
    changes.forEach(function (change) {
      if (!change.isIntersecting) { return; }
      entries.forEach(function (entry) { entry.classList.toggle('here', entry.hash === '#' + change.target.id); });
    });
  }, { rootMargin: '0px 0px -80% 0px' });
  document.querySelectorAll('h2[id], h3[id]').forEach(function (heading) { seen.observe(heading); });
}());
