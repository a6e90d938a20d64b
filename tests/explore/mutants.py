#!/usr/bin/env python3
"""Breaks the tracer in small ways, and verifies that the tests detect each.

    tests/explore/mutants.py [-v] [-j N] [NAME...]      all mutants, or those named
    tests/explore/mutants.py --capture                  those that break what threads do concurrently, which explore detects
    tests/explore/mutants.py --transcriber              those that break the transcriber
    tests/explore/mutants.py --outside                  those that break the reader of a box
    tests/explore/mutants.py --rest                     those that other tests detect
    tests/explore/mutants.py --list
    tests/explore/mutants.py --texts                    only whether the pattern of each is there, once
    tests/explore/mutants.py --find NAME...             searches all scenarios for one that kills the mutant

A mutant is a function or macro of gotrace.h, or of examples/gotrace/record/outside.h, a pattern that is found in it exactly once, and its replacement. A pattern
is C: white space, comments and line breaks between its words do not count. '...' stands for anything but ';', '{' and
'}', with all parentheses closed: the arguments of a call, the rest of a condition. The first '...' of a replacement is
what the first of the pattern stood for, and so on. The names in it are those that tell what breaks; the fewer, the less
a change of the header has to be repeated here.

It is applied to a copy, which is built and run on the scenarios named in the table; or, for the transcriber, with
test_transcriber.c and with the fuzz target on its seeds and on random records; or with another test. A mutant is killed
if one of them fails. The last line is 'N passed, N failed, N skipped'. Killed mutants pass; those that survive, and
those whose pattern is not there once, fail.
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
READER = 'examples/gotrace/record/outside.h'
READER_TEXT = open(os.path.join(ROOT, READER)).read()
COMPILER = os.environ.get('CC') or ('clang' if shutil.which('clang') else 'cc')  # clang takes half of gcc's time


def mutant(name, where, old, new, *scenarios):
    """`old` and `new`: one each, or lists of the same length, which are applied in this order; so may `where`."""
    old, new = ([text] if isinstance(text, str) else text for text in (old, new))
    where = [where] * len(old) if isinstance(where, str) else where
    MUTANTS.append((name, list(zip(where, old, new, strict=True)), scenarios))


def transcriber(name, where, old, new):
    mutant(name, where, old, new, *TRANSCRIBER)


def tested(test, name, where, old, new):
    """Detected by a test of what is not concurrent: tables, sinks, stacks, the flight recorder, forks, waits."""
    mutant(name, where, old, new, 'test', test)


def outside(name, where, old, new):
    """Detected by random programs whose box is read from outside."""
    mutant(name, where, old, new, *OUTSIDE)


ADDRESS = ('-O1', '-fsanitize=address', '-fno-omit-frame-pointer')
MUTANTS = []
TRANSCRIBER = ('transcriber',)
OUTSIDE = ('outside',)

# What is read in which order, and when a chunk or a thread's record is given back.
outside('link-read-after-records', 'read_thread',
        'next = gotrace__load_acquire(&from->next); if (!copy_records(s, copied)) return false;',
        'if (!copy_records(s, copied)) return false; next = gotrace__load_acquire(&from->next);')
outside('end-seen-after-records', 'read_thread', 'if (over) release_thread', 'if (m->used == GOTRACE__ENDED) release_thread')
outside('end-in-a-call', 'read_thread', '&& !gotrace__load_acquire(&m->in_call)', '')
outside('id-of-the-former-thread', 'read_thread',
        ['id = gotrace__load_relaxed(&m->system_id);', 'if (gotrace__load_acquire(&m->first_session) != ...) return true;'],
        ['',
         'id = gotrace__load_relaxed(&m->system_id); if (gotrace__load_acquire(&m->first_session) != ...) return true;'])
outside('chunk-given-back-unread', 'read_thread', 'next = gotrace__load_acquire(&from->next);',
        'if (gotrace__load_acquire(&from->next)) give_back(r, from); next = gotrace__load_acquire(&from->next);')
outside('thread-waits-for-its-own-chunk', 'read_thread', 'gotrace__store_relaxed(&m->read_chunk, ...);', '')
outside('record-free-before-its-chunk', 'release_thread', ['give_back(r, s->from);', 'gotrace__store_release(&m->used, ...);'],
        ['', 'gotrace__store_release(&m->used, ...); give_back(r, s->from); give_back(r, s->from);'])

# A call raises its flag, and then reads whether tracing is on. A stop waits for the calls under way.
mutant('stop-waits-for-nobody', 'gotrace__work', 'if (!on) gotrace__await_calls();', '', '1023/rounds-stop',
       '1023/cause-restart')
mutant('session-read-once', 'gotrace__enter', 'gotrace__session_now() == m->ready', 'm->ready != GOTRACE__NEVER',
       '1023/off-late')
mutant('flag-raised-late', 'gotrace__enter', ['GOTRACE__UNLIKELY(!gotrace__claim(...))', 'return true;'],
       ['false', '{ gotrace__raise(m); return true; } gotrace__raise(m);'], '1023/off-late')
mutant('new-chunk-in-an-old-session', 'gotrace__enter_slowly', 'gotrace__session_now() != session ||', '',
       '1023/chunks-early', '1023/held-up-late', '1023/block-sink')

# A thread that is held up in a call across a stop.
mutant('tables-freed-under-a-call', 'gotrace__session_free', 'if (!gotrace__chunks_free(...)) return;',
       '(void)gotrace__chunks_free(...);', '1011/block-sink', '1023/held-up')
mutant('chunk-freed-under-a-call', 'gotrace__chunks_free', '!gotrace__has_left(...)', '0', '1023/held-up-chunks',
       '1023/held-up')
mutant('off-calls-count-as-held-up', 'gotrace__chunks_free', '!gotrace__has_left(...)',
       'm != gotrace__self && gotrace__load_seq_cst(&m->in_call)', '1008/sink-ends', '1023/ended-stop')
mutant('unread-frees-the-threads-chunk', 'gotrace__unread_free', 'chunk && chunk != m->chunk', 'chunk',
       '1023/held-up-chunks', '1023/held-up')
mutant('linked-late', 'gotrace__enter_slowly', ['if (!first) gotrace__store_release(...);', 'if (!first) {'],
       ['', 'if (!first) { gotrace__store_release(&old->next, chunk);'], '1023/held-up-chunks')
mutant('record-passed-on-with-a-goroutine', 'gotrace__thread_over', 'if (m->go) gotrace__leave_hint(...);', '',
       '1023/exit-runs')
mutant('stolen-proc-taken-for-started', 'gotrace__holds', 'return held && ...;', 'return held;', '1023/steal-started')
mutant('ended-in-a-call-without-its-tick', 'gotrace__try_end', 'if (on && p ...) gotrace__raise_tick(...);', '(void)on;',
       '1023/skew-ended')
mutant('proc-started-in-a-call-not-introduced', 'gotrace__introduce_thread', 'if (started) gotrace__publish_as(...);',
       '(void)started;', '1023/found-late')
mutant('proc-started-in-a-call-given-to-it', 'gotrace__end_user', 'if (!r->proc && !p->made) gotrace__begin_proc(...);',
       '(void)p;', '1023/found-logs')
mutant('sweep-read-after-the-owner', 'gotrace__introduce_thread', 'has ? sweep :', 'has ? gotrace__load_relaxed(&p->sweep) :',
       '1023/steal-swept')
mutant('owner-taken-back-in-a-call', 'gotrace__idle_hint', 'if (!m->in_syscall)', '', '1023/steal-ended')
mutant('lost-proc-destroyed-early', 'gotrace__await_last', '|| p->status == GOTRACE__PROC_SYSCALL', '',
       '1023/lost-destroyed')
mutant('listed-thread-not-corrected', 'gotrace__apply_introduction', 'if (r->go ...) gotrace__correct_listed(...);', '',
       '1023/listed-late')
mutant('listed-goroutine-not-corrected', 'gotrace__apply_go', 'gotrace__correct_listed(...);', '', '1023/listed-moved')
mutant('listed-proc-not-corrected', 'gotrace__apply_proc', 'if (status != p->status) gotrace__correct_listed(...);', '',
       '1023/listed-handed')
mutant('lost-proc-said-to-be-in-a-call', 'gotrace__know_proc', 'GOTRACE__PROC_LOST', 'GOTRACE__PROC_SYSCALL',
       '1023/lost-destroyed-listed')
mutant('listed-creation-again', 'gotrace__apply_create', 'g->listed && !g->on && g->id == made->id', '0',
       '1022/listed-created')
mutant('listed-wait-unseen', 'gotrace__apply_go', 'g->unseen_wait = ...;', '', '1026/listed-waits')
mutant('record-of-another-thread', 'gotrace__attach_threads', '|| m->source->id != id', '', '1023/listed-again',
       '--random 60000,200,1')
mutant('task-without-a-begin-awaited', 'gotrace__await_open', '&& !(id & GOTRACE__TASK_SILENT)', '', '1011/task-late')
mutant('found-before-listed', 'gotrace__table_add',
       'gotrace__store_release(...); gotrace__store_release(chain, entry);',
       'gotrace__store_release(chain, entry); gotrace__store_release(...);', '1011/same-name')
mutant('failed-start-joins-anothers-thread', 'gotrace__begin_session', 'tracer->opening = true;', '', '1023/lack-starts')
mutant('listed-loss-forgotten', 'gotrace__apply_proc', '(p->known && !p->listed)', 'p->known', '1023/listed-lost')
mutant('listed-wake-forgotten', 'gotrace__apply_go', 'gotrace__restate_go(...); gotrace__unblock(...);', '',
       '1023/listed-woken')
mutant('listed-end-forgotten', 'gotrace__apply_create', '!g->listed || g->on', 'true', '--random 60000,200,1')
mutant('end-of-a-plain-thread-in-two-sessions', 'gotrace__thread_finish', 'if (m->session == session)', '',
       '--most 1000000 1023/held-up-exit')

# A start while calls are under way.
mutant('creation-overtaken', 'gotrace__create', 'known && !(on && known == m->session)', '0', '1023/exit-late')
mutant('loss-forgotten', 'gotrace__know_proc', 'status == GOTRACE__PROC_IDLE && gotrace__load_relaxed(&p->owner)', '0',
       '1023/steal-clean')
mutant('numbers-go-on', 'gotrace__stamp_number', 'gotrace__store_relaxed(number, ...);', '', '1023/pass-stop')
mutant('go-not-introduced', 'gotrace__know_go', 'gotrace__load_acquire(&g->introduced) != m->session', '0',
       '1023/pass-late', '1011/pass-late')

# What one thread has published is visible to whoever relies on it.
mutant('introduction-without-its-record', 'gotrace__know_go', 'gotrace__store_release', 'gotrace__store_relaxed',
       '--stale 1 1023/listed-timed')
mutant('introduction-seen-before-its-record', 'gotrace__about_go', 'GOTRACE__UNLIKELY(gotrace__load_acquire',
       'GOTRACE__UNLIKELY(gotrace__load_relaxed', '--stale 1 1023/listed-timed')
mutant('stamp-before-its-number', 'gotrace__stamp_number', 'gotrace__store_release', 'gotrace__store_relaxed',
       '--stale 1 1023/listed-numbered')
mutant('wait-hides-the-last-call', 'gotrace_wait_begin_at',
       'gotrace__store_release(&m->in_call, (uintptr_t)GOTRACE__WAITS)',
       'gotrace__store_relaxed(&m->in_call, (uint32_t)GOTRACE__WAITS)', '--stale 1 1023/wait-after-end')
mutant('listed-proc-kept', 'gotrace__apply_introduction', '|| (p && r->proc != p)', '', '--stale 1 1023/listed-half')
mutant('introduction-takes-a-stolen-proc', 'gotrace__apply_introduction', 'if (in_syscall && p && p->number) p = NULL;',
       '', '1008/steal-introduced')
mutant('place-live-with-its-former-id', 'gotrace__occupy',
       'gotrace__store_relaxed(...); gotrace__store_release(&g->live, ...);',
       'gotrace__store_release(&g->live, (uint8_t)1); gotrace__store_relaxed(...);', '1023/key-reused')

# The order of records of several threads.
mutant('threads-before-clock', 'gotrace__work', 'gotrace__read_clocks(...); gotrace__attach_threads(t);',
       'gotrace__attach_threads(t); gotrace__read_clocks(...);', '1023/pass-new', '1011/pass-new')
mutant('waker-counts', 'gotrace__try_unblock', 'GOTRACE__REC_GO_UNBLOCK, g, false',
       'GOTRACE__REC_GO_UNBLOCK, g, true', '1023/pass-wake')

# Threads, goroutines and procs remember the tick of their last record, since the clocks of processors differ.
mutant('thread-forgets-its-tick', 'gotrace__record_time', 'if (GOTRACE__UNLIKELY(tick < m->tick)) ...;', '',
       '1023/skew-moves')
mutant('ticks-not-kept', 'gotrace__record_time', 'if (a) gotrace__store_relaxed(...);', '', '1023/skew-handed')
mutant('goroutine-forgets-its-tick', 'gotrace__about_go', '&g->tick', 'NULL', '1023/skew-handed')
mutant('running-goroutine-forgets-its-tick', 'gotrace__about_running', 'g ? &g->tick :', '', '--random 6000,200,1')
mutant('proc-forgets-its-tick', 'gotrace__about_proc', '&p->tick', 'NULL', '--random 6000,200,1')
mutant('stopped-proc-forgets-its-tick', 'gotrace__stop_proc', 'm->proc ? &m->proc->tick :', '', '--random 6000,200,1')

mutant('given-up-proc-at-the-same-tick', 'gotrace__stop_proc', 'if (!counts && m->proc) gotrace__raise_tick(...);', '',
       '1023/skew-given-up')
mutant('stop-in-an-older-call-counted', 'gotrace__apply_proc_stop', '&& !r->old_call', '', '1023/skew-given-up-reused')
mutant('older-call-never-ends', 'gotrace__apply_running', 'r->old_call = false;', '', '1023/older-call-ends')
mutant('older-call-goes-on-with-a-proc', 'gotrace__apply_proc_start', 'r->lost_proc = r->old_call =', 'r->lost_proc =',
       '1023/older-call-finds')
mutant('destruction-not-woken', 'gotrace__end_proc', 'gotrace__changed(...);', '', '1023/skew-destroyed')
mutant('listed-though-a-record-tells-it', 'gotrace__list_living',
       'if (gotrace__load_acquire(&g->introduced) ...) continue;', '', '1023/skew-listed-again', '1023/skew-listed',
       '1023/skew-listed-blocked', '1023/skew-listed-woken')

# Stale reads.
mutant('no-barrier', 'gotrace__await_calls', '!gotrace__load_relaxed(&gotrace__t.fence) && !gotrace__barrier()', '0',
       '--stale 1 1023/off-late')

# The records of threads that have ended; chunks that are used again.
mutant('record-released-early', 'gotrace__look_at_threads', '|| gotrace__load_acquire(&m->in_call)', '', '1023/ended',
       '1023/ended-chunks')
mutant('record-released-unread', 'gotrace__thread_over', 'GOTRACE__ENDED', 'GOTRACE__FREE_RECORD', '1023/ended',
       '1023/ended-stop', '1023/new-threads-cut')
mutant('chunk-reused-unread', 'gotrace__next_chunk', 'if (done == r->known) return false;',
       'if (done == r->known) { if (t->options.chunk_done && done->size > 20) '
       't->options.chunk_done(t->options.context, done); return false; }',
       '1023/chunks-again', '1023/chunks')

# Locks and wake-ups.
mutant('work-wakes-nobody', 'gotrace__work', 'gotrace__cond_wake(...);', '', '1023/snapshot')
mutant('want-wakes-nobody', 'gotrace__want_work', 'gotrace__cond_wake(...);', '', '1023/read-early', '1023/read')
mutant('full-chunk-wakes-nobody', 'gotrace__chunk_new',
       'if (old && !tracer->work_wanted) { tracer->work_wanted = true; gotrace__cond_wake(...); }',
       'if (old) tracer->work_wanted = true;', '1023/chunks-free')
mutant('reader-not-alone', 'gotrace__read_next', 'for (; !gotrace__cas_acq_rel(...); nobody = 0)',
       'for (; 0 && nobody;)', '1023/readers', '1011/readers')
mutant('snapshots-together', 'gotrace__await', '!tracer->snapshot', 'true', '1023/snapshots')

# Threads that are cancelled while they wait.
mutant('cancelled-reader-stays', 'gotrace__read_cancelled', 'gotrace__store_release(&gotrace__t.reader, ...);', '',
       '1023/cancel-read', '1011/cancel-read')
mutant('thread-end-is-cancelled', 'gotrace__thread_gone', 'gotrace__cancel_off()', '0', '1011/cancel-block-exit',
       '1023/cancel-block-exit', '1023/held-up-exit')

# The end of the process, unloading the library, concurrent stops, nested calls.
mutant('stop-cleans-twice', 'gotrace__read_end', 'if (!tracer->stopping && tracer->session == session)', '', '1023/read-restart')
mutant('unload-leaves-procs', 'gotrace__free_all', 'while (... != NULL) { tracer->procs = p->next; gotrace__release(...); }',
       '', '1023/unload', '1011/unload')
mutant('unload-frees-used-records', 'gotrace__free_all', 'm != self && gotrace__load_relaxed(&m->used)', '0',
       '1023/unload', '1011/unload')
mutant('unload-leaves-the-trace', 'gotrace__free_all', 'while (gotrace__read_next(...) ...) continue;',
       '(void)data, (void)size;', '1023/unload-read', '1011/unload-read')
mutant('exit-ends-nothing', 'gotrace__end_use',
       'if (active && service) gotrace__stop_tracing(...); else if (active) gotrace_end();',
       '(void)active, (void)service;', '1023/unload', '1011/unload-early')
mutant('second-stop-cleans-up', 'gotrace__stop_session', 'if (tracer->active && tracer->stopping) return ...;', '',
       '1023/stops-sink', '1011/stops-sink')
mutant('second-stop-waits-for-ever', 'gotrace__await', '!tracer->stopping', 'false', '1023/stops', '1011/stops')
mutant('stop-wakes-nobody', 'gotrace__snapshot_end', 'gotrace__cond_wake(...);', '', '1023/stops', '1011/stops')
mutant('sink-calls-not-nested', 'gotrace__set_in_sink', 'gotrace__set_inside(...);',
       '(void)on;', '1023/sink-calls', '1011/sink-calls')
mutant('locks-not-counted', ['gotrace__go_inside', 'gotrace__go_outside'],
       ['gotrace__set_inside(...);', 'if (inside & GOTRACE__LOCKS) gotrace__set_inside(--inside);'], ['', ''],
       '1023/allocator-calls-late', '1011/allocator-calls-late')

# Lack of memory.
mutant('counts-of-lost-output', 'gotrace__publish_stats', 'if (t->error == GOTRACE_ERROR_SINK) ...; else', '',
       '1023/lack-silent', '1011/lack-silent')

# The transcriber: the order of records.
transcriber('only-the-last-thread-of-an-id', 'gotrace__transcribe_thread', 'r->same = *at;', '')
# Nested running.
transcriber('nest-needs-a-proc', 'gotrace__repair_proc', '&& !r->plain', '')
transcriber('nest-takes-over', 'gotrace__apply_nest', 'from && begin', '0')
transcriber('nest-transition-not-counted', 'gotrace__apply_nest', 'gotrace__next_go(...);', '')
transcriber('nest-end-over-a-running-goroutine', 'gotrace__apply_nest', 'else { gotrace__clear_thread(...); }', '')
tested('test_nest', 'nest-introduced-as-a-worker', 'gotrace__introduce_thread',
       'if (gotrace__is_plain(...)) flags |= GOTRACE__RECORD_PLAIN;', '')
tested('test_nest', 'nest-restarts-who-waits', 'gotrace_nest_begin_at',
       '!from && m->level && m->level->waits && !m->level->nested', '0')
tested('test_rare_paths', 'destroyed-proc-regained', 'gotrace_proc_destroy',
       'gotrace__store_relaxed(&proc->owner, ...);', '')
tested('test_open_tasks', 'homeless-task-forgotten', 'gotrace__keep_task', 'task = gotrace__distant_place(...);', '{}')
tested('test_nest', 'nest-attaches', 'gotrace__attach', '|| m->level', '')
tested('test_nest', 'nest-outlives-its-thread', 'gotrace__thread_finish', 'if (nested) gotrace__end_nest(...);', '')

transcriber('procs-without-goroutine-forgotten', 'gotrace__apply_procs_change', 't->globals_generation = 0;', '')
transcriber('named-by-an-empty-generation', 'gotrace__proc_new', 'p->time = t->unused_time;', '')
transcriber('procs-not-written-again', 'gotrace__proc_new',
            'if (t->proc_count > t->procs_written) t->globals_generation = 0;', '')
transcriber('row-moved', 'gotrace__stack_with_entry', 'row = gotrace__row_of(..., g->entry);',
            'const gotrace__row *old = row; row = gotrace__row_of(..., g->entry); stop = old ? old->entry : NULL;')
transcriber('own-thread-not-restated', 'gotrace__restate_all', 'gotrace__restate_thread(t, &t->service);', '')
transcriber('creation-for-a-wake-up', 'gotrace__unblock', 'gotrace__write_creation(...); return;',
            'gotrace__write_creation(...); g->woken = true; return;')
transcriber('sampled-before-its-creation', 'gotrace__lower', 'GOTRACE__UNLIKELY(g->sampled == g->id)', 'false')
transcriber('start-waits-not', 'gotrace__await_start', 'gotrace__await_go(...)', 'NULL')
transcriber('start-before-unblock', 'gotrace__await_start', '!force && (...) ? &g->waiters :', '')
transcriber('proc-start-waits-not', 'gotrace__await_proc', 'GOTRACE__WAIT_FOR(...);', '')
transcriber('late-steal', 'GOTRACE__RECORDS', 'X(SYSCALL_END_BLOCKED, TAKEN', 'X(SYSCALL_END_BLOCKED, NONE')
transcriber('unblock-waits-not', 'GOTRACE__APPLY_WAKE', '(...) && !force ? &g->waiters :', '')
transcriber('stale-unblock', 'gotrace__apply_unblock', '|| number != g->number', '')
transcriber('switch-waits-not', 'GOTRACE__APPLY_NEXT', 'gotrace__await_go(...)', 'NULL')
transcriber('create-waits-not', 'GOTRACE__APPLY_BIRTH', 'gotrace__await_go(...)', 'NULL')
transcriber('task-end-waits-not', 'gotrace__await_open', 'GOTRACE__WAIT_FOR(...);', '')
transcriber('collector-waits-not', 'gotrace__await_collected', 'GOTRACE__WAIT_FOR(...);', '')
transcriber('last-is-forced', 'gotrace__is_forced_before', 'a->record_tick <', 'a->record_tick >')
transcriber('end-of-a-former-thread', 'GOTRACE__APPLY_FORMER', 'if (!r->introduced ...) return &t->end_waiters;', '')
transcriber('former-thread-written-last', 'gotrace__end_thread', 'gotrace__lane_flush(...);', '')
transcriber('end-of-a-call-forced-last', 'gotrace__waits_in_vain', '|| kind == GOTRACE__REC_SYSCALL_END_BLOCKED', '')
transcriber('end-of-a-wait-forced-last', 'gotrace__is_forced_before', 'early != 0 ? early > 0 :', '')
transcriber('forced-at-the-end-of-a-round', 'gotrace__first_waiting', '|| (t->limit != UINT64_MAX ...)', '')
transcriber('change-wakes-one', 'gotrace__changed', 'while', 'if')
transcriber('heap-unordered', 'gotrace__enqueue', 'for (; at && ...;', 'for (; 0;')
transcriber('thread-runs-ahead', 'gotrace__goes_on', '&& (!t->heap_count ...)', '')
transcriber('round-without-limit', 'gotrace__goes_on', 'r->record_tick <= t->limit &&', '')
transcriber('round-of-everything', 'gotrace__begin_round', 't->options.cut_bytes / 2', 'UINT64_MAX')
transcriber('number-not-counted', 'gotrace__next_go', '(g)->number + 1', '(g)->number')
transcriber('unblock-not-told', 'gotrace__apply_unblock', 'gotrace__changed(...);', '')

# Chunks.
transcriber('other-sessions-read', 'gotrace__next_chunk', 'if (done->session != t->options.session) r->at = r->end;',
            '')
transcriber('chunk-without-base', 'gotrace__next_chunk', 'r->chunk->tick', 'r->tick')
transcriber('chunk-not-given-back', 'gotrace__next_chunk', 'if (t->options.chunk_done) t->options.chunk_done(...);', '')
transcriber('record-beyond-the-end', 'gotrace__record_end', 'GOTRACE__LIKELY(bytes <= room) ? at + bytes : NULL',
            'at + bytes')
transcriber('said-of-the-one-after-too', 'gotrace__consume', 'gotrace__forget_said(r);', '')
transcriber('kind-unchecked', 'gotrace__record_end',
            'if (GOTRACE__UNLIKELY(kind >= GOTRACE__RECORD_KINDS)) return NULL;', '')
transcriber('look-ahead-ends-in-a-record', 'gotrace__look_ahead', 'r->end = at', 'r->end = r->at + 1')

# Time.
transcriber('event-before-its-threads-last', 'gotrace__emit', '|| time < lane->time', '')
transcriber('time-goes-back', 'gotrace__not_before', 'if (t->now < time) t->now = time;', '')
transcriber('push-forgotten', 'gotrace__set_time', 'if (...) gotrace__after_push(...);', '')
transcriber('event-at-the-time-of-anothers', 'gotrace__after_others', 'time + !t->v1', 'time')
transcriber('creation-at-the-time-of-what-follows', 'gotrace__write_creation', 'if (elsewhere) ...;', '')
transcriber('status-before-its-goroutines-event', 'gotrace__emit_status', 'if (time < g->time) time = g->time;', '')
transcriber('jump-unseen', 'gotrace__begin_round', 'gotrace__has_jumped(...)', 'false')
transcriber('jump-from-the-beginning', 'gotrace__unit_at_jump',
            'after < t->to_unit - t->from_unit ? t->to_unit - after :', '')
transcriber('jump-from-the-end', 'gotrace__unit_at_jump', 'if (before ...) return ...;', '')
transcriber('task-end-with-its-begin', 'gotrace__apply_task_end', 'if (task && task->on != r) gotrace__push_time(...);',
            '')

# Generations.
transcriber('sequence-goes-on', 'gotrace__emit_status', 'if (!t->v1) g->sequence = 0;', '')
transcriber('proc-sequence-goes-on', 'gotrace__write_proc_status', 'p->sequence = 0;', '')
transcriber('string-of-an-old-generation', 'gotrace__written_row', 'mirror->rows[number].generation != t->generation',
            '!mirror->rows[number].id')
transcriber('silent-left-out', 'gotrace__end_generation_of',
            'if (first || t->options.restate) gotrace__restate_all(...);', '')
transcriber('listed-left-out', 'gotrace__end_generation_of', 'if (first) gotrace__adopt_listed(...);', '')
transcriber('stw-over-a-cut', 'gotrace__end_generation_of', 't->stw_go && !t->stw_closed ...)', '0)')
transcriber('stw-not-resumed', 'gotrace__write_program', 'if (t->stw_closed ...) gotrace__stw_event(...);', '')
transcriber('collection-begins-again', 'gotrace__write_program', '!t->v1 && (...) ? GOTRACE_V2_GC_ACTIVE :', '')
transcriber('assist-not-restated', 'gotrace__emit_status', 'g->assist && !t->v1', '0')
transcriber('sweep-not-restated', 'gotrace__write_proc_status', 'p->sweep_seen && !t->v1', '0')
transcriber('empty-generation', 'gotrace__end_generation_of', '!t->v1 && !t->generation_used', '0')
transcriber('living-ids-forgotten', 'gotrace__forget_ids', 'if (g ...) gotrace__id_add(...);', '')
transcriber('open-names-forgotten', 'gotrace__forget_texts', '*name = gotrace__text_reference(...);', '')
transcriber('open-names-renumbered', 'gotrace__forget_texts', 'kept->id = row->id', 'kept->generation = 0')
transcriber('reasons-kept', 'gotrace__forget_texts', 'memset(t->reason_refs, ...);', '')

# The model.
transcriber('steal-without-a-number', 'gotrace__steal', 'p->sequence++;', '')
transcriber('thief-without-victim', 'gotrace__steal', 'gotrace__do_proc(...)',
            'gotrace__emit_proc(t, r, p, GOTRACE_V2_PROC_STEAL, 3, p->id, p->sequence, victim->id); '
            'p->status = GOTRACE__PROC_IDLE; p->on = NULL; p->time = t->now')
transcriber('call-never-ends', 'gotrace__leave_call', 'gotrace__do0(t, r, g, GO_SYSCALL_END)',
            'gotrace__emit0(t, r, g, GOTRACE_V2_GO_SYSCALL_END); p->status = GOTRACE__PROC_RUNNING')
transcriber('stw-of-a-blocked-goroutine', 'gotrace__end_stw_of',
            'if (GOTRACE__LIKELY(!t->stw_go || t->stw_go != r->go))', '')
transcriber('region-stays-open', 'gotrace__end_region_of', '>=', '>')
transcriber('region-order-uncounted', 'gotrace__end_region_of',
            'if (depth < g->region_depth) gotrace__problem_seen(...);', '')
transcriber('task-never-ends', 'gotrace__apply_task_end', 'if (task) task->key = UINT64_MAX;', '')
transcriber('id-twice', 'gotrace__id_add', 'if (block->value & bit) return false;', '')
transcriber('forever-ids-forgotten', 'gotrace__id_take', 'if (gotrace__id_is_kept(...)) return false;', '')
transcriber('forever-ids-unbounded', 'gotrace__keep_id', 't->kept_count >= GOTRACE__MOST_KEPT', 'false')
transcriber('status-before-the-last-event', 'gotrace__write_proc_status', 'if (time < p->time) time = p->time;', '')
transcriber('time-of-a-proc-not-kept', 'gotrace__emit', 'if (p) p->time = time;', '')
transcriber('call-ends-before-its-steal', 'gotrace__steal', 'if (victim->time <= t->now) ...;', ';')
transcriber('ended-thread-was-listed', 'gotrace__apply_thread_end', 'r->listed_go = r->listed_proc = 0;', '')
transcriber('task-of-former-session', 'gotrace__apply_task_begin', 'id < t->options.first_task ||', '')
transcriber('sample-of-another', 'gotrace__write_sample', 'if (t->v1 && (!g ...)) go = 0;', '')
transcriber('sample-before-creation', 'gotrace__write_sample', 'if (time <= born) time = born + 1;', '')
transcriber('event-inside-a-call', 'gotrace__begin_user_slowly', 'gotrace__leave_call(...);', '')
transcriber('call-not-resumed', 'gotrace__end_user', 'gotrace__enter_call(...);', '')
transcriber('thread-ends-with-a-proc', 'gotrace__end_thread', 'if (r->proc) gotrace__end_proc(...);', '')
transcriber('start-over-a-goroutine', 'gotrace__start_given', 'gotrace__clear_thread(...);', '')
transcriber('switch-runs-two', 'gotrace__apply_switch', 'gotrace__moves(t, r, g, GO_START)',
            'g->sequence++; g->on = r; r->go = g')
transcriber('label-of-a-listed-goroutine', 'gotrace__apply_go', 'gotrace__leave_list(...)', 'g->listed = false')
tested('test_generations', 'label-of-a-listed-thread', 'gotrace__apply_introduction', 'gotrace__leave_list(...)',
       'g->listed = false')
transcriber('introduction-behind-a-wait', 'gotrace__apply_go', 'if (g->number) return;', '')
transcriber('name-without-memory', 'gotrace__write_region_end', 'if (GOTRACE__LIKELY(!t->error))', '')
transcriber('forever-without-memory', 'gotrace__go_forever', 'gotrace__keep_id(...)',
            'if (!gotrace__keep_id(t, g->id)) return')
transcriber('collection-without-memory', 'gotrace__gc_event', 'if (t->error) return;', '')
transcriber('introduction-after-the-end', 'gotrace__apply_introduction', '|| r->gone', '')
transcriber('new-id-without-memory', 'gotrace__id_take', '!gotrace__id_is_in(...)', 'true')
tested('test_destroy', 'extra-stays', 'gotrace__create', 'if (...) gotrace__forget_extra(...);', '')
transcriber('forever-keeps-its-id', 'gotrace__block_go',
            'if (reason == GOTRACE_BLOCK_FOREVER) gotrace__go_forever(...);', '')
transcriber('regions-never-forgotten', 'gotrace__push', 'g->region_first++; g->region_depth--', 'return')
transcriber('cut-uncounted', 'gotrace__kept_size', 'if (...) gotrace__problem_seen(...);', '')

# v1.
transcriber('v1-sequence', 'gotrace__put_numbered', 'g->sequence++;', '')
transcriber('v1-lane', 'gotrace__put_numbered', 'g->last_lane == lane', '1')
transcriber('v1-call-blocks-twice', 'gotrace__lower_syscall_block', '|| g->call_blocked', '')
transcriber('v1-exit-forgotten', 'gotrace__lower_start', 'gotrace__put_v1(... GOTRACE_V1_GO_SYS_EXIT ...);', '')
transcriber('v1-first-events', 'gotrace__apply_all', 'if (t->v1 ...) gotrace__write_first(...);', '')
transcriber('v1-strings-last', 'gotrace__lane_flush', 'if (lane != &t->string_lane) gotrace__lane_flush(...);', '')
transcriber('v1-sweep-open', 'gotrace__write_v1_ends', 'gotrace__put_v1(... GOTRACE_V1_GC_SWEEP_DONE ...)', '')
transcriber('v1-event-in-a-call', 'gotrace__lower', 'r->go && r->go->status == GOTRACE__SYSCALL && r->go != g', 'false')

# The second time: a jump of the counter, a sweep, texts of a generation.
transcriber('introduction-wakes-nobody', 'gotrace__begin_older', 'gotrace__changed(...);', '')
transcriber('second-jump-unseen', 'gotrace__has_jumped', 't->steady_tick = tick; t->steady_unit = unit;', '')
transcriber('second-sweep-sums-up', 'gotrace__apply_sweep', 'p->swept = p->reclaimed = 0;', '')

# The second trace of a process, and what comes before a trace.
tested('test_sessions', 'stack-of-the-former-trace', 'gotrace__find_seen', 'seen->session == m->session &&', '')
tested('test_sessions', 'entry-of-the-former-trace', 'gotrace__is_last_entry', 'm->entry_session == m->session &&', '')
tested('test_sessions', 'name-of-the-former-trace', 'gotrace__named_site', '(uint32_t)known == m->session &&', '')
tested('test_sessions', 'site-of-the-former-trace', 'gotrace__site_number', 'GOTRACE__LIKELY(...)', 'known')
tested('test_sessions', 'goal-before-the-start', 'gotrace__turn_on', 't->heap_goal = ...;', '')
tested('test_sessions', 'heap-before-the-start', 'gotrace__turn_on', 't->heap_alloc = ...;', '')
tested('test_sessions', 'procs-before-the-start', 'gotrace__turn_on', 't->procs_changed = ...;', '')
tested('test_sessions', 'collection-before-the-start', 'gotrace__turn_on', 't->gc = ...;', '')
tested('test_sessions', 'collection-before-the-first-call', 'gotrace__collector_call',
       'gotrace__load_relaxed(&gotrace__t.gc)', '0')
tested('test_sessions', 'stop-before-the-first-call', 'gotrace__collector_call',
       'gotrace__load_relaxed(&gotrace__t.stw)', '0')
tested('test_sessions', 'goal-of-later-generations', 'gotrace__write_program', 'if (t->heap_goal)',
       'if (t->heap_goal && t->generation == 1)')
tested('test_sessions', 'heap-of-later-generations', 'gotrace__write_program', 'if (t->heap_alloc)',
       'if (t->heap_alloc && t->generation == 1)')
tested('test_sessions', 'heap-values-forgotten', 'gotrace__apply_heap', '*(goal ...) = bytes + 1;', '')
tested('test_sessions', 'samples-of-the-former-trace', 'gotrace__take_sample', 'sample->session == t->options.session',
       '1')
tested('test_sessions', 'verdict-of-the-former-trace', 'gotrace__reset_session',
       'gotrace__store_relaxed(&tracer->verdict, ...);', '')
tested('test_sessions', 'threads-of-the-former-trace', 'gotrace__reset_session', 'tracer->thread_total = 0;', '')

# A collector's call that is lost, a jump of the counter back, calls that need more room than they ask for.
tested('test_held_up', 'stop-before-the-start', 'gotrace__turn_on', 't->stw = ...;', '')
tested('test_held_up', 'jump-back-in-the-same-chunk', 'gotrace__tick_behind', 'if (...) m->ready = m->quick = GOTRACE__NEVER;',
       '(void)tick;')
transcriber('jump-back-unseen', 'gotrace__has_jumped', 'tick < t->to_tick', 'false')
tested('test_chunks', 'room-too-small', 'GOTRACE__CALL_ROOM', '384u + 128u', '64u + 64u')

# The short way of a call.
mutant('quick-counts-no-transition', 'gotrace__call_running', 'gotrace__store_relaxed(&g->number, ...);', '', '--random 6000,200,1')
mutant('quick-start-counts-no-transition', 'gotrace__call_go', 'if (owner) gotrace__store_relaxed(...);',
       '(void)owner, (void)number;', '--random 6000,200,1')
mutant('quick-before-the-goroutine', 'gotrace__call_time', 'GOTRACE__LIKELY(!a || ...)', 'true', '--random 6000,200,1')
mutant('quick-before-the-thread', 'gotrace__call_time', 'GOTRACE__LIKELY(c->ticks < GOTRACE__HEAD_TICKS)', 'true', '--random 6000,200,1')
mutant('quick-with-an-unknown-goroutine', 'gotrace__call_go',
       'if (GOTRACE__UNLIKELY(gotrace__load_acquire(&g->stamp) != c->session)) return NULL;', '', '--random 6000,200,1')
tested('test_sessions', 'quick-site-of-the-former-trace', 'gotrace__call_locate', '(uint32_t)known == c->session &&', '')
tested('test_chunks', 'quick-in-a-full-chunk', 'gotrace__call_begin', 'if (GOTRACE__LIKELY(c->size + texts <= ...))', '')
tested('test_stacks', 'quick-instead-of-a-walk', 'gotrace__is_usual', '&& gotrace__load_acquire(...) < ...;', ';')

# Ends and limits.
transcriber('named-reasons-kept', 'gotrace__forget_texts', 'memset(t->named_refs, ...);', '')
transcriber('limit-without-ended-threads', 'gotrace__limit_round', '(r->introduced || r->gone)', 'r->introduced')
transcriber('v1-stack-too-large', 'gotrace__define_stack', 't->v1 && at - body > GOTRACE__MOST_STACK', '0')
transcriber('v1-stack-cut-uncounted', 'gotrace__define_stack', 'gotrace__problem_seen(...);', '')
tested('test_reader', 'second-verdict', 'gotrace__end_of', '(void)gotrace__cas_seq_cst(&tracer->verdict, &verdict,',
       '(void)verdict; gotrace__store_seq_cst(&tracer->verdict,')
tested('test_allocation_failure', 'verdict-of-the-last-round', 'gotrace__work', '&& !gotrace__result()', '')
tested('test_fork', 'childs-samples-full', 'gotrace__after_fork_in_child',
       'for (i = 0; tracer->samples && i < GOTRACE__SAMPLES; i++) ...;', '(void)i;')
tested('test_fork', 'childs-samples-behind', 'gotrace__after_fork_in_child', 'tracer->sample_head = tracer->sample_tail = 0;', '')
tested('test_flight', 'lost-for-ever', 'gotrace__past_complete', 'tracer->past_lost = false;', '')
tested('test_flight', 'loss-leaves-a-gap', 'gotrace__past_add', 'gotrace__past_clear();', '')
tested('test_flight', 'loss-not-noted', 'gotrace__past_add', 'tracer->past_lost = true;', '')

# The rest.
tested('test_reload', 'entry-of-a-library-that-is-gone', 'gotrace__number_site', 'm->entry_session = 0;', '')
tested('test_flight', 'old-generations-kept', 'gotrace__past_complete', 'now - ... >= age) gotrace__past_forget();',
       'false) ;')
tested('test_flight', 'snapshot-unheld', 'gotrace__past_trim', '&& tracer->past != tracer->writing', '')
tested('test_flight', 'oldest-not-dropped', 'gotrace__past_add', 'while (tracer->kept ...) gotrace__past_forget();', '')
tested('test_fork', 'child-keeps-its-parents-id', 'gotrace__abandon_threads', 'if (self) self->system_id = ...;', '')
tested('test_fork', 'childs-goroutines-run', 'gotrace__abandon_threads',
       'else if (g->status == GOTRACE__RUNNING ...) ...;', '')
tested('test_wait_on', 'last-waiter-first', 'gotrace_wake_at',
       ['bucket->first; waiter', 'waiter = waiter->next) continue'],
       ['bucket->last; waiter', 'waiter = waiter->previous) continue'])
tested('test_wait_on', 'waiter-for-another-address', 'gotrace_wake_at', 'waiter && waiter->key != key', 'false')
tested('test_wait_on', 'waiter-whose-goroutine-ended', 'gotrace_wake_at',
       'if (gotrace__load_relaxed(&g->id) != waiter->id) g = NULL;', '')
tested('test_waits_off', 'waiter-shown-as-running', 'gotrace__runs', 'waits = ...;', 'waits = false;')
tested('test_waits_off', 'waiter-whose-goroutine-ended-runs', 'gotrace__ends_short',
       'gotrace__load_relaxed(&g->id) == m->outermost.id &&', '')
tested('test_keys', 'keys-below-a-freed-one-lost', 'gotrace__take_keyed', 'memcpy(...);', '')
tested('test_create_no_proc', 'idle-worker-not-counted', 'gotrace__stop_proc', 'm->was_worker |= p != NULL;', '')
tested('test_limits', 'size-limit-ignored', 'gotrace__transcribe_write', 'if (...) t->full = true, t->until = 0;', '')
tested('test_write_failure', 'failure-leaves-a-part', 'gotrace__sink_failure', '(void)gotrace__file_truncate(...);', '')
tested('test_sinks', 'stop-leaves-all-to-the-service-thread', 'gotrace__stop_session',
       'if (tracer->delivers) gotrace__work(...);', '')
tested('test_sinks', 'failed-sink-is-called-again', 'gotrace__sink', 'if (tracer->sink_failed) return;', '')
tested('test_rare_paths', 'walk-goes-down', 'gotrace__walk', 'if (up <= frame) break;', '')
tested('test_rare_paths', 'walk-leaves-the-stack', 'gotrace__walk', '&& frame <= high - ... sizeof(uintptr_t)', '')
tested('test_samples', 'sample-without-its-goroutine', 'gotrace_cpu_sample', 'if (g) sample->go = ...;', '')


def build(header_text, folder, *sources, options=('-O0',)):
    header = os.path.join(folder, 'gotrace.h')
    with open(header, 'w') as f:
        f.write(header_text)
    binary = os.path.join(folder, 'program')
    command = [COMPILER, '-std=c11', *options, '-w', '-I', folder, '-I', ROOT, '-isystem', '/usr/include/stb',
               *[os.path.join(ROOT, source) for source in sources], '-o', binary, '-pthread']
    done = subprocess.run(command, capture_output=True, text=True)
    return binary if done.returncode == 0 else None


def build_outside(reader, folder):
    """explore, with two processes, from copies."""
    for part in 'examples/gotrace', 'tests/explore':
        shutil.copytree(os.path.join(ROOT, part), os.path.join(folder, part))
    for header in glob.glob(os.path.join(ROOT, 'tests/*.h')):
        shutil.copy(header, os.path.join(folder, 'tests'))
    with open(os.path.join(folder, READER), 'w') as f:
        f.write(reader)
    sources = [os.path.join(folder, 'tests/explore/explore.c'), *glob.glob(os.path.join(folder, 'examples/gotrace/base/*.c')),
               *[os.path.join(folder, 'examples/gotrace/record', name) for name in ('perf.c', 'walk.c')]]
    return build(HEADER, folder, *sources, options=('-O1', '-DEXPLORE_OUTSIDE'))


def try_outside(reader, folder):
    binary = build_outside(reader, folder)
    if not binary:
        return 'gone', 'it does not compile'
    for options in [], ['--killed'], ['--stale', '2']:
        status, out = run(binary, [*options, '--random', '20000,120,2'])
        if status:
            return 'killed', ' '.join([*options, *out.splitlines()[:1]])
    return 'survives', ''


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


# What '...' stands for, a character or a parenthesis; the deepest is six parentheses within each other.
ANYTHING = '[^;{}()]'
for _ in range(6):
    ANYTHING = rf'(?:[^;{{}}()]|\({ANYTHING}*\))'
BETWEEN = r'(?:\s|\\\n|/\*(?:(?!\*/).|\n)*\*/)'  # between two words


def pattern_of(text):
    """The regular expression of a mutant's pattern."""
    words = re.findall(r'\.\.\.|\w+|[^\w\s]', text)
    parts = []
    for before, word in zip(['', *words], words):
        if before:
            parts.append(BETWEEN + ('+' if (before[-1] + word[0]).isidentifier() else '*'))
        parts.append(f'({ANYTHING}*?)' if word == '...' else re.escape(word))
    whole = [r'\b' if re.match(r'\w', word) else '' for word in (words[0], words[-1])]
    return re.compile(whole[0] + ''.join(parts) + whole[1])


