//! The pairs of a kernel as obligations of coupling coverage have them: with their places.
//!
//! Knows: the production module, where its instructions come from, the structure of the source.
//! Promises: the same pairs for the same kernel, specialization, memory model and interface, before
//! any test runs.
//! Does not cover: which dispatches follow each other (`dispatch_order`).

use super::configuration::Specialization;
use super::dispatch_order::{ConfiguredKernel, DispatchOrder, aliased_bindings};
use super::kernel::{CompiledKernel, Kernel, Measurement};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use vkcert_coverage::coupling::{LocatedBarrier, LocatedPair, SideStructures, pair_obligations};
use vkcert_model::access_pair::{Passage, ReadDescriptor};
use vkcert_model::criterion::CriterionName;
use vkcert_model::id::{KernelName, ModuleKey};
use vkcert_model::pair_obligation::{KernelPairs, PairObligation};
use vkcert_model::place::Place;
use vkcert_model::project::MemoryModel;
use vkcert_model::structure::KernelStructure;
use vkcert_requirement::Project;
use vkcert_spirv::barriers::workgroup_barriers;
use vkcert_spirv::pairs::{
    PairError, PairRequest, SharedBindings, StaticPair, dispatch_pairs, static_pairs,
};

/// What the pairs of a kernel depend on beside its module.
#[derive(Debug, Clone, Copy)]
pub struct PairContext<'a> {
    /// Raw bits by SpecId.
    pub specialization: &'a Specialization,
    /// What orders memory.
    pub memory_model: MemoryModel,
    /// Bindings whose contents the host never writes, as its interface says.
    pub unwritten_by_host: &'a BTreeSet<ReadDescriptor>,
    /// Bindings that tests give one buffer or image, each pair both ways.
    pub aliased: &'a BTreeSet<(ReadDescriptor, ReadDescriptor)>,
}

/// A kernel that is dispatched before another one in a test or by the host.
#[derive(Debug, Clone, Copy)]
pub struct EarlierKernel<'a> {
    /// The kernel.
    pub kernel: &'a CompiledKernel,
    /// As pairs name it.
    pub key: ModuleKey,
    /// Raw bits by SpecId.
    pub specialization: &'a Specialization,
    /// Bindings of the earlier and of the later kernel that hold one buffer or image.
    pub shared: &'a SharedBindings,
}

/// Pairs of accesses are obligations where the project asks for coupling coverage.
pub(crate) fn add_pairs(project: &Project, kernels: &mut [Kernel]) {
    if !project.settings.asks_for(CriterionName::Coupling) {
        return;
    }
    let order = DispatchOrder::of_project(project, kernels);
    let pairs_by_kernel: Vec<Vec<KernelPairs>> = kernels
        .par_iter()
        .with_max_len(1)
        .map(|kernel| pairs_of_kernel(project, kernel, kernels, &order))
        .collect();
    for (kernel, pairs) in kernels.iter_mut().zip(pairs_by_kernel) {
        for (row, pairs) in kernel.configurations.iter_mut().zip(pairs) {
            row.pairs = Some(pairs);
        }
    }
}

/// One entry per configuration of the kernel.
fn pairs_of_kernel(
    project: &Project,
    kernel: &Kernel,
    kernels: &[Kernel],
    order: &DispatchOrder,
) -> Vec<KernelPairs> {
    let kernel_name = KernelName::from(&kernel.name);
    let unwritten_by_host = unwritten_by_host(project, kernel_name);
    let aliased = aliased_bindings(project, kernel_name);
    let configurations = kernel.configurations.iter().enumerate();
    let pairs = configurations.map(|(configuration, row)| {
        let context = PairContext {
            specialization: &row.specialization,
            memory_model: project.settings.memory_model,
            unwritten_by_host: &unwritten_by_host,
            aliased: &aliased,
        };
        let earlier = order.before(ConfiguredKernel { kernel: kernel_name, configuration });
        let earlier_kernels: Vec<EarlierKernel> = earlier
            .filter_map(|(earlier, shared)| earlier_kernel(kernels, earlier, shared))
            .collect();
        let told = match order.set_aside_before(kernel_name) {
            None => kernel
                .pair_obligations(context, &earlier_kernels)
                .map_err(|error| error.to_string()),
            Some(earlier) => Err(format!(
                "what kernel {earlier}, which is dispatched before, leaves to it is not known: it does not compile"
            )),
        };
        let (obligations, unknown) = match told {
            Ok(obligations) => (obligations, None),
            Err(reason) => (Vec::new(), Some(reason)),
        };
        let earlier_kernels = earlier_hashes(&obligations, kernels);
        let unwritten_by_host = unwritten_by_host.clone();
        KernelPairs {
            obligations,
            unknown,
            unwritten_by_host,
            earlier_kernels,
            ..KernelPairs::default()
        }
    });
    pairs.collect()
}

