//! Checks of a captured host program: whether what it does fits its kernels, and whether all that is
//! written is ordered before it is used.
//!
//! Knows: what each kernel of the program declares and can touch (`kernel`, from its module), the
//! rules of Vulkan for push constants, specialization, descriptors and limits (`interface`), what
//! makes a command buffer invalid before it is submitted (`recording`), what a project states of the
//! host (`stated`), what is about one kernel alone (`scope`, `facts`), and the rules for execution
//! and memory dependencies (`order`).
//! Promises: a check is `refuted` only with the operations that refute it; what is not modelled, and
//! what stands behind a command that is not, is `undetermined` by name. Nothing is said to hold for
//! a capture that is not complete.
//! Does not cover: images of captures of version 1; which elements of a bound range an invocation touches, so that two
//! dispatches count as touching the same bytes where their bound ranges overlap.

#[cfg(test)]
mod check_tests;
mod contents;
mod declared_images;
mod descriptors;
mod facts;
mod image_contents;
mod image_views;
mod interface;
mod kernel;
mod order;
mod procedure;
mod procedure_images;
mod recording;
mod row;
mod scope;
mod stated;
mod texels;
mod words;

pub use declared_images::{DeclaredImage, SignReading, TexelNumbers, TexelWidth};
pub use facts::{CaptureSource, SoughtKernel, captured_kernel};
pub use kernel::{KernelFacts, KernelTable};
pub use procedure::{CapturedProcedure, captured_procedure};
pub use row::{CaptureCheckName, CaptureReport, CaptureRow};
pub use stated::StatedKernel;
pub use words::{dependency_in_words, operation_in_words};

use contents::{KnownGroups, known_groups};
use scope::CheckScope;
use vkcert_capture::event::OpenEffect;
use vkcert_capture::file::Completeness;
use vkcert_capture::program::Program;
use vkcert_model::evidence::CheckStatus;

/// The schema of the results as JSON has them.
pub fn report_schema() -> schemars::Schema {
    schemars::schema_for!(CaptureReport)
}

/// Makes all checks, with what a project states of some kernels.
pub fn check_program(program: &Program, stated: &[StatedKernel<'_>]) -> CaptureReport {
    let kernels = KernelTable::of_program(program);
    let groups = known_groups(program, &kernels);
    check_in_scope(program, &kernels, &groups, stated, CheckScope::Program)
}

/// The results that are about the scope; what is said of very many rows counts these alone.
fn check_in_scope(
    program: &Program,
    kernels: &KernelTable,
    groups: &KnownGroups,
    stated: &[StatedKernel<'_>],
    scope: CheckScope,
) -> CaptureReport {
    let mut report = CaptureReport::of_scope(scope);
    completeness_rows(program, &mut report);
    interface::check_interfaces(program, kernels, groups, &mut report);
    stated::check_stated(program, kernels, stated, &mut report);
    recording::check_recording(program, kernels, &mut report);
    order::check_order(program, kernels, groups, &mut report);
    unseen_rows(program, &mut report);
    report.finish();
    report
}

/// Of a program that submitted nothing, nothing was seen that could hold.
fn unseen_rows(program: &Program, report: &mut CaptureReport) {
    if program.operations.iter().any(|operation| operation.batch.is_some()) {
        return;
    }
    for check in [
        CaptureCheckName::DispatchLimits,
        CaptureCheckName::PushConstants,
        CaptureCheckName::Descriptors,
        CaptureCheckName::BindingSize,
        CaptureCheckName::DeviceDependency,
        CaptureCheckName::HostRead,
        CaptureCheckName::HostWrite,
    ] {
        let message = "nothing was seen: the program submitted no commands".to_owned();
        report.add(check, CheckStatus::Undetermined, message, &[]);
    }
}

/// Whether the capture tells all, and what of it is not modelled.
fn completeness_rows(program: &Program, report: &mut CaptureReport) {
    if let Completeness::Incomplete(reason) = &program.completeness {
        let message = format!("the capture is incomplete: {reason}");
        report.add(CaptureCheckName::CaptureComplete, CheckStatus::Undetermined, message, &[]);
    }
    for (name, (effect, count)) in &program.unsupported {
        let open = match effect {
            OpenEffect::Nothing => continue,
            OpenEffect::Accesses => "what it reads and writes is not known",
            OpenEffect::Order => "what it orders is not known",
        };
        let message = format!("{name}, called {count} times, is not modelled: {open}");
        report.add(CaptureCheckName::CaptureComplete, CheckStatus::Undetermined, message, &[]);
    }
    let message = format!("all {} operations are modelled", program.operations.len());
    report.holds(CaptureCheckName::CaptureComplete, message);
}
