#version 460
// A group count that can be negative, which vkCmdDispatch takes for a large one.
layout(local_size_x = 1) in;
layout(std430, set = 0, binding = 0) buffer Result { uint result[]; };
void main() {
    result[0] = 1u;
}