/// What justifications are bound to of the kernels that obligations say wrote.
fn earlier_hashes(
    obligations: &[PairObligation],
    kernels: &[Kernel],
) -> BTreeMap<KernelName, String> {
    let definitions = obligations.iter().filter_map(|obligation| obligation.definition.as_ref());
    let writers: BTreeSet<KernelName> = definitions.filter_map(|place| place.kernel).collect();
    let writing = kernels.iter().filter(|kernel| writers.contains(&KernelName::from(&kernel.name)));
    let hashes = writing.map(|kernel| (KernelName::from(&kernel.name), kernel.signed_hash()));
    hashes.collect()
}

/// Bindings whose contents the host never writes, as the kernel's interface says.
fn unwritten_by_host(project: &Project, kernel: KernelName) -> BTreeSet<ReadDescriptor> {
    let interfaces = project.interfaces.iter().filter(|interface| interface.kernel == kernel);
    let bound = interfaces.flat_map(|interface| {
        let buffers = interface.buffers.iter();
        let buffers = buffers.map(|buffer| (buffer.set, buffer.binding, buffer.host_writes));
        let images = interface.images.iter();
        buffers.chain(images.map(|image| (image.set, image.binding, image.host_writes)))
    });
    let unwritten = bound.filter(|(_, _, host_writes)| !host_writes);
    unwritten.map(|(set, binding, _)| ReadDescriptor { set, binding }).collect()
}

fn earlier_kernel<'a>(
    kernels: &'a [Kernel],
    earlier: ConfiguredKernel,
    shared: &'a SharedBindings,
) -> Option<EarlierKernel<'a>> {
    let kernel = kernels.iter().find(|kernel| kernel.name == earlier.kernel.as_str())?;
    let specialization = &kernel.configurations.get(earlier.configuration)?.specialization;
    let key = ModuleKey {
        kernel: earlier.kernel,
        specialization: configuration_number(Some(earlier.configuration)),
    };
    Some(EarlierKernel { kernel, key, specialization, shared })
}

/// The number by which pairs name the configuration of an earlier kernel, of its place among the
/// configurations; 0: it is none of them.
pub(crate) fn configuration_number(place: Option<usize>) -> u32 {
    place.map_or(0, |place| place as u32 + 1)
}

