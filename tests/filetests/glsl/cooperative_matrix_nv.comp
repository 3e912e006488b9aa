#version 460
#extension GL_KHR_cooperative_matrix : require
#extension GL_NV_cooperative_matrix2 : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_buffer_reference : require
layout(local_size_x = 128) in;
layout(std430, binding = 0) buffer A { float16_t a[]; };
layout(std430, binding = 1) buffer Out { int v[]; };
float16_t relu(const in uint row, const in uint column, const in float16_t x) {
    return x > 0.0hf && row != column ? x : 0.0hf;
}
void main() {
    coopmat<float16_t, gl_ScopeWorkgroup, 16, 16, gl_MatrixUseA> m;
    tensorLayoutNV<2> layout_ = createTensorLayoutNV(2);
    tensorLayoutNV<2, gl_CooperativeMatrixClampModeConstantNV> clamped = createTensorLayoutNV(2, gl_CooperativeMatrixClampModeConstantNV);
    tensorViewNV<2, false, 1, 0> turned = createTensorViewNV(2, false, 1, 0);
    layout_ = setTensorLayoutDimensionNV(layout_, v[0] > 1 ? 32 : 16, 16);
    coopMatLoadTensorNV(m, a, 0, sliceTensorLayoutNV(layout_, 0, 16, 0, 16));
    coopMatPerElementNV(m, m, relu);
    if (v[1] > 0) v[2] = int(m[0]);
}
// decision: D1 ternary "x > 0.0hf && row != column" conditions=2
// decision: D2 ternary "v[0] > 1" conditions=1
// decision: D3 if "v[1] > 0" conditions=1
