/* executable.h - what the system would run for an executable file; for the tool and for its preloaded library
 *
 * The file may be anything. Nothing in it is trusted, and nothing but a regular file is opened: opening a pipe would
 * wait, and opening a device may do anything. */

#ifndef EXECUTABLE_H
#define EXECUTABLE_H

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#if __SIZEOF_POINTER__ == 8
typedef Elf64_Ehdr elf_header;
typedef Elf64_Phdr elf_segment;
#else
typedef Elf32_Ehdr elf_header;
typedef Elf32_Phdr elf_segment;
#endif

extern const elf_header __ehdr_start __attribute__((visibility("hidden"))); /* this code's own; the linker defines it */

typedef enum executable {
  EXECUTABLE_DYNAMIC, /* needs a dynamic linker */
  EXECUTABLE_STATIC,
  EXECUTABLE_SCRIPT, /* needs an interpreter */
  EXECUTABLE_FOREIGN,
  EXECUTABLE_UNREADABLE, /* see errno */
  EXECUTABLE_NONE
} executable;

#define MOST_INTERPRETERS 5 /* one of which interprets the next: the system's limit */

static executable executable_of(int file, char *needs, size_t size) {
  elf_header header;
  elf_segment segment;
  unsigned i;
  ssize_t got = pread(file, needs, size - 1, 0);
  if (got >= 2 && needs[0] == '#' && needs[1] == '!') {
    const char *word;
    needs[got] = 0;
    word = needs + 2 + strspn(needs + 2, " \t");
    got = (ssize_t)strcspn(word, " \t\n");
    memmove(needs, word, (size_t)got);
    needs[got] = 0;
    return EXECUTABLE_SCRIPT;
  }
  memset(&header, 0, sizeof header);
  got = pread(file, &header, sizeof header, 0);
  if (got < EI_NIDENT + 4 || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return EXECUTABLE_NONE;
  if (header.e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] || header.e_machine != __ehdr_start.e_machine)
    return EXECUTABLE_FOREIGN;
  if (got != (ssize_t)sizeof header || header.e_phentsize != sizeof segment) return EXECUTABLE_NONE;
  for (i = 0; i < header.e_phnum; i++) {
    if (pread(file, &segment, sizeof segment, (off_t)(header.e_phoff + i * sizeof segment)) != (ssize_t)sizeof segment)
      return EXECUTABLE_NONE;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz > size) return EXECUTABLE_NONE;
    got = pread(file, needs, (size_t)segment.p_filesz, (off_t)segment.p_offset);
    return got > 1 && (size_t)got == segment.p_filesz && !needs[got - 1] ? EXECUTABLE_DYNAMIC : EXECUTABLE_NONE;
  }
  return EXECUTABLE_STATIC;
}

/* `needs`: `size` bytes, for the path of the dynamic linker or the interpreter. May be where `path` is. */
static executable read_executable(const char *path, char *needs, size_t size) {
  struct stat status;
  executable found = EXECUTABLE_NONE;
  int file;
  if (stat(path, &status) != 0) return EXECUTABLE_UNREADABLE;
  if (!S_ISREG(status.st_mode)) return EXECUTABLE_NONE;
  file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* it may have been replaced meanwhile */
  if (file < 0) return EXECUTABLE_UNREADABLE;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) found = executable_of(file, needs, size);
  close(file);
  return found;
}

/* Whether a file gives capabilities to a process that executes it. Of what the kernel keeps, the first bit says whether
 * they take effect at once, and the second and fourth words which are permitted. */
static bool gives_capabilities(const char *path, bool can_gain) {
  uint32_t word[6] = {0};
  unsigned char first;
  if (getuid() == 0 || getxattr(path, "security.capability", word, sizeof word) <= 0) return false;
  memcpy(&first, word, 1);
  return (first & 1) || (can_gain && (word[1] || word[3]));
}

/* Whether a process that executes the file gets the rights of another user or group, or capabilities. The system then
 * lets nobody choose libraries for it. */
static bool gives_rights(const char *path) {
  struct stat status;
  bool other_user, other_group;
  const bool can_gain = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
  if (stat(path, &status) != 0) return false;
  other_user = (status.st_mode & S_ISUID) && status.st_uid != geteuid();
  other_group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && status.st_gid != getegid();
  return (can_gain && (other_user || other_group)) || gives_capabilities(path, can_gain);
}

#endif
