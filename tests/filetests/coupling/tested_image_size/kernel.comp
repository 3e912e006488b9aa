#version 460
// Tests bind images of the sizes that the host gives them.
layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, r32ui) uniform writeonly uimage2D picture;
void main() {
    ivec2 place = ivec2(gl_GlobalInvocationID.xy);
    if (all(lessThan(place, imageSize(picture)))) {
        imageStore(picture, place, uvec4(1u));
    }
}
