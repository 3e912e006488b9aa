// The types and functions of GLSL that the kernel below uses, in C++17 and its standard library alone.
//
// Numbers are classes, so that arithmetic and implicit conversions are those of GLSL and not of C++: integers wrap, floats
// have their own width in every step, `int` becomes `uint` and `float` by itself and nothing becomes anything narrower.
// What GLSL leaves undefined (division by zero, a remainder of negative numbers, a shift too far, a conversion out of range),
// what it leaves to the implementation (`round` of a half) and every access beyond an array or buffer stops the program with a
// message and exit code 3: it never goes on with a value of its own choice.
// Functions that GLSL lets be inexact (`exp`, `sin`, `pow` ...) are calculated by the C++ library in double precision.
// Variables that nobody has written hold bytes 0xCD. Where two blocks of different types show the same bytes, compile with
// -fno-strict-aliasing.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
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

// A type as it is, not to be deduced.
template <class T> struct Identity { using Type = T; };
template <class T> using Exactly = typename Identity<T>::Type;

// A float of 16 bits (IEEE 754). What is calculated with it is calculated in 32 bits and rounded, which comes to the same.
struct half {
    std::uint16_t bits;

    half() = default;
    constexpr explicit half(double number) : bits(rounded(number)) {}
    static constexpr half of(std::uint16_t bits) {
        half made(0.0);
        made.bits = bits;
        return made;
    }
    constexpr operator float() const {
        const int exponent = bits >> 10 & 0x1F;
        if (exponent == 31) return __builtin_bit_cast(float, (bits & 0x8000u) << 16 | 0x7F800000u | (bits & 0x3FFu) << 13);
        float number = static_cast<float>(exponent == 0 ? bits & 0x3FF : (bits & 0x3FF) | 0x400) / 16777216.0f;
        for (int power = 1; power < exponent; ++power) number *= 2.0f;
        return bits & 0x8000u ? -number : number;
    }

  private:
    // To the nearest, of two to the even one.
    static constexpr std::uint16_t rounded(double number) {
        const std::uint64_t wide = __builtin_bit_cast(std::uint64_t, number);
        const std::uint32_t sign = static_cast<std::uint32_t>(wide >> 48 & 0x8000u);
        double size = sign != 0 ? -number : number;
        if (number != number) return static_cast<std::uint16_t>(sign | 0x7E00u);
        // From here on the next power of two is nearer than the greatest half.
        if (size >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7C00u);
        // In steps of the last place: 2^-24 for the least numbers.
        std::uint32_t exponent = 1;
        size *= 16777216.0;
        for (; size >= 2048.0; ++exponent) size *= 0.5;
        std::uint32_t steps = static_cast<std::uint32_t>(size);
        const double rest = size - steps;
        if (rest > 0.5 || (rest == 0.5 && steps % 2 == 1)) ++steps;
        // A carry out of the fraction belongs to the exponent, and numbers below the least normal one have none.
        return static_cast<std::uint16_t>(sign | (((exponent - 1) << 10) + steps));
    }
};

// A number of type `Raw`. Made without a value it holds bytes 0xCD.
template <class Raw> struct Integer;
template <class Raw> struct Real;
template <class T, int N> struct Vec;
template <class T, int C, int R> struct Mat;

using Int = Integer<std::int32_t>;
using Uint = Integer<std::uint32_t>;
using Int8 = Integer<std::int8_t>;
using Uint8 = Integer<std::uint8_t>;
using Int16 = Integer<std::int16_t>;
using Uint16 = Integer<std::uint16_t>;
using Int64 = Integer<std::int64_t>;
using Uint64 = Integer<std::uint64_t>;
using Float = Real<float>;
using Double = Real<double>;
using Half = Real<half>;

template <class T> struct IsInteger : std::false_type {};
template <class Raw> struct IsInteger<Integer<Raw>> : std::true_type {};
template <class T> struct IsReal : std::false_type {};
template <class Raw> struct IsReal<Real<Raw>> : std::true_type {};
template <class T> constexpr bool is_integer = IsInteger<T>::value;
template <class T> constexpr bool is_real = IsReal<T>::value;
template <class T> constexpr bool is_number = is_integer<T> || is_real<T>;

// What becomes what by itself: integers wider ones, and unsigned ones of their width; integers and floats wider floats.
template <class From, class To> constexpr bool widens_integer =
    sizeof(From) < sizeof(To) || (sizeof(From) == sizeof(To) && std::is_signed_v<From> && std::is_unsigned_v<To>);
template <class From, class To> constexpr bool widens_to_real = sizeof(From) <= sizeof(To);
template <class From, class To> constexpr bool widens_real = sizeof(From) < sizeof(To);

template <class Raw> struct Integer {
    using Bits = std::make_unsigned_t<Raw>;
    static constexpr int WIDTH = 8 * static_cast<int>(sizeof(Raw));

    Raw value;

    constexpr Integer() : value(static_cast<Raw>(static_cast<Bits>(0xCDCDCDCDCDCDCDCDu))) {}
    constexpr explicit Integer(Raw number) : value(number) {}
    constexpr explicit Integer(bool truth) : value(truth ? 1 : 0) {}
    template <class R, std::enable_if_t<widens_integer<R, Raw>, int> = 0>
    constexpr Integer(Integer<R> other) : value(static_cast<Raw>(other.value)) {}
    template <class R, std::enable_if_t<!widens_integer<R, Raw> && !std::is_same_v<R, Raw>, int> = 0>
    constexpr explicit Integer(Integer<R> other) : value(static_cast<Raw>(static_cast<Bits>(other.value))) {}
    template <class R> constexpr explicit Integer(Real<R> other);
    template <class T, int N> constexpr explicit Integer(const Vec<T, N> &vector) : Integer(vector.x) {}
    template <class T, int C, int R> constexpr explicit Integer(const Mat<T, C, R> &matrix) : Integer(matrix.at(0).x) {}
    constexpr explicit operator bool() const { return value != 0; }
    constexpr Bits bits() const { return static_cast<Bits>(value); }
    static constexpr Integer of(Bits bits) { return Integer(static_cast<Raw>(bits)); }

    friend constexpr Integer operator+(Integer a, Integer b) { return of(static_cast<Bits>(a.bits() + b.bits())); }
    friend constexpr Integer operator-(Integer a, Integer b) { return of(static_cast<Bits>(a.bits() - b.bits())); }
    friend constexpr Integer operator*(Integer a, Integer b) {
        return of(static_cast<Bits>(std::uint64_t{a.bits()} * std::uint64_t{b.bits()}));
    }
    friend constexpr Integer operator/(Integer a, Integer b) {
        if (b.value == 0) stop("division by zero");
        if constexpr (std::is_signed_v<Raw>)
            if (a.value == std::numeric_limits<Raw>::min() && b.value == -1) stop("the most negative integer divided by -1");
        return Integer(static_cast<Raw>(a.value / b.value));
    }
    friend constexpr Integer operator%(Integer a, Integer b) {
        if (b.value == 0) stop("division by zero");
        if constexpr (std::is_signed_v<Raw>)
            if (a.value < 0 || b.value < 0) stop("a remainder of a negative number");
        return Integer(static_cast<Raw>(a.value % b.value));
    }
    friend constexpr Integer operator&(Integer a, Integer b) { return of(static_cast<Bits>(a.bits() & b.bits())); }
    friend constexpr Integer operator|(Integer a, Integer b) { return of(static_cast<Bits>(a.bits() | b.bits())); }
    friend constexpr Integer operator^(Integer a, Integer b) { return of(static_cast<Bits>(a.bits() ^ b.bits())); }
    friend constexpr Integer operator-(Integer a) { return of(static_cast<Bits>(0 - a.bits())); }
    friend constexpr Integer operator+(Integer a) { return a; }
    friend constexpr Integer operator~(Integer a) { return of(static_cast<Bits>(~a.bits())); }
    friend constexpr bool operator==(Integer a, Integer b) { return a.value == b.value; }
    friend constexpr bool operator!=(Integer a, Integer b) { return a.value != b.value; }
    friend constexpr bool operator<(Integer a, Integer b) { return a.value < b.value; }
    friend constexpr bool operator>(Integer a, Integer b) { return a.value > b.value; }
    friend constexpr bool operator<=(Integer a, Integer b) { return a.value <= b.value; }
    friend constexpr bool operator>=(Integer a, Integer b) { return a.value >= b.value; }
};

// A shift has the type of what is shifted (GLSL 4.60, 5.9).
template <class Raw, class R> constexpr int shift_width(Integer<R> by) {
    if (by.value < 0 || static_cast<std::uint64_t>(by.value) >= 8 * sizeof(Raw))
        stop(sizeof(Raw) == 4 ? "a shift by 32 or more" : "a shift by the width of the number or more");
    return static_cast<int>(by.value);
}
template <class Raw, class R> constexpr Integer<Raw> operator<<(Integer<Raw> a, Integer<R> b) {
    using Bits = typename Integer<Raw>::Bits;
    return Integer<Raw>::of(static_cast<Bits>(std::uint64_t{a.bits()} << shift_width<Raw>(b)));
}
// Fills with the sign bit.
template <class Raw, class R> constexpr Integer<Raw> operator>>(Integer<Raw> a, Integer<R> b) {
    using Bits = typename Integer<Raw>::Bits;
    const int by = shift_width<Raw>(b);
    const Bits moved = static_cast<Bits>((a.value < 0 ? static_cast<Bits>(~a.bits()) : a.bits()) >> by);
    return Integer<Raw>::of(a.value < 0 ? static_cast<Bits>(~moved) : moved);
}

