struct WithUnion {
    unsigned n;
    union {
        unsigned step;
        float ratio;
    };
};
struct WithBits {
    unsigned n;
    unsigned step : 4;
};
struct WithPointer {
    unsigned n;
    unsigned step;
    unsigned *rest;
};
struct WithRest {
    unsigned n;
    unsigned step;
    unsigned rest[];
};
struct Base {
    unsigned n;
};
struct WithBase : Base {
    unsigned step;
};
struct WithTable {
    virtual ~WithTable();
    unsigned n;
    unsigned step;
};
struct WithConversion {
    virtual operator int() const;
    unsigned n;
    unsigned step;
};
struct __attribute__((packed)) Packed {
    unsigned n;
    char gap;
    unsigned step;
};
struct Aligned {
    alignas(4) unsigned n;
    struct {
        unsigned step;
    };
};
