#version 450
//! image 1 storage_image 2d rgba32f 2x2 1 1 float 0*16
//! finding data-race 9 9
//! unordered
layout(local_size_x=2, local_size_y=2) in;
layout(set=0, binding=1, rgba32f) uniform writeonly image2D img;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    imageStore(img, ivec2(at.x, 0), vec4(0.0, at.y, 0.0, 1.0));
}
