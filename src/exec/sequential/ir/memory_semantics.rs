//! Which memory a barrier orders: the rules stand with the other readers of modules.

pub(crate) use vkcert_spirv::memory_semantics::*;
