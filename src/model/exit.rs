//! Exit codes of the program, in one place (contract: "Exit codes").

/// How the program ends. Precedence where several apply: usage, tool, failed, unavailable, success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for holds.
    Success,
    /// A test failed, an obligation is uncovered without justification, or a finding stands.
    Failed,
    /// The command line or an input file is wrong.
    Usage,
    /// The tool itself failed.
    Tool,
    /// An engine, device or feature that was explicitly asked for is not available, or a test is
    /// `unsupported` there.
    Unavailable,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

impl Exit {
    /// The process exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Tool => 3,
            Exit::Unavailable => 4,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        }
    }

    fn precedence(self) -> u8 {
        match self {
            Exit::Interrupted | Exit::Terminated => 5,
            Exit::Usage => 4,
            Exit::Tool => 3,
            Exit::Failed => 2,
            Exit::Unavailable => 1,
            Exit::Success => 0,
        }
    }

    /// The one of two that decides.
    pub fn and(self, other: Exit) -> Exit {
        if other.precedence() > self.precedence() { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_is_two_three_one_four_zero() {
        let order = [Exit::Usage, Exit::Tool, Exit::Failed, Exit::Unavailable, Exit::Success];
        for (index, strong) in order.iter().enumerate() {
            for weak in &order[index..] {
                assert_eq!(strong.and(*weak), *strong);
                assert_eq!(weak.and(*strong), *strong);
            }
        }
        assert_eq!(order.map(Exit::code), [2, 3, 1, 4, 0]);
    }
}
