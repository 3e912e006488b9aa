//! The `vkcert` program; everything it does is in the library.

/// The compiler and the validator that are linked in take and give back many small blocks; so does
/// reading modules. The allocator of the C library spends as long on that as they do on everything
/// else.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(vkcert::cli::main().code())
}
