#version 450
// Iterations until a point escapes: loops of different length side by side.
layout(local_size_x = 16, local_size_y = 16) in;
layout(std430, set = 0, binding = 0) writeonly buffer Image { uint image[]; };
layout(push_constant) uniform Parameters { uint width; uint height; uint most; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x < width && at.y < height) {
        vec2 c = vec2(at % 256u) / 128.0 - vec2(1.5, 1.0);
        vec2 z = vec2(0.0);
        uint n = 0u;
        while (n < most && dot(z, z) <= 4.0) {
            z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
            n++;
        }
        image[at.y * width + at.x] = n;
    }
}
