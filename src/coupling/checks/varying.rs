//! Sizes of the kernel under specialization constants to which the host gives no one value.
//!
//! Knows: which constants each size depends on, and which of them vary with the host's parameters.
//! Promises: a size that varies is named with its constants, so that no check takes it as the one
//! that the kernel's defaults make.
//! Does not cover: what the sizes are.

use crate::CouplingInput;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_requirement::host::specialized_values;
use vkcert_spirv::interface::SizeConstants;

/// The sizes of a kernel, and the constants that vary.
pub(crate) struct VaryingSizes<'a> {
    /// Which constants each size depends on.
    pub(crate) sizes: SizeConstants,
    /// Of the constants that vary: what the host gives them.
    values: BTreeMap<u32, &'a str>,
}

impl<'a> VaryingSizes<'a> {
    pub(crate) fn of_input(input: &CouplingInput<'a>) -> Self {
        // The reflection shows that the entry point can be read.
        let sizes = SizeConstants::of_entry_point(input.module, &input.reflection.entry);
        let settled_values = specialized_values(input.interface);
        let rows = input.interface.specialization.iter();
        let varying = rows.filter(|row| settled_values.get(&row.id).is_none_or(Option::is_none));
        Self {
            sizes: sizes.unwrap_or_default(),
            values: varying.map(|row| (row.id, row.value.as_str())).collect(),
        }
    }

    /// `specialization constant 5, which takes n, no one value`; none where no constant varies.
    pub(crate) fn in_words<'c>(
        &self,
        constants: impl IntoIterator<Item = &'c u32>,
    ) -> Option<String> {
        let constants: BTreeSet<u32> = constants.into_iter().copied().collect();
        let varying = constants.iter().filter_map(|id| Some((id, self.values.get(id)?)));
        let words: Vec<String> = varying
            .map(|(id, value)| {
                format!("specialization constant {id}, which takes {value}, no one value")
            })
            .collect();
        (!words.is_empty()).then(|| words.join(", and on "))
    }

    /// Whether any size depends on a constant that varies.
    pub(super) fn depend_on(&self, constant: u32) -> bool {
        self.values.contains_key(&constant) && self.sizes.all().contains(&constant)
    }
}
