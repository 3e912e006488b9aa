//! Object code of a kernel: its production module made ready to have its branches recorded.

use super::kernel::{CompiledKernel, StoredWords};
use rspirv::spirv::Op;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};
use vkcert_exec::{JobModule, ModuleRecording};
use vkcert_glsl::{KernelSource, StoredPositions, TokenPositions};
use vkcert_instrument::{
    self as instrument, InstrumentError, NotInstrumented, PositionTable, RecordRequest,
    SourceKnowledge,
};
use vkcert_model::finding::Finding;
use vkcert_model::id::ModuleKey;
use vkcert_model::object::ObjectStructure;
use vkcert_model::place::Place;
use vkcert_model::records::{MarkerTable, RecordBuffer};
use vkcert_model::structure::KernelStructure;
use vkcert_spirv::module::Module;
use vkcert_spirv::validate::{self, TargetEnv};

/// The branches of a kernel's production module.
#[derive(Debug, Clone, Default)]
pub struct ObjectCode {
    /// The branches with what they trace to.
    pub structure: ObjectStructure,
    /// None where they cannot be recorded (`structure.unrecorded` says why).
    pub modules: Option<Arc<ObjectModules>>,
    /// Where production's instructions come from, where the source is there.
    places: Option<Arc<InstructionPlaces>>,
}

/// Tokens of production's instructions, looked up when the first finding asks for its column.
#[derive(Debug)]
struct InstructionPlaces {
    positions: Arc<TokenPositions>,
    table: OnceLock<Result<PositionTable, String>>,
}

impl InstructionPlaces {
    fn of_positions(positions: Arc<TokenPositions>) -> Self {
        Self { positions, table: OnceLock::new() }
    }

    fn stored(&self) -> StoredPlaces {
        let tokens = self.table.get().map(|table| match table {
            Ok(table) => Ok(table.tokens().to_vec()),
            Err(reason) => Err(reason.clone()),
        });
        StoredPlaces { positions: self.positions.stored(), tokens }
    }

    fn from_stored(kernel: &KernelSource, stored: StoredPlaces) -> Option<Self> {
        let places =
            Self::of_positions(Arc::new(TokenPositions::from_stored(kernel, stored.positions)?));
        if let Some(tokens) = stored.tokens {
            let table = tokens.map(|tokens| PositionTable::from_tokens(&places.positions, tokens));
            places.table.get_or_init(|| table);
        }
        Some(places)
    }

    fn table(&self, production: &Module) -> Result<&PositionTable, String> {
        let made = || {
            PositionTable::compare_modules(production, &self.positions)
                .map_err(|error| error.to_string())
        };
        self.table.get_or_init(made).as_ref().map_err(Clone::clone)
    }
}

/// Production with its branches recorded.
#[derive(Debug)]
pub struct ObjectModules {
    marked: Arc<Vec<u32>>,
    markers: Arc<MarkerTable>,
    /// Words of the module that records its branches on a device.
    pub instrumented: Arc<Vec<u32>>,
    record_buffer: RecordBuffer,
}

/// [`ObjectCode`] as a cache keeps it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredObject {
    structure: ObjectStructure,
    modules: Option<StoredModules>,
    places: Option<StoredPlaces>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredModules {
    marked: StoredWords,
    markers: MarkerTable,
    instrumented: StoredWords,
    record_buffer: RecordBuffer,
}

/// The tokens of production's instructions: none where nobody has asked for them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredPlaces {
    positions: StoredPositions,
    tokens: Option<Result<Vec<Option<u32>>, String>>,
}

/// How object code is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectVariant {
    /// With native markers (sequential engine).
    Marked,
    /// With a record buffer (device).
    Instrumented,
}

