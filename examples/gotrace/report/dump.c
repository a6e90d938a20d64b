/* dump.c - gotrace dump: every event, as a line of text or of JSON
 *
 * An argument's meaning follows from its name in the header's event table: names that end in "string" or "stack" are
 * ids, others numbers. --wire shows the file as it is, with ids as numbers too. What was lifted from v1 (>>decoder in
 * gotrace.h) has its name in the file too, in JSON. */

#include "../command/commands.h"
#include "../reading/index.h"
#include "../reading/source.h"

/* The arguments of a kind of event, parsed only once. */
typedef enum dump_type { IS_NUMBER, IS_STRING, IS_STACK, IS_SIGNED, IS_PROC_STATUS, IS_GO_STATUS } dump_type;

typedef struct dump_argument {
  char name[24];
  dump_type type;
} dump_argument;

typedef struct dump_kind {
  const gotrace_event_spec *spec;
  unsigned count;
  dump_argument arguments[8];
} dump_kind;

typedef struct dumper {
  output out;
  const gotrace_decoder *decoder;
  bool wire, json;
  gotrace_format format;
  int64_t first; /* time of the first event; times are relative to it, as for `cut`; --wire: 0 */
  dump_kind kinds[256];
} dumper;

static bool ends_with(const char *word, const char *end) {
  size_t length = strlen(word), of_end = strlen(end);
  return length >= of_end && strcmp(word + length - of_end, end) == 0;
}

static dump_type argument_type(const char *name, bool wire) {
  if (ends_with(name, "pstatus")) return IS_PROC_STATUS;
  if (ends_with(name, "gstatus")) return IS_GO_STATUS;
  if (ends_with(name, "string")) return wire ? IS_NUMBER : IS_STRING;
  if (ends_with(name, "stack")) return wire ? IS_NUMBER : IS_STACK;
  if (strcmp(name, "m") == 0 || strcmp(name, "p") == 0 || strcmp(name, "parent_task") == 0) return IS_SIGNED;
  return IS_NUMBER;
}

static const dump_kind *dump_kind_of(dumper *d, const gotrace_event *e) {
  dump_kind *k = &d->kinds[e->kind];
  const char *word = e->spec->arguments;
  if (k->spec == e->spec) return k;
  k->spec = e->spec;
  k->count = 0;
  while (*word && k->count < COUNT(k->arguments)) {
    dump_argument *argument = &k->arguments[k->count];
    size_t length = strcspn(word, " ");
    snprintf(argument->name, sizeof argument->name, "%.*s", (int)length, word);
    word += length + (word[length] == ' ');
    if (strcmp(argument->name, "dt") == 0 || ends_with(argument->name, "data")) continue;
    argument->type = argument_type(argument->name, d->wire);
    k->count++;
  }
  return k;
}

static const char *const go_statuses[] = {"?", "Runnable", "Running", "Syscall", "Waiting"};
static const char *const proc_statuses[] = {"?", "Running", "Idle", "Syscall", "SyscallAbandoned"};

static void dump_status(dumper *d, const char *const *names, uint64_t status) {
  print(&d->out, d->json ? "\"%s\"" : "%s", status < 5 ? names[status] : "?");
}

static void dump_frames(dumper *d, uint64_t id) {
  gotrace_frame frames[MOST_FRAMES];
  size_t count = gotrace_decoder_stack(d->decoder, id, frames, MOST_FRAMES), i;
  if (count > MOST_FRAMES) count = MOST_FRAMES;
  if (d->json) put_byte(&d->out.block, '[');
  for (i = 0; i < count; i++, output_check(&d->out)) {
    const gotrace_frame *f = &frames[i];
    if (d->json) {
      print(&d->out, "%s{\"pc\":%llu,\"function\":", i ? "," : "", (ull)f->pc);
      put_quoted(&d->out, f->function ? f->function : "", f->function_size);
      put_data(&d->out.block, ",\"file\":", 8);
      put_quoted(&d->out, f->file ? f->file : "", f->file_size);
      print(&d->out, ",\"line\":%llu}", (ull)f->line);
    } else {
      print(&d->out, "        %llx ", (ull)f->pc);
      put_visible(&d->out, f->function, f->function_size);
      put_byte(&d->out.block, ' ');
      put_visible(&d->out, f->file, f->file_size);
      print(&d->out, ":%llu\n", (ull)f->line);
    }
  }
  if (d->json) put_byte(&d->out.block, ']');
}

static void dump_text(dumper *d, uint64_t id) {
  const char *data = "";
  size_t size = 0;
  if (!gotrace_decoder_string(d->decoder, id, &data, &size)) size = 0;
  put_quoted(&d->out, data, size);
}

