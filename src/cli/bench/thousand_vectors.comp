#version 450
// 210 decisions of three conditions: more than a thousand vectors in one kernel.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint verdicts[]; };
layout(push_constant) uniform Parameters { uint count; };

#define RULE(k) if (((x & 7u) > (k & 3u) || y > x) && (y & 3u) != (k & 1u)) { y += x ^ k; } else { x = (x >> 3) * 5u + y + k; }

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint x = words[i];
    uint y = i;
    RULE(0u) RULE(1u) RULE(2u) RULE(3u) RULE(4u) RULE(5u) RULE(6u)
    RULE(7u) RULE(8u) RULE(9u) RULE(10u) RULE(11u) RULE(12u) RULE(13u)
    RULE(14u) RULE(15u) RULE(16u) RULE(17u) RULE(18u) RULE(19u) RULE(20u)
    RULE(21u) RULE(22u) RULE(23u) RULE(24u) RULE(25u) RULE(26u) RULE(27u)
    RULE(28u) RULE(29u) RULE(30u) RULE(31u) RULE(32u) RULE(33u) RULE(34u)
    RULE(35u) RULE(36u) RULE(37u) RULE(38u) RULE(39u) RULE(40u) RULE(41u)
    RULE(42u) RULE(43u) RULE(44u) RULE(45u) RULE(46u) RULE(47u) RULE(48u)
    RULE(49u) RULE(50u) RULE(51u) RULE(52u) RULE(53u) RULE(54u) RULE(55u)
    RULE(56u) RULE(57u) RULE(58u) RULE(59u) RULE(60u) RULE(61u) RULE(62u)
    RULE(63u) RULE(64u) RULE(65u) RULE(66u) RULE(67u) RULE(68u) RULE(69u)
    RULE(70u) RULE(71u) RULE(72u) RULE(73u) RULE(74u) RULE(75u) RULE(76u)
    RULE(77u) RULE(78u) RULE(79u) RULE(80u) RULE(81u) RULE(82u) RULE(83u)
    RULE(84u) RULE(85u) RULE(86u) RULE(87u) RULE(88u) RULE(89u) RULE(90u)
    RULE(91u) RULE(92u) RULE(93u) RULE(94u) RULE(95u) RULE(96u) RULE(97u)
    RULE(98u) RULE(99u) RULE(100u) RULE(101u) RULE(102u) RULE(103u) RULE(104u)
    RULE(105u) RULE(106u) RULE(107u) RULE(108u) RULE(109u) RULE(110u) RULE(111u)
    RULE(112u) RULE(113u) RULE(114u) RULE(115u) RULE(116u) RULE(117u) RULE(118u)
    RULE(119u) RULE(120u) RULE(121u) RULE(122u) RULE(123u) RULE(124u) RULE(125u)
    RULE(126u) RULE(127u) RULE(128u) RULE(129u) RULE(130u) RULE(131u) RULE(132u)
    RULE(133u) RULE(134u) RULE(135u) RULE(136u) RULE(137u) RULE(138u) RULE(139u)
    RULE(140u) RULE(141u) RULE(142u) RULE(143u) RULE(144u) RULE(145u) RULE(146u)
    RULE(147u) RULE(148u) RULE(149u) RULE(150u) RULE(151u) RULE(152u) RULE(153u)
    RULE(154u) RULE(155u) RULE(156u) RULE(157u) RULE(158u) RULE(159u) RULE(160u)
    RULE(161u) RULE(162u) RULE(163u) RULE(164u) RULE(165u) RULE(166u) RULE(167u)
    RULE(168u) RULE(169u) RULE(170u) RULE(171u) RULE(172u) RULE(173u) RULE(174u)
    RULE(175u) RULE(176u) RULE(177u) RULE(178u) RULE(179u) RULE(180u) RULE(181u)
    RULE(182u) RULE(183u) RULE(184u) RULE(185u) RULE(186u) RULE(187u) RULE(188u)
    RULE(189u) RULE(190u) RULE(191u) RULE(192u) RULE(193u) RULE(194u) RULE(195u)
    RULE(196u) RULE(197u) RULE(198u) RULE(199u) RULE(200u) RULE(201u) RULE(202u)
    RULE(203u) RULE(204u) RULE(205u) RULE(206u) RULE(207u) RULE(208u) RULE(209u)
    verdicts[i] = x ^ y;
}
