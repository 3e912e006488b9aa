//! Programs, event by event, as the layer records them.

use vkcert_capture::command::{Command, Dependency, DependencyScope, QueueTransfer};
use vkcert_capture::event::*;
use vkcert_capture::file::{FORMAT_VERSION, HEAD_BYTES, append_frame, head};
use vkcert_capture::program::Program;
use vkcert_capture::value::{Bytes, Handle};

pub(super) const INDIRECT: u64 = 0x2;
pub(super) const INDIRECT_READ: u64 = 0x1;
pub(super) const COMPUTE: u64 = 0x800;
pub(super) const TRANSFER: u64 = 0x1000;
pub(super) const HOST: u64 = 0x4000;
pub(super) const ALL_COMMANDS: u64 = 0x1_0000;
pub(super) const SHADER_READ: u64 = 0x20;
pub(super) const SHADER_WRITE: u64 = 0x40;
pub(super) const TRANSFER_WRITE: u64 = 0x1000;
pub(super) const HOST_READ: u64 = 0x2000;

/// HOST_VISIBLE and HOST_COHERENT.
pub(super) const COHERENT: u32 = 0x6;
/// HOST_VISIBLE alone.
pub(super) const NON_COHERENT: u32 = 0x2;

const DEVICE: Handle = Handle(1);
pub(super) const QUEUE: Handle = Handle(2);
pub(super) const OTHER_QUEUE: Handle = Handle(3);
pub(super) const COMMANDS: Handle = Handle(4);

/// Bytes of every buffer.
pub(super) const BYTES: u64 = 256;

/// A buffer with memory of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestBuffer {
    pub(super) buffer: Handle,
    pub(super) memory: Handle,
}

pub(super) struct Script {
    events: Vec<Event>,
    next: u64,
    /// VkDescriptorSetLayoutCreateFlags of the kernels that come next.
    pub(super) layout_flags: u32,
    /// VkDescriptorBindingFlags of each of their bindings.
    pub(super) binding_flags: u32,
    /// Version of the format.
    pub(super) version: u32,
}

impl Script {
    pub(super) fn new(memory_flags: u32) -> Self {
        Self::with_contents(memory_flags, ContentsMode::Recorded)
    }

    pub(super) fn with_contents(memory_flags: u32, contents: ContentsMode) -> Self {
        let start = Start { layer: "0".to_owned(), program: "host".to_owned(), contents };
        let device = Device {
            device: DEVICE,
            name: "device".to_owned(),
            ids: [0; 2],
            api_version: "1.3.0".to_owned(),
            driver_version: 0,
            driver_name: String::new(),
            driver_info: String::new(),
            memory_types: vec![memory_flags],
            queue_families: vec![7],
            extensions: Vec::new(),
            limits: Limits {
                groups: [1000; 3],
                local_size: [64; 3],
                invocations: 128,
                workgroup_bytes: 1024,
                push_constant_bytes: 128,
                storage_range: 1 << 20,
                uniform_range: 1 << 16,
                non_coherent_atom: 64,
            },
        };
        let mut script = Self {
            events: Vec::new(),
            next: 100,
            layout_flags: 0,
            binding_flags: 0,
            version: FORMAT_VERSION,
        };
        script.push(Event::Start(start));
        script.push(Event::Device(Box::new(device)));
        for (index, queue) in [QUEUE, OTHER_QUEUE].into_iter().enumerate() {
            let index = u32::try_from(index).unwrap();
            script.push(Event::Queue(Queue { device: DEVICE, queue, family: 0, index }));
        }
        script.push(Event::CommandBuffers(CommandBuffers {
            pool: Handle(5),
            command_buffers: vec![COMMANDS],
        }));
        script
    }

    pub(super) fn handle(&mut self) -> Handle {
        self.next += 1;
        Handle(self.next)
    }

    pub(super) fn push(&mut self, event: Event) {
        self.events.push(event);
    }

