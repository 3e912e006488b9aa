struct Sizes {
    unsigned m, n, k;
};
typedef struct Sizes Sizes;
typedef struct {
    unsigned long m;
    unsigned n, k;
} Wide;
