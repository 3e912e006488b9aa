// The types and functions of GLSL that the kernel below uses, in C++17 and its standard library alone.
//
// Numbers are classes, so that arithmetic and implicit conversions are those of GLSL and not of C++: integers wrap, floats
// are 32 bits wide in every step, `int` becomes `uint` and `float` by itself and nothing becomes anything else.
// What GLSL leaves undefined (division by zero, a remainder of negative numbers, a shift too far, a conversion out of range),
// what it leaves to the implementation (`round` of a half) and every access beyond an array or buffer stops the program with a
// message and exit code 3: it never goes on with a value of its own choice.
// Variables that nobody has written hold bytes 0xCD. Where two blocks of different types show the same bytes, compile with
// -fno-strict-aliasing.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#pragma clang diagnostic ignored "-Wlogical-op-parentheses"
#pragma clang diagnostic ignored "-Wbitwise-op-parentheses"
#pragma clang diagnostic ignored "-Wshift-op-parentheses"
#endif
// Of clang and of GCC. What a kernel does not use, writes without parentheses or lets fall through is no mistake of the program.
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-value"
#endif

namespace vkcert {

[[noreturn]] inline void stop(const char *reason) {
    std::fprintf(stderr, "stopped: %s\n", reason);
    std::exit(3);
}

struct Uint;
struct Float;

struct Int {
    std::int32_t value;

    constexpr Int() : value(-842150451) {}
    constexpr explicit Int(std::int32_t bits) : value(bits) {}
    constexpr explicit Int(bool truth) : value(truth ? 1 : 0) {}
    constexpr explicit Int(Uint other);
    constexpr explicit Int(Float other);
    constexpr explicit operator bool() const { return value != 0; }
    constexpr std::uint32_t bits() const { return static_cast<std::uint32_t>(value); }
    static constexpr Int of(std::uint32_t bits) { return Int(static_cast<std::int32_t>(bits)); }

    friend constexpr Int operator+(Int a, Int b) { return of(a.bits() + b.bits()); }
    friend constexpr Int operator-(Int a, Int b) { return of(a.bits() - b.bits()); }
    friend constexpr Int operator*(Int a, Int b) { return of(a.bits() * b.bits()); }
    friend constexpr Int operator/(Int a, Int b) {
        if (b.value == 0) stop("division by zero");
        if (a.value == INT32_MIN && b.value == -1) stop("the most negative integer divided by -1");
        return Int(a.value / b.value);
    }
    friend constexpr Int operator%(Int a, Int b) {
        if (b.value == 0) stop("division by zero");
        if (a.value < 0 || b.value < 0) stop("a remainder of a negative number");
        return Int(a.value % b.value);
    }
    friend constexpr Int operator&(Int a, Int b) { return of(a.bits() & b.bits()); }
    friend constexpr Int operator|(Int a, Int b) { return of(a.bits() | b.bits()); }
    friend constexpr Int operator^(Int a, Int b) { return of(a.bits() ^ b.bits()); }
    friend constexpr Int operator<<(Int a, Uint b);
    friend constexpr Int operator>>(Int a, Uint b);
    friend constexpr Int operator-(Int a) { return of(0u - a.bits()); }
    friend constexpr Int operator+(Int a) { return a; }
    friend constexpr Int operator~(Int a) { return of(~a.bits()); }
    friend constexpr bool operator==(Int a, Int b) { return a.value == b.value; }
    friend constexpr bool operator!=(Int a, Int b) { return a.value != b.value; }
    friend constexpr bool operator<(Int a, Int b) { return a.value < b.value; }
    friend constexpr bool operator>(Int a, Int b) { return a.value > b.value; }
    friend constexpr bool operator<=(Int a, Int b) { return a.value <= b.value; }
    friend constexpr bool operator>=(Int a, Int b) { return a.value >= b.value; }
};

struct Uint {
    std::uint32_t value;

    constexpr Uint() : value(0xCDCDCDCDu) {}
    constexpr explicit Uint(std::uint32_t bits) : value(bits) {}
    constexpr explicit Uint(bool truth) : value(truth ? 1u : 0u) {}
    constexpr Uint(Int other) : value(other.bits()) {}
    constexpr explicit Uint(Float other);
    constexpr explicit operator bool() const { return value != 0; }

