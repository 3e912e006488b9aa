//! The built-in kernels that the cost of recording is measured on.
//!
//! Promises: sizes depend on the factor alone, never on the device, so that ratios of two machines
//! are of the same work. The factor multiplies workgroups and the buffers that grow with them; the
//! work of one invocation stays the same.

use crate::exec::{Job, JobBinding, JobBuffer, JobDispatch, JobModule, ModuleRecording};
use crate::model::finding::Checks;
use crate::model::procedure::Limits;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A built-in kernel with its data.
pub(super) struct BenchKernel {
    pub id: &'static str,
    /// What shape of work it stands for.
    pub shape: &'static str,
    pub text: &'static str,
    /// Workgroups at factor 1; y is multiplied.
    groups: [u32; 2],
    /// In order of their bindings in set 0.
    buffers: &'static [BenchBuffer],
    /// Words in order.
    push_constants: &'static [WordAmount],
}

/// A number that the factor multiplies or leaves alone.
#[derive(Clone, Copy)]
enum WordAmount {
    Fixed(u32),
    Growing(u32),
}

/// A buffer of 32-bit words.
struct BenchBuffer {
    words: WordAmount,
    fill: BufferFill,
}

#[derive(Clone, Copy)]
enum BufferFill {
    Zero,
    /// Words without pattern.
    Noise,
    /// Floats between 0 and 1.
    Floats,
}

use WordAmount::{Fixed, Growing};

const fn bench_buffer(words: WordAmount, fill: BufferFill) -> BenchBuffer {
    BenchBuffer { words, fill }
}

/// Every kernel; the order is that of the result.
pub(super) const BENCH_KERNELS: &[BenchKernel] = &[
    BenchKernel {
        id: "copy",
        shape: "memory-bound",
        text: include_str!("copy.comp"),
        groups: [16_384, 1],
        buffers: &[
            bench_buffer(Growing(1 << 20), BufferFill::Noise),
            bench_buffer(Growing(1 << 20), BufferFill::Zero),
        ],
        push_constants: &[Growing((1 << 20) - 5)],
    },
    BenchKernel {
        id: "stencil",
        shape: "memory-bound, neighbours",
        text: include_str!("stencil.comp"),
        groups: [32, 48],
        buffers: &[
            bench_buffer(Growing(512 * 768), BufferFill::Floats),
            bench_buffer(Growing(512 * 768), BufferFill::Zero),
        ],
        push_constants: &[Fixed(512), Growing(768)],
    },
    BenchKernel {
        id: "matmul-naive",
        shape: "loop over global memory",
        text: include_str!("matmul_naive.comp"),
        groups: [8, 8],
        buffers: &[
            bench_buffer(Growing(128 * 128), BufferFill::Floats),
            bench_buffer(Fixed(128 * 128), BufferFill::Floats),
            bench_buffer(Growing(128 * 128), BufferFill::Zero),
        ],
        push_constants: &[Growing(128), Fixed(128), Fixed(128)],
    },
    BenchKernel {
        id: "matmul-tiled",
        shape: "workgroup memory, barriers in a loop",
        text: include_str!("matmul_tiled.comp"),
        groups: [8, 8],
        buffers: &[
            bench_buffer(Growing(128 * 128), BufferFill::Floats),
            bench_buffer(Fixed(128 * 128), BufferFill::Floats),
            bench_buffer(Growing(128 * 128), BufferFill::Zero),
        ],
        push_constants: &[Growing(128), Fixed(128), Fixed(128)],
    },
    BenchKernel {
        id: "polynomial",
        shape: "compute-bound",
        text: include_str!("polynomial.comp"),
        groups: [1024, 1],
        buffers: &[
            bench_buffer(Growing(4 * 65_536), BufferFill::Floats),
            bench_buffer(Growing(4 * 65_536), BufferFill::Zero),
        ],
        push_constants: &[Growing(65_536 - 7), Fixed(32)],
    },
    BenchKernel {
        id: "mandelbrot",
        shape: "loops of uneven length",
        text: include_str!("mandelbrot.comp"),
        groups: [16, 16],
        buffers: &[bench_buffer(Growing(1 << 16), BufferFill::Zero)],
        push_constants: &[Fixed(256), Growing(256), Fixed(128)],
    },
    BenchKernel {
        id: "branchy",
        shape: "a tree of decisions",
        text: include_str!("branchy.comp"),
        groups: [512, 1],
        buffers: &[
            bench_buffer(Growing(32_768), BufferFill::Noise),
            bench_buffer(Growing(32_768), BufferFill::Zero),
        ],
        push_constants: &[Growing(32_768 - 7)],
    },
    BenchKernel {
        id: "many-decisions",
        shape: "129 decisions",
        text: include_str!("many_decisions.comp"),
        groups: [256, 1],
        buffers: &[
            bench_buffer(Growing(4 * 16_384), BufferFill::Floats),
            bench_buffer(Fixed(4 * 256), BufferFill::Floats),
            bench_buffer(Growing(16_384), BufferFill::Zero),
        ],
        push_constants: &[Growing(16_384 - 7)],
    },
    BenchKernel {
        id: "thousand-vectors",
        shape: "more than 1,000 vectors",
        text: include_str!("thousand_vectors.comp"),
        groups: [128, 1],
        buffers: &[
            bench_buffer(Growing(4 * 8192), BufferFill::Floats),
            bench_buffer(Fixed(4 * 256), BufferFill::Floats),
            bench_buffer(Growing(8192), BufferFill::Zero),
        ],
        push_constants: &[Growing(8192 - 7)],
    },
    BenchKernel {
        id: "reduction",
        shape: "workgroup memory",
        text: include_str!("reduction.comp"),
        groups: [128, 1],
        buffers: &[
            bench_buffer(Growing(128 * 8192), BufferFill::Noise),
            bench_buffer(Growing(128), BufferFill::Zero),
        ],
        push_constants: &[Growing(128 * 8192 - 100)],
    },
    BenchKernel {
        id: "histogram",
        shape: "atomics",
        text: include_str!("histogram.comp"),
        groups: [256, 1],
        buffers: &[
            bench_buffer(Growing(256 * 1024), BufferFill::Noise),
            bench_buffer(Fixed(64), BufferFill::Zero),
        ],
        push_constants: &[Growing(256 * 1024 - 100)],
    },
    BenchKernel {
        id: "deep-loops",
        shape: "four nested loops",
        text: include_str!("deep_loops.comp"),
        groups: [128, 1],
        buffers: &[
            bench_buffer(Growing(8192), BufferFill::Noise),
            bench_buffer(Growing(8192), BufferFill::Zero),
        ],
        push_constants: &[Growing(8192 - 7), Fixed(4), Fixed(7)],
    },
    BenchKernel {
        id: "sorting",
        shape: "sorting network",
        text: include_str!("sorting.comp"),
        groups: [128, 1],
        buffers: &[
            bench_buffer(Growing(128 * 128), BufferFill::Noise),
            bench_buffer(Growing(128 * 128), BufferFill::Zero),
        ],
        push_constants: &[],
    },
    BenchKernel {
        id: "guard",
        shape: "early returns",
        text: include_str!("guard.comp"),
        groups: [4096, 1],
        buffers: &[
            bench_buffer(Growing(1 << 18), BufferFill::Noise),
            bench_buffer(Growing(1 << 18), BufferFill::Zero),
        ],
        push_constants: &[Growing((1 << 18) - 7)],
    },
];

