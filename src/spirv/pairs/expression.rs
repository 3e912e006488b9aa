//! Indices and conditions as invocations compute them for an access.
//!
//! Knows: forms of indices; what variables and phis hold; operations on 32-bit integers; branches
//! that dominate an access, joined by logical operators or by short-circuit evaluation.
//! Promises: an expression is what the index is, in terms of what variables hold where the access
//! is executed: a load of a variable that may be stored to between the load and the access is
//! unknown. A condition holds whenever the access is executed.
//! Does not cover: what callers decide; variables that are stored to in parts or through pointers.

use super::executors::Executors;
use super::index_form::IndexForm;
use super::index_forms::IndexForms;
use super::word::Symbol;
use crate::constants::ConstantValue;
use crate::flow::access::written_pointer;
use crate::flow::live::BlockOf;
use crate::flow::pointer::{PointerAnalysis, PointerRoot};
use crate::module::{Id, Instruction};
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass};
use std::cell::{Cell, OnceCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// What an invocation computes.
#[derive(Debug, Clone)]
pub(super) enum Expression {
    /// A form of which all is told.
    Form(Rc<IndexForm>),
    /// A form of which the lowest bits are told.
    LowBits(Rc<IndexForm>),
    /// What a variable or a phi holds, with a form that tells its lowest bits.
    Held(Id, Option<Rc<IndexForm>>),
    Operation(Op, Vec<Expression>),
    Unknown,
}

impl Expression {
    pub(super) fn add_symbols(&self, symbols: &mut BTreeSet<Symbol>) {
        match self {
            Expression::Form(form) => {
                symbols.extend(form.terms().map(|(term, _)| Symbol::Term(term)));
            }
            Expression::Held(id, _) => {
                symbols.insert(Symbol::Held(*id));
            }
            Expression::Operation(_, operands) => {
                operands.iter().for_each(|operand| operand.add_symbols(symbols));
            }
            Expression::LowBits(_) | Expression::Unknown => {}
        }
    }
}

/// What must hold for an access to be executed.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    /// A comparison, and its result.
    Comparison(Op, [Expression; 2], bool),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Unknown,
}

impl Condition {
    pub(super) fn add_symbols(&self, symbols: &mut BTreeSet<Symbol>) {
        match self {
            Condition::Comparison(_, sides, _) => {
                sides.iter().for_each(|side| side.add_symbols(symbols));
            }
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().for_each(|part| part.add_symbols(symbols));
            }
            Condition::Unknown => {}
        }
    }
}

/// One access as an invocation comes to it.
#[derive(Debug)]
pub(super) struct AccessExpressions {
    /// Of the indices on the way into the object, members left out.
    pub indices: Vec<Expression>,
    pub conditions: Vec<Condition>,
}

/// The stores to a variable.
#[derive(Debug)]
struct VariableStores {
    /// By source index.
    stores: Vec<usize>,
    /// Whether each is to the whole variable, by its own name.
    are_whole: bool,
}

/// Where expressions are asked for.
struct Site {
    access: usize,
    /// A block that is not executed between the operands and the access.
    boundary: Option<BlockOf>,
    /// How many more parts are looked at.
    parts_left: Rc<Cell<usize>>,
}

/// Most parts of the expressions of one access.
const MOST_PARTS: usize = 512;

/// Most dominating branches that are looked at.
const MOST_GUARDS: usize = 32;

/// Deepest nesting of conditions that is followed.
const MAX_DEPTH: usize = 32;

/// The expressions of a kernel.
pub(super) struct Expressions<'a> {
    pointers: &'a PointerAnalysis<'a>,
    forms: &'a IndexForms<'a>,
    executors: &'a Executors<'a>,
    /// By variable.
    stores: OnceCell<HashMap<Id, VariableStores>>,
}

impl<'a> Expressions<'a> {
    pub(super) fn new(
        pointers: &'a PointerAnalysis<'a>,
        forms: &'a IndexForms<'a>,
        executors: &'a Executors<'a>,
    ) -> Self {
        Self { pointers, forms, executors, stores: OnceCell::new() }
    }

