#version 450
#extension GL_EXT_device_group : enable
layout(local_size_x = 4, local_size_y = 2) in;
layout(std430, binding = 0) buffer Data { uint v[]; };
layout(push_constant) uniform Size { uvec3 domain; };
void main() {
    const uvec3 at = gl_GlobalInvocationID;
    if (any(greaterThanEqual(gl_GlobalInvocationID, domain))) return;
    if (gl_GlobalInvocationID.x >= domain.x || at.y >= domain.y || gl_WorkGroupID == uvec3(1)) return;
    bool leader = gl_LocalInvocationIndex == 0u && all(equal(gl_LocalInvocationID, uvec3(0)));
    if (leader) v[gl_WorkGroupID.x] = gl_NumWorkGroups.x > 1u ? 1u : 0u;
    v[8] = gl_WorkGroupSize.x > 2u ? gl_WorkGroupSize.y : 0u;
    if (v[9] == 0u) { return; } else if (v[9] == 1u) return;
    v[10] = 1u;
}