impl WordAmount {
    fn scaled_by(self, factor: u32) -> u32 {
        match self {
            Fixed(amount) => amount,
            Growing(amount) => amount * factor,
        }
    }
}

impl BenchKernel {
    /// One run of the kernel.
    pub(super) fn job_with(
        &self,
        factor: u32,
        words: Arc<Vec<u32>>,
        recording: ModuleRecording,
    ) -> Job {
        let buffer_names = ["binding 0", "binding 1", "binding 2"];
        let buffers: Vec<JobBuffer> = self
            .buffers
            .iter()
            .zip(buffer_names)
            .map(|(buffer, name)| filled_buffer(name, buffer, factor))
            .collect();
        let bindings = buffers.iter().enumerate().map(|(index, buffer)| {
            JobBinding::storage(0, index as u32, index, buffer.bytes.len() as u64)
        });
        let push_constants: Vec<u8> = self
            .push_constants
            .iter()
            .flat_map(|amount| amount.scaled_by(factor).to_le_bytes())
            .collect();
        let dispatch = JobDispatch {
            module: 0,
            entry: "main".to_owned(),
            groups: [self.groups[0], self.groups[1] * factor, 1],
            bindings: bindings.collect(),
            push_constants_defined: std::iter::once(0..push_constants.len()).collect(),
            push_constants,
            specialization: BTreeMap::new(),
            subgroup_size: None,
        };
        Job {
            name: self.id.to_owned(),
            modules: vec![JobModule { key: self.id.into(), words, recording }],
            buffers,
            dispatches: vec![dispatch],
            resources: Default::default(),
            limits: Limits { steps: u64::MAX, seconds: 60.0, memory_bytes: u64::MAX },
            checks: Checks::none(),
        }
    }
}

fn filled_buffer(name: &str, data: &BenchBuffer, factor: u32) -> JobBuffer {
    let word_count = data.words.scaled_by(factor);
    // A multiplicative hash: the same words everywhere, without a pattern that a branch predictor
    // would learn.
    let noise_word = |index: u32| {
        let mixed_bits = (index ^ index >> 15).wrapping_mul(0x2C1B_3C6D);
        (mixed_bits ^ mixed_bits >> 12).wrapping_mul(0x297A_2D39) ^ mixed_bits >> 9
    };
    let fill_word = |index: u32| match data.fill {
        BufferFill::Zero => 0,
        BufferFill::Noise => noise_word(index),
        BufferFill::Floats => ((noise_word(index) >> 8) as f32 / 16_777_216.0).to_bits(),
    };
    let bytes: Vec<u8> = (0..word_count).flat_map(|index| fill_word(index).to_le_bytes()).collect();
    JobBuffer {
        name: name.to_owned(),
        defined: std::iter::once(0..bytes.len()).collect(),
        bytes: bytes.into(),
    }
}
