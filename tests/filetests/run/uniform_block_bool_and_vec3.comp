#version 450
//! uniform 1 uint 1 0 0 0 7 8 9 5
//! buffer 0 uint 0*5
//! expect 0 uint 1 7 8 9 5
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
layout(std140, set=0, binding=1) uniform U { bool b; uvec3 v; uint w; };
void main() {
    r[0] = b ? 1 : 0;
    r[1] = v.x; r[2] = v.y; r[3] = v.z; r[4] = w;
}
