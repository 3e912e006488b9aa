#version 450
//! buffer 0 int 0 0
//! push float 3e9
//! finding undefined-value 10
//! expect 0 int 2147483647 3
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { int r[]; };
layout(push_constant) uniform P { float z; };
void main() {
    r[0] = int(z); 
    r[1] = int(3.7);
}
