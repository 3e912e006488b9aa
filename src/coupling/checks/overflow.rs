//! Whether the host computes what it hands over without overflow.
//!
//! Knows: locals, group counts, sizes of buffers and images, domain, members of push constants and values of
//! specialization constants with the types that they end up in.
//! Promises: a row for each of them; what wraps, divides by zero or loses bits is refuted with its
//! part of the text.
//! Does not cover: values that are handed over as they are and fit their type; whether a value fits
//! the kernel's specialization constant (`specialization`); members that are no single integer.

use super::{AXES, HostChecks};
use crate::rows::{CheckRows, values_in_words};
use vkcert_model::evidence::CouplingCheckName;
use vkcert_model::index_range::IndexRange;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::{EvaluatedCase, ProofResult};
use vkcert_requirement::host::expression::{
    self as host, ArithmeticEvent, DivisionRounding, HostExpression, HostExpressionKind,
};

/// A value that the host computes and hands over.
#[derive(Clone, Copy)]
struct HandedValue<'a> {
    expression: &'a HostExpression,
    /// The type that the value ends up in.
    width: HostType,
}

impl<'a> HandedValue<'a> {
    /// A value that keeps the type that it is computed in.
    fn as_computed(expression: &'a HostExpression) -> Self {
        Self { expression, width: expression.width }
    }
}

