#version 450
// Counts the values above a limit.
layout(local_size_x = 4) in;
layout(set = 0, binding = 0) readonly buffer Values { uint values[]; };
layout(set = 0, binding = 1) buffer Result { uint above; };
layout(push_constant) uniform Parameters { uint limit; };

void main() {
    if (values[gl_GlobalInvocationID.x] > limit) {
        atomicAdd(above, 1u);
    }
}
