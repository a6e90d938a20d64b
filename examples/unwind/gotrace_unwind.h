/* gotrace_unwind.h - complete stacks for traces: Linux, x86-64 and arm64
 *
 * The functions that called one another, from the call of the tracer to the thread's start, also through code without
 * frame pointers, signal handlers and coroutines. Elsewhere a stack stays what it is without this file: the call site.
 *
 *     #define GOTRACE_UNWIND_IMPLEMENTATION   // in one source file
 *     #include "gotrace_unwind.h"
 *
 *     gotrace_options options = {0};
 *     options.stacks = GOTRACE_STACKS_UNWIND;
 *     options.unwind = gotrace_unwind;
 *
 * A frame that any thread has seen before takes about 6 ns, where _Unwind_Backtrace takes 120. It needs the
 * descriptions that compilers make for exceptions (.eh_frame), as C compilers do, too, unless they are told not to
 * (-fno-asynchronous-unwind-tables). Code without them, as generated code, ends a stack.
 *
 * A program that unloads libraries calls gotrace_unwind_begin_unload and _end_unload around dlclose. Otherwise stacks
 * through a library that is loaded to the same place may be wrong; no walk crashes.
 *
 * HOW
 *
 * The rule for an address is one word in a table of the whole process (256 KB). So a frame that any thread has seen
 * before takes a look-up and two reads of the stack.
 *
 * INVARIANTS
 *
 *   1. A walk allocates nothing and waits for no lock that the program can hold, so it may run in a signal handler.
 *      Otherwise the handler might wait for the thread that it has interrupted. What is left: where the C library has
 *      no _dl_find_object (glibc before 2.35, musl), code is looked up under its lock of the modules when it is met
 *      first; `gotrace record` does that only while the program holds it in no call. glibc before 2.35 holds that
 *      lock where dlopen links a module, for some instructions. If a handler interrupts them and waits for another
 *      thread, that thread's walk waits until the handler returns.
 *   2. Nothing is read above the known part of the stack unless the system says that its page can be read, and the
 *      stack pointer only increases. Otherwise a wrong rule might crash the program.
 *   3. A kept rule is used only for the address and the epoch that it was made for, and not while a library is being
 *      unloaded. Otherwise a library that is loaded where another was would be walked by the rules of the other one.
 *   4. Descriptions are read only inside the segment of their module that contains them. Otherwise a damaged one would
 *      lead to memory that is not there. */

#ifndef GOTRACE_UNWIND_H
#define GOTRACE_UNWIND_H

#include "gotrace.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For gotrace_options.unwind. Fills pcs with up to `max` return addresses, innermost first, beginning with that of this
 * call; returns their count. 0: not on this system. May be called in signal handlers. Needs no context. */
GOTRACE_API int gotrace_unwind(void *context, uintptr_t *pcs, int max);

/* Around the unloading of a library: other code may get its addresses. A thread that walks through its code meanwhile
 * would return there, and so crash without the tracer, too. */
GOTRACE_API void gotrace_unwind_begin_unload(void);
GOTRACE_API void gotrace_unwind_end_unload(void);

#ifdef __cplusplus
}
#endif

/* ----------------------------------------------------------------------------------------------------- private ---- */

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))
#define GOTRACE__UNWIND_HERE 1
#else
#define GOTRACE__UNWIND_HERE 0
#endif

/* What a walk knows about a frame. */
typedef struct gotrace__unwind_frame {
  uintptr_t pc;     /* a return address; of interrupted code: its address + 1 */
  uintptr_t sp, fp; /* after the call has returned */
  uintptr_t lr;     /* arm64: of interrupted code; otherwise 0 */
} gotrace__unwind_frame;

/* The part of a stack that can be read; its ends are multiples of a word. Above it, a page at a time is asked for. */
typedef struct gotrace__unwind_stack {
  uintptr_t low, high;
} gotrace__unwind_stack;

#endif /* GOTRACE_UNWIND_H */

/* `gotrace record` includes this file twice: its library with functions of its own where this one has `#ifndef
 * GOTRACE__UNWIND_HOOKS`; the command, which walks copies of stacks, without what follows "this process" (then
 * GOTRACE__UNWIND_COPIES is defined). */
#if (defined(GOTRACE_UNWIND_IMPLEMENTATION) || defined(GOTRACE__UNWIND_HOOKS) || defined(GOTRACE__UNWIND_COPIES)) && \
    !defined(GOTRACE__UNWIND_IMPLEMENTED)
#define GOTRACE__UNWIND_IMPLEMENTED

#if GOTRACE__UNWIND_HERE

#include <dlfcn.h>
#include <link.h>
#include <string.h>

/* Hooks at the program's functions (-finstrument-functions) may call the tracer. */
#define GOTRACE__UNWIND_FN __attribute__((__unused__, __no_instrument_function__)) static

/* ------------------------------------------------------------------------------------------- frames to callers ----
 *
 * Compilers describe, for each address of a function, where its caller's registers are: as a program that has to be run
 * from the function's start (DWARF, "call frame information"). Here the result for an address is one word, a rule.
 *
 * Only the registers are followed by which compilers find callers: stack pointer, frame pointer and return address.
 *
 * The modules of another process are read from their files, so an address in the program and the place where its
 * contents can be read differ: the first are integers, the second pointers. */

/* Reads a word of the stack; false: that is not possible. */
GOTRACE__UNWIND_FN inline bool gotrace__unwind_load(gotrace__unwind_stack *stack, uintptr_t at, uintptr_t *value);

/* Numbers of registers in DWARF. */
#if defined(__x86_64__)
#define GOTRACE__UNWIND_SP 7
#define GOTRACE__UNWIND_FP 6
#define GOTRACE__UNWIND_RETURN 16
#define GOTRACE__UNWIND_HAS_LINK_REGISTER 0
#else
#define GOTRACE__UNWIND_SP 31
#define GOTRACE__UNWIND_FP 29
#define GOTRACE__UNWIND_RETURN 30
#define GOTRACE__UNWIND_HAS_LINK_REGISTER 1
#endif

/* ------------------------------------------------------------------------------------------------------- rules ---- */

