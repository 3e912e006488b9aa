#version 450
// Relaxation of a small graph by one workgroup until nothing changes.
// order: free
// groups: 1 1 1
// buffer: 0 int 96 random 121 0 15
// buffer: 1 int 16 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Edges { int edge[]; };
layout(std430, binding = 1) writeonly buffer Distances { int result[]; };
shared int best[16];
shared int changed;
void main() {
    int me = int(gl_LocalInvocationIndex);
    if (me < 16) best[me] = me == 0 ? 0 : 1000;
    for (int round = 0; round < 16; ++round) {
        if (me == 0) changed = 0;
        barrier();
        int from = edge[me * 3], to = edge[me * 3 + 1], cost = edge[me * 3 + 2] + 1;
        int here = atomicAdd(best[from], 0);
        if (here < 1000 && here + cost < atomicMin(best[to], here + cost)) atomicOr(changed, 1);
        barrier();
        bool stop = changed == 0 && round > 0;
        barrier();
        if (stop) break;
    }
    if (me < 16) result[me] = best[me] < 1000 ? best[me] : -1;
}
