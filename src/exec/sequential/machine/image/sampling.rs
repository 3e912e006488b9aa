//! From the coordinates of a sampling instruction to texels and their weights.
//!
//! Knows: the Vulkan specification's "Image Operations": level of detail, cube faces and their
//! edges, wrapping, footprints of nearest and linear filters. Names of variables are its own (s, t,
//! r, a; u, v, w; i, j, k; rho, lambda).
//! Promises: where the specification leaves an approximation open, this is what is computed:
//! - u, v, w are products of 32-bit floats, and so are divisions by q; alpha, beta, gamma, delta
//!   are exact fractions of them; weights are 64-bit floats. A device may keep as few as 4 bits of
//!   a fraction (`subTexelPrecisionBits`, `mipmapPrecisionBits`): a filtered value then differs by
//!   up to 2^-bits of the range of the texels, per axis and for levels.
//! - rho is the length of the scaled derivatives, without anisotropy.
//! - A level half-way between two is the larger one (`ceil(d + 0.5) - 1`); layers are rounded to
//!   even.
//! - Of equal axes of a cube z wins over y, and y over x. The texel beyond a corner of a cube is
//!   the mean of the three at it.
//! - A texel of weight 0 is not read.
//!
//! Does not cover: what the texels hold.

use super::cube::{CubeFace, FaceEdge, cube_taps};
use crate::memory::image_view::{ImageSubresource, TexelPosition, direction_count};
use vkcert_exec::resource::{JobSampler, ViewKind};
use vkcert_model::image::{AddressMode, Coordinates, Filter};

/// A texel that takes part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tap {
    /// Which of the four gathered texels it belongs to; 0 otherwise.
    pub gathered_index: usize,
    pub weight: f64,
    /// None: the border.
    pub texel_place: Option<TexelPosition>,
}

/// Coordinates as an instruction gives them, q divided out, with the layer behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Coordinate {
    pub axes: [f32; 3],
    pub layer: f32,
}

/// The level that an instruction asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum WantedLevel {
    First,
    Detail(f32),
    /// Derivatives of the axes in x and in y.
    Gradient([[f32; 3]; 2]),
}

/// What is sampled, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampling<'a> {
    pub picture: &'a ImageSubresource,
    pub sampler: &'a JobSampler,
    pub coordinate: Coordinate,
    pub offset: [i64; 3],
}

/// Coordinates on a level: of a cube on a face.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FacePoint {
    axes: [f32; 3],
    /// Layer of the view.
    layer: i64,
}

/// Texels of one axis of a footprint with their weights.
type AxisTexels = [(i64, f64); 2];

