//! Indices as sums over the place of an invocation in its workgroup.
//!
//! Knows: sums, differences, products by constants and shifts of 32-bit integers; built-ins of the
//! invocation; what is the same for a workgroup during a dispatch (workgroup id, push constants,
//! uniform buffers, storage buffers that the kernel does not write, and operations on these);
//! variables that are stored to by one instruction; counters that grow by a constant, as far as
//! each of their values has the same remainder (`for (uint i = lane; i < n; i += 64u)`).
//! Promises: a form holds whenever the index is computed in a dispatch, so that two indices can be
//! compared whoever computes them, and when. An index of which that is not known has no form.
//! Does not cover: other counters, guards, quotients and remainders of invocation ids.

use super::access::descriptor_place;
use super::index_form::{IndexForm, SharedTerm};
use crate::flow::access::written_pointer;
use crate::flow::pointer::{PointerAnalysis, PointerRoot};
use crate::module::{Id, Instruction};
use crate::opcodes::{Effect, effect_of};
use crate::types::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

/// What such a value is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum TermSource {
    WorkgroupId(u32),
    GroupCount(u32),
    /// What a variable holds behind constant or shared indices.
    Memory(Id, Vec<IndexForm>),
    /// An operation, its literal operands, and forms of the others.
    Operation(Op, Vec<u32>, Vec<IndexForm>),
}

/// Forms by id and component; none of what has none.
type KnownForms = HashMap<(Id, Option<u32>), Option<Rc<IndexForm>>>;

/// Forms of the indices of one kernel under one specialization.
pub(super) struct IndexForms<'a> {
    pointers: &'a PointerAnalysis<'a>,
    local_size: [u32; 3],
    /// By variable of an invocation: the values that are stored to the whole of it; none where
    /// anything else changes it.
    stored_values: HashMap<Id, Option<Vec<Id>>>,
    /// Variables that the kernel writes outside of an invocation's own.
    written: HashSet<Id>,
    writes_addresses: bool,
    terms: RefCell<HashMap<Rc<TermSource>, SharedTerm>>,
    /// By the number of a term. What one is made of comes before it.
    sources: RefCell<Vec<Rc<TermSource>>>,
    known: RefCell<KnownForms>,
}

/// Deepest chain of operations that is followed.
const MAX_DEPTH: usize = 64;

impl<'a> IndexForms<'a> {
    pub(super) fn new(pointers: &'a PointerAnalysis<'a>, local_size: [u32; 3]) -> Self {
        let mut forms = Self {
            pointers,
            local_size,
            stored_values: HashMap::new(),
            written: HashSet::new(),
            writes_addresses: false,
            terms: RefCell::default(),
            sources: RefCell::default(),
            known: RefCell::default(),
        };
        for index in pointers.live.live_instructions() {
            let store = &pointers.module.instructions[index];
            let Some(target) = written_pointer(pointers.module, store) else { continue };
            for root in pointers.roots_of(target).iter() {
                match root {
                    PointerRoot::Variable(variable, _) => {
                        forms.note_store(*variable, target, store);
                    }
                    PointerRoot::Address(_) => forms.writes_addresses = true,
                }
            }
        }
        forms
    }

    fn note_store(&mut self, variable: Id, target: Id, store: &Instruction) {
        self.written.insert(variable);
        let has_initializer = self
            .pointers
            .module
            .definition(variable)
            .is_some_and(|definition| definition.operands.len() > 1);
        let is_whole = store.op == Op::Store && (target == variable || self.is_parameter(target));
        let value = store.id(1).filter(|_| is_whole && !has_initializer);
        let stored_values = self.stored_values.entry(variable).or_insert_with(|| Some(Vec::new()));
        *stored_values = stored_values.take().zip(value).map(|(mut values, value)| {
            values.push(value);
            values
        });
    }

    fn is_parameter(&self, id: Id) -> bool {
        self.pointers
            .module
            .definition(id)
            .is_some_and(|definition| definition.op == Op::FunctionParameter)
    }

    /// The form of a scalar; none where it has none.
    pub(super) fn form_of(&self, id: Id) -> Option<Rc<IndexForm>> {
        self.form_at(id, None, 0)
    }

    /// The forms of the components of a coordinate, or of the only one.
    pub(super) fn forms_of_coordinate(&self, id: Id) -> Vec<Option<Rc<IndexForm>>> {
        let definition = self.pointers.module.definition(id);
        let type_id = definition.and_then(|definition| definition.result_type);
        match type_id.and_then(|type_id| self.pointers.types.get(type_id)) {
            Some(Type::Vector { count, .. }) => {
                (0..*count).map(|component| self.form_at(id, Some(component), 0)).collect()
            }
            Some(_) | None => vec![self.form_of(id)],
        }
    }

