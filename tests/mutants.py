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

# Settling: a thread that changes the control word waits for threads that read an earlier one.
mutant('settle-nobody', 'if (sequence & 1)\n      while', 'if (0)\n      while', '1023/gg', '1011/gg')
mutant('settle-reads-control-first',
       '  gotrace__raise(m);\n  control = gotrace__control();\n  changed',
       '  control = gotrace__control();\n  gotrace__raise(m);\n  changed',
       '1023/gg', '1011/gg')
mutant('settle-usual-late',
       ['  gotrace__raise(m);\n  c->at = gotrace__now(); /* before',
        '    c->p = m->proc;\n    return true;'],
       ['  m->sequence += 2;\n  c->at = gotrace__now(); /* before',
        '    c->p = m->proc;\n    m->sequence -= 2;\n    gotrace__raise(m);\n    return true;'],
       '1023/usual', '1011/usual')
mutant('settle-not-at-cut',
       '    gotrace__settle();\n    if (t->v2) gotrace__write_silent_v2(&notes, generation, false);',
       '    if (t->v2) gotrace__write_silent_v2(&notes, generation, false);',
       '1023/gg-cut', '1011/gg-cut')
mutant('settle-not-at-end',
       'generation = (control >> 2) - 1; /* the last */ gotrace__settle();',
       'generation = (control >> 2) - 1;',
       '1023/gg', '1011/gg')
mutant('settle-not-at-start',
       'SETTLING);\n    gotrace__settle();\n  }',
       'SETTLING);\n  }',
       '1011/gg-late', '1023/gg-late', '1011/starters-late', '1023/pp-late')
mutant('settle-once-at-start',
       'for (i = 0; i < 2; i++) { /* again for calls',
       'for (i = 0; i < 1; i++) { /* again for calls',
       '1011/starters-late', '1023/starters-late', '1023/starters-late3')
mutant('settle-not-after-start',
       '  gotrace__settle(); /* objects created by calls that read',
       '  /* objects created by calls that read',
       '1011/late-cut', '1023/late-cut')
mutant('register-unpublished',
       'gotrace__store_seq_cst(&gotrace__t.threads, m);\n  }',
       ';\n  }',
       '1023/new-threads', '1011/new-threads')

# Stamps: a call never acts on a transition of a later generation than its own.
mutant('stamps-ignored',
       '(GOTRACE__UNLIKELY((stamp) > (c)->generation) && !(c)->plain)',
       '((void)(stamp), (void)(c), 0)',
       '1023/gg', '1011/gg')
mutant('stamp-of-goroutine',
       '  if (!c->plain) gotrace__store_relaxed(&g->generation, c->generation);\n',
       '',
       '1011/timed', '1023/gg')
mutant('stamp-of-proc',
       '  if (!c->plain) gotrace__store_relaxed(&p->stream.generation, c->generation);\n'
       '  gotrace__store_release(&p->word, word);',
       '  gotrace__store_release(&p->word, word);',
       '1011/pp', '1023/pp')
mutant('stamp-of-proc-late',
       '  if (!c->plain) gotrace__store_relaxed(&p->stream.generation, c->generation);\n'
       '  gotrace__store_release(&p->word, word);',
       '  gotrace__store_release(&p->word, word);\n'
       '  if (!c->plain) gotrace__store_relaxed(&p->stream.generation, c->generation);',
       '1023/pp', '1011/pp', '1023/steal-end')
mutant('stamp-of-collector',
       '  if (!c->plain) gotrace__t.collector_generation = c->generation;\n',
       '',
       '1011/gc-off', '1023/gc-off', '1023/gc')
mutant('stamp-of-stolen-proc',
       'if (!gotrace__is_behind(c, gotrace__load_relaxed(&p->stream.generation))) return false;',
       'return false;',
       '1011/steal-blocked', '1023/steal-blocked', '1023/steal-blocked-cut', '1011/steal-blocked-cut')
