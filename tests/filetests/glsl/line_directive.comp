#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#line 100
void main() {
    v[0] = __LINE__;
#line 7 "elsewhere"
    if (v[0] == 101) v[1] = __LINE__;
}
// decision: D1 if "v[0] == 101" conditions=1