    /// Of a component of a vector, or of a scalar.
    fn form_at(&self, id: Id, component: Option<u32>, depth: usize) -> Option<Rc<IndexForm>> {
        if let Some(known) = self.known.borrow().get(&(id, component)) {
            return known.clone();
        }
        if depth == MAX_DEPTH {
            return None;
        }
        // Who comes back to itself has no form.
        self.known.borrow_mut().insert((id, component), None);
        let form = self.computed_form(id, component, depth + 1).map(Rc::new);
        self.known.borrow_mut().insert((id, component), form.clone());
        form
    }

    fn computed_form(&self, id: Id, component: Option<u32>, depth: usize) -> Option<IndexForm> {
        let definition = self.pointers.module.definition(id)?;
        if !self.is_word(definition.result_type?) {
            return None;
        }
        if let Some(constant) = self.constant_component(id, component) {
            return Some(IndexForm::constant(constant));
        }
        let operand = |operand_index: usize, component: Option<u32>| {
            self.form_at(definition.id(operand_index)?, component, depth)
        };
        match definition.op {
            Op::IAdd => Some(operand(0, component)?.plus(&*operand(1, component)?, 1)),
            Op::ISub => Some(operand(0, component)?.plus(&*operand(1, component)?, u32::MAX)),
            Op::IMul => {
                let (left, right) = (operand(0, component)?, operand(1, component)?);
                match (left.constant_value(), right.constant_value()) {
                    (_, Some(factor)) => Some(IndexForm::default().plus(&left, factor)),
                    (Some(factor), None) => Some(IndexForm::default().plus(&right, factor)),
                    (None, None) => self.operation(definition, &[left, right]),
                }
            }
            Op::ShiftLeftLogical => {
                let (left, right) = (operand(0, component)?, operand(1, component)?);
                match right.constant_value().filter(|bits| *bits < 32) {
                    Some(bits) => Some(IndexForm::default().plus(&left, 1 << bits)),
                    None => self.operation(definition, &[left, right]),
                }
            }
            Op::Bitcast | Op::CopyObject => operand(0, component).map(|form| (*form).clone()),
            Op::CompositeExtract => match (component, definition.operands.get(1..)?) {
                (None, [Operand::LiteralBit32(component)]) => {
                    operand(0, Some(*component)).map(|form| (*form).clone())
                }
                _ => None,
            },
            Op::CompositeConstruct => self.constructed(definition, component?, depth),
            Op::VectorShuffle => self.shuffled(definition, component?, depth),
            Op::Load => self.loaded(definition.id(0)?, component, depth),
            Op::Phi => {
                let values = definition.operands.iter().step_by(2);
                let values: Vec<Id> = values.filter_map(Operand::id_ref_any).collect();
                self.form_of_values(id, &values, component, depth)
            }
            Op::FunctionParameter => self.agreed(
                self.pointers.passed_arguments(id).collect::<Vec<_>>(),
                component,
                depth,
            ),
            op if effect_of(op) == Some(Effect::Pure) && component.is_none() => {
                let forms = definition.ids().map(|operand| self.form_at(operand, None, depth));
                self.operation(definition, &forms.collect::<Option<Vec<_>>>()?)
            }
            _ => None,
        }
    }

    /// 32-bit integers.
    pub(super) fn is_scalar_word(&self, type_id: Id) -> bool {
        matches!(self.pointers.types.get(type_id), Some(Type::Int { width: 32, .. }))
    }

    /// 32-bit integers and vectors of them.
    fn is_word(&self, type_id: Id) -> bool {
        let types = self.pointers.types;
        let scalar = match types.get(type_id) {
            Some(Type::Vector { component, .. }) => Some(*component),
            Some(_) | None => Some(type_id),
        };
        matches!(scalar.and_then(|scalar| types.get(scalar)), Some(Type::Int { width: 32, .. }))
    }

    fn constant_component(&self, id: Id, component: Option<u32>) -> Option<u32> {
        use crate::constants::ConstantValue;
        match (self.pointers.constants.value(id)?, component) {
            (ConstantValue::Scalar(bits), None) => Some(*bits as u32),
            (ConstantValue::Null, _) => Some(0),
            (ConstantValue::Composite(parts), Some(component)) => {
                match parts.get(component as usize)? {
                    ConstantValue::Scalar(bits) => Some(*bits as u32),
                    ConstantValue::Null => Some(0),
                    ConstantValue::Bool(_) | ConstantValue::Composite(_) | ConstantValue::Undef => {
                        None
                    }
                }
            }
            (ConstantValue::Scalar(_), Some(_))
            | (ConstantValue::Composite(_), None)
            | (ConstantValue::Bool(_) | ConstantValue::Undef, _) => None,
        }
    }

