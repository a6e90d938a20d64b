// input.js - mouse, keys, search, the address's fragment; starts the page

const MOST_FOUND = 20000;
const FIRST = (a, b) => a.time - b.time, LONGEST = (a, b) => b.length - a.length;
// A wheel turns by about 100 a notch; a pinch on a touchpad is a wheel with Ctrl and less.
const WHEEL_ZOOM = 0.009, WHEEL_MOST = 250;
const LEAST_PANEL = 160; // pixels
const MOST_BUSY = 8; // milliseconds without a look at the keys
const LOOKED = 100; // milliseconds for which a time is looked at before it is read
const SLOW = 300; // milliseconds after which a search tells how far it is
const UNITS = {ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9};

// The nanoseconds of a text such as 1.5ms; NaN: it is none.
function parseDuration(text) {
  const [, value, unit] = /^(\d+\.?\d*) ?(ns|us|µs|ms|s)$/.exec(text) || [];
  return unit ? Number(value) * UNITS[unit] : NaN;
}

// Lets the browser do what waits. A timer would wait for longer.
const rest = () => new Promise((done) => {
  const {port1, port2} = new MessageChannel();
  port1.onmessage = () => { port1.close(); done(); };
  port2.postMessage(null);
});

// What decides whether a name is meant by a text: that it contains the text, in capitals or not; =NAME: that it is NAME; /TEXT/:
// a regular expression, which matches nothing if it is none.
function matcher(text) {
  if (text[0] === "=") return (name) => name === text.slice(1);
  if (!/^\/.+\/$/.test(text)) return (name) => name.toLowerCase().includes(text.toLowerCase());
  try {
    const pattern = new RegExp(text.slice(1, -1), "iu");
    return (name) => pattern.test(name);
  } catch {
    return () => false;
  }
}

// Results in an order, of which the first MOST_FOUND are kept; `total`: how many there were.
class Found {
  constructor(order) { this.order = order, this.list = [], this.total = 0; }
  add(result) {
    this.total++;
    if (this.list.push(result) >= 2 * MOST_FOUND) this.sort();
  }
  sort() {
    this.list.sort(this.order);
    this.list.length = Math.min(this.list.length, MOST_FOUND);
  }
}

class App {
  // `openPart`: shows a part, between two times, by itself; null: the page cannot.
  constructor(data, openPart = null) {
    this.openPart = openPart;
    this.looked = null; // is told what is looked at, for a trace of which there is only an outline
    this.closed = new AbortController();
    this.take(data);
    this.view = {from: data.begin, to: Math.max(data.end, data.begin + this.least), scroll: 0, selected: null, mark: null, range: null, compared: null, flags: [], hit: null, line: "", hideIdle: false, width: 0};
    this.canvas = document.getElementById("canvas");
    this.painter = new Painter(this.canvas, data, this.model, this.view);
    this.panels = new Panels(this);
    this.tab = "timeline";
    this.pointer = null; // where it is on the picture, {x, y}; null: elsewhere
    this.fingers = new Map(); // pointers that are down, by id: where they are
    this.drag = this.pinch = null; // what one of them, and what two of them do
    this.reading = 0; // fragments that are being read
    this.setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
    this.listen();
    if (data.filtered) this.fitChosen();
    this.painter.resize();
    this.panels.show();
    this.readFragment();
    this.placed = [this.view.from, this.view.to].join();
    this.painter.request();
  }

  // Takes data, of which the header tells.
  take(data) {
    this.data = data;
    this.answered = data.files.every((file) => !file.trace); // whether it is known what is wrong
    this.model = new Model(data);
    this.id = data.id; // of its places in the browser's history
    // Numbers are exact up to 2^53 only, so a picture of later times cannot be as short.
    this.least = Math.max(10, data.end * 2 ** -46);
    const name = document.getElementById("name"), facts = document.getElementById("facts");
    document.title = data.name + " - gotrace view";
    name.title = data.name, name.textContent = data.several ? data.files.length + " traces" : data.name;
    facts.title = facts.textContent = data.outline ? data.outline.facts() : "Go " + data.format + ", " + data.events.toLocaleString("en") + " events, " + duration(data.end - data.begin) + (data.began ? ", began " + data.began : "");
    for (const id of ["tab-summary", "tab-flame", "search"]) document.getElementById(id).disabled = data.outline !== null; // they are of the whole
  }
  // Shows more of the trace, at the same place: time, rows, what is selected or folded.
  become(data) {
    const {model, painter, view} = this, {selected} = view, folded = new Map(model.groups.map(({key}) => [key, model.folded.has(key)]));
    const top = painter.layout?.lines.find((line) => line.type === "row" && line.y >= view.scroll), above = top && top.y - view.scroll;
    const again = (number) => this.model.rows.find(({kind, id}) => kind === model.rows[number].kind && id === model.rows[number].id)?.number;
    const whole = view.from <= this.data.begin && view.to >= this.data.end;
    this.results = this.found = view.hit = view.mark = null, view.line = "";
    this.take(data);
    painter.take(data, this.model);
    for (const {key} of this.model.groups) if (folded.get(key)) this.model.folded.add(key); else if (folded.has(key)) this.model.folded.delete(key);
    if (whole) view.from = data.begin, view.to = Math.max(data.end, data.begin + this.least);
    const line = top && this.model.lines(view).lines.find((l) => l.type === "row" && l.row.number === again(top.row.number));
    if (line) view.scroll = Math.max(0, line.y - above);
    view.selected = null;
    const row = selected && again(selected.row);
    if (selected) this.panels.show();
    if (selected && row !== undefined) this.sliceAt(row, (selected.begin + selected.end) / 2, false).then((slice) => { if (slice && !view.selected && data === this.data) this.select(slice); });
    if (view.range && !data.outline) this.panels.showRange(view.range);
    if (!data.outline && location.hash && this.placed === [view.from, view.to].join()) this.readFragment(); // nobody has moved since the page was opened
    this.changed();
  }

