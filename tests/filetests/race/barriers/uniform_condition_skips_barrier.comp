#version 450
//! push uint 0
//! buffer 0 uint 0*4
//! finding data-race 12 14
//! unordered
layout(local_size_x=4) in;
layout(push_constant) uniform P { uint careful; };
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[4];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    if (careful == 1) barrier();
    into[i] = s[(i + 3) & 3u];
}
