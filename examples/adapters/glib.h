/* glib.h - GLib's main loops and the tasks that run in threads (GTask). Include it before any use of
 * g_task_run_in_thread, and call gotrace_glib_begin(context) for each main context (NULL: the default one).
 *
 *     in GLib                       becomes
 *     a main loop polls             gotrace_wait_on its context, "GLib: poll"; its thread is a plain thread
 *     g_task_run_in_thread          gotrace_go_create, named after the function
 *     the function runs             gotrace_go_start, _end: a thread of GLib's pool is a proc
 *     it has returned               gotrace_wake: shows who ended the poll
 *
 * Other sources (GDBus, timers, files) only appear as the end of a poll; their callbacks are not told apart. */
#ifndef GOTRACE_GLIB_H
#define GOTRACE_GLIB_H

#include <gio/gio.h>

#include "gotrace.h"

typedef struct gotrace_glib_task {
  gotrace_go *go;
  GTaskThreadFunc run;
} gotrace_glib_task;

/* The context whose loop runs on the calling thread. */
static GMainContext *gotrace_glib_context(void) {
  GMainContext *context = g_main_context_get_thread_default();
  return context ? context : g_main_context_default();
}

static gint gotrace_glib_poll(GPollFD *files, guint count, gint timeout) {
  gint result;
  if (timeout == 0) return g_poll(files, count, timeout); /* does not wait */
  gotrace_wait_on(gotrace_glib_context(), GOTRACE_REASON("GLib: poll") + GOTRACE_BLOCK_NET);
  result = g_poll(files, count, timeout);
  gotrace_wait_end();
  return result;
}

static inline void gotrace_glib_begin(GMainContext *context) {
  g_main_context_set_poll_func(context, gotrace_glib_poll);
}

static void gotrace_glib_run(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  static __thread gotrace_proc *proc;
  gotrace_glib_task *traced = (gotrace_glib_task *)g_object_get_data(G_OBJECT(task), "gotrace");
  GMainContext *context = g_task_get_context(task);
  if (!proc) gotrace_proc_start(proc = gotrace_proc_create());
  gotrace_go_start(traced->go);
  traced->run(task, source, data, cancellable);
  gotrace_wake(context, 1);
  gotrace_go_end();
}

static inline void gotrace_glib_run_in_thread(gotrace_site *site, const gotrace_location *entry, GTask *task,
                                              GTaskThreadFunc run) {
  gotrace_glib_task *traced = g_new0(gotrace_glib_task, 1);
  gotrace_go_self(); /* makes the thread a goroutine, so that the task has a creator */
  traced->go = gotrace_go_create_at(site, entry);
  traced->run = run;
  g_object_set_data_full(G_OBJECT(task), "gotrace", traced, g_free);
  g_task_run_in_thread(task, gotrace_glib_run);
}

#define g_task_run_in_thread(task, function)                                           \
  (__extension__({                                                                     \
    static const gotrace_location gotrace_glib_entry = GOTRACE_ENTRY(function);        \
    gotrace_glib_run_in_thread(GOTRACE_HERE, &gotrace_glib_entry, (task), (function)); \
  }))

#endif
