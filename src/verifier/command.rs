//! `verify EVIDENCE`: what verification found in a folder or an archive, in words or as JSON.

use super::archive::EvidenceSource;
use super::args::{Common, OutputForm, Verify};
use super::output;
use vkcert_model::exit::Exit;
use vkcert_verification::{
    self as verify, Replay, SuccessDemand, Toolchain, VerificationOptions, telling,
};

/// Exit 0 if nothing differs from what follows from the raw records (under `--strict`: and all was
/// derived), else 1.
pub fn run_verify<T: Toolchain>(
    common: &Common,
    arguments: &Verify,
    toolchain: &T,
) -> Result<Exit, T::Error> {
    let source = EvidenceSource::open(&arguments.evidence)?;
    let options = VerificationOptions {
        root: arguments.root.clone(),
        project: arguments.project.clone(),
        input_folder: source.input_folder(),
        replay: if arguments.replay { Replay::Sequential } else { Replay::No },
        demand: if arguments.strict {
            SuccessDemand::Everything
        } else {
            SuccessDemand::NoDifference
        },
    };
    let (mut verification, stored) =
        verify::verify_read_folder(&source.read()?, &options, toolchain)?;
    source.compare_files(stored.as_deref(), &mut verification);
    match common.form() {
        OutputForm::Json => {
            output::print_text(&format!("{:#}\n", telling::json_document(&verification)))?
        }
        OutputForm::Text => output::print_text(&telling::in_words(&verification))?,
    }
    Ok(if verification.satisfies(options.demand) { Exit::Success } else { Exit::Failed })
}
