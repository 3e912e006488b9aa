//! The single-thread-equivalent form: its additional loop decisions are covered by the tests that
//! cover the kernel, and loading every tile before any is consumed, as a published sequential
//! version does, is another computation.

use crate::device;
use crate::filetest;
use crate::support;
use vkcert::model::criterion::CriterionName;

use filetest::FileTest;
use std::path::Path;
use support::{certify_sequentially, root, run};
use vkcert::exec::sequential::{SequentialExecutor, Settings, lower_kernel};
use vkcert::exec::{Completion, Executor, Unobserved};
use vkcert::model::evidence::{Campaign, KernelEvidence};
use vkcert::model::procedure::DescriptorClass;
use vkcert::spirv::module::Module;

fn read<T: serde::de::DeserializeOwned>(evidence: &Path, name: &str) -> T {
    let text = std::fs::read_to_string(evidence.join(name)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// How often each of the loops over workgroups is entered and left, from the tests' own dispatches.
fn workgroup_loops(campaign: &Campaign, kernel: &str) -> [(u64, u64); 3] {
    let mut loops = [(0, 0); 3];
    let dispatches = campaign.tests.iter().flat_map(|test| &test.definition.dispatches);
    for dispatch in dispatches.filter(|dispatch| dispatch.kernel.as_str() == kernel) {
        let [x, y, z] = dispatch.groups.map(u64::from);
        for (counts, (yes, no)) in loops.iter_mut().zip([(z, 1), (z * y, z), (z * y * x, z * y)]) {
            counts.0 += yes;
            counts.1 += no;
        }
    }
    loops
}

/// Tables II to XIV of the paper: what covers the kernel covers the sequential form, whose only
/// additional decisions are loops over workgroups and, per barrier region, over invocations.
#[test]
fn the_tests_that_cover_the_kernel_cover_the_loops_of_the_lowering() {
    let out = tempfile::tempdir().unwrap();
    let reports = out.path().join("reports");
    run(&mut certify_sequentially(&root(), &reports), 0);
    let evidence = reports.join("evidence");
    let campaign: Campaign = read(&evidence, "campaign.json");
    for (kernel, regions) in [("matmul_naive", 1), ("matmul_tiled", 3)] {
        let stored: KernelEvidence = read(&evidence, &format!("kernel-{kernel}-sequential.json"));
        assert!(stored.records.iter().all(|test| test.counted), "{kernel}: all tests count");
        for criterion in &stored.coverage.summary {
            assert_eq!(criterion.covered, criterion.total, "{kernel}: {criterion:?}");
        }

        let texts: Vec<&str> =
            stored.lowering.iter().map(|decision| decision.text.as_str()).collect();
        assert_eq!(texts.len(), 3 + 3 * regions, "{kernel}: {texts:?}");
        for decision in &stored.lowering {
            assert!(decision.true_count > 0 && decision.false_count > 0, "{kernel}: {decision:?}");
        }
        for (decision, counts) in stored.lowering.iter().zip(workgroup_loops(&campaign, kernel)) {
            assert!(decision.text.starts_with("workgroup."), "{kernel}: {decision:?}");
            assert_eq!(
                (decision.true_count, decision.false_count),
                counts,
                "{kernel}: {decision:?}"
            );
        }
        assert!(
            texts[3..].iter().all(|text| text.starts_with("invocation.")),
            "{kernel}: {texts:?}"
        );

        // Reported apart: no obligation of the kernel is one of these loops.
        let outcomes: usize =
            stored.coverage.decisions.iter().map(|decision| decision.outcomes.len()).sum();
        let decision = stored
            .coverage
            .summary
            .iter()
            .find(|one| one.criterion == CriterionName::Decision)
            .unwrap();
        assert_eq!(decision.total as usize, outcomes + stored.coverage.points.len(), "{kernel}");
        assert!(
            stored
                .coverage
                .decisions
                .iter()
                .all(|decision| !texts.contains(&decision.text.as_str()))
        );
    }
}

const TILE: usize = 16;

/// A product of integer-valued matrices: `m` by `n` times `n` by `k`.
struct Product {
    m: usize,
    n: usize,
    k: usize,
    left: Vec<f32>,
    right: Vec<f32>,
}

type Tile = [[f32; TILE]; TILE];

impl Product {
    fn new(m: usize, n: usize, k: usize) -> Self {
        // Small enough that every sum is exact in any order.
        let values = |count: usize, step: usize| {
            (0..count).map(|i| ((i * step) % 13) as f32 - 6.0).collect()
        };
        Self { m, n, k, left: values(m * n, 7), right: values(n * k, 5) }
    }

    fn groups(&self) -> [usize; 2] {
        [self.k.div_ceil(TILE), self.m.div_ceil(TILE)]
    }

    fn plain(&self) -> Vec<f32> {
        let element = |at: usize| {
            let (row, column) = (at / self.k, at % self.k);
            (0..self.n).map(|i| self.left[row * self.n + i] * self.right[i * self.k + column]).sum()
        };
        (0..self.m * self.k).map(element).collect()
    }

    /// What one invocation loads of tile number `tile`; zero beyond the edges.
    fn load(&self, tile: usize, [x, y]: [usize; 2], [local_x, local_y]: [usize; 2]) -> [f32; 2] {
        let (left_column, right_row) = (tile * TILE + local_x, tile * TILE + local_y);
        let left = if y < self.m && left_column < self.n {
            self.left[y * self.n + left_column]
        } else {
            0.0
        };
        let right =
            if right_row < self.n && x < self.k { self.right[right_row * self.k + x] } else { 0.0 };
        [left, right]
    }

    /// Runs `workgroup` for every workgroup; it adds to the sums of its invocations, by local
    /// index.
    fn by_workgroups(&self, workgroup: impl Fn([usize; 2], &mut [f32])) -> Vec<f32> {
        let mut result = vec![f32::NAN; self.m * self.k];
        let [columns, rows] = self.groups();
        for group in (0..rows).flat_map(|y| (0..columns).map(move |x| [x, y])) {
            let mut sums = vec![0.0; TILE * TILE];
            workgroup(group, &mut sums);
            for (index, sum) in sums.iter().enumerate() {
                let [x, y] = global(group, local(index));
                if x < self.k && y < self.m {
                    result[y * self.k + x] = *sum;
                }
            }
        }
        result
    }

    fn load_all(&self, tile: usize, group: [usize; 2], tiles: &mut [Tile; 2]) {
        for at in (0..TILE * TILE).map(local) {
            let [left, right] = self.load(tile, global(group, at), at);
            tiles[0][at[1]][at[0]] = left;
            tiles[1][at[1]][at[0]] = right;
        }
    }

    /// The lowering: the loop with barriers outside, a loop over invocations in each region between
    /// barriers.
    fn lowered(&self) -> Vec<f32> {
        self.by_workgroups(|group, sums| {
            let mut tiles = [[[0.0; TILE]; TILE]; 2];
            for tile in 0..self.n.div_ceil(TILE) {
                self.load_all(tile, group, &mut tiles);
                sums.iter_mut()
                    .enumerate()
                    .for_each(|(index, sum)| consume(&tiles, local(index), sum));
            }
        })
    }

    /// Figure 6: the loop over tiles stands inside each of the two loops over invocations, so that
    /// every invocation loads all its tiles, each over the one before, and only then any invocation
    /// consumes.
    fn split(&self) -> Vec<f32> {
        let count = self.n.div_ceil(TILE);
        self.by_workgroups(|group, sums| {
            let mut tiles = [[[0.0; TILE]; TILE]; 2];
            (0..count).for_each(|tile| self.load_all(tile, group, &mut tiles));
            for (index, sum) in sums.iter_mut().enumerate() {
                (0..count).for_each(|_| consume(&tiles, local(index), sum));
            }
        })
    }

    /// The tiled kernel of the demonstration on this product.
    fn job(&self, words: &[u32]) -> FileTest {
        let floats =
            |values: &[f32]| values.iter().map(|value| Some(value.to_bits())).collect::<Vec<_>>();
        let contents = [floats(&self.left), floats(&self.right), vec![Some(0); self.m * self.k]];
        let buffer = |(binding, words)| filetest::Buffer {
            binding,
            class: DescriptorClass::Storage,
            words,
            range: None,
        };
        let [x, y] = self.groups();
        FileTest {
            name: "matmul_tiled".to_owned(),
            words: words.to_vec(),
            groups: [x as u32, y as u32, 1],
            buffers: (0..).zip(contents).map(buffer).collect(),
            push: [self.m, self.n, self.k].map(|size| Some(size as u32)).to_vec(),
            ..FileTest::default()
        }
    }
}

fn local(index: usize) -> [usize; 2] {
    [index % TILE, index / TILE]
}

fn global(group: [usize; 2], local: [usize; 2]) -> [usize; 2] {
    [group[0] * TILE + local[0], group[1] * TILE + local[1]]
}

fn consume(tiles: &[Tile; 2], [x, y]: [usize; 2], sum: &mut f32) {
    for (left, row) in tiles[0][y].iter().zip(&tiles[1]) {
        *sum += left * row[x];
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn tiled() -> Vec<u32> {
    let text = std::fs::read_to_string(root().join("glsl/matmul_tiled.comp")).unwrap();
    filetest::compile("matmul_tiled", &text)
}

/// Three, four and five tiles; no size is a multiple of the tile.
const SIZES: [[usize; 3]; 3] = [[18, 40, 21], [33, 50, 17], [5, 70, 35]];

#[test]
fn the_lowering_computes_the_product_and_the_published_split_does_not() {
    let words_of_kernel = tiled();
    for [m, n, k] in SIZES {
        assert!(n.div_ceil(TILE) >= 3 && [m, n, k].iter().all(|size| size % TILE != 0));
        let product = Product::new(m, n, k);
        let expected = bits(&product.plain());
        assert_eq!(bits(&product.lowered()), expected, "{m} {n} {k}");
        assert_ne!(bits(&product.split()), expected, "{m} {n} {k}");
        let job = product.job(&words_of_kernel).job();
        for tile_width in [1, 64, 1024] {
            let mut engine =
                SequentialExecutor::new(Settings { tile_width, ..Settings::default() });
            let run = engine.run(&job, &mut Unobserved).unwrap();
            assert_eq!((run.completion, run.findings), (Completion::Completed, Vec::new()));
            assert_eq!(words(&run.buffers[2]), expected, "{m} {n} {k}, tiles of {tile_width}");
        }
    }
    // With one tile nothing is loaded too early: what tells the two apart is the second tile.
    let one = Product::new(7, 11, 5);
    assert_eq!(bits(&one.split()), bits(&one.plain()));
}

#[test]
fn the_device_computes_what_the_lowering_computes() {
    let Some(mut device) = device::device() else { return };
    let words_of_kernel = tiled();
    for [m, n, k] in SIZES {
        let job = Product::new(m, n, k).job(&words_of_kernel).job();
        let on_device = device.run(&job, &mut Unobserved).unwrap();
        let sequential = SequentialExecutor::default().run(&job, &mut Unobserved).unwrap();
        assert_eq!(
            (&on_device.completion, &on_device.findings),
            (&Completion::Completed, &Vec::new())
        );
        assert_eq!(on_device.buffers, sequential.buffers, "{m} {n} {k}");
    }
}

#[test]
fn the_printed_lowering_keeps_the_tile_loop_outside_and_shows_the_source() {
    let text = lower_kernel(&Module::parse(tiled()).unwrap(), "main").unwrap().to_string();
    let at =
        |what: &str| text.find(what).unwrap_or_else(|| panic!("`{what}` is missing in\n{text}"));
    let kept = at("loop with barriers, line 43: for (uint tile = 0u; tile < tiles; ++tile) {");
    let load = at("46  leftTile[tileRow][tileColumn] = ");
    let consume = at("sum += leftTile[tileRow][i] * rightTile[i][tileColumn];");
    assert!(
        kept < load && load < at("region 2 behind") && at("region 2 behind") < consume,
        "{text}"
    );
    assert!(consume < at("for (uint tile = 0u; tile < tiles; ++tile)  // update"), "{text}");
    assert!(
        !text.contains("selection, line 46"),
        "a conditional expression stays in its line\n{text}"
    );
    // Every line with a number stands inside three loops over invocations.
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut loops: Vec<usize> = Vec::new();
    for line in text.lines() {
        loops.retain(|loop_at| *loop_at < indent(line));
        if line.trim_start().starts_with("for invocation.") {
            loops.push(indent(line));
        } else if line.trim_start().starts_with(|first: char| first.is_ascii_digit()) {
            assert_eq!(loops.len(), 3, "{line}\n{text}");
        }
    }
}
