//! Limits of devices and specialization constants.

use super::{KERNEL, LARGE, correct, coupled, coupled_with, figure_two, refuted, rows};
use crate::{Coupling, DeviceLimits, Interface};
use vkcert_model::evidence::{CheckStatus, CouplingCheck};
use vkcert_model::requirement::HostSpecialization;

#[test]
fn what_a_kernel_needs_of_a_device_is_held_to_its_limits() {
    let fits = |device: DeviceLimits| {
        refuted(&coupled_with(KERNEL, &correct(), &device), "device-limits").len()
    };
    assert_eq!(fits(LARGE), 0);
    assert_eq!(fits(DeviceLimits { invocations: 255, ..LARGE }), 1);
    assert_eq!(fits(DeviceLimits { invocations: 256, ..LARGE }), 0);
    let large = KERNEL.replace("tile[16][16]", "tile[80][64]");
    let needs = |bytes| {
        let device = DeviceLimits { workgroup_bytes: bytes, ..LARGE };
        refuted(&coupled_with(&large, &correct(), &device), "device-limits").len()
    };
    assert_eq!((needs(80 * 64 * 4), needs(80 * 64 * 4 - 1)), (0, 1));
}

#[test]
fn a_specialization_value_fits_its_type() {
    let source = KERNEL
        .replace("shared float", "layout(constant_id = 3) const int SHIFT = 0;\nshared float");
    let source = source.replace("float(n)", "float(int(n) + SHIFT)");
    let row = |value: &str| {
        let specialization = vec![HostSpecialization { id: 3, value: value.to_owned() }];
        let coupling = coupled_with(&source, &Interface { specialization, ..correct() }, &LARGE);
        rows(&coupling, "specialization-ids")[0].status.to_string()
    };
    assert_eq!(
        [row("-5"), row("2147483647"), row("2147483648"), row("m + 2147483647u")],
        ["holds", "holds", "refuted", "refuted"]
    );
}

#[test]
fn sizes_under_a_specialization_of_no_one_value_are_undetermined() {
    let source = KERNEL.replace("shared float", "layout(local_size_x_id = 3) in;\nshared float");
    assert!(source.contains("local_size_x_id"));
    let undetermined = |source: &str, value: &str| {
        let specialization = vec![HostSpecialization { id: 3, value: value.to_owned() }];
        let coupling = coupled_with(source, &Interface { specialization, ..correct() }, &LARGE);
        rows(&coupling, "specialization-ids")
            .iter()
            .any(|row| row.status == CheckStatus::Undetermined)
    };
    assert!(undetermined(&source, "m"));
    assert!(!undetermined(&source, "8 + 8"));
    // A value that no size depends on is not asked for.
    let other = KERNEL
        .replace("shared float", "layout(constant_id = 3) const int SHIFT = 0;\nshared float");
    assert!(!undetermined(&other.replace("float(n)", "float(int(n) + SHIFT)"), "m"));
}

#[test]
fn figure_two_exceeds_the_devices_group_count() {
    let coupling = coupled(&figure_two(), &[], &[], None);
    let rows = refuted(&coupling, "device-limits");
    assert!(rows.len() == 1 && rows[0].message.contains("every device allows 65535"), "{rows:#?}");
    let wide = DeviceLimits { groups: [i32::MAX as u32, 65_535, 65_535], ..LARGE };
    let coupling = coupled(&figure_two(), &[], &[], Some(&wide));
    assert_eq!(refuted(&coupling, "device-limits"), Vec::<&CouplingCheck>::new());
    let noted = rows_with(&coupling, "a device need have only 65535");
    assert_eq!(noted, 1);
}

fn rows_with(coupling: &Coupling, text: &str) -> usize {
    coupling.checks.iter().filter(|row| row.message.contains(text)).count()
}
