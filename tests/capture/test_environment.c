/* gotrace_start_environment with its options, also before main and in a setuid program; what it prints; file names with
 * %p and %t; the functions behind the macros, for languages without macros. */
static unsigned patience(void);
#define GOTRACE__EXIT_MILLISECONDS patience()
#define GOTRACE_AUTOSTART /* without effect while GOTRACE is unset */
#define GOTRACE_IMPLEMENTATION
#include "gotrace.h"
#include "../test_collect.h"
#include "held_snapshot.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[400];

/* How many milliseconds the program waits for a sink at its end: for what is to come, practically for ever. */
static unsigned patience(void) { return getenv("TEST_NOTHING_COMES") ? 1 : UINT_MAX; }

/* Reads and removes the only trace in the directory. */
static const char *only_file(test_bytes *bytes) {
  static char name[300];
  char path[800];
  DIR *dir = opendir(directory);
  struct dirent *entry;
  name[0] = 0;
  CHECK(dir != NULL);
  while ((entry = readdir(dir)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    CHECK(!name[0]);
    snprintf(name, sizeof name, "%s", entry->d_name);
  }
  closedir(dir);
  CHECK(name[0]);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  test_load(bytes, path);
  CHECK(unlink(path) == 0);
  return name;
}

static gotrace_result start(const char *format, const char *file) {
  char value[6000];
  snprintf(value, sizeof value, format, directory, file);
  CHECK(setenv("GOTRACE", value, 1) == 0);
  return gotrace_start_environment();
}

static void check_environment(void) {
  test_bytes bytes = {NULL, 0, 0};
  char expected[64], many[5000];
  const char *name;
  unsigned year, number, used;
  CHECK(unsetenv("GOTRACE") == 0);
  CHECK_EQUAL(gotrace_start_environment(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK(setenv("GOTRACE", "", 1) == 0);
  CHECK_EQUAL(gotrace_start_environment(), GOTRACE_ERROR_NOT_RUNNING);
  CHECK_EQUAL(start("%s/x,format=2.0", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start("%s/x,format=1.", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start("%s/x,format=1.22x", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start("%s/x,size=9", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start("%s/x,", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start(",format=1.22%.0s", ""), GOTRACE_ERROR_ARGUMENT);
  CHECK_EQUAL(start("%s/x,format=1.9", ""), GOTRACE_ERROR_FORMAT);
  CHECK_EQUAL(start("%s/x,format=1.99999999999999999999", ""), GOTRACE_ERROR_FORMAT);
  CHECK_EQUAL(start("%s/none/x", ""), GOTRACE_ERROR_SINK);
  memset(many, 'x', sizeof many - 1);
  many[sizeof many - 1] = 0;
  CHECK_EQUAL(start("%s/%s", many), GOTRACE_ERROR_ARGUMENT);
  CHECK(!gotrace_is_enabled());

  CHECK_EQUAL(start("%s/a-%s.trace", "%p"), GOTRACE_OK);
  CHECK(gotrace_is_enabled());
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  snprintf(expected, sizeof expected, "a-%ld.trace", (long)getpid());
  CHECK(strcmp(only_file(&bytes), expected) == 0);
  CHECK(memcmp(bytes.data, "go 1.23 trace", 13) == 0);

  CHECK_EQUAL(start("%s/%s,format=1.11", "%t%%p%x%"), GOTRACE_OK);
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  name = only_file(&bytes);
  CHECK(sscanf(name, "%4u%4u-%6u.%3u%n", &year, &number, &number, &number, (int *)&used) == 4);
  CHECK(year >= 2024 && used == 19 && strcmp(name + used, "%p%x%") == 0);
  CHECK(memcmp(bytes.data, "go 1.11 trace", 13) == 0);
  test_free(&bytes);
}

/* Runs this program with another GOTRACE until it exits; what it is to do is `word`. Returns what it prints on standard
 * error. */
static const char *run(char *program, const char *word, const char *format) {
  static char printed[4096];
  char value[6000];
  int status, out[2];
  size_t used = 0;
  ssize_t n;
  pid_t child;
  snprintf(value, sizeof value, format, directory);
  CHECK(pipe(out) == 0);
  CHECK((child = fork()) >= 0);
  if (child == 0) {
    /* Their complaints would be read, too; a service thread that exit does not wait for counts as leaked. */
    CHECK(setenv("ASAN_OPTIONS", "detect_leaks=0", 1) == 0 && setenv("TSAN_OPTIONS", "report_thread_leaks=0", 1) == 0);
    CHECK(setenv("GOTRACE", value, 1) == 0 && dup2(out[1], 2) == 2 && close(out[0]) == 0 && close(out[1]) == 0);
    execl(program, program, word, (char *)NULL);
    _exit(9);
  }
  close(out[1]);
  while ((n = read(out[0], printed + used, sizeof printed - 1 - used)) > 0) used += (size_t)n;
  printed[used] = 0;
  close(out[0]);
  CHECK(waitpid(child, &status, 0) == child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fputs(printed, stderr);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return printed;
}

/* In that program. */
static int started(const char *word) {
  pid_t child;
  int status, i;
  if (strcmp(word, "refused") == 0) { /* nothing has started, and main could start something else */
    CHECK(!gotrace_is_enabled());
    return 0;
  }
  CHECK(gotrace_is_enabled()); /* before main */
  CHECK_EQUAL(gotrace_start_environment(), GOTRACE_ERROR_ALREADY_RUNNING);
  for (i = 0; i < 2000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
  if (strcmp(word, "much") == 0) {
    for (i = 0; i < 100000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
    return 0;
  }
  if (strcmp(word, "held") == 0) { /* the end of the program finds a snapshot that does not move */
    pthread_t thread;
    alarm(60);
    CHECK(pthread_create(&thread, NULL, take_snapshot, NULL) == 0);
    while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) sched_yield();
    return 0;
  }
  if (strcmp(word, "stalled") == 0) { /* what is waited for in vain in one step of the exit is not in the others */
    for (i = 0; i < 100000; i++) gotrace_log(GOTRACE_NO_TASK, "category", "message");
    alarm(60);
    gotrace__exit();
    CHECK(gotrace__t.active);
    gotrace__t.options.exit_milliseconds = UINT_MAX;
    return 0;
  }
  gotrace_wait_end();                 /* misuse */
  if ((child = fork()) == 0) exit(0); /* which prints and writes nothing */
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  if (strcmp(word, "stop") == 0) CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  return 0;
}

/* A flight recorder's file that is a pipe: with a reader, which reads more than the pipe holds, only when the program
 * has been waiting for it; without one; with one that does not read. Only the first is waited for until it ends. A
 * socket is not waited for at all. */
static void check_pipes(char *program) {
  char path[500], piece[512];
  test_bytes bytes = {NULL, 0, 0};
  pid_t reader;
  ssize_t n;
  int fd, status;
  snprintf(path, sizeof path, "%s/pipe", directory);
  CHECK(mkfifo(path, 0600) == 0);
  CHECK((reader = fork()) >= 0);
  if (!reader) {
    CHECK((fd = open(path, O_RDONLY)) >= 0);
    while ((n = read(fd, piece, sizeof piece)) > 0) test_append(&bytes, piece, (size_t)n);
    CHECK(bytes.size > 65536 && memcmp(bytes.data, "go 1.23 trace", 13) == 0);
    test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
    _exit(0);
  }
  CHECK(!strstr(run(program, "much", "%s/pipe,flight=9"), "cannot write"));
  CHECK(waitpid(reader, &status, 0) == reader && status == 0);
  CHECK(setenv("TEST_NOTHING_COMES", "1", 1) == 0);
  CHECK(strstr(run(program, "much", "%s/pipe,flight=9"), "/pipe: No such device or address\n"));
  CHECK((fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) >= 0);
  CHECK(strstr(run(program, "much", "%s/pipe,flight=9"), "/pipe: Resource temporarily unavailable\n"));
  CHECK(strstr(run(program, "held", "%s/x,flight=9"), "/x: Resource temporarily unavailable\n"));
  run(program, "stalled", "%s/pipe");
  CHECK(close(fd) == 0 && unlink(path) == 0 && unsetenv("TEST_NOTHING_COMES") == 0);
  snprintf(path, sizeof path, "%s/socket", directory);
  CHECK(mknod(path, S_IFSOCK | 0600, 0) == 0);
  CHECK(strstr(run(program, "much", "%s/socket,flight=9"), "/socket: Operation not supported\n"));
  CHECK(strstr(run(program, "refused", "%s/socket"), "/socket: Operation not supported\n"));
  CHECK(unlink(path) == 0);
}

static void check_autostart(char *program) {
  static const char *const words[] = {"stop", "exit"};
  static const char problem[] = ": 1 x end of a wait that did not begin (dropped)\n";
  test_bytes bytes = {NULL, 0, 0};
  const char *text, *end;
  char path[500];
  int i;
  for (i = 0; i < 2; i++) {
    text = run(program, words[i], "%s/x,limit=10M,stacks=none");
    end = strstr(text, problem);
    CHECK(end && !end[sizeof problem - 1] && strchr(text, '\n') == end + sizeof problem - 2); /* one line */
    only_file(&bytes);
    CHECK(memcmp(bytes.data, "go 1.23 trace", 13) == 0);
    test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
    text = run(program, words[i], "%s/y,flight=3,format=1.25,stats");
    CHECK(strstr(text, "/y: ") && strstr(text, " 1 goroutines, 1 threads\n") && strstr(text, problem));
    CHECK(strcmp(only_file(&bytes), "y") == 0);
    CHECK(memcmp(bytes.data, "go 1.25 trace", 13) == 0);
    test_decode(bytes.data, bytes.size, false, NULL, __FILE__, __LINE__);
  }
  text = run(program, "exit", "%s/z,limit=1K");
  CHECK(strstr(text, "/z: the trace ended early: "));
  only_file(&bytes);
  test_free(&bytes);
  /* The flight recorder's file, too, is not a link. */
  snprintf(path, sizeof path, "%s/link", directory);
  CHECK(symlink("target", path) == 0);
  CHECK(strstr(run(program, "exit", "%s/link,flight=1"), "/link: Too many levels of symbolic links\n"));
  CHECK(unlink(path) == 0);
  check_pipes(program);
  /* Wrong and hostile values. */
  CHECK(strstr(run(program, "refused", "%s/x,flight=1,limit=1M"), "limit and flight exclude each other\n"));
  CHECK(strstr(run(program, "refused", "%s/x,flight=-1"), "unknown option or value 'flight=-1'\n"));
  CHECK(strstr(run(program, "refused", "%s/x,limit=1T"), "'limit=1T'\ngotrace: possible: GOTRACE=FILE,format=1.8|"));
  CHECK(strstr(run(program, "refused", "%s/x,format=1.27"), "trace format not supported\ngotrace: possible: GOTRACE="));
  CHECK(strstr(run(program, "refused", "%s/x,stacks=unwind"), "'stacks=unwind'\n"));
  CHECK(strstr(run(program, "refused", "%s/x,stats=1"), "'stats=1'\n"));
  CHECK(strstr(run(program, "refused", "%s/x,\033[31m\302\233"), "'?[31m?"
                                                                 "?'\n"));
  CHECK(strstr(run(program, "refused", "%s/none/x"), "/none/x: No such file or directory\n"));
  CHECK(strcmp(run(program, "refused", ""), "") == 0);
}

/* Whoever sets the variable chooses a file by its name, not by a link that somebody has put there. */
static void check_link(void) {
  char target[500], name[500];
  struct stat status;
  snprintf(target, sizeof target, "%s/target", directory);
  snprintf(name, sizeof name, "%s/link", directory);
  CHECK(symlink(target, name) == 0);
  CHECK_EQUAL(start("%s/link", ""), GOTRACE_ERROR_SINK); /* it would be created */
  CHECK_EQUAL(errno, ELOOP);
  CHECK_EQUAL(gotrace_start_file(name, NULL), GOTRACE_OK); /* the program's own choice */
  CHECK_EQUAL(gotrace_stop(), GOTRACE_OK);
  CHECK(stat(target, &status) == 0 && status.st_size > 0 && truncate(target, 0) == 0);
  CHECK_EQUAL(start("%s/link", ""), GOTRACE_ERROR_SINK); /* it would be replaced */
  CHECK_EQUAL(errno, ELOOP);
  CHECK(stat(target, &status) == 0 && status.st_size == 0);
  CHECK(unlink(name) == 0 && unlink(target) == 0);
}

/* In a program with the rights of root that somebody else started, as if it were a setuid program: see main. */
static void check_privileged(char *program) {
  char name[500];
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  snprintf(name, sizeof name, "%s/privileged", directory);
  if (child == 0) {
    CHECK(setenv("GOTRACE", name, 1) == 0);
    CHECK(setresuid(65534, 0, 0) == 0);
    execl(program, program, "privileged", (char *)NULL);
    _exit(9);
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(access(name, F_OK) != 0);
}

/* The time in a file name is the calendar time of the system. */
static void check_calendar(void) {
  char text[40], expected[40];
  struct timespec before, after; /* not time(), which may lag by some milliseconds */
  struct tm parts;
  do {
    CHECK(clock_gettime(CLOCK_REALTIME, &before) == 0);
    gotrace__time_text(text, sizeof text);
    CHECK(clock_gettime(CLOCK_REALTIME, &after) == 0);
  } while (before.tv_sec != after.tv_sec); /* a new second began in between */
  CHECK(gmtime_r(&before.tv_sec, &parts) != NULL);
  CHECK(strftime(expected, sizeof expected, "%Y%m%d-%H%M%S", &parts) == 15);
  CHECK(strncmp(text, expected, 15) == 0);
}

static void check_snapshot(void) {
  test_bytes bytes = {NULL, 0, 0};
  char path[500];
  snprintf(path, sizeof path, "%s/snapshot-%%p", directory);
  CHECK_EQUAL(gotrace_flight_start(NULL), GOTRACE_OK);
  gotrace_log(GOTRACE_NO_TASK, "", "");
  CHECK_EQUAL(gotrace_flight_snapshot_file(path), GOTRACE_OK);
  CHECK_EQUAL(gotrace_flight_stop(), GOTRACE_OK);
  snprintf(path, sizeof path, "snapshot-%ld", (long)getpid());
  CHECK(strcmp(only_file(&bytes), path) == 0);
  test_free(&bytes);
}

/* The macros of calls, and the function behind each. */
#define PLAIN(macro, function) \
  { #macro, (void (*)(void))function }
static const struct {
  const char *macro;
  void (*function)(void);
} plain[] = {
    PLAIN(gotrace_enabled, gotrace_is_enabled),
    PLAIN(gotrace_thread_create, gotrace_thread_create_at),
    PLAIN(gotrace_procs_change, gotrace_procs_change_at),
    PLAIN(gotrace_go_create, gotrace_go_create_at),
    PLAIN(gotrace_go_create_blocked, gotrace_go_create_blocked_at),
    PLAIN(gotrace_go_create_syscall, gotrace_go_create_syscall_at),
    PLAIN(GOTRACE_REASON, gotrace_reason),
    PLAIN(gotrace_go_stop, gotrace_go_stop_at),
    PLAIN(gotrace_go_block, gotrace_go_block_at),
    PLAIN(gotrace_go_unblock, gotrace_go_unblock_at),
    PLAIN(gotrace_go_switch, gotrace_go_switch_at),
    PLAIN(gotrace_go_switch_for, gotrace_go_switch_for_at),
    PLAIN(gotrace_go_switch_end, gotrace_go_switch_end_at),
    PLAIN(gotrace_go_destroy, gotrace_go_destroy_at),
    PLAIN(gotrace_go_syscall_begin, gotrace_go_syscall_begin_at),
    PLAIN(gotrace_wait_begin, gotrace_wait_begin_at),
    PLAIN(gotrace_wait_on, gotrace_wait_on_at),
    PLAIN(gotrace_wake, gotrace_wake_at),
    PLAIN(gotrace_nest_begin, gotrace_nest_begin_at),
    PLAIN(gotrace_gc_begin, gotrace_gc_begin_at),
    PLAIN(gotrace_stw_begin, gotrace_stw_begin_at),
    PLAIN(gotrace_gc_sweep_span, gotrace_gc_sweep_span_at),
    PLAIN(gotrace_gc_mark_assist_begin, gotrace_gc_mark_assist_begin_at),
    PLAIN(gotrace_task_begin, gotrace_task_begin_at),
    PLAIN(gotrace_task_end, gotrace_task_end_at),
    PLAIN(gotrace_region_begin, gotrace_region_begin_at),
    PLAIN(gotrace_region_end, gotrace_region_end_at),
    PLAIN(gotrace_log, gotrace_log_category_at),
    PLAIN(gotrace_logf, gotrace_logf_at),
    PLAIN(gotrace_logv, gotrace_logv_at),
    PLAIN(gotrace_count, gotrace_count_at),
    PLAIN(gotrace_count_double, gotrace_count_double_at),
    PLAIN(gotrace_go_create_named, gotrace_go_create_named_at),
    PLAIN(gotrace_go_create_named_n, gotrace_go_create_named_at),
    PLAIN(gotrace_go_keyed, gotrace_go_keyed_at),
    PLAIN(gotrace_go_keyed_blocked, gotrace_go_keyed_at),
    PLAIN(gotrace_go_keyed_free, gotrace_go_keyed_free_at),
    PLAIN(gotrace_task_begin_n, gotrace_task_begin_n_at),
    PLAIN(gotrace_region_begin_n, gotrace_region_begin_n_at),
    PLAIN(gotrace_region_end_n, gotrace_region_end_n_at),
    PLAIN(gotrace_region_end_innermost, gotrace_region_end_innermost_at),
    PLAIN(gotrace_log_n, gotrace_log_n_at),
    PLAIN(GOTRACE_HERE, gotrace_site_make),
    PLAIN(GOTRACE_REGION, gotrace_region_begin_at), /* and gotrace_region_end_at */
    PLAIN(GOTRACE_TASK_REGION, gotrace_region_begin_at),
};

/* Every macro of the header that makes a call is in the list. */
static void check_plain_functions(void) {
  char line[2000], name[100];
  unsigned found = 0;
  FILE *file = fopen("gotrace.h", "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) && !strstr(line, "- >>decoder -")) {
    size_t i;
    if (sscanf(line, "#define gotrace_%80[a-z_](", name) != 1 || name[0] == '_') continue;
    for (i = 0; i < sizeof plain / sizeof plain[0]; i++)
      if (strncmp(plain[i].macro, "gotrace_", 8) == 0 && strcmp(plain[i].macro + 8, name) == 0) break;
    if (i == sizeof plain / sizeof plain[0]) fprintf(stderr, "gotrace_%s has no function behind the macro\n", name);
    CHECK(i < sizeof plain / sizeof plain[0] && plain[i].function);
    found++;
  }
  CHECK(fclose(file) == 0);
  CHECK(found >= 28);
}

int main(int argc, char **argv) {
  const char *parent = getenv("GOTRACE_TEST_DIR");
  if (argc > 1 && strcmp(argv[1], "privileged") != 0) return started(argv[1]);
  if (argc > 1) { /* check_privileged */
    CHECK_EQUAL(gotrace_start_environment(), GOTRACE_ERROR_NOT_RUNNING);
    CHECK(!gotrace_is_enabled());
    return 0;
  }
  snprintf(directory, sizeof directory, "%s/environmentXXXXXX", parent ? parent : "/tmp");
  CHECK(mkdtemp(directory) != NULL);
  check_environment();
  check_autostart(argv[0]);
  check_link();
  check_calendar();
  check_snapshot();
  check_plain_functions();
  if (geteuid() == 0) check_privileged(argv[0]);
  CHECK(rmdir(directory) == 0);
  if (geteuid() == 0) return 0;
  puts("needs root, to be started with more rights than its user has");
  return 77;
}
