//! Constness and purity of expressions: what a value depends on, and whether evaluating it changes
//! anything.
//!
//! Promises: an expression is called constant or pure only where the text shows it; one whose
//! callee is unknown is a run-time value with side effects.

use super::{NameScopes, is_built_in_type};
use crate::syntax::{Declarator, DeclaredType, Expression, ExpressionKind};
use crate::value_types;
use vkcert_model::structure::Constness;

/// Built-in functions without side effects whose value depends on their arguments alone (GLSL 4.60,
/// 8.1 to 8.8).
const PURE_FUNCTIONS: [&str; 95] = [
    "radians",
    "degrees",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "pow",
    "exp",
    "log",
    "exp2",
    "log2",
    "sqrt",
    "inversesqrt",
    "abs",
    "sign",
    "floor",
    "trunc",
    "round",
    "roundEven",
    "ceil",
    "fract",
    "mod",
    "min",
    "max",
    "clamp",
    "mix",
    "step",
    "smoothstep",
    "isnan",
    "isinf",
    "floatBitsToInt",
    "floatBitsToUint",
    "intBitsToFloat",
    "uintBitsToFloat",
    "fma",
    "ldexp",
    "packUnorm2x16",
    "packSnorm2x16",
    "packUnorm4x8",
    "packSnorm4x8",
    "unpackUnorm2x16",
    "unpackSnorm2x16",
    "unpackUnorm4x8",
    "unpackSnorm4x8",
    "packHalf2x16",
    "unpackHalf2x16",
    "packDouble2x32",
    "unpackDouble2x32",
    "length",
    "distance",
    "dot",
    "cross",
    "normalize",
    "faceforward",
    "reflect",
    "refract",
    "matrixCompMult",
    "outerProduct",
    "transpose",
    "determinant",
    "inverse",
    "lessThan",
    "lessThanEqual",
    "greaterThan",
    "greaterThanEqual",
    "equal",
    "notEqual",
    "any",
    "all",
    "not",
    "bitfieldExtract",
    "bitfieldInsert",
    "bitfieldReverse",
    "bitCount",
    "findLSB",
    "findMSB",
    "min3",
    "max3",
    "mid3",
    "pack32",
    "pack64",
    "unpack8",
    "unpack16",
    "unpack32",
    "packInt2x32",
    "unpackInt2x32",
    "packFloat2x16",
];

/// Whether a call of `name` can have no effect, as far as the language says.
pub(crate) fn is_pure_built_in(name: &str) -> bool {
    is_built_in_type(name) || PURE_FUNCTIONS.contains(&name)
}

