#version 450
//! buffer 0 float 1 1 1 1 1 1
//! buffer 1 uint 1 0 0 1 0 1
//! buffer 2 float 0*6
layout(local_size_x = 1) in;
layout(binding = 0) buffer V { float values[]; };
layout(binding = 1) buffer H { uint heads[]; };
layout(binding = 2) buffer R { float sums[]; };
void main() {
    float running = 0;
    for (int i = 0; i < values.length(); i++) {
        running = bool(heads[i]) ? values[i] : running + values[i];
        sums[i] = running;
    }
}
