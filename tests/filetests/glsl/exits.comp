#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void always() { while (true) { if (v[0] > 0) return; v[0]++; } }
void never_falls(int x) { if (x > 0) { return; } else { return; } }
void falls(int x) { for (;;) { if (x++ > 3) break; } }
void through_switch(int x) { switch (x) { case 0: return; default: return; } }
void main() { always(); never_falls(1); falls(2); through_switch(v[1]); }
// exits: always 1
// exits: never_falls 2
// exits: falls 1
// exits: through_switch 2
// exits: main 1
// decision: D1 while "true" conditions=1 const=constant
// decision: D2 if "v[0] > 0" conditions=1
// decision: D3 if "x > 0" conditions=1
// decision: D4 if "x++ > 3" conditions=1
// switch: W1 "x" case 0:|default:
