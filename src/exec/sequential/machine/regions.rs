//! How often the loops of the lowering ran.

/// How often the loops of the lowering ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RegionCounts {
    /// Workgroups that entered region 0, and that left barrier `i` into region `i + 1`.
    pub entered_times: Vec<u64>,
    /// By barrier: how often all invocations of a workgroup executed it together.
    pub whole_times: Vec<u64>,
}

impl RegionCounts {
    pub(super) fn new(barriers: usize) -> Self {
        Self { entered_times: vec![0; barriers + 1], whole_times: vec![0; barriers] }
    }

    /// Adds the counts of other workgroups.
    pub(crate) fn add_counts(&mut self, other_counts: &RegionCounts) {
        self.entered_times
            .iter_mut()
            .zip(&other_counts.entered_times)
            .for_each(|(total_times, times)| *total_times += times);
        self.whole_times
            .iter_mut()
            .zip(&other_counts.whole_times)
            .for_each(|(total_times, times)| *total_times += times);
    }
}
