#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void main() {
    int16_t s = 1s, s2 = 0x7fS, s3 = 017s;
    uint16_t us = 2us, us2 = 0xffffUS, us3 = 07us;
    int64_t l = 3l, l2 = 0x7fffffffffffffffL, l3 = 0777l;
    uint64_t ul = 4ul, ul2 = 0xffffffffffffffffUL, ul3 = 01ul;
    uint u = 5u, u2 = 0XffU, u3 = 017u, u4 = 0u;
    float16_t h = 1.0hf, h2 = .5HF, h3 = 1e2hf, h4 = 2.hf;
    double d = 1.0lf, d2 = 1e-3LF, d3 = .25lf, d4 = 2.LF;
    float f = 1.0f, f2 = 1e3F, f3 = .5, f4 = 5., f5 = 1.5e+3, f6 = 0e0, f7 = 00.5, f8 = 1E5, f9 = 089.5;
    if (s == 1s && us < 3us || l >= -4l) v[0] = 1;
    if (ul > 0x10ul ^^ u != 0u) v[1] = 2;
    if (h > 0.5hf && d < 2.0lf && f <= 1.0e1f) v[2] = int(s2 + s3) + int(us2 + us3) + int(l2 + l3 + int64_t(ul2 + ul3));
    v[3] = int(u2 + u3 + u4) + int(h2 + h3 + h4) + int(d2 + d3 + d4) + int(f2 + f3 + f4 + f5 + f6 + f7 + f8 + f9);
}
// decision: D1 if "s == 1s && us < 3us || l >= -4l" conditions=3
// decision: D2 if "ul > 0x10ul ^^ u != 0u" conditions=2
// decision: D3 if "h > 0.5hf && d < 2.0lf && f <= 1.0e1f" conditions=3
