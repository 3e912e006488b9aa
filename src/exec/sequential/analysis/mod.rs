//! Analyses of a program with what a dispatch binds: what of a run depends on its schedule.

pub mod schedule_dependence;
pub mod schedule_influence;
