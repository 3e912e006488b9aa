//! What operators make of a declaration at file level.
//!
//! Promises: what changes is the text of declarations, or all uses of a name that one declares.
//! Does not cover: declarations in functions, and parameters of functions.

use super::edits::{Alternatives, TokenEdit, tokens_text};
use super::operators::{integer_of, stepped_integer};
use super::sites::{DeclarationNode, range_of};
use crate::syntax::*;
use crate::token::FrameId;
use vkcert_model::mutation::MutationOperator as Operator;

/// All mutants of a declaration.
pub(super) fn mutate_declaration(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    const HANDLERS: [fn(&DeclarationNode<'_>, &mut Alternatives); 5] = [
        local_sizes,
        workgroup_memory,
        memory_qualifiers,
        push_constants,
        specialization_constants,
    ];
    HANDLERS.iter().for_each(|handler| handler(node, found));
}

const AXES: [&str; 3] = ["local_size_x", "local_size_y", "local_size_z"];

/// A size in a layout qualifier.
struct WrittenSize<'e> {
    name: TokenIndex,
    value: &'e Expression,
    axis: usize,
    /// It names the specialization constant that gives the size.
    is_id: bool,
}

/// Sizes of the workgroup, in all declarations that have some.
fn written_sizes<'e>(node: &DeclarationNode<'e>) -> Vec<WrittenSize<'e>> {
    let declarations = node.items.iter().filter_map(|item| match item {
        FileLevelItem::Declaration(declaration) => Some(declaration),
        _ => None,
    });
    let sizes = declarations.flat_map(|declaration| &declaration.declared.layout_values);
    let written = sizes.filter_map(|value| {
        let name = value.first.checked_sub(2)?;
        let text = node.text(name);
        let (size, is_id) = match text.strip_suffix("_id") {
            Some(size) => (size, true),
            None => (text, false),
        };
        let axis = AXES.iter().position(|axis| *axis == size)?;
        Some(WrittenSize { name, value, axis, is_id })
    });
    written.collect()
}

/// Two sizes of the workgroup exchanged, and each with one more and one less.
fn local_sizes(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    let sizes = written_sizes(node);
    let own = &node.declaration.declared.layout_values;
    let is_first =
        sizes.first().is_some_and(|size| own.iter().any(|value| value.first == size.value.first));
    if !is_first {
        return;
    }
    for (left, right) in [(0, 1), (0, 2), (1, 2)] {
        if size_of_axis(node, &sizes, left) == size_of_axis(node, &sizes, right) {
            continue;
        }
        let exchanged = sizes.iter().filter_map(|size| {
            let other = match size.axis {
                axis if axis == left => right,
                axis if axis == right => left,
                _ => return None,
            };
            let suffix = if size.is_id { "_id" } else { "" };
            Some(TokenEdit::token(size.name, format!("{}{suffix}", AXES[other])))
        });
        found.add(Operator::SizeExchange, exchanged.collect());
    }
    for (operator, step) in [(Operator::SizeIncrement, 1), (Operator::SizeDecrement, -1)] {
        for axis in 0..AXES.len() {
            if let Some(edits) = stepped_size(node, &sizes, axis, step) {
                found.add(operator, edits);
            }
        }
    }
}