  // Another trace takes its place.
  close() {
    this.closed.abort();
    clearTimeout(this.fragmentTimer);
    this.panels.asked?.abort();
    this.results = this.found = this.view.range = null;
  }

  // ------------------------------------------------------------------------------------------------- the view ----

  setView(from, to) {
    const {begin, end} = this.data, most = Math.max(end - begin, this.least), size = Math.min(Math.max(to - from, this.least), most * 1.02);
    from = Math.max(begin - most * 0.01, Math.min(from, end + most * 0.01 - size));
    this.view.from = from, this.view.to = from + size;
    this.changed();
  }
  zoom(factor, x) {
    const time = this.painter.time(Math.max(LEFT, x)), {from, to} = this.view;
    this.setView(time - (time - from) * factor, time + (to - time) * factor);
  }
  pan(share) {
    const size = (this.view.to - this.view.from) * share;
    this.setView(this.view.from + size, this.view.to + size);
  }
  fit(slice) {
    const size = Math.max(slice.end - slice.begin, 20);
    this.setView(slice.begin - size * 0.1, slice.end + size * 0.1);
  }
  // Fits what is selected: a slice or a time; or else all.
  fitSelected() {
    const {selected, range} = this.view;
    if (selected) this.fit(selected);
    else if (range) this.setView(range.from, range.to);
    else this.setView(this.data.begin, this.data.end);
  }
  // Marks a time, or unmarks one that is near on the picture.
  flag(time) {
    const {view} = this, near = view.flags.find((flag) => Math.abs(this.painter.x(flag) - this.painter.x(time)) < 5);
    view.flags = near === undefined ? [...view.flags, Math.round(Math.max(this.data.begin, Math.min(time, this.data.end)))].sort((a, b) => a - b)
      : view.flags.filter((flag) => flag !== near);
    this.changed();
  }
  // With a filter: fits what it selects to the picture.
  fitChosen() {
    const rows = this.model.rows.filter((row) => [KIND.GO, KIND.REGION, KIND.TASK].includes(row.kind) && row.begin <= row.end);
    const begin = rows.reduce((least, row) => Math.min(least, row.begin), Infinity), end = rows.reduce((most, row) => Math.max(most, row.end), 0);
    if (rows.length) this.fit({begin, end});
  }
  scroll(pixels) {
    this.view.scroll = Math.max(0, this.view.scroll + pixels);
    this.changed();
  }
  changed() {
    this.painter.request();
    clearTimeout(this.fragmentTimer);
    if (this.closed.signal.aborted) return; // the address is of another trace
    if (this.data.outline) return this.look();
    this.fragmentTimer = setTimeout(() => this.writeFragment(), 200);
  }

  // Tells soon what is looked at.
  look() {
    clearTimeout(this.lookTimer);
    this.lookTimer = setTimeout(() => { if (this.data.outline && !this.closed.signal.aborted) this.looked?.(this.view.from, this.view.to); }, LOOKED);
  }

  select(slice) {
    if (this.closed.signal.aborted) return;
    this.panels.asked?.abort(); // what was shown needs no more answers
    this.view.selected = slice, this.view.range = null, this.view.hit = null, this.view.mark = null;
    if (slice) this.panels.showSlice(slice), this.reveal(slice.row);
    else this.panels.show();
    this.changed();
  }
  selectMark(mark) {
    this.select(null);
    this.view.mark = mark;
    this.panels.showMark(mark);
    this.reveal(mark.row);
    this.centre(mark.time);
    this.changed();
  }
  // The next or previous mark on the current line or, if it has none, anywhere.
  stepMark(by) {
    const {model, view} = this, row = view.line.startsWith("row ") ? Number(view.line.slice(4)) : -2;
    const list = model.marksOf.get(row) || model.marks, at = list.indexOf(view.mark);
    const first = by > 0 ? list.findIndex((mark) => mark.time >= view.from) : list.findLastIndex((mark) => mark.time <= view.to);
    const mark = list[at >= 0 ? at + by : first];
    if (mark) this.selectMark(mark);
  }
  // Moves the picture so that it shows a time.
  centre(time) {
    const size = this.view.to - this.view.from;
    if (time < this.view.from || time > this.view.to) this.setView(time - size / 2, time + size / 2);
  }
  setRange(from, to) {
    const [a, b] = [from, to].map((time) => Math.max(this.data.begin, Math.min(time, this.data.end)));
    this.panels.asked?.abort();
    this.view.range = {from: a, to: b}, this.view.selected = this.view.mark = null;
    this.panels.showRange(this.view.range);
    this.changed();
  }
  fold(group, folded) {
    if (folded) this.model.folded.add(group.key);
    else this.model.folded.delete(group.key);
    this.changed();
  }

