//! One invocation, run on values that are known or not.
//!
//! Promises: where a branch depends on what is not known, the invocation ends with a reason; what it
//! touched before it touches in any case.

use super::value::{Pointer, RunValue, part_of};
use super::{DispatchNumbers, TouchKind, TouchedBytes, TouchingKernel};
use crate::constants::ConstantValue;
use crate::module::{Id, Instruction};
use crate::opcodes::{Effect, effect_of};
use crate::types::Type;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op, Scope, StorageClass};
use std::collections::HashMap;

const MOST_CALLS: usize = 64;

/// Which invocation runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct InvocationIds {
    pub(super) workgroup: [u32; 3],
    pub(super) local: [u32; 3],
    pub(super) local_index: u32,
}

pub(super) struct InvocationRun<'a> {
    pub(super) kernel: &'a TouchingKernel,
    pub(super) numbers: &'a DispatchNumbers<'a>,
    ids: InvocationIds,
    /// Instructions that may still be run.
    steps: &'a mut u64,
    values: HashMap<Id, RunValue>,
    /// What the invocation's own variables hold.
    variables: HashMap<Id, ConstantValue>,
    /// Where calls return to: index of the instruction, id of the result, block of the call.
    calls: Vec<(usize, Option<Id>, Id)>,
    /// Label of the block that runs.
    block: Id,
}

/// What comes behind an instruction.
enum Next {
    /// The one with this index.
    At(usize),
    /// Nothing.
    End,
}

impl<'a> InvocationRun<'a> {
    pub(super) fn new(
        kernel: &'a TouchingKernel,
        numbers: &'a DispatchNumbers<'a>,
        ids: InvocationIds,
        steps: &'a mut u64,
    ) -> Self {
        let (values, variables) = (HashMap::new(), HashMap::new());
        Self { kernel, numbers, ids, steps, values, variables, calls: Vec::new(), block: 0 }
    }

    /// Runs it to its end; in words why that is not known.
    pub(super) fn run(&mut self, touched: &mut TouchedBytes) -> Result<(), String> {
        let mut at = self.start_of(self.kernel.entry)?;
        loop {
            *self.steps = self.steps.checked_sub(1).ok_or("it takes too many instructions")?;
            match self.step(at, touched)? {
                Next::At(next) => at = next,
                Next::End => return Ok(()),
            }
        }
    }

    fn start_of(&self, function: Id) -> Result<usize, String> {
        let function = self.kernel.module.function_by_id(function);
        function
            .map(|function| function.range.start + 1)
            .ok_or_else(|| "a call leads nowhere".into())
    }

    fn step(&mut self, at: usize, touched: &mut TouchedBytes) -> Result<Next, String> {
        let kernel = self.kernel;
        let Some(instruction) = kernel.module.instructions.get(at) else {
            return Err("the module ends within a function".to_owned());
        };
        match instruction.op {
            Op::Label => self.block = instruction.result.unwrap_or(0),
            Op::Branch | Op::BranchConditional | Op::Switch => return self.branch(instruction),
            Op::FunctionCall => return self.call(at, instruction),
            Op::Return => return Ok(self.returned(RunValue::Data(ConstantValue::Undef))),
            Op::ReturnValue => {
                let value = self.operand(instruction, 0);
                return Ok(self.returned(value));
            }
            Op::Kill | Op::Unreachable | Op::TerminateInvocation => return Ok(Next::End),
            Op::Variable => self.declare(instruction),
            Op::Load => self.load(instruction, touched),
            Op::Store => self.store(instruction, touched),
            Op::AccessChain | Op::InBoundsAccessChain => self.chain(instruction),
            Op::ArrayLength => self.array_length(instruction),
            Op::ImageRead | Op::ImageFetch | Op::ImageWrite => {
                self.touch_image(instruction, touched);
            }
            Op::ImageSampleExplicitLod
            | Op::ImageSampleDrefExplicitLod
            | Op::ImageSampleProjExplicitLod
            | Op::ImageSampleProjDrefExplicitLod
            | Op::ImageGather
            | Op::ImageDrefGather => self.sample_image(instruction, touched),
            Op::ImageQuerySize | Op::ImageQuerySizeLod => self.image_size(instruction),
            _ => self.other(instruction, touched),
        }
        Ok(Next::At(at + 1))
    }

