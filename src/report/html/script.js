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
    copy.className = 'panel';
    [copy].concat(Array.from(copy.querySelectorAll('[id]'))).forEach(function (node) { node.removeAttribute('id'); });
    markPair(copy, link);
    copy.prepend(leadOf(link));
    copy.append(wayTo(link));
    panel.replaceChildren(copy);
    link.closest('.columns').append(panel);
    view.querySelectorAll('a.condition[aria-current]').forEach(function (other) { other.removeAttribute('aria-current'); });
    view.querySelectorAll('a.condition').forEach(function (other) {
      if (other.title === link.title) { other.setAttribute('aria-current', 'true'); }
    });
    return true;
  }
  function paragraph(className, words) {
    var element = document.createElement('p');
    element.className = className;
    element.textContent = words;
    return element;
  }
  // The first two lines of what the pointer shows are the condition and its statuses.
  function leadOf(link) {
    var lines = link.title.split('\n');
    var rows = link.dataset.pair;
    return paragraph('condition-lead', lines.slice(0, 2).join('. ') + (rows ? '. Independence pair: rows ' + rows.replace(' ', ' and ') + '.' : '. No independence pair.'));
  }
  function markPair(copy, link) {
    var rows = link.dataset.pair.split(' ').filter(Boolean);
    var vectors = Array.from(copy.querySelectorAll('table')).find(function (table) { return table.caption && table.caption.textContent.startsWith('Decision '); });
    if (vectors) {
      Array.from(vectors.tBodies[0].rows).forEach(function (row) {
        if (!rows.includes(row.cells[0].textContent)) { return; }
        row.classList.add('pair');
        row.cells[0].textContent += ' ◆';
        row.cells[0].title = 'row of the independence pair';
      });
    }
    var id = link.title.split(':')[0];
    copy.querySelectorAll('tbody tr').forEach(function (row) { row.classList.toggle('chosen', row.cells[0].textContent === id); });
  }
  function wayTo(link) {
    var way = paragraph('way', '');
    var full = document.createElement('a');
    full.href = link.hash;
    full.textContent = 'The decision in its chapter';
    way.append(full);
    return way;
  }
  document.addEventListener('click', function (event) {
    var link = event.target.closest('a.condition');
    if (link && !event.ctrlKey && !event.metaKey && show(link)) { event.preventDefault(); }
  });
  // Each view shows its first open decision once it comes near; all at once are slow on a page of many kernels.
  function showFirst(view) {
    var first = view.querySelector('a.condition.bad, a.condition.caution') || view.querySelector('a.condition');
    if (first) { show(first); }
  }
  var near = new IntersectionObserver(function (changes) {
    changes.forEach(function (change) {
      if (change.isIntersecting) { near.unobserve(change.target); showFirst(change.target); }
    });
  }, { rootMargin: '600px' });
  document.querySelectorAll('.source-view').forEach(function (view) { near.observe(view); });
  var entries = Array.from(document.querySelectorAll('nav a'));
  var seen = new IntersectionObserver(function (changes) {
    changes.forEach(function (change) {
      if (!change.isIntersecting) { return; }
      entries.forEach(function (entry) { entry.classList.toggle('here', entry.hash === '#' + change.target.id); });
    });
  }, { rootMargin: '0px 0px -80% 0px' });
  document.querySelectorAll('h2[id], h3[id]').forEach(function (heading) { seen.observe(heading); });
}());
// Search, filter, sorting, open places and theme. Nothing that is filtered out goes without being counted.
(function () {
  'use strict';
  var bar = document.querySelector('.toolbar');
  if (!bar) { return; }
  var field = bar.querySelector('input[type=search]');
  var openOnly = bar.querySelector('.open-only');
  var shown = bar.querySelector('output');
  var openMarks = '.bad, .caution';
  bar.hidden = false;

  // A section has texts of its own: its children but the sections in it.
  function sectionOf(element) {
    var own = Array.from(element.children).filter(function (child) { return !child.matches('.part'); });
    var heading = element.querySelector('h2, h3, h4');
    return {
      element: element,
      own: own,
      heading: own.some(function (child) { return child.contains(heading); }) ? heading : null,
      parts: Array.from(element.children).filter(function (child) { return child.matches('.part'); }).map(sectionOf)
    };
  }
  var chapters = Array.from(document.querySelectorAll('.chapter')).map(sectionOf);
  var texts = new WeakMap();
  function textOf(element) {
    if (!texts.has(element)) { texts.set(element, element.textContent.toLowerCase()); }
    return texts.get(element);
  }
  function hasWords(text, words) { return words.every(function (word) { return text.includes(word); }); }
  function isOpen(element) {
    return Array.from(element.querySelectorAll(openMarks)).concat(element.matches(openMarks) ? [element] : [])
      .some(function (mark) { return !mark.closest('.legend, .toolbar'); });
  }

  function filterRows(section, words, whole) {
    section.own.forEach(function (child) {
      child.querySelectorAll('tbody').forEach(function (body) {
        var rows = Array.from(body.rows);
        var byWords = !whole && rows.some(function (row) { return hasWords(textOf(row), words); });
        var byOpen = openOnly.checked && rows.some(isOpen);
        var left = 0;
        rows.forEach(function (row) {
          var stays = (!byWords || hasWords(textOf(row), words)) && (!byOpen || isOpen(row));
          row.classList.toggle('left-out', !stays);
          left += stays ? 1 : 0;
        });
        var table = body.parentElement;
        var folded = table.closest('details.folded');
        if (folded) { openByFilter(folded, (byWords || byOpen) && left > 0); }
        if (left < rows.length) { table.dataset.shown = left + ' of ' + rows.length + ' rows shown'; } else { delete table.dataset.shown; }
      });
      Array.from(child.matches('.tree') ? [child] : child.querySelectorAll('.tree')).forEach(function (tree) { filterTree(tree, words, whole); });
    });
  }

  // A line of a tree stays with its words or its open mark, below a line that has the words, and above a line that stays.
  function filterTree(tree, words, whole) {
    var lines = Array.from(tree.querySelectorAll('.tree-line'));
    var byWords = !whole && lines.some(function (line) { return hasWords(textOf(line), words); });
    var byOpen = openOnly.checked && lines.some(isOpen);
    function filterNode(node, inLine) {
      var details = node.querySelector(':scope > details');
      var line = node.querySelector(details ? ':scope > details > .tree-line' : ':scope > .tree-line');
      var hasOwn = inLine || !byWords || hasWords(textOf(line), words);
      var staysBelow = false;
      node.querySelectorAll(details ? ':scope > details > ul > .node' : ':scope > ul > .node').forEach(function (part) {
        staysBelow = filterNode(part, byWords && hasOwn) || staysBelow;
      });
      var stays = (hasOwn && (!byOpen || isOpen(line))) || staysBelow;
      node.classList.toggle('left-out', !stays);
      if (details) { openByFilter(details, (byWords || byOpen) && staysBelow); }
      return stays;
    }
    tree.querySelectorAll(':scope > ul > .node').forEach(function (node) { filterNode(node, false); });
    var left = lines.filter(function (line) { return !line.closest('.left-out'); }).length;
    tree.querySelector('.tree-shown').textContent = left < lines.length ? left + ' of ' + lines.length + ' lines shown' : '';
  }

  // Opens what leads to a line or row that stays; once nothing is filtered it is as the reader had left it.
  function openByFilter(details, filtered) {
    if (filtered && details.dataset.before === undefined) { details.dataset.before = details.open ? 'open' : ''; }
    if (filtered) { details.open = true; return; }
    if (details.dataset.before !== undefined) { details.open = details.dataset.before === 'open'; delete details.dataset.before; }
  }

  function moveInTree(line, key) {
    var details = line.parentElement.matches('details') ? line.parentElement : null;
    if (key === 'ArrowRight' && details && !details.open) { details.open = true; return true; }
    if (key === 'ArrowLeft' && details && details.open) { details.open = false; return true; }
    var lines = Array.from(line.closest('.tree').querySelectorAll('.tree-line')).filter(function (other) { return other.checkVisibility(); });
    var place = lines.indexOf(line);
    var above = line.closest('.node').parentElement.closest('.node');
    var next = {
      ArrowDown: lines[place + 1], ArrowRight: details && lines[place + 1], ArrowUp: lines[place - 1],
      ArrowLeft: above && above.querySelector('.tree-line'), Home: lines[0], End: lines[lines.length - 1]
    };
    if (!(key in next)) { return false; }
    if (next[key]) { next[key].focus(); }
    return true;
  }
  document.querySelectorAll('.tree').forEach(function (tree) {
    tree.querySelector('.tree-buttons').hidden = false;
    tree.querySelectorAll('span.tree-line').forEach(function (line) { line.tabIndex = -1; });
    function setAll(open) { tree.querySelectorAll('details').forEach(function (details) { details.open = open; }); }
    tree.querySelector('.open-all').addEventListener('click', function () { setAll(true); });
    tree.querySelector('.close-all').addEventListener('click', function () { setAll(false); });
  });

  // Whether the section or one in it stays; `whole`: the words stand in a heading around it.
  function filterSection(section, words, whole, count) {
    var inHeading = whole || (section.heading !== null && hasWords(textOf(section.heading), words));
    var ownText = section.own.map(textOf).join(' ');
    var stays = (inHeading || hasWords(ownText, words)) && (!openOnly.checked || section.own.some(isOpen));
    if (stays) { filterRows(section, words, inHeading); }
    section.parts.forEach(function (part) { stays = filterSection(part, words, inHeading, count) || stays; });
    section.element.classList.toggle('left-out', !stays);
    count.all += 1;
    count.shown += stays ? 1 : 0;
    if (section.heading && section.heading.id) { count.headings[section.heading.id] = stays; }
    return stays;
  }

  function filter() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var count = { all: 0, shown: 0, headings: {} };
    var active = words.length > 0 || openOnly.checked;
    chapters.forEach(function (chapter) { filterSection(chapter, words, words.length === 0, count); });
    document.querySelectorAll('nav a').forEach(function (entry) {
      entry.parentElement.classList.toggle('left-out', count.headings[entry.hash.slice(1)] === false);
    });
    document.documentElement.classList.toggle('filtered', active);
    shown.textContent = active ? count.shown + ' of ' + count.all + ' sections shown' : '';
  }

  var waiting;
  field.addEventListener('input', function () { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
  openOnly.addEventListener('change', filter);
  function clear() { field.value = ''; openOnly.checked = false; filter(); }

  // A link to what is left out shows everything again.
  document.addEventListener('click', function (event) {
    var link = event.target.closest('a[href^="#"]');
    var target = link && document.getElementById(link.getAttribute('href').slice(1));
    if (target && target.closest('.left-out')) { clear(); }
  }, true);

  var place = -1;
  function goToOpen(step) {
    var marks = Array.from(document.querySelectorAll('.chapter :is(' + openMarks + ')')).filter(function (mark) {
      return !mark.closest('.legend, .left-out, .tree, aside') && !mark.parentElement.closest(openMarks);
    });
    if (marks.length === 0) { shown.textContent = 'nothing is open'; return; }
    place = (place + step + marks.length) % marks.length;
    document.querySelectorAll('.at').forEach(function (mark) { mark.classList.remove('at'); });
    for (var details = marks[place].closest('details'); details; details = details.parentElement.closest('details')) { details.open = true; }
    marks[place].classList.add('at');
    marks[place].scrollIntoView({ block: 'center' });
    shown.textContent = 'open place ' + (place + 1) + ' of ' + marks.length;
  }
  bar.querySelector('.next-open').addEventListener('click', function () { goToOpen(1); });

  var themes = ['system', 'light', 'dark'];
  var themeButton = bar.querySelector('.theme');
  function setTheme(theme) {
    if (theme === 'system') { delete document.documentElement.dataset.theme; } else { document.documentElement.dataset.theme = theme; }
    themeButton.textContent = 'Theme: ' + theme;
    try { localStorage.setItem('theme', theme); } catch (refused) { return; }
  }
  function nextTheme() {
    var current = document.documentElement.dataset.theme || 'system';
    setTheme(themes[(themes.indexOf(current) + 1) % themes.length]);
  }
  themeButton.addEventListener('click', nextTheme);
  try { if (themes.includes(localStorage.getItem('theme'))) { setTheme(localStorage.getItem('theme')); } } catch (refused) { setTheme('system'); }

  // Figures: their size, and the row that a link in one is about.
  var mostZoom = 8;
  function zoom(figure, factor) {
    var drawing = figure.querySelector('svg');
    var now = Number(drawing.dataset.scale || 1);
    var next = factor === 0 ? 1 : Math.min(mostZoom, Math.max(1 / mostZoom, now * factor));
    var box = figure.querySelector('.scroll');
    var middle = [(box.scrollLeft + box.clientWidth / 2) / box.scrollWidth, (box.scrollTop + box.clientHeight / 2) / box.scrollHeight];
    drawing.dataset.scale = next;
    drawing.style.maxWidth = 'none';
    drawing.style.width = next * parseFloat(drawing.getAttribute('width')) + 'pt';
    drawing.style.height = next * parseFloat(drawing.getAttribute('height')) + 'pt';
    box.scrollLeft = middle[0] * box.scrollWidth - box.clientWidth / 2;
    box.scrollTop = middle[1] * box.scrollHeight - box.clientHeight / 2;
    figure.querySelector('.scale').textContent = Math.round(100 * next) + ' %';
  }
  document.querySelectorAll('figure.drawing').forEach(function (figure) {
    figure.querySelector('.zoom').hidden = false;
    figure.querySelectorAll('[data-zoom]').forEach(function (button) {
      button.addEventListener('click', function () { zoom(figure, Number(button.dataset.zoom)); });
    });
  });
  function zoomByKey(figure, key) {
    var factor = { '+': 1.25, '=': 1.25, '-': 0.8, '0': 0 }[key];
    if (factor === undefined) { return false; }
    zoom(figure, factor);
    return true;
  }
  // The first row below the target that has the words of the link; none: the target itself.
  function rowOf(link) {
    var target = document.getElementById(link.getAttribute('href').slice(1));
    var section = target && target.closest('.part');
    var words = link.textContent.trim();
    return section && Array.from(section.querySelectorAll('tbody tr')).find(function (row) {
      return Array.from(row.cells).some(function (cell) { return cell.textContent.trim() === words; });
    });
  }
  function markPlace(place) {
    document.querySelectorAll('.at').forEach(function (other) { other.classList.remove('at'); });
    place.classList.add('at');
    place.tabIndex = -1;
    place.scrollIntoView({ block: 'center' });
    place.focus({ preventScroll: true });
  }
  document.addEventListener('click', function (event) {
    var link = event.target.closest('.drawing a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey) { return; }
    var row = rowOf(link);
    if (!row) { return; }
    event.preventDefault();
    if (row.closest('.left-out')) { clear(); }
    history.pushState(null, '', link.getAttribute('href'));
    markPlace(row);
  });

  var order = new Intl.Collator('en', { numeric: true });
  function sortBy(title) {
    var table = title.closest('table');
    var body = table.tBodies[0];
    var column = title.cellIndex;
    var rows = Array.from(body.rows);
    rows.forEach(function (row, index) { if (!row.dataset.place) { row.dataset.place = index; } });
    var next = { ascending: 'descending', descending: 'none' }[title.getAttribute('aria-sort')] || 'ascending';
    table.querySelectorAll('th').forEach(function (other) { other.removeAttribute('aria-sort'); });
    title.setAttribute('aria-sort', next);
    var sign = next === 'descending' ? -1 : 1;
    rows.sort(function (first, second) {
      var byPlace = first.dataset.place - second.dataset.place;
      if (next === 'none') { return byPlace; }
      return sign * order.compare(first.cells[column].textContent, second.cells[column].textContent) || byPlace;
    });
    body.append.apply(body, rows);
  }
  document.querySelectorAll('.chapter th').forEach(function (title) { title.tabIndex = 0; title.title = 'sort by this column'; });
  document.addEventListener('click', function (event) {
    var title = event.target.closest('.chapter th');
    if (title) { sortBy(title); }
  });

  document.addEventListener('keydown', function (event) {
    var typing = event.target.closest && event.target.closest('input, textarea, select');
    if (event.key === 'Escape') { clear(); field.blur(); return; }
    if (typing || event.ctrlKey || event.metaKey || event.altKey) { return; }
    var figure = event.target.closest && event.target.closest('figure.drawing');
    if (figure && zoomByKey(figure, event.key)) { event.preventDefault(); return; }
    var line = event.target.closest && event.target.closest('.tree .tree-line');
    if (line && moveInTree(line, event.key)) { event.preventDefault(); return; }
    var title = event.target.closest && event.target.closest('.chapter th');
    if (title && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); sortBy(title); return; }
    var actions = {
      '/': function () { field.focus(); },
      n: function () { goToOpen(1); },
      p: function () { goToOpen(-1); },
      o: function () { openOnly.checked = !openOnly.checked; filter(); },
      t: nextTheme
    };
    if (actions[event.key]) { event.preventDefault(); actions[event.key](); }
  });
}());