  // For the keyboard: the current line, moved by J and K, and the action of a click in its middle.
  moveLine(by) {
    const {model, painter, view} = this, lines = model.lines(view).lines.filter((line) => model.lineKey(line)), room = painter.height - TOP;
    const now = lines.findIndex((line) => model.lineKey(line) === view.line), shown = lines.findIndex((line) => line.y >= view.scroll);
    const line = lines[now < 0 ? Math.max(0, shown) : Math.max(0, Math.min(lines.length - 1, now + by))];
    if (!line) return;
    view.line = model.lineKey(line);
    view.scroll = Math.max(line.y + line.height - room, Math.min(view.scroll, line.y));
    this.say(model.lineText(line));
    this.changed();
  }
  async useLine() {
    const {model, painter, view} = this, line = model.lines(view).lines.find((l) => view.line && model.lineKey(l) === view.line);
    if (line?.type === "group") return this.fold(line.group, !line.folded);
    if (!line) return;
    const time = (view.from + view.to) / 2, y = painter.lineTop(line) + line.height / 2;
    this.select(painter.at(painter.x(time), y) || await this.sliceAt(line.row.number, time, true) || await this.sliceAt(line.row.number, line.row.begin, false));
  }

  // Scrolls a row into view.
  reveal(number) {
    const {model} = this, row = model.rows[number], shown = row?.kind === KIND.REGION ? row.parent : number, file = model.fileOf(number);
    for (const key of [model.sectionKey(file, "file"), model.groupOf.get(shown)?.key || model.sectionKey(file, "counters")]) model.folded.delete(key);
    const line = this.model.lines(this.view).lines.find((l) => l.row?.number === number), room = this.painter.height - TOP;
    if (!line) return;
    if (line.y < this.view.scroll || line.y > this.view.scroll + 2 * room) this.view.scroll = Math.max(0, line.y - room / 3);
    else if (line.y + line.height > this.view.scroll + room) this.view.scroll = line.y + line.height - room;
  }

  // The slice of a row at a time, in full detail if the page has it. `before`: the one that ends there.
  async sliceAt(number, time, before) {
    const chunks = await this.data.load(0, time, time);
    let best = null;
    for (const {slices} of chunks) {
      const span = slices.index.get(number);
      if (!span) continue;
      for (let i = slices.search(span, time - 1); i < span.to && slices.begin[i] <= time; i++) {
        const fits = before ? slices.begin[i] < time && slices.end[i] >= time : slices.end[i] > time || slices.begin[i] === time;
        if (fits && (!best || slices.begin[i] > best.begin)) best = sliceOf(number, slices, i);
      }
    }
    return best;
  }
  async goTo(number, time) {
    const slice = await this.sliceAt(number, time, true) || await this.sliceAt(number, time, false);
    if (this.closed.signal.aborted) return;
    this.show("timeline");
    this.centre(time);
    if (slice) this.select(slice);
    else this.reveal(number);
  }
  // Goes to what the selected slice waited for: the waker, if it is a wait; otherwise the slice or creator before it.
  async followBack() {
    const s = this.view.selected;
    if (!s || this.model.rows[s.row].kind !== KIND.GO) return;
    const row = this.model.rows[s.row];
    if (s.size === 1 && s.colour > SYSCALL && s.who) await this.goTo(s.who - 1, s.end);
    else if (s.begin > row.begin) await this.goTo(s.row, s.begin);
    else if (row.parent >= 0) await this.goTo(row.parent, row.begin);
  }
  async step(forward) {
    const s = this.view.selected;
    if (!s) return;
    const slice = forward ? await this.sliceAt(s.row, s.end, false) : await this.sliceAt(s.row, s.begin, true);
    if (!slice) return;
    this.select(slice);
    if (slice.begin > this.view.to || slice.end < this.view.from) this.setView(slice.begin - (this.view.to - this.view.from) / 2, slice.begin + (this.view.to - this.view.from) / 2);
  }

  // --------------------------------------------------------------------------------------------------- search ----