def definitions(source, name):
    """From where to where each definition of a function or macro goes: there may be one a platform."""
    head = rf'^# *define {name}\b(?:.*\\\n)*.*\n'
    body = rf'^(?=\w)[^\n;{{}}]*\b{name}\([^;{{}}]*\{{(?:.*\}}\n|(?:.*\n)*?\}}\n)'
    return [found.span() for found in re.finditer(f'{head}|{body}', source, re.MULTILINE)]


def mutate(source, entry):
    """The header with the mutant, and why there is none."""
    for where, old, new in entry[1]:
        pattern, spans = pattern_of(old), definitions(source, where)
        if not spans:
            return None, f'there is no {where}'
        found = [match for span in spans for match in pattern.finditer(source, *span)]
        if len(found) != 1:
            return None, f'its pattern is in {where} {len(found)} times: {old}'
        match, = found
        meant = iter(match.groups())
        source = source[:match.start()] + re.sub(r'\.\.\.', lambda _: next(meant), new) + source[match.end():]
    return source, None


def text_of(entry):
    return READER_TEXT if entry[2] == OUTSIDE else HEADER


def try_mutant(entry, find):
    scenarios = entry[2]
    source, why = mutate(text_of(entry), entry)
    if why:
        return 'gone', why
    with tempfile.TemporaryDirectory() as folder:
        if scenarios == OUTSIDE:
            return try_outside(source, folder)
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
        gone = [(entry[0], why) for entry in MUTANTS for why in [mutate(text_of(entry), entry)[1]] if why]
        for name, why in gone:
            print(f'{name}: {why}')
        return bool(gone)
    chosen = [entry for entry in MUTANTS if not names or entry[0] in names]
    kinds = [kind for kind in ('capture', 'transcriber', 'outside', 'rest') if '--' + kind in arguments]
    if kinds:
        chosen = [entry for entry in chosen
                  if {'transcriber': 'transcriber', 'outside': 'outside', 'test': 'rest'}.get(entry[2][0], 'capture') in kinds]
    counts = {'killed': 0, 'survives': 0, 'gone': 0}
    # A check that fails anyway would kill everything.
    for checks in sorted({entry[2] for entry in chosen if entry[2][0] in ('test', *TRANSCRIBER, *OUTSIDE)}):
        if try_mutant(('unchanged', [], checks), find)[0] != 'survives':
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


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
