//! Specialization constants: ids and values that the host sets against those that the kernel has.
//!
//! Knows: the constants of both sides, and what sizes the kernel has under other values.
//! Promises: a value that does not fit its type is refuted; a constant of no one value that sizes
//! depend on is undetermined.
//! Does not cover: what the kernel computes under a value.

use super::Subject;
use crate::rows::{Rows, printed};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_requirement::host::specialized_values;
use vkcert_spirv::interface::{Reflection, SpecializationConstant};

impl Subject<'_> {
    /// Whether a constant changes the local size, or the size of anything that the host binds. Two
    /// other values are tried.
    fn sizes_depend_on(&self, constant: &SpecializationConstant) -> bool {
        let sizes = |value: u64| {
            let set = BTreeMap::from([(constant.spec_id, value)]);
            let kernel =
                Reflection::of_entry_point(self.input.module, &self.reflection().entry, &set)
                    .ok()?;
            Some((kernel.local_size, kernel.resources, kernel.push_constants, kernel.workgroup))
        };
        let default = sizes(constant.default);
        [constant.default ^ 1, constant.default ^ 8]
            .into_iter()
            .any(|value| sizes(value) != default)
    }

    pub(crate) fn specialization(&self, rows: &mut Rows) {
        let declared = &self.reflection().specialization;
        let mut given = BTreeSet::new();
        let values = specialized_values(self.input.interface);
        let varying: BTreeSet<u32> =
            values.iter().filter(|(_, value)| value.is_none()).map(|(id, _)| *id).collect();
        for (constant, value) in
            self.input.interface.specialization.iter().zip(&self.expressions.specialization)
        {
            let id = constant.id;
            rows.about(format!("constant {id}"));
            let Some(known) = declared.iter().find(|known| known.spec_id == id) else {
                rows.refuted(
                    "specialization-ids",
                    format!("the host sets specialization constant {id}; the kernel has none"),
                    None,
                );
                continue;
            };
            if !given.insert(id) {
                rows.refuted(
                    "specialization-ids",
                    format!("the host sets specialization constant {id} twice"),
                    None,
                );
            }
            let (lowest, highest) = specialization_range(&known.type_name, known.width);
            let answer = self.host.decide_for_all(&[value], &|case| {
                (lowest..=highest).contains(&self.value(value, case))
            });
            let claim = format!(
                "specialization constant {id} ({}) takes {}",
                known.type_name, constant.value
            );
            rows.answer("specialization-ids", answer, &claim, |values| {
                format!(
                    "specialization constant {id} is a {}, and {} does not fit ({})",
                    known.type_name,
                    constant.value,
                    printed(values)
                )
            });
            if varying.contains(&id) && self.sizes_depend_on(known) {
                let sizes =
                    "sizes were taken from the kernel's default, and nothing is shown of others";
                let message = format!(
                    "specialization constant {id} takes {}, no one value: {sizes}",
                    constant.value
                );
                rows.undetermined("specialization-ids", message);
            }
        }
        let defaulted: Vec<String> = declared
            .iter()
            .filter(|known| !given.contains(&known.spec_id))
            .map(|known| format!("{} keeps its default {}", known.spec_id, known.default))
            .collect();
        if !defaulted.is_empty() {
            rows.holds(
                "specialization-ids",
                format!("not set by the host: {}", defaulted.join(", ")),
            );
        }
    }
}

fn specialization_range(type_name: &str, width: u32) -> (i128, i128) {
    match type_name {
        "bool" => (0, 1),
        name if name.starts_with("int") => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        _ => (0, (1i128 << width) - 1),
    }
}
