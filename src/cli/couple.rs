//! stub
use super::args::{Common, Couple};
use super::exit::Exit;
use super::failure::Failure;
pub fn command(_: &Common, _: &Couple) -> Result<Exit, Failure> {
    unimplemented!()
}
