//! Object code of real kernels: every branch, select and loop of the production modules, not optimised and optimised, is
//! instrumented, and traced to its source decision or to a closed list.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use vkcert::glsl::{Compiled, DecisionPolicy, KernelSource, Optimization, compile};
use vkcert::instrument::{InstrumentedObject, Origins, PositionTable, instrument_object};
use vkcert::model::object::{ObjectBranch, ObjectOrigin};
use vkcert::spirv::module::Module;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every GLSL kernel of the repository that compiles by itself.
fn kernels() -> Vec<PathBuf> {
    let folders = ["glsl", "tests/kernels", "tests/filetests/glsl", "tests/filetests/run", "tests/stress"];
    let files = folders.iter().filter_map(|folder| std::fs::read_dir(root().join(folder)).ok()).flatten();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "comp"));
    files.sort();
    files
}

fn compiled(path: &Path, text: String, optimization: Optimization) -> Option<Compiled> {
    let defines = text.lines().filter_map(|line| line.trim().strip_prefix("// define: "));
    let defines = defines.filter_map(|define| define.split_once('='));
    let defines = defines.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    let source = KernelSource {
        path: path.strip_prefix(root()).unwrap_or(path).display().to_string(),
        text,
        include: Vec::new(),
        folder: path.parent().map(Path::to_owned),
        defines,
        entry: "main".to_owned(),
        target_env: "vulkan1.3".to_owned(),
        optimization,
        policy: DecisionPolicy::Literal,
    };
    compile(&source).ok()
}

fn instrumented(compiled: &Compiled) -> InstrumentedObject {
    let production = Module::parse(compiled.production.clone()).unwrap();
    let table = compiled.positions.as_ref().map_err(Clone::clone);
    let table =
        table.and_then(|positions| PositionTable::of(&production, positions).map_err(|error| error.to_string()));
    let origins = match &table {
        Ok(positions) => Origins::Source { structure: &compiled.structure, positions },
        Err(reason) => Origins::Unknown(reason),
    };
    instrument_object(&production, "main", &origins).unwrap_or_else(|error| panic!("{error}"))
}

fn line(branch: &ObjectBranch) -> String {
    let outcomes: Vec<&str> = branch.outcomes.iter().map(|outcome| outcome.text.as_str()).collect();
    format!("{} {} {} [{}] {}", branch.id, branch.place, branch.kind, outcomes.join("|"), branch.origin)
}

#[test]
fn every_branch_of_every_kernel_traces_to_its_source() {
    let mut open = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in kernels() {
        for optimization in [Optimization::Zero, Optimization::Performance] {
            let text = std::fs::read_to_string(&path).unwrap();
            let Some(compiled) = compiled(&path, text, optimization) else { continue };
            let object = instrumented(&compiled);
            for branch in &object.structure.branches {
                let kind = match &branch.origin {
                    ObjectOrigin::Decisions(_) => "decisions",
                    ObjectOrigin::Switch(_) => "switch",
                    ObjectOrigin::Loop(_) => "loop",
                    ObjectOrigin::Construct(_) => "construct",
                    ObjectOrigin::CompilerMade(_) => "compiler-made",
                    ObjectOrigin::Untraced(_) | ObjectOrigin::NoSource => {
                        open.push(format!("{} {optimization:?}: {}", path.display(), line(branch)));
                        "untraced"
                    }
                };
                *counts.entry(kind).or_default() += 1;
                if std::env::var_os("VKCERT_SHOW_OBJECTS").is_some() {
                    println!("{} {optimization:?}: {}", path.display(), line(branch));
                }
            }
            for found in &object.structure.loops {
                if !matches!(found.origin, ObjectOrigin::Loop(_)) {
                    open.push(format!(
                        "{} {optimization:?}: loop at {}: {}",
                        path.display(),
                        found.place,
                        found.origin
                    ));
                }
            }
        }
    }
    println!("{counts:?}");
    assert!(open.is_empty(), "{} of {counts:?} are open:\n{}", open.len(), open.join("\n"));
}