    fn all_stores(&self) -> HashMap<Id, VariableStores> {
        let pointers = self.pointers;
        let mut all_stores: HashMap<Id, VariableStores> = HashMap::new();
        for index in pointers.live.live_instructions() {
            let store = &pointers.module.instructions[index];
            let Some(target) = written_pointer(pointers.module, store) else { continue };
            for root in pointers.roots_of(target).iter() {
                let PointerRoot::Variable(variable, _) = root else { continue };
                let definition = pointers.module.definition(*variable);
                let has_initializer =
                    definition.is_none_or(|definition| definition.operands.len() > 1);
                let is_whole = store.op == Op::Store && target == *variable && !has_initializer;
                let variable_stores = all_stores
                    .entry(*variable)
                    .or_insert_with(|| VariableStores { stores: Vec::new(), are_whole: true });
                variable_stores.stores.push(index);
                variable_stores.are_whole &= is_whole;
            }
        }
        all_stores
    }

    /// The stores to a variable of an invocation by source index, where each is to the whole of it.
    pub(super) fn stores_of(&self, variable: Id) -> Option<&[usize]> {
        let class = self.storage_class(variable)?;
        let is_own = matches!(class, StorageClass::Function | StorageClass::Private);
        let variable_stores = self.stores.get_or_init(|| self.all_stores()).get(&variable)?;
        (is_own && variable_stores.are_whole).then_some(variable_stores.stores.as_slice())
    }

    fn storage_class(&self, variable: Id) -> Option<StorageClass> {
        let definition = self.pointers.module.definition(variable)?;
        let class = self.pointers.types.storage_class(definition.result_type?)?;
        (definition.op == Op::Variable).then_some(class)
    }

    /// The expressions of an access through a chain of indices from a variable; none of others.
    pub(super) fn of_access(&self, access: usize, indices: &[Id]) -> Option<AccessExpressions> {
        let module = self.pointers.module;
        let instruction = &module.instructions[access];
        let has_pointer = matches!(instruction.op, Op::Load | Op::Store);
        let chain = self.chain_indices(instruction.id(0).filter(|_| has_pointer)?)?;
        if !indices.iter().all(|index| chain.contains(index)) {
            return None;
        }
        let parts_left = Rc::new(Cell::new(MOST_PARTS));
        let site = Site { access, boundary: None, parts_left };
        let indices = indices.iter().map(|index| self.expression(*index, &site, MAX_DEPTH));
        Some(AccessExpressions { indices: indices.collect(), conditions: self.conditions(&site) })
    }

    /// The expressions of the coordinate of a texel, component by component.
    pub(super) fn of_texel(&self, access: usize, coordinate: Id) -> AccessExpressions {
        let parts_left = Rc::new(Cell::new(MOST_PARTS));
        let site = Site { access, boundary: None, parts_left };
        let forms = self.forms.forms_of_coordinate(coordinate);
        let scalars = self.scalars_of(coordinate, forms.len());
        let components = forms.into_iter().enumerate().map(|(component, form)| {
            match (form, scalars.get(component)) {
                (Some(form), _) if form.is_exact() => Expression::Form(form),
                (_, Some(scalar)) => self.expression(*scalar, &site, MAX_DEPTH),
                (Some(form), None) => Expression::LowBits(form),
                (None, None) => Expression::Unknown,
            }
        });
        AccessExpressions { indices: components.collect(), conditions: self.conditions(&site) }
    }

    /// The scalars that a vector is made of, one for each component; none where it is made
    /// otherwise.
    fn scalars_of(&self, vector: Id, count: usize) -> Vec<Id> {
        if count == 1 {
            return vec![vector];
        }
        let mut made = vector;
        for _ in 0..MAX_DEPTH {
            let Some(definition) = self.pointers.module.definition(made) else { break };
            let inner = match definition.op {
                Op::CompositeConstruct if definition.operands.len() == count => {
                    return definition.ids().collect();
                }
                Op::Bitcast | Op::CopyObject => definition.id(0),
                Op::Load => self.only_value(made, definition),
                _ => None,
            };
            match inner {
                Some(inner) => made = inner,
                None => break,
            }
        }
        Vec::new()
    }

    /// What the only store to a variable stores, where it comes before a load of it.
    fn only_value(&self, result: Id, load: &Instruction) -> Option<Id> {
        let [store] = *self.stores_of(load.id(0)?)? else { return None };
        let load_index = self.pointers.module.definition_index(result)?;
        self.executors.dominates(store, load_index).then(|| self.stored_value(store))?
    }

    /// What a store stores, and what dominates it.
    pub(super) fn of_store(&self, store: usize) -> Option<(Expression, Vec<Condition>)> {
        let value = self.stored_value(store)?;
        let parts_left = Rc::new(Cell::new(MOST_PARTS));
        let site = Site { access: store, boundary: None, parts_left };
        Some((self.expression(value, &site, MAX_DEPTH), self.conditions(&site)))
    }

