#version 450
//! sequential-only
//! steps 2000000
//! buffer 0 uint 0 10
//! finding data-race 15 15
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=3) in;
layout(std430, set=0, binding=0) buffer Locked { uint lock; uint value; };
void main() {
    bool done = false;
    while (!done) {
        uint old = atomicCompSwap(lock, 0u, 1u, gl_ScopeDevice, 0, 0, 0, 0);
        if (old == 0u) {
            value += 2;
            atomicStore(lock, 0u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
            done = true;
        }
    }
}
