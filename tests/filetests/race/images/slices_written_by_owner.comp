#version 450
//! image 1 storage_image 3d r32ui 2x1x3 1 1 uint 0*6
//! expect 1 uint 1 1 2 2 0 0
layout(local_size_x=1, local_size_y=1, local_size_z=2) in;
layout(set=0, binding=1, r32ui) uniform uimage3D img;
void main() {
    int z = int(gl_LocalInvocationID.z);
    for (int k = 0; k < 2; k++) imageStore(img, ivec3(k, 0, z), uvec4(z + 1));
}
