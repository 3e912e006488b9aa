#version 450
//! spec-memory-model
//! buffer 0 float 5 6 7 8 0*4
//! finding data-race 11 13
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=4) in;
layout(std430, set=0, binding=0) buffer Data { float d[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    d[i] = d[i] + float(5);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeInvocation, 0, 0);
    d[4 + i] = d[(i + 1) % 4];
}
