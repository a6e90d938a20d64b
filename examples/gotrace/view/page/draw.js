// draw.js - draws the picture: an overview, a ruler, and a line for each visible row
//
// Slices are painted into an image, pixel by pixel, so the cost of a frame does not depend on the trace. States differ
// in height as well as colour: running and system calls fill the row, runnable two thirds, blocked a third of it. A column
// of pixels in which a state has only a share of the time gives it that share of its height, so the area of a colour is
// its time at any zoom.

const MOST_ARROWS = 150;
// What the page says of a table that has a limit.
const LEFT_OUT = {gos: "the rows of # goroutines", places: "the rows of # procs and threads", regions: "# regions", tasks: "# tasks", parents: "the parts of # tasks",
  marks: "# logs and CPU samples", names: "the names of # goroutines, tasks and regions, which are added up as (others)", stacks: "# stacks", texts: "# texts", counts: "# values of counters"};
const LEFT = 230, RULER = 22, OVERVIEW = 44, TOP = OVERVIEW + RULER;

// One hue, one meaning. States are blue, orange, violet, red, teal, pink and greys; what has a name (a function on a proc or
// thread, a region, a task) is green to olive; the collector and counters are grey. The colour-blind can tell blue, orange and grey apart;
// height and lightness distinguish the rest.
const LIGHT = {
  states: ["#2f7fd1", "#f0a63a", "#8a5fc7", "#c8433a", "#2f9d94", "#d3649f", "#c3c9d1", "#9aa3ae"],
  names: ["#5fa34d", "#a3b94f", "#3f7d4a", "#c3cf86", "#7f9a3a", "#8fca85", "#5b6f2c", "#b5deab"],
  collector: "#50555c", counter: "#8d98a5",
  back: "#ffffff", band: "#f2f4f7", text: "#1c2128", faint: "#656d76", line: "#d8dee4", accent: "#0550ae", range: "#0550ae22",
};
const DARK = {
  states: ["#4c9be8", "#d98e24", "#a883e0", "#dc6358", "#45b3a9", "#d97fb0", "#4a525c", "#6b747f"],
  names: ["#6fb35d", "#aabf5a", "#4f8f5a", "#c7d38c", "#8ba545", "#9bd391", "#71873c", "#bde3b3"],
  collector: "#c4cad2", counter: "#7d8896",
  back: "#15191f", band: "#1d232b", text: "#dfe4ea", faint: "#98a2ad", line: "#333a43", accent: "#79b8ff", range: "#79b8ff2a",
};
const FILLS = [2, 1, 2, 0, 0, 0, 0, 0]; // height of a state: 2 the whole row, 1 two thirds, 0 a third
const MOST_GROWN_FONT = 1.3; // how much larger than usual texts become where rows are higher
const STRIP_WORK = 4; // milliseconds of a frame
const SNAP = 6; // pixels within which a measured time goes to an edge
const ALONE = 8; // columns: a colour that is in none of so many before it gets at least one pixel

