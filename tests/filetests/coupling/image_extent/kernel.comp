#version 460
// The size of an image is computed as the host computes it.
layout(local_size_x = 1) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D picture;
void main() {
    imageStore(picture, ivec2(0), uvec4(1u));
}
