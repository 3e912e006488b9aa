#version 450
//! buffer 0 uint 0
//! spec 3 0
//! completion unsupported a local size of 0 x 1 x 1
layout(local_size_x_id = 3) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() { r[0] = 1u; }
