use super::*;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use vkcert_exec::resource::{AddressPlace, JobAddress, JobView};
use vkcert_exec::variation::Variation;
use vkcert_model::finding::Checks;
use vkcert_model::id::ModuleKey;
use vkcert_model::image::ImageFormat;
use vkcert_model::procedure::{DescriptorClass, Limits};
use vkcert_model::records::{MarkerTable, RecordLayout};
use vkcert_model::schedule::Schedule;

fn only(range: Range<usize>) -> Vec<Range<usize>> {
    std::iter::once(range).collect()
}

fn job() -> Job {
    let buffer = |name: &str| JobBuffer {
        name: name.to_owned(),
        bytes: vec![1, 2, 3, 4].into(),
        defined: only(0..4),
    };
    Job {
        name: "T".to_owned(),
        modules: vec![JobModule {
            key: ModuleKey::only("kernel"),
            words: Arc::new(vec![7, 8]),
            recording: ModuleRecording::None,
        }],
        buffers: vec![buffer("a"), buffer("b")],
        resources: JobResources::default(),
        dispatches: vec![JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [1, 2, 3],
            bindings: vec![JobBinding::storage(0, 1, 0, 4)],
            push_constants: vec![5, 6],
            push_constants_defined: only(0..2),
            specialization: BTreeMap::from([(1, 2)]),
            subgroup_size: None,
        }],
        limits: Limits::default(),
        checks: Checks::all(),
    }
}

/// A setting and its other value.
type Change = fn(&mut Job);

const CHANGES: [Change; 31] = [
    |job| job.name.push('x'),
    |job| job.modules[0].key = ModuleKey::only("other"),
    |job| job.modules[0].key.specialization = 2,
    |job| job.modules[0].words = Arc::new(vec![7, 9]),
    |job| job.modules[0].words = Arc::new(vec![7]),
    |job| job.modules[0].recording = ModuleRecording::Markers(Arc::new(no_markers())),
    |job| drop(job.modules.pop()),
    |job| job.buffers[0].name.push('x'),
    |job| job.buffers[0].bytes = vec![1, 2, 3, 5].into(),
    |job| job.buffers[0].bytes = vec![1, 2, 3].into(),
    |job| job.buffers[0].defined = only(0..3),
    |job| job.buffers.swap(0, 1),
    |job| job.resources.addresses.push(address()),
    |job| job.dispatches[0].module = 1,
    |job| job.dispatches[0].entry.push('x'),
    |job| job.dispatches[0].groups = [1, 3, 2],
    |job| job.dispatches[0].push_constants = vec![6, 5],
    |job| job.dispatches[0].push_constants_defined = only(0..1),
    |job| *job.dispatches[0].specialization.entry(1).or_default() = 3,
    |job| job.dispatches[0].subgroup_size = Some(8),
    |job| job.dispatches[0].bindings[0].set = 1,
    |job| job.dispatches[0].bindings[0].binding = 2,
    |job| job.dispatches[0].bindings[0].array_index = 1,
    |job| job.dispatches[0].bindings[0].class = DescriptorClass::Uniform,
    |job| job.dispatches[0].bindings[0].view = JobView::Texels(ImageFormat::R32ui),
    |job| job.dispatches[0].bindings[0].buffer = 1,
    |job| job.dispatches[0].bindings[0].offset = 4,
    |job| job.dispatches[0].bindings[0].range = 2,
    |job| job.dispatches[0].bindings[0].dynamic_offset = 4,
    |job| job.limits.steps = 1,
    |job| job.checks = Checks::none(),
];

fn no_markers() -> MarkerTable {
    let layout = RecordLayout { decisions: Vec::new(), marks: Vec::new(), bits: 0 };
    MarkerTable { value_function: None, mark_function: None, roles: Vec::new(), layout }
}

fn address() -> JobAddress {
    JobAddress { place: AddressPlace::Buffer(0), at: 0, target: 1, offset: 0 }
}

fn setup(program: &str) -> EngineSetup {
    EngineSetup::new(program, EngineName::Sequential, &BTreeMap::new())
}

fn key(request: &RunRequest<'_>) -> CacheKey {
    key_with(&setup("p"), request)
}

fn key_with(setup: &EngineSetup, request: &RunRequest<'_>) -> CacheKey {
    setup.key_of(request).expect("a key")
}

#[test]
fn whatever_a_run_depends_on_is_in_its_name() {
    let honest = job();
    let once = RunRequest::once(&honest);
    let mut keys = vec![key(&once)];
    let setup_of_all = setup("p");
    for change in CHANGES {
        let mut changed = job();
        change(&mut changed);
        keys.push(key_with(&setup_of_all, &RunRequest::once(&changed)));
    }
    keys.push(key(&RunRequest { repetitions: NonZeroU32::new(2).expect("two"), ..once }));
    keys.push(key(&RunRequest { pair_tracking: PairTracking::On, ..once }));
    keys.push(key(&RunRequest { variation: Some(Variation::NONE), ..once }));
    let reversed: Schedule = "reversed".parse().expect("a schedule");
    keys.push(key(&RunRequest { following: Some(reversed.into()), ..once }));
    let one = Following { schedule: reversed, dispatches: Dispatches::One(0) };
    keys.push(key(&RunRequest { following: Some(one), ..once }));
    keys.push(setup("other").key_of(&once).expect("a key"));
    let device = EngineSetup::new("p", EngineName::Vulkan, &BTreeMap::new());
    keys.push(device.key_of(&once).expect("a key"));
    let row = BTreeMap::from([("driver".to_owned(), "1".to_owned())]);
    let other = EngineSetup::new("p", EngineName::Sequential, &row);
    keys.push(other.key_of(&once).expect("a key"));
    let count = keys.len();
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), count);
    assert_eq!(key(&RunRequest::once(&job())), key(&once), "the same for the same");
}

/// What is gone leaves its place in memory to others.
#[test]
fn a_digest_is_never_that_of_what_was_there_before() {
    let setup_of_all = setup("p");
    let mut addresses = std::collections::BTreeSet::new();
    for number in 0..5_000 {
        let mut changed = job();
        changed.modules[0].words = Arc::new(vec![number]);
        addresses.insert(Arc::as_ptr(&changed.modules[0].words).addr());
        let request = RunRequest::once(&changed);
        for _ in 0..2 {
            assert_eq!(key_with(&setup_of_all, &request), key(&request), "{number}");
        }
    }
    assert!(addresses.len() < 5_000, "no place was taken again");
    let known = setup_of_all.words.known().by_address.len();
    assert!(known <= LEAST_ROOM, "{known} digests of things that are gone");
}

#[test]
fn a_key_is_read_as_it_is_written() {
    let key = CacheKey::of_bytes(b"x");
    assert_eq!(CacheKey::parse(&key.to_string()), Some(key));
    for text in ["", "00", &"g".repeat(64), &"0".repeat(63), &"A".repeat(64), &"é".repeat(32)] {
        assert_eq!(CacheKey::parse(text), None, "{text}");
    }
}
