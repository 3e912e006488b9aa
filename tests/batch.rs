//! Projects of many kernels: what is generated is right, so that what is measured with it counts.

use crate::many_kernels::{kernel_name, write_project};
use crate::support::{certify_sequentially, run};

#[test]
fn a_generated_project_passes_and_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    let (project, reports) = (folder.path().join("project"), folder.path().join("reports"));
    write_project(&project, 5);
    let output = run(&mut certify_sequentially(&project, &reports), 0);
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.contains("20 pass") && told.contains("10 verified"), "{told}");
    assert!(told.contains("no obligation of the criteria asked for"), "{told}");
}

#[test]
fn a_larger_project_holds_the_files_of_a_smaller_one() {
    let folder = tempfile::tempdir().unwrap();
    let [small, large] = ["small", "large"].map(|name| folder.path().join(name));
    write_project(&small, 7);
    write_project(&large, 12);
    let mut names = std::collections::BTreeSet::new();
    for number in 1..=7 {
        let name = kernel_name(number);
        for file in [format!("glsl/{name}.comp"), format!("requirements/{name}.toml")] {
            let [of_small, of_large] =
                [&small, &large].map(|project| std::fs::read(project.join(&file)).unwrap());
            assert_eq!(of_small, of_large, "{file}");
        }
        assert!(names.insert(name));
    }
}
