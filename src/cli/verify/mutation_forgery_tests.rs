//! Every field of the mutants of evidence, forged: `verify` tells of each but of facts.

use super::compiled::rebuild_project;
use super::forgery::{
    HonestEvidence, certified_folder_with, evidence_documents, forged_values, places_in,
    verify_forged, with_forged_document,
};
use crate::derivation::mutation::{Traces, settle_mutants, summarize};
use crate::model::evidence::{Evidence, MutantEvidence, MutantRuns, MutantStatus};
use crate::verify::folder;

/// What a test made of a mutant, and why the compiler refuses one, are facts: judging again
/// (`--replay`) is what tells of these.
const FACTS: [&str; 4] = ["/runs/not-compiled", "/noticed", "/finding", "/undecided"];

fn honest() -> HonestEvidence {
    let options = ["--engine", "sequential", "--mutation", "--operator", "MR,LIT,ROR"];
    let (_kept, folder) = certified_folder_with("tests/projects/mutants", &options);
    let evidence = *folder::examine_files(&folder).unwrap().evidence.unwrap();
    let rebuilt = rebuild_project(&evidence, None);
    (evidence, rebuilt)
}

/// Evidence with other mutants, and all that follows from these made right.
fn with_mutants(honest: &HonestEvidence, change: fn(&mut MutantEvidence)) -> Evidence {
    let mut evidence = honest.0.clone();
    let mutants = evidence.mutations.iter_mut().flat_map(|kernel| &mut kernel.mutants);
    mutants.for_each(change);
    settle_mutants(&mut evidence.mutations, &mut evidence.campaign);
    let asked = evidence.campaign.mutation.as_ref().expect("mutants were asked for").asked.clone();
    let traces = Traces::of_campaign(&evidence.campaign);
    let summary = summarize(asked, &evidence.mutations, &traces);
    assert_ne!(Some(&summary), honest.0.campaign.mutation.as_ref(), "nothing was changed");
    evidence.campaign.mutation = Some(summary);
    evidence
}

#[test]
fn a_score_is_not_raised_by_what_does_not_compile_nor_lowered_by_dropped_proofs() {
    let honest = honest();
    let changes: [fn(&mut MutantEvidence); 4] = [
        |mutant| mutant.proof = None,
        |mutant| {
            if mutant.status == MutantStatus::Survived {
                mutant.runs = MutantRuns::NotCompiled("'x' : undeclared identifier".to_owned());
            }
        },
        |mutant| {
            if mutant.status == MutantStatus::Survived {
                mutant.runs = MutantRuns::SameAs(1);
            }
        },
        |mutant| {
            if mutant.status == MutantStatus::Survived {
                mutant.runs = MutantRuns::NotRun("it is elsewhere".to_owned());
            }
        },
    ];
    for change in changes {
        let forged = with_mutants(&honest, change);
        let problems = verify_forged(&forged, &honest).problems;
        assert!(
            problems.iter().any(|problem| problem.contains("mutation-clamped")),
            "{problems:#?}"
        );
    }
}

#[test]
fn every_field_of_mutants_is_derived_again_but_for_facts() {
    let honest = honest();
    assert_eq!(verify_forged(&honest.0, &honest).problems, Vec::<String>::new());
    let mut unnoticed = Vec::new();
    let mut tried = 0;
    for (name, document) in evidence_documents(&honest.0) {
        let place_of_mutation = match name.as_str() {
            "campaign.json" => "/mutation",
            _ if name.starts_with("mutation-") => "",
            _ => continue,
        };
        let part = document.pointer(place_of_mutation).unwrap();
        let mut places = Vec::new();
        places_in(part, place_of_mutation, &mut places);
        for place in places.iter().filter(|place| !FACTS.iter().any(|fact| place.ends_with(fact))) {
            for value in forged_values(document.pointer(place).unwrap()) {
                let mut forged = document.clone();
                *forged.pointer_mut(place).unwrap() = value.clone();
                let Some(evidence) = with_forged_document(&honest.0, &name, &forged) else {
                    continue;
                };
                tried += 1;
                if evidence != honest.0 && verify_forged(&evidence, &honest).problems.is_empty() {
                    unnoticed.push(format!("{name}{place}: {value}"));
                }
            }
        }
    }
    assert!(tried > 300, "{tried}");
    assert!(unnoticed.is_empty(), "{} unnoticed:\n{}", unnoticed.len(), unnoticed.join("\n"));
}