/* How to find the caller of an address. */
typedef enum gotrace__unwind_rule_kind {
  GOTRACE__UNWIND_RULE_NONE,      /* not known, and not kept: the stack ends */
  GOTRACE__UNWIND_RULE_OUTERMOST, /* the stack ends */
  GOTRACE__UNWIND_RULE_SIGNAL,    /* a signal handler returns here */
  GOTRACE__UNWIND_RULE_CALL,      /* the frame begins at a register + offset */
  GOTRACE__UNWIND_RULE_INDIRECT   /* the frame's beginning is stored at a register + offset */
} gotrace__unwind_rule_kind;

enum {
  GOTRACE__UNWIND_KEPT,
  GOTRACE__UNWIND_IN_FRAME,
  GOTRACE__UNWIND_BY_POINTER
}; /* the caller's value: unchanged; stored below the frame's beginning, or at FP + offset */

typedef struct gotrace__unwind_rule {
  gotrace__unwind_rule_kind kind;
  bool by_fp; /* the register is the frame pointer, not the stack pointer */
  int64_t offset;
  unsigned fp_is, return_is;
  int64_t fp_at, return_at;
} gotrace__unwind_rule;

GOTRACE__UNWIND_FN bool gotrace__unwind_is_short(int64_t at) {
  return at % 8 == 0 && at / 8 >= INT16_MIN && at / 8 <= INT16_MAX;
}

/* A rule as a word: kind 3 bits, by_fp 1, fp_is 2, return_is 2, offset 24, fp_at / 8 and return_at / 8 16 each. */
GOTRACE__UNWIND_FN uint64_t gotrace__unwind_pack(const gotrace__unwind_rule *r) {
  bool fits = r->offset >= -(1 << 23) && r->offset < 1 << 23 && gotrace__unwind_is_short(r->fp_at) &&
              gotrace__unwind_is_short(r->return_at);
  if (!fits) return GOTRACE__UNWIND_RULE_OUTERMOST;
  return (uint64_t)r->kind | (uint64_t)r->by_fp << 3 | (uint64_t)r->fp_is << 4 | (uint64_t)r->return_is << 6 |
         ((uint64_t)r->offset & 0xffffff) << 8 | (uint64_t)(uint16_t)(r->fp_at / 8) << 32 |
         (uint64_t)(uint16_t)(r->return_at / 8) << 48;
}

/* ------------------------------------------------------------------------------------- call frame information ---- */

/* What is at `at` is read only before `end`; `failed` is set where there is not enough, or something unknown. */
typedef struct gotrace__unwind_reader {
  const uint8_t *at, *end;
  bool failed;
  uintptr_t moved; /* the address in the program, minus that of `at` */
} gotrace__unwind_reader;

GOTRACE__UNWIND_FN uintptr_t gotrace__unwind_address_of_next(const gotrace__unwind_reader *r) {
  return (uintptr_t)r->at + r->moved;
}

GOTRACE__UNWIND_FN uint64_t gotrace__unwind_get(gotrace__unwind_reader *r, unsigned size) {
  uint64_t value = 0;
  if ((size_t)(r->end - r->at) < size) {
    r->failed = true;
    r->at = r->end;
    return 0;
  }
  memcpy(&value, r->at, size); /* little-endian, as both architectures are */
  r->at += size;
  return value;
}

/* A number in base 128, of so many bits. */
GOTRACE__UNWIND_FN uint64_t gotrace__unwind_get_number(gotrace__unwind_reader *r, unsigned *bits) {
  uint64_t value = 0, byte;
  *bits = 0;
  do {
    byte = gotrace__unwind_get(r, 1);
    if (*bits < 64) value |= (byte & 127) << *bits;
    *bits += 7;
  } while (byte & 128);
  return value;
}

GOTRACE__UNWIND_FN uint64_t gotrace__unwind_get_unsigned(gotrace__unwind_reader *r) {
  unsigned bits;
  return gotrace__unwind_get_number(r, &bits);
}

GOTRACE__UNWIND_FN int64_t gotrace__unwind_get_signed(gotrace__unwind_reader *r) {
  unsigned bits;
  uint64_t value = gotrace__unwind_get_number(r, &bits);
  if (bits < 64 && value >> (bits - 1)) value |= ~(uint64_t)0 << bits;
  return (int64_t)value;
}

GOTRACE__UNWIND_FN void gotrace__unwind_skip(gotrace__unwind_reader *r, uint64_t size) {
  if (r->failed || size > (uint64_t)(r->end - r->at)) r->failed = true, r->at = r->end;
  else r->at += size;
}

/* A pointer in an encoding of .eh_frame (DW_EH_PE_...). */
GOTRACE__UNWIND_FN uint64_t gotrace__unwind_get_pointer(gotrace__unwind_reader *r, unsigned encoding) {
  uintptr_t from = gotrace__unwind_address_of_next(r);
  uint64_t value;
  switch (encoding & 15) {
  case 0:
  case 4:
  case 12: value = gotrace__unwind_get(r, 8); break;
  case 1: value = gotrace__unwind_get_unsigned(r); break;
  case 2: value = gotrace__unwind_get(r, 2); break;
  case 3: value = gotrace__unwind_get(r, 4); break;
  case 9: value = (uint64_t)gotrace__unwind_get_signed(r); break;
  case 10: value = (uint64_t)(int16_t)gotrace__unwind_get(r, 2); break;
  case 11: value = (uint64_t)(int32_t)gotrace__unwind_get(r, 4); break;
  default: r->failed = true; return 0;
  }
  if ((encoding & 0x70) == 0x10) value += from;
  return value;
}

typedef struct gotrace__unwind_common { /* what functions have in common: a CIE */
  uint64_t code_unit;
  int64_t data_unit;
  unsigned pointers;
  bool has_size, is_signal;
  gotrace__unwind_reader instructions;
} gotrace__unwind_common;

/* Ends where the description ends that begins here. */
GOTRACE__UNWIND_FN void gotrace__unwind_take_size(gotrace__unwind_reader *r) {
  uint64_t size = gotrace__unwind_get(r, 4);
  if (r->failed || size > (uint64_t)(r->end - r->at)) r->failed = true;
  else r->end = r->at + size;
}

