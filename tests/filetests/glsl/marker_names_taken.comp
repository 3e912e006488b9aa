#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int vkcert_value(int x) { return x; }
void main() { int vkcert_mark = 3; if (vkcert_value(v[0]) > vkcert_mark) v[1] = 1; }
// decision: D1 if "vkcert_value(v[0]) > vkcert_mark" conditions=1
