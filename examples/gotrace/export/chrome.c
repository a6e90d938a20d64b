/* chrome.c - gotrace export --chrome: the Trace Event Format, for ui.perfetto.dev and chrome://tracing
 *
 * Procs are shown as threads. Events on a row come in order of time, and each begin comes before what lies inside, so
 * that viewers find the slice of an arrow even if several events have the same time. Times are in microseconds since
 * the first event. */

#include "export.h"

#define THREAD_GC 1000000000
#define THREAD_NO_PROC 1000000001
#define THREAD_STW 1000000002
#define THREAD_SCHEDULER 1000000003

static uint64_t thread_of(track where) {
  switch (where.kind) {
  case TRACK_PROC: return where.id;
  case TRACK_GC: return THREAD_GC;
  case TRACK_STW: return THREAD_STW;
  case TRACK_SCHEDULER: return THREAD_SCHEDULER;
  default: return THREAD_NO_PROC;
  }
}

/* Begins an object. The caller adds fields of its own, then calls close(). */
static void open(exporter *x, char phase, int64_t time, track where) {
  int64_t since = between(x->c.base, time);
  put_string(x->out, x->any ? ",\n{" : "{");
  x->any = true;
  print(x->out, "\"ph\":\"%c\",\"ts\":%lld.%03d,\"pid\":1,\"tid\":%llu", phase, (long long)(since / 1000),
        (int)(since % 1000), (ull)thread_of(where));
}

static void close(exporter *x) {
  put_byte(&x->out->block, '}');
  export_check(x);
}

static void put_text_field(exporter *x, const char *key, uint32_t text) {
  print(x->out, "\"%s\":", key);
  put_quoted_text(x->out, text);
}

static void put_mark(exporter *x, const mark *m, const char *detail) {
  pool_stack stack = pool_stack_of(strcmp(m->category, "sample") == 0 ? m->stack : 0); /* others only in Perfetto */
  bool any = false;
  uint32_t i;
  print(x->out, ",\"cat\":\"%s\",", m->category);
  put_text_field(x, "name", m->name);
  if (!m->g && !m->task && !m->detail && !stack.count) return;
  put_string(x->out, ",\"args\":{");
  if (m->g) print(x->out, "\"g\":%llu", (ull)m->g), any = true;
  if (m->task) print(x->out, "%s\"task\":%llu", any ? "," : "", (ull)m->task), any = true;
  if (m->detail) {
    if (any) put_byte(&x->out->block, ',');
    put_text_field(x, detail, m->detail);
    any = true;
  }
  for (i = 0; i < stack.count; i++) {
    put_string(x->out, i ? "," : any ? ",\"stack\":[" : "\"stack\":[");
    put_quoted_text(x->out, stack.frames[i].function);
  }
  if (stack.count) put_byte(&x->out->block, ']');
  put_byte(&x->out->block, '}');
}

/* Tasks and regions may outlast their goroutine's stay on a proc, so they are asynchronous. */
static void put_async(exporter *x, track where) {
  static const char *const names[TRACK_KINDS] = {
      [TRACK_TASK] = "task", [TRACK_REGION] = "region", [TRACK_EARLY] = "early"};
  if (!names[where.kind]) return;
  print(x->out, ",\"id\":\"%s %llu\"", names[where.kind], (ull)where.id);
}

static void put_arrow(exporter *x, char phase, track where, int64_t time, uint64_t arrow) {
  open(x, phase, time, where);
  print(x->out, "%s,\"cat\":\"unblock\",\"name\":\"unblock\",\"id\":%llu", phase == 'f' ? ",\"bp\":\"e\"" : "",
        (ull)arrow);
  close(x);
}

static void chrome_show(exporter *x, track where, int64_t time, slice_phase p, const mark *m) {
  if (p == PHASE_INSTANT && m->arrow) {
    put_arrow(x, 's', where, time, m->arrow);
    return;
  }
  open(x, (is_annotation(where) ? "bei" : "BEi")[p], time, where);
  if (p == PHASE_INSTANT) put_string(x->out, ",\"s\":\"t\"");
  else put_async(x, where);
  put_mark(x, m, detail_name(where, p));
  close(x);
  if (m->arrow && p == PHASE_BEGIN) put_arrow(x, 'f', where, time, m->arrow);
}

static void chrome_count(exporter *x, unsigned counter, int64_t time, int64_t value) {
  char name[COUNTER_NAME];
  open(x, 'C', time, (track){TRACK_NO_PROC, 0, 0});
  print(x->out, ",\"name\":\"%s\",\"args\":{\"bytes\":", counter_name(x, counter, name));
  put_signed(x->out, value);
  put_byte(&x->out->block, '}');
  close(x);
}

/* The category distinguishes it from a counter of the trace with the same name. */
static void chrome_user_count(exporter *x, uint32_t name, int64_t time, double value) {
  char text[REAL_TEXT];
  open(x, 'C', time, (track){TRACK_NO_PROC, 0, 0});
  put_string(x->out, ",\"cat\":\"counter\",");
  put_text_field(x, "name", name);
  print(x->out, ",\"args\":{\"value\":%s}", real_text(value, text));
  close(x);
}

/* Metadata: name and position of a row. `thread_id`: NOBODY for the process. */
static void put_name(exporter *x, uint64_t thread_id, const char *name, size_t size, int64_t place) {
  bool process = thread_id == NOBODY;
  int part;
  for (part = 0; part < 2; part++) {
    put_string(x->out, x->any ? ",\n{" : "{");
    x->any = true;
    print(x->out, "\"ph\":\"M\",\"pid\":1,\"tid\":%llu,\"name\":\"%s_%s\",\"args\":{", process ? 0 : (ull)thread_id,
          process ? "process" : "thread", part ? "sort_index" : "name");
    if (part) print(x->out, "\"sort_index\":%lld}", (long long)place);
    else {
      put_string(x->out, "\"name\":");
      put_quoted(x->out, name, size);
      put_byte(&x->out->block, '}');
    }
    close(x);
  }
}

static void chrome_finish(exporter *x) {
  const proc *p;
  put_name(x, NOBODY, x->file, strlen(x->file), 0);
  put_name(x, THREAD_GC, "GC", 2, -3);
  put_name(x, THREAD_STW, "stopped world", 13, -2);
  put_name(x, THREAD_SCHEDULER, "scheduler", 9, -1);
  for (p = x->c.w ? x->c.w->proc_list : NULL; p; p = p->next) {
    char name[32];
    int size = snprintf(name, sizeof name, "Proc %llu", (ull)p->id);
    put_name(x, p->id, name, (size_t)size, p->id < INT32_MAX ? (int64_t)p->id : INT32_MAX - 1);
  }
  put_name(x, THREAD_NO_PROC, "no proc", 7, INT32_MAX);
  put_string(x->out, "\n]}\n");
}

void chrome_open(exporter *x) {
  x->show = chrome_show;
  x->count = chrome_count;
  x->user_count = chrome_user_count;
  x->finish = chrome_finish;
  put_string(x->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
}
