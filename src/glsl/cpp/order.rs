//! The order of evaluation: C++ leaves more of it open than a GLSL compiler takes, so what depends
//! on it is refused.
//!
//! Promises: within one expression no operand reads or writes what another one writes, unless `&&`,
//! `||`, `?:` or a comma stands between them in both languages, or they are arguments of one
//! constructor. What is stored by the assignment at the root comes last in both.

use super::super::syntax::{Expression, ExpressionKind};
use super::function::{assigned_place, root_name};
use super::{Emitted, Emitter, ValuePlace, built_in};
use std::collections::BTreeSet;

/// Variables and memory that evaluating an expression reads and writes.
#[derive(Debug, Clone, Default)]
struct TouchedValues {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    reads_memory: bool,
    writes_memory: bool,
}

impl TouchedValues {
    fn add_values(&mut self, other_values: TouchedValues) {
        self.reads.extend(other_values.reads);
        self.writes.extend(other_values.writes);
        self.reads_memory |= other_values.reads_memory;
        self.writes_memory |= other_values.writes_memory;
    }

    /// Whether it matters which of the two comes first.
    fn conflicts_with(&self, other_values: &TouchedValues) -> bool {
        self.disturbs(other_values) || other_values.disturbs(self)
    }

    /// Whether it writes what the other one reads or writes.
    fn disturbs(&self, other_values: &TouchedValues) -> bool {
        let disturbs_variable = self
            .writes
            .iter()
            .any(|name| other_values.reads.contains(name) || other_values.writes.contains(name));
        let disturbs_memory =
            self.writes_memory && (other_values.reads_memory || other_values.writes_memory);
        disturbs_variable || disturbs_memory
    }
}

