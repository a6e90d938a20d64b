# gotrace is one header, gotrace.h. `make help` lists the targets.

CC ?= cc
CLANG ?= clang
MINGW ?= x86_64-w64-mingw32-gcc
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
# dlsym is in a library of its own in glibc before 2.34. Later ones still have an empty library of that name.
dl := $(if $(filter Linux,$(shell uname -s)),-ldl)

# All that is made lies below build/.
ifneq ($(filter-out help,$(or $(MAKECMDGOALS),all)),)
ifneq ($(shell if [ -e build ]; then [ -w build ]; else [ -w . ]; fi && echo writable),writable)
$(error $(CURDIR) cannot be written, and all output goes to build/ in it: make a copy of the checkout)
endif
endif

# $(call probe,COMPILER OPTION...,LIBRARIES) is not empty if a program links. Its file is a real one, since some linkers
# delete what -o names first, so that root would lose /dev/null.
probe = $(shell mkdir -p build && out=$$(mktemp build/probe.XXXXXX) && echo 'int main(void) { return 0; }' | \
    $(1) -x c - -o $$out $(2) >/dev/null 2>&1 && echo yes; rm -f $$out)

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wundef -Wcast-align
FLAGS = -std=c11 $(WARNINGS) -I. $(STB) -pthread $(CPPFLAGS)
# The header uses stb_sprintf if it finds it. Debian's libstb-dev has it in a directory of its own.
STB := $(patsubst %,-isystem %,$(wildcard /usr/include/stb))
# ccache, if it is installed, keeps the objects of all clones: the working directory is not part of what it compares.
CCACHE := $(shell command -v ccache)
export CCACHE_NOHASHDIR = 1
# $(call program,SOURCE,OBJECTS) compiles and links a program. It takes two commands, since ccache keeps no programs.
program = $(CCACHE) $(CC) $(FLAGS) $(CFLAGS) -c $(1) -o $@.o && $(CC) $(CFLAGS) -pthread $@.o $(2) -o $@ $(LDFLAGS)

comma := ,

