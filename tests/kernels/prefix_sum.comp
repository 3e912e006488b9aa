#version 450

// Inclusive or exclusive prefix sums within each workgroup, by doubling distances over two halves of workgroup memory that
// change roles. The last invocation stores the sum of its workgroup.

#define LOCAL 16

layout(local_size_x = LOCAL) in;

layout(std430, set = 0, binding = 0) readonly buffer Input { uint values[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Output { uint prefix[]; };
layout(std430, set = 0, binding = 2) writeonly buffer Sums { uint sums[]; };

layout(push_constant) uniform Parameters {
    uint count;
    uint exclusive;
};

shared uint halves[2][LOCAL];

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint i = gl_GlobalInvocationID.x;
    uint from = 0u;
    halves[0][lane] = i < count ? values[i] : 0u;
    barrier();

    for (uint reach = 1u; reach < LOCAL; reach *= 2u) {
        uint sum = halves[from][lane];
        if (lane >= reach) {
            sum += halves[from][lane - reach];
        }
        halves[1u - from][lane] = sum;
        from = 1u - from;
        barrier();
    }

    if (i < count) {
        if (exclusive != 0u && lane == 0u) {
            prefix[i] = 0u;
        } else {
            prefix[i] = halves[from][exclusive != 0u ? lane - 1u : lane];
        }
    }
    if (lane == LOCAL - 1u) {
        sums[gl_WorkGroupID.x] = halves[from][lane];
    }
}
