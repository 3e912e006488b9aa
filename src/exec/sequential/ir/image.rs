//! Images, samplers and texel buffers: the form of their instructions in a register program.
//!
//! Knows: which descriptors an instruction may go to, where it takes its coordinates from, what it
//! does there. One form serves all image instructions; `decode::ops::image` makes it from SPIR-V,
//! `machine` runs it lane by lane.
//! Promises: the contents of an image lie in the job's buffer as `ImageShape::start` says, so that
//! reads, writes and outputs are those of any buffer.
//! Does not cover: sparse and cooperative forms.

use super::atomic::Atomic;
use super::register::{Parts, Reg, Scalar, Use};
use std::sync::Arc;
use vkcert_spirv::operation::sized::NumberFormat;

/// The descriptors that an instruction may go to: one, or the elements of an array by an index.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// By element: index into `Program::descriptors`.
    pub descriptors: Arc<[u32]>,
    /// None: the first.
    pub index: Option<Index>,
    /// For messages: the variable's name.
    pub name: Arc<str>,
}

/// A dynamic index: of an element of an array of descriptors, of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    pub register: Reg,
    pub signed: bool,
}

/// What an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Of a storage image or a texel buffer, or OpImageFetch.
    Read,
    Write,
    Atomic(Atomic),
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

/// How coordinates are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
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
pub enum Level {
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
pub struct ImageStep {
    pub doing: Doing,
    pub image: Chosen,
    pub sampler: Option<Chosen>,
    pub coordinates: Arc<[Reg]>,
    pub reading: Reading,
    pub projection: Projection,
    /// What texels are compared with.
    pub reference: Option<Reg>,
    pub level: Level,
    /// Of a multisampled image: which sample of the texel.
    pub sample: Option<Index>,
    /// None, one for all texels, or one for each of four; a component per dimension, signed.
    pub offsets: Arc<[Arc<[Reg]>]>,
    /// Components to write; of an atomic: value, comparator.
    pub texel: Arc<[Parts]>,
    /// Of those, how many the declared format has: the rest may be undefined.
    pub used: usize,
    pub to: Arc<[Parts]>,
    /// How texel components are read.
    pub form: NumberFormat,
}

impl Doing {
    /// Whether results are what memory holds, undefined or not.
    pub fn passes_memory_on(self) -> bool {
        match self {
            Doing::Read | Doing::Sample | Doing::Gather { .. } => true,
            Doing::Atomic(op) => op.gives_what_was_there(),
            Doing::Write | Doing::Size | Doing::Levels | Doing::Samples => false,
        }
    }
}

impl Chosen {
    fn visit(&mut self, visit: &mut dyn FnMut(&mut Reg, Use)) {
        if let Some(index) = &mut self.index {
            visit(&mut index.register, Use::Operand);
        }
    }
}

impl Index {
    /// The number that a register holds.
    pub fn number(self, word: u32) -> i64 {
        if self.signed { i64::from(word as i32) } else { i64::from(word) }
    }
}

impl ImageStep {
    /// Calls `visit` for every register, reads before writes; gives the step with what it makes of
    /// them.
    pub fn with_registers(&self, visit: &mut dyn FnMut(&mut Scalar, Use)) -> ImageStep {
        let mut word = |reg: &mut Reg, using: Use| {
            let mut scalar = Scalar::Word(*reg);
            visit(&mut scalar, using);
            let (Scalar::Word(new) | Scalar::Mask(new)) = scalar;
            *reg = new;
        };
        let mut new = self.clone();
        new.image.visit(&mut word);
        if let Some(sampler) = &mut new.sampler {
            sampler.visit(&mut word);
        }
        new.coordinates = all(&new.coordinates, &mut word);
        if let Some(reference) = &mut new.reference {
            word(reference, Use::Operand);
        }
        match &mut new.level {
            Level::First => {}
            Level::Number(level) | Level::Detail(level) => word(level, Use::Operand),
            Level::Gradient(pair) => pair.iter_mut().for_each(|one| *one = all(one, &mut word)),
        }
        if let Some(sample) = &mut new.sample {
            word(&mut sample.register, Use::Operand);
        }
        new.offsets = new.offsets.iter().map(|offset| all(offset, &mut word)).collect();
        let mut numbers = |list: &[Parts], using: &dyn Fn(usize) -> Use| -> Arc<[Parts]> {
            let mut list = list.to_vec();
            for (at, parts) in list.iter_mut().enumerate() {
                word(&mut parts.low, using(at));
                parts.high.iter_mut().for_each(|high| word(high, using(at)));
            }
            list.into()
        };
        new.texel =
            numbers(&new.texel, &|at| if at < self.used { Use::Operand } else { Use::Travel });
        new.to = numbers(&new.to, &|_| Use::Write);
        new
    }
}

fn all(list: &[Reg], word: &mut dyn FnMut(&mut Reg, Use)) -> Arc<[Reg]> {
    let mut list = list.to_vec();
    list.iter_mut().for_each(|reg| word(reg, Use::Operand));
    list.into()
}
