//! What a capture tells of one of its kernels.

use super::compiled;
use super::script::{
    COHERENT, COMPUTE, HOST, HOST_READ, INDIRECT, INDIRECT_READ, QUEUE, SHADER_READ, SHADER_WRITE,
    Script, TRANSFER, TRANSFER_WRITE, TestKernel, barrier, fill,
};
use crate::{CaptureSource, SoughtKernel, captured_kernel};
use vkcert_capture::command::Command;
use vkcert_capture::value::Bytes;
use vkcert_model::evidence::{CheckStatus, CouplingCheckName};
use vkcert_model::requirement::{
    BoundBytes, CapturedFlow, CapturedKernel, CapturedModules, CapturedOperationKind,
};

const WRITER: &str = "layout(binding = 0) buffer A { uint a[]; };\n\
                      void main() { a[gl_GlobalInvocationID.x] = 1; }";
const READER: &str = "layout(push_constant) uniform P { uint n; };\n\
                      layout(binding = 0) buffer A { uint a[]; };\n\
                      layout(binding = 1) buffer B { uint b[]; };\n\
                      void main() { b[gl_GlobalInvocationID.x] = a[0] + n; }";
const ADDRESSED: &str = "#extension GL_EXT_buffer_reference : require\n\
                         layout(buffer_reference) buffer R { uint r; };\n\
                         layout(push_constant) uniform P { R place; };\n\
                         void main() { place.r = 1; }";

fn told_of(
    script: &Script,
    glsl: &str,
    stated_module: Option<u32>,
) -> Result<CapturedKernel, String> {
    let module = compiled(glsl);
    let sought = SoughtKernel { module: &module, entry: "main", stated_module };
    let source = CaptureSource { file: "host.capture", sha256: "sha256:00" };
    captured_kernel(&script.program(), source, &sought)
}

/// Checks of a status, by name.
fn checks_of(told: &CapturedKernel, status: CheckStatus) -> Vec<CouplingCheckName> {
    let rows = told.checks.iter().filter(|row| row.status == status);
    rows.map(|row| row.check.clone()).collect()
}

/// A writer, commands, and a reader of what it writes that is pushed numbers.
fn pair(between: &[Command], numbers: &[u8]) -> Script {
    let mut script = Script::new(COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let writer = script.kernel(WRITER, &[data]);
    let reader = script.kernel(READER, &[data, other]);
    let pushed = |number: &u8| {
        [vec![reader.push_constants(0, &[*number, 0, 0, 0])], reader.dispatch()].concat()
    };
    let reads = numbers.iter().flat_map(pushed);
    let ordered = barrier((COMPUTE, SHADER_WRITE | SHADER_READ), (COMPUTE, SHADER_WRITE));
    let reads: Vec<Command> = reads.chain([ordered]).collect();
    script.submit(QUEUE, [writer.dispatch(), between.to_vec(), reads].concat());
    script
}

fn right_barrier() -> Command {
    barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_READ))
}

