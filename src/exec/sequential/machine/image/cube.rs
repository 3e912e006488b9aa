//! Cube images: faces, directions, and the texels across an edge.

use crate::memory::image_view::TexelPosition;

/// What lies beyond the edge of a cube's face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FaceEdge {
    /// The face's own last texel.
    Clamped,
    /// The texel of the next face.
    Seamless,
}

/// A face of a cube with the coordinates of a direction on it (Vulkan specification, "Cube Map Face
/// Selection").
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CubeFace {
    pub(super) face_number: i64,
    pub(super) sc: f32,
    pub(super) tc: f32,
    pub(super) rc: f32,
}

impl CubeFace {
    pub(super) fn from_direction(direction: [f32; 3]) -> Self {
        let [x, y, z] = direction;
        let [ax, ay, az] = direction.map(f32::abs);
        let face_number = if az >= ax && az >= ay {
            if z >= 0.0 { 4 } else { 5 }
        } else if ay >= ax {
            if y >= 0.0 { 2 } else { 3 }
        } else if x >= 0.0 {
            0
        } else {
            1
        };
        let [sc, tc, rc] = face_coordinates(face_number, [x, y, z]);
        Self { face_number, sc, tc, rc }
    }

    /// The derivative of the coordinates on the face from that of the direction ("Cube Map
    /// Derivative Transformation").
    pub(super) fn face_derivative(&self, direction: [f32; 3]) -> [f32; 3] {
        let [dsc, dtc, drc] = face_coordinates(self.face_number, direction);
        let (rc, drc) = (self.rc.abs(), if self.rc < 0.0 { -drc } else { drc });
        let axis_derivative = |c: f32, dc: f32| 0.5 * (rc * dc - c * drc) / (rc * rc);
        [axis_derivative(self.sc, dsc), axis_derivative(self.tc, dtc), 0.0]
    }
}

/// The table of the faces: s, t and the major axis.
pub(super) fn face_coordinates<T: std::ops::Neg<Output = T>>(
    face_number: i64,
    [x, y, z]: [T; 3],
) -> [T; 3] {
    match face_number {
        0 => [-z, -y, x],
        1 => [z, -y, x],
        2 => [x, z, y],
        3 => [x, -z, y],
        4 => [x, -y, z],
        _ => [-x, -y, z],
    }
}

/// The direction of a point of a face, the table read backwards.
pub(super) fn face_direction(face_number: i64, [s, t]: [f64; 2]) -> [f64; 3] {
    match face_number {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texels that stand for one of a face of `face_size` by `face_size` texels, with their shares ("Cube Map
/// Edge Handling").
pub(super) fn cube_taps(
    texel_place: TexelPosition,
    face_size: i64,
    edge: FaceEdge,
    mut add_tap: impl FnMut(TexelPosition, f64),
) {
    let [i, j, _] = texel_place.coordinates;
    let is_outside = |axis_index: i64| !(0..face_size).contains(&axis_index);
    let [ci, cj] = [i, j].map(|axis_index| axis_index.clamp(0, face_size - 1));
    let clamped_place = TexelPosition { coordinates: [ci, cj, 0], ..texel_place };
    match (edge, is_outside(i), is_outside(j)) {
        (FaceEdge::Clamped, ..) | (FaceEdge::Seamless, false, false) => add_tap(clamped_place, 1.0),
        (FaceEdge::Seamless, true, true) => {
            // No texel is there: the mean of the three that meet at the corner.
            let third_share = 1.0 / 3.0;
            add_tap(clamped_place, third_share);
            add_tap(across_edge([i, cj], texel_place, face_size), third_share);
            add_tap(across_edge([ci, j], texel_place, face_size), third_share);
        }
        (FaceEdge::Seamless, true, false) => {
            add_tap(across_edge([i, cj], texel_place, face_size), 1.0)
        }
        (FaceEdge::Seamless, false, true) => {
            add_tap(across_edge([ci, j], texel_place, face_size), 1.0)
        }
    }
}

/// The texel of the next face over an edge: where the direction of the texel's centre goes. A texel
/// that lies more than one beyond the edge (an offset) counts as the first one.
pub(super) fn across_edge(
    outside_texel: [i64; 2],
    texel_place: TexelPosition,
    face_size: i64,
) -> TexelPosition {
    let texel_centre = |texel_coordinate: i64| {
        (2.0 * texel_coordinate.clamp(-1, face_size) as f64 + 1.0) / face_size as f64 - 1.0
    };
    let [x, y, z] = face_direction(texel_place.layer % 6, outside_texel.map(texel_centre));
    let [ax, ay, az] = [x, y, z].map(f64::abs);
    let face_number = if ax > ay && ax > az {
        i64::from(x < 0.0)
    } else if ay > az {
        2 + i64::from(y < 0.0)
    } else {
        4 + i64::from(z < 0.0)
    };
    let [sc, tc, rc] = face_coordinates(face_number, [x, y, z]);
    let texel_index = |c: f64| {
        (((c / rc.abs() + 1.0) / 2.0 * face_size as f64).floor() as i64).clamp(0, face_size - 1)
    };
    TexelPosition {
        layer: texel_place.layer - texel_place.layer % 6 + face_number,
        coordinates: [texel_index(sc), texel_index(tc), 0],
        ..texel_place
    }
}