    friend constexpr Uint operator+(Uint a, Uint b) { return Uint(a.value + b.value); }
    friend constexpr Uint operator-(Uint a, Uint b) { return Uint(a.value - b.value); }
    friend constexpr Uint operator*(Uint a, Uint b) { return Uint(a.value * b.value); }
    friend constexpr Uint operator/(Uint a, Uint b) {
        if (b.value == 0) stop("division by zero");
        return Uint(a.value / b.value);
    }
    friend constexpr Uint operator%(Uint a, Uint b) {
        if (b.value == 0) stop("division by zero");
        return Uint(a.value % b.value);
    }
    friend constexpr Uint operator&(Uint a, Uint b) { return Uint(a.value & b.value); }
    friend constexpr Uint operator|(Uint a, Uint b) { return Uint(a.value | b.value); }
    friend constexpr Uint operator^(Uint a, Uint b) { return Uint(a.value ^ b.value); }
    friend constexpr Uint operator<<(Uint a, Uint b) {
        if (b.value >= 32) stop("a shift by 32 or more");
        return Uint(a.value << b.value);
    }
    friend constexpr Uint operator>>(Uint a, Uint b) {
        if (b.value >= 32) stop("a shift by 32 or more");
        return Uint(a.value >> b.value);
    }
    friend constexpr Uint operator-(Uint a) { return Uint(0u - a.value); }
    friend constexpr Uint operator+(Uint a) { return a; }
    friend constexpr Uint operator~(Uint a) { return Uint(~a.value); }
    friend constexpr bool operator==(Uint a, Uint b) { return a.value == b.value; }
    friend constexpr bool operator!=(Uint a, Uint b) { return a.value != b.value; }
    friend constexpr bool operator<(Uint a, Uint b) { return a.value < b.value; }
    friend constexpr bool operator>(Uint a, Uint b) { return a.value > b.value; }
    friend constexpr bool operator<=(Uint a, Uint b) { return a.value <= b.value; }
    friend constexpr bool operator>=(Uint a, Uint b) { return a.value >= b.value; }
};

struct Float {
    float value;

    constexpr Float() : value(-431602080.0f) {}
    constexpr explicit Float(float number) : value(number) {}
    constexpr explicit Float(bool truth) : value(truth ? 1.0f : 0.0f) {}
    constexpr Float(Int other) : value(static_cast<float>(other.value)) {}
    constexpr Float(Uint other) : value(static_cast<float>(other.value)) {}
    constexpr explicit operator bool() const { return value != 0.0f; }

