import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeOptions } from './homeostat-runtime.ts';

/** The definitions of a runtime, and its command line. */
export class RuntimeFolder {
  readonly #options: RuntimeOptions;
  readonly #path: string;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#path = options.folder ?? mkdtempSync(join(tmpdir(), 'homeostat-'));
    for (const [name, text] of Object.entries(options.definitions ?? {})) this.write(name, text);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#path, name), text);
  }

  remove(name: string): void {
    rmSync(join(this.#path, name));
  }

  /** The command line of `homeostat run`. */
  arguments(kubeconfig: string): readonly string[] {
    const { definitions, logLevel = 'info', flags = [] } = this.#options;
    const { runtime = definitions === undefined ? undefined : 'test' } = this.#options;
    return [
      'run',
      ...(definitions === undefined ? [] : ['--definitions', this.#path]),
      ...(runtime === undefined ? [] : ['--runtime', runtime]),
      ...['--kubeconfig', kubeconfig],
      ...['--http', '127.0.0.1:0'],
      ...['--log-level', logLevel],
      // What a test takes away is gone soon.
      ...['--withdraw-after', '1s'],
      ...flags,
    ];
  }

  /** Removes what no other runtime reads. */
  clear(): void {
    if (this.#options.folder === undefined) rmSync(this.#path, { recursive: true, force: true });
  }
}
