#version 450
//! buffer 0 uint 0
//! completion unsupported Float64
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    double d = double(r[0]);
    r[0] = uint(d * 2.0);
}
