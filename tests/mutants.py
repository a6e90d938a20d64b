#!/usr/bin/env python3
"""Breaks the tracer's protocol in small ways, and verifies that explore detects each.

    tests/mutants.py [-v] [-j N] [NAME...]      all mutants, or those named
    tests/mutants.py --list
    tests/mutants.py --find NAME...             searches all scenarios for one that kills the mutant

A mutant is a text of gotrace.h, in which white space may differ, and its replacement. It is applied to a copy, which is
built and run on the scenarios named in the table. A mutant is killed if one of them fails. The last line is
'N passed, N failed, N skipped'. Killed mutants pass; those that survive, and those whose text no longer exists, fail.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMPILER = os.environ.get('CC') or ('clang' if shutil.which('clang') else 'cc')  # clang takes half of gcc's time


def mutant(name, old, new, *scenarios):
    """`old` and `new`: one text each, or lists of the same length."""
    if isinstance(old, str):
        old, new = [old], [new]
    MUTANTS.append((name, old, new, scenarios))


MUTANTS = []

# A call raises its flag, and then reads whether tracing is on. A stop waits for the calls under way.
mutant('stop-waits-for-nobody', 'if (!on) gotrace__settle();', '', '1023/rounds-stop', '1023/cause-restart')
mutant('session-read-once',
       'if (GOTRACE__LIKELY(gotrace__session_now() == m->session && m->session &&',
       'if (GOTRACE__LIKELY(m->session &&',
       '1023/off-late')
mutant('flag-raised-late',
       ['gotrace__raise(m);\n  if (GOTRACE__LIKELY(gotrace__session_now() == m->session', 'm->end - m->at) >= room))\n    return true;'],
       ['if (GOTRACE__LIKELY(gotrace__session_now() == m->session',
        'm->end - m->at) >= room)) {\n    gotrace__raise(m);\n    return true;\n  }\n  gotrace__raise(m);'],
       '1023/off-late')
mutant('new-chunk-in-an-old-session',
       'if (gotrace__session_now() != session) {\n      gotrace__go_inside();',
       'if (0) {\n      gotrace__go_inside();',
       '1023/chunks-early', '1023/held-up-late', '1023/block-sink')

# A thread that is held up in a call across a stop.
mutant('tables-freed-under-a-call',
       'if (gotrace__chunks_free(&t->budget)) gotrace__tables_free(); /* otherwise',
       'gotrace__chunks_free(&t->budget); gotrace__tables_free(); /* otherwise',
       '1011/block-sink', '1023/held-up')
mutant('chunk-freed-under-a-call',
       'if (!gotrace__has_left(m, since)) {', 'if (0) {', '1023/held-up-chunks', '1023/held-up')
mutant('off-calls-count-as-held-up',
       'if (!gotrace__has_left(m, since)) {',
       'if (m != gotrace__self && gotrace__load_seq_cst(&m->in_call)) {',
       '1008/sink-ends', '1023/ended-stop')
mutant('unread-frees-the-threads-chunk',
       'for (; chunk && chunk != m->chunk; chunk = next) {',
       'for (; chunk; chunk = next) {',
       '1023/held-up-chunks', '1023/held-up')
mutant('linked-late',
       ['if (!first) gotrace__store_release(&old->next, chunk);\n    m->chunk = chunk;', 'if (!first) continue;'],
       ['m->chunk = chunk;', 'if (!first) {\n      gotrace__store_release(&old->next, chunk);\n      continue;\n    }'],
       '1023/held-up-chunks')
mutant('end-of-a-plain-thread-in-two-sessions', 'if (m->session == session) gotrace__publish', 'gotrace__publish',
       '1023/held-up-exit')

# A start while calls are under way.
mutant('creation-overtaken', 'if (known && !(on && known == m->session)) {', 'if (0) {', '1023/exit-late')
mutant('loss-forgotten', 'if (status == GOTRACE__PROC_IDLE && gotrace__load_relaxed(&p->owner)) status', 'if (0) status',
       '1023/steal-clean')
mutant('numbers-go-on', 'gotrace__store_relaxed(number, 0u);', '', '1023/pass-stop')
mutant('go-not-introduced',
       'if (gotrace__load_relaxed(&g->introduced) != m->session) {\n    char label',
       'if (0) {\n    char label',
       '1023/pass-late', '1011/pass-late')

# The order of records of several threads.
mutant('round-without-end', 'return r->next_tick <= t->limit;', 'return true;', '1023/pass', '1023/pass-wake')
mutant('threads-before-clock',
       'gotrace__read_clocks(&clocks);\n  gotrace__attach_threads(r);',
       'gotrace__attach_threads(r);\n  gotrace__read_clocks(&clocks);',
       '1023/pass-new', '1011/pass-new')
mutant('waker-counts', 'gotrace__about_go(m, GOTRACE__REC_GO_UNBLOCK, g, false, NULL)',
       'gotrace__about_go(m, GOTRACE__REC_GO_UNBLOCK, g, true, NULL)', '1023/pass-wake')

# Stale reads.
mutant('no-barrier', 'if (!gotrace__load_relaxed(&gotrace__t.fence) && !gotrace__barrier()) {', 'if (0) {',
       '--stale 1 1023/off-late')

# The records of threads that have ended; chunks that are used again.
mutant('record-released-early',
       'if (!source->gone || gotrace__load_acquire(&m->used) != GOTRACE__ENDED) continue;',
       'if (!source->gone) continue;',
       '1023/ended', '1023/ended-chunks')
mutant('record-released-unread',
       'gotrace__store_release(&m->used, (uint32_t)use);', 'gotrace__store_release(&m->used, 0u);',
       '1023/ended', '1023/ended-stop', '1023/new-threads-cut')
mutant('chunk-reused-unread', 'if (done == r->known) return false;', 'if (done == r->known) {\n'
       '      if (t->options.chunk_done && done->size > 20) t->options.chunk_done(t->options.context, done);\n'
       '      return false;\n    }', '1023/chunks-again', '1023/chunks')

# Locks and wake-ups.
mutant('work-wakes-nobody', 't->empty = t->ended && !t->piece_count;\n  gotrace__cond_wake(&t->changed);',
       't->empty = t->ended && !t->piece_count;',
       '1023/snapshot')
mutant('want-wakes-nobody', 'gotrace__t.work_wanted = true;\n  gotrace__cond_wake(&gotrace__t.changed);',
       'gotrace__t.work_wanted = true;', '1023/read-early', '1023/read')
mutant('full-chunk-wakes-nobody', 'if (old && !t->work_wanted) { /* once: otherwise threads that wait for room wake each other all the time */\n    t->work_wanted = true;\n    gotrace__cond_wake(&t->changed);\n  }',
       'if (old) t->work_wanted = true;', '1023/chunks-free')
mutant('reader-not-alone',
       'for (; !gotrace__cas_acq_rel(&t->reader, &nobody, 1u); nobody = 0) {',
       'for (; 0 && nobody;) {',
       '1023/readers', '1011/readers')
mutant('snapshot-unheld', '    kept->snapshots++;\n', '', '1023/snapshots', '1023/snapshot')

# Threads that are cancelled while they wait.
mutant('cancelled-reader-stays',
       'static void gotrace__read_cancelled(void) { gotrace__store_release(&gotrace__t.reader, 0u); }',
       'static void gotrace__read_cancelled(void) {}',
       '1023/cancel-read', '1011/cancel-read')
mutant('thread-end-is-cancelled',
       '  int cancel = gotrace__cancel_off(); /* nothing would give the record back */\n',
       '  int cancel = 0;\n',
       '1011/cancel-block-exit', '1023/cancel-block-exit', '1023/held-up-exit')

# The end of the process, unloading the library, concurrent stops, nested calls.
mutant('stop-cleans-twice',
       'if (!t->stopping && t->session == session) gotrace__clean_up();',
       'gotrace__clean_up();',
       '1023/read-restart')
mutant('unload-leaves-procs',
       '  while ((p = t->procs) != NULL) {\n    t->procs = p->next;\n    gotrace__release(NULL, p, sizeof *p);\n  }\n',
       '',
       '1023/unload', '1011/unload')
mutant('unload-frees-used-records',
       '    if (m != self && gotrace__load_relaxed(&m->used)) {\n',
       '    if (0) {\n',
       '1023/unload', '1011/unload')
mutant('unload-leaves-the-trace',
       '  while (gotrace__read_next(&chunk, &size, true, false) == GOTRACE_OK && size) continue; /* what nobody has read */\n',
       '  (void)chunk, (void)size;\n',
       '1023/unload-read', '1011/unload-read')
mutant('exit-ends-nothing',
       '  if (active && service) gotrace__stop_tracing(unloaded ? 0 : t->options.exit_milliseconds);\n'
       '  else if (active) gotrace_end();\n',
       '  (void)active, (void)service;\n',
       '1023/unload', '1011/unload-early')
mutant('second-stop-cleans-up',
       '  if (t->active && t->stopping) return gotrace__wait_for_stop(milliseconds);\n',
       '',
       '1023/stops-sink', '1011/stops-sink')
mutant('second-stop-waits-for-ever',
       '(stopped ? !t->stopping : gotrace__load_relaxed(&t->done))',
       '(stopped ? false : gotrace__load_relaxed(&t->done))',
       '1023/stops', '1011/stops')
mutant('clean-up-wakes-nobody',
       '  t->stopping = false;\n  gotrace__cond_wake(&t->changed); /* other calls of gotrace_stop wait for this one */\n',
       '  t->stopping = false;\n',
       '1023/stops', '1011/stops')
mutant('sink-calls-not-nested',
       '  if (on) gotrace__inside |= GOTRACE__IN_SINK;\n  else gotrace__inside &= ~GOTRACE__IN_SINK;\n',
       '  (void)on;\n',
       '1023/sink-calls', '1011/sink-calls')
mutant('locks-not-counted',
       ['  gotrace__inside++;\n  gotrace__signal_fence();\n}', '  gotrace__signal_fence();\n  gotrace__inside--;\n}\n'],
       ['  gotrace__signal_fence();\n}', '  gotrace__signal_fence();\n}\n'],
       '1023/allocator-calls-late', '1011/allocator-calls-late')

# Lack of memory.
mutant('counts-of-lost-output', 'if (r->error == GOTRACE_ERROR_SINK) *stats = t->at_cut;\n  else if', 'if',
       '1023/lack-silent', '1011/lack-silent')


def build(header_text, folder, optimize='-O0'):
    header = os.path.join(folder, 'gotrace.h')
    with open(header, 'w') as f:
        f.write(header_text)
    binary = os.path.join(folder, 'explore')
    command = [COMPILER, '-std=c11', optimize, '-w', '-I', folder, '-I', ROOT,
               '-I', os.path.join(ROOT, 'tests'), '-isystem', '/usr/include/stb',
               os.path.join(ROOT, 'tests', 'explore.c'), '-o', binary]
    done = subprocess.run(command, capture_output=True, text=True)
    return binary if done.returncode == 0 else None


def run(binary, arguments, seconds=240):
    try:
        done = subprocess.run([binary, '--quiet', *arguments], capture_output=True, text=True, timeout=seconds)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 1, 'takes too long'


def try_mutant(entry, find):
    name, olds, news, scenarios = entry
    source = open(os.path.join(ROOT, 'gotrace.h')).read()
    for old, new in zip(olds, news):
        text = re.compile(r'\s+'.join(re.escape(word) for word in old.split()))
        if len(text.findall(source)) != 1:
            return 'gone', f'its text is there {len(text.findall(source))} times: {old.strip().splitlines()[0]}'
        source = text.sub(lambda match: new, source)
    with tempfile.TemporaryDirectory() as folder:
        binary = build(source, folder)
        if not binary:
            return 'gone', 'it does not compile'
        if find:
            status, out = run(binary, ['--bound', '1'], 900)
            names = sorted({line.split("'")[1] for line in out.splitlines() if line.startswith("FAILED '")})
            return ('killed' if names else 'survives'), ' '.join(names)
        for scenario in scenarios:
            for bound in '0', '1', '2':
                status, out = run(binary, ['--bound', bound, *scenario.split()])
                if status == 1:
                    why = out.splitlines()[1].strip() if len(out.splitlines()) > 1 else out.strip()
                    return 'killed', f'{scenario}, {bound} preemptions: {why}'
                if status not in (0, 1):
                    return ('killed', f'{scenario}: crash') if status < 0 else ('gone', f'no scenario {scenario}')
    return 'survives', ' '.join(scenarios)


def main(arguments):
    verbose = '-v' in arguments
    find = '--find' in arguments
    jobs = os.cpu_count() or 1
    if '-j' in arguments:
        at = arguments.index('-j')
        jobs = int(arguments[at + 1])
        del arguments[at:at + 2]
    names = [a for a in arguments if not a.startswith('-')]
    if '--list' in arguments:
        print('\n'.join(entry[0] for entry in MUTANTS))
        return 0
    chosen = [entry for entry in MUTANTS if not names or entry[0] in names]
    counts = {'killed': 0, 'survives': 0, 'gone': 0}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def timed(entry):
            began = time.monotonic()
            return *try_mutant(entry, find), time.monotonic() - began
        for entry, (verdict, why, seconds) in zip(chosen, pool.map(timed, chosen)):
            counts[verdict] += 1
            if verbose or find or verdict != 'killed':
                print(f'{verdict:8} {entry[0]}: {why} ({seconds:.0f} s)', flush=True)
    print(f"{counts['killed']} passed, {counts['survives'] + counts['gone']} failed, 0 skipped")
    return counts['survives'] + counts['gone'] > 0


sys.exit(main(sys.argv[1:]))