    /// The indices of the chains from a variable to a pointer.
    fn chain_indices(&self, pointer: Id) -> Option<Vec<Id>> {
        let mut indices = Vec::new();
        let mut base = pointer;
        loop {
            let definition = self.pointers.module.definition(base)?;
            match definition.op {
                Op::AccessChain | Op::InBoundsAccessChain => {
                    indices.extend(definition.ids().skip(1));
                    base = definition.id(0)?;
                }
                Op::Variable => return Some(indices),
                _ => return None,
            }
        }
    }

    /// What dominates an access, the nearest first.
    fn conditions(&self, site: &Site) -> Vec<Condition> {
        let Some((function, mut block)) = self.pointers.live.block_of(site.access) else {
            return Vec::new();
        };
        let mut conditions = Vec::new();
        for _ in 0..4096 {
            if conditions.len() == MOST_GUARDS {
                break;
            }
            let guard = self.executors.guard_of((function, block));
            conditions.extend(
                guard.map(|(condition, wanted)| self.condition(condition, wanted, site, MAX_DEPTH)),
            );
            match self.executors.dominator_of((function, block)) {
                Some(dominator) => block = dominator,
                None => break,
            }
        }
        conditions
    }

    /// What a value must be made of to be `wanted`.
    fn condition(&self, id: Id, wanted: bool, site: &Site, depth: usize) -> Condition {
        let Some(definition) = self.pointers.module.definition(id).filter(|_| depth > 0) else {
            return Condition::Unknown;
        };
        if let Some(ConstantValue::Bool(value)) = self.pointers.constants.value(id) {
            let is_met = *value == wanted;
            return if is_met { Condition::All(Vec::new()) } else { Condition::Any(Vec::new()) };
        }
        let operand = |index: usize, wanted: bool| match definition.id(index) {
            Some(operand) => self.condition(operand, wanted, site, depth - 1),
            None => Condition::Unknown,
        };
        match (definition.op, wanted) {
            (Op::LogicalNot, _) => operand(0, !wanted),
            (Op::LogicalAnd, true) | (Op::LogicalOr, false) => {
                Condition::All(vec![operand(0, wanted), operand(1, wanted)])
            }
            (Op::LogicalAnd, false) | (Op::LogicalOr, true) => {
                Condition::Any(vec![operand(0, wanted), operand(1, wanted)])
            }
            (Op::Phi, _) => {
                let sources = self.joined(id, definition, wanted, site, depth - 1);
                match sources.map(<[Condition; 1]>::try_from) {
                    Some(Ok([only])) => only,
                    Some(Err(sources)) => Condition::Any(sources),
                    None => Condition::Unknown,
                }
            }
            (op, _) if is_comparison(op) => match [definition.id(0), definition.id(1)] {
                [Some(left), Some(right)] if self.is_word(left) => {
                    let sides = [left, right].map(|side| self.expression(side, site, depth - 1));
                    Condition::Comparison(op, sides, wanted)
                }
                _ => Condition::Unknown,
            },
            _ => Condition::Unknown,
        }
    }

    /// For each source of a phi of `&&` or `||`: that control comes from there, and that the value
    /// from there is the wanted one. Between it and the access, the block that dominates the phi is
    /// not executed, for the phi would be executed again.
    fn joined(
        &self,
        result: Id,
        phi: &Instruction,
        wanted: bool,
        site: &Site,
        depth: usize,
    ) -> Option<Vec<Condition>> {
        let live = self.pointers.live;
        let (function, block) = live.block_of(self.pointers.module.definition_index(result)?)?;
        let dominator = self.executors.dominator_of((function, block))?;
        let inner_site = Site {
            access: site.access,
            boundary: Some((function, dominator)),
            parts_left: Rc::clone(&site.parts_left),
        };
        let mut sources = Vec::new();
        for source in phi.operands.chunks_exact(2) {
            let [Operand::IdRef(value), Operand::IdRef(label)] = source else { return None };
            let (_, source_block) = live.block_labelled(function, *label)?;
            // Sources behind the phi are those of a loop.
            if source_block >= block {
                return None;
            }
            let edge = self.executors.edge_guard((function, source_block), block);
            // `a || b` is not false where control comes from `a` being true.
            if edge.map(|(id, taken)| self.without_not(id, taken))
                == Some(self.without_not(*value, !wanted))
            {
                continue;
            }
            let mut parts = vec![self.condition(*value, wanted, &inner_site, depth)];
            let mut guards: Vec<(Id, bool)> = edge.into_iter().collect();
            let mut inner_block = source_block;
            while inner_block != dominator {
                guards.extend(self.executors.guard_of((function, inner_block)));
                inner_block = self.executors.dominator_of((function, inner_block))?;
            }
            let conditions = guards
                .into_iter()
                .map(|(id, wanted)| self.condition(id, wanted, &inner_site, depth));
            parts.extend(conditions);
            sources.push(Condition::All(parts));
        }
        Some(sources)
    }

