#version 450
// Bound by arithmetic: a polynomial of high degree, four evaluations side by side.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer Points { vec4 points[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Values { vec4 values[]; };
layout(push_constant) uniform Parameters { uint count; uint degree; };

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    vec4 x = points[i];
    vec4 sum = vec4(0.25);
    for (uint k = 0u; k < degree; k++) {
        sum = sum * x + 0.125;
        sum = sum * x - 0.0625;
        sum = sum * x + 0.5;
        sum = sum * x - 0.25;
    }
    values[i] = sum;
}
