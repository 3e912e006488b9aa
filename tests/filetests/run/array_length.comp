#version 450
//! buffer 0 uint 0*7
//! range 0 20
//! expect 0 uint 5 0
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    r[0] = uint(r.length());
}
