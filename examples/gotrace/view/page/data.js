// data.js - reads the page's data: the table of contents, and chunks of slices on demand
//
// view_data.c and view_levels.c write it. A trace's times are in nanoseconds since its first event, and what its tables and
// slices refer to has numbers from 0. Several traces are shown together: all that is read from them gets the numbers and
// times of the picture, which are those of the first trace if it is alone. See Data.place.

const LEVELS = 14, COLOURS = 8;
const levelSize = (level) => (level ? 16 * 8 ** level : 0);

// The bytes of an element with compressed data. They are read only once, so the element's text is then dropped.
async function inflate(id) {
  const element = document.getElementById(id);
  const text = atob(element.textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// FNV-1a, of a part of much.
function hashOf(bytes) {
  let sum = bytes.length;
  for (let at = 0, step = Math.ceil(bytes.length / 1e6); at < bytes.length; at += step) sum = Math.imul(sum ^ bytes[at], 16777619);
  return (sum >>> 0).toString(36);
}

// Reads numbers in base 128.
class Numbers {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, factor = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte & 128);
    return value;
  }
  skip() {
    while (this.bytes[this.at++] & 128) continue;
  }
  nextSigned() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

// The slices of a chunk, sorted by row, then by time. Those of row r are from `from` to `to` of index.get(r).
class Slices {
  constructor(bytes, count, merged, file) {
    const rowCount = file.rows.length / 7, numbers = new Numbers(bytes), rows = new Uint32Array(count), at = new Uint32Array(count);
    const first = new Uint32Array(rowCount + 1), end = new Float64Array(count), length = new Float64Array(count);
    let last = 0;
    for (let i = 0; i < count; i++) { // where each record is; the number of records of each row
      rows[i] = numbers.next();
      first[rows[i] + 1]++;
      last += numbers.nextSigned();
      end[i] = last;
      length[i] = numbers.next();
      at[i] = numbers.at;
      if (merged) {
        const size = numbers.next();
        for (let colours = bytes[numbers.at++]; colours; colours &= colours - 1) numbers.skip();
        if (size > 1) continue;
      } else {
        numbers.at++;
      }
      numbers.skip();
      numbers.skip();
    }
    this.bytes = bytes;
    this.merged = merged;
    this.index = new Map();
    for (let row = 0; row < rowCount; row++) {
      if (first[row + 1]) this.index.set(file.firstRow + row, {from: first[row], to: first[row] + first[row + 1]});
      first[row + 1] += first[row];
    }
    this.begin = new Float64Array(count), this.end = new Float64Array(count);
    this.what = new Uint32Array(count), this.who = new Uint32Array(count), this.size = new Uint32Array(count);
    this.colour = new Uint8Array(count), this.place = new Uint32Array(count);
    for (let i = 0; i < count; i++) {
      const to = first[rows[i]]++;
      this.end[to] = file.time + end[i], this.begin[to] = this.end[to] - length[i];
      numbers.at = at[i];
      this.size[to] = merged ? numbers.next() : 1;
      this.place[to] = numbers.at;
      this.colour[to] = merged ? this.mostOf(numbers) : bytes[numbers.at++];
      if (this.size[to] === 1) this.what[to] = numbers.next(), this.who[to] = numbers.next();
    }
    this.renumber(file);
  }
  // Makes what slices refer to (see view.c) that of the picture.
  renumber(file) {
    const {what, who} = this;
    for (const [row, {from, to}] of this.index) {
      const kind = file.rows[7 * (row - file.firstRow)], region = kind === KIND.REGION || kind === KIND.EARLY;
      const named = region || kind === KIND.STW, more = kind === KIND.GO ? file.firstDetail : 0;
      const by = region ? file.firstTask : kind === KIND.TASK ? 0 : file.firstRow;
      for (let i = from; i < to; i++) {
        if (this.size[i] > 1) continue;
        what[i] = named ? file.textAt[what[i]] : what[i] + more;
        if (who[i]) who[i] += by;
      }
    }
  }
  // The colour with the largest share of a merged slice's time.
  mostOf(numbers) {
    const colours = this.bytes[numbers.at++];
    let most = -1, best = 0;
    for (let c = 0; c < COLOURS; c++) {
      if (!(colours >> c & 1)) continue;
      const time = numbers.next();
      if (time > most) most = time, best = c;
    }
    return best;
  }
  // The first slice of a row that ends after the given time.
  search(span, time) {
    let low = span.from, high = span.to;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
  // The time of each colour in a slice. `times` must be zero.
  times(i, times = new Float64Array(COLOURS)) {
    if (!this.merged) {
      times[this.colour[i]] = this.end[i] - this.begin[i];
      return times;
    }
    const numbers = new Numbers(this.bytes);
    numbers.at = this.place[i];
    const colours = this.bytes[numbers.at++];
    for (let c = 0; c < COLOURS; c++) if (colours >> c & 1) times[c] = numbers.next();
    return times;
  }
}

// A part of a level. `slices` is set once it is loaded.
class Chunk {
  // `bytes`: a function that gets the chunk's bytes.
  constructor(file, level, merged, begin, end, count, bytes) {
    Object.assign(this, {file, level, merged, begin, end, count, bytes, slices: null, loading: null, used: 0});
  }
  load() {
    if (this.slices) return Promise.resolve();
    if (!this.loading)
      this.loading = this.bytes().then((bytes) => {
        this.slices = new Slices(bytes, this.count, this.merged, this.file);
        this.loading = null;
      });
    return this.loading;
  }
}

// A counter: times and values, `stride` numbers apart in a list; the time is the first of them, the value at `place`.
class Series {
  constructor(file, name, list, stride, place, colour) {
    Object.assign(this, {file, name, list, stride, place, colour, length: list.length / stride, least: 0, most: -Infinity});
    for (let i = 0; i < this.length; i++) this.least = Math.min(this.least, this.value(i)), this.most = Math.max(this.most, this.value(i));
  }
  time(i) { return this.file.time + this.list[i * this.stride]; }
  value(i) { return this.list[i * this.stride + this.place]; }
  // The last point at or before a time; -1: none.
  at(time) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time(middle) > time) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}

const MOST_LOADED = 6e6; // slices
const MOST_APART = 1000; // times the longest trace: of traces that are farther apart nothing could be seen together

// A trace's data: the fields of the table of contents, and `bytes`, which gets those of the chunk with a number, which a
// stream has at an offset.
const FileData = {
  // The data in the page.
  async ofPage() {
    const contents = await inflate("contents0");
    return FileData.of(contents, (number) => inflate("chunk" + number));
  },
  // The data of a stream, a Blob: chunks, contents, and the size of the contents.
  async ofStream(stream) {
    const size = Number(await stream.slice(-16).text());
    const contents = new Uint8Array(await stream.slice(-16 - size, -16).arrayBuffer());
    return FileData.of(contents, async (number, at, bytes) => new Uint8Array(await stream.slice(at, at + bytes).arrayBuffer()));
  },
  of(contents, bytes) {
    return Object.assign(JSON.parse(new TextDecoder().decode(contents)), {bytes, trace: null, id: hashOf(contents)});
  },
};

// When a trace's first event was, in nanoseconds since 1970; null: it has no wall clock.
function wallOf({began}) {
  const [, second, fraction] = /^(.*)\.(\d{9})Z$/.exec(began || "") || [];
  return second ? BigInt(Date.parse(second + "Z")) * 1000000n + BigInt(fraction) : null;
}

// A text without marks and overrides of the direction, which could forge what a line says.
const plain = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "?");

