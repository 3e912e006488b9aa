//! What operators make of barriers, fences and atomic operations.
//!
//! Promises: an atomic operation is written plainly only where its memory and its value can be
//! evaluated twice. Does not cover: atomic operations on images, and results of atomic operations
//! inside of other expressions.

use super::SiteForm;
use super::edits::{Alternative, Alternatives, FoundStatement, TokenEdit, tokens_text};
use super::sites::{ExpressionNode, StatementNode, range_of};
use crate::syntax::{Declarator, Expression, ExpressionKind, Statement, StatementKind, TokenIndex};
use vkcert_model::mutation::MutationOperator as Operator;

/// The name of the built-in function that a statement calls.
pub(super) fn called_function<'n>(node: &StatementNode<'n>) -> Option<(&'n str, TokenIndex)> {
    let StatementKind::Expression(expression) = &node.statement.kind else { return None };
    let ExpressionKind::Call { callee, .. } = &expression.kind else { return None };
    let is_name = matches!(callee.kind, ExpressionKind::Identifier);
    is_name.then(|| (&*node.unit.tokens[callee.first].text, callee.first))
}

const BARRIERS: [&str; 3] = ["barrier", "controlBarrier", "subgroupBarrier"];

/// Fences, with those of other or less memory.
const FENCES: [(&str, &[&str]); 10] = [
    ("memoryBarrier", &["memoryBarrierShared", "groupMemoryBarrier"]),
    ("groupMemoryBarrier", &["memoryBarrierShared"]),
    ("memoryBarrierBuffer", &["memoryBarrierShared"]),
    ("memoryBarrierShared", &["memoryBarrierBuffer"]),
    ("memoryBarrierImage", &["memoryBarrierShared"]),
    ("memoryBarrierAtomicCounter", &[]),
    ("subgroupMemoryBarrier", &["subgroupMemoryBarrierShared"]),
    ("subgroupMemoryBarrierBuffer", &["subgroupMemoryBarrierShared"]),
    ("subgroupMemoryBarrierShared", &["subgroupMemoryBarrierBuffer"]),
    ("subgroupMemoryBarrierImage", &["subgroupMemoryBarrierShared"]),
];

/// The mutants of a statement that is a barrier or a fence; none of another one.
pub(super) fn synchronisation_removals(
    node: &StatementNode<'_>,
    found: &mut Alternatives,
) -> Option<()> {
    let (name, token) = called_function(node)?;
    let removed = || vec![TokenEdit::replace((node.statement.first, node.statement.last), ";")];
    if BARRIERS.contains(&name) {
        found.add(Operator::BarrierRemoval, removed());
        return Some(());
    }
    let (_, weaker) = FENCES.iter().find(|(fence, _)| *fence == name)?;
    found.add(Operator::FenceRemoval, removed());
    // One with a scope is weakened by its arguments.
    let has_arguments = !node.unit.tokens[token + 2].is(")");
    for other in weaker.iter().filter(|_| !has_arguments) {
        found.replace(Operator::FenceWeakening, token, other);
    }
    Some(())
}

/// `if (c) { a; } barrier();` as `if (c) { a; barrier(); }`.
pub(super) fn barrier_into_guard(node: &StatementNode<'_>) -> Option<FoundStatement> {
    let StatementKind::If { then, otherwise: None, .. } = &node.statement.kind else { return None };
    let next = node.next?;
    let behind = StatementNode { statement: next, next: None, ..*node };
    let (name, _) = called_function(&behind)?;
    if !BARRIERS.contains(&name) {
        return None;
    }
    let barrier = (next.first, next.last);
    let moved = tokens_text(node.unit, barrier);
    let edits = vec![
        TokenEdit::wrap((then.first, then.last), "{ ", format!(" {moved} }}")),
        TokenEdit::replace(barrier, ""),
    ];
    let operator = Operator::BarrierIntoGuard;
    Some(FoundStatement {
        form: SiteForm::Statements,
        range: (node.statement.first, next.last),
        alternative: Alternative { operator, edits },
    })
}

/// Scopes with the next smaller one. Less than a subgroup orders nothing.
const SMALLER_SCOPES: [(&str, &str); 3] = [
    ("gl_ScopeDevice", "gl_ScopeWorkgroup"),
    ("gl_ScopeQueueFamily", "gl_ScopeWorkgroup"),
    ("gl_ScopeWorkgroup", "gl_ScopeSubgroup"),
];

/// Classes of memory with another one.
const OTHER_MEMORY: [(&str, &str); 3] = [
    ("gl_StorageSemanticsBuffer", "gl_StorageSemanticsShared"),
    ("gl_StorageSemanticsShared", "gl_StorageSemanticsBuffer"),
    ("gl_StorageSemanticsImage", "gl_StorageSemanticsShared"),
];

