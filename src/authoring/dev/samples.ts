import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { diagnosticText } from '#check';
import { type Diagnostic, formatDiagnostics, type LocatedObject, readObjects } from '#definition';
import { fileReason, readRegularFile } from '#files';
import { type KubeCluster, KubeError } from '#kube';
import type { KubeObject } from '#util/kube-object.ts';
import { applySample } from './apply-sample.ts';

/** A file with sample objects. */
export interface SampleFile {
  readonly name: string;
  readonly path: string;
  readonly text: string;
  /** The objects without an error. */
  readonly objects: readonly LocatedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the sample files directly in a folder (`.yaml`, `.yml`, `.json`), in order of their names; none when there is no such folder.
 * @param onMistake called for each file that cannot be read; the others are loaded.
 */
export async function loadSamples(
  folder: string,
  onMistake: (message: string) => void,
): Promise<readonly SampleFile[]> {
  const samples: SampleFile[] = [];
  for (const name of await sampleNames(folder)) {
    const path = join(folder, name);
    try {
      const text = await readRegularFile(path);
      samples.push({ name, path, text, ...readObjects(text, path) });
    } catch (error) {
      onMistake(`${path}: ${fileReason(error)}`);
    }
  }
  return samples;
}

/** The names of those files, in order. */
export async function sampleNames(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names.filter((name) => /^[^.].*\.(?:ya?ml|json)$/.test(name)).sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * The objects of a YAML or JSON text; those of a `List` one by one. `file` is a name for messages.
 * @throws Error with the first mistake.
 */
export function parseObjects(text: string, file = '<objects>'): readonly KubeObject[] {
  const { objects, diagnostics } = readObjects(text, file);
  const mistake = diagnostics.find(isError);
  if (mistake !== undefined) throw new Error(diagnosticText(mistake));
  return objects.map(({ object }) => object);
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

interface SampleFolderOptions {
  /** May not exist (yet). */
  readonly folder: string;
  readonly applier: Pick<SampleApplier, 'apply'>;
  /** Finds mistakes in samples before they are applied. */
  readonly check: (objects: readonly LocatedObject[]) => readonly Diagnostic[];
  /** A line for people. */
  readonly print: (text: string, content?: 'plain' | 'colored') => void;
  readonly hasColor: boolean;
}

/** Applies the samples of a folder, and reports removed ones. */
export class SampleFolder {
  readonly #options: SampleFolderOptions;
  /** Content of the files by name; for a file with an error, its previous content. */
  #known: ReadonlyMap<string, readonly KubeObject[]> = new Map();
  /** Files with errors. */
  #wrong: ReadonlySet<string> = new Set();
  /** The errors and warnings that were printed last. */
  #reported = '';

  constructor(options: SampleFolderOptions) {
    this.#options = options;
  }

  /** Reads all files. `applies`: whether to apply them. */
  async start(applies: boolean, signal: AbortSignal): Promise<void> {
    await this.#read(() => applies, signal);
  }

  /** Handles files that were written or removed. */
  async changed(names: ReadonlySet<string>, signal: AbortSignal): Promise<void> {
    await this.#read((name) => names.has(name), signal);
  }

  /** Checks files with errors again, after the definitions have changed. */
  async retry(signal: AbortSignal): Promise<void> {
    const wrong = this.#wrong;
    if (wrong.size > 0) await this.#read((name) => wrong.has(name), signal);
  }

  async #read(isChosen: (name: string) => boolean, signal: AbortSignal): Promise<void> {
    const { folder, applier, print } = this.#options;
    const loaded = await loadSamples(folder, print);
    const chosen = loaded.filter(({ name }) => isChosen(name));
    this.#reportMistakes(chosen);
    const samples = loaded.filter(
      ({ name, diagnostics }) => !this.#wrong.has(name) && !diagnostics.some(isError),
    );
    const before = this.#known;
    const names = await sampleNames(folder);
    const read = new Map(
      samples.map(({ name, objects }) => [name, objects.map(({ object }) => object)]),
    );
    this.#known = new Map(names.map((name) => [name, read.get(name) ?? before.get(name) ?? []]));
    for (const [name, objects] of before)
      if (!this.#known.has(name)) print(this.#goneText(name, objects));
    await applier.apply(
      samples.filter(({ name }) => isChosen(name)),
      signal,
    );
  }

  /** Checks samples, and prints what was found unless it was printed last. */
  #reportMistakes(samples: readonly SampleFile[]): void {
    const { check, print, hasColor } = this.#options;
    const objects = samples.flatMap((sample) => sample.objects);
    const found = objects.length === 0 ? [] : check(objects);
    const all = [...samples.flatMap(({ diagnostics }) => diagnostics), ...found];
    const errors = all.filter(isError);
    const sources = new Map(samples.map(({ path, text }) => [path, text]));
    const isWrong = ({ path }: SampleFile) => errors.some(({ file }) => file === path);
    const kept = [...this.#wrong].filter((name) => !samples.some((sample) => sample.name === name));
    this.#wrong = new Set([...kept, ...samples.filter(isWrong).map(({ name }) => name)]);
    const text = formatDiagnostics(all, sources, { color: hasColor }).trimEnd();
    if (text !== '' && text !== this.#reported) print(text, 'colored');
    this.#reported = text;
  }

  #goneText(name: string, objects: readonly KubeObject[]): string {
    const kept = new Set([...this.#known.values()].flat().map(titleOf));
    const left = objects.map(titleOf).filter((title) => !kept.has(title));
    const gone = `Sample "${name}" was removed`;
    return left.length === 0 ? gone : `${gone}; its objects stay: ${left.join(', ')}`;
  }
}

function titleOf({ kind, metadata: { namespace, name } }: KubeObject): string {
  return `${kind} "${namespace === undefined ? '' : `${namespace}/`}${name}"`;
}

interface SampleApplierOptions {
  /** The clusters that get an object. */
  readonly clustersFor: (object: KubeObject) => readonly KubeCluster[];
  /** A line for people. */
  readonly print: (text: string) => void;
}

/** Applies samples, and keeps those whose kind is not served yet for later. */
export class SampleApplier {
  readonly #options: SampleApplierOptions;
  #waiting: readonly KubeObject[] = [];

  constructor(options: SampleApplierOptions) {
    this.#options = options;
  }

  /** Applies all objects of these files, and prints the result of each. */
  async apply(files: readonly SampleFile[], signal: AbortSignal): Promise<void> {
    await this.#applyAll(
      files.flatMap(({ objects }) => objects.map(({ object }) => object)),
      signal,
    );
  }

  /** Applies the samples again whose kind was missing. */
  async retry(signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#applyAll(waiting, signal);
  }

  async #applyAll(objects: readonly KubeObject[], signal: AbortSignal): Promise<void> {
    for (const object of objects)
      for (const cluster of this.#options.clustersFor(object))
        await this.#applyTo(cluster, object, signal);
  }

  async #applyTo(cluster: KubeCluster, object: KubeObject, signal: AbortSignal): Promise<void> {
    const { print } = this.#options;
    const where = cluster.name === 'hub' ? '' : ` in cluster "${cluster.name}"`;
    const title = `${object.kind} "${object.metadata.name}"${where}`;
    try {
      print(`${await applySample(cluster, object, signal)} ${title}`);
    } catch (error) {
      if (signal.aborted || !(error instanceof KubeError)) throw error;
      const isKnown = this.#waiting.includes(object);
      if (error.code === 'kind-missing' && !isKnown) this.#waiting = [...this.#waiting, object];
      print(`Cannot apply ${title}: ${error.message}`);
    }
  }
}