  // Finds rows by function or goroutine, tasks, logs, CPU samples by function or as "sample". "=NAME" finds only goroutines
  // of that function. A time, such as 3.5s, leads there, 3.5s 100us to so much around it; wait>5ms finds waits by their length, proc 1 a proc. Regions and
  // stopped worlds are found through their slices, and so are waits by their reason and functions in stacks, unless the row has the
  // outermost as its name.
  // The page searches what it has: that takes a tenth of the time in which the tool would read the trace for it, and a page of
  // pictures has no reader.
  // `file`: only its goroutines, for "=NAME".
  async search(text, file) {
    const {model, data} = this, wanted = text.toLowerCase().trim();
    this.show("timeline");
    const found = this.startSearch(FIRST);
    if (!wanted) return this.showFound();
    const [time, length] = wanted.replace(/(\d) (?=[a-zµ])/g, "$1").split(/ +/).map(parseDuration);
    if (time >= data.begin && time <= data.end && !(length <= 0)) return this.showTime(time, length);
    const longer = parseDuration(/^wait *> *(.*)$/.exec(wanted)?.[1] || "");
    if (longer >= 0) return this.searchWaits(longer);
    const exactly = text[0] === "=", matches = matcher(text.trim());
    for (const row of model.rows) {
      if (row.begin > row.end || (file && row.file !== file)) continue;
      if (row.kind === KIND.PROC && "proc " + row.id === wanted) found.add({row: row.number, time: row.begin, what: model.title(row)});
      if (row.kind === KIND.GO && (matches(row.name) || "g" + row.id === wanted)) found.add({row: row.number, time: row.begin, what: model.goName(row.number)});
    }
    if (exactly) return this.showResults(found, 0);
    model.tasks.forEach(({id, row, begin}, place) => {
      if (matches(model.rows[row].name) || "task " + id === wanted) found.add({row, time: begin, what: model.taskName(place), select: true});
    });
    for (const mark of model.marks) {
      const name = mark.log ? mark.name : "CPU sample", value = mark.log ? mark.value : data.innermost(mark.stack);
      if (matches(value) || matches(name)) found.add({row: mark.row, time: mark.time, what: (mark.log ? "log " : "CPU sample in ") + value, mark});
    }
    const names = new Set(data.texts.map((name, i) => (name && matches(name) ? i : -1)).filter((i) => i >= 0));
    const details = model.detailsWith(names), name = (what) => names.has(what) && data.texts[what];
    if (names.size)
      await this.searchSlices(found, {
        [KIND.GO]: (what, length, row) => details.get(what)?.(model.rows[row].name),
        [KIND.REGION]: (what) => name(what) && "region " + name(what),
        [KIND.STW]: (what) => name(what) && "stopped world: " + name(what),
      });
    return this.showResults(found, 0);
  }
  // Goes to a time: to so much around it, or nearer if much of the trace is shown.
  showTime(time, length) {
    const all = this.data.end - this.data.begin, size = length || Math.min(this.view.to - this.view.from, all / 50);
    this.results = this.found = null;
    this.showFound();
    this.setView(time - size / 2, time + size / 2);
    document.getElementById("found").textContent = "in the middle: " + moment(time);
  }
  // The waits that last longer, longest first.
  async searchWaits(nanoseconds) {
    const {model} = this, found = this.startSearch(LONGEST), waits = new Set();
    model.details.forEach(({colour}, what) => { if (colour > SYSCALL) waits.add(what); });
    await this.searchSlices(found, {[KIND.GO]: (what, length) => waits.has(what) && length > nanoseconds && model.whyOf(model.details[what])});
    return this.showResults(found, 0);
  }
  // What is found takes the place of what was found before, unless a later search, Escape or another trace ends this one.
  startSearch(order) {
    this.results = [], this.result = -1;
    return this.found = new Found(order);
  }
  // Adds the slices that match to what was found. `titles`: for a kind of row a function of a slice's `what`, length and row that
  // returns how the slice is called, if it matches.
  async searchSlices(found, titles) {
    const {model, data} = this, kinds = new Set(Object.keys(titles).map(Number));
    if (!model.rows.some((row) => kinds.has(row.kind))) return;
    const chunks = data.chunks.filter((chunk) => !chunk.merged), begin = performance.now();
    let rested = begin;
    for (const [i, chunk] of chunks.entries()) {
      await chunk.load();
      if (performance.now() - rested > MOST_BUSY) {
        if (found === this.found && rested - begin > SLOW) document.getElementById("found").textContent = "searching: " + 10 * Math.floor(10 * i / chunks.length) + " %";
        await rest();
        rested = performance.now();
      }
      if (found !== this.found) return;
      const {slices} = chunk;
      for (const [row, span] of slices.index) {
        const titleOf = titles[model.rows[row].kind];
        if (!titleOf) continue;
        for (let i = span.from; i < span.to; i++) {
          const begin = slices.begin[i], end = slices.end[i], title = titleOf(slices.what[i], end - begin, row);
          if (title) found.add({row, time: begin, what: title, select: true, length: model.length({row, begin, end})});
        }
      }
      data.forget();
    }
  }
  // Goes where a finding of a trace tells to look: options of the tool, which name a time, a goroutine, a task.
  async lookAt(file, words) {
    const {model} = this, value = (name) => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
    const go = value("--go"), task = value("--task"), [from, to] = ["--from", "--to"].map((name) => file.time + Number(value(name)));
    this.show("timeline");
    if (from <= to) this.setView(from, to);
    if (task) {
      const found = model.tasks.find((t) => model.rows[t.row].file === file && String(t.id) === task);
      if (found) await this.goTo(found.row, (found.begin + found.end) / 2);
      if (found) this.fit(this.view.selected || found);
    }
    if (go) {
      const row = model.rows.find((r) => r.file === file && r.kind === KIND.GO && String(r.id) === go);
      if (row) await this.goTo(row.number, from <= to ? (from + to) / 2 : row.begin);
    }
  }
  // The slices that a row of the summary counts, longest first.
  async showSlices(kind, wanted, title, count) {
    this.show("timeline");
    const found = this.startSearch(LONGEST);
    await this.searchSlices(found, {[kind]: (...of) => wanted(...of) && title});
    return this.showResults(found, count);
  }
  // Goes to the first result. `count`: how many there are; the page of a large trace may have fewer.
  showResults(found, count) {
    if (found !== this.found) return null;
    found.sort();
    this.results = found.list, this.result = -1;
    this.resultsOf = Math.max(found.total, count);
    this.resultsBy = found.order === LONGEST ? "longest " : "first ";
    this.panels.showResults(this.results, this.resultsOf);
    return this.nextResult();
  }
  async nextResult() {
    if (!this.results?.length) return this.showFound();
    this.result = (this.result + 1) % this.results.length;
    this.showFound();
    const shown = this.results[this.result], {row, time, mark, select} = shown, size = this.view.to - this.view.from;
    if (time < this.view.from || time > this.view.to) this.setView(time - size * 0.1, time + size * 0.9);
    const slice = select && await this.sliceAt(row, time, false);
    if (shown !== this.results?.[this.result]) return;
    if (mark) this.selectMark(mark);
    else if (slice) this.select(slice);
    else this.reveal(row);
    this.view.hit = row;
    this.changed();
  }
  goToResult(result) {
    this.result = this.results.indexOf(result) - 1;
    return this.nextResult();
  }
  showFound() {
    if (!this.results?.length) this.panels.showResults(null);
    const number = (value) => value.toLocaleString("en"), {results} = this, kept = results?.length;
    const of = () => (kept < this.resultsOf ? "the " + this.resultsBy + number(kept) + " of " : "") + number(this.resultsOf);
    document.getElementById("found").textContent = !results ? "" : kept ? number(this.result + 1) + " of " + of() + ": " + results[this.result].what.slice(0, 60) : "nothing found";
  }
  endSearch() {
    this.results = this.found = null, this.view.hit = null;
    document.getElementById("search").value = "";
    this.showFound();
    this.canvas.focus();
    this.changed();
  }

