#version 450
// Mid-value selection of three redundant channels with validity and miscompare latching.
// groups: 1 1 1
// buffer: 0 float 96 random 141 0 20
// buffer: 1 uint 96 random 142 0 5
// buffer: 2 float 64 zero
// push: {"threshold": 4.0}
layout(local_size_x = 32) in;
struct Channel { float value; bool valid; };
layout(std430, binding = 0) readonly buffer Values { float values[]; };
layout(std430, binding = 1) readonly buffer Status { uint status[]; };
layout(std430, binding = 2) writeonly buffer Selected { vec2 selected[]; };
layout(push_constant) uniform P { float threshold; };
Channel channel(uint me, uint number) {
    Channel c;
    c.value = values[me * 3u + number];
    c.valid = status[me * 3u + number] != 0u && status[me * 3u + number] < 5u;
    return c;
}
float middle(float a, float b, float c) { return a > b ? (b > c ? b : a > c ? c : a) : (a > c ? a : b > c ? c : b); }
bool vote(Channel c[3], out float chosen, inout uint faults) {
    uint usable = uint(c[0].valid) + uint(c[1].valid) + uint(c[2].valid);
    chosen = 0.0;
    if (usable == 3u) {
        chosen = middle(c[0].value, c[1].value, c[2].value);
        for (int i = 0; i < 3; ++i) if (abs(c[i].value - chosen) > threshold) faults++;
        return true;
    }
    if (usable == 2u) {
        int first = c[0].valid ? 0 : 1, second = c[2].valid ? 2 : 1;
        bool agree = abs(c[first].value - c[second].value) <= threshold;
        chosen = agree ? 0.5 * (c[first].value + c[second].value) : min(c[first].value, c[second].value);
        faults += agree ? 1u : 2u;
        return agree;
    }
    faults += 3u;
    return false;
}
void main() {
    uint me = gl_GlobalInvocationID.x, faults = 0u;
    Channel c[3] = Channel[3](channel(me, 0u), channel(me, 1u), channel(me, 2u));
    float chosen;
    bool good = vote(c, chosen, faults);
    selected[me] = vec2(good || faults < 2u ? chosen : -1.0, float(faults));
}
