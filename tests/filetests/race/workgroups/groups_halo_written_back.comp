#version 450
//! groups 2 1 1
//! buffer 0 uint 1 2 3 4 5 6
//! buffer 1 uint 0*6
//! finding data-race 18 18
//! detail data-race reach across-workgroups
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) readonly buffer From { uint from[]; };
layout(std430, set=0, binding=1) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = gl_WorkGroupID.x * 2 + i;
    s[i] = from[at];
    barrier();
    uint sum = s[(i + 3) & 3u] + s[i] + s[(i + 1) & 3u];
    into[at] = sum;
}
