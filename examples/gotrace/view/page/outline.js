// outline.js - a large trace while it is read: which threads wrote how much when, and windows that are read at once
//
// `gotrace view --batches` tells where the generations of a trace are, without reading its events (view_batches.c). The
// generations in which a window lies are a trace by themselves, which the tool reads from there on, in a worker beside the
// one that reads the whole. How long that takes depends on the size of generations, not of the trace.

const HEADER = 16; // bytes of a trace, before its first generation
const MOST_AT_ONCE = 1e8, MOST_SHARE = 0.75; // bytes of a trace that are read for a window, and their share of it
const AROUND = 1; // how much is read on each side of a window, in its lengths
const LATE = 2e8; // nanoseconds: on a busy machine a generation's last event was 45 ms later than the first of the next one, whose events then all count as later than that
const LINE = 18; // pixels of a thread
const MOST_POINTS = 2000; // of running and runnable goroutines

// Tables of a trace of which nothing has been read.
const NOTHING = {rows: [], cuts: [], details: [], marks: [], tasks: [], functions: [], spans: [], counters: [], series: [], texts: [""], stacks: [0], frames: [],
  chunks: [], lost: {}, finest: [0, 0], coarsest: 0, events: 0, format: "", filtered: false, recorded: false, running: "running", id: ""};

// Points [time, ...values] have the most since the one before; so has one in place of two, when there are more than can be seen.
function addPoints(points, more) {
  points = points.concat(more);
  while (points.length > MOST_POINTS) {
    const all = points;
    points = all.filter((_, i) => i % 2 || i === all.length - 1).map(([time, ...counts], i) => [time, ...counts.map((count, k) => Math.max(count, all[2 * i][k + 1]))]);
  }
  return points;
}

class Outline {
  // `told`: by gotrace view --batches.
  constructor(trace, told) {
    const {base, begin, end, generations, threads} = told;
    Object.assign(this, {trace, base, first: begin, begin: 0, end: Math.max(end, 1), generations, threads, points: [], progress: "", shown: null, pending: null, message: "", refused: ""}); // refused: why the last window cannot be shown
    this.most = threads.reduce((most, {columns}) => columns.reduce((a, b) => Math.max(a, b), most), 1);
    const columns = threads[0].columns.map((_, i) => threads.reduce((sum, thread) => sum + thread.columns[i], 0)), all = Math.max(1, ...columns);
    this.sums = columns.map((sum) => sum / all); // of all threads, as shares of the most
  }
  // The data that are shown: of the last window that was read.
  data() { return new Data([this.shown || {...NOTHING, name: this.trace.name, begin: 0, end: this.end, trace: this.trace}], this); }
  // Whether what was read is worth showing in a picture; otherwise it would be lost in it.
  covers(from, to) { return this.shown !== null && this.shown.begin <= to && this.shown.end >= from && to - from <= 8 * (this.shown.end - this.shown.begin); }
  // Whether a time is read by itself: not if that takes as long as reading all.
  fits(from, to) { return this.piece(from, to).size <= Math.min(MOST_AT_ONCE, MOST_SHARE * this.trace.file.size); }
  // The generations in which a time lies, and the one before if that may have events so late: see LATE.
  piece(from, to) {
    const {generations} = this, at = (time) => Math.max(0, generations.findLastIndex(({begin}) => begin <= time));
    const first = Math.max(at(from - LATE), at(from) - 1, 0), last = at(to), {at: begin} = generations[first];
    return {first, at: begin, size: generations[last].at + generations[last].size - begin};
  }
  // Reads what a window needs, unless it is there or on its way. Returns whether there is something new. What a window needed that
  // is not shown any more is not waited for.
  async look(from, to) {
    const within = (part) => part && part.begin <= Math.max(from, 0) && part.end >= Math.min(to, this.end);
    if (within(this.shown) || within(this.pending)) return false;
    this.pending?.ended.abort();
    this.pending = null, this.refused = "";
    if (!this.fits(from, to)) return false;
    const size = to - from, wide = [from - AROUND * size, to + AROUND * size], wanted = this.fits(...wide) ? wide : [from, to];
    const part = this.pending = {begin: Math.max(0, Math.floor(wanted[0])), end: Math.min(this.end, Math.ceil(wanted[1])), ended: new AbortController()};
    try {
      const {first, at, size} = this.piece(part.begin, part.end), words = ["--from=" + part.begin + "ns", "--to=" + part.end + "ns"];
      const read = new Trace(this.trace.reader, this.trace.source.part(at, size), this.trace.name, first ? ["--base=" + this.base, ...words] : words, "");
      const found = await read.read(() => {}, part.ended.signal);
      if (this.pending !== part) return false;
      this.shown = Object.assign(found, {trace: this.trace, begin: part.begin, end: part.end, errors: ""});
      return true;
    } catch (error) {
      if (this.pending !== part) return false; // what is looked at by now is another time
      throw error;
    } finally {
      if (this.pending === part) this.pending = null;
    }
  }
  facts() { return "about " + duration(this.end) + (this.progress && ", reading: " + this.progress); }
  // All is read, and shown.
  over() {
    this.pending?.ended.abort();
    this.pending = this.shown = null; // it is large, and this object may be kept
  }
  // What the page says of a picture.
  text(from, to) {
    if (this.pending) return "reading this time…";
    if (this.covers(from, to)) return (this.message ? "Only" : "Until all is read, only") + " the time that you look at is shown, and of its rows nothing earlier.";
    if (this.refused) return "This time cannot be shown: " + this.refused;
    if (this.message) return this.message;
    const zooms = this.generations.some(({begin}) => this.fits(begin, begin)) && !this.fits(from, to);
    return "Which threads wrote how much when. " + (zooms ? "Zoom in to see all that happened, before all is read." : "Details come when all is read.");
  }
  // The lines of the picture, as Model.lines().
  lines() { return {lines: this.threads.map((of, i) => ({type: "thread", of, y: LINE * i, height: LINE})), height: LINE * this.threads.length, grow: 1}; }
  // The share of a line's height that a thread has at a time.
  share({columns}, time) { return Math.sqrt((columns[this.column(time)] || 0) / this.most); }
  column(time) { return Math.min(this.sums.length - 1, Math.floor((time - this.first) / (this.end - this.first || 1) * this.sums.length)); }
}
