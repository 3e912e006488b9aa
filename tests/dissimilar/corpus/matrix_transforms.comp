#version 450
//! buffer 0 float 2 0 0 0 0 3 0 0 0 0 4 0 1 2 3 1
//! buffer 1 float 1 1 1 1 2 3 4 1
//! buffer 2 float 0*8
layout(local_size_x = 2) in;
layout(std430, binding = 0) buffer M { mat4 model; };
layout(std430, binding = 1) buffer P { vec4 points[]; };
layout(std430, binding = 2) buffer N { vec4 normals[]; };
void main() {
    uint i = gl_LocalInvocationID.x;
    mat3 normal_matrix = transpose(inverse(mat3(model)));
    normals[i] = vec4(normalize(normal_matrix * points[i].xyz), determinant(model));
    points[i] = model * points[i];
    points[i].xyz /= points[i].w;
}