static void dump_argument_value(dumper *d, const dump_argument *a, uint64_t value) {
  switch (a->type) {
  case IS_STRING: dump_text(d, value); break;
  case IS_SIGNED: put_signed(&d->out, (int64_t)value); break;
  case IS_PROC_STATUS: dump_status(d, proc_statuses, value); break;
  case IS_GO_STATUS: dump_status(d, go_statuses, value); break;
  default: put_decimal(&d->out, value); break;
  }
}

/* Whether `extra` is a status. */
static bool has_status_before(const gotrace_event *e) {
  return e->kind == GOTRACE_V2_GO_STATUS || e->kind == GOTRACE_V2_GO_STATUS_STACK ||
         e->kind == GOTRACE_V2_PROC_STATUS || e->kind == GOTRACE_V2_PROC_STEAL;
}

static const char *status_before(const gotrace_event *e) {
  bool proc_event = e->kind == GOTRACE_V2_PROC_STATUS || e->kind == GOTRACE_V2_PROC_STEAL;
  if (e->extra == GOTRACE_STATUS_UNKNOWN) return "Unknown";
  if (e->extra == GOTRACE_STATUS_NONE) return "None";
  return e->extra >= 0 && e->extra < 5 ? (proc_event ? proc_statuses : go_statuses)[e->extra] : "?";
}

static void dump_line(dumper *d, const gotrace_event *e) {
  const dump_kind *k = dump_kind_of(d, e);
  output *out = &d->out;
  unsigned i;
  put_signed(out, (int64_t)((uint64_t)e->time - (uint64_t)d->first));
  put_byte(&out->block, ' ');
  put_string(out, e->spec->name);
  if (d->wire) put_string(out, " offset="), put_decimal(out, e->offset);
  if (e->m != GOTRACE_NO_ID) put_string(out, " m="), put_signed(out, e->m);
  if (e->p != GOTRACE_NO_ID) put_string(out, " p="), put_signed(out, e->p);
  if (e->g != GOTRACE_NO_ID) put_string(out, " g="), put_signed(out, e->g);
  if (k->count && e->arg_count) put_string(out, " |");
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    if (k->arguments[i].type == IS_STACK && !e->args[i]) continue;
    put_byte(&out->block, ' ');
    put_string(out, k->arguments[i].name);
    put_byte(&out->block, '=');
    dump_argument_value(d, &k->arguments[i], e->args[i]);
  }
  if (!d->wire && has_status_before(e)) put_string(out, " before="), put_string(out, status_before(e));
  if (e->data) put_string(out, " data="), put_quoted(out, e->data, e->data_size);
  if (e->implied) put_string(out, " implied");
  put_byte(&out->block, '\n');
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    if (k->arguments[i].type != IS_STACK || !e->args[i]) continue;
    print(out, "    %s:\n", k->arguments[i].name);
    dump_frames(d, e->args[i]);
  }
}

static void dump_object(dumper *d, const gotrace_event *e) {
  const dump_kind *k = dump_kind_of(d, e);
  output *out = &d->out;
  unsigned i;
  put_string(out, "{\"time\":"), put_signed(out, (int64_t)((uint64_t)e->time - (uint64_t)d->first));
  print(out, ",\"event\":\"%s\",\"offset\":%llu", e->spec->name, (ull)e->offset);
  if (e->m != GOTRACE_NO_ID) put_string(out, ",\"m\":"), put_signed(out, e->m);
  if (e->p != GOTRACE_NO_ID) put_string(out, ",\"p\":"), put_signed(out, e->p);
  if (e->g != GOTRACE_NO_ID) put_string(out, ",\"g\":"), put_signed(out, e->g);
  put_string(out, ",\"args\":{");
  for (i = 0; i < k->count && i < e->arg_count; i++) {
    print(out, "%s\"%s\":", i ? "," : "", k->arguments[i].name);
    if (k->arguments[i].type == IS_STACK) dump_frames(d, e->args[i]);
    else dump_argument_value(d, &k->arguments[i], e->args[i]);
  }
  put_byte(&out->block, '}');
  if (!d->wire && has_status_before(e)) print(out, ",\"before\":\"%s\"", status_before(e));
  if (e->v1_kind) print(out, ",\"v1\":\"%s\"", spec_in_file(e, (int)d->format)->name);
  if (e->data) put_string(out, ",\"data\":"), put_quoted(out, e->data, e->data_size);
  if (e->implied) put_string(out, ",\"implied\":true");
  put_string(out, "}\n");
}

static void dump_event(dumper *d, const gotrace_event *e) {
  if (d->json) dump_object(d, e);
  else dump_line(d, e);
  output_check(&d->out);
}

static void dump_open(dumper *d, const settings *set) {
  memset(d, 0, sizeof *d);
  d->wire = set->wire;
  d->json = set->json;
  output_direct(&d->out);
}