    /// The value of an id.
    fn value_of(&self, id: Id) -> RunValue {
        if let Some(value) = self.values.get(&id) {
            return value.clone();
        }
        let Some(value) = self.kernel.constants.value(id) else {
            let definition = self.kernel.module.definition(id);
            return match definition.is_some_and(|made| made.op == Op::Variable) {
                true => RunValue::Pointer(Pointer { variable: id, path: Vec::new() }),
                false => RunValue::Data(ConstantValue::Undef),
            };
        };
        let definition = self.kernel.module.definition(id);
        let type_id = definition.and_then(|made| made.result_type).unwrap_or(0);
        RunValue::Data(self.kernel.spelled_out(value.clone(), type_id))
    }

    pub(super) fn operand(&self, instruction: &Instruction, index: usize) -> RunValue {
        let id = instruction.id(index);
        id.map_or(RunValue::Data(ConstantValue::Undef), |id| self.value_of(id))
    }

    /// The data of an operand; of a pointer they are not known.
    pub(super) fn data(&self, instruction: &Instruction, index: usize) -> ConstantValue {
        match self.operand(instruction, index) {
            RunValue::Data(data) => data,
            RunValue::Pointer(_) => ConstantValue::Undef,
        }
    }

    pub(super) fn give(&mut self, instruction: &Instruction, value: RunValue) {
        if let Some(result) = instruction.result {
            self.values.insert(result, value);
        }
    }

    fn branch(&mut self, instruction: &Instruction) -> Result<Next, String> {
        const DEPENDS: &str = "what is executed depends on more than what the host gives";
        let target = match instruction.op {
            Op::Branch => instruction.id(0),
            Op::BranchConditional => match self.data(instruction, 0) {
                ConstantValue::Bool(true) => instruction.id(1),
                ConstantValue::Bool(false) => instruction.id(2),
                _ => return Err(DEPENDS.to_owned()),
            },
            _ => match self.data(instruction, 0) {
                ConstantValue::Scalar(selector) if self.is_word(instruction.id(0)) => {
                    switch_target(instruction, selector)
                }
                _ => return Err(DEPENDS.to_owned()),
            },
        };
        let target = target.ok_or("a branch leads nowhere")?;
        self.enter(target)
    }

    /// Whether a selector has 32 or 64 bits: literals of narrower ones are extended.
    fn is_word(&self, selector: Option<Id>) -> bool {
        let width = selector.and_then(|id| self.kernel.types.scalar_width(self.type_of(id)));
        matches!(width, Some(32 | 64))
    }

    /// Goes to a block: what its OpPhi choose, they choose at once.
    fn enter(&mut self, label: Id) -> Result<Next, String> {
        let module = &self.kernel.module;
        let start = module.definition_index(label).ok_or("a branch leads nowhere")? + 1;
        let mut chosen = Vec::new();
        let mut next = start;
        while let Some(instruction) = module.instructions.get(next) {
            match instruction.op {
                Op::Phi => {
                    let ids: Vec<Id> = instruction.ids().collect();
                    let pairs = ids.chunks_exact(2);
                    let mut own = pairs.filter(|pair| pair[1] == self.block);
                    let value = own.next().map(|pair| self.value_of(pair[0]));
                    let unknown = RunValue::Data(ConstantValue::Undef);
                    chosen.push((instruction.result, value.unwrap_or(unknown)));
                }
                Op::Line | Op::NoLine => {}
                _ => break,
            }
            next += 1;
        }
        for (result, value) in chosen {
            self.values.extend(result.map(|result| (result, value)));
        }
        self.block = label;
        Ok(Next::At(next))
    }

