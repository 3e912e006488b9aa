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
