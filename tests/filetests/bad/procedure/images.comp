#version 450
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 1) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint word[]; };
layout(binding = 0, rgba8) uniform image2D canvas;
layout(binding = 1) uniform texture2D picture;
layout(binding = 2) uniform sampler how;
layout(binding = 3) uniform sampler2DArray both;
layout(binding = 4) uniform usamplerBuffer texels;
layout(binding = 5) buffer Out { uint result[]; };
layout(push_constant) uniform P { Words link; uint n; };

void main() {
    vec4 seen = imageLoad(canvas, ivec2(0)) + textureLod(sampler2D(picture, how), vec2(0.5), 0.0);
    seen += textureLod(both, vec3(0.5), 0.0);
    result[0] = uint(seen.x) + texelFetch(texels, 0).x + link.word[n];
}
