#version 450
//! buffer 0 uint 0 1 2 3 4 5 6 7
//! finding data-race 17 19
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint part[8];
shared uint total;
void main() {
    uint i = gl_LocalInvocationIndex;
    part[i] = d[i];
    if (i == 0) total = 0;
    barrier();
    if (i == 0) {
        uint sum = 0;
        for (uint k = 0; k < 8; k++) sum += part[k];
        total = sum;
    }
    d[i] = i * 10 + total;
}