GOTRACE__UNWIND_FN bool gotrace__unwind_read_common(gotrace__unwind_reader r, gotrace__unwind_common *c) {
  const char *letters;
  uint64_t version;
  gotrace__unwind_take_size(&r);
  if (gotrace__unwind_get(&r, 4) != 0) return false;
  version = gotrace__unwind_get(&r, 1);
  letters = (const char *)r.at;
  while (gotrace__unwind_get(&r, 1)) continue;
  if (r.failed || (version != 1 && version != 3)) return false;
  c->code_unit = gotrace__unwind_get_unsigned(&r);
  c->data_unit = gotrace__unwind_get_signed(&r);
  if ((version == 1 ? gotrace__unwind_get(&r, 1) : gotrace__unwind_get_unsigned(&r)) != GOTRACE__UNWIND_RETURN)
    return false;
  c->pointers = 0;
  c->is_signal = false;
  c->has_size = *letters == 'z';
  if (*letters && !c->has_size) return false;
  if (c->has_size) {
    uint64_t rest = gotrace__unwind_get_unsigned(&r);
    const uint8_t *begin = r.at;
    while (*++letters) {
      if (*letters == 'R') c->pointers = (unsigned)gotrace__unwind_get(&r, 1);
      else if (*letters == 'S') c->is_signal = true;
      else if (*letters == 'L') gotrace__unwind_get(&r, 1);
      else if (*letters == 'P') gotrace__unwind_get_pointer(&r, (unsigned)gotrace__unwind_get(&r, 1));
      else if (*letters != 'B' && *letters != 'G') return false;
    }
    r.at = begin;
    gotrace__unwind_skip(&r, rest);
  }
  c->instructions = r;
  return !r.failed;
}

/* The beginning of a frame by an expression. Compilers and linkers use two: in the PLT, a slot is 16 bytes and pushes a
 * word at byte 11 or so; where a function aligns its stack, the address is stored beside the frame pointer. */
GOTRACE__UNWIND_FN void gotrace__unwind_define_by_expression(gotrace__unwind_reader e, uintptr_t pc,
                                                             gotrace__unwind_rule *now) {
  static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22}; /* [6]: DW_OP_lit, 0x30 + n */
  uint64_t operation;
  if (e.end - e.at == sizeof plt && memcmp(e.at, plt, 6) == 0 && memcmp(e.at + 7, plt + 7, 4) == 0) {
    now->kind = GOTRACE__UNWIND_RULE_CALL;
    now->by_fp = false;
    now->offset = 8 + ((pc & 15) >= e.at[6] - 0x30u ? 8 : 0);
    return;
  }
  operation = gotrace__unwind_get(&e, 1);
  now->kind = GOTRACE__UNWIND_RULE_INDIRECT;
  now->by_fp = operation == 0x70 + GOTRACE__UNWIND_FP;
  now->offset = gotrace__unwind_get_signed(&e);
  if ((operation != 0x70 + GOTRACE__UNWIND_FP && operation != 0x70 + GOTRACE__UNWIND_SP) ||
      gotrace__unwind_get(&e, 1) != 0x06 /* deref */ || e.at != e.end || e.failed)
    now->kind = GOTRACE__UNWIND_RULE_NONE;
}

GOTRACE__UNWIND_FN void gotrace__unwind_set_register(gotrace__unwind_rule *now, uint64_t number, unsigned is,
                                                     int64_t at) {
  if (number == GOTRACE__UNWIND_FP) now->fp_is = is, now->fp_at = at;
  if (number == GOTRACE__UNWIND_RETURN) now->return_is = is, now->return_at = at;
}

GOTRACE__UNWIND_FN void gotrace__unwind_restore_register(gotrace__unwind_rule *now, uint64_t number,
                                                         const gotrace__unwind_rule *first) {
  if (number == GOTRACE__UNWIND_FP) now->fp_is = first->fp_is, now->fp_at = first->fp_at;
  if (number == GOTRACE__UNWIND_RETURN) now->return_is = first->return_is, now->return_at = first->return_at;
}

GOTRACE__UNWIND_FN void gotrace__unwind_set_base(gotrace__unwind_rule *now, uint64_t number) {
  now->by_fp = number == GOTRACE__UNWIND_FP;
  now->kind = number == GOTRACE__UNWIND_FP || number == GOTRACE__UNWIND_SP ? GOTRACE__UNWIND_RULE_CALL
                                                                           : GOTRACE__UNWIND_RULE_NONE;
}

/* An offset in units of the description. */
GOTRACE__UNWIND_FN int64_t gotrace__unwind_scaled(uint64_t number, const gotrace__unwind_common *c) {
  return (int64_t)(number * (uint64_t)c->data_unit);
}

/* Runs instructions up to those for addresses after `pc`. `first`: the rule at the function's start. False: there is
 * something unknown. */
