//! Options of mutation testing, of `vkcert mutate` and of `vkcert certify --mutation` alike.

use super::super::failure::Failure;
use crate::model::diagnostic::Diagnostic;
use crate::model::evidence::{
    JudgingEngines, JudgingTests, MutantSample, MutationExtent, MutationOrder,
};
use crate::model::id::{KernelName, RequirementId};
use crate::model::mutation::MutationOperator;
use clap::Args;
use std::num::NonZeroU32;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct Mutate {
    /// Folder of the project
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    #[command(flatten)]
    pub mutants: MutantOptions,
    /// With `--sample`: the seed that they are drawn with [default: 1]
    #[arg(long, value_name = "S", requires = "sample", help_heading = "Mutants")]
    pub seed: Option<u64>,
    /// Let every test judge every mutant, and not those alone up to the first that notices it: tells
    /// what each test and each requirement adds
    #[arg(long)]
    pub matrix: bool,
    /// Evidence of `certify --mutation`, a folder or an archive: kernels of which nothing has changed
    /// since are left out
    #[arg(long, value_name = "EVIDENCE")]
    pub baseline: Option<PathBuf>,
    /// Select mutants in one module of each kernel (not yet right for all of them)
    #[arg(long, hide = true)]
    pub one_module: bool,
}

/// Which mutants, and by which tests they are judged.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Mutants")]
pub(in crate::cli) struct MutantOptions {
    /// Apply these mutation operators alone (`vkcert list operators`)
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub operator: Vec<String>,
    /// Mutate these kernels alone
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub kernel: Vec<String>,
    /// Judge by the tests of these requirements alone, and mutate the kernels that they run
    #[arg(long, value_name = "UID", value_delimiter = ',')]
    pub requirement: Vec<String>,
    /// Judge N mutants drawn at random; the score is told with its limits of 95 % confidence
    #[arg(long, value_name = "N")]
    pub sample: Option<NonZeroU32>,
    /// With 2, judge pairs of mutants as well, of those that tests notice one by one [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=2))]
    pub order: Option<u8>,
}

impl MutantOptions {
    /// What they ask for, of a sample with its seed; the names of kernels and requirements are checked with the
    /// project.
    pub(in crate::cli) fn extent(
        &self,
        judges: JudgingTests,
        seed: Option<u64>,
    ) -> Result<MutationExtent, Failure> {
        let operators = self.operator.iter().map(|word| word.parse::<MutationOperator>());
        let operators = operators.collect::<Result<Vec<_>, _>>();
        let mut operators =
            operators.map_err(|unknown| Diagnostic::new("usage", unknown.to_string()))?;
        operators.sort_unstable();
        operators.dedup();
        let mut kernels: Vec<KernelName> =
            self.kernel.iter().map(|name| KernelName::from(name.as_str())).collect();
        kernels.sort_unstable();
        kernels.dedup();
        let mut requirements: Vec<RequirementId> =
            self.requirement.iter().map(|uid| RequirementId::from(uid.as_str())).collect();
        requirements.sort_unstable();
        requirements.dedup();
        let sample =
            self.sample.map(|count| MutantSample { count: count.get(), seed: seed.unwrap_or(1) });
        let order = match self.order {
            Some(2..) => MutationOrder::Second,
            Some(0 | 1) | None => MutationOrder::First,
        };
        let engines = JudgingEngines::Sequential;
        Ok(MutationExtent { operators, kernels, requirements, sample, judges, engines, order })
    }

    /// The first option that was given; none where none was.
    pub(in crate::cli) fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--operator", !self.operator.is_empty()),
            ("--kernel", !self.kernel.is_empty()),
            ("--requirement", !self.requirement.is_empty()),
            ("--sample", self.sample.is_some()),
            ("--order", self.order.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(option, _)| option)
    }
}
