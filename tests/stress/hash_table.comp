#version 450
// Open addressing with compare-and-swap; gives up after a bounded number of probes.
// order: free
// groups: 1 1 1
// buffer: 0 uint 32 random 21 1 30
// buffer: 1 uint 16 zero
// buffer: 2 uint 32 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Keys { uint keys[]; };
layout(std430, binding = 1) buffer Table { uint slots[]; };
layout(std430, binding = 2) writeonly buffer Status { uint placed[]; };
uint mixed(uint x) { x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; return x * 0x846ca68bu; }
void main() {
    uint me = gl_GlobalInvocationID.x, key = keys[me], at = mixed(key) & 15u;
    bool done = false;
    for (uint probe = 0u; probe < 12u && !done; ++probe) {
        uint old = atomicCompSwap(slots[at], 0u, key);
        done = old == 0u || old == key;
        at = (at + 1u) & 15u;
    }
    placed[me] = done ? 1u : 2u;
}
