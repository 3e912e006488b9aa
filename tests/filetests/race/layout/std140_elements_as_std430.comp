#version 450
//! buffer 0 uint 0*20
//! alias 1 0
//! finding data-race 11 12
//! unordered
layout(local_size_x=4) in;
layout(std140, set=0, binding=0) buffer Wide { uint wide[4]; };
layout(std430, set=0, binding=1) buffer Tight { uint tight[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    wide[i] = 1;
    if (i == 0) tight[8] = 2;
}