template <class Raw> struct Real {
    Raw value;

    constexpr Real() : value(unwritten()) {}
    constexpr explicit Real(Raw number) : value(number) {}
    constexpr explicit Real(bool truth) : value(static_cast<Raw>(truth ? 1 : 0)) {}
    // As a number of 64 bits, which every other one is too.
    constexpr double wide() const { return static_cast<double>(value); }
    template <class R, std::enable_if_t<widens_to_real<R, Raw>, int> = 0>
    constexpr Real(Integer<R> other) : value(static_cast<Raw>(other.value)) {}
    template <class R, std::enable_if_t<!widens_to_real<R, Raw>, int> = 0>
    constexpr explicit Real(Integer<R> other) : value(static_cast<Raw>(other.value)) {}
    template <class R, std::enable_if_t<widens_real<R, Raw>, int> = 0>
    constexpr Real(Real<R> other) : value(static_cast<Raw>(other.value)) {}
    template <class R, std::enable_if_t<!widens_real<R, Raw> && !std::is_same_v<R, Raw>, int> = 0>
    constexpr explicit Real(Real<R> other) : value(static_cast<Raw>(other.value)) {}
    template <class T, int N> constexpr explicit Real(const Vec<T, N> &vector) : Real(vector.x) {}
    template <class T, int C, int R> constexpr explicit Real(const Mat<T, C, R> &matrix) : Real(matrix.at(0).x) {}
    constexpr explicit operator bool() const { return value != 0; }
    // Whether C++ calculates when it compiles. It knows no overflow and no division by zero then, and two steps of more than
    // twice the width round as one does.
    static constexpr bool is_folded() { return __builtin_is_constant_evaluated() && sizeof(Raw) <= 4; }
    static constexpr Real folded(double exact) {
        constexpr double beyond = 0x1.ffffffp127;
        const double infinite = std::numeric_limits<double>::infinity();
        if (sizeof(Raw) == 4 && (exact >= beyond || exact <= -beyond)) exact = exact > 0.0 ? infinite : -infinite;
        return Real(static_cast<Raw>(exact));
    }
    static constexpr Raw unwritten() {
        if constexpr (sizeof(Raw) == 2) return Raw::of(0xCDCDu);
        else if constexpr (sizeof(Raw) == 4) return -431602080.0f;
        else return -0x1.dcdcdcdcdcdcdp+221;
    }

    friend constexpr Real operator+(Real a, Real b) {
        return is_folded() ? folded(a.wide() + b.wide()) : Real(static_cast<Raw>(a.value + b.value));
    }
    friend constexpr Real operator-(Real a, Real b) {
        return is_folded() ? folded(a.wide() - b.wide()) : Real(static_cast<Raw>(a.value - b.value));
    }
    friend constexpr Real operator*(Real a, Real b) {
        return is_folded() ? folded(a.wide() * b.wide()) : Real(static_cast<Raw>(a.value * b.value));
    }
    friend constexpr Real operator/(Real a, Real b) {
        if (!is_folded()) return Real(static_cast<Raw>(a.value / b.value));
        if (b.value != 0) return folded(a.wide() / b.wide());
        if (a.value == 0 || a.value != a.value) return Real(static_cast<Raw>(std::numeric_limits<double>::quiet_NaN()));
        const double infinite = std::numeric_limits<double>::infinity();
        return Real(static_cast<Raw>(__builtin_copysign(infinite, a.wide()) * __builtin_copysign(1.0, b.wide())));
    }
    friend constexpr Real operator-(Real a) { return Real(static_cast<Raw>(-a.value)); }
    friend constexpr Real operator+(Real a) { return a; }
    friend constexpr bool operator==(Real a, Real b) { return a.value == b.value; }
    friend constexpr bool operator!=(Real a, Real b) { return a.value != b.value; }
    friend constexpr bool operator<(Real a, Real b) { return a.value < b.value; }
    friend constexpr bool operator>(Real a, Real b) { return a.value > b.value; }
    friend constexpr bool operator<=(Real a, Real b) { return a.value <= b.value; }
    friend constexpr bool operator>=(Real a, Real b) { return a.value >= b.value; }
};

template <class Raw> template <class R> constexpr Integer<Raw>::Integer(Real<R> other) : value(0) {
    constexpr bool is_signed = std::is_signed_v<Raw>;
    constexpr const char *outside = sizeof(Raw) != 4 ? "a float outside the range of the integer is converted"
                                    : is_signed ? "a float outside the range of int is converted"
                                                : "a float outside the range of uint is converted";
    const double number = other.wide();
    double power = 1.0;
    for (int bit = 0; bit < WIDTH - (is_signed ? 1 : 0); ++bit) power *= 2.0;
    if (!(is_signed ? number > -power - 1.0 || number == -power : number > -1.0)) stop(outside);
    if (!(number < power)) stop(outside);
    value = static_cast<Raw>(number);
}

constexpr Int operator""_i(unsigned long long number) { return Int::of(static_cast<std::uint32_t>(number)); }
constexpr Uint operator""_u(unsigned long long number) { return Uint(static_cast<std::uint32_t>(number)); }
constexpr Int16 operator""_s(unsigned long long number) { return Int16::of(static_cast<std::uint16_t>(number)); }
constexpr Uint16 operator""_us(unsigned long long number) { return Uint16(static_cast<std::uint16_t>(number)); }
constexpr Int64 operator""_l(unsigned long long number) { return Int64::of(number); }
constexpr Uint64 operator""_ul(unsigned long long number) { return Uint64(static_cast<std::uint64_t>(number)); }
constexpr Float operator""_f(long double number) { return Float(static_cast<float>(number)); }
constexpr Half operator""_hf(long double number) { return Half(half(static_cast<double>(number))); }
constexpr Double operator""_lf(long double number) { return Double(static_cast<double>(number)); }

// A number as a C++ number, for `switch` and array sizes.
template <class Raw> constexpr std::int64_t raw(Integer<Raw> number) { return static_cast<std::int64_t>(number.value); }
// The same for the labels of a `switch`, where a signed number becomes an unsigned one.
template <class Raw> constexpr std::uint32_t label(Integer<Raw> number) { return static_cast<std::uint32_t>(number.value); }
// An index as a number that no length reaches where it is negative.
template <class Raw> constexpr std::uint64_t raw_index(Integer<Raw> at) {
    return at.value < 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(at.value);
}

// The type that two numbers come to: one of the two, which the other one becomes by itself.
template <class A, class B> constexpr auto common_of() {
    if constexpr (std::is_convertible_v<A, B>) return Identity<B>{};
    else if constexpr (std::is_convertible_v<B, A>) return Identity<A>{};
}
template <class A, class B> using Common = typename decltype(common_of<A, B>())::Type;

template <class T, int N> struct Components;
template <class T> struct Components<T, 2> { T x{}, y{}; };
template <class T> struct Components<T, 3> { T x{}, y{}, z{}; };
template <class T> struct Components<T, 4> { T x{}, y{}, z{}, w{}; };

template <class T, int N> struct Vec : Components<T, N> {
    constexpr Vec() = default;

    // One scalar for all components, or scalars, vectors and matrices one after the other (GLSL 4.60, 5.4.2).
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
    constexpr explicit operator bool() const { return static_cast<bool>(this->x); }

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
    template <class Raw> T &operator[](Integer<Raw> at) {
        if (raw_index(at) >= N) stop("an index beyond the components of a vector");
        return component(static_cast<int>(at.value));
    }
    template <class Raw> const T &operator[](Integer<Raw> at) const { return const_cast<Vec &>(*this)[at]; }
    constexpr Int length() const { return Int(N); }

    template <class F> static constexpr Vec each(F made) {
        Vec result;
        for (int at = 0; at < N; ++at) result.component(at) = made(at);
        return result;
    }

  private:
    template <class U> constexpr void append(int &at, const U &scalar) {
        if (at < N) component(at++) = T(scalar);
    }
    template <class U, int M> constexpr void append(int &at, const Vec<U, M> &vector) {
        for (int from = 0; from < M; ++from) append(at, vector.component(from));
    }
    template <class U, int C, int R> constexpr void append(int &at, const Mat<U, C, R> &matrix) {
        for (int from = 0; from < C; ++from) append(at, matrix.at(from));
    }
};

// A column of a matrix, as it lies in a block: three rows take the space of four. What lies between is nobody's.
template <class T, int R> struct Column { Vec<T, R> rows{}; };
template <class T> struct Column<T, 3> {
    Vec<T, 3> rows{};
    T between{};
    constexpr Column() = default;
    constexpr Column(const Column &other) : rows(other.rows) {}
    constexpr Column &operator=(const Column &other) {
        rows = other.rows;
        return *this;
    }
};

