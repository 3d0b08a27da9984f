import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type DefinitionManifest, diagnosticText } from '../../check/index.ts';
import { type LocatedObject, readObjects } from '../../definition/index.ts';
import { fileReason } from '../../runtime/index.ts';
import { messageOf } from '../../util/homeostat-error.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { CliError } from '../exit-code.ts';

/** The objects in files, in the files directly in folders, and on standard input (`-`), in this order. @throws CliError */
export async function readFiles(paths: readonly string[]): Promise<readonly KubeObject[]> {
  const { objects } = await readLocatedFiles(paths);
  return objects.map(({ object }) => object);
}

/** Like {@link readFiles}, with the texts of the files and the places of the objects. @throws CliError */
export async function readLocatedFiles(paths: readonly string[]): Promise<{
  readonly objects: readonly LocatedObject[];
  readonly manifests: readonly DefinitionManifest[];
}> {
  const manifests = await readTexts(paths);
  const objects = manifests.flatMap(objectsOf);
  if (objects.length === 0) throw new CliError(`There is no object in ${paths.join(', ')}`);
  return { objects, manifests };
}

function objectsOf({ file, text }: DefinitionManifest): readonly LocatedObject[] {
  const { objects, diagnostics } = readObjects(text, file);
  const mistake = diagnostics.find(({ severity }) => severity === 'error');
  if (mistake === undefined) return objects;
  const { hint, ...found } = mistake;
  throw new CliError(diagnosticText(found), hint === undefined ? {} : { hint });
}

async function filesOf(path: string): Promise<readonly string[]> {
  if (path === '-') return [path];
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => /\.(?:ya?ml|json)$/.test(name));
    return names.sort().map((name) => join(path, name));
  } catch (error) {
    throw new CliError(`Cannot read "${path}": ${fileReason(error)}`, { cause: error });
  }
}

/** The texts of files, of the files directly in folders, and of standard input (`-`), in this order. @throws CliError */
export async function readTexts(paths: readonly string[]): Promise<readonly DefinitionManifest[]> {
  const manifests: DefinitionManifest[] = [];
  for (const path of paths)
    for (const file of await filesOf(path)) manifests.push({ file, text: await textOf(file) });
  return manifests;
}

async function textOf(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`${file}: ${messageOf(error)}`, { cause: error });
  }
}
