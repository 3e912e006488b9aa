# What cmake is told beside the options of the crate `shaderc-sys`, which builds everything that the compiler's projects
# have: programs, examples, a second copy of the validator as a shared library, tools that shrink or compare modules.
# The program links one static library; without the rest its build takes three fifths of the CPU time (docs/performance.md).
# `.cargo/config.toml` names this file.
set(SHADERC_SKIP_EXAMPLES ON CACHE BOOL "")
set(SKIP_SPIRV_TOOLS_INSTALL ON CACHE BOOL "")
set(CMAKE_PROJECT_spirv-tools_INCLUDE "${CMAKE_CURRENT_LIST_DIR}/spirv-tools.cmake" CACHE FILEPATH "")
