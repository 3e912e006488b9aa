#version 450
//! buffer 0 uint 7 0
//! completion unsupported workgroup memory of 4 GiB or more
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
shared uint large[1073741824];
void main() {
    large[r[0]] = 1u;
    r[1] = large[r[0]];
}
