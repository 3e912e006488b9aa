#pragma once
#include "number.hpp"

namespace host {
template <class Number>
struct Triple {
    Number m, n;
    Number k;
};
using Sizes = Triple<Number>;
}
