#version 450
#extension GL_EXT_nonuniform_qualifier : require
//! vulkan 1.2
//! buffer 0 uint 4*99
//! image 1 storage_image 2d r32ui 1x1 1 1 uint 5
//! image 1.1 storage_image 2d r32ui 1x1 1 1 uint 6
//! image 1.2 storage_image 2d r32ui 1x1 1 1 uint 7
//! image 2.1 combined 2d r32ui 2x1 1 1 uint 30 40
//! expect 0 uint 105 86 97 85
//! sequential-only
layout(local_size_x = 4) in;
layout(std430, set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1, r32ui) uniform readonly uimage2D images[];
layout(set = 0, binding = 2) uniform usampler2D pictures[];
void main() {
    uint at = gl_LocalInvocationIndex;
    uint own = imageLoad(images[nonuniformEXT(at % 3)], ivec2(0)).x;
    uint seen = textureLod(pictures[nonuniformEXT(1)], vec2(at % 2 == 0 ? 0.75 : 0.25, 0.5), 0.0).x;
    a[at] = own + 2 * seen + (at == 0 ? 20 : at == 1 ? 20 : at == 2 ? 10 : 20);
}
