#version 450
//! buffer 0 uint 1 2 3 4
//! range 0 8
//! uniform 1 uint 5 6 7 8
//! expect 0 uint 7 2 3 4
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[64]; };
layout(std140, set=0, binding=1) uniform U { uvec4 u[8]; };
layout(push_constant) uniform P { uint never[4]; };
void main() {
    if (r[1] == 2u) r[0] = u[0].z;
}
