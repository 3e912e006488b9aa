//! Which function of a name a call means, as far as the text tells, and what becomes of arguments
//! that it writes.
//!
//! Promises: an argument of another type than the parameter is handed over in a value of the
//! parameter's type and written back behind the call. Where implicit conversions would choose
//! between overloads, which C++ does otherwise, the call is unsupported by name.

use super::super::syntax::{Expression, FileLevelItem, ParameterSyntax, TokenIndex};
use super::function::is_written;
use super::{Emitted, Emitter, built_in};

/// The type of a parameter or argument as the program spells it, with its array dimensions.
type SpelledType = (String, usize);

/// What two types have in common that convert into each other: all but the kind of their numbers.
#[derive(PartialEq, Eq)]
struct ConvertibleForm {
    /// Empty for numbers, vectors and matrices.
    type_name: String,
    vector_size: Option<char>,
    matrix_sizes: Option<String>,
    dimensions: usize,
}

impl<'a> Emitter<'a> {
    /// The parameters of every function of a name that takes so many.
    fn overloads_of(
        &self,
        function_name: &str,
        argument_count: usize,
    ) -> Vec<&'a [ParameterSyntax]> {
        let definitions = self.items.iter().filter_map(|item| match item {
            FileLevelItem::Function(function) => Some(function),
            FileLevelItem::Declaration(_)
            | FileLevelItem::Prototype { .. }
            | FileLevelItem::Unread { .. } => None,
        });
        let same_name =
            definitions.filter(|function| self.token_text(function.name) == function_name);
        same_name
            .map(|function| function.parameters.as_slice())
            .filter(|parameters| parameters.len() == argument_count)
            .collect()
    }

    fn spelled_type(&self, type_name: &str, dimensions: usize) -> SpelledType {
        (built_in::type_name(type_name).unwrap_or_else(|| type_name.to_owned()), dimensions)
    }

    fn type_of_parameter(&self, parameter: &ParameterSyntax) -> Option<SpelledType> {
        let shape = self.declared_shape(&parameter.declared, &parameter.sizes)?;
        Some(self.spelled_type(shape.name, shape.dimensions))
    }

    fn type_of_argument(&self, argument: &Expression) -> Option<SpelledType> {
        let shape = self.shape_of(argument)?;
        Some(self.spelled_type(shape.name, shape.dimensions))
    }

    /// Writes the arguments of a call of a function of the kernel.
    pub(super) fn emit_own_arguments(
        &mut self,
        name_token: TokenIndex,
        arguments: &[Expression],
    ) -> Emitted {
        let function_name = self.token_text(name_token);
        let overloads = self.overloads_of(function_name, arguments.len());
        let argument_types: Vec<Option<SpelledType>> =
            arguments.iter().map(|argument| self.type_of_argument(argument)).collect();
        let is_exact = |parameters: &&[ParameterSyntax]| {
            parameters.iter().zip(&argument_types).all(|(parameter, argument_type)| {
                argument_type.is_some() && self.type_of_parameter(parameter) == *argument_type
            })
        };
        let chosen_overload = match overloads.as_slice() {
            [only] => Some(*only),
            several => several.iter().find(|parameters| is_exact(parameters)).copied(),
        };
        if chosen_overload.is_none() && self.may_be_converted(&overloads) {
            let reason =
                format!("a call of `{function_name}`, of whose overloads conversions choose one");
            return Err(self.unsupported_at(reason, name_token));
        }
        self.out.write_piece("(");
        for (argument_number, argument) in arguments.iter().enumerate() {
            self.out.write_piece(if argument_number == 0 { "" } else { ", " });
            let is_written_back =
                overloads.iter().any(|parameters| is_written(&parameters[argument_number]));
            let parameter = chosen_overload.map(|parameters| &parameters[argument_number]);
            match parameter {
                Some(parameter)
                    if is_written_back
                        && !self.is_plain_place(
                            argument,
                            parameter,
                            argument_types[argument_number].as_ref(),
                        ) =>
                {
                    self.emit_handed_over(argument, parameter, name_token)?;
                }
                None if is_written_back => {
                    self.refuse_written_swizzle(argument)?;
                    self.emit_expression(argument)?;
                }
                Some(_) | None => self.emit_expression(argument)?,
            }
        }
        self.out.write_piece(")");
        Ok(())
    }

    /// Whether C++ can refer to what is written as it is.
    fn is_plain_place(
        &self,
        argument: &Expression,
        parameter: &ParameterSyntax,
        argument_type: Option<&SpelledType>,
    ) -> bool {
        self.refuse_written_swizzle(argument).is_ok()
            && argument_type == self.type_of_parameter(parameter).as_ref()
    }

    fn emit_handed_over(
        &mut self,
        argument: &Expression,
        parameter: &ParameterSyntax,
        near_token: TokenIndex,
    ) -> Emitted {
        self.out.write_piece("handed<");
        self.write_type(&parameter.declared, &parameter.sizes, None, near_token)?;
        self.out.write_piece(">(");
        self.emit_written_place(argument)?;
        self.out.write_piece(")");
        Ok(())
    }

    /// Whether one argument may become, by itself, what two overloads take: they differ in the kind
    /// of numbers alone, or one of them writes what the other one takes.
    fn may_be_converted(&self, overloads: &[&[ParameterSyntax]]) -> bool {
        overloads.iter().enumerate().any(|(overload_index, parameters)| {
            overloads[..overload_index].iter().any(|earlier_parameters| {
                parameters.iter().zip(*earlier_parameters).all(|(parameter, earlier_parameter)| {
                    self.convertible_form(parameter) == self.convertible_form(earlier_parameter)
                })
            })
        })
    }

    /// The type of a parameter without the kind of its numbers; none where the text does not tell.
    fn convertible_form(&self, parameter: &ParameterSyntax) -> Option<ConvertibleForm> {
        let (name, dimensions) = self.type_of_parameter(parameter)?;
        let size_digits: String =
            name.chars().filter(|letter| !letter.is_ascii_alphabetic()).collect();
        let is_vector = name.contains("vec") || name.contains("Vec");
        let is_matrix = name.contains("mat") || name.contains("Mat");
        let last_digit = size_digits.chars().last().filter(char::is_ascii_digit);
        let last_letter = || name.trim_end_matches('>').chars().last();
        let vector_size = if is_vector { last_digit.or_else(last_letter) } else { None };
        let is_number = is_vector || is_matrix || built_in::is_number_class(&name);
        Some(ConvertibleForm {
            type_name: if is_number { String::new() } else { name },
            vector_size,
            matrix_sizes: is_matrix.then_some(size_digits),
            dimensions,
        })
    }
}
