#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 0
//! buffer 1 uint 0
//! finding data-race 13 17
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Message { uint data; uint flag; };
layout(std430, set=0, binding=1) buffer Into { uint into; };
void main() {
    if (gl_LocalInvocationIndex == 0) {
        data = 44;
        atomicExchange(flag, 1u);
    } else {
        while (atomicOr(flag, 0u) == 0u) {}
        into = data;
    }
}