// `C` columns of `R` rows.
template <class T, int C, int R> struct Mat {
    static constexpr std::size_t EXTENT = C * sizeof(Column<T, R>) - (R == 3 ? sizeof(T) : 0);
    Column<T, R> columns[C]{};

    constexpr Mat() = default;
    // A scalar for the diagonal, or scalars and vectors one after the other (GLSL 4.60, 5.4.2).
    template <class First, class... Rest, class = std::enable_if_t<sizeof...(Rest) != 0 || is_number<First> || std::is_same_v<First, bool>>>
    constexpr explicit Mat(const First &first, const Rest &...rest) {
        if constexpr (sizeof...(Rest) == 0) {
            for (int c = 0; c < C; ++c)
                for (int r = 0; r < R; ++r) at(c).component(r) = c == r ? T(first) : T(Int(0));
        } else {
            int next = 0;
            append(next, first);
            (append(next, rest), ...);
            if (next < C * R) stop("a matrix is made of too few components");
        }
    }
    template <class U, class = std::enable_if_t<!std::is_same_v<U, T> && std::is_convertible_v<U, T>>>
    constexpr Mat(const Mat<U, C, R> &other) {
        for (int c = 0; c < C; ++c) at(c) = Vec<T, R>(other.at(c));
    }
    template <class U, int D, int S, std::enable_if_t<(D != C || S != R) || !std::is_convertible_v<U, T>, int> = 0>
    constexpr explicit Mat(const Mat<U, D, S> &other) {
        for (int c = 0; c < C; ++c)
            for (int r = 0; r < R; ++r)
                at(c).component(r) = c < D && r < S ? T(other.at(c < D ? c : 0).component(r < S ? r : 0)) : T(Int(c == r ? 1 : 0));
    }
    constexpr explicit operator bool() const { return static_cast<bool>(at(0).x); }

    constexpr Vec<T, R> &at(int column) { return columns[column].rows; }
    constexpr const Vec<T, R> &at(int column) const { return columns[column].rows; }
    template <class Raw> Vec<T, R> &operator[](Integer<Raw> column) {
        if (raw_index(column) >= C) stop("an index beyond the columns of a matrix");
        return at(static_cast<int>(column.value));
    }
    template <class Raw> const Vec<T, R> &operator[](Integer<Raw> column) const { return const_cast<Mat &>(*this)[column]; }
    constexpr Int length() const { return Int(C); }

    template <class F> static constexpr Mat each(F made) {
        Mat result;
        for (int c = 0; c < C; ++c)
            for (int r = 0; r < R; ++r) result.at(c).component(r) = made(c, r);
        return result;
    }

  private:
    template <class U> constexpr void append(int &next, const U &scalar) {
        if (next < C * R) at(next / R).component(next % R) = T(scalar);
        ++next;
    }
    template <class U, int M> constexpr void append(int &next, const Vec<U, M> &vector) {
        for (int from = 0; from < M; ++from) append(next, vector.component(from));
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
using mat2 = Mat<Float, 2, 2>;
using mat2x3 = Mat<Float, 2, 3>;
using mat2x4 = Mat<Float, 2, 4>;
using mat3x2 = Mat<Float, 3, 2>;
using mat3 = Mat<Float, 3, 3>;
using mat3x4 = Mat<Float, 3, 4>;
using mat4x2 = Mat<Float, 4, 2>;
using mat4x3 = Mat<Float, 4, 3>;
using mat4 = Mat<Float, 4, 4>;

// What a scalar, vector or matrix is made of, and how many components it has (a scalar: 1).
template <class A> struct Shape { using Element = A; static constexpr int SIZE = 1; };
template <class T, int N> struct Shape<Vec<T, N>> { using Element = T; static constexpr int SIZE = N; };
template <class A> using Element = typename Shape<A>::Element;
template <class T> constexpr const T &part(const T &scalar, int) { return scalar; }
template <class T, int N> constexpr const T &part(const Vec<T, N> &vector, int at) { return vector.component(at); }

template <class A, class... Rest> constexpr auto common_element() {
    if constexpr (sizeof...(Rest) == 0) return Identity<Element<A>>{};
    else return Identity<Common<Element<A>, typename decltype(common_element<Rest...>())::Type>>{};
}
template <class... A> using CommonElement = typename decltype(common_element<A...>())::Type;
// Integers become floats.
template <class T> using Floating = std::conditional_t<is_real<T>, T, std::conditional_t<std::is_convertible_v<T, Float>, Float, Double>>;

// Applies a function of scalars of type `T` to each component; scalars stand for vectors of themselves.
template <class T, class F, class... A> constexpr auto componentwise(F made, const A &...operands) {
    constexpr int size = std::max({Shape<A>::SIZE...});
    if constexpr (size == 1) return made(static_cast<T>(operands)...);
    else {
        using Made = decltype(made(static_cast<T>(part(operands, 0))...));
        return Vec<Made, size>::each([&](int at) { return made(static_cast<T>(part(operands, at))...); });
    }
}

#define VKCERT_OPERATOR(op)                                                                                             \
    template <class A, class B, int N> constexpr auto operator op(const Vec<A, N> &a, const Vec<B, N> &b) {             \
        return componentwise<Common<A, B>>([](auto x, auto y) { return x op y; }, a, b);                                \
    }                                                                                                                   \
    template <class A, int N, class B, class = std::enable_if_t<is_number<B>>>                                          \
    constexpr auto operator op(const Vec<A, N> &a, const B &b) {                                                        \
        return componentwise<Common<A, B>>([](auto x, auto y) { return x op y; }, a, b);                                \
    }                                                                                                                   \
    template <class A, class B, int N, class = std::enable_if_t<is_number<A>>>                                          \
    constexpr auto operator op(const A &a, const Vec<B, N> &b) {                                                        \
        return componentwise<Common<A, B>>([](auto x, auto y) { return x op y; }, a, b);                                \
    }
VKCERT_OPERATOR(+)
VKCERT_OPERATOR(-)
VKCERT_OPERATOR(*)
VKCERT_OPERATOR(/)
VKCERT_OPERATOR(%)
VKCERT_OPERATOR(&)
VKCERT_OPERATOR(|)
VKCERT_OPERATOR(^)
#undef VKCERT_OPERATOR
#define VKCERT_SHIFT(op)                                                                                                \
    template <class A, int N, class B> constexpr Vec<A, N> operator op(const Vec<A, N> &a, const B &b) {                \
        return Vec<A, N>::each([&](int at) { return a.component(at) op part(b, at); });                                 \
    }
VKCERT_SHIFT(<<)
VKCERT_SHIFT(>>)
#undef VKCERT_SHIFT
#define VKCERT_SIGN(op)                                                                                                 \
    template <class T, int N> constexpr Vec<T, N> operator op(const Vec<T, N> &a) {                                     \
        return Vec<T, N>::each([&](int at) { return op a.component(at); });                                             \
    }
VKCERT_SIGN(+)
VKCERT_SIGN(-)
VKCERT_SIGN(~)
#undef VKCERT_SIGN
template <class A, class B, int N> constexpr bool operator==(const Vec<A, N> &a, const Vec<B, N> &b) {
    for (int at = 0; at < N; ++at)
        if (!(a.component(at) == b.component(at))) return false;
    return true;
}
template <class A, class B, int N> constexpr bool operator!=(const Vec<A, N> &a, const Vec<B, N> &b) { return !(a == b); }

// Matrices: component by component, but for the products of linear algebra (GLSL 4.60, 5.9 and 5.10).
#define VKCERT_MATRIX(op)                                                                                               \
    template <class A, class B, int C, int R> constexpr auto operator op(const Mat<A, C, R> &a, const Mat<B, C, R> &b) { \
        return Mat<Common<A, B>, C, R>::each([&](int c, int r) { return a.at(c).component(r) op b.at(c).component(r); }); \
    }
#define VKCERT_MATRIX_SCALAR(op)                                                                                        \
    template <class A, int C, int R, class B, class = std::enable_if_t<is_number<B>>>                                   \
    constexpr auto operator op(const Mat<A, C, R> &a, const B &b) {                                                     \
        return Mat<Common<A, B>, C, R>::each([&](int c, int r) { return a.at(c).component(r) op b; });                  \
    }                                                                                                                   \
    template <class A, class B, int C, int R, class = std::enable_if_t<is_number<A>>>                                   \
    constexpr auto operator op(const A &a, const Mat<B, C, R> &b) {                                                     \
        return Mat<Common<A, B>, C, R>::each([&](int c, int r) { return a op b.at(c).component(r); });                  \
    }
VKCERT_MATRIX(+)
VKCERT_MATRIX(-)
VKCERT_MATRIX(/)
VKCERT_MATRIX_SCALAR(+)
VKCERT_MATRIX_SCALAR(-)
VKCERT_MATRIX_SCALAR(*)
VKCERT_MATRIX_SCALAR(/)
#undef VKCERT_MATRIX
#undef VKCERT_MATRIX_SCALAR
template <class T, int C, int R> constexpr Mat<T, C, R> operator-(const Mat<T, C, R> &a) {
    return Mat<T, C, R>::each([&](int c, int r) { return -a.at(c).component(r); });
}
template <class T, int C, int R> constexpr Mat<T, C, R> operator+(const Mat<T, C, R> &a) { return a; }
template <class A, int C, int R, class B> constexpr auto operator*(const Mat<A, C, R> &a, const Vec<B, C> &b) {
    auto sum = a.at(0) * b.x;
    for (int c = 1; c < C; ++c) sum = sum + a.at(c) * b.component(c);
    return sum;
}
template <class A, int C, int R, class B> constexpr auto operator*(const Vec<A, R> &a, const Mat<B, C, R> &b) {
    using T = Common<A, B>;
    return Vec<T, C>::each([&](int c) {
        T sum = a.x * b.at(c).x;
        for (int r = 1; r < R; ++r) sum = sum + a.component(r) * b.at(c).component(r);
        return sum;
    });
}
template <class A, int K, int R, class B, int C> constexpr auto operator*(const Mat<A, K, R> &a, const Mat<B, C, K> &b) {
    Mat<Common<A, B>, C, R> result;
    for (int c = 0; c < C; ++c) result.at(c) = a * b.at(c);
    return result;
}
template <class A, class B, int C, int R> constexpr bool operator==(const Mat<A, C, R> &a, const Mat<B, C, R> &b) {
    for (int c = 0; c < C; ++c)
        if (a.at(c) != b.at(c)) return false;
    return true;
}
template <class A, class B, int C, int R> constexpr bool operator!=(const Mat<A, C, R> &a, const Mat<B, C, R> &b) {
    return !(a == b);
}

// `.x`, which a scalar has too.
template <class V> decltype(auto) first_of(V &&value) {
    using T = std::decay_t<V>;
    if constexpr (is_number<T> || std::is_same_v<T, bool>) return std::forward<V>(value);
    else if constexpr (std::is_lvalue_reference_v<V>) return (value.x);
    else return value.x;
}
template <int... At, class T, class = std::enable_if_t<is_number<T> || std::is_same_v<T, bool>>>
constexpr Vec<T, sizeof...(At)> swizzle(const T &scalar) {
    static_assert(((At == 0) && ...));
    return Vec<T, sizeof...(At)>(scalar);
}

// `v.yx` where it is read.
template <int... At, class T, int N> constexpr Vec<T, sizeof...(At)> swizzle(const Vec<T, N> &vector) {
    static_assert(((At < N) && ...));
    return Vec<T, sizeof...(At)>(vector.component(At)...);
}

// `v.yx` where it is written.
template <class T, int N, int... At> struct Swizzled {
    using Read = Vec<T, sizeof...(At)>;
    Vec<T, N> &vector;
    operator Read() const { return swizzle<At...>(vector); }
    Read operator=(const Read &other) {
        int from = 0;
        ((vector.component(At) = other.component(from++)), ...);
        return other;
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
    template <class T, int C, int R, class U> constexpr Mat<T, C, R> &operator op##=(Mat<T, C, R> &a, const U &b) {     \
        return a = a op b;                                                                                              \
    }                                                                                                                   \
    template <class T, int N, int... At, class U> auto operator op##=(Swizzled<T, N, At...> a, const U &b) {            \
        return a = swizzle<At...>(a.vector) op b;                                                                       \
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

// 1 of a number's own type.
template <class T> struct One { static constexpr T value() { return T(Int(1)); } };
template <class T, int N> struct One<Vec<T, N>> { static constexpr T value() { return T(Int(1)); } };
template <class T, int C, int R> struct One<Mat<T, C, R>> { static constexpr T value() { return T(Int(1)); } };
template <class T> struct IsStepped : std::bool_constant<is_number<T>> {};
template <class T, int N> struct IsStepped<Vec<T, N>> : std::true_type {};
template <class T, int C, int R> struct IsStepped<Mat<T, C, R>> : std::true_type {};
#define VKCERT_STEP(op, by)                                                                                             \
    template <class T, class = std::enable_if_t<IsStepped<T>::value>> constexpr T &operator op(T &a) {                  \
        return a = a by One<T>::value();                                                                                \
    }                                                                                                                   \
    template <class T, class = std::enable_if_t<IsStepped<T>::value>> constexpr T operator op(T &a, int) {              \
        const T before = a;                                                                                             \
        a = a by One<T>::value();                                                                                       \
        return before;                                                                                                  \
    }                                                                                                                   \
    template <class T, int N, int... At> auto operator op(Swizzled<T, N, At...> a) {                                    \
        return a = swizzle<At...>(a.vector) by T(Int(1));                                                               \
    }                                                                                                                   \
    template <class T, int N, int... At> auto operator op(Swizzled<T, N, At...> a, int) {                               \
        const Vec<T, sizeof...(At)> before = a;                                                                         \
        a = before by T(Int(1));                                                                                        \
        return before;                                                                                                  \
    }
VKCERT_STEP(++, +)
VKCERT_STEP(--, -)
#undef VKCERT_STEP

template <class T, std::size_t N> struct Array {
    T elements[N]{};

    template <class Raw> T &operator[](Integer<Raw> at) {
        if (raw_index(at) >= N) stop("an index beyond an array");
        return elements[raw_index(at)];
    }
    template <class Raw> const T &operator[](Integer<Raw> at) const {
        if (raw_index(at) >= N) stop("an index beyond an array");
        return elements[raw_index(at)];
    }
    constexpr Int length() const { return Int(static_cast<std::int32_t>(N)); }
    friend bool operator==(const Array &a, const Array &b) {
        for (std::size_t at = 0; at < N; ++at)
            if (!(a.elements[at] == b.elements[at])) return false;
        return true;
    }
    friend bool operator!=(const Array &a, const Array &b) { return !(a == b); }
};

// All bits zero (GL_EXT_null_initializer).
template <class T> T zero() {
    T made;
    std::memset(static_cast<void *>(&made), 0, sizeof(T));
    return made;
}
struct Zero {
    template <class T> operator T() const { return zero<T>(); }
};

// Bytes between the members of a structure as it lies in a block; they are nobody's.
template <std::size_t N> struct Gap {
    unsigned char bytes[N]{};
    constexpr Gap() = default;
    constexpr Gap(const Gap &) {}
    constexpr Gap &operator=(const Gap &) { return *this; }
};

// Built-in functions of scalars (GLSL 4.60, chapter 8). NaN goes where the comparisons lead it.
namespace scalar {

template <class R> Real<R> real(double number) { return Real<R>(static_cast<R>(number)); }
template <class T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <class T> constexpr T max(T a, T b) { return a < b ? b : a; }
template <class T> constexpr T clamp(T x, T low, T high) {
    if (high < low) stop("clamp whose lower limit is above the upper");
    return min(max(x, low), high);
}
template <class R> constexpr Integer<R> abs(Integer<R> a) { return a.value < 0 ? -a : a; }
template <class R> Real<R> abs(Real<R> a) { return real<R>(std::fabs(a.wide())); }
template <class T> constexpr T sign(T a) {
    if constexpr (is_integer<T>) return T(Int(a.value > 0 ? 1 : a.value < 0 ? -1 : 0));
    else return a.value > 0 ? T(Int(1)) : a.value < 0 ? T(Int(-1)) : a;
}
template <class R> Real<R> floor(Real<R> a) { return real<R>(std::floor(a.wide())); }
template <class R> Real<R> ceil(Real<R> a) { return real<R>(std::ceil(a.wide())); }
template <class R> Real<R> trunc(Real<R> a) { return real<R>(std::trunc(a.wide())); }
template <class R> Real<R> roundEven(Real<R> a) { return real<R>(std::nearbyint(a.wide())); }
template <class R> Real<R> round(Real<R> a) {
    if (std::fabs(a.wide() - std::trunc(a.wide())) == 0.5) stop("`round` of a half, whose direction GLSL leaves open");
    return roundEven(a);
}
template <class R> Real<R> fract(Real<R> a) { return a - floor(a); }
template <class R> Real<R> sqrt(Real<R> a) {
    if (a.value < 0) stop("square root of a negative number");
    return real<R>(std::sqrt(a.wide()));
}
template <class R> Real<R> inversesqrt(Real<R> a) {
    if (a.value <= 0) stop("inverse square root of a number that is not positive");
    return real<R>(1.0) / sqrt(a);
}
template <class R> Real<R> mod(Real<R> x, Real<R> y) { return x - y * floor(x / y); }
template <class T> constexpr T step(T edge, T x) { return x < edge ? T(Int(0)) : T(Int(1)); }
template <class T> constexpr T mix(T x, T y, T a) { return x * (T(Int(1)) - a) + y * a; }
template <class T> T smoothstep(T low, T high, T x) {
    if (!(low < high)) stop("smoothstep whose lower edge is not below the upper");
    const T t = clamp((x - low) / (high - low), T(Int(0)), T(Int(1)));
    return t * t * (T(Int(3)) - T(Int(2)) * t);
}
template <class R> Real<R> fma(Real<R> a, Real<R> b, Real<R> c) {
    if constexpr (sizeof(R) == 2) return real<R>(std::fma(a.wide(), b.wide(), c.wide()));
    else return Real<R>(std::fma(a.value, b.value, c.value));
}
template <class R> bool isnan(Real<R> a) { return std::isnan(a.wide()); }
template <class R> bool isinf(Real<R> a) { return std::isinf(a.wide()); }

// Calculated in double precision and rounded once.
#define VKCERT_INEXACT(name, is_undefined)                                                                              \
    template <class R> Real<R> name(Real<R> a) {                                                                        \
        const double x = static_cast<double>(a.value);                                                                  \
        if (is_undefined) stop("`" #name "` of a number for which it is undefined");                                    \
        return Real<R>(static_cast<R>(std::name(x)));                                                                   \
    }
VKCERT_INEXACT(exp, false)
VKCERT_INEXACT(exp2, false)
VKCERT_INEXACT(log, x <= 0.0)
VKCERT_INEXACT(log2, x <= 0.0)
VKCERT_INEXACT(sin, false)
VKCERT_INEXACT(cos, false)
VKCERT_INEXACT(tan, false)
VKCERT_INEXACT(asin, std::fabs(x) > 1.0)
VKCERT_INEXACT(acos, std::fabs(x) > 1.0)
VKCERT_INEXACT(sinh, false)
VKCERT_INEXACT(cosh, false)
VKCERT_INEXACT(tanh, false)
VKCERT_INEXACT(asinh, false)
VKCERT_INEXACT(acosh, x < 1.0)
VKCERT_INEXACT(atanh, std::fabs(x) >= 1.0)
#undef VKCERT_INEXACT
template <class R> Real<R> atan(Real<R> a) { return real<R>(std::atan(a.wide())); }
template <class R> Real<R> atan(Real<R> y, Real<R> x) {
    if (x.value == 0 && y.value == 0) stop("`atan` of two zeros");
    return real<R>(std::atan2(y.wide(), x.wide()));
}
template <class R> Real<R> pow(Real<R> x, Real<R> y) {
    if (x.value < 0 || (x.value == 0 && y.value <= 0)) stop("`pow` of numbers for which it is undefined");
    return real<R>(std::pow(x.wide(), y.wide()));
}
template <class R> Real<R> radians(Real<R> a) { return real<R>(a.wide() * 0.017453292519943295); }
template <class R> Real<R> degrees(Real<R> a) { return real<R>(a.wide() * 57.29577951308232); }
template <class R> Real<R> ldexp(Real<R> x, Int exponent) {
    const Real<R> made = real<R>(std::ldexp(x.wide(), exponent.value));
    if (isinf(made) && !isinf(x)) stop("`ldexp` whose result is too large");
    return made;
}
template <class R> Real<R> frexp(Real<R> x, Int &exponent) {
    if (!std::isfinite(x.wide())) stop("`frexp` of an infinity or NaN");
    int power = 0;
    const double significand = std::frexp(x.wide(), &power);
    exponent = Int(power);
    return real<R>(significand);
}
template <class R> Real<R> modf(Real<R> x, Real<R> &whole) {
    whole = trunc(x);
    return real<R>(std::copysign(isinf(x) ? 0.0 : x.wide() - whole.wide(), x.wide()));
}

template <class R> Int bitCount(Integer<R> a) {
    std::int32_t count = 0;
    for (std::uint64_t rest = a.bits(); rest != 0; rest &= rest - 1) ++count;
    return Int(count);
}
template <class R> Integer<R> bitfieldReverse(Integer<R> a) {
    constexpr int width = Integer<R>::WIDTH;
    std::uint64_t made = 0;
    for (int bit = 0; bit < width; ++bit) made |= ((std::uint64_t{a.bits()} >> bit) & 1u) << (width - 1 - bit);
    return Integer<R>::of(static_cast<typename Integer<R>::Bits>(made));
}
template <class R> Int findLSB(Integer<R> a) {
    for (int bit = 0; bit < Integer<R>::WIDTH; ++bit)
        if ((std::uint64_t{a.bits()} >> bit) & 1u) return Int(bit);
    return Int(-1);
}
template <class R> Int findMSB(Integer<R> a) {
    const std::uint64_t bits = a.value < 0 ? (~a).bits() : a.bits();
    for (int bit = Integer<R>::WIDTH - 1; bit >= 0; --bit)
        if ((bits >> bit) & 1u) return Int(bit);
    return Int(-1);
}
inline void check_field(Int offset, Int count, int width) {
    const bool fits = offset.value >= 0 && count.value >= 0 && std::int64_t(offset.value) + count.value <= width;
    if (!fits) stop(width == 32 ? "a bit field that reaches beyond 32 bits" : "a bit field that reaches beyond the number");
}
template <class R> Integer<R> bitfieldExtract(Integer<R> a, Int offset, Int count) {
    constexpr int width = Integer<R>::WIDTH;
    check_field(offset, count, width);
    if (count.value == 0) return Integer<R>::of(0);
    return (a << Int(width - count.value - offset.value)) >> Int(width - count.value);
}
template <class R> Integer<R> bitfieldInsert(Integer<R> base, Integer<R> inserted, Int offset, Int count) {
    constexpr int width = Integer<R>::WIDTH;
    using Bits = typename Integer<R>::Bits;
    check_field(offset, count, width);
    if (count.value == 0) return base;
    const std::uint64_t mask = (~std::uint64_t{0} >> (64 - count.value)) << offset.value;
    const std::uint64_t moved = (std::uint64_t{inserted.bits()} << offset.value) & mask;
    return Integer<R>::of(static_cast<Bits>((std::uint64_t{base.bits()} & ~mask) | moved));
}

} // namespace scalar

template <class A> constexpr bool is_operand = is_number<Element<A>>;
// Of components of one type of number, to which all operands come.
#define VKCERT_NUMERIC(name)                                                                                            \
    template <class... A, class = std::enable_if_t<(is_operand<A> && ...)>> constexpr auto name(const A &...operands) { \
        return componentwise<CommonElement<A...>>([](auto... one) { return scalar::name(one...); }, operands...);       \
    }
// The same of floats: integers become floats.
#define VKCERT_FLOATING(name)                                                                                           \
    template <class... A, class = std::enable_if_t<(is_operand<A> && ...)>> constexpr auto name(const A &...operands) { \
        return componentwise<Floating<CommonElement<A...>>>([](auto... one) { return scalar::name(one...); }, operands...); \
    }
VKCERT_NUMERIC(min)
VKCERT_NUMERIC(max)
VKCERT_NUMERIC(clamp)
VKCERT_NUMERIC(abs)
VKCERT_NUMERIC(sign)
VKCERT_NUMERIC(bitCount)
VKCERT_NUMERIC(bitfieldReverse)
VKCERT_NUMERIC(findLSB)
VKCERT_NUMERIC(findMSB)
VKCERT_FLOATING(floor)
VKCERT_FLOATING(ceil)
VKCERT_FLOATING(trunc)
VKCERT_FLOATING(round)
VKCERT_FLOATING(roundEven)
VKCERT_FLOATING(fract)
VKCERT_FLOATING(sqrt)
VKCERT_FLOATING(inversesqrt)
VKCERT_FLOATING(mod)
VKCERT_FLOATING(step)
VKCERT_FLOATING(smoothstep)
VKCERT_FLOATING(fma)
VKCERT_FLOATING(isnan)
VKCERT_FLOATING(isinf)
VKCERT_FLOATING(exp)
VKCERT_FLOATING(exp2)
VKCERT_FLOATING(log)
VKCERT_FLOATING(log2)
VKCERT_FLOATING(pow)
VKCERT_FLOATING(sin)
VKCERT_FLOATING(cos)
VKCERT_FLOATING(tan)
VKCERT_FLOATING(asin)
VKCERT_FLOATING(acos)
VKCERT_FLOATING(atan)
VKCERT_FLOATING(sinh)
VKCERT_FLOATING(cosh)
VKCERT_FLOATING(tanh)
VKCERT_FLOATING(asinh)
VKCERT_FLOATING(acosh)
VKCERT_FLOATING(atanh)
VKCERT_FLOATING(radians)
VKCERT_FLOATING(degrees)
#undef VKCERT_NUMERIC
#undef VKCERT_FLOATING

// A blend of two, or for Booleans the choice of one.
template <class X, class Y, class A, class = std::enable_if_t<!std::is_same_v<Element<X>, bool> || std::is_same_v<Element<A>, bool>>>
constexpr auto mix(const X &x, const Y &y, const A &a) {
    if constexpr (std::is_same_v<Element<A>, bool>) {
        using T = CommonElement<X, Y>;
        if constexpr (Shape<X>::SIZE == 1) return a ? static_cast<T>(x) : static_cast<T>(y);
        else return Vec<T, Shape<X>::SIZE>::each([&](int at) { return static_cast<T>(part(a, at) ? part(y, at) : part(x, at)); });
    } else return componentwise<Floating<CommonElement<X, Y, A>>>([](auto... one) { return scalar::mix(one...); }, x, y, a);
}

template <class A, class O, class C> auto bitfieldExtract(const A &a, const O &offset, const C &count) {
    return componentwise<Element<A>>([&](auto one) { return scalar::bitfieldExtract(one, Int(offset), Int(count)); }, a);
}
template <class A, class B, class O, class C> auto bitfieldInsert(const A &a, const B &b, const O &offset, const C &count) {
    using T = CommonElement<A, B>;
    return componentwise<T>([&](T x, T y) { return scalar::bitfieldInsert(x, y, Int(offset), Int(count)); }, a, b);
}
template <class X, class E> auto ldexp(const X &x, const E &exponent) {
    using T = Floating<Element<X>>;
    if constexpr (Shape<X>::SIZE == 1) return scalar::ldexp(static_cast<T>(x), Int(exponent));
    else return Vec<T, Shape<X>::SIZE>::each([&](int at) { return scalar::ldexp(static_cast<T>(part(x, at)), Int(part(exponent, at))); });
}
template <class X, class E> auto frexp(const X &x, E &exponent) {
    using T = Floating<Element<X>>;
    if constexpr (Shape<X>::SIZE == 1) return scalar::frexp(static_cast<T>(x), exponent);
    else return Vec<T, Shape<X>::SIZE>::each([&](int at) { return scalar::frexp(static_cast<T>(part(x, at)), exponent.component(at)); });
}
template <class X, class W> auto modf(const X &x, W &whole) {
    using T = Floating<Element<X>>;
    if constexpr (Shape<X>::SIZE == 1) return scalar::modf(static_cast<T>(x), whole);
    else return Vec<T, Shape<X>::SIZE>::each([&](int at) { return scalar::modf(static_cast<T>(part(x, at)), whole.component(at)); });
}

// Integers with carry, borrow and the upper half of a product (GLSL 4.60, 8.8).
template <class A, class B, class C> auto uaddCarry(const A &a, const B &b, C &carry) {
    const auto sum = componentwise<Uint>([](Uint x, Uint y) { return x + y; }, a, b);
    carry = componentwise<Uint>([](Uint x, Uint y) { return Uint(x + y < x); }, a, b);
    return sum;
}
template <class A, class B, class C> auto usubBorrow(const A &a, const B &b, C &borrow) {
    const auto difference = componentwise<Uint>([](Uint x, Uint y) { return x - y; }, a, b);
    borrow = componentwise<Uint>([](Uint x, Uint y) { return Uint(x < y); }, a, b);
    return difference;
}
template <class A, class B, class H, class L> void umulExtended(const A &a, const B &b, H &high, L &low) {
    const auto lower = componentwise<Uint>([](Uint x, Uint y) { return x * y; }, a, b);
    high = componentwise<Uint>([](Uint x, Uint y) { return Uint(static_cast<std::uint32_t>(std::uint64_t{x.value} * y.value >> 32)); }, a, b);
    low = lower;
}
template <class A, class B, class H, class L> void imulExtended(const A &a, const B &b, H &high, L &low) {
    const auto lower = componentwise<Int>([](Int x, Int y) { return x * y; }, a, b);
    high = componentwise<Int>([](Int x, Int y) {
        const std::uint64_t product = static_cast<std::uint64_t>(std::int64_t{x.value} * y.value);
        return Int::of(static_cast<std::uint32_t>(product >> 32));
    }, a, b);
    low = lower;
}

template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to.value, &from.value, sizeof(to.value));
    return to;
}
#define VKCERT_BITS(name, From, To)                                                                                     \
    template <class A> auto name(const A &a) {                                                                          \
        return componentwise<From>([](From one) { return same_bits<To>(one); }, a);                                     \
    }
VKCERT_BITS(floatBitsToInt, Float, Int)
VKCERT_BITS(floatBitsToUint, Float, Uint)
VKCERT_BITS(intBitsToFloat, Int, Float)
VKCERT_BITS(uintBitsToFloat, Uint, Float)
VKCERT_BITS(float16BitsToInt16, Half, Int16)
VKCERT_BITS(float16BitsToUint16, Half, Uint16)
VKCERT_BITS(int16BitsToFloat16, Int16, Half)
VKCERT_BITS(uint16BitsToFloat16, Uint16, Half)
VKCERT_BITS(doubleBitsToInt64, Double, Int64)
VKCERT_BITS(doubleBitsToUint64, Double, Uint64)
VKCERT_BITS(int64BitsToDouble, Int64, Double)
VKCERT_BITS(uint64BitsToDouble, Uint64, Double)
#undef VKCERT_BITS

// Numbers packed into others (GLSL 4.60, 8.4; GL_EXT_shader_explicit_arithmetic_types); the first stands lowest.
inline Uint packFloat2x16(const Vec<Half, 2> &v) { return Uint(v.x.value.bits | std::uint32_t{v.y.value.bits} << 16); }
inline Vec<Half, 2> unpackFloat2x16(Uint a) {
    const auto part_at = [&](int bit) { return half::of(static_cast<std::uint16_t>(a.value >> bit)); };
    return Vec<Half, 2>(Half(part_at(0)), Half(part_at(16)));
}
inline Uint packHalf2x16(const vec2 &v) { return packFloat2x16(Vec<Half, 2>(v)); }
inline vec2 unpackHalf2x16(Uint a) { return unpackFloat2x16(a); }
// `scale` is the greatest number; the direction of halves is left to the implementation, here the even one.
template <int N> Uint pack_normal(const Vec<Float, N> &v, float least, float scale) {
    std::uint32_t made = 0;
    for (int at = 0; at < N; ++at) {
        const float limited = scalar::clamp(v.component(at), Float(least), Float(1.0f)).value;
        const std::int32_t whole = std::isnan(limited) ? 0 : static_cast<std::int32_t>(std::nearbyint(limited * scale));
        made |= (static_cast<std::uint32_t>(whole) & (0xFFFFFFFFu >> (32 - 32 / N))) << (32 / N * at);
    }
    return Uint(made);
}
template <int N, class Raw> Vec<Float, N> unpack_normal(Uint a, float least, float scale) {
    return Vec<Float, N>::each([&](int at) {
        const Raw whole = static_cast<Raw>(a.value >> (32 / N * at));
        return scalar::clamp(Float(static_cast<float>(whole) / scale), Float(least), Float(1.0f));
    });
}
inline Uint packUnorm2x16(const vec2 &v) { return pack_normal<2>(v, 0.0f, 65535.0f); }
inline Uint packSnorm2x16(const vec2 &v) { return pack_normal<2>(v, -1.0f, 32767.0f); }
inline Uint packUnorm4x8(const vec4 &v) { return pack_normal<4>(v, 0.0f, 255.0f); }
inline Uint packSnorm4x8(const vec4 &v) { return pack_normal<4>(v, -1.0f, 127.0f); }
inline vec2 unpackUnorm2x16(Uint a) { return unpack_normal<2, std::uint16_t>(a, 0.0f, 65535.0f); }
inline vec2 unpackSnorm2x16(Uint a) { return unpack_normal<2, std::int16_t>(a, -1.0f, 32767.0f); }
inline vec4 unpackUnorm4x8(Uint a) { return unpack_normal<4, std::uint8_t>(a, 0.0f, 255.0f); }
inline vec4 unpackSnorm4x8(Uint a) { return unpack_normal<4, std::int8_t>(a, -1.0f, 127.0f); }

// A vector as one number of as many bits, and the other way.
template <class To, class T, int N> To joined(const Vec<T, N> &v) {
    std::uint64_t made = 0;
    for (int at = 0; at < N; ++at) made |= std::uint64_t{v.component(at).bits()} << (8 * sizeof(T) * static_cast<std::size_t>(at));
    return To::of(static_cast<typename To::Bits>(made));
}
template <class To, class Raw> auto cut(Integer<Raw> a) {
    using T = Integer<To>;
    return Vec<T, static_cast<int>(sizeof(Raw) / sizeof(To))>::each([&](int at) {
        return T::of(static_cast<typename T::Bits>(std::uint64_t{a.bits()} >> (T::WIDTH * at)));
    });
}
inline Uint64 packUint2x32(const uvec2 &v) { return joined<Uint64>(v); }
inline Int64 packInt2x32(const ivec2 &v) { return joined<Int64>(v); }
inline uvec2 unpackUint2x32(Uint64 a) { return cut<std::uint32_t>(a); }
inline ivec2 unpackInt2x32(Int64 a) { return cut<std::int32_t>(a); }
inline Double packDouble2x32(const uvec2 &v) { return same_bits<Double>(joined<Uint64>(v)); }
inline uvec2 unpackDouble2x32(Double a) { return cut<std::uint32_t>(same_bits<Uint64>(a)); }
template <class R> auto pack16(const Vec<Integer<R>, 2> &v) {
    return joined<Integer<std::conditional_t<std::is_signed_v<R>, std::int16_t, std::uint16_t>>>(v);
}
template <class R, int N> auto pack32(const Vec<Integer<R>, N> &v) {
    return joined<Integer<std::conditional_t<std::is_signed_v<R>, std::int32_t, std::uint32_t>>>(v);
}
template <class R, int N> auto pack64(const Vec<Integer<R>, N> &v) {
    return joined<Integer<std::conditional_t<std::is_signed_v<R>, std::int64_t, std::uint64_t>>>(v);
}
template <class R> auto unpack8(Integer<R> a) { return cut<std::conditional_t<std::is_signed_v<R>, std::int8_t, std::uint8_t>>(a); }
template <class R> auto unpack16(Integer<R> a) { return cut<std::conditional_t<std::is_signed_v<R>, std::int16_t, std::uint16_t>>(a); }
template <class R> auto unpack32(Integer<R> a) { return cut<std::conditional_t<std::is_signed_v<R>, std::int32_t, std::uint32_t>>(a); }

// Geometry (GLSL 4.60, 8.5). A scalar counts as a vector of one component.
template <class A, class B> auto dot(const A &a, const B &b) {
    using T = Floating<CommonElement<A, B>>;
    T sum = static_cast<T>(part(a, 0)) * static_cast<T>(part(b, 0));
    for (int at = 1; at < Shape<A>::SIZE; ++at) sum = sum + static_cast<T>(part(a, at)) * static_cast<T>(part(b, at));
    return sum;
}
template <class A, class B> auto cross(const Vec<A, 3> &left, const Vec<B, 3> &right) {
    using V = Vec<Floating<Common<A, B>>, 3>;
    const V a(left), b(right);
    return V(a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y);
}
template <class A> auto length(const A &a) {
    if constexpr (Shape<A>::SIZE == 1) return abs(static_cast<Floating<A>>(a));
    else return scalar::sqrt(dot(a, a));
}
template <class A, class B> auto distance(const A &a, const B &b) { return length(a - b); }
template <class A> auto normalize(const A &a) { return a / length(a); }
template <class N, class I, class G> auto faceforward(const N &n, const I &incident, const G &geometric) {
    using T = Floating<CommonElement<N, I, G>>;
    const T facing(dot(geometric, incident));
    return componentwise<T>([&](T one) { return facing < T(Int(0)) ? one : -one; }, n);
}
template <class I, class N> auto reflect(const I &incident, const N &n) {
    const auto along = dot(n, incident);
    return incident - decltype(along)(Int(2)) * along * n;
}
template <class I, class N, class E> auto refract(const I &incident, const N &n, const E &ratio) {
    using T = Floating<CommonElement<I, N>>;
    const T eta(ratio), along = dot(n, incident), one(Int(1));
    const T k = one - eta * eta * (one - along * along);
    using V = decltype(eta * incident - eta * n);
    return k < T(Int(0)) ? V(T(Int(0))) : V(eta * incident - (eta * along + scalar::sqrt(k)) * n);
}

// Matrices (GLSL 4.60, 8.6). Determinants and inverses are calculated in double precision, by minors.
template <class A, class B, int C, int R> auto matrixCompMult(const Mat<A, C, R> &a, const Mat<B, C, R> &b) {
    return Mat<Common<A, B>, C, R>::each([&](int c, int r) { return a.at(c).component(r) * b.at(c).component(r); });
}
template <class A, int R, class B, int C> auto outerProduct(const Vec<A, R> &column, const Vec<B, C> &row) {
    using T = Floating<Common<A, B>>;
    return Mat<T, C, R>::each([&](int c, int r) { return T(column.component(r)) * T(row.component(c)); });
}
template <class T, int C, int R> constexpr auto transpose(const Mat<T, C, R> &a) {
    return Mat<T, R, C>::each([&](int c, int r) { return a.at(r).component(c); });
}
inline double minor_sum(const double *m, int size) {
    if (size == 1) return m[0];
    double sum = 0.0;
    for (int skipped = 0; skipped < size; ++skipped) {
        double inner[9];
        int next = 0;
        for (int c = 1; c < size; ++c)
            for (int r = 0; r < size; ++r)
                if (r != skipped) inner[next++] = m[c * size + r];
        sum += (skipped % 2 == 0 ? 1.0 : -1.0) * m[skipped] * minor_sum(inner, size - 1);
    }
    return sum;
}
template <class T, int N> T determinant(const Mat<T, N, N> &a) {
    double m[N * N];
    for (int at = 0; at < N * N; ++at) m[at] = static_cast<double>(a.at(at / N).component(at % N).value);
    return T(Double(minor_sum(m, N)));
}
template <class T, int N> Mat<T, N, N> inverse(const Mat<T, N, N> &a) {
    double m[N * N];
    for (int at = 0; at < N * N; ++at) m[at] = static_cast<double>(a.at(at / N).component(at % N).value);
    const double whole = minor_sum(m, N);
    if (whole == 0.0) stop("the inverse of a singular matrix");
    return Mat<T, N, N>::each([&](int column, int row) {
        double inner[9] = {0.0};
        int next = 0;
        for (int c = 0; c < N; ++c)
            for (int r = 0; r < N; ++r)
                if (c != row && r != column) inner[next++] = m[c * N + r];
        return T(Double(((row + column) % 2 == 0 ? 1.0 : -1.0) * minor_sum(inner, N - 1) / whole));
    });
}

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
    template <class A, class B, int N> Vec<bool, N> name(const Vec<A, N> &a, const Vec<B, N> &b) {                      \
        return Vec<bool, N>::each([&](int at) { return a.component(at) op b.component(at); });                          \
    }
VKCERT_RELATION(lessThan, <)
VKCERT_RELATION(lessThanEqual, <=)
VKCERT_RELATION(greaterThan, >)
VKCERT_RELATION(greaterThanEqual, >=)
VKCERT_RELATION(equal, ==)
VKCERT_RELATION(notEqual, !=)
#undef VKCERT_RELATION

// Invocations run one after the other, so atomics are plain and memory is always in order. What qualifies the order of an
// atomic (GL_KHR_memory_scope_semantics) says nothing here.
#define VKCERT_ATOMIC(name, made)                                                                                       \
    template <class T, class... Order> T name(T &memory, Exactly<T> value, const Order &...) {                          \
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

// What a function writes, where it is no place of the parameter's type: a value of that type, which goes back behind the call.
template <class T, class A> struct Handed {
    A argument;
    T value;
    Handed(const Handed &) = delete;
    Handed &operator=(const Handed &) = delete;
    explicit Handed(A given) : argument(given), value(taken_in(argument)) {}
    ~Handed() { argument = value; }
    operator T &() { return value; }
    static T taken_in(A given) {
        if constexpr (std::is_convertible_v<A, T>) return given;
        else return (void)given, T();
    }
};
template <class T, class A> Handed<T, A &> handed(A &argument) { return Handed<T, A &>(argument); }
template <class T, class V, int N, int... At> Handed<T, Swizzled<V, N, At...>> handed(Swizzled<V, N, At...> argument) {
    return Handed<T, Swizzled<V, N, At...>>(argument);
}

// Bytes that a descriptor shows.
struct Range {
    unsigned char *bytes = nullptr;
    std::size_t size = 0;
};

// Bytes that a value needs: a structure may end with bytes that are nobody's.
template <class T, class = void> struct Extent { static constexpr std::size_t BYTES = sizeof(T); };
template <class T> struct Extent<T, std::void_t<decltype(T::EXTENT)>> { static constexpr std::size_t BYTES = T::EXTENT; };

// A member of a storage block that is no array.
template <class T> struct Member {
    Range range;
    std::size_t offset = 0;
    void bind(Range shown, std::size_t at) { range = shown, offset = at; }
    T &get() const {
        if (offset + Extent<T>::BYTES > range.size) stop("an access beyond a buffer");
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
    template <class Raw> T &operator[](Integer<Raw> at) const {
        if (raw_index(at) >= count) stop("an access beyond a buffer");
        const std::size_t start = offset + raw_index(at) * stride;
        if (start + Extent<T>::BYTES > range.size) stop("an access beyond a buffer");
        return *reinterpret_cast<T *>(range.bytes + start);
    }
    Int length() const { return Int(static_cast<std::int32_t>(count)); }
    // All of it, where the text says how long it is.
    template <std::size_t N> operator Array<T, N>() const {
        Array<T, N> all;
        for (std::size_t at = 0; at < N; ++at) all.elements[at] = (*this)[Uint(static_cast<std::uint32_t>(at))];
        return all;
    }
    template <std::size_t N> const Elements &operator=(const Array<T, N> &all) const {
        for (std::size_t at = 0; at < N; ++at) (*this)[Uint(static_cast<std::uint32_t>(at))] = all.elements[at];
        return *this;
    }
    Elements() = default;
    Elements(const Elements &) = default;
    // From one buffer to another, element by element.
    const Elements &operator=(const Elements &other) const {
        for (std::size_t at = 0; at < count; ++at) {
            const Uint index(static_cast<std::uint32_t>(at));
            (*this)[index] = other[index];
        }
        return *this;
    }
    template <std::size_t N> friend bool operator==(const Elements &a, const Array<T, N> &b) { return Array<T, N>(a) == b; }
    template <std::size_t N> friend bool operator==(const Array<T, N> &a, const Elements &b) { return a == Array<T, N>(b); }
    template <std::size_t N> friend bool operator!=(const Elements &a, const Array<T, N> &b) { return !(a == b); }
    template <std::size_t N> friend bool operator!=(const Array<T, N> &a, const Elements &b) { return !(a == b); }
    friend bool operator==(const Elements &a, const Elements &b) {
        for (std::size_t at = 0; at < a.count; ++at) {
            const Uint index(static_cast<std::uint32_t>(at));
            if (a[index] != b[index]) return false;
        }
        return true;
    }
    friend bool operator!=(const Elements &a, const Elements &b) { return !(a == b); }
};

// What the kernel only reads is copied out of its block, as far as it lies in what is bound.
struct Copying {
    bool any_inside = false, any_beyond = false;
};
inline Copying copying;
enum class Copy : unsigned char { BEYOND, DIVIDED, WHOLE };
// How much has come of what was copied since the last question.
inline Copy copied() {
    const Copying was = copying;
    copying = Copying();
    return !was.any_beyond ? Copy::WHOLE : was.any_inside ? Copy::DIVIDED : Copy::BEYOND;
}
inline void check_copy(Copy copy) {
    if (copy == Copy::BEYOND) stop("an access beyond a buffer");
    if (copy == Copy::DIVIDED) stop("a read of a value that lies partly beyond a buffer");
}
template <class Raw> Raw bytes_at(Range range, std::size_t offset) {
    Raw number{};
    const bool is_inside = offset + sizeof(Raw) <= range.size;
    (is_inside ? copying.any_inside : copying.any_beyond) = true;
    if (is_inside) std::memcpy(&number, range.bytes + offset, sizeof(Raw));
    return number;
}

// A member of a block that is only read, and no array.
template <class T> struct Copied {
    T value{};
    Copy copy = Copy::BEYOND;
    void end() { copy = copied(); }
    const T &get() const {
        check_copy(copy);
        return value;
    }
};
// An array in a block that is only read.
template <class A> struct Copies;
template <class T, std::size_t N> struct Copies<Array<T, N>> {
    Array<T, N> value{};
    Copy copy[N]{};
    void end(std::size_t at) { copy[at] = copied(); }
    template <class Raw> const T &operator[](Integer<Raw> at) const {
        if (raw_index(at) >= N) stop("an access beyond a buffer");
        check_copy(copy[raw_index(at)]);
        return value.elements[raw_index(at)];
    }
    Int length() const { return value.length(); }
    operator const Array<T, N> &() const {
        for (Copy part : copy) check_copy(part);
        return value;
    }
    friend bool operator==(const Copies &a, const Array<T, N> &b) { return static_cast<const Array<T, N> &>(a) == b; }
    friend bool operator==(const Array<T, N> &a, const Copies &b) { return b == a; }
    friend bool operator==(const Copies &a, const Copies &b) { return static_cast<const Array<T, N> &>(a) == b; }
    friend bool operator!=(const Copies &a, const Array<T, N> &b) { return !(a == b); }
    friend bool operator!=(const Array<T, N> &a, const Copies &b) { return !(b == a); }
    friend bool operator!=(const Copies &a, const Copies &b) { return !(a == b); }
};
template <class Raw> void load(Integer<Raw> &to, Range range, std::size_t offset) { to = Integer<Raw>(bytes_at<Raw>(range, offset)); }
template <class Raw> void load(Real<Raw> &to, Range range, std::size_t offset) { to = Real<Raw>(bytes_at<Raw>(range, offset)); }
inline void load(bool &to, Range range, std::size_t offset) { to = bytes_at<std::uint32_t>(range, offset) != 0; }
template <class T, int N> void load(Vec<T, N> &to, Range range, std::size_t offset) {
    constexpr std::size_t size = std::is_same_v<T, bool> ? 4 : sizeof(T);
    for (int at = 0; at < N; ++at) load(to.component(at), range, offset + size * static_cast<std::size_t>(at));
}
// `column` and `row` are the bytes from one column and one row to the next.
template <class T, int C, int R> void load(Mat<T, C, R> &to, Range range, std::size_t offset, std::size_t column, std::size_t row) {
    for (int c = 0; c < C; ++c)
        for (int r = 0; r < R; ++r) load(to.at(c).component(r), range, offset + column * static_cast<std::size_t>(c) + row * static_cast<std::size_t>(r));
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

// Subgroups: each run of `subgroup_size` invocations by their index is one. An operation is done for all invocations at once; who is
// not here takes no part in it.
inline std::uint32_t subgroup_size = 32;
inline Uint gl_SubgroupSize, gl_SubgroupInvocationID, gl_SubgroupID, gl_NumSubgroups;
inline uvec4 gl_SubgroupEqMask, gl_SubgroupGeMask, gl_SubgroupGtMask, gl_SubgroupLeMask, gl_SubgroupLtMask;

// The bits from one number up to another one.
inline uvec4 bits_between(std::uint32_t from, std::uint32_t to) {
    return uvec4::each([&](int word) {
        std::uint32_t bits = 0;
        for (std::uint32_t bit = 0; bit < 32; ++bit) {
            const std::uint32_t number = 32 * static_cast<std::uint32_t>(word) + bit;
            if (number >= from && number < to) bits |= std::uint32_t{1} << bit;
        }
        return Uint(bits);
    });
}
inline void set_subgroup_masks(std::uint32_t own) {
    gl_SubgroupEqMask = bits_between(own, own + 1);
    gl_SubgroupGeMask = bits_between(own, subgroup_size);
    gl_SubgroupGtMask = bits_between(own + 1, subgroup_size);
    gl_SubgroupLeMask = bits_between(0, own + 1);
    gl_SubgroupLtMask = bits_between(0, own);
}
inline bool has_bit(const uvec4 &mask, std::uint32_t bit) { return (mask.component(static_cast<int>(bit / 32 % 4)).value >> (bit % 32) & 1u) != 0; }
inline std::uint32_t count_between(const uvec4 &mask, std::uint32_t from, std::uint32_t to) {
    std::uint32_t count = 0;
    for (std::uint32_t bit = from; bit < to; ++bit) count += has_bit(mask, bit) ? 1 : 0;
    return count;
}

// The value of one invocation, among those of all.
template <class T> struct Slot {
    T value{};
};
template <class T> using Slots = std::vector<Slot<T>>;

// Calls `made` with the first and the last invocation (exclusive) of each run of so many.
template <class F> void each_run(std::size_t count, std::size_t size, F made) {
    for (std::size_t first = 0; first < count; first += size) made(first, std::min(first + size, count));
}
// The lowest invocation of a run that is here; the end of the run where none is.
template <class I> std::size_t first_here(const I &invocations, std::size_t first, std::size_t last) {
    while (first < last && !is_here(invocations[first])) ++first;
    return first;
}
// One value for each subgroup, of its lowest invocation, its first one and its end.
template <class T, class I, class F> Slots<T> for_subgroups(const I &invocations, F made) {
    Slots<T> all(invocations.size());
    each_run(invocations.size(), subgroup_size, [&](std::size_t first, std::size_t last) {
        const std::size_t lowest = first_here(invocations, first, last);
        if (lowest == last) return;
        const T value = made(lowest, first, last);
        for (std::size_t at = first; at < last; ++at) all[at].value = value;
    });
    return all;
}

template <class I> Slots<bool> subgroupElect(const I &invocations) {
    Slots<bool> all(invocations.size());
    each_run(invocations.size(), subgroup_size, [&](std::size_t first, std::size_t last) {
        const std::size_t lowest = first_here(invocations, first, last);
        if (lowest < last) all[lowest].value = true;
    });
    return all;
}
template <class I> uvec4 ballot_of(const I &invocations, const Slots<bool> &values, std::size_t first, std::size_t last) {
    uvec4 mask(Uint(std::uint32_t{0}));
    for (std::size_t at = first; at < last; ++at) {
        const std::uint32_t bit = static_cast<std::uint32_t>(at - first);
        if (is_here(invocations[at]) && values[at].value) mask = mask | bits_between(bit, bit + 1);
    }
    return mask;
}
template <class I> Slots<uvec4> subgroupBallot(const I &invocations, const Slots<bool> &values) {
    return for_subgroups<uvec4>(invocations, [&](std::size_t, std::size_t first, std::size_t last) {
        return ballot_of(invocations, values, first, last);
    });
}
template <class I> Slots<bool> subgroupAny(const I &invocations, const Slots<bool> &values) {
    return for_subgroups<bool>(invocations, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; ++at)
            if (is_here(invocations[at]) && values[at].value) return true;
        return false;
    });
}
template <class I> Slots<bool> subgroupAll(const I &invocations, const Slots<bool> &values) {
    return for_subgroups<bool>(invocations, [&](std::size_t, std::size_t first, std::size_t last) {
        for (std::size_t at = first; at < last; ++at)
            if (is_here(invocations[at]) && !values[at].value) return false;
        return true;
    });
}
template <class I, class T> Slots<bool> subgroupAllEqual(const I &invocations, const Slots<T> &values) {
    return for_subgroups<bool>(invocations, [&](std::size_t lowest, std::size_t, std::size_t last) {
        for (std::size_t at = lowest; at < last; ++at)
            if (is_here(invocations[at]) && !(values[at].value == values[lowest].value)) return false;
        return true;
    });
}

// What each invocation makes of its own value alone.
template <class T, class I, class V, class F> Slots<T> for_each_here(const I &invocations, const Slots<V> &values, F made) {
    Slots<T> all(invocations.size());
    for (std::size_t at = 0; at < invocations.size(); ++at)
        if (is_here(invocations[at])) all[at].value = made(values[at].value, static_cast<std::uint32_t>(at % subgroup_size), at);
    return all;
}
template <class I> Slots<bool> subgroupInverseBallot(const I &invocations, const Slots<uvec4> &masks) {
    return for_each_here<bool>(invocations, masks, [](const uvec4 &mask, std::uint32_t own, std::size_t) { return has_bit(mask, own); });
}
template <class I, class B> Slots<bool> subgroupBallotBitExtract(const I &invocations, const Slots<uvec4> &masks, const Slots<B> &bits) {
    return for_each_here<bool>(invocations, masks, [&](const uvec4 &mask, std::uint32_t, std::size_t at) {
        if (raw_index(bits[at].value) >= subgroup_size) stop("a bit of a ballot beyond the subgroup");
        return has_bit(mask, static_cast<std::uint32_t>(raw_index(bits[at].value)));
    });
}
#define VKCERT_BALLOT_COUNT(name, from, to)                                                                             \
    template <class I> Slots<Uint> name(const I &invocations, const Slots<uvec4> &masks) {                              \
        return for_each_here<Uint>(invocations, masks, [](const uvec4 &mask, std::uint32_t own, std::size_t) {          \
            (void)own;                                                                                                  \
            return Uint(count_between(mask, from, to));                                                                 \
        });                                                                                                             \
    }
VKCERT_BALLOT_COUNT(subgroupBallotBitCount, 0, subgroup_size)
VKCERT_BALLOT_COUNT(subgroupBallotInclusiveBitCount, 0, own + 1)
VKCERT_BALLOT_COUNT(subgroupBallotExclusiveBitCount, 0, own)
#undef VKCERT_BALLOT_COUNT
template <class I> Slots<Uint> subgroupBallotFindLSB(const I &invocations, const Slots<uvec4> &masks) {
    return for_each_here<Uint>(invocations, masks, [](const uvec4 &mask, std::uint32_t, std::size_t) {
        for (std::uint32_t bit = 0; bit < subgroup_size; ++bit)
            if (has_bit(mask, bit)) return Uint(bit);
        stop("the least bit of a ballot without bits");
    });
}
template <class I> Slots<Uint> subgroupBallotFindMSB(const I &invocations, const Slots<uvec4> &masks) {
    return for_each_here<Uint>(invocations, masks, [](const uvec4 &mask, std::uint32_t, std::size_t) {
        for (std::uint32_t bit = subgroup_size; bit > 0; --bit)
            if (has_bit(mask, bit - 1)) return Uint(bit - 1);
        stop("the greatest bit of a ballot without bits");
    });
}

// Each invocation takes the value of another one of its subgroup, by number. One that is not there gives what nobody has written.
template <class I, class T, class F> Slots<T> taken(const I &invocations, const Slots<T> &values, F number_of) {
    return for_each_here<T>(invocations, values, [&](const T &, std::uint32_t own, std::size_t at) {
        const std::uint64_t number = number_of(own, at);
        const std::size_t from = at - own + static_cast<std::size_t>(number);
        const bool is_there = number < subgroup_size && from < invocations.size() && is_here(invocations[from]);
        return is_there ? values[from].value : T{};
    });
}
// The same, where a result that does not exist is told at once.
template <class I, class T, class F> Slots<T> taken_for_certain(const I &invocations, const Slots<T> &values, F number_of) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) {
        const std::uint64_t number = number_of(own, at);
        const std::size_t from = at - own + static_cast<std::size_t>(number);
        const bool is_there = number < subgroup_size && from < invocations.size() && is_here(invocations[from]);
        if (!is_there) stop("a value of an invocation that takes no part in the operation of the subgroup");
        return number;
    });
}
template <class I, class T, class N> Slots<T> subgroupShuffle(const I &invocations, const Slots<T> &values, const Slots<N> &numbers) {
    return taken(invocations, values, [&](std::uint32_t, std::size_t at) { return raw_index(numbers[at].value); });
}
template <class I, class T, class N> Slots<T> subgroupShuffleXor(const I &invocations, const Slots<T> &values, const Slots<N> &masks) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) { return own ^ raw_index(masks[at].value); });
}
template <class I, class T, class N> Slots<T> subgroupShuffleUp(const I &invocations, const Slots<T> &values, const Slots<N> &steps) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) { return std::uint64_t{own} - raw_index(steps[at].value); });
}
template <class I, class T, class N> Slots<T> subgroupShuffleDown(const I &invocations, const Slots<T> &values, const Slots<N> &steps) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) { return own + raw_index(steps[at].value); });
}
// Runs of so many invocations take the value that is so many steps on, in a circle.
template <class I, class T, class N, class C> Slots<T>
subgroupClusteredRotate(const I &invocations, const Slots<T> &values, const Slots<N> &steps, const Slots<C> &sizes) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) {
        const std::uint64_t size = raw_index(sizes[at].value);
        if (size == 0 || size > subgroup_size || (size & (size - 1)) != 0) stop("a cluster of a size that does not divide the subgroup");
        return own / size * size + (own + raw_index(steps[at].value)) % size;
    });
}
template <class I, class T, class N> Slots<T> subgroupRotate(const I &invocations, const Slots<T> &values, const Slots<N> &steps) {
    return taken(invocations, values, [&](std::uint32_t own, std::size_t at) { return (own + raw_index(steps[at].value)) % subgroup_size; });
}
// The number must be the same in each run of so many invocations.
template <class I, class N> void check_same(const I &invocations, const Slots<N> &numbers, std::size_t size) {
    each_run(invocations.size(), size, [&](std::size_t first, std::size_t last) {
        const std::size_t lowest = first_here(invocations, first, last);
        for (std::size_t at = lowest; at < last; ++at)
            if (is_here(invocations[at]) && numbers[at].value != numbers[lowest].value) stop("a broadcast whose index is not the same in the subgroup");
    });
}
template <class I, class T, class N> Slots<T> subgroupBroadcast(const I &invocations, const Slots<T> &values, const Slots<N> &numbers) {
    check_same(invocations, numbers, subgroup_size);
    return taken_for_certain(invocations, values, [&](std::uint32_t, std::size_t at) { return raw_index(numbers[at].value); });
}
template <class I, class T> Slots<T> subgroupBroadcastFirst(const I &invocations, const Slots<T> &values) {
    return for_subgroups<T>(invocations, [&](std::size_t lowest, std::size_t, std::size_t) { return values[lowest].value; });
}
template <class I, class T, class N> Slots<T> subgroupQuadBroadcast(const I &invocations, const Slots<T> &values, const Slots<N> &numbers) {
    check_same(invocations, numbers, 4);
    return taken_for_certain(invocations, values, [&](std::uint32_t own, std::size_t at) {
        const std::uint64_t number = raw_index(numbers[at].value);
        return number < 4 ? own / 4 * 4 + number : std::uint64_t{subgroup_size};
    });
}
#define VKCERT_QUAD(name, mask)                                                                                         \
    template <class I, class T> Slots<T> name(const I &invocations, const Slots<T> &values) {                           \
        return taken_for_certain(invocations, values, [](std::uint32_t own, std::size_t) { return std::uint64_t{own ^ mask}; }); \
    }
