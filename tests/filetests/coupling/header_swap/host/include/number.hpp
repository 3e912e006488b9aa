#pragma once
#include <cstdint>

#if WIDTH == 32
using Number = std::uint32_t;
#else
using Number = std::uint64_t;
#endif
