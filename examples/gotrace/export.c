/* export.c - gotrace export --chrome: the Trace Event Format, for ui.perfetto.dev and chrome://tracing
 *
 * Each proc is shown as a thread, on which goroutines are slices; arrows lead from where a goroutine is unblocked to
 * where it runs. Times are microseconds since the first event. */

#include "source.h"

typedef struct chrome {
  consumer c;
  output *out;
  bool any;
  uint64_t arrows;
} chrome;

/* Ids of threads besides the procs. */
#define CHROME_GC_THREAD 1000000000  /* collections */
#define CHROME_NO_PROC 1000000001    /* events without a proc */
#define CHROME_STW_THREAD 1000000002 /* stopped worlds, which need not nest with collections */

static uint64_t chrome_thread(const thread *m) { return m && m->p ? m->p->id : CHROME_NO_PROC; }

/* Begins an event. Fields of its own follow, then chrome_end(). */
static void chrome_event(chrome *x, char phase, int64_t time, uint64_t thread_id) {
  int64_t since = between(x->c.base, time);
  put_string(x->out, x->any ? ",\n{" : "{");
  x->any = true;
  print(x->out, "\"ph\":\"%c\",\"ts\":%lld.%03d,\"pid\":1,\"tid\":%llu", phase, (long long)(since / 1000),
        (int)(since % 1000), (ull)thread_id);
}

static void chrome_end(chrome *x) {
  put_byte(&x->out->block, '}');
  output_check(x->out);
}

static void chrome_text(chrome *x, const char *key, uint32_t text) {
  pool_text t = pool_text_of(text);
  print(x->out, ",\"%s\":", key);
  put_quoted(x->out, t.data, t.size);
}

static void chrome_duration(chrome *x, int64_t duration) {
  print(x->out, ",\"dur\":%lld.%03d", (long long)(duration / 1000), (int)(duration % 1000));
}

static void chrome_go_name(chrome *x, const goroutine *g) {
  pool_text name = pool_text_of(name_of(g));
  char text[600];
  int shown = name.size < 500 ? (int)name.size : 500;
  int size = snprintf(text, sizeof text, "G%llu%s%.*s", (ull)g->id, name.size ? " " : "", shown, name.data);
  put_string(x->out, ",\"name\":");
  put_quoted(x->out, text, (size_t)size);
}

/* A goroutine comes to a proc. */
static void chrome_arrive(chrome *x, goroutine *g, const thread *m, int64_t time) {
  g->slice = time;
  if (!g->arrow) return;
  chrome_event(x, 'f', time, chrome_thread(m));
  print(x->out, ",\"bp\":\"e\",\"cat\":\"unblock\",\"name\":\"unblock\",\"id\":%llu", (ull)g->arrow);
  chrome_end(x);
  g->arrow = 0;
}

/* A thread's goroutine leaves its proc. */
static void chrome_leave(chrome *x, const thread *m, int64_t time, uint32_t reason) {
  goroutine *g = m ? m->g : NULL;
  if (!g || !m->p || g->slice > time) return;
  chrome_event(x, 'X', g->slice, m->p->id);
  chrome_duration(x, between(g->slice, time));
  chrome_go_name(x, g);
  put_string(x->out, ",\"cat\":\"goroutine\",\"args\":{\"g\":");
  put_decimal(x->out, g->id);
  if (reason) chrome_text(x, "until", reason);
  put_byte(&x->out->block, '}');
  chrome_end(x);
  g->slice = INT64_MAX; /* on no proc */
}

static void chrome_unblock(chrome *x, const op *o) {
  goroutine *g = world_go(x->c.w, o->id);
  if (!g || !o->m || !o->m->p) return;
  g->arrow = ++x->arrows;
  chrome_event(x, 's', o->time, o->m->p->id);
  print(x->out, ",\"cat\":\"unblock\",\"name\":\"unblock\",\"id\":%llu", (ull)g->arrow);
  chrome_end(x);
}

/* A task or region begins or ends. It may last while its goroutine changes procs, so it is no slice. */
static void chrome_async(chrome *x, const op *o, char phase, const char *category, uint64_t id) {
  chrome_event(x, phase, o->time, chrome_thread(o->m));
  print(x->out, ",\"cat\":\"%s\",\"id\":\"%s %llu\"", category, category, (ull)id);
  chrome_text(x, "name", o->name);
  chrome_end(x);
}

static void chrome_log(chrome *x, const op *o) {
  chrome_event(x, 'i', o->time, chrome_thread(o->m));
  put_string(x->out, ",\"s\":\"t\",\"cat\":\"log\"");
  chrome_text(x, "name", o->value);
  put_string(x->out, ",\"args\":{\"task\":");
  put_decimal(x->out, o->id);
  chrome_text(x, "category", o->name);
  put_byte(&x->out->block, '}');
  chrome_end(x);
}

static void chrome_counter(chrome *x, const op *o, const char *name) {
  chrome_event(x, 'C', o->time, 0);
  print(x->out, ",\"name\":\"%s\",\"args\":{\"bytes\":%llu}", name, (ull)o->a[0]);
  chrome_end(x);
}

static void chrome_range(chrome *x, const op *o, char phase, uint64_t thread_id, const char *name) {
  chrome_event(x, phase, o->time, thread_id);
  print(x->out, ",\"cat\":\"gc\",\"name\":\"%s\"", name);
  if (o->name) {
    pool_text reason = pool_text_of(o->name);
    put_string(x->out, ",\"args\":{\"reason\":");
    put_quoted(x->out, reason.data, reason.size);
    put_byte(&x->out->block, '}');
  }
  chrome_end(x);
}

