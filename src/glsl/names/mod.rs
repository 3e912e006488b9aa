//! What names mean: scopes with types and constness, as far as Boolean values and constant
//! expressions need them.
//!
//! Knows: declarations of the text and the built-in names below. Promises: an answer "Boolean" or
//! "constant" is given only where the text shows it; whatever is unknown is not Boolean, and
//! runtime.
//! Does not cover: which types operators and built-in functions give (`value_types`).

mod constness;
mod signatures;

pub(crate) use constness::is_pure_built_in;

use crate::folding;
use crate::syntax::{
    Declarator, DeclaredType, Expression, ExpressionKind, FileLevelItem, ParameterSyntax,
    TokenIndex,
};
use crate::token::Token;
use crate::value_types::{self, ValueType};
use signatures::{
    FunctionSignature, ParameterDirection, common_result, likely_result, viable_signatures,
};
use std::collections::BTreeMap;
use vkcert_model::structure::Constness;

#[derive(Debug, Clone, Copy)]
struct VariableFacts<'a> {
    value: ValueType<'a>,
    constness: Constness,
    /// See [`NameScopes::surely_varies`].
    varies: bool,
    folding: FoldedParts,
}

/// Which parts of a declared name the compiler surely folds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FoldedParts {
    pub value: bool,
    /// `.length()` of the array.
    pub length: bool,
}

/// The kind of parameter that a call's argument is passed to.
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
struct MemberTypes<'a> {
    by_name: BTreeMap<&'a str, ValueType<'a>>,
    in_order: Vec<ValueType<'a>>,
}

/// All names in force at one point of the text.
#[derive(Debug)]
pub(crate) struct NameScopes<'a> {
    tokens: &'a [Token],
    scopes: Vec<BTreeMap<&'a str, VariableFacts<'a>>>,
    structs: BTreeMap<&'a str, MemberTypes<'a>>,
    functions: BTreeMap<&'a str, Vec<FunctionSignature<'a>>>,
    /// A `local_size_*_id` stands in the text: the workgroup size is a specialization constant.
    specialized_size: bool,
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

impl<'a> NameScopes<'a> {
    /// The names of file level that need no order: functions, and how the workgroup size is given.
    pub(crate) fn new(tokens: &'a [Token], items: &[FileLevelItem]) -> Self {
        let mut names = Self {
            tokens,
            scopes: vec![BTreeMap::new()],
            structs: BTreeMap::new(),
            functions: BTreeMap::new(),
            specialized_size: false,
        };
        for item in items {
            match item {
                FileLevelItem::Function(function) => {
                    names.add_function(function.name, &function.returns, &function.parameters)
                }
                FileLevelItem::Prototype { returns, name, parameters } => {
                    names.add_function(*name, returns, parameters)
                }
                FileLevelItem::Declaration(declaration) => {
                    let layout = &declaration.declared.layout;
                    names.specialized_size |= layout
                        .iter()
                        .any(|name| name.starts_with("local_size_") && name.ends_with("_id"));
                }
                FileLevelItem::Unread { .. } => {}
            }
        }
        names
    }

