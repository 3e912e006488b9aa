//! The demonstration kernels with the hosts that their requirements state.

use super::{bounds_rows, counted, is_open};
use std::path::{Path, PathBuf};
use std::time::Instant;
use vkcert_spirv::module::Module;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_path_buf()
}

fn production_module(kernel: &str) -> Module {
    let bytes = std::fs::read(repository().join(format!("spirv/{kernel}.spv"))).unwrap();
    let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    Module::parse(words.collect::<Vec<u32>>()).unwrap()
}

#[test]
fn four_of_five_accesses_of_the_demonstration_are_proved() {
    let project = vkcert_requirement::load_project(&repository()).unwrap();
    let (mut proved, mut all) = (0, 0);
    for interface in &project.interfaces {
        let kernel = interface.value.kernel.to_string();
        let start = Instant::now();
        let rows = bounds_rows(&production_module(&kernel), &interface.value);
        let counts = counted(&rows);
        println!("{kernel}: {counts:?} in {:?}", start.elapsed());
        for row in rows.iter().filter(|row| is_open(row)) {
            println!("  {}: {}", row.status, row.message);
        }
        assert_eq!(counts.get("refuted"), None, "{kernel}: {rows:#?}");
        proved += counts.get("holds").copied().unwrap_or(0);
        all += counts.values().sum::<u32>();
    }
    assert!(proved * 5 >= all * 4, "{proved} of {all}");
    println!("{proved} of {all}");
}
