//! Mutation testing: which small faults the tests noticed, and each one that none did.
//!
//! Promises: every mutant that counts against the score stands here with its change; what a score is
//! of, and what was left out of it, stands beside it.

use super::links::{kernel_link, requirement_link, test_link};
use crate::document::{Block, ColumnAlign, Outline, Table, Text, Tone};
use crate::mutant_diff::{ChangedPart, changes_on_one_line, mutant_diff, stored_text};
use crate::statement::counted;
use std::collections::BTreeMap;
use vkcert_model::evidence::{
    Evidence, JustificationEvidence, MutantCounts, MutantEdit, MutantEvidence, MutantStatus,
    MutationEvidence, MutationExtent, MutationScore, MutationSummary, ThresholdStanding,
    UnreachedPlace, mutants_with_kernels,
};
use vkcert_model::mutation::{MUTATION_OPERATORS, MutationOperator};
use vkcert_model::requirement::JustificationSubject;

/// Where the chapter stands.
pub(super) const ANCHOR: &str = "chapter/mutation";

const WHAT_A_MUTANT_IS: &str = "A mutant is a kernel with one small fault in its text, or in the dispatches of it that tests make in the place of the host. It is killed where a test notices it: by an \
    expectation that does not hold, by a finding that the kernel itself does not have, or by the end of the run (too many steps, an \
    error). The score is the ones killed on the sequential engine of all that compile and are neither proved equivalent, nor duplicates, nor \
    accepted by a justification; it is rounded down. Findings are those of the sequential engine; no requirement asks for them, and what the expectations of the \
    requirements' tests show by themselves is told beside the score. The score changes no status of an objective.";

const WHERE_MUTANTS_ARE: &str = "Each mutant, a killed one too, stands in the evidence (mutation-NAME.json, by kernel), with the verdict of each test that was run with it. Statuses and counts follow \
    from these verdicts, and `vkcert verify` derives them again; whether the verdicts are true is shown by `vkcert verify --replay` alone, which judges all mutants again on the sequential engine.";

/// What a score does not say.
const LIMITS: [&str; 3] = [
    "Mutants were judged on the sequential engine, each test in its ordinary schedule alone. A mutant had ten times the steps of the kernel and 100,000 more, and no more than the limit of the test.",
    "A mutant is one small change of what operators know; a score says nothing of other faults. Of parts of macros and of text that the front end cannot follow there are no mutants, which notes tell.",
    "No tool shows what no test can notice: that a mutant which survived does what the kernel does is proved where it is called equivalent, and is the word of people where it is accepted.",
];

pub(super) fn mutation_chapter(evidence: &Evidence, outline: &mut Outline) {
    let Some(summary) = &evidence.campaign.mutation else { return };
    outline.add_heading(1, "Mutation testing", ANCHOR);
    outline.add_paragraph(WHAT_A_MUTANT_IS);
    outline.add_paragraph(Text::sentence(WHERE_MUTANTS_ARE));
    outline.add_block(score_notice(evidence, summary));
    outline.add_block(Block::List(LIMITS.into_iter().map(Text::plain).collect()));
    limits_of_extent(&summary.asked).into_iter().for_each(|line| outline.add_paragraph(line));
    outline.add_table(kernel_table(summary));
    outline.add_table(operator_table(summary));
    outline.add_paragraph(Text::quiet("Columns that would hold nothing but 0 are left out."));
    outline.add_paragraph(operators_without_mutants(summary));
    test_tables(summary, outline);
    for kernel in &evidence.mutations {
        notes_of_kernel(kernel, outline);
    }
    mutants_on_device(evidence, summary, outline);
    open_mutants(evidence, outline);
    unreached_mutants(evidence, outline);
    accepted_mutants(evidence, outline);
    equivalent_mutants(evidence, outline);
    duplicate_mutants(evidence, outline);
    pairs_of_mutants(evidence, summary, outline);
}

