#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
bool check(int);
bool check(in float x, const bool strict);
int check(uvec2 x);
void nothing(void);
float[2] two(float a[2], const in int count);
bool check(int x) { return x > 1; }
bool check(float x, const bool strict) { return strict && x > 0.5; }
int check(uvec2 x) { return x.x > x.y ? 1 : 0; }
void nothing(void) { return; }
float[2] two(float a[2], const int count) { if (count > 1) return a; return float[2](0.0, 1.0); }
void main() {
    nothing();
    bool a = check(v[0]);
    bool b = check(1.0, v[1] > 2);
    int c = check(uvec2(v[2]));
    if (check(v[3]) && check(float(v[4]), a || b)) v[5] = c;
    v[6] = int(two(float[2](1.0, 2.0), v[7] > 0 ? 1 : 2)[0]);
}
// decision: D1 return "x > 1" conditions=1
// decision: D2 return "strict && x > 0.5" conditions=2
// decision: D3 ternary "x.x > x.y" conditions=1
// decision: D4 if "count > 1" conditions=1
// decision: D5 initialiser "check(v[0])" conditions=1
// decision: D6 initialiser "check(1.0, v[1] > 2)" conditions=1
// decision: D7 argument "v[1] > 2" conditions=1
// decision: D8 if "check(v[3]) && check(float(v[4]), a || b)" conditions=2
// decision: D9 argument "a || b" conditions=2
// decision: D10 ternary "v[7] > 0" conditions=1
