#version 450
//! buffer 0 uint 19 33 2 17 50 34 18 1
//! buffer 1 uint 0*4
layout(local_size_x = 8) in;
layout(binding = 0) buffer K { uint keys[]; };
layout(binding = 1) buffer C { uint counts[4]; };
#define DIGIT(value, shift) bitfieldExtract((value), int(shift), 2)
void main() {
    uint digit = DIGIT(keys[gl_GlobalInvocationID.x], 4u);
    atomicAdd(counts[digit], 1u);
}
