#version 450
// Less than can be addressed, and more than a test may use.
//! buffer 0 uint 7 0
//! completion undetermined
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
shared uint large[500000000];
void main() {
    large[r[0]] = 1u;
    r[1] = large[r[0]];
}
