#version 450
#extension GL_KHR_memory_scope_semantics : require
//! buffer 0 uint 0*8
//! finding data-race 12 10
//! unordered
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer R { uint r[]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    r[i] = i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    r[4 + i] = r[(i + 1) % 4];
}
