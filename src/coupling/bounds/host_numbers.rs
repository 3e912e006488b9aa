//! What the host hands over, as polynomials over its parameters.
//!
//! Knows: the interface's expressions and their intervals.
//! Promises: a polynomial stands only for an expression that is computed exactly for all parameter
//! values; an expression that may wrap, or that no polynomial can say, is a number of its own within
//! the interval that holds all its values.
//! Does not cover: whether the host states what the kernel reads.

use super::super::CouplingInput;
use super::super::constants::{host_constants, scalar_of};
use super::super::expressions::{HostExpressions, HostExtent};
use super::super::layout::member_offsets;
use std::collections::BTreeMap;
use vkcert_model::element::ScalarClass;
use vkcert_model::requirement::HostType;
use vkcert_requirement::host::decide::HostModel;
use vkcert_requirement::host::expression::{
    self as host, BinaryOperator, HostExpression, HostExpressionKind, UnaryOperator,
};
use vkcert_requirement::host::interval::ValueInterval;
use vkcert_spirv::range::{
    Atoms, HostNumbers, ImageExtent, Interval, Origin, Polynomial, PushedNumber,
};

/// Numbers that can be the size of an image.
const SIZES_OF_IMAGES: Interval = Interval { low: 1, high: i32::MAX as i128 };

/// Everything of an interface that a kernel's indices may depend on.
pub(super) fn host_numbers(
    input: &CouplingInput<'_>,
    host: &HostModel,
    expressions: &HostExpressions,
) -> HostNumbers {
    let mut translation = Translation::of_host(host);
    let interface = input.interface;
    let groups =
        [0, 1, 2].map(|axis| translation.converted(&expressions.groups[axis], HostType::Uint32));
    let mut buffer_sizes = BTreeMap::new();
    for (buffer, size) in interface.buffers.iter().zip(&expressions.buffers) {
        let number = translation.number_of(size);
        // Stated twice: nothing is known.
        if buffer_sizes.insert((buffer.set, buffer.binding), number).is_some() {
            let unknown = translation.own_number(Interval::NATURAL);
            buffer_sizes.insert((buffer.set, buffer.binding), unknown);
        }
    }
    let images = interface.images.iter().zip(&expressions.images);
    let image_sizes = images.filter_map(|(image, extent)| {
        Some(((image.set, image.binding), translation.image_extent(extent.as_ref()?)))
    });
    let image_sizes = image_sizes.collect();
    let push_constants = translation.pushed_numbers(input, expressions);
    let declared = &input.reflection.specialization;
    let settled = host_constants(interface, declared);
    let is_float = |id: u32| {
        let mut of_id = declared.iter().filter(|constant| constant.spec_id == id);
        of_id.any(|constant| {
            scalar_of(constant).is_none_or(|scalar| scalar.class() == ScalarClass::Float)
        })
    };
    let mut specialization = BTreeMap::new();
    for (constant, value) in interface.specialization.iter().zip(&expressions.specialization) {
        // The bits of a float are no number of an expression.
        if let Some(value) = value
            && !settled.contains_key(&constant.id)
            && !is_float(constant.id)
        {
            specialization.insert(constant.id, translation.number_of(value));
        }
    }
    HostNumbers {
        atoms: translation.atoms,
        groups,
        buffer_sizes,
        image_sizes,
        push_constants,
        specialization,
    }
}

struct Translation<'a> {
    host: &'a HostModel,
    /// Intervals of all names.
    scope: Vec<ValueInterval>,
    /// Of all names, where they are translated.
    names: Vec<Option<Polynomial>>,
    atoms: Atoms,
}

impl<'a> Translation<'a> {
    fn of_host(host: &'a HostModel) -> Self {
        let (scope, _) = host.enclose_names();
        let names = vec![None; scope.len()];
        Self { host, scope, names, atoms: Atoms::default() }
    }

    fn own_number(&mut self, interval: Interval) -> Polynomial {
        let origin = Origin::Host("a host value that is not followed".to_owned());
        Polynomial::atom(self.atoms.new_symbol("", interval, origin))
    }

    fn enclosing_interval(&self, expression: &HostExpression) -> (Interval, bool) {
        let mut is_quiet = true;
        let interval = expression.enclose(&self.scope, &mut is_quiet);
        (Interval::new(interval.low, interval.high), is_quiet)
    }

    /// The value of an expression in a type.
    fn converted(&mut self, expression: &HostExpression, host_type: HostType) -> Polynomial {
        let (interval, _) = self.enclosing_interval(expression);
        let (least, greatest) = host::type_range(host_type);
        match Interval::new(least, greatest).contains(interval) {
            true => self.number_of(expression),
            false => self.own_number(Interval::new(least, greatest)),
        }
    }

    /// The size of an image. What the host may give no image is any size that an image can have:
    /// `image-size` tells of it.
    fn image_extent(&mut self, extent: &HostExtent) -> ImageExtent {
        ImageExtent {
            axes: extent.axes.iter().map(|axis| self.image_number(axis)).collect(),
            layers: extent.layers.as_ref().map(|layers| self.image_number(layers)),
            levels: match &extent.levels {
                Some(levels) => self.image_number(levels),
                None => Polynomial::constant(1),
            },
        }
    }

