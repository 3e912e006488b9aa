#version 450
// Median of three by three with a network of conditional swaps.
// groups: 2 2 1
// buffer: 0 uint 100 random 41 0 255
// buffer: 1 uint 100 zero
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) readonly buffer In { uint source[]; };
layout(std430, binding = 1) writeonly buffer Out { uint target[]; };
#define ORDER(i, j) if (w[i] > w[j]) { uint t = w[i]; w[i] = w[j]; w[j] = t; }
void main() {
    ivec2 p = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(p, ivec2(10)))) return;
    uint w[9];
    for (int i = 0; i < 9; ++i) {
        ivec2 q = p + ivec2(i % 3 - 1, i / 3 - 1);
        bool inside = q.x >= 0 && q.y >= 0 && q.x < 10 && q.y < 10;
        w[i] = inside ? source[q.y * 10 + q.x] : source[p.y * 10 + p.x];
    }
    ORDER(0, 1) ORDER(3, 4) ORDER(6, 7) ORDER(1, 2) ORDER(4, 5) ORDER(7, 8)
    ORDER(0, 1) ORDER(3, 4) ORDER(6, 7) ORDER(0, 3) ORDER(3, 6) ORDER(1, 4)
    ORDER(4, 7) ORDER(1, 4) ORDER(2, 5) ORDER(5, 8) ORDER(2, 5) ORDER(4, 6) ORDER(2, 4) ORDER(4, 6)
    target[p.y * 10 + p.x] = w[4] > 200u || w[4] < 20u ? 0u : w[4];
}