# Headers that change what is compiled, where they are installed. All outputs depend on a file whose name says which were
# found, so that they are rebuilt when one comes or goes.
with = $(sort $(notdir $(wildcard $(foreach d,/usr /usr/local,$d/include/stb/stb_sprintf.h $d/include/lzma.h \
    $d/include/zlib.h $d/lib/llvm-*/lib/clang/*/include/omp-tools.h $d/lib*/clang/*/include/omp-tools.h))))
found := $(subst $() ,+,build/found/headers $(with))
header = gotrace.h $(found)

examples = $(patsubst examples/%.c,build/examples/%,$(wildcard examples/*.c)) build/examples/gotrace $(record_libraries)
# library.c comes first, because compiling it takes the longest.
tool_objects = $(patsubst examples/gotrace/%.c,build/examples/tool/%.o,$(wildcard examples/gotrace/library.c examples/gotrace/*.c examples/gotrace/*/*.c))
# The libraries that `gotrace record` loads into programs: for glibc, and for musl if its compiler is installed.
MUSL_CC ?= musl-gcc
record_libraries = $(addprefix build/examples/libgotrace-record,.so $(if $(shell command -v $(MUSL_CC)),-musl.so))
preload_sources = $(wildcard examples/gotrace/record/preload/*.c)
# The page that opens any trace, in any browser. It needs the tool as WebAssembly: clang, wasi-libc, lld and
# libclang-rt-dev-wasm32.
wasm_there := $(and $(wildcard /usr/include/wasm32-wasi/stdio.h),$(shell command -v wasm-ld),$(shell command -v $(CLANG)),\
    $(wildcard $(shell $(CLANG) --target=wasm32-wasi -print-libgcc-file-name)))
page = $(if $(wasm_there),build/gotrace-view.html)
tests = $(patsubst %.c,build/tests/default/%,$(notdir $(wildcard tests/*/test_*.c)))
targets = $(patsubst fuzz/%.c,%,$(filter-out fuzz/replay.c,$(wildcard fuzz/*.c)))
version = $(shell sed -n 's/^.define GOTRACE_VERSION "\(.*\)"/\1/p' gotrace.h)

all: examples $(tests)

help:
	@echo 'make             build the examples and the tests, under build/'
	@echo 'make demo        trace a coroutine scheduler that counts the words of real files; show what came of it'
	@echo 'make test        the tests to run at every save: 3 minutes on two processors (T=WORD: those whose name contains WORD)'
	@echo 'make check       more: configurations, compilers, Go releases, random sessions: 20 minutes'
	@echo 'make nightly     the rest: every configuration, compiler and release, stress, fuzzers, measurements: hours'
	@echo 'make deps        install what make test uses: Debian packages, with sudo if need be, and Go releases: 0.3 GB to'
	@echo '                 download, 1.5 GB on disk (DEPS=all: also what make check uses, 1.9 and 9 GB)'
	@echo 'make examples    build the examples only'
	@echo 'make adapters    programs that use other schedulers, each traced by its adapter (examples/adapters)'
	@echo 'make explore     go through the interleavings of the capture: hours (EXPLORE=--quick: 2 minutes)'
	@echo 'make explore-go  have Go open a sample of the traces that the search makes'
	@echo 'make mutants     break the tracer in small ways, and see that the tests find each: 5 minutes'
	@echo 'make stress      200 traces of each example and format, under load, each opened by Go (STRESS=N: N)'
	@echo 'make cases       programs for defects that were found, 20 runs in each format (RUNS=N: N runs)'
	@echo 'make stress-sessions  short traces while threads do all that is legal, and more (SESSIONS=N: N of them, else 2000)'
	@echo 'make format      format the C files with clang-format'
	@echo 'make pictures    draw the picture in README.md anew'
	@echo 'make pages       look through the pages of `go tool trace` for the scheduler example'
	@echo 'make bench       what events cost and how fast traces are read, beside Go (BENCH=-q: quickly)'
	@echo 'make fuzz        fuzz each part with libFuzzer (FUZZ_SECONDS=N: N seconds each, else 60)'
	@echo 'make fuzz-replay run the fuzzers on their seeds, by any compiler'
	@echo 'make fuzz-random-transcribe  random records (FUZZ_RANDOM=RUNS,LENGTH,SEED)'
	@echo 'make install-header  the header, gotrace_unwind.h, and files for pkg-config and CMake into PREFIX ($(PREFIX)), below DESTDIR; needs no compiler'
	@echo 'make install-library  also libgotrace.so and libgotrace.a, into LIBDIR'
	@echo 'make install     also the tool with its manual and completion, and the adapters'
	@echo 'make uninstall   take them away again'
	@echo 'make clean       remove build/'

examples: $(examples) $(page)

$(found):
	@rm -rf $(@D) && mkdir -p $(@D) && touch $@

# With -O1 the examples compile in half the time of -O2. They mostly read files.
$(patsubst examples/%.c,build/examples/%,$(wildcard examples/*.c)): private CFLAGS = -O1 -g

build/examples/%: examples/%.c $(wildcard examples/*.h examples/unwind/*.h) $(header)
	@mkdir -p $(@D)
	$(call program,$<)

# The command-line tool. Its library.c contains the implementation of gotrace.h, the other files only the declarations.
build/examples/gotrace: $(tool_objects) | $(record_libraries)
	$(CC) $(FLAGS) $(CFLAGS) $^ -o $@ $(LDFLAGS) $(tool_libraries)

# Optional libraries of the tool: $(call optional,HEADER.h,MACRO,LIBRARY) is -DMACRO and -lLIBRARY if they are installed.
optional = $(if $(call probe,$(CC) -include $(1),-l$(3)),-D$(2) -l$(3))
# make runs often, so they are looked for only on demand, and once.
tool_optional = $(eval tool_optional := $(call optional,lzma.h,HAVE_LZMA,lzma) $(call optional,zlib.h,HAVE_ZLIB,z))$(tool_optional)
tool_libraries = $(filter -l%,$(tool_optional)) $(dl)
build/examples/tool/%.o: private CPPFLAGS += $(filter -D%,$(tool_optional))

# Its indexes have a moment for each generation, however small the trace is: for tests/tool/index.py.
build/tests/gotrace_dense: $(filter-out %/reading/index.o,$(tool_objects)) examples/gotrace/reading/index.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(CFLAGS) -DINDEX_SPACING=0 $^ -o $@ $(LDFLAGS) $(tool_libraries)

# The tool as WebAssembly: only the commands that read a trace and write text.
wasm_cc = $(CLANG) --target=wasm32-wasi --sysroot=/usr
wasm_sources = examples/gotrace/library.c examples/gotrace/main.c $(filter-out %/view_pack.c %/view_page.c %/view_open.c %/serve.c %/sha256.c,\
    $(wildcard $(patsubst %,examples/gotrace/%/*.c,base command reading report view)))
wasm_objects = $(patsubst examples/gotrace/%.c,build/wasm/%.o,$(wasm_sources))
build/wasm/%.o: examples/gotrace/%.c $(wildcard examples/gotrace/*/*.h) $(header)
	@mkdir -p $(@D)
	$(CCACHE) $(wasm_cc) -nostdlibinc -isystem /usr/include/wasm32-wasi -O2 -std=c11 $(WARNINGS) -Wno-gnu-statement-expression -I. $(STB) \
	    -DGOTRACE_DISABLE -D_WASI_EMULATED_GETPID -c $< -o $@
build/wasm/view.wasm: $(wasm_objects)
	$(wasm_cc) $^ -o $@ -lwasi-emulated-getpid -Wl,-z,stack-size=1048576,--stack-first,--strip-all

build/gotrace-view.html: build/examples/gotrace
	build/examples/gotrace help --page >$@

# This file embeds the script, style and WebAssembly of the page that gotrace view writes.
build/examples/tool/view/view_page.o: $(wildcard examples/gotrace/view/page/*) $(if $(wasm_there),build/wasm/view.wasm)
build/examples/tool/view/view_page.o: private CPPFLAGS += $(if $(wasm_there),-DVIEW_WASM='"build/wasm/view.wasm"')

build/examples/tool/%.o: examples/gotrace/%.c $(wildcard examples/gotrace/*/*.h examples/unwind/*.h) $(header)
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(FLAGS) $(CFLAGS) -c $< -o $@

# Tail calls are needed for stacks, which begin at a frame of the library: see preload/locks.c. Access to its thread-locals
# must not allocate. Clang comes with libomp's omp-tools.h; without it the library is built without OpenMP.
openmp_tools = $(eval openmp_tools := $(shell $(CLANG) -print-resource-dir 2>/dev/null)/include)$(openmp_tools)
preload_flags = $(if $(wildcard $(openmp_tools)/omp-tools.h),-idirafter $(openmp_tools)) -O2 -fPIC -fvisibility=hidden -ftls-model=initial-exec -foptimize-sibling-calls

build/examples/libgotrace-record.so build/examples/libgotrace-record-musl.so: $(preload_sources) $(wildcard examples/gotrace/record/preload/*.h) \
    examples/adapters/openmp.c examples/unwind/gotrace_unwind.h $(addprefix examples/gotrace/record/,board.h executable.h names.h) $(header)
	@mkdir -p $(@D)
	$(if $(findstring musl,$@),$(MUSL_CC),$(CC)) $(FLAGS) $(CFLAGS) $(preload_flags) -shared -Wl,-z,defs $(preload_sources) -o $@ $(LDFLAGS) -ldl

# Tests, in the configurations of tests/run.sh: build/tests/CONFIGURATION/TEST. Compiling the header takes longer than running
# most tests, so each configuration compiles it once, into an archive. Tests that use only the public API are linked with that.
# A test that defines GOTRACE_IMPLEMENTATION, to use private parts or its own options, contains the tracer itself, so the linker
# takes nothing from the archive. Only the archives of `default` and `clang` are optimized fully, as users do. Tests that contain
# the tracer are optimized only in `default`; with sanitizers, optimizing takes six times as long as the rest of compiling. Tests
# are named without their folder, in which make finds them.
vpath %.c $(sort $(dir $(wildcard tests/*/*.c)))
own_tracer = $(basename $(notdir $(shell grep -l '^.define GOTRACE_IMPLEMENTATION' tests/*/test_*.c)))
$(own_tracer:%=build/tests/default/%): private CFLAGS = -O1 -g
$(foreach c,clang seq_cst monotonic,$(own_tracer:%=build/tests/$(c)/%)): private CFLAGS = -O0 -g1
# Its threads write traces for as long as its forks take, and unoptimized checks of these take minutes.
quick_to_run = $(filter-out test_fork,$(own_tracer))
$(quick_to_run:%=build/tests/address/%): private CFLAGS = -O0 -g1 $(sanitizers)
$(quick_to_run:%=build/tests/thread/%): private CFLAGS = -O0 -g1 -fsanitize=thread
$(own_tracer:%=build/tests/windows/%.exe): private CFLAGS = -O0 -g0
# Clang compiles for the sanitizers in less than half of gcc's time, and tests its code as well.
sanitizers = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
usual_cc := $(CC)
sanitizing_cc = $(eval sanitizing_cc := $(if $(call probe,$(CLANG) -fsanitize=address$(comma)undefined),$(CLANG),$(usual_cc)))$(sanitizing_cc)
build/tests/clang/%: private CC = $(CLANG)
build/tests/quick/%: private CFLAGS = -O0 -g
build/tests/quick/%: private WARNINGS = # other configurations show them. Without them, compiling takes two thirds of the time
build/tests/address/%: private CC = $(sanitizing_cc)
build/tests/address/%: private CFLAGS = -O1 -g1 $(sanitizers) # otherwise threads outrun the transcriber
build/tests/thread/%: private CC = $(sanitizing_cc)
build/tests/thread/%: private CFLAGS = -O1 -g1 -fsanitize=thread
build/tests/seq_cst/%: private CFLAGS = -O1 -g1
build/tests/seq_cst/%: private CPPFLAGS += -DGOTRACE_SEQ_CST_FLAG=1
build/tests/monotonic/%: private CFLAGS = -O1 -g1
build/tests/monotonic/%: private CPPFLAGS += -DGOTRACE_MONOTONIC_CLOCK=1
build/tests/windows/%: private CC = $(MINGW)
# MinGW's compiler may come with either kind of threads; this test is about POSIX threads.
build/tests/windows/windows_threads.exe: private CC = $(shell command -v $(MINGW)-posix || echo $(MINGW))
build/tests/windows/%: private AR = $(MINGW:%gcc=%ar)
build/tests/windows/%: private CFLAGS = -O1 -g0
build/tests/windows/%: private LDFLAGS += -static
build/tests/msvc/%: private CC = tests/compile/msvc.sh
build/tests/msvc/%: private CFLAGS = -O1 -g0
build/tests/msvc/%: private CCACHE = # which would take the script for the compiler
build/tests/msvc/gotrace.a: tests/compile/msvc.sh
build/tests/msvc/%: private LDFLAGS += -static

# The rules of a configuration; its programs have a suffix.
define test_rules
build/tests/$(1)/gotrace.a: tests/implementation.c tests/test_room.h $(header)
	@mkdir -p $$(@D)
	$$(CCACHE) $$(CC) $$(FLAGS) $$(CFLAGS) -c $$< -o $$(@:.a=.o)
	@rm -f $$@
	$$(AR) rcs $$@ $$(@:.a=.o)

build/tests/$(1)/%$(2): %.c build/tests/$(1)/gotrace.a $(wildcard tests/*.h tests/*/*.h)
	$$(call program,$$<,build/tests/$(1)/gotrace.a)
endef
$(foreach configuration,default quick clang address thread seq_cst monotonic,$(eval $(call test_rules,$(configuration))))
$(foreach configuration,windows msvc,$(eval $(call test_rules,$(configuration),.exe)))

# examples/hello.c in every format, for the tests.
hello = build/tests/quick/hello_formats
$(hello): examples/hello.c examples/example.h

# Cases: one program per defect found, each linked with case.c, which checks its traces.
cases = $(patsubst tests/cases/%.c,build/cases/%,$(filter-out tests/cases/case.c,$(wildcard tests/cases/*.c)))

build/cases/case.o: tests/cases/case.c $(header) $(wildcard tests/cases/*.h tests/*.h)
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(FLAGS) $(CFLAGS) -c $< -o $@

build/cases/%: tests/cases/%.c build/cases/case.o build/tests/quick/gotrace.a
	$(call program,$<,$(filter-out $<,$^))

# Adapters: each test is linked with the library of its adapter. pkg-config finds most of them. The same programs are built
# in mid_flight, with the examples, so that a trace starts and stops at any time (tests/capture/mid_flight.c).
build/adapters/% build/mid_flight/%: private CPPFLAGS += -D_GNU_SOURCE $(patsubst -I%,-isystem %,$(if $(package),$(shell pkg-config --cflags $(package))))
build/adapters/% build/mid_flight/%: private LDFLAGS += $(if $(package),$(shell pkg-config --libs $(package)))
build/%/glib: package = gio-2.0
build/%/libuv: package = libuv
build/%/lua: package = lua5.4
build/%/state_threads: LDFLAGS += -lst
build/%/boost_fiber: LDFLAGS += -lboost_fiber -lboost_context
build/%/tbb: LDFLAGS += -ltbb
build/%/openmp: CC = $(CLANG)
build/%/openmp: CFLAGS += -fopenmp
build/mid_flight/%: private LDFLAGS += $(addprefix -Wl$(comma)--wrap=,main gotrace_start_file gotrace_flight_start gotrace_stop gotrace_flight_stop)

build/mid_flight.o: private CFLAGS = -O0 -g
build/mid_flight.o: tests/capture/mid_flight.c $(header) $(wildcard tests/*.h)
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(FLAGS) $(CFLAGS) -c $< -o $@

# $(call adapter_rules,FOLDER,TRACER)
define adapter_rules
build/$(1)/%: tests/adapters/%.c $(wildcard examples/adapters/*) tests/adapters/story.h $(2)
	@mkdir -p $$(@D)
	$$(call program,$$<,$(2))

build/$(1)/%: tests/adapters/%.cpp $(wildcard examples/adapters/*) tests/adapters/story.h $(2)
	@mkdir -p $$(@D)
	$$(CXX) $$(patsubst -std=%,-std=c++20,$$(filter-out -Wstrict-prototypes,$$(FLAGS))) $$(CFLAGS) $$< $(2) -o $$@ $$(LDFLAGS)
endef
$(eval $(call adapter_rules,adapters,build/tests/quick/gotrace.a))
$(eval $(call adapter_rules,mid_flight,build/mid_flight.o))

# Without the example's own tracer.
build/mid_flight/%: examples/%.c examples/example.h build/mid_flight.o
	@mkdir -p $(@D)
	$(call program,-DGOTRACE__IMPLEMENTED $<,build/mid_flight.o)

cases: $(cases)
	tests/cases/run.sh $(RUNS)

# T=WORD: only tests whose names contain WORD.
test:
	tests/run.sh $(if $(T),-o '$(T)')

check:
	.ci/run check

nightly:
	tests/run.sh nightly

adapters:
	tests/run.sh adapters

stress: examples $(hello)
	tests/examples/stress.sh $(STRESS)

stress-sessions:
	tests/capture/stress_sessions.sh $(SESSIONS)

# Explores thread interleavings. EXPLORE: options and scenarios, see tests/explore/explore.c.
build/tests/explore: private CFLAGS = -O1 -g # compiles in half the time of -O2 and runs as fast
build/tests/explore: tests/explore/explore.c $(wildcard tests/explore/*.h tests/check_*.h) $(header)
	@mkdir -p $(@D)
	$(call program,$<)

# The same as two processes: see tests/explore/outside.h.
build/tests/explore-outside: private CFLAGS = -O1 -g
build/tests/explore-outside: private WARNINGS =
build/tests/explore-outside: build/tests/explore $(wildcard examples/gotrace/*.c examples/gotrace/base/* examples/gotrace/record/* examples/unwind/*)
	$(call program,tests/explore/explore.c -DEXPLORE_OUTSIDE,$(fuzz_more_box))

explore: build/tests/explore
	build/tests/explore $(EXPLORE)

explore-go: build/tests/explore
	tests/explore/explore_go.sh $(EXPLORE)

mutants:
	tests/explore/mutants.py -v $(MUTANTS)

bench:
	tests/bench/run.sh $(BENCH)

format:
	find gotrace.h examples tests fuzz '(' -name '*.[ch]' -o -name '*.[ch]pp' ')' -exec clang-format -i {} +

# The picture in README.md: the trace of `make demo`, drawn by gotrace view in Chromium.
pictures: build/examples/scheduler build/examples/gotrace
	tests/view/picture.py examples/gotrace/view/page/picture.png

pages: examples
	tests/run.sh -j 1 pages

# Without the libraries of `gotrace record`, which it does not use. /usr/include may have a gigabyte below other folders.
demo:
	@echo 'tests/build.sh build/examples/scheduler build/examples/gotrace'
	@tests/build.sh record_libraries= build/examples/scheduler build/examples/gotrace
	build/examples/scheduler -o build/scheduler.trace examples tests /usr/include/*.h $(wildcard /usr/include/linux) >build/scheduler.txt
	@sed -n 1,3p build/scheduler.txt
	build/examples/gotrace view -o build/scheduler.html build/scheduler.trace
	build/examples/gotrace info --brief build/scheduler.trace
	@echo
	@echo 'open build/scheduler.html in a browser; for all tables: build/examples/gotrace info build/scheduler.trace'

# Fuzzers: with libFuzzer, for FUZZ_SECONDS each; or only their seeds, with any compiler and a plain main.
FUZZ_SECONDS ?= 60
# $(fuzz_more_TARGET): what else a target consists of. That of the tool's commands takes the place of exit().
tool_sources = examples/gotrace/library.c $(wildcard examples/gotrace/*/*.c)
fuzz_more_tool = $(FLAGS) $(tool_sources) $(tool_optional) -Wl,--wrap=exit
fuzz_more_box = $(FLAGS) $(wildcard examples/gotrace/base/*.c) $(addprefix examples/gotrace/record/,perf.c walk.c)
fuzz_run_box = -max_len=256
$(foreach t,tool box,build/fuzz/$t build/fuzz-replay/$t build/fuzz-random/$t): $(wildcard examples/gotrace/*.c examples/gotrace/*/*.[ch] examples/gotrace/view/page/*)

fuzz: $(targets:%=fuzz-run-%)

# How a target is fuzzed. Calls that are chosen byte by byte have no operands to learn from comparisons; following these,
# weighing inputs by their rarest feature (entropic) and long inputs each took more time than the transcriber itself.
fuzz_run_decode_any = -dict=fuzz/decode.dict
fuzz_run_transcribe = -entropic=0 -max_len=512
fuzz_flags_transcribe = -fno-sanitize-coverage=trace-cmp

# FUZZ_SEED repeats a run that began with the same build/corpus; FUZZ_OPTIONS come last, so that they prevail. Freed memory
# is kept for 1 MB of further allocations, since the usual 256 MB displace everything from the caches. Where memory was
# allocated, build/fuzz/TARGET FILE tells.
fuzz-run-%: build/fuzz/%
	@mkdir -p build/corpus/$* fuzz/seeds/$*
	@seed=$(or $(FUZZ_SEED),$$(od -An -N 4 -t u4 /dev/urandom | tr -d ' ')) && set -- build/fuzz/$* -seed=$$seed \
	    -max_total_time=$(FUZZ_SECONDS) -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 $(fuzz_run_$*) $(FUZZ_OPTIONS) \
	    -artifact_prefix=build/fuzz/$*- build/corpus/$* fuzz/seeds/$* && echo "$$@" && \
	ASAN_OPTIONS=quarantine_size_mb=1:malloc_context_size=0 "$$@" || { \
	    input=$$(ls -t build/fuzz/$*-*-* | head -n 1); echo "$$input, in base64:"; base64 "$$input"; \
	    echo "To repeat the run: make fuzz-run-$* FUZZ_SEED=$$seed"; exit 1; }

# From all inputs those that reach some code that shorter ones do not.
fuzz-merge-%: build/fuzz/%
	@rm -rf build/corpus/$*-reached && mkdir -p build/corpus/$* build/corpus/$*-reached fuzz/seeds/$*
	build/fuzz/$* -merge=1 -use_counters=0 $(fuzz_run_$*) build/corpus/$*-reached build/corpus/$* fuzz/seeds/$*
	rm -rf fuzz/seeds/$*/reached && mv build/corpus/$*-reached fuzz/seeds/$*/reached

build/fuzz/%: private CC = $(CLANG)
build/fuzz/%: private CFLAGS += -fsanitize=fuzzer $(sanitizers) $(fuzz_flags_$*)
build/fuzz/%: fuzz/%.c $(header) $(wildcard fuzz/*.h tests/*.h tests/transcriber/*.h)
	@mkdir -p $(@D)
	$(call program,$<,$(fuzz_more_$*))

fuzz-replay: $(targets:%=fuzz-replay-%)

fuzz-replay-%: build/fuzz-replay/%
	build/fuzz-replay/$* fuzz/seeds/$*/*

# Random inputs: how many, of how many bytes at most, from which seed. They are many times as fast without sanitizers.
FUZZ_RANDOM ?= 1000000,100,1

fuzz-random-%: build/fuzz-random/%
	cd build/fuzz-random && ./$* -r $(subst $(comma), ,$(FUZZ_RANDOM))

build/fuzz-random/%: private WARNINGS =
build/fuzz-random/%: fuzz/%.c fuzz/replay.c $(header) $(wildcard fuzz/*.h tests/*.h tests/transcriber/*.h)
	@mkdir -p $(@D)
	$(call program,$<,$(FLAGS) fuzz/replay.c $(fuzz_more_$*))

build/fuzz/decode_calls build/fuzz-replay/decode_calls: fuzz/session_calls.c # which it includes

build/fuzz-replay/%: private CC = $(sanitizing_cc)
build/fuzz-replay/%: private CFLAGS = -O0 -g1 $(sanitizers)
build/fuzz-replay/%: private WARNINGS =
build/fuzz-replay/%: fuzz/%.c fuzz/replay.c $(header) $(wildcard fuzz/*.h tests/*.h tests/transcriber/*.h)
	@mkdir -p $(@D)
	$(call program,$<,$(FLAGS) fuzz/replay.c $(fuzz_more_$*))

# What `make test` uses; with DEPS=all also what `make check` and `make nightly` use.
deps:
	tests/fetch_deps.sh $(or $(DEPS),test)

# The tool writes its own manual page and shell completions.
build/gotrace.1 build/gotrace.bash build/gotrace.zsh build/gotrace.fish: build/examples/gotrace
	build/examples/gotrace help --$(patsubst 1,man,$(patsubst .%,%,$(suffix $@))) >$@

# The library: its name has the part of the version that changes when programs must be compiled again (>>version).
abi = $(if $(filter 0.%,$(version)),$(basename $(version)),$(firstword $(subst ., ,$(version))))
build/lib/libgotrace.o: examples/packaging/gotrace.c $(header)
	@mkdir -p $(@D)
	$(CCACHE) $(CC) $(FLAGS) $(CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@

build/lib/libgotrace.so: build/lib/libgotrace.o
	$(CC) $(CFLAGS) -pthread -shared -Wl,-z,defs,-soname,libgotrace.so.$(abi) $< -o $@ $(LDFLAGS) $(dl)

build/lib/libgotrace.a: build/lib/libgotrace.o
	@rm -f $@
	$(AR) rcs $@ $<

# Rebuilt each time, because PREFIX may have changed. A LIBDIR below PREFIX is found from the CMake file's own place. In
# files for pkg-config, a space has a backslash.
escaped = $(subst $() ,\\ ,$(1))
build/packaging/%: examples/packaging/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(call escaped,$(PREFIX))|; s|@LIBDIR@|$(call escaped,$(LIBDIR))|' \
	    -e 's|@LIBDIR_BELOW_PREFIX@|$(patsubst :%,%,$(subst :$(PREFIX)/,,:$(LIBDIR)))|' \
	    -e 's|@VERSION@|$(version)|; s|@DL@|$(addprefix $() ,$(dl))|' $< >$@

# What is installed, as FILE:PLACE. The shell expands the variables in places, so that they may contain spaces.
each_in = $(foreach file,$(2),$(file):$(1)/$(notdir $(file)))
installed_header = $(call each_in,$$PREFIX/include,gotrace.h examples/unwind/gotrace_unwind.h) $(call each_in,$$PREFIX/share/pkgconfig,build/packaging/gotrace.pc) \
    $(call each_in,$$PREFIX/share/cmake/gotrace,build/packaging/gotrace-config.cmake examples/packaging/gotrace-config-version.cmake) \
    $(call each_in,$$PREFIX/share/doc/gotrace,LICENSE examples/packaging/CHANGES.md)
installed_library = build/lib/libgotrace.so:$$LIBDIR/libgotrace.so.$(abi) $(call each_in,$$LIBDIR,build/lib/libgotrace.a) \
    $(call each_in,$$LIBDIR/pkgconfig,build/packaging/libgotrace.pc)
# `gotrace record` looks for its libraries in ../lib/gotrace, whatever LIBDIR is.
installed_rest = $(call each_in,$$PREFIX/bin,build/examples/gotrace) $(call each_in,$$PREFIX/lib/gotrace,$(record_libraries)) \
    $(call each_in,$$PREFIX/share/man/man1,build/gotrace.1) \
    build/gotrace.bash:$$PREFIX/share/bash-completion/completions/gotrace build/gotrace.zsh:$$PREFIX/share/zsh/site-functions/_gotrace \
    $(call each_in,$$PREFIX/share/fish/vendor_completions.d,build/gotrace.fish) \
    $(call each_in,$$PREFIX/share/gotrace,$(page)) \
    $(call each_in,$$PREFIX/include/gotrace,$(filter-out %.md,$(wildcard examples/adapters/*)))
files = $(foreach pair,$(1),$(firstword $(subst :, ,$(pair))))
places = $(foreach pair,$(1),$$DESTDIR$(lastword $(subst :, ,$(pair))))
define newline


endef
install_each = install -d $(patsubst %,"%",$(sort $(dir $(call places,$(1)))))$(newline)$(foreach pair,$(1),\
    install -m $(if $(filter build/examples/gotrace:%,$(pair)),755,644) $(call files,$(pair)) "$(call places,$(pair))"$(newline))

install-header install-library install uninstall: export PREFIX := $(PREFIX)
install-header install-library install uninstall: export LIBDIR := $(LIBDIR)
install-header install-library install uninstall: export DESTDIR := $(DESTDIR)

# gotrace.pc has these paths, and its users are in other folders.
absolute = $(if $(filter-out /%,$(firstword $(PREFIX)) $(firstword $(LIBDIR))),$(error PREFIX and LIBDIR must be absolute paths))

install-header: $(call files,$(installed_header))
	$(absolute)$(call install_each,$(installed_header))

install-library: install-header $(call files,$(installed_library))
	$(call install_each,$(installed_library))
	ln -sf libgotrace.so.$(abi) "$$DESTDIR$$LIBDIR/libgotrace.so"

install: install-library $(call files,$(installed_rest))
	$(call install_each,$(installed_rest))

uninstall:
	rm -f $(patsubst %,"%",$(call places,$(installed_header) $(installed_library) $(installed_rest))) "$$DESTDIR$$LIBDIR/libgotrace.so"
	for folder in lib/gotrace include/gotrace share/gotrace share/cmake/gotrace share/doc/gotrace; do \
	    [ ! -d "$$DESTDIR$$PREFIX/$$folder" ] || rmdir "$$DESTDIR$$PREFIX/$$folder"; done

clean:
	rm -rf build

FORCE:

.PHONY: all help examples test check nightly adapters cases explore explore-go mutants stress stress-sessions bench format pages pictures demo fuzz fuzz-replay deps install install-header install-library uninstall clean FORCE
.DELETE_ON_ERROR:
.SECONDARY: $(targets:%=build/fuzz/%) $(targets:%=build/fuzz-replay/%) $(targets:%=build/fuzz-random/%)
