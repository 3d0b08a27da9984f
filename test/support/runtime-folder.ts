import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RuntimeOptions } from './homeostat-runtime.ts';

/** The files of a runtime: its definitions, and what outlives it where it has a folder of its own. */
export class RuntimeFolder {
  readonly #options: RuntimeOptions;
  readonly #path: string;
  readonly #statePath = mkdtempSync(join(tmpdir(), 'homeostat-state-'));

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
    const { definitions, logLevel = 'info', stateFolder, flags = [] } = this.#options;
    return [
      'run',
      ...(definitions === undefined ? [] : ['--definitions', this.#path]),
      ...['--kubeconfig', kubeconfig],
      ...['--http', '127.0.0.1:0'],
      ...['--log-level', logLevel],
      ...['--state-dir', stateFolder ?? this.#statePath],
      ...flags,
    ];
  }

  /** Removes what no other runtime reads. */
  clear(): void {
    rmSync(this.#statePath, { recursive: true, force: true });
    if (this.#options.folder === undefined) rmSync(this.#path, { recursive: true, force: true });
  }
}
