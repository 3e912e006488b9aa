#version 450
//! buffer 0 uint 0*4
//! buffer 1 uint 0*4
//! finding data-race 14 15
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Keys { uint keys[]; };
layout(std430, set=0, binding=1) buffer Values { uint values[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint key = 10 + i;
    for (uint k = 0; k < 4; k++) {
        uint at = (i / 2 + k) & 3u;
        if (keys[at] != 0) continue;
        if (atomicCompSwap(keys[at], 0u, key) != 0) continue;
        values[at] = key;
        break;
    }
}
