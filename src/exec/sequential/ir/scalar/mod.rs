//! Operations on scalars: what each computes, and what the specification leaves undefined.

pub mod sized;
pub mod undefined;
pub mod word;
