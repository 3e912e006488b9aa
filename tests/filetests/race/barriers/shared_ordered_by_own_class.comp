#version 450
//! buffer 0 uint 0*6
//! expect 0 uint 5 0 1 2 3 4
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[6];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    into[i] = s[(i + 5) % 6];
}