    friend constexpr Float operator+(Float a, Float b) { return Float(a.value + b.value); }
    friend constexpr Float operator-(Float a, Float b) { return Float(a.value - b.value); }
    friend constexpr Float operator*(Float a, Float b) { return Float(a.value * b.value); }
    friend constexpr Float operator/(Float a, Float b) { return Float(a.value / b.value); }
    friend constexpr Float operator-(Float a) { return Float(-a.value); }
    friend constexpr Float operator+(Float a) { return a; }
    friend constexpr bool operator==(Float a, Float b) { return a.value == b.value; }
    friend constexpr bool operator!=(Float a, Float b) { return a.value != b.value; }
    friend constexpr bool operator<(Float a, Float b) { return a.value < b.value; }
    friend constexpr bool operator>(Float a, Float b) { return a.value > b.value; }
    friend constexpr bool operator<=(Float a, Float b) { return a.value <= b.value; }
    friend constexpr bool operator>=(Float a, Float b) { return a.value >= b.value; }
};

constexpr Int::Int(Uint other) : value(static_cast<std::int32_t>(other.value)) {}
constexpr Int::Int(Float other) : value(0) {
    if (!(other.value >= -2147483648.0f)) stop("a float outside the range of int is converted");
    if (!(other.value < 2147483648.0f)) stop("a float outside the range of int is converted");
    value = static_cast<std::int32_t>(other.value);
}
constexpr Uint::Uint(Float other) : value(0) {
    if (!(other.value > -1.0f)) stop("a float outside the range of uint is converted");
    if (!(other.value < 4294967296.0f)) stop("a float outside the range of uint is converted");
    value = static_cast<std::uint32_t>(other.value);
}
constexpr Int operator<<(Int a, Uint b) {
    if (b.value >= 32) stop("a shift by 32 or more");
    return Int::of(a.bits() << b.value);
}
// Fills with the sign bit.
constexpr Int operator>>(Int a, Uint b) {
    if (b.value >= 32) stop("a shift by 32 or more");
    return a.value < 0 ? Int::of(~(~a.bits() >> b.value)) : Int::of(a.bits() >> b.value);
}

constexpr Int operator""_i(unsigned long long number) { return Int::of(static_cast<std::uint32_t>(number)); }
constexpr Uint operator""_u(unsigned long long number) { return Uint(static_cast<std::uint32_t>(number)); }
constexpr Float operator""_f(long double number) { return Float(static_cast<float>(number)); }

// A number as a C++ number, for `switch` and array sizes.
constexpr std::int64_t raw(Int number) { return number.value; }
constexpr std::int64_t raw(Uint number) { return number.value; }

template <class T> constexpr bool is_number = std::is_same_v<T, Int> || std::is_same_v<T, Uint> || std::is_same_v<T, Float>;
template <class A, class B> using Common = std::decay_t<decltype(true ? std::declval<A>() : std::declval<B>())>;
template <class T> struct Identity { using Type = T; };
// The type as it is, not to be deduced.
template <class T> using Exactly = typename Identity<T>::Type;

template <class T, int N> struct Components;
template <class T> struct Components<T, 2> { T x{}, y{}; };
template <class T> struct Components<T, 3> { T x{}, y{}, z{}; };
template <class T> struct Components<T, 4> { T x{}, y{}, z{}, w{}; };

template <class T, int N> struct Vec : Components<T, N> {
    constexpr Vec() = default;

    // One scalar for all components, or scalars and vectors one after the other (GLSL 4.60, 5.4.2).
    template <class First, class... Rest,
              class = std::enable_if_t<!(sizeof...(Rest) == 0 && std::is_same_v<std::decay_t<First>, Vec>)>>
    constexpr explicit Vec(const First &first, const Rest &...rest) {
        int at = 0;
        append(at, first);
        (append(at, rest), ...);
        if (at == 1)
            for (; at < N; ++at) component(at) = component(0);
        if (at < N) stop("a vector is made of too few components");
    }
    template <class U, class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U, T>>>
    constexpr Vec(const Vec<U, N> &other) {
        for (int at = 0; at < N; ++at) component(at) = other.component(at);
    }

    constexpr T &component(int at) {
        if constexpr (N > 3) if (at == 3) return this->w;
        if constexpr (N > 2) if (at == 2) return this->z;
        return at == 0 ? this->x : this->y;
    }
    constexpr const T &component(int at) const {
        if constexpr (N > 3) if (at == 3) return this->w;
        if constexpr (N > 2) if (at == 2) return this->z;
        return at == 0 ? this->x : this->y;
    }
    T &operator[](Uint at) {
        if (at.value >= N) stop("an index beyond the components of a vector");
        return component(static_cast<int>(at.value));
    }
    const T &operator[](Uint at) const { return const_cast<Vec &>(*this)[at]; }
    constexpr Int length() const { return Int(N); }

    template <class F> static constexpr Vec each(F made) {
        Vec result;
        for (int at = 0; at < N; ++at) result.component(at) = made(at);
        return result;
    }

#define VKCERT_OPERATOR(op)                                                                                             \
    friend constexpr Vec operator op(const Vec &a, const Vec &b) {                                                      \
        return each([&](int at) { return a.component(at) op b.component(at); });                                        \
    }                                                                                                                   \
    friend constexpr Vec operator op(const Vec &a, const T &b) {                                                        \
        return each([&](int at) { return a.component(at) op b; });                                                      \
    }                                                                                                                   \
    friend constexpr Vec operator op(const T &a, const Vec &b) {                                                        \
        return each([&](int at) { return a op b.component(at); });                                                      \
    }
    VKCERT_OPERATOR(+)
    VKCERT_OPERATOR(-)
    VKCERT_OPERATOR(*)
    VKCERT_OPERATOR(/)
    VKCERT_OPERATOR(%)
    VKCERT_OPERATOR(&)
    VKCERT_OPERATOR(|)
    VKCERT_OPERATOR(^)
    VKCERT_OPERATOR(<<)
    VKCERT_OPERATOR(>>)
#undef VKCERT_OPERATOR
    friend constexpr Vec operator-(const Vec &a) {
        return each([&](int at) { return -a.component(at); });
    }
    friend constexpr Vec operator+(const Vec &a) { return a; }
    friend constexpr Vec operator~(const Vec &a) {
        return each([&](int at) { return ~a.component(at); });
    }
    friend constexpr bool operator==(const Vec &a, const Vec &b) {
        for (int at = 0; at < N; ++at)
            if (!(a.component(at) == b.component(at))) return false;
        return true;
    }
    friend constexpr bool operator!=(const Vec &a, const Vec &b) { return !(a == b); }

  private:
    template <class U> constexpr void append(int &at, const U &scalar) {
        if (at < N) component(at++) = T(scalar);
    }
    template <class U, int M> constexpr void append(int &at, const Vec<U, M> &vector) {
        for (int from = 0; from < M; ++from) append(at, vector.component(from));
    }
};

using vec2 = Vec<Float, 2>;
using vec3 = Vec<Float, 3>;
using vec4 = Vec<Float, 4>;
using ivec2 = Vec<Int, 2>;
using ivec3 = Vec<Int, 3>;
using ivec4 = Vec<Int, 4>;
using uvec2 = Vec<Uint, 2>;
using uvec3 = Vec<Uint, 3>;
using uvec4 = Vec<Uint, 4>;
using bvec2 = Vec<bool, 2>;
using bvec3 = Vec<bool, 3>;
using bvec4 = Vec<bool, 4>;

// `v.yx` where it is read.
template <int... At, class T, int N> constexpr Vec<T, sizeof...(At)> swizzle(const Vec<T, N> &vector) {
    static_assert(((At < N) && ...));
    return Vec<T, sizeof...(At)>(vector.component(At)...);
}

// `v.yx` where it is written.
template <class T, int N, int... At> struct Swizzled {
    Vec<T, N> &vector;
    operator Vec<T, sizeof...(At)>() const { return swizzle<At...>(vector); }
    void operator=(const Vec<T, sizeof...(At)> &other) {
        int from = 0;
        ((vector.component(At) = other.component(from++)), ...);
    }
};
template <int... At, class T, int N> Swizzled<T, N, At...> swizzled(Vec<T, N> &vector) {
    static_assert(((At < N) && ...));
    return {vector};
}

#define VKCERT_ASSIGNMENT(op)                                                                                           \
    template <class T, class U, class = std::enable_if_t<is_number<T>>> constexpr T &operator op##=(T &a, const U &b) { \
        return a = a op b;                                                                                              \
    }                                                                                                                   \
    template <class T, int N, class U> constexpr Vec<T, N> &operator op##=(Vec<T, N> &a, const U &b) {                  \
        return a = a op b;                                                                                              \
    }                                                                                                                   \
    template <class T, int N, int... At, class U> void operator op##=(Swizzled<T, N, At...> a, const U &b) {            \
        a = swizzle<At...>(a.vector) op b;                                                                              \
    }                                                                                                                   \
    template <class T, int N, class U, class = std::enable_if_t<is_number<U> && !std::is_convertible_v<U, T>>>          \
    constexpr Vec<U, N> operator op(const Vec<T, N> &a, const U &b) {                                                   \
        return Vec<U, N>(a) op b;                                                                                       \
    }                                                                                                                   \
    template <class T, int N, class U, class = std::enable_if_t<is_number<U> && !std::is_convertible_v<U, T>>>          \
    constexpr Vec<U, N> operator op(const U &a, const Vec<T, N> &b) {                                                   \
        return a op Vec<U, N>(b);                                                                                       \
    }