GOTRACE__UNWIND_FN bool gotrace__unwind_run(gotrace__unwind_reader r, const gotrace__unwind_common *c, uintptr_t at,
                                            uintptr_t pc, gotrace__unwind_rule *now,
                                            const gotrace__unwind_rule *first) {
  gotrace__unwind_rule kept[8];
  unsigned count = 0;
  uint64_t number, size;
  gotrace__unwind_reader expression;
  while (r.at < r.end && at <= pc && !r.failed) {
    unsigned code = (unsigned)gotrace__unwind_get(&r, 1), low = code & 63;
    switch (code >> 6) {
    case 1: at += low * c->code_unit; continue;
    case 2:
      gotrace__unwind_set_register(now, low, GOTRACE__UNWIND_IN_FRAME,
                                   gotrace__unwind_scaled(gotrace__unwind_get_unsigned(&r), c));
      continue;
    case 3: gotrace__unwind_restore_register(now, low, first); continue;
    default: break;
    }
    switch (code) {
    case 0x00: break;
    case 0x01: at = gotrace__unwind_get_pointer(&r, c->pointers); break;
    case 0x02: at += gotrace__unwind_get(&r, 1) * c->code_unit; break;
    case 0x03: at += gotrace__unwind_get(&r, 2) * c->code_unit; break;
    case 0x04: at += gotrace__unwind_get(&r, 4) * c->code_unit; break;
    case 0x05:
      number = gotrace__unwind_get_unsigned(&r),
      gotrace__unwind_set_register(now, number, GOTRACE__UNWIND_IN_FRAME,
                                   gotrace__unwind_scaled(gotrace__unwind_get_unsigned(&r), c));
      break;
    case 0x06: gotrace__unwind_restore_register(now, gotrace__unwind_get_unsigned(&r), first); break;
    case 0x07: /* undefined */
      number = gotrace__unwind_get_unsigned(&r);
      if (number == GOTRACE__UNWIND_RETURN) now->kind = GOTRACE__UNWIND_RULE_OUTERMOST;
      break;
    case 0x08: gotrace__unwind_set_register(now, gotrace__unwind_get_unsigned(&r), GOTRACE__UNWIND_KEPT, 0); break;
    case 0x09: /* in another register */
      number = gotrace__unwind_get_unsigned(&r);
      gotrace__unwind_get_unsigned(&r);
      if (number == GOTRACE__UNWIND_FP || number == GOTRACE__UNWIND_RETURN) return false;
      break;
    case 0x0a:
      if (count == sizeof kept / sizeof *kept) return false;
      kept[count++] = *now;
      break;
    case 0x0b:
      if (!count) return false;
      *now = kept[--count];
      break;
    case 0x0c:
      gotrace__unwind_set_base(now, gotrace__unwind_get_unsigned(&r)),
          now->offset = (int64_t)gotrace__unwind_get_unsigned(&r);
      break;
    case 0x0d: gotrace__unwind_set_base(now, gotrace__unwind_get_unsigned(&r)); break;
    case 0x0e: now->offset = (int64_t)gotrace__unwind_get_unsigned(&r); break;
    case 0x0f: /* the frame's beginning, by an expression */
      size = gotrace__unwind_get_unsigned(&r);
      expression = r;
      gotrace__unwind_skip(&r, size);
      expression.end = r.at;
      gotrace__unwind_define_by_expression(expression, pc + 1, now);
      break;
    case 0x10: /* where a register is, by an expression: FP + offset only */
      number = gotrace__unwind_get_unsigned(&r);
      size = gotrace__unwind_get_unsigned(&r);
      expression = r;
      gotrace__unwind_skip(&r, size);
      expression.end = r.at;
      if (number != GOTRACE__UNWIND_FP && number != GOTRACE__UNWIND_RETURN) break;
      if (gotrace__unwind_get(&expression, 1) != 0x70 + GOTRACE__UNWIND_FP) return c->is_signal;
      gotrace__unwind_set_register(now, number, GOTRACE__UNWIND_BY_POINTER, gotrace__unwind_get_signed(&expression));
      if (expression.at != expression.end) return c->is_signal;
      break;
    case 0x11:
      number = gotrace__unwind_get_unsigned(&r),
      gotrace__unwind_set_register(now, number, GOTRACE__UNWIND_IN_FRAME,
                                   gotrace__unwind_scaled((uint64_t)gotrace__unwind_get_signed(&r), c));
      break;
    case 0x12:
      gotrace__unwind_set_base(now, gotrace__unwind_get_unsigned(&r)),
          now->offset = gotrace__unwind_scaled((uint64_t)gotrace__unwind_get_signed(&r), c);
      break;
    case 0x13: now->offset = gotrace__unwind_scaled((uint64_t)gotrace__unwind_get_signed(&r), c); break;
    case 0x14:
    case 0x15: /* a value, not a place */
      number = gotrace__unwind_get_unsigned(&r);
      gotrace__unwind_get_unsigned(&r);
      if (number == GOTRACE__UNWIND_FP || number == GOTRACE__UNWIND_RETURN) return false;
      break;
    case 0x16:
      number = gotrace__unwind_get_unsigned(&r);
      gotrace__unwind_skip(&r, gotrace__unwind_get_unsigned(&r));
      if (number == GOTRACE__UNWIND_FP || number == GOTRACE__UNWIND_RETURN) return c->is_signal;
      break;
    case 0x2d: break; /* arm64: the return address is signed */
    case 0x2e: gotrace__unwind_get_unsigned(&r); break;
    default: return false;
    }
  }
  return !r.failed;
}

/* A module that is loaded: its segments, and how far from their addresses they are. */
typedef struct gotrace__unwind_module {
  uintptr_t base;
  const ElfW(Phdr) * segments;
  size_t count;
  const ElfW(Phdr) * copied; /* of another process: the segment that is here, */
  const uint8_t *copy;       /* at this place; NULL: the module is loaded here */
} gotrace__unwind_module;

/* Not a segment for variables, which compilers do not describe code in: the program may have changed anything there,
 * also the protection of its pages. */
GOTRACE__UNWIND_FN bool gotrace__unwind_may_describe(const ElfW(Phdr) * segment) {
  return segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R;
}

/* What can be read from an address on: to the end of the module's segment that contains it. */
GOTRACE__UNWIND_FN gotrace__unwind_reader gotrace__unwind_readable(const gotrace__unwind_module *m, uintptr_t at) {
  gotrace__unwind_reader r = {NULL, NULL, true, 0};
  size_t i;
  for (i = 0; i < m->count; i++) {
    const ElfW(Phdr) *p = &m->segments[i];
    uintptr_t offset = at - (m->base + p->p_vaddr), size = m->copy ? p->p_filesz : p->p_memsz;
    const uint8_t *from = m->copy ? m->copy : (const uint8_t *)(at - offset);
    if ((m->copy && p != m->copied) || !gotrace__unwind_may_describe(p) || offset >= size) continue;
    r.at = from + offset;
    r.end = from + size;
    r.failed = false;
    r.moved = at - (uintptr_t)r.at;
    break;
  }
  return r;
}

/* Its .eh_frame_hdr, which lists functions by address. */
GOTRACE__UNWIND_FN gotrace__unwind_reader gotrace__unwind_find_table(const gotrace__unwind_module *m) {
  gotrace__unwind_reader none = {NULL, NULL, true, 0};
  size_t i;
  for (i = 0; i < m->count; i++)
    if (m->segments[i].p_type == PT_GNU_EH_FRAME) return gotrace__unwind_readable(m, m->base + m->segments[i].p_vaddr);
  return none;
}

/* The description of the function that contains an address, or of the one before it, and where that begins. It has
 * failed if there is none. */
