// reader.js - opens a trace in the browser: the tool as WebAssembly, in a worker
//
// The page has the module and the worker's script, and perhaps traces. Otherwise files are chosen or dropped. Nothing
// leaves the computer: the page's policy forbids all connections, but to `gotrace view` that serves it.

// A message for whoever opened the trace. `partial`: what comes before the error can be shown, by --partial.
class Refused extends Error {
  constructor(message) {
    const advice = /(; |, )--partial keeps what comes before/;
    super(message.replace(advice, ""));
    this.partial = advice.test(message);
  }
}
class Ended extends Refused {
  constructor() { super("not asked for any more"); }
}

const FIREFOX = navigator.userAgent.includes("Firefox");

// Makes Firefox look for memory that is no longer used: while it reads 100 MB, it has 150 MB, otherwise 360.
function forget() {
  if (!FIREFOX) return;
  try {
    new ArrayBuffer(1 << 28); // bytes, never touched
  } catch { /* there is no room, and nothing to forget */ }
}

class Reader {
  // Null: the page has no reader, but pictures.
  static async find() {
    if (!document.getElementById("reader0")) return null;
    const reader = new Reader();
    reader.module = await WebAssembly.compile(await inflate("reader0"));
    reader.script = URL.createObjectURL(new Blob([await inflate("worker0")], {type: "text/javascript"}));
    return reader;
  }
  // One worker reads a trace. Others could only decode for it: a generation needs what was so before it. Decoding is about 11 % of the time
  // (natively, of 100 MB: twice the 0.32 s of gotrace check, of 5.7 s of gotrace view --data), so that at most it would be 1.13 times as fast;
  // that is calculated, not tried. What is wrong with the trace is found afterwards: a second reader beside this one needs its own memory.
  // Runs a command of the tool on a source. Returns its status, its output, what it reported, and what it took (see worker.js).
  // `signal`: ends it early.
  run({file, index}, words, progress, signal) {
    if (signal.aborted) return Promise.reject(new Ended());
    const worker = new Worker(this.script), {module} = this, pieces = [];
    return new Promise((resolve, reject) => {
      worker.onmessage = ({data}) => {
        if (signal.aborted) return;
        if (data.progress !== undefined) progress(data.progress, data.sketch);
        else if (data.piece) pieces.push(this.keep(data.piece));
        else resolve({...data, errors: data.errors.replaceAll("gotrace: /trace: ", "").replaceAll("/trace.gtx", "the index").replace(/^gotrace: /gm, "").trim()});
      };
      signal.addEventListener("abort", () => reject(new Ended()));
      worker.onerror = (event) => { event.preventDefault(); reject(new Refused(event.message || "the browser cannot start the reader")); };
      worker.postMessage({module, file, index, words});
    }).then(async (data) => ({...data, output: new Blob(await Promise.all(pieces))})).finally(() => { worker.terminate(); forget(); });
  }
  // Makes a blob of a piece of output: in a worker of its own, since Chromium copies it at once, which takes 100 ms. Firefox does that
  // elsewhere, and reads the parts of a blob that a worker made wrongly.
  keep(piece) {
    if (FIREFOX) {
      const response = new Response(piece); // a copy
      piece.buffer.transfer?.(0); // at once: on a busy machine it looks for garbage too late
      return response.blob().finally(forget);
    }
    const {port1: from, port2: to} = new MessageChannel();
    this.keeper ??= new Worker(this.script);
    return new Promise((resolve, reject) => {
      from.onmessage = ({data}) => { from.close(); if (data.blob) resolve(data.blob); else reject(new Refused(data.error)); };
      this.keeper.postMessage({piece, to}, [piece.buffer, to]);
    });
  }
}

const LEAST_LARGE = 1 << 23; // bytes; a smaller trace is read in less than half a second