  // ----------------------------------------------------------------------------------------------------- page ----

  show(tab) {
    this.tab = tab;
    for (const name of ["timeline", "summary", "flame"]) {
      document.getElementById(name).hidden = name !== tab;
      document.getElementById("tab-" + name).setAttribute("aria-selected", name === tab);
    }
    if (tab === "summary") this.panels.fillSummary(document.getElementById("summary"));
    if (tab === "flame") this.panels.fillFlame(document.getElementById("flame"));
    if (tab === "timeline" && this.painter.width) this.painter.resize(), this.painter.request();
    this.changed();
  }
  // Shows a tab, and lets the keyboard scroll it.
  open(tab) {
    if (this.data.outline && tab !== "timeline") return;
    this.show(tab);
    (tab === "timeline" ? this.canvas : document.getElementById(tab)).focus();
  }
  setTheme(dark) {
    this.dark = dark;
    document.documentElement.classList.toggle("dark", dark);
    this.painter.setTheme(dark);
    document.getElementById("legend").replaceChildren(...this.panels.legend());
    if (this.panels.empty) this.panels.show();
    if (this.tab !== "timeline") this.show(this.tab); // it has pictures, too
    this.changed();
  }
  // What a screen reader says.
  say(text) { document.getElementById("said").textContent = text; }
  hideIdle(on) {
    this.view.hideIdle = on;
    document.getElementById("idle").setAttribute("aria-pressed", on);
    this.changed();
  }

