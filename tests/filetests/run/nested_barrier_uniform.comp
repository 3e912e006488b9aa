#version 450
//! push uint 1
//! buffer 0 uint 0*4
//! expect 0 uint 3 2 1 0
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint s[8];
layout(push_constant) uniform P { uint on; };
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    if (on == 1) {
        for (uint k = 0; k < 3; k++) {
            if (k == 1) { barrier(); }
        }
    }
    r[i] = s[3 - i];
}
