#version 450
//! buffer 0 uint 0*2
//! completion error
//! finding barrier-divergence 8 9
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[2];
void produce() { barrier(); }
void consume() { barrier(); }
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i + 1;
    if (i == 0) produce(); else consume();
    into[i] = s[i];
}
