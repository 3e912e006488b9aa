/* A tag and a type of one name are two structs. */
struct Sizes { unsigned step, n; };
typedef struct { unsigned n, step; } Sizes;
struct Outer { struct Inner { unsigned n, step; } inner; };
