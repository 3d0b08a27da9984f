import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseYamlDocuments } from '../definition/index.ts';
import { isJsonObject } from '../util/json.ts';
import type { KubeObject } from '../util/kube-object.ts';

/** A file with objects to begin with. */
export interface SampleFile {
  readonly name: string;
  readonly objects: readonly KubeObject[];
}

/**
 * Reads the sample files directly in a folder (`.yaml`, `.yml`, `.json`), in order of their names; none when there is no such folder.
 * @param onMistake told of a file that cannot be read; the others are.
 */
export async function loadSamples(
  folder: string,
  onMistake: (message: string) => void,
): Promise<readonly SampleFile[]> {
  const samples: SampleFile[] = [];
  for (const name of await sampleNames(folder)) {
    const path = join(folder, name);
    try {
      samples.push({ name, objects: readObjects(await readFile(path, 'utf8')) });
    } catch (error) {
      onMistake(`${path}: ${error instanceof Error ? error.message : String(error)}`);
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
 * The objects of a YAML or JSON text; those of a `List` one by one.
 * @throws Error that says what is missing.
 */
export function readObjects(text: string): readonly KubeObject[] {
  return parseYamlDocuments(text).flatMap((document) => {
    if (document === null) return [];
    const items = isJsonObject(document) && document.kind === 'List' ? document.items : undefined;
    return Array.isArray(items) ? items.map(asObject) : [asObject(document)];
  });
}

function asObject(value: unknown): KubeObject {
  const { apiVersion, kind, metadata } = isJsonObject(value) ? value : {};
  const isNamed = isJsonObject(metadata) && typeof metadata.name === 'string';
  if (typeof apiVersion === 'string' && typeof kind === 'string' && isNamed)
    return value as unknown as KubeObject;
  throw new Error('Expected objects with "apiVersion", "kind" and "metadata.name"');
}
