//! Requirements as a tree: high-level ones, what is made of them, and below each its tests and code.
//!
//! Promises: every requirement stands in it, with its own tests and code, once; where several
//! parents share one, it is named below each of them and drawn out below the first. Neither cycles
//! of parents nor long chains keep it from ending: what lies deeper than `DEPTH` begins a tree of
//! its own.
//! Does not cover: the requirements in full (`requirement`).

use super::links::{requirement_link, test_link};
use super::requirement::{implementing_code, status_text};
use super::test::verdict_text;
use crate::document::{Text, Tone, TreeNode};
use std::collections::{BTreeSet, HashMap, VecDeque};
use vkcert_model::evidence::{Evidence, RequirementEvidence, TestEvidence};
use vkcert_model::id::{RequirementId, TestId};

/// Requirements below each other in one tree; browsers flatten elements that are nested by hundreds.
const DEPTH: usize = 24;

pub(super) fn requirement_tree(evidence: &Evidence) -> Vec<TreeNode> {
    let campaign = &evidence.campaign;
    let mut drawing = TreeDrawing {
        requirements: campaign.requirements.iter().map(|row| (row.requirement.uid, row)).collect(),
        tests: campaign.tests.iter().map(|test| (test.id, test)).collect(),
        drawn: BTreeSet::new(),
        deeper: VecDeque::new(),
    };
    let (roots, others): (Vec<_>, Vec<_>) =
        campaign.requirements.iter().partition(|row| drawing.is_root(row));
    let mut trees = Vec::new();
    // Those of a cycle have no root; each comes behind the others.
    for row in roots.into_iter().chain(others) {
        if !drawing.drawn.contains(&row.requirement.uid) {
            trees.push(drawing.requirement_node(row, 0));
        }
        while let Some(row) = drawing.deeper.pop_front() {
            if !drawing.drawn.contains(&row.requirement.uid) {
                trees.push(drawing.requirement_node(row, 0));
            }
        }
    }
    trees
}

struct TreeDrawing<'a> {
    requirements: HashMap<RequirementId, &'a RequirementEvidence>,
    tests: HashMap<TestId, &'a TestEvidence>,
    /// Requirements whose node with all that is below it is made or in the making.
    drawn: BTreeSet<RequirementId>,
    /// Requirements that are too deep in their tree.
    deeper: VecDeque<&'a RequirementEvidence>,
}

impl<'a> TreeDrawing<'a> {
    fn is_root(&self, row: &RequirementEvidence) -> bool {
        let parents = &row.requirement.parents;
        !parents.iter().any(|parent| self.requirements.contains_key(&parent.uid))
    }

    fn requirement_node(&mut self, row: &'a RequirementEvidence, depth: usize) -> TreeNode {
        let requirement = &row.requirement;
        let line = status_text(row.status)
            .then_plain(format!(" {} ", requirement.level))
            .followed_by(requirement_link(&requirement.uid))
            .then_plain(format!(" {}", requirement.title));
        if self.drawn.contains(&requirement.uid) {
            return TreeNode::leaf(line.followed_by(Text::quiet(" (drawn out above)")));
        }
        if depth == DEPTH {
            self.deeper.push_back(row);
            return TreeNode::leaf(line.followed_by(Text::quiet(" (drawn out below)")));
        }
        self.drawn.insert(requirement.uid);
        let mut below = Vec::new();
        for uid in &row.children {
            below.push(match self.requirements.get(uid).copied() {
                Some(child) => self.requirement_node(child, depth + 1),
                None => TreeNode::leaf(requirement_link(uid)),
            });
        }
        below.extend(row.tests.iter().map(|test| TreeNode::leaf(self.test_line(test))));
        below.extend(row.left_out_tests.iter().map(|test| {
            TreeNode::leaf(
                Text::plain("Test ")
                    .followed_by(Text::code(test.as_str()))
                    .followed_by(Text::plain(" (left out)").with_tone(Tone::Bad)),
            )
        }));
        below.extend(row.code.iter().map(|trace| {
            TreeNode::leaf(Text::plain("Code ").followed_by(implementing_code(row, trace)))
        }));
        TreeNode { line, below }
    }

