//! The trace from requirements without parents to their children and tests, as a tree.
//!
//! Knows: requirements and tests as evidence links them. Promises: every requirement that has room
//! stands below each of its parents, its own children and tests below the first of them; what was
//! not shown differs by its sign, not by colour alone; of a large project the trees with
//! requirements that are not verified come first, and the caption counts what is left out. Does not
//! cover: code, and links that nothing stands behind (the matrices have them).

use super::lettering::fitted_label;
use super::{Drawing, Paint, Shape, Spot};
use crate::document::{ColumnAlign, Text, Tone};
use std::collections::{BTreeMap, BTreeSet};
use vkcert_model::evidence::{Evidence, RequirementEvidence, RequirementStatus, TestEvidence};
use vkcert_model::id::{RequirementId, TestId};
use vkcert_model::verdict::Verdict;

/// Width of a figure.
const WIDTH: f32 = 476.0;
const ROW_STEP: f32 = 11.5;
const NAME_SIZE: f32 = 7.5;
/// Between the columns, where lines stand.
const COLUMN_GAP: f32 = 16.0;
const MOST_COLUMN_WIDTH: f32 = 150.0;
/// Generations of requirements.
const MOST_GENERATIONS: usize = 4;
/// Rows of a figure, and of all of them.
const FIGURE_ROWS: usize = 46;
const MOST_ROWS: usize = 4 * FIGURE_ROWS;

/// A requirement or a test with what stands behind it.
#[derive(Debug, Clone)]
struct TraceNode {
    name: Text,
    children: Vec<TraceNode>,
}

/// What begins on a row, behind what began on rows above.
struct TraceRow<'a> {
    above: Vec<&'a TraceNode>,
    begun: Vec<&'a TraceNode>,
}

/// The trees on as many figures as it takes; none where there are no requirements.
pub(crate) fn trace_drawings(evidence: &Evidence) -> Vec<Drawing> {
    let mut forest = Forest::of(evidence);
    let trees = forest.trees();
    let mut rows = Vec::new();
    for tree in &trees {
        add_rows(tree, &mut Vec::new(), &mut rows);
    }
    let all_rows = rows.len();
    rows.truncate(MOST_ROWS);
    let column_count = rows.iter().map(|row| row.above.len() + row.begun.len()).max().unwrap_or(0);
    let figure_count = rows.len().div_ceil(FIGURE_ROWS);
    let drawn_words = match all_rows.saturating_sub(rows.len()) {
        0 => String::new(),
        left_out => format!(
            " {left_out} of {all_rows} rows have no room: trees with requirements that are not verified come first, the matrices have \
             all."
        ),
    };
    let figures = rows.chunks(FIGURE_ROWS).enumerate();
    figures
        .map(|(index, rows)| {
            let part_words = match figure_count {
                1 => String::new(),
                _ => format!(", part {} of {figure_count}", index + 1),
            };
            let caption = format!(
                "Trace of {} requirements and {} tests{part_words}: a requirement without parents on the left, what it leads to on \
                 its right. ✓ verified or passed, ✗ not, · neither is to be said.{drawn_words}",
                evidence.campaign.requirements.len(),
                evidence.campaign.tests.len()
            );
            draw_rows(rows, column_count, caption)
        })
        .collect()
}

/// Requirements and tests by their ids.
struct Forest<'a> {
    requirements: BTreeMap<&'a RequirementId, &'a RequirementEvidence>,
    tests: BTreeMap<&'a TestId, &'a TestEvidence>,
    in_order: &'a [RequirementEvidence],
    /// Those whose children and tests are told.
    told: BTreeSet<&'a RequirementId>,
}

impl<'a> Forest<'a> {
    fn of(evidence: &'a Evidence) -> Self {
        let campaign = &evidence.campaign;
        Self {
            requirements: campaign
                .requirements
                .iter()
                .map(|item| (&item.requirement.uid, item))
                .collect(),
            tests: campaign.tests.iter().map(|test| (&test.id, test)).collect(),
            in_order: &campaign.requirements,
            told: BTreeSet::new(),
        }
    }

