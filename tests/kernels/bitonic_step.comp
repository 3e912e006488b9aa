#version 450

// One step of a bitonic sort: compares elements whose indices differ in one bit and puts each pair into the order that its
// block of `block` elements asks for. Several dispatches in order sort the whole buffer.

layout(local_size_x = 8) in;

layout(std430, set = 0, binding = 0) buffer Keys { int keys[]; };

layout(push_constant) uniform Step {
    uint count;
    uint block;
    uint span;
    uint descending;
};

void exchange(inout int left, inout int right) {
    int kept = left;
    left = right;
    right = kept;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    uint partner = i ^ span;
    if (!(i < count) || partner <= i || partner >= count) {
        return;
    }
    int low = keys[i];
    int high = keys[partner];
    bool upwards = (i & block) == 0u ^^ descending != 0u;
    if (upwards && low > high || !upwards && low < high) {
        exchange(low, high);
        keys[i] = low;
        keys[partner] = high;
    }
}
