/* gotrace.c - the tracer and the decoder as a library: for other languages, and for programs that link it
 *
 * Compile it with -fvisibility=hidden. A shared library then exports what the header declares with GOTRACE_API, and
 * nothing else. `make install`, CMakeLists.txt and meson.build all build this file. A program that uses the header of
 * a Windows DLL defines GOTRACE_API as __declspec(dllimport). */
#if defined(_WIN32) && defined(GOTRACE_BUILD_DLL)
#define GOTRACE_API __declspec(dllexport)
#elif !defined(_WIN32)
#define GOTRACE_API __attribute__((visibility("default")))
#endif
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
