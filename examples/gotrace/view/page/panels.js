// panels.js - everything that is text: details of a slice, a selected range, the summary, flame graphs
//
// Text from the trace is only assigned to textContent, so it is never parsed as markup.

// An element with attributes, listeners (functions) and children.
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// Attributes of an element that reacts to a click and, when it has the focus, to Enter and Space.
function pressed(action) {
  return {tabindex: 0, click: action, keydown: (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }};
}

const MOST_STEPS = 200; // of a critical path
const MOST_LONGEST = 20; // slices of a row in the details of its label
const MOST_READ = 2e7; // bytes of a trace that is read at a click
const MOST_STOPS = 20000; // to add up one by one
const SAMPLE = 1e7; // nanoseconds of CPU time that a CPU sample stands for, as Go takes them

// A table that is sorted by clicks on its titles. Columns: {title, value(item), text(value, item), number}. It is one stop of
// the tabulator; arrows lead from there to titles and rows.
function makeTable(label, columns, items, onRow, sorted = 0, down = true, limit = 500) {
  const body = make("tbody"), state = {by: sorted, down}, titles = [];
  const fill = () => {
    const {value, number} = columns[state.by];
    const order = (a, b) => (number ? value(a) - value(b) : String(value(a)).localeCompare(String(value(b)))) * (state.down ? -1 : 1);
    const rows = [...items].sort(order).slice(0, limit).map((item) => {
      const row = make("tr", onRow && {...pressed(() => onRow(item)), tabindex: -1, class: "link"});
      for (const c of columns) {
        const v = c.value(item), shown = c.text ? c.text(v, item) : String(v);
        row.append(make("td", c.number && {class: "number"}, ...(c.number || typeof shown !== "string" ? [shown] : breakable(shown))));
      }
      return row;
    });
    if (items.length > limit) rows.push(make("tr", null, make("td", {class: "place", colspan: columns.length}, "and " + (items.length - limit).toLocaleString("en") + " more")));
    body.replaceChildren(...rows);
    titles.forEach((title, i) => title.setAttribute("aria-sort", i !== state.by ? "none" : state.down ? "descending" : "ascending"));
  };
  columns.forEach((c, i) => titles.push(make("th", {scope: "col", class: (c.number ? "number " : "") + "sorts", title: "sort", ...pressed(() => {
    state.down = state.by === i ? !state.down : c.number === true;
    state.by = i;
    fill();
  }), tabindex: i ? -1 : 0}, c.title)));
  fill();
  const table = make("table", {"aria-label": label, keydown: (event) => {
    const from = document.activeElement, at = titles.indexOf(from);
    const to = {ArrowLeft: titles[at - 1], ArrowRight: at >= 0 && titles[at + 1], ArrowDown: at >= 0 ? body.firstChild : from.nextSibling,
      ArrowUp: at < 0 && (from.previousSibling || titles[0])}[event.key];
    if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
    if (to && to.hasAttribute("tabindex")) to.focus();
  }, focusin: (event) => {
    for (const element of table.querySelectorAll("[tabindex='0']")) element.tabIndex = -1;
    event.target.tabIndex = 0;
  }}, make("thead", null, make("tr", null, ...titles)), body);
  return table;
}

// A text in which a line may end between the parts of a name: after a dot, slash, underscore, bracket, before a capital.
const breakable = (text) => text.split(/(?<=[./:,;_)\]])(?=[^ ])|(?<=[a-z0-9])(?=[A-Z])/).flatMap((part, i) => (i ? [make("wbr"), part] : [part]));
const timeColumn = (title, value) => ({title, value, number: true, text: (v) => (v ? duration(v) : "")});

// As in gotrace info: the smallest value that at least this share of a sorted list does not exceed; 0: the list is empty.
const percentile = (list, share) => (list.length ? list[Math.max(0, Math.ceil(share * list.length) - 1)] : 0);

class Panels {
  constructor(app) {
    this.app = app;
    this.panel = document.getElementById("panel");
    this.empty = true; // nothing is selected
    this.times = new Float64Array(COLOURS); // of a slice
  }

  link(text, go) { return make("button", {class: "link-text", click: go}, text); }

  stackList(number, title = "Stack") {
    const frames = this.app.data.stack(number);
    if (!frames.length) return null;
    return make("div", null, make("h2", null, title), ...frames.map((f) =>
      make("div", null, f.function || "(unknown)", " ", make("span", {class: "place"}, f.file ? f.file + ":" + f.line : ""))));
  }

  show(...children) {
    this.empty = !children.length;
    this.panel.replaceChildren(...(this.empty ? this.nothing() : children.filter(Boolean)));
    this.panel.scrollTop = 0;
    this.app.say(this.empty ? "nothing is selected" : this.panel.querySelector("h2").textContent);
    this.app.painter.request();
  }
  // While nothing is selected: what stands out, as gotrace info begins, what the colours mean, and what to do. What stands out in each of
  // several traces needs much room, and comes last; what is said of more than one of them is said once, after the rest.
  nothing() {
    const {data} = this.app, told = new Map();
    for (const file of data.files) {
      const text = plain(file.trace?.told?.trace.stands_out || "");
      if (text) told.set(text, [...(told.get(text) || []), file.title]);
    }
    const lines = [...told].sort(([, a], [, b]) => (a.length > 1) - (b.length > 1));
    const standing = lines.map(([text, titles]) => make("p", null, (data.several ? titles.join(", ") + ": " : "") + text));
    if (lines.length) standing.unshift(make("h2", null, "What stands out"));
    const colours = [make("h2", null, "Colours"), make("ul", {class: "legend"}, ...this.legend()),
      make("p", {class: "place"}, "A click on a slice shows here what it is, its stack, and who ended a wait. A drag on the ruler selects a time. ? lists the keys.")];
    return data.several ? [...colours, ...standing] : [...standing, ...colours];
  }
  // The meaning of each colour and sign, as items of a list.
  legend() {
    const {theme} = this.app.painter, ratio = window.devicePixelRatio || 1;
    const item = (text, draw) => {
      const box = make("canvas", {width: 26 * ratio, height: 14 * ratio, "aria-hidden": "true"}), c = box.getContext("2d");
      box.style.width = "26px", box.style.height = "14px";
      c.scale(ratio, ratio);
      draw(c);
      return make("li", null, box, text);
    };
    const bar = (colour, height) => (c) => { c.fillStyle = colour; c.fillRect(0, 7 - height / 2, 26, height); };
    return [...STATES.map((state, k) => item(state, bar(theme.states[k], [4, 8, 12][FILLS[k]]))),
      item("greens: a function on a proc or thread, a region, a task", (c) => theme.names.slice(0, 4).forEach((colour, k) => { c.fillStyle = colour; c.fillRect(6.5 * k, 1, 6.5, 12); })),
      item("the collector, a stopped world", bar(theme.collector, 12)),
      item("hatched: the world was stopped, so nobody ran", (c) => {
        bar(theme.states[RUNNING], 12)(c);
        c.fillStyle = theme.back;
        for (let x = 0; x < 26; x++) for (let y = 1; y < 13; y++) if (isHatched(x, y, 1)) c.fillRect(x, y, 1, 1);
      }),
      item("a log", (c) => { c.fillStyle = theme.accent; c.beginPath(); c.moveTo(9, 4); c.lineTo(17, 4); c.lineTo(13, 10); c.fill(); }),
      item("a CPU sample", (c) => { c.fillStyle = theme.text; c.fillRect(12, 4, 1.5, 6); }),
      item("who woke or created a goroutine leads to it", (c) => {
        c.fillStyle = c.strokeStyle = theme.text;
        c.beginPath(), c.moveTo(13, 0), c.lineTo(13, 10), c.stroke();
        c.beginPath(), c.moveTo(13, 14), c.lineTo(10, 8), c.lineTo(16, 8), c.fill();
      })];
  }

