#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define DEFINE_CLAMP(T, low, high)                 \
    T clamp_##T(T x) {                             \
        if (x < (low)) return (low);               \
        return x > (high) ? (high) : x;            \
    }
#define FOR_EACH(i, n) for (int i = 0; i < (n); ++i)
#define WHEN(c, body) do { if (c) { body; } } while (false)
#define LEFT RIGHT + 1
#define RIGHT LEFT + 2
#define LIST(X) X(0) X(1) X(2)
#define CHECK(n) if (v[n] == n) hits++;
#define SELECT_(a, b, c) ((a) ? (b) : (c))
#define SELECT(a, b, c) SELECT_(a, b, c)
#define NOTHING()
#define SAME(x) x
int LEFT_value = 0;
DEFINE_CLAMP(int, 0, 9)
DEFINE_CLAMP(float, 0.5, 2.5)
void main() {
    int hits NOTHING ( ) = 0;
    LIST(CHECK)
    FOR_EACH(k, 3) WHEN(v[k] > 1 && v[k] != 7, v[k]--; hits++);
    v[4] = SELECT(SELECT(v[0] > 0, v[1], v[2]) > 1, clamp_int(hits), int(clamp_float(1.0)));
    v[5] = SAME(v[6]) + SAME(SELECT(SAME(v[7] < 0), (1, 2), 3));
    if (SAME((v[8] > 0, v[9] > 0)))
        v[10] = LEFT_value;
}
// decision: D1 if "x < (low)" conditions=1 via=DEFINE_CLAMP
// decision: D2 ternary "x > (high)" conditions=1 via=DEFINE_CLAMP
// decision: D3 if "x < (low)" conditions=1 via=DEFINE_CLAMP
// decision: D4 ternary "x > (high)" conditions=1 via=DEFINE_CLAMP
// decision: D5 if "v[n] == n" conditions=1 via=LIST,CHECK
// decision: D6 if "v[n] == n" conditions=1 via=LIST,CHECK
// decision: D7 if "v[n] == n" conditions=1 via=LIST,CHECK
// decision: D8 for "i < (n)" conditions=1 via=FOR_EACH
// decision: D9 if "v[k] > 1 && v[k] != 7" conditions=2 via=WHEN
// decision: D10 do-while "false" conditions=1 const=constant via=WHEN
// decision: D11 ternary "SELECT(v[0] > 0, v[1], v[2]) > 1" conditions=1 via=SELECT,SELECT_
// decision: D12 ternary "v[0] > 0" conditions=1 via=SELECT,SELECT_,SELECT,SELECT_
// decision: D13 ternary "v[7] < 0" conditions=1 via=SAME,SELECT,SELECT_,SAME
// decision: D14 expression "v[8] > 0" conditions=1 via=SAME
// decision: D15 if "v[9] > 0" conditions=1 via=SAME
