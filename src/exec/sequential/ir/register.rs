//! Registers and scalar values: what an instruction reads and writes.

/// Index of a register of 32-bit words or of a mask register; which of the two follows from where
/// it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// A scalar value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scalar {
    Word(Reg),
    /// A Boolean.
    Mask(Reg),
}

/// The registers of one number: one of up to 32 bits lies in the low end of a word whose other bits
/// are 0; one of 64 bits has another word for its high half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NumberRegisters {
    pub low: Reg,
    pub high: Option<Reg>,
}

impl NumberRegisters {
    pub fn registers(self) -> impl Iterator<Item = Reg> {
        std::iter::once(self.low).chain(self.high)
    }

    pub(crate) fn visit_registers(
        &mut self,
        visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
        using: RegisterUse,
    ) {
        visit_word(visit, &mut self.low, using);
        self.high.iter_mut().for_each(|high| visit_word(visit, high, using));
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
    using: RegisterUse,
) {
    let mut scalar = Scalar::Word(*reg);
    visit(&mut scalar, using);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

pub(crate) fn visit_mask(
    visit: &mut dyn FnMut(&mut Scalar, RegisterUse),
    reg: &mut Reg,
    using: RegisterUse,
) {
    let mut scalar = Scalar::Mask(*reg);
    visit(&mut scalar, using);
    let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
    *reg = new;
}

/// The scalars of numbers, as a value has them.
pub(crate) fn word_scalars(parts: &[NumberRegisters]) -> Vec<Scalar> {
    parts.iter().flat_map(|parts| parts.registers()).map(Scalar::Word).collect()
}