  // Shows what is wrong in each trace, gravest first. `errors`: what the reader reported; it does not keep traces from being
  // shown. `before`: shows what comes before the error, if only an outline is shown.
  fillFindings(errors, findings, before = null) {
    const bar = document.getElementById("findings"), {model} = this.app;
    const line = ({file, text, look}) => make("li", null, this.link(text + model.suffix(file), () => this.app.lookAt(file, look.split(" "))), " ",
      look.startsWith("path ") ? this.pathLink(file, ...look.split(" ").slice(1)) : null);
    bar.replaceChildren(...[errors && make("p", null, errors), before && this.link("Show all that comes before that", before), findings.length && make("ol", null, ...findings.map(line))].filter(Boolean));
    bar.hidden = !bar.children.length;
    if (this.empty) this.panel.replaceChildren(...this.nothing());
  }
  // Shows what the tool says of a trace. What another click asks for takes its place.
  async showAnswer(title, trace, words) {
    const text = make("pre", null, "…"), asked = this.ask();
    this.show(make("h2", null, title), text);
    text.textContent = await trace.ask(words, asked.signal).catch((error) => error.message);
  }
  // For questions to a trace: earlier ones need no more answers.
  ask() {
    this.asked?.abort();
    return this.asked = new AbortController();
  }
  // Fills a section with what traces are asked for: at once, or after a click if much of one is read anew for it. `fill` gets a signal
  // that ends it and, by the place of a trace in `files`, what takes its progress. `time`: the nanoseconds that are asked for, all
  // that an index lets the tool read.
  askFor(section, files, title, time, fill) {
    const link = () => section.replaceChildren(this.link(title, start));
    const start = () => {
      const asked = this.asked && !this.asked.signal.aborted ? this.asked : this.ask(), parts = files.map(() => 0), text = make("span", null, "reading …");
      const progress = (i) => (part) => { parts[i] = part, text.textContent = "reading: " + Math.floor(100 * parts.reduce((a, b) => a + b) / parts.length) + " %"; };
      section.replaceChildren(make("div", {class: "place"}, text, " · ", this.link("cancel", () => asked.abort())));
      fill(asked.signal, progress).catch((error) => (asked.signal.aborted ? link() : section.replaceChildren(make("div", {class: "place"}, error.message))));
    };
    const read = ({trace, begin, end}) => trace.file.size * (trace.source.index ? Math.min(1, time / (end - begin || 1)) : 1);
    if (files.some((file) => read(file) > MOST_READ)) link();
    else start();
  }
  // A link to the critical path to something in a trace, for a page that can ask.
  pathLink({trace}, ...words) { return this.link("critical path", () => this.showAnswer("Critical path", trace, trace.path(...words))); }
  // The column of a table that tells of which trace an item is, if there are several.
  fileColumn(fileOf = (item) => item.file) { return this.app.data.several ? [{title: "trace", value: (item) => fileOf(item).title}] : []; }

  taskLink(place) {
    const {app} = this, task = app.model.tasks[place];
    return this.link(app.model.taskName(place), () => app.goTo(task.row, (task.begin + task.end) / 2));
  }

  // Parts of a task: tasks, regions and logs, in order of time.
  async fillParts(to, place, slice) {
    const {app} = this, {model, data} = app, found = [];
    model.tasks.forEach((task, i) => { if (task.parent === place) found.push([task.begin, task.end - task.begin, this.taskLink(i)]); });
    for (const mark of model.marks) if (mark.log && mark.task === place) found.push([mark.time, 0, this.link("log " + [mark.name, mark.value].filter(Boolean).join(": "), () => app.selectMark(mark))]);
    if (this.app.model.regions.size)
      for (const {slices} of await data.load(data.finest[1], slice.begin, slice.end))
        for (const [number, span] of slices.index)
          if (model.rows[number].kind === KIND.REGION)
            for (let i = slices.search(span, slice.begin - 1); i < span.to && slices.begin[i] <= slice.end; i++)
              if (slices.size[i] === 1 && slices.who[i] === place + 1) {
                const region = sliceOf(number, slices, i);
                found.push([region.begin, region.end - region.begin, this.link("region " + model.label(model.rows[number], region) + " of " + model.goName(model.rows[number].parent),
                  () => { app.centre(region.begin); app.select(region); })]);
              }
    found.sort((a, b) => a[0] - b[0]);
    to.replaceChildren(make("h2", null, "Parts (" + found.length + ")"), make("table", null, make("tbody", null, ...found.slice(0, 200).map(([begin, length, link]) =>
      make("tr", null, make("td", {class: "number place"}, moment(begin)), make("td", {class: "number"}, length ? duration(length) : ""), make("td", null, link))))));
  }

  // Where the time of a task went, as gotrace path says: by state, by class of wait and who it went through, by region; and the
  // critical path, of which each step leads there. It is read anew, so that of a large trace it is asked for.
  fillSpent(to, file, task) {
    const fill = async (signal, progress) => {
      const {trace} = file, {path, waits, regions} = await trace.ask(trace.path("--task", task, "--json"), signal, progress(0)).then(JSON.parse);
      const sampled = this.isSampled(file) && await trace.sums(file.begin, file.end, ["--task", task], signal, progress(0));
      const {theme} = this.app.painter, states = new Map(), sum = path.reduce((all, step) => all + step.time, 0);
      const colour = {running: theme.states[RUNNING], runnable: theme.states[RUNNABLE], syscall: theme.states[SYSCALL], waiting: theme.states.at(-1), stopped: theme.collector};
      const words = {running: STATES[RUNNING], syscall: STATES[SYSCALL], waiting: "blocked", stopped: "the world was stopped"};
      const add = (state, time) => { if (time) states.set(state, (states.get(state) || 0) + time); };
      for (const {state, time, stopped = 0} of path) add(state, time - stopped), add("stopped", stopped); // stopped time is part of a step
      const table = (title, rows) => (rows.length ? [make("h2", null, title), make("table", {class: "shares", "aria-label": title}, make("tbody", null, ...rows.sort((a, b) => b[1] - a[1]).slice(0, 20).map(([text, time, hue]) => this.share(text, time, sum || 1, hue || theme.counter))))] : []);
      const steps = path.slice(0, MOST_STEPS).map((step) => make("li", null, this.link(duration(step.time) + " " + (words[step.state] || step.state), () => this.goToGo(file, step.go, step.since, step.since + step.time)), " ",
        make("span", {class: "place"}, [(step.go === undefined ? "" : "G" + step.go), step.at || step.function, step.region && "region " + step.region].filter(Boolean).join(", "))));
      to.replaceChildren(...(sampled ? [this.sampledText(sampled.functions)] : []), ...table("Time on the critical path, by state", [...states].map(([state, time]) => [words[state] || state, time, colour[state]])),
        ...table("By class of wait, and through whom", waits.map((wait) => [wait.class + (wait.in ? " in " + wait.in : "") + (wait.through ? ": " + wait.through : ""), wait.time])),
        ...table("By region", regions.map((region) => [region.name || "(none)", region.time])),
        make("h2", null, "Steps" + (path.length > MOST_STEPS ? " (the first " + MOST_STEPS + " of " + path.length + ")" : "")), make("ol", {class: "steps"}, ...steps));
    };
    this.askFor(to, [file], "where the time went", Infinity, fill);
  }
  // How long a trace's world was stopped in a range, as an element that says so, once it is known, if it was. It is for a slice:
  // from the picture, since a click must tell it at once, of any trace.
  stoppedIn(file, from, to, text) {
    const {data} = this.app, fact = make("span");
    const fill = async () => {
      const chunks = await data.load(data.levelFor((to - from) / MOST_STOPS), from, to);
      let sum = 0;
      for (const number of file.stoppedRows)
        for (const {begin, end, time} of stopsOf(chunks.map((chunk) => chunk.slices), number, from, to)) sum += Math.max(0, Math.min(end, to) - Math.max(begin, from)) / (end - begin) * time;
      if (sum) fact.textContent = text + duration(sum);
    };
    if (file.stoppedRows.length) fill();
    return fact;
  }

