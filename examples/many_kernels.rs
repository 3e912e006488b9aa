//! `cargo run --release --example many_kernels N DIR` writes a project of N small kernels of five
//! shapes with four tests each, to measure runs over many kernels.

#[path = "../tests/support/many_kernels.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod many_kernels;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [count, folder] => match count.parse() {
            Ok(kernels @ 1..=99_999) => {
                many_kernels::write_project(Path::new(folder), kernels);
                ExitCode::SUCCESS
            }
            Ok(_) | Err(_) => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("usage: many_kernels N DIR, with N from 1 to 99999");
    ExitCode::from(2)
}