    fn call(&mut self, at: usize, instruction: &Instruction) -> Result<Next, String> {
        if self.calls.len() >= MOST_CALLS {
            return Err("its calls are nested too deep".to_owned());
        }
        let called = instruction.id(0).ok_or("a call leads nowhere")?;
        let function = self.kernel.module.function_by_id(called);
        let parameters = function.map(|function| function.parameters.clone()).unwrap_or_default();
        let given: Vec<RunValue> =
            (1..=parameters.len()).map(|index| self.operand(instruction, index)).collect();
        self.values.extend(parameters.into_iter().zip(given));
        self.calls.push((at + 1, instruction.result, self.block));
        self.start_of(called).map(Next::At)
    }

    fn returned(&mut self, value: RunValue) -> Next {
        let Some((next, result, block)) = self.calls.pop() else { return Next::End };
        self.values.extend(result.map(|result| (result, value)));
        self.block = block;
        Next::At(next)
    }

    /// A variable of the function that is entered, anew.
    fn declare(&mut self, instruction: &Instruction) {
        let Some(variable) = instruction.result else { return };
        let initial = match instruction.id(1) {
            Some(_) => self.data(instruction, 1),
            None => ConstantValue::Undef,
        };
        self.variables.insert(variable, initial);
    }

    fn storage_of(&self, variable: Id) -> Option<(StorageClass, Id)> {
        let declared = self.kernel.module.definition(variable)?;
        self.kernel.types.variable_contents(declared)
    }

    fn load(&mut self, instruction: &Instruction, touched: &mut TouchedBytes) {
        let type_id = instruction.result_type.unwrap_or(0);
        let value = match self.operand(instruction, 0) {
            RunValue::Pointer(pointer) => self.loaded(&pointer, type_id, touched),
            RunValue::Data(_) => {
                touched.leave_open(BY_ADDRESS.to_owned());
                ConstantValue::Undef
            }
        };
        let value = self.kernel.spelled_out(value, type_id);
        self.give(instruction, RunValue::Data(value));
    }

    fn loaded(&self, pointer: &Pointer, type_id: Id, touched: &mut TouchedBytes) -> ConstantValue {
        let known_path: Option<Vec<u64>> = pointer.path.iter().copied().collect();
        let Some((storage, _)) = self.storage_of(pointer.variable) else {
            return ConstantValue::Undef;
        };
        match storage {
            StorageClass::Function | StorageClass::Private => {
                let held = self.variables.get(&pointer.variable);
                match (held, known_path) {
                    (Some(held), Some(path)) => part_of(held, &path),
                    (_, _) => ConstantValue::Undef,
                }
            }
            StorageClass::Input => match known_path {
                Some(path) => part_of(&self.built_in(pointer.variable), &path),
                None => ConstantValue::Undef,
            },
            StorageClass::PushConstant => self.kernel.pushed_value(pointer, type_id, self.numbers),
            _ => {
                self.touch(pointer, storage, &[TouchKind::Read], touched);
                ConstantValue::Undef
            }
        }
    }

    fn built_in(&self, variable: Id) -> ConstantValue {
        let InvocationIds { workgroup, local, local_index } = self.ids;
        let of_axes = |numbers: [u32; 3]| {
            let parts = numbers.map(|number| ConstantValue::Scalar(u64::from(number)));
            ConstantValue::Composite(parts.to_vec())
        };
        let size = self.numbers.local_size;
        match self.kernel.built_ins.get(&variable) {
            Some(BuiltIn::GlobalInvocationId) => of_axes(
                [0, 1, 2]
                    .map(|axis| workgroup[axis].wrapping_mul(size[axis]).wrapping_add(local[axis])),
            ),
            Some(BuiltIn::LocalInvocationId) => of_axes(local),
            Some(BuiltIn::WorkgroupId) => of_axes(workgroup),
            Some(BuiltIn::NumWorkgroups) => of_axes(self.numbers.groups),
            Some(BuiltIn::LocalInvocationIndex) => ConstantValue::Scalar(u64::from(local_index)),
            Some(_) | None => ConstantValue::Undef,
        }
    }

