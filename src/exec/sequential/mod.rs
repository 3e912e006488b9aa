//! stub
use super::*;
use crate::model::verdict::EngineName;
#[derive(Debug, Clone, Copy, Default)]
pub enum MemoryModel {
    #[default]
    Idiom,
    Spec,
}
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub tile_width: u32,
    pub memory_model: MemoryModel,
}
#[derive(Debug, Clone, Default)]
pub struct SequentialExecutor {
    pub settings: Settings,
}
impl Executor for SequentialExecutor {
    fn name(&self) -> EngineName {
        EngineName::Sequential
    }
    fn run(&mut self, _: &Job, _: &mut dyn Observer) -> Result<Run, ExecError> {
        unimplemented!()
    }
}
pub mod lower {
    pub fn lower(_: &crate::spirv::module::Module, _: &str) -> Result<String, String> {
        unimplemented!()
    }
}
