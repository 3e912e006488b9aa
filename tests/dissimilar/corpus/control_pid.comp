#version 450
//! buffer 0 float 1 0 0 0 0.5 0 0 0
layout(local_size_x = 2) in;
struct Loop { float error, integral, last; };
layout(binding = 0) buffer L { Loop loops[2]; float outputs[2]; };
const vec3 GAIN = vec3(2.0, 0.5, 0.1);
void main() {
    uint i = gl_LocalInvocationID.x;
    Loop l = loops[i];
    l.integral = clamp(l.integral + l.error * 0.01, -1.0, 1.0);
    float derivative = (l.error - l.last) / 0.01;
    outputs[i] = dot(GAIN, vec3(l.error, l.integral, derivative));
    l.last = l.error;
    loops[i] = l;
}
