#version 450

// Counts the steps from 0 to `end`. A step of zero never arrives.

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Steps { uint steps; };

layout(push_constant) uniform Parameters {
    uint end;
    uint pace;
};

void main() {
    for (uint i = 0u; i < end; i += pace) {
        atomicAdd(steps, 1u);
    }
}
