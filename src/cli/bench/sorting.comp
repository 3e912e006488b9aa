#version 450
// Each workgroup sorts 128 words with a bitonic network in workgroup memory.
layout(local_size_x = 128) in;
layout(std430, set = 0, binding = 0) readonly buffer Input { uint words[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint sorted[]; };
shared uint keys[128];

void main() {
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint local = gl_LocalInvocationID.x;
    keys[local] = words[group * 128u + local];
    barrier();
    for (uint size = 2u; size <= 128u; size <<= 1) {
        for (uint stride = size >> 1; stride > 0u; stride >>= 1) {
            uint partner = local ^ stride;
            if (partner > local) {
                bool ascending = (local & size) == 0u;
                uint low = keys[local];
                uint high = keys[partner];
                if (ascending && low > high || !ascending && low < high) {
                    keys[local] = high;
                    keys[partner] = low;
                }
            }
            barrier();
        }
    }
    sorted[group * 128u + local] = keys[local];
}