mutant('reread-keeps-counters',
       '  if (c->session && !c->ending && c->m->session != c->session) gotrace__reset_counters(c->m, c->session);\n',
       '',
       '1021/createsys-late', '1021/gg-late')
mutant('stamp-usual',
       'if (GOTRACE__LIKELY(gotrace__load_relaxed(&g->generation) <= c->generation && ',
       'if (GOTRACE__LIKELY(',
       '1023/usual-cut', '1011/usual-cut', '1011/usual', '1023/usual')
mutant('collector-not-behind',
       'while (gotrace__is_behind(c, gotrace__t.collector_generation)) {',
       'while (0) {',
       '1011/gc-off', '1023/gc-off', '1023/gc')

# Only one thread wins: compare-and-swap, exchange, busy bits.
mutant('take-by-store',
       '    if (!gotrace__cas_acq_rel(&g->word, &seen, seen | GOTRACE__BUSY)) continue;\n',
       '    gotrace__store_relaxed(&g->word, seen | GOTRACE__BUSY);\n',
       '1023/wakers', '1011/wakers')
mutant('take-no-busy',
       '    if (seen & GOTRACE__BUSY) {\n      gotrace__pause(&spins);\n      continue;\n    }\n    if (!(statuses',
       '    seen &= ~GOTRACE__BUSY; (void)spins;\n    if (!(statuses',
       '1023/wakers', '1011/wakers', '1023/gg')
mutant('take-proc-by-store',
       '} else if (gotrace__cas_acq_rel(&p->word, &seen, word | GOTRACE__BUSY)) {',
       '} else if (gotrace__store_relaxed(&p->word, word | GOTRACE__BUSY), true) {',
       '1023/pp', '1011/pp')
mutant('usual-take-by-store',
       '      !gotrace__cas_acq_rel(&g->word, &seen, seen | GOTRACE__BUSY))\n    return false;',
       '      (gotrace__store_relaxed(&g->word, seen | GOTRACE__BUSY), 0))\n    return false;',
       '1023/usual-wakers', '1011/usual-wakers')
mutant('usual-syscall-by-store',
       '  done = gotrace__cas_acq_rel(&c.p->word, &taken, before | GOTRACE__BUSY);',
       '  done = gotrace__load_relaxed(&c.p->word) == taken;\n'
       '  if (done) gotrace__store_relaxed(&c.p->word, before | GOTRACE__BUSY);',
       '1023/usual-steal', '1011/usual-steal')
mutant('ownership-unchecked',
       'return gotrace__load_relaxed(&m->go->owner) == m->index && gotrace__status_of(',
       'return gotrace__load_relaxed(&m->go->owner) == m->index || gotrace__status_of(',
       '1011/starters-late', '1023/starters-late', '1011/gg-late')
mutant('early-by-store',
       '  if (!gotrace__cas_seq_cst(&gotrace__t.control, &on, next_control)) return false;',
       '  (void)on;\n  gotrace__store_seq_cst(&gotrace__t.control, next_control);',
       '1023/cut-early', '1011/cut-early')
mutant('plain-while-settling',
       'c->plain = (control & GOTRACE__MODE_MASK) == GOTRACE__OFF;',
       'c->plain = (control & GOTRACE__MODE_MASK) != GOTRACE__ON;',
       '1011/gg-late', '1023/gg-late', '1023/pp-late', '1011/gg')

# Statuses at the end of a generation.
mutant('quiet-unowned',
       'if (gotrace__load_relaxed(&g->owner) == m->index && !gotrace__has_epoch(word, (uint32_t)generation) &&',
       'if (!gotrace__has_epoch(word, (uint32_t)generation) &&',
       '1023/starters-silent')
mutant('quiet-spoken',
       '    if (q->m && gotrace__load_relaxed(&q->m->opened[c.slot]) == generation) continue;\n',
       '',
       '1023/quiet-syscall')
