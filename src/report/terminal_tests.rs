//! The terminal's summary.

use super::tests::terminal;
use super::*;
use vkcert_model::criterion::CriterionName;
use vkcert_sample as sample;

#[test]
fn no_line_of_the_summary_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 100, 120, 200] {
        let presentation = Presentation { width, ..Presentation::default() };
        for evidence in [sample::evidence(), sample::flawless()] {
            let text =
                String::from_utf8(render(&evidence, FormatName::Terminal, &presentation).unwrap())
                    .unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
            }
        }
    }
}

/// Whatever the width, all that is told in a pipe is told: words are only broken over lines.
#[test]
fn nothing_of_the_summary_is_cut() {
    let text = |evidence: &Evidence, width| {
        let presentation = Presentation { width, ..Presentation::default() };
        String::from_utf8(render(evidence, FormatName::Terminal, &presentation).unwrap()).unwrap()
    };
    let evidence = sample::evidence();
    let pipe = text(&evidence, u16::MAX);
    assert!(pipe.contains(sample::LONG_KERNEL), "{pipe}");
    assert!(!pipe.replace("… and ", "").contains('…'), "{pipe}");
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    for width in [60, 80, 100] {
        // Names that belong to several lines stand above them.
        let narrow = text(&evidence, width);
        let narrow = bare(&narrow);
        // Parts of a line are parted by two spaces; a narrow page folds them.
        for part in pipe[pipe.find("  Tests ").unwrap()..].lines().flat_map(|line| line.split("  "))
        {
            let part = part.trim_start_matches(['✗', '·', ' ']);
            assert!(narrow.contains(&bare(part)), "{width}: {part}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_escapes() {
    let plain = Presentation::default();
    let colour = Presentation { colour: Colour::Ansi, ..Presentation::default() };
    let text = |presentation: &Presentation| {
        String::from_utf8(render(&sample::evidence(), FormatName::Terminal, presentation).unwrap())
            .unwrap()
    };
    let mut stripped = String::new();
    for (index, part) in text(&colour).split('\u{1b}').enumerate() {
        let part = if index == 0 { part } else { part.split_once('m').unwrap().1 };
        stripped.push_str(part);
    }
    let trimmed =
        |text: &str| text.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    assert_eq!(trimmed(&stripped), trimmed(&text(&plain)));
}

/// Rounded down to a tenth, and neither to all nor to nothing; what is justified has a row of its
/// own, as on page 1.
#[test]
fn shares_in_the_terminal_are_rounded_down_and_justified_ones_are_told_apart() {
    let mut evidence = sample::flawless();
    assert!(!terminal(&evidence, 200).contains("Justified"));
    let asked = evidence.campaign.project.criteria.clone();
    let row = &mut evidence.campaign.conclusion.summary[0];
    let mut set = |criterion: CriterionName, (covered, justified, total): (u32, u32, u32)| {
        let found = row.criteria.iter_mut().find(|row| row.criterion == criterion).unwrap();
        (found.covered, found.justified, found.total) = (covered, justified, total);
    };
    set(CriterionName::Statement, (9996, 4, 10_000));
    set(CriterionName::Decision, (2, 0, 9000));
    set(CriterionName::Branch, (199, 0, 200));
    let text = terminal(&evidence, 200);
    for share in ["9996+4J/10000 99.9%", "2/9000 <0.1%", "199/200 99.5%"] {
        assert!(text.contains(share), "{share}: {text}");
    }
    assert!(asked.iter().any(|name| *name == CriterionName::Statement), "{asked:?}");
    let justified = text
        .lines()
        .find(|line| line.starts_with("  Justified"))
        .unwrap_or_else(|| panic!("{text}"));
    assert_eq!(
        justified.trim_start_matches("  Justified").trim(),
        "4 obligations, covered by no test"
    );
}

/// A kind stands in a column of its own whether its finding takes one line or more.
#[test]
fn findings_keep_their_column_at_every_width() {
    let text = terminal(&sample::evidence(), 100);
    let rows: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("  Findings")).skip(1).collect();
    let rows = rows.into_iter().take_while(|line| line.starts_with("    "));
    let behind_kind = |line: &str| {
        let kind = line
            .trim_start_matches([' ', '✗'])
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        let at = line.find(&kind).unwrap() + kind.len();
        line[..at].chars().count() + line[at..].chars().take_while(|c| *c == ' ').count()
    };
    let (mut columns, mut folded) = (Vec::new(), 0);
    for line in rows {
        if line.contains('✗') {
            columns.push(behind_kind(line));
        } else if !line.contains('…') {
            folded += 1;
            assert_eq!(line.chars().take_while(|c| *c == ' ').count(), columns[0], "{text}");
        }
    }
    assert!(folded > 0 && columns.len() > 1, "{text}");
    assert!(columns.iter().all(|column| *column == columns[0]), "{columns:?}: {text}");
}
