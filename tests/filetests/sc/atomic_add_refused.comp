//! refused instruction OpAtomicIAdd (feature shaderAtomicInstructions, not in sc_features) in `main` at atomic_add_refused.comp:7
//! refused instruction OpAtomicExchange (feature shaderAtomicInstructions, not in sc_features) in `main` at atomic_add_refused.comp:9
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    atomicAdd(values[0], 1u);
    atomicAdd(values[1], 1u);
    atomicExchange(values[2], 1u);
}
