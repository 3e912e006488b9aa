#version 450
//! buffer 0 float 1 2 3 4 -1 0 1 0.5
//! groups 2 1 1
layout(local_size_x = 4) in;
layout(binding = 0) buffer Rows { float rows[]; };
shared float partial[4];
void main() {
    uint lane = gl_LocalInvocationID.x, at = gl_WorkGroupID.x * 4 + lane;
    float value = rows[at];
    partial[lane] = value;
    barrier();
    for (uint step = 2; step > 0; step >>= 1) {
        if (lane < step) partial[lane] = max(partial[lane], partial[lane + step]);
        barrier();
    }
    float greatest = partial[0];
    barrier();
    float e = exp(value - greatest);
    partial[lane] = e;
    barrier();
    for (uint step = 2; step > 0; step >>= 1) {
        if (lane < step) partial[lane] += partial[lane + step];
        barrier();
    }
    rows[at] = e / partial[0];
}
