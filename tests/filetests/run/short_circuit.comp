#version 450
//! buffer 0 uint 0*4
//! expect 0 uint 0 1 1 1
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
uint calls = 0;
bool touch(bool v) { calls++; return v; }
void main() {
    uint i = gl_LocalInvocationIndex;
    bool v = (i & 1u) == 1u && touch(true) || (i & 2u) == 2u && touch(true);
    r[i] = v ? calls : 0;
}
