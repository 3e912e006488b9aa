//! The memory that this process and all that it has started hold.
//!
//! Knows: `/proc` of Linux. Promises: resident memory as the kernel counts it (`VmRSS`); what processes share counts for each
//! of them. Does not cover: other systems, of which nothing is known.

use std::fs;
use std::path::Path;

/// Bytes in all; none: this system does not tell them.
pub(crate) fn resident_bytes() -> Option<u64> {
    let own_process = std::process::id();
    let mut bytes = bytes_of_process(own_process)?;
    let mut processes = children_of(own_process)?;
    while let Some(process) = processes.pop() {
        // One that has ended meanwhile holds nothing.
        bytes += bytes_of_process(process).unwrap_or(0);
        processes.extend(children_of(process).unwrap_or_default());
    }
    Some(bytes)
}

fn bytes_of_process(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The processes that any task of a process has started.
fn children_of(process: u32) -> Option<Vec<u32>> {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        children.extend(children_of_task(&task.ok()?.path(), process)?);
    }
    Some(children)
}

/// A task that has ended meanwhile has none.
fn children_of_task(task: &Path, process: u32) -> Option<Vec<u32>> {
    match fs::read_to_string(task.join("children")) {
        Ok(list) => list.split_whitespace().map(|word| word.parse().ok()).collect(),
        Err(_) if !task.exists() => Some(Vec::new()),
        Err(_) => {
            // Between the two questions it may have ended, too.
            let is_told = Path::new(&format!("/proc/{process}/task/{process}/children")).exists();
            is_told.then(Vec::new)
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn children_count_with_the_process() {
        let own_bytes = bytes_of_process(std::process::id()).expect("Linux tells it");
        assert!(own_bytes > 0);
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep is there");
        let children = children_of(std::process::id());
        let child_bytes = bytes_of_process(child.id());
        let whole = resident_bytes();
        child.kill().expect("it runs");
        child.wait().expect("it was started here");
        assert!(children.expect("Linux tells them").contains(&child.id()));
        assert!(whole.expect("all is told") >= child_bytes.expect("it ran"));
        assert_eq!(bytes_of_process(child.id()), None, "it has ended");
    }
}
