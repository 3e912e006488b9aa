#version 450
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_KHR_shader_subgroup_vote : require
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { int v[]; } data[];
void main() {
    [[unroll]] for (int i = 0; i < 4; i++) data[nonuniformEXT(i)].v[i] = i;
    [[dont_flatten]] if (subgroupAll(data[0].v[1] > 0)) data[0].v[2] = 1;
    bool any_live = subgroupAny(data[0].v[3] > 0);
    precise float exact = float(data[0].v[4]);
    data[0].v[5] = int(exact);
}
// decision: D1 for "i < 4" conditions=1
// decision: D2 if "subgroupAll(data[0].v[1] > 0)" conditions=1
// decision: D3 argument "data[0].v[1] > 0" conditions=1
// decision: D4 initialiser "subgroupAny(data[0].v[3] > 0)" conditions=1
// decision: D5 argument "data[0].v[3] > 0" conditions=1
