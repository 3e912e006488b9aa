//! The sequential engine (stub).
