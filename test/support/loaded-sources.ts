import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Which source files a process of the bundle has loaded: those of its chunks, by their source maps. */
export class LoadedSources {
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-loaded-'));
  readonly #file = join(this.#folder, 'loaded.txt');

  /** For the environment of the process. */
  get environment(): Readonly<Record<string, string>> {
    const program = `
      import { appendFileSync } from 'node:fs';
      import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) {
        appendFileSync(${JSON.stringify(this.#file)}, url + '\\n');
        return next(url, context);
      } });`;
    writeFileSync(this.#file, '');
    return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
  }

  /** Paths from the root of the repository. */
  list(): readonly string[] {
    const loaded = readFileSync(this.#file, 'utf8').split('\n');
    const maps = loaded
      .filter((url) => url.startsWith('file:'))
      .map((url) => `${fileURLToPath(url)}.map`);
    const sources = maps.filter(existsSync).flatMap((map) => {
      const { sources } = JSON.parse(readFileSync(map, 'utf8')) as { sources: readonly string[] };
      return sources.map((source) => source.replace(/^(?:\.\.\/)+/, ''));
    });
    return [...new Set(sources)].sort();
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
