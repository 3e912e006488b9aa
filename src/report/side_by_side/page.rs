//! Campaigns side by side, as an HTML page.

use super::{
    NamedCampaign, column_title, counts_in_words, difference_sentence, ending_in_words,
    engines_in_words, unit_title, verdict_in_words,
};
use crate::chapter::verdict_tone;
use crate::document::{Block, ColumnAlign, Document, Outline, Table, Text, Tone};
use crate::html::document_page;
use vkcert_model::campaigns::{CampaignTable, CoverageRow, VerdictRow};
use vkcert_model::coupling_summary::ObligationCounts;
use vkcert_model::verdict::Verdict;
use vkcert_model::wording::plural;

/// What stands above all of it.
const NOT_UNITED: &str = "Each number and each verdict is of one engine of one campaign. What one campaign shows counts for \
    no other, and nothing of it is united. A dash: the engine tells nothing there.";

/// The page; none where there is no campaign.
pub fn side_by_side_page(table: &CampaignTable, campaigns: &[NamedCampaign]) -> Option<Vec<u8>> {
    let first = &campaigns.first()?.evidence;
    let mut outline = Outline::default();
    outline.add_heading(1, "Coverage", "chapter/coverage");
    outline.add_table(coverage_table(table));
    outline.add_heading(1, "Tests", "chapter/tests");
    outline.add_table(verdict_table(table));
    outline.add_heading(1, "Differences from campaign 1", "chapter/differences");
    outline.add_table(difference_table(table));
    let identity = &first.campaign.project;
    let document = Document {
        project: table.project.clone(),
        title: "Campaigns side by side".to_owned(),
        label: None,
        level: identity.level.in_words(),
        tool: format!("{} {}", identity.tool, identity.tool_version),
        date: identity.date.clone(),
        root: table.campaigns.first().map(|campaign| campaign.root.clone()).unwrap_or_default(),
        front: front(table),
        body: outline.blocks,
    };
    Some(document_page(&document, first))
}

fn front(table: &CampaignTable) -> Vec<Block> {
    let mut campaigns = Table::new("Campaigns, each with what it comes to by itself")
        .with_column("Campaign", ColumnAlign::Right)
        .with_column("Exit code", ColumnAlign::Right)
        .columns(&["Tool", "Engines", "Root", "Folder"]);
    for (index, campaign) in table.campaigns.iter().enumerate() {
        let tone = if campaign.exit_code == 0 { Tone::Good } else { Tone::Bad };
        campaigns.add_row(vec![
            Text::plain((index + 1).to_string()),
            Text::plain(ending_in_words(campaign)).with_tone(tone),
            Text::plain(campaign.tool.as_str()),
            Text::plain(engines_in_words(campaign)),
            Text::code(campaign.root.as_str()),
            Text::code(campaign.folder.as_str()),
        ]);
    }
    vec![Block::Paragraph(Text::plain(NOT_UNITED)), Block::Table(campaigns)]
}

fn with_engine_columns(table: Table, campaigns: &CampaignTable) -> Table {
    let titles = campaigns.columns.iter().map(column_title);
    titles.fold(table, |table, title| table.with_column(title, ColumnAlign::Left))
}

fn coverage_table(table: &CampaignTable) -> Table {
    let differing = table.coverage.iter().filter(|row| row.differs()).count();
    let caption = format!(
        "Obligations that are covered or justified: {}, {differing} with differences",
        plural(table.coverage.len(), "row", "rows")
    );
    let empty = Table::new(caption).columns(&["Kernel", "Criterion"]);
    let mut rows = with_engine_columns(empty, table);
    for row in &table.coverage {
        let CoverageRow { criterion, cells, .. } = row;
        let names = [Text::plain(unit_title(table, row)), Text::plain(criterion.as_str())];
        let marked = |cell: &Option<ObligationCounts>| counts_text(cell.as_ref(), row.differs());
        rows.add_row(names.into_iter().chain(cells.iter().map(marked)).collect());
    }
    rows
}

/// Strong where the row's engines differ, so that it is seen without colours.
fn counts_text(counts: Option<&ObligationCounts>, differs: bool) -> Text {
    let tone = match counts {
        None => Tone::Quiet,
        Some(counts) if counts.covered + counts.justified == counts.total => Tone::Neutral,
        Some(_) => Tone::Bad,
    };
    let words = counts_in_words(counts);
    let text = if differs { Text::strong(words) } else { Text::plain(words) };
    text.with_tone(tone)
}

fn verdict_table(table: &CampaignTable) -> Table {
    let differing = table.tests.iter().filter(|row| row.differs()).count();
    let caption = format!(
        "Verdicts: {}, {differing} with differences",
        plural(table.tests.len(), "test", "tests")
    );
    let mut rows = with_engine_columns(Table::new(caption).columns(&["Test"]), table);
    for row in &table.tests {
        let VerdictRow { test, cells } = row;
        let marked = |verdict: &Option<Verdict>| {
            let words = verdict_in_words(*verdict);
            let text = if row.differs() { Text::strong(words) } else { Text::plain(words) };
            text.with_tone(verdict.map_or(Tone::Quiet, verdict_tone))
        };
        let name = std::iter::once(Text::plain(test.to_string()));
        rows.add_row(name.chain(cells.iter().map(marked)).collect());
    }
    rows
}

fn difference_table(table: &CampaignTable) -> Table {
    let caption = "What of a campaign is other than in campaign 1; worse is what shows less";
    let mut rows = Table::new(caption)
        .with_column("Campaign", ColumnAlign::Right)
        .columns(&["Effect", "What"]);
    for difference in &table.differences {
        for change in &difference.changes {
            rows.add_row(vec![
                Text::plain(difference.campaign.to_string()),
                Text::plain(change.effect.to_string()),
                Text::sentence(difference_sentence(change, difference.campaign)),
            ]);
        }
    }
    rows
}