static void chrome_take(consumer *c, const op *o) {
  chrome *x = (chrome *)c;
  goroutine *g = world_go(c->w, o->id);
  const goroutine *self = o->m ? o->m->g : NULL;
  switch (o->kind) {
  case GOTRACE_V2_GO_START:
    if (g) chrome_arrive(x, g, o->m, o->time);
    break;
  case GOTRACE_V2_GO_STATUS: /* becomes known by this operation */
    if (o->a[0] == GO_RUNNING) go_record(c->w, o->id)->slice = o->time;
    break;
  case GOTRACE_V2_GO_DESTROY:
  case GOTRACE_V2_GO_DESTROY_SYSCALL:
  case GOTRACE_V2_GO_STOP:
  case GOTRACE_V2_GO_BLOCK:
  case GOTRACE_V2_PROC_STOP: chrome_leave(x, o->m, o->time, o->name); break;
  case GOTRACE_V2_PROC_STEAL: {
    const proc *p = world_proc(c->w, o->id, false);
    if (p) chrome_leave(x, p->m, o->time, pool_put_string("syscall"));
    break;
  }
  case GOTRACE_V2_GO_SWITCH:
  case GOTRACE_V2_GO_SWITCH_DESTROY:
    chrome_unblock(x, o);
    chrome_leave(x, o->m, o->time, 0);
    if (g) chrome_arrive(x, g, o->m, o->time);
    break;
  case GOTRACE_V2_GO_UNBLOCK: chrome_unblock(x, o); break;
  case GOTRACE_V2_USER_TASK_BEGIN: chrome_async(x, o, 'b', "task", o->id); break;
  case GOTRACE_V2_USER_TASK_END: chrome_async(x, o, 'e', "task", o->id); break;
  case GOTRACE_V2_USER_REGION_BEGIN:
  case GOTRACE_V2_USER_REGION_END:
    if (self) chrome_async(x, o, o->kind == GOTRACE_V2_USER_REGION_BEGIN ? 'b' : 'e', "region", self->id);
    break;
  case GOTRACE_V2_USER_LOG: chrome_log(x, o); break;
  case GOTRACE_V2_HEAP_ALLOC: chrome_counter(x, o, "heap"); break;
  case GOTRACE_V2_HEAP_GOAL: chrome_counter(x, o, "heap goal"); break;
  case GOTRACE_V2_GC_BEGIN:
  case GOTRACE_V2_GC_END:
    if (c->w->gc == (o->kind == GOTRACE_V2_GC_END)) chrome_range(x, o, c->w->gc ? 'E' : 'B', CHROME_GC_THREAD, "GC");
    break;
  case GOTRACE_V2_STW_BEGIN: chrome_range(x, o, 'B', CHROME_STW_THREAD, "stopped world"); break;
  case GOTRACE_V2_STW_END:
    if (self && self->stw) chrome_range(x, o, 'E', CHROME_STW_THREAD, "stopped world");
    break;
  default: break;
  }
}

static void chrome_begin(consumer *c, int64_t time) {
  const op gc = {.kind = GOTRACE_V2_GC_BEGIN, .time = time};
  goroutine *g;
  for (g = c->w->live; g; g = g->next) g->slice = time;
  if (c->w->gc) chrome_range((chrome *)c, &gc, 'B', CHROME_GC_THREAD, "GC");
}

static void chrome_thread_name(chrome *x, uint64_t id, const char *name, ull number) {
  put_string(x->out, x->any ? ",\n{" : "{");
  x->any = true;
  print(x->out, "\"ph\":\"M\",\"pid\":1,\"tid\":%llu,\"name\":\"thread_name\",\"args\":{\"name\":\"", (ull)id);
  if (number != NOBODY) print(x->out, "%s %llu\"}}", name, number);
  else print(x->out, "%s\"}}", name);
}

static void chrome_finish(consumer *c, int64_t time) {
  chrome *x = (chrome *)c;
  thread *m;
  proc *p;
  for (m = c->w->thread_list; m; m = m->next) chrome_leave(x, m, time, 0);
  for (p = c->w->proc_list; p; p = p->next) chrome_thread_name(x, p->id, "Proc", p->id);
  chrome_thread_name(x, CHROME_GC_THREAD, "GC", NOBODY);
  chrome_thread_name(x, CHROME_STW_THREAD, "stopped world", NOBODY);
  chrome_thread_name(x, CHROME_NO_PROC, "no proc", NOBODY);
}

int command_export(const char *path, const settings *set) {
  input in;
  output out;
  source s;
  chrome x;
  gotrace_result result;
  memset(&s, 0, sizeof s);
  memset(&x, 0, sizeof x);
  if (!input_open(&in, path, true)) return 1;
  if (input_decode(&in, false) != GOTRACE_OK) fail("%s", input_error(&in));
  x.c.begin = chrome_begin;
  x.c.take = chrome_take;
  x.c.end = chrome_finish;
  x.c.statuses = true;
  x.out = &out;
  output_open(&out, set->output);
  put_string(&out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  result = source_run(&s, &in, &x.c, set->from, set->until, NULL, NULL);
  if (result != GOTRACE_END_OF_TRACE) source_broken(&s, set);
  put_string(&out, "\n]}\n");
  output_close(&out);
  source_free(&s);
  input_close(&in);
  return 0;
}