VKCERT_ASSIGNMENT(+)
VKCERT_ASSIGNMENT(-)
VKCERT_ASSIGNMENT(*)
VKCERT_ASSIGNMENT(/)
VKCERT_ASSIGNMENT(%)
VKCERT_ASSIGNMENT(&)
VKCERT_ASSIGNMENT(|)
VKCERT_ASSIGNMENT(^)
VKCERT_ASSIGNMENT(<<)
VKCERT_ASSIGNMENT(>>)
#undef VKCERT_ASSIGNMENT

#define VKCERT_STEP(op, by)                                                                                             \
    template <class T, class = std::enable_if_t<is_number<T>>> constexpr T &operator op(T &a) {                         \
        return a = a by T(Int(1));                                                                                      \
    }                                                                                                                   \
    template <class T, class = std::enable_if_t<is_number<T>>> constexpr T operator op(T &a, int) {                     \
        const T before = a;                                                                                             \
        a = a by T(Int(1));                                                                                             \
        return before;                                                                                                  \
    }
VKCERT_STEP(++, +)
VKCERT_STEP(--, -)
#undef VKCERT_STEP

template <class T, std::size_t N> struct Array {
    T elements[N]{};

    T &operator[](Uint at) {
        if (at.value >= N) stop("an index beyond an array");
        return elements[at.value];
    }
    const T &operator[](Uint at) const {
        if (at.value >= N) stop("an index beyond an array");
        return elements[at.value];
    }
    constexpr Int length() const { return Int(static_cast<std::int32_t>(N)); }
    friend bool operator==(const Array &a, const Array &b) {
        for (std::size_t at = 0; at < N; ++at)
            if (!(a.elements[at] == b.elements[at])) return false;
        return true;
    }
    friend bool operator!=(const Array &a, const Array &b) { return !(a == b); }
};

// Built-in functions (GLSL 4.60, chapter 8). NaN goes where the comparisons lead it.

#define VKCERT_UNARY(name)                                                                                              \
    template <class T, int N> constexpr Vec<T, N> name(const Vec<T, N> &a) {                                            \
        return Vec<T, N>::each([&](int at) { return name(a.component(at)); });                                          \
    }
#define VKCERT_BINARY(name)                                                                                             \
    template <class A, class B, class = std::enable_if_t<is_number<A> && is_number<B> && !std::is_same_v<A, B>>>        \
    constexpr Common<A, B> name(A a, B b) {                                                                             \
        return name(Common<A, B>(a), Common<A, B>(b));                                                                  \
    }                                                                                                                   \
    template <class T, int N> constexpr Vec<T, N> name(const Vec<T, N> &a, const Exactly<Vec<T, N>> &b) {               \
        return Vec<T, N>::each([&](int at) { return name(a.component(at), b.component(at)); });                         \
    }                                                                                                                   \
    template <class T, int N, class U, class = std::enable_if_t<std::is_convertible_v<U, T>>>                           \
    constexpr Vec<T, N> name(const Vec<T, N> &a, const U &b) {                                                          \
        const T one = b;                                                                                                \
        return Vec<T, N>::each([&](int at) { return name(a.component(at), one); });                                     \
    }                                                                                                                   \
    template <class T, int N, class U, class = std::enable_if_t<std::is_convertible_v<U, T>>>                           \
    constexpr Vec<T, N> name(const U &a, const Vec<T, N> &b) {                                                          \
        const T one = a;                                                                                                \
        return Vec<T, N>::each([&](int at) { return name(one, b.component(at)); });                                     \
    }