GOTRACE__UNWIND_FN gotrace__unwind_reader gotrace__unwind_find_description(const gotrace__unwind_module *m,
                                                                           uintptr_t pc, uintptr_t *start) {
  gotrace__unwind_reader r = gotrace__unwind_find_table(m), none = {NULL, NULL, true, 0};
  uintptr_t table = gotrace__unwind_address_of_next(&r);
  uint64_t version = gotrace__unwind_get(&r, 1), encoding = gotrace__unwind_get(&r, 1),
           count_encoding = gotrace__unwind_get(&r, 1), entry_encoding = gotrace__unwind_get(&r, 1);
  uint64_t low = 0, high;
  int32_t entry[2];
  if (version != 1 || entry_encoding != 0x3b || count_encoding == 0xff) return none; /* 0x3b: pairs of 32-bit offsets */
  gotrace__unwind_get_pointer(&r, (unsigned)encoding);
  high = gotrace__unwind_get_pointer(&r, (unsigned)count_encoding);
  if (r.failed || high > (uint64_t)(r.end - r.at) / sizeof entry) return none;
  while (low < high) {
    uint64_t middle = low + (high - low) / 2;
    memcpy(entry, r.at + middle * sizeof entry, sizeof entry);
    if (table + (uintptr_t)(intptr_t)entry[0] <= pc) low = middle + 1;
    else high = middle;
  }
  if (!low) return none;
  memcpy(entry, r.at + (low - 1) * sizeof entry, sizeof entry);
  *start = table + (uintptr_t)(intptr_t)entry[0];
  return gotrace__unwind_readable(m, table + (uintptr_t)(intptr_t)entry[1]);
}

/* The rule for the code of a module at an address. Where the module has none, a stack ends for good. */
GOTRACE__UNWIND_FN gotrace__unwind_rule gotrace__unwind_find_rule_in(const gotrace__unwind_module *m, uintptr_t pc) {
  static const gotrace__unwind_rule none = {GOTRACE__UNWIND_RULE_NONE, false, 0, GOTRACE__UNWIND_KEPT,
                                            GOTRACE__UNWIND_KEPT,      0,     0},
                                    last = {GOTRACE__UNWIND_RULE_OUTERMOST, false, 0, GOTRACE__UNWIND_KEPT,
                                            GOTRACE__UNWIND_KEPT,           0,     0};
  gotrace__unwind_rule now = none, first;
  uintptr_t at, begin;
  gotrace__unwind_reader r = gotrace__unwind_find_description(m, pc, &begin);
  gotrace__unwind_common c;
  uint64_t back, start, length;
  gotrace__unwind_take_size(&r);
  at = gotrace__unwind_address_of_next(&r);
  back = gotrace__unwind_get(&r, 4);
  if (!back || !gotrace__unwind_read_common(gotrace__unwind_readable(m, at - back), &c)) return last;
  start = gotrace__unwind_get_pointer(&r, c.pointers);
  length = gotrace__unwind_get_pointer(&r, c.pointers & 15);
  if (r.failed || pc - start >= length) return last;
  if (c.has_size) gotrace__unwind_skip(&r, gotrace__unwind_get_unsigned(&r));
  if (!gotrace__unwind_run(c.instructions, &c, 0, 0, &now, &none)) return last;
  first = now;
  if (!gotrace__unwind_run(r, &c, start, pc, &now, &first)) return last;
  if (c.is_signal) now.kind = GOTRACE__UNWIND_RULE_SIGNAL;
  return now.kind == GOTRACE__UNWIND_RULE_NONE ? last : now;
}

/* ------------------------------------------------------------------------------------------------------- steps ---- */

/* Where the program counter, the stack pointer, the frame pointer and the link register of interrupted code are, from
 * the stack pointer in the code that a signal handler returns to: in ucontext_t. x86 has no link register. */
#if defined(__x86_64__)
static const uintptr_t gotrace__unwind_saved[] = {168, 160, 120, 120};
#else
static const uintptr_t gotrace__unwind_saved[] = {128 + 440, 128 + 432, 128 + 416, 128 + 424}; /* after siginfo_t */
#endif

/* Goes to the code that a signal has interrupted, perhaps on another stack. */
GOTRACE__UNWIND_FN bool gotrace__unwind_step_to_interrupted(gotrace__unwind_frame *frame,
                                                            gotrace__unwind_stack *stack) {
  uintptr_t value[4] = {0, 0, 0, 0};
  unsigned i;
  for (i = 0; i < 4; i++)
    if (!gotrace__unwind_load(stack, frame->sp + gotrace__unwind_saved[i], &value[i])) return false;
  if (!value[0]) return false;
  frame->pc = value[0] + 1;
  frame->sp = value[1];
  frame->fp = value[2];
  frame->lr = GOTRACE__UNWIND_HAS_LINK_REGISTER ? value[3] : 0;
  return true;
}

/* Goes to the caller of a frame by its rule. False: the stack ends here. */
GOTRACE__UNWIND_FN inline bool gotrace__unwind_step_by(uint64_t found, gotrace__unwind_frame *frame,
                                                       gotrace__unwind_stack *stack) {
  unsigned kind = found & 7, fp_is = found >> 4 & 3, return_is = found >> 6 & 3;
  uintptr_t begin, next, fp = frame->fp;
  intptr_t fp_at = (int16_t)(found >> 32) * 8, return_at = (int16_t)(found >> 48) * 8;
  if (__builtin_expect(kind == GOTRACE__UNWIND_RULE_SIGNAL, 0))
    return gotrace__unwind_step_to_interrupted(frame, stack);
  if (kind < GOTRACE__UNWIND_RULE_SIGNAL) return false;
  begin = (found & 8 ? frame->fp : frame->sp) + (uintptr_t)(intptr_t)((int32_t)((uint32_t)(found >> 8) << 8) >> 8);
  if (__builtin_expect(kind == GOTRACE__UNWIND_RULE_INDIRECT, 0) && !gotrace__unwind_load(stack, begin, &begin))
    return false;
  if (begin < frame->sp + (GOTRACE__UNWIND_HAS_LINK_REGISTER ? 0 : sizeof begin)) return false;
  if (fp_is != GOTRACE__UNWIND_KEPT &&
      !gotrace__unwind_load(stack, (fp_is == GOTRACE__UNWIND_IN_FRAME ? begin : frame->fp) + (uintptr_t)fp_at, &fp))
    return false;
  if (__builtin_expect(return_is == GOTRACE__UNWIND_IN_FRAME, 1)) {
    if (!gotrace__unwind_load(stack, begin + (uintptr_t)return_at, &next)) return false;
  } else {
    next = frame->lr; /* a function that calls none, interrupted by a signal */
    if (return_is != GOTRACE__UNWIND_KEPT) return false;
  }
  if (GOTRACE__UNWIND_HAS_LINK_REGISTER) next &= ((uintptr_t)1 << 48) - 1; /* may be signed */
  if (!next || (begin == frame->sp && next == frame->pc)) return false;
  frame->pc = next;
  frame->sp = begin;
  frame->fp = fp;
  frame->lr = 0;
  return true;
}

