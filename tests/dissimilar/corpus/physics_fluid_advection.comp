#version 450
//! buffer 0 float 1 0 0.5 0 -1 0.25 0 0.75
//! buffer 1 float 1 2 3 4
//! buffer 2 float 0*4
//! uniform 3 float 0.5 0.5 4 0.9
layout(local_size_x = 4) in;
layout(std140, binding = 3) uniform Grid { vec2 cell; float width; float damping; } grid;
layout(binding = 1) buffer D { float density[]; };
layout(binding = 2) buffer O { float moved[]; };
layout(binding = 0) buffer V { vec2 velocity[]; };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    float back = clamp(float(i) - velocity[i].x * grid.cell.x / grid.cell.y, 0., grid.width - 1.);
    int left = int(back), right = min(left + 1, 3);
    moved[i] = mix(density[left], density[right], back - left) * grid.damping;
}
