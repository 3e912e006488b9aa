//! Random histories against the definitions of a module that declares the Vulkan memory model:
//! chains of availability and visibility.

use super::tests::{
    Definition, Engine, Event, Happening, KINDS, SUBGROUP, events, is_executed, places,
};
use crate::ir::access_facts::{AccessFacts, DeclaredModel, FactsByInstruction};
use crate::ir::atomic::AccessKind;
use crate::ir::memory_semantics::{ACQUIRE, MemoryKinds, RELEASE, Scope};
use crate::memory::race_shadow::AccessStamp;
use crate::memory::vector_clocks::{AccessQuery, is_write};
use vkcert_model::random::SplitMix64;

/// Memory operands of an access: what it does, and to whom it makes available or visible itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Operands {
    touch: AccessKind,
    own: Option<Scope>,
}

/// Chains of availability and visibility (Vulkan specification, *location-ordered*), over a history
/// in a module that declares the Vulkan memory model.
pub(super) struct Chains<'a> {
    definition: Definition<'a>,
    operands: &'a [Operands],
    kind: MemoryKinds,
    before: Vec<Vec<bool>>,
}

pub(super) const DOMAINS: [Scope; 3] = [Scope::Subgroup, Scope::Workgroup, Scope::Device];

impl Chains<'_> {
    fn at(&self, event: usize) -> &Happening {
        &self.definition.0[event]
    }

    fn happens_before(&self, a: usize, b: usize) -> bool {
        self.before[a][b] || self.definition.program_ordered(a, b)
    }

    fn share(&self, a: usize, b: usize, domain: Scope) -> bool {
        let (one, two) = (self.at(a), self.at(b));
        let near = one.workgroup == two.workgroup;
        match domain {
            Scope::Subgroup => near && one.invocation / SUBGROUP == two.invocation / SUBGROUP,
            Scope::Workgroup => near,
            Scope::Invocation | Scope::Device => true,
        }
    }

    /// The scope of an event that makes everything of the kind available, or visible.
    fn operation(
        &self,
        event: usize,
        kinds: fn(&Happening) -> MemoryKinds,
        semantics: u32,
    ) -> Option<Scope> {
        let one = self.at(event);
        let fence = one.fence().filter(|fence| fence.semantics & semantics != 0)?;
        kinds(one).contains(self.kind).then_some(fence.reach())
    }

    /// The operations that end a chain of availability of a write, to a domain.
    fn available(&self, write: usize, domain: Scope) -> Vec<usize> {
        let narrower = || {
            DOMAINS
                .into_iter()
                .filter(|one| *one < domain)
                .map(|one| (one, self.available(write, one)))
        };
        let chains: Vec<(Scope, Vec<usize>)> = narrower().collect();
        let ends = |event: usize| {
            if event == write {
                return self.operands[write].own.is_some_and(|scope| scope >= domain);
            }
            let reach = self.operation(event, Happening::releases, 0x2000);
            reach.is_some_and(|scope| scope >= domain)
                && (self.definition.program_ordered(write, event)
                    || chains.iter().any(|(narrow, ends)| {
                        let linked = |end: &usize| {
                            self.happens_before(*end, event) && self.share(*end, event, *narrow)
                        };
                        ends.iter().any(linked)
                    }))
        };
        (0..self.definition.0.len()).filter(|event| ends(*event)).collect()
    }

    /// The operations that begin a chain of visibility to a read, from a domain.
    fn visible(&self, read: usize, domain: Scope) -> Vec<usize> {
        let narrower = || {
            DOMAINS
                .into_iter()
                .filter(|one| *one < domain)
                .map(|one| (one, self.visible(read, one)))
        };
        let chains: Vec<(Scope, Vec<usize>)> = narrower().collect();
        let begins = |event: usize| {
            if event == read {
                return self.operands[read].own.is_some_and(|scope| scope >= domain);
            }
            let reach = self.operation(event, Happening::acquires, 0x4000);
            reach.is_some_and(|scope| scope >= domain)
                && (self.definition.program_ordered(event, read)
                    || chains.iter().any(|(narrow, begins)| {
                        let linked = |begin: &usize| {
                            self.happens_before(event, *begin) && self.share(event, *begin, *narrow)
                        };
                        begins.iter().any(linked)
                    }))
        };
        (0..self.definition.0.len()).filter(|event| begins(*event)).collect()
    }

    fn are_ordered(&self, first: usize, second: usize) -> bool {
        if self.definition.program_ordered(first, second) {
            return true;
        }
        if !is_write(self.operands[first].touch) {
            return self.before[first][second];
        }
        DOMAINS.into_iter().any(|domain| {
            let linked = |a: usize, b: usize| self.happens_before(a, b) && self.share(a, b, domain);
            let ends = self.available(first, domain);
            if is_write(self.operands[second].touch) {
                return ends.iter().any(|end| linked(*end, second));
            }
            let begins = self.visible(second, domain);
            ends.iter().any(|end| begins.iter().any(|begin| linked(*end, *begin)))
        })
    }
}