impl Emitter<'_> {
    /// Refuses an expression whose value depends on the order of evaluation.
    pub(super) fn check_order(&self, expression: &Expression) -> Emitted {
        self.touched_by(expression).map(|_| ())
    }

    fn touched_by(&self, expression: &Expression) -> Result<TouchedValues, super::Unsupported> {
        if let Some(target) = assigned_place(&self.unit.tokens, expression) {
            return self.touched_by_write(expression, target);
        }
        match &expression.kind {
            ExpressionKind::Identifier => Ok(self.read_of_name(self.token_text(expression.first))),
            ExpressionKind::Binary { operator, left, right }
                if matches!(self.token_text(*operator), "&&" | "||") =>
            {
                self.touched_in_turn(&[left, right])
            }
            ExpressionKind::Comma { first, second } => self.touched_in_turn(&[first, second]),
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.touched_in_turn(&[condition, then, otherwise])
            }
            ExpressionKind::Call { callee, arguments } => {
                self.touched_by_call(expression, callee, arguments)
            }
            ExpressionKind::Field { base, name } if self.block_members(base).is_some() => {
                let member_symbol = self
                    .block_members(base)
                    .and_then(|members| members.get(self.token_text(*name)));
                let reads_memory =
                    member_symbol.is_none_or(|member| member.place != ValuePlace::Unwritten);
                Ok(TouchedValues { reads_memory, ..TouchedValues::default() })
            }
            _ => {
                let mut direct_parts = Vec::new();
                expression.each_part(&mut |part| direct_parts.push(part));
                self.touched_in_any_order(expression, &direct_parts)
            }
        }
    }

    /// Whether a callee is a type or an array of one.
    fn is_constructor(&self, callee: &Expression) -> bool {
        match &callee.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(callee.first);
                built_in::type_name(name).is_some() || self.structures.contains_key(name)
            }
            ExpressionKind::Index { base, .. } => self.is_constructor(base),
            _ => false,
        }
    }

    fn read_of_name(&self, name: &str) -> TouchedValues {
        let mut touched_values = TouchedValues::default();
        match self.resolve_name(name).map(|symbol| &symbol.place) {
            Some(ValuePlace::Locally) | None => {
                touched_values.reads.insert(name.to_owned());
            }
            Some(ValuePlace::InMemory | ValuePlace::Block(_)) => touched_values.reads_memory = true,
            Some(ValuePlace::Unwritten | ValuePlace::Constant) => {}
        }
        touched_values
    }

    /// Parts that come one after the other.
    fn touched_in_turn(&self, parts: &[&Expression]) -> Result<TouchedValues, super::Unsupported> {
        let mut all_touched = TouchedValues::default();
        for part in parts {
            all_touched.add_values(self.touched_by(part)?);
        }
        Ok(all_touched)
    }

    fn touched_in_any_order(
        &self,
        whole_expression: &Expression,
        parts: &[&Expression],
    ) -> Result<TouchedValues, super::Unsupported> {
        let mut all_touched = TouchedValues::default();
        for part in parts {
            let part_touched = self.touched_by(part)?;
            if all_touched.conflicts_with(&part_touched) {
                return Err(self.unsupported_at(
                    "an expression whose value depends on the order of evaluation",
                    whole_expression.first,
                ));
            }
            all_touched.add_values(part_touched);
        }
        Ok(all_touched)
    }

    fn touched_by_write(
        &self,
        whole_expression: &Expression,
        target: &Expression,
    ) -> Result<TouchedValues, super::Unsupported> {
        // Of the target its indices are evaluated, and the value itself where the operator asks for
        // it.
        let mut index_expressions = Vec::new();
        index_parts(target, &mut index_expressions);
        let mut parts = index_expressions;
        let is_plain_assignment = self.token_text(target.last + 1) == "=";
        let ExpressionKind::Assignment { value, .. } = &whole_expression.kind else {
            let mut touched_values = self.touched_in_any_order(whole_expression, &parts)?;
            self.note_store(target, &mut touched_values);
            return Ok(touched_values);
        };
        if !is_plain_assignment {
            parts.push(target);
        }
        parts.push(value);
        let mut touched_values = self.touched_in_any_order(whole_expression, &parts)?;
        self.note_store(target, &mut touched_values);
        Ok(touched_values)
    }

    fn note_store(&self, target: &Expression, touched_values: &mut TouchedValues) {
        let variable_name = self.token_text(root_name(target));
        match self.resolve_name(variable_name).map(|symbol| &symbol.place) {
            Some(ValuePlace::InMemory | ValuePlace::Block(_)) => {
                touched_values.writes_memory = true
            }
            Some(ValuePlace::Locally | ValuePlace::Unwritten | ValuePlace::Constant) | None => {
                touched_values.writes.insert(variable_name.to_owned());
            }
        }
    }

    /// What a call writes back. Which of two values in one place is written last is open in GLSL
    /// too.
    fn note_all_stores<'e>(
        &self,
        written_arguments: impl Iterator<Item = &'e Expression>,
        touched_values: &mut TouchedValues,
    ) -> Result<(), super::Unsupported> {
        let mut stored_paths: Vec<Vec<PathStep<'_>>> = Vec::new();
        for argument in written_arguments {
            let access_path = self.access_path(argument);
            if stored_paths.iter().any(|stored_path| may_overlap(stored_path, &access_path)) {
                return Err(self.unsupported_at(
                    "a call that writes parts of one variable twice",
                    argument.first,
                ));
            }
            stored_paths.push(access_path);
            self.note_store(argument, touched_values);
        }
        Ok(())
    }

    /// The way from a variable to a part of it.
    fn access_path(&self, part: &Expression) -> Vec<PathStep<'_>> {
        match &part.kind {
            ExpressionKind::Parenthesised(inner) => self.access_path(inner),
            ExpressionKind::Index { base, index } => {
                let literal_index =
                    index.as_deref().filter(|index| matches!(index.kind, ExpressionKind::Literal));
                let mut access_path = self.access_path(base);
                access_path.push(literal_index.map_or(PathStep::UnknownElement, |index| {
                    PathStep::Element(self.token_text(index.first))
                }));
                access_path
            }
            ExpressionKind::Field { base, name } => {
                let mut access_path = self.access_path(base);
                access_path.push(PathStep::Member(self.token_text(*name)));
                access_path
            }
            _ => vec![PathStep::Variable(self.token_text(part.first))],
        }
    }

    fn touched_by_call(
        &self,
        whole_call: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Result<TouchedValues, super::Unsupported> {
        let function_name = self.token_text(callee.first);
        let mut evaluated_parts: Vec<&Expression> = arguments.iter().collect();
        if let ExpressionKind::Field { base, .. } = &callee.kind {
            evaluated_parts.push(base);
        }
        if let Some(signature) = self
            .functions
            .get(function_name)
            .filter(|known_function| known_function.takes_call(function_name, arguments.len()))
        {
            let (changes_memory, written_indices) = (signature.changes_memory, &signature.written);
            // What a call writes back is stored behind the evaluation of all its arguments.
            let mut touched_values = self.touched_in_any_order(whole_call, &evaluated_parts)?;
            touched_values.reads_memory = true;
            touched_values.writes_memory |= changes_memory;
            let written_arguments = arguments
                .iter()
                .enumerate()
                .filter(|(argument_index, _)| written_indices.contains(argument_index));
            self.note_all_stores(
                written_arguments.map(|(_, argument)| argument),
                &mut touched_values,
            )?;
            return Ok(touched_values);
        }
        if self.is_constructor(callee) {
            // Between braces C++ goes from left to right, too.
            return self.touched_in_turn(&evaluated_parts);
        }
        let mut touched_values = self.touched_in_any_order(whole_call, &evaluated_parts)?;
        touched_values.writes_memory |= built_in::is_atomic(function_name);
        let written_arguments = built_in::written_arguments(function_name)
            .iter()
            .filter_map(|argument_index| arguments.get(*argument_index));
        self.note_all_stores(written_arguments, &mut touched_values)?;
        Ok(touched_values)
    }
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathStep<'t> {
    /// The first step of all.
    Variable(&'t str),
    /// A member or swizzle.
    Member(&'t str),
    /// The element with this number, as the text spells it.
    Element(&'t str),
    /// An element that the text does not tell.
    UnknownElement,
}

/// Whether two parts may have something in common.
fn may_overlap(first_path: &[PathStep<'_>], second_path: &[PathStep<'_>]) -> bool {
    first_path.iter().zip(second_path).all(|step_pair| match step_pair {
        // Numbers that are spelled alike are the same, and so may others be (`1`, `0x1`).
        (PathStep::Element(left), PathStep::Element(right)) => {
            left == right || !(is_plain(left) && is_plain(right))
        }
        // Two swizzles may share a letter.
        (PathStep::Member(left), PathStep::Member(right)) => {
            left == right
                || (left.len() + right.len() > 2
                    && left.chars().any(|letter| right.contains(letter)))
        }
        (PathStep::Variable(left), PathStep::Variable(right)) => left == right,
        _ => true,
    })
}

/// Whether a number is spelled in the one way that has no other.
fn is_plain(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'))
}

/// The expressions in the indices of what is written.
fn index_parts<'e>(target: &'e Expression, index_expressions: &mut Vec<&'e Expression>) {
    match &target.kind {
        ExpressionKind::Index { base, index } => {
            index_parts(base, index_expressions);
            index_expressions.extend(index.as_deref());
        }
        ExpressionKind::Field { base, .. } | ExpressionKind::Parenthesised(base) => {
            index_parts(base, index_expressions)
        }
        _ => {}
    }
}
