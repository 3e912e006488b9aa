//! Which instructions an invocation can come to between two barriers of its workgroup, and behind
//! one.
//!
//! Knows: the control flow of all functions that an entry point reaches as one graph: pieces of
//! blocks that end at calls and at control barriers of the workgroup. A call is entered, and it is
//! passed as a whole where the callee can return; so nobody comes back to another call than the one
//! that was made.
//! Promises: every way of an invocation is among the ways here; ways that values exclude are there
//! too. Work is linear in the graph for each start.
//! Does not cover: which value a branch depends on.

use super::node_set::NodeSet;
use crate::barriers::holds_workgroup;
use crate::flow::live::{LiveCode, possible_targets};
use crate::fold::ConstantFolding;
use crate::module::{Function, Id, is_terminator};
use rspirv::spirv::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A piece of a block: no barrier and no call in it but at its end.
#[derive(Debug)]
struct Piece {
    /// Index of its last instruction.
    last: usize,
    end: PieceEnd,
}

#[derive(Debug)]
enum PieceEnd {
    /// Goes on in one of these pieces.
    Flow(Vec<usize>),
    /// Calls a function and goes on in a piece behind the call.
    Call { callee: Id, behind: usize },
    /// Waits for the workgroup and goes on.
    Barrier { behind: usize },
    /// Returns to the caller.
    Return,
    /// Ends the invocation.
    End,
}

/// Pieces of a function.
#[derive(Debug)]
struct FunctionPieces {
    entry: usize,
    /// Pieces that control returns to behind a call of it.
    behind_calls: Vec<usize>,
}

/// Which ways are followed: those that end at certain barriers.
#[derive(Debug)]
pub(super) struct FollowedWays {
    /// Barriers at which ways end, by source index.
    stops: BTreeSet<usize>,
    /// Functions that can return on such a way.
    returning: BTreeSet<Id>,
}

impl FollowedWays {
    /// The barriers at which ways end but for one.
    pub(super) fn stops_without(&self, barrier: usize) -> BTreeSet<usize> {
        self.stops.iter().copied().filter(|stop| *stop != barrier).collect()
    }

    /// Whether ways end at a barrier.
    pub(super) fn ends_at(&self, barrier: usize) -> bool {
        self.stops.contains(&barrier)
    }
}

/// Whether a way has left the function that it began in only by returning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CallLevel {
    /// It has entered no function since, and may return to any caller.
    Outer,
    /// It is inside of a call that it entered; what comes behind is reached past the call.
    Inner,
}

/// The pieces of a kernel.
#[derive(Debug)]
pub(super) struct IntervalGraph {
    pieces: Vec<Piece>,
    functions: BTreeMap<Id, FunctionPieces>,
    /// The piece that a barrier ends, by its source index.
    barriers: BTreeMap<usize, usize>,
    /// First instruction of each piece with its number, ascending.
    starts: Vec<(usize, usize)>,
    /// The first instruction of each piece by its number.
    first_instructions: Vec<usize>,
    entry_function: Id,
}

/// Where ways begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum IntervalStart {
    /// The entry of the kernel.
    Entry,
    /// A barrier, by its source index.
    Barrier(usize),
}

/// What ways come to.
#[derive(Debug)]
pub(super) struct ReachedPieces {
    /// Pieces that are executed.
    pub pieces: NodeSet,
    /// Barriers that are come to, by source index.
    pub barriers: BTreeSet<usize>,
}

impl IntervalGraph {
    pub(super) fn of_kernel(
        folding: &ConstantFolding<'_>,
        live: &LiveCode<'_>,
        entry_function: Id,
    ) -> Self {
        let mut graph = Self {
            pieces: Vec::new(),
            functions: BTreeMap::new(),
            barriers: BTreeMap::new(),
            starts: Vec::new(),
            first_instructions: Vec::new(),
            entry_function,
        };
        for (function, live_blocks) in live.live_functions() {
            graph.add_function(folding, function, live_blocks);
        }
        let mut by_number: Vec<[usize; 2]> =
            graph.starts.iter().map(|(start, number)| [*number, *start]).collect();
        by_number.sort_unstable();
        graph.first_instructions = by_number.iter().map(|[_, start]| *start).collect();
        graph.starts.sort_unstable();
        graph.connect_calls();
        graph
    }

