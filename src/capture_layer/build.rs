//! Links the layer so that it stays loaded: a loader unloads its layers with the last instance, and
//! a program that makes another one afterwards would begin a second capture.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
