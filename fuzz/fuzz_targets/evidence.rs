//! Coverage-guided fuzzing of everything that reads evidence. `make fuzz-evidence` runs it.
//!
//! The bytes are changes of evidence that was made honestly: deleted keys, extreme numbers, swapped
//! texts, subtrees in other places. Promises to find: panics, overflows, endless loops
//! (`-timeout`), memory (`-rss_limit_mb`) in `verify` and `report`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| vkcert::cli::survive_changes(bytes));
