#version 450
//! buffer 0 uint 1 2 3 4
//! texel-alias 1 0 storage_texel r32ui
//! texel-alias 2 0 storage_texel r32ui
//! neighbour buffer 0 uint 1 2 3 1
//! finding undefined-value 11
layout(local_size_x=1) in;
layout(set=0, binding=1, r32ui) restrict readonly uniform uimageBuffer from;
layout(set=0, binding=2, r32ui) writeonly uniform uimageBuffer into;
void main() {
    imageStore(into, int(imageLoad(from, 3).x) - 1, uvec4(7));
}
