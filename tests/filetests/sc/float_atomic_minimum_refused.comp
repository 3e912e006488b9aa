//! features shaderAtomicInstructions
//! refused capability AtomicFloat32MinMaxEXT (Vulkan SC 1.0 has no feature shaderBufferFloat32AtomicMinMax, shaderSharedFloat32AtomicMinMax or shaderImageFloat32AtomicMinMax) at word _
//! refused extension SPV_EXT_shader_atomic_float_min_max (not part of Vulkan SC 1.0) at word _
//! refused 32-bit float min and max atomics in buffers (no extension of Vulkan SC 1.0 has them)
#version 450
#extension GL_EXT_shader_atomic_float2 : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };
void main() {
    atomicMin(values[0], 1.0);
}
