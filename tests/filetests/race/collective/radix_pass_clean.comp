#version 450
//! buffer 0 uint 5 2 7 4 1 6 3 0
//! buffer 1 uint 0*8
//! expect 1 uint 2 4 6 0 5 7 1 3
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint odd[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint key = from[i];
    odd[i] = key & 1u;
    barrier();
    uint before = 0, all = 0;
    for (uint k = 0; k < 8; k++) {
        uint one = odd[k];
        before += k < i ? one : 0;
        all += one;
    }
    into[(key & 1u) == 1 ? 8 - all + before : i - before] = key;
}
