//! `shard.json`: which part of a campaign a run was, beside its evidence.

use super::id::TestId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Version of the format of `shard.json`.
pub const SHARD_SCHEMA: u32 = 1;

/// Most parts of a campaign.
pub const MOST_SHARDS: u32 = 100_000;

/// One of several parts of a campaign.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Which one, counted from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// Whether the tests whose first kernel, by name, has this hash are in this part. The hash is of
    /// the kernel's name alone, so that a new kernel moves no test of another.
    pub fn has(self, kernel_hash: u64) -> bool {
        kernel_hash % u64::from(self.of.max(1)) == u64::from(self.number.saturating_sub(1))
    }
}

/// As it is typed: `3/16`.
impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A text that names no part.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no shard: K/N with K from 1 to N, and N at most {MOST_SHARDS}")]
pub struct NoShard(String);

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let no_shard = || NoShard(text.to_owned());
        let (number, of) = text.split_once('/').ok_or_else(no_shard)?;
        let count = |digits: &str| match digits.starts_with('+') {
            true => Err(no_shard()),
            false => digits.parse::<u32>().map_err(|_| no_shard()),
        };
        let shard = Self { number: count(number)?, of: count(of)? };
        let is_one = (1..=shard.of).contains(&shard.number) && shard.of <= MOST_SHARDS;
        if is_one { Ok(shard) } else { Err(no_shard()) }
    }
}

/// What `shard.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShardFile {
    /// Version of the format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema: u32,
    /// Which part it is.
    pub shard: Shard,
    /// SHA-256 of the manifest of its evidence.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub root: String,
    /// SHA-256 of the program's file; null where it could not be read.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub program: Option<String>,
    /// Tests that are left out of all parts, in project order.
    pub left_out: Vec<TestId>,
    /// What the command line asked for that results depend on, by the name of the option.
    pub options: BTreeMap<String, String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["1/1", "3/16", "100000/100000"] {
            assert_eq!(text.parse::<Shard>().unwrap().to_string(), text);
        }
        for text in ["", "1", "0/4", "5/4", "1/0", "a/4", "-1/4", "+1/4", "1/4/2", "1/100001"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }

    #[test]
    fn each_test_is_in_one_part() {
        for of in 1..9 {
            for hash in [0, 1, 7, 63, u64::MAX] {
                let has = |number: u32| Shard { number, of }.has(hash);
                assert_eq!((1..=of).filter(|number| has(*number)).count(), 1);
            }
        }
    }
}