    /// Cuts the blocks of a function into pieces.
    fn add_function(
        &mut self,
        folding: &ConstantFolding<'_>,
        function: &Function,
        live_blocks: &BTreeSet<usize>,
    ) {
        let module = folding.module;
        let mut first_pieces: HashMap<Id, usize> = HashMap::new();
        let mut flows: Vec<(usize, Vec<Id>)> = Vec::new();
        for block in live_blocks.iter().map(|block| &function.blocks[*block]) {
            first_pieces.insert(block.label, self.pieces.len());
            self.starts.push((block.range.start, self.pieces.len()));
            for index in block.instruction_indices() {
                let instruction = &module.instructions[index];
                let number = self.pieces.len();
                let end = match instruction.op {
                    Op::FunctionCall => {
                        let callee = instruction.id(0).unwrap_or_default();
                        PieceEnd::Call { callee, behind: number + 1 }
                    }
                    Op::ControlBarrier if holds_workgroup(module, instruction) => {
                        self.barriers.insert(index, number);
                        PieceEnd::Barrier { behind: number + 1 }
                    }
                    Op::Return | Op::ReturnValue => PieceEnd::Return,
                    op if is_terminator(op) => {
                        flows.push((number, possible_targets(folding, instruction)));
                        PieceEnd::End
                    }
                    _ => continue,
                };
                if matches!(end, PieceEnd::Call { .. } | PieceEnd::Barrier { .. }) {
                    self.starts.push((index + 1, number + 1));
                }
                self.pieces.push(Piece { last: index, end });
            }
        }
        for (number, labels) in flows {
            let targets: Vec<usize> =
                labels.iter().filter_map(|label| first_pieces.get(label).copied()).collect();
            if !targets.is_empty() {
                self.pieces[number].end = PieceEnd::Flow(targets);
            }
        }
        let entry_label = function.blocks.first().map(|block| block.label);
        if let Some(entry) = entry_label.and_then(|label| first_pieces.get(&label)) {
            let pieces = FunctionPieces { entry: *entry, behind_calls: Vec::new() };
            self.functions.insert(function.id, pieces);
        }
    }

    /// Tells where calls return to.
    fn connect_calls(&mut self) {
        for piece in &self.pieces {
            if let PieceEnd::Call { callee, behind } = piece.end
                && let Some(function) = self.functions.get_mut(&callee)
            {
                function.behind_calls.push(behind);
            }
        }
    }

    /// The ways that end at each of these barriers.
    pub(super) fn ways_up_to(&self, stops: BTreeSet<usize>) -> FollowedWays {
        let mut ways = FollowedWays { stops, returning: BTreeSet::new() };
        // Calls have no cycles (SPIR-V specification, "Universal Validation Rules"): after as many
        // rounds as calls are deep nothing changes.
        loop {
            let pending = self.functions.keys().filter(|id| !ways.returning.contains(*id));
            let new_ids: Vec<Id> =
                pending.copied().filter(|id| self.finds_return(*id, &ways)).collect();
            if new_ids.is_empty() {
                return ways;
            }
            ways.returning.extend(new_ids);
        }
    }

    /// Whether control that enters a function can come to a return of it.
    fn finds_return(&self, function: Id, ways: &FollowedWays) -> bool {
        let entry = self.functions[&function].entry;
        let (mut visited, mut pending) = (NodeSet::of(self.pieces.len()), vec![entry]);
        while let Some(number) = pending.pop() {
            if !visited.insert(number) {
                continue;
            }
            let piece = &self.pieces[number];
            match &piece.end {
                PieceEnd::Return => return true,
                PieceEnd::End => {}
                PieceEnd::Flow(targets) => pending.extend(targets),
                PieceEnd::Barrier { behind } => {
                    pending.extend((!ways.stops.contains(&piece.last)).then_some(*behind));
                }
                PieceEnd::Call { callee, behind } => {
                    pending.extend(self.passes(*callee, ways).then_some(*behind));
                }
            }
        }
        false
    }

    /// Whether control can come behind a call. A function without a body returns.
    fn passes(&self, callee: Id, ways: &FollowedWays) -> bool {
        !self.functions.contains_key(&callee) || ways.returning.contains(&callee)
    }

