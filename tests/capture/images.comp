#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0) uniform sampler2D source;
layout(binding = 1, r32ui) uniform uimage2D result;

void main() {
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, imageSize(result)))) return;
    uint red = uint(texelFetch(source, texel, 0).r * 255.0 + 0.5);
    imageStore(result, texel, uvec4(imageLoad(result, texel).r + red));
}
