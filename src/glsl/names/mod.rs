//! What names mean: scopes with types and constness, as far as Boolean values and constant
//! expressions need them.
//!
//! Knows: declarations of the text and the built-in names below. Promises: an answer "Boolean" or
//! "constant" is given only where the text shows it; whatever is unknown is not Boolean, and
//! runtime.
//! Does not cover: which types operators and built-in functions give (`value_types`).

mod constness;

pub(crate) use constness::is_pure_built_in;

use crate::folding;
use crate::syntax::{
    Declarator, DeclaredType, Expression, ExpressionKind, Item, Parameter, TokenIndex,
};
use crate::token::Token;
use crate::value_types::{self, ValueType};
use std::collections::BTreeMap;
use vkcert_model::structure::Constness;

/// How a parameter passes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    In,
    /// `out` or `inout`: the argument is a place, not a value.
    Out,
}

#[derive(Debug, Clone)]
struct Signature {
    returns: ValueType,
    parameters: Vec<(ValueType, Direction)>,
}

#[derive(Debug, Clone)]
struct Variable {
    value: ValueType,
    constness: Constness,
    /// See [`Names::varies`].
    varies: bool,
    folding: Folding,
}

/// What the compiler surely folds of a declared name.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Folding {
    pub value: bool,
    /// `.length()` of the array.
    pub length: bool,
}

/// What is known of a call's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ArgumentPlace {
    /// A parameter of type `bool`.
    Boolean,
    /// Something is written there.
    Written,
    /// An argument of a function that the text does not define.
    BuiltIn,
    Other,
}

/// The members of a struct or block.
#[derive(Debug, Clone, Default)]
struct Members {
    by_name: BTreeMap<String, ValueType>,
    in_order: Vec<ValueType>,
}

/// All names in force at one point of the text.
#[derive(Debug)]
pub(crate) struct Names<'a> {
    tokens: &'a [Token],
    scopes: Vec<BTreeMap<String, Variable>>,
    structs: BTreeMap<String, Members>,
    functions: BTreeMap<String, Vec<Signature>>,
    /// A `local_size_*_id` stands in the text: the workgroup size is a specialization constant.
    specialized_size: bool,
}

/// The one type that all of these functions return.
fn common_result(signatures: &[&Signature]) -> Option<ValueType> {
    let mut result_types = signatures.iter().map(|signature| &signature.returns);
    let first_type = result_types.next()?;
    result_types.all(|other| other == first_type).then(|| first_type.clone())
}

/// Where several functions may be meant, of which one returns a Boolean, that counts: a marker that
/// the compiler refuses leaves an obligation, a missing one would leave a gap.
fn likely_result(signatures: &[&Signature]) -> Option<ValueType> {
    let boolean_result =
        signatures.iter().map(|signature| &signature.returns).find(|returns| returns.is_boolean());
    boolean_result.cloned().or_else(|| common_result(signatures))
}

/// The functions that a call with arguments of these types can mean: those that take just these,
/// else those to whose parameters each argument of known type converts.
fn chosen<'s>(
    signatures: Vec<&'s Signature>,
    argument_types: &[Option<ValueType>],
) -> Vec<&'s Signature> {
    let is_exact = |signature: &&&Signature| {
        let mut type_pairs = signature.parameters.iter().zip(argument_types);
        type_pairs.all(|((taken, _), given)| given.as_ref() == Some(taken))
    };
    if let Some(exact_signature) = signatures.iter().find(is_exact) {
        return vec![exact_signature];
    }
    let can_take = |signature: &&Signature| {
        let mut type_pairs = signature.parameters.iter().zip(argument_types);
        type_pairs
            .all(|((taken, _), given)| given.as_ref().is_none_or(|given| given.converts_to(taken)))
    };
    signatures.into_iter().filter(can_take).collect()
}

/// Whether `name` is a type of the language.
fn is_built_in_type(name: &str) -> bool {
    let is_scalar = ["bool", "int", "uint", "float", "double"].contains(&name);
    let is_sized = name.ends_with("_t") && name.chars().any(|character| character.is_ascii_digit());
    let family_name =
        name.trim_end_matches(|character: char| character.is_ascii_digit() || character == 'x');
    let is_vector =
        ["vec", "mat"].iter().any(|family| family_name.ends_with(family)) && family_name != name;
    is_scalar || is_sized || is_vector
}

