#version 450
//! buffer 0 uint 0*6
//! finding data-race 12 14
//! detail data-race memory workgroup
//! unordered
#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x=6) in;
layout(std430, set=0, binding=0) buffer Into { uint into[]; };
shared uint s[6];
void main() {
    uint i = gl_LocalInvocationIndex;
    s[i] = i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    into[i] = s[(i + 5) % 6];
}
