#version 450
//! buffer 0 uint 1 0 1 1
//! expect 0 uint 1 1 0 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    if (s[0] != 0) {
        d[i] = s[3 - i];
    }
}
