#version 460
// Structs in an array: a difference in one lies as deep as its path tells.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
struct Light { vec4 place; float power; uint kind; };
layout(push_constant) uniform Scene { uint n; Light light[2]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = light[0].place * light[1].power + light[1].kind;
    }
}