const rgba = (hex) => 0xff000000 | parseInt(hex.slice(5, 7), 16) << 16 | parseInt(hex.slice(3, 5), 16) << 8 | parseInt(hex.slice(1, 3), 16);
// Black or white, whichever is easier to read on a colour.
function textOn(colour) {
  const part = (shift) => { const c = (colour >>> shift & 255) / 255; return c <= 0.04 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(0) + 0.7152 * part(8) + 0.0722 * part(16) > 0.2 ? "#0c0f13" : "#ffffff";
}
const darker = (colour) => 0xff000000 | (colour >> 16 & 255) * 0.72 << 16 | (colour >> 8 & 255) * 0.72 << 8 | (colour & 255) * 0.72;

// Whether a pixel of what is hatched is left out.
function isHatched(x, y, ratio) {
  const stripe = Math.round(3 * ratio);
  return (x + y) % (2 * stripe) < stripe;
}

class Painter {
  constructor(canvas, data, model, view) {
    Object.assign(this, {canvas, data, model, view});
    this.context = canvas.getContext("2d", {alpha: false});
    this.frameTimes = [];
    this.strips = new Map(); // by key of a group
    this.work = null; // on one of them
    this.setTheme(false);
  }

  // Draws other data.
  take(data, model) {
    Object.assign(this, {data, model, overview: null, pixels: null, work: null, strips: new Map()});
    this.request();
  }

  setTheme(dark) {
    this.theme = dark ? DARK : LIGHT;
    this.stateColours = this.theme.states.map(rgba);
    this.nameColours = this.theme.names.map(rgba);
    this.dimmedColours = [...this.nameColours.slice(0, COLOURS - 1), rgba(this.theme.line)]; // the last: not selected by the filter
    this.collectorColours = new Array(COLOURS).fill(rgba(this.theme.collector));
    this.backColour = rgba(this.theme.back);
    this.overview = null;
  }

  resize() {
    const ratio = window.devicePixelRatio || 1, box = this.canvas.parentElement.getBoundingClientRect();
    this.ratio = ratio;
    this.width = Math.max(LEFT + 50, Math.floor(box.width)), this.height = Math.max(TOP + 20, Math.floor(box.height));
    this.canvas.width = Math.round(this.width * ratio), this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = this.width + "px", this.canvas.style.height = this.height + "px";
    this.pixels = null;
    this.overview = null;
    this.view.width = this.width - LEFT, this.view.room = this.height - TOP;
  }

  request() {
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame(() => {
      this.requested = false;
      const before = performance.now();
      this.draw();
      this.frameTimes.push(performance.now() - before);
      if (this.frameTimes.length > 2000) this.frameTimes.shift();
    });
  }

  // Draws again only what tells how much of the trace has been read: that is told five times a second.
  drawProgress() {
    this.overview = null;
    if (this.requested || !this.layout) this.request();
    else this.drawOverview();
  }

  x(time) { return LEFT + (time - this.view.from) / (this.view.to - this.view.from) * (this.width - LEFT); }
  time(x) { return this.view.from + (x - LEFT) / (this.width - LEFT) * (this.view.to - this.view.from); }

  // The level to draw now: the right one, or a coarser one until that is loaded.
  chooseChunks() {
    const {from, to} = this.view;
    const wanted = this.data.levelFor((to - from) / ((this.width - LEFT) * this.ratio));
    this.wanted = wanted;
    for (let level = wanted; level <= this.data.coarsest; level++) {
      const chunks = this.data.loaded(level, from, to, level === wanted ? () => this.request() : null);
      if (chunks) {
        this.level = level;
        return chunks.map((chunk) => chunk.slices);
      }
    }
    this.level = LEVELS;
    return this.data.chunksFor(wanted, from, to).filter((chunk) => chunk.slices).map((chunk) => chunk.slices);
  }

  draw() {
    if (!this.canvas.isConnected) return; // another trace is shown
    const {context, ratio, theme, view} = this;
    const slices = this.chooseChunks();
    this.layout = this.isOutlined() ? this.data.outline.lines() : this.model.lines(view);
    view.scroll = Math.max(0, Math.min(view.scroll, this.layout.height - (this.height - TOP) + 20));
    this.hits = [];
    this.paintRows(slices);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = "middle";
    this.drawLines();
    this.workOnStrips(slices);
    this.drawArrows(slices);
    this.drawUnread();
    this.drawRange();
    this.drawRuler();
    this.drawFlags();
    this.drawLength();
    this.drawOverview();
    this.data.forget();
    document.getElementById("status").textContent = this.statusText();
    if (this.level === this.wanted && !this.data.outline) this.drawnAt ??= performance.now();
  }
  // Whether the outline of a trace that is being read is drawn, instead of rows.
  isOutlined() { return this.data.outline !== null && !this.data.outline.covers(this.view.from, this.view.to); }

  visibleLines() {
    const from = this.view.scroll, to = from + this.height - TOP, lines = this.layout.lines;
    let low = 0, high = lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lines[middle].y + lines[middle].height > from) high = middle;
      else low = middle + 1;
    }
    let end = low;
    while (end < lines.length && lines[end].y < to) end++;
    return lines.slice(low, end);
  }
  lineTop(line) { return TOP + line.y - this.view.scroll; }
  lineMiddle(line) { return this.lineTop(line) + line.height / 2; }
  font(size) { return Math.round(size * Math.min(this.layout.grow, MOST_GROWN_FONT)) + "px system-ui, 'DejaVu Sans', sans-serif"; }

  // Paints the slices of all visible rows as pixels.
  paintRows(slices) {
    const W = this.canvas.width, H = this.canvas.height, ratio = this.ratio;
    if (!this.pixels) {
      this.image = this.context.createImageData(W, H);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.shares = new Float64Array(W * COLOURS); // of the time of each column, by colour
      this.starts = new Uint8Array(W); // 1 + the colour of a slice whose start is marked
      this.stopped = this.data.files.map(() => new Float64Array(W)); // how much of each column its world was stopped
    }
    this.pixels.fill(this.backColour);
    const left = Math.round(LEFT * ratio), scale = (W - left) / (this.view.to - this.view.from);
    this.markStopped(slices, left, scale, W);
    for (const line of this.visibleLines()) {
      if (line.type === "group" && line.folded) this.paintStrip(line, left, W, H, ratio);
      if (line.type === "thread") this.paintThread(line, left, W, H, ratio);
      if (line.type !== "row") continue;
      const colours = this.coloursOf(line.row.kind);
      this.shares.fill(0);
      this.starts.fill(0);
      this.addShares(line, slices, left, scale, W, colours);
      this.paintShares(line, left, W, H, ratio, colours);
    }
    this.context.putImageData(this.image, 0, 0);
  }

  // How much a thread wrote when.
  paintThread(line, left, W, H, ratio) {
    const {from, to} = this.view, {outline} = this.data, {pixels} = this, edge = Math.round(TOP * ratio), colour = this.nameColours[0];
    const top = Math.round((this.lineTop(line) + 2) * ratio), bottom = Math.min(H, Math.round((this.lineTop(line) + line.height - 1) * ratio));
    for (let x = left; x < W; x++) {
      const share = outline.share(line.of, from + (x - left) / (W - left) * (to - from));
      for (let y = Math.max(edge, bottom - Math.round(share * (bottom - top))); y < bottom; y++) pixels[y * W + x] = colour;
    }
  }
  // What has not been read yet is covered by a band.
  drawUnread() {
    const {outline} = this.data, c = this.context, {from, to} = this.view;
    if (!outline || this.isOutlined()) return;
    c.fillStyle = this.theme.band;
    for (const [begin, end] of [[from, outline.shown.begin], [outline.shown.end, to]]) {
      const low = Math.max(LEFT, this.x(begin)), high = Math.min(this.width, this.x(end));
      if (high > low) c.fillRect(low, TOP, high - low, this.height - TOP);
    }
  }

  markStopped(slices, left, scale, W) {
    const {from, to} = this.view;
    this.data.files.forEach((file, of) => {
      const stopped = this.stopped[of].fill(0);
      for (const number of file.stoppedRows)
        for (const {begin, end, time} of stopsOf(slices, number, from, to)) {
          const low = Math.max(left, left + (begin - from) * scale), high = Math.min(W, left + (end - from) * scale);
          for (let x = Math.floor(low); x < high; x++) stopped[x] += (Math.min(high, x + 1) - Math.max(low, x)) * time / (end - begin);
        }
    });
  }
  coloursOf(kind) {
    if (kind === KIND.GO) return this.stateColours;
    if (kind === KIND.GC || kind === KIND.STW) return this.collectorColours;
    return kind <= KIND.THREAD && this.data.filtered ? this.dimmedColours : this.nameColours;
  }

  // Adds up the shares of the columns of a row.
  addShares(line, slices, left, scale, W, colours) {
    const {from, to} = this.view, row = line.row, {shares} = this, times = new Float64Array(COLOURS);
    for (const part of slices) {
      const span = part.index.get(row.number);
      if (!span) continue;
      for (let i = part.search(span, from); i < span.to && part.begin[i] < to; i++) {
        const begin = left + (part.begin[i] - from) * scale, end = left + (part.end[i] - from) * scale, colour = part.colour[i];
        const x0 = Math.max(left, Math.floor(begin)), x1 = Math.min(W, Math.max(Math.floor(end), Math.floor(begin) + 1));
        const low = Math.max(left, begin), high = Math.min(W, end), mixed = part.size[i] > 1;
        if (mixed) part.times(i, times.fill(0));
        for (let x = x0; x < W && x <= high; x++) {
          const covered = Math.max(1e-9, Math.min(high, x + 1) - Math.max(low, x)); // something, even if it takes no time
          if (!mixed) shares[x * COLOURS + colour] += covered;
          else for (let c = 0; c < COLOURS; c++) if (times[c]) shares[x * COLOURS + c] += covered * times[c] / (part.end[i] - part.begin[i]);
        }
        if (x1 - x0 > 2 && begin >= left) this.starts[x0] = colour + 1;
        if (this.record || x1 - x0 >= 40 * this.ratio) this.hits.push({line, part, i, x0, x1, colour: colours[colour]});
      }
    }
  }
  // Paints a row. What a column's height rounds away goes to the next column.
  paintShares(line, left, W, H, ratio, colours) {
    const top = Math.round((this.lineTop(line) + 2) * ratio), height = Math.round((this.lineTop(line) + line.height - 1) * ratio) - top;
    const edge = Math.round(TOP * ratio), {shares, pixels} = this, ofStates = line.row.kind === KIND.GO;
    const stopped = this.stopped[line.row.file.number], runs = (c) => (ofStates ? c === RUNNING : line.row.kind <= KIND.THREAD);
    const rest = new Float64Array(COLOURS), last = new Int32Array(COLOURS).fill(-ALONE), sizes = new Int32Array(COLOURS);
    for (let x = left; x < W; x++) {
      let sum = 0;
      for (let c = 0; c < COLOURS; c++) {
        const share = shares[x * COLOURS + c];
        sizes[c] = 0;
        if (!share) continue;
        const full = ofStates ? (FILLS[c] + 1) / 3 * height : height;
        if (share > 0.999) {
          sizes[c] = Math.round(full), rest[c] = 0;
        } else {
          const alone = x - last[c] > ALONE;
          if (alone) rest[c] = 0;
          rest[c] += share * full;
          sizes[c] = Math.max(alone ? 1 : 0, Math.floor(rest[c]));
          rest[c] -= sizes[c];
        }
        last[c] = x;
        sum += sizes[c];
      }
      // States are in the middle of the row, names at its bottom.
      let y = top + Math.max(0, ofStates ? (height - sum) >> 1 : height - sum);
      const bottom = Math.min(top + height, H);
      for (let c = 0; c < COLOURS; c++) {
        if (!sizes[c]) continue;
        const colour = this.starts[x] === c + 1 ? darker(colours[c]) : colours[c];
        const hatched = stopped[x] >= 0.5 && runs(c); // nobody ran
        for (let end = Math.min(bottom, y + sizes[c]); y < end; y++)
          if (y >= edge) pixels[y * W + x] = hatched && isHatched(x, y, ratio) ? this.backColour : colour;
      }
    }
  }

  // The strip of a folded group: how much of each colour its rows have together, in each column; the most in the picture
  // fills the line. It is added up beside the drawing, so that this does not wait for many rows: until then the strip of
  // the picture before is drawn where it belongs.
  paintStrip(line, left, W, H, ratio) {
    const strip = this.strips.get(line.group.key), {pixels} = this, stopped = this.stopped[line.group.file.number], {from, to} = this.view;
    if (!strip || strip.most <= 0) return;
    const edge = Math.round(TOP * ratio), top = Math.round((this.lineTop(line) + 2) * ratio), bottom = Math.round((this.lineTop(line) + line.height - 2) * ratio);
    const colours = this.coloursOf(this.model.rows[line.group.rows[0]].kind), step = (to - from) / (W - left) * strip.columns / (strip.to - strip.from);
    let at = (from - strip.from) * strip.columns / (strip.to - strip.from);
    for (let x = left; x < W; x++, at += step) {
      const place = Math.floor(at) * COLOURS;
      if (at < 0 || at >= strip.columns) continue;
      let y = bottom, sum = 0;
      for (let c = 0; c < COLOURS; c++) {
        const time = strip.sums[place + c];
        if (time <= 0) continue;
        sum += time;
        const end = Math.min(y, bottom - Math.round(sum / strip.most * (bottom - top)));
        while (y > end) if (--y >= edge && y < H) pixels[y * W + x] = stopped[x] >= 0.5 && c === RUNNING && isHatched(x, y, ratio) ? this.backColour : colours[c];
      }
    }
  }
  // Adds up strips of folded groups in sight, some milliseconds a frame.
  workOnStrips(slices) {
    const {from, to} = this.view, until = performance.now() + STRIP_WORK, columns = this.width - LEFT,
      stale = (strip) => !strip || strip.columns !== columns || strip.from !== from || strip.to !== to || strip.parts !== slices.length || strip.level !== this.level;
    const next = () => this.visibleLines().find((line) => line.type === "group" && line.folded && line.group.rows.length && stale(this.strips.get(line.group.key)));
    if (this.work && stale(this.work.strip)) this.work = null;
    for (;;) {
      if (!this.work) {
        const line = next();
        if (!line) return;
        const strip = {from, to, columns, sums: new Float64Array((columns + 1) * COLOURS), most: 0, parts: slices.length, level: this.level};
        this.work = {strip, key: line.group.key, steps: addStrip(strip, line.group.rows, slices)};
      }
      while (performance.now() < until && !this.work.steps.next().done) continue;
      if (performance.now() >= until && !this.work.strip.most) return this.request();
      const seen = new Set(this.visibleLines().map((line) => line.group?.key));
      for (const key of this.strips.keys()) if (!seen.has(key)) this.strips.delete(key);
      this.strips.set(this.work.key, this.work.strip);
      this.work = null;
      this.request(); // to draw it
    }
  }

  // Draws titles, labels on slices, counters, marks.
  drawLines() {
    const {context: c, theme, view} = this, lines = this.visibleLines();
    c.save();
    c.beginPath();
    c.rect(0, TOP, this.width, this.height - TOP);
    c.clip();
    for (const line of lines) {
      const y = this.lineTop(line), middle = y + line.height / 2;
      if (line.type === "group") {
        const ofFile = line.group.type === "file", count = line.group.rows.length;
        c.fillStyle = ofFile ? theme.line : theme.band;
        c.fillRect(0, y, line.folded ? LEFT : this.width, line.height);
        c.fillStyle = theme.text;
        c.font = "bold " + this.font(ofFile ? 14 : 12);
        const title = (line.folded ? "▸ " : "▾ ") + line.group.title, size = count > 1 ? "  (" + count + (ofFile ? " goroutines" : "") + ")" : "";
        const drawn = this.text(title, 6, middle, (line.folded ? LEFT : Math.max(LEFT, this.width / 2)) - 12 - this.context.measureText(size).width);
        c.fillText(size, 6 + drawn, middle);
      } else if (line.type === "counter") {
        this.drawCounter(line, y);
      } else if (line.type === "thread") {
        c.font = this.font(12);
        c.fillStyle = theme.faint;
        this.text("thread " + line.of.thread, 18, middle, LEFT - 24);
      } else if (line.type === "marks") {
        c.font = "12px system-ui, 'DejaVu Sans', sans-serif";
        c.fillStyle = theme.faint;
        this.text(line.title, 18, middle, LEFT - 24);
        this.drawMarks(line, middle);
      } else {
        c.font = this.font(line.nested ? 10 : 12);
        c.fillStyle = line.row.number === view.selected?.row || line.row.number === view.hit ? theme.accent : theme.faint;
        this.text(line.title ?? this.model.title(line.row), line.title ? 6 : line.nested ? 34 : 18, middle, LEFT - (line.title ? 12 : 24));
        this.drawMarks(line, middle);
        this.drawCuts(line, y);
      }
    }
    for (const hit of this.hits) {
      const width = (hit.x1 - hit.x0) / this.ratio, line = hit.line;
      if (width < 40 || (line.row.kind === KIND.GO && FILLS[hit.part.colour[hit.i]] === 0 && width < 60)) continue;
      const full = line.row.kind !== KIND.GO || FILLS[hit.part.colour[hit.i]] > 0;
      const label = this.model.label(line.row, {size: hit.part.size[hit.i], colour: hit.part.colour[hit.i], what: hit.part.what[hit.i], who: hit.part.who[hit.i]});
      if (!label) continue;
      c.font = this.font(line.nested ? 9 : 11);
      const y = this.lineTop(line) + line.height / 2 + 0.5;
      if (!full) { // on the background, interrupting the line
        const size = Math.min(c.measureText(label).width, width - 8);
        c.fillStyle = theme.back;
        c.fillRect(hit.x0 / this.ratio + 3, y - 7, size + 4, 13);
      }
      c.fillStyle = full ? textOn(hit.colour) : theme.faint;
      this.text(label, hit.x0 / this.ratio + 5, y, width - 8);
    }
    c.strokeStyle = theme.line;
    c.beginPath();
    for (const line of lines) {
      if (line.type === "group") continue;
      c.moveTo(LEFT - 0.5, this.lineTop(line));
      c.lineTo(LEFT - 0.5, this.lineTop(line) + line.height);
    }
    c.stroke();
    const current = view.line && lines.find((line) => this.model.lineKey(line) === view.line);
    if (current) {
      c.fillStyle = theme.accent;
      c.fillRect(0, this.lineTop(current) + 1, 3, current.height - 2);
    }
    this.drawSelection(lines);
    c.restore();
  }

  // Writes a text, cut with an ellipsis if there is not enough room; returns its width.
  text(text, x, y, room) {
    const c = this.context;
    if (room < 12) return 0;
    if (c.measureText(text).width > room) {
      let low = 0, high = text.length;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (c.measureText(text.slice(0, middle) + "…").width <= room) low = middle;
        else high = middle - 1;
      }
      if (!low) return 0;
      text = text.slice(0, low) + "…";
    }
    c.fillText(text, x, y);
    return c.measureText(text).width;
  }

  // Jagged edges where a row's first slice began, or its last one ends, outside of the trace or part.
  drawCuts(line, top) {
    const {context: c, theme, view} = this, {cut, begin, end} = line.row, y = top + 1, step = (line.height - 2) / 6;
    if (!cut || begin > end) return;
    for (const [there, time, way] of [[cut.first, begin, 1], [cut.last, end, -1]]) {
      if (!there || time < view.from || time > view.to) continue;
      const x = this.x(time);
      c.beginPath();
      c.moveTo(x, y);
      for (let i = 1; i < 6; i++) c.lineTo(x + (i % 2 ? 5 * way : 0), y + i * step);
      c.lineTo(x, y + 6 * step);
      c.closePath();
      c.fillStyle = theme.back;
      c.fill();
    }
  }

  drawMarks(line, middle) {
    const marks = this.model.marksOf.get(line.row.number), c = this.context;
    if (!marks || line.nested) return;
    let last = -10;
    if (marks.includes(this.view.mark)) {
      c.strokeStyle = this.theme.text;
      c.lineWidth = 2;
      c.strokeRect(this.x(this.view.mark.time) - 6, middle - line.height / 2 - 1, 12, 10);
      c.lineWidth = 1;
    }
    for (const mark of marks) {
      if (mark.time < this.view.from || mark.time > this.view.to) continue;
      if (this.record) this.record.push(mark);
      const x = this.x(mark.time);
      if (x - last < 3) continue;
      last = x;
      c.fillStyle = mark.log ? this.theme.accent : this.theme.text;
      c.beginPath();
      const y = middle - line.height / 2 + 1;
      if (mark.log) c.moveTo(x - 4, y), c.lineTo(x + 4, y), c.lineTo(x, y + 6);
      else c.rect(x - 0.5, y, 1.5, 5);
      c.fill();
    }
  }

  // Draws counters as steps; the first of several is filled, down to 0.
  drawCounter(line, top) {
    const c = this.context, {from, to} = this.view;
    const least = Math.min(...line.series.map((series) => series.least));
    let most = Math.max(line.own ? 0 : 1, ...line.series.map((series) => series.most));
    if (most === least) most = least + 1;
    const bottom = top + line.height - 3, room = line.height - 6;
    const height = (value) => bottom - (value - least) / (most - least) * room, column = 1 / this.ratio;
    c.fillStyle = this.theme.faint;
    c.font = this.font(11);
    const text = line.bytes ? bytes(most) : least < 0 ? amount(least) + " to " + amount(most) : "≤ " + amount(most), size = c.measureText(text).width;
    this.text(line.title, 18, top + line.height / 2, LEFT - 32 - size);
    c.fillText(text, LEFT - 6 - size, top + line.height / 2);
    line.series.forEach((series, nth) => {
      let i = Math.max(0, series.at(from)), y = height(0);
      if (i === series.length || series.time(i) > to) return;
      c.beginPath();
      let at = Math.max(LEFT, this.x(series.time(i))), low = y, high = y;
      c.moveTo(at, y);
      const endColumn = () => { if (low < y) c.lineTo(at, low); if (high > y) c.lineTo(at, high); c.lineTo(at, y); };
      for (; i < series.length && series.time(i) <= to; i++) {
        const x = Math.max(LEFT, this.x(series.time(i))), value = height(series.value(i));
        if (x < at + column) { // what is in a pixel's column is one line: long paths take longest to draw
          low = Math.min(low, value), high = Math.max(high, value);
        } else {
          endColumn();
          c.lineTo(x, y);
          at = x, low = high = value;
        }
        y = value;
      }
      endColumn();
      const end = Math.min(this.width, this.x(series.file.time + series.file.end));
      c.lineTo(end, y);
      if (nth === 0) {
        c.lineTo(end, height(0));
        c.fillStyle = series.colour(this.theme);
        c.globalAlpha = 0.55;
        c.fill();
        c.globalAlpha = 1;
      }
      if (nth > 0 || line.own) {
        c.strokeStyle = nth > 0 ? this.theme.text : series.colour(this.theme);
        c.stroke();
      }
    });
  }
  // The values of counters at a point of their line, in words.
  counterText(line, x) {
    return line.series.map((series) => {
      const i = series.at(this.time(x));
      return series.name + ": " + (i < 0 ? "no value yet" : line.bytes ? bytes(series.value(i)) : series.value(i));
    }).join("\n");
  }

  // Arrows from wakers and creators, if there are not too many.
  drawArrows(slices) {
    const c = this.context, {from, to, selected} = this.view, lineOf = new Map(), arrows = [];
    const rows = [];
    for (const line of this.visibleLines()) {
      if (line.type === "row" && line.row.kind === KIND.GO) lineOf.set(line.row.number, line), rows.push(line.row.number);
      else if (line.type === "group" && line.folded) for (const number of line.group.rows) lineOf.set(number, line);
    }
    for (const number of rows) {
      const row = this.model.rows[number];
      if (row.parent >= 0 && row.begin >= from && row.begin <= to && lineOf.has(row.parent)) arrows.push([row.parent, number, row.begin]);
      for (const part of slices) {
        const span = part.index.get(number);
        if (!span) continue;
        for (let i = part.search(span, from); i < span.to && part.begin[i] < to && arrows.length < 160; i++)
          if (part.who[i] && part.colour[i] > SYSCALL && part.size[i] === 1 && part.end[i] <= to && lineOf.has(part.who[i] - 1)) arrows.push([part.who[i] - 1, number, part.end[i]]);
      }
    }
    this.arrowCount = arrows.length;
    this.arrows = arrows;
    if (arrows.length > MOST_ARROWS) arrows.length = 0;
    // The arrow of the selected wait is always drawn, from the picture's edge if its goroutine is out of sight.
    if (selected && selected.size === 1 && selected.colour > SYSCALL && selected.who && lineOf.has(selected.row) && selected.end >= from && selected.end <= to)
      arrows.push([selected.who - 1, selected.row, selected.end]);
    c.save();
    c.beginPath();
    c.rect(LEFT, TOP, this.width - LEFT, this.height - TOP);
    c.clip();
    c.strokeStyle = c.fillStyle = this.theme.text;
    c.globalAlpha = 0.6;
    const order = (number) => this.layout.lines.findIndex((line) => line.row?.number === number || (line.folded && line.group.rows.includes(number)));
    for (const [a, b, time] of arrows) {
      const out = () => (order(a) < order(b) ? TOP : this.height);
      const x = this.x(time), y0 = lineOf.has(a) ? this.lineMiddle(lineOf.get(a)) : out(), y1 = this.lineMiddle(lineOf.get(b)), way = Math.sign(y1 - y0);
      c.beginPath();
      c.moveTo(x, y0);
      c.lineTo(x, y1 - 3 * way);
      c.stroke();
      c.beginPath();
      c.moveTo(x, y1);
      c.lineTo(x - 3, y1 - 6 * way);
      c.lineTo(x + 3, y1 - 6 * way);
      c.fill();
    }
    c.restore();
  }

  drawSelection(lines) {
    const selected = this.view.selected, c = this.context;
    if (!selected) return;
    const line = lines.find((l) => l.type === "row" && l.row.number === selected.row);
    if (!line) return;
    const x0 = Math.max(LEFT, this.x(selected.begin)), x1 = Math.min(this.width, this.x(selected.end));
    if (x1 < LEFT || x0 > this.width) return;
    c.strokeStyle = this.theme.text;
    c.lineWidth = 2;
    c.strokeRect(x0 - 1, this.lineTop(line) + 1, Math.max(3, x1 - x0 + 2), line.height - 1);
    c.lineWidth = 1;
  }

  drawRange() {
    const {range, compared} = this.view, c = this.context;
    for (const shown of new Set([compared, range])) {
      if (!shown) continue;
      const x0 = Math.max(LEFT, this.x(shown.from)), x1 = Math.min(this.width, this.x(shown.to));
      if (x1 <= x0) continue;
      c.fillStyle = this.theme.range;
      c.fillRect(x0, OVERVIEW, x1 - x0, this.height - OVERVIEW);
      c.fillStyle = shown === range ? this.theme.accent : this.theme.faint;
      for (const x of [x0, x1 - 1]) c.fillRect(x, TOP, 1, this.height - TOP);
    }
  }

  // Marked times: a line, and on the ruler its number and how long after the one before it is.
  drawFlags() {
    const c = this.context, {flags} = this.view;
    flags.forEach((time, i) => {
      const x = Math.round(this.x(time)) + 0.5;
      if (x < LEFT || x > this.width) return;
      c.strokeStyle = this.theme.accent;
      c.setLineDash([4, 3]);
      c.beginPath();
      c.moveTo(x, TOP);
      c.lineTo(x, this.height);
      c.stroke();
      c.setLineDash([]);
      this.drawLabel(i + 1 + (i ? ": +" + duration(time - flags[i - 1]) : ": " + moment(time)), x);
    });
  }
  // The length of the selected time, in its middle.
  drawLength() {
    const range = this.view.range, edge = (time) => Math.max(LEFT, Math.min(this.x(time), this.width));
    if (!range || this.x(range.to) < LEFT || this.x(range.from) > this.width) return;
    const text = duration(range.to - range.from), c = this.context;
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    this.drawLabel(text, (edge(range.from) + edge(range.to) - c.measureText(text).width) / 2 - 4);
  }
  // A text on the ruler, within the picture.
  drawLabel(text, x) {
    const c = this.context;
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    const size = c.measureText(text).width + 8, left = Math.max(LEFT, Math.min(x, this.width - size));
    c.fillStyle = this.theme.accent;
    c.fillRect(left, OVERVIEW + 2, size, RULER - 4);
    c.fillStyle = this.theme.back;
    c.fillText(text, left + 4, OVERVIEW + RULER / 2);
  }

  drawRuler() {
    const c = this.context, {from, to} = this.view, width = this.width - LEFT;
    c.fillStyle = this.theme.back;
    c.fillRect(0, OVERVIEW, LEFT, RULER);
    c.fillStyle = this.theme.faint;
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    let step = 10 ** Math.floor(Math.log10((to - from) / width * 110));
    while ((to - from) / step * 110 > width) step *= step.toString()[0] === "2" ? 2.5 : 2;
    const unit = to >= 1e9 ? [1e9, "s"] : to >= 1e6 ? [1e6, "ms"] : to >= 1e3 ? [1e3, "µs"] : [1, "ns"];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / unit[0]) - 1e-9));
    c.strokeStyle = this.theme.line;
    c.beginPath();
    for (let i = Math.ceil(from / step), count = (to - from) / step; count >= 0; i++, count--) {
      const time = i * step;
      if (time > to) break;
      const x = Math.round(this.x(time)) + 0.5;
      c.moveTo(x, OVERVIEW + RULER - 6);
      c.lineTo(x, OVERVIEW + RULER);
      const label = (time / unit[0]).toFixed(digits) + " " + unit[1];
      if (x + 3 + c.measureText(label).width < this.width) c.fillText(label, x + 3, OVERVIEW + RULER / 2);
    }
    c.moveTo(0, TOP - 0.5);
    c.lineTo(this.width, TOP - 0.5);
    c.stroke();
    c.fillText(duration(to - from), 6, OVERVIEW + RULER / 2);
  }

  // The overview: running and runnable goroutines over the whole trace, and the position of the picture.
  drawOverview() {
    const c = this.context, data = this.data, span = data.end - data.begin || 1, width = this.width - LEFT;
    if (!this.overview) {
      const values = [new Float64Array(width + 1), new Float64Array(width + 1)], column = (time) => Math.max(0, Math.min(Math.floor((time - data.begin) / span * width), width));
      for (const file of data.files) // the most of each column; of all traces together
        for (const k of [0, 1]) {
          const series = data.outline ? this.readCounts(k) : file.counts[k], most = new Float64Array(width + 1), end = data.outline ? data.outline.points.at(-1)?.[0] : file.time + file.end;
          for (let i = 0; i < series.length; i++) {
            const last = column(i + 1 < series.length ? series.time(i + 1) : end);
            for (let x = column(series.time(i)); x <= last; x++) most[x] = Math.max(most[x], series.value(i));
          }
          most.forEach((value, x) => { values[k][x] += value; });
        }
      this.overview = {values, most: values.flatMap((list) => [...list]).reduce((most, value) => Math.max(most, value), 1)};
    }
    c.fillStyle = this.theme.back;
    c.fillRect(0, 0, this.width, OVERVIEW);
    const room = OVERVIEW - 6;
    for (const k of [1, 0]) {
      c.fillStyle = this.theme.states[k];
      for (let x = 0; x < width; x++) {
        const value = this.overview.values[k][x];
        if (value) c.fillRect(LEFT + x, OVERVIEW - 2 - value / this.overview.most * room, 1, value / this.overview.most * room);
      }
    }
    if (data.outline) this.drawSums(room);
    c.fillStyle = this.theme.faint;
    c.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    c.fillText((data.begin > 0 ? "this part: " : "all: ") + duration(span), 6, 14);
    const told = data.outline && !data.outline.points.length ? "how much all threads wrote" : STATES[RUNNING] + ", runnable" + (data.recorded ? "" : " goroutines") + ": ≤ " + this.overview.most;
    this.text(told, 6, 30, LEFT - 12);
    const x0 = LEFT + (this.view.from - data.begin) / span * width, x1 = LEFT + (this.view.to - data.begin) / span * width;
    c.fillStyle = this.theme.range;
    c.fillRect(x0, 0, Math.max(2, x1 - x0), OVERVIEW);
    c.strokeStyle = this.theme.accent;
    c.strokeRect(x0 + 0.5, 0.5, Math.max(2, x1 - x0) - 1, OVERVIEW - 1);
    c.strokeStyle = this.theme.line;
    c.beginPath();
    c.moveTo(0, OVERVIEW - 0.5);
    c.lineTo(this.width, OVERVIEW - 0.5);
    c.stroke();
  }

  // Running or runnable goroutines of what has been read so far.
  readCounts(k) { return new Series(this.data.files[0], "", this.data.outline.points.flat(), 3, 1 + k); }
  // Of what has not been read, how much all threads wrote.
  drawSums(room) {
    const c = this.context, {outline, begin, end} = this.data, width = this.width - LEFT, read = outline.points.at(-1)?.[0] ?? 0;
    c.fillStyle = this.theme.line;
    for (let x = Math.floor((read - begin) / (end - begin) * width); x < width; x++) {
      const share = outline.sums[outline.column(begin + x / width * (end - begin))] || 0;
      c.fillRect(LEFT + x, OVERVIEW - 2 - share * room, 1, share * room);
    }
  }

  statusText() {
    if (this.data.outline) return this.data.outline.text(this.view.from, this.view.to);
    if (this.level > this.wanted) return "loading details…";
    const lost = Object.entries(LEFT_OUT).filter(([table]) => this.data.lost[table]).map(([table, text]) => text.replace("#", this.data.lost[table].toLocaleString("en")));
    const left = lost.length ? "Left out, because it came last: " + lost.join(", ") + ". For these: " + (this.data.files.every((file) => file.trace) ? "select a time and open it alone. " : "gotrace view --from, or a filter. ") : "";
    const perPixel = (this.view.to - this.view.from) / ((this.width - LEFT) * this.ratio);
    const [procs, others] = this.data.finest.map(levelSize);
    // A page of most of the trace would again be too large, so that of a smaller part is suggested.
    const {from, to} = this.view, most = (this.data.end - this.data.begin) / 2, fits = to - from <= most;
    const begin = fits ? from : (from + to - most / 5) / 2, end = fits ? to : begin + most / 5;
    if (Math.max(procs, others) > perPixel)
      return left + (others * 200 > this.data.end - this.data.begin ? "This page has no room for most slices" : "This page is " + (left ? "otherwise " : "") + "complete down to " + duration(others) + " a pixel") + (procs < others ? " (procs and threads: " + (procs ? duration(procs) : "to the end") + ")" : "") +
        ". For all details of " + (fits ? "this range" : "a part") + ": gotrace view --from " +
        Math.max(0, Math.floor(begin)) + " --to " + Math.ceil(end) + " -o part.html " + this.data.name;
    return (this.arrowCount > MOST_ARROWS ? "Zoom in to see who woke whom. " : "") +
      left +
      "Wheel: scroll. Ctrl+wheel, W, S: zoom. Drag: move. Click on a slice: what it is. Keys: ?";
  }

  // The slice at a point: {row, begin, end, size, colour, what, who, times}; null: none.
  at(x, y) {
    const line = this.lineAt(y);
    if (!line || line.type !== "row" || x < LEFT) return null;
    const time = this.time(x), slack = (this.view.to - this.view.from) / (this.width - LEFT);
    let best = null;
    for (const part of this.chooseChunks()) {
      const span = part.index.get(line.row.number);
      if (!span) continue;
      const i = part.search(span, time - slack);
      if (i >= span.to || part.begin[i] > time + slack) continue;
      const distance = Math.max(0, part.begin[i] - time, time - part.end[i]);
      if (!best || distance < best.distance || (distance === best.distance && !part.merged)) best = {distance, part, i};
    }
    return best && sliceOf(line.row.number, best.part, best.i);
  }
  // The time at a point, or a near one that is marked or at which a slice begins or ends: on the line there, or on any if the
  // point is on the ruler. Slices that are drawn together have no such times.
  snap(x, y) {
    const time = this.time(x), reach = SNAP * (this.view.to - this.view.from) / (this.width - LEFT);
    let best = time, least = reach;
    const near = (edge) => { if (Math.abs(edge - time) <= least) best = edge, least = Math.abs(edge - time); };
    this.view.flags.forEach(near);
    for (const line of y < TOP ? this.visibleLines() : [this.lineAt(y)]) {
      if (line?.type !== "row") continue;
      for (const part of this.chooseChunks()) {
        const span = part.index.get(line.row.number);
        if (!span) continue;
        for (let i = part.search(span, time - reach); i < span.to && part.begin[i] <= time + reach; i++)
          if (part.size[i] === 1) near(part.begin[i]), near(part.end[i]);
      }
    }
    return best;
  }
  lineAt(y) {
    return y < TOP ? null : this.visibleLines().find((line) => this.lineTop(line) <= y && y < this.lineTop(line) + line.height);
  }
  markAt(x, y) {
    const line = this.lineAt(y), marks = line?.row && this.model.marksOf.get(line.row.number);
    if (!marks || y - this.lineTop(line) > 9) return null;
    return marks.find((mark) => Math.abs(this.x(mark.time) - x) < 5) || null;
  }
}

