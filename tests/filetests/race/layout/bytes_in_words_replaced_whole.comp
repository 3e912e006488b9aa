#version 450
//! buffer 0 hex 0
//! finding data-race 9 9
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i / 4] = bitfieldInsert(d[i / 4], i + 1, int(8 * i), 8);
}
