#version 450
//! buffer 0 uint 0 0
//! expect 0 uint 7 0
//! finding data-race 9 9
//! detail data-race same_value true
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[0] = 7; 
}
