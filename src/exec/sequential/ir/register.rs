//! Registers and scalar values: what an instruction reads and writes.

/// Index of a word register or of a mask register; the field that holds it tells which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// A scalar value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    Word(Reg),
    /// A Boolean.
    Mask(Reg),
}

/// The registers of one number. A number of up to 32 bits has one word whose other bits are 0; one
/// of 64 bits has a second word for its high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumberRegisters {
    pub low: Reg,
    pub high: Option<Reg>,
}

impl NumberRegisters {
    pub fn words(self) -> impl Iterator<Item = Reg> {
        std::iter::once(self.low).chain(self.high)
    }

    pub(crate) fn visit_registers(
        &mut self,
        visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
        register_use: RegisterUse,
    ) {
        visit_word(visit, &mut self.low, register_use);
        self.high.iter_mut().for_each(|high| visit_word(visit, high, register_use));
    }
}

impl From<Reg> for NumberRegisters {
    fn from(low: Reg) -> Self {
        Self { low, high: None }
    }
}

/// How an instruction uses a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterUse {
    /// Read as a computation's operand: an undefined value is a finding.
    Operand,
    /// Read and forwarded to the result: an undefined value makes the result undefined, and is
    /// no finding yet.
    Forward,
    /// Read and written in place, by lane.
    Update,
    Write,
}

pub(crate) fn visit_word(
    visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
    reg: &mut Reg,
    register_use: RegisterUse,
) {
    let mut scalar = Scalar::Word(*reg);
    visit(&mut scalar, register_use);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

pub(crate) fn visit_mask(
    visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
    reg: &mut Reg,
    register_use: RegisterUse,
) {
    let mut scalar = Scalar::Mask(*reg);
    visit(&mut scalar, register_use);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

/// The word registers of numbers as scalars.
pub(crate) fn word_scalars(parts: &[NumberRegisters]) -> Vec<Scalar> {
    parts.iter().flat_map(|parts| parts.words()).map(Scalar::Word).collect()
}
