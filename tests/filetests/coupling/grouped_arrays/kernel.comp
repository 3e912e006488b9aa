#version 460
// Numbers without gaps agree however they are grouped.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(std430, set = 0, binding = 1) readonly buffer Input { float rows[][3]; };
layout(push_constant) uniform Sizes { uint n; float one[1]; float four[4]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(one[0], four[1], rows[i][2], 0);
    }
}