mutant('opened-before-told',
       ['  gotrace_go *g = m->go;\n  bool runs = false;\n  if (p) {',
        '  gotrace__store_relaxed(&m->opened[c->slot], c->generation);\n  if (runs && g'],
       ['  gotrace_go *g = m->go;\n  bool runs = false;\n'
        '  gotrace__store_relaxed(&m->opened[c->slot], c->generation);\n  if (p) {',
        '  if (runs && g'],
       '1023/steal-end', '1023/steal-cut')
mutant('statuses-left-out',
       '    gotrace__write_statuses(&notes, generation, false);\n',
       '',
       '1023/idle-goroutine', '1023/gg-cut')

# Locks and wake-ups.
mutant('table-unlocked',
       ['  gotrace__lock(&table->lock);\n  entry',
        '    table->last = entry;\n  }\n  gotrace__unlock(&table->lock);'],
       ['  entry',
        '    table->last = entry;\n  }'],
       '1023/tables', '1011/tables')
mutant('register-unlocked',
       ['  gotrace__lock(&gotrace__t.records);\n  for (m = gotrace__t.threads; m && gotrace__load_acquire(&m->used)',
        'gotrace__store_seq_cst(&gotrace__t.threads, m);\n  }\n  gotrace__unlock(&gotrace__t.records);'],
       ['  for (m = gotrace__t.threads; m && gotrace__load_acquire(&m->used)',
        'gotrace__store_seq_cst(&gotrace__t.threads, m);\n  }'],
       '1023/new-threads', '1023/exit-new')
mutant('collector-unlocked',
       ['  gotrace__lock(&gotrace__t.collector);\n'
        '  while (gotrace__is_behind(c, gotrace__t.collector_generation)) {\n'
        '    gotrace__unlock(&gotrace__t.collector);\n    gotrace__catch_up(c);\n'
        '    gotrace__lock(&gotrace__t.collector);',
        '  c->collecting = false;\n  gotrace__unlock(&gotrace__t.collector);'],
       ['  while (gotrace__is_behind(c, gotrace__t.collector_generation)) {\n    gotrace__catch_up(c);',
        '  c->collecting = false;'],
       '1023/gc', '1011/gc', '1011/gc-off')
mutant('flush-left-out',
       '    gotrace__hand_over(&m->stream.buffer[c.slot], c.slot);\n    gotrace__unlock',
       '    gotrace__unlock',
       '1023/exit-steal')
mutant('early-wakes-nobody',
       '  gotrace__t.cut_wanted = true;\n  gotrace__cond_wake(&gotrace__t.changed);\n'
       '  gotrace__unlock(&gotrace__t.queue_lock);',
       '  gotrace__t.cut_wanted = true;\n  gotrace__unlock(&gotrace__t.queue_lock);',
       '1023/read-early', '1023/sink-early')
mutant('cut-wakes-nobody',
       '  t->last_cut = gotrace__nanoseconds();\n  gotrace__cond_wake(&t->changed);\n  gotrace__unlock(&t->queue_lock);\n'
       '}\n\n/* A call',
       '  t->last_cut = gotrace__nanoseconds();\n  gotrace__unlock(&t->queue_lock);\n}\n\n/* A call',
       '1023/snapshot', '1023/snapshots', '1011/read-empty')
mutant('reader-end-wakes-nobody',
       '  gotrace__cond_wake(&t->changed);\n  gotrace__unlock(&t->queue_lock);\n  if (!clean_up) return;',
       '  gotrace__unlock(&t->queue_lock);\n  if (!clean_up) return;',
       '1023/read-stop', '1011/read-stop')
mutant('kept-wakes-nobody',
       '  gotrace__count(&t->kept_count, 1);\n  gotrace__cond_wake(&t->changed);',
       '  gotrace__count(&t->kept_count, 1);',
       '1023/snapshot', '1023/snapshots')
mutant('snapshot-unheld', '    kept->snapshots++;\n', '', '1023/snapshots', '1023/snapshot')
mutant('names-unfreed',
       'gotrace__table_free(t->region_names); gotrace__modules_free(); t->scratch = NULL;',
       'gotrace__modules_free(); t->scratch = NULL;',
       '1023/gg')