  // The details of a slice.
  showSlice(slice) {
    const {app} = this, {model, data} = app, row = model.rows[slice.row], {file} = row;
    const cut = model.cutOf(slice), here = file.begin > 0 ? "this part" : "the trace";
    const facts = [["begins", !cut.first ? moment(slice.begin) : cut.since === undefined ? "before " + here + ", unknown when" : moment(cut.since) + ", before " + here],
      ["lasts", (cut.first && cut.since === undefined ? "more than " : "") + duration(model.length(slice)) + (cut.last ? ", and goes on after " + here : "")]];
    const fact = (name, value) => facts.push([name, value]);
    let title = model.title(row), stack = 0, parts = null, spent = null, held = null;
    if (data.several) fact("trace", file.title + (file.time ? ", which begins at " + moment(file.time) : ""));
    const goLink = (number, time) => // without a link if a filter left out what it did
      (model.rows[number].begin > model.rows[number].end ? model.goName(number) : this.link(model.goName(number), () => app.goTo(number, time)));
    if (slice.size > 1) {
      title += ": " + slice.size + " slices, each shorter than a pixel";
      if (row.kind === KIND.GO) slice.times.forEach((time, c) => { if (time) fact(STATES[c], duration(time)); });
      fact("", this.link("zoom in", () => app.fit(slice)));
    } else if (row.kind === KIND.GO) {
      const detail = model.details[slice.what];
      title = model.goName(slice.row) + ": " + STATES[detail.colour];
      stack = detail.stack;
      if (detail.reason || slice.colour > SYSCALL) fact("why", detail.reason || "unknown: it began before this trace");
      if (slice.who && slice.colour > SYSCALL) fact("ended by", goLink(slice.who - 1, slice.end));
      else if (slice.colour > SYSCALL) fact("ended by", "unknown: no goroutine, or the end of the trace");
      if (file.trace && slice.who && [SYNCHRONIZATION, CHANNEL].includes(slice.colour)) held = make("div"), this.fillHeld(held, file, row, slice);
      if (slice.who && slice.colour === RUNNING) fact("on", model.title(model.rows[slice.who - 1]));
      if (slice.colour === RUNNING) fact("", this.stoppedIn(file, slice.begin, slice.end, "the world was stopped for "));
      // Slices without a stack are of any function, so of these the row's function counts.
      const same = stack ? detail : model.functionOf(row).states[slice.colour];
      fact(stack ? "all with this stack" : "all of this function", same.count + ", " + duration(same.total) + ", longest " + duration(same.longest) +
        (same.unended ? ", " + same.unended + " not ended" : ""));
      if (row.parent >= 0) fact("created by", goLink(row.parent, row.begin));
      fact("", this.link("follow back (B)", () => app.followBack()));
      if (file.trace) fact("", this.pathLink(file, "--go", String(row.id)));
    } else if (row.kind <= KIND.THREAD) {
      title += slice.who ? ": " + model.goName(slice.who - 1) : "";
      if (slice.who) fact("goroutine", goLink(slice.who - 1, (slice.begin + slice.end) / 2));
    } else if (row.kind === KIND.REGION) {
      title = "region " + model.label(row, slice);
      fact("of", goLink(row.parent, (slice.begin + slice.end) / 2));
      if (slice.who) fact("task", this.taskLink(slice.who - 1));
    } else if (row.kind === KIND.TASK) {
      const place = model.taskPlace(slice), parent = model.tasks[place]?.parent;
      title = "task " + model.taskId(slice) + (row.name ? ": " + row.name : "");
      if (parent >= 0) fact("part of", this.taskLink(parent));
      if (file.trace) fact("", this.pathLink(file, "--task", String(model.taskId(slice))));
      parts = make("div");
      if (place !== undefined) this.fillParts(parts, place, slice);
      if (file.trace) spent = make("div"), this.fillSpent(spent, file, String(model.taskId(slice)));
    } else {
      title += ": " + model.label(row, slice);
    }
    this.show(make("h2", null, title), make("div", {class: "columns"},
      make("table", null, make("tbody", null, ...facts.map(([name, value]) => make("tr", null, make("td", {class: "place"}, name), make("td", null, value))))),
      held, this.stackList(stack, slice.colour === RUNNABLE ? "Became runnable at" : "Stack"), spent, parts, row.kind === KIND.GO && row.stack ? make("div", null, make("h2", null, "Created at"), ...data.stack(row.stack).map((f) =>
        make("div", null, f.function, " ", make("span", {class: "place"}, f.file ? f.file + ":" + f.line : "")))) : null));
  }

