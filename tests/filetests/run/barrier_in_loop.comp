#version 450
//! groups 2 1 1
//! buffer 0 uint 0*16
//! expect 0 uint 28*16
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    for (uint d = 1; d < 8; d *= 2) {
        barrier();
        uint v = s[(i + d) % 8];
        barrier();
        s[i] += v;
    }
    r[gl_GlobalInvocationID.x] = s[i];
}
