// worker.js - runs the tool, as WebAssembly, on a file: what of WASI it needs
//
// reader.js asks {module, file, index, words}; file and index are each a File, or {url, size} of one that is served, or {url, size, skipped} of
// one without so many bytes after its first HEADER; index may be null. The
// tool finds them as /trace and /trace.gtx, reads them where it needs to, and writes to standard output. The answers are {progress, sketch}, from 0 to 1, with
// points [time, running, runnable], and {piece}, of the output; and at last {status, errors, read, memory}: how many bytes of the file were read,
// and how many the tool had. Another worker with this script makes blobs: it is asked {piece, to}, and answers {blob} or {error} to that port.

"use strict";

// Of the file, in memory. The tool goes through each generation several times: what fits is fetched once. With room
// for 24 blocks, 167 were fetched for a window that needs 34.
const BLOCK = 1 << 20, KEPT = 64;
const MOST_AT_ONCE = navigator.userAgent.includes("Firefox") ? 1 : 8; // blocks, where one after another is asked for: in Chromium the same bytes then take half the time, in Firefox 0.95 of it, and 100 MB more memory
const HEADER = 16; // bytes of a trace, before its first generation
const GARBAGE = 1 << 23; // bytes a block, never touched, by which the browser looks more often for blocks that are no longer used
const PIECE = 17 << 20; // of the output; the browser may keep large ones outside of its memory: see Reader.run
const OK = 0, BAD_DESCRIPTOR = 8, INVALID = 28, NO_ENTRY = 44, NOT_SUPPORTED = 52;
const DIRECTORY = 3, REGULAR = 4; // types of files
const ROOT = 3, FILES = {trace: 4, "trace.gtx": 5}; // descriptors

// Ends the tool; `message`: why, if the tool has not told it.
class Exit {
  constructor(status, message = "") { Object.assign(this, {status, message}); }
  toString() { return this.message; }
}

// The file, in blocks, of which the latest are kept.
class Input {
  constructor(file) {
    Object.assign(this, {file, blocks: new Map(), reader: new FileReaderSync(), at: 0, fetched: 0, next: 0, count: 0}); // next: after the `count` blocks that were fetched last
  }
  fetch(from, to) {
    const {file, reader} = this, {skipped = 0} = file, end = Math.min(to, file.size);
    if (!file.url) return reader.readAsArrayBuffer(file.slice(from, to));
    if (!skipped || from >= HEADER) return this.ask(from + skipped, end + skipped);
    const all = new Uint8Array(end - from);
    all.set(new Uint8Array(this.ask(from, HEADER)));
    if (end > HEADER) all.set(new Uint8Array(this.ask(HEADER + skipped, end + skipped)), HEADER - from);
    return all.buffer;
  }
  ask(from, end) {
    const request = new XMLHttpRequest();
    request.open("GET", this.file.url, false);
    request.setRequestHeader("Range", "bytes=" + from + "-" + (end - 1));
    request.responseType = "arraybuffer";
    try {
      request.send();
    } catch {
      throw new Exit(1, "gotrace view, which served the trace to this page, has ended: start it again");
    }
    if (request.status !== 206) throw new Exit(1, "the server's answer is " + request.status);
    return request.response;
  }
  block(number) {
    if (!this.blocks.has(number)) this.fetchBlocks(number);
    const block = this.blocks.get(number);
    this.blocks.delete(number); // it becomes the latest
    this.blocks.set(number, block);
    return block;
  }
  // Frees the block's memory at once, if no other block is in it: see Reader.keep.
  forget(number) {
    const {buffer, length} = this.blocks.get(number);
    this.blocks.delete(number);
    if (length === buffer.byteLength) buffer.transfer?.(0);
  }
  end() {
    for (const {buffer} of this.blocks.values()) if (buffer.byteLength) buffer.transfer?.(0);
    this.blocks.clear();
  }
  // Fetches a block, and those after it if blocks were fetched in this order before: each time twice as many.
  fetchBlocks(number) {
    const {blocks} = this, left = Math.ceil(this.file.size / BLOCK) - number, most = number === this.next ? Math.min(2 * this.count, MOST_AT_ONCE, left) : 1;
    let count = 1;
    while (count < most && !blocks.has(number + count)) count++;
    while (blocks.size > KEPT - count) this.forget(blocks.keys().next().value);
    new ArrayBuffer(GARBAGE * count);
    const bytes = new Uint8Array(this.fetch(number * BLOCK, (number + count) * BLOCK));
    for (let i = count; i-- > 0;) blocks.set(number + i, bytes.subarray(i * BLOCK, (i + 1) * BLOCK)); // the last one is the first to go
    this.fetched += bytes.length;
    this.next = number + count, this.count = count;
  }
  // Fills `to` with what is at an offset; returns the number of bytes.
  read(to, offset) {
    let done = 0;
    while (done < to.length && offset + done < this.file.size) {
      const at = offset + done, block = this.block(Math.floor(at / BLOCK)), from = at % BLOCK;
      const part = block.subarray(from, from + to.length - done);
      if (!part.length) break;
      to.set(part, done);
      done += part.length;
    }
    return done;
  }
}

