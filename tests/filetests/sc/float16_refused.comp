//! refused capability Float16 (feature shaderFloat16, not in sc_features) at word _
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };
void main() {
    float16_t small = float16_t(values[0]);
    values[0] = float(small * small);
}
