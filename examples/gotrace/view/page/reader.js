// reader.js - opens a trace in the browser: the tool as WebAssembly, in a worker
//
// The page has the module and the worker's script, and perhaps a trace. Otherwise a file is chosen or dropped. Nothing
// leaves the computer: the page's policy forbids all connections, but to `gotrace view` that serves it.

// A message for whoever opened the trace.
class Refused extends Error {}

class Reader {
  // Null: the page has no reader, but pictures.
  static async find() {
    if (!document.getElementById("reader0")) return null;
    const reader = new Reader();
    reader.workers = new Set();
    reader.module = await WebAssembly.compile(await inflate("reader0"));
    reader.script = URL.createObjectURL(new Blob([await inflate("worker0")], {type: "text/javascript"}));
    return reader;
  }
  // Runs a command of the tool on a file. Returns its status, its output and what it reported. `signal`: ends it early.
  run(file, words, progress, signal) {
    const worker = new Worker(this.script), {module} = this;
    this.workers.add(worker);
    return new Promise((resolve, reject) => {
      worker.onmessage = ({data}) => {
        if (data.progress !== undefined) progress(data.progress, data.sketch);
        else resolve({...data, errors: data.errors.replaceAll("gotrace: /trace: ", "").replace(/^gotrace: /gm, "").trim()});
      };
      signal?.addEventListener("abort", () => reject(new Refused("not asked for any more")));
      worker.onerror = (event) => { event.preventDefault(); reject(new Refused(event.message || "the browser cannot start the reader")); };
      worker.postMessage({module, file, words});
    }).finally(() => { worker.terminate(); this.workers.delete(worker); });
  }
  // Ends all that run. Nothing comes of them.
  stop() {
    for (const worker of this.workers) worker.terminate();
    this.workers.clear();
  }
}

// A trace in a file, which gzip may have compressed, or one that is served: {url, size}. `words`: options of gotrace view,
// for a part of it.
class Trace {
  // `note`: what the page says of it.
  constructor(reader, file, name, words, note) {
    Object.assign(this, {reader, file, name, words, note});
  }
  async unpack() {
    if (this.file.url) return;
    const start = new Uint8Array(await this.file.slice(0, 2).arrayBuffer());
    if (start[0] === 0x1f && start[1] === 0x8b)
      this.file = await new Response(this.file.stream().pipeThrough(new DecompressionStream("gzip"))).blob()
        .catch(() => { throw new Refused("the gzip file is broken"); });
  }
  async read(progress) {
    await this.unpack();
    const {status, output, errors} = await this.reader.run(this.file, ["view", ...this.words, "--data", "-o", "-", "/trace"], progress);
    if (status) throw new Refused(errors || "the tool failed with status " + status);
    const data = await Data.ofStream(output);
    data.name = this.name;
    return {data, errors: [this.note, errors].filter(Boolean).join("\n")};
  }
  // What a command that writes text says of the trace; of a broken one, also of what comes before the error.
  async ask(words, signal) {
    const {output, errors} = await this.reader.run(this.file, [...words, "/trace"], () => {}, signal);
    if (!output.size) throw new Refused(errors);
    return output.text();
  }
  // Words of a command that says of the shown part what the path is.
  path(...words) { return ["path", ...this.words.filter((word) => /^--(from|to)=|^--(lenient|partial)$/.test(word)), ...words]; }
  async findings() {
    const words = this.words.filter((word) => word !== "--partial"); // info needs none
    return JSON.parse(await this.ask(["info", ...words, "--json"])).findings;
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
    chosen.addEventListener("change", () => { if (chosen.files.length) open(chosen.files[0]); chosen.value = ""; });
    document.getElementById("choose").addEventListener("click", () => chosen.click());
  }
  show(visible) { this.section.hidden = !visible; }
  choose(message) {
    this.show(true);
    document.getElementById("choose").disabled = false;
    document.getElementById("opening").textContent = message;
    document.getElementById("progress").hidden = document.getElementById("sketch").hidden = true;
  }
  wait(name, part, points = []) {
    const bar = document.getElementById("progress");
    this.show(true);
    document.getElementById("choose").disabled = true;
    if (!part) this.began = performance.now();
    document.getElementById("opening").textContent = "Reading " + name + (part ? ": " + Math.floor(part * 100) + " %" + timeLeft(performance.now() - this.began, part) : "");
    bar.hidden = false, bar.value = part;
    if (!part) this.points = [], this.part = 0;
    if (!this.points.length) this.since = this.part; // the reader may go through the beginning once before
    this.part = part;
    this.points.push(...points);
    this.draw((part - this.since) / (1 - this.since));
  }
  // Running and runnable goroutines of what has been read; `part`: how much of the trace that is taken to be.
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

// The page: what it has is shown at once; what is chosen or dropped, in its place.
class Page {
  constructor(reader) {
    this.reader = reader, this.app = null;
    this.blank = [...document.querySelectorAll("header, aside, main")].map((element) => [element.tagName, element.cloneNode(true)]);
    this.begin();
    document.addEventListener("dragover", (event) => event.preventDefault());
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) this.open(event.dataTransfer.files[0]);
    });
  }
  begin() {
    const button = document.getElementById("open");
    this.start = new Start((file) => this.open(file));
    button.hidden = false;
    button.addEventListener("click", () => document.getElementById("file").click());
  }
  async open(file, name = file.name, words = [], note = "") {
    const turn = this.turn = {}; // a trace that is opened later takes the place of this one
    this.reader.stop();
    try {
      this.start.wait(name, 0);
      const trace = new Trace(this.reader, file, name, words, note);
      const {data, errors} = await trace.read((part, points) => { if (turn === this.turn) this.start.wait(name, part, points); });
      if (turn !== this.turn) return;
      this.show(data, trace);
      const findings = await trace.findings().catch((error) => [{text: "what is wrong is not known: " + error.message, look: ""}]);
      if (turn === this.turn) this.app.panels.fillFindings(errors, findings);
    } catch (error) {
      if (turn !== this.turn) return;
      this.start.choose(name + ": " + error.message);
      if (!(error instanceof Refused)) throw error;
    }
  }
  show(data, trace) {
    if (this.app) { // elements without the listeners of the trace that was open
      this.app.close();
      for (const [tag, element] of this.blank) document.querySelector(tag).replaceWith(element.cloneNode(true));
      history.replaceState(null, "", location.pathname + location.search);
      this.begin();
    }
    this.start.show(false);
    this.app = new App(data, trace);
    window.gotrace = forTests(this.app);
  }
}