// What is written, in pieces, which `take` gets.
class Output {
  constructor(take) { this.take = take, this.piece = null, this.size = 0; }
  write(bytes) {
    for (let at = 0; at < bytes.length;) {
      this.piece ??= new Uint8Array(PIECE);
      const part = bytes.subarray(at, at + PIECE - this.size);
      this.piece.set(part, this.size);
      this.size += part.length, at += part.length;
      if (this.size === PIECE) this.end();
    }
  }
  end() {
    if (this.size) this.take(this.size === PIECE ? this.piece : this.piece.slice(0, this.size));
    this.piece = null, this.size = 0;
  }
}

class System {
  constructor(file, index, words) {
    const encoder = new TextEncoder();
    this.words = ["gotrace", ...words].map((word) => encoder.encode(word + "\0"));
    this.inputs = {[FILES.trace]: new Input(file)};
    if (index) this.inputs[FILES["trace.gtx"]] = new Input(index);
    this.errors = [];
    this.outputs = {1: new Output((piece) => postMessage({piece}, [piece.buffer])), 2: new Output((piece) => this.errors.push(piece))};
  }
  bytes(at, size) { return new Uint8Array(this.memory.buffer, at, size); }
  get view() { return new DataView(this.memory.buffer); }
  number(at, value) { this.view.setUint32(at, value, true); return OK; }
  long(at, value) { this.view.setBigUint64(at, BigInt(value), true); return OK; }
  // Calls `each` for each of a list of buffers until it takes less than all; sets how many bytes it took.
  vectors(list, count, done, each) {
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const to = this.bytes(this.view.getUint32(list + 8 * i, true), this.view.getUint32(list + 8 * i + 4, true));
      const took = each(to, sum);
      sum += took;
      if (took < to.length) break;
    }
    return this.number(done, sum);
  }
  calls() {
    return {
      proc_exit: (status) => { throw new Exit(status); },
      args_sizes_get: (count, size) => this.number(count, this.words.length) || this.number(size, this.words.reduce((sum, word) => sum + word.length, 0)),
      args_get: (list, at) => {
        for (const word of this.words) this.number(list, at), this.bytes(at, word.length).set(word), list += 4, at += word.length;
        return OK;
      },
      environ_sizes_get: (count, size) => this.number(count, 0) || this.number(size, 0),
      environ_get: () => OK,
      clock_time_get: (clock, precision, at) => this.long(at, Math.round((clock ? performance.now() : Date.now()) * 1e6)),
      random_get: (at, size) => {
        for (let i = 0; i < size; i += 65536) crypto.getRandomValues(this.bytes(at + i, Math.min(65536, size - i)));
        return OK;
      },
      fd_prestat_get: (fd, at) => (fd === ROOT ? this.number(at, 0) || this.number(at + 4, 1) : BAD_DESCRIPTOR),
      fd_prestat_dir_name: (fd, at) => { this.bytes(at, 1)[0] = "/".charCodeAt(0); return OK; },
      fd_fdstat_get: (fd, at) => {
        if (fd > ROOT && !this.inputs[fd]) return BAD_DESCRIPTOR;
        this.bytes(at, 24).fill(0);
        this.bytes(at, 1)[0] = fd === ROOT ? DIRECTORY : REGULAR;
        return this.long(at + 8, 2n ** 64n - 1n) || this.long(at + 16, 2n ** 64n - 1n); // all rights
      },
      fd_fdstat_set_flags: () => OK,
      fd_filestat_get: (fd, at) => {
        this.bytes(at, 64).fill(0);
        this.bytes(at + 16, 1)[0] = fd === ROOT ? DIRECTORY : REGULAR;
        return this.long(at + 32, this.inputs[fd]?.file.size || 0);
      },
      path_filestat_get: () => NO_ENTRY,
      path_open: (directory, follow, path, size, flags, rights, inherited, more, at) => {
        const fd = FILES[new TextDecoder().decode(this.bytes(path, size))];
        return this.inputs[fd] ? this.number(at, fd) : NO_ENTRY;
      },
      fd_close: () => OK,
      fd_seek: (fd, offset, whence, at) => {
        const input = this.inputs[fd];
        if (!input) return INVALID;
        input.at = Number(offset) + [0, input.at, input.file.size][whence];
        return this.long(at, input.at);
      },
      fd_tell: (fd, at) => (this.inputs[fd] ? this.long(at, this.inputs[fd].at) : INVALID),
      fd_read: (fd, list, count, done) => (!this.inputs[fd] ? this.number(done, 0) : this.vectors(list, count, done, (to) => {
        const input = this.inputs[fd], got = input.read(to, input.at);
        input.at += got;
        return got;
      })),
      fd_pread: (fd, list, count, offset, done) => (!this.inputs[fd] ? BAD_DESCRIPTOR
        : this.vectors(list, count, done, (to, sum) => this.inputs[fd].read(to, Number(offset) + sum))),
      fd_write: (fd, list, count, done) => this.vectors(list, count, done, (from) => { this.outputs[fd].write(from); return from.length; }),
    };
  }
}

