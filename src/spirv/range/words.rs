//! Polynomials for people.

use super::Walk;
use super::atom::{AtomId, AtomKind, Atoms};
use super::polynomial::Polynomial;

impl Walk<'_> {
    /// A polynomial as an expression.
    pub(super) fn words_of(&self, polynomial: &Polynomial) -> String {
        expression_words(&self.atoms, polynomial)
    }
}

/// A polynomial as an expression; long ones are cut.
fn expression_words(atoms: &Atoms, polynomial: &Polynomial) -> String {
    const MOST_CHARACTERS: usize = 80;
    let mut words = String::new();
    // Constants come last.
    let terms: Vec<_> = polynomial.terms().collect();
    let ordered = terms.iter().filter(|(monomial, _)| !monomial.is_empty());
    let constants = terms.iter().filter(|(monomial, _)| monomial.is_empty());
    for (monomial, coefficient) in ordered.chain(constants) {
        let sign = match (words.is_empty(), *coefficient < 0) {
            (true, true) => "-",
            (true, false) => "",
            (false, true) => " - ",
            (false, false) => " + ",
        };
        words.push_str(sign);
        let mut factors: Vec<String> =
            monomial.iter().map(|atom| atom_words(atoms, *atom)).collect();
        if coefficient.abs() != 1 || factors.is_empty() {
            factors.push(coefficient.abs().to_string());
        }
        words.push_str(&factors.join(" * "));
        if words.chars().count() > MOST_CHARACTERS {
            return "a long expression".to_owned();
        }
    }
    if words.is_empty() { "0".to_owned() } else { words }
}

fn atom_words(atoms: &Atoms, atom: AtomId) -> String {
    let named = |polynomial: &Polynomial| expression_words(atoms, polynomial);
    match atoms.kind(atom) {
        AtomKind::Symbol | AtomKind::Joined(_) => match atoms.name(atom) {
            "" => "a value".to_owned(),
            name => name.to_owned(),
        },
        AtomKind::Quotient(left, right) => format!("(({}) / ({}))", named(left), named(right)),
        AtomKind::Remainder(left, right) => format!("(({}) % ({}))", named(left), named(right)),
        AtomKind::PowerOfTwo(exponent) => format!("(1 << ({}))", named(exponent)),
        AtomKind::Minimum(left, right) => format!("min({}, {})", named(left), named(right)),
        AtomKind::Maximum(left, right) => format!("max({}, {})", named(left), named(right)),
        AtomKind::Reading { number, .. } => format!("({})", named(number)),
        AtomKind::ImageSize(_, _, component) => {
            let axis = ["width", "height", "depth", "layers"].get(*component as usize);
            format!("the image's {}", axis.unwrap_or(&"size"))
        }
    }
}