    /// What a condition negates, and the value of that.
    fn without_not(&self, id: Id, wanted: bool) -> (Id, bool) {
        let (mut inner, mut inner_wanted) = (id, wanted);
        for _ in 0..MAX_DEPTH {
            let negation = self.pointers.module.definition(inner);
            let negated = negation.filter(|negation| negation.op == Op::LogicalNot);
            let Some(operand) = negated.and_then(|negation| negation.id(0)) else { break };
            (inner, inner_wanted) = (operand, !inner_wanted);
        }
        (inner, inner_wanted)
    }

    fn is_word(&self, id: Id) -> bool {
        let definition = self.pointers.module.definition(id);
        let type_id = definition.and_then(|definition| definition.result_type);
        type_id.is_some_and(|type_id| self.forms.is_scalar_word(type_id))
    }

    fn expression(&self, id: Id, site: &Site, depth: usize) -> Expression {
        let form = self.forms.form_of(id);
        if let Some(form) = form.as_ref().filter(|form| form.is_exact()) {
            return Expression::Form(Rc::clone(form));
        }
        let part_count = site.parts_left.get();
        let definition = self.pointers.module.definition(id).filter(|_| self.is_word(id));
        let Some(definition) = definition.filter(|_| depth > 0 && part_count > 0) else {
            return Expression::Unknown;
        };
        site.parts_left.set(part_count - 1);
        let own = match definition.op {
            Op::Load => self.loaded(id, definition, form.clone(), site, depth - 1),
            Op::Phi => Some(Expression::Held(id, form.clone())),
            op if is_followed(op) => {
                let operands = definition.ids();
                let operands = operands.map(|operand| self.expression(operand, site, depth - 1));
                Some(Expression::Operation(op, operands.collect()))
            }
            _ => None,
        };
        own.or(form.map(Expression::LowBits)).unwrap_or(Expression::Unknown)
    }

    /// What a variable holds: what its only store has stored, or what it still holds at the access.
    fn loaded(
        &self,
        result: Id,
        load: &Instruction,
        form: Option<Rc<IndexForm>>,
        site: &Site,
        depth: usize,
    ) -> Option<Expression> {
        let variable = load.id(0)?;
        let load_index = self.pointers.module.definition_index(result)?;
        let stores = self.stores_of(variable)?;
        if let [store] = *stores {
            let value = self.pointers.module.instructions[store].id(1)?;
            let dominates = self.executors.dominates(store, load_index);
            return dominates.then(|| self.expression(value, site, depth));
        }
        let is_private = self.storage_class(variable) == Some(StorageClass::Private);
        let may_change = |index: usize| {
            let is_call = self.pointers.module.instructions[index].op == Op::FunctionCall;
            stores.contains(&index) || is_private && is_call
        };
        self.executors
            .is_free_between(load_index, site.access, site.boundary, may_change)
            .then_some(Expression::Held(variable, form))
    }

    /// The value that a store stores.
    pub(super) fn stored_value(&self, store: usize) -> Option<Id> {
        self.pointers.module.instructions[store].id(1)
    }

    /// The number that is the same in all of a dispatch, if an id is one.
    pub(super) fn constant(&self, id: Id) -> Option<u32> {
        self.forms.form_of(id)?.constant_value()
    }

    pub(super) fn definition(&self, id: Id) -> Option<&'a Instruction> {
        self.pointers.module.definition(id)
    }

    pub(super) fn definition_index(&self, id: Id) -> Option<usize> {
        self.pointers.module.definition_index(id)
    }
}

fn is_comparison(op: Op) -> bool {
    super::word::comparison(op, 0, 0).is_some()
}

/// Operations on integers that are followed.
fn is_followed(op: Op) -> bool {
    let unary = matches!(op, Op::Bitcast | Op::CopyObject | Op::SNegate | Op::Not);
    unary || super::word::folded(op, 1, 1).is_some()
}