const ORDERS: [&str; 3] =
    ["gl_SemanticsAcquire", "gl_SemanticsRelease", "gl_SemanticsAcquireRelease"];

/// They need one of [`ORDERS`] beside them.
const PASSES_ON: [&str; 2] = ["gl_SemanticsMakeAvailable", "gl_SemanticsMakeVisible"];

const RELAXED: &str = "gl_SemanticsRelaxed";

/// Smaller scopes, other memory and relaxed orders in the arguments of a call.
pub(super) fn memory_arguments(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Call { arguments, .. } = &node.expression.kind else { return };
    for argument in arguments {
        let mut names = Vec::new();
        joined_names(argument, &mut names);
        let passes_on = names.iter().any(|token| PASSES_ON.contains(&node.text(*token)));
        for token in names {
            let name = node.text(token);
            for (_, other) in
                SMALLER_SCOPES.iter().chain(&OTHER_MEMORY).filter(|(own, _)| *own == name)
            {
                found.replace(Operator::FenceWeakening, token, other);
            }
            if ORDERS.contains(&name) {
                let replaced = if passes_on { range_of(argument) } else { (token, token) };
                let edits = vec![TokenEdit::replace(replaced, RELAXED)];
                found.add(Operator::MemoryOrderRelaxation, edits);
            }
        }
    }
}

/// The names in an expression of names, `|` and parentheses.
fn joined_names(expression: &Expression, names: &mut Vec<TokenIndex>) {
    match &expression.kind {
        ExpressionKind::Identifier => names.push(expression.first),
        ExpressionKind::Parenthesised(inner) => joined_names(inner, names),
        ExpressionKind::Binary { left, right, .. } => {
            joined_names(left, names);
            joined_names(right, names);
        }
        _ => {}
    }
}

/// The atomic operations with the same arguments.
pub(super) fn other_atomics(name: &str) -> Vec<String> {
    const EXCHANGED: [(&str, &str); 6] = [
        ("Add", "Exchange"),
        ("Min", "Max"),
        ("Max", "Min"),
        ("And", "Or"),
        ("Or", "And"),
        ("Xor", "Or"),
    ];
    let Some((beginning, operation)) = ["imageAtomic", "atomic"]
        .iter()
        .find_map(|start| Some((*start, name.strip_prefix(start)?)))
    else {
        return Vec::new();
    };
    let other = match operation {
        "Exchange" => Some("Add"),
        _ => EXCHANGED.iter().find(|(known, _)| *known == operation).map(|(_, other)| *other),
    };
    other.map(|other| format!("{beginning}{other}")).into_iter().collect()
}

/// An atomic operation on a variable, written plainly.
struct PlainAtomic<'e> {
    memory: &'e Expression,
    /// What it takes besides.
    operands: &'e [Expression],
    /// The text of `memory`.
    read: String,
    /// What stands for the writing, without a semicolon; none of one that reads alone.
    write: Option<String>,
    /// It has `memory` more than once.
    repeats: bool,
}

impl<'e> PlainAtomic<'e> {
    fn of_call(node: &StatementNode<'e>, call: &'e Expression) -> Option<Self> {
        let ExpressionKind::Call { callee, arguments } = &call.kind else { return None };
        let ExpressionKind::Identifier = callee.kind else { return None };
        let name = &*node.unit.tokens[callee.first].text;
        let text = |place: usize| {
            arguments.get(place).map(|argument| tokens_text(node.unit, range_of(argument)))
        };
        let memory = text(0)?;
        let count = match name {
            "atomicLoad" => 0,
            "atomicCompSwap" => 2,
            _ => 1,
        };
        let operand = if count > 0 { text(1)? } else { String::new() };
        let write = match name {
            "atomicAdd" => Some(format!("{memory} += {operand}")),
            "atomicMin" => Some(format!("{memory} = min({memory}, {operand})")),
            "atomicMax" => Some(format!("{memory} = max({memory}, {operand})")),
            "atomicAnd" => Some(format!("{memory} &= {operand}")),
            "atomicOr" => Some(format!("{memory} |= {operand}")),
            "atomicXor" => Some(format!("{memory} ^= {operand}")),
            "atomicExchange" | "atomicStore" => Some(format!("{memory} = {operand}")),
            "atomicCompSwap" => {
                let value = text(2)?;
                let compared = match &arguments[1].kind {
                    ExpressionKind::Binary { .. } | ExpressionKind::Ternary { .. } => {
                        format!("({operand})")
                    }
                    _ => operand,
                };
                Some(format!("if ({memory} == {compared}) {memory} = {value}"))
            }
            "atomicLoad" => None,
            _ => return None,
        };
        let repeats = ["atomicMin", "atomicMax", "atomicCompSwap"].contains(&name);
        let (place, operands) = arguments.split_first()?;
        let operands = operands.get(..count)?;
        Some(Self { memory: place, operands, read: memory, write, repeats })
    }

