#version 450
//! buffer 0 uint 0 2 3 5
//! buffer 1 uint 0 2 1 0 2
//! buffer 2 float 1 2 3 4 5
//! buffer 3 float 1 1 2
//! buffer 4 float 0*3
layout(local_size_x = 4) in;
layout(binding = 0) buffer Starts { uint starts[]; };
layout(binding = 1) buffer Columns { uint columns[]; };
layout(binding = 2) buffer Values { float values[]; };
layout(binding = 3) buffer X { float x[]; };
layout(binding = 4) buffer Y { float y[]; };
void main() {
    uint row = gl_GlobalInvocationID.x;
    if (row + 1u >= uint(starts.length())) return;
    float sum = 0.0;
    for (uint k = starts[row], end = starts[row + 1u]; k < end; ++k) sum += values[k] * x[columns[k]];
    y[row] = sum;
}
