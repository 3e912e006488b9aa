#version 450
// Whether a call gives one Boolean is told by the types of its arguments; where they are unknown it is taken for one.
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { float v[]; };
layout(binding = 1) uniform sampler2D picture;
layout(binding = 2) uniform texture2D bare;
layout(binding = 3) uniform sampler how;
layout(binding = 4, rgba32f) uniform image2D target;
struct Pair { float left; };
bool chosen(float n) { return n > 0.0; }
float chosen(int n) { return float(n); }
bool chosen(vec2 n, Pair p) { return n.x > p.left; }
void main() {
    v[0] = float(isnan(texture(picture, vec2(0.0)).x));
    v[1] = float(any(isnan(texelFetch(picture, ivec2(0), 0))));
    v[2] = float(isinf(textureLod(sampler2D(bare, how), vec2(0.0), 0.0)).y == isnan(imageLoad(target, ivec2(0)).w));
    v[3] = float(chosen(v[0] * 2.0)) + chosen(1) + float(chosen(vec2(1), Pair(2.0)) == chosen(3.0));
    v[4] = float(chosen(textureSize(picture, 0).x));
}
// decision: D1 return "n > 0.0" conditions=1
// decision: D2 return "n.x > p.left" conditions=1
// decision: D3 argument "isnan(texture(picture, vec2(0.0)).x)" conditions=1
// decision: D4 argument "any(isnan(texelFetch(picture, ivec2(0), 0)))" conditions=1
// decision: D5 argument "isinf(textureLod(sampler2D(bare, how), vec2(0.0), 0.0)).y == isnan(imageLoad(target, ivec2(0)).w)" conditions=1
// decision: D6 expression "isinf(textureLod(sampler2D(bare, how), vec2(0.0), 0.0)).y" conditions=1
// decision: D7 expression "isnan(imageLoad(target, ivec2(0)).w)" conditions=1
// decision: D8 argument "chosen(v[0] * 2.0)" conditions=1
// decision: D9 argument "chosen(vec2(1), Pair(2.0)) == chosen(3.0)" conditions=1
// decision: D10 expression "chosen(vec2(1), Pair(2.0))" conditions=1
// decision: D11 expression "chosen(3.0)" conditions=1
// decision: D12 argument "chosen(textureSize(picture, 0).x)" conditions=1 unmarked