fn score_notice(evidence: &Evidence, summary: &MutationSummary) -> Block {
    let by_expectation = MutationScore::by_expectation(summary);
    let settings = evidence.campaign.settings.as_ref();
    let threshold = settings.and_then(|settings| settings.mutation).map(|demand| demand.threshold);
    let (tone, against) = match threshold {
        None => (Tone::Neutral, "The project states no threshold.".to_owned()),
        Some(threshold) => match summary.against_threshold(threshold) {
            ThresholdStanding::Reached => {
                (Tone::Good, format!("That reaches the threshold of {threshold} %."))
            }
            ThresholdStanding::Below => {
                (Tone::Bad, format!("That is below the threshold of {threshold} %."))
            }
            ThresholdStanding::NotKnown => (
                Tone::Caution,
                format!(
                    "The threshold of {threshold} % is of all mutants of the project: whether their score reaches it is not known."
                ),
            ),
        },
    };
    let uncounted = summary.counts.uncounted_in_words();
    let uncounted = uncounted.map(|words| Text::plain(format!("Not counted: {words}.")));
    let mut lines = vec![Text::plain(format!("By expectations alone {by_expectation}."))];
    lines.extend(uncounted);
    if let Some(score) = summary.score_with_accepted() {
        let classes = classes_of_accepted(evidence);
        lines.push(Text::plain(format!(
            "With the accepted ones, which are not killed, {score}. By the class of their justifications: {classes}."
        )));
    }
    lines.push(Text::plain(against));
    let title = Text::plain(format!("Mutation score {}", summary.score_in_words()));
    Block::Notice { tone, title, lines }
}

/// How many mutants justifications of each class accept.
fn classes_of_accepted(evidence: &Evidence) -> String {
    let mut by_class: BTreeMap<&str, u32> = BTreeMap::new();
    for (kernel, mutant) in mutants_with_kernels(&evidence.mutations) {
        if mutant.status == MutantStatus::Accepted
            && let Some(row) = accepting_justification(evidence, kernel, mutant)
        {
            *by_class.entry(row.justification.class.in_words()).or_default() += 1;
        }
    }
    let classes = by_class.into_iter().map(|(class, count)| format!("{count} {class}"));
    classes.collect::<Vec<_>>().join(", ")
}

/// Those that made no mutant, as far as they were asked for.
fn operators_without_mutants(summary: &MutationSummary) -> Text {
    let asked = &summary.asked.operators;
    let is_idle = |operator: MutationOperator| {
        let is_asked = asked.is_empty() || asked.contains(&operator);
        is_asked && summary.by_operator.iter().all(|row| row.operator != operator)
    };
    let idle = MUTATION_OPERATORS.iter().map(|row| row.operator).filter(|own| is_idle(*own));
    let idle: Vec<Text> = idle.map(|operator| Text::code(operator.code())).collect();
    match (idle.is_empty(), summary.asked.sample.is_some()) {
        (true, _) => Text::plain("Each operator that was asked for made mutants."),
        (false, true) => Text::plain("Operators of which no mutant was drawn: ")
            .followed_by(Text::join(idle, ", ")),
        (false, false) => Text::plain("Operators that were asked for and made no mutant: ")
            .followed_by(Text::join(idle, ", ")),
    }
}

/// What was left out.
fn limits_of_extent(asked: &MutationExtent) -> Vec<Text> {
    let mut lines = Vec::new();
    let mut add = |words: &str, names: Vec<String>| {
        if !names.is_empty() {
            lines.push(Text::plain(format!("{words}: {}.", names.join(", "))));
        }
    };
    let names_of_operators = asked.operators.iter().map(ToString::to_string).collect();
    add("Of these operators alone", names_of_operators);
    add("Of these kernels alone", asked.kernels.iter().map(ToString::to_string).collect());
    let names_of_requirements = asked.requirements.iter().map(ToString::to_string).collect();
    add("Judged by the tests of these requirements alone", names_of_requirements);
    if let Some(sample) = asked.sample {
        lines.push(Text::plain(format!(
            "A sample of {} mutants, drawn with the seed {}. Duplicates are mutants like any other in it, and in what the limits are of.",
            sample.count, sample.seed
        )));
    }
    lines
}

