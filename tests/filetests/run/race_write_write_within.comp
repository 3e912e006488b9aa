#version 450
//! buffer 0 uint 0 0
//! finding data-race 10 10
//! detail data-race reach within-workgroup
//! detail data-race same_value false
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[0] = gl_LocalInvocationIndex; 
}
