//! What finds things on the page: search, filter, the next open place, the theme. The script shows
//! it; without one the whole page reads as it is.

use maud::{Markup, html};
use std::collections::BTreeSet;
use vkcert_model::evidence::Evidence;
use vkcert_model::id::KernelName;

/// `known_names` are proposed to a search.
pub(super) fn toolbar(known_names: &BTreeSet<String>) -> Markup {
    html! {
        search.toolbar hidden aria-label="Find on this page" {
            label {
                "Find "
                input type="search" list="known-names" placeholder="words, test, requirement, kernel"
                    autocomplete="off" spellcheck="false" aria-keyshortcuts="/";
            }
            datalist id="known-names" {
                @for name in known_names { option value=(name) {} }
            }
            label { input.open-only type="checkbox"; " open only" }
            button.next-open type="button" aria-keyshortcuts="n" { "Next open" }
            button.theme type="button" aria-keyshortcuts="t" { "Theme: system" }
            details.keys {
                summary { "Keys" }
                p {
                    kbd { "/" } " find, " kbd { "Esc" } " clear, " kbd { "n" } " and " kbd { "p" }
                    " next and previous open place, " kbd { "o" } " open only, " kbd { "t" } " theme; a click or Enter on the title of a column sorts by it; arrows, Home and End move in a tree, right and left open and close; in a figure " kbd { "+" } " and " kbd { "-" } " change its size, " kbd { "0" } " is as printed, arrows scroll it."
                }
            }
            output.shown aria-live="polite" {}
        }
    }
}

/// What a filter by test, requirement or kernel takes.
pub(super) fn names_of_run(evidence: &Evidence) -> BTreeSet<String> {
    let campaign = &evidence.campaign;
    let tests = campaign.tests.iter().map(|test| test.id.to_string());
    let requirements =
        campaign.requirements.iter().map(|requirement| requirement.requirement.uid.to_string());
    let kernels = evidence.kernels.iter().map(|kernel| kernel.kernel.to_string());
    tests.chain(requirements).chain(kernels).collect()
}

/// The same on the page of one kernel: its tests and what these verify.
pub(super) fn names_of_kernel(evidence: &Evidence, kernel: &KernelName) -> BTreeSet<String> {
    let all_tests = evidence.campaign.tests.iter();
    let own_tests = all_tests.filter(|test| test.kernels.contains(kernel));
    own_tests
        .flat_map(|test| {
            let requirements = test.requirements.iter().map(ToString::to_string);
            requirements.chain([test.id.to_string()])
        })
        .collect()
}
