#version 450
//! buffer 0 uint 0*2
//! finding uninitialized-read 11
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint a, b;
void main() {
    b = a;
    uint c = b;
    r[0] = 1;
    r[1] = c; 
}
