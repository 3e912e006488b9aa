//! What the layer read in front of dispatches: found again, and refused where it lies.

use crate::command::Command;
use crate::event::*;
use crate::program::{Action, Dispatch, Reading};
use crate::tests::{events, fault_with, file_of, read};
use crate::value::{Bytes, Handle};

/// A dispatch of 64 bytes at binding 0.1 and an image at 0.2, and what was read of both.
/// Behind so many records.
pub(crate) fn dispatch_events(before: usize) -> Vec<Event> {
    let commands = Handle(26);
    let command =
        |command: Command| Event::Command(RecordedCommand { command_buffer: commands, command });
    let descriptors = [
        (1, 7, Descriptor::Buffer { buffer: Handle(4), offset: 16, range: 64 }),
        (2, 3, Descriptor::View { view: Handle(11), sampler: Handle(0), layout: 1 }),
    ];
    let bindings = descriptors.iter().map(|(binding, descriptor_type, _)| LayoutBinding {
        binding: *binding,
        descriptor_type: *descriptor_type,
        count: 1,
        stages: 0x20,
    });
    let bindings = bindings.collect();
    let writes = descriptors.into_iter().map(|(binding, descriptor_type, descriptor)| {
        let descriptors = vec![descriptor];
        DescriptorWrite { set: Handle(25), binding, element: 0, descriptor_type, descriptors }
    });
    let mut made = vec![
        Event::SetLayout(SetLayout { layout: Handle(20), flags: 0, bindings }),
        Event::PipelineLayout(PipelineLayout {
            layout: Handle(21),
            sets: vec![Handle(20)],
            push_constants: Vec::new(),
        }),
        Event::ShaderModule(ShaderModule { module: Handle(22), code: Bytes(vec![0; 4]) }),
        Event::ComputePipeline(ComputePipeline {
            pipeline: Handle(23),
            layout: Handle(21),
            module: Handle(22),
            entry: "main".to_owned(),
            specialization: Vec::new(),
        }),
        Event::DescriptorSets(DescriptorSets {
            pool: Handle(24),
            sets: vec![(Handle(25), Handle(20))],
        }),
        Event::WriteDescriptors(writes.collect()),
        Event::CommandBuffers(CommandBuffers { pool: Handle(27), command_buffers: vec![commands] }),
        Event::Begin(Begin { command_buffer: commands, flags: 0 }),
        command(Command::BindPipeline(Handle(23))),
        command(Command::BindSets {
            layout: Handle(21),
            first: 0,
            sets: vec![Handle(25)],
            dynamic_offsets: Vec::new(),
        }),
        command(Command::Dispatch { base: [0; 3], groups: [1; 3] }),
        Event::EndRecording(commands),
        Event::Submit(Submit {
            queue: Handle(2),
            fence: Handle(0),
            batches: vec![Batch {
                waits: Vec::new(),
                command_buffers: vec![commands],
                signals: Vec::new(),
            }],
        }),
        Event::QueueIdle(Handle(2)),
    ];
    let submission = (before + made.len() - 1) as u64;
    made.extend(readings(submission));
    made
}

fn place(submission: u64) -> DispatchPlace {
    DispatchPlace { submission, command_buffer: 0, dispatch: 0 }
}

fn descriptor(binding: u32) -> ReadDescriptor {
    ReadDescriptor { set: 0, binding, element: 0 }
}

fn contents(submission: u64, source: ReadSource, bytes: ReadBytes) -> Event {
    let place = place(submission);
    Event::DispatchContents(DispatchContents { place, source, bytes })
}

fn texels(level: u32, layer: u32) -> ReadSource {
    ReadSource::Texels { descriptor: descriptor(2), level, layer }
}

fn readings(submission: u64) -> [Event; 4] {
    let range = ReadSource::Range(descriptor(1));
    [
        contents(submission, range, ReadBytes::New(0, Bytes(vec![5; 64]))),
        contents(submission, texels(1, 0), ReadBytes::New(1, Bytes(vec![6; 8]))),
        contents(submission, texels(1, 2), ReadBytes::Again(1)),
        Event::UnreadDispatch(UnreadDispatch {
            place: place(submission),
            reason: "one of them".to_owned(),
        }),
    ]
}

/// The record of the submission that has the dispatch.
fn submission_of(events: &[Event]) -> u64 {
    let last = events.iter().rposition(|event| matches!(event, Event::Submit(_))).unwrap();
    last as u64 + 1
}

fn dispatch_of(events: &[Event]) -> Dispatch {
    let program = read(&file_of(events)).unwrap();
    let mut dispatches = program.dispatches().map(|(_, dispatch)| dispatch.clone());
    dispatches.next().unwrap()
}

