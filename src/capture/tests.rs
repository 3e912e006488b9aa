//! Files that are damaged, that lie, and that contradict themselves. What the layer reads in front of
//! dispatches is in `reading_tests`.

use crate::command::{Command, Dependency, DependencyScope, QueueTransfer};
use crate::event::*;
use crate::file::{CaptureReader, Completeness, HEAD_BYTES, append_frame, cut_torn_frame, head};
use crate::image::{
    BufferImageRegion, Coordinates, FloatBits, ImageInLayout, ImageRegion, ImageScope,
    SubresourceRange, TexelBox,
};
use crate::program::{Action, Program};
use crate::reading_tests::dispatch_events;
use crate::value::{Bytes, Handle};
use proptest::prelude::*;
use std::path::PathBuf;

fn record(event: Event) -> Record {
    Record { thread: 0, event }
}

pub(crate) fn file_of(events: &[Event]) -> Vec<u8> {
    let mut file = head().to_vec();
    for event in events {
        append_frame(&record(event.clone()), &mut file).unwrap();
    }
    file
}

fn start() -> Event {
    Event::Start(Start {
        layer: "0".to_owned(),
        program: "host".to_owned(),
        contents: ContentsMode::Recorded,
    })
}

fn command(command: Command) -> Event {
    Event::Command(RecordedCommand { command_buffer: Handle(6), command })
}

const IMAGE: ImageInLayout = ImageInLayout { image: Handle(10), layout: 7 };

const ALL: SubresourceRange =
    SubresourceRange { aspects: 1, level: 0, levels: u32::MAX, layer: 0, layers: u32::MAX };

const TEXELS: TexelBox =
    TexelBox { aspects: 1, level: 0, layer: 0, layers: 1, offset: [0; 3], extent: [4, 2, 1] };

fn image() -> Image {
    Image {
        image: Handle(10),
        flags: 0,
        image_type: 1,
        format: 100,
        extent: [4, 2, 1],
        levels: 2,
        layers: 3,
        samples: 1,
        tiling: 0,
        usage: 0xf,
        initial_layout: 0,
        memory_bytes: 64,
    }
}

/// An image, how it is seen, and commands about it.
fn image_events() -> Vec<Event> {
    let region =
        BufferImageRegion { buffer_offset: 0, row_length: 0, image_height: 0, texels: TEXELS };
    let scope = ImageScope {
        image: Handle(10),
        range: ALL,
        layouts: [0, 7],
        transfer: QueueTransfer::None,
    };
    let scope = DependencyScope::ImagePart(scope);
    vec![
        command(Command::Barrier(vec![dependency(scope)])),
        command(Command::CopyBufferToImage { from: Handle(4), to: IMAGE, regions: vec![region] }),
        command(Command::CopyImageToBuffer { from: IMAGE, to: Handle(4), regions: vec![region] }),
        command(Command::CopyImage {
            from: IMAGE,
            to: IMAGE,
            regions: vec![ImageRegion { from: TEXELS, to: TEXELS }],
        }),
        command(Command::ClearColor { to: IMAGE, color: [0; 4], ranges: vec![ALL] }),
    ]
}

fn image_objects() -> Vec<Event> {
    let sampler = Sampler {
        sampler: Handle(12),
        filters: [0; 2],
        mipmap: 0,
        address: [2; 3],
        border: 0,
        anisotropy: None,
        compare: None,
        lod: [FloatBits(0); 3],
        coordinates: Coordinates::Normalized,
        extended: false,
    };
    let binding = LayoutBinding { binding: 3, descriptor_type: 0, count: 1, stages: 0x20 };
    vec![
        Event::ImageMade(Box::new(image())),
        Event::BindImage(Binding { resource: Handle(10), memory: Handle(3), offset: 192 }),
        Event::ImageView(ImageView {
            view: Handle(11),
            image: Handle(10),
            view_type: 1,
            format: 100,
            components: [0; 4],
            range: ALL,
        }),
        Event::Sampler(sampler),
        Event::SetLayout(SetLayout { layout: Handle(13), flags: 2, bindings: vec![binding] }),
        Event::BindingFlags(BindingFlags { layout: Handle(13), bindings: vec![(3, 5)] }),
        Event::ImmutableSamplers(ImmutableSamplers {
            layout: Handle(13),
            bindings: vec![(3, vec![Handle(12)])],
        }),
        Event::ImageContents(ImageContents {
            image: Handle(10),
            level: 1,
            layer: 2,
            bytes: Bytes(vec![0; 8]),
        }),
        Event::UnreadImage(UnreadImage { image: Handle(10), reason: "its usage".to_owned() }),
    ]
}

