//! features shaderInt64 shaderAtomicInstructions shaderSharedInt64Atomics
//! refused 64-bit integer atomics in buffers (feature shaderBufferInt64Atomics, not in sc_features)
#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint64_t values[]; };
void main() {
    atomicAdd(values[0], 1ul);
}
