#version 450
//! buffer 0 uint 0
//! finding data-race 11 9
//! unordered
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    if (gl_LocalInvocationIndex == 0)
        atomicAdd(r[0], 1u); 
    else
        r[0] = 5; 
}
