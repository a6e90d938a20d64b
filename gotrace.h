/* gotrace.h - Go execution traces from C and C++                                             version 0.3
 *
 * Writes and reads the files that `go tool trace` opens. A trace shows which task ran where and when, what it waited
 * for and who woke it, with stacks, user tasks and regions. The header is made for programs that schedule their own
 * tasks: coroutines, fibers, job systems, language runtimes. Plain threads work without extra calls.
 *
 * QUICK REFERENCE
 *
 *   Every program
 *     gotrace_start_file("x.trace", NULL)       begin a trace; GOTRACE_OK, or an error: gotrace_result_string tells it
 *     gotrace_start_environment()               the same for whoever runs the program with GOTRACE=x.trace
 *     gotrace_stop()                            end the trace; the file is complete when this returns
 *     GOTRACE_SCOPE("name");                    a region: from here to the end of the enclosing block
 *     GOTRACE_REGION("name") { ... }            a region: the block that follows
 *     gotrace_log(GOTRACE_NO_TASK, "category", "text")     a message; gotrace_logf formats it like printf
 *     gotrace_count("name", number)             a counter that has this value from now on
 *     task = gotrace_task_begin("name", GOTRACE_NO_TASK)   work for one purpose, on any threads, such as a request;
 *     gotrace_task_end(task)                               GOTRACE_TASK_REGION(task, "name") is a part of it
 *     gotrace_wait_begin(GOTRACE_BLOCK_SYNC)    the thread is going to wait; gotrace_wait_end(): it has waited
 *     gotrace_wait_on(address, reason)          the same, for what gotrace_wake(address, 1) ends: shows who woke it
 *     gotrace_thread_begin("name")              name the calling thread; gotrace_thread_create: show who created it
 *
 *   A scheduler of coroutines, fibers or jobs
 *     proc = gotrace_proc_create()              one for each worker thread; gotrace_proc_destroy(proc) when it is done
 *     gotrace_proc_start(proc)                  the worker looks for work; gotrace_proc_stop(): it sleeps, or ends
 *     go = gotrace_go_create(&entry)            a task is ready to run; _blocked: it waits to be woken first
 *     gotrace_go_start(go)                      this thread runs the task
 *     gotrace_go_block(reason)                  the running task waits; must precede what lets a waker see it
 *     gotrace_go_unblock(go)                    the running task, or this thread, wakes that one
 *     gotrace_go_stop(GOTRACE_STOP_YIELD)       the running task gives up its thread and can go on at any time
 *     gotrace_go_end()                          the running task has ended; gotrace_go_destroy(go): one that waits
 *     gotrace_go_switch(go)                     the running task waits, and the waiting one `go` runs in its place
 *     gotrace_nest_begin(go), gotrace_nest_end(outer)      tasks that run on top of a waiting one's stack
 *     gotrace_go_keyed(id, &entry)              the handle of a task of which only an id is known
 *     gotrace_go_self()                         the running task; makes a plain thread a task with a proc
 *
 *   Also
 *     gotrace_flight_start(NULL)                keep the last seconds in memory; gotrace_flight_snapshot_file(path)
 *     gotrace_get_stats(&stats)                 what was traced; calls that were repaired or dropped
 *     gotrace_decoder_open(&decoder, &options)  read a trace: >>decoder
 *     collector, heap, system calls             for language runtimes: >>runtimes, gotrace_go_syscall_begin
 *
 *   Any thread may make any call at any time, also while no trace is on. Handles may be NULL.
 *
 * USE
 *
 *     #define GOTRACE_IMPLEMENTATION        // in one source file; includes <stdio.h>
 *     #include "gotrace.h"
 *
 *     int main(void) {
 *         if (gotrace_start_file("hello.trace", NULL) != GOTRACE_OK) perror("hello.trace");
 *         GOTRACE_REGION("greet") {
 *             gotrace_log(GOTRACE_NO_TASK, "greeting", "hello, world");
 *         }
 *         gotrace_stop();                   // returns when the last byte is in the file
 *     }
 *
 *     $ cc hello.c -pthread && ./a.out && go tool trace hello.trace
 *
 * Add -ldl for glibc before 2.34. Add -latomic for 32-bit processors without 64-bit atomic operations (ARM before v7,
 * MIPS, PowerPC, RISC-V, x86 before the Pentium).
 *
 * Other files include the header without the #define. A program that needs only the constants of the trace formats
 * includes it too and never defines GOTRACE_IMPLEMENTATION.
 *
 * CONTENTS (search for ">>" and the word)
 *
 *     >>options          macros that configure the header
 *     >>version          version and trace formats
 *     >>results          result codes; misuse that the tracer repairs or drops
 *     >>types            handles, locations, options, statistics
 *     >>session          start, stop, read
 *     >>threads          threads, procs, goroutines
 *     >>emit             tasks, regions, logs, counters, CPU samples
 *     >>runtimes         what only language runtimes have: garbage collection, heap
 *     >>events           event numbers, names and arguments of every tracer version; other format constants
 *     >>decoder          reading traces
 *     >>implementation   everything below is private
 *     >>varint           base-128 numbers
 *     >>rules            what each event needs and changes
 *     >>platform         what the tracer needs from compiler, processor and system: atomics, locks, clock, files, ...
 *     >>memory           pages and records from the system
 *     >>arena            memory in pieces that are freed together
 *     >>strings          string table
 *     >>stacks           stack table
 *     >>state            goroutine, proc and thread records; the session
 *     >>reasons          reasons to block, to stop and to stop the world
 *     >>records          what a thread captures
 *     >>walks            stack walks along frame pointers
 *     >>capture          how a call makes a record; the rules that keep this right
 *     >>procs            calls: procs
 *     >>goroutines       calls: goroutines
 *     >>system-calls     calls: system calls
 *     >>collector        calls: garbage collection, heap
 *     >>tasks            calls: tasks, regions, logs
 *     >>waits            calls: waits of plain threads, waits by address
 *     >>plain-threads    calls: threads that are their own goroutines; threads' records
 *     >>sites            calls: call sites made at run time
 *     >>keys             calls: goroutines known by a name or key
 *     >>samples          calls: CPU samples
 *     >>transcriber      from the records of all threads to a trace: its rules and its state
 *     >>lanes            bytes on their way into batches; strings, stacks and reasons
 *     >>model            goroutines, procs, threads and their order
 *     >>writing          writing events, in v1 too; statuses and creations
 *     >>transitions      what the model can do: events, then the change
 *     >>apply            what each record does
 *     >>rounds           which record is next, and its time
 *     >>generations      the beginning and the end of a generation
 *     >>feed             what the outside calls
 *     >>elf              the functions of an ELF file
 *     >>modules          the module and function of an address
 *     >>sinks            where the trace goes: file, write function, memory of the flight recorder
 *     >>driver           running the transcriber: by the service thread, a reader, or whoever makes a cut
 *     >>reader           the reader state machine, the thread that runs it if the program does not; statistics
 *     >>lifecycle        start, stop; the end of the program and of the library
 *     >>flight           the flight recorder
 *     >>environment      calls: the environment variable GOTRACE
 *     >>fork             the child of a fork
 *     >>decode-state     the decoder's records
 *     >>decode-memory    allocation, failure, arrays, maps, sorting
 *     >>decode-source    from the source to numbers: the window in memory, base-128 numbers, times, the header
 *     >>decode-rules     the tables of events and rules, prepared for reading
 *     >>decode-tables    strings and stacks by id
 *     >>decode-objects   what v1 and v2 share: cursors in the order of time, goroutines, procs, regions
 *     >>decode-v2        v2: the batches of a generation, its tables, the events of each thread
 *     >>decode-v2-order  v2: the order of events
 *     >>decode-v1        v1: events, the first walk
 *     >>decode-v1-order  v1: the order of events, the second walk
 *     >>decode-lift      v1: its events in the words of v2
 *     >>decode-raw       raw traces: all events in the order of the file
 *     >>decode-changes   what an event changes
 *     >>decode-public    calls: the decoder
 *
 * WHAT IT DOES NOT DO
 *
 *   - It does not discover your tasks. A scheduler reports what it does, with at most one call per transition.
 *   - Not every Go release opens every format: see GOTRACE_FORMATS.
 *   - Go 1.23 and later cannot show the view by thread for a v1 trace that begins with a goroutine in a system call
 *     without a proc (GoInSyscall): their conversion has no thread for it. All other pages open.
 *   - It names functions, but not their lines or inlined callers: those need debug information. `gotrace symbolize`
 *     adds them to a trace: see NAMES OF FUNCTIONS.
 *   - It does not unwind with DWARF tables. A stack is the call site, a walk by frame pointers, or your unwinder's.
 *   - A call made from inside another call on the same thread is only counted: see NESTED CALLS.
 *
 * WORDS
 *
 *   goroutine, G     A unit of scheduled work (gotrace_go). In a program without a scheduler: the thread itself.
 *   proc, P          The right to run goroutines (gotrace_proc): a worker slot of a scheduler.
 *   thread, M        An operating-system thread. A thread runs a proc, a proc runs a goroutine.
 *   v1, v2           The trace formats of Go 1.5 to 1.21, and of Go 1.22 and later.
 *   session          A trace from its start to its end.
 *   batch            A run of consecutive events of one proc (v1) or thread (v2) in the trace.
 *   cut              A consistent boundary in the trace: what happened before an event ahead of the cut is also ahead.
 *   generation       The events between two cuts. In v2 it also has its own tables and statuses.
 *   status           The state of a goroutine or proc. v2 writes it as an event where a generation first mentions it.
 *   introduce        To tell an object's state before the first record that mentions it in a session.
 *   silent           Without an event in the current generation (goroutines, procs, threads).
 *   record           What a call keeps: its kind, its time and its arguments.
 *   chunk            Memory for the records of one thread.
 *   capture          To make a record. Threads capture; they wait for nothing but a new chunk.
 *   transcribe       To turn the records of all threads into a trace. One thread at a time does it, in rounds: the
 *                    service thread, the reader, or the caller of gotrace_stop, gotrace_advance, gotrace_get_stats or
 *                    a snapshot.
 *   place            Where a goroutine or proc has its record, which another one uses after its end.
 *   number           How often the goroutines or procs of a place have changed their state in a session.
 *   ready            Of an event that the decoder holds: all its predecessors have been delivered.
 *   site, call site  The place of a call in the program, and what the tracer remembers about it.
 *   sink             What receives the trace: a file, a write function, or a loop around gotrace_read.
 *   problem          A call that the tracer repaired, dropped or left out, and counted.
 *
 * RULES FOR SCHEDULERS
 *
 *   1. Report a goroutine as blocked before any waker can see it, and as unblocked before any thread can run it again.
 *      Your own lock or queue then orders the calls.
 *      Otherwise an unblock may come before its block. It is dropped, and the next start repairs the state.
 *   2. Call gotrace_go_start on the thread that will run the goroutine, after that thread owns it.
 *      Otherwise two threads may start one goroutine. The second start is dropped, and so are its thread's next calls.
 *   3. A goroutine runs on a thread that has a proc: call gotrace_proc_start first.
 *      Otherwise the tracer creates a proc for the thread, and the trace shows more procs than you have.
 *   4. A thread runs one goroutine at a time. If it runs others inside one, on top of its stack, call
 *      gotrace_nest_begin and gotrace_nest_end around these.
 *      Otherwise each start takes the outer goroutine off the thread, and later calls about that one are dropped.
 *
 *   Breaking a rule has bounded effects: the trace opens, whatever is called, in any order, from any thread. A call
 *   that is invalid in the current state is repaired if it has one sensible meaning, or dropped. Both are counted,
 *   except for an unblock of a goroutine that runs: a correct program's waker may be late, as after a time-out.
 *
 *   The loop of a scheduler's worker, on its thread. While it has nothing to do, its proc is stopped: the trace shows
 *   idle time.
 *
 *     gotrace_proc_start(worker->proc);                  // made by whoever made the worker
 *     for (;;) {
 *         if (!(task = try_next(worker))) {
 *             gotrace_proc_stop();
 *             task = wait_for_next(worker);              // sleeps; NULL: the scheduler ends
 *             if (!task) break;
 *             gotrace_proc_start(worker->proc);
 *         }
 *         gotrace_go_start(task->go);
 *         resume(task);                                  // the task calls block, stop or end before it returns
 *     }
 *
 *   The thread that makes the workers. It is a plain thread (see PLAIN THREADS), so that its tasks have a creator:
 *
 *     gotrace_thread_begin("main");                      // now it is a goroutine
 *     for (i = 0; i < n; i++) {
 *         workers[i].proc = gotrace_proc_create();       // before the worker's thread starts
 *         start_thread(&workers[i]);
 *     }
 *     gotrace_procs_change(n);                           // again when their number changes
 *     ...                                                // creates tasks
 *     gotrace_wait_begin(GOTRACE_REASON("join"));        // else main seems to run to the end
 *     for (i = 0; i < n; i++) {
 *         join_thread(&workers[i]);
 *         gotrace_proc_destroy(workers[i].proc);         // whoever joins the worker, which has stopped it
 *     }
 *     gotrace_wait_end();
 *
 *   The thread that initialises the scheduler may instead become a worker and its first task, as in libraries whose
 *   main program is a coroutine like the others. It makes these calls in this order, and none of PLAIN THREADS' before:
 *
 *     gotrace_thread_end();                              // if it may have been a plain thread until now
 *     worker->proc = gotrace_proc_create();
 *     gotrace_proc_start(worker->proc);
 *     task->go = gotrace_go_create(&main_entry);         // static: GOTRACE_NAMED_ENTRY("main")
 *     gotrace_go_start(task->go);
 *     gotrace_procs_change(n);
 *     ...                                                // it creates tasks, blocks and is started as any task
 *     gotrace_go_end();                                  // where the library is shut down
 *     gotrace_proc_stop();
 *     gotrace_proc_destroy(worker->proc);
 *
 * WHICH CALLS
 *
 *     what the program has          what it calls
 *     threads only                  region, log, task, wait: see PLAIN THREADS. No proc, no goroutine
 *     jobs that run to their end    gotrace_go_create before queueing one, _start and _end around it; a proc per worker
 *     ... and block their worker    around what blocks: the calls of PLAIN THREADS. The proc stays with the thread
 *     ... and run others meanwhile  (help-first) around each job inside a waiting one: gotrace_nest_begin and _end
 *     coroutines resumed by a loop  as the worker above; gotrace_go_block before a coroutine can be woken, and
 *                                   gotrace_go_unblock where it is woken, not where it is resumed
 *     symmetric switches            gotrace_go_switch(next), or gotrace_go_switch_end(next) at the end; `next` must
 *                                   have blocked, or be made by gotrace_go_create_blocked. The thread that switches
 *                                   to the first one is gotrace_go_self(), also to return to it
 *     tasks that a signal handler   as coroutines, with gotrace_go_stop(GOTRACE_STOP_PREEMPTED) in the handler; but it
 *       switches (preemption)       defers if gotrace_in_call(pc): see PREEMPTION
 *     fibers of another library,    gotrace_go_keyed(id, &entry) instead of a handle; else as coroutines.
 *       known by an id only         gotrace_go_keyed_free(id) when the library frees the fiber
 *
 *   Questions that each of these raises:
 *
 *     Do idle workers stop their proc?       Yes, before they sleep; not while they spin for microseconds
 *     May an idle worker report its waits?   No, and no regions, logs or tasks. With its proc stopped, it becomes a
 *                                            plain thread: one more goroutine and proc in the trace, counted as a
 *                                            problem (GOTRACE_PROBLEM_IDLE_WORKER). With its proc, the call is
 *                                            dropped. So use gotrace::mutex for what the tasks lock, not for the
 *                                            scheduler's queue. A thread that is no worker any more calls
 *                                            gotrace_thread_begin(name)
 *     Who makes and frees procs?             Whoever makes and joins the workers: one each, as above. Any thread may
 *                                            destroy a proc that is stopped
 *     May main or another plain thread       Yes, once it has called gotrace_thread_begin(name) or gotrace_go_self(),
 *       create tasks?                        which makes it a goroutine, or gotrace_proc_start, if it becomes a worker.
 *                                            Without, no arrow leads to the task, and its creation is counted as a
 *                                            problem. As a goroutine it appears to run except in the waits that it
 *                                            reports, so main reports that it joins its threads
 *     A job that starts on an event          gotrace_go_create_blocked where the job is registered (a handler of a
 *                                            timer, a socket, a completion), gotrace_go_unblock where the event is
 *                                            seen, before the job is queued; then as any job. The trace shows the time
 *                                            from the event to the job's start. A job that is cancelled:
 *                                            gotrace_go_destroy
 *     A task that is suspended               One that suspends itself, or that waits when another suspends it, is
 *                                            blocked: gotrace_go_block, and gotrace_go_unblock where it is resumed and
 *                                            its own event has come. One that is runnable stays runnable, as its
 *                                            scheduler only delays it: no call
 *     Create before or after queueing?       Before: a worker may start the task as soon as it is in the queue
 *     What is a task's entry?                GOTRACE_ENTRY(function) or GOTRACE_NAMED_ENTRY("job"). A function pointer:
 *                                            {(uintptr_t)job->run, NULL, NULL, 0}, which the symbols name. A name made
 *                                            at run time: gotrace_go_create_named(name), also for a template's
 *                                            function, gotrace_go_create_named(__PRETTY_FUNCTION__)
 *     May the worker end the task?           Yes: gotrace_go_end means the goroutine that runs on the calling thread
 *     End before or after dependents are     After: the arrow of gotrace_go_unblock and of gotrace_go_create starts at
 *       woken or created?                    the goroutine that runs on the calling thread. After gotrace_go_end there
 *                                            is none
 *     May a task move between threads?       Yes: it runs where gotrace_go_start is called
 *     Stacks by frame pointers?              Call gotrace_go_stack_bounds when a coroutine gets its stack
 *     What after gotrace_go_self(), on a     The thread is a goroutine with a proc. To become a worker, it calls
 *       thread without a task?               gotrace_thread_end first. To run tasks now and then: gotrace_nest_begin
 *     The runtime ends by _exit or _Exit?    Call gotrace_stop before; nothing runs after these
 *
 * PLAIN THREADS
 *
 *   A thread that makes none of these calls becomes its own goroutine, on its own proc, named after the thread. It does
 *   so at its first region, log, task, label, wait, system call, sweep, mark assist or stop-the-world, and remains one
 *   until the thread ends:
 *
 *     gotrace_wait_begin(GOTRACE_BLOCK_SYNC);            // about to wait for a lock
 *     pthread_mutex_lock(&lock);
 *     gotrace_wait_end();
 *
 *   If the waiter shares its gotrace_go_self(), the waker may call gotrace_go_unblock(waiter) before it wakes the
 *   waiter. The trace then shows who woke whom. For locks and queues: gotrace_wait_on and gotrace_wake, which need no
 *   list of waiters. In C++, the mutex, condition variable and jthread of examples/adapters/gotrace.hpp call them.
 *
 * WRITING AN ADAPTER
 *
 *   An adapter connects an existing scheduler to this header, through its hooks or by wrapping its calls.
 *   examples/adapters has eight, each one file: OpenMP, Boost.Fiber, oneTBB, State Threads, Lua, C++20 coroutines,
 *   libuv, GLib; its README.md tells what an adapter has to do. Programs that are instrumented for Tracy include
 *   tracy_c.h from there instead of TracyC.h. The calls accept a NULL handle, so an adapter need not check its own.
 *
 * SHARED LIBRARIES
 *
 *   Each copy of the implementation is a separate tracer and is started separately. Modules that share a trace must
 *   share a copy: one of them defines GOTRACE_IMPLEMENTATION and exports the tracer (GOTRACE_API), the others do not.
 *   The ELF dynamic linker merges several copies into one, except for modules linked with -Bsymbolic, loaded with
 *   RTLD_LOCAL or compiled with hidden visibility. On Linux, gotrace_stats.other_copies counts the copies whose events
 *   are missing. It omits copies built with GOTRACE_STATIC or with hidden visibility, and two that were loaded with
 *   RTLD_LOCAL.
 *
 * COMPILERS
 *
 *   C++20 modules: exported inline functions may use all macros, and the header may be imported (import "gotrace.h").
 *   GCC 12 does not link static variables of exported inline functions: define GOTRACE_CALL_SITES as 0 there. With
 *   GOTRACE_STATIC each file has a tracer of its own, so a module exports no function that uses one.
 *
 *   Hooks at the functions of a program (-finstrument-functions) may call the tracer. Its own functions have none, in
 *   whichever file they are compiled; those of stb_sprintf do, unless GOTRACE_NO_STB_SPRINTF is set. Declare the hooks
 *   with the attribute no_instrument_function.
 *
 *   A C++ exception may pass through C functions. It ends their regions if these functions are compiled with
 *   -fexceptions (GCC and Clang). Otherwise such a region ends when the next one around it does.
 *
 * THREAD SAFETY
 *
 *   Every call may run concurrently with every other call, on any thread. A second reader gets
 *   GOTRACE_ERROR_READER_BUSY. gotrace_get_stats is exact after gotrace_stop. A new handle goes to another thread as
 *   any pointer does: under a lock, through a queue, or by an atomic with release and acquire. Otherwise the first
 *   events there may be wrong. For calls in signal handlers, see NESTED CALLS.
 *
 *   gotrace_start*, _stop, _end, _advance, _get_stats, the flight recorder's calls and the readers are serialized: each
 *   waits while another one starts, ends or cuts the trace. gotrace_stop also waits for the delivery of the trace. A
 *   start during that time returns ERROR_ALREADY_RUNNING at once. Ending a trace waits for the calls that other threads
 *   are in at that moment, which takes microseconds, but at most 50 ms, and as long again before its memory is freed. A
 *   thread that is suspended inside a call (by a debugger, SIGSTOP, SuspendThread or a signal handler that does not
 *   return) loses that event and delays nobody longer. The memory of that trace's strings and stacks is then not freed.
 *   Waiting for another thread's call spins, then yields, then sleeps 1 ms at a time, so that threads of lower
 *   real-time priority get the processor. Only gotrace_stop, the service thread, snapshots and, with
 *   GOTRACE_LIMIT_BLOCK, calls without room wait for a sink. A start waits for the reader of a pipe that it opens.
 *
 *   A thread that is cancelled (pthread_cancel) inside a call ends after the call. In gotrace_read, and in a call that
 *   waits for room (GOTRACE_LIMIT_BLOCK), it ends at once.
 *
 * NESTED CALLS
 *
 *   The program's own code may run inside a call of the tracer: its allocator (GOTRACE_MALLOC), unwinder, symbolizer,
 *   report and write function, and signal handlers that interrupt the call. Tracer calls made there are dropped and
 *   counted (GOTRACE_PROBLEM_NESTED); those with a result return GOTRACE_ERROR_NESTED, NULL or 0, and
 *   gotrace_task_begin a task that the trace lacks. Calls that only look something up still answer. A write function
 *   may call gotrace_end and gotrace_get_stats. No call waits for a lock that its own thread holds. A signal handler
 *   that interrupts any other code may make any call, but one that interrupts the C library's allocator should not make
 *   its thread's first call, nor its first with a stack by frame pointers: these may allocate. A handler may end the
 *   trace (gotrace_stop, gotrace_end) also when it interrupts a call that reports an event.
 *   On an alternate signal stack it needs 24 KiB.
 *
 *   Such code may also leave the call for ever: a handler by siglongjmp, pthread_exit or exit, an unwinder or write
 *   function by longjmp or an exception. The thread's next call that does not lie deeper on the same stack takes over,
 *   and the record of the call that was left is lost; if that was a block or start, what the thread reports may be
 *   dropped until its next one. Until then, and on a stack that neither is the thread's own nor has been told by
 *   gotrace_go_stack_bounds, calls are dropped as nested ones. exit, the end of a thread, and gotrace_stop and
 *   gotrace_end in a handler need no such call. While the tracer has a lock, signals are blocked on that thread, except
 *   those that its code raises (SIGSEGV and others), for microseconds in most calls. An allocator, symbolizer or report
 *   function must return: it is called with a lock. An exception out of GOTRACE_MALLOC, in C++, counts as no memory.
 *
 * PREEMPTION
 *
 *   A scheduler that takes a task off its thread in a signal handler must not do so inside a call of the tracer, as
 *   inside malloc or any function with thread-local data. In the handler:
 *
 *     const void *pc = (void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP]; // x86-64, with SA_SIGINFO
 *     if (gotrace_in_call(pc)) return;                   // defer: until the next signal
 *     gotrace_go_stop(GOTRACE_STOP_PREEMPTED);
 *     swapcontext(&task->context, &scheduler);
 *
 *   examples/preempt.c is such a scheduler. With the program counter, on ELF systems, the answer holds from a call's
 *   first instruction to its last. Without it the first and last few are missed, and short calls while tracing is off.
 *   A scheduler that does not ask loses many calls, which are dropped and counted as nested, and may crash.
 *
 * STACK SPACE
 *
 *   A call runs on the stack of its coroutine or thread and needs at most this many bytes of it (x86-64):
 *
 *     regions, logs, tasks, waits, counters, goroutines, procs     1,000
 *     the first call of a thread, and one that takes a new chunk   1,200
 *     gotrace_go_create_named, gotrace_count_double                2,000
 *     gotrace_logf, gotrace_logv                                   3,000
 *     any of these with a stack by frame pointers                  6,000
 *     gotrace_advance, gotrace_get_stats, gotrace_stop             7,000
 *     gotrace_start and its relatives                              9,500
 *     gotrace_flight_snapshot, gotrace_flight_snapshot_file        12,000
 *
 *   Three things come on top: code that is compiled without optimization needs up to three times as much; an unwinder,
 *   a write function and an allocator of the program's own need what they need; and if the program is linked without
 *   -z now, the first call of each function of the C library needs 3 to 4.5 KB to find it. So for coroutines on stacks
 *   of 4 KiB, link with -z now, and start, stop and cut the trace on a thread's own stack.
 *
 * THE END OF THE PROGRAM
 *
 *   A trace with a service thread (gotrace_start_file, or gotrace_start with `write`) is ended and written when
 *     - main returns or a thread calls exit;
 *     - main has left by pthread_exit and the last other thread ends (Linux; within two seconds);
 *     - the library that contains the tracer is unloaded, which also frees its memory (ELF; on Windows, stop before).
 *   At exit, the sink may take gotrace_options.exit_milliseconds for each piece of the trace (at most 64 KiB), and as
 *   long for each piece of a snapshot that another thread is writing. A sink that keeps moving is waited for to the end
 *   of the trace, however slow it is. If one piece takes longer, exit waits no more, and later events are lost. So it
 *   is with a pipe when main has left by pthread_exit. Nor is the file of a flight recorder that GOTRACE asked for
 *   written, if it is a pipe that nobody reads.
 *   _exit, quick_exit, execve, a fatal signal, and exit inside the write function leave a complete trace up to a cut.
 *
 * OWNERSHIP
 *
 *   The tracer owns gotrace_go and gotrace_proc records. It reuses them, and frees none while the program runs, so
 *   using a stale handle causes nothing worse than a wrong event. Names passed to calls are copied. So are the strings
 *   of a call site, by its first call in a trace. So a library with call sites may be unloaded, and another one loaded
 *   in its place, while tracing is on. With GOTRACE_DEBUG it may not: reports name the call site. The strings of a
 *   goroutine's entry must stay valid and unchanged as long as the goroutine lives: destroy it before unloading the
 *   library with its entry, or name it by gotrace_go_create_named, which copies the name.
 *
 * NAMES OF FUNCTIONS
 *
 *   A call site has its function, file and line from the compiler. In C++ (GCC and Clang) the name is qualified, as
 *   "net::Box<int>::run"; template arguments of more than 24 characters become "<...>", and a lambda is named after its
 *   function, "main::lambda". Other addresses in stacks are named when a stack is written, in each generation again, by
 *   the thread that transcribes, never by a call that traces. The first of these sources that knows it names it:
 *
 *     gotrace_options.symbolize      the program's own function
 *     .symtab, .dynsym               of the module's file (Linux). These name static functions too, and no program
 *                                    needs -rdynamic. If the file cannot be opened or is not the one that was loaded
 *                                    (checked by build id and segments): the dynamic symbols in memory
 *     .eh_frame_hdr                  stripped modules: "pigz!0x11240", the function's start address in the module, so
 *                                    that viewers still group by function
 *     the module                     "pigz+0x11250", the address in the module
 *     nothing                        "0x7f5bb5e3124a", if no module is at the address, or if another library may have
 *                                    been there when the address was recorded
 *
 *   A goroutine's entry is looked up as it is, an address in a stack minus 1, since it is a return address, which may
 *   be the first of the next function. The frame's file is the module's path, "[vdso]" for the kernel's; its line is 0.
 *   The symbols of a module are read when its first address is named, and kept until the session ends: at most 64 MiB
 *   for all modules, not counted in the memory limit. C++ names stay mangled, since __cxa_demangle allocates with
 *   malloc; `gotrace symbolize` demangles them. A library that is loaded and unloaded within one generation may be
 *   mistaken for the next one at its address. In v1, a stack with the addresses of an earlier one shares its names.
 *
 *   For tools, a trace contains strings that describe the modules of its stacks. No event refers to them. Their form is
 *   "gotrace.module BASE LOW-HIGH BUILD-ID PATH", with numbers in base 16 and "-" for no build id. The virtual address
 *   of a return address in its file is pc - 1 - BASE. In the frames of inlined functions that `gotrace symbolize` adds,
 *   the highest byte of the pc is the depth of the inlining, so that each frame has its own pc.
 *
 * CLOCK
 *
 *   Time is the processor's tick counter if all cores share one (x86, arm64, ppc64, riscv64, s390x), else the monotonic
 *   clock. Either is divided by GOTRACE_TICK_DIV. Times in a trace never contradict causality, even if the counters of
 *   two cores differ: each thread, proc and goroutine remembers the tick of its last record. A trace counts in units of
 *   16 ns, to which ticks are converted by the monotonic clock several times a second. So a jump of the counter, as
 *   when a computer sleeps, is one gap in the trace, and gotrace_stats.clock_jumps counts it.
 *
 * FORK
 *
 *   In the child of a fork, tracing is off and can be started again. The parent continues.
 *
 * LICENCE
 *
 *   See the end of the file.
 */

/* Exposes GNU extensions to the rest of the file, if the header comes first. The tracer does not need them. */
#if defined(GOTRACE_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_WIN32)
#define _GNU_SOURCE
#endif

#ifndef GOTRACE_H
#define GOTRACE_H

/* Another header may have left `#pragma pack` on. Structures must be the same in every file. */
#pragma pack(push)
#pragma pack()

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------ >>options ----
 *
 * Each option is a macro to define before the #include. "Everywhere": the same in every file that includes the header.
 * "Implementation": has an effect only in the file that defines GOTRACE_IMPLEMENTATION. Options that are 0 or 1 are
 * tested by value. An empty #define means 1.
 */

/* Whether an option is defined as nothing; then there are two signs before the second 1. */
#define GOTRACE__IS_EMPTY(option) (0 - option - 1 == 1)

/* Everywhere. 1: all calls of >>session, >>threads, >>emit and >>runtimes compile to nothing. */
#ifndef GOTRACE_DISABLE
#define GOTRACE_DISABLE 0
#elif GOTRACE__IS_EMPTY(GOTRACE_DISABLE)
#undef GOTRACE_DISABLE
#define GOTRACE_DISABLE 1
#endif

/* Everywhere. 1: functions are static, for a program with one source file or one tracer per library. */
#ifndef GOTRACE_STATIC
#define GOTRACE_STATIC 0
#elif GOTRACE__IS_EMPTY(GOTRACE_STATIC)
#undef GOTRACE_STATIC
#define GOTRACE_STATIC 1
#endif

/* Per file. 0: calls do not record their call site. In C, compilers without GNU statement expressions always behave
 * as with 0. A call site costs 56 bytes of data per call, and no time. It is a static object, which C does not allow in
 * an inline function with external linkage (GCC warns): make the function `static inline`, or use 0 in that file. */
#ifndef GOTRACE_CALL_SITES
#define GOTRACE_CALL_SITES 1
#elif GOTRACE__IS_EMPTY(GOTRACE_CALL_SITES)
#undef GOTRACE_CALL_SITES
#define GOTRACE_CALL_SITES 1
#endif

/* Implementation. 1: no locks and no service thread, for programs with one thread (POSIX systems and Windows). Calls
 * write to the sink: gotrace_stop, gotrace_advance, and others when a piece of their memory is full. If few events make
 * that rarer than options->cut_milliseconds, call gotrace_advance. */
#ifndef GOTRACE_NO_THREADS
#define GOTRACE_NO_THREADS 0
#elif GOTRACE__IS_EMPTY(GOTRACE_NO_THREADS)
#undef GOTRACE_NO_THREADS
#define GOTRACE_NO_THREADS 1
#endif

/* Implementation. 1: each call raises its thread's flag with a sequentially consistent store instead of a relaxed one,
 * so that the end of a trace needs no process-wide barrier. The default is 1 under ThreadSanitizer and on systems
 * without such a barrier. Costs about 20 cycles per call. */
#if defined(GOTRACE_SEQ_CST_FLAG) && GOTRACE__IS_EMPTY(GOTRACE_SEQ_CST_FLAG)
#undef GOTRACE_SEQ_CST_FLAG
#define GOTRACE_SEQ_CST_FLAG 1
#endif

/* Implementation. Ticks of the clock per tick of a record, 1 to 1024. Finer ticks cost up to a byte per record. The
 * default is 64 on x86 and 16 on ppc64, as Go's traceTickDiv in runtime/trace.go; for others see >>platform. */
/* #define GOTRACE_TICK_DIV 64 */

/* Per file. 1: no decoder, for a program that only writes traces. */
#ifndef GOTRACE_NO_DECODER
#define GOTRACE_NO_DECODER 0
#elif GOTRACE__IS_EMPTY(GOTRACE_NO_DECODER)
#undef GOTRACE_NO_DECODER
#define GOTRACE_NO_DECODER 1
#endif

/* Implementation. 1: gotrace_logf formats with the C library's vsnprintf. 0: with stb_sprintf if the file has already
 * included it or if it is on the include path, else with vsnprintf. */
#ifndef GOTRACE_NO_STB_SPRINTF
#define GOTRACE_NO_STB_SPRINTF 0
#elif GOTRACE__IS_EMPTY(GOTRACE_NO_STB_SPRINTF)
#undef GOTRACE_NO_STB_SPRINTF
#define GOTRACE_NO_STB_SPRINTF 1
#endif

/* Implementation. 1: never open files for names: for sandboxes that kill a program that calls open(). Names then come
 * from the dynamic symbols in memory. A sandbox that only refuses needs no option. */
#ifndef GOTRACE_NO_SYMBOLIZER
#define GOTRACE_NO_SYMBOLIZER 0
#elif GOTRACE__IS_EMPTY(GOTRACE_NO_SYMBOLIZER)
#undef GOTRACE_NO_SYMBOLIZER
#define GOTRACE_NO_SYMBOLIZER 1
#endif

/* Implementation. 1: use the monotonic clock (nanoseconds) instead of the tick counter. */
#ifndef GOTRACE_MONOTONIC_CLOCK
#define GOTRACE_MONOTONIC_CLOCK 0
#elif GOTRACE__IS_EMPTY(GOTRACE_MONOTONIC_CLOCK)
#undef GOTRACE_MONOTONIC_CLOCK
#define GOTRACE_MONOTONIC_CLOCK 1
#endif

/* Implementation. 1: a constructor calls gotrace_start_environment before main, so that a program needs no call to be
 * traced; the trace's problems are printed at its end. GCC and Clang. */
#ifndef GOTRACE_AUTOSTART
#define GOTRACE_AUTOSTART 0
#elif GOTRACE__IS_EMPTY(GOTRACE_AUTOSTART)
#undef GOTRACE_AUTOSTART
#define GOTRACE_AUTOSTART 1
#endif

/* Everywhere. 1: while tracing is on, report each misuse to gotrace_options.report or on standard error, once per call
 * site, with the place of the call and the goroutine, proc (-1: none) and thread that made it. Costs time in each call.
 */
#ifndef GOTRACE_DEBUG
#define GOTRACE_DEBUG 0
#elif GOTRACE__IS_EMPTY(GOTRACE_DEBUG)
#undef GOTRACE_DEBUG
#define GOTRACE_DEBUG 1
#endif

/* Implementation. The tracer's allocator: GOTRACE_MALLOC(size) and GOTRACE_FREE(pointer, size), both or neither. They
 * are called on any thread; the memory must be aligned for uint64_t and need not be zeroed. The default is the system
 * (mmap, VirtualAlloc) and not malloc: the program may trace its allocator, which would then be called from inside a
 * call of the tracer. */
#if defined(GOTRACE_MALLOC) != defined(GOTRACE_FREE)
#error "gotrace: define both GOTRACE_MALLOC(size) and GOTRACE_FREE(pointer, size), or neither"
#endif

/* GCC, or a compiler with its extensions; clang-cl does not define __GNUC__. */
#if defined(GOTRACE__GNU) /* a test builds what MSVC builds: 0 */
#elif defined(__GNUC__) || defined(__clang__)
#define GOTRACE__GNU 1
#else
#define GOTRACE__GNU 0
#endif
#if GOTRACE_AUTOSTART && !GOTRACE__GNU
#error "gotrace: GOTRACE_AUTOSTART needs GCC or Clang: call gotrace_start_environment in main"
#endif

/* Everywhere. Prefix of each declaration, for a library that exports the tracer: __declspec(dllexport) to build it and
 * __declspec(dllimport) to use it, or __attribute__((visibility("default"))). */
#if defined(GOTRACE_API) && GOTRACE_STATIC
#error "gotrace: GOTRACE_STATIC and GOTRACE_API exclude each other"
#elif defined(GOTRACE_API)
#elif !GOTRACE_STATIC
#define GOTRACE_API
#elif GOTRACE__GNU
#define GOTRACE_API __attribute__((__unused__)) static
#else
#define GOTRACE_API static
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ >>version ---- */

/* Before 1.0, a new minor version may break the API and the ABI; a new patch version breaks neither. From 1.0 on, only
 * a new major version may break them. A trace has no version of the header: its format is Go's. */
#define GOTRACE_VERSION_MAJOR 0
#define GOTRACE_VERSION_MINOR 3
#define GOTRACE_VERSION_PATCH 0
#define GOTRACE_VERSION "0.3.0"
#define GOTRACE_VERSION_NUMBER (GOTRACE_VERSION_MAJOR * 10000 + GOTRACE_VERSION_MINOR * 100 + GOTRACE_VERSION_PATCH)

/* GOTRACE_VERSION_NUMBER of the implementation, which may differ from the caller's: the tracer may be in a library. */
GOTRACE_API unsigned gotrace_version(void);

/* Trace formats, oldest first, each named by the Go release that introduced it: X(NAME, number, "name"). The number is
 * 1000 times the major plus the minor number of the release. */
#define GOTRACE_FORMATS(X)                                                                                      \
  X(GO_1_8, 1008, "1.8")   /* opened by Go 1.8 to 1.22; no tasks, regions, logs */                              \
  X(GO_1_10, 1010, "1.10") /* Go 1.10 to 1.22; stop-the-world kinds, swept bytes, mark assist */                \
  X(GO_1_11, 1011, "1.11") /* Go 1.11 and later; tasks, regions, logs */                                        \
  X(GO_1_19, 1019, "1.19") /* Go 1.19 and later; CPU samples */                                                 \
  X(GO_1_21, 1021, "1.21") /* Go 1.21 and later; stop-the-world reasons */                                      \
  X(GO_1_22, 1022, "1.22") /* Go 1.22 and later; v2: threads, generations; no switch, no stack with a status */ \
  X(GO_1_23, 1023, "1.23") /* Go 1.23 and later; switch, goroutines created blocked, memory events */           \
  X(GO_1_25, 1025, "1.25") /* Go 1.25 and later; wall clock */                                                  \
  X(GO_1_26, 1026, "1.26") /* Go 1.26 and later; generations have an explicit end: a truncated one is lost */

#define GOTRACE__FORMAT(NAME, number, name) GOTRACE_##NAME = number,
typedef enum gotrace_format {
  GOTRACE_FORMATS(GOTRACE__FORMAT) GOTRACE_FORMAT_DEFAULT = 0 /* GOTRACE_GO_1_23 */
} gotrace_format;
#undef GOTRACE__FORMAT

/* ------------------------------------------------------------------------------------------------ >>results ---- */

#define GOTRACE_RESULTS(X)                                                                                      \
  X(OK, 0, "success")                                                                                           \
  X(WOULD_BLOCK, 1, "no data yet")                                                                              \
  X(LIMIT_REACHED, 2, "the trace ended early: a limit of memory or size was reached")                           \
  X(END_OF_TRACE, 3, "the trace has ended")                                                                     \
  X(ERROR_ALREADY_RUNNING, -1, "tracing is already on")                                                         \
  X(ERROR_NOT_RUNNING, -2, "tracing is off")                                                                    \
  X(ERROR_READER_BUSY, -3, "another reader is active")                                                          \
  X(ERROR_OUT_OF_MEMORY, -4, "out of memory")                                                                   \
  X(ERROR_SINK, -5, "the file or the write function failed")                                                    \
  X(ERROR_ARGUMENT, -6, "invalid argument")                                                                     \
  X(ERROR_FORMAT, -7, "trace format not supported")                                                             \
  X(ERROR_THREAD, -8, "the service thread could not be started")                                                \
  X(ERROR_DISABLED, -9, "tracing was compiled out")                                                             \
  X(ERROR_READ, -10, "the read function failed")                                                                \
  X(ERROR_HEADER, -11, "not a Go execution trace")                                                              \
  X(ERROR_TRUNCATED, -12, "the trace is truncated")                                                             \
  X(ERROR_NUMBER, -13, "number longer than 64 bits")                                                            \
  X(ERROR_EVENT, -14, "event not valid in this format or position")                                             \
  X(ERROR_ARGUMENTS, -15, "invalid event arguments")                                                            \
  X(ERROR_BATCH, -16, "batch too large, or missing")                                                            \
  X(ERROR_GENERATION, -17, "generations out of order, or missing end of generation")                            \
  X(ERROR_FREQUENCY, -18, "missing or duplicate clock frequency")                                               \
  X(ERROR_CLOCK, -19, "missing or duplicate clock snapshot")                                                    \
  X(ERROR_STRING, -20, "string too long, defined twice, or unknown")                                            \
  X(ERROR_STACK, -21, "stack too deep, defined twice, or unknown")                                              \
  X(ERROR_EMPTY, -22, "trace or generation without events")                                                     \
  X(ERROR_STATUS, -23, "status contradicts the known state")                                                    \
  X(ERROR_STATE, -24, "goroutine or proc in the wrong state for the event")                                     \
  X(ERROR_CONTEXT, -25, "event without a required thread, proc or goroutine")                                   \
  X(ERROR_ORDER, -26, "the events have no consistent order")                                                    \
  X(ERROR_TIME, -27, "time stamps contradict the order of the events")                                          \
  X(ERROR_TASK, -28, "task begins twice")                                                                       \
  X(ERROR_REGION, -29, "end of a region that is not the innermost")                                             \
  X(ERROR_RANGE, -30, "collection, sweep, mark assist or stop-the-world begins twice, or ends without a start") \
  X(ERROR_NESTED, -31, "nested call: made inside another call of the tracer on the same thread")

typedef enum gotrace_result {
#define GOTRACE__RESULT(NAME, code, text) GOTRACE_##NAME = code,
  GOTRACE_RESULTS(GOTRACE__RESULT)
#undef GOTRACE__RESULT
} gotrace_result;

/* The text of a result; "unknown result" for any other number. Static, never NULL. */
GOTRACE_API const char *gotrace_result_string(gotrace_result result);

/* Calls that are invalid in the current state or have no event in the format, and what the tracer does with them.
 * X(NAME, number, done, "text"), where `done` is 0 dropped, 1 repaired, 2 left out (the call was correct). */
#define GOTRACE_PROBLEMS(X)                                                                                    \
  X(NOT_RUNNING, 0, 0, "block, stop, end or label while no goroutine runs; change of one that runs elsewhere") \
  X(START_WAITING, 1, 1, "start of a goroutine that was not unblocked: unblocked it")                          \
  X(START_RUNNING, 2, 0, "start of a goroutine that is running or in a system call")                           \
  X(START_DEAD, 3, 0, "start of a goroutine that has ended")                                                   \
  X(START_OVER, 4, 1, "start while another goroutine runs on the thread: yielded that one")                    \
  X(NO_PROC, 5, 1, "goroutine on a thread without a proc: gave the thread one")                                \
  X(UNBLOCK_NOT_WAITING, 6, 0, "unblock of a goroutine that is not blocked")                                   \
  X(SWITCH_NOT_WAITING, 7, 0, "switch to a goroutine that cannot run")                                         \
  X(PROC_START_RUNNING, 8, 0, "start of a proc that runs on another thread")                                   \
  X(PROC_START_OVER, 9, 1, "proc start on a thread that has a proc: stopped that proc")                        \
  X(PROC_STOP_NONE, 10, 0, "proc stop on a thread without a proc")                                             \
  X(PROC_STOP_GO, 11, 1, "proc stop while a goroutine runs: preempted it")                                     \
  X(PROC_STEAL, 12, 0, "steal of a proc that is not in a system call")                                         \
  X(PROC_DESTROY, 13, 0, "destroy of a proc that is running or sweeping")                                      \
  X(SYSCALL_OPEN, 14, 1, "event during a system call: ended the system call")                                  \
  X(SYSCALL_NONE, 15, 0, "end of a system call that did not begin")                                            \
  X(SYSCALL_LOST_PROC, 16, 1, "proc stolen during the system call: gave the thread another")                   \
  X(WAIT_NONE, 17, 0, "end of a wait that did not begin")                                                      \
  X(REGION_NONE, 18, 0, "end of a region that did not begin")                                                  \
  X(REGION_ORDER, 19, 1, "end of a region that is not the innermost: ended the inner ones")                    \
  X(REGION_DEPTH, 20, 1, "region nested more than 1,024 deep, or no memory: the outermost will have no end")   \
  X(NO_GOROUTINE, 21, 0, "annotation on a proc that runs no goroutine")                                        \
  X(GC_STATE, 22, 0, "start of a collection during one, or end without a start")                               \
  X(STW_STATE, 23, 0, "start of a stop-the-world during one, or end without a start")                          \
  X(STW_OPEN, 24, 1, "goroutine stops running during its own stop-the-world: ended the stop-the-world")        \
  X(SWEEP_STATE, 25, 0, "start of a sweep during one, or span or end without a start")                         \
  X(MARK_ASSIST_STATE, 26, 0, "start of a mark assist during one, or end without a start")                     \
  X(FORMAT_LACKS, 27, 2, "the trace format has no such event")                                                 \
  X(STRING_CUT, 28, 1, "string longer than 1,024 bytes: truncated")                                            \
  X(STACK_CUT, 29, 1, "stack too deep for the format: truncated")                                              \
  X(TABLE_FULL, 30, 1, "no memory for a string or stack: left empty, or the call site alone")                  \
  X(SAMPLE_LOST, 31, 0, "no room for a CPU sample")                                                            \
  X(NO_MEMORY, 32, 0, "no memory for the record of a thread, proc or goroutine")                               \
  X(FUTILE_BUSY, 33, 0, "futile wake-up of a goroutine that has run since: not marked")                        \
  X(BAD_HANDLE, 34, 0, "handle out of range")                                                                  \
  X(BAD_REASON, 35, 1, "reason out of range: treated as unspecified")                                          \
  X(NESTED, 36, 0, "nested call: from an allocator, unwinder, sink or signal handler that runs inside a call") \
  X(DESTROY, 37, 0, "destroy of a goroutine that is running, in a system call or dead")                        \
  X(REGION_OLDER, 38, 2, "region that began before the trace, or never: shown without a start, or not at all") \
  X(CREATE_NO_PROC, 39, 2, "creator of a goroutine: it was created on a thread without a proc")                \
  X(NEST_NONE, 40, 0, "end of nested running that did not begin, or with another outer goroutine")             \
  X(NEST_OPEN, 41, 1, "nested running not ended before the outer one, its wait or its thread: ended it")       \
  X(NEST_DEPTH, 42, 0, "waits and nested running nested too deeply")                                           \
  X(SITES_FULL, 43, 0, "too many call sites made at run time, or no memory for one: returned NULL")            \
  X(IDLE_WORKER, 44, 1, "wait, region, log, task, system call of an idle worker: made the thread a goroutine") \
  X(THREAD_OVER, 45, 0, "call of a thread that has ended: in the last round of its keys' destructors")

typedef enum gotrace_problem {
#define GOTRACE__PROBLEM(NAME, number, done, text) GOTRACE_PROBLEM_##NAME = number,
  GOTRACE_PROBLEMS(GOTRACE__PROBLEM)
#undef GOTRACE__PROBLEM
      GOTRACE_PROBLEM_COUNT
} gotrace_problem;

/* The text of a problem, and its outcome: "dropped", "repaired" or "left out". Static; "unknown problem" and "unknown"
 * for any other number. */
GOTRACE_API const char *gotrace_problem_string(gotrace_problem problem);
GOTRACE_API const char *gotrace_problem_outcome(gotrace_problem problem);

/* -------------------------------------------------------------------------------------------------- >>types ---- */

/* gotrace__uint64: a 64-bit number shared by threads; 32-bit x86 would align it to 4 bytes inside a structure. */
#if GOTRACE__GNU
typedef uint64_t gotrace__uint64 __attribute__((__aligned__(8)));
#define GOTRACE__PRINTF(string, first) __attribute__((__format__(__printf__, string, first)))
#define GOTRACE__MAY_BE_UNUSED __attribute__((__unused__))
#define GOTRACE__ALWAYS __attribute__((__always_inline__))
#define GOTRACE__UNINSTRUMENTED __attribute__((__no_instrument_function__))
#else
typedef uint64_t gotrace__uint64;
#define GOTRACE__PRINTF(string, first)
#define GOTRACE__MAY_BE_UNUSED
#define GOTRACE__ALWAYS
#define GOTRACE__UNINSTRUMENTED
#endif

typedef struct gotrace_go gotrace_go;     /* a goroutine's record */
typedef struct gotrace_proc gotrace_proc; /* a proc's record */

/* A user task: work that goroutines do together for one purpose. */
typedef struct gotrace_task {
  uint64_t id;
} gotrace_task;

/* A place in a program; a stack is a list of them. How long its strings must stay valid: see OWNERSHIP. */
typedef struct gotrace_location {
  uintptr_t pc;         /* identifies the place; 0: derived from the other three */
  const char *function; /* NULL: looked up from pc, see NAMES OF FUNCTIONS */
  const char *file;     /* NULL: unknown */
  uint32_t line;        /* 0: unknown */
} gotrace_location;

/* A call site: a location, and the tracer's data about it. Made by GOTRACE_HERE. */
typedef struct gotrace_site {
  gotrace_location location;
  gotrace__uint64 number;   /* session in the upper half; in the lower, see GOTRACE__NAMED */
  gotrace__uint64 reported; /* bit per problem that GOTRACE_DEBUG has reported here */
} gotrace_site;

/* In C++, reasons are unsigned, as gotrace_reason's: `timed ? GOTRACE_REASON("x") : GOTRACE_BLOCK_NET` would warn. */
#if defined(__cplusplus)
#define GOTRACE__UNSIGNED : unsigned
#else
#define GOTRACE__UNSIGNED
#endif

/* Why a goroutine blocks: the reasons of Go 1.24 to 1.27 (traceBlockReason in runtime/traceruntime.go), and the v1
 * event for each. gotrace_reason makes more. X(NAME, number, v1 event, "text in v2") */
#define GOTRACE_BLOCK_REASONS(X)                                    \
  X(GENERIC, 0, GO_BLOCK, "unspecified")                            \
  X(FOREVER, 1, GO_STOP, "forever")                                 \
  X(NET, 2, GO_BLOCK_NET, "network")                                \
  X(SELECT, 3, GO_BLOCK_SELECT, "select")                           \
  X(COND_WAIT, 4, GO_BLOCK_COND, "sync.(*Cond).Wait")               \
  X(SYNC, 5, GO_BLOCK_SYNC, "sync")                                 \
  X(CHAN_SEND, 6, GO_BLOCK_SEND, "chan send")                       \
  X(CHAN_RECV, 7, GO_BLOCK_RECV, "chan receive")                    \
  X(GC_MARK_ASSIST, 8, GO_BLOCK_GC, "GC mark assist wait for work") \
  X(GC_SWEEP, 9, GO_BLOCK, "GC background sweeper wait")            \
  X(SYSTEM_GOROUTINE, 10, GO_BLOCK, "system goroutine wait")        \
  X(PREEMPTED, 11, GO_BLOCK, "preempted")                           \
  X(DEBUG_CALL, 12, GO_BLOCK, "wait for debug call")                \
  X(UNTIL_GC_ENDS, 13, GO_BLOCK, "wait until GC ends")              \
  X(SLEEP, 14, GO_SLEEP, "sleep")                                   \
  X(GC_WEAK_TO_STRONG, 15, GO_BLOCK, "GC weak to strong wait")      \
  X(SYNCTEST, 16, GO_BLOCK, "synctest")

typedef enum gotrace_block_reason GOTRACE__UNSIGNED {
#define GOTRACE__REASON(NAME, number, v1, text) GOTRACE_BLOCK_##NAME = number,
  GOTRACE_BLOCK_REASONS(GOTRACE__REASON)
#undef GOTRACE__REASON
      GOTRACE_BLOCK_REASON_COUNT = 17
} gotrace_block_reason;

/* Why a goroutine gives up its proc and stays runnable: Go's traceGoStopReason. X: as above. */
#define GOTRACE_STOP_REASONS(X)            \
  X(GENERIC, 0, GO_PREEMPT, "unspecified") \
  X(YIELD, 1, GO_SCHED, "runtime.Gosched") \
  X(PREEMPTED, 2, GO_PREEMPT, "preempted")

typedef enum gotrace_stop_reason GOTRACE__UNSIGNED {
#define GOTRACE__REASON(NAME, number, v1, text) GOTRACE_STOP_##NAME = number,
  GOTRACE_STOP_REASONS(GOTRACE__REASON)
#undef GOTRACE__REASON
      GOTRACE_STOP_REASON_COUNT = 3
} gotrace_stop_reason;

/* Why the world stops: Go 1.21's stwReason (runtime/proc.go). Formats before 1.21 have only the two reasons of the
 * collector. The last five are for the Go runtime's own tests. X(NAME, number, "text in v2") */
#define GOTRACE_STW_REASONS(X)                                       \
  X(UNKNOWN, 0, "unknown")                                           \
  X(GC_MARK_TERM, 1, "GC mark termination")                          \
  X(GC_SWEEP_TERM, 2, "GC sweep termination")                        \
  X(WRITE_HEAP_DUMP, 3, "write heap dump")                           \
  X(GOROUTINE_PROFILE, 4, "goroutine profile")                       \
  X(GOROUTINE_PROFILE_CLEANUP, 5, "goroutine profile cleanup")       \
  X(ALL_GOROUTINES_STACK, 6, "all goroutines stack trace")           \
  X(READ_MEM_STATS, 7, "read mem stats")                             \
  X(ALL_THREADS_SYSCALL, 8, "AllThreadsSyscall")                     \
  X(GOMAXPROCS, 9, "GOMAXPROCS")                                     \
  X(START_TRACE, 10, "start trace")                                  \
  X(STOP_TRACE, 11, "stop trace")                                    \
  X(TEST_COUNT_PAGES_IN_USE, 12, "CountPagesInUse (test)")           \
  X(TEST_READ_METRICS_SLOW, 13, "ReadMetricsSlow (test)")            \
  X(TEST_READ_MEM_STATS_SLOW, 14, "ReadMemStatsSlow (test)")         \
  X(TEST_PAGE_CACHE_PAGES_LEAKED, 15, "PageCachePagesLeaked (test)") \
  X(TEST_RESET_DEBUG_LOG, 16, "ResetDebugLog (test)")

typedef enum gotrace_stw_reason GOTRACE__UNSIGNED {
#define GOTRACE__REASON(NAME, number, text) GOTRACE_STW_##NAME = number,
  GOTRACE_STW_REASONS(GOTRACE__REASON)
#undef GOTRACE__REASON
      GOTRACE_STW_REASON_COUNT = 17
} gotrace_stw_reason;

/* Receives the next `size` bytes of the trace; returns whether they were written. Called by one thread at a time. */
typedef bool gotrace_write_fn(void *context, const void *data, size_t size);

/* Fills pcs with up to `max` return addresses of the calling goroutine, innermost first; returns their count. Runs on
 * the thread that emits. It must not call the tracer. */
typedef int gotrace_unwind_fn(void *context, uintptr_t *pcs, int max);

/* Fills in function, file and line of place->pc, a return address or a goroutine's entry; returns false if it is
 * unknown. Called on the thread that transcribes, for each frame without a name of each new stack in a generation. The
 * strings are copied before the next call. */
typedef bool gotrace_symbolize_fn(void *context, gotrace_location *place);

/* Receives one line, without a newline, for each misuse, once per call site, if GOTRACE_DEBUG is 1. Called on any
 * thread, one at a time, soon after the misuse, at the latest before gotrace_stop returns. Must not call the tracer. */
typedef void gotrace_report_fn(void *context, const char *line);

typedef enum gotrace_stacks {
  GOTRACE_STACKS_CALL_SITE = 0,      /* the call site */
  GOTRACE_STACKS_NONE = 1,           /* none */
  GOTRACE_STACKS_FRAME_POINTERS = 2, /* the call site, then its callers by frame pointers, if the stack's bounds are
                                        known (gotrace_go_stack_bounds, or the thread's own, except on Windows) */
  GOTRACE_STACKS_UNWIND = 3          /* the result of gotrace_options.unwind, which must be set */
} gotrace_stacks;

typedef enum gotrace_on_limit {
  GOTRACE_LIMIT_STOP = 0, /* the trace ends at a consistent cut */
  GOTRACE_LIMIT_BLOCK = 1 /* a thread that needs a chunk waits until there is room. The reader and `write` never wait;
                             their own events may exceed the limit */
} gotrace_on_limit;

/* A type of heap objects, see gotrace_heap_object. */
typedef struct gotrace_type {
  const char *name;
  size_t size, pointer_bytes; /* bytes of a value; how many of them, from its start, can hold pointers */
} gotrace_type;

/* How gotrace_span and its relatives encode addresses: as multiples, relative to `base`. Zero: the defaults. */
typedef struct gotrace_heap_layout {
  uintptr_t base;    /* at or below every address */
  size_t page_size;  /* of spans; 0: 8,192 */
  size_t alignment;  /* smallest alignment of objects; 0: 8 */
  size_t stack_unit; /* size of the smallest stack; 0: 2,048 */
} gotrace_heap_layout;

/* All zero: the defaults. Structures passed by pointer keep their size: new members replace part of `reserved`, so that
 * a program and a shared library may have different versions. */
typedef struct gotrace_options {
  gotrace_format format;           /* 0: GOTRACE_GO_1_23 */
  gotrace_stacks stacks;           /* 0: GOTRACE_STACKS_CALL_SITE */
  size_t memory_limit;             /* bytes of records, tables and output, 1 MiB or more; 0: 256 MiB. Transcribing may
                                      exceed it by about 1 MiB and 64 KiB per proc (v1) or thread */
  gotrace_on_limit on_limit;       /* what happens at memory_limit; 0: GOTRACE_LIMIT_STOP */
  uint64_t size_limit;             /* bytes after which the trace ends, exceeded by up to 64 KiB per proc (v1) or
                                      thread, and by the last tables; 0: none */
  uint32_t cut_milliseconds;       /* longest time between two cuts, see gotrace_read; 0: 1,000 */
  size_t cut_bytes;                /* most bytes between two cuts; 0: 4 MiB */
  bool futile_wakeups;             /* write FutileWakeup in v1 formats from 1.11 on too; Go 1.23 and later reject it */
  bool alloc_events;               /* write the events of gotrace_span and its relatives (1.23 and later) */
  gotrace_heap_layout heap;        /* address encoding of these */
  uint32_t flight_milliseconds;    /* gotrace_flight_start: how much of the past to keep at least; 0: 10,000 */
  size_t flight_bytes;             /* the same: bytes of memory, 2 MiB or more, exceeded as memory_limit is; takes
                                    * precedence; 0: 16 MiB */
  gotrace_write_fn *write;         /* gotrace_start: sink; NULL: the caller reads */
  gotrace_unwind_fn *unwind;       /* for GOTRACE_STACKS_UNWIND */
  gotrace_symbolize_fn *symbolize; /* takes precedence over symbols, see NAMES OF FUNCTIONS; NULL: none */
  gotrace_report_fn *report;       /* for GOTRACE_DEBUG; NULL: standard error */
  void *context;                   /* passed to the functions above */
  uint32_t exit_milliseconds;      /* at the program's end: how long a piece may take the sink; 0: 2,000 */
  bool late;                       /* write only when half of memory_limit is used, and at the end: takes no processor
                                      from a program that uses all of them while it is measured */
  uint64_t reserved[7];            /* 0 */
} gotrace_options;

typedef struct gotrace_stats {
  gotrace_result result;                /* GOTRACE_OK, GOTRACE_LIMIT_REACHED or the error that ended the trace early */
  int system_error;                     /* errno of the sink's failure, or 0 */
  uint64_t bytes;                       /* bytes delivered so far */
  uint64_t consistent_bytes;            /* length of the longest prefix of these that is a complete trace */
  uint64_t events;                      /* all events except framing (batches, tables, clocks) */
  uint64_t kinds[256];                  /* events by number, including framing */
  uint64_t goroutines;                  /* created, or present at the start */
  uint64_t threads;                     /* threads that emitted */
  uint64_t cuts;                        /* consistent cuts (in v2: generations), including the last */
  uint64_t problems[64];                /* by gotrace_problem */
  uint64_t dropped, repaired, left_out; /* sums of problems */
  uint64_t memory_peak;                 /* most bytes of records, tables, output and the flight recorder's memory */
  uint64_t other_copies;                /* other copies of the tracer in this process, see SHARED LIBRARIES; Linux */
  uint64_t clock_jumps;                 /* times that the processor's counter jumped or changed its rate, as when a
                                           computer sleeps. Durations before and after are right */
  uint64_t reserved[6];
} gotrace_stats;

/* The static call site at this place, a gotrace_site *; NULL in C on compilers without statement expressions, and with
 * GOTRACE_DISABLE. Every macro below that calls a function `..._at` passes it. In C++ it is a lambda, so that these
 * macros can also stand outside a function: in default member initializers, default arguments and initializers of
 * variables. __PRETTY_FUNCTION__ there tells the enclosing function with its namespaces and classes, from which the
 * trace has "net::Server::run" (see gotrace__short_name). */
#if GOTRACE_CALL_SITES && (GOTRACE__GNU || defined(__cplusplus)) && !GOTRACE_DISABLE
#if GOTRACE__GNU
#define GOTRACE__FUNCTION __PRETTY_FUNCTION__
#define GOTRACE__IS_CONSTANT(x) __builtin_constant_p(x)
#else
#define GOTRACE__FUNCTION __FUNCTION__
#define GOTRACE__IS_CONSTANT(x) 0
#endif
#if defined(__cplusplus)
enum gotrace__call_site { GOTRACE__CALL_SITE };
#define GOTRACE_HERE                                                                        \
  ([](gotrace__call_site) -> gotrace_site * {                                               \
    static gotrace_site gotrace__here = {{0, GOTRACE__FUNCTION, __FILE__, __LINE__}, 0, 0}; \
    return &gotrace__here;                                                                  \
  }(GOTRACE__CALL_SITE))
#else
#define GOTRACE_HERE                                                               \
  (__extension__({                                                                 \
    GOTRACE__ALLOW_STATIC                                                          \
    static gotrace_site gotrace__here = {{0, __func__, __FILE__, __LINE__}, 0, 0}; \
    GOTRACE__ALLOW_END                                                             \
    &gotrace__here;                                                                \
  }))
#endif
#if defined(__clang__) && !defined(__cplusplus)
#define GOTRACE__ALLOW_STATIC \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wstatic-local-in-inline\"")
#define GOTRACE__ALLOW_END _Pragma("clang diagnostic pop")
#else
#define GOTRACE__ALLOW_STATIC
#define GOTRACE__ALLOW_END
#endif
#else
#if defined(__cplusplus)
#define GOTRACE_HERE (static_cast<gotrace_site *>(nullptr))
#else
#define GOTRACE_HERE ((gotrace_site *)0)
#endif
#define GOTRACE__IS_CONSTANT(x) 0
#endif

/* Functions that macros expand to, without a frame of their own. They have external linkage, so that inline functions
 * and the exported ones of a C++ module may use them, and no symbol, so that the linker does not merge those of two
 * tracers. */
#if GOTRACE__GNU && !defined(__cplusplus) && !GOTRACE_STATIC && !GOTRACE_DISABLE
#define GOTRACE__INLINE GOTRACE__UNINSTRUMENTED extern inline __attribute__((__gnu_inline__, __always_inline__))
#elif defined(__cplusplus) && !GOTRACE_STATIC
#define GOTRACE__INLINE GOTRACE__UNINSTRUMENTED inline GOTRACE__ALWAYS
#else
#define GOTRACE__INLINE GOTRACE__UNINSTRUMENTED static inline
#endif

/* The location of a function as a goroutine's entry; viewers group goroutines by entry. Use it to initialize a static
 * variable: static const gotrace_location entry = GOTRACE_ENTRY(worker_main); */
#if defined(__cplusplus)
#define GOTRACE_ENTRY(function) \
  { reinterpret_cast<uintptr_t>(function), #function, __FILE__, __LINE__ }
#else
#define GOTRACE_ENTRY(function) \
  { (uintptr_t)(function), #function, __FILE__, __LINE__ }
#endif

/* For entries that are not C functions, such as a script's function, a named job, a member function or one of several
 * overloaded functions. The name identifies the entry. */
#define GOTRACE_NAMED_ENTRY(name) \
  { 0, (name), "", 0 }

/* The null task. */
#ifdef __cplusplus
#define GOTRACE_NO_TASK (gotrace_task{0})
#else
#define GOTRACE_NO_TASK ((gotrace_task){0})
#endif

#define GOTRACE__NAME(a, b) GOTRACE__NAME2(a, b)
#define GOTRACE__NAME2(a, b) a##b

/* A number for the name of a macro's variable. Clang 22 and later warn about __COUNTER__ with -Wpedantic, and no pragma
 * prevents that within the arguments of another macro. So there, variables of one line shadow each other, and a block
 * has room for one GOTRACE_SCOPE a line. */
#if defined(__clang__) && __clang_major__ >= 22
#define GOTRACE__UNIQUE __LINE__
#define GOTRACE__SHADOWING(declaration)                                             \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wshadow\"") \
      declaration _Pragma("clang diagnostic pop")
#else
#define GOTRACE__UNIQUE __COUNTER__
#define GOTRACE__SHADOWING(declaration) declaration
#endif

/* GOTRACE_DISABLE makes each call below an inline function that returns GOTRACE__OFF's argument. The structure is
 * only for the semicolon. */
#if GOTRACE_DISABLE
#pragma push_macro("GOTRACE_API")
#undef GOTRACE_API
#define GOTRACE_API GOTRACE__INLINE
#define GOTRACE__OFF(result) \
  { return result; }         \
  struct gotrace__off
#if GOTRACE__GNU
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#elif defined(_MSC_VER)
#pragma warning(push)
#pragma warning(disable : 4100) /* unused parameter */
#endif
#else
#define GOTRACE__OFF(result)
#endif

/* ------------------------------------------------------------------------------------------------ >>session ----
 *
 * One session at a time. Tracing starts and stops at any time, any number of times, while any number of threads emit;
 * no thread is stopped for it. The tracer tracks goroutines, procs and threads while tracing is off too, so a trace
 * includes those that exist when it starts.
 */

/* Starts tracing. With options->write, a service thread passes the trace to that function. Without it, the caller must
 * read the trace to its end with gotrace_read. The options are copied; NULL means all defaults. Results: OK.
 * ERROR_ALREADY_RUNNING (also until the last trace has been read to its end), ERROR_ARGUMENT, ERROR_FORMAT,
 * ERROR_OUT_OF_MEMORY or ERROR_THREAD: nothing has changed. Go: StartTrace. */
GOTRACE_API gotrace_result gotrace_start(const gotrace_options *options) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Starts tracing into a file, which is created or replaced and written by a service thread. options->write is ignored.
 * Results: those of gotrace_start; ERROR_SINK if the file cannot be created or written (errno gives the cause). A
 * regular file is a valid trace from the start: until the first cut it has none of the program's events, and whatever
 * happens to the program or the disk, it stays valid. If the system refuses to shorten a longer file that is there, the
 * start fails (ERROR_SINK), and the file is unchanged; if it refuses after a failed write, only the first
 * gotrace_stats.consistent_bytes of the file are the trace.
 *
 * While it is written, a regular file is locked (flock; on Windows a share mode): a second tracer, in this or another
 * process, gets ERROR_SINK (EWOULDBLOCK; on Windows EACCES). File systems without locks do not have this protection.
 * The file's descriptor is above 2. If the program closes it, as daemons do, the trace ends with ERROR_SINK (EBADF) at
 * the next write, and a file that the program has opened since stays unchanged and open. A write to a pipe without a
 * reader (EPIPE) or beyond RLIMIT_FSIZE (EFBIG) raises no signal.
 *
 * A path is UTF-8, also on Windows. In it and in a snapshot's path, %p is replaced by the process id, %t by the time
 * (UTC, as 20261122-115854.123) and %% by %. Another % is literal. ERROR_ARGUMENT if the result exceeds 4,095 bytes. */
GOTRACE_API gotrace_result gotrace_start_file(const char *path, const gotrace_options *options)
    GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Starts a trace if the environment variable GOTRACE is set, to FILE or FILE,OPTION,OPTION..., with the effect of
 * gotrace_start_file. FILE ends at the first comma. With it, a program can be traced without rebuilding it:
 *
 *     int main(void) {
 *         gotrace_start_environment();      // GOTRACE=/tmp/%p.trace,limit=100M,stats ./program
 *
 *     format=1.22      gotrace_options.format
 *     stacks=KIND      call-site, none or frame-pointers
 *     limit=BYTES      gotrace_options.size_limit; also 10K, 10M, 10G
 *     flight=SECONDS   the flight recorder: gotrace_stop, or the end of the program, writes the last SECONDS, 12 MiB at
 *                      most, to FILE
 *     stats            at that time, statistics and problems are printed on standard error
 *
 * With GOTRACE_AUTOSTART the call is made before main.
 *
 * Results: those of gotrace_start_file; ERROR_NOT_RUNNING if GOTRACE is unset or empty; ERROR_ARGUMENT for any other
 * option or value, or limit with flight. All errors but ERROR_NOT_RUNNING and ERROR_ALREADY_RUNNING are also explained
 * on standard error. No other thread may change the environment during the call.
 *
 * Whoever sets the variable must not gain the program's rights by it. In a program that runs with more rights than its
 * user has (setuid, setgid, file capabilities), the result is ERROR_NOT_RUNNING. If FILE is a symbolic link, it is
 * ERROR_SINK (ELOOP); with `flight`, the file is not written, and the end of the trace says so. */
GOTRACE_API gotrace_result gotrace_start_environment(void) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Ends the trace (gotrace_go_stop is about a goroutine) and returns after its last byte has been delivered: written by
 * the service thread, or read by the caller's reader, which must run on another thread. (To read on the same thread,
 * call gotrace_end, then read.) The trace contains every event that happens before the call, ordered by the program's
 * own synchronization, and none after it. Results: OK. LIMIT_REACHED, ERROR_OUT_OF_MEMORY or ERROR_SINK if the trace
 * ended early (what was written is a complete trace). ERROR_NOT_RUNNING if no trace is on. ERROR_NESTED in an
 * allocator, unwinder, symbolizer or report function, or in a signal handler that interrupts a call which starts,
 * reads, cuts or ends a trace. ERROR_READER_BUSY inside the write function, which can only fail or call gotrace_end.
 * WOULD_BLOCK with GOTRACE_NO_THREADS if the caller is the reader: the trace has ended, and the caller must read the
 * rest. Go: StopTrace. */
GOTRACE_API gotrace_result gotrace_stop(void) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Ends the trace without waiting for its delivery (gotrace_go_end is about a goroutine). OK or ERROR_NOT_RUNNING. */
GOTRACE_API gotrace_result gotrace_end(void) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Reads the next piece of the trace: sets *data and *size (bytes), valid until the next call and owned by the tracer.
 * Waits until there is data. At the end of the trace *size is 0, once; after that the result is ERROR_NOT_RUNNING.
 * There is one reader at a time: a second one gets ERROR_READER_BUSY and has no effect, also if a service thread is the
 * reader. Results: OK; ERROR_NOT_RUNNING; ERROR_READER_BUSY; ERROR_ARGUMENT for NULL. Go: ReadTrace.
 *
 * A trace is delivered up to one consistent cut after another: at the latest every options->cut_milliseconds or
 * cut_bytes (but see options->late), the reader transcribes what all threads have recorded, and makes a cut. After each
 * cut, the data read so far is a complete trace, even if the program is killed then. In v2 it ends a generation. */
GOTRACE_API gotrace_result gotrace_read(const void **data, size_t *size) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Like gotrace_read, but returns WOULD_BLOCK and *size 0 instead of waiting for data. It may still transcribe and make
 * a cut, and wait while another thread does. */
GOTRACE_API gotrace_result gotrace_try_read(const void **data, size_t *size) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Starts the flight recorder. It traces continuously and keeps the most recent generations in memory (formats from 1.22
 * on): those of the last options->flight_milliseconds, or fewer if they exceed options->flight_bytes. It is a session
 * like any other: one at a time. gotrace_flight_stop or gotrace_stop ends it and discards its data. options->write,
 * on_limit, memory_limit and size_limit are ignored. If a slow snapshot leaves no memory for new generations, those are
 * discarded. Results: those of gotrace_start; ERROR_FORMAT for formats before 1.22; ERROR_ARGUMENT for flight_bytes
 * below 2 MiB. Go: runtime/trace.FlightRecorder. */
GOTRACE_API gotrace_result gotrace_flight_start(const gotrace_options *options) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Passes a complete trace of the recorded data, up to this moment, to `write`, piece by piece, on the calling thread.
 * Any thread, any number of times. Concurrent snapshots run one after another; tracing continues. Results: OK;
 * ERROR_SINK if write returned false; ERROR_NOT_RUNNING if no flight recorder is on; ERROR_OUT_OF_MEMORY, also if lack
 * of memory left nothing recorded; ERROR_READER_BUSY inside a write function; ERROR_ARGUMENT if `write` is NULL. Go:
 * FlightRecorder.WriteTo. */
GOTRACE_API gotrace_result gotrace_flight_snapshot(gotrace_write_fn *write, void *context)
    GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Writes a snapshot to a file: first to a file of its own, PATH.PID-N.new, which replaces PATH when it is complete. A
 * failed snapshot leaves the old file unchanged. A path that is not a regular file, such as a pipe, is written
 * directly. Results: those of gotrace_flight_snapshot; ERROR_SINK if a file cannot be created, written or replaced
 * (errno gives the cause), also if another tracer writes or has just created PATH (EWOULDBLOCK, EEXIST; on Windows
 * EACCES); ERROR_ARGUMENT if the path is NULL or too long. Locks and signals: as for gotrace_start_file. */
GOTRACE_API gotrace_result gotrace_flight_snapshot_file(const char *path) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Stops the flight recorder. Results: those of gotrace_stop. Go: FlightRecorder.Stop. */
GOTRACE_API gotrace_result gotrace_flight_stop(void) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Makes a consistent cut now: everything emitted before the call is delivered without waiting for more. In v2 this
 * begins the next generation; the flight recorder then also writes the status of each silent goroutine. Other threads
 * continue meanwhile. Any thread. OK; LIMIT_REACHED, ERROR_OUT_OF_MEMORY or ERROR_SINK if the trace ended early during
 * the call; ERROR_NOT_RUNNING. Go: traceAdvance. */
GOTRACE_API gotrace_result gotrace_advance(void) GOTRACE__OFF(GOTRACE_ERROR_DISABLED);

/* Whether tracing is on, for work that only a trace needs: an inline relaxed load. A macro, so other languages call
 * gotrace_is_enabled, which is the same. */
#if GOTRACE_DISABLE
#define gotrace_enabled() false
#elif GOTRACE__GNU
typedef uint32_t gotrace__flag;
#define gotrace_enabled() (__atomic_load_n(&gotrace__on, __ATOMIC_RELAXED) != 0)
#else
typedef volatile uint32_t gotrace__flag;
#define gotrace_enabled() (gotrace__on != 0)
#endif
#if GOTRACE_STATIC && !GOTRACE_DISABLE
GOTRACE_API gotrace__flag gotrace__on;
#elif !GOTRACE_DISABLE
extern GOTRACE_API gotrace__flag gotrace__on;
#endif

/* gotrace_enabled as a function. */
GOTRACE_API bool gotrace_is_enabled(void) GOTRACE__OFF(false);

/* Whether the calling thread is inside a call of the tracer: for a signal handler that switches coroutines, which must
 * not take one out of a call, as out of any function that uses thread-local data. If true, let it run on until the next
 * signal: see PREEMPTION. `pc`: the program counter that the signal interrupted, of which calls at their very first and
 * last instructions can tell, and short calls while tracing is off at all; NULL: unknown, then these are taken to be
 * outside. It counts on ELF systems (Linux, the BSDs) with GCC or Clang; elsewhere it is ignored. Reads a few words and
 * waits for nothing. Tracing on or off. */
GOTRACE_API bool gotrace_in_call(const void *pc) GOTRACE__OFF(false);

/* Whether goroutines are tracked while tracing is off; the default is true. false is for a program whose jobs are so
 * short that the 8 ns which the create, start and end of a goroutine take while tracing is off are too much: they then
 * take 5. While tracing is off, the calls that create a goroutine, and gotrace_go_self, then return NULL, and no thread
 * becomes a goroutine. A trace that starts later lacks the goroutines and waits that are older than it; calls about
 * them are not counted as problems. Procs, tasks and nested running are tracked all the same, but not that a proc is in
 * a system call: a steal of it is then counted as a problem if the call is older than the trace. Any thread, at any
 * time; best before the first goroutine. */
GOTRACE_API void gotrace_track_while_off(bool track) GOTRACE__OFF();

/* Stores the statistics of the running trace, or of the last one. All zeros, except for other_copies, before the first
 * trace. Any thread. NULL: does nothing. */
#if GOTRACE_DISABLE
GOTRACE_API void gotrace_get_stats(gotrace_stats *stats) {
  static gotrace_stats none; /* zero */
  if (stats) *stats = none;
}
#else
GOTRACE_API void gotrace_get_stats(gotrace_stats *stats);
#endif

/* ------------------------------------------------------------------------------------------------ >>threads ---- */

/* For reports, sets the place of the thread's next call. GOTRACE_DEBUG inserts it before calls that take no site. */
GOTRACE_API void gotrace_debug_here(gotrace_site *site) GOTRACE__OFF();

/* Makes the calling thread its own goroutine on its own proc, as its first region, log, task, wait or system call
 * would. The name is copied (see gotrace_go_rename for the limits); NULL: the system's name for the thread. No effect
 * if it is a goroutine or runs a proc. */
GOTRACE_API void gotrace_thread_begin(const char *name) GOTRACE__OFF();

/* Makes the calling thread the goroutine that its parent made with gotrace_thread_create before it started the thread.
 * The trace then has an arrow from the parent to the thread, and viewers group the thread by its entry function.
 *
 *     static const gotrace_location entry = GOTRACE_ENTRY(worker_main);
 *     worker->go = gotrace_thread_create(&entry);
 *     if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) gotrace_go_destroy(worker->go);
 *     ...
 *     static void *worker_main(void *argument) {
 *         gotrace_thread_begin_as(((struct worker *)argument)->go);
 *
 * If a region or log has made the thread its own goroutine before that, this goroutine ends. gotrace_thread_create
 * works like gotrace_go_create, but first makes a plain thread that calls it a goroutine, where the arrow starts. */
#define gotrace_thread_create(entry) gotrace_thread_create_at(GOTRACE_HERE, (entry))
GOTRACE_API gotrace_go *gotrace_thread_create_at(gotrace_site *site, const gotrace_location *entry) GOTRACE__OFF(NULL);
GOTRACE_API void gotrace_thread_begin_as(gotrace_go *go) GOTRACE__OFF();

/* Renames the calling thread for good (copied, up to 255 bytes), and its own goroutine as gotrace_go_rename does. If
 * the thread is not a goroutine yet, it will have this name. */
GOTRACE_API void gotrace_thread_rename(const char *name) GOTRACE__OFF();

/* Ends the goroutine and proc of the calling thread. Happens automatically when a thread ends. */
GOTRACE_API void gotrace_thread_end(void) GOTRACE__OFF();

/* The id of the global proc, for events without a proc. Go: traceGlobProc. */
#define GOTRACE_GLOBAL_PROC (-1)

/* Returns a new idle proc; NULL if out of memory. The id is a small number, reused after gotrace_proc_destroy; that of
 * NULL is GOTRACE_GLOBAL_PROC. */
GOTRACE_API gotrace_proc *gotrace_proc_create(void) GOTRACE__OFF(NULL);
GOTRACE_API void gotrace_proc_destroy(gotrace_proc *proc) GOTRACE__OFF(); /* must be idle, with no sweep or scan open */
GOTRACE_API int gotrace_proc_id(const gotrace_proc *proc) GOTRACE__OFF(GOTRACE_GLOBAL_PROC);

/* The proc that the calling thread has started and not lost; NULL if none, also for a plain thread. */
GOTRACE_API gotrace_proc *gotrace_proc_self(void) GOTRACE__OFF(NULL);

/* _start: the calling thread takes the proc. _stop: it releases its proc. _steal: the proc leaves another thread, whose
 * goroutine is in a system call, and is idle: _start takes it. That thread then calls gotrace_go_syscall_end_blocked,
 * before or after the thief calls gotrace_proc_steal. Go: traceProcStart, traceProcStop, traceGoSysBlock +
 * traceProcStop. */
GOTRACE_API void gotrace_proc_start(gotrace_proc *proc) GOTRACE__OFF();
GOTRACE_API void gotrace_proc_stop(void) GOTRACE__OFF();
GOTRACE_API void gotrace_proc_steal(gotrace_proc *proc) GOTRACE__OFF();

/* Reports how many procs may run at once: call it when the workers are made, and when their number changes. Without it,
 * a v2 trace shows the number of procs that exist when a generation begins; with it, at least that number. Later traces
 * begin with the last count. On a thread without a goroutine, a v2 trace shows it where a goroutine goes on next.
 * (gotrace_gc_begin, gotrace_gc_end, gotrace_heap_alloc and _goal have their own time: there, the trace shows a
 * goroutine of no length, "gotrace.event".) Go: traceGomaxprocs. */
#define gotrace_procs_change(count) gotrace_procs_change_at(GOTRACE_HERE, (count))
GOTRACE_API void gotrace_procs_change_at(gotrace_site *site, unsigned count) GOTRACE__OFF();

/* Creates a goroutine that begins at `entry` (NULL: unknown): runnable; _blocked: blocked until an unblock; _syscall:
 * in a system call on the calling thread, which becomes its thread (a callback from foreign code). `entry` is copied,
 * its strings are not: see OWNERSHIP. NULL if out of memory, which is counted. All calls accept a NULL handle: it is a
 * goroutine or proc that the trace lacks, and so are the events and annotations of a thread between
 * gotrace_go_start(NULL) and its next start. Go: traceGoCreate. */
#define gotrace_go_create(entry) gotrace_go_create_at(GOTRACE_HERE, (entry))
#define gotrace_go_create_blocked(entry) gotrace_go_create_blocked_at(GOTRACE_HERE, (entry))
#define gotrace_go_create_syscall(entry) gotrace_go_create_syscall_at(GOTRACE_HERE, (entry))
GOTRACE_API gotrace_go *gotrace_go_create_at(gotrace_site *site, const gotrace_location *entry) GOTRACE__OFF(NULL);
GOTRACE_API gotrace_go *gotrace_go_create_blocked_at(gotrace_site *site, const gotrace_location *entry)
    GOTRACE__OFF(NULL);
GOTRACE_API gotrace_go *gotrace_go_create_syscall_at(gotrace_site *site, const gotrace_location *entry)
    GOTRACE__OFF(NULL);

/* The same with a name instead of an entry: gotrace_go_create(&gotrace_site_make(name, "", 0)->location). So there may
 * be as many different names as sites; beyond that, the entry is unknown. _n: a name of `size` bytes, see "Texts with a
 * length" in >>emit. */
#define gotrace_go_create_named(name) gotrace_go_create_named_at(GOTRACE_HERE, (name), SIZE_MAX)
#define gotrace_go_create_named_n(name, size) gotrace_go_create_named_at(GOTRACE_HERE, (name), (size))
GOTRACE_API gotrace_go *gotrace_go_create_named_at(gotrace_site *site, const char *name, size_t size)
    GOTRACE__OFF(NULL);

/* The goroutine of a key, for fibers that are known by an id only, as in the hooks of another library:
 * gotrace_go_create makes it (_blocked: gotrace_go_create_blocked) if the key has none, or if the one it had has ended,
 * as when the library gives its id to another fiber. `entry` is used only then.
 *
 *     void on_enter(uint64_t id) {
 *         gotrace_go *go = gotrace_go_keyed_blocked(id, &entry);
 *         gotrace_go_unblock(go);                        // or where the fiber is woken, if there is a hook for it
 *         gotrace_go_start(go);
 *     }
 *     void on_leave(uint64_t id) { gotrace_go_block(GOTRACE_BLOCK_GENERIC); }
 *     void on_free(uint64_t id) { gotrace_go_keyed_free(id); }
 *
 * gotrace_go_keyed_free forgets the key, and ends its goroutine as gotrace_go_destroy does, unless it has ended. NULL
 * if out of memory, and where gotrace_go_create returns NULL. Any thread; a call takes a lock that few keys share, for
 * the time of a search, which grows with the number of keys. If two threads make the first call for a key at the same
 * moment, the trace may have a goroutine more that does nothing. Works while tracing is off, too. */
#define gotrace_go_keyed(key, entry) gotrace_go_keyed_at(GOTRACE_HERE, (key), (entry), 0)
#define gotrace_go_keyed_blocked(key, entry) gotrace_go_keyed_at(GOTRACE_HERE, (key), (entry), 1)
#define gotrace_go_keyed_free(key) gotrace_go_keyed_free_at(GOTRACE_HERE, (key))
GOTRACE_API gotrace_go *gotrace_go_keyed_at(gotrace_site *site, uint64_t key, const gotrace_location *entry,
                                            int blocked) GOTRACE__OFF(NULL);
GOTRACE_API void gotrace_go_keyed_free_at(gotrace_site *site, uint64_t key) GOTRACE__OFF();

/* _start: the calling thread runs the goroutine. _end: its running goroutine ends (gotrace_end ends the trace). Go:
 * traceGoStart, traceGoEnd. */
GOTRACE_API void gotrace_go_start(gotrace_go *go) GOTRACE__OFF();
GOTRACE_API void gotrace_go_end(void) GOTRACE__OFF();

/* Returns the number of a reason that the program names itself, for gotrace_go_block, gotrace_wait_begin,
 * gotrace_go_switch_for, gotrace_go_stop and gotrace_stw_begin. v2 viewers show the name; Go's give each block reason
 * its own column. v1 has no such names: add the built-in reason whose v1 event is to be used, else the generic one is.
 *
 *     gotrace_wait_begin(GOTRACE_REASON("redis: wait for reply") + GOTRACE_BLOCK_NET);
 *     gotrace_go_block(gotrace_reason(channel->name) + GOTRACE_BLOCK_CHAN_RECV);
 *
 * A name always has the same number, valid as long as the program runs. The name is copied, and truncated to 1,024
 * bytes. Any thread, also while tracing is off. There are up to 512 names. The result is 0, the unspecified reason, if
 * there are more, if memory is out, and for NULL, "" and "forever" (see gotrace_go_block).
 *
 * GOTRACE_REASON is for constant names: its call site caches the number, so that it costs a load. */
GOTRACE_API unsigned gotrace_reason(const char *name) GOTRACE__OFF(0);
#if GOTRACE_CALL_SITES && GOTRACE__GNU && !GOTRACE_DISABLE
#if defined(__cplusplus) /* a lambda, see GOTRACE_HERE */
#define GOTRACE_REASON(name)                                            \
  ([](const char *gotrace__text) -> unsigned {                          \
    static unsigned gotrace__reason;                                    \
    return gotrace__remembered_reason(&gotrace__reason, gotrace__text); \
  }(name))
#else
#define GOTRACE_REASON(name)                              \
  (__extension__({                                        \
    static unsigned gotrace__reason;                      \
    gotrace__remembered_reason(&gotrace__reason, (name)); \
  }))
#endif
GOTRACE__INLINE unsigned gotrace__remembered_reason(unsigned *remembered, const char *name) {
  unsigned reason = __atomic_load_n(remembered, __ATOMIC_RELAXED);
  if (!reason) __atomic_store_n(remembered, reason = gotrace_reason(name), __ATOMIC_RELAXED);
  return reason;
}
#else
#define GOTRACE_REASON(name) gotrace_reason(name)
#endif

/* The running goroutine gives up its proc and stays runnable (gotrace_stop ends the trace). `reason` is a
 * gotrace_stop_reason or a gotrace_reason. Go: traceGoSched, traceGoPreempt. */
#define gotrace_go_stop(reason) gotrace_go_stop_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_go_stop_at(gotrace_site *site, unsigned reason) GOTRACE__OFF();

/* Added to a block reason, see below. Go: traceFutileWakeup. */
#define GOTRACE_FUTILE_WAKEUP 128

/* The running goroutine blocks. `reason` is a gotrace_block_reason or a gotrace_reason. Viewers consider a goroutine
 * blocked for ever as ended: one that is unblocked after GOTRACE_BLOCK_FOREVER appears as a new goroutine.
 *
 * Add GOTRACE_FUTILE_WAKEUP if the goroutine was woken in vain since it last blocked (another goroutine took what it
 * waited for). The viewer then omits that wake-up, if the goroutine did nothing else in between. Written in 1.8 and
 * 1.10 only, unless options->futile_wakeups is set: Go 1.23 and later reject the event (convertEvent in
 * internal/trace/tracev1.go). Go: traceGoPark. */
#define gotrace_go_block(reason) gotrace_go_block_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_go_block_at(gotrace_site *site, unsigned reason) GOTRACE__OFF();

/* The goroutine that has just blocked or stopped on the calling thread runs on: the block did not happen, since what it
 * waits for was there already. The trace shows a block between the two calls, without a waker. It has no effect on the
 * goroutine's waker, if there is one: if that was faster, the goroutine only starts.
 *
 * With lock-free queues and tokens, report the block before the waiter becomes visible, and take it back if it does not
 * wait after all. Here `state` is RUNNING, PARKED or NOTIFIED; a wake-up before the wait is kept in it:
 *
 *     void park(struct task *task) {                     // runs as task->go
 *         int expected = RUNNING;
 *         gotrace_go_block(GOTRACE_BLOCK_SYNC);
 *         if (atomic_compare_exchange_strong(&task->state, &expected, PARKED)) {
 *             switch_to_scheduler();                     // whose gotrace_go_start precedes the return
 *         } else {                                       // NOTIFIED: nobody has seen the block
 *             gotrace_go_continue(task->go);
 *         }
 *         atomic_exchange(&task->state, RUNNING);        // sees what the last unpark published
 *     }
 *     void unpark(struct task *task) {
 *         if (atomic_exchange(&task->state, NOTIFIED) == PARKED) {
 *             gotrace_go_unblock(task->go);
 *             make_runnable(task);
 *         }
 *     } */
GOTRACE_API void gotrace_go_continue(gotrace_go *go) GOTRACE__OFF();

/* A blocked goroutine becomes runnable. Any thread, with or without a proc. Of one that runs, as after a time-out, the
 * call is dropped and not counted. Go: traceGoUnpark. */
#define gotrace_go_unblock(go) gotrace_go_unblock_at(GOTRACE_HERE, (go))
GOTRACE_API void gotrace_go_unblock_at(gotrace_site *site, gotrace_go *go) GOTRACE__OFF();

/* The running goroutine blocks (_end: ends) and another, blocked goroutine runs in its place, as coroutines do. From
 * 1.23 on this is one event, which has no reason. gotrace_go_switch_for takes a reason, as gotrace_go_block does, and
 * emits three events in every format, all with the same time: GoUnblock, GoBlock, GoStart. Go: traceLocker.GoSwitch. */
#define gotrace_go_switch(go) gotrace_go_switch_at(GOTRACE_HERE, (go))
#define gotrace_go_switch_end(go) gotrace_go_switch_end_at(GOTRACE_HERE, (go))
#define gotrace_go_switch_for(go, reason) gotrace_go_switch_for_at(GOTRACE_HERE, (go), (reason))
GOTRACE_API void gotrace_go_switch_at(gotrace_site *site, gotrace_go *go) GOTRACE__OFF();
GOTRACE_API void gotrace_go_switch_for_at(gotrace_site *site, gotrace_go *go, unsigned reason) GOTRACE__OFF();
GOTRACE_API void gotrace_go_switch_end_at(gotrace_site *site, gotrace_go *go) GOTRACE__OFF();

/* Ends a goroutine that is not running: blocked, runnable or never started. For example, a coroutine that is collected
 * or cancelled while it is blocked:
 *
 *     void collect(struct coroutine *co) {
 *         gotrace_go_destroy(co->go);
 *         free(co);
 *     }
 *
 * Any thread. The handle is invalid afterwards, as after gotrace_go_end. If two threads destroy the same goroutine, one
 * succeeds; the other call is counted and does nothing. If one destroys and another unblocks it, the unblock comes
 * first or is dropped. The call is counted and does nothing if the goroutine is running or in a system call.
 *
 * No format has an event for this, so the goroutine runs on the calling thread for zero time: it is unblocked if
 * needed, starts and ends, all at the same time. A goroutine that runs on the thread yields meanwhile, and a
 * thread without a proc has a temporary one. */
#define gotrace_go_destroy(go) gotrace_go_destroy_at(GOTRACE_HERE, (go))
GOTRACE_API void gotrace_go_destroy_at(gotrace_site *site, gotrace_go *go) GOTRACE__OFF();

/* The running goroutine enters a system call and leaves it. Its thread keeps the proc unless another thread steals it
 * or the thread itself releases it (gotrace_proc_stop). If the proc is lost, end the system call with _end_blocked: the
 * goroutine is then runnable and needs gotrace_go_start, and the thread needs a proc, which it may also start before.
 * If nobody has stolen the proc by then, it becomes idle, and the thread takes it again if it starts a goroutine
 * without another proc, unless it becomes a plain thread. Regions, logs, tasks and labels are allowed inside a system
 * call. v1 has no end of a short system call, and shows one of 20 microseconds or more that kept its proc as if it had
 * lost it. Go: traceGoSysCall, traceGoSysBlock, traceGoSysExit. */
#define gotrace_go_syscall_begin() gotrace_go_syscall_begin_at(GOTRACE_HERE)
GOTRACE_API void gotrace_go_syscall_begin_at(gotrace_site *site) GOTRACE__OFF();
GOTRACE_API void gotrace_go_syscall_end(void) GOTRACE__OFF();
GOTRACE_API void gotrace_go_syscall_end_blocked(void) GOTRACE__OFF();

/* Ends the calling thread's goroutine inside its system call, as when a callback from foreign code returns there
 * (gotrace_go_create_syscall). If the thread still has a proc, the proc stops. In formats before 1.22 the system call
 * ends first. Go: traceLocker.GoDestroySyscall. */
GOTRACE_API void gotrace_go_end_in_syscall(void) GOTRACE__OFF();

/* Labels the running goroutine (copied, up to 63 bytes; NULL removes the label). v1 shows the label from the
 * goroutine's next start on; so does v2 if the label is older than the trace. Go: traceGoStart, traceLocker.GoStart. */
GOTRACE_API void gotrace_go_label(const char *label) GOTRACE__OFF();

/* Renames a goroutine: the calling thread's, or one that is not running. For a goroutine that runs or is in a system
 * call on another thread, the call is counted and does nothing.
 * Go takes a goroutine's name from the first stack it sees of it. The current trace therefore keeps the old name and
 * shows the new one as a label, "G5 worker (renamed)": in v2 from now on (or from the next start, if it is not
 * running), in v1 from the next start on. Later traces have the new name and, from its next start on, the label. The
 * name is copied: up to 255 bytes, of which up to 63 appear in the label. Up to 1,024 different names of threads and
 * goroutines are kept; beyond that, only the label changes. NULL or "" removes the label and keeps the name. */
GOTRACE_API void gotrace_go_rename(gotrace_go *go, const char *name) GOTRACE__OFF();

/* _timer marks a goroutine as one that wakes others when timers expire: its unblocks are shown as the timers'. v1 only,
 * up to 256 goroutines in a trace (1.8: only the first one). _stack_bounds sets the bounds of its stack, for stack
 * walks: the lowest byte, and the byte after the highest. For a goroutine that runs or is in a system call on another
 * thread, both are counted and do nothing. */
GOTRACE_API void gotrace_go_timer(gotrace_go *go) GOTRACE__OFF();
GOTRACE_API void gotrace_go_stack_bounds(gotrace_go *go, const void *low, const void *high) GOTRACE__OFF();

/* gotrace_go_self returns the goroutine that runs, or waits (gotrace_wait_begin), on the calling thread. It is not only
 * a question: a thread without a proc becomes its own goroutine first, as with gotrace_thread_begin(NULL), so an idle
 * worker must not call it. NULL: a proc that runs no goroutine, out of memory, and see gotrace_track_while_off.
 * gotrace_go_id returns a goroutine's id in traces; 0 for NULL. Any thread. */
GOTRACE_API gotrace_go *gotrace_go_self(void) GOTRACE__OFF(NULL);
GOTRACE_API uint64_t gotrace_go_id(const gotrace_go *go) GOTRACE__OFF(0);

/* For plain threads, and for goroutines whose thread waits with them: the running goroutine waits between _begin and
 * _end. gotrace_wait_end unblocks and starts it, or only starts it if the waker called gotrace_go_unblock. The wait
 * belongs to the goroutine: another one that runs on the thread meanwhile (gotrace_nest_begin) may wait in turn.
 * gotrace_wait_end ends the innermost wait. */
#define gotrace_wait_begin(reason) gotrace_wait_begin_at(GOTRACE_HERE, (reason))
GOTRACE_API void gotrace_wait_begin_at(gotrace_site *site, unsigned reason) GOTRACE__OFF();
GOTRACE_API void gotrace_wait_end(void) GOTRACE__OFF();

/* A wait on something with an address: a lock, a queue, a futex. The waker need not know who waits: gotrace_wake
 * unblocks up to `count` of the threads that wait on `key`, in the order of their arrival, and returns how many. Call
 * gotrace_wake before the waiters can proceed, and gotrace_wait_on before any waker can see the waiter. A wait that
 * ends for another reason (time-out, signal) needs only its gotrace_wait_end. Works while tracing is off, too.
 *
 *     gotrace_wait_on(&queue->filled, GOTRACE_REASON("queue: wait for work"));
 *     pthread_cond_wait(&queue->filled, &queue->lock);
 *     gotrace_wait_end();
 *     ...
 *     gotrace_wake(&queue->filled, 1);                   // GOTRACE_WAKE_ALL with a broadcast
 *     pthread_cond_signal(&queue->filled);
 *
 * `key` is compared and never dereferenced; gotrace_wait_on with NULL is gotrace_wait_begin. If the system wakes
 * another thread than gotrace_wake chose, the trace shows the latter. For waits that block a thread: a plain one, or a
 * worker with its job. Of a wait that frees the worker for other tasks, the scheduler knows the waiter and calls
 * gotrace_go_unblock. Each call costs less than two events; gotrace_wake without waiters, a load. */
#define GOTRACE_WAKE_ALL 0xffffffffu
#define gotrace_wait_on(key, reason) gotrace_wait_on_at(GOTRACE_HERE, (key), (reason))
#define gotrace_wake(key, count) gotrace_wake_at(GOTRACE_HERE, (key), (count))
GOTRACE_API void gotrace_wait_on_at(gotrace_site *site, const void *key, unsigned reason) GOTRACE__OFF();
GOTRACE_API unsigned gotrace_wake_at(gotrace_site *site, const void *key, unsigned count) GOTRACE__OFF(0);

/* Nested running: a thread runs other goroutines inside one that waits, or that is in the middle of a call, on top of
 * its stack. gotrace_nest_begin sets aside the goroutine that runs or waits (gotrace_wait_begin, gotrace_wait_on) on
 * the calling thread, and starts `go` there; with NULL it starts none, and gotrace_go_start starts each. It returns the
 * goroutine that it set aside, NULL if there was none. Once the inner goroutine has ended, stopped or blocked,
 * gotrace_nest_end takes up again what gotrace_nest_begin returned:
 *
 *     gotrace_wait_on(&group->done, GOTRACE_REASON("group: wait"));
 *     while ((task = next_or_done(group))) {             // sleeps while there is no task; NULL: the group is done
 *         gotrace_go *outer = gotrace_nest_begin(task->go);
 *         run(task);                                     // may wait and nest in turn
 *         gotrace_go_end();
 *         gotrace_nest_end(outer);
 *     }
 *     gotrace_wait_end();
 *
 * In the trace, the outer goroutine stays blocked if it waits, and may be woken meanwhile; its gotrace_wait_end follows
 * gotrace_nest_end. One that runs stops (GOTRACE_STOP_YIELD) and is runnable until gotrace_nest_end starts it. The
 * inner ones run on the same proc and thread. A plain thread becomes a goroutine first; its proc serves them.
 *
 * Each _begin has an _end on the same thread, in reverse order. If an inner one is missing when an outer one, the wait
 * or the thread ends, it is ended then, and counted. Waits and nested running together are up to 16,384 deep on a
 * thread. In the child of a fork, the thread continues at the same depth. */
#define gotrace_nest_begin(go) gotrace_nest_begin_at(GOTRACE_HERE, (go))
GOTRACE_API gotrace_go *gotrace_nest_begin_at(gotrace_site *site, gotrace_go *go) GOTRACE__OFF(NULL);
GOTRACE_API void gotrace_nest_end(gotrace_go *outer) GOTRACE__OFF();

/* --------------------------------------------------------------------------------------------------- >>emit ---- */

/* Makes a call site at run time, for the calls `..._at`, which take one: a place in a script, in another language, or
 * from std::source_location. Its location also serves as an entry: gotrace_go_create(&site->location).
 *
 *     void log_line(const char *text, std::source_location at = std::source_location::current()) {
 *       gotrace_log_at(gotrace_site_make(at.function_name(), at.file_name(), at.line()), GOTRACE_NO_TASK, "app", text);
 *     }
 *
 * gotrace_site_make_pc takes only an address, which is looked up while the trace is written
 * (gotrace_options.symbolize). The same place always returns the same site. Strings are copied, and truncated to 1,024
 * bytes; NULL means unknown. The tracer owns the site and keeps it as long as the program runs. There are up to 262,144
 * sites; beyond that, or if out of memory, the result is NULL, which every call accepts as an unknown place, and while
 * tracing is on, each such call is counted (GOTRACE_PROBLEM_SITES_FULL). Any thread, also while tracing is off. A call
 * hashes the strings, so keep the result where you can. A site remembers one constant name: if calls pass different
 * names with the same site, pass 0 as `name_is_constant`. */
GOTRACE_API gotrace_site *gotrace_site_make(const char *function, const char *file, uint32_t line) GOTRACE__OFF(NULL);
GOTRACE_API gotrace_site *gotrace_site_make_pc(uintptr_t pc) GOTRACE__OFF(NULL);

/* Annotations (1.11 and later). They cost one branch while tracing is off. Names and texts are truncated to 1,024
 * bytes, at a UTF-8 boundary; NULL is "". Go: userTaskCreate, userTaskEnd, userRegion, userLog (runtime/trace.go).
 *
 * Any thread may begin, end and refer to a task; GOTRACE_NO_TASK is none. gotrace_task_begin returns GOTRACE_NO_TASK if
 * there is no memory for the calling thread's record. A task that is open when tracing starts appears from then on,
 * with the first 43 bytes of its name. Older ones may be missing, rarely if fewer than 1,500 are open; at most 4,096
 * appear. Task begin and end are therefore function calls even while tracing is off. A region that is open when tracing
 * starts appears if it ends during the trace.
 */
#define gotrace_task_begin(name, parent) gotrace__task_begin(GOTRACE_HERE, (name), GOTRACE__IS_CONSTANT(name), (parent))
#define gotrace_task_end(task) gotrace_task_end_at(GOTRACE_HERE, (task))
GOTRACE_API gotrace_task gotrace_task_begin_at(gotrace_site *site, const char *name, int name_is_constant,
                                               gotrace_task parent) GOTRACE__OFF(parent);
GOTRACE_API void gotrace_task_end_at(gotrace_site *site, gotrace_task task) GOTRACE__OFF();
GOTRACE_API gotrace_task gotrace__task_begin_constant(gotrace_site *site, const char *name, size_t size,
                                                      gotrace_task parent) GOTRACE__OFF(parent);
/* The compiler knows the size of a literal. */
GOTRACE__INLINE gotrace_task gotrace__task_begin(gotrace_site *site, const char *name, int constant,
                                                 gotrace_task parent) {
#if GOTRACE__GNU
  if (constant) return gotrace__task_begin_constant(site, name, name ? __builtin_strlen(name) : 0, parent);
#endif
  return gotrace_task_begin_at(site, name, constant, parent);
}

/* A region is a span of one goroutine's execution. Regions nest, up to 1,024; the end of one ends those inside it.
 *
 * `name_is_constant`, here and in gotrace_task_begin_at, and `category_is_constant` in gotrace_log_category_at: nonzero
 * promises that every call with this site passes the same text, as GCC and Clang detect of literals; it is then looked
 * up once a session. 0: each record has a copy. */
#define gotrace_region_begin(task, name) \
  (gotrace_enabled() ? gotrace_region_begin_at(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name)) : (void)0)
#define gotrace_region_end(task, name) \
  (gotrace_enabled() ? gotrace_region_end_at(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name)) : (void)0)
GOTRACE_API void gotrace_region_begin_at(gotrace_site *site, gotrace_task task, const char *name, int name_is_constant)
    GOTRACE__OFF();
GOTRACE_API void gotrace_region_end_at(gotrace_site *site, gotrace_task task, const char *name, int name_is_constant)
    GOTRACE__OFF();

/* A message within a task, with a category. gotrace_logf and gotrace_logv format it as printf and vprintf do (with
 * stb_sprintf if available, see GOTRACE_NO_STB_SPRINTF), up to 1,024 bytes, on the caller's stack. */
#define gotrace_log(task, category, message)                                                                  \
  (gotrace_enabled()                                                                                          \
       ? gotrace_log_category_at(GOTRACE_HERE, (task), (category), GOTRACE__IS_CONSTANT(category), (message)) \
       : (void)0)
#define gotrace_logf(...) (gotrace_enabled() ? gotrace_logf_at(GOTRACE_HERE, __VA_ARGS__) : (void)0)
#define gotrace_logv(task, category, format, arguments) \
  (gotrace_enabled() ? gotrace_logv_at(GOTRACE_HERE, (task), (category), (format), (arguments)) : (void)0)
GOTRACE_API void gotrace_log_at(gotrace_site *site, gotrace_task task, const char *category, const char *message)
    GOTRACE__OFF();
GOTRACE_API void gotrace_log_category_at(gotrace_site *site, gotrace_task task, const char *category,
                                         int category_is_constant, const char *message) GOTRACE__OFF();
GOTRACE__PRINTF(4, 5)
GOTRACE_API void gotrace_logf_at(gotrace_site *site, gotrace_task task, const char *category, const char *format, ...)
    GOTRACE__OFF();
GOTRACE__PRINTF(4, 0)
GOTRACE_API void gotrace_logv_at(gotrace_site *site, gotrace_task task, const char *category, const char *format,
                                 va_list arguments) GOTRACE__OFF();

/* Ends the innermost region of the running goroutine, whatever its name and task; for languages and adapters that do
 * not keep them. A region that began before the trace is not known: its end is left out, and counted. */
#define gotrace_region_end_innermost() (gotrace_enabled() ? gotrace_region_end_innermost_at(GOTRACE_HERE) : (void)0)
GOTRACE_API void gotrace_region_end_innermost_at(gotrace_site *site) GOTRACE__OFF();

/* Texts with a length: the calls without _n, for texts of so many bytes that need no NUL at their end, as other
 * languages have them. NULL is the empty string, and SIZE_MAX means up to the NUL. In the name of a goroutine, a thread
 * or a label, a NUL ends the name. Each record has a copy of the text. */
#define gotrace_task_begin_n(name, size, parent) gotrace_task_begin_n_at(GOTRACE_HERE, (name), (size), (parent))
#define gotrace_region_begin_n(task, name, size) \
  (gotrace_enabled() ? gotrace_region_begin_n_at(GOTRACE_HERE, (task), (name), (size)) : (void)0)
#define gotrace_region_end_n(task, name, size) \
  (gotrace_enabled() ? gotrace_region_end_n_at(GOTRACE_HERE, (task), (name), (size)) : (void)0)
#define gotrace_log_n(task, category, category_size, message, size) \
  (gotrace_enabled() ? gotrace_log_n_at(GOTRACE_HERE, (task), (category), (category_size), (message), (size)) : (void)0)
GOTRACE_API gotrace_task gotrace_task_begin_n_at(gotrace_site *site, const char *name, size_t size, gotrace_task parent)
    GOTRACE__OFF(parent);
GOTRACE_API void gotrace_region_begin_n_at(gotrace_site *site, gotrace_task task, const char *name, size_t size)
    GOTRACE__OFF();
GOTRACE_API void gotrace_region_end_n_at(gotrace_site *site, gotrace_task task, const char *name, size_t size)
    GOTRACE__OFF();
GOTRACE_API void gotrace_log_n_at(gotrace_site *site, gotrace_task task, const char *category, size_t category_size,
                                  const char *message, size_t size) GOTRACE__OFF();
GOTRACE_API void gotrace_go_label_n(const char *label, size_t size) GOTRACE__OFF();
GOTRACE_API void gotrace_go_rename_n(gotrace_go *go, const char *name, size_t size) GOTRACE__OFF();
GOTRACE_API void gotrace_thread_rename_n(const char *name, size_t size) GOTRACE__OFF();

/* A counter: `name` has this value from now on, such as a queue's length or the bytes in a cache. Any thread. The trace
 * has it as a log without a task, whose category is GOTRACE_COUNTER followed by the name, and whose message is the
 * value in base 10; a double has 15 significant digits. Go's viewer shows the logs; `gotrace view`, export and info
 * show counters. A double beyond 1e290, or not a number, is only a log to them. gotrace_count is for whole numbers, and
 * truncates a double. Name and GOTRACE_COUNTER together have up to 1,024 bytes. Costs somewhat more than a log, a
 * double six times as much. */
#define GOTRACE_COUNTER "gotrace.counter "
#define gotrace_count(name, value) (gotrace_enabled() ? gotrace_count_at(GOTRACE_HERE, (name), (value)) : (void)0)
#define gotrace_count_double(name, value) \
  (gotrace_enabled() ? gotrace_count_double_at(GOTRACE_HERE, (name), (value)) : (void)0)
GOTRACE_API void gotrace_count_at(gotrace_site *site, const char *name, int64_t value) GOTRACE__OFF();
GOTRACE_API void gotrace_count_double_at(gotrace_site *site, const char *name, double value) GOTRACE__OFF();

/* Regions of a block, which also end when break, continue, return, goto or an exception leaves it (in C, an exception
 * ends them with -fexceptions only):
 *
 *     GOTRACE_SCOPE("name");             from here to the end of the enclosing block. GCC and Clang; C++
 *     GOTRACE_REGION("name") { ... }     the block that follows
 *
 * In C, GOTRACE_REGION is a loop that runs once, also with GOTRACE_DISABLE: a break or continue inside it leaves only
 * the region, not a loop or switch around it, and a compiler may warn of a missing return after a region that returns.
 * GOTRACE_SCOPE has neither problem; but compilers reject a goto or a case label that jumps over it, so after a case
 * label, put it in braces. With other C compilers, leave the block only at its end. In C++ it is no loop; if it is the
 * whole body of an if, put that in braces, or the compiler warns. A constexpr function can have neither.
 *
 * GOTRACE_TASK_SCOPE(task, "name") and GOTRACE_TASK_REGION(task, "name") are the same within a task. The name must stay
 * valid until the region has ended. */
#define GOTRACE_SCOPE(name) GOTRACE_TASK_SCOPE(GOTRACE_NO_TASK, name)
#define GOTRACE_TASK_SCOPE(task, name) \
  GOTRACE__SHADOWING(GOTRACE__GUARDED_SCOPE(GOTRACE__NAME(gotrace__scope_, GOTRACE__UNIQUE), task, name))
#define GOTRACE_REGION(name) GOTRACE_TASK_REGION(GOTRACE_NO_TASK, name)
#define GOTRACE_TASK_REGION(task, name) \
  GOTRACE__SHADOWING(GOTRACE__REGION(GOTRACE__NAME(gotrace__scope_, GOTRACE__UNIQUE), task, name))

/* A goto or case label that jumps over a variable with a cleanup: C++ and Clang reject it; GCC compiles it, and the
 * cleanup would read whatever is there. GCC rejects a jump over an array type whose size is no constant expression. */
#if GOTRACE__GNU && !defined(__clang__) && !defined(__cplusplus) && !GOTRACE_DISABLE
#define GOTRACE__GUARDED_SCOPE(variable, task, name)                                                     \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wvla\"") typedef char GOTRACE__NAME( \
      variable, _guard)[(int){1}] GOTRACE__MAY_BE_UNUSED;                                                \
  _Pragma("GCC diagnostic pop") GOTRACE__SCOPE(variable, task, name)
#else
#define GOTRACE__GUARDED_SCOPE GOTRACE__SCOPE
#endif

/* In C++, a region is the else of an if whose condition declares a variable and is false. */
#if defined(__cplusplus)
#if GOTRACE__GNU
#define GOTRACE__ELSE      \
  __builtin_unreachable(); \
  else
#else
#define GOTRACE__ELSE \
  {}                  \
  else
#endif
#endif

#if GOTRACE_DISABLE
#define GOTRACE__SCOPE(variable, task, name) const int variable GOTRACE__MAY_BE_UNUSED = ((void)(task), (void)(name), 0)
#if defined(__cplusplus)
#define GOTRACE__REGION(variable, task, name) \
  if ((void)(task), (void)(name), false) GOTRACE__ELSE
#else
#define GOTRACE__REGION(variable, task, name) \
  for (int variable = ((void)(task), (void)(name), 1); variable; variable = 0)
#endif
#elif defined(__cplusplus)
/* Its functions are as GOTRACE__INLINE's. With GOTRACE_STATIC they refer to what each file has of its own. */
#if GOTRACE_STATIC
namespace {
#endif
struct gotrace__scope {
  gotrace_site *site;
  const char *name;
  gotrace_task task;
  int name_is_constant;
  GOTRACE__UNINSTRUMENTED GOTRACE__ALWAYS gotrace__scope(gotrace_site *at, gotrace_task of, const char *text,
                                                         int constant)
      : site(at), name(text), task(of), name_is_constant(constant) {
    if (gotrace_enabled()) gotrace_region_begin_at(site, task, name, name_is_constant);
  }
  GOTRACE__UNINSTRUMENTED GOTRACE__ALWAYS ~gotrace__scope() {
    if (gotrace_enabled()) gotrace_region_end_at(site, task, name, name_is_constant);
  }
  gotrace__scope(const gotrace__scope &) = delete;
  gotrace__scope &operator=(const gotrace__scope &) = delete;
  GOTRACE__UNINSTRUMENTED GOTRACE__ALWAYS explicit operator bool() const { return false; }
};
#if GOTRACE_STATIC
} // namespace
#endif
#define GOTRACE__SCOPE(variable, task, name) \
  gotrace__scope variable { GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name) }
#define GOTRACE__REGION(variable, task, name) \
  if (GOTRACE__SCOPE(variable, task, name)) GOTRACE__ELSE
#else
typedef struct gotrace__scope {
  gotrace_site *site;
  const char *name;
  gotrace_task task;
  int name_is_constant, once;
} gotrace__scope;
#if GOTRACE__GNU
#define GOTRACE__SCOPE(variable, task, name)                                             \
  gotrace__scope variable __attribute__((__cleanup__(gotrace__scope_end), __unused__)) = \
      gotrace__scope_begin(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name))
#define GOTRACE__REGION(variable, task, name) \
  for (GOTRACE__SCOPE(variable, task, name); variable.once; variable.once = 0)
#else
#define GOTRACE__REGION(variable, task, name)                                                                    \
  for (gotrace__scope variable = gotrace__scope_begin(GOTRACE_HERE, (task), (name), GOTRACE__IS_CONSTANT(name)); \
       variable.once; gotrace__scope_end(&variable))
#endif
GOTRACE__INLINE gotrace__scope gotrace__scope_begin(gotrace_site *site, gotrace_task task, const char *name,
                                                    int constant) {
  gotrace__scope scope;
  scope.site = site;
  scope.name = name;
  scope.task = task;
  scope.name_is_constant = constant;
  scope.once = 1;
  if (gotrace_enabled()) gotrace_region_begin_at(site, task, name, constant);
  return scope;
}
GOTRACE__INLINE void gotrace__scope_end(gotrace__scope *scope) {
  scope->once = 0;
  if (gotrace_enabled()) gotrace_region_end_at(scope->site, scope->task, scope->name, scope->name_is_constant);
}
#endif

/* Samples the calling thread's execution (1.19 and later), for a SIGPROF handler: `ucontext` is the handler's third
 * argument (Linux on x86-64 and arm64), or NULL: no stack. The stack has callers only if the bounds of the running
 * stack are known: the thread has taken a stack by frame pointers, or gotrace_go_stack_bounds has set the goroutine's.
 * Async-signal-safe: takes no lock and allocates nothing. A sample for which there is no room is counted. Go:
 * traceCPUSample. */
GOTRACE_API void gotrace_cpu_sample(void *ucontext) GOTRACE__OFF();

/* ----------------------------------------------------------------------------------------------- >>runtimes ---- */

/* Calls of language runtimes, beside those that they share with all schedulers. */

/* Garbage collection, for runtimes that have one. The program has at most one collection and one stop-the-world (from
 * 1.10 on) at a time. A scan (1.8) and a sweep belong to the calling thread's proc, a mark assist to its goroutine. A
 * sweep emits nothing before its first span. Sizes are in bytes. Go: traceGCStart, traceGCDone, traceGCScanStart,
 * traceSTWStart, traceGCSweepStart, traceGCSweepSpan, traceGCSweepDone, traceGCMarkAssistStart and their ends. */
#define gotrace_gc_begin() gotrace_gc_begin_at(GOTRACE_HERE)
#define gotrace_stw_begin(reason) gotrace_stw_begin_at(GOTRACE_HERE, (reason))
#define gotrace_gc_sweep_span(swept, reclaimed) gotrace_gc_sweep_span_at(GOTRACE_HERE, (swept), (reclaimed))
#define gotrace_gc_mark_assist_begin() gotrace_gc_mark_assist_begin_at(GOTRACE_HERE)
GOTRACE_API void gotrace_gc_begin_at(gotrace_site *site) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_end(void) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_scan_begin(void) GOTRACE__OFF(); /* 1.8 only */
GOTRACE_API void gotrace_gc_scan_end(void) GOTRACE__OFF();
GOTRACE_API void gotrace_stw_begin_at(gotrace_site *site, unsigned reason)
    GOTRACE__OFF(); /* a gotrace_stw_reason or a gotrace_reason */
GOTRACE_API void gotrace_stw_end(void) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_sweep_begin(void) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_sweep_span_at(gotrace_site *site, uint64_t swept, uint64_t reclaimed) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_sweep_end(void) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_mark_assist_begin_at(gotrace_site *site) GOTRACE__OFF();
GOTRACE_API void gotrace_gc_mark_assist_end(void) GOTRACE__OFF();

/* Report the heap's size: bytes in use; bytes at which the next collection begins (UINT64_MAX: never, written as 0).
 * Later traces begin with the last values. Go: traceHeapAlloc, traceHeapGoal (traceNextGC before 1.19). */
GOTRACE_API void gotrace_heap_alloc(uint64_t bytes) GOTRACE__OFF();
GOTRACE_API void gotrace_heap_goal(uint64_t bytes) GOTRACE__OFF();

/* Memory in detail: the experiment AllocFree of 1.23 and later, if options->alloc_events is set; otherwise each call
 * costs a branch. Each kind of memory has three calls: one for memory that exists when the trace starts, _alloc and
 * _free. options->heap determines how addresses are encoded. Sizes are in bytes. `kind_class` classifies spans: in Go,
 * 1 for stacks, else twice the size class. A type is identified by its address, must stay valid until gotrace_stop
 * returns, and may be NULL (unknown). A stack's size is rounded up to a power of two. Go: traceSnapshotMemory and
 * traceLocker's SpanExists, SpanAlloc, SpanFree, HeapObject..., GoroutineStack... in runtime/traceallocfree.go. */
GOTRACE_API void gotrace_span(const void *base, size_t bytes, unsigned kind_class) GOTRACE__OFF();
GOTRACE_API void gotrace_span_alloc(const void *base, size_t bytes, unsigned kind_class) GOTRACE__OFF();
GOTRACE_API void gotrace_span_free(const void *base) GOTRACE__OFF();
GOTRACE_API void gotrace_heap_object(const void *object, const gotrace_type *type) GOTRACE__OFF();
GOTRACE_API void gotrace_heap_object_alloc(const void *object, const gotrace_type *type) GOTRACE__OFF();
GOTRACE_API void gotrace_heap_object_free(const void *object) GOTRACE__OFF();
GOTRACE_API void gotrace_goroutine_stack(const void *base, size_t bytes) GOTRACE__OFF();
GOTRACE_API void gotrace_goroutine_stack_alloc(const void *base, size_t bytes) GOTRACE__OFF();
GOTRACE_API void gotrace_goroutine_stack_free(const void *base) GOTRACE__OFF();

#if GOTRACE_DISABLE
#if GOTRACE__GNU
#pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#pragma warning(pop)
#endif
#pragma pop_macro("GOTRACE_API")
#endif

/* ------------------------------------------------------------------------------------------------- >>events ----
 *
 * One row per event: number, NAME, "Name" as Go prints it, first and last format that has it, arguments in file order.
 * The part of an argument's name after its last underscore, or else the whole name, gives its kind: "stack" a stack id,
 * "string" a string id, "g", "p", "m", "task" an id, "seq" a sequence number, "dt" the time since the batch's previous
 * event, "data" bytes preceded by their length.
 *
 * A number has several rows if its event differs between versions. X(number, NAME, "Name", since, until, "arguments").
 *
 * To add an event of a new Go release:
 *
 *   1. A row below; its count after the tables; GOTRACE__KINDS if the number is larger than any before.
 *   2. For a new format: a row of GOTRACE_FORMATS. What it changes besides events goes where the code asks for the last
 *      one, GOTRACE_GO_1_26: >>generations, >>decode-v2. check_contents.sh then names the documents that lack it.
 *   3. Tracer: the call; its record, a row of GOTRACE__RECORDS; the row's handler, in >>apply, without which it does
 * not compile. If older formats lack the event: gotrace__has_event.
 *   4. What it needs and changes: rows of the tables in >>rules.
 *   5. The tool: letter_of in source.c, write.h; world.c for what the row of step 4 cannot tell; digest.c and
 * collector.c if `info` counts it.
 *   6. Tests: test_event_spec.c compares the tables with Go's own; test_events_v2.c writes each event; check_v2.h.
 */

/* v1: batches per proc, Go 1.5 to 1.21. src/runtime/trace.go, src/internal/trace/parser.go. Formats before 1.8 can only
 * be decoded. In 1.5, every event has another number before its "dt": the increase of its sequence number. Its
 * stack frames are only a pc. */
#define GOTRACE_V1_EVENTS(X)                                                                     \
  X(0, NONE, "None", 1005, 1021, "")                                                             \
  X(1, BATCH_1_5, "Batch", 1005, 1005, "p seq time")                                             \
  X(1, BATCH, "Batch", 1007, 1021, "p time")                                                     \
  X(2, FREQUENCY_1_5, "Frequency", 1005, 1005, "freq unused")                                    \
  X(2, FREQUENCY, "Frequency", 1007, 1021, "freq")                                               \
  X(3, STACK, "Stack", 1005, 1021, "id nframes")                                                 \
  X(4, GOMAXPROCS, "Gomaxprocs", 1005, 1021, "dt procs stack")                                   \
  X(5, PROC_START, "ProcStart", 1005, 1021, "dt m")                                              \
  X(6, PROC_STOP, "ProcStop", 1005, 1021, "dt")                                                  \
  X(7, GC_START_1_5, "GCStart", 1005, 1005, "dt stack")                                          \
  X(7, GC_START, "GCStart", 1007, 1021, "dt gc_seq stack")                                       \
  X(8, GC_DONE, "GCDone", 1005, 1021, "dt")                                                      \
  X(9, GC_SCAN_START, "GCScanStart", 1005, 1009, "dt")                                           \
  X(9, GC_STW_START, "GCSTWStart", 1010, 1019, "dt kind")                                        \
  X(9, STW_START, "STWStart", 1021, 1021, "dt kind")                                             \
  X(10, GC_SCAN_DONE, "GCScanDone", 1005, 1009, "dt")                                            \
  X(10, GC_STW_DONE, "GCSTWDone", 1010, 1019, "dt")                                              \
  X(10, STW_DONE, "STWDone", 1021, 1021, "dt")                                                   \
  X(11, GC_SWEEP_START, "GCSweepStart", 1005, 1021, "dt stack")                                  \
  X(12, GC_SWEEP_DONE_1_8, "GCSweepDone", 1005, 1008, "dt")                                      \
  X(12, GC_SWEEP_DONE, "GCSweepDone", 1009, 1021, "dt swept reclaimed")                          \
  X(13, GO_CREATE, "GoCreate", 1005, 1021, "dt new_g new_stack stack")                           \
  X(14, GO_START_1_5, "GoStart", 1005, 1005, "dt g")                                             \
  X(14, GO_START, "GoStart", 1007, 1021, "dt g g_seq")                                           \
  X(15, GO_END, "GoEnd", 1005, 1021, "dt")                                                       \
  X(16, GO_STOP, "GoStop", 1005, 1021, "dt stack")                                               \
  X(17, GO_SCHED, "GoSched", 1005, 1021, "dt stack")                                             \
  X(18, GO_PREEMPT, "GoPreempt", 1005, 1021, "dt stack")                                         \
  X(19, GO_SLEEP, "GoSleep", 1005, 1021, "dt stack")                                             \
  X(20, GO_BLOCK, "GoBlock", 1005, 1021, "dt stack")                                             \
  X(21, GO_UNBLOCK_1_5, "GoUnblock", 1005, 1005, "dt g stack")                                   \
  X(21, GO_UNBLOCK, "GoUnblock", 1007, 1021, "dt g g_seq stack")                                 \
  X(22, GO_BLOCK_SEND, "GoBlockSend", 1005, 1021, "dt stack")                                    \
  X(23, GO_BLOCK_RECV, "GoBlockRecv", 1005, 1021, "dt stack")                                    \
  X(24, GO_BLOCK_SELECT, "GoBlockSelect", 1005, 1021, "dt stack")                                \
  X(25, GO_BLOCK_SYNC, "GoBlockSync", 1005, 1021, "dt stack")                                    \
  X(26, GO_BLOCK_COND, "GoBlockCond", 1005, 1021, "dt stack")                                    \
  X(27, GO_BLOCK_NET, "GoBlockNet", 1005, 1021, "dt stack")                                      \
  X(28, GO_SYS_CALL, "GoSysCall", 1005, 1021, "dt stack")                                        \
  X(29, GO_SYS_EXIT, "GoSysExit", 1005, 1021, "dt g g_seq time")                                 \
  X(30, GO_SYS_BLOCK, "GoSysBlock", 1005, 1021, "dt")                                            \
  X(31, GO_WAITING, "GoWaiting", 1005, 1021, "dt g")                                             \
  X(32, GO_IN_SYSCALL, "GoInSyscall", 1005, 1021, "dt g")                                        \
  X(33, HEAP_ALLOC, "HeapAlloc", 1005, 1021, "dt bytes")                                         \
  X(34, NEXT_GC, "NextGC", 1005, 1018, "dt bytes")                                               \
  X(34, HEAP_GOAL, "HeapGoal", 1019, 1021, "dt bytes")                                           \
  X(35, TIMER_GOROUTINE_1_5, "TimerGoroutine", 1005, 1005, "g unused")                           \
  X(35, TIMER_GOROUTINE, "TimerGoroutine", 1007, 1021, "g")                                      \
  X(36, FUTILE_WAKEUP, "FutileWakeup", 1005, 1021, "dt")                                         \
  X(37, STRING, "String", 1007, 1021, "id data")                                                 \
  X(38, GO_START_LOCAL, "GoStartLocal", 1007, 1021, "dt g")                                      \
  X(39, GO_UNBLOCK_LOCAL, "GoUnblockLocal", 1007, 1021, "dt g stack")                            \
  X(40, GO_SYS_EXIT_LOCAL, "GoSysExitLocal", 1007, 1021, "dt g time")                            \
  X(41, GO_START_LABEL, "GoStartLabel", 1008, 1021, "dt g g_seq label_string")                   \
  X(42, GO_BLOCK_GC, "GoBlockGC", 1008, 1021, "dt stack")                                        \
  X(43, GC_MARK_ASSIST_START, "GCMarkAssistStart", 1009, 1021, "dt stack")                       \
  X(44, GC_MARK_ASSIST_DONE, "GCMarkAssistDone", 1009, 1021, "dt")                               \
  X(45, USER_TASK_CREATE, "UserTaskCreate", 1011, 1021, "dt task parent_task name_string stack") \
  X(46, USER_TASK_END, "UserTaskEnd", 1011, 1021, "dt task stack")                               \
  X(47, USER_REGION, "UserRegion", 1011, 1021, "dt task mode name_string stack")                 \
  X(48, USER_LOG, "UserLog", 1011, 1021, "dt task key_string stack value_data")                  \
  X(49, CPU_SAMPLE, "CPUSample", 1019, 1021, "dt time p g stack")

/* v2: batches per thread, in generations, Go 1.22 and later. src/internal/trace/tracev2/events.go. Numbers from 128
 * belong to the experiment AllocFree. */
#define GOTRACE_V2_EVENTS(X)                                                                   \
  X(0, NONE, "None", 1022, 9999, "")                                                           \
  X(1, EVENT_BATCH, "EventBatch", 1022, 9999, "gen m time size")                               \
  X(2, STACKS, "Stacks", 1022, 9999, "")                                                       \
  X(3, STACK, "Stack", 1022, 9999, "id nframes")                                               \
  X(4, STRINGS, "Strings", 1022, 9999, "")                                                     \
  X(5, STRING, "String", 1022, 9999, "id data")                                                \
  X(6, CPU_SAMPLES, "CPUSamples", 1022, 9999, "")                                              \
  X(7, CPU_SAMPLE, "CPUSample", 1022, 9999, "time m p g stack")                                \
  X(8, FREQUENCY, "Frequency", 1022, 9999, "freq")                                             \
  X(9, PROCS_CHANGE, "ProcsChange", 1022, 9999, "dt procs stack")                              \
  X(10, PROC_START, "ProcStart", 1022, 9999, "dt p p_seq")                                     \
  X(11, PROC_STOP, "ProcStop", 1022, 9999, "dt")                                               \
  X(12, PROC_STEAL, "ProcSteal", 1022, 9999, "dt p p_seq m")                                   \
  X(13, PROC_STATUS, "ProcStatus", 1022, 9999, "dt p pstatus")                                 \
  X(14, GO_CREATE, "GoCreate", 1022, 9999, "dt new_g new_stack stack")                         \
  X(15, GO_CREATE_SYSCALL, "GoCreateSyscall", 1022, 9999, "dt new_g")                          \
  X(16, GO_START, "GoStart", 1022, 9999, "dt g g_seq")                                         \
  X(17, GO_DESTROY, "GoDestroy", 1022, 9999, "dt")                                             \
  X(18, GO_DESTROY_SYSCALL, "GoDestroySyscall", 1022, 9999, "dt")                              \
  X(19, GO_STOP, "GoStop", 1022, 9999, "dt reason_string stack")                               \
  X(20, GO_BLOCK, "GoBlock", 1022, 9999, "dt reason_string stack")                             \
  X(21, GO_UNBLOCK, "GoUnblock", 1022, 9999, "dt g g_seq stack")                               \
  X(22, GO_SYSCALL_BEGIN, "GoSyscallBegin", 1022, 9999, "dt p_seq stack")                      \
  X(23, GO_SYSCALL_END, "GoSyscallEnd", 1022, 9999, "dt")                                      \
  X(24, GO_SYSCALL_END_BLOCKED, "GoSyscallEndBlocked", 1022, 9999, "dt")                       \
  X(25, GO_STATUS, "GoStatus", 1022, 9999, "dt g m gstatus")                                   \
  X(26, STW_BEGIN, "STWBegin", 1022, 9999, "dt kind_string stack")                             \
  X(27, STW_END, "STWEnd", 1022, 9999, "dt")                                                   \
  X(28, GC_ACTIVE, "GCActive", 1022, 9999, "dt gc_seq")                                        \
  X(29, GC_BEGIN, "GCBegin", 1022, 9999, "dt gc_seq stack")                                    \
  X(30, GC_END, "GCEnd", 1022, 9999, "dt gc_seq")                                              \
  X(31, GC_SWEEP_ACTIVE, "GCSweepActive", 1022, 9999, "dt p")                                  \
  X(32, GC_SWEEP_BEGIN, "GCSweepBegin", 1022, 9999, "dt stack")                                \
  X(33, GC_SWEEP_END, "GCSweepEnd", 1022, 9999, "dt swept reclaimed")                          \
  X(34, GC_MARK_ASSIST_ACTIVE, "GCMarkAssistActive", 1022, 9999, "dt g")                       \
  X(35, GC_MARK_ASSIST_BEGIN, "GCMarkAssistBegin", 1022, 9999, "dt stack")                     \
  X(36, GC_MARK_ASSIST_END, "GCMarkAssistEnd", 1022, 9999, "dt")                               \
  X(37, HEAP_ALLOC, "HeapAlloc", 1022, 9999, "dt bytes")                                       \
  X(38, HEAP_GOAL, "HeapGoal", 1022, 9999, "dt bytes")                                         \
  X(39, GO_LABEL, "GoLabel", 1022, 9999, "dt label_string")                                    \
  X(40, USER_TASK_BEGIN, "UserTaskBegin", 1022, 9999, "dt task parent_task name_string stack") \
  X(41, USER_TASK_END, "UserTaskEnd", 1022, 9999, "dt task stack")                             \
  X(42, USER_REGION_BEGIN, "UserRegionBegin", 1022, 9999, "dt task name_string stack")         \
  X(43, USER_REGION_END, "UserRegionEnd", 1022, 9999, "dt task name_string stack")             \
  X(44, USER_LOG, "UserLog", 1022, 9999, "dt task key_string value_string stack")              \
  X(45, GO_SWITCH, "GoSwitch", 1023, 9999, "dt g g_seq")                                       \
  X(46, GO_SWITCH_DESTROY, "GoSwitchDestroy", 1023, 9999, "dt g g_seq")                        \
  X(47, GO_CREATE_BLOCKED, "GoCreateBlocked", 1023, 9999, "dt new_g new_stack stack")          \
  X(48, GO_STATUS_STACK, "GoStatusStack", 1023, 9999, "dt g m gstatus stack")                  \
  X(49, EXPERIMENTAL_BATCH, "ExperimentalBatch", 1023, 9999, "exp gen m time data")            \
  X(50, SYNC, "Sync", 1025, 9999, "")                                                          \
  X(51, CLOCK_SNAPSHOT, "ClockSnapshot", 1025, 9999, "dt mono sec nsec")                       \
  X(52, END_OF_GENERATION, "EndOfGeneration", 1026, 9999, "")                                  \
  X(128, SPAN, "Span", 1023, 9999, "dt id npages kindclass")                                   \
  X(129, SPAN_ALLOC, "SpanAlloc", 1023, 9999, "dt id npages kindclass")                        \
  X(130, SPAN_FREE, "SpanFree", 1023, 9999, "dt id")                                           \
  X(131, HEAP_OBJECT, "HeapObject", 1023, 9999, "dt id type")                                  \
  X(132, HEAP_OBJECT_ALLOC, "HeapObjectAlloc", 1023, 9999, "dt id type")                       \
  X(133, HEAP_OBJECT_FREE, "HeapObjectFree", 1023, 9999, "dt id")                              \
  X(134, GOROUTINE_STACK, "GoroutineStack", 1023, 9999, "dt id order")                         \
  X(135, GOROUTINE_STACK_ALLOC, "GoroutineStackAlloc", 1023, 9999, "dt id order")              \
  X(136, GOROUTINE_STACK_FREE, "GoroutineStackFree", 1023, 9999, "dt id")

#define GOTRACE__V1_CONSTANT(number, NAME, name, since, until, arguments) GOTRACE_V1_##NAME = number,
#define GOTRACE__V2_CONSTANT(number, NAME, name, since, until, arguments) GOTRACE_V2_##NAME = number,
enum { GOTRACE_V1_EVENTS(GOTRACE__V1_CONSTANT) GOTRACE_V1_COUNT = 50 };
enum { GOTRACE_V2_EVENTS(GOTRACE__V2_CONSTANT) GOTRACE_V2_COUNT = 53 };
#undef GOTRACE__V1_CONSTANT
#undef GOTRACE__V2_CONSTANT

/* Other format constants. v1: names in Go's runtime/trace.go. v2: names in tracev2/spec.go. */
#define GOTRACE_STACK_SIZE 128       /* traceStackSize, MaxFramesPerStack: most frames of a stack */
#define GOTRACE_BYTES_PER_NUMBER 10  /* traceBytesPerNumber: most bytes of a 64-bit number in base 128 */
#define GOTRACE_ARG_COUNT_SHIFT 6    /* traceArgCountShift: argument count in a v1 event's first byte */
#define GOTRACE_MAX_BATCH_SIZE 65536 /* MaxBatchSize */
#define GOTRACE_MAX_STRING_SIZE 1024 /* MaxEventTrailerDataSize: most bytes of a string */
#define GOTRACE_TICK_DIV_X86 64      /* traceTickDiv on 386 and amd64 */
#define GOTRACE_TICK_DIV_PPC64 16    /* traceTickDiv on all others; of these, ppc64 has a fast counter */

/* One row of a table above. */
typedef struct gotrace_event_spec {
  int number;
  int since, until;      /* gotrace_format */
  const char *name;      /* "GoCreate" */
  const char *arguments; /* "dt new_g new_stack stack" */
} gotrace_event_spec;

/* The rows of v1 (family 1) or v2 (family 2), ordered by number, and their count; NULL and 0 for any other family.
 * `count` may be NULL. The data is static. Thread-safe. */
GOTRACE_API const gotrace_event_spec *gotrace_event_specs(int family, size_t *count);

/* The row of an event number in a format, or NULL if the format has no such event. GOTRACE_FORMAT_DEFAULT is the format
 * written by default. Thread-safe. */
GOTRACE_API const gotrace_event_spec *gotrace_find_event_spec(gotrace_format format, int number);

/* ------------------------------------------------------------------------------------------------ >>decoder ----
 *
 * Reads the traces of every Go release, whoever wrote them: all GOTRACE_FORMATS, and those of 1.5, 1.7 and 1.9, which
 * the tracer does not write. Needs no tracer, is available with GOTRACE_DISABLE too, and has no global state. Use a
 * decoder on one thread at a time; any number of decoders may run in parallel.
 *
 *     gotrace_decoder_options options = {0};
 *     gotrace_decoder *decoder = NULL;
 *     gotrace_event event;
 *     options.data = bytes, options.size = size;
 *     gotrace_decoder_open(&decoder, &options);
 *     while (gotrace_decoder_next(decoder, &event) == GOTRACE_OK)
 *         printf("%lld %s\n", (long long)event.time, event.spec->name);
 *     if (gotrace_decoder_error(decoder)->result) puts(gotrace_decoder_error(decoder)->message);
 *     gotrace_decoder_close(decoder);
 *
 * Ordered (the default): one consistent sequence of events, checked as Go checks it. v2 is ordered a generation at a
 * time, by the rules of internal/trace/order.go: the states and sequence numbers of goroutines and procs determine
 * which events are ready, and the earliest of these comes next. v1 is ordered as a whole, by the rules of
 * internal/trace/parser.go and order.go of Go 1.21; futile wake-ups are removed and the ends of system calls moved to
 * the time when they happened. The decoder reports an error where Go 1.27 does, after it has delivered all events
 * before the error. It also rejects six kinds of v2 traces that Go accepts: those whose header has other spaces or
 * leading zeros than Go writes; those with a frequency of 0; those with a record (a frequency, clock snapshot, string,
 * stack or CPU sample) that is truncated by the end of its batch; those that end after the first byte of an
 * experiment's batch; those in which a goroutine has stopped the world more than 1,024 times at once; and those that
 * would take too long, because thousands of events wait for others all the time. v1 from format 1.11 on must satisfy
 * both Go 1.21 and Go 1.27. Of these, it rejects traces with a string id above 2^64 - 2^32: Go 1.27 panics when it
 * needs numbers after such an id, and accepts the trace if it needs none. It accepts futile wake-ups, which Go 1.27
 * rejects. In v1, goroutine ids and sequence numbers above 2^64 - 3 have no special meaning, and numbers of more than
 * 64 bits are errors; Go 1.21 differs in both. If a truncated trace fails before its end with ERROR_ORDER, _STATE,
 * _STATUS, _STRING or _STACK, which missing data may cause, the result is ERROR_TRUNCATED and the message has both.
 *
 * Ranges: options.from and options.until select part of an ordered trace, in nanoseconds since the trace's first event.
 * In v2, the decoder skips generations, going from batch header to batch header, and begins to decode at the one that
 * contains the start of the range. This requires options.data or options.seekable. v1 traces, and sources that cannot
 * seek, are decoded from their beginning. The first events returned may precede the range: the caller must skip them.
 * Decoding ends with END_OF_TRACE before the first event later than `until`. Times, ids and Sync counts are those of
 * the whole trace, if no event is later than every event of the next generation. Skipped generations are not checked.
 *
 * After skipping, the decoder lacks whatever later generations do not restate: names and parents of tasks that
 * began earlier, open user regions, open stop-the-worlds, the event that created a goroutine (and thus its entry
 * function), and the thread of a proc whose status is SyscallAbandoned. The first status of each goroutine and proc has
 * GOTRACE_STATUS_UNKNOWN as its `extra`. Until the first status of its goroutine or proc, a thread has no g or p.
 * Sometimes Go omits the status of a running goroutine; the decoder then begins as many generations earlier as needed.
 *
 * Lifted: ordered decoding has one language. Events of v1 are those that Go 1.27's reader makes of them, whatever the
 * format: `spec` is a row of GOTRACE_V2_EVENTS, `v1_kind` the event in the file. A trace is one generation, without
 * Syncs. What v2 has no words for is told like this:
 *
 *   Time        Several events may have the same. Go moves these apart, and those behind them, by a nanosecond each.
 *   Wakers      The p of a GoUnblock by a timer is GOTRACE_TIMER_PROC, by the network GOTRACE_NETPOLL_PROC.
 *   Beginning   Before the first Gomaxprocs, a trace tells what is older than it. A goroutine older than the trace is
 *               first named by a GoStatus with the status 0, unknown, where the file has its GoCreate: args[3] is a
 *               stack with its first function. Its status follows: Waiting or Syscall from GoWaiting or GoInSyscall,
 *               Running from its GoStart. The first Gomaxprocs implies those of all others, which are Runnable, with
 *               args[3] again. Go leaves out the first Gomaxprocs and what has the status 0. If the trace has no
 *               Gomaxprocs, nothing is older than it; Go's conversion then leaves out all creations.
 *   Procs       The first start or stop of a proc is a ProcStatus, though goroutines may have run on it before.
 *   Calls       A GoSysCall that keeps its proc implies a GoSyscallEnd at the same time. Of one that loses it, the
 *               GoSysBlock is a GoStatus from Syscall to Syscall, of no thread; Go leaves it out. A GoSysBlock without
 *               a GoSysCall before it is a GoSyscallBegin. Goroutines in a system call may have no thread.
 *   Labels      A GoStartLabel implies a GoLabel. Before the first Gomaxprocs its GoStart is a status too; in Go, not.
 *   Stops       A GoStop is a GoBlock for the reason "forever". GoBlock has no reason in v1: "".
 *   Scans       Up to format 1.9 a GCScanStart is a stopped world, which other procs may scan at the same time.
 *   Worlds      A stopped world, in v1 of a proc, is that of the goroutine on the proc, if any.
 *   Wake-ups    A FutileWakeup that is not part of a futile wake-up is an event None.
 *   Tables      Texts that the file's table lacks (reasons, messages of logs) have ids from 2^63 on. In format 1.5,
 *               GoCreate has no stack of the new goroutine, but its address, as args[3].
 *
 * Raw: the contents of the file in file order, including batches and tables; only the framing is checked. Events of v1
 * are those of the file. Memory use is one window. options.from and options.until have no effect.
 */

#define GOTRACE_NO_ID (-1) /* no thread, proc or goroutine */

/* Reads up to `size` bytes at `offset` of the trace; returns how many, 0 at the end, (size_t)-1 on failure. Without
 * options.seekable, the offsets are consecutive. Called on the thread that calls the decoder. */
typedef size_t gotrace_read_fn(void *context, uint64_t offset, void *buffer, size_t size);

typedef struct gotrace_decoder_options {
  const void *data; /* the trace in memory, owned by the caller and unchanged until close; NULL: `read` is called */
  size_t size;      /* of data, in bytes */
  gotrace_read_fn *read; /* NULL if there is `data` */
  void *context;
  bool seekable; /* `read` accepts any offset, in any order, also beyond the end. v2 then re-reads pending batches
                    instead of copying them, and v1 need not copy the trace to grow its buffer */
  bool raw;
  bool lenient; /* ordered: accept region ends that are out of order, see gotrace_event.extra; Go rejects the trace */
  /* Allocator, both functions or neither. NULL: GOTRACE_MALLOC and GOTRACE_FREE if defined, else malloc and free. */
  void *(*allocate)(void *context, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  void *allocator_context;
  int64_t from, until;  /* ordered: time range in nanoseconds, not negative, see "Ranges"; `until` 0: no end */
  uint64_t reserved[6]; /* 0 */
} gotrace_decoder_options;

typedef struct gotrace_decoder gotrace_decoder;

/* One event. */
typedef struct gotrace_event {
  const gotrace_event_spec *spec; /* its row of GOTRACE_V2_EVENTS; raw, v1: of GOTRACE_V1_EVENTS. Never NULL */
  int64_t time;     /* ordered: nanoseconds. v1: since the first event. v2: since an arbitrary time before it, and later
                     * than the previous event (ExperimentalBatch: the same). raw: ticks */
  uint64_t offset;  /* position in the file, in bytes */
  int64_t m, p, g;  /* thread, proc and goroutine on which it happened, as they were before the event, or GOTRACE_NO_ID.
                     * In v1, threads are known only from ProcStart, and pseudo-procs begin at GOTRACE_FAKE_PROC. Raw:
                     * only the batch's m (v2) or p (v1) */
  uint64_t stack;   /* the event's stack, 0 if none; see gotrace_decoder_stack */
  uint64_t args[5]; /* the arguments in spec->arguments, without "dt" and "data" */
  int64_t extra;    /* ordered. GoStatus, GoStatusStack, ProcStatus, ProcSteal: the previous status, or
                     * GOTRACE_STATUS_UNKNOWN or _NONE. UserTaskEnd: the parent's id or GOTRACE_NO_ID. Sync: the number
                     * of Syncs so far, including this one. With options.lenient also UserRegionEnd: how many open
                     * regions of the goroutine are inside it, which is not 0 if it is out of order. If it began before
                     * the trace, has ended already, or has more than 63 inside it, all open ones count as inside it */
  const char *data; /* the argument "data". Ordered, UserTaskEnd: the task's name; STWBegin, STWEnd: the reason. Not
                     * NUL-terminated; valid until the next event. NULL if the event has none */
  size_t data_size;
  uint8_t kind; /* spec->number: GOTRACE_V2_...; raw, v1: GOTRACE_V1_... */
  uint8_t arg_count;
  bool implied;    /* ordered: not in the file, but implied by GoSwitch (block and start) or GoDestroySyscall (steal of
                      the proc); of v1 see "Lifted" */
  uint8_t v1_kind; /* ordered, v1: GOTRACE_V1_..., the event in the file, also of the events that it implies; else 0 */
} gotrace_event;

#define GOTRACE_STATUS_UNKNOWN (-1) /* the trace has not mentioned it before */
#define GOTRACE_STATUS_NONE (-2)    /* it did not exist */

/* v1, ordered: pseudo-procs, as in internal/trace/parser.go. */
#define GOTRACE_FAKE_PROC 1000000
#define GOTRACE_TIMER_PROC 1000001   /* unblocked by a timer */
#define GOTRACE_NETPOLL_PROC 1000002 /* unblocked by the network */
#define GOTRACE_SYSCALL_PROC 1000003 /* ends of system calls */
#define GOTRACE_GC_PROC 1000004      /* starts of collections */
#define GOTRACE_PROFILE_PROC 1000005

typedef struct gotrace_frame {
  uint64_t pc, line;
  const char *function, *file; /* not NUL-terminated */
  size_t function_size, file_size;
} gotrace_frame;

/* What an event changes; see gotrace_decoder_change. The kinds of change are those of Go's own
 * reader (internal/trace, golang.org/x/exp/trace). */
enum {
  GOTRACE_CHANGE_SYNC = 1,     /* v2: a generation begins, or the trace ends; see gotrace_event.extra */
  GOTRACE_CHANGE_METRIC,       /* the metric `name` has a new value */
  GOTRACE_CHANGE_LABEL,        /* a goroutine gets the label `name` */
  GOTRACE_CHANGE_SAMPLE,       /* a CPU sample of the event's m, p and g */
  GOTRACE_CHANGE_RANGE_BEGIN,  /* a stop-the-world or a phase of the collector begins, */
  GOTRACE_CHANGE_RANGE_ACTIVE, /* has been active since before the generation (v2), */
  GOTRACE_CHANGE_RANGE_END,    /* or ends */
  GOTRACE_CHANGE_TASK_BEGIN,
  GOTRACE_CHANGE_TASK_END,
  GOTRACE_CHANGE_REGION_BEGIN,
  GOTRACE_CHANGE_REGION_END,
  GOTRACE_CHANGE_LOG,
  GOTRACE_CHANGE_STATUS /* a goroutine or proc has a new status, or the trace states the status that it has */
};

/* What a change concerns. */
enum { GOTRACE_OBJECT_NONE, GOTRACE_OBJECT_GO, GOTRACE_OBJECT_PROC };

/* Statuses of goroutines and procs, besides GOTRACE_STATUS_UNKNOWN and GOTRACE_STATUS_NONE. */
enum {
  GOTRACE_STATUS_RUNNABLE = 1,
  GOTRACE_STATUS_RUNNING, /* a proc: it has a thread, which may be in a system call */
  GOTRACE_STATUS_SYSCALL,
  GOTRACE_STATUS_WAITING,
  GOTRACE_STATUS_IDLE /* only procs */
};

/* One change. Texts are not NUL-terminated. They are owned by the decoder and valid until the next event. */
typedef struct gotrace_change {
  uint8_t kind;    /* GOTRACE_CHANGE_... */
  uint8_t object;  /* STATUS: GOTRACE_OBJECT_GO or _PROC. LABEL, REGION, LOG, stop-the-world, mark assist: _GO. Sweep:
                    * _PROC. Others: _NONE */
  int8_t from, to; /* STATUS: before and after. From NONE: the object is created. To NONE: it ends. From UNKNOWN: the
                    * trace states its status for the first time. Both equal: the trace states it again */
  int64_t id;      /* of the object; GOTRACE_NO_ID: none, or unknown */
  int64_t number; /* of the object. Objects are numbered from 0, in the order in which they first occur; unlike an id, a
                   * number is never used again. GOTRACE_NO_ID if `id` is GOTRACE_NO_ID */
  int64_t since;  /* STATUS: time of the change to `from`. A status that the trace states for the first time counts from
                   * the last Sync, in v1 from the beginning of the trace */
  uint64_t stack; /* STATUS: the object's stack; of a new goroutine, one with its first function; 0: unknown. In
                   * contrast, gotrace_event.stack is that of the goroutine that caused the change */
  const char *name; /* STATUS: the reason. METRIC: "/sched/gomaxprocs:threads", "/memory/classes/heap/objects:bytes" or
                     * "/gc/heap/goal:bytes". RANGE: "stop-the-world", "GC concurrent mark phase",
                     * "GC incremental sweep" or "GC mark assist". LABEL, TASK, REGION: the name. LOG: the category */
  size_t name_size;
  const char *text; /* LOG: the message. Stop-the-world: the reason */
  size_t text_size;
  const char *function; /* GOTRACE_OBJECT_GO: see gotrace_decoder_function */
  size_t function_size;
  uint64_t task;     /* TASK, REGION, LOG: the task's id; 0: none */
  int64_t parent;    /* TASK: the parent's id, or GOTRACE_NO_ID */
  uint64_t value[2]; /* METRIC: the value. End of a sweep: bytes swept and reclaimed */
  uint64_t reserved[4];
} gotrace_change;

/* Whose change it is: that of the goroutine or proc on which the event happens, or: */
enum {
  GOTRACE_WHOSE_OWN = 0,
  GOTRACE_WHOSE_NAMED = 1, /* that of the goroutine or proc whose id is the event's first argument, */
  GOTRACE_WHOSE_NEW = 2,   /* with NAMED: which the event creates, */
  GOTRACE_WHOSE_TOLD = 4   /* with NAMED: or whose status the trace states */
};

/* What the changes of all events of a kind have in common. */
typedef struct gotrace_change_spec {
  uint8_t kind;     /* GOTRACE_CHANGE_... */
  uint8_t object;   /* GOTRACE_OBJECT_... */
  uint8_t whose;    /* GOTRACE_WHOSE_... */
  int8_t to;        /* STATUS: as in gotrace_change; NONE where the trace states a status, which the arguments tell */
  const char *name; /* METRIC, RANGE: as in gotrace_change. Otherwise "": the event may tell it */
} gotrace_change_spec;

typedef struct gotrace_decoder_info {
  int format;                  /* 1005 to 1026 */
  int family;                  /* 1 or 2: which table the events of the file are from */
  double nanoseconds_per_tick; /* 0: not yet known */
  uint64_t generation;         /* v2: of the last event */
  uint64_t events;             /* delivered so far */
  size_t memory, memory_most;  /* bytes allocated now, and the most so far */
  int64_t first_time;          /* ordered: time of the trace's first event, even if skipped; 0 in v1 and until known.
                                * Of a part (gotrace_decoder_open_part): of the part's first event */
  uint64_t reserved[7];
} gotrace_decoder_info;

/* Why decoding ended. */
typedef struct gotrace_decoder_failure {
  gotrace_result result; /* OK: it has not ended, or it reached the end of the trace or range */
  uint64_t offset;       /* of the event, batch or table entry, in bytes */
  const char *event;     /* its name, or NULL */
  char message[200];     /* what is wrong, with offset and event */
  uint64_t reserved[4];
} gotrace_decoder_failure;

#if !GOTRACE_NO_DECODER

/* Opens a trace and reads its header. The options are copied. On failure *decoder is set too, so that its error can be
 * read, and must be closed; it is NULL after ERROR_ARGUMENT, and if there is no memory for the decoder itself. Results:
 * OK, ERROR_ARGUMENT, ERROR_OUT_OF_MEMORY, ERROR_READ, ERROR_HEADER, ERROR_FORMAT. */
GOTRACE_API gotrace_result gotrace_decoder_open(gotrace_decoder **decoder, const gotrace_decoder_options *options);

/* Frees the decoder and everything it returned. NULL has no effect. The calls below accept a NULL decoder too: they
 * return no event, string, stack or information, and the error ERROR_ARGUMENT. */
GOTRACE_API void gotrace_decoder_close(gotrace_decoder *decoder);

/* Stores the next event. Results: OK; END_OF_TRACE; ERROR_ARGUMENT if an argument is NULL; or the error that ended
 * decoding. Later calls return the same END_OF_TRACE or error again. */
GOTRACE_API gotrace_result gotrace_decoder_next(gotrace_decoder *decoder, gotrace_event *event);

/* Returns the next events without copying them, in the order in which gotrace_decoder_next would return them. This is a
 * tenth faster for ordered v2 traces; other traces give one event per call. Stores at most *count pointers in `events`
 * and sets *count to their number. The decoder owns the events. They, their strings and their stacks are valid until
 * the next call of this function, gotrace_decoder_next or gotrace_decoder_join. Results: OK with one event or more;
 * ERROR_ARGUMENT if *count is 0 or an argument is NULL; otherwise as gotrace_decoder_next, with no event. */
GOTRACE_API gotrace_result gotrace_decoder_next_batch(gotrace_decoder *decoder, const gotrace_event **events,
                                                      size_t *count);

/* The bytes of a string id from the arguments of the last event, or of an event of the last gotrace_decoder_next_batch.
 * False, with "", if the id is unknown; id 0 is "". Ordered only. Not NUL-terminated; valid until the next event. */
GOTRACE_API bool gotrace_decoder_string(const gotrace_decoder *decoder, uint64_t id, const char **data, size_t *size);

/* Stores the first `capacity` frames, innermost first, of a stack id from the last event's arguments; `frames` NULL
 * stores none. Returns the stack's number of frames (0: empty or unknown; at most 1,000). Ordered only. The strings of
 * the frames are owned by the decoder and valid until the next event. In format 1.5 frames have only a pc. */
GOTRACE_API size_t gotrace_decoder_stack(const gotrace_decoder *decoder, uint64_t id, gotrace_frame *frames,
                                         size_t capacity);

/* Stores the change that an event makes. Returns false, and stores nothing that counts, if it makes none. Ordered only.
 * Call this for every event, in order, before the next event is read; after gotrace_decoder_next_batch, for each event
 * of the batch. Otherwise `from`, `since` and `function` may be wrong, because they are derived from earlier calls. The
 * decoder then keeps a record of some 80 bytes for each goroutine. Decoding costs nothing more if this function is
 * never called. Returns false if an argument is NULL or if memory runs out. In the latter case, decoding ends with
 * ERROR_OUT_OF_MEMORY.
 *
 *     if (gotrace_decoder_change(decoder, &event, &change) && change.object == GOTRACE_OBJECT_GO &&
 *         change.from == GOTRACE_STATUS_RUNNABLE && change.to == GOTRACE_STATUS_RUNNING)
 *         printf("goroutine %lld waited %lld ns\n", (long long)change.id, (long long)(event.time - change.since));
 *
 * The change of a GoSwitch or GoDestroySyscall is that of its first part; the events that it implies make the others.
 * From UNKNOWN is each status in a v1 trace that GoWaiting, GoInSyscall or, at the beginning, GoStart tells (see
 * "Lifted"), and the first status of each object in a part (gotrace_decoder_open_part) or after skipped generations
 * (options.from). */
GOTRACE_API bool gotrace_decoder_change(gotrace_decoder *decoder, const gotrace_event *event, gotrace_change *change);

/* What ordered events of a number, GOTRACE_V2_..., change, whatever the state: for programs that follow the state
 * themselves, without calling gotrace_decoder_change for each event. NULL if they change nothing, or if there is no
 * such event. The data is static. Thread-safe. */
GOTRACE_API const gotrace_change_spec *gotrace_find_change_spec(int number);

/* The number of the goroutine or proc (`object`: GOTRACE_OBJECT_...) that has this id now or, if none has, had it last;
 * see gotrace_change.number. GOTRACE_NO_ID if gotrace_decoder_change has met none. */
GOTRACE_API int64_t gotrace_decoder_number(const gotrace_decoder *decoder, unsigned object, uint64_t id);

/* The function that a goroutine began with, as far as the trace has told so far: by its creation, or else the outermost
 * function of the first stack of its own events that has one. One without a name is called by its address, as in
 * "0x4a1b20". `number`: gotrace_change.number; it stays valid after the goroutine has ended. False, with an empty text,
 * if the function is unknown. Not NUL-terminated; owned by the decoder and valid until close. Functions are right even
 * if gotrace_decoder_change is not called for events that neither begin or end a goroutine nor have a stack. */
GOTRACE_API bool gotrace_decoder_function(const gotrace_decoder *decoder, int64_t number, const char **data,
                                          size_t *size);

/* The same with its address, file and line, where a stack of the goroutine or its creation had it. False, with an empty
 * frame, if the function is unknown or `frame` is NULL. Owned by the decoder and valid until close. */
GOTRACE_API bool gotrace_decoder_entry(const gotrace_decoder *decoder, int64_t number, gotrace_frame *frame);

/* Why gotrace_decoder_open or gotrace_decoder_next failed. Never NULL; owned by the decoder and valid until close. */
GOTRACE_API const gotrace_decoder_failure *gotrace_decoder_error(const gotrace_decoder *decoder);

/* Stores facts about the trace and the decoder, as of the last event; zeros if the decoder is NULL. */
GOTRACE_API void gotrace_decoder_get_info(const gotrace_decoder *decoder, gotrace_decoder_info *info);

/* Decoding on several threads, for ordered v2 traces that are in memory or seekable, without a range, not lenient.
 *
 * Each generation after the first can be decoded by its own decoder, called a part, in parallel with others. A part
 * derives the state at its beginning from the statuses in its own generation. When it is done, gotrace_decoder_join
 * compares this with the actual state, which the decoder of the whole trace knows. If they agree, that decoder
 * continues after the part, as if it had decoded the part's events. If they differ, or if the part failed, it decodes
 * the generation itself. So result, number of events and everything after the part are those of a single decoder.
 *
 *     gotrace_decoder_open(&whole, &options);
 *     while (gotrace_decoder_next(whole, &event) == GOTRACE_OK && !gotrace_decoder_between(whole)) continue;
 *     while (gotrace_decoder_open_part(whole, &part) == GOTRACE_OK) {        one at a time, on any thread
 *         while (gotrace_decoder_next(part, &event) == GOTRACE_OK) continue; in parallel, on any threads
 *         if (!gotrace_decoder_join(whole, part))                            in the order of the parts, on one thread
 *             while (gotrace_decoder_next(whole, &event) == GOTRACE_OK && !gotrace_decoder_between(whole)) continue;
 *         gotrace_decoder_close(part);
 *     }
 *     while (gotrace_decoder_next(whole, &event) == GOTRACE_OK) continue;    the rest, and the final result
 *
 * The first generation has no part: `whole` decodes it, in parallel with the first parts. The events of a part equal
 * those of the whole trace, with two exceptions. The end of a task that began in an earlier generation has no name and
 * no parent. And if the first event is not later than the last event before the part, which is rare, the part's times
 * are too early: the caller must make each later than the time of the event before it. If a join is refused, the part's
 * events may be wrong in any way.
 *
 * gotrace_decoder_open_part opens the part of the next generation; the caller closes it. Results: OK; END_OF_TRACE if
 * there is none, or if the trace cannot be decoded in parts; ERROR_ARGUMENT; and those of gotrace_decoder_open. *part
 * is NULL on failure. Calls of this function for one `whole` must not overlap, but each may run concurrently with all
 * other calls. The allocator and `read` are called on all these threads and must be thread-safe. */
GOTRACE_API gotrace_result gotrace_decoder_open_part(gotrace_decoder *whole, gotrace_decoder **part);

/* Advances `whole` past a part that has been decoded to its end, and returns true, if the part is valid as the next
 * generation. Otherwise returns false and changes nothing; but if memory ran out, `whole` has failed. False too if an
 * argument is NULL or `whole` is not between generations. The part must still be closed. */
GOTRACE_API bool gotrace_decoder_join(gotrace_decoder *whole, gotrace_decoder *part);

/* Ordered v2: whether the decoder is between generations: the next event, if any, begins one or ends the trace. */
GOTRACE_API bool gotrace_decoder_between(const gotrace_decoder *decoder);

#endif /* GOTRACE_NO_DECODER */

#ifdef __cplusplus
}
#endif

#pragma pack(pop)
#endif /* GOTRACE_H */

/* In the implementation, the macros at the end of this file change nothing if they are already defined. */
#if defined(GOTRACE_IMPLEMENTATION) && defined(GOTRACE__FROM_HERE)
#undef GOTRACE__FROM_HERE
#define GOTRACE__FROM_HERE(call) call
#endif

/* ----------------------------------------------------------------------------------------- >>implementation ----
 *
 * Lock order, outermost first: init_lock, life, work, a bucket of waits or keys, records, queue_lock, flight_lock, that
 * of a table of strings or stacks, pool.
 */

#if defined(GOTRACE_IMPLEMENTATION) && !defined(GOTRACE__IMPLEMENTED)
#define GOTRACE__IMPLEMENTED

#pragma pack(push)
#pragma pack()

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h> /* (strchr)(...) is the function: glibc 2.43 has macros with C11's _Generic, also in C99 */

/* stb_sprintf formats gotrace_logf, see GOTRACE_NO_STB_SPRINTF. If the file has included stb_sprintf already, that copy
 * is used. Otherwise the tracer includes a private copy: it renames all its names and removes its macros afterwards, so
 * that the file may still include stb_sprintf. */
#if !GOTRACE_DISABLE && !GOTRACE_NO_STB_SPRINTF && defined(STB_SPRINTF_H_INCLUDE)
#define GOTRACE__VSNPRINTF(text, size, format, arguments) \
  STB_SPRINTF_DECORATE(vsnprintf)(text, (int)(size), format, arguments)
#elif !GOTRACE_DISABLE && !GOTRACE_NO_STB_SPRINTF && defined(__has_include)
#if __has_include("stb_sprintf.h")
#define GOTRACE__STB "stb_sprintf.h"
#elif __has_include(<stb/stb_sprintf.h>)
#define GOTRACE__STB <stb/stb_sprintf.h>
#endif
#endif
#if defined(GOTRACE__STB)
#if GOTRACE__GNU
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define GOTRACE__STB_NAME(name) gotrace__stb_##name
#define STBSP_SPRINTFCB gotrace__stb_callback
#define stbsp__context GOTRACE__STB_NAME(context)
#define stbsp__real_to_str GOTRACE__STB_NAME(real_to_str)
#define stbsp__real_to_parts GOTRACE__STB_NAME(real_to_parts)
#define stbsp__raise_to_power10 GOTRACE__STB_NAME(raise_to_power10)
#define stbsp__period GOTRACE__STB_NAME(period)
#define stbsp__comma GOTRACE__STB_NAME(comma)
#define stbsp__digitpair GOTRACE__STB_NAME(digitpair)
#define stbsp__lead_sign GOTRACE__STB_NAME(lead_sign)
#define stbsp__strlen_limited GOTRACE__STB_NAME(strlen_limited)
#define stbsp__clamp_callback GOTRACE__STB_NAME(clamp_callback)
#define stbsp__count_clamp_callback GOTRACE__STB_NAME(count_clamp_callback)
#define stbsp__bot GOTRACE__STB_NAME(bot)
#define stbsp__negbot GOTRACE__STB_NAME(negbot)
#define stbsp__negboterr GOTRACE__STB_NAME(negboterr)
#define stbsp__top GOTRACE__STB_NAME(top)
#define stbsp__negtop GOTRACE__STB_NAME(negtop)
#define stbsp__toperr GOTRACE__STB_NAME(toperr)
#define stbsp__negtoperr GOTRACE__STB_NAME(negtoperr)
#define stbsp__powten GOTRACE__STB_NAME(powten)
#define STB_SPRINTF_DECORATE(name) gotrace__stb_##name
#define STB_SPRINTF_IMPLEMENTATION
#define STB_SPRINTF_STATIC
#define STB_SPRINTF_NOUNALIGNED
#include GOTRACE__STB
#undef STB_SPRINTF_H_INCLUDE
#undef STB_SPRINTF_DECORATE
#undef STB_SPRINTF_IMPLEMENTATION
#undef STB_SPRINTF_STATIC
#undef STB_SPRINTF_NOUNALIGNED
#undef STB_SPRINTF_MIN
#undef STBSP__PUBLICDEC
#undef STBSP__PUBLICDEF
#undef STBSP__ATTRIBUTE_FORMAT
#undef STBSP__ASAN
#undef STBSP__NOTUSED
#undef stbsp__uintptr
#undef stbsp__tento19th
#undef STBSP_SPRINTFCB
#undef GOTRACE__STB_NAME
#define GOTRACE__STB_NAME(name) stbsp__##name /* a macro is not expanded in itself: the names stand for themselves */
#if GOTRACE__GNU
#pragma GCC diagnostic pop
#endif
#define GOTRACE__VSNPRINTF(text, size, format, arguments) gotrace__stb_vsnprintf(text, (int)(size), format, arguments)
#elif !defined(GOTRACE__VSNPRINTF)
#define GOTRACE__VSNPRINTF vsnprintf
#endif

/* From here to "transcriber", all code is in one section where the linker says where that begins and ends: so that
 * gotrace_in_call knows a program counter in it. Two copies of the tracer in a process have one each. */
#if GOTRACE__GNU && defined(__ELF__)
#define GOTRACE__HAS_SECTION 1
#define GOTRACE__SECTION __attribute__((__section__("gotrace_calls")))
#else
#define GOTRACE__HAS_SECTION 0
#define GOTRACE__SECTION
#endif
/* Begins each private function. Hooks at the program's functions (-finstrument-functions) may call the tracer, which
 * would then call them without end. */
#define GOTRACE__FN GOTRACE__UNINSTRUMENTED GOTRACE__SECTION static
#define GOTRACE__ALWAYS_INLINE GOTRACE__FN inline GOTRACE__ALWAYS

#if GOTRACE__GNU
#define GOTRACE__NOINLINE __attribute__((__noinline__))
#define GOTRACE__COLD __attribute__((__noinline__, __cold__)) /* calls of it cost their callers no registers */
#define GOTRACE__LIKELY(x) __builtin_expect(!!(x), 1)
#define GOTRACE__UNLIKELY(x) __builtin_expect(!!(x), 0)
#define GOTRACE__PREFETCH(p) __builtin_prefetch(p)
#else
#define GOTRACE__NOINLINE
#define GOTRACE__COLD
#define GOTRACE__LIKELY(x) (x)
#define GOTRACE__UNLIKELY(x) (x)
#define GOTRACE__PREFETCH(p) (void)(p)
#endif

/* For printf. */
#define GOTRACE__LL(x) ((long long)(x))
#define GOTRACE__LLU(x) ((unsigned long long)(x))

#define GOTRACE__STATIC_ASSERT(condition, name) typedef char gotrace__assert_##name[(condition) ? 1 : -1]

/* Never inlined: a coroutine may change threads between two calls. A compiler that sees both calls in one function may
 * compute the address of a thread-local variable once for both. (GCC -O3 on arm64 did.) */
#define GOTRACE__DEFINE GOTRACE__UNINSTRUMENTED GOTRACE__NOINLINE GOTRACE__SECTION GOTRACE_API

#ifdef __cplusplus
extern "C" {
#if defined(__clang__) /* GCC does not report casts in extern "C" */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wold-style-cast"
#endif
#endif

/* Version, names of events, results and problems: present even if the tracer itself is compiled out. */

GOTRACE__DEFINE unsigned gotrace_version(void) { return GOTRACE_VERSION_NUMBER; }

GOTRACE__FN bool gotrace__is_format(int format) {
#define GOTRACE__IS(NAME, number, name) format == number ||
  return GOTRACE_FORMATS(GOTRACE__IS) false;
#undef GOTRACE__IS
}

static const gotrace_event_spec gotrace__v1_specs[] = {
#define GOTRACE__SPEC(number, NAME, name, since, until, arguments) {number, since, until, name, arguments},
    GOTRACE_V1_EVENTS(GOTRACE__SPEC)};
static const gotrace_event_spec gotrace__v2_specs[] = {GOTRACE_V2_EVENTS(GOTRACE__SPEC)
#undef GOTRACE__SPEC
};

GOTRACE__DEFINE const gotrace_event_spec *gotrace_event_specs(int family, size_t *count) {
  size_t unused;
  if (!count) count = &unused;
  *count = family == 1   ? sizeof gotrace__v1_specs / sizeof gotrace__v1_specs[0]
           : family == 2 ? sizeof gotrace__v2_specs / sizeof gotrace__v2_specs[0]
                         : 0;
  return family == 1 ? gotrace__v1_specs : family == 2 ? gotrace__v2_specs : NULL;
}

GOTRACE__DEFINE const gotrace_event_spec *gotrace_find_event_spec(gotrace_format format, int number) {
  size_t count, i;
  const gotrace_event_spec *specs;
  if (format == GOTRACE_FORMAT_DEFAULT) format = GOTRACE_GO_1_23;
  specs = gotrace_event_specs(format < GOTRACE_GO_1_22 ? 1 : 2, &count);
  for (i = 0; i < count; i++)
    if (specs[i].number == number && specs[i].since <= (int)format && (int)format <= specs[i].until) return &specs[i];
  return NULL;
}

GOTRACE__DEFINE const char *gotrace_result_string(gotrace_result result) {
  switch (result) {
#define GOTRACE__RESULT(NAME, code, text) \
  case GOTRACE_##NAME: return text;
    GOTRACE_RESULTS(GOTRACE__RESULT)
#undef GOTRACE__RESULT
  default: return "unknown result";
  }
}

static const struct {
  unsigned done;
  const char *text;
} gotrace__problems[] = {
#define GOTRACE__PROBLEM(NAME, number, done, text) {done, text},
    GOTRACE_PROBLEMS(GOTRACE__PROBLEM)
#undef GOTRACE__PROBLEM
};

GOTRACE__DEFINE const char *gotrace_problem_string(gotrace_problem problem) {
  return (unsigned)problem < GOTRACE_PROBLEM_COUNT ? gotrace__problems[problem].text : "unknown problem";
}

static const char *const gotrace__outcomes[] = {"dropped", "repaired", "left out"};

GOTRACE__DEFINE const char *gotrace_problem_outcome(gotrace_problem problem) {
  return (unsigned)problem < GOTRACE_PROBLEM_COUNT ? gotrace__outcomes[gotrace__problems[problem].done] : "unknown";
}

/* Mixes 64 bits into a hash: multiply, fold. */
GOTRACE__FN inline uint64_t gotrace__mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

/* A seeded hash of bytes. */
GOTRACE__FN inline uint64_t gotrace__hash_from(uint64_t seed, const char *bytes, size_t size) {
  uint64_t hash = seed ^ size, word;
  for (; size >= 8; bytes += 8, size -= 8) {
    memcpy(&word, bytes, 8);
    hash = gotrace__mix(hash, word);
  }
  for (word = 0; size; size--) word = word << 8 | (unsigned char)*bytes++;
  return gotrace__mix(gotrace__mix(hash, word), 0);
}

/* ------------------------------------------------------------------------------------------------- >>varint ---- */

#if !GOTRACE_DISABLE || !GOTRACE_NO_DECODER
/* Appends value in base 128, least significant group first, and returns the end. At most GOTRACE_BYTES_PER_NUMBER
 * bytes. A plain loop: most numbers in a trace have one or two bytes. Go: traceBuf.varint. */
GOTRACE__FN inline uint8_t *gotrace__put_varint(uint8_t *at, uint64_t value) {
  for (; value >= 0x80; value >>= 7) *at++ = (uint8_t)(0x80 | value);
  *at++ = (uint8_t)value;
  return at;
}

GOTRACE__FN inline uint8_t *gotrace__put_varints(uint8_t *at, const uint64_t *values, size_t count) {
  for (; count; count--) at = gotrace__put_varint(at, *values++);
  return at;
}

#define GOTRACE__EVENT_BYTES 32 /* an event is shorter if all its numbers have at most four bytes: 1 + 6 * 4 */

/* Reads the rest of a base-128 number, whose first `shift` / 7 bytes gave `v`. Returns the address after it; NULL: it
 * does not end before `end`, or has more than 64 bits. */
GOTRACE__FN const uint8_t *gotrace__get_long_varint(const uint8_t *at, const uint8_t *end, uint64_t v, unsigned shift,
                                                    uint64_t *value) {
  for (; at < end && shift < 64; shift += 7) {
    uint8_t byte = *at++;
    if (shift == 63 && byte > 1) return NULL;
    v |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = v;
      return at;
    }
  }
  return NULL;
}

/* Reads a base-128 number; likewise. */
GOTRACE__FN inline const uint8_t *gotrace__get_varint(const uint8_t *at, const uint8_t *end, uint64_t *value) {
  if (GOTRACE__LIKELY(at < end && at[0] < 0x80)) {
    *value = at[0];
    return at + 1;
  }
  return gotrace__get_long_varint(at, end, 0, 0, value);
}

/* Reads a number of at most four bytes, as nearly all are; false: it is longer. Inlined once for each number of an
 * event, so that the processor predicts the length of each separately. */
GOTRACE__ALWAYS_INLINE bool gotrace__take_number(const uint8_t **at, uint64_t *value) {
  const uint8_t *p = *at;
  uint64_t v = p[0];
  *at = p + 1;
  if (v >= 0x80) {
    v += ((uint64_t)p[1] << 7) - 0x80;
    *at = p + 2;
    if (p[1] >= 0x80) {
      v += ((uint64_t)p[2] << 14) - (0x80 << 7);
      *at = p + 3;
      if (p[2] >= 0x80) {
        v += ((uint64_t)p[3] << 21) - (0x80 << 14);
        *at = p + 4;
        if (p[3] >= 0x80) return false;
      }
    }
  }
  *value = v;
  return true;
}

/* Reads `n` such numbers, at most five. Not a loop, for the same reason. */
GOTRACE__ALWAYS_INLINE bool gotrace__take_numbers(const uint8_t **at, uint64_t *values, unsigned n) {
  if (n < 1) return true;
  if (!gotrace__take_number(at, &values[0])) return false;
  if (n < 2) return true;
  if (!gotrace__take_number(at, &values[1])) return false;
  if (n < 3) return true;
  if (!gotrace__take_number(at, &values[2])) return false;
  if (n < 4) return true;
  if (!gotrace__take_number(at, &values[3])) return false;
  return n < 5 || gotrace__take_number(at, &values[4]);
}

/* Reads an event's time difference and its other numbers, if none is longer than four bytes. At least
 * GOTRACE__EVENT_BYTES must be readable. False: use gotrace__get_numbers. */
GOTRACE__ALWAYS_INLINE bool gotrace__take_event(const uint8_t **at, uint64_t *dt, uint64_t *values, unsigned n) {
  return gotrace__take_number(at, dt) && gotrace__take_numbers(at, values, n);
}
#endif

/* -------------------------------------------------------------------------------------------------------- >>rules ----
 *
 * What events need and change: tables with a row an event.
 *
 *   GOTRACE__V2_TRANSITIONS   the statuses of goroutines, and what runs where: the model and the decoder of v2
 *   GOTRACE__V2_CONTEXTS      where the other events may happen: the decoder of v2
 *   GOTRACE__V2_STATUSES,     what gotrace_decoder_change tells of ordered events, which gotrace_find_change_spec shows
 *   GOTRACE__V2_TELLS         to programs; the status of procs also in the model
 *   GOTRACE__V1_TRANSITIONS   the order of v1's events, and the statuses of its goroutines: the decoder of v1
 *   GOTRACE__V1_LIFTS         what v1's events become: the decoder of v1
 *
 * A row decides all that it says, in everything that follows its table. Code decides:
 *
 *   The model    what a thread without a proc, a switch and a nested goroutine mean: >>apply; when a proc is stolen or
 *                abandoned; statuses at the beginning of a generation.
 *   Decoder, v2  statuses that the trace states, creations, switches, procs, stopped worlds, the collector's ranges,
 *                tasks and regions: gotrace__v2_order_rare. It also checks the context of the events that need NONE.
 *   Decoder, v1  procs, who is created or woken, ranges, tasks and regions: gotrace__v1_check. The beginning of a
 *                trace, calls, labels, texts: gotrace__v1_lift_rest. Pseudo-procs: gotrace__v1_set_proc.
 *   Changes      statuses that the trace states, names and values that the event has: >>decode-changes.
 */

/* X(event, context that it needs, its goroutine, status from, to, effect on thread or proc). NEW: the goroutine that it
 * creates. Go: internal/trace/order.go. The common events come first; gotrace__v2_order_fast handles them. */
#define GOTRACE__V2_FAST_RULES(X)                        \
  X(GO_START, P, NAMED, RUNNABLE, RUNNING, STARTS)       \
  X(GO_UNBLOCK, NONE, NAMED, WAITING, RUNNABLE, NONE)    \
  X(GO_BLOCK, PG, OWN, RUNNING, WAITING, LEAVES)         \
  X(GO_STOP, PG, OWN, RUNNING, RUNNABLE, LEAVES)         \
  X(GO_SYSCALL_BEGIN, PG, OWN, RUNNING, SYSCALL, ENTERS) \
  X(GO_SYSCALL_END, PG, OWN, SYSCALL, RUNNING, RETURNS)

#define GOTRACE__V2_TRANSITIONS(X)                             \
  GOTRACE__V2_FAST_RULES(X)                                    \
  X(GO_DESTROY, PG, OWN, RUNNING, GONE, LEAVES)                \
  X(GO_DESTROY_SYSCALL, G, OWN, SYSCALL, GONE, LEAVES)         \
  X(GO_SYSCALL_END_BLOCKED, G, OWN, SYSCALL, RUNNABLE, LEAVES) \
  X(GO_SWITCH, PG, OWN, RUNNING, RUNNING, NONE)                \
  X(GO_SWITCH_DESTROY, PG, OWN, RUNNING, RUNNING, NONE)        \
  X(GO_CREATE, P, NEW, DEAD, RUNNABLE, NONE)                   \
  X(GO_CREATE_BLOCKED, P, NEW, DEAD, WAITING, NONE)            \
  X(GO_CREATE_SYSCALL, M, NEW, DEAD, SYSCALL, NONE)

/* X(event, context that it needs). Those without a row, here or above, need a thread. */
#define GOTRACE__V2_CONTEXTS(X)  \
  X(GO_STATUS, NONE)             \
  X(GO_STATUS_STACK, NONE)       \
  X(GO_LABEL, PG)                \
  X(PROC_STATUS, NONE)           \
  X(PROC_START, NONE)            \
  X(PROC_STOP, NONE)             \
  X(PROC_STEAL, NONE)            \
  X(PROCS_CHANGE, PG)            \
  X(HEAP_ALLOC, P)               \
  X(HEAP_GOAL, P)                \
  X(STW_BEGIN, PG)               \
  X(STW_END, PG)                 \
  X(GC_ACTIVE, NONE)             \
  X(GC_BEGIN, NONE)              \
  X(GC_END, NONE)                \
  X(GC_SWEEP_ACTIVE, NONE)       \
  X(GC_SWEEP_BEGIN, P)           \
  X(GC_SWEEP_END, P)             \
  X(GC_MARK_ASSIST_ACTIVE, NONE) \
  X(GC_MARK_ASSIST_BEGIN, PG)    \
  X(GC_MARK_ASSIST_END, PG)      \
  X(USER_TASK_BEGIN, PG)         \
  X(USER_TASK_END, PG)           \
  X(USER_REGION_BEGIN, PG)       \
  X(USER_REGION_END, PG)         \
  X(USER_LOG, PG)

#define GOTRACE__V2_DOES(needs, whose, then) (GOTRACE__R_NEEDS_##needs | GOTRACE__R_##whose | GOTRACE__R_##then)

/* Changes of status: X(event, whose, status after). That of TOLD ones is in the event. Go: internal/trace/event.go. */
#define GOTRACE__V2_STATUSES(X)               \
  X(GO_START, NAMED_GO, RUNNING)              \
  X(GO_UNBLOCK, NAMED_GO, RUNNABLE)           \
  X(GO_BLOCK, OWN_GO, WAITING)                \
  X(GO_STOP, OWN_GO, RUNNABLE)                \
  X(GO_SYSCALL_BEGIN, OWN_GO, SYSCALL)        \
  X(GO_SYSCALL_END, OWN_GO, RUNNING)          \
  X(GO_DESTROY, OWN_GO, NONE)                 \
  X(GO_DESTROY_SYSCALL, OWN_GO, NONE)         \
  X(GO_SYSCALL_END_BLOCKED, OWN_GO, RUNNABLE) \
  X(GO_SWITCH, NAMED_GO, RUNNABLE)            \
  X(GO_SWITCH_DESTROY, NAMED_GO, RUNNABLE)    \
  X(GO_CREATE, NEW_GO, RUNNABLE)              \
  X(GO_CREATE_BLOCKED, NEW_GO, WAITING)       \
  X(GO_CREATE_SYSCALL, NEW_GO, SYSCALL)       \
  X(GO_STATUS, TOLD_GO, NONE)                 \
  X(GO_STATUS_STACK, TOLD_GO, NONE)           \
  X(PROC_STATUS, TOLD_PROC, NONE)             \
  X(PROC_START, NAMED_PROC, RUNNING)          \
  X(PROC_STOP, OWN_PROC, IDLE)                \
  X(PROC_STEAL, NAMED_PROC, IDLE)

/* Other changes: X(event, kind of change, whose, name; "": the event has it). */
#define GOTRACE__V2_TELLS(X)                                           \
  X(GO_LABEL, LABEL, OWN_GO, "")                                       \
  X(PROCS_CHANGE, METRIC, NONE, "/sched/gomaxprocs:threads")           \
  X(HEAP_ALLOC, METRIC, NONE, "/memory/classes/heap/objects:bytes")    \
  X(HEAP_GOAL, METRIC, NONE, "/gc/heap/goal:bytes")                    \
  X(STW_BEGIN, RANGE_BEGIN, OWN_GO, "stop-the-world")                  \
  X(STW_END, RANGE_END, OWN_GO, "stop-the-world")                      \
  X(GC_ACTIVE, RANGE_ACTIVE, NONE, "GC concurrent mark phase")         \
  X(GC_BEGIN, RANGE_BEGIN, NONE, "GC concurrent mark phase")           \
  X(GC_END, RANGE_END, NONE, "GC concurrent mark phase")               \
  X(GC_SWEEP_ACTIVE, RANGE_ACTIVE, NAMED_PROC, "GC incremental sweep") \
  X(GC_SWEEP_BEGIN, RANGE_BEGIN, OWN_PROC, "GC incremental sweep")     \
  X(GC_SWEEP_END, RANGE_END, OWN_PROC, "GC incremental sweep")         \
  X(GC_MARK_ASSIST_ACTIVE, RANGE_ACTIVE, NAMED_GO, "GC mark assist")   \
  X(GC_MARK_ASSIST_BEGIN, RANGE_BEGIN, OWN_GO, "GC mark assist")       \
  X(GC_MARK_ASSIST_END, RANGE_END, OWN_GO, "GC mark assist")           \
  X(USER_TASK_BEGIN, TASK_BEGIN, NONE, "")                             \
  X(USER_TASK_END, TASK_END, NONE, "")                                 \
  X(USER_REGION_BEGIN, REGION_BEGIN, OWN_GO, "")                       \
  X(USER_REGION_END, REGION_END, OWN_GO, "")                           \
  X(USER_LOG, LOG, OWN_GO, "")                                         \
  X(CPU_SAMPLE, SAMPLE, NONE, "")                                      \
  X(SYNC, SYNC, NONE, "")

/* The transitions of v1, by which its events are put in order and checked: X(event, the event that stands for it from
 * then on, what it does, status from, to, its sequence number). Go: stateTransition, parseEvents, postProcessTrace. */
#define GOTRACE__V1_NO_GO(X, NAME, does, sequence) X(NAME, NAME, does, DEAD, DEAD, sequence) /* of no goroutine */
#define GOTRACE__V1_TRANSITIONS(X)                                           \
  X(GO_CREATE, GO_CREATE, CREATES, DEAD, RUNNABLE, ZERO)                     \
  X(GO_WAITING, GO_WAITING, EXISTS, RUNNABLE, WAITING, ONE)                  \
  X(GO_IN_SYSCALL, GO_IN_SYSCALL, EXISTS, RUNNABLE, WAITING, ONE)            \
  X(GO_START, GO_START, STARTS, RUNNABLE, RUNNING, ARG1)                     \
  X(GO_START_LABEL, GO_START_LABEL, STARTS, RUNNABLE, RUNNING, ARG1)         \
  X(GO_START_LOCAL, GO_START, STARTS_LOCAL, RUNNABLE, RUNNING, ZERO)         \
  X(GO_END, GO_END, ENDS, RUNNING, DEAD, ZERO)                               \
  X(GO_STOP, GO_STOP, ENDS, RUNNING, DEAD, ZERO)                             \
  X(GO_BLOCK, GO_BLOCK, BLOCKS, RUNNING, WAITING, ZERO)                      \
  X(GO_BLOCK_SEND, GO_BLOCK_SEND, BLOCKS, RUNNING, WAITING, ZERO)            \
  X(GO_BLOCK_RECV, GO_BLOCK_RECV, BLOCKS, RUNNING, WAITING, ZERO)            \
  X(GO_BLOCK_SELECT, GO_BLOCK_SELECT, BLOCKS, RUNNING, WAITING, ZERO)        \
  X(GO_BLOCK_SYNC, GO_BLOCK_SYNC, BLOCKS, RUNNING, WAITING, ZERO)            \
  X(GO_BLOCK_COND, GO_BLOCK_COND, BLOCKS, RUNNING, WAITING, ZERO)            \
  X(GO_BLOCK_NET, GO_BLOCK_NET, BLOCKS, RUNNING, WAITING, ZERO)              \
  X(GO_BLOCK_GC, GO_BLOCK_GC, BLOCKS, RUNNING, WAITING, ZERO)                \
  X(GO_SLEEP, GO_SLEEP, BLOCKS, RUNNING, WAITING, ZERO)                      \
  X(GO_SYS_BLOCK, GO_SYS_BLOCK, BLOCKS, RUNNING, WAITING, ZERO)              \
  X(GO_SCHED, GO_SCHED, BLOCKS, RUNNING, RUNNABLE, ZERO)                     \
  X(GO_PREEMPT, GO_PREEMPT, BLOCKS, RUNNING, RUNNABLE, ZERO)                 \
  X(GO_SYS_CALL, GO_SYS_CALL, CALLS, RUNNING, RUNNING, ZERO)                 \
  X(GO_UNBLOCK, GO_UNBLOCK, UNBLOCKS, WAITING, RUNNABLE, ARG1)               \
  X(GO_UNBLOCK_LOCAL, GO_UNBLOCK, UNBLOCKS_LOCAL, WAITING, RUNNABLE, ZERO)   \
  X(GO_SYS_EXIT, GO_SYS_EXIT, RETURNS, WAITING, RUNNABLE, ARG1)              \
  X(GO_SYS_EXIT_LOCAL, GO_SYS_EXIT, UNBLOCKS_LOCAL, WAITING, RUNNABLE, ZERO) \
  GOTRACE__V1_NO_GO(X, GC_START, COLLECTS, ARG0)                             \
  GOTRACE__V1_NO_GO(X, GC_DONE, NOBODYS, ZERO)                               \
  GOTRACE__V1_NO_GO(X, STW_START, NOBODYS, ZERO)                             \
  GOTRACE__V1_NO_GO(X, STW_DONE, NOBODYS, ZERO)

/* The events of v2 that the ordered decoder makes of those of v1: X(event of v1, event of v2, why its goroutine stops).
 * Arguments of the same name have the same value. >>decode-lift has what a row cannot tell. Go: convertEvent in
 * internal/trace/tracev1.go. */
#define GOTRACE__V1_LIFTS(X)                               \
  X(GOMAXPROCS, PROCS_CHANGE, "")                          \
  X(PROC_START, PROC_START, "")                            \
  X(PROC_STOP, PROC_STOP, "")                              \
  X(GC_START, GC_BEGIN, "")                                \
  X(GC_DONE, GC_END, "")                                   \
  X(STW_START, STW_BEGIN, "")                              \
  X(STW_DONE, STW_END, "")                                 \
  X(GC_SWEEP_START, GC_SWEEP_BEGIN, "")                    \
  X(GC_SWEEP_DONE, GC_SWEEP_END, "")                       \
  X(GO_CREATE, GO_CREATE, "")                              \
  X(GO_START, GO_START, "")                                \
  X(GO_START_LABEL, GO_START, "")                          \
  X(GO_END, GO_DESTROY, "")                                \
  X(GO_STOP, GO_BLOCK, "forever")                          \
  X(GO_SCHED, GO_STOP, "runtime.Gosched")                  \
  X(GO_PREEMPT, GO_STOP, "preempted")                      \
  X(GO_SLEEP, GO_BLOCK, "sleep")                           \
  X(GO_BLOCK, GO_BLOCK, "")                                \
  X(GO_BLOCK_SEND, GO_BLOCK, "chan send")                  \
  X(GO_BLOCK_RECV, GO_BLOCK, "chan receive")               \
  X(GO_BLOCK_SELECT, GO_BLOCK, "select")                   \
  X(GO_BLOCK_SYNC, GO_BLOCK, "sync")                       \
  X(GO_BLOCK_COND, GO_BLOCK, "sync.(*Cond).Wait")          \
  X(GO_BLOCK_NET, GO_BLOCK, "network")                     \
  X(GO_BLOCK_GC, GO_BLOCK, "GC mark assist wait for work") \
  X(GO_UNBLOCK, GO_UNBLOCK, "")                            \
  X(GO_SYS_CALL, GO_SYSCALL_BEGIN, "")                     \
  X(GO_SYS_BLOCK, GO_STATUS, "")                           \
  X(GO_SYS_EXIT, GO_SYSCALL_END_BLOCKED, "")               \
  X(GO_WAITING, GO_STATUS, "")                             \
  X(GO_IN_SYSCALL, GO_STATUS, "")                          \
  X(HEAP_ALLOC, HEAP_ALLOC, "")                            \
  X(HEAP_GOAL, HEAP_GOAL, "")                              \
  X(FUTILE_WAKEUP, NONE, "")                               \
  X(GC_MARK_ASSIST_START, GC_MARK_ASSIST_BEGIN, "")        \
  X(GC_MARK_ASSIST_DONE, GC_MARK_ASSIST_END, "")           \
  X(USER_TASK_CREATE, USER_TASK_BEGIN, "")                 \
  X(USER_TASK_END, USER_TASK_END, "")                      \
  X(USER_REGION, USER_REGION_BEGIN, "")                    \
  X(USER_LOG, USER_LOG, "")                                \
  X(CPU_SAMPLE, CPU_SAMPLE, "")

/* What the words of the tables mean: context, goroutine and effect of v2; in v1 combined, see >>decode-rules. */
enum {
  GOTRACE__R_NONE = 0,
  GOTRACE__R_NEEDS_NONE = 0,
  GOTRACE__R_NEW = 0,
  /* Its goroutine, whose status must be `from` and becomes `to`: */
  GOTRACE__R_NAMED = 1 << 0,  /* the one that args[0] names; v2: args[1] must be its next sequence number */
  GOTRACE__R_OWN = 1 << 1,    /* the one on which the event happens */
  GOTRACE__R_STARTS = 1 << 2, /* it runs here from now on */
  GOTRACE__R_LEAVES = 1 << 3, /* none runs here from now on */
  /* v2: */
  GOTRACE__R_NEEDS_M = 1 << 4, /* must happen on a thread, */
  GOTRACE__R_NEEDS_P = 1 << 5, /* that has a proc, */
  GOTRACE__R_NEEDS_G = 1 << 6, /* that runs a goroutine */
  GOTRACE__R_NEEDS_PG = GOTRACE__R_NEEDS_P | GOTRACE__R_NEEDS_G,
  GOTRACE__R_ENTERS = 1 << 7,  /* the thread's proc enters a system call; args[0] must be its next sequence number */
  GOTRACE__R_RETURNS = 1 << 8, /* the thread's proc returns from a system call */
  /* v1, order: */
  GOTRACE__R_COUNTED = 1 << 9, /* needs a sequence number of the goroutine */
  GOTRACE__R_COUNTS = 1 << 10, /* increments it */
  GOTRACE__R_GC = 1 << 11,     /* needs and increments the sequence number of collections */
  /* v1, the goroutine on which the event happens: */
  GOTRACE__R_TELLS = 1 << 12,   /* args[0] names it; otherwise it is the one that the proc runs, */
  GOTRACE__R_NOBODYS = 1 << 13, /* or none */
  /* v1, checked once the order is known: */
  GOTRACE__R_STATUS = 1 << 14, /* its status must be `from` and becomes `to` */
  GOTRACE__R_RUNS = 1 << 15    /* it must run on the proc */
};
#if !GOTRACE_DISABLE

/* ----------------------------------------------------------------------------------------------- >>platform ---- */

#if GOTRACE__GNU
#define GOTRACE__FLATTEN __attribute__((__flatten__)) /* inlines everything it calls, except for NOINLINE functions */
#define GOTRACE__ALIGNED(size) __attribute__((__aligned__(size)))
#define GOTRACE__ALIGNOF(type) __alignof__(type)
#elif defined(_WIN32) && (defined(_M_X64) || defined(__x86_64__))
#define GOTRACE__FLATTEN
#define GOTRACE__ALIGNED(size) __declspec(align(size))
#define GOTRACE__ALIGNOF(type) __alignof(type)
#else
#error "gotrace: the implementation needs GCC or Clang (MinGW and clang-cl are), or MSVC for x64"
#endif

GOTRACE__FN void gotrace__exit(void);
GOTRACE__FN void gotrace__end_use(bool unloaded);
GOTRACE__FN bool gotrace__sink_waits(void);
#if !GOTRACE_NO_THREADS
#if defined(__PIC__) && !defined(__PIE__) && !defined(_WIN32)
#define GOTRACE__UNLOADS /* built for a library, which may be loaded and unloaded many times */
GOTRACE__FN void gotrace__free_all(void);
#endif
GOTRACE__FN bool gotrace__thread_gone(void *thread);
GOTRACE__FN void gotrace__service(void);
#endif
#if !defined(_WIN32)
GOTRACE__FN void gotrace__before_fork(void);
GOTRACE__FN void gotrace__after_fork(void);
GOTRACE__FN void gotrace__after_fork_in_child(void);
#endif

/* In a library loaded late, a thread's first access to a thread-local would allocate, which gotrace_cpu_sample must
 * not. Only glibc reliably reserves room for the alternative (the initial-exec model). */
#if defined(__GLIBC__) && !GOTRACE_NO_THREADS
#define GOTRACE__TLS_MODEL __attribute__((__tls_model__("initial-exec")))
#else
#define GOTRACE__TLS_MODEL
#endif

/* A test may provide everything up to "systems": tests/explore/platform.h does. */
#ifdef GOTRACE__PLATFORM
#include GOTRACE__PLATFORM
#else

/* Atomics: the name gives the memory order. */
#if GOTRACE__GNU
#define gotrace__load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define gotrace__load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define gotrace__load_seq_cst(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define gotrace__store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define gotrace__store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define gotrace__store_seq_cst(p, v) __atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define gotrace__add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define gotrace__exchange_acq_rel(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define gotrace__cas_seq_cst(p, expected, desired) \
  __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE)
#define gotrace__cas_acq_rel(p, expected, desired) \
  __atomic_compare_exchange_n(p, expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
#define gotrace__fence_seq_cst() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define gotrace__signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST) /* orders a thread and its signal handlers */
#else
/* MSVC for x64: the processor keeps the order of loads and that of stores, and the compiler, with /volatile:ms, its
 * default, that of accesses to volatile objects. In C it needs Visual Studio 2022 17.9, for __typeof__. */
#include <intrin.h>
#if defined(__cplusplus)
extern "C++" {
template <typename T> struct gotrace__type_of;
template <typename T> struct gotrace__type_of<T &> { typedef T type; };
template <typename T> struct gotrace__type_of<volatile T &> { typedef T type; };
}
#define GOTRACE__TYPE(p) gotrace__type_of<decltype(*(p))>::type
#else
#define GOTRACE__TYPE(p) __typeof__(*(p))
#endif
#define gotrace__load_relaxed(p) (*(const volatile GOTRACE__TYPE(p) *)(p))
#define gotrace__load_acquire gotrace__load_relaxed
#define gotrace__load_seq_cst gotrace__load_relaxed
#define gotrace__store_relaxed(p, v) ((void)(*(volatile GOTRACE__TYPE(p) *)(p) = (GOTRACE__TYPE(p))(v)))
#define gotrace__store_release gotrace__store_relaxed
#define gotrace__store_seq_cst(p, v) (gotrace__store_relaxed(p, v), gotrace__fence_seq_cst())
#define gotrace__add_relaxed(p, v) ((GOTRACE__TYPE(p))gotrace__interlocked_add(p, v, sizeof *(p)))
#define gotrace__exchange_acq_rel(p, v) ((uint8_t)_InterlockedExchange8((volatile char *)(p), (char)(v)))
#define gotrace__cas_seq_cst(p, expected, desired) gotrace__interlocked_cas(p, expected, desired, sizeof *(p))
#define gotrace__cas_acq_rel gotrace__cas_seq_cst
#define gotrace__fence_seq_cst() _mm_mfence()
#define gotrace__signal_fence() _ReadWriteBarrier()
GOTRACE__FN uint64_t gotrace__interlocked_add(volatile void *p, uint64_t v, size_t size) {
  if (size == 4) return (uint32_t)_InterlockedExchangeAdd((volatile long *)p, (long)v);
  return (uint64_t)_InterlockedExchangeAdd64((volatile long long *)p, (long long)v);
}
GOTRACE__FN bool gotrace__interlocked_cas(volatile void *p, void *expected, uint64_t desired, size_t size) {
  if (size == 4) {
    long *value = (long *)expected, before = *value;
    return (*value = _InterlockedCompareExchange((volatile long *)p, (long)desired, before)) == before;
  } else {
    long long *value = (long long *)expected, before = *value;
    return (*value = _InterlockedCompareExchange64((volatile long long *)p, (long long)desired, before)) == before;
  }
}
#endif

/* A counter that is written only by the calling thread or by the holder of a lock. */
#define gotrace__count(counter, n) gotrace__store_relaxed(counter, gotrace__load_relaxed(counter) + (n))

#define gotrace__identity() ((uintptr_t)&gotrace__self) /* unique among the live threads */

/* Whether a call's flag is a sequentially consistent store (GOTRACE_SEQ_CST_FLAG, see >>options). The alternative, a
 * relaxed store, is correct only with a barrier through which the end of a trace passes every thread. */
#if defined(__SANITIZE_THREAD__)
#define GOTRACE__TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GOTRACE__TSAN 1
#endif
#endif
#if !defined(GOTRACE_SEQ_CST_FLAG)
#if defined(GOTRACE__TSAN) || GOTRACE_NO_THREADS || !(defined(__linux__) || defined(_WIN32))
#define GOTRACE_SEQ_CST_FLAG 1
#else
#define GOTRACE_SEQ_CST_FLAG 0
#endif
#endif

/* GOTRACE__TICKS(): the clock. GOTRACE_TICK_DIV: its ticks per tick of a record. Fast counters get Go's divisors, so
 * that a record's tick is 16 to 64 ns. Slow counters get 1. */
#if !GOTRACE_MONOTONIC_CLOCK && !GOTRACE__GNU
#define GOTRACE__TICKS() __rdtsc()
#define GOTRACE__TICK_DIV GOTRACE_TICK_DIV_X86
#elif !GOTRACE_MONOTONIC_CLOCK && (defined(__x86_64__) || defined(__i386__))
#define GOTRACE__TICKS() __builtin_ia32_rdtsc()
#define GOTRACE__TICK_DIV GOTRACE_TICK_DIV_X86
#elif !GOTRACE_MONOTONIC_CLOCK && defined(__powerpc64__)
#define GOTRACE__TICKS() __builtin_ppc_get_timebase() /* 512 MHz: Power ISA 2.07, 6.2 */
#define GOTRACE__TICK_DIV GOTRACE_TICK_DIV_PPC64
#elif !GOTRACE_MONOTONIC_CLOCK && defined(__aarch64__)
#define GOTRACE__READ_TICKS "mrs %0, cntvct_el0" : "=r"(ticks) /* 24 MHz to 1 GHz */
#define GOTRACE__TICK_DIV 1
#elif !GOTRACE_MONOTONIC_CLOCK && defined(__riscv) && __riscv_xlen == 64
#define GOTRACE__READ_TICKS "rdtime %0" : "=r"(ticks) /* 1 to 100 MHz */
#define GOTRACE__TICK_DIV 1
#elif !GOTRACE_MONOTONIC_CLOCK && defined(__s390x__)
#define GOTRACE__READ_TICKS "stckf %0" : "=Q"(ticks) : : "cc" /* bit 51 is a microsecond: 4,096 MHz */
#define GOTRACE__TICK_DIV 128
#else
#define GOTRACE__TICKS() gotrace__nanoseconds()
#define GOTRACE__TICK_DIV 32
#endif
#if defined(GOTRACE__READ_TICKS)
GOTRACE__FN inline uint64_t gotrace__read_ticks(void) {
  uint64_t ticks;
  __asm__ volatile(GOTRACE__READ_TICKS);
  return ticks;
}
#define GOTRACE__TICKS() gotrace__read_ticks()
#endif
#ifndef GOTRACE_TICK_DIV
#define GOTRACE_TICK_DIV GOTRACE__TICK_DIV
#endif
#if GOTRACE_TICK_DIV < 1 || GOTRACE_TICK_DIV > 1024
#error "gotrace: GOTRACE_TICK_DIV must be 1 to 1024"
#endif

/* Each system provides:
 *   gotrace__nanoseconds()            monotonic clock
 *   gotrace__wall_clock()             time since 1970, UTC
 *   gotrace__process_id()             process id
 *   gotrace__mutex, _lock, _unlock    a non-recursive lock; GOTRACE__MUTEX initializes it, also after a fork
 *   gotrace__cond, _init, _wait, _wake
 *                                     _wait waits at most that many milliseconds, with the mutex held before and after.
 *                                     If the waiting thread is cancelled, it runs the given function with the mutex
 *                                     held, which unlocks it. _wake wakes all.
 *                                     GOTRACE_NO_THREADS: no mutex is locked, and _wait waits for a millisecond
 *   gotrace__yield()                  lets another thread run
 *   gotrace__sleep()                  sleeps for a millisecond
 *   gotrace__thread_run, _join        the service thread, with all signals blocked
 *   gotrace__low_priority()           of the calling thread, as far as the system has priorities of threads
 *   gotrace__block_signals(), _unblock_signals
 *                                     of the calling thread, but not those that its code raises; _blocks_signals():
 *                                     whether it has. Nothing where handlers do not interrupt a thread
 *   gotrace__barrier_init()           false if there is no process-wide barrier
 *   gotrace__barrier()                on return every thread has passed a full memory barrier; false if it failed
 *   gotrace__at_thread_exit(argument) gotrace__thread_gone(argument) runs when the calling thread ends, up to
 *                                     GOTRACE__ROUNDS times if the thread is given other arguments then
 *   gotrace__system_thread_id/_name   of the calling thread
 *   gotrace__stack_bounds             of the calling thread; false if unknown
 *   gotrace__alternate_stack          the bounds of the thread's alternate signal stack; false: it has none
 *   gotrace__is_privileged()          the program has privileges that whoever started it lacks, as by setuid
 *   gotrace__file, gotrace__file_*    unbuffered files; false and errno on failure. The descriptor is above 2. If the
 *                                     program has closed it, each call fails with EBADF, even if another file has got
 *                                     its number. _open opens a file for writing, with its contents, and locks it
 *                                     against other tracers; flags: GOTRACE__CREATE, GOTRACE__NOFOLLOW, GOTRACE__NOWAIT
 *                                     (a pipe without a reader: ENXIO; see `patience`). _create opens a new file.
 *                                     _ask makes writes that wait call gotrace__sink_waits, if the service thread
 *                                     could keep a process alive. _remove removes one. _discard closes a file, and
 *                                     removes it if _open created it. _replace renames a file to the path of an open
 *                                     one, or to a path without a file (number -1). _write raises no signal
 *   gotrace__symbol()                 the function at an address. If GOTRACE__ELF is defined, instead of this:
 *                                     gotrace__file_open_to_read, _read_some (0: failed or at the end)
 *   gotrace__at_process_exit()        gotrace__exit() runs when the process ends by exit() or the library is unloaded
 *   gotrace__threads_after_main()     number of threads, with the main thread, if that has ended; 0: not, or unknown
 *   gotrace__map_pages, _unmap_pages  whole pages of zeroed memory; NULL: none
 *   gotrace__cancel_off, _restore     disables cancellation of the calling thread; returns the previous state
 */

#if defined(_WIN32)

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#include <fcntl.h>
#include <io.h>
#include <share.h>
#include <sys/stat.h>

typedef SRWLOCK gotrace__mutex;
typedef CONDITION_VARIABLE gotrace__cond;
typedef HANDLE gotrace__thread_handle;
#define GOTRACE__MUTEX SRWLOCK_INIT
#if !GOTRACE__GNU
#define GOTRACE__THREAD_LOCAL __declspec(thread)
#else
#define GOTRACE__THREAD_LOCAL __thread
#endif

GOTRACE__FN uint64_t gotrace__nanoseconds(void) {
  static LARGE_INTEGER frequency; /* all threads store the same value */
  LARGE_INTEGER now;
  if (!frequency.QuadPart) QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&now);
  return (uint64_t)((double)now.QuadPart * 1e9 / (double)frequency.QuadPart);
}
GOTRACE__FN unsigned long gotrace__process_id(void) { return GetCurrentProcessId(); }
GOTRACE__FN void gotrace__wall_clock(uint64_t *seconds, uint32_t *nanoseconds) {
  FILETIME now; /* 100 ns since 1601 */
  uint64_t units;
  GetSystemTimeAsFileTime(&now);
  units = ((uint64_t)now.dwHighDateTime << 32 | now.dwLowDateTime) - 116444736000000000u;
  *seconds = units / 10000000;
  *nanoseconds = (uint32_t)(units % 10000000 * 100);
}
GOTRACE__FN void gotrace__mutex_lock(gotrace__mutex *mutex) { AcquireSRWLockExclusive(mutex); }
GOTRACE__FN void gotrace__mutex_unlock(gotrace__mutex *mutex) { ReleaseSRWLockExclusive(mutex); }
GOTRACE__FN void gotrace__cond_wait(gotrace__cond *cond, gotrace__mutex *mutex, uint64_t milliseconds,
                                    void (*cancelled)(void *mutex)) {
  (void)cancelled;
  if (GOTRACE_NO_THREADS) Sleep(1);
  else SleepConditionVariableSRW(cond, mutex, (DWORD)milliseconds, 0);
}
GOTRACE__FN void gotrace__cond_wake(gotrace__cond *cond) { WakeAllConditionVariable(cond); }
GOTRACE__FN void gotrace__cond_init(gotrace__cond *cond) { InitializeConditionVariable(cond); }
GOTRACE__FN void gotrace__yield(void) { SwitchToThread(); }
GOTRACE__FN void gotrace__sleep(void) { Sleep(1); }
#ifndef GOTRACE_MALLOC
GOTRACE__FN void *gotrace__map_pages(size_t size) {
  return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}
GOTRACE__FN void gotrace__unmap_pages(void *memory, size_t size) { (void)size, VirtualFree(memory, 0, MEM_RELEASE); }
#endif
GOTRACE__FN int gotrace__cancel_off(void) { return 0; }
GOTRACE__FN void gotrace__cancel_restore(int before) { (void)before; }
#if !GOTRACE_NO_THREADS
GOTRACE__FN long gotrace__threads_after_main(void) { return 0; } /* a process ends when main returns */
GOTRACE__FN void gotrace__thread_detach(gotrace__thread_handle handle) { CloseHandle(handle); }
/* In a library, functions given to atexit run after the system has ended all other threads. */
GOTRACE__FN bool gotrace__thread_lives(gotrace__thread_handle handle) {
  return WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
}
GOTRACE__FN void gotrace__low_priority(void) { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_BELOW_NORMAL); }
GOTRACE__FN DWORD WINAPI gotrace__thread_main(void *unused) {
  (void)unused;
  gotrace__service();
  return 0;
}
GOTRACE__FN bool gotrace__thread_run(gotrace__thread_handle *handle) {
  *handle = CreateThread(NULL, 0, gotrace__thread_main, NULL, 0, NULL);
  return *handle != NULL;
}
GOTRACE__FN void gotrace__thread_join(gotrace__thread_handle handle) {
  WaitForSingleObject(handle, INFINITE);
  CloseHandle(handle);
}
#endif
#if !GOTRACE_SEQ_CST_FLAG
GOTRACE__FN bool gotrace__barrier_init(void) { return true; }
GOTRACE__FN bool gotrace__barrier(void) { return FlushProcessWriteBuffers(), true; }
#endif
#if GOTRACE_NO_THREADS
GOTRACE__FN void gotrace__platform_init(void) {}
GOTRACE__FN void gotrace__at_thread_exit(void *thread) { (void)thread; }
#else
/* A TLS callback of the program or DLL, in the loader's list. Not a fiber's slot (FlsAlloc): it would report the end of
 * a fiber, on whatever thread deletes it. The record is in a slot of the system: MinGW's own thread-locals, with POSIX
 * threads, are gone when the callback runs. */
#define GOTRACE__ROUNDS 1
static DWORD gotrace__exit_slot = TLS_OUT_OF_INDEXES;
GOTRACE__FN void gotrace__at_thread_exit(void *thread) { TlsSetValue(gotrace__exit_slot, thread); }
GOTRACE__FN void NTAPI gotrace__exit_callback(void *module, DWORD reason, void *reserved) {
  void *thread = reason == DLL_THREAD_DETACH ? TlsGetValue(gotrace__exit_slot) : NULL;
  (void)module;
  if (thread) (void)gotrace__thread_gone(thread);
  if (reason == DLL_PROCESS_DETACH && !reserved) TlsFree(gotrace__exit_slot); /* a DLL is unloaded */
}
#if !GOTRACE__GNU
#pragma comment(linker, "/INCLUDE:_tls_used")
#pragma section(".CRT$XLB", long, read)
__declspec(allocate(".CRT$XLB"))
#else
__attribute__((__section__(".CRT$XLB"), __used__))
#endif
    static PIMAGE_TLS_CALLBACK volatile gotrace__exit_entry = gotrace__exit_callback;
GOTRACE__FN void gotrace__platform_init(void) {
  (void)gotrace__exit_entry; /* otherwise MSVC might leave it out */
  gotrace__exit_slot = TlsAlloc();
}
#endif
GOTRACE__FN uint64_t gotrace__system_thread_id(void) { return GetCurrentThreadId(); }
GOTRACE__FN void gotrace__system_thread_name(char *name, size_t size) { snprintf(name, size, "thread"); }
GOTRACE__FN bool gotrace__stack_bounds(uintptr_t *low, uintptr_t *high) { return (void)low, (void)high, false; }
GOTRACE__FN bool gotrace__alternate_stack(uintptr_t *low, uintptr_t *high) { return (void)low, (void)high, false; }
GOTRACE__FN bool gotrace__main_stack(uintptr_t *low, uintptr_t *high) { return (void)low, (void)high, false; }
#define gotrace__block_signals() ((void)0)
#define gotrace__unblock_signals() ((void)0)
#define gotrace__blocks_signals() false
GOTRACE__FN bool gotrace__is_privileged(void) { return false; }

/* Share modes are the locks: others can read the file, but neither write nor replace it. */
typedef struct gotrace__file {
  int number; /* -1: none */
  bool made;  /* it did not exist before */
  bool regular;
  uint32_t patience; /* unused: no flags */
} gotrace__file;
#define GOTRACE__CREATE _O_CREAT
#define GOTRACE__NOFOLLOW 0
#define GOTRACE__NOWAIT 0
/* A path in UTF-8; in the system's code page, as the environment and main's arguments are, if it is not UTF-8. */
enum { GOTRACE__WIDE = 4096 + 64 };
GOTRACE__FN bool gotrace__wide(const char *path, wchar_t *wide) {
  if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, GOTRACE__WIDE) > 0 ||
      MultiByteToWideChar(CP_ACP, 0, path, -1, wide, GOTRACE__WIDE) > 0)
    return true;
  errno = ENAMETOOLONG;
  return false;
}
GOTRACE__FN bool gotrace__file_take(gotrace__file *file, const char *path, int flags) {
  wchar_t wide[GOTRACE__WIDE];
  file->number = -1;
  if (gotrace__wide(path, wide))
    file->number = _wsopen(wide, _O_WRONLY | _O_BINARY | flags, _SH_DENYWR, _S_IREAD | _S_IWRITE);
  file->regular = file->number >= 0 && GetFileType((HANDLE)_get_osfhandle(file->number)) == FILE_TYPE_DISK;
  return file->number >= 0;
}
GOTRACE__FN bool gotrace__file_open(const char *path, int flags, gotrace__file *file) {
  file->made = !gotrace__file_take(file, path, 0) && errno == ENOENT && flags;
  return file->made ? gotrace__file_take(file, path, flags) : file->number >= 0;
}
GOTRACE__FN bool gotrace__file_create(const char *path, gotrace__file *file) {
  return gotrace__file_take(file, path, _O_CREAT | _O_EXCL);
}
GOTRACE__FN bool gotrace__file_close(gotrace__file *file) {
  int number = file->number;
  file->number = -1;
  return _close(number) == 0;
}
GOTRACE__FN void gotrace__file_remove(const char *path) {
  wchar_t wide[GOTRACE__WIDE];
  if (gotrace__wide(path, wide)) _wremove(wide);
}
GOTRACE__FN void gotrace__file_discard(gotrace__file *file, const char *path) {
  bool made = file->made;
  gotrace__file_close(file); /* no open file can be removed */
  if (made) gotrace__file_remove(path);
}
GOTRACE__FN bool gotrace__file_replace(gotrace__file *old, const char *from, const char *to) {
  DWORD flags = old->number >= 0 ? MOVEFILE_REPLACE_EXISTING : 0;
  wchar_t wide_from[GOTRACE__WIDE], wide_to[GOTRACE__WIDE];
  if (!gotrace__wide(from, wide_from) || !gotrace__wide(to, wide_to)) return false;
  if (flags) gotrace__file_close(old); /* no open file can be replaced */
  return MoveFileExW(wide_from, wide_to, flags) || (errno = EACCES, false);
}
GOTRACE__FN void gotrace__file_ask(gotrace__file *file) { (void)file, (void)gotrace__sink_waits; }
GOTRACE__FN bool gotrace__file_write(gotrace__file *file, const void *data, size_t size) {
  const char *at = (const char *)data;
  while (size) {
    int n = _write(file->number, at, size < 1 << 20 ? (unsigned)size : 1u << 20);
    if (n <= 0) return false;
    at += n, size -= (size_t)n;
  }
  return true;
}
GOTRACE__FN bool gotrace__file_truncate(gotrace__file *file, uint64_t size) {
  return _chsize_s(file->number, (long long)size) == 0 || !file->regular;
}
GOTRACE__FN bool gotrace__file_seek(gotrace__file *file, int offset) {
  return _lseeki64(file->number, offset, SEEK_SET) == offset;
}

#else /* POSIX */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <link.h>
#include <sys/syscall.h>
#else
#if defined(__APPLE__)
#include <dlfcn.h>
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif
#if !defined(CLOCK_MONOTONIC) || !defined(O_CLOEXEC)
#error "gotrace: the C library hides POSIX: use -std=gnu11, or define _POSIX_C_SOURCE=200809L before any #include"
#endif
#endif

/* Linux: the C library's declarations depend on the language standard and on the macros defined when the program
 * included the first header. Functions that may be hidden are declared here by other names, for the same symbols. */
#if defined(__linux__)
#define GOTRACE__C(name) gotrace__libc_##name
#define GOTRACE__LIBC(type, name, parameters) extern type gotrace__libc_##name parameters __asm__(#name)
#define GOTRACE__LIBC_AS(type, name, parameters, symbol) extern type gotrace__libc_##name parameters __asm__(symbol)
#if defined(__GLIBC__)
#define GOTRACE__LIBC_64(type, name, parameters) extern type gotrace__libc_##name parameters __asm__(#name "64")
#else
#define GOTRACE__LIBC_64 GOTRACE__LIBC
#endif
typedef struct gotrace__sigset {
  unsigned long words[1024 / (8 * sizeof(unsigned long))];
} gotrace__sigset;
typedef struct gotrace__sigset_saved { /* what the kernel has of it; thread-locals are scarce */
  unsigned long words[128 / (8 * sizeof(unsigned long))];
} gotrace__sigset_saved;
typedef struct gotrace__signal_stack { /* stack_t */
  void *ss_sp;
#if defined(__mips__)
  size_t ss_size;
  int ss_flags;
#else
  int ss_flags;
  size_t ss_size;
#endif
} gotrace__signal_stack;
typedef ElfW(Phdr) gotrace__segment;
typedef ElfW(Dyn) gotrace__dynamic;
typedef ElfW(Sym) gotrace__elf_symbol;
typedef ElfW(Ehdr) gotrace__elf_head;
typedef ElfW(Shdr) gotrace__elf_section;
typedef struct gotrace__module { /* the first members of struct dl_phdr_info */
  uintptr_t base;
  const char *path; /* empty: the program itself */
  const gotrace__segment *segments;
  uint16_t segment_count;
  unsigned long long loads, unloads; /* of all modules, so far; old C libraries do not have them */
} gotrace__module;
GOTRACE__LIBC(long, syscall, (long number, ...));
GOTRACE__LIBC(int, dl_iterate_phdr,
              (int (*visit)(gotrace__module *module, size_t size, void *argument), void *argument));
GOTRACE__LIBC_64(long, pread, (int file, void *buffer, size_t size, long long offset));
GOTRACE__LIBC_64(int, ftruncate, (int file, long long size));
GOTRACE__LIBC_64(long long, lseek, (int file, long long offset, int from));
GOTRACE__LIBC(long, readlink, (const char *path, char *target, size_t size));
GOTRACE__LIBC(void *, dlsym, (void *library, const char *name));
GOTRACE__LIBC(char *, dlerror, (void));
GOTRACE__LIBC(unsigned long, getauxval, (unsigned long type));
GOTRACE__LIBC(int, sigaltstack, (const gotrace__signal_stack *, gotrace__signal_stack *));
GOTRACE__LIBC(int, sigfillset, (gotrace__sigset *));
GOTRACE__LIBC(int, sigemptyset, (gotrace__sigset *));
GOTRACE__LIBC(int, sigaddset, (gotrace__sigset *, int signal));
GOTRACE__LIBC(int, sigdelset, (gotrace__sigset *, int signal));
GOTRACE__LIBC(int, sigismember, (const gotrace__sigset *, int signal));
GOTRACE__LIBC(int, sigpending, (gotrace__sigset *));
GOTRACE__LIBC(int, sigtimedwait, (const gotrace__sigset *, void *info, const struct timespec *limit));
GOTRACE__LIBC(int, pthread_sigmask, (int how, const gotrace__sigset *set, gotrace__sigset *old));
GOTRACE__LIBC(int, pthread_condattr_setclock, (pthread_condattr_t *, int));
GOTRACE__LIBC(int, pthread_getname_np, (pthread_t thread, char *name, size_t size));
GOTRACE__LIBC(int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *attributes));
GOTRACE__LIBC(int, pthread_attr_getstack, (const pthread_attr_t *attributes, void **address, size_t *size));
#if defined(CLOCK_MONOTONIC)
#define gotrace__libc_clock_gettime clock_gettime
#elif defined(__USE_TIME64_REDIRECTS) || defined(_REDIR_TIME64) || \
    (defined(__USE_TIME_BITS64) && defined(__TIMESIZE) && __TIMESIZE == 32)
GOTRACE__LIBC_AS(int, clock_gettime, (int clock, struct timespec *now), "__clock_gettime64");
#else
GOTRACE__LIBC(int, clock_gettime, (int clock, struct timespec *now));
#endif
enum { GOTRACE__REALTIME = 0, GOTRACE__MONOTONIC = 1 };
#if defined(REG_RIP) && defined(__x86_64__) && !defined(__ILP32__) /* for gotrace_cpu_sample */
GOTRACE__STATIC_ASSERT(offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == (5 + 16) * 8, rip);
GOTRACE__STATIC_ASSERT(offsetof(ucontext_t, uc_mcontext.gregs[REG_RBP]) == (5 + 10) * 8, rbp);
#elif defined(__USE_MISC) && defined(__aarch64__)
GOTRACE__STATIC_ASSERT(offsetof(ucontext_t, uc_mcontext.pc) == (23 + 32) * 8, pc);
GOTRACE__STATIC_ASSERT(offsetof(ucontext_t, uc_mcontext.regs[29]) == (23 + 29) * 8, frame);
#endif
#if defined(__mips__) || defined(__alpha__)
enum { GOTRACE__BLOCK = 1, GOTRACE__SETMASK = 3 };
#elif defined(__sparc__)
enum { GOTRACE__BLOCK = 1, GOTRACE__SETMASK = 4 };
#else
enum { GOTRACE__BLOCK = 0, GOTRACE__SETMASK = 2 };
#endif
#if defined(O_CLOEXEC) && defined(O_NOFOLLOW)
enum { GOTRACE__CLOEXEC = O_CLOEXEC, GOTRACE__NOFOLLOW = O_NOFOLLOW };
#else
enum { GOTRACE__CLOEXEC = __O_CLOEXEC, GOTRACE__NOFOLLOW = __O_NOFOLLOW };
#endif
enum { GOTRACE__DUPFD_CLOEXEC = 1030, GOTRACE__SS_DISABLE = 2 };
#if defined(O_LARGEFILE)
enum { GOTRACE__LARGEFILE = O_LARGEFILE };
#elif defined(__O_LARGEFILE)
enum { GOTRACE__LARGEFILE = __O_LARGEFILE };
#else
enum { GOTRACE__LARGEFILE = 0 };
#endif
#else
#define GOTRACE__C(name) name
typedef sigset_t gotrace__sigset, gotrace__sigset_saved;
#define GOTRACE__REALTIME CLOCK_REALTIME
#define GOTRACE__MONOTONIC CLOCK_MONOTONIC
#define GOTRACE__BLOCK SIG_BLOCK
#define GOTRACE__SETMASK SIG_SETMASK
#define GOTRACE__CLOEXEC O_CLOEXEC
#define GOTRACE__NOFOLLOW O_NOFOLLOW
#define GOTRACE__DUPFD_CLOEXEC F_DUPFD_CLOEXEC
#define GOTRACE__SS_DISABLE SS_DISABLE
#define GOTRACE__LARGEFILE 0
extern int issetugid(void); /* hidden by _POSIX_C_SOURCE */
#endif

typedef pthread_mutex_t gotrace__mutex;
typedef pthread_cond_t gotrace__cond;
typedef pthread_t gotrace__thread_handle;
#define GOTRACE__MUTEX PTHREAD_MUTEX_INITIALIZER
#define GOTRACE__THREAD_LOCAL __thread

GOTRACE__FN uint64_t gotrace__nanoseconds(void) {
  struct timespec now;
  GOTRACE__C(clock_gettime)(GOTRACE__MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

GOTRACE__FN unsigned long gotrace__process_id(void) { return (unsigned long)getpid(); }
GOTRACE__FN void gotrace__wall_clock(uint64_t *seconds, uint32_t *nanoseconds) {
  struct timespec now;
  GOTRACE__C(clock_gettime)(GOTRACE__REALTIME, &now);
  *seconds = (uint64_t)now.tv_sec;
  *nanoseconds = (uint32_t)now.tv_nsec;
}

#ifndef GOTRACE_MALLOC
#ifdef MAP_ANONYMOUS
#define GOTRACE__MAP_ANONYMOUS MAP_ANONYMOUS
#elif defined(MAP_ANON)
#define GOTRACE__MAP_ANONYMOUS MAP_ANON
#elif defined(__mips__) || defined(__xtensa__) /* asm/mman.h: the C library hides it without feature macros */
#define GOTRACE__MAP_ANONYMOUS 0x800
#elif defined(__alpha__) || defined(__hppa__)
#define GOTRACE__MAP_ANONYMOUS 0x10
#else
#define GOTRACE__MAP_ANONYMOUS 0x20
#endif
#define GOTRACE__HUGE_PAGE ((size_t)1 << 21)
GOTRACE__FN void *gotrace__map_pages(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | GOTRACE__MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
  if (size >= GOTRACE__HUGE_PAGE) madvise(memory, size, MADV_HUGEPAGE); /* if the system has any */
#endif
  return memory;
}
GOTRACE__FN void gotrace__unmap_pages(void *memory, size_t size) { munmap(memory, size); }
#endif

#if GOTRACE_NO_THREADS || defined(__ANDROID__) /* Android has no cancellation */
GOTRACE__FN int gotrace__cancel_off(void) { return 0; }
GOTRACE__FN void gotrace__cancel_restore(int before) { (void)before; }
#else
GOTRACE__FN int gotrace__cancel_off(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}
GOTRACE__FN void gotrace__cancel_restore(int before) { pthread_setcancelstate(before, &before); }
#endif

#if defined(__linux__)
GOTRACE__FN bool gotrace__is_privileged(void) { return GOTRACE__C(getauxval)(AT_SECURE) != 0; }
#else
GOTRACE__FN bool gotrace__is_privileged(void) { return issetugid() != 0; }
#endif

/* A program may close descriptors that it does not know, as daemons do, and then open another file with the same
 * number. The number is still the tracer's file if device, inode and, in a regular file, position are. The first two do
 * not suffice, since a new file may get the inode of a removed one. */
typedef struct gotrace__file {
  int number;             /* -1: none */
  bool made;              /* it did not exist before */
  bool regular;           /* it may be removed on failure and can be rewritten from its beginning */
  uint32_t patience;      /* with GOTRACE__NOWAIT: how many milliseconds a write waits while nothing moves */
  bool asks;              /* a write that waits asks gotrace__sink_waits whether to go on */
  uint64_t device, inode; /* 0: unknown */
  long long position;
} gotrace__file;
#define GOTRACE__CREATE O_CREAT
#define GOTRACE__NOWAIT O_NONBLOCK
GOTRACE__FN void gotrace__sleep(void);

/* Whether stat or fstat, which returned `result`, found this file. In a 32-bit program they may fail for a large file.
 */
GOTRACE__FN bool gotrace__file_is(const gotrace__file *file, int result, const struct stat *found) {
  if (result != 0) return errno == EOVERFLOW;
  return !file->inode || (file->device == (uint64_t)found->st_dev && file->inode == (uint64_t)found->st_ino);
}
GOTRACE__FN bool gotrace__file_is_ours(const gotrace__file *file) {
  struct stat found;
  if (gotrace__file_is(file, fstat(file->number, &found), &found) &&
      (!file->regular || GOTRACE__C(lseek)(file->number, 0, SEEK_CUR) == file->position))
    return true;
  errno = EBADF;
  return false;
}

/* Opens a file. The numbers 0 to 2 belong to the program, which may replace them at any time, even if it has none. */
GOTRACE__FN bool gotrace__file_take(gotrace__file *file, const char *path, int flags) {
  struct stat found;
  int low = open(path, flags | GOTRACE__CLOEXEC | GOTRACE__LARGEFILE, 0666), error = errno;
  if (low < 0 && error == ENXIO && stat(path, &found) == 0 && !S_ISFIFO(found.st_mode)) /* no reader is to come */
    error = S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode) ? ENODEV : EOPNOTSUPP;     /* else it is a socket */
  errno = error;
  memset(file, 0, sizeof *file);
  file->number = low >= 0 && low <= 2 ? fcntl(low, GOTRACE__DUPFD_CLOEXEC, 3) : low;
  if (file->number >= 0) {
#if defined(F_SETNOSIGPIPE) /* macOS sends SIGPIPE to the process, not to the thread */
    fcntl(file->number, F_SETNOSIGPIPE, 1);
#endif
    file->position = GOTRACE__C(lseek)(file->number, 0, SEEK_CUR);
    if (fstat(file->number, &found) == 0) {
      file->device = (uint64_t)found.st_dev;
      file->inode = (uint64_t)found.st_ino;
      file->regular = S_ISREG(found.st_mode);
    }
  }
  if (low != file->number && gotrace__file_is(file, fstat(low, &found), &found)) close(low);
  return file->number >= 0;
}

/* In the child of a fork: closes the file, but does not unlock it. Its position is now that of the parent. */
GOTRACE__FN bool gotrace__file_abandon(gotrace__file *file) {
  struct stat found;
  bool ok = gotrace__file_is(file, fstat(file->number, &found), &found) && close(file->number) == 0;
  file->number = -1;
  return ok;
}
GOTRACE__FN bool gotrace__file_close(gotrace__file *file) {
  if (!gotrace__file_is_ours(file)) {
    file->number = -1;
    return false;
  }
  if (file->regular) flock(file->number, LOCK_UN); /* a child that was just forked may still have the file open */
  return gotrace__file_abandon(file);
}

/* flock also excludes another tracer of the same process. On a file system without locks, there is no exclusion. */
GOTRACE__FN bool gotrace__file_open(const char *path, int flags, gotrace__file *file) {
  struct stat found;
  int tries;
  for (tries = 10;; tries--) {
    bool made = !gotrace__file_take(file, path, O_WRONLY | (flags & ~O_CREAT)) && errno == ENOENT && (flags & O_CREAT);
    if (made) gotrace__file_take(file, path, O_WRONLY | flags);
    file->made = made;
    if (!file->regular) return file->number >= 0;
    if (flock(file->number, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      gotrace__file_abandon(file);
      errno = EWOULDBLOCK;
      return false;
    }
    /* Again if another tracer replaced or removed the file before it was locked. Not for ever: inodes may be unstable.
     */
    if (gotrace__file_is(file, stat(path, &found), &found) || !tries) return true;
    gotrace__file_close(file);
  }
}
GOTRACE__FN void gotrace__file_remove(const char *path) { remove(path); }
GOTRACE__FN void gotrace__file_discard(gotrace__file *file, const char *path) {
  if (file->made) gotrace__file_remove(path); /* while it is locked */
  gotrace__file_close(file);
}
GOTRACE__FN bool gotrace__file_create(const char *path, gotrace__file *file) {
  return gotrace__file_take(file, path, O_WRONLY | O_CREAT | O_EXCL);
}
GOTRACE__FN bool gotrace__file_replace(gotrace__file *old, const char *from, const char *to) {
  if (old->number >= 0) return rename(from, to) == 0;
  if (link(from, to) == 0) return unlink(from), true;
  return errno != EEXIST && rename(from, to) == 0; /* there are file systems without links */
}

/* The thread's signals while it holds a lock; the service thread has blocked all of them for good. */
static GOTRACE__THREAD_LOCAL bool gotrace__blocks GOTRACE__TLS_MODEL;
static GOTRACE__THREAD_LOCAL bool gotrace__is_service GOTRACE__TLS_MODEL;
static GOTRACE__THREAD_LOCAL gotrace__sigset_saved gotrace__unblocked GOTRACE__TLS_MODEL;
/* Its own function, like the next one, so that calls do not need stack space for the sets. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__block_signals(void) {
  static const int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
  gotrace__sigset all, before;
  size_t i;
  if (gotrace__is_service || gotrace__blocks) return;
  GOTRACE__C(sigfillset)(&all);
  for (i = 0; i < sizeof raised / sizeof raised[0]; i++) GOTRACE__C(sigdelset)(&all, raised[i]);
  if (GOTRACE__C(pthread_sigmask)(GOTRACE__BLOCK, &all, &before) != 0) return;
  memcpy(&gotrace__unblocked, &before, sizeof gotrace__unblocked);
  gotrace__blocks = true;
}
GOTRACE__FN GOTRACE__NOINLINE void gotrace__unblock_signals(void) {
  gotrace__sigset before;
  if (!gotrace__blocks) return;
  memset(&before, 0, sizeof before);
  memcpy(&before, &gotrace__unblocked, sizeof gotrace__unblocked);
  gotrace__blocks = false;
  GOTRACE__C(pthread_sigmask)(GOTRACE__SETMASK, &before, NULL);
}
#define gotrace__blocks_signals() gotrace__blocks

/* Takes away a signal that is blocked, if it is pending. */
GOTRACE__FN void gotrace__take_signal(int number) {
  gotrace__sigset set;
#if defined(__linux__)
  static const struct timespec none = {0, 0};
  GOTRACE__C(sigemptyset)(&set);
  GOTRACE__C(sigaddset)(&set, number);
  GOTRACE__C(sigtimedwait)(&set, NULL, &none);
#else
  sigpending(&set);
  if (!sigismember(&set, number)) return;
  sigemptyset(&set);
  sigaddset(&set, number);
  sigwait(&set, &number);
#endif
}
GOTRACE__FN void gotrace__file_ask(gotrace__file *file) {
#if defined(__linux__) && !GOTRACE_NO_THREADS
  int flags = fcntl(file->number, F_GETFL);
  file->asks = flags >= 0 && fcntl(file->number, F_SETFL, flags | O_NONBLOCK) == 0;
#else
  (void)file, (void)gotrace__sink_waits;
#endif
}

/* A write may send SIGPIPE or SIGXFSZ to its thread, which would end the host. Both are blocked meanwhile, and taken
 * away unless they were pending before. */
GOTRACE__FN bool gotrace__file_write(gotrace__file *file, const void *data, size_t size) {
  static const int numbers[] = {SIGPIPE, SIGXFSZ};
  const char *at = (const char *)data;
  gotrace__sigset sent, pending, before;
  uint32_t waited = 0;
  int i, saved;
  GOTRACE__C(sigemptyset)(&sent);
  for (i = 0; i < 2; i++) GOTRACE__C(sigaddset)(&sent, numbers[i]);
  GOTRACE__C(pthread_sigmask)(GOTRACE__BLOCK, &sent, &before);
  GOTRACE__C(sigpending)(&pending);
  while (size && gotrace__file_is_ours(file)) {
    ssize_t n = write(file->number, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN && waited++ < file->patience) {
      gotrace__sleep();
      continue;
    }
    if (n < 0 && errno == EAGAIN && file->asks && gotrace__sink_waits()) {
      struct pollfd room = {0, POLLOUT, 0};
      room.fd = file->number;
      (void)poll(&room, 1, 100);
      continue;
    }
    if (n <= 0) break;
    waited = 0;
    at += n, size -= (size_t)n, file->position += n;
  }
  saved = errno;
  for (i = 0; size && i < 2; i++)
    if (!GOTRACE__C(sigismember)(&pending, numbers[i])) gotrace__take_signal(numbers[i]);
  GOTRACE__C(pthread_sigmask)(GOTRACE__SETMASK, &before, NULL);
  errno = saved;
  return !size;
}
/* True also if there is nothing to do: the file is a pipe or device, or has this size, as where a sandbox forbids it.
 */
GOTRACE__FN bool gotrace__file_truncate(gotrace__file *file, uint64_t size) {
  struct stat found;
  int error;
  if (!file->regular) return true;
  if (!gotrace__file_is_ours(file)) return false;
  if (GOTRACE__C(ftruncate)(file->number, (long long)size) == 0) return true;
  error = errno;
  if (fstat(file->number, &found) == 0 && (uint64_t)found.st_size == size) return true;
  errno = error;
  return false;
}
GOTRACE__FN bool gotrace__file_seek(gotrace__file *file, int offset) {
  if (!gotrace__file_is_ours(file) || GOTRACE__C(lseek)(file->number, offset, SEEK_SET) != offset) return false;
  file->position = offset;
  return true;
}

#if defined(__linux__)
#define GOTRACE__ELF /* modules are ELF files, found by dl_iterate_phdr: see >>modules */
GOTRACE__FN bool gotrace__file_open_to_read(const char *path, gotrace__file *file) {
  return !GOTRACE_NO_SYMBOLIZER && gotrace__file_take(file, path, O_RDONLY | O_NONBLOCK); /* does not wait for a pipe */
}
GOTRACE__FN size_t gotrace__file_read_some(const gotrace__file *file, uint64_t offset, void *buffer, size_t size) {
  long n = GOTRACE__C(pread)(file->number, buffer, size, (long long)offset);
  return n > 0 ? (size_t)n : 0;
}
#endif

GOTRACE__FN void gotrace__mutex_lock(gotrace__mutex *mutex) { pthread_mutex_lock(mutex); }
GOTRACE__FN void gotrace__mutex_unlock(gotrace__mutex *mutex) { pthread_mutex_unlock(mutex); }
GOTRACE__FN void gotrace__cond_wait(gotrace__cond *cond, gotrace__mutex *mutex, uint64_t milliseconds,
                                    void (*cancelled)(void *mutex)) {
  struct timespec until;
#if GOTRACE_NO_THREADS
  (void)cond, (void)mutex, (void)milliseconds, (void)cancelled, (void)until;
  gotrace__sleep();
#else
  pthread_cleanup_push(cancelled, mutex);
#if defined(__APPLE__)
  until.tv_sec = (time_t)(milliseconds / 1000);
  until.tv_nsec = (long)(milliseconds % 1000 * 1000000);
  pthread_cond_timedwait_relative_np(cond, mutex, &until);
#else
  GOTRACE__C(clock_gettime)(GOTRACE__MONOTONIC, &until);
  until.tv_nsec += (long)(milliseconds % 1000 * 1000000);
  until.tv_sec += (time_t)(milliseconds / 1000) + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(cond, mutex, &until);
#endif
  pthread_cleanup_pop(0);
#endif
}
GOTRACE__FN void gotrace__cond_wake(gotrace__cond *cond) { pthread_cond_broadcast(cond); }
GOTRACE__FN void gotrace__cond_init(gotrace__cond *cond) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
#if !defined(__APPLE__)
  GOTRACE__C(pthread_condattr_setclock)(&attributes, GOTRACE__MONOTONIC);
#endif
  pthread_cond_init(cond, &attributes);
  pthread_condattr_destroy(&attributes);
}
GOTRACE__FN void gotrace__yield(void) { sched_yield(); }
GOTRACE__FN void gotrace__sleep(void) {
  int before = gotrace__cancel_off(), saved = errno;
  (void)poll(NULL, 0, 1);
  errno = saved;
  gotrace__cancel_restore(before);
}
#if GOTRACE_NO_THREADS
GOTRACE__FN void gotrace__platform_init(void) {
  pthread_atfork(gotrace__before_fork, gotrace__after_fork, gotrace__after_fork_in_child);
}
GOTRACE__FN void gotrace__at_thread_exit(void *thread) { (void)thread; }
#else
/* A process whose main thread has ended by pthread_exit lives until its last thread ends. In /proc/PID/stat, field 3 is
 * the state of the main thread and field 20 the number of threads, with it. 0: it has not ended, or unknown. The
 * file is not opened while main runs, if the C library, as glibc does, gives each thread a list of robust mutexes: a
 * thread that has ended has none. */
GOTRACE__FN long gotrace__threads_after_main(void) {
  long count = 0;
#if defined(__linux__)
  gotrace__file file;
  char text[1024], *at;
  void *locks = NULL;
  size_t size;
  if (GOTRACE__C(syscall)(SYS_get_robust_list, getpid(), &locks, &size) == 0 && locks) return 0;
  if (!gotrace__file_take(&file, "/proc/self/stat", O_RDONLY)) return 0;
  text[gotrace__file_read_some(&file, 0, text, sizeof text - 1)] = 0;
  gotrace__file_close(&file);
  at = (strrchr)(text, ')'); /* field 2, the name, may contain any character */
  if (at) sscanf(at, ") Z %*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%*s%ld", &count);
#endif
  return count;
}
GOTRACE__FN void gotrace__thread_detach(gotrace__thread_handle handle) { pthread_detach(handle); }
GOTRACE__FN bool gotrace__thread_lives(gotrace__thread_handle handle) { return (void)handle, true; }
GOTRACE__FN void *gotrace__thread_main(void *unused) {
  (void)unused;
  gotrace__is_service = true;
  gotrace__service();
  return NULL;
}
GOTRACE__FN void gotrace__low_priority(void) {
#if defined(__linux__)
  long nice = 20 - GOTRACE__C(syscall)(SYS_getpriority, 0, 0); /* as the kernel returns it; 0, 0: this thread */
  if (nice < 5) GOTRACE__C(syscall)(SYS_setpriority, 0, 0, nice + 5);
#endif
}
/* The host's signal handlers must not run on the service thread. */
GOTRACE__FN bool gotrace__thread_run(gotrace__thread_handle *handle) {
  gotrace__sigset all, old;
  int error;
  GOTRACE__C(sigfillset)(&all);
  GOTRACE__C(pthread_sigmask)(GOTRACE__SETMASK, &all, &old);
  error = pthread_create(handle, NULL, gotrace__thread_main, NULL);
  GOTRACE__C(pthread_sigmask)(GOTRACE__SETMASK, &old, NULL);
  return error == 0;
}
GOTRACE__FN void gotrace__thread_join(gotrace__thread_handle handle) { pthread_join(handle, NULL); }
static pthread_key_t gotrace__exit_key;
static uint32_t gotrace__has_exit_key; /* atomic; a process has few keys */
#ifdef GOTRACE__UNLOADS
static uint32_t gotrace__exits;        /* atomic; the process ends */
GOTRACE__FN void gotrace__process_exits(void) { gotrace__store_relaxed(&gotrace__exits, 1u); }
#endif
GOTRACE__FN void gotrace__at_thread_exit(void *thread) {
  if (gotrace__load_acquire(&gotrace__has_exit_key)) pthread_setspecific(gotrace__exit_key, thread);
}
/* Other keys' destructors may trace, and give the thread a record again. So this runs in each round of destructors, but
 * for the last (POSIX: the fourth or a later one), in which ThreadSanitizer ends the thread first. A call after the
 * last time would leave a thread that never ends. */
#define GOTRACE__ROUNDS 3
/* musl calls it with any stack pointer when a thread is cancelled that has asked for asynchronous cancellation. */
#if defined(__x86_64__) || defined(__i386__)
#define GOTRACE__ALIGNS_STACK __attribute__((__force_align_arg_pointer__))
#else
#define GOTRACE__ALIGNS_STACK
#endif
GOTRACE__ALIGNS_STACK GOTRACE__FN void gotrace__exit_round(void *thread) {
  if (gotrace__thread_gone(thread == &gotrace__exit_key ? NULL : thread)) gotrace__at_thread_exit(&gotrace__exit_key);
}
GOTRACE__FN void gotrace__platform_init(void) {
  if (pthread_key_create(&gotrace__exit_key, gotrace__exit_round) == 0)
    gotrace__store_release(&gotrace__has_exit_key, 1u);
  pthread_atfork(gotrace__before_fork, gotrace__after_fork, gotrace__after_fork_in_child);
#ifdef GOTRACE__UNLOADS
  atexit(gotrace__process_exits);
#endif
}
/* The process ends or the library is unloaded: threads that end later must not call into it. If the library is
 * unloaded, its memory goes back to the system. If the process ends, other threads may be in the middle of a call, so
 * the memory stays. The order tells which: exit runs the atexit functions before the destructors, dlclose after. */
__attribute__((__destructor__)) GOTRACE__FN void gotrace__unload(void) {
  bool unloaded = false;
  if (!gotrace__load_acquire(&gotrace__has_exit_key)) return;
#ifdef GOTRACE__UNLOADS
  unloaded = !gotrace__load_relaxed(&gotrace__exits);
#endif
  gotrace__end_use(unloaded);
  gotrace__store_release(&gotrace__has_exit_key, 0u);
  pthread_key_delete(gotrace__exit_key);
#ifdef GOTRACE__UNLOADS
  if (unloaded) gotrace__free_all();
#endif
}
#endif

#if !GOTRACE_SEQ_CST_FLAG
#if defined(__linux__)
/* membarrier(2): commands 1 << 4 REGISTER_PRIVATE_EXPEDITED (Linux 4.14) and 1 << 3 PRIVATE_EXPEDITED. */
GOTRACE__FN bool gotrace__barrier_init(void) { return GOTRACE__C(syscall)(SYS_membarrier, 1 << 4, 0, 0) == 0; }
GOTRACE__FN bool gotrace__barrier(void) { return GOTRACE__C(syscall)(SYS_membarrier, 1 << 3, 0, 0) == 0; }
#else
GOTRACE__FN bool gotrace__barrier_init(void) { return false; }
GOTRACE__FN bool gotrace__barrier(void) { return false; }
#endif
#endif
GOTRACE__FN uint64_t gotrace__system_thread_id(void) {
#if defined(__linux__)
  return (uint64_t)GOTRACE__C(syscall)(SYS_gettid);
#elif defined(__APPLE__)
  uint64_t id = 0;
  pthread_threadid_np(pthread_self(), &id);
  return id;
#elif defined(__FreeBSD__)
  return (uint64_t)pthread_getthreadid_np();
#else
  static gotrace__uint64 last;
  return gotrace__add_relaxed(&last, 1) + 1;
#endif
}
GOTRACE__FN void gotrace__system_thread_name(char *name, size_t size) {
  *name = 0;
#if defined(__linux__) || defined(__APPLE__)
  if (GOTRACE__C(pthread_getname_np)(pthread_self(), name, size) != 0) *name = 0;
#elif defined(__FreeBSD__)
  pthread_get_name_np(pthread_self(), name, size);
#endif
  if (!*name) snprintf(name, size, "thread");
}
GOTRACE__FN bool gotrace__stack_bounds(uintptr_t *low, uintptr_t *high) {
#if defined(__APPLE__)
  *high = (uintptr_t)pthread_get_stackaddr_np(pthread_self()); /* where the stack begins, its highest address */
  *low = *high - pthread_get_stacksize_np(pthread_self());
  return true;
#elif defined(__linux__) || defined(__FreeBSD__)
  pthread_attr_t attributes;
  void *address = NULL;
  size_t size = 0;
#if defined(__linux__)
  if (GOTRACE__C(pthread_getattr_np)(pthread_self(), &attributes) != 0) return false;
#else
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_get_np(pthread_self(), &attributes);
#endif
  GOTRACE__C(pthread_attr_getstack)(&attributes, &address, &size);
  pthread_attr_destroy(&attributes);
  *low = (uintptr_t)address;
  *high = *low + size;
  return address != NULL;
#else
  return (void)low, (void)high, false;
#endif
}

/* The main thread's stack, whose bounds the C library would read from /proc/self/maps. It ends below what the kernel
 * puts there at the start, and is taken to have the usual size. */
GOTRACE__FN bool gotrace__main_stack(uintptr_t *low, uintptr_t *high) {
#if defined(__linux__)
  enum { RANDOM = 25 }; /* AT_RANDOM */
  *high = gotrace__system_thread_id() == (uint64_t)getpid() ? GOTRACE__C(getauxval)(RANDOM) : 0;
  *low = *high - ((uintptr_t)8 << 20);
  return *high != 0;
#else
  return (void)low, (void)high, false;
#endif
}
GOTRACE__FN bool gotrace__alternate_stack(uintptr_t *low, uintptr_t *high) {
#if defined(__linux__)
  gotrace__signal_stack stack;
#else
  stack_t stack;
#endif
  if (GOTRACE__C(sigaltstack)(NULL, &stack) != 0 || stack.ss_flags & GOTRACE__SS_DISABLE) return false;
  *low = (uintptr_t)stack.ss_sp;
  *high = *low + stack.ss_size;
  return true;
}

#endif /* systems */

GOTRACE__FN void gotrace__at_process_exit(void) { atexit(gotrace__exit); }

#if defined(__APPLE__)
/* The function that contains pc, or its module and the offset in it. *file is valid until the next call. */
GOTRACE__FN bool gotrace__symbol(uintptr_t pc, char *name, size_t size, const char **file) {
  Dl_info info;
  if (!dladdr((void *)(pc - 1), &info)) return false;
  *file = info.dli_fname;
  if (info.dli_sname) {
    snprintf(name, size, "%s", info.dli_sname);
  } else {
    const char *slash = (strrchr)(info.dli_fname ? info.dli_fname : "?", '/');
    snprintf(name, size, "%s+0x%llx", slash ? slash + 1 : "?", (unsigned long long)(pc - (uintptr_t)info.dli_fbase));
  }
  return true;
}
#elif !defined(__linux__)
GOTRACE__FN bool gotrace__symbol(uintptr_t pc, char *name, size_t size, const char **file) {
  (void)pc, (void)name, (void)size, (void)file;
  return false;
}
#endif
#endif /* GOTRACE__PLATFORM */

/* What the thread does in the tracer besides calls: the number of locks it holds or is about to take; GOTRACE__IN_SINK
 * while it is in the program's write function or symbolizer. See gotrace__is_nested. */
#define GOTRACE__LOCKS 0xffffu
#define GOTRACE__IN_SINK 0x10000u
#define GOTRACE__IN_UNWINDER 0x20000u
#define gotrace__in_sink ((gotrace__inside & GOTRACE__IN_SINK) != 0)
static GOTRACE__THREAD_LOCAL unsigned gotrace__inside GOTRACE__TLS_MODEL;

/* Where the stack ends in the running function: the position of a call, see gotrace__has_outlived; and the same as a
 * raised flag (in_call). */
#if !GOTRACE__GNU /* on Windows no handler interrupts a call */
#define GOTRACE__POSITION() ((uintptr_t)0)
#define GOTRACE__FLAG() ((uintptr_t)GOTRACE__IN_CALL)
#elif defined(__x86_64__) && !defined(__ILP32__)
GOTRACE__ALWAYS_INLINE uintptr_t gotrace__position(void) {
  uintptr_t position;
  __asm__("movq %%rsp, %0" : "=r"(position));
  return position;
}
#define GOTRACE__POSITION() gotrace__position()
GOTRACE__ALWAYS_INLINE uintptr_t gotrace__flag_here(void) {
  uintptr_t flag;
  __asm__("leaq 1(%%rsp), %0" : "=r"(flag));
  return flag;
}
#define GOTRACE__FLAG() gotrace__flag_here()
#else
#define GOTRACE__POSITION() ((uintptr_t)__builtin_frame_address(0))
#define GOTRACE__FLAG() (GOTRACE__POSITION() | GOTRACE__IN_CALL)
#endif
static GOTRACE__THREAD_LOCAL uintptr_t gotrace__sink_position GOTRACE__TLS_MODEL; /* where the sink is called */
/* The position of the thread's call that starts, cuts, reads or ends a trace; 0: there is none. */
static GOTRACE__THREAD_LOCAL uintptr_t gotrace__control_position GOTRACE__TLS_MODEL;
/* The position at which it has a lock, or is about to, or is in a function of the C library before its call has raised
 * its flag; 0: none of these. Only gotrace_in_call needs it. */
static GOTRACE__THREAD_LOCAL uintptr_t gotrace__busy_position GOTRACE__TLS_MODEL;
GOTRACE__FN void gotrace__set_in_sink(bool on) {
  if (on) gotrace__sink_position = GOTRACE__POSITION();
  if (on) gotrace__inside |= GOTRACE__IN_SINK;
  else gotrace__inside &= ~GOTRACE__IN_SINK;
}

/* Around what a call does in the C library before it has raised its flag, for gotrace_in_call. */
GOTRACE__FN inline uintptr_t gotrace__mark(void) {
  uintptr_t before = gotrace__busy_position;
  gotrace__busy_position = GOTRACE__POSITION();
  gotrace__signal_fence();
  return before;
}
GOTRACE__FN inline void gotrace__unmark(uintptr_t before) {
  gotrace__signal_fence();
  gotrace__busy_position = before;
}
GOTRACE__FN inline size_t gotrace__length(const char *text) {
  uintptr_t before = gotrace__mark();
  size_t length = strlen(text);
  gotrace__unmark(before);
  return length;
}

GOTRACE__FN bool gotrace__same_text(const char *a, const char *b) {
  uintptr_t before;
  bool same;
  if (!a || !b) return a == b;
  before = gotrace__mark();
  same = strcmp(a, b) == 0;
  gotrace__unmark(before);
  return same;
}

/* Around all that is done with a lock: no signal handler runs on the thread meanwhile. Otherwise one that leaves for
 * ever, or forks, would leave the lock held. Signals that the code itself raises are not blocked: a debugger's and a
 * sanitizer's. They see the count before the lock is taken and until it is released. */
GOTRACE__FN inline void gotrace__go_inside(void) {
  if (!(gotrace__inside & GOTRACE__LOCKS)) {
    (void)gotrace__mark();
    gotrace__block_signals();
  }
  gotrace__inside++;
  gotrace__signal_fence();
}
GOTRACE__FN inline void gotrace__go_outside(void) {
  unsigned inside;
  gotrace__signal_fence();
  /* The count is 0 in a child if a signal handler has forked while the lock was held. It is read only once, since the
   * handler may run here. */
  inside = gotrace__inside;
  gotrace__signal_fence();
  if (inside & GOTRACE__LOCKS) gotrace__inside = --inside;
  if (inside & GOTRACE__LOCKS) return;
  gotrace__unblock_signals();
  gotrace__unmark(0);
}

GOTRACE__FN void gotrace__lock(gotrace__mutex *mutex) {
  gotrace__go_inside();
  if (!GOTRACE_NO_THREADS) gotrace__mutex_lock(mutex);
}
GOTRACE__FN void gotrace__unlock(gotrace__mutex *mutex) {
  if (!GOTRACE_NO_THREADS) gotrace__mutex_unlock(mutex);
  gotrace__go_outside();
}
GOTRACE__FN void gotrace__unlock_cancelled(void *mutex) { gotrace__unlock((gotrace__mutex *)mutex); }

/* Waits for a condition with its lock, the only one that the thread holds, for some milliseconds at most. It lets the
 * thread's signals in from time to time, outside the wait, which no handler may leave. */
#define GOTRACE__SIGNAL_MILLISECONDS 20u
GOTRACE__FN void gotrace__wait(gotrace__cond *cond, gotrace__mutex *mutex, uint64_t milliseconds,
                               void (*cancelled)(void *mutex)) {
  bool lets = gotrace__blocks_signals();
  if (lets && milliseconds > GOTRACE__SIGNAL_MILLISECONDS) milliseconds = GOTRACE__SIGNAL_MILLISECONDS;
  gotrace__cond_wait(cond, mutex, milliseconds, cancelled);
  if (!lets) return;
  gotrace__unlock(mutex);
  gotrace__lock(mutex);
}

/* ---------------------------------------------------------------------------------------------------- >>memory ---- */

/* Zeroed memory from the system. Pieces of a page or more are mapped one by one. Smaller ones, for records that are
 * reused for ever, are cut from chunks and rounded to cache lines, so that no two threads' records share one. Freed
 * pieces are kept in a list per size: all small ones, and some large ones, since faulting in fresh pages costs more
 * than filling them. */
typedef struct gotrace__small {
  struct gotrace__small *next;
} gotrace__small;

#ifndef GOTRACE_MALLOC
#define GOTRACE__LINE 64
#define GOTRACE__PAGE ((size_t)1 << 12)
#define GOTRACE__CHUNK ((size_t)1 << 17)
#define GOTRACE__CACHED_PAGES 32                 /* most pages of a piece that is kept */
#define GOTRACE__CACHED_BYTES ((size_t)16 << 20) /* of all large pieces that are kept */

static struct gotrace__pool {
  gotrace__mutex lock;                                 /* innermost: no other lock is taken under it */
  gotrace__small *chunks;                              /* all chunks, each of GOTRACE__CHUNK bytes */
  size_t used;                                         /* of the first chunk */
  gotrace__small *free[GOTRACE__PAGE / GOTRACE__LINE]; /* by size */
  gotrace__small *large[GOTRACE__CACHED_PAGES + 1];    /* by pages */
  size_t large_bytes;
} gotrace__pool = {GOTRACE__MUTEX, NULL, GOTRACE__CHUNK, {NULL}, {NULL}, 0};

/* Rounds a size up to what it occupies. Returns the list of free pieces; NULL: none of this size are kept. */
GOTRACE__FN gotrace__small **gotrace__free_pieces(size_t *size) {
  size_t unit = *size <= GOTRACE__PAGE - GOTRACE__LINE ? GOTRACE__LINE : GOTRACE__PAGE;
  *size = (*size + unit - 1) & ~(unit - 1);
  if (*size < GOTRACE__PAGE) return &gotrace__pool.free[*size / GOTRACE__LINE];
  return *size / GOTRACE__PAGE <= GOTRACE__CACHED_PAGES ? &gotrace__pool.large[*size / GOTRACE__PAGE] : NULL;
}

/* Cuts a small piece from a chunk. The caller holds the lock. */
GOTRACE__FN void *gotrace__cut_piece(size_t size) {
  struct gotrace__pool *pool = &gotrace__pool;
  if (GOTRACE__CHUNK - pool->used < size) {
    gotrace__small *chunk = (gotrace__small *)gotrace__map_pages(GOTRACE__CHUNK);
    if (!chunk) return NULL;
    chunk->next = pool->chunks;
    pool->chunks = chunk;
    pool->used = GOTRACE__LINE;
  }
  pool->used += size;
  return (char *)pool->chunks + pool->used - size;
}

GOTRACE__FN void *gotrace__system_malloc(size_t size) {
  struct gotrace__pool *pool = &gotrace__pool;
  gotrace__small *piece = NULL, **list = gotrace__free_pieces(&size);
  void *fresh = NULL;
  if (list) {
    gotrace__lock(&pool->lock);
    if ((piece = *list) != NULL) {
      *list = piece->next;
      if (size >= GOTRACE__PAGE) pool->large_bytes -= size;
    } else if (size < GOTRACE__PAGE) {
      fresh = gotrace__cut_piece(size);
    }
    gotrace__unlock(&pool->lock);
  }
  if (piece) return memset(piece, 0, size);
  return size < GOTRACE__PAGE ? fresh : gotrace__map_pages(size);
}

GOTRACE__FN void gotrace__system_free(void *memory, size_t size) {
  struct gotrace__pool *pool = &gotrace__pool;
  gotrace__small *piece = (gotrace__small *)memory, **list = gotrace__free_pieces(&size);
  bool cached = false;
  if (list) {
    gotrace__lock(&pool->lock);
    cached = size < GOTRACE__PAGE || pool->large_bytes + size <= GOTRACE__CACHED_BYTES;
    if (cached) {
      piece->next = *list;
      *list = piece;
      if (size >= GOTRACE__PAGE) pool->large_bytes += size;
    }
    gotrace__unlock(&pool->lock);
  }
  if (!cached) gotrace__unmap_pages(memory, size);
}

#ifdef GOTRACE__UNLOADS
/* Returns the chunks to the system, except those that contain a piece of `kept`, a list linked by `next`. */
GOTRACE__FN void gotrace__system_trim(const gotrace__small *kept) {
  struct gotrace__pool *pool = &gotrace__pool;
  gotrace__small *chunk, *next;
  size_t i;
  gotrace__lock(&pool->lock);
  for (chunk = pool->chunks; chunk; chunk = next) {
    const gotrace__small *piece = kept;
    next = chunk->next;
    while (piece && (uintptr_t)piece - (uintptr_t)chunk >= GOTRACE__CHUNK) piece = piece->next;
    if (!piece) gotrace__unmap_pages(chunk, GOTRACE__CHUNK);
  }
  for (i = 0; i <= GOTRACE__CACHED_PAGES; i++)
    for (; (chunk = pool->large[i]) != NULL; pool->large[i] = next) {
      next = chunk->next;
      gotrace__unmap_pages(chunk, i * GOTRACE__PAGE);
    }
  pool->large_bytes = 0;
  pool->chunks = NULL;
  pool->used = GOTRACE__CHUNK;
  memset(pool->free, 0, sizeof pool->free);
  gotrace__unlock(&pool->lock);
}
#endif
#else
/* The caller may hold locks: its thread must not be cancelled in the program's allocator. That may be traced, and its
 * calls are dropped, as from inside a call. */
GOTRACE__FN void *gotrace__system_malloc(size_t size) {
  int cancel = gotrace__cancel_off();
  void *memory;
  gotrace__go_inside();
#if defined(__cplusplus) && defined(__cpp_exceptions)
  try {
    memory = GOTRACE_MALLOC(size);
  } catch (...) {
    memory = NULL;
  }
#else
  memory = GOTRACE_MALLOC(size);
#endif
  gotrace__go_outside();
  gotrace__cancel_restore(cancel);
  if (memory) memset(memory, 0, size);
  return memory;
}
GOTRACE__FN void gotrace__system_free(void *memory, size_t size) {
  int cancel = gotrace__cancel_off();
  (void)size; /* GOTRACE_FREE may be a macro that ignores it */
  gotrace__go_inside();
  GOTRACE_FREE(memory, size);
  gotrace__go_outside();
  gotrace__cancel_restore(cancel);
}
#endif

/* Bytes that a session may use, and has used. A NULL budget means no bound. */
typedef struct gotrace__budget {
  size_t used, peak, limit; /* atomic */
} gotrace__budget;

/* `within`: fail at the limit. The memory is zeroed. NULL: at the limit (*refused), or out of memory. */
GOTRACE__FN void *gotrace__allocate_unless(gotrace__budget *budget, size_t size, bool within, bool *refused) {
  void *memory;
  uintptr_t before;
  int saved;
  *refused = false;
  if (budget) {
    size_t used = gotrace__add_relaxed(&budget->used, size) + size;
    if (within && used > gotrace__load_relaxed(&budget->limit)) {
      gotrace__add_relaxed(&budget->used, (size_t)0 - size);
      *refused = true;
      return NULL;
    }
    if (used > gotrace__load_relaxed(&budget->peak)) gotrace__store_relaxed(&budget->peak, used);
  }
  before = gotrace__mark();
  saved = errno; /* a call of the tracer may come before the program looks at it */
  gotrace__unmark(before);
  memory = gotrace__system_malloc(size);
  before = gotrace__mark();
  errno = saved;
  gotrace__unmark(before);
  if (!memory && budget) gotrace__add_relaxed(&budget->used, (size_t)0 - size);
  return memory;
}
GOTRACE__FN void *gotrace__allocate(gotrace__budget *budget, size_t size, bool within) {
  bool refused;
  return gotrace__allocate_unless(budget, size, within, &refused);
}

GOTRACE__FN void gotrace__release(gotrace__budget *budget, void *memory, size_t size) {
  if (!memory) return;
  if (budget) gotrace__add_relaxed(&budget->used, (size_t)0 - size);
  gotrace__system_free(memory, size);
}

/* -------------------------------------------------------------------------------------------------- >>arena ---- */

/* Memory in pieces of 64 KiB blocks, all freed at once. Not thread-safe. Go: traceAlloc in runtime/trace.go,
 * later traceRegionAlloc. */
#ifndef GOTRACE__ARENA_BLOCK
#define GOTRACE__ARENA_BLOCK 65536
#endif

typedef struct gotrace__arena_block {
  struct gotrace__arena_block *next;
  GOTRACE__ALIGNED(8) unsigned char data[GOTRACE__ARENA_BLOCK - 8];
} gotrace__arena_block;
GOTRACE__STATIC_ASSERT(offsetof(gotrace__arena_block, data) % 8 == 0, arena_alignment);
GOTRACE__STATIC_ASSERT(sizeof(gotrace__arena_block) == GOTRACE__ARENA_BLOCK, arena_block_size);

typedef struct gotrace__arena {
  gotrace__arena_block *head;
  size_t used;  /* of the head's data */
  size_t bytes; /* of all blocks; atomic for whoever only reads it */
  gotrace__budget *budget;
  bool beyond; /* may exceed the budget's limit */
} gotrace__arena;

/* Returns `size` bytes, zeroed and aligned for a uint64_t; NULL if larger than a block or out of memory. */
GOTRACE__FN void *gotrace__arena_alloc(gotrace__arena *arena, size_t size) {
  void *memory;
  if (size > sizeof arena->head->data) return NULL; /* whose size is a multiple of 8 */
  size = (size + 7) & ~(size_t)7;
  if (!arena->head || size > sizeof arena->head->data - arena->used) {
    gotrace__arena_block *block;
    block = (gotrace__arena_block *)gotrace__allocate(arena->budget, sizeof *block, !arena->beyond);
    if (!block) return NULL;
    block->next = arena->head;
    arena->head = block;
    arena->used = 0;
    gotrace__store_relaxed(&arena->bytes, arena->bytes + sizeof *block);
  }
  memory = arena->head->data + arena->used;
  arena->used += size;
  return memory;
}

GOTRACE__FN void gotrace__arena_free(gotrace__arena *arena) {
  while (arena->head) {
    gotrace__arena_block *block = arena->head;
    arena->head = block->next;
    gotrace__release(arena->budget, block, sizeof *block);
  }
  arena->used = arena->bytes = 0;
}

/* ------------------------------------------------------------------------------------------------ >>strings ---- */

#ifndef GOTRACE__CHAINS
#define GOTRACE__CHAINS ((size_t)1 << 13)
#endif

GOTRACE__FN uint64_t gotrace__hash_bytes(const char *bytes, size_t size) { return gotrace__hash_from(0, bytes, size); }

/* Shared by the string and stack tables: hash chains, which are read without a lock and grow at their heads under one,
 * and a list in insertion order, from which the transcriber takes the new entries. */
typedef struct gotrace__entry {
  struct gotrace__entry *link; /* in the chain; set before the entry is published */
  struct gotrace__entry *next; /* in the list; published by store_release */
  uint64_t hash;
  uint32_t id;
  uint32_t size; /* bytes of a string, frames of a stack */
} gotrace__entry;
GOTRACE__STATIC_ASSERT(sizeof(gotrace__entry) % 8 == 0, entry_alignment);

typedef struct gotrace__table {
  gotrace__mutex lock;
  gotrace__arena arena;
  gotrace__entry *first, *last; /* protected by lock; first is published by store_release */
  uint32_t count;               /* atomic: of entries, which is also the last id */
  gotrace__entry *chains[GOTRACE__CHAINS];
} gotrace__table;

/* `beyond`: its entries may exceed the budget's limit. */
GOTRACE__FN gotrace__table *gotrace__table_new(gotrace__budget *budget, bool beyond) {
  static const gotrace__mutex unlocked = GOTRACE__MUTEX;
  gotrace__table *table = (gotrace__table *)gotrace__allocate(budget, sizeof *table, false);
  if (!table) return NULL;
  table->lock = unlocked;
  table->arena.budget = budget;
  table->arena.beyond = beyond;
  return table;
}

GOTRACE__FN void gotrace__table_free(gotrace__table *table) {
  if (!table) return;
  gotrace__arena_free(&table->arena);
  gotrace__release(table->arena.budget, table, sizeof *table);
}

/* An entry's payload follows it in memory. */
GOTRACE__FN gotrace__entry *gotrace__table_find(gotrace__table *table, uint64_t hash, uint32_t size,
                                                const void *payload, size_t bytes) {
  gotrace__entry *entry = gotrace__load_acquire(&table->chains[hash % GOTRACE__CHAINS]);
  for (; entry; entry = entry->link)
    if (entry->hash == hash && entry->size == size && memcmp(entry + 1, payload, bytes) == 0) return entry;
  return NULL;
}

/* The entry of a payload, added if it is new, with `room` for more bytes behind it, which are 0; NULL if out of
 * memory. */
GOTRACE__FN gotrace__entry *gotrace__table_add(gotrace__table *table, uint64_t hash, uint32_t size, const void *payload,
                                               size_t bytes, size_t room) {
  gotrace__entry **chain = &table->chains[hash % GOTRACE__CHAINS];
  gotrace__entry *entry = gotrace__table_find(table, hash, size, payload, bytes);
  if (GOTRACE__LIKELY(entry != NULL)) return entry;
  gotrace__lock(&table->lock);
  entry = gotrace__table_find(table, hash, size, payload, bytes); /* another thread may have added it */
  if (!entry) entry = (gotrace__entry *)gotrace__arena_alloc(&table->arena, sizeof *entry + bytes + room);
  if (entry && !entry->id) {
    entry->link = *chain;
    entry->hash = hash;
    entry->id = gotrace__load_relaxed(&table->count) + 1;
    entry->size = size;
    memcpy(entry + 1, payload, bytes);
    /* Release: a thread that finds the entry, in its chain or in the list, must not see it partially initialized. The
     * list comes first: what has been found in the chain and recorded, the transcriber looks for in the list. */
    gotrace__store_release(table->last ? &table->last->next : &table->first, entry);
    gotrace__store_release(chain, entry);
    table->last = entry;
    gotrace__count(&table->count, 1);
  }
  gotrace__unlock(&table->lock);
  return entry;
}

/* The id of the payload's entry; 0 if out of memory. */
GOTRACE__FN uint32_t gotrace__table_put(gotrace__table *table, uint64_t hash, uint32_t size, const void *payload,
                                        size_t bytes) {
  const gotrace__entry *entry = gotrace__table_add(table, hash, size, payload, bytes, 0);
  return entry ? entry->id : 0;
}

/* The number of a text in a table of strings; 0: it is empty, or out of memory. There a NUL follows it. */
GOTRACE__FN uint32_t gotrace__text_put(gotrace__table *strings, uint64_t hash, const char *text, size_t size) {
  const gotrace__entry *entry = size ? gotrace__table_add(strings, hash, (uint32_t)size, text, size, 1) : NULL;
  return entry ? entry->id : 0;
}

/* What the number of a call site stands for: numbers in the tables of stacks and strings; 0: none. */
typedef struct gotrace__site_key {
  uint32_t stack, name;
} gotrace__site_key;
GOTRACE__FN uint32_t gotrace__site_put(gotrace__table *sites, gotrace__site_key key) {
  return gotrace__table_put(sites, gotrace__mix(gotrace__mix(0, key.stack), key.name), 0, &key, sizeof key);
}

/* The size of the longest prefix of at most `limit` bytes that does not split a UTF-8 sequence. */
GOTRACE__FN size_t gotrace__utf8_prefix(const char *string, size_t size, size_t limit) {
  size_t back;
  if (size <= limit) return size;
  for (back = 0; back < 4 && back < limit && ((unsigned char)string[limit - back] & 0xc0) == 0x80; back++) continue;
  return back < 4 ? limit - back : limit; /* four continuation bytes are not UTF-8 */
}

GOTRACE__FN size_t gotrace__truncated_size(const char *string, size_t size) {
  return gotrace__utf8_prefix(string, size, GOTRACE_MAX_STRING_SIZE);
}

/* The id of a string, from 1 on; 0: it is empty, or out of memory. *cut: it was truncated. Go: traceString. */
GOTRACE__FN uint32_t gotrace__string_put(gotrace__table *strings, const char *string, size_t size, bool *cut) {
  size_t kept = gotrace__truncated_size(string, size);
  *cut = kept != size;
  return gotrace__text_put(strings, gotrace__hash_bytes(string, kept), string, kept);
}

/* ------------------------------------------------------------------------------------------------- >>stacks ---- */

/* A frame in the table. Its texts are in a table of strings: when it is written, the library of its call site may have
 * been unloaded. */
typedef struct gotrace__stack_frame {
  uint64_t pc, line;
  uint32_t function, file; /* numbers, in the transcriber with GOTRACE__OWN; 0: none */
} gotrace__stack_frame;
/* The line of a goroutine's entry that has only an address. It is the function's own, while others are return
 * addresses, which readers look up minus 1. So it is written plus 1, as Go does. */
#define GOTRACE__ENTRY_LINE ((uint64_t)1 << 32)
GOTRACE__STATIC_ASSERT(sizeof(gotrace__stack_frame) == 24, frame_without_padding);

/* Puts a location's function or file into a table; false if out of memory. Of a text that is larger than the table's
 * blocks, the end is kept. */
GOTRACE__FN bool gotrace__frame_text(gotrace__table *strings, const char *text, uint64_t *hash, uint32_t *number) {
  const size_t most = GOTRACE__ARENA_BLOCK / 2;
  size_t size = text ? strlen(text) : 0;
  if (size > most) {
    text += size - most;
    size = most;
  }
  *hash = gotrace__hash_bytes(size ? text : "", size);
  *number = gotrace__text_put(strings, *hash, text, size);
  return *number || !size;
}

/* The frame of a location, with its texts in a table; false if out of memory. Readers identify a frame by its pc alone,
 * so a location without one gets a pc derived from its contents. It has 49 bits, more than any address in a program. */
GOTRACE__FN bool gotrace__frame_of(gotrace__table *strings, const gotrace_location *location,
                                   gotrace__stack_frame *frame) {
  uint64_t function, file;
  frame->pc = location->pc;
  frame->line = location->line;
  if (!gotrace__frame_text(strings, location->function, &function, &frame->function) ||
      !gotrace__frame_text(strings, location->file, &file, &frame->file))
    return false;
  if (!frame->pc) { /* the order of the texts matters */
    uint64_t hash = gotrace__mix(gotrace__mix(gotrace__mix(function, 1), file), frame->line);
    frame->pc = (hash & (((uint64_t)1 << 48) - 1)) | (uint64_t)1 << 48;
  }
  return true;
}

/* The names of functions in C++: what GOTRACE_HERE gives is the signature of a lambda inside the function,
 *
 *     net::Box<int>::run(int) const::<lambda(gotrace__call_site)>                                  GCC
 *     auto net::Box<int>::run(int)::(lambda)::operator()(gotrace__call_site) const [T = int]       Clang
 *     net::Box<int>::run::<lambda_1>::operator ()                                                  MSVC
 *
 * and the trace has "net::Box<int>::run". */

/* Where a bracket closes. */
GOTRACE__FN const char *gotrace__closing(const char *at) {
  size_t depth = 0;
  do {
    if (*at == '(' || *at == '[' || *at == '{' || *at == '<') depth++;
    else if (*at == ')' || *at == ']' || *at == '}' || (*at == '>' && at[-1] != '-')) depth--;
    at++;
  } while (*at && depth);
  return at;
}
GOTRACE__FN bool gotrace__starts_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}
GOTRACE__FN void gotrace__append(char *text, size_t size, const char *more, size_t length) {
  size_t used = strlen(text);
  if (length > size - 1 - used) length = gotrace__utf8_prefix(more, length, size - 1 - used);
  memcpy(text + used, more, length);
  text[used + length] = 0;
}

/* Copies a name without its parameters, and without template arguments unless they are short. Returns its end. */
GOTRACE__FN const char *gotrace__append_name(char *text, size_t size, const char *at) {
  const char *start = at, *after;
  if (gotrace__starts_with(at, "operator") && !((at[8] >= 'a' && at[8] <= 'z') || at[8] == '_')) { /* "operator<" */
    at += gotrace__starts_with(at, "operator()") ? 10 : 8;
    while (*at && *at != '(') at++;
    gotrace__append(text, size, start, (size_t)(at - start));
    return at;
  }
  while (*at && *at != '(' && *at != ' ' && *at != '[' && *at != '<' && !gotrace__starts_with(at, "::")) at++;
  gotrace__append(text, size, start, (size_t)(at - start));
  if (*at != '<') return at;
  after = gotrace__closing(at);
  if (after - at <= 24) gotrace__append(text, size, at, (size_t)(after - at));
  else gotrace__append(text, size, "<...>", 5);
  return after;
}

/* Returns the name as described above, in `name`, or `function` if that is no such signature. */
GOTRACE__FN const char *gotrace__short_name(const char *function, char *name, size_t size) {
  const char *at = function, *end = function ? (strstr)(function, "(gotrace__call_site)") : NULL;
  if (!end) {
    size_t length = function ? strlen(function) : 0;
    if (length < 14 || !gotrace__starts_with(function + length - 14, ">::operator ()")) return function;
    for (end = function + length - 14; end > function && *end != '<';) end--;
    if (!gotrace__starts_with(end, "<lambda_")) return function;
    if (end > function && (end - function < 3 || !gotrace__starts_with(end - 2, "::"))) return function;
    name[0] = 0;
    if (end > function) gotrace__append(name, size, function, (size_t)(end - 2 - function));
    return name[0] ? name : "initializer";
  }
  name[0] = 0;
  if (gotrace__starts_with(at, "auto ")) at += 5;
  for (;;) { /* one part of the name after another */
    const char *what = NULL;
    if (*at == '(' || *at == '<' || *at == '{') { /* it has no name */
      bool lambda = gotrace__starts_with(at + 1, "lambda") || gotrace__starts_with(at + 1, "anonymous class");
      what = lambda ? "lambda" : *at == '{' || gotrace__starts_with(at + 1, "anonymous namespace") ? "" : "unnamed";
      at = gotrace__closing(at);
      if (lambda && gotrace__starts_with(at, "::operator()(")) at = gotrace__closing(at + 12);
      if (at > end) break; /* the call site's lambda */
    }
    if (name[0] && (!what || what[0])) gotrace__append(name, size, "::", 2);
    if (what) gotrace__append(name, size, what, strlen(what));
    else at = gotrace__append_name(name, size, at);
    while (*at && !gotrace__starts_with(at, "::")) /* parameters and qualifiers */
      at = *at == '(' || *at == '[' || *at == '<' ? gotrace__closing(at) : at + 1;
    if (!*at) break;
    at += 2;
  }
  return name[0] ? name : "initializer"; /* outside a function */
}

/* The frame of a goroutine's entry; false if out of memory. */
GOTRACE__FN bool gotrace__entry_frame(gotrace__table *strings, const gotrace_location *entry,
                                      gotrace__stack_frame *frame) {
  if (!gotrace__frame_of(strings, entry, frame)) return false;
  if (entry->pc && !frame->function) {
    frame->pc++;
    frame->line = GOTRACE__ENTRY_LINE;
  }
  return true;
}

/* The id of a stack, innermost frame first, from 1 on; 0 for the empty stack, or if out of memory. Frames beyond
 * GOTRACE_STACK_SIZE are dropped. Go: traceStackTable.put; frames are locations, as in gccgo. */
GOTRACE__FN uint32_t gotrace__stack_put(gotrace__table *stacks, const gotrace__stack_frame *frames, size_t count) {
  uint64_t hash;
  size_t i;
  if (!count) return 0;
  if (count > GOTRACE_STACK_SIZE) count = GOTRACE_STACK_SIZE;
  hash = count;
  for (i = 0; i < count; i++) hash = gotrace__mix(gotrace__mix(hash, frames[i].pc), frames[i].line);
  return gotrace__table_put(stacks, hash, (uint32_t)count, frames, count * sizeof *frames);
}

/* ----------------------------------------------------------------------------------------------------- >>state ----
 *
 * Records of goroutines, procs and threads; the session.
 *
 * A session is the time from a start of tracing to the end of its delivery. Its number is the value of gotrace__on
 * while tracing is on; 0 is off.
 *
 * Objects keep, while tracing is on or off, a hint of their state: what a start must know. While it is on they also
 * keep the tick of their last record and the number of their transitions, see >>capture.
 */

enum gotrace__status { /* as tracev2.GoStatus */
                       GOTRACE__DEAD = 0,
                       GOTRACE__RUNNABLE = 1,
                       GOTRACE__RUNNING = 2,
                       GOTRACE__SYSCALL = 3,
                       GOTRACE__WAITING = 4,
                       GOTRACE__GONE = GOTRACE__DEAD /* in >>rules, where the decoder tells the two apart */
};

enum gotrace__proc_status { /* as tracev2.ProcStatus */
                            GOTRACE__PROC_FREE = 0,
                            GOTRACE__PROC_RUNNING = 1,
                            GOTRACE__PROC_IDLE = 2,
                            GOTRACE__PROC_SYSCALL = 3,
                            GOTRACE__PROC_LOST = 4 /* in records: its thread has reported the loss, no thief has */
};

typedef struct gotrace__thread gotrace__thread;

#define GOTRACE__KINDS 144 /* event numbers */

/* Named reasons, see gotrace_reason: number << 8, plus the built-in reason to use in v1. */
#ifndef GOTRACE__REASONS
#define GOTRACE__REASONS 512u
#endif
#define gotrace__reason_number(reason) ((reason) >> 8)
#define gotrace__reason_base(reason) (0x7f & (reason))

/* A piece of the trace on its way to the reader; the data follow in memory. */
typedef struct gotrace__piece {
  struct gotrace__piece *link;
  uint32_t size;
  bool ends_cut; /* the trace is complete up to its end */
} gotrace__piece;

/* A generation kept by the flight recorder, as the reader delivered it. */
typedef struct gotrace__past {
  struct gotrace__past *link;
  gotrace__piece *first, *last;
  uint64_t end_nanoseconds;
} gotrace__past;

#ifndef GOTRACE__SLAB
#define GOTRACE__SLAB 64 /* records */
#endif
typedef struct gotrace__slab {
  struct gotrace__slab *next;
  gotrace_go *gos; /* in the same allocation, aligned */
} gotrace__slab;
#define GOTRACE__SLAB_SIZE (sizeof(gotrace__slab) + GOTRACE__ALIGNOF(gotrace_go) + GOTRACE__SLAB * sizeof(gotrace_go))

#define GOTRACE__SAMPLE_FRAMES 60
#ifndef GOTRACE__SAMPLES
#define GOTRACE__SAMPLES 512
#endif
typedef struct gotrace__sample {
  gotrace__uint64 turn; /* atomic: whose turn it is to use this place, see gotrace_cpu_sample */
  gotrace__uint64 time, go, thread;
  int64_t proc;
  uint32_t session; /* a sample left over from an earlier session is dropped */
  uint32_t count;
  uint32_t place;          /* of the goroutine, plus 1 */
  gotrace__thread *record; /* or NULL */
  gotrace__uint64 pcs[GOTRACE__SAMPLE_FRAMES];
} gotrace__sample;

#ifndef GOTRACE__TIMERS
#define GOTRACE__TIMERS 256
#endif

/* Sites made at run time, see gotrace_site_make. */
#ifndef GOTRACE__SITES
#define GOTRACE__SITES 262144u
#endif
#define GOTRACE__RECENT_SITES 16u /* of a thread */

/* A goroutine that the thread has set aside: because it waits, or to run others inside it (gotrace_nest_begin). */
#define GOTRACE__NEST_DEPTH 16384u
typedef struct gotrace__level {
  struct gotrace__level *outer; /* the next one outside; of a free one, the next one */
  gotrace_go *go;               /* or NULL; id detects that it was destroyed meanwhile */
  uint64_t id;
  const void *key;                        /* NULL: waits on nothing with an address; see gotrace_wait_on */
  struct gotrace__level *next, *previous; /* in the bucket; protected by its lock, like `listed` */
  bool listed;
  bool waits;
  bool nested; /* between nest begin and end */
  bool lacks;  /* the thread ran a goroutine that the trace lacks */
} gotrace__level;
#define GOTRACE__LEVELS 32
typedef struct gotrace__level_block {
  struct gotrace__level_block *next;
  gotrace__level levels[GOTRACE__LEVELS];
} gotrace__level_block;

/* Goroutines that wait on an address, in order of arrival, see gotrace_wait_on. */
#ifndef GOTRACE__WAIT_BUCKETS
#define GOTRACE__WAIT_BUCKETS 256
#endif
typedef struct gotrace__wait_bucket {
  gotrace__mutex lock;          /* protects: */
  gotrace__level *first, *last; /* first: atomic */
} gotrace__wait_bucket;

/* The goroutines of keys, see gotrace_go_keyed. */
#define GOTRACE__KEY_BUCKETS 256
typedef struct gotrace__keyed {
  struct gotrace__keyed *below[4]; /* by two bits of the key's hash; protected by the bucket's lock, like the others */
  uint64_t key;
  gotrace_go *go;
  uint64_t id; /* of the goroutine; detects that it has ended */
} gotrace__keyed;
typedef struct gotrace__key_bucket {
  gotrace__mutex lock; /* protects: */
  gotrace__keyed *top;
} gotrace__key_bucket;

/* A task that has begun and not ended. */
#ifndef GOTRACE__TASKS
#define GOTRACE__TASKS 4096
#endif
#define GOTRACE__TASK_BLOCK 4096 /* ids that a thread takes at a time; see gotrace__task_place */
#define GOTRACE__TASK_NAME 44
#define GOTRACE__TASK_WORDS ((GOTRACE__TASK_NAME + 7) / 8)
/* In the id of a task whose start has no record. JavaScript's numbers still hold such an id. */
#define GOTRACE__TASK_SILENT ((uint64_t)1 << 52)

typedef struct gotrace__open_task {
  gotrace__uint64 id; /* atomic, like all of this; 0: free */
  gotrace__uint64 parent;
  gotrace__uint64 name[GOTRACE__TASK_WORDS]; /* a string and zeros; a word's first byte is the lowest */
} gotrace__open_task;
#ifndef GOTRACE__REGION_DEPTH
#define GOTRACE__REGION_DEPTH 1024 /* a power of two */
#endif

#define GOTRACE__LABEL_WORDS 8
#define GOTRACE__LABEL (GOTRACE__LABEL_WORDS * sizeof(uint64_t))
struct GOTRACE__ALIGNED(64) gotrace_go { /* two, which may run on two threads, do not share a cache line */
  gotrace__uint64 tick;                  /* atomic; of the last record about it */
  uint32_t number;             /* atomic; its transitions in session `stamp`; only the owner writes these two (K3) */
  uint32_t stamp;              /* atomic */
  uint32_t introduced;         /* atomic; session in which a record introduced or created it */
  uint32_t place;              /* plus 1; never changes */
  gotrace__uint64 id;          /* atomic */
  uintptr_t pc;                /* atomic; of its entry, like the next three */
  const char *function, *file; /* atomic */
  uint32_t line;               /* atomic */
  uint8_t status;              /* atomic; hint */
  uint8_t live;                /* atomic; 0 while its place is free */
  uint8_t flags;               /* atomic; GOTRACE__RECORD_OWN, _TIMER */
  uint8_t extra;               /* atomic; whether there may be a label or bounds, in a cache line few calls need: */
  gotrace__uint64 *label;      /* atomic; NULL, or GOTRACE__LABEL_WORDS atomic words: a string and zeros */
  uintptr_t stack_low, stack_high; /* atomic */
};

struct gotrace_proc {
  gotrace__uint64 tick; /* atomic, like the next three; as for goroutines */
  uint32_t number, stamp;
  uint32_t owner;          /* index of the thread that started it last and has not lost it; 0: none */
  uint8_t status;          /* atomic; hint */
  bool sweep, scan;        /* atomic; between begin and end; hints */
  uint32_t used;           /* atomic; 0: free */
  int id;                  /* its place, from 0 on; never changes */
  gotrace_proc *next;      /* atomic; in the list of all procs, by id */
  gotrace_proc *next_free; /* protected by gotrace__t.records */
  char padding[64];        /* two procs do not share a cache line */
};

/* Bits of in_call. GOTRACE__WAITS: the thread waits, and `go` is the goroutine that does. It began while tracing was
 * off, when the thread had set nothing aside; a few stores begin and end such a wait. Any other call first sets `go`
 * aside, see gotrace__set_wait_aside. */
enum { GOTRACE__IN_CALL = 1, GOTRACE__WAITS = 2 };
#define GOTRACE__NEVER UINT32_MAX /* no session has this number */
struct gotrace__thread {
  uintptr_t in_call; /* atomic; the call's position, and bits */
  /* Owned by the thread, in a call: */
  uint32_t session;                    /* of the chunk */
  uint32_t ready;                      /* the same while the next call can use the chunk, else GOTRACE__NEVER */
  struct gotrace__record_chunk *chunk; /* or NULL; the next record goes where its size says */
  gotrace__uint64 tick;                /* of the last record */
  gotrace_go *go;                      /* atomic, like the next two: a start reads them */
  gotrace_proc *proc;
  bool in_syscall;       /* go is in a system call; proc may have been stolen */
  bool sweep, scan;      /* as in a proc, for a thread without one */
  gotrace_proc *lost;    /* the one it had when a system call ended blocked, or NULL */
  gotrace__level *level; /* the innermost, or NULL; changes in a call, like the next four */
  gotrace__level outermost, *free_levels;
  gotrace__level_block *level_blocks;
  uint32_t depth, nests; /* levels; how many are nested */
  bool lacks;            /* it has started a NULL handle */
  bool was_worker;       /* it has stopped a proc, and has not declared since that it is a plain thread */
  bool renamed;          /* its name is from gotrace_thread_rename, for good */
  gotrace_go *own_go;    /* of a plain thread */
  gotrace__uint64 own_go_id;
  const char *name;
  gotrace_location entry;                            /* of the goroutine last referred to */
  uint32_t entry_number, entry_session;              /* the number of its stack, in that session */
  struct gotrace__seen_stack *seen_stacks;           /* see gotrace__captured_stack */
  gotrace_site *recent_sites[GOTRACE__RECENT_SITES]; /* atomic; see gotrace__make_site */
  gotrace__uint64 next_go_id, last_go_id, next_task_id, last_task_id;
  gotrace_go **free_gos; /* GOTRACE__MOST_FREE pointers */
  unsigned free_count, take;
  bool have_bounds;
  uintptr_t stack_low, stack_high;
  uintptr_t own_low, own_high; /* the same, known from the first call on; see gotrace__has_outlived */
#if GOTRACE_DEBUG
  gotrace_site *site, *last_site; /* of the call, or NULL; in the last SITE record */
#endif
  /* Set when the record is assigned to a thread: */
  gotrace__uint64 index, system_id; /* atomic */
  uint32_t used;                    /* atomic; see gotrace__use */
  gotrace__thread *next;
  /* To the driver: */
  uint32_t first_session; /* atomic; session whose first chunk is `first` */
  struct gotrace__record_chunk *first;
  /* Owned by the driver: */
  uint32_t read_session; /* in which `source` reads this record's chunks */
  struct gotrace__source *source;
  struct gotrace__record_chunk *read_chunk; /* atomic; the records up to here have been applied: */
  uint32_t read_at;                         /* atomic */
  char padding[64];
};
enum gotrace__use {
  GOTRACE__FREE_RECORD = 0,
  GOTRACE__USED = 1,
  GOTRACE__ENDED = 2 /* its thread has ended, but not all of its records have been applied */
};

static struct gotrace__tracer {
  uint32_t fence;   /* atomic; a call's flag needs a fence, because there is no barrier */
  uint32_t version; /* atomic; of the format */
  gotrace__table *strings, *stacks, *site_numbers; /* atomic; of the session */
  uint32_t alloc_events;                           /* atomic; memory is traced */
  uint32_t untracked;                              /* atomic; see gotrace_track_while_off */
  gotrace__uint64 start_tick;                      /* atomic */
  uint32_t chunk_bytes, blocks;                    /* atomic; of a large chunk; GOTRACE_LIMIT_BLOCK */
  uint32_t stack_mode; /* atomic, like the next two, since a call may be held up across a start */
  gotrace_unwind_fn *unwind;
  void *unwind_context;
  gotrace_options options;
  char padding[64]; /* the fields above are read by calls and rarely written */

  gotrace__mutex life;  /* start, stop; protects: */
  uint32_t ready;       /* atomic; platform is initialized */
  uint32_t gone;        /* atomic; unloaded */
  bool exit_registered; /* gotrace__exit runs when the process ends */
  bool opening;         /* a start opens its file */
  bool active;          /* there is a session */
  uint32_t process;     /* atomic: id of the one that began it; a child that is not of fork has no service thread */
  bool stopping;        /* a gotrace_stop waits for the reader and will clean up; changes under queue_lock too */
  uintptr_t stopper;    /* that call's thread: the address of its gotrace__self; so are the next two */
  uintptr_t opener, snapper;
  bool service;     /* a service thread reads */
  bool flight;      /* the session is a flight recorder */
  uint32_t session; /* atomic; the last number given */
  uint32_t cleaned; /* atomic; the last session whose memory has been freed, or is about to be */
  gotrace__file file;
  uint8_t empty_trace[160]; /* a trace without events: the file's contents until the trace replaces them */
  uint32_t empty_trace_size;
  bool is_empty; /* the file still has them; owned by the service */
  gotrace__thread_handle service_thread;
  gotrace_stats last; /* statistics of the last trace */

  gotrace__mutex work; /* protects: */
  struct gotrace__transcriber *transcriber;
  gotrace_stats at_cut;                   /* as `published`; of the empty trace, before the first cut */
  gotrace__piece *unready, *unready_last; /* since the last cut: a trace must not end within a generation */
  gotrace__uint64 last_cut, last_round;   /* nanoseconds */
  uint64_t thread_total;
  gotrace__uint64 cut_count; /* atomic; number of cuts made */

  gotrace__mutex queue_lock;            /* protects: */
  gotrace__cond changed;                /* there is more to read, or room, or the trace has ended */
  gotrace__piece *pieces, *pieces_last; /* to be read, in order */
  gotrace__piece *spare_piece;
  struct gotrace__record_chunk *spare_chunks; /* of full size */
  bool work_wanted;                           /* a chunk is full */
  bool ended;                                 /* no more pieces will follow; changes under work too */
  uint8_t empty;  /* 1: the trace has no cut, and its end is that of the empty trace; 2: which has been delivered */
  bool snapshot;  /* one is being taken */
  bool takes;     /* a reader is in its call, and `reading` is what it will return */
  bool impatient; /* at exit, this session has been waited for in vain */
  gotrace_stats published; /* statistics as of the last round, without what the reader counts */

  gotrace__mutex records; /* protects: */
  gotrace_go **free_gos;  /* of all threads */
  size_t free_count, free_capacity;
  gotrace__slab *slabs; /* atomic; never freed */
  uint32_t slab_count;
  gotrace_proc *procs; /* atomic; never freed */
  gotrace_proc **procs_tail;
  gotrace_proc *free_procs; /* destroyed, the last first */
  int proc_count;
  gotrace__thread *threads; /* atomic; never freed */
  gotrace__uint64 thread_count;
  gotrace__table *names, *reasons; /* atomic, like the next two; see gotrace__keep */
  gotrace__table *sites, *site_texts;
  const char *reason_names[GOTRACE__REASONS]; /* atomic; by number - 1 */
  gotrace__uint64 next_go_id, next_task_id;   /* atomic */
  gotrace__uint64 collector;                  /* atomic; session << 32 | the number of its transitions in that */
  uint32_t gc, stw;                           /* atomic; hints */
  gotrace__uint64 procs_changed;              /* atomic: the last value reported, or 0 */
  gotrace__uint64 heap_alloc, heap_goal;      /* likewise, plus 1 */

  gotrace__wait_bucket wait_buckets[GOTRACE__WAIT_BUCKETS];
  gotrace__key_bucket key_buckets[GOTRACE__KEY_BUCKETS];
  uint32_t forks;                 /* of which this process was the child: see gotrace__settle_waits */
  gotrace__open_task *open_tasks; /* atomic; GOTRACE__TASKS places, by id; allocated by the first task and kept */

  gotrace__mutex flight_lock;      /* protects: */
  gotrace__past *past, *past_last; /* generations, oldest first */
  gotrace__past *kept;             /* the oldest that the recorder keeps, or NULL */
  gotrace__past *writing;          /* the oldest that a snapshot must still write, or NULL */
  gotrace__past *writing_last;     /* the last that it writes */
  size_t past_bytes;               /* of all pieces, including those that only a snapshot uses */
  gotrace__past *past_open;        /* owned by the service: not yet complete */
  bool past_lost;                  /* owned by the service: part of this generation is lost */
  gotrace__uint64 past_count;      /* number of generations completed so far; atomic */

  /* Owned by the reader: */
  uint32_t reader;           /* atomic; 1 while a thread is in gotrace_read */
  uintptr_t read_by;         /* atomic; the last reader: the address of that thread's gotrace__self */
  int reader_cancel;         /* whether that thread may be cancelled; possible only while it waits */
  uint32_t done;             /* atomic; the end of the trace has been returned */
  gotrace__piece *reading;   /* handed to the caller */
  bool is_orphan;            /* owned by the service: no other thread is left */
  gotrace__uint64 last_look; /* owned by the service: nanoseconds */

  gotrace__budget budget, flight_budget;
  uint32_t verdict;      /* atomic; see gotrace__end_of */
  uint32_t early;        /* atomic; gotrace_result of a failure while the trace is delivered, or 0 */
  gotrace__uint64 moved; /* atomic; nanoseconds: when a sink or snapshot was last given a piece */
  gotrace__uint64 bytes, consistent_bytes, cuts; /* atomic */
  gotrace__uint64 samples_lost;                  /* atomic */
  bool sink_failed;                              /* owned by the service; changes under queue_lock, like the next */
  int system_error;
  gotrace__uint64 lost, nested, over; /* atomic; calls dropped: for lack of memory; nested; of threads that are over */
  gotrace__sample *samples;           /* atomic; allocated by the first trace with samples and kept */
  gotrace__uint64 sample_head, sample_tail; /* atomic; the driver's */
} gotrace__t;

/* Otherwise atomic operations on them would call libatomic, cross a cache line, or trap. */
GOTRACE__STATIC_ASSERT(GOTRACE__ALIGNOF(gotrace__uint64) == 8 && offsetof(gotrace_site, number) % 8 == 0 &&
                           offsetof(gotrace_go, id) % 8 == 0 && offsetof(gotrace__thread, system_id) % 8 == 0 &&
                           offsetof(struct gotrace__tracer, next_go_id) % 8 == 0,
                       atomics_alignment);

#if !GOTRACE_STATIC
gotrace__flag gotrace__on;
#endif

static GOTRACE__THREAD_LOCAL gotrace__thread *gotrace__self GOTRACE__TLS_MODEL;

GOTRACE__FN GOTRACE__NOINLINE void gotrace__drop_nested(void) { gotrace__add_relaxed(&gotrace__t.nested, 1); }

/* How much deeper the call that outlives another one may lie, since calls differ in the room that they take. A
 * handler's call, or an unwinder's, is farther below the one that it interrupts. */
#ifdef GOTRACE__TSAN
#define GOTRACE__NEAR 0u /* it calls handlers itself */
#else
#define GOTRACE__NEAR 512u
#endif

/* Whether both positions are on one stack: the thread's own, or that of the goroutine that it runs. */
GOTRACE__FN bool gotrace__on_one_stack(const gotrace__thread *m, uintptr_t a, uintptr_t b) {
  const gotrace_go *g = m ? m->go : NULL;
  uintptr_t low = g ? gotrace__load_relaxed(&g->stack_low) : 0, high = g ? gotrace__load_relaxed(&g->stack_high) : 0;
  if (!m) return false;
  if (a >= low && b >= low && a < high && b < high) return true;
  low = m->own_low, high = m->own_high;
  return a >= low && b >= low && a < high && b < high;
}

/* Whether the thread has left the call whose position is `held`, as seen from a call at `position`. A signal handler or
 * callback may leave a call for ever: by siglongjmp, an exception, pthread_exit or exit. The calls that it makes itself
 * lie deeper on the same stack; one that does not has outlived that call. Where that is not certain it has not: then
 * calls are dropped. `slack`: how much deeper a later call may lie. */
GOTRACE__FN bool gotrace__has_outlived(const gotrace__thread *m, uintptr_t held, uintptr_t position, uintptr_t slack) {
  uintptr_t low, high;
  held &= ~(uintptr_t)(GOTRACE__WAITS | GOTRACE__IN_CALL);
  if (!held || !position) return false;
  if (gotrace__alternate_stack(&low, &high)) {
    bool now = position >= low && position < high;
    if (now != (held >= low && held < high)) return !now; /* it has been left; or it is below the handler that runs */
    if (now) return position + slack >= held;
  }
  return position + slack >= held && gotrace__on_one_stack(m, held, position);
}

GOTRACE__FN void gotrace__give_up(void);

/* Ends the thread's call that will not go on, if there is one. Its record was not published; its time was, so the next
 * record needs a chunk that begins there. */
GOTRACE__FN void gotrace__take_over(gotrace__thread *m) {
  gotrace__level *level;
  if (!m || !(gotrace__load_relaxed(&m->in_call) & GOTRACE__IN_CALL)) return;
  m->ready = GOTRACE__NEVER;
  m->depth = m->nests = 0;
  for (level = m->level; level; level = level->outer) {
    m->depth++;
    m->nests += level->nested;
  }
#if GOTRACE_DEBUG
  m->site = NULL;
#endif
  gotrace__inside &= ~GOTRACE__IN_UNWINDER;
  gotrace__store_release(&m->in_call, gotrace__load_relaxed(&m->in_call) & GOTRACE__WAITS);
}

/* The same if the call is one that starts, reads, writes or ends a trace: others may do it. */
GOTRACE__FN void gotrace__take_over_control(void) {
  if (!gotrace__control_position && !gotrace__in_sink) return;
  gotrace__set_in_sink(false);
  gotrace__give_up();
  gotrace__control_position = 0;
}

/* Whether the thread is in a call that goes on, or holds a lock: then its calls are nested. `position`: of the caller.
 */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__is_inside(gotrace__thread *m, uintptr_t position) {
  uintptr_t held = m ? gotrace__load_relaxed(&m->in_call) : 0;
  if (gotrace__inside & GOTRACE__LOCKS) return true;
  if (gotrace__in_sink) {
    if (!gotrace__has_outlived(m, gotrace__sink_position, position, 0)) return true;
    gotrace__take_over_control();
  }
  if (!(held & GOTRACE__IN_CALL)) return false;
  if (!gotrace__has_outlived(m, held, position, GOTRACE__NEAR)) return true;
  gotrace__take_over(m);
  return false;
}
GOTRACE__FN inline bool gotrace__is_nested(gotrace__thread *m) {
  unsigned called = m ? (unsigned)gotrace__load_relaxed(&m->in_call) & GOTRACE__IN_CALL : 0;
  return GOTRACE__UNLIKELY(called | gotrace__inside) && gotrace__is_inside(m, GOTRACE__POSITION());
}
/* The same for a call that starts, reads or ends a trace. A sink may make those that its documentation permits. `ends`:
 * so may a signal handler that interrupts a call which reports an event; that call's record is lost. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__is_refused(bool ends) {
  gotrace__thread *m = gotrace__self;
  uintptr_t position = GOTRACE__POSITION();
  bool nested = (gotrace__inside & GOTRACE__LOCKS) != 0;
  if (!nested && !gotrace__in_sink) {
    nested = gotrace__is_nested(m) && !(ends && !gotrace__inside);
    if (gotrace__control_position) {
      if (!gotrace__has_outlived(m, gotrace__control_position, position, GOTRACE__NEAR)) nested = true;
      else gotrace__take_over_control();
    }
  }
  if (nested) gotrace__drop_nested();
  return nested;
}

/* Whether the call is made in the program's write function or symbolizer. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__is_in_sink(void) {
  if (gotrace__in_sink && gotrace__has_outlived(gotrace__self, gotrace__sink_position, GOTRACE__POSITION(), 0))
    gotrace__take_over_control();
  return gotrace__in_sink;
}

GOTRACE__FN uint64_t gotrace__now(void) { return (uint64_t)GOTRACE__TICKS() / GOTRACE_TICK_DIV; }

#ifndef GOTRACE__SPINS
#define GOTRACE__SPINS 64 /* before yielding the processor */
#endif
#ifndef GOTRACE__YIELDS
#define GOTRACE__YIELDS 64 /* before sleeping, a millisecond each time */
#endif
/* Waits a little for another thread. That thread may be held up inside a call (by a signal handler or a debugger), or
 * have a lower real-time priority on the same processor: only a sleep lets it run. */
GOTRACE__FN void gotrace__back_off(unsigned *spins) {
  if (++*spins % GOTRACE__SPINS != 0) return;
  if (*spins < GOTRACE__SPINS * GOTRACE__YIELDS) {
    gotrace__yield();
  } else {
    *spins = GOTRACE__SPINS * GOTRACE__YIELDS - 1;
    gotrace__sleep();
  }
}

static gotrace__mutex gotrace__init_lock = GOTRACE__MUTEX;
GOTRACE__FN void gotrace__init(void) {
  static const gotrace__mutex unlocked = GOTRACE__MUTEX; /* not zero on macOS and NetBSD */
  struct gotrace__tracer *t = &gotrace__t;
  size_t i;
  if (GOTRACE__LIKELY(gotrace__load_acquire(&t->ready))) return;
  gotrace__lock(&gotrace__init_lock);
  if (!t->ready) {
    t->life = t->work = t->queue_lock = t->records = t->flight_lock = unlocked;
    for (i = 0; i < GOTRACE__WAIT_BUCKETS; i++) t->wait_buckets[i].lock = unlocked;
    for (i = 0; i < GOTRACE__KEY_BUCKETS; i++) t->key_buckets[i].lock = unlocked;
    gotrace__cond_init(&t->changed);
    gotrace__platform_init();
#if !GOTRACE_SEQ_CST_FLAG
    t->fence = !gotrace__barrier_init();
#endif
    t->file.number = -1;
    t->procs_tail = &t->procs;
    gotrace__store_release(&t->ready, 1u);
  }
  gotrace__unlock(&gotrace__init_lock);
}

GOTRACE__FN gotrace__thread *gotrace__thread_register(void);

GOTRACE__FN inline gotrace__thread *gotrace__me(void) {
  gotrace__thread *m = gotrace__self;
  return GOTRACE__LIKELY(m != NULL) ? m : gotrace__thread_register();
}

/* NULL also if the call is nested, and therefore dropped. */
GOTRACE__FN void gotrace__set_wait_aside(gotrace__thread *m);
GOTRACE__FN GOTRACE__COLD gotrace__thread *gotrace__me_outside(void) {
  gotrace__thread *m = gotrace__me();
  if (m && gotrace__is_nested(m)) {
    gotrace__drop_nested();
    return NULL;
  }
  if (m) gotrace__set_wait_aside(m);
  return m;
}

/* The goroutine that a thread, perhaps another one, runs. `in_call` is read first, see gotrace__set_wait_aside. */
GOTRACE__FN inline gotrace_go *gotrace__runs(const gotrace__thread *m) {
  bool waits = (gotrace__load_acquire(&m->in_call) & GOTRACE__WAITS) != 0;
  return waits ? NULL : gotrace__load_relaxed(&m->go);
}

/* Counts copies of the implementation in other modules. The dynamic linker merges them unless a module was linked with
 * -Bsymbolic or similar; then the symbol that it finds by name is not the one that the module itself uses. */
#if defined(__linux__) && !defined(__ANDROID__) && !GOTRACE_STATIC && !defined(GOTRACE__PLATFORM)
extern GOTRACE_API uint32_t gotrace__other_copies; /* atomic */
uint32_t gotrace__other_copies;
GOTRACE__FN void gotrace__count_copies(uint32_t change) {
  /* Looks among the program's symbols, since the module's own would come first in its own scope. dlopen is called
   * through its address, since a static link would warn about it. */
  void *address = GOTRACE__C(dlsym)(NULL, "dlopen"); /* NULL: RTLD_DEFAULT */
  void *(*open)(const char *path, int mode);
  uint32_t *found = NULL;
  memcpy(&open, &address, sizeof open);
  if (address) found = (uint32_t *)GOTRACE__C(dlsym)(open(NULL, 1), "gotrace__other_copies");
  if (!found) /* the host must not see our error, which glibc frees at the second call */
    (void)GOTRACE__C(dlerror)(), (void)GOTRACE__C(dlerror)();
  if (!found || found == &gotrace__other_copies) return;
  gotrace__add_relaxed(found, change);
  gotrace__add_relaxed(&gotrace__other_copies, change);
}
__attribute__((__constructor__)) GOTRACE__FN void gotrace__copy_loaded(void) { gotrace__count_copies(1); }
__attribute__((__destructor__)) GOTRACE__FN void gotrace__copy_unloaded(void) { gotrace__count_copies((uint32_t)-1); }
#else
static const uint32_t gotrace__other_copies = 0;
#endif

GOTRACE__FN void gotrace__attach(gotrace__thread *m, gotrace_site *site);
GOTRACE__FN void gotrace__drain(bool block);
GOTRACE__FN void gotrace__clean_up(void);
GOTRACE__FN uint32_t gotrace__write_asked(bool exits);
GOTRACE__FN void gotrace__say_stats(uint32_t what);

GOTRACE__DEFINE bool gotrace_is_enabled(void) { return gotrace_enabled(); }

#if GOTRACE__HAS_SECTION
/* The linker's names: with an __asm__ name, GCC would not hide them in a library. */
extern const char __start_gotrace_calls[] __attribute__((__visibility__("hidden")));
extern const char __stop_gotrace_calls[] __attribute__((__visibility__("hidden")));
GOTRACE__FN bool gotrace__is_code_of_call(uintptr_t pc) {
  return pc >= (uintptr_t)__start_gotrace_calls && pc < (uintptr_t)__stop_gotrace_calls;
}
#else
GOTRACE__FN bool gotrace__is_code_of_call(uintptr_t pc) { return (void)pc, false; }
#endif

/* A call has its thread's record in a register before it says so, and, in the short ways while tracing is off, does not
 * say so at all: there the program counter tells. In all other code that a call runs, it has said so. */
GOTRACE__DEFINE bool gotrace_in_call(const void *pc) {
  gotrace__thread *m = gotrace__self;
  uintptr_t flag = m ? gotrace__load_relaxed(&m->in_call) : 0, position = GOTRACE__POSITION();
  const uintptr_t held[] = {flag & GOTRACE__IN_CALL ? flag : 0, gotrace__busy_position, gotrace__control_position};
  size_t i;
  if (gotrace__is_code_of_call((uintptr_t)pc) || gotrace__inside) return true;
  for (i = 0; i < sizeof held / sizeof held[0]; i++)
    if (held[i] && !gotrace__has_outlived(m, held[i], position, GOTRACE__NEAR)) return true;
  return false;
}

GOTRACE__DEFINE void gotrace_track_while_off(bool track) { gotrace__store_relaxed(&gotrace__t.untracked, !track); }
GOTRACE__FN inline bool gotrace__is_untracked(void) { return gotrace__load_relaxed(&gotrace__t.untracked) != 0; }

#define GOTRACE__NO_THREAD UINT64_MAX /* internal/trace.NoThread */

/* --------------------------------------------------------------------------------------------------- >>reasons ---- */

typedef struct gotrace__known_reason {
  const char *name;
  uint8_t v1; /* event; 0: none */
} gotrace__known_reason;

#define GOTRACE__REASON(NAME, number, v1, text) {text, GOTRACE_V1_##v1},
static const gotrace__known_reason gotrace__block_reasons[] = {GOTRACE_BLOCK_REASONS(GOTRACE__REASON)};
static const gotrace__known_reason gotrace__stop_reasons[] = {GOTRACE_STOP_REASONS(GOTRACE__REASON)};
#undef GOTRACE__REASON
#define GOTRACE__REASON(NAME, number, text) {text, 0},
static const gotrace__known_reason gotrace__stw_reasons[] = {GOTRACE_STW_REASONS(GOTRACE__REASON)};
#undef GOTRACE__REASON
static const gotrace__known_reason *const gotrace__known_reasons[] = {gotrace__block_reasons, gotrace__stop_reasons,
                                                                      gotrace__stw_reasons};

/* The entry of a payload in a table that is never freed, as gotrace__table_add. Adds it, if there are fewer than
 * `most`. NULL: it is not there, or out of memory. */
GOTRACE__FN gotrace__entry *gotrace__keep(gotrace__table **kept, uint32_t most, uint64_t hash, uint32_t size,
                                          const void *payload, size_t bytes, size_t room) {
  gotrace__table *table = gotrace__load_acquire(kept);
  uintptr_t before = gotrace__mark();
  gotrace__entry *entry = table ? gotrace__table_find(table, hash, size, payload, bytes) : NULL;
  gotrace__unmark(before);
  if (entry || !most) return entry;
  gotrace__init();
  gotrace__lock(&gotrace__t.records);
  table = *kept;
  if (!table) gotrace__store_release(kept, table = gotrace__table_new(NULL, false));
  if (table && gotrace__load_relaxed(&table->count) < most)
    entry = gotrace__table_add(table, hash, size, payload, bytes, room);
  else if (table) entry = gotrace__table_find(table, hash, size, payload, bytes);
  gotrace__unlock(&gotrace__t.records);
  return entry;
}

/* The same for a text; a NUL ends it there. */
GOTRACE__FN gotrace__entry *gotrace__keep_text(gotrace__table **kept, uint32_t most, const char *text, size_t size) {
  return gotrace__keep(kept, most, gotrace__hash_bytes(text, size), (uint32_t)size, text, size, 1);
}

GOTRACE__DEFINE unsigned gotrace_reason(const char *name) {
  uint32_t most = gotrace__is_nested(gotrace__self) ? 0 : GOTRACE__REASONS; /* a nested call may look up, but not add */
  size_t size = name ? gotrace__truncated_size(name, gotrace__length(name)) : 0;
  const gotrace__entry *entry;
  if (!size || gotrace__same_text(name, "forever")) return 0;
  entry = gotrace__keep_text(&gotrace__t.reasons, most, name, size);
  if (!entry) return 0;
  /* Release: a thread that gets the number from another thread must find the name. */
  gotrace__store_release(&gotrace__t.reason_names[entry->id - 1], (const char *)(entry + 1));
  return entry->id << 8;
}

/* ------------------------------------------------------------------------------------------------- >>records ----
 *
 * What a thread captures: one record per call, in chunks that only this thread writes. It publishes a record by storing
 * the chunk's new size (release). The transcriber reads what has been published (acquire), where it is.
 *
 * A record is words of 8 bytes. The first one, its head, has the kind (8 bits), the ticks since the thread's last
 * record (24) and the call's site (32): its number in the table of sites, which knows the stack that is the site alone,
 * and the name that the site always gives. Then come the kind's fields, without gaps, and its text. What a head has no
 * room for is in records before it, which are published with it: TIME, STACK, NAME, OF_TASK and SITE say something of
 * the next record.
 *
 * X(NAME, ORDER, handler, TEXT, fields) says all about a kind. F(type, name) is a field. TEXT has a text after its
 * fields. ORDER is what must have been applied before the record, and which fields come first:
 *
 *   NONE              nothing
 *   SAID              it is part of the next record (see gotrace__take_said), and has no handler
 *   FORMER            all records of an ended thread with the same id
 *   BIRTH, NEXT, START, WAKE, MARK   of the goroutine `go`, up to the transition `number`
 *   PROC, LAST        of the proc `proc`, up to the transition `number`
 *   TAKEN             the steal of the proc that the thread lost in a system call
 *   OPEN              the begin of the task `task`
 *   COLLECTED         of the collector, up to the transition `number`
 *
 * The handler is gotrace__apply_<handler>; >>apply has it, and what ORDER waits for. The fields mean:
 *
 *   go, proc      place of the object's record, plus 1; 0: none
 *   number        the object's transitions so far, see GOTRACE__IS_LATER
 *   id, task      ids in the trace
 *   entry, stack  numbers in the stack table; 0: none
 *   gc, stw       whether a collection and a stop-the-world have begun; before the collector's first number
 *   site          address of the gotrace_site of the records that follow; 0: none (only with GOTRACE_DEBUG)
 *   status        gotrace__status or gotrace__proc_status
 *   flags         GOTRACE__RECORD_... below
 *   plain         whether the thread runs goroutines inside another one and has no proc
 *   event         of Go's memory events: its number
 *
 * The texts are a name (NAME), labels, and a log's message. */
#define GOTRACE__RECORDS(X, F)                                                                                     \
  X(TIME, SAID, , NO_TEXT, F(uint64_t, ticks)) /* more than a head has room for */                                 \
  X(STACK, SAID, , NO_TEXT, F(uint32_t, stack))                                                                    \
  X(NAME, SAID, , TEXT, )                                                                                          \
  X(OF_TASK, SAID, , NO_TEXT, F(uint64_t, task))                                                                   \
  X(SITE, SAID, , NO_TEXT, F(uint64_t, site))                                                                      \
  X(THREAD, FORMER, thread, TEXT,                                                                                  \
    F(uint32_t, go) F(uint32_t, proc) F(uint64_t, id) F(uint32_t, entry) F(uint32_t, flags))                       \
  X(GO, NONE, go, TEXT, F(uint32_t, go) F(uint32_t, entry) F(uint64_t, id) F(uint32_t, status) F(uint32_t, flags)) \
  X(PROC, NONE, proc, NO_TEXT, F(uint32_t, proc) F(uint32_t, status))                                              \
  X(THREAD_END, NONE, thread_end, NO_TEXT, )                                                                       \
  X(PROC_START, PROC, proc_start, NO_TEXT, )                                                                       \
  X(PROC_STOP, NONE, proc_stop, NO_TEXT, )                                                                         \
  X(PROC_STEAL, PROC, proc_steal, NO_TEXT, )                                                                       \
  X(PROC_DESTROY, LAST, proc_destroy, NO_TEXT, )                                                                   \
  X(GO_CREATE, BIRTH, create, NO_TEXT, F(uint64_t, id) F(uint32_t, entry) F(uint16_t, status) F(uint16_t, flags))  \
  X(GO_START, START, start, NO_TEXT, )                                                                             \
  X(THREAD_START, START, start, NO_TEXT, )                                                                         \
  X(WAIT_END, START, start, NO_TEXT, )                                                                             \
  X(GO_END, NONE, running, NO_TEXT, )                                                                              \
  X(GO_END_IN_SYSCALL, NONE, running, NO_TEXT, )                                                                   \
  X(GO_STOP, NONE, running, NO_TEXT, F(uint32_t, reason))                                                          \
  X(GO_BLOCK, NONE, running, NO_TEXT, F(uint32_t, reason))                                                         \
  X(GO_UNBLOCK, WAKE, unblock, NO_TEXT, )                                                                          \
  X(GO_SWITCH, NEXT, switch, NO_TEXT, F(uint32_t, reason))                                                         \
  X(GO_SWITCH_END, NEXT, switch, NO_TEXT, )                                                                        \
  X(GO_DESTROY, NEXT, destroy, NO_TEXT, )                                                                          \
  X(SYSCALL_BEGIN, NONE, running, NO_TEXT, )                                                                       \
  X(SYSCALL_END, NONE, running, NO_TEXT, )                                                                         \
  X(SYSCALL_END_BLOCKED, TAKEN, running, NO_TEXT, )                                                                \
  X(GO_LABEL, NONE, label, TEXT, )                                                                                 \
  X(GO_RENAME, MARK, rename, TEXT, F(uint32_t, entry))                                                             \
  X(GO_TIMER, MARK, timer, NO_TEXT, )                                                                              \
  X(NEST_BEGIN, START, nest, NO_TEXT, F(uint32_t, plain))                                                          \
  X(NEST_END, START, nest, NO_TEXT, F(uint32_t, plain))                                                            \
  X(PROCS_CHANGE, NONE, procs_change, NO_TEXT, F(uint64_t, count))                                                 \
  X(COLLECTOR, NONE, collector, NO_TEXT, F(uint32_t, gc) F(uint32_t, stw))                                         \
  X(GC_BEGIN, COLLECTED, gc, NO_TEXT, )                                                                            \
  X(GC_END, COLLECTED, gc, NO_TEXT, )                                                                              \
  X(STW_BEGIN, COLLECTED, stw_begin, NO_TEXT, F(uint32_t, reason))                                                 \
  X(STW_END, COLLECTED, stw_end, NO_TEXT, )                                                                        \
  X(SCAN_BEGIN, NONE, scan, NO_TEXT, )                                                                             \
  X(SCAN_END, NONE, scan, NO_TEXT, )                                                                               \
  X(SWEEP_BEGIN, NONE, sweep, NO_TEXT, )                                                                           \
  X(SWEEP_SPAN, NONE, sweep, NO_TEXT, F(uint64_t, swept) F(uint64_t, reclaimed))                                   \
  X(SWEEP_END, NONE, sweep, NO_TEXT, )                                                                             \
  X(MARK_ASSIST_BEGIN, NONE, mark_assist, NO_TEXT, )                                                               \
  X(MARK_ASSIST_END, NONE, mark_assist, NO_TEXT, )                                                                 \
  X(HEAP_ALLOC, NONE, heap, NO_TEXT, F(uint64_t, bytes))                                                           \
  X(HEAP_GOAL, NONE, heap, NO_TEXT, F(uint64_t, bytes))                                                            \
  X(MEMORY, NONE, memory, NO_TEXT,                                                                                 \
    F(uint64_t, address) F(uint64_t, bytes) F(uint64_t, class_or_type) F(uint32_t, event))                         \
  X(TASK_BEGIN, NONE, task_begin, NO_TEXT, F(uint64_t, task) F(uint64_t, parent))                                  \
  X(TASK_END, OPEN, task_end, NO_TEXT, )                                                                           \
  X(REGION_BEGIN, NONE, region, NO_TEXT, )                                                                         \
  X(REGION_END, NONE, region, NO_TEXT, )                                                                           \
  X(REGION_POP, NONE, region_pop, NO_TEXT, )                                                                       \
  X(LOG, NONE, log, TEXT, )                                                                                        \
  X(PROBLEM, NONE, problem, NO_TEXT, F(uint32_t, problem))

/* The fields that ORDER puts first. */
#define GOTRACE__FIRST_NONE(F)
#define GOTRACE__FIRST_SAID(F)
#define GOTRACE__FIRST_FORMER(F)
#define GOTRACE__FIRST_TAKEN(F)
#define GOTRACE__FIRST_BIRTH(F) F(uint32_t, go) F(uint32_t, number)
#define GOTRACE__FIRST_NEXT(F) GOTRACE__FIRST_BIRTH(F)
#define GOTRACE__FIRST_START(F) GOTRACE__FIRST_BIRTH(F)
#define GOTRACE__FIRST_WAKE(F) GOTRACE__FIRST_BIRTH(F)
#define GOTRACE__FIRST_MARK(F) GOTRACE__FIRST_BIRTH(F)
#define GOTRACE__FIRST_PROC(F) F(uint32_t, proc) F(uint32_t, number)
#define GOTRACE__FIRST_LAST(F) GOTRACE__FIRST_PROC(F)
#define GOTRACE__FIRST_OPEN(F) F(uint64_t, task)
#define GOTRACE__FIRST_COLLECTED(F) F(uint32_t, number)

/* What ORDER is about. */
enum { GOTRACE__OF_OTHERS, GOTRACE__OF_NEXT_RECORD, GOTRACE__OF_GO };
#define GOTRACE__ABOUT_NONE GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_SAID GOTRACE__OF_NEXT_RECORD
#define GOTRACE__ABOUT_FORMER GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_TAKEN GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_BIRTH GOTRACE__OF_GO
#define GOTRACE__ABOUT_NEXT GOTRACE__OF_GO
#define GOTRACE__ABOUT_START GOTRACE__OF_GO
#define GOTRACE__ABOUT_WAKE GOTRACE__OF_GO
#define GOTRACE__ABOUT_MARK GOTRACE__OF_GO
#define GOTRACE__ABOUT_PROC GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_LAST GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_OPEN GOTRACE__OF_OTHERS
#define GOTRACE__ABOUT_COLLECTED GOTRACE__OF_OTHERS

/* The size of a text comes before its bytes. */
#define GOTRACE__TEXT_MEMBER_NO_TEXT
#define GOTRACE__TEXT_MEMBER_TEXT uint32_t text_size;
#define GOTRACE__TEXT_BYTES_NO_TEXT 0u
#define GOTRACE__TEXT_BYTES_TEXT 4u
#define GOTRACE__FLAG_NO_TEXT 0
#define GOTRACE__FLAG_TEXT GOTRACE__HAS_TEXT

enum {
  GOTRACE__REC_NONE,
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) GOTRACE__REC_##NAME,
  GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
      GOTRACE__RECORD_KINDS,
  GOTRACE__FIRST_APPLIED = GOTRACE__REC_THREAD /* those before it say something of the next one */
};

/* The records. `end`: where the fields end. */
#define GOTRACE__MEMBER(type, name) type name;
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields)                              \
  typedef struct gotrace__record_##NAME {                                                \
    uint64_t head;                                                                       \
    GOTRACE__FIRST_##ORDER(GOTRACE__MEMBER) fields GOTRACE__TEXT_MEMBER_##TEXT char end; \
  } gotrace__record_##NAME;
GOTRACE__RECORDS(GOTRACE__RECORD, GOTRACE__MEMBER)
#undef GOTRACE__RECORD

typedef union gotrace__record {
  uint64_t head;
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) gotrace__record_##NAME as_##NAME;
  GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
  gotrace__record_GO_START about_go; /* where ORDER names a goroutine, */
  gotrace__record_PROC_START about_proc;
  gotrace__record_GC_END about_collector;
} gotrace__record;

/* Bytes without the text. */
enum {
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) \
  GOTRACE__SIZE_##NAME = offsetof(gotrace__record_##NAME, end),
  GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
      GOTRACE__HAS_TEXT = 0x80
};
#define GOTRACE__BYTES(type, name) +sizeof(type)
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields)                                                      \
  GOTRACE__STATIC_ASSERT(GOTRACE__SIZE_##NAME ==                                                                 \
                                 8 GOTRACE__FIRST_##ORDER(GOTRACE__BYTES) fields + GOTRACE__TEXT_BYTES_##TEXT && \
                             GOTRACE__SIZE_##NAME < GOTRACE__HAS_TEXT,                                           \
                         NAME##_has_a_gap);                                                                      \
  GOTRACE__STATIC_ASSERT((GOTRACE__REC_##NAME < GOTRACE__FIRST_APPLIED) ==                                       \
                             (GOTRACE__ABOUT_##ORDER == GOTRACE__OF_NEXT_RECORD),                                \
                         NAME##_is_among_the_wrong_ones);
GOTRACE__RECORDS(GOTRACE__RECORD, GOTRACE__BYTES)
#undef GOTRACE__RECORD
GOTRACE__STATIC_ASSERT(GOTRACE__RECORD_KINDS <= 256, kinds_in_a_byte);

static const uint8_t gotrace__record_sizes[GOTRACE__RECORD_KINDS] = {0,
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) GOTRACE__SIZE_##NAME | GOTRACE__FLAG_##TEXT,
                                                                     GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
};

/* The head. */
#define GOTRACE__HEAD_TICKS ((uint64_t)1 << 24) /* so many need a TIME */
#define GOTRACE__NAMED ((uint32_t)1 << 31)      /* in a site's number: it knows the site's name */
GOTRACE__FN inline uint64_t gotrace__head(unsigned kind, uint64_t ticks, uint32_t site) {
  return kind | ticks << 8 | (uint64_t)site << 32;
}
GOTRACE__FN inline unsigned gotrace__kind_of(const gotrace__record *record) { return record->head & 0xff; }
GOTRACE__FN inline uint64_t gotrace__ticks_of(const gotrace__record *record) { return record->head >> 8 & 0xffffff; }
GOTRACE__FN inline uint32_t gotrace__site_of(const gotrace__record *record) {
  return (uint32_t)(record->head >> 32) & ~GOTRACE__NAMED;
}
GOTRACE__FN inline gotrace__record *gotrace__put_head(uint8_t *at, unsigned kind, uint64_t ticks, uint32_t site) {
  gotrace__record *record = (gotrace__record *)(void *)at;
  record->head = gotrace__head(kind, ticks, site);
  return record;
}
/* Bytes of a record in its chunk. */
#define GOTRACE__WORDS(bytes) (((uint32_t)(bytes) + 7u) & ~7u)

#define GOTRACE__RECORD_OWN 1             /* the thread's own goroutine: it needs no proc of the program's */
#define GOTRACE__RECORD_TIMER 2           /* see gotrace_go_timer */
#define GOTRACE__RECORD_OLD 4             /* may end regions that are older than its creation */
#define GOTRACE__RECORD_IN_SYSCALL 8      /* THREAD: its goroutine is in a system call */
#define GOTRACE__RECORD_SWEEPS 16         /* THREAD, PROC's status: a sweep is open on the proc */
#define GOTRACE__RECORD_SCANS 32          /* so is a scan */
#define GOTRACE__RECORD_PLAIN 64          /* THREAD: as "plain" */
#define GOTRACE__RECORD_LACKS 128         /* THREAD: it may run a goroutine that the trace lacks */
#define GOTRACE__SWITCH_UNEXPLAINED 0x7fu /* the reason of GO_SWITCH: none; no reason has this number */

/* Whether a number is later than another. Numbers have 32 bits and wrap around. */
#define GOTRACE__IS_LATER(a, b) ((int32_t)((uint32_t)(a) - (uint32_t)(b)) > 0)

typedef struct gotrace__record_chunk {
  struct gotrace__record_chunk *next; /* atomic: set before `size` is read for the last time */
  gotrace__uint64 tick;               /* of the thread's last record before this chunk */
  uint32_t size;                      /* atomic: bytes published; its thread writes the next record behind them */
  uint32_t session;                   /* records of other sessions are skipped */
  uint32_t capacity;                  /* of the records, which follow in memory */
} gotrace__record_chunk;
GOTRACE__STATIC_ASSERT(sizeof(gotrace__record_chunk) % 8 == 0, record_alignment);

/* A text in a record. */
typedef struct gotrace__string {
  const char *data;
  uint32_t size;
} gotrace__string;

/* Where the record at `at` ends; NULL: it is malformed, as bytes of another process may be. *text: its text, if its
 * kind has one. */
GOTRACE__ALWAYS_INLINE const uint8_t *gotrace__record_end(const uint8_t *at, const uint8_t *end,
                                                          gotrace__string *text) {
  size_t room = (size_t)(end - at), bytes;
  unsigned kind, size;
  if (GOTRACE__UNLIKELY(room < 8)) return NULL;
  kind = gotrace__kind_of((const gotrace__record *)(const void *)at);
  if (GOTRACE__UNLIKELY(kind >= GOTRACE__RECORD_KINDS)) return NULL;
  size = gotrace__record_sizes[kind];
  bytes = size & (GOTRACE__HAS_TEXT - 1);
  if (GOTRACE__UNLIKELY(!size)) return NULL;
  if (size & GOTRACE__HAS_TEXT) {
    if (GOTRACE__UNLIKELY(bytes > room)) return NULL;
    text->data = (const char *)at + bytes;
    memcpy(&text->size, text->data - sizeof text->size, sizeof text->size);
    if (GOTRACE__UNLIKELY(text->size > room - bytes)) return NULL;
    bytes += text->size;
  }
  bytes = (bytes + 7) & ~(size_t)7;
  return GOTRACE__LIKELY(bytes <= room) ? at + bytes : NULL;
}

/* ----------------------------------------------------------------------------------------------------- >>walks ---- */

GOTRACE__FN inline uint64_t gotrace__seen_hash(uint64_t hash, uintptr_t pc) { return (hash << 5 | hash >> 59) ^ pc; }

/* Reads a frame-pointer chain from `frame` within [low, high): return addresses, innermost first. A frame is two words,
 * the caller's frame and the return address, as on x86, arm64 and riscv with -fno-omit-frame-pointer (riscv: below the
 * frame pointer). On ppc64, even without that option, the return address is the third word of the caller's frame. The
 * walk ends if the chain leaves the bounds or does not ascend, so a caller that uses the register for something else
 * costs frames but never causes a fault. Adds the addresses to a hash, while it waits for the next frame. Go:
 * fpTracebackPCs. */
#if defined(__clang__)
__attribute__((__no_sanitize__("address", "memory")))
#elif GOTRACE__GNU
__attribute__((__no_sanitize__("address")))
#endif
GOTRACE__FN int
gotrace__walk(uintptr_t frame, uintptr_t low, uintptr_t high, uintptr_t *pcs, int max, uint64_t *hash) {
  int count = 0;
  uint64_t sum = *hash;
#if defined(__riscv)
  const int next = -2, ret = -1;
#elif defined(__powerpc64__)
  const int next = 0, ret = 2;
#else
  const int next = 0, ret = 1;
#endif
  if (frame < low + 2 * sizeof(uintptr_t) * (next < 0)) return 0;
  while (count < max && frame <= high - 2 * sizeof(uintptr_t) && frame % sizeof(uintptr_t) == 0) {
    const uintptr_t *words = (const uintptr_t *)frame;
    uintptr_t up = words[next];
#if defined(__powerpc64__)
    if (up <= frame || up > high - 3 * sizeof(uintptr_t) || up % sizeof(uintptr_t) != 0) break;
    words = (const uintptr_t *)up;
#endif
    if (!words[ret]) break;
    pcs[count++] = words[ret];
    sum = gotrace__seen_hash(sum, words[ret]);
    if (up <= frame) break;
    frame = up;
  }
  *hash = sum;
  return count;
}

/* The bounds of the current stack: those of the running goroutine, or the thread's own. */
GOTRACE__FN bool gotrace__bounds(gotrace__thread *m, uintptr_t *low, uintptr_t *high) {
  gotrace_go *g = m->go;
  if (g && gotrace__load_relaxed(&g->extra)) {
    *low = gotrace__load_relaxed(&g->stack_low);
    *high = gotrace__load_relaxed(&g->stack_high);
    if (*high) return true;
  }
  if (!m->have_bounds) {
    int saved = errno; /* the C library may open /proc/self/maps, and allocate */
    if (!gotrace__stack_bounds(&m->stack_low, &m->stack_high)) m->stack_low = m->stack_high = 0;
    errno = saved;
    m->have_bounds = true;
  }
  *low = m->stack_low;
  *high = m->stack_high;
  return *high > *low + 2 * sizeof(uintptr_t);
}

/* Cache of a thread's recently captured stacks, by their addresses. Most stacks recur, and computing the table's key, a
 * location per frame, takes longer than the walk. Sets of four, of which the oldest is replaced, so that alternating
 * stacks do not evict each other. 32 KiB, which stay with the thread's record. */
#define GOTRACE__SEEN_SETS 8
#define GOTRACE__SEEN_WAYS 4
#define GOTRACE__SEEN_FRAMES 124
typedef struct gotrace__seen_stack {
  uint64_t hash;
  uint32_t session, number;
  uint32_t place; /* the number of the call site's own stack: its address may be another's, in a library loaded since */
  uint32_t count; /* of pcs */
  uint32_t next;  /* in the first entry of a set: the set's oldest entry */
  uintptr_t pcs[GOTRACE__SEEN_FRAMES];
} gotrace__seen_stack;

#define gotrace__seen_set(m, hash) (&(m)->seen_stacks[((hash)*0x9e3779b97f4a7c15u >> 61) * GOTRACE__SEEN_WAYS])

/* A stack's cache entry, or NULL. */
GOTRACE__FN gotrace__seen_stack *gotrace__find_seen(const gotrace__thread *m, uint64_t hash, uint32_t place,
                                                    const uintptr_t *pcs, size_t count) {
  gotrace__seen_stack *set, *seen;
  if (!m->seen_stacks) return NULL;
  set = gotrace__seen_set(m, hash);
  for (seen = set; seen < set + GOTRACE__SEEN_WAYS; seen++)
    if (seen->hash == hash && seen->session == m->session && seen->place == place && seen->count == count &&
        memcmp(seen->pcs, pcs, count * sizeof *pcs) == 0)
      return seen;
  return NULL;
}

/* Caches a stack, unless it is too deep or memory is out. */
GOTRACE__FN void gotrace__remember_stack(gotrace__thread *m, uint64_t hash, uint32_t place, const uintptr_t *pcs,
                                         size_t count, uint32_t number) {
  gotrace__seen_stack *set, *seen;
  if (count > GOTRACE__SEEN_FRAMES) return;
  if (GOTRACE__UNLIKELY(!m->seen_stacks)) {
    m->seen_stacks = (gotrace__seen_stack *)gotrace__allocate(
        NULL, GOTRACE__SEEN_SETS * GOTRACE__SEEN_WAYS * sizeof *m->seen_stacks, false);
    if (!m->seen_stacks) return;
  }
  set = gotrace__seen_set(m, hash);
  seen = &set[set->next++ % GOTRACE__SEEN_WAYS];
  seen->number = number;
  seen->hash = hash;
  seen->place = place;
  seen->session = m->session;
  seen->count = (uint32_t)count;
  memcpy(seen->pcs, pcs, count * sizeof *pcs);
}
GOTRACE__STATIC_ASSERT(GOTRACE__SEEN_SETS == 1 << (64 - 61), seen_stacks_by_the_upper_bits);

/* --------------------------------------------------------------------------------------------------- >>capture ----
 *
 * A CALL reads gotrace__on; if it is 0, the call keeps only hints, and free lists (K6). Otherwise it raises the
 * thread's flag (in_call), reads gotrace__on again, makes sure of room in the thread's chunk, reads the clock, writes a
 * record, publishes it by storing the chunk's size, and lowers the flag. It waits for nothing but a new chunk.
 *
 *   K1. The end of a trace changes gotrace__on, passes all threads through a barrier and waits, for a limited time, for
 *       the calls whose flag is up. Otherwise it could miss their records. A record that is published later is skipped,
 *       since its chunk is of another session. No other record depends on it, because its call has not returned.
 *   K2. Loads of gotrace__on cannot go backwards. So a call that follows from one that has read the end of a session
 *       reads it too, and what is in a trace is a consistent cut. For the same reason, a call that finds no room for
 *       its record first ends the session, and then drops the record.
 *   K3. Only the owner of a goroutine or proc (who runs, starts or creates it) writes its number, by a plain store. A
 *       waker that did so could undo a transition of the owner. The program's own synchronization orders owners.
 *   K4. The number belongs to the place, not to its occupant, and goes on in the next one. An end is published before
 *       its place is free. Otherwise records about two occupants could not be ordered.
 *   K5. A record that first mentions an object in a session follows one that introduces it. The object's earlier calls
 *       have read that tracing was off, and kept hints (K2). So the introduction is exact.
 *   K6. Chunk, ids and free lists are touched only while the flag is up. A signal handler's call is dropped then.
 *       Otherwise it could change them in the middle of a call, and the end of a trace could free a chunk in use.
 *
 * MEMORY ORDERS of writes/reads; rlx is relaxed, acq acquire, rel release. With GOTRACE_SEQ_CST_FLAG, raising the flag
 * and the second read of gotrace__on are seq_cst; without that and without a barrier, a fence is between them. All
 * other fields belong to one thread or have a lock.
 *
 *   field                   written by           read by                 order            what for
 *   gotrace__on             start, end           calls, twice            seq_cst/rlx, acq K1, K2
 *   in_call                 its thread           end of a trace          rlx, rel/seq_cst K1; the call's records
 *   the same, the wait      its thread           start, samples, end     rlx, rel/acq     K1; go has changed before
 *   chunk: size, next       its thread           transcriber             rel/acq          the records; next comes first
 *   first_session           its thread           transcriber             rel/acq          the first chunk
 *   used (of a thread)      thread, transcriber  new thread, transcriber rel/acq          the record changes hands
 *   cleaned                 end                  a thread's end          seq_cst          with the flag: who frees it
 *   read_chunk, read_at     transcriber          its thread              rlx              a guess: is there room soon?
 *   number, stamp           owner                owner, wakers           rlx; rel/acq     K3; a number of this session
 *   tick                    owner, wakers        owner, wakers           rlx              a bound; ignored if far ahead
 *   introduced              who introduces       owner, wakers, start    rel/acq          the record; twice is harmless
 *   live                    creator, ender       any                     rel/acq, acq_rel id; one destroyer wins
 *   id, entry               creator              start, introductions    rel/acq          of one goroutine, not of two
 *   open tasks              begin, end           start                   rel/acq          of one task, not of two
 *   status, other hints     owner, wakers        start, introductions    rlx; procs: rel  K5
 *   label                   owner (locked)       introductions           rel/acq          its words, which are rlx
 *   collector               its calls            its calls               acq_rel          the program orders them
 *   site: number            who needs it first   calls                   rel/acq          the table's entry
 *   tables: chains, lists   who adds (locked)    calls, transcriber      rel/acq          the entry
 *   strings, stacks         start                calls                   rel/acq          the table
 *   options                 start, before on     calls                   plain/plain, acq after or before gotrace__on
 *   threads, procs, slabs   who adds (locked)    any                     rel/acq, seq_cst the record; threads: K1
 *   untracked               the program          calls                   rlx              a hint
 *   recent_sites            its thread           its thread, handlers    rlx              a site is never changed
 *   verdict                 who ends it first    any                     seq_cst/rlx      changes before gotrace__on
 *   samples: turn, head     samples, transcriber samples, transcriber    rel/acq          the sample
 */

/* Whether the trace can be read while a call waits. */
GOTRACE__FN bool gotrace__may_be_read(void) { return !GOTRACE_NO_THREADS || gotrace__t.service; }

/* Whether the calling thread is the reader (as far as known) or the sink: it must not wait for itself. */
GOTRACE__FN bool gotrace__reads(void) {
#if GOTRACE_NO_THREADS
  return gotrace__t.reader || gotrace__in_sink;
#else
  return gotrace__load_relaxed(&gotrace__t.read_by) == gotrace__identity();
#endif
}
GOTRACE__DEFINE int gotrace_proc_id(const gotrace_proc *proc) { return proc ? proc->id : GOTRACE_GLOBAL_PROC; }

/* Ids are assigned in blocks, so that threads do not contend for a counter. */
GOTRACE__FN uint64_t gotrace__next_go(gotrace__thread *m) {
  if (m->next_go_id == m->last_go_id) {
    m->next_go_id = gotrace__add_relaxed(&gotrace__t.next_go_id, 64);
    m->last_go_id = m->next_go_id + 64;
  }
  return ++m->next_go_id;
}

/* The entry of a new goroutine is between two stores of its id: 0, then the new one (see gotrace__list_living). */
GOTRACE__FN inline void gotrace__set_entry(gotrace_go *g, const gotrace_location *entry) {
  gotrace__store_release(&g->pc, entry->pc);
  gotrace__store_release(&g->function, entry->function);
  gotrace__store_release(&g->file, entry->file);
  gotrace__store_release(&g->line, entry->line);
}

GOTRACE__FN inline gotrace_location gotrace__entry_of(const gotrace_go *g) {
  gotrace_location entry;
  entry.pc = gotrace__load_acquire(&g->pc);
  entry.function = gotrace__load_acquire(&g->function);
  entry.file = gotrace__load_acquire(&g->file);
  entry.line = gotrace__load_acquire(&g->line);
  return entry;
}

/* Sets or removes the label; false if out of memory. Takes a lock, because two threads may believe that they run the
 * goroutine while tracing is off. Stores word by word, because a thread may read the label meanwhile
 * (gotrace__shown_label). */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__set_label(gotrace_go *g, const char *label, size_t size) {
  uint64_t words[GOTRACE__LABEL_WORDS] = {0};
  gotrace__uint64 *kept;
  size_t i;
  gotrace__lock(&gotrace__t.records);
  if (size) memcpy(words, label, gotrace__utf8_prefix(label, size, sizeof words - 1));
  kept = gotrace__load_relaxed(&g->label);
  if (!kept && words[0]) kept = (gotrace__uint64 *)gotrace__allocate(NULL, GOTRACE__LABEL, false);
  for (i = 0; kept && i < GOTRACE__LABEL_WORDS; i++) gotrace__store_relaxed(&kept[i], words[i]);
  gotrace__store_release(&g->label, kept);
  if (words[0]) gotrace__store_release(&g->extra, (uint8_t)1);
  gotrace__unlock(&gotrace__t.records);
  return kept || !words[0];
}

/* The label, copied to `text`; NULL if there is none. */
GOTRACE__FN const char *gotrace__shown_label(const gotrace_go *g, char text[GOTRACE__LABEL]) {
  const gotrace__uint64 *kept = gotrace__load_acquire(&g->extra) ? gotrace__load_acquire(&g->label) : NULL;
  size_t i;
  if (!kept) return NULL;
  for (i = 0; i < GOTRACE__LABEL_WORDS; i++) {
    uint64_t word = gotrace__load_relaxed(&kept[i]);
    memcpy(text + i * sizeof word, &word, sizeof word);
  }
  return text[0] ? text : NULL;
}

/* The name of a thread or goroutine, never freed: one entry per name, up to GOTRACE__NAMES. NULL: too many, or out of
 * memory. */
#define GOTRACE__NAMES 1024
GOTRACE__FN const char *gotrace__keep_name(const char *name, size_t size) {
  const gotrace__entry *entry = NULL;
  size = gotrace__utf8_prefix(name, size, 255);
  if (size) entry = gotrace__keep_text(&gotrace__t.names, GOTRACE__NAMES, name, size);
  return entry ? (const char *)(entry + 1) : NULL;
}

/* Where a call comes from. Most ABIs pass it in two registers. */
typedef struct gotrace__origin {
  gotrace_site *site; /* or NULL */
  void *frame;        /* the public function's, where a walk begins */
} gotrace__origin;
GOTRACE__FN inline gotrace__origin gotrace__origin_of(gotrace_site *site, void *frame) {
  gotrace__origin origin = {site, frame};
  return origin;
}
static const gotrace__origin gotrace__no_origin = {NULL, NULL};

/* The origin in a public function. A call that takes it must not be the function's last action: a tail call would
 * replace the frame. So GOTRACE__KEEP_FRAME follows it. */
#if GOTRACE__GNU
#define GOTRACE__ORIGIN(site) gotrace__origin_of(site, __builtin_frame_address(0))
#else
#define GOTRACE__ORIGIN(site) gotrace__origin_of(site, NULL) /* no frame pointers */
#endif
#define GOTRACE__KEEP_FRAME() gotrace__signal_fence()

#ifndef GOTRACE__CHUNK_BYTES
#define GOTRACE__CHUNK_BYTES 65536u /* of a chunk */
#endif
#ifndef GOTRACE__FIRST_CHUNK_BYTES
#define GOTRACE__FIRST_CHUNK_BYTES 2048u /* there may be thousands of threads that write little */
#endif
#define GOTRACE__TEXT_ROOM (GOTRACE_MAX_STRING_SIZE + 8u) /* a longer text is seen to be longer */
/* Bytes: a record without texts, after an introduction, problems and their sites. */
#define GOTRACE__CALL_ROOM (384u + 128u * GOTRACE_DEBUG)
#define GOTRACE__FAR ((uint64_t)1 << 24) /* ticks; a time so far ahead is of before a jump of the counter */
#define GOTRACE__MOST_FREE (4u * GOTRACE__SLAB)
#define GOTRACE__MODEL_BYTES ((size_t)1 << 20) /* what the transcriber may use beyond the limit */
#ifndef GOTRACE__STOP_NANOSECONDS
#define GOTRACE__STOP_NANOSECONDS 50000000u /* K1 */
#endif

#define gotrace__chunk_data(chunk) ((uint8_t *)((chunk) + 1))
#define gotrace__chunk_bytes(chunk) ((uint32_t)sizeof(gotrace__record_chunk) + (chunk)->capacity)

/* Raises the thread's flag. */
GOTRACE__FN inline void gotrace__raise(gotrace__thread *m) {
#if GOTRACE_SEQ_CST_FLAG
  gotrace__store_seq_cst(&m->in_call, GOTRACE__FLAG());
#else
  gotrace__store_relaxed(&m->in_call, GOTRACE__FLAG());
  gotrace__signal_fence();
  if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&gotrace__t.fence))) gotrace__fence_seq_cst();
#endif
}
/* The same, if it is down. A scheduler that does not ask gotrace_in_call may have moved the call to another thread
 * since that was seen; then this thread's record is the other one's, which may be in a call. One instruction, without a
 * lock prefix, since both threads hardly ever execute it at the same time. */
GOTRACE__FN inline bool gotrace__claim(gotrace__thread *m) {
#if GOTRACE__GNU && defined(__x86_64__) && !defined(__ILP32__) && !GOTRACE_SEQ_CST_FLAG && !defined(GOTRACE__TSAN) && \
    !defined(GOTRACE__PLATFORM)
  uintptr_t before = 0;
  bool claimed;
  __asm__ volatile("cmpxchgq %3, %1"
                   : "=@ccz"(claimed), "+m"(m->in_call), "+a"(before)
                   : "r"(GOTRACE__FLAG())
                   : "memory");
  if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&gotrace__t.fence))) gotrace__fence_seq_cst();
  return claimed;
#else
  gotrace__raise(m);
  return true;
#endif
}
/* The same for a call that has found tracing off and takes no part in a session: only signal handlers must see it. */
GOTRACE__FN inline void gotrace__raise_off(gotrace__thread *m) {
  gotrace__store_relaxed(&m->in_call, GOTRACE__FLAG());
  gotrace__signal_fence();
}
GOTRACE__FN inline void gotrace__leave(gotrace__thread *m) {
#if GOTRACE_DEBUG
  m->site = NULL;
#endif
  gotrace__store_release(&m->in_call, (uintptr_t)0);
}

GOTRACE__FN inline uint32_t gotrace__session_now(void) {
#if GOTRACE_SEQ_CST_FLAG
  return gotrace__load_seq_cst(&gotrace__on);
#else
  return gotrace__load_acquire(&gotrace__on);
#endif
}

/* Waits until the thread has been outside a call. False: it is held up in one: since that time, for all threads
 * together, and for as long as it takes to yield the processor some times, since the waiting thread may be held up. */
GOTRACE__FN bool gotrace__has_left(gotrace__thread *m, uint64_t since) {
  unsigned spins = 0;
  if (m == gotrace__self) return !(gotrace__load_relaxed(&m->in_call) & GOTRACE__IN_CALL); /* below a signal handler */
  while (gotrace__load_seq_cst(&m->in_call) & GOTRACE__IN_CALL) {
    if (spins + 1 >= GOTRACE__SPINS * GOTRACE__YIELDS && gotrace__nanoseconds() - since >= GOTRACE__STOP_NANOSECONDS)
      return false;
    gotrace__back_off(&spins);
  }
  return true;
}

/* Waits until no call is under way that has read an earlier value of gotrace__on, for a limited time (K1). */
GOTRACE__FN void gotrace__await_calls(void) {
  gotrace__thread *m;
  uint64_t since = gotrace__nanoseconds();
#if !GOTRACE_SEQ_CST_FLAG
  if (!gotrace__load_relaxed(&gotrace__t.fence) && !gotrace__barrier()) {
    /* The process has entered a sandbox that forbids the barrier. Plain stores become visible within a short time. */
    gotrace__store_relaxed(&gotrace__t.fence, 1u);
    while (gotrace__nanoseconds() - since < 1000000) gotrace__sleep();
  }
  gotrace__fence_seq_cst();
#endif
  for (m = gotrace__load_seq_cst(&gotrace__t.threads); m; m = m->next) (void)gotrace__has_left(m, since);
}

/* Wakes whoever transcribes. */
GOTRACE__FN void gotrace__want_work(void) {
  gotrace__lock(&gotrace__t.queue_lock);
  gotrace__t.work_wanted = true;
  gotrace__cond_wake(&gotrace__t.changed);
  gotrace__unlock(&gotrace__t.queue_lock);
}

/* Ends a session now, unless it has ended. The verdict is session << 8 and the result's low byte. The first who changes
 * it decides, and only then turns tracing off; whoever comes second does not wait for the first to do so. Otherwise a
 * reader could find tracing off and the result not there yet. */
#define GOTRACE__UNDECIDED 0x80u
GOTRACE__FN void gotrace__end_of(uint32_t session, gotrace_result result) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t verdict = session << 8 | GOTRACE__UNDECIDED;
  if (!session) return;
  (void)gotrace__cas_seq_cst(&t->verdict, &verdict, session << 8 | (0xffu & (uint32_t)result));
  if (!gotrace__cas_seq_cst(&gotrace__on, &session, 0u)) return;
  gotrace__store_relaxed(&t->alloc_events, 0u);
  gotrace__want_work();
}
GOTRACE__FN void gotrace__end_early(gotrace_result result) {
  gotrace__end_of(gotrace__load_relaxed(&gotrace__on), result);
}

/* The result of the session so far. */
GOTRACE__FN gotrace_result gotrace__result(void) {
  uint32_t early = gotrace__load_relaxed(&gotrace__t.early), verdict = gotrace__load_relaxed(&gotrace__t.verdict);
  if (!early && (verdict & 0xff) != GOTRACE__UNDECIDED) early = (uint32_t)(int32_t)(int8_t)(verdict & 0xff);
  return (gotrace_result)(int32_t)early;
}

/* A chunk of the largest size that has been read; NULL: there is none. */
GOTRACE__FN gotrace__record_chunk *gotrace__take_spare(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__record_chunk *chunk;
  gotrace__lock(&t->queue_lock);
  chunk = t->spare_chunks;
  if (chunk) t->spare_chunks = chunk->next;
  gotrace__unlock(&t->queue_lock);
  return chunk;
}

/* An empty chunk for the thread, which is not in a call. Its old one, or NULL, has a size of `bytes` and `used` bytes
 * of records; it may have been freed, since the session may have ended. NULL: the session has ended, or the caller must
 * try again later. */
GOTRACE__FN gotrace__record_chunk *gotrace__chunk_new(gotrace__thread *m, uint32_t session, uint32_t room,
                                                      const gotrace__record_chunk *old, uint32_t bytes, uint32_t used) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__record_chunk *chunk = NULL;
  size_t most = gotrace__load_relaxed(&t->chunk_bytes);
  size_t size = old ? 4 * (size_t)bytes : GOTRACE__FIRST_CHUNK_BYTES;
  bool block = gotrace__load_relaxed(&t->blocks) != 0, waits, refused = false;
  if (size < room + sizeof *chunk) size = room + sizeof *chunk;
  if (size > most) size = most;
  gotrace__lock(&t->queue_lock);
  if (old && !t->work_wanted) { /* once: otherwise threads that wait for room wake each other all the time */
    t->work_wanted = true;
    gotrace__cond_wake(&t->changed);
  }
  gotrace__unlock(&t->queue_lock);
  if (size == most) chunk = gotrace__take_spare();
  waits = block && !gotrace__reads() && gotrace__may_be_read();
  /* Beyond the limit: a thread's first chunk, and the next one of a thread whose chunk will be freed for it. */
  if (waits && (!old || (gotrace__load_relaxed(&m->read_chunk) == old && gotrace__load_relaxed(&m->read_at) == used)))
    waits = false;
  if (!chunk) {
    chunk = (gotrace__record_chunk *)gotrace__allocate_unless(&t->budget, size, waits || !block, &refused);
    if (chunk) chunk->capacity = (uint32_t)(size - sizeof *chunk);
    else if (refused) chunk = gotrace__take_spare();
  }
  if (!chunk && !waits) gotrace__end_of(session, refused ? GOTRACE_LIMIT_REACHED : GOTRACE_ERROR_OUT_OF_MEMORY);
  if (chunk) {
    chunk->next = NULL;
    chunk->size = 0;
    chunk->session = session;
  }
  return chunk;
}

GOTRACE__FN void gotrace__chunk_free(gotrace__budget *budget, gotrace__record_chunk *chunk) {
  if (chunk) gotrace__release(budget, chunk, gotrace__chunk_bytes(chunk));
}

/* Waits until there may be room for another chunk, or until the trace ends. */
GOTRACE__FN void gotrace__wait_for_room(void) {
  struct gotrace__tracer *t = &gotrace__t;
#if GOTRACE_NO_THREADS
  t->work_wanted = true;
  gotrace__drain(false);
#endif
  gotrace__lock(&t->queue_lock);
  /* If a round has begun since the thread asked for one, it may have made room already. */
  if (!t->spare_chunks && t->work_wanted && gotrace__load_relaxed(&gotrace__on))
    gotrace__wait(&t->changed, &t->queue_lock, 10, gotrace__unlock_cancelled);
  gotrace__unlock(&t->queue_lock);
}

/* Records. */

GOTRACE__FN GOTRACE__NOINLINE uint64_t gotrace__tick_behind(gotrace__thread *m, uint64_t tick) {
  /* The next call takes a chunk that begins at the clock. */
  if (m->tick - tick >= GOTRACE__FAR) m->ready = GOTRACE__NEVER;
  return m->tick;
}

/* The time of a record about two objects, each or NULL: not before their last records, nor the thread's. */
GOTRACE__FN inline uint64_t gotrace__record_time(gotrace__thread *m, gotrace__uint64 *a, gotrace__uint64 *b) {
  uint64_t tick = gotrace__now(), last;
  if (GOTRACE__UNLIKELY(tick < m->tick)) tick = gotrace__tick_behind(m, tick);
  if (a) {
    last = gotrace__load_relaxed(a);
    if (GOTRACE__UNLIKELY(tick < last && last - tick < GOTRACE__FAR)) tick = last;
  }
  if (b) {
    last = gotrace__load_relaxed(b);
    if (GOTRACE__UNLIKELY(tick < last && last - tick < GOTRACE__FAR)) tick = last;
    gotrace__store_relaxed(b, tick);
  }
  if (a) gotrace__store_relaxed(a, tick);
  return tick;
}

#if GOTRACE_DEBUG
static GOTRACE__THREAD_LOCAL gotrace_site *gotrace__debug_site GOTRACE__TLS_MODEL;
GOTRACE__DEFINE void gotrace_debug_here(gotrace_site *site) { gotrace__debug_site = site; }
#define gotrace__here(m, call_site) ((void)((m)->site = (call_site)))

/* Before a record, the call's site, if it is another one than before. */
GOTRACE__FN uint8_t *gotrace__put_site(gotrace__thread *m, uint8_t *at) {
  gotrace_site *site = m->site ? m->site : gotrace__debug_site;
  if (site == m->last_site) return at;
  m->last_site = site;
  gotrace__put_head(at, GOTRACE__REC_SITE, 0, 0)->as_SITE.site = (uintptr_t)site;
  return at + GOTRACE__WORDS(GOTRACE__SIZE_SITE);
}
#else
GOTRACE__DEFINE void gotrace_debug_here(gotrace_site *site) { (void)site; }
#define gotrace__here(m, call_site) ((void)0)
#define gotrace__put_site(m, at) (at)
#endif

/* Where a call is, as its record says it: in the head, unless its stack is another one than its site. */
typedef struct gotrace__where {
  uint32_t site; /* number, with GOTRACE__NAMED if the record needs the name; 0: none */
  uint32_t stack;
  bool walked; /* the stack is `stack` */
} gotrace__where;
static const gotrace__where gotrace__nowhere = {0, 0, false};

/* Where the thread's next record goes. */
GOTRACE__FN inline uint8_t *gotrace__next_place(const gotrace__thread *m) {
  return gotrace__chunk_data(m->chunk) + m->chunk->size;
}

/* What a head has no room for. */
GOTRACE__FN GOTRACE__NOINLINE uint8_t *gotrace__put_unusual(uint8_t *at, gotrace__where where, uint64_t ticks) {
  if (where.walked) {
    gotrace__put_head(at, GOTRACE__REC_STACK, 0, 0)->as_STACK.stack = where.stack;
    at += GOTRACE__WORDS(GOTRACE__SIZE_STACK);
  }
  if (ticks < GOTRACE__HEAD_TICKS) return at;
  gotrace__put_head(at, GOTRACE__REC_TIME, 0, 0)->as_TIME.ticks = ticks;
  return at + GOTRACE__WORDS(GOTRACE__SIZE_TIME);
}

/* Begins a record behind what has been put before it. */
GOTRACE__FN inline gotrace__record *gotrace__record_behind(gotrace__thread *m, uint8_t *at, unsigned kind,
                                                           gotrace__where where, uint64_t tick) {
  uint64_t ticks = tick - m->tick;
  at = gotrace__put_site(m, at);
  if (GOTRACE__UNLIKELY(where.walked || ticks >= GOTRACE__HEAD_TICKS)) {
    at = gotrace__put_unusual(at, where, ticks);
    if (ticks >= GOTRACE__HEAD_TICKS) ticks = 0;
  }
  m->tick = tick;
  return gotrace__put_head(at, kind, ticks, where.site);
}
GOTRACE__FN inline gotrace__record *gotrace__record_at(gotrace__thread *m, unsigned kind, gotrace__where where,
                                                       uint64_t tick) {
  return gotrace__record_behind(m, gotrace__next_place(m), kind, where, tick);
}
#ifndef GOTRACE__PUBLISHES
#define GOTRACE__PUBLISHES(m, at) ((void)0) /* for tests */
#endif
/* Publishes a record of so many bytes. */
GOTRACE__FN inline void gotrace__publish(gotrace__thread *m, gotrace__record *record, size_t bytes) {
  uint8_t *at = (uint8_t *)record + GOTRACE__WORDS(bytes);
  GOTRACE__PUBLISHES(m, at);
  gotrace__store_release(&m->chunk->size, (uint32_t)(at - gotrace__chunk_data(m->chunk)));
}
#define gotrace__publish_as(m, record, NAME) gotrace__publish((m), (record), GOTRACE__SIZE_##NAME)

GOTRACE__FN inline uint8_t *gotrace__put_bytes(uint8_t *at, const char *text, size_t size) {
#if GOTRACE__GNU
  __asm__("" : "+r"(size)); /* if gcc knows a bound it copies by rep movs, which takes as long as the clock read */
#endif
  if (size) memcpy(at, text, size);
  return at + size;
}
/* The text of a record whose fields and the text's size take `bytes`. Returns its bytes with the text. */
GOTRACE__FN inline size_t gotrace__put_text(gotrace__record *record, size_t bytes, const char *text, size_t size) {
  uint8_t *at = (uint8_t *)record + bytes;
  uint32_t stored = (uint32_t)size;
  memcpy(at - sizeof stored, &stored, sizeof stored);
  gotrace__put_bytes(at, text, size);
  return bytes + size;
}

/* A misuse that is seen here. */
GOTRACE__FN void gotrace__record_problem(gotrace__thread *m, unsigned problem) {
  gotrace__record *record =
      gotrace__record_at(m, GOTRACE__REC_PROBLEM, gotrace__nowhere, gotrace__record_time(m, NULL, NULL));
  record->as_PROBLEM.problem = problem;
  gotrace__publish_as(m, record, PROBLEM);
}

/* The number of a stack in the session's table; 0: none. `whole`: there was memory for its frames. */
GOTRACE__FN uint32_t gotrace__put_stack(gotrace__thread *m, const gotrace__stack_frame *frames, size_t count,
                                        bool whole) {
  uint32_t number = whole ? gotrace__stack_put(gotrace__load_acquire(&gotrace__t.stacks), frames, count) : 0;
  if (GOTRACE__UNLIKELY(!number && count)) gotrace__record_problem(m, GOTRACE_PROBLEM_TABLE_FULL);
  return number;
}
GOTRACE__FN bool gotrace__is_place(const gotrace_location *location) {
  return location->pc || location->function || location->file;
}
GOTRACE__FN uint32_t gotrace__location_stack(gotrace__thread *m, const gotrace_location *location, bool entry) {
  gotrace__table *strings = gotrace__load_acquire(&gotrace__t.strings);
  gotrace__stack_frame frame;
  bool whole;
  if (!gotrace__is_place(location)) return 0;
  whole = entry ? gotrace__entry_frame(strings, location, &frame) : gotrace__frame_of(strings, location, &frame);
  return gotrace__put_stack(m, &frame, 1, whole);
}

/* The stack of a goroutine's entry. Threads keep the last one: most goroutines have the same. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__other_entry(gotrace__thread *m, gotrace_location place) {
  m->entry = place;
  if (!place.pc && !(place.function && place.function[0])) { /* may still be a place in a file */
    place.function = place.file && place.file[0] ? "unknown" : NULL;
    if (!place.function) place.file = NULL;
  }
  m->entry_session = m->session;
  return m->entry_number = gotrace__location_stack(m, &place, true);
}
GOTRACE__FN inline uint32_t gotrace__entry_number(gotrace__thread *m, const gotrace_location *place) {
  if (GOTRACE__LIKELY(m->entry_session == m->session && m->entry.pc == place->pc &&
                      m->entry.function == place->function && m->entry.file == place->file &&
                      m->entry.line == place->line))
    return m->entry_number;
  return gotrace__other_entry(m, *place);
}
GOTRACE__FN uint32_t gotrace__entry_stack(gotrace__thread *m, const gotrace_go *g) {
  gotrace_location entry = gotrace__entry_of(g);
  return gotrace__entry_number(m, &entry);
}

/* The numbers of an object begin again with its owner's first call in a session. Who finds the stamp finds the number,
 * not one of the former session. */
GOTRACE__FN inline void gotrace__stamp_number(const gotrace__thread *m, uint32_t *number, uint32_t *stamp) {
  if (gotrace__load_relaxed(stamp) == m->session) return;
  gotrace__store_relaxed(number, 0u);
  gotrace__store_release(stamp, m->session);
}

/* Whether the thread needs no proc for what it runs. */
GOTRACE__FN inline bool gotrace__is_plain(const gotrace__thread *m) { return (m->nests || m->own_go) && !m->proc; }

/* Whether the thread, perhaps another one, has the proc, in this status. The owner is read second: if the proc is held,
 * it is whoever holds it, also after a steal. */
GOTRACE__FN bool gotrace__holds(const gotrace__thread *m, const gotrace_proc *p, unsigned status) {
  bool held = gotrace__load_acquire(&p->status) == status;
  return held && gotrace__load_relaxed(&p->owner) == (uint32_t)m->index;
}

GOTRACE__FN inline gotrace__record *gotrace__about_proc(gotrace__thread *m, unsigned kind, gotrace_proc *p);

/* For a proc in a system call: a thief may change its tick at the same time, which must not become smaller. */
GOTRACE__FN void gotrace__raise_tick(gotrace__uint64 *at, uint64_t tick) {
  uint64_t last = gotrace__load_relaxed(at);
  while ((last < tick || last - tick >= GOTRACE__FAR) && !gotrace__cas_acq_rel(at, &last, tick)) continue;
}

/* The record that introduces the thread in a session, with what it runs; and another one of the proc that it has
 * started in its system call. */
GOTRACE__FN void gotrace__introduce_thread(gotrace__thread *m) {
  gotrace_go *g = m->go;
  gotrace_proc *p = m->proc;
  char label[GOTRACE__LABEL];
  const char *shown = g ? gotrace__shown_label(g, label) : NULL;
  bool in_syscall = m->in_syscall;
  size_t bytes;
  uint32_t entry = g ? gotrace__entry_stack(m, g) : 0;
  uint64_t tick = gotrace__record_time(m, g ? &g->tick : NULL, NULL); /* a thief's changes after this are later */
  /* In a system call, a thief may have the proc, and has stamped it then. A load could find an earlier owner. */
  bool started = in_syscall && p && gotrace__holds(m, p, GOTRACE__PROC_RUNNING);
  bool has = p && !started &&
             (!in_syscall || (gotrace__load_relaxed(&p->stamp) != m->session &&
                              gotrace__add_relaxed(&p->owner, 0u) == (uint32_t)m->index));
  uint32_t flags = 0;
  gotrace__record *record = gotrace__record_at(m, GOTRACE__REC_THREAD, gotrace__nowhere, tick);
  if (g) flags = gotrace__load_relaxed(&g->flags);
  if (g && in_syscall) flags |= GOTRACE__RECORD_IN_SYSCALL;
  if (has ? gotrace__load_relaxed(&p->sweep) : m->sweep) flags |= GOTRACE__RECORD_SWEEPS;
  if (has ? gotrace__load_relaxed(&p->scan) : m->scan) flags |= GOTRACE__RECORD_SCANS;
  if (gotrace__is_plain(m)) flags |= GOTRACE__RECORD_PLAIN;
  if (m->lacks && !g) flags |= GOTRACE__RECORD_LACKS;
  record->as_THREAD.go = g ? g->place : 0;
  record->as_THREAD.id = g ? gotrace__load_relaxed(&g->id) : 0;
  record->as_THREAD.entry = entry;
  record->as_THREAD.flags = flags;
  record->as_THREAD.proc = has ? (uint32_t)p->id + 1 : 0;
  bytes = gotrace__put_text(record, GOTRACE__SIZE_THREAD, shown, shown ? strlen(shown) : 0);
  if (g) {
    gotrace__stamp_number(m, &g->number, &g->stamp);
    gotrace__store_relaxed(&g->introduced, m->session);
    gotrace__store_relaxed(&g->tick, tick + 1); /* others speak of them later, by any clock */
  }
  if (has) gotrace__raise_tick(&p->tick, tick + 1);
  if (p && !in_syscall) gotrace__stamp_number(m, &p->number, &p->stamp);
  gotrace__publish(m, record, bytes);
  if (started) gotrace__publish_as(m, gotrace__about_proc(m, GOTRACE__REC_PROC_START, p), PROC_START);
}

/* Whether the thread, which has a chunk, can put so many bytes into it. */
GOTRACE__FN inline bool gotrace__has_room(const gotrace__thread *m, uint32_t room) {
  return m->chunk->size + room <= m->chunk->capacity;
}

/* The rest of gotrace__enter: the thread's first call in a session, or its chunk is full. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__enter_slowly(gotrace__thread *m, uint32_t room) {
  for (;;) {
    uint32_t session = gotrace__session_now();
    bool first = m->session != session;
    gotrace__record_chunk *chunk, *old;
    uint32_t bytes, used;
    uint64_t now;
    if (!session) break; /* the chunk is not the thread's: the end of the last session may be freeing it */
    old = m->chunk;
    if (m->ready == session && gotrace__has_room(m, room)) return true;
    if (first && old) { /* of a session that ended while the thread was in a call */
      gotrace__chunk_free(&gotrace__t.budget, old);
      old = m->chunk = NULL;
      m->ready = GOTRACE__NEVER;
    }
    bytes = old ? gotrace__chunk_bytes(old) : 0;
    used = old ? old->size : 0;
#if GOTRACE_NO_THREADS
    gotrace__leave(m); /* the write function may make calls, and ends the trace only without a lock */
    if (gotrace__t.work_wanted && gotrace__t.service) gotrace__drain(false);
#endif
    /* A handler that leaves this call must not leave the chunk to nobody. One that moves it to another thread must not
     * find the flag down, since this thread's next call would raise it too. */
    gotrace__go_inside();
    if (GOTRACE__UNLIKELY(m != gotrace__self)) { /* it has been moved already */
      gotrace__leave(m);
      gotrace__go_outside();
      gotrace__drop_nested();
      return false;
    }
    gotrace__leave(m);
    chunk = gotrace__chunk_new(m, session, room, old, bytes, used);
    if (!chunk) {
      gotrace__go_outside();
      if (gotrace__load_relaxed(&gotrace__on) == session) gotrace__wait_for_room();
      gotrace__raise(m);
      continue;
    }
    gotrace__raise(m);
    if (gotrace__session_now() != session || m->chunk != old) { /* or a signal handler's call has made one */
      gotrace__chunk_free(&gotrace__t.budget, chunk);
      gotrace__go_outside();
      continue;
    }
    now = gotrace__now();
    if (first || (m->tick > now && m->tick - now >= GOTRACE__FAR)) m->tick = now;
    chunk->tick = m->tick;
    gotrace__store_relaxed(&m->read_chunk, (gotrace__record_chunk *)NULL); /* it may be the same, used again */
    /* While the thread is held up here, its old chunk must be the one that gotrace__unread_free leaves to it. */
    if (!first) gotrace__store_release(&old->next, chunk);
    m->chunk = chunk;
    m->ready = session;
    if (!first) {
      gotrace__go_outside();
      continue;
    }
    m->session = session;
#if GOTRACE_DEBUG
    m->last_site = NULL;
#endif
    m->next_go_id = m->last_go_id;
    m->next_task_id = m->last_task_id;
    gotrace__introduce_thread(m);
    m->first = chunk;
    gotrace__store_release(&m->first_session, session);
    gotrace__go_outside();
  }
  gotrace__leave(m);
  return false;
}

/* Begins a call while tracing is on: then the flag is up and there are `room` bytes. False: tracing is off. (Before its
 * first session a thread is ready for none.) */
GOTRACE__FN inline bool gotrace__enter(gotrace__thread *m, uint32_t room) {
  if (GOTRACE__UNLIKELY(!gotrace__claim(m))) {
    gotrace__drop_nested();
    return false;
  }
  if (GOTRACE__LIKELY(gotrace__session_now() == m->ready && gotrace__has_room(m, room))) return true;
  return gotrace__enter_slowly(m, room);
}
GOTRACE__FN inline bool gotrace__begin(gotrace__thread *m) {
  return gotrace_enabled() && gotrace__enter(m, GOTRACE__CALL_ROOM);
}

/* The same for a call that uses ids or free lists: the flag is up in any case (K6). */
GOTRACE__FN inline bool gotrace__begin_anyway(gotrace__thread *m) {
  if (gotrace__begin(m)) return true;
  gotrace__raise(m);
  return false;
}

/* Misuse may pass a goroutine to another thread without synchronization. That thread still finds its record
 * initialized: gotrace__slab_new has a fence, and processors order what they read through a pointer. ThreadSanitizer
 * knows neither. */
#ifdef GOTRACE__TSAN
#define gotrace__see_slabs() ((void)gotrace__load_acquire(&gotrace__t.slabs))
#else
#define gotrace__see_slabs() ((void)0)
#endif

/* The calling thread's record; NULL: the call is dropped. */
GOTRACE__FN inline gotrace__thread *gotrace__caller(void) {
  gotrace__thread *m = gotrace__self;
  gotrace__see_slabs();
  if (GOTRACE__LIKELY(m && !(gotrace__load_relaxed(&m->in_call) | gotrace__inside))) return m;
  return gotrace__me_outside();
}

/* The calling thread's record for a call's short way: tracing is off, and nothing is unusual. NULL: the call goes the
 * other way, which finds the record itself, so that the short way saves no registers. */
GOTRACE__FN inline gotrace__thread *gotrace__caller_off(void) {
  gotrace__thread *m;
  if (gotrace_enabled()) return NULL;
  m = gotrace__self;
  gotrace__see_slabs();
  return GOTRACE__LIKELY(m && !(gotrace__load_relaxed(&m->in_call) | gotrace__inside)) ? m : NULL;
}

/* Introduces a goroutine that the thread does not run (K5). `owner`: the call's transition gets a number. The time is
 * read after the status: if a waker has changed that, its introduction and unblock are earlier. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__know_go(gotrace__thread *m, gotrace_go *g, bool owner) {
  if (gotrace__load_acquire(&g->introduced) != m->session) {
    char label[GOTRACE__LABEL];
    const char *shown = gotrace__shown_label(g, label);
    uint32_t entry = gotrace__entry_stack(m, g);
    uint64_t id = gotrace__load_relaxed(&g->id);
    uint32_t status = gotrace__load_acquire(&g->status);
    gotrace__record *record =
        gotrace__record_at(m, GOTRACE__REC_GO, gotrace__nowhere, gotrace__record_time(m, &g->tick, NULL));
    record->as_GO.go = g->place;
    record->as_GO.id = id;
    record->as_GO.entry = entry;
    record->as_GO.status = status;
    record->as_GO.flags = gotrace__load_relaxed(&g->flags);
    gotrace__publish(m, record, gotrace__put_text(record, GOTRACE__SIZE_GO, shown, shown ? strlen(shown) : 0));
    gotrace__store_release(&g->introduced, m->session);
  }
  if (owner) gotrace__stamp_number(m, &g->number, &g->stamp);
}

GOTRACE__FN GOTRACE__NOINLINE void gotrace__know_proc(gotrace__thread *m, gotrace_proc *p) {
  uint64_t tick = gotrace__record_time(m, NULL, NULL);
  uint32_t status = gotrace__load_relaxed(&p->status);
  gotrace__record *record = gotrace__record_at(m, GOTRACE__REC_PROC, gotrace__nowhere, tick);
  if (status == GOTRACE__PROC_IDLE && gotrace__load_relaxed(&p->owner)) status = GOTRACE__PROC_LOST; /* while off */
  if (gotrace__load_relaxed(&p->sweep)) status |= GOTRACE__RECORD_SWEEPS;
  if (gotrace__load_relaxed(&p->scan)) status |= GOTRACE__RECORD_SCANS;
  record->as_PROC.proc = (uint32_t)p->id + 1;
  record->as_PROC.status = status;
  gotrace__publish_as(m, record, PROC);
  gotrace__stamp_number(m, &p->number, &p->stamp);
}

/* Begin records about another goroutine, about the one that the thread runs, about a proc. */
GOTRACE__FN inline gotrace__record *gotrace__about_go(gotrace__thread *m, unsigned kind, gotrace__where where,
                                                      gotrace_go *g, bool owner, gotrace__uint64 *other) {
  uint32_t number;
  gotrace__record *record;
  bool stamped;
  if (GOTRACE__UNLIKELY(gotrace__load_acquire(&g->introduced) != m->session ||
                        (owner && gotrace__load_relaxed(&g->stamp) != m->session)))
    gotrace__know_go(m, g, owner);
  stamped = owner || gotrace__load_acquire(&g->stamp) == m->session; /* before the number */
  number = gotrace__load_relaxed(&g->number);
  if (owner) gotrace__store_relaxed(&g->number, ++number);
  else if (GOTRACE__UNLIKELY(!stamped)) number = 0;
  record = gotrace__record_at(m, kind, where, gotrace__record_time(m, &g->tick, other));
  record->about_go.go = g->place;
  record->about_go.number = number;
  return record;
}
GOTRACE__FN inline gotrace__record *gotrace__about_running(gotrace__thread *m, unsigned kind, gotrace__where where,
                                                           gotrace__uint64 *other) {
  gotrace_go *g = m->go;
  if (GOTRACE__LIKELY(g != NULL)) gotrace__store_relaxed(&g->number, gotrace__load_relaxed(&g->number) + 1);
  return gotrace__record_at(m, kind, where, gotrace__record_time(m, g ? &g->tick : NULL, other));
}
GOTRACE__FN inline gotrace__record *gotrace__about_proc(gotrace__thread *m, unsigned kind, gotrace_proc *p) {
  uint32_t number;
  gotrace__record *record;
  if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&p->stamp) != m->session)) gotrace__know_proc(m, p);
  number = gotrace__load_relaxed(&p->number) + 1;
  gotrace__store_relaxed(&p->number, number);
  record = gotrace__record_at(m, kind, gotrace__nowhere, gotrace__record_time(m, &p->tick, NULL));
  record->about_proc.proc = (uint32_t)p->id + 1;
  record->about_proc.number = number;
  return record;
}
/* Begins a record about no other object: its time is not before the goroutine's last. */
GOTRACE__FN inline gotrace__record *gotrace__about_nothing_behind(gotrace__thread *m, uint8_t *at, unsigned kind,
                                                                  gotrace__where where) {
  return gotrace__record_behind(m, at, kind, where, gotrace__record_time(m, m->go ? &m->go->tick : NULL, NULL));
}
GOTRACE__FN inline gotrace__record *gotrace__about_nothing(gotrace__thread *m, unsigned kind, gotrace__where where) {
  return gotrace__about_nothing_behind(m, gotrace__next_place(m), kind, where);
}

/* Stacks. */

/* Gives a site its number in the session, of the stack that is the call site alone, and of its name, unless that is
 * NULL. A site in a library that has been loaded at the place of another has none yet. The goroutine's entry that the
 * thread remembers may have been in that other one. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__number_site(gotrace__thread *m, gotrace_site *site, const char *name) {
  gotrace__site_key key = {0, 0};
  uint32_t number;
  if (gotrace__load_acquire(&gotrace__t.stack_mode) != GOTRACE_STACKS_NONE)
    key.stack = gotrace__location_stack(m, &site->location, false);
  if (name) {
    bool cut;
    size_t size = strlen(name);
    key.name = gotrace__string_put(gotrace__load_acquire(&gotrace__t.strings), name, size, &cut);
    if (cut) gotrace__record_problem(m, GOTRACE_PROBLEM_STRING_CUT);
    if (!key.name && size) gotrace__record_problem(m, GOTRACE_PROBLEM_TABLE_FULL);
  }
  number = gotrace__site_put(gotrace__load_acquire(&gotrace__t.site_numbers), key);
  if (!number) gotrace__record_problem(m, GOTRACE_PROBLEM_TABLE_FULL);
  if (name) number |= GOTRACE__NAMED;
  gotrace__store_release(&site->number, (uint64_t)m->session << 32 | number);
  m->entry_session = 0;
  return number;
}
GOTRACE__FN inline uint32_t gotrace__site_number(gotrace__thread *m, gotrace_site *site) {
  uint64_t known = gotrace__load_acquire(&site->number);
  return GOTRACE__LIKELY(known >> 32 == m->session) ? (uint32_t)known : gotrace__number_site(m, site, NULL);
}
/* The same, with the name that every call at the site gives. */
GOTRACE__FN inline uint32_t gotrace__named_site(gotrace__thread *m, gotrace_site *site, const char *name) {
  uint64_t known = gotrace__load_acquire(&site->number);
  return GOTRACE__LIKELY(known >> 31 == ((uint64_t)m->session << 1 | 1))
             ? (uint32_t)known
             : gotrace__number_site(m, site, name ? name : "");
}

/* A stack that the thread has not captured lately: the call site, if there is one, and `found` return addresses. A
 * function of its own, since its frame is 4 KiB, which finding the bounds of the thread's stack also needs. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__put_captured(gotrace__thread *m, gotrace_site *site,
                                                             const uintptr_t *pcs, int found) {
  gotrace__stack_frame frames[GOTRACE_STACK_SIZE];
  size_t count = 0;
  bool whole = true;
  int i;
  if (site) whole = gotrace__frame_of(gotrace__load_acquire(&gotrace__t.strings), &site->location, &frames[count++]);
  /* The walk's first return address is in the call site's function, which is in the stack already. */
  for (i = count && found ? 1 : 0; i < found && count < GOTRACE_STACK_SIZE; i++) {
    frames[count].pc = pcs[i];
    frames[count].function = frames[count].file = 0;
    frames[count++].line = 0;
  }
  if (found == GOTRACE_STACK_SIZE) gotrace__record_problem(m, GOTRACE_PROBLEM_STACK_CUT);
  if (count > 1 && gotrace__load_relaxed(&gotrace__load_acquire(&gotrace__t.stacks)->arena.bytes) >
                       gotrace__load_relaxed(&gotrace__t.budget.limit) / 4) {
    count = site ? 1 : 0; /* there is no end of new stacks: the call site remains */
    gotrace__record_problem(m, GOTRACE_PROBLEM_TABLE_FULL);
  }
  return count ? gotrace__put_stack(m, frames, count, whole) : 0;
}

/* The stack according to options.stacks: the call site, then the frames above that function. The two are not in a
 * gotrace__origin: gcc keeps one that is passed on in memory, in every caller. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__captured_stack(gotrace__thread *m, gotrace_site *site, void *frame) {
  uintptr_t pcs[GOTRACE_STACK_SIZE], low, high;
  int found = 0, i;
  uint32_t number;
  uint64_t hash;
  const gotrace__seen_stack *seen;
  uint32_t mode = gotrace__load_acquire(&gotrace__t.stack_mode), place;
  if (mode == GOTRACE_STACKS_UNWIND) {
    gotrace_unwind_fn *unwind = gotrace__load_acquire(&gotrace__t.unwind);
    void *context = gotrace__load_acquire(&gotrace__t.unwind_context);
    int cancel = gotrace__cancel_off();
    /* If the session has ended, the three values may be of different sessions. */
    gotrace__inside |= GOTRACE__IN_UNWINDER; /* it may not even end the trace */
    gotrace__signal_fence();
    if (gotrace__load_relaxed(&gotrace__on) == m->session) found = unwind(context, pcs, GOTRACE_STACK_SIZE);
    gotrace__signal_fence();
    gotrace__inside &= ~GOTRACE__IN_UNWINDER;
    gotrace__cancel_restore(cancel);
    if (found > 0) site = NULL; /* the unwinder's frames include the call site */
    if (found < 0) found = 0;
  }
  if (site && !gotrace__is_place(&site->location)) site = NULL;
  hash = place = site ? gotrace__site_number(m, site) : 0;
  if (mode == GOTRACE_STACKS_UNWIND) {
    for (i = 0; i < found; i++) hash = gotrace__seen_hash(hash, pcs[i]);
  } else if (frame && gotrace__bounds(m, &low, &high)) {
    found = gotrace__walk((uintptr_t)frame, low, high, pcs, GOTRACE_STACK_SIZE, &hash);
  }
  seen = gotrace__find_seen(m, hash, place, pcs, (size_t)found);
  if (seen) return seen->number;
  number = gotrace__put_captured(m, site, pcs, found);
  if (number) gotrace__remember_stack(m, hash, place, pcs, (size_t)found, number);
  return number;
}

/* Where the call is, which shows why the calling goroutine is here. */
GOTRACE__FN inline bool gotrace__walks(void) {
  return gotrace__load_relaxed(&gotrace__t.stack_mode) >= GOTRACE_STACKS_FRAME_POINTERS;
}
/* `named`: with the name that every call at the site gives. */
GOTRACE__FN inline gotrace__where gotrace__locate_as(gotrace__thread *m, gotrace__origin origin, const char *name,
                                                     int named) {
  gotrace__where where = {0, 0, false};
  gotrace__here(m, origin.site);
  if (GOTRACE__UNLIKELY(gotrace__walks())) {
    where.stack = gotrace__captured_stack(m, origin.site, origin.frame);
    where.walked = true;
  }
  if (named) where.site = gotrace__named_site(m, origin.site, name);
  else if (!where.walked && origin.site) where.site = gotrace__site_number(m, origin.site);
  return where;
}
GOTRACE__FN inline gotrace__where gotrace__locate(gotrace__thread *m, gotrace__origin origin) {
  return gotrace__locate_as(m, origin, NULL, 0);
}
/* The bytes of a text that a record has room for; `size` as in the calls ..._n. */
GOTRACE__FN inline uint32_t gotrace__text_size(const char *text, size_t size) {
  if (!text) size = 0;
  else if (size == SIZE_MAX) size = gotrace__length(text);
  return size < GOTRACE__TEXT_ROOM ? (uint32_t)size : GOTRACE__TEXT_ROOM;
}

/* The running goroutine: hints. */

GOTRACE__FN inline void gotrace__run_hint(gotrace__thread *m, gotrace_go *g) {
  gotrace__store_relaxed(&m->go, g);
  gotrace__store_relaxed(&m->in_syscall, false);
  gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__RUNNING);
}
GOTRACE__FN inline void gotrace__leave_hint(gotrace__thread *m, unsigned status) {
  gotrace_go *g = m->go;
  if (g) gotrace__store_relaxed(&g->status, (uint8_t)status);
  gotrace__store_relaxed(&m->go, (gotrace_go *)NULL);
  gotrace__store_relaxed(&m->in_syscall, false);
}
GOTRACE__FN bool gotrace__runs_elsewhere(const gotrace__thread *m, const gotrace_go *g) {
  unsigned status = gotrace__load_relaxed(&g->status);
  return g != m->go && (status == GOTRACE__RUNNING || status == GOTRACE__SYSCALL);
}

/* A problem that the capture sees, while tracing is on. */
GOTRACE__FN void gotrace__problem_call(gotrace__thread *m, gotrace_problem problem) {
  if (!gotrace__begin(m)) return;
  gotrace__record_problem(m, problem);
  gotrace__leave(m);
}

/* The calling thread's record for a call that needs a goroutine: without one, the thread becomes one. */
GOTRACE__FN inline gotrace__thread *gotrace__caller_go(gotrace_site *site) {
  gotrace__thread *m = gotrace__caller();
  if (GOTRACE__UNLIKELY(m && !m->go)) gotrace__attach(m, site);
  return m;
}

/* A call whose record is about no other object and has no fields. */
GOTRACE__FN inline void gotrace__site_call(gotrace__thread *m, gotrace__origin origin, unsigned kind) {
  if (gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, origin);
    gotrace__publish(m, gotrace__about_nothing(m, kind, where), sizeof(uint64_t));
    gotrace__leave(m);
  }
}

/* A problem, unless the call may be about a goroutine that the trace lacks. */
GOTRACE__FN void gotrace__lacking_call(gotrace__thread *m, gotrace_problem problem) {
  if (m->go || !(m->lacks || gotrace__is_untracked())) gotrace__problem_call(m, problem);
}

/* ----------------------------------------------------------------------------------------------------- >>procs ---- */

GOTRACE__DEFINE gotrace_proc *gotrace_proc_create(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_proc *p;
  if (gotrace__is_nested(gotrace__self)) {
    gotrace__drop_nested();
    return NULL;
  }
  gotrace__init();
  gotrace__lock(&t->records);
  p = t->free_procs;
  if (p) t->free_procs = p->next_free;
  else if ((p = (gotrace_proc *)gotrace__allocate(NULL, sizeof *p, false)) != NULL) {
    p->id = t->proc_count++;
    gotrace__store_release(t->procs_tail, p);
    t->procs_tail = &p->next;
  }
  if (p) {
    gotrace__store_relaxed(&p->status, (uint8_t)GOTRACE__PROC_IDLE);
    gotrace__store_release(&p->used, 1u);
  }
  gotrace__unlock(&t->records);
  return p;
}

GOTRACE__DEFINE void gotrace_proc_destroy(gotrace_proc *proc) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__thread *m = gotrace__caller();
  if (!m || !proc) return;
  if (gotrace__begin(m)) {
    gotrace__publish_as(m, gotrace__about_proc(m, GOTRACE__REC_PROC_DESTROY, proc), PROC_DESTROY);
    gotrace__leave(m);
  }
  if (gotrace__load_relaxed(&proc->status) != GOTRACE__PROC_IDLE || gotrace__load_relaxed(&proc->sweep)) return;
  gotrace__lock(&t->records);
  if (gotrace__load_relaxed(&proc->used)) {   /* else it is destroyed twice */
    gotrace__store_relaxed(&proc->owner, 0u); /* a thread that has lost it must not regain it */
    gotrace__store_relaxed(&proc->status, (uint8_t)GOTRACE__PROC_FREE);
    gotrace__store_release(&proc->used, 0u);
    proc->next_free = t->free_procs;
    t->free_procs = proc;
  }
  gotrace__unlock(&t->records);
}

/* The thread gives up a proc, unless another has taken it. In a system call a thief may take it at this moment, and
 * another thread start it: then the owner is left to them. See gotrace__know_proc. */
GOTRACE__FN void gotrace__idle_hint(const gotrace__thread *m, gotrace_proc *p) {
  if (!p || gotrace__load_relaxed(&p->owner) != (uint32_t)m->index) return;
  if (!m->in_syscall) gotrace__store_relaxed(&p->owner, 0u);
  gotrace__store_relaxed(&p->status, (uint8_t)GOTRACE__PROC_IDLE);
}

/* The status of a proc that the thread has. Release, after the owner: see gotrace__holds. */
GOTRACE__FN inline void gotrace__hold_hint(gotrace_proc *p, unsigned status) {
  gotrace__store_release(&p->status, (uint8_t)status);
}

GOTRACE__FN void gotrace__start_proc(gotrace__thread *m, gotrace_proc *p) {
  if (!p) return;
  if (gotrace__begin(m)) {
    gotrace__publish_as(m, gotrace__about_proc(m, GOTRACE__REC_PROC_START, p), PROC_START);
    gotrace__leave(m);
  }
  if (gotrace__load_relaxed(&p->status) == GOTRACE__PROC_RUNNING && gotrace__load_relaxed(&p->owner))
    return; /* misuse */
  gotrace__idle_hint(m, m->proc);
  if (m->go && !m->in_syscall) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  gotrace__store_relaxed(&m->proc, p);
  m->lost = NULL;
  gotrace__store_relaxed(&p->owner, (uint32_t)m->index);
  gotrace__hold_hint(p, GOTRACE__PROC_RUNNING);
}

GOTRACE__DEFINE void gotrace_proc_start(gotrace_proc *proc) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__start_proc(m, proc);
}

GOTRACE__DEFINE gotrace_proc *gotrace_proc_self(void) {
  const gotrace__thread *m = gotrace__self;
  return m && m->proc && gotrace__load_relaxed(&m->proc->owner) == (uint32_t)m->index ? m->proc : NULL;
}

GOTRACE__FN void gotrace__stop_proc(gotrace__thread *m) {
  gotrace_proc *p = m->proc ? m->proc : m->lost;
  if (gotrace__begin(m)) {
    bool counts = p && gotrace__load_relaxed(&p->stamp) == m->session;
    gotrace__record *record;
    if (counts) gotrace__store_relaxed(&p->number, gotrace__load_relaxed(&p->number) + (m->proc != NULL));
    record = gotrace__record_at(m, GOTRACE__REC_PROC_STOP, gotrace__nowhere,
                                gotrace__record_time(m, m->proc ? &m->proc->tick : NULL, NULL));
    gotrace__publish_as(m, record, PROC_STOP);
    /* In a call since before the trace: no number says that this comes before the next start, so the tick has to. */
    if (!counts && m->proc) gotrace__raise_tick(&m->proc->tick, m->tick + 1);
    gotrace__leave(m);
  }
  if (m->go && !m->in_syscall) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  gotrace__idle_hint(m, m->proc);
  gotrace__store_relaxed(&m->proc, (gotrace_proc *)NULL);
  m->lost = NULL;
  m->was_worker |= p != NULL;
}

GOTRACE__DEFINE void gotrace_proc_stop(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__stop_proc(m);
}

GOTRACE__DEFINE void gotrace_proc_steal(gotrace_proc *proc) {
  gotrace__thread *m = gotrace__caller();
  if (!m || !proc) return;
  if (gotrace__begin(m)) {
    gotrace__publish_as(m, gotrace__about_proc(m, GOTRACE__REC_PROC_STEAL, proc), PROC_STEAL);
    gotrace__leave(m);
  }
  if (gotrace__load_relaxed(&proc->status) != GOTRACE__PROC_SYSCALL) return;
  gotrace__store_relaxed(&proc->owner, 0u);
  gotrace__store_relaxed(&proc->status, (uint8_t)GOTRACE__PROC_IDLE);
}

/* ------------------------------------------------------------------------------------------------ >>goroutines ---- */

/* Makes room for `more` pointers in the common list of free places; false if out of memory. The caller holds the
 * records' lock. */
GOTRACE__FN bool gotrace__free_room(size_t more) {
  struct gotrace__tracer *t = &gotrace__t;
  size_t larger = t->free_capacity ? 2 * t->free_capacity : 4 * GOTRACE__MOST_FREE;
  gotrace_go **list;
  if (t->free_count + more <= t->free_capacity) return true;
  list = (gotrace_go **)gotrace__allocate(NULL, larger * sizeof *list, false);
  if (!list) return false;
  if (t->free_count) memcpy(list, t->free_gos, t->free_count * sizeof *list);
  gotrace__release(NULL, t->free_gos, t->free_capacity * sizeof *list);
  t->free_gos = list;
  t->free_capacity = larger;
  return true;
}

/* Adds the places of a new slab to the common list. The caller holds the records' lock. */
GOTRACE__FN void gotrace__slab_new(void) {
  struct gotrace__tracer *t = &gotrace__t;
  size_t align = GOTRACE__ALIGNOF(gotrace_go);
  unsigned i;
  gotrace__slab *slab =
      gotrace__free_room(GOTRACE__SLAB) ? (gotrace__slab *)gotrace__allocate(NULL, GOTRACE__SLAB_SIZE, false) : NULL;
  if (!slab) return;
  slab->gos = (gotrace_go *)(((uintptr_t)(slab + 1) + align - 1) & ~(uintptr_t)(align - 1));
  for (i = GOTRACE__SLAB; i-- > 0;) {
    slab->gos[i].place = t->slab_count * GOTRACE__SLAB + i + 1;
    t->free_gos[t->free_count++] = &slab->gos[i];
  }
  t->slab_count++;
  slab->next = t->slabs;
#ifndef GOTRACE__TSAN
  gotrace__fence_seq_cst(); /* see gotrace__see_slabs */
#endif
  gotrace__store_release(&t->slabs, slab);
}

/* Whether the thread has a list of free places. */
GOTRACE__FN bool gotrace__has_free_list(gotrace__thread *m) {
  if (!m->free_gos)
    m->free_gos = (gotrace_go **)gotrace__allocate(NULL, GOTRACE__MOST_FREE * sizeof *m->free_gos, false);
  return m->free_gos != NULL;
}

/* Moves places from the common list to the thread's, at first a few: most threads have one goroutine. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__take_free(gotrace__thread *m) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__lock(&t->records);
  if (!t->free_count) gotrace__slab_new();
  m->take = m->take < GOTRACE__SLAB / 2 ? 2 * m->take + 1 : GOTRACE__SLAB;
  while (gotrace__has_free_list(m) && t->free_count && m->free_count < m->take)
    m->free_gos[m->free_count++] = t->free_gos[--t->free_count];
  gotrace__unlock(&t->records);
}

/* Takes a free place. The id of the one before goes first: whoever still has it (a key, a start) must not take the new
 * goroutine for it. */
GOTRACE__FN inline void gotrace__occupy(gotrace_go *g) {
  gotrace__store_relaxed(&g->id, (uint64_t)0);
  gotrace__store_release(&g->live, (uint8_t)1);
}

/* A free place for a goroutine; NULL if out of memory. The thread's flag is up. A place that misuse has put into the
 * lists twice is live when it is taken again. */
GOTRACE__FN inline gotrace_go *gotrace__go_new(gotrace__thread *m) {
  for (;;) {
    gotrace_go *g;
    if (GOTRACE__UNLIKELY(!m->free_count)) gotrace__take_free(m);
    if (GOTRACE__UNLIKELY(!m->free_count)) return NULL;
    g = m->free_gos[--m->free_count];
    if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&g->live))) continue;
    gotrace__occupy(g);
    return g;
  }
}

GOTRACE__FN GOTRACE__NOINLINE void gotrace__share_free(gotrace__thread *m, unsigned keep) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__lock(&t->records);
  while (m->free_count > keep && gotrace__free_room(1)) t->free_gos[t->free_count++] = m->free_gos[--m->free_count];
  gotrace__unlock(&t->records);
}

/* Frees the place of a goroutine that is no longer live, after its end is published (K4). The flag is up. If there is
 * no memory for the list, the place is lost. */
GOTRACE__FN inline void gotrace__place_free(gotrace__thread *m, gotrace_go *g) {
  gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__DEAD);
  if (GOTRACE__UNLIKELY(!m->free_gos) && !gotrace__has_free_list(m)) return;
  if (GOTRACE__UNLIKELY(m->free_count == GOTRACE__MOST_FREE)) {
    gotrace__share_free(m, GOTRACE__MOST_FREE / 2);
    if (m->free_count == GOTRACE__MOST_FREE) return;
  }
  m->free_gos[m->free_count++] = g;
}
GOTRACE__FN inline void gotrace__go_free(gotrace__thread *m, gotrace_go *g) {
  if (GOTRACE__UNLIKELY(!gotrace__load_relaxed(&g->live))) return; /* destroyed, by misuse */
  gotrace__store_relaxed(&g->live, (uint8_t)0);
  gotrace__place_free(m, g);
}

static const gotrace_location gotrace__no_place = {0, NULL, NULL, 0};

/* The bytes of a name, which a NUL ends. */
GOTRACE__FN size_t gotrace__name_size(const char *name, size_t size) {
  uintptr_t before;
  const char *end;
  if (!name) return 0;
  if (size == SIZE_MAX) return gotrace__length(name);
  before = gotrace__mark();
  end = (const char *)(memchr)(name, 0, size);
  gotrace__unmark(before);
  return end ? (size_t)(end - name) : size;
}

/* An earlier goroutine's label and bounds are not the new one's. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__forget_extra(gotrace_go *g) {
  gotrace__set_label(g, NULL, 0);
  gotrace__store_relaxed(&g->stack_low, (uintptr_t)0);
  gotrace__store_relaxed(&g->stack_high, (uintptr_t)0);
  gotrace__store_relaxed(&g->extra, (uint8_t)0);
}

/* What a new goroutine is. */
GOTRACE__FN inline void gotrace__set_new(gotrace__thread *m, gotrace_go *g, const gotrace_location *entry,
                                         unsigned status, unsigned flags) {
  gotrace__set_entry(g, entry);
  gotrace__store_relaxed(&g->flags, (uint8_t)flags);
  gotrace__store_relaxed(&g->status, (uint8_t)status);
  gotrace__store_release(&g->id, gotrace__next_go(m));
}

/* `m`: NULL means the caller's. */
GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN gotrace_go *gotrace__create(gotrace__thread *m, gotrace__origin origin,
                                                                           const gotrace_location *entry,
                                                                           unsigned status, unsigned flags) {
  bool on = gotrace_enabled();
  uint32_t known;
  gotrace_go *g;
  if (!m && !(m = gotrace__caller())) return NULL;
  if (!entry) entry = &gotrace__no_place;
  if (!on && gotrace__is_untracked()) return NULL;
  if (on) on = gotrace__enter(m, GOTRACE__CALL_ROOM);
  if (!on) gotrace__raise(m);
  gotrace__here(m, origin.site);
  g = gotrace__go_new(m);
  known = g ? gotrace__load_relaxed(&g->introduced) : 0;
  if (known && !(on && known == m->session)) {
    /* If a session that began during this call has seen an earlier goroutine in the place, it must see this one's
     * creation. */
    gotrace__leave(m);
    on = gotrace__begin_anyway(m);
  }
  if (GOTRACE__UNLIKELY(!g)) {
    if (on) gotrace__record_problem(m, GOTRACE_PROBLEM_NO_MEMORY);
    gotrace__leave(m);
    return NULL;
  }
  if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&g->extra))) gotrace__forget_extra(g);
  gotrace__set_new(m, g, entry, status, flags);
  if (on) {
    gotrace__where where = status == GOTRACE__SYSCALL ? gotrace__nowhere : gotrace__locate(m, origin);
    uint32_t number = 1, entry_number = gotrace__entry_number(m, entry); /* after the call site, which may be new */
    gotrace__record *record;
    if (gotrace__load_relaxed(&g->stamp) == m->session) number = gotrace__load_relaxed(&g->number) + 1;
    gotrace__store_relaxed(&g->number, number);
    gotrace__store_relaxed(&g->stamp, m->session);
    gotrace__store_relaxed(&g->introduced, m->session);
    record = gotrace__record_at(m, GOTRACE__REC_GO_CREATE, where, gotrace__record_time(m, &g->tick, NULL));
    record->as_GO_CREATE.go = g->place;
    record->as_GO_CREATE.number = number;
    record->as_GO_CREATE.id = gotrace__load_relaxed(&g->id);
    record->as_GO_CREATE.entry = entry_number;
    record->as_GO_CREATE.status = (uint16_t)status;
    record->as_GO_CREATE.flags = (uint16_t)flags;
    gotrace__publish_as(m, record, GO_CREATE);
  }
  gotrace__leave(m);
  return g;
}

/* The short way while tracing is off, which creates nothing if goroutines are untracked; false: it does not apply. */
GOTRACE__ALWAYS_INLINE bool gotrace__create_off(gotrace__thread *m, const gotrace_location *entry, unsigned status,
                                                gotrace_go **created) {
  unsigned count;
  *created = NULL;
  if (gotrace__is_untracked()) return true;
  gotrace__raise_off(m);
  count = m->free_count;
  if (GOTRACE__LIKELY(count)) {
    gotrace_go *g = m->free_gos[--count];
    if (GOTRACE__LIKELY(!gotrace__load_relaxed(&g->live) && !gotrace__load_relaxed(&g->extra) &&
                        (!gotrace__load_relaxed(&g->introduced) || !gotrace_enabled()))) { /* see gotrace__create */
      m->free_count = count;
      gotrace__occupy(g);
      gotrace__set_new(m, g, entry ? entry : &gotrace__no_place, status, 0);
      gotrace__leave(m);
      *created = g;
      return true;
    }
  }
  gotrace__leave(m);
  return false;
}

/* Inlined, so that GOTRACE__ORIGIN has the public function's frame. */
GOTRACE__ALWAYS_INLINE gotrace_go *gotrace__create_go(gotrace__thread *m, gotrace_site *site,
                                                      const gotrace_location *entry, unsigned status) {
  gotrace_go *g;
  if (!gotrace_enabled() && gotrace__create_off(m, entry, status, &g)) return g;
  return gotrace__create(m, GOTRACE__ORIGIN(site), entry, status, 0);
}

GOTRACE__DEFINE GOTRACE__FLATTEN gotrace_go *gotrace_go_create_at(gotrace_site *site, const gotrace_location *entry) {
  gotrace__thread *m = gotrace__caller_off();
  gotrace_go *g;
  if (GOTRACE__LIKELY(m && gotrace__create_off(m, entry, GOTRACE__RUNNABLE, &g))) return g;
  g = gotrace__create(NULL, GOTRACE__ORIGIN(site), entry, GOTRACE__RUNNABLE, 0);
  GOTRACE__KEEP_FRAME();
  return g;
}

GOTRACE__DEFINE gotrace_go *gotrace_go_create_blocked_at(gotrace_site *site, const gotrace_location *entry) {
  gotrace__thread *m = gotrace__caller();
  gotrace_go *g = m ? gotrace__create_go(m, site, entry, GOTRACE__WAITING) : NULL;
  GOTRACE__KEEP_FRAME();
  return g;
}

GOTRACE__DEFINE gotrace_go *gotrace_go_create_syscall_at(gotrace_site *site, const gotrace_location *entry) {
  gotrace__thread *m = gotrace__caller();
  gotrace_go *g = m ? gotrace__create(m, GOTRACE__ORIGIN(site), entry, GOTRACE__SYSCALL, 0) : NULL;
  if (g) {
    if (m->go) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
    gotrace__store_relaxed(&m->go, g);
    gotrace__store_relaxed(&m->in_syscall, true);
  }
  GOTRACE__KEEP_FRAME();
  return g;
}

/* A thread whose system call ended blocked needs a proc and has started none. If nobody has taken its former proc, the
 * thread takes it again. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__regain_proc(gotrace__thread *m) {
  gotrace_proc *p = m->lost;
  m->lost = NULL;
  if (!m->proc && gotrace__load_relaxed(&p->owner) == (uint32_t)m->index) {
    gotrace__store_relaxed(&p->owner, 0u);
    gotrace__start_proc(m, p);
  }
}

/* Starts a goroutine: GO_START, THREAD_START, WAIT_END. Like some that follow, this is two functions, so that a call
 * while tracing is off saves no registers. `m`: NULL means the caller's. */
GOTRACE__FN inline void gotrace__start_hint(gotrace__thread *m, gotrace_go *g) {
  if (GOTRACE__UNLIKELY(!g || gotrace__runs_elsewhere(m, g) || !gotrace__load_relaxed(&g->live))) {
    m->lacks |= !g;
    return;
  }
  if (GOTRACE__UNLIKELY(m->go != NULL && m->go != g)) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  m->lacks = false;
  gotrace__run_hint(m, g);
}
/* Makes a record one about no goroutine. */
GOTRACE__FN inline gotrace__record *gotrace__about_none(gotrace__record *record) {
  record->about_go.go = record->about_go.number = 0;
  return record;
}
/* A NULL handle starts: from now on, the thread may run a goroutine that the trace lacks. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__start_null(gotrace__thread *m) {
  gotrace__record *record =
      gotrace__record_at(m, GOTRACE__REC_GO_START, gotrace__nowhere, gotrace__record_time(m, NULL, NULL));
  gotrace__publish_as(m, gotrace__about_none(record), GO_START);
}
GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__start_on(gotrace__thread *m, unsigned kind,
                                                                      gotrace_go *g) {
  if (!m && !(m = gotrace__caller())) return;
  if (GOTRACE__UNLIKELY(m->lost != NULL)) gotrace__regain_proc(m);
  if (gotrace__begin(m)) {
    if (GOTRACE__UNLIKELY(!g)) gotrace__start_null(m);
    else gotrace__publish_as(m, gotrace__about_go(m, kind, gotrace__nowhere, g, true, NULL), GO_START);
    gotrace__leave(m);
  }
  gotrace__start_hint(m, g);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_start(gotrace_go *go) {
  gotrace__thread *m = gotrace__caller_off();
  if (GOTRACE__LIKELY(m && !m->lost)) { /* the short way */
    if (!go) {
      m->lacks = true;
      return;
    }
    if (GOTRACE__LIKELY(!m->go && gotrace__load_relaxed(&go->live) && !gotrace__runs_elsewhere(m, go))) {
      m->lacks = false;
      gotrace__run_hint(m, go);
      return;
    }
  }
  gotrace__start_on(NULL, GOTRACE__REC_GO_START, go);
}

/* Ends the thread's goroutine: GO_END, GO_END_IN_SYSCALL. `m`: NULL means the caller's. */
GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__end(gotrace__thread *m, unsigned kind) {
  gotrace_go *g;
  bool on;
  if (!m && !(m = gotrace__caller())) return;
  g = m->go;
  on = gotrace__begin_anyway(m);
  if (on) gotrace__publish_as(m, gotrace__about_running(m, kind, gotrace__nowhere, NULL), GO_END);
  if (kind == GOTRACE__REC_GO_END_IN_SYSCALL) {
    gotrace_proc *p = m->proc;
    /* No number says that this comes before the proc's next start, so the tick has to. */
    if (on && p && gotrace__load_relaxed(&p->owner) == (uint32_t)m->index) gotrace__raise_tick(&p->tick, m->tick + 1);
    gotrace__idle_hint(m, p);
  }
  if (GOTRACE__LIKELY(g != NULL)) {
    gotrace__leave_hint(m, GOTRACE__DEAD);
    if (g == m->own_go) m->own_go = NULL;
    gotrace__go_free(m, g);
  } else {
    m->lacks = false;
  }
  gotrace__leave(m);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_end(void) {
  gotrace__thread *m = gotrace__caller_off();
  if (GOTRACE__LIKELY(m != NULL)) { /* the short way */
    gotrace_go *g, **free_gos;
    unsigned count;
    gotrace__raise_off(m);
    g = m->go;
    free_gos = m->free_gos;
    count = m->free_count;
    if (GOTRACE__LIKELY(g && gotrace__load_relaxed(&g->live) && g != m->own_go && free_gos &&
                        count < GOTRACE__MOST_FREE)) {
      gotrace__leave_hint(m, GOTRACE__DEAD);
      gotrace__store_relaxed(&g->live, (uint8_t)0);
      free_gos[count] = g;
      m->free_count = count + 1;
      gotrace__leave(m);
      return;
    }
    gotrace__leave(m);
    if (!g) {
      m->lacks = false;
      return;
    }
  }
  gotrace__end(NULL, GOTRACE__REC_GO_END);
}

/* Stops or blocks the thread's goroutine. */
GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__pause_on(gotrace__thread *m, gotrace__origin origin,
                                                                      unsigned kind, unsigned status, unsigned reason) {
  if (gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, origin);
    gotrace__record *record = gotrace__about_running(m, kind, where, NULL);
    record->as_GO_BLOCK.reason = reason;
    gotrace__publish_as(m, record, GO_BLOCK);
    gotrace__leave(m);
  }
  gotrace__leave_hint(m, status);
}
GOTRACE__FN inline void gotrace__pause_go(gotrace__thread *m, gotrace__origin origin, unsigned kind, unsigned status,
                                          unsigned reason) {
  if (gotrace_enabled()) gotrace__pause_on(m, origin, kind, status, reason);
  else gotrace__leave_hint(m, status);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_stop_at(gotrace_site *site, unsigned reason) {
  gotrace__thread *m = gotrace__caller();
  if (GOTRACE__LIKELY(m != NULL))
    gotrace__pause_go(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GO_STOP, GOTRACE__RUNNABLE, reason);
  GOTRACE__KEEP_FRAME();
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_block_at(gotrace_site *site, unsigned reason) {
  gotrace__thread *m = gotrace__caller();
  if (GOTRACE__LIKELY(m != NULL))
    gotrace__pause_go(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GO_BLOCK, GOTRACE__WAITING, reason);
  GOTRACE__KEEP_FRAME();
}

GOTRACE__DEFINE void gotrace_go_continue(gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__start_on(m, GOTRACE__REC_WAIT_END, go);
}

GOTRACE__FN inline void gotrace__unblock_hint(gotrace_go *g) {
  if (gotrace__load_relaxed(&g->status) == GOTRACE__WAITING)
    gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__RUNNABLE);
}

GOTRACE__FN inline void gotrace__put_unblock(gotrace__thread *m, gotrace__where where, gotrace_go *g) {
  gotrace__publish_as(m, gotrace__about_go(m, GOTRACE__REC_GO_UNBLOCK, where, g, false, NULL), GO_UNBLOCK);
}

GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__unblock_on(gotrace__thread *m, gotrace__origin origin,
                                                                        gotrace_go *g) {
  if (gotrace__begin(m)) {
    gotrace__here(m, origin.site);
    if (GOTRACE__LIKELY(g != NULL)) gotrace__put_unblock(m, gotrace__locate(m, origin), g);
    gotrace__leave(m);
  }
  if (g) gotrace__unblock_hint(g);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_unblock_at(gotrace_site *site, gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (GOTRACE__UNLIKELY(!m)) return;
  if (gotrace_enabled()) gotrace__unblock_on(m, GOTRACE__ORIGIN(site), go);
  else if (go) gotrace__unblock_hint(go);
  GOTRACE__KEEP_FRAME();
}

/* Switches from the thread's goroutine to g: GO_SWITCH, GO_SWITCH_END. */
GOTRACE__FN inline void gotrace__switch(gotrace__thread *m, gotrace__origin origin, unsigned kind, gotrace_go *g,
                                        unsigned reason) {
  gotrace_go *from = m->go;
  bool end = kind == GOTRACE__REC_GO_SWITCH_END, on;
  if (GOTRACE__UNLIKELY(!g || (!from && m->lacks))) { /* to or from a goroutine that the trace lacks */
    if (end) gotrace__end(m, GOTRACE__REC_GO_END);
    else
      gotrace__pause_go(m, origin, GOTRACE__REC_GO_BLOCK, GOTRACE__WAITING,
                        reason == GOTRACE__SWITCH_UNEXPLAINED ? GOTRACE_BLOCK_GENERIC : reason);
    gotrace__start_on(m, GOTRACE__REC_WAIT_END, g);
    return;
  }
  on = gotrace__begin_anyway(m);
  gotrace__here(m, origin.site);
  if (on && GOTRACE__UNLIKELY(!from || g == from)) {
    gotrace__record_problem(m, !from ? GOTRACE_PROBLEM_NOT_RUNNING : GOTRACE_PROBLEM_SWITCH_NOT_WAITING);
  } else if (on) {
    gotrace__where where = gotrace__locate(m, origin);
    gotrace__record *record;
    gotrace__store_relaxed(&from->number, gotrace__load_relaxed(&from->number) + 1);
    record = gotrace__about_go(m, kind, where, g, true, &from->tick);
    if (!end) record->as_GO_SWITCH.reason = reason;
    gotrace__publish(m, record, end ? GOTRACE__SIZE_GO_SWITCH_END : GOTRACE__SIZE_GO_SWITCH);
  }
  if (g && from && g != from && gotrace__load_relaxed(&g->live) && !gotrace__runs_elsewhere(m, g)) {
    gotrace__leave_hint(m, end ? GOTRACE__DEAD : GOTRACE__WAITING);
    if (end && from == m->own_go) m->own_go = NULL;
    if (end) gotrace__go_free(m, from);
    gotrace__run_hint(m, g);
  }
  gotrace__leave(m);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_switch_at(gotrace_site *site, gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (GOTRACE__LIKELY(m != NULL))
    gotrace__switch(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GO_SWITCH, go, GOTRACE__SWITCH_UNEXPLAINED);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_go_switch_for_at(gotrace_site *site, gotrace_go *go, unsigned reason) {
  gotrace__thread *m = gotrace__caller();
  if (m)
    gotrace__switch(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GO_SWITCH, go,
                    reason != GOTRACE__SWITCH_UNEXPLAINED ? reason : 0xffu);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_go_switch_end_at(gotrace_site *site, gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__switch(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GO_SWITCH_END, go, 0);
  GOTRACE__KEEP_FRAME();
}

GOTRACE__DEFINE void gotrace_go_destroy_at(gotrace_site *site, gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  bool on, dies;
  if (!m) return;
  on = gotrace__begin_anyway(m);
  gotrace__here(m, site);
  dies = go && go != m->go && !gotrace__runs_elsewhere(m, go) && gotrace__exchange_acq_rel(&go->live, (uint8_t)0);
  if (on && dies) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__publish_as(m, gotrace__about_go(m, GOTRACE__REC_GO_DESTROY, where, go, true, NULL), GO_DESTROY);
  } else if (on && go) {
    gotrace__record_problem(m, GOTRACE_PROBLEM_DESTROY);
  }
  if (dies) {
    if (go == m->own_go) m->own_go = NULL;
    gotrace__place_free(m, go);
  }
  gotrace__leave(m);
  GOTRACE__KEEP_FRAME();
}

/* Sets a goroutine's label and records that: GO_LABEL; GO_RENAME, with the new entry if it is `renamed`. */
GOTRACE__FN void gotrace__label_call(gotrace__thread *m, unsigned kind, gotrace_go *g, bool renamed, const char *label,
                                     size_t size) {
  bool kept = gotrace__set_label(g, label, size);
  uint32_t entry;
  gotrace__record *record;
  size_t bytes = GOTRACE__SIZE_GO_LABEL;
  if (!gotrace__begin(m)) return;
  if (!kept) gotrace__record_problem(m, GOTRACE_PROBLEM_NO_MEMORY);
  entry = renamed ? gotrace__entry_stack(m, g) : 0;
  if (kind == GOTRACE__REC_GO_LABEL) {
    record = gotrace__about_nothing(m, kind, gotrace__nowhere);
  } else {
    record = gotrace__about_go(m, kind, gotrace__nowhere, g, false, NULL);
    record->as_GO_RENAME.entry = entry;
    bytes = GOTRACE__SIZE_GO_RENAME;
  }
  gotrace__publish(m, record,
                   gotrace__put_text(record, bytes, label, gotrace__utf8_prefix(label, size, GOTRACE__LABEL - 1)));
  gotrace__leave(m);
}

GOTRACE__DEFINE void gotrace_go_label_n(const char *label, size_t size) {
  gotrace__thread *m = gotrace__caller();
  if (!m) return;
  gotrace__attach(m, NULL);
  if (m->go) gotrace__label_call(m, GOTRACE__REC_GO_LABEL, m->go, false, label, gotrace__name_size(label, size));
  else gotrace__lacking_call(m, GOTRACE_PROBLEM_NOT_RUNNING);
}
GOTRACE__DEFINE void gotrace_go_label(const char *label) { gotrace_go_label_n(label, SIZE_MAX); }

/* Whether a call may change a goroutine: one that the thread runs, or that does not run. Counts it if not. */
GOTRACE__FN bool gotrace__may_change(gotrace__thread *m, const gotrace_go *g) {
  if (g && !gotrace__runs_elsewhere(m, g) && gotrace__load_relaxed(&g->live)) return true;
  if (g) gotrace__problem_call(m, GOTRACE_PROBLEM_NOT_RUNNING);
  return false;
}

GOTRACE__DEFINE void gotrace_go_rename_n(gotrace_go *go, const char *name, size_t size) {
  gotrace__thread *m = gotrace__caller();
  gotrace_location entry = {0, NULL, "", 0};
  if (!m || !gotrace__may_change(m, go)) return;
  size = gotrace__name_size(name, size);
  if (size) entry.function = gotrace__keep_name(name, size);
  if (entry.function) gotrace__set_entry(go, &entry);
  gotrace__label_call(m, GOTRACE__REC_GO_RENAME, go, entry.function != NULL, name, size);
}
GOTRACE__DEFINE void gotrace_go_rename(gotrace_go *go, const char *name) { gotrace_go_rename_n(go, name, SIZE_MAX); }

GOTRACE__DEFINE void gotrace_go_timer(gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (!m || !gotrace__may_change(m, go)) return;
  if (gotrace__begin(m)) {
    gotrace__publish_as(m, gotrace__about_go(m, GOTRACE__REC_GO_TIMER, gotrace__nowhere, go, false, NULL), GO_TIMER);
    gotrace__leave(m);
  }
  gotrace__store_relaxed(&go->flags, (uint8_t)(gotrace__load_relaxed(&go->flags) | GOTRACE__RECORD_TIMER));
}

GOTRACE__DEFINE void gotrace_go_stack_bounds(gotrace_go *go, const void *low, const void *high) {
  gotrace__thread *m = gotrace__caller();
  if (!m || !gotrace__may_change(m, go)) return;
  gotrace__store_relaxed(&go->stack_low, (uintptr_t)low);
  gotrace__store_relaxed(&go->stack_high, (uintptr_t)high);
  gotrace__store_relaxed(&go->extra, (uint8_t)1);
}

/* ---------------------------------------------------------------------------------------------- >>system-calls ---- */

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_syscall_begin_at(gotrace_site *site) {
  gotrace__thread *m = gotrace__caller_go(site);
  gotrace_proc *p;
  if (GOTRACE__UNLIKELY(!m)) return;
  p = m->proc;
  if (gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__record *record = gotrace__about_running(m, GOTRACE__REC_SYSCALL_BEGIN, where, p ? &p->tick : NULL);
    if (p && m->go) gotrace__store_relaxed(&p->number, gotrace__load_relaxed(&p->number) + 1);
    gotrace__publish_as(m, record, SYSCALL_BEGIN);
    gotrace__leave(m);
  }
  if (GOTRACE__LIKELY(m->go != NULL)) {
    gotrace__store_relaxed(&m->in_syscall, true);
    gotrace__store_relaxed(&m->go->status, (uint8_t)GOTRACE__SYSCALL);
    if (p) gotrace__hold_hint(p, GOTRACE__PROC_SYSCALL);
  }
  GOTRACE__KEEP_FRAME();
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_go_syscall_end(void) {
  gotrace__thread *m = gotrace__caller();
  gotrace_proc *p;
  if (GOTRACE__UNLIKELY(!m || (!m->go && gotrace__is_untracked()))) return;
  p = m->proc;
  if (gotrace__begin(m)) {
    if (GOTRACE__UNLIKELY(p && gotrace__load_relaxed(&p->stamp) != m->session)) gotrace__know_proc(m, p);
    gotrace__publish_as(m, gotrace__about_running(m, GOTRACE__REC_SYSCALL_END, gotrace__nowhere, NULL), SYSCALL_END);
    gotrace__leave(m);
  }
  if (GOTRACE__UNLIKELY(!m->in_syscall || !m->go)) return;
  gotrace__run_hint(m, m->go);
  if (!p) return;
  if (GOTRACE__LIKELY(gotrace__load_relaxed(&p->owner) == (uint32_t)m->index))
    gotrace__hold_hint(p, GOTRACE__PROC_RUNNING);
  else gotrace__store_relaxed(&m->proc, (gotrace_proc *)NULL); /* stolen */
}

GOTRACE__DEFINE void gotrace_go_syscall_end_blocked(void) {
  gotrace__thread *m = gotrace__caller();
  gotrace_proc *p;
  if (!m) return;
  if (!m->in_syscall || !m->go) {
    gotrace__lacking_call(m, GOTRACE_PROBLEM_SYSCALL_NONE);
    return;
  }
  if (gotrace__begin(m)) {
    gotrace__publish_as(m, gotrace__about_running(m, GOTRACE__REC_SYSCALL_END_BLOCKED, gotrace__nowhere, NULL),
                        SYSCALL_END_BLOCKED);
    gotrace__leave(m);
  }
  gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  p = m->proc;
  if (p && gotrace__holds(m, p, GOTRACE__PROC_RUNNING)) return; /* the thread has started it meanwhile */
  if (p && gotrace__load_relaxed(&p->owner) != (uint32_t)m->index) p = NULL;
  m->lost = p;
  gotrace__store_relaxed(&m->proc, (gotrace_proc *)NULL);
  if (p) gotrace__store_relaxed(&p->status, (uint8_t)GOTRACE__PROC_IDLE);
}

GOTRACE__DEFINE void gotrace_go_end_in_syscall(void) {
  gotrace__thread *m = gotrace__caller();
  if (!m) return;
  if (!m->in_syscall || !m->go) {
    gotrace__lacking_call(m, GOTRACE_PROBLEM_SYSCALL_NONE);
    return;
  }
  gotrace__end(m, GOTRACE__REC_GO_END_IN_SYSCALL);
  gotrace__store_relaxed(&m->proc, (gotrace_proc *)NULL);
}

/* ------------------------------------------------------------------------------------------------- >>collector ---- */

GOTRACE__DEFINE void gotrace_procs_change_at(gotrace_site *site, unsigned count) {
  gotrace__thread *m = gotrace__caller();
  if (!m) return;
  gotrace__store_relaxed(&gotrace__t.procs_changed, (uint64_t)count);
  if (gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__record *record = gotrace__about_nothing(m, GOTRACE__REC_PROCS_CHANGE, where);
    record->as_PROCS_CHANGE.count = count;
    gotrace__publish_as(m, record, PROCS_CHANGE);
    gotrace__leave(m);
  }
  GOTRACE__KEEP_FRAME();
}

/* The number of the collector's next transition. A call that is held up in an earlier session changes nothing. */
GOTRACE__FN uint32_t gotrace__next_collector(const gotrace__thread *m) {
  gotrace__uint64 *collector = &gotrace__t.collector;
  uint64_t last = gotrace__load_relaxed(collector), next;
  do {
    if (GOTRACE__IS_LATER(last >> 32, m->session)) return 0;
    next = last >> 32 == m->session ? last + 1 : (uint64_t)m->session << 32 | 1;
  } while (!gotrace__cas_acq_rel(collector, &last, next));
  return (uint32_t)next;
}

/* GC_BEGIN, GC_END, STW_BEGIN, STW_END. The program has one collection and one stop-the-world at a time. */
GOTRACE__FN void gotrace__collector_call(gotrace__thread *m, gotrace__origin origin, unsigned kind, unsigned reason) {
  bool begin = kind == GOTRACE__REC_GC_BEGIN || kind == GOTRACE__REC_STW_BEGIN;
  bool stw = kind == GOTRACE__REC_STW_BEGIN || kind == GOTRACE__REC_STW_END;
  if (gotrace__begin(m)) {
    gotrace__where where = begin ? gotrace__locate(m, origin) : gotrace__nowhere;
    uint32_t number = gotrace__next_collector(m);
    gotrace__record *record;
    if (number == 1) { /* K5 */
      record = gotrace__about_nothing(m, GOTRACE__REC_COLLECTOR, gotrace__nowhere);
      record->as_COLLECTOR.gc = gotrace__load_relaxed(&gotrace__t.gc);
      record->as_COLLECTOR.stw = gotrace__load_relaxed(&gotrace__t.stw);
      gotrace__publish_as(m, record, COLLECTOR);
    }
    record = gotrace__about_nothing(m, kind, where);
    record->about_collector.number = number;
    if (kind == GOTRACE__REC_STW_BEGIN) record->as_STW_BEGIN.reason = reason;
    gotrace__publish_as(m, record, STW_BEGIN);
    gotrace__leave(m);
  }
  gotrace__store_relaxed(stw ? &gotrace__t.stw : &gotrace__t.gc, (uint32_t)begin);
}

GOTRACE__DEFINE void gotrace_gc_begin_at(gotrace_site *site) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__collector_call(m, GOTRACE__ORIGIN(site), GOTRACE__REC_GC_BEGIN, 0);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_gc_end(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__collector_call(m, gotrace__no_origin, GOTRACE__REC_GC_END, 0);
}
GOTRACE__DEFINE void gotrace_stw_begin_at(gotrace_site *site, unsigned reason) {
  gotrace__thread *m = gotrace__caller_go(site);
  if (m) gotrace__collector_call(m, GOTRACE__ORIGIN(site), GOTRACE__REC_STW_BEGIN, reason);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_stw_end(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__collector_call(m, gotrace__no_origin, GOTRACE__REC_STW_END, 0);
}

/* A record without arguments. */
GOTRACE__FN void gotrace__plain_call(gotrace__thread *m, unsigned kind) {
  if (!gotrace__begin(m)) return;
  gotrace__publish(m, gotrace__about_nothing(m, kind, gotrace__nowhere), sizeof(uint64_t));
  gotrace__leave(m);
}

/* Begins or ends a scan or sweep, of the thread's proc. */
GOTRACE__FN void gotrace__proc_range(gotrace__thread *m, unsigned kind, bool sweep, bool begin) {
  gotrace__plain_call(m, kind);
  if (sweep) gotrace__store_relaxed(m->proc ? &m->proc->sweep : &m->sweep, begin);
  else gotrace__store_relaxed(m->proc ? &m->proc->scan : &m->scan, begin);
}

GOTRACE__DEFINE void gotrace_gc_scan_begin(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__proc_range(m, GOTRACE__REC_SCAN_BEGIN, false, true);
}
GOTRACE__DEFINE void gotrace_gc_scan_end(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__proc_range(m, GOTRACE__REC_SCAN_END, false, false);
}
GOTRACE__DEFINE void gotrace_gc_sweep_begin(void) {
  gotrace__thread *m = gotrace__caller_go(NULL);
  if (m) gotrace__proc_range(m, GOTRACE__REC_SWEEP_BEGIN, true, true);
}
GOTRACE__DEFINE void gotrace_gc_sweep_span_at(gotrace_site *site, uint64_t swept, uint64_t reclaimed) {
  gotrace__thread *m = gotrace__caller();
  if (m && gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__record *record = gotrace__about_nothing(m, GOTRACE__REC_SWEEP_SPAN, where);
    record->as_SWEEP_SPAN.swept = swept;
    record->as_SWEEP_SPAN.reclaimed = reclaimed;
    gotrace__publish_as(m, record, SWEEP_SPAN);
    gotrace__leave(m);
  }
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_gc_sweep_end(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__proc_range(m, GOTRACE__REC_SWEEP_END, true, false);
}
GOTRACE__DEFINE void gotrace_gc_mark_assist_begin_at(gotrace_site *site) {
  gotrace__thread *m = gotrace__caller_go(site);
  if (m) gotrace__site_call(m, GOTRACE__ORIGIN(site), GOTRACE__REC_MARK_ASSIST_BEGIN);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_gc_mark_assist_end(void) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__plain_call(m, GOTRACE__REC_MARK_ASSIST_END);
}

GOTRACE__FN void gotrace__heap_call(unsigned kind, gotrace__uint64 *last, uint64_t bytes) {
  gotrace__thread *m = gotrace__caller();
  if (!m) return;
  if (gotrace__begin(m)) {
    gotrace__record *record = gotrace__about_nothing(m, kind, gotrace__nowhere);
    record->as_HEAP_ALLOC.bytes = bytes;
    gotrace__publish_as(m, record, HEAP_ALLOC);
    gotrace__leave(m);
  }
  gotrace__store_relaxed(last, bytes + 1);
}
GOTRACE__DEFINE void gotrace_heap_alloc(uint64_t bytes) {
  gotrace__heap_call(GOTRACE__REC_HEAP_ALLOC, &gotrace__t.heap_alloc, bytes);
}
GOTRACE__DEFINE void gotrace_heap_goal(uint64_t bytes) {
  if (bytes == UINT64_MAX) bytes = 0; /* heap-based triggering is disabled */
  gotrace__heap_call(GOTRACE__REC_HEAP_GOAL, &gotrace__t.heap_goal, bytes);
}

GOTRACE__FN void gotrace__memory_call(unsigned event, const void *address, size_t bytes, uint64_t class_or_type) {
  gotrace__thread *m;
  if (GOTRACE__LIKELY(!gotrace__load_relaxed(&gotrace__t.alloc_events))) return;
  m = gotrace__caller();
  if (m && gotrace__begin(m)) {
    gotrace__record *record = gotrace__about_nothing(m, GOTRACE__REC_MEMORY, gotrace__nowhere);
    record->as_MEMORY.event = event;
    record->as_MEMORY.address = (uintptr_t)address;
    record->as_MEMORY.bytes = bytes;
    record->as_MEMORY.class_or_type = class_or_type;
    gotrace__publish_as(m, record, MEMORY);
    gotrace__leave(m);
  }
}
GOTRACE__DEFINE void gotrace_span(const void *base, size_t bytes, unsigned kind_class) {
  gotrace__memory_call(GOTRACE_V2_SPAN, base, bytes, kind_class);
}
GOTRACE__DEFINE void gotrace_span_alloc(const void *base, size_t bytes, unsigned kind_class) {
  gotrace__memory_call(GOTRACE_V2_SPAN_ALLOC, base, bytes, kind_class);
}
GOTRACE__DEFINE void gotrace_span_free(const void *base) { gotrace__memory_call(GOTRACE_V2_SPAN_FREE, base, 0, 0); }
GOTRACE__DEFINE void gotrace_heap_object(const void *object, const gotrace_type *type) {
  gotrace__memory_call(GOTRACE_V2_HEAP_OBJECT, object, 0, (uintptr_t)type);
}
GOTRACE__DEFINE void gotrace_heap_object_alloc(const void *object, const gotrace_type *type) {
  gotrace__memory_call(GOTRACE_V2_HEAP_OBJECT_ALLOC, object, 0, (uintptr_t)type);
}
GOTRACE__DEFINE void gotrace_heap_object_free(const void *object) {
  gotrace__memory_call(GOTRACE_V2_HEAP_OBJECT_FREE, object, 0, 0);
}
GOTRACE__DEFINE void gotrace_goroutine_stack(const void *base, size_t bytes) {
  gotrace__memory_call(GOTRACE_V2_GOROUTINE_STACK, base, bytes, 0);
}
GOTRACE__DEFINE void gotrace_goroutine_stack_alloc(const void *base, size_t bytes) {
  gotrace__memory_call(GOTRACE_V2_GOROUTINE_STACK_ALLOC, base, bytes, 0);
}
GOTRACE__DEFINE void gotrace_goroutine_stack_free(const void *base) {
  gotrace__memory_call(GOTRACE_V2_GOROUTINE_STACK_FREE, base, 0, 0);
}

/* ----------------------------------------------------------------------------------------------------- >>tasks ---- */

/* The next 4 or 8 bytes of a text, and the last ones, less than 8. Composed in a register: a copy in memory could be
 * read only after a delay, since the read spans several writes. */
GOTRACE__FN inline uint64_t gotrace__4_bytes(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}
GOTRACE__FN inline uint64_t gotrace__8_bytes(const char *text) {
  return gotrace__4_bytes(text) | gotrace__4_bytes(text + 4) << 32;
}
GOTRACE__FN inline uint64_t gotrace__last_bytes(const char *text, size_t size) {
  uint64_t word = 0;
  size_t left = size & 3;
  while (left) word = word << 8 | (unsigned char)text[(size & 4) + --left];
  return size & 4 ? word << 32 | gotrace__4_bytes(text) : word;
}

GOTRACE__FN GOTRACE__NOINLINE gotrace__open_task *gotrace__make_open_tasks(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__open_task *tasks;
  gotrace__lock(&t->records);
  tasks = t->open_tasks;
  if (!tasks) {
    tasks = (gotrace__open_task *)gotrace__allocate(NULL, GOTRACE__TASKS * sizeof *tasks, false);
    gotrace__store_release(&t->open_tasks, tasks);
  }
  gotrace__unlock(&t->records);
  return tasks;
}

/* The n-th of the places that a task may have, which are one in each of 16 sets. The first is in the same set for a
 * whole block of ids, which belongs to one thread: to write what another processor wrote last takes as long as the rest
 * of the call. */
#define GOTRACE__TASK_SETS 16
#define GOTRACE__TASK_SET (GOTRACE__TASKS / GOTRACE__TASK_SETS)
GOTRACE__FN inline gotrace__open_task *gotrace__task_place(gotrace__open_task *tasks, uint64_t id, unsigned n) {
  return tasks + (id / GOTRACE__TASK_BLOCK + 7 * n) % GOTRACE__TASK_SETS * GOTRACE__TASK_SET + id % GOTRACE__TASK_SET;
}
GOTRACE__STATIC_ASSERT(GOTRACE__TASKS >= GOTRACE__TASK_SETS && GOTRACE__TASKS % GOTRACE__TASK_SETS == 0, task_sets);
GOTRACE__FN inline uint64_t gotrace__next_task(gotrace__thread *m) {
  if (GOTRACE__UNLIKELY(m->next_task_id == m->last_task_id)) {
    uint64_t first = gotrace__add_relaxed(&gotrace__t.next_task_id, GOTRACE__TASK_BLOCK);
    m->next_task_id = first;
    if (!m->last_task_id) /* the first tasks of many threads have places that are apart */
      m->next_task_id += first / GOTRACE__TASK_BLOCK * 37 % GOTRACE__TASK_SET;
    m->last_task_id = first + GOTRACE__TASK_BLOCK;
  }
  return ++m->next_task_id;
}

/* Another task is at the first place: finds a free one, or that of the oldest task. */
GOTRACE__FN GOTRACE__COLD gotrace__open_task *gotrace__distant_place(gotrace__open_task *tasks, uint64_t id) {
  gotrace__open_task *place = tasks;
  uint64_t oldest = UINT64_MAX;
  unsigned n;
  for (n = 0; n < GOTRACE__TASK_SETS && oldest; n++) {
    gotrace__open_task *task = gotrace__task_place(tasks, id, n);
    uint64_t other = gotrace__load_relaxed(&task->id) & ~GOTRACE__TASK_SILENT;
    if (other < oldest) oldest = other, place = task;
  }
  return place;
}

/* Keeps a task among the open ones, for later traces. A start takes only what has the same id before and after it has
 * read the rest. Every store that a reader may see is therefore a release, after the id's 0, and every load an acquire.
 * If two threads write one place at the same moment, the name may be of both. */
GOTRACE__ALWAYS_INLINE void gotrace__keep_task(uint64_t id, uint64_t parent, const char *name, size_t size) {
  gotrace__open_task *task = gotrace__load_acquire(&gotrace__t.open_tasks), *tasks;
  size_t at = 0;
  if (GOTRACE__UNLIKELY(!task)) task = gotrace__make_open_tasks();
  if (GOTRACE__UNLIKELY(!task)) return;
  size = gotrace__utf8_prefix(name, size, GOTRACE__TASK_NAME - 1);
  if (!size) name = ""; /* not NULL */
  tasks = task;
  task = gotrace__task_place(tasks, id, 0);
  if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&task->id) != 0)) task = gotrace__distant_place(tasks, id);
  gotrace__store_relaxed(&task->id, (uint64_t)0);
  gotrace__store_release(&task->parent, parent);
  for (; size - at >= 8; at += 8) gotrace__store_release(&task->name[at / 8], gotrace__8_bytes(name + at));
  gotrace__store_release(&task->name[at / 8], gotrace__last_bytes(name + at, size - at)); /* has the first 0 */
  gotrace__store_release(&task->id, id);
}

/* The task has another place, or a newer one has replaced it. */
GOTRACE__FN GOTRACE__COLD void gotrace__drop_distant_task(gotrace__open_task *tasks, uint64_t id) {
  unsigned n;
  for (n = 1; n < GOTRACE__TASK_SETS; n++) {
    gotrace__open_task *task = gotrace__task_place(tasks, id, n);
    if (gotrace__load_relaxed(&task->id) != id) continue;
    gotrace__store_relaxed(&task->id, (uint64_t)0);
    return;
  }
}
GOTRACE__FN inline void gotrace__drop_task(uint64_t id) {
  gotrace__open_task *tasks = gotrace__load_acquire(&gotrace__t.open_tasks), *task;
  if (!tasks) return;
  task = gotrace__task_place(tasks, id, 0);
  if (GOTRACE__LIKELY(gotrace__load_relaxed(&task->id) == id)) gotrace__store_relaxed(&task->id, (uint64_t)0);
  else gotrace__drop_distant_task(tasks, id);
}

/* What a record's head does not say of a region, task or log: its task, and its name if that is not the site's. */
GOTRACE__FN GOTRACE__NOINLINE uint8_t *gotrace__put_task(uint8_t *at, uint64_t task) {
  gotrace__put_head(at, GOTRACE__REC_OF_TASK, 0, 0)->as_OF_TASK.task = task;
  return at + GOTRACE__WORDS(GOTRACE__SIZE_OF_TASK);
}
GOTRACE__FN GOTRACE__NOINLINE uint8_t *gotrace__put_name(uint8_t *at, const char *prefix, uint32_t prefix_size,
                                                         const char *name, uint32_t size) {
  gotrace__put_head(at, GOTRACE__REC_NAME, 0, 0)->as_NAME.text_size = prefix_size + size;
  memcpy(at + GOTRACE__SIZE_NAME, prefix, prefix_size);
  gotrace__put_bytes(at + GOTRACE__SIZE_NAME + prefix_size, name, size);
  return at + GOTRACE__WORDS(GOTRACE__SIZE_NAME + prefix_size + size);
}
/* `text_size`: as in the calls ..._n. Inlined, so that GOTRACE__ORIGIN has the public function's frame. */
GOTRACE__ALWAYS_INLINE gotrace_task gotrace__begin_task(gotrace_site *site, const char *name, size_t text_size,
                                                        int name_is_constant, gotrace_task parent) {
  gotrace__thread *m = gotrace__caller();
  gotrace_task task = {0};
  uint32_t size = gotrace__text_size(name, text_size);
  bool on;
  if (GOTRACE__UNLIKELY(!m)) { /* a nested call's task has an id, but no place in the trace */
    if (gotrace__self) task.id = (gotrace__add_relaxed(&gotrace__t.next_task_id, 1) + 1) | GOTRACE__TASK_SILENT;
    return task;
  }
  if (!m->go && gotrace_enabled()) gotrace__attach(m, site);
  on = gotrace_enabled() && gotrace__enter(m, GOTRACE__CALL_ROOM + size);
  if (!on) gotrace__raise(m);
  task.id = gotrace__next_task(m);
  if (!on) task.id |= GOTRACE__TASK_SILENT;
  if (on) {
    gotrace__where where = gotrace__locate_as(m, GOTRACE__ORIGIN(site), name, name_is_constant && site);
    uint8_t *at = gotrace__next_place(m);
    gotrace__record *record;
    if (!(where.site & GOTRACE__NAMED)) at = gotrace__put_name(at, "", 0, name, size);
    record = gotrace__about_nothing_behind(m, at, GOTRACE__REC_TASK_BEGIN, where);
    record->as_TASK_BEGIN.task = task.id;
    record->as_TASK_BEGIN.parent = parent.id;
    gotrace__publish_as(m, record, TASK_BEGIN);
  }
  gotrace__keep_task(task.id, parent.id, name, size);
  gotrace__leave(m);
  return task;
}

GOTRACE__DEFINE gotrace_task gotrace_task_begin_at(gotrace_site *site, const char *name, int name_is_constant,
                                                   gotrace_task parent) {
  return gotrace__begin_task(site, name, SIZE_MAX, name_is_constant, parent);
}
GOTRACE__DEFINE gotrace_task gotrace__task_begin_constant(gotrace_site *site, const char *name, size_t size,
                                                          gotrace_task parent) {
  return gotrace__begin_task(site, name, size, 1, parent);
}
GOTRACE__DEFINE gotrace_task gotrace_task_begin_n_at(gotrace_site *site, const char *name, size_t size,
                                                     gotrace_task parent) {
  return gotrace__begin_task(site, name, size, 0, parent);
}

GOTRACE__DEFINE void gotrace_task_end_at(gotrace_site *site, gotrace_task task) {
  gotrace__thread *m;
  if (!task.id) return;
  m = gotrace__caller();
  if (!m) return;
  gotrace__drop_task(task.id);
  if (!gotrace_enabled()) return;
  if (!m->go) gotrace__attach(m, site);
  if (gotrace__begin(m)) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__record *record = gotrace__about_nothing(m, GOTRACE__REC_TASK_END, where);
    record->as_TASK_END.task = task.id;
    gotrace__publish_as(m, record, TASK_END);
    gotrace__leave(m);
  }
  GOTRACE__KEEP_FRAME();
}

/* REGION_BEGIN, REGION_END. */
GOTRACE__FN inline void gotrace__region_call(gotrace__origin origin, unsigned kind, gotrace_task task, const char *name,
                                             size_t text_size, int name_is_constant) {
  gotrace__thread *m = gotrace__caller_go(origin.site);
  uint32_t size;
  if (GOTRACE__UNLIKELY(!m) || !gotrace_enabled()) return;
  size = name_is_constant ? 0 : gotrace__text_size(name, text_size);
  if (gotrace__enter(m, GOTRACE__CALL_ROOM + size)) {
    gotrace__where where = gotrace__locate_as(m, origin, name, name_is_constant);
    uint8_t *at = gotrace__next_place(m);
    if (GOTRACE__UNLIKELY(task.id != 0)) at = gotrace__put_task(at, task.id);
    if (!name_is_constant) at = gotrace__put_name(at, "", 0, name, size);
    gotrace__publish_as(m, gotrace__about_nothing_behind(m, at, kind, where), REGION_BEGIN);
    gotrace__leave(m);
  }
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_region_begin_at(gotrace_site *site, gotrace_task task, const char *name,
                                                              int name_is_constant) {
  gotrace__region_call(GOTRACE__ORIGIN(site), GOTRACE__REC_REGION_BEGIN, task, name, SIZE_MAX,
                       name_is_constant && site);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_region_end_at(gotrace_site *site, gotrace_task task, const char *name,
                                                            int name_is_constant) {
  gotrace__region_call(GOTRACE__ORIGIN(site), GOTRACE__REC_REGION_END, task, name, SIZE_MAX, name_is_constant && site);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_region_begin_n_at(gotrace_site *site, gotrace_task task, const char *name, size_t size) {
  gotrace__region_call(GOTRACE__ORIGIN(site), GOTRACE__REC_REGION_BEGIN, task, name, size, 0);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_region_end_n_at(gotrace_site *site, gotrace_task task, const char *name, size_t size) {
  gotrace__region_call(GOTRACE__ORIGIN(site), GOTRACE__REC_REGION_END, task, name, size, 0);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_region_end_innermost_at(gotrace_site *site) {
  gotrace__thread *m = gotrace__caller_go(site);
  if (m) gotrace__site_call(m, GOTRACE__ORIGIN(site), GOTRACE__REC_REGION_POP);
  GOTRACE__KEEP_FRAME();
}

/* `prefix`: a constant, with which the category begins. `is_constant`: so is the category, and there is no prefix.
 * Inlined, so that GOTRACE__ORIGIN has the public function's frame. */
GOTRACE__ALWAYS_INLINE void gotrace__log_call(gotrace_site *site, gotrace_task task, const char *prefix,
                                              const char *category, size_t category_text, int is_constant,
                                              const char *message, size_t text_size) {
  gotrace__thread *m = gotrace__caller_go(site);
  uint32_t prefix_size = (uint32_t)strlen(prefix), category_size, size; /* the compiler knows the first */
  if (GOTRACE__UNLIKELY(!m)) return;
  category_size = is_constant ? 0 : gotrace__text_size(category, category_text);
  if (prefix_size && category_size > GOTRACE__TEXT_ROOM - prefix_size) category_size = GOTRACE__TEXT_ROOM - prefix_size;
  size = gotrace__text_size(message, text_size);
  if (gotrace_enabled() && gotrace__enter(m, GOTRACE__CALL_ROOM + prefix_size + category_size + size)) {
    gotrace__where where = gotrace__locate_as(m, GOTRACE__ORIGIN(site), category, is_constant);
    uint8_t *at = gotrace__next_place(m);
    gotrace__record *record;
    if (GOTRACE__UNLIKELY(task.id != 0)) at = gotrace__put_task(at, task.id);
    if (!is_constant) at = gotrace__put_name(at, prefix, prefix_size, category, category_size);
    record = gotrace__about_nothing_behind(m, at, GOTRACE__REC_LOG, where);
    gotrace__publish(m, record, gotrace__put_text(record, GOTRACE__SIZE_LOG, message, size));
    gotrace__leave(m);
  }
}

GOTRACE__DEFINE void gotrace_log_at(gotrace_site *site, gotrace_task task, const char *category, const char *message) {
  gotrace__log_call(site, task, "", category, SIZE_MAX, 0, message, SIZE_MAX);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_log_category_at(gotrace_site *site, gotrace_task task,
                                                              const char *category, int category_is_constant,
                                                              const char *message) {
  gotrace__log_call(site, task, "", category, SIZE_MAX, category_is_constant && site, message, SIZE_MAX);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_log_n_at(gotrace_site *site, gotrace_task task, const char *category, size_t category_size,
                                      const char *message, size_t size) {
  gotrace__log_call(site, task, "", category, category_size, 0, message, size);
  GOTRACE__KEEP_FRAME();
}

GOTRACE__DEFINE void gotrace_logv_at(gotrace_site *site, gotrace_task task, const char *category, const char *format,
                                     va_list arguments) {
  char message[GOTRACE_MAX_STRING_SIZE + 1 + 4]; /* room to detect truncation, and where a character begins */
  message[0] = 0;
  if (format) {
    uintptr_t before = gotrace__mark();
    GOTRACE__VSNPRINTF(message, sizeof message, format, arguments);
    gotrace__unmark(before);
  }
  gotrace_log_at(site, task, category, message);
}

GOTRACE__DEFINE void gotrace_logf_at(gotrace_site *site, gotrace_task task, const char *category, const char *format,
                                     ...) {
  va_list arguments;
  va_start(arguments, format);
  gotrace_logv_at(site, task, category, format, arguments);
  va_end(arguments);
}

GOTRACE__DEFINE void gotrace_count_at(gotrace_site *site, const char *name, int64_t value) {
  char text[24], *at = text + sizeof text;
  uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  *--at = 0;
  do *--at = (char)('0' + left % 10);
  while (left /= 10);
  if (value < 0) *--at = '-';
  gotrace__log_call(site, GOTRACE_NO_TASK, GOTRACE_COUNTER, name, SIZE_MAX, 0, at, SIZE_MAX);
  GOTRACE__KEEP_FRAME();
}

GOTRACE__FN void gotrace__print(char *text, size_t size, const char *format, ...) {
  va_list arguments;
  uintptr_t before = gotrace__mark();
  va_start(arguments, format);
  GOTRACE__VSNPRINTF(text, size, format, arguments);
  va_end(arguments);
  gotrace__unmark(before);
}

GOTRACE__DEFINE void gotrace_count_double_at(gotrace_site *site, const char *name, double value) {
  char text[40];
  size_t i, size = 0;
  gotrace__print(text, sizeof text, "%.15g", value);
  for (i = 0; text[i]; i++) { /* the locale's decimal point may be any character */
    char c = (strchr)("0123456789+-einfaEINFA", text[i]) ? text[i] : '.';
    if (c != '.' || !size || text[size - 1] != '.') text[size++] = c;
  }
  text[size] = 0;
  gotrace__log_call(site, GOTRACE_NO_TASK, GOTRACE_COUNTER, name, SIZE_MAX, 0, text, SIZE_MAX);
  GOTRACE__KEEP_FRAME();
}

/* ----------------------------------------------------------------------------------------------------- >>waits ---- */

GOTRACE__FN gotrace__wait_bucket *gotrace__wait_bucket_of(const void *key) {
  return &gotrace__t.wait_buckets[gotrace__mix(0, (uintptr_t)key) % GOTRACE__WAIT_BUCKETS];
}

/* The caller of these two holds the bucket's lock. */
GOTRACE__FN void gotrace__list_wait(gotrace__wait_bucket *bucket, gotrace__level *level) {
  gotrace__level *last = bucket->last;
  gotrace__signal_fence(); /* read only once: see gotrace__settle_waits */
  level->next = NULL;
  level->previous = last;
  if (last) last->next = level;
  else gotrace__store_relaxed(&bucket->first, level);
  bucket->last = level;
  level->listed = true;
}

GOTRACE__FN void gotrace__unlist_wait(gotrace__wait_bucket *bucket, gotrace__level *level) {
  if (level->previous) level->previous->next = level->next;
  else gotrace__store_relaxed(&bucket->first, level->next);
  if (level->next) level->next->previous = level->previous;
  else bucket->last = level->previous;
  level->listed = false;
}

/* After one of these. If a signal handler has forked meanwhile and this is the child, its lists were emptied, and the
 * rest of the change must not stay in them. `forks`: as before the change. */
GOTRACE__FN void gotrace__settle_waits(gotrace__wait_bucket *bucket, gotrace__level *level, uint32_t forks) {
  gotrace__signal_fence();
  if (GOTRACE__LIKELY(gotrace__t.forks == forks)) return;
  gotrace__store_relaxed(&bucket->first, (gotrace__level *)NULL);
  bucket->last = NULL;
  level->key = NULL;
  level->listed = false;
}

GOTRACE__FN bool gotrace__has_free_level(gotrace__thread *m) {
  gotrace__level_block *block;
  unsigned i;
  if (GOTRACE__LIKELY(!m->level || m->free_levels)) return true;
  block = (gotrace__level_block *)gotrace__allocate(NULL, sizeof *block, false);
  if (!block) return false;
  block->next = m->level_blocks;
  m->level_blocks = block;
  for (i = 0; i < GOTRACE__LEVELS; i++) {
    block->levels[i].outer = m->free_levels;
    m->free_levels = &block->levels[i];
  }
  return true;
}

GOTRACE__FN inline void gotrace__set_level(gotrace__thread *m, gotrace__level *level, gotrace_go *g, bool waits) {
  level->outer = m->level;
  level->go = g;
  level->id = g ? gotrace__load_relaxed(&g->id) : 0;
  level->key = NULL;
  level->waits = waits;
  level->nested = false;
  level->lacks = m->lacks;
  m->level = level;
  m->depth++;
}

/* Sets aside a goroutine, or none (NULL); false if there is no room. The flag is up. */
GOTRACE__FN inline bool gotrace__set_aside(gotrace__thread *m, gotrace_go *g, bool waits) {
  gotrace__level *level;
  if (GOTRACE__UNLIKELY(m->depth == GOTRACE__NEST_DEPTH || !gotrace__has_free_level(m))) return false;
  level = m->level ? m->free_levels : &m->outermost;
  if (m->level) m->free_levels = level->outer;
  gotrace__signal_fence(); /* a handler that leaves the call must not leave it in both lists; nor below */
  gotrace__set_level(m, level, g, waits);
  return true;
}

/* Why there is no room. */
GOTRACE__FN gotrace_problem gotrace__no_level(const gotrace__thread *m) {
  return m->depth == GOTRACE__NEST_DEPTH ? GOTRACE_PROBLEM_NEST_DEPTH : GOTRACE_PROBLEM_NO_MEMORY;
}

/* Ends a wait on an address. */
GOTRACE__FN void gotrace__end_address_wait(gotrace__level *level) {
  uint32_t forks = gotrace__t.forks;
  gotrace__wait_bucket *bucket;
  if (GOTRACE__LIKELY(!level->key)) return;
  bucket = gotrace__wait_bucket_of(level->key);
  gotrace__lock(&bucket->lock);
  if (level->listed) gotrace__unlist_wait(bucket, level);
  gotrace__settle_waits(bucket, level, forks);
  level->key = NULL;
  gotrace__unlock(&bucket->lock);
}

/* Ends the innermost level; returns its goroutine, NULL if that has been destroyed. The flag is up. */
GOTRACE__FN inline gotrace_go *gotrace__take_up(gotrace__thread *m) {
  gotrace__level *level = m->level;
  gotrace_go *g = level->go;
  gotrace__end_address_wait(level);
  m->level = level->outer;
  m->depth--;
  m->nests -= level->nested;
  gotrace__signal_fence();
  if (m->level) {
    level->outer = m->free_levels;
    m->free_levels = level;
  }
  return g && gotrace__load_relaxed(&g->id) == level->id ? g : NULL;
}

#if !GOTRACE_NO_THREADS
GOTRACE__FN void gotrace__free_levels(gotrace__thread *m) {
  gotrace__level_block *block;
  while ((block = m->level_blocks) != NULL) {
    m->level_blocks = block->next;
    gotrace__release(NULL, block, sizeof *block);
  }
  m->free_levels = NULL;
}
#endif

GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__begin_wait(gotrace__thread *m, gotrace__origin origin,
                                                                        const void *key, unsigned reason) {
  gotrace_go *g;
  bool kept;
  if (GOTRACE__UNLIKELY(!m->go)) gotrace__attach(m, origin.site);
  g = m->go;
  if (GOTRACE__UNLIKELY(m->level && m->level->waits && (m->level->go == g || (!g && !m->level->nested)))) {
    gotrace__raise(m); /* it has not ended */
    if (!g && m->level) gotrace__end_address_wait(m->level);
    while (g && m->level && m->level->waits && m->level->go == g) gotrace__take_up(m);
    gotrace__leave(m);
  }
  gotrace__pause_go(m, origin, GOTRACE__REC_GO_BLOCK, GOTRACE__WAITING, reason);
  if (GOTRACE__UNLIKELY(!g && !(m->level && m->level->nested))) return;
  gotrace__raise(m);
  kept = gotrace__set_aside(m, g, true);
  if (kept && key && g) { /* only after it waits, or a waker would find it running */
    uint32_t forks = gotrace__t.forks;
    gotrace__wait_bucket *bucket = gotrace__wait_bucket_of(key);
    gotrace__lock(&bucket->lock);
    m->level->key = key;
    gotrace__list_wait(bucket, m->level);
    gotrace__settle_waits(bucket, m->level, forks);
    gotrace__unlock(&bucket->lock);
  }
  gotrace__leave(m);
  if (GOTRACE__UNLIKELY(!kept)) gotrace__problem_call(m, gotrace__no_level(m));
}

/* Sets aside the goroutine of a wait that the short way below has begun, as gotrace__begin_wait does. Other threads see
 * at any moment that it waits, since `go` changes before the flag. The goroutine's status stays, since a waker may have
 * changed it. In the middle of the short ways, a signal handler may do this for a call of its own. */
GOTRACE__FN GOTRACE__COLD void gotrace__set_wait_aside(gotrace__thread *m) {
  uint64_t id = m->outermost.id;
  if (gotrace__load_relaxed(&m->in_call) != GOTRACE__WAITS) return;
  gotrace__store_relaxed(&m->in_call, GOTRACE__FLAG() | GOTRACE__WAITS);
  gotrace__signal_fence();
  if (m->go && !m->level) { /* otherwise a signal handler has changed them, by misuse */
    gotrace__set_level(m, &m->outermost, m->go, true);
    m->outermost.id = id;
    gotrace__store_relaxed(&m->go, (gotrace_go *)NULL);
  }
  gotrace__leave(m);
}

GOTRACE__FN GOTRACE__NOINLINE void gotrace__begin_any_wait(gotrace__origin origin, unsigned reason) {
  gotrace__thread *m = gotrace__caller();
  if (m) gotrace__begin_wait(m, origin, NULL, reason);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_wait_begin_at(gotrace_site *site, unsigned reason) {
  gotrace__thread *m = gotrace__caller_off();
  if (GOTRACE__LIKELY(m != NULL)) {
    gotrace_go *g = m->go;
    if (GOTRACE__LIKELY(g && !m->level && !m->lost && !(m->in_syscall | m->lacks))) { /* the short way */
      m->outermost.id = gotrace__load_relaxed(&g->id);
      gotrace__store_release(&m->in_call, (uintptr_t)GOTRACE__WAITS);
      gotrace__signal_fence(); /* from here on, a signal handler's call finds that the thread waits */
      gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__WAITING);
      return;
    }
    if (!g && !m->level && gotrace__is_untracked()) return;
  }
  gotrace__begin_any_wait(GOTRACE__ORIGIN(site), reason);
  GOTRACE__KEEP_FRAME();
}
GOTRACE__DEFINE void gotrace_wait_on_at(gotrace_site *site, const void *key, unsigned reason) {
  gotrace__thread *m = gotrace__caller();
  if (m && (gotrace_enabled() || m->level || m->go || !gotrace__is_untracked()))
    gotrace__begin_wait(m, GOTRACE__ORIGIN(site), key, reason);
  GOTRACE__KEEP_FRAME();
}

/* The waker writes its record under the bucket's lock, which the end of the wait takes too. Otherwise it could unblock
 * the thread's next wait. */
GOTRACE__DEFINE unsigned gotrace_wake_at(gotrace_site *site, const void *key, unsigned count) {
  gotrace__wait_bucket *bucket = gotrace__wait_bucket_of(key);
  gotrace__thread *m;
  gotrace__level *waiter;
  unsigned woken = 0;
  if (!count || !key || !gotrace__load_relaxed(&bucket->first)) return 0;
  m = gotrace__caller();
  while (m && woken < count) {
    bool on = gotrace__begin(m);
    uint32_t forks = gotrace__t.forks;
    gotrace__where where = on ? gotrace__locate(m, GOTRACE__ORIGIN(site)) : gotrace__nowhere;
    gotrace_go *g = NULL;
    gotrace__lock(&bucket->lock);
    for (waiter = bucket->first; waiter && waiter->key != key; waiter = waiter->next) continue;
    if (waiter) {
      gotrace__unlist_wait(bucket, waiter);
      gotrace__settle_waits(bucket, waiter, forks);
      g = waiter->go;
      if (gotrace__load_relaxed(&g->id) != waiter->id) g = NULL; /* something else has ended it */
    }
    if (g && gotrace__load_relaxed(&g->status) == GOTRACE__WAITING) {
      if (on) gotrace__put_unblock(m, where, g);
      gotrace__unblock_hint(g);
      woken++;
    }
    gotrace__unlock(&bucket->lock);
    if (on) gotrace__leave(m);
    if (!waiter) break;
  }
  GOTRACE__KEEP_FRAME();
  return woken;
}

GOTRACE__FN GOTRACE__NOINLINE GOTRACE__FLATTEN void gotrace__end_wait(gotrace__thread *m) {
  gotrace_go *g;
  bool nested, nobody;
  gotrace__raise(m);
  if (GOTRACE__UNLIKELY(!m->level || !m->level->waits)) {
    gotrace__leave(m);
    gotrace__lacking_call(m, GOTRACE_PROBLEM_WAIT_NONE);
    return;
  }
  nested = m->level->nested;
  nobody = !m->level->go;
  g = gotrace__take_up(m);
  gotrace__leave(m);
  if (GOTRACE__UNLIKELY(nested)) gotrace__problem_call(m, GOTRACE_PROBLEM_NEST_OPEN);
  if (GOTRACE__LIKELY(g != NULL)) gotrace__start_on(m, GOTRACE__REC_WAIT_END, g);
  else if (nobody) gotrace__lacking_call(m, GOTRACE_PROBLEM_WAIT_NONE);
  else gotrace__problem_call(m, GOTRACE_PROBLEM_START_DEAD);
}

/* Whether a wait that has begun the short way may end so: nobody has destroyed the goroutine, or runs it. */
GOTRACE__FN inline bool gotrace__ends_short(const gotrace__thread *m, const gotrace_go *g) {
  unsigned status = gotrace__load_relaxed(&g->status);
  return gotrace__load_relaxed(&g->id) == m->outermost.id &&
         (status == GOTRACE__WAITING || status == GOTRACE__RUNNABLE);
}

GOTRACE__FN GOTRACE__NOINLINE void gotrace__end_any_wait(void) {
  gotrace__thread *m = gotrace__caller();
  if (m && (gotrace_enabled() || m->level)) gotrace__end_wait(m);
}

GOTRACE__DEFINE GOTRACE__FLATTEN void gotrace_wait_end(void) {
  gotrace__thread *m = gotrace__self;
  if (!gotrace_enabled() && GOTRACE__LIKELY(m && !gotrace__inside)) {
    gotrace_go *g = m->go;
    uintptr_t in_call = gotrace__load_relaxed(&m->in_call);
    if (!in_call && !m->level) return; /* the thread does not wait */
    if (GOTRACE__LIKELY(in_call == GOTRACE__WAITS && g && gotrace__ends_short(m, g))) {
      gotrace__store_release(&m->in_call, (uintptr_t)0);
      gotrace__signal_fence();
      if (GOTRACE__LIKELY(!m->level)) { /* no signal handler has set it aside */
        gotrace__store_relaxed(&g->status, (uint8_t)GOTRACE__RUNNING);
        return;
      }
    }
  }
  gotrace__end_any_wait();
}

/* A goroutine in a system call cannot be set aside, nor end nested running. */
GOTRACE__FN void gotrace__end_call(gotrace__thread *m) {
  if (GOTRACE__LIKELY(!m->in_syscall)) return;
  gotrace__problem_call(m, GOTRACE_PROBLEM_SYSCALL_OPEN);
  gotrace_go_syscall_end();
}

GOTRACE__DEFINE gotrace_go *gotrace_nest_begin_at(gotrace_site *site, gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  gotrace_go *from, *outer;
  bool on;
  if (!m) return NULL;
  gotrace__end_call(m);
  if (!m->go) gotrace__attach(m, site);
  if (m->lost && go) gotrace__regain_proc(m);
  on = gotrace__begin_anyway(m);
  gotrace__here(m, site);
  from = outer = m->go;
  if (!from && m->level && m->level->waits && !m->level->nested) { /* it stays as it is */
    outer = m->level->go;
    m->level->nested = true;
    m->nests++;
  } else if (gotrace__set_aside(m, from, false)) {
    m->level->nested = true;
    m->nests++;
  } else if (on) {
    gotrace__record_problem(m, gotrace__no_level(m));
  }
  if (go && go == from) {
    if (on) gotrace__record_problem(m, GOTRACE_PROBLEM_START_RUNNING);
    go = NULL;
  }
  if (on) {
    gotrace__where where = gotrace__locate(m, GOTRACE__ORIGIN(site));
    gotrace__record *record;
    if (go) {
      if (from) gotrace__store_relaxed(&from->number, gotrace__load_relaxed(&from->number) + 1);
      record = gotrace__about_go(m, GOTRACE__REC_NEST_BEGIN, where, go, true, from ? &from->tick : NULL);
    } else {
      record = gotrace__about_none(gotrace__about_running(m, GOTRACE__REC_NEST_BEGIN, where, NULL));
    }
    record->as_NEST_BEGIN.plain = gotrace__is_plain(m);
    gotrace__publish_as(m, record, NEST_BEGIN);
  }
  if (from) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  gotrace__start_hint(m, go);
  gotrace__leave(m);
  GOTRACE__KEEP_FRAME();
  return outer;
}

/* Ends the nested running of a level, and of those inside it. `missing`: the program has not. */
GOTRACE__FN void gotrace__end_nest(gotrace__thread *m, gotrace__level *level, bool missing) {
  gotrace_go *g = NULL;
  gotrace__level *found;
  bool on, waits;
  gotrace__end_call(m);
  if (m->lost) gotrace__regain_proc(m);
  on = gotrace__begin_anyway(m);
  /* Until the flag was up, a signal handler may have ended the level. */
  for (found = m->level; found && found != level; found = found->outer) continue;
  if (!found || !level->nested) {
    if (on && !missing) gotrace__record_problem(m, GOTRACE_PROBLEM_NEST_NONE);
    gotrace__leave(m);
    return;
  }
  waits = level->waits;
  if (on && (missing || m->level != level)) gotrace__record_problem(m, GOTRACE_PROBLEM_NEST_OPEN);
  while (m->level != level) gotrace__take_up(m);
  if (waits) {
    level->nested = false;
    m->nests--;
  } else {
    bool had = level->go != NULL;
    g = gotrace__take_up(m);
    if (on && had && !g) gotrace__record_problem(m, GOTRACE_PROBLEM_START_DEAD);
  }
  if (on) {
    gotrace__record *record =
        g ? gotrace__about_go(m, GOTRACE__REC_NEST_END, gotrace__nowhere, g, true, NULL)
          : gotrace__about_none(gotrace__about_nothing(m, GOTRACE__REC_NEST_END, gotrace__nowhere));
    record->as_NEST_END.plain = gotrace__is_plain(m);
    gotrace__publish_as(m, record, NEST_END);
  }
  if (m->go && m->go != g) gotrace__leave_hint(m, GOTRACE__RUNNABLE);
  if (g) gotrace__start_hint(m, g);
  else m->lacks = level->lacks;
  gotrace__leave(m);
}

GOTRACE__DEFINE void gotrace_nest_end(gotrace_go *outer) {
  gotrace__thread *m = gotrace__caller();
  gotrace__level *level;
  if (!m) return;
  for (level = m->level; level && !(level->nested && level->go == outer); level = level->outer) continue;
  if (level) gotrace__end_nest(m, level, false);
  else gotrace__problem_call(m, GOTRACE_PROBLEM_NEST_NONE);
}

/* --------------------------------------------------------------------------------------------- >>plain-threads ---- */

GOTRACE__FN const char *gotrace__thread_name(const char *name, size_t size) {
  const char *kept = gotrace__keep_name(name, size);
  return kept ? kept : "thread";
}

/* Makes a thread a goroutine, if it runs no proc and has set nothing aside. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__attach(gotrace__thread *m, gotrace_site *site) {
  gotrace_location entry = {0, NULL, "", 0};
  (void)site; /* in reports only */
  if (m->go || m->level || m->proc || m->lacks || (!gotrace_enabled() && gotrace__is_untracked())) return;
  if (m->own_go && gotrace__load_relaxed(&m->own_go->id) == m->own_go_id) {
    gotrace__start_on(m, GOTRACE__REC_WAIT_END, m->own_go);
    if (m->go) return;
  }
  if (m->was_worker) {
    gotrace__here(m, site);
    gotrace__problem_call(m, GOTRACE_PROBLEM_IDLE_WORKER);
    m->was_worker = false;
  }
  if (!m->name) {
    char name[80] = "thread ";
    char *own = name + sizeof "thread " - 1;
    uintptr_t before = gotrace__mark();
    gotrace__system_thread_name(own, 64);
    if (strncmp(own, "runtime.", 8) == 0) own = name; /* see gotrace__entry_id */
    gotrace__unmark(before);
    m->name = gotrace__thread_name(own, gotrace__length(own));
  }
  entry.function = m->name;
  /* The thread is older than its goroutine: regions that it ends may have begun before the trace. */
  m->own_go =
      gotrace__create(m, gotrace__no_origin, &entry, GOTRACE__RUNNABLE, GOTRACE__RECORD_OWN | GOTRACE__RECORD_OLD);
  if (!m->own_go) return;
  m->own_go_id = gotrace__load_relaxed(&m->own_go->id);
  gotrace__start_on(m, GOTRACE__REC_GO_START, m->own_go);
}

/* The same for a call that is only for plain threads. One that was a worker does not take back a proc that it lost. */
GOTRACE__FN void gotrace__attach_plain(gotrace__thread *m) {
  m->was_worker = false;
  m->lost = NULL;
  gotrace__attach(m, NULL);
}

GOTRACE__FN void gotrace__thread_finish(gotrace__thread *m) {
  gotrace_go *g = m->own_go;
  gotrace__level *level, *nested = NULL;
  gotrace__set_wait_aside(m);
  for (level = m->level; level; level = level->outer)
    if (level->nested) nested = level;
  if (nested) gotrace__end_nest(m, nested, true);
  gotrace__raise(m);
  while (m->level) gotrace__take_up(m);
  gotrace__leave(m);
  if (m->in_syscall && m->go == g) gotrace_go_syscall_end();
  else if (m->in_syscall) gotrace_go_syscall_end_blocked();
  if (g && gotrace__load_relaxed(&g->id) == m->own_go_id) {
    if (!m->go && gotrace__load_relaxed(&g->live)) gotrace__start_on(m, GOTRACE__REC_WAIT_END, g);
    if (m->go == g) {
      uint32_t session;
      gotrace__end(m, GOTRACE__REC_GO_END);
      session = m->session;
      if (!m->proc && m->sweep) gotrace__proc_range(m, GOTRACE__REC_SWEEP_END, true, false);
      if (!m->proc && gotrace__begin(m)) { /* the transcriber has made a proc for it in that session */
        if (m->session == session)
          gotrace__publish_as(m, gotrace__about_nothing(m, GOTRACE__REC_PROC_STOP, gotrace__nowhere), PROC_STOP);
        gotrace__leave(m);
      }
    }
  }
  m->own_go = NULL;
  if (m->proc) gotrace__stop_proc(m);
  m->lost = NULL;
  if (!m->renamed) m->name = NULL;
  m->was_worker = false;
}

#if !GOTRACE_NO_THREADS
/* Ends a record's thread, on that thread; or on another, if that thread is dead. */
GOTRACE__FN void gotrace__thread_over(gotrace__thread *m) {
  bool ended;
  gotrace__thread_finish(m);
  if (m->session && gotrace_enabled() && gotrace__load_relaxed(&gotrace__on) == m->session && gotrace__begin(m))
    gotrace__publish_as(m, gotrace__about_nothing(m, GOTRACE__REC_THREAD_END, gotrace__nowhere), THREAD_END);
  else gotrace__raise(m);
  if (m->go) gotrace__leave_hint(m, GOTRACE__RUNNABLE); /* misuse; the record's next thread does not run it */
  gotrace__share_free(m, 0);
  gotrace__release(NULL, m->free_gos, GOTRACE__MOST_FREE * sizeof *m->free_gos);
  m->free_gos = NULL;
  m->free_count = m->take = 0;
  while (m->level) gotrace__take_up(m); /* of a signal handler */
  m->nests = 0;
  gotrace__free_levels(m);
  m->sweep = m->scan = m->lacks = false;
  /* A session reads this record's chunks until it has applied them all; then, once the flag is down, it frees the
   * record. Either its end, which waits for the flag, finds the record ended, or the thread finds the session over. */
  gotrace__store_seq_cst(&m->in_call, GOTRACE__FLAG()); /* it is up; the order counts */
  ended = m->session && m->session == gotrace__load_relaxed(&gotrace__t.session) &&
          m->session != gotrace__load_seq_cst(&gotrace__t.cleaned);
  if (ended) gotrace__store_release(&m->used, (uint32_t)GOTRACE__ENDED);
  gotrace__leave(m);
  if (!ended) gotrace__store_release(&m->used, (uint32_t)GOTRACE__FREE_RECORD);
}

/* How often the end of the calling thread has been seen. */
static GOTRACE__THREAD_LOCAL unsigned gotrace__ends GOTRACE__TLS_MODEL;

/* Ends the calling thread, if it has a record. Returns whether it may get another one. */
GOTRACE__FN bool gotrace__thread_gone(void *thread) {
  gotrace__thread *m = (gotrace__thread *)thread;
  int cancel = gotrace__cancel_off();             /* nothing would give the record back */
  if (m && !(gotrace__inside & GOTRACE__LOCKS)) { /* else its allocator has ended it, under a lock */
    gotrace__self = m;                            /* another library's thread-locals may be gone already */
    gotrace__take_over(m); /* if a signal handler ends the thread, the call below it does not go on */
    gotrace__take_over_control();
    gotrace__thread_over(m);
    gotrace__self = NULL;
  }
  gotrace__cancel_restore(cancel);
  return ++gotrace__ends < GOTRACE__ROUNDS;
}
#endif

/* The bounds of the thread's own stack: before they are needed, since it may be a signal handler that needs them. */
GOTRACE__FN void gotrace__know_stack(gotrace__thread *m) {
  int saved = errno;
  if (!gotrace__main_stack(&m->own_low, &m->own_high) && !gotrace__stack_bounds(&m->own_low, &m->own_high))
    m->own_low = m->own_high = 0;
  errno = saved;
}

/* Assigns a record to the calling thread; NULL if out of memory. Records are used again and never freed, so that other
 * threads may walk the list. */
GOTRACE__FN gotrace__thread *gotrace__assign_record(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__thread *other, *m = NULL, *dead = NULL;
  uint64_t id;
  bool fresh = false;
  if (gotrace__load_relaxed(&t->gone)) return NULL;
#if !GOTRACE_NO_THREADS
  if (gotrace__ends >= GOTRACE__ROUNDS) {
    gotrace__add_relaxed(&t->over, 1);
    return NULL;
  }
#endif
  gotrace__init();
  id = gotrace__system_thread_id();
  gotrace__lock(&t->records);
  for (other = t->threads; other; other = other->next) {
    uint32_t used = gotrace__load_acquire(&other->used);
    if (used == GOTRACE__FREE_RECORD) m = other;
    else if (used == GOTRACE__USED && gotrace__load_relaxed(&other->system_id) == id) dead = other;
  }
  if (!m) {
    m = (gotrace__thread *)gotrace__allocate(NULL, sizeof *m, false);
    fresh = m != NULL;
    if (m) m->index = ++t->thread_count, m->ready = GOTRACE__NEVER;
  }
  if (m) {
    gotrace__store_relaxed(&m->system_id, id);
    m->name = NULL;
    m->have_bounds = m->was_worker = m->renamed = false;
    gotrace__store_release(&m->used, (uint32_t)GOTRACE__USED);
    if (fresh) {
      m->next = t->threads;
      /* Before the flag: either gotrace__await_calls sees the record, or the thread sees the new gotrace__on. */
      gotrace__store_seq_cst(&t->threads, m);
    }
  }
  gotrace__unlock(&t->records);
#if !GOTRACE_NO_THREADS
  if (dead) { /* a call after the thread's end has given it a record that nobody gave back */
    gotrace__self = dead;
    gotrace__thread_over(dead);
    gotrace__self = NULL;
  }
#endif
  (void)dead;
  if (!m) {
    gotrace__add_relaxed(&t->lost, 1);
    return NULL;
  }
  gotrace__self = m;
  gotrace__know_stack(m);
  gotrace__at_thread_exit(m);
  return m;
}
GOTRACE__FN GOTRACE__NOINLINE gotrace__thread *gotrace__thread_register(void) {
  gotrace__thread *m;
  if (gotrace__inside) {
    gotrace__drop_nested();
    return NULL;
  }
  gotrace__go_inside();
  m = gotrace__assign_record();
  gotrace__go_outside();
  return m;
}

GOTRACE__DEFINE gotrace_go *gotrace_thread_create_at(gotrace_site *site, const gotrace_location *entry) {
  gotrace__thread *m = gotrace__caller();
  gotrace_go *g = NULL;
  if (m) {
    gotrace__attach_plain(m);
    g = gotrace__create(m, GOTRACE__ORIGIN(site), entry, GOTRACE__RUNNABLE, 0);
  }
  GOTRACE__KEEP_FRAME();
  return g;
}

GOTRACE__DEFINE void gotrace_thread_begin_as(gotrace_go *go) {
  gotrace__thread *m = gotrace__caller();
  if (!m || (!go && gotrace__is_untracked())) return; /* the thread becomes a goroutine of its own in the trace */
  if (go && m->own_go && m->own_go != go) gotrace__thread_finish(m);
  m->lost = NULL; /* see gotrace__attach_plain */
  gotrace__start_on(m, m->proc ? GOTRACE__REC_GO_START : GOTRACE__REC_THREAD_START, go);
  if (!go || m->go != go) return;
  gotrace__store_relaxed(&go->flags, (uint8_t)(gotrace__load_relaxed(&go->flags) | GOTRACE__RECORD_OWN));
  m->own_go = go;
  m->own_go_id = gotrace__load_relaxed(&go->id);
}

GOTRACE__DEFINE void gotrace_thread_begin(const char *name) {
  gotrace__thread *m = gotrace__me_outside();
  if (!m || m->go || m->proc) return;
  if (name) m->name = gotrace__thread_name(name, gotrace__length(name));
  gotrace__attach_plain(m);
}

GOTRACE__DEFINE void gotrace_thread_end(void) {
  gotrace__thread *m = gotrace__self ? gotrace__me_outside() : NULL;
  if (m) gotrace__thread_finish(m);
}
GOTRACE__DEFINE void gotrace_thread_rename_n(const char *name, size_t size) {
  gotrace__thread *m = gotrace__me_outside();
  gotrace_go *g;
  if (!m) return;
  size = gotrace__name_size(name, size);
  if (size) {
    m->name = gotrace__thread_name(name, size);
    m->renamed = true;
  }
  g = m->own_go;
  if (g && gotrace__load_relaxed(&g->id) == m->own_go_id) gotrace_go_rename_n(g, name, size);
}
GOTRACE__DEFINE void gotrace_thread_rename(const char *name) { gotrace_thread_rename_n(name, SIZE_MAX); }

GOTRACE__DEFINE gotrace_go *gotrace_go_self(void) {
  gotrace__thread *m = gotrace__me();
  if (!m) return NULL;
  if (!m->go && !gotrace__is_nested(m)) gotrace__attach_plain(m);
  return m->go ? m->go : m->level && m->level->waits && !m->level->nested ? m->level->go : NULL;
}

GOTRACE__DEFINE uint64_t gotrace_go_id(const gotrace_go *go) { return go ? gotrace__load_relaxed(&go->id) : 0; }

/* ----------------------------------------------------------------------------------------------------- >>sites ---- */

/* Copies a string of a site, if there is one; *ok: it is kept. */
GOTRACE__FN const char *gotrace__site_text(const char *text, uint32_t most, bool *ok) {
  const gotrace__entry *entry;
  if (!text) return NULL;
  entry = gotrace__keep_text(&gotrace__t.site_texts, most, text, gotrace__truncated_size(text, gotrace__length(text)));
  if (!entry) *ok = false;
  return entry ? (const char *)(entry + 1) : NULL;
}

/* A site is in a table by its location, whose strings are kept once each. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_site *gotrace__find_or_make_site(gotrace_location place) {
  const size_t bytes = offsetof(gotrace_location, line) + sizeof place.line; /* without what may be behind it */
  bool nested = gotrace__is_nested(gotrace__self), ok = true;                /* then it may look up, but not add */
  uint32_t most = nested ? 0 : GOTRACE__SITES;
  gotrace__entry *entry = NULL;
  gotrace__thread *m;
  uint64_t hash = gotrace__mix(place.line, place.pc);
  if (!nested && !gotrace__me()) return NULL;
  place.function = gotrace__site_text(place.function, 2 * most, &ok);
  place.file = gotrace__site_text(place.file, 2 * most, &ok);
  hash = gotrace__mix(gotrace__mix(hash, (uintptr_t)place.function), (uintptr_t)place.file);
  if (ok) entry = gotrace__keep(&gotrace__t.sites, most, hash, 0, &place, bytes, sizeof(gotrace_site) - bytes);
  if (entry) return (gotrace_site *)(entry + 1);
  m = gotrace__me_outside();
  if (m) gotrace__problem_call(m, GOTRACE_PROBLEM_SITES_FULL);
  return NULL;
}

/* Most calls are repeated: each thread remembers some sites. Where they are kept depends on the strings' addresses, but
 * whether one is meant only on the strings. NULL: nowhere, since the tracer may be unloaded. */
GOTRACE__FN inline gotrace_site **gotrace__recent_site(uintptr_t key) {
  gotrace__thread *m = gotrace__self;
  if (GOTRACE__UNLIKELY(!m || (gotrace__load_relaxed(&m->in_call) & GOTRACE__IN_CALL))) return NULL;
  return &m->recent_sites[(key ^ key >> 4 ^ key >> 8) % GOTRACE__RECENT_SITES];
}
GOTRACE__FN GOTRACE__NOINLINE gotrace_site *
gotrace__remember_site(gotrace_site **recent, uintptr_t pc, const char *function, const char *file, uint32_t line) {
  gotrace_location place = {pc, function, file, line};
  gotrace_site *site = gotrace__find_or_make_site(place);
  if (recent && site) gotrace__store_relaxed(recent, site);
  return site;
}

GOTRACE__FN inline gotrace_site *gotrace__make_site(const char *function, const char *file, uint32_t line) {
  gotrace_site **recent = gotrace__recent_site((uintptr_t)function ^ (uintptr_t)file ^ line);
  gotrace_site *site = recent ? gotrace__load_relaxed(recent) : NULL;
  if (GOTRACE__LIKELY(site && !site->location.pc && site->location.line == line &&
                      gotrace__same_text(site->location.function, function) &&
                      gotrace__same_text(site->location.file, file)))
    return site;
  return gotrace__remember_site(recent, 0, function, file, line);
}

GOTRACE__DEFINE gotrace_site *gotrace_site_make(const char *function, const char *file, uint32_t line) {
  return gotrace__make_site(function, file, line);
}

GOTRACE__DEFINE gotrace_site *gotrace_site_make_pc(uintptr_t pc) {
  gotrace_site **recent = gotrace__recent_site(pc);
  gotrace_site *site = recent ? gotrace__load_relaxed(recent) : NULL;
  if (GOTRACE__LIKELY(site && pc && site->location.pc == pc)) return site;
  return gotrace__remember_site(recent, pc, NULL, NULL, 0);
}

/* ------------------------------------------------------------------------------------------------------ >>keys ---- */

GOTRACE__DEFINE gotrace_go *gotrace_go_create_named_at(gotrace_site *site, const char *name, size_t size) {
  gotrace__thread *m = gotrace__caller();
  gotrace_go *g = NULL;
  if (m && (gotrace_enabled() || !gotrace__is_untracked())) {
    char text[GOTRACE_MAX_STRING_SIZE + 5]; /* room to detect truncation, and where a character begins */
    gotrace_site *named = NULL;
    if (name && size != SIZE_MAX) {
      size = gotrace__name_size(name, size < sizeof text ? size : sizeof text - 1);
      memcpy(text, name, size);
      text[size] = 0;
      name = text;
    }
    if (name) named = gotrace__make_site(name, "", 0);
    g = gotrace__create_go(m, site, named ? &named->location : NULL, GOTRACE__RUNNABLE);
  }
  GOTRACE__KEEP_FRAME();
  return g;
}

GOTRACE__FN gotrace__key_bucket *gotrace__key_bucket_of(uint64_t key) {
  return &gotrace__t.key_buckets[gotrace__mix(0, key) % GOTRACE__KEY_BUCKETS];
}

/* A bucket is a tree, so that it may have any number of keys, and one store adds one: each level takes two more bits of
 * the hash. These are about the link to a key's entry, or to where it would be; the caller holds the bucket's lock. */
GOTRACE__FN gotrace__keyed **gotrace__find_key(gotrace__key_bucket *bucket, uint64_t key) {
  gotrace__keyed **link = &bucket->top;
  uint64_t hash = gotrace__mix(0, key) / GOTRACE__KEY_BUCKETS;
  for (; *link && (*link)->key != key; hash >>= 2) link = &(*link)->below[hash & 3];
  return link;
}
GOTRACE__FN gotrace__keyed **gotrace__below(gotrace__keyed *keyed) {
  unsigned i = 0;
  while (i < 3 && !keyed->below[i]) i++;
  return &keyed->below[i];
}

/* Takes out an entry, if there is one. Any entry without others below it can take the place of one above it. */
GOTRACE__FN gotrace__keyed *gotrace__take_keyed(gotrace__keyed **link) {
  gotrace__keyed *gone = *link, *last = gone, **end = link, **below;
  if (!gone) return NULL;
  while (*(below = gotrace__below(last))) end = below, last = *below;
  gotrace__lock(&gotrace__t.records); /* a fork takes it: its child finds all keys */
  gotrace__store_relaxed(end, (gotrace__keyed *)NULL);
  if (last != gone) {
    memcpy(last->below, gone->below, sizeof last->below);
    gotrace__store_release(link, last);
  }
  gotrace__unlock(&gotrace__t.records);
  return gone;
}

/* The goroutine of a key; NULL: there is none, or it has ended. */
GOTRACE__FN gotrace_go *gotrace__living(const gotrace__keyed *keyed) {
  gotrace_go *g = keyed ? keyed->go : NULL;
  return g && gotrace__load_acquire(&g->live) && gotrace__load_relaxed(&g->id) == keyed->id ? g : NULL;
}

/* Gives the key a goroutine, unless another thread was faster. Returns the key's. */
GOTRACE__FN gotrace_go *gotrace__set_keyed(gotrace__keyed *fresh, uint64_t key, gotrace_go *made) {
  gotrace__key_bucket *bucket = gotrace__key_bucket_of(key);
  gotrace__keyed **link;
  gotrace_go *g;
  gotrace__lock(&bucket->lock);
  link = gotrace__find_key(bucket, key);
  g = gotrace__living(*link);
  if (!g) {
    gotrace__keyed *keyed = *link ? *link : fresh;
    keyed->key = key;
    keyed->go = g = made;
    keyed->id = gotrace__load_relaxed(&made->id);
    if (keyed == fresh) gotrace__store_release(link, fresh); /* the child of a fork may find the tree as it is now */
    if (keyed == fresh) fresh = NULL;
  }
  gotrace__unlock(&bucket->lock);
  gotrace__release(NULL, fresh, sizeof *fresh);
  return g;
}

GOTRACE__DEFINE gotrace_go *gotrace_go_keyed_at(gotrace_site *site, uint64_t key, const gotrace_location *entry,
                                                int blocked) {
  gotrace__key_bucket *bucket = gotrace__key_bucket_of(key);
  gotrace__thread *m = gotrace__caller();
  gotrace__keyed *fresh;
  gotrace_go *g, *made;
  if (!m) return NULL;
  gotrace__lock(&bucket->lock);
  g = gotrace__living(*gotrace__find_key(bucket, key));
  gotrace__unlock(&bucket->lock);
  if (g || (!gotrace_enabled() && gotrace__is_untracked())) return g;
  fresh = (gotrace__keyed *)gotrace__allocate(NULL, sizeof *fresh, false);
  if (!fresh) {
    gotrace__problem_call(m, GOTRACE_PROBLEM_NO_MEMORY);
    return NULL;
  }
  made = gotrace__create_go(m, site, entry, blocked ? GOTRACE__WAITING : GOTRACE__RUNNABLE);
  if (made) {
    g = gotrace__set_keyed(fresh, key, made);
    if (g != made) gotrace_go_destroy_at(site, made);
  } else {
    gotrace__release(NULL, fresh, sizeof *fresh);
  }
  GOTRACE__KEEP_FRAME();
  return g;
}

GOTRACE__DEFINE void gotrace_go_keyed_free_at(gotrace_site *site, uint64_t key) {
  gotrace__key_bucket *bucket = gotrace__key_bucket_of(key);
  gotrace__keyed *keyed;
  gotrace_go *g;
  if (!gotrace__caller()) return;
  gotrace__lock(&bucket->lock);
  keyed = gotrace__take_keyed(gotrace__find_key(bucket, key));
  g = gotrace__living(keyed);
  gotrace__unlock(&bucket->lock);
  gotrace__release(NULL, keyed, sizeof *keyed);
  if (g) gotrace_go_destroy_at(site, g);
}

/* --------------------------------------------------------------------------------------------------- >>samples ---- */

/* The current session and its start; false if its format has no samples. A sample raises no flag, so nothing waits for
 * it. The values may therefore belong to two sessions, unless the session is still on afterwards. */
GOTRACE__FN bool gotrace__session_of_sample(uint32_t *session, uint64_t *start_tick) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t version;
  *session = gotrace__load_acquire(&gotrace__on);
  version = gotrace__load_acquire(&t->version); /* acquire: before the session is read again */
  *start_tick = gotrace__load_acquire(&t->start_tick);
  return *session && version >= GOTRACE_GO_1_19 && gotrace__load_relaxed(&gotrace__on) == *session;
}

/* The time of a sample, after the thread's last event: readers take an earlier one for the goroutine's beginning. */
GOTRACE__FN uint64_t gotrace__sample_after(uint64_t time, const gotrace__uint64 *last) {
  uint64_t tick = gotrace__load_relaxed(last);
  return time <= tick && tick - time < GOTRACE__FAR ? tick + 1 : time;
}

/* CPU samples pass from signal handlers to the transcriber through a ring of places. A place with turn 2n is free in
 * round n of the ring; with 2n + 1 it contains that round's sample. Handlers take places by compare-and-swap of the
 * head. A handler that is interrupted between taking and filling a place delays only the samples behind it. */
GOTRACE__DEFINE void gotrace_cpu_sample(void *ucontext) {
  int saved = errno;
  gotrace__thread *m = gotrace__self;
  gotrace__sample *ring = gotrace__load_acquire(&gotrace__t.samples), *sample;
  uint64_t head, start_tick;
  uint32_t session;
  if (!gotrace_enabled() || !ring || !gotrace__session_of_sample(&session, &start_tick)) return;
  head = gotrace__load_relaxed(&gotrace__t.sample_head);
  for (;;) {
    uint64_t turn;
    sample = &ring[head % GOTRACE__SAMPLES];
    turn = gotrace__load_acquire(&sample->turn);
    if (turn != head / GOTRACE__SAMPLES * 2) {
      uint64_t now = gotrace__load_relaxed(&gotrace__t.sample_head);
      if (now == head) { /* full */
        gotrace__add_relaxed(&gotrace__t.samples_lost, 1);
        errno = saved;
        return;
      }
      head = now;
    } else if (gotrace__cas_acq_rel(&gotrace__t.sample_head, &head, head + 1)) {
      break;
    }
  }
  sample->time = gotrace__sample_after(gotrace__now(), &start_tick);
  sample->thread = m ? m->system_id : GOTRACE__NO_THREAD;
  sample->proc = -1;
  sample->go = 0;
  sample->place = 0;
  sample->session = session;
  sample->record = m;
  sample->count = 0;
  if (m && !m->in_syscall) {
    gotrace_proc *p = m->proc;
    gotrace_go *g = gotrace__runs(m);
    if (p) sample->proc = p->id;
    if (p) sample->time = gotrace__sample_after(sample->time, &p->tick);
    sample->time = gotrace__sample_after(sample->time, &m->tick);
    if (g) sample->go = gotrace__load_relaxed(&g->id);
    if (g) sample->place = g->place;
    if (g) sample->time = gotrace__sample_after(sample->time, &g->tick);
  }
  if (ucontext) {
    uintptr_t pc = 0, frame = 0, pcs[GOTRACE__SAMPLE_FRAMES];
    int n = 0, i;
    /* The kernel's struct ucontext, see GOTRACE__LIBC. */
#if defined(__linux__) && defined(__x86_64__) && !defined(__ILP32__)
    const uint64_t *registers = (const uint64_t *)ucontext + 5; /* flags, link, stack; r8 to r15 and on */
    pc = registers[16];
    frame = registers[10];
#elif defined(__linux__) && defined(__aarch64__)
    const uint64_t *registers = (const uint64_t *)ucontext + 23; /* also a signal mask of 128 bytes */
    pc = registers[32];
    frame = registers[29];
#endif
    if (pc) sample->pcs[sample->count++] = pc + 1; /* like a return address, one past */
    /* The bounds must be known already: querying them is not async-signal-safe. */
    if (frame && m && ((m->go && gotrace__load_relaxed(&m->go->stack_high)) || m->have_bounds)) {
      uintptr_t low, high;
      uint64_t hash = 0;
      if (gotrace__bounds(m, &low, &high)) n = gotrace__walk(frame, low, high, pcs, GOTRACE__SAMPLE_FRAMES - 1, &hash);
    }
    for (i = 0; i < n; i++) sample->pcs[sample->count++] = pcs[i];
  }
  gotrace__store_release(&sample->turn, head / GOTRACE__SAMPLES * 2 + 1);
  errno = saved;
}

#undef GOTRACE__SECTION
#define GOTRACE__SECTION

/* --------------------------------------------------------------------------------------------- >>transcriber ----
 *
 * Turns the records of all threads into a trace. One thread at a time runs it; it has no globals.
 *
 * It keeps a model of the program: goroutines, procs, threads, open tasks and ranges. It alone decides what is written,
 * and writes only what is valid in the model, whatever the records say. A record that the model forbids is repaired if
 * it has one sensible meaning, else dropped; either way it is counted.
 *
 * ORDER. A thread's records have their order. Records of different threads about one object are ordered by numbers: the
 * owner of a goroutine or proc (who runs, starts or creates it) counts its transitions. A record whose predecessor has
 * not been applied waits on a list of its object.
 *
 *   O1. A round reads the clock, then the list of threads, then all published sizes, and applies only records up to
 *       that clock. Otherwise a record could be applied whose cause was published after its thread's size had been
 *       read.
 *   O2. If nothing but waiting records is left, one of them has no predecessor, and is forced; the round goes on.
 *       Otherwise a lost record would hold up its thread for ever. Objects pass their ticks on, so a predecessor would
 *       have been published before, with a smaller or equal tick. Tasks and the collector have no ticks: what a record
 *       near the end of the round waits for may be in the next one, within GOTRACE__CLOCK_SKEW. It is not forced then.
 *   O3. The end of a wait with a time-out has a predecessor only if a wake-up came before it, with a smaller or equal
 *       tick. So it waits until nothing with such a tick is left. The end of a system call waits for the steal of its
 *       proc, which the thief may report later, even in a later round. Of these two, the smaller tick is forced first:
 *       what the other one waits for may be behind it.
 *
 * TIME. A trace counts units of 16 ns (options.unit), a whole number, because Go's reader computes whole nanoseconds
 * for each event. Within a round, ticks are mapped to units linearly between the clocks at its beginning and its end,
 * so a jump of the tick counter is one gap in one round. Times never decrease along a thread, a goroutine or a proc.
 *
 * V1 is a lowering of the same events, see gotrace__lower.
 */

#define GOTRACE__UNIT 16            /* nanoseconds; a divisor of a second */
#define GOTRACE__LONG_SYSCALL 20000 /* nanoseconds; v1: sysmon's period in runtime/proc.go */
#ifndef GOTRACE__MOST_PLACES
#define GOTRACE__MOST_PLACES ((uint64_t)1 << 26) /* of goroutines or procs; more are taken for malformed records */
#endif
#ifndef GOTRACE__CLOCK_SKEW
#define GOTRACE__CLOCK_SKEW 16 /* ticks; must exceed the difference between two cores' clocks */
#endif

typedef struct gotrace__source gotrace__source;
typedef struct gotrace__model_go gotrace__model_go;
typedef struct gotrace__model_proc gotrace__model_proc;

/* Consecutive events on their way into a batch: of a thread (v2), of a proc (v1), or entries of a table. */
#define GOTRACE__LANE_HEAD 48                              /* room for the batch's header before the events */
#define GOTRACE__EVENT_ROOM (7 * GOTRACE_BYTES_PER_NUMBER) /* bytes: the largest event without texts */
#ifndef GOTRACE__LANE_MOST
#define GOTRACE__LANE_MOST (GOTRACE_MAX_BATCH_SIZE - 1024)
#endif
#define GOTRACE__FIRST_LANE(t) ((t)->v1 ? 1536u : 1024u) /* bytes; v1: a log's text is in its event */
typedef struct gotrace__lane {
  uint8_t *data, *at; /* the events, and their end; before them is GOTRACE__LANE_HEAD */
  uint8_t *full;      /* from here on there may be no room for an event; `data` if there is none yet */
  uint32_t capacity;  /* bytes of events */
  uint32_t batches;   /* written so far */
  uint8_t kind;       /* first byte of each batch; 0: none */
  uint64_t id;
  uint64_t base, time; /* of the batch, of its last event */
} gotrace__lane;

/* An entry of a table that the threads fill, or of one of the transcriber's own. */
typedef struct gotrace__row {
  const gotrace__entry *entry; /* NULL: none has this number */
  uint64_t *frames;        /* of a stack: pc, function, file, line of each, strings as references; NULL: unresolved */
  bool named;              /* by address, which may belong to another library in the next generation */
  uint32_t generation, id; /* the id is valid in that generation */
} gotrace__row;
typedef struct gotrace__mirror {
  gotrace__table *table;
  gotrace__entry *last; /* the last one entered in `rows` */
  gotrace__row *rows;   /* by number */
  size_t capacity;
} gotrace__mirror;

/* A string or stack: its number in the threads' table, or in the transcriber's own. 0: none. */
#define GOTRACE__OWN ((uint32_t)1 << 31)

/* Sources that wait for the next change of an object. */
typedef struct gotrace__waiters {
  gotrace__source *first;
} gotrace__waiters;

typedef struct gotrace__model_region {
  uint64_t task;
  uint32_t name; /* reference */
} gotrace__model_region;

struct gotrace__model_go { /* what most records need comes first, in one cache line */
  uint64_t id;
  uint64_t time; /* of its last event */
  gotrace__source *on;
  gotrace__waiters waiters;
  char *label; /* GOTRACE__LABEL bytes, or NULL */
  uint32_t number;
  uint32_t generation; /* in which its status is written; 0: none */
  uint32_t sequence;   /* of its last event in that generation (v2); of its next one (v1) */
  uint32_t entry;      /* reference of a stack */
  uint8_t status, flags;
  bool known;    /* a record or the list of the living has introduced it */
  bool listed;   /* only the list has */
  bool in_trace; /* some generation has its status or creation */
  bool unborn;   /* needs a create event, not a status: see gotrace__go_forever */
  bool assist;
  bool unseen_wait; /* it waits, and is runnable in the trace, since its block began before tracing was on */
  gotrace__model_region *regions; /* a ring: the outermost is at region_first */
  uint16_t region_first, region_depth, region_capacity;
  bool forgotten; /* outermost regions: the trace still has them open */
  /* v1: */
  bool woken;           /* its last event is an unblock */
  bool call_blocked;    /* its system call has blocked in the trace */
  bool exit_pending;    /* so has not ended yet */
  uint16_t start_end;   /* where its start after an unblock ends in last_lane, or GOTRACE__NO_START; */
  uint32_t start_batch; /* and the number of that batch */
  uint64_t born;        /* the time of the last creation in its place */
  uint64_t sampled;     /* an id that a sample had before its creation */
  uint64_t call_time, exit_time;
  gotrace__lane *last_lane; /* with its last numbered event */
};
#define GOTRACE__NO_START UINT16_MAX
GOTRACE__STATIC_ASSERT(sizeof(gotrace__model_go) <= 128 && GOTRACE__LANE_MOST < GOTRACE__NO_START, two_cache_lines);

struct gotrace__model_proc {
  uint64_t id;
  uint64_t time;
  gotrace__source *on; /* running, or in a system call */
  gotrace__waiters waiters;
  gotrace__lane lane; /* v1 */
  uint64_t swept, reclaimed;
  uint32_t number, generation, sequence;
  uint8_t status;
  bool known, listed;
  bool made;              /* by the transcriber, for a thread without a proc */
  bool loss_unreported;   /* its thread has reported the loss, no thief has */
  bool sweep, sweep_seen; /* open; in the trace */
  bool scan, scan_seen;
};

/* What the records before one say of it. */
typedef struct gotrace__said {
  uint64_t ticks, task;
  gotrace__string name;
  uint32_t stack;
  bool any, has_name, has_stack;
  const gotrace__site_key *site; /* instead of the record's, for a caller that has no table of sites; or NULL */
} gotrace__said;

/* A thread. */
struct gotrace__source {
  gotrace__source *next, *same; /* `same`: in the bucket of the id, the system's: */
  uint64_t id;
  gotrace__record_chunk *chunk; /* atomic until the first is known: the next record is here, */
  const uint8_t *at;            /* at this position, or NULL if none has been looked for; */
  const uint8_t *end;           /* this round has those of this chunk up to here */
  gotrace__record_chunk *known; /* the records up to here have been published before this round: */
  uint32_t known_size;
  uint64_t tick; /* of its last record */
  uint64_t time; /* of its last event */
  gotrace__model_go *go;
  gotrace__model_proc *proc;
  gotrace__model_proc *own; /* made for it, or NULL */
  gotrace__lane lane;       /* v2 */
  uint32_t generation;      /* in which its proc and goroutine have statuses */
  bool introduced, lost_proc;
  bool plain; /* runs goroutines inside another one, and needs no proc of the program's for them */
  bool lacks; /* since its last start of a goroutine, it may run one that the trace lacks: a NULL handle */
  bool gone;
  uintptr_t site;                /* of its records; 0: unknown. See the record SITE */
  gotrace__waiters *waits_on;    /* or NULL */
  gotrace__source *link;         /* in that list */
  bool later;                    /* the next record has given way to others with its tick */
  uint64_t turn;                 /* its place in the heap */
  const gotrace__record *record; /* the next one, where the thread has written it; */
  const uint8_t *record_end;     /* its end, */
  uint64_t record_tick;          /* its time, */
  gotrace__string text;          /* its text, if its kind has one, */
  gotrace__said said;            /* and more of it */
  /* From the list of the living, until the thread has introduced itself: */
  uint64_t listed_go, listed_proc; /* places + 1 */
  bool listed_in_syscall;
};

typedef struct gotrace__clocks {
  uint64_t tick, nanoseconds, wall_seconds;
  uint32_t wall_nanoseconds;
} gotrace__clocks;

/* What happened that no problem counts. In a program that follows the rules, forced, malformed, doubled and jumps are
 * 0; if the threads' clocks agree and no call was under way at the start, also late_introductions. */
typedef struct gotrace__counters {
  uint64_t records, forced, malformed;
  uint64_t doubled; /* ids given to two goroutines: the second got another */
  uint64_t stale;   /* wake-ups of an earlier block; creations in the place of a goroutine that lives */
  uint64_t late;    /* wake-ups of a goroutine that runs already */
  uint64_t implied; /* losses of a proc that no record reports */
  uint64_t clamped; /* records from before the trace or the round: moved to its beginning */
  uint64_t late_introductions;
  uint64_t borrowed; /* temporary goroutines, see gotrace__begin_global */
  uint64_t wrapped;  /* events inside a system call */
  uint64_t jumps;    /* of the tick counter */
  uint64_t idle;     /* records that change the model only */
} gotrace__counters;

/* Records whose times were pushed on, see gotrace__push_time: the first of them, and the last. */
typedef struct gotrace__pushed {
  uint64_t first_given, first_time;
  uint64_t given, time;
  gotrace__source *on;
} gotrace__pushed;

typedef struct gotrace__transcribe_options {
  unsigned version;
  bool futile_wakeups, alloc_events;
  bool restate;        /* each generation has all statuses, since a trace may begin with any (flight recorder) */
  bool replay;         /* the events of a trace, in order: nothing is added to them. See gotrace__turn_to */
  uint64_t unit;       /* nanoseconds; 0: GOTRACE__UNIT */
  uint64_t made_procs; /* ids of procs that it makes itself begin here; 0: after those that are there */
  gotrace_heap_layout heap;
  size_t cut_bytes;                         /* a generation ends after so many bytes */
  uint32_t session;                         /* of the chunks */
  const uint32_t *on;                       /* atomic: from when it is not `session`, calls may be missing; or NULL */
  gotrace__table *strings, *stacks, *sites; /* filled by the threads */
  const char *const *reason_names;          /* atomic; by number - 1; GOTRACE__REASONS of them, or NULL */
  gotrace__uint64 *go_ids;                  /* atomic: the last id taken */
  uint64_t first_task;                      /* ids from here on begin in this session */
  uint64_t service_thread;                  /* id of the thread that writes what no thread has said */
  gotrace_write_fn *write;
  /* Names a return address; or, if place->line is 1, a function's own. NULL: none is named. */
  bool (*name)(void *context, gotrace_location *place, char *text, size_t size);
  void (*chunk_done)(void *context,
                     gotrace__record_chunk *chunk); /* takes back a chunk that is not read again; or NULL */
  void (*before_end)(void *context, struct gotrace__transcriber *t); /* may add texts to a generation; or NULL */
  /* Writes the next CPU sample (write), and returns the tick of the one after it; UINT64_MAX: there is none. NULL: no
   * sample is written. */
  uint64_t (*sample)(void *context, struct gotrace__transcriber *t, bool write);
  void (*problem)(void *context, struct gotrace__transcriber *t, gotrace_problem problem); /* reports it; or NULL */
  void *context;
  gotrace__budget *budget;
  bool beyond_limit;   /* its own memory may exceed the budget's limit */
  uint64_t size_limit; /* bytes of the trace after which no record is applied any more; 0: none */
} gotrace__transcribe_options;

typedef struct gotrace__old_task { /* older than the trace */
  uint64_t id, parent;
  char name[GOTRACE__TASK_NAME];
} gotrace__old_task;

/* What is found by key: open addressing. A set of ids, of which most are consecutive, has one key for 64. */
typedef struct gotrace__keyed_value {
  uint64_t key;        /* of a task: its id; of a set: id / 64 + 1. 0: a free place, UINT64_MAX: ended */
  uint64_t value;      /* of a task: when it began; of a set: a bit for each id */
  gotrace__source *on; /* of a task: the thread that began it */
} gotrace__keyed_value;
typedef struct gotrace__keys {
  gotrace__keyed_value *values;
  size_t capacity, used;
} gotrace__keys;

/* From `first` to `last`. */
typedef struct gotrace__id_range {
  uint64_t first, last;
} gotrace__id_range;

#define GOTRACE__MODEL_PAGE 64
#define GOTRACE__SOURCE_BUCKETS 1024
typedef struct gotrace__transcriber {
  gotrace__transcribe_options options;
  bool v1;
  gotrace_result error; /* or GOTRACE_OK */
  bool full;            /* size_limit is reached, or something has failed: see gotrace__limit_round */
  uint32_t generation;
  uint64_t generation_time, generation_bytes;
  bool generation_used; /* has an event */
  uint64_t unused_time; /* of the status in the last one without: of the proc that would be made next */
  bool synced;          /* v2: its beginning is written */
  gotrace__clocks generation_clocks;
  uint32_t globals_generation, program_generation; /* 0: see gotrace__write_program */
  gotrace__clocks clocks;                          /* read last */
  uint64_t from_tick, from_unit, to_tick, to_unit; /* the round; */
  uint64_t steady_ticks;                           /* its ticks; 0: the counter has jumped in it */
  uint64_t limit;                                  /* of ticks */
  uint64_t until; /* the thread whose record is applied goes on up to this tick; 0: it stops */
  double units_per_tick;
  bool jumped;                       /* the counter, in this round; units_per_tick is of the rounds before: */
  uint64_t steady_tick, steady_unit; /* since when its rate is the same */
  uint64_t start_nanoseconds;
  uint64_t now;   /* the time of the record being applied */
  uint64_t given; /* the time that it had in the program */
  gotrace__pushed pushed;
  gotrace__source *sources, *last_source, *current;
  gotrace__source *idle_sources; /* linked by `link`: see gotrace__transcribe_release */
  gotrace__source *by_id[GOTRACE__SOURCE_BUCKETS];
  gotrace__source sampler; /* waits among the threads until the next CPU sample is due */
  gotrace__source **heap;  /* those whose next record can be tried, the earliest first */
  size_t heap_count, heap_capacity, source_count;
  gotrace__source service;
  gotrace__model_go **go_pages;
  size_t go_page_count;
  uint64_t go_places;          /* highest place so far, plus 1 */
  gotrace__model_proc **procs; /* by id */
  uint32_t *proc_ids;          /* by place: id + 1 */
  size_t proc_capacity, place_capacity, proc_count;
  gotrace__model_go borrowed; /* see gotrace__begin_global */
  gotrace__keys tasks;        /* open ones */
  gotrace__waiters task_waiters;
  gotrace__keys ids, task_ids; /* that the trace has, of goroutines and of tasks */
  uint64_t own_ids;
  gotrace__old_task *old_tasks; /* not written yet */
  size_t old_task_count, old_task_capacity;
  gotrace__id_range *kept_ids; /* of goroutines that the trace has, the model has not: see gotrace__keep_id */
  size_t kept_count, kept_capacity;
  /* The collector: */
  uint32_t collector_number;
  gotrace__waiters collector_waiters;
  gotrace__waiters end_waiters; /* for the end of a thread */
  size_t waiting;               /* threads that wait for a record of another */
  bool gc, gc_seen, stw;
  uint32_t gc_generation;
  uint64_t gc_sequence, collector_time;
  gotrace__model_go *stw_go; /* whose stop-the-world the trace has */
  gotrace__source *stw_on;
  bool stw_closed; /* by a cut */
  unsigned stw_reason;
  uint64_t procs_changed, heap_alloc, heap_goal; /* last values; of the heap plus 1; 0: none */
  uint64_t procs_written, procs_time;            /* the last number of procs in the trace, and when */
  /* Tables: */
  gotrace__arena arena;                  /* resolved stacks */
  gotrace__mirror strings[2], stacks[2]; /* by whether a reference has GOTRACE__OWN */
  gotrace__mirror sites;                 /* ids: of their stacks */
  gotrace__table *types;
  uint32_t next_often, next_string, next_stack;
  uint32_t reason_refs[3][GOTRACE_BLOCK_REASON_COUNT], named_refs[GOTRACE__REASONS];
  gotrace__lane string_lane, stack_lane, sample_lane, global; /* v1: strings and stacks share one */
  uint64_t timers[GOTRACE__TIMERS];
  unsigned timer_count, timers_written;
  gotrace__counters counters;
  uint64_t events, bytes, goroutines;
  uint64_t kinds[GOTRACE__KINDS], problems[GOTRACE_PROBLEM_COUNT];
} gotrace__transcriber;
GOTRACE__STATIC_ASSERT((int)GOTRACE_BLOCK_REASON_COUNT >= (int)GOTRACE_STW_REASON_COUNT, reason_counts);

GOTRACE__FN GOTRACE__COLD void gotrace__problem_seen(gotrace__transcriber *t, gotrace_problem problem) {
  t->problems[problem]++;
  if (t->options.problem) t->options.problem(t->options.context, t, problem);
}

/* Only the first failure is reported. The trace then ends, as if it were full. */
GOTRACE__FN void gotrace__transcribe_fail(gotrace__transcriber *t, gotrace_result error) {
  if (!t->error) t->error = error;
  t->full = true;
  t->until = 0;
}

GOTRACE__FN void *gotrace__model_allocate(gotrace__transcriber *t, size_t size) {
  void *memory = gotrace__allocate(t->options.budget, size, !t->options.beyond_limit);
  if (!memory) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  return memory;
}

/* Enlarges an array to at least `wanted` elements; false if out of memory. `array`: the address of its pointer. */
GOTRACE__FN bool gotrace__model_grow(gotrace__transcriber *t, void *array, size_t *capacity, size_t wanted,
                                     size_t size) {
  size_t larger = *capacity ? *capacity : 16;
  void *old, *memory;
  if (wanted <= *capacity) return true;
  while (larger < wanted) larger *= 2;
  memory = gotrace__model_allocate(t, larger * size);
  if (!memory) return false;
  memcpy(&old, array, sizeof old); /* a pointer of another type */
  if (*capacity) memcpy(memory, old, *capacity * size);
  gotrace__release(t->options.budget, old, *capacity * size);
  memcpy(array, &memory, sizeof memory);
  *capacity = larger;
  return true;
}

/* ----------------------------------------------------------------------------------------------------- >>lanes ---- */

/* The entry after `last` in a table. */
GOTRACE__FN gotrace__entry *gotrace__after(gotrace__table *table, gotrace__entry *last) {
  return last ? gotrace__load_acquire(&last->next) : gotrace__load_acquire(&table->first);
}

#define GOTRACE__MOST_STACK 2048
#define GOTRACE__STACK_ROOM (2 + (1 + 4 * GOTRACE_STACK_SIZE) * GOTRACE_BYTES_PER_NUMBER)

#define GOTRACE__ALLOC_FREE 1 /* tracev2.AllocFree */

#define GOTRACE__HEADER_SIZE 16

GOTRACE__FN void gotrace__transcribe_write(gotrace__transcriber *t, const uint8_t *data, size_t size) {
  if (t->error == GOTRACE_ERROR_SINK) return;
  /* Even if it is not the first failure: nothing may follow what is missing. */
  if (!t->options.write(t->options.context, data, size)) t->error = GOTRACE_ERROR_SINK;
  t->bytes += size;
  t->generation_bytes += size;
  if (t->error || (t->options.size_limit && t->bytes >= t->options.size_limit)) t->full = true, t->until = 0;
}

#define gotrace__lane_size(lane) ((uint32_t)((lane)->at - (lane)->data))

GOTRACE__FN void gotrace__lane_set(gotrace__lane *lane, uint8_t *memory, uint32_t size) {
  lane->data = lane->at = lane->full = memory + GOTRACE__LANE_HEAD;
  lane->capacity = size - GOTRACE__LANE_HEAD;
}

GOTRACE__FN bool gotrace__lane_init(gotrace__transcriber *t, gotrace__lane *lane, uint64_t id, uint8_t kind,
                                    uint32_t size) {
  uint8_t *memory = (uint8_t *)gotrace__model_allocate(t, size);
  lane->id = id;
  lane->kind = kind;
  if (memory) gotrace__lane_set(lane, memory, size);
  return memory != NULL;
}

GOTRACE__FN void gotrace__lane_free(gotrace__transcriber *t, gotrace__lane *lane) {
  if (!lane->data) return;
  gotrace__release(t->options.budget, lane->data - GOTRACE__LANE_HEAD, lane->capacity + GOTRACE__LANE_HEAD);
  lane->data = lane->at = lane->full = NULL;
}

GOTRACE__FN void gotrace__write_sync(gotrace__transcriber *t);

/* Writes what the lane has, as a batch. Go: traceBufFlush, traceWriter.flush. */
GOTRACE__FN void gotrace__lane_flush(gotrace__transcriber *t, gotrace__lane *lane) {
  uint8_t head[GOTRACE__LANE_HEAD], *at = head;
  uint32_t size = gotrace__lane_size(lane), head_size;
  const uint64_t batch[] = {t->generation, lane->id, lane->base, size + (lane->kind != 0)};
  if (!size) return;
  if (t->v1) {
    if (lane != &t->string_lane) gotrace__lane_flush(t, &t->string_lane); /* a trace may end here */
    *at++ = GOTRACE_V1_BATCH | 1 << GOTRACE_ARG_COUNT_SHIFT;
    at = gotrace__put_varints(at, batch + 1, 2);
    t->kinds[GOTRACE_V1_BATCH]++;
  } else {
    if (!t->synced) gotrace__write_sync(t);
    *at++ = GOTRACE_V2_EVENT_BATCH;
    at = gotrace__put_varints(at, batch, 4);
    if (lane->kind) *at++ = lane->kind;
    t->kinds[GOTRACE_V2_EVENT_BATCH]++;
    if (lane->kind) t->kinds[lane->kind]++;
  }
  head_size = (uint32_t)(at - head);
  memcpy(lane->data - head_size, head, head_size);
  gotrace__transcribe_write(t, lane->data - head_size, head_size + size);
  lane->at = lane->full = lane->data;
  lane->batches++;
}

/* Gives an empty lane other memory, as far as possible. `within`: not beyond the limit. */
GOTRACE__FN void gotrace__lane_resize(gotrace__transcriber *t, gotrace__lane *lane, uint32_t size, bool within) {
  uint8_t *memory = (uint8_t *)gotrace__allocate(t->options.budget, size, within);
  if (!memory) return;
  gotrace__lane_free(t, lane);
  gotrace__lane_set(lane, memory, size);
}

/* Writes a full lane. Those of busy threads grow. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__lane_renew(gotrace__transcriber *t, gotrace__lane *lane, uint32_t room) {
  uint32_t old = lane->capacity + GOTRACE__LANE_HEAD,
           larger = old * 4 < GOTRACE__LANE_MOST ? old * 4 : GOTRACE__LANE_MOST;
  gotrace__lane_flush(t, lane);
  if (larger > old) gotrace__lane_resize(t, lane, larger, lane->capacity >= room);
}

/* A place for `room` bytes, the time of whose event is `time`. */
GOTRACE__FN inline uint8_t *gotrace__lane_at(gotrace__transcriber *t, gotrace__lane *lane, uint32_t room,
                                             uint64_t time) {
  if (GOTRACE__UNLIKELY(lane->capacity - gotrace__lane_size(lane) < room)) gotrace__lane_renew(t, lane, room);
  if (GOTRACE__UNLIKELY(lane->at == lane->data)) {
    lane->base = lane->time = time;
    lane->full = lane->data + lane->capacity - GOTRACE__EVENT_ROOM;
  }
  return lane->at;
}

/* Strings and stacks. */

/* The row of a number in a table; NULL if the table has no such entry, or if out of memory. */
GOTRACE__FN GOTRACE__NOINLINE gotrace__row *gotrace__find_row(gotrace__transcriber *t, gotrace__mirror *mirror,
                                                              uint32_t number) {
  gotrace__entry *entry;
  if (!mirror->table || !number) return NULL;
  while ((entry = gotrace__after(mirror->table, mirror->last)) != NULL) {
    if (!gotrace__model_grow(t, &mirror->rows, &mirror->capacity, (size_t)entry->id + 1, sizeof *mirror->rows))
      return NULL;
    mirror->rows[entry->id].entry = entry;
    mirror->last = entry;
  }
  return number < mirror->capacity && mirror->rows[number].entry ? &mirror->rows[number] : NULL;
}

/* The row of a reference; NULL for 0. `mirrors`: of strings or stacks. */
GOTRACE__FN inline gotrace__row *gotrace__row_of(gotrace__transcriber *t, gotrace__mirror *mirrors,
                                                 uint32_t reference) {
  gotrace__mirror *mirror = &mirrors[reference >> 31];
  uint32_t number = reference & ~GOTRACE__OWN;
  if (GOTRACE__LIKELY(number < mirror->capacity && mirror->rows[number].entry)) return &mirror->rows[number];
  return gotrace__find_row(t, mirror, number);
}

/* The row of a number in a table if the string or stack is written in this generation, else NULL. */
GOTRACE__FN inline const gotrace__row *gotrace__written_row(const gotrace__transcriber *t,
                                                            const gotrace__mirror *mirror, uint64_t number) {
  if (GOTRACE__UNLIKELY(number >= mirror->capacity || mirror->rows[number].generation != t->generation)) return NULL;
  return &mirror->rows[number];
}

/* A text made at run time. */
GOTRACE__FN uint32_t gotrace__text_reference(gotrace__transcriber *t, const char *text, size_t size) {
  uint32_t number = gotrace__text_put(t->strings[1].table, gotrace__hash_bytes(text, size), text, size);
  if (!number && size) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  return number ? number | GOTRACE__OWN : 0;
}

/* How much of a record's text the trace has. A text that is cut is counted. */
GOTRACE__FN inline uint32_t gotrace__kept_size(gotrace__transcriber *t, const char *text, uint32_t size) {
  size_t kept = gotrace__truncated_size(text, size);
  if (GOTRACE__UNLIKELY(kept != size)) gotrace__problem_seen(t, GOTRACE_PROBLEM_STRING_CUT);
  return (uint32_t)kept;
}

/* What the site of the thread's record stands for; NULL: it has none. */
GOTRACE__FN inline const gotrace__site_key *gotrace__site_said(gotrace__transcriber *t, const gotrace__source *r) {
  uint32_t number = gotrace__site_of(r->record);
  const gotrace__row *row;
  if (GOTRACE__UNLIKELY(r->said.site != NULL)) return r->said.site;
  row = number < t->sites.capacity ? &t->sites.rows[number] : NULL;
  if (GOTRACE__UNLIKELY(!row || !row->entry)) row = gotrace__find_row(t, &t->sites, number);
  return row ? (const gotrace__site_key *)(row->entry + 1) : NULL;
}

/* The name in the thread's record, as a reference. */
GOTRACE__FN inline uint32_t gotrace__call_name(gotrace__transcriber *t, const gotrace__source *r) {
  const gotrace__site_key *site;
  if (GOTRACE__UNLIKELY(r->said.has_name)) {
    gotrace__string name = r->said.name;
    return gotrace__text_reference(t, name.data, gotrace__kept_size(t, name.data, name.size));
  }
  site = gotrace__site_said(t, r);
  return site ? site->name : 0;
}

GOTRACE__FN inline uint32_t gotrace__record_stack(uint64_t number) {
  return number < GOTRACE__OWN ? (uint32_t)number : 0;
}

/* Writes a string with a new id, which it returns. One-byte ids are reserved for strings to which events refer often:
 * reasons, labels, and the names of regions, tasks and logs. Functions and files get none, since only the stack table
 * refers to them, nor do the texts of logs. */
#define GOTRACE__OFTEN_IDS 127u
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__write_text(gotrace__transcriber *t, const char *text, uint32_t size,
                                                           bool often) {
  uint32_t id = often && t->next_often < GOTRACE__OFTEN_IDS ? ++t->next_often : ++t->next_string;
  uint8_t *at = gotrace__lane_at(t, &t->string_lane, size + 1 + 2 * GOTRACE_BYTES_PER_NUMBER, t->generation_time);
  unsigned kind = t->v1 ? (unsigned)GOTRACE_V1_STRING : (unsigned)GOTRACE_V2_STRING;
  *at++ = (uint8_t)kind;
  at = gotrace__put_varint(at, id);
  at = gotrace__put_varint(at, size);
  memcpy(at, text, size);
  t->string_lane.at = at + size;
  t->kinds[kind]++;
  return id;
}

GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__define_string(gotrace__transcriber *t, uint32_t reference, bool often) {
  gotrace__row *row = gotrace__row_of(t, t->strings, reference);
  if (!row) return 0;
  row->generation = t->generation;
  return row->id = gotrace__write_text(t, (const char *)(row->entry + 1), row->entry->size, often);
}

/* The id of a string in this generation; 0 for the empty string. */
GOTRACE__FN inline uint32_t gotrace__string_id(gotrace__transcriber *t, uint32_t reference, bool often) {
  const gotrace__row *row = gotrace__written_row(t, &t->strings[reference >> 31], reference & ~GOTRACE__OWN);
  if (GOTRACE__LIKELY(row != NULL)) return row->id;
  return reference ? gotrace__define_string(t, reference, often) : 0;
}

/* A frame's function or file. Like Go, truncates at the front. */
GOTRACE__FN uint32_t gotrace__frame_reference(gotrace__transcriber *t, const char *string) {
  size_t size = string ? strlen(string) : 0;
  if (size > GOTRACE_MAX_STRING_SIZE) {
    string += size - GOTRACE_MAX_STRING_SIZE;
    while (((unsigned char)*string & 0xc0) == 0x80) string++;
    size = strlen(string);
  }
  return gotrace__text_reference(t, string, size);
}

/* The text of a frame; NULL: none. */
GOTRACE__FN const char *gotrace__frame_text_of(gotrace__transcriber *t, uint32_t reference) {
  const gotrace__row *row = gotrace__row_of(t, t->strings, reference);
  return row ? (const char *)(row->entry + 1) : NULL;
}

/* Names the frames of a stack. */
GOTRACE__FN bool gotrace__resolve_stack(gotrace__transcriber *t, gotrace__row *row) {
  const gotrace__stack_frame *frames = (const gotrace__stack_frame *)(row->entry + 1);
  uint64_t *out = row->frames;
  uint32_t i;
  if (!out) out = (uint64_t *)gotrace__arena_alloc(&t->arena, 4 * row->entry->size * sizeof *out);
  row->frames = out;
  if (!out) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  for (i = 0; out && i < row->entry->size; i++) {
    gotrace_location place = {(uintptr_t)frames[i].pc, gotrace__frame_text_of(t, frames[i].function),
                              gotrace__frame_text_of(t, frames[i].file), (uint32_t)frames[i].line};
    char name[GOTRACE_MAX_STRING_SIZE + 1];
    if (!place.function && place.pc) {
      bool entry = frames[i].line == GOTRACE__ENTRY_LINE;
      row->named = true;
      place.pc -= entry;
      place.line += entry;
      if (!t->options.name || !t->options.name(t->options.context, &place, name, sizeof name) || !place.function ||
          !place.function[0]) {
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)place.pc);
        place.function = name;
        if (entry) place.line = 0;
      }
    }
    *out++ = frames[i].pc;
    *out++ = gotrace__frame_reference(t, gotrace__short_name(place.function, name, sizeof name));
    *out++ = gotrace__frame_reference(t, place.file);
    *out++ = place.line;
  }
  return row->frames != NULL;
}

/* Writes a stack with a new id, which it returns. v1 readers accept at most GOTRACE__MOST_STACK bytes. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__define_stack(gotrace__transcriber *t, uint32_t reference) {
  gotrace__row *row = gotrace__row_of(t, t->stacks, reference);
  gotrace__lane *lane = t->v1 ? &t->string_lane : &t->stack_lane;
  uint8_t body[GOTRACE__STACK_ROOM], *at = body, *count_at;
  uint32_t i, size;
  if (!row || ((!row->frames || row->named) && !gotrace__resolve_stack(t, row))) return 0;
  row->generation = t->generation;
  row->id = ++t->next_stack;
  at = gotrace__put_varint(at, row->id);
  count_at = at;
  at += 2; /* the number of frames, at most 128 */
  for (i = 0; i < row->entry->size; i++) {
    const uint64_t *frame = row->frames + 4 * i;
    uint8_t *before = at;
    at = gotrace__put_varint(at, frame[0]);
    at = gotrace__put_varint(at, gotrace__string_id(t, (uint32_t)frame[1], false));
    at = gotrace__put_varint(at, gotrace__string_id(t, (uint32_t)frame[2], false));
    at = gotrace__put_varint(at, frame[3]);
    if (t->v1 && at - body > GOTRACE__MOST_STACK) {
      at = before;
      gotrace__problem_seen(t, GOTRACE_PROBLEM_STACK_CUT);
      break;
    }
  }
  count_at[0] = (uint8_t)(0x80 | i);
  count_at[1] = (uint8_t)(i >> 7);
  size = (uint32_t)(at - body);
  at = gotrace__lane_at(t, lane, size + 1 + GOTRACE_BYTES_PER_NUMBER, t->generation_time);
  if (t->v1) {
    *at++ = GOTRACE_V1_STACK | 3 << GOTRACE_ARG_COUNT_SHIFT;
    at = gotrace__put_varint(at, size);
  } else {
    *at++ = GOTRACE_V2_STACK;
  }
  memcpy(at, body, size);
  lane->at = at + size;
  t->kinds[GOTRACE_V2_STACK]++; /* the same number in v1 */
  return row->id;
}
GOTRACE__STATIC_ASSERT((int)GOTRACE_V1_STACK == (int)GOTRACE_V2_STACK, stack_kinds);

/* The id of a stack in this generation; 0: none. */
GOTRACE__FN inline uint32_t gotrace__stack_id(gotrace__transcriber *t, uint32_t reference) {
  const gotrace__row *row = gotrace__written_row(t, &t->stacks[reference >> 31], reference & ~GOTRACE__OWN);
  if (GOTRACE__LIKELY(row != NULL)) return row->id;
  return reference ? gotrace__define_stack(t, reference) : 0;
}

/* The stack of the thread's record, as a reference, and its id. */
GOTRACE__FN uint32_t gotrace__call_stack(gotrace__transcriber *t, const gotrace__source *r) {
  const gotrace__site_key *site;
  if (r->said.has_stack) return gotrace__record_stack(r->said.stack);
  site = gotrace__site_said(t, r);
  return site ? site->stack : 0;
}
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__define_call_stack(gotrace__transcriber *t, const gotrace__source *r) {
  uint32_t number = gotrace__site_of(r->record), id = gotrace__stack_id(t, gotrace__call_stack(t, r));
  if (!r->said.has_stack && number < t->sites.capacity) {
    t->sites.rows[number].generation = t->generation;
    t->sites.rows[number].id = id;
  }
  return id;
}
GOTRACE__FN inline uint32_t gotrace__call_stack_id(gotrace__transcriber *t, const gotrace__source *r) {
  const gotrace__row *row = gotrace__written_row(t, &t->sites, gotrace__site_of(r->record));
  if (GOTRACE__LIKELY(row && !r->said.has_stack)) return row->id;
  return gotrace__define_call_stack(t, r);
}

GOTRACE__FN uint32_t gotrace__own_stack(gotrace__transcriber *t, const gotrace__stack_frame *frames, size_t count) {
  uint32_t number = gotrace__stack_put(t->stacks[1].table, frames, count);
  if (!number) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  return number ? number | GOTRACE__OWN : 0;
}

GOTRACE__FN uint32_t gotrace__own_entry(gotrace__transcriber *t, const char *name) {
  gotrace_location place = {0, name, "", 0};
  gotrace__stack_frame frame;
  if (!gotrace__frame_of(t->strings[1].table, &place, &frame)) {
    gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
    return 0;
  }
  frame.function |= GOTRACE__OWN;
  return gotrace__own_stack(t, &frame, 1);
}

/* The stack id of a goroutine's entry. Viewers reject a goroutine without one, and Go takes one with an empty name, or
 * with one that begins with "runtime.", for its runtime's own and hides it (IsSystemGoroutine in
 * internal/trace/summary.go). */
GOTRACE__FN uint32_t gotrace__entry_id(gotrace__transcriber *t, const gotrace__model_go *g) {
  const gotrace__row *row = gotrace__row_of(t, t->stacks, g->entry);
  uint32_t id = row ? gotrace__stack_id(t, g->entry) : 0;
  return id || (t->options.replay && !t->v1) ? id : gotrace__stack_id(t, gotrace__own_entry(t, "unknown"));
}

/* The stack with which a goroutine leaves its proc. 1.22 has no stack with a goroutine's status, so viewers name a
 * goroutine older than the trace after the outermost frame of the first stack with which it stops. */
GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__stack_with_entry(gotrace__transcriber *t, const gotrace__model_go *g,
                                                                 uint32_t reference) {
  const gotrace__row *row = gotrace__row_of(t, t->stacks, reference);
  const gotrace__entry *stop = row ? row->entry : NULL; /* the next call may move the row */
  gotrace__stack_frame frames[2];
  size_t count = 0;
  row = gotrace__row_of(t, t->stacks, g->entry);
  if (!row && !stop) row = gotrace__row_of(t, t->stacks, gotrace__own_entry(t, "unknown"));
  if (!row || (stop && stop->size != 1)) return reference;
  if (stop) memcpy(&frames[count++], stop + 1, sizeof *frames);
  memcpy(&frames[count++], row->entry + 1, sizeof *frames);
  return gotrace__own_stack(t, frames, count);
}
GOTRACE__FN inline uint32_t gotrace__stop_stack_id(gotrace__transcriber *t, const gotrace__model_go *g,
                                                   uint32_t stack) {
  if (t->options.version == GOTRACE_GO_1_22 && (g->flags & GOTRACE__RECORD_OLD) && !t->options.replay)
    stack = gotrace__stack_with_entry(t, g, stack);
  return gotrace__stack_id(t, stack);
}

/* Reasons. `sort`: 0 block, 1 stop, 2 stop-the-world. */

GOTRACE__FN const char *gotrace__reason_name(const gotrace__transcriber *t, unsigned reason) {
  unsigned number = gotrace__reason_number(reason);
  if (!number || number > GOTRACE__REASONS || !t->options.reason_names) return NULL;
  return gotrace__load_acquire(&t->options.reason_names[number - 1]);
}

GOTRACE__FN GOTRACE__NOINLINE unsigned gotrace__named_reason(gotrace__transcriber *t, uint64_t given, unsigned count) {
  unsigned reason = given <= UINT32_MAX ? (unsigned)given : 0xffu;
  bool named = gotrace__reason_name(t, reason) != NULL;
  if (named && (reason & 0xff) < count) return reason;
  gotrace__problem_seen(t, GOTRACE_PROBLEM_BAD_REASON);
  return named ? gotrace__reason_number(reason) << 8 : 0;
}
GOTRACE__FN inline unsigned gotrace__valid_reason(gotrace__transcriber *t, uint64_t given, unsigned count) {
  return GOTRACE__LIKELY(given < count) ? (unsigned)given : gotrace__named_reason(t, given, count);
}

GOTRACE__FN GOTRACE__NOINLINE uint32_t gotrace__reason_reference(gotrace__transcriber *t, unsigned sort,
                                                                 unsigned reason) {
  const char *name =
      gotrace__reason_number(reason) ? gotrace__reason_name(t, reason) : gotrace__known_reasons[sort][reason].name;
  return gotrace__text_reference(t, name, strlen(name));
}
GOTRACE__FN inline uint32_t gotrace__reason_id(gotrace__transcriber *t, unsigned sort, unsigned reason) {
  unsigned number = gotrace__reason_number(reason);
  uint32_t *reference = number ? &t->named_refs[number - 1] : &t->reason_refs[sort][reason];
  if (GOTRACE__UNLIKELY(!*reference)) *reference = gotrace__reason_reference(t, sort, reason);
  return gotrace__string_id(t, *reference, sort < 2);
}

/* The first argument of a stop or block. gotrace__lower takes it for the event. */
GOTRACE__FN inline uint32_t gotrace__stop_reason(gotrace__transcriber *t, unsigned sort, unsigned reason) {
  if (t->v1) return gotrace__known_reasons[sort][gotrace__reason_base(reason)].v1;
  return gotrace__reason_id(t, sort, reason);
}

/* ----------------------------------------------------------------------------------------------------- >>model ---- */

/* The goroutine of a place from 1 to go_places; NULL if no record has mentioned any near it. */
GOTRACE__FN inline gotrace__model_go *gotrace__go_at(const gotrace__transcriber *t, uint64_t place) {
  gotrace__model_go *page = t->go_pages[(place - 1) / GOTRACE__MODEL_PAGE];
  return GOTRACE__LIKELY(page != NULL) ? &page[(place - 1) % GOTRACE__MODEL_PAGE] : NULL;
}

/* How many pages are allocated together with this one. The first are for programs with few goroutines. With a million,
 * the system would take as long for each page as the transcriber does; and the processor, to find where each of them is
 * in memory, if they were not in huge pages of the system (2 MiB). */
#define GOTRACE__SINGLE_PAGES 64
GOTRACE__FN size_t gotrace__pages_at_once(size_t page) {
  return page < GOTRACE__SINGLE_PAGES ? 1 : page < 256 ? 16 : 256;
}
GOTRACE__STATIC_ASSERT(GOTRACE__SINGLE_PAGES % 16 == 0 && GOTRACE__SINGLE_PAGES <= 256, aligned_blocks_of_pages);

GOTRACE__FN GOTRACE__NOINLINE gotrace__model_go *gotrace__go_new_at(gotrace__transcriber *t, uint64_t place) {
  size_t page = (size_t)(--place / GOTRACE__MODEL_PAGE), count = gotrace__pages_at_once(page), i;
  gotrace__model_go *block;
  if (place >= GOTRACE__MOST_PLACES) { /* also 0 */
    gotrace__problem_seen(t, GOTRACE_PROBLEM_BAD_HANDLE);
    return NULL;
  }
  if (!gotrace__model_grow(t, &t->go_pages, &t->go_page_count, page + count, sizeof *t->go_pages)) return NULL;
  if (!t->go_pages[page]) {
    block = (gotrace__model_go *)gotrace__model_allocate(t, count * GOTRACE__MODEL_PAGE * sizeof(gotrace__model_go));
    if (!block) return NULL;
    for (i = 0; i < count; i++) t->go_pages[page - page % count + i] = block + i * GOTRACE__MODEL_PAGE;
  }
  if (place >= t->go_places) t->go_places = place + 1;
  return &t->go_pages[page][place % GOTRACE__MODEL_PAGE];
}

/* The goroutine of a place in a record; NULL if it cannot be one, or if out of memory. */
GOTRACE__FN inline gotrace__model_go *gotrace__go_of(gotrace__transcriber *t, uint64_t place) {
  gotrace__model_go *g = GOTRACE__LIKELY(place - 1 < t->go_places) ? gotrace__go_at(t, place) : NULL;
  return GOTRACE__LIKELY(g != NULL) ? g : gotrace__go_new_at(t, place);
}

/* A proc with the next free id at or above `wanted`. */
GOTRACE__FN gotrace__model_proc *gotrace__proc_new(gotrace__transcriber *t, uint64_t wanted) {
  gotrace__model_proc *p;
  while (wanted < t->proc_capacity && t->procs[wanted]) wanted++;
  if (!gotrace__model_grow(t, &t->procs, &t->proc_capacity, (size_t)wanted + 1, sizeof *t->procs)) return NULL;
  p = (gotrace__model_proc *)gotrace__model_allocate(t, sizeof *p);
  if (!p) return NULL;
  p->id = wanted;
  p->time = t->unused_time;
  if (t->v1 && !gotrace__lane_init(t, &p->lane, wanted, 0, GOTRACE__FIRST_LANE(t))) {
    gotrace__release(t->options.budget, p, sizeof *p);
    return NULL;
  }
  t->procs[wanted] = p;
  if (t->proc_count <= wanted) t->proc_count = (size_t)wanted + 1;
  if (t->proc_count > t->procs_written) t->globals_generation = 0; /* the number of procs is due */
  return p;
}

/* The proc of a place. Its id is the place, unless the transcriber has given that to a proc that it had to make. */
GOTRACE__FN gotrace__model_proc *gotrace__proc_of(gotrace__transcriber *t, uint64_t place) {
  gotrace__model_proc *p;
  if (--place >= GOTRACE__MOST_PLACES) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_BAD_HANDLE);
    return NULL;
  }
  if (!gotrace__model_grow(t, &t->proc_ids, &t->place_capacity, (size_t)place + 1, sizeof *t->proc_ids)) return NULL;
  if (t->proc_ids[place]) return t->procs[t->proc_ids[place] - 1];
  p = gotrace__proc_new(t, place);
  if (p) t->proc_ids[place] = (uint32_t)p->id + 1;
  return p;
}

/* The place of a key, or the free one where it would be; there is one. */
GOTRACE__FN gotrace__keyed_value *gotrace__key_place(const gotrace__keys *keys, uint64_t key) {
  size_t i = (size_t)gotrace__mix(0, key) & (keys->capacity - 1);
  while (keys->values[i].key && keys->values[i].key != key) i = (i + 1) & (keys->capacity - 1);
  return &keys->values[i];
}

/* Makes room for one more key, and leaves out those that have ended; false if out of memory. */
GOTRACE__FN bool gotrace__key_room(gotrace__transcriber *t, gotrace__keys *keys) {
  gotrace__keys fresh = {NULL, 64, 0};
  size_t i;
  if (2 * (keys->used + 1) <= keys->capacity) return true;
  for (i = 0; i < keys->capacity; i++) fresh.used += keys->values[i].key && keys->values[i].key != UINT64_MAX;
  while (fresh.capacity < 4 * fresh.used) fresh.capacity *= 2;
  fresh.values = (gotrace__keyed_value *)gotrace__model_allocate(t, fresh.capacity * sizeof *fresh.values);
  if (!fresh.values) return false;
  for (i = 0; i < keys->capacity; i++)
    if (keys->values[i].key && keys->values[i].key != UINT64_MAX)
      *gotrace__key_place(&fresh, keys->values[i].key) = keys->values[i];
  gotrace__release(t->options.budget, keys->values, keys->capacity * sizeof *keys->values);
  *keys = fresh;
  return true;
}

GOTRACE__FN bool gotrace__id_is_in(const gotrace__keys *set, uint64_t id) {
  return set->capacity && gotrace__key_place(set, id / 64 + 1)->value & (uint64_t)1 << id % 64;
}

/* Adds an id; false if it is there already, or if out of memory. */
GOTRACE__FN bool gotrace__id_add(gotrace__transcriber *t, gotrace__keys *set, uint64_t id) {
  uint64_t bit = (uint64_t)1 << id % 64;
  gotrace__keyed_value *block;
  if (!gotrace__key_room(t, set)) return false;
  block = gotrace__key_place(set, id / 64 + 1);
  if (block->value & bit) return false;
  if (!block->key) set->used++;
  block->key = id / 64 + 1;
  block->value |= bit;
  return true;
}

/* The number of ranges of kept ids that end before an id. */
GOTRACE__FN size_t gotrace__kept_before(const gotrace__transcriber *t, uint64_t id) {
  size_t low = 0, high = t->kept_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->kept_ids[middle].last < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
GOTRACE__FN bool gotrace__id_is_kept(const gotrace__transcriber *t, uint64_t id) {
  size_t i = gotrace__kept_before(t, id);
  return i < t->kept_count && t->kept_ids[i].first <= id;
}

/* The model gives up a goroutine that the trace still has, so that its id is taken for good. There is no end of such
 * goroutines, therefore their ids are ranges, in order; if there are many, those with the smallest gaps between them
 * become one. An id in a gap counts as taken too. It is one that has been used, unless a thread has kept it unused
 * while others took millions. False if out of memory. */
#ifndef GOTRACE__MOST_KEPT
#define GOTRACE__MOST_KEPT ((size_t)4096)
#endif
GOTRACE__FN bool gotrace__keep_id(gotrace__transcriber *t, uint64_t id) {
  size_t i, n;
  uint64_t gap;
  gotrace__id_range *at;
  for (gap = 2; t->kept_count >= GOTRACE__MOST_KEPT; gap *= 2) {
    for (i = n = 1; i < t->kept_count; i++)
      if (t->kept_ids[i].first - t->kept_ids[n - 1].last <= gap) t->kept_ids[n - 1].last = t->kept_ids[i].last;
      else t->kept_ids[n++] = t->kept_ids[i];
    t->kept_count = n;
  }
  if (!gotrace__model_grow(t, &t->kept_ids, &t->kept_capacity, t->kept_count + 1, sizeof *t->kept_ids)) return false;
  i = gotrace__kept_before(t, id);
  at = &t->kept_ids[i];
  if (i < t->kept_count && at->first <= id + 1) {
    if (id < at->first) at->first = id;
  } else if (i && at[-1].last + 1 == id) {
    at[-1].last = id;
  } else {
    memmove(at + 1, at, (t->kept_count++ - i) * sizeof *at);
    at->first = at->last = id;
  }
  return true;
}

/* Takes an id that the trace does not have. After memory has run out it need not be added: the trace ends soon. */
GOTRACE__FN bool gotrace__id_take(gotrace__transcriber *t, uint64_t id) {
  if (gotrace__id_is_kept(t, id)) return false;
  return t->error ? !gotrace__id_is_in(&t->ids, id) : gotrace__id_add(t, &t->ids, id);
}

/* A goroutine's id that the trace does not have yet: `id`, or a new one if misuse has doubled it. Go's reader rejects
 * an id that is created twice, and Go shows a very large one as negative. After memory has run out, all are new ones.
 */
GOTRACE__FN uint64_t gotrace__unique_id(gotrace__transcriber *t, uint64_t id) {
  bool taken = !t->error && id && !(id >> 48) && gotrace__id_take(t, id);
  while (!taken) {
    t->counters.doubled += id != 0 && !(id >> 48) && !t->error;
    id = t->options.go_ids ? gotrace__add_relaxed(t->options.go_ids, 1) + 1 : ++t->own_ids;
    taken = gotrace__id_take(t, id);
  }
  return id;
}

/* The same for a goroutine of the list of the living, whose id a sample may have reserved. */
GOTRACE__FN uint64_t gotrace__listed_id(gotrace__transcriber *t, const gotrace__model_go *g, uint64_t id) {
  return !g->known && id && id == g->sampled ? id : gotrace__unique_id(t, id);
}

/* A new occupant of a goroutine's place. Its number goes on. */
GOTRACE__FN void gotrace__go_begin(gotrace__transcriber *t, gotrace__model_go *g, uint64_t id, uint64_t entry,
                                   unsigned status, unsigned flags) {
  if (!id || !t->options.replay || t->v1) id = gotrace__listed_id(t, g, id); /* in v2 an ended goroutine's id is free */
  g->id = id;
  g->entry = gotrace__record_stack(entry);
  g->status = (uint8_t)status;
  g->flags = (uint8_t)flags;
  g->known = true;
  g->listed = g->in_trace = g->unborn = g->forgotten = g->assist = g->unseen_wait = false;
  g->woken = g->call_blocked = g->exit_pending = false;
  g->on = NULL;
  g->generation = 0;
  g->time = 0;
  g->region_depth = 0;
  if (g->label) g->label[0] = 0;
}

/* Makes room in the heap for one more thread, and for the samples. */
GOTRACE__FN bool gotrace__grow_heap(gotrace__transcriber *t) {
  return gotrace__model_grow(t, &t->heap, &t->heap_capacity, t->source_count + 2, sizeof *t->heap);
}
/* Puts a thread into the heap of those whose next record can be tried. There is room for all. */
GOTRACE__FN void gotrace__enqueue(gotrace__transcriber *t, gotrace__source *r) {
  size_t at = t->heap_count++;
  r->turn = r->record_tick + r->later;
  for (; at && r->turn < t->heap[(at - 1) / 2]->turn; at = (at - 1) / 2) t->heap[at] = t->heap[(at - 1) / 2];
  t->heap[at] = r;
  if (r->turn < t->until) t->until = r->turn;
}

/* Takes the one with the earliest record out of it; NULL: it is empty. */
GOTRACE__FN gotrace__source *gotrace__dequeue(gotrace__transcriber *t) {
  gotrace__source *first = t->heap_count ? t->heap[0] : NULL, *r;
  size_t at = 0, child = 1;
  if (!first) return NULL;
  r = t->heap[--t->heap_count];
  for (; child < t->heap_count; at = child, child = 2 * at + 1) {
    if (child + 1 < t->heap_count && t->heap[child + 1]->turn < t->heap[child]->turn) child++;
    if (r->turn <= t->heap[child]->turn) break;
    t->heap[at] = t->heap[child];
  }
  t->heap[at] = r;
  return first;
}

/* Wakes the sources that wait for a change of an object. */
GOTRACE__FN void gotrace__changed(gotrace__transcriber *t, gotrace__waiters *waiters) {
  while (GOTRACE__UNLIKELY(waiters->first != NULL)) {
    gotrace__source *r = waiters->first;
    waiters->first = r->link;
    r->waits_on = NULL;
    t->waiting--;
    gotrace__enqueue(t, r);
  }
}

/* The owner's next transition: implied, or given by a record. */
GOTRACE__FN void gotrace__number_go(gotrace__transcriber *t, gotrace__model_go *g, uint64_t number) {
  if (GOTRACE__IS_LATER(number, g->number)) g->number = (uint32_t)number;
  gotrace__changed(t, &g->waiters);
}
GOTRACE__FN void gotrace__number_proc(gotrace__transcriber *t, gotrace__model_proc *p, uint64_t number) {
  if (GOTRACE__IS_LATER(number, p->number)) p->number = (uint32_t)number;
  gotrace__changed(t, &p->waiters);
}
#define gotrace__next_go(t, g) gotrace__number_go(t, g, (g)->number + 1)
#define gotrace__next_proc(t, p) gotrace__number_proc(t, p, (p)->number + 1)

/* The record's time is not before that of an object. */
GOTRACE__FN inline void gotrace__not_before(gotrace__transcriber *t, uint64_t time) {
  if (t->now < time) t->now = time;
}

/* The same for readers that order two events by time alone, beyond the record's own time. Later records are not before
 * it either, since they may follow from it in the program; on other threads they are later, by one unit each. But time
 * does not run far ahead of the clock. */
#define GOTRACE__MOST_AHEAD 4096 /* units */
GOTRACE__FN void gotrace__push_time(gotrace__transcriber *t, uint64_t time) {
  gotrace__pushed *p = &t->pushed;
  if (t->now >= time) return;
  t->now = time;
  if (p->time >= time) return;
  if (t->given > p->time) {
    p->first_given = t->given;
    p->first_time = time;
  }
  p->given = t->given;
  p->time = time;
  p->on = t->current;
}
GOTRACE__FN GOTRACE__NOINLINE void gotrace__after_push(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__pushed *p = &t->pushed;
  if (t->given < p->first_given) return; /* it has waited */
  if (t->given < p->given) {             /* likewise: between two that have been pushed */
    gotrace__not_before(t, p->first_time);
    return;
  }
  if (r != p->on && p->time - t->now < GOTRACE__MOST_AHEAD) p->time++;
  p->given = t->given;
  p->on = r;
  t->now = p->time;
}

GOTRACE__FN void gotrace__keep_timer(gotrace__transcriber *t, gotrace__model_go *g) {
  if (t->v1 && t->timer_count < GOTRACE__TIMERS) t->timers[t->timer_count++] = g->id;
}

/* A label of up to 63 bytes; empty: none. */
GOTRACE__FN void gotrace__model_label(gotrace__transcriber *t, gotrace__model_go *g, const char *label, uint32_t size) {
  size_t kept = gotrace__utf8_prefix(label, size, GOTRACE__LABEL - 1);
  if (!g->label && kept) g->label = (char *)gotrace__model_allocate(t, GOTRACE__LABEL);
  if (!g->label) return;
  if (kept) memcpy(g->label, label, kept);
  g->label[kept] = 0;
}

GOTRACE__FN inline uint32_t gotrace__label_id(gotrace__transcriber *t, const gotrace__model_go *g) {
  if (GOTRACE__LIKELY(!g->label) || !g->label[0]) return 0;
  return gotrace__string_id(t, gotrace__text_reference(t, g->label, strlen(g->label)), true);
}

/* --------------------------------------------------------------------------------------------------- >>writing ---- */

/* Appends an event with n arguments. */
GOTRACE__FN inline void gotrace__put_event(gotrace__transcriber *t, gotrace__lane *lane, unsigned kind, uint64_t time,
                                           int n, const uint64_t *a) {
  uint8_t *at = gotrace__lane_at(t, lane, GOTRACE__EVENT_ROOM, time), *length = NULL;
  *at++ = (uint8_t)(t->v1 ? kind | (unsigned)(n < 3 ? n : 3) << GOTRACE_ARG_COUNT_SHIFT : kind);
  if (t->v1 && n >= 3) length = at++;
  at = gotrace__put_varint(at, time - lane->time);
  lane->time = time;
  at = gotrace__put_varints(at, a, (size_t)n);
  if (length) *length = (uint8_t)(at - length - 1);
  lane->at = at;
  t->generation_used = true;
  t->kinds[kind]++;
  t->events++;
}

GOTRACE__FN void gotrace__put_v1(gotrace__transcriber *t, gotrace__lane *lane, unsigned kind, uint64_t time, int n,
                                 uint64_t a0, uint64_t a1, uint64_t a2) {
  const uint64_t a[] = {a0, a1, a2};
  gotrace__put_event(t, lane, kind, time < lane->time ? lane->time : time, n, a);
}

/* v1: an event about g that has a shorter form if the last one was in the same lane. */
GOTRACE__FN void gotrace__put_numbered(gotrace__transcriber *t, gotrace__lane *lane, gotrace__model_go *g,
                                       unsigned local, unsigned kind, uint64_t time, int more, uint64_t argument) {
  if (g->last_lane == lane) gotrace__put_v1(t, lane, local, time, 1 + more, g->id, argument, 0);
  else gotrace__put_v1(t, lane, kind, time, 2 + more, g->id, g->sequence, argument);
  g->sequence++;
  g->last_lane = lane;
}

/* v1: the system call of the goroutine on a proc loses the proc. */
GOTRACE__FN void gotrace__lower_syscall_block(gotrace__transcriber *t, gotrace__lane *lane, gotrace__model_go *g,
                                              uint64_t time) {
  if (!g || g->status != GOTRACE__SYSCALL || g->call_blocked) return;
  gotrace__put_v1(t, lane, GOTRACE_V1_GO_SYS_BLOCK, time, 0, 0, 0, 0);
  if (g->time < lane->time) g->time = lane->time; /* the end of the call is not earlier */
  g->call_blocked = true;
}

/* v1: a start, after the end of the system call that is still to be written. */
GOTRACE__FN void gotrace__lower_start(gotrace__transcriber *t, gotrace__lane *lane, gotrace__model_go *g,
                                      uint64_t time) {
  uint32_t label = gotrace__label_id(t, g);
  if (g->exit_pending) {
    if (time < g->exit_time) time = g->exit_time;
    gotrace__put_v1(t, lane, GOTRACE_V1_GO_SYS_EXIT, time, 3, g->id, g->sequence++, g->exit_time);
    g->last_lane = lane;
    g->exit_pending = false;
  }
  if (label) {
    gotrace__put_v1(t, lane, GOTRACE_V1_GO_START_LABEL, time, 3, g->id, g->sequence++, label);
    g->last_lane = lane;
  } else {
    gotrace__put_numbered(t, lane, g, GOTRACE_V1_GO_START_LOCAL, GOTRACE_V1_GO_START, time, 0, 0);
  }
  g->start_end = g->woken && !label ? (uint16_t)gotrace__lane_size(lane) : GOTRACE__NO_START;
  g->start_batch = lane->batches;
  g->woken = g->call_blocked = false;
}

/* The lane in which a thread writes; v1: its proc's, or the global one. */
GOTRACE__FN gotrace__lane *gotrace__lane_of(gotrace__transcriber *t, gotrace__source *r) {
  return !t->v1 ? &r->lane : r->proc ? &r->proc->lane : &t->global;
}

/* v1: writes what a v2 event says. The model is still as before the event. Batches belong to procs; statuses are
 * creations; a system call ends where the goroutine runs again. */
GOTRACE__FN void gotrace__lower(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                gotrace__model_proc *p, unsigned kind, uint64_t time, int n, const uint64_t *a) {
  gotrace__lane *lane = gotrace__lane_of(t, r);
  /* In a system call a thread can write nothing but its end: readers would take the call for ended. */
  bool other = r->go && r->go->status == GOTRACE__SYSCALL && r->go != g;
  switch (kind) {
  case GOTRACE_V2_PROC_STATUS:
    if (a[1] != GOTRACE__PROC_IDLE) gotrace__put_v1(t, &p->lane, GOTRACE_V1_PROC_START, time, 1, r->id, 0, 0);
    break;
  case GOTRACE_V2_PROC_START: gotrace__put_v1(t, &p->lane, GOTRACE_V1_PROC_START, time, 1, r->id, 0, 0); break;
  case GOTRACE_V2_PROC_STOP:
  case GOTRACE_V2_PROC_STEAL:
    gotrace__lower_syscall_block(t, &p->lane, p->on->go, time);
    gotrace__put_v1(t, &p->lane, GOTRACE_V1_PROC_STOP, time, 0, 0, 0, 0);
    break;
  case GOTRACE_V2_GO_STATUS_STACK:
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_GO_CREATE_SYSCALL:
    if (kind == GOTRACE_V2_GO_CREATE_SYSCALL || other) lane = &t->global;
    /* After misuse the creation may come later than a sample, which readers reject. */
    if (GOTRACE__UNLIKELY(g->sampled == g->id) && (time > t->generation_time || lane->time > t->generation_time))
      g->id = gotrace__unique_id(t, 0);
    gotrace__put_v1(t, lane, GOTRACE_V1_GO_CREATE, time, 3, g->id, gotrace__entry_id(t, g),
                    kind == GOTRACE_V2_GO_STATUS_STACK ? 0 : a[2]);
    g->born = lane->time;
    g->sequence = 1;
    g->last_lane = lane;
    g->woken = g->call_blocked = false;
    g->start_end = GOTRACE__NO_START;
    if (g->flags & GOTRACE__RECORD_TIMER) gotrace__keep_timer(t, g);
    if (g->status == GOTRACE__WAITING) {
      gotrace__put_v1(t, lane, GOTRACE_V1_GO_WAITING, time, 1, g->id, 0, 0);
      g->sequence = 2;
    } else if (g->status == GOTRACE__SYSCALL && lane == &t->global) {
      gotrace__put_v1(t, lane, GOTRACE_V1_GO_IN_SYSCALL, time, 1, g->id, 0, 0);
      g->sequence = 2;
      g->call_blocked = true;
    } else if (g->status == GOTRACE__RUNNING || g->status == GOTRACE__SYSCALL) {
      gotrace__put_v1(t, lane, GOTRACE_V1_GO_START_LOCAL, time, 1, g->id, 0, 0);
      g->sequence = 2;
      if (g->status == GOTRACE__SYSCALL) gotrace__put_v1(t, lane, GOTRACE_V1_GO_SYS_CALL, time, 1, 0, 0, 0);
      g->call_time = time;
    }
    break;
  case GOTRACE_V2_GO_START: gotrace__lower_start(t, lane, g, time); break;
  case GOTRACE_V2_GO_DESTROY: gotrace__put_v1(t, lane, GOTRACE_V1_GO_END, time, 0, 0, 0, 0); break;
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK: gotrace__put_v1(t, lane, (unsigned)a[0], time, 1, a[1], 0, 0); break;
  case GOTRACE_V2_GO_UNBLOCK:
    if (other) lane = &t->global;
    gotrace__put_numbered(t, lane, g, GOTRACE_V1_GO_UNBLOCK_LOCAL, GOTRACE_V1_GO_UNBLOCK, time, 1, a[2]);
    g->woken = true;
    break;
  case GOTRACE_V2_GO_SYSCALL_BEGIN:
    gotrace__put_v1(t, lane, GOTRACE_V1_GO_SYS_CALL, time, 1, a[1], 0, 0);
    g->call_time = lane->time;
    break;
  case GOTRACE_V2_GO_SYSCALL_END: /* of a call that kept its proc: Go's sysmon takes the proc away after a while */
    if (time - g->call_time < GOTRACE__LONG_SYSCALL / t->options.unit) break;
    gotrace__lower_syscall_block(t, lane, g, g->call_time);
    gotrace__put_v1(t, lane, GOTRACE_V1_PROC_STOP, g->call_time, 0, 0, 0, 0);
    gotrace__put_v1(t, lane, GOTRACE_V1_PROC_START, time, 1, r->id, 0, 0);
    g->exit_pending = true;
    g->exit_time = time;
    gotrace__lower_start(t, lane, g, time);
    break;
  case GOTRACE_V2_GO_SYSCALL_END_BLOCKED: /* later than the proc's stop: readers sort it by that time */
    g->exit_pending = true;
    g->exit_time = g->call_blocked && time <= g->time ? g->time + 1 : time;
    break;
  case GOTRACE_V2_PROCS_CHANGE: gotrace__put_event(t, lane, GOTRACE_V1_GOMAXPROCS, time, n, a); break;
  case GOTRACE_V2_STW_BEGIN: gotrace__put_event(t, lane, GOTRACE_V1_STW_START, time, 1, a); break;
  case GOTRACE_V2_STW_END: gotrace__put_event(t, lane, GOTRACE_V1_STW_DONE, time, 0, a); break;
  case GOTRACE_V2_GC_BEGIN: gotrace__put_event(t, lane, GOTRACE_V1_GC_START, time, 2, a); break;
  case GOTRACE_V2_GC_END: gotrace__put_event(t, lane, GOTRACE_V1_GC_DONE, time, 0, a); break;
  case GOTRACE_V2_GC_SWEEP_BEGIN: gotrace__put_event(t, lane, GOTRACE_V1_GC_SWEEP_START, time, 1, a); break;
  case GOTRACE_V2_GC_SWEEP_END:
    gotrace__put_event(t, lane, GOTRACE_V1_GC_SWEEP_DONE, time, t->options.version < 1009 ? 0 : 2, a);
    break;
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN: gotrace__put_event(t, lane, GOTRACE_V1_GC_MARK_ASSIST_START, time, 1, a); break;
  case GOTRACE_V2_GC_MARK_ASSIST_END: gotrace__put_event(t, lane, GOTRACE_V1_GC_MARK_ASSIST_DONE, time, 0, a); break;
  case GOTRACE_V2_HEAP_ALLOC: gotrace__put_event(t, lane, GOTRACE_V1_HEAP_ALLOC, time, 1, a); break;
  case GOTRACE_V2_HEAP_GOAL: gotrace__put_event(t, lane, GOTRACE_V1_HEAP_GOAL, time, 1, a); break;
  case GOTRACE_V2_USER_TASK_BEGIN: gotrace__put_event(t, lane, GOTRACE_V1_USER_TASK_CREATE, time, 4, a); break;
  case GOTRACE_V2_USER_TASK_END: gotrace__put_event(t, lane, GOTRACE_V1_USER_TASK_END, time, 2, a); break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: {
    const uint64_t region[] = {a[0], kind == GOTRACE_V2_USER_REGION_END, a[1], a[2]};
    gotrace__put_event(t, lane, GOTRACE_V1_USER_REGION, time, 4, region);
    break;
  }
  }
  if (g && g->time < lane->time) g->time = lane->time;
}

/* Writes an event of thread r, about g or p or neither, before the model changes. It is not earlier than `time`. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__emit_slowly(gotrace__transcriber *t, gotrace__source *r,
                                                        gotrace__model_go *g, gotrace__model_proc *p, unsigned kind,
                                                        uint64_t time, int n, const uint64_t *a) {
  gotrace__lane *lane = &r->lane;
  if (t->v1) lane = p && kind <= GOTRACE_V2_PROC_STATUS ? &p->lane : gotrace__lane_of(t, r);
  if (time < lane->time) time = lane->time;
  if (t->v1) gotrace__lower(t, r, g, p, kind, time, n, a);
  else gotrace__put_event(t, lane, kind, time, n, a);
  if (g && g->time < time) g->time = time;
  if (p && p->time < time) p->time = time;
  if (r == t->current && t->now < lane->time) t->now = lane->time;
}
/* The same, for what most events are: in a batch that has begun and has room, not earlier than its last. v1 has no
 * batches here. */
GOTRACE__ALWAYS_INLINE void gotrace__emit(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                          gotrace__model_proc *p, unsigned kind, uint64_t time, int n, uint64_t a0,
                                          uint64_t a1, uint64_t a2, uint64_t a3) {
  gotrace__lane *lane = &r->lane;
  uint8_t *at = lane->at;
  if (GOTRACE__UNLIKELY(at >= lane->full || time < lane->time)) {
    const uint64_t a[] = {a0, a1, a2, a3};
    gotrace__emit_slowly(t, r, g, p, kind, time, n, a);
    return;
  }
  *at++ = (uint8_t)kind;
  at = gotrace__put_varint(at, time - lane->time);
  if (n > 0) at = gotrace__put_varint(at, a0);
  if (n > 1) at = gotrace__put_varint(at, a1);
  if (n > 2) at = gotrace__put_varint(at, a2);
  if (n > 3) at = gotrace__put_varint(at, a3);
  lane->at = at;
  lane->time = time;
  if (g) g->time = time;
  if (p) p->time = time;
  t->kinds[kind]++;
  t->events++;
}
GOTRACE__FN GOTRACE__NOINLINE void gotrace__emit_at(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                                    gotrace__model_proc *p, unsigned kind, uint64_t time, int n,
                                                    uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  gotrace__emit(t, r, g, p, kind, time, n, a, b, c, d);
  if (r == t->current) gotrace__not_before(t, time);
}
/* Events of the record being applied. */
#define gotrace__emit0(t, r, g, kind) gotrace__emit_at(t, r, g, NULL, kind, (t)->now, 0, 0, 0, 0, 0)
#define gotrace__emit1(t, r, g, kind, a) gotrace__emit_at(t, r, g, NULL, kind, (t)->now, 1, a, 0, 0, 0)
#define gotrace__emit2(t, r, g, kind, a, b) gotrace__emit_at(t, r, g, NULL, kind, (t)->now, 2, a, b, 0, 0)
#define gotrace__emit3(t, r, g, kind, a, b, c) gotrace__emit_at(t, r, g, NULL, kind, (t)->now, 3, a, b, c, 0)
#define gotrace__emit4(t, r, g, kind, a, b, c, d) gotrace__emit_at(t, r, g, NULL, kind, (t)->now, 4, a, b, c, d)
#define gotrace__emit_proc(t, r, p, kind, n, a, b, c) gotrace__emit_at(t, r, NULL, p, kind, (t)->now, n, a, b, c, 0)

/* Statuses and creations. */

GOTRACE__FN void gotrace__write_program(gotrace__transcriber *t, gotrace__source *r);
GOTRACE__FN inline void gotrace__write_state(gotrace__transcriber *t, gotrace__source *r) {
  if (GOTRACE__UNLIKELY(t->globals_generation != t->generation || t->stw_closed)) gotrace__write_program(t, r);
}

/* v2: begins the thread's part of a generation with the statuses of its proc and goroutine, from the generation's
 * beginning. Readers identify a running proc and goroutine by the thread. Go: traceLocker.eventWriter. */
GOTRACE__FN void gotrace__restate_thread(gotrace__transcriber *t, gotrace__source *r);

/* The proc's status, once per generation: on the thread that has it, else on r. Go: traceWriter.writeProcStatus. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__write_proc_status(gotrace__transcriber *t, gotrace__source *r,
                                                              gotrace__model_proc *p) {
  uint64_t time = t->now;
  if (p->on) {
    if (p->on->generation != t->generation) {
      gotrace__restate_thread(t, p->on);
      return;
    }
    r = p->on;
    time = t->generation_time;
  }
  if (time < p->time) time = p->time; /* as in gotrace__emit_status */
  p->generation = t->generation;
  p->sequence = 0;
  gotrace__emit_at(t, r, NULL, p, GOTRACE_V2_PROC_STATUS, time, 2, p->id, p->status, 0, 0);
  if (p->sweep_seen && !t->v1) gotrace__emit_at(t, r, NULL, p, GOTRACE_V2_GC_SWEEP_ACTIVE, time, 1, p->id, 0, 0, 0);
}
GOTRACE__FN inline void gotrace__restate_proc(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  if (GOTRACE__UNLIKELY(p->generation != t->generation)) gotrace__write_proc_status(t, r, p);
}

/* Creates a goroutine that the trace lacks. Readers require a proc, unless it begins in a system call, and a thread
 * that is not in one. The transcriber's own thread does it where r cannot. */
GOTRACE__FN void gotrace__write_creation(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                         uint32_t stack);

GOTRACE__FN void gotrace__emit_status(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                      uint64_t thread, uint64_t time) {
  if (time < g->time) time = g->time; /* an event whose time was pushed on, before the generation began */
  g->generation = t->generation;
  if (!t->v1) g->sequence = 0;
  if (!g->in_trace) t->goroutines++;
  g->in_trace = true;
  if (t->v1 || t->options.version >= GOTRACE_GO_1_23)
    gotrace__emit_at(t, r, g, NULL, GOTRACE_V2_GO_STATUS_STACK, time, 4, g->id, thread, g->status,
                     t->v1 ? 0 : gotrace__entry_id(t, g));
  else gotrace__emit_at(t, r, g, NULL, GOTRACE_V2_GO_STATUS, time, 3, g->id, thread, g->status, 0);
  if (g->assist && !t->v1) gotrace__emit_at(t, r, g, NULL, GOTRACE_V2_GC_MARK_ASSIST_ACTIVE, time, 1, g->id, 0, 0, 0);
}

/* The goroutine's status, once per generation; its creation, if the trace must have one. A blocked goroutine is left
 * out where the format cannot create it: its unblock creates it. Go: traceWriter.writeGoStatus. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__write_go_status(gotrace__transcriber *t, gotrace__source *r,
                                                            gotrace__model_go *g) {
  uint64_t time = t->now, thread = GOTRACE__NO_THREAD;
  if (g->unborn) return;
  if (!g->in_trace && t->generation > 1 && !g->on) {
    if (g->status == GOTRACE__WAITING && t->options.version < GOTRACE_GO_1_23) return;
    t->counters.late_introductions++;
    gotrace__write_creation(t, r, g, 0);
    return;
  }
  if (g->on) {
    if (g->on->generation != t->generation) {
      gotrace__restate_thread(t, g->on);
      return;
    }
    r = g->on;
    thread = r->id;
    time = t->generation_time;
  }
  gotrace__emit_status(t, r, g, thread, time);
}
GOTRACE__FN inline void gotrace__restate_go(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g) {
  if (GOTRACE__UNLIKELY(g->generation != t->generation)) gotrace__write_go_status(t, r, g);
}

GOTRACE__FN void gotrace__restate_thread(gotrace__transcriber *t, gotrace__source *r) {
  uint64_t now = t->now;
  if (GOTRACE__LIKELY(r->generation == t->generation)) return;
  r->generation = t->generation;
  t->now = t->generation_time;
  if (r->proc) gotrace__restate_proc(t, r, r->proc);
  if (r->go) gotrace__restate_go(t, r, r->go);
  gotrace__write_state(t, r);
  gotrace__not_before(t, now);
}

/* ----------------------------------------------------------------------------------------------- >>transitions ---- */

/* The tables of v2 in >>rules, as constants: the goroutine's status before and after an event, the proc's after it, and
 * what else the event does. */
enum {
#define GOTRACE__ROW(NAME, needs, whose, from, to, then)                           \
  GOTRACE__BEFORE_##NAME = GOTRACE__##from, GOTRACE__AFTER_##NAME = GOTRACE__##to, \
  GOTRACE__DOES_##NAME = GOTRACE__V2_DOES(needs, whose, then),
  GOTRACE__V2_TRANSITIONS(GOTRACE__ROW)
#undef GOTRACE__ROW
#define GOTRACE__ROW(NAME, of, status) GOTRACE__PROC_AFTER_##NAME = GOTRACE_STATUS_##status,
      GOTRACE__V2_STATUSES(GOTRACE__ROW)
#undef GOTRACE__ROW
};

/* Moves the model as an event about g on thread r does, which has just been written: see gotrace__moves. */
GOTRACE__ALWAYS_INLINE void gotrace__move(const gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                          unsigned after, unsigned does) {
  g->status = (uint8_t)after;
  if ((does & GOTRACE__R_NAMED) && !t->v1) g->sequence++;
  if (does & GOTRACE__R_STARTS) g->on = r, r->go = g;
  if (does & GOTRACE__R_LEAVES) g->on = NULL, g->time = t->now, r->go = NULL;
  if (!(does & (GOTRACE__R_ENTERS | GOTRACE__R_RETURNS))) return;
  r->proc->status = does & GOTRACE__R_ENTERS ? GOTRACE__PROC_SYSCALL : GOTRACE__PROC_RUNNING;
  r->proc->time = t->now;
}
#define gotrace__moves(t, r, g, NAME) gotrace__move(t, r, g, GOTRACE__AFTER_##NAME, GOTRACE__DOES_##NAME)

/* Writes the event, then moves the model. */
#define gotrace__do0(t, r, g, NAME) \
  (gotrace__emit(t, r, g, NULL, GOTRACE_V2_##NAME, (t)->now, 0, 0, 0, 0, 0), gotrace__moves(t, r, g, NAME))
#define gotrace__do2(t, r, g, NAME, a, b) \
  (gotrace__emit(t, r, g, NULL, GOTRACE_V2_##NAME, (t)->now, 2, a, b, 0, 0), gotrace__moves(t, r, g, NAME))
#define gotrace__do3(t, r, g, NAME, a, b, c) \
  (gotrace__emit(t, r, g, NULL, GOTRACE_V2_##NAME, (t)->now, 3, a, b, c, 0), gotrace__moves(t, r, g, NAME))

/* The same for a proc, and the thread that gets or loses it. */
GOTRACE__ALWAYS_INLINE void gotrace__move_proc(gotrace__source *r, gotrace__model_proc *p, int after) {
  bool runs = after == GOTRACE_STATUS_RUNNING;
  p->status = runs ? GOTRACE__PROC_RUNNING : GOTRACE__PROC_IDLE;
  p->on = runs ? r : NULL;
  r->proc = runs ? p : NULL;
}
#define gotrace__do_proc(t, r, of, p, NAME, n, a, b, c) \
  (gotrace__emit_proc(t, r, p, GOTRACE_V2_##NAME, n, a, b, c), gotrace__move_proc(of, p, GOTRACE__PROC_AFTER_##NAME))

GOTRACE__FN void gotrace__begin_proc(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  gotrace__not_before(t, p->time);
  gotrace__restate_proc(t, r, p);
  p->sequence++;
  gotrace__do_proc(t, r, r, p, PROC_START, 2, p->id, p->sequence, 0);
}

GOTRACE__FN void gotrace__end_proc(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__model_proc *p = r->proc;
  gotrace__do_proc(t, r, r, p, PROC_STOP, 0, 0, 0, 0);
  gotrace__changed(t, &p->waiters); /* its destruction waits for the end of a system call */
}

/* The proc that is made for a thread; NULL if out of memory. */
GOTRACE__FN gotrace__model_proc *gotrace__own_proc(gotrace__transcriber *t, gotrace__source *r) {
  if (r->own) return r->own;
  r->own = gotrace__proc_new(t, t->options.made_procs ? t->options.made_procs : t->proc_count);
  if (!r->own) return NULL;
  r->own->known = r->own->made = true;
  r->own->status = GOTRACE__PROC_IDLE;
  return r->own;
}

/* Gives it to a thread without a proc; false if out of memory. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__begin_own_proc(gotrace__transcriber *t, gotrace__source *r) {
  if (!gotrace__own_proc(t, r)) return false;
  gotrace__begin_proc(t, r, r->own);
  return true;
}
GOTRACE__FN inline bool gotrace__need_proc(gotrace__transcriber *t, gotrace__source *r) {
  return GOTRACE__LIKELY(r->proc != NULL) || gotrace__begin_own_proc(t, r);
}

/* The same as a repair. A plain thread's own goroutine, and those inside it, need no proc of the program's. */
GOTRACE__FN inline bool gotrace__repair_proc(gotrace__transcriber *t, gotrace__source *r, const gotrace__model_go *g) {
  if (GOTRACE__LIKELY(r->proc != NULL)) return true;
  if (!(g->flags & GOTRACE__RECORD_OWN) && !r->plain) gotrace__problem_seen(t, GOTRACE_PROBLEM_NO_PROC);
  return gotrace__begin_own_proc(t, r);
}

GOTRACE__FN void gotrace__steal(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  gotrace__source *victim = p->on;
  gotrace__not_before(t, p->time);
  gotrace__restate_proc(t, r, p);
  p->sequence++;
  gotrace__do_proc(t, r, victim, p, PROC_STEAL, 3, p->id, p->sequence, victim->id);
  if (victim->time < t->now) victim->time = t->now; /* its call ends after the steal */
  gotrace__changed(t, &p->waiters);
}

/* Goroutines. */

GOTRACE__FN void gotrace__write_creation(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                         uint32_t stack) {
  unsigned kind = g->status == GOTRACE__AFTER_GO_CREATE_SYSCALL   ? GOTRACE_V2_GO_CREATE_SYSCALL
                  : g->status == GOTRACE__AFTER_GO_CREATE_BLOCKED ? GOTRACE_V2_GO_CREATE_BLOCKED
                                                                  : GOTRACE_V2_GO_CREATE;
  bool can = r->proc && r->proc->status == GOTRACE__PROC_RUNNING && (!r->go || r->go->status == GOTRACE__RUNNING);
  bool lent = false;
  g->unborn = false; /* without memory for a proc, its next event tries again */
  if (!t->v1 && !can && g->status != GOTRACE__SYSCALL) {
    if (r->proc || r->go) {
      r = &t->service;
      gotrace__restate_thread(t, r);
    }
    lent = !r->proc; /* it does not keep the proc, since the trace would then show one too many */
    if (!gotrace__need_proc(t, r)) return;
  }
  g->generation = t->generation;
  g->sequence = 0;
  g->in_trace = true;
  t->goroutines++;
  if (kind == GOTRACE_V2_GO_CREATE_SYSCALL && !t->v1) gotrace__emit1(t, r, g, kind, g->id);
  else gotrace__emit3(t, r, g, kind, g->id, t->v1 ? 0 : gotrace__entry_id(t, g), stack);
  if (lent) gotrace__end_proc(t, r);
}

/* Readers attribute a stop-the-world to the goroutine that begins it, which must not leave its proc meanwhile. */
GOTRACE__FN void gotrace__end_stw(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__push_time(t, t->collector_time + 1);
  gotrace__emit0(t, r, NULL, GOTRACE_V2_STW_END);
  t->collector_time = t->now;
}
GOTRACE__FN void gotrace__end_stw_of(gotrace__transcriber *t, gotrace__source *r) {
  if (GOTRACE__LIKELY(!t->stw_go || t->stw_go != r->go)) return;
  if (t->options.replay && !t->v1) return; /* Go's own traces have it: see procresize in runtime/proc.go */
  gotrace__problem_seen(t, GOTRACE_PROBLEM_STW_OPEN);
  gotrace__end_stw(t, r);
  t->stw_go = NULL;
}

GOTRACE__FN void gotrace__write_label(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g) {
  uint32_t label = gotrace__label_id(t, g);
  if (label) gotrace__emit1(t, r, g, GOTRACE_V2_GO_LABEL, label);
}

GOTRACE__FN void gotrace__start(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g) {
  gotrace__do2(t, r, g, GO_START, g->id, g->sequence + 1);
  if (!t->v1) gotrace__write_label(t, r, g);
  gotrace__write_state(t, r);
}

/* A blocked goroutine, whose status has been written if the format allows, becomes runnable. */
GOTRACE__FN void gotrace__unblock(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g, uint32_t stack) {
  if (g->generation != t->generation) {
    g->status = GOTRACE__AFTER_GO_UNBLOCK;
    gotrace__write_creation(t, r, g, stack);
    return;
  }
  gotrace__do3(t, r, g, GO_UNBLOCK, g->id, g->sequence + 1, stack);
}

/* Starts a goroutine that is runnable or blocked on a thread with a proc and without a goroutine. */
GOTRACE__FN void gotrace__run_go(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g, uint32_t stack) {
  gotrace__not_before(t, g->time);
  gotrace__restate_go(t, r, g);
  if (g->status == GOTRACE__BEFORE_GO_UNBLOCK) gotrace__unblock(t, r, g, stack);
  gotrace__start(t, r, g);
}

GOTRACE__FN void gotrace__stop(gotrace__transcriber *t, gotrace__source *r, unsigned reason, uint32_t stack) {
  gotrace__model_go *g = r->go;
  gotrace__end_stw_of(t, r);
  gotrace__do2(t, r, g, GO_STOP, gotrace__stop_reason(t, 1, reason), stack);
}

/* Readers consider a goroutine that waits for ever as ended. If it is unblocked after all, it continues as a new one.
 */
GOTRACE__FN void gotrace__go_forever(gotrace__transcriber *t, gotrace__model_go *g) {
  uint64_t id = gotrace__unique_id(t, 0);
  gotrace__keep_id(t, g->id); /* if memory is out, the trace ends, but has what is left of this round */
  g->id = id;
  g->unborn = true;
  g->in_trace = g->assist = g->woken = false;
  g->generation = 0;
  g->region_depth = 0;
  g->forgotten = false;
  g->flags |= GOTRACE__RECORD_OLD; /* it may end regions that are older than its creation */
}

GOTRACE__FN void gotrace__block_go(gotrace__transcriber *t, gotrace__source *r, uint32_t given, uint32_t stack) {
  gotrace__model_go *g = r->go;
  bool futile = (given & GOTRACE_FUTILE_WAKEUP) != 0;
  unsigned reason = gotrace__valid_reason(t, given & ~(uint32_t)GOTRACE_FUTILE_WAKEUP, GOTRACE_BLOCK_REASON_COUNT);
  if (reason > 0xff && gotrace__reason_base(reason) == GOTRACE_BLOCK_FOREVER) { /* readers know only its own name */
    gotrace__problem_seen(t, GOTRACE_PROBLEM_BAD_REASON);
    reason &= ~0xffu;
  }
  gotrace__end_stw_of(t, r);
  if (futile && (!t->v1 || (t->options.version >= GOTRACE_GO_1_11 && !t->options.futile_wakeups))) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_FORMAT_LACKS);
  } else if (futile) {
    /* Readers drop the unblock, the start and the block (removeFutile in internal/trace/parser.go), but no events in
     * between, no start with a label and no block of another kind: the remaining events would be inconsistent. */
    gotrace__lane *lane = gotrace__lane_of(t, r);
    uint32_t kind = gotrace__stop_reason(t, 0, reason);
    if (g->last_lane == lane && g->start_batch == lane->batches && g->start_end == gotrace__lane_size(lane) &&
        (kind == GOTRACE_V1_GO_BLOCK || (kind >= GOTRACE_V1_GO_BLOCK_SEND && kind <= GOTRACE_V1_GO_BLOCK_COND)))
      gotrace__put_v1(t, lane, GOTRACE_V1_FUTILE_WAKEUP, t->now, 0, 0, 0, 0);
    else gotrace__problem_seen(t, GOTRACE_PROBLEM_FUTILE_BUSY);
  }
  gotrace__do2(t, r, g, GO_BLOCK, gotrace__stop_reason(t, 0, reason), gotrace__stop_stack_id(t, g, stack));
  if (reason == GOTRACE_BLOCK_FOREVER) gotrace__go_forever(t, g);
}

GOTRACE__FN void gotrace__end_go_of(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__model_go *g = r->go;
  gotrace__end_stw_of(t, r);
  gotrace__do0(t, r, g, GO_DESTROY);
}

/* System calls. */

GOTRACE__FN void gotrace__enter_call(gotrace__transcriber *t, gotrace__source *r, uint32_t stack) {
  gotrace__model_go *g = r->go;
  gotrace__end_stw_of(t, r);
  r->proc->sequence++;
  gotrace__do2(t, r, g, GO_SYSCALL_BEGIN, r->proc->sequence, stack);
}

/* Ends the thread's system call. `blocked`: the goroutine becomes runnable. Otherwise it runs on, if need be on a proc
 * that is made for the thread. */
GOTRACE__FN void gotrace__leave_call(gotrace__transcriber *t, gotrace__source *r, bool blocked) {
  gotrace__model_go *g = r->go;
  gotrace__model_proc *p = r->proc;
  if (p && p->status == GOTRACE__PROC_SYSCALL && !blocked) {
    gotrace__do0(t, r, g, GO_SYSCALL_END);
    gotrace__write_state(t, r);
    return;
  }
  if (p && p->status == GOTRACE__PROC_SYSCALL) { /* its loss has not been reported */
    t->counters.implied++;
    p->loss_unreported = r->lost_proc = true;
    gotrace__end_proc(t, r);
  }
  gotrace__do0(t, r, g, GO_SYSCALL_END_BLOCKED);
  if (!blocked && gotrace__need_proc(t, r)) gotrace__run_go(t, r, g, 0);
}

/* A thread must have no goroutine. If it has one, that yields. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__pause_running(gotrace__transcriber *t, gotrace__source *r,
                                                          gotrace_problem problem, unsigned reason) {
  gotrace__problem_seen(t, problem);
  if (r->go->status == GOTRACE__SYSCALL) gotrace__leave_call(t, r, true);
  else if (gotrace__need_proc(t, r)) gotrace__stop(t, r, reason, 0);
}
GOTRACE__FN inline void gotrace__clear_thread(gotrace__transcriber *t, gotrace__source *r, gotrace_problem problem,
                                              unsigned reason) {
  if (GOTRACE__UNLIKELY(r->go != NULL)) gotrace__pause_running(t, r, problem, reason);
}

/* A thread that a cut has shown as the list said, since it had not introduced itself, and that something contradicts: a
 * call under way when the trace began has changed what it runs. It leaves its goroutine and proc. */
GOTRACE__FN void gotrace__correct_listed(gotrace__transcriber *t, gotrace__source *r, bool blocks) {
  if (GOTRACE__LIKELY(!r || r->introduced)) return;
  t->counters.late_introductions++;
  gotrace__not_before(t, r->time);
  gotrace__restate_thread(t, r);
  if (r->go && r->go->status == GOTRACE__SYSCALL) gotrace__leave_call(t, r, !blocks);
  if (r->go && blocks) gotrace__block_go(t, r, GOTRACE_BLOCK_GENERIC, 0);
  else if (r->go) gotrace__stop(t, r, GOTRACE_STOP_YIELD, 0);
  if (r->proc) gotrace__end_proc(t, r);
  if (r->time < t->now) r->time = t->now;
}

/* Before an event that only a running goroutine, or its proc, can have. Inside a system call, Go's reader may apply a
 * steal of the proc before the event and then refuses it. So the call is left and entered again, which gives the second
 * entry the proc's next number. If the proc is lost, the event is on a proc of the thread's own. */
typedef enum gotrace__inside_call {
  GOTRACE__NOT_POSSIBLE,
  GOTRACE__NOT_IN_CALL,
  GOTRACE__KEPT_PROC,
  GOTRACE__LOST_PROC
} gotrace__inside_call;

/* A call needs the thread's goroutine, and there is none. */
GOTRACE__FN void gotrace__no_go(gotrace__transcriber *t, const gotrace__source *r, gotrace_problem problem) {
  if (r->lacks) t->counters.idle++;
  else gotrace__problem_seen(t, problem);
}

GOTRACE__FN gotrace__inside_call gotrace__begin_user_slowly(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__inside_call result = GOTRACE__NOT_IN_CALL;
  if (!r->go) {
    gotrace__no_go(t, r, GOTRACE_PROBLEM_NO_GOROUTINE);
    return GOTRACE__NOT_POSSIBLE;
  }
  if (r->go->status == GOTRACE__SYSCALL) {
    gotrace__model_go *g = r->go;
    result = r->proc && r->proc->status == GOTRACE__PROC_SYSCALL ? GOTRACE__KEPT_PROC : GOTRACE__LOST_PROC;
    t->counters.wrapped++;
    gotrace__leave_call(t, r, false);
    return r->go == g ? result : GOTRACE__NOT_POSSIBLE;
  }
  return gotrace__repair_proc(t, r, r->go) ? result : GOTRACE__NOT_POSSIBLE;
}

GOTRACE__FN inline gotrace__inside_call gotrace__begin_user(gotrace__transcriber *t, gotrace__source *r) {
  if (GOTRACE__LIKELY(r->go && r->go->status == GOTRACE__RUNNING && r->proc)) return GOTRACE__NOT_IN_CALL;
  return gotrace__begin_user_slowly(t, r);
}

GOTRACE__FN inline void gotrace__end_user(gotrace__transcriber *t, gotrace__source *r, gotrace__inside_call inside) {
  gotrace__model_proc *p = r->proc;
  if (inside < GOTRACE__KEPT_PROC || !r->go) return;
  gotrace__enter_call(t, r, 0);
  if (inside == GOTRACE__LOST_PROC) gotrace__end_proc(t, r);
  if (!r->proc && !p->made) gotrace__begin_proc(t, r, p); /* started in the system call */
}

/* The same for events about the whole program. On a thread without a goroutine, a temporary one runs for them. */
GOTRACE__FN gotrace__inside_call gotrace__begin_global(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__model_go *g = &t->borrowed;
  if (r->go) return gotrace__begin_user(t, r);
  if (t->v1) return GOTRACE__NOT_IN_CALL;
  if (!gotrace__need_proc(t, r)) return GOTRACE__NOT_POSSIBLE;
  gotrace__go_begin(t, g, 0, 0, GOTRACE__RUNNABLE, 0);
  g->entry = gotrace__own_entry(t, "gotrace.event");
  t->counters.borrowed++;
  gotrace__write_creation(t, r, g, 0);
  gotrace__start(t, r, g);
  return GOTRACE__NOT_IN_CALL;
}

GOTRACE__FN void gotrace__end_global(gotrace__transcriber *t, gotrace__source *r, gotrace__inside_call inside) {
  if (r->go == &t->borrowed) gotrace__end_go_of(t, r);
  else gotrace__end_user(t, r, inside);
}

/* The whole program. */

GOTRACE__FN bool gotrace__has_event(gotrace__transcriber *t, unsigned since) {
  if (GOTRACE__LIKELY(t->options.version >= since)) return true;
  gotrace__problem_seen(t, GOTRACE_PROBLEM_FORMAT_LACKS);
  return false;
}

/* Readers order collections by time alone where they have no number. Out of memory, a generation may lack the
 * collection that is under way; then those after it must lack it too. */
GOTRACE__FN void gotrace__gc_event(gotrace__transcriber *t, gotrace__source *r, unsigned kind, uint32_t stack) {
  if (t->error) return;
  gotrace__push_time(t, t->collector_time + 1);
  if (kind == GOTRACE_V2_GC_BEGIN) {
    uint64_t sequence = t->v1 ? t->gc_sequence++ : ++t->gc_sequence;
    gotrace__emit2(t, r, NULL, kind, sequence, stack);
  } else if (t->v1) {
    gotrace__emit0(t, r, NULL, kind);
  } else {
    gotrace__emit1(t, r, NULL, kind, ++t->gc_sequence);
  }
  t->collector_time = t->now;
  t->gc_generation = t->generation;
  t->gc_seen = kind != GOTRACE_V2_GC_END;
}

GOTRACE__FN void gotrace__stw_event(gotrace__transcriber *t, gotrace__source *r, uint32_t stack) {
  unsigned reason = t->stw_reason;
  uint64_t kind = gotrace__reason_base(reason);
  if (t->v1 && t->options.version < GOTRACE_GO_1_21) kind--; /* 0 mark termination, 1 sweep termination */
  gotrace__push_time(t, t->collector_time + 1);
  gotrace__emit2(t, r, NULL, GOTRACE_V2_STW_BEGIN, t->v1 ? kind : gotrace__reason_id(t, 2, reason), stack);
  t->collector_time = t->now;
  t->stw_go = r->go;
  t->stw_on = r;
  t->stw_closed = false;
}

/* v2: the number of procs; readers take it as a bound of their ids. */
GOTRACE__FN uint64_t gotrace__proc_bound(const gotrace__transcriber *t) {
  uint64_t there = t->proc_count ? t->proc_count : 1;
  if (t->options.replay && t->procs_changed) return t->procs_changed;
  return t->procs_changed > there ? t->procs_changed : there;
}

/* A task; with `add`, a new one if there is none. NULL: there is none, or out of memory. */
GOTRACE__FN gotrace__keyed_value *gotrace__task_at(gotrace__transcriber *t, uint64_t id, bool add) {
  gotrace__keyed_value *task;
  if (add && !gotrace__key_room(t, &t->tasks)) return NULL;
  task = t->tasks.capacity ? gotrace__key_place(&t->tasks, id) : NULL;
  if (!task || task->key) return task;
  if (!add) return NULL;
  task->key = id;
  t->tasks.used++;
  return task;
}

GOTRACE__FN void gotrace__write_old_tasks(gotrace__transcriber *t, gotrace__source *r) {
  size_t i, count = t->old_task_count;
  t->old_task_count = 0;
  for (i = 0; i < count; i++) {
    uint32_t name = gotrace__text_reference(t, t->old_tasks[i].name, strlen(t->old_tasks[i].name));
    gotrace__keyed_value *task = gotrace__task_at(t, t->old_tasks[i].id, true);
    gotrace__emit4(t, r, r->go, GOTRACE_V2_USER_TASK_BEGIN, t->old_tasks[i].id, t->old_tasks[i].parent,
                   gotrace__string_id(t, name, false), 0);
    if (!task) continue;
    task->on = r;
    task->value = t->now;
  }
}

GOTRACE__FN void gotrace__write_procs(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g, uint64_t count,
                                      uint32_t stack) {
  gotrace__emit2(t, r, g, GOTRACE_V2_PROCS_CHANGE, count, stack);
  t->procs_written = count;
  t->procs_time = t->now;
}

/* What a thread with a running goroutine must still write: a stop-the-world that a cut has closed; once per generation
 * the state of the whole program, since a trace may begin with any; the number of procs, when there are more or when it
 * was reported on a thread without a goroutine; once the tasks older than the trace. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__write_program(gotrace__transcriber *t, gotrace__source *r) {
  if (t->options.replay) return;
  if (!r->go || r->go->status != GOTRACE__RUNNING) return;
  if (t->stw_closed && t->stw_go == r->go) gotrace__stw_event(t, r, 0);
  if (t->globals_generation == t->generation) return;
  if (t->program_generation == t->generation) {
    if (t->now < t->procs_time) return; /* a thread that begins its part of the generation late */
    gotrace__write_procs(t, r, r->go, gotrace__proc_bound(t), 0);
    t->globals_generation = t->generation;
    return;
  }
  t->program_generation = t->globals_generation = t->generation;
  if (!t->v1 || t->proc_count > t->procs_written) gotrace__write_procs(t, r, r->go, gotrace__proc_bound(t), 0);
  if (t->heap_goal) gotrace__emit1(t, r, r->go, GOTRACE_V2_HEAP_GOAL, t->heap_goal - 1);
  if (t->heap_alloc) gotrace__emit1(t, r, r->go, GOTRACE_V2_HEAP_ALLOC, t->heap_alloc - 1);
  /* A collection that is not in the trace began before it. Readers of v2 accept that only in the first generation. */
  if (t->gc && t->gc_generation != t->generation)
    gotrace__gc_event(t, r, !t->v1 && (t->gc_seen || t->generation == 1) ? GOTRACE_V2_GC_ACTIVE : GOTRACE_V2_GC_BEGIN,
                      0);
  if (t->old_task_count && t->options.version >= GOTRACE_GO_1_11) gotrace__write_old_tasks(t, r);
}

/* Regions. */

GOTRACE__FN gotrace__model_region *gotrace__region_at(gotrace__model_go *g, unsigned depth) {
  return &g->regions[(g->region_first + depth) & (g->region_capacity - 1u)];
}

GOTRACE__FN bool gotrace__same_string(gotrace__transcriber *t, uint32_t a, uint32_t b) {
  const gotrace__row *first, *second;
  if (GOTRACE__LIKELY(a == b)) return true;
  if (!((a ^ b) & GOTRACE__OWN)) return false; /* a table has each string once */
  first = gotrace__row_of(t, t->strings, a);
  second = gotrace__row_of(t, t->strings, b);
  return first && second && first->entry->size == second->entry->size &&
         memcmp(first->entry + 1, second->entry + 1, first->entry->size) == 0;
}

/* Adds a region as the innermost. Beyond GOTRACE__REGION_DEPTH the outermost is forgotten. */
GOTRACE__FN void gotrace__push(gotrace__transcriber *t, gotrace__model_go *g, uint64_t task, uint32_t name) {
  gotrace__model_region *region;
  if (g->region_depth == g->region_capacity && g->region_capacity < GOTRACE__REGION_DEPTH) {
    unsigned larger = g->region_capacity ? 2u * g->region_capacity : 4, i;
    gotrace__model_region *regions = (gotrace__model_region *)gotrace__model_allocate(t, larger * sizeof *regions);
    for (i = 0; regions && i < g->region_depth; i++) regions[i] = *gotrace__region_at(g, i);
    if (regions) {
      gotrace__release(t->options.budget, g->regions, g->region_capacity * sizeof *regions);
      g->regions = regions;
      g->region_first = 0;
      g->region_capacity = (uint16_t)larger;
    }
  }
  if (g->region_depth == g->region_capacity) {
    g->forgotten = true;
    gotrace__problem_seen(t, GOTRACE_PROBLEM_REGION_DEPTH);
    if (!g->region_capacity) return;
    g->region_first++;
    g->region_depth--;
  }
  region = gotrace__region_at(g, g->region_depth++);
  region->task = task;
  region->name = name;
}

/* After memory has run out, regions stay open: readers compare the names, and this one may be missing. */
GOTRACE__FN void gotrace__write_region_end(gotrace__transcriber *t, gotrace__source *r, uint64_t task, uint32_t name,
                                           uint32_t stack) {
  uint32_t id = gotrace__string_id(t, name, true);
  if (GOTRACE__LIKELY(!t->error)) gotrace__emit3(t, r, r->go, GOTRACE_V2_USER_REGION_END, task, id, stack);
}

/* Ends a region that need not be the innermost, or need not exist. */
GOTRACE__FN GOTRACE__COLD void gotrace__end_region_of(gotrace__transcriber *t, gotrace__source *r, uint64_t task,
                                                      uint32_t name, uint32_t stack) {
  gotrace__model_go *g = r->go;
  unsigned depth = g->region_depth;
  while (depth && !(gotrace__region_at(g, depth - 1)->task == task &&
                    gotrace__same_string(t, gotrace__region_at(g, depth - 1)->name, name)))
    depth--;
  if (depth) {
    if (depth < g->region_depth) gotrace__problem_seen(t, GOTRACE_PROBLEM_REGION_ORDER);
    while (g->region_depth >= depth) {
      const gotrace__model_region *region = gotrace__region_at(g, --g->region_depth);
      gotrace__write_region_end(t, r, region->task, region->name, stack);
    }
  } else if (!g->region_depth && !g->forgotten && (g->flags & GOTRACE__RECORD_OLD)) {
    /* Either it began before the trace, and readers accept its end, or it never began. */
    gotrace__problem_seen(t, GOTRACE_PROBLEM_REGION_OLDER);
    gotrace__write_region_end(t, r, task, name, stack);
  } else {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_REGION_NONE);
  }
}

/* The same for the innermost region. If it began before the trace, its name is not known. */
GOTRACE__FN void gotrace__end_innermost(gotrace__transcriber *t, gotrace__source *r, uint32_t stack) {
  gotrace__model_go *g = r->go;
  if (g->region_depth) {
    const gotrace__model_region *region = gotrace__region_at(g, g->region_depth - 1);
    gotrace__end_region_of(t, r, region->task, region->name, stack);
  } else {
    gotrace__problem_seen(t, g->forgotten || (g->flags & GOTRACE__RECORD_OLD) ? GOTRACE_PROBLEM_REGION_OLDER
                                                                              : GOTRACE_PROBLEM_REGION_NONE);
  }
}

/* ----------------------------------------------------------------------------------------------------- >>apply ----
 *
 * gotrace__await_... return the list on which a record waits that must come after others, or NULL: it can be applied.
 * `force`: it waits no longer. gotrace__apply_... apply it.
 */

#define GOTRACE__WAIT_FOR(condition, waiters) \
  do {                                        \
    if (condition) {                          \
      if (!force) return &(waiters);          \
      t->counters.forced++;                   \
    }                                         \
  } while (0)

/* What the thread still runs stops, and its events are written. */
GOTRACE__FN void gotrace__end_thread(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__clear_thread(t, r, GOTRACE_PROBLEM_PROC_STOP_GO, GOTRACE_STOP_PREEMPTED);
  if (r->proc) gotrace__end_proc(t, r);
  gotrace__lane_flush(t, &r->lane);
}

GOTRACE__FN inline gotrace__source **gotrace__same_id(gotrace__transcriber *t, uint64_t id) {
  return &t->by_id[id % GOTRACE__SOURCE_BUCKETS];
}

/* Lets a thread go on after those that had its id, which have ended: readers take them for one. False: one of them
 * still has records. */
GOTRACE__FN bool gotrace__follow_thread(gotrace__transcriber *t, gotrace__source *r, bool force) {
  gotrace__source *former;
  for (former = *gotrace__same_id(t, r->id); former; former = former->same) {
    if (former == r || former->id != r->id) continue;
    if (former->chunk && !former->introduced && !former->gone && former->record_tick >= r->record_tick) continue;
    if (former->chunk && !former->gone && !force) return false;
    gotrace__not_before(t, former->time);
    former->listed_go = former->listed_proc = 0;
    gotrace__restate_thread(t, former);
    gotrace__end_thread(t, former);
  }
  return true;
}

/* The thread has had its proc and goroutine, each or NULL, since before its part of the generation. */
GOTRACE__FN void gotrace__show_thread(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                      gotrace__model_proc *p, bool in_syscall) {
  if (p) {
    p->known = true;
    p->status = g && in_syscall ? GOTRACE__PROC_SYSCALL : GOTRACE__PROC_RUNNING;
    p->on = r;
    r->proc = p;
    gotrace__changed(t, &p->waiters);
  }
  if (g) {
    g->known = true;
    g->on = r;
    r->go = g;
  }
  r->generation = 0;
}

/* The first record about a goroutine that is older than the trace: it has the label, which the list of the living,
 * where a cut may have shown the goroutine, has not. */
GOTRACE__FN void gotrace__leave_list(gotrace__transcriber *t, gotrace__model_go *g, gotrace__string label) {
  if (g->listed && !g->label) gotrace__model_label(t, g, label.data, label.size);
  g->listed = false;
}
GOTRACE__FN void gotrace__begin_older(gotrace__transcriber *t, gotrace__model_go *g, uint64_t id, uint32_t entry,
                                      unsigned status, unsigned flags, gotrace__string label) {
  gotrace__go_begin(t, g, id, entry, status, flags | GOTRACE__RECORD_OLD);
  gotrace__model_label(t, g, label.data, label.size);
  gotrace__changed(t, &g->waiters); /* another thread's record with the same tick */
}

/* The thread's first record in the session: what it runs since before. If the trace cannot show that as a status any
 * more, it shows the way there. */
GOTRACE__FN void gotrace__apply_introduction(gotrace__transcriber *t, gotrace__source *r,
                                             const gotrace__record_THREAD *record) {
  gotrace__model_go *g = record->go ? gotrace__go_of(t, record->go) : NULL;
  gotrace__model_proc *p = record->proc ? gotrace__proc_of(t, record->proc) : NULL;
  bool in_syscall = g && (record->flags & GOTRACE__RECORD_IN_SYSCALL);
  unsigned flags = record->flags & 7;
  unsigned status = in_syscall ? GOTRACE__SYSCALL : GOTRACE__RUNNING;
  bool known = r->introduced || r->gone; /* after its end, if malformed: the trace has events of it */
  t->counters.idle++;
  if (in_syscall && p && p->number) p = NULL; /* a thief took it while the thread wrote the record, and told first */
  if (r->go && (r->go != g || (p && r->proc != p))) gotrace__correct_listed(t, r, false);
  if (g && g->on != r) gotrace__correct_listed(t, g->on, false);
  if (p && p->on != r && p->status == GOTRACE__PROC_RUNNING) gotrace__correct_listed(t, p->on, false);
  if (g) gotrace__leave_list(t, g, r->text);
  if (p) p->listed = false;
  r->introduced = true;
  if (!r->go && !r->proc && t->generation == 1 && !known && (!p || !p->known) && (!g || !g->known)) {
    if (!p && g && !in_syscall) {
      bool used = r->own && r->own->generation == t->generation; /* by a thread before this one */
      p = gotrace__own_proc(t, r);
      if (!p) return;
      if (used) gotrace__begin_proc(t, r, p);
    }
    if (g) gotrace__begin_older(t, g, record->id, record->entry, status, flags, r->text);
    gotrace__show_thread(t, r, g, p, in_syscall);
    gotrace__restate_thread(t, r);
    return;
  }
  if (!p && r->proc && r->proc->made) p = r->proc;                       /* which the program does not know */
  if (r->proc == p && r->go == g && (!g || g->status == status)) return; /* as the list of the living said */
  t->counters.late_introductions++;
  if (r->go && r->go != g) gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);
  if (r->proc && r->proc != p && !r->go) gotrace__end_proc(t, r);
  if (p && !p->known) {
    p->known = true;
    p->status = GOTRACE__PROC_IDLE;
    gotrace__changed(t, &p->waiters);
  }
  if (p && !r->proc && p->status == GOTRACE__PROC_SYSCALL && p->on && !r->go) { /* stolen while tracing was off */
    t->counters.implied++;
    gotrace__steal(t, r, p);
  }
  if (p && !r->proc && p->status == GOTRACE__PROC_IDLE && !r->go) gotrace__begin_proc(t, r, p);
  if (g && !g->known) gotrace__begin_older(t, g, record->id, record->entry, GOTRACE__RUNNABLE, flags, r->text);
  if (g && !r->go && (g->status == GOTRACE__RUNNABLE || g->status == GOTRACE__WAITING)) {
    bool lost = !r->proc;
    if (!gotrace__need_proc(t, r)) return;
    gotrace__run_go(t, r, g, 0);
    if (in_syscall) gotrace__enter_call(t, r, 0);
    if (in_syscall && lost) gotrace__end_proc(t, r);
  } else if (g && r->go == g && g->status != status) {
    if (!in_syscall) gotrace__leave_call(t, r, false);
    else if (gotrace__need_proc(t, r)) gotrace__enter_call(t, r, 0);
  }
}

GOTRACE__FN void gotrace__apply_thread(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  uint32_t flags = record->as_THREAD.flags;
  r->plain = (flags & GOTRACE__RECORD_PLAIN) != 0;
  r->lacks = (flags & GOTRACE__RECORD_LACKS) != 0;
  gotrace__apply_introduction(t, r, &record->as_THREAD);
  if (r->proc && (flags & GOTRACE__RECORD_SWEEPS)) r->proc->sweep = true;
  if (r->proc && (flags & GOTRACE__RECORD_SCANS)) r->proc->scan = true;
}

GOTRACE__FN void gotrace__apply_thread_end(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  (void)record;
  gotrace__end_thread(t, r);
  r->introduced = r->lost_proc = r->plain = r->lacks = false;
  r->listed_go = r->listed_proc = 0;
  r->gone = true;
  gotrace__changed(t, &t->end_waiters);
  t->counters.idle++;
}

/* GO: a goroutine's state before the first record of the session about it. One that runs is introduced by its thread.
 */
GOTRACE__FN void gotrace__apply_go(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  const gotrace__record_GO *said = &record->as_GO;
  gotrace__model_go *g = gotrace__go_of(t, said->go);
  unsigned status = said->status == GOTRACE__WAITING ? GOTRACE__WAITING : GOTRACE__RUNNABLE;
  t->counters.idle++;
  if (!g || said->status == GOTRACE__RUNNING || said->status == GOTRACE__SYSCALL) return;
  if (g->known && g->listed) { /* as a cut has shown it, unless a call has changed that while tracing was off */
    gotrace__leave_list(t, g, r->text);
    if (g->number) return; /* a later record has been applied: this one was behind one that waited */
    gotrace__correct_listed(t, g->on, status == GOTRACE__WAITING);
    g->unseen_wait = status == GOTRACE__WAITING && g->status == GOTRACE__RUNNABLE;
    if (g->status != GOTRACE__WAITING || status == GOTRACE__WAITING) return;
    gotrace__restate_go(t, r, g);
    gotrace__unblock(t, r, g, 0);
  }
  if (!g->known) gotrace__begin_older(t, g, said->id, said->entry, status, said->flags & 7, r->text);
}

GOTRACE__FN void gotrace__apply_proc_start(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  if (!p->known || r->proc == p || p->status == GOTRACE__PROC_RUNNING) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_START_RUNNING);
    return;
  }
  if (r->proc) {
    if (r->proc->status == GOTRACE__PROC_SYSCALL) t->counters.implied++, r->proc->loss_unreported = true;
    else if (!r->proc->made || (r->go && !(r->go->flags & GOTRACE__RECORD_OWN)))
      gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_START_OVER);
    if (r->go && r->go->status == GOTRACE__RUNNING) gotrace__stop(t, r, GOTRACE_STOP_PREEMPTED, 0);
    gotrace__end_proc(t, r);
  }
  if (p->status == GOTRACE__PROC_SYSCALL) { /* taken without a steal */
    t->counters.implied++;
    gotrace__steal(t, r, p);
  }
  gotrace__begin_proc(t, r, p);
  r->lost_proc = p->loss_unreported = false;
}

/* PROC: a proc's state before the first record of the session about it. */
GOTRACE__FN void gotrace__apply_proc(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__model_proc *p = gotrace__proc_of(t, record->as_PROC.proc);
  unsigned status = record->as_PROC.status & 7;
  bool lost = status == GOTRACE__PROC_LOST;
  (void)r;
  if (lost) status = GOTRACE__PROC_SYSCALL;
  t->counters.idle++;
  if (!p || (p->known && !p->listed)) return;
  if (!p->known) p->status = GOTRACE__PROC_IDLE;
  p->known = true;
  p->listed = false;
  gotrace__changed(t, &p->waiters); /* another thread's record with the same tick */
  if (status != p->status) gotrace__correct_listed(t, p->on, false);
  p->sweep = (record->as_PROC.status & GOTRACE__RECORD_SWEEPS) != 0;
  p->scan = (record->as_PROC.status & GOTRACE__RECORD_SCANS) != 0;
  /* Idle here, though in a call there: its thread is silent, and a thief speaks of it. */
  p->loss_unreported = lost || (p->status == GOTRACE__PROC_IDLE && status == GOTRACE__PROC_SYSCALL);
}

GOTRACE__FN void gotrace__apply_proc_stop(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__model_proc *p = r->proc;
  (void)record;
  if (!p) {
    if (!r->lost_proc) gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_STOP_NONE);
    else t->counters.idle++;
    r->lost_proc = false;
    return;
  }
  if (!p->made) gotrace__next_proc(t, p);
  if (r->go && r->go->status == GOTRACE__RUNNING) {
    if (!(r->go->flags & GOTRACE__RECORD_OWN)) gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_STOP_GO);
    gotrace__stop(t, r, GOTRACE_STOP_PREEMPTED, 0);
  }
  gotrace__end_proc(t, r);
}

GOTRACE__FN void gotrace__apply_proc_steal(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  if (p->known && p->status == GOTRACE__PROC_SYSCALL) gotrace__steal(t, r, p);
  else if (p->loss_unreported) t->counters.idle++;
  else gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_STEAL);
  p->loss_unreported = false;
}

GOTRACE__FN void gotrace__apply_proc_destroy(gotrace__transcriber *t, gotrace__source *r, gotrace__model_proc *p) {
  (void)r;
  if (p->known && (p->status != GOTRACE__PROC_IDLE || p->sweep)) gotrace__problem_seen(t, GOTRACE_PROBLEM_PROC_DESTROY);
  else t->counters.idle++;
}

GOTRACE__FN void gotrace__apply_create(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                       const gotrace__record *record) {
  const gotrace__record_GO_CREATE *made = &record->as_GO_CREATE;
  unsigned status = made->status == GOTRACE__WAITING || made->status == GOTRACE__SYSCALL ? (unsigned)made->status
                                                                                         : (unsigned)GOTRACE__RUNNABLE;
  gotrace__correct_listed(t, g->on, false);
  if (g->known && g->status != GOTRACE__DEAD) {
    if (g->listed && !g->on && g->id == made->id) { /* its own creation was under way when the trace began */
      t->counters.late_introductions++;
      return;
    }
    if (!g->listed || g->on) { /* where the trace ends, the former goroutine's end may be missing */
      const uint32_t *on = t->options.on;
      if (t->limit == UINT64_MAX || (on && gotrace__load_relaxed(on) != t->options.session)) t->counters.stale++;
      else t->counters.malformed++;
      return;
    }
    if (!gotrace__keep_id(t, g->id)) return; /* a cut has shown the one before it as alive */
  }
  if (status == GOTRACE__SYSCALL) gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);
  gotrace__go_begin(t, g, made->id, made->entry, status, made->flags & 7u);
  if (status == GOTRACE__WAITING && t->options.version == GOTRACE_GO_1_22) {
    g->unborn = true; /* its unblock creates it */
    t->counters.idle++;
    return;
  }
  if (!t->v1 && !r->proc && status != GOTRACE__SYSCALL && !(made->flags & GOTRACE__RECORD_OWN) && !r->plain)
    gotrace__problem_seen(t, GOTRACE_PROBLEM_CREATE_NO_PROC);
  gotrace__write_creation(t, r, g, gotrace__call_stack_id(t, r));
  if (status == GOTRACE__SYSCALL) {
    g->on = r;
    r->go = g;
  }
}

GOTRACE__ALWAYS_INLINE void gotrace__start_given(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                                 const gotrace__record *record) {
  uint32_t number = record->about_go.number;
  unsigned kind = gotrace__kind_of(record);
  bool wait_end = kind == GOTRACE__REC_WAIT_END;
  if (g->known && g->status == GOTRACE__WAITING && number == g->number + 1 && !wait_end)
    gotrace__problem_seen(t, GOTRACE_PROBLEM_START_WAITING);
  gotrace__number_go(t, g, number);
  r->lacks = false;
  if (!g->known || g->status == GOTRACE__DEAD) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_START_DEAD);
    return;
  }
  if (g->status == GOTRACE__RUNNING || g->status == GOTRACE__SYSCALL) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_START_RUNNING);
    return;
  }
  gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);
  if (kind == GOTRACE__REC_THREAD_START) g->flags |= GOTRACE__RECORD_OWN;
  if (!gotrace__repair_proc(t, r, g)) return;
  gotrace__run_go(t, r, g, wait_end ? gotrace__call_stack_id(t, r) : 0);
}

/* GO_START, THREAD_START, WAIT_END; of NULL: the thread runs what the trace lacks. */
GOTRACE__ALWAYS_INLINE void gotrace__apply_start(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                                 const gotrace__record *record) {
  if (!record->about_go.go) r->lacks = true, t->counters.idle++;
  if (g) gotrace__start_given(t, r, g, record);
}

/* NEST_BEGIN, NEST_END: what runs on the thread gives way to a goroutine inside or outside it, or to none. */
GOTRACE__FN void gotrace__apply_nest(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                     const gotrace__record *record) {
  bool begin = gotrace__kind_of(record) == GOTRACE__REC_NEST_BEGIN;
  gotrace__model_go *from = r->go;
  r->plain = (begin ? record->as_NEST_BEGIN.plain : record->as_NEST_END.plain) != 0;
  r->lacks |= !record->about_go.go;
  if (!from && !g) t->counters.idle++; /* or a malformed place, which is counted */
  if (from && begin) {
    gotrace__next_go(t, from);
    if (from->status == GOTRACE__SYSCALL) {
      gotrace__problem_seen(t, GOTRACE_PROBLEM_SYSCALL_OPEN);
      gotrace__leave_call(t, r, false);
    }
    if (r->go == from && gotrace__repair_proc(t, r, from)) {
      gotrace__not_before(t, from->time);
      gotrace__stop(t, r, GOTRACE_STOP_YIELD, gotrace__stop_stack_id(t, from, gotrace__call_stack(t, r)));
    }
  } else {
    gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);
  }
  if (g) gotrace__start_given(t, r, g, record);
}

GOTRACE__ALWAYS_INLINE void gotrace__apply_unblock(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                                   const gotrace__record *record) {
  uint32_t number = record->about_go.number;
  if (!g->known || g->status != GOTRACE__WAITING || number != g->number) {
    if (g->known && GOTRACE__IS_LATER(g->number, number)) t->counters.stale++;
    else if (!g->known || g->status == GOTRACE__RUNNING || g->status == GOTRACE__SYSCALL || g->unseen_wait ||
             number == g->number + 1) /* its owner is in a call, as at the end of a wait */
      t->counters.late++;
    else gotrace__problem_seen(t, GOTRACE_PROBLEM_UNBLOCK_NOT_WAITING);
    g->unseen_wait = false;
    return;
  }
  gotrace__not_before(t, g->time);
  gotrace__restate_go(t, r, g);
  gotrace__unblock(t, r, g, gotrace__call_stack_id(t, r));
  gotrace__changed(t, &g->waiters);
}

/* GO_SWITCH, GO_SWITCH_END. */
GOTRACE__FN void gotrace__apply_switch(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                       const gotrace__record *record) {
  gotrace__model_go *from = r->go;
  bool end = gotrace__kind_of(record) == GOTRACE__REC_GO_SWITCH_END;
  bool unexplained = end || record->as_GO_SWITCH.reason == GOTRACE__SWITCH_UNEXPLAINED;
  if (from) gotrace__next_go(t, from);
  if (!from || from == g || !g->known || (g->status != GOTRACE__WAITING && g->status != GOTRACE__RUNNABLE)) {
    gotrace__problem_seen(t, from ? GOTRACE_PROBLEM_SWITCH_NOT_WAITING : GOTRACE_PROBLEM_NOT_RUNNING);
    return;
  }
  if (from->status == GOTRACE__SYSCALL) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_SYSCALL_OPEN);
    gotrace__leave_call(t, r, false);
  }
  if (r->go != from || !gotrace__repair_proc(t, r, from)) return;
  gotrace__not_before(t, g->time);
  gotrace__not_before(t, from->time);
  gotrace__restate_go(t, r, g);
  if (unexplained && !t->v1 && t->options.version >= GOTRACE_GO_1_23 && g->status == GOTRACE__WAITING &&
      g->generation == t->generation) {
    gotrace__end_stw_of(t, r);
    gotrace__emit2(t, r, g, end ? GOTRACE_V2_GO_SWITCH_DESTROY : GOTRACE_V2_GO_SWITCH, g->id, g->sequence + 1);
    if (end) gotrace__moves(t, r, from, GO_DESTROY); /* an unblock, this, and a start in one event */
    else gotrace__moves(t, r, from, GO_BLOCK);
    gotrace__moves(t, r, g, GO_START);
    gotrace__write_label(t, r, g);
    gotrace__write_state(t, r);
    return;
  }
  if (g->status == GOTRACE__BEFORE_GO_UNBLOCK) gotrace__unblock(t, r, g, gotrace__call_stack_id(t, r));
  if (end) gotrace__end_go_of(t, r);
  else
    gotrace__block_go(t, r, unexplained ? (uint32_t)GOTRACE_BLOCK_GENERIC : record->as_GO_SWITCH.reason,
                      gotrace__call_stack(t, r));
  gotrace__run_go(t, r, g, 0);
}

/* Writes that a goroutine has run for zero time and ended. One that runs on the thread yields and resumes at the same
 * time. It keeps its open ranges, including a stop-the-world. */
GOTRACE__FN void gotrace__apply_destroy(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                        const gotrace__record *record) {
  gotrace__model_go *over;
  gotrace__inside_call inside = GOTRACE__NOT_IN_CALL;
  bool lent = !r->proc;
  uint32_t stack;
  (void)record;
  if (!g->known || (g->status != GOTRACE__WAITING && g->status != GOTRACE__RUNNABLE)) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_DESTROY);
    return;
  }
  if (r->go) inside = gotrace__begin_user(t, r);
  if (inside == GOTRACE__NOT_POSSIBLE || !gotrace__need_proc(t, r)) return;
  over = r->go;
  stack = gotrace__call_stack_id(t, r);
  gotrace__not_before(t, g->time);
  if (over) gotrace__not_before(t, over->time);
  gotrace__restate_go(t, r, g);
  if (g->status == GOTRACE__BEFORE_GO_UNBLOCK) gotrace__unblock(t, r, g, stack);
  if (over) { /* not GoSwitch: viewers would show it as blocked without a reason */
    gotrace__do2(t, r, over, GO_STOP, gotrace__stop_reason(t, 1, GOTRACE_STOP_GENERIC),
                 gotrace__stop_stack_id(t, over, gotrace__call_stack(t, r)));
  }
  gotrace__model_label(t, g, "", 0);
  gotrace__start(t, r, g);
  gotrace__do0(t, r, g, GO_DESTROY);
  if (over) gotrace__run_go(t, r, over, 0);
  gotrace__end_user(t, r, inside);
  if (lent && r->proc && !r->go) gotrace__end_proc(t, r);
}

/* Records about the goroutine that the thread runs, which is in a system call where the record needs that. */
GOTRACE__ALWAYS_INLINE void gotrace__apply_running(gotrace__transcriber *t, gotrace__source *r,
                                                   const gotrace__record *record) {
  gotrace__model_go *g = r->go;
  unsigned kind = gotrace__kind_of(record);
  bool ends_call = kind == GOTRACE__REC_SYSCALL_END || kind == GOTRACE__REC_SYSCALL_END_BLOCKED ||
                   kind == GOTRACE__REC_GO_END_IN_SYSCALL;
  if (!g) {
    gotrace__no_go(t, r, ends_call ? GOTRACE_PROBLEM_SYSCALL_NONE : GOTRACE_PROBLEM_NOT_RUNNING);
    return;
  }
  gotrace__next_go(t, g);
  if (ends_call && g->status != GOTRACE__SYSCALL) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_SYSCALL_NONE);
    if (kind == GOTRACE__REC_SYSCALL_END_BLOCKED && gotrace__need_proc(t, r)) /* the thread has left it */
      gotrace__stop(t, r, GOTRACE_STOP_GENERIC, 0);
    return;
  }
  if (!ends_call && g->status == GOTRACE__SYSCALL) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_SYSCALL_OPEN);
    gotrace__leave_call(t, r, false);
  }
  if (r->go != g || (!ends_call && !gotrace__repair_proc(t, r, g))) return;
  gotrace__not_before(t, g->time);
  switch (kind) {
  case GOTRACE__REC_GO_END: gotrace__end_go_of(t, r); break;
  case GOTRACE__REC_GO_STOP:
    gotrace__stop(t, r, gotrace__valid_reason(t, record->as_GO_STOP.reason, GOTRACE_STOP_REASON_COUNT),
                  gotrace__stop_stack_id(t, g, gotrace__call_stack(t, r)));
    break;
  case GOTRACE__REC_GO_BLOCK: gotrace__block_go(t, r, record->as_GO_BLOCK.reason, gotrace__call_stack(t, r)); break;
  case GOTRACE__REC_SYSCALL_BEGIN:
    if (!r->proc->made) gotrace__next_proc(t, r->proc);
    gotrace__enter_call(t, r, gotrace__stop_stack_id(t, g, gotrace__call_stack(t, r)));
    break;
  case GOTRACE__REC_SYSCALL_END:
    if (!r->proc && !(g->flags & GOTRACE__RECORD_OWN) && !r->plain)
      gotrace__problem_seen(t, GOTRACE_PROBLEM_SYSCALL_LOST_PROC);
    gotrace__leave_call(t, r, false);
    break;
  case GOTRACE__REC_SYSCALL_END_BLOCKED: gotrace__leave_call(t, r, true); break;
  default: /* GO_END_IN_SYSCALL */
    /* A thief may have taken the proc, and report that later. */
    if (r->proc) r->proc->loss_unreported = true;
    if (t->v1) {
      gotrace__leave_call(t, r, false);
      if (r->go == g) gotrace__end_go_of(t, r);
      if (r->proc) gotrace__end_proc(t, r);
      break;
    }
    if (r->proc) gotrace__end_proc(t, r);
    gotrace__do0(t, r, g, GO_DESTROY_SYSCALL);
  }
  gotrace__changed(t, &g->waiters);
}

/* A label. v1 shows it at the next start. */
GOTRACE__FN void gotrace__relabel(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g) {
  gotrace__inside_call inside;
  gotrace__model_label(t, g, r->text.data, r->text.size);
  if (g != r->go || t->v1) {
    t->counters.idle++;
  } else if ((inside = gotrace__begin_user(t, r)) != GOTRACE__NOT_POSSIBLE) {
    gotrace__emit1(t, r, g, GOTRACE_V2_GO_LABEL, gotrace__label_id(t, g));
    gotrace__end_user(t, r, inside);
  }
}

GOTRACE__FN void gotrace__apply_label(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  (void)record;
  if (r->go) gotrace__relabel(t, r, r->go);
  else gotrace__no_go(t, r, GOTRACE_PROBLEM_NOT_RUNNING);
}

/* GO_RENAME, GO_TIMER: whether they are about the goroutine that they mean, which the thread runs, or which does not
 * run. */
GOTRACE__FN bool gotrace__may_mark(gotrace__transcriber *t, const gotrace__source *r, const gotrace__model_go *g,
                                   uint32_t number) {
  /* The thread may have waited in vain while others went on. If the goroutine has only started, it is the same one. */
  if (g->known && number + 1 != g->number && GOTRACE__IS_LATER(g->number, number)) {
    t->counters.stale++;
    return false;
  }
  if (g->known &&
      (g == r->go || g->status == GOTRACE__RUNNABLE || g->status == GOTRACE__WAITING || number != g->number))
    return true;
  gotrace__problem_seen(t, GOTRACE_PROBLEM_NOT_RUNNING);
  return false;
}
GOTRACE__FN void gotrace__apply_timer(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                      const gotrace__record *record) {
  if (!gotrace__may_mark(t, r, g, record->about_go.number)) return;
  if (!(g->flags & GOTRACE__RECORD_TIMER) && g->in_trace) gotrace__keep_timer(t, g);
  g->flags |= GOTRACE__RECORD_TIMER;
  t->counters.idle++;
}
GOTRACE__FN void gotrace__apply_rename(gotrace__transcriber *t, gotrace__source *r, gotrace__model_go *g,
                                       const gotrace__record *record) {
  if (!gotrace__may_mark(t, r, g, record->about_go.number)) return;
  if (record->as_GO_RENAME.entry) g->entry = gotrace__record_stack(record->as_GO_RENAME.entry);
  gotrace__relabel(t, r, g);
}

GOTRACE__FN void gotrace__apply_procs_change(gotrace__transcriber *t, gotrace__source *r,
                                             const gotrace__record *record) {
  gotrace__inside_call inside;
  t->procs_changed = record->as_PROCS_CHANGE.count;
  if (!r->go && !t->v1 && !t->options.replay) {
    t->globals_generation = 0; /* the number of procs is due */
    t->counters.idle++;
    return;
  }
  inside = gotrace__begin_global(t, r);
  if (inside)
    gotrace__write_procs(t, r, NULL, t->v1 ? t->procs_changed : gotrace__proc_bound(t), gotrace__call_stack_id(t, r));
  gotrace__end_global(t, r, inside);
}

GOTRACE__FN void gotrace__end_gc(gotrace__transcriber *t, gotrace__source *r) {
  if (!t->gc_seen) { /* v1: it is older than the trace, in which no goroutine has run yet */
    t->counters.idle++;
    return;
  }
  if (!t->v1 && t->gc_generation != t->generation) gotrace__gc_event(t, r, GOTRACE_V2_GC_ACTIVE, 0);
  gotrace__gc_event(t, r, GOTRACE_V2_GC_END, 0);
}

/* The state before the first call that is in the trace. A call that found tracing off may have changed it since the
 * trace began. */
GOTRACE__FN void gotrace__apply_collector(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  if (t->collector_number) {
    t->counters.malformed++;
    return;
  }
  if (t->gc && !record->as_COLLECTOR.gc) {
    gotrace__inside_call inside = gotrace__begin_global(t, r);
    if (!inside) return;
    gotrace__end_gc(t, r);
    gotrace__end_global(t, r, inside);
  } else {
    t->counters.idle++;
  }
  t->gc = record->as_COLLECTOR.gc != 0;
  t->stw = record->as_COLLECTOR.stw != 0;
}

/* GC_BEGIN, GC_END. */
GOTRACE__FN void gotrace__apply_gc(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  bool begin = gotrace__kind_of(record) == GOTRACE__REC_GC_BEGIN;
  gotrace__inside_call inside;
  if (t->gc == begin) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_GC_STATE);
    return;
  }
  inside = gotrace__begin_global(t, r); /* writes the collection first where it is older than the generation */
  if (!inside) return;
  if (begin) gotrace__gc_event(t, r, GOTRACE_V2_GC_BEGIN, gotrace__call_stack_id(t, r));
  else gotrace__end_gc(t, r);
  t->gc = begin;
  gotrace__end_global(t, r, inside);
}

GOTRACE__FN void gotrace__apply_stw_begin(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__inside_call inside;
  unsigned kind;
  if (t->stw) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_STW_STATE);
    return;
  }
  t->stw = true;
  t->stw_reason = gotrace__valid_reason(t, record->as_STW_BEGIN.reason, GOTRACE_STW_REASON_COUNT);
  kind = gotrace__reason_base(t->stw_reason);
  if (t->v1 &&
      !gotrace__has_event(t, kind == GOTRACE_STW_GC_MARK_TERM || kind == GOTRACE_STW_GC_SWEEP_TERM ? GOTRACE_GO_1_10
                                                                                                   : GOTRACE_GO_1_21))
    return;
  inside = gotrace__begin_user(t, r);
  if (inside) gotrace__stw_event(t, r, gotrace__call_stack_id(t, r));
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_stw_end(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  (void)record;
  if (!t->stw || (t->stw_go && t->stw_go != r->go)) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_STW_STATE);
    return;
  }
  if (t->stw_go && !t->stw_closed) gotrace__end_stw(t, r);
  else t->counters.idle++;
  t->stw_go = NULL;
  t->stw = t->stw_closed = false;
}

/* MARK_ASSIST_BEGIN, MARK_ASSIST_END. */
GOTRACE__FN void gotrace__apply_mark_assist(gotrace__transcriber *t, gotrace__source *r,
                                            const gotrace__record *record) {
  bool begin = gotrace__kind_of(record) == GOTRACE__REC_MARK_ASSIST_BEGIN;
  gotrace__inside_call inside;
  if (!gotrace__has_event(t, 1009)) return;
  if (!r->go) {
    gotrace__no_go(t, r, GOTRACE_PROBLEM_MARK_ASSIST_STATE);
  } else if (r->go->assist == begin) {
    if (begin || !(r->go->flags & GOTRACE__RECORD_OLD)) gotrace__problem_seen(t, GOTRACE_PROBLEM_MARK_ASSIST_STATE);
    else t->counters.idle++; /* it is older than the trace */
  } else if ((inside = gotrace__begin_user(t, r)) != GOTRACE__NOT_POSSIBLE) {
    if (begin) gotrace__emit1(t, r, r->go, GOTRACE_V2_GC_MARK_ASSIST_BEGIN, gotrace__call_stack_id(t, r));
    else gotrace__emit0(t, r, r->go, GOTRACE_V2_GC_MARK_ASSIST_END);
    r->go->assist = begin;
    gotrace__end_user(t, r, inside);
  }
}

/* Before and after what belongs to the thread's proc: false: it has none. */
GOTRACE__FN bool gotrace__begin_on_proc(gotrace__transcriber *t, gotrace__source *r, gotrace__inside_call *inside) {
  *inside = GOTRACE__NOT_IN_CALL;
  if (r->go && r->go->status == GOTRACE__SYSCALL) *inside = gotrace__begin_user(t, r);
  return *inside && gotrace__need_proc(t, r);
}

/* SWEEP_BEGIN, SWEEP_SPAN, SWEEP_END. The trace has a sweep from its first span on. */
GOTRACE__FN void gotrace__apply_sweep(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  unsigned kind = gotrace__kind_of(record);
  gotrace__inside_call inside;
  gotrace__model_proc *p;
  if (!gotrace__begin_on_proc(t, r, &inside)) return;
  p = r->proc;
  if (kind == GOTRACE__REC_SWEEP_BEGIN) {
    if (p->sweep) gotrace__problem_seen(t, GOTRACE_PROBLEM_SWEEP_STATE);
    else t->counters.idle++;
    p->sweep = true;
  } else if (kind == GOTRACE__REC_SWEEP_END) {
    if (!p->sweep) gotrace__problem_seen(t, GOTRACE_PROBLEM_SWEEP_STATE);
    else if (!p->sweep_seen) t->counters.idle++;
    if (p->sweep_seen) gotrace__emit2(t, r, NULL, GOTRACE_V2_GC_SWEEP_END, p->swept, p->reclaimed);
    p->sweep = p->sweep_seen = false;
  } else if (!p->sweep) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_SWEEP_STATE);
  } else {
    if (!p->sweep_seen) {
      gotrace__emit1(t, r, NULL, GOTRACE_V2_GC_SWEEP_BEGIN, gotrace__call_stack_id(t, r));
      p->swept = p->reclaimed = 0;
    } else {
      t->counters.idle++;
    }
    p->sweep_seen = true;
    p->swept += record->as_SWEEP_SPAN.swept;
    p->reclaimed += record->as_SWEEP_SPAN.reclaimed;
  }
  gotrace__end_user(t, r, inside);
}

/* SCAN_BEGIN, SCAN_END. */
GOTRACE__FN void gotrace__apply_scan(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  bool begin = gotrace__kind_of(record) == GOTRACE__REC_SCAN_BEGIN;
  gotrace__inside_call inside;
  gotrace__model_proc *p;
  if (t->options.version >= GOTRACE_GO_1_10) {
    gotrace__problem_seen(t, GOTRACE_PROBLEM_FORMAT_LACKS);
    return;
  }
  if (!gotrace__begin_on_proc(t, r, &inside)) return;
  p = r->proc;
  if (p->scan_seen == begin) {
    if (begin || !p->scan) gotrace__problem_seen(t, GOTRACE_PROBLEM_STW_STATE);
    else t->counters.idle++; /* it is older than the trace */
  } else {
    gotrace__put_v1(t, &p->lane, begin ? GOTRACE_V1_GC_SCAN_START : GOTRACE_V1_GC_SCAN_DONE, t->now, 0, 0, 0, 0);
    p->scan_seen = begin;
  }
  p->scan = begin;
  gotrace__end_user(t, r, inside);
}

/* The size of the heap. */
GOTRACE__FN void gotrace__apply_heap(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  bool goal = gotrace__kind_of(record) == GOTRACE__REC_HEAP_GOAL;
  uint64_t bytes = goal ? record->as_HEAP_GOAL.bytes : record->as_HEAP_ALLOC.bytes;
  bool has_proc = !t->v1 && r->proc && r->proc->status == GOTRACE__PROC_RUNNING; /* started in the system call */
  gotrace__inside_call inside = GOTRACE__NOT_IN_CALL;
  if (r->go && r->go->status == GOTRACE__SYSCALL && !has_proc) inside = gotrace__begin_user(t, r);
  if (inside && (t->v1 || gotrace__need_proc(t, r)))
    gotrace__emit1(t, r, NULL, goal ? GOTRACE_V2_HEAP_GOAL : GOTRACE_V2_HEAP_ALLOC, bytes);
  *(goal ? &t->heap_goal : &t->heap_alloc) = bytes + 1;
  gotrace__end_user(t, r, inside);
}

/* Memory in detail, see gotrace_span. Addresses are in units of one of options.heap's sizes. */
GOTRACE__FN void gotrace__apply_memory(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  const gotrace_heap_layout *heap = &t->options.heap;
  unsigned event = record->as_MEMORY.event;
  int unit = event < GOTRACE_V2_HEAP_OBJECT ? 0 : event < GOTRACE_V2_GOROUTINE_STACK ? 1 : 2;
  uint64_t offset = record->as_MEMORY.address - heap->base, bytes = record->as_MEMORY.bytes;
  uint64_t place = offset / (unit == 0 ? heap->page_size : unit == 1 ? heap->alignment : heap->stack_unit);
  uint64_t a = 0, b = record->as_MEMORY.class_or_type;
  int n = unit == 0 ? 3 : 2;
  if (t->v1 || !gotrace__has_event(t, GOTRACE_GO_1_23)) return;
  if (!t->options.alloc_events || event < GOTRACE_V2_SPAN || event > GOTRACE_V2_GOROUTINE_STACK_FREE) {
    t->counters.malformed++;
    return;
  }
  if ((event - GOTRACE_V2_SPAN) % 3 == 2) n = 1; /* ..._FREE */
  if (unit == 0) a = bytes / heap->page_size + (bytes % heap->page_size != 0);
  while (unit == 2 && a < 63 && ((uint64_t)1 << a) < bytes) a++;
  if (unit == 2) a++; /* as sys.Len64 of the size */
  if (unit == 1 && b && n > 1) {
    const gotrace_type *type = (const gotrace_type *)(uintptr_t)b;
    a = gotrace__table_put(t->types, gotrace__mix(0, (uintptr_t)type), 0, &type, sizeof type);
    if (!a) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  }
  gotrace__emit_at(t, r, NULL, NULL, event, t->now, n, place, a, b, 0);
}

/* Begins an event of the running goroutine about tasks, regions, logs; NOT_POSSIBLE: the trace cannot have it. */
GOTRACE__FN inline gotrace__inside_call gotrace__begin_annotation(gotrace__transcriber *t, gotrace__source *r) {
  gotrace__inside_call inside =
      gotrace__has_event(t, GOTRACE_GO_1_11) ? gotrace__begin_user(t, r) : GOTRACE__NOT_POSSIBLE;
  if (inside) gotrace__not_before(t, r->go->time);
  return inside;
}

/* REGION_BEGIN, REGION_END. */
GOTRACE__ALWAYS_INLINE void gotrace__apply_region(gotrace__transcriber *t, gotrace__source *r,
                                                  const gotrace__record *record) {
  gotrace__inside_call inside = gotrace__begin_annotation(t, r);
  gotrace__model_go *g = r->go;
  uint64_t task = r->said.task;
  uint32_t name, stack;
  if (!inside) return;
  name = gotrace__call_name(t, r);
  stack = gotrace__call_stack_id(t, r);
  if (gotrace__kind_of(record) == GOTRACE__REC_REGION_BEGIN) {
    gotrace__push(t, g, task, name);
    gotrace__emit3(t, r, g, GOTRACE_V2_USER_REGION_BEGIN, task, gotrace__string_id(t, name, true), stack);
  } else if (GOTRACE__LIKELY(g->region_depth && gotrace__region_at(g, g->region_depth - 1u)->task == task &&
                             gotrace__region_at(g, g->region_depth - 1u)->name == name)) {
    g->region_depth--;
    gotrace__write_region_end(t, r, task, name, stack);
  } else {
    gotrace__end_region_of(t, r, task, name, stack);
  }
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_region_pop(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__inside_call inside = gotrace__begin_annotation(t, r);
  (void)record;
  if (!inside) return;
  gotrace__end_innermost(t, r, gotrace__call_stack_id(t, r));
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_task_begin(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__inside_call inside = gotrace__begin_annotation(t, r);
  uint64_t id = record->as_TASK_BEGIN.task;
  gotrace__keyed_value *task = NULL;
  uint32_t name, stack;
  if (!inside) return;
  name = gotrace__call_name(t, r);
  stack = gotrace__call_stack_id(t, r);
  if (!id || id == UINT64_MAX ||
      (!t->options.replay && (id < t->options.first_task || !gotrace__id_add(t, &t->task_ids, id))))
    t->counters.malformed++; /* readers reject a task that begins twice */
  else task = gotrace__task_at(t, id, true);
  if (task) {
    gotrace__emit4(t, r, r->go, GOTRACE_V2_USER_TASK_BEGIN, id, record->as_TASK_BEGIN.parent,
                   gotrace__string_id(t, name, true), stack);
    task->on = r;
    task->value = t->now;
    gotrace__changed(t, &t->task_waiters);
  }
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_task_end(gotrace__transcriber *t, gotrace__source *r, gotrace__keyed_value *task,
                                         const gotrace__record *record) {
  gotrace__inside_call inside;
  if (task && task->on != r) gotrace__push_time(t, task->value + 1); /* readers order them by time alone */
  inside = gotrace__begin_annotation(t, r);
  if (!inside) return;
  gotrace__emit2(t, r, r->go, GOTRACE_V2_USER_TASK_END, record->as_TASK_END.task, gotrace__call_stack_id(t, r));
  if (task) task->key = UINT64_MAX;
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_log(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  gotrace__inside_call inside = gotrace__begin_annotation(t, r);
  gotrace__string text = r->text;
  uint64_t task = r->said.task;
  uint32_t name, stack, kept, key;
  (void)record;
  if (!inside) return;
  name = gotrace__call_name(t, r);
  stack = gotrace__call_stack_id(t, r);
  kept = gotrace__kept_size(t, text.data, text.size);
  key = gotrace__string_id(t, name, true);
  if (!t->v1) {
    uint32_t value = kept ? gotrace__write_text(t, text.data, kept, false) : 0;
    gotrace__emit4(t, r, r->go, GOTRACE_V2_USER_LOG, task, key, value, stack);
  } else { /* the text follows the event, and is not included in its length */
    gotrace__lane *lane = gotrace__lane_of(t, r);
    uint64_t time = t->now < lane->time ? lane->time : t->now;
    const uint64_t a[] = {task, key, stack};
    uint8_t *at;
    gotrace__lane_at(t, lane, GOTRACE__EVENT_ROOM + kept + 2, time); /* room for both */
    gotrace__put_event(t, lane, GOTRACE_V1_USER_LOG, time, 3, a);
    at = gotrace__put_varint(lane->at, kept);
    if (kept) memcpy(at, text.data, kept);
    lane->at = at + kept;
    r->go->time = t->now = time;
  }
  gotrace__end_user(t, r, inside);
}

GOTRACE__FN void gotrace__apply_problem(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record) {
  (void)r;
  if (record->as_PROBLEM.problem < GOTRACE_PROBLEM_COUNT)
    gotrace__problem_seen(t, (gotrace_problem)record->as_PROBLEM.problem);
  else t->counters.malformed++;
}

/* What a record waits for, and whom it is about, by its ORDER. */

/* A transition of a goroutine that the trace knows, and its number. */
GOTRACE__ALWAYS_INLINE gotrace__waiters *gotrace__await_go(gotrace__transcriber *t, gotrace__model_go *g,
                                                           uint32_t number, bool known, bool force) {
  GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, g->number + 1) || (known && !g->known), g->waiters);
  return NULL;
}
/* A start, for the unblock too. */
GOTRACE__ALWAYS_INLINE gotrace__waiters *gotrace__await_start(gotrace__transcriber *t, const gotrace__source *r,
                                                              gotrace__model_go *g, uint32_t number, bool force) {
  gotrace__waiters *waiters = gotrace__await_go(t, g, number, true, force);
  if (waiters || !g->known || g->status != GOTRACE__WAITING || number != g->number + 1) return waiters;
  return !force && (!r->later || t->waiting) ? &g->waiters : NULL;
}
/* What is said of a goroutine without a transition. */
GOTRACE__FN gotrace__waiters *gotrace__await_mark(gotrace__transcriber *t, gotrace__model_go *g, uint32_t number,
                                                  bool force) {
  GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, g->number) || !g->known, g->waiters);
  return NULL;
}
GOTRACE__FN gotrace__waiters *gotrace__await_proc(gotrace__transcriber *t, gotrace__model_proc *p, uint32_t number,
                                                  bool force) {
  GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, p->number + 1) || !p->known, p->waiters);
  return NULL;
}
/* The end of a proc. The end of a system call may have made it idle, and waits for a steal. */
GOTRACE__FN gotrace__waiters *gotrace__await_last(gotrace__transcriber *t, gotrace__model_proc *p, uint32_t number,
                                                  bool force) {
  if (p->loss_unreported) gotrace__correct_listed(t, p->on, false); /* lost in a call under way when the trace began */
  GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, p->number + 1) || p->status == GOTRACE__PROC_SYSCALL, p->waiters);
  return NULL;
}
/* The end of a task of this session. */
GOTRACE__FN gotrace__waiters *gotrace__await_open(gotrace__transcriber *t, const gotrace__keyed_value *task,
                                                  uint64_t id, bool force) {
  bool known = task || !gotrace__has_event(t, GOTRACE_GO_1_11);
  GOTRACE__WAIT_FOR(!known && id >= t->options.first_task && !(id & GOTRACE__TASK_SILENT), t->task_waiters);
  return NULL;
}
GOTRACE__FN gotrace__waiters *gotrace__await_collected(gotrace__transcriber *t, uint32_t number, bool force) {
  GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, t->collector_number + 1), t->collector_waiters);
  if (GOTRACE__IS_LATER(number, t->collector_number)) t->collector_number = number;
  gotrace__changed(t, &t->collector_waiters);
  return NULL;
}

/* Applies a record, once it may be. Returns the list on which it waits, or NULL. */
#define GOTRACE__APPLY_NONE(handler) gotrace__apply_##handler(t, r, record)
#define GOTRACE__APPLY_SAID(handler) t->counters.malformed++ /* it is followed by no other */
#define GOTRACE__APPLY_FORMER(handler)                                                \
  if (!r->introduced && !gotrace__follow_thread(t, r, force)) return &t->end_waiters; \
  gotrace__apply_##handler(t, r, record)
/* A steal comes before the end of the call, if there is one. Otherwise the proc would be idle only from here on, and
 * all that ran on it since the steal would be shown later than it was. */
#define GOTRACE__APPLY_TAKEN(handler)                                                                   \
  if (r->go && r->proc && r->proc->status == GOTRACE__PROC_SYSCALL && !force) return &r->proc->waiters; \
  gotrace__apply_##handler(t, r, record)
#define GOTRACE__APPLY_TO_GO(handler, awaited, counts)             \
  do {                                                             \
    uint32_t number = record->about_go.number;                     \
    gotrace__model_go *g = gotrace__go_of(t, record->about_go.go); \
    gotrace__waiters *waiters = g ? (awaited) : NULL;              \
    if (waiters) return waiters;                                   \
    if (g && (counts)) gotrace__number_go(t, g, number);           \
    if (g) gotrace__apply_##handler(t, r, g, record);              \
  } while (0)
#define GOTRACE__APPLY_BIRTH(handler) GOTRACE__APPLY_TO_GO(handler, gotrace__await_go(t, g, number, false, force), true)
#define GOTRACE__APPLY_NEXT(handler) GOTRACE__APPLY_TO_GO(handler, gotrace__await_go(t, g, number, true, force), true)
#define GOTRACE__APPLY_MARK(handler) GOTRACE__APPLY_TO_GO(handler, gotrace__await_mark(t, g, number, force), false)
#define GOTRACE__APPLY_WAKE(handler)                                                                                \
  GOTRACE__APPLY_TO_GO(handler, (GOTRACE__IS_LATER(number, g->number) || !g->known) && !force ? &g->waiters : NULL, \
                       false)
#define GOTRACE__APPLY_START(handler) /* of NULL too */                                                   \
  do {                                                                                                    \
    gotrace__model_go *g = record->about_go.go ? gotrace__go_of(t, record->about_go.go) : NULL;           \
    gotrace__waiters *waiters = g ? gotrace__await_start(t, r, g, record->about_go.number, force) : NULL; \
    if (waiters) return waiters;                                                                          \
    gotrace__apply_##handler(t, r, g, record);                                                            \
  } while (0)
#define GOTRACE__APPLY_TO_PROC(handler, await)                                            \
  do {                                                                                    \
    gotrace__model_proc *p = gotrace__proc_of(t, record->about_proc.proc);                \
    gotrace__waiters *waiters = p ? await(t, p, record->about_proc.number, force) : NULL; \
    if (waiters) return waiters;                                                          \
    if (p) gotrace__number_proc(t, p, record->about_proc.number);                         \
    if (p) gotrace__apply_##handler(t, r, p);                                             \
  } while (0)
#define GOTRACE__APPLY_PROC(handler) GOTRACE__APPLY_TO_PROC(handler, gotrace__await_proc)
#define GOTRACE__APPLY_LAST(handler) GOTRACE__APPLY_TO_PROC(handler, gotrace__await_last)
#define GOTRACE__APPLY_OPEN(handler)                                                                             \
  do {                                                                                                           \
    uint64_t id = record->as_TASK_END.task;                                                                      \
    gotrace__keyed_value *task = gotrace__has_event(t, GOTRACE_GO_1_11) ? gotrace__task_at(t, id, false) : NULL; \
    gotrace__waiters *waiters = gotrace__await_open(t, task, id, force);                                         \
    if (waiters) return waiters;                                                                                 \
    gotrace__apply_##handler(t, r, task, record);                                                                \
  } while (0)
#define GOTRACE__APPLY_COLLECTED(handler)                                                           \
  do {                                                                                              \
    gotrace__waiters *waiters = gotrace__await_collected(t, record->about_collector.number, force); \
    if (waiters) return waiters;                                                                    \
    gotrace__apply_##handler(t, r, record);                                                         \
  } while (0)

GOTRACE__FN gotrace__waiters *gotrace__apply(gotrace__transcriber *t, gotrace__source *r, const gotrace__record *record,
                                             bool force) {
  switch (gotrace__kind_of(record)) {
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) \
  case GOTRACE__REC_##NAME: GOTRACE__APPLY_##ORDER(handler); break;
    GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------- >>rounds ---- */

/* Ticks as units. Signed, since processors convert these faster. */
GOTRACE__FN inline uint64_t gotrace__units(const gotrace__transcriber *t, uint64_t ticks) {
  return (uint64_t)(int64_t)((double)(int64_t)ticks * t->units_per_tick);
}

/* The time of a tick in a round in which the counter has jumped: as long after the round's beginning, or before its
 * end, as the counter's rate says, so that all of the jump is in one gap. */
GOTRACE__FN GOTRACE__NOINLINE uint64_t gotrace__unit_at_jump(const gotrace__transcriber *t, uint64_t tick) {
  uint64_t before = UINT64_MAX, after = UINT64_MAX;
  if (tick >= t->from_tick && tick - t->from_tick < INT64_MAX) before = gotrace__units(t, tick - t->from_tick);
  if (tick <= t->to_tick && t->to_tick - tick < INT64_MAX) after = gotrace__units(t, t->to_tick - tick);
  if (before <= t->to_unit - t->from_unit) return t->from_unit + before;
  return after < t->to_unit - t->from_unit ? t->to_unit - after : t->from_unit;
}

/* The time of a tick: between the beginning and the end of the round. */
GOTRACE__FN GOTRACE__NOINLINE uint64_t gotrace__unit_clamped(gotrace__transcriber *t, uint64_t tick) {
  uint64_t unit;
  if (t->jumped) return gotrace__unit_at_jump(t, tick);
  if (tick <= t->from_tick) {
    t->counters.clamped += tick < t->from_tick;
    return t->from_unit;
  }
  if (tick > t->to_tick && tick - t->to_tick >= GOTRACE__FAR) return t->to_unit; /* any number, if malformed */
  unit = t->from_unit + gotrace__units(t, tick - t->from_tick);
  return unit < t->to_unit ? unit : t->to_unit;
}
GOTRACE__FN inline uint64_t gotrace__unit_of(gotrace__transcriber *t, uint64_t tick) {
  uint64_t ticks = tick - t->from_tick;
  if (GOTRACE__UNLIKELY(ticks - 1 >= t->steady_ticks)) return gotrace__unit_clamped(t, tick);
  return t->from_unit + gotrace__units(t, ticks);
}

/* How many bytes of its chunk have been applied. */
GOTRACE__FN uint32_t gotrace__read_at(const gotrace__source *r) {
  return r->at ? (uint32_t)(r->at - gotrace__chunk_data(r->chunk)) : 0;
}

/* Notes up to where the thread has published (O1). The link is read before the size: the thread stores the size of a
 * chunk for the last time before it links the next. */
GOTRACE__FN void gotrace__look_at(gotrace__source *r) {
  gotrace__record_chunk *next;
  if (!r->chunk) return;
  if (!r->known) {
    r->known = r->chunk;
    r->at = r->end = gotrace__chunk_data(r->chunk);
    r->tick = r->chunk->tick;
  }
  while ((next = gotrace__load_acquire(&r->known->next)) != NULL) r->known = next;
  r->known_size = gotrace__load_acquire(&r->known->size);
}

#ifndef GOTRACE__RECORD_APPLIED
#define GOTRACE__RECORD_APPLIED(t, record) ((void)0) /* for tests */
#endif

/* Has the goroutines of the next records fetched into the cache, and makes the thread's piece end after these records.
 * A program with many goroutines waits for little else. */
#ifndef GOTRACE__MANY_GOS
#define GOTRACE__MANY_GOS 16384
#endif
GOTRACE__FN GOTRACE__NOINLINE void gotrace__look_ahead(const gotrace__transcriber *t, gotrace__source *r) {
  static const bool about_go[GOTRACE__RECORD_KINDS] = {false,
#define GOTRACE__RECORD(NAME, ORDER, handler, TEXT, fields) GOTRACE__ABOUT_##ORDER == GOTRACE__OF_GO,
                                                       GOTRACE__RECORDS(GOTRACE__RECORD, )
#undef GOTRACE__RECORD
  };
  const uint8_t *at = r->at;
  uint64_t places[65];
  unsigned i, count = 0;
  places[0] = 0;
  for (i = 0; i < 64 && at && at < r->end; i++) {
    const gotrace__record *record = (const gotrace__record *)(const void *)at;
    gotrace__string text;
    at = gotrace__record_end(at, r->end, &text);
    if (!at || !about_go[gotrace__kind_of(record)]) continue;
    if (record->about_go.go - 1u < t->go_places && places[count] != record->about_go.go)
      places[++count] = record->about_go.go;
  }
  for (i = 1; i <= count; i++) GOTRACE__PREFETCH(gotrace__go_at(t, places[i]));
  if (at) r->end = at;
}

/* Takes up what a record says of the next one; false: it is malformed. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__take_said(gotrace__source *r, const gotrace__record *record) {
  gotrace__said *said = &r->said;
  said->any = true;
  switch (gotrace__kind_of(record)) {
  case GOTRACE__REC_TIME: said->ticks = record->as_TIME.ticks; return said->ticks <= UINT64_MAX / 2;
  case GOTRACE__REC_STACK:
    said->stack = record->as_STACK.stack;
    said->has_stack = true;
    return true;
  case GOTRACE__REC_NAME:
    said->name = r->text;
    said->has_name = true;
    return true;
  case GOTRACE__REC_OF_TASK: said->task = record->as_OF_TASK.task; return true;
  default: r->site = (uintptr_t)record->as_SITE.site; return true; /* SITE */
  }
}
GOTRACE__FN inline void gotrace__forget_said(gotrace__source *r) {
  static const gotrace__said nothing = {0, 0, {NULL, 0}, 0, false, false, false, NULL};
  if (GOTRACE__UNLIKELY(r->said.any)) r->said = nothing;
}

/* Finds the chunk with the thread's next record; false: there is none in this round. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__next_chunk(gotrace__transcriber *t, gotrace__source *r) {
  while (r->chunk) {
    gotrace__record_chunk *done = r->chunk;
    r->end = gotrace__chunk_data(done) + (done == r->known ? r->known_size : gotrace__load_acquire(&done->size));
    if (done->session != t->options.session) r->at = r->end;
    if (r->at < r->end) {
      if (t->go_places > GOTRACE__MANY_GOS) gotrace__look_ahead(t, r);
      return true;
    }
    if (done == r->known) return false;
    r->chunk = gotrace__load_acquire(&done->next);
    r->at = r->end = gotrace__chunk_data(r->chunk);
    gotrace__forget_said(r);
    if (t->options.chunk_done) t->options.chunk_done(t->options.context, done);
    r->tick = r->chunk->tick; /* that of its last record, unless the counter has jumped back */
  }
  return false;
}

/* Reads the thread's next record, which may be later than this round; false: there is none. */
GOTRACE__ALWAYS_INLINE bool gotrace__peek(gotrace__transcriber *t, gotrace__source *r) {
  while (GOTRACE__LIKELY(r->at < r->end) || gotrace__next_chunk(t, r)) {
    const gotrace__record *record = (const gotrace__record *)(const void *)r->at;
    const uint8_t *end = gotrace__record_end(r->at, r->end, &r->text);
    if (GOTRACE__LIKELY(end && gotrace__kind_of(record) >= GOTRACE__FIRST_APPLIED)) {
      r->record = record;
      r->record_end = end;
      r->record_tick = r->tick + gotrace__ticks_of(record) + r->said.ticks;
      return true;
    }
    if (GOTRACE__LIKELY(end && gotrace__take_said(r, record))) {
      r->at = end;
      continue;
    }
    t->counters.malformed++;
    r->at = r->end; /* nothing after it can be found */
    gotrace__forget_said(r);
  }
  return false;
}

/* The thread's next record is applied at this time, not before its last one. */
GOTRACE__FN inline void gotrace__set_time(gotrace__transcriber *t, gotrace__source *r, uint64_t time) {
  t->now = r->time;
  gotrace__not_before(t, time);
  t->given = time;
  if (GOTRACE__UNLIKELY(t->now <= t->pushed.time)) gotrace__after_push(t, r);
}

/* The same if the record before was another thread's. A caller that has records of all threads in the order in which
 * they happened, as from a trace that has been read, needs no rounds: it calls this function, sets the thread's
 * `record`, `text` and `said`, and calls gotrace__apply with `force`. */
GOTRACE__FN inline void gotrace__turn_to(gotrace__transcriber *t, gotrace__source *r, uint64_t time) {
  t->current = r;
  gotrace__set_time(t, r, time);
  if (GOTRACE__UNLIKELY(r->generation != t->generation)) gotrace__restate_thread(t, r);
}

/* Whether the thread's next record is the next of all. Surely if its tick is below t->until. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__goes_on(const gotrace__transcriber *t, const gotrace__source *r) {
  return !t->full && r->record_tick <= t->limit && (!t->heap_count || r->record_tick <= t->heap[0]->turn);
}

/* Applies the record that has been read, and those after it that are earlier than all other threads'. `force`: the
 * first does not wait. */
GOTRACE__FN void gotrace__consume(gotrace__transcriber *t, gotrace__source *r, bool force) {
  t->until = t->full ? 0 : t->heap_count && t->heap[0]->turn < t->limit ? t->heap[0]->turn : t->limit;
  gotrace__turn_to(t, r, gotrace__unit_of(t, r->record_tick));
  for (;;) {
    gotrace__waiters *waiters = gotrace__apply(t, r, r->record, force);
    if (waiters && gotrace__kind_of(r->record) == GOTRACE__REC_WAIT_END &&
        !r->later) { /* a wake-up has a tick up to this one's */
      r->later = true;
      gotrace__enqueue(t, r);
      return;
    }
    if (waiters) {
      r->waits_on = waiters;
      r->link = waiters->first;
      waiters->first = r;
      t->waiting++;
      return;
    }
    r->later = false;
    GOTRACE__RECORD_APPLIED(t, r->record);
    t->counters.records++;
    r->time = t->now;
    r->tick = r->record_tick;
    r->at = r->record_end;
    gotrace__forget_said(r);
    force = false;
    if (!gotrace__peek(t, r)) return;
    if (r->record_tick >= t->until && !gotrace__goes_on(t, r)) break;
    gotrace__set_time(t, r, gotrace__unit_of(t, r->record_tick));
  }
  if (r->record_tick <= t->limit) gotrace__enqueue(t, r);
}

/* Whether a record of a correct program may wait for one that does not exist, or comes later: the end of a wait for a
 * wake-up, the end of a system call for a steal. */
GOTRACE__FN inline bool gotrace__waits_in_vain(const gotrace__record *record) {
  unsigned kind = gotrace__kind_of(record);
  return kind == GOTRACE__REC_WAIT_END || kind == GOTRACE__REC_SYSCALL_END_BLOCKED;
}

/* All threads wait. Whether thread a's record is applied before b's (O2): first those that may wait in vain; all other
 * records of a correct program are for ones that come after these. Last, a thread that waits until another has ended.
 * Else the smaller tick. */
GOTRACE__FN bool gotrace__is_forced_before(const gotrace__source *a, const gotrace__source *b) {
  int late = gotrace__kind_of(a->record) == GOTRACE__REC_THREAD, early = gotrace__waits_in_vain(a->record);
  late -= gotrace__kind_of(b->record) == GOTRACE__REC_THREAD;
  early -= gotrace__waits_in_vain(b->record);
  return late != 0 ? late < 0 : early != 0 ? early > 0 : a->record_tick < b->record_tick;
}

/* Takes the waiting thread whose record is to be applied off its list; NULL: none is to be. Near the end of the round,
 * what a record waits for may be in the next one, since the clocks of two cores may differ. */
GOTRACE__FN gotrace__source *gotrace__first_waiting(gotrace__transcriber *t) {
  gotrace__source *r, *first = NULL, **link;
  for (r = t->sources; r; r = r->next)
    if (r->waits_on && r->record_tick <= t->limit && (!first || gotrace__is_forced_before(r, first))) first = r;
  if (!first || (t->limit != UINT64_MAX && first->record_tick + GOTRACE__CLOCK_SKEW > t->limit)) return NULL;
  for (link = &first->waits_on->first; *link != first; link = &(*link)->link) continue;
  *link = first->link;
  first->waits_on = NULL;
  t->waiting--;
  return first;
}

/* v1: the first events of the trace. Go 1.23 and later take goroutines created before the first Gomaxprocs for older
 * than the trace, and their viewers fail if one has run since time 0. They keep only the second Gomaxprocs, which their
 * page of mutator utilization needs. */
GOTRACE__FN void gotrace__write_first(gotrace__transcriber *t) {
  const uint64_t count[] = {gotrace__proc_bound(t), 0};
  unsigned i;
  t->procs_written = count[0];
  for (i = 0; i < 2; i++) gotrace__put_event(t, &t->string_lane, GOTRACE_V1_GOMAXPROCS, t->string_lane.time, 2, count);
}

/* Writes the next CPU sample (write), and waits for the one after it. */
GOTRACE__FN void gotrace__next_sample(gotrace__transcriber *t, bool write) {
  if (!t->options.sample || t->options.version < GOTRACE_GO_1_19) return;
  t->sampler.record_tick = t->options.sample(t->options.context, t, write);
  if (t->sampler.record_tick != UINT64_MAX && t->sampler.record_tick <= t->limit) gotrace__enqueue(t, &t->sampler);
}

/* The trace is full. It is a consistent cut when the threads that have waited have come as far as the others. */
GOTRACE__FN void gotrace__limit_round(gotrace__transcriber *t) {
  const gotrace__source *r;
  uint64_t last = 0;
  for (r = t->sources; r; r = r->next)
    if ((r->introduced || r->gone) && r->tick > last) last = r->tick;
  if (last < t->limit) t->limit = last;
}

/* Applies the records of the round, in the order of their ticks as far as possible. */
GOTRACE__FN void gotrace__apply_all(gotrace__transcriber *t) {
  gotrace__source *r;
  bool full = false;
  if (t->v1 && !t->generation_used) gotrace__write_first(t);
  if (t->full) return;
  gotrace__next_sample(t, false);
  for (r = t->sources; r; r = r->next)
    if (gotrace__peek(t, r) && r->record_tick <= t->limit) gotrace__enqueue(t, r);
  for (;;) {
    if (t->full && !full) gotrace__limit_round(t);
    full = t->full;
    r = gotrace__dequeue(t);
    if (r && full && r->record_tick > t->limit) continue;
    if (r == &t->sampler) {
      gotrace__next_sample(t, true);
    } else if (r) {
      gotrace__consume(t, r, false);
    } else {
      r = gotrace__first_waiting(t);
      if (!r) break;
      gotrace__consume(t, r, true);
    }
  }
  for (r = t->sources; r; r = r->next) {
    if (r->waits_on) r->waits_on->first = NULL;
    r->waits_on = NULL;
    r->later = false;
  }
  t->waiting = 0;
}

/* Whether the counter has jumped since the last round, or has another rate: the clocks differ from what its rate so far
 * says by more than a delay between reading the two explains. Then units_per_tick keeps that rate. */
#define GOTRACE__JUMP 2000000 /* nanoseconds */
GOTRACE__FN bool gotrace__has_jumped(gotrace__transcriber *t, uint64_t tick, uint64_t unit) {
  uint64_t ticks = t->to_tick - t->steady_tick, units = t->to_unit - t->steady_unit, expected, passed;
  uint64_t delay = GOTRACE__JUMP / t->options.unit;
  bool jumped = tick < t->to_tick;
  if (ticks && units > 16 * delay) {
    t->units_per_tick = (double)units / (double)ticks;
    passed = unit - t->to_unit;
    expected = !jumped && tick - t->to_tick < INT64_MAX ? gotrace__units(t, tick - t->to_tick) : UINT64_MAX;
    if ((expected < passed ? passed - expected : expected - passed) > delay + passed / 64) jumped = true;
  }
  if (!jumped) return false;
  t->counters.jumps++;
  t->steady_tick = tick;
  t->steady_unit = unit;
  return true;
}

/* Whether more bytes than these, about, are unread up to this tick. Of a chunk that goes on after it, the share of its
 * time counts: if all of it did, the rounds of many threads would be too short to be worth what each costs. Stops as
 * soon as it knows, since a starved transcriber has many chunks, and asks this several times a round. */
GOTRACE__FN bool gotrace__is_more(const gotrace__transcriber *t, uint64_t tick, uint64_t bytes) {
  const gotrace__source *r;
  uint64_t unread = 0;
  for (r = t->sources; r && unread <= bytes; r = r->next) {
    const gotrace__record_chunk *chunk = r->chunk;
    uint64_t from = r->tick;
    uint32_t at = gotrace__read_at(r);
    while (chunk && unread <= bytes && from <= tick) {
      const gotrace__record_chunk *next = chunk == r->known ? NULL : gotrace__load_acquire(&chunk->next);
      uint64_t to = next ? next->tick : t->clocks.tick,
               size = next ? gotrace__load_acquire(&chunk->size) : r->known_size;
      unread += to <= tick ? size - at : (uint64_t)((double)(size - at) * (double)(tick - from) / (double)(to - from));
      from = to;
      chunk = next;
      at = 0;
    }
  }
  return unread > bytes;
}

/* Begins a round that ends at the given clocks; except for the last, somewhat before, since the clocks of two cores may
 * differ. Returns whether it ends earlier, since a generation with all that has been recorded would be too large. */
#ifndef GOTRACE__LEAST_ROUND
#define GOTRACE__LEAST_ROUND 1024 /* ticks */
#endif
GOTRACE__FN bool gotrace__begin_round(gotrace__transcriber *t, const gotrace__clocks *clocks, bool last) {
  uint64_t since = clocks->nanoseconds > t->start_nanoseconds ? clocks->nanoseconds - t->start_nanoseconds : 0;
  uint64_t unit = since / t->options.unit + 1, ticks, all;
  if (unit < t->to_unit) unit = t->to_unit;
  t->jumped = gotrace__has_jumped(t, clocks->tick, unit);
  t->from_tick = t->to_tick;
  t->from_unit = t->to_unit;
  t->to_tick = clocks->tick;
  t->to_unit = unit;
  t->clocks = *clocks;
  t->limit = UINT64_MAX; /* after a jump, nothing is too late for this round */
  if (t->jumped) return false;
  all = clocks->tick - t->from_tick;
  t->units_per_tick = all ? (double)(unit - t->from_unit) / (double)all : 0;
  if (!last) all = all > GOTRACE__CLOCK_SKEW ? all - GOTRACE__CLOCK_SKEW : 0;
  ticks = all;
  while (ticks >= 2 * GOTRACE__LEAST_ROUND && !t->full &&
         gotrace__is_more(t, t->from_tick + ticks, t->options.cut_bytes / 2))
    ticks /= 2;
  if (last && ticks == all) return false;
  t->limit = t->to_tick = t->from_tick + ticks;
  t->to_unit = t->from_unit + gotrace__units(t, ticks);
  return ticks < all;
}

/* ----------------------------------------------------------------------------------------------- >>generations ---- */

/* v2: a batch that the lanes do not hold: of the clocks, or of an experiment. */
GOTRACE__FN void gotrace__write_batch(gotrace__transcriber *t, unsigned kind, unsigned experiment, uint64_t thread,
                                      uint64_t time, const uint8_t *body, size_t size) {
  const uint64_t batch[] = {t->generation, thread, time, size};
  uint8_t head[GOTRACE__LANE_HEAD], *at = head;
  if (!t->synced) gotrace__write_sync(t);
  *at++ = (uint8_t)kind;
  if (kind == GOTRACE_V2_EXPERIMENTAL_BATCH) *at++ = (uint8_t)experiment;
  at = gotrace__put_varints(at, batch, 4);
  t->kinds[kind]++;
  gotrace__transcribe_write(t, head, (size_t)(at - head));
  gotrace__transcribe_write(t, body, size);
}

/* v2: the beginning of a generation: the rate and the time of the clocks, the encoding of addresses. Go: traceReadSync.
 */
GOTRACE__FN void gotrace__write_sync(gotrace__transcriber *t) {
  uint8_t body[8 * GOTRACE_BYTES_PER_NUMBER], *at = body;
  const gotrace__clocks *clocks = &t->generation_clocks;
  const gotrace_heap_layout *heap = &t->options.heap;
  const uint64_t snapshot[] = {0, clocks->nanoseconds, clocks->wall_seconds, clocks->wall_nanoseconds};
  const uint64_t units[] = {heap->base, heap->page_size, heap->alignment, heap->stack_unit};
  t->synced = true;
  if (t->options.version >= GOTRACE_GO_1_25) *at++ = GOTRACE_V2_SYNC, t->kinds[GOTRACE_V2_SYNC]++;
  *at++ = GOTRACE_V2_FREQUENCY;
  at = gotrace__put_varint(at, 1000000000u / t->options.unit);
  t->kinds[GOTRACE_V2_FREQUENCY]++;
  if (t->options.version >= GOTRACE_GO_1_25) {
    *at++ = GOTRACE_V2_CLOCK_SNAPSHOT;
    at = gotrace__put_varints(at, snapshot, 4);
    t->kinds[GOTRACE_V2_CLOCK_SNAPSHOT]++;
  }
  gotrace__write_batch(t, GOTRACE_V2_EVENT_BATCH, 0, GOTRACE__NO_THREAD, t->generation_time, body, (size_t)(at - body));
  if (!t->types) return;
  at = body;
  *at++ = 1; /* traceAllocFreeInfoBatch */
  at = gotrace__put_varints(at, units, 4);
  gotrace__write_batch(t, GOTRACE_V2_EXPERIMENTAL_BATCH, GOTRACE__ALLOC_FREE, GOTRACE__NO_THREAD, t->generation_time,
                       body, (size_t)(at - body));
}

GOTRACE__FN void gotrace__mirror_free(gotrace__transcriber *t, gotrace__mirror *mirror) {
  gotrace__release(t->options.budget, mirror->rows, mirror->capacity * sizeof *mirror->rows);
}

/* A table of the transcriber's own. */
GOTRACE__FN gotrace__table *gotrace__own_table(gotrace__transcriber *t) {
  gotrace__table *table = gotrace__table_new(t->options.budget, t->options.beyond_limit);
  if (!table) gotrace__transcribe_fail(t, GOTRACE_ERROR_OUT_OF_MEMORY);
  return table;
}

GOTRACE__FN bool gotrace__own_begin(gotrace__transcriber *t, gotrace__mirror *mirror) {
  gotrace__table *table = gotrace__own_table(t);
  if (!table) return false;
  memset(mirror, 0, sizeof *mirror);
  mirror->table = table;
  return true;
}
GOTRACE__FN void gotrace__own_free(gotrace__transcriber *t, gotrace__mirror *mirror) {
  gotrace__mirror_free(t, mirror);
  gotrace__table_free(mirror->table);
}

/* v2: the types of heap objects that this generation refers to. */
GOTRACE__FN void gotrace__write_types(gotrace__transcriber *t) {
  gotrace__entry *entry = t->types ? gotrace__after(t->types, NULL) : NULL;
  gotrace__table *fresh;
  if (!entry) return;
  while (entry) {
    gotrace__lane *lane = &t->string_lane; /* its memory, once the strings are written */
    uint8_t *at = lane->data;
    uint8_t *end = at + lane->capacity - 6 * GOTRACE_BYTES_PER_NUMBER - GOTRACE_MAX_STRING_SIZE, *body = at;
    *at++ = 0; /* traceAllocFreeTypesBatch */
    for (; entry && at < end; entry = gotrace__after(t->types, entry)) {
      const gotrace_type *type = *(const gotrace_type *const *)(entry + 1);
      const char *name = type->name ? type->name : "";
      size_t length = gotrace__truncated_size(name, strlen(name));
      const uint64_t a[] = {entry->id, (uintptr_t)type, type->size, type->pointer_bytes, length};
      at = gotrace__put_varints(at, a, 5);
      memcpy(at, name, length);
      at += length;
    }
    gotrace__write_batch(t, GOTRACE_V2_EXPERIMENTAL_BATCH, GOTRACE__ALLOC_FREE, GOTRACE__NO_THREAD, t->generation_time,
                         body, (size_t)(at - body));
  }
  fresh = gotrace__own_table(t);
  if (!fresh) return;
  gotrace__table_free(t->types);
  t->types = fresh;
}

/* Forgets the texts and stacks that the transcriber has made or named, except the names of open regions: there is no
 * end of new ones in a long trace. */
#ifndef GOTRACE__MOST_TEXTS
#define GOTRACE__MOST_TEXTS ((size_t)8 << 20)
#endif
GOTRACE__FN void gotrace__forget_texts(gotrace__transcriber *t) {
  gotrace__mirror texts = t->strings[1], stacks = t->stacks[1];
  uint64_t place;
  uint32_t i;
  if (texts.table->arena.bytes + stacks.table->arena.bytes + t->arena.bytes <= GOTRACE__MOST_TEXTS) return;
  if (!gotrace__own_begin(t, &t->strings[1])) return;
  for (place = 1; place <= t->go_places; place++) {
    gotrace__model_go *g = gotrace__go_at(t, place);
    if (!g) continue;
    if (g->entry & GOTRACE__OWN) g->entry = 0;
    for (i = 0; i < g->region_depth; i++) {
      uint32_t *name = &gotrace__region_at(g, i)->name;
      const gotrace__row *row = *name & GOTRACE__OWN ? gotrace__find_row(t, &texts, *name & ~GOTRACE__OWN) : NULL;
      gotrace__row *kept;
      if (!row) continue;
      *name = gotrace__text_reference(t, (const char *)(row->entry + 1), row->entry->size);
      kept = gotrace__row_of(t, t->strings, *name);
      if (!kept) continue;
      kept->generation = row->generation; /* v1: readers compare the ids of a region's begin and end */
      kept->id = row->id;
    }
  }
  gotrace__own_free(t, &texts);
  if (!gotrace__own_begin(t, &t->stacks[1])) return;
  gotrace__own_free(t, &stacks);
  gotrace__arena_free(&t->arena);
  for (i = 0; i < t->stacks[0].capacity; i++) t->stacks[0].rows[i].frames = NULL;
  memset(t->reason_refs, 0, sizeof t->reason_refs);
  memset(t->named_refs, 0, sizeof t->named_refs);
}

GOTRACE__FN void gotrace__id_forget(gotrace__keys *set) {
  memset(set->values, 0, set->capacity * sizeof *set->values);
  set->used = 0;
}

/* v2: forgets the ids of goroutines and tasks that have ended. Readers of v1 remember them too. */
#ifndef GOTRACE__MOST_IDS
#define GOTRACE__MOST_IDS ((size_t)1 << 16) /* blocks of 64 */
#endif
GOTRACE__FN void gotrace__forget_ids(gotrace__transcriber *t) {
  uint64_t place;
  size_t i;
  if (t->v1) return;
  if (t->task_ids.used > GOTRACE__MOST_IDS) {
    gotrace__id_forget(&t->task_ids);
    for (i = 0; i < t->tasks.capacity; i++) {
      uint64_t id = t->tasks.values[i].key;
      if (id && id != UINT64_MAX) gotrace__id_add(t, &t->task_ids, id);
    }
  }
  if (t->ids.used <= GOTRACE__MOST_IDS) return;
  gotrace__id_forget(&t->ids);
  for (place = 1; place <= t->go_places; place++) {
    const gotrace__model_go *g = gotrace__go_at(t, place);
    if (g && g->known && g->status != GOTRACE__DEAD) gotrace__id_add(t, &t->ids, g->id);
  }
}

/* What the clocks showed at a time before they were read last. */
GOTRACE__FN gotrace__clocks gotrace__clocks_at(const gotrace__transcriber *t, uint64_t time) {
  gotrace__clocks clocks = t->clocks;
  uint64_t then = t->start_nanoseconds + (time - 1) * t->options.unit;
  uint64_t wall = clocks.wall_seconds * 1000000000u + clocks.wall_nanoseconds;
  if (then >= clocks.nanoseconds) return clocks;
  wall -= clocks.nanoseconds - then;
  clocks.nanoseconds = then;
  clocks.wall_seconds = wall / 1000000000u;
  clocks.wall_nanoseconds = (uint32_t)(wall % 1000000000u);
  return clocks;
}

GOTRACE__FN void gotrace__begin_generation(gotrace__transcriber *t) {
  t->generation++;
  t->generation_time = t->to_unit;
  t->generation_clocks = gotrace__clocks_at(t, t->to_unit);
  t->generation_bytes = 0;
  t->generation_used = t->synced = false;
  t->next_often = t->next_stack = 0;
  t->next_string = GOTRACE__OFTEN_IDS;
}

/* A living object that no record has spoken of is as the list said when the trace began. */
GOTRACE__FN void gotrace__adopt_listed(gotrace__transcriber *t) {
  gotrace__source *r;
  uint64_t place;
  for (r = t->sources; r; r = r->next) {
    gotrace__model_go *g = r->listed_go && !r->introduced ? gotrace__go_of(t, r->listed_go) : NULL;
    gotrace__model_proc *p = r->listed_proc && !r->introduced ? gotrace__proc_of(t, r->listed_proc) : NULL;
    unsigned status = r->listed_in_syscall ? GOTRACE__SYSCALL : GOTRACE__RUNNING;
    r->listed_go = r->listed_proc = 0;
    if (r->go || r->proc) continue;
    if (p && p->known) p = NULL;
    if (g && (g->known || !g->listed || g->status != status)) g = NULL;
    if (g) g->id = gotrace__listed_id(t, g, g->id);
    if (g && !p && !r->listed_in_syscall && !(p = gotrace__own_proc(t, r))) continue;
    if (p || g) gotrace__show_thread(t, r, g, p, r->listed_in_syscall);
  }
  for (place = 1; place <= t->go_places; place++) {
    gotrace__model_go *g = gotrace__go_at(t, place);
    if (!g || g->known || !g->listed) continue;
    if (g->status == GOTRACE__RUNNABLE || g->status == GOTRACE__WAITING) g->id = gotrace__listed_id(t, g, g->id);
    else g->id = 0; /* runs on a thread that has not said so: left out */
    if (g->id) g->known = true;
    else g->status = GOTRACE__DEAD;
  }
  for (place = 0; place < t->proc_count; place++)
    if (t->procs[place] && t->procs[place]->listed) t->procs[place]->known = true;
}

/* Writes the statuses of everything that was silent in this generation. */
GOTRACE__FN void gotrace__restate_all(gotrace__transcriber *t) {
  gotrace__source *r;
  uint64_t place;
  gotrace__restate_thread(t, &t->service); /* it may still have the proc of a global event */
  for (r = t->sources; r; r = r->next)
    if (!r->gone) gotrace__restate_thread(t, r);
  for (place = 1; place <= t->go_places; place++) {
    gotrace__model_go *g = gotrace__go_at(t, place);
    if (g && g->known && g->status != GOTRACE__DEAD) gotrace__restate_go(t, &t->service, g);
  }
  for (place = 0; place < t->proc_count; place++)
    if (t->procs[place] && t->procs[place]->known) gotrace__restate_proc(t, &t->service, t->procs[place]);
}

/* v1: ends what is open on the procs: viewers need the end of each slice. Go's StopTrace stops the world, to the
 * same effect: running goroutines are preempted, system calls lose their procs, and no collection is active. */
GOTRACE__FN void gotrace__write_v1_ends(gotrace__transcriber *t) {
  size_t i;
  for (i = 0; i < t->proc_count; i++) {
    gotrace__model_proc *p = t->procs[i];
    gotrace__model_go *g = p && p->on ? p->on->go : NULL;
    if (!p) continue;
    t->now = t->to_unit < p->lane.time ? p->lane.time : t->to_unit;
    if (p->sweep_seen)
      gotrace__put_v1(t, &p->lane, GOTRACE_V1_GC_SWEEP_DONE, t->now, t->options.version < 1009 ? 0 : 2, p->swept,
                      p->reclaimed, 0);
    if (p->scan_seen) gotrace__put_v1(t, &p->lane, GOTRACE_V1_GC_SCAN_DONE, t->now, 0, 0, 0, 0);
    p->sweep_seen = p->scan_seen = false;
    if (!g || g->generation != t->generation) continue;
    gotrace__not_before(t, g->time);
    if (g->status == GOTRACE__SYSCALL) gotrace__lower_syscall_block(t, &p->lane, g, t->now);
    else gotrace__put_v1(t, &p->lane, GOTRACE_V1_GO_PREEMPT, t->now, 1, 0, 0, 0);
  }
  if (t->gc_seen) {
    t->now = t->to_unit < t->collector_time + 1 ? t->collector_time + 1 : t->to_unit;
    gotrace__put_v1(t, &t->global, GOTRACE_V1_GC_DONE, t->now, 0, 0, 0, 0);
  }
}

/* Writes everything up to the end of the round: a trace may end here. */
GOTRACE__FN void gotrace__end_generation_of(gotrace__transcriber *t, bool last) {
  bool first = t->v1 ? last : t->generation == 1;
  gotrace__source *r;
  size_t i;
  t->current = &t->service;
  t->now = t->to_unit;
  if (first) gotrace__adopt_listed(t);
  if (first || t->options.restate) gotrace__restate_all(t);
  if (!t->v1 && t->gc && t->gc_generation != t->generation && !t->options.replay) { /* no goroutine has run since */
    gotrace__restate_thread(t, &t->service);
    gotrace__end_global(t, &t->service, gotrace__begin_global(t, &t->service));
  }
  if (t->stw_go && !t->stw_closed && (last || !t->v1)) { /* a trace may begin with any generation: nothing is stopped */
    t->current = t->stw_on;
    t->now = t->to_unit;
    gotrace__end_stw(t, t->stw_on);
    t->stw_closed = true;
  }
  if (t->v1 && last) gotrace__write_v1_ends(t);
  if (!t->v1 && !t->generation_used) { /* readers reject an empty generation */
    gotrace__emit_at(t, &t->service, NULL, NULL, GOTRACE_V2_PROC_STATUS, t->to_unit, 2, t->proc_count,
                     GOTRACE__PROC_IDLE, 0, 0);
    t->unused_time = t->service.lane.time;
  }
  for (i = 0; t->v1 && i < t->proc_count; i++)
    if (t->procs[i]) gotrace__lane_flush(t, &t->procs[i]->lane);
  for (r = t->sources; r; r = r->next) {
    gotrace__lane_flush(t, &r->lane);
    if (r->gone && r->lane.capacity + GOTRACE__LANE_HEAD > GOTRACE__FIRST_LANE(t))
      gotrace__lane_resize(t, &r->lane, GOTRACE__FIRST_LANE(t), false);
  }
  gotrace__lane_flush(t, t->v1 ? &t->global : &t->service.lane);
  for (; t->v1 && t->timers_written < t->timer_count; t->timers_written++) {
    uint8_t *at;
    if (t->options.version <= GOTRACE_GO_1_8 && t->timers_written) continue; /* 1.8 has one timer goroutine */
    at = gotrace__lane_at(t, &t->string_lane, 2 * GOTRACE_BYTES_PER_NUMBER, t->generation_time);
    *at++ = GOTRACE_V1_TIMER_GOROUTINE;
    t->string_lane.at = gotrace__put_varint(at, t->timers[t->timers_written]);
    t->kinds[GOTRACE_V1_TIMER_GOROUTINE]++;
    t->events++;
  }
  if (t->options.before_end) t->options.before_end(t->options.context, t);
  gotrace__lane_flush(t, &t->sample_lane);
  gotrace__lane_flush(t, &t->stack_lane);
  gotrace__lane_flush(t, &t->string_lane);
  if (!t->v1) gotrace__write_types(t);
  if (t->options.version >= GOTRACE_GO_1_26) {
    static const uint8_t end[] = {GOTRACE_V2_END_OF_GENERATION};
    gotrace__transcribe_write(t, end, sizeof end);
    t->kinds[GOTRACE_V2_END_OF_GENERATION]++;
  }
  gotrace__forget_texts(t);
  gotrace__forget_ids(t);
  if (!t->v1 && !last) gotrace__begin_generation(t);
}

/* ------------------------------------------------------------------------------------------------------ >>feed ----
 *
 * What the outside calls. The caller serializes all of these calls.
 */

/* The trace's beginning. `t` is zero. False if out of memory; gotrace__transcribe_free is due in any case. */
GOTRACE__FN bool gotrace__transcribe_begin(gotrace__transcriber *t, const gotrace__transcribe_options *options,
                                           const gotrace__clocks *clocks) {
  uint8_t header[32] = {0};
  t->options = *options;
  if (!t->options.unit) t->options.unit = GOTRACE__UNIT;
  if (!t->options.heap.page_size) t->options.heap.page_size = 8192;
  if (!t->options.heap.alignment) t->options.heap.alignment = 8;
  if (!t->options.heap.stack_unit) t->options.heap.stack_unit = 2048;
  t->v1 = options->version < GOTRACE_GO_1_22;
  t->clocks = *clocks;
  t->start_nanoseconds = clocks->nanoseconds;
  t->to_tick = t->steady_tick = clocks->tick;
  t->to_unit = t->steady_unit = 1;
  t->arena.budget = options->budget;
  t->strings[0].table = options->strings;
  t->stacks[0].table = options->stacks;
  t->sites.table = options->sites;
  t->arena.beyond = options->beyond_limit;
  if (options->alloc_events && options->version >= GOTRACE_GO_1_23) {
    t->types = gotrace__own_table(t);
    if (!t->types) return false;
  }
  t->service.id = options->service_thread;
  if (!gotrace__own_begin(t, &t->strings[1]) || !gotrace__own_begin(t, &t->stacks[1]) || !gotrace__grow_heap(t) ||
      !gotrace__lane_init(t, &t->string_lane, GOTRACE__NO_THREAD, t->v1 ? 0 : GOTRACE_V2_STRINGS, GOTRACE__LANE_MOST) ||
      !gotrace__lane_init(t, &t->sample_lane, GOTRACE__NO_THREAD, t->v1 ? 0 : GOTRACE_V2_CPU_SAMPLES,
                          GOTRACE__FIRST_LANE(t)) ||
      !gotrace__lane_init(t, &t->stack_lane, GOTRACE__NO_THREAD, GOTRACE_V2_STACKS,
                          t->v1 ? GOTRACE__FIRST_LANE(t) : (uint32_t)GOTRACE__LANE_MOST) ||
      !gotrace__lane_init(t, &t->global, (uint64_t)(int64_t)GOTRACE_GLOBAL_PROC, 0, GOTRACE__FIRST_LANE(t)) ||
      !gotrace__lane_init(t, &t->service.lane, t->service.id, 0, GOTRACE__FIRST_LANE(t)))
    return false;
  gotrace__begin_generation(t);
  snprintf((char *)header, sizeof header, "go %u.%u trace", options->version / 1000, options->version % 1000);
  gotrace__transcribe_write(t, header, GOTRACE__HEADER_SIZE);
  if (t->v1) {
    uint8_t *at = gotrace__lane_at(t, &t->string_lane, 2 * GOTRACE_BYTES_PER_NUMBER, t->generation_time);
    t->string_lane.id = t->sample_lane.id = (uint64_t)(int64_t)GOTRACE_GLOBAL_PROC;
    *at++ = GOTRACE_V1_FREQUENCY;
    t->string_lane.at = gotrace__put_varint(at, 1000000000u / t->options.unit);
    t->kinds[GOTRACE_V1_FREQUENCY]++;
    t->generation_time = t->to_unit = 2; /* all other events are later, see gotrace__write_first */
  }
  return true;
}

/* Adds a thread. `id`: the system's; `chunk`: its first. NULL if out of memory. */
GOTRACE__FN gotrace__source *gotrace__transcribe_thread(gotrace__transcriber *t, uint64_t id,
                                                        gotrace__record_chunk *chunk) {
  gotrace__source *r = t->idle_sources, **at;
  if (r) {
    t->idle_sources = r->link;
    r->link = NULL;
    r->lane.id = id;
    for (at = gotrace__same_id(t, r->id); *at != r;) at = &(*at)->same;
    *at = r->same;
  } else {
    if (!gotrace__grow_heap(t) || !(r = (gotrace__source *)gotrace__model_allocate(t, sizeof *r))) return NULL;
    if (!gotrace__lane_init(t, &r->lane, id, 0, t->v1 ? GOTRACE__LANE_HEAD : GOTRACE__FIRST_LANE(t))) {
      gotrace__release(t->options.budget, r, sizeof *r);
      return NULL;
    }
    *(t->last_source ? &t->last_source->next : &t->sources) = r;
    t->last_source = r;
    t->source_count++;
  }
  r->id = id;
  r->chunk = chunk;
  at = gotrace__same_id(t, id);
  r->same = *at;
  *at = r;
  return r;
}

/* Takes back a thread that has ended and whose records have all been applied. */
GOTRACE__FN void gotrace__transcribe_release(gotrace__transcriber *t, gotrace__source *r) {
  r->chunk = r->known = NULL;
  r->at = r->end = NULL;
  gotrace__forget_said(r);
  r->known_size = r->generation = 0;
  r->tick = 0;
  r->time++; /* readers order the tasks of two threads by time alone */
  r->introduced = r->lost_proc = r->gone = false;
  r->site = 0;
  r->listed_go = r->listed_proc = 0;
  r->link = t->idle_sources;
  t->idle_sources = r;
}

/* The list of the living, when the trace begins: what stays silent is shown as it was. Records overrule it. */
GOTRACE__FN void gotrace__transcribe_living_go(gotrace__transcriber *t, uint64_t place, uint64_t id, uint64_t entry,
                                               unsigned status, unsigned flags) {
  gotrace__model_go *g = gotrace__go_of(t, place);
  if (!g || g->known || status == GOTRACE__DEAD) return;
  g->listed = true;
  g->id = id;
  g->entry = gotrace__record_stack(entry);
  g->status = (uint8_t)status;
  g->flags = (uint8_t)(flags | GOTRACE__RECORD_OLD);
}
GOTRACE__FN void gotrace__transcribe_living_proc(gotrace__transcriber *t, uint64_t place) {
  gotrace__model_proc *p = gotrace__proc_of(t, place);
  if (!p || p->known) return;
  p->listed = true;
  p->status = GOTRACE__PROC_IDLE; /* its thread says more */
}
GOTRACE__FN void gotrace__transcribe_living_thread(gotrace__source *r, uint64_t go, uint64_t proc, bool in_syscall) {
  r->listed_go = go;
  r->listed_proc = proc;
  r->listed_in_syscall = in_syscall;
}
GOTRACE__FN void gotrace__transcribe_living_task(gotrace__transcriber *t, uint64_t id, uint64_t parent,
                                                 const char *name) {
  size_t size = gotrace__utf8_prefix(name, strlen(name), GOTRACE__TASK_NAME - 1);
  gotrace__keyed_value *open;
  bool grown =
      gotrace__model_grow(t, &t->old_tasks, &t->old_task_capacity, t->old_task_count + 1, sizeof *t->old_tasks);
  if (!grown || !id || id == UINT64_MAX || gotrace__task_at(t, id, false)) return;
  open = gotrace__task_at(t, id, true);
  if (!open) return;
  t->old_tasks[t->old_task_count].id = id;
  t->old_tasks[t->old_task_count].parent = parent;
  memcpy(t->old_tasks[t->old_task_count].name, name, size);
  t->old_tasks[t->old_task_count++].name[size] = 0;
}

GOTRACE__FN void gotrace__put_sample(gotrace__transcriber *t, uint64_t time, uint64_t thread, uint64_t proc,
                                     uint64_t go, uint32_t stack) {
  const uint64_t v1[] = {time, proc, go, stack}, v2[] = {time, thread, proc, go, stack};
  uint8_t *at;
  if (t->v1) {
    gotrace__put_event(t, &t->sample_lane, GOTRACE_V1_CPU_SAMPLE,
                       gotrace__lane_size(&t->sample_lane) ? t->sample_lane.time : t->generation_time, 4, v1);
    return;
  }
  at = gotrace__lane_at(t, &t->sample_lane, GOTRACE__EVENT_ROOM, t->generation_time);
  *at++ = GOTRACE_V2_CPU_SAMPLE;
  t->sample_lane.at = gotrace__put_varints(at, v2, 5);
  t->kinds[GOTRACE_V2_CPU_SAMPLE]++;
  t->events++;
}

/* A CPU sample. `go`: the goroutine's id, `place`: its place or 0. Go: traceReadCPU. */
GOTRACE__FN void gotrace__transcribe_sample(gotrace__transcriber *t, uint64_t tick, uint64_t thread, int64_t proc,
                                            uint64_t place, uint64_t go, const uint64_t *pcs, uint32_t count) {
  gotrace__model_go *g = place && place <= t->go_places ? gotrace__go_at(t, place) : NULL;
  gotrace__stack_frame frames[GOTRACE__SAMPLE_FRAMES];
  uint64_t time = gotrace__unit_of(t, tick);
  uint32_t i, stack;
  if (t->options.version < GOTRACE_GO_1_19 || t->error) return;
  memset(frames, 0, sizeof frames);
  if (count > GOTRACE__SAMPLE_FRAMES) count = GOTRACE__SAMPLE_FRAMES;
  for (i = 0; i < count; i++) frames[i].pc = pcs[i];
  stack = count ? gotrace__stack_id(t, gotrace__own_stack(t, frames, count)) : 0;
  /* Readers of v1 order them by time alone, and reject the creation of a goroutine that has a sample. */
  if (t->v1 && (!g || g->id != go)) go = 0; /* of a goroutine that the trace does not have yet */
  if (t->v1 && go && !g->known && g->sampled != go && !gotrace__id_add(t, &t->ids, go)) go = 0; /* another one has it */
  if (t->v1 && time <= t->pushed.time && time >= t->pushed.first_given) time = t->pushed.time + 1;
  if (t->v1 && go) {
    uint64_t born = g->in_trace ? g->born : t->generation_time; /* if it is silent since before the trace */
    if (!g->in_trace) g->sampled = go;
    if (time <= born) time = born + 1;
  }
  gotrace__put_sample(t, time, thread, (uint64_t)proc, go, stack);
}

/* One round. The clocks were read before the list of threads. `last`: all that has been published is part of it, not
 * only what is older than the clocks. Returns whether it ends before the clocks, so that another one is due. */
GOTRACE__FN bool gotrace__transcribe_round(gotrace__transcriber *t, const gotrace__clocks *clocks, bool last) {
  gotrace__source *r;
  bool more;
  for (r = t->sources; r; r = r->next) gotrace__look_at(r);
  more = gotrace__begin_round(t, clocks, last);
  t->steady_ticks = t->jumped ? 0 : t->to_tick - t->from_tick;
  gotrace__apply_all(t);
  return more;
}

/* A cut at the end of the last round: what has been written is a complete trace, and the next generation begins. */
GOTRACE__FN void gotrace__transcribe_cut(gotrace__transcriber *t) {
  if (!t->error) gotrace__end_generation_of(t, false);
}

/* Whether a generation has reached its size. */
GOTRACE__FN bool gotrace__transcribe_is_full(const gotrace__transcriber *t) {
  uint64_t bytes = t->generation_bytes + gotrace__lane_size(&t->string_lane) + gotrace__lane_size(&t->stack_lane);
  const gotrace__source *r;
  for (r = t->sources; r; r = r->next) bytes += gotrace__lane_size(&r->lane);
  return bytes >= t->options.cut_bytes;
}

/* The trace's end, after the last round. */
GOTRACE__FN void gotrace__transcribe_end(gotrace__transcriber *t) { gotrace__end_generation_of(t, true); }

GOTRACE__FN gotrace_result gotrace__transcribe_finish(gotrace__transcriber *t, const gotrace__clocks *clocks) {
  while (gotrace__transcribe_round(t, clocks, true))
    if (gotrace__transcribe_is_full(t)) gotrace__transcribe_cut(t);
  gotrace__transcribe_end(t);
  return t->error;
}

GOTRACE__FN void gotrace__transcribe_free(gotrace__transcriber *t) {
  gotrace__budget *budget = t->options.budget;
  gotrace__source *r;
  size_t i, k;
  while ((r = t->sources) != NULL) {
    t->sources = r->next;
    gotrace__lane_free(t, &r->lane);
    gotrace__release(budget, r, sizeof *r);
  }
  for (i = 0; i < t->go_page_count; i++) {
    for (k = 0; t->go_pages[i] && k < GOTRACE__MODEL_PAGE; k++) {
      gotrace__model_go *g = &t->go_pages[i][k];
      gotrace__release(budget, g->regions, g->region_capacity * sizeof *g->regions);
      gotrace__release(budget, g->label, GOTRACE__LABEL);
    }
  }
  for (i = 0; i < t->go_page_count; i += k) {
    k = gotrace__pages_at_once(i);
    gotrace__release(budget, t->go_pages[i], k * GOTRACE__MODEL_PAGE * sizeof(gotrace__model_go));
  }
  for (i = 0; i < t->proc_count; i++) {
    if (t->procs[i]) gotrace__lane_free(t, &t->procs[i]->lane);
    gotrace__release(budget, t->procs[i], sizeof(gotrace__model_proc));
  }
  gotrace__release(budget, t->go_pages, t->go_page_count * sizeof *t->go_pages);
  gotrace__release(budget, t->procs, t->proc_capacity * sizeof *t->procs);
  gotrace__release(budget, t->proc_ids, t->place_capacity * sizeof *t->proc_ids);
  gotrace__release(budget, t->tasks.values, t->tasks.capacity * sizeof *t->tasks.values);
  gotrace__release(budget, t->ids.values, t->ids.capacity * sizeof *t->ids.values);
  gotrace__release(budget, t->task_ids.values, t->task_ids.capacity * sizeof *t->task_ids.values);
  gotrace__release(budget, t->heap, t->heap_capacity * sizeof *t->heap);
  gotrace__release(budget, t->old_tasks, t->old_task_capacity * sizeof *t->old_tasks);
  gotrace__release(budget, t->kept_ids, t->kept_capacity * sizeof *t->kept_ids);
  gotrace__mirror_free(t, &t->strings[0]);
  gotrace__mirror_free(t, &t->stacks[0]);
  gotrace__mirror_free(t, &t->sites);
  gotrace__own_free(t, &t->strings[1]);
  gotrace__own_free(t, &t->stacks[1]);
  gotrace__table_free(t->types);
  gotrace__arena_free(&t->arena);
  gotrace__lane_free(t, &t->string_lane);
  gotrace__lane_free(t, &t->stack_lane);
  gotrace__lane_free(t, &t->sample_lane);
  gotrace__lane_free(t, &t->global);
  gotrace__lane_free(t, &t->service.lane);
}

/* --------------------------------------------------------------------------------------------------- >>elf ----
 *
 * The functions of a module, from the symbol tables of its ELF file. The file may be damaged or replaced at any time.
 * It is therefore read into memory: a mapped file that shrinks would raise SIGBUS.
 */

#ifdef GOTRACE__ELF
/* A file, or bytes in memory (data not NULL). */
typedef struct gotrace__elf_file {
  gotrace__file file;
  const uint8_t *data;
  size_t size; /* of data */
} gotrace__elf_file;

GOTRACE__FN bool gotrace__elf_read(const gotrace__elf_file *elf, uint64_t offset, void *buffer, size_t size) {
  uint8_t *at = (uint8_t *)buffer;
  size_t n;
  if (elf->data && (offset > elf->size || size > elf->size - offset)) return false;
  for (; size; at += n, offset += n, size -= n) {
    n = elf->data ? size : gotrace__file_read_some(&elf->file, offset, at, size);
    if (!n) return false;
    if (elf->data) memcpy(at, elf->data + offset, n);
  }
  return true;
}

enum { GOTRACE__RANK_GLOBAL, GOTRACE__RANK_WEAK, GOTRACE__RANK_LOCAL, GOTRACE__RANK_UNSIZED };

typedef struct gotrace__function {
  uintptr_t start;    /* relative to the module's base */
  uint32_t size : 30; /* in bytes */
  uint32_t rank : 2;  /* of functions with the same start, the lowest is kept */
  uint32_t name;      /* offset in the strings */
} gotrace__function;

/* The symbols of a module. All zero: none. */
typedef struct gotrace__elf_symbols {
  gotrace__function *functions; /* sorted by start */
  char *strings;
  size_t count, capacity, strings_size;
  bool dynamic; /* includes the dynamic symbols */
} gotrace__elf_symbols;

#define GOTRACE__BUILD_ID 64 /* most bytes of a build id; linkers make 8 to 32 */

/* Identifies the contents of a module. */
typedef struct gotrace__elf_identity {
  uint64_t segments; /* hash of the loaded segments' headers */
  uint8_t build_id[GOTRACE__BUILD_ID];
  unsigned build_id_size; /* 0: none */
} gotrace__elf_identity;

GOTRACE__FN void gotrace__elf_add_segment(gotrace__elf_identity *identity, const gotrace__segment *segment) {
  uint64_t hash = identity->segments;
  if (segment->p_type != PT_LOAD) return;
  hash = gotrace__mix(gotrace__mix(hash, segment->p_offset), segment->p_vaddr);
  hash = gotrace__mix(gotrace__mix(hash, segment->p_filesz), segment->p_memsz);
  identity->segments = gotrace__mix(hash, segment->p_flags);
}

/* Takes the build id from notes, if there is one. */
GOTRACE__FN void gotrace__elf_add_notes(gotrace__elf_identity *identity, const uint8_t *notes, size_t size,
                                        size_t align) {
  if (align != 8) align = 4;
  while (size >= 12) {
    uint32_t name_size, id_size, type;
    size_t name_end, id_end;
    memcpy(&name_size, notes, 4);
    memcpy(&id_size, notes + 4, 4);
    memcpy(&type, notes + 8, 4);
    if (name_size > size || id_size > size) return;
    name_end = (12 + (size_t)name_size + align - 1) & ~(align - 1);
    id_end = (name_end + id_size + align - 1) & ~(align - 1);
    if (name_end > size || name_end + id_size > size) return;
    if (type == 3 && name_size == 4 && memcmp(notes + 12, "GNU", 4) == 0 && id_size && id_size <= GOTRACE__BUILD_ID) {
      memcpy(identity->build_id, notes + name_end, id_size);
      identity->build_id_size = id_size;
    }
    if (id_end >= size) return;
    notes += id_end, size -= id_end;
  }
}

GOTRACE__FN bool gotrace__elf_same(const gotrace__elf_identity *a, const gotrace__elf_identity *b) {
  return a->segments == b->segments && a->build_id_size == b->build_id_size &&
         memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* Reads the file's header; false if it is not an ELF file of this processor's word size and byte order. */
GOTRACE__FN bool gotrace__elf_header(const gotrace__elf_file *elf, gotrace__elf_head *head) {
  const uint16_t one = 1;
  bool little = *(const uint8_t *)&one == 1;
  return gotrace__elf_read(elf, 0, head, sizeof *head) && memcmp(head->e_ident, "\177ELF", 4) == 0 &&
         head->e_ident[EI_CLASS] == (sizeof(uintptr_t) == 8 ? ELFCLASS64 : ELFCLASS32) &&
         head->e_ident[EI_DATA] == (little ? ELFDATA2LSB : ELFDATA2MSB);
}

#define GOTRACE__ELF_SEGMENTS 256
GOTRACE__FN bool gotrace__elf_identify(const gotrace__elf_file *elf, const gotrace__elf_head *head,
                                       gotrace__elf_identity *identity) {
  gotrace__segment segment;
  unsigned i;
  memset(identity, 0, sizeof *identity);
  if (head->e_phentsize != sizeof segment || head->e_phnum > GOTRACE__ELF_SEGMENTS) return false;
  for (i = 0; i < head->e_phnum; i++) {
    uint8_t notes[1024];
    if (!gotrace__elf_read(elf, head->e_phoff + (uint64_t)i * sizeof segment, &segment, sizeof segment)) return false;
    gotrace__elf_add_segment(identity, &segment);
    if (segment.p_type != PT_NOTE) continue;
    if (segment.p_filesz > sizeof notes || !gotrace__elf_read(elf, segment.p_offset, notes, (size_t)segment.p_filesz))
      continue;
    gotrace__elf_add_notes(identity, notes, (size_t)segment.p_filesz, (size_t)segment.p_align);
  }
  return true;
}

/* Converts a symbol to a function; false if it is not one. `complete`: the table has all functions of the module. */
GOTRACE__FN bool gotrace__elf_function(const gotrace__elf_symbol *symbol, const gotrace__elf_section *sections,
                                       size_t count, bool complete, gotrace__function *function) {
  unsigned type = symbol->st_info & 0xf, binding = symbol->st_info >> 4;
  const gotrace__elf_section *section;
  uintptr_t start = (uintptr_t)symbol->st_value, room;
  uint64_t size = symbol->st_size;
#if defined(__arm__)
  start &= ~(uintptr_t)1; /* set for Thumb code */
#endif
  if (type != STT_FUNC && type != STT_GNU_IFUNC) return false;
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE || symbol->st_shndx >= count) return false;
  section = &sections[symbol->st_shndx];
  if (!(section->sh_flags & SHF_EXECINSTR) || start - (uintptr_t)section->sh_addr >= section->sh_size) return false;
  room = (uintptr_t)section->sh_size - (start - (uintptr_t)section->sh_addr);
  /* Without a size, a function ends where the next one begins, if the table has them all. */
  if (!size && !complete) return false;
  function->rank = !size                   ? (unsigned)GOTRACE__RANK_UNSIZED
                   : binding == STB_GLOBAL ? (unsigned)GOTRACE__RANK_GLOBAL
                   : binding == STB_WEAK   ? (unsigned)GOTRACE__RANK_WEAK
                                           : (unsigned)GOTRACE__RANK_LOCAL;
  if (!size || size > room) size = room;
  if (size > 0x3fffffff) size = 0x3fffffff;
  function->start = start;
  function->size = (uint32_t)size & 0x3fffffff;
  function->name = (uint32_t)symbol->st_name;
  return true;
}

/* Adds the functions of a symbol table, whose strings begin at `strings_at`. */
GOTRACE__FN void gotrace__elf_functions(const gotrace__elf_file *elf, const gotrace__elf_section *table,
                                        const gotrace__elf_section *sections, size_t section_count, size_t strings_at,
                                        gotrace__elf_symbols *symbols) {
  gotrace__elf_symbol chunk[128];
  uint64_t left = table->sh_size / sizeof *chunk, offset = table->sh_offset;
  uint64_t strings_size = sections[table->sh_link].sh_size;
  size_t i, n;
  for (; left; left -= n, offset += n * sizeof *chunk) {
    n = left < 128 ? (size_t)left : 128;
    if (!gotrace__elf_read(elf, offset, chunk, n * sizeof *chunk)) break;
    for (i = 0; i < n; i++) {
      gotrace__function function;
      if (!gotrace__elf_function(&chunk[i], sections, section_count, table->sh_type == SHT_SYMTAB, &function)) continue;
      if (!function.name || function.name >= strings_size) continue;
      function.name += (uint32_t)strings_at;
      symbols->functions[symbols->count++] = function;
    }
  }
}

GOTRACE__FN bool gotrace__function_less(const gotrace__function *a, const gotrace__function *b) {
  if (a->start != b->start) return a->start < b->start;
  return a->rank != b->rank ? a->rank < b->rank : a->name < b->name;
}

/* Heapsort: needs no memory, and qsort may call malloc. */
GOTRACE__FN void gotrace__sort_functions(gotrace__function *functions, size_t count) {
  size_t root = count / 2, end = count;
  while (end > 1) {
    size_t parent, child;
    gotrace__function moved;
    if (root) {
      moved = functions[--root];
    } else {
      moved = functions[--end];
      functions[end] = functions[0];
    }
    for (parent = root; (child = 2 * parent + 1) < end; parent = child) {
      if (child + 1 < end && gotrace__function_less(&functions[child], &functions[child + 1])) child++;
      if (!gotrace__function_less(&moved, &functions[child])) break;
      functions[parent] = functions[child];
    }
    functions[parent] = moved;
  }
}

/* Of two names of a function, prefers the one with fewer leading underscores: the one that programs use. */
GOTRACE__FN bool gotrace__better_name(const char *name, const char *than) {
  while (*name == '_' && *than == '_') name++, than++;
  return *than == '_' && *name != '_';
}

/* Sorts the functions and keeps one for each start. */
GOTRACE__FN void gotrace__elf_arrange(gotrace__elf_symbols *symbols) {
  gotrace__function *functions = symbols->functions;
  size_t count = 0, i;
  gotrace__sort_functions(functions, symbols->count);
  for (i = 0; i < symbols->count; i++) {
    gotrace__function *last = count ? &functions[count - 1] : NULL;
    if (!last || functions[i].start != last->start) functions[count++] = functions[i];
    else if (functions[i].rank == last->rank &&
             gotrace__better_name(symbols->strings + functions[i].name, symbols->strings + last->name))
      *last = functions[i];
  }
  symbols->count = count;
  for (i = 0; i + 1 < count; i++)
    if (functions[i].rank == GOTRACE__RANK_UNSIZED && functions[i].size > functions[i + 1].start - functions[i].start)
      functions[i].size = (uint32_t)(functions[i + 1].start - functions[i].start) & 0x3fffffff;
}

GOTRACE__FN void gotrace__elf_free(gotrace__elf_symbols *symbols, gotrace__budget *budget) {
  gotrace__release(budget, symbols->functions, symbols->capacity * sizeof *symbols->functions);
  gotrace__release(budget, symbols->strings, symbols->strings_size);
  memset(symbols, 0, sizeof *symbols);
}

/* Whether a section is a symbol table that can be read. */
GOTRACE__FN bool gotrace__elf_is_table(const gotrace__elf_section *sections, size_t count, size_t i) {
  const gotrace__elf_section *table = &sections[i];
  return (table->sh_type == SHT_SYMTAB || table->sh_type == SHT_DYNSYM) &&
         table->sh_entsize == sizeof(gotrace__elf_symbol) && table->sh_link < count &&
         sections[table->sh_link].sh_type == SHT_STRTAB && sections[table->sh_link].sh_size < UINT32_MAX / 4;
}

/* Reads one kind of symbol table, if there is one. Adds to those already read, unless out of memory. */
GOTRACE__FN void gotrace__elf_read_tables(const gotrace__elf_file *elf, const gotrace__elf_section *sections,
                                          size_t count, gotrace__budget *budget, gotrace__elf_symbols *symbols) {
  const gotrace__elf_section *tables[2] = {NULL, NULL};
  gotrace__elf_symbols all;
  size_t i, at = 0;
  memset(&all, 0, sizeof all);
  for (i = 0; i < count; i++)
    if (gotrace__elf_is_table(sections, count, i)) tables[sections[i].sh_type == SHT_DYNSYM] = &sections[i];
  all.strings_size = 1;
  for (i = 0; i < 2; i++) {
    if (!tables[i]) continue;
    all.capacity += (size_t)(tables[i]->sh_size / sizeof(gotrace__elf_symbol));
    all.strings_size += (size_t)sections[tables[i]->sh_link].sh_size + 1;
  }
  if (!all.capacity || all.capacity > budget->limit / sizeof *all.functions) return;
  all.functions = (gotrace__function *)gotrace__allocate(budget, all.capacity * sizeof *all.functions, true);
  all.strings = (char *)(all.functions ? gotrace__allocate(budget, all.strings_size, true) : NULL);
  for (i = 0; i < 2 && all.strings; i++) {
    const gotrace__elf_section *strings;
    if (!tables[i]) continue;
    strings = &sections[tables[i]->sh_link];
    if (gotrace__elf_read(elf, strings->sh_offset, all.strings + at, (size_t)strings->sh_size)) {
      gotrace__elf_functions(elf, tables[i], sections, count, at, &all);
      if (i == 1) all.dynamic = true;
    }
    at += (size_t)strings->sh_size;
    all.strings[at++] = 0; /* ends the last string */
  }
  if (!all.count) gotrace__elf_free(&all, budget);
  gotrace__elf_arrange(&all);
  *symbols = all;
}

/* Reads a file's symbols. None if anything is wrong. */
GOTRACE__FN void gotrace__elf_load(const gotrace__elf_file *elf, const gotrace__elf_head *head, gotrace__budget *budget,
                                   gotrace__elf_symbols *symbols) {
  gotrace__elf_section first, *sections;
  size_t count = head->e_shnum;
  memset(symbols, 0, sizeof *symbols);
  if (head->e_shentsize != sizeof first || !head->e_shoff) return;
  if (!gotrace__elf_read(elf, head->e_shoff, &first, sizeof first)) return;
  if (!count) count = first.sh_size > 1 << 20 ? 0 : (size_t)first.sh_size; /* 65,280 or more */
  if (!count) return;
  sections = (gotrace__elf_section *)gotrace__allocate(budget, count * sizeof *sections, true);
  if (!sections) return;
  if (gotrace__elf_read(elf, head->e_shoff, sections, count * sizeof *sections))
    gotrace__elf_read_tables(elf, sections, count, budget, symbols);
  gotrace__release(budget, sections, count * sizeof *sections);
}

/* The function that contains an address relative to the module's base; NULL: none. Functions may overlap. */
GOTRACE__FN const char *gotrace__elf_name(const gotrace__elf_symbols *symbols, uintptr_t address) {
  size_t low = 0, high = symbols->count, tries;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (symbols->functions[middle].start <= address) low = middle + 1;
    else high = middle;
  }
  for (tries = 16; low && tries; tries--) {
    const gotrace__function *function = &symbols->functions[--low];
    if (address - function->start < function->size) return symbols->strings + function->name;
  }
  return NULL;
}
#endif

/* --------------------------------------------------------------------------------------------------- >>modules ----
 *
 * From an address to its module and function. Runs only in whoever transcribes. The symbols of a module are read when
 * its first address is named, and kept until the session ends, since reading them takes milliseconds.
 *
 * Does not use dladdr: while a library is unloaded, dlclose holds that function's lock and waits for the thread that
 * writes the library's trace. Reads no file inside dl_iterate_phdr, whose lock other threads need for exceptions.
 */

#ifdef GOTRACE__ELF
#define GOTRACE__SYMBOLS_MEMORY ((size_t)64 << 20) /* most bytes of all symbols */
#define GOTRACE__MOST_MODULES 4096                 /* records of a session */
#define GOTRACE__MODULE_PATH 1024

/* A loaded module, as found in memory. */
typedef struct gotrace__loaded {
  uintptr_t base, low, high;
  uint64_t unloads; /* number of modules unloaded so far */
  gotrace__elf_identity identity;
  char path[GOTRACE__MODULE_PATH]; /* as the loader calls it */
} gotrace__loaded;

typedef struct gotrace__found {
  uintptr_t pc;
  bool counted;     /* `unloads` is known */
  bool program;     /* not a library */
  uintptr_t start;  /* where the function begins, by the unwind table, relative to the base; 0: unknown */
  const char *name; /* of the dynamic symbol, if name_buffer is set */
  char *name_buffer;
  size_t name_size;
  unsigned visited;
  gotrace__loaded at;
} gotrace__found;

typedef struct gotrace__module_record {
  struct gotrace__module_record *next;
  gotrace__loaded at;
  bool noted; /* the strings of each generation from now on name it */
  gotrace__elf_symbols symbols;
  char path[GOTRACE__MODULE_PATH]; /* of the file */
} gotrace__module_record;

/* Whether a range of addresses, relative to the module's base, is readable memory with contents from its file. */
GOTRACE__FN bool gotrace__in_segment(const gotrace__module *module, uint64_t address, uint64_t size) {
  unsigned i;
  for (i = 0; i < module->segment_count; i++) {
    const gotrace__segment *segment = &module->segments[i];
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) && address >= segment->p_vaddr &&
        address - segment->p_vaddr <= segment->p_filesz && size <= segment->p_filesz - (address - segment->p_vaddr))
      return true;
  }
  return false;
}

/* The start of the last function that begins at or before an address, from .eh_frame_hdr; 0: unknown. The table has a
 * version, three encodings, the address of .eh_frame and the number of entries. Then come the entries, sorted, each two
 * offsets from the table's start. */
GOTRACE__FN uintptr_t gotrace__unwind_start(const gotrace__module *module, const gotrace__segment *segment,
                                            uintptr_t address) {
  const uint8_t *table = (const uint8_t *)(module->base + (uintptr_t)segment->p_vaddr);
  int32_t offset = (int32_t)(address - (uintptr_t)segment->p_vaddr), start = 0;
  uint32_t low = 0, high;
  if (segment->p_memsz < 12 || !gotrace__in_segment(module, segment->p_vaddr, segment->p_memsz)) return 0;
  if (table[0] != 1 || (table[1] & 7) != 3 || table[2] != 3 || table[3] != 0x3b) return 0; /* 4 bytes each */
  memcpy(&high, table + 8, 4);
  if (high > (segment->p_memsz - 12) / 8) return 0;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    int32_t begin;
    memcpy(&begin, table + 12 + 8 * (size_t)middle, 4);
    if (begin <= offset) {
      low = middle + 1;
      start = begin;
    } else {
      high = middle;
    }
  }
  return low ? (uintptr_t)segment->p_vaddr + (uintptr_t)(intptr_t)start : 0;
}

/* The number of symbols in a DT_GNU_HASH table: the last chain of the last symbol in a bucket ends the table. */
GOTRACE__FN uint32_t gotrace__gnu_hash_symbols(const uint32_t *table) {
  const uint32_t *buckets = table + 4 + table[2] * (sizeof(uintptr_t) / sizeof(uint32_t)), *chains = buckets + table[0];
  uint32_t last = 0, i;
  for (i = 0; i < table[0]; i++)
    if (buckets[i] > last) last = buckets[i];
  if (last < table[1]) return table[1];
  while (!(chains[last - table[1]] & 1)) last++;
  return last + 1;
}

/* The function that contains an address relative to the module's base, from the symbols in memory; NULL: none. */
GOTRACE__FN const char *gotrace__dynamic_symbol(uintptr_t base, const gotrace__dynamic *entry, uintptr_t address) {
  const gotrace__elf_symbol *symbols = NULL, *best = NULL;
  const char *strings = NULL;
  uint32_t count = 0, i;
  for (; entry->d_tag != DT_NULL; entry++) {
    uintptr_t at = (uintptr_t)entry->d_un.d_ptr;
    if (at < base) at += base; /* some linkers do not relocate these, and nothing does in the vDSO */
    if (entry->d_tag == DT_SYMTAB) symbols = (const gotrace__elf_symbol *)at;
    if (entry->d_tag == DT_STRTAB) strings = (const char *)at;
    if (entry->d_tag == DT_HASH && !count) count = ((const uint32_t *)at)[1];
    if (entry->d_tag == DT_GNU_HASH) count = gotrace__gnu_hash_symbols((const uint32_t *)at);
  }
  if (!symbols || !strings) return NULL;
  for (i = 0; i < count; i++) {
    const gotrace__elf_symbol *symbol = &symbols[i];
    unsigned type = symbol->st_info & 0xf;
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF) continue;
    if (address < symbol->st_value || address - symbol->st_value >= (symbol->st_size ? symbol->st_size : 1)) continue;
    if (!best || best->st_value < symbol->st_value) best = symbol;
  }
  return best ? strings + best->st_name : NULL;
}

/* Sets the range of a module's addresses. Returns whether `address`, relative to the base, is in its memory. */
GOTRACE__FN bool gotrace__module_range(const gotrace__module *module, uintptr_t address, uintptr_t *low,
                                       uintptr_t *high) {
  bool inside = false;
  unsigned i;
  *low = UINTPTR_MAX;
  *high = 0;
  for (i = 0; i < module->segment_count; i++) {
    const gotrace__segment *segment = &module->segments[i];
    uintptr_t begin = module->base + (uintptr_t)segment->p_vaddr, end = begin + (uintptr_t)segment->p_memsz;
    if (segment->p_type != PT_LOAD) continue;
    if (address - (uintptr_t)segment->p_vaddr < segment->p_memsz) inside = true;
    if (begin < *low) *low = begin;
    if (end > *high) *high = end;
  }
  return inside;
}

/* dl_iterate_phdr: finds the module of found->pc. With found->name_buffer, also its dynamic symbol. */
GOTRACE__FN int gotrace__find_visit(gotrace__module *module, size_t size, void *argument) {
  gotrace__found *found = (gotrace__found *)argument;
  uintptr_t address = found->pc - 1 - module->base; /* a return address may be the next function's first byte */
  const gotrace__dynamic *dynamic = NULL;
  const char *symbol;
  unsigned i;
  found->program = !found->visited++;
  if (!gotrace__module_range(module, address, &found->at.low, &found->at.high)) return 0;
  found->at.base = module->base;
  found->counted = size >= offsetof(gotrace__module, unloads) + sizeof module->unloads;
  if (found->counted) found->at.unloads = module->unloads;
  for (i = 0; i < module->segment_count; i++) {
    const gotrace__segment *segment = &module->segments[i];
    gotrace__elf_add_segment(&found->at.identity, segment);
    if (segment->p_type == PT_NOTE && gotrace__in_segment(module, segment->p_vaddr, segment->p_memsz))
      gotrace__elf_add_notes(&found->at.identity, (const uint8_t *)(module->base + (uintptr_t)segment->p_vaddr),
                             (size_t)segment->p_memsz, (size_t)segment->p_align);
    if (segment->p_type == PT_GNU_EH_FRAME) found->start = gotrace__unwind_start(module, segment, address);
    if (segment->p_type == PT_DYNAMIC) dynamic = (const gotrace__dynamic *)(module->base + (uintptr_t)segment->p_vaddr);
  }
  snprintf(found->at.path, sizeof found->at.path, "%s", module->path ? module->path : "");
  symbol = found->name_buffer && dynamic ? gotrace__dynamic_symbol(module->base, dynamic, address) : NULL;
  if (symbol) snprintf(found->name_buffer, found->name_size, "%s", symbol);
  if (symbol) found->name = found->name_buffer;
  return 1;
}

GOTRACE__FN bool gotrace__find_module(uintptr_t pc, gotrace__found *found, char *name, size_t size) {
  memset(found, 0, offsetof(gotrace__found, at.path));
  found->pc = pc;
  found->name_buffer = name;
  found->name_size = size;
  return GOTRACE__C(dl_iterate_phdr)(gotrace__find_visit, found) != 0;
}

/* The file that is mapped at an address, from /proc/self/maps: "low-high permissions offset device inode path". */
GOTRACE__FN bool gotrace__mapped_path(uintptr_t address, char *path, size_t size) {
  char text[GOTRACE__MODULE_PATH + 128];
  uint64_t offset = 0;
  bool found = false;
  gotrace__file file;
  if (!gotrace__file_open_to_read("/proc/self/maps", &file)) return false;
  while (!found) {
    size_t n = gotrace__file_read_some(&file, offset, text, sizeof text - 1);
    char *end, *dash, *slash;
    text[n] = 0;
    end = (strchr)(text, '\n');
    if (!n) break;
    offset += end ? (size_t)(end - text) + 1 : n;
    if (!end) continue; /* too long, or its rest */
    *end = 0;
    if (address < strtoull(text, &dash, 16) || *dash != '-' || address >= strtoull(dash + 1, NULL, 16)) continue;
    slash = (strchr)(text, '/');
    if (!slash) break;
    snprintf(path, size, "%s", slash);
    found = true;
  }
  gotrace__file_close(&file);
  return found;
}

/* What the tracer knows about the modules of a session. Protected by the work lock. */
typedef struct gotrace__range {
  uintptr_t low, high;
  uint64_t identity;
} gotrace__range;
typedef struct gotrace__ranges {
  size_t count;
  uint64_t loads, unloads; /* numbers of modules loaded and unloaded before the look */
  uint64_t cuts;           /* number of cuts made before the look */
  gotrace__range ranges[GOTRACE__MOST_MODULES];
} gotrace__ranges;
static struct gotrace__modules {
  gotrace__module_record *records; /* latest first */
  gotrace__module_record *last;    /* of the last address */
  unsigned count;
  gotrace__ranges *seen; /* all modules: the last two snapshots that differ from the one before; or NULL */
  unsigned latest;       /* of the two */
  gotrace__budget budget;
} gotrace__modules = {NULL, NULL, 0, NULL, 0, {0, 0, GOTRACE__SYMBOLS_MEMORY}};

/* Opens a module's file, and reads its symbols if it is the one that was loaded. */
GOTRACE__FN bool gotrace__module_load(gotrace__module_record *record, const char *path) {
  gotrace__elf_file elf;
  gotrace__elf_head head;
  gotrace__elf_identity identity;
  bool same;
  elf.data = NULL;
  elf.size = 0;
  if (!gotrace__file_open_to_read(path, &elf.file)) return false;
  same = gotrace__elf_header(&elf, &head) && gotrace__elf_identify(&elf, &head, &identity) &&
         gotrace__elf_same(&identity, &record->at.identity);
  if (same) gotrace__elf_load(&elf, &head, &gotrace__modules.budget, &record->symbols);
  gotrace__file_close(&elf.file);
  return same;
}

/* Finds the file of a module, and reads it. */
GOTRACE__FN void gotrace__module_open(gotrace__module_record *record, const gotrace__found *found) {
  static const char deleted[] = " (deleted)";
  char *path = record->path;
  size_t length, ending = sizeof deleted - 1;
  bool read;
  if (!found->program && (!found->at.path[0] || strncmp(found->at.path, "linux-vdso", 10) == 0 ||
                          strncmp(found->at.path, "linux-gate", 10) == 0)) {
    snprintf(path, GOTRACE__MODULE_PATH, "[vdso]");
    return;
  }
  if (found->program) {
    long n = GOTRACE__C(readlink)("/proc/self/exe", path, GOTRACE__MODULE_PATH - 1);
    path[n > 0 ? n : 0] = 0;
    read = gotrace__module_load(record, "/proc/self/exe");
  } else {
    memcpy(path, found->at.path, GOTRACE__MODULE_PATH);
    read = path[0] == '/' && gotrace__module_load(record, path);
  }
  /* A relative path may refer to an earlier working directory. /proc/self/exe may be the loader (ld.so PROGRAM). */
  if (!read && (found->program || path[0] != '/') && gotrace__mapped_path(found->pc - 1, path, GOTRACE__MODULE_PATH))
    gotrace__module_load(record, path);
  length = strlen(path);
  if (length > ending && strcmp(path + length - ending, deleted) == 0) path[length - ending] = 0;
}

/* The record of a module, created if it is new; NULL: out of memory, or too many. Libraries without a build id are read
 * again after any library has been unloaded. */
GOTRACE__FN gotrace__module_record *gotrace__module_of(const gotrace__found *found) {
  struct gotrace__modules *all = &gotrace__modules;
  gotrace__module_record *record = all->records;
  for (; record; record = record->next)
    if (record->at.base == found->at.base && strcmp(record->at.path, found->at.path) == 0 &&
        gotrace__elf_same(&record->at.identity, &found->at.identity) &&
        (record->at.unloads == found->at.unloads || found->at.identity.build_id_size || found->program))
      return record;
  if (all->count == GOTRACE__MOST_MODULES) return NULL;
  record = (gotrace__module_record *)gotrace__allocate(&all->budget, sizeof *record, true);
  if (!record) return NULL;
  record->at = found->at;
  gotrace__module_open(record, found);
  record->next = all->records;
  all->records = record;
  all->count++;
  return record;
}

/* ---- Libraries that are unloaded ----
 *
 * An address is named when its record is transcribed. By then another library may have been loaded there. */

GOTRACE__FN uint64_t gotrace__range_identity(uintptr_t base, const char *path, uint64_t segments) {
  return gotrace__hash_from(segments ^ base, path, strlen(path));
}

/* dl_iterate_phdr: collects the ranges of all modules, unless nothing was loaded or unloaded since the last time. */
GOTRACE__FN int gotrace__look_visit(gotrace__module *module, size_t size, void *count) {
  const gotrace__ranges *last = &gotrace__modules.seen[gotrace__modules.latest];
  gotrace__ranges *now = &gotrace__modules.seen[!gotrace__modules.latest];
  size_t at = (*(size_t *)count)++;
  gotrace__elf_identity identity;
  unsigned i;
  if (size < offsetof(gotrace__module, unloads) + sizeof module->unloads) return -1;
  if (last->count && last->loads == module->loads && last->unloads == module->unloads) return -1;
  if (at == GOTRACE__MOST_MODULES) return -1;
  now->loads = module->loads;
  now->unloads = module->unloads;
  memset(&identity, 0, sizeof identity);
  for (i = 0; i < module->segment_count; i++) gotrace__elf_add_segment(&identity, &module->segments[i]);
  gotrace__module_range(module, 0, &now->ranges[at].low, &now->ranges[at].high);
  now->ranges[at].identity = gotrace__range_identity(module->base, module->path ? module->path : "", identity.segments);
  return 0;
}

/* Remembers which modules are loaded, at the beginning of a trace and after each cut. */
GOTRACE__FN void gotrace__modules_look(void) {
  struct gotrace__modules *all = &gotrace__modules;
  size_t count = 0;
  if (!all->seen) all->seen = (gotrace__ranges *)gotrace__allocate(&all->budget, 2 * sizeof *all->seen, true);
  if (!all->seen || GOTRACE__C(dl_iterate_phdr)(gotrace__look_visit, &count) != 0) return;
  all->latest = !all->latest;
  all->seen[all->latest].count = count;
  all->seen[all->latest].cuts = gotrace__load_relaxed(&gotrace__t.cut_count);
}

/* Whether another module may have been at an address when it was recorded. A generation's events happened after the cut
 * at its beginning. Of the snapshots before that cut, only the latest matters for them. */
GOTRACE__FN bool gotrace__was_other(const gotrace__found *found) {
  uint64_t identity = gotrace__range_identity(found->at.base, found->at.path, found->at.identity.segments);
  uint64_t cut = gotrace__load_relaxed(&gotrace__t.cut_count); /* number of cuts before the generation's events */
  const struct gotrace__modules *all = &gotrace__modules;
  unsigned n;
  size_t i;
  for (n = 0; n < 2 && all->seen && found->counted; n++) {
    const gotrace__ranges *seen = &all->seen[n ? !all->latest : all->latest];
    if (n && all->seen[all->latest].cuts < cut) break;
    if (seen->unloads == found->at.unloads) continue;
    for (i = 0; i < seen->count; i++)
      if (found->pc - 1 >= seen->ranges[i].low && found->pc - 1 < seen->ranges[i].high &&
          seen->ranges[i].identity != identity)
        return true;
  }
  return false;
}

/* The module that was at an address where none is now; NULL unless exactly one is known. */
GOTRACE__FN gotrace__module_record *gotrace__unloaded_module(uintptr_t pc) {
  gotrace__module_record *record = gotrace__modules.records, *only = NULL;
  for (; record; record = record->next) {
    if (pc - 1 < record->at.low || pc - 1 >= record->at.high) continue;
    if (only) return NULL;
    only = record;
  }
  return only;
}

/* The function that contains pc: its name, or "module!0xstart", or "module+0xoffset". *file is the module's path, valid
 * until the next call. False: no module is there, or another may have been. */
GOTRACE__FN bool gotrace__symbol(uintptr_t pc, char *name, size_t size, const char **file) {
  struct gotrace__modules *all = &gotrace__modules;
  gotrace__found found, again;
  gotrace__module_record *record;
  const char *function = NULL, *slash, *path;
  int saved = errno;
  bool loaded = gotrace__find_module(pc, &found, NULL, 0);
  all->last = NULL;
  if (loaded && gotrace__was_other(&found)) return false;
  record = loaded ? gotrace__module_of(&found) : gotrace__unloaded_module(pc);
  if (!loaded && !record) return false;
  if (record) function = gotrace__elf_name(&record->symbols, pc - 1 - record->at.base);
  if (function) snprintf(name, size, "%s", function);
  if (!function && loaded && !(record && record->symbols.dynamic) && gotrace__find_module(pc, &again, name, size) &&
      gotrace__elf_same(&again.at.identity, &found.at.identity))
    function = again.name;
  errno = saved;
  all->last = record;
  if (!record) {
    *file = "";
    if (!function) snprintf(name, size, "0x%llx", GOTRACE__LLU(pc));
    return true;
  }
  *file = path = record->path;
  if (function) return true;
  slash = (strrchr)(path, '/');
  if (slash) path = slash + 1;
  if (loaded && found.start) snprintf(name, size, "%.200s!0x%llx", path, GOTRACE__LLU(found.start));
  else snprintf(name, size, "%.200s+0x%llx", path, GOTRACE__LLU(pc - record->at.base));
  return true;
}

GOTRACE__FN void gotrace__modules_free(void) {
  struct gotrace__modules *all = &gotrace__modules;
  while (all->records) {
    gotrace__module_record *record = all->records;
    all->records = record->next;
    gotrace__elf_free(&record->symbols, &all->budget);
    gotrace__release(&all->budget, record, sizeof *record);
  }
  gotrace__release(&all->budget, all->seen, 2 * sizeof *all->seen);
  all->seen = NULL;
  all->last = NULL;
  all->count = 0;
}
#else
#define gotrace__modules_look() ((void)0)
#define gotrace__modules_free() ((void)0)
#endif

/* ----------------------------------------------------------------------------------------------------- >>sinks ---- */

/* Writes a trace without the program's events to the file, so that it is a valid trace from the start, whatever happens
 * to the program or the disk. False and errno on failure. Files that are not regular are left unchanged. */
GOTRACE__FN bool gotrace__write_empty_trace(void) {
  struct gotrace__tracer *t = &gotrace__t;
  return gotrace__file_seek(&t->file, 0) && gotrace__file_write(&t->file, t->empty_trace, t->empty_trace_size);
}

GOTRACE__FN void gotrace__append_piece(gotrace__piece **first, gotrace__piece **last, gotrace__piece *piece) {
  if (*last) (*last)->link = piece;
  else *first = piece;
  *last = piece;
}

/* The caller holds the flight lock. */
GOTRACE__FN void gotrace__past_free(gotrace__past *past) {
  struct gotrace__tracer *t = &gotrace__t;
  if (!past) return;
  while (past->first) {
    gotrace__piece *piece = past->first;
    past->first = piece->link;
    t->past_bytes -= piece->size;
    gotrace__release(&t->flight_budget, piece, sizeof *piece + piece->size);
  }
  gotrace__release(&t->flight_budget, past, sizeof *past);
}

/* Frees the generations before the first that is kept or still to be written. The caller holds the flight lock. */
GOTRACE__FN void gotrace__past_trim(void) {
  struct gotrace__tracer *t = &gotrace__t;
  while (t->past && t->past != t->kept && t->past != t->writing) {
    gotrace__past *past = t->past;
    t->past = past->link;
    if (!t->past) t->past_last = NULL;
    gotrace__past_free(past);
  }
}

/* Drops the oldest generation. The caller holds the flight lock. */
GOTRACE__FN void gotrace__past_forget(void) {
  gotrace__t.kept = gotrace__t.kept->link;
  gotrace__past_trim();
}

/* Frees what is kept, except what a snapshot is writing. The caller holds the flight lock. */
GOTRACE__FN void gotrace__past_clear(void) {
  struct gotrace__tracer *t = &gotrace__t;
  t->kept = NULL;
  gotrace__past_trim();
  gotrace__past_free(t->past_open);
  t->past_open = NULL;
}

/* Keeps one piece of the trace. Three quarters of the memory are for kept data, the rest for data being written. If
 * snapshots that are being written use it all, this generation is lost and older ones dropped: a trace has no gaps. */
GOTRACE__FN void gotrace__past_add(const void *data, size_t size) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__piece *piece = NULL;
  size_t most = t->options.flight_bytes / 4 * 3;
  if (gotrace__load_relaxed(&t->bytes) == size) return; /* the header, which each snapshot writes itself */
  gotrace__lock(&t->flight_lock);
  while (t->kept && t->past_bytes + size > most) gotrace__past_forget();
  if (!t->past_open) t->past_open = (gotrace__past *)gotrace__allocate(&t->flight_budget, sizeof *t->past_open, false);
  if (t->past_open && !t->past_lost && t->past_bytes + size <= most)
    piece = (gotrace__piece *)gotrace__allocate(&t->flight_budget, sizeof *piece + size, false);
  if (piece) {
    piece->size = (uint32_t)size;
    t->past_bytes += size;
    memcpy(piece + 1, data, size);
    gotrace__append_piece(&t->past_open->first, &t->past_open->last, piece);
  } else {
    t->past_lost = true;
    gotrace__past_clear();
  }
  gotrace__unlock(&t->flight_lock);
}

/* Completes the generation that is being kept, and drops those that are too old. */
GOTRACE__FN void gotrace__past_complete(void) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t now = gotrace__nanoseconds(), age = (uint64_t)t->options.flight_milliseconds * 1000000;
  gotrace__lock(&t->flight_lock);
  if (t->past_open && !t->past_lost) {
    t->past_open->end_nanoseconds = now;
    if (t->past_last) t->past_last->link = t->past_open;
    else t->past = t->past_open;
    t->past_last = t->past_open;
    if (!t->kept) t->kept = t->past_open;
    t->past_open = NULL;
  }
  t->past_lost = false;
  while (t->kept && t->kept != t->past_last && now - t->kept->end_nanoseconds >= age) gotrace__past_forget();
  gotrace__unlock(&t->flight_lock);
  gotrace__lock(&t->queue_lock);
  gotrace__count(&t->past_count, 1);
  gotrace__cond_wake(&t->changed);
  gotrace__unlock(&t->queue_lock);
}

/* Writes a piece of the trace to the file. The first one is the header, which the empty trace has. The second one,
 * which has a whole generation or fills a piece, replaces the rest of the empty trace in one write. */
GOTRACE__FN bool gotrace__file_sink(const void *data, size_t size) {
  struct gotrace__tracer *t = &gotrace__t;
  if (!t->is_empty) return gotrace__file_write(&t->file, data, size);
  if (gotrace__load_relaxed(&t->bytes) == size) return true;
  if (!gotrace__file_seek(&t->file, GOTRACE__HEADER_SIZE) || !gotrace__file_write(&t->file, data, size)) return false;
  if (GOTRACE__HEADER_SIZE + size < t->empty_trace_size &&
      !gotrace__file_truncate(&t->file, GOTRACE__HEADER_SIZE + size))
    return false;
  t->is_empty = false;
  return true;
}

/* After a failure, truncates the file to its last consistent cut; before the first cut, that is the empty trace. */
GOTRACE__FN void gotrace__sink_failure(void) {
  struct gotrace__tracer *t = &gotrace__t;
  int error = errno;
  uint64_t consistent = gotrace__load_relaxed(&t->consistent_bytes);
  if (t->file.number >= 0) {
    if (!consistent && t->file.regular && gotrace__write_empty_trace()) consistent = t->empty_trace_size;
    /* Nothing more can be done if that is refused: the size of the trace is in the statistics. */
    (void)gotrace__file_truncate(&t->file, consistent);
  }
  gotrace__lock(&t->queue_lock);
  t->sink_failed = true;
  t->system_error = error;
  gotrace__store_relaxed(&t->bytes, consistent); /* what follows does not count */
  gotrace__store_relaxed(&t->consistent_bytes, consistent);
  gotrace__unlock(&t->queue_lock);
  gotrace__store_relaxed(&t->early, (uint32_t)GOTRACE_ERROR_SINK); /* even if the trace has already ended */
}

/* Passes one piece of the trace to the sink. After a failure the rest of the trace is read and discarded. */
GOTRACE__FN void gotrace__sink(const void *data, size_t size) {
  struct gotrace__tracer *t = &gotrace__t;
  bool ok;
  if (t->flight) {
    gotrace__past_add(data, size);
    return;
  }
  if (t->sink_failed) return;
  errno = 0;
  gotrace__set_in_sink(true);
  ok = t->file.number >= 0 ? gotrace__file_sink(data, size) : t->options.write(t->options.context, data, size);
  gotrace__set_in_sink(false);
  if (ok) return;
  gotrace__sink_failure();
  gotrace__end_early(GOTRACE_ERROR_SINK);
}

/* ---------------------------------------------------------------------------------------------------- >>driver ---- */

#define GOTRACE__PIECE_BYTES 65536u /* with the gotrace__piece */
#define GOTRACE__PIECE_ROOM (GOTRACE__PIECE_BYTES - (uint32_t)sizeof(gotrace__piece))

/* Hands everything written so far to the reader. The caller holds the work lock. `cut`: it is a complete trace. */
GOTRACE__FN void gotrace__hand_over(bool cut) {
  struct gotrace__tracer *t = &gotrace__t;
  if (!t->unready) return;
  t->unready_last->ends_cut = cut;
  gotrace__lock(&t->queue_lock);
  gotrace__append_piece(&t->pieces, &t->pieces_last, t->unready);
  t->pieces_last = t->unready_last;
  gotrace__unlock(&t->queue_lock);
  t->unready = t->unready_last = NULL;
}

GOTRACE__FN void gotrace__pieces_free(gotrace__budget *budget, gotrace__piece **list) {
  gotrace__piece *piece;
  while ((piece = *list) != NULL) {
    *list = piece->link;
    gotrace__release(budget, piece, GOTRACE__PIECE_BYTES);
  }
}

/* Receives the trace from the transcriber. */
GOTRACE__FN bool gotrace__take_output(void *context, const void *data, size_t size) {
  struct gotrace__tracer *t = (struct gotrace__tracer *)context;
  const uint8_t *from = (const uint8_t *)data;
  while (size) {
    gotrace__piece *piece = t->unready_last;
    uint32_t room = piece ? GOTRACE__PIECE_ROOM - piece->size : 0;
    if (!room) {
      gotrace__lock(&t->queue_lock);
      piece = t->spare_piece;
      t->spare_piece = NULL;
      gotrace__unlock(&t->queue_lock);
      if (!piece) piece = (gotrace__piece *)gotrace__allocate(&t->budget, GOTRACE__PIECE_BYTES, false);
      if (!piece) return false;
      memset(piece, 0, sizeof *piece);
      gotrace__append_piece(&t->unready, &t->unready_last, piece);
      room = GOTRACE__PIECE_ROOM;
    }
    if (room > size) room = (uint32_t)size;
    memcpy((uint8_t *)(piece + 1) + piece->size, from, room);
    piece->size += room;
    from += room;
    size -= room;
  }
  return true;
}

/* A chunk whose records have all been applied goes to the next thread that needs one; after the end, its memory to the
 * rest of the trace. */
GOTRACE__FN void gotrace__chunk_done(void *context, gotrace__record_chunk *chunk) {
  struct gotrace__tracer *t = (struct gotrace__tracer *)context;
  if (gotrace__chunk_bytes(chunk) != t->chunk_bytes || !gotrace__load_relaxed(&gotrace__on) ||
      gotrace__load_relaxed(&t->budget.used) > t->options.memory_limit) {
    gotrace__chunk_free(&t->budget, chunk);
    chunk = NULL;
  }
  gotrace__lock(&t->queue_lock);
  if (chunk) {
    chunk->next = t->spare_chunks;
    t->spare_chunks = chunk;
  }
  if (t->blocks) gotrace__cond_wake(&t->changed);
  gotrace__unlock(&t->queue_lock);
}

/* Names an address for the transcriber. */
GOTRACE__FN bool gotrace__name_address(void *context, gotrace_location *place, char *text, size_t size) {
  const gotrace_options *options = &((struct gotrace__tracer *)context)->options;
  bool entry = place->line == 1, found = false;
  if (entry) place->line = 0;
  if (options->symbolize) {
    gotrace__set_in_sink(true);
    found = options->symbolize(options->context, place);
    gotrace__set_in_sink(false);
  }
  if (found) return true;
  place->function = NULL;
  if (!gotrace__symbol(place->pc + entry, text, size, &place->file)) return false;
  place->function = text;
#ifdef GOTRACE__ELF
  if (gotrace__modules.last) gotrace__modules.last->noted = 1;
#endif
  return true;
}

#if GOTRACE_DEBUG
/* Reports a problem of the record being applied, once per call site. */
GOTRACE__FN void gotrace__report(void *context, gotrace__transcriber *r, gotrace_problem problem) {
  const gotrace_options *options = &((struct gotrace__tracer *)context)->options;
  const gotrace__source *source = r->current;
  gotrace_site *site = (gotrace_site *)source->site;
  uint64_t bit = (uint64_t)1 << problem;
  char line[512], name[256];
  int before;
  if (source == &r->service) return;
  if (site && (gotrace__load_relaxed(&site->reported) & bit)) return;
  if (site) gotrace__store_relaxed(&site->reported, gotrace__load_relaxed(&site->reported) | bit);
  snprintf(line, sizeof line, "gotrace: %s:%u: %s: %s (%s); goroutine %lld, proc %lld, thread %llu",
           site && site->location.file ? site->location.file : "?", site ? (unsigned)site->location.line : 0,
           site && site->location.function ? gotrace__short_name(site->location.function, name, sizeof name) : "?",
           gotrace__problems[problem].text, gotrace_problem_outcome(problem),
           source->go ? GOTRACE__LL(source->go->id) : -1, source->proc ? GOTRACE__LL(source->proc->id) : -1,
           GOTRACE__LLU(source->id));
  before = gotrace__cancel_off();
  if (options->report) options->report(options->context, line);
  else fprintf(stderr, "%s\n", line);
  gotrace__cancel_restore(before);
}
#endif

/* Adds the modules of named addresses to the strings of a generation, for `gotrace symbolize`: "gotrace.module BASE
 * LOW-HIGH BUILD-ID PATH", numbers in base 16, BUILD-ID "-" if it has none. No event refers to them. */
GOTRACE__FN void gotrace__write_modules(void *context, gotrace__transcriber *r) {
#ifdef GOTRACE__ELF
  const gotrace__module_record *record;
  for (record = gotrace__modules.records; record; record = record->next) {
    char text[GOTRACE__MODULE_PATH + 256], id[2 * GOTRACE__BUILD_ID + 1] = "-";
    unsigned i;
    int size;
    if (!record->noted) continue;
    for (i = 0; i < record->at.identity.build_id_size; i++)
      snprintf(id + 2 * (size_t)i, 3, "%02x", record->at.identity.build_id[i]);
    size = snprintf(text, sizeof text, "gotrace.module %llx %llx-%llx %s %s", GOTRACE__LLU(record->at.base),
                    GOTRACE__LLU(record->at.low), GOTRACE__LLU(record->at.high), id, record->path);
    if (size > 0 && size <= GOTRACE_MAX_STRING_SIZE) gotrace__write_text(r, text, (uint32_t)size, false);
  }
#endif
  (void)context, (void)r;
}

/* Gives the transcriber the next CPU sample. */
GOTRACE__FN uint64_t gotrace__take_sample(void *context, gotrace__transcriber *r, bool write) {
  struct gotrace__tracer *t = (struct gotrace__tracer *)context;
  while (t->samples) {
    uint64_t tail = t->sample_tail;
    gotrace__sample *sample = &t->samples[tail % GOTRACE__SAMPLES];
    const gotrace__source *source;
    int64_t proc;
    if (gotrace__load_acquire(&sample->turn) != tail / GOTRACE__SAMPLES * 2 + 1) break;
    source = sample->record ? sample->record->source : NULL;
    proc = sample->proc;
    if (sample->session == r->options.session) { /* otherwise of an earlier trace */
      if (!write) return sample->time;
      if (proc >= 0 && (size_t)proc < r->place_capacity && r->proc_ids[proc]) proc = (int64_t)r->proc_ids[proc] - 1;
      else if (source && source->id == sample->thread && source->proc && source->go && source->go->id == sample->go)
        proc = (int64_t)source->proc->id; /* one that the transcriber has made */
      gotrace__transcribe_sample(r, sample->time, sample->thread, proc, sample->place, sample->go, sample->pcs,
                                 sample->count);
      write = false;
    }
    t->sample_tail = tail + 1;
    gotrace__store_release(&sample->turn, tail / GOTRACE__SAMPLES * 2 + 2);
  }
  return UINT64_MAX;
}

/* Waits until a round applies everything that has happened so far, see GOTRACE__CLOCK_SKEW. */
GOTRACE__FN void gotrace__pass_skew(void) {
  uint64_t until = gotrace__now() + 2 * GOTRACE__CLOCK_SKEW, since = gotrace__nanoseconds();
  while (gotrace__now() <= until && gotrace__nanoseconds() - since < 1000000)
    continue; /* the counter may stand still */
}

/* Reads the clocks at one time, as far as the system lets the thread run. */
GOTRACE__FN void gotrace__read_clocks(gotrace__clocks *clocks) {
  int tries;
  for (tries = 0; tries < 8; tries++) {
    clocks->nanoseconds = gotrace__nanoseconds();
    gotrace__wall_clock(&clocks->wall_seconds, &clocks->wall_nanoseconds);
    clocks->tick = gotrace__now();
    if (gotrace__nanoseconds() - clocks->nanoseconds < 20000) break;
  }
}

/* Gives the transcriber the threads that have begun to write. */
GOTRACE__FN void gotrace__attach_threads(gotrace__transcriber *r) {
  uint32_t session = r->options.session;
  uint64_t id;
  gotrace__thread *m = gotrace__load_seq_cst(&gotrace__t.threads);
  for (; m; m = m->next) {
    if (gotrace__load_acquire(&m->first_session) != session || m->read_session == session) continue;
    id = gotrace__load_relaxed(&m->system_id);
    /* With another id: the thread that was listed has ended, and this one has its record. */
    if (!m->source || m->source->id != id) m->source = gotrace__transcribe_thread(r, id, NULL);
    if (!m->source) return; /* out of memory: the trace ends */
    m->source->chunk = m->first;
    m->read_session = session;
    gotrace__t.thread_total++;
  }
}

/* After a round: gives back the records of threads that have ended. */
GOTRACE__FN void gotrace__look_at_threads(gotrace__transcriber *r) {
  uint32_t session = r->options.session;
  gotrace__thread *m = gotrace__load_seq_cst(&gotrace__t.threads);
  for (; m; m = m->next) {
    gotrace__source *source = m->source;
    gotrace__record_chunk *chunk;
    if (m->read_session != session || !source || !(chunk = source->chunk)) continue;
    gotrace__store_relaxed(&m->read_at, gotrace__read_at(source));
    gotrace__store_relaxed(&m->read_chunk, chunk);
    if (chunk != source->known || gotrace__read_at(source) < source->known_size) continue;
    if (!source->gone || gotrace__load_acquire(&m->in_call)) continue; /* in gotrace__thread_over */
    gotrace__transcribe_release(r, source);
    gotrace__chunk_done(&gotrace__t, chunk);
    m->source = NULL;
    m->chunk = NULL;
    m->ready = GOTRACE__NEVER;
    m->session = m->read_session = 0;
    gotrace__store_relaxed(&m->first_session, 0u);
    gotrace__store_release(&m->used, (uint32_t)GOTRACE__FREE_RECORD);
  }
}

/* The statistics as of now, without what the reader counts. What has been written since the last cut does not count if
 * it is lost. The caller holds the work lock. */
GOTRACE__FN void gotrace__publish_stats(const gotrace__transcriber *r, bool cut) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_stats *stats = &t->published;
  size_t i;
  gotrace__lock(&t->queue_lock);
  memset(stats, 0, sizeof *stats);
  stats->events = r->events;
  stats->goroutines = r->goroutines;
  stats->clock_jumps = r->counters.jumps;
  for (i = 0; i < GOTRACE__KINDS; i++) stats->kinds[i] = r->kinds[i];
  if (r->error == GOTRACE_ERROR_SINK) *stats = t->at_cut;
  else if (cut) t->at_cut = *stats;
  stats->threads = t->thread_total;
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) stats->problems[i] = r->problems[i];
  gotrace__unlock(&t->queue_lock);
}

/* Ends a generation, and hands the trace up to here to the reader. The caller holds the work lock. */
GOTRACE__FN void gotrace__cut(gotrace__transcriber *r, bool last) {
  struct gotrace__tracer *t = &gotrace__t;
  if (r->error && !last) return; /* it ends with the trace */
  if (last) gotrace__transcribe_end(r);
  else gotrace__transcribe_cut(r);
  t->last_cut = gotrace__load_relaxed(&t->last_round);
  if (r->error == GOTRACE_ERROR_SINK) return;
  gotrace__count(&t->cut_count, 1);
  gotrace__hand_over(true);
  gotrace__modules_look();
  gotrace__publish_stats(r, true);
}

/* One round; then a cut, if it is due or `cut`; the trace's end, if tracing is off. `all`: as many rounds as everything
 * takes that has happened before. */
GOTRACE__FN void gotrace__work(bool cut, bool all) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__transcriber *r;
  gotrace__clocks clocks;
  gotrace_result failed = GOTRACE_OK;
  bool on, more;
  gotrace__lock(&t->work);
  r = t->transcriber;
  if (!r || t->ended) {
    gotrace__unlock(&t->work);
    return;
  }
  gotrace__lock(&t->queue_lock);
  t->work_wanted = false;
  gotrace__unlock(&t->queue_lock);
  on = gotrace__load_seq_cst(&gotrace__on) == r->options.session;
  if (!on) gotrace__await_calls();
  if (all && on) gotrace__pass_skew();
  gotrace__read_clocks(&clocks);
  gotrace__attach_threads(r);
  gotrace__store_relaxed(&t->last_round, clocks.nanoseconds);
  do {
    bool due;
    more = gotrace__transcribe_round(r, &clocks, !on);
    due = gotrace__transcribe_is_full(r) ||
          (on && clocks.nanoseconds - t->last_cut >= (uint64_t)t->options.cut_milliseconds * 1000000);
    if (!more && (cut || !on)) due = true;
    if (due) gotrace__cut(r, !more && !on);
  } while (more && all);
  if (on) gotrace__look_at_threads(r);
  if (r->error == GOTRACE_ERROR_SINK) { /* no memory for its output: the trace ends with the last cut */
    gotrace__pieces_free(&t->budget, &t->unready);
    t->unready_last = NULL;
  }
  if (r->error) failed = GOTRACE_ERROR_OUT_OF_MEMORY;
  else if (r->full) failed = GOTRACE_LIMIT_REACHED;
  else if (gotrace__load_relaxed(&t->budget.used) > t->options.memory_limit + GOTRACE__MODEL_BYTES &&
           t->options.on_limit != GOTRACE_LIMIT_BLOCK)
    failed = GOTRACE_LIMIT_REACHED;
  gotrace__publish_stats(r, false);
  if (!on && (r->error || r->full) && !gotrace__result()) gotrace__store_relaxed(&t->early, (uint32_t)failed);
  gotrace__lock(&t->queue_lock);
  t->work_wanted = t->work_wanted || more;
  t->ended = !on && !more;
  t->empty = t->ended && !t->cut_count;
  gotrace__cond_wake(&t->changed);
  gotrace__unlock(&t->queue_lock);
  gotrace__unlock(&t->work);
  if (on && failed != GOTRACE_OK) gotrace__end_early(failed);
}

/* ---------------------------------------------------------------------------------------------------- >>reader ---- */

/* Calls that start, cut, read, write and stop are refused inside the tracer (`ends`: see gotrace__is_refused). Their
 * thread is not cancelled meanwhile. */
typedef struct gotrace__control {
  int cancel;
  uintptr_t outer; /* the call whose sink makes this one; or 0 */
} gotrace__control;
GOTRACE__FN inline bool gotrace__control_begin(gotrace__control *control, bool ends) {
  if (gotrace__is_refused(ends)) return false;
  control->cancel = gotrace__cancel_off();
  control->outer = gotrace__control_position;
  gotrace__control_position = GOTRACE__POSITION();
  gotrace__signal_fence();
  gotrace__init();
  return true;
}
GOTRACE__FN void gotrace__control_end(const gotrace__control *control) {
  gotrace__signal_fence();
  gotrace__control_position = control->outer;
  gotrace__cancel_restore(control->cancel);
}

/* A thread was cancelled while it waited in gotrace_read: another thread may continue to read. */
GOTRACE__FN void gotrace__read_cancelled(void *mutex) {
  gotrace__store_release(&gotrace__t.reader, 0u);
  gotrace__unlock_cancelled(mutex);
}

/* Once a second: the service thread must not keep the process alive, and ends the trace if it is the last thread. */
GOTRACE__FN void gotrace__look_for_threads(void) {
#if !GOTRACE_NO_THREADS
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t now = gotrace__nanoseconds();
  long count;
  if (now - t->last_look < 1000000000 || t->is_orphan) return;
  t->last_look = now;
  count = gotrace__threads_after_main();
  if (count < 1 || count > 2) return; /* others than main and the service */
  t->is_orphan = true;
  gotrace__end_early(GOTRACE_OK);
#endif
}

/* Whether the service thread waits on for a pipe that takes nothing. If no other thread is left, it waits as long as
 * exit would. */
GOTRACE__FN bool gotrace__sink_waits(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__look_for_threads();
  return !t->is_orphan ||
         gotrace__nanoseconds() - gotrace__load_relaxed(&t->moved) < (uint64_t)t->options.exit_milliseconds * 1000000;
}

/* Recycles the piece delivered last. */
GOTRACE__FN void gotrace__take_back(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__piece *piece;
  bool cut;
  gotrace__lock(&t->queue_lock);
  piece = t->reading;
  t->reading = NULL;
  t->takes = true;
  cut = piece ? piece->ends_cut : t->empty == 2;
  if (cut) { /* the data read so far have been used, and are a complete trace */
    t->empty = 0;
    gotrace__store_relaxed(&t->consistent_bytes, gotrace__load_relaxed(&t->bytes));
    gotrace__count(&t->cuts, 1);
  }
  if (piece && !t->spare_piece) {
    t->spare_piece = piece;
    piece = NULL;
  }
  gotrace__unlock(&t->queue_lock);
  gotrace__release(&t->budget, piece, GOTRACE__PIECE_BYTES);
  if (cut && t->flight) gotrace__past_complete();
}

#define GOTRACE__ROUND_MILLISECONDS 100u

/* Waits for data, or until a round is due. Returns whether one is. The caller holds the queue lock. */
GOTRACE__FN bool gotrace__await_data(bool block) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t passed = (gotrace__nanoseconds() - gotrace__load_relaxed(&t->last_round)) / 1000000,
           period = GOTRACE__ROUND_MILLISECONDS;
  if (period > t->options.cut_milliseconds) period = t->options.cut_milliseconds;
  if (!gotrace__load_relaxed(&gotrace__on)) return true;
  if (t->options.late && gotrace__load_relaxed(&t->budget.used) < t->options.memory_limit / 2) passed = 0;
  else if (t->work_wanted || passed >= period) return true;
  if (!block) return false;
  gotrace__cancel_restore(t->reader_cancel);
  gotrace__wait(&t->changed, &t->queue_lock, period - passed + 1, gotrace__read_cancelled);
  t->reader_cancel = gotrace__cancel_off();
  return false;
}

GOTRACE__FN gotrace_result gotrace__read_end(void) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t session = t->session; /* another session may start before this call ends */
  bool clean_up;
  gotrace__lock(&t->queue_lock);
  gotrace__store_relaxed(&t->done, 1u);
  clean_up = !t->stopping && !t->service;
  gotrace__cond_wake(&t->changed);
  gotrace__unlock(&t->queue_lock);
  if (!clean_up) return GOTRACE_OK;
  gotrace__lock(&t->life);
  if (!t->stopping && t->session == session) gotrace__clean_up();
  gotrace__unlock(&t->life);
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__read_locked(const void **data, size_t *size, bool block) {
  struct gotrace__tracer *t = &gotrace__t;
  bool tried = false;
  gotrace__take_back();
  for (;;) {
    bool due = false, ended;
    gotrace__piece *piece;
    gotrace__lock(&t->queue_lock);
    piece = t->pieces;
    ended = t->ended;
    if (piece) {
      t->pieces = piece->link;
      if (!t->pieces) t->pieces_last = NULL;
      t->reading = piece;
      *data = piece + 1;
      *size = piece->size;
    } else if (ended && t->empty) {
      t->empty = 2;
      *data = t->empty_trace + GOTRACE__HEADER_SIZE; /* the header has been delivered */
      *size = t->empty_trace_size - GOTRACE__HEADER_SIZE;
    } else if (!ended && !(tried && !block)) {
      due = gotrace__await_data(block);
    }
    gotrace__unlock(&t->queue_lock);
    if (*size) {
      gotrace__store_relaxed(&t->moved, gotrace__nanoseconds());
      if (!t->sink_failed) gotrace__count(&t->bytes, *size);
      return GOTRACE_OK;
    }
    if (ended) return gotrace__read_end();
    if (due) gotrace__work(false, false);
    else if (!block) return GOTRACE_WOULD_BLOCK;
    if (t->service) gotrace__look_for_threads();
    tried = due;
  }
}

GOTRACE__FN gotrace_result gotrace__read_next(const void **data, size_t *size, bool block, bool service) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_result result;
  uint32_t nobody = 0;
  bool active, served, done;
  *data = NULL;
  *size = 0;
  /* A reader that the service excludes returns at once, so the service waits for it. It must not end the service. */
  for (; !gotrace__cas_acq_rel(&t->reader, &nobody, 1u); nobody = 0) {
    if (!service || GOTRACE_NO_THREADS) return GOTRACE_ERROR_READER_BUSY;
    gotrace__sleep();
  }
  gotrace__lock(&t->life);
  active = t->active;
  served = t->service;
  done = gotrace__load_relaxed(&t->done) != 0; /* then another session may start at any time */
  gotrace__unlock(&t->life);
  if (!active || (served == service && done)) {
    result = GOTRACE_ERROR_NOT_RUNNING;
  } else if (served != service) {
    result = GOTRACE_ERROR_READER_BUSY;
  } else {
    gotrace__store_relaxed(&t->read_by, gotrace__identity());
    t->reader_cancel = gotrace__cancel_off();
    result = gotrace__read_locked(data, size, block);
    gotrace__cancel_restore(t->reader_cancel);
    t->takes = false;
  }
  gotrace__store_release(&t->reader, 0u);
  return result;
}

/* Reads the trace to its end, or (block false) as far as data are available. */
GOTRACE__FN void gotrace__drain(bool block) {
  const void *data;
  size_t size;
  int saved = errno; /* without threads, any call may do this */
  while (gotrace__read_next(&data, &size, block, true) == GOTRACE_OK && size) gotrace__sink(data, size);
  errno = saved;
}

#if !GOTRACE_NO_THREADS
GOTRACE__FN void gotrace__service(void) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t asked;
  gotrace__low_priority();
  gotrace__drain(true);
  if (!t->is_orphan) return;
  asked = gotrace__write_asked(true);
  gotrace__lock(&t->life);
  gotrace__clean_up();
  gotrace__unlock(&t->life);
  gotrace__say_stats(asked);
  gotrace__thread_detach(t->service_thread); /* no thread is left to join it */
}
#endif

GOTRACE__FN gotrace_result gotrace__read_call(const void **data, size_t *size, bool block) {
  gotrace__control control;
  gotrace_result result;
  if (!data || !size) return GOTRACE_ERROR_ARGUMENT;
  if (!gotrace__control_begin(&control, false)) return GOTRACE_ERROR_NESTED;
  gotrace__cancel_restore(control.cancel); /* the wait turns it off and on */
  result = gotrace__read_next(data, size, block, false);
  gotrace__control_end(&control);
  return result;
}
GOTRACE__DEFINE gotrace_result gotrace_read(const void **data, size_t *size) {
  return gotrace__read_call(data, size, true);
}
GOTRACE__DEFINE gotrace_result gotrace_try_read(const void **data, size_t *size) {
  return gotrace__read_call(data, size, false);
}

/* Adds what the reader counts, and the sums. */
GOTRACE__FN void gotrace__sum(gotrace_stats *stats) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t *const sums[] = {&stats->dropped, &stats->repaired, &stats->left_out};
  size_t i;
  gotrace__lock(&t->queue_lock);
  *stats = t->published;
  stats->system_error = t->system_error;
  stats->bytes = gotrace__load_relaxed(&t->bytes);
  stats->consistent_bytes = gotrace__load_relaxed(&t->consistent_bytes);
  gotrace__unlock(&t->queue_lock);
  stats->result = gotrace__result();
  stats->cuts = gotrace__load_relaxed(&t->cuts);
  stats->memory_peak = gotrace__load_relaxed(&t->budget.peak) + gotrace__load_relaxed(&t->flight_budget.peak);
  stats->problems[GOTRACE_PROBLEM_SAMPLE_LOST] += gotrace__load_relaxed(&t->samples_lost);
  stats->problems[GOTRACE_PROBLEM_NO_MEMORY] += gotrace__load_relaxed(&t->lost);
  stats->problems[GOTRACE_PROBLEM_NESTED] += gotrace__load_relaxed(&t->nested);
  stats->problems[GOTRACE_PROBLEM_THREAD_OVER] += gotrace__load_relaxed(&t->over);
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++) *sums[gotrace__problems[i].done] += stats->problems[i];
}

GOTRACE__DEFINE void gotrace_get_stats(gotrace_stats *stats) {
  gotrace__control control;
  if (!stats) return;
  if (!gotrace__control_begin(&control, false)) {
    memset(stats, 0, sizeof *stats);
    return;
  }
  gotrace__lock(&gotrace__t.life);
  if (gotrace__t.active) gotrace__work(false, true);
  if (gotrace__t.active) gotrace__sum(stats);
  else *stats = gotrace__t.last;
  stats->other_copies = gotrace__load_relaxed(&gotrace__other_copies);
  gotrace__unlock(&gotrace__t.life);
  gotrace__control_end(&control);
}

/* ------------------------------------------------------------------------------------------------- >>lifecycle ---- */

#ifndef GOTRACE__EXIT_MILLISECONDS
#define GOTRACE__EXIT_MILLISECONDS 2000u
#endif
GOTRACE__FN gotrace_result gotrace__check_options(const gotrace_options *given, gotrace_options *options, bool flight) {
  memset(options, 0, sizeof *options);
  if (given) *options = *given;
  if (!options->format) options->format = GOTRACE_GO_1_23;
  if (flight) {
    if (options->format < GOTRACE_GO_1_22) return GOTRACE_ERROR_FORMAT;
    if (!options->flight_milliseconds) options->flight_milliseconds = 10000;
    if (!options->flight_bytes) options->flight_bytes = (size_t)16 << 20;
    if (options->flight_bytes < (size_t)2 << 20) return GOTRACE_ERROR_ARGUMENT;
    options->memory_limit = options->flight_bytes / 4; /* the rest is for kept data */
    options->on_limit = GOTRACE_LIMIT_BLOCK;           /* only until the data are kept, which no sink delays */
    options->size_limit = 0;
    options->write = NULL;
    if (!options->cut_milliseconds || options->cut_milliseconds > options->flight_milliseconds / 4)
      options->cut_milliseconds = options->flight_milliseconds / 4 < 1000 ? options->flight_milliseconds / 4 : 1000;
    if (!options->cut_bytes || options->cut_bytes > options->flight_bytes / 16)
      options->cut_bytes = options->flight_bytes / 16;
  }
  if (!flight && !options->memory_limit) options->memory_limit = (size_t)256 << 20;
  if (!options->cut_milliseconds) options->cut_milliseconds = 1000;
  if (!options->exit_milliseconds) options->exit_milliseconds = GOTRACE__EXIT_MILLISECONDS;
  if (!options->cut_bytes) options->cut_bytes = (size_t)4 << 20;
  if (!gotrace__is_format((int)options->format)) return GOTRACE_ERROR_FORMAT;
  if ((unsigned)options->stacks > GOTRACE_STACKS_UNWIND || (unsigned)options->on_limit > GOTRACE_LIMIT_BLOCK ||
      (!flight && options->memory_limit < (size_t)1 << 20) ||
      (options->stacks == GOTRACE_STACKS_UNWIND && !options->unwind))
    return GOTRACE_ERROR_ARGUMENT;
  if (options->cut_bytes > options->memory_limit / 2) options->cut_bytes = options->memory_limit / 2;
  return GOTRACE_OK;
}

/* Frees the chunks that no round has applied completely, except those that threads still have. */
GOTRACE__FN void gotrace__unread_free(gotrace__budget *budget) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__thread *m;
  for (m = gotrace__load_seq_cst(&t->threads); m; m = m->next) {
    gotrace__record_chunk *chunk = NULL, *next;
    if (gotrace__load_acquire(&m->first_session) != t->session) continue;
    chunk = m->read_session != t->session ? m->first : m->source ? m->source->chunk : NULL;
    for (; chunk && chunk != m->chunk; chunk = next) {
      next = gotrace__load_acquire(&chunk->next);
      gotrace__chunk_free(budget, chunk);
    }
  }
}

/* Frees the chunks of all threads, and what waits to be read. A thread that is still in a call keeps its chunk and
 * frees it in its next session; false: there is one, which may use the tables. */
GOTRACE__FN bool gotrace__chunks_free(gotrace__budget *budget) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__record_chunk *chunk, *spare;
  gotrace__thread *m;
  uint64_t since = gotrace__nanoseconds();
  bool all = true;
  for (m = gotrace__load_seq_cst(&t->threads); m; m = m->next) {
    m->source = NULL;
    m->read_session = 0;
    gotrace__store_relaxed(&m->first_session, 0u);
    gotrace__store_relaxed(&m->read_chunk, (gotrace__record_chunk *)NULL);
    if (!gotrace__has_left(m, since)) { /* waits for calls while off, too: the flag does not tell them apart */
      all = false;
      continue;
    }
    if (m->chunk) {
      gotrace__chunk_free(budget, m->chunk);
      m->chunk = NULL;
      m->ready = GOTRACE__NEVER;
    }
    if (gotrace__load_acquire(&m->used) == GOTRACE__ENDED)
      gotrace__store_release(&m->used, (uint32_t)GOTRACE__FREE_RECORD);
  }
  gotrace__lock(&t->queue_lock); /* a thread that has not noticed the end may be about to take one */
  spare = t->spare_chunks;
  t->spare_chunks = NULL;
  gotrace__unlock(&t->queue_lock);
  while ((chunk = spare) != NULL) {
    spare = chunk->next;
    gotrace__chunk_free(budget, chunk);
  }
  gotrace__pieces_free(budget, &t->pieces);
  gotrace__pieces_free(budget, &t->unready);
  t->pieces_last = t->unready_last = NULL;
  gotrace__release(budget, t->spare_piece, GOTRACE__PIECE_BYTES);
  gotrace__release(budget, t->reading, GOTRACE__PIECE_BYTES);
  t->spare_piece = t->reading = NULL;
  return all;
}

/* Frees the session's memory, except the tables if a thread may use them: then they stay for ever, and in use. */
GOTRACE__FN void gotrace__session_free(gotrace__budget *budget) {
  struct gotrace__tracer *t = &gotrace__t;
  if (t->transcriber) gotrace__transcribe_free(t->transcriber);
  gotrace__release(&t->budget, t->transcriber, sizeof *t->transcriber);
  t->transcriber = NULL;
  gotrace__modules_free();
  if (!gotrace__chunks_free(budget)) return;
  gotrace__table_free(t->strings);
  gotrace__table_free(t->stacks);
  gotrace__table_free(t->site_numbers);
  t->strings = t->stacks = t->site_numbers = NULL;
}

/* Ends the session, after the trace has been read to its end. The caller holds the life lock. */
GOTRACE__FN void gotrace__clean_up(void) {
  struct gotrace__tracer *t = &gotrace__t;
  if (!t->active) return;
  if (t->file.number >= 0 && !gotrace__file_close(&t->file) && !t->sink_failed) gotrace__sink_failure();
  gotrace__sum(&t->last);
  gotrace__store_seq_cst(&t->cleaned, t->session); /* before the flags are read, see gotrace__thread_over */
  gotrace__lock(&t->work);
  gotrace__unread_free(&t->budget);
  gotrace__session_free(&t->budget);
  gotrace__lock(&t->flight_lock);
  gotrace__past_clear();
  gotrace__unlock(&t->flight_lock);
  gotrace__unlock(&t->work);
  t->active = false;
  gotrace__lock(&t->queue_lock);
  t->stopping = false;
  gotrace__unlock(&t->queue_lock);
}

GOTRACE__FN bool gotrace__append_empty(void *context, const void *data, size_t size) {
  struct gotrace__tracer *t = (struct gotrace__tracer *)context;
  if (t->empty_trace_size + size > sizeof t->empty_trace) return false;
  memcpy(t->empty_trace + t->empty_trace_size, data, size);
  t->empty_trace_size += (uint32_t)size;
  return true;
}

/* Makes a trace without events. A regular file has it from the start, and a trace that ends before its first cut, for
 * lack of memory, ends like it. Needs the transcriber's memory, which is zero again afterwards. */
GOTRACE__FN bool gotrace__make_empty_trace(unsigned version) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__transcribe_options options;
  gotrace__clocks clocks;
  bool ok;
  t->empty_trace_size = 0;
  memset(&options, 0, sizeof options);
  options.version = version;
  options.write = gotrace__append_empty;
  options.context = t;
  gotrace__read_clocks(&clocks);
  ok = gotrace__transcribe_begin(t->transcriber, &options, &clocks);
  if (ok) ok = gotrace__transcribe_finish(t->transcriber, &clocks) == GOTRACE_OK;
  gotrace__publish_stats(t->transcriber, true);
  gotrace__transcribe_free(t->transcriber);
  memset(t->transcriber, 0, sizeof *t->transcriber);
  return ok;
}

/* Starts the service thread, and only then empties the file. */
GOTRACE__FN gotrace_result gotrace__open_session(const char *path) {
  struct gotrace__tracer *t = &gotrace__t;
  bool serves = path || t->options.write || t->flight;
  if (!gotrace__make_empty_trace((unsigned)t->options.format)) return GOTRACE_ERROR_OUT_OF_MEMORY;
  t->is_empty = false;
#if !GOTRACE_NO_THREADS
  /* It waits for the life lock. If the start fails, it finds no session and ends. */
  if (serves && !gotrace__thread_run(&t->service_thread)) return GOTRACE_ERROR_THREAD;
#endif
  t->service = serves;
  if (!path) return GOTRACE_OK;
  if (!gotrace__file_truncate(&t->file, 0)) return GOTRACE_ERROR_SINK; /* the file is as it was */
  t->is_empty = t->file.regular;
  if (!t->is_empty || gotrace__write_empty_trace()) return GOTRACE_OK;
  (void)gotrace__file_truncate(&t->file, 0); /* the write has failed, which is what counts */
  return GOTRACE_ERROR_SINK;
}

/* The number of the stack of an entry. */
GOTRACE__FN uint32_t gotrace__living_entry(const gotrace_location *entry) {
  gotrace__stack_frame frame;
  if (!entry->pc && !(entry->function && entry->function[0])) return 0;
  return gotrace__entry_frame(gotrace__t.strings, entry, &frame) ? gotrace__stack_put(gotrace__t.stacks, &frame, 1) : 0;
}

/* Lists what lives, for what stays silent. Tracing is on already: records overrule the list. */
GOTRACE__FN void gotrace__list_living(gotrace__transcriber *r, uint64_t first_task) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__slab *slab;
  gotrace__thread *m;
  gotrace_proc *p;
  gotrace__open_task *tasks = gotrace__load_acquire(&t->open_tasks);
  size_t i, k;
  for (slab = gotrace__load_acquire(&t->slabs); slab; slab = slab->next)
    for (i = 0; i < GOTRACE__SLAB; i++) {
      gotrace_go *g = &slab->gos[i];
      gotrace_location entry;
      uint64_t id = gotrace__load_acquire(&g->id);
      unsigned status = gotrace__load_relaxed(&g->status);
      if (!id || !gotrace__load_acquire(&g->live)) continue;
      /* A record tells more, and this may be a later goroutine in the place of the one that it tells of. */
      if (gotrace__load_acquire(&g->introduced) == gotrace__load_relaxed(&t->session)) continue;
      entry = gotrace__entry_of(g);
      if (!gotrace__load_relaxed(&g->live) || gotrace__load_relaxed(&g->id) != id) continue;
      gotrace__transcribe_living_go(r, g->place, id, gotrace__living_entry(&entry), status,
                                    gotrace__load_relaxed(&g->flags));
    }
  for (p = gotrace__load_acquire(&t->procs); p; p = gotrace__load_acquire(&p->next))
    if (gotrace__load_acquire(&p->used)) gotrace__transcribe_living_proc(r, (uint64_t)p->id + 1);
  for (m = gotrace__load_seq_cst(&t->threads); m; m = m->next) {
    gotrace_go *g = gotrace__runs(m);
    bool in_syscall = gotrace__load_relaxed(&m->in_syscall);
    if (gotrace__load_acquire(&m->used) != GOTRACE__USED) continue;
    p = gotrace__load_relaxed(&m->proc);
    if (p && in_syscall && !gotrace__holds(m, p, GOTRACE__PROC_SYSCALL)) p = NULL; /* lost, or started since */
    if (!g && !p) continue;
    m->source = gotrace__transcribe_thread(r, gotrace__load_relaxed(&m->system_id), NULL);
    if (!m->source) return;
    gotrace__transcribe_living_thread(m->source, g ? g->place : 0, p ? (uint64_t)p->id + 1 : 0, in_syscall);
  }
  for (i = 0; tasks && i < GOTRACE__TASKS; i++) {
    uint64_t id = gotrace__load_acquire(&tasks[i].id), parent, words[GOTRACE__TASK_WORDS];
    char name[8 * GOTRACE__TASK_WORDS + 1] = "";
    if (!id || (id >= first_task && !(id & GOTRACE__TASK_SILENT))) continue;
    parent = gotrace__load_acquire(&tasks[i].parent);
    for (k = 0; k < GOTRACE__TASK_WORDS; k++) words[k] = gotrace__load_acquire(&tasks[i].name[k]);
    if (gotrace__load_relaxed(&tasks[i].id) != id) continue;
    for (k = 0; k < sizeof words; k++) name[k] = (char)(words[k / 8] >> k % 8 * 8);
    gotrace__transcribe_living_task(r, id, parent, name);
  }
}

GOTRACE__FN void gotrace__reset_session(uint32_t session) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__uint64 *const counts[] = {&t->past_count, &t->cut_count, &t->bytes, &t->consistent_bytes, &t->cuts,
                                     &t->lost,       &t->nested,    &t->over,  &t->samples_lost};
  size_t i;
  gotrace__store_relaxed(&t->version, (uint32_t)t->options.format);
  gotrace__store_relaxed(&t->session, session);
  t->past_lost = false;
  t->thread_total = 0;
  gotrace__store_relaxed(&t->chunk_bytes, t->options.memory_limit / 64 < GOTRACE__CHUNK_BYTES
                                              ? (uint32_t)(t->options.memory_limit / 64)
                                              : GOTRACE__CHUNK_BYTES);
  gotrace__store_relaxed(&t->blocks, t->options.on_limit == GOTRACE_LIMIT_BLOCK ? 1u : 0u);
  gotrace__store_release(&t->stack_mode, (uint32_t)t->options.stacks);
  gotrace__store_release(&t->unwind, t->options.unwind);
  gotrace__store_release(&t->unwind_context, t->options.context);
  t->is_orphan = false;
  for (i = 0; i < sizeof counts / sizeof counts[0]; i++) gotrace__store_relaxed(counts[i], (uint64_t)0);
  gotrace__store_relaxed(&t->early, 0u);
  gotrace__store_relaxed(&t->verdict, session << 8 | GOTRACE__UNDECIDED);
  gotrace__store_relaxed(&t->done, 0u);
  gotrace__store_relaxed(&t->read_by, (uintptr_t)0); /* a call that is held up since an earlier session may read it */
  gotrace__lock(&t->queue_lock);
  t->ended = t->stopping = t->work_wanted = t->sink_failed = t->impatient = false;
  t->empty = 0;
  t->system_error = 0;
  memset(&t->published, 0, sizeof t->published);
  gotrace__unlock(&t->queue_lock);
}

/* Begins the trace and turns tracing on. */
GOTRACE__FN gotrace_result gotrace__turn_on(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__transcriber *r = t->transcriber;
  gotrace__transcribe_options options;
  gotrace__clocks clocks;
  uint32_t session = t->session + 1 < GOTRACE__NEVER ? t->session + 1 : 1;
  memset(&options, 0, sizeof options);
  options.version = (unsigned)t->options.format;
  options.futile_wakeups = t->options.futile_wakeups;
  options.alloc_events = t->options.alloc_events;
  options.restate = t->flight;
  options.heap = t->options.heap;
  options.cut_bytes = t->options.cut_bytes;
  options.session = session;
  options.on = (const uint32_t *)&gotrace__on;
  options.strings = t->strings;
  options.stacks = t->stacks;
  options.sites = t->site_numbers;
  options.reason_names = t->reason_names;
  options.go_ids = &t->next_go_id;
  options.first_task = gotrace__load_relaxed(&t->next_task_id) + 1;
  options.write = gotrace__take_output;
  options.name = gotrace__name_address;
  options.chunk_done = gotrace__chunk_done;
  options.before_end = gotrace__write_modules;
  options.sample = gotrace__take_sample;
#if GOTRACE_DEBUG
  options.problem = gotrace__report;
#endif
  options.context = t;
  options.budget = &t->budget;
  options.beyond_limit = true;
  options.size_limit = t->options.size_limit;
  gotrace__reset_session(session);
  gotrace__modules_look();
  gotrace__read_clocks(&clocks);
  t->last_cut = clocks.nanoseconds;
  gotrace__store_relaxed(&t->last_round, clocks.nanoseconds);
  gotrace__store_relaxed(&t->start_tick, clocks.tick);
  if (!gotrace__transcribe_begin(r, &options, &clocks) || r->error) return GOTRACE_ERROR_OUT_OF_MEMORY;
  gotrace__hand_over(false); /* the header, which each snapshot writes itself */
  r->gc = gotrace__load_relaxed(&t->gc) != 0;
  r->stw = gotrace__load_relaxed(&t->stw) != 0;
  r->procs_changed = gotrace__load_relaxed(&t->procs_changed);
  r->heap_alloc = gotrace__load_relaxed(&t->heap_alloc);
  r->heap_goal = gotrace__load_relaxed(&t->heap_goal);
  t->active = true;
  gotrace__store_relaxed(&t->process, (uint32_t)gotrace__process_id());
  gotrace__store_seq_cst(&gotrace__on, session);
  gotrace__store_relaxed(&t->alloc_events, t->options.alloc_events ? 1u : 0u);
  gotrace__list_living(r, options.first_task);
  return GOTRACE_OK;
}

GOTRACE__FN void gotrace__undo_session(const char *path) {
  struct gotrace__tracer *t = &gotrace__t;
  int saved = errno;
  if (path && t->file.number >= 0) gotrace__file_discard(&t->file, path);
  if (t->session != gotrace__load_relaxed(&t->cleaned)) gotrace__unread_free(&t->budget); /* else: the last session's */
  gotrace__session_free(&t->budget);
  errno = saved;
}

/* The caller holds the life lock. */
GOTRACE__FN gotrace_result gotrace__begin_session(const char *path) {
  struct gotrace__tracer *t = &gotrace__t;
  bool beyond = t->options.on_limit == GOTRACE_LIMIT_BLOCK; /* nobody could wait */
  bool samples = t->options.format >= GOTRACE_GO_1_19;
  gotrace_result result = GOTRACE_ERROR_OUT_OF_MEMORY;
  gotrace__table *strings, *stacks, *sites;
  if (!t->exit_registered) {
    t->exit_registered = true;
    gotrace__at_process_exit();
  }
  gotrace__lock(&t->work);
  /* A thread may still be giving back memory of the last session, so what is used is not reset. */
  gotrace__store_relaxed(&t->budget.peak, gotrace__load_relaxed(&t->budget.used));
  gotrace__store_relaxed(&t->budget.limit, t->options.memory_limit);
  memset(&t->flight_budget, 0, sizeof t->flight_budget);
  t->service = false;
  t->transcriber = (gotrace__transcriber *)gotrace__allocate(&t->budget, sizeof *t->transcriber, false);
  strings = gotrace__table_new(&t->budget, beyond);
  stacks = gotrace__table_new(&t->budget, beyond);
  sites = gotrace__table_new(&t->budget, beyond);
  if (strings) gotrace__store_release(&t->strings, strings); /* a thread held up since the last session may use them */
  if (stacks) gotrace__store_release(&t->stacks, stacks);
  if (sites) gotrace__store_release(&t->site_numbers, sites);
  if (samples && !t->samples)
    gotrace__store_release(&t->samples,
                           (gotrace__sample *)gotrace__allocate(NULL, GOTRACE__SAMPLES * sizeof *t->samples, false));
  if (t->transcriber && strings && stacks && sites && (!samples || t->samples)) result = gotrace__open_session(path);
  if (result == GOTRACE_OK) result = gotrace__turn_on();
  if (result != GOTRACE_OK) gotrace__undo_session(path);
  gotrace__unlock(&t->work);
#if !GOTRACE_NO_THREADS
  if (result != GOTRACE_OK && t->service) { /* no session may begin that this thread would find */
    int saved = errno;
    t->opening = true;
    gotrace__go_inside();
    gotrace__unlock(&t->life);
    gotrace__thread_join(t->service_thread);
    gotrace__lock(&t->life);
    gotrace__go_outside();
    t->opening = false;
    errno = saved;
  }
#endif
  return result;
}

GOTRACE__FN gotrace_result gotrace__start_tracing(const char *path, int flags, const gotrace_options *given,
                                                  bool flight) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_options options;
  gotrace_result result;
  gotrace__control control;
  if (!gotrace__control_begin(&control, false)) return GOTRACE_ERROR_NESTED;
  result = gotrace__check_options(given, &options, flight);
  if (result == GOTRACE_OK && !gotrace__me()) result = GOTRACE_ERROR_OUT_OF_MEMORY;
  gotrace__lock(&t->life);
  if (result == GOTRACE_OK && (t->active || t->opening)) result = GOTRACE_ERROR_ALREADY_RUNNING;
  if (result == GOTRACE_OK && gotrace__load_relaxed(&t->gone)) result = GOTRACE_ERROR_NOT_RUNNING;
  if (path && result == GOTRACE_OK) { /* a pipe may wait for its reader: without the locks */
    t->opening = true;
    t->opener = gotrace__identity();
    gotrace__unlock(&t->life);
    if (!gotrace__file_open(path, flags, &t->file)) result = GOTRACE_ERROR_SINK;
    else if (!t->file.regular) gotrace__file_ask(&t->file);
    gotrace__lock(&t->life);
    t->opening = false;
  }
  if (result == GOTRACE_OK) {
    t->options = options;
    t->flight = flight;
    result = gotrace__begin_session(path);
  }
  gotrace__unlock(&t->life);
  gotrace__control_end(&control);
  return result;
}

#define GOTRACE__PATH 4096
/* The wall clock as 20261122-115854.123, UTC. */
GOTRACE__FN void gotrace__time_text(char *text, size_t size) {
  uint64_t seconds, days, era, day, year, month;
  uint32_t nanoseconds;
  gotrace__wall_clock(&seconds, &nanoseconds);
  days = seconds / 86400 + 719468; /* since 1 March of the year 0, so that leap days come last */
  era = days / 146097;
  day = days % 146097;
  year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  day -= 365 * year + year / 4 - year / 100;
  month = (5 * day + 2) / 153;
  day -= (153 * month + 2) / 5;
  year += 400 * era + (month >= 10);
  month = month < 10 ? month + 3 : month - 9;
  snprintf(text, size, "%04u%02u%02u-%02u%02u%02u.%03u", (unsigned)(year % 10000), (unsigned)month, (unsigned)day + 1,
           (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60), (unsigned)(seconds % 60),
           nanoseconds / 1000000);
}

/* A path with %p, %t and %% replaced; false if it is too long. */
GOTRACE__FN bool gotrace__expand_path(const char *path, char *expanded, size_t size) {
  char text[40];
  size_t used = 0, length;
  for (; *path; path++) {
    if (*path == '%' && path[1] == 'p') snprintf(text, sizeof text, "%lu", gotrace__process_id());
    else if (*path == '%' && path[1] == 't') gotrace__time_text(text, sizeof text);
    else text[0] = *path, text[1] = 0;
    if (*path == '%' && (path[1] == 'p' || path[1] == 't' || path[1] == '%')) path++;
    length = strlen(text);
    if (used + length >= size) return false;
    memcpy(expanded + used, text, length);
    used += length;
  }
  expanded[used] = 0;
  return true;
}

/* At exit: how much longer to wait, of the milliseconds given since the service thread began a round, or it or a
 * snapshot was given a piece of the trace to write. 0: no longer, nor in a later step of the exit. The caller holds the
 * queue lock. */
GOTRACE__FN uint64_t gotrace__patience(uint64_t since, uint32_t milliseconds) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t moved = gotrace__load_relaxed(&t->moved), round = gotrace__load_relaxed(&t->last_round), now, passed;
  if (since < moved) since = moved;
  if (since < round) since = round;
  now = gotrace__nanoseconds();
  passed = now > since ? (now - since) / 1000000 : 0;
  if (passed >= milliseconds) t->impatient = true;
  return t->impatient ? 0 : milliseconds - passed;
}

/* Waits until the trace has been read to its end, until it is not stopping any more, or until no thread takes a
 * snapshot, which the caller then does. For ever (0), or as long as exit has patience. False: it has lost it. */
enum gotrace__awaited { GOTRACE__READ, GOTRACE__STOPPED, GOTRACE__NO_SNAPSHOT };
GOTRACE__FN bool gotrace__await(enum gotrace__awaited what, uint32_t session, uint32_t milliseconds) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t since = gotrace__nanoseconds(), left = 1000;
  bool met = false;
  gotrace__lock(&t->queue_lock);
  while (!met && left) {
    bool done = gotrace__load_relaxed(&t->done) != 0;
    if (what == GOTRACE__NO_SNAPSHOT) met = !t->snapshot;
    else met = gotrace__load_relaxed(&t->session) != session || (what == GOTRACE__STOPPED ? !t->stopping : done);
    if (!met && milliseconds) left = gotrace__patience(since, milliseconds);
    if (!met && left) gotrace__wait(&t->changed, &t->queue_lock, left, gotrace__unlock_cancelled);
  }
  if (met && what == GOTRACE__NO_SNAPSHOT) {
    t->snapshot = true;
    t->snapper = gotrace__identity();
  }
  gotrace__unlock(&t->queue_lock);
  return met;
}

/* One snapshot at a time. */
GOTRACE__FN bool gotrace__snapshot_begin(uint32_t milliseconds) {
  return gotrace__await(GOTRACE__NO_SNAPSHOT, 0, milliseconds);
}
GOTRACE__FN void gotrace__snapshot_end(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__lock(&t->queue_lock);
  t->snapshot = false;
  t->snapper = 0;
  gotrace__cond_wake(&t->changed); /* after gotrace_stop, also other calls of it, which wait for this one */
  gotrace__unlock(&t->queue_lock);
}

/* The calling thread has left a call for ever that started, read, wrote or ended a trace: others may do it. */
GOTRACE__FN void gotrace__give_up(void) {
  struct gotrace__tracer *t = &gotrace__t;
  uintptr_t self = gotrace__identity();
  gotrace__lock(&t->life);
  if (t->opening && t->opener == self) t->opening = false;
  gotrace__lock(&t->queue_lock);
  if (t->stopping && t->stopper == self) t->stopping = false;
  if (t->takes && t->read_by == self) { /* what it has not returned comes again */
    if (t->reading) {
      t->reading->link = t->pieces;
      if (!t->pieces) t->pieces_last = t->reading;
      t->pieces = t->reading;
      t->reading = NULL;
    }
    t->takes = false;
  }
  if (t->reader && t->read_by == self) gotrace__store_release(&t->reader, 0u);
  gotrace__cond_wake(&t->changed);
  gotrace__unlock(&t->queue_lock);
  if (t->snapshot && t->snapper == self) {
    gotrace__lock(&t->flight_lock);
    t->writing = NULL;
    gotrace__past_trim();
    gotrace__unlock(&t->flight_lock);
    gotrace__snapshot_end();
  }
  gotrace__unlock(&t->life);
}

/* Waits for another gotrace_stop. If a signal handler has interrupted it, that one only ends after this: then exit
 * waits for the reader, and other callers do not wait. The caller holds the life lock, which is released. */
GOTRACE__FN gotrace_result gotrace__wait_for_stop(uint32_t milliseconds) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t session = t->session;
  bool nested = t->stopper == gotrace__identity();
  gotrace_result result;
  gotrace__unlock(&t->life);
  if (nested && !milliseconds) {
    gotrace__drop_nested();
    return GOTRACE_ERROR_NESTED;
  }
  if (!gotrace__await(nested ? GOTRACE__READ : GOTRACE__STOPPED, session, milliseconds)) return GOTRACE_ERROR_SINK;
  gotrace__lock(&t->life);
  result = t->last.result;
  gotrace__unlock(&t->life);
  return result;
}

/* `exits`: the process is about to end. Then this waits for a service thread and a snapshot only while they move, see
 * gotrace__patience; if they do not, the session stays as it is. */
GOTRACE__FN gotrace_result gotrace__stop_session(bool exits) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_result result;
  uint32_t milliseconds;
  gotrace__lock(&t->life);
  milliseconds = exits ? t->options.exit_milliseconds : 0;
  if (t->active && t->stopping) return gotrace__wait_for_stop(milliseconds);
  if (!t->active) {
    gotrace__unlock(&t->life);
    return GOTRACE_ERROR_NOT_RUNNING;
  }
  if (GOTRACE_NO_THREADS && !t->service) { /* the caller must read to the end, as after gotrace_end */
    gotrace__end_early(GOTRACE_OK);
    gotrace__unlock(&t->life);
    return GOTRACE_WOULD_BLOCK;
  }
  gotrace__lock(&t->queue_lock);
  t->stopping = true;
  gotrace__unlock(&t->queue_lock);
  t->stopper = gotrace__identity();
  gotrace__end_early(GOTRACE_OK);
  gotrace__unlock(&t->life);
#if GOTRACE_NO_THREADS
  gotrace__drain(true);
#else
  if (t->service) gotrace__work(false, true); /* on a busy machine that thread's low priority would delay it */
  if (!gotrace__await(GOTRACE__READ, t->session, milliseconds)) return GOTRACE_ERROR_SINK;
  if (t->service) { /* it is about to end; no handler may leave this wait */
    gotrace__go_inside();
    gotrace__thread_join(t->service_thread);
    gotrace__go_outside();
  }
#endif
  if (!gotrace__snapshot_begin(milliseconds)) return GOTRACE_ERROR_SINK; /* one that is being written ends first */
  gotrace__lock(&t->life);
  gotrace__clean_up();
  result = t->last.result;
  gotrace__unlock(&t->life);
  gotrace__snapshot_end();
  return result;
}

GOTRACE__FN gotrace_result gotrace__stop_tracing(bool exits) {
  gotrace_result result;
  gotrace__control control;
  if (gotrace__is_in_sink()) return GOTRACE_ERROR_READER_BUSY;
  if (!gotrace__control_begin(&control, true)) return GOTRACE_ERROR_NESTED;
  result = gotrace__stop_session(exits);
  gotrace__control_end(&control);
  return result;
}

/* Ends the trace, or makes a cut. */
GOTRACE__FN gotrace_result gotrace__end_or_cut(bool end) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_result result = GOTRACE_ERROR_NOT_RUNNING;
  gotrace__control control;
  if (!gotrace__control_begin(&control, end)) return GOTRACE_ERROR_NESTED;
  gotrace__lock(&t->life);
  if (t->active && gotrace__load_relaxed(&gotrace__on)) {
    if (end) gotrace__end_early(GOTRACE_OK);
    else gotrace__work(true, true);
    result = end ? GOTRACE_OK : gotrace__result();
  }
  gotrace__unlock(&t->life);
#if GOTRACE_NO_THREADS
  if (!end && result == GOTRACE_OK && t->service) {
    gotrace__drain(false);
    result = gotrace__result();
  }
#endif
  gotrace__control_end(&control);
  return result;
}

GOTRACE__DEFINE gotrace_result gotrace_end(void) { return gotrace__end_or_cut(true); }
GOTRACE__DEFINE gotrace_result gotrace_advance(void) { return gotrace__end_or_cut(false); }

GOTRACE__DEFINE gotrace_result gotrace_start(const gotrace_options *options) {
  return gotrace__start_tracing(NULL, 0, options, false);
}

GOTRACE__FN gotrace_result gotrace__start_path(const char *path, int flags, const gotrace_options *options) {
  gotrace_options copy;
  char expanded[GOTRACE__PATH];
  if (!path) return GOTRACE_ERROR_ARGUMENT;
  memset(&copy, 0, sizeof copy);
  if (options) copy = *options;
  copy.write = NULL;
  if (!gotrace__expand_path(path, expanded, sizeof expanded)) return GOTRACE_ERROR_ARGUMENT;
  return gotrace__start_tracing(expanded, flags, &copy, false);
}

GOTRACE__DEFINE gotrace_result gotrace_start_file(const char *path, const gotrace_options *options) {
  return gotrace__start_path(path, GOTRACE__CREATE, options);
}

#ifdef GOTRACE__UNLOADS
/* The library is unloaded: returns all memory to the system. No thread is in the library, since its code is unloaded
 * too. Threads that were in it and live on keep their records. Their calls are dropped from here on as if nested. */
GOTRACE__FN void gotrace__free_all(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__thread *m, *self = gotrace__self;
  gotrace__small *kept = NULL;
  gotrace__slab *slab;
  gotrace_proc *p;
  const void *data;
  size_t size, i;
  if (gotrace__inside) return;
  gotrace__lock(&t->life);
  if (t->active && t->service) { /* the service thread could not be ended */
    gotrace__unlock(&t->life);
    return;
  }
  gotrace__unlock(&t->life);
  while (gotrace__read_next(&data, &size, true, false) == GOTRACE_OK && size) continue; /* what nobody has read */
  gotrace__lock(&t->life);
  gotrace__store_seq_cst(&t->gone, 1u);
  gotrace__await_calls();
  while ((slab = t->slabs) != NULL) {
    t->slabs = slab->next;
    for (i = 0; i < GOTRACE__SLAB; i++) gotrace__release(NULL, slab->gos[i].label, GOTRACE__LABEL);
    gotrace__release(NULL, slab, GOTRACE__SLAB_SIZE);
  }
  while ((p = t->procs) != NULL) {
    t->procs = p->next;
    gotrace__release(NULL, p, sizeof *p);
  }
  t->free_procs = NULL;
  while ((m = t->threads) != NULL) {
    t->threads = m->next;
    gotrace__release(NULL, m->seen_stacks, GOTRACE__SEEN_SETS * GOTRACE__SEEN_WAYS * sizeof *m->seen_stacks);
    gotrace__release(NULL, m->free_gos, GOTRACE__MOST_FREE * sizeof *m->free_gos);
    gotrace__free_levels(m);
    if (m != self && gotrace__load_relaxed(&m->used)) {
      gotrace__store_relaxed(&m->in_call, (uintptr_t)GOTRACE__IN_CALL); /* for ever */
      ((gotrace__small *)(void *)m->padding)->next = kept;
      kept = (gotrace__small *)(void *)m->padding;
    } else {
      gotrace__release(NULL, m, sizeof *m);
    }
  }
  gotrace__self = NULL;
  gotrace__release(NULL, t->free_gos, t->free_capacity * sizeof *t->free_gos);
  gotrace__release(NULL, t->samples, GOTRACE__SAMPLES * sizeof *t->samples);
  gotrace__release(NULL, t->open_tasks, GOTRACE__TASKS * sizeof *t->open_tasks);
  gotrace__table_free(t->names);
  gotrace__table_free(t->reasons);
  gotrace__table_free(t->sites);
  gotrace__table_free(t->site_texts);
  memset(t->reason_names, 0, sizeof t->reason_names);
  for (i = 0; i < GOTRACE__KEY_BUCKETS; i++) {
    gotrace__keyed *keyed;
    while ((keyed = gotrace__take_keyed(&t->key_buckets[i].top)) != NULL) gotrace__release(NULL, keyed, sizeof *keyed);
  }
  memset(t->key_buckets, 0, sizeof t->key_buckets); /* no thread uses their locks any more */
  memset(t->wait_buckets, 0, sizeof t->wait_buckets);
  t->free_gos = NULL;
  t->samples = NULL;
  t->open_tasks = NULL;
  t->names = t->reasons = t->sites = t->site_texts = NULL;
  gotrace__unlock(&t->life);
#ifndef GOTRACE_MALLOC
  gotrace__system_trim(kept);
#endif
}
#endif

/* ---------------------------------------------------------------------------------------------------- >>flight ---- */

/* Makes a cut, and waits until the flight recorder has the data up to it. */
GOTRACE__FN gotrace_result gotrace__flight_cut(void) {
  struct gotrace__tracer *t = &gotrace__t;
  uint64_t wanted;
  gotrace__lock(&t->life);
  if (!t->active || !t->flight || t->stopping) {
    gotrace__unlock(&t->life);
    return GOTRACE_ERROR_NOT_RUNNING;
  }
  gotrace__work(true, true);
  wanted = gotrace__load_relaxed(&t->cut_count); /* more, if another thread has made one meanwhile */
  gotrace__unlock(&t->life);
#if GOTRACE_NO_THREADS
  (void)wanted;
  gotrace__drain(false);
#else
  gotrace__lock(&t->queue_lock);
  while (gotrace__load_relaxed(&t->past_count) < wanted && !gotrace__load_relaxed(&t->done))
    gotrace__wait(&t->changed, &t->queue_lock, 100, gotrace__unlock_cancelled);
  gotrace__unlock(&t->queue_lock);
#endif
  return GOTRACE_OK;
}

/* The caller takes the only snapshot. */
GOTRACE__FN gotrace_result gotrace__snapshot(gotrace_write_fn *write, void *context) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace_result result = gotrace__flight_cut();
  if (result != GOTRACE_OK) return result;
  gotrace__lock(&t->flight_lock);
  t->writing = t->kept;
  t->writing_last = t->past_last;
  gotrace__unlock(&t->flight_lock);
  if (!t->writing) return GOTRACE_ERROR_OUT_OF_MEMORY;
  gotrace__set_in_sink(true);
  gotrace__store_relaxed(&t->moved, gotrace__nanoseconds());
  if (!write(context, t->empty_trace, GOTRACE__HEADER_SIZE)) result = GOTRACE_ERROR_SINK;
  while (t->writing) {
    const gotrace__piece *piece = t->writing->first;
    for (; piece && result == GOTRACE_OK; piece = piece->link) {
      gotrace__store_relaxed(&t->moved, gotrace__nanoseconds());
      if (!write(context, piece + 1, piece->size)) result = GOTRACE_ERROR_SINK;
    }
    gotrace__lock(&t->flight_lock);
    t->writing = t->writing == t->writing_last ? NULL : t->writing->link;
    gotrace__past_trim();
    gotrace__unlock(&t->flight_lock);
  }
  gotrace__set_in_sink(false);
  return result;
}

GOTRACE__FN bool gotrace__snapshot_write(void *context, const void *data, size_t size) {
  return gotrace__file_write((gotrace__file *)context, data, size);
}

/* Whether there is a flight recorder; and its exit_milliseconds, unless `patience` is NULL. */
GOTRACE__FN bool gotrace__flight_on(uint32_t *patience) {
  bool on;
  gotrace__init();
  gotrace__lock(&gotrace__t.life);
  on = gotrace__t.active && gotrace__t.flight;
  if (patience) *patience = gotrace__t.options.exit_milliseconds;
  gotrace__unlock(&gotrace__t.life);
  return on;
}

/* Writes a snapshot to an open file, and closes it. */
GOTRACE__FN gotrace_result gotrace__snapshot_into(gotrace__file *file) {
  gotrace_result result = gotrace__snapshot(gotrace__snapshot_write, file);
  int saved = errno;
  if (!gotrace__file_close(file) && result == GOTRACE_OK) return GOTRACE_ERROR_SINK;
  errno = saved;
  return result;
}

/* Writes a snapshot next to the file, which a complete one replaces. `old`: the file at the path, if there is one. */
GOTRACE__FN gotrace_result gotrace__snapshot_beside(gotrace__file *old, const char *path) {
  size_t size = strlen(path) + 48;
  char *beside = (char *)gotrace__allocate(NULL, size, false);
  gotrace_result result = GOTRACE_ERROR_SINK;
  gotrace__file file;
  unsigned number = 0;
  bool made;
  int saved;
  if (!beside) return GOTRACE_ERROR_OUT_OF_MEMORY;
  do snprintf(beside, size, "%s.%lu-%u.new", path, gotrace__process_id(), number++);
  while (!gotrace__file_create(beside, &file) && errno == EEXIST); /* processes of two machines may have the same id */
  made = file.number >= 0;
  if (made) result = gotrace__snapshot_into(&file);
  if (result == GOTRACE_OK && !gotrace__file_replace(old, beside, path)) result = GOTRACE_ERROR_SINK;
  saved = errno;
  if (made && result != GOTRACE_OK) gotrace__file_remove(beside);
  gotrace__release(NULL, beside, size);
  errno = saved;
  return result;
}

/* The caller takes the only snapshot. */
GOTRACE__FN gotrace_result gotrace__snapshot_file(const char *path, int flags, uint32_t patience) {
  uint32_t waited = 0;
  gotrace_result result;
  gotrace__file old;
  int saved;
  if (!gotrace__flight_on(NULL)) return GOTRACE_ERROR_NOT_RUNNING; /* the file at the path is unchanged */
  while (!gotrace__file_open(path, flags, &old) && errno != ENOENT) {
    if (errno != ENXIO || waited++ >= patience) return GOTRACE_ERROR_SINK;
    gotrace__sleep();
  }
  old.patience = patience;
  if (old.number >= 0 && !old.regular) return gotrace__snapshot_into(&old); /* a pipe or device */
  result = gotrace__snapshot_beside(&old, path);
  saved = errno;
  if (old.number >= 0) gotrace__file_close(&old);
  errno = saved;
  return result;
}

GOTRACE__DEFINE gotrace_result gotrace_flight_start(const gotrace_options *options) {
  return gotrace__start_tracing(NULL, 0, options, true);
}

/* Takes a snapshot: for `write`, or into a file. `exits`: the process is about to end, see gotrace__stop_session. */
GOTRACE__FN gotrace_result gotrace__take_snapshot(gotrace_write_fn *write, void *context, const char *path, int flags,
                                                  bool exits) {
  gotrace_result result = GOTRACE_ERROR_ARGUMENT;
  uint32_t patience = 0;
  char expanded[GOTRACE__PATH];
  gotrace__control control;
  if (!write && !path) return GOTRACE_ERROR_ARGUMENT;
  if (gotrace__is_in_sink()) return GOTRACE_ERROR_READER_BUSY;
  if (!gotrace__control_begin(&control, false)) return GOTRACE_ERROR_NESTED;
  if (exits) gotrace__flight_on(&patience);
  if (!gotrace__snapshot_begin(patience)) {
    result = GOTRACE_ERROR_SINK;
    errno = EAGAIN;
  } else {
    if (write) result = gotrace__snapshot(write, context);
    else if (gotrace__expand_path(path, expanded, sizeof expanded))
      result = gotrace__snapshot_file(expanded, flags, patience);
    gotrace__snapshot_end();
  }
  gotrace__control_end(&control);
  return result;
}

GOTRACE__DEFINE gotrace_result gotrace_flight_snapshot(gotrace_write_fn *write, void *context) {
  return gotrace__take_snapshot(write, context, NULL, 0, false);
}

GOTRACE__DEFINE gotrace_result gotrace_flight_snapshot_file(const char *path) {
  return gotrace__take_snapshot(NULL, NULL, path, 0, false);
}

/* ------------------------------------------------------------------------------------------------ >>environment ----
 */

enum { GOTRACE__ASKS_FLIGHT = 1, GOTRACE__ASKS_STATS = 2, GOTRACE__ASKS_PROBLEMS = 4 };
static struct {
  uint32_t what;    /* atomic; GOTRACE__ASKS_...; whoever ends the trace takes it */
  uint32_t session; /* the trace; this and the path are written before `what` */
  char path[GOTRACE__PATH];
} gotrace__asked;

/* Prints a line. Names may contain what a terminal would obey. Returns false, for a function that fails. */
GOTRACE__FN bool gotrace__say(const char *format, ...) GOTRACE__PRINTF(1, 2);
GOTRACE__FN bool gotrace__say(const char *format, ...) {
  char line[GOTRACE__PATH + 256];
  unsigned char *at;
  va_list arguments;
  int cancel;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (at = (unsigned char *)line; *at; at++) {
    if (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) *at = at[1] = '?';
    if (*at < 0x20 || *at == 0x7f) *at = '?';
  }
  cancel = gotrace__cancel_off();
  fprintf(stderr, "gotrace: %s\n", line);
  gotrace__cancel_restore(cancel);
  return false;
}

/* Why something failed: `error` is errno, if it is a sink. */
GOTRACE__FN const char *gotrace__why(gotrace_result result, int error) {
  return result == GOTRACE_ERROR_SINK && error ? strerror(error) : gotrace_result_string(result);
}

/* Prints what the environment asks for, if it does, after the end of its trace. */
GOTRACE__FN void gotrace__say_stats(uint32_t what) {
  gotrace_stats stats;
  int i;
  if (!(what & (GOTRACE__ASKS_STATS | GOTRACE__ASKS_PROBLEMS))) return;
  gotrace_get_stats(&stats);
  if (stats.result != GOTRACE_OK)
    gotrace__say("%s: the trace ended early: %s", gotrace__asked.path, gotrace__why(stats.result, stats.system_error));
  if (what & GOTRACE__ASKS_STATS)
    gotrace__say("%s: %llu bytes, %llu events, %llu goroutines, %llu threads", gotrace__asked.path,
                 GOTRACE__LLU(stats.bytes), GOTRACE__LLU(stats.events), GOTRACE__LLU(stats.goroutines),
                 GOTRACE__LLU(stats.threads));
  for (i = 0; i < GOTRACE_PROBLEM_COUNT; i++)
    if (stats.problems[i])
      gotrace__say("%s: %llu x %s (%s)", gotrace__asked.path, GOTRACE__LLU(stats.problems[i]),
                   gotrace_problem_string((gotrace_problem)i), gotrace_problem_outcome((gotrace_problem)i));
}

/* Not in a child of the system call clone, of _Fork or of vfork: the locks may be held there, and nobody writes. */
GOTRACE__FN bool gotrace__is_own_session(void) {
  return gotrace__load_relaxed(&gotrace__t.process) == (uint32_t)gotrace__process_id();
}

/* Whether the environment asks for something of this trace, which the caller now has to do. Writes the flight
 * recorder's file: at exit, without waiting long for the reader of a pipe. A child that ends by exit() has what its
 * parent asked for, but not the trace. */
GOTRACE__FN uint32_t gotrace__write_asked(bool exits) {
  uint32_t what = gotrace__load_acquire(&gotrace__asked.what);
  if (!what || gotrace__is_in_sink() || gotrace__is_refused(true) || !gotrace__is_own_session() ||
      gotrace__load_relaxed(&gotrace__t.session) != gotrace__asked.session ||
      !gotrace__cas_acq_rel(&gotrace__asked.what, &what, 0u))
    return 0;
  if (what & GOTRACE__ASKS_FLIGHT) {
    int flags = GOTRACE__NOFOLLOW | (exits ? GOTRACE__NOWAIT : 0);
    gotrace_result kept = gotrace__take_snapshot(NULL, NULL, gotrace__asked.path, flags, exits);
    if (kept != GOTRACE_OK) gotrace__say("cannot write %s: %s", gotrace__asked.path, gotrace__why(kept, errno));
  }
  return what;
}

/* The process ends or the library is unloaded: ends the trace. If a service thread writes it, waits until it is written
 * completely, except when the process ends and the sink does not move. Does nothing if that thread called exit, or a
 * callback that is called with a lock. */
GOTRACE__FN void gotrace__end_use(bool unloaded) {
  struct gotrace__tracer *t = &gotrace__t;
  uint32_t asked;
  bool active, service;
  if (!gotrace__load_acquire(&t->ready) || gotrace__inside || !gotrace__is_own_session()) return;
  gotrace__take_over(gotrace__self); /* if a signal handler calls exit, the call below it does not go on */
  gotrace__take_over_control();
  asked = gotrace__write_asked(true);
  gotrace__lock(&t->life);
  active = t->active;
  service = t->service;
#if !GOTRACE_NO_THREADS
  if (active && service && !gotrace__thread_lives(t->service_thread)) active = false;
#endif
  gotrace__unlock(&t->life);
  if (active && service) gotrace__stop_tracing(!unloaded);
  else if (active) gotrace_end();
  gotrace__say_stats(asked);
}
GOTRACE__FN void gotrace__exit(void) { gotrace__end_use(false); }

/* A number above 0, with a unit as in 10M if it is of bytes; more than `most` counts as that. */
GOTRACE__FN bool gotrace__read_number(const char *text, bool bytes, uint64_t most, uint64_t *number) {
  static const char units[] = "KMG";
  const char *unit;
  *number = 0;
  if (*text < '0' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9'; text++)
    *number = *number > (most - 9) / 10 ? most : *number * 10 + (uint64_t)(*text - '0');
  unit = bytes && *text ? (strchr)(units, *text) : NULL;
  if (unit) {
    unsigned shift = 10 * (unsigned)(unit - units + 1);
    *number = *number > most >> shift ? most : *number << shift;
    text++;
  }
  return !*text && *number;
}

/* One option of GOTRACE; false if it or its value is unknown. */
GOTRACE__FN bool gotrace__read_option(const char *option, gotrace_options *options, uint32_t *what) {
  static const char *const stacks[] = {"stacks=call-site", "stacks=none", "stacks=frame-pointers"}; /* gotrace_stacks */
  uint64_t number;
  int i;
  for (i = 0; i < 3; i++)
    if (strcmp(option, stacks[i]) == 0) {
      options->stacks = (gotrace_stacks)i;
      return true;
    }
  if (gotrace__starts_with(option, "format=1.")) {
    bool known = gotrace__read_number(option + 9, false, 999, &number);
    options->format = (gotrace_format)(1000 + number); /* an unknown one is rejected */
    return known;
  }
  if (gotrace__starts_with(option, "limit="))
    return gotrace__read_number(option + 6, true, INT64_MAX, &options->size_limit);
  if (gotrace__starts_with(option, "flight=")) {
    *what |= GOTRACE__ASKS_FLIGHT;
    if (!gotrace__read_number(option + 7, false, UINT32_MAX / 1000, &number)) return false;
    options->flight_milliseconds = (uint32_t)number * 1000;
    return true;
  }
  *what |= GOTRACE__ASKS_STATS;
  return strcmp(option, "stats") == 0;
}

/* FILE,OPTION,OPTION...: splits it at its commas. False: said why. */
GOTRACE__FN bool gotrace__read_environment(char *value, gotrace_options *options, uint32_t *what) {
  char *option = (strchr)(value, ','), *next;
  if (*value == ',') return gotrace__say("GOTRACE: no file before '%.200s'", value);
  for (; option; option = next) {
    *option++ = 0;
    next = (strchr)(option, ',');
    if (next) *next = 0; /* the next round begins behind it */
    if (!gotrace__read_option(option, options, what))
      return gotrace__say("GOTRACE: unknown option or value '%.200s'", option);
  }
  if (strlen(value) >= GOTRACE__PATH) return gotrace__say("GOTRACE: the file's name is too long");
  return !(*what & GOTRACE__ASKS_FLIGHT) || !options->size_limit ||
         gotrace__say("GOTRACE: limit and flight exclude each other");
}

/* What GOTRACE may be, after a mistake in it. */
GOTRACE__FN void gotrace__say_possible(void) {
#define GOTRACE__OR(NAME, number, name) "|" name
  static const char formats[] = GOTRACE_FORMATS(GOTRACE__OR); /* the first has a sign too many */
#undef GOTRACE__OR
  gotrace__say("possible: GOTRACE=FILE,format=%s,stacks=call-site|none|frame-pointers,limit=10M,flight=SECONDS,stats; "
               "flight needs format 1.22 or later",
               formats + 1);
}

GOTRACE__FN gotrace_result gotrace__start_asked(uint32_t what) {
  const char *given = getenv("GOTRACE");
  char value[GOTRACE__PATH + 256];
  gotrace_options options;
  gotrace_result result;
  memset(&options, 0, sizeof options);
  if (!given || !*given || gotrace__is_privileged()) return GOTRACE_ERROR_NOT_RUNNING;
  if (strlen(given) >= sizeof value) {
    gotrace__say("GOTRACE is too long");
    return GOTRACE_ERROR_ARGUMENT;
  }
  memcpy(value, given, strlen(given) + 1);
  if (!gotrace__read_environment(value, &options, &what)) {
    gotrace__say_possible();
    return GOTRACE_ERROR_ARGUMENT;
  }
  if (what & GOTRACE__ASKS_FLIGHT) result = gotrace_flight_start(&options);
  else result = gotrace__start_path(value, GOTRACE__CREATE | GOTRACE__NOFOLLOW, &options);
  if (result != GOTRACE_OK) {
    int saved = errno;
    if (result != GOTRACE_ERROR_ALREADY_RUNNING && result != GOTRACE_ERROR_NESTED)
      gotrace__say("cannot trace to %s: %s", value, gotrace__why(result, saved));
    if (result == GOTRACE_ERROR_FORMAT) gotrace__say_possible();
    errno = saved;
    return result;
  }
  if (!what) return result;
  gotrace__lock(&gotrace__t.life);
  gotrace__asked.session = gotrace__t.session;
  memcpy(gotrace__asked.path, value, sizeof gotrace__asked.path - 1);
  gotrace__store_release(&gotrace__asked.what, what);
  gotrace__unlock(&gotrace__t.life);
  return result;
}

GOTRACE__DEFINE gotrace_result gotrace_start_environment(void) { return gotrace__start_asked(0); }
GOTRACE__DEFINE gotrace_result gotrace_stop(void) {
  uint32_t what = gotrace__write_asked(false);
  gotrace_result result = gotrace__stop_tracing(false);
  gotrace__say_stats(what);
  return result;
}
GOTRACE__DEFINE gotrace_result gotrace_flight_stop(void) {
  if (gotrace__is_refused(true)) return GOTRACE_ERROR_NESTED;
  return gotrace__flight_on(NULL) ? gotrace_stop() : GOTRACE_ERROR_NOT_RUNNING;
}

#if GOTRACE_AUTOSTART
__attribute__((__constructor__)) GOTRACE__FN void gotrace__autostart(void) {
  gotrace__start_asked(GOTRACE__ASKS_PROBLEMS);
}
#endif

/* ------------------------------------------------------------------------------------------------------ >>fork ---- */

#if !defined(_WIN32)
/* The locks of a fork. It takes the first GOTRACE__TAKEN_LOCKS, in lock order. Otherwise a thread missing in the child
 * could hold one there, or leave its data inconsistent. The child resets all. It goes on with the tables of the session
 * only in a call that a handler has interrupted, whose records nobody reads; lists of waiters and keys begin anew.
 * NULL: that table does not exist. */
enum {
  GOTRACE__TAKEN_LOCKS = 11,
  GOTRACE__SINGLE_LOCKS = 14,
  GOTRACE__FORK_LOCKS = GOTRACE__SINGLE_LOCKS + GOTRACE__WAIT_BUCKETS + GOTRACE__KEY_BUCKETS
};
GOTRACE__FN gotrace__mutex *gotrace__fork_lock(unsigned i) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__table *table = NULL;
  switch (i) {
  case 0: return &gotrace__init_lock;
  case 1: return &t->life;
  case 2: return &t->work;
  case 3: return &t->records;
  case 4: return &t->queue_lock;
  case 5: return &t->flight_lock;
  case 6: table = t->names; break;
  case 7: table = t->reasons; break;
  case 8: table = t->sites; break;
  case 9: table = t->site_texts; break;
  case 10:
#ifndef GOTRACE_MALLOC
    return &gotrace__pool.lock;
#else
    break;
#endif
  case 11: table = t->strings; break;
  case 12: table = t->stacks; break;
  case 13: table = t->site_numbers; break;
  default:
    i -= GOTRACE__SINGLE_LOCKS;
    return i < GOTRACE__WAIT_BUCKETS ? &t->wait_buckets[i].lock : &t->key_buckets[i - GOTRACE__WAIT_BUCKETS].lock;
  }
  return table ? &table->lock : NULL;
}

GOTRACE__FN void gotrace__before_fork(void) {
  unsigned i;
  for (i = 0; i < GOTRACE__TAKEN_LOCKS; i++) {
    gotrace__mutex *lock = gotrace__fork_lock(i);
    if (lock) gotrace__lock(lock);
  }
}

GOTRACE__FN void gotrace__after_fork(void) {
  unsigned i;
  for (i = GOTRACE__TAKEN_LOCKS; i--;) {
    gotrace__mutex *lock = gotrace__fork_lock(i);
    if (lock) gotrace__unlock(lock);
  }
}

GOTRACE__FN void gotrace__unlock_all(void) {
  static const gotrace__mutex unlocked = GOTRACE__MUTEX;
  struct gotrace__tracer *t = &gotrace__t;
  unsigned i;
  for (i = 0; i < GOTRACE__FORK_LOCKS; i++) {
    gotrace__mutex *lock = gotrace__fork_lock(i);
    if (lock) *lock = unlocked;
  }
  t->snapshot = false;
  gotrace__inside &= GOTRACE__IN_SINK;
  gotrace__unblock_signals();
  gotrace__cond_init(&t->changed);
}

/* The child has only the thread that forked. The other threads' goroutines become blocked, and their procs idle. */
GOTRACE__FN void gotrace__abandon_threads(void) {
  struct gotrace__tracer *t = &gotrace__t;
  gotrace__thread *self = gotrace__self, *m;
  gotrace_proc *p;
  gotrace__slab *slab;
  size_t i;
  if (self) gotrace__set_wait_aside(self);
  for (i = 0; i < GOTRACE__WAIT_BUCKETS; i++) t->wait_buckets[i].first = t->wait_buckets[i].last = NULL;
  t->forks++;
  for (m = t->threads; m; m = m->next) {
    gotrace__level *level;
    for (level = m->level; level && m == self; level = level->outer) {
      level->key = NULL;
      level->listed = false;
    }
    if (m == self) continue;
    m->in_call = 0;
    m->proc = m->lost = NULL;
    m->go = m->own_go = NULL;
    m->free_levels = NULL; /* the fork may have come while the thread changed it */
    m->level = NULL; /* its memory stays with the record: a call that a signal handler has interrupted may use it */
    m->depth = m->nests = 0;
    m->in_syscall = false;
    m->used = GOTRACE__FREE_RECORD;
  }
  for (p = t->procs; p; p = p->next) {
    if (self && p == self->proc && p->owner == (uint32_t)self->index) continue;
    p->owner = 0;
    if (p->used) p->status = GOTRACE__PROC_IDLE;
  }
  for (slab = t->slabs; slab; slab = slab->next)
    for (i = 0; i < GOTRACE__SLAB; i++) {
      gotrace_go *g = &slab->gos[i];
      if (self && g == self->go) g->status = self->in_syscall ? GOTRACE__SYSCALL : GOTRACE__RUNNING;
      else if (g->status == GOTRACE__RUNNING || g->status == GOTRACE__SYSCALL) g->status = GOTRACE__WAITING;
    }
  if (self) self->system_id = gotrace__system_thread_id();
}

/* In the child there is one thread, and tracing is off. The records and procs of the parent's other threads are free,
 * and their goroutines are blocked for ever. A collection or stop-the-world is assumed to be theirs. The parent's
 * session is freed; the parent continues its trace. */
GOTRACE__FN void gotrace__after_fork_in_child(void) {
  struct gotrace__tracer *t = &gotrace__t;
  bool in_call = gotrace__self && (gotrace__self->in_call & GOTRACE__IN_CALL); /* a signal handler has forked */
  size_t i;
  gotrace__on = 0;
  gotrace__asked.what = 0;
  t->alloc_events = 0;
  gotrace__unlock_all();
  if (!gotrace__in_sink) t->writing = NULL; /* a snapshot that a thread of the parent was writing */
  gotrace__past_clear();
  gotrace__abandon_threads();
  if (t->transcriber && !in_call) {
    gotrace__unread_free(NULL);
    gotrace__session_free(NULL);
  }
  if (in_call && t->strings && t->stacks && t->site_numbers) /* the call goes on to use them; they stay for ever */
    t->strings->arena.budget = t->stacks->arena.budget = t->site_numbers->arena.budget = NULL;
  t->transcriber = NULL;
  gotrace__modules_free();
  if (t->file.number >= 0) gotrace__file_abandon(&t->file);
  t->active = t->opening = t->stopping = t->service = false;
  t->gc = t->stw = 0;
  t->reader = 0;
  t->cleaned = t->session;
  memset(&t->budget, 0, sizeof t->budget);
  for (i = 0; t->samples && i < GOTRACE__SAMPLES; i++) t->samples[i].turn = 0;
  t->sample_head = t->sample_tail = 0;
}
#endif

#endif /* !GOTRACE_DISABLE */

/* -------------------------------------------------------------------------------------------- >>decode-state ----
 *
 * The decoder's records: what it knows about events, goroutines, procs, tasks and its place in the file.
 *
 * No part of the decoder uses the tracer above. Every byte of a trace may be hostile: numbers are checked before they
 * are used, memory is allocated for data that was read and never for an announced size, hash tables are seeded, and
 * loops over the file are not nested.
 */

#if !GOTRACE_NO_DECODER

/* Bound on the total number of attempts to apply events that are not ready, so that a broken trace does not take for
 * ever. In real traces, 5 to 10 % of events wait for one round of all threads. */
#define GOTRACE__MOST_ATTEMPTS(d) (3000 * ((d)->info.events + 33000))

#define GOTRACE__NOBODY UINT64_MAX /* the id of no thread */

/* Statuses as v2 numbers them; v1 uses the same. */
enum {
  GOTRACE__G_DEAD, /* v1: not created, or ended */
  GOTRACE__G_RUNNABLE,
  GOTRACE__G_RUNNING,
  GOTRACE__G_SYSCALL,
  GOTRACE__G_WAITING,
  GOTRACE__G_GONE = 255 /* v2: the record is free */
};
enum { GOTRACE__P_RUNNING = 1, GOTRACE__P_IDLE, GOTRACE__P_SYSCALL, GOTRACE__P_ABANDONED };

/* What gotrace_decoder_change tells of an event: a row of a table in >>rules. */
typedef struct gotrace__telling {
  gotrace_change_spec spec; /* kind 0: nothing */
  uint8_t number;           /* of the event */
  uint8_t name_size;
} gotrace__telling;

/* What an event needs and changes: a row of a table in >>rules. */
typedef struct gotrace__transition {
  uint8_t number;  /* of the event */
  uint8_t becomes; /* v1: the event as it is returned: GoStartLocal becomes GoStart */
  uint8_t from, to;
  uint16_t does;                    /* GOTRACE__R_... */
  uint8_t sequence, sequence_after; /* v1: the place of its sequence number, and what to add to it */
} gotrace__transition;

/* What an event number means in the trace's format: a row of the event table, prepared for reading. */
typedef struct gotrace__kind {
  const gotrace_event_spec *spec; /* NULL: the format has no such event */
  uint8_t head[4];                /* a gotrace_event's kind, arg_count, implied, v1_kind */
  uint8_t args;                   /* numbers after "dt", without "data" */
  uint8_t stack, string;          /* places of its own stack and its string: see gotrace__dec_number */
  uint8_t stack2, string2;        /* places of another goroutine's stack and of a second string */
  bool ids;                       /* has stack2 or string2 */
  bool timed, data;
  bool plain;                      /* timed and without data */
  bool names;                      /* v2: its first argument is the id of an existing goroutine */
  bool ordinary;                   /* v1: plain, and skipped by the first walk */
  const gotrace__transition *rule; /* never NULL */
  const gotrace__telling *tells;   /* never NULL */
} gotrace__kind;

/* How an event of v1 becomes one of v2: a row of GOTRACE__V1_LIFTS, prepared. */
typedef struct gotrace__lift {
  const gotrace_event_spec *spec;
  const char *text; /* its reason */
  uint8_t text_size;
  uint8_t head[4]; /* as in gotrace__kind */
  uint8_t from[5]; /* the place of each argument in the event of v1 */
  uint8_t stack;   /* the place of the stack in that of v2 */
  uint8_t reason;  /* added to gotrace_decoder.texts: the id of its reason; 0: none */
  bool same;       /* all arguments are in their places */
  bool stops;      /* its only argument is a stack, which comes after the reason */
  bool rest;       /* gotrace__v1_lift_rest does more */
} gotrace__lift;
#define GOTRACE__LIFTED 64 /* v1: where the kinds of v2 begin in gotrace_decoder.kinds */

/* The number at a place in a gotrace_event, in bytes. GOTRACE__NOWHERE: 0, in an event that was just read. */
#define GOTRACE__NOWHERE offsetof(gotrace_event, extra)
#define GOTRACE__ARGUMENT(i) (offsetof(gotrace_event, args) + (i) * sizeof(uint64_t))
GOTRACE__FN inline uint64_t gotrace__dec_number(const gotrace_event *ev, unsigned place) {
  uint64_t value;
  memcpy(&value, (const char *)ev + place, sizeof value);
  return value;
}

/* Sets the fields of an event that its kind determines; gotrace__dec_clear zeroes its arguments, `extra` and data. Both
 * use few stores, on which reading spends most of its time. */
GOTRACE__ALWAYS_INLINE void gotrace__dec_set_kind(gotrace_event *ev, const gotrace__kind *k) {
  ev->spec = k->spec;
  memcpy((char *)ev + offsetof(gotrace_event, kind), k->head, sizeof k->head);
}
GOTRACE__ALWAYS_INLINE void gotrace__dec_clear(gotrace_event *ev) {
  memset((char *)ev + offsetof(gotrace_event, args), 0, offsetof(gotrace_event, kind) - offsetof(gotrace_event, args));
}
GOTRACE__STATIC_ASSERT(offsetof(gotrace_event, implied) == offsetof(gotrace_event, kind) + 2 &&
                           offsetof(gotrace_event, v1_kind) == offsetof(gotrace_event, kind) + 3,
                       event_head);

/* A map of 64-bit keys to 32-bit values other than 0: open addressing, linear probing, at most half full. A key's place
 * is given by its lowest bits, since ids are usually counted up. If many keys share a place, as only a hostile trace
 * causes, keys are hashed. */
typedef struct gotrace__slot {
  uint64_t key;
  uint32_t value;
} gotrace__slot;

typedef struct gotrace__map {
  gotrace__slot *slots;
  size_t capacity, used;
  bool mixed; /* keys are hashed */
} gotrace__map;

/* Strings or stacks of the trace (v1) or generation (v2), by id. */
typedef struct gotrace__dec_item {
  uint64_t id;
  const uint8_t *data; /* the string's bytes, or the stack's frames as encoded in the file */
  uint64_t hash;       /* of a string; 0: not yet computed */
  uint32_t size;       /* bytes of a string, frames of a stack */
} gotrace__dec_item;

typedef struct gotrace__pc { /* v2: the first frame of a pc in the generation stands for all frames with that pc */
  uint64_t id, function, file, line;
} gotrace__pc;

typedef struct gotrace__region_mark { /* an open user region: task and hash of the name */
  uint64_t task, name;
} gotrace__region_mark;

/* A goroutine. v2: kept until it ends. v1: kept until close. 64 bytes: there may be a million. */
typedef struct gotrace__dec_go {
  uint64_t id;
  uint64_t sequence; /* v1: while ordering. Of a free record: 1 + index of the next one */
  gotrace__region_mark *regions;
  uint32_t region_count, region_capacity;
  uint8_t status;
  bool assist;
  /* v1; a part of v2 uses some for its assumptions, see GOTRACE__PART_UNKNOWN: */
  uint8_t order_status; /* status while ordering */
  uint8_t last;         /* kind of the event that changed its status last, 0: none */
  bool created, fresh;
  bool futile : 1, timer : 1;
  bool calls; /* v1: in a system call that will lose its proc */
  union {
    struct {
      uint64_t generation; /* of the sequence number */
      uint64_t *stw;       /* reasons of its open stop-the-worlds */
      uint32_t stw_count, stw_capacity;
    } v2;
    struct {
      uint64_t new_stack; /* of its first start */
      int64_t blocked_at; /* start of its last system call */
      uint32_t waiting;   /* 1 + the first cursor that waits for this goroutine */
      uint32_t wakeup;    /* 1 + the last event of its wake-up */
    } v1;
  } of;
} gotrace__dec_go;

typedef struct gotrace__dec_proc {
  uint64_t id;
  uint64_t generation, sequence;
  uint64_t g; /* v1: the goroutine that it runs; v2: the index of the cursor whose thread last took it */
  uint8_t status;
  bool sweep, stw;
  uint8_t begin_status, begin_sweep; /* in a part: as assumed at its beginning */
  bool told;                         /* v1: an event has told its status */
} gotrace__dec_proc;

typedef struct gotrace__dec_task {
  uint64_t id, parent;
  uint64_t string; /* v1: its name */
  char *name;      /* v2: a copy, since strings end with their generation */
  uint32_t name_size;
  bool ended, older, newer; /* in a part: has ended; began before it; must not have existed before it */
} gotrace__dec_task;

/* In a part: a region that began before the part and ended in it. */
typedef struct gotrace__dec_taken {
  gotrace__region_mark mark;
  uint32_t go; /* index */
} gotrace__dec_taken;

/* A batch of one thread's (v2) or one proc's (v1) events in the file. */
typedef struct gotrace__batch {
  const uint8_t *data; /* NULL: must be read again from the source */
  uint64_t offset;
  uint64_t time;
  uint64_t size;
  uint32_t next; /* 1 + index of the same thread's or proc's next batch */
} gotrace__batch;

/* Events are read ahead, several of one thread at a time: the processor's branch prediction works better on successive
 * events of one thread than on events in time order. */
#define GOTRACE__AHEAD 32
#ifndef GOTRACE__AHEAD_ALL
#define GOTRACE__AHEAD_ALL 32768 /* of all threads, but one of each: in memory, an event is 40 times as large */
#endif

typedef struct gotrace__ahead {
  gotrace_event event; /* as it will be returned, except p and g in v2; v1: time is in ticks */
  uint32_t go;         /* 1 + index of its goroutine; v2: as of when it was read, 0: unknown */
  bool known;          /* v2: the tables have all strings and stacks that it refers to */
  /* v1: */
  bool moved;                      /* see gotrace__v1_is_moved */
  const gotrace__transition *rule; /* of the event in the file */
  uint32_t own;                    /* 1 + index of the goroutine on which it happened, g */
  uint64_t sequence;               /* the sequence number that it needs, of the goroutine or of collections */
} gotrace__ahead;

/* The decoder's place in the events of one thread (v2) or proc (v1). */
typedef struct gotrace__cursor {
  gotrace__ahead *next; /* in `ahead` */
  gotrace__ahead *ahead;
  unsigned left, room;             /* number of events read ahead, including `next`; capacity */
  const uint8_t *at, *end;         /* what follows them, in a batch that is in memory */
  uint64_t base;                   /* added to an address in the batch: the offset in the file */
  uint64_t id;                     /* thread or proc */
  int64_t time;                    /* of the last event read, v2 */
  uint64_t tick;                   /* the same, v1 */
  uint32_t batch, first, last;     /* 1 + index; `batch`: the next one */
  bool seen;                       /* v2: the thread has had an event in the ordering */
  int64_t g, p;                    /* v2: what the thread runs; v1: g after the last event read */
  uint32_t g_index, p_index;       /* 1 + index at which they were last found */
  uint64_t generation;             /* v2: that of its batches, as in gotrace_decoder.serial */
  uint32_t next_waiting;           /* v1: 1 + the next cursor that waits for the same goroutine */
  int64_t begin_g, begin_p;        /* in a part: what the thread runs at its beginning, as assumed */
  bool begin_known, begin_p_known; /* whether anything was assumed */
  bool begin_seen;                 /* the thread must have had an event before */
  uint8_t *buffer;
  size_t buffer_size;
} gotrace__cursor;

typedef struct gotrace__dec_span { /* v2: a generation that was hopped over */
  uint64_t offset, bytes;
  int64_t begin; /* time of its Sync */
  double mul;    /* nanoseconds per tick */
} gotrace__dec_span;

typedef struct gotrace__dec_sample { /* an event that is sorted by a time of its own; `time` must come first:
                                        gotrace__dec_sort */
  int64_t time;
  uint64_t m, p, g, stack, tick, offset;
} gotrace__dec_sample;

typedef struct gotrace__told { /* a goroutine or proc, as gotrace_decoder_change last told it */
  uint64_t id;
  int64_t since;           /* when it took its status */
  uint64_t pc, line;       /* where its function was, */
  uint32_t function, file; /* and 1 + index of its name and file; 0: unknown */
  int8_t status;
  uint8_t object; /* GOTRACE_OBJECT_... */
  uint8_t tries;  /* how many of its own stacks have not told its function */
} gotrace__told;

typedef struct gotrace__dec_wake { /* v1: an event of a wake-up that may be futile */
  uint64_t ordinal;
  uint32_t next;
} gotrace__dec_wake;

typedef struct gotrace__front { /* a cursor with a next event, in the heap; `time` must come first: gotrace__dec_sort */
  int64_t time;
  uint32_t cursor;
} gotrace__front;

typedef struct gotrace__dec_block { /* memory freed with the generation */
  struct gotrace__dec_block *next;
  size_t size;
} gotrace__dec_block;

/* The growing arrays: X(type of an element, array, element). Each row defines the fields `array`, `element`_count and
 * `element`_capacity and the function gotrace__dec_push_`element`. Elements of the tables are found by id: each row
 * also defines `element`_map, of 1 + index by id, and the functions gotrace__dec_find_`element` and _enter_`element`.
 */
#define GOTRACE__DEC_TABLES(X)          \
  X(gotrace__dec_item, strings, string) \
  X(gotrace__dec_item, stacks, stack)   \
  X(gotrace__pc, pcs, pc)               \
  X(gotrace__cursor, cursors, cursor)   \
  X(gotrace__dec_go, gos, go)           \
  X(gotrace__dec_proc, procs, proc)     \
  X(gotrace__dec_task, tasks, task)     \
  X(gotrace__dec_item, told_names, told_name) /* of functions and files, by hash; kept until close */
#define GOTRACE__DEC_ARRAYS(X)                                                                \
  GOTRACE__DEC_TABLES(X)                                                                      \
  X(gotrace__batch, batches, batch)                                                           \
  X(gotrace__dec_span, spans, span)                                                           \
  X(gotrace_event, experiments, experiment) /* v2: experimental batches */                    \
  X(gotrace__dec_taken, takens, taken)                                                        \
  X(gotrace__front, heap, heap)                                                               \
  X(gotrace__dec_sample, samples, sample)                                                     \
  X(gotrace__dec_sample, moved, moved) /* v1: ends of system calls, which belong elsewhere */ \
  X(gotrace__told, tolds, told)                                                               \
  X(gotrace__dec_wake, wakes, wake)                                                           \
  X(uint64_t, futile, futile) /* v1: a bit each event */

struct gotrace_decoder {
  gotrace_decoder_options options;
  gotrace_decoder_failure failure;
  gotrace_result result; /* of the next call, once it is not OK */
  gotrace_decoder_info info;
  int version;
  uint64_t seed;
  gotrace__kind kinds[256];
  /* The source: the bytes from `at` to `end` are in memory; `at` is at `offset` in the file. */
  const uint8_t *at, *end;
  uint64_t offset;
  uint8_t *window;
  size_t window_size;
  bool at_end; /* the source has nothing after `end` */
  /* Raw. */
  const uint8_t *batch_at, *batch_end; /* v2: the rest of the batch whose events begin at `at` */
  const uint8_t *batch_whole;          /* below it, more than GOTRACE__EVENT_BYTES are left in the batch */
  uint64_t batch_offset;               /* added to an address in the batch: the offset in the file */
  bool batch_cut;                      /* the file ends in the batch */
  uint64_t tick, raw_id;
  /* Ordered. */
  bool string_twice, stack_twice; /* an id came twice: */
  uint64_t string_again, stack_again;
#define GOTRACE__DEC_FIELDS(type, array, element) \
  type *array;                                    \
  size_t element##_count;                         \
  uint32_t element##_capacity;
  GOTRACE__DEC_ARRAYS(GOTRACE__DEC_FIELDS)
#undef GOTRACE__DEC_FIELDS
#define GOTRACE__DEC_FIELDS(type, array, element) gotrace__map element##_map;
  GOTRACE__DEC_TABLES(GOTRACE__DEC_FIELDS)
#undef GOTRACE__DEC_FIELDS
  size_t experiment_given, sample_given, moved_given;
  uint32_t free_go; /* 1 + index of a goroutine's record that is free */
  unsigned room;    /* events that may be read ahead of one thread (v2) or proc (v1) */
  gotrace__dec_block *blocks;
  gotrace_event queue[3];
  unsigned queue_count, queue_given;
  gotrace_event single; /* a batch of one */
  bool fast;            /* v2: the next event is one of the threads'. v1: the trace is prepared */
  int64_t last_time;
  int64_t until;                                   /* no event later than this is returned */
  bool skipped;                                    /* v2: generations before the range were skipped */
  bool hopping;                                    /* v2: read no more than requested, since most will be skipped */
  double mul;                                      /* nanoseconds per tick */
  uint64_t generation, first_generation, min_tick; /* first_generation: the first that has events; 0: none yet */
  /* v2, parts. */
  bool part;                  /* this decoder is a part */
  uint64_t scout, scouted;    /* where the next part begins; number of generations before it */
  int64_t scout_time;         /* predicted time of the last event before it; 0: unknown */
  uint64_t part_offset;       /* where the part begins */
  int64_t part_time;          /* scout_time when the part was opened */
  uint64_t begin_gc_sequence; /* gc_sequence before the part, as assumed */
  uint64_t untimed;           /* number of events with the time of the one before */
  uint8_t begin_gc;           /* gc before the part, as assumed; 1: or unknown; 0: nothing assumed */
  gotrace__map ended_gos;     /* goroutines that existed before the part and have ended */
  uint64_t snapshot[4];       /* tick, mono, sec, nsec */
  uint64_t generation_offset, serial;
  uint64_t attempts;
  bool has_snapshot, has_frequency, in_generation, final_sync;
  uint64_t gc_sequence;
  uint8_t gc; /* 0 unknown, 1 off, 2 on */
  uint64_t syncs;
  gotrace__dec_task ended;         /* the last task that an event has ended */
  gotrace_decoder_failure pending; /* an error to report once all events before it were returned */
  /* v1. */
  gotrace__lift lifts[GOTRACE_V1_COUNT];
  unsigned lifted;   /* where the kinds of its ordered events begin in `kinds` */
  bool beginning;    /* it tells what was there before it: until the first Gomaxprocs */
  uint32_t untold;   /* 1 + index of the next goroutine whose status the first Gomaxprocs implies; 0: none */
  uint64_t texts;    /* ids from here on are of texts that are not in the table of strings, see gotrace__v1_text */
  uint64_t stw_text; /* why the world was stopped last; 0: unknown */
  uint64_t ordinal, parked;
  uint32_t gc_waiting;
  uint32_t from;       /* index of the last event's cursor */
  uint32_t own;        /* 1 + index of the last event's goroutine (0: to be found) */
  uint32_t on;         /* 1 + index of its proc (0: not yet looked up) */
  int64_t elsewhere;   /* the earliest time of an event that is not next in a proc's batches */
  const uint8_t *file; /* the trace after its header */
  uint64_t file_offset;
  int64_t min_time;
  bool any_futile, any_procs, gc_on, stw_on;
  /* Changes. */
  gotrace__map told_gos, told_procs; /* 1 + index in `tolds` by id */
  uint32_t told_near[256];           /* 1 + index in `tolds`, by the lowest bits of the id */
  int64_t told_sync;                 /* v2: when the generation began */
  gotrace_change told_nothing;       /* each change before it is filled in */
};

/* ------------------------------------------------------------------------------------------- >>decode-memory ---- */

/* Ends the function with an error: GOTRACE__FAIL(result, offset, name of the event or NULL, message...), or
 * GOTRACE__WRONG(result, message...) in a function that has an event `ev`. */
#define GOTRACE__FAIL(result, ...) return gotrace__dec_fail(d, GOTRACE_ERROR_##result, __VA_ARGS__)
#define GOTRACE__WRONG(result, ...) \
  return gotrace__dec_fail(d, GOTRACE_ERROR_##result, ev->offset, ev->spec->name, __VA_ARGS__)

/* Ends decoding with an error. Only the first failure is reported. */
GOTRACE__FN GOTRACE__COLD gotrace_result gotrace__dec_fail(gotrace_decoder *d, gotrace_result result, uint64_t offset,
                                                           const char *event, const char *format, ...)
    GOTRACE__PRINTF(5, 6);
GOTRACE__FN gotrace_result gotrace__dec_fail(gotrace_decoder *d, gotrace_result result, uint64_t offset,
                                             const char *event, const char *format, ...) {
  gotrace_decoder_failure *f = &d->failure;
  va_list arguments;
  size_t used = 0;
  if (f->result) return f->result;
  f->result = result;
  f->offset = offset;
  f->event = event;
  va_start(arguments, format);
  used = (size_t)vsnprintf(f->message, sizeof f->message, format, arguments);
  va_end(arguments);
  if (used < sizeof f->message)
    snprintf(f->message + used, sizeof f->message - used, event ? " (offset %llu, %s)" : " (offset %llu)",
             GOTRACE__LLU(offset), event ? event : "");
  return result;
}

GOTRACE__FN gotrace_result gotrace__dec_no_memory(gotrace_decoder *d) {
  GOTRACE__FAIL(OUT_OF_MEMORY, d->offset, NULL, "out of memory");
}

/* NULL: no memory, and decoding has failed. */
GOTRACE__FN void *gotrace__dec_allocate(gotrace_decoder *d, uint64_t bytes) {
  size_t size = (size_t)bytes;
  void *memory;
  if (bytes > SIZE_MAX / 2) memory = NULL;
  else if (d->options.allocate) memory = d->options.allocate(d->options.allocator_context, size);
#ifdef GOTRACE_MALLOC
  else memory = GOTRACE_MALLOC(size);
#else
  else memory = malloc(size);
#endif
  if (!memory) return gotrace__dec_no_memory(d), (void *)NULL;
  d->info.memory += size;
  if (d->info.memory > d->info.memory_most) d->info.memory_most = d->info.memory;
  return memory;
}

GOTRACE__FN void gotrace__dec_release(gotrace_decoder *d, void *memory, size_t size) {
  if (!memory) return;
  d->info.memory -= size;
  if (d->options.release) d->options.release(d->options.allocator_context, memory, size);
#ifdef GOTRACE_FREE
  else GOTRACE_FREE(memory, size);
#else
  else free(memory);
#endif
}

/* Postpones a failure until all events before it have been returned. */
GOTRACE__FN void gotrace__dec_postpone(gotrace_decoder *d) {
  if (!d->pending.result) d->pending = d->failure;
  memset(&d->failure, 0, sizeof d->failure);
}

/* Makes room for `more` elements of an array; `array` is the address of its pointer, of any type. False: no memory; the
 * array is unchanged. */
GOTRACE__FN GOTRACE__NOINLINE bool gotrace__dec_room(gotrace_decoder *d, void *array, size_t count, uint32_t *capacity,
                                                     uint32_t more, size_t size) {
  uint64_t larger = 2 * ((uint64_t)count + more);
  void *from, *to;
  if (*capacity - count >= more) return true;
  if (larger > UINT32_MAX) return gotrace__dec_no_memory(d), false;
  if (!(to = gotrace__dec_allocate(d, larger * size))) return false;
  memcpy(&from, array, sizeof from);
  if (count) memcpy(to, from, count * size);
  gotrace__dec_release(d, from, *capacity * size);
  *capacity = (uint32_t)larger;
  memcpy(array, &to, sizeof to);
  return true;
}

/* No key is further than this from its place, unless keys are hashed. Counted ids form long runs of used places; the
 * bound keeps a search, or the closing of a gap, from going to the end of a run. */
#define GOTRACE__MAP_LONG 64

GOTRACE__FN inline size_t gotrace__map_place(const gotrace_decoder *d, const gotrace__map *map, uint64_t key) {
  if (!GOTRACE__LIKELY(!map->mixed)) key = gotrace__mix(gotrace__mix(d->seed, key), 0);
  return (size_t)key & (map->capacity - 1);
}

/* The value of a key, 0 if there is none. */
GOTRACE__FN uint32_t gotrace__map_search(const gotrace_decoder *d, const gotrace__map *map, uint64_t key) {
  size_t i, n;
  for (i = gotrace__map_place(d, map, key), n = 0; n <= GOTRACE__MAP_LONG || map->mixed;
       i = (i + 1) & (map->capacity - 1), n++) {
    const gotrace__slot *slot = &map->slots[i];
    if (slot->key == key || !slot->value) return slot->key == key ? slot->value : 0;
  }
  return 0;
}

GOTRACE__FN inline uint32_t gotrace__map_get(const gotrace_decoder *d, const gotrace__map *map, uint64_t key) {
  const gotrace__slot *slot;
  if (!GOTRACE__LIKELY(map->capacity != 0)) return 0;
  slot = &map->slots[key & (map->capacity - 1)];
  if (GOTRACE__LIKELY(slot->key == key && slot->value)) return slot->value; /* even if it is not at its home */
  return gotrace__map_search(d, map, key);
}

GOTRACE__FN void gotrace__map_free(gotrace_decoder *d, gotrace__map *map) {
  gotrace__dec_release(d, map->slots, map->capacity * sizeof *map->slots);
  memset(map, 0, sizeof *map);
}

/* Puts a new key into a free place; returns the distance from its own place. */
GOTRACE__FN size_t gotrace__map_put(const gotrace_decoder *d, gotrace__map *map, uint64_t key, uint32_t value) {
  size_t place = gotrace__map_place(d, map, key), i;
  for (i = place; map->slots[i].value; i = (i + 1) & (map->capacity - 1)) continue;
  map->slots[i].key = key;
  map->slots[i].value = value;
  return (i - place) & (map->capacity - 1);
}

/* Moves the keys to a map of another capacity. */
GOTRACE__FN gotrace_result gotrace__map_rebuild(gotrace_decoder *d, gotrace__map *map, size_t capacity, bool mixed) {
  gotrace__map other;
  size_t i;
  memset(&other, 0, sizeof other);
  other.slots = (gotrace__slot *)gotrace__dec_allocate(d, (uint64_t)capacity * sizeof *other.slots);
  if (!other.slots) return d->failure.result;
  memset(other.slots, 0, capacity * sizeof *other.slots);
  other.capacity = capacity;
  other.used = map->used;
  other.mixed = mixed;
  for (i = 0; i < map->capacity; i++)
    if (map->slots[i].value &&
        gotrace__map_put(d, &other, map->slots[i].key, map->slots[i].value) > GOTRACE__MAP_LONG && !mixed) {
      gotrace__map_free(d, &other);
      return gotrace__map_rebuild(d, map, capacity, true);
    }
  gotrace__map_free(d, map);
  *map = other;
  return GOTRACE_OK;
}

/* Adds a new key. While the map is small, counted ids that arrive out of order may be far from their places, so each
 * larger map is first tried without hashing. */
GOTRACE__FN gotrace_result gotrace__map_add(gotrace_decoder *d, gotrace__map *map, uint64_t key, uint32_t value) {
  if (map->used * 2 >= map->capacity && gotrace__map_rebuild(d, map, map->capacity ? 2 * map->capacity : 64, false))
    return d->failure.result;
  map->used++;
  if (gotrace__map_put(d, map, key, value) <= GOTRACE__MAP_LONG || map->mixed) return GOTRACE_OK;
  return gotrace__map_rebuild(d, map, map->capacity, true);
}

/* Removes a key, and moves the keys that it had displaced closer to their places. */
GOTRACE__FN void gotrace__map_remove(gotrace_decoder *d, gotrace__map *map, uint64_t key) {
  size_t mask = map->capacity - 1, i, hole, n;
  if (!gotrace__map_get(d, map, key)) return;
  for (hole = gotrace__map_place(d, map, key); map->slots[hole].key != key || !map->slots[hole].value;)
    hole = (hole + 1) & mask;
  map->used--;
  for (i = (hole + 1) & mask, n = 1; map->slots[i].value && (n <= GOTRACE__MAP_LONG || map->mixed);
       i = (i + 1) & mask, n++) {
    size_t home = gotrace__map_place(d, map, map->slots[i].key);
    if (((i - home) & mask) < ((i - hole) & mask)) continue;
    map->slots[hole] = map->slots[i];
    hole = i;
    n = 0;
  }
  map->slots[hole].key = 0;
  map->slots[hole].value = 0;
}

/* gotrace__dec_push_...: a new element at the end of an array, all zeros. NULL: no memory. gotrace__dec_enter_...: the
 * same, in a table, with a new id. gotrace__dec_find_...: the element of an id, or NULL. */
#define GOTRACE__DEC_PUSH(type, array, element)                                                        \
  GOTRACE__FN inline type *gotrace__dec_push_##element(gotrace_decoder *d) {                           \
    if (!GOTRACE__LIKELY(d->element##_count < d->element##_capacity) &&                                \
        !gotrace__dec_room(d, &d->array, d->element##_count, &d->element##_capacity, 1, sizeof(type))) \
      return NULL;                                                                                     \
    memset(&d->array[d->element##_count], 0, sizeof(type));                                            \
    return &d->array[d->element##_count++];                                                            \
  }
GOTRACE__DEC_ARRAYS(GOTRACE__DEC_PUSH)
#undef GOTRACE__DEC_PUSH
#define GOTRACE__DEC_FIND(type, array, element)                                                         \
  GOTRACE__FN inline type *gotrace__dec_find_##element(const gotrace_decoder *d, uint64_t id) {         \
    uint32_t i = gotrace__map_get(d, &d->element##_map, id);                                            \
    return i ? &d->array[i - 1] : NULL;                                                                 \
  }                                                                                                     \
  GOTRACE__FN inline type *gotrace__dec_enter_##element(gotrace_decoder *d, uint64_t id) {              \
    type *made = gotrace__dec_push_##element(d);                                                        \
    if (!made || gotrace__map_add(d, &d->element##_map, id, (uint32_t)d->element##_count)) return NULL; \
    made->id = id;                                                                                      \
    return made;                                                                                        \
  }
GOTRACE__DEC_TABLES(GOTRACE__DEC_FIND)
#undef GOTRACE__DEC_FIND

GOTRACE__FN inline bool gotrace__dec_in_order(const uint8_t *one, const uint8_t *other) {
  int64_t times[2];
  memcpy(&times[0], one, sizeof times[0]);
  memcpy(&times[1], other, sizeof times[1]);
  return times[0] <= times[1];
}

/* A stable merge sort of `count` elements of `size` bytes by the time with which each begins. False: no memory. Inline,
 * so that `size` is a constant. */
GOTRACE__ALWAYS_INLINE bool gotrace__dec_sort(gotrace_decoder *d, void *elements, size_t count, size_t size) {
  uint8_t *all = (uint8_t *)elements, *from = all, *to, *spare, *swap;
  size_t width, at, i;
  for (i = 1; i < count && gotrace__dec_in_order(all + (i - 1) * size, all + i * size); i++) continue;
  if (i >= count) return true; /* already in order, as in most cases */
  if (!(to = spare = (uint8_t *)gotrace__dec_allocate(d, (uint64_t)count * size))) return false;
  for (width = 1; width < count; width *= 2) {
    for (at = 0; at < count; at += 2 * width) {
      uint8_t *a = from + at * size, *middle = from + (at + width < count ? at + width : count) * size, *b = middle;
      uint8_t *end = from + (at + 2 * width < count ? at + 2 * width : count) * size, *out = to + at * size;
      while (a < middle || b < end) {
        uint8_t **least = b >= end || (a < middle && gotrace__dec_in_order(a, b)) ? &a : &b;
        memcpy(out, *least, size);
        *least += size;
        out += size;
      }
    }
    swap = from, from = to, to = swap;
  }
  if (from != all) memcpy(all, from, count * size);
  gotrace__dec_release(d, spare, count * size);
  return true;
}

GOTRACE__FN bool gotrace__dec_sort_samples(gotrace_decoder *d, gotrace__dec_sample *samples, size_t count) {
  return gotrace__dec_sort(d, samples, count, sizeof *samples);
}

/* ------------------------------------------------------------------------------------------- >>decode-source ---- */

/* Allocates a window of another size and moves the bytes in memory to its front. */
GOTRACE__FN bool gotrace__dec_new_window(gotrace_decoder *d, size_t size) {
  size_t have = (size_t)(d->end - d->at);
  uint8_t *memory = (uint8_t *)gotrace__dec_allocate(d, size);
  if (!memory) return false;
  if (have) memcpy(memory, d->at, have);
  gotrace__dec_release(d, d->window, d->window_size);
  d->at = d->window = memory;
  d->window_size = size;
  d->end = memory + have;
  return true;
}

/* Reads until `want` bytes are in memory, or the source ends. False: failed. */
GOTRACE__FN bool gotrace__dec_fill(gotrace_decoder *d, size_t want) {
  size_t have = (size_t)(d->end - d->at), larger = d->window_size ? d->window_size : (size_t)1 << 18;
  if (GOTRACE__LIKELY(have >= want) || d->at_end) return true;
  /* The window doubles only after it was filled, so that a large size in a batch header alone takes no memory. */
  while (larger < want && larger <= 2 * have + ((size_t)1 << 18)) larger *= 2;
  if (larger > d->window_size && !gotrace__dec_new_window(d, larger)) return false;
  /* What is left moves to the front only if there is too little room after it. */
  if ((size_t)(d->window + d->window_size - d->at) < want && d->at != d->window) {
    memmove(d->window, d->at, have);
    d->at = d->window;
    d->end = d->window + have;
  }
  while (have < want && !d->at_end) {
    size_t space = (size_t)(d->window + d->window_size - d->end), n;
    if (!space) break;
    if (d->hopping && space > want - have) space = want - have;
    n = d->options.read(d->options.context, d->offset + have, d->window + (d->end - d->window), space);
    if (n > space)
      return gotrace__dec_fail(d, GOTRACE_ERROR_READ, d->offset + have, NULL, "the read function failed"), false;
    have += n;
    d->end += n;
    d->at_end = !n;
  }
  return have >= want || d->at_end || gotrace__dec_fill(d, want);
}

/* Whether a seekable source has `size` bytes. */
GOTRACE__FN bool gotrace__dec_reaches(const gotrace_decoder *d, uint64_t size) {
  uint8_t byte;
  return d->options.read(d->options.context, size - 1, &byte, 1) == 1;
}

/* The size of a seekable source: doubles the step until it leads beyond the end, then halves it. */
GOTRACE__FN uint64_t gotrace__dec_source_size(const gotrace_decoder *d) {
  uint64_t size = d->offset + (uint64_t)(d->end - d->at), step = (uint64_t)1 << 20;
  for (; step >> 62 == 0 && gotrace__dec_reaches(d, size + step); step *= 2) size += step;
  while (step /= 2)
    if (gotrace__dec_reaches(d, size + step)) size += step;
  return size;
}

/* Reads all of the source. If it can seek, finds its size first, since a window that grows is in memory twice. */
GOTRACE__FN bool gotrace__dec_fill_all(gotrace_decoder *d) {
  uint64_t size = d->options.read && d->options.seekable && !d->at_end ? gotrace__dec_source_size(d) : 0;
  if (size > d->offset + (uint64_t)(d->end - d->at) && size - d->offset < SIZE_MAX / 4 &&
      !gotrace__dec_new_window(d, (size_t)(size - d->offset) + 1)) /* one more byte, to see the end */
    return false;
  return gotrace__dec_fill(d, SIZE_MAX / 4);
}

GOTRACE__FN inline void gotrace__dec_skip(gotrace_decoder *d, size_t size) {
  d->at += size;
  d->offset += size;
}

/* Parses "go 1.23 trace", padded with zeros to 16 bytes. Returns the version as 1023, or 0 if this is not a header. Go:
 * version.ReadHeader, parseHeader. */
GOTRACE__FN int gotrace__dec_read_header(const uint8_t *header) {
  static const char tail[] = " trace\0\0\0\0";
  int version = 0;
  size_t i = 5;
  if (memcmp(header, "go 1.", 5) != 0 || header[5] < '1' || header[5] > '9') return 0;
  for (; i < 8 && header[i] >= '0' && header[i] <= '9'; i++) version = 10 * version + (header[i] - '0');
  return memcmp(header + i, tail, 16 - i) == 0 ? 1000 + version : 0;
}

/* Reads `n` numbers before `end`. False: *at is where the bad one begins. */
GOTRACE__FN bool gotrace__get_numbers(const uint8_t **at, const uint8_t *end, uint64_t *values, unsigned n) {
  unsigned i;
  for (i = 0; i < n; i++) {
    const uint8_t *next = gotrace__get_varint(*at, end, &values[i]);
    if (!next) return false;
    *at = next;
  }
  return true;
}

/* Reports why gotrace__get_numbers failed. */
GOTRACE__FN gotrace_result gotrace__dec_bad_number(gotrace_decoder *d, const uint8_t *at, const uint8_t *end,
                                                   uint64_t offset, const char *event) {
  unsigned i;
  for (i = 0; i < 10 && at + i < end && at[i] >= 0x80; i++) continue;
  if (i < 10 && at + i >= end) GOTRACE__FAIL(TRUNCATED, offset, event, "truncated in a number");
  GOTRACE__FAIL(NUMBER, offset, event, "number longer than 64 bits");
}

/* Ticks to nanoseconds. A value that does not fit becomes INT64_MIN, as in Go. */
GOTRACE__FN inline int64_t gotrace__dec_nanoseconds(const gotrace_decoder *d, uint64_t ticks) {
  double t = (double)ticks * d->mul;
  return t < 9223372036854775808.0 ? (int64_t)t : INT64_MIN;
}

GOTRACE__FN inline int64_t gotrace__dec_later(int64_t time, int64_t by) {
  return (int64_t)((uint64_t)time + (uint64_t)by);
}

/* Initializes an event that was not read ahead. */
GOTRACE__FN void gotrace__dec_blank(gotrace_event *event, const gotrace__kind *k, uint64_t offset) {
  memset(event, 0, sizeof *event);
  gotrace__dec_set_kind(event, k);
  event->offset = offset;
  event->m = event->p = event->g = GOTRACE_NO_ID;
}

/* -------------------------------------------------------------------------------------------- >>decode-rules ---- */

/* What an event of v1 does. */
enum {
  GOTRACE__V1_NONE = GOTRACE__R_NONE,
  GOTRACE__V1_UNBLOCKS_LOCAL = GOTRACE__R_NAMED | GOTRACE__R_COUNTS,
  GOTRACE__V1_UNBLOCKS = GOTRACE__V1_UNBLOCKS_LOCAL | GOTRACE__R_COUNTED,
  GOTRACE__V1_CREATES = GOTRACE__V1_UNBLOCKS,
  GOTRACE__V1_RETURNS = GOTRACE__V1_UNBLOCKS | GOTRACE__R_TELLS | GOTRACE__R_STATUS,
  GOTRACE__V1_STARTS_LOCAL =
      GOTRACE__R_OWN | GOTRACE__R_COUNTS | GOTRACE__R_TELLS | GOTRACE__R_STARTS | GOTRACE__R_STATUS,
  GOTRACE__V1_STARTS = GOTRACE__V1_STARTS_LOCAL | GOTRACE__R_COUNTED,
  GOTRACE__V1_EXISTS = GOTRACE__V1_STARTS & ~GOTRACE__R_STARTS,
  GOTRACE__V1_CALLS = GOTRACE__R_STATUS | GOTRACE__R_RUNS,
  GOTRACE__V1_ENDS = GOTRACE__V1_CALLS | GOTRACE__R_LEAVES,
  GOTRACE__V1_BLOCKS = GOTRACE__V1_ENDS | GOTRACE__R_OWN,
  GOTRACE__V1_NOBODYS = GOTRACE__R_NOBODYS,
  GOTRACE__V1_COLLECTS = GOTRACE__R_NOBODYS | GOTRACE__R_GC
};
/* The sequence number that an event of v1 needs: its place, and what to add to it. */
#define GOTRACE__V1_ZERO GOTRACE__NOWHERE, 0
#define GOTRACE__V1_ONE GOTRACE__NOWHERE, 1
#define GOTRACE__V1_ARG0 GOTRACE__ARGUMENT(0), 0
#define GOTRACE__V1_ARG1 GOTRACE__ARGUMENT(1), 0
#define GOTRACE__R_ORDERED (GOTRACE__R_NAMED | GOTRACE__R_OWN)

/* Whose change it is: the kind of object, and GOTRACE_WHOSE_... */
#define GOTRACE__OF_NONE GOTRACE_OBJECT_NONE, GOTRACE_WHOSE_OWN
#define GOTRACE__OF_OWN_GO GOTRACE_OBJECT_GO, GOTRACE_WHOSE_OWN
#define GOTRACE__OF_OWN_PROC GOTRACE_OBJECT_PROC, GOTRACE_WHOSE_OWN
#define GOTRACE__OF_NAMED_GO GOTRACE_OBJECT_GO, GOTRACE_WHOSE_NAMED
#define GOTRACE__OF_NAMED_PROC GOTRACE_OBJECT_PROC, GOTRACE_WHOSE_NAMED
#define GOTRACE__OF_NEW_GO GOTRACE_OBJECT_GO, GOTRACE_WHOSE_NAMED | GOTRACE_WHOSE_NEW
#define GOTRACE__OF_TOLD_GO GOTRACE_OBJECT_GO, GOTRACE_WHOSE_NAMED | GOTRACE_WHOSE_TOLD
#define GOTRACE__OF_TOLD_PROC GOTRACE_OBJECT_PROC, GOTRACE_WHOSE_NAMED | GOTRACE_WHOSE_TOLD

/* The last row of each table is that of events that have none. */
static const gotrace__transition gotrace__v1_transitions[] = {
#define GOTRACE__ROW(NAME, BECOMES, does, from, to, sequence)  \
  {GOTRACE_V1_##NAME, GOTRACE_V1_##BECOMES, GOTRACE__G_##from, \
   GOTRACE__G_##to,   GOTRACE__V1_##does,   GOTRACE__V1_##sequence},
    GOTRACE__V1_TRANSITIONS(GOTRACE__ROW)
#undef GOTRACE__ROW
        {0, 0, 0, 0, GOTRACE__R_NONE, GOTRACE__V1_ZERO}};
static const gotrace__transition gotrace__v2_transitions[] = {
#define GOTRACE__ROW(NAME, needs, whose, from, to, then) \
  {GOTRACE_V2_##NAME, 0, GOTRACE__G_##from, GOTRACE__G_##to, GOTRACE__V2_DOES(needs, whose, then), 0, 0},
    GOTRACE__V2_TRANSITIONS(GOTRACE__ROW)
#undef GOTRACE__ROW
#define GOTRACE__ROW(NAME, needs) {GOTRACE_V2_##NAME, 0, 0, 0, GOTRACE__R_NEEDS_##needs, 0, 0},
        GOTRACE__V2_CONTEXTS(GOTRACE__ROW)
#undef GOTRACE__ROW
            {0, 0, 0, 0, GOTRACE__R_NEEDS_M, 0, 0}};
static const gotrace__telling gotrace__tellings[] = {
#define GOTRACE__ROW(NAME, of, status) \
  {{GOTRACE_CHANGE_STATUS, GOTRACE__OF_##of, GOTRACE_STATUS_##status, ""}, GOTRACE_V2_##NAME, 0},
    GOTRACE__V2_STATUSES(GOTRACE__ROW)
#undef GOTRACE__ROW
#define GOTRACE__ROW(NAME, change, of, name) \
  {{GOTRACE_CHANGE_##change, GOTRACE__OF_##of, GOTRACE_STATUS_NONE, name}, GOTRACE_V2_##NAME, sizeof name - 1},
        GOTRACE__V2_TELLS(GOTRACE__ROW)
#undef GOTRACE__ROW
            {{0, 0, 0, 0, ""}, 0, 0}};

GOTRACE__DEFINE const gotrace_change_spec *gotrace_find_change_spec(int number) {
  const gotrace__telling *row = gotrace__tellings;
  while (row->number && row->number != number) row++;
  return row->number ? &row->spec : NULL;
}

/* Whether a word of `size` bytes is `end`, or ends with an underscore and `end`. */
GOTRACE__FN bool gotrace__ends_with(const char *word, size_t size, const char *end) {
  size_t n = strlen(end);
  return size >= n && memcmp(word + size - n, end, n) == 0 && (size == n || word[size - n - 1] == '_');
}

/* Prepares a kind from the words of its arguments. */
GOTRACE__FN void gotrace__dec_set_arguments(gotrace__kind *k) {
  const char *word;
  size_t size;
  for (word = k->spec->arguments; (size = strcspn(word, " ")) != 0; word += size + (word[size] == ' ')) {
    uint8_t place = (uint8_t)GOTRACE__ARGUMENT(k->args);
    if (gotrace__ends_with(word, size, "dt")) k->timed = true;
    else if (gotrace__ends_with(word, size, "data")) k->data = true;
    else k->args++;
    if (gotrace__ends_with(word, size, "stack")) /* the event's own stack is "stack"; "new_stack" is another's */
      *(size == 5 ? &k->stack : &k->stack2) = place;
    else if (gotrace__ends_with(word, size, "string"))
      *(k->string == GOTRACE__NOWHERE ? &k->string : &k->string2) = place;
  }
  k->ids = k->stack2 != GOTRACE__NOWHERE || k->string2 != GOTRACE__NOWHERE;
  k->head[0] = (uint8_t)k->spec->number;
  k->head[1] = k->args;
  k->plain = k->timed && !k->data;
}

#define GOTRACE__V1_BIT(NAME) ((uint64_t)1 << GOTRACE_V1_##NAME) /* in a set of events */

static const struct {
  uint8_t v1, v2;
  const char *reason;
} gotrace__v1_rows[] = {
#define GOTRACE__ROW(NAME, LIFTED, reason) {GOTRACE_V1_##NAME, GOTRACE_V2_##LIFTED, reason},
    GOTRACE__V1_LIFTS(GOTRACE__ROW)
#undef GOTRACE__ROW
};

/* The place, in an event of v1, of what an argument of v2 is called. */
GOTRACE__FN uint8_t gotrace__v1_place_of(const gotrace_event_spec *spec, const char *name, size_t name_size) {
  const char *word;
  size_t size, i = 0;
  for (word = spec->arguments; (size = strcspn(word, " ")) != 0; word += size + (word[size] == ' ')) {
    if (size == name_size && memcmp(word, name, size) == 0) return (uint8_t)GOTRACE__ARGUMENT(i);
    i += !gotrace__ends_with(word, size, "dt");
  }
  if (name_size == 1 && *name == 'p') return (uint8_t)offsetof(gotrace_event, p);
  if (name_size == 1 && *name == 'm') return (uint8_t)offsetof(gotrace_event, m);
  return (uint8_t)GOTRACE__NOWHERE;
}

GOTRACE__FN void gotrace__v1_set_lifts(gotrace_decoder *d) {
  const uint64_t rest = GOTRACE__V1_BIT(GOMAXPROCS) | GOTRACE__V1_BIT(PROC_START) | GOTRACE__V1_BIT(PROC_STOP) |
                        GOTRACE__V1_BIT(STW_START) | GOTRACE__V1_BIT(STW_DONE) | GOTRACE__V1_BIT(GO_CREATE) |
                        GOTRACE__V1_BIT(GO_START) | GOTRACE__V1_BIT(GO_START_LABEL) | GOTRACE__V1_BIT(GO_SYS_CALL) |
                        GOTRACE__V1_BIT(GO_SYS_BLOCK) | GOTRACE__V1_BIT(GO_WAITING) | GOTRACE__V1_BIT(GO_IN_SYSCALL) |
                        GOTRACE__V1_BIT(USER_TASK_END) | GOTRACE__V1_BIT(USER_REGION) | GOTRACE__V1_BIT(USER_LOG);
  size_t i, n;
  for (i = 0; i < sizeof gotrace__v1_rows / sizeof gotrace__v1_rows[0]; i++) {
    unsigned v1 = gotrace__v1_rows[i].v1;
    const gotrace__kind *from = &d->kinds[v1], *to = &d->kinds[GOTRACE__LIFTED + gotrace__v1_rows[i].v2];
    gotrace__lift *l = &d->lifts[v1];
    const char *word;
    size_t size;
    if (!from->spec) continue;
    l->spec = to->spec;
    memcpy(l->head, to->head, sizeof l->head);
    l->head[3] = (uint8_t)v1;
    l->stack = to->stack;
    l->rest = rest >> v1 & 1;
    l->text = gotrace__v1_rows[i].reason;
    l->text_size = (uint8_t)strlen(l->text);
    if (l->text_size) l->reason = (uint8_t)v1;
    memset(l->from, (int)GOTRACE__NOWHERE, sizeof l->from);
    for (n = 0, word = to->spec->arguments; (size = strcspn(word, " ")) != 0; word += size + (word[size] == ' '))
      if (!gotrace__ends_with(word, size, "dt")) l->from[n++] = gotrace__v1_place_of(from->spec, word, size);
    l->stops = from->args == 1 && to->args == 2 && l->from[1] == GOTRACE__ARGUMENT(0) && !l->rest;
    l->same = n >= from->args && !l->rest;
    while (n) n--, l->same = l->same && l->from[n] == GOTRACE__ARGUMENT(n);
  }
}

/* Prepares the kinds of a family's events, from a place in `kinds` on. */
GOTRACE__FN void gotrace__dec_set_family(gotrace_decoder *d, int family, unsigned place) {
  /* Like Go, v2 accepts events that are newer than the format: all that have no last one. */
  int format = family == 1 ? d->version : 9999;
  const uint64_t noted = GOTRACE__V1_BIT(FUTILE_WAKEUP) | GOTRACE__V1_BIT(STW_START) | GOTRACE__V1_BIT(GO_SYS_EXIT) |
                         GOTRACE__V1_BIT(CPU_SAMPLE) | GOTRACE__V1_BIT(GOMAXPROCS);
  size_t count, i, all = family == 1 ? GOTRACE__LIFTED : sizeof d->kinds / sizeof d->kinds[0] - place;
  const gotrace_event_spec *specs = gotrace_event_specs(family, &count);
  const gotrace__transition *row = family == 1 ? gotrace__v1_transitions : gotrace__v2_transitions;
  const gotrace__telling *tells = gotrace__tellings;
  gotrace__kind *kinds = d->kinds + place;
  for (; row->number; row++) kinds[row->number].rule = row;
  for (; tells->number; tells++)
    if (family == 2) kinds[tells->number].tells = tells;
  for (i = 0; i < all; i++) {
    gotrace__kind *k = &kinds[i];
    k->stack = k->stack2 = k->string = k->string2 = GOTRACE__NOWHERE;
    if (!k->rule) k->rule = row;
    if (!k->tells) k->tells = tells;
  }
  for (i = 0; i < count; i++) {
    gotrace__kind *k = &kinds[specs[i].number];
    if ((size_t)specs[i].number >= all || format < specs[i].since || format > specs[i].until) continue;
    k->spec = &specs[i];
    gotrace__dec_set_arguments(k);
    k->names = family == 2 && (k->head[0] == GOTRACE_V2_GO_START || k->head[0] == GOTRACE_V2_GO_UNBLOCK);
    k->ordinary = family == 1 && k->plain && d->version >= 1007 && !(noted >> k->head[0] & 1);
  }
}

GOTRACE__FN void gotrace__dec_set_kinds(gotrace_decoder *d) {
  gotrace__dec_set_family(d, d->info.family, 0);
  if (d->info.family == 1 && !d->options.raw) {
    d->lifted = GOTRACE__LIFTED;
    gotrace__dec_set_family(d, 2, GOTRACE__LIFTED);
    gotrace__v1_set_lifts(d);
  }
  d->told_nothing.from = d->told_nothing.to = GOTRACE_STATUS_UNKNOWN;
  d->told_nothing.id = d->told_nothing.number = d->told_nothing.parent = GOTRACE_NO_ID;
  d->told_nothing.name = d->told_nothing.text = d->told_nothing.function = "";
}

/* ------------------------------------------------------------------------------------------- >>decode-tables ---- */

GOTRACE__FN void gotrace__dec_free_generation(gotrace_decoder *d) {
  gotrace__map_free(d, &d->string_map);
  gotrace__map_free(d, &d->stack_map);
  gotrace__map_free(d, &d->pc_map);
  d->string_count = d->stack_count = d->pc_count = 0;
  d->string_twice = d->stack_twice = false;
  d->batch_count = d->experiment_count = d->experiment_given = d->sample_count = d->sample_given = d->heap_count = 0;
  while (d->blocks) {
    gotrace__dec_block *block = d->blocks;
    d->blocks = block->next;
    gotrace__dec_release(d, block, block->size);
  }
}

/* Whether an id is in the table, or is 0: the empty string or stack. Nothing is removed from these tables, so a key
 * tells it without its value, which saves a hundredth of the time of decoding. */
GOTRACE__FN inline bool gotrace__dec_has(const gotrace_decoder *d, const gotrace__map *map, uint64_t id) {
  return !id || GOTRACE__LIKELY(map->slots && map->slots[id & (map->capacity - 1)].key == id) ||
         gotrace__map_get(d, map, id);
}

/* Adds a string, if its id is new. */
GOTRACE__FN gotrace_result gotrace__dec_add_string(gotrace_decoder *d, uint64_t id, const uint8_t *data,
                                                   uint64_t size) {
  gotrace__dec_item *item;
  if (d->string_twice) return GOTRACE_OK;
  if ((d->string_twice = gotrace__dec_has(d, &d->string_map, id)) == true) return d->string_again = id, GOTRACE_OK;
  if (!(item = gotrace__dec_enter_string(d, id))) return d->failure.result;
  item->data = data, item->size = (uint32_t)size;
  return GOTRACE_OK;
}

/* Adds a stack, or replaces the one with its id. */
GOTRACE__FN gotrace_result gotrace__dec_add_stack(gotrace_decoder *d, uint64_t id, const uint8_t *data, uint64_t size) {
  gotrace__dec_item *item = gotrace__dec_find_stack(d, id);
  if ((!id || item) && !d->stack_twice) d->stack_twice = true, d->stack_again = id;
  if (!item && !(item = gotrace__dec_enter_stack(d, id))) return d->failure.result;
  item->data = data, item->size = (uint32_t)size;
  return GOTRACE_OK;
}

/* Fails if an id of a string (v1) or of a string or stack (v2) came twice, as Go does. */
GOTRACE__FN gotrace_result gotrace__dec_check_twice(gotrace_decoder *d) {
  if (d->string_twice)
    GOTRACE__FAIL(STRING, d->offset, NULL, "string %llu defined twice", GOTRACE__LLU(d->string_again));
  if (d->stack_twice && d->info.family == 2)
    GOTRACE__FAIL(STACK, d->offset, NULL, "stack %llu defined twice", GOTRACE__LLU(d->stack_again));
  return GOTRACE_OK;
}

/* v1: a text that is not in its table of strings, by the difference of its id to `texts`: first those that Go 1.27
 * gives for its events and arguments, then the messages of logs, by their place in the file. */
enum {
  GOTRACE__V1_STW_TEXTS = GOTRACE_V1_COUNT, /* below: the reason of an event of that kind */
  GOTRACE__V1_MESSAGES = (int)GOTRACE__V1_STW_TEXTS + (int)GOTRACE_STW_REASON_COUNT
};
GOTRACE__FN bool gotrace__v1_text(const gotrace_decoder *d, uint64_t place, const char **data, size_t *size) {
  static const char *const stw[] = {
#define GOTRACE__REASON(NAME, number, text) text,
      GOTRACE_STW_REASONS(GOTRACE__REASON)
#undef GOTRACE__REASON
  };
  const uint8_t *at;
  uint64_t length;
  *data = "";
  *size = 0;
  if (place < GOTRACE_V1_COUNT) {
    if (!d->lifts[place].text_size) return false;
    *data = d->lifts[place].text;
    *size = d->lifts[place].text_size;
    return true;
  }
  if (place >= GOTRACE__V1_MESSAGES) {
    place -= GOTRACE__V1_MESSAGES;
    if (place >= (uint64_t)(d->end - d->file)) return false;
    at = gotrace__get_varint(d->file + place, d->end, &length);
    if (!at || length > (uint64_t)(d->end - at)) return false;
    *data = (const char *)at;
    *size = (size_t)length;
    return true;
  }
  *data = stw[place - GOTRACE__V1_STW_TEXTS];
  *size = strlen(*data);
  return true;
}

GOTRACE__FN bool gotrace__dec_string(const gotrace_decoder *d, uint64_t id, const char **data, size_t *size) {
  const gotrace__dec_item *entry;
  if (d && d->texts && id >= d->texts) return gotrace__v1_text(d, id - d->texts, data, size);
  entry = d && id ? gotrace__dec_find_string(d, id) : NULL;
  *data = entry ? (const char *)entry->data : "";
  *size = entry ? entry->size : 0;
  return entry || (d && !id);
}

/* A hash of a string's contents, the same in all generations. */
GOTRACE__FN uint64_t gotrace__dec_string_hash(const gotrace_decoder *d, uint64_t id) {
  gotrace__dec_item *entry = id ? gotrace__dec_find_string(d, id) : NULL;
  if (!entry || !entry->size) return 0;
  if (!entry->hash) entry->hash = gotrace__hash_from(d->seed, (const char *)entry->data, entry->size);
  return entry->hash;
}

/* Stores the frames of a stack from the one with index `first` on; returns the stack's number of frames. The frames
 * were checked when the table was read, so their numbers are valid. */
GOTRACE__FN size_t gotrace__dec_stack(const gotrace_decoder *d, uint64_t id, size_t first, gotrace_frame *frames,
                                      size_t capacity) {
  const gotrace__dec_item *entry = id ? gotrace__dec_find_stack(d, id) : NULL;
  const uint8_t *at = entry ? entry->data : NULL;
  size_t i;
  for (i = 0; entry && i < entry->size && i < first + capacity; i++) {
    uint64_t part[4] = {0, 0, 0, 0};
    unsigned j, parts = d->version < 1007 ? 1 : 4;
    for (j = 0; j < parts; j++) at = gotrace__get_varint(at, at + GOTRACE_BYTES_PER_NUMBER, &part[j]);
    if (i < first) continue;
    if (d->pc_map.used) {
      const gotrace__pc *pc = gotrace__dec_find_pc(d, part[0]);
      part[1] = pc->function, part[2] = pc->file, part[3] = pc->line;
    }
    frames[i - first].pc = part[0];
    gotrace__dec_string(d, part[1], &frames[i - first].function, &frames[i - first].function_size);
    gotrace__dec_string(d, part[2], &frames[i - first].file, &frames[i - first].file_size);
    frames[i - first].line = part[3];
  }
  return entry ? entry->size : 0;
}

/* ----------------------------------------------------------------------------------------- >>decode-objects ---- */

/* The cursor of a thread (v2) or proc (v1), created if necessary; NULL: no memory. */
GOTRACE__FN gotrace__cursor *gotrace__dec_get_cursor(gotrace_decoder *d, uint64_t id) {
  gotrace__cursor *c = gotrace__dec_find_cursor(d, id);
  if (c || !(c = gotrace__dec_enter_cursor(d, id))) return c;
  if (d->version >= GOTRACE_GO_1_22) c->g = c->p = GOTRACE_NO_ID; /* v1: 0 */
  c->generation = GOTRACE__NOBODY;
  return c;
}

/* How many events may be read ahead of each of `count` threads or procs. */
GOTRACE__FN unsigned gotrace__dec_share_ahead(size_t count) {
  size_t share = GOTRACE__AHEAD_ALL / (count + 1);
  return share > GOTRACE__AHEAD ? GOTRACE__AHEAD : share > 1 ? (unsigned)share : 1;
}

/* Makes room for reading ahead; `bytes` are left in the batch. */
GOTRACE__FN bool gotrace__dec_make_ahead(gotrace_decoder *d, gotrace__cursor *c, uint64_t bytes) {
  unsigned room = bytes / 2 < d->room ? (unsigned)bytes / 2 + 1 : d->room;
  if (GOTRACE__LIKELY(c->room >= room)) return true;
  gotrace__dec_release(d, c->ahead, c->room * sizeof *c->ahead);
  c->room = 0;
  c->ahead = (gotrace__ahead *)gotrace__dec_allocate(d, room * sizeof *c->ahead);
  if (!c->ahead) return false;
  c->room = room;
  return true;
}

/* The bytes of a cursor's batch, which are read again if necessary; NULL: failed. */
GOTRACE__FN const uint8_t *gotrace__dec_load(gotrace_decoder *d, gotrace__cursor *c, const gotrace__batch *b) {
  size_t have, n;
  if (b->data) return b->data;
  if (c->buffer_size < b->size) {
    gotrace__dec_release(d, c->buffer, c->buffer_size);
    c->buffer_size = 0;
    if (!(c->buffer = (uint8_t *)gotrace__dec_allocate(d, b->size))) return NULL;
    c->buffer_size = (size_t)b->size;
  }
  for (have = 0; have < b->size; have += n) {
    n = d->options.read(d->options.context, b->offset + have, c->buffer + have, (size_t)b->size - have);
    if (!n || n > b->size - have)
      return gotrace__dec_fail(d, GOTRACE_ERROR_READ, b->offset, NULL, "the read function failed"), (uint8_t *)NULL;
  }
  return c->buffer;
}

/* Moves a cursor to its next batch that is not empty. END_OF_TRACE: there is none, in v2 in this generation. */
GOTRACE__FN gotrace_result gotrace__dec_next_batch(gotrace_decoder *d, gotrace__cursor *c) {
  while (c->at == c->end) {
    const gotrace__batch *b = c->batch ? &d->batches[c->batch - 1] : NULL;
    if (!b) return GOTRACE_END_OF_TRACE;
    if (!(c->at = gotrace__dec_load(d, c, b))) return d->failure.result;
    c->end = c->at + b->size;
    c->base = b->offset - (uint64_t)(uintptr_t)c->at;
    c->tick = b->time;
    c->time = gotrace__dec_nanoseconds(d, b->time);
    c->batch = b->next;
  }
  return GOTRACE_OK;
}

/* Frees what a cursor has read ahead. */
GOTRACE__FN void gotrace__dec_drop_ahead(gotrace_decoder *d, gotrace__cursor *c) {
  gotrace__dec_release(d, c->buffer, c->buffer_size);
  gotrace__dec_release(d, c->ahead, c->room * sizeof *c->ahead);
  c->buffer = NULL;
  c->ahead = c->next = NULL;
  c->buffer_size = c->room = 0;
}

/* The cursors that have a next event form a binary heap by its time. The heap operations are those of Go
 * (batchcursor.go), so that equal times come in the same order. A sentinel with the latest time follows the last
 * element: it takes the place of a missing second child. */
GOTRACE__FN inline void gotrace__heap_end(gotrace_decoder *d, size_t count) {
  d->heap_count = count;
  d->heap[count].time = INT64_MAX;
}

/* Makes room for one more cursor and the sentinel. */
GOTRACE__FN bool gotrace__heap_grow(gotrace_decoder *d) {
  size_t used = d->heap ? d->heap_count + 1 : 0;
  return GOTRACE__LIKELY(used < d->heap_capacity) ||
         gotrace__dec_room(d, &d->heap, used, &d->heap_capacity, 1, sizeof *d->heap);
}

/* Exchanges the cursor at `i` with its parent, whose place it returns. */
GOTRACE__FN inline size_t gotrace__heap_rise(gotrace__front *heap, size_t i) {
  size_t parent = (i - 1) / 2;
  gotrace__front swap = heap[i];
  heap[i] = heap[parent];
  heap[parent] = swap;
  return parent;
}

GOTRACE__FN size_t gotrace__heap_up(gotrace__front *heap, size_t i) {
  while (i > 0 && heap[(i - 1) / 2].time > heap[i].time) i = gotrace__heap_rise(heap, i);
  return i;
}

/* Copies field by field: one wide load of fields that were just stored separately would stall the processor. */
GOTRACE__FN inline void gotrace__heap_set(gotrace__front *front, int64_t time, uint32_t cursor) {
  front->time = time;
  front->cursor = cursor;
}

/* Gives the cursor at `i` a later time. `last`: it comes after those with the same time. */
GOTRACE__ALWAYS_INLINE void gotrace__heap_down(gotrace__front *heap, size_t count, size_t i, int64_t time, bool last) {
  gotrace__front *at = &heap[i];
  uint32_t cursor = at->cursor;
  while (2 * i + 1 < count) {
    gotrace__front *least = &heap[2 * i + 1];
    least += least[1].time < least[0].time;
    if (least->time > time || (!last && least->time == time)) break;
    gotrace__heap_set(at, least->time, least->cursor);
    at = least;
    i = (size_t)(at - heap);
  }
  gotrace__heap_set(at, time, cursor);
}

GOTRACE__FN void gotrace__heap_remove(gotrace_decoder *d, size_t i) {
  gotrace__front *heap = d->heap;
  while (i > 0) i = gotrace__heap_rise(heap, i);
  heap[0] = heap[d->heap_count - 1];
  gotrace__heap_end(d, d->heap_count - 1);
  if (d->heap_count) gotrace__heap_down(heap, d->heap_count, 0, heap[0].time, false);
}

/* Insertion sort: after the first time the heap is nearly sorted. For few threads, Go sorts the same way. */
GOTRACE__FN bool gotrace__heap_sort(gotrace_decoder *d) {
  gotrace__front *heap = d->heap, moved;
  size_t i, j;
  uint64_t steps = 0, bound = 64 + 16 * (uint64_t)d->heap_count;
  for (i = 1; i < d->heap_count && steps < bound; i++) {
    moved = heap[i];
    for (j = i; j > 0 && heap[j - 1].time > moved.time; j--, steps++) heap[j] = heap[j - 1];
    heap[j] = moved;
  }
  return i >= d->heap_count || gotrace__dec_sort(d, heap, d->heap_count, sizeof *heap); /* if far from sorted */
}

/* Adds a goroutine with a new id; NULL: no memory. */
GOTRACE__FN gotrace__dec_go *gotrace__dec_add_go(gotrace_decoder *d, uint64_t id, uint8_t status) {
  gotrace__dec_go *g = d->free_go ? &d->gos[d->free_go - 1] : gotrace__dec_push_go(d);
  if (!g || gotrace__map_add(d, &d->go_map, id, (uint32_t)(g - d->gos) + 1)) return NULL;
  if (d->free_go) d->free_go = (uint32_t)g->sequence;
  g->id = id;
  g->status = status;
  g->sequence = 0;
  g->region_count = 0;
  if (d->version >= GOTRACE_GO_1_22) g->of.v2.generation = d->generation, g->of.v2.stw_count = 0, g->last = 0;
  g->assist = false;
  return g;
}

GOTRACE__FN gotrace_result gotrace__dec_remove_go(gotrace_decoder *d, gotrace__dec_go *g) {
  if (!d->part) g->sequence = d->free_go, d->free_go = (uint32_t)(g - d->gos) + 1;
  /* In a part the record is kept, because it holds the part's assumptions. */
  else if (g->created && gotrace__map_add(d, &d->ended_gos, g->id, 1)) return d->failure.result;
  gotrace__map_remove(d, &d->go_map, g->id);
  g->status = GOTRACE__G_GONE;
  return GOTRACE_OK;
}

/* Begins or ends something of which only one can be active; `on`, `off`: the messages if it is already on or off. */
GOTRACE__FN gotrace_result gotrace__dec_toggle(gotrace_decoder *d, const gotrace_event *ev, bool *flag, bool begin,
                                               const char *on, const char *off) {
  if (*flag == begin) GOTRACE__WRONG(RANGE, "%s", begin ? on : off);
  *flag = begin;
  return GOTRACE_OK;
}

#define GOTRACE__SHOWN 31 /* two names, ids and the offset fit into a message */

/* The name of an open region for a message: its beginning, without what is not printable. Only its hash is kept; its
 * string may be one of an earlier generation. */
GOTRACE__FN const char *gotrace__dec_region_name(const gotrace_decoder *d, uint64_t hash, char to[GOTRACE__SHOWN]) {
  size_t i, n;
  if (!hash) return "";
  for (i = 0; i < d->string_count; i++) {
    const gotrace__dec_item *entry = &d->strings[i];
    if (!entry->size || gotrace__hash_from(d->seed, (const char *)entry->data, entry->size) != hash) continue;
    for (n = 0; n < entry->size && n < GOTRACE__SHOWN - 1; n++)
      to[n] = entry->data[n] >= 0x20 && entry->data[n] < 0x7f ? (char)entry->data[n] : '?';
    to[n] = 0;
    return to;
  }
  return "(unknown)";
}

GOTRACE__FN gotrace_result gotrace__dec_misused_region(gotrace_decoder *d, const gotrace_event *ev,
                                                       const gotrace__region_mark *ended,
                                                       const gotrace__region_mark *last) {
  char name[GOTRACE__SHOWN], other[GOTRACE__SHOWN];
  GOTRACE__WRONG(REGION,
                 "misuse of region in goroutine %lld: end of '%s' of task %llu, but the innermost is '%s' of task %llu",
                 GOTRACE__LL(ev->g), gotrace__dec_region_name(d, ended->name, name), GOTRACE__LLU(ended->task),
                 gotrace__dec_region_name(d, last->name, other), GOTRACE__LLU(last->task));
}

GOTRACE__FN inline bool gotrace__dec_same_region(const gotrace__region_mark *a, const gotrace__region_mark *b) {
  return a->task == b->task && a->name == b->name;
}

/* options.lenient: ends a region that is not the innermost one. The search is bounded, since a hostile trace may have
 * any number of open regions. */
GOTRACE__FN void gotrace__dec_end_outer_region(gotrace__dec_go *g, gotrace_event *ev,
                                               const gotrace__region_mark *mark) {
  const uint32_t most = 64;
  uint32_t inside = 1;
  gotrace__region_mark *at;
  while (inside < g->region_count && inside < most &&
         !gotrace__dec_same_region(&g->regions[g->region_count - 1 - inside], mark))
    inside++;
  if (inside == most) inside = g->region_count;
  ev->extra = inside;
  if (inside == g->region_count) return;
  at = &g->regions[--g->region_count - inside];
  memmove(at, at + 1, inside * sizeof *at);
}

/* Begins a user region of a goroutine, or ends the innermost one. */
GOTRACE__FN gotrace_result gotrace__dec_region(gotrace_decoder *d, gotrace__dec_go *g, gotrace_event *ev, uint64_t name,
                                               bool begin) {
  gotrace__region_mark mark, *last;
  mark.task = ev->args[0];
  mark.name = gotrace__dec_string_hash(d, name);
  if (begin) {
    if (!gotrace__dec_room(d, &g->regions, g->region_count, &g->region_capacity, 1, sizeof mark))
      return d->failure.result;
    g->regions[g->region_count++] = mark;
  } else if (!g->region_count && d->part && g->created) {
    gotrace__dec_taken *taken = gotrace__dec_push_taken(d);
    if (!taken) return d->failure.result;
    taken->mark = mark;
    taken->go = (uint32_t)(g - d->gos);
  } else if (g->region_count) { /* else the region began before the trace */
    last = &g->regions[g->region_count - 1];
    if (gotrace__dec_same_region(last, &mark)) g->region_count--;
    else if (d->options.lenient) gotrace__dec_end_outer_region(g, ev, &mark);
    else return gotrace__dec_misused_region(d, ev, &mark, last);
  }
  return GOTRACE_OK;
}

/* ----------------------------------------------------------------------------------------------- >>decode-v2 ---- */

typedef struct gotrace__batch_header {
  uint64_t generation, m, time, size;
  size_t header_size;
  uint8_t kind, experiment;
  uint8_t first; /* of an ordinary batch: its first byte, which tells what is in it; otherwise 0, or `kind` at an end */
} gotrace__batch_header;

/* Reads the header of the next batch without consuming it. END_OF_TRACE: there is none. A batch of experiment 0 is an
 * ordinary one. Go: readBatch. */
GOTRACE__FN gotrace_result gotrace__v2_read_header(gotrace_decoder *d, gotrace__batch_header *h) {
  const uint8_t *at;
  const char *name = NULL;
  uint64_t fields[4];
  if (!gotrace__dec_fill(d, 64)) return d->failure.result;
  if (d->at == d->end) return GOTRACE_END_OF_TRACE;
  memset(h, 0, sizeof *h);
  h->kind = h->first = *d->at;
  h->header_size = 1;
  if (h->kind == GOTRACE_V2_END_OF_GENERATION) return GOTRACE_OK;
  if (d->options.raw && d->kinds[h->kind].spec) name = d->kinds[h->kind].spec->name;
  if (h->kind != GOTRACE_V2_EVENT_BATCH && h->kind != GOTRACE_V2_EXPERIMENTAL_BATCH)
    GOTRACE__FAIL(BATCH, d->offset, name, "event %u instead of a batch", h->kind);
  if (!name) name = "EventBatch";
  at = d->at + 1;
  if (h->kind == GOTRACE_V2_EXPERIMENTAL_BATCH) {
    if (at == d->end) GOTRACE__FAIL(TRUNCATED, d->offset, name, "truncated before its experiment");
    h->experiment = *at++;
    if (!h->experiment) h->kind = GOTRACE_V2_EVENT_BATCH;
  }
  if (!gotrace__get_numbers(&at, d->end, fields, 4)) return gotrace__dec_bad_number(d, at, d->end, d->offset, name);
  h->generation = fields[0], h->m = fields[1], h->time = fields[2], h->size = fields[3];
  h->header_size = (size_t)(at - d->at);
  h->first = h->kind == GOTRACE_V2_EVENT_BATCH && h->size && at < d->end ? *at : (uint8_t)0;
  if (h->size > GOTRACE_MAX_BATCH_SIZE)
    GOTRACE__FAIL(BATCH, d->offset, name, "batch of %llu bytes", GOTRACE__LLU(h->size));
  return GOTRACE_OK;
}

/* Keeps the bytes of a batch until the generation ends: in place if the trace is in memory, else as a copy. */
GOTRACE__FN const uint8_t *gotrace__v2_hold(gotrace_decoder *d, const uint8_t *data, size_t size) {
  gotrace__dec_block *block;
  if (d->options.data) return data;
  if (!(block = (gotrace__dec_block *)gotrace__dec_allocate(d, sizeof *block + size))) return NULL;
  block->next = d->blocks;
  block->size = sizeof *block + size;
  d->blocks = block;
  memcpy(block + 1, data, size);
  return (const uint8_t *)(const void *)(block + 1);
}

/* Reads the frames of a stack at *at and adds new pcs. */
GOTRACE__FN gotrace_result gotrace__v2_read_frames(gotrace_decoder *d, const uint8_t **at, const uint8_t *end,
                                                   uint64_t count, uint64_t offset) {
  for (; count; count--) {
    uint64_t part[4];
    gotrace__pc *pc;
    if (!gotrace__get_numbers(at, end, part, 4)) return gotrace__dec_bad_number(d, *at, end, offset, "Stack");
    if (gotrace__map_get(d, &d->pc_map, part[0])) continue;
    if (!(pc = gotrace__dec_enter_pc(d, part[0]))) return d->failure.result;
    pc->function = part[1], pc->file = part[2], pc->line = part[3];
  }
  return GOTRACE_OK;
}

/* Reads a batch of strings or stacks. Go: addStrings, addStacks. */
GOTRACE__FN gotrace_result gotrace__v2_read_table(gotrace_decoder *d, const uint8_t *data, size_t size,
                                                  uint64_t offset) {
  const uint8_t *at = data + 1, *end = data + size;
  uint8_t kind = (uint8_t)(*data + 1);
  bool strings = kind == GOTRACE_V2_STRING;
  const char *name = strings ? "String" : "Stack";
  uint64_t most = strings ? GOTRACE_MAX_STRING_SIZE : GOTRACE_STACK_SIZE;
  gotrace_result result = GOTRACE_OK;
  while (at < end && !result) {
    uint64_t where = offset + (uint64_t)(at - data), number[2]; /* id and size */
    const uint8_t *item;
    if (*at != kind) GOTRACE__FAIL(EVENT, where, NULL, "unexpected event %u in a batch of %ss", *at, name);
    at++;
    if (!gotrace__get_numbers(&at, end, number, 2)) return gotrace__dec_bad_number(d, at, end, where, name);
    item = at;
    if (number[1] > most)
      return gotrace__dec_fail(d, strings ? GOTRACE_ERROR_STRING : GOTRACE_ERROR_STACK, where, name,
                               strings ? "string of %llu bytes" : "stack of %llu frames", GOTRACE__LLU(number[1]));
    if (!strings) result = gotrace__v2_read_frames(d, &at, end, number[1], where);
    else if (number[1] <= (uint64_t)(end - at)) at += number[1];
    else GOTRACE__FAIL(TRUNCATED, where, name, "string exceeds its batch");
    if (result) return result;
    result = strings ? gotrace__dec_add_string(d, number[0], item, number[1])
                     : gotrace__dec_add_stack(d, number[0], item, number[1]);
  }
  return result;
}

/* Reads a batch of CPU samples. Go: addCPUSamples. */
GOTRACE__FN gotrace_result gotrace__v2_read_samples(gotrace_decoder *d, const uint8_t *data, size_t size,
                                                    uint64_t offset) {
  const uint8_t *at = data + 1, *end = data + size;
  while (at < end) {
    uint64_t where = offset + (uint64_t)(at - data), number[5];
    gotrace__dec_sample *s;
    if (*at != GOTRACE_V2_CPU_SAMPLE)
      GOTRACE__FAIL(EVENT, where, NULL, "unexpected event %u in a batch of CPU samples", *at);
    at++;
    if (!gotrace__get_numbers(&at, end, number, 5)) return gotrace__dec_bad_number(d, at, end, where, "CPUSample");
    if (!(s = gotrace__dec_push_sample(d))) return d->failure.result;
    s->tick = number[0], s->m = number[1], s->p = number[2], s->g = number[3], s->stack = number[4];
    s->offset = where;
  }
  return GOTRACE_OK;
}

/* Reads a batch with the frequency and, from 1.25, the clock snapshot. Go: setSyncBatch. */
GOTRACE__FN gotrace_result gotrace__v2_read_sync(gotrace_decoder *d, const uint8_t *data, size_t size, uint64_t offset,
                                                 uint64_t time) {
  const uint8_t *at = data + (d->version >= GOTRACE_GO_1_25), *end = data + size;
  while (at < end) {
    uint64_t where = offset + (uint64_t)(at - data), number[4];
    uint8_t kind = *at++;
    bool snapshot = kind == GOTRACE_V2_CLOCK_SNAPSHOT && d->version >= GOTRACE_GO_1_25;
    if (kind != GOTRACE_V2_FREQUENCY && !snapshot)
      GOTRACE__FAIL(EVENT, where, NULL, "unexpected event %u in a sync batch", kind);
    if (!gotrace__get_numbers(&at, end, number, snapshot ? 4 : 1))
      return gotrace__dec_bad_number(d, at, end, where, d->kinds[kind].spec->name);
    if (snapshot) {
      if (d->has_snapshot) GOTRACE__FAIL(CLOCK, where, "ClockSnapshot", "duplicate clock snapshot in a generation");
      d->has_snapshot = true;
      memcpy(d->snapshot, number, sizeof number);
      d->snapshot[0] = time + number[0];
    } else {
      if (d->has_frequency || !number[0])
        GOTRACE__FAIL(FREQUENCY, where, "Frequency",
                      number[0] ? "duplicate frequency in a generation" : "frequency of 0");
      d->has_frequency = true;
      d->mul = 1.0 / ((double)number[0] / 1e9);
      d->info.nanoseconds_per_tick = d->mul;
    }
  }
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_add_experiment(gotrace_decoder *d, const gotrace__batch_header *h,
                                                      const uint8_t *data, uint64_t offset) {
  gotrace_event *ev = gotrace__dec_push_experiment(d);
  if (!ev) return d->failure.result;
  gotrace__dec_blank(ev, &d->kinds[GOTRACE_V2_EXPERIMENTAL_BATCH], offset - h->header_size);
  ev->m = (int64_t)h->m;
  ev->args[0] = h->experiment, ev->args[1] = h->generation, ev->args[2] = h->m, ev->args[3] = h->time;
  ev->data = (const char *)data, ev->data_size = (size_t)h->size;
  return GOTRACE_OK;
}

/* Adds a batch of events to those of its thread. `data` NULL: must be read again. Go: processBatch. */
GOTRACE__FN gotrace_result gotrace__v2_add_batch(gotrace_decoder *d, const gotrace__batch_header *h,
                                                 const uint8_t *data, uint64_t offset) {
  gotrace__cursor *c = gotrace__dec_get_cursor(d, h->m);
  gotrace__batch *b = c ? gotrace__dec_push_batch(d) : NULL;
  if (!b) return d->failure.result;
  b->data = data;
  b->offset = offset;
  b->time = h->time;
  b->size = h->size;
  if (c->generation != d->serial) {
    /* The thread's first batch in this generation. The order of first batches decides between equal times. */
    if (!gotrace__heap_grow(d)) return d->failure.result;
    d->heap[d->heap_count++].cursor = (uint32_t)(c - d->cursors);
    c->generation = d->serial;
    c->first = c->batch = (uint32_t)d->batch_count;
    c->at = c->end = NULL;
    c->left = 0;
  } else {
    d->batches[c->last - 1].next = (uint32_t)d->batch_count;
  }
  c->last = (uint32_t)d->batch_count;
  return GOTRACE_OK;
}

/* Reads a batch of tables, or stores a batch of events, depending on its first byte. */
GOTRACE__FN gotrace_result gotrace__v2_read_batch(gotrace_decoder *d, const gotrace__batch_header *h,
                                                  const uint8_t *data, uint64_t offset) {
  size_t size = (size_t)h->size;
  bool table = h->first == GOTRACE_V2_STRINGS || h->first == GOTRACE_V2_STACKS;
  bool experiment = h->kind == GOTRACE_V2_EXPERIMENTAL_BATCH;
  if (h->first == GOTRACE_V2_CPU_SAMPLES) return gotrace__v2_read_samples(d, data, size, offset);
  if (h->first == (d->version >= GOTRACE_GO_1_25 ? GOTRACE_V2_SYNC : GOTRACE_V2_FREQUENCY))
    return gotrace__v2_read_sync(d, data, size, offset, h->time);
  if (h->first == GOTRACE_V2_END_OF_GENERATION)
    GOTRACE__FAIL(EVENT, offset, NULL, "end of a generation, which this format does not have");
  if (!d->options.data && d->options.seekable && size && !table && !experiment) data = NULL; /* see gotrace__dec_load */
  else if (!(data = gotrace__v2_hold(d, data, size))) return d->failure.result;
  if (table) return gotrace__v2_read_table(d, data, size, offset);
  return experiment ? gotrace__v2_add_experiment(d, h, data, offset) : gotrace__v2_add_batch(d, h, data, offset);
}

/* Returns whether the generation has ended; if so, consumes its end. On entry *result is OK if `h` is the header of the
 * next batch, otherwise the reason why there is none. If the generation has ended, *result is set to its result.
 * `generation` is its number, 0 before its first batch. Before format 1.26 a generation ends where the next one begins.
 * An error in a batch then ends it too: the error is postponed, and the batches read before it are kept. */
GOTRACE__FN bool gotrace__v2_at_end(gotrace_decoder *d, const gotrace__batch_header *h, gotrace_result *result,
                                    uint64_t generation) {
  bool explicit_end = d->version >= GOTRACE_GO_1_26;
  gotrace_result failed;
  if (*result == GOTRACE_END_OF_TRACE) {
    if (!explicit_end) *result = generation || !d->in_generation ? GOTRACE_OK : GOTRACE_END_OF_TRACE;
    else if (d->heap_count) /* as in Go: tables alone need no end, but their ids must be unique */
      *result = gotrace__dec_fail(d, GOTRACE_ERROR_TRUNCATED, d->offset, NULL, "missing end of generation %llu",
                                  GOTRACE__LLU(generation));
    else if ((failed = gotrace__dec_check_twice(d)) != GOTRACE_OK) *result = failed;
    return true;
  }
  if (*result) {
    if (!explicit_end && generation && *result != GOTRACE_ERROR_READ && *result != GOTRACE_ERROR_OUT_OF_MEMORY) {
      gotrace__dec_postpone(d);
      *result = GOTRACE_OK;
    }
    return true;
  }
  if (!explicit_end) return generation && h->generation && h->generation == generation + 1;
  if (h->first != GOTRACE_V2_END_OF_GENERATION) return false;
  gotrace__dec_skip(d, h->header_size + (size_t)h->size);
  return true;
}

/* Reads the batches of the next generation. OK; END_OF_TRACE; or an error. Go: readGeneration, readGenerationWithSpill.
 */
GOTRACE__FN gotrace_result gotrace__v2_read_generation(gotrace_decoder *d) {
  uint64_t generation = 0;
  gotrace__batch_header h;
  gotrace_result result;
  d->generation_offset = d->offset;
  d->serial++;
  d->min_tick = 0;
  d->has_frequency = d->has_snapshot = false;
  for (;;) {
    result = gotrace__v2_read_header(d, &h);
    if (!result && h.kind != GOTRACE_V2_END_OF_GENERATION) {
      if (!gotrace__dec_fill(d, h.header_size + (size_t)h.size)) return d->failure.result;
      if ((size_t)(d->end - d->at) < h.header_size + h.size)
        result = gotrace__dec_fail(d, GOTRACE_ERROR_TRUNCATED, d->offset, "EventBatch", "truncated in a batch");
    }
    if (gotrace__v2_at_end(d, &h, &result, generation)) break;
    if (!h.generation) GOTRACE__FAIL(GENERATION, d->offset, NULL, "generation 0");
    if (!generation) d->generation = generation = h.generation;
    if (h.generation != generation)
      GOTRACE__FAIL(GENERATION, d->offset, NULL, "batch of generation %llu in generation %llu",
                    GOTRACE__LLU(h.generation), GOTRACE__LLU(generation));
    if (!d->min_tick || h.time < d->min_tick) d->min_tick = h.time;
    gotrace__dec_skip(d, h.header_size + (size_t)h.size);
    if ((result = gotrace__v2_read_batch(d, &h, d->at - (size_t)h.size, d->offset - h.size)) != GOTRACE_OK)
      return result;
  }
  if (result) return result;
  if (!d->has_frequency)
    GOTRACE__FAIL(FREQUENCY, d->offset, NULL, "missing frequency in generation %llu", GOTRACE__LLU(generation));
  if (d->version >= GOTRACE_GO_1_25 && !d->has_snapshot)
    GOTRACE__FAIL(CLOCK, d->offset, NULL, "missing clock snapshot in generation %llu", GOTRACE__LLU(generation));
  return GOTRACE_OK;
}

/* Moves to another offset of a source that is in memory or seekable. */
GOTRACE__FN void gotrace__v2_seek(gotrace_decoder *d, uint64_t offset) {
  uint64_t here = d->offset;
  d->offset = offset;
  if (d->options.data) {
    d->at = (const uint8_t *)d->options.data + offset;
  } else if (offset >= here && offset - here <= (uint64_t)(d->end - d->at)) {
    d->at += offset - here;
  } else {
    d->at = d->end = d->window;
    d->at_end = false;
  }
}

/* The number of events in each of the last nanoseconds of a generation. */
#define GOTRACE__WINDOW 4096
typedef struct gotrace__window {
  int64_t begin;
  uint32_t counts[GOTRACE__WINDOW];
} gotrace__window;

/* The latest time in a batch of events or CPU samples, up to the first that cannot be read. Also counts the times that
 * lie in the window, unless it is NULL. */
GOTRACE__FN int64_t gotrace__v2_latest(const gotrace_decoder *d, const uint8_t *at, const uint8_t *end, uint64_t tick,
                                       gotrace__window *window) {
  int64_t time = gotrace__dec_nanoseconds(d, tick), latest = time;
  bool samples = *at == GOTRACE_V2_CPU_SAMPLES;
  uint64_t number[6];
  for (at += samples; at < end;) {
    const gotrace__kind *k = &d->kinds[*at++];
    if (!(samples || k->timed) || !gotrace__get_numbers(&at, end, number, samples ? 5 : 1u + k->args)) break;
    time = gotrace__dec_later(samples ? 0 : time, gotrace__dec_nanoseconds(d, number[0]));
    if (time > latest) latest = time;
    if (window && time >= window->begin && time - window->begin < GOTRACE__WINDOW)
      window->counts[time - window->begin]++;
  }
  return latest;
}

/* Each thread's last batch of events, and last batch of CPU samples, in a generation. */
#define GOTRACE__MOST_TAILS 128
typedef struct gotrace__tails {
  struct {
    gotrace__batch_header header;
    uint64_t offset;
    bool samples;
  } of[GOTRACE__MOST_TAILS];
  unsigned count; /* one more than fit: too many threads */
} gotrace__tails;

GOTRACE__FN void gotrace__v2_note_tail(gotrace__tails *t, const gotrace__batch_header *h, uint64_t offset,
                                       bool samples) {
  unsigned i = 0;
  if (t->count > GOTRACE__MOST_TAILS) return;
  while (i < t->count && (t->of[i].header.m != h->m || t->of[i].samples != samples)) i++;
  t->count += i == t->count;
  if (i == GOTRACE__MOST_TAILS) return;
  t->of[i].header = *h;
  t->of[i].samples = samples;
  t->of[i].offset = offset;
}

/* The latest time in the tails; INT64_MIN if there are none or one cannot be read. Moves the source's position. */
GOTRACE__FN int64_t gotrace__v2_latest_of_tails(gotrace_decoder *d, const gotrace__tails *t, gotrace__window *window) {
  int64_t latest = INT64_MIN, time;
  unsigned i;
  for (i = 0; i < t->count; i++) {
    size_t size = (size_t)t->of[i].header.size;
    gotrace__v2_seek(d, t->of[i].offset);
    if (!gotrace__dec_fill(d, size) || (size_t)(d->end - d->at) < size) return INT64_MIN;
    time = gotrace__v2_latest(d, d->at, d->at + size, t->of[i].header.time, window);
    if (time > latest) latest = time;
  }
  return latest;
}

/* Predicts the time of a generation's last event in the ordered trace; 0: unknown. It may exceed the latest time in the
 * file, because an event that is not later than the one before it gets the next nanosecond. */
GOTRACE__FN int64_t gotrace__v2_last_time(gotrace_decoder *d, const gotrace__tails *t) {
  gotrace__window window;
  int64_t latest, last = 0;
  unsigned i;
  if (!t->count || t->count > GOTRACE__MOST_TAILS) return 0;
  memset(&window, 0, sizeof window);
  latest = gotrace__v2_latest_of_tails(d, t, NULL);
  if (latest < GOTRACE__WINDOW || latest > INT64_MAX / 2) return 0;
  window.begin = latest - GOTRACE__WINDOW + 1;
  gotrace__v2_latest_of_tails(d, t, &window);
  for (i = 0; i < GOTRACE__WINDOW; i++) {
    if (!window.counts[i]) continue;
    last = last + 1 > window.begin + i ? last + 1 : window.begin + i;
    last += window.counts[i] - 1;
  }
  return last;
}

/* Skips the next generation and stores its extent in *span. Adds its tails to *tails, unless NULL. Raises *latest to
 * its latest time, unless NULL; d->mul must be known for this. False: there is no generation, or it is broken. */
GOTRACE__FN bool gotrace__v2_hop(gotrace_decoder *d, gotrace__dec_span *span, gotrace__tails *tails, int64_t *latest) {
  bool explicit_end = d->version >= GOTRACE_GO_1_26, ended = false;
  uint8_t sync = d->version >= GOTRACE_GO_1_25 ? GOTRACE_V2_SYNC : GOTRACE_V2_FREQUENCY;
  uint64_t generation = 0, min_tick = 0;
  gotrace__batch_header h;
  span->offset = d->offset;
  d->has_frequency = d->has_snapshot = false;
  while (!ended && gotrace__v2_read_header(d, &h) == GOTRACE_OK) {
    uint64_t size = h.header_size + h.size;
    bool events;
    int64_t time;
    ended = h.first == GOTRACE_V2_END_OF_GENERATION;
    if (ended ? !explicit_end : generation && h.generation != generation) break;
    events = !ended && h.kind == GOTRACE_V2_EVENT_BATCH && h.size && h.first != sync && h.first != GOTRACE_V2_STRINGS &&
             h.first != GOTRACE_V2_STACKS;
    if (latest ? events : h.first == sync) {
      const uint8_t *data;
      if (!gotrace__dec_fill(d, (size_t)size) || (uint64_t)(d->end - d->at) < size) break;
      data = d->at + h.header_size;
      if (!latest && gotrace__v2_read_sync(d, data, (size_t)h.size, d->offset + h.header_size, h.time)) break;
      if (latest && (time = gotrace__v2_latest(d, data, data + h.size, h.time, NULL)) > *latest) *latest = time;
    }
    if (d->options.data && (uint64_t)(d->end - d->at) < size) break;
    if (tails && events) gotrace__v2_note_tail(tails, &h, d->offset + h.header_size, h.first == GOTRACE_V2_CPU_SAMPLES);
    if (!ended) generation = h.generation;
    if (!ended && (!min_tick || h.time < min_tick)) min_tick = h.time;
    gotrace__v2_seek(d, d->offset + size);
  }
  memset(&d->failure, 0, sizeof d->failure); /* decoding the generation will report the error */
  span->bytes = d->offset - span->offset;
  span->begin = gotrace__dec_nanoseconds(d, min_tick);
  return generation && (latest || d->has_frequency) && (ended || !explicit_end);
}

/* Saturating addition. */
GOTRACE__FN int64_t gotrace__dec_add(int64_t a, uint64_t b) {
  return b > (uint64_t)INT64_MAX || a > INT64_MAX - (int64_t)b ? INT64_MAX : a + (int64_t)b;
}

/* Stores the time of the trace's first Sync, and thus where the range ends. */
GOTRACE__FN void gotrace__v2_set_first_time(gotrace_decoder *d, int64_t begin) {
  d->info.first_time = begin > 0 ? begin : 1; /* must be later than last_time, which begins at 0 */
  if (d->options.until) d->until = gotrace__dec_add(d->info.first_time, (uint64_t)d->options.until);
}

/* Moves to the generation at which decoding of the range must begin.
 *
 * This is usually the one that contains the start of the range. But an event that is not later than the one before it
 * gets the next nanosecond, so that one generation may delay the first events of the next. The events in the range must
 * have the same times as if the whole trace were decoded, so decoding begins early enough that no skipped generation
 * delays them. A bound: every event takes more than a byte, so a generation's last event is at most as many nanoseconds
 * after its latest recorded time as the generation has bytes. An event of the next generation is not delayed if it is
 * later than that by more than the number of events before it, which is less than the next generation's bytes. */
GOTRACE__FN gotrace_result gotrace__v2_find_range(gotrace_decoder *d) {
  gotrace__dec_span span, *s;
  int64_t from = 0, latest;
  uint64_t start = d->offset;
  size_t i = 0;
  memset(&span, 0, sizeof span);
  d->hopping = true;
  while (gotrace__v2_hop(d, &span, NULL, NULL)) {
    if (!d->span_count) {
      gotrace__v2_set_first_time(d, span.begin);
      from = gotrace__dec_add(d->info.first_time, (uint64_t)d->options.from);
    } else if (span.begin > from) {
      break;
    }
    if (!(s = gotrace__dec_push_span(d))) return d->failure.result;
    *s = span;
    s->mul = d->mul;
  }
  d->hopping = false;
  for (i = d->span_count ? d->span_count - 1 : 0; i; i--) {
    s = &d->spans[i - 1];
    d->mul = s->mul;
    latest = s->begin;
    gotrace__v2_seek(d, s->offset);
    gotrace__v2_hop(d, &span, NULL, &latest);
    if (from >= gotrace__dec_add(latest, s->bytes + d->spans[i].bytes + 2)) break;
  }
  gotrace__v2_seek(d, i ? d->spans[i].offset : start);
  d->syncs = i;
  d->skipped = i > 0;
  return GOTRACE_OK;
}

/* Reads plain events of a thread into the slots from `e` to `last`, until the batch ends or an event is not plain.
 * Returns the first unused slot. */
GOTRACE__FN gotrace__ahead *gotrace__v2_read_fast(gotrace_decoder *d, gotrace__cursor *c, gotrace__ahead *e,
                                                  const gotrace__ahead *last) {
  const gotrace__kind *kinds = d->kinds;
  const double mul = d->mul;
  const uint8_t *at = c->at, *next, *stop;
  const uint64_t base = c->base;
  int64_t time = c->time;
  if (c->end - at < GOTRACE__EVENT_BYTES) return e;
  for (stop = c->end - GOTRACE__EVENT_BYTES; e < last && at <= stop; e++, at = next) {
    const gotrace__kind *k = kinds + *at;
    gotrace_event *ev = &e->event;
    uint64_t dt;
    next = at + 1;
    gotrace__dec_clear(ev);
    if (!GOTRACE__LIKELY(k->plain && gotrace__take_event(&next, &dt, ev->args, k->args))) break;
    gotrace__dec_set_kind(ev, k);
    time = gotrace__dec_later(time, (int64_t)((double)(int64_t)dt * mul)); /* at most 28 bits: no overflow */
    ev->time = time;
    ev->offset = base + (uint64_t)(uintptr_t)at;
    ev->m = (int64_t)c->id;
    ev->stack = gotrace__dec_number(ev, k->stack);
    e->known = !k->ids && gotrace__dec_has(d, &d->stack_map, ev->stack) &&
               gotrace__dec_has(d, &d->string_map, gotrace__dec_number(ev, k->string));
    e->go = 0;
    if (k->names) { /* with many goroutines, the record is not in the cache */
      e->go = gotrace__map_get(d, &d->go_map, ev->args[0]);
      if (e->go) GOTRACE__PREFETCH(&d->gos[e->go - 1]);
    }
  }
  c->at = at;
  c->time = time;
  return e;
}

/* Reads one event of a thread, of any kind. If it is invalid, fails if `first`; otherwise returns WOULD_BLOCK, so that
 * the error is reported after the events before it. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v2_read_event(gotrace_decoder *d, gotrace__cursor *c,
                                                                    gotrace__ahead *e, bool first) {
  const uint8_t *at = c->at;
  const gotrace__kind *k = &d->kinds[*at++];
  uint64_t dt;
  memset(e, 0, sizeof *e);
  e->event.offset = c->base + (uint64_t)(uintptr_t)c->at;
  if (!k->timed || !gotrace__get_numbers(&at, c->end, &dt, 1) ||
      !gotrace__get_numbers(&at, c->end, e->event.args, k->args)) {
    if (!first) return GOTRACE_WOULD_BLOCK;
    c->left = 0;
    if (k->timed) return gotrace__dec_bad_number(d, at, c->end, e->event.offset, k->spec->name);
    GOTRACE__FAIL(EVENT, e->event.offset, k->spec ? k->spec->name : NULL, "unexpected event %u in a thread's batch",
                  *c->at);
  }
  gotrace__dec_set_kind(&e->event, k);
  e->event.time = c->time = gotrace__dec_later(c->time, gotrace__dec_nanoseconds(d, dt));
  e->event.m = (int64_t)c->id;
  e->event.stack = gotrace__dec_number(&e->event, k->stack);
  c->at = at;
  return GOTRACE_OK;
}

/* Reads events of a thread ahead, up to the first invalid one; fails if that is the first. END_OF_TRACE: the thread has
 * no more in this generation. Go: batchCursor.nextEvent. */
GOTRACE__FN gotrace_result gotrace__v2_read_ahead(gotrace_decoder *d, gotrace__cursor *c) {
  gotrace__ahead *e, *last;
  gotrace_result result = gotrace__dec_next_batch(d, c);
  if (result == GOTRACE_END_OF_TRACE) gotrace__dec_drop_ahead(d, c);
  if (result) return result;
  if (!gotrace__dec_make_ahead(d, c, (uint64_t)(c->end - c->at))) return d->failure.result;
  for (e = c->ahead, last = e + c->room; e < last && c->at < c->end; e++) {
    if ((e = gotrace__v2_read_fast(d, c, e, last)) == last || c->at == c->end) break;
    if ((result = gotrace__v2_read_event(d, c, e, e == c->ahead)) == GOTRACE_WOULD_BLOCK) break;
    if (result) return result;
  }
  c->next = c->ahead;
  c->left = (unsigned)(e - c->ahead);
  return GOTRACE_OK;
}

/* ----------------------------------------------------------------------------------------- >>decode-v2-order ----
 *
 * v2: orders the events of all threads. Each is applied as soon as the state of threads, procs and goroutines allows
 * it, the earliest first. Go: internal/trace/order.go.
 */

#define GOTRACE__LATER GOTRACE_WOULD_BLOCK /* the event cannot happen yet; it may after others */

/* A part decodes one generation other than the first, without knowing the state before it. It derives that state from
 * the statuses in the generation, and records each assumption: in goroutines, procs, cursors and tasks, and for
 * collections in begin_gc. It fails if the statuses do not suffice. gotrace_decoder_join compares the assumptions with
 * the actual state, known to the decoder that has read everything before. State about which the part assumed nothing
 * cannot affect its events.
 *
 * In a goroutine's record, `created` means that it existed when the part began, with status `order_status`; `last`,
 * whether it was then in a mark assist (or GOTRACE__PART_UNKNOWN); `fresh`, that it must not have existed. */
enum { GOTRACE__PART_UNKNOWN = 2 };

/* Assumes what a thread runs at the beginning of the part: the goroutine and proc of its first statuses, else none. */
GOTRACE__FN void gotrace__part_begin_thread(gotrace__cursor *c) {
  const gotrace__ahead *a = c->next, *end = a + c->left;
  c->begin_known = c->begin_p_known = true;
  c->begin_g = c->begin_p = GOTRACE_NO_ID;
  for (; a < end; a++) {
    const uint64_t *args = a->event.args;
    if (a->event.kind == GOTRACE_V2_PROC_STATUS) {
      uint64_t status = args[1] & 0xff;
      if (status == GOTRACE__P_RUNNING || status == GOTRACE__P_SYSCALL) c->begin_p = (int64_t)args[0];
    } else if (a->event.kind == GOTRACE_V2_GO_STATUS || a->event.kind == GOTRACE_V2_GO_STATUS_STACK) {
      uint64_t status = args[2] & 0xff;
      if (status == GOTRACE__G_RUNNING || (status == GOTRACE__G_SYSCALL && args[1] == c->id))
        c->begin_g = (int64_t)args[0];
    } else {
      break;
    }
  }
  c->g = c->begin_g;
  c->p = c->begin_p;
}

/* The goroutine that a thread runs; NULL if unknown. `here`: looks only where it was last found, without a search. */
GOTRACE__ALWAYS_INLINE gotrace__dec_go *gotrace__v2_own_go(gotrace_decoder *d, gotrace__cursor *c, bool here) {
  gotrace__dec_go *g;
  if (c->g == GOTRACE_NO_ID) return NULL;
  if (GOTRACE__LIKELY(c->g_index != 0)) {
    g = &d->gos[c->g_index - 1];
    if (GOTRACE__LIKELY(g->id == (uint64_t)c->g && g->status != GOTRACE__G_GONE)) return g;
  }
  if (here) return NULL;
  g = gotrace__dec_find_go(d, (uint64_t)c->g);
  c->g_index = g ? (uint32_t)(g - d->gos) + 1 : 0;
  return g;
}

/* The same for the proc. */
GOTRACE__ALWAYS_INLINE gotrace__dec_proc *gotrace__v2_own_proc(gotrace_decoder *d, gotrace__cursor *c, bool here) {
  gotrace__dec_proc *p;
  if (c->p == GOTRACE_NO_ID) return NULL;
  if (GOTRACE__LIKELY(c->p_index != 0) && GOTRACE__LIKELY(d->procs[c->p_index - 1].id == (uint64_t)c->p))
    return &d->procs[c->p_index - 1];
  if (here) return NULL;
  p = gotrace__dec_find_proc(d, (uint64_t)c->p);
  c->p_index = p ? (uint32_t)(p - d->procs) + 1 : 0;
  return p;
}

/* The goroutine that args[0] names; NULL if unknown. `here`: looks only where it was when the event was read. */
GOTRACE__ALWAYS_INLINE gotrace__dec_go *gotrace__v2_named_go(gotrace_decoder *d, const gotrace__ahead *a, bool here) {
  gotrace__dec_go *g = a->go ? &d->gos[a->go - 1] : NULL;
  if (GOTRACE__LIKELY(g && g->id == a->event.args[0] && g->status != GOTRACE__G_GONE)) return g;
  return here ? NULL : gotrace__dec_find_go(d, a->event.args[0]);
}

/* Makes the goroutine, or the proc, the one that the thread runs. */
GOTRACE__FN inline void gotrace__v2_take_go(gotrace_decoder *d, gotrace__cursor *c, const gotrace__dec_go *g) {
  c->g = (int64_t)g->id;
  c->g_index = (uint32_t)(g - d->gos) + 1;
}

GOTRACE__FN inline void gotrace__v2_take_proc(gotrace_decoder *d, gotrace__cursor *c, gotrace__dec_proc *p) {
  c->p = (int64_t)p->id;
  c->p_index = (uint32_t)(p - d->procs) + 1;
  p->g = (uint64_t)(c - d->cursors); /* the thread that has it */
}

/* Queues an event that another event implies. */
GOTRACE__FN void gotrace__v2_imply(gotrace_decoder *d, const gotrace_event *of, uint8_t kind, uint64_t arg0,
                                   uint64_t arg1) {
  gotrace_event *ev = &d->queue[d->queue_count++];
  *ev = *of;
  gotrace__dec_set_kind(ev, &d->kinds[kind]);
  memset(ev->args, 0, sizeof ev->args);
  ev->args[0] = arg0;
  ev->args[1] = arg1;
  ev->stack = 0;
  ev->implied = true;
  if (kind == GOTRACE_V2_GO_START) ev->g = GOTRACE_NO_ID; /* the thread runs none between block and start */
}

GOTRACE__FN inline bool gotrace__v2_is_next(const gotrace_decoder *d, uint64_t generation, uint64_t sequence,
                                            uint64_t next) {
  return generation == d->generation && next == sequence + 1;
}

GOTRACE__FN inline bool gotrace__v2_lacks_context(const gotrace__cursor *c, unsigned does) {
  return ((does & GOTRACE__R_NEEDS_P) && c->p == GOTRACE_NO_ID) ||
         ((does & GOTRACE__R_NEEDS_G) && c->g == GOTRACE_NO_ID) ||
         ((does & GOTRACE__R_NEEDS_M) && c->id == GOTRACE__NOBODY);
}

/* Checks that an event has its thread, proc and goroutine. Without a thread it has no proc or goroutine. Go:
 * validateCtx. */
GOTRACE__FN gotrace_result gotrace__v2_check_context(gotrace_decoder *d, const gotrace__cursor *c,
                                                     const gotrace_event *ev, unsigned does) {
  if (!gotrace__v2_lacks_context(c, does)) return GOTRACE_OK;
  if (c->id == GOTRACE__NOBODY) GOTRACE__WRONG(CONTEXT, "needs a thread");
  if ((does & GOTRACE__R_NEEDS_P) && c->p == GOTRACE_NO_ID)
    GOTRACE__WRONG(CONTEXT, "needs a proc; thread %lld has none", GOTRACE__LL(c->id));
  GOTRACE__WRONG(CONTEXT, "needs a goroutine; thread %lld runs none", GOTRACE__LL(c->id));
}

/* Applies a rule to a thread's next event: checks what the event needs, then makes its changes. If the rule forbids the
 * event, nothing has changed. `here`: gives up, with GOTRACE__LATER, instead of searching or reporting an error, so
 * that the function makes no calls and needs few registers. */
GOTRACE__ALWAYS_INLINE gotrace_result gotrace__v2_apply(gotrace_decoder *d, gotrace__cursor *c, unsigned does,
                                                        unsigned from, unsigned to, bool here) {
#define GOTRACE__FORBID(result, ...) \
  return here ? GOTRACE__LATER : gotrace__dec_fail(d, GOTRACE_ERROR_##result, ev->offset, ev->spec->name, __VA_ARGS__)
  const gotrace_event *ev = &c->next->event;
  const uint64_t *args = ev->args;
  gotrace__dec_go *g = NULL;
  gotrace__dec_proc *p;
  if (does & GOTRACE__R_NAMED) {
    g = gotrace__v2_named_go(d, c->next, here);
    if (!g || g->status != from || !gotrace__v2_is_next(d, g->of.v2.generation, g->sequence, args[1]))
      return GOTRACE__LATER;
  }
  if (gotrace__v2_lacks_context(c, does)) return here ? GOTRACE__LATER : gotrace__v2_check_context(d, c, ev, does);
  if ((does & GOTRACE__R_STARTS) && c->g != GOTRACE_NO_ID)
    GOTRACE__FORBID(CONTEXT, "start of goroutine %lld while goroutine %lld runs", GOTRACE__LL(args[0]),
                    GOTRACE__LL(c->g));
  if (does & GOTRACE__R_OWN) {
    if (!(g = gotrace__v2_own_go(d, c, here)))
      GOTRACE__FORBID(STATE, "goroutine %lld does not exist", GOTRACE__LL(c->g));
    if (g->status != from)
      GOTRACE__FORBID(STATE, "goroutine %lld has status %u, not %u", GOTRACE__LL(c->g), g->status, from);
  }
  if (does & GOTRACE__R_ENTERS) {
    if (!(p = gotrace__v2_own_proc(d, c, here))) GOTRACE__FORBID(STATE, "proc %lld is unknown", GOTRACE__LL(c->p));
    if (!gotrace__v2_is_next(d, p->generation, p->sequence, args[0]))
      GOTRACE__FORBID(STATE, "sequence number %llu of proc %lld follows %llu", GOTRACE__LLU(args[0]), GOTRACE__LL(c->p),
                      GOTRACE__LLU(p->sequence));
    p->status = GOTRACE__P_SYSCALL;
    p->sequence = args[0];
  } else if (does & GOTRACE__R_RETURNS) {
    if (!(p = gotrace__v2_own_proc(d, c, here)) || p->status != GOTRACE__P_SYSCALL)
      GOTRACE__FORBID(STATE, "proc %lld is not in a system call", GOTRACE__LL(c->p));
    p->status = GOTRACE__P_RUNNING;
  }
  if (!g) return GOTRACE_OK;
  g->status = (uint8_t)to;
  if (does & GOTRACE__R_NAMED) g->sequence = args[1];
  if (does & GOTRACE__R_STARTS) gotrace__v2_take_go(d, c, g);
  if (does & GOTRACE__R_LEAVES) c->g = GOTRACE_NO_ID;
  return GOTRACE_OK;
#undef GOTRACE__FORBID
}

/* Events that need more than a rule, called by gotrace__v2_order_rare. In `ev`, p and g are set. A function that
 * returns GOTRACE__LATER has changed nothing. */

/* Whether a state may be older than what has been decoded: in the first generation; if generations were skipped, also
 * later, since what is silent in a generation need not have a status in it. */
GOTRACE__FN bool gotrace__v2_lacks_past(const gotrace_decoder *d) {
  return d->generation == d->first_generation || d->skipped;
}

/* The thread that has a proc: the last that took it or, if several did, as only a hostile trace causes, any that has
 * not lost it. NULL: none. */
GOTRACE__FN const gotrace__cursor *gotrace__v2_holder(gotrace_decoder *d, gotrace__dec_proc *p) {
  size_t i;
  if (p->g < d->cursor_count && d->cursors[p->g].p == (int64_t)p->id) return &d->cursors[p->g];
  if ((d->attempts += d->cursor_count) > GOTRACE__MOST_ATTEMPTS(d)) return NULL;
  for (i = 0; i < d->cursor_count; i++) {
    if (!d->cursors[i].seen || d->cursors[i].p != (int64_t)p->id) continue;
    p->g = i;
    return &d->cursors[i];
  }
  return NULL;
}

GOTRACE__FN gotrace_result gotrace__v2_proc_status(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  uint64_t id = ev->args[0], status = ev->args[1] &= 0xff; /* as Go: one byte */
  gotrace__dec_proc *p = gotrace__dec_find_proc(d, id);
  bool promoted = false;
  ev->extra = (int64_t)status;
  if (status > GOTRACE__P_ABANDONED)
    GOTRACE__WRONG(STATUS, "proc %lld has status %llu", GOTRACE__LL(id), GOTRACE__LLU(status));
  if (p) {
    if (status == GOTRACE__P_ABANDONED && p->status == GOTRACE__P_SYSCALL) {
      /* Its thread is known, so it is not abandoned. */
      promoted = true;
      ev->extra = GOTRACE__P_RUNNING;
      ev->args[1] = GOTRACE__P_SYSCALL;
    } else if (status == GOTRACE__P_ABANDONED && p->status == GOTRACE__P_ABANDONED) {
      ev->extra = GOTRACE__P_IDLE;
    } else if (p->status != status) {
      GOTRACE__WRONG(STATUS, "proc %lld has status %u, not %llu", GOTRACE__LL(id), p->status, GOTRACE__LLU(status));
    }
  } else {
    if (d->part && status == GOTRACE__P_ABANDONED)
      GOTRACE__WRONG(STATUS, "proc %lld is abandoned; a part does not know by whom", GOTRACE__LL(id));
    if (!(p = gotrace__dec_enter_proc(d, id))) return d->failure.result;
    p->g = GOTRACE__NOBODY;
    p->status = p->begin_status = (uint8_t)status;
    p->begin_sweep = GOTRACE__PART_UNKNOWN;
    if (!d->part) ev->extra = gotrace__v2_lacks_past(d) ? GOTRACE_STATUS_UNKNOWN : GOTRACE_STATUS_NONE;
  }
  p->generation = d->generation;
  p->sequence = 0;
  if (status == GOTRACE__P_RUNNING || status == GOTRACE__P_SYSCALL) gotrace__v2_take_proc(d, c, p);
  if (promoted) {
    const gotrace__cursor *holder = gotrace__v2_holder(d, p);
    if (!holder) GOTRACE__WRONG(STATUS, "proc %lld is abandoned, but no thread has it", GOTRACE__LL(id));
    ev->m = (int64_t)holder->id, ev->p = (int64_t)id, ev->g = holder->g;
  }
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_proc_start(gotrace_decoder *d, gotrace__cursor *c, const gotrace_event *ev) {
  gotrace__dec_proc *p = gotrace__dec_find_proc(d, ev->args[0]);
  if (!p || p->status != GOTRACE__P_IDLE || !gotrace__v2_is_next(d, p->generation, p->sequence, ev->args[1]) ||
      c->p != GOTRACE_NO_ID)
    return GOTRACE__LATER;
  p->status = GOTRACE__P_RUNNING;
  p->sequence++;
  gotrace__v2_take_proc(d, c, p);
  return gotrace__v2_check_context(d, c, ev, GOTRACE__R_NEEDS_M);
}

GOTRACE__FN gotrace_result gotrace__v2_proc_stop(gotrace_decoder *d, gotrace__cursor *c, const gotrace_event *ev) {
  gotrace__dec_proc *p = gotrace__v2_own_proc(d, c, false);
  if (!p) GOTRACE__WRONG(STATE, "thread %lld has no known proc", GOTRACE__LL(c->id));
  if (p->status != GOTRACE__P_RUNNING && p->status != GOTRACE__P_SYSCALL)
    GOTRACE__WRONG(STATE, "proc %lld has status %u", GOTRACE__LL(c->p), p->status);
  p->status = GOTRACE__P_IDLE;
  c->p = GOTRACE_NO_ID;
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_proc_steal(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  uint64_t id = ev->args[0];
  gotrace__dec_proc *p = gotrace__dec_find_proc(d, id);
  gotrace__cursor *from;
  gotrace_result result;
  if (!p || (p->status != GOTRACE__P_SYSCALL && p->status != GOTRACE__P_ABANDONED) ||
      !gotrace__v2_is_next(d, p->generation, p->sequence, ev->args[1]))
    return GOTRACE__LATER;
  if ((result = gotrace__v2_check_context(d, c, ev, GOTRACE__R_NEEDS_M)) != GOTRACE_OK) return result;
  ev->extra = p->status;
  p->status = GOTRACE__P_IDLE;
  p->sequence++;
  if (ev->extra == GOTRACE__P_ABANDONED) return GOTRACE_OK; /* the thread may have moved on */
  from = ev->args[2] == c->id ? c : gotrace__dec_find_cursor(d, ev->args[2]);
  /* In a part, a thread with a proc counts as seen before. */
  if (!from || !(from->seen || (d->part && id != GOTRACE__NOBODY)) || from->p != (int64_t)id)
    GOTRACE__WRONG(STATE, "proc %lld stolen from thread %lld, which does not have it", GOTRACE__LL(id),
                   GOTRACE__LL(ev->args[2]));
  from->p = GOTRACE_NO_ID;
  return GOTRACE_OK;
}

/* The status of a goroutine that is in a system call, on thread `m`. */
GOTRACE__FN gotrace_result gotrace__v2_syscall_status(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev,
                                                      const gotrace__dec_go *g, uint64_t m) {
  gotrace__cursor *other;
  if (m == GOTRACE__NOBODY)
    GOTRACE__WRONG(STATUS, "goroutine %lld is in a system call without a thread", GOTRACE__LL(g->id));
  if (m == c->id) {
    bool unknown = d->generation == d->first_generation || (c->g == GOTRACE_NO_ID && gotrace__v2_lacks_past(d));
    if (!unknown && c->g != (int64_t)g->id)
      GOTRACE__WRONG(STATUS, "goroutine %lld is in a system call on this thread, which runs %lld", GOTRACE__LL(g->id),
                     GOTRACE__LL(c->g));
    gotrace__v2_take_go(d, c, g);
    return GOTRACE_OK;
  }
  /* In a system call for the whole generation, on a thread without events in it. A new cursor may move all others, so
   * `c` is not used after this. */
  if (!(other = gotrace__dec_get_cursor(d, m))) return d->failure.result;
  ev->m = (int64_t)m;
  if (d->skipped ? other->g == GOTRACE_NO_ID : !other->seen && !d->part) { /* after skipping, it may have had events */
    other->seen = true;
    gotrace__v2_take_go(d, other, g);
    return GOTRACE_OK;
  }
  if (other->seen ? other->g != (int64_t)g->id : other->begin_known && other->begin_g != (int64_t)g->id)
    GOTRACE__WRONG(STATUS, "goroutine %lld is in a system call on thread %lld, which runs %lld", GOTRACE__LL(g->id),
                   GOTRACE__LL(m), GOTRACE__LL(other->g));
  if (!other->seen) { /* a part: since before it */
    other->begin_known = other->begin_seen = other->seen = true;
    other->begin_g = other->g = (int64_t)g->id;
  }
  ev->g = other->g;
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_go_status(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  uint64_t id = ev->args[0], status = ev->args[2] &= 0xff; /* as Go: one byte */
  gotrace__dec_go *g = gotrace__dec_find_go(d, id);
  ev->extra = (int64_t)status;
  if (status > GOTRACE__G_WAITING)
    GOTRACE__WRONG(STATUS, "goroutine %lld has status %llu", GOTRACE__LL(id), GOTRACE__LLU(status));
  if (g) {
    if (g->status != status)
      GOTRACE__WRONG(STATUS, "goroutine %lld has status %u, not %llu", GOTRACE__LL(id), g->status,
                     GOTRACE__LLU(status));
    g->of.v2.generation = d->generation;
    g->sequence = 0;
  } else {
    if (d->part ? gotrace__map_get(d, &d->ended_gos, id) != 0 : !gotrace__v2_lacks_past(d))
      GOTRACE__WRONG(STATUS, "goroutine %lld, never created, has a status after the first generation", GOTRACE__LL(id));
    if (!(g = gotrace__dec_add_go(d, id, (uint8_t)status))) return d->failure.result;
    if (d->part) g->created = true, g->order_status = g->status, g->last = GOTRACE__PART_UNKNOWN;
    else ev->extra = GOTRACE_STATUS_UNKNOWN;
  }
  if (status == GOTRACE__G_RUNNING) gotrace__v2_take_go(d, c, g);
  return status == GOTRACE__G_SYSCALL ? gotrace__v2_syscall_status(d, c, ev, g, ev->args[1]) : GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_go_create(gotrace_decoder *d, gotrace__cursor *c, const gotrace_event *ev,
                                                 uint8_t status) {
  /* As in Go, if the thread runs none and there is a goroutine GOTRACE_NO_ID, that must be running. */
  gotrace__dec_go *g = gotrace__dec_find_go(d, (uint64_t)c->g);
  bool syscall = status == GOTRACE__G_SYSCALL;
  if (syscall && c->g != GOTRACE_NO_ID)
    GOTRACE__WRONG(CONTEXT, "the thread runs goroutine %lld already", GOTRACE__LL(c->g));
  if (!syscall && g && g->status != GOTRACE__G_RUNNING)
    GOTRACE__WRONG(STATE, "goroutine %lld has status %u", GOTRACE__LL(c->g), g->status);
  if (gotrace__dec_find_go(d, ev->args[0]))
    GOTRACE__WRONG(STATE, "goroutine %lld already exists", GOTRACE__LL(ev->args[0]));
  if (!(g = gotrace__dec_add_go(d, ev->args[0], status))) return d->failure.result;
  if (d->part) g->fresh = !gotrace__map_get(d, &d->ended_gos, g->id);
  if (syscall) gotrace__v2_take_go(d, c, g);
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_go_switch(gotrace_decoder *d, gotrace__cursor *c, const gotrace_event *ev) {
  gotrace__dec_go *g = &d->gos[c->g_index - 1], *next = gotrace__dec_find_go(d, ev->args[0]);
  bool destroy = ev->kind == GOTRACE_V2_GO_SWITCH_DESTROY;
  if (!next || next->status != GOTRACE__G_WAITING ||
      !gotrace__v2_is_next(d, next->of.v2.generation, next->sequence, ev->args[1]))
    return GOTRACE__LATER;
  gotrace__v2_imply(d, ev, destroy ? GOTRACE_V2_GO_DESTROY : GOTRACE_V2_GO_BLOCK, 0, 0);
  g->status = GOTRACE__G_WAITING;
  if (destroy && gotrace__dec_remove_go(d, g)) return d->failure.result;
  next->status = GOTRACE__G_RUNNING;
  next->sequence++;
  gotrace__v2_imply(d, ev, GOTRACE_V2_GO_START, next->id, ev->args[1]);
  gotrace__v2_take_go(d, c, next);
  return GOTRACE_OK;
}

/* A goroutine ends in a system call. If its thread has a proc, it loses that too. */
GOTRACE__FN gotrace_result gotrace__v2_destroy_syscall(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  gotrace__dec_proc *p;
  gotrace_event destroy = *ev;
  gotrace_result result = gotrace__dec_remove_go(d, &d->gos[c->g_index - 1]);
  if (result || c->p == GOTRACE_NO_ID) return result;
  if (!(p = gotrace__v2_own_proc(d, c, false)) || p->status != GOTRACE__P_SYSCALL)
    GOTRACE__WRONG(STATE, "proc %lld is not in a system call", GOTRACE__LL(c->p));
  /* The proc may be stolen later, or never; another thread may have the thread's id by then. */
  p->status = GOTRACE__P_ABANDONED;
  c->p = GOTRACE_NO_ID;
  gotrace__v2_imply(d, ev, GOTRACE_V2_PROC_STEAL, p->id, 0);
  *ev = d->queue[0];
  ev->extra = GOTRACE__P_SYSCALL;
  d->queue[0] = destroy;
  return GOTRACE_OK;
}

/* Adds a task, in the given record or (NULL) in a new one. */
GOTRACE__FN gotrace_result gotrace__dec_add_task(gotrace_decoder *d, gotrace__dec_task *task, uint64_t id,
                                                 uint64_t parent, const char *name, size_t size) {
  bool newer = !task;
  if (!task && !(task = gotrace__dec_enter_task(d, id))) return d->failure.result;
  task->parent = parent;
  task->ended = false;
  task->newer |= newer;
  if (size && !(task->name = (char *)gotrace__dec_allocate(d, size))) return d->failure.result;
  task->name_size = (uint32_t)size;
  if (size) memcpy(task->name, name, size);
  return GOTRACE_OK;
}

/* Removes a task; the last one takes its place. */
GOTRACE__FN gotrace_result gotrace__dec_remove_task(gotrace_decoder *d, gotrace__dec_task *task) {
  gotrace__map_remove(d, &d->task_map, task->id);
  *task = d->tasks[--d->task_count];
  if (task == &d->tasks[d->task_count]) return GOTRACE_OK;
  gotrace__map_remove(d, &d->task_map, task->id);
  return gotrace__map_add(d, &d->task_map, task->id, (uint32_t)(task - d->tasks) + 1);
}

GOTRACE__FN gotrace_result gotrace__v2_task_begin(gotrace_decoder *d, const gotrace_event *ev) {
  const char *name;
  size_t size;
  gotrace__dec_task *task = gotrace__dec_find_task(d, ev->args[0]);
  if (task && !task->ended) GOTRACE__WRONG(TASK, "task %lld has already begun", GOTRACE__LL(ev->args[0]));
  if (!gotrace__dec_string(d, ev->args[2], &name, &size))
    GOTRACE__WRONG(STRING, "string %llu is unknown", GOTRACE__LLU(ev->args[2]));
  return gotrace__dec_add_task(d, task, ev->args[0], ev->args[1], name, size);
}

GOTRACE__FN gotrace_result gotrace__v2_task_end(gotrace_decoder *d, gotrace_event *ev) {
  gotrace__dec_task *task = gotrace__dec_find_task(d, ev->args[0]);
  gotrace__dec_release(d, d->ended.name, d->ended.name_size);
  memset(&d->ended, 0, sizeof d->ended);
  ev->extra = GOTRACE_NO_ID;
  ev->data = "";
  if (!task && d->part) { /* it began before the part */
    if (!(task = gotrace__dec_enter_task(d, ev->args[0]))) return d->failure.result;
    task->ended = task->older = true;
  }
  if (!task || task->ended) return GOTRACE_OK;
  ev->extra = task->parent ? (int64_t)task->parent : GOTRACE_NO_ID;
  d->ended = *task;
  if (task->name) ev->data = task->name;
  ev->data_size = task->name_size;
  if (d->part) {
    task->ended = true;
    task->name = NULL;
    task->name_size = 0;
    return GOTRACE_OK;
  }
  return gotrace__dec_remove_task(d, task);
}

GOTRACE__FN gotrace_result gotrace__v2_stw(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  gotrace__dec_go *g = gotrace__v2_own_go(d, c, false);
  uint32_t i;
  uint64_t reason;
  if (!g) GOTRACE__WRONG(STATE, "goroutine %lld does not exist", GOTRACE__LL(c->g));
  if (ev->kind == GOTRACE_V2_STW_BEGIN) {
    reason = ev->args[0];
    for (i = 0; i < g->of.v2.stw_count; i++)
      if (g->of.v2.stw[i] == reason) GOTRACE__WRONG(RANGE, "the world is already stopped");
    if (g->of.v2.stw_count == 1024) GOTRACE__WRONG(RANGE, "too many stopped worlds at once");
    if (!gotrace__dec_room(d, &g->of.v2.stw, g->of.v2.stw_count, &g->of.v2.stw_capacity, 1, sizeof reason))
      return d->failure.result;
    g->of.v2.stw[g->of.v2.stw_count++] = reason;
  } else {
    if (!g->of.v2.stw_count && d->skipped) return GOTRACE_OK; /* it may have begun in a skipped generation */
    if (!g->of.v2.stw_count) GOTRACE__WRONG(RANGE, "goroutine %lld did not stop the world", GOTRACE__LL(c->g));
    reason = g->of.v2.stw[0];
    g->of.v2.stw[0] = g->of.v2.stw[--g->of.v2.stw_count];
  }
  gotrace__dec_string(d, reason, &ev->data, &ev->data_size);
  return GOTRACE_OK;
}

/* The sequence numbers of collections order their begins and ends across threads. */
GOTRACE__FN gotrace_result gotrace__v2_gc(gotrace_decoder *d, const gotrace__cursor *c, const gotrace_event *ev) {
  bool begin = ev->kind == GOTRACE_V2_GC_BEGIN, first = d->generation == d->first_generation;
  bool unchecked = d->gc == 0 && (begin || (ev->kind == GOTRACE_V2_GC_ACTIVE && gotrace__v2_lacks_past(d)));
  gotrace_result result;
  if (d->part && !d->gc) {
    d->gc = d->begin_gc = begin ? 1 : 2;
    d->gc_sequence = d->begin_gc_sequence = ev->args[0] - 1;
    unchecked = false;
  }
  if (ev->kind == GOTRACE_V2_GC_ACTIVE && first && d->gc) GOTRACE__WRONG(RANGE, "not the first event of a collection");
  if (!unchecked) {
    if (ev->args[0] != d->gc_sequence + 1) return GOTRACE__LATER;
    if (begin ? d->gc == 2 : d->gc != 2)
      GOTRACE__WRONG(RANGE, begin ? "a collection is already active" : "no collection is active");
    if ((result = gotrace__v2_check_context(d, c, ev, GOTRACE__R_NEEDS_PG)) != GOTRACE_OK) return result;
  }
  d->gc_sequence = ev->args[0];
  d->gc = ev->kind == GOTRACE_V2_GC_END ? 1 : 2;
  return GOTRACE_OK;
}

/* A sweep of a proc, or a mark assist of a goroutine: continues in a new generation (its _ACTIVE event), begins (the
 * next number) or ends. */
GOTRACE__FN gotrace_result gotrace__v2_range(gotrace_decoder *d, gotrace__cursor *c, const gotrace_event *ev) {
  bool sweep = ev->kind <= GOTRACE_V2_GC_SWEEP_END;
  unsigned active = sweep ? GOTRACE_V2_GC_SWEEP_ACTIVE : GOTRACE_V2_GC_MARK_ASSIST_ACTIVE;
  bool named = ev->kind == active, begins = ev->kind == active + 1;
  uint64_t id = named ? ev->args[0] : (uint64_t)(sweep ? c->p : c->g);
  gotrace__dec_proc *p = sweep ? gotrace__dec_find_proc(d, id) : NULL;
  gotrace__dec_go *g = sweep ? NULL : gotrace__dec_find_go(d, id);
  bool *flag = p ? &p->sweep : g ? &g->assist : NULL;          /* NULL: unknown proc or goroutine */
  uint8_t *before = p ? &p->begin_sweep : g ? &g->last : NULL; /* in a part: as assumed at its beginning */
  const char *thing = sweep ? "proc" : "goroutine";
  if (!flag)
    GOTRACE__WRONG(STATE, named || sweep ? "%s %lld is unknown" : "%s %lld does not exist", thing, GOTRACE__LL(id));
  if (d->part && *before == GOTRACE__PART_UNKNOWN) *before = *flag = !begins;
  if (!named) return gotrace__dec_toggle(d, ev, flag, begins, "has already begun", "has not begun");
  if (*flag ? d->generation == d->first_generation : !gotrace__v2_lacks_past(d))
    GOTRACE__WRONG(RANGE, *flag ? "%s %lld: has begun already" : "%s %lld: has not begun", thing, GOTRACE__LL(id));
  *flag = true;
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v2_region(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  gotrace__dec_go *g;
  if (!gotrace__dec_has(d, &d->string_map, ev->args[1]))
    GOTRACE__WRONG(STRING, "string %llu is unknown", GOTRACE__LLU(ev->args[1]));
  if (!(g = gotrace__v2_own_go(d, c, false))) GOTRACE__WRONG(STATE, "goroutine %lld does not exist", GOTRACE__LL(c->g));
  return gotrace__dec_region(d, g, ev, ev->args[1], ev->kind == GOTRACE_V2_USER_REGION_BEGIN);
}

/* Checks and changes what the event's rule does not cover. */
GOTRACE__FN gotrace_result gotrace__v2_order_rare(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ev) {
  switch (ev->kind) {
  case GOTRACE_V2_GO_CREATE:
  case GOTRACE_V2_GO_CREATE_BLOCKED:
  case GOTRACE_V2_GO_CREATE_SYSCALL: return gotrace__v2_go_create(d, c, ev, d->kinds[ev->kind].rule->to);
  case GOTRACE_V2_GO_DESTROY: return gotrace__dec_remove_go(d, &d->gos[c->g_index - 1]);
  case GOTRACE_V2_GO_DESTROY_SYSCALL: return gotrace__v2_destroy_syscall(d, c, ev);
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY: return gotrace__v2_go_switch(d, c, ev);
  case GOTRACE_V2_GO_STATUS:
  case GOTRACE_V2_GO_STATUS_STACK: return gotrace__v2_go_status(d, c, ev);
  case GOTRACE_V2_PROC_STATUS: return gotrace__v2_proc_status(d, c, ev);
  case GOTRACE_V2_PROC_START: return gotrace__v2_proc_start(d, c, ev);
  case GOTRACE_V2_PROC_STOP: return gotrace__v2_proc_stop(d, c, ev);
  case GOTRACE_V2_PROC_STEAL: return gotrace__v2_proc_steal(d, c, ev);
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END: return gotrace__v2_region(d, c, ev);
  case GOTRACE_V2_USER_TASK_BEGIN: return gotrace__v2_task_begin(d, ev);
  case GOTRACE_V2_USER_TASK_END: return gotrace__v2_task_end(d, ev);
  case GOTRACE_V2_STW_BEGIN:
  case GOTRACE_V2_STW_END: return gotrace__v2_stw(d, c, ev);
  case GOTRACE_V2_GC_ACTIVE:
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END: return gotrace__v2_gc(d, c, ev);
  case GOTRACE_V2_GC_SWEEP_ACTIVE:
  case GOTRACE_V2_GC_SWEEP_BEGIN:
  case GOTRACE_V2_GC_SWEEP_END:
  case GOTRACE_V2_GC_MARK_ASSIST_ACTIVE:
  case GOTRACE_V2_GC_MARK_ASSIST_BEGIN:
  case GOTRACE_V2_GC_MARK_ASSIST_END: return gotrace__v2_range(d, c, ev);
  case GOTRACE_V2_CLOCK_SNAPSHOT: GOTRACE__WRONG(EVENT, "unexpected event in a thread's batch");
  default: return GOTRACE_OK;
  }
}

/* Applies a thread's next event if a fast rule allows it. False: nothing has changed; use gotrace__v2_order. */
GOTRACE__ALWAYS_INLINE bool gotrace__v2_order_fast(gotrace_decoder *d, gotrace__cursor *c) {
  if (c->p == GOTRACE_NO_ID || !GOTRACE__LIKELY(c->next->known)) return false;
  switch (c->next->event.kind) {
#define GOTRACE__CASE(NAME, needs, whose, from, to, then)                                                        \
  case GOTRACE_V2_##NAME:                                                                                        \
    if (gotrace__v2_apply(d, c, GOTRACE__V2_DOES(needs, whose, then), GOTRACE__G_##from, GOTRACE__G_##to, true)) \
      return false;                                                                                              \
    break;
    GOTRACE__V2_FAST_RULES(GOTRACE__CASE)
#undef GOTRACE__CASE
  default: return false;
  }
  return true;
}

/* Applies a thread's next event if it is ready. Returns OK, GOTRACE__LATER or an error. Go: ordering.Advance. */
GOTRACE__FN gotrace_result gotrace__v2_order(gotrace_decoder *d, gotrace__cursor *c, gotrace_event *ordered) {
  gotrace_event *ev = &c->next->event;
  const gotrace__transition *r = d->kinds[ev->kind].rule;
  gotrace_result result;
  c->seen = c->id != GOTRACE__NOBODY;
  ev->p = c->p;
  ev->g = c->g;
  if (ev->kind == GOTRACE_V2_GO_SYSCALL_END_BLOCKED && ev->p != GOTRACE_NO_ID) {
    const gotrace__dec_proc *own = gotrace__v2_own_proc(d, c, false);
    if (!own) GOTRACE__WRONG(STATE, "proc %lld is unknown", GOTRACE__LL(ev->p));
    if (own->status == GOTRACE__P_SYSCALL) return GOTRACE__LATER; /* the thread will lose it */
  }
  result = gotrace__v2_apply(d, c, r->does, r->from, r->to, false);
  if (result) return result;
  *ordered = *ev;
  return gotrace__v2_order_rare(d, c, ordered);
}

/* Checks that the tables have the strings and stacks to which an event refers. Go: validateTableIDs. */
GOTRACE__FN gotrace_result gotrace__v2_check_ids(gotrace_decoder *d, const gotrace_event *ev) {
  const gotrace__kind *k = &d->kinds[ev->kind];
  const uint64_t stacks[2] = {gotrace__dec_number(ev, k->stack), gotrace__dec_number(ev, k->stack2)};
  const uint64_t strings[2] = {gotrace__dec_number(ev, k->string), gotrace__dec_number(ev, k->string2)};
  unsigned i;
  for (i = 0; i < 2; i++) {
    if (!gotrace__dec_has(d, &d->stack_map, stacks[i]))
      GOTRACE__FAIL(STACK, ev->offset, k->spec->name, "stack %llu is unknown", GOTRACE__LLU(stacks[i]));
    if (!gotrace__dec_has(d, &d->string_map, strings[i]))
      GOTRACE__FAIL(STRING, ev->offset, k->spec->name, "string %llu is unknown", GOTRACE__LLU(strings[i]));
  }
  return GOTRACE_OK;
}

/* Makes the Sync event that begins a generation or ends the trace. */
GOTRACE__FN void gotrace__v2_sync_event(gotrace_decoder *d, gotrace_event *ev, int64_t time, bool snapshot) {
  gotrace__dec_blank(ev, &d->kinds[GOTRACE_V2_SYNC], d->final_sync ? d->offset : d->generation_offset);
  ev->time = time;
  ev->extra = (int64_t)++d->syncs;
  if (!snapshot) return;
  memcpy(ev->args, d->snapshot, sizeof d->snapshot);
  ev->args[0] = (uint64_t)gotrace__dec_nanoseconds(d, d->snapshot[0]);
  ev->arg_count = 4;
}

/* Indexes and checks the tables of a generation. */
GOTRACE__FN gotrace_result gotrace__v2_prepare_tables(gotrace_decoder *d) {
  gotrace_result result = gotrace__dec_check_twice(d);
  size_t i;
  if (result) return result;
  for (i = 0; i < d->pc_count; i++)
    if (!gotrace__dec_has(d, &d->string_map, d->pcs[i].function) ||
        !gotrace__dec_has(d, &d->string_map, d->pcs[i].file))
      GOTRACE__FAIL(STRING, d->offset, "Stack", "the frame of pc %llx refers to an unknown string",
                    GOTRACE__LLU(d->pcs[i].id));
  for (i = 0; i < d->sample_count; i++) d->samples[i].time = gotrace__dec_nanoseconds(d, d->samples[i].tick);
  return gotrace__dec_sort_samples(d, d->samples, d->sample_count) ? GOTRACE_OK : d->failure.result;
}

/* Whether the thread's first events, those read ahead, establish which goroutine it runs before one of them needs it.
 * The end of a system call counts too: another thread may write the status of a goroutine in a system call. */
GOTRACE__FN bool gotrace__v2_tells_go(const gotrace_decoder *d, const gotrace__cursor *c) {
  const gotrace__ahead *a = c->next, *end = a + c->left;
  for (; a < end; a++) {
    const uint64_t *args = a->event.args;
    uint8_t kind = a->event.kind;
    const gotrace__transition *rule = d->kinds[kind].rule;
    if ((kind == GOTRACE_V2_GO_STATUS || kind == GOTRACE_V2_GO_STATUS_STACK) && args[1] == c->id &&
        ((args[2] & 0xff) == GOTRACE__G_RUNNING || (args[2] & 0xff) == GOTRACE__G_SYSCALL))
      return true;
    if (kind == GOTRACE_V2_GO_CREATE_SYSCALL || (rule->does & GOTRACE__R_STARTS) || rule->from == GOTRACE__G_SYSCALL)
      return true;
    if (rule->does & GOTRACE__R_NEEDS_G) return false;
  }
  return true;
}

/* Reads the first events of the generation's threads. Sets `told` to whether gotrace__v2_tells_go of all of them. */
GOTRACE__FN gotrace_result gotrace__v2_begin_threads(gotrace_decoder *d, bool *told) {
  gotrace_result result;
  size_t i, n = 0;
  unsigned room = gotrace__dec_share_ahead(d->heap_count);
  *told = true;
  for (i = 0; i < d->heap_count; i++) {
    gotrace__cursor *c = &d->cursors[d->heap[i].cursor];
    d->room = GOTRACE__AHEAD; /* what the first events tell must not depend on the number of threads */
    result = gotrace__v2_read_ahead(d, c);
    if (result == GOTRACE_END_OF_TRACE) continue;
    if (result) return result;
    if (d->part && c->id != GOTRACE__NOBODY) gotrace__part_begin_thread(c);
    *told = *told && gotrace__v2_tells_go(d, c);
    d->room = room;
    if (c->room > room) { /* reads fewer of them, again */
      gotrace__dec_drop_ahead(d, c);
      c->at = c->end = NULL;
      c->batch = c->first;
      if ((result = gotrace__v2_read_ahead(d, c)) != GOTRACE_OK) return result;
    }
    d->heap[n].cursor = d->heap[i].cursor;
    d->heap[n].time = c->next->event.time;
    gotrace__heap_up(d->heap, n++);
  }
  d->room = room;
  if (d->heap) gotrace__heap_end(d, n);
  return GOTRACE_OK;
}

/* Moves one generation back, and returns true, if the first generation decoded for a range does not establish which
 * goroutine one of its threads runs (`told`).
 *
 * Go writes the status of a running goroutine before the first event of its thread, unless the thread has already
 * dropped the goroutine. That happens when a goroutine is preempted to have its stack scanned: preemptPark calls dropg
 * before it emits GoPark. Go 1.22 omits the status in more cases. */
GOTRACE__FN bool gotrace__v2_retreat(gotrace_decoder *d, bool told) {
  if (d->in_generation || !d->skipped || told) return false;
  gotrace__v2_seek(d, d->spans[--d->syncs].offset);
  d->skipped = d->syncs > 0;
  memset(&d->pending, 0, sizeof d->pending); /* an error after the generation will be found again */
  return true;
}

/* Reads the next generation and returns its Sync event. Go: Reader.ReadEvent, nextGenWithSpill, installGen. */
GOTRACE__FN gotrace_result gotrace__v2_begin_generation(gotrace_decoder *d, gotrace_event *ev) {
  gotrace_result result = GOTRACE_OK;
  bool told;
  if (d->final_sync) {
    if (d->pending.result) d->failure = d->pending;
    return d->pending.result ? d->pending.result : GOTRACE_END_OF_TRACE;
  }
  if (d->part && d->in_generation) return GOTRACE_END_OF_TRACE; /* keeps its tables */
  if (!d->in_generation && d->options.from && (d->options.data || d->options.seekable) &&
      (result = gotrace__v2_find_range(d)) != GOTRACE_OK)
    return result;
  if (d->pending.result) result = GOTRACE_END_OF_TRACE;
  do {
    gotrace__dec_free_generation(d);
    if (!result) result = gotrace__v2_read_generation(d);
    if (!result) result = gotrace__v2_prepare_tables(d);
    if (result) {
      if (result != GOTRACE_END_OF_TRACE) gotrace__dec_postpone(d);
      gotrace__dec_free_generation(d);
      d->final_sync = true;
      gotrace__v2_sync_event(d, ev, d->last_time, false);
      return GOTRACE_OK;
    }
    if ((result = gotrace__v2_begin_threads(d, &told)) != GOTRACE_OK) return result;
  } while (gotrace__v2_retreat(d, told));
  if (!d->in_generation && !d->skipped) gotrace__v2_set_first_time(d, gotrace__dec_nanoseconds(d, d->min_tick));
  d->in_generation = true;
  d->info.generation = d->generation;
  if (!d->first_generation && d->heap_count) d->first_generation = d->generation;
  gotrace__v2_sync_event(d, ev, gotrace__dec_nanoseconds(d, d->min_tick), d->has_snapshot);
  return GOTRACE_OK;
}

/* Moves the thread at `i` of the heap to its next event. */
GOTRACE__FN gotrace_result gotrace__v2_advance_front(gotrace_decoder *d, size_t i) {
  gotrace__cursor *c = &d->cursors[d->heap[i].cursor];
  gotrace_result result = GOTRACE_OK;
  if (GOTRACE__LIKELY(c->left > 1)) c->left--, c->next++;
  else result = gotrace__v2_read_ahead(d, c);
  if (GOTRACE__LIKELY(result == GOTRACE_OK)) {
    d->heap[i].time = c->next->event.time;
    if (!i || gotrace__heap_up(d->heap, i) == i)
      gotrace__heap_down(d->heap, d->heap_count, i, c->next->event.time, false);
  } else if (result == GOTRACE_END_OF_TRACE) {
    gotrace__heap_remove(d, i);
  } else { /* the event before the error is returned first, no Sync after it; later errors come no more */
    memset(&d->pending, 0, sizeof d->pending);
    gotrace__dec_postpone(d);
    d->heap_count = d->sample_count = d->sample_given = 0;
    d->final_sync = true;
  }
  return GOTRACE_OK;
}

/* Applies the next event of the thread at `i` of the heap, if it is ready. */
GOTRACE__FN gotrace_result gotrace__v2_try(gotrace_decoder *d, size_t i, gotrace_event *ev) {
  uint32_t index = d->heap[i].cursor;
  gotrace_result result = gotrace__v2_order(d, &d->cursors[index], ev);
  gotrace__cursor *c = &d->cursors[index];
  if (result) return result;
  if (!c->next->known && (result = gotrace__v2_check_ids(d, &c->next->event)) != GOTRACE_OK) return result;
  if (!GOTRACE__LIKELY(c->seen)) c->g = c->p = GOTRACE_NO_ID; /* without a thread there is no state */
  return gotrace__v2_advance_front(d, i);
}

GOTRACE__FN gotrace_result gotrace__v2_fail_stuck(gotrace_decoder *d) {
  const gotrace__cursor *c = &d->cursors[d->heap[0].cursor];
  const gotrace_event *ev = &c->next->event;
  GOTRACE__WRONG(ORDER, "%s of %llu threads is ready: thread %lld waits with %s(%lld, %lld) in generation %llu",
                 d->attempts > GOTRACE__MOST_ATTEMPTS(d) ? "too many attempts to find which" : "none",
                 GOTRACE__LLU(d->heap_count), GOTRACE__LL(c->id), ev->spec->name, GOTRACE__LL(ev->args[0]),
                 GOTRACE__LL(ev->args[1]), GOTRACE__LLU(d->generation));
}

/* The earliest event is not ready: tries those of the other threads in time order. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v2_try_others(gotrace_decoder *d, gotrace_event *ev) {
  gotrace_result result = GOTRACE__LATER;
  size_t i;
  if (!gotrace__heap_sort(d)) return d->failure.result;
  d->attempts += d->heap_count;
  for (i = 1; i < d->heap_count && result == GOTRACE__LATER; i++, d->attempts++) result = gotrace__v2_try(d, i, ev);
  return result == GOTRACE__LATER || d->attempts > GOTRACE__MOST_ATTEMPTS(d) ? gotrace__v2_fail_stuck(d) : result;
}

GOTRACE__FN void gotrace__v2_sample_event(gotrace_decoder *d, gotrace_event *ev) {
  const gotrace__dec_sample *s = &d->samples[d->sample_given++];
  gotrace__dec_blank(ev, &d->kinds[GOTRACE_V2_CPU_SAMPLE], s->offset);
  ev->time = s->time;
  ev->m = (int64_t)s->m, ev->p = (int64_t)s->p, ev->g = s->g ? (int64_t)s->g : GOTRACE_NO_ID;
  ev->args[0] = s->tick, ev->args[1] = s->m, ev->args[2] = s->p, ev->args[3] = s->g, ev->args[4] = ev->stack = s->stack;
}

/* The next event of an ordered v2 trace. */
GOTRACE__FN gotrace_result gotrace__v2_next(gotrace_decoder *d, gotrace_event *ev) {
  gotrace_result result = GOTRACE_OK;
  if (d->queue_given < d->queue_count) {
    *ev = d->queue[d->queue_given++];
  } else if (d->experiment_given < d->experiment_count) {
    *ev = d->experiments[d->experiment_given++];
    ev->time = d->last_time;
    d->untimed++;
    return GOTRACE_OK;
  } else if (d->heap_count == 0 && d->sample_given == d->sample_count) {
    result = gotrace__v2_begin_generation(d, ev);
  } else if (d->sample_given < d->sample_count &&
             (!d->heap_count || d->samples[d->sample_given].time < d->heap[0].time)) {
    gotrace__v2_sample_event(d, ev);
  } else if ((result = gotrace__v2_try(d, 0, ev)) == GOTRACE__LATER) {
    result = gotrace__v2_try_others(d, ev);
  }
  if (result) return result;
  if (d->queue_given == d->queue_count) d->queue_given = d->queue_count = 0;
  d->fast = d->heap_count && !d->queue_count && d->experiment_given == d->experiment_count &&
            d->sample_given == d->sample_count;
  if (ev->time <= d->last_time) ev->time = gotrace__dec_later(d->last_time, 1);
  d->last_time = ev->time;
  return ev->time > d->until ? GOTRACE_END_OF_TRACE : GOTRACE_OK;
}

/* ----------------------------------------------------------------------------------------------- >>decode-v1 ----
 *
 * v1: reads events, and walks over the whole file to find each proc's batches and the tables.
 *
 * A v1 trace is walked over twice. The first walk checks its framing, collects the tables and finds the batches. The
 * second, driven by gotrace_decoder_next, merges the procs' events and checks what goroutines and procs do. Ends of
 * system calls were written late: the first walk collects them, and the second inserts them at their true time. If the
 * trace has futile wake-ups, there is another walk between the two.
 */

/* The bytes of an event, while it is read. */
typedef struct gotrace__v1_numbers {
  const uint8_t *at, *end;
  const uint8_t *stop; /* where the arguments must end; NULL: their number must be `count` */
  unsigned count;
} gotrace__v1_numbers;

#define GOTRACE__V1_MOST_FRAMES 1000
#define GOTRACE__V1_MOST_STRING 1000000
#define GOTRACE__V1_MOST_ARGUMENTS 2048 /* bytes; only stacks may have more, which Go 1.27 rejects */

GOTRACE__FN gotrace_result gotrace__v1_bad_number(gotrace_decoder *d, const gotrace__v1_numbers *n,
                                                  const gotrace_event *ev) {
  return gotrace__dec_bad_number(d, n->at, n->end, ev->offset, ev->spec->name);
}

/* Reads the data of a string or log: their size, then their bytes. */
GOTRACE__FN gotrace_result gotrace__v1_read_data(gotrace_decoder *d, gotrace__v1_numbers *n, gotrace_event *ev) {
  bool string = ev->kind == GOTRACE_V1_STRING;
  uint64_t size;
  if (!gotrace__get_numbers(&n->at, n->end, &size, 1)) return gotrace__v1_bad_number(d, n, ev);
  if (string && (!ev->args[0] || !size || size > GOTRACE__V1_MOST_STRING))
    GOTRACE__WRONG(STRING, "string %llu of %llu bytes", GOTRACE__LLU(ev->args[0]), GOTRACE__LLU(size));
  if (size > GOTRACE__V1_MOST_STRING) GOTRACE__WRONG(STRING, "message of %llu bytes", GOTRACE__LLU(size));
  if (size > (uint64_t)(n->end - n->at))
    GOTRACE__WRONG(TRUNCATED, "ends in the middle of a %s", string ? "string" : "message");
  ev->data = (const char *)n->at;
  ev->data_size = (size_t)size;
  n->at += size;
  return GOTRACE_OK;
}

GOTRACE__FN gotrace_result gotrace__v1_read_stack(gotrace_decoder *d, gotrace__v1_numbers *n, gotrace_event *ev) {
  const uint8_t *end = n->stop ? n->stop : n->end;
  unsigned wanted, i;
  uint64_t number;
  if (!gotrace__get_numbers(&n->at, end, ev->args, 2)) return gotrace__v1_bad_number(d, n, ev);
  if (ev->args[1] > GOTRACE__V1_MOST_FRAMES) GOTRACE__WRONG(STACK, "stack of %llu frames", GOTRACE__LLU(ev->args[1]));
  wanted = (d->version < 1007 ? 1u : 4u) * (unsigned)ev->args[1];
  ev->data = (const char *)n->at;
  for (i = 0; i < wanted; i++)
    if (!gotrace__get_numbers(&n->at, end, &number, 1))
      GOTRACE__WRONG(ARGUMENTS, "too few arguments for %u frames", (unsigned)ev->args[1]);
  ev->data_size = (size_t)(n->at - (const uint8_t *)ev->data);
  if (n->stop ? n->at != n->stop : n->count != 2 + wanted)
    GOTRACE__WRONG(ARGUMENTS, "wrong number of arguments for %u frames", (unsigned)ev->args[1]);
  return GOTRACE_OK;
}

GOTRACE__FN inline gotrace_result gotrace__v1_read_arguments(gotrace_decoder *d, gotrace__v1_numbers *n,
                                                             gotrace_event *ev) {
  const gotrace__kind *k = &d->kinds[ev->kind];
  bool old = d->version < 1007;
  unsigned wanted = k->args + (unsigned)k->timed + (unsigned)(k->timed && old), first = wanted - k->args;
  uint64_t numbers[8];
  if (!n->stop && n->count != wanted) GOTRACE__WRONG(ARGUMENTS, "%u arguments instead of %u", n->count, wanted);
  if (!gotrace__get_numbers(&n->at, n->stop ? n->stop : n->end, numbers, wanted)) {
    if (!n->stop) return gotrace__v1_bad_number(d, n, ev);
    GOTRACE__WRONG(ARGUMENTS, "fewer than %u arguments", wanted);
  }
  if (n->stop && n->at != n->stop) GOTRACE__WRONG(ARGUMENTS, "more than %u arguments", wanted);
  if (first == 2) ev->extra = (int64_t)numbers[0];
  if (first) ev->time = (int64_t)numbers[first - 1];
  memcpy(ev->args, numbers + first, k->args * sizeof numbers[0]);
  return GOTRACE_OK;
}

/* Reads the event at *at, which is at `offset` in the file, and moves *at past it. Its `time` is then the difference to
 * the event before, and `extra` likewise its number in format 1.5; m, p, g and stack are not set. Go: readTrace,
 * argNum.
 */
GOTRACE__FN inline gotrace_result gotrace__v1_read(gotrace_decoder *d, const uint8_t **at, const uint8_t *end,
                                                   uint64_t offset, gotrace_event *ev) {
  const gotrace__kind *k = &d->kinds[**at & 63];
  gotrace__v1_numbers n;
  uint64_t size;
  gotrace_result result = GOTRACE_OK;
  n.count = (*(*at) >> GOTRACE_ARG_COUNT_SHIFT) + 1u + (d->version < 1007);
  n.at = *at + 1, n.end = end, n.stop = NULL;
  if (!k->spec || k->head[0] == GOTRACE_V1_NONE)
    GOTRACE__FAIL(EVENT, offset, NULL, "event %u does not exist in format go 1.%d", **at & 63, d->version - 1000);
  gotrace__dec_set_kind(ev, k);
  gotrace__dec_clear(ev);
  ev->offset = offset;
  ev->time = 0;
  if (ev->kind == GOTRACE_V1_STRING) {
    if (!gotrace__get_numbers(&n.at, end, ev->args, 1)) return gotrace__v1_bad_number(d, &n, ev);
  } else {
    if (n.count >= 4u + (d->version < 1007)) { /* their length comes first */
      if (!gotrace__get_numbers(&n.at, end, &size, 1)) return gotrace__v1_bad_number(d, &n, ev);
      if (size > (uint64_t)(end - n.at)) GOTRACE__WRONG(TRUNCATED, "truncated in an event");
      if (size > GOTRACE__V1_MOST_ARGUMENTS && d->version >= GOTRACE_GO_1_11 && !d->options.raw)
        GOTRACE__WRONG(ARGUMENTS, "%llu bytes of arguments", GOTRACE__LLU(size));
      n.stop = n.at + size;
    }
    result = ev->kind == GOTRACE_V1_STACK ? gotrace__v1_read_stack(d, &n, ev) : gotrace__v1_read_arguments(d, &n, ev);
  }
  if (!result && k->data) result = gotrace__v1_read_data(d, &n, ev);
  if (!result) *at = n.at;
  return result;
}

/* The fast path of gotrace__v1_read, for formats after 1.5: reads the event at `at` if it is timed and has only short
 * numbers and no data. At least GOTRACE__EVENT_BYTES must be readable, and `args` must be zero. Returns the address
 * after the event; NULL: use gotrace__v1_read. */
GOTRACE__ALWAYS_INLINE const uint8_t *gotrace__v1_take(const uint8_t *at, const gotrace__kind *k, uint64_t *dt,
                                                       uint64_t *args) {
  unsigned count = *at++ >> GOTRACE_ARG_COUNT_SHIFT; /* of `args`; 3: their length comes first */
  const uint8_t *stop = NULL;
  if (!k->plain) return NULL;
  if (count == 3) {
    if (*at >= 0x80) return NULL;
    stop = at + 1 + *at;
    at++;
  } else if (count != k->args) {
    return NULL;
  }
  return gotrace__take_event(&at, dt, args, k->args) && (!stop || at == stop) ? at : NULL;
}

/* The proc of an id, created if necessary; NULL: out of memory. */
GOTRACE__FN gotrace__dec_proc *gotrace__v1_get_proc(gotrace_decoder *d, int64_t id) {
  gotrace__dec_proc *p = gotrace__dec_find_proc(d, (uint64_t)id);
  return p ? p : gotrace__dec_enter_proc(d, (uint64_t)id);
}

/* The goroutine of an id, created if necessary; NULL: out of memory. */
GOTRACE__FN gotrace__dec_go *gotrace__v1_get_go(gotrace_decoder *d, uint64_t id) {
  gotrace__dec_go *g = gotrace__dec_find_go(d, id);
  return g ? g : gotrace__dec_add_go(d, id, GOTRACE__G_DEAD);
}

/* The goroutine on which an event happened: the one that its proc ran, or `told` (args[0]) if the event names it.
 * Updates what the proc runs. Go: parseEvents. */
GOTRACE__FN inline uint64_t gotrace__v1_track(gotrace__cursor *c, const gotrace__kind *k, uint64_t told) {
  uint64_t g = k->rule->does & GOTRACE__R_TELLS ? told : (uint64_t)c->g;
  if (k->rule->does & GOTRACE__R_STARTS) c->g = (int64_t)g;
  if (k->rule->does & GOTRACE__R_LEAVES) c->g = 0;
  return k->rule->does & GOTRACE__R_NOBODYS ? 0 : g;
}

/* Whether an event is the end of a system call that gives another, true time, at which it must be inserted. */
GOTRACE__FN inline bool gotrace__v1_is_moved(uint8_t kind, uint64_t told, int64_t time) {
  return kind == GOTRACE_V1_GO_SYS_EXIT && told && (int64_t)told != time;
}

/* Skips the events at `at` that do not matter to the first walk. */
GOTRACE__FN const uint8_t *gotrace__v1_skip(const gotrace_decoder *d, const uint8_t *at, uint64_t *time,
                                            uint64_t *events) {
  while (d->end - at >= GOTRACE__EVENT_BYTES) {
    const gotrace__kind *k = &d->kinds[*at & 63];
    const uint8_t *next;
    uint64_t dt, args[5];
    if (!k->ordinary || !(next = gotrace__v1_take(at, k, &dt, args))) break;
    at = next;
    *time += dt;
    ++*events;
  }
  return at;
}

/* The state of the first walk. */
typedef struct gotrace__v1_walk {
  gotrace__cursor *c; /* of the batch; NULL: none has begun */
  uint64_t sequence, time, events;
} gotrace__v1_walk;

/* Ends the batch of `c` before `end`. */
GOTRACE__FN void gotrace__v1_end_batch(gotrace_decoder *d, const gotrace__cursor *c, const uint8_t *end) {
  gotrace__batch *b = c ? &d->batches[c->last - 1] : NULL;
  if (b) b->size = (uint64_t)(end - b->data);
}

/* Begins a batch of a proc, whose events are at `at`. */
GOTRACE__FN gotrace_result gotrace__v1_begin_batch(gotrace_decoder *d, gotrace__v1_walk *w, uint64_t proc,
                                                   const uint8_t *at) {
  const gotrace__dec_proc *p = gotrace__v1_get_proc(d, (int64_t)proc);
  gotrace__batch *b = p ? gotrace__dec_push_batch(d) : NULL;
  if (!b || !(w->c = gotrace__dec_get_cursor(d, proc))) return d->failure.result;
  w->c->p_index = (uint32_t)(p - d->procs) + 1;
  b->data = at, b->offset = d->file_offset + (uint64_t)(at - d->file), b->time = w->time;
  *(w->c->last ? &d->batches[w->c->last - 1].next : &w->c->first) = (uint32_t)d->batch_count;
  w->c->last = (uint32_t)d->batch_count;
  return GOTRACE_OK;
}

/* Notes an event that the second walk must insert, because it is sorted by a time of its own. */
GOTRACE__FN gotrace_result gotrace__v1_note_event(gotrace_decoder *d, gotrace__v1_walk *w, const gotrace_event *e) {
  bool old = d->version < 1007, sample = old || e->kind == GOTRACE_V1_CPU_SAMPLE;
  gotrace__dec_sample *s;
  w->events++;
  w->sequence += (uint64_t)e->extra;
  w->time += (uint64_t)e->time;
  if (e->kind == GOTRACE_V1_FUTILE_WAKEUP) d->any_futile = true;
  if (e->kind == GOTRACE_V1_GOMAXPROCS) d->any_procs = true;
  if (e->kind == GOTRACE_V1_STW_START && d->version < GOTRACE_GO_1_21 && e->args[0] > 1)
    GOTRACE__FAIL(ARGUMENTS, e->offset, e->spec->name, "stop-the-world of kind %llu", GOTRACE__LLU(e->args[0]));
  if (!sample && !gotrace__v1_is_moved(e->kind, e->args[2], (int64_t)w->time)) return GOTRACE_OK;
  if (!(s = sample ? gotrace__dec_push_sample(d) : gotrace__dec_push_moved(d))) return d->failure.result;
  s->offset = e->offset;
  if (old) { /* 1.5 numbers all events; the end of a system call gives its true number and time */
    bool exit = e->kind == GOTRACE_V1_GO_SYS_EXIT;
    s->time = (int64_t)(exit ? e->args[1] : w->sequence);
    s->tick = exit && e->args[2] ? e->args[2] : w->time;
    s->p = w->c->id;
    s->g = gotrace__v1_track(w->c, &d->kinds[e->kind], e->args[0]);
  } else if (sample) {
    s->time = (int64_t)e->args[0], s->p = e->args[1], s->g = e->args[2];
  } else {
    s->time = (int64_t)e->args[2], s->g = e->args[0], s->tick = w->time;
  }
  return GOTRACE_OK;
}

/* What the reader of Go 1.27, which knows formats from 1.11 on, rejects. It numbers strings of its own after those of
 * the trace, and panics if there are no such numbers. */
GOTRACE__FN gotrace_result gotrace__v1_check_newer(gotrace_decoder *d, const gotrace__v1_walk *w,
                                                   const gotrace_event *e) {
  if (d->version < GOTRACE_GO_1_11) return GOTRACE_OK;
  if (e->kind == GOTRACE_V1_STRING && e->args[0] > UINT64_MAX - ((uint64_t)1 << 32))
    GOTRACE__FAIL(STRING, e->offset, "String", "string %llu: no numbers are left after it", GOTRACE__LLU(e->args[0]));
  if (e->kind == GOTRACE_V1_BATCH && e->args[0] > INT32_MAX && e->args[0] != UINT64_MAX)
    GOTRACE__FAIL(BATCH, e->offset, "Batch", "batch of proc %llu", GOTRACE__LLU(e->args[0]));
  if (!w->c && e->kind != GOTRACE_V1_STRING && e->kind != GOTRACE_V1_BATCH)
    GOTRACE__FAIL(BATCH, e->offset, e->spec->name, "event before the first batch");
  return GOTRACE_OK;
}

/* Notes an event of the first walk, which began at `before`. */
GOTRACE__FN gotrace_result gotrace__v1_note(gotrace_decoder *d, gotrace__v1_walk *w, const gotrace_event *e,
                                            const uint8_t *before) {
  gotrace_result result = gotrace__v1_check_newer(d, w, e);
  gotrace__dec_go *g;
  if (result) return result;
  switch (e->kind) {
  case GOTRACE_V1_BATCH:
    gotrace__v1_end_batch(d, w->c, before);
    w->sequence = d->version < 1007 ? e->args[1] : 0;
    w->time = e->args[d->version < 1007 ? 2 : 1];
    return gotrace__v1_begin_batch(d, w, e->args[0], d->at);
  case GOTRACE_V1_FREQUENCY:
    if (e->args[0] == 0 || e->args[0] > INT64_MAX)
      GOTRACE__FAIL(TIME, e->offset, "Frequency", "frequency of %lld", (long long)e->args[0]);
    d->has_frequency = true;
    d->mul = 1e9 / (double)(int64_t)e->args[0];
    return GOTRACE_OK;
  case GOTRACE_V1_TIMER_GOROUTINE:
    if (!(g = gotrace__v1_get_go(d, e->args[0]))) return d->failure.result;
    g->timer = true;
    return GOTRACE_OK;
  case GOTRACE_V1_STRING: return gotrace__dec_add_string(d, e->args[0], (const uint8_t *)e->data, e->data_size);
  case GOTRACE_V1_STACK:
    if (!e->args[0] || !e->args[1]) return GOTRACE_OK;
    return gotrace__dec_add_stack(d, e->args[0], (const uint8_t *)e->data, e->args[1]);
  default:
    /* Like Go 1.21, assigns events before any batch to proc 0. */
    if (!w->c && (result = gotrace__v1_begin_batch(d, w, 0, before)) != GOTRACE_OK) return result;
    return gotrace__v1_note_event(d, w, e);
  }
}

/* The first walk. Errors in the trace are postponed. Go: parseEvents. */
GOTRACE__FN gotrace_result gotrace__v1_scan(gotrace_decoder *d) {
  gotrace__v1_walk w;
  gotrace_event e;
  const uint8_t *before;
  size_t i;
  gotrace_result result = GOTRACE_OK;
  memset(&w, 0, sizeof w);
  if (!gotrace__dec_fill_all(d)) return d->failure.result;
  d->file = d->at;
  d->file_offset = d->offset;
  for (before = d->at; d->at < d->end; before = d->at) {
    if (w.c) before = d->at = gotrace__v1_skip(d, d->at, &w.time, &w.events);
    if (before == d->end) break;
    result = gotrace__v1_read(d, &d->at, d->end, d->file_offset + (uint64_t)(before - d->file), &e);
    if (!result) result = gotrace__v1_note(d, &w, &e, before);
    if (result == GOTRACE_ERROR_OUT_OF_MEMORY) return result;
    if (result) break;
  }
  gotrace__v1_end_batch(d, w.c, before);
  if (!w.events) gotrace__dec_fail(d, GOTRACE_ERROR_EMPTY, d->offset, NULL, "the trace is empty");
  if (!d->has_frequency) gotrace__dec_fail(d, GOTRACE_ERROR_FREQUENCY, d->offset, NULL, "missing frequency");
  if (gotrace__dec_check_twice(d)) gotrace__map_free(d, &d->stack_map);
  gotrace__dec_postpone(d);          /* the first of these failures */
  if (!d->has_frequency) d->mul = 1; /* a broken trace: times are ticks */
  d->info.nanoseconds_per_tick = d->mul;
  for (d->texts = (uint64_t)1 << 63, i = 0; i < d->string_count; i++) /* an undefined id does not become a text */
    if (d->strings[i].id >= d->texts && d->strings[i].id < UINT64_MAX) d->texts = d->strings[i].id + 1;
  d->beginning = d->any_procs; /* else none of its events tells where the beginning ends */
  return GOTRACE_OK;
}

/* ----------------------------------------------------------------------------------------- >>decode-v1-order ----
 *
 * v1: merges the procs' events by the sequence numbers of goroutines and by time, omits futile wake-ups, and checks
 * what goroutines and procs do. Go: order.go and parser.go of internal/trace, up to 1.21.
 */

/* Whether the goroutine, or the collection, of an event is ready for it. */
GOTRACE__FN inline bool gotrace__v1_ready(const gotrace_decoder *d, const gotrace__ahead *a) {
  const gotrace__dec_go *g = &d->gos[a->go - 1];
  if (!(a->rule->does & GOTRACE__R_ORDERED)) return !(a->rule->does & GOTRACE__R_GC) || d->gc_sequence == a->sequence;
  return g->order_status == a->rule->from && (!(a->rule->does & GOTRACE__R_COUNTED) || g->sequence == a->sequence);
}

/* Finds the goroutine of an event that was read ahead, and the one on which it happened. This is done while reading
 * ahead, because the searches of several events can overlap. False: no memory. */
GOTRACE__FN inline bool gotrace__v1_find_gos(gotrace_decoder *d, gotrace__cursor *c, gotrace__ahead *a) {
  const gotrace_event *ev = &a->event;
  const gotrace__dec_go *g;
  if (!GOTRACE__LIKELY(c->g_index && (int64_t)d->gos[c->g_index - 1].id == ev->g)) {
    if (!(g = gotrace__v1_get_go(d, (uint64_t)ev->g))) return false;
    c->g_index = (uint32_t)(g - d->gos) + 1;
  }
  a->own = a->go = c->g_index;
  if ((a->rule->does & GOTRACE__R_NAMED) && (int64_t)ev->args[0] != ev->g) {
    if (!(g = gotrace__v1_get_go(d, ev->args[0]))) return false;
    a->go = (uint32_t)(g - d->gos) + 1;
  }
  GOTRACE__PREFETCH(&d->gos[a->go - 1]);
  return true;
}

/* Completes an event that was read ahead: its goroutine, its rule, and the event that it becomes. False: no memory. */
GOTRACE__ALWAYS_INLINE bool gotrace__v1_complete_ahead(gotrace_decoder *d, gotrace__cursor *c, gotrace__ahead *a,
                                                       const gotrace__kind *k) {
  gotrace_event *ev = &a->event;
  ev->g = (int64_t)gotrace__v1_track(c, k, ev->args[0]);
  a->rule = k->rule;
  a->sequence = gotrace__dec_number(ev, k->rule->sequence) + k->rule->sequence_after;
  if (k->rule->becomes != k->rule->number) {
    k = &d->kinds[k->rule->becomes];
    ev->args[2] = ev->args[1]; /* the other event has a sequence number before it */
    ev->args[1] = 0;
  }
  gotrace__dec_set_kind(ev, k);
  ev->stack = gotrace__dec_number(ev, k->stack);
  return gotrace__v1_find_gos(d, c, a);
}

/* Reads events of a proc ahead. The first walk has checked them. False: no more, or no memory. */
GOTRACE__FN bool gotrace__v1_read_ahead(gotrace_decoder *d, gotrace__cursor *c) {
  gotrace__ahead *a, *last;
  uint64_t size = c->at != c->end ? (uint64_t)(c->end - c->at) : c->batch ? d->batches[c->batch - 1].size : 0;
  if (!gotrace__dec_make_ahead(d, c, size)) return false;
  for (c->next = a = c->ahead, last = a + c->room; a < last;) {
    gotrace_event *ev = &a->event;
    const gotrace__kind *k;
    const uint8_t *at, *next = NULL;
    uint64_t offset, dt;
    if (c->at == c->end && gotrace__dec_next_batch(d, c)) break;
    at = c->at;
    offset = c->base + (uint64_t)(uintptr_t)at;
    k = &d->kinds[*at & 63];
    gotrace__dec_clear(ev);
    if (GOTRACE__LIKELY(c->end - at >= GOTRACE__EVENT_BYTES)) next = gotrace__v1_take(at, k, &dt, ev->args);
    if (!GOTRACE__LIKELY(next != NULL)) {
      next = at;
      if (gotrace__v1_read(d, &next, c->end, offset, ev)) break; /* the error at which the first walk stopped */
      dt = (uint64_t)ev->time;
    }
    c->at = next;
    if (!k->timed) continue;
    ev->time = (int64_t)(c->tick += dt);
    ev->offset = offset;
    ev->m = GOTRACE_NO_ID;
    ev->p = (int64_t)c->id;
    if (!GOTRACE__LIKELY(k->ordinary) && k->head[0] == GOTRACE_V1_CPU_SAMPLE) continue; /* sorted by their own times */
    a->moved = !GOTRACE__LIKELY(k->ordinary) && gotrace__v1_is_moved(k->head[0], ev->args[2], ev->time);
    if (!gotrace__v1_complete_ahead(d, c, a, k)) return false;
    a++;
  }
  c->left = (unsigned)(a - c->ahead);
  return c->left != 0;
}

GOTRACE__FN inline bool gotrace__v1_advance(gotrace_decoder *d, gotrace__cursor *c) {
  if (GOTRACE__LIKELY(c->left > 1)) {
    c->left--;
    c->next++;
    return true;
  }
  return gotrace__v1_read_ahead(d, c);
}

/* Puts a cursor into the heap if its next event is ready, else into the list of those that wait for the event's
 * goroutine or for a collection. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v1_enqueue(gotrace_decoder *d, uint32_t index) {
  gotrace__cursor *c = &d->cursors[index];
  if (!gotrace__v1_ready(d, c->next)) {
    uint32_t *list = c->next->rule->does & GOTRACE__R_GC ? &d->gc_waiting : &d->gos[c->next->go - 1].of.v1.waiting;
    c->next_waiting = *list;
    *list = index + 1;
    d->parked++;
    return GOTRACE_OK;
  }
  if (!gotrace__heap_grow(d)) return d->failure.result;
  gotrace__heap_set(&d->heap[d->heap_count], c->next->event.time, index);
  gotrace__heap_up(d->heap, d->heap_count);
  gotrace__heap_end(d, d->heap_count + 1);
  return GOTRACE_OK;
}

/* Finds the earliest time of an event that is not next in a proc's batches. */
GOTRACE__FN void gotrace__v1_look_elsewhere(gotrace_decoder *d) {
  d->elsewhere = INT64_MAX;
  if (d->sample_given < d->sample_count) d->elsewhere = d->samples[d->sample_given].time;
  if (d->moved_given < d->moved_count && d->moved[d->moved_given].time < d->elsewhere)
    d->elsewhere = d->moved[d->moved_given].time;
  if (d->attempts > GOTRACE__MOST_ATTEMPTS(d)) d->elsewhere = INT64_MIN;
}

/* Begins the second walk, or begins it again. */
GOTRACE__FN gotrace_result gotrace__v1_rewind(gotrace_decoder *d) {
  uint32_t i;
  gotrace_result result;
  for (i = 0; i < d->go_count; i++) {
    gotrace__dec_go *g = &d->gos[i];
    g->sequence = g->of.v1.waiting = g->order_status = 0;
    g->of.v1.blocked_at = 0;
  }
  d->heap_count = d->sample_given = d->moved_given = 0;
  d->gc_sequence = d->parked = d->attempts = 0;
  gotrace__v1_look_elsewhere(d);
  d->gc_waiting = 0;
  d->last_time = INT64_MIN;
  if (d->version < 1007) return GOTRACE_OK;
  d->room = gotrace__dec_share_ahead(d->cursor_count);
  for (i = 0; i < d->cursor_count; i++) {
    gotrace__cursor *c = &d->cursors[i];
    c->at = c->end = NULL;
    c->batch = c->first;
    c->g = 0;
    c->left = 0;
    if (gotrace__v1_advance(d, c) && (result = gotrace__v1_enqueue(d, i)) != GOTRACE_OK) return result;
    if (d->failure.result) return d->failure.result;
  }
  return GOTRACE_OK;
}

/* Sets the pseudo-proc on which Go's parser has an event happen; `g`: its goroutine, if known. False: it has none. */
GOTRACE__FN inline bool gotrace__v1_set_proc(gotrace_event *ev, const gotrace__dec_go *g) {
  if (ev->kind == GOTRACE_V1_GO_SYS_EXIT) ev->p = GOTRACE_SYSCALL_PROC;
  else if (ev->kind == GOTRACE_V1_GO_UNBLOCK && g && g->timer) ev->p = GOTRACE_TIMER_PROC;
  else return false;
  return true;
}

/* Checks the time that the end of a system call gives. */
GOTRACE__FN inline gotrace_result gotrace__v1_check_syscall(gotrace_decoder *d, const gotrace__ahead *a,
                                                            gotrace__dec_go *g) {
  const gotrace_event *ev = &a->event;
  if (ev->kind == GOTRACE_V1_GO_SYS_BLOCK || ev->kind == GOTRACE_V1_GO_IN_SYSCALL) {
    g->of.v1.blocked_at = ev->time;
  } else if (a->rule->number == GOTRACE_V1_GO_SYS_EXIT && ev->args[2]) { /* it gives its time */
    if (!g->of.v1.blocked_at) GOTRACE__WRONG(STATE, "end of a system call without a start");
    if ((int64_t)ev->args[2] < g->of.v1.blocked_at)
      GOTRACE__WRONG(TIME, "system call of goroutine %lld ends before it blocks", GOTRACE__LL(ev->g));
  }
  return GOTRACE_OK;
}

/* Applies the earliest event; enqueues its proc's next and the cursors that wait for its goroutine. Go: order1007. */
GOTRACE__ALWAYS_INLINE gotrace_result gotrace__v1_step(gotrace_decoder *d, gotrace_event *next, bool *moved) {
  uint32_t index = d->heap[0].cursor, waiting = 0;
  gotrace__cursor *c = &d->cursors[index];
  const gotrace__ahead *a = c->next;
  const gotrace_event *ev = &a->event;
  gotrace_result result;
  bool more;
  if (ev->time < d->last_time) GOTRACE__WRONG(TIME, "time stamps out of order");
  d->last_time = ev->time;
  if (GOTRACE__LIKELY(a->rule->does & GOTRACE__R_ORDERED)) {
    gotrace__dec_go *g = &d->gos[a->go - 1];
    if (!gotrace__v1_ready(d, a)) GOTRACE__WRONG(ORDER, "event of goroutine %lld out of order", GOTRACE__LL(g->id));
    if (a->rule->does & GOTRACE__R_COUNTS) g->sequence++;
    g->order_status = a->rule->to;
    waiting = g->of.v1.waiting;
    g->of.v1.waiting = 0;
    if ((result = gotrace__v1_check_syscall(d, a, g)) != GOTRACE_OK) return result;
  } else if (a->rule->does & GOTRACE__R_GC) {
    if (!gotrace__v1_ready(d, a)) GOTRACE__WRONG(ORDER, "collection %llu out of order", GOTRACE__LLU(a->sequence));
    d->gc_sequence++;
    waiting = d->gc_waiting;
    d->gc_waiting = 0;
  }
  *moved = a->moved;
  d->own = a->own;
  d->from = index;
  *next = *ev;
  d->on = gotrace__v1_set_proc(next, &d->gos[a->own - 1]) ? 0 : c->p_index;
  more = gotrace__v1_advance(d, c);
  if (GOTRACE__LIKELY(more && gotrace__v1_ready(d, c->next))) {
    gotrace__heap_down(d->heap, d->heap_count, 0, c->next->event.time, true);
  } else {
    gotrace__heap_remove(d, 0);
    if (more && (result = gotrace__v1_enqueue(d, index)) != GOTRACE_OK) return result;
  }
  while (waiting) {
    uint32_t other = d->cursors[waiting - 1].next_waiting;
    d->parked--;
    if ((result = gotrace__v1_enqueue(d, waiting - 1)) != GOTRACE_OK) return result;
    waiting = other;
    if (++d->attempts > GOTRACE__MOST_ATTEMPTS(d)) d->elsewhere = INT64_MIN;
  }
  return d->failure.result;
}

/* An event that is not next in a proc's batches: the end of a system call, a CPU sample, or (format 1.5) any. */
GOTRACE__FN gotrace_result gotrace__v1_record_elsewhere(gotrace_decoder *d, gotrace_event *ev, bool exit) {
  const gotrace__dec_sample *s = exit ? &d->moved[d->moved_given++] : &d->samples[d->sample_given++];
  const uint8_t *at = d->file + (s->offset - d->file_offset);
  bool old = d->version < 1007;
  gotrace__v1_look_elsewhere(d);
  if (gotrace__v1_read(d, &at, d->end, s->offset, ev)) return d->failure.result;
  ev->time = old ? (int64_t)s->tick : s->time;
  ev->extra = 0;
  ev->p = (int64_t)s->p, ev->g = (int64_t)s->g;
  ev->stack = gotrace__dec_number(ev, d->kinds[ev->kind].stack);
  gotrace__v1_set_proc(ev, gotrace__dec_find_go(d, s->g));
  d->own = d->on = 0;
  if (exit || old) return GOTRACE_OK;
  if (s->time < d->last_time) GOTRACE__FAIL(TIME, s->offset, "CPUSample", "time stamps out of order");
  d->last_time = s->time;
  return GOTRACE_OK;
}

/* The next event of the whole trace. Its time is in ticks; its goroutine is 0 if it has none. Go moves ends of system
 * calls among the events that are in order, and keeps the order of equal times: an end comes last if it was late, as
 * they always are. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v1_record(gotrace_decoder *d, gotrace_event *ev) {
  for (;;) {
    gotrace_result result;
    bool moved = false, procs = d->heap_count != 0;
    int64_t time = procs ? d->heap[0].time : INT64_MAX;
    const gotrace__dec_sample *sample = d->sample_given < d->sample_count ? &d->samples[d->sample_given] : NULL;
    const gotrace__dec_sample *exit = d->moved_given < d->moved_count ? &d->moved[d->moved_given] : NULL;
    if (sample && procs && sample->time >= time) sample = NULL;
    if (sample) time = sample->time;
    if (exit && (exit->time > time || (exit->time == time && (int64_t)exit->tick >= time))) exit = NULL;
    if (sample || exit) return gotrace__v1_record_elsewhere(d, ev, exit != NULL);
    if (!procs && !d->parked) return GOTRACE_END_OF_TRACE;
    if (!procs || d->attempts > GOTRACE__MOST_ATTEMPTS(d))
      GOTRACE__FAIL(ORDER, d->offset, NULL, "no consistent order of the events of %llu procs",
                    GOTRACE__LLU(d->parked + d->heap_count));
    if ((result = gotrace__v1_step(d, ev, &moved)) != GOTRACE_OK) return result;
    if (GOTRACE__LIKELY(!moved)) return GOTRACE_OK;
  }
}

/* Finds the futile wake-ups, from an unblock, through starts and preemptions, to a futile block. Go: removeFutile. */
GOTRACE__FN gotrace_result gotrace__v1_find_futile(gotrace_decoder *d) {
  const uint64_t wakes = GOTRACE__V1_BIT(GO_UNBLOCK) | GOTRACE__V1_BIT(GO_START) | GOTRACE__V1_BIT(GO_PREEMPT) |
                         GOTRACE__V1_BIT(FUTILE_WAKEUP);
  const uint64_t blocks = GOTRACE__V1_BIT(GO_BLOCK) | GOTRACE__V1_BIT(GO_BLOCK_SEND) | GOTRACE__V1_BIT(GO_BLOCK_RECV) |
                          GOTRACE__V1_BIT(GO_BLOCK_SELECT) | GOTRACE__V1_BIT(GO_BLOCK_SYNC) |
                          GOTRACE__V1_BIT(GO_BLOCK_COND);
  gotrace_event ev;
  uint32_t i;
  uint64_t ordinal = 0;
  gotrace_result result;
  memset(&ev, 0, sizeof ev);
  for (; (result = gotrace__v1_record(d, &ev)) == GOTRACE_OK; ordinal++) {
    gotrace__dec_go *g;
    gotrace__dec_wake *wake;
    if (ordinal / 64 >= d->futile_count && !gotrace__dec_push_futile(d)) return d->failure.result;
    if (!((wakes | blocks) >> ev.kind & 1)) continue;
    if (!(g = gotrace__v1_get_go(d, ev.kind == GOTRACE_V1_GO_UNBLOCK ? ev.args[0] : (uint64_t)ev.g)))
      return d->failure.result;
    if (ev.kind == GOTRACE_V1_GO_UNBLOCK) g->of.v1.wakeup = 0;
    if (ev.kind == GOTRACE_V1_FUTILE_WAKEUP) g->futile = true;
    if (!(wake = gotrace__dec_push_wake(d))) return d->failure.result;
    wake->ordinal = ordinal;
    wake->next = g->of.v1.wakeup;
    g->of.v1.wakeup = (uint32_t)d->wake_count;
    if (!(blocks >> ev.kind & 1)) continue;
    for (i = g->futile ? g->of.v1.wakeup : 0; i; i = d->wakes[i - 1].next)
      d->futile[d->wakes[i - 1].ordinal / 64] |= (uint64_t)1 << (d->wakes[i - 1].ordinal % 64);
    g->futile = false;
    g->of.v1.wakeup = 0;
  }
  gotrace__dec_release(d, d->wakes, d->wake_capacity * sizeof *d->wakes);
  d->wakes = NULL;
  d->wake_count = d->wake_capacity = 0;
  if (result == GOTRACE_ERROR_OUT_OF_MEMORY) return result;
  memset(&d->failure, 0, sizeof d->failure); /* it will occur again, unless there were too many attempts */
  return GOTRACE_OK;
}

/* Does the first walk, and prepares the second. */
GOTRACE__FN gotrace_result gotrace__v1_prepare(gotrace_decoder *d) {
  gotrace_result result = gotrace__v1_scan(d);
  bool old = d->version < 1007;
  gotrace__dec_go *g;
  size_t i;
  if (result) return result;
  if (!gotrace__dec_sort_samples(d, d->samples, d->sample_count) ||
      !gotrace__dec_sort_samples(d, d->moved, d->moved_count))
    return d->failure.result;
  for (i = 1; old && i < d->sample_count; i++) { /* all events, sorted by their numbers. Go: order1005 */
    if ((int64_t)d->samples[i].tick >= (int64_t)d->samples[i - 1].tick) continue;
    gotrace__dec_fail(d, GOTRACE_ERROR_TIME, d->samples[i].offset, NULL, "time stamps out of order");
    gotrace__dec_postpone(d);
    d->sample_count = i;
  }
  if ((result = gotrace__v1_rewind(d)) != GOTRACE_OK) return result;
  d->min_time = d->heap_count && d->heap[0].time < d->elsewhere ? d->heap[0].time : d->elsewhere;
  if (old && d->sample_count) d->min_time = (int64_t)d->samples[0].tick;
  if (d->any_futile &&
      ((result = gotrace__v1_find_futile(d)) != GOTRACE_OK || (result = gotrace__v1_rewind(d)) != GOTRACE_OK))
    return result;
  if (!(g = gotrace__v1_get_go(d, 0))) return d->failure.result;
  g->status = GOTRACE__G_RUNNING;
  return GOTRACE_OK;
}

/* Checks that the goroutine, which may be 0, none, runs on the proc (NULL: any). Go: checkRunning. */
GOTRACE__FN inline gotrace_result gotrace__v1_check_runs(gotrace_decoder *d, const gotrace__dec_go *g,
                                                         const gotrace__dec_proc *p, const gotrace_event *ev) {
  if (g->status != GOTRACE__G_RUNNING) GOTRACE__WRONG(STATE, "goroutine %lld is not running", GOTRACE__LL(ev->g));
  if (p && p->g != (uint64_t)ev->g)
    GOTRACE__WRONG(STATE, "proc %lld does not run goroutine %lld", GOTRACE__LL(ev->p), GOTRACE__LL(ev->g));
  return GOTRACE_OK;
}

/* Checks and changes the status of an event's goroutine by its rule, and updates what the proc runs. */
GOTRACE__FN inline gotrace_result gotrace__v1_check_status(gotrace_decoder *d, gotrace__dec_go *g, gotrace__dec_proc *p,
                                                           gotrace_event *ev, const gotrace__transition *r) {
  gotrace_result result;
  if (r->does & GOTRACE__R_RUNS) {
    if ((result = gotrace__v1_check_runs(d, g, p, ev)) != GOTRACE_OK) return result;
    if (ev->g == 0) GOTRACE__WRONG(CONTEXT, "needs a goroutine");
    if (r->does & GOTRACE__R_LEAVES) {
      p->g = 0;
      if (ev->kind == GOTRACE_V1_GO_END) g->region_count = 0;
    }
  } else {
    if (g->status != r->from)
      GOTRACE__WRONG(STATE, "goroutine %lld %s", GOTRACE__LL(ev->g),
                     r->from == GOTRACE__G_WAITING ? "does not wait" : "is not runnable");
    if (r->does & GOTRACE__R_STARTS) {
      if (p->g) GOTRACE__WRONG(STATE, "proc %lld runs goroutine %lld", GOTRACE__LL(ev->p), GOTRACE__LL(p->g));
      p->g = (uint64_t)ev->g;
      if (g->fresh) {
        if (d->version >= 1007) ev->stack = g->of.v1.new_stack; /* before, it is an address */
        g->fresh = false;
      }
    }
  }
  g->status = r->to;
  g->last = ev->kind;
  return GOTRACE_OK;
}

/* Checks the creation or unblocking of another goroutine, which becomes runnable. */
GOTRACE__FN gotrace_result gotrace__v1_check_other(gotrace_decoder *d, const gotrace__dec_go *g,
                                                   const gotrace__dec_proc *p, gotrace_event *ev) {
  bool create = ev->kind == GOTRACE_V1_GO_CREATE, timer = !create && ev->p == GOTRACE_TIMER_PROC;
  gotrace__dec_go *other = gotrace__dec_find_go(d, ev->args[0]);
  gotrace_result result = gotrace__v1_check_runs(d, g, timer ? NULL : p, ev);
  if (result) return result;
  if (create) {
    if (other->created || other == g) GOTRACE__WRONG(STATE, "goroutine %lld already exists", GOTRACE__LL(ev->args[0]));
    other->created = other->fresh = true;
    other->of.v1.new_stack = ev->args[1];
  } else {
    if (!other || other->status != GOTRACE__G_WAITING)
      GOTRACE__WRONG(STATE, "goroutine %lld is not blocked", GOTRACE__LL(ev->args[0]));
    if (other->last == GOTRACE_V1_GO_BLOCK_NET && !timer) ev->p = GOTRACE_NETPOLL_PROC;
  }
  other->status = GOTRACE__G_RUNNABLE;
  other->last = ev->kind;
  return GOTRACE_OK;
}

/* Checks what an event needs and changes. Go: postProcessTrace. */
GOTRACE__FN gotrace_result gotrace__v1_check(gotrace_decoder *d, gotrace__dec_go *g, gotrace__dec_proc *p,
                                             gotrace_event *ev) {
  const gotrace__transition *r = d->kinds[ev->kind].rule;
  gotrace__dec_task *task;
  gotrace_result result;
  if (r->does & GOTRACE__R_STATUS) return gotrace__v1_check_status(d, g, p, ev, r);
  switch (ev->kind) {
  case GOTRACE_V1_GO_CREATE:
  case GOTRACE_V1_GO_UNBLOCK: return gotrace__v1_check_other(d, g, p, ev);
  case GOTRACE_V1_PROC_START:
    if (p->status) GOTRACE__WRONG(STATE, "proc %lld is already running", GOTRACE__LL(ev->p));
    p->status = 1;
    p->sequence = ev->args[0];
    return GOTRACE_OK;
  case GOTRACE_V1_PROC_STOP:
    if (!p->status) GOTRACE__WRONG(STATE, "proc %lld is not running", GOTRACE__LL(ev->p));
    if (p->g) GOTRACE__WRONG(STATE, "proc %lld runs goroutine %lld", GOTRACE__LL(ev->p), GOTRACE__LL(p->g));
    p->status = 0;
    return GOTRACE_OK;
  case GOTRACE_V1_GC_START:
  case GOTRACE_V1_GC_DONE:
    result = gotrace__dec_toggle(d, ev, &d->gc_on, ev->kind == GOTRACE_V1_GC_START, "a collection is already active",
                                 "no collection is active");
    if (d->gc_on) ev->p = GOTRACE_GC_PROC;
    return result;
  case GOTRACE_V1_STW_START:
  case GOTRACE_V1_STW_DONE:
    return gotrace__dec_toggle(d, ev, d->version < GOTRACE_GO_1_10 ? &p->stw : &d->stw_on,
                               ev->kind == GOTRACE_V1_STW_START, "the world is already stopped",
                               "the world is not stopped");
  case GOTRACE_V1_GC_SWEEP_START:
  case GOTRACE_V1_GC_SWEEP_DONE:
    return gotrace__dec_toggle(d, ev, &p->sweep, ev->kind == GOTRACE_V1_GC_SWEEP_START, "a sweep is already active",
                               "no sweep is active");
  case GOTRACE_V1_GC_MARK_ASSIST_START:
    return gotrace__dec_toggle(d, ev, &g->assist, true, "a mark assist is already active", "");
  case GOTRACE_V1_GC_MARK_ASSIST_DONE: g->assist = false; return GOTRACE_OK; /* it may have begun before the trace */
  case GOTRACE_V1_USER_TASK_CREATE:
    if (gotrace__dec_find_task(d, ev->args[0]))
      GOTRACE__WRONG(TASK, "task %lld has already begun", GOTRACE__LL(ev->args[0]));
    if (!(task = gotrace__dec_enter_task(d, ev->args[0]))) return d->failure.result;
    task->parent = ev->args[1], task->string = ev->args[2];
    return GOTRACE_OK;
  case GOTRACE_V1_USER_TASK_END:
    memset(&d->ended, 0, sizeof d->ended);
    if (!(task = gotrace__dec_find_task(d, ev->args[0]))) return GOTRACE_OK; /* it began before the trace */
    d->ended = *task;
    return gotrace__dec_remove_task(d, task);
  case GOTRACE_V1_USER_REGION:
    if (ev->args[1] > 1) GOTRACE__WRONG(REGION, "region of mode %lld", GOTRACE__LL(ev->args[1]));
    return gotrace__dec_region(d, g, ev, ev->args[2], ev->args[1] == 0);
  default: return GOTRACE_OK;
  }
}

/* Chooses the error after an invalid event. If the rest of the trace has no consistent order, that is the error: Go
 * orders the whole trace before it checks events. */
GOTRACE__FN gotrace_result gotrace__v1_root_cause(gotrace_decoder *d, gotrace_event *ev) {
  gotrace_decoder_failure found = d->failure;
  if (found.result == GOTRACE_ERROR_OUT_OF_MEMORY) return found.result;
  memset(&d->failure, 0, sizeof d->failure);
  while (gotrace__v1_record(d, ev) == GOTRACE_OK) continue;
  if (!d->failure.result) d->failure = found;
  return d->failure.result;
}

/* The next event of an ordered v1 trace, as it is in the file; its goroutine and proc. */
GOTRACE__ALWAYS_INLINE gotrace_result gotrace__v1_next(gotrace_decoder *d, gotrace_event *ev, gotrace__dec_go **its_go,
                                                       gotrace__dec_proc **its_proc) {
  gotrace_result result;
  gotrace__dec_go *g;
  gotrace__dec_proc *p;
  uint64_t ordinal;
  do {
    bool moved = true;
    if (GOTRACE__LIKELY(d->heap_count && d->heap[0].time < d->elsewhere) &&
        (result = gotrace__v1_step(d, ev, &moved)) != GOTRACE_OK)
      return result;
    if (moved && (result = gotrace__v1_record(d, ev)) != GOTRACE_OK) {
      if (result == GOTRACE_END_OF_TRACE && d->pending.result) d->failure = d->pending, result = d->pending.result;
      return result;
    }
    ordinal = d->ordinal++;
  } while (ordinal / 64 < d->futile_count && (d->futile[ordinal / 64] >> (ordinal % 64) & 1));
  if (!GOTRACE__LIKELY(d->own)) { /* it was not read ahead */
    if (ev->kind == GOTRACE_V1_GO_CREATE && !gotrace__v1_get_go(d, ev->args[0])) return d->failure.result;
    if (!(g = gotrace__v1_get_go(d, (uint64_t)ev->g))) return d->failure.result;
    d->own = (uint32_t)(g - d->gos) + 1;
  }
  g = &d->gos[d->own - 1];
  if (GOTRACE__LIKELY(d->on)) p = &d->procs[d->on - 1];
  else if (!(p = gotrace__v1_get_proc(d, ev->p))) return d->failure.result;
  if (!GOTRACE__LIKELY((result = gotrace__v1_check(d, g, p, ev)) == GOTRACE_OK)) return gotrace__v1_root_cause(d, ev);
  g->created = true;
  ev->time = gotrace__dec_nanoseconds(d, (uint64_t)ev->time - (uint64_t)d->min_time);
  ev->m = p->status || ev->kind == GOTRACE_V1_PROC_STOP ? (int64_t)p->sequence : GOTRACE_NO_ID;
  if (!ev->g) ev->g = GOTRACE_NO_ID;
  *its_go = g;
  *its_proc = p;
  return GOTRACE_OK;
}

/* ------------------------------------------------------------------------------------------ >>decode-lift ----
 *
 * v1: what the second walk finds, in the words of v2: each event by its row of GOTRACE__V1_LIFTS, which tells arguments
 * and reasons, and by what is here. It mirrors gotrace__lower, which writes v1. Each event of the file becomes one
 * event; events that it implies follow it. What v2 has no words for is told in other fields: see "Lifted" in >>decoder.
 *
 * Go 1.27 assumes of each trace what Go's tracer does: before the first Gomaxprocs, a trace tells what was there before
 * it. A trace without Gomaxprocs is told as if it began with one; Go's conversion leaves out all its creations.
 */

/* Whether the system call that has just begun loses its proc: the proc's next event tells it, but for those of other
 * goroutines. Most have been read ahead; an event is skipped after one call at most. */
GOTRACE__FN bool gotrace__v1_loses_proc(gotrace_decoder *d, const gotrace_event *ev) {
  const uint64_t others = GOTRACE__V1_BIT(CPU_SAMPLE) | GOTRACE__V1_BIT(GO_WAITING) | GOTRACE__V1_BIT(GO_IN_SYSCALL) |
                          GOTRACE__V1_BIT(GO_SYS_EXIT);
  const gotrace__cursor *at = &d->cursors[d->from];
  gotrace__cursor c;
  gotrace_event e;
  size_t low = 0, high = d->batch_count;
  if (d->on && at->left && !(others >> at->next->event.kind & 1))
    return at->next->event.kind == GOTRACE_V1_GO_SYS_BLOCK;
  memset(&c, 0, sizeof c);
  c.at = d->file + (ev->offset - d->file_offset);
  while (low + 1 < high) { /* finds the event's batch */
    size_t middle = low + (high - low) / 2;
    *(d->batches[middle].data <= c.at ? &low : &high) = middle;
  }
  if (!high) return false;
  c.end = d->batches[low].data + d->batches[low].size;
  c.batch = d->batches[low].next;
  if (gotrace__v1_read(d, &c.at, c.end, ev->offset, &e)) return false; /* not possible: the first walk has read it */
  do {
    if (c.at == c.end && gotrace__dec_next_batch(d, &c)) return false;
    if (gotrace__v1_read(d, &c.at, c.end, ev->offset, &e)) return false;
  } while (!d->kinds[e.kind].timed || (others >> e.kind & 1));
  return e.kind == GOTRACE_V1_GO_SYS_BLOCK;
}

/* Makes another kind of an event that was lifted. */
GOTRACE__FN void gotrace__v1_make(const gotrace_decoder *d, gotrace_event *ev, unsigned kind) {
  uint8_t v1 = ev->v1_kind;
  gotrace__dec_set_kind(ev, &d->kinds[GOTRACE__LIFTED + kind]);
  ev->v1_kind = v1;
}

/* Makes it a status of its goroutine, on no thread. `before`: its status, GOTRACE_STATUS_UNKNOWN as in Go's conversion,
 * or GOTRACE__G_...; `entry`: a stack with its first function, 0 if none. */
GOTRACE__FN void gotrace__v1_make_status(const gotrace_decoder *d, gotrace_event *ev, uint64_t g, uint64_t status,
                                         int64_t before, uint64_t entry) {
  gotrace__v1_make(d, ev, GOTRACE_V2_GO_STATUS);
  ev->args[0] = g, ev->args[1] = GOTRACE__NOBODY, ev->args[2] = status, ev->args[3] = entry, ev->args[4] = 0;
  ev->extra = before;
  ev->stack = 0;
}

/* Finds the next goroutine that was only created when the first Gomaxprocs came. */
GOTRACE__FN bool gotrace__v1_find_untold(gotrace_decoder *d) {
  do d->untold++;
  while (d->untold <= d->go_count &&
         !(d->gos[d->untold - 1].created && d->gos[d->untold - 1].last == GOTRACE_V1_GO_CREATE));
  if (d->untold > d->go_count) d->untold = 0;
  return d->untold != 0;
}

/* An event that the last one implies: that in the queue, or the status of the next goroutine that is older than the
 * trace, and neither waits nor has run. */
GOTRACE__FN gotrace_result gotrace__v1_next_implied(gotrace_decoder *d, gotrace_event *ev) {
  *ev = d->queue[0];
  d->fast = true;
  if (!d->untold) return GOTRACE_OK;
  ev->args[0] = d->gos[d->untold - 1].id;
  ev->args[3] = d->gos[d->untold - 1].of.v1.new_stack;
  d->fast = !gotrace__v1_find_untold(d);
  return GOTRACE_OK;
}

/* Begins an event that follows, at the same time and place. */
GOTRACE__FN gotrace_event *gotrace__v1_imply(gotrace_decoder *d, const gotrace_event *ev, unsigned kind) {
  gotrace_event *to = &d->queue[0];
  *to = *ev;
  gotrace__v1_make(d, to, kind);
  gotrace__dec_clear(to);
  to->stack = 0;
  to->implied = true;
  d->fast = false;
  return to;
}

/* The first Gomaxprocs ends what a trace tells about the time before it. */
GOTRACE__FN void gotrace__v1_end_beginning(gotrace_decoder *d, const gotrace_event *ev) {
  gotrace_event *status;
  d->beginning = false;
  d->lifts[GOTRACE_V1_GO_START].same = d->lifts[GOTRACE_V1_GOMAXPROCS].same = true;
  d->lifts[GOTRACE_V1_GO_CREATE].same = d->version >= 1007;
  if (!gotrace__v1_find_untold(d)) return;
  status = gotrace__v1_imply(d, ev, GOTRACE_V2_GO_STATUS);
  gotrace__v1_make_status(d, status, 0, GOTRACE__G_RUNNABLE, GOTRACE_STATUS_UNKNOWN, 0);
  status->implied = true;
  status->m = status->p = status->g = GOTRACE_NO_ID;
}

/* The first status of a proc is stated. */
GOTRACE__FN void gotrace__v1_lift_proc(gotrace_decoder *d, gotrace_event *ev, gotrace__dec_proc *p) {
  bool start = ev->v1_kind == GOTRACE_V1_PROC_START;
  if (p->told) return;
  p->told = true;
  gotrace__v1_make(d, ev, GOTRACE_V2_PROC_STATUS);
  ev->args[0] = (uint64_t)ev->p;
  ev->args[1] = start ? GOTRACE__P_RUNNING : GOTRACE__P_IDLE;
  ev->extra = GOTRACE_STATUS_UNKNOWN;
}

/* Stopped worlds belong to the goroutine that the proc runs. Their reasons before 1.21, where there are two, are those
 * that newer readers give; scans before 1.10 are stopped worlds to them. */
GOTRACE__FN void gotrace__v1_lift_stw(gotrace_decoder *d, gotrace_event *ev, const gotrace__dec_proc *p,
                                      uint64_t kind) {
  ev->g = p->g ? (int64_t)p->g : GOTRACE_NO_ID;
  if (ev->v1_kind == GOTRACE_V1_STW_START) {
    if (d->version < GOTRACE_GO_1_21) kind = kind ? GOTRACE_STW_GC_SWEEP_TERM : GOTRACE_STW_GC_MARK_TERM;
    if (kind >= GOTRACE_STW_REASON_COUNT) kind = GOTRACE_STW_UNKNOWN;
    ev->args[0] = d->stw_text = d->texts + GOTRACE__V1_STW_TEXTS + kind;
  }
  gotrace__dec_string(d, d->stw_text, &ev->data, &ev->data_size);
}

/* Moves the arguments of an event to their places in v2, and does what the rows of GOTRACE__V1_LIFTS cannot tell. */
GOTRACE__FN GOTRACE__NOINLINE void gotrace__v1_lift_rest(gotrace_decoder *d, gotrace_event *ev, gotrace__dec_go *g,
                                                         gotrace__dec_proc *p) {
  const gotrace__lift *l = &d->lifts[ev->v1_kind];
  uint64_t old[5], args[5];
  const uint8_t *message;
  size_t i;
  memcpy(old, ev->args, sizeof old);
  for (i = 0; i < 5; i++) args[i] = gotrace__dec_number(ev, l->from[i]);
  memcpy(ev->args, args, sizeof args);
  ev->stack = gotrace__dec_number(ev, l->stack);
  if (!l->rest) return;
  switch (ev->v1_kind) {
  case GOTRACE_V1_GOMAXPROCS:
    if (d->beginning) gotrace__v1_end_beginning(d, ev);
    break;
  case GOTRACE_V1_PROC_START:
  case GOTRACE_V1_PROC_STOP: gotrace__v1_lift_proc(d, ev, p); break;
  case GOTRACE_V1_STW_START:
  case GOTRACE_V1_STW_DONE: gotrace__v1_lift_stw(d, ev, p, old[0]); break;
  case GOTRACE_V1_GO_CREATE: /* format 1.5 has an address in place of a stack */
    if (d->version < 1007) ev->args[1] = 0, ev->args[3] = old[1];
    if (!d->beginning) break;
    gotrace__v1_make_status(d, ev, old[0], 0, GOTRACE_STATUS_UNKNOWN, old[1]);
    ev->stack = old[2];
    break;
  case GOTRACE_V1_GO_START_LABEL: gotrace__v1_imply(d, ev, GOTRACE_V2_GO_LABEL)->args[0] = old[2]; /* fall through */
  case GOTRACE_V1_GO_START:
    if (d->beginning) {
      int64_t m = ev->m;
      gotrace__v1_make_status(d, ev, old[0], GOTRACE__G_RUNNING, GOTRACE_STATUS_UNKNOWN, 0);
      ev->args[1] = (uint64_t)m;
    }
    break;
  case GOTRACE_V1_GO_SYS_CALL: /* one that keeps its proc has no end in the file */
    g->calls = gotrace__v1_loses_proc(d, ev);
    if (!g->calls) gotrace__v1_imply(d, ev, GOTRACE_V2_GO_SYSCALL_END);
    break;
  case GOTRACE_V1_GO_SYS_BLOCK:
    if (!g->calls) gotrace__v1_make(d, ev, GOTRACE_V2_GO_SYSCALL_BEGIN), gotrace__dec_clear(ev);
    else gotrace__v1_make_status(d, ev, (uint64_t)ev->g, GOTRACE__G_SYSCALL, GOTRACE__G_SYSCALL, 0);
    g->calls = false;
    break;
  case GOTRACE_V1_GO_WAITING:
    gotrace__v1_make_status(d, ev, old[0], GOTRACE__G_WAITING, GOTRACE_STATUS_UNKNOWN, 0);
    break;
  case GOTRACE_V1_GO_IN_SYSCALL:
    gotrace__v1_make_status(d, ev, old[0], GOTRACE__G_SYSCALL, GOTRACE_STATUS_UNKNOWN, 0);
    break;
  case GOTRACE_V1_USER_TASK_END:
    ev->extra = d->ended.parent ? (int64_t)d->ended.parent : GOTRACE_NO_ID;
    gotrace__dec_string(d, d->ended.string, &ev->data, &ev->data_size);
    break;
  case GOTRACE_V1_USER_REGION:
    if (old[1]) gotrace__v1_make(d, ev, GOTRACE_V2_USER_REGION_END);
    break;
  case GOTRACE_V1_USER_LOG: /* the message's size precedes it, and ends the number before that */
    message = (const uint8_t *)ev->data - 1;
    while (message[-1] >= 0x80) message--;
    ev->args[2] = d->texts + GOTRACE__V1_MESSAGES + (uint64_t)(message - d->file);
    ev->data = NULL, ev->data_size = 0;
    break;
  default: break;
  }
}

/* The next event of an ordered v1 trace, in the words of v2. */
GOTRACE__FN inline gotrace_result gotrace__v1_next_lifted(gotrace_decoder *d, gotrace_event *ev) {
  gotrace__dec_go *g = NULL;
  gotrace__dec_proc *p = NULL;
  const gotrace__lift *l;
  gotrace_result result = gotrace__v1_next(d, ev, &g, &p);
  if (!GOTRACE__LIKELY(result == GOTRACE_OK)) return result;
  l = &d->lifts[ev->kind];
  ev->spec = l->spec;
  memcpy((char *)ev + offsetof(gotrace_event, kind), l->head, sizeof l->head);
  if (GOTRACE__LIKELY(l->same)) {
    ev->stack = gotrace__dec_number(ev, l->stack);
  } else if (l->stops) {
    ev->args[1] = ev->args[0];
    ev->args[0] = l->reason ? d->texts + l->reason : 0;
  } else {
    gotrace__v1_lift_rest(d, ev, g, p);
  }
  return GOTRACE_OK;
}

/* ---------------------------------------------------------------------------------------------- >>decode-raw ---- */

/* Sets the fields of an event that its kind, place and time determine. */
GOTRACE__FN inline void gotrace__raw_begin(gotrace_decoder *d, gotrace_event *ev, const gotrace__kind *k,
                                           uint64_t offset, uint64_t dt) {
  d->tick += dt;
  gotrace__dec_set_kind(ev, k);
  ev->time = (int64_t)d->tick;
  ev->offset = offset;
  ev->m = (int64_t)d->raw_id;
  ev->p = ev->g = GOTRACE_NO_ID;
}

/* v2: the header of the next batch, as an event. */
GOTRACE__FN gotrace_result gotrace__v2_next_raw_batch(gotrace_decoder *d, gotrace_event *ev) {
  gotrace__batch_header h;
  gotrace_result result;
  const gotrace__kind *k;
  unsigned i = 0;
  uint64_t end = d->offset + (uint64_t)(d->batch_at ? d->batch_at - d->at : 0);
  if (d->batch_cut) GOTRACE__FAIL(TRUNCATED, end, NULL, "truncated in a batch");
  if (d->batch_at) gotrace__dec_skip(d, (size_t)(d->batch_at - d->at));
  d->batch_at = d->batch_end = d->batch_whole = NULL;
  if ((result = gotrace__v2_read_header(d, &h)) != GOTRACE_OK) return result;
  k = &d->kinds[h.kind];
  gotrace__dec_blank(ev, k, d->offset);
  if (h.kind == GOTRACE_V2_END_OF_GENERATION) return gotrace__dec_skip(d, 1), GOTRACE_OK;
  if (!gotrace__dec_fill(d, h.header_size + (size_t)h.size)) return d->failure.result;
  if (k->data) ev->args[i++] = h.experiment;
  ev->args[i++] = d->generation = d->info.generation = h.generation;
  ev->args[i++] = d->raw_id = h.m;
  ev->args[i++] = d->tick = h.time;
  ev->m = (int64_t)h.m;
  ev->time = (int64_t)h.time;
  if (k->data) {
    if ((size_t)(d->end - d->at) - h.header_size < h.size)
      GOTRACE__FAIL(TRUNCATED, d->offset, k->spec->name, "truncated in a batch");
    ev->data = (const char *)d->at + h.header_size;
    ev->data_size = (size_t)h.size;
    h.header_size += (size_t)h.size;
  } else {
    ev->args[3] = h.size;
    d->batch_at = d->at + h.header_size;
    d->batch_cut = (uint64_t)(d->end - d->batch_at) < h.size;
    d->batch_end = d->batch_cut ? d->end : d->batch_at + (size_t)h.size;
    d->batch_offset = d->offset - (uint64_t)(uintptr_t)d->at;
    d->batch_whole = d->batch_end - d->batch_at > GOTRACE__EVENT_BYTES ? d->batch_end - GOTRACE__EVENT_BYTES : NULL;
  }
  gotrace__dec_skip(d, h.header_size);
  return GOTRACE_OK;
}

/* v2: reads the bytes of a string, or the frames of a stack, at *at. */
GOTRACE__FN gotrace_result gotrace__v2_read_raw_data(gotrace_decoder *d, gotrace_event *ev, const uint8_t **at) {
  const uint8_t *end = d->batch_end, *start = *at;
  uint64_t i, number;
  if (ev->kind == GOTRACE_V2_STACK && ev->args[1] > GOTRACE_STACK_SIZE)
    GOTRACE__WRONG(STACK, "stack of %llu frames", GOTRACE__LLU(ev->args[1]));
  for (i = ev->kind == GOTRACE_V2_STACK ? 4 * ev->args[1] : 1; i; i--)
    if (!gotrace__get_numbers(at, end, &number, 1))
      return gotrace__dec_bad_number(d, *at, end, ev->offset, ev->spec->name);
  if (ev->kind == GOTRACE_V2_STRING) {
    if (number > (uint64_t)(end - *at))
      GOTRACE__WRONG(TRUNCATED, "string of %llu bytes exceeds its batch", GOTRACE__LLU(number));
    start = *at;
    *at += number;
  }
  ev->data = (const char *)start;
  ev->data_size = (size_t)(*at - start);
  return GOTRACE_OK;
}

/* v2: the next event of a batch. The whole batch is in memory, unless the file ends in it. */
GOTRACE__FN gotrace_result gotrace__v2_next_raw_event(gotrace_decoder *d, gotrace_event *ev) {
  const uint8_t *at = d->batch_at, *end = d->batch_end;
  uint64_t offset = d->offset + (uint64_t)(at - d->at), dt = 0;
  const gotrace__kind *k = &d->kinds[*at];
  if (!k->spec || *at == GOTRACE_V2_NONE || *at == GOTRACE_V2_EVENT_BATCH || *at == GOTRACE_V2_EXPERIMENTAL_BATCH)
    GOTRACE__FAIL(EVENT, offset, NULL, "event %u in a batch", *at);
  at++;
  gotrace__dec_clear(ev);
  if ((k->timed && !gotrace__get_numbers(&at, end, &dt, 1)) || !gotrace__get_numbers(&at, end, ev->args, k->args))
    return gotrace__dec_bad_number(d, at, end, offset, k->spec->name);
  gotrace__raw_begin(d, ev, k, offset, dt);
  ev->stack = gotrace__dec_number(ev, k->stack);
  if ((ev->kind == GOTRACE_V2_STRING || ev->kind == GOTRACE_V2_STACK) && gotrace__v2_read_raw_data(d, ev, &at))
    return d->failure.result;
  d->batch_at = at;
  return GOTRACE_OK;
}

/* The next event of a raw v1 trace. */
GOTRACE__FN gotrace_result gotrace__v1_next_raw(gotrace_decoder *d, gotrace_event *ev) {
  const gotrace__kind *k = NULL;
  const uint8_t *at = NULL;
  gotrace_result result;
  size_t want = 1 << 16;
  uint64_t dt = 0;
  if (d->end - d->at >= GOTRACE__EVENT_BYTES && d->version >= 1007) {
    k = &d->kinds[*d->at & 63];
    gotrace__dec_clear(ev);
    at = gotrace__v1_take(d->at, k, &dt, ev->args);
  }
  if (!GOTRACE__LIKELY(at != NULL)) {
    for (;;) {
      if (!gotrace__dec_fill(d, want)) return d->failure.result;
      if (d->at == d->end) return GOTRACE_END_OF_TRACE;
      at = d->at;
      if ((result = gotrace__v1_read(d, &at, d->end, d->offset, ev)) == GOTRACE_OK) break;
      if (d->at_end || want > 1 << 22) return result;
      memset(&d->failure, 0, sizeof d->failure); /* perhaps too little of the event was in memory */
      want = (size_t)(d->end - d->at) + (1 << 18);
    }
    k = &d->kinds[ev->kind];
    dt = (uint64_t)ev->time;
    ev->extra = 0;
    if (ev->kind == GOTRACE_V1_BATCH) {
      d->raw_id = ev->args[0];
      d->tick = ev->args[d->version < 1007 ? 2 : 1];
    }
  }
  gotrace__raw_begin(d, ev, k, d->offset, dt);
  ev->stack = gotrace__dec_number(ev, k->stack);
  ev->m = GOTRACE_NO_ID;
  ev->p = (int64_t)d->raw_id;
  gotrace__dec_skip(d, (size_t)(at - d->at));
  return GOTRACE_OK;
}

/* ------------------------------------------------------------------------------------------ >>decode-changes ----
 *
 * What an event changes: the rows of >>decode-rules, told. This keeps records of its own, from what it told before, so
 * that decoding costs the same whether or not changes are told.
 */

/* The name of a function or file, kept. Returns 1 + its index; 0: no name, or no memory. Names with the same hash are
 * taken for the same, as in gotrace__region_mark; of a name, which a hostile trace may repeat in each event, the size
 * and the beginning count. */
GOTRACE__FN uint32_t gotrace__told_text(gotrace_decoder *d, const char *data, size_t size) {
  uint64_t hash;
  uint32_t i;
  gotrace__dec_item *name;
  void *copy;
  if (!size) return 0;
  hash = gotrace__hash_from(d->seed + size, data, size < GOTRACE_MAX_STRING_SIZE ? size : GOTRACE_MAX_STRING_SIZE);
  if ((i = gotrace__map_get(d, &d->told_name_map, hash)) != 0) return i;
  if (!(name = gotrace__dec_enter_told_name(d, hash))) return 0;
  if (!(copy = gotrace__dec_allocate(d, size))) return 0;
  name->data = (const uint8_t *)memcpy(copy, data, size);
  name->size = (uint32_t)size;
  return (uint32_t)d->told_name_count;
}

GOTRACE__FN void gotrace__told_show(const gotrace_decoder *d, uint32_t i, const char **data, size_t *size) {
  *data = (const char *)d->told_names[i - 1].data;
  *size = d->told_names[i - 1].size;
}

GOTRACE__FN gotrace__told *gotrace__told_find(gotrace_decoder *d, unsigned object, uint64_t id) {
  gotrace__map *map = object == GOTRACE_OBJECT_GO ? &d->told_gos : &d->told_procs;
  uint32_t *recent = &d->told_near[id % (sizeof d->told_near / sizeof d->told_near[0])],
           i = gotrace__map_get(d, map, id);
  gotrace__told *of;
  *recent = i;
  if (i && d->tolds[i - 1].status != GOTRACE_STATUS_NONE) return &d->tolds[i - 1];
  if (i) gotrace__map_remove(d, map, id);
  if (!(of = gotrace__dec_push_told(d)) || gotrace__map_add(d, map, id, (uint32_t)d->told_count)) return NULL;
  of->id = id;
  of->object = (uint8_t)object;
  of->status = GOTRACE_STATUS_UNKNOWN;
  of->since = d->told_sync;
  *recent = (uint32_t)d->told_count;
  return of;
}

/* The record of a goroutine or proc; NULL: no memory. An id that is used again gets a new record. */
GOTRACE__FN inline gotrace__told *gotrace__told_get(gotrace_decoder *d, unsigned object, uint64_t id) {
  uint32_t i = d->told_near[id % (sizeof d->told_near / sizeof d->told_near[0])];
  gotrace__told *of = i ? &d->tolds[i - 1] : NULL;
  bool is = of && of->id == id && of->object == object && of->status != GOTRACE_STATUS_NONE;
  return GOTRACE__LIKELY(is) ? of : gotrace__told_find(d, object, id);
}

/* Notes the function that a goroutine begins with. One without a name is named by its address. */
GOTRACE__FN void gotrace__told_begins(gotrace_decoder *d, gotrace__told *of, const gotrace_frame *frame) {
  char text[24];
  of->function = gotrace__told_text(d, frame->function, frame->function_size);
  if (!of->function && frame->pc) {
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)frame->pc);
    of->function = gotrace__told_text(d, text, strlen(text));
  }
  of->file = gotrace__told_text(d, frame->file, frame->file_size);
  of->pc = frame->pc;
  of->line = frame->line;
}

/* The same by the innermost or outermost frame of a stack. False: that has no name. */
GOTRACE__FN bool gotrace__told_frame(gotrace_decoder *d, gotrace__told *of, uint64_t stack, bool outermost) {
  gotrace_frame frame;
  size_t count = stack ? gotrace__dec_stack(d, stack, 0, NULL, 0) : 0;
  if (!count) return true;
  gotrace__dec_stack(d, stack, outermost ? count - 1 : 0, &frame, 1);
  gotrace__told_begins(d, of, &frame);
  return of->function != 0;
}

/* The same by the argument of its creation. Format 1.5 has only the address. */
GOTRACE__FN void gotrace__told_entry(gotrace_decoder *d, gotrace__told *of, uint64_t stack) {
  gotrace_frame frame;
  memset(&frame, 0, sizeof frame);
  frame.pc = stack;
  of->function = of->tries = 0;
  if (d->version >= 1007) gotrace__told_frame(d, of, stack, false);
  else gotrace__told_begins(d, of, &frame);
}

/* The status that a GoStatus, GoStatusStack or ProcStatus tells. */
GOTRACE__FN int8_t gotrace__told_status(const gotrace_event *ev) {
  static const int8_t procs[] = {GOTRACE_STATUS_UNKNOWN, GOTRACE_STATUS_RUNNING, GOTRACE_STATUS_IDLE,
                                 GOTRACE_STATUS_RUNNING, GOTRACE_STATUS_IDLE};
  if (ev->kind == GOTRACE_V2_PROC_STATUS) return procs[ev->args[1] % 5];
  return ev->args[2] ? (int8_t)(ev->args[2] % 5) : (int8_t)GOTRACE_STATUS_UNKNOWN;
}

/* Tells a goroutine's or proc's change of status, and records it. False: there is none. */
GOTRACE__FN bool gotrace__tell_status(gotrace_decoder *d, const gotrace_event *ev, const gotrace_change_spec *spec,
                                      gotrace__told *of, gotrace_change *c) {
  const gotrace__kind *k = &d->kinds[(d->lifted + ev->kind) % 256];
  bool created = (spec->whose & GOTRACE_WHOSE_NEW) != 0, told = (spec->whose & GOTRACE_WHOSE_TOLD) != 0,
       first = of->status == GOTRACE_STATUS_UNKNOWN;
  uint64_t entry = created ? gotrace__dec_number(ev, k->stack2) : 0;
  if (ev->v1_kind && (created || told)) entry = ev->args[3] ? ev->args[3] : entry; /* see "Lifted" */
  c->from = of->status;
  c->to = told ? gotrace__told_status(ev) : spec->to;
  c->since = of->since;
  if (created || entry) gotrace__told_entry(d, of, entry);
  if (created || entry) c->stack = d->version >= 1007 ? entry : 0;
  else if (told && (c->stack = ev->stack) != 0 && !of->function) gotrace__told_frame(d, of, ev->stack, true);
  else if (c->object == GOTRACE_OBJECT_GO && !spec->whose) c->stack = ev->stack;
  if (created || (told && first && ev->extra == GOTRACE_STATUS_NONE)) c->from = GOTRACE_STATUS_NONE;
  else if (told && ev->extra == GOTRACE_STATUS_UNKNOWN) c->from = GOTRACE_STATUS_UNKNOWN;
  if (told && first && c->from == GOTRACE_STATUS_UNKNOWN) of->since = d->told_sync;
  else if (c->from != c->to) of->since = ev->time;
  of->status = c->to;
  return true;
}

/* Tells a task. */
GOTRACE__FN void gotrace__tell_task(const gotrace_event *ev, gotrace_change *c) {
  c->task = ev->args[0];
  if (c->kind == GOTRACE_CHANGE_TASK_END) c->parent = ev->extra, c->name = ev->data, c->name_size = ev->data_size;
  else if (ev->args[1]) c->parent = (int64_t)ev->args[1];
}

/* Tells what a sweep has done, and why the world is or was stopped. */
GOTRACE__FN void gotrace__tell_range(const gotrace_event *ev, gotrace_change *c) {
  if (c->kind == GOTRACE_CHANGE_RANGE_END && c->object == GOTRACE_OBJECT_PROC) {
    c->value[0] = ev->args[0];
    c->value[1] = ev->args[1];
  } else if (ev->data_size) {
    c->text = ev->data, c->text_size = ev->data_size;
  }
}

/* Whose change it is. False: no memory. */
GOTRACE__FN bool gotrace__tell_whose(gotrace_decoder *d, const gotrace_event *ev, const gotrace_change_spec *spec,
                                     gotrace__told **of, gotrace_change *c) {
  c->object = spec->object;
  if (spec->whose & GOTRACE_WHOSE_NAMED) c->id = (int64_t)ev->args[0];
  else c->id = c->object == GOTRACE_OBJECT_GO ? ev->g : c->object ? ev->p : GOTRACE_NO_ID;
  if (c->id == GOTRACE_NO_ID) return true;
  if (!(*of = gotrace__told_get(d, c->object, (uint64_t)c->id))) return false;
  c->number = *of - d->tolds;
  return true;
}

/* Notes what an event tells besides its changes: where a generation begins, and the function of its goroutine. `of`:
 * whose change it is; NULL: nobody's. False: no memory. */
GOTRACE__FN bool gotrace__tell_first(gotrace_decoder *d, const gotrace_event *ev, const gotrace_change_spec *spec,
                                     gotrace__told *of) {
  if (ev->kind == GOTRACE_V2_CPU_SAMPLE || ev->kind == GOTRACE_V2_GO_STATUS_STACK) return true;
  if (ev->kind == GOTRACE_V2_SYNC) d->told_sync = ev->time;
  if (!ev->stack || ev->g == GOTRACE_NO_ID) return true;
  if (spec->object != GOTRACE_OBJECT_GO || spec->whose) of = gotrace__told_get(d, GOTRACE_OBJECT_GO, (uint64_t)ev->g);
  if (of && !of->function && of->tries < 100) /* else a hostile trace could have a long stack walked at each event */
    of->tries = (uint8_t)(of->tries + !gotrace__told_frame(d, of, ev->stack, true));
  return of && !d->failure.result;
}

/* Tells the change of an event. False: it makes none, or there is no memory. */
GOTRACE__FN bool gotrace__tell(gotrace_decoder *d, const gotrace_event *ev, gotrace_change *c) {
  const gotrace__kind *k = &d->kinds[(d->lifted + ev->kind) % 256];
  const gotrace_change_spec *spec = &k->tells->spec;
  gotrace__told *of = NULL;
  *c = d->told_nothing;
  if (!gotrace__tell_whose(d, ev, spec, &of, c)) return false;
  if (!gotrace__tell_first(d, ev, spec, of) || !spec->kind) return false;
  if (of) of = &d->tolds[c->number]; /* the array may have moved */
  c->kind = spec->kind;
  c->name = spec->name;
  c->name_size = k->tells->name_size;
  if (!c->name_size && k->string != GOTRACE__NOWHERE)
    gotrace__dec_string(d, gotrace__dec_number(ev, k->string), &c->name, &c->name_size);
  switch (c->kind) {
  case GOTRACE_CHANGE_STATUS:
    if (!of || !gotrace__tell_status(d, ev, spec, of, c)) return false;
    break;
  case GOTRACE_CHANGE_METRIC: c->value[0] = ev->args[0]; break;
  case GOTRACE_CHANGE_RANGE_BEGIN:
  case GOTRACE_CHANGE_RANGE_END: gotrace__tell_range(ev, c); break;
  case GOTRACE_CHANGE_TASK_BEGIN:
  case GOTRACE_CHANGE_TASK_END: gotrace__tell_task(ev, c); break;
  case GOTRACE_CHANGE_REGION_BEGIN:
  case GOTRACE_CHANGE_REGION_END: c->task = ev->args[0]; break;
  case GOTRACE_CHANGE_LOG:
    c->task = ev->args[0];
    gotrace__dec_string(d, gotrace__dec_number(ev, k->string2), &c->text, &c->text_size);
    break;
  default: break;
  }
  if (of && of->function) gotrace__told_show(d, of->function, &c->function, &c->function_size);
  return true;
}

/* ------------------------------------------------------------------------------------------- >>decode-public ---- */

/* Reads the header, and prepares for its format. */
GOTRACE__FN gotrace_result gotrace__dec_begin(gotrace_decoder *d) {
  if (!gotrace__dec_fill(d, 16)) return d->failure.result;
  if (d->end - d->at < 16) GOTRACE__FAIL(HEADER, 0, NULL, "not a Go execution trace: shorter than a header");
  if (!(d->version = gotrace__dec_read_header(d->at))) GOTRACE__FAIL(HEADER, 0, NULL, "not a Go execution trace");
  if (!gotrace__is_format(d->version) && d->version != 1005 && d->version != 1007 && d->version != 1009)
    GOTRACE__FAIL(FORMAT, 0, NULL, "unknown trace format go 1.%d", d->version - 1000);
  d->info.format = d->version;
  d->info.family = d->version < GOTRACE_GO_1_22 ? 1 : 2;
  d->until =
      d->options.until && d->info.family == 1 ? d->options.until : INT64_MAX; /* v2: gotrace__v2_set_first_time */
  gotrace__dec_set_kinds(d);
  gotrace__dec_skip(d, 16);
  return GOTRACE_OK;
}

GOTRACE__DEFINE gotrace_result gotrace_decoder_open(gotrace_decoder **decoder, const gotrace_decoder_options *options) {
  gotrace_decoder *d, temporary;
  if (!decoder) return GOTRACE_ERROR_ARGUMENT;
  *decoder = NULL;
  if (!options || (!options->data && options->size) || (options->data && options->read) ||
      !options->allocate != !options->release || options->from < 0 || options->until < 0)
    return GOTRACE_ERROR_ARGUMENT;
  memset(&temporary, 0, sizeof temporary);
  temporary.options = *options;
  if (!(d = (gotrace_decoder *)gotrace__dec_allocate(&temporary, sizeof *d))) return GOTRACE_ERROR_OUT_OF_MEMORY;
  *d = temporary;
  *decoder = d;
  d->seed = (uint64_t)(uintptr_t)d * 0x2545f4914f6cdd1du; /* differs between runs if addresses do */
  d->at = (const uint8_t *)options->data;
  if (options->data) d->end = d->at + options->size;
  d->at_end = !options->read;
  return d->result = gotrace__dec_begin(d);
}

GOTRACE__DEFINE void gotrace_decoder_close(gotrace_decoder *d) {
  gotrace_decoder last;
  size_t i;
  if (!d) return;
  gotrace__dec_free_generation(d);
  for (i = 0; i < d->go_count; i++) {
    gotrace__dec_release(d, d->gos[i].regions, d->gos[i].region_capacity * sizeof *d->gos[i].regions);
    if (d->version >= GOTRACE_GO_1_22)
      gotrace__dec_release(d, d->gos[i].of.v2.stw, d->gos[i].of.v2.stw_capacity * sizeof *d->gos[i].of.v2.stw);
  }
  for (i = 0; i < d->task_count; i++) gotrace__dec_release(d, d->tasks[i].name, d->tasks[i].name_size);
  for (i = 0; i < d->cursor_count; i++) gotrace__dec_drop_ahead(d, &d->cursors[i]);
  gotrace__dec_release(d, d->ended.name, d->ended.name_size);
  for (i = 0; i < d->told_name_count; i++)
    gotrace__dec_release(d, (void *)(uintptr_t)d->told_names[i].data, d->told_names[i].size);
  gotrace__map_free(d, &d->ended_gos);
  gotrace__map_free(d, &d->told_gos);
  gotrace__map_free(d, &d->told_procs);
#define GOTRACE__DEC_FREE(type, array, element) gotrace__map_free(d, &d->element##_map);
  GOTRACE__DEC_TABLES(GOTRACE__DEC_FREE)
#undef GOTRACE__DEC_FREE
#define GOTRACE__DEC_FREE(type, array, element) gotrace__dec_release(d, d->array, d->element##_capacity * sizeof(type));
  GOTRACE__DEC_ARRAYS(GOTRACE__DEC_FREE)
#undef GOTRACE__DEC_FREE
  gotrace__dec_release(d, d->window, d->window_size);
  last = *d; /* the allocator's options are in the decoder's own memory */
  gotrace__dec_release(&last, d, sizeof *d);
}

GOTRACE__DEFINE const gotrace_decoder_failure *gotrace_decoder_error(const gotrace_decoder *d) {
  static const gotrace_decoder_failure none = {
      GOTRACE_ERROR_ARGUMENT, 0, NULL, "no decoder: not opened, or out of memory", {0}};
  return d ? &d->failure : &none;
}

GOTRACE__DEFINE void gotrace_decoder_get_info(const gotrace_decoder *d, gotrace_decoder_info *info) {
  if (info && d) *info = d->info;
  else if (info) memset(info, 0, sizeof *info);
}

GOTRACE__DEFINE bool gotrace_decoder_string(const gotrace_decoder *d, uint64_t id, const char **data, size_t *size) {
  return data && size && gotrace__dec_string(d, id, data, size);
}

GOTRACE__DEFINE size_t gotrace_decoder_stack(const gotrace_decoder *d, uint64_t id, gotrace_frame *frames,
                                             size_t capacity) {
  return d ? gotrace__dec_stack(d, id, 0, frames, frames ? capacity : 0) : 0;
}

GOTRACE__DEFINE bool gotrace_decoder_change(gotrace_decoder *d, const gotrace_event *event, gotrace_change *change) {
  bool told;
  if (!d || !event || !change || d->options.raw || d->failure.result) return false;
  told = gotrace__tell(d, event, change);
  if (!d->failure.result) return told;
  d->result = d->failure.result; /* no memory: the next call reports it */
  d->fast = false;
  return false;
}

GOTRACE__DEFINE int64_t gotrace_decoder_number(const gotrace_decoder *d, unsigned object, uint64_t id) {
  uint32_t i = 0;
  if (d && object == GOTRACE_OBJECT_GO) i = gotrace__map_get(d, &d->told_gos, id);
  if (d && object == GOTRACE_OBJECT_PROC) i = gotrace__map_get(d, &d->told_procs, id);
  return i ? (int64_t)i - 1 : GOTRACE_NO_ID;
}

GOTRACE__DEFINE bool gotrace_decoder_entry(const gotrace_decoder *d, int64_t number, gotrace_frame *frame) {
  const gotrace__told *of = d && number >= 0 && (uint64_t)number < d->told_count ? &d->tolds[number] : NULL;
  if (!frame) return false;
  memset(frame, 0, sizeof *frame);
  frame->function = frame->file = "";
  if (!of || !of->function) return false;
  frame->pc = of->pc;
  frame->line = of->line;
  gotrace__told_show(d, of->function, &frame->function, &frame->function_size);
  if (of->file) gotrace__told_show(d, of->file, &frame->file, &frame->file_size);
  return true;
}

GOTRACE__DEFINE bool gotrace_decoder_function(const gotrace_decoder *d, int64_t number, const char **data,
                                              size_t *size) {
  gotrace_frame frame;
  bool known = gotrace_decoder_entry(d, number, &frame);
  if (!data || !size) return false;
  *data = frame.function;
  *size = frame.function_size;
  return known;
}

/* Reports a truncated trace as truncated even if its events fail first, if the missing data may be the cause. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__dec_blame_truncation(gotrace_decoder *d, gotrace_result result) {
  const gotrace_decoder_failure first = d->failure;
  size_t used = strlen(d->pending.message);
  bool may = first.result == GOTRACE_ERROR_ORDER || first.result == GOTRACE_ERROR_STATE ||
             first.result == GOTRACE_ERROR_STATUS || first.result == GOTRACE_ERROR_STRING ||
             first.result == GOTRACE_ERROR_STACK;
  if (d->pending.result != GOTRACE_ERROR_TRUNCATED || !may) return result;
  d->failure = d->pending;
  snprintf(d->failure.message + used, sizeof d->failure.message - used, "; before that: %s", first.message);
  return GOTRACE_ERROR_TRUNCATED;
}

/* Counts an event, or ends decoding: all later calls return this result. */
GOTRACE__FN inline gotrace_result gotrace__dec_finish(gotrace_decoder *d, gotrace_result result) {
  if (GOTRACE__LIKELY(result == GOTRACE_OK)) {
    d->info.events++;
  } else {
    if (result != GOTRACE_END_OF_TRACE) result = gotrace__dec_blame_truncation(d, result);
    d->result = result;
    d->fast = false;
    d->batch_at = d->batch_end = d->batch_whole = NULL;
  }
  return result;
}

GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v1_next_counted(gotrace_decoder *d, gotrace_event *event) {
  gotrace_result result = gotrace__v1_next_lifted(d, event);
  return gotrace__dec_finish(d, result == GOTRACE_OK && event->time > d->until ? GOTRACE_END_OF_TRACE : result);
}

/* The next event of any kind of trace: the slow path. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__dec_next(gotrace_decoder *d, gotrace_event *event) {
  gotrace_result result = d->result;
  bool v1 = d->version < GOTRACE_GO_1_22;
  if (result) return result;
  if (d->options.raw) {
    if (v1) result = gotrace__v1_next_raw(d, event);
    else if (d->batch_at == d->batch_end) result = gotrace__v2_next_raw_batch(d, event);
    else result = gotrace__v2_next_raw_event(d, event);
  } else if (!v1) {
    result = gotrace__v2_next(d, event);
  } else if (d->file) {
    result = gotrace__v1_next_implied(d, event);
  } else if ((result = gotrace__v1_prepare(d)) == GOTRACE_OK) {
    d->fast = true;
    return gotrace__v1_next_counted(d, event);
  }
  return gotrace__dec_finish(d, result);
}

/* ---- Parts: see gotrace__part_begin_thread ---- */

GOTRACE__DEFINE gotrace_result gotrace_decoder_open_part(gotrace_decoder *whole, gotrace_decoder **part) {
  gotrace__dec_span span;
  gotrace__tails tails;
  gotrace_decoder *d;
  gotrace_result result;
  if (!part) return GOTRACE_ERROR_ARGUMENT;
  *part = NULL;
  if (!whole) return GOTRACE_ERROR_ARGUMENT;
  if (whole->version < GOTRACE_GO_1_22 || whole->options.raw || whole->options.lenient || whole->options.from ||
      whole->options.until || (whole->options.read && !whole->options.seekable))
    return GOTRACE_END_OF_TRACE;
  if ((result = gotrace_decoder_open(&d, &whole->options)) != GOTRACE_OK) return gotrace_decoder_close(d), result;
  d->hopping = true;
  do { /* skips a generation, and notes in `whole` where the next one begins */
    if (whole->scout) gotrace__v2_seek(d, whole->scout);
    d->last_time = d->part_time = whole->scout_time;
    memset(&tails, 0, sizeof tails);
    if (!gotrace__v2_hop(d, &span, &tails, NULL)) return gotrace_decoder_close(d), GOTRACE_END_OF_TRACE;
    whole->scout = d->offset;
    whole->scouted++;
    whole->scout_time = gotrace__v2_last_time(d, &tails);
    memset(&d->failure, 0, sizeof d->failure);
  } while (whole->scouted == 1); /* the first generation has no part */
  d->hopping = false;
  gotrace__v2_seek(d, span.offset);
  d->part_offset = span.offset;
  d->seed = whole->seed; /* names of regions are compared by their hashes */
  d->syncs = whole->scouted - 1;
  d->part = true;
  d->first_generation = GOTRACE__NOBODY;
  *part = d;
  return GOTRACE_OK;
}

GOTRACE__DEFINE bool gotrace_decoder_between(const gotrace_decoder *d) {
  return d && !d->result && d->heap_count == 0 && d->sample_given == d->sample_count &&
         d->queue_given == d->queue_count && d->experiment_given == d->experiment_count;
}

/* Whether the regions from before the part that it ended were the innermost open ones of their goroutines. If so,
 * removes them from `whole`; otherwise changes nothing. In `whole`, order_status counts the removed regions. */
GOTRACE__FN bool gotrace__part_fits_regions(gotrace_decoder *whole, const gotrace_decoder *part) {
  size_t i;
  bool fits = true;
  for (i = 0; i < part->taken_count; i++) {
    const gotrace__dec_taken *t = &part->takens[i];
    gotrace__dec_go *g = gotrace__dec_find_go(whole, part->gos[t->go].id);
    if (!g->region_count) continue;
    fits = g->order_status < UINT8_MAX && gotrace__dec_same_region(&g->regions[g->region_count - 1], &t->mark);
    if (!fits) break;
    g->region_count--; /* the mark stays in the array, so that this can be undone */
    g->order_status++;
  }
  for (i = 0; i < part->taken_count; i++) {
    gotrace__dec_go *g = gotrace__dec_find_go(whole, part->gos[part->takens[i].go].id);
    if (!fits) g->region_count += g->order_status;
    g->order_status = 0;
  }
  return fits;
}

/* Whether all assumptions of the part hold. If not, nothing has changed; see gotrace__part_fits_regions. */
GOTRACE__FN bool gotrace__part_fits(gotrace_decoder *whole, const gotrace_decoder *part) {
  size_t i;
  if (gotrace__dec_find_go(whole, GOTRACE__NOBODY)) return false; /* see gotrace__v2_go_create */
  for (i = 0; i < part->go_count; i++) {
    const gotrace__dec_go *g = &part->gos[i], *before = gotrace__dec_find_go(whole, g->id);
    if (g->created && (!before || before->status != g->order_status || before->of.v2.stw_count ||
                       (g->last != GOTRACE__PART_UNKNOWN && before->assist != (g->last != 0))))
      return false;
    if (g->fresh && before) return false;
    if (g->of.v2.stw_count) return false; /* the part ends while the world is stopped */
  }
  for (i = 0; i < part->proc_count; i++) {
    const gotrace__dec_proc *p = &part->procs[i], *before = gotrace__dec_find_proc(whole, p->id);
    if (!before || before->status != p->begin_status ||
        (p->begin_sweep != GOTRACE__PART_UNKNOWN && before->sweep != (p->begin_sweep != 0)))
      return false;
  }
  for (i = 0; i < part->cursor_count; i++) {
    const gotrace__cursor *c = &part->cursors[i];
    const gotrace__cursor *before = gotrace__dec_find_cursor(whole, c->id);
    if (c->id == GOTRACE__NOBODY) continue;
    if (c->begin_known && (before ? before->g : GOTRACE_NO_ID) != c->begin_g) return false;
    if (c->begin_p_known && (before ? before->p : GOTRACE_NO_ID) != c->begin_p) return false;
    if (c->begin_seen && (!before || !before->seen)) return false;
  }
  for (i = 0; i < part->task_count; i++)
    if (part->tasks[i].newer && gotrace__dec_find_task(whole, part->tasks[i].id)) return false;
  if (part->begin_gc && !(whole->gc == 0 && part->begin_gc == 1) &&
      (whole->gc != part->begin_gc || whole->gc_sequence != part->begin_gc_sequence))
    return false;
  return gotrace__part_fits_regions(whole, part);
}

GOTRACE__FN bool gotrace__part_move_gos(gotrace_decoder *whole, const gotrace_decoder *part) {
  size_t i;
  for (i = 0; i < part->go_count; i++) {
    const gotrace__dec_go *from = &part->gos[i];
    uint32_t count = from->region_count; /* they follow those still open in the whole */
    gotrace__dec_go *g = from->created ? gotrace__dec_find_go(whole, from->id) : NULL;
    if (from->status == GOTRACE__G_GONE) {
      if (g && gotrace__dec_remove_go(whole, g)) return false;
      continue;
    }
    if (!g && !(g = gotrace__dec_add_go(whole, from->id, from->status))) return false;
    g->status = from->status;
    if (from->last != GOTRACE__PART_UNKNOWN) g->assist = from->assist;
    g->of.v2.generation = from->of.v2.generation;
    g->sequence = from->sequence;
    if (!count) continue;
    if (!gotrace__dec_room(whole, &g->regions, g->region_count, &g->region_capacity, count, sizeof *g->regions))
      return false;
    memcpy(g->regions + g->region_count, from->regions, count * sizeof *g->regions);
    g->region_count += count;
  }
  return true;
}

GOTRACE__FN bool gotrace__part_move_threads(gotrace_decoder *whole, const gotrace_decoder *part) {
  size_t i;
  for (i = 0; i < part->cursor_count; i++) {
    const gotrace__cursor *from = &part->cursors[i];
    gotrace__cursor *c = gotrace__dec_get_cursor(whole, from->id);
    if (!c) return false;
    if (from->id == GOTRACE__NOBODY) continue;
    c->seen |= from->seen;
    if (from->begin_known) c->g = from->g, c->g_index = 0;
    if (from->begin_p_known) c->p = from->p, c->p_index = 0;
  }
  for (i = 0; i < part->proc_count; i++) {
    const gotrace__dec_proc *from = &part->procs[i];
    gotrace__dec_proc *p = gotrace__dec_find_proc(whole, from->id);
    p->status = from->status;
    p->generation = from->generation;
    p->sequence = from->sequence;
    if (from->begin_sweep != GOTRACE__PART_UNKNOWN) p->sweep = from->sweep;
    if (from->g < part->cursor_count) p->g = gotrace__map_get(whole, &whole->cursor_map, part->cursors[from->g].id) - 1;
  }
  return true;
}

GOTRACE__FN bool gotrace__part_move_tasks(gotrace_decoder *whole, const gotrace_decoder *part) {
  size_t i;
  for (i = 0; i < part->task_count; i++) {
    const gotrace__dec_task *from = &part->tasks[i];
    gotrace__dec_task *old = from->older ? gotrace__dec_find_task(whole, from->id) : NULL;
    if (old) {
      gotrace__dec_release(whole, old->name, old->name_size);
      if (gotrace__dec_remove_task(whole, old)) return false;
    }
    if (!from->ended && gotrace__dec_add_task(whole, NULL, from->id, from->parent, from->name, from->name_size))
      return false;
  }
  return true;
}

GOTRACE__DEFINE bool gotrace_decoder_join(gotrace_decoder *whole, gotrace_decoder *part) {
  if (!whole || !part || !part->part || part->result != GOTRACE_END_OF_TRACE || part->pending.result ||
      part->final_sync || !gotrace_decoder_between(whole) || !whole->in_generation || whole->final_sync ||
      whole->pending.result || !whole->first_generation || whole->offset != part->part_offset ||
      whole->syncs + 1 != part->syncs || whole->last_time < part->part_time || whole->last_time > INT64_MAX / 2 ||
      part->last_time > INT64_MAX / 2 ||
      (whole->version < GOTRACE_GO_1_26 && whole->generation + 1 != part->generation) ||
      part->generation == whole->first_generation || /* its number is used again: other rules apply */
      part->generation == part->first_generation ||  /* GOTRACE__NOBODY: likewise */
      whole->attempts + part->attempts > GOTRACE__MOST_ATTEMPTS(whole) || !gotrace__part_fits(whole, part))
    return false;
  gotrace__dec_free_generation(whole);
  gotrace__v2_seek(whole, part->offset);
  /* If memory runs out now, the whole is half changed and can neither continue nor go back: it fails. */
  if (!gotrace__part_move_gos(whole, part) || !gotrace__part_move_threads(whole, part) ||
      !gotrace__part_move_tasks(whole, part)) {
    whole->result = whole->failure.result;
    return false;
  }
  if (part->begin_gc) whole->gc = part->gc, whole->gc_sequence = part->gc_sequence;
  whole->last_time += (int64_t)(part->info.events - part->untimed);
  if (whole->last_time < part->last_time) whole->last_time = part->last_time;
  whole->generation = whole->info.generation = part->generation;
  whole->mul = part->mul;
  whole->info.nanoseconds_per_tick = part->info.nanoseconds_per_tick;
  whole->syncs = part->syncs;
  whole->attempts += part->attempts;
  whole->info.events += part->info.events;
  return true;
}

/* The fast paths of gotrace_decoder_next, for common events. They make only tail calls, so as to save no registers.
 *
 * Raw, v2: for batches with more than GOTRACE__EVENT_BYTES left, so that reading needs no bounds checks. Fields are
 * stored as soon as they are known, so that few registers are in use at a time. */
GOTRACE__FN inline gotrace_result gotrace__v2_next_raw_fast(gotrace_decoder *d, gotrace_event *event) {
  const uint8_t *at = d->batch_at;
  const gotrace__kind *k = &d->kinds[*at++];
  uint64_t dt;
  if (!GOTRACE__LIKELY(k->timed && gotrace__take_number(&at, &dt))) return gotrace__dec_next(d, event);
  gotrace__raw_begin(d, event, k, (uint64_t)(uintptr_t)d->batch_at + d->batch_offset, dt);
  gotrace__dec_clear(event);
  if (!GOTRACE__LIKELY(gotrace__take_numbers(&at, event->args, k->args))) {
    d->tick -= dt;
    return gotrace__dec_next(d, event);
  }
  event->stack = gotrace__dec_number(event, k->stack);
  d->batch_at = at;
  d->info.events++;
  return GOTRACE_OK;
}

/* Ordered, v2. Not inlined into gotrace_decoder_next, which would then save registers for it in raw traces too. */
GOTRACE__FN gotrace_result gotrace__v2_next_found(gotrace_decoder *d, gotrace_event *event);

GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v2_next_fast(gotrace_decoder *d, gotrace_event *event) {
  gotrace__cursor *c = &d->cursors[d->heap[0].cursor];
  int64_t g = c->g;
  if (!GOTRACE__LIKELY(gotrace__v2_order_fast(d, c))) return gotrace__v2_next_found(d, event);
  *event = c->next->event;
  event->p = c->p;
  event->g = g;
  if (!GOTRACE__LIKELY(event->time > d->last_time)) event->time = gotrace__dec_later(d->last_time, 1);
  d->last_time = event->time;
  if (!GOTRACE__LIKELY(event->time <= d->until)) return gotrace__dec_finish(d, GOTRACE_END_OF_TRACE);
  d->info.events++;
  if (!GOTRACE__LIKELY(c->left > 1)) {
    d->fast = false;
    return gotrace__v2_advance_front(d, 0);
  }
  c->left--;
  gotrace__heap_down(d->heap, d->heap_count, 0, (++c->next)->event.time, false);
  return GOTRACE_OK;
}

/* The fast path failed. Tries again if its goroutine became known after the event was read, as most do in a part. */
GOTRACE__FN GOTRACE__NOINLINE gotrace_result gotrace__v2_next_found(gotrace_decoder *d, gotrace_event *event) {
  gotrace__ahead *a = d->cursors[d->heap[0].cursor].next;
  uint32_t go = a->go;
  if (!(d->kinds[a->event.kind].rule->does & GOTRACE__R_NAMED)) return gotrace__dec_next(d, event);
  a->go = gotrace__map_get(d, &d->go_map, a->event.args[0]);
  return a->go && a->go != go ? gotrace__v2_next_fast(d, event) : gotrace__dec_next(d, event);
}

GOTRACE__DEFINE gotrace_result gotrace_decoder_next(gotrace_decoder *d, gotrace_event *event) {
  if (GOTRACE__UNLIKELY(!d || !event)) return GOTRACE_ERROR_ARGUMENT;
  if ((uintptr_t)d->batch_at < (uintptr_t)d->batch_whole) return gotrace__v2_next_raw_fast(d, event);
  if (!GOTRACE__LIKELY(d->fast)) return gotrace__dec_next(d, event);
  return d->version < GOTRACE_GO_1_22 ? gotrace__v1_next_counted(d, event) : gotrace__v2_next_fast(d, event);
}

/* Ordered, v2: returns pointers to the events where they were read ahead. Stops before the last event read ahead of a
 * thread, because reading more would overwrite the others. Returns their number. */
GOTRACE__FN size_t gotrace__v2_next_read(gotrace_decoder *d, const gotrace_event **events, size_t most) {
  size_t n;
  for (n = 0; n < most; n++) {
    gotrace__cursor *c = &d->cursors[d->heap[0].cursor];
    gotrace_event *event = &c->next->event;
    int64_t g = c->g;
    if (!GOTRACE__LIKELY(c->left > 1 && event->time < d->until && d->last_time < d->until &&
                         gotrace__v2_order_fast(d, c)))
      break;
    event->p = c->p;
    event->g = g;
    if (!GOTRACE__LIKELY(event->time > d->last_time)) event->time = gotrace__dec_later(d->last_time, 1);
    d->last_time = event->time;
    events[n] = event;
    c->left--;
    gotrace__heap_down(d->heap, d->heap_count, 0, (++c->next)->event.time, false);
  }
  d->info.events += n;
  return n;
}

GOTRACE__DEFINE gotrace_result gotrace_decoder_next_batch(gotrace_decoder *d, const gotrace_event **events,
                                                          size_t *count) {
  gotrace_result result;
  size_t most;
  if (!d || !events || !count) return GOTRACE_ERROR_ARGUMENT;
  most = *count;
  *count = 0;
  if (!most) return GOTRACE_ERROR_ARGUMENT;
  if (d->fast && d->version >= GOTRACE_GO_1_22) *count = gotrace__v2_next_read(d, events, most);
  if (*count) return GOTRACE_OK;
  if ((result = gotrace_decoder_next(d, &d->single)) != GOTRACE_OK) return result;
  events[(*count)++] = &d->single;
  return GOTRACE_OK;
}

#endif /* GOTRACE_NO_DECODER */

#ifdef __cplusplus
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
}
#endif

#pragma pack(pop)
#endif /* GOTRACE_IMPLEMENTATION */

/* Calls that carry no call site: with GOTRACE_DEBUG, each one first reports its place. All calls that can find a misuse
 * are here, or take a site. */
#if GOTRACE_DEBUG && GOTRACE_CALL_SITES && GOTRACE__GNU && !GOTRACE_DISABLE
#undef GOTRACE__FROM_HERE
#define GOTRACE__FROM_HERE(call) (gotrace_debug_here(GOTRACE_HERE), call)
#define gotrace_thread_begin(...) GOTRACE__FROM_HERE(gotrace_thread_begin(__VA_ARGS__))
#define gotrace_thread_begin_as(...) GOTRACE__FROM_HERE(gotrace_thread_begin_as(__VA_ARGS__))
#define gotrace_thread_rename(...) GOTRACE__FROM_HERE(gotrace_thread_rename(__VA_ARGS__))
#define gotrace_thread_rename_n(...) GOTRACE__FROM_HERE(gotrace_thread_rename_n(__VA_ARGS__))
#define gotrace_thread_end(...) GOTRACE__FROM_HERE(gotrace_thread_end(__VA_ARGS__))
#define gotrace_proc_create(...) GOTRACE__FROM_HERE(gotrace_proc_create(__VA_ARGS__))
#define gotrace_proc_destroy(...) GOTRACE__FROM_HERE(gotrace_proc_destroy(__VA_ARGS__))
#define gotrace_proc_start(...) GOTRACE__FROM_HERE(gotrace_proc_start(__VA_ARGS__))
#define gotrace_proc_stop(...) GOTRACE__FROM_HERE(gotrace_proc_stop(__VA_ARGS__))
#define gotrace_proc_steal(...) GOTRACE__FROM_HERE(gotrace_proc_steal(__VA_ARGS__))
#define gotrace_go_start(...) GOTRACE__FROM_HERE(gotrace_go_start(__VA_ARGS__))
#define gotrace_go_end(...) GOTRACE__FROM_HERE(gotrace_go_end(__VA_ARGS__))
#define gotrace_go_syscall_end(...) GOTRACE__FROM_HERE(gotrace_go_syscall_end(__VA_ARGS__))
#define gotrace_go_syscall_end_blocked(...) GOTRACE__FROM_HERE(gotrace_go_syscall_end_blocked(__VA_ARGS__))
#define gotrace_go_end_in_syscall(...) GOTRACE__FROM_HERE(gotrace_go_end_in_syscall(__VA_ARGS__))
#define gotrace_go_label(...) GOTRACE__FROM_HERE(gotrace_go_label(__VA_ARGS__))
#define gotrace_go_label_n(...) GOTRACE__FROM_HERE(gotrace_go_label_n(__VA_ARGS__))
#define gotrace_go_rename(...) GOTRACE__FROM_HERE(gotrace_go_rename(__VA_ARGS__))
#define gotrace_go_rename_n(...) GOTRACE__FROM_HERE(gotrace_go_rename_n(__VA_ARGS__))
#define gotrace_go_timer(...) GOTRACE__FROM_HERE(gotrace_go_timer(__VA_ARGS__))
#define gotrace_go_continue(...) GOTRACE__FROM_HERE(gotrace_go_continue(__VA_ARGS__))
#define gotrace_go_stack_bounds(...) GOTRACE__FROM_HERE(gotrace_go_stack_bounds(__VA_ARGS__))
#define gotrace_go_self(...) GOTRACE__FROM_HERE(gotrace_go_self(__VA_ARGS__))
#define gotrace_wait_end(...) GOTRACE__FROM_HERE(gotrace_wait_end(__VA_ARGS__))
#define gotrace_nest_end(...) GOTRACE__FROM_HERE(gotrace_nest_end(__VA_ARGS__))
#define gotrace_gc_end(...) GOTRACE__FROM_HERE(gotrace_gc_end(__VA_ARGS__))
#define gotrace_gc_scan_begin(...) GOTRACE__FROM_HERE(gotrace_gc_scan_begin(__VA_ARGS__))
#define gotrace_gc_scan_end(...) GOTRACE__FROM_HERE(gotrace_gc_scan_end(__VA_ARGS__))
#define gotrace_stw_end(...) GOTRACE__FROM_HERE(gotrace_stw_end(__VA_ARGS__))
#define gotrace_gc_sweep_begin(...) GOTRACE__FROM_HERE(gotrace_gc_sweep_begin(__VA_ARGS__))
#define gotrace_gc_sweep_end(...) GOTRACE__FROM_HERE(gotrace_gc_sweep_end(__VA_ARGS__))
#define gotrace_gc_mark_assist_end(...) GOTRACE__FROM_HERE(gotrace_gc_mark_assist_end(__VA_ARGS__))
#define gotrace_heap_alloc(...) GOTRACE__FROM_HERE(gotrace_heap_alloc(__VA_ARGS__))
#define gotrace_heap_goal(...) GOTRACE__FROM_HERE(gotrace_heap_goal(__VA_ARGS__))
#define gotrace_span(...) GOTRACE__FROM_HERE(gotrace_span(__VA_ARGS__))
#define gotrace_span_alloc(...) GOTRACE__FROM_HERE(gotrace_span_alloc(__VA_ARGS__))
#define gotrace_span_free(...) GOTRACE__FROM_HERE(gotrace_span_free(__VA_ARGS__))
#define gotrace_heap_object(...) GOTRACE__FROM_HERE(gotrace_heap_object(__VA_ARGS__))
#define gotrace_heap_object_alloc(...) GOTRACE__FROM_HERE(gotrace_heap_object_alloc(__VA_ARGS__))
#define gotrace_heap_object_free(...) GOTRACE__FROM_HERE(gotrace_heap_object_free(__VA_ARGS__))
#define gotrace_goroutine_stack(...) GOTRACE__FROM_HERE(gotrace_goroutine_stack(__VA_ARGS__))
#define gotrace_goroutine_stack_alloc(...) GOTRACE__FROM_HERE(gotrace_goroutine_stack_alloc(__VA_ARGS__))
#define gotrace_goroutine_stack_free(...) GOTRACE__FROM_HERE(gotrace_goroutine_stack_free(__VA_ARGS__))
#endif

/*
 * MIT License
 *
 * Copyright (c) 2026 the gotrace authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
 * documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
 * rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
 * permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
 * Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
 * WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
 * COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
 * OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