VKCERT_QUAD(subgroupQuadSwapHorizontal, 1u)
VKCERT_QUAD(subgroupQuadSwapVertical, 2u)
VKCERT_QUAD(subgroupQuadSwapDiagonal, 3u)
#undef VKCERT_QUAD

// Sums and the like, in ascending order of the invocations; the first value is for nobody in front.
template <class T> struct Limit {
    using Raw = decltype(T::value);
    static T least() {
        if constexpr (is_real<T>) return T(Real<double>(-std::numeric_limits<double>::infinity()));
        else return T(std::numeric_limits<Raw>::min());
    }
    static T greatest() {
        if constexpr (is_real<T>) return T(Real<double>(std::numeric_limits<double>::infinity()));
        else return T(std::numeric_limits<Raw>::max());
    }
};
struct Sum {
    template <class T> static T none() { return T(Int(0)); }
    template <class T> static T both(T a, T b) { return a + b; }
};
struct Product {
    template <class T> static T none() { return T(Int(1)); }
    template <class T> static T both(T a, T b) { return a * b; }
};
// Of a NaN and a number the number.
struct Least {
    template <class T> static T none() { return Limit<T>::greatest(); }
    template <class T> static T both(T a, T b) { return b < a || a != a ? b : a; }
};
struct Greatest {
    template <class T> static T none() { return Limit<T>::least(); }
    template <class T> static T both(T a, T b) { return a < b || a != a ? b : a; }
};
struct Conjunction {
    template <class T> static T none() {
        if constexpr (std::is_same_v<T, bool>) return true;
        else return T(~T(Int(0)));
    }
    template <class T> static T both(T a, T b) { return static_cast<T>(a & b); }
};
struct Disjunction {
    template <class T> static T none() { return T(Int(0)); }
    template <class T> static T both(T a, T b) { return static_cast<T>(a | b); }
};
struct Difference {
    template <class T> static T none() { return T(Int(0)); }
    template <class T> static T both(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class F, class V> V none_of() {
    if constexpr (Shape<V>::SIZE == 1) return F::template none<V>();
    else return V(F::template none<Element<V>>());
}
template <class F, class V> V both_of(const V &a, const V &b) {
    return componentwise<Element<V>>([](auto x, auto y) { return F::both(x, y); }, a, b);
}
// `ahead`: with the own value, or with those in front alone.
enum class Scan { INCLUSIVE, EXCLUSIVE };
template <class F, class I, class V> Slots<V> scanned(const I &invocations, const Slots<V> &values, Scan scan) {
    Slots<V> all(invocations.size());
    each_run(invocations.size(), subgroup_size, [&](std::size_t first, std::size_t last) {
        V sum = none_of<F, V>();
        bool is_first = true;
        for (std::size_t at = first; at < last; ++at) {
            if (!is_here(invocations[at])) continue;
            if (scan == Scan::EXCLUSIVE) all[at].value = sum;
            sum = is_first ? values[at].value : both_of<F, V>(sum, values[at].value);
            is_first = false;
            if (scan == Scan::INCLUSIVE) all[at].value = sum;
        }
    });
    return all;
}
template <class F, class I, class V> Slots<V> reduced(const I &invocations, const Slots<V> &values, std::size_t size) {
    if (size == 0 || size > subgroup_size || (size & (size - 1)) != 0) stop("a cluster of a size that does not divide the subgroup");
    Slots<V> all(invocations.size());
    each_run(invocations.size(), subgroup_size, [&](std::size_t begin, std::size_t end) {
        each_run(end - begin, size, [&](std::size_t from, std::size_t to) {
            const std::size_t last = begin + to, lowest = first_here(invocations, begin + from, last);
            if (lowest == last) return;
            V sum = values[lowest].value;
            for (std::size_t at = lowest + 1; at < last; ++at)
                if (is_here(invocations[at])) sum = both_of<F, V>(sum, values[at].value);
            for (std::size_t at = lowest; at < last; ++at) all[at].value = sum;
        });
    });
    return all;
}
// The size of clusters is a constant of the kernel.
template <class I, class N> std::size_t cluster_size(const I &invocations, const Slots<N> &sizes) {
    const std::size_t lowest = first_here(invocations, 0, invocations.size());
    return lowest == invocations.size() ? 1 : raw_index(sizes[lowest].value);
}
#define VKCERT_SUBGROUP(name, F)                                                                                        \
    template <class I, class V> Slots<V> subgroup##name(const I &invocations, const Slots<V> &values) {                 \
        return reduced<F>(invocations, values, subgroup_size);                                                          \
    }                                                                                                                   \
    template <class I, class V> Slots<V> subgroupInclusive##name(const I &invocations, const Slots<V> &values) {        \
        return scanned<F>(invocations, values, Scan::INCLUSIVE);                                                        \
    }                                                                                                                   \
    template <class I, class V> Slots<V> subgroupExclusive##name(const I &invocations, const Slots<V> &values) {        \
        return scanned<F>(invocations, values, Scan::EXCLUSIVE);                                                        \
    }                                                                                                                   \
    template <class I, class V, class N> Slots<V> subgroupClustered##name(const I &invocations, const Slots<V> &values, const Slots<N> &sizes) { \
        return reduced<F>(invocations, values, cluster_size(invocations, sizes));                                       \
    }
VKCERT_SUBGROUP(Add, Sum)
VKCERT_SUBGROUP(Mul, Product)
VKCERT_SUBGROUP(Min, Least)
VKCERT_SUBGROUP(Max, Greatest)
VKCERT_SUBGROUP(And, Conjunction)
VKCERT_SUBGROUP(Or, Disjunction)
VKCERT_SUBGROUP(Xor, Difference)
#undef VKCERT_SUBGROUP

// A job: lines of words. `buffer N BYTES` (hexadecimal digits, `-` for none), `bind SET BINDING BUFFER OFFSET RANGE`,
// `push BYTES`, `subgroup SIZE`, `dispatch X Y Z`; bindings, push constants and the size of subgroups hold for the dispatches below them.
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
    std::uint32_t subgroup_size = 32;

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
        } else if (what == "subgroup") {
            job.subgroup_size = words.word();
            words.end();
            const std::uint32_t size = job.subgroup_size;
            if (size == 0 || size > 128 || (size & (size - 1)) != 0) words.refuse("no power of two up to 128");
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
