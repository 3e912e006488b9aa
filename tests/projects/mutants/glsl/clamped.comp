#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Clamped { uint clamped[]; };

// Values above 20 are 20, plus 100 for each workgroup before that of the invocation.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint value = values[i];
    uint before = gl_WorkGroupID.x;
    clamped[i] = (value > 20u ? 20u : value) + (before > 0u ? before * 100u : 0u);
}
