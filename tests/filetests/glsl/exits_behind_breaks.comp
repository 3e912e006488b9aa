#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Data { int v[]; };
void left_loop() { do { if (v[0] > 0) break; v[0]++; } while (true); }
void left_switch(int x) { switch (x) { case 0: if (v[1] > 0) break; return; default: return; } }
void continued() { do { if (v[0] > 0) continue; return; } while (v[1] > 0); }
void main() { left_loop(); left_switch(v[1]); continued(); }
// exits: left_loop 1
// exits: left_switch 3
// exits: continued 2
// exits: main 1
// decision: D1 if "v[0] > 0" conditions=1
// decision: D2 do-while "true" conditions=1 const=constant
// decision: D3 if "v[1] > 0" conditions=1
// decision: D4 if "v[0] > 0" conditions=1
// decision: D5 do-while "v[1] > 0" conditions=1
// switch: W1 "x" case 0:|default:
