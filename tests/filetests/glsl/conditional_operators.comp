#version 450
// define: A=3
// define: B=(-2)
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
#define ZERO
#define ONE(x) (x)
#if !(A + B == 1) || (A - B != 5) || (A * B > -6) || (A / 2 < 1) || (A % 2 == 0)
wrong 1
#endif
#if (A << 2) != 12 || (-8 >> 1) != -4 || (A & 1) != 1 || (A | 4) != 7 || (A ^ 1) != 2 || ~A != -4
wrong 2
#endif
#if A >= 3 && A <= 3 && !(A > 3) && !(A < 3) && +A == 3 && - -A == 3
#  if defined A && defined(B) && !defined C && !defined ( C ) && UNKNOWN == 0 && ONE(1) + ONE(2) == 3
#    define GOOD(x) ((x) > A)
#  else
wrong 3
#  endif
#elif A == 3
wrong 4
#else
wrong 5
#endif
#if 0x10 == 16 && 010 == 8 && 2 + 3 * 4 == 14 && (2 + 3) * 4 == 20 && 1 << 2 + 1 == 8
#else
wrong 6
#endif
#if 0
#  if 1
wrong 7
#  elif 1
wrong 8
#  else
wrong 9
#  endif
#  bad directive 'unbalanced
#elif 0
wrong 10
#elif 1
#  ifndef C // comment
#    define C /* comment */ 1
#  endif /* comment */
#endif // comment
void main() {
#ifdef C
    if (GOOD(v[0]))
#else
    if (v[1] > 0)
#endif
        v[2] = C;
}
// decision: D1 if "(x) > A" conditions=1 via=GOOD
