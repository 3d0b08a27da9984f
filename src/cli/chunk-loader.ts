import type * as Fs from 'node:fs';
import type * as Path from 'node:path';
import type * as Vm from 'node:vm';

/** Runs of a command that store code: later ones of the first runs may use more functions. */
const storingRuns = 3;

/** The exports of a chunk. */
type Exports = Record<string, unknown>;

/** A chunk is an expression: this function. */
type Chunk = (require: (name: string) => unknown, importMetaUrl: string) => Exports | undefined;

/** The beginning of a file with stored code; the code of the chunks follows in this order. */
interface StoredHeader {
  /** Runs that have stored code. */
  readonly runs: number;
  readonly chunks: readonly { readonly name: string; readonly length: number }[];
}

interface ChunkLoaderOptions {
  /** Path of the folder with the chunks. */
  readonly folder: string;
  /**
   * Name of the file in the folder that has the small chunks, an expression: an object with them by name. A command needs many of them, and
   * a file of its own for each takes longer. @default there is none
   */
  readonly smallChunks?: string;
  /** File with the code that V8 has compiled from the chunks in earlier runs. @default none is stored */
  readonly codeFile?: string;
  /** Are source maps read? Then no code is stored or used. @default false */
  readonly hasSourceMaps?: boolean;
  /** `process.getBuiltinModule`: an import of Node's modules reads all their exports, which takes time. */
  readonly getBuiltinModule: NodeJS.Process['getBuiltinModule'];
}

/**
 * Loads the chunks of the bundle. It stores the code that V8 compiles, at the end of a run: Node's own cache stores what is compiled before a
 * module runs, and that is without most functions.
 */
export class ChunkLoader {
  readonly #options: ChunkLoaderOptions;
  readonly #fs: typeof Fs;
  readonly #vm: typeof Vm;
  readonly #path: typeof Path;
  readonly #module;
  /** Of the folder. */
  readonly #url: string;
  /** `./NAME.cjs` is a chunk. */
  readonly #require: (name: string) => unknown;
  readonly #loaded = new Map<string, Exports>();
  readonly #scripts = new Map<string, Vm.Script>();
  readonly #stored: ReadonlyMap<string, Uint8Array>;
  readonly #runs: number;
  readonly #small: Readonly<Record<string, Chunk>>;
  /** V8 has compiled a chunk whose code was not stored. */
  #isIncomplete = false;

  constructor(options: ChunkLoaderOptions) {
    const { getBuiltinModule, codeFile, smallChunks } = options;
    this.#options = options;
    this.#fs = getBuiltinModule('node:fs');
    this.#vm = getBuiltinModule('node:vm');
    this.#path = getBuiltinModule('node:path');
    this.#module = getBuiltinModule('node:module');
    this.#url = getBuiltinModule('node:url').pathToFileURL(`${options.folder}/`).href;
    const requireOther = this.#module.createRequire(this.#url);
    this.#require = (name) =>
      name.endsWith('.cjs') ? this.load(name.slice(2)) : requireOther(name);
    const { runs, chunks } = codeFile === undefined ? nothingStored : this.#read(codeFile);
    this.#runs = runs;
    this.#stored = chunks;
    this.#small = smallChunks === undefined ? {} : this.#evaluate(smallChunks);
  }

  /** Runs a chunk, once. */
  load(name: string): Exports {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const chunk = this.#small[name] ?? this.#evaluate<Chunk>(name);
    const exports = chunk(this.#require, this.#url + name) ?? {};
    this.#loaded.set(name, exports);
    return exports;
  }

  /** Does {@link store} do nothing? The code of all chunks is stored already, or none is to be stored. */
  get isStored(): boolean {
    const { codeFile, hasSourceMaps = false } = this.#options;
    if (codeFile === undefined || hasSourceMaps) return true;
    return this.#runs >= storingRuns && !this.#isIncomplete;
  }

  /** Stores the code of all chunks, unless it is stored already or the file cannot be written. Call at the end of the run. */
  store(): void {
    const { codeFile } = this.#options;
    if (codeFile === undefined || this.isStored) return;
    const { mkdirSync, openSync, writeFileSync, closeSync, renameSync } = this.#fs;
    const draft = `${codeFile}.${process.pid}`;
    try {
      mkdirSync(this.#path.dirname(codeFile), { recursive: true });
      // First, as the code takes longer than to find that the folder is read-only.
      const file = openSync(draft, 'w');
      writeFileSync(file, this.#content());
      closeSync(file);
      renameSync(draft, codeFile);
    } catch {
      // The next run compiles again.
    }
  }

  /** The value of the expression in a file of the folder. */
  #evaluate<T>(name: string): T {
    const path = this.#path.join(this.#options.folder, name);
    const text = this.#fs.readFileSync(path, 'latin1');
    if (this.#options.hasSourceMaps === true) return this.#evaluateWithMap(text, path);
    const cachedData = this.#stored.get(name);
    const script = new this.#vm.Script(text, {
      filename: path,
      ...(cachedData && { cachedData }),
    });
    if (script.cachedDataRejected !== false) this.#isIncomplete = true;
    this.#scripts.set(name, script);
    return script.runInThisContext();
  }

  /** Node reads the maps only of modules. */
  #evaluateWithMap<T>(text: string, path: string): T {
    const module = new this.#module.Module(path) as NodeJS.Module & {
      _compile(text: string, path: string): void;
    };
    module._compile(`module.exports = ${text}`, path);
    return module.exports;
  }

  #read(codeFile: string): { runs: number; chunks: ReadonlyMap<string, Uint8Array> } {
    try {
      const data = this.#fs.readFileSync(codeFile);
      const start = data.indexOf('\n') + 1;
      const header: StoredHeader = JSON.parse(data.toString('latin1', 0, start));
      const chunks = new Map<string, Uint8Array>();
      let offset = start;
      for (const { name, length } of header.chunks) {
        chunks.set(name, data.subarray(offset, offset + length));
        offset += length;
      }
      return { runs: header.runs, chunks };
    } catch {
      return nothingStored;
    }
  }

  /** With the code of chunks that only other runs have loaded. */
  #content(): Uint8Array {
    const code = new Map(this.#stored);
    for (const [name, script] of this.#scripts) code.set(name, script.createCachedData());
    const chunks = Array.from(code, ([name, { length }]) => ({ name, length }));
    const header: StoredHeader = { runs: this.#runs + 1, chunks };
    return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...code.values()]);
  }
}

const nothingStored = { runs: 0, chunks: new Map<string, Uint8Array>() };