type Count = fn(&MutantCounts) -> u32;

/// Columns of counts: title, what is counted.
const COUNTS: [(&str, Count); 13] = [
    ("Counted", MutantCounts::judged),
    ("Killed", |counts| counts.killed),
    ("by expectation", |counts| counts.by_expectation),
    ("by finding", |counts| counts.by_finding),
    ("by time or error", |counts| counts.by_ending),
    ("Survived", |counts| counts.survived),
    ("No coverage", |counts| counts.no_coverage),
    ("No test", |counts| counts.no_test),
    ("Undecided", |counts| counts.undecided),
    ("Equivalent", |counts| counts.equivalent),
    ("Duplicate", |counts| counts.duplicate),
    ("Accepted", |counts| counts.accepted),
    ("Not compiled", |counts| counts.not_compiled),
];

/// Columns that say something even where they hold nothing but 0.
const ALWAYS_SHOWN: [&str; 3] = ["Counted", "Killed", "Survived"];

/// What something counts, with its name.
struct CountedRow {
    name: Text,
    counts: MutantCounts,
}

/// A table of counts, without columns that hold nothing but 0.
fn counts_table(caption: &str, title: &str, rows: Vec<CountedRow>) -> Table {
    let counts_something = |count: Count| rows.iter().any(|row| count(&row.counts) > 0);
    let is_shown =
        |(name, count): &(&str, Count)| ALWAYS_SHOWN.contains(name) || counts_something(*count);
    let columns: Vec<(&str, Count)> = COUNTS.into_iter().filter(is_shown).collect();
    let mut table = Table::new(caption).columns(&[title]);
    for (name, _) in &columns {
        table = table.with_column(*name, ColumnAlign::Right);
    }
    for CountedRow { name, counts } in rows {
        let cells = columns.iter().map(|(_, count)| Text::plain(count(&counts).to_string()));
        table.add_row(std::iter::once(name).chain(cells).collect());
    }
    table
}

fn kernel_table(summary: &MutationSummary) -> Table {
    let kernels = summary.by_kernel.iter();
    let kernels =
        kernels.map(|row| CountedRow { name: kernel_link(&row.kernel), counts: row.counts });
    let all = CountedRow { name: Text::strong("All"), counts: summary.counts };
    counts_table("Mutants by kernel", "Kernel", kernels.chain([all]).collect())
}

fn operator_table(summary: &MutationSummary) -> Table {
    let caption = "Mutants by operator; one that several operators make counts for each";
    let operators = summary.by_operator.iter().map(|row| {
        let description = Text::sentence(format!(" {}", row.operator.row().description));
        let name = Text::code(row.operator.code()).followed_by(description);
        CountedRow { name, counts: row.counts }
    });
    counts_table(caption, "Operator", operators.collect())
}

