/* frames.h - from a frame to its caller, by .eh_frame
 *
 * Compilers describe, for each address of a function, where its caller's registers are: as a program that has to be run
 * from the function's start (DWARF, "call frame information"). Here the result for an address is one word, a rule.
 *
 * Only the registers are followed by which compilers find callers: stack pointer, frame pointer and return address.
 *
 * Two include this: unwind.c walks the stacks of its own process, walk.c copies of another's. Each defines `load`,
 * which reads a word of the stack, and keeps rules its own way. The modules of another process are read from their
 * files, so an address in the program and the place where its contents can be read differ: the first are integers, the
 * second pointers. */

#ifndef FRAMES_H
#define FRAMES_H

#include "preload/unwind.h"

#include <link.h>
#include <string.h>
#include <ucontext.h>

#if HAS_UNWINDER

/* Reads a word of the stack; false: that is not possible. */
static inline bool load(unwind_stack *stack, uintptr_t at, uintptr_t *value);

/* Numbers of registers in DWARF. SIGNAL_CONTEXT: where ucontext_t is, from the stack pointer in the code that a signal
 * handler returns to. */
#if defined(__x86_64__)
#define SP 7
#define FP 6
#define RETURN 16
#define HAS_LINK_REGISTER 0
#define SIGNAL_CONTEXT 0
#else
#define SP 31
#define FP 29
#define RETURN 30
#define HAS_LINK_REGISTER 1
#define SIGNAL_CONTEXT 128 /* after siginfo_t */
#endif

/* ------------------------------------------------------------------------------------------------------- rules ---- */

/* How to find the caller of an address. */
typedef enum rule_kind {
  RULE_NONE,      /* not known, and not kept: the stack ends */
  RULE_OUTERMOST, /* the stack ends */
  RULE_SIGNAL,    /* a signal handler returns here */
  RULE_CALL,      /* the frame begins at a register + offset */
  RULE_INDIRECT   /* the frame's beginning is stored at a register + offset */
} rule_kind;

enum {
  KEPT,
  IN_FRAME,
  BY_POINTER
}; /* the caller's value: unchanged; stored below the frame's beginning, or at FP + offset */

typedef struct rule {
  rule_kind kind;
  bool by_fp; /* the register is the frame pointer, not the stack pointer */
  int64_t offset;
  unsigned fp_is, return_is;
  int64_t fp_at, return_at;
} rule;

static bool is_short(int64_t at) { return at % 8 == 0 && at / 8 >= INT16_MIN && at / 8 <= INT16_MAX; }

/* A rule as a word: kind 3 bits, by_fp 1, fp_is 2, return_is 2, offset 24, fp_at / 8 and return_at / 8 16 each. */
static uint64_t pack(const rule *r) {
  bool fits = r->offset >= -(1 << 23) && r->offset < 1 << 23 && is_short(r->fp_at) && is_short(r->return_at);
  if (!fits) return RULE_OUTERMOST;
  return (uint64_t)r->kind | (uint64_t)r->by_fp << 3 | (uint64_t)r->fp_is << 4 | (uint64_t)r->return_is << 6 |
         ((uint64_t)r->offset & 0xffffff) << 8 | (uint64_t)(uint16_t)(r->fp_at / 8) << 32 |
         (uint64_t)(uint16_t)(r->return_at / 8) << 48;
}

/* ------------------------------------------------------------------------------------- call frame information ---- */

/* What is at `at` is read only before `end`; `failed` is set where there is not enough, or something unknown. */
typedef struct reader {
  const uint8_t *at, *end;
  bool failed;
  uintptr_t moved; /* the address in the program, minus that of `at` */
} reader;

static uintptr_t address_of_next(const reader *r) { return (uintptr_t)r->at + r->moved; }

