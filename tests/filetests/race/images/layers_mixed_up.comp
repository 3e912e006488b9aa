#version 450
//! image 1 storage_image 2d r32i 2x1 2 1 int 0*4
//! finding data-race 9 9
//! unordered
layout(local_size_x=2, local_size_y=1, local_size_z=2) in;
layout(set=0, binding=1, r32i) uniform iimage2DArray img;
void main() {
    ivec3 at = ivec3(gl_LocalInvocationID);
    imageStore(img, ivec3(at.x, 0, 0), ivec4(10 * at.z + at.x));
}