/// What tests and requirements would notice by themselves.
fn test_tables(summary: &MutationSummary, outline: &mut Outline) {
    let table_of = |caption: &str, title: &str, alone: &str| {
        let mut table = Table::new(caption).columns(&[title]);
        for title in ["Judged", "Killed", "by expectation", alone] {
            table = table.with_column(title, ColumnAlign::Right);
        }
        table
    };
    let cells = |name: Text, numbers: [u32; 4]| -> Vec<Text> {
        let numbers = numbers.into_iter().map(|number| Text::plain(number.to_string()));
        std::iter::once(name).chain(numbers).collect()
    };
    if !summary.by_requirement.is_empty() {
        let caption = "Mutants that the tests of each requirement kill";
        let mut table = table_of(caption, "Requirement", "by its tests alone");
        for row in &summary.by_requirement {
            let numbers = [row.judged, row.killed, row.by_expectation, row.alone];
            table.add_row(cells(requirement_link(&row.requirement), numbers));
        }
        outline.add_table(table);
        outline.add_paragraph(Text::quiet(
            "Judged: mutants that a test of the requirement reached and judged, accepted ones among them. A test can be of several requirements; then what it kills is of each of them.",
        ));
        let idle = summary.by_requirement.iter().filter(|row| row.killed == 0);
        let idle: Vec<Text> = idle.map(|row| requirement_link(&row.requirement)).collect();
        if !idle.is_empty() {
            let words = Text::plain("Requirements whose tests kill no mutant: ");
            outline.add_paragraph(words.followed_by(Text::join(idle, ", ")));
        }
    }
    if !summary.by_test.is_empty() {
        let mut table = table_of("Mutants that each test kills", "Test case", "by no other test");
        for row in &summary.by_test {
            let numbers = [row.judged, row.killed, row.by_expectation, row.alone];
            table.add_row(cells(test_link(&row.test), numbers));
        }
        outline.add_table(table);
        outline.add_paragraph(Text::quiet(
            "A test that kills nothing which no other kills is one to strengthen, not to delete: it is there for its requirement.",
        ));
    }
}

fn notes_of_kernel(kernel: &MutationEvidence, outline: &mut Outline) {
    for note in kernel.all_notes() {
        let words = Text::plain("Kernel ").followed_by(kernel_link(&kernel.kernel));
        outline.add_paragraph(words.followed_by(Text::sentence(format!(": {note}."))));
    }
}

/// How a device that judged mutants agrees with the sequential engine, and each mutant that an expectation told from its
/// kernel on one of them alone.
fn mutants_on_device(evidence: &Evidence, summary: &MutationSummary, outline: &mut Outline) {
    if summary.by_agreement.is_empty() {
        return;
    }
    outline.add_heading(2, "Mutants on the device", format!("{ANCHOR}-device"));
    outline.add_paragraph(
        "A device was asked about each mutant that compiles and is no duplicate, after the sequential engine, of whose verdicts the score is. It shows \
         contents, time and errors; races, accesses out of bounds and undefined values are found by the sequential engine alone. Not judged there are mutants that \
         could damage the process of the driver, tests that do not pass there by themselves, and dispatches without workgroups or without a barrier between them.",
    );
    let mut table = Table::new("Mutants by the engines that killed them")
        .columns(&["Killed"])
        .with_column("Mutants", ColumnAlign::Right);
    for row in &summary.by_agreement {
        let words = Text::plain(row.agreement.words());
        table.add_row(vec![words, Text::plain(row.mutants.to_string())]);
    }
    outline.add_table(table);
    for (kernel, mutant) in mutants_with_kernels(&evidence.mutations) {
        let difference = mutant.agreement().filter(|own| own.is_difference());
        let Some(agreement) = difference else { continue };
        let line = Text::strong(format!("Mutant {} of {}", mutant.id(), kernel.kernel))
            .then_plain(": ")
            .followed_by(Text::plain(agreement.words()).with_tone(Tone::Caution));
        outline.add_block(block_of_mutant(evidence, line, mutant));
    }
}

/// Every mutant that counts and that no test noticed, with its change; those that no test reaches have a table.
fn open_mutants(evidence: &Evidence, outline: &mut Outline) {
    let is_shown = |status: MutantStatus| status.is_open() && status != MutantStatus::NoCoverage;
    for (kernel, open) in mutants_by_kernel(evidence, is_shown) {
        let title = format!("Mutants of {} that no test noticed", kernel.kernel);
        outline.add_heading(2, title, format!("{ANCHOR}/{}", kernel.kernel));
        let count = counted(open.len(), "mutant");
        outline.add_paragraph(format!(
            "{count}. Each is a fault that the tests do not show, or does what the kernel does without a proof, or could not be judged, which is told with it."
        ));
        open.into_iter().for_each(|mutant| outline.add_block(mutant_block(evidence, mutant)));
    }
}

