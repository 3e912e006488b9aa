#version 450
// PCG dice with rejection, and a run test.
// groups: 1 1 1
// buffer: 0 uint 64 iota
// push: {"seed": 12345, "throws": 9}
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { uint v[]; };
layout(push_constant) uniform P { uint seed; uint throws; };
uint state;
uint next() {
    uint old = state;
    state = old * 747796405u + 2891336453u;
    uint word = ((old >> ((old >> 28) + 4u)) ^ old) * 277803737u;
    return (word >> 22) ^ word;
}
uint die() {
    uint x;
    do { x = next() & 7u; } while (x == 0u || x == 7u);
    return x;
}
void main() {
    uint me = gl_GlobalInvocationID.x, runs = 0u, last = 0u, sum = 0u;
    state = seed + me * 2654435761u;
    for (uint i = 0u; i < throws; ++i) {
        uint x = die();
        runs += i > 0u && x > last ? 1u : 0u;
        if (x == 6u && last == 6u) { sum = 0u; last = 0u; continue; }
        sum += x;
        last = x;
    }
    v[me] = runs > 3u || sum > 30u ? sum : runs;
}
