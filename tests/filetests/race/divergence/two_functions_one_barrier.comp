#version 450
//! buffer 0 uint 0*2
//! expect 0 uint 2 1
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[2];
void meet() { barrier(); }
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i + 1;
    meet();
    into[i] = s[1 - i];
}
