// model.js - rows, their groups and order; descriptions of slices

const KIND = {PROC: 0, THREAD: 1, GO: 2, REGION: 3, TASK: 4, GC: 5, STW: 6, EARLY: 7, OTHERS: 8};
// What a running goroutine does is in the data: `gotrace record` does not see all that a thread waits for.
const STATES = [null, "runnable", "in a system call", "blocked: synchronization", "blocked: network", "blocked: channel, select",
  "sleeping", "blocked: other"];
const RUNNING = 0, RUNNABLE = 1, SYSCALL = 2, SYNCHRONIZATION = 3, CHANNEL = 5;
const MOST_GROWN = 1.8; // how much higher than usual rows become if there are few
const MANY = 30; // goroutines of a function; if there are more, they are folded at first
const COUNTER_COLOURS = [0, 1, 7, 0]; // indices of state colours; the heap has none

function duration(nanoseconds) {
  const size = Math.abs(nanoseconds);
  if (size >= 1e9) return (nanoseconds / 1e9).toFixed(3) + " s";
  if (size >= 1e6) return (nanoseconds / 1e6).toFixed(3) + " ms";
  if (size >= 1e3) return (nanoseconds / 1e3).toFixed(3) + " µs";
  return Math.round(nanoseconds) + " ns";
}

// A time since the first event, to the nanosecond.
function moment(time) {
  const [size, unit, digits] = time >= 1e9 ? [1e9, "s", 9] : time >= 1e6 ? [1e6, "ms", 6] : time >= 1e3 ? [1e3, "µs", 3] : [1, "ns", 0];
  return (time / size).toFixed(digits) + " " + unit;
}

// Whether a goroutine is one of Go's runtime, by its function; runtime.main is the program's.
const isRuntime = (name) => /^runtime[./]/.test(name) && name !== "runtime.main";

class Model {
  constructor(data) {
    this.data = data;
    STATES[RUNNING] = data.running;
    this.rows = []; // {number, file, kind, id, name, parent, stack, begin, end}; an id too large for a number is a string
    this.tasks = []; // {id, parent, row, begin, end}
    this.taskPlaces = new Map(); // see taskPlace()
    this.marks = []; // {time, row, log, name, value, stack, task}; without a row, that of noRow()
    this.details = []; // {file, colour, reason, stack, count, total, longest, unended}
    this.functions = []; // {file, name, goroutines, states}
    this.spans = []; // {file, kind, name, count, total, longest, buckets}: totals of regions, tasks, collections and stopped worlds
    for (const file of data.files) this.read(file, (number) => data.texts[file.textAt[number]], (number) => number && file.firstStack + number);
    // From a goroutine's row to the rows of its regions, outermost first. One of which only the end is known has a row of
    // its own, with depth -1, -2 and so on: it encloses those before it.
    this.regions = new Map();
    const early = new Map();
    for (const row of this.rows) {
      if (row.kind !== KIND.REGION && row.kind !== KIND.EARLY) continue;
      const of = row.kind === KIND.REGION ? this.regions : early;
      if (!of.has(row.parent)) of.set(row.parent, []);
      row.depth = of.get(row.parent).push(row.number) - 1;
      if (row.kind === KIND.EARLY) row.depth = -1 - row.depth;
      row.kind = KIND.REGION;
    }
    for (const [go, rows] of early) this.regions.set(go, [...rows.reverse(), ...(this.regions.get(go) || [])]);
    this.folded = new Set();
    this.makeGroups();
    this.marks.sort((a, b) => a.time - b.time);
    this.marksOf = new Map();
    for (const mark of this.marks) {
      if (!this.marksOf.has(mark.row)) this.marksOf.set(mark.row, []);
      this.marksOf.get(mark.row).push(mark);
    }
  }

