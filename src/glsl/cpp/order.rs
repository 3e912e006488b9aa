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
    fn add(&mut self, other: Touched) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.reads_memory |= other.reads_memory;
        self.writes_memory |= other.writes_memory;
    }

    /// Whether it matters which of the two comes first.
    fn conflicts(&self, other: &Touched) -> bool {
        let one_way = |a: &Touched, b: &Touched| {
            a.writes.iter().any(|name| b.reads.contains(name) || b.writes.contains(name))
                || (a.writes_memory && (b.reads_memory || b.writes_memory))
        };
        one_way(self, other) || one_way(other, self)
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
                let place =
                    self.block_members(base).and_then(|members| members.get(self.text(*name)));
                let reads_memory = place.is_none_or(|member| member.place != Held::Unwritten);
                Ok(Touched { reads_memory, ..Touched::default() })
            }
            _ => {
                let mut parts = Vec::new();
                expression.each_part(&mut |part| parts.push(part));
                self.in_any_order(expression, &parts)
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
        let mut touched = Touched::default();
        match self.resolve(name).map(|symbol| &symbol.place) {
            Some(Held::Locally) | None => {
                touched.reads.insert(name.to_owned());
            }
            Some(Held::InMemory | Held::Block(_)) => touched.reads_memory = true,
            Some(Held::Unwritten | Held::Constant) => {}
        }
        touched
    }

    /// Parts that come one after the other.
    fn in_turn(&self, parts: &[&Expression]) -> Result<Touched, super::Unsupported> {
        let mut all = Touched::default();
        for part in parts {
            all.add(self.touched(part)?);
        }
        Ok(all)
    }

    fn in_any_order(
        &self,
        whole: &Expression,
        parts: &[&Expression],
    ) -> Result<Touched, super::Unsupported> {
        let mut all = Touched::default();
        for part in parts {
            let touched = self.touched(part)?;
            if all.conflicts(&touched) {
                return Err(self.unsupported(
                    "an expression whose value depends on the order of evaluation",
                    whole.first,
                ));
            }
            all.add(touched);
        }
        Ok(all)
    }

    fn written_to(
        &self,
        whole: &Expression,
        target: &Expression,
    ) -> Result<Touched, super::Unsupported> {
        // Of the target its indices are evaluated, and the value itself where the operator asks for
        // it.
        let mut indices = Vec::new();
        index_parts(target, &mut indices);
        let mut parts = indices;
        let plain = self.text(target.last + 1) == "=";
        let ExpressionKind::Assignment { value, .. } = &whole.kind else {
            let mut touched = self.in_any_order(whole, &parts)?;
            self.store(target, &mut touched);
            return Ok(touched);
        };
        if !plain {
            parts.push(target);
        }
        parts.push(value);
        let mut touched = self.in_any_order(whole, &parts)?;
        self.store(target, &mut touched);
        Ok(touched)
    }

    fn store(&self, target: &Expression, touched: &mut Touched) {
        let name = self.text(root_name(target));
        match self.resolve(name).map(|symbol| &symbol.place) {
            Some(Held::InMemory | Held::Block(_)) => touched.writes_memory = true,
            Some(Held::Locally | Held::Unwritten | Held::Constant) | None => {
                touched.writes.insert(name.to_owned());
            }
        }
    }

    /// What a call writes back. Which of two values in one place is written last is open in GLSL
    /// too.
    fn store_all<'e>(
        &self,
        written: impl Iterator<Item = &'e Expression>,
        touched: &mut Touched,
    ) -> Result<(), super::Unsupported> {
        let mut stored: Vec<Vec<Step<'_>>> = Vec::new();
        for argument in written {
            let path = self.path(argument);
            if stored.iter().any(|other| may_overlap(other, &path)) {
                return Err(self.unsupported(
                    "a call that writes parts of one variable twice",
                    argument.first,
                ));
            }
            stored.push(path);
            self.store(argument, touched);
        }
        Ok(())
    }

    /// The way from a variable to a part of it.
    fn path(&self, part: &Expression) -> Vec<Step<'_>> {
        match &part.kind {
            ExpressionKind::Parenthesised(inner) => self.path(inner),
            ExpressionKind::Index { base, index } => {
                let literal =
                    index.as_deref().filter(|index| matches!(index.kind, ExpressionKind::Literal));
                let mut path = self.path(base);
                path.push(
                    literal.map_or(Step::Somewhere, |index| Step::Element(self.text(index.first))),
                );
                path
            }
            ExpressionKind::Field { base, name } => {
                let mut path = self.path(base);
                path.push(Step::Member(self.text(*name)));
                path
            }
            _ => vec![Step::Variable(self.text(part.first))],
        }
    }

    fn called(
        &self,
        whole: &Expression,
        callee: &Expression,
        arguments: &[Expression],
    ) -> Result<Touched, super::Unsupported> {
        let name = self.text(callee.first);
        let mut parts: Vec<&Expression> = arguments.iter().collect();
        if let ExpressionKind::Field { base, .. } = &callee.kind {
            parts.push(base);
        }
        if let Some(signature) =
            self.functions.get(name).filter(|known| known.takes(name, arguments.len()))
        {
            let (changes, written) = (signature.changes_memory, signature.written.clone());
            // What a call writes back is stored behind the evaluation of all its arguments.
            let mut touched = self.in_any_order(whole, &parts)?;
            touched.reads_memory = true;
            touched.writes_memory |= changes;
            let written = arguments.iter().enumerate().filter(|(at, _)| written.contains(at));
            self.store_all(written.map(|(_, argument)| argument), &mut touched)?;
            return Ok(touched);
        }
        if self.constructs(callee) {
            // Between braces C++ goes from left to right, too.
            return self.in_turn(&parts);
        }
        let mut touched = self.in_any_order(whole, &parts)?;
        touched.writes_memory |= built_in::is_atomic(name);
        let written = built_in::written_arguments(name).iter().filter_map(|at| arguments.get(*at));
        self.store_all(written, &mut touched)?;
        Ok(touched)
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
fn may_overlap(a: &[Step<'_>], b: &[Step<'_>]) -> bool {
    a.iter().zip(b).all(|steps| match steps {
        // Numbers that are spelled alike are the same, and so may others be (`1`, `0x1`).
        (Step::Element(a), Step::Element(b)) => a == b || !(is_plain(a) && is_plain(b)),
        // Two swizzles may share a letter.
        (Step::Member(a), Step::Member(b)) => {
            a == b || (a.len() + b.len() > 2 && a.chars().any(|letter| b.contains(letter)))
        }
        (Step::Variable(a), Step::Variable(b)) => a == b,
        _ => true,
    })
}

/// Whether a number is spelled in the one way that has no other.
fn is_plain(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit()) && (number == "0" || !number.starts_with('0'))
}

/// The expressions in the indices of what is written.
fn index_parts<'e>(target: &'e Expression, found: &mut Vec<&'e Expression>) {
    match &target.kind {
        ExpressionKind::Index { base, index } => {
            index_parts(base, found);
            found.extend(index.as_deref());
        }
        ExpressionKind::Field { base, .. } | ExpressionKind::Parenthesised(base) => {
            index_parts(base, found)
        }
        _ => {}
    }
}
