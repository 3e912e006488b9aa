//! Random expressions with coupling and fixed conditions, and the vectors at hand.

use super::definition::Text;
use proptest::prelude::*;
use vkcert_model::structure::BooleanExpression as E;

/// A random shape with `leaves` conditions, operators from `operators`.
pub(super) fn expression(leaves: u32, operators: &'static [u8], first: u32) -> BoxedStrategy<E> {
    if leaves == 1 {
        return prop_oneof![
            3 => Just(E::Condition(first)),
            1 => Just(E::Not(Box::new(E::Condition(first)))),
        ]
        .boxed();
    }
    (1..leaves, proptest::sample::select(operators), prop::bool::weighted(0.2))
        .prop_flat_map(move |(left, operator, negated)| {
            let right = expression(leaves - left, operators, first + left);
            (expression(left, operators, first), right).prop_map(move |(left, right)| {
                let (left, right) = (Box::new(left), Box::new(right));
                let joined = match operator {
                    b'&' => E::And(left, right),
                    b'|' => E::Or(left, right),
                    _ => E::Xor(left, right),
                };
                if negated { E::Not(Box::new(joined)) } else { joined }
            })
        })
        .boxed()
}

/// Expression, coupling numbers, and bits that choose the vectors at hand.
pub(super) fn decisions(
    most: u32,
    operators: &'static [u8],
) -> impl Strategy<Value = (E, Vec<u32>, u64)> {
    (1..=most).prop_flat_map(move |leaves| {
        let free = Just((0..leaves).collect::<Vec<u32>>());
        let coupled = prop::collection::vec(0..leaves, leaves as usize).prop_map(renumber);
        let coupling = prop_oneof![1 => free, 1 => coupled];
        (expression(leaves, operators, 0), coupling, any::<u64>())
    })
}

/// Numbers from 0 in order of first occurrence.
pub(super) fn renumber(numbers: Vec<u32>) -> Vec<u32> {
    let mut seen: Vec<u32> = Vec::new();
    let place = |number: u32, seen: &mut Vec<u32>| {
        seen.iter().position(|other| *other == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        }) as u32
    };
    numbers.into_iter().map(|number| place(number, &mut seen)).collect()
}

/// The vectors at hand: about half of the possible ones, or a quarter.
pub(super) fn chosen(all: &[Text], bits: u64) -> Vec<Text> {
    let kept = |index: usize| {
        let mixed = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(index as u32 * 7 % 64)
            ^ bits >> (index % 64);
        mixed & (if bits & 1 == 0 { 1 } else { 3 }) == 0
    };
    all.iter().enumerate().filter(|(index, _)| kept(*index)).map(|(_, text)| text.clone()).collect()
}

pub(super) const ALL: &[u8] = b"&|^";

/// Some conditions fixed, and all that are coupled with them.
pub(super) fn fixed(coupling: &[u32], bits: u64) -> Vec<Option<bool>> {
    let of =
        |number: &u32| (bits >> (2 * number) & 3 == 3).then_some(bits >> (20 + number) & 1 == 1);
    coupling.iter().map(of).collect()
}
