#version 450
#extension GL_EXT_shader_8bit_storage : require
//! vulkan 1.2
//! buffer 0 uint 1 2 3 4
//! alias 1 0 0
//! neighbour alias 1 0 4
//! finding undefined-value 16
//! finding undefined-value 16
//! finding undefined-value 17
layout(local_size_x=1) in;
struct Pair { uint8_t first; uint8_t second; };
layout(std430, set=0, binding=0) restrict readonly buffer From { Pair from[1]; };
layout(std430, set=0, binding=1) buffer Into { Pair into[]; };
void main() {
    into[0].first = from[0].second;
    into[0].second = from[0].first;
    into[0].first = into[0].second;
}