/// Accesses of a history in a module of the Vulkan memory model, where fences make available and
/// visible only if they say so.
pub(super) fn explicit_events(draw: &mut SplitMix64) -> (Vec<Happening>, Vec<Operands>) {
    let mut history: Vec<Happening> = (0..3).flat_map(|part| events(draw, 100 * part)).collect();
    let mut operands = Vec::new();
    for one in &mut history {
        let mut pick = |count: usize| draw.integer(0, count as i128 - 1) as usize;
        let touch = [AccessKind::Read, AccessKind::Write][pick(2)];
        let own = [None, None, Some(Scope::Subgroup), Some(Scope::Workgroup), Some(Scope::Device)]
            [pick(5)];
        operands.push(Operands { touch, own });
        let chance = [pick(4) > 0, pick(4) > 0];
        let (fence, [available, visible]) = match &mut one.event {
            Event::Access(_) => continue,
            Event::Fence(fence) | Event::Atomic { fence, .. } => (fence, chance),
            // All who meet have the same semantics.
            Event::Barrier { fence, number, .. } => (fence, [*number % 4 > 0, *number % 5 > 0]),
        };
        let (releases, acquires) = (fence.semantics & RELEASE != 0, fence.semantics & ACQUIRE != 0);
        fence.semantics |= if releases && available { 0x2000 } else { 0 };
        fence.semantics |= if acquires && visible { 0x4000 } else { 0 };
    }
    (history, operands)
}

#[test]
pub(super) fn accesses_are_ordered_by_chains_as_the_memory_model_defines() {
    let mut draw = SplitMix64::new(29);
    let (mut ordered, mut unordered, mut broken) = (0, 0, 0);
    for round in 0..4_000 {
        let (history, operands) = explicit_events(&mut draw);
        let mut places = places(&history);
        places = FactsByInstruction::from_facts(
            DeclaredModel::Vulkan,
            history.iter().enumerate().map(|(at, one)| {
                let facts = AccessFacts {
                    available: operands[at].own,
                    visible: operands[at].own,
                    ..AccessFacts::default()
                };
                let accesses = matches!(one.event, Event::Access(_));
                (at as u32, if accesses { facts } else { places.facts_at(at as u32) })
            }),
        );
        let chains = KINDS.map(|kind| {
            let definition = Definition(&history);
            let before = definition.happens_before(kind);
            Chains { definition, operands: &operands, kind, before }
        });
        let mut engine = Engine { whole: round % 2 == 0, ..Engine::new(places) };
        let mut stamps: Vec<(usize, AccessStamp)> = Vec::new();
        for (at, one) in history.iter().enumerate() {
            if !is_executed(&history, at) {
                continue;
            }
            engine.run(one.workgroup);
            let Some(stamp) = engine.act(one.invocation, one.event, at as u32) else { continue };
            let Event::Access(kind) = one.event else { continue };
            let number = KINDS.iter().position(|other| *other == kind).unwrap();
            let touch = operands[at].touch;
            let asked = AccessQuery {
                access_kind: touch,
                invocation: one.invocation,
                source_index: at as u32,
            };
            for (earlier, other) in
                stamps.iter().filter(|(earlier, _)| history[*earlier].event == one.event)
            {
                let before = operands[*earlier].touch;
                if !is_write(before) && !is_write(touch) {
                    continue;
                }
                let due = chains[number].are_ordered(*earlier, at);
                let found = engine.order.missing_order((*other, before), &asked, kind).is_none();
                assert!(due || !found, "{earlier} and {at} of {history:?} {operands:?}");
                broken += u32::from(due && !found);
                *(if due { &mut ordered } else { &mut unordered }) += 1;
            }
            stamps.push((at, stamp));
        }
    }
    println!(
        "{ordered} pairs in order, {broken} of them by chains that leave and come back; {unordered} not"
    );
    assert!(ordered > 1_000 && unordered > 1_000, "{ordered} {unordered}");
    assert!(broken * 1000 < ordered, "{broken} of {ordered}");
}
