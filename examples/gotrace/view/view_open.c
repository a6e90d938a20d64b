/* view_open.c - shows a page of gotrace view in a browser: see view.h */

#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

const char *temporary_page(void) {
  const char *beside = temporary_directory();
  char *name;
  int fd;
  name = keep(strlen(beside) + 32);
  sprintf(name, "%s/gotrace.XXXXXX.html", beside);
  fd = mkstemps(name, 5);
  if (fd < 0) fail("cannot write %s: %s", name, strerror(errno));
  close(fd);
  return name;
}

int open_browser(const char *page) {
  const char *browser = getenv("BROWSER");
  int status = -1;
  pid_t child;
  if (!browser || !*browser) browser = "xdg-open";
  child = fork();
  if (child == 0) {
    if (!freopen("/dev/null", "w", stderr)) _exit(127); /* xdg-open names every browser that it misses */
    execlp(browser, browser, page, (char *)NULL);
    _exit(127);
  }
  if (child > 0) waitpid(child, &status, 0);
  if (status == 0) return 0;
  program.file = NULL;
  report("no browser could be started by %s; set BROWSER, or open %s", browser, page);
  return 1;
}

void start_browser(const char *address) {
  if (fork() == 0) _exit(open_browser(address));
}
