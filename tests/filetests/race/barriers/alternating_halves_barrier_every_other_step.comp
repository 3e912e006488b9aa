#version 450
//! buffer 0 uint 1 0 0 0
//! finding data-race 14 14
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { uint d[]; };
shared uint s[2][4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[0][i] = d[i];
    s[1][i] = 0;
    barrier();
    for (uint k = 0; k < 3; k++) {
        s[(k + 1) & 1u][i] = s[k & 1u][(i + 3) & 3u];
        if (k == 1) barrier();
    }
    d[i] = s[1][i];
}
