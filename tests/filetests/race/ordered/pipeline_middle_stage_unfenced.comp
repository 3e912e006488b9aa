#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 float 0*3
//! buffer 1 uint 0*2
//! finding data-race 21 27
//! unordered
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Data { float a; float b; float c; };
layout(std430, set=0, binding=1) buffer Flags { uint flags[2]; };
void main() {
    switch (gl_LocalInvocationIndex) {
    case 0:
        a = 2.0;
        memoryBarrierBuffer();
        atomicExchange(flags[0], 1u);
        break;
    case 1:
        while (atomicOr(flags[0], 0u) == 0u) {}
        memoryBarrierBuffer();
        b = a * 3.0;
        atomicExchange(flags[1], 1u);
        break;
    default:
        while (atomicOr(flags[1], 0u) == 0u) {}
        memoryBarrierBuffer();
        c = b + 1.0;
        break;
    }
}
