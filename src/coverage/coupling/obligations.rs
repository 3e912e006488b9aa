//! Pairs of instructions made obligations of statements.
//!
//! Promises: pairs are one obligation if definition and use stand in the same statements (`side`), on
//! the same part of an object, with the same passage between; numbers follow the module, those of
//! class kernel-to-kernel behind all others.

use super::side::{SideFinder, SideKey, SideStructures};
use std::collections::BTreeMap;
use vkcert_model::access_pair::{AccessPair, Passage};
use vkcert_model::id::{KernelName, PairId};
use vkcert_model::pair_obligation::{CouplingClass, PairBarrier, PairObligation, ShownBy};
use vkcert_model::place::Place;
use vkcert_model::records::Reach;

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

/// The obligations of a kernel; `structures` are of its source and of those of earlier kernels.
pub fn pair_obligations(
    located_pairs: &[LocatedPair],
    structures: &SideStructures<'_>,
) -> Vec<PairObligation> {
    let mut side_finder = SideFinder::of_structures(structures);
    let mut numbers: BTreeMap<ObligationKey, usize> = BTreeMap::new();
    let mut obligations: Vec<PairObligation> = Vec::new();
    let mut ordered_pairs: Vec<&LocatedPair> = located_pairs.iter().collect();
    // A test more that dispatches several kernels renames no other obligation.
    ordered_pairs.sort_by_key(|located| {
        (matches!(located.pair.passage, Passage::Dispatch { .. }), located.pair)
    });
    for located in ordered_pairs {
        let id = PairId(obligations.len() as u32 + 1);
        let (key, obligation) = obligation_of_pair(located, id, &mut side_finder);
        match numbers.get(&key) {
            Some(number) => {
                let same_obligation = &mut obligations[*number];
                if located.reach == Reach::Possible {
                    same_obligation.reach = Reach::Possible;
                }
                same_obligation.pairs.push(located.pair);
            }
            None => {
                numbers.insert(key, obligations.len());
                obligations.push(obligation);
            }
        }
    }
    obligations
}

/// The obligation that a pair alone makes.
fn obligation_of_pair(
    located: &LocatedPair,
    id: PairId,
    side_finder: &mut SideFinder<'_>,
) -> (ObligationKey, PairObligation) {
    let class = CouplingClass::of_passage(located.pair.passage);
    let (object, shown_by) = (located.object.clone(), located.shown_by);
    let writer = writing_kernel(located.pair.passage);
    let definition = located.definition.as_ref().map(|place| side_finder.side(place, writer));
    let (definition, definition_key) = definition.unzip();
    let (use_place, use_side) = side_finder.side(&located.use_place, None);
    let barrier = located.barrier.as_ref().map(|barrier| PairBarrier {
        number: barrier.number,
        place: side_finder.side(&barrier.place, None).0,
    });
    let key = ObligationKey {
        class,
        object: object.clone(),
        definition: definition_key,
        use_side,
        barrier: barrier.as_ref().map(|barrier| barrier.number),
        shown_by,
    };
    let (reach, pairs) = (located.reach, vec![located.pair]);
    let obligation = PairObligation {
        id,
        class,
        object,
        definition,
        use_place,
        barrier,
        shown_by,
        reach,
        pairs,
    };
    (key, obligation)
}

/// The kernel of the earlier dispatch that wrote; none: the kernel that reads, or the host.
fn writing_kernel(passage: Passage) -> Option<KernelName> {
    match passage {
        Passage::Dispatch { kernel, .. } => Some(kernel),
        Passage::Host
        | Passage::Barrier { .. }
        | Passage::Atomic { .. }
        | Passage::Unordered { .. } => None,
    }
}
