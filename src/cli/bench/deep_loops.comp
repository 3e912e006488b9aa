#version 450
// Four loops inside each other, with almost nothing in the innermost one.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint results[]; };
layout(push_constant) uniform Parameters { uint count; uint outer; uint inner; };

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    uint x = words[i];
    for (uint a = 0u; a < outer; a++) {
        for (uint b = 0u; b < inner; b++) {
            for (uint c = 0u; c < inner; c++) {
                for (uint d = 0u; d < inner; d++) {
                    x = x * 1664525u + (b ^ d);
                }
                x ^= x >> 7;
            }
        }
        x += a;
    }
    results[i] = x;
}