    pub(super) fn program(&self) -> Program {
        let mut file = head().to_vec();
        file[HEAD_BYTES - 4..].copy_from_slice(&self.version.to_le_bytes());
        let end = Event::End(End { records: self.events.len() as u64 });
        for event in self.events.iter().chain([&end]) {
            append_frame(&Record { thread: 0, event: event.clone() }, &mut file).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.capture");
        std::fs::write(&path, file).unwrap();
        Program::read(&path).unwrap()
    }

    pub(super) fn buffer(&mut self) -> TestBuffer {
        let (buffer, memory) = (self.handle(), self.handle());
        self.push(Event::Memory(Memory { device: DEVICE, memory, size: BYTES, memory_type: 0 }));
        self.push(Event::Buffer(Buffer { buffer, size: BYTES, usage: 0x20 }));
        self.push(Event::BindBuffer(Binding { resource: buffer, memory, offset: 0 }));
        TestBuffer { buffer, memory }
    }

    /// A pipeline of a GLSL kernel with as many storage buffers, and a set with these bound.
    pub(super) fn kernel(&mut self, glsl: &str, buffers: &[TestBuffer]) -> TestKernel {
        self.specialized_kernel(glsl, buffers, &[])
    }

    pub(super) fn specialized_kernel(
        &mut self,
        glsl: &str,
        buffers: &[TestBuffer],
        specialization: &[(u32, &[u8])],
    ) -> TestKernel {
        let code = Bytes(super::compiled(glsl));
        let (module, set_layout) = (self.handle(), self.handle());
        let (layout, pipeline, set) = (self.handle(), self.handle(), self.handle());
        self.push(Event::ShaderModule(ShaderModule { module, code }));
        let bindings = (0..buffers.len()).map(|binding| LayoutBinding {
            binding: u32::try_from(binding).unwrap(),
            descriptor_type: 7,
            count: 1,
            stages: 0x20,
        });
        self.push(Event::SetLayout(SetLayout {
            layout: set_layout,
            flags: self.layout_flags,
            bindings: bindings.collect(),
        }));
        if self.binding_flags != 0 {
            let own = (0..).zip(buffers).map(|(binding, _)| (binding, self.binding_flags));
            let bindings = own.collect();
            self.push(Event::BindingFlags(BindingFlags { layout: set_layout, bindings }));
        }
        self.push(Event::PipelineLayout(PipelineLayout {
            layout,
            sets: vec![set_layout],
            push_constants: vec![PushRange { stages: 0x20, offset: 0, size: 16 }],
        }));
        let specialization = specialization.iter();
        let specialization = specialization
            .map(|(id, value)| SpecializationValue { id: *id, value: Bytes(value.to_vec()) });
        self.push(Event::ComputePipeline(ComputePipeline {
            pipeline,
            layout,
            module,
            entry: "main".to_owned(),
            specialization: specialization.collect(),
        }));
        self.push(Event::DescriptorSets(DescriptorSets {
            pool: Handle(6),
            sets: vec![(set, set_layout)],
        }));
        let kernel = TestKernel { layout, pipeline, set, set_layout };
        self.write_set(kernel, buffers);
        kernel
    }

    /// Another set of a kernel's layout, with nothing written.
    pub(super) fn other_set(&mut self, kernel: TestKernel) -> TestKernel {
        let set = self.handle();
        let sets = vec![(set, kernel.set_layout)];
        self.push(Event::DescriptorSets(DescriptorSets { pool: Handle(6), sets }));
        TestKernel { set, ..kernel }
    }

    /// Writes buffers to the bindings of a kernel's set.
    pub(super) fn write_set(&mut self, kernel: TestKernel, buffers: &[TestBuffer]) {
        let writes = buffers.iter().enumerate().map(|(binding, bound)| DescriptorWrite {
            set: kernel.set,
            binding: u32::try_from(binding).unwrap(),
            element: 0,
            descriptor_type: 7,
            descriptors: vec![Descriptor::Buffer {
                buffer: bound.buffer,
                offset: 0,
                range: u64::MAX,
            }],
        });
        self.push(Event::WriteDescriptors(writes.collect()));
    }

    /// Records commands anew and submits them.
    pub(super) fn submit(&mut self, queue: Handle, commands: Vec<Command>) {
        self.submit_with(queue, commands, Vec::new(), Vec::new());
    }

    pub(super) fn submit_with(
        &mut self,
        queue: Handle,
        commands: Vec<Command>,
        waits: Vec<SemaphoreUse>,
        signals: Vec<SemaphoreUse>,
    ) {
        self.record(commands);
        self.submit_recorded(queue, waits, signals);
    }

    pub(super) fn record(&mut self, commands: Vec<Command>) {
        self.push(Event::Begin(Begin { command_buffer: COMMANDS, flags: 0 }));
        for command in commands {
            self.push(Event::Command(RecordedCommand { command_buffer: COMMANDS, command }));
        }
        self.push(Event::EndRecording(COMMANDS));
    }

    pub(super) fn submit_recorded(
        &mut self,
        queue: Handle,
        waits: Vec<SemaphoreUse>,
        signals: Vec<SemaphoreUse>,
    ) {
        let command_buffers = vec![COMMANDS];
        let batches = vec![Batch { waits, command_buffers, signals }];
        self.push(Event::Submit(Submit { queue, fence: Handle(0), batches }));
    }

    pub(super) fn map(&mut self, buffer: TestBuffer) {
        let (memory, size) = (buffer.memory, u64::MAX);
        self.push(Event::Map(MemoryRange { memory, offset: 0, size }));
    }
}

/// A pipeline and the set that goes with it.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestKernel {
    layout: Handle,
    pub(super) pipeline: Handle,
    pub(super) set: Handle,
    set_layout: Handle,
}

impl TestKernel {
    pub(super) fn push_constants(&self, offset: u32, values: &[u8]) -> Command {
        let values = Bytes(values.to_vec());
        Command::PushConstants { layout: self.layout, stages: 0x20, offset, values }
    }

    pub(super) fn bound(&self) -> Vec<Command> {
        vec![
            Command::BindPipeline(self.pipeline),
            Command::BindSets {
                layout: self.layout,
                first: 0,
                sets: vec![self.set],
                dynamic_offsets: Vec::new(),
            },
        ]
    }

    pub(super) fn dispatch(&self) -> Vec<Command> {
        let mut commands = self.bound();
        commands.push(Command::Dispatch { base: [0; 3], groups: [1; 3] });
        commands
    }
}

pub(super) fn barrier(source: (u64, u64), target: (u64, u64)) -> Command {
    scoped_barrier(source, target, DependencyScope::All)
}

pub(super) fn scoped_barrier(
    (source_stages, source_access): (u64, u64),
    (target_stages, target_access): (u64, u64),
    scope: DependencyScope,
) -> Command {
    Command::Barrier(vec![Dependency {
        source_stages,
        source_access,
        target_stages,
        target_access,
        scope,
    }])
}

pub(super) fn of_buffer(buffer: TestBuffer, offset: u64, size: u64) -> DependencyScope {
    let transfer = QueueTransfer::None;
    DependencyScope::Buffer { buffer: buffer.buffer, offset, size, transfer }
}

pub(super) fn fill(buffer: TestBuffer) -> Command {
    Command::FillBuffer { buffer: buffer.buffer, offset: 0, size: u64::MAX, word: 0 }
}
