#version 450
//! buffer 0 float 0*12
//! push float 2.5
//! expect 0 float 2 3 2 0.5 6.25 5 1 2.5 1 0.5 -1 2
layout(local_size_x=1) in;
layout(std430, set=0, binding=0) buffer R { float r[]; };
layout(push_constant) uniform P { float x; };
void main() {
    r[0] = floor(x); r[1] = ceil(x); r[2] = roundEven(x); r[3] = fract(x);
    r[4] = pow(x, 2.0); r[5] = mix(0.0, 10.0, x / 5.0); r[6] = step(2.0, x);
    r[7] = clamp(x, 0.0, 3.0); r[8] = sign(x); r[9] = smoothstep(2.0, 3.0, x);
    r[10] = float(findMSB(0)); r[11] = float(bitCount(5u));
}