    fn store(&mut self, instruction: &Instruction, touched: &mut TouchedBytes) {
        let value = self.data(instruction, 1);
        let RunValue::Pointer(pointer) = self.operand(instruction, 0) else {
            touched.leave_open(BY_ADDRESS.to_owned());
            return;
        };
        let Some((storage, type_id)) = self.storage_of(pointer.variable) else { return };
        match storage {
            StorageClass::Function | StorageClass::Private => {
                let known_path: Option<Vec<u64>> = pointer.path.iter().copied().collect();
                let held = self.variables.entry(pointer.variable).or_insert(ConstantValue::Undef);
                match known_path {
                    Some(path) => self.kernel.put_part(held, type_id, &path, value),
                    None => *held = ConstantValue::Undef,
                }
            }
            _ => self.touch(&pointer, storage, &[TouchKind::Write], touched),
        }
    }

    /// Takes notice of an access of memory that others see.
    fn touch(
        &self,
        pointer: &Pointer,
        storage: StorageClass,
        kinds: &[TouchKind],
        touched: &mut TouchedBytes,
    ) {
        match storage {
            StorageClass::StorageBuffer | StorageClass::Uniform => {
                if let Err(reason) = self.touch_block(pointer, kinds, touched) {
                    touched.leave_open(reason);
                }
            }
            // Handles of images: who uses them leaves open what is touched.
            StorageClass::UniformConstant
            | StorageClass::Workgroup
            | StorageClass::Output
            | StorageClass::Private
            | StorageClass::Function => {}
            _ => touched.leave_open(BY_ADDRESS.to_owned()),
        }
    }

    fn touch_block(
        &self,
        pointer: &Pointer,
        kinds: &[TouchKind],
        touched: &mut TouchedBytes,
    ) -> Result<(), String> {
        let place = self.kernel.places.get(&pointer.variable).copied();
        let place = place.ok_or("a block has no binding")?;
        let name = format!("binding {}.{}", place.0, place.1);
        let bytes = self.kernel.block_bytes(pointer, &name)?;
        let bound = self.numbers.bound_bytes.get(&place).copied().unwrap_or(0);
        if bytes.end > bound {
            return Err(format!("it leaves the {bound} bytes that are bound at {name}"));
        }
        for kind in kinds {
            touched.add(place, *kind, (bytes.start, bytes.end));
        }
        Ok(())
    }

    fn chain(&mut self, instruction: &Instruction) {
        let value = match self.operand(instruction, 0) {
            RunValue::Pointer(mut pointer) => {
                for index in 1..instruction.operands.len() {
                    pointer.path.push(match self.data(instruction, index) {
                        ConstantValue::Scalar(number) => Some(number),
                        _ => None,
                    });
                }
                RunValue::Pointer(pointer)
            }
            RunValue::Data(_) => RunValue::Data(ConstantValue::Undef),
        };
        self.give(instruction, value);
    }

    /// Elements of the array at the end of a block: those that are bound.
    fn array_length(&mut self, instruction: &Instruction) {
        let length = self.bound_elements(instruction);
        let value = length.map_or(ConstantValue::Undef, ConstantValue::Scalar);
        self.give(instruction, RunValue::Data(value));
    }

