#version 450
layout(local_size_x_id = 0) in;
layout(push_constant) uniform Parameters { uint count; float factor; };
layout(set = 0, binding = 0, std430) buffer Values { float values[]; };

void main() {
    uint index = gl_GlobalInvocationID.x;
    if (index < count) values[index] *= factor;
}
