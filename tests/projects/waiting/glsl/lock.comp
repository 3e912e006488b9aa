#version 450

// Every workgroup adds its part to a list while no other one does.

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Lock {
    uint ticket;
    uint serving;
};

layout(std430, set = 0, binding = 1) coherent buffer Sums { uint sums[]; };

void main() {
    uint mine = atomicAdd(ticket, 1u);
    while (atomicOr(serving, 0u) != mine) {
    }
    memoryBarrierBuffer();
    sums[0] += gl_WorkGroupID.x + 1u;
    memoryBarrierBuffer();
    atomicAdd(serving, 1u);
}
