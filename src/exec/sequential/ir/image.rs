//! Images, samplers and texel buffers: the form of their instructions in a register program.
//!
//! Knows: which descriptors an instruction may access, its coordinates and its operation. One form
//! serves all image instructions; `decode::ops::image` makes it from SPIR-V, `machine` runs it lane
//! by lane.
//! Promises: the contents of an image lie in the job's buffer as `ImageShape::start` says, so that
//! reads, writes and outputs are those of any buffer.
//! Does not cover: sparse and cooperative forms.

use super::atomic::AtomicOperation;
use super::register::{NumberRegisters, Reg, RegisterUse, Scalar};
use std::sync::Arc;
use vkcert_spirv::operation::sized::NumberFormat;

/// The descriptors that an instruction may access: one, or the elements of an array by an index.
#[derive(Debug, Clone)]
pub struct DescriptorChoice {
    /// By element: index into `Program::descriptors`.
    pub descriptors: Arc<[u32]>,
    /// None: the first.
    pub index: Option<DynamicIndex>,
    /// For messages: the variable's name.
    pub name: Arc<str>,
}

/// A dynamic index: of an element of an array of descriptors, of a sample.
#[derive(Debug, Clone, Copy)]
pub struct DynamicIndex {
    pub register: Reg,
    pub signed: bool,
}

/// The operation of an image instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageOperation {
    /// Of a storage image or a texel buffer, or OpImageFetch.
    Read,
    Write,
    Atomic(AtomicOperation),
    Sample,
    /// Of one component of four texels.
    Gather {
        component: u32,
    },
    /// Texels and layers of a level.
    Size,
    Levels,
    /// How many a texel has.
    Samples,
}

/// Number format of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoordinateFormat {
    Float,
    Signed,
    Unsigned,
}

/// Whether coordinates are divided by the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    None,
    Divided,
}

/// Which level is meant.
#[derive(Debug, Clone)]
pub enum LevelOperand {
    /// The first one of the view.
    First,
    /// Of OpImageFetch and queries: an integer.
    Number(Reg),
    /// A level of detail.
    Detail(Reg),
    /// From the derivatives of the coordinates in x and in y.
    Gradient([Arc<[Reg]>; 2]),
}

/// Which registers an instruction has.
#[derive(Debug, Clone)]
pub struct ImageInstruction {
    pub operation: ImageOperation,
    pub image: DescriptorChoice,
    pub sampler: Option<DescriptorChoice>,
    pub coordinates: Arc<[Reg]>,
    pub coordinate_format: CoordinateFormat,
    pub projection: Projection,
    /// What texels are compared with.
    pub reference: Option<Reg>,
    pub level: LevelOperand,
    /// Of a multisampled image: which sample of the texel.
    pub sample: Option<DynamicIndex>,
    /// None, one for all texels, or one for each of four; a component per dimension, signed.
    pub offsets: Arc<[Arc<[Reg]>]>,
    /// Components to write; of an atomic: value, comparator.
    pub texel: Arc<[NumberRegisters]>,
    /// Number of components that the declared format has; the others may be undefined.
    pub used: usize,
    pub to: Arc<[NumberRegisters]>,
    /// How texel components are read.
    pub texel_format: NumberFormat,
}

impl ImageOperation {
    /// Whether the result is what memory holds, so that undefined memory is forwarded.
    pub fn forwards_memory(self) -> bool {
        match self {
            ImageOperation::Read | ImageOperation::Sample | ImageOperation::Gather { .. } => true,
            ImageOperation::Atomic(op) => op.returns_old_value(),
            ImageOperation::Write
            | ImageOperation::Size
            | ImageOperation::Levels
            | ImageOperation::Samples => false,
        }
    }
}

impl DescriptorChoice {
    fn visit(&mut self, visit: &mut dyn FnMut(&mut Reg, RegisterUse)) {
        if let Some(index) = &mut self.index {
            visit(&mut index.register, RegisterUse::Operand);
        }
    }
}

impl DynamicIndex {
    /// The number that a register holds.
    pub fn as_number(self, word: u32) -> i64 {
        if self.signed { i64::from(word as i32) } else { i64::from(word) }
    }
}

impl ImageInstruction {
    /// Calls `visit` for every register, reads before writes; returns the instruction with the
    /// registers that `visit` leaves.
    pub fn with_registers(
        &self,
        visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
    ) -> ImageInstruction {
        let mut word = |reg: &mut Reg, register_use: RegisterUse| {
            let mut scalar = Scalar::Word(*reg);
            visit(&mut scalar, register_use);
            let (Scalar::Word(visited) | Scalar::Mask(visited)) = scalar;
            *reg = visited;
        };
        let mut new_instruction = self.clone();
        new_instruction.image.visit(&mut word);
        if let Some(sampler) = &mut new_instruction.sampler {
            sampler.visit(&mut word);
        }
        new_instruction.coordinates = visit_operands(&new_instruction.coordinates, &mut word);
        if let Some(reference) = &mut new_instruction.reference {
            word(reference, RegisterUse::Operand);
        }
        match &mut new_instruction.level {
            LevelOperand::First => {}
            LevelOperand::Number(level) | LevelOperand::Detail(level) => {
                word(level, RegisterUse::Operand)
            }
            LevelOperand::Gradient(gradient_pair) => gradient_pair
                .iter_mut()
                .for_each(|derivative| *derivative = visit_operands(derivative, &mut word)),
        }
        if let Some(sample) = &mut new_instruction.sample {
            word(&mut sample.register, RegisterUse::Operand);
        }
        new_instruction.offsets = new_instruction
            .offsets
            .iter()
            .map(|offset| visit_operands(offset, &mut word))
            .collect();
        let mut numbers = |list: &[NumberRegisters],
                           register_use: &dyn Fn(usize) -> RegisterUse|
         -> Arc<[NumberRegisters]> {
            let mut list = list.to_vec();
            for (number_index, parts) in list.iter_mut().enumerate() {
                word(&mut parts.low, register_use(number_index));
                parts.high.iter_mut().for_each(|high| word(high, register_use(number_index)));
            }
            list.into()
        };
        new_instruction.texel = numbers(&new_instruction.texel, &|number_index| {
            if number_index < self.used { RegisterUse::Operand } else { RegisterUse::Forward }
        });
        new_instruction.to = numbers(&new_instruction.to, &|_| RegisterUse::Write);
        new_instruction
    }
}

fn visit_operands(registers: &[Reg], word: &mut dyn FnMut(&mut Reg, RegisterUse)) -> Arc<[Reg]> {
    let mut registers = registers.to_vec();
    registers.iter_mut().for_each(|reg| word(reg, RegisterUse::Operand));
    registers.into()
}
