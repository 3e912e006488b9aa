//! `verify EVIDENCE`: what verification found, in words or as JSON.

use super::args::{Common, OutputForm, Verify};
use super::output;
use vkcert_model::exit::Exit;
use vkcert_verification::{self as verify, Demand, Options, Replay, Toolchain, telling};

/// Exit 0 if nothing differs from what follows from the raw records (under `--strict`: and all was
/// derived), else 1.
pub fn command<T: Toolchain>(
    common: &Common,
    arguments: &Verify,
    toolchain: &T,
) -> Result<Exit, T::Error> {
    let options = Options {
        root: arguments.root.clone(),
        project: arguments.project.clone(),
        replay: if arguments.replay { Replay::Sequential } else { Replay::No },
        demand: if arguments.strict { Demand::Everything } else { Demand::NoDifference },
    };
    let (found, _) = verify::folder(&arguments.evidence, &options, toolchain)?;
    match common.format {
        OutputForm::Json => output::print(&format!("{:#}\n", telling::document(&found)))?,
        OutputForm::Text => output::print(&telling::in_words(&found))?,
    }
    Ok(if found.satisfies(options.demand) { Exit::Success } else { Exit::Failed })
}
