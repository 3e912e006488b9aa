#version 450
//! buffer 0 float 0*8
//! expect 0 float 1 0.5 0 0 9 1.5 4 1
struct Item { float size; float weight; };
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Into { Item into[]; };
shared Item items[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    items[i].size = float(i * i);
    items[i].weight = 0.5 * float(i);
    barrier();
    into[i] = items[i ^ 1u];
}