fn dependency(scope: DependencyScope) -> Dependency {
    Dependency {
        source_stages: 0x1000,
        source_access: 0x1000,
        target_stages: 0x4000,
        target_access: 0x2000,
        scope,
    }
}

/// A small program that is complete.
pub(crate) fn events() -> Vec<Event> {
    let mut events = events_without_dispatch();
    events.extend(dispatch_events(events.len()));
    let records = events.len() as u64;
    events.push(Event::End(End { records }));
    events
}

fn events_without_dispatch() -> Vec<Event> {
    let limits = Limits {
        groups: [1000; 3],
        local_size: [64; 3],
        invocations: 64,
        workgroup_bytes: 1000,
        push_constant_bytes: 128,
        storage_range: 1000,
        uniform_range: 1000,
        non_coherent_atom: 64,
    };
    let device = Device {
        device: Handle(1),
        name: "device".to_owned(),
        ids: [0; 2],
        api_version: "1.3.0".to_owned(),
        driver_version: 0,
        driver_name: String::new(),
        driver_info: String::new(),
        memory_types: vec![2],
        queue_families: vec![7],
        extensions: Vec::new(),
        limits,
    };
    let mut events = vec![
        start(),
        Event::Device(Box::new(device)),
        Event::Queue(Queue { device: Handle(1), queue: Handle(2), family: 0, index: 0 }),
        Event::Memory(Memory { device: Handle(1), memory: Handle(3), size: 256, memory_type: 0 }),
        Event::Buffer(Buffer { buffer: Handle(4), size: 128, usage: 0x20 }),
        Event::BindBuffer(Binding { resource: Handle(4), memory: Handle(3), offset: 64 }),
        Event::CommandBuffers(CommandBuffers { pool: Handle(5), command_buffers: vec![Handle(6)] }),
        Event::Begin(Begin { command_buffer: Handle(6), flags: 0 }),
        command(Command::FillBuffer { buffer: Handle(4), offset: 8, size: u64::MAX, word: 7 }),
        command(Command::Barrier(vec![dependency(DependencyScope::All)])),
        command(Command::UpdateBuffer {
            buffer: Handle(4),
            offset: 0,
            bytes: Bytes(vec![1, 2, 3, 4]),
        }),
        Event::EndRecording(Handle(6)),
        Event::Fence(Handle(7)),
        Event::Submit(Submit {
            queue: Handle(2),
            fence: Handle(7),
            batches: vec![Batch {
                waits: Vec::new(),
                command_buffers: vec![Handle(6)],
                signals: Vec::new(),
            }],
        }),
        Event::FencesSignaled(vec![Handle(7)]),
        Event::Map(MemoryRange { memory: Handle(3), offset: 0, size: u64::MAX }),
        Event::Unmap(Handle(3)),
    ];
    events.splice(11..11, image_events());
    events.splice(6..6, image_objects());
    events
}

