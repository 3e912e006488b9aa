#version 450
//! buffer 0 float 4 3 2 1
//! expect 0 float 7 5 3 5
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { float d[]; };
shared float s[4];
void publish(uint at, float value) {
    s[at] = value;
    barrier();
}
float fetch(uint at) {
    return s[at & 3u];
}
void main() {
    uint i = gl_LocalInvocationIndex;
    publish(i, d[i]);
    d[i] = d[i] + fetch(i + 1);
}
