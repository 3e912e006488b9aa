#version 450
//! buffer 0 float 1 2 3 4 5 6 7 9
//! push float 0.00001 uint 8
layout(local_size_x = 8) in;
layout(binding = 0) buffer Data { float data[]; };
layout(push_constant) uniform Settings { float epsilon; uint count; } settings;
shared vec2 sums[8];
void main() {
    const uint t = gl_LocalInvocationID.x;
    float v = t < settings.count ? data[t] : 0.0;
    sums[t] = vec2(v, v * v);
    barrier();
    for (int s = 4; s > 0; s /= 2) {
        if (t < s) sums[t] += sums[t + s];
        barrier();
    }
    float mean = sums[0].x / settings.count, variance = sums[0].y / settings.count - mean * mean;
    data[t] = (v - mean) * inversesqrt(variance + settings.epsilon);
}
