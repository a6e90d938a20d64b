#!/usr/bin/env python3
"""Breaks the tracer in small ways, and verifies that the tests detect each.

    tests/explore/mutants.py [-v] [-j N] [NAME...]      all mutants, or those named
    tests/explore/mutants.py --capture                  those that break what threads do concurrently, which explore detects
    tests/explore/mutants.py --transcriber              those that break the transcriber
    tests/explore/mutants.py --rest                     those that other tests detect
    tests/explore/mutants.py --list
    tests/explore/mutants.py --texts                    only whether the text of each is there, once
    tests/explore/mutants.py --find NAME...             searches all scenarios for one that kills the mutant

A mutant is a text of gotrace.h, in which white space may differ, and its replacement. It is applied to a copy, which is
built and run on the scenarios named in the table; or, for the transcriber, with test_transcriber.c and with the fuzz
target on its seeds and on random records; or with another test. A mutant is killed if one of them fails. The last line is
'N passed, N failed, N skipped'. Killed mutants pass; those that survive, and those whose text no longer exists, fail.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
HEADER = open(os.path.join(ROOT, 'gotrace.h')).read()
COMPILER = os.environ.get('CC') or ('clang' if shutil.which('clang') else 'cc')  # clang takes half of gcc's time


def mutant(name, old, new, *scenarios):
    """`old` and `new`: one text each, or lists of the same length."""
    if isinstance(old, str):
        old, new = [old], [new]
    MUTANTS.append((name, old, new, scenarios))


def transcriber(name, old, new):
    MUTANTS.append((name, [old], [new], TRANSCRIBER))


def tested(test, name, old, new):
    """Detected by a test of what is not concurrent: tables, sinks, stacks, the flight recorder, forks, waits."""
    MUTANTS.append((name, [old], [new], ('test', test)))


ADDRESS = ('-O1', '-fsanitize=address', '-fno-omit-frame-pointer')
MUTANTS = []
TRANSCRIBER = ('transcriber',)

# A call raises its flag, and then reads whether tracing is on. A stop waits for the calls under way.
mutant('stop-waits-for-nobody', 'if (!on) gotrace__await_calls();', '', '1023/rounds-stop', '1023/cause-restart')
mutant('session-read-once', 'if (GOTRACE__LIKELY(gotrace__session_now() == m->ready && gotrace__has_room',
       'if (GOTRACE__LIKELY(m->ready != GOTRACE__NEVER && gotrace__has_room',
       '1023/off-late')
mutant('flag-raised-late', ['if (GOTRACE__UNLIKELY(!gotrace__claim(m))) {', 'm->ready && gotrace__has_room(m, room))) return true;'],
       ['if (false) {', 'm->ready && gotrace__has_room(m, room))) {\n    gotrace__raise(m);\n    return true;\n  }\n  gotrace__raise(m);'],
       '1023/off-late')
mutant('new-chunk-in-an-old-session',
       'if (gotrace__session_now() != session || m->chunk != old) {', 'if (m->chunk != old) {',
       '1023/chunks-early', '1023/held-up-late', '1023/block-sink')

# A thread that is held up in a call across a stop.
mutant('tables-freed-under-a-call',
       'if (!gotrace__chunks_free(budget)) return;',
       '(void)gotrace__chunks_free(budget);',
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
       ['if (!first) gotrace__store_release(&old->next, chunk);\n    m->chunk = chunk;', 'if (!first) {\n      gotrace__go_outside();'],
       ['m->chunk = chunk;', 'if (!first) {\n      gotrace__store_release(&old->next, chunk);\n      gotrace__go_outside();'],
       '1023/held-up-chunks')
mutant('record-passed-on-with-a-goroutine', 'if (m->go) gotrace__leave_hint(m, GOTRACE__RUNNABLE); /* misuse', '/* misuse',
       '1023/exit-runs')
mutant('stolen-proc-taken-for-started',
       'return held && gotrace__load_relaxed(&p->owner) == (uint32_t)m->index;', 'return held;',
       '1023/steal-started')
mutant('ended-in-a-call-without-its-tick',
       'if (on && p && gotrace__load_relaxed(&p->owner) == (uint32_t)m->index) gotrace__raise_tick(&p->tick, m->tick + 1);',
       '(void)on;', '1023/skew-ended')
mutant('proc-started-in-a-call-not-introduced', 'if (started) gotrace__publish_as(m, gotrace__about_proc(m, GOTRACE__REC_PROC_START, p), PROC_START);',
       '(void)started;',
       '1023/found-late')
mutant('proc-started-in-a-call-given-to-it', 'if (!r->proc && !p->made) gotrace__begin_proc(t, r, p);', '(void)p;',
       '1023/found-logs')
mutant('owner-taken-back-in-a-call', 'if (!m->in_syscall) gotrace__store_relaxed(&p->owner, 0u);',
       'gotrace__store_relaxed(&p->owner, 0u);', '1023/steal-ended')
mutant('lost-proc-destroyed-early', ' || p->status == GOTRACE__PROC_SYSCALL, p->waiters);', ', p->waiters);',
       '1023/lost-destroyed')
mutant('listed-thread-not-corrected', 'if (r->go && (r->go != g || (p && r->proc != p))) gotrace__correct_listed(t, r, false);', '',
       '1023/listed-late')
mutant('listed-goroutine-not-corrected', 'gotrace__correct_listed(t, g->on, status == GOTRACE__WAITING);', '',
       '1023/listed-moved')
mutant('listed-proc-not-corrected', 'if (status != p->status) gotrace__correct_listed(t, p->on, false);', '',
       '1023/listed-handed')
mutant('lost-proc-said-to-be-in-a-call', 'status = GOTRACE__PROC_LOST;', 'status = GOTRACE__PROC_SYSCALL;',
       '1023/lost-destroyed-listed')
mutant('listed-creation-again', 'if (g->listed && !g->on && g->id == made->id) {',
       'if (0) {',
       '1022/listed-created')
mutant('listed-wait-unseen', 'g->unseen_wait = status == GOTRACE__WAITING && g->status == GOTRACE__RUNNABLE;', '',
       '1026/listed-waits')
mutant('record-of-another-thread', 'if (!m->source || m->source->id != id)', 'if (!m->source)', '1023/listed-again',
       '--random 60000,200,1')
mutant('task-without-a-begin-awaited', '&& !(id & GOTRACE__TASK_SILENT), t->task_waiters', ', t->task_waiters', '1011/task-late')
mutant('found-before-listed',
       """    gotrace__store_release(table->last ? &table->last->next : &table->first, entry);
    gotrace__store_release(chain, entry);""",
       """    gotrace__store_release(chain, entry);
    gotrace__store_release(table->last ? &table->last->next : &table->first, entry);""", '1011/same-name')
mutant('failed-start-joins-anothers-thread', 't->opening = true; gotrace__go_inside(); gotrace__unlock(&t->life);',
       'gotrace__go_inside(); gotrace__unlock(&t->life);', '1023/lack-starts')
mutant('listed-loss-forgotten', 'if (!p || (p->known && !p->listed)) return;', 'if (!p || p->known) return;',
       '1023/listed-lost')
mutant('listed-wake-forgotten', 'gotrace__restate_go(t, r, g);\n      gotrace__unblock(t, r, g, 0);', '', '1023/listed-woken')
mutant('listed-end-forgotten', 'if (!g->listed || g->on) {', 'if (true) {', '--random 60000,200,1')
mutant('end-of-a-plain-thread-in-two-sessions', 'if (m->session == session) gotrace__publish', 'gotrace__publish',
       '--most 1000000 1023/held-up-exit')

# A start while calls are under way.
mutant('creation-overtaken', 'if (known && !(on && known == m->session)) {', 'if (0) {', '1023/exit-late')
mutant('loss-forgotten', 'if (status == GOTRACE__PROC_IDLE && gotrace__load_relaxed(&p->owner)) status', 'if (0) status',
       '1023/steal-clean')
mutant('numbers-go-on', 'gotrace__store_relaxed(number, 0u);', '', '1023/pass-stop')
mutant('go-not-introduced',
       'if (gotrace__load_acquire(&g->introduced) != m->session) {\n    char label',
       'if (0) {\n    char label',
       '1023/pass-late', '1011/pass-late')

# What one thread has published is visible to whoever relies on it.
mutant('introduction-without-its-record', 'shown ? strlen(shown) : 0));\n    gotrace__store_release(&g->introduced, m->session);',
       'shown ? strlen(shown) : 0));\n    gotrace__store_relaxed(&g->introduced, m->session);',
       '--stale 1 1023/listed-timed')
mutant('introduction-seen-before-its-record',
       'if (GOTRACE__UNLIKELY(gotrace__load_acquire(&g->introduced)',
       'if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&g->introduced)', '--stale 1 1023/listed-timed')
mutant('stamp-before-its-number', 'gotrace__store_release(stamp, m->session);',
       'gotrace__store_relaxed(stamp, m->session);', '--stale 1 1023/listed-numbered')
mutant('wait-hides-the-last-call', 'gotrace__store_release(&m->in_call, (uintptr_t)GOTRACE__WAITS);',
       'gotrace__store_relaxed(&m->in_call, (uint32_t)GOTRACE__WAITS);', '--stale 1 1023/wait-after-end')
mutant('listed-proc-kept', '(r->go != g || (p && r->proc != p))', '(r->go != g)', '--stale 1 1023/listed-half')
mutant('introduction-takes-a-stolen-proc', 'if (in_syscall && p && p->number) p = NULL;', '', '1008/steal-introduced')
mutant('place-live-with-its-former-id',
       'gotrace__store_relaxed(&g->id, (uint64_t)0);\n  gotrace__store_release(&g->live, (uint8_t)1);',
       'gotrace__store_release(&g->live, (uint8_t)1);\n  gotrace__store_relaxed(&g->id, (uint64_t)0);',
       '1023/key-reused')

# The order of records of several threads.
mutant('threads-before-clock',
       'gotrace__read_clocks(&clocks);\n  gotrace__attach_threads(r);',
       'gotrace__attach_threads(r);\n  gotrace__read_clocks(&clocks);',
       '1023/pass-new', '1011/pass-new')
mutant('waker-counts', 'gotrace__about_go(m, GOTRACE__REC_GO_UNBLOCK, where, g, false, NULL)',
       'gotrace__about_go(m, GOTRACE__REC_GO_UNBLOCK, where, g, true, NULL)',
       '1023/pass-wake')

# Threads, goroutines and procs remember the tick of their last record, since the clocks of processors differ.
mutant('thread-forgets-its-tick', 'if (GOTRACE__UNLIKELY(tick < m->tick)) tick = gotrace__tick_behind(m, tick);', '',
       '1023/skew-moves')
mutant('ticks-not-kept', 'if (a) gotrace__store_relaxed(a, tick); return tick;', 'return tick;', '1023/skew-handed')
mutant('goroutine-forgets-its-tick', 'record = gotrace__record_at(m, kind, where, gotrace__record_time(m, &g->tick, other));',
       'record = gotrace__record_at(m, kind, where, gotrace__record_time(m, NULL, other));',
       '1023/skew-handed')
mutant('running-goroutine-forgets-its-tick', 'return gotrace__record_at(m, kind, where, gotrace__record_time(m, g ? &g->tick : NULL, other));',
       'return gotrace__record_at(m, kind, where, gotrace__record_time(m, NULL, other));',
       '--random 6000,200,1')
mutant('proc-forgets-its-tick', 'record = gotrace__record_at(m, kind, gotrace__nowhere, gotrace__record_time(m, &p->tick, NULL));',
       'record = gotrace__record_at(m, kind, gotrace__nowhere, gotrace__record_time(m, NULL, NULL));',
       '--random 6000,200,1')
mutant('stopped-proc-forgets-its-tick', 'gotrace__record_time(m, m->proc ? &m->proc->tick : NULL, NULL)',
       'gotrace__record_time(m, NULL, NULL)', '--random 6000,200,1')

mutant('given-up-proc-at-the-same-tick', 'if (!counts && m->proc) gotrace__raise_tick(&m->proc->tick, m->tick + 1);', '',
       '1023/skew-given-up')
mutant('destruction-not-woken', "gotrace__changed(t, &p->waiters); /* its destruction waits", '/* its destruction waits',
       '1023/skew-destroyed')
mutant('listed-though-a-record-tells-it',
       'if (gotrace__load_acquire(&g->introduced) == gotrace__load_relaxed(&t->session)) continue;', '',
       '1023/skew-listed-again', '1023/skew-listed', '1023/skew-listed-blocked', '1023/skew-listed-woken')

# Stale reads.
mutant('no-barrier', 'if (!gotrace__load_relaxed(&gotrace__t.fence) && !gotrace__barrier()) {', 'if (0) {',
       '--stale 1 1023/off-late')

# The records of threads that have ended; chunks that are used again.
mutant('record-released-early',
       'if (!source->gone || gotrace__load_acquire(&m->in_call)) continue;',
       'if (!source->gone) continue;',
       '1023/ended', '1023/ended-chunks')
mutant('record-released-unread',
       'if (ended) gotrace__store_release(&m->used, (uint32_t)GOTRACE__ENDED);',
       'if (ended) gotrace__store_release(&m->used, (uint32_t)GOTRACE__FREE_RECORD);',
       '1023/ended', '1023/ended-stop', '1023/new-threads-cut')
mutant('chunk-reused-unread', 'if (done == r->known) return false;', 'if (done == r->known) {\n'
       '      if (t->options.chunk_done && done->size > 20) t->options.chunk_done(t->options.context, done);\n'
       '      return false;\n    }', '1023/chunks-again', '1023/chunks')

# Locks and wake-ups.
mutant('work-wakes-nobody', 't->empty = t->ended && !t->cut_count;\n  gotrace__cond_wake(&t->changed);',
       't->empty = t->ended && !t->cut_count;',
       '1023/snapshot')
mutant('want-wakes-nobody', 'gotrace__t.work_wanted = true;\n  gotrace__cond_wake(&gotrace__t.changed);',
       'gotrace__t.work_wanted = true;', '1023/read-early', '1023/read')
mutant('full-chunk-wakes-nobody', 'if (old && !t->work_wanted) { /* once: otherwise threads that wait for room wake each other all the time */\n    t->work_wanted = true;\n    gotrace__cond_wake(&t->changed);\n  }',
       'if (old) t->work_wanted = true;', '1023/chunks-free')
mutant('reader-not-alone',
       'for (; !gotrace__cas_acq_rel(&t->reader, &nobody, 1u); nobody = 0) {',
       'for (; 0 && nobody;) {',
       '1023/readers', '1011/readers')
mutant('snapshots-together', 'met = !t->snapshot;', 'met = true;', '1023/snapshots')

# Threads that are cancelled while they wait.
mutant('cancelled-reader-stays',
       'GOTRACE__FN void gotrace__read_cancelled(void *mutex) {\n  gotrace__store_release(&gotrace__t.reader, 0u);',
       'GOTRACE__FN void gotrace__read_cancelled(void *mutex) {',
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
       '  while (gotrace__read_next(&data, &size, true, false) == GOTRACE_OK && size) continue; /* what nobody has read */\n',
       '  (void)data, (void)size;\n',
       '1023/unload-read', '1011/unload-read')
mutant('exit-ends-nothing',
       '  if (active && service) gotrace__stop_tracing(!unloaded);\n'
       '  else if (active) gotrace_end();\n',
       '  (void)active, (void)service;\n',
       '1023/unload', '1011/unload-early')
mutant('second-stop-cleans-up',
       '  if (t->active && t->stopping) return gotrace__wait_for_stop(milliseconds);\n',
       '',
       '1023/stops-sink', '1011/stops-sink')
mutant('second-stop-waits-for-ever',
       '(what == GOTRACE__STOPPED ? !t->stopping : done)',
       '(what == GOTRACE__STOPPED ? false : done)',
       '1023/stops', '1011/stops')
mutant('stop-wakes-nobody',
       '  t->snapper = 0;\n  gotrace__cond_wake(&t->changed); /* after gotrace_stop, also other calls of it, which wait for this one */\n',
       '  t->snapper = 0;\n',
       '1023/stops', '1011/stops')
mutant('sink-calls-not-nested',
       '  if (on) gotrace__inside |= GOTRACE__IN_SINK;\n  else gotrace__inside &= ~GOTRACE__IN_SINK;\n',
       '  (void)on;\n',
       '1023/sink-calls', '1011/sink-calls')
mutant('locks-not-counted',
       ['  gotrace__inside++;\n  gotrace__signal_fence();\n}', '  if (inside & GOTRACE__LOCKS) gotrace__inside = --inside;\n'],
       ['  gotrace__signal_fence();\n}', ''],
       '1023/allocator-calls-late', '1011/allocator-calls-late')

# Lack of memory.
mutant('counts-of-lost-output', 'if (r->error == GOTRACE_ERROR_SINK) *stats = t->at_cut;\n  else if', 'if',
       '1023/lack-silent', '1011/lack-silent')

# The transcriber: the order of records.
transcriber('only-the-last-thread-of-an-id', 'r->same = *at;\n  *at = r;', '*at = r;')
# Nested running.
transcriber('nest-needs-a-proc', '& GOTRACE__RECORD_OWN) && !r->plain) gotrace__problem_seen(t, GOTRACE_PROBLEM_NO_PROC)',
            '& GOTRACE__RECORD_OWN)) gotrace__problem_seen(t, GOTRACE_PROBLEM_NO_PROC)')
transcriber('nest-takes-over', 'if (from && begin) {', 'if (0) {')
transcriber('nest-transition-not-counted', 'if (from && begin) {\n    gotrace__next_go(t, from);', 'if (from && begin) {')
transcriber('nest-end-over-a-running-goroutine',
            '} else {\n    gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);\n  }\n  if (g)', '}\n  if (g)')
tested('test_nest', 'nest-introduced-as-a-worker', 'if (gotrace__is_plain(m)) flags |= GOTRACE__RECORD_PLAIN;', '')
tested('test_nest', 'nest-restarts-who-waits', 'if (!from && m->level && m->level->waits && !m->level->nested) {', 'if (0) {')
tested('test_rare_paths', 'destroyed-proc-regained',
       'gotrace__store_relaxed(&proc->owner, 0u); /* a thread that has lost it must not regain it */', '')
tested('test_open_tasks', 'homeless-task-forgotten', 'task = gotrace__distant_place(tasks, id);', '{}')
tested('test_nest', 'nest-attaches', 'if (m->go || m->level || m->proc || m->lacks ||', 'if (m->go || m->proc || m->lacks ||')
tested('test_nest', 'nest-outlives-its-thread', 'if (nested) gotrace__end_nest(m, nested, true);', '')

transcriber('procs-without-goroutine-forgotten', 't->globals_generation = 0; /* the number of procs is due */ t->counters.idle++;',
            't->counters.idle++;')
transcriber('named-by-an-empty-generation', 'p->time = t->unused_time;', '')
transcriber('procs-not-written-again', 'if (t->proc_count > t->procs_written) t->globals_generation = 0;', '')
transcriber('row-moved', 'row = gotrace__row_of(t, t->stacks, g->entry); if (!row && !stop)',
            'const gotrace__row *old = row; row = gotrace__row_of(t, t->stacks, g->entry); stop = old ? old->entry : NULL; if (!row && !stop)')
transcriber('own-thread-not-restated', 'gotrace__restate_thread(t, &t->service); /* it may', '/* it may')
transcriber('creation-for-a-wake-up', 'gotrace__write_creation(t, r, g, stack);\n    return;',
            'gotrace__write_creation(t, r, g, stack);\n    g->woken = true;\n    return;')
transcriber('sampled-before-its-creation', 'if (GOTRACE__UNLIKELY(g->sampled == g->id) &&', 'if (false &&')
transcriber('start-waits-not', 'gotrace__waiters *waiters = gotrace__await_go(t, g, number, true, force);',
            'gotrace__waiters *waiters = NULL;')
transcriber('start-before-unblock', 'return !force && (!r->later || t->waiting) ? &g->waiters : NULL;',
            'return NULL;')
transcriber('proc-start-waits-not', 'GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, p->number + 1) || !p->known, p->waiters);',
            '')
transcriber('late-steal', 'X(SYSCALL_END_BLOCKED, TAKEN, running',
            'X(SYSCALL_END_BLOCKED, NONE, running')
transcriber('unblock-waits-not', '(GOTRACE__IS_LATER(number, g->number) || !g->known) && !force ? &g->waiters : NULL',
            'NULL')
transcriber('stale-unblock', 'g->status != GOTRACE__WAITING || number != g->number)',
            'g->status != GOTRACE__WAITING)')
transcriber('switch-waits-not', 'gotrace__await_go(t, g, number, true, force), true)',
            'NULL, true)')
transcriber('create-waits-not', 'gotrace__await_go(t, g, number, false, force), true)',
            'NULL, true)')
transcriber('task-end-waits-not', 'GOTRACE__WAIT_FOR(!known && id >= t->options.first_task && !(id & GOTRACE__TASK_SILENT), t->task_waiters);', '')
transcriber('collector-waits-not', 'GOTRACE__WAIT_FOR(GOTRACE__IS_LATER(number, t->collector_number + 1), t->collector_waiters);',
            '')
transcriber('last-is-forced', 'early > 0 : a->record_tick < b->record_tick',
            'early > 0 : a->record_tick > b->record_tick')
transcriber('end-of-a-former-thread',
            'if (!r->introduced && !gotrace__follow_thread(t, r, force)) return &t->end_waiters;', '')
transcriber('former-thread-written-last', 'if (r->proc) gotrace__end_proc(t, r); gotrace__lane_flush(t, &r->lane);',
            'if (r->proc) gotrace__end_proc(t, r);')
transcriber('end-of-a-call-forced-last', '|| kind == GOTRACE__REC_SYSCALL_END_BLOCKED;',
            ';')
transcriber('end-of-a-wait-forced-last', 'early != 0 ? early > 0 :', '')
transcriber('forced-at-the-end-of-a-round', '|| (t->limit != UINT64_MAX && first->record_tick + GOTRACE__CLOCK_SKEW > t->limit)',
            '')
transcriber('change-wakes-one', 'while (GOTRACE__UNLIKELY(waiters->first != NULL)) {',
            'if (GOTRACE__UNLIKELY(waiters->first != NULL)) {')
transcriber('heap-unordered', 'for (; at && r->turn < t->heap[(at - 1) / 2]->turn;', 'for (; 0;')
transcriber('thread-runs-ahead', '&& (!t->heap_count || r->record_tick <= t->heap[0]->turn);',
            ';')
transcriber('round-without-limit', '!t->full && r->record_tick <= t->limit &&',
            '!t->full &&')
transcriber('round-of-everything', 'gotrace__is_more(t, t->from_tick + ticks, t->options.cut_bytes / 2)',
            'gotrace__is_more(t, t->from_tick + ticks, UINT64_MAX)')
transcriber('number-not-counted', '#define gotrace__next_go(t, g) gotrace__number_go(t, g, (g)->number + 1)',
            '#define gotrace__next_go(t, g) gotrace__number_go(t, g, (g)->number)')
transcriber('unblock-not-told', 'gotrace__unblock(t, r, g, gotrace__call_stack_id(t, r));\n  gotrace__changed(t, &g->waiters);',
            'gotrace__unblock(t, r, g, gotrace__call_stack_id(t, r));')

# Chunks.
transcriber('other-sessions-read', 'if (done->session != t->options.session) r->at = r->end;', '')
transcriber('chunk-without-base', 'r->tick = r->chunk->tick; /* that of its last record', 'r->tick = r->tick; /* that of its last record')
transcriber('chunk-not-given-back', 'if (t->options.chunk_done) t->options.chunk_done(t->options.context, done);', '')
transcriber('record-beyond-the-end', 'return GOTRACE__LIKELY(bytes <= room) ? at + bytes : NULL;', 'return at + bytes;')
transcriber('said-of-the-one-after-too', 'r->at = r->record_end;\n    gotrace__forget_said(r);', 'r->at = r->record_end;')
transcriber('kind-unchecked', 'if (GOTRACE__UNLIKELY(kind >= GOTRACE__RECORD_KINDS)) return NULL;',
            '')
transcriber('look-ahead-ends-in-a-record', 'if (at) r->end = at;', 'if (at) r->end = r->at + 1;')

# Time.
transcriber('event-before-its-threads-last', 'at >= lane->full || time < lane->time)', 'at >= lane->full)')
transcriber('time-goes-back', 'if (t->now < time) t->now = time;', '')
transcriber('push-forgotten', 'if (GOTRACE__UNLIKELY(t->now <= t->pushed.time)) gotrace__after_push(t, r);', '')
transcriber('status-before-its-goroutines-event', 'if (time < g->time) time = g->time;', '')
transcriber('jump-unseen', 't->jumped = gotrace__has_jumped(t, clocks->tick, unit);', 't->jumped = false;')
transcriber('jump-from-the-beginning', 'return after < t->to_unit - t->from_unit ? t->to_unit - after : t->from_unit;',
            'return t->from_unit;')
transcriber('jump-from-the-end', 'if (before <= t->to_unit - t->from_unit) return t->from_unit + before;', '')
transcriber('task-end-with-its-begin', 'if (task && task->on != r) gotrace__push_time(t, task->value + 1);', '')

# Generations.
transcriber('sequence-goes-on', 'g->generation = t->generation; if (!t->v1) g->sequence = 0;', 'g->generation = t->generation;')
transcriber('proc-sequence-goes-on', 'p->generation = t->generation; p->sequence = 0;', 'p->generation = t->generation;')
transcriber('string-of-an-old-generation',
            '|| mirror->rows[number].generation != t->generation)) return NULL;',
            '|| !mirror->rows[number].id)) return NULL;')
transcriber('silent-left-out', 'if (first || t->options.restate) gotrace__restate_all(t);', '')
transcriber('listed-left-out', 'if (first) gotrace__adopt_listed(t);', '')
transcriber('stw-over-a-cut', 'if (t->stw_go && !t->stw_closed && (last || !t->v1)) {', 'if (0) {')
transcriber('stw-not-resumed', 'if (t->stw_closed && t->stw_go == r->go) gotrace__stw_event(t, r, 0);', '')
transcriber('collection-begins-again',
            '!t->v1 && (t->gc_seen || t->generation == 1) ? GOTRACE_V2_GC_ACTIVE : GOTRACE_V2_GC_BEGIN', 'GOTRACE_V2_GC_BEGIN')
transcriber('assist-not-restated', 'if (g->assist && !t->v1)', 'if (0)')
transcriber('sweep-not-restated', 'if (p->sweep_seen && !t->v1)', 'if (0)')
transcriber('empty-generation', 'if (!t->v1 && !t->generation_used) { /* readers', 'if (0) { /* readers')
transcriber('living-ids-forgotten', 'if (g && g->known && g->status != GOTRACE__DEAD) gotrace__id_add(t, &t->ids, g->id);', '')
transcriber('open-names-forgotten',
            '*name = gotrace__text_reference(t, (const char *)(row->entry + 1), row->entry->size);', '')
transcriber('open-names-renumbered', 'kept->id = row->id;', 'kept->generation = 0;')
transcriber('reasons-kept', 'memset(t->reason_refs, 0, sizeof t->reason_refs);', '')

# The model.
transcriber('steal-without-a-number', """  p->sequence++;
  gotrace__do_proc(t, r, victim, p, PROC_STEAL,""", 'gotrace__do_proc(t, r, victim, p, PROC_STEAL,')
transcriber('thief-without-victim', 'gotrace__do_proc(t, r, victim, p, PROC_STEAL, 3, p->id, p->sequence, victim->id);',
            'gotrace__emit_proc(t, r, p, GOTRACE_V2_PROC_STEAL, 3, p->id, p->sequence, victim->id); '
            'p->status = GOTRACE__PROC_IDLE; p->on = NULL; p->time = t->now;')
transcriber('call-never-ends', 'gotrace__do0(t, r, g, GO_SYSCALL_END);',
            'gotrace__emit0(t, r, g, GOTRACE_V2_GO_SYSCALL_END); p->status = GOTRACE__PROC_RUNNING;')
transcriber('stw-of-a-blocked-goroutine', 'if (GOTRACE__LIKELY(!t->stw_go || t->stw_go != r->go)) return;', 'return;')
transcriber('region-stays-open', 'while (g->region_depth >= depth) {', 'while (g->region_depth > depth) {')
transcriber('region-order-uncounted', 'if (depth < g->region_depth) gotrace__problem_seen(t, GOTRACE_PROBLEM_REGION_ORDER);', '')
transcriber('task-never-ends', 'if (task) task->key = UINT64_MAX;', '')
transcriber('id-twice', 'if (block->value & bit) return false;', '')
transcriber('forever-ids-forgotten', 'if (gotrace__id_is_kept(t, id)) return false;', '')
transcriber('forever-ids-unbounded', 't->kept_count >= GOTRACE__MOST_KEPT; gap', 'false; gap')
transcriber('status-before-the-last-event', 'if (time < p->time) time = p->time; /* as in', '/* as in')
transcriber('time-of-a-proc-not-kept', 'if (p) p->time = time;', '')
transcriber('call-ends-before-its-steal', 'if (victim->time < t->now) victim->time = t->now; /* its call', '; /* its call')
transcriber('ended-thread-was-listed', 'r->listed_go = r->listed_proc = 0;\n    r->gone = true;', 'r->gone = true;')
transcriber('task-of-former-session', 'id < t->options.first_task || ', '')
transcriber('sample-of-another', 'if (t->v1 && (!g || g->id != go)) go = 0;', '')
transcriber('sample-before-creation', 'if (time <= born) time = born + 1;', '')
transcriber('event-inside-a-call', 't->counters.wrapped++; gotrace__leave_call(t, r, false);', 't->counters.wrapped++;')
transcriber('call-not-resumed', """  if (inside < GOTRACE__KEPT_PROC || !r->go) return;
  gotrace__enter_call(t, r, 0);""", """  if (inside < GOTRACE__KEPT_PROC || !r->go) return;""")
transcriber('thread-ends-with-a-proc', 'if (r->proc) gotrace__end_proc(t, r); gotrace__lane_flush(t, &r->lane);',
            'gotrace__lane_flush(t, &r->lane);')
transcriber('start-over-a-goroutine', 'gotrace__clear_thread(t, r, GOTRACE_PROBLEM_START_OVER, GOTRACE_STOP_YIELD);\n  if (kind == GOTRACE__REC_THREAD_START)',
            'if (kind == GOTRACE__REC_THREAD_START)')
transcriber('switch-runs-two', 'gotrace__moves(t, r, g, GO_START); gotrace__write_label(t, r, g);',
            'g->sequence++; g->on = r; r->go = g; gotrace__write_label(t, r, g);')
transcriber('label-of-a-listed-goroutine', 'gotrace__leave_list(t, g, r->text); if (g->number)',
            'g->listed = false; if (g->number)')
tested('test_generations', 'label-of-a-listed-thread', 'if (g) gotrace__leave_list(t, g, r->text);',
       'if (g) g->listed = false;')
transcriber('introduction-behind-a-wait', 'if (g->number) return; /* a later record',
            '/* a later record')
transcriber('name-without-memory', 'if (GOTRACE__LIKELY(!t->error)) gotrace__emit3(t, r, r->go, GOTRACE_V2_USER_REGION_END',
            'gotrace__emit3(t, r, r->go, GOTRACE_V2_USER_REGION_END')
transcriber('forever-without-memory', 'gotrace__keep_id(t, g->id); /* if', 'if (!gotrace__keep_id(t, g->id)) return; /* if')
transcriber('collection-without-memory', '  if (t->error) return;\n  gotrace__push_time(t, t->collector_time', '  gotrace__push_time(t, t->collector_time')
transcriber('introduction-after-the-end', 'bool known = r->introduced || r->gone;', 'bool known = r->introduced;')
transcriber('new-id-without-memory', 'return t->error ? !gotrace__id_is_in(&t->ids, id) :', 'return t->error ? true :')
tested('test_destroy', 'extra-stays', 'if (GOTRACE__UNLIKELY(gotrace__load_relaxed(&g->extra))) gotrace__forget_extra(g);', '')
transcriber('forever-keeps-its-id', 'if (reason == GOTRACE_BLOCK_FOREVER) gotrace__go_forever(t, g);', '')
transcriber('regions-never-forgotten', """    g->region_first++;
    g->region_depth--;""", 'return;')
transcriber('cut-uncounted', 'if (GOTRACE__UNLIKELY(kept != size)) gotrace__problem_seen(t, GOTRACE_PROBLEM_STRING_CUT);', '')

# v1.
transcriber('v1-sequence', 'g->sequence++; g->last_lane = lane;', 'g->last_lane = lane;')
transcriber('v1-lane', 'if (g->last_lane == lane) gotrace__put_v1(t, lane, local,', 'if (1) gotrace__put_v1(t, lane, local,')
transcriber('v1-call-blocks-twice', 'if (!g || g->status != GOTRACE__SYSCALL || g->call_blocked) return;',
            'if (!g || g->status != GOTRACE__SYSCALL) return;')
transcriber('v1-exit-forgotten', """    gotrace__put_v1(t, lane, GOTRACE_V1_GO_SYS_EXIT, time, 3, g->id, g->sequence++, g->exit_time);""", '')
transcriber('v1-first-events', 'if (t->v1 && !t->generation_used) gotrace__write_first(t);', '')
transcriber('v1-strings-last', 'if (lane != &t->string_lane) gotrace__lane_flush(t, &t->string_lane); /* a trace may end here */', '')
transcriber('v1-sweep-open', """      gotrace__put_v1(t, &p->lane, GOTRACE_V1_GC_SWEEP_DONE, t->now, t->options.version < 1009 ? 0 : 2, p->swept, p->reclaimed, 0);""", ';')
transcriber('v1-event-in-a-call', 'bool other = r->go && r->go->status == GOTRACE__SYSCALL && r->go != g;', 'bool other = false;')

# The second time: a jump of the counter, a sweep, texts of a generation.
transcriber('introduction-wakes-nobody', "gotrace__changed(t, &g->waiters); /* another thread's record with the same tick */", '')
transcriber('second-jump-unseen', 't->steady_tick = tick; t->steady_unit = unit;', '')
transcriber('second-sweep-sums-up', 'p->swept = p->reclaimed = 0;', '')

# The second trace of a process, and what comes before a trace.
tested('test_sessions', 'stack-of-the-former-trace', 'seen->session == m->session && seen->place == place', 'seen->place == place')
tested('test_sessions', 'entry-of-the-former-trace', 'm->entry_session == m->session && m->entry.pc == place->pc',
       'm->entry.pc == place->pc')
tested('test_sessions', 'name-of-the-former-trace', 'return GOTRACE__LIKELY(known >> 31 == ((uint64_t)m->session << 1 | 1))',
       'return GOTRACE__LIKELY((known >> 31 & 1) != 0)')
tested('test_sessions', 'site-of-the-former-trace', 'return GOTRACE__LIKELY(known >> 32 == m->session) ? (uint32_t)known : gotrace__number_site',
       'return known ? (uint32_t)known : gotrace__number_site')
tested('test_sessions', 'goal-before-the-start', 'r->heap_goal = gotrace__load_relaxed(&t->heap_goal);', '')
tested('test_sessions', 'heap-before-the-start', 'r->heap_alloc = gotrace__load_relaxed(&t->heap_alloc);', '')
tested('test_sessions', 'procs-before-the-start', 'r->procs_changed = gotrace__load_relaxed(&t->procs_changed);', '')
tested('test_sessions', 'collection-before-the-start', 'r->gc = gotrace__load_relaxed(&t->gc) != 0;', '')
tested('test_sessions', 'collection-before-the-first-call', 'record->as_COLLECTOR.gc = gotrace__load_relaxed(&gotrace__t.gc);',
       'record->as_COLLECTOR.gc = 0;')
tested('test_sessions', 'stop-before-the-first-call', 'record->as_COLLECTOR.stw = gotrace__load_relaxed(&gotrace__t.stw);',
       'record->as_COLLECTOR.stw = 0;')
tested('test_sessions', 'goal-of-later-generations', 'if (t->heap_goal) gotrace__emit1', 'if (t->heap_goal && t->generation == 1) gotrace__emit1')
tested('test_sessions', 'heap-of-later-generations', 'if (t->heap_alloc) gotrace__emit1',
       'if (t->heap_alloc && t->generation == 1) gotrace__emit1')
tested('test_sessions', 'heap-values-forgotten', '*(goal ? &t->heap_goal : &t->heap_alloc) = bytes + 1;',
       '')
tested('test_sessions', 'samples-of-the-former-trace', 'if (sample->session == r->options.session) {', 'if (1) {')
tested('test_sessions', 'verdict-of-the-former-trace', 'gotrace__store_relaxed(&t->verdict, session << 8 | GOTRACE__UNDECIDED);', '')
tested('test_sessions', 'threads-of-the-former-trace', 't->past_lost = false; t->thread_total = 0;', 't->past_lost = false;')

# A collector's call that is lost, a jump of the counter back, calls that need more room than they ask for.
tested('test_held_up', 'stop-before-the-start', 'r->stw = gotrace__load_relaxed(&t->stw) != 0;', '')
tested('test_held_up', 'jump-back-in-the-same-chunk', 'if (m->tick - tick >= GOTRACE__FAR) m->ready = GOTRACE__NEVER;',
       '(void)tick;')
transcriber('jump-back-unseen', 'bool jumped = tick < t->to_tick;', 'bool jumped = false;')
tested('test_chunks', 'room-too-small', '#define GOTRACE__CALL_ROOM (384u + 128u * GOTRACE_DEBUG)',
       '#define GOTRACE__CALL_ROOM (64u + 64u * GOTRACE_DEBUG)')

# Ends and limits.
transcriber('named-reasons-kept', 'memset(t->named_refs, 0, sizeof t->named_refs);', '')
transcriber('limit-without-ended-threads', '(r->introduced || r->gone) && r->tick > last', 'r->introduced && r->tick > last')
transcriber('v1-stack-too-large', 'if (t->v1 && at - body > GOTRACE__MOST_STACK) {', 'if (0) {')
transcriber('v1-stack-cut-uncounted', 'at = before; gotrace__problem_seen(t, GOTRACE_PROBLEM_STACK_CUT);', 'at = before;')
tested('test_reader', 'second-verdict',
       '(void)gotrace__cas_seq_cst(&t->verdict, &verdict, session << 8 | (0xffu & (uint32_t)result));',
       '(void)verdict; gotrace__store_seq_cst(&t->verdict, session << 8 | (0xffu & (uint32_t)result));')
tested('test_allocation_failure', 'verdict-of-the-last-round', 'if (!on && (r->error || r->full) && !gotrace__result())',
       'if (!on && (r->error || r->full))')
tested('test_fork', 'childs-samples-full', 'for (i = 0; t->samples && i < GOTRACE__SAMPLES; i++) t->samples[i].turn = 0;',
       '(void)i;')
tested('test_fork', 'childs-samples-behind', 't->sample_head = t->sample_tail = 0;', '')
tested('test_flight', 'lost-for-ever', 't->past_lost = false; while (t->kept', 'while (t->kept')
tested('test_flight', 'loss-leaves-a-gap', 't->past_lost = true; gotrace__past_clear();', 't->past_lost = true;')
tested('test_flight', 'loss-not-noted', 't->past_lost = true; gotrace__past_clear();', 'gotrace__past_clear();')

# The rest.
tested('test_reload', 'entry-of-a-library-that-is-gone', '  m->entry_session = 0;\n  return number;', '  return number;')
tested('test_flight', 'old-generations-kept', 'now - t->kept->end_nanoseconds >= age) gotrace__past_forget();', 'false) ;')
tested('test_flight', 'snapshot-unheld', ' && t->past != t->writing) {', ') {')
tested('test_flight', 'oldest-not-dropped', 'while (t->kept && t->past_bytes + size > most) gotrace__past_forget();', '')
tested('test_fork', 'child-keeps-its-parents-id', 'if (self) self->system_id = gotrace__system_thread_id();', '')
tested('test_fork', 'childs-goroutines-run',
       'else if (g->status == GOTRACE__RUNNING || g->status == GOTRACE__SYSCALL) g->status = GOTRACE__WAITING;', '')
tested('test_wait_on', 'last-waiter-first', 'for (waiter = bucket->first; waiter && waiter->key != key; waiter = waiter->next) continue;',
       'for (waiter = bucket->last; waiter && waiter->key != key; waiter = waiter->previous) continue;')
tested('test_wait_on', 'waiter-for-another-address', 'waiter && waiter->key != key;', 'false;')
tested('test_wait_on', 'waiter-whose-goroutine-ended', 'if (gotrace__load_relaxed(&g->id) != waiter->id) g = NULL;', '')
tested('test_waits_off', 'waiter-shown-as-running', 'bool waits = (gotrace__load_acquire(&m->in_call) & GOTRACE__WAITS) != 0;',
       'bool waits = false;')
tested('test_waits_off', 'waiter-whose-goroutine-ended-runs', 'return gotrace__load_relaxed(&g->id) == m->outermost.id &&', 'return')
tested('test_keys', 'keys-below-a-freed-one-lost', 'memcpy(last->below, gone->below, sizeof last->below);', '')
tested('test_create_no_proc', 'idle-worker-not-counted', 'm->was_worker |= p != NULL;', '')
tested('test_limits', 'size-limit-ignored',
       'if (t->error || (t->options.size_limit && t->bytes >= t->options.size_limit)) t->full = true, t->until = 0;', '')
tested('test_write_failure', 'failure-leaves-a-part', 'gotrace__file_truncate(&t->file, consistent);', '')
tested('test_sinks', 'stop-leaves-all-to-the-service-thread', 'if (t->service) gotrace__work(false, true);', '')
tested('test_sinks', 'failed-sink-is-called-again', 'if (t->sink_failed) return;', '')
tested('test_rare_paths', 'walk-goes-down', 'sum = gotrace__seen_hash(sum, words[ret]); if (up <= frame) break;',
       'sum = gotrace__seen_hash(sum, words[ret]);')
tested('test_rare_paths', 'walk-leaves-the-stack', 'while (count < max && frame <= high - 2 * sizeof(uintptr_t) &&', 'while (count < max &&')
tested('test_samples', 'sample-without-its-goroutine', 'if (g) sample->go = gotrace__load_relaxed(&g->id);', '')


def build(header_text, folder, *sources, options=('-O0',)):
    header = os.path.join(folder, 'gotrace.h')
    with open(header, 'w') as f:
        f.write(header_text)
    binary = os.path.join(folder, 'program')
    command = [COMPILER, '-std=c11', *options, '-w', '-I', folder, '-I', ROOT, '-isystem', '/usr/include/stb',
               *[os.path.join(ROOT, source) for source in sources], '-o', binary, '-pthread']
    done = subprocess.run(command, capture_output=True, text=True)
    return binary if done.returncode == 0 else None


def run(binary, arguments, seconds=240, folder=None):
    try:
        done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=seconds, cwd=folder)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return 1, 'takes too long'


def try_transcriber(source, folder):
    binary = build(source, folder, 'tests/transcriber/test_transcriber.c', options=ADDRESS)
    if not binary:
        return 'gone', 'it does not compile'
    status, out = run(binary, [])
    if status:
        return 'killed', 'test_transcriber'
    binary = build(source, folder, 'fuzz/transcribe.c', 'fuzz/replay.c', options=('-O1',))
    inputs = [[os.path.join(ROOT, 'fuzz', 'seeds', 'transcribe')], ['-r', '20000', '300', '1'], ['-r', '3000', '2000', '2']]
    if any(run(binary, arguments, folder=folder)[0] for arguments in inputs):
        return 'killed', 'fuzz/transcribe.c'
    binary = build(source, folder, 'fuzz/decode_calls.c', 'fuzz/replay.c', options=('-O1',))
    killed = run(binary, [os.path.join(ROOT, 'fuzz', 'seeds', 'decode_calls')], folder=folder)[0]
    return ('killed', 'fuzz/decode_calls.c') if killed else ('survives', '')


def try_test(source, folder, test):
    test_source, = glob.glob(os.path.join(ROOT, 'tests/*', test + '.c'))
    text = open(test_source).read()
    own = 'GOTRACE_IMPLEMENTATION' in text
    unfit = re.search(r'Not in: ([a-z_ ]*)[.,;]', text)  # as in run.sh
    binary = build(source, folder, test_source, *([] if own else ['tests/implementation.c']),
                   options=('-O1',) if unfit and 'address' in unfit.group(1).split() else ADDRESS)
    if not binary:
        return 'gone', 'it does not compile'
    status, out = run(binary, [], folder=folder)
    return ('killed', test) if status else ('survives', test)


def mutate(source, entry):
    """The header with the mutant, and why there is none."""
    for old, new in zip(entry[1], entry[2]):
        text = re.compile(r'\s+'.join(re.escape(word) for word in old.split()))
        if len(text.findall(source)) != 1:
            return None, f'its text is there {len(text.findall(source))} times: {old.strip().splitlines()[0]}'
        source = text.sub(lambda match: new, source)
    return source, None


def try_mutant(entry, find):
    scenarios = entry[3]
    source, why = mutate(HEADER, entry)
    if why:
        return 'gone', why
    with tempfile.TemporaryDirectory() as folder:
        if scenarios == TRANSCRIBER:
            return try_transcriber(source, folder)
        if scenarios[0] == 'test':
            return try_test(source, folder, scenarios[1])
        binary = build(source, folder, 'tests/explore/explore.c')
        if not binary:
            return 'gone', 'it does not compile'
        if find:
            status, out = run(binary, ['--quiet', '--bound', '1'], 900)
            names = sorted({line.split("'")[1] for line in out.splitlines() if line.startswith("FAILED '")})
            return ('killed' if names else 'survives'), ' '.join(names)
        for scenario in scenarios:
            for bound in '0', '1', '2':
                status, out = run(binary, ['--quiet', '--bound', bound, *scenario.split()])
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
    if '--texts' in arguments:
        gone = [(entry[0], why) for entry in MUTANTS for why in [mutate(HEADER, entry)[1]] if why]
        for name, why in gone:
            print(f'{name}: {why}')
        return bool(gone)
    chosen = [entry for entry in MUTANTS if not names or entry[0] in names]
    kinds = [kind for kind in ('capture', 'transcriber', 'rest') if '--' + kind in arguments]
    if kinds:
        chosen = [entry for entry in chosen
                  if {'transcriber': 'transcriber', 'test': 'rest'}.get(entry[3][0], 'capture') in kinds]
    counts = {'killed': 0, 'survives': 0, 'gone': 0}
    # A check that fails anyway would kill everything.
    for checks in sorted({entry[3] for entry in chosen if entry[3][0] in ('test', *TRANSCRIBER)}):
        if try_mutant(('unchanged', [], [], checks), find)[0] != 'survives':
            print('the checks fail without a mutant:', *checks)
            return 1
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
