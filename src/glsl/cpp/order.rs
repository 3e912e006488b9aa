//! The order of evaluation: C++ leaves more of it open than a GLSL compiler takes, so what depends
//! on it is refused.
//!
//! Promises: within one expression no operand reads or writes what another one writes, unless `&&`,
//! `||`, `?:` or a comma stands between them in both languages, or they are arguments of one
//! constructor. What is stored by the assignment at the root comes last in both.

use super::super::syntax::{Expression, ExpressionKind};
use super::function::{root_name, written};
use super::{Emitted, Emitter, Held, built_in};
use std::collections::BTreeSet;

/// What evaluating an expression touches.
#[derive(Debug, Clone, Default)]
struct Touched {
    reads: BTreeSet<String>,
    writes: BTreeSet<String>,
    reads_memory: bool,
    writes_memory: bool,
}

impl Touched {
    fn add(&mut self, other_values: Touched) {
        self.reads.extend(other_values.reads);
        self.writes.extend(other_values.writes);
        self.reads_memory |= other_values.reads_memory;
        self.writes_memory |= other_values.writes_memory;
    }

    /// Whether it matters which of the two comes first.
    fn conflicts(&self, other_values: &Touched) -> bool {
        let first_disturbs = |first_values: &Touched, second_values: &Touched| {
            first_values.writes.iter().any(|name| {
                second_values.reads.contains(name) || second_values.writes.contains(name)
            }) || (first_values.writes_memory
                && (second_values.reads_memory || second_values.writes_memory))
        };
        first_disturbs(self, other_values) || first_disturbs(other_values, self)
    }
}

