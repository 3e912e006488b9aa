//! Intervals of whole numbers with open ends.
//!
//! Promises: every sum and product of values inside lies in the sum and product of the intervals.
//! Does not cover: wrapping; these are numbers, not words.

/// Beyond this magnitude an end counts as open.
pub(super) const OPEN_END: i128 = 1 << 100;

/// All numbers from `low` to `high`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval {
    /// Least number; `-OPEN_END`: none.
    pub low: i128,
    /// Greatest number; `OPEN_END`: none.
    pub high: i128,
}

impl Interval {
    /// Every number.
    pub const ALL: Interval = Interval { low: -OPEN_END, high: OPEN_END };
    /// Every number from 0.
    pub const NATURAL: Interval = Interval { low: 0, high: OPEN_END };

    /// From `low` to `high`; ends beyond [`OPEN_END`] are open.
    pub fn new(low: i128, high: i128) -> Self {
        Self { low: low.clamp(-OPEN_END, OPEN_END), high: high.clamp(-OPEN_END, OPEN_END) }
    }

    /// One number.
    pub fn of_number(number: i128) -> Self {
        Self::new(number, number)
    }

    /// What an integer of `width` bits can be.
    pub fn of_word(width: u32, is_signed: bool) -> Self {
        if is_signed {
            Self::new(-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1)
        } else {
            Self::new(0, (1i128 << width) - 1)
        }
    }

    /// Whether both ends are closed.
    pub fn is_closed(self) -> bool {
        self.low > -OPEN_END && self.high < OPEN_END
    }

    /// Whether no number is inside.
    pub fn is_empty(self) -> bool {
        self.low > self.high
    }

    /// Whether every number of `inner` is inside.
    pub fn contains(self, inner: Interval) -> bool {
        self.low <= inner.low && inner.high <= self.high
    }

    /// The least interval around both.
    pub fn hull(self, other: Interval) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both.
    pub fn meet(self, other: Interval) -> Self {
        Self { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    /// Sums.
    pub fn plus(self, other: Interval) -> Self {
        Self {
            low: add_ends(self.low, other.low, -OPEN_END),
            high: add_ends(self.high, other.high, OPEN_END),
        }
    }

    /// Products.
    pub fn times(self, other: Interval) -> Self {
        let are_natural = self.low >= 0 && other.low >= 0;
        if are_natural && !self.is_empty() && !other.is_empty() {
            return Self {
                low: multiply_ends(self.low, other.low),
                high: multiply_ends(self.high, other.high),
            };
        }
        let corners = [
            multiply_ends(self.low, other.low),
            multiply_ends(self.low, other.high),
            multiply_ends(self.high, other.low),
            multiply_ends(self.high, other.high),
        ];
        let low = corners.into_iter().min().unwrap_or(-OPEN_END);
        let high = corners.into_iter().max().unwrap_or(OPEN_END);
        Self { low, high }
    }

    /// Quotients by divisors from 1, rounded down.
    pub fn divided_by(self, divisor: Interval) -> Self {
        let quotient = |dividend: i128, divisor: i128| match dividend.abs() >= OPEN_END {
            true => dividend,
            false => dividend.div_euclid(divisor),
        };
        let (least, greatest) = (divisor.low.max(1), divisor.high.max(1));
        let ends = [
            quotient(self.low, least),
            quotient(self.low, greatest),
            quotient(self.high, least),
            quotient(self.high, greatest),
        ];
        let low = ends.into_iter().min().unwrap_or(-OPEN_END);
        let high = ends.into_iter().max().unwrap_or(OPEN_END);
        Self { low, high }
    }
}

/// A sum in which an open end stays open.
fn add_ends(left: i128, right: i128, open_end: i128) -> i128 {
    if left == open_end || right == open_end {
        return open_end;
    }
    (left + right).clamp(-OPEN_END, OPEN_END)
}

fn multiply_ends(left: i128, right: i128) -> i128 {
    // Most ends are words, whose product cannot overflow.
    if let (Ok(left), Ok(right)) = (i64::try_from(left), i64::try_from(right)) {
        return (i128::from(left) * i128::from(right)).clamp(-OPEN_END, OPEN_END);
    }
    let is_negative = (left < 0) != (right < 0);
    match left.checked_mul(right) {
        Some(product) => product.clamp(-OPEN_END, OPEN_END),
        None if is_negative => -OPEN_END,
        None => OPEN_END,
    }
}