static uint64_t get(reader *r, unsigned size) {
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
static uint64_t get_number(reader *r, unsigned *bits) {
  uint64_t value = 0, byte;
  *bits = 0;
  do {
    byte = get(r, 1);
    if (*bits < 64) value |= (byte & 127) << *bits;
    *bits += 7;
  } while (byte & 128);
  return value;
}

static uint64_t get_unsigned(reader *r) {
  unsigned bits;
  return get_number(r, &bits);
}

static int64_t get_signed(reader *r) {
  unsigned bits;
  uint64_t value = get_number(r, &bits);
  if (bits < 64 && value >> (bits - 1)) value |= ~(uint64_t)0 << bits;
  return (int64_t)value;
}

static void skip(reader *r, uint64_t size) {
  if (r->failed || size > (uint64_t)(r->end - r->at)) r->failed = true, r->at = r->end;
  else r->at += size;
}

/* A pointer in an encoding of .eh_frame (DW_EH_PE_...). */
static uint64_t get_pointer(reader *r, unsigned encoding) {
  uintptr_t from = address_of_next(r);
  uint64_t value;
  switch (encoding & 15) {
  case 0:
  case 4:
  case 12: value = get(r, 8); break;
  case 1: value = get_unsigned(r); break;
  case 2: value = get(r, 2); break;
  case 3: value = get(r, 4); break;
  case 9: value = (uint64_t)get_signed(r); break;
  case 10: value = (uint64_t)(int16_t)get(r, 2); break;
  case 11: value = (uint64_t)(int32_t)get(r, 4); break;
  default: r->failed = true; return 0;
  }
  if ((encoding & 0x70) == 0x10) value += from;
  return value;
}

typedef struct common { /* what functions have in common: a CIE */
  uint64_t code_unit;
  int64_t data_unit;
  unsigned pointers;
  bool has_size, is_signal;
  reader instructions;
} common;

/* Ends where the description ends that begins here. */
static void take_size(reader *r) {
  uint64_t size = get(r, 4);
  if (r->failed || size > (uint64_t)(r->end - r->at)) r->failed = true;
  else r->end = r->at + size;
}

static bool read_common(reader r, common *c) {
  const char *letters;
  uint64_t version;
  take_size(&r);
  if (get(&r, 4) != 0) return false;
  version = get(&r, 1);
  letters = (const char *)r.at;
  while (get(&r, 1)) continue;
  if (r.failed || (version != 1 && version != 3)) return false;
  c->code_unit = get_unsigned(&r);
  c->data_unit = get_signed(&r);
  if ((version == 1 ? get(&r, 1) : get_unsigned(&r)) != RETURN) return false;
  c->pointers = 0;
  c->is_signal = false;
  c->has_size = *letters == 'z';
  if (*letters && !c->has_size) return false;
  if (c->has_size) {
    uint64_t rest = get_unsigned(&r);
    const uint8_t *begin = r.at;
    while (*++letters) {
      if (*letters == 'R') c->pointers = (unsigned)get(&r, 1);
      else if (*letters == 'S') c->is_signal = true;
      else if (*letters == 'L') get(&r, 1);
      else if (*letters == 'P') get_pointer(&r, (unsigned)get(&r, 1));
      else if (*letters != 'B' && *letters != 'G') return false;
    }
    r.at = begin;
    skip(&r, rest);
  }
  c->instructions = r;
  return !r.failed;
}

/* The beginning of a frame by an expression. Compilers and linkers use two: in the PLT, a slot is 16 bytes and pushes a
 * word at byte 11 or so; where a function aligns its stack, the address is stored beside the frame pointer. */
static void define_by_expression(reader e, uintptr_t pc, rule *now) {
  static const uint8_t plt[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22}; /* [6]: DW_OP_lit, 0x30 + n */
  uint64_t operation;
  if (e.end - e.at == sizeof plt && memcmp(e.at, plt, 6) == 0 && memcmp(e.at + 7, plt + 7, 4) == 0) {
    now->kind = RULE_CALL;
    now->by_fp = false;
    now->offset = 8 + ((pc & 15) >= e.at[6] - 0x30u ? 8 : 0);
    return;
  }
  operation = get(&e, 1);
  now->kind = RULE_INDIRECT;
  now->by_fp = operation == 0x70 + FP;
  now->offset = get_signed(&e);
  if ((operation != 0x70 + FP && operation != 0x70 + SP) || get(&e, 1) != 0x06 /* deref */ || e.at != e.end || e.failed)
    now->kind = RULE_NONE;
}

static void set_register(rule *now, uint64_t number, unsigned is, int64_t at) {
  if (number == FP) now->fp_is = is, now->fp_at = at;
  if (number == RETURN) now->return_is = is, now->return_at = at;
}

static void restore_register(rule *now, uint64_t number, const rule *first) {
  if (number == FP) now->fp_is = first->fp_is, now->fp_at = first->fp_at;
  if (number == RETURN) now->return_is = first->return_is, now->return_at = first->return_at;
}

static void set_base(rule *now, uint64_t number) {
  now->by_fp = number == FP;
  now->kind = number == FP || number == SP ? RULE_CALL : RULE_NONE;
}

/* An offset in units of the description. */
static int64_t scaled(uint64_t number, const common *c) { return (int64_t)(number * (uint64_t)c->data_unit); }

/* Runs instructions up to those for addresses after `pc`. `first`: the rule at the function's start. False: there is
 * something unknown. */
static bool run(reader r, const common *c, uintptr_t at, uintptr_t pc, rule *now, const rule *first) {
  rule kept[8];
  unsigned count = 0;
  uint64_t number, size;
  reader expression;
  while (r.at < r.end && at <= pc && !r.failed) {
    unsigned code = (unsigned)get(&r, 1), low = code & 63;
    switch (code >> 6) {
    case 1: at += low * c->code_unit; continue;
    case 2: set_register(now, low, IN_FRAME, scaled(get_unsigned(&r), c)); continue;
    case 3: restore_register(now, low, first); continue;
    default: break;
    }
    switch (code) {
    case 0x00: break;
    case 0x01: at = get_pointer(&r, c->pointers); break;
    case 0x02: at += get(&r, 1) * c->code_unit; break;
    case 0x03: at += get(&r, 2) * c->code_unit; break;
    case 0x04: at += get(&r, 4) * c->code_unit; break;
    case 0x05: number = get_unsigned(&r), set_register(now, number, IN_FRAME, scaled(get_unsigned(&r), c)); break;
    case 0x06: restore_register(now, get_unsigned(&r), first); break;
    case 0x07: /* undefined */
      number = get_unsigned(&r);
      if (number == RETURN) now->kind = RULE_OUTERMOST;
      break;
    case 0x08: set_register(now, get_unsigned(&r), KEPT, 0); break;
    case 0x09: /* in another register */
      number = get_unsigned(&r);
      get_unsigned(&r);
      if (number == FP || number == RETURN) return false;
      break;
    case 0x0a:
      if (count == sizeof kept / sizeof *kept) return false;
      kept[count++] = *now;
      break;
    case 0x0b:
      if (!count) return false;
      *now = kept[--count];
      break;
    case 0x0c: set_base(now, get_unsigned(&r)), now->offset = (int64_t)get_unsigned(&r); break;
    case 0x0d: set_base(now, get_unsigned(&r)); break;
    case 0x0e: now->offset = (int64_t)get_unsigned(&r); break;
    case 0x0f: /* the frame's beginning, by an expression */
      size = get_unsigned(&r);
      expression = r;
      skip(&r, size);
      expression.end = r.at;
      define_by_expression(expression, pc + 1, now);
      break;
    case 0x10: /* where a register is, by an expression: FP + offset only */
      number = get_unsigned(&r);
      size = get_unsigned(&r);
      expression = r;
      skip(&r, size);
      expression.end = r.at;
      if (number != FP && number != RETURN) break;
      if (get(&expression, 1) != 0x70 + FP) return c->is_signal;
      set_register(now, number, BY_POINTER, get_signed(&expression));
      if (expression.at != expression.end) return c->is_signal;
      break;
    case 0x11:
      number = get_unsigned(&r), set_register(now, number, IN_FRAME, scaled((uint64_t)get_signed(&r), c));
      break;
    case 0x12: set_base(now, get_unsigned(&r)), now->offset = scaled((uint64_t)get_signed(&r), c); break;
    case 0x13: now->offset = scaled((uint64_t)get_signed(&r), c); break;
    case 0x14:
    case 0x15: /* a value, not a place */
      number = get_unsigned(&r);
      get_unsigned(&r);
      if (number == FP || number == RETURN) return false;
      break;
    case 0x16:
      number = get_unsigned(&r);
      skip(&r, get_unsigned(&r));
      if (number == FP || number == RETURN) return c->is_signal;
      break;
    case 0x2d: break; /* arm64: the return address is signed */
    case 0x2e: get_unsigned(&r); break;
    default: return false;
    }
  }
  return !r.failed;
}

/* A module that is loaded: its segments, and how far from their addresses they are. */
typedef struct module {
  uintptr_t base;
  const ElfW(Phdr) * segments;
  size_t count;
  const ElfW(Phdr) * copied; /* of another process: the segment that is here, */
  const uint8_t *copy;       /* at this place; NULL: the module is loaded here */
} module;

/* Not a segment for variables, which compilers do not describe code in: the program may have changed anything there,
 * also the protection of its pages. */
static bool may_describe(const ElfW(Phdr) * segment) {
  return segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R;
}

/* What can be read from an address on: to the end of the module's segment that contains it. */
static reader readable(const module *m, uintptr_t at) {
  reader none = {NULL, NULL, true, 0};
  size_t i;
  for (i = 0; i < m->count; i++) {
    const ElfW(Phdr) *p = &m->segments[i];
    uintptr_t offset = at - (m->base + p->p_vaddr), size = m->copy ? p->p_filesz : p->p_memsz;
    const uint8_t *from = m->copy ? m->copy : (const uint8_t *)(at - offset);
    if ((m->copy && p != m->copied) || !may_describe(p) || offset >= size) continue;
    return (reader){from + offset, from + size, false, at - (uintptr_t)(from + offset)};
  }
  return none;
}

/* Its .eh_frame_hdr, which lists functions by address. */
static reader find_table(const module *m) {
  reader none = {NULL, NULL, true, 0};
  size_t i;
  for (i = 0; i < m->count; i++)
    if (m->segments[i].p_type == PT_GNU_EH_FRAME) return readable(m, m->base + m->segments[i].p_vaddr);
  return none;
}

/* The description of the function that contains an address, or of the one before it, and where that begins. It has
 * failed if there is none. */
static reader find_description(const module *m, uintptr_t pc, uintptr_t *start) {
  reader r = find_table(m), none = {NULL, NULL, true, 0};
  uintptr_t table = address_of_next(&r);
  uint64_t version = get(&r, 1), encoding = get(&r, 1), count_encoding = get(&r, 1), entry_encoding = get(&r, 1);
  uint64_t low = 0, high;
  int32_t entry[2];
  if (version != 1 || entry_encoding != 0x3b || count_encoding == 0xff) return none; /* 0x3b: pairs of 32-bit offsets */
  get_pointer(&r, (unsigned)encoding);
  high = get_pointer(&r, (unsigned)count_encoding);
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
  return readable(m, table + (uintptr_t)(intptr_t)entry[1]);
}

/* The rule for the code of a module at an address. Where the module has none, a stack ends for good. */
static rule find_rule_in(const module *m, uintptr_t pc) {
  static const rule none = {RULE_NONE, false, 0, KEPT, KEPT, 0, 0}, last = {RULE_OUTERMOST, false, 0, KEPT, KEPT, 0, 0};
  rule now = none, first;
  uintptr_t at, begin;
  reader r = find_description(m, pc, &begin);
  common c;
  uint64_t back, start, length;
  take_size(&r);
  at = address_of_next(&r);
  back = get(&r, 4);
  if (!back || !read_common(readable(m, at - back), &c)) return last;
  start = get_pointer(&r, c.pointers);
  length = get_pointer(&r, c.pointers & 15);
  if (r.failed || pc - start >= length) return last;
  if (c.has_size) skip(&r, get_unsigned(&r));
  if (!run(c.instructions, &c, 0, 0, &now, &none)) return last;
  first = now;
  if (!run(r, &c, start, pc, &now, &first)) return last;
  if (c.is_signal) now.kind = RULE_SIGNAL;
  return now.kind == RULE_NONE ? last : now;
}

/* ------------------------------------------------------------------------------------------------------- steps ---- */

/* Goes to the code that a signal has interrupted, perhaps on another stack. */
static bool step_to_interrupted(unwind_frame *frame, unwind_stack *stack) {
  const ucontext_t *context = (const ucontext_t *)(frame->sp + SIGNAL_CONTEXT);
  uintptr_t at[4], value[4] = {0, 0, 0, 0};
  unsigned i;
#if defined(__x86_64__)
  at[0] = (uintptr_t)&context->uc_mcontext.gregs[16]; /* rip, rsp, rbp; the last one is not used */
  at[1] = (uintptr_t)&context->uc_mcontext.gregs[15];
  at[2] = at[3] = (uintptr_t)&context->uc_mcontext.gregs[10];
#else
  at[0] = (uintptr_t)&context->uc_mcontext.pc;
  at[1] = (uintptr_t)&context->uc_mcontext.sp;
  at[2] = (uintptr_t)&context->uc_mcontext.regs[29];
  at[3] = (uintptr_t)&context->uc_mcontext.regs[30];
#endif
  for (i = 0; i < 4; i++)
    if (!load(stack, at[i], &value[i])) return false;
  if (!value[0]) return false;
  frame->pc = value[0] + 1;
  frame->sp = value[1];
  frame->fp = value[2];
  frame->lr = HAS_LINK_REGISTER ? value[3] : 0;
  return true;
}

/* Goes to the caller of a frame by its rule. False: the stack ends here. */
static inline bool step_by(uint64_t found, unwind_frame *frame, unwind_stack *stack) {
  unsigned kind = found & 7, fp_is = found >> 4 & 3, return_is = found >> 6 & 3;
  uintptr_t begin, next, fp = frame->fp;
  intptr_t fp_at = (int16_t)(found >> 32) * 8, return_at = (int16_t)(found >> 48) * 8;
  if (__builtin_expect(kind == RULE_SIGNAL, 0)) return step_to_interrupted(frame, stack);
  if (kind < RULE_SIGNAL) return false;
  begin = (found & 8 ? frame->fp : frame->sp) + (uintptr_t)(intptr_t)((int32_t)((uint32_t)(found >> 8) << 8) >> 8);
  if (__builtin_expect(kind == RULE_INDIRECT, 0) && !load(stack, begin, &begin)) return false;
  if (begin < frame->sp + (HAS_LINK_REGISTER ? 0 : sizeof begin)) return false;
  if (fp_is != KEPT && !load(stack, (fp_is == IN_FRAME ? begin : frame->fp) + (uintptr_t)fp_at, &fp)) return false;
  if (__builtin_expect(return_is == IN_FRAME, 1)) {
    if (!load(stack, begin + (uintptr_t)return_at, &next)) return false;
  } else {
    next = frame->lr; /* a function that calls none, interrupted by a signal */
    if (return_is != KEPT) return false;
  }
  if (HAS_LINK_REGISTER) next &= ((uintptr_t)1 << 48) - 1; /* may be signed */
  if (!next || (begin == frame->sp && next == frame->pc)) return false;
  frame->pc = next;
  frame->sp = begin;
  frame->fp = fp;
  frame->lr = 0;
  return true;
}

#endif

#endif
