#version 450
//! buffer 0 float 0.1 -0.4 0.8 1.5
//! buffer 1 hex 0*6
layout(local_size_x = 1) in;
layout(binding = 0) buffer X { vec4 x; };
layout(binding = 1) buffer Y { uint y[]; };
void main() {
    y[0] = packSnorm4x8(x);
    y[1] = packUnorm2x16(x.xz);
    y[2] = packSnorm2x16(x.yw);
    x = vec4(unpackSnorm2x16(y[2]), unpackUnorm2x16(y[1]));
    y[3] = packUnorm4x8(abs(unpackSnorm4x8(y[0])));
    y[4] = floatBitsToUint(faceforward(x.xyz, x.zyx, x.yzx).y);
    y[5] = uint(200 + dot(refract(normalize(x.xyz), vec3(0, 1, 0), 0.9), vec3(100)));
}
