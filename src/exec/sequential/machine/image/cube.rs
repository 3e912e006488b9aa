//! Cube images: faces, directions, and the texels across an edge.

use crate::memory::image_view::TexelPosition;

/// What lies beyond the edge of a cube's face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// The face's own last texel.
    Clamped,
    /// The texel of the next face.
    Seamless,
}

/// A face of a cube with the coordinates of a direction on it (Vulkan specification, "Cube Map Face
/// Selection").
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Face {
    pub(super) number: i64,
    pub(super) sc: f32,
    pub(super) tc: f32,
    pub(super) rc: f32,
}

impl Face {
    pub(super) fn of(direction: [f32; 3]) -> Self {
        let [x, y, z] = direction;
        let [ax, ay, az] = direction.map(f32::abs);
        let number = if az >= ax && az >= ay {
            if z >= 0.0 { 4 } else { 5 }
        } else if ay >= ax {
            if y >= 0.0 { 2 } else { 3 }
        } else if x >= 0.0 {
            0
        } else {
            1
        };
        let [sc, tc, rc] = on_face(number, [x, y, z]);
        Self { number, sc, tc, rc }
    }

    /// The derivative of the coordinates on the face from that of the direction ("Cube Map
    /// Derivative Transformation").
    pub(super) fn derivative(&self, direction: [f32; 3]) -> [f32; 3] {
        let [dsc, dtc, drc] = on_face(self.number, direction);
        let (rc, drc) = (self.rc.abs(), if self.rc < 0.0 { -drc } else { drc });
        let one = |c: f32, dc: f32| 0.5 * (rc * dc - c * drc) / (rc * rc);
        [one(self.sc, dsc), one(self.tc, dtc), 0.0]
    }
}

/// The table of the faces: s, t and the major axis.
pub(super) fn on_face<T: std::ops::Neg<Output = T>>(number: i64, [x, y, z]: [T; 3]) -> [T; 3] {
    match number {
        0 => [-z, -y, x],
        1 => [z, -y, x],
        2 => [x, z, y],
        3 => [x, -z, y],
        4 => [x, -y, z],
        _ => [-x, -y, z],
    }
}

/// The direction of a point of a face, the table read backwards.
pub(super) fn direction(number: i64, [s, t]: [f64; 2]) -> [f64; 3] {
    match number {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texels that stand for one of a face of `size` by `size` texels, with their shares ("Cube Map
/// Edge Handling").
pub(super) fn cube_taps(
    place: TexelPosition,
    size: i64,
    edge: Edge,
    mut tap: impl FnMut(TexelPosition, f64),
) {
    let [i, j, _] = place.coordinates;
    let outside = |at: i64| !(0..size).contains(&at);
    let [ci, cj] = [i, j].map(|at| at.clamp(0, size - 1));
    let clamped = TexelPosition { coordinates: [ci, cj, 0], ..place };
    match (edge, outside(i), outside(j)) {
        (Edge::Clamped, ..) | (Edge::Seamless, false, false) => tap(clamped, 1.0),
        (Edge::Seamless, true, true) => {
            // No texel is there: the mean of the three that meet at the corner.
            let third = 1.0 / 3.0;
            tap(clamped, third);
            tap(across([i, cj], place, size), third);
            tap(across([ci, j], place, size), third);
        }
        (Edge::Seamless, true, false) => tap(across([i, cj], place, size), 1.0),
        (Edge::Seamless, false, true) => tap(across([ci, j], place, size), 1.0),
    }
}

/// The texel of the next face over an edge: where the direction of the texel's centre goes. A texel
/// that lies more than one beyond the edge (an offset) counts as the first one.
pub(super) fn across(at: [i64; 2], place: TexelPosition, size: i64) -> TexelPosition {
    let centre = |at: i64| (2.0 * at.clamp(-1, size) as f64 + 1.0) / size as f64 - 1.0;
    let [x, y, z] = direction(place.layer % 6, at.map(centre));
    let [ax, ay, az] = [x, y, z].map(f64::abs);
    let number = if ax > ay && ax > az {
        i64::from(x < 0.0)
    } else if ay > az {
        2 + i64::from(y < 0.0)
    } else {
        4 + i64::from(z < 0.0)
    };
    let [sc, tc, rc] = on_face(number, [x, y, z]);
    let texel =
        |c: f64| (((c / rc.abs() + 1.0) / 2.0 * size as f64).floor() as i64).clamp(0, size - 1);
    TexelPosition {
        layer: place.layer - place.layer % 6 + number,
        coordinates: [texel(sc), texel(tc), 0],
        ..place
    }
}
