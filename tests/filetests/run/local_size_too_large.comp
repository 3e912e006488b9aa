#version 450
// More invocations than a workgroup can have, asked for by a specialization constant.
//! buffer 0 uint 0
//! spec 3 100000
//! completion unsupported a local size of 100000 x 1 x 1
layout(local_size_x_id = 3) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
void main() { r[0] = 1u; }
