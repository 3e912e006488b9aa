//! Work grows with the text and no faster: counted in allocations, so that the load of the machine
//! does not matter. A program of its own with one test, because the counts are those of the whole
//! process.

#[path = "support/allocations.rs"]
mod allocations;
#[path = "support/large_kernel.rs"]
mod large_kernel;
#[path = "support/whole_path.rs"]
mod whole_path;

use allocations::{Allocated, count};
use large_kernel::{Shape, kernel};

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

#[test]
fn work_grows_with_the_number_of_decisions() {
    for shape in Shape::ALL {
        let outline = |decisions| {
            let text = kernel(shape, decisions, 3);
            let (outline, allocated) =
                count(|| vkcert::glsl::outline_of_text(&text).expect("it has an outline"));
            assert!(
                outline.decisions.len() >= shape.decisions(decisions),
                "{shape:?}: {} decisions",
                outline.decisions.len()
            );
            allocated
        };
        assert_linear("outline", shape, [1_000, 10_000], outline);
        let whole_path = |decisions| {
            let text = kernel(shape, decisions, 3);
            let (taken, allocated) = count(|| whole_path::take(&text));
            assert!(
                taken.decisions >= shape.decisions(decisions),
                "{shape:?}: {} decisions, {:?}",
                taken.decisions,
                taken.steps
            );
            allocated
        };
        assert_linear("whole path", shape, [300, 3_000], whole_path);
    }
}

fn assert_linear(
    name: &str,
    shape: Shape,
    [few, many]: [usize; 2],
    work: impl Fn(usize) -> Allocated,
) {
    let (small, large) = (work(few), work(many));
    let times = (many / few) as u64;
    assert!(
        large.is_linear(small, times),
        "{name}, {shape:?}: {small:?} for {few} decisions, {large:?} for {many}"
    );
}
