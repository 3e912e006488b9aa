#version 450
//! buffer 0 float 1 2 3 4
layout(local_size_x = 1) in;
layout(binding = 0) buffer Float { float template_value, new, EOF, r; };
#define half_of(x) ((x) * 0.5)
const float NAN_LIMIT = 1e30, INT_MAX = 7.0, E = 2.7;
struct Vec { float raw; float value; };
float part(float stop) { return stop + 1.0; }
float mix(float a) { return a * 3.0; }
float dot(float x) { return mix(x, 2.0, 0.5) + part(x) + mix(x); }
float joined(Vec v) { return v.raw - v.value; }
void main() {
    float std = INT_MAX, errno = E, not_ = 1.0, and_eq = std;
    Vec label = Vec(new, EOF);
    r = dot(r) + half_of(std) + min(errno, NAN_LIMIT) + joined(label) + not_ + and_eq;
    template_value = label.raw;
}
