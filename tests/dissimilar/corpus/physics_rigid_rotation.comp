#version 450
//! buffer 0 float 0.7071068 0 0 0.7071068 1 0 0 0
//! buffer 1 float 1 2 3 4
layout(local_size_x = 1) in;
layout(binding = 0) buffer Q { vec4 quaternion[2]; };
layout(binding = 1) buffer P { vec4 point; };
mat3 rotation(vec4 q) {
    float x = q.x, y = q.y, z = q.z, w = q.w;
    return mat3(1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
                2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
                2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y));
}
vec4 multiplied(vec4 a, vec4 b) { return vec4(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz)); }
void main() {
    mat3 r = rotation(quaternion[0]);
    point.xyz = r * point.xyz;
    quaternion[1] = multiplied(quaternion[0], quaternion[1]);
    point.w = determinant(r);
}
