//! What is known on the way to a place.
//!
//! Knows: inequalities, alternatives of which one holds, and conditions that were branched on.
//! Promises: a list is never changed; a longer one shares the rest with the one that it is made of,
//! so that what two ways have in common is found where they meet.

use super::condition::Condition;
use super::polynomial::Polynomial;
use std::rc::Rc;

/// What holds at a place.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Fact {
    /// The polynomial is at least 0.
    AtLeastZero(Polynomial),
    /// All facts of one of the lists hold.
    OneOf(Rc<Choice>),
    /// The condition had this value.
    Assumed(Rc<Condition>, bool),
}

/// Lists of facts of which one holds, with how deeply conditions are nested in them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Choice {
    /// The lists.
    pub lists: Vec<Vec<Fact>>,
    depth: u32,
}

impl Fact {
    /// All facts of one of the lists hold.
    pub(super) fn one_of(lists: Vec<Vec<Fact>>) -> Self {
        let depth = 1 + lists.iter().flatten().map(Fact::depth).max().unwrap_or(0);
        Fact::OneOf(Rc::new(Choice { lists, depth }))
    }

    /// How deeply conditions are nested in it.
    pub(super) fn depth(&self) -> u32 {
        match self {
            Fact::AtLeastZero(_) => 0,
            Fact::Assumed(condition, _) => condition.depth(),
            Fact::OneOf(choice) => choice.depth,
        }
    }
}

/// Facts, the latest first.
#[derive(Debug, Clone, Default)]
pub(super) struct FactList {
    head: Option<Rc<Node>>,
}

#[derive(Debug)]
struct Node {
    fact: Fact,
    rest: FactList,
    length: usize,
}

impl FactList {
    /// The list with one more fact.
    pub(super) fn with(&self, fact: Fact) -> Self {
        let node = Node { fact, rest: self.clone(), length: self.length() + 1 };
        Self { head: Some(Rc::new(node)) }
    }

    /// Number of facts.
    pub(super) fn length(&self) -> usize {
        self.head.as_ref().map_or(0, |node| node.length)
    }

    /// The facts, the latest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Fact> {
        let mut next_node = self.head.as_deref();
        std::iter::from_fn(move || {
            let node = next_node?;
            next_node = node.rest.head.as_deref();
            Some(&node.fact)
        })
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.head, &other.head) {
            (None, None) => true,
            (Some(left), Some(right)) => Rc::ptr_eq(left, right),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    /// The list without its latest facts, so that `length` are left.
    fn shortened(&self, length: usize) -> Self {
        let mut list = self.clone();
        while list.length() > length {
            let rest = list.head.as_ref().map(|node| node.rest.clone());
            list = rest.unwrap_or_default();
        }
        list
    }

    /// What two lists share.
    pub(super) fn common(&self, other: &Self) -> Self {
        let length = self.length().min(other.length());
        let (mut left, mut right) = (self.shortened(length), other.shortened(length));
        while !left.is_same(&right) {
            let length = left.length().saturating_sub(1);
            (left, right) = (left.shortened(length), right.shortened(length));
        }
        left
    }

    /// Facts beyond a list that this one is made of, the latest first.
    pub(super) fn beyond(&self, shared: &Self) -> Vec<Fact> {
        self.iter().take(self.length() - shared.length()).cloned().collect()
    }
}

/// Long lists go without recursion.
impl Drop for FactList {
    fn drop(&mut self) {
        let mut next_node = self.head.take();
        while let Some(node) = next_node {
            match Rc::try_unwrap(node) {
                Ok(mut node) => next_node = node.rest.head.take(),
                Err(_) => return,
            }
        }
    }
}
