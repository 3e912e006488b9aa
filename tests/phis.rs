//! OpPhi: all phis of a block get their values at once, also where one is the source of another; by
//! lane, where invocations leave a loop at different times.

use crate::assembly;
use crate::device;

use assembly::Kernel;
use device::device;

const INVOCATIONS: u32 = 32;

/// A loop that runs as often as the invocation's input says. Numbers turn in a ring of three,
/// Booleans change places, and one phi keeps the value of another's last turn.
fn ring() -> Kernel {
    let body = "%at = OpAccessChain %pu %i %c0 %x
%turns = OpLoad %uint %at
%odd = OpBitwiseAnd %uint %x %c1
%flag = OpIEqual %bool %odd %c1
%other = OpLogicalNot %bool %flag
OpBranch %head
%head = OpLabel
%a = OpPhi %uint %c1 %start %b %next
%b = OpPhi %uint %c2 %start %c %next
%c = OpPhi %uint %c3 %start %a %next
%p = OpPhi %bool %flag %start %q %next
%q = OpPhi %bool %other %start %p %next
%last = OpPhi %uint %c9 %start %a %next
%n = OpPhi %uint %c0 %start %m %next
%on = OpULessThan %bool %n %turns
OpLoopMerge %done %next None
OpBranchConditional %on %inside %done
%inside = OpLabel
OpBranch %next
%next = OpLabel
%m = OpIAdd %uint %n %c1
OpBranch %head
%done = OpLabel
%bit = OpSelect %uint %p %c1 %c0
%hundred = OpIMul %uint %a %h
%ten = OpIMul %uint %b %t
%tens = OpIAdd %uint %hundred %ten
%digits = OpIAdd %uint %tens %c
%thousands = OpIMul %uint %last %k
%sum = OpIAdd %uint %digits %thousands
%shifted = OpIMul %uint %bit %z
%all = OpIAdd %uint %sum %shifted
%to = OpAccessChain %pu %o %c0 %x
OpStore %to %all";
    Kernel {
        declarations:
            "%t = OpConstant %uint 10\n%h = OpConstant %uint 100\n%k = OpConstant %uint 1000\n\
                       %z = OpConstant %uint 10000\n"
                .to_owned(),
        body: body.to_owned(),
        size: INVOCATIONS,
        ..Kernel::default()
    }
}

fn due(x: u32, turns: u32) -> u32 {
    let (mut a, mut b, mut c, mut p, mut q, mut last) =
        (1, 2, 3, x % 2 == 1, x.is_multiple_of(2), 9);
    for _ in 0..turns {
        (a, b, c, p, q, last) = (b, c, a, q, p, a);
    }
    u32::from(p) * 10_000 + last * 1000 + a * 100 + b * 10 + c
}

#[test]
fn phis_of_a_block_get_their_values_at_once() {
    let turns: Vec<u32> = (0..INVOCATIONS).map(|x| x * 7 % 5).collect();
    let due: Vec<u32> = (0..INVOCATIONS).map(|x| due(x, turns[x as usize])).collect();
    assert_eq!(ring().output(&turns, INVOCATIONS as usize, device().as_mut()), due);
}
