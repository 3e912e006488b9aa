//! What an id of a module stands for in one execution of its definition.
//!
//! Promises: an integer is a polynomial modulo 2 to the power of its width; what is not followed is
//! unknown and tells why.

use super::atom::Origin;
use super::condition::Condition;
use super::polynomial::Polynomial;
use crate::module::Id;
use crate::types::MatrixLayout;
use std::rc::Rc;

/// What an id stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// A word that holds this number modulo 2 to the power of its width.
    Integer(Rc<Polynomial>),
    /// A truth value.
    Boolean(Rc<Condition>),
    /// Components of a vector or members of a structure.
    Composite(Rc<Vec<Value>>),
    /// A pointer.
    Pointer(Rc<Pointer>),
    /// An image, or an image with its sampler, by the variable that it was loaded from.
    Image(ImageSource),
    /// Nothing is known.
    Unknown(Origin),
}

/// Where an image was loaded from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ImageSource {
    /// A variable that holds this one image.
    Variable(Id),
    /// An element of an array of images, or a value that is not followed.
    Other,
}

/// A variable of one invocation in one execution of its function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct VariableKey(pub u32);

/// What a pointer points into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Root {
    /// A variable that no other invocation sees.
    Own(VariableKey),
    /// A texel, whose coordinates are judged where the pointer is made.
    Texel,
    /// A variable of the module in memory that is bound or shared, or a built-in.
    Module(Id),
    /// Not followed: why.
    Unknown(String),
}

/// A step of a pointer into an array, a vector or a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexStep {
    /// The index, modulo 2 to the power of its width.
    pub index: Rc<Polynomial>,
    /// Bits of the index's type.
    pub width: u32,
    /// Whether the index's type is signed.
    pub is_signed: bool,
    /// What the index must stay below.
    pub length: StepLength,
    /// Bytes from one element to the next; none where nothing lays them out.
    pub stride: Option<u32>,
}

/// The number of elements that a step chooses from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepLength {
    /// So many.
    Fixed(u64),
    /// As many as what is bound has room for.
    Bound,
    /// Not known: why.
    Unknown(String),
}

/// A pointer: its root and the way from there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    /// What it points into.
    pub root: Root,
    /// Bytes of the members on the way; none where something on the way has no layout.
    pub offset: Option<u64>,
    /// Steps into arrays, vectors and matrices.
    pub steps: Vec<IndexStep>,
    /// Members and constant components on the way, as far as all of it is constant.
    pub path: Vec<PathStep>,
    /// The object in words: `left[..]`.
    pub words: String,
    /// Type of what it points to.
    pub pointee: Id,
    /// The layout that the last member on the way gives to matrices in it.
    pub matrix_layout: Option<MatrixLayout>,
    /// The matrix that a step led into.
    pub matrix: Option<Id>,
    /// Whether a descriptor of an array was chosen on the way.
    pub is_of_descriptor_array: bool,
}

/// A step into a composite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathStep {
    /// Component or member with this number.
    Part(u32),
    /// An element of an array, or a component that is chosen at run time.
    Any,
}

impl Value {
    /// A number.
    pub(super) fn number(number: i128) -> Self {
        Value::Integer(Rc::new(Polynomial::constant(number)))
    }

    /// A polynomial.
    pub(super) fn integer(polynomial: Polynomial) -> Self {
        Value::Integer(Rc::new(polynomial))
    }

    /// A condition.
    pub(super) fn boolean(condition: Condition) -> Self {
        Value::Boolean(Rc::new(condition))
    }
}