  // #t=FROM-TO&y=SCROLL&s=ROW@TIME&m=MARK&r=FROM-TO&k=TIME,TIME&f=FOLDED&h=1&tab=NAME
  fragment() {
    const {view, model} = this, parts = [];
    parts.push("t=" + view.from.toFixed(0) + "-" + view.to.toFixed(0));
    if (view.scroll) parts.push("y=" + Math.round(view.scroll));
    if (view.selected) parts.push("s=" + view.selected.row + "@" + view.selected.begin);
    if (view.mark) parts.push("m=" + model.marks.indexOf(view.mark));
    if (view.range) parts.push("r=" + view.range.from.toFixed(0) + "-" + view.range.to.toFixed(0));
    if (view.flags.length) parts.push("k=" + view.flags.join(","));
    parts.push("f=" + model.groups.map((group) => (model.folded.has(group.key) ? "1" : "0")).join(""));
    if (view.hideIdle) parts.push("h=1");
    if (this.tab !== "timeline") parts.push("tab=" + this.tab);
    return "#" + parts.join("&");
  }
  // Keeps the place in the address. The browser goes back to the place before a jump: to another slice, time, tab, or to a
  // picture four times as long or short, or beside the last one. Smaller moves change the place.
  writeFragment() {
    if (this.reading || this.closed.signal.aborted || location.hash !== this.address) return; // another address is about to be read
    const now = this.fragment(), last = this.written ?? now, kept = (text) => text.split("&").filter((part) => /^(s|m|r|tab)=/.test(part)).join("&");
    const [[a, b], [from, to]] = [last, now].map((text) => /^#t=(-?\d+)-(-?\d+)/.exec(text).slice(1).map(Number));
    const jump = kept(last) !== kept(now) || from > b || to < a || Math.abs(Math.log((to - from) / (b - a || 1))) > Math.log(4);
    history[jump ? "pushState" : "replaceState"]({app: this.id}, "", now);
    this.written = now, this.address = location.hash;
  }
  async readFragment() {
    this.address = location.hash;
    if ((history.state?.app ?? this.id) !== this.id) return; // a place in another trace that was open before
    const turn = this.turn = {}; // a place that is read later takes the place of this one
    const values = new Map(location.hash.slice(1).split("&").map((part) => part.split("=", 2)));
    const pair = (key, between) => (values.get(key) || "").replace(/^-/, "~").split(between).map((n) => Number(n.replace("~", "-")));
    const [from, to] = pair("t", "-"), {data, model, view} = this;
    this.reading++;
    if (to > from) this.setView(from, to);
    if (values.get("f")) model.groups.forEach((group, i) => {
      if (values.get("f")[i] === "1") model.folded.add(group.key);
      else if (values.get("f")[i] === "0") model.folded.delete(group.key);
    });
    view.scroll = Number(values.get("y")) || 0;
    view.flags = (values.get("k") || "").split(",").filter(Boolean).map(Number).filter((flag, i, all) => flag >= data.begin && flag <= data.end && all.indexOf(flag) === i).sort((x, y) => x - y);
    this.hideIdle(values.has("h"));
    if (view.selected || view.mark || view.range) this.select(null);
    const [row, time] = pair("s", "@"), [a, b] = pair("r", "-");
    const mark = values.has("m") && model.marks[values.get("m")];
    if (mark) this.selectMark(mark);
    if (b > a) this.setRange(a, b);
    this.show(["summary", "flame"].includes(values.get("tab")) ? values.get("tab") : "timeline");
    try {
      const slice = model.rows[row] && time >= 0 && await this.sliceAt(row, time, false);
      if (turn !== this.turn || this.closed.signal.aborted) return;
      if (slice) this.select(slice);
    } finally {
      this.reading--;
    }
    this.written = this.fragment(); // this place, not one to go back from
    this.changed();
  }

  // --------------------------------------------------------------------------------------------------- events ----

  listen() {
    const {canvas} = this, tip = document.getElementById("tip");
    new ResizeObserver(() => { this.painter.resize(); this.painter.draw(); }).observe(canvas.parentElement);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const by = event.deltaMode === 1 ? 30 : 1, x = event.deltaX * by, y = event.deltaY * by;
      if (event.ctrlKey || event.metaKey) this.zoom(Math.exp(Math.max(-WHEEL_MOST, Math.min(y, WHEEL_MOST)) * WHEEL_ZOOM), event.offsetX);
      else if (event.shiftKey) this.pan((x || y) / this.view.width);
      else this.pan(x / this.view.width), this.scroll(y);
    }, {passive: false});
    canvas.addEventListener("pointerdown", (event) => this.pointerDown(event));
    canvas.addEventListener("pointermove", (event) => this.pointerMove(event));
    canvas.addEventListener("pointerup", (event) => this.pointerUp(event));
    canvas.addEventListener("pointercancel", () => { this.endDrag(); this.fingers.clear(); this.pinch = null; });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; this.pointer = null; });
    // The first click may move the rows.
    const timeline = document.getElementById("timeline");
    timeline.addEventListener("click", (event) => { if (event.detail === 1) this.clicked = event.target === canvas ? this.chosen : null; });
    timeline.addEventListener("dblclick", () => { if (this.clicked) this.select(this.clicked), this.fit(this.clicked); });
    document.addEventListener("keydown", (event) => this.key(event), {signal: this.closed.signal});
    window.addEventListener("hashchange", () => this.readFragment(), {signal: this.closed.signal});
    const search = document.getElementById("search");
    search.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") this.endSearch();
      if (event.key !== "Enter") return;
      if (this.results && this.searched === search.value) this.nextResult();
      else this.searched = search.value, this.search(search.value);
    });
    for (const name of ["timeline", "summary", "flame"]) document.getElementById("tab-" + name).addEventListener("click", () => this.open(name));
    document.getElementById("idle").addEventListener("click", () => this.hideIdle(!this.view.hideIdle));
    document.getElementById("theme").addEventListener("click", () => this.setTheme(!this.dark));
    this.listenSplit(document.getElementById("split"), document.getElementById("side"));
    document.getElementById("help-button").addEventListener("click", () => document.getElementById("help").showModal());
  }
  // The width of the details: dragged, or changed by arrows. It is kept for other traces.
  listenSplit(split, panel) {
    const set = (width) => {
      const most = Math.max(LEAST_PANEL, Math.round(0.7 * innerWidth)), now = Math.max(LEAST_PANEL, Math.min(Math.round(width), most));
      document.getElementById("timeline").style.setProperty("--panel", now + "px");
      for (const [key, value] of [["now", now], ["min", LEAST_PANEL], ["max", most]]) split.setAttribute("aria-value" + key, value);
      return now;
    };
    const keep = (width) => { try { localStorage.setItem("gotrace panel", width); } catch { /* the browser keeps nothing for this page */ } };
    let kept = 0;
    try { kept = Number(localStorage.getItem("gotrace panel")); } catch { /* likewise */ }
    set(kept || Math.max(340, Math.min(0.3 * innerWidth, 520)));
    split.addEventListener("pointerdown", (event) => { if (event.button === 0) split.setPointerCapture(event.pointerId); });
    split.addEventListener("pointerup", (event) => { if (split.hasPointerCapture(event.pointerId)) keep(set(panel.getBoundingClientRect().right - event.clientX)); });
    split.addEventListener("pointermove", (event) => { if (split.hasPointerCapture(event.pointerId)) set(panel.getBoundingClientRect().right - event.clientX); });
    split.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: 20, ArrowRight: -20}[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      keep(set(panel.offsetWidth + by));
    });
  }
  pointerDown(event) {
    const {offsetX: x, offsetY: y} = event;
    this.canvas.focus();
    if (event.button !== 0) return; // a menu may swallow the button's release
    this.canvas.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, {x, y});
    this.chosen = null;
    if (this.fingers.size > 1) this.endDrag(), this.pinch = this.pinchNow();
    else this.drag = this.dragFrom(x, y, y < OVERVIEW && x >= LEFT ? "overview" : event.shiftKey || (y < TOP && x >= LEFT) ? "range" : "pan");
    if (this.drag?.mode === "overview") this.overviewTo(x);
  }
  dragFrom(x, y, mode) {
    return {mode, x, y, time: this.painter.snap(x, y), from: this.view.from, to: this.view.to, scroll: this.view.scroll, range: this.view.range, moved: false};
  }
  // Ends a drag before the button is released: a range that was measured by it is not kept.
  endDrag() {
    if (this.drag?.mode === "range") this.view.range = this.drag.range, this.painter.request();
    this.drag = null;
  }
  // Where two fingers are, and what is between them.
  pinchNow() {
    const [a, b] = this.fingers.values(), {from, to, scroll} = this.view, x = (a.x + b.x) / 2;
    return {x, y: (a.y + b.y) / 2, apart: Math.max(20, Math.hypot(a.x - b.x, a.y - b.y)), time: this.painter.time(x), size: to - from, scroll};
  }
  pointerMove(event) {
    const {offsetX: x, offsetY: y} = event, {drag, view} = this;
    this.pointer = x >= LEFT ? {x, y} : null;
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, {x, y});
    if (this.pinch) return this.pinchMove();
    if (!drag) return this.hover(event);
    drag.moved = drag.moved || Math.abs(x - drag.x) + Math.abs(y - drag.y) > (event.pointerType === "touch" ? 10 : 3);
    if (!drag.moved) return;
    document.getElementById("tip").hidden = true;
    if (drag.mode === "overview") {
      this.overviewTo(x);
    } else if (drag.mode === "range") {
      const time = this.painter.snap(x, y);
      view.range = {from: Math.min(drag.time, time), to: Math.max(drag.time, time)};
      this.painter.request();
    } else {
      const moved = (drag.x - x) / view.width * (drag.to - drag.from);
      view.scroll = Math.max(0, drag.scroll + drag.y - y);
      this.setView(drag.from + moved, drag.to + moved);
    }
  }
  // The time that was between the fingers stays there, and the picture is as much longer as they are nearer.
  pinchMove() {
    const {pinch} = this, now = this.pinchNow(), size = pinch.size * pinch.apart / now.apart, from = pinch.time - (now.x - LEFT) / this.view.width * size;
    this.view.scroll = Math.max(0, pinch.scroll + pinch.y - now.y);
    this.setView(from, from + size);
  }
  pointerUp(event) {
    const {drag, pinch} = this;
    if (!this.fingers.delete(event.pointerId)) return;
    this.drag = this.pinch = null;
    if (pinch) { // the other finger goes on
      const [rest] = this.fingers.values();
      if (this.fingers.size > 1) this.pinch = this.pinchNow();
      else if (rest) this.drag = {...this.dragFrom(rest.x, rest.y, "pan"), moved: true};
    } else if (drag?.mode === "range" && drag.moved) {
      this.setRange(this.view.range.from, this.view.range.to);
    } else if (drag?.mode === "pan" && !drag.moved) {
      this.click(event.offsetX, event.offsetY);
    }
  }
  overviewTo(x) {
    const {begin, end} = this.data, time = begin + (x - LEFT) / this.view.width * (end - begin), size = this.view.to - this.view.from;
    this.setView(time - size / 2, time + size / 2);
  }
  click(x, y) {
    const line = this.painter.lineAt(y), mark = this.painter.markAt(x, y);
    this.chosen = this.painter.at(x, y);
    if (line?.type === "group") return this.fold(line.group, !line.folded);
    if (mark) return this.selectMark(mark);
    this.select(this.chosen);
    if (line?.type === "row" && x < LEFT) this.panels.showRow(line.row);
  }
  hover(event) {
    const tip = document.getElementById("tip"), {offsetX: x, offsetY: y} = event;
    const mark = this.painter.markAt(x, y), slice = mark ? null : this.painter.at(x, y);
    const line = this.painter.lineAt(y), counter = line?.type === "counter" && x >= LEFT;
    tip.hidden = !mark && !slice && !counter;
    if (tip.hidden) return;
    const {model} = this;
    if (counter) {
      tip.textContent = this.painter.counterText(line, x);
    } else if (mark) {
      tip.textContent = (mark.log ? "log " + mark.name + "\n" + mark.value : "CPU sample in " + (this.data.innermost(mark.stack) || "?"));
    } else {
      const row = model.rows[slice.row];
      const title = row.kind === KIND.GO ? model.goName(slice.row) : row.kind === KIND.REGION ? "region" : model.title(row);
      const cut = model.cutOf(slice), lines = [title + model.suffix(row.file) + "  " + duration(model.length(slice))];
      if (cut.first) lines.push("it began before" + (cut.since === undefined ? ", unknown when" : ": at " + moment(cut.since)));
      if (cut.last) lines.push("it goes on afterwards");
      if (slice.size > 1) {
        lines.push(slice.size + " slices:");
        slice.times.forEach((time, c) => { if (time) lines.push("  " + (row.kind === KIND.GO ? STATES[c] + " " : "") + duration(time)); });
      } else {
        if (row.kind === KIND.GO) lines.push(STATES[slice.colour]);
        const label = model.label(row, slice);
        if (label && label !== STATES[slice.colour]) lines.push(label);
        if (row.kind === KIND.GO && slice.who && slice.colour > SYSCALL) lines.push("ended by " + model.goName(slice.who - 1));
      }
      tip.textContent = lines.join("\n");
    }
    tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 4) + "px";
    tip.style.top = (event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 8 : event.clientY + 18) + "px";
  }
  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || document.getElementById("help").open) return;
    const at = this.pointer?.x ?? LEFT + this.view.width / 2, room = this.painter.height - TOP;
    const actions = {
      w: () => this.zoom(0.75, at), s: () => this.zoom(1 / 0.75, at), a: () => this.pan(-0.15), d: () => this.pan(0.15),
      ArrowLeft: () => this.pan(-0.15), ArrowRight: () => this.pan(0.15), ArrowUp: () => this.scroll(-54), ArrowDown: () => this.scroll(54),
      PageUp: () => this.scroll(-room * 0.8), PageDown: () => this.scroll(room * 0.8), Home: () => this.scroll(-1e9), End: () => this.scroll(1e9),
      0: () => this.setView(this.data.begin, this.data.end), f: () => this.fitSelected(),
      m: () => this.flag(this.pointer ? this.painter.snap(at, this.pointer.y) : this.painter.time(at)),
      j: () => this.moveLine(1), k: () => this.moveLine(-1), " ": () => this.useLine(), r: () => this.setRange(this.view.from, this.view.to),
      n: () => this.stepMark(1), p: () => this.stepMark(-1),
      "[": () => this.step(false), "]": () => this.step(true), ",": () => this.step(false), ".": () => this.step(true), b: () => this.followBack(),
      e: () => { this.model.folded.clear(); this.changed(); }, c: () => { for (const g of this.model.groups) if (g.type !== "file") this.model.folded.add(g.key); this.changed(); },
      h: () => this.hideIdle(!this.view.hideIdle), t: () => this.setTheme(!this.dark), "?": () => document.getElementById("help").showModal(),
      1: () => this.open("timeline"), 2: () => this.open("summary"), 3: () => this.open("flame"),
      "/": () => { event.preventDefault(); document.getElementById("search").focus(); },
      Enter: () => this.nextResult(), Escape: () => (this.results ? this.endSearch() : (this.view.compared = null, this.select(null))),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action && !event.target.matches?.("input, select")) {
      if ((event.key === " " || event.key === "Enter") && event.target instanceof HTMLButtonElement) return; // it presses the button
      if (this.tab !== "timeline" && !"123t?/".includes(event.key.toLowerCase())) return; // the other tabs scroll
      if (/^(Arrow|Page|Home|End)/.test(event.key) && event.target.closest?.("#side")) return; // the details scroll
      if (event.key === " " || event.key.startsWith("Arrow") || event.key.startsWith("Page")) event.preventDefault();
      action();
    }
  }
}

