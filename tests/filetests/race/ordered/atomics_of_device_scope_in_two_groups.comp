#version 450
//! groups 2 1 1
//! buffer 0 uint 0
//! expect 0 uint 4
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=2) in;
layout(std430, set=0, binding=0) buffer Counter { uint counter; };
void main() {
    atomicAdd(counter, 1u, gl_ScopeDevice, 0, 0);
}