template <class T> constexpr std::enable_if_t<is_number<T>, T> min(T a, Exactly<T> b) { return b < a ? b : a; }
template <class T> constexpr std::enable_if_t<is_number<T>, T> max(T a, Exactly<T> b) { return a < b ? b : a; }
VKCERT_BINARY(min)
VKCERT_BINARY(max)
template <class T, class L, class H, class = std::enable_if_t<is_number<T>>>
constexpr Common<Common<T, L>, H> clamp(T x, L low, H high) {
    using R = Common<Common<T, L>, H>;
    if (R(high) < R(low)) stop("clamp whose lower limit is above the upper");
    return min(max(R(x), R(low)), R(high));
}
template <class T, int N, class L, class H> constexpr Vec<T, N> clamp(const Vec<T, N> &x, const L &low, const H &high) {
    return Vec<T, N>::each([&](int at) { return clamp(x.component(at), Vec<T, N>(low).component(at), Vec<T, N>(high).component(at)); });
}
constexpr Int abs(Int a) { return a.value < 0 ? -a : a; }
inline Float abs(Float a) { return Float(std::fabs(a.value)); }
VKCERT_UNARY(abs)
constexpr Int sign(Int a) { return Int(a.value > 0 ? 1 : a.value < 0 ? -1 : 0); }
constexpr Float sign(Float a) { return a.value > 0.0f ? Float(1.0f) : a.value < 0.0f ? Float(-1.0f) : a; }
VKCERT_UNARY(sign)

#define VKCERT_FLOAT(name, made)                                                                                        \
    inline Float name(Float a) { return made; }                                                                         \
    VKCERT_UNARY(name)
VKCERT_FLOAT(floor, Float(std::floor(a.value)))
VKCERT_FLOAT(ceil, Float(std::ceil(a.value)))
VKCERT_FLOAT(trunc, Float(std::trunc(a.value)))
VKCERT_FLOAT(roundEven, Float(std::nearbyint(a.value)))
inline Float unless_half(Float a) {
    if (std::fabs(a.value - std::trunc(a.value)) == 0.5f) stop("`round` of a half, whose direction GLSL leaves open");
    return a;
}
VKCERT_FLOAT(round, roundEven(unless_half(a)))
VKCERT_FLOAT(fract, a - floor(a))
VKCERT_FLOAT(sqrt, (a.value < 0.0f ? stop("square root of a negative number") : void(), Float(std::sqrt(a.value))))
VKCERT_FLOAT(inversesqrt, (a.value <= 0.0f ? stop("inverse square root of a number that is not positive") : void(),
                           Float(1.0f / std::sqrt(a.value))))
#undef VKCERT_FLOAT
inline Float mod(Float x, Float y) { return x - y * floor(x / y); }
VKCERT_BINARY(mod)
constexpr Float step(Float edge, Float x) { return x < edge ? Float(0.0f) : Float(1.0f); }
VKCERT_BINARY(step)
constexpr Float mix(Float x, Float y, Float a) { return x * (Float(1.0f) - a) + y * a; }
template <class T, class = std::enable_if_t<is_number<T>>> constexpr T mix(T x, Exactly<T> y, bool a) { return a ? y : x; }
template <int N> constexpr Vec<Float, N> mix(const Vec<Float, N> &x, const Vec<Float, N> &y, Float a) {
    return Vec<Float, N>::each([&](int at) { return mix(x.component(at), y.component(at), a); });
}
template <int N> constexpr Vec<Float, N> mix(const Vec<Float, N> &x, const Vec<Float, N> &y, const Vec<Float, N> &a) {
    return Vec<Float, N>::each([&](int at) { return mix(x.component(at), y.component(at), a.component(at)); });
}
template <class T, int N> constexpr Vec<T, N> mix(const Vec<T, N> &x, const Vec<T, N> &y, const Vec<bool, N> &a) {
    return Vec<T, N>::each([&](int at) { return mix(x.component(at), y.component(at), a.component(at)); });
}
inline Float fma(Float a, Float b, Float c) { return Float(std::fma(a.value, b.value, c.value)); }
inline bool isnan(Float a) { return std::isnan(a.value); }
inline bool isinf(Float a) { return std::isinf(a.value); }
template <int N> Vec<bool, N> isnan(const Vec<Float, N> &a) {
    return Vec<bool, N>::each([&](int at) { return isnan(a.component(at)); });
}
template <int N> Vec<bool, N> isinf(const Vec<Float, N> &a) {
    return Vec<bool, N>::each([&](int at) { return isinf(a.component(at)); });
}

template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to.value, &from.value, sizeof(to.value));
    return to;
}
#define VKCERT_BITS(name, From, To)                                                                                     \
    inline To name(From a) { return same_bits<To>(a); }                                                                 \
    template <int N> Vec<To, N> name(const Vec<From, N> &a) {                                                           \
        return Vec<To, N>::each([&](int at) { return name(a.component(at)); });                                         \
    }
VKCERT_BITS(floatBitsToInt, Float, Int)
VKCERT_BITS(floatBitsToUint, Float, Uint)
VKCERT_BITS(intBitsToFloat, Int, Float)
VKCERT_BITS(uintBitsToFloat, Uint, Float)
#undef VKCERT_BITS

