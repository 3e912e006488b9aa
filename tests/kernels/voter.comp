#version 450

// Majority voter over three redundant channels. A channel takes part only while its bit in `healthy` is set. The status says
// what was found: 0 all agree, 1 to 3 this channel deviates, 4 no majority, 5 fewer than two channels.

layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) readonly buffer First { int first[]; };
layout(std430, set = 0, binding = 1) readonly buffer Second { int second[]; };
layout(std430, set = 0, binding = 2) readonly buffer Third { int third[]; };
layout(std430, set = 0, binding = 3) writeonly buffer Voted { int voted[]; };
layout(std430, set = 0, binding = 4) writeonly buffer Status { uint status[]; };

layout(push_constant) uniform Parameters {
    uint count;
    uint healthy;
    int tolerance;
    int safe;
};

bool agree(int a, int b) {
    int difference = a - b;
    return difference <= tolerance && difference >= -tolerance;
}

void vote(int a, int b, int c, out int value, out uint found) {
    bool ab = agree(a, b);
    bool bc = agree(b, c);
    bool ac = agree(a, c);
    if (ab && bc && ac) {
        value = max(min(a, b), min(max(a, b), c));
        found = 0u;
    } else if (ab ^^ bc ^^ ac) {
        // Exactly one pair agrees: two would mean a chain without a common value.
        value = bc ? b : a;
        found = bc ? 1u : (ac ? 2u : 3u);
    } else {
        value = safe;
        found = 4u;
    }
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= count) {
        return;
    }
    int value = safe;
    uint found = 5u;
    if ((healthy & 7u) == 7u) {
        vote(first[i], second[i], third[i], value, found);
    } else if (bitCount(healthy & 7u) == 2) {
        int a = (healthy & 1u) != 0u ? first[i] : second[i];
        int b = (healthy & 4u) != 0u ? third[i] : second[i];
        if (agree(a, b)) {
            value = a;
            found = 0u;
        } else {
            found = 4u;
        }
    }
    voted[i] = value;
    status[i] = found;
}