#ifndef GOTRACE__UNWIND_COPIES

/* ------------------------------------------------------------------------------------------------ this process ---- */

#define GOTRACE__UNWIND_NOINLINE GOTRACE__UNWIND_FN __attribute__((__noinline__))
#define GOTRACE__UNWIND_PAGE ((uintptr_t)4096) /* the smallest one of both architectures */

#if defined(__GLIBC__) /* as in gotrace.h: the first use of a thread-local in a library would otherwise allocate */
#define GOTRACE__UNWIND_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))
#else
#define GOTRACE__UNWIND_LOCAL static __thread
#endif

/* Whether a word can be read. The system reads a signal set there before it rejects the rest of the call. */
GOTRACE__UNWIND_NOINLINE bool gotrace__unwind_can_read(uintptr_t at) {
  enum { FAULT = 14 };
#if defined(__x86_64__)
  register long size __asm__("r10") = 8;
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(14L /* rt_sigprocmask */), "D"(-1L), "S"(at), "d"(0L), "r"(size)
                   : "rcx", "r11", "memory");
#else
  register long number __asm__("x8") = 135;
  register long result __asm__("x0") = -1;
  register uintptr_t set __asm__("x1") = at;
  register long old __asm__("x2") = 0, size __asm__("x3") = 8;
  __asm__ volatile("svc #0" : "+r"(result) : "r"(number), "r"(set), "r"(old), "r"(size) : "memory");
#endif
  return result != -FAULT;
}

#ifndef GOTRACE__UNWIND_CAN_READ
#define GOTRACE__UNWIND_CAN_READ gotrace__unwind_can_read
#endif

GOTRACE__UNWIND_NOINLINE bool gotrace__unwind_extend(gotrace__unwind_stack *stack, uintptr_t at) {
  uintptr_t page = at & ~(GOTRACE__UNWIND_PAGE - 1);
  if (at % sizeof at || !page || !GOTRACE__UNWIND_CAN_READ(page)) return false;
  if (page != stack->high) stack->low = page;
  stack->high = page + GOTRACE__UNWIND_PAGE;
  return true;
}

/* What the library of `gotrace record` has functions of its own for. */
#ifndef GOTRACE__UNWIND_HOOKS
#define GOTRACE__UNWIND_HOOKS
#define GOTRACE__UNWIND_PUBLIC

#include <pthread.h>
#include <sys/auxv.h>

struct dl_phdr_info;
#ifdef __cplusplus
extern "C"
#else
extern
#endif
    int
    gotrace__unwind_list_modules(int (*look)(struct dl_phdr_info *, size_t, void *), void *) __asm__("dl_iterate_phdr");

#define GOTRACE__UNWIND_LIST_MODULES gotrace__unwind_list_modules
#define GOTRACE__UNWIND_BEGIN_LOOK() true /* may list modules now */
#define GOTRACE__UNWIND_END_LOOK() ((void)0)
#define GOTRACE__UNWIND_MEETS_CODE() ((void)0) /* for the first time */

/* A word in the upper end of the first thread's stack, all of which the system maps between there and any stack pointer
 * of that thread. */
static uintptr_t gotrace__unwind_main_top;
#define GOTRACE__UNWIND_MAIN_STACK ((uintptr_t)8 << 20)

/* The part of the calling thread's stack that is known: from its C library's record of the thread, which lies at the
 * stack's upper end, downwards as far as all pages could be read. The C library can tell the stack's bounds, but it
 * allocates memory for that, or reads a file. A coroutine's stack is not near that end, or is behind a page that cannot
 * be read; after some attempts it is not tried any more. */
GOTRACE__UNWIND_LOCAL uintptr_t gotrace__unwind_low, gotrace__unwind_high;
GOTRACE__UNWIND_LOCAL unsigned gotrace__unwind_attempts;
enum { GOTRACE__UNWIND_MOST_ATTEMPTS = 8, GOTRACE__UNWIND_MOST_PAGES = 64 };

GOTRACE__UNWIND_NOINLINE bool gotrace__unwind_learn_stack(uintptr_t sp) {
  uintptr_t end = (uintptr_t)pthread_self() & ~(sizeof sp - 1), low = gotrace__unwind_high ? gotrace__unwind_low : end;
  uintptr_t page = sp & ~(GOTRACE__UNWIND_PAGE - 1);
  if (sp >= low || low - sp > GOTRACE__UNWIND_MOST_PAGES * GOTRACE__UNWIND_PAGE) return false;
  if (gotrace__unwind_attempts == GOTRACE__UNWIND_MOST_ATTEMPTS) return false;
  for (; page < low; page += GOTRACE__UNWIND_PAGE)
    if (!gotrace__unwind_can_read(page)) {
      gotrace__unwind_attempts++;
      return false;
    }
  gotrace__unwind_low = sp & ~(GOTRACE__UNWIND_PAGE - 1);
  gotrace__unwind_high = end; /* after `low`, for a signal handler */
  return true;
}

/* What can be read from a stack pointer on. */
GOTRACE__UNWIND_FN inline gotrace__unwind_stack gotrace__unwind_stack_at(uintptr_t sp) {
  gotrace__unwind_stack stack = {sp, 0};
  if (gotrace__unwind_main_top - sp < GOTRACE__UNWIND_MAIN_STACK) stack.high = gotrace__unwind_main_top;
  else if ((sp >= gotrace__unwind_low && sp < gotrace__unwind_high) || gotrace__unwind_learn_stack(sp))
    stack.high = gotrace__unwind_high;
  else stack.high = (sp | (GOTRACE__UNWIND_PAGE - 1)) + 1;
  return stack;
}
#define GOTRACE__UNWIND_ENTER_STACK(stack, sp) (*(stack) = gotrace__unwind_stack_at(sp))
#endif

/* ----------------------------------------------------------------------------------------------------- modules ---- */

