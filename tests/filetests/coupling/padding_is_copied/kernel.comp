#version 460
// Of a struct that is loaded as a whole it is not known what is used.
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
struct Item { float scale; uint gap; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Input { Item items[]; };
float weight(Item item) {
    return item.scale;
}
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        result[i] = vec4(weight(items[i]));
    }
}