mutant('lock-order',
       '  gotrace__lock(&t->queue_lock);\n  t->stopping = true;\n  gotrace__unlock(&t->queue_lock);\n'
       '  gotrace__finish();',
       '  gotrace__lock(&t->queue_lock);\n  t->stopping = true;\n  gotrace__finish();\n'
       '  gotrace__unlock(&t->queue_lock);',
       '1023/sink-stops')
mutant('steal-forgotten', '  gotrace__store_relaxed(&p->steal_unreported, 1u);\n', '', '1023/handoff-clean')
mutant('late-tables',
       ['    t->tables[slot ^ 1] = tables;\n  }\n'
        '  if (gotrace__end_generation(generation, next << 2 | GOTRACE__ON)) {\n    gotrace__settle();'],
       ['  }\n  if (gotrace__end_generation(generation, next << 2 | GOTRACE__ON)) {\n    gotrace__settle();\n'
        '    t->tables[slot ^ 1] = tables;'],
       '1023/gg-cut', '1023/timed-cut')
mutant('start-leaves-collector',
       '  gotrace__lock_collector(c);\n  if (c->session && t->gc && t->gc_session',
       '  gotrace__lock(&t->collector);\n  if (c->session && t->gc && t->gc_session',
       '1011/gc-end-late', '1021/gc-end-late')
mutant('start-unlocked',
       ['  gotrace__lock(&t->global_lock);\n  gotrace__ender_call(&c, generation);',
        '  if (!n->v2) gotrace__write_start_of_trace(&c);\n  gotrace__unlock(&t->global_lock);'],
       ['  gotrace__ender_call(&c, generation);',
        '  if (!n->v2) gotrace__write_start_of_trace(&c);'],
       '1011/global-late', '1011/createsys-late')
mutant('on-before-session',
       '  gotrace__store_relaxed(&t->session, (uint32_t)generation);\n  t->tables[generation & 1] = n->tables;',
       '  gotrace__store_seq_cst(&t->control, generation << 2 | GOTRACE__ON);\n  gotrace__settle();\n'
       '  gotrace__store_relaxed(&t->session, (uint32_t)generation);\n  t->tables[generation & 1] = n->tables;',
       '1023/gg-late', '1011/gg-late')
mutant('claim-not-awaited',
       '    if (!claimed) break;\n    while (gotrace__load_acquire(&m->wait_claimed)) gotrace__pause(&spins);\n',
       '    (void)claimed, (void)spins;\n    break;\n',
       '1023/wait-on-next', '1011/wait-on-next')
mutant('wait-left-listed',
       '  gotrace__end_address_wait(m);\n  if (m->in_syscall)',
       '  if (m->in_syscall)',
       '1023/wait-on-exit', '1011/wait-on-exit')
mutant('reader-not-alone',
       'for (; !gotrace__cas_acq_rel(&t->reader, &nobody, 1u); nobody = 0) {',
       'for (; 0 && nobody;) {',
       '1023/readers', '1011/readers')
mutant('stop-cleans-twice',
       'if (!t->stopping && t->session == session) gotrace__clean_up();',
       'gotrace__clean_up();',
       '1023/read-restart')


# The limit at which threads wait; threads that are cancelled while they wait.
mutant('limit-waiters-wake-each-other',
       '  if (!t->cut_wanted) { /* else the reader is awake; threads that wait here would wake each other forever */\n',
       '  {\n',
       '1011/block', '1023/block')
mutant('limit-wakes-nobody',
       '    t->cut_wanted = true;\n    gotrace__cond_wake(&t->changed);\n  }\n  if (!t->empty.head',
       '    t->cut_wanted = true;\n  }\n  if (!t->empty.head',
       '1011/block-alone', '1023/block-alone')
