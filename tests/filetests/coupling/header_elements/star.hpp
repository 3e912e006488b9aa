#include <array>
#include <cstdint>

namespace sky {
struct Vec2 {
    float x, y;
};
struct Star {
    Vec2 place;
    std::uint32_t flags;
    float flux;
    std::array<Vec2, 2> spread;
};
struct alignas(64) Wide {
    Vec2 place;
    std::uint32_t flags;
    float flux;
    float spread[2][2];
};
struct Swapped {
    Vec2 place;
    float flags;
    std::uint32_t flux;
    float spread[4];
};
}
