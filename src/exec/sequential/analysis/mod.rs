//! Analyses of a program with what a dispatch binds: what of a run depends on its schedule.

pub(crate) mod schedule_dependence;
pub(crate) mod schedule_influence;
