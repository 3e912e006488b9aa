#version 450
//! buffer 0 uint 7 15 23 7
//! buffer 1 uint 0*8
layout(local_size_x = 4) in;
layout(binding = 0) buffer K { uint keys[]; };
layout(binding = 1) buffer T { uint table[8]; };
void main() {
    uint key = keys[gl_LocalInvocationID.x], slot = key & 7u;
    for (uint probe = 0u; probe < 8u; ++probe, slot = (slot + 1u) & 7u) {
        uint before = atomicCompSwap(table[slot], 0u, key);
        if (before == 0u || before == key) break;
    }
}
