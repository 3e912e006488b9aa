#version 450
// A value of too many scalars is not listed one by one.
//! buffer 0 uint 7 0
//! completion unsupported scalars
layout(local_size_x = 1) in;
struct Large { uint values[100000]; };
layout(std430, set = 0, binding = 0) buffer R { uint r[]; };
Large make(uint seed) { Large l; l.values[seed] = seed; return l; }
void main() { r[1] = make(r[0]).values[r[0]]; }