// For tests: what is drawn, and when.
function forTests(app) {
  const {painter, model, view} = app;
  return {
    app,
    setView: (from, to) => app.setView(from, to),
    state: () => ({...view, level: painter.level, wanted: painter.wanted}),
    // The visible rows with everything drawn on them.
    async visible() {
      await app.data.load(app.data.levelFor((view.to - view.from) / ((painter.width - LEFT) * painter.ratio)), view.from, view.to);
      painter.record = [];
      painter.draw();
      const marks = painter.record, lines = painter.visibleLines().filter((line) => line.type === "row"), shown = new Set(lines);
      painter.record = null;
      const used = new Map(); // number of rows with the same goroutine id or task name
      const key = (row) => row.file.number + (row.kind === KIND.TASK ? " task " + row.name : row.kind === KIND.GO ? " go " + row.id : "");
      for (const row of model.rows) if (row.begin <= row.end) used.set(key(row), (used.get(key(row)) || 0) + 1);
      const slices = painter.hits.filter((hit) => shown.has(hit.line)).map(({line, part, i}) => {
        const slice = sliceOf(line.row.number, part, i), single = slice.size === 1;
        return [slice.row, slice.begin, slice.end, slice.size, slice.colour, line.row.kind === KIND.GO && single ? model.details[slice.what].reason : "",
          single ? model.label(line.row, slice) : "", slice.who, [...slice.times]];
      });
      return {from: view.from, to: view.to, begin: app.data.begin, end: app.data.end, slices,
        rows: lines.map(({row}) => [row.number, row.kind, row.id, row.name, row.kind === KIND.REGION ? row.depth : 0,
          used.get(key(row.kind === KIND.REGION ? model.rows[row.parent] : row))]),
        marks: marks.map((mark) => [mark.row, mark.time, mark.log, mark.name, mark.value]),
        arrows: painter.arrows.map(([from, to, time]) => [model.rows[from].id, model.rows[to].id, time])};
    },
    // Waits of goroutines that have a known waker.
    async endedWaits() {
      const found = [], chunks = await app.data.load(0, app.data.begin, app.data.end);
      for (const {slices} of chunks)
        for (const [number, span] of slices.index)
          for (let i = span.from; i < span.to; i++)
            if (model.rows[number].kind === KIND.GO && slices.size[i] === 1 && slices.colour[i] > SYSCALL && slices.who[i]) found.push(sliceOf(number, slices, i));
      return found;
    },
    // What the tool tells the page, as text: of its first trace; `words` of a command, without the file.
    answer: (words) => app.data.files[0].trace.ask(words, new AbortController().signal),
    bars,
    drawnAt: () => painter.drawnAt, // when all details had been drawn for the first time
  };
}

// The page begins with what it has: pictures, traces, or a reader that waits for one.
async function begin() {
  const reader = await Reader.find(), page = reader && new Page(reader);
  if (!reader) window.gotrace = forTests(new App(new Data([await FileData.ofPage()])));
  else if (!document.getElementById("ask0")) page.start.choose("");
  else {
    const traces = JSON.parse(new TextDecoder().decode(await inflate("ask0")));
    if (traces[0].served) fetch("alive").catch(() => {}); // the server ends some time after this has ended
    const served = (name, size) => (size ? {url: new URL(name, location.href).href, size} : null);
    for (const [i, trace] of traces.entries())
      trace.source = new Source(served("trace" + i, trace.served) || new Blob([await inflate("trace" + i)]), served("index" + i, trace.indexed));
    await page.open(traces);
  }
}

begin().catch((error) => {
  document.getElementById("start").hidden = true;
  document.getElementById("status").textContent = "This page cannot be shown: " + error.message;
  throw error;
});
