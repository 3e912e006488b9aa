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
// decision: D1 if "any(greaterThanEqual(gl_GlobalInvocationID, domain))" conditions=1
// decision: D2 if "gl_GlobalInvocationID.x >= domain.x || at.y >= domain.y || gl_WorkGroupID == uvec3(1)" conditions=3
// decision: D3 initialiser "gl_LocalInvocationIndex == 0u && all(equal(gl_LocalInvocationID, uvec3(0)))" conditions=2
// decision: D4 if "leader" conditions=1
// decision: D5 ternary "gl_NumWorkGroups.x > 1u" conditions=1
// decision: D6 ternary "gl_WorkGroupSize.x > 2u" conditions=1 const=constant
// decision: D7 if "v[9] == 0u" conditions=1
// decision: D8 if "v[9] == 1u" conditions=1
