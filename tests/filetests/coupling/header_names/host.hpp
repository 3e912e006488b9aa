namespace first {
struct Sizes { unsigned n, step; };
}
using first::Sizes;
namespace second = first;
struct Swapped { unsigned step, n; };
