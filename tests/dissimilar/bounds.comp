#version 450
layout(local_size_x = 8) in;
layout(binding = 0) buffer X { float x[]; };
layout(binding = 1) buffer Y { vec4 y[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    mat3 m = mat3(x[i], 1.3, 0.7, 2.9, x[i] + 1.7, 0.1, 3.3, 0.9, x[i] - 5.1);
    bool is_large = x[i] > 1.0 && i < 7u;
    y[i] = vec4(determinant(m), inverse(m)[1].y, tan(x[i]), is_large ? sinh(x[i]) : smoothstep(0.0, 3.0, x[i]));
}