    /// Those with what is not verified first; what no tree reaches is a tree of its own.
    fn trees(&mut self) -> Vec<TraceNode> {
        let mut trees: Vec<(bool, TraceNode)> = Vec::new();
        let is_root = |item: &&RequirementEvidence, requirements: &BTreeMap<_, _>| {
            item.requirement.parents.iter().all(|link| !requirements.contains_key(&link.uid))
        };
        let in_order = self.in_order;
        let (roots, others): (Vec<_>, Vec<_>) =
            in_order.iter().partition(|item| is_root(item, &self.requirements));
        for item in roots.into_iter().chain(others) {
            if !self.told.contains(&item.requirement.uid) {
                let is_verified = self.is_verified(item, &mut BTreeSet::new());
                trees.push((is_verified, self.node(item, 1)));
            }
        }
        trees.sort_by_key(|(is_verified, _)| *is_verified);
        trees.into_iter().map(|(_, tree)| tree).collect()
    }

    fn is_verified(
        &self,
        item: &'a RequirementEvidence,
        seen: &mut BTreeSet<&'a RequirementId>,
    ) -> bool {
        let is_new = seen.insert(&item.requirement.uid);
        let is_good = match item.status {
            RequirementStatus::Verified
            | RequirementStatus::VerifiedByChildren
            | RequirementStatus::ByOtherMeans => true,
            RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => {
                false
            }
        };
        let mut children = item.children.iter().filter_map(|uid| self.requirements.get(uid));
        is_good && (!is_new || children.all(|child| self.is_verified(child, seen)))
    }

    fn node(&mut self, item: &'a RequirementEvidence, generation: usize) -> TraceNode {
        let uid = &item.requirement.uid;
        let (sign, tone) = status_sign(item.status);
        let words = format!("{sign} {uid} {}", item.requirement.title);
        let name = Text::plain(words).with_tone(tone).with_link(format!("requirement/{uid}"));
        if !self.told.insert(uid) {
            let repeated = format!("{sign} {uid} (told above)");
            let name =
                Text::plain(repeated).with_tone(tone).with_link(format!("requirement/{uid}"));
            return TraceNode { name, children: Vec::new() };
        }
        let mut children = Vec::new();
        let known_children: Vec<&'a RequirementEvidence> =
            item.children.iter().filter_map(|uid| self.requirements.get(uid).copied()).collect();
        if generation < MOST_GENERATIONS {
            children.extend(known_children.iter().map(|child| self.node(child, generation + 1)));
        } else if !known_children.is_empty() {
            let words = format!("and {} below", known_children.len());
            children.push(TraceNode { name: Text::quiet(words), children: Vec::new() });
        }
        children.extend(item.tests.iter().map(|id| self.test_node(id)));
        children.extend(item.left_out_tests.iter().map(|id| TraceNode {
            name: Text::plain(format!("· {id} (left out)")).with_tone(Tone::Bad),
            children: Vec::new(),
        }));
        if children.is_empty() {
            let words = format!("no test: {}", item.status);
            children.push(TraceNode { name: Text::plain(words).with_tone(tone), children: vec![] });
        }
        TraceNode { name, children }
    }

    fn test_node(&self, id: &TestId) -> TraceNode {
        let (sign, tone) = self.tests.get(id).map_or(("·", Tone::Caution), |test| test_sign(test));
        let name = Text::plain(format!("{sign} {id}")).with_tone(tone);
        TraceNode { name: name.with_link(format!("test/{id}")), children: Vec::new() }
    }
}

fn status_sign(status: RequirementStatus) -> (&'static str, Tone) {
    match status {
        RequirementStatus::Verified | RequirementStatus::VerifiedByChildren => ("✓", Tone::Good),
        RequirementStatus::Failed | RequirementStatus::Untested | RequirementStatus::Open => {
            ("✗", Tone::Bad)
        }
        RequirementStatus::ByOtherMeans => ("·", Tone::Quiet),
    }
}

