#version 450
// 128 rules with a decision each, over a few words of state.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint verdicts[]; };
layout(push_constant) uniform Parameters { uint count; };

#define RULE(k) if (((x >> (k & 15u)) & 7u) > (k & 3u)) { y += x ^ k; } else { x = x * 5u + k; }

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint x = words[i];
    uint y = i;
    RULE(0u) RULE(1u) RULE(2u) RULE(3u) RULE(4u) RULE(5u) RULE(6u) RULE(7u)
    RULE(8u) RULE(9u) RULE(10u) RULE(11u) RULE(12u) RULE(13u) RULE(14u) RULE(15u)
    RULE(16u) RULE(17u) RULE(18u) RULE(19u) RULE(20u) RULE(21u) RULE(22u) RULE(23u)
    RULE(24u) RULE(25u) RULE(26u) RULE(27u) RULE(28u) RULE(29u) RULE(30u) RULE(31u)
    RULE(32u) RULE(33u) RULE(34u) RULE(35u) RULE(36u) RULE(37u) RULE(38u) RULE(39u)
    RULE(40u) RULE(41u) RULE(42u) RULE(43u) RULE(44u) RULE(45u) RULE(46u) RULE(47u)
    RULE(48u) RULE(49u) RULE(50u) RULE(51u) RULE(52u) RULE(53u) RULE(54u) RULE(55u)
    RULE(56u) RULE(57u) RULE(58u) RULE(59u) RULE(60u) RULE(61u) RULE(62u) RULE(63u)
    RULE(64u) RULE(65u) RULE(66u) RULE(67u) RULE(68u) RULE(69u) RULE(70u) RULE(71u)
    RULE(72u) RULE(73u) RULE(74u) RULE(75u) RULE(76u) RULE(77u) RULE(78u) RULE(79u)
    RULE(80u) RULE(81u) RULE(82u) RULE(83u) RULE(84u) RULE(85u) RULE(86u) RULE(87u)
    RULE(88u) RULE(89u) RULE(90u) RULE(91u) RULE(92u) RULE(93u) RULE(94u) RULE(95u)
    RULE(96u) RULE(97u) RULE(98u) RULE(99u) RULE(100u) RULE(101u) RULE(102u) RULE(103u)
    RULE(104u) RULE(105u) RULE(106u) RULE(107u) RULE(108u) RULE(109u) RULE(110u) RULE(111u)
    RULE(112u) RULE(113u) RULE(114u) RULE(115u) RULE(116u) RULE(117u) RULE(118u) RULE(119u)
    RULE(120u) RULE(121u) RULE(122u) RULE(123u) RULE(124u) RULE(125u) RULE(126u) RULE(127u)
    verdicts[i] = x ^ y;
}
