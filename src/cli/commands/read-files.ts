import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { DefinitionManifest } from '../../check/index.ts';
import { parseObjects } from '../../dev/index.ts';
import { fileReason } from '../../runtime/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { CliError } from '../exit-code.ts';

/** The objects in files, in the files directly in folders, and on standard input (`-`), in this order. @throws CliError */
export async function readFiles(paths: readonly string[]): Promise<readonly KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const path of paths)
    for (const file of await filesOf(path)) objects.push(...(await readFileObjects(file)));
  if (objects.length === 0) throw new CliError(`There is no object in ${paths.join(', ')}`);
  return objects;
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

async function readFileObjects(file: string): Promise<readonly KubeObject[]> {
  try {
    return parseObjects(await textOf(file));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return file === '-' ? await text(process.stdin) : await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(`${file}: ${messageOf(error)}`, { cause: error });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
