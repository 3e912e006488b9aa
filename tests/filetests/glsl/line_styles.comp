#version 450
#extension GL_GOOGLE_cpp_style_line_directive : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define BASE 40
#define CHECK_LINE(n) (v[n] == __LINE__)
#line 10 "generated/part one.comp"
void first() { if (v[0] > __LINE__) v[1] = __LINE__; }
#line BASE + 2
bool second() {
    return CHECK_LINE(
        3) || v[4] == __LINE__;
}
#line (3 << 2) "other.comp"
void main() {
    first();
    if (second()) v[5] = __LINE__ +
        __LINE__;
}
// decision: D1 if "v[0] > __LINE__" conditions=1
// decision: D2 return "CHECK_LINE( 3) || v[4] == __LINE__" conditions=2
// decision: D3 if "second()" conditions=1