/// What is written of a size; 1 where nothing is.
fn size_of_axis(
    node: &DeclarationNode<'_>,
    sizes: &[WrittenSize<'_>],
    axis: usize,
) -> Vec<(bool, String)> {
    let own = sizes.iter().filter(|size| size.axis == axis);
    let mut written: Vec<(bool, String)> = own
        .map(|size| {
            let text = tokens_text(node.unit, range_of(size.value));
            (size.is_id, integer_of(&text).map_or(text, |value| value.to_string()))
        })
        .collect();
    if written.iter().all(|(is_id, _)| *is_id) {
        written.push((false, "1".to_owned()));
    }
    written.sort();
    written.dedup();
    written
}

/// A size and one, or less one; none where that is not known to be a size, or the host chooses it.
fn stepped_size(
    node: &DeclarationNode<'_>,
    sizes: &[WrittenSize<'_>],
    axis: usize,
    step: i128,
) -> Option<Vec<TokenEdit>> {
    let own: Vec<&WrittenSize<'_>> = sizes.iter().filter(|size| size.axis == axis).collect();
    if own.iter().any(|size| size.is_id) {
        return None;
    }
    if own.is_empty() {
        let last = sizes.last().filter(|_| step > 0)?;
        let added = format!(", {} = {}", AXES[axis], 1 + step);
        return Some(vec![TokenEdit::wrap(range_of(last.value), "", added)]);
    }
    let stepped = own.iter().map(|size| {
        let token = &node.unit.tokens[size.value.first];
        let is_literal = matches!(size.value.kind, ExpressionKind::Literal);
        let value = integer_of(&token.text).filter(|_| is_literal);
        if value.is_some_and(|value| value + step < 1) {
            return None;
        }
        let is_written = is_literal && token.origin == FrameId::FILE;
        Some(match stepped_integer(&token.text, step).filter(|_| is_written) {
            Some(text) => TokenEdit::token(size.value.first, text),
            None => {
                let behind = if step > 0 { ") + 1)" } else { ") - 1)" };
                TokenEdit::wrap(range_of(size.value), "((", behind)
            }
        })
    });
    stepped.collect()
}

/// The tokens of a qualifier that stands before the name of a type.
fn qualifier_tokens(
    node: &DeclarationNode<'_>,
    declared: &DeclaredType,
    qualifier: &str,
) -> Vec<TokenIndex> {
    let Some(name) = declared.name.filter(|_| declared.has_qualifier(qualifier)) else {
        return Vec::new();
    };
    let (mut tokens, mut depth) = (Vec::new(), 0);
    for token in (0..name).rev() {
        match node.text(token) {
            ")" | "]" => depth += 1,
            "(" | "[" => depth -= 1,
            ";" | "{" | "}" if depth == 0 => break,
            text if depth == 0 && text == qualifier => tokens.push(token),
            _ => {}
        }
    }
    tokens
}

/// Memory of the workgroup that each invocation has for itself.
fn workgroup_memory(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    let declared = &node.declaration.declared;
    let defines_struct = |name: TokenIndex| name > 0 && node.text(name - 1) == "struct";
    // A block is no variable.
    if declared.has_body && !declared.name.is_some_and(defines_struct) {
        return;
    }
    for token in qualifier_tokens(node, declared, "shared") {
        found.replace(Operator::SharedRemoval, token, "");
    }
}

const MEMORY_QUALIFIERS: [&str; 2] = ["coherent", "volatile"];

/// `coherent` and `volatile` of a block, its members or an image.
fn memory_qualifiers(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    let declared = &node.declaration.declared;
    let members = declared.members.iter().map(|member| &member.declared);
    for declared in std::iter::once(declared).chain(members) {
        for qualifier in MEMORY_QUALIFIERS {
            for token in qualifier_tokens(node, declared, qualifier) {
                found.replace(Operator::QualifierRemoval, token, "");
            }
        }
    }
}

/// Names of neighbouring members of one type exchanged in a block of push constants.
fn push_constants(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    let declared = &node.declaration.declared;
    if !declared.layout.iter().any(|name| name == "push_constant") {
        return;
    }
    let members: Vec<(TokenIndex, Option<String>)> = declared
        .members
        .iter()
        .flat_map(|member| {
            let of_declarator =
                |declarator: &Declarator| (declarator.name, member_type(node, member, declarator));
            member.declarators.iter().map(of_declarator).collect::<Vec<_>>()
        })
        .collect();
    for pair in members.windows(2) {
        let [(first, own_type), (second, other_type)] = pair else { continue };
        if own_type.is_some() && own_type == other_type {
            let edits = vec![
                TokenEdit::token(*first, node.text(*second)),
                TokenEdit::token(*second, node.text(*first)),
            ];
            found.add(Operator::PushConstantExchange, edits);
        }
    }
}

/// The text of a member's type with its sizes; none where it is no name alone.
fn member_type(
    node: &DeclarationNode<'_>,
    member: &Declaration,
    declarator: &Declarator,
) -> Option<String> {
    let declared = &member.declared;
    let is_name = !declared.has_body && declared.template.is_empty();
    let mut text = node.text(declared.name.filter(|_| is_name)?).to_owned();
    // Of `uint[2] a[3]` the size behind the name is the outer one.
    for size in declarator.sizes.iter().chain(&declared.sizes) {
        let size = size.as_ref().map(|size| tokens_text(node.unit, range_of(size)));
        text += &format!("[{}]", size.unwrap_or_default());
    }
    Some(text)
}

/// All uses of a specialization constant with one more, one less, or negated.
fn specialization_constants(node: &DeclarationNode<'_>, found: &mut Alternatives) {
    let declared = &node.declaration.declared;
    if !declared.layout.iter().any(|name| name == "constant_id") {
        return;
    }
    let ([declarator], Some(type_name)) = (node.declaration.declarators.as_slice(), declared.name)
    else {
        return;
    };
    let name = node.text(declarator.name);
    let Some(others) = other_constants(name, node.text(type_name)) else { return };
    let mut times_declared = 0;
    each_declared_name(node.items, &mut |token| {
        times_declared += usize::from(node.text(token) == name);
    });
    let uses = used_places(node, name, declarator.name);
    // Where it is declared again, the name may be of something else.
    if times_declared != 1 || uses.is_empty() {
        return;
    }
    for other in others {
        let edits = uses.iter().map(|token| TokenEdit::token(*token, other.as_str()));
        found.add(Operator::SpecializationOffset, edits.collect());
    }
}

/// What stands for a constant, by its type; none where that is no scalar.
fn other_constants(name: &str, type_name: &str) -> Option<Vec<String>> {
    const SIZED: [&str; 12] = [
        "int8_t",
        "uint8_t",
        "int16_t",
        "uint16_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
        "float16_t",
        "float32_t",
        "float64_t",
        "double",
    ];
    let one = match type_name {
        "bool" => return Some(vec![format!("!{name}")]),
        "int" => "1".to_owned(),
        "uint" => "1u".to_owned(),
        "float" => "1.0".to_owned(),
        sized if SIZED.contains(&sized) => format!("{sized}(1)"),
        _ => return None,
    };
    Some(["+", "-"].map(|operator| format!("({name} {operator} {one})")).to_vec())
}

/// Where a name stands outside of its declaration and of layout qualifiers.
fn used_places(node: &DeclarationNode<'_>, name: &str, declared: TokenIndex) -> Vec<TokenIndex> {
    let tokens = &node.unit.tokens;
    let (mut places, mut layout_depth) = (Vec::new(), 0_usize);
    for (index, token) in tokens.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &*tokens[before].text);
        match &*token.text {
            "(" if layout_depth > 0 || before == Some("layout") => layout_depth += 1,
            ")" => layout_depth = layout_depth.saturating_sub(1),
            text if text == name => {
                let is_use = index != declared && before != Some(".") && layout_depth == 0;
                places.extend(is_use.then_some(index));
            }
            _ => {}
        }
    }
    places
}