// A file, which gzip may have compressed, or one that is served: {url, size}.
class Source {
  // `index`: as `file`, with which a part is read from near its beginning on; null: there is none yet.
  constructor(file, index = null) {
    Object.assign(this, {file, index, indexed: index !== null}); // indexed: it is made, or cannot be
  }
  unpack() { return this.unpacked ??= this.unpackFile(); }
  async unpackFile() {
    if (this.file.url) return;
    const start = new Uint8Array(await this.file.slice(0, 2).arrayBuffer());
    if (start[0] === 0x1f && start[1] === 0x8b)
      this.file = await new Response(this.file.stream().pipeThrough(new DecompressionStream("gzip"))).blob()
        .catch(() => { throw new Refused("the gzip file is broken"); });
  }
  get large() { return this.file.size >= LEAST_LARGE; }
  // What is true of no other file of the session; null: nothing is known of it.
  key() { return this.keyed ??= this.findKey(); } // before it is unpacked
  async findKey() {
    const {file} = this, part = 1 << 16;
    if (!file.lastModified) return null;
    const ends = await new Blob([file.slice(0, part), file.slice(-part)]).arrayBuffer();
    return [file.name, file.size, file.lastModified, hashOf(new Uint8Array(ends))].join("\n");
  }
  // Generations that follow each other, as a source of their own.
  part(at, size) {
    const {file} = this;
    return new Source(file.url ? {url: file.url, size: HEADER + size, skipped: at - HEADER} : new Blob([file.slice(0, HEADER), file.slice(at, at + size)]));
  }
  // Makes an index of a large trace, in memory. Whatever cannot have one stays without.
  async makeIndex(reader, progress, signal) {
    if (this.large) {
      const {status, output, errors} = await reader.run(this, ["index", "--index", "-", "/trace"], progress, signal);
      if (!status && !errors) this.index = output;
    }
    this.indexed = true;
  }
}

// A trace of a source. `words`: options of gotrace view, for a part of it.
class Trace {
  // `note`: what the page says of it.
  constructor(reader, source, name, words, note) {
    Object.assign(this, {reader, source, name, words, note, took: {read: 0, memory: 0}}); // took: bytes of the file, and at most of memory
  }
  get file() { return this.source.file; }
  get index() { return this.source.index; }
  async run(words, progress, signal) {
    const {read, memory, ...result} = await this.reader.run(this.source, words, progress, signal);
    this.took = {read: this.took.read + read, memory: Math.max(this.took.memory, memory)};
    return result;
  }
  async read(progress, signal) {
    await this.source.unpack();
    const {status, output, errors} = await this.run(["view", ...this.words, "--data", "-o", "-", "/trace"], progress, signal);
    if (status) throw new Refused(errors || "the tool failed with status " + status);
    const data = await FileData.ofStream(output);
    return Object.assign(data, {name: this.name, trace: this, size: output.size, errors: [this.note, errors].filter(Boolean).join("\n")});
  }
  // What a command that writes text says of the trace; of a broken one, also of what comes before the error.
  async ask(words, signal, progress = () => {}) {
    const {output, errors} = await this.run([...words, "/trace"], progress, signal);
    if (!output.size) throw new Refused(errors);
    return output.text();
  }
  // Words of a command that says of the shown part what the path is.
  path(...words) { return ["path", ...this.words.filter((word) => /^--(from|to)=|^--(lenient|partial)$/.test(word)), ...words]; }
  // What is wrong, which is asked only once. `told`: all that gotrace info has told of what is shown.
  async findings(signal) {
    const words = this.words.filter((word) => word !== "--partial"); // info needs none
    this.told ??= JSON.parse(await this.ask(["info", ...words, "--json"], signal));
    return this.told.findings;
  }
  // How long what begins between two times of the trace lasts: see view_lengths.c.
  async lengths(from, to, signal, progress) {
    const ends = [from, to].map((time) => Math.max(0, Math.ceil(time)));
    return JSON.parse(await this.ask(["view", ...this.words, "--lengths", ends.join("-")], signal, progress));
  }
  // What happened between two times of the trace, added up. `words`: of a filter.
  async sums(from, to, words, signal, progress) {
    const part = this.wordsOf(Math.round(from), Math.round(to)).filter((word) => word !== "--partial");
    return JSON.parse(await this.ask(["info", "--json", ...part, ...words], signal, progress));
  }
  // Values by stack between two times of the trace: lines "outermost;...;innermost VALUE" of gotrace profile.
  async folded(kind, from, to, signal, progress) {
    const {status, output, errors} = await this.run(["profile", kind, "--folded", ...this.wordsOf(Math.round(from), Math.round(to)), "/trace"], progress, signal);
    if (status && !output.size) throw new Refused(errors);
    return (await output.text()).split("\n").slice(0, -1);
  }
  // The words for a part between two times of the trace.
  wordsOf(from, to) {
    return [...this.words.filter((word) => !/^--(from|to)=/.test(word)), "--from=" + Math.max(0, Math.floor(from)) + "ns", "--to=" + Math.max(0, Math.ceil(to)) + "ns"];
  }
}