/* Tells why the output is not all, or is none; returns the status of the command. */
static int dump_close(dumper *d, gotrace_result result, const input *in, const char *unknown) {
  output_close(&d->out);
  if (result != GOTRACE_END_OF_TRACE) report("%s", input_error(in));
  else if (unknown) report("%s", unknown);
  return result != GOTRACE_END_OF_TRACE || unknown;
}

/* ------------------------------------------------------------------------------------------- a filtered part ---- */

/* What a filter selects in a part depends on what is open when that begins, which a source knows. */
typedef struct part_dumper {
  consumer c;
  dumper d;
  trace_part of;
} part_dumper;

static void nothing(consumer *c, int64_t time) { (void)c, (void)time; }
static void take_nothing(consumer *c, const op *o) { (void)c, (void)o; }

static void dump_watched(void *context, const gotrace_event *e) {
  part_dumper *p = context;
  const source *s = &p->of.s;
  int64_t since = between(s->first, e->time);
  if (since < s->from || since > s->until) return;
  p->d.decoder = s->in->decoder;
  p->d.format = (gotrace_format)s->format;
  p->d.first = s->first;
  if (filter_event(&p->of.selection, s->in->decoder, e, s->changed ? &s->change : NULL)) dump_event(&p->d, e);
}

static int dump_part(const char *path, const settings *set) {
  static part_dumper p;
  gotrace_result result;
  const char *unknown;
  int status;
  if (!part_open(&p.of, path, set)) return 1;
  p.c.begin = p.c.end = nothing;
  p.c.take = take_nothing;
  p.c.statuses = p.c.switches = p.c.history = p.c.later = true;
  p.c.own[0] = &p.of.selection;
  dump_open(&p.d, set);
  result = source_run(&p.of.s, &p.of.in, &p.c, set->from, set->until, dump_watched, &p);
  unknown = source_nothing(&p.of.s);
  if (!unknown) unknown = filter_unknown(&p.of.selection, &p.of.s.w);
  status = dump_close(&p.d, result, &p.of.in, unknown);
  part_close(&p.of);
  return status;
}

/* ---------------------------------------------------------------------------------------------------- command ---- */

int command_dump(const char *path, const settings *set) {
  static dumper d;
  filter selection;
  ahead found = {0};
  int64_t from, until, since = 0;
  const char *unknown;
  input in;
  gotrace_event e;
  gotrace_change change;
  gotrace_decoder_info info;
  gotrace_result result;
  bool first = true, changed;
  uint64_t before = 0; /* where the part begins: an offset */
  int status;
  filter_open(&selection, set);
  if (set->wire && (selection.on || set->from || set->until != INT64_MAX))
    usage("--wire shows the whole file; leave out what selects a part");
  if (set->index && set->wire) fail("--index does not go with --wire");
  if (selection.on && set->from) {
    filter_close(&selection);
    return dump_part(path, set);
  }
  if (!input_open(&in, path, set->from < 0 || set->until < 0 || filter_looks_ahead(&selection))) return 1;
  from = moment_resolve(set->from, &in);
  until = moment_resolve(set->until, &in);
  if (from > until) fail("--to is before --from");
  if (filter_looks_ahead(&selection)) {
    filter_ask(&selection, &found);
    ahead_names(&found, &in);
    ahead_read(&found, &in, until, selection.on);
    filter_tell(&selection, &found);
  }
  filter_settle(&selection);
  result = input_decode(&in, set->wire);
  if (result == GOTRACE_OK && !set->wire) index_begin(&in, set->index, from, INDEX_SNAPSHOT, false, NULL);
  dump_open(&d, set);
  d.decoder = in.decoder;
  gotrace_decoder_get_info(in.decoder, &info);
  d.format = (gotrace_format)info.format;
  while (result == GOTRACE_OK && (result = input_next(&in, &e)) == GOTRACE_OK) {
    if (!set->wire && first) d.first = input_first_time(&in, &e);
    first = false;
    since = set->wire ? 0 : between(d.first, e.time);
    if (!before && since >= from) before = e.offset;
    if (since > until) {
      result = GOTRACE_END_OF_TRACE;
      break;
    }
    changed = selection.on && gotrace_decoder_change(in.decoder, &e, &change);
    if (filter_event(&selection, in.decoder, &e, changed ? &change : NULL) && since >= from) dump_event(&d, &e);
  }
  if (from > 0) index_advise(&in, set->index, before);
  unknown = from > since ? outside_text(from, since) : filter_unknown(&selection, NULL);
  status = dump_close(&d, result, &in, unknown);
  filter_close(&selection);
  ahead_free(&found);
  input_close(&in);
  return status;
}
