//! The size of a dispatch, and the order in which its invocations are counted.

/// The size of one dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DispatchSize {
    /// Workgroup counts in x, y and z.
    pub groups: [u32; 3],
    /// Invocations of a workgroup in x, y and z.
    pub local_size: [u32; 3],
}

impl DispatchSize {
    pub(super) fn per_workgroup(&self) -> u128 {
        self.local_size.iter().map(|axis| u128::from(*axis)).product()
    }

    /// Invocations of the whole dispatch.
    pub fn invocation_count(&self) -> u128 {
        self.groups.iter().map(|axis| u128::from(*axis)).product::<u128>() * self.per_workgroup()
    }

    /// The global invocation id of a rank.
    pub fn invocation_at(&self, rank: u32) -> [u32; 3] {
        let per_workgroup = self.per_workgroup().max(1);
        let workgroup_id = split_linear(u128::from(rank) / per_workgroup, self.groups);
        let local_id = split_linear(u128::from(rank) % per_workgroup, self.local_size);
        std::array::from_fn(|axis| {
            (workgroup_id[axis] * u128::from(self.local_size[axis]) + local_id[axis]) as u32
        })
    }
}

fn split_linear(linear_index: u128, size: [u32; 3]) -> [u128; 3] {
    let [x, y] = [u128::from(size[0].max(1)), u128::from(size[1].max(1))];
    [linear_index % x, linear_index / x % y, linear_index / (x * y)]
}