// The stopped worlds of a row in a range, also some that are drawn together: {begin, end, time}, `time` being what of it the
// world was stopped.
function *stopsOf(parts, number, from, to) {
  for (const part of parts) {
    const span = part.index.get(number);
    if (!span) continue;
    for (let i = part.search(span, from); i < span.to && part.begin[i] < to; i++)
      if (part.end[i] > part.begin[i]) yield {begin: part.begin[i], end: part.end[i], time: part.times(i).reduce((sum, time) => sum + time, 0)};
  }
}

// Adds up the slices of rows by column and colour, step by step.
function *addStrip(strip, rows, parts) {
  const {from, to, columns, sums} = strip, scale = columns / (to - from), times = new Float64Array(COLOURS), whole = new Float64Array((columns + 2) * COLOURS);
  for (const number of rows) {
    for (const part of parts) {
      const span = part.index.get(number);
      if (!span) continue;
      for (let i = part.search(span, from); i < span.to && part.begin[i] < to; i++) {
        const length = part.end[i] - part.begin[i], low = Math.max(0, (part.begin[i] - from) * scale), high = Math.min(columns, (part.end[i] - from) * scale);
        if (i % 512 === 0) yield;
        if (!length || high <= low) continue;
        part.times(i, times.fill(0));
        const first = Math.floor(low), last = Math.min(columns - 1, Math.floor(high));
        for (let c = 0; c < COLOURS; c++) {
          const share = times[c] / length;
          if (!share) continue;
          if (first === last) { sums[first * COLOURS + c] += share * (high - low); continue; }
          sums[first * COLOURS + c] += share * (first + 1 - low), sums[last * COLOURS + c] += share * (high - last);
          whole[(first + 1) * COLOURS + c] += share, whole[last * COLOURS + c] -= share; // of all columns between
        }
      }
      yield;
    }
  }
  let most = 0;
  for (let x = 0; x < columns; x++) {
    let sum = 0;
    for (let c = 0; c < COLOURS; c++) {
      if (x) whole[x * COLOURS + c] += whole[(x - 1) * COLOURS + c];
      sum += sums[x * COLOURS + c] += whole[x * COLOURS + c];
    }
    most = Math.max(most, sum);
  }
  strip.most = most || -1;
}

function sliceOf(row, part, i) {
  return {row, begin: part.begin[i], end: part.end[i], size: part.size[i], colour: part.colour[i], what: part.what[i], who: part.who[i],
    times: part.times(i)};
}

// A number in few characters.
function amount(value) {
  return String(Number.isInteger(value) && Math.abs(value) < 1e9 ? value : Number(value.toPrecision(4)));
}

function bytes(value) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) if (value >= size) return (value / size).toFixed(1) + " " + unit;
  return value + " B";
}
