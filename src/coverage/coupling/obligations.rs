//! Pairs of instructions made obligations of statements.
//!
//! Promises: pairs are one obligation if definition and use stand in the same statements, on the
//! same part of an object, with the same passage between; numbers follow the module, those of class
//! kernel-to-kernel behind all others.

use super::super::acceptance::place_in_source;
use std::collections::{BTreeMap, HashMap};
use vkcert_model::access_pair::{AccessPair, Passage};
use vkcert_model::finding_subject::SubjectPlace;
use vkcert_model::id::{KernelName, PairId, StatementId};
use vkcert_model::pair_obligation::{
    CouplingClass, PairBarrier, PairObligation, PairPlace, ShownBy,
};
use vkcert_model::place::Place;
use vkcert_model::records::Reach;
use vkcert_model::structure::KernelStructure;

/// A pair that a kernel can have, with its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedPair {
    /// The instructions and the way between them.
    pub pair: AccessPair,
    /// The part of the object that both access, in GLSL's words.
    pub object: String,
    /// How runs show it.
    pub shown_by: ShownBy,
    /// Whether the configuration lets control come to both.
    pub reach: Reach,
    /// Where the value is written; none where the host gives it.
    pub definition: Option<Place>,
    /// Where it is read.
    pub use_place: Place,
    /// The barrier between.
    pub barrier: Option<LocatedBarrier>,
}

/// A barrier with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedBarrier {
    /// Its number among the barriers of the kernel, from 1 in source order.
    pub number: u32,
    /// Where it stands.
    pub place: Place,
}

/// What an obligation is about: pairs with equal keys are one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ObligationKey {
    class: CouplingClass,
    object: String,
    definition: Option<SideKey>,
    use_side: SideKey,
    barrier: Option<u32>,
    shown_by: ShownBy,
}

/// A statement, or a place where none is known.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum SideKey {
    Statement(Option<KernelName>, StatementId),
    Line(Option<KernelName>, String, u32),
    Word(Option<KernelName>, u32),
}

/// File, line and column, as far as they are known.
type LinePlace = (Option<String>, Option<u32>, Option<u32>);

/// The statements of a kernel's source, by the places that were asked for.
struct SourceStatements<'a> {
    structure: &'a KernelStructure,
    known: HashMap<LinePlace, Option<SubjectPlace>>,
}

impl<'a> SourceStatements<'a> {
    fn of_structure(structure: &'a KernelStructure) -> Self {
        Self { structure, known: HashMap::new() }
    }

    fn at(&mut self, place: &Place) -> Option<SubjectPlace> {
        let key = (place.file.clone(), place.line, place.column);
        let structure = self.structure;
        self.known.entry(key).or_insert_with(|| place_in_source(structure, place)).clone()
    }
}

/// The obligations of a kernel; `structure` is that of its source, none of a module without one.
pub fn pair_obligations(
    located_pairs: &[LocatedPair],
    structure: Option<&KernelStructure>,
) -> Vec<PairObligation> {
    let mut statements = structure.map(SourceStatements::of_structure);
    let mut numbers: BTreeMap<ObligationKey, usize> = BTreeMap::new();
    let mut obligations: Vec<PairObligation> = Vec::new();
    let mut ordered_pairs: Vec<&LocatedPair> = located_pairs.iter().collect();
    // A test more that dispatches several kernels renames no other obligation.
    ordered_pairs.sort_by_key(|located| {
        (matches!(located.pair.passage, Passage::Dispatch { .. }), located.pair)
    });
    for located in ordered_pairs {
        let writer = match located.pair.passage {
            Passage::Dispatch { kernel, .. } => Some(kernel),
            Passage::Host
            | Passage::Barrier { .. }
            | Passage::Atomic { .. }
            | Passage::Unordered { .. } => None,
        };
        let mut side = |place: &Place, kernel: Option<KernelName>| {
            // The structure is of the kernel that reads.
            let own_statements = statements.as_mut().filter(|_| kernel.is_none());
            pair_place(place, kernel, own_statements)
        };
        let obligation = PairObligation {
            id: PairId(obligations.len() as u32 + 1),
            class: CouplingClass::of_passage(located.pair.passage),
            object: located.object.clone(),
            definition: located.definition.as_ref().map(|place| side(place, writer)),
            use_place: side(&located.use_place, None),
            barrier: located.barrier.as_ref().map(|barrier| PairBarrier {
                number: barrier.number,
                place: side(&barrier.place, None),
            }),
            shown_by: located.shown_by,
            reach: located.reach,
            pairs: vec![located.pair],
        };
        match numbers.get(&key_of(&obligation)) {
            Some(number) => {
                let same_obligation = &mut obligations[*number];
                if located.reach == Reach::Possible {
                    same_obligation.reach = Reach::Possible;
                }
                same_obligation.pairs.push(located.pair);
            }
            None => {
                numbers.insert(key_of(&obligation), obligations.len());
                obligations.push(obligation);
            }
        }
    }
    obligations
}

fn key_of(obligation: &PairObligation) -> ObligationKey {
    ObligationKey {
        class: obligation.class,
        object: obligation.object.clone(),
        definition: obligation.definition.as_ref().map(side_key),
        use_side: side_key(&obligation.use_place),
        barrier: obligation.barrier.as_ref().map(|barrier| barrier.number),
        shown_by: obligation.shown_by,
    }
}

fn side_key(place: &PairPlace) -> SideKey {
    match (place.statement, place.line) {
        (Some(statement), _) => SideKey::Statement(place.kernel, statement),
        (None, 0) => SideKey::Word(place.kernel, place.instruction),
        (None, line) => SideKey::Line(place.kernel, place.file.clone(), line),
    }
}

fn pair_place(
    place: &Place,
    kernel: Option<KernelName>,
    statements: Option<&mut SourceStatements<'_>>,
) -> PairPlace {
    let source = statements.and_then(|statements| statements.at(place));
    let (statement, text) =
        source.map_or((None, String::new()), |source| (source.statement, source.text));
    PairPlace {
        kernel,
        file: place.file.clone().unwrap_or_default(),
        line: place.line.unwrap_or(0),
        column: place.column.unwrap_or(0),
        function: place.function.clone().unwrap_or_default(),
        instruction: place.instruction.unwrap_or(0),
        statement,
        text,
    }
}