#[test]
fn dispatches_that_are_given_the_same_are_one_row() {
    let all_ordered = barrier((COMPUTE, SHADER_WRITE), (COMPUTE, SHADER_READ | SHADER_WRITE));
    let mut script = Script::new(COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let reader = script.kernel(READER, &[data, other]);
    for number in [7, 7, 9, 7] {
        let commands = [
            vec![reader.push_constants(0, &[number, 0, 0, 0])],
            reader.dispatch(),
            vec![all_ordered.clone()],
        ];
        script.submit(QUEUE, commands.concat());
    }
    let told = told_of(&script, READER, None).unwrap();
    assert_eq!(told.reading.modules, CapturedModules::Production(vec![1]));
    assert_eq!(told.reading.dispatch_count, 4);
    let rows: Vec<_> = told.dispatches.iter().map(|row| (row.dispatch, row.count)).collect();
    assert_eq!(rows, [(1, 3), (3, 1)]);
    let given = &told.dispatches[0].given;
    assert_eq!(given.push_constants, "07000000");
    assert_eq!((given.groups, given.local_size), (Some([1; 3]), Some([1; 3])));
    let bound = |binding| BoundBytes { set: 0, binding, bytes: 256 };
    assert_eq!(given.buffers, [bound(0), bound(1)]);
}

#[test]
fn a_fault_between_other_kernels_is_theirs_and_what_hides_faults_is_everybodys() {
    let missing = pair(&[], &[1]);
    let refuted = |told: &CapturedKernel| checks_of(told, CheckStatus::Refuted);
    for own in [WRITER, READER] {
        let told = told_of(&missing, own, None).unwrap();
        assert_eq!(refuted(&told), [CouplingCheckName::DeviceDependency], "{:#?}", told.checks);
    }
    let third = "layout(binding = 0) buffer C { uint c[]; };\nvoid main() { c[0] = 2; }";
    let with_third = |other: &str, count: usize| {
        let mut script = pair(&[], &[1]);
        let buffers: Vec<_> = (0..=count).map(|_| script.buffer()).collect();
        let kernel = script.kernel(third, &buffers[..1]);
        script.submit(QUEUE, kernel.dispatch());
        let other: TestKernel = script.kernel(other, &buffers[1..]);
        let values = other.push_constants(0, &[0; 16]);
        script.submit(QUEUE, [vec![values], other.dispatch()].concat());
        told_of(&script, third, None).unwrap()
    };
    let told = with_third(WRITER, 1);
    assert_eq!(refuted(&told), [], "{:#?}", told.checks);
    assert_eq!(checks_of(&told, CheckStatus::Undetermined), []);
    // What another kernel reaches by addresses may be what this one uses.
    let told = with_third(ADDRESSED, 0);
    let open = checks_of(&told, CheckStatus::Undetermined);
    assert!(open.contains(&CouplingCheckName::DeviceDependency), "{:#?}", told.checks);
}

#[test]
fn flows_go_from_what_writes_to_what_reads_with_what_orders_them() {
    let told = told_of(&pair(&[right_barrier()], &[1]), READER, None).unwrap();
    let flow =
        CapturedFlow { from: 2, to: 4, place: "binding 0.0".to_owned(), ordered_by: vec![3] };
    assert_eq!(told.order.flows, [flow]);
    let operations = told.order.operations.iter();
    let kinds: Vec<_> = operations.map(|(number, row)| (*number, row.kind)).collect();
    let expected = [
        (2, CapturedOperationKind::OtherDispatch(1)),
        (3, CapturedOperationKind::Barrier),
        (4, CapturedOperationKind::OwnDispatch(2)),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(told.order.operations[&4].label, "dispatch 2: 1 x 1 x 1 workgroups, operation 4");
    let told = told_of(&pair(&[], &[1]), READER, None).unwrap();
    assert_eq!(told.order.flows[0].ordered_by, Vec::<usize>::new());
    let many = told_of(&pair(&[right_barrier()], &[1; 40]), READER, None).unwrap();
    assert_eq!(many.order.unfollowed, 28);
    assert_eq!(many.order.flows.len(), 12);
}

#[test]
fn copies_and_the_host_give_and_take() {
    let mut script = Script::new(COHERENT);
    let (data, other) = (script.buffer(), script.buffer());
    let reader = script.kernel(READER, &[data, other]);
    let commands = [
        vec![fill(data), barrier((0x1000, 0x1000), (COMPUTE, SHADER_READ))],
        vec![reader.push_constants(0, &[1, 0, 0, 0])],
        reader.dispatch(),
        vec![barrier((COMPUTE, SHADER_WRITE), (HOST, HOST_READ))],
    ];
    script.submit(QUEUE, commands.concat());
    script.push(vkcert_capture::event::Event::QueueIdle(QUEUE));
    script.map(other);
    let told = told_of(&script, READER, None).unwrap();
    let flows: Vec<_> = told.order.flows.iter().map(|flow| (flow.from, flow.to)).collect();
    assert_eq!(flows, [(2, 4), (4, 7)], "{:#?}", told.order);
    assert_eq!(told.order.flows[1].place, "the host");
}

#[test]
fn a_stated_module_is_found_by_its_number_and_another_build_is_called_one() {
    let script = pair(&[right_barrier()], &[1]);
    let modules = |stated| told_of(&script, WRITER, stated).map(|told| told.reading.modules);
    assert_eq!(modules(None), Ok(CapturedModules::Production(vec![1])));
    assert_eq!(modules(Some(1)), Ok(CapturedModules::Production(vec![1])));
    assert_eq!(modules(Some(2)), Ok(CapturedModules::OtherBuild(2)));
    for number in [0, 3] {
        assert!(modules(Some(number)).unwrap_err().contains("the capture has 2"));
    }
    let none = told_of(&script, "void main() {}", None).unwrap();
    assert_eq!(none.reading.modules, CapturedModules::Production(Vec::new()));
    assert_eq!(none.reading.dispatch_count, 0);
}

/// An indirect dispatch of the writer whose numbers the device gets from the host, or from nobody.
fn indirect_writer(is_written: bool) -> Script {
    let mut script = Script::new(COHERENT);
    let (data, numbers) = (script.buffer(), script.buffer());
    let writer = script.kernel(WRITER, &[data]);
    let words: Vec<u8> = [4u32, 1, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    let (buffer, offset, bytes) = (numbers.buffer, 0, Bytes(words));
    let update = Command::UpdateBuffer { buffer, offset, bytes };
    let order = barrier((TRANSFER, TRANSFER_WRITE), (INDIRECT, INDIRECT_READ));
    let numbers_known = if is_written { vec![update, order] } else { Vec::new() };
    let dispatch = vec![Command::DispatchIndirect { buffer, offset }];
    script.submit(QUEUE, [numbers_known, writer.bound(), dispatch].concat());
    script
}

#[test]
fn workgroups_of_an_indirect_dispatch_are_given_where_the_capture_has_them() {
    let told = told_of(&indirect_writer(true), WRITER, None).unwrap();
    assert_eq!(told.dispatches[0].given.groups, Some([4, 1, 1]));
    let labels: Vec<&str> =
        told.order.operations.values().map(|operation| operation.label.as_str()).collect();
    assert!(
        labels.iter().any(|label| label.contains("4 x 1 x 1 workgroups, indirect")),
        "{labels:?}"
    );
    let told = told_of(&indirect_writer(false), WRITER, None).unwrap();
    assert_eq!(told.dispatches[0].given.groups, None);
}
