#version 450
//! subgroup-size 4
//! buffer 0 uint 0*8
//! finding data-race 12 14
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=8) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[8];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    controlBarrier(gl_ScopeSubgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    into[i] = s[7 - i];
}