/// Of all engines that ran it.
fn test_sign(test: &TestEvidence) -> (&'static str, Tone) {
    let mut verdicts = test.results.iter().map(|result| result.verdict);
    let is_bad = |verdict: Verdict| match verdict {
        Verdict::Pass | Verdict::NotRun | Verdict::Unsupported => false,
        Verdict::Fail | Verdict::Error | Verdict::Timeout | Verdict::Undetermined => true,
    };
    if verdicts.clone().any(is_bad) {
        ("✗", Tone::Bad)
    } else if verdicts.any(|verdict| verdict == Verdict::Pass) {
        ("✓", Tone::Good)
    } else {
        ("·", Tone::Caution)
    }
}

/// A node's first child stands on its row, each further one begins a row.
fn add_rows<'a>(node: &'a TraceNode, above: &mut Vec<&'a TraceNode>, rows: &mut Vec<TraceRow<'a>>) {
    let begins_row = rows.last().is_none_or(|row| {
        row.above.len() + row.begun.len() != above.len()
            || !above.last().is_some_and(|parent| {
                row.begun.last().is_some_and(|last| std::ptr::eq(*last, *parent))
            })
    });
    if begins_row {
        rows.push(TraceRow { above: above.clone(), begun: Vec::new() });
    }
    rows.last_mut().expect("a row was begun").begun.push(node);
    above.push(node);
    for child in &node.children {
        add_rows(child, above, rows);
    }
    above.pop();
}

fn draw_rows(rows: &[TraceRow], column_count: usize, caption: String) -> Drawing {
    let gaps = column_count.saturating_sub(1) as f32 * COLUMN_GAP;
    let column_width = ((WIDTH - gaps) / column_count.max(1) as f32).min(MOST_COLUMN_WIDTH);
    let left_of = |column: usize| column as f32 * (column_width + COLUMN_GAP);
    let mut shapes = Vec::new();
    let mut told_rows = Vec::new();
    // The row on which each column was last begun.
    let mut last_rows: Vec<Option<usize>> = vec![None; column_count];
    for (row_index, row) in rows.iter().enumerate() {
        let first_column = row.above.len();
        let baseline = row_index as f32 * ROW_STEP + NAME_SIZE;
        let middle = baseline - 2.5;
        // What goes on from the figure before is named again.
        let continued = row.above.iter().filter(|_| row_index == 0);
        let continued = continued.map(|node| {
            let name = node.name.0.first().map_or("", |run| run.text.as_str());
            Text::quiet(format!("… {name}"))
        });
        let names = continued.chain(row.begun.iter().map(|node| node.name.clone()));
        let begin = if row_index == 0 { 0 } else { first_column };
        let mut told_names = Vec::new();
        for (column, name) in (begin..).zip(names) {
            let left = left_of(column);
            told_names.push(name.0[0].text.clone());
            let spot = Spot { x: left, y: baseline };
            shapes.push(fitted_label(spot, ColumnAlign::Left, NAME_SIZE, column_width, name));
            if column > 0 {
                shapes.extend(branch_lines(
                    left,
                    middle,
                    row_index,
                    column > begin,
                    &last_rows,
                    column,
                ));
            }
            last_rows[column] = Some(row_index);
        }
        told_rows.push(told_names.join(" to "));
    }
    Drawing {
        caption: Text::plain(caption),
        description: format!("Trace: {}", told_rows.join("; ")),
        width: WIDTH,
        height: rows.len() as f32 * ROW_STEP,
        shapes,
    }
}

