#version 450
//! groups 2 1 1
//! buffer 0 float 1 2 -3 -4 1 2 3 4
//! buffer 1 uint 9 9
//! finding data-race 18 18
//! detail data-race memory workgroup
//! detail data-race same_value true
//! detail data-race reach within-workgroup
//! expect 1 uint 1 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { float from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint negative;
void main() {
    uint i = gl_LocalInvocationIndex;
    if (i == 0) negative = 0;
    barrier();
    if (from[gl_GlobalInvocationID.x] < 0.0) negative = 1;
    barrier();
    if (i == 0) into[gl_WorkGroupID.x] = negative;
}
