#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 8 16 8 16
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint sum = 0;
    for (uint round = 0; round < 2; round++) {
        s[i] = i;
        for (uint k = 0; k < 2; k++) {
            barrier();
            sum += s[(i + 2) & 3u] + s[i];
        }
        barrier();
    }
    into[i] = sum;
}
