#version 450
//! buffer 0 uint 1 0 0 1 0 1 0 0
//! buffer 1 uint 1 2 3 4 5 6 7 8
//! buffer 2 uint 0*8
//! expect 2 uint 1 3 6 4 9 6 13 21
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer Heads { uint heads[]; };
layout(std430, set=0, binding=1) readonly buffer Values { uint values[]; };
layout(std430, set=0, binding=2) buffer Sums { uint sums[]; };
shared uint value[8], head[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    value[i] = values[i];
    head[i] = 0;
    head[i] = heads[i];
    barrier();
    uint sum = value[i];
    for (uint k = i; head[k] == 0; k--) sum += value[k - 1];
    sums[i] = sum;
}
