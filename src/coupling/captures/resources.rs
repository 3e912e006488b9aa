//! Buffers and images of captured dispatches, compared with the sizes that the interface states.

use super::facts::{AXES, CapturedFacts, Collected, DispatchCase, StatedNumber};

impl CapturedFacts<'_> {
    pub(super) fn compare_buffers(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        let buffers = self.input.interface.buffers.iter().zip(&self.expressions.buffers);
        for (buffer, expression) in buffers {
            let (set, binding) = (buffer.set, buffer.binding);
            let mut bound = dispatch.captured.given.buffers.iter();
            let bound = bound.find(|bound| (bound.set, bound.binding) == (set, binding));
            let Some(bound) = bound else { continue };
            let stated = StatedNumber {
                quantity: format!("buffer {set}.{binding}"),
                words: format!("bytes bound at {set}.{binding}"),
                text: &buffer.size,
                expression,
                width: None,
            };
            self.compare_number(dispatch, &stated, i128::from(bound.bytes), collected);
        }
    }

    pub(super) fn compare_images(&self, dispatch: &DispatchCase<'_>, collected: &mut Collected) {
        let images = self.input.interface.images.iter().zip(&self.expressions.images);
        for (image, expressions) in images {
            let place = (image.set, image.binding);
            let mut bound = dispatch.captured.given.images.iter();
            let bound = bound.find(|bound| (bound.set, bound.binding) == place);
            let (Some(bound), Some(expressions)) = (bound, expressions) else { continue };
            let axes = image.extent.iter().zip(&expressions.axes).zip(AXES).zip(bound.extent);
            let axes = axes.map(|(((text, expression), axis), captured)| {
                (format!("texels in {axis}"), text.as_str(), expression, captured)
            });
            let counts = [
                ("layers", &image.layers, &expressions.layers, bound.layers),
                ("levels", &image.levels, &expressions.levels, bound.levels),
            ];
            let counts = counts.into_iter().filter_map(|(noun, text, expression, captured)| {
                Some((noun.to_owned(), text.as_deref()?, expression.as_ref()?, captured))
            });
            for (noun, text, expression, captured) in axes.chain(counts) {
                let stated = StatedNumber {
                    quantity: format!("{noun} of image {}.{}", place.0, place.1),
                    words: format!("{noun} of the image at {}.{}", place.0, place.1),
                    text,
                    expression,
                    width: None,
                };
                self.compare_number(dispatch, &stated, i128::from(captured), collected);
            }
        }
    }
}
