#version 450
//! spec 0 4
//! spec 1 3
//! buffer 0 uint 0*8
//! expect 0 uint 12 13 14 15 0 0 0 0
layout(local_size_x_id=0) in;
layout(constant_id=1) const uint base = 1;
const uint twice = base * 4;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[gl_LocalInvocationIndex] = twice + gl_LocalInvocationIndex + 0 * gl_WorkGroupSize.x;
}
