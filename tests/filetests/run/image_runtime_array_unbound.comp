#version 450
#extension GL_EXT_nonuniform_qualifier : require
//! vulkan 1.2
//! buffer 0 uint 4*99
//! image 1.1 storage_image 2d r32ui 1x1 1 1 uint 6
//! expect 0 uint 0 6 0 0
//! finding out-of-bounds 14
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1, r32ui) uniform readonly uimage2D images[];
void main() {
    uint at = gl_LocalInvocationIndex;
    // Nothing is bound to element 0, and there is none behind element 1.
    a[at] = imageLoad(images[nonuniformEXT(at)], ivec2(0)).x;
}
