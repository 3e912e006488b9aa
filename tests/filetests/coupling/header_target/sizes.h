struct Sizes {
    unsigned long n;
    unsigned int step;
};
typedef struct Sizes Sizes;
