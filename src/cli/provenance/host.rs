//! The machine of a run, as far as the operating system tells it.
//!
//! Promises: a part that cannot be read is none.
//! Does not cover: devices and drivers, which evidence identifies.

use crate::model::provenance::Host;
use std::fs;

/// The machine that runs this program.
pub(super) fn this_machine() -> Host {
    let text_of =
        |path: &str| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let os_release = text_of("/etc/os-release").or_else(|_| text_of("/usr/lib/os-release"));
    let processors = text_of("/proc/cpuinfo").ok();
    let memory = text_of("/proc/meminfo").ok();
    Host {
        os: os_release.ok().as_deref().and_then(os_name),
        kernel: text_of("/proc/sys/kernel/osrelease").ok().and_then(|text| not_empty(text.trim())),
        architecture: not_empty(std::env::consts::ARCH),
        cpu: processors.as_deref().and_then(cpu_model),
        logical_cores: processors.as_deref().and_then(logical_cores),
        memory_bytes: memory.as_deref().and_then(memory_bytes),
    }
}

fn not_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// `PRETTY_NAME` of os-release(5); the last one counts, as in the shell that reads the file.
fn os_name(os_release: &str) -> Option<String> {
    let value = os_release
        .lines()
        .filter_map(|line| line.trim().strip_prefix("PRETTY_NAME="))
        .next_back()?;
    let quoted = ['"', '\''].into_iter().find_map(|quote| {
        value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
            .map(|inner| (quote, inner))
    });
    match quoted {
        Some(('"', inner)) => not_empty(&without_backslashes(inner)),
        Some((_, inner)) => not_empty(inner),
        None => not_empty(&without_backslashes(value)),
    }
}

fn without_backslashes(text: &str) -> String {
    let mut characters = text.chars();
    let mut plain = String::new();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.extend(characters.next()),
            other => plain.push(other),
        }
    }
    plain
}

/// The values of a key in `/proc/cpuinfo`.
fn values_of<'t>(cpuinfo: &'t str, key: &'t str) -> impl Iterator<Item = &'t str> {
    let rows = cpuinfo.lines().filter_map(|line| line.split_once(':'));
    rows.filter(move |(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    // Kernels for some architectures give no name of a model.
    values_of(cpuinfo, "model name").next().and_then(not_empty)
}

fn logical_cores(cpuinfo: &str) -> Option<u64> {
    let is_number = |value: &&str| value.parse::<u32>().is_ok();
    match values_of(cpuinfo, "processor").filter(is_number).count() {
        0 => None,
        count => Some(count as u64),
    }
}

/// `MemTotal` of `/proc/meminfo`.
fn memory_bytes(meminfo: &str) -> Option<u64> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_system_is_read_as_a_shell_does() {
        for (text, name) in [
            ("NAME=x\nPRETTY_NAME=\"Some Linux 13 (trixie)\"\n", Some("Some Linux 13 (trixie)")),
            ("PRETTY_NAME='Single'", Some("Single")),
            ("PRETTY_NAME=Plain", Some("Plain")),
            ("PRETTY_NAME=\"a \\\"b\\\" \\$c\"", Some("a \"b\" $c")),
            ("PRETTY_NAME=old\nPRETTY_NAME=new", Some("new")),
            ("PRETTY_NAME=\"\"", None),
            ("PRETTY_NAME=\"", Some("\"")),
            ("", None),
        ] {
            assert_eq!(os_name(text).as_deref(), name, "{text}");
        }
    }

    #[test]
    fn processors_are_counted_and_named() {
        let text =
            "processor\t: 0\nmodel name\t: A CPU @ 2GHz\n\nprocessor\t: 1\nmodel name\t: B\n";
        assert_eq!(
            (cpu_model(text).as_deref(), logical_cores(text)),
            (Some("A CPU @ 2GHz"), Some(2))
        );
        let nameless = "processor : 0\nCPU part : 0xd0c\nProcessor : AArch64\nmodel name :\n";
        assert_eq!((cpu_model(nameless), logical_cores(nameless)), (None, Some(1)));
        assert_eq!((cpu_model(""), logical_cores("processor : ARMv7")), (None, None));
    }

    #[test]
    fn memory_is_told_in_bytes() {
        assert_eq!(
            memory_bytes("MemTotal:       16318480 kB\nMemFree: 1 kB\n"),
            Some(16_710_123_520)
        );
        for text in ["", "MemTotal: 1 MB", "MemTotal: many kB", "MemTotal: 18446744073709551615 kB"]
        {
            assert_eq!(memory_bytes(text), None, "{text}");
        }
    }

    #[test]
    fn this_machine_has_an_architecture_and_cores() {
        let host = this_machine();
        assert_eq!(host.architecture.as_deref(), Some(std::env::consts::ARCH));
        assert_ne!(host.logical_cores, Some(0));
    }
}
