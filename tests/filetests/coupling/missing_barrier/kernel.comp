#version 460
// The last values of a workgroup are summed by other invocations than those that store them. The
// barrier between them is the host's choice.
layout(local_size_x = 8) in;
layout(constant_id = 0) const bool WAITS = true;
layout(std430, set = 0, binding = 0) readonly buffer Samples { uint samples[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Sums { uint sums[]; };
shared uint kept[8];
void main() {
    uint lane = gl_LocalInvocationID.x;
    uint x = gl_GlobalInvocationID.x;
    kept[lane] = samples[x];
    if (WAITS) {
        barrier();
    }
    sums[x] = kept[lane] + kept[7u - lane];
}
