#version 450
//! buffer 0 uint 0
//! finding uninitialized-read 8
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared bool flag;
void main() {
    if (flag) 
        r[0] = 1;
}
