//! `campaign.json` as text, made on all cores and handed over piece by piece.
//!
//! Promises: the pieces together are the canonical text of the campaign; the long lists in it are
//! never in memory as a whole.

use super::Campaign;
use crate::canonical::nested_lines;
use crate::pipelined::write_while_making;
use rayon::prelude::*;
use serde::Serialize;

/// Rows of a list that are in memory as text at a time.
const ROWS_AT_A_TIME: usize = 256;

/// Makes the canonical text of a campaign where it stands within others, behind `depth` steps of
/// indentation ([`nested_lines`]), and hands its pieces to `write` in their order.
///
/// # Errors
/// Those of `write`, and of values that cannot be written as JSON.
pub fn write_campaign_text<E: From<serde_json::Error> + Send>(
    campaign: &Campaign,
    depth: usize,
    write: &mut (dyn FnMut(&str) -> Result<(), E> + Send),
) -> Result<(), E> {
    let frame = nested_lines(&without_lists(campaign), depth)?;
    let mut text = FramedText { rest: &frame, depth, write };
    // In the order of their keys.
    text.write_list("coupling", &campaign.coupling)?;
    text.write_list("requirements", &campaign.requirements)?;
    text.write_list("tests", &campaign.tests)?;
    let FramedText { rest, write, .. } = text;
    write(rest)
}

/// A campaign whose long lists are empty.
fn without_lists(campaign: &Campaign) -> Campaign {
    let Campaign {
        schema,
        project,
        settings,
        engines,
        requirements: _,
        tests: _,
        justifications,
        records,
        test_reviews,
        coupling: _,
        findings,
        agreement,
        left_out,
        not_looked_for,
        set_aside,
        open_items,
        rejected_acceptances,
        notes,
        unsought,
        objectives,
        mutation,
        limits,
        conclusion,
    } = campaign;
    Campaign {
        schema: *schema,
        project: project.clone(),
        settings: settings.clone(),
        engines: engines.clone(),
        requirements: Vec::new(),
        tests: Vec::new(),
        justifications: justifications.clone(),
        records: records.clone(),
        test_reviews: test_reviews.clone(),
        coupling: Vec::new(),
        findings: findings.clone(),
        agreement: agreement.clone(),
        left_out: left_out.clone(),
        not_looked_for: not_looked_for.clone(),
        set_aside: set_aside.clone(),
        open_items: open_items.clone(),
        rejected_acceptances: rejected_acceptances.clone(),
        notes: notes.clone(),
        unsought: unsought.clone(),
        objectives: objectives.clone(),
        mutation: mutation.clone(),
        limits: limits.clone(),
        conclusion: conclusion.clone(),
    }
}

/// The text of an object, some of whose members are lists that the text has empty.
struct FramedText<'t, E> {
    /// What is still to be written.
    rest: &'t str,
    /// Of the object.
    depth: usize,
    write: &'t mut (dyn FnMut(&str) -> Result<(), E> + Send),
}

impl<E: From<serde_json::Error> + Send> FramedText<'_, E> {
    /// Writes up to a list, and the list.
    fn write_list<T: Serialize + Sync>(&mut self, key: &str, rows: &[T]) -> Result<(), E> {
        if rows.is_empty() {
            return Ok(());
        }
        let line_start = |depth: usize| format!("\n{}", "  ".repeat(depth));
        // Line ends within strings are escaped, so that this stands nowhere else.
        let member = format!("{}\"{key}\": ", line_start(self.depth + 1));
        let (before, behind) = self
            .rest
            .split_once(&format!("{member}[]"))
            .expect("a list of the frame is empty and written as such");
        (self.write)(before)?;
        (self.write)(&member)?;
        let depth = self.depth + 2;
        let separator = format!(",{}", line_start(depth));
        let text_of_rows = |rows: &[T]| -> Result<String, E> {
            let texts = rows.par_iter().map(|row| nested_lines(row, depth));
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join(&separator))
        };
        let mut before = format!("[{}", line_start(depth));
        write_while_making(rows.chunks(ROWS_AT_A_TIME), text_of_rows, |text| {
            (self.write)(&before)?;
            (self.write)(&text)?;
            before.clone_from(&separator);
            Ok(())
        })?;
        (self.write)(&format!("{}]", line_start(self.depth + 1)))?;
        self.rest = behind;
        Ok(())
    }
}
