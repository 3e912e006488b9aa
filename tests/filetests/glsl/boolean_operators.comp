#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool f() { return v[20] > 0; }
bool g() { return !f(); }
bool pass(bool x) { return x; }
void main() {
    bool a = f(), b = g(), c;
    if ((a && b) == (b || a)) v[0] = 1;
    if ((v[1] > 0) != (v[2] > 0)) v[3] = 1;
    if (a ^^ b ^^ f()) v[4] = 1;
    if (!!a && !(!b || !!f())) v[5] = 1;
    if ((c = f()) && g()) v[6] = 1;
    if (a = b) v[7] = 1;
    if ((a = b || f(), c)) v[8] = 1;
    c = a == b;
    c = a ? b : c;
    if (pass(a && b) || pass(pass(a || b))) v[9] = int(pass(c));
    if (bool(v[10]) && bool(1) || bool(a)) v[11] = 1;
    if (a && (b, c)) v[12] = 1;
    if (((((a)))) || (((b && ((c)))))) v[13] = 1;
    v[14] = int(a && b) | int(c) << int(a ^^ b);
    if (a == true && false != b) v[15] = 1;
    if (a || true) v[16] = 1;
}
