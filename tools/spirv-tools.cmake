# Of this project only what the static library of the compiler is made of; `tools/shaderc.cmake` tells why.
set_property(DIRECTORY PROPERTY EXCLUDE_FROM_ALL ON)
