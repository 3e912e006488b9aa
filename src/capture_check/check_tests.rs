//! Each check on programs that are right and on the same with one fault.

mod bindings;
mod facts;
mod host;
mod images;
mod interfaces;
mod order;
mod overlap;
mod recording;
mod sampling;
mod script;
mod views;

use crate::row::CaptureCheckName;
use crate::{CaptureReport, check_program};
use script::Script;
use vkcert_model::evidence::CheckStatus;

/// The module of a kernel.
fn compiled(glsl: &str) -> Vec<u8> {
    let compiler = shaderc::Compiler::new().unwrap();
    let text = format!("#version 450\n{glsl}");
    let kind = shaderc::ShaderKind::Compute;
    let compiled = compiler.compile_into_spirv(&text, kind, "test.comp", "main", None).unwrap();
    compiled.as_binary_u8().to_vec()
}

fn report(script: &Script) -> CaptureReport {
    check_program(&script.program(), &[])
}

/// Messages of a check that does not hold.
fn told(report: &CaptureReport, check: CaptureCheckName, status: CheckStatus) -> Vec<String> {
    let rows = report.checks.iter().filter(|row| row.check == check && row.status == status);
    rows.map(|row| row.message.clone()).collect()
}

fn assert_all_hold(script: &Script) {
    let report = report(script);
    assert!(report.all_hold(), "{:#?}", report.checks);
}

/// The one row of a check that is refuted, while all others hold.
fn only_refuted(script: &Script, check: CaptureCheckName) -> String {
    let report = report(script);
    let open: Vec<_> =
        report.checks.iter().filter(|row| row.status != CheckStatus::Holds).collect();
    assert_eq!(open.len(), 1, "{open:#?}");
    assert_eq!((open[0].check, &open[0].status), (check, &CheckStatus::Refuted), "{open:#?}");
    open[0].message.clone()
}
