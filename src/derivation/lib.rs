//! Evidence from facts and from what is stored, with no engine and no compiler.
//!
//! Knows: project, evidence, the coverage calculus. Promises: `certify` goes this way when it makes
//! evidence and `verify` when it checks it, so that both come to the same. Does not cover: what
//! only modules and engines tell (`campaign`).

pub mod acceptance;
pub mod agreement;
pub mod conclusion;
pub mod derive;
pub mod files;
pub mod mutation;
pub mod objectives;
pub mod open_items;
pub mod robustness;
pub mod stated;
