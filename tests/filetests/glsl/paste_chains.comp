#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define JOIN3(a, b, c) a##b##c
#define JOIN(a, b) a ## b
#define LATER(a, b) JOIN(a, b)
#define SUFFIX _end
#define TYPED(n) JOIN(i, vec##n)
#define DIGITS(n) x##n##_##n
#define OPERATOR(a) a##=
#define KEYWORD(a) i##a
#define TAIL(a, b) a##b
void main() {
    int abc = v[0], x7_7 = v[1], plain_end = 2, xE1 = 4, a_ = 1;
    TYPED(2) pair = TYPED(2)(abc, JOIN3(a, b, c));
    JOIN3(f, o, r)(int i = 0; i OPERATOR(<) 2; i OPERATOR(+) 1) v[i] = pair[i];
    KEYWORD(f) (JOIN3(a, b, c) > 1 JOIN(&, &) DIGITS(7) < 3) v[2] = LATER(plain, SUFFIX);
    if (TAIL(a, _) > 0 || TAIL(x, E1) == 4) v[3] = 1;
}
// decision: D1 for "i OPERATOR(<) 2" conditions=1
// decision: D2 if "JOIN3(a, b, c) > 1 JOIN(&, &) DIGITS(7) < 3" conditions=2
// decision: D3 if "TAIL(a, _) > 0 || TAIL(x, E1) == 4" conditions=2
