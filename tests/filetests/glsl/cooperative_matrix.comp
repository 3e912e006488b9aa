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
#define ACCUMULATOR coopmat<float, gl_ScopeSubgroup, TM, TN, gl_MatrixUseAccumulator>
void store(const in coopmat<float, gl_ScopeSubgroup, 16, (2 > 1 ? 16 : 8), gl_MatrixUseAccumulator> m, uint at) {
    if (at + 16u <= rows) coopMatStore(m, c, at, 16u, gl_CooperativeMatrixLayoutRowMajor);
}
void main() {
    coopmat<float16_t, gl_ScopeSubgroup, TM, 16, gl_MatrixUseA> ma;
    coopmat<float16_t, gl_ScopeSubgroup, 16, TN, gl_MatrixUseB> mb =
        coopmat<float16_t, gl_ScopeSubgroup, 16, TN, gl_MatrixUseB>(0.0hf);
    ACCUMULATOR sums[2];
    coopmat<float, gl_ScopeSubgroup, 16, 16, gl_MatrixUseAccumulator> out_;
    coopMatLoad(ma, tile, 0, 16, gl_CooperativeMatrixLayoutRowMajor);
    for (int i = 0; i < 2; ++i) {
        sums[i] = ACCUMULATOR(accumulate && i > 0 ? 1.0 : 0.0);
        sums[i] = coopMatMulAdd(ma, mb, sums[i]);
        for (int e = 0; e < sums[i].length(); ++e) if (sums[i][e] < 0.0) sums[i][e] = 0.0;
    }
    store(out_, 0u);
}
// decision: D1 ternary "TM > 8" conditions=1 const=specialization unmarked
// decision: D2 ternary "2 > 1" conditions=1 const=constant unmarked
// decision: D3 if "at + 16u <= rows" conditions=1
// decision: D4 for "i < 2" conditions=1
// decision: D5 ternary "accumulate && i > 0" conditions=2
// decision: D6 for "e < sums[i].length()" conditions=1
// decision: D7 if "sums[i][e] < 0.0" conditions=1
