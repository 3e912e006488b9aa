#version 450
//! buffer 0 uint 3 1 4 1 5 9 2 6
//! finding data-race 13 13
//! detail data-race memory workgroup
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    s[i] = s[(i + 3) & 7];
    d[i] = s[i];
}
