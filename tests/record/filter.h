/* filter.h - system call filters (seccomp) for the programs that gotrace record is tested with */

#ifndef FILTER_H
#define FILTER_H

#include <stdint.h>

/* As in <linux/filter.h>, which not every C library comes with. */
struct instruction {
  uint16_t code;
  uint8_t if_true, if_false;
  uint32_t k;
};
struct filter {
  unsigned short size;
  struct instruction *all;
};
enum { LOAD = 0x20, JUMP_IF_EQUAL = 0x15, RETURN = 0x06 };
#define KILL 0x80000000u
#define ALLOW 0x7fff0000u

#endif
