#version 450
// Minimum clearance along a flight path over a height grid.
// groups: 1 1 1
// buffer: 0 int 256 random 241 0 90
// buffer: 1 int 16 zero
// push: {"climb": 3, "required": 25}
layout(local_size_x = 16) in;
layout(std430, binding = 0) readonly buffer Heights { int height[]; };
layout(std430, binding = 1) writeonly buffer Result { int result[]; };
layout(push_constant) uniform P { int climb; int required; };
void main() {
    int me = int(gl_GlobalInvocationID.x), x = 0, y = me, altitude = 70, least = 1000, error = 0;
    do {
        int clearance = altitude - height[y * 16 + x];
        if (clearance < least) least = clearance;
        if (clearance < required && altitude < 120) altitude += climb;
        error += 5;
        if (error >= 16 && y < 15) { error -= 16; y++; }
    } while (++x < 16 && least > -50);
    result[me] = x < 16 || least < 0 ? -1 : least < required ? 1 : 0;
}