/// Where code is that no test executes, and each mutant of it.
fn unreached_mutants(evidence: &Evidence, outline: &mut Outline) {
    let title = "Mutants that no test reaches";
    let status = MutantStatus::NoCoverage;
    let Some(all_mutants) = mutant_table(evidence, title, status, None) else { return };
    outline.add_heading(2, title, format!("{ANCHOR}-unreached"));
    outline.add_paragraph(
        "Tests run their kernels, and no invocation of any executes what these mutants change. They count as not killed.",
    );
    let mut places = Table::new("Where they are")
        .columns(&["Kernel", "Lines"])
        .with_column("Mutants", ColumnAlign::Right);
    for kernel in &evidence.mutations {
        for place in UnreachedPlace::of_kernel(kernel) {
            places.add_row(vec![
                kernel_link(&kernel.kernel),
                Text::code(place.to_string()),
                Text::plain(place.mutants.to_string()),
            ]);
        }
    }
    outline.add_table(places);
    outline.add_table(all_mutants);
}

/// Every mutant that a justification accepts, with its change and what the justification says.
fn accepted_mutants(evidence: &Evidence, outline: &mut Outline) {
    let is_accepted = |status| status == MutantStatus::Accepted;
    for (kernel, accepted) in mutants_by_kernel(evidence, is_accepted) {
        let title = format!("Mutants of {} that justifications accept", kernel.kernel);
        outline.add_heading(2, title, format!("{ANCHOR}-accepted/{}", kernel.kernel));
        let count = counted(accepted.len(), "mutant");
        outline.add_paragraph(format!(
            "{count}. No test noticed them; they are not counted, because people have signed for them. Nothing proves what they say."
        ));
        for mutant in accepted {
            outline.add_block(mutant_block(evidence, mutant));
            if let Some(row) = accepting_justification(evidence, kernel, mutant) {
                outline.add_paragraph(Text::quiet(approval_in_words(row)));
            }
        }
    }
}

/// The kernels with mutants of some statuses, and these.
fn mutants_by_kernel(
    evidence: &Evidence,
    is_wanted: impl Fn(MutantStatus) -> bool,
) -> impl Iterator<Item = (&MutationEvidence, Vec<&MutantEvidence>)> {
    let kernels = evidence.mutations.iter().map(move |kernel| {
        let mutants = kernel.mutants.iter().filter(|mutant| is_wanted(mutant.status));
        (kernel, mutants.collect::<Vec<_>>())
    });
    kernels.filter(|(_, mutants)| !mutants.is_empty())
}

fn accepting_justification<'e>(
    evidence: &'e Evidence,
    kernel: &MutationEvidence,
    mutant: &MutantEvidence,
) -> Option<&'e JustificationEvidence> {
    let subject = JustificationSubject::Mutant(mutant.id());
    let mut rows = evidence.campaign.justifications.iter();
    rows.find(|row| {
        row.justification.kernel == kernel.kernel
            && row.justification.subject == subject
            && row.rejected.is_none()
    })
}

/// Where a justification stands, when it was approved, and what was signed.
fn approval_in_words(row: &JustificationEvidence) -> String {
    let date = row.justification.date.as_deref().unwrap_or("not dated");
    format!("{}, {date}, {}", row.file, row.justification.hash)
}

fn mutant_block(evidence: &Evidence, mutant: &MutantEvidence) -> Block {
    block_of_mutant(evidence, mutant_line(mutant), mutant)
}

/// A line about a mutant, and its change.
fn block_of_mutant(evidence: &Evidence, line: Text, mutant: &MutantEvidence) -> Block {
    let change = diff_lines(evidence, &mutant.edits);
    Block::Together(vec![Block::Paragraph(line), Block::Lines(change)])
}