/// From a parent on the same row, or down from the sibling above.
fn branch_lines(
    left: f32,
    middle: f32,
    row_index: usize,
    has_parent_beside: bool,
    last_rows: &[Option<usize>],
    column: usize,
) -> Vec<Shape> {
    let (trunk, end) = (left - 9.0, left - 2.5);
    let begin = if has_parent_beside { left - COLUMN_GAP + 2.0 } else { trunk };
    let mut lines = vec![vec![Spot { x: begin, y: middle }, Spot { x: end, y: middle }]];
    if let (false, Some(above)) = (has_parent_beside, last_rows[column]) {
        let rise = (row_index - above) as f32 * ROW_STEP;
        lines.push(vec![Spot { x: trunk, y: middle - rise }, Spot { x: trunk, y: middle }]);
    }
    lines.into_iter().map(|spots| Shape::line(spots, 0.6, Paint::Accent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use vkcert_sample as sample;

    fn labels(drawings: &[Drawing]) -> Vec<String> {
        let shapes = drawings.iter().flat_map(|drawing| &drawing.shapes);
        let of_shape = |shape: &Shape| match shape {
            Shape::Label { text, .. } => Some(text.text.clone()),
            Shape::Area { .. } | Shape::Line { .. } | Shape::Raster { .. } => None,
        };
        shapes.filter_map(of_shape).collect()
    }

    #[test]
    fn every_requirement_and_test_of_the_evidence_stands_in_the_tree() {
        let evidence = sample::evidence();
        let labels = labels(&trace_drawings(&evidence));
        for item in &evidence.campaign.requirements {
            let begin = format!("{} {}", status_sign(item.status).0, item.requirement.uid);
            assert!(labels.iter().any(|label| label.starts_with(&begin)), "{begin}: {labels:#?}");
            for id in &item.tests {
                assert!(labels.iter().any(|label| label.ends_with(id.as_str())), "{id}");
            }
        }
    }

    #[test]
    fn a_child_of_two_parents_is_told_once_and_named_twice() {
        let mut evidence = sample::evidence();
        let mut child = evidence.campaign.requirements[0].clone();
        child.requirement.uid = RequirementId::from("LLR-BOTH");
        let mut parents = [child.clone(), child.clone()];
        for (number, parent) in parents.iter_mut().enumerate() {
            parent.requirement.uid = RequirementId::from(format!("HLR-{number}").as_str());
            parent.requirement.parents.clear();
            parent.tests.clear();
            parent.children = vec![child.requirement.uid];
        }
        child.children.clear();
        child.requirement.parents =
            serde_json::from_value(serde_json::json!([{"uid": "HLR-0"}, {"uid": "HLR-1"}]))
                .unwrap();
        evidence.campaign.requirements = parents.into_iter().chain([child]).collect();
        let labels = labels(&trace_drawings(&evidence));
        let of_child = labels.iter().filter(|label| label.contains("LLR-BOTH"));
        let told: Vec<bool> = of_child.map(|label| label.ends_with("(told above)")).collect();
        assert_eq!(told, [false, true], "{labels:#?}");
    }

    #[test]
    fn of_ten_thousand_requirements_those_that_are_not_verified_come_first() {
        let mut evidence = sample::evidence();
        let mut item = evidence.campaign.requirements[0].clone();
        item.requirement.parents.clear();
        item.children.clear();
        evidence.campaign.requirements = (0..10_000)
            .map(|number: u32| {
                let mut item = item.clone();
                item.requirement.uid = RequirementId::from(format!("LLR-{number}").as_str());
                item.status = match number {
                    9_999 => RequirementStatus::Failed,
                    _ => RequirementStatus::Verified,
                };
                item
            })
            .collect();
        let drawings = trace_drawings(&evidence);
        assert_eq!(drawings.len(), 4);
        assert!(drawings.iter().all(|drawing| drawing.height < 560.0));
        assert!(labels(&drawings)[0].starts_with("✗ LLR-9999"));
        let caption = &drawings[0].caption.0[0].text;
        assert!(caption.contains("Trace of 10000 requirements"), "{caption}");
        assert!(caption.contains("rows have no room"), "{caption}");
    }
}
