//! The `vkcert` program; everything it does is in the library.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(vkcert::cli::main().code())
}