  // Reads the tables of a trace. `text`, `stack`: what a number means there.
  read(file, text, stack) {
    const time = file.time, row = (number) => (number ? file.firstRow + number - 1 : -1), task = (number) => (number ? file.firstTask + number - 1 : -1);
    for (let i = 0, d = file.rows; i < d.length; i += 7)
      this.rows.push({number: file.firstRow + i / 7, file, kind: d[i], id: d[i + 1], name: text(d[i + 2]), parent: row(d[i + 3]), stack: stack(d[i + 4]), begin: time + d[i + 5], end: time + d[i + 6]});
    // What is cut at the ends of the trace or part: {first, since, last}. `first`: the row's first slice began before it;
    // `since`: when, or undefined; `last`: its last slice had not ended.
    for (let i = 0, d = file.cuts; i < d.length; i += 3)
      this.rows[file.firstRow + d[i]].cut = {first: (d[i + 1] & 1) > 0, since: d[i + 1] & 2 ? time + d[i + 2] : undefined, last: (d[i + 1] & 4) > 0};
    for (let i = 0, d = file.tasks; i < d.length; i += 5) {
      const begin = time + d[i + 3];
      this.taskPlaces.set([file.number, d[i], begin].join(), this.tasks.length);
      this.tasks.push({id: d[i], parent: task(d[i + 1]), row: file.firstRow + d[i + 2], begin, end: time + d[i + 4]});
    }
    for (let i = 0; i < file.marks.length; i += 6) {
      const [at, of, log, name, value, part] = file.marks.slice(i, i + 6);
      this.marks.push({time: time + at, row: of ? row(of) : this.noRow(file), log: log === 1, name: text(name), value: log ? text(value) : "", stack: log ? 0 : stack(value), task: task(part)});
    }
    for (let i = 0; i < file.details.length; i += 7) {
      const [colour, reason, of, count, total, longest, unended] = file.details.slice(i, i + 7);
      this.details.push({file, colour, reason: text(reason), stack: stack(of), count, total, longest, unended});
    }
    this.readFunctions(file, text);
    this.readSpans(file, text);
    const [running, procs] = file.recorded ? ["goroutines " + file.running, "procs in use"] : [file.running + " goroutines", file.running + " procs"];
    const names = [running, "runnable goroutines", "blocked goroutines", procs, "heap", "heap goal"];
    file.counts = names.map((name, k) => new Series(file, name, file.counters, 1 + names.length, 1 + k, (theme) => theme.states[COUNTER_COLOURS[k]] || theme.counter));
    file.ownCounts = this.readSeries(file, text);
    file.stoppedRows = this.rows.filter((r) => r.file === file && r.kind === KIND.STW).map((r) => r.number);
  }
  // For marks of no goroutine.
  noRow(file) { return -1 - file.number; }
  fileOf(row) { return row < 0 ? this.data.files[-1 - row] : this.rows[row].file; }
  // What is appended to a name to tell of which trace it is.
  suffix(file) { return this.data.several ? " · " + file.title : ""; }

  // The groups in the order of the picture. A group is a title and its rows.
  makeGroups() {
    this.groups = [];
    this.groupOf = new Map();
    for (const file of this.data.files) this.makeGroupsOf(file);
    for (const group of this.groups) if (group.type !== "file") for (const row of group.rows) this.groupOf.set(row, group);
  }
  makeGroupsOf(file) {
    const of = (kind) => this.rows.filter((row) => row.file === file && row.kind === kind && row.begin <= row.end);
    const byId = (a, b) => Math.sign(Number(a.id) - Number(b.id)) || Number(BigInt(a.id) - BigInt(b.id)) || a.number - b.number;
    const add = (type, name, title, rows, folded) => {
      const key = this.sectionKey(file, [type, name].filter((part) => part !== null).join(" "));
      if (!rows.length && type !== "counters" && type !== "file") return;
      this.groups.push({type, file, key, title, rows: rows.map((row) => row.number)});
      if (folded) this.folded.add(key);
    };
    if (this.data.several) add("file", null, file.title, of(KIND.GO), false);
    add("counters", null, "Counters", [], this.data.several);
    add("collector", null, "Collector", [...of(KIND.GC), ...of(KIND.STW)], false);
    add("procs", null, "Procs", of(KIND.PROC).sort(byId), this.data.several);
    add("threads", null, "Threads", of(KIND.THREAD).sort(byId), true);
    const byName = (rows) => {
      const found = new Map();
      for (const row of rows) {
        if (!found.has(row.name)) found.set(row.name, []);
        found.get(row.name).push(row);
      }
      return [...found];
    };
    for (const [name, rows] of byName(of(KIND.TASK))) add("task", name, "Task " + (name || "(no name)"), rows, rows.length > MANY);
    // The program's goroutines in the order in which the first of a function began; those of Go's runtime last.
    const first = ([, rows]) => rows.reduce((least, row) => Math.min(least, row.begin), Infinity), all = of(KIND.GO);
    const sorted = byName(all.filter((row) => !isRuntime(row.name))).sort((a, b) => first(a) - first(b) || (a[0] < b[0] ? -1 : 1));
    for (const [name, rows] of sorted) add("go", name, name || "(unknown function)", rows.sort(byId), rows.length > MANY);
    add("runtime", null, "Go's runtime", all.filter((row) => isRuntime(row.name)).sort(byId), true);
  }
  // The key of a group of a trace.
  sectionKey(file, key) { return (file.number ? file.number + "/" : "") + key; }