    fn bound_elements(&self, instruction: &Instruction) -> Option<u64> {
        let RunValue::Pointer(Pointer { variable, path }) = self.operand(instruction, 0) else {
            return None;
        };
        let place = self.kernel.places.get(&variable)?;
        let (_, type_id) = self.storage_of(variable).filter(|_| path.is_empty())?;
        let Some(Type::Structure { members, .. }) = self.kernel.types.get(type_id) else {
            return None;
        };
        let member = members.get(instruction.literal(1)? as usize)?;
        let Some(Type::RuntimeArray { stride: Some(stride), .. }) =
            self.kernel.types.get(member.ty)
        else {
            return None;
        };
        let bound = self.numbers.bound_bytes.get(place)?;
        bound.saturating_sub(u64::from(member.offset?)).checked_div(u64::from(*stride))
    }

    /// What an atomic instruction counts as: of a scope that holds both dispatches, as atomic.
    fn kinds_of_atomic(&self, instruction: &Instruction) -> &'static [TouchKind] {
        let scope = match self.data(instruction, 1) {
            ConstantValue::Scalar(scope) => u32::try_from(scope).ok(),
            _ => None,
        };
        let scope = scope.and_then(Scope::from_u32);
        match scope {
            Some(Scope::CrossDevice | Scope::Device | Scope::QueueFamily) => &[TouchKind::Atomic],
            Some(_) | None => &[TouchKind::Read, TouchKind::Write],
        }
    }

    /// Whatever neither jumps nor has a rule of its own.
    fn other(&mut self, instruction: &Instruction, touched: &mut TouchedBytes) {
        match effect_of(instruction.op) {
            Some(Effect::Declaration | Effect::Barrier) => {}
            Some(Effect::Pure | Effect::Subgroup) => {
                let value = self.computed(instruction);
                self.give(instruction, value);
            }
            Some(Effect::Address) => self.give(instruction, RunValue::Data(ConstantValue::Undef)),
            Some(Effect::Atomic) => {
                let kinds = self.kinds_of_atomic(instruction);
                match self.operand(instruction, 0) {
                    RunValue::Pointer(pointer) => {
                        let storage = self.storage_of(pointer.variable).map(|(storage, _)| storage);
                        let storage = storage.unwrap_or(StorageClass::Generic);
                        self.touch(&pointer, storage, kinds, touched);
                    }
                    RunValue::Data(_) => touched.leave_open(BY_ADDRESS.to_owned()),
                }
                self.give(instruction, RunValue::Data(ConstantValue::Undef));
            }
            Some(Effect::ReadWrite) if instruction.op == Op::ExtInst => {
                self.forget_named(instruction);
                self.give(instruction, RunValue::Data(ConstantValue::Undef));
            }
            Some(
                Effect::Read
                | Effect::Write
                | Effect::ReadWrite
                | Effect::Call
                | Effect::Branch
                | Effect::End,
            )
            | None => {
                touched.leave_open(format!("Op{:?} is not followed", instruction.op));
                self.forget_named(instruction);
                self.give(instruction, RunValue::Data(ConstantValue::Undef));
            }
        }
    }

    /// Variables of the invocation that an instruction may write are not known behind it.
    fn forget_named(&mut self, instruction: &Instruction) {
        for id in instruction.ids() {
            if let RunValue::Pointer(pointer) = self.value_of(id) {
                self.variables.insert(pointer.variable, ConstantValue::Undef);
            }
        }
    }
}

const BY_ADDRESS: &str = "it reaches memory by a pointer that is not followed";

/// The block that a switch goes to.
fn switch_target(instruction: &Instruction, selector: u64) -> Option<Id> {
    let mut cases = instruction.operands.get(2..)?.chunks_exact(2);
    let chosen = cases.find_map(|case| match (&case[0], &case[1]) {
        (Operand::LiteralBit32(number), Operand::IdRef(target)) => {
            (u64::from(*number) == selector).then_some(*target)
        }
        (Operand::LiteralBit64(number), Operand::IdRef(target)) => {
            (*number == selector).then_some(*target)
        }
        _ => None,
    });
    chosen.or_else(|| instruction.id(1))
}
