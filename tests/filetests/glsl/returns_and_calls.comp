#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool leaf(int x, bool strict) { if (x < 0) return false; return strict ? x > 3 : x > 1; }
bool both(bool a, bool b) { return a && b; }
int clamp0(int x) { return x < 0 ? 0 : x; }
bool nested(int x) { return both(leaf(x, x > 5), both(leaf(x + 1, true), x == 2 || leaf(clamp0(x), false))); }
int pick(int x) {
    if (nested(x)) return leaf(x, false) ? 1 : 2;
    else if (x > 9 && both(x > 10, v[0] > 0)) return int(nested(x + 1));
    return v[leaf(x, v[1] > 0) ? 2 : 3];
}
void main() { v[4] = pick(v[5]); if (!nested(v[6])) return; v[7] = pick(pick(v[8]) > 3 ? 1 : 2); }
