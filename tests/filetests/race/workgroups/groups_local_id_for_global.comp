#version 450
//! groups 2 1 1
//! buffer 0 float 0*8
//! finding data-race 12 12
//! detail data-race same_value false
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { float into[]; };
void main() {
    uint at = gl_LocalInvocationID.x;
    into[at] = float(gl_GlobalInvocationID.x);
}
