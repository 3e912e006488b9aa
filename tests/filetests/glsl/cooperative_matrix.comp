#version 460
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint TM = 16;
const uint TN = TM > 8 ? 16 : 8;
layout(std430, binding = 0) buffer A { float16_t a[]; };
layout(std430, binding = 1) buffer C { float c[]; };
layout(push_constant) uniform P { uint rows; bool accumulate; };
shared float16_t tile[256];
void store(const in coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> m, uint at) {
    if (at + 16u <= rows) coopMatStore(m, c, at, 16u, gl_CooperativeMatrixLayoutRowMajor);
}
void main() {
    coopmat<float16_t, gl_ScopeSubgroup, TM, 16, gl_MatrixUseA> ma;
    coopmat<float16_t, gl_ScopeSubgroup, 16, (TN > 4 ? TN : 4), gl_MatrixUseB> mb =
        coopmat<float16_t, gl_ScopeSubgroup, 16, (TN > 4 ? TN : 4), gl_MatrixUseB>(0.0hf);
    coopmat<float, gl_ScopeSubgroup, TM, (TN > 4 ? TN : 4), gl_MatrixUseAccumulator> sums[2];
    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> out_;
    coopMatLoad(ma, tile, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
    for (int i = 0; i < 2; ++i) {
        sums[i] = coopMatMulAdd(ma, mb, accumulate && i > 0 ? sums[0] : sums[i]);
        for (int e = 0; e < sums[i].length(); ++e) if (sums[i][e] < 0.0) sums[i][e] = 0.0;
    }
    store(out_, 0u);
}