impl<'a> Names<'a> {
    /// The names of file level that need no order: functions, and how the workgroup size is given.
    pub(crate) fn new(tokens: &'a [Token], items: &[Item]) -> Self {
        let mut names = Self {
            tokens,
            scopes: vec![BTreeMap::new()],
            structs: BTreeMap::new(),
            functions: BTreeMap::new(),
            specialized_size: false,
        };
        for item in items {
            match item {
                Item::Function(function) => {
                    names.add_function(function.name, &function.returns, &function.parameters)
                }
                Item::Prototype { returns, name, parameters } => {
                    names.add_function(*name, returns, parameters)
                }
                Item::Declaration(declaration) => {
                    let layout = &declaration.declared.layout;
                    names.specialized_size |= layout
                        .iter()
                        .any(|name| name.starts_with("local_size_") && name.ends_with("_id"));
                }
                Item::Unread { .. } => {}
            }
        }
        names
    }

    pub(crate) fn text(&self, token: TokenIndex) -> &'a str {
        &self.tokens[token].text
    }

    fn value_type(&self, declared_type: &DeclaredType, size_count: usize) -> ValueType {
        let type_name =
            declared_type.name.map_or(String::new(), |type_name| self.text(type_name).to_owned());
        ValueType { name: type_name, dimensions: declared_type.sizes.len() + size_count }
    }

    fn add_function(
        &mut self,
        name_token: TokenIndex,
        returns: &DeclaredType,
        parameters: &[Parameter],
    ) {
        let parameter_types = parameters
            .iter()
            .map(|parameter| {
                let is_out = parameter.declared.has("out") || parameter.declared.has("inout");
                let direction = if is_out { Direction::Out } else { Direction::In };
                (self.value_type(&parameter.declared, parameter.sizes.len()), direction)
            })
            .collect();
        let signature =
            Signature { returns: self.value_type(returns, 0), parameters: parameter_types };
        self.functions.entry(self.text(name_token).to_owned()).or_default().push(signature);
    }

    pub(crate) fn open(&mut self) {
        self.scopes.push(BTreeMap::new());
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// A name whose value is computed at run time.
    fn insert_runtime(&mut self, name_token: TokenIndex, value_type: ValueType) {
        self.insert(
            name_token,
            Variable {
                value: value_type,
                constness: Constness::Runtime,
                varies: true,
                folding: Folding::default(),
            },
        );
    }

    fn insert(&mut self, name_token: TokenIndex, variable: Variable) {
        let name = self.text(name_token).to_owned();
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, variable);
        }
    }

    pub(crate) fn add_parameter(&mut self, parameter: &Parameter) {
        if let Some(name) = parameter.name {
            let value_type = self.value_type(&parameter.declared, parameter.sizes.len());
            self.insert_runtime(name, value_type);
        }
    }

    /// Learns the struct or block that a declaration defines.
    pub(crate) fn add_members(&mut self, declared_type: &DeclaredType) {
        if !declared_type.has_body {
            return;
        }
        let mut members_by_name = BTreeMap::new();
        let mut member_types = Vec::new();
        for member in &declared_type.members {
            self.add_members(&member.declared);
            for declarator in &member.declarators {
                let value_type = self.value_type(&member.declared, declarator.sizes.len());
                member_types.push(value_type.clone());
                members_by_name
                    .insert(self.text(declarator.name).to_owned(), (declarator.name, value_type));
            }
        }
        let is_block = ["buffer", "uniform", "in", "out", "shared"]
            .iter()
            .any(|storage| declared_type.has(storage));
        if is_block {
            // Members of a block without instance name are names of file level (GLSL 4.60, 4.3.9).
            for (name, value_type) in members_by_name.values() {
                self.insert_runtime(*name, value_type.clone());
            }
        }
        if let Some(name) = declared_type.name {
            let by_name = members_by_name
                .into_iter()
                .map(|(name, (_, value_type))| (name, value_type))
                .collect();
            self.structs
                .insert(self.text(name).to_owned(), Members { by_name, in_order: member_types });
        }
    }

    /// Learns a declared name; call behind its initialiser.
    pub(crate) fn add_declarator(&mut self, declared_type: &DeclaredType, declarator: &Declarator) {
        let constness = self.declared_constness(declared_type, declarator);
        let value_type = self.value_type(declared_type, declarator.sizes.len());
        let surely_varies = match &declarator.initialiser {
            Some(initialiser)
                if declared_type.has("const") && constness != Constness::Specialization =>
            {
                self.varies(initialiser)
            }
            Some(_) | None => true,
        };
        let folding = Folding {
            value: folding::declares_folded(self, declared_type, declarator),
            length: folding::declares_folded_length(self, declared_type, declarator),
        };
        self.insert(
            declarator.name,
            Variable { value: value_type, constness, varies: surely_varies, folding },
        );
    }

    fn variable(&self, name: &str) -> Option<&Variable> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// What is folded of a name that the text declares; none where it declares no such variable.
    pub(crate) fn declared_folding(&self, name: &str) -> Option<Folding> {
        self.variable(name).map(|variable| variable.folding)
    }

    /// Whether `name` is a type of the language or a structure of the text.
    pub(crate) fn is_type(&self, name: &str) -> bool {
        is_built_in_type(name) || self.structs.contains_key(name)
    }

    pub(crate) fn is_boolean(&self, expression: &Expression) -> bool {
        match &expression.kind {
            // What operators give needs no look at long operands.
            ExpressionKind::Binary { operator, .. } => {
                value_types::is_truth_operator(self.text(*operator))
            }
            _ => self.type_of(expression).is_some_and(|value_type| value_type.is_boolean()),
        }
    }

    /// The type of an expression, where the text shows it.
    pub(crate) fn type_of(&self, expression: &Expression) -> Option<ValueType> {
        match &expression.kind {
            ExpressionKind::Literal => Some(value_types::of_literal(self.text(expression.first))),
            ExpressionKind::Identifier => {
                let name = self.text(expression.first);
                let declared_type = self.variable(name).map(|variable| variable.value.clone());
                declared_type.or_else(|| value_types::of_built_in(name))
            }
            ExpressionKind::Parenthesised(inner) => self.type_of(inner),
            ExpressionKind::Prefix(operand) => match self.text(expression.first) {
                "!" => Some(ValueType::scalar("bool")),
                _ => self.type_of(operand).filter(|value| !value.is_boolean()),
            },
            ExpressionKind::Postfix(operand) => self.type_of(operand),
            ExpressionKind::Binary { operator, left, right } => {
                self.operation_type(self.text(*operator), left, right)
            }
            ExpressionKind::Assignment { target, .. } => self.type_of(target),
            ExpressionKind::Ternary { then, otherwise, .. } => {
                self.type_of(then).or_else(|| self.type_of(otherwise))
            }
            ExpressionKind::Comma { second, .. } => self.type_of(second),
            ExpressionKind::Call { callee, arguments } => self.call_type(callee, arguments),
            ExpressionKind::Index { base, .. } => value_types::of_element(&self.type_of(base)?),
            ExpressionKind::Field { base, name } => self.field_type(base, self.text(*name)),
            ExpressionKind::List(_) | ExpressionKind::Template(_) => None,
        }
    }

    /// Operands are looked at only where the operator does not tell by itself.
    fn operation_type(
        &self,
        operator: &str,
        left: &Expression,
        right: &Expression,
    ) -> Option<ValueType> {
        if value_types::is_truth_operator(operator) {
            return Some(ValueType::scalar("bool"));
        }
        value_types::of_arithmetic(operator, &self.type_of(left)?, self.type_of(right).as_ref())
    }

    fn call_type(&self, callee: &Expression, arguments: &[Expression]) -> Option<ValueType> {
        match &callee.kind {
            ExpressionKind::Identifier => {
                let name = self.text(callee.first);
                let argument_types =
                    || arguments.iter().map(|argument| self.type_of(argument)).collect::<Vec<_>>();
                if let Some(signatures) = self.signatures(name, arguments.len()) {
                    return common_result(&signatures)
                        .or_else(|| likely_result(&chosen(signatures, &argument_types())));
                }
                if self.is_type(name) {
                    return Some(ValueType::scalar(name));
                }
                value_types::of_call(name, &argument_types())
            }
            ExpressionKind::Index { .. } => {
                let (name, dimensions) = self.array_constructor(callee)?;
                Some(ValueType { name: name.to_owned(), dimensions })
            }
            // `.length()` of an array.
            ExpressionKind::Field { .. } => Some(ValueType::scalar("int")),
            ExpressionKind::Literal
            | ExpressionKind::Parenthesised(_)
            | ExpressionKind::Prefix(_)
            | ExpressionKind::Postfix(_)
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Assignment { .. }
            | ExpressionKind::Ternary { .. }
            | ExpressionKind::Comma { .. }
            | ExpressionKind::Call { .. }
            | ExpressionKind::List(_)
            | ExpressionKind::Template(_) => None,
        }
    }

    /// Type name and dimensions of `name[...]...` where it names a type.
    pub(crate) fn array_constructor(&self, callee: &Expression) -> Option<(&'a str, usize)> {
        let mut innermost = callee;
        let mut dimensions = 0;
        while let ExpressionKind::Index { base, .. } = &innermost.kind {
            dimensions += 1;
            innermost = base;
        }
        let name = self.text(innermost.first);
        (dimensions > 0 && innermost.first == innermost.last && self.is_type(name))
            .then_some((name, dimensions))
    }

    fn field_type(&self, base: &Expression, field: &str) -> Option<ValueType> {
        let base_type = self.type_of(base).filter(|base_type| base_type.dimensions == 0)?;
        match self.structs.get(&base_type.name) {
            Some(members) => members.by_name.get(field).cloned(),
            None => value_types::of_swizzle(&base_type, field),
        }
    }

    fn signatures(&self, name: &str, argument_count: usize) -> Option<Vec<&Signature>> {
        let all_signatures = self.functions.get(name)?;
        let fitting_signatures: Vec<_> = all_signatures
            .iter()
            .filter(|signature| signature.parameters.len() == argument_count)
            .collect();
        Some(if fitting_signatures.is_empty() {
            all_signatures.iter().collect()
        } else {
            fitting_signatures
        })
    }

    /// The type of element `index` of an initialiser list for a value of type `whole`.
    pub(crate) fn listed_type(
        &self,
        whole_type: Option<&ValueType>,
        index: usize,
    ) -> Option<ValueType> {
        let whole_type = whole_type?;
        if whole_type.dimensions > 0 {
            return Some(ValueType {
                name: whole_type.name.clone(),
                dimensions: whole_type.dimensions - 1,
            });
        }
        if let Some(members) = self.structs.get(&whole_type.name) {
            return members.in_order.get(index).cloned();
        }
        whole_type.name.starts_with("bvec").then(|| ValueType::scalar("bool"))
    }

    /// The type that a declarator gives its name.
    pub(crate) fn declared_type(
        &self,
        type_syntax: &DeclaredType,
        declarator: &Declarator,
    ) -> ValueType {
        self.value_type(type_syntax, declarator.sizes.len())
    }

    /// What the parameter for argument `index` of a call with `count` arguments is.
    pub(crate) fn argument_place(
        &self,
        callee: &Expression,
        argument_index: usize,
        argument_count: usize,
    ) -> ArgumentPlace {
        let place_of_type = |value: Option<ValueType>| match value {
            Some(value) if value.is_boolean() => ArgumentPlace::Boolean,
            Some(_) | None => ArgumentPlace::Other,
        };
        if let Some((name, dimensions)) = self.array_constructor(callee) {
            return place_of_type(Some(ValueType {
                name: name.to_owned(),
                dimensions: dimensions - 1,
            }));
        }
        if !matches!(callee.kind, ExpressionKind::Identifier) {
            return ArgumentPlace::Other;
        }
        let name = self.text(callee.first);
        let Some(signatures) = self.signatures(name, argument_count) else {
            return match self.structs.get(name) {
                Some(members) => place_of_type(members.in_order.get(argument_index).cloned()),
                None if is_built_in_type(name) => ArgumentPlace::Other,
                None => ArgumentPlace::BuiltIn,
            };
        };
        let matching_parameters: Vec<_> =
            signatures.iter().map(|signature| signature.parameters.get(argument_index)).collect();
        if matching_parameters.iter().flatten().any(|(_, direction)| *direction == Direction::Out) {
            return ArgumentPlace::Written;
        }
        let is_boolean = matching_parameters
            .iter()
            .all(|parameter| parameter.is_some_and(|(value, _)| value.is_boolean()));
        if is_boolean { ArgumentPlace::Boolean } else { ArgumentPlace::Other }
    }

    /// Whether the text itself declares a function of this name.
    pub(crate) fn is_own_function(&self, name: &str) -> bool {
        self.functions.contains_key(name)
    }
}
