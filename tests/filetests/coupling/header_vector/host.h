typedef float Three __attribute__((ext_vector_type(3)));
typedef float Packed[3];
typedef _Bool Bits __attribute__((ext_vector_type(32)));
struct Sizes { unsigned n; unsigned flags; };
struct OfBits { unsigned n; Bits flags; };
