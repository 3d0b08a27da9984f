import { type DefinitionManifest, diagnosticText } from '../../check/index.ts';
import { type LocatedObject, readObjects } from '../../definition/index.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import { CliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';

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
  const manifests = await loadManifests(paths, { mayBeEmpty: true });
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
