#pragma once
bool below(int x) { return x < 9; }