impl NameScopes<'_> {
    /// Constness of what a declarator declares (GLSL 4.60, 4.3.3).
    pub(crate) fn declared_constness(
        &self,
        declared_type: &DeclaredType,
        declarator: &Declarator,
    ) -> Constness {
        if declared_type.layout.iter().any(|name| name == "constant_id") {
            return Constness::Specialization;
        }
        match &declarator.initialiser {
            Some(initialiser) if declared_type.has_qualifier("const") => {
                self.constness_of(initialiser)
            }
            Some(_) | None => Constness::Runtime,
        }
    }

    /// What an expression's value depends on.
    pub(crate) fn constness_of(&self, expression: &Expression) -> Constness {
        match &expression.kind {
            ExpressionKind::Literal => Constness::Constant,
            ExpressionKind::Identifier => self.name_constness(self.token_text(expression.first)),
            ExpressionKind::Parenthesised(inner) => self.constness_of(inner),
            ExpressionKind::Prefix(operand) => match self.token_text(expression.first) {
                "++" | "--" => Constness::Runtime,
                _ => self.constness_of(operand),
            },
            ExpressionKind::Postfix(_) | ExpressionKind::Assignment { .. } => Constness::Runtime,
            ExpressionKind::Binary { left, right, .. } => {
                self.constness_of(left).max(self.constness_of(right))
            }
            ExpressionKind::Ternary { condition, then, otherwise } => self
                .constness_of(condition)
                .max(self.constness_of(then))
                .max(self.constness_of(otherwise)),
            ExpressionKind::Comma { first, second } => {
                self.constness_of(first).max(self.constness_of(second))
            }
            ExpressionKind::Call { callee, arguments } if self.is_pure_callee(callee) => {
                self.joined_constness(arguments)
            }
            ExpressionKind::Call { .. } => Constness::Runtime,
            ExpressionKind::Index { base, index } => {
                let index_constness =
                    index.as_ref().map_or(Constness::Constant, |index| self.constness_of(index));
                self.constness_of(base).max(index_constness)
            }
            ExpressionKind::Field { base, .. } => self.constness_of(base),
            ExpressionKind::List(elements) => self.joined_constness(elements),
            ExpressionKind::Template(_) => Constness::Runtime,
        }
    }

    /// Whether the text shows that an expression is no constant expression: its value is computed
    /// at run time or by specialization. What the text does not show does not vary.
    pub(crate) fn surely_varies(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(expression.first);
                match self.find_variable(name) {
                    Some(variable) => variable.varies,
                    None => {
                        value_types::built_in_variable_type(name).is_some()
                            && self.name_constness(name) != Constness::Constant
                    }
                }
            }
            ExpressionKind::Prefix(_)
                if matches!(self.token_text(expression.first), "++" | "--") =>
            {
                true
            }
            ExpressionKind::Postfix(_) | ExpressionKind::Assignment { .. } => true,
            ExpressionKind::Call { callee, arguments } => match &callee.kind {
                // `.length()` of an array.
                ExpressionKind::Field { .. } => false,
                ExpressionKind::Identifier
                    if self.is_own_function(self.token_text(callee.first)) =>
                {
                    true
                }
                _ => arguments.iter().any(|argument| self.surely_varies(argument)),
            },
            ExpressionKind::Literal
            | ExpressionKind::Parenthesised(_)
            | ExpressionKind::Prefix(_)
            | ExpressionKind::Binary { .. }
            | ExpressionKind::Ternary { .. }
            | ExpressionKind::Comma { .. }
            | ExpressionKind::Index { .. }
            | ExpressionKind::Field { .. }
            | ExpressionKind::List(_)
            | ExpressionKind::Template(_) => {
                let mut part_varies = false;
                expression.each_part(&mut |part| part_varies |= self.surely_varies(part));
                part_varies
            }
        }
    }

    fn joined_constness(&self, expressions: &[Expression]) -> Constness {
        expressions
            .iter()
            .map(|expression| self.constness_of(expression))
            .max()
            .unwrap_or(Constness::Constant)
    }

    fn name_constness(&self, name: &str) -> Constness {
        if let Some(variable) = self.find_variable(name) {
            return variable.constness;
        }
        self.built_in_constness(name)
    }

    /// Constness of a name that the text does not declare.
    pub(crate) fn built_in_constness(&self, name: &str) -> Constness {
        match name {
            "gl_WorkGroupSize" if self.specialized_size => Constness::Specialization,
            "gl_WorkGroupSize" => Constness::Constant,
            name if ["gl_Max", "gl_Min", "gl_Scope", "gl_Semantics", "gl_StorageSemantics"]
                .iter()
                .any(|start| name.starts_with(start)) =>
            {
                Constness::Constant
            }
            _ => Constness::Runtime,
        }
    }

    /// Constructors and pure built-in functions.
    pub(crate) fn is_pure_callee(&self, callee: &Expression) -> bool {
        match &callee.kind {
            ExpressionKind::Identifier => {
                let name = self.token_text(callee.first);
                self.is_type(name)
                    || (PURE_FUNCTIONS.contains(&name) && !self.functions.contains_key(name))
            }
            _ => self.array_constructor(callee).is_some(),
        }
    }

    /// Whether evaluating the expression changes nothing, and twice in a row gives the same value.
    pub(crate) fn is_pure(&self, expression: &Expression) -> bool {
        match &expression.kind {
            ExpressionKind::Literal | ExpressionKind::Identifier => true,
            ExpressionKind::Parenthesised(inner) => self.is_pure(inner),
            ExpressionKind::Prefix(operand) => {
                !matches!(self.token_text(expression.first), "++" | "--") && self.is_pure(operand)
            }
            ExpressionKind::Postfix(_) | ExpressionKind::Assignment { .. } => false,
            ExpressionKind::Binary { left, right, .. } => self.is_pure(left) && self.is_pure(right),
            ExpressionKind::Ternary { condition, then, otherwise } => {
                self.is_pure(condition) && self.is_pure(then) && self.is_pure(otherwise)
            }
            ExpressionKind::Comma { first, second } => self.is_pure(first) && self.is_pure(second),
            ExpressionKind::Call { callee, arguments } => match &callee.kind {
                // `.length()` of an array.
                ExpressionKind::Field { base, .. } => self.is_pure(base),
                _ => {
                    self.is_pure_callee(callee)
                        && arguments.iter().all(|argument| self.is_pure(argument))
                }
            },
            ExpressionKind::Index { base, index } => {
                self.is_pure(base) && index.as_ref().is_none_or(|index| self.is_pure(index))
            }
            ExpressionKind::Field { base, .. } => self.is_pure(base),
            ExpressionKind::List(elements) => elements.iter().all(|element| self.is_pure(element)),
            ExpressionKind::Template(_) => false,
        }
    }
}
