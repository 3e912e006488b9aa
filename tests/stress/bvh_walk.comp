#version 450
// Stack walk through an implicit box tree; the stack has a bound.
// groups: 1 1 1
// buffer: 0 float 124 random 31 0 50
// buffer: 1 float 32 random 33 0 50
// buffer: 2 int 32 zero
layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Nodes { vec2 box[]; };
layout(std430, binding = 1) readonly buffer Rays { float ray[]; };
layout(std430, binding = 2) writeonly buffer Hits { int hit[]; };
bool overlaps(vec2 b, float x) { return x >= min(b.x, b.y) && x <= max(b.x, b.y); }
void main() {
    uint me = gl_GlobalInvocationID.x;
    int stack[8];
    for (int i = 0; i < 8; ++i) stack[i] = 0;
    int top = 0, found = -1, visited = 0;
    stack[top++] = 0;
    while (top > 0 && found < 0) {
        int node = stack[--top];
        if (node >= 62 || ++visited > 40) continue;
        bool inner = node < 15;
        if (!inner && overlaps(box[node], ray[me])) { found = node; break; }
        if (inner && (overlaps(box[node], ray[me]) || node < 3)) {
            if (top < 7) stack[top++] = 2 * node + 2;
            if (top < 7) stack[top++] = 2 * node + 1;
        }
    }
    hit[me] = found >= 0 ? found : visited > 20 ? -2 : -1;
}
