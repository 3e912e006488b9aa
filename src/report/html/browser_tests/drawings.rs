//! Figures: their size by buttons and keys, and where their links lead.

use super::*;
use crate::document::Outline;
use crate::drawing::{Drawing, Paint, Shape, Spot};

/// A page with a figure of two nodes, and a table that has a row for one of them.
fn page_with_figure(script: &str) -> Value {
    let evidence = sample::evidence();
    let standing = Standing::Verified;
    let label = |words: &str, y: f32| Shape::Label {
        spot: Spot { x: 10.0, y },
        align: ColumnAlign::Left,
        size: 9.0,
        text: Text::code(words).with_link("chapter/nodes").0.remove(0),
    };
    let drawing = Drawing {
        caption: "Graph".into(),
        description: "Two nodes".to_owned(),
        width: 400.0,
        height: 100.0,
        shapes: vec![
            Shape::rectangle(Spot { x: 0.0, y: 0.0 }, 400.0, 100.0, Paint::Hairline),
            label("buffer a", 20.0),
            label("buffer z", 60.0),
        ],
    };
    let mut table = Table::new("Nodes").columns(&["Node", "Kind"]);
    for name in ["buffer b", "buffer a", "buffer a and more"] {
        table.add_row(vec![Text::code(name), Text::plain("buffer")]);
    }
    let mut outline = Outline::default();
    outline.add_heading(1, "Figure", "chapter/figure");
    outline.add_block(Block::Drawing(drawing));
    outline.add_heading(1, "Nodes", "chapter/nodes");
    outline.add_table(table);
    let mut document =
        crate::chapter::report_document(&evidence, crate::DocumentName::Tool, None).unwrap();
    document.body = outline.blocks;
    let page = page_bytes(&document, &Page::only(&evidence, &standing));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    std::fs::write(&file, scripted(&page, script)).unwrap();
    opened(&file, 1200)
}

#[test]
fn a_figure_grows_and_shrinks_by_buttons_and_keys_within_its_frame() {
    let value = page_with_figure(
        "var figure = document.querySelector('figure.drawing');
         var box = figure.querySelector('.scroll');
         function width() { return Math.round(figure.querySelector('svg').getBoundingClientRect().width); }
         var widths = [width()];
         figure.querySelector('[data-zoom=\"1.25\"]').click();
         widths.push(width());
         figure.querySelector('[data-zoom=\"0.8\"]').click();
         widths.push(width());
         box.focus();
         for (var times = 0; times < 8; times += 1) { press('+', box); }
         widths.push(width());
         var told = figure.querySelector('.scale').textContent;
         var scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === 'auto';
         var cut = document.documentElement.scrollWidth > innerWidth;
         press('-', box);
         widths.push(width());
         press('0', box);
         widths.push(width());
         return { widths: widths, told: told, scrolls: scrolls, cut: cut, focus: document.activeElement === box,
                  role: figure.querySelector('svg').getAttribute('role'), label: box.getAttribute('aria-label') };",
    );
    let widths: Vec<u64> = serde_json::from_value(value["widths"].clone()).unwrap();
    let [plain, larger, back, largest, smaller, printed] = widths[..] else { panic!("{value}") };
    assert_eq!((back, printed), (plain, plain), "{value}");
    assert!(larger > plain && largest > 4 * plain && smaller < largest, "{value}");
    assert_eq!([&value["scrolls"], &value["cut"], &value["focus"]], [true, false, true], "{value}");
    assert_eq!((&value["told"], &value["label"]), (&"596 %".into(), &"Figure: Graph".into()));
    assert_eq!(value["role"], "group");
}

#[test]
fn a_link_in_a_figure_leads_to_the_row_of_what_it_names() {
    let value = page_with_figure(
        "var links = document.querySelectorAll('figure.drawing a');
         var text = links[0].querySelector('text');
         text.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
         var row = document.querySelector('.at');
         var first = { row: row.cells[0].textContent, focus: document.activeElement === row, hash: location.hash };
         history.replaceState(null, '', '#elsewhere');
         links[1].querySelector('text').dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
         return { first: first, hash: location.hash, marked: document.querySelector('.at').cells[0].textContent };",
    );
    let first = serde_json::json!({ "row": "buffer a", "focus": true, "hash": "#chapter:nodes" });
    assert_eq!(value["first"], first);
    // Without a row of that name the link leads to its place as links do.
    assert_eq!((&value["hash"], &value["marked"]), (&"#chapter:nodes".into(), &"buffer a".into()));
}
