/* GLib: tasks in threads, begun from a timer of the main loop. */
#include "../../examples/adapters/glib.h"
#include "story.h"

enum { TICKS = 8, TASKS = 3 };

static GMainLoop *loop;
static int ticks, done;

static void compute(GTask *task, gpointer source, gpointer data, GCancellable *cancellable) {
  (void)source, (void)cancellable;
  g_usleep(500);
  g_task_return_int(task, GPOINTER_TO_INT(data) * 2);
}

static void computed(GObject *source, GAsyncResult *result, gpointer data) {
  (void)source;
  CHECK_EQUAL(g_task_propagate_int(G_TASK(result), NULL), GPOINTER_TO_INT(data) * 2);
  if (++done == TICKS * TASKS) g_main_loop_quit(loop);
}

static gboolean tick(gpointer data) {
  int i;
  (void)data;
  for (i = 0; i < TASKS; i++) {
    GTask *task = g_task_new(NULL, NULL, computed, GINT_TO_POINTER(i));
    g_task_set_task_data(task, GINT_TO_POINTER(i), NULL);
    g_task_run_in_thread(task, compute);
    g_object_unref(task);
  }
  return ++ticks < TICKS;
}

int main(int argc, char **argv) {
  CHECK(argc == 2 && gotrace_start_file(argv[1], NULL) == GOTRACE_OK);
  gotrace_glib_begin(NULL);
  loop = g_main_loop_new(NULL, FALSE);
  g_timeout_add(2, tick, NULL);
  g_main_loop_run(loop);
  g_main_loop_unref(loop);
  CHECK(gotrace_stop() == GOTRACE_OK);
  story_read(argv[1]);
  story_expect("created compute", TICKS * TASKS);
  story_expect("started compute", TICKS * TASKS);
  /* The last task may end after the loop has its result, and after the trace. */
  CHECK(story_count("ended compute") >= TICKS * TASKS - TASKS);
  CHECK(story_count("blocked glib GLib: poll") >= TICKS);
  CHECK(story_count("woken glib") >= 1);
  return 0;
}