impl Emitter<'_> {
    /// Refuses an expression whose value depends on the order of evaluation.
    pub(super) fn check_order(&self, expression: &Expression) -> Emitted {
        self.touched(expression).map(|_| ())
    }

    fn touched(&self, expression: &Expression) -> Result<Touched, super::Unsupported> {
        if let Some(target) = written(&self.unit.tokens, expression) {
            return self.written_to(expression, target);
        }
        match &expression.kind {
            ExpressionKind::Identifier => Ok(self.read(self.text(expression.first))),
            ExpressionKind::Binary { operator, left, right }
                if matches!(self.text(*operator), "&&" | "||") =>
            {
                self.in_turn(&[left, right])
            }
            ExpressionKind::Comma { first, second } => self.in_turn(&[first, second]),
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.in_turn(&[condition, then, otherwise])
            }
            ExpressionKind::Call { callee, arguments } => {
                self.called(expression, callee, arguments)
            }
            ExpressionKind::Field { base, name } if self.block_members(base).is_some() => {
                let member_symbol =
                    self.block_members(base).and_then(|members| members.get(self.text(*name)));
                let reads_memory =
                    member_symbol.is_none_or(|member| member.place != Held::Unwritten);
                Ok(Touched { reads_memory, ..Touched::default() })
            }
            _ => {
                let mut direct_parts = Vec::new();
                expression.each_part(&mut |part| direct_parts.push(part));
                self.in_any_order(expression, &direct_parts)
            }
        }
    }

    /// Whether a callee is a type or an array of one.
    fn constructs(&self, callee: &Expression) -> bool {
        match &callee.kind {
            ExpressionKind::Identifier => {
                let name = self.text(callee.first);
                built_in::type_name(name).is_some() || self.structures.contains_key(name)
            }
            ExpressionKind::Index { base, .. } => self.constructs(base),
            _ => false,
        }
    }

    fn read(&self, name: &str) -> Touched {
        let mut touched_values = Touched::default();
        match self.resolve(name).map(|symbol| &symbol.place) {
            Some(Held::Locally) | None => {
                touched_values.reads.insert(name.to_owned());
            }
            Some(Held::InMemory | Held::Block(_)) => touched_values.reads_memory = true,
            Some(Held::Unwritten | Held::Constant) => {}
        }
        touched_values
    }

    /// Parts that come one after the other.
    fn in_turn(&self, parts: &[&Expression]) -> Result<Touched, super::Unsupported> {
        let mut all_touched = Touched::default();
        for part in parts {
            all_touched.add(self.touched(part)?);
        }
        Ok(all_touched)
    }

    fn in_any_order(
        &self,
        whole_expression: &Expression,
        parts: &[&Expression],
    ) -> Result<Touched, super::Unsupported> {
        let mut all_touched = Touched::default();
        for part in parts {
            let part_touched = self.touched(part)?;
            if all_touched.conflicts(&part_touched) {
                return Err(self.unsupported(
                    "an expression whose value depends on the order of evaluation",
                    whole_expression.first,
                ));
            }
            all_touched.add(part_touched);
        }
        Ok(all_touched)
    }

    fn written_to(
        &self,
        whole_expression: &Expression,
        target: &Expression,
    ) -> Result<Touched, super::Unsupported> {
        // Of the target its indices are evaluated, and the value itself where the operator asks for
        // it.
        let mut index_expressions = Vec::new();
        index_parts(target, &mut index_expressions);
        let mut parts = index_expressions;
        let is_plain_assignment = self.text(target.last + 1) == "=";
        let ExpressionKind::Assignment { value, .. } = &whole_expression.kind else {
            let mut touched_values = self.in_any_order(whole_expression, &parts)?;
            self.store(target, &mut touched_values);
            return Ok(touched_values);
        };
        if !is_plain_assignment {
            parts.push(target);
        }
        parts.push(value);
        let mut touched_values = self.in_any_order(whole_expression, &parts)?;
        self.store(target, &mut touched_values);
        Ok(touched_values)
    }

    fn store(&self, target: &Expression, touched_values: &mut Touched) {
        let variable_name = self.text(root_name(target));
        match self.resolve(variable_name).map(|symbol| &symbol.place) {
            Some(Held::InMemory | Held::Block(_)) => touched_values.writes_memory = true,
            Some(Held::Locally | Held::Unwritten | Held::Constant) | None => {
                touched_values.writes.insert(variable_name.to_owned());
            }
        }
    }

    /// What a call writes back. Which of two values in one place is written last is open in GLSL
    /// too.
    fn store_all<'e>(
        &self,
        written_arguments: impl Iterator<Item = &'e Expression>,
        touched_values: &mut Touched,
    ) -> Result<(), super::Unsupported> {
        let mut stored_paths: Vec<Vec<Step<'_>>> = Vec::new();
        for argument in written_arguments {
            let access_path = self.path(argument);
            if stored_paths.iter().any(|stored_path| may_overlap(stored_path, &access_path)) {
                return Err(self.unsupported(
                    "a call that writes parts of one variable twice",
                    argument.first,
                ));
            }
            stored_paths.push(access_path);
            self.store(argument, touched_values);
        }
        Ok(())
    }

    /// The way from a variable to a part of it.
    fn path(&self, part: &Expression) -> Vec<Step<'_>> {
        match &part.kind {
            ExpressionKind::Parenthesised(inner) => self.path(inner),
            ExpressionKind::Index { base, index } => {
                let literal_index =
                    index.as_deref().filter(|index| matches!(index.kind, ExpressionKind::Literal));
                let mut access_path = self.path(base);
                access_path.push(
                    literal_index
                        .map_or(Step::Somewhere, |index| Step::Element(self.text(index.first))),
                );
                access_path
            }
            ExpressionKind::Field { base, name } => {
                let mut access_path = self.path(base);
                access_path.push(Step::Member(self.text(*name)));
                access_path
            }
            _ => vec![Step::Variable(self.text(part.first))],
        }
    }

    fn called(
        &self,
        whole_call: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Result<Touched, super::Unsupported> {
        let function_name = self.text(callee.first);
        let mut evaluated_parts: Vec<&Expression> = arguments.iter().collect();
        if let ExpressionKind::Field { base, .. } = &callee.kind {
            evaluated_parts.push(base);
        }
        if let Some(signature) = self
            .functions
            .get(function_name)
            .filter(|known_function| known_function.takes(function_name, arguments.len()))
        {
            let (changes_memory, written_indices) =
                (signature.changes_memory, signature.written.clone());
            // What a call writes back is stored behind the evaluation of all its arguments.
            let mut touched_values = self.in_any_order(whole_call, &evaluated_parts)?;
            touched_values.reads_memory = true;
            touched_values.writes_memory |= changes_memory;
            let written_arguments = arguments
                .iter()
                .enumerate()
                .filter(|(argument_index, _)| written_indices.contains(argument_index));
            self.store_all(written_arguments.map(|(_, argument)| argument), &mut touched_values)?;
            return Ok(touched_values);
        }
        if self.constructs(callee) {
            // Between braces C++ goes from left to right, too.
            return self.in_turn(&evaluated_parts);
        }
        let mut touched_values = self.in_any_order(whole_call, &evaluated_parts)?;
        touched_values.writes_memory |= built_in::is_atomic(function_name);
        let written_arguments = built_in::written_arguments(function_name)
            .iter()
            .filter_map(|argument_index| arguments.get(*argument_index));
        self.store_all(written_arguments, &mut touched_values)?;
        Ok(touched_values)
    }
}

/// A step from a value to a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step<'t> {
    /// The first step of all.
    Variable(&'t str),
    /// A member or swizzle.
    Member(&'t str),
    /// The element with this number, as the text spells it.
    Element(&'t str),
    /// An element that the text does not tell.
    Somewhere,
}

/// Whether two parts may have something in common.
fn may_overlap(first_path: &[Step<'_>], second_path: &[Step<'_>]) -> bool {
    first_path.iter().zip(second_path).all(|step_pair| match step_pair {
        // Numbers that are spelled alike are the same, and so may others be (`1`, `0x1`).
        (Step::Element(left), Step::Element(right)) => {
            left == right || !(is_plain(left) && is_plain(right))
        }
        // Two swizzles may share a letter.
        (Step::Member(left), Step::Member(right)) => {
            left == right
                || (left.len() + right.len() > 2
                    && left.chars().any(|letter| right.contains(letter)))
        }
        (Step::Variable(left), Step::Variable(right)) => left == right,
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
