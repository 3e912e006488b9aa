#version 450
//! spec 0 4294967289
//! buffer 0 int 0*3
//! finding uninitialized-read 8
//! expect 0 int 1 -1
layout(local_size_x=1) in;
layout(constant_id=0) const int seven = 7;
const int fine = -seven % 3, undefined = seven % 3;
layout(std430, set=0, binding=0) buffer R { int r[]; };
void main() {
    r[0] = fine; r[1] = -1; if (undefined == 0) r[2] = 1;
}
