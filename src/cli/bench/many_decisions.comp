#version 450
// 128 weak classifiers, each a decision over a projection of the features; weights come from a table per cell.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Features { vec4 features[]; };
layout(std430, set = 0, binding = 1) readonly buffer Weights { vec4 weights[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Scores { float scores[]; };
layout(push_constant) uniform Parameters { uint count; };

#define RULE(k) w = weights[(cell + k) & 255u]; if (dot(f, w) > 0.5 + 0.01 * k) { score += w.x; } else { score *= 0.75; }

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    vec4 f = features[i];
    vec4 w;
    uint cell = i / 16u;
    float score = 0.0;
    RULE(0) RULE(1) RULE(2) RULE(3) RULE(4) RULE(5) RULE(6) RULE(7)
    RULE(8) RULE(9) RULE(10) RULE(11) RULE(12) RULE(13) RULE(14) RULE(15)
    RULE(16) RULE(17) RULE(18) RULE(19) RULE(20) RULE(21) RULE(22) RULE(23)
    RULE(24) RULE(25) RULE(26) RULE(27) RULE(28) RULE(29) RULE(30) RULE(31)
    RULE(32) RULE(33) RULE(34) RULE(35) RULE(36) RULE(37) RULE(38) RULE(39)
    RULE(40) RULE(41) RULE(42) RULE(43) RULE(44) RULE(45) RULE(46) RULE(47)
    RULE(48) RULE(49) RULE(50) RULE(51) RULE(52) RULE(53) RULE(54) RULE(55)
    RULE(56) RULE(57) RULE(58) RULE(59) RULE(60) RULE(61) RULE(62) RULE(63)
    RULE(64) RULE(65) RULE(66) RULE(67) RULE(68) RULE(69) RULE(70) RULE(71)
    RULE(72) RULE(73) RULE(74) RULE(75) RULE(76) RULE(77) RULE(78) RULE(79)
    RULE(80) RULE(81) RULE(82) RULE(83) RULE(84) RULE(85) RULE(86) RULE(87)
    RULE(88) RULE(89) RULE(90) RULE(91) RULE(92) RULE(93) RULE(94) RULE(95)
    RULE(96) RULE(97) RULE(98) RULE(99) RULE(100) RULE(101) RULE(102) RULE(103)
    RULE(104) RULE(105) RULE(106) RULE(107) RULE(108) RULE(109) RULE(110) RULE(111)
    RULE(112) RULE(113) RULE(114) RULE(115) RULE(116) RULE(117) RULE(118) RULE(119)
    RULE(120) RULE(121) RULE(122) RULE(123) RULE(124) RULE(125) RULE(126) RULE(127)
    scores[i] = score;
}
