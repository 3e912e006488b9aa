//! What each operator makes of an expression or a statement.
//!
//! Promises: an operator is a handler here and a row in `model::mutation`. Does not cover: whether
//! a mutant compiles, and whether two operators make the same one.

use super::edits::{Alternative, TokenEdit, tokens_text};
use super::sites::{BooleanUse, ExpressionNode, StatementNode, ValueUse, is_logical, range_of};
use crate::parser::binary_precedence;
use crate::syntax::{Expression, ExpressionKind, StatementKind, TokenIndex};
use crate::token::TokenKind;
use vkcert_model::mutation::MutationOperator as Operator;

/// The mutants of one place.
#[derive(Default)]
pub(super) struct Alternatives(pub Vec<Alternative>);

impl Alternatives {
    fn add(&mut self, operator: Operator, edits: Vec<TokenEdit>) {
        self.0.push(Alternative { operator, edits });
    }

    fn replace(&mut self, operator: Operator, token: TokenIndex, text: &str) {
        self.add(operator, vec![TokenEdit::token(token, text)]);
    }

    fn wrap(
        &mut self,
        operator: Operator,
        range: (TokenIndex, TokenIndex),
        before: &str,
        behind: &str,
    ) {
        self.add(operator, vec![TokenEdit::wrap(range, before, behind)]);
    }
}

impl Alternatives {
    /// Another operator between the same operands: with parentheses where it binds otherwise.
    fn exchange(&mut self, operator: Operator, node: &ExpressionNode<'_>, other: &str) {
        let ExpressionKind::Binary { operator: token, left, right } = &node.expression.kind else {
            return;
        };
        let mut edits = vec![TokenEdit::token(*token, other)];
        let own = binary_precedence(node.text(*token));
        let new = binary_precedence(other);
        let of_operand = |operand: &Expression| match operand.kind {
            ExpressionKind::Binary { operator, .. } => binary_precedence(node.text(operator)),
            _ => None,
        };
        if of_operand(left).is_some_and(|precedence| Some(precedence) < new) {
            edits.push(TokenEdit::wrap(range_of(left), "(", ")"));
        }
        if of_operand(right).is_some_and(|precedence| Some(precedence) <= new) {
            edits.push(TokenEdit::wrap(range_of(right), "(", ")"));
        }
        let (first, last) = node.range();
        let beside = [first.checked_sub(1), Some(last + 1)].into_iter().flatten();
        let is_operator = |token: TokenIndex| {
            let token = node.unit.tokens.get(token);
            token.is_some_and(|token| binary_precedence(&token.text).is_some())
        };
        if own != new && beside.into_iter().any(is_operator) {
            edits.push(TokenEdit::wrap((first, last), "(", ")"));
        }
        self.add(operator, edits);
    }
}

