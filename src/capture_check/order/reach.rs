//! Which ranges a dependency is about.

use super::span::{AccessSpan, SpanPlace};
use vkcert_capture::command::QueueTransfer;
use vkcert_capture::image::SubresourceRange;
use vkcert_capture::program::{BarrierScope, Program};

/// Whether a dependency is about a range of memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reach {
    All,
    None,
    /// About some of it, or in a way that is not modelled; in words.
    Partly(&'static str),
}

pub(super) fn reach_of(scope: &BarrierScope, span: &AccessSpan, program: &Program) -> Reach {
    match scope {
        BarrierScope::All => Reach::All,
        BarrierScope::Execution | BarrierScope::Image => Reach::None,
        BarrierScope::Buffer { buffer, offset, size, transfer } => {
            let Some(named) = program.span(*buffer, *offset, *size) else { return Reach::None };
            reach_of_named(&[named.into()], *transfer, span)
        }
        BarrierScope::ImagePart { image, range, transfer, .. } => {
            if span.place != SpanPlace::Image(*image) {
                return Reach::None;
            }
            reach_of_named(&image_spans(program, *image, range), *transfer, span)
        }
    }
}

/// The texels of a part of an image.
pub(super) fn image_spans(
    program: &Program,
    image: usize,
    range: &SubresourceRange,
) -> Vec<AccessSpan> {
    let object = &program.images[image];
    let spans = object.spans(&object.subresources(range)).into_iter();
    let place = SpanPlace::Image(image);
    spans.map(|(start, end)| AccessSpan { place, start, end }).collect()
}

/// Whether spans that a dependency names, in ascending order, hold a span.
fn reach_of_named(named: &[AccessSpan], transfer: QueueTransfer, span: &AccessSpan) -> Reach {
    let meets = |named: &&AccessSpan| {
        named.place == span.place && named.start < span.end && span.start < named.end
    };
    let mut covered = span.start;
    let mut is_met = false;
    for named in named.iter().filter(meets) {
        is_met = true;
        if named.start <= covered {
            covered = covered.max(named.end);
        }
    }
    match transfer {
        _ if !is_met => Reach::None,
        QueueTransfer::BetweenFamilies => Reach::Partly("a transfer between queue families"),
        QueueTransfer::None if span.end <= covered => Reach::All,
        QueueTransfer::None => Reach::Partly("a barrier for a part of the range"),
    }
}