struct Written {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn written(bytes: &[u8]) -> Written {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.capture");
    std::fs::write(&path, bytes).unwrap();
    Written { _folder: folder, path }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Program, String> {
    let file = written(bytes);
    Program::read(&file.path).map_err(|diagnostic| {
        assert!(diagnostic.location.is_some(), "{diagnostic} names no file");
        diagnostic.message
    })
}

#[test]
fn a_program_is_read_as_it_was_recorded() {
    let program = read(&file_of(&events())).unwrap();
    assert_eq!(program.completeness, Completeness::Complete);
    let names: Vec<String> = program
        .operations
        .iter()
        .map(|operation| format!("{:?}", operation.action).split([' ', '(']).next().unwrap().into())
        .collect();
    let expected = "ImageContents UnreadImage Submit Fill Barrier Update Barrier CopyToImage \
                    CopyFromImage CopyImage ClearImage HostWait Map Unmap Submit Dispatch HostWait";
    assert_eq!(names.join(" "), expected);
    let Action::Fill { offset, size, .. } = program.operations[3].action else { panic!() };
    assert_eq!((offset, size), (8, 120), "VK_WHOLE_SIZE goes to the end of the buffer");
    let span = program.span(0, 8, 120).unwrap();
    assert_eq!((span.start, span.end), (72, 192), "the buffer begins at 64 of its memory");
}

/// Texels stand level by level, layer by layer; of what a box names those that are there.
#[test]
fn texels_of_an_image_have_numbers() {
    let program = read(&file_of(&events())).unwrap();
    let image = &program.images[0];
    assert_eq!((image.first_texel(1, 0), image.first_texel(1, 2), image.texels()), (24, 28, 30));
    assert_eq!((image.subresource_at(23), image.subresource_at(28)), ((0, 2), (1, 2)));
    let inner = TexelBox { layer: 1, layers: 2, offset: [1, 1, 0], extent: [9, 9, 1], ..TEXELS };
    let rows = image.rows(&inner);
    let starts: Vec<u64> = (0..rows.count()).map(|row| rows.start(row)).collect();
    assert_eq!((starts, rows.width), (vec![13, 21], 3));
    let range = SubresourceRange { level: 1, ..ALL };
    assert_eq!(image.spans(&image.subresources(&range)), [(24, 26), (26, 28), (28, 30)]);
}

/// What version 1 had reads as it did, and its images are not described.
#[test]
fn captures_of_version_one_are_read() {
    let mut events = events_without_dispatch();
    events.push(Event::End(End { records: 0 }));
    events.drain(20..25);
    events.drain(6..15);
    events.insert(6, Event::Image(Handle(10)));
    events.insert(
        7,
        Event::BindImage(Binding { resource: Handle(10), memory: Handle(3), offset: 0 }),
    );
    let end = events.len() - 1;
    events[end] = Event::End(End { records: end as u64 });
    let mut file = file_of(&events);
    file[8] = 1;
    let program = read(&file).unwrap();
    assert_eq!((program.images.len(), program.operations.len()), (0, 7));
    let view = ImageView {
        view: Handle(11),
        image: Handle(10),
        view_type: 1,
        format: 100,
        components: [0; 4],
        range: ALL,
    };
    events.insert(8, Event::ImageView(view));
    let message = read(&file_of(&events)).unwrap_err();
    assert!(message.contains("what the image 0xa is was not recorded"), "{message}");
}

#[test]
fn records_are_the_same_in_json() {
    for event in events() {
        let text = serde_json::to_string(&record(event.clone())).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record(event));
    }
}

#[test]
fn a_file_that_ends_early_is_incomplete_or_refused() {
    let whole = file_of(&events());
    let mut boundaries = vec![HEAD_BYTES];
    let mut bytes = head().to_vec();
    for event in events() {
        append_frame(&record(event), &mut bytes).unwrap();
        boundaries.push(bytes.len());
    }
    for length in 0..whole.len() {
        let file = written(&whole[..length]);
        match Program::read(&file.path) {
            Ok(program) => {
                assert!(boundaries.contains(&length), "{length} bytes are read");
                assert_ne!(program.completeness, Completeness::Complete, "{length} bytes");
            }
            Err(diagnostic) => {
                assert!(!boundaries.contains(&length), "{length} bytes: {diagnostic}");
            }
        }
        // What the command cuts off is read afterwards.
        if length >= HEAD_BYTES {
            cut_torn_frame(&file.path).unwrap();
            Program::read(&file.path).unwrap();
        }
    }
}

#[test]
fn a_record_that_was_taken_out_is_noticed() {
    for left_out in 0..events().len() - 1 {
        let mut events = events();
        events.remove(left_out);
        assert!(read(&file_of(&events)).is_err(), "record {} is missed", left_out + 1);
    }
}

/// What is wrong of a program with one more event before its end.
pub(crate) fn fault_with(event: Event) -> String {
    let mut events = events();
    let end = events.len() - 1;
    events.insert(end, event);
    events[end + 1] = Event::End(End { records: end as u64 + 1 });
    match read(&file_of(&events)) {
        Ok(_) => String::new(),
        Err(message) => message,
    }
}

#[test]
fn contradictions_are_named_with_their_record() {
    let unknown = Handle(99);
    let cases = [
        (Event::Unmap(unknown), "no record made the memory 0x63"),
        (
            Event::BindBuffer(Binding { resource: Handle(4), memory: Handle(3), offset: 200 }),
            "a buffer reaches beyond the memory",
        ),
        (
            Event::BindBuffer(Binding {
                resource: Handle(4),
                memory: Handle(3),
                offset: u64::MAX - 1,
            }),
            "a buffer reaches beyond the memory",
        ),
        (
            Event::Memory(Memory { device: Handle(1), memory: unknown, size: 1, memory_type: 9 }),
            "no memory type 9",
        ),
        (
            Event::Contents(Contents { memory: Handle(3), offset: 250, bytes: Bytes(vec![0; 10]) }),
            "contents reach beyond their memory",
        ),
        (
            Event::Map(MemoryRange { memory: Handle(3), offset: 300, size: 1 }),
            "a range of memory begins behind its end",
        ),
        (
            command(Command::UpdateBuffer {
                buffer: Handle(4),
                offset: 126,
                bytes: Bytes(vec![0; 4]),
            }),
            "reach beyond a buffer of 128 bytes",
        ),
        (
            Event::ImageMade(Box::new(Image { extent: [u32::MAX; 3], ..image() })),
            "more than 1099511627776 texels",
        ),
        (Event::ImageMade(Box::new(Image { levels: 33, ..image() })), "more than 32 levels"),
        (Event::ImageMade(Box::new(Image { layers: 0, ..image() })), "no texels"),
        (
            Event::BindImage(Binding { resource: Handle(10), memory: Handle(3), offset: 193 }),
            "an image reaches beyond the memory",
        ),
        (
            Event::ImageContents(ImageContents {
                image: Handle(10),
                level: 2,
                layer: 0,
                bytes: Bytes(Vec::new()),
            }),
            "a level or a layer that the image does not have",
        ),
        (
            command(Command::CopyImage {
                from: IMAGE,
                to: IMAGE,
                regions: vec![ImageRegion { from: TEXELS, to: TexelBox { layer: 3, ..TEXELS } }],
            }),
            "texels are named that their image does not have",
        ),
        (
            Event::BindingFlags(BindingFlags { layout: unknown, bindings: Vec::new() }),
            "no record made the descriptor set layout 0x63",
        ),
        (start(), "begins a second time"),
        (Event::End(End { records: 3 }), "closed after 3 records"),
    ];
    for (event, expected) in cases {
        let message = fault_with(event);
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
        let last = format!("record {} at byte ", events().len());
        assert!(message.starts_with(&last), "{message}");
    }
    assert_eq!(fault_with(Event::Unmap(Handle(3))), "", "what contradicts nothing is read");
}

#[test]
fn command_buffers_that_execute_each_other_end_in_a_diagnostic() {
    let mut events = events();
    let begin = events.iter().position(|event| matches!(event, Event::Begin(_))).unwrap();
    events.truncate(begin + 1);
    events.push(command(Command::Execute(vec![Handle(6)])));
    events.push(Event::EndRecording(Handle(6)));
    events.push(Event::Submit(Submit {
        queue: Handle(2),
        fence: Handle(0),
        batches: vec![Batch {
            waits: Vec::new(),
            command_buffers: vec![Handle(6)],
            signals: Vec::new(),
        }],
    }));
    let message = read(&file_of(&events)).unwrap_err();
    assert!(message.contains("in a circle"), "{message}");
}

#[test]
fn a_refused_submission_did_nothing() {
    let mut events = events();
    let submit = events.iter().position(|event| matches!(event, Event::Submit(_))).unwrap();
    events.truncate(submit + 1);
    events.push(Event::SubmitFailed(Handle(2)));
    let operations = read(&file_of(&events)).unwrap().operations;
    assert!(operations.iter().all(|operation| operation.batch.is_none()), "{operations:?}");
}

#[test]
fn lost_records_make_a_capture_incomplete() {
    let mut events = events();
    let end = events.len();
    events.insert(end - 1, Event::Lost(3));
    events[end] = Event::End(End { records: end as u64 });
    let program = read(&file_of(&events)).unwrap();
    let Completeness::Incomplete(reason) = program.completeness else { panic!() };
    assert_eq!(reason, "the layer lost 3 records");
}

#[test]
fn lengths_that_lie_take_no_memory() {
    for length in [u32::MAX, 1 << 28, (1 << 28) + 1, 1 << 20] {
        let mut file = head().to_vec();
        file.extend_from_slice(&length.to_le_bytes());
        file.extend_from_slice(&[0; 64]);
        read(&file).unwrap_err();
    }
    // A list inside of a record that claims to be longer than the record.
    let mut payload = vec![0];
    payload.push(8);
    payload.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
    let mut file = head().to_vec();
    file.extend_from_slice(&u32::try_from(payload.len()).unwrap().to_le_bytes());
    file.extend_from_slice(&payload);
    read(&file).unwrap_err();
}

#[test]
fn other_files_are_no_captures() {
    for (bytes, expected) in [
        (&b""[..], "no capture"),
        (b"vkcertCP", "no capture"),
        (b"something else altogether", "no capture"),
        (b"vkcertCP\x04\0\0\0", "version 4 of the format; this program reads 1 to 3"),
    ] {
        let message = read(bytes).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(CaptureReader::open(folder.path()).is_err());
}

proptest! {
    /// Bytes that were changed at random end in a diagnostic or in a program, never in a panic.
    #[test]
    fn changed_bytes_do_no_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = file_of(&events());
        for (place, value) in &changes {
            let place = place.index(file.len());
            file[place] = *value;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        let _ = read(&file);
    }
}