    /// The piece that an instruction stands in; none where control does not come to it.
    pub(super) fn piece_of(&self, instruction: usize) -> Option<usize> {
        let behind = self.starts.partition_point(|(start, _)| *start <= instruction);
        let (_, number) = self.starts[..behind].last()?;
        (instruction <= self.pieces[*number].last).then_some(*number)
    }

    /// Source indices of the barriers of the workgroup, ascending.
    pub(super) fn barriers(&self) -> impl Iterator<Item = usize> + '_ {
        self.barriers.keys().copied()
    }

    pub(super) fn piece_count(&self) -> usize {
        self.pieces.len()
    }

    /// No piece at all.
    pub(super) fn no_pieces(&self) -> NodeSet {
        NodeSet::of(self.pieces.len())
    }

    /// Where the intervals between some barriers begin.
    pub(super) fn starts_of(&self, ways: &FollowedWays) -> Vec<IntervalStart> {
        let barriers = ways.stops.iter().copied().map(IntervalStart::Barrier);
        [IntervalStart::Entry].into_iter().chain(barriers).collect()
    }

    /// What comes behind the end of a piece.
    pub(super) fn reached_behind(&self, number: usize, ways: &FollowedWays) -> ReachedPieces {
        let mut exploration = Exploration::of(self, ways);
        exploration.leave(number, CallLevel::Outer);
        exploration.finish()
    }

    /// What comes behind a start.
    pub(super) fn reached_from(&self, start: IntervalStart, ways: &FollowedWays) -> ReachedPieces {
        let first = match start {
            IntervalStart::Entry => {
                self.functions.get(&self.entry_function).map(|function| function.entry)
            }
            IntervalStart::Barrier(barrier) => self.behind_barrier(barrier),
        };
        let mut exploration = Exploration::of(self, ways);
        exploration.pending.extend(first.map(|first| (first, CallLevel::Outer, Arrival::AtStart)));
        exploration.finish()
    }

    /// Whether control can come to a return of the kernel itself.
    pub(super) fn returns_from_kernel(&self, reached: &ReachedPieces) -> bool {
        let Some(kernel) = self.functions.get(&self.entry_function) else { return false };
        let is_of_kernel = |number: usize| {
            self.function_of_piece(number).is_some_and(|function| function.entry == kernel.entry)
        };
        reached.pieces.numbers().any(|number| {
            self.pieces.get(number).is_some_and(|piece| matches!(piece.end, PieceEnd::Return))
                && is_of_kernel(number)
        })
    }

    /// The shortest ways from behind a piece to all that comes behind it.
    pub(super) fn ways_behind(&self, from: usize, ways: &FollowedWays) -> WaysBehind {
        let mut exploration = Exploration::of(self, ways);
        exploration.leave(from, CallLevel::Outer);
        let mut first_levels = vec![None; self.pieces.len()];
        while let Some((number, level)) = exploration.step() {
            first_levels[number].get_or_insert(level);
        }
        WaysBehind { first_levels, arrivals: exploration.arrivals }
    }

    /// The first instructions of the pieces on a way to a piece, that one included; none where
    /// there is no way.
    pub(super) fn way_to(&self, to: usize, ways: &WaysBehind) -> Option<Vec<usize>> {
        let trail = ways.trail(to, ways.first_levels[to]?).into_iter();
        Some(trail.map(|number| self.first_instructions[number]).collect())
    }

    fn behind_barrier(&self, barrier: usize) -> Option<usize> {
        match self.pieces[*self.barriers.get(&barrier)?].end {
            PieceEnd::Barrier { behind } => Some(behind),
            PieceEnd::Flow(_) | PieceEnd::Call { .. } | PieceEnd::Return | PieceEnd::End => None,
        }
    }

    /// Pieces of a function follow its entry.
    fn function_of_piece(&self, number: usize) -> Option<&FunctionPieces> {
        self.functions
            .values()
            .filter(|function| function.entry <= number)
            .max_by_key(|function| function.entry)
    }
}

/// A piece as ways come to it.
type ReachedState = (usize, CallLevel);

