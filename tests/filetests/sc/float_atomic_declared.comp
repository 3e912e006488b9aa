//! features shaderAtomicInstructions shaderBufferFloat32AtomicAdd
#version 450
#extension GL_EXT_shader_atomic_float : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { float values[]; };
void main() {
    atomicAdd(values[0], 1.0);
}
