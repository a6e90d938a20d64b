#!/bin/sh
# As a compiler: builds what MSVC builds, with Clang, for Windows. GCC's extensions are off, Microsoft's are on.
exec clang --target=x86_64-w64-mingw32 -fms-extensions -DGOTRACE__GNU=0 -Qunused-arguments \
  -L"$(dirname "$(x86_64-w64-mingw32-gcc -print-libgcc-file-name)")" "$@" \
  -Wno-unused-function -Wno-unused-parameter -Wno-unknown-pragmas
