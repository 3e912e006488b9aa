#version 450
//! buffer 0 uint 1 0 0 1 0 1 0 0
//! buffer 1 uint 1 2 3 4 5 6 7 8
//! buffer 2 uint 0*8
//! finding data-race 17 19
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) readonly buffer Heads { uint heads[]; };
layout(std430, set=0, binding=1) readonly buffer Values { uint values[]; };
layout(std430, set=0, binding=2) buffer Sums { uint sums[]; };
shared uint value[8], head[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    value[i] = values[i];
    head[i] = 0;
    barrier();
    head[i] = heads[i];
    uint sum = value[i];
    bool open = i > 0 && head[i - 1] == 0;
    if (open) sum = 0;
    sums[i] = i;
}