    fn image_number(&mut self, expression: &HostExpression) -> Polynomial {
        let (interval, _) = self.enclosing_interval(expression);
        match SIZES_OF_IMAGES.contains(interval) {
            true => self.number_of(expression),
            false => self.own_number(SIZES_OF_IMAGES),
        }
    }

    /// The value of an expression.
    fn number_of(&mut self, expression: &HostExpression) -> Polynomial {
        let (interval, is_quiet) = self.enclosing_interval(expression);
        let exact = match is_quiet {
            true => self.exact_number(expression),
            false => None,
        };
        exact.unwrap_or_else(|| self.own_number(interval))
    }

    /// The value of an expression in which nothing wraps; none where no polynomial says it.
    fn exact_number(&mut self, expression: &HostExpression) -> Option<Polynomial> {
        match &expression.kind {
            HostExpressionKind::Literal(value, _) => Some(Polynomial::constant(*value)),
            HostExpressionKind::Variable(name) => Some(self.named_number(*name)),
            HostExpressionKind::Cast(host_type, operand) => self.kept_number(operand, *host_type),
            HostExpressionKind::Unary(UnaryOperator::Plus, operand) => {
                Some(self.number_of(operand))
            }
            HostExpressionKind::Unary(UnaryOperator::Negate, operand) => {
                Some(self.kept_number(operand, expression.width)?.negated())
            }
            HostExpressionKind::Unary(UnaryOperator::Complement | UnaryOperator::Not, _)
            | HostExpressionKind::Choice(_) => None,
            HostExpressionKind::Binary(operator, operands) => {
                self.exact_operation(*operator, operands, expression.width)
            }
        }
    }

    /// The value of an operand that a type keeps.
    fn kept_number(&mut self, operand: &HostExpression, host_type: HostType) -> Option<Polynomial> {
        let (interval, _) = self.enclosing_interval(operand);
        let (least, greatest) = host::type_range(host_type);
        Interval::new(least, greatest).contains(interval).then(|| self.number_of(operand))
    }

    /// A parameter or a local.
    fn named_number(&mut self, name: usize) -> Polynomial {
        if let Some(number) = &self.names[name] {
            return number.clone();
        }
        let bounds = self.scope[name];
        let number = match self.host.local_expression(name) {
            Some(local) => {
                let local = local.clone();
                self.converted(&local, bounds.width)
            }
            None => {
                let interval = Interval::new(bounds.low, bounds.high);
                let name_text = self.host.names[name].name.clone();
                Polynomial::atom(self.atoms.new_symbol(&name_text, interval, Origin::Known))
            }
        };
        self.names[name] = Some(number.clone());
        number
    }

    fn exact_operation(
        &mut self,
        operator: BinaryOperator,
        operands: &[HostExpression; 2],
        width: HostType,
    ) -> Option<Polynomial> {
        let (left_interval, _) = self.enclosing_interval(&operands[0]);
        let (right_interval, _) = self.enclosing_interval(&operands[1]);
        match operator {
            BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight => {
                let left = self.kept_number(&operands[0], width)?;
                let amount = self.number_of(&operands[1]);
                let power = self.atoms.power_of_two(&amount);
                return match operator {
                    BinaryOperator::ShiftLeft => left.times(&power),
                    _ => self.atoms.quotient(&left, &power),
                };
            }
            BinaryOperator::Or
            | BinaryOperator::And
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::BitAnd
            | BinaryOperator::Equal
            | BinaryOperator::Unequal
            | BinaryOperator::Less
            | BinaryOperator::LessEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterEqual => return None,
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder
            | BinaryOperator::Minimum
            | BinaryOperator::Maximum => {}
        }
        let left = self.kept_number(&operands[0], width)?;
        let right = self.kept_number(&operands[1], width)?;
        // Division rounds towards 0, which is down only for what is not negative.
        let is_natural = left_interval.low >= 0 && right_interval.low >= 1;
        match operator {
            BinaryOperator::Add => left.plus(&right),
            BinaryOperator::Subtract => left.minus(&right),
            BinaryOperator::Multiply => left.times(&right),
            BinaryOperator::Divide if is_natural => self.atoms.quotient(&left, &right),
            BinaryOperator::Remainder if is_natural => self.atoms.remainder(&left, &right),
            BinaryOperator::Minimum => self.atoms.minimum(&left, &right),
            BinaryOperator::Maximum => self.atoms.maximum(&left, &right),
            _ => None,
        }
    }

    /// The integers of the struct that the host pushes, by byte.
    fn pushed_numbers(
        &mut self,
        input: &CouplingInput<'_>,
        expressions: &HostExpressions,
    ) -> BTreeMap<u64, PushedNumber> {
        let mut pushed_numbers = BTreeMap::new();
        let Some(block) = &input.interface.push_constants else { return pushed_numbers };
        for (member, offset) in block.members.iter().zip(member_offsets(input.interface)) {
            let format = member.scalar_type().and_then(host::integer_format);
            let Some((width, _)) = format else { continue };
            let number = match expressions.members.get(&member.name) {
                Some(value) => Some(self.number_of(value)),
                None => {
                    let name = self.host.names.iter().position(|name| name.name == member.name);
                    name.map(|name| self.named_number(name))
                }
            };
            let Some(number) = number else { continue };
            pushed_numbers.insert(offset, PushedNumber { width, number });
        }
        pushed_numbers
    }
}
