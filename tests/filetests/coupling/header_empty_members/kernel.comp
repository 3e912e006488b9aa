#version 460
// Members without a number hold no byte that is pushed.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { float result[]; };
layout(push_constant) uniform Scale { uint n; float factor; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = factor;
    }
}
