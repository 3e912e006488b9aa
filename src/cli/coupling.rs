//! stub
use super::engines::Engines;
use super::failure::Failure;
use super::kernel::Kernel;
use crate::model::evidence::{CouplingEvidence, KernelFinding};
use crate::requirement::Project;
pub fn check(_: &Project, _: &[Kernel], _: &Engines) -> Result<(Vec<CouplingEvidence>, Vec<KernelFinding>), Failure> {
    Ok((vec![], vec![]))
}