    /// An operation on values that are all the same for the workgroup.
    fn operation(&self, definition: &Instruction, forms: &[Rc<IndexForm>]) -> Option<IndexForm> {
        if !forms.iter().all(|form| form.is_shared() && form.is_exact()) {
            return None;
        }
        let literals = definition.operands.iter().filter_map(|operand| match operand {
            Operand::LiteralBit32(literal) | Operand::LiteralExtInstInteger(literal) => {
                Some(*literal)
            }
            _ => None,
        });
        let forms = forms.iter().map(|form| (**form).clone()).collect();
        Some(self.term(TermSource::Operation(definition.op, literals.collect(), forms)))
    }

    fn term(&self, source: TermSource) -> IndexForm {
        let (mut terms, mut sources) = (self.terms.borrow_mut(), self.sources.borrow_mut());
        let source = Rc::new(source);
        let number = *terms.entry(Rc::clone(&source)).or_insert_with(|| {
            sources.push(source);
            sources.len() - 1
        });
        IndexForm { shared_terms: BTreeMap::from([(number, 1)]), ..IndexForm::default() }
    }

    /// What all terms up to now are made of, by their number.
    pub(super) fn sources(&self) -> Vec<Rc<TermSource>> {
        self.sources.borrow().clone()
    }

    fn constructed(
        &self,
        definition: &Instruction,
        component: u32,
        depth: usize,
    ) -> Option<IndexForm> {
        let mut first_component = 0;
        for constituent in definition.ids() {
            let ty = self.pointers.module.definition(constituent)?.result_type?;
            let (count, inner) = match self.pointers.types.get(ty)? {
                Type::Vector { count, .. } => {
                    (*count, Some(component.checked_sub(first_component)))
                }
                _ => (1, None),
            };
            if component < first_component + count {
                let inner = inner.flatten();
                return self.form_at(constituent, inner, depth).map(|form| (*form).clone());
            }
            first_component += count;
        }
        None
    }

    fn shuffled(
        &self,
        definition: &Instruction,
        component: u32,
        depth: usize,
    ) -> Option<IndexForm> {
        let chosen = definition.literal(2 + component as usize)?;
        let first = self.pointers.module.definition(definition.id(0)?)?;
        let first_count = match self.pointers.types.get(first.result_type?)? {
            Type::Vector { count, .. } => *count,
            _ => return None,
        };
        let (vector, chosen) = match chosen.checked_sub(first_count) {
            None => (definition.id(0)?, chosen),
            Some(in_second) => (definition.id(1)?, in_second),
        };
        self.form_at(vector, Some(chosen), depth).map(|form| (*form).clone())
    }

    /// The form that all of some values have.
    fn agreed(
        &self,
        values: impl IntoIterator<Item = Id>,
        component: Option<u32>,
        depth: usize,
    ) -> Option<IndexForm> {
        let forms = values.into_iter().map(|value| self.form_at(value, component, depth));
        all_equal(forms.map(|form| form.map(|form| (*form).clone())))
    }

    /// What a variable or a phi holds that is made of these values: one of them, or a counter that
    /// begins with one and grows by a constant.
    fn form_of_values(
        &self,
        counter: Id,
        values: &[Id],
        component: Option<u32>,
        depth: usize,
    ) -> Option<IndexForm> {
        match *values {
            [value] => self.form_at(value, component, depth).map(|form| (*form).clone()),
            [first, second] if component.is_none() => {
                let (start, step) = match (self.step_of(counter, first, depth), second) {
                    (Some(step), start) => (start, step),
                    (None, _) => (first, self.step_of(counter, second, depth)?),
                };
                let mut form = (*self.form_at(start, None, depth)?).clone();
                form.known_bits = form.known_bits.min(step.trailing_zeros());
                (form.known_bits > 0).then_some(form)
            }
            _ => None,
        }
    }

    /// By how much a value is greater than what a variable or phi holds.
    fn step_of(&self, counter: Id, value: Id, depth: usize) -> Option<u32> {
        let module = self.pointers.module;
        let is_counter = |operand: Id| {
            operand == counter
                || module
                    .definition(operand)
                    .is_some_and(|load| load.op == Op::Load && load.id(0) == Some(counter))
        };
        let sum = module.definition(value).filter(|definition| definition.op == Op::IAdd)?;
        let (left, right) = (sum.id(0)?, sum.id(1)?);
        let step = match (is_counter(left), is_counter(right)) {
            (true, false) => right,
            (false, true) => left,
            (true, true) | (false, false) => return None,
        };
        self.form_at(step, None, depth)?.constant_value()
    }