// How long the rest will take, if a part took some milliseconds; nothing while that is no more than a guess.
function timeLeft(elapsed, part) {
  if (elapsed < 1000 || part < 0.02) return "";
  const seconds = Math.ceil(elapsed * (1 - part) / part / 1000);
  return ", about " + (seconds < 100 ? seconds + " s" : Math.ceil(seconds / 60) + " min") + " left";
}

// The first picture of a page without a trace, and while one is read.
class Start {
  constructor(open) {
    this.section = document.getElementById("start");
    const chosen = document.getElementById("file");
    chosen.addEventListener("change", () => { if (chosen.files.length) open([...chosen.files], this.beside); this.beside = false, chosen.value = ""; });
    this.beside = false; // whether what is chosen is added to what is shown
    for (const [id, beside] of [["choose", false], ["open", false], ["add", true]])
      document.getElementById(id).addEventListener("click", () => { this.beside = beside; chosen.click(); });
  }
  show(visible) { this.section.hidden = !visible; }
  choose(message) {
    this.show(true);
    document.getElementById("choose").disabled = false;
    document.getElementById("opening").textContent = message;
    document.getElementById("progress").hidden = document.getElementById("sketch").hidden = true;
  }
  // `progress`: in words. `points`: more of the picture of what is read; null: there is none.
  wait(name, part, progress, points) {
    const bar = document.getElementById("progress");
    this.show(true);
    document.getElementById("choose").disabled = true;
    document.getElementById("opening").textContent = "Reading " + name + (part ? ": " + progress : "");
    bar.hidden = false, bar.value = part;
    if (!part || !points) this.points = [], this.part = 0;
    if (!this.points.length) this.since = this.part; // the reader may go through the beginning once before
    this.part = part;
    this.points = addPoints(this.points, points || []);
    this.draw((part - this.since) / (1 - this.since));
  }
  // Running and runnable goroutines of what has been read. `part`: how much of the trace that is taken to be.
  draw(part) {
    const canvas = document.getElementById("sketch"), c = canvas.getContext("2d"), {width, height} = canvas, {points} = this;
    canvas.hidden = !points.length;
    c.clearRect(0, 0, width, height);
    if (!points.length) return;
    const whole = points.at(-1)[0] / Math.max(part, 0.01) || 1, most = points.reduce((sum, [, a, b]) => Math.max(sum, a + b), 1);
    const theme = document.documentElement.classList.contains("dark") ? DARK : LIGHT, scale = (height - 4) / most;
    let x = 0;
    for (const [time, ...counts] of points) {
      const to = time / whole * width;
      let y = height;
      counts.forEach((count, k) => { // as states: 0 running, 1 runnable
        c.fillStyle = theme.states[k];
        y -= count * scale;
        c.fillRect(x, y, Math.max(1, to - x), count * scale);
      });
      x = to;
    }
  }
}

// Does what functions do, on as many processors as there are, but four at most, since each reader has its own memory.
async function atOnce(jobs) {
  const results = [], left = jobs.entries(), work = async () => { for (const [i, job] of left) results[i] = await job(); };
  await Promise.all(Array.from({length: Math.max(1, Math.min(navigator.hardwareConcurrency || 1, jobs.length, 4))}, work));
  return results;
}

// Traces that were read and can be shown again at once, and what the browser keeps for them.
const MOST_KEPT = 4, MOST_BYTES_KEPT = 2e9;

