# The compiler options of every target, as INTERFACE targets to link:
#   nearfield_options      core, wasm and their tests: no exceptions, no RTTI
#   nearfield_cli_options  native program: exceptions, since CLI11, nlohmann-json and HDF5 throw
#   nearfield_headers      header-only libraries: xxHash (with XXH_INLINE_ALL), RapidJSON

option(NEARFIELD_WERROR "Warnings are errors" OFF)
option(NEARFIELD_BENCH "Build the native benchmarks" OFF)
option(NEARFIELD_TESTS "Build the native tests (needs Catch2 3)" ON)
option(NEARFIELD_FUZZ "Build the fuzz targets (needs clang)" OFF)
option(NEARFIELD_WASM_THREADS "Wasm: threads over shared memory" OFF)
option(NEARFIELD_CLI "Build the native program" ON)
set(NEARFIELD_SANITIZE "" CACHE STRING "Sanitizers for everything, as in -fsanitize=")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_package(Threads REQUIRED)

add_library(nearfield_warnings INTERFACE)
target_compile_options(nearfield_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<BOOL:${NEARFIELD_WERROR}>:-Werror>)

# Results must be bit-identical on every target, so no compiler may fuse a multiplication and an addition
# where the source does not say so.
add_library(nearfield_common INTERFACE)
target_compile_features(nearfield_common INTERFACE cxx_std_20)
target_compile_options(nearfield_common INTERFACE -ffp-contract=off)
target_include_directories(nearfield_common INTERFACE ${PROJECT_SOURCE_DIR}/core/include)
target_link_libraries(nearfield_common INTERFACE nearfield_warnings)

if(EMSCRIPTEN)
  target_compile_options(nearfield_common INTERFACE
    -msimd128
    -mbulk-memory  # whatever has SIMD has it, and threads turn it on
    $<$<BOOL:${NEARFIELD_WASM_THREADS}>:-pthread>)
  # For code that runs once a flush, an opening or a call: a page downloads it before it can begin.
  set(NEARFIELD_SMALL -Oz)
endif()

if(NEARFIELD_SANITIZE)
  set(sanitize -fsanitize=${NEARFIELD_SANITIZE} -fno-omit-frame-pointer)
  if(NEARFIELD_SANITIZE MATCHES undefined)
    # The check of vptr needs type information, which the core is compiled without.
    list(APPEND sanitize -fno-sanitize-recover=undefined -fno-sanitize=vptr)
  endif()
  add_compile_options(${sanitize})
  add_link_options(${sanitize})
endif()

# A target that also links nearfield_cli_options keeps exceptions and RTTI, in whichever order it links.
add_library(nearfield_options INTERFACE)
target_link_libraries(nearfield_options INTERFACE nearfield_common)
target_compile_options(nearfield_options INTERFACE
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:NEARFIELD_EXCEPTIONS>>>:-fno-exceptions;-fno-rtti>)

add_library(nearfield_cli_options INTERFACE)
target_link_libraries(nearfield_cli_options INTERFACE nearfield_common)
set_target_properties(nearfield_cli_options PROPERTIES
  INTERFACE_NEARFIELD_EXCEPTIONS ON
  COMPATIBLE_INTERFACE_BOOL NEARFIELD_EXCEPTIONS)

# Header-only libraries, which serve wasm as well. Copied by scripts/setup.mjs: /usr/include must
# not be on the wasm include path.
add_library(nearfield_headers INTERFACE)
target_include_directories(nearfield_headers SYSTEM INTERFACE ${PROJECT_SOURCE_DIR}/.toolchain/include)
if(NEARFIELD_SANITIZE MATCHES undefined)
  # RapidJSON asks whether its stack has room by adding to a null pointer, while it has none.
  target_compile_options(nearfield_headers INTERFACE -fno-sanitize=pointer-overflow)
endif()
