/* A struct with a tag and no name: its members count as those of what it is in. */
struct Head { unsigned n; };
struct Sizes { struct Head; unsigned step; };
