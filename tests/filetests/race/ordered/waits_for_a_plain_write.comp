#version 450
//! sequential-only
//! steps 4000000
//! buffer 0 uint 0*4
//! finding data-race 13 16
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint ready;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0u) ready = 0u;
    barrier(); while (i < 3u && ready == 0u) {}
    into[i] = 1u;
    if (i == 3u) {
        ready = 1u;
    }
}
