#version 450
//! buffer 0 hex 0 0
//! finding data-race 9 9
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[2]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    vec2 both = unpackHalf2x16(d[i / 2]); both[i % 2] = float(i + 1); d[i / 2] = packHalf2x16(both);
}
