//! Kernels in the style of real ones (images, networks, physics, sorting, scans, cryptography,
//! matrices): each has a program, g++ and clang take all of them without a word, and they leave
//! what the sequential engine leaves.

use super::programs::Together;
use super::translated;
use crate::filetest::FileTest;
use crate::support::root;
use std::path::PathBuf;
use vkcert::dissimilar::clang::RunOutcome;
use vkcert::dissimilar::job;
use vkcert::exec::sequential::SequentialExecutor;
use vkcert::exec::{Executor, Unobserved};

/// The compilers of this machine.
fn compilers() -> Vec<&'static str> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let is_there = |name: &&str| folders.iter().any(|folder| folder.join(name).is_file());
    ["g++", "clang++-19"].into_iter().filter(is_there).collect()
}

fn tests() -> Vec<FileTest> {
    let folder = std::fs::read_dir(root().join("tests/dissimilar/corpus")).unwrap();
    let mut paths: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let compiler = shaderc::Compiler::new().unwrap();
    paths.iter().map(|path| FileTest::read(&compiler, path)).collect()
}

fn text(test: &FileTest) -> String {
    std::fs::read_to_string(
        root().join("tests/dissimilar/corpus").join(format!("{}.comp", test.name)),
    )
    .unwrap()
}

/// Words that differ by more than the error that inexact functions may have; all words where they
/// are no floats.
fn far_words(ours: &[u8], theirs: &[u8]) -> usize {
    let words = |bytes: &[u8]| -> Vec<[u8; 4]> {
        bytes.chunks_exact(4).map(|word| word.try_into().unwrap()).collect()
    };
    let near = |a: [u8; 4], b: [u8; 4]| {
        let (a, b) = (f32::from_le_bytes(a), f32::from_le_bytes(b));
        a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-5 * a.abs().max(1e-3)
    };
    words(ours).into_iter().zip(words(theirs)).filter(|(a, b)| !near(*a, *b)).count()
}

#[test]
fn kernels_like_real_ones_are_taken_by_every_compiler_and_agree() {
    let tests = tests();
    assert!(tests.len() >= 60);
    let programs: Vec<String> = tests
        .iter()
        .map(|test| {
            let made = translated(&text(test), &test.specialization.iter().copied().collect());
            made.unwrap_or_else(|what| panic!("{}: {what}", test.name)).text
        })
        .collect();
    let compilers = compilers();
    let Some((first, others)) = compilers.split_first() else {
        panic!("no C++ compiler is installed")
    };
    others.iter().for_each(|compiler| Together::check(&programs, compiler));
    let built = Together::build_with(&programs, first);
    let mut identical = 0;
    for (number, test) in tests.iter().enumerate() {
        let job = test.job();
        let ours = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
        assert!(ours.findings.is_empty(), "{}: {:#?}", test.name, ours.findings);
        let RunOutcome::Completed(printed) = built.run(number, &job) else {
            panic!("{}: {:?}", test.name, built.run(number, &job));
        };
        let theirs = job::parse_outputs(&printed, job.buffers.len()).unwrap();
        let input: Vec<_> = job.buffers.iter().map(|buffer| &buffer.bytes).collect();
        assert_ne!(ours.buffers.iter().collect::<Vec<_>>(), input, "{} writes nothing", test.name);
        for (ours, theirs) in ours.buffers.iter().zip(&theirs) {
            assert_eq!(
                far_words(ours, theirs),
                0,
                "{}\n{ours:?}\n{theirs:?}\n{}",
                test.name,
                programs[number]
            );
        }
        identical += usize::from(ours.buffers == theirs);
    }
    println!("{identical} of {} leave the same bytes; compilers: {compilers:?}", tests.len());
    assert!(identical * 10 >= tests.len() * 8);
}