  // What a row's label stands for: its life, its time by state, and what it did longest.
  showRow(row) {
    const {app} = this, {model, data} = app, of = this.shownRow = row, facts = make("div"), longest = make("div");
    const creator = row.parent >= 0 && make("div", null, "created by ", this.link(model.goName(row.parent), () => app.goTo(row.parent, row.begin)));
    this.show(make("h2", null, model.lineText({type: "row", row, nested: row.kind === KIND.REGION}) + model.suffix(row.file)),
      make("div", null, "from " + moment(row.begin) + " to " + moment(row.end) + ": " + duration(row.end - row.begin), " · ", this.link("fit", () => app.fit(row))), creator,
      row.kind === KIND.GO && row.file.trace && make("div", null, this.pathLink(row.file, "--go", String(row.id))), facts, longest, this.stackList(row.stack, "Created at"));
    const current = () => of === this.shownRow && facts.isConnected;
    this.ask();
    if (row.kind === KIND.GO) this.fillStates(facts, row);
    this.fillLongest(longest, row, current);
  }
  // The time of a goroutine by state and by what it waited for, as gotrace info tells it.
  fillStates(section, row) {
    const {file, begin, end} = row, {theme} = this.app.painter;
    if (!this.canAsk(section, file, "info --go " + row.id, begin, end)) return;
    this.askFor(section, [file], "time by state", end - begin, async (signal, progress) => {
      const {functions: [of], waits} = await file.trace.sums(begin - file.time, end - file.time, ["--go", String(row.id)], signal, progress(0));
      if (!of) return section.replaceChildren(); // no more than its creation is in the trace
      const shares = [[STATES[RUNNING], of.running - of.stopped, theme.states[RUNNING]], ["the world was stopped", of.stopped, theme.collector], ["CPU time, of that", of.cpu, theme.counter],
        [of.samples + " CPU samples, of that, at 100 a second", (of.samples || 0) * SAMPLE, theme.counter],
        ["runnable", of.runnable, theme.states[RUNNABLE]], ["in system calls", of.syscall + of.syscall_blocked, theme.states[SYSCALL]],
        ...waits.map((wait) => [wait.class + (wait.place ? " in " + plain(wait.place) : ""), wait.blocked_total, theme.states.at(-1)])].filter(([, time]) => time);
      return section.replaceChildren(make("table", {class: "shares", "aria-label": "time by state"}, make("tbody", null, ...shares.slice(0, 20).map(([text, time, hue]) => this.share(text, time, end - begin || 1, hue)))));
    });
  }
  // A row of a table that tells how much of a whole something is.
  share(text, time, whole, hue) {
    const bar = make("i");
    bar.style.width = 100 * time / whole + "%", bar.style.background = hue;
    return make("tr", null, make("td", {class: "number"}, duration(time)), make("td", {class: "number"}, (100 * time / whole).toFixed(1) + " %"), make("td", null, text, bar));
  }
  // What a row did longest. A slice is in the coarsest level in which it is long enough to be seen alone.
  async fillLongest(section, row, current) {
    const {app} = this, {model, data} = app;
    let found = [], most = MOST_LOADED; // slices to look through
    for (let level = LEVELS - 1; level >= 0 && found.length < MOST_LONGEST && most > 0; level--)
      for (const chunk of data.chunks) {
        if (chunk.merged || chunk.level !== level || chunk.file !== row.file || chunk.begin > row.end || chunk.end < row.begin) continue;
        await chunk.load();
        if (!current()) return;
        most -= chunk.count;
        chunk.used = performance.now();
        const span = chunk.slices.index.get(row.number);
        for (let i = span?.from; i < span?.to; i++) found.push(sliceOf(row.number, chunk.slices, i));
        data.forget();
      }
    if (!current() || !found.length) return;
    const length = ({begin, end}) => end - begin, cut = found.length > MOST_LONGEST || most <= 0 || data.finest[1] > 0;
    found = found.sort((a, b) => length(b) - length(a)).slice(0, MOST_LONGEST);
    const columns = [{title: "begins", value: (s) => s.begin, number: true, text: moment}, timeColumn("lasts", length), {title: "what", value: (s) => (row.kind === KIND.GO ? STATES[s.colour] + (model.label(row, s) === STATES[s.colour] ? "" : ", " + model.label(row, s)) : model.label(row, s))}];
    const table = makeTable("longest", columns, found, (s) => { app.centre(s.begin); app.select(s); }, 1);
    table.className = "places";
    section.replaceChildren(make("h2", null, cut ? "The longest" : "All"), table);
  }

  showMark(mark) {
    this.show(make("h2", null, mark.log ? "Log" + (mark.name ? " " + mark.name : "") : "CPU sample"), make("div", null, mark.value),
      make("div", {class: "place"}, "at " + moment(mark.time) + this.app.model.suffix(this.app.model.fileOf(mark.row)) + (mark.row < 0 ? "" : " in "),
        mark.row >= 0 ? this.link(this.app.model.goName(mark.row), () => this.app.goTo(mark.row, mark.time)) : ""),
      mark.task >= 0 ? make("div", {class: "place"}, "for ", this.taskLink(mark.task)) : null, mark.log ? null : this.stackList(mark.stack));
  }

  showRange(range) {
    const {view, data} = this.app, earlier = view.compared !== range && view.compared, sums = make("div"), compared = make("div");
    const compare = () => { view.compared = range; this.showRange(range); };
    this.ask();
    this.show(make("h2", null, "From " + moment(range.from) + " to " + moment(range.to)),
      make("div", null, duration(range.to - range.from) + " · ", this.link("zoom (F)", () => this.app.setView(range.from, range.to)),
        ...(this.app.openPart && !this.app.data.outline ? [" · ", this.link("open alone", () => this.app.openPart(range.from, range.to))] : []),
        ...(data.files.some((file) => !file.trace) ? [] : [" · ", earlier ? this.link("no comparison", () => { view.compared = null; this.showRange(range); }) : this.link(view.compared ? "now select the other time" : "compare with another time", compare)])),
      sums, compared);
    this.fillSums(sums, range);
    if (earlier) this.fillTimes(compared, earlier, range);
  }
  // What happened in a time, as gotrace info adds it up: by function, and waits by class, place and holder.
  fillSums(section, {from, to}) {
    const files = this.app.data.files.filter((file) => file.time + file.begin <= to && file.time + file.end >= from);
    if (!files.length || !this.canAsk(section, files[0], "info", from, to)) return;
    this.askFor(section, files, "add up what happened", to - from, async (signal, progress) => {
      const whole = (file) => from <= file.time + file.begin && to >= file.time + file.end;
      const all = await atOnce(files.map((file, i) => () => whole(file) && file.trace.told || file.trace.sums(from - file.time, to - file.time, [], signal, progress(i))));
      const paused = files.map((file, i) => [file, all[i].collector.pauses_total]).filter(([, time]) => time);
      section.replaceChildren(...paused.map(([file, time]) => make("div", null, "the world" + this.app.model.suffix(file) + " was stopped for " + duration(time))),
        ...this.sumTables((table) => all.flatMap((sums, i) => sums[table].map((row) => ({file: files[i], ...row})))));
    });
  }
  // Who had what a goroutine waited for when the wait began, and what that goroutine did meanwhile, as gotrace info tells of this wait.
  fillHeld(section, file, row, {begin, end}) {
    const {model} = this.app;
    this.askFor(section, [file], "who had it", end - begin, async (signal, progress) => {
      const {holders: [found]} = await file.trace.sums(begin - file.time, end - file.time, ["--go=" + row.id], signal, progress(0));
      if (!found) return section.replaceChildren();
      const {holder, goroutine, meanwhile, meanwhile_time: time} = found, of = model.rows.find((r) => r.file === file && r.kind === KIND.GO && String(r.id) === String(goroutine));
      section.replaceChildren(make("h2", null, "Who had it when the wait began"), make("div", null, of ? this.link(model.goName(of.number), () => this.goToGo(file, goroutine, begin - file.time, begin - file.time + 1)) : "", " in " + plain(holder)),
        meanwhile ? make("div", {class: "place"}, "meanwhile " + plain(meanwhile) + " for " + duration(time)) : "");
    });
  }
  // Whether the page has a reader to ask. If not, a section tells which command does it.
  canAsk(section, file, command, from, to) {
    if (file?.trace) return true;
    const [first, last] = [from, to].map((time) => Math.round(time - (file?.time || 0)) + "ns");
    section.replaceChildren(make("div", {class: "place"}, "This page has pictures, and no reader to add up what happened. This does: gotrace " + command + " --from " + first + " --to " + last + " FILE"));
    return false;
  }
  // `rows`: those of a table of gotrace info.
  sumTables(rows) {
    const functions = rows("functions");
    if (!functions.length) return [make("div", {class: "place"}, "no goroutine was there")];
    const file = this.fileColumn(), time = (title, value) => timeColumn(title, value), some = (name) => functions.some((f) => f[name]);
    const name = {title: "function", value: (f) => plain(f.name) || "(unknown)"}, called = (f) => f.syscall + f.syscall_blocked;
    const stopped = some("stopped") ? [time("the world was stopped", (f) => f.stopped)] : [], cpu = some("cpu") ? [time("CPU time", (f) => f.cpu)] : [];
    const sampled = some("samples") ? [{title: "CPU samples", value: (f) => f.samples || 0, number: true}] : [];
    const running = [time(STATES[RUNNING], (f) => f.running - f.stopped), ...cpu, ...sampled], runnable = time("runnable", (f) => f.runnable);
    const few = [name, ...file, ...running, runnable, time("waiting", (f) => called(f) + f.blocked)];
    const every = [name, {title: "goroutines", value: (f) => f.count, number: true}, ...file, ...running, ...stopped, runnable, time("in system calls", called), time("blocked", (f) => f.blocked),
      ...[["median", "p50"], ["99 %", "p99"], ["longest", "longest"]].map(([title, of]) => time("runnable, " + title, (f) => f["runnable_" + of] || 0))];
    const chosen = (f) => this.app.search("=" + plain(f.name), f.file), all = make("div", {class: "wide"}, makeTable("time by function", few, functions, chosen, 1 + file.length));
    const more = this.link("all columns", () => { all.replaceChildren(makeTable("time by function", every, functions, chosen, 2 + file.length)); more.remove(); });
    all.firstChild.className = "places";
    return [all, more, ...this.waitTables(rows)];
  }
  // What was waited for, and who had it. A row leads to the longest of the waits that it tells of.
  waitTables(rows) {
    const file = this.fileColumn();
    const table = (title, name, items, of = "blocked") => {
      if (!items.length) return [];
      const longest = (r) => this.goToGo(r.file, r[of + "_longest_goroutine"], r[of + "_longest_at"], r[of + "_longest_at"] + 1);
      const made = makeTable(title, [{title: "what", value: name}, ...file, {title: "count", value: (r) => r[of + "_count"], number: true}, timeColumn("total", (r) => r[of + "_total"])], items, longest, 2 + file.length);
      made.className = "places";
      return [make("h2", null, title), make("div", {class: "place"}, "a click leads to the longest"), make("div", {class: "wide"}, made)];
    };
    const wait = (r) => r.class + (r.place ? " in " + plain(r.place) : "");
    return [...table("Waits, by class and place", wait, rows("waits")), ...table("Waits, by who had it", (r) => wait(r) + ": " + plain(r.holder), rows("holders")),
      ...table("Stopped world, by whom", (r) => plain(r.place) + ", " + plain(r.reason), rows("stops").filter((r) => r.pauses_total), "pauses")];
  }
  isSampled(file) { return this.app.model.marks.some((mark) => !mark.log && this.app.model.fileOf(mark.row) === file); }
  // How much of the time in which goroutines ran has CPU samples. `functions`: rows of gotrace info.
  sampledText(functions) {
    const sum = (of) => functions.reduce((all, f) => all + (f[of] || 0), 0), count = sum("samples");
    return make("div", null, "in its regions, " + duration(sum("running") - sum("stopped")) + " " + STATES[RUNNING] + ", with " + count + (count === 1 ? " CPU sample" : " CPU samples") + ": at 100 a second, " + duration(count * SAMPLE));
  }
  // Selects what a goroutine of a trace did at a time, in the middle of a stretch.
  goToGo(file, go, begin, end) {
    const [from, to] = [begin, end].map((time) => file.time + time);
    const row = this.app.model.rows.find((r) => r.file === file && r.kind === KIND.GO && String(r.id) === String(go) && r.begin <= from && r.end >= from);
    if (row) this.app.goTo(row.number, (from + to) / 2);
  }

