// run_wasm.mjs - runs the tool as WebAssembly, with node's WASI: node run_wasm.mjs FILE.wasm COMMAND ARGS...
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";

const wasi = new WASI({ version: "preview1", args: ["gotrace", ...process.argv.slice(3)], preopens: { "/": "/" } });
const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), page: { progress: () => {}, sketch: () => {} } });
process.exitCode = wasi.start(instance);