async function run({module, file, index, words}) {
  const system = new System(file, index, words);
  const sketch = []; // the counts of what has been read since the last progress
  let status = 0;
  // What is imported but not here fails when it is called.
  const imports = {
    wasi_snapshot_preview1: new Proxy(system.calls(), {get: (calls, name) => calls[name] || (() => NOT_SUPPORTED)}),
    page: {progress: (progress) => postMessage({progress, sketch: sketch.splice(0)}), sketch: (...point) => sketch.push(point)},
  };
  try {
    const instance = await WebAssembly.instantiate(module, imports);
    system.memory = instance.exports.memory;
    instance.exports._start();
  } catch (error) {
    status = error instanceof Exit ? error.status : 1;
    system.outputs[2].write(new TextEncoder().encode(String(error)));
  }
  for (const one of [...Object.values(system.outputs), ...Object.values(system.inputs)]) one.end();
  postMessage({status, errors: await new Blob(system.errors).text(), read: system.inputs[FILES.trace].fetched, memory: system.memory?.buffer.byteLength || 0});
}

// Makes a blob of a piece. Firefox puts that of a Response on the disk, but not new Blob().
function keep({piece, to}) {
  new Response(piece).blob().then((blob) => to.postMessage({blob}), (error) => to.postMessage({error: String(error)}));
}

onmessage = ({data}) => (data.piece ? keep(data) : run(data));
