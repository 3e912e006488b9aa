#version 450
#extension GL_EXT_scalar_block_layout : require
layout(local_size_x = 4) in;
layout(set = 0, binding = 0, std430) uniform Values { float values[4]; };
layout(set = 0, binding = 1) buffer Results { float results[]; };
void main() {
    results[0] = values[1];
}
