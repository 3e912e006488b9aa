#version 450
// The compiler leaves out what nothing calls: the module has no atomic.
layout(local_size_x = 4) in;
shared uint most;
void spare(uint x) {
    atomicMax(most, x);
}
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() {
    values[0] = 1u;
}
