typedef struct {
    struct { unsigned first, second; } inner;
    float weight;
} Pair;
typedef float Number;
