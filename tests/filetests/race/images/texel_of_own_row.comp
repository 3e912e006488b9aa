#version 450
//! image 1 storage_image 2d rgba32f 2x2 1 1 float 0*16
//! expect 1 float 0 0 0 1 0 0 0 1 0 1 0 1 0 1 0 1
layout(local_size_x=2, local_size_y=2) in;
layout(set=0, binding=1, rgba32f) uniform writeonly image2D img;
void main() {
    ivec2 at = ivec2(gl_LocalInvocationID.xy);
    imageStore(img, at, vec4(0.0, at.y, 0.0, 1.0));
}
