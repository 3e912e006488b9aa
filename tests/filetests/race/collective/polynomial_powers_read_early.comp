#version 450
//! push float 2
//! buffer 0 float 1 1 1 1
//! buffer 1 float 0
//! finding data-race 14 15
//! unordered
layout(local_size_x=4) in;
layout(push_constant) uniform P { float x; };
layout(std430, set=0, binding=0) readonly buffer Coefficients { vec4 c; };
layout(std430, set=0, binding=1) buffer Into { float into; };
shared vec4 powers;
void main() {
    uint i = gl_LocalInvocationIndex;
    powers[i] = pow(x, float(i));
    if (i == 0) into = dot(powers, c);
}