class Data {
  // `given`: of FileData; at least one. They stay as they are, for other pictures. `outline`: of a trace that is being read.
  constructor(given, outline = null) {
    const sum = (value) => given.reduce((all, file) => all + value(file), 0), alike = (values) => [...new Set(values)].join(" and ");
    const titles = new Set();
    let files = given.map((file) => ({...file}));
    for (const file of files) { // whose titles tell them apart
      const name = plain(file.name) + (given.length > 1 && file.program ? " (" + plain(file.program) + ")" : "");
      file.title = name;
      for (let count = 2; titles.has(file.title); count++) file.title = name + " (" + count + ")";
      titles.add(file.title);
    }
    this.placeInTime(files);
    files = [...files].sort((a, b) => a.time - b.time);
    const began = !this.apart && files.find((file) => !file.time)?.began;
    Object.assign(this, {files, began, several: files.length > 1, name: files.map((file) => file.title).join(", "), id: files.map((file) => file.id).join(),
      format: alike(files.map((file) => file.format)), events: sum((file) => file.events), running: alike(files.map((file) => file.running)),
      filtered: files.some((file) => file.filtered), recorded: files.every((file) => file.recorded),
      begin: Math.min(...files.map((file) => file.time + file.begin)), end: Math.max(...files.map((file) => file.time + file.end)),
      finest: [0, 1].map((part) => Math.max(...files.map((file) => file.finest[part]))), coarsest: Math.max(...files.map((file) => file.coarsest)), lost: {}, outline});
    if (outline) this.begin = outline.begin, this.end = outline.end;
    for (const file of files) for (const table in file.lost) this.lost[table] = (this.lost[table] || 0) + file.lost[table];
    // By class (0: procs, threads, collector; 1: all other rows) and level. Each class has its own finest level.
    const lists = () => [0, 1].map(() => Array.from({length: LEVELS}, () => []));
    this.own = lists(), this.mergedOf = lists();
    this.chunks = [];
    this.texts = [], this.stacks = [], this.stackAt = [], this.frames = [];
    const places = new Map(), next = {row: 0, detail: 0, task: 0};
    files.forEach((file, number) => this.place(file, number, places, next));
  }
  // Traces that all have the wall clock have its times, from the first event of the first of them on; others begin together.
  placeInTime(files) {
    const walls = files.map(wallOf), first = walls.reduce((least, wall) => (wall < least ? wall : least));
    const without = files.filter((file, i) => walls[i] === null);
    files.forEach((file, i) => { file.time = without.length ? 0 : Number(walls[i] - first); });
    const length = (begin) => Math.max(...files.map((file) => begin(file) + file.end)) - Math.min(...files.map((file) => begin(file) + file.begin));
    const apart = !without.length && length((file) => file.time) > MOST_APART * length(() => 0);
    if (apart) for (const file of files) file.time = 0;
    this.apart = files.length === 1 ? "" : without.length ? "Each trace is shown from its own beginning, since " + (without.length > 2 ? without.length + " of them" : without.map((file) => file.title).join(" and ")) + (without.length > 1 ? " have" : " has") + " no wall clock (Go writes it from 1.25 on, gotrace record with --children or --format 1.25)."
      : apart ? "Each trace is shown from its own beginning, since they are too far apart." : "";
  }
  // Gives the numbers of the picture to all that a trace has.
  place(file, number, places, next) {
    Object.assign(file, {number, firstRow: next.row, firstDetail: next.detail, firstTask: next.task, firstStack: this.stackAt.length});
    next.row += file.rows.length / 7, next.detail += file.details.length / 7, next.task += file.tasks.length / 5;
    file.textAt = file.texts.map((raw) => {
      const text = plain(raw);
      if (!places.has(text)) places.set(text, this.texts.push(text) - 1);
      return places.get(text);
    });
    for (let i = 0; i < file.chunks.length; i += 8) {
      const [part, level, merged, begin, end, count, at, size] = file.chunks.slice(i, i + 8);
      const chunk = new Chunk(file, level, merged === 1, file.time + begin, file.time + end, count, () => file.bytes(i / 8, at, size));
      (chunk.merged ? this.mergedOf : this.own)[part][level].push(chunk);
      this.chunks.push(chunk);
    }
    const frame = this.frames.length / 3;
    file.frames.forEach((value, i) => this.frames.push(i % 3 === 2 ? value : file.textAt[value]));
    for (let at = 0; at < file.stacks.length;) {
      const size = file.stacks[at++];
      this.stackAt.push(this.stacks.length);
      this.stacks.push(size);
      for (let i = 0; i < size; i++) this.stacks.push(frame + file.stacks[at++]);
    }
  }
  // The coarsest level whose pixels are not longer than those of the picture.
  levelFor(nanosecondsPerPixel) {
    let level = 0;
    while (level < this.coarsest && levelSize(level + 1) <= nanosecondsPerPixel) level++;
    return level;
  }
  // The chunks for a picture of a range at a level: merged slices of that level, and own slices of that and all coarser
  // levels. For a class without the level, its finest one is used.
  chunksFor(level, from, to) {
    const found = [];
    const take = (chunk) => { if (chunk.begin <= to && chunk.end >= from) found.push(chunk); };
    this.finest.forEach((finest, part) => {
      const first = Math.max(level, finest);
      this.mergedOf[part][first].forEach(take);
      for (let k = first; k < LEVELS; k++) this.own[part][k].forEach(take);
    });
    return found;
  }
  // The same chunks if all are loaded. Otherwise null; if `then` is given, they are loaded and it is called.
  loaded(level, from, to, then) {
    const chunks = this.chunksFor(level, from, to), missing = chunks.filter((chunk) => !chunk.slices);
    for (const chunk of chunks) chunk.used = performance.now();
    if (!missing.length) return chunks;
    if (then) Promise.all(missing.map((chunk) => chunk.load())).then(then);
    return null;
  }
  async load(level, from, to) {
    const chunks = this.chunksFor(level, from, to);
    await Promise.all(chunks.map((chunk) => chunk.load()));
    return chunks;
  }
  // Drops the least recently used slices.
  forget() {
    const loaded = this.chunks.filter((chunk) => chunk.slices).sort((a, b) => b.used - a.used);
    let sum = 0;
    for (const chunk of loaded) {
      sum += chunk.count;
      if (sum > MOST_LOADED) chunk.slices = null;
    }
  }
  // The innermost function of a stack; empty: unknown.
  innermost(number) {
    const at = this.stackAt[number];
    return this.stacks[at] ? this.texts[this.frames[3 * this.stacks[at + 1]]] : "";
  }
  // The frames of a stack, innermost first.
  stack(number) {
    const at = this.stackAt[number], frames = [];
    for (let i = 1; i <= this.stacks[at]; i++) {
      const frame = 3 * this.stacks[at + i];
      frames.push({function: this.texts[this.frames[frame]], file: this.texts[this.frames[frame + 1]], line: this.frames[frame + 2]});
    }
    return frames;
  }
}