    /// Whether evaluating it once more, or later, does the same, if `name` is written between.
    fn can_be_parted(&self, node: &StatementNode<'_>, name: &str) -> bool {
        std::iter::once(self.memory).chain(self.operands).all(|part| {
            let (first, last) = range_of(part);
            has_no_effect(node, part)
                && node.unit.tokens[first..=last].iter().all(|token| !token.is(name))
        })
    }
}

fn has_no_effect(node: &StatementNode<'_>, expression: &Expression) -> bool {
    let text = |token: TokenIndex| &*node.unit.tokens[token].text;
    let mut is_pure = match &expression.kind {
        ExpressionKind::Assignment { .. } | ExpressionKind::Postfix(_) => false,
        ExpressionKind::Prefix(_) => !["++", "--"].contains(&text(expression.first)),
        ExpressionKind::Call { callee, .. } => match callee.kind {
            ExpressionKind::Identifier => crate::names::is_pure_built_in(text(callee.first)),
            _ => false,
        },
        _ => true,
    };
    expression.each_part(&mut |part| is_pure = is_pure && has_no_effect(node, part));
    is_pure
}

/// Atomic operations as plain reading and writing, one behind the other.
pub(super) fn plain_atomics(node: &StatementNode<'_>) -> Option<FoundStatement> {
    let Statement { first, last, .. } = *node.statement;
    let (form, edits) = match &node.statement.kind {
        StatementKind::Expression(expression) => {
            let text = match &expression.kind {
                ExpressionKind::Assignment { target, value } => {
                    result_assigned(node, target, value)?
                }
                _ => result_left(node, expression)?,
            };
            (SiteForm::Statements, vec![TokenEdit::replace((first, last), text)])
        }
        StatementKind::Declaration(declaration) => {
            let [declarator] = declaration.declarators.as_slice() else { return None };
            // What it declares must be known behind it.
            (SiteForm::Alone, result_declared(node, declarator)?)
        }
        _ => return None,
    };
    let alternative = Alternative { operator: Operator::AtomicReplacement, edits };
    Some(FoundStatement { form, range: (first, last), alternative })
}

/// `atomicAdd(place, value);`
fn result_left(node: &StatementNode<'_>, call: &Expression) -> Option<String> {
    let plain = PlainAtomic::of_call(node, call)?;
    if plain.repeats && !has_no_effect(node, plain.memory) {
        return None;
    }
    let write = plain.write?;
    let would_take_else = write.starts_with("if ") && !node.in_block;
    Some(if would_take_else { format!("{{ {write}; }}") } else { format!("{write};") })
}

/// `old = atomicAdd(place, value);`
fn result_assigned(
    node: &StatementNode<'_>,
    target: &Expression,
    value: &Expression,
) -> Option<String> {
    let plain = PlainAtomic::of_call(node, value)?;
    let is_plain_assignment = node.unit.tokens[target.last + 1].is("=");
    // Of `a.b[i]` it is `a` that is written.
    let written = &*node.unit.tokens[target.first].text;
    let can_be_parted = plain.can_be_parted(node, written);
    if !is_plain_assignment || !can_be_parted || !has_no_effect(node, target) {
        return None;
    }
    let target = tokens_text(node.unit, range_of(target));
    let read = format!("{target} = {};", plain.read);
    Some(match (plain.write, node.in_block) {
        (None, _) => read,
        (Some(write), true) => format!("{read} {write};"),
        (Some(write), false) => format!("{{ {read} {write}; }}"),
    })
}

/// `uint old = atomicAdd(place, value);`
fn result_declared(node: &StatementNode<'_>, declarator: &Declarator) -> Option<Vec<TokenEdit>> {
    let initialiser = declarator.initialiser.as_ref()?;
    let plain = PlainAtomic::of_call(node, initialiser)?;
    let name = &*node.unit.tokens[declarator.name].text;
    if !node.in_block || !plain.can_be_parted(node, name) {
        return None;
    }
    let mut edits = vec![TokenEdit::replace(range_of(initialiser), plain.read)];
    if let Some(write) = plain.write {
        let range = (node.statement.first, node.statement.last);
        edits.push(TokenEdit::wrap(range, "", format!(" {write};")));
    }
    Some(edits)
}
