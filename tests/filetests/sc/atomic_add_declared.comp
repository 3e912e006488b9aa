//! features shaderAtomicInstructions
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    atomicAdd(values[0], 1u);
}
