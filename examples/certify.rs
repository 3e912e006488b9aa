//! A campaign without the program: the evidence of a project and what it comes to.
//!
//! `cargo run --release --example certify -- DIR`

use std::path::PathBuf;
use vkcert::campaign::certification::{CampaignRequest, certify};
use vkcert::campaign::{CampaignError, project};

fn main() -> Result<(), CampaignError> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let sealed = certify(project::load_project(&folder)?, &CampaignRequest::default())?;
    let conclusion = &sealed.evidence.campaign.conclusion;
    conclusion.reasons.iter().for_each(|reason| println!("{reason}"));
    println!("exit code {}", conclusion.exit_code);
    Ok(())
}