mutant('early-end-overwritten',
       'passed >= period || (gotrace__load_relaxed(&t->control) & GOTRACE__MODE_MASK) != GOTRACE__ON;',
       'passed >= period;',
       '1011/block-early', '1023/block-early')
mutant('cancelled-reader-stays',
       'static void gotrace__read_cancelled(void) { gotrace__store_release(&gotrace__t.reader, 0u); }',
       'static void gotrace__read_cancelled(void) {}',
       '1023/cancel-read', '1011/cancel-read')
mutant('stop-is-cancelled',
       ['  *cancel = gotrace__cancel_off();\n  gotrace__init();',
        '!= GOTRACE__READ_DONE) gotrace__cond_wait(&t->changed, &t->queue_lock, 1000, NULL);\n    gotrace__unlock(&t->queue_lock);\n'
        '  }\n#endif\n  gotrace__lock(&t->snapshot);'],
       ['  *cancel = 0;\n  gotrace__init();',
        '!= GOTRACE__READ_DONE) gotrace__cond_wait(&t->changed, &t->queue_lock, 1000, gotrace__nothing);\n'
        '    gotrace__unlock(&t->queue_lock);\n  }\n#endif\n  gotrace__lock(&t->snapshot);'],
       '1023/cancel-stop', '1011/cancel-stop')
mutant('thread-end-is-cancelled',
       '  int cancel = gotrace__cancel_off(); /* nothing would give the record back */\n',
       '  int cancel = 0;\n',
       '1011/cancel-block-exit', '1023/cancel-block-exit')
mutant('limit-waits-in-a-call',
       '        gotrace__leave(c);\n        gotrace__wait_for_room();\n',
       '        gotrace__wait_for_room();\n        gotrace__leave(c);\n',
       '1023/block', '1011/block')


# The end of the process, unloading the library, concurrent stops, nested calls.
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
mutant('unload-not-gone',
       '  gotrace__store_seq_cst(&t->control, ((t->control >> 2) + 1) << 2 | GOTRACE__GONE);\n',
       '  gotrace__store_seq_cst(&t->control, ((t->control >> 2) + 1) << 2);\n',
       '1023/unload-begin', '1011/unload-begin')
mutant('exit-ends-nothing',
       '  if (active && service) gotrace_stop();\n  else if (active) gotrace_end();\n',
       '  (void)active, (void)service;\n',
       '1023/unload', '1011/unload-early')
mutant('second-stop-cleans-up',
       '  if (t->active && t->stopping) return gotrace__wait_for_stop();\n',
       '',
       '1023/stops-sink', '1011/stops-sink')
mutant('second-stop-waits-for-ever',
       '  while (t->stopping && gotrace__load_relaxed(&t->session) == session)\n',
       '  while (gotrace__load_relaxed(&t->session) == session)\n',
       '1023/stops', '1011/stops')
mutant('clean-up-wakes-nobody',
       '  t->stopping = false;\n  gotrace__cond_wake(&t->changed); /* other calls of gotrace_stop wait for this one */\n',
       '  t->stopping = false;\n',
       '1023/stops', '1011/stops')
mutant('sink-calls-not-nested',
       '  if (on) gotrace__inside |= GOTRACE__IN_SINK;\n  else gotrace__inside &= ~GOTRACE__IN_SINK;\n',
       '  (void)on;\n',
       '1023/sink-calls', '1011/sink-calls')
mutant('sink-ends-not',
       '  if (!(m && (m->sequence & 1)) && !(gotrace__inside & ~GOTRACE__IN_SINK)) return false;\n',
       '  if (!gotrace__is_nested(m)) return false;\n',
       '1023/sink-ends', '1011/sink-ends')
mutant('locks-not-counted',
       ['  gotrace__inside++;\n  gotrace__signal_fence();\n}', '  gotrace__signal_fence();\n  gotrace__inside--;\n}\n'],
       ['  gotrace__signal_fence();\n}', '  gotrace__signal_fence();\n}\n'],
       '1023/allocator-calls-late', '1011/allocator-calls-late')