/* As the C library declares it, with room for more members. */
struct gotrace__unwind_found_object {
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map *link_map;
  void *eh_frame;
  uintptr_t reserved[16];
};
static int (*gotrace__unwind_find_object)(void *, struct gotrace__unwind_found_object *);

GOTRACE__UNWIND_FN bool gotrace__unwind_contains(const gotrace__unwind_module *m, uintptr_t pc) {
  size_t i;
  for (i = 0; i < m->count; i++)
    if (m->segments[i].p_type == PT_LOAD && pc - (m->base + m->segments[i].p_vaddr) < m->segments[i].p_memsz)
      return true;
  return false;
}

/* The C library tells where a library lies, but not its segments. The file's header lists them. It is in the first
 * page, unless the file is odd; then the library counts as one without segments. */
GOTRACE__UNWIND_FN void gotrace__unwind_read_segments(const struct gotrace__unwind_found_object *found,
                                                      gotrace__unwind_module *m) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)found->map_start;
  gotrace__unwind_stack page = {0, 0};
  m->base = found->link_map->l_addr;
  m->segments = NULL;
  m->count = 0;
  m->copied = NULL;
  m->copy = NULL;
  if ((uintptr_t)found->map_end - (uintptr_t)header < GOTRACE__UNWIND_PAGE ||
      !gotrace__unwind_extend(&page, (uintptr_t)header))
    return;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof *m->segments) return;
  if (header->e_phoff > GOTRACE__UNWIND_PAGE || header->e_phoff % sizeof m->base) return;
  if (header->e_phnum > (GOTRACE__UNWIND_PAGE - header->e_phoff) / sizeof *m->segments) return;
  m->segments = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  m->count = header->e_phnum;
}

/* The program itself stays, and may have gaps between its segments; then the C library tells only one of them. */
static gotrace__unwind_module gotrace__unwind_whole_program;

/* The beginning of the C library's struct dl_phdr_info, which it declares for _GNU_SOURCE only. */
struct gotrace__unwind_listed {
  uintptr_t base;
  const char *name;
  const ElfW(Phdr) * segments;
  uint16_t count;
};

GOTRACE__UNWIND_FN gotrace__unwind_module gotrace__unwind_listed_module(struct dl_phdr_info *info) {
  const struct gotrace__unwind_listed *listed = (const struct gotrace__unwind_listed *)(void *)info;
  gotrace__unwind_module m = {listed->base, listed->segments, listed->count, NULL, NULL};
  return m;
}

GOTRACE__UNWIND_FN int gotrace__unwind_take_first_module(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  gotrace__unwind_whole_program = gotrace__unwind_listed_module(info);
  return 1;
}

struct gotrace__unwind_search {
  uintptr_t pc;
  gotrace__unwind_module found;
};

GOTRACE__UNWIND_FN int gotrace__unwind_look_at_module(struct dl_phdr_info *info, size_t size, void *argument) {
  struct gotrace__unwind_search *s = (struct gotrace__unwind_search *)argument;
  const gotrace__unwind_module m = gotrace__unwind_listed_module(info);
  (void)size;
  if (!gotrace__unwind_contains(&m, s->pc)) return 0;
  s->found = m;
  return 1;
}

/* Without _dl_find_object the C library looks under its lock of the modules. */
GOTRACE__UNWIND_FN bool gotrace__unwind_look_for_module(uintptr_t pc, gotrace__unwind_module *m) {
  struct gotrace__unwind_search s = {pc, {0, NULL, 0, NULL, NULL}};
  bool found;
  if (!GOTRACE__UNWIND_BEGIN_LOOK()) return false;
  found = GOTRACE__UNWIND_LIST_MODULES(gotrace__unwind_look_at_module, &s) != 0;
  GOTRACE__UNWIND_END_LOOK();
  *m = s.found;
  return found;
}

/* The module that contains an address; false: none does, or it cannot be looked for now. */
GOTRACE__UNWIND_FN bool gotrace__unwind_find_module(uintptr_t pc, gotrace__unwind_module *m) {
  struct gotrace__unwind_found_object found;
  if (gotrace__unwind_contains(&gotrace__unwind_whole_program, pc)) {
    *m = gotrace__unwind_whole_program;
    return true;
  }
  if (!gotrace__unwind_find_object) return gotrace__unwind_look_for_module(pc, m);
  if (gotrace__unwind_find_object((void *)pc, &found) != 0) return false;
  gotrace__unwind_read_segments(&found, m);
  return true;
}

/* Whether a signal handler returns to this address. Linux does not describe that code on arm64, so it is known by its
 * instructions: mov x8, #139; svc #0. */
GOTRACE__UNWIND_FN bool gotrace__unwind_is_end_of_handler(uintptr_t at) {
#if defined(__aarch64__)
  static const uint32_t code[] = {0xd2801168, 0xd4000001};
  gotrace__unwind_stack page = {0, 0};
  return at % 4 == 0 && at % GOTRACE__UNWIND_PAGE <= GOTRACE__UNWIND_PAGE - sizeof code &&
         gotrace__unwind_extend(&page, at & ~(uintptr_t)7) && memcmp((const void *)at, code, sizeof code) == 0;
#else
  (void)at;
  return false;
#endif
}

/* The rule for the code at an address. In code of no module, as in generated code, a module may be loaded later. */
GOTRACE__UNWIND_FN __attribute__((__noinline__)) gotrace__unwind_rule gotrace__unwind_find_rule(uintptr_t pc) {
  gotrace__unwind_rule now = {GOTRACE__UNWIND_RULE_NONE, false, 0, GOTRACE__UNWIND_KEPT, GOTRACE__UNWIND_KEPT, 0, 0};
  gotrace__unwind_module m;
  bool is_loaded = gotrace__unwind_find_module(pc, &m);
  GOTRACE__UNWIND_MEETS_CODE();
  if (gotrace__unwind_is_end_of_handler(pc + 1)) now.kind = GOTRACE__UNWIND_RULE_SIGNAL;
  else if (is_loaded) now = gotrace__unwind_find_rule_in(&m, pc);
  return now;
}

/* ------------------------------------------------------------------------------------------------ known rules ---- */

/* The first word is the key exclusive-or the rule, so that words of different threads do not fit together. */
static struct gotrace__unwind_known { uint64_t check, rule; /* atomic */ } gotrace__unwind_known[1 << 14];

