#version 450
//! buffer 0 uint 3 9 2 9
//! expect 0 uint 0 6 0 6
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint busy;
void main() {
    uint i = gl_LocalInvocationIndex;
    uint left = d[i];
    for (uint k = 0; k < 8; k++) {
        if (i == 0) busy = 0;
        barrier();
        if (left >= 6) atomicOr(busy, 1u);
        barrier();
        uint seen = busy;
        barrier();
        if (seen == 0) break;
        if (left >= 6) left -= 1;
    }
    if (left < 5) left = 0;
    d[i] = left + (left > 0 ? 1 : 0);
}