impl Sampling<'_> {
    /// The texels of a filtered sample.
    pub(crate) fn filtered_taps(&self, wanted_level: WantedLevel, taps: &mut Vec<Tap>) {
        let face_point = self.face_point();
        for (level, weight) in self.weighted_levels(wanted_level) {
            if weight > 0.0 {
                self.level_taps(&face_point, level, weight, taps);
            }
        }
    }

    /// The four texels of a gathering instruction, in its order.
    pub(crate) fn gather_taps(&self, taps: &mut Vec<Tap>) {
        let corners = [[0, 1], [1, 1], [1, 0], [0, 0]];
        for (gathered_index, corner) in corners.into_iter().enumerate() {
            self.gather_tap(gathered_index, corner, taps);
        }
    }

    /// One texel of the linear footprint: the lower or the upper one of each axis.
    pub(crate) fn gather_tap(
        &self,
        gathered_index: usize,
        corner: [usize; 2],
        taps: &mut Vec<Tap>,
    ) {
        let face_point = self.face_point();
        let extent = self.picture.level_extent(0);
        let axis_texel = |axis_texel: usize| {
            linear_texels(self.texel_coordinate(face_point.axes[axis_texel], extent[axis_texel]))
                [corner[axis_texel]]
                .0
        };
        let texel_axes = [axis_texel(0) + self.offset[0], axis_texel(1) + self.offset[1], 0];
        self.push_tap(
            (gathered_index, 1.0),
            0,
            face_point.layer,
            texel_axes,
            FaceEdge::Seamless,
            taps,
        );
    }

    fn is_cube(&self) -> bool {
        matches!(self.picture.view.kind, ViewKind::Cube | ViewKind::CubeArray)
    }

    /// The point on a face or layer.
    fn face_point(&self) -> FacePoint {
        let layer_count = i64::from(self.picture.view.layers);
        let Coordinate { axes, layer } = self.coordinate;
        let rounded_layer = clamped_whole(layer.round_ties_even());
        match self.picture.view.kind {
            ViewKind::One | ViewKind::Two | ViewKind::Three => FacePoint { axes, layer: 0 },
            ViewKind::OneArray | ViewKind::TwoArray => {
                FacePoint { axes, layer: rounded_layer.clamp(0, layer_count - 1) }
            }
            ViewKind::Cube | ViewKind::CubeArray => {
                let CubeFace { face_number: number, sc, tc, rc } = CubeFace::from_direction(axes);
                let normalized_coordinate = |c: f32| 0.5 * c / rc.abs() + 0.5;
                let cube_index = rounded_layer.clamp(0, (layer_count / 6 - 1).max(0));
                FacePoint {
                    axes: [normalized_coordinate(sc), normalized_coordinate(tc), 0.0],
                    layer: cube_index * 6 + number,
                }
            }
        }
    }

    /// Levels of the view with their weights.
    fn weighted_levels(&self, wanted_level: WantedLevel) -> [(u32, f64); 2] {
        let first_level = [(0, 1.0), (0, 0.0)];
        if self.sampler.coordinates == Coordinates::Unnormalized {
            return first_level;
        }
        let base_level = match wanted_level {
            WantedLevel::First => return first_level,
            WantedLevel::Detail(level) => level,
            WantedLevel::Gradient(derivatives) => self.gradient_level(derivatives),
        };
        let most_level = self.sampler.max_lod.unwrap_or(f32::MAX);
        let lambda = (base_level + self.sampler.lod_bias).min(most_level).max(self.sampler.min_lod);
        let last_level = self.picture.view.levels.saturating_sub(1);
        let d = lambda.clamp(0.0, last_level as f32);
        match self.sampler.mipmap {
            Filter::Nearest => [(((d + 0.5).ceil() - 1.0).max(0.0) as u32, 1.0), (0, 0.0)],
            Filter::Linear => {
                let (high_level, delta) = (d.floor(), f64::from(d) - f64::from(d.floor()));
                [(high_level as u32, 1.0 - delta), ((high_level as u32 + 1).min(last_level), delta)]
            }
        }
    }

    /// Log2 of rho.
    fn gradient_level(&self, derivatives: [[f32; 3]; 2]) -> f32 {
        let extent = self.picture.level_extent(0);
        let rho = derivatives.map(|axis_derivative| {
            let axis_derivative = if self.is_cube() {
                CubeFace::from_direction(self.coordinate.axes).face_derivative(axis_derivative)
            } else {
                axis_derivative
            };
            let used_axes =
                if self.is_cube() { 2 } else { direction_count(self.picture.view.kind) };
            let scaled_derivative = axis_derivative
                .iter()
                .zip(extent)
                .take(used_axes)
                .map(|(d, size)| f64::from(*d) * f64::from(size));
            scaled_derivative.map(|m| m * m).sum::<f64>().sqrt()
        });
        rho[0].max(rho[1]).log2() as f32
    }

    /// From a coordinate to texels of an axis.
    fn texel_coordinate(&self, coordinate: f32, axis_size: u32) -> f32 {
        match self.sampler.coordinates {
            Coordinates::Normalized => coordinate * axis_size as f32,
            Coordinates::Unnormalized => coordinate,
        }
    }

    fn level_taps(&self, face_point: &FacePoint, level: u32, weight: f64, taps: &mut Vec<Tap>) {
        let extent = self.picture.level_extent(level);
        let used_axes = if self.is_cube() { 2 } else { direction_count(self.picture.view.kind) };
        let axis_texels = |axis: usize| -> AxisTexels {
            if axis >= used_axes {
                return [(0, 1.0), (0, 0.0)];
            }
            let u = self.texel_coordinate(face_point.axes[axis], extent[axis]);
            let weighted_texels = match self.sampler.filter {
                Filter::Nearest => [(clamped_whole(u.floor()), 1.0), (0, 0.0)],
                Filter::Linear => linear_texels(u),
            };
            weighted_texels.map(|(texel, axis_weight)| (texel + self.offset[axis], axis_weight))
        };
        let edge = match self.sampler.filter {
            Filter::Nearest => FaceEdge::Clamped,
            Filter::Linear => FaceEdge::Seamless,
        };
        let [x, y, z] = [axis_texels(0), axis_texels(1), axis_texels(2)];
        for (k, gamma) in z {
            for (j, beta) in y {
                for (i, alpha) in x {
                    let weight = weight * alpha * beta * gamma;
                    if weight > 0.0 {
                        self.push_tap((0, weight), level, face_point.layer, [i, j, k], edge, taps);
                    }
                }
            }
        }
    }

    /// A texel by whole numbers that may lie outside.
    fn push_tap(
        &self,
        (gathered_index, weight): (usize, f64),
        level: u32,
        layer: i64,
        texel_axes: [i64; 3],
        face_edge: FaceEdge,
        taps: &mut Vec<Tap>,
    ) {
        let extent = self.picture.level_extent(level).map(i64::from);
        let texel_place =
            TexelPosition { level: i64::from(level), layer, coordinates: texel_axes, sample: 0 };
        if self.is_cube() {
            cube_taps(texel_place, extent[0], face_edge, |texel_place, share| {
                taps.push(Tap {
                    gathered_index,
                    weight: weight * share,
                    texel_place: Some(texel_place),
                });
            });
            return;
        }
        let mut wrapped_axes = texel_axes;
        for axis in 0..direction_count(self.picture.view.kind) {
            let Some(wrapped_axis) =
                wrap_coordinate(self.sampler.address, texel_axes[axis], extent[axis])
            else {
                taps.push(Tap { gathered_index, weight, texel_place: None });
                return;
            };
            wrapped_axes[axis] = wrapped_axis;
        }
        taps.push(Tap {
            gathered_index,
            weight,
            texel_place: Some(TexelPosition { coordinates: wrapped_axes, ..texel_place }),
        });
    }
}

