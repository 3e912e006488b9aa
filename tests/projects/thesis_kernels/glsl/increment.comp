#version 450

// Adds `amount` to each of the first `count` integers; sums wrap around at 32 bits.

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer Values { int values[]; };

layout(push_constant) uniform Parameters {
    uint count;
    int amount;
};

void main() {
    uint i = gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (i < count) {
        values[i] = values[i] + amount;
    }
}
