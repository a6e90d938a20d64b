/* presents.c - presents files to the preloaded library, as a process that got the process id of `gotrace record` could
 *
 *     presents FLAW FOLDER
 *
 * Prints the variable with the path of the settings, and ends when its input ends. FLAW: none; owner (another user's
 * settings); unsealed; list (another file than the settings say). See test_record.sh. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif

#define GOTRACE_IMPLEMENTATION
#include "../../gotrace.h"

#include "../../examples/gotrace/record/board.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct record_settings settings;

static int make(size_t size) {
  int file = memfd_create("presented", MFD_ALLOW_SEALING);
  return ftruncate(file, (off_t)size) == 0 ? file : -1;
}

static int make_box(void) {
  const size_t size = (size_t)4 << 20;
  int file = make(size);
  gotrace__box *box = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (box == MAP_FAILED) return -1;
  box->size = box->reserved = size;
  box->layout = gotrace__box_layout();
  return file;
}

static void keep(struct kept_file *kept, int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return;
  kept->descriptor = file;
  kept->identity.device = (uint64_t)status.st_dev;
  kept->identity.inode = (uint64_t)status.st_ino;
}

int main(int count, char **words) {
  int file;
  if (count != 3) return 1;
  keep(&settings.folder, open(words[2], O_PATH | O_DIRECTORY));
  keep(&settings.list, make(list_size(BOARD_TRACES)));
  keep(&settings.box, make_box());
  if (strcmp(words[1], "list") == 0) settings.list.identity.inode++;
  settings.given.descriptor = -1;
  settings.traces = BOARD_TRACES;
  settings.version = BOARD_VERSION;
  settings.command_pid = settings.keeper_pid = getpid();
  snprintf(settings.output, sizeof settings.output, "%s.%%p", words[1]);
  if (strcmp(words[1], "owner") == 0 && setuid(65534) != 0) return 1;
  file = make(0);
  if (write(file, &settings, sizeof settings) != (ssize_t)sizeof settings) return 1;
  if (strcmp(words[1], "unsealed") != 0 && fcntl(file, F_ADD_SEALS, BOARD_SEALS) != 0) return 1;
  printf("/proc/%d/fd/%d:%0*d\n", (int)getpid(), file, BOARD_DIGITS, 0);
  fflush(stdout);
  getchar();
  return 0;
}
