//! refused a dynamic index into the array `buffers` (feature shaderStorageBufferArrayDynamicIndexing, not in sc_features)
#version 450
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; } buffers[2];
void main() {
    buffers[gl_WorkGroupID.x & 1u].values[0] = 1u;
}
