//! Captures as they are shown: what was captured in figures, operations in lines, checks in rows.

use crate::model::evidence::CheckStatus;
use crate::report;
use serde_json::{Value, json};
use vkcert_capture::event::ContentsMode;
use vkcert_capture::file::Completeness;
use vkcert_capture::program::{Action, BatchPlace, Dispatch, Groups, Operation, Program};
use vkcert_capture_check::{CaptureReport, dependency_in_words, operation_in_words};

/// How often something was done.
struct Figures {
    dispatches: usize,
    barriers: usize,
    transfers: usize,
    submissions: usize,
}

fn figures(program: &Program) -> Figures {
    let count = |wanted: fn(&Action) -> bool| {
        program.operations.iter().filter(|operation| wanted(&operation.action)).count()
    };
    Figures {
        dispatches: count(|action| matches!(action, Action::Dispatch(_))),
        barriers: count(|action| matches!(action, Action::Barrier(_))),
        transfers: count(|action| {
            matches!(
                action,
                Action::Copy { .. }
                    | Action::Fill { .. }
                    | Action::Update { .. }
                    | Action::ImageCopy { .. }
                    | Action::CopyToImage { .. }
                    | Action::CopyFromImage { .. }
                    | Action::CopyImage { .. }
                    | Action::ClearImage { .. }
            )
        }),
        submissions: count(|action| matches!(action, Action::Submit)),
    }
}

/// The summary for programs.
pub(super) fn summary(program: &Program) -> Value {
    let figures = figures(program);
    let devices = program.devices.iter().map(|device| {
        json!({
            "name": device.name,
            "driver": device.driver_name,
            "driver_info": device.driver_info,
            "api_version": device.api_version,
        })
    });
    let unsupported = program.unsupported.iter();
    let unsupported = unsupported
        .map(|(name, (effect, count))| json!({ "name": name, "effect": effect, "count": count }));
    let incomplete = match &program.completeness {
        Completeness::Complete => None,
        Completeness::Incomplete(reason) => Some(reason),
    };
    json!({
        "program": program.start.program,
        "layer": program.start.layer,
        "contents": program.contents(),
        "devices": devices.collect::<Vec<_>>(),
        "modules": program.modules.len(),
        "pipelines": program.pipelines.len(),
        "buffers": program.buffers.len(),
        "images": program.images.len(),
        "submissions": figures.submissions,
        "dispatches": figures.dispatches,
        "barriers": figures.barriers,
        "transfers": figures.transfers,
        "operations": program.operations.len(),
        "unsupported": unsupported.collect::<Vec<_>>(),
        "incomplete": incomplete,
    })
}

/// A number with its noun.
fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// The summary for people.
pub(super) fn summary_in_words(program: &Program) -> String {
    let figures = figures(program);
    let mut text = String::new();
    for device in &program.devices {
        text.push_str(&format!("  device: {} ({})\n", device.name, device.driver_info));
    }
    let counts = [
        counted(program.modules.len(), "shader module"),
        counted(program.pipelines.len(), "compute pipeline"),
        counted(figures.submissions, "submission"),
        counted(figures.dispatches, "dispatch").replace("dispatchs", "dispatches"),
        counted(figures.barriers, "barrier"),
        counted(figures.transfers, "transfer"),
    ];
    text.push_str(&format!("  {}\n", counts.join(", ")));
    if program.contents() == ContentsMode::Recorded {
        text.push_str("  contents of memory are recorded\n");
    }
    for (name, (_, count)) in &program.unsupported {
        text.push_str(&format!("  not modelled: {name}, {}\n", counted(*count as usize, "call")));
    }
    if let Completeness::Incomplete(reason) = &program.completeness {
        text.push_str(&format!("  incomplete: {reason}\n"));
    }
    text
}

/// Each operation in a line.
pub(super) fn operations(program: &Program) -> Vec<String> {
    let lines = program.operations.iter().enumerate().map(|(index, operation)| {
        let name = operation_in_words(program, index);
        let name = name.rsplit_once(" (operation").map_or(name.as_str(), |(name, _)| name);
        format!("{name}{}", details(program, operation))
    });
    lines.collect()
}

fn batch_place(program: &Program, batch: u32) -> Option<&BatchPlace> {
    program.batches.get((batch as usize).checked_sub(1)?)
}

/// A batch as its submission, where it is alone in it.
fn batch_in_words(program: &Program, batch: u32) -> String {
    match batch_place(program, batch) {
        Some(BatchPlace { submission, number, of }) if *of > 1 => {
            format!("batch {number} of submission {submission}")
        }
        Some(BatchPlace { submission, .. }) => format!("submission {submission}"),
        None => format!("batch {batch}"),
    }
}

