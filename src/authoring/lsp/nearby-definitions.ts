import { basename, dirname, join } from 'node:path';
import { definitionKind } from '#definition';
import type { LoadFiles } from '#testing';
import { gvkOf } from '#util/gvk.ts';
import type { KindSchemas } from './knowledge.ts';
import { hasKind, isOwnText, parseText, valueAtSteps } from './parsed-text.ts';

/** A file with definitions, as it is in the editor or on the disk. */
export interface DefinitionFile {
  readonly file: string;
  readonly text: string;
}

/** Samples and tests are in folders below their definitions. */
const maxFoldersAbove = 3;

/**
 * The definitions that a file belongs to: those of the nearest folder that has some, its own or one above, and those that its tests name.
 * @param load what cannot be read counts as missing
 */
export async function nearbyDefinitions(
  { path, text }: { readonly path: string; readonly text: string },
  load: LoadFiles,
): Promise<readonly DefinitionFile[]> {
  const found = new Map<string, DefinitionFile>();
  const read = async (place: string): Promise<boolean> => {
    const files = await load(place).catch(() => []);
    const definitions = files.filter((each) => hasKind(each.text, definitionKind));
    for (const each of definitions) found.set(each.file, each);
    return definitions.length > 0;
  };
  let folder = dirname(path);
  for (let above = 0; above <= maxFoldersAbove && !(await read(folder)); above++)
    folder = dirname(folder);
  for (const named of namedDefinitions(text)) await read(join(dirname(path), named));
  return [...found.values()];
}

/** The paths of definitions in the tests of a text. */
function namedDefinitions(text: string): readonly string[] {
  return parseText(text).documents.flatMap(({ kind, value }) => {
    const paths = kind === 'OperatorTest' ? valueAtSteps(value, ['spec', 'definitions']) : [];
    return Array.isArray(paths) ? paths.filter((path) => typeof path === 'string') : [];
  });
}

/**
 * Whether a file without documents of Homeostat has samples: it is in a folder `samples` beside definitions, or has an object of one of
 * their API groups.
 */
export function isSampleFile(
  { path, text }: { readonly path: string; readonly text: string },
  definitions: readonly DefinitionFile[],
  kinds: KindSchemas,
): boolean {
  if (isOwnText(text)) return false;
  const folder = dirname(path);
  const isBeside = definitions.some(({ file }) => dirname(file) === dirname(folder));
  if (basename(folder) === 'samples' && isBeside) return true;
  const versions = text.matchAll(/^apiVersion:\s*["']?([\w.-]+\/\w+)/gm);
  return versions.some(([, apiVersion = '']) => kinds.servesGroup(gvkOf(apiVersion, '').group));
}