// The page: what it has is shown at once; what is chosen or dropped, in its place or beside it.
class Page {
  constructor(reader) {
    this.reader = reader, this.app = null;
    this.kept = new Map(); // FileData by the key of its source and words, the latest last
    this.making = null; // {source, ended}: whose index is made
    this.whole = null; // the Data of which a part is shown
    this.blank = [...document.querySelectorAll("header, aside, main")].map((element) => [element.tagName, element.cloneNode(true)]);
    this.begin();
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) this.openFiles([...event.dataTransfer.files], event.shiftKey);
    });
  }
  begin() {
    this.start = new Start((files, beside) => this.openFiles(files, beside));
    document.getElementById("open").hidden = false;
    document.getElementById("add").hidden = !this.app;
    const whole = document.getElementById("whole");
    whole.hidden = !this.whole;
    whole.addEventListener("click", () => this.openWhole());
  }
  openFiles(files, beside) { return this.open(files.map((file) => ({source: new Source(file), name: file.name, words: [], note: ""})), beside); }
  // Opens traces: {source, name, words, note}. `whole`: the Data of which they are a part. `beside`: beside those that are shown, or are being read. Otherwise they take the
  // place of both.
  async open(list, beside = false, whole = null) {
    const last = this.opening, joins = beside && last?.reading, items = list.map((item) => ({...item, name: plain(item.name), part: 0}));
    const now = this.opening = joins ? {...last, items: [...last.items, ...items]} : {items, shown: beside && this.app && !this.app.data.outline ? this.app.data.files : [], ended: new AbortController(), reading: true, began: performance.now()};
    if (!joins) last?.ended.abort();
    this.tellProgress([]);
    await atOnce(now.items.map((item) => () => now === this.opening && (item.found ??= this.readItem(item, now.ended.signal))));
    if (now !== this.opening) return;
    now.reading = false;
    const found = [], refused = [];
    for (const item of now.items) {
      const of = await item.found;
      if (!(of instanceof Error)) found.push(of);
      else refused.push(item.name + ": " + of.message);
      if (of instanceof Error && !(of instanceof Refused)) console.error(of);
    }
    if (!found.length && this.app?.data.outline === now.outline && now.outline) return this.giveUp(now.outline, refused.join("\n"), now.items[0], (await now.items[0].found).partial);
    if (!found.length && !this.app) return this.start.choose(refused.join("\n"));
    if (found.length) {
      if (!beside) this.whole = whole;
      this.show(new Data([...now.shown, ...found]));
    } else {
      this.start.show(false);
    }
    await this.findAll(now.ended.signal, refused);
  }
  // A trace's data, or why it is refused.
  async readItem(item, signal) {
    const progress = (part, points) => { item.part = part; this.tellProgress(points); };
    await this.outline(item, signal).catch(() => {}); // what is wrong with the trace, reading it tells
    let found = await this.read(item, progress, signal).catch((error) => error);
    // Where there is an outline, any time can be looked at, also after the error.
    if (found.partial && !this.opening.outline && !signal.aborted) found = await this.readBefore(item, progress, signal);
    if (!signal.aborted) progress(1, []);
    return found;
  }
  // What of a broken trace comes before the error.
  readBefore(item, progress, signal) { return this.read({...item, words: [...item.words, "--partial"]}, progress, signal).catch((error) => error); }
  // Until all of a large trace is read, shows its outline, and reads the times that a person looks at.
  async outline({source, name, words}, signal) {
    const now = this.opening, alone = () => this.opening.items.length === 1 && this.opening.reading;
    await source.unpack();
    if (!source.large || words.length || this.kept.has(await source.key()) || !alone()) return;
    const trace = new Trace(this.reader, source, name, words, ""), told = JSON.parse(await trace.ask(["view", "--batches"], signal));
    if (signal.aborted || now !== this.opening || !alone() || !told.generations?.length || !told.threads.length) return;
    const outline = now.outline = new Outline(trace, told);
    this.show(outline.data());
    this.app.looked = (from, to) => this.look(outline, from, to);
    this.tellProgress([]);
  }
  // Shows a window of the outline, which is read for that.
  async look(outline, from, to) {
    const shown = () => this.app.data.outline === outline;
    const news = outline.look(from, to).catch((error) => { if (!(error instanceof Ended)) outline.refused = error.message; });
    if (shown()) this.app.painter.request();
    if (await news && shown()) this.become(outline.data());
    else if (shown()) this.app.painter.request();
  }
  // Tells what is wrong with a trace of which the outline is shown, and leaves it there. `partial`: what comes before can be shown instead.
  giveUp(outline, message, {source, name}, partial) {
    outline.message = message, this.app.answered = true;
    this.app.panels.fillFindings(message, [], partial && (() => this.open([{source, name, words: ["--partial"], note: ""}])));
    this.app.painter.request();
  }
  tellProgress(points) {
    const {items, outline, began} = this.opening, alone = items.length === 1, part = items.reduce((sum, item) => sum + item.part, 0) / items.length;
    const progress = Math.floor(part * 100) + " %" + timeLeft(performance.now() - began, part);
    if (outline && alone && this.app?.data.outline === outline) {
      outline.points = addPoints(outline.points, points || []);
      outline.progress = part < 1 ? progress : "";
      document.getElementById("facts").textContent = outline.facts();
      return this.app.painter.drawProgress();
    }
    this.start.wait(alone ? items[0].name : items.length + " traces", part, progress, alone ? points : null);
  }
  // Reads a trace, unless it is kept.
  async read({source, name, words, note}, progress, signal) {
    const of = await source.key(), key = of && [of, ...words].join("\n");
    const found = this.kept.get(key) || await new Trace(this.reader, source, name, words, note).read(progress, signal);
    this.kept.delete(key); // it becomes the latest
    if (key) this.kept.set(key, found);
    const bytes = () => [...this.kept.values()].reduce((sum, data) => sum + data.size, 0);
    while (this.kept.size > MOST_KEPT || (this.kept.size > 1 && bytes() > MOST_BYTES_KEPT)) this.kept.delete(this.kept.keys().next().value);
    return found;
  }
  // Shows a part of what is shown by itself, with all that the tables of the whole have no room for.
  async openPart(from, to) {
    const {data} = this.app;
    await this.open(data.files.map(({trace, time}) => ({source: trace.source, name: trace.name, words: trace.wordsOf(from - time, to - time), note: ""})), false, this.whole || data);
  }
  async openWhole() {
    this.opening?.ended.abort();
    const {files} = this.whole, now = this.opening = {items: [], ended: new AbortController(), reading: false};
    this.whole = null;
    this.show(new Data(files));
    await this.findAll(now.ended.signal, []);
  }
  // Shows more of what is shown.
  become(data) {
    this.app.become(data);
    if (!data.outline) this.opening.outline.over();
    this.start.show(false);
    document.getElementById("add").hidden = false;
    window.gotrace = forTests(this.app);
  }
  sources() { return [...new Set(this.app.data.files.map((file) => file.trace.source))]; }
  // Makes indexes of what is shown, one after another, when nobody waits for anything else.
  async makeIndexes() {
    const sources = this.sources();
    if (this.making) return; // for the whole, of which a part is shown
    for (let source; (source = sources.find(({indexed}) => !indexed));) {
      const making = this.making = {source, ended: new AbortController()};
      const progress = (part) => { if (this.making === making) document.getElementById("indexing").textContent = "index: " + Math.floor(part * 100) + " %"; };
      await source.makeIndex(this.reader, progress, making.ended.signal).catch(() => { source.indexed = !making.ended.signal.aborted; });
      if (this.making !== making) return;
      this.making = null;
      document.getElementById("indexing").textContent = "";
    }
  }
  // Asks what is wrong with each trace, and shows it, after what is to be said of them.
  async findAll(signal, refused) {
    const {app} = this, {files} = app.data, told = files.filter((file) => file.errors).map((file) => (files.length > 1 ? file.title + ": " : "") + file.errors), errors = [app.data.apart, ...refused, ...told].filter(Boolean).join("\n");
    const found = files.map(() => []);
    await atOnce(files.map((file, i) => async () => {
      const findings = await file.trace.findings(signal).catch((error) => [{text: "what is wrong is not known: " + error.message, look: ""}]);
      if (signal.aborted) return;
      found[i] = findings.map((finding) => ({...finding, file}));
      app.panels.fillFindings(errors, found.flat());
      if (app.tab === "summary") app.show("summary"); // it tells of that, too
    }));
    app.answered = true;
    if (!signal.aborted) await this.makeIndexes();
  }
  show(data) {
    if (this.app?.data.outline && this.app.data.outline === this.opening.outline) return this.become(data);
    if (this.app) { // elements without the listeners of what was open
      this.app.close();
      for (const [tag, element] of this.blank) document.querySelector(tag).replaceWith(element.cloneNode(true));
      history.replaceState(null, "", location.pathname + location.search);
    }
    this.app = new App(data, (from, to) => this.openPart(from, to));
    if (this.making && !this.sources().includes(this.making.source)) this.making.ended.abort(), this.making = null;
    this.begin();
    this.start.show(false);
    window.gotrace = forTests(this.app);
  }
}
