#version 450
layout(local_size_x = 4) in;

layout(std430, set = 0, binding = 0) readonly buffer Samples {
    uint samples[];
};
layout(std430, set = 0, binding = 1) buffer Alarm {
    uint raised;
};
layout(push_constant) uniform Limits {
    uint count;
    uint limit;
};

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < count && samples[i] > limit) {
        raised = 1u;
    }
}
