//! The tests of the whole program and of several layers together: one program, because each would
//! link the compiler and the engines again. `tests/growth.rs` is another one: it counts the
//! allocations of its process.

mod support;

mod assembly;
mod compiled;
mod device;
mod filetest;
#[path = "support/large_kernel.rs"]
mod large_kernel;
mod random;
#[path = "support/whole_path.rs"]
mod whole_path;

mod acceptance;
mod agreement;
mod architecture;
mod bad_files;
mod barrier_coverage;
mod block_members;
mod bounds;
mod call_coverage;
mod campaign;
mod certify;
mod cli;
mod command_lines;
mod configurations;
mod contract;
mod cooperative_matrices;
mod data_files;
mod dependencies;
mod dissimilar;
mod docs;
mod engineer;
mod float_controls;
mod function_coverage;
mod glsl_front_end;
mod glsl_robustness;
mod hostile_input;
mod hostile_texts;
mod images;
mod instructions;
mod jobs;
mod judged;
mod justifications;
mod kernels;
mod loop_boundary_coverage;
mod lowering;
mod multisampled;
mod mutated;
mod object_code;
mod open_items;
mod operations;
mod order_free;
mod output_folder;
mod phis;
mod pointers;
mod procedure;
mod projects;
mod provenance;
mod race_procedures;
mod races;
mod random_kernels;
mod record_modes;
mod recording;
mod requirement_csv;
mod requirement_status;
mod resources;
mod schedules;
mod sequential;
mod sharing;
mod small_verifier;
mod spirv_support;
mod standards;
mod stress;
mod subgroups;
mod test_reviews;
mod throughput;
mod untyped_pointers;
mod values;
mod variable_pointers;
mod vulkan;
mod vulkan_filetests;
mod vulkan_sc;
mod waiting;
mod widths;
