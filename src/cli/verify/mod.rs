//! `vkcert verify EVIDENCE`.

#[cfg(test)]
mod agreement_tests;
#[cfg(any(test, feature = "fuzzing"))]
mod compiled;
#[cfg(test)]
mod extent_tests;
#[cfg(test)]
mod forged_tests;
#[cfg(any(test, feature = "fuzzing"))]
mod forgery;
#[cfg(test)]
mod tests;

#[cfg(feature = "fuzzing")]
pub use forgery::survive_changes;

use super::args::{Common, OutputForm, Verify};
use super::failure::Failure;
use super::output;
use crate::campaign::verification::Compiling;
use crate::model::exit::Exit;
use crate::verify::{self, Demand, Options, Replay, telling};

/// Exit 0 if nothing differs from what follows from the raw records (under `--strict`: and all was derived), else 1.
pub fn command(common: &Common, arguments: &Verify) -> Result<Exit, Failure> {
    let options = Options {
        root: arguments.root.clone(),
        project: arguments.project.clone(),
        replay: if arguments.replay { Replay::Sequential } else { Replay::No },
        demand: if arguments.strict { Demand::Everything } else { Demand::NoDifference },
    };
    let (found, _) = verify::folder(&arguments.evidence, &options, &Compiling)?;
    match common.format {
        OutputForm::Json => output::print(&format!("{:#}\n", telling::document(&found)))?,
        OutputForm::Text => output::print(&telling::in_words(&found))?,
    }
    Ok(if found.satisfies(options.demand) { Exit::Success } else { Exit::Failed })
}
