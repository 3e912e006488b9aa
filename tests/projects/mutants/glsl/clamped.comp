#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1, std430) writeonly buffer Clamped { uint clamped[]; };

// Values above 20 are 20, plus the number of the invocation's workgroup.
void main() {
    uint i = gl_GlobalInvocationID.x;
    uint value = values[i];
    clamped[i] = (value > 20u ? 20u : value) + gl_WorkGroupID.x * 100u;
}