#[test]
fn readings_are_those_of_their_dispatch() {
    let dispatch = dispatch_of(&events());
    let bytes = |value: u8, count: usize| std::sync::Arc::new(vec![value; count]);
    let expected = [
        Reading::Range { buffer: 0, offset: 16, bytes: bytes(5, 64) },
        Reading::Texels { image: 0, level: 1, layer: 0, bytes: bytes(6, 8) },
        Reading::Texels { image: 0, level: 1, layer: 2, bytes: bytes(6, 8) },
    ];
    assert_eq!(dispatch.readings, expected);
    assert_eq!(dispatch.unread, ["one of them".into()]);
}

/// What was written to the set behind the binding, and the like, is not what was read.
#[test]
fn a_reading_of_something_else_is_left_out_by_name() {
    let mut updated = events();
    let submit = submission_of(&updated);
    let write = updated.iter().position(|event| matches!(event, Event::WriteDescriptors(_)));
    let write = updated[write.unwrap()].clone();
    updated.insert(submit as usize - 1, write);
    // The update shifts the submission.
    for event in &mut updated {
        match event {
            Event::DispatchContents(contents) => contents.place.submission += 1,
            Event::UnreadDispatch(unread) => unread.place.submission += 1,
            Event::End(end) => end.records += 1,
            _ => {}
        }
    }
    let dispatch = dispatch_of(&updated);
    assert_eq!(dispatch.readings, []);
    let reason = "has something else at the submission than was read";
    let named = dispatch.unread.iter().filter(|other| other.contains(reason));
    assert_eq!(named.count(), 3, "{:?}", dispatch.unread);

    let own = submission_of(&events());
    let range = ReadSource::Range(descriptor(1));
    for (source, bytes) in [(range, 63), (ReadSource::Range(descriptor(3)), 64)] {
        let bytes = ReadBytes::New(9, Bytes(vec![0; bytes]));
        let mut events = events();
        let end = events.len() - 1;
        events.insert(end, contents(own, source, bytes));
        events[end + 1] = Event::End(End { records: end as u64 + 1 });
        let dispatch = dispatch_of(&events);
        assert_eq!((dispatch.readings.len(), dispatch.unread.len()), (3, 2));
    }
}

#[test]
fn readings_that_lie_end_in_a_diagnostic() {
    let own = submission_of(&events());
    let range = ReadSource::Range(descriptor(1));
    let bytes = || ReadBytes::New(7, Bytes(vec![0; 64]));
    let elsewhere = |command_buffer: u32, dispatch: u32| {
        let place = DispatchPlace { submission: own, command_buffer, dispatch };
        Event::DispatchContents(DispatchContents { place, source: range, bytes: bytes() })
    };
    let no_level = "a level or a layer that the image does not have";
    for (event, expected) in [
        (contents(own - 1, range, bytes()), "has no dispatch 0 of command buffer 0"),
        (contents(u64::MAX, range, bytes()), "has no dispatch 0 of command buffer 0"),
        (elsewhere(1, 0), "has no dispatch 0 of command buffer 1"),
        (elsewhere(0, u32::MAX), "has no dispatch 4294967295 of command buffer 0"),
        (contents(own, range, ReadBytes::Again(7)), "no earlier record has the bytes of number 7"),
        (contents(own, texels(2, 0), bytes()), no_level),
        (contents(own, texels(0, 3), bytes()), no_level),
        (contents(own, ReadSource::Workgroups, bytes()), "other workgroups than those"),
    ] {
        let message = fault_with(event);
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    }
}

/// Without contents a capture has no readings.
#[test]
fn a_capture_without_contents_has_no_place_for_readings() {
    let mut events = events();
    let Event::Start(start) = &mut events[0] else { panic!() };
    start.contents = ContentsMode::Omitted;
    assert!(read(&file_of(&events)).unwrap_err().contains("has no dispatch 0"));
}

/// Reading a dispatch without a pipeline is as if the layer had seen one.
#[test]
fn a_dispatch_without_a_pipeline_was_given_nothing() {
    let mut events = events();
    let bound = |event: &Event| match event {
        Event::Command(RecordedCommand { command, .. }) => {
            matches!(command, Command::BindPipeline(_))
        }
        _ => false,
    };
    let place = events.iter().position(bound).unwrap();
    events[place] = Event::Command(RecordedCommand {
        command_buffer: Handle(26),
        command: Command::Barrier(Vec::new()),
    });
    let message = read(&file_of(&events)).unwrap_err();
    assert!(message.contains("a dispatch without a pipeline has nothing bound"), "{message}");
    events.retain(|event| !matches!(event, Event::DispatchContents(_) | Event::End(_)));
    let program = read(&file_of(&events)).unwrap();
    let mut operations = program.operations.iter();
    assert!(operations.any(|done| matches!(done.action, Action::UnboundDispatch { .. })));
}
