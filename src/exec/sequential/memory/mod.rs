//! Memory that invocations share, and what is known of the accesses to it: races, order, aliases, what was read.

pub mod access_sets;
pub mod aliasing;
pub mod copy_on_write;
pub mod image_view;
pub mod race_shadow;
pub mod racing_accesses;
pub mod read_tracking;
pub mod store;
pub mod vector_clocks;