inline Int bitCount(Uint a) {
    std::int32_t count = 0;
    for (std::uint32_t rest = a.value; rest != 0; rest &= rest - 1) ++count;
    return Int(count);
}
inline Int bitCount(Int a) { return bitCount(Uint(a)); }
inline Uint bitfieldReverse(Uint a) {
    std::uint32_t made = 0;
    for (int bit = 0; bit < 32; ++bit) made |= ((a.value >> bit) & 1u) << (31 - bit);
    return Uint(made);
}
inline Int bitfieldReverse(Int a) { return Int(bitfieldReverse(Uint(a))); }
inline Int findLSB(Uint a) {
    for (int bit = 0; bit < 32; ++bit)
        if ((a.value >> bit) & 1u) return Int(bit);
    return Int(-1);
}
inline Int findLSB(Int a) { return findLSB(Uint(a)); }
inline Int findMSB(Uint a) {
    for (int bit = 31; bit >= 0; --bit)
        if ((a.value >> bit) & 1u) return Int(bit);
    return Int(-1);
}
inline Int findMSB(Int a) { return findMSB(a.value < 0 ? Uint(~a) : Uint(a)); }
inline void check_field(Int offset, Int count) {
    if (offset.value < 0 || count.value < 0 || std::int64_t(offset.value) + count.value > 32) stop("a bit field that reaches beyond 32 bits");
}
inline Uint bitfieldExtract(Uint a, Int offset, Int count) {
    check_field(offset, count);
    return count.value == 0 ? Uint(0u) : Uint((a.value >> offset.value) & (0xFFFFFFFFu >> (32 - count.value)));
}
inline Int bitfieldExtract(Int a, Int offset, Int count) {
    check_field(offset, count);
    if (count.value == 0) return Int(0);
    return (Int(Uint(a) << Uint(Int(32 - count.value - offset.value)))) >> Uint(Int(32 - count.value));
}
inline Uint bitfieldInsert(Uint base, Uint inserted, Int offset, Int count) {
    check_field(offset, count);
    if (count.value == 0) return base;
    const std::uint32_t mask = (0xFFFFFFFFu >> (32 - count.value)) << offset.value;
    return Uint((base.value & ~mask) | ((inserted.value << offset.value) & mask));
}
inline Int bitfieldInsert(Int base, Int inserted, Int offset, Int count) {
    return Int(bitfieldInsert(Uint(base), Uint(inserted), offset, count));
}

inline Float dot(Float a, Float b) { return a * b; }
template <int N> Float dot(const Vec<Float, N> &a, const Vec<Float, N> &b) {
    Float sum = a.component(0) * b.component(0);
    for (int at = 1; at < N; ++at) sum = sum + a.component(at) * b.component(at);
    return sum;
}
inline vec3 cross(const vec3 &a, const vec3 &b) {
    return vec3(a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y);
}
inline Float length(Float a) { return abs(a); }
template <int N> Float length(const Vec<Float, N> &a) { return sqrt(dot(a, a)); }
inline Float distance(Float a, Float b) { return length(a - b); }
template <int N> Float distance(const Vec<Float, N> &a, const Vec<Float, N> &b) { return length(a - b); }

inline bool any(const bvec2 &a) { return a.x || a.y; }
inline bool any(const bvec3 &a) { return a.x || a.y || a.z; }
inline bool any(const bvec4 &a) { return a.x || a.y || a.z || a.w; }
inline bool all(const bvec2 &a) { return a.x && a.y; }
inline bool all(const bvec3 &a) { return a.x && a.y && a.z; }
inline bool all(const bvec4 &a) { return a.x && a.y && a.z && a.w; }
template <int N> Vec<bool, N> not_(const Vec<bool, N> &a) {
    return Vec<bool, N>::each([&](int at) { return !a.component(at); });
}
#define VKCERT_RELATION(name, op)                                                                                       \
    template <class T, int N> Vec<bool, N> name(const Vec<T, N> &a, const Exactly<Vec<T, N>> &b) {                      \
        return Vec<bool, N>::each([&](int at) { return a.component(at) op b.component(at); });                          \
    }
VKCERT_RELATION(lessThan, <)
VKCERT_RELATION(lessThanEqual, <=)
VKCERT_RELATION(greaterThan, >)
VKCERT_RELATION(greaterThanEqual, >=)
VKCERT_RELATION(equal, ==)
VKCERT_RELATION(notEqual, !=)
#undef VKCERT_RELATION
#undef VKCERT_UNARY
#undef VKCERT_BINARY

// Invocations run one after the other, so atomics are plain and memory is always in order.
#define VKCERT_ATOMIC(name, made)                                                                                       \
    template <class T> T name(T &memory, Exactly<T> value) {                                                            \
        const T before = memory;                                                                                        \
        memory = made;                                                                                                  \
        return before;                                                                                                  \
    }
VKCERT_ATOMIC(atomicAdd, before + value)
VKCERT_ATOMIC(atomicMin, value < before ? value : before)
VKCERT_ATOMIC(atomicMax, before < value ? value : before)
VKCERT_ATOMIC(atomicAnd, before & value)
VKCERT_ATOMIC(atomicOr, before | value)
VKCERT_ATOMIC(atomicXor, before ^ value)
VKCERT_ATOMIC(atomicExchange, value)
#undef VKCERT_ATOMIC
template <class T> T atomicCompSwap(T &memory, Exactly<T> compare, Exactly<T> value) {
    const T before = memory;
    if (before == compare) memory = value;
    return before;
}
inline void memoryBarrier() {}
inline void memoryBarrierBuffer() {}
inline void memoryBarrierShared() {}
inline void groupMemoryBarrier() {}

