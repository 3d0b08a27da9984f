import type { DefinitionManifest } from '#check';
import type { DefinitionSource } from '#runtime';
import { whenAborted } from '#util/when-aborted.ts';

type Listener = Parameters<DefinitionSource['run']>[0];
type Origin = Parameters<DefinitionSource['covers']>[0];

/** Definition files in memory. */
export class EditableSource implements DefinitionSource {
  readonly name = 'definitions';
  #files: readonly DefinitionManifest[];
  #listener: Listener | undefined;

  constructor(files: readonly DefinitionManifest[]) {
    this.#files = files;
  }

  covers({ source }: Origin): boolean {
    return source === 'directory';
  }

  /** Replaces all files. */
  replace(files: readonly DefinitionManifest[]): void {
    this.#files = files;
    this.#report();
  }

  async run(listener: Listener, signal: AbortSignal): Promise<void> {
    this.#listener = listener;
    this.#report();
    await whenAborted(signal);
    this.#listener = undefined;
  }

  #report(): void {
    const texts = this.#files.map(({ file, text }) => ({
      file,
      text,
      sinceMs: 0,
      origin: { source: 'directory', ref: file } as const,
    }));
    this.#listener?.onManifests(texts);
  }
}
