#version 450
#pragma optimize(on)
#pragma debug ( off )
#pragma something  else = 3 , "text" 1.5e3 ( ) [ ] != && ||
#pragma
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#pragma use_storage_buffer
#pragma use_vulkan_memory_model
int before = 1;
#extension GL_KHR_shader_subgroup_vote : require
void main() {
    if (subgroupAny(v[0] > 0))
#pragma unroll
        v[1] = before;
    #pragma STDGL invariant(all)
    v[2] = v[3] > 0 ? 1 : 2;
}
// decision: D1 if "subgroupAny(v[0] > 0)" conditions=1
// decision: D2 argument "v[0] > 0" conditions=1
// decision: D3 ternary "v[3] > 0" conditions=1
