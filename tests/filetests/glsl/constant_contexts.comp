#version 450
layout(local_size_x = 1) in;
layout(constant_id = 0) const int K = 3;
layout(constant_id = 1) const bool DEEP = false;
layout(std430, binding = 0) buffer Data { int v[]; };
const int A = 2 > 1 ? 3 : 4;
const bool B = A > 2 && A < 9;
const int C = DEEP ? K : A;
const int TABLE[A > 2 ? 2 : 1] = int[](B ? 1 : 2, 3);
shared int tile[K > 2 ? K : 2];
struct Fixed { int cells[B ? 4 : 8]; };
int global_value = A > 1 ? 5 : 6;
int sized(int a[B && A == 3 ? 2 : 1]) { return a[1]; }
void main() {
    const int runtime = v[0] > 1 ? 2 : 3;
    const int fixed_ = A > 4 ? 1 : 2;
    const bool special = DEEP && K > 2;
    const int deeper = special ? 4 : 5;
    int local[fixed_ > 1 ? 3 : 4];
    local[0] = runtime; local[1] = deeper;
    if (special || runtime > 2) v[1] = local[0] + C;
    if (B) v[2] = TABLE[0];
    switch (v[3]) { case B ? 7 : 8: v[4] = sized(int[2](1, 2)); break; }
    Fixed f; f.cells[0] = global_value; v[5] = f.cells[0];
    if (gl_WorkGroupSize.x > 0 && gl_MaxComputeWorkGroupSize.x > 3) v[6] = tile[0] + local[1];
}
// decision: D1 ternary "2 > 1" conditions=1 const=constant unmarked
// decision: D2 initialiser "A > 2 && A < 9" conditions=2 const=constant unmarked
// decision: D3 ternary "DEEP" conditions=1 const=specialization unmarked
// decision: D4 ternary "A > 2" conditions=1 const=constant unmarked
// decision: D5 ternary "B" conditions=1 const=constant unmarked
// decision: D6 ternary "K > 2" conditions=1 const=specialization unmarked
// decision: D7 ternary "B" conditions=1 const=constant unmarked
// decision: D8 ternary "A > 1" conditions=1 const=constant
// decision: D9 ternary "B && A == 3" conditions=2 const=constant unmarked
// decision: D10 ternary "v[0] > 1" conditions=1
// decision: D11 ternary "A > 4" conditions=1 const=constant unmarked
// decision: D12 initialiser "DEEP && K > 2" conditions=2 const=specialization
// decision: D13 ternary "special" conditions=1 const=specialization
// decision: D14 ternary "fixed_ > 1" conditions=1 const=constant unmarked
// decision: D15 if "special || runtime > 2" conditions=2
// decision: D16 if "B" conditions=1 const=constant
// decision: D17 ternary "B" conditions=1 const=constant unmarked
// decision: D18 if "gl_WorkGroupSize.x > 0 && gl_MaxComputeWorkGroupSize.x > 3" conditions=2 const=constant
// switch: W1 "v[3]" case B ? 7 : 8:|no label matches
