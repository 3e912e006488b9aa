#version 460
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 1) in;
layout(binding = 0) uniform texture2D textures[];
layout(std430, binding = 1) buffer Out { int v[]; } outs[];
void main() {
    nonuniformEXT int at = outs[0].v[0];
    int lane = nonuniformEXT(at > 3 ? 1 : 2);
    int other = nonuniformEXT(lane + 1);
    if (texelFetch(textures[nonuniformEXT(at)], ivec2(0), 0).x > 0.5 && at < 4) outs[nonuniformEXT(other)].v[1] = 1;
}
// decision: D1 ternary "at > 3" conditions=1
// decision: D2 if "texelFetch(textures[nonuniformEXT(at)], ivec2(0), 0).x > 0.5 && at < 4" conditions=2
