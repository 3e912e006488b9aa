#version 450
// Bound by memory: each invocation moves one word. Nothing hides the cost of handing records over.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer From { uint from[]; };
layout(std430, set = 0, binding = 1) writeonly buffer To { uint to[]; };
layout(push_constant) uniform Parameters { uint count; };

void main() {
    uint i = gl_GlobalInvocationID.y * gl_NumWorkGroups.x * gl_WorkGroupSize.x + gl_GlobalInvocationID.x;
    if (i < count) {
        to[i] = from[i];
    }
}
