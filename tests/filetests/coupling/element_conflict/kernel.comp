#version 460
// Interface and header contradict each other about the elements of a buffer.
layout(local_size_x = 64) in;
struct Inner { uint first; uint second; };
struct Pair { Inner inner; float weight; };
layout(std430, set = 0, binding = 0) buffer Result { vec4 result[]; };
layout(push_constant) uniform Sizes { uint n; };
layout(std430, set = 0, binding = 1) readonly buffer Pairs { Pair pairs[]; };
layout(std430, set = 0, binding = 2) readonly buffer Numbers { float numbers[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < n) {
        Pair pair = pairs[i];
        result[i] = vec4(pair.inner.first, pair.inner.second, pair.weight, numbers[i]);
    }
}