/* Atomic. The upper 16 bits change whenever a library may have been unmapped; the rest is the number of threads that
 * unload one. Meanwhile rules are neither used nor kept: they might be those of the library, or of another one that
 * another thread has loaded in its place. */
static uint64_t gotrace__unwind_epoch;
GOTRACE__UNWIND_LOCAL unsigned gotrace__unwind_unloads_here; /* by this thread */
#define GOTRACE__UNWIND_EPOCH ((uint64_t)1 << 48)

GOTRACE__UNWIND_FN inline uint64_t gotrace__unwind_rule_at(uintptr_t pc) {
  uint64_t now = __atomic_load_n(&gotrace__unwind_epoch, __ATOMIC_RELAXED), key = (uint64_t)pc ^ now;
  struct gotrace__unwind_known *k = &gotrace__unwind_known[(pc * 0x9e3779b97f4a7c15u) >> 50];
  uint64_t check = __atomic_load_n(&k->check, __ATOMIC_RELAXED), packed = __atomic_load_n(&k->rule, __ATOMIC_RELAXED);
  gotrace__unwind_rule found;
  if (__builtin_expect((check ^ packed) == key, 1)) return packed;
  found = gotrace__unwind_find_rule(pc - 1);
  packed = gotrace__unwind_pack(&found);
  if ((packed & 7) == GOTRACE__UNWIND_RULE_NONE || now % GOTRACE__UNWIND_EPOCH) return packed;
  __atomic_store_n(&k->rule, packed, __ATOMIC_RELAXED);
  __atomic_store_n(&k->check, key ^ packed, __ATOMIC_RELAXED);
  return packed;
}

/* Before the first walk; not in a signal handler. */
GOTRACE__UNWIND_FN void gotrace__unwind_init(void) {
  void *found = dlsym(NULL /* RTLD_DEFAULT */, "_dl_find_object");
  memcpy(&gotrace__unwind_find_object, &found, sizeof gotrace__unwind_find_object);
  GOTRACE__UNWIND_LIST_MODULES(gotrace__unwind_take_first_module, NULL);
}

GOTRACE__UNWIND_FN void gotrace__unwind_unload_begins(void) {
  gotrace__unwind_unloads_here++;
  __atomic_fetch_add(&gotrace__unwind_epoch, GOTRACE__UNWIND_EPOCH + 1, __ATOMIC_SEQ_CST);
}

GOTRACE__UNWIND_FN void gotrace__unwind_unload_ends(void) {
  gotrace__unwind_unloads_here--;
  if (__atomic_add_fetch(&gotrace__unwind_epoch, GOTRACE__UNWIND_EPOCH - 1, __ATOMIC_SEQ_CST) / GOTRACE__UNWIND_EPOCH ==
      0)
    memset(gotrace__unwind_known, 0, sizeof gotrace__unwind_known);
}

/* In the child, which has only the calling thread. */
GOTRACE__UNWIND_FN void gotrace__unwind_after_fork(void) {
  gotrace__unwind_epoch =
      gotrace__unwind_epoch / GOTRACE__UNWIND_EPOCH * GOTRACE__UNWIND_EPOCH + gotrace__unwind_unloads_here;
}

/* ------------------------------------------------------------------------------------------------------- walks ---- */

__attribute__((__no_sanitize_address__)) GOTRACE__UNWIND_FN inline bool
gotrace__unwind_load(gotrace__unwind_stack *stack, uintptr_t at, uintptr_t *value) {
  if (__builtin_expect(at < stack->low || at >= stack->high || at % sizeof at, 0) && !gotrace__unwind_extend(stack, at))
    return false;
  *value = *(const uintptr_t *)at;
  return true;
}

/* Goes to the caller of a frame. False: the stack ends here. */
GOTRACE__UNWIND_FN bool gotrace__unwind_step(gotrace__unwind_frame *frame, gotrace__unwind_stack *stack) {
  uint64_t found = gotrace__unwind_rule_at(frame->pc);
  if (!gotrace__unwind_step_by(found, frame, stack)) return false;
  if (__builtin_expect((found & 7) == GOTRACE__UNWIND_RULE_SIGNAL, 0)) GOTRACE__UNWIND_ENTER_STACK(stack, frame->sp);
  return true;
}

#ifdef GOTRACE__UNWIND_PUBLIC

GOTRACE__UNWIND_FN __attribute__((__constructor__)) void gotrace__unwind_begin(void) {
  gotrace__unwind_main_top = (uintptr_t)getauxval(25 /* AT_RANDOM: 16 bytes */) & ~(sizeof(uintptr_t) - 1);
  gotrace__unwind_init();
  (void)pthread_atfork(NULL, NULL, gotrace__unwind_after_fork);
}

__attribute__((__noinline__, __no_instrument_function__, __no_sanitize_address__)) GOTRACE_API int
gotrace_unwind(void *context, uintptr_t *pcs, int max) {
  gotrace__unwind_frame frame;
  gotrace__unwind_stack stack;
  int count = 0;
  (void)context;
  frame.pc = (uintptr_t)__builtin_return_address(0);
  frame.sp = (uintptr_t)__builtin_dwarf_cfa();
  frame.fp = *(const uintptr_t *)__builtin_frame_address(0);
  frame.lr = 0;
  if (!pcs) return 0;
  stack = gotrace__unwind_stack_at(frame.sp);
  while (count < max) {
    pcs[count++] = frame.pc;
    if (!gotrace__unwind_step(&frame, &stack)) break;
  }
  return count;
}

GOTRACE_API void gotrace_unwind_begin_unload(void) { gotrace__unwind_unload_begins(); }
GOTRACE_API void gotrace_unwind_end_unload(void) { gotrace__unwind_unload_ends(); }

#endif /* GOTRACE__UNWIND_PUBLIC */
#endif /* GOTRACE__UNWIND_COPIES */

#elif defined(GOTRACE_UNWIND_IMPLEMENTATION)

GOTRACE_API int gotrace_unwind(void *context, uintptr_t *pcs, int max) {
  return (void)context, (void)pcs, (void)max, 0;
}
GOTRACE_API void gotrace_unwind_begin_unload(void) {}
GOTRACE_API void gotrace_unwind_end_unload(void) {}

#endif
#endif /* GOTRACE__UNWIND_IMPLEMENTED */
