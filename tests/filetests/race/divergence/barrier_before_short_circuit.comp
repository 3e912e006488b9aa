#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 0 0 1 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
bool ready(uint at) {
    barrier();
    return s[at] > 0;
}
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    bool next = ready((i + 1) & 3u);
    if (i > 1 && next) into[i] = 1;
}
