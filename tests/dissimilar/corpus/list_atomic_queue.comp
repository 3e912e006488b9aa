#version 450
//! buffer 0 uint 0 0 0 0 0 0
layout(local_size_x = 4) in;
layout(binding = 0) coherent buffer Q { uint head; uint tail; uint items[]; };
void main() {
    uint slot = atomicAdd(tail, 1u);
    if (slot < items.length()) items[slot] = gl_LocalInvocationID.x * 3u;
    memoryBarrierBuffer();
    atomicMax(head, slot);
}
