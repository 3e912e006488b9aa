#version 450

// Counts the iterations of two nested loops. Ends, and needs no more than a moment.

layout(local_size_x = 1) in;

layout(std430, set = 0, binding = 0) buffer Count { uint count; };

layout(push_constant) uniform Parameters {
    uint outer;
    uint inner;
};

void main() {
    uint iterations = 0u;
    for (uint i = 0u; i < outer; ++i) {
        for (uint j = 0u; j < inner; ++j) {
            iterations += 1u;
        }
    }
    count = iterations;
}
