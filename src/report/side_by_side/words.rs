//! Campaigns side by side, for a terminal.

use super::{
    column_title, counts_in_words, difference_sentence, ending_in_words, engines_in_words,
    unit_title, verdict_in_words,
};
use crate::terminal::wrap;
use comfy_table::{ContentArrangement, Table, presets};
use vkcert_model::campaigns::{CampaignDifference, CampaignTable};
use vkcert_model::wording::{in_one_line, plural};

/// Digits of a root that tell campaigns apart.
const ROOT_DIGITS: usize = 12;

/// All of it; `width` is that of the terminal.
pub fn side_by_side_in_words(table: &CampaignTable, width: u16) -> String {
    let width = width.max(60);
    let mut text = format!(
        "\n  {}: {} side by side. What they show is not united.\n",
        in_one_line(&table.project),
        plural(table.campaigns.len(), "campaign", "campaigns")
    );
    text.push_str(&campaigns_in_words(table, width));
    text.push_str(&section(&differing_in_words(
        "Coverage",
        table.coverage.iter().filter(|row| row.differs()).count(),
        table.coverage.len(),
    )));
    let mut coverage = plain_table(width);
    coverage.set_header(headed(table, &["kernel", "criterion"]));
    for row in &table.coverage {
        let cells = row.cells.iter().map(|cell| counts_in_words(cell.as_ref()));
        let names = [unit_title(table, row), row.criterion.as_str().to_owned()];
        coverage.add_row(names.into_iter().chain(cells));
    }
    text.push_str(&format!("{coverage}\n"));
    text.push_str(&section(&differing_in_words(
        "Tests",
        table.tests.iter().filter(|row| row.differs()).count(),
        table.tests.len(),
    )));
    let mut tests = plain_table(width);
    tests.set_header(headed(table, &["test"]));
    for row in &table.tests {
        let cells = row.cells.iter().map(|verdict| verdict_in_words(*verdict));
        tests.add_row(std::iter::once(row.test.to_string()).chain(cells));
    }
    text.push_str(&format!("{tests}\n"));
    for difference in &table.differences {
        text.push_str(&difference_in_words(difference, width));
    }
    text
}

fn plain_table(width: u16) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width);
    table
}

fn headed(table: &CampaignTable, names: &[&str]) -> Vec<String> {
    let names = names.iter().map(|name| (*name).to_owned());
    names.chain(table.columns.iter().map(column_title)).collect()
}

fn section(title: &str) -> String {
    format!("\n  {title}\n")
}

fn differing_in_words(title: &str, differing: usize, all: usize) -> String {
    format!("{title}: {differing} of {} with differences", plural(all, "row", "rows"))
}

fn campaigns_in_words(table: &CampaignTable, width: u16) -> String {
    let mut campaigns = plain_table(width);
    campaigns.set_header(["campaign", "exit code", "tool", "engines", "root", "folder"]);
    for (index, campaign) in table.campaigns.iter().enumerate() {
        campaigns.add_row([
            (index + 1).to_string(),
            ending_in_words(campaign),
            campaign.tool.clone(),
            engines_in_words(campaign),
            campaign.root.chars().take(ROOT_DIGITS).collect(),
            in_one_line(&campaign.folder),
        ]);
    }
    format!("\n{campaigns}\n")
}

fn difference_in_words(difference: &CampaignDifference, width: u16) -> String {
    let CampaignDifference { campaign, changes } = difference;
    let count = plural(changes.len(), "difference", "differences");
    let mut text = section(&format!("Campaign {campaign} beside campaign 1: {count}"));
    for change in changes {
        let sentence = in_one_line(&difference_sentence(change, *campaign));
        for (position, line) in wrap(&sentence, usize::from(width) - 13).iter().enumerate() {
            let mark = if position == 0 { change.effect.to_string() } else { String::new() };
            text.push_str(&format!("    {mark:<7} {line}\n"));
        }
    }
    text
}