/// Calls `see` with each name that is declared: variables, members, parameters and functions.
fn each_declared_name(items: &[FileLevelItem], see: &mut dyn FnMut(TokenIndex)) {
    for item in items {
        match item {
            FileLevelItem::Declaration(declaration) => each_in_declaration(declaration, see),
            FileLevelItem::Prototype { name, parameters, .. } => {
                see(*name);
                parameters.iter().filter_map(|row| row.name).for_each(&mut *see);
            }
            FileLevelItem::Function(function) => {
                see(function.name);
                function.parameters.iter().filter_map(|row| row.name).for_each(&mut *see);
                if let Ok(body) = &function.body {
                    body.iter().for_each(|statement| each_in_statement(statement, see));
                }
            }
            FileLevelItem::Unread { .. } => {}
        }
    }
}

fn each_in_declaration(declaration: &Declaration, see: &mut dyn FnMut(TokenIndex)) {
    declaration.declared.members.iter().for_each(|member| each_in_declaration(member, see));
    declaration.declarators.iter().for_each(|declarator| see(declarator.name));
}

fn each_in_statement(statement: &Statement, see: &mut dyn FnMut(TokenIndex)) {
    let mut in_condition = |condition: &LoopCondition| {
        if let LoopCondition::Declaration(declaration) = condition {
            each_in_declaration(declaration, see);
        }
    };
    match &statement.kind {
        StatementKind::While { condition, .. }
        | StatementKind::For { condition: Some(condition), .. } => in_condition(condition),
        _ => {}
    }
    match &statement.kind {
        StatementKind::Declaration(declaration) => each_in_declaration(declaration, see),
        StatementKind::For { init: Some(init), .. } => each_in_statement(init, see),
        _ => {}
    }
    statement.each_inner(&mut |inner| each_in_statement(inner, see));
}