fn mutant_line(mutant: &MutantEvidence) -> Text {
    let codes: Vec<&str> = mutant.operators.iter().map(|operator| operator.code()).collect();
    let accepting = mutant.acceptance.as_ref().and_then(|own| own.justification.as_deref());
    let reason = accepting.or(mutant.runs.reason());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    let contents = mutant.runs.other_contents_in_words();
    let contents = contents.map(|words| format!("; {words}")).unwrap_or_default();
    Text::strong(format!("Mutant {}", mutant.id()))
        .then_plain(format!(" ({}) ", codes.join(", ")))
        .followed_by(Text::plain(mutant.status.word()).with_tone(Tone::Caution))
        .then_plain(reason)
        .followed_by(Text::sentence(contents))
}

/// The lines of a diff; its signs say what its tones say.
fn diff_lines(evidence: &Evidence, edits: &[MutantEdit]) -> Vec<Text> {
    let diff = mutant_diff(edits, |file| stored_text(evidence, file));
    let line_text = |line: &str| {
        let tone = match line.as_bytes().first() {
            _ if line.starts_with("---") || line.starts_with("+++") => Tone::Quiet,
            Some(b'-') => Tone::Bad,
            Some(b'+') => Tone::Good,
            Some(b'@' | b'\\') => Tone::Quiet,
            Some(_) | None => Tone::Neutral,
        };
        Text::code(line).with_tone(tone)
    };
    diff.lines().map(line_text).collect()
}

/// Those that are proved to do what the kernel does, with the name of the proof.
fn equivalent_mutants(evidence: &Evidence, outline: &mut Outline) {
    let title = "Mutants proved equivalent";
    let proof = |_: &MutationEvidence, mutant: &MutantEvidence| {
        mutant.proof.map_or("", |proof| proof.name()).to_owned()
    };
    let proof = MutantColumn { title: "Proof", text: &proof };
    let Some(table) = mutant_table(evidence, title, MutantStatus::Equivalent, Some(proof)) else {
        return;
    };
    outline.add_heading(2, title, format!("{ANCHOR}-equivalent"));
    outline.add_paragraph(
        "They are not counted. Proof same-module: mutant and kernel are compiled to one module, but for names, lines, numbers of ids, capabilities \
         and what the entry point does not reach. Proof same-normal-form: without optimisation \
         their modules differ in nothing but comparisons that come to the same for all values of their operands (of an unsigned x, x > 0 and \
         x != 0) and the conditions of loops that count by 1 up to a bound (i < n and i != n). Proof same-by-ranges: they differ in nothing but \
         comparisons of integers that come to the same for all values that their operands can have in the kernel where its behaviour is \
         defined, whatever the host hands over (of a multiple of 8, shift < 31 and shift < 32).",
    );
    outline.add_table(table);
}

/// Those that are the fault of another one in other words.
fn duplicate_mutants(evidence: &Evidence, outline: &mut Outline) {
    let title = "Duplicates";
    let first = |kernel: &MutationEvidence, mutant: &MutantEvidence| {
        kernel.first_of(mutant).map(|first| first.id().to_string()).unwrap_or_default()
    };
    let first = MutantColumn { title: "Same as", text: &first };
    let Some(table) = mutant_table(evidence, title, MutantStatus::Duplicate, Some(first)) else {
        return;
    };
    outline.add_heading(2, title, format!("{ANCHOR}-duplicates"));
    outline.add_paragraph(
        "They are compiled to the module of another mutant of their kernel, which has a lower number, but for names, lines, numbers of ids, \
         capabilities and what the entry point does not reach: what its tests make of it holds for all of them, and they are not counted.",
    );
    outline.add_table(table);
}

