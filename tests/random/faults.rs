//! Defects put into valid kernels, each of which must be found.

use super::frame::{Kernel, OUT_WORDS, START, fold};
use super::types::{Dice, Scalar};
use vkcert::model::finding::FindingKind;

/// A kernel with a defect at its start, and the finding that is due.
pub(crate) struct Faulty {
    pub kernel: Kernel,
    pub due: FindingKind,
    pub what: &'static str,
}

/// One by the kernel's seed.
pub(crate) fn faulty(kernel: &Kernel) -> Faulty {
    let mut dice = Dice(kernel.seed ^ 0xFA17);
    let local = kernel.shape.local_size;
    let scalar = Scalar::random(&mut dice);
    let name = scalar.name();
    let own = format!("o[gl_GlobalInvocationID.x * {OUT_WORDS}u + {}u]", OUT_WORDS - 1);
    let integer = Scalar::integer(&mut dice);
    let number = integer.name();
    let (due, what, lines, file) = match dice.below(8) {
        0 => (
            FindingKind::UninitializedRead,
            "a variable without a value",
            format!(
                "{name} lost; if (gl_LocalInvocationIndex > 2u) lost = {name}(1); {own} = {};",
                fold(scalar, "lost")
            ),
            String::new(),
        ),
        1 => (
            FindingKind::UninitializedRead,
            "an element without a value",
            format!(
                "{name} lost[3]; lost[0] = {name}(1); lost[2] = {name}(1); {own} = {};",
                fold(scalar, "lost[(gl_LocalInvocationIndex + 1u) % 3u]")
            ),
            String::new(),
        ),
        2 => (
            FindingKind::OutOfBounds,
            "an element behind the last",
            "o[uint(o.length()) + gl_LocalInvocationIndex] = 1u;".to_owned(),
            String::new(),
        ),
        3 => (
            FindingKind::DataRace,
            "two writers",
            "o[0] = gl_LocalInvocationIndex;".to_owned(),
            String::new(),
        ),
        4 => (
            FindingKind::DataRace,
            "no barrier",
            format!(
                "leak[gl_LocalInvocationIndex] = {name}(1); {own} = {};",
                fold(scalar, &format!("leak[(gl_LocalInvocationIndex + 1u) % {local}u]"))
            ),
            format!("shared {name} leak[{local}];\n"),
        ),
        5 => (
            FindingKind::UndefinedValue,
            "division by zero",
            format!(
                "{number} none = {number}(gl_LocalInvocationIndex / 64u); {own} = {};",
                fold(integer, &format!("({number}(7) / none)"))
            ),
            String::new(),
        ),
        6 => (
            FindingKind::UndefinedValue,
            "a shift by the width",
            format!(
                "{number} far = {number}(gl_LocalInvocationIndex / 64u + {}u); {own} = {};",
                integer.bits(),
                fold(integer, &format!("({number}(7) << far)"))
            ),
            String::new(),
        ),
        _ => (
            FindingKind::UninitializedRead,
            "an output parameter without a value",
            format!("{name} lost; leave_out(lost); {own} = {};", fold(scalar, "lost")),
            format!(
                "void leave_out(out {name} p) {{ if (gl_LocalInvocationIndex == 1u) p = {name}(1); }}\n"
            ),
        ),
    };
    let text = kernel
        .text
        .replace(START, &lines)
        .replace("void main() {", &format!("{file}void main() {{"));
    Faulty { kernel: Kernel { text, ..kernel.clone() }, due, what }
}
