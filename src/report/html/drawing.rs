//! Figures as drawings within the page (SVG 1.1, in its HTML form).
//!
//! Promises: no reference out of the page; colours follow the theme; the description stands as the
//! name of the drawing for readers who do not see it; where it has links it is a group, because what
//! an image holds is not told. The script lets it grow and shrink, and a link leads to the row of what
//! it names.

mod svg_file;

pub(crate) use svg_file::svg_document;

use super::{Page, set_text, tone_class};
use crate::document::{ColumnAlign, Style, TextRun};
use crate::drawing::{Dashes, Drawing, Paint, Raster, Shape, Spot};
use maud::{Markup, html};

pub(super) fn set_drawing(drawing: &Drawing, page: &Page) -> Markup {
    let (width, height) = (drawing.width, drawing.height);
    let is_linked =
        |shape: &Shape| matches!(shape, Shape::Label { text, .. } if text.link.is_some());
    let role = if drawing.shapes.iter().any(is_linked) { "group" } else { "img" };
    html! {
        figure.drawing {
            p.zoom hidden {
                button type="button" data-zoom="1.25" aria-keyshortcuts="+" { "Larger" } " "
                button type="button" data-zoom="0.8" aria-keyshortcuts="-" { "Smaller" } " "
                button type="button" data-zoom="0" aria-keyshortcuts="0" { "As printed" } " "
                output.scale aria-live="polite" {}
            }
            div.scroll tabindex="0" role="region" aria-label={ "Figure: " (drawing.caption.plain_words()) } {
                svg role=(role) aria-label=(drawing.description) viewBox=(format!("0 0 {width} {height}"))
                    width=(format!("{width}pt")) height=(format!("{height}pt")) {
                    @for shape in &drawing.shapes { (set_shape(shape, page)) }
                }
            }
            figcaption { (set_text(&drawing.caption, page)) }
        }
    }
}

fn set_shape(shape: &Shape, page: &Page) -> Markup {
    match shape {
        Shape::Area { corners, paint } => html! {
            polygon points=(svg_points(corners)) style=(format!("fill:{}", paint_variable(*paint))) {}
        },
        Shape::Line { spots, thickness, dashes, paint } => html! {
            polyline points=(svg_points(spots)) fill="none" stroke-width=(thickness)
                stroke-dasharray=[dash_pattern(*dashes)]
                style=(format!("stroke:{}", paint_variable(*paint))) {}
        },
        Shape::Label { spot, align, size, text } => set_label((*spot, *align, *size), text, page),
        Shape::Raster { corner, width, height, raster } => {
            set_raster(*corner, *width, *height, raster)
        }
    }
}

fn svg_points(spots: &[Spot]) -> String {
    spots.iter().map(|spot| format!("{},{}", spot.x, spot.y)).collect::<Vec<_>>().join(" ")
}

fn dash_pattern(dashes: Dashes) -> Option<&'static str> {
    match dashes {
        Dashes::Solid => None,
        Dashes::Dashed => Some("3 2"),
    }
}

fn paint_variable(paint: Paint) -> String {
    match paint {
        Paint::Ink(tone) => match tone_class(tone) {
            "neutral" => "var(--ink)".to_owned(),
            class => format!("var(--{class})"),
        },
        Paint::Wash(tone) => match tone_class(tone) {
            "neutral" | "quiet" => "var(--wash)".to_owned(),
            class => format!("var(--{class}-wash)"),
        },
        Paint::Accent => "var(--accent)".to_owned(),
        Paint::Hairline => "var(--line)".to_owned(),
        Paint::Paper => "var(--paper)".to_owned(),
    }
}

/// A label at a spot, with its alignment and size.
fn set_label((spot, align, size): (Spot, ColumnAlign, f32), run: &TextRun, page: &Page) -> Markup {
    let text_anchor = match align {
        ColumnAlign::Left => "start",
        ColumnAlign::Centre => "middle",
        ColumnAlign::Right => "end",
    };
    let style_class = match run.style {
        Style::Plain => "plain",
        Style::Strong => "strong",
        Style::Emphasis => "emphasis",
        Style::Code => "code",
    };
    let label = html! {
        text.(style_class).(tone_class(run.tone)) x=(spot.x) y=(spot.y) font-size=(size)
            text-anchor=(text_anchor) { (run.text) }
    };
    match run.link.as_ref().and_then(|anchor| page.links.link_to(anchor)) {
        Some(link) => html! { a href=(link) { (label) } },
        None => label,
    }
}

/// One rectangle per run of equal pixels: no image format is needed, and pixels stay sharp at every
/// zoom.
fn set_raster(corner: Spot, width: f32, height: f32, raster: &Raster) -> Markup {
    let (columns, rows) = (raster.columns.max(1), raster.rows.max(1));
    let placed = format!(
        "translate({} {}) scale({} {})",
        corner.x,
        corner.y,
        width / columns as f32,
        height / rows as f32
    );
    html! {
        g transform=(placed) shape-rendering="crispEdges" {
            @for run in raster.pixel_runs() {
                @let [red, green, blue] = run.colour;
                rect x=(run.column) y=(run.row) width=(run.length) height="1"
                    fill=(format!("#{red:02x}{green:02x}{blue:02x}")) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Text, Tone};

    #[test]
    fn a_drawing_shows_its_shapes_and_says_what_it_shows() {
        let mut label = Text::code("</svg>").with_link("kernel a");
        let drawing = Drawing {
            caption: "Coverage".into(),
            description: "\"Two\" bars".to_owned(),
            width: 100.0,
            height: 20.0,
            shapes: vec![
                Shape::rectangle(Spot { x: 0.0, y: 0.0 }, 60.0, 10.0, Paint::Ink(Tone::Good)),
                Shape::Label {
                    spot: Spot { x: 62.0, y: 9.0 },
                    align: ColumnAlign::Left,
                    size: 8.0,
                    text: label.0.remove(0),
                },
            ],
        };
        let evidence = vkcert_sample::evidence();
        let standing = crate::Standing::Verified;
        let page = set_drawing(&drawing, &Page::only(&evidence, &standing)).into_string();
        assert!(
            page.contains("<polygon points=\"0,0 60,0 60,10 0,10\" style=\"fill:var(--good)\">")
        );
        assert!(page.contains("aria-label=\"&quot;Two&quot; bars\""));
        assert!(page.contains("<a href=\"#kernel_20_a\"><text class=\"code neutral\""));
        assert!(page.contains("&lt;/svg&gt;"));
    }
}