    /// A test with its verdict on each engine.
    fn test_line(&self, id: &TestId) -> Text {
        let line = Text::plain("Test ").followed_by(test_link(id));
        let Some(test) = self.tests.get(id) else { return line };
        let verdicts = test.results.iter().map(|result| {
            verdict_text(result.verdict).then_plain(format!(" on {}", result.engine))
        });
        let verdicts = Text::join(verdicts, ", ");
        line.then_plain(format!(" {}: ", test.kind)).followed_by(verdicts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use vkcert_model::requirement::ParentLink;
    use vkcert_sample as sample;

    /// How often each requirement is named and drawn out, and how deep the trees are.
    fn counted(trees: &[TreeNode]) -> (BTreeMap<String, (usize, usize)>, usize) {
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let mut deepest = 0;
        let mut waiting: Vec<(&TreeNode, usize)> = trees.iter().map(|node| (node, 0)).collect();
        while let Some((node, depth)) = waiting.pop() {
            deepest = deepest.max(depth);
            let link = node.line.0.iter().find_map(|run| run.link.as_deref()).unwrap_or_default();
            let words: String = node.line.0.iter().map(|run| run.text.as_str()).collect();
            if let Some(uid) = link.strip_prefix("requirement/") {
                let count = counts.entry(uid.to_owned()).or_default();
                count.0 += 1;
                count.1 += usize::from(!words.contains("(drawn out"));
            }
            waiting.extend(node.below.iter().map(|below| (below, depth + 1)));
        }
        (counts, deepest)
    }

    /// Requirements `R0`, `R1`, ... with these links from parent to child.
    fn linked(count: usize, links: &[(usize, usize)]) -> Evidence {
        let mut evidence = sample::evidence();
        let first = evidence.campaign.requirements[0].clone();
        let name = |number: usize| RequirementId::from(format!("R{number}").as_str());
        let rows = (0..count).map(|number| {
            let mut row = first.clone();
            row.requirement.uid = name(number);
            let parents = links.iter().filter(|(_, child)| *child == number);
            let parents = parents.map(|(parent, _)| ParentLink { uid: name(*parent), hash: None });
            row.requirement.parents = parents.collect();
            let children = links.iter().filter(|(parent, _)| *parent == number);
            row.children = children.map(|(_, child)| name(*child)).collect();
            row
        });
        evidence.campaign.requirements = rows.collect();
        evidence
    }

    #[test]
    fn every_requirement_is_drawn_out_once_and_named_below_each_parent() {
        let evidence = linked(5, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
        let (counts, _) = counted(&requirement_tree(&evidence));
        let due = [("R0", 1), ("R1", 1), ("R2", 1), ("R3", 2), ("R4", 1)];
        assert_eq!(counts, due.map(|(uid, times)| (uid.to_owned(), (times, 1))).into());
    }

    #[test]
    fn neither_cycles_nor_long_chains_nor_many_ways_keep_it_from_ending() {
        let (counts, _) = counted(&requirement_tree(&linked(3, &[(0, 1), (1, 0), (2, 2)])));
        assert!(counts.len() == 3 && counts.values().all(|(_, drawn)| *drawn == 1), "{counts:?}");
        let chain: Vec<(usize, usize)> = (1..1000).map(|child| (child - 1, child)).collect();
        let (counts, deepest) = counted(&requirement_tree(&linked(1000, &chain)));
        assert!(counts.len() == 1000 && counts.values().all(|(_, drawn)| *drawn == 1));
        assert!(deepest <= DEPTH + 1, "{deepest}");
        // Two ways from each of 60 to the next are 2^60 ways to the last.
        let ways: Vec<(usize, usize)> =
            (0..120).flat_map(|row| [2, 3].map(|next| (row, row / 2 * 2 + next))).collect();
        let (counts, _) = counted(&requirement_tree(&linked(122, &ways)));
        assert!(counts.len() == 122 && counts.values().all(|(_, drawn)| *drawn == 1));
    }

    #[test]
    fn tests_and_code_stand_below_their_requirement() {
        let evidence = sample::evidence();
        let rows = &evidence.campaign.requirements;
        let mut waiting: Vec<TreeNode> = requirement_tree(&evidence);
        let (mut tests, mut seen) = (0, 0);
        while let Some(node) = waiting.pop() {
            let links = node.line.0.iter().filter_map(|run| run.link.as_deref());
            tests += links.filter(|link| link.starts_with("test/")).count();
            seen += node.below.len();
            waiting.extend(node.below);
        }
        assert_eq!(tests, rows.iter().map(|row| row.tests.len()).sum::<usize>());
        let all_parts =
            rows.iter().map(|row| row.children.len() + row.tests.len() + row.code.len());
        assert_eq!(seen, all_parts.sum::<usize>());
    }
}