impl CompiledKernel {
    /// What tests of the kernel have to show of its coupling: with the host, between its
    /// invocations, and with kernels that are dispatched before it.
    pub fn pair_obligations(
        &self,
        context: PairContext<'_>,
        earlier_kernels: &[EarlierKernel<'_>],
    ) -> Result<Vec<PairObligation>, PairError> {
        let request = self.pair_request(context);
        let barriers = self.numbered_barriers();
        let own_pairs = static_pairs(&request)?;
        let mut located: Vec<LocatedPair> =
            own_pairs.iter().map(|pair| self.located(pair, self, &barriers)).collect();
        for earlier in earlier_kernels {
            let specialization = earlier.specialization;
            let writing = earlier.kernel.pair_request(PairContext { specialization, ..context });
            let pairs = dispatch_pairs((&writing, earlier.key), &request, earlier.shared)?;
            located.extend(pairs.iter().map(|pair| self.located(pair, earlier.kernel, &barriers)));
        }
        let structures = SideStructures {
            own: self.source_structure(),
            earlier: earlier_kernels
                .iter()
                .filter_map(|earlier| {
                    Some((earlier.key.kernel, earlier.kernel.source_structure()?))
                })
                .collect(),
        };
        Ok(pair_obligations(&located, &structures))
    }

    fn pair_request<'a>(&'a self, context: PairContext<'a>) -> PairRequest<'a> {
        PairRequest {
            module: &self.module,
            entry: &self.entry,
            specialization: context.specialization,
            memory_model: context.memory_model,
            unwritten_by_host: context.unwritten_by_host,
            aliased: context.aliased,
        }
    }

    fn source_structure(&self) -> Option<&KernelStructure> {
        match &self.measurement {
            Measurement::Markers(measured) => Some(&measured.structure),
            Measurement::Failed { structure } => Some(structure),
            Measurement::NoSource => None,
        }
    }

    /// Where an instruction of the production module stands, as exactly as is known.
    pub fn place_of_instruction(&self, source_index: u32) -> Place {
        let index = source_index as usize;
        let place = self.module.place_of(index);
        place.instruction.and_then(|word| self.place_of(word)).unwrap_or(place)
    }

    /// The barriers of the workgroup in the production module, by source index, each with the
    /// number that its barrier of the source has in reports. Optimisation can copy one.
    fn numbered_barriers(&self) -> BTreeMap<u32, LocatedBarrier> {
        let Some(entry) = self.module.entry_point(&self.entry) else { return BTreeMap::new() };
        let words: BTreeSet<u32> = workgroup_barriers(&self.module, entry.function)
            .into_iter()
            .filter_map(|barrier| barrier.place.instruction)
            .collect();
        let instructions = (0..).zip(&self.module.instructions);
        let mut barriers: Vec<(u32, Place)> = instructions
            .filter(|(_, instruction)| words.contains(&instruction.offset))
            .map(|(index, _)| (index, self.place_of_instruction(index)))
            .collect();
        let files = self.source_structure().map_or(&[][..], |structure| &structure.files);
        barriers.sort_by_key(|(index, place)| {
            let file = files.iter().position(|file| Some(&file.path) == place.file.as_ref());
            (file, place.line, place.column, *index)
        });
        let barriers_of_source = self.barriers();
        let lines_of_source: Vec<SourceLine<'_>> = barriers_of_source
            .iter()
            .map(|barrier| (Some(barrier.file.as_str()), Some(barrier.line)))
            .collect();
        let places: Vec<&Place> = barriers.iter().map(|(_, place)| place).collect();
        let numbers = barrier_numbers(&lines_of_source, &places);
        let located = barriers.iter().zip(numbers).map(|((index, place), number)| {
            (*index, LocatedBarrier { number, place: place.clone() })
        });
        located.collect()
    }

    /// `writer` is the kernel whose store a pair of dispatches names.
    fn located(
        &self,
        pair: &StaticPair,
        writer: &CompiledKernel,
        barriers: &BTreeMap<u32, LocatedBarrier>,
    ) -> LocatedPair {
        let (definition, barrier) = match pair.pair.passage {
            Passage::Host => (None, None),
            Passage::Dispatch { store, .. } => (Some(writer.place_of_instruction(store)), None),
            Passage::Barrier { store, barrier } => {
                (Some(self.place_of_instruction(store)), barriers.get(&barrier).cloned())
            }
            Passage::Atomic { store } | Passage::Unordered { store } => {
                (Some(self.place_of_instruction(store)), None)
            }
        };
        LocatedPair {
            pair: pair.pair,
            object: pair.name.clone(),
            shown_by: pair.shown_by(),
            reach: pair.reach,
            definition,
            use_place: self.place_of_instruction(pair.pair.use_index),
            barrier,
        }
    }
}

/// A file with a line of it, as far as they are known.
type SourceLine<'a> = (Option<&'a str>, Option<u32>);

fn line_of(place: &Place) -> SourceLine<'_> {
    (place.file.as_deref(), place.line)
}

