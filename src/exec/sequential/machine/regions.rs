//! How often the loops of the lowering ran.

/// How often the loops of the lowering ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RegionCounts {
    /// Workgroups that entered region 0, and that left barrier `i` into region `i + 1`.
    pub entered: Vec<u64>,
    /// By barrier: how often all invocations of a workgroup executed it together.
    pub whole: Vec<u64>,
}

impl RegionCounts {
    pub(super) fn new(barriers: usize) -> Self {
        Self { entered: vec![0; barriers + 1], whole: vec![0; barriers] }
    }

    /// Adds the counts of other workgroups.
    pub(crate) fn join(&mut self, other: &RegionCounts) {
        self.entered.iter_mut().zip(&other.entered).for_each(|(all, times)| *all += times);
        self.whole.iter_mut().zip(&other.whole).for_each(|(all, times)| *all += times);
    }
}
