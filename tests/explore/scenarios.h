/* scenarios.h - the hand-written scenarios of tests/explore/explore.c: name, first and last format, text (see
 * calls.h). The first ones come from programs whose traces were rejected. */

/* Plain threads that wait with a time-out, a waker, the end. */
{"timed", 1008, 1026, "1 self0 wait; on || 1 waitend wait; 2 unblock0; 3 off"},
    {"timed2", 1008, 1026,
     "1 self0 wait; 2 self1 wait; on || 1 waitend wait; 2 waitend wait; 3 unblock0 unblock1; 4 off"},
    {"timed-cut", 1008, 1026, "1 self0 wait; on || 1 waitend wait waitend; 2 unblock0 unblock0; 3 advance"},
    /* Two threads start, block and unblock the same goroutines. */
    {"gg", 1008, 1026,
     "create0 create1 pcreate0 pcreate1; 1 pstart0; 2 pstart1; on || 1 start0 block; 2 unblock0 start0; 3 off"},
    {"gg-cut", 1008, 1026,
     "create0 create1 pcreate0 pcreate1; 1 pstart0; 2 pstart1; on || 1 start0 block start1; 2 unblock0 "
     "start0; 3 advance"},
    {"gg-late", 1008, 1026,
     "create0 create1 pcreate0 pcreate1; 1 pstart0; 2 pstart1 || 1 start0 block start1; 2 unblock0 start0; 3 "
     "on || 1 yield; 2 yield"},
    /* Two threads start and stop the same procs. */
    {"pp", 1008, 1026, "pcreate0 pcreate1; on || 1 pstart0 pstop; 2 pstart0 pstop; 3 off"},
    {"pp-cut", 1008, 1026, "pcreate0 pcreate1; on || 1 pstart0 pstart1 pstop; 2 pstart1 pstart0; 3 advance"},
    {"pp-late", 1008, 1026, "pcreate0 pcreate1 || 1 pstart0 pstop; 2 pstart0 pstop; 3 on"},
    /* A system call that is older than the trace loses its proc. */
    {"steal", 1008, 1026, "pcreate0 create0; 1 pstart0 start0 syscall; on advance || 1 sysblocked; 2 steal0"},
    {"steal-end", 1008, 1026,
     "pcreate0 create0; 1 pstart0 start0 syscall; on advance || 1 sysend block; 2 steal0 pstart0; 3 off"},
    {"steal-twice", 1008, 1026,
     "pcreate0 create0; on; 1 pstart0 start0 syscall || 1 sysblocked pstart0; 2 steal0 pstart0; 3 steal0"},
    {"steal-cut", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysend yield; 2 steal0 pstart0 start1; 3 "
     "advance"},
    {"steal-late", 1008, 1026,
     "pcreate0 create0 create1; 1 pstart0 start0 syscall || 1 sysend yield; 2 steal0 pstart0 start1; 3 on || "
     "1 yield; 2 yield"},
    {"handoff", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0 pstart0 start1; 3 "
     "pstart0 start0"},
    /* A silent goroutine in a mark assist is woken while a generation begins. */
    {"handoff-clean", 1008, 1026,
     "clean pcreate0 create0; on; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0; 3 advance"},
    {"steal-clean", 1008, 1026, "clean pcreate0 create0; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0; 3 on"},
    /* Another thread destroys the proc that a system call has lost, and its record is used again. */
    {"lost-destroyed", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0 syscall || 1 sysblocked post1 pstart1 pstop; 2 await1 "
     "pdestroy0 pcreate2 pstart2 pstop; 3 advance"},
    {"lost-destroyed-late", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0 syscall || 1 sysblocked post1 pstart1 pstop; 2 await1 "
     "pdestroy0 pcreate2 pstart2 pstop; 3 on"},
    /* ... and is held up before a cut shows the proc as it was when the trace began. */
    {"lost-destroyed-listed", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall || 1 sysblocked post1; 2 await1 pdestroy0 pcreate2; 3 on "
     "advance"},
    {"lost-destroyed-stopped", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall || 1 pstop post1; 2 await1 pdestroy0 pcreate2; 3 on advance"},
    {"lost-destroyed-start", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked start1 end; 2 pdestroy0 pcreate2 pstart2 "
     "pstop; 3 advance"},
    /* A thread reports the loss of its proc while that is stolen, and started by another thread. */
    {"steal-started", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0 syscall || 1 sysblocked pstart1; 2 steal0 pstart0; 3 on"},
    /* A thread that introduces itself says that it has the proc, and is held up: the steal, and a system call of the
     * thread that has the proc then, are read first. */
    {"steal-introduced", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 syscall; on || 1 sysblocked; 2 steal0 pstart0 start1 syscall; 3 "
     "advance || 2 sysend"},
    /* It is held up before it says whether the proc sweeps, and the thief's call changes that. */
    {"steal-swept", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 syscall; on || 1 sysblocked; 2 steal0 pstart0 start1 sweep"},
    {"steal-sweeps", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 sweep syscall; on || 1 sysblocked; 2 steal0 pstart0 start1 "
     "sweepend"},
    /* A goroutine ends in a system call whose proc is stolen then, and started by another thread. */
    {"steal-ended", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 syscall || 1 endsys; 2 steal0 pstart0 start1 syscall || on; 2 "
     "sysblocked; 3 steal0"},
    {"steal-ends", 1008, 1026,
     "clean pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 endsys; 2 steal0 pstart0 start1 || 2 log"},
    /* A thread that has lost its proc starts another before its system call ends, as Go does. */
    {"found", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0 syscall || 1 pstart1 sysblocked start0; 2 steal0 pstart0"},
    {"found-logs", 1011, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0 syscall; 2 steal0 || 1 pstart1 log sysblocked start0; 3 "
     "advance"},
    {"found-late", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0 syscall; 2 steal0; 1 pstart1; on || 1 sysblocked start0; 3 "
     "advance"},
    {"found-listed", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0 syscall; 2 steal0 || 1 pstart1; 3 on advance || 1 sysblocked "
     "start0"},
    /* The end of a system call waits for a steal that does not come, and holds up what its thread says of another. */
    {"steal-vain", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0 create1 create2 syscall; 2 pstart1 || 1 sysblocked rename1 "
     "timer2 post1; 2 await1 start1 end start2"},
    {"steal-full", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0 create1 syscall; 2 pstart1 || 1 sysblocked rename1 post1; "
     "2 "
     "await1 start1 end sizelimit exit; 3 advance"},
    /* The same, and memory runs out in the middle of the round. */
    {"steal-lack", 1011, 1026,
     "pcreate0 pcreate1 create0; on; 1 pstart0 start0 create1 syscall; 2 pstart1 lack || 1 sysblocked rename1 post1; 2 "
     "await1 start1 task1 end exit; 3 advance"},
    /* A worker that has lost its proc becomes a plain thread, and does not take the proc back. */
    {"steal-plain", 1008, 1026,
     "clean pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked beginas1 log; 2 steal0 pstart0"},
    {"steal-self", 1008, 1026,
     "clean pcreate0 create0; on; 1 pstart0 start0 syscall || 1 sysblocked self1 log; 2 steal0 pstart0"},
    /* A call is under way when the trace begins, and a cut shows its thread as it was before. */
    {"listed-late", 1008, 1026, "clean pcreate0 create0 create1; 1 pstart0 start0 || 1 yield start1; 3 on advance"},
    {"listed-proc", 1008, 1026, "clean pcreate0 pcreate1; 1 pstart0 || 1 pstop pstart1; 3 on advance"},
    {"listed-syscall", 1008, 1026, "clean pcreate0 create0; 1 pstart0 start0 || 1 syscall; 3 on advance || 2 steal0"},
    {"listed-own", 1008, 1026, "clean; 1 self0 || 1 wait; 3 on advance || 2 unblock0; 1 waitend"},
    {"listed-moved", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0; 2 pstart1 || 1 yield; 3 on advance || 2 start0"},
    /* The list has the thread's goroutine, and not yet its proc (with a stale read). */
    {"listed-half", 1008, 1026,
     "clean pcreate0 create0 || 1 pstart0 start0; 2 on advance || 1 yield pstop || 2 pstart0"},
    {"listed-handed", 1008, 1026, "clean pcreate0; 1 pstart0 || 1 pstop; 3 on advance || 2 pstart0"},
    {"listed-woken", 1008, 1026, "clean pcreate0 createblocked0; 2 pstart0 || 1 unblock0; 3 on advance || 2 start0"},
    {"listed-lost", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall sysblocked || 3 on advance; 2 steal0"},
    {"listed-sweep", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 sweep syscall || 3 on advance; 2 steal0 pstart0 start1 sweepend "
     "|| "
     "1 sysblocked"},
    /* A waiter and its waker tell of it at the same time. */
    {"listed-renamed", 1008, 1026, "clean; 1 self0 wait; 2 self1; on || 1 trename; 2 unblock0; 3 advance || 1 waitend"},
    {"listed-timed", 1008, 1026, "clean; 1 self0 wait; 2 self1; on || 1 waitend; 2 unblock0; 3 advance || 1 log"},
    {"listed-numbered", 1008, 1026,
     "clean; on; 1 self0 wait waitend wait waitend wait waitend; 2 self1; off read; 1 wait; on || 1 waitend; 2 "
     "unblock0; "
     "3 advance"},
    {"listed-ended", 1008, 1026, "clean pcreate0 create0; 1 pstart0 start0 || 1 end create1 start1; 3 on advance"},
    {"listed-created", 1008, 1026, "clean pcreate0; 1 pstart0 || 1 create0 start0; 3 on advance"},
    {"listed-waits", 1008, 1026,
     "clean pcreate0 pcreate1 create0 createblocked1; 1 pstart0 start0; 2 pstart1 || 1 switch1 yield; 3 on advance || "
     "2 "
     "unblock0"},
    {"listed-stolen", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0 pstart0 start1 syscall sysend "
     "yield pstop; 3 on || 1 pstart0"},
    {"listed-again", 1022, 1026, "1 self0 || 1 exit; 3 on || 2 log; 3 advance"},
    /* A task begins, and another thread adds a name, while a trace starts or is read. */
    {"task-late", 1011, 1026, "clean; 1 self0 || 1 task1 taskend1; 3 on"},
    {"same-name", 1011, 1026, "clean on; 1 self0; 2 self1 || 1 region0 regionend0; 2 region0 regionend0; 3 tryread"},
    {"listed-switched", 1008, 1026,
     "clean pcreate0 pcreate1 create0 createblocked1; 1 pstart0 start0; 2 pstart1 || 1 switch1; 3 on advance || 2 "
     "unblock0 start0; 1 block"},
    {"listed-destroyed", 1008, 1026, "clean pcreate0 create0; 1 pstart0 start0 || 1 yield; 3 on advance || 2 destroy0"},
    {"listed-renamed", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 || 1 yield; 3 on advance || 2 rename0 timer0"},
    {"listed-syscall-end", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall || 1 sysend block; 3 on advance || 2 unblock0"},
    {"steal-blocked", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0 pstart0 start1; 3 off"},
    {"steal-blocked-cut", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0 pstart0 start1; 3 "
     "advance"},
    {"quiet-syscall", 1008, 1026, "pcreate0 create0; 1 pstart0 start0 syscall; on || 1 sysend; 2 steal0; 3 advance"},
    {"assist", 1011, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0 assist block; 2 pstart1 start1 || 2 unblock0 "
     "yield start0 assistend; 3 advance"},
    {"assist-run", 1011, 1026,
     "pcreate0 pcreate1 create0; on; 1 pstart0 start0 assist || 1 assistend assist block; 2 unblock0; 3 "
     "advance"},
    {"sweep-cut", 1008, 1026,
     "pcreate0 create0; on; 1 pstart0 start0 sweep span || 1 sweepend sweep span; 2 steal0; 3 advance"},
    /* Two wakers and an early end. */
    {"early", 1008, 1026,
     "pcreate0 pcreate1 createblocked0 create1; on; 1 pstart0 start1 || 1 unblock0; 2 early unblock0 pstart1 "
     "start0 block"},
    {"early-limit", 1008, 1026,
     "pcreate0 pcreate1 createblocked0 create1; on; 1 pstart0 start1; limit || 1 unblock0 block; 2 unblock0 "
     "pstart1 start0 block"},
    {"limit-start", 1008, 1026,
     "pcreate0 pcreate1 create0; on limit || 1 pstart0 start0; 2 pstart1 start0; 3 unblock0"},
    /* A collection and stop-the-world beside a goroutine's end. */
    {"dead", 1022, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0 end; 2 pstart1 start1 stw || 1 gc; 2 start0"},
    {"dead-switch", 1022, 1026,
     "pcreate0 pcreate1 create0 createblocked1 createblocked2; on; 1 pstart0 start0 stw; 2 pstart1 || 1 "
     "switch1; 2 gc; 3 unblock1"},
    /* Exactly one of several wakers wakes a goroutine. */
    {"wakers", 1008, 1026, "pcreate0 createblocked0; on; 3 pstart0 || 1 unblock0; 2 unblock0; 3 start0 block"},
    {"wakers3", 1008, 1026, "createblocked0; on || 1 unblock0; 2 unblock0; 3 unblock0; 4 off"},
    {"wakers-early", 1008, 1026, "createblocked0; on || 1 unblock0; 2 unblock0; 3 early"},
    {"starters", 1008, 1026,
     "pcreate0 pcreate1 create0; on || 1 pstart0 start0 block; 2 pstart1 start0 block; 3 advance"},
    {"starters-late", 1008, 1026,
     "pcreate0 pcreate1 create0; 1 pstart0; 2 pstart1 || 1 start0 block; 2 start0 block; 3 on || 1 yield; 2 "
     "yield"},
    {"starters-silent", 1008, 1026,
     "pcreate0 pcreate1 create0; 1 pstart0; 2 pstart1 || 1 start0; 2 start0; 3 on advance"},
    {"enders-create", 1008, 1026,
     "pcreate0 pcreate1 create0; 1 pstart0 create4; 2 pstart1 create3 || 1 start0 end create1 create4; 2 "
     "start0 end create2 create3 || on; 1 start1 end start4; 2 start2 end start3"},
    {"enders", 1008, 1026,
     "pcreate0 pcreate1 create0 || 1 pstart0 start0 end; 2 pstart1 start0 end; 3 on || 1 create1 start1; 2 "
     "create2 start2"},
    {"stale", 1008, 1026,
     "pcreate0 pcreate1 create0; on; 1 pstart0 start0 end; 2 pstart1 || 1 create1 start1 block; 2 unblock0 "
     "start0; 3 off"},
    {"switches", 1008, 1026,
     "pcreate0 pcreate1 createblocked0 create1 create2; on; 1 pstart0 start1; 2 pstart1 start2 || 1 switch0 "
     "yield; 2 switchend0 block; 3 off"},
    {"forever", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 forever; 2 unblock0; 3 advance"},
    /* Reasons named by the program, concurrently with one another and with cuts. */
    {"named", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 named0 start0 named1; 2 named1; 3 "
     "advance"},
    {"named-late", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; 1 pstart0 start0; 2 pstart1 start1 || 1 named0; 2 named0 unblock1; 3 on || 1 "
     "start1 named1"},
    {"switch-for", 1008, 1026,
     "pcreate0 pcreate1 createblocked0 create1 create2; on; 1 pstart0 start1; 2 pstart1 start2 || 1 switchfor0 yield; "
     "2 switchfor0 "
     "block; 3 advance"},
    /* Waits on an address: ended by a waker, by a time-out, or by both while the next wait begins. Scenarios with
     * `clean` must not count a problem. */
    {"wait-on", 1008, 1026, "clean; 1 self0 waiton1; 2 self1 waiton1; on || 1 waitend; 2 waitend; 3 wakeone1"},
    {"wait-on-again", 1008, 1026, "clean; on; 1 self0 waiton1 || 1 waitend wait waitend; 2 wakeone1; 3 advance"},
    {"wait-on-next", 1008, 1026, "clean; on; 1 self0 waiton1 || 1 waitend wait; 2 wakeone1; 3 advance || unblock0"},
    {"wait-on-all", 1008, 1026,
     "clean; on; 1 self0 waiton1; 2 self1 waiton1 || 1 waitend waiton2; 2 waitend; 3 wakeall1; 4 off"},
    {"wait-on-two", 1008, 1026,
     "clean; on; 1 self0 waiton1; 2 self1 waiton2 || 1 waitend; 3 wakeone1 wakeone2; 4 wakeone2"},
    {"wait-on-late", 1008, 1026,
     "clean; 1 self0 || 1 waiton1 waitend; 2 wakeall1; 3 on || 1 waiton1; 2 wakeone1; 1 waitend"},
    {"wait-on-exit", 1008, 1026, "on; 1 self0 waiton1 || 1 exit; 2 wakeall1 begin waiton1; 3 wakeall1"},
    {"wait-on-unblock", 1008, 1026, "on; 1 self0 waiton1 || 1 waitend waiton1; 2 unblock0; 3 wakeone1; 4 off"},
    {"wait-on-destroy", 1008, 1026, "on; 1 self0 waiton1 || 1 waitend; 2 destroy0 create2; 3 wakeone1"},
    {"wait-on-limit", 1008, 1026, "1 self0 waiton1; 2 self1; on limit || 1 waitend; 2 wakeall1 waiton1; 3 wakeall1"},
    /* Goroutines inside a waiting or running one: beside its waker, a start, a cut, the end, another owner, a fork. */
    {"nest-wake", 1008, 1026,
     "clean; on; 1 self0 create1 waiton1 || 1 nest1 end nestend1 waitend; 2 wakeone1; 3 advance || 1 log"},
    {"nest-waits", 1008, 1026,
     "clean; on; 1 self0 create1 create2 waiton1 nest1 waiton2 || 1 nest2 end nestend2 waitend end nestend1 waitend; 2 "
     "wakeone1 wakeone2 || 1 log"},
    {"nest-late", 1008, 1026,
     "clean; 1 self0 create1 waiton1 || 1 nest1 create2 nest2 end nestend2 end nestend1 waitend; 2 wakeone1; 3 on"},
    {"nest-none-late", 1008, 1026,
     "clean; 1 self0 create1 waiton1 nestnone0 || 1 start1 wait; 3 on advance || 1 waitend end nestend0 waitend log"},
    {"nest-runs", 1008, 1026,
     "clean pcreate0 create0 create1; 1 pstart0 start0 || 1 nest1 log block nestend1 log end; 3 on || 2 self2 "
     "unblock1; "
     "1 start1"},
    {"nest-owner", 1008, 1026,
     "clean pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 await1 nest1 end nestend1; "
     "2 "
     "yield post1; 3 advance"},
    /* Inside a goroutine of a plain thread, whose proc the trace lacks, a system call is older than the trace. */
    {"nest-call", 1008, 1026, "clean create1; 1 self0 nest1 syscall; on || 1 sysend end nestend1; 3 advance"},
    /* The goroutine that waits runs on a plain thread, in place of the thread's own. */
    {"plain-runs", 1008, 1026, "clean create1; 1 self0 yield start1 wait; on || 1 waitend end start0 log; 3 advance"},
    {"nest-off", 1008, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 || 1 nest1 end nestend1; 2 off; 3 read on || 1 log end"},
    {"nest-misuse", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 || 1 nest1 nestend0 nestend1 nestend1; 2 "
     "start1 nest0 nestend0; 3 unblock0 unblock1"},
    {"nest-exit", 1008, 1026,
     "create1; on; 1 self0 waiton1 nest1 wait || 1 exit; 2 wakeall1 unblock1; 3 begin waiton1 || 3 waitend"},
    {"nest-destroy", 1008, 1026, "on; 1 self0 create1 || 1 nest1 yield nestend1; 2 destroy0 destroy1; 3 create2"},
    {"nest-fork", 1008, 1026,
     "create1; on; 1 self0 waiton1 nest1 waiton2 || 1 fork on waitend nestend1 waitend log off; 2 wakeall1 wakeall2"},
    {"nest-lack", 1023, 1023, "create1 create2; on; 1 self0 lack || 1 wait nest1 wait nest2 end nestend2 waitend end"},
    {"wait-on-fork", 1008, 1026, "1 self0 waiton1; on || 1 waitend; 3 fork wakeall1 on waiton1 wakeall1 waitend off"},
    /* The goroutine of a key has ended, and another thread makes one in its place when the key gets its next. */
    {"key-reused", 1008, 1026,
     "clean pcreate0 pcreate1; 1 pstart0 keyed0 start0 end; 2 pstart1; on || 1 create1 start1; 2 keyed0 start0 end"},
    /* Exactly one of several threads that destroy or wake a goroutine succeeds. */
    {"destroyers", 1008, 1026, "createblocked0; on || 1 destroy0; 2 destroy0; 3 unblock0"},
    {"destroyers-run", 1008, 1026,
     "pcreate0 pcreate1 create0 create1 createblocked2; on; 1 pstart0 start0; 2 pstart1 start1 || 1 destroy2 yield; 2 "
     "destroy2 "
     "block; 3 unblock2"},
    {"destroyers-late", 1008, 1026,
     "pcreate0 create0 createblocked2; 1 pstart0 start0 || 1 destroy2 create3; 2 destroy2 create4; 3 on || 1 destroy3 "
     "yield; 2 "
     "destroy4"},
    {"destroy-cut", 1008, 1026,
     "pcreate0 create0 createblocked2; on; 1 pstart0 start0 stw label || 1 destroy2 stwend yield; 2 unblock2; 3 "
     "advance"},
    {"destroy-end", 1008, 1026, "pcreate0 create0 create2; on; 1 pstart0 start0 || 1 destroy2; 2 pstart0; 3 off"},
    {"destroy-wait", 1008, 1026, "1 self0 wait; on || 1 waitend log; 2 destroy0 create1; 3 advance"},
    {"destroy-syscall", 1008, 1026,
     "pcreate0 create0; on; 1 pstart0 start0 syscall; 2 steal0; 1 sysblocked || 1 pstart0 start0; 2 destroy0; 3 "
     "advance"},
    /* Frequent calls whose call sites and goroutines are known. */
    {"usual", 1011, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0 yield start0 block unblock0 start0; 2 pstart1 "
     "start1 yield start1 || 1 block; 2 unblock0 yield; 3 off"},
    {"usual-cut", 1011, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0 yield start0 block unblock0 start0; 2 pstart1 "
     "start1 yield start1 || 1 block; 2 unblock0 yield; 3 advance"},
    {"usual-wakers", 1011, 1026,
     "pcreate0 pcreate1 create0 create1 create2; on; 1 pstart0 start0 block unblock0 start1; 1 yield start0 "
     "block start1; 2 pstart1 start2 yield start2 || 1 unblock0; 2 unblock0; 3 off"},
    {"usual-switch", 1011, 1026,
     "pcreate0 pcreate1 create0 create1 create2; on; 1 pstart0 start0 block start1 yield start1; 2 pstart1 "
     "start2 yield start2 || 1 switch0 yield; 2 switch0 yield; 3 off"},
    {"usual-steal", 1011, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 yield start0 syscall || 1 sysend yield; 2 steal0 pstart0 "
     "start1; 3 off"},
    {"usual-syscall", 1011, 1026,
     "pcreate0 create0 create1; on; 1 pstart0 start0 yield start0 || 1 syscall sysend yield; 2 steal0 pstart0 "
     "start1; 3 advance"},
    /* Threads without a proc; in v1 they share the global lane. */
    {"global", 1008, 1026, "createblocked0 createblocked1; on || 1 unblock0 unblock1; 2 unblock1 unblock0; 3 early"},
    {"global-late", 1008, 1026, "createblocked0 createblocked1 || 1 unblock0; 2 unblock1; 3 on"},
    {"global-cut", 1008, 1021, "createblocked0 createblocked1; on || 1 unblock0; 2 unblock1; 3 advance"},
    {"global-end", 1008, 1021, "createblocked0 || 1 unblock0; 2 createsys1 endsys; 3 on off"},
    {"createsys-late", 1008, 1026,
     "pcreate0 create0; 1 pstart0 start0 || 1 yield start0; 2 createsys1 endsys; 3 on || 1 yield"},
    {"late-cut", 1008, 1026,
     "pcreate0 pcreate1 create0; 1 pstart0 || 1 start0 block; 2 pstart1 unblock0 start0; 3 on advance"},
    {"idle-goroutine", 1008, 1026, "create0 createblocked1; on advance || 1 unblock1; 2 unblock0; 3 off"},
    {"tables", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 label log; 2 label log"},
    {"sites", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 site0 site1 site0; 2 site1 site0 "
     "site1; 3 advance"},
    {"starters-late3", 1008, 1026,
     "pcreate0 pcreate1 create0; 1 pstart0; 2 pstart1 || 1 start0 yield start0; 2 start0 block; 3 on || 1 "
     "yield; 2 yield"},
    /* Threads that come and go. */
    {"exit", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 yield exit; 2 begin log; 3 off"},
    {"exit-cut", 1008, 1026, "on; 1 self0 region; 2 self1 || 1 regionend exit; 2 exit; 3 advance"},
    {"exit-syscall", 1008, 1026, "on; 1 self0 syscall || 1 exit; 2 begin log exit; 3 off"},
    {"new-threads", 1008, 1026, "on || 1 begin; 2 begin; 3 off"},
    {"new-threads-cut", 1008, 1026, "on || 1 begin log; 2 begin exit; 3 advance"},
    {"new-threads-late", 1008, 1026, "|| 1 begin wait; 2 begin; 3 on || 1 waitend; 2 log"},
    {"adopt", 1008, 1026, "on; 1 self0 tcreate1 || 1 tcreate2 rename1; 2 beginas1 trename exit; 3 advance"},
    {"adopt-late", 1008, 1026, "1 tcreate1 || 1 rename1; 2 beginas1 trename log; 3 on"},
    {"adopt-twice", 1008, 1026, "on; 1 tcreate1 || 1 destroy1; 2 beginas1 log; 3 begin beginas1"},
    {"exit-new", 1008, 1026, "on; 1 self0 || 1 exit; 2 begin log; 3 begin log"},
    {"exit-steal", 1008, 1026, "pcreate0 create1; on; 1 self0 || 1 exit; 2 pstart0 start1 syscall sysend; 3 steal0"},
    {"fork", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 yield start0 block; 2 begin; 3 fork on log off"},
    {"fork-parent", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 yield start0 block; 2 forks; 3 advance"},
    {"fork-off", 1008, 1026, "pcreate0 create0; 1 pstart0 start0 || 1 yield start0 block; 3 fork on self3 region off"},
    /* The garbage collector, and stops of the world. */
    {"gc", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 gc gcend; 2 gc gcend; 3 "
     "advance"},
    {"gc-open", 1008, 1026, "pcreate0 create0; 1 pstart0 start0 gc; on || 1 yield; 2 gcend; 3 advance"},
    {"gc-silent", 1008, 1026, "gc on || 1 gcend; 2 gc; 3 advance"},
    {"gc-silent2", 1008, 1026, "gc on || 1 begin; 2 begin; 3 advance"},
    {"gc-late", 1008, 1026, "pcreate0 create0; 1 pstart0 start0 || 1 gc gcend; 2 heap; 3 on"},
    {"gc-end-late", 1008, 1026, "gc pcreate0 create0; 1 pstart0 start0 || 1 gcend gc gcend; 3 on"},
    {"gc-off", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 gc gcend; 2 gc; 3 off"},
    {"stw", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; on; 1 pstart0 start0; 2 pstart1 start1 || 1 stw block; 2 stw stwend; "
     "3 advance"},
    {"stw-end", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 stw || 1 block; 2 stwend; 3 off"},
    {"stw-cut", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 stw || 1 stwend; 2 stwend; 3 advance advance"},
    /* Tasks and tables. */
    {"task", 1011, 1026, "|| 1 task1 taskend1; 2 self1 task2; 3 on || 1 log; 2 taskend2"},
    {"task-both", 1011, 1026, "task1 task2 on || 1 begin log; 2 begin log"},
    {"task-end", 1011, 1026, "1 task1; on || 1 taskend1; 2 taskend1 log1; 3 off"},
    {"task-slot", 1011, 1026, "task1 on || 1 task2 log; 2 taskend1 log; 3 advance"},
    {"region", 1011, 1026, "pcreate0 create0; on; 1 pstart0 start0 region || 1 regionend region; 2 early; 3 advance"},
    {"samples", 1021, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 sample yield; 2 sample; 3 advance"},
    {"memory", 1023, 1026, "on || 1 heap goal; 2 goal heap; 3 advance"},
    /* Concurrent ends, cuts and starts. */
    {"ends", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 block; 2 off; 3 early"},
    {"ends-silent", 1008, 1026, "pcreate0 create0; 1 pstart0 start0; on || 1 block; 2 off; 3 early"},
    {"cuts", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 block; 2 advance; 3 advance; 4 off"},
    {"cut-early", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 block start0; 2 advance; 3 early"},
    {"restart", 1008, 1026,
     "pcreate0 create0 on off read; 1 pstart0 start0 || 1 block start0; 2 on; 3 unblock0 || 1 yield"},
    {"stats", 1008, 1026, "on || 1 begin; 2 stats; 3 off"},
    /* Readers: slow, concurrent with the end or another reader, with a failing sink, on the service thread. */
    {"read", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 block; 2 read; 3 off"},
    {"read-empty", 1008, 1026, "on advance || 2 read; 3 off"},
    {"read-restart", 1008, 1026, "on || 1 read; 2 off; 3 stop on"},
    {"read-stop", 1008, 1026, "pcreate0 create0; on; 1 pstart0 start0 || 1 block; 2 read; 3 stop"},
    {"read-early", 1008, 1026, "on || 1 begin; 2 read; 3 early"},
    {"try-read", 1008, 1026, "on || 1 begin; 2 tryread tryread; 3 advance off"},
    {"readers", 1008, 1026, "on || 1 tryread; 2 tryread; 3 off"},
    {"sink", 1008, 1026, "onsink || 1 begin; 2 advance; 3 stop"},
    {"sink-early", 1008, 1026, "onsink || 1 begin log; 2 early"},
    {"sink-fails", 1008, 1026, "onsink || 1 begin log; 2 fail; 3 advance"},
    {"sink-stops", 1008, 1026, "onsink || 1 begin; 2 stop; 3 stop"},
    {"sink-start", 1008, 1026, "|| 1 begin; 2 onsink stop; 3 begin"},
    {"snapshot", 1022, 1026, "onflight || 1 begin; 2 snapshot"},
    {"snapshot-stop", 1022, 1026, "onflight || 1 begin; 2 snapshot; 3 stop"},
    {"snapshots", 1022, 1026, "onflight; 1 begin || 1 log; 2 snapshot; 3 snapshot"},
    /* A call held up across a stop, or into the next session, in which its records are skipped. */
    {"held-up", 1008, 1026, "clean; 1 self0; onsink || 1 log wait waitend; 2 stop onsink"},
    /* The end of a trace finds the thread in a wait that began after it, and must see its records (stale reads). */
    {"wait-after-end", 1008, 1026, "clean; 1 self0; on || 1 log wait; 2 off read"},
    {"held-up-end", 1008, 1026, "clean; 1 self0; on || 1 wait waitend; 2 off; 3 read on"},
    {"held-up-twice", 1023, 1023, "clean; 1 self0; onsink || 1 log log; 2 stop onsink stop onsink"},
    {"held-up-run", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0; onsink || 1 start0 block; 2 stop onsink || 3 unblock0"},
    {"held-up-gc", 1023, 1023, "clean; 1 self0; onsink || 1 gc; 2 stop onsink || 2 gcend"},
    {"held-up-exit", 1008, 1026, "clean; 1 self0; onsink || 1 log exit; 2 stop onsink; 3 begin log"},
    /* A thread ends while it runs a goroutine, which is misuse: not by the next thread, which has its record. */
    {"exit-runs", 1008, 1026, "clean pcreate0 create0 create1; 1 start0 exit; on || 2 pstart0 start1 block; 3 off"},
    {"exit-late", 1008, 1026, "clean; 1 self0 || 1 exit; 2 on; 3 begin log"},
    {"held-up-chunks", 1023, 1023, "clean guard; 1 self0; onsink || 1 log log log; 2 stop onsink"},
    {"held-up-late", 1023, 1023, "clean guard; 1 self0 || 1 log log log; 2 onsink stop onsink"},
    /* Threads hand over chunks, which are used again or freed, while the transcriber reads. */
    {"chunks", 1008, 1026, "clean guard; 1 self0; 2 self1; on || 1 log log log; 2 log log; 3 advance; 4 off"},
    {"chunks-again", 1023, 1023, "clean guard; 1 self0; 2 self1; onsink || 1 log log log log; 2 log log log"},
    {"chunks-read", 1023, 1023, "clean guard; 1 self0; on || 1 log log log; 2 tryread tryread; 3 stats"},
    {"chunks-stop", 1023, 1023, "clean guard; 1 self0; on || 1 log log log; 2 read; 3 stop"},
    {"chunks-free", 1023, 1023, "clean guard; 1 self0; 2 self1; blocks1 onsink || 1 log log log; 2 log log"},
    {"chunks-early", 1023, 1023, "guard; 1 self0; 2 self1; onsink || 1 log log log; 2 early; 3 log onsink"},
    {"chunks-fork", 1023, 1023, "1 self0; on || 1 log log log; 3 fork log on log log off"},
    /* Rounds beside events. */
    {"rounds", 1008, 1026, "clean; 1 self0; 2 self1; on || 1 log region regionend; 2 log; 3 stats stats; 4 advance"},
    {"rounds-stop", 1008, 1026, "clean; 1 self0; onsink || 1 log; 2 stats; 3 stop; 4 advance"},
    {"off-late", 1008, 1026, "clean; 1 self0; on; 1 heap || 1 heap; 3 off stats"},
    {"rounds-create", 1023, 1023,
     "clean pcreate0 create0; on; 1 pstart0 start0 || 1 create1 block; 2 stats; 3 advance; 4 unblock0"},
    /* The record of a thread that has ended goes to another thread after the round that applies its last record. */
    {"ended", 1008, 1026, "clean; on; 1 begin log || 1 exit; 2 stats begin log; 3 begin log"},
    {"ended-cut", 1023, 1023, "clean; on; 1 self0 || 1 log exit; 2 advance begin log exit; 3 advance begin"},
    {"ended-stop", 1008, 1026, "clean; onsink; 1 begin || 1 log exit; 2 begin exit; 3 stop onsink; 4 begin"},
    {"ended-flight", 1023, 1023, "clean; onflight; 1 begin log || 1 exit; 2 snapshot begin; 3 begin log"},
    {"ended-chunks", 1023, 1023, "clean guard; 1 self0; on || 1 log log exit; 2 stats begin log; 3 stats"},
    /* The program's own synchronization: what happened before an event that is in the trace is in it, too. */
    {"cause", 1008, 1026, "clean; 1 self0; 2 self1; on || 1 log post1 log; 2 await1 log; 3 off"},
    {"cause-early", 1008, 1026, "1 self0; 2 self1; on || 1 log post1 log; 2 await1 log; 3 early"},
    {"cause-start", 1008, 1026, "clean; 1 self0 wait; 2 self1 || 1 waitend post1 log; 2 await1 log; 3 on"},
    {"cause-limit", 1023, 1023, "1 self0; 2 self1; on limit || 1 log log post1; 2 await1 log log; 3 log"},
    {"cause-full", 1008, 1026, "1 self0; 2 self1; on sizelimit || 1 log post1 log; 2 await1 log; 3 advance; 4 stats"},
    {"cause-rounds", 1023, 1023, "clean; 1 self0; 2 self1; on || 1 log post1 log; 2 await1 log; 3 stats; 4 advance"},
    {"cause-restart", 1023, 1023, "clean; 1 self0; 2 self1; onsink || 1 log post1 log; 2 await1 log; 3 stop onsink"},
    {"ordered", 1008, 1026, "clean ordered; 1 self0; 2 self1; on || 1 log log; 2 log; 3 stats; 4 off"},
    {"ordered-chunks", 1023, 1023, "clean ordered; 1 self0; 2 self1; on || 1 log log log; 2 log log; 3 early"},
    /* Programs that keep the rules: goroutines and procs that pass between threads. */
    {"pass", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0; 2 pstart1 || 1 start0 yield post1 "
     "await2 unblock0 start0; 2 await1 start0 block post2; 4 advance"},
    {"pass-late", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0; 2 pstart1 || 1 start0 yield post1; 2 await1 start0 block post2; 3 "
     "await2 unblock0; 4 on"},
    {"pass-stop", 1023, 1023,
     "clean pcreate0 pcreate1 create0; 1 pstart0; 2 pstart1; onsink || 1 start0 yield post1; 2 await1 start0 block "
     "post2; "
     "3 await2 unblock0; 4 stop onsink"},
    {"pass-wake", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0 start0; 2 pstart1 || 1 block post2; 3 await2 unblock0 post1; 2 "
     "await1 start0 "
     "block; 4 stats"},
    {"pass-proc", 1008, 1026,
     "clean pcreate0 create0 create1; on; 1 pstart0 start0 || 1 syscall post1 await2 sysblocked; 2 await1 steal0 post2 "
     "pstart0 start1; 4 advance"},
    {"pass-proc-late", 1023, 1023,
     "clean pcreate0 create0 create1; 1 pstart0 start0 || 1 syscall post1 await2 sysblocked; 2 await1 steal0 post2 "
     "pstart0 start1; 4 on"},
    {"pass-new", 1008, 1026,
     "clean pcreate0 create0; on; 2 self1 log || 1 pstart0 start0 block post1; 2 await1 unblock0; 3 stats; 4 advance"},
    {"pass-end", 1008, 1026,
     "clean pcreate0 pcreate1 create0; on; 1 pstart0; 2 pstart1 || 1 start0 end post1 create1; 2 await1 create2 "
     "start2; 4 "
     "stats"},
    /* Threads that wait at the memory limit for the reader, for each other, for the end. */
    {"block", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; 1 pstart0 start0; 2 pstart1 start1; blocks0 on || 1 yield; 2 yield; 3 read; 4 "
     "off"},
    {"block-early", 1008, 1026,
     "pcreate0 pcreate1 create0 create1; 1 pstart0 start0; 2 pstart1 start1; blocks0 on || 1 yield; 2 yield; 3 read; 4 "
     "early"},
    {"block-one", 1008, 1026,
     "pcreate0 create0; 1 pstart0 start0; blocks0 on || 1 yield start0; 2 read; 3 stop; 4 early"},
    {"block-sink", 1008, 1026, "1 self0; 2 self1; blocks0 onsink || 1 log; 2 log; 4 stop"},
    {"block-alone", 1008, 1026, "1 self0; 2 self1; blocks0 onsink || 1 log; 2 log"},
    {"block-sink-early", 1008, 1026, "1 self0; 2 self1; blocks0 onsink || 1 log; 2 log; 4 early"},
    {"block-chunks", 1008, 1026, "1 self0; 2 self1; blocks1 onsink || 1 log log log; 2 log log; 4 stop"},
    {"block-read", 1023, 1023, "1 self0; 2 self1; blocks0 on || 1 log log; 2 log; 3 read; 4 stop"},
    {"block-flight", 1022, 1026, "1 self0; 2 self1; blocks0 onflight || 1 log; 2 log; 3 snapshot"},
    /* Threads that are cancelled while they wait: readers, and writers at the limit. A thread in gotrace_stop is not
       cancelled there. */
    {"cancel-read", 1008, 1026, "on || 1 begin; 2 read; 3 cancel2; 4 off"},
    {"cancel-read-next", 1008, 1026, "on || 1 begin; 2 read; 3 cancel2 readnext; 4 stop"},
    {"cancel-readers", 1008, 1026, "on || 1 read; 2 readnext; 3 cancel1; 4 off"},
    {"cancel-read-early", 1008, 1026, "on || 1 begin; 2 read; 3 cancel2 readnext; 4 early"},
    {"cancel-cleanup", 1008, 1026, "1 self0; on || 1 region read cleanup regionend; 2 cancel1 readnext; 4 off"},
    {"cancel-stop", 1008, 1026, "on || 1 begin; 2 stop; 3 cancel2; 4 read"},
    {"cancel-block", 1008, 1026, "1 self0; 2 self1; blocks0 on || 1 log cleanup log; 2 log; 3 cancel1; 4 off"},
    {"cancel-block-exit", 1008, 1026, "1 self0; 2 self1; blocks0 on; 1 log || 1 exit; 2 log; 3 cancel1 off"},
    /* The process ends while threads are in calls, end, read, stop. */
    {"end", 1008, 1026, "1 self0; onsink || 1 log wait waitend; 2 begin exit; 3 processend || 1 log"},
    {"end-off", 1008, 1026, "1 self0 || 1 log exit; 2 begin exit; 3 processend; 4 on"},
    {"end-read", 1008, 1026, "on || 1 begin; 2 read; 3 processend"},
    {"end-stop", 1008, 1026, "onsink || 1 begin; 2 stop; 3 processend"},
    {"end-twice", 1008, 1026, "onsink || 1 begin; 2 processend; 3 processend"},
    {"end-limit", 1008, 1026, "1 self0; 2 self1; blocks0 onsink || 1 log; 2 log exit; 3 processend"},
    {"end-early", 1008, 1026, "1 self0; onsink || 1 log; 2 early; 3 processend"},
    {"end-flight", 1022, 1026, "1 self0; onflight || 1 log; 2 snapshot; 3 processend"},
    /* The library is unloaded while its service thread runs. Threads that used it live on; everything else is freed. */
    {"unload", 1008, 1026,
     "pcreate0; 1 self0 region; 2 self1; onsink || 1 log; 2 log || 3 unload; 1 log exit; 2 begin"},
    {"unload-begin", 1008, 1026, "1 self0; 2 begin exit; onsink || 3 unload || 1 log region; 2 log; on"},
    {"unload-read", 1008, 1026, "1 self0 wait; on || 1 waitend; 2 tryread || unload; 1 wait; 2 read"},
    {"unload-early", 1008, 1026, "1 self0 wait; onsink || 3 early unload || 1 waitend exit"},
    {"unload-flight", 1022, 1026, "1 self0 task1; onflight || 1 log; 2 snapshot || unload; 1 log; snapshot"},
    /* Concurrent stops: one ends the trace, the others wait for it. */
    {"stops", 1008, 1026, "on || 1 begin; 2 stop; 3 stop; 4 read"},
    {"stops-sink", 1008, 1026, "onsink || 2 stop; 3 stop; 4 stop onsink"},
    {"stops-early", 1008, 1026, "onsink || 1 begin; 2 stop; 3 stop; 4 early"},
    /* Nested calls, from the program's write function and its allocator. */
    {"sink-calls", 1008, 1026, "sinkcalls0 sinkcalls2 sinkcalls3 sinkcalls5 onsink || 1 begin log; 2 advance; 3 stop"},
    {"sink-ends", 1008, 1026, "sinkcalls1 onsink || 1 begin log; 2 advance; 3 stop"},
    {"sink-cuts", 1022, 1026, "sinkcalls4 onsink || 1 begin log; 3 stop"},
    {"allocator-calls", 1008, 1026,
     "pcreate0 allocatorcalls on || 1 begin log; 2 pstart0 create0 start0; 3 advance off"},
    {"allocator-calls-late", 1008, 1026, "allocatorcalls || 1 begin log; 2 task1; 3 on || 1 log"},
    /* While tracing is off, the second of two wakers is late, so that a goroutine that runs or is in a system call
       appears runnable. */
    {"late-waker", 1008, 1026, "clean pcreate0 create0; 1 pstart0 start0; latewake0 || 1 block; 3 on"},
    {"late-waker-syscall", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; latewake0 || 1 sysend yield; 3 on"},
    {"late-waker-steal", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; latewake0 || 1 sysblocked; 2 steal0; 3 on"},
    {"late-waker-proc", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; latewake0 || 1 sysblocked; 2 steal0 pstart0; 3 on || 2 create1 "
     "start1"},
    {"late-waker-on", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; latewake0 on || 1 sysblocked; 2 steal0 pstart0 || 2 create1 "
     "start1"},
    {"late-waker-stop", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; latewake0 || 1 pstop; 3 on || 2 pstart0; 1 sysblocked"},
    /* Each allocation fails in turn, during the start and end of a generation, and with a silent thread. */
    {"lack-start", 1008, 1026, "1 self0; lack || 1 log; 3 on"},
    {"lack-starts", 1008, 1026, "lack || 1 onsink; 2 onsink"}, {"lack-begin", 1008, 1026, "lack || 1 begin exit; 3 on"},
    {"lack-cut", 1008, 1026, "1 self0; 2 self1; on lack || 1 log; 3 advance"},
    {"lack-end", 1008, 1026, "1 self0; 2 self1; on lack || 1 log; 3 off"},
    {"lack-silent", 1008, 1026, "1 self0; on advance lack || 1 wait waitend; 3 advance off"},
    {"lack-steal", 1008, 1026,
     "pcreate0 create0 create1; 1 pstart0 start0; on advance lack || 1 syscall; 2 steal0; 3 advance off"},
    {"lack-sink", 1008, 1026, "1 self0; onsink lack || 1 log log; 3 advance"},
    /* The clocks of threads differ: the next owner of a goroutine or proc, and its waker, are behind the last. */
    {"skew-moves", 1011, 1026,
     "clean moves1 pcreate0 create0; on || 1 pstart0 start0 log yield pstop; 2 self1 log; 3 advance"},
    {"skew-handed", 1008, 1026,
     "clean ahead1 pcreate0 pcreate1 create0; on; 1 pstart0 start0; 2 pstart1 || 1 block post1; 2 await1 unblock0 "
     "start0; 3 advance"},
    {"skew-proc", 1008, 1026, "clean ahead1 pcreate0; on || 1 pstart0 pstop post1; 2 await1 pstart0 pstop; 3 advance"},
    {"skew-woken", 1008, 1026,
     "clean ahead1 createblocked0 pcreate0 pcreate1; 1 pstart0; 2 pstart1; on || 1 unblock0 post1; 2 await1 start0 "
     "end; 3 advance"},
    {"skew-timed", 1008, 1026, "clean drifts1 ahead2; 1 self0 wait; 2 self1; on || 1 waitend; 2 unblock0; 3 advance"},
    {"skew-steal", 1008, 1026,
     "clean drifts1 ahead2 pcreate0 create0 create1; on; 1 pstart0 start0 syscall || 1 sysblocked; 2 steal0 pstart0 "
     "start1; 3 advance"},
    /* A creation is under way when the trace begins; its records, and those that follow, are later than the first cut.
     */
    {"skew-listed", 1008, 1026, "clean ahead1 moves2 || 1 createsys0 endsys; 2 on heap advance"},
    {"skew-listed-blocked", 1008, 1026,
     "clean ahead1 moves2 pcreate0; 1 pstart0 || 1 create0 start0 block; 2 on heap advance"},
    {"skew-listed-woken", 1008, 1026,
     "clean ahead1 moves2 pcreate0; 1 pstart0 || 1 createblocked0 unblock0; 2 on heap advance"},
    /* ... and the list names a goroutine that has the place of an earlier one. */
    {"skew-listed-again", 1008, 1026,
     "clean ahead1 moves2 pcreate0; 1 pstart0 || 1 create0 start0 end create0; 2 on heap advance"},
    /* A proc is given up in a call that is older than the trace, and started at the same tick. */
    {"skew-given-up", 1008, 1026,
     "clean ahead1 pcreate0 create0; 1 pstart0 start0 syscall; on || 1 pstop post1; 2 await1 pstart0 pstop; 3 advance"},
    /* ... and destroyed at the same tick: its next place is started there too. */
    {"skew-given-up-reused", 1008, 1026,
     "clean ahead1 pcreate0 create0; 1 pstart0 start0 syscall; on || 1 pstop post1; 3 await1 pdestroy0 pcreate0 post3; "
     "2 await3 pstart0 pstop; 4 advance"},
    /* A thread in such a call stops its proc after the call, or another that it has started in it. */
    {"older-call-ends", 1008, 1026,
     "clean pcreate0 create0; 1 pstart0 start0 syscall; on || 1 sysend yield pstop post1; 2 await1 pstart0 pstop; 3 "
     "advance"},
    {"older-call-finds", 1008, 1026,
     "clean pcreate0 pcreate1 create0; 1 pstart0 start0 syscall; on || 1 pstop pstart1 pstop post1; 2 await1 pstart1 "
     "pstop; 3 advance"},
    /* ... or by a goroutine that ends in its call, in which the thread has started it. */
    {"skew-ended", 1008, 1026,
     "clean ahead1 pcreate0; on || 1 createsys0 pstart0 endsys post1; 2 await1 pstart0 pstop; 3 advance"},
    /* A proc is destroyed after a call that has lost it without a steal. The thread's next record is for one that is
     * behind by its clock. */
    {"skew-destroyed", 1008, 1026,
     "clean ahead2 pcreate0 create0; on; 1 pstart0 start0 syscall || 1 sysblocked post1; 2 await1 pdestroy0 gc post2; "
     "3 "
     "await2 gcend"},