# A goroutine that runs, but that a late waker marked as runnable while tracing was off.
mutant('late-waker-steals-proc',
       ['static void gotrace__lose_proc_silently(void);\n',
        '    gotrace__lose_proc_silently();\n    gotrace__store_relaxed(&m->in_syscall, false);\n'],
       ['static void gotrace__lose_proc_silently(void);\nstatic void gotrace__stop_proc_silently(void);\n',
        '    {\n      gotrace_proc *p = m->proc;\n'
       '      bool kept = p && gotrace__load_relaxed(&p->word) >> 4 == m->index;\n'
       '      void gotrace_proc_start(gotrace_proc *);\n'
       '      gotrace__stop_proc_silently();\n      gotrace__store_relaxed(&m->in_syscall, false);\n'
       '      if (kept) gotrace_proc_start(p);\n    }\n'],
       '1011/late-waker-steal', '1023/late-waker-proc')
mutant('late-waker-lacks-proc',
       'if (undone) { lost = m->lost_proc; gotrace__start_own_proc(m); }',
       'if (undone) { lost = m->lost_proc; m->lost_proc = NULL; }',
       '1011/late-waker-steal', '1023/late-waker-steal')
mutant('late-waker-undone-while-settling',
       '        (!c->plain || !gotrace__restore_go(m))) {\n',
       '        (c->session || !gotrace__restore_go(m))) {\n',
       '1011/late-waker-syscall')


# Lack of memory.
mutant('notes-left-out-unseen',
       '  return !notes->full;\n',
       '  return true;\n',
       '1023/lack-silent', '1023/lack-end')
mutant('cut-without-notes',
       '    if (!tables || notes.full || !gotrace__ender_room(&c)) {\n',
       '    if (!tables || !gotrace__ender_room(&c)) {\n',
       '1023/lack-cut', '1023/lack-silent')
mutant('failed-start-keeps-spare',
       '  gotrace__release(&t->budget, t->spare, sizeof *t->spare);\n  t->region_names = NULL;\n',
       '  t->region_names = NULL;\n',
       '1011/lack-start', '1023/lack-start')
mutant('failed-cut-leaks',
       '      gotrace__notes_free(&notes);\n      gotrace__tables_free(tables);\n      gotrace__piece_free(spare);\n      return false;\n',
       '      gotrace__notes_free(&notes);\n      gotrace__tables_free(tables);\n      return false;\n',
       '1023/lack-cut', '1023/lack-silent')

# CPU samples: a sample taken while a generation begins is written or counted.
mutant('sample-lost-at-cut',
       '} while (gotrace__load_relaxed(&t->control) != control);\n  return version >= GOTRACE_GO_1_19;',
       '} while (0);\n  return gotrace__load_relaxed(&t->control) == control && version >= GOTRACE_GO_1_19;',
       '1026/samples', '1021/samples')


def without_capture(text):
    """The header as it is compiled with GOTRACE__CAPTURE 0."""
    lines, kept = [], []  # kept: for each open #if, whether its lines are; None: it is about something else
    for line in text.split('\n'):
        word = line.split()
        if line in ('#if GOTRACE__CAPTURE', '#if !GOTRACE__CAPTURE'):
            kept.append('!' in line)
        elif word and word[0] in ('#if', '#ifdef', '#ifndef') and all(k is not False for k in kept):
            kept.append(None)
            lines.append(line)
        elif word and word[0] in ('#if', '#ifdef', '#ifndef'):
            kept.append(None)
        elif line == '#else' and kept[-1] is not None:
            kept[-1] = not kept[-1]
        elif word and word[0] == '#endif' and kept[-1] is not None:
            kept.pop()
        else:
            if all(k is not False for k in kept):
                lines.append(line)
            if word and word[0] == '#endif':
                kept.pop()
    return '\n'.join(lines)


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
    source = without_capture(open(os.path.join(ROOT, 'gotrace.h')).read())
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
                status, out = run(binary, ['--bound', bound, scenario])
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
