//! What each operator makes of an expression or a statement.
//!
//! Promises: an operator is a handler here and a row in `model::mutation`. Does not cover: whether
//! a mutant compiles, and whether two operators make the same one.

use super::SiteForm;
use super::edits::{Alternatives, FoundStatement, TokenEdit};
use super::sites::{
    BooleanUse, ExpressionNode, StatementNode, ValueUse, is_logical, is_memory_constant, range_of,
};
use super::synchronisation::{
    barrier_into_guard, memory_arguments, other_atomics, plain_atomics, synchronisation_removals,
};
use crate::parser::binary_precedence;
use crate::preprocessor::TranslationUnit;
use crate::syntax::{Expression, ExpressionKind, StatementKind, TokenIndex};
use crate::token::{FrameId, TokenKind};
use vkcert_model::mutation::MutationOperator as Operator;

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
    const HANDLERS: [fn(&ExpressionNode<'_>, &mut Alternatives); 15] = [
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
        cluster_sizes,
        memory_arguments,
    ];
    HANDLERS.iter().for_each(|handler| handler(node, found));
}

/// All mutants of a statement, each of its own tokens or with those of the statement behind it.
pub(super) fn mutate_statement(node: &StatementNode<'_>, found: &mut Vec<FoundStatement>) {
    const HANDLERS: [fn(&StatementNode<'_>, &mut Alternatives); 3] =
        [removals, loop_skips, early_returns];
    let mut own = Alternatives::default();
    HANDLERS.iter().for_each(|handler| handler(node, &mut own));
    let range = (node.statement.first, node.statement.last);
    let form = SiteForm::Statements;
    let own = own.0.into_iter().map(|alternative| FoundStatement { form, range, alternative });
    found.extend(own);
    found.extend(plain_atomics(node));
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
    let is_constant = is_memory_constant(node.text(node.expression.first));
    if is_variable && !is_constant && node.boolean == BooleanUse::Value {
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
    let Some((value, suffix)) = split_integer(&lower) else { return Vec::new() };
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

/// An integer and its suffix, in small letters.
fn split_integer(lower: &str) -> Option<(i128, &str)> {
    let digits_end = lower.trim_end_matches(['u', 'l', 's']).len();
    let (digits, suffix) = lower.split_at(digits_end);
    let value = match digits.strip_prefix("0x") {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => {
            i128::from_str_radix(&digits[1..], 8).ok()
        }
        None => digits.parse().ok(),
    };
    Some((value?, suffix))
}

/// The value of an integer literal.
pub(super) fn integer_of(text: &str) -> Option<i128> {
    split_integer(&text.to_ascii_lowercase()).map(|(value, _)| value)
}

/// An integer literal of the same type with another value.
pub(super) fn stepped_integer(text: &str, step: i128) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    split_integer(&lower).map(|(value, suffix)| format!("{}{suffix}", value + step))
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
    let around = match is_es(node.unit) {
        // GLSL ES converts nothing by itself: these are one more and one less of either signedness.
        true => [("(-(~(", ")))"), ("(~(-(", ")))")],
        false => [("((", ") + 1)"), ("((", ") - 1)")],
    };
    for (before, behind) in around {
        found.wrap(operator, node.range(), before, behind);
    }
}

/// Whether a text is GLSL ES.
fn is_es(unit: &TranslationUnit) -> bool {
    let mut directives = unit.directives.iter();
    let version = directives.find(|directive| directive.text.starts_with("#version"));
    version.is_some_and(|directive| directive.text.split_whitespace().any(|word| word == "es"))
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

/// Clusters of half the size.
fn cluster_sizes(node: &ExpressionNode<'_>, found: &mut Alternatives) {
    let ExpressionKind::Call { callee, arguments } = &node.expression.kind else { return };
    let [_, size] = arguments.as_slice() else { return };
    let is_clustered = node.text(callee.first).starts_with("subgroupClustered");
    if !is_clustered || !matches!(size.kind, ExpressionKind::Literal) {
        return;
    }
    let text = node.text(size.first).to_ascii_lowercase();
    let Some((value, suffix)) = split_integer(&text).filter(|(value, _)| *value >= 2) else {
        return;
    };
    let edit = match node.unit.tokens[size.first].origin {
        FrameId::FILE => TokenEdit::token(size.first, format!("{}{suffix}", value / 2)),
        _ => TokenEdit::wrap(range_of(size), "((", format!(") / 2{suffix})")),
    };
    found.add(Operator::ClusterHalving, vec![edit]);
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

fn removals(node: &StatementNode<'_>, found: &mut Alternatives) {
    if synchronisation_removals(node, found).is_some() {
        return;
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
        let range = (node.statement.first, node.statement.last);
        found.add(Operator::StatementDeletion, vec![TokenEdit::replace(range, ";")]);
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
