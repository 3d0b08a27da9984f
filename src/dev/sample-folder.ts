import type { KubeObject } from '../util/kube-object.ts';
import type { SampleApplier } from './sample-applier.ts';
import { loadSamples, sampleNames } from './samples.ts';

export interface SampleFolderOptions {
  /** There need not be one (yet). */
  readonly folder: string;
  readonly applier: Pick<SampleApplier, 'apply'>;
  /** A line for people. */
  readonly print: (text: string) => void;
}

/** Applies the samples of a folder, and says which are gone. */
export class SampleFolder {
  readonly #options: SampleFolderOptions;
  /** What each file says, by its name; of one with a mistake, what it said before. */
  #known: ReadonlyMap<string, readonly KubeObject[]> = new Map();

  constructor(options: SampleFolderOptions) {
    this.#options = options;
  }

  /** Reads what there is. `applies`: and applies it. */
  async start(applies: boolean, signal: AbortSignal): Promise<void> {
    await this.#read(() => applies, signal);
  }

  /** Files of these names have been written, or removed. */
  async changed(names: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    await this.#read((name) => names.has(name), signal);
  }

  async #read(isChosen: (name: string) => boolean, signal: AbortSignal): Promise<void> {
    const { folder, applier, print } = this.#options;
    const samples = await loadSamples(folder, print);
    const before = this.#known;
    const names = await sampleNames(folder);
    const read = new Map(samples.map(({ name, objects }) => [name, objects]));
    this.#known = new Map(names.map((name) => [name, read.get(name) ?? before.get(name) ?? []]));
    for (const [name, objects] of before)
      if (!this.#known.has(name)) print(this.#goneText(name, objects));
    await applier.apply(
      samples.filter(({ name }) => isChosen(name)),
      signal,
    );
  }

  #goneText(name: string, objects: readonly KubeObject[]): string {
    const kept = new Set([...this.#known.values()].flat().map(titleOf));
    const left = objects.map(titleOf).filter((title) => !kept.has(title));
    const gone = `Sample "${name}" is gone`;
    return left.length === 0 ? gone : `${gone}; what it has made stays: ${left.join(', ')}`;
  }
}

function titleOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} "${namespace === undefined ? '' : `${namespace}/`}${name}"`;
}
