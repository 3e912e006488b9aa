//! What a module says of its accesses beside where they go: scopes, semantics, coherence,
//! availability and visibility.
//!
//! Knows: memory operands and image operands of accesses, scope and semantics of atomics, the
//! decorations Coherent and Volatile of variables and members (SPIR-V specification, "Memory
//! Operands", "Scope", "Decoration"; Vulkan specification, "Memory Model").
//! Promises: in a module of the Vulkan memory model an access is private unless it says otherwise;
//! in other modules none is, and fences make writes available and visible themselves.
//! Does not cover: the source of OpCopyMemory, which counts as its target; pointers that come
//! through parameters of functions, of which only the parameter's own decorations count.
