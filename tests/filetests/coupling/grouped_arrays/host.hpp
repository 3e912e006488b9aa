#include <array>
struct Sizes { unsigned n; float one; std::array<float, 4> four; };
struct Four { float left, right, top, bottom; };
struct Named { unsigned n; float one; Four four; };
struct Other { unsigned n; float one; std::array<int, 4> four; };
struct Few { unsigned n; float one; std::array<float, 3> four; float rest; };