  // The summary of the whole trace, by function.
  fillSummary(section) {
    const {model, data} = this.app;
    // What gotrace info has told of each trace, by function; nothing yet, or of a page of pictures.
    const told = data.files.filter((file) => file.trace?.told), rows = (table) => told.flatMap((file) => file.trace.told[table].map((row) => ({file, ...row})));
    const named = new Map(rows("functions").map((f) => [f.file.number + plain(f.name), f])), of = (f, what) => named.get(f.file.number + f.name)?.[what] || 0;
    const some = (what) => model.functions.some((f) => of(f, what));
    const blocked = (f) => f.states.slice(3).reduce((sum, s) => sum + s.total, 0);
    const columns = [{title: "function", value: (f) => f.name || "(unknown)"}, {title: "goroutines", value: (f) => f.goroutines, number: true}, ...this.fileColumn(),
      timeColumn(STATES[RUNNING], (f) => f.states[RUNNING].total - of(f, "stopped")), ...(some("cpu") ? [timeColumn("CPU time", (f) => of(f, "cpu"))] : []),
      ...(some("samples") ? [{title: "CPU samples", value: (f) => of(f, "samples"), number: true}] : []), ...(some("stopped") ? [timeColumn("world stopped", (f) => of(f, "stopped"))] : []),
      timeColumn(STATES[RUNNABLE], (f) => f.states[RUNNABLE].total),
      timeColumn("longest runnable", (f) => f.states[RUNNABLE].longest),
      {title: "times runnable: 1 µs to 1 s", value: (f) => f.states[RUNNABLE].count, number: true, text: (v, f) => bars(f.states[RUNNABLE].buckets, (low, high) => this.showRunnable(f, low, high))},
      timeColumn("in system calls", (f) => f.states[SYSCALL].total), timeColumn("blocked", blocked),
      ...[3, 4, 5, 6, 7].map((c) => timeColumn(STATES[c], (f) => f.states[c].total)).filter((column, i) => model.functions.some((f) => f.states[i + 3].total))];
    const waits = model.details.filter((d) => d.colour > SYSCALL && d.count);
    const top = (number) => {
      const frames = data.stack(number), frame = frames.find((f) => !/^(runtime|internal)[./]/.test(f.function)) || frames[0];
      return !frame ? "" : frame.function + (frame.file ? "  " + frame.file.replace(/^.*\//, "") + ":" + frame.line : "");
    };
    const comparison = make("div"), singles = make("div");
    section.replaceChildren(
      make("h2", null, "By function"), make("div", {class: "many"}, makeTable("by function", columns, model.functions, (f) => this.app.search("=" + f.name, f.file), 2 + this.fileColumn().length)),
      ...this.waitTables(rows), make("h2", null, "Waits, by reason and place"),
      makeTable("waits, by reason and place", [{title: "reason", value: (d) => d.reason || STATES[d.colour]}, {title: "where", value: (d) => top(d.stack)}, ...this.fileColumn(),
        {title: "count", value: (d) => d.count, number: true}, timeColumn("total", (d) => d.total), timeColumn("longest", (d) => d.longest),
        ...(waits.some((d) => d.unended) ? [{title: "not ended", value: (d) => d.unended, number: true, text: (v) => (v ? String(v) : "")}] : [])],
      waits, (d) => this.app.showSlices(KIND.GO, (what) => model.details[what] === d, d.reason || STATES[d.colour], d.count), 3 + this.fileColumn().length),
      ...[[KIND.TASK, "Tasks, by name"], [KIND.REGION, "Regions, by name"], [KIND.GC, "Collections"], [KIND.STW, "Stopped worlds, by reason"]].flatMap(([kind, title]) => {
        const spans = model.spans.filter((span) => span.kind === kind);
        return spans.length ? [make("h2", null, title), makeTable(title, [{title: "name", value: (s) => s.name || (kind === KIND.GC ? "collection" : "(no name)")}, ...this.fileColumn(),
          {title: "count", value: (s) => s.count, number: true}, timeColumn("total", (s) => s.total),
          {title: "times: 1 µs to 1 s", value: (s) => s.count, number: true, text: (v, s) => bars(s.buckets, (low, high) => this.showSpans(s, low, high))}, timeColumn("longest", (s) => s.longest)],
        spans, (s) => this.showSpans(s), 2 + this.fileColumn().length)] : [];
      }), comparison, singles);
    this.fillComparison(comparison);
    this.fillSingles(singles);
  }
  // A table of all goroutines, with their time by state, and one of all tasks: from the picture, since a page needs no more of them
  // than it has rows for, while gotrace info --details lists all that there are.
  async fillSingles(section) {
    const {app} = this, {model, data} = app, sums = new Map();
    for (const {slices} of await data.load(data.levelFor((data.end - data.begin) / 1000), data.begin, data.end))
      for (const [number, span] of slices.index) {
        if (model.rows[number].kind !== KIND.GO) continue;
        if (!sums.has(number)) sums.set(number, new Float64Array(COLOURS));
        for (let i = span.from; i < span.to; i++) slices.times(i, this.times.fill(0)), this.times.forEach((time, c) => { sums.get(number)[c] += time; });
      }
    const goes = [...sums].map(([number, times]) => ({row: model.rows[number], times, blocked: times.slice(3).reduce((a, b) => a + b)}));
    const begin = (value) => ({title: "begins", value, number: true, text: moment});
    section.replaceChildren(...[
      make("h2", null, "Goroutines"), data.files.some((file) => file.stoppedRows.length) && make("div", {class: "place"}, "what ran while the world was stopped counts as running here"), makeTable("goroutines", [{title: "goroutine", value: (g) => Number(g.row.id), number: true, text: (v, g) => "G" + g.row.id}, {title: "function", value: (g) => g.row.name || "(unknown)"}, ...this.fileColumn((g) => g.row.file),
        begin((g) => g.row.begin), timeColumn("lasts", (g) => g.row.end - g.row.begin),
        ...[RUNNING, RUNNABLE, SYSCALL].map((c) => timeColumn(STATES[c], (g) => g.times[c])), timeColumn("blocked", (g) => g.blocked)],
      goes, (g) => app.goTo(g.row.number, g.row.begin), 4 + this.fileColumn().length),
      ...(model.tasks.length ? [make("h2", null, "Tasks"), makeTable("tasks", [{title: "task", value: (t) => Number(t.id), number: true, text: (v, t) => String(t.id)}, {title: "name", value: (t) => model.rows[t.row].name || "(no name)"}, ...this.fileColumn((t) => model.fileOf(t.row)),
        begin((t) => t.begin), timeColumn("lasts", (t) => t.end - t.begin)],
      model.tasks, (t) => app.goTo(t.row, (t.begin + t.end) / 2), 3 + this.fileColumn().length)] : [])].filter(Boolean));
  }
  // The results of a search, each of which leads there.
  showResults(results, total) {
    const box = document.getElementById("results"), {app} = this;
    box.hidden = !results?.length;
    if (box.hidden) return box.replaceChildren();
    const columns = [{title: "time", value: (r) => r.time, number: true, text: moment}, {title: total.toLocaleString("en") + (total === 1 ? " result" : " results"), value: (r) => r.what}];
    const long = results.some((r) => r.length);
    if (long) columns.push(timeColumn("length", (r) => r.length));
    columns.push(...this.fileColumn((r) => app.model.fileOf(r.row)));
    box.replaceChildren(makeTable("results", columns, results, (r) => app.goToResult(r), long && app.resultsBy === "longest " ? 2 : 0, long && app.resultsBy === "longest "));
  }
  // What a function's goroutines were runnable for, of some length, longest first.
  showRunnable(of, low, high) {
    const {model} = this.app;
    return this.app.showSlices(KIND.GO, (what, length, row) => model.details[what].colour === RUNNABLE && length >= low && length < high && model.rows[row].file === of.file && model.rows[row].name === of.name, "runnable", 0);
  }
  // Two kinds of tasks or regions beside each other.
  fillComparison(section) {
    const {model} = this.app, spans = model.spans.filter((span) => (span.kind === KIND.TASK || span.kind === KIND.REGION) && span.count).sort((a, b) => b.kind - a.kind || b.total - a.total);
    if (spans.length < 2) return;
    const title = (span) => (span.kind === KIND.TASK ? "task " : "region ") + (span.name || "(no name)") + model.suffix(span.file), box = make("div");
    // At first the longest two; of several traces, what two of them have.
    const shown = spans.slice(0, 500), other = (span) => shown.findIndex((s) => s.file !== span.file && s.kind === span.kind && s.name === span.name);
    const one = Math.max(0, shown.findIndex((span) => other(span) >= 0)), first = [one, Math.max(one ? 0 : 1, other(shown[one]))];
    const choices = [0, 1].map((chosen) => this.choice(chosen ? "compared with" : "compare", shown.map(title), first[chosen], () => draw()));
    const draw = () => this.drawComparison(box, choices.map((choice) => shown[choice.value]).map((span) => ({...span, ...this.toldOf(span), title: title(span), lengths: this.lengthsOf(span)})));
    section.append(make("h2", null, "Compare"), make("div", {class: "kinds"}, choices[0], " with ", choices[1]), box);
    draw();
  }
  choice(label, titles, chosen, change) {
    return make("select", {"aria-label": label, change}, ...titles.map((title, k) => make("option", {value: k, ...(k === chosen && {selected: ""})}, title)));
  }
  // The medians and tails of regions that gotrace info has told, within 0.4 %, if it counts the same ones.
  toldOf({file, kind, name, count}) {
    const of = kind === KIND.REGION && file.trace?.told?.regions.find((region) => plain(region.name) === name && region.duration_count === count);
    return of ? {exact: false, p50: of.duration_p50, p90: of.duration_p90, p99: of.duration_p99} : {};
  }
  // How long each task of a kind lasted, sorted; null: the page does not have all of them.
  lengthsOf(span) {
    const {model} = this.app;
    if (span.kind !== KIND.TASK) return null;
    const lengths = model.tasks.filter(({row}) => model.rows[row].file === span.file && model.rows[row].name === span.name).map((task) => model.length(task)).sort((a, b) => a - b);
    return lengths.length === span.count ? lengths : null;
  }
  // Two distributions {title, count, longest, buckets}: how often something lasts how long, medians and tails. Those are exact
  // if there are {lengths} or, as view_lengths.c tells them, {p50, p90, p99, exact}; else they are those of a bucket.
  drawComparison(box, two) {
    const lines = [["count", (of) => of.count.toLocaleString("en")], ["median", (of) => this.lengthAt(of, 50)], ["90 %", (of) => this.lengthAt(of, 90)], ["99 %", (of) => this.lengthAt(of, 99)],
      ["longest", (of) => (of.count ? duration(of.longest) : "")]];
    box.replaceChildren(this.drawDistributions(two, Math.max(200, Math.min(720, box.clientWidth))), make("table", {"aria-label": "medians and tails"},
      make("thead", null, make("tr", null, make("th", {scope: "col"}, ""), ...two.map((of, k) => make("th", {scope: "col", class: "number"}, (k ? "─ " : "■ ") + of.title)))),
      make("tbody", null, ...lines.map(([title, value]) => make("tr", null, make("td", null, title), ...two.map((of) => make("td", {class: "number"}, value(of))))))));
  }
  // The length that so much of them does not exceed.
  lengthAt({count, longest, buckets, lengths, exact, ...of}, percent) {
    if (!count) return "";
    if (lengths) return duration(percentile(lengths, percent / 100));
    if (exact !== undefined) return (exact ? "" : "≈ ") + duration(of["p" + percent]);
    let left = Math.max(1, Math.ceil(percent / 100 * count));
    const [bucket] = buckets.find(([, of]) => (left -= of) <= 0) || [0];
    return "≤ " + duration(Math.min(edgeOf(bucket + 1), longest));
  }

  // Two selected times beside each other: what begins in each of them, by state, task or region.
  fillTimes(section, earlier, later) {
    const fill = async (signal, progress) => {
      const parts = new Map(), told = (k) => (i) => (part) => { // a trace is read for each of the times
        parts.set([k, i].join(), part);
        progress(i)((part + (parts.get([1 - k, i].join()) || 0)) / 2);
      };
      const both = await Promise.all([earlier, later].map((range, k) => this.lengthsIn(range, signal, told(k))));
      const sum = (kind) => both.reduce((all, found) => all + (found.get(kind)?.total || 0), 0), inBoth = (kind) => both.every((found) => found.has(kind));
      const kinds = [...new Set(both.flatMap((found) => [...found.keys()]))].sort((a, b) => inBoth(b) - inBoth(a) || sum(b) - sum(a)).slice(0, 500);
      if (!kinds.length) return section.replaceChildren(make("div", {class: "place"}, "nothing begins in these times"));
      const box = make("div"), choice = this.choice("compare", kinds, 0, () => draw());
      const draw = () => this.drawComparison(box, both.map((found, k) => ({count: 0, buckets: [], ...found.get(kinds[choice.value]), title: "from " + moment([earlier, later][k].from)})));
      section.replaceChildren(make("h2", null, "Compared with the time from " + moment(earlier.from) + " to " + moment(earlier.to)), make("div", {class: "kinds"}, choice), box);
      return draw();
    };
    this.askFor(section, this.app.data.files, "compare both times", earlier.to - earlier.from + later.to - later.from, fill);
  }
  // How long all that begins in a time lasts, by what it is, as the tool tells.
  async lengthsIn({from, to}, signal, progress) {
    const found = new Map(), title = ({kind, name}) => (kind === "state" ? STATES[name] : kind + " " + (plain(name) || "(no name)"));
    const {files} = this.app.data, all = await atOnce(files.map((file, i) => () => file.trace.lengths(from - file.time, to - file.time, signal, progress(i))));
    all.forEach((kinds, i) => kinds.forEach((of) => found.set(title(of) + this.app.model.suffix(files[i]), of)));
    return found;
  }
  // How often each of two lasts how long: the first as an area, the second as a line.
  drawDistributions(two, width) {
    const height = 150, ratio = window.devicePixelRatio || 1, {theme} = this.app.painter;
    const canvas = make("canvas", {width: width * ratio, height: height * ratio, role: "img", "aria-label": "how often they last how long; the table below has the medians and tails"}), c = canvas.getContext("2d");
    const used = two.flatMap((span) => span.buckets.map(([bucket]) => bucket)), low = Math.min(...used), high = Math.max(...used) + 1, step = width / Math.max(1, high - low);
    const shares = two.map((span) => { const list = new Array(high - low).fill(0); for (const [bucket, count] of span.buckets) list[bucket - low] = count / span.count; return list; });
    const most = Math.max(...shares.flat()), y = (share) => height - 18 - share / most * (height - 24);
    canvas.style.width = width + "px", canvas.style.height = height + "px";
    c.scale(ratio, ratio);
    shares.forEach((list, k) => {
      c.beginPath();
      c.moveTo(0, y(0));
      list.forEach((share, i) => { c.lineTo(i * step, y(share)); c.lineTo((i + 1) * step, y(share)); });
      c.lineTo(width, y(0));
      c.fillStyle = theme.accent, c.strokeStyle = theme.text, c.lineWidth = 2;
      c.globalAlpha = k ? 1 : 0.55;
      if (k) c.stroke();
      else c.fill();
    });
    c.globalAlpha = 1;
    c.fillStyle = theme.faint;
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    for (let i = 0, last = -100; i < high - low; i++) {
      if (i * step - last < 90 || width - i * step < 70) continue;
      last = i * step;
      c.fillRect(last, height - 18, 1, 4);
      c.fillText(duration(edgeOf(low + i)), last + 3, height - 4);
    }
    return canvas;
  }
  showSpans(span, low = 0, high = Infinity) {
    const {app} = this, {model, data} = app, fits = (length) => length >= low && length < high;
    if (span.kind === KIND.TASK) {
      app.show("timeline");
      const found = app.startSearch(LONGEST);
      for (const task of model.tasks)
        if (model.rows[task.row].file === span.file && model.rows[task.row].name === span.name && fits(task.end - task.begin)) found.add({row: task.row, time: task.begin, what: "task " + task.id, select: true, length: model.length(task)});
      return app.showResults(found, high < Infinity ? 0 : span.count);
    }
    return app.showSlices(span.kind, (what, length, row) => model.rows[row].file === span.file && (span.kind === KIND.GC || data.texts[what] === span.name) && fits(length), span.name || "collection", high < Infinity ? 0 : span.count);
  }

  // Time of waits and system calls, and CPU samples, by stack: of all or of a time.
  fillFlame(section) {
    const {app} = this, {data, view} = app, kinds = this.flameKinds();
    const times = [["all", data], ["what the picture shows", view], ...(view.range ? [["the selected time", view.range]] : [])];
    const content = make("div"), title = make("div", {class: "place"});
    const buttons = kinds.map(([name], i) => make("button", {click: () => choose(i)}, name));
    const find = make("input", {type: "search", placeholder: "find functions", "aria-label": "find functions in the flame graph", input: () => { this.flameFind = find.value && matcher(find.value); this.redrawFlame?.(); }});
    const when = this.choice("of which time", times.map(([name]) => name), Math.max(0, times.findIndex(([name]) => name === this.flameTime)), () => { this.flameTime = times[when.value][0]; choose(this.flameKind); });
    const choose = (chosen) => {
      this.flameKind = chosen, this.flameRoot = null, this.redrawFlame = null;
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", i === chosen));
      content.replaceChildren(), title.textContent = "";
      this.ask();
      this.fillTree(content, title, kinds[chosen], when ? times[when.value][1] : data);
    };
    this.flameFind = null;
    section.replaceChildren(make("div", {class: "kinds"}, ...buttons, ...(data.files.every((file) => file.trace) ? [" of ", when] : []), find, "a click on a box shows it alone, one on the first box all again"), title, content);
    choose(this.flameKind ?? Math.max(0, kinds.findIndex(([, , colours]) => this.app.model.details.some((d) => colours.includes(d.colour) && d.total))));
  }
  // What flame graphs there are: a name, how gotrace profile calls it, the colours of its slices, and what its values are.
  flameKinds() {
    const sampled = this.app.data.files.some((file) => file.trace) && this.app.model.marks.some((mark) => !mark.log);
    return [["synchronization, channels", "--sync", [3, 5], duration], ["network", "--network", [4], duration], ["system calls", "--syscall", [SYSCALL], duration], ["scheduling", "--scheduler", [RUNNABLE], duration],
      ["all waits", "--blocked", [3, 4, 5, 6, 7], duration], ...(sampled ? [["CPU samples", "--cpu", [], (count) => count.toLocaleString("en") + (count === 1 ? " sample" : " samples")]] : [])];
  }
  fillTree(content, title, [, kind, colours, text], {begin, end, from = begin, to = end}) {
    const {data, model} = this.app, files = data.files.filter((file) => file.time + file.begin <= to && file.time + file.end >= from);
    const draw = (stacks) => { title.textContent = "", this.drawFlame(content, title, this.treeOf(stacks, text)); };
    // A page of pictures has the sums that were made with them, of all.
    if (!files.every((file) => file.trace)) return draw(model.details.filter((d) => colours.includes(d.colour) && d.total).map((d) => [d.file, data.stack(d.stack).reverse().map((f) => f.function), d.total]));
    return this.askFor(content, files, "draw the flame graph", to - from, async (signal, progress) => {
      const all = await atOnce(files.map((file, i) => () => file.trace.folded(kind, from - file.time, to - file.time, signal, progress(i))));
      draw(all.flatMap((lines, i) => lines.map((line) => { const at = line.lastIndexOf(" "); return [files[i], plain(line.slice(0, at)).split(";"), Number(line.slice(at + 1))]; })));
    });
  }
  // A tree of {name, value, children}, from stacks: {file, functions from the outermost on, value}. `text`: of a value.
  treeOf(stacks, text) {
    const root = {name: "all", value: 0, children: new Map(), text};
    for (const [file, functions, value] of stacks) {
      let node = root;
      node.value += value;
      for (const name of [...(this.app.data.several ? [file.title] : []), ...(functions.length ? functions : ["(unknown)"])]) {
        if (!node.children.has(name)) node.children.set(name, {name: name || "(unknown)", value: 0, children: new Map(), text});
        node = node.children.get(name);
        node.value += value;
      }
    }
    return root;
  }

  drawFlame(content, title, root) {
    const depth = (node) => 1 + Math.max(0, ...[...node.children.values()].map(depth));
    const width = Math.max(300, content.parentElement.clientWidth - 40), height = 19 * Math.min(200, depth(root)), ratio = window.devicePixelRatio || 1;
    const canvas = make("canvas", {width: width * ratio, height: height * ratio}), c = canvas.getContext("2d"), boxes = [];
    canvas.style.width = width + "px", canvas.style.height = height + "px";
    c.scale(ratio, ratio);
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    c.textBaseline = "middle";
    const theme = this.app.painter.theme, found = this.flameFind;
    // The value of what is found, below a box or in it.
    const foundIn = (node) => (found(node.name) ? node.value : [...node.children.values()].reduce((sum, child) => sum + foundIn(child), 0));
    this.redrawFlame = () => this.drawFlame(content, title, root);
    const draw = (node, x, y, size) => {
      let hash = 0;
      for (const letter of node.name) hash = hash * 31 + letter.charCodeAt(0) | 0;
      c.fillStyle = theme.names[(hash >>> 0) % 8];
      c.globalAlpha = found && !found(node.name) ? 0.25 : 1;
      c.fillRect(x, y, Math.max(0.5, size - 1), 18);
      c.globalAlpha = 1;
      boxes.push({node, x, y, size});
      c.fillStyle = textOn(rgba(theme.names[(hash >>> 0) % 8]));
      if (size > 30) c.save(), c.beginPath(), c.rect(x, y, size - 3, 18), c.clip(), c.fillText(node.name, x + 4, y + 9), c.restore();
      for (const child of [...node.children.values()].sort((a, b) => b.value - a.value)) {
        const part = root.value ? child.value / root.value * width : 0;
        if (part >= 0.5) draw(child, x, y + 19, part);
        x += part;
      }
    };
    draw(root, 0, 0, width);
    const boxAt = (event) => boxes.find((b) => event.offsetX >= b.x && event.offsetX < b.x + b.size && event.offsetY >= b.y && event.offsetY < b.y + 18);
    const tell = (box) => {
      title.textContent = box ? box.node.name + ": " + root.text(box.node.value) + " (" + (100 * box.node.value / (root.value || 1)).toFixed(1) + " %)" : " ";
    };
    const choose = (box) => this.drawFlame(content, title, box.node === root && this.flameRoot ? this.flameRoot : (this.flameRoot = this.flameRoot || root, box.node));
    canvas.addEventListener("mousemove", (event) => tell(boxAt(event)));
    canvas.addEventListener("click", (event) => { const box = boxAt(event); if (box) choose(box); });
    // Keyboard: left and right go to the previous and next box, Enter clicks on it.
    const cursor = make("div", {class: "cursor"}), keys = make("div", {class: "flame", tabindex: 0, "aria-label": "boxes by stack"}, canvas, cursor);
    let current = 0;
    const point = () => {
      const {x, y, size} = boxes[current];
      Object.assign(cursor.style, {left: x + "px", top: y + "px", width: Math.max(3, size - 1) + "px"});
      tell(boxes[current]);
    };
    keys.addEventListener("keydown", (event) => {
      const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (by) current = Math.max(0, Math.min(boxes.length - 1, current + by)), point();
      else if (event.key === "Enter") choose(boxes[current]), content.firstChild.focus();
      else return;
      event.preventDefault();
    });
    content.replaceChildren(keys);
    point();
    if (found) title.textContent = "found: " + root.text(foundIn(root)) + " of " + root.text(root.value) + " (" + (100 * foundIn(root) / (root.value || 1)).toFixed(1) + " %)";
  }
}

// Where a bucket of view.c begins, in nanoseconds: four for each power of 2.
const edgeOf = (bucket) => (bucket < 8 ? bucket : (bucket % 4 + 4) * 2 ** (Math.floor(bucket / 4) - 1));

// A histogram of times, from 1 us to 1 s: a bar for each factor of 4. A click on a bar lists its times.
function bars(buckets, list) {
  const counts = new Array(12).fill(0), low = (k) => (k ? 2 ** (8 + 2 * k) : 0), high = (k) => (k < 11 ? 2 ** (10 + 2 * k) : Infinity);
  for (const [bucket, count] of buckets) {
    const power = bucket < 8 ? Math.log2(bucket + 1) : Math.floor(bucket / 4) + 1;
    counts[Math.max(0, Math.min(11, Math.floor((power - 10) / 2) + 1))] += count;
  }
  const most = Math.max(1, ...counts);
  const box = make("span", {class: "bars", title: "from below 1 µs to above 1 s, each bar four times as long as the one before: " + counts.join(", ")});
  counts.forEach((count, k) => {
    const bar = make("b"), place = make("i", count && list && {title: count + " of " + duration(low(k)) + (k < 11 ? " to " + duration(high(k)) : " or more") + ": list them",
      click: (event) => { event.stopPropagation(); list(low(k), high(k)); }}, bar);
    bar.style.height = (count ? 2 + 24 * count / most : 0) + "px";
    box.append(place);
  });
  return box;
}
