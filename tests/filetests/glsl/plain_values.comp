#version 450
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_ballot : require
// Places whose value is Boolean by the declared types alone: each is a decision under the policy `literal`.
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
layout(push_constant) uniform Settings { bool enabled; bool list[4]; int level; } settings;
struct State { bool live; bool marks[2]; };
State state;
bool global_flag;
bool next(bool x) { return global_flag; }
void keep(bool x) { v[0] = int(x); }
void main() {
    global_flag = settings.enabled;
    state.live = settings.list[settings.level];
    state.marks[1] = state.live;
    bool shuffled = subgroupShuffle(global_flag, 1u);
    bool broadcast = subgroupBroadcast(state.marks[0], 0u);
    bool copy[2];
    copy[0] = next(shuffled);
    keep(copy[0]);
    keep(next(broadcast));
    v[1] = settings.level;
    v[2] = int(copy[1] = state.marks[1]);
}
// decision: D1 return "global_flag" conditions=1
// decision: D2 argument "x" conditions=1
// decision: D3 assignment "settings.enabled" conditions=1
// decision: D4 assignment "settings.list[settings.level]" conditions=1
// decision: D5 assignment "state.live" conditions=1
// decision: D6 initialiser "subgroupShuffle(global_flag, 1u)" conditions=1
// decision: D7 argument "global_flag" conditions=1
// decision: D8 initialiser "subgroupBroadcast(state.marks[0], 0u)" conditions=1
// decision: D9 argument "state.marks[0]" conditions=1
// decision: D10 assignment "next(shuffled)" conditions=1
// decision: D11 argument "shuffled" conditions=1
// decision: D12 argument "copy[0]" conditions=1
// decision: D13 argument "next(broadcast)" conditions=1
// decision: D14 argument "broadcast" conditions=1
// decision: D15 argument "copy[1] = state.marks[1]" conditions=1
// decision: D16 assignment "state.marks[1]" conditions=1
