//! refused instruction OpAtomicUMax (feature shaderAtomicInstructions, not in sc_features) in `spare` at atomic_unreached_refused.comp:6
#version 450
layout(local_size_x = 4) in;
shared uint most;
void spare(uint x) {
    atomicMax(most, x);
}
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    values[0] = 1u;
}