/// All mutants of an expression.
pub(super) fn mutate_expression(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    const HANDLERS: [fn(&ExpressionNode<'_>, &mut Alternatives); 13] = [
        comparisons,
        logical_operators,
        conditions,
        arithmetic,
        increments,
        assignments,
        prefix_operators,
        insertions,
        literals,
        indices,
        components,
        built_in_indices,
        calls,
    ];
    HANDLERS.iter().for_each(|handler| handler(node, found));
}

/// All mutants of a statement, each of its own tokens or with those of the statement behind it.
pub(super) fn mutate_statement(
    node: &StatementNode<'_>,
    found: &mut Vec<((TokenIndex, TokenIndex), Alternative)>,
) {
    const HANDLERS: [fn(&StatementNode<'_>, &mut Alternatives); 4] =
        [removals, loop_skips, early_returns, atomic_statements];
    let mut own = Alternatives::default();
    HANDLERS.iter().for_each(|handler| handler(node, &mut own));
    let range = (node.statement.first, node.statement.last);
    found.extend(own.0.into_iter().map(|alternative| (range, alternative)));
    found.extend(barrier_into_guard(node));
}

const RELATIONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

fn comparisons(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Binary { operator, .. } = node.expression.kind else { return };
    let relation = node.text(operator);
    let counterparts = match relation {
        "<" => [Some("<="), Some(">=")],
        "<=" => [Some("<"), Some(">")],
        ">" => [Some(">="), Some("<=")],
        ">=" => [Some(">"), Some("<")],
        "==" => [None, Some("!=")],
        "!=" => [None, Some("==")],
        _ => return,
    };
    let [boundary, negated] = counterparts;
    if let Some(boundary) = boundary {
        found.exchange(Operator::ConditionalBoundary, node, boundary);
    }
    if let Some(negated) = negated {
        found.exchange(Operator::NegatedConditional, node, negated);
    }
    for other in RELATIONS.iter().filter(|other| **other != relation) {
        found.exchange(Operator::RelationalReplacement, node, other);
    }
    for value in ["true", "false"] {
        let edits = || vec![TokenEdit::replace(node.range(), value)];
        found.add(Operator::ConditionDeletion, edits());
        found.add(Operator::RelationalReplacement, edits());
    }
}

fn logical_operators(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Binary { operator, .. } = node.expression.kind else { return };
    let text = node.text(operator);
    if !is_logical(text) {
        return;
    }
    match text {
        "&&" => found.exchange(Operator::ConditionalOperator, node, "||"),
        "||" => found.exchange(Operator::ConditionalOperator, node, "&&"),
        _ => {}
    }
    for other in ["&&", "||", "^^"].into_iter().filter(|other| *other != text) {
        found.exchange(Operator::LogicalExchange, node, other);
    }
}

fn conditions(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let range = node.range();
    match node.boolean {
        BooleanUse::Value => {}
        BooleanUse::Decision => found.wrap(Operator::NegatedDecision, range, "!(", ")"),
        BooleanUse::Condition | BooleanUse::OnlyCondition => {
            for value in ["true", "false"] {
                let edit = TokenEdit::replace(range, value);
                found.add(Operator::StuckCondition, vec![edit]);
            }
            found.wrap(Operator::NegatedCondition, range, "!(", ")");
            if node.boolean == BooleanUse::OnlyCondition {
                found.wrap(Operator::NegatedDecision, range, "!(", ")");
            }
        }
    }
}

fn arithmetic(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Binary { operator, .. } = node.expression.kind else { return };
    let counterpart = match node.text(operator) {
        "+" => "-",
        "-" => "+",
        "*" => "/",
        "/" => "*",
        "%" => "*",
        "&" => "|",
        "|" => "&",
        "^" => "&",
        "<<" => ">>",
        ">>" => "<<",
        _ => return,
    };
    found.exchange(Operator::MathReplacement, node, counterpart);
}

fn increments(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let operator = match node.expression.kind {
        ExpressionKind::Postfix(_) => node.expression.last,
        ExpressionKind::Prefix(_) => node.expression.first,
        _ => return,
    };
    match node.text(operator) {
        "++" => found.replace(Operator::IncrementReplacement, operator, "--"),
        "--" => found.replace(Operator::IncrementReplacement, operator, "++"),
        _ => {}
    }
}

const BITWISE_ASSIGNMENTS: [&str; 5] = ["&=", "|=", "^=", "<<=", ">>="];

fn assignments(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Assignment { target, .. } = &node.expression.kind else { return };
    let operator = target.last + 1;
    let text = node.text(operator);
    let counterpart = match text {
        "+=" => Some("-="),
        "-=" => Some("+="),
        "*=" => Some("/="),
        "/=" => Some("*="),
        "%=" => Some("*="),
        _ => None,
    };
    if let Some(counterpart) = counterpart {
        found.replace(Operator::AssignmentOperator, operator, counterpart);
    }
    if BITWISE_ASSIGNMENTS.contains(&text) {
        for other in BITWISE_ASSIGNMENTS.iter().filter(|other| **other != text) {
            found.replace(Operator::BitwiseAssignment, operator, other);
        }
    }
    exchange_components(node, target, found);
}

fn prefix_operators(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Prefix(_) = node.expression.kind else { return };
    let token = node.expression.first;
    match node.text(token) {
        "!" => found.replace(Operator::NotDeletion, token, ""),
        "-" | "~" => found.replace(Operator::ArithmeticDeletion, token, ""),
        _ => {}
    }
}

/// Operators that are put before a variable.
fn insertions(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let is_variable = matches!(
        node.expression.kind,
        ExpressionKind::Identifier | ExpressionKind::Field { .. } | ExpressionKind::Index { .. }
    );
    if is_variable && node.boolean == BooleanUse::Value {
        found.wrap(Operator::NegationInsertion, node.range(), "(-", ")");
        found.wrap(Operator::ComplementInsertion, node.range(), "(~", ")");
    }
}

fn literals(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Literal = node.expression.kind else { return };
    let token = node.expression.first;
    let text = node.text(token);
    match text {
        "true" => found.replace(Operator::LiteralReplacement, token, "false"),
        "false" => found.replace(Operator::LiteralReplacement, token, "true"),
        _ if node.unit.tokens[token].kind == TokenKind::Number => {
            for other in other_numbers(text) {
                found.replace(Operator::LiteralReplacement, token, &other);
            }
        }
        _ => {}
    }
}

/// 0, 1, one more and one less of the same type, as literals; a negative number in parentheses.
/// None where a number is not read.
fn other_numbers(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let is_hexadecimal = lower.starts_with("0x");
    let is_float = !is_hexadecimal && lower.contains(['.', 'e', 'f']);
    if is_float {
        return other_floats(&lower);
    }
    let digits_end = lower.trim_end_matches(['u', 'l', 's']).len();
    let (digits, suffix) = lower.split_at(digits_end);
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => {
            i128::from_str_radix(&digits[1..], 8).ok()
        }
        None => digits.parse().ok(),
    };
    let Some(value) = value else { return Vec::new() };
    let is_unsigned = suffix.contains('u');
    let mut numbers: Vec<i128> = Vec::new();
    for number in [0, 1, value + 1, value - 1] {
        let is_of_type = number >= 0 || !is_unsigned;
        if number != value && is_of_type && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let literal = |number: &i128| match *number < 0 {
        true => format!("({number}{suffix})"),
        false => format!("{number}{suffix}"),
    };
    numbers.iter().map(literal).collect()
}

fn other_floats(lower: &str) -> Vec<String> {
    let digits_end = lower.trim_end_matches(['f', 'l', 'h']).len();
    let (digits, suffix) = lower.split_at(digits_end);
    let Ok(value) = digits.parse::<f64>() else { return Vec::new() };
    let mut numbers: Vec<f64> = Vec::new();
    for number in [0.0, 1.0, value + 1.0, value - 1.0] {
        // One more of a very large number is the same number.
        if number != value && !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    let literal = |number: &f64| match *number < 0.0 {
        true => format!("({number:?}{suffix})"),
        false => format!("{number:?}{suffix}"),
    };
    numbers.iter().map(literal).collect()
}

/// Bounds and starts of loops, and indices, one more and one less.
fn indices(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let operator = match node.value {
        ValueUse::LoopBound => Operator::LoopBound,
        ValueUse::LoopStart => Operator::LoopStart,
        ValueUse::Index => Operator::OffsetReplacement,
        ValueUse::Other => return,
    };
    for behind in [") + 1)", ") - 1)"] {
        found.wrap(operator, node.range(), "((", behind);
    }
}

fn components(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    exchange_components(node, node.expression, found);
}

/// `xy` as `yx`, `x` as `y`, of the last selection of an expression.
fn exchange_components(
    node: &ExpressionNode<'_>,
    expression: &Expression,
    found: &mut Alternatives,
) {
    let ExpressionKind::Field { name, .. } = expression.kind else { return };
    const SETS: [&str; 3] = ["xyzw", "rgba", "stpq"];
    let components: Vec<char> = node.text(name).chars().collect();
    let set = SETS.iter().find(|set| components.iter().all(|letter| set.contains(*letter)));
    let Some(set) = set.filter(|_| components.len() <= 4) else { return };
    let letters: Vec<char> = set.chars().collect();
    let exchanged: String = match components.as_slice() {
        [single] if *single == letters[0] => letters[1].to_string(),
        [_] => letters[0].to_string(),
        [first, second, rest @ ..] if first != second => {
            [*second, *first].iter().chain(rest).collect()
        }
        _ => return,
    };
    found.replace(Operator::ComponentExchange, name, &exchanged);
}

const BUILT_IN_INDICES: [&str; 3] =
    ["gl_WorkGroupID", "gl_LocalInvocationID", "gl_GlobalInvocationID"];

/// The token of the variable that an expression selects from, by fields and indices.
fn selected_variable(expression: &Expression) -> Option<TokenIndex> {
    match &expression.kind {
        ExpressionKind::Identifier => Some(expression.first),
        ExpressionKind::Field { base, .. } | ExpressionKind::Index { base, .. } => {
            selected_variable(base)
        }
        _ => None,
    }
}

fn built_in_indices(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let Some(token) = selected_variable(node.expression) else { return };
    let name = node.text(token);
    let is_vector = BUILT_IN_INDICES.contains(&name);
    if !is_vector && name != "gl_LocalInvocationIndex" {
        return;
    }
    for other in BUILT_IN_INDICES.iter().filter(|other| is_vector && **other != name) {
        found.replace(Operator::IndexReplacement, token, other);
    }
    found.wrap(Operator::IndexIncrement, (token, token), "(", " + 1u)");
    found.wrap(Operator::IndexDecrement, (token, token), "(", " - 1u)");
}

fn calls(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Call { callee, arguments } = &node.expression.kind else { return };
    let ExpressionKind::Identifier = callee.kind else { return };
    let name = node.text(callee.first);
    for other in other_conversions(name) {
        found.replace(Operator::SignednessExchange, callee.first, &other);
    }
    for other in other_atomics(name) {
        found.replace(Operator::AtomicExchange, callee.first, &other);
    }
    for other in other_subgroup_operations(name) {
        found.replace(Operator::SubgroupExchange, callee.first, &other);
    }
    let takes_coordinate =
        name.starts_with("image") && name != "imageSize" || name.starts_with("texelFetch");
    if let (true, Some(coordinate)) = (takes_coordinate, arguments.get(1)) {
        found.wrap(Operator::ImageCoordinate, range_of(coordinate), "((", ") + 1)");
    }
}

/// The constructor of the other signedness.
fn other_conversions(name: &str) -> Vec<String> {
    let other = match name {
        "int" => Some("uint".to_owned()),
        "uint" => Some("int".to_owned()),
        _ => match name.as_bytes() {
            [b'i', b'v', b'e', b'c', _] => Some(format!("u{}", &name[1..])),
            [b'u', b'v', b'e', b'c', _] => Some(format!("i{}", &name[1..])),
            _ => None,
        },
    };
    other.into_iter().collect()
}

/// The atomic operations with the same arguments.
fn other_atomics(name: &str) -> Vec<String> {
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

/// The operations of a subgroup with the same arguments.
fn other_subgroup_operations(name: &str) -> Vec<String> {
    const FORMS: [&str; 4] = ["Inclusive", "Exclusive", "Clustered", ""];
    const OPERATIONS: [&str; 7] = ["Add", "Mul", "Min", "Max", "And", "Or", "Xor"];
    let Some(behind) = name.strip_prefix("subgroup") else { return Vec::new() };
    let form = FORMS.iter().find(|form| behind.starts_with(**form));
    let Some(form) = form else { return Vec::new() };
    let operation = &behind[form.len()..];
    if !OPERATIONS.contains(&operation) {
        return match behind {
            "All" => vec!["subgroupAny".to_owned()],
            "Any" => vec!["subgroupAll".to_owned()],
            _ => Vec::new(),
        };
    }
    let exchanged = match operation {
        "Add" => ["Min", "Max"],
        "Mul" => ["Add", "Min"],
        "Min" => ["Max", "Add"],
        "Max" => ["Min", "Add"],
        "And" => ["Or", "Xor"],
        "Or" => ["And", "Xor"],
        _ => ["And", "Or"],
    };
    let mut others: Vec<String> =
        exchanged.iter().map(|other| format!("subgroup{form}{other}")).collect();
    match *form {
        "Inclusive" => others.push(format!("subgroupExclusive{operation}")),
        "Exclusive" => others.push(format!("subgroupInclusive{operation}")),
        "" => others.push(format!("subgroupInclusive{operation}")),
        _ => {}
    }
    others
}

/// The name of the built-in function that a statement calls.
fn called_function<'n>(node: &StatementNode<'n>) -> Option<(&'n str, TokenIndex)> {
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

fn removals(node: &StatementNode<'_>, found: &mut Alternatives) {
    let range = (node.statement.first, node.statement.last);
    let removed = || vec![TokenEdit::replace(range, ";")];
    if let Some((name, token)) = called_function(node) {
        if BARRIERS.contains(&name) {
            return found.add(Operator::BarrierRemoval, removed());
        }
        if let Some((_, weaker)) = FENCES.iter().find(|(fence, _)| *fence == name) {
            found.add(Operator::FenceRemoval, removed());
            for other in *weaker {
                found.replace(Operator::FenceWeakening, token, other);
            }
            return;
        }
    }
    let is_removed = match &node.statement.kind {
        StatementKind::Expression(_) | StatementKind::Break | StatementKind::Continue => true,
        StatementKind::Return(value) => value.is_none(),
        StatementKind::If { .. } | StatementKind::Switch { .. } => true,
        StatementKind::Block(_)
        | StatementKind::Empty
        | StatementKind::Declaration(_)
        | StatementKind::While { .. }
        | StatementKind::DoWhile { .. }
        | StatementKind::For { .. }
        | StatementKind::Case(_)
        | StatementKind::Default
        | StatementKind::Terminate => false,
    };
    if is_removed {
        found.add(Operator::StatementDeletion, removed());
    }
}

fn loop_skips(node: &StatementNode<'_>, found: &mut Alternatives) {
    let is_loop = matches!(
        node.statement.kind,
        StatementKind::While { .. } | StatementKind::DoWhile { .. } | StatementKind::For { .. }
    );
    if is_loop {
        let range = (node.statement.first, node.statement.last);
        found.add(Operator::LoopSkipped, vec![TokenEdit::replace(range, ";")]);
    }
}

fn early_returns(node: &StatementNode<'_>, found: &mut Alternatives) {
    let may_stand = node.may_return
        && !matches!(
            node.statement.kind,
            StatementKind::Declaration(_)
                | StatementKind::Empty
                | StatementKind::Return(_)
                | StatementKind::Case(_)
                | StatementKind::Default
        );
    if may_stand {
        let range = (node.statement.first, node.statement.last);
        found.wrap(Operator::EarlyReturn, range, "return; ", "");
    }
}

/// An atomic operation whose result is not used, as an assignment.
fn atomic_statements(node: &StatementNode<'_>, found: &mut Alternatives) {
    let StatementKind::Expression(expression) = &node.statement.kind else { return };
    let ExpressionKind::Call { arguments, .. } = &expression.kind else { return };
    let Some((name, _)) = called_function(node) else { return };
    let text = |place: usize| {
        arguments.get(place).map(|argument| tokens_text(node.unit, range_of(argument)))
    };
    let (Some(memory), Some(operand)) = (text(0), text(1)) else { return };
    let plain = match name {
        "atomicAdd" => format!("{memory} += {operand}"),
        "atomicMin" => format!("{memory} = min({memory}, {operand})"),
        "atomicMax" => format!("{memory} = max({memory}, {operand})"),
        "atomicAnd" => format!("{memory} &= {operand}"),
        "atomicOr" => format!("{memory} |= {operand}"),
        "atomicXor" => format!("{memory} ^= {operand}"),
        "atomicExchange" => format!("{memory} = {operand}"),
        "atomicCompSwap" => match text(2) {
            Some(value) => format!("if ({memory} == {operand}) {memory} = {value}"),
            None => return,
        },
        _ => return,
    };
    let range = (node.statement.first, node.statement.last);
    found.add(Operator::AtomicReplacement, vec![TokenEdit::replace(range, format!("{plain};"))]);
}

/// `if (c) { a; } barrier();` as `if (c) { a; barrier(); }`.
fn barrier_into_guard(node: &StatementNode<'_>) -> Option<((TokenIndex, TokenIndex), Alternative)> {
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
    Some(((node.statement.first, next.last), Alternative { operator, edits }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_others_of_their_type() {
        let others = |text: &str| other_numbers(text).join(" ");
        assert_eq!(others("0"), "1 (-1)");
        assert_eq!(others("1"), "0 2");
        assert_eq!(others("0u"), "1u");
        assert_eq!(others("16u"), "0u 1u 17u 15u");
        assert_eq!(others("0x10"), "0 1 17 15");
        assert_eq!(others("010"), "0 1 9 7");
        assert_eq!(others("1.0"), "0.0 2.0");
        assert_eq!(others("0.5f"), "0.0f 1.0f 1.5f (-0.5f)");
        assert_eq!(others(".25"), "0.0 1.0 1.25 (-0.75)");
        assert_eq!(others("1e30"), "0.0 1.0");
        assert_eq!(others("2.0lf"), "0.0lf 1.0lf 3.0lf");
    }

    #[test]
    fn operations_of_subgroups_are_exchanged_for_those_of_the_same_arguments() {
        assert_eq!(
            other_subgroup_operations("subgroupAdd"),
            ["subgroupMin", "subgroupMax", "subgroupInclusiveAdd"]
        );
        assert_eq!(
            other_subgroup_operations("subgroupExclusiveMax"),
            ["subgroupExclusiveMin", "subgroupExclusiveAdd", "subgroupInclusiveMax"]
        );
        assert_eq!(
            other_subgroup_operations("subgroupClusteredAnd"),
            ["subgroupClusteredOr", "subgroupClusteredXor"]
        );
        assert!(other_subgroup_operations("subgroupBroadcast").is_empty());
        assert!(other_subgroup_operations("subgroupElect").is_empty());
    }
}