impl ObjectCode {
    /// As a cache keeps it.
    pub(super) fn stored(&self) -> StoredObject {
        let modules = self.modules.as_ref().map(|modules| StoredModules {
            marked: StoredWords::of(&modules.marked),
            markers: (*modules.markers).clone(),
            instrumented: StoredWords::of(&modules.instrumented),
            record_buffer: modules.record_buffer.clone(),
        });
        let places = self.places.as_ref().map(|places| places.stored());
        StoredObject { structure: self.structure.clone(), modules, places }
    }

    /// That of a kernel that a cache has kept; none where it contradicts itself.
    pub(super) fn from_stored(kernel: &KernelSource, stored: StoredObject) -> Option<Self> {
        let StoredObject { structure, modules, places } = stored;
        let modules = match modules {
            Some(StoredModules { marked, markers, instrumented, record_buffer }) => {
                Some(Arc::new(ObjectModules {
                    marked: Arc::new(marked.words()?),
                    markers: Arc::new(markers),
                    instrumented: Arc::new(instrumented.words()?),
                    record_buffer,
                }))
            }
            None => None,
        };
        let places = match places {
            Some(places) => Some(Arc::new(InstructionPlaces::from_stored(kernel, places)?)),
            None => None,
        };
        Some(Self { structure, modules, places })
    }

    /// Of a module compiled from source, with where its instructions come from. The text that tells
    /// what its branches belong to is compiled beside.
    pub fn of_source(
        production: &Module,
        entry: &str,
        structure: &KernelStructure,
        positions: Arc<TokenPositions>,
        environment: TargetEnv,
    ) -> Self {
        let places = InstructionPlaces::of_positions(positions);
        if !places.positions.has_control_flow {
            let object_code = Self::of_module(
                production,
                entry,
                &SourceKnowledge::Unknown("nothing asks for it"),
                environment,
            );
            return Self { places: Some(Arc::new(places)), ..object_code };
        }
        let object_code = rayon::scope(|scope| {
            if has_branches(production) {
                scope.spawn(|_| places.positions.compile_marked_ahead());
            }
            match places.table(production) {
                Ok(position_table) => Self::of_module(
                    production,
                    entry,
                    &SourceKnowledge::Source { structure, positions: position_table },
                    environment,
                ),
                Err(reason) => {
                    let reason = format!("where its instructions come from is not known: {reason}");
                    Self::of_module(
                        production,
                        entry,
                        &SourceKnowledge::Unknown(&reason),
                        environment,
                    )
                }
            }
        });
        Self { places: Some(Arc::new(places)), ..object_code }
    }

    /// Of a module whose branches are not asked for: no obligations, but places.
    pub fn unmeasured(positions: Arc<TokenPositions>) -> Self {
        Self {
            places: Some(Arc::new(InstructionPlaces::of_positions(positions))),
            ..Self::default()
        }
    }

    /// Of a module, as far as it can be instrumented.
    pub fn of_module(
        production: &Module,
        entry: &str,
        origins: &SourceKnowledge<'_>,
        environment: TargetEnv,
    ) -> Self {
        match instrument_branches(production, entry, origins, environment) {
            Ok(made) => made,
            Err(reason) => {
                let mut structure = instrument::unrecorded_structure(production, entry, origins)
                    .unwrap_or_default();
                structure.unrecorded =
                    Some(format!("the branches of the module cannot be recorded: {reason}"));
                Self { structure, modules: None, places: None }
            }
        }
    }
}

/// Whether a module holds anything that a marked text explains.
fn has_branches(production: &Module) -> bool {
    let branches = |op| matches!(op, Op::BranchConditional | Op::Switch | Op::Select);
    production.instructions.iter().any(|instruction| branches(instruction.op))
}