/// How a state is come to first.
#[derive(Debug, Clone, Copy)]
enum Arrival {
    Never,
    /// Ways begin there.
    AtStart,
    From(ReachedState),
}

/// The shortest ways from behind a piece.
#[derive(Debug)]
pub(super) struct WaysBehind {
    /// By piece: the level at which a way comes there first.
    first_levels: Vec<Option<CallLevel>>,
    arrivals: Vec<[Arrival; 2]>,
}

impl WaysBehind {
    /// Whether a way comes to a piece.
    pub(super) fn reaches(&self, number: usize) -> bool {
        self.first_levels[number].is_some()
    }

    /// The pieces on the way to a state.
    fn trail(&self, number: usize, level: CallLevel) -> Vec<usize> {
        let mut trail = Vec::new();
        let mut state = (number, level);
        loop {
            trail.push(state.0);
            match self.arrivals[state.0][state.1 as usize] {
                Arrival::From(origin) => state = origin,
                Arrival::Never | Arrival::AtStart => break,
            }
        }
        trail.reverse();
        trail
    }
}

/// Ways that are being followed, the shortest first.
struct Exploration<'a> {
    graph: &'a IntervalGraph,
    ways: &'a FollowedWays,
    outer_pieces: NodeSet,
    inner_pieces: NodeSet,
    barriers: BTreeSet<usize>,
    /// With the state that each was come to from.
    pending: VecDeque<(usize, CallLevel, Arrival)>,
    /// By piece and level.
    arrivals: Vec<[Arrival; 2]>,
}

impl<'a> Exploration<'a> {
    fn of(graph: &'a IntervalGraph, ways: &'a FollowedWays) -> Self {
        Self {
            graph,
            ways,
            outer_pieces: graph.no_pieces(),
            inner_pieces: graph.no_pieces(),
            barriers: BTreeSet::new(),
            pending: VecDeque::new(),
            arrivals: vec![[Arrival::Never; 2]; graph.pieces.len()],
        }
    }

    fn finish(mut self) -> ReachedPieces {
        while self.step().is_some() {}
        let mut pieces = self.outer_pieces;
        pieces.unite(&self.inner_pieces);
        ReachedPieces { pieces, barriers: self.barriers }
    }

    /// Comes to the next new piece; none when there is no more.
    fn step(&mut self) -> Option<ReachedState> {
        while let Some((number, level, origin)) = self.pending.pop_front() {
            let is_new = match level {
                CallLevel::Outer => self.outer_pieces.insert(number),
                // What the outer level has reached need not be looked at inside again.
                CallLevel::Inner => {
                    !self.outer_pieces.contains(number) && self.inner_pieces.insert(number)
                }
            };
            if is_new {
                self.arrivals[number][level as usize] = origin;
                self.leave(number, level);
                return Some((number, level));
            }
        }
        None
    }

    /// The ways on from the end of a piece.
    fn leave(&mut self, number: usize, level: CallLevel) {
        let graph = self.graph;
        let piece = &graph.pieces[number];
        let origin = match self.arrivals[number][level as usize] {
            Arrival::Never => Arrival::AtStart,
            Arrival::AtStart | Arrival::From(_) => Arrival::From((number, level)),
        };
        match &piece.end {
            PieceEnd::Flow(targets) => {
                self.pending.extend(targets.iter().map(|to| (*to, level, origin)));
            }
            PieceEnd::Barrier { behind } => {
                self.barriers.insert(piece.last);
                if !self.ways.stops.contains(&piece.last) {
                    self.pending.push_back((*behind, level, origin));
                }
            }
            PieceEnd::Call { callee, behind } => {
                let entry = graph.functions.get(callee).map(|function| function.entry);
                self.pending.extend(entry.map(|entry| (entry, CallLevel::Inner, origin)));
                if graph.passes(*callee, self.ways) {
                    self.pending.push_back((*behind, level, origin));
                }
            }
            PieceEnd::Return if level == CallLevel::Outer => {
                let function = graph.function_of_piece(number);
                let behind_calls = function.map_or(&[][..], |function| &function.behind_calls);
                self.pending
                    .extend(behind_calls.iter().map(|behind| (*behind, CallLevel::Outer, origin)));
            }
            PieceEnd::Return | PieceEnd::End => {}
        }
    }
}
