//! Notes on what no test judges of an output that is judged, and on expectations that judge nothing.
//!
//! Promises: a member is named unless some test judges every element of it that it changes, or one where none changes any.
//! Does not cover: outputs that no test judges at all (`notes`).

use super::Stored;
use super::notes::{listed, outputs};
use crate::model::evidence::{TestEvidence, TestResult};
use crate::model::flow::StorePlace;
use crate::model::id::KernelName;
use crate::model::judged::{JudgedMember, MemberPlace};
use crate::model::open_item::{CampaignNote, NoteKind};
use crate::model::verdict::{EngineName, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Descriptors in arrays of which more than the first is bound.
type Arrays<'a> = BTreeSet<(&'a KernelName, Option<&'a StorePlace>)>;

/// Members of judged outputs of which no test judges all elements.
pub fn in_part(stored: &Stored) -> Option<CampaignNote> {
    let outputs = outputs(stored);
    let is_judged = |row: &&JudgedMember| outputs.get(&(&row.kernel, row.place.as_ref())) == Some(&true);
    let rows = || passed(stored).flat_map(|(_, result)| &result.judged).filter(is_judged);
    let of_arrays = rows().filter(|row| row.array_index > 0);
    let arrays: Arrays = of_arrays.map(|row| (&row.kernel, row.place.as_ref())).collect();
    let mut best: BTreeMap<MemberPlace, &JudgedMember> = BTreeMap::new();
    for row in rows() {
        let known = best.entry(row.place()).or_insert(row);
        if share(row) > share(known) {
            *known = row;
        }
    }
    let open = best.values().filter(|row| row.judged < row.stored || row.judged == 0);
    let mut kernels: Vec<(&KernelName, Vec<String>)> = Vec::new();
    for row in open {
        let sentence = in_words(row, &arrays);
        match kernels.last_mut() {
            Some((known, sentences)) if **known == row.kernel => sentences.push(sentence),
            Some(_) | None => kernels.push((&row.kernel, vec![sentence])),
        }
    }
    let named: Vec<String> = kernels.iter().map(|(kernel, rows)| format!("{kernel} ({})", listed(rows))).collect();
    let sentence = format!(
        "Judged outputs of which no single test judges all, at the scale of each element, directly or through what else is made of \
         them: {}.",
        listed(&named)
    );
    (!named.is_empty()).then_some(CampaignNote { kind: NoteKind::OutputsNotJudged, sentence })
}

/// Tests that passed on the sequential engine, with their results there.
fn passed<'a>(stored: &'a Stored) -> impl Iterator<Item = (&'a TestEvidence, &'a TestResult)> {
    stored.campaign.tests.iter().flat_map(|test| {
        let passed = |result: &&TestResult| result.engine == EngineName::Sequential && result.verdict == Verdict::Pass;
        test.results.iter().filter(passed).map(move |result| (test, result))
    })
}

/// How much of a member is judged, then how many elements that are, to be compared.
fn share(row: &JudgedMember) -> (u128, u64) {
    ((u128::from(row.judged) << 64) / u128::from(row.stored.max(1)), row.stored)
}

/// `binding 2 `Results.values[]`: at most 2 of 4 stored elements judged by any test`
fn in_words(row: &JudgedMember, arrays: &Arrays) -> String {
    let place = row.place_in_words(arrays.contains(&(&row.kernel, row.place.as_ref())));
    match row.judged {
        0 => format!("{place}: no test judges it"),
        judged => format!("{place}: at most {judged} of {} stored elements judged by any test", row.stored),
    }
}

/// Expectations beside others, which would let everything pass.
pub fn idle(stored: &Stored) -> Option<CampaignNote> {
    let mut named = Vec::new();
    for (test, result) in passed(stored) {
        for number in &result.idle {
            let buffer = test.expected.get(*number as usize).map_or("", |expected| expected.buffer.as_str());
            named.push(format!("test {}: {} of {} (`{buffer}`)", test.id, u64::from(*number) + 1, test.expected.len()));
        }
    }
    let sentence = format!(
        "Expectations that no alteration of what the kernels of their test stored makes fail: {}.",
        listed(&named)
    );
    (!named.is_empty()).then_some(CampaignNote { kind: NoteKind::ExpectationJudgesNothing, sentence })
}
