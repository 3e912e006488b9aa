#pragma once_upon_a_time
#define DEPTH 2
bool inner(int x) { return x == DEPTH; }
