#version 450
//! buffer 0 float 0 1 2 3 4 5 6 7 8
//! buffer 1 float 0*16
//! push int 3 int 3 int 4 int 4
layout(local_size_x = 4, local_size_y = 4) in;
layout(binding = 0) readonly buffer In { float texel[]; };
layout(binding = 1) buffer Out { float made[]; };
layout(push_constant) uniform Sizes { ivec2 from; ivec2 to; } sizes;
void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= sizes.to.x || at.y >= sizes.to.y) return;
    vec2 place = (vec2(at) + 0.5) * vec2(sizes.from) / vec2(sizes.to) - 0.5;
    ivec2 low = ivec2(floor(place));
    vec2 part = fract(place);
    ivec2 high = min(low + 1, sizes.from - 1);
    low = max(low, 0);
    float top = mix(texel[low.y * sizes.from.x + low.x], texel[low.y * sizes.from.x + high.x], part.x);
    float bottom = mix(texel[high.y * sizes.from.x + low.x], texel[high.y * sizes.from.x + high.x], part.x);
    made[at.y * sizes.to.x + at.x] = mix(top, bottom, part.y);
}
