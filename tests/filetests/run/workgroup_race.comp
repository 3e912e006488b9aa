#version 450
//! buffer 0 uint 0*8
//! finding data-race 12 11
//! detail data-race memory workgroup
//! unordered
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i; 
    r[i] = s[(i + 1) % 8]; 
}