    pub(crate) fn token_text(&self, token: TokenIndex) -> &'a str {
        &self.tokens[token].text
    }

    fn value_type(&self, declared_type: &DeclaredType, size_count: usize) -> ValueType<'a> {
        let type_name = declared_type.name.map_or("", |type_name| self.token_text(type_name));
        ValueType { name: type_name, dimensions: declared_type.sizes.len() + size_count }
    }

    fn add_function(
        &mut self,
        name_token: TokenIndex,
        returns: &DeclaredType,
        parameters: &[ParameterSyntax],
    ) {
        let parameter_types = parameters
            .iter()
            .map(|parameter| {
                let is_out = parameter.declared.has_qualifier("out")
                    || parameter.declared.has_qualifier("inout");
                let direction =
                    if is_out { ParameterDirection::Out } else { ParameterDirection::In };
                (self.value_type(&parameter.declared, parameter.sizes.len()), direction)
            })
            .collect();
        let signature =
            FunctionSignature { returns: self.value_type(returns, 0), parameters: parameter_types };
        self.functions.entry(self.token_text(name_token)).or_default().push(signature);
    }

    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(BTreeMap::new());
    }

    pub(crate) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// A name whose value is computed at run time.
    fn insert_runtime(&mut self, name_token: TokenIndex, value_type: ValueType<'a>) {
        self.insert_variable(
            name_token,
            VariableFacts {
                value: value_type,
                constness: Constness::Runtime,
                varies: true,
                folding: FoldedParts::default(),
            },
        );
    }

    fn insert_variable(&mut self, name_token: TokenIndex, variable: VariableFacts<'a>) {
        let name = self.token_text(name_token);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, variable);
        }
    }

    pub(crate) fn add_parameter(&mut self, parameter: &ParameterSyntax) {
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
                member_types.push(value_type);
                members_by_name
                    .insert(self.token_text(declarator.name), (declarator.name, value_type));
            }
        }
        let is_block = ["buffer", "uniform", "in", "out", "shared"]
            .iter()
            .any(|storage| declared_type.has_qualifier(storage));
        if is_block {
            // Members of a block without instance name are names of file level (GLSL 4.60, 4.3.9).
            for (name, value_type) in members_by_name.values() {
                self.insert_runtime(*name, *value_type);
            }
        }
        if let Some(name) = declared_type.name {
            let by_name = members_by_name
                .into_iter()
                .map(|(member_name, (_, value_type))| (member_name, value_type))
                .collect();
            self.structs
                .insert(self.token_text(name), MemberTypes { by_name, in_order: member_types });
        }
    }

    /// Learns a declared name; call behind its initialiser.
    pub(crate) fn add_declarator(&mut self, declared_type: &DeclaredType, declarator: &Declarator) {
        let constness = self.declared_constness(declared_type, declarator);
        let value_type = self.value_type(declared_type, declarator.sizes.len());
        let surely_varies = match &declarator.initialiser {
            Some(initialiser)
                if declared_type.has_qualifier("const")
                    && constness != Constness::Specialization =>
            {
                self.surely_varies(initialiser)
            }
            Some(_) | None => true,
        };
        let folding = FoldedParts {
            value: folding::declares_folded(self, declared_type, declarator),
            length: folding::declares_folded_length(self, declared_type, declarator),
        };
        self.insert_variable(
            declarator.name,
            VariableFacts { value: value_type, constness, varies: surely_varies, folding },
        );
    }

    fn find_variable(&self, name: &str) -> Option<&VariableFacts<'a>> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// What is folded of a name that the text declares; none where it declares no such variable.
    pub(crate) fn declared_folding(&self, name: &str) -> Option<FoldedParts> {
        self.find_variable(name).map(|variable| variable.folding)
    }

    /// Whether `name` is a type of the language or a structure of the text.
    pub(crate) fn is_type(&self, name: &str) -> bool {
        is_built_in_type(name) || self.structs.contains_key(name)
    }

    pub(crate) fn is_boolean(&self, expression: &Expression) -> bool {
        match &expression.kind {
            // What operators give needs no look at long operands.
            ExpressionKind::Binary { operator, .. } => {
                value_types::is_truth_operator(self.token_text(*operator))
            }
            _ => self.type_of(expression).is_some_and(|value_type| value_type.is_boolean()),
        }
    }

    /// The type of an expression, where the text shows it.
    pub(crate) fn type_of(&self, expression: &Expression) -> Option<ValueType<'a>> {
        match &expression.kind {
            ExpressionKind::Literal => {
                Some(value_types::literal_type(self.token_text(expression.first)))
            }
            ExpressionKind::Identifier => {
                let name = self.token_text(expression.first);
                let declared_type = self.find_variable(name).map(|variable| variable.value);
                declared_type.or_else(|| value_types::built_in_variable_type(name))
            }
            ExpressionKind::Parenthesised(inner) => self.type_of(inner),
            ExpressionKind::Prefix(operand) => match self.token_text(expression.first) {
                "!" => Some(ValueType::scalar("bool")),
                _ => self.type_of(operand).filter(|value| !value.is_boolean()),
            },
            ExpressionKind::Postfix(operand) => self.type_of(operand),
            ExpressionKind::Binary { operator, left, right } => {
                self.operation_type(self.token_text(*operator), left, right)
            }
            ExpressionKind::Assignment { target, .. } => self.type_of(target),
            ExpressionKind::Ternary { then, otherwise, .. } => {
                self.type_of(then).or_else(|| self.type_of(otherwise))
            }
            ExpressionKind::Comma { second, .. } => self.type_of(second),
            ExpressionKind::Call { callee, arguments } => self.call_type(callee, arguments),
            ExpressionKind::Index { base, .. } => value_types::element_type(self.type_of(base)?),
            ExpressionKind::Field { base, name } => self.field_type(base, self.token_text(*name)),
            ExpressionKind::List(_) | ExpressionKind::Template(_) => None,
        }
    }

    /// Operands are looked at only where the operator does not tell by itself.
    fn operation_type(
        &self,
        operator: &str,
        left: &Expression,
        right: &Expression,
    ) -> Option<ValueType<'a>> {
        if value_types::is_truth_operator(operator) {
            return Some(ValueType::scalar("bool"));
        }
        value_types::arithmetic_type(operator, self.type_of(left)?, self.type_of(right))
    }

    fn call_type(&self, callee: &Expression, arguments: &[Expression]) -> Option<ValueType<'a>> {
        match &callee.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(callee.first);
                let argument_types =
                    || arguments.iter().map(|argument| self.type_of(argument)).collect::<Vec<_>>();
                if let Some(signatures) = self.signatures_of(name, arguments.len()) {
                    return common_result(&signatures).or_else(|| {
                        likely_result(&viable_signatures(signatures, &argument_types()))
                    });
                }
                if self.is_type(name) {
                    return Some(ValueType::scalar(name));
                }
                value_types::built_in_call_type(name, &argument_types())
            }
            ExpressionKind::Index { .. } => {
                let (name, dimensions) = self.array_constructor(callee)?;
                Some(ValueType { name, dimensions })
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
        let name = self.token_text(innermost.first);
        (dimensions > 0 && innermost.first == innermost.last && self.is_type(name))
            .then_some((name, dimensions))
    }

    fn field_type(&self, base: &Expression, field: &str) -> Option<ValueType<'a>> {
        let base_type = self.type_of(base).filter(|base_type| base_type.dimensions == 0)?;
        match self.structs.get(base_type.name) {
            Some(members) => members.by_name.get(field).copied(),
            None => value_types::swizzle_type(base_type, field),
        }
    }

    fn signatures_of(
        &self,
        name: &str,
        argument_count: usize,
    ) -> Option<Vec<&FunctionSignature<'a>>> {
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
        whole_type: Option<ValueType<'a>>,
        index: usize,
    ) -> Option<ValueType<'a>> {
        let whole_type = whole_type?;
        if whole_type.dimensions > 0 {
            return Some(ValueType { dimensions: whole_type.dimensions - 1, ..whole_type });
        }
        if let Some(members) = self.structs.get(whole_type.name) {
            return members.in_order.get(index).copied();
        }
        whole_type.name.starts_with("bvec").then(|| ValueType::scalar("bool"))
    }

    /// The type that a declarator gives its name.
    pub(crate) fn declared_type(
        &self,
        type_syntax: &DeclaredType,
        declarator: &Declarator,
    ) -> ValueType<'a> {
        self.value_type(type_syntax, declarator.sizes.len())
    }

    /// What the parameter for argument `index` of a call with `count` arguments is.
    pub(crate) fn argument_place(
        &self,
        callee: &Expression,
        argument_index: usize,
        argument_count: usize,
    ) -> ArgumentPlace {
        if let Some((name, dimensions)) = self.array_constructor(callee) {
            return place_of_type(Some(ValueType { name, dimensions: dimensions - 1 }));
        }
        if !matches!(callee.kind, ExpressionKind::Identifier) {
            return ArgumentPlace::Other;
        }
        let name = self.token_text(callee.first);
        let Some(signatures) = self.signatures_of(name, argument_count) else {
            return match self.structs.get(name) {
                Some(members) => place_of_type(members.in_order.get(argument_index).copied()),
                None if is_built_in_type(name) => ArgumentPlace::Other,
                None => ArgumentPlace::BuiltIn,
            };
        };
        let matching_parameters: Vec<_> =
            signatures.iter().map(|signature| signature.parameters.get(argument_index)).collect();
        if matching_parameters
            .iter()
            .flatten()
            .any(|(_, direction)| *direction == ParameterDirection::Out)
        {
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

fn place_of_type(value_type: Option<ValueType>) -> ArgumentPlace {
    match value_type {
        Some(value_type) if value_type.is_boolean() => ArgumentPlace::Boolean,
        Some(_) | None => ArgumentPlace::Other,
    }
}
