//! What images hold while a captured program runs, as far as the capture tells.
//!
//! Knows: copies and clears, what the layer read of them, and barriers that discard contents.
//! Promises: texels are bytes as the format stores them, in the order of test procedures: level by
//! level, layer by layer. What a dispatch may have written is not known.
//! Does not cover: images of more than [`MOST_IMAGE_BYTES`], of formats that test procedures do not
//! have, and of several samples, by name.

use crate::texels::texel_bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use vkcert_capture::format::image_format;
use vkcert_capture::image::{ImageRegion, SubresourceRange};
use vkcert_capture::program::{BarrierPart, BarrierScope, ImageObject, Program};
use vkcert_model::image::{ImageFormat, TexelEncoding};

/// Bytes of an image whose contents are followed at most.
const MOST_IMAGE_BYTES: u64 = 256 << 20;

/// VK_IMAGE_LAYOUT_UNDEFINED.
const UNDEFINED: i32 = 0;

/// What images hold, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct KnownImages {
    bytes: BTreeMap<usize, Vec<Option<u8>>>,
    /// Why the layer did not read one.
    unread: BTreeMap<usize, Arc<str>>,
}

/// Bytes of a texel of an image whose contents are followed.
pub(crate) fn followed_texel(image: &ImageObject) -> Option<u64> {
    let size = texel_bytes(image)?;
    let bytes = image.texels().checked_mul(size)?;
    (bytes <= MOST_IMAGE_BYTES && image.made.samples == 1).then_some(size)
}

impl KnownImages {
    pub(crate) fn forget_all(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn forget_image(&mut self, image: usize) {
        self.bytes.remove(&image);
    }

    pub(crate) fn note_unread(&mut self, image: usize, reason: &Arc<str>) {
        self.unread.insert(image, Arc::clone(reason));
    }

    /// Forgets what a part holds.
    pub(crate) fn forget(&mut self, program: &Program, image: usize, range: &SubresourceRange) {
        if !self.bytes.contains_key(&image) {
            return;
        }
        let object = &program.images[image];
        for (start, end) in object.spans(&object.subresources(range)) {
            self.set(object, image, (start, end - start), std::iter::repeat(None));
        }
    }

    /// Puts bytes from a texel on.
    pub(crate) fn set(
        &mut self,
        object: &ImageObject,
        image: usize,
        (first, texels): (u64, u64),
        bytes: impl Iterator<Item = Option<u8>>,
    ) {
        let Some(size) = followed_texel(object) else { return };
        // Within the bound of the bytes of an image.
        let range = (first * size) as usize..((first + texels) * size) as usize;
        let all = (object.texels() * size) as usize;
        let held = self.bytes.entry(image).or_insert_with(|| vec![None; all]);
        if let Some(target) = held.get_mut(range) {
            target.iter_mut().zip(bytes).for_each(|(byte, value)| *byte = value);
        }
    }

    /// The bytes of so many texels.
    pub(crate) fn row(
        &self,
        image: usize,
        texel_bytes: u64,
        (first, texels): (u64, u64),
    ) -> Vec<Option<u8>> {
        let range = (first * texel_bytes) as usize..((first + texels) * texel_bytes) as usize;
        let held = self.bytes.get(&image).and_then(|held| held.get(range.clone()));
        held.map_or_else(|| vec![None; range.len()], <[Option<u8>]>::to_vec)
    }

    /// What the layer read of a layer of a level.
    pub(crate) fn set_layer(
        &mut self,
        program: &Program,
        image: usize,
        (level, layer): (u32, u32),
        bytes: &[u8],
    ) {
        let object = &program.images[image];
        let texels = object.layer_texels(level);
        if followed_texel(object).is_some_and(|size| size * texels == bytes.len() as u64) {
            let first = object.first_texel(level, layer);
            self.set(object, image, (first, texels), bytes.iter().copied().map(Some));
            self.unread.remove(&image);
        }
    }

    pub(crate) fn copy(&mut self, program: &Program, from: usize, to: usize, region: &ImageRegion) {
        let (source, target) = (&program.images[from], &program.images[to]);
        let rows = (source.rows(&region.from), target.rows(&region.to));
        let sizes = (followed_texel(source), followed_texel(target));
        let is_alike = (rows.0.count(), rows.0.width) == (rows.1.count(), rows.1.width);
        match sizes {
            (Some(size), Some(target_size)) if is_alike && size == target_size => {
                let read: Vec<_> = (0..rows.0.count())
                    .map(|row| self.row(from, size, (rows.0.start(row), rows.0.width)))
                    .collect();
                for (row, bytes) in (0..).zip(read) {
                    self.set(target, to, (rows.1.start(row), rows.1.width), bytes.into_iter());
                }
            }
            (_, Some(_)) => {
                for row in 0..rows.1.count() {
                    let place = (rows.1.start(row), rows.1.width);
                    self.set(target, to, place, std::iter::repeat(None));
                }
            }
            (_, None) => {}
        }
    }

    pub(crate) fn clear(
        &mut self,
        program: &Program,
        image: usize,
        color: [u32; 4],
        range: &SubresourceRange,
    ) {
        let object = &program.images[image];
        let texel = image_format(object.made.format).and_then(|format| cleared(format, color));
        let Some(texel) = texel else { return self.forget(program, image, range) };
        for (start, end) in object.spans(&object.subresources(range)) {
            let bytes = texel.iter().copied().map(Some).cycle();
            self.set(object, image, (start, end - start), bytes);
        }
    }

    /// Barriers from UNDEFINED need not keep what an image holds.
    pub(crate) fn take_barrier(&mut self, program: &Program, parts: &[BarrierPart]) {
        for part in parts {
            if let BarrierScope::ImagePart { image, range, layouts: [before, behind], .. } =
                &part.scope
                && *before == UNDEFINED
                && before != behind
            {
                self.forget(program, *image, range);
            }
        }
    }

    pub(crate) fn contents(
        &self,
        program: &Program,
        image: usize,
    ) -> Result<Vec<Option<u8>>, String> {
        match self.bytes.get(&image) {
            Some(bytes) if bytes.iter().any(Option::is_some) => Ok(bytes.clone()),
            Some(_) | None => Err(match self.unread.get(&image) {
                Some(reason) => format!("the layer did not read it: {reason}"),
                None if followed_texel(&program.images[image]).is_none() => {
                    "images of its format, samples or size are not followed".to_owned()
                }
                None => "no copy, clear or reading of it is known".to_owned(),
            }),
        }
    }
}

/// A texel of a color, for formats whose components are stored as they are given.
fn cleared(format: ImageFormat, color: [u32; 4]) -> Option<Vec<u8>> {
    let TexelEncoding::Plain(scalar) = format.encoding() else {
        // What is converted is the same for 0 alone.
        let is_zero = color.iter().all(|component| *component == 0);
        return is_zero.then(|| vec![0; format.texel_size()]);
    };
    let components = &color[..usize::from(format.components())];
    // Narrower integers are cut; narrower and wider numbers are not followed.
    let is_followed = scalar.size() == 4 || components.iter().all(|component| *component == 0);
    is_followed.then(|| {
        let words = components.iter().map(|component| component.to_le_bytes());
        match scalar.size() {
            4 => words.flatten().collect(),
            _ => vec![0; format.texel_size()],
        }
    })
}