/// What is told of an operation behind its name.
fn details(program: &Program, operation: &Operation) -> String {
    match &operation.action {
        Action::Dispatch(dispatch) => dispatch_details(program, dispatch),
        Action::Copy { from, to, regions } => {
            let bytes: u64 = regions.iter().map(|region| region.size).sum();
            format!(": {bytes} bytes from buffer {} to buffer {}", from + 1, to + 1)
        }
        Action::Fill { buffer, offset, size, .. } => {
            format!(": {size} bytes of buffer {} at {offset}", buffer + 1)
        }
        Action::Update { buffer, offset, bytes } => {
            format!(": {} bytes of buffer {} at {offset}", bytes.len(), buffer + 1)
        }
        Action::Map(span) | Action::Flush(span) | Action::Invalidate(span) => {
            format!(": memory {}, bytes {} to {}", span.memory + 1, span.start, span.end)
        }
        Action::Unmap(memory) => format!(": memory {}", memory + 1),
        Action::Contents { memory, offset, bytes } => {
            format!(": {} bytes of memory {} at {offset}", bytes.len(), memory + 1)
        }
        Action::HostWait { completed } => {
            let done = completed.iter().map(|(queue, batch)| {
                format!("{} of queue {}", batch_in_words(program, *batch), queue + 1)
            });
            let done: Vec<String> = done.collect();
            format!(": {} is complete", done.join(", "))
        }
        Action::Barrier(parts) => {
            let parts: Vec<String> = parts.iter().map(dependency_in_words).collect();
            format!(": {}", parts.join("; "))
        }
        Action::Submit => {
            let place = operation.batch.and_then(|batch| batch_place(program, batch));
            let submission = place.map_or(0, |place| place.submission);
            format!(" {submission} to queue {}", operation.queue + 1)
        }
        Action::SemaphoreWait(step) | Action::SemaphoreSignal(step) => {
            let value = step.value.map(|value| format!(", value {value}")).unwrap_or_default();
            format!(": semaphore {}{value}", step.semaphore + 1)
        }
        Action::CopyToImage { from, to, .. } => {
            format!(" from buffer {} to image {}", from + 1, to.image + 1)
        }
        Action::CopyFromImage { from, to, .. } => {
            format!(" from image {} to buffer {}", from.image + 1, to + 1)
        }
        Action::CopyImage { from, to, .. } => {
            format!(" from image {} to image {}", from.image + 1, to.image + 1)
        }
        Action::ClearImage { to, .. } => format!(" of image {}", to.image + 1),
        Action::ImageContents { image, level, layer, bytes } => {
            let bytes = bytes.len();
            format!(": {bytes} bytes of image {}, level {level}, layer {layer}", image + 1)
        }
        Action::UnreadImage { image, reason } => format!(" of image {}: {reason}", image + 1),
        Action::UnboundDispatch { .. } | Action::ImageCopy { .. } | Action::Unsupported { .. } => {
            String::new()
        }
    }
}

fn dispatch_details(program: &Program, dispatch: &Dispatch) -> String {
    let pipeline = &program.pipelines[dispatch.pipeline];
    let groups = match dispatch.groups {
        Groups::Direct([x, y, z]) => format!("{x} x {y} x {z} workgroups"),
        Groups::Indirect { buffer, offset } => {
            format!("workgroups in buffer {} at {offset}", buffer + 1)
        }
    };
    let module = match pipeline.module {
        Some(module) => format!(" of module {}", module + 1),
        None => String::new(),
    };
    format!(": pipeline {} `{}`{module}, {groups}", dispatch.pipeline + 1, pipeline.entry)
}

/// Checks for people, broken between words within the width of a terminal.
pub(super) fn report_in_words(report: &CaptureReport, width: Option<u16>) -> String {
    const INDENT: usize = 16;
    let line_width = width.map_or(usize::MAX, |width| usize::from(width.max(40)) - INDENT);
    let mut text = String::new();
    for row in &report.checks {
        let name = serde_json::to_value(row.check).ok();
        let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
        let status = match &row.status {
            CheckStatus::Holds => "holds",
            CheckStatus::Refuted => "refuted",
            CheckStatus::Undetermined => "undetermined",
            CheckStatus::Unknown(word) => word,
        };
        let sentence = format!("{name}: {}", row.message);
        for (number, line) in report::wrap(&sentence, line_width).into_iter().enumerate() {
            let status = if number == 0 { status } else { "" };
            text.push_str(&format!("{status:<12}  {line}\n"));
        }
    }
    for remark in &report.remarks {
        text.push_str(&format!("{:<12}  {remark}\n", "note"));
    }
    text
}
