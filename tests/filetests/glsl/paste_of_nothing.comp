#version 450
// accuracy: lines-only
// An empty operand of `##` behind another one: the compiler pastes the parameter's own name. Measured on its text.
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define JOIN3(a, b, c) a##b##c
void main() {
    int abbc = v[0], abc = v[1];
    if (JOIN3(ab, , c) > 1) v[2] = 1;
}
// decision: D1 if "if (JOIN3(ab, , c) > 1) v[2] = 1;" conditions=1
