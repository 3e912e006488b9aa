//! Memory that invocations share, and what is known of the accesses to it: races, order, aliases,
//! what was read, who wrote it.

pub(crate) mod access_sets;
pub(crate) mod aliasing;
pub(crate) mod copy_on_write;
pub(crate) mod definitions;
pub(crate) mod image_view;
pub(crate) mod pair_access;
pub(crate) mod pair_tracking;
pub(crate) mod race_shadow;
pub(crate) mod racing_accesses;
pub(crate) mod read_tracking;
pub(crate) mod store;
pub(crate) mod vector_clocks;
pub(crate) mod workgroup_intervals;
