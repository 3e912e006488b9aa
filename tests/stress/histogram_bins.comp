#version 450
// Histogram with workgroup bins, outliers counted apart.
// groups: 3 1 1
// buffer: 0 int 200 random 17 -4 40
// buffer: 1 uint 18 zero
// push: {"count": 180, "low": 0, "high": 32}
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Samples { int samples[]; };
layout(std430, binding = 1) buffer Bins { uint bins[]; };
layout(push_constant) uniform Range { uint count; int low, high; };
shared uint local[18];
void main() {
    uint me = gl_LocalInvocationIndex;
    if (me < 18u) local[me] = 0u;
    barrier();
    for (uint at = gl_GlobalInvocationID.x; at < count; at += 192u) {
        int x = samples[at];
        if (x < low) { atomicAdd(local[16], 1u); continue; }
        if (!(x < high)) { atomicAdd(local[17], 1u); continue; }
        uint bin = uint(x - low) * 16u / uint(high - low);
        atomicAdd(local[bin], bin > 7u && (x & 1) == 0 ? 2u : 1u);
    }
    barrier();
    if (me < 18u && local[me] != 0u) atomicAdd(bins[me], local[me]);
}
