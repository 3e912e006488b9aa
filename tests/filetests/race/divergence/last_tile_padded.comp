#version 450
//! groups 2 1 1
//! push uint 6
//! buffer 0 uint 1 2 3 4 5 6
//! expect 0 uint 3 5 7 5 11 6
layout(local_size_x=4) in;
layout(push_constant) uniform P { uint n; };
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = gl_GlobalInvocationID.x;
    s[i] = at < n ? d[at] : 0;
    barrier();
    if (at < n) d[at] = s[i] + s[(i + 1) & 3u];
}
