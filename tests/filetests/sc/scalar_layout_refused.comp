//! refused the layout of a block (feature scalarBlockLayout, not in sc_features): _
#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, scalar) buffer Values { float first; vec3 rest[]; };
void main() {
    rest[0] = vec3(first);
}