    /// What is loaded through a pointer.
    fn loaded(&self, pointer: Id, component: Option<u32>, depth: usize) -> Option<IndexForm> {
        let module = self.pointers.module;
        let roots = self.pointers.roots_of(pointer);
        let mut variables = Vec::new();
        for root in roots.iter() {
            match root {
                PointerRoot::Variable(variable, _) => variables.push(*variable),
                PointerRoot::Address(_) => return None,
            }
        }
        let mut indices: Vec<Id> = Vec::new();
        let mut base = pointer;
        while let Some(chain) = module
            .definition(base)
            .filter(|base| matches!(base.op, Op::AccessChain | Op::InBoundsAccessChain))
        {
            indices.splice(0..0, chain.ids().skip(1));
            base = chain.id(0)?;
        }
        let class = self.pointers.types.storage_class(module.definition(base)?.result_type?)?;
        match class {
            StorageClass::Function | StorageClass::Private => {
                let component = match (indices.as_slice(), component) {
                    ([], component) => component,
                    ([index], None) => Some(self.pointers.constants.scalar_word(*index)?),
                    _ => return None,
                };
                let forms = variables.iter().map(|variable| {
                    let values = self.stored_values.get(variable)?.as_deref()?;
                    self.form_of_values(*variable, values, component, depth)
                });
                all_equal(forms)
            }
            StorageClass::Input => {
                let component = match (indices.as_slice(), component) {
                    ([], component) => component,
                    ([index], None) => Some(self.pointers.constants.scalar_word(*index)?),
                    _ => return None,
                };
                self.builtin(base, component)
            }
            StorageClass::PushConstant | StorageClass::Uniform | StorageClass::StorageBuffer
                if variables == [base] && self.is_constant_memory(base, class) =>
            {
                let mut forms = indices
                    .iter()
                    .map(|index| self.form_at(*index, None, depth).map(|form| (*form).clone()))
                    .collect::<Option<Vec<IndexForm>>>()?;
                forms.extend(component.map(IndexForm::constant));
                forms
                    .iter()
                    .all(|form| form.is_shared() && form.is_exact())
                    .then(|| self.term(TermSource::Memory(base, forms)))
            }
            _ => None,
        }
    }

    /// Whether nothing that the kernel does changes what a variable holds.
    fn is_constant_memory(&self, variable: Id, class: StorageClass) -> bool {
        let place = |variable: Id| descriptor_place(self.pointers.module, variable);
        let is_written = || {
            let own_place = place(variable);
            self.written.iter().any(|written| *written == variable || place(*written) == own_place)
        };
        class == StorageClass::PushConstant || !self.writes_addresses && !is_written()
    }

    fn builtin(&self, variable: Id, component: Option<u32>) -> Option<IndexForm> {
        let decoration = self.pointers.module.decoration(variable, Decoration::BuiltIn)?;
        let Some(Operand::BuiltIn(builtin)) = decoration.operands.first() else { return None };
        let [size_x, size_y, _] = self.local_size;
        let local = |component: u32| {
            let mut form = IndexForm::default();
            form.local[component as usize] = 1;
            form
        };
        match (builtin, component) {
            (BuiltIn::LocalInvocationIndex, None) => Some(IndexForm {
                local: [1, size_x, size_x.wrapping_mul(size_y)],
                ..IndexForm::default()
            }),
            (BuiltIn::LocalInvocationId, Some(component @ 0..3)) => Some(local(component)),
            (BuiltIn::GlobalInvocationId, Some(component @ 0..3)) => {
                let group = self.term(TermSource::WorkgroupId(component));
                Some(local(component).plus(&group, self.local_size[component as usize]))
            }
            (BuiltIn::WorkgroupId, Some(component)) => {
                Some(self.term(TermSource::WorkgroupId(component)))
            }
            (BuiltIn::NumWorkgroups, Some(component)) => {
                Some(self.term(TermSource::GroupCount(component)))
            }
            _ => None,
        }
    }
}

/// The form that all of some have; none where one is missing or another one.
fn all_equal(forms: impl Iterator<Item = Option<IndexForm>>) -> Option<IndexForm> {
    let mut forms = forms;
    let first = forms.next()??;
    forms.all(|form| form.as_ref() == Some(&first)).then_some(first)
}