impl HostChecks<'_> {
    /// No operation on the way to any value that the host hands over wraps, divides by zero or
    /// loses bits.
    pub(crate) fn check_overflow(&self, rows: &mut CheckRows) {
        let interface = self.input.interface;
        for (index, local) in interface.locals.iter().enumerate() {
            let name_index = interface.parameters.len() + index;
            if let Some(expression) = self.host.local_expression(name_index) {
                let value_words = format!("local `{}`", local.name);
                self.check_exact(
                    rows,
                    &value_words,
                    &local.value,
                    HandedValue { expression, width: local.width },
                );
            }
        }
        for (axis, axis_name) in AXES.iter().enumerate() {
            let value_words = format!("the group count in {axis_name}");
            let expression = &self.expressions.groups[axis];
            let handed_value = HandedValue { expression, width: HostType::Uint32 };
            self.check_exact(rows, &value_words, self.group_count_text(axis), handed_value);
        }
        for (buffer, size_expression) in interface.buffers.iter().zip(&self.expressions.buffers) {
            let value_words = format!("the size of buffer {}.{}", buffer.set, buffer.binding);
            self.check_exact(
                rows,
                &value_words,
                &buffer.size,
                HandedValue::as_computed(size_expression),
            );
        }
        if let (Some(texts), Some(domain)) = (&interface.domain, &self.expressions.domain) {
            for axis in 0..3 {
                let value_words = format!("the domain in {}", AXES[axis]);
                self.check_exact(
                    rows,
                    &value_words,
                    &texts[axis],
                    HandedValue::as_computed(&domain[axis]),
                );
            }
        }
        self.check_computed_extents(rows);
        self.check_pushed_values(rows);
        let constants = interface.specialization.iter();
        for (constant, expression) in constants.zip(&self.expressions.specialization) {
            // A decimal number is no expression: nothing is computed.
            let Some(expression) = expression else { continue };
            if is_computed(expression) {
                let value_words = format!("the value of specialization constant {}", constant.id);
                let handed_value = HandedValue::as_computed(expression);
                self.check_exact(rows, &value_words, &constant.value, handed_value);
            }
        }
    }

    /// Sizes of images that are computed; which an image can have is another check's matter.
    fn check_computed_extents(&self, rows: &mut CheckRows) {
        let images = self.input.interface.images.iter();
        for (image, size) in images.zip(&self.expressions.images) {
            let Some(size) = size else { continue };
            let place = format!("image {}.{}", image.set, image.binding);
            let axes = image.extent.iter().zip(&size.axes).zip(AXES);
            let axes = axes.map(|((text, expression), axis)| {
                (format!("the size of {place} in {axis}"), Some(text), Some(expression))
            });
            let counts = [
                (format!("the layers of {place}"), image.layers.as_ref(), size.layers.as_ref()),
                (format!("the levels of {place}"), image.levels.as_ref(), size.levels.as_ref()),
            ];
            for (value_words, text, expression) in axes.chain(counts) {
                let (Some(text), Some(expression)) = (text, expression) else { continue };
                if is_computed(expression) {
                    let handed_value = HandedValue::as_computed(expression);
                    self.check_exact(rows, &value_words, text, handed_value);
                }
            }
        }
    }

    /// Members of push constants that are one integer: what is computed for them, and what a
    /// narrower type may cut off.
    fn check_pushed_values(&self, rows: &mut CheckRows) {
        let members = self.input.interface.push_constants.iter().flat_map(|block| &block.members);
        for member in members {
            let width = member.scalar_type().filter(|width| host::integer_format(*width).is_some());
            let text = member.value.as_deref().unwrap_or(&member.name);
            // A member that names nothing is told by the check of the layout.
            let Ok(expression) = self.host.parse_expression(text, &member.name) else { continue };
            let Some(width) = width else { continue };
            let ((least, greatest), (own_least, own_greatest)) =
                (host::type_range(width), host::type_range(expression.width));
            let keeps_every_value = least <= own_least && own_greatest <= greatest;
            if is_computed(&expression) || !keeps_every_value {
                let value_words = format!("push constant `{}`", member.name);
                let handed_value = HandedValue { expression: &expression, width };
                self.check_exact(rows, &value_words, text, handed_value);
            }
        }
    }

    /// One expression; the locals that it uses have rows of their own.
    fn check_exact(
        &self,
        rows: &mut CheckRows,
        value_words: &str,
        text: &str,
        handed_value: HandedValue<'_>,
    ) {
        let HandedValue { expression, width } = handed_value;
        rows.begin_subject(value_words);
        let events_of_case = |host_case: &EvaluatedCase| {
            let mut events_of_case = Vec::new();
            let typed_value = expression.evaluate(
                &host_case.scope,
                DivisionRounding::Truncate,
                &mut events_of_case,
            );
            if host::wrap_to_type(typed_value.value, width) != typed_value.value {
                events_of_case.push(ArithmeticEvent::Overflow {
                    span: expression.span,
                    exact: typed_value.value,
                    width,
                });
            }
            events_of_case
        };
        let (scope, _) = self.host.enclose_names();
        let mut is_exact = true;
        let interval = expression.enclose(&scope, &mut is_exact);
        vkcert_requirement::host::interval::interval_of_type(
            interval.low,
            interval.high,
            width,
            &mut is_exact,
        );
        let proof_result = if is_exact {
            ProofResult::Proved
        } else {
            self.host
                .decide_for_all(&[expression], &|host_case| events_of_case(host_case).is_empty())
        };
        let claim = format!("{value_words}, {text}, is computed without overflow");
        rows.add_answer(CouplingCheckName::HostOverflow, proof_result, &claim, |refuting_values| {
            let host_case = self.host.named_case(refuting_values);
            let event_words = events_of_case(&host_case)
                .first()
                .map_or(String::new(), |event| event_in_words(event, text));
            format!("{value_words}: {event_words} ({})", values_in_words(refuting_values))
        });
    }
}

/// Whether anything is computed: a name or a literal is handed over as it is.
fn is_computed(expression: &HostExpression) -> bool {
    match &expression.kind {
        HostExpressionKind::Literal(..) | HostExpressionKind::Variable(_) => false,
        HostExpressionKind::Unary(..)
        | HostExpressionKind::Binary(..)
        | HostExpressionKind::Choice(_)
        | HostExpressionKind::Cast(..) => true,
    }
}

/// What happened, with the part of the text where it did.
fn event_in_words(event: &ArithmeticEvent, text: &str) -> String {
    let text_part = |span: &IndexRange| text.get(span.range()).unwrap_or(text);
    match event {
        ArithmeticEvent::Overflow { span, exact, width } => {
            format!("{} is {exact}, which {} cannot hold", text_part(span), host::type_name(*width))
        }
        ArithmeticEvent::QuotientOverflow { span, quotient, width } => {
            let type_name = host::type_name(*width);
            format!("{} divides to {quotient}, which {type_name} cannot hold", text_part(span))
        }
        ArithmeticEvent::DivisionByZero { span } => format!("{} divides by zero", text_part(span)),
        ArithmeticEvent::ShiftTooFar { span, amount } => {
            format!("{} shifts by {amount}", text_part(span))
        }
    }
}
