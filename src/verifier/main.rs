//! The `vkcert-verify` program: `verify` and `report` of `vkcert`, built with no compiler, no
//! engine and no C++.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(vkcert_verifier::main().code())
}
