# Parts that are found, not demanded. The configure summary and `boolgrad --version` say which are
# built in. Each sets <part>_part, the words of its line in both.
include(CheckLanguage)

# BOOLGRAD_CUDA: whether backend/cuda is built, or backend/no_cuda in its place.
option(BOOLGRAD_USE_CUDA "Build the CUDA backend where a CUDA compiler is found" ON)
set(BOOLGRAD_CUDA OFF)
set(CUDA_part "not built in: BOOLGRAD_USE_CUDA is off")
if(BOOLGRAD_USE_CUDA)
  check_language(CUDA)
  set(CUDA_part "not built in: no CUDA compiler was found")
endif()
if(BOOLGRAD_USE_CUDA AND CMAKE_CUDA_COMPILER)
  # Machine code for the newest generation that is in wide use, and intermediate code from which
  # drivers make that of all others from Turing on.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 75-virtual 90-real)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  find_package(CUDAToolkit REQUIRED)
  set(BOOLGRAD_CUDA ON)
  set(CUDA_part "built in, nvcc ${CMAKE_CUDA_COMPILER_VERSION}")
endif()

# BOOLGRAD_VULKAN: whether backend/vulkan is built, or backend/no_vulkan in its place. Only the
# headers are needed: the loader is opened as the program runs.
option(BOOLGRAD_USE_VULKAN "Build the Vulkan backend where its headers and glslc are found" ON)
set(BOOLGRAD_VULKAN OFF)
set(Vulkan_part "not built in: BOOLGRAD_USE_VULKAN is off")
if(BOOLGRAD_USE_VULKAN)
  find_path(VULKAN_HEADERS vulkan/vulkan.h)
  find_program(GLSLC glslc)
  find_program(SPIRV_VAL spirv-val)
  mark_as_advanced(VULKAN_HEADERS GLSLC SPIRV_VAL)
  if(NOT VULKAN_HEADERS)
    set(Vulkan_part "not built in: no headers of Vulkan were found")
  elseif(NOT GLSLC)
    set(Vulkan_part "not built in: no glslc was found")
  elseif(NOT SPIRV_VAL)
    set(Vulkan_part "not built in: no spirv-val was found")
  else()
    set(BOOLGRAD_VULKAN ON)
    file(STRINGS ${VULKAN_HEADERS}/vulkan/vulkan_core.h version REGEX "define VK_HEADER_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+$" version "${version}")
    set(Vulkan_part "built in, headers of version ${version}")
  endif()
endif()

# BOOLGRAD_MPI: whether libboolgrad_mpi is built, which the program opens where mpirun has started it.
option(BOOLGRAD_USE_MPI "Build the library for MPI where MPI is found" ON)
set(BOOLGRAD_MPI OFF)
set(MPI_part "not built in: BOOLGRAD_USE_MPI is off")
if(BOOLGRAD_USE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
  set(MPI_part "not built in: no MPI was found")
  if(MPI_CXX_FOUND)
    set(BOOLGRAD_MPI ON)
    set(MPI_part "built in, MPI ${MPI_CXX_VERSION}")
  endif()
endif()

# BOOLGRAD_PYTHON: whether the extension of the Python package is built. pip switches it on.
option(BOOLGRAD_PYTHON "Build the extension of the Python package" OFF)
set(Python_part "not built in: BOOLGRAD_PYTHON is off")
if(BOOLGRAD_PYTHON)
  find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
  # nanobind is a package of this interpreter; pip installs it for the build.
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result ERROR_QUIET)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "BOOLGRAD_PYTHON needs nanobind: ${Python_EXECUTABLE} -m pip install nanobind")
  endif()
  find_package(nanobind 3.1 CONFIG REQUIRED)
  set(Python_part "built in, nanobind ${nanobind_VERSION}, for Python 3.10 and later")
endif()

message(STATUS "boolgrad ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE}, "
  "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
message(STATUS "  CPU     Highway ${hwy_VERSION}, oneTBB ${TBB_VERSION}, OpenBLAS ${OpenBLAS_VERSION}")
foreach(part CUDA Vulkan MPI Python)
  string(SUBSTRING "${part}        " 0 8 name)
  message(STATUS "  ${name}${${part}_part}")
endforeach()