/// A whole number from a float, far ones cut so that sums with them do not overflow; 0 for a NaN.
fn clamped_whole(value: f32) -> i64 {
    (value as i64).clamp(-(1 << 40), 1 << 40)
}

/// The two texels around a coordinate.
fn linear_texels(u: f32) -> AxisTexels {
    let shifted_coordinate = u - 0.5;
    let alpha = f64::from(shifted_coordinate) - f64::from(shifted_coordinate.floor());
    let alpha = if alpha.is_finite() { alpha } else { 0.0 };
    let first_texel = clamped_whole(shifted_coordinate.floor());
    [(first_texel, 1.0 - alpha), (first_texel + 1, alpha)]
}

/// The texel that stands for one outside of an axis of `axis_size` texels; none: the border.
pub(crate) fn wrap_coordinate(
    address_mode: AddressMode,
    texel_index: i64,
    axis_size: i64,
) -> Option<i64> {
    let mirrored = |n: i64| if n >= 0 { n } else { -(1 + n) };
    match address_mode {
        AddressMode::Repeat => Some(texel_index.rem_euclid(axis_size)),
        AddressMode::MirroredRepeat => {
            Some((axis_size - 1) - mirrored(texel_index.rem_euclid(2 * axis_size) - axis_size))
        }
        AddressMode::ClampToEdge => Some(texel_index.clamp(0, axis_size - 1)),
        AddressMode::ClampToBorder => (0..axis_size).contains(&texel_index).then_some(texel_index),
        AddressMode::MirrorClampToEdge => Some(mirrored(texel_index).clamp(0, axis_size - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::image::cube::{across_edge, face_direction};
    use vkcert_exec::resource::ImageView;
    use vkcert_model::image::{BorderColor, ImageDim, ImageFormat, ImageShape};

    fn sampler(filter: Filter, address: AddressMode) -> JobSampler {
        JobSampler {
            name: "s".to_owned(),
            filter,
            mipmap: Filter::Nearest,
            address,
            border: BorderColor::OpaqueWhite,
            compare: None,
            min_lod: 0.0,
            max_lod: None,
            lod_bias: 0.0,
            coordinates: Coordinates::Normalized,
        }
    }

    fn picture(
        dim: ImageDim,
        kind: ViewKind,
        size: u32,
        layers: u32,
        levels: u32,
    ) -> ImageSubresource {
        let extent = match dim {
            ImageDim::One => [size, 1, 1],
            ImageDim::Two | ImageDim::Cube => [size, size, 1],
            ImageDim::Three => [size; 3],
        };
        let shape = ImageShape { dim, format: ImageFormat::R8, extent, layers, levels, samples: 1 };
        ImageSubresource { shape, view: ImageView { kind, level: 0, levels, layer: 0, layers } }
    }

    /// Wrapping against walking texel by texel.
    #[test]
    fn address_modes_are_those_of_a_walk() {
        for size in 1..6_i64 {
            for mode in [AddressMode::Repeat, AddressMode::MirroredRepeat] {
                let (mut at, mut step) = (0, 1);
                for position in 0..40 {
                    assert_eq!(
                        wrap_coordinate(mode, position, size),
                        Some(at),
                        "{mode:?} {position} of {size}"
                    );
                    // The walk goes on for ever in both directions: shift by whole periods.
                    assert_eq!(
                        wrap_coordinate(mode, position - 20 * size, size),
                        Some(at),
                        "{mode:?} {position} of {size}"
                    );
                    let next = at + step;
                    if (0..size).contains(&next) {
                        at = next;
                    } else if mode == AddressMode::Repeat {
                        at = 0;
                    } else {
                        step = -step;
                    }
                }
            }
            for position in -9..15_i64 {
                let nearest = (0..size).min_by_key(|at| (at - position).abs());
                assert_eq!(wrap_coordinate(AddressMode::ClampToEdge, position, size), nearest);
                let mirrored =
                    (0..size).min_by_key(|at| (2 * at + 1 - (2 * position + 1).abs()).abs());
                assert_eq!(
                    wrap_coordinate(AddressMode::MirrorClampToEdge, position, size),
                    mirrored
                );
                let inside = (0..size).contains(&position).then_some(position);
                assert_eq!(wrap_coordinate(AddressMode::ClampToBorder, position, size), inside);
            }
        }
    }

    /// Each texel of every face, seen by the direction of its centre, is itself.
    #[test]
    fn the_table_of_faces_goes_both_ways() {
        for size in 1..5_u32 {
            let picture = picture(ImageDim::Cube, ViewKind::CubeArray, size, 12, 1);
            for (layer, j, i) in
                (0..12).flat_map(|l| (0..size).flat_map(move |j| (0..size).map(move |i| (l, j, i))))
            {
                let on_face = [i, j].map(|at| (2.0 * f64::from(at) + 1.0) / f64::from(size) - 1.0);
                let axes = face_direction(layer % 6, on_face).map(|axis| axis as f32 * 3.0);
                for filter in [Filter::Nearest, Filter::Linear] {
                    let sampler = sampler(filter, AddressMode::Repeat);
                    let coordinate = Coordinate { axes, layer: (layer / 6) as f32 };
                    let sampling = Sampling {
                        picture: &picture,
                        sampler: &sampler,
                        coordinate,
                        offset: [0; 3],
                    };
                    let mut taps = Vec::new();
                    sampling.filtered_taps(WantedLevel::Detail(0.0), &mut taps);
                    let most =
                        taps.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)).expect("a texel");
                    let at = [i64::from(i), i64::from(j), 0];
                    assert_eq!(
                        most.texel_place,
                        Some(TexelPosition { level: 0, layer, coordinates: at, sample: 0 }),
                        "{axes:?}"
                    );
                    assert!(most.weight > 0.999, "{taps:?}");
                }
            }
        }
    }

    /// Over an edge and back is where one was, and neighbours lie closest.
    #[test]
    fn edges_of_a_cube_join_neighbours() {
        for size in 1..6_i64 {
            for layer in 0..6 {
                for along in 0..size {
                    for at in [[-1, along], [size, along], [along, -1], [along, size]] {
                        let inside = [at[0].clamp(0, size - 1), at[1].clamp(0, size - 1), 0];
                        let own = TexelPosition { level: 0, layer, coordinates: inside, sample: 0 };
                        let over = across_edge(at, own, size);
                        assert_ne!(over.layer, layer);
                        let back = [[-1, 0], [1, 0], [0, -1], [0, 1]].iter().any(|[di, dj]| {
                            let next = [over.coordinates[0] + di, over.coordinates[1] + dj];
                            next.iter().any(|at| !(0..size).contains(at))
                                && across_edge(next, over, size) == own
                        });
                        assert!(back, "{own:?} {over:?} of {size}");
                    }
                }
            }
        }
    }

    /// The weights of every footprint are one altogether, and none is negative.
    #[test]
    fn weights_add_up_to_one() {
        let kinds = [
            (ImageDim::One, ViewKind::One, 1),
            (ImageDim::Two, ViewKind::TwoArray, 3),
            (ImageDim::Three, ViewKind::Three, 1),
            (ImageDim::Cube, ViewKind::Cube, 6),
        ];
        for ((dim, kind, layers), step) in
            kinds.into_iter().flat_map(|kind| (0..200).map(move |step| (kind, step)))
        {
            let picture = picture(dim, kind, 4, layers, 3);
            let sampler = JobSampler {
                mipmap: Filter::Linear,
                ..sampler(Filter::Linear, AddressMode::ClampToBorder)
            };
            let value = |k: i32| ((step * k) as f32 * 0.377).sin() * 2.0;
            let coordinate = Coordinate { axes: [value(1), value(2), value(3)], layer: value(4) };
            let sampling =
                Sampling { picture: &picture, sampler: &sampler, coordinate, offset: [1, -1, 0] };
            let mut taps = Vec::new();
            sampling.filtered_taps(WantedLevel::Detail(value(5) + 1.0), &mut taps);
            let sum: f64 = taps.iter().map(|tap| tap.weight).sum();
            assert!(
                (sum - 1.0).abs() < 1e-9 && taps.iter().all(|tap| tap.weight > 0.0),
                "{kind:?} {taps:?}"
            );
        }
    }

    #[test]
    fn derivatives_choose_the_level_that_their_length_says() {
        let picture = picture(ImageDim::Two, ViewKind::Two, 16, 1, 5);
        let sampler = sampler(Filter::Nearest, AddressMode::Repeat);
        let coordinate = Coordinate { axes: [0.5; 3], layer: 0.0 };
        let sampling =
            Sampling { picture: &picture, sampler: &sampler, coordinate, offset: [0; 3] };
        // 4 texels of level 0 per step: level 2; 3 and 4 texels: length 5, log2 2.32.
        let level = |d: [[f32; 3]; 2]| sampling.weighted_levels(WantedLevel::Gradient(d))[0].0;
        assert_eq!(level([[0.25, 0.0, 9.0], [0.0, 0.0, 9.0]]), 2);
        assert_eq!(level([[0.0; 3], [3.0 / 16.0, 0.25, 0.0]]), 2);
        assert_eq!(level([[0.0; 3], [0.5, 0.25, 0.0]]), 3);
        assert_eq!(level([[0.0; 3], [0.0; 3]]), 0);
        // Half-way the larger level.
        assert_eq!(sampling.weighted_levels(WantedLevel::Detail(1.5))[0].0, 1);
        assert_eq!(sampling.weighted_levels(WantedLevel::Detail(1.51))[0].0, 2);
    }
}