  readFunctions(file, text) {
    const from = file.functions;
    for (let at = 0; at < from.length;) {
      const f = {file, name: text(from[at++]), goroutines: from[at++], states: []};
      for (let c = 0; c < COLOURS; c++) {
        const state = {count: from[at++], total: from[at++], longest: from[at++], unended: from[at++], buckets: []};
        for (let used = from[at++]; used; used--) state.buckets.push([from[at++], from[at++]]);
        f.states.push(state);
      }
      this.functions.push(f);
    }
  }

  // The program's counters, by name.
  readSeries(file, text) {
    const list = [], from = file.series;
    for (let at = 0; at < from.length;) {
      const name = text(from[at++]) || "(no name)", size = 2 * from[at++];
      list.push(new Series(file, name, from.slice(at, at + size), 2, 1));
      at += size;
    }
    list.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const series of list) series.colour = (theme) => theme.counter;
    return list;
  }

  readSpans(file, text) {
    const from = file.spans;
    for (let at = 0; at < from.length;) {
      const span = {file, kind: from[at++], name: text(from[at++]), count: from[at++], total: from[at++], longest: from[at++], unended: from[at++], buckets: []};
      for (let used = from[at++]; used; used--) span.buckets.push([from[at++], from[at++]]);
      this.spans.push(span);
    }
  }

  // The lines of the picture: {type: "group"|"counter"|"row"|"marks", ...}, with y and height.
  lines(view) {
    const lines = [];
    let y = 0;
    const add = (line, height) => { lines.push(Object.assign(line, {y, height})); y += height; };
    for (const group of this.groups) {
      const {type, file} = group, folded = this.folded.has(group.key), single = type === "go" && group.rows.length === 1;
      if (type !== "file" && this.folded.has(this.sectionKey(file, "file"))) continue;
      if (!single) add({type: "group", group, folded}, type === "file" ? 26 : 20);
      if (type === "file" || (folded && !single)) continue;
      if (type === "counters") {
        for (const k of [1, 0, 2, 3]) add({type: "counter", series: [file.counts[k]], title: file.counts[k].name}, 22);
        const [heap, goal] = [file.counts[4], file.counts[5]];
        if (heap.most > 0) add({type: "counter", series: goal.most > 0 ? [heap, goal] : [heap], title: goal.most > 0 ? "heap; line: its goal" : "heap", bytes: true}, 34);
        for (const series of file.ownCounts) add({type: "counter", series: [series], title: series.name, own: true}, 34);
        if (this.marksOf.has(this.noRow(file))) add({type: "marks", row: {number: this.noRow(file)}, title: "of no goroutine"}, 18);
        continue;
      }
      for (const number of group.rows) {
        const row = this.rows[number];
        if (view.hideIdle && (row.begin > view.to || row.end < view.from)) continue;
        add({type: "row", row, title: single || type === "runtime" ? this.goName(number) : row.kind === KIND.TASK && number !== group.rows[0] ? "" : null}, 18);
        for (const region of this.regions.get(number) || []) {
          const nested = this.rows[region];
          if (nested.begin <= nested.end && !(view.hideIdle && (nested.begin > view.to || nested.end < view.from))) add({type: "row", row: nested, nested: true}, 13);
        }
      }
    }
    // Few rows take all the room that there is.
    const grow = Math.max(1, Math.min(MOST_GROWN, (view.room - 20) / y || 1));
    if (grow > 1) for (const line of lines) line.y *= grow, line.height *= grow;
    return {lines, height: y * grow, grow};
  }

  // From details that have one of these names, as the reason of a wait or as a function of their stack, the innermost, to a
  // function of a row's name that returns how a slice is called, if the row is not called so: its goroutine began with the
  // outermost function. A runnable goroutine has the stack of another. `names`: indices of texts.
  detailsWith(names) {
    const found = new Map(), {frames, stacks, stackAt, texts} = this.data, reasons = new Set([...names].map((name) => texts[name]));
    this.details.forEach((detail, place) => {
      const at = stackAt[detail.stack], size = stacks[at], why = this.whyOf(detail);
      const frame = stacks.slice(at + 1, at + 1 + size).findIndex((f) => names.has(frames[3 * f])), name = frame >= 0 && texts[frames[3 * stacks[at + 1 + frame]]];
      const outermost = frame === size - 1;
      if (detail.colour !== RUNNING && detail.reason && reasons.has(detail.reason)) found.set(place, () => why);
      else if (name && !(outermost && detail.colour === RUNNABLE)) found.set(place, (row) => !(outermost && row === name) && "in " + name + ", " + why);
    });
    return found;
  }
  // The totals of a row's function.
  functionOf(row) {
    const named = (name) => this.functions.find((f) => f.file === row.file && f.name === name);
    return named(row.name) || named("(others)");
  }
  whyOf(detail) { return detail.colour !== RUNNING && detail.reason || STATES[detail.colour]; }

  // A key that identifies a line while the lines around it change.
  lineKey(line) { return line.type === "row" ? "row " + line.row.number : line.type === "group" ? "group " + line.group.key : ""; }

  // What a screen reader says of a line.
  lineText(line) {
    if (line.type === "group") return line.group.title + ", " + line.group.rows.length + " rows, " + (line.folded ? "folded" : "unfolded");
    return line.title || (line.row.kind === KIND.GO ? this.goName(line.row.number) : line.nested ? "regions of " + this.goName(line.row.parent) : this.title(line.row));
  }

  // How a slice is cut: {first, since, last}, as a row's `cut`, but only if it is the row's first or last slice.
  cutOf({row: number, begin, end}) {
    const row = this.rows[number], cut = row.cut || {};
    const first = cut.first === true && begin === row.begin;
    return {first, since: first ? cut.since : undefined, last: cut.last === true && end === row.end};
  }
  // How long a slice lasted, including what is known of the time before the trace or part.
  length(slice) { return slice.end - (this.cutOf(slice).since ?? slice.begin); }

  title(row) {
    switch (row.kind) {
    case KIND.PROC: return "proc " + row.id;
    case KIND.THREAD: return "thread " + row.id;
    case KIND.GO: return "G" + row.id;
    case KIND.TASK: return row.name || "(no name)";
    case KIND.GC: return "collection";
    case KIND.STW: return "stopped world";
    default: return "";
    }
  }
  goName(number) {
    const row = this.rows[number];
    if (row.kind === KIND.OTHERS) return "a goroutine of " + (row.name || "an unknown function");
    return "G" + row.id + (row.name ? " " + row.name : "");
  }
  // The index of a task's slice; undefined: it has none.
  taskPlace(slice) {
    return this.taskPlaces.get([this.rows[slice.row].file.number, this.taskId(slice), slice.begin].join());
  }
  // The id of a task's slice: `who` is its high half.
  taskId(slice) { return String(BigInt(slice.who) << 32n | BigInt(slice.what)); }
  taskName(place) { return "task " + this.tasks[place].id + " " + this.rows[this.tasks[place].row].name; }
  // The label of a slice.
  label(row, slice) {
    if (slice.size > 1) return "";
    switch (row.kind) {
    case KIND.PROC:
    case KIND.THREAD: return slice.who ? this.goName(slice.who - 1) : "";
    case KIND.GO: return this.whyOf(this.details[slice.what]);
    case KIND.TASK: return "task " + this.taskId(slice);
    case KIND.GC: return "GC";
    default: return this.data.texts[slice.what] || "";
    }
  }
}