// Built-in variables of the invocation that runs.
inline uvec3 gl_NumWorkGroups, gl_WorkGroupID, gl_LocalInvocationID, gl_GlobalInvocationID;
inline Uint gl_LocalInvocationIndex;

// An `out` or `inout` parameter: copied in, and copied back when the function is left (GLSL 4.60, 6.1.1).
template <class T> struct Parameter {
    T &argument;
    T value;
    explicit Parameter(T &given) : argument(given), value(given) {}
    Parameter(const Parameter &) = delete;
    Parameter &operator=(const Parameter &) = delete;
    ~Parameter() { argument = value; }
};

// Bytes that a descriptor shows.
struct Range {
    unsigned char *bytes = nullptr;
    std::size_t size = 0;
};

// A member of a storage block that is no array.
template <class T> struct Member {
    Range range;
    std::size_t offset = 0;
    void bind(Range shown, std::size_t at) { range = shown, offset = at; }
    T &get() const {
        if (offset + sizeof(T) > range.size) stop("an access beyond a buffer");
        return *reinterpret_cast<T *>(range.bytes + offset);
    }
};

// An array in a storage block. Its length is what fits into the buffer, or what the text says.
template <class T> struct Elements {
    Range range;
    std::size_t offset = 0, stride = sizeof(T), count = 0;
    void bind(Range shown, std::size_t at, std::size_t step, std::size_t length) {
        range = shown, offset = at, stride = step;
        count = length != 0 ? length : range.size < offset ? 0 : (range.size - offset) / stride;
    }
    T &operator[](Uint at) const {
        const std::size_t start = offset + at.value * stride;
        if (at.value >= count || start + sizeof(T) > range.size) stop("an access beyond a buffer");
        return *reinterpret_cast<T *>(range.bytes + start);
    }
    Int length() const { return Int(static_cast<std::int32_t>(count)); }
};

// What the kernel only reads is copied out of its block.
inline std::uint32_t word_at(Range range, std::size_t offset) {
    if (offset + 4 > range.size) stop("a block that is larger than what is bound to it");
    std::uint32_t word;
    std::memcpy(&word, range.bytes + offset, 4);
    return word;
}
inline void load(Int &to, Range range, std::size_t offset) { to = Int::of(word_at(range, offset)); }
inline void load(Uint &to, Range range, std::size_t offset) { to = Uint(word_at(range, offset)); }
inline void load(Float &to, Range range, std::size_t offset) { to = same_bits<Float>(Uint(word_at(range, offset))); }
inline void load(bool &to, Range range, std::size_t offset) { to = word_at(range, offset) != 0; }
template <class T, int N> void load(Vec<T, N> &to, Range range, std::size_t offset) {
    for (int at = 0; at < N; ++at) load(to.component(at), range, offset + 4 * static_cast<std::size_t>(at));
}

// Where an invocation is while control flow around barriers runs for all at once. `left_at` is the place of the text where
// it went another way than into the next region.
struct Presence {
    bool ended = false;
    // The point of the text at which it takes part again; 0: it is here.
    std::uint32_t awaits = 0;
    const char *left_at = "";
};
inline bool is_here(const Presence &self) { return !self.ended && self.awaits == 0; }
inline void goes_to(Presence &self, std::uint32_t point, const char *place) { self.awaits = point, self.left_at = place; }
inline void ends(Presence &self, const char *place) { self.ended = true, self.left_at = place; }

// Who waits at this point takes part again.
template <class T> void come_back(std::vector<T> &invocations, std::uint32_t point) {
    for (Presence &self : invocations)
        if (self.awaits == point) self.awaits = 0;
}
// Who is here goes on to a point, who waits at another one takes part again: from a branch to its `else`.
template <class T>
void change_over(std::vector<T> &invocations, std::uint32_t back, std::uint32_t on, const char *place) {
    for (Presence &self : invocations) {
        if (is_here(self)) goes_to(self, on, place);
        else if (self.awaits == back) self.awaits = 0;
    }
}
template <class T> bool nobody_is_here(const std::vector<T> &invocations) {
    for (const Presence &self : invocations)
        if (is_here(self)) return false;
    return true;
}
// What a barrier is, once invocations run one after the other: all of them are here, or none is.
template <class T> void meet(const std::vector<T> &invocations, const char *place) {
    std::size_t here = 0;
    const char *left_at = "";
    for (const Presence &self : invocations) {
        if (is_here(self)) ++here;
        else left_at = self.left_at;
    }
    if (here == 0 || here == invocations.size()) return;
    std::fprintf(stderr, "stopped: barrier divergence: %zu of %zu invocations reach the barrier at %s, control flow is not uniform at %s\n", here,
                 invocations.size(), place, left_at);
    std::exit(3);
}

