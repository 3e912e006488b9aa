#version 450
//! buffer 0 uint 9 3 7 1 8 2 6 4
//! expect 0 uint 1 2 3 4 6 7 8 9
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = d[i];
    barrier();
    for (uint k = 2; k <= 8; k *= 2) {
        for (uint j = k / 2; j > 0; j /= 2) {
            uint other = i ^ j;
            if (other > i) {
                uint a = s[i], b = s[other];
                bool up = (i & k) == 0;
                s[i] = up ? min(a, b) : max(a, b);
                s[other] = up ? max(a, b) : min(a, b);
            }
            barrier();
        }
    }
    d[i] = s[i];
}
