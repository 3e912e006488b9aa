//! Functions of the text by signature: which of several a call can mean, and what it returns.

use crate::value_types::ValueType;

/// How a parameter passes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterDirection {
    In,
    /// `out` or `inout`: the argument is a place, not a value.
    Out,
}

#[derive(Debug, Clone)]
pub(super) struct FunctionSignature<'a> {
    pub returns: ValueType<'a>,
    pub parameters: Vec<(ValueType<'a>, ParameterDirection)>,
}

/// The one type that all of these functions return.
pub(super) fn common_result<'a>(signatures: &[&FunctionSignature<'a>]) -> Option<ValueType<'a>> {
    let mut result_types = signatures.iter().map(|signature| signature.returns);
    let first_type = result_types.next()?;
    result_types.all(|other| other == first_type).then_some(first_type)
}

/// Where several functions may be meant, of which one returns a Boolean, that counts: a marker that
/// the compiler refuses leaves an obligation, a missing one would leave a gap.
pub(super) fn likely_result<'a>(signatures: &[&FunctionSignature<'a>]) -> Option<ValueType<'a>> {
    let boolean_result =
        signatures.iter().map(|signature| signature.returns).find(|returns| returns.is_boolean());
    boolean_result.or_else(|| common_result(signatures))
}

/// The functions that a call with arguments of these types can mean: those that take just these,
/// else those to whose parameters each argument of known type converts.
pub(super) fn viable_signatures<'s, 'a>(
    signatures: Vec<&'s FunctionSignature<'a>>,
    argument_types: &[Option<ValueType>],
) -> Vec<&'s FunctionSignature<'a>> {
    match signatures.iter().find(|signature| signature.takes_exactly(argument_types)) {
        Some(exact_signature) => vec![exact_signature],
        None => signatures
            .into_iter()
            .filter(|signature| signature.takes_converted(argument_types))
            .collect(),
    }
}

impl FunctionSignature<'_> {
    fn takes_exactly(&self, argument_types: &[Option<ValueType>]) -> bool {
        let mut type_pairs = self.parameters.iter().zip(argument_types);
        type_pairs.all(|((parameter, _), argument)| *argument == Some(*parameter))
    }

    /// Whether each argument of known type converts to its parameter.
    fn takes_converted(&self, argument_types: &[Option<ValueType>]) -> bool {
        let mut type_pairs = self.parameters.iter().zip(argument_types);
        type_pairs.all(|((parameter, _), argument)| {
            argument.is_none_or(|argument| argument.converts_to(*parameter))
        })
    }
}
