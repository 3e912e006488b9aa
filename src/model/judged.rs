//! What a test judges of what its kernels store, element by element, and which of its expectations judge nothing.
//!
//! Promises: the names that evidence stores. Does not cover: how it is found out (`campaign::altered`).

use super::flow::StorePlace;
use super::id::KernelName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a test judges, beyond which of its dispatches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JudgedParts {
    /// By kernel, place, descriptor and member.
    pub members: Vec<JudgedMember>,
    /// Expectations that none of the tried alterations of what the kernels stored makes fail, counted from 0; of a test with several.
    pub idle: Vec<u32>,
}

/// A member of what a kernel stores, with all of its elements: numbers, or components of texels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemberPlace {
    /// The kernel that stores.
    pub kernel: KernelName,
    /// Where the kernel declares it; none of what device addresses name.
    pub place: Option<StorePlace>,
    /// Which descriptor of an array of them.
    pub array_index: u32,
    /// What the kernel calls it, without indices.
    pub member: Option<String>,
}

/// How much of a member a test judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedMember {
    /// The kernel that stores.
    pub kernel: KernelName,
    /// Where the kernel declares it; none of what device addresses name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<StorePlace>,
    /// Which descriptor of an array of them, counted from 0.
    pub array_index: u32,
    /// What the kernel calls it, without indices: `particles[].velocity`; none of images and where the module has no names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// Elements that the kernel can store to, by its code, and that hold something else after the test than before; of a member of
    /// which none does, those that are judged.
    pub stored: u64,
    /// Those of them that an expectation looks at which refuses an alteration at the element's own scale, that a checker can read,
    /// or that were read after the last store to them for what is judged: so many are judged at most.
    pub judged: u64,
}

impl JudgedMember {
    /// `binding 2 `Results.values[]``; `indexed`: the binding is an array of descriptors.
    pub fn place_in_words(&self, indexed: bool) -> String {
        let Some(place) = &self.place else { return "what device addresses name".to_owned() };
        let index_suffix = if indexed { format!("[{}]", self.array_index) } else { String::new() };
        let block_name = format!("{}{index_suffix}", place.name.as_deref().unwrap_or_default());
        let name_parts: Vec<&str> =
            [block_name.as_str(), self.member.as_deref().unwrap_or_default()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
        let member_name = (!name_parts.is_empty()).then(|| name_parts.join("."));
        StorePlace { set: place.set, binding: place.binding, name: member_name }.to_string()
    }

    /// The member without how much of it is stored and judged.
    pub fn place(&self) -> MemberPlace {
        let Self { kernel, place, array_index, member, stored: _, judged: _ } = self;
        MemberPlace {
            kernel: *kernel,
            place: place.clone(),
            array_index: *array_index,
            member: member.clone(),
        }
    }
}
