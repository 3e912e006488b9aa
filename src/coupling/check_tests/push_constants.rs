//! Members of push constants on both sides.

use super::{KERNEL, LARGE, correct, coupled, coupled_with, figure_two, members, refuted, rows};
use crate::Interface;
use vkcert_model::evidence::CheckStatus;
use vkcert_model::requirement::{HostStruct, HostType, MemberType};

#[test]
fn figure_two_swaps_two_push_constants() {
    let coupling = coupled(&figure_two(), &[], &[], Some(&LARGE));
    let rows = refuted(&coupling, "push-constant-layout");
    assert!(
        rows[0].message.contains("reads m at offset 0, where the host stores n"),
        "{}",
        rows[0].message
    );
    assert!(
        rows[0].message.contains("reads n at offset 4, where the host stores m"),
        "{}",
        rows[0].message
    );
}

#[test]
fn push_constants_agree_member_by_member() {
    let status = |block: HostStruct| {
        let coupling = coupled(
            &Interface { push_constants: Some(block), ..correct() },
            &[],
            &[],
            Some(&LARGE),
        );
        rows(&coupling, "push-constant-layout")[0].status.to_string()
    };
    let of = |change: &dyn Fn(&mut HostStruct)| {
        let mut block = members(&["m", "n", "k"]);
        change(&mut block);
        status(block)
    };
    assert_eq!(of(&|_| {}), "holds");
    assert_eq!(of(&|block| block.size = Some(8)), "refuted");
    assert_eq!(of(&|block| retyped(block, 1, HostType::Int32)), "refuted");
    assert_eq!(of(&|block| retyped(block, 1, HostType::Float32)), "refuted");
    // A byte before a word leaves a gap.
    assert_eq!(of(&|block| retyped(block, 0, HostType::Uint8)), "refuted");
    let other = |block: &mut HostStruct| block.members[2].name = "other".to_owned();
    assert_eq!(of(&other), "refuted");
    let mut unknown = correct();
    unknown.parameters.remove(1);
    unknown.buffers[0].size = "m * 4".to_owned();
    unknown.buffers[1].size = "k * 4".to_owned();
    let coupling = coupled(&unknown, &[], &[], Some(&LARGE));
    let row = &rows(&coupling, "push-constant-layout")[0];
    assert_eq!(
        (row.status.to_string().as_str(), row.message.as_str()),
        ("undetermined", "what the host stores in n is not stated")
    );
}

#[test]
fn members_stand_at_multiples_of_their_size() {
    let source = KERNEL.replace("uint m; uint n; uint k;", "uint m; double d; uint n; uint k;");
    let mut block = members(&["m", "d", "n", "k"]);
    retyped(&mut block, 1, HostType::Float64);
    block.size = Some(24);
    let coupling =
        coupled_with(&source, &Interface { push_constants: Some(block), ..correct() }, &LARGE);
    let row = &rows(&coupling, "push-constant-layout")[0];
    assert_eq!(row.status, CheckStatus::Holds, "{}", row.message);
}

fn retyped(block: &mut HostStruct, member: usize, scalar_type: HostType) {
    block.members[member].member_type = MemberType::Scalar(scalar_type);
}