/// The number of each barrier of a module, from 1: that of the barrier on its line of the source,
/// of several by their columns. Those that cannot be given to one come behind. Both lists are in
/// source order.
fn barrier_numbers(lines_of_source: &[SourceLine<'_>], places: &[&Place]) -> Vec<u32> {
    let mut next_number = lines_of_source.len() as u32;
    let mut numbers = Vec::with_capacity(places.len());
    for on_line in places.chunk_by(|one, next| line_of(one) == line_of(next)) {
        let numbered_lines = (1..).zip(lines_of_source);
        let of_source: Vec<u32> = numbered_lines
            .filter(|(_, line)| **line == line_of(on_line[0]))
            .map(|(number, _)| number)
            .collect();
        let columns: BTreeSet<Option<u32>> = on_line.iter().map(|place| place.column).collect();
        for (position, place) in on_line.iter().enumerate() {
            let column_position = columns.iter().position(|column| *column == place.column);
            let position_in_source = if of_source.len() == on_line.len() {
                Some(position)
            } else if of_source.len() == columns.len() {
                column_position
            } else {
                None
            };
            let known_number = position_in_source.and_then(|position| of_source.get(position));
            numbers.push(known_number.copied().unwrap_or_else(|| {
                next_number += 1;
                next_number
            }));
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{MeasuredParts, from_glsl};
    use std::fmt::Write;
    use vkcert_glsl::KernelSource;
    use vkcert_model::pair_obligation::CouplingClass;
    use vkcert_spirv::pairs::BoundBytes;

    fn kernel(name: &str, text: String) -> CompiledKernel {
        let source = KernelSource::alone(format!("{name}.comp"), text, "vulkan1.2");
        from_glsl(name, source, MeasuredParts::Source).expect("compiles")
    }

    fn obligations(kernel: &CompiledKernel, earlier: &[EarlierKernel<'_>]) -> Vec<PairObligation> {
        let context = PairContext {
            specialization: &Specialization::default(),
            memory_model: MemoryModel::Idiom,
            unwritten_by_host: &BTreeSet::new(),
            aliased: &BTreeSet::new(),
        };
        kernel.pair_obligations(context, earlier).expect("pairs")
    }

    /// Looked through by hand, each with the text of the kernel.
    #[test]
    fn pairs_of_the_demonstration_kernels() {
        let folder = format!("{}/../../glsl", env!("CARGO_MANIFEST_DIR"));
        let mut names: Vec<String> = std::fs::read_dir(&folder)
            .expect("the folder of kernels")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter_map(|name| name.strip_suffix(".comp").map(str::to_owned))
            .collect();
        names.sort();
        let mut told = String::new();
        for name in names {
            let text = std::fs::read_to_string(format!("{folder}/{name}.comp")).expect("text");
            writeln!(told, "{name}").expect("a string takes everything");
            for row in obligations(&kernel(&name, text), &[]) {
                writeln!(told, "  {} {row}", row.id).expect("a string takes everything");
            }
        }
        insta::assert_snapshot!("pairs_of_the_demonstration_kernels", told);
    }

    /// The obligations of the part of a kernel in workgroup memory, as text.
    fn workgroup_rows(body: &str) -> Vec<String> {
        let text = format!(
            "#version 450\nlayout(local_size_x = 4) in;\nlayout(binding = 1) buffer C {{ uint c[]; }};\nlayout(push_constant) uniform P {{ uint mode; }};\nshared uint s[4];\n{body}"
        );
        let rows = obligations(&kernel("k", text), &[]);
        let of_workgroup = rows.iter().filter(|row| row.object.starts_with('s'));
        of_workgroup.map(|row| row.to_string()).collect()
    }

    fn at(line: u32, column: u32) -> Place {
        let (line, column) = (Some(line), Some(column));
        Place { file: Some("k.comp".to_owned()), line, column, function: None, instruction: None }
    }

    fn numbers(lines_of_source: &[u32], places: &[Place]) -> Vec<u32> {
        let lines: Vec<SourceLine<'_>> =
            lines_of_source.iter().map(|line| (Some("k.comp"), Some(*line))).collect();
        barrier_numbers(&lines, &places.iter().collect::<Vec<_>>())
    }

    #[test]
    fn copies_of_a_barrier_have_its_number() {
        assert_eq!(numbers(&[6, 9], &[at(6, 5), at(9, 5)]), [1, 2]);
        assert_eq!(numbers(&[6, 9], &[at(6, 5), at(6, 5), at(9, 5)]), [1, 1, 2]);
        // One that optimisation has removed keeps its number.
        assert_eq!(numbers(&[6, 9], &[at(9, 5)]), [2]);
        // Two on one line: one by one, or by columns, else nobody knows.
        assert_eq!(numbers(&[6, 6, 9], &[at(6, 5), at(6, 5), at(9, 5)]), [1, 2, 3]);
        assert_eq!(numbers(&[6, 6], &[at(6, 5), at(6, 5), at(6, 20)]), [1, 1, 2]);
        assert_eq!(numbers(&[6, 6, 9], &[at(6, 5), at(6, 5), at(6, 5), at(9, 5)]), [4, 5, 6, 3]);
        assert_eq!(numbers(&[], &[at(6, 5), at(6, 5)]), [1, 2]);
    }

    #[test]
    fn statements_of_one_macro_use_are_obligations_of_their_own() {
        let rows = workgroup_rows(
            "#define PUT(x) if (mode == 0u) { s[i] = x; } else { s[i] = x + 1u; }\nvoid main() {\n    uint i = gl_LocalInvocationIndex;\n    PUT(i)\n    barrier();\n    c[i] = s[3u - i];\n}\n",
        );
        assert_eq!(rows.len(), 2, "{rows:?}");
        let is_told = |row: &String| {
            row.starts_with("s[]: written at 9:5 (word ")
                && row.ends_with(") -> read at 11:19 across barrier 1")
        };
        assert!(rows.iter().all(is_told) && rows[0] != rows[1], "{rows:?}");
    }

    #[test]
    fn statements_on_one_line_and_parts_of_a_loop_are_obligations_of_their_own() {
        let rows = workgroup_rows(
            "void main() {\n    uint i = gl_LocalInvocationIndex;\n    if (mode == 0u) s[i] = 1u; else s[i] = 2u;\n    barrier();\n    for (uint j = s[3u - i]; j < s[2u]; j += s[1u]) c[j] = j;\n}\n",
        );
        let stores = ["8:26", "8:42"];
        let reads = ["10:26", "10:34", "10:46"];
        let expected: Vec<String> = reads
            .iter()
            .flat_map(|read| {
                stores.map(|store| {
                    format!("s[]: written at {store} -> read at {read} across barrier 1")
                })
            })
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn an_earlier_kernel_is_named_with_its_own_places() {
        let head = "#version 450\nlayout(local_size_x = 8) in;\n";
        let first = kernel(
            "first",
            format!(
                "{head}layout(binding = 0) buffer A {{ uint a[]; }};\nvoid main() {{ a[gl_LocalInvocationIndex] = 1u; }}"
            ),
        );
        let second = kernel(
            "second",
            format!(
                "{head}layout(binding = 1) buffer B {{ uint b[]; }};\nlayout(binding = 2) buffer C {{ uint c[]; }};\nvoid main() {{\n    c[0] = b[3];\n}}"
            ),
        );
        let at = |binding| ReadDescriptor { set: 0, binding };
        let mut shared = SharedBindings::default();
        shared.share((at(0), BoundBytes::ALL), (at(1), BoundBytes::ALL));
        let earlier = EarlierKernel {
            kernel: &first,
            key: "first".into(),
            specialization: &Specialization::default(),
            shared: &shared,
        };
        let rows = obligations(&second, &[earlier]);
        let told: Vec<(CouplingClass, String)> =
            rows.iter().map(|row| (row.class, row.to_string())).collect();
        assert_eq!(
            told,
            [
                (CouplingClass::HostToKernel, "b[]: given by the host -> read at 6:12".to_owned()),
                (
                    CouplingClass::KernelToKernel,
                    "b[]: written by first at first.comp:4:42 -> read at 6:12".to_owned()
                )
            ]
        );
        let written = rows[1].definition.as_ref().expect("a store");
        assert_eq!(written.text, "a[gl_LocalInvocationIndex] = 1u;");
        assert!(rows[0].use_place.statement.is_some());
        assert_eq!(rows[0].use_place.text, "c[0] = b[3];");
    }
}
