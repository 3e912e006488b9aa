//! Whether the host computes what it hands over without overflow.
//!
//! Knows: locals, group counts, sizes and domain with the types that they end up in.
//! Promises: a row for each of them; what wraps, divides by zero or loses bits is refuted with its
//! part of the text.
//! Does not cover: members of push constants and specialization constants.

use super::{AXES, Subject};
use crate::rows::{Rows, printed};
use vkcert_model::index_range::IndexRange;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, ProofResult};
use vkcert_requirement::host::expression::{
    self as host, ArithmeticEvent, DivisionRounding, HostExpression,
};

/// A value that the host computes and hands over.
#[derive(Clone, Copy)]
struct Handed<'a> {
    expression: &'a HostExpression,
    /// The type that the value ends up in.
    width: HostType,
}

impl<'a> Handed<'a> {
    /// A value that keeps the type that it is computed in.
    fn as_computed(expression: &'a HostExpression) -> Self {
        Self { expression, width: expression.width }
    }
}

impl Subject<'_> {
    /// No operation on the way to any value that the host hands over wraps, divides by zero or
    /// loses bits.
    pub(crate) fn overflow(&self, rows: &mut Rows) {
        let interface = self.input.interface;
        for (index, local) in interface.locals.iter().enumerate() {
            let number = interface.parameters.len() + index;
            if let Some(expression) = self.host.local_expression(number) {
                let what = format!("local `{}`", local.name);
                self.quiet(rows, &what, &local.value, Handed { expression, width: local.width });
            }
        }
        for (axis, name) in AXES.iter().enumerate() {
            let what = format!("the group count in {name}");
            let expression = &self.expressions.groups[axis];
            let handed = Handed { expression, width: HostType::Uint32 };
            self.quiet(rows, &what, self.text(axis), handed);
        }
        for (buffer, size) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let what = format!("the size of buffer {}.{}", buffer.set, buffer.binding);
            self.quiet(rows, &what, &buffer.size, Handed::as_computed(size));
        }
        if let (Some(texts), Some(domain)) = (&interface.domain, &self.expressions.domain) {
            for axis in 0..3 {
                let what = format!("the domain in {}", AXES[axis]);
                self.quiet(rows, &what, &texts[axis], Handed::as_computed(&domain[axis]));
            }
        }
    }

    /// One expression; the locals that it uses have rows of their own.
    fn quiet(&self, rows: &mut Rows, what: &str, text: &str, handed: Handed<'_>) {
        let Handed { expression, width } = handed;
        rows.about(what);
        let events = |case: &EvaluatedCase| {
            let mut events = Vec::new();
            let typed = expression.evaluate(&case.scope, DivisionRounding::Truncate, &mut events);
            if host::wrap_to_type(typed.value, width) != typed.value {
                events.push(ArithmeticEvent::Overflow {
                    span: expression.span.clone(),
                    exact: typed.value,
                    width,
                });
            }
            events
        };
        let (scope, _) = self.host.enclose_names();
        let mut quiet = true;
        let interval = expression.enclose(&scope, &mut quiet);
        vkcert_requirement::host::interval::interval_of_type(
            interval.low,
            interval.high,
            width,
            &mut quiet,
        );
        let answer = if quiet {
            ProofResult::Proved
        } else {
            self.host.decide_for_all(&[expression], &|case| events(case).is_empty())
        };
        let claim = format!("{what}, {text}, is computed without overflow");
        rows.answer("host-overflow", answer, &claim, |values| {
            let case = self.host.named_case(values);
            let described =
                events(&case).first().map_or(String::new(), |event| describe(event, text));
            format!("{what}: {described} ({})", printed(values))
        });
    }
}

/// What happened, with the part of the text where it did.
fn describe(event: &ArithmeticEvent, text: &str) -> String {
    let part = |span: &IndexRange| text.get(span.range()).unwrap_or(text);
    match event {
        ArithmeticEvent::Overflow { span, exact, width } => {
            format!("{} is {exact}, which {} cannot hold", part(span), host::type_name(*width))
        }
        ArithmeticEvent::DivisionByZero { span } => format!("{} divides by zero", part(span)),
        ArithmeticEvent::ShiftTooFar { span, amount } => {
            format!("{} shifts by {amount}", part(span))
        }
    }
}
