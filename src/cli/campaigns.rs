//! `vkcert merge --campaigns`: campaigns of one project on several devices, drivers or engines, side by side.
//!
//! Promises: evidence that does not verify, and campaigns of other projects, files, tests or settings, are refused by name,
//! and nothing is written; what campaigns show is not united.
//! Does not cover: shards of one campaign (`cli::shard`).

use super::args::{Common, Merge, OutputForm};
use super::baseline::verified_evidence;
use super::certify::{RESULT_SECTION, exit_of_code};
use super::failure::Failure;
use super::output::{self, PendingFolder};
use crate::derivation::files::canonical_bytes;
use crate::model::canonical::canonical_lines;
use crate::model::diagnostic::Diagnostic;
use crate::model::exit::Exit;
use crate::model::path::display_path;
use crate::report::{
    NamedCampaign, side_by_side, side_by_side_in_words, side_by_side_page, what_keeps_apart,
};
use std::path::Path;

/// The table for programs.
const TABLE: &str = "campaigns.json";
/// The table for people.
const PAGE: &str = "campaigns.html";

/// Prints the campaigns side by side, and writes both files where a folder for them is named. The exit code is that of all
/// of them together: 0 where each campaign holds by itself.
pub(super) fn compare_campaigns(common: &Common, merge: &Merge) -> Result<Exit, Failure> {
    let campaigns: Vec<NamedCampaign> =
        merge.shards.iter().map(|folder| read_campaign(folder)).collect::<Result<_, _>>()?;
    refuse_others(&campaigns)?;
    let unwritable = |error: serde_json::Error| Failure::tool(error.to_string());
    let table = side_by_side(&campaigns).map_err(unwritable)?;
    if let Some(out) = &merge.out {
        let page = side_by_side_page(&table, &campaigns)
            .ok_or_else(|| Failure::tool("there is no campaign".to_owned()))?;
        let folder = PendingFolder::start(out, RESULT_SECTION)?;
        folder.write(TABLE, &canonical_bytes(&table).map_err(unwritable)?)?;
        folder.write(PAGE, &page)?;
        folder.finish(&[TABLE, PAGE])?;
    }
    match common.form() {
        OutputForm::Json => output::print_text(&canonical_lines(&table).map_err(unwritable)?)?,
        OutputForm::Text => {
            let width = output::stdout_width().unwrap_or(100);
            output::print_text(&side_by_side_in_words(&table, width))?;
        }
    }
    let exits = table.campaigns.iter().map(|campaign| exit_of_code(campaign.exit_code));
    Ok(exits.fold(Exit::Success, Exit::and))
}

/// Reads an output folder of `certify`, its evidence, or an archive.
fn read_campaign(folder: &Path) -> Result<NamedCampaign, Failure> {
    let evidence_folder = folder.join("evidence");
    let evidence = if evidence_folder.is_dir() { &evidence_folder } else { folder };
    match verified_evidence(evidence)? {
        Ok(evidence) => Ok(NamedCampaign { folder: display_path(folder), evidence: *evidence }),
        Err(message) => Err(refused(&display_path(folder), &message)),
    }
}

fn refuse_others(campaigns: &[NamedCampaign]) -> Result<(), Failure> {
    let Some((first, others)) = campaigns.split_first() else { return Ok(()) };
    if others.is_empty() {
        return Err(refused(&first.folder, "a single campaign stands beside no other"));
    }
    for other in others {
        if let Some(difference) = what_keeps_apart(&first.evidence, &other.evidence) {
            let message = format!("{} is not beside it: {difference}", first.folder);
            return Err(refused(&other.folder, &message));
        }
    }
    Ok(())
}

fn refused(folder: &str, message: &str) -> Failure {
    Diagnostic::new("bad-campaign", message).in_file(folder.to_owned()).into()
}
