#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
int self = 5;
#define self self + 0
#define APPLY(f, x) f(x)
#define NEG(x) -(x)
#define COMMA ,
#define EMPTY
#define PAIR(a, b) max(a, b)
#define CALL PAIR
#define NAME(n) value_##n
#define DEEP(x) APPLY(NEG, APPLY(NEG, x))
#define OP &&
int value_1 = 3;
void main() {
    int PAIR = APPLY(NEG, 3) EMPTY;
    v[0] = CALL(1, 2) + DEEP(v[1]) + NAME(1) + self;
    v[2] = PAIR + (NEG
        (4));
    if (v[0] > 1 OP v[1] > 2) v[3] = NAME(1);
}
// decision: D1 if "v[0] > 1 OP v[1] > 2" conditions=2