fn instrument_branches(
    production: &Module,
    entry: &str,
    origins: &SourceKnowledge<'_>,
    environment: TargetEnv,
) -> Result<ObjectCode, String> {
    let instrumented_object = instrument::instrument_object(production, entry, origins)
        .map_err(|error| error.to_string())?;
    for (what, words) in [
        ("marked", &*instrumented_object.marked),
        ("instrumented", &instrumented_object.made.instrumented),
    ] {
        validate::validate(words, environment)
            .map_err(|error| format!("the {what} module is not valid: {error}"))?;
    }
    let modules = ObjectModules {
        marked: instrumented_object.marked,
        markers: Arc::new(instrumented_object.made.markers),
        instrumented: Arc::new(instrumented_object.made.instrumented),
        record_buffer: instrumented_object.made.record_buffer,
    };
    Ok(ObjectCode {
        structure: instrumented_object.structure,
        modules: Some(Arc::new(modules)),
        places: None,
    })
}

impl ObjectCode {
    /// Makes the instrumented module anew where the request asks for other records than it has.
    pub fn record_as(
        &mut self,
        production: &Module,
        entry: &str,
        record_request: &RecordRequest,
        environment: TargetEnv,
    ) -> Result<(), NotInstrumented> {
        let Some(modules) = &self.modules else { return Ok(()) };
        let instrumented_object = instrument::instrument_object_as(
            production,
            entry,
            &SourceKnowledge::NoSource,
            record_request,
        )?
        .made;
        validate::validate(&instrumented_object.instrumented, environment).map_err(|error| {
            InstrumentError {
                message: format!(
                    "the instrumented module of the object code is not valid: {error}"
                ),
            }
        })?;
        self.modules = Some(Arc::new(ObjectModules {
            marked: Arc::clone(&modules.marked),
            markers: Arc::clone(&modules.markers),
            instrumented: Arc::new(instrumented_object.instrumented),
            record_buffer: instrumented_object.record_buffer,
        }));
        Ok(())
    }
}

impl CompiledKernel {
    /// Production with its branches recorded; none where that cannot be.
    pub fn object_module(&self, variant: ObjectVariant) -> Option<JobModule> {
        let modules = self.object.modules.as_ref()?;
        let (words, recording) = match variant {
            ObjectVariant::Marked => {
                (&modules.marked, ModuleRecording::Markers(Arc::clone(&modules.markers)))
            }
            ObjectVariant::Instrumented => {
                (&modules.instrumented, ModuleRecording::Buffer(modules.record_buffer.clone()))
            }
        };
        Some(JobModule {
            key: ModuleKey::from(self.name.as_str()),
            words: Arc::clone(words),
            recording,
        })
    }

    /// Gives the places of a production finding their columns.
    pub fn place_exactly(&self, finding: &mut Finding) {
        for place in finding.place.iter_mut().chain(&mut finding.other_place) {
            if let Some(exact) = self.exact_place(place) {
                *place = exact;
            }
        }
    }

    /// Where the instruction at a word of the production module stands, as exactly as is known;
    /// none where there is none.
    pub fn place_of(&self, word: u32) -> Option<Place> {
        let index = self.instruction_at(word)?;
        let place = self.module.place_of(index);
        Some(self.exact_place(&place).unwrap_or(place))
    }

    /// Of a finding's places: the numbers of their instructions.
    pub fn instruction_numbers(&self, finding: &Finding) -> Vec<u32> {
        let places = finding.place.iter().chain(&finding.other_place);
        let number = |place: &Place| {
            let index = self.instruction_at(place.instruction?)?;
            Some(self.module.number_in_code(index))
        };
        places.filter_map(number).collect()
    }

    /// Index of the instruction at a word of the module.
    fn instruction_at(&self, word: u32) -> Option<usize> {
        let instructions = &self.module.instructions;
        instructions.binary_search_by_key(&word, |instruction| instruction.offset).ok()
    }

    fn exact_place(&self, place: &Place) -> Option<Place> {
        let structure = &self.measured()?.structure;
        let index = self.instruction_at(place.instruction?)?;
        // Another kernel of the same test may have an instruction at the same word.
        if self.module.place_of(index) != *place {
            return None;
        }
        let positions = self.object.places.as_ref()?.table(&self.module).ok()?;
        Some(positions.place_of_instruction(&self.module, index, structure))
    }
}
