#version 450
#extension GL_EXT_null_initializer : require
//! buffer 0 uint 9*12
//! expect 0 uint 0 0 0 0 0 0 0 0 0 0 0 0
//! vulkan 1.2
//! sequential-only
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
struct Pair { uint first; float second; };
shared uint number = { };
shared bool truth = { };
shared vec2 vector = { };
shared Pair pair = { };
shared uint array[2] = { };
void main() {
    uint at = gl_LocalInvocationIndex;
    a[at] = number + uint(truth);
    a[4 + at] = floatBitsToUint(vector.y) + pair.first + floatBitsToUint(pair.second);
    a[8 + at] = array[at % 2];
}
