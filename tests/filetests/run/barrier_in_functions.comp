#version 450
//! buffer 0 uint 3 1 4 1 5 9 2 6 77*18
//! groups 1 1 1
//! expect 0 uint 3 1 4 1 5 9 2 6 3 4 8 9 14 23 25 31 31 12 40 2 3 4 5 6 7 8
// Barriers in functions: parameters of every direction, early returns behind the last barrier, a call in a loop, in a
// condition, a constant that sizes an array, a variable that hides another one.
layout(local_size_x = 8) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
shared uint part[8];
uint own = gl_LocalInvocationIndex;
uint scan(const uint count, inout uint value, out uint last) {
    for (uint step = 1u; step < count; step *= 2u) {
        part[own] = value;
        barrier();
        uint before = own >= step ? part[own - step] : 0u;
        barrier();
        value += before;
    }
    part[own] = value;
    barrier();
    last = part[count - 1u];
    barrier();
    if (own == 0u) {
        return 2u;
    }
    return own;
}
uint neighbour(uint value) {
    const uint SIZE = 2u;
    uint kept[SIZE];
    kept[0] = value;
    kept[1] = value + 1u;
    part[own] = value;
    barrier();
    uint other = part[own ^ 1u];
    barrier();
    return other + kept[1] - kept[0];
}
bool share() {
    part[own] = own;
    barrier();
    return part[7u - own] < 8u;
}
void main() {
    uvec2 state = uvec2(r[own], 0u);
    uint kind = scan(8u, state.x, state.y);
    r[8u + own] = state.x;
    if (share()) {
        barrier();
    }
    uint sum = neighbour(kind);
    sum += neighbour(1u);
    {
        uint kind = 0u;
        barrier();
        for (uint round = 0u; round < 2u; ++round) {
            kind += neighbour(round);
        }
        sum += kind - 3u;
    }
    barrier();
    if (own == 0u) {
        r[16] = state.y;
        r[17] = sum + 8u;
        r[18] = 1u + 39u;
    } else {
        r[18u + own] = own + 1u;
    }
}