/// Two mutants at once, of those that tests kill one by one.
fn pairs_of_mutants(evidence: &Evidence, summary: &MutationSummary, outline: &mut Outline) {
    if summary.by_relation.is_empty() {
        return;
    }
    outline.add_heading(2, "Two mutants at once", format!("{ANCHOR}-pairs"));
    outline.add_paragraph(
        "Each mutant that tests kill is paired with the next one behind it in the text (place), and with the next one in a statement that has the name \
         which the statement of the first assigns (data flow). Two faults can hide each other: a pair that no test noticed is listed, for information: pairs do not count for the score, and nobody need accept them. Many of these do what the kernel does, which nothing proves: two changes of sign in a product.",
    );
    let relations = summary.by_relation.iter();
    let relations = relations
        .map(|row| CountedRow { name: Text::plain(row.relation.words()), counts: row.counts });
    let caption = "Pairs by why they are paired";
    outline.add_table(counts_table(caption, "Paired by", relations.collect()));
    let open = evidence.mutations.iter().flat_map(|kernel| {
        let pairs = kernel.pairs.iter().filter(|pair| pair.status.is_open());
        pairs.map(move |pair| (kernel, pair))
    });
    let mut open = open.peekable();
    if open.peek().is_none() {
        return;
    }
    let columns = ["Kernel", "First mutant", "Second mutant", "Paired by", "Status"];
    let mut table = Table::new("Pairs that no test noticed").columns(&columns);
    for (kernel, pair) in open {
        let part = |number| {
            let mutant = kernel.mutant_of_number(number);
            mutant.map(|mutant| mutant_in_a_cell(evidence, mutant)).unwrap_or_default()
        };
        let [first, second] = pair.parts.map(part);
        let (relation, status) = (pair.relation.words(), pair.status.word());
        table.add_row(vec![
            kernel_link(&kernel.kernel),
            first,
            second,
            Text::plain(relation),
            Text::plain(status),
        ]);
    }
    outline.add_table(table);
}

/// Where its first change is.
fn place_of_mutant(mutant: &MutantEvidence) -> String {
    let first = mutant.edits.first();
    first.map(MutantEdit::place).unwrap_or_default()
}

/// A mutant's name, where it is, and its change.
fn mutant_in_a_cell(evidence: &Evidence, mutant: &MutantEvidence) -> Text {
    let ChangedPart { old, new } =
        changes_on_one_line(&mutant.edits, |file| stored_text(evidence, file));
    let name = Text::strong(mutant.id().to_string()).then_plain(" ");
    let placed = name.followed_by(Text::code(place_of_mutant(mutant))).then_plain(": ");
    let old = placed.followed_by(Text::code(old)).then_plain(" becomes ");
    match new.is_empty() {
        true => old.then_plain("nothing"),
        false => old.followed_by(Text::code(new)),
    }
}

/// What a column says of each mutant.
struct MutantColumn<'a> {
    title: &'a str,
    text: &'a dyn Fn(&MutationEvidence, &MutantEvidence) -> String,
}

/// The mutants of a status, with what a last column says of them; none where there are none.
fn mutant_table(
    evidence: &Evidence,
    caption: &str,
    status: MutantStatus,
    last: Option<MutantColumn<'_>>,
) -> Option<Table> {
    let mut rows = mutants_by_kernel(evidence, |own| own == status)
        .flat_map(|(kernel, mutants)| mutants.into_iter().map(move |mutant| (kernel, mutant)))
        .peekable();
    rows.peek()?;
    let mut columns = vec!["Kernel", "Mutant", "Operators", "Place", "Old", "New"];
    columns.extend(last.as_ref().map(|column| column.title));
    let mut table = Table::new(caption).columns(&columns);
    for (kernel, mutant) in rows {
        let codes: Vec<&str> = mutant.operators.iter().map(|operator| operator.code()).collect();
        let ChangedPart { old, new } =
            changes_on_one_line(&mutant.edits, |file| stored_text(evidence, file));
        let mut cells = vec![
            kernel_link(&kernel.kernel),
            Text::plain(mutant.id().to_string()),
            Text::plain(codes.join(", ")),
            Text::code(place_of_mutant(mutant)),
            Text::code(old),
            Text::code(new),
        ];
        cells.extend(last.as_ref().map(|column| Text::plain((column.text)(kernel, mutant))));
        table.add_row(cells);
    }
    Some(table)
}