// A job: lines of words. `buffer N BYTES` (hexadecimal digits, `-` for none), `bind SET BINDING BUFFER OFFSET RANGE`,
// `push BYTES`, `dispatch X Y Z`; bindings and push constants hold for the dispatches below them.
struct Binding {
    std::uint32_t set, binding;
    Range range;
};
struct Job {
    // One byte more than each buffer has, so that every one has an address; allocated memory is aligned for words.
    std::vector<std::vector<unsigned char>> storage;
    std::vector<std::size_t> sizes;
    std::vector<Binding> bindings;
    std::vector<unsigned char> push;

    unsigned char *bytes(std::size_t buffer) { return storage.at(buffer).data(); }
    Range bound(std::uint32_t set, std::uint32_t binding) const {
        for (const Binding &known : bindings)
            if (known.set == set && known.binding == binding) return known.range;
        std::fprintf(stderr, "stopped: the job binds no buffer to set %u, binding %u\n", set, binding);
        std::exit(3);
    }
};

// The words of one line of a job. What is wrong with a line stops the program before anything of it is done.
class Words {
    std::istringstream rest;
    std::size_t line;

  public:
    Words(const std::string &text, std::size_t number) : rest(text), line(number) {}

    [[noreturn]] void refuse(const char *reason) const {
        std::fprintf(stderr, "stopped: line %zu of the job: %s\n", line, reason);
        std::exit(3);
    }
    // The next word; empty behind the last one.
    std::string next() {
        std::string word;
        rest >> word;
        return word;
    }
    void end() {
        if (!next().empty()) refuse("more words than belong there");
    }
    std::uint64_t number(std::uint64_t most) {
        const std::string word = next();
        if (word.empty()) refuse("it is not complete");
        std::uint64_t value = 0;
        for (const char digit : word) {
            if (digit < '0' || digit > '9') refuse("a word that is no number");
            const std::uint64_t unit = static_cast<std::uint64_t>(digit - '0');
            if (unit > most || value > (most - unit) / 10) refuse("a number that is too large");
            value = value * 10 + unit;
        }
        return value;
    }
    std::uint32_t word() { return static_cast<std::uint32_t>(number(UINT32_MAX)); }
    std::vector<unsigned char> bytes() {
        const std::string digits = next();
        if (digits.empty()) refuse("it is not complete");
        std::vector<unsigned char> made;
        if (digits == "-") return made;
        if (digits.size() % 2 != 0) refuse("an odd number of hexadecimal digits");
        for (std::size_t at = 0; at < digits.size(); at += 2)
            made.push_back(static_cast<unsigned char>(digit(digits[at]) * 16 + digit(digits[at + 1])));
        return made;
    }

  private:
    int digit(char text) const {
        if (text >= '0' && text <= '9') return text - '0';
        if (text >= 'a' && text <= 'f') return text - 'a' + 10;
        if (text >= 'A' && text <= 'F') return text - 'A' + 10;
        refuse("a character that is no hexadecimal digit");
    }
};

inline void take_buffer(Job &job, Words &words) {
    const std::uint64_t number = words.number(UINT64_MAX);
    const std::vector<unsigned char> bytes = words.bytes();
    words.end();
    if (number != job.storage.size()) words.refuse("the buffers are not numbered in order");
    job.storage.emplace_back(bytes.size() + 1);
    job.sizes.push_back(bytes.size());
    if (!bytes.empty()) std::memcpy(job.bytes(job.sizes.size() - 1), bytes.data(), bytes.size());
}

inline void take_binding(Job &job, Words &words) {
    const std::uint32_t set = words.word(), binding = words.word();
    const std::uint64_t buffer = words.number(UINT64_MAX), offset = words.number(UINT64_MAX), range = words.number(UINT64_MAX);
    words.end();
    if (buffer >= job.sizes.size()) words.refuse("a binding of a buffer that is not there");
    const std::size_t size = job.sizes[buffer];
    if (offset > size || range > size - offset) words.refuse("a binding beyond its buffer");
    job.bindings.insert(job.bindings.begin(), Binding{set, binding, Range{job.bytes(buffer) + offset, range}});
}

inline void run_job(std::istream &text, void (*dispatch)(const Job &, std::uint32_t, std::uint32_t, std::uint32_t)) {
    Job job;
    bool dispatched = false;
    std::string line;
    for (std::size_t number = 1; std::getline(text, line); ++number) {
        Words words(line, number);
        const std::string what = words.next();
        if (what.empty() || what[0] == '#') continue;
        if (what == "buffer") {
            take_buffer(job, words);
        } else if (what == "bind") {
            take_binding(job, words);
        } else if (what == "push") {
            job.push = words.bytes();
            words.end();
        } else if (what == "dispatch") {
            const std::uint32_t x = words.word(), y = words.word(), z = words.word();
            words.end();
            dispatch(job, x, y, z);
            dispatched = true;
        } else {
            words.refuse("it is not understood");
        }
    }
    if (!dispatched) stop("the job dispatches nothing");
    for (std::size_t number = 0; number < job.sizes.size(); ++number) {
        std::printf("buffer %zu ", number);
        for (std::size_t at = 0; at < job.sizes[number]; ++at) std::printf("%02x", job.bytes(number)[at]);
        std::printf("%s\n", job.sizes[number] == 0 ? "-" : "");
    }
}

} // namespace vkcert
