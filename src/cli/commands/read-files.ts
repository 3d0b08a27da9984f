import { type DefinitionManifest, diagnosticText } from '#check';
import { type LocatedObject, type ReadObjects, readObjects } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { CliError } from '../exit-code.ts';
import { loadManifests } from '../load-manifests.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';

/**
 * The objects in files, in the files directly in folders, and on standard input (`-`), in this order. Prints the warnings.
 * @throws CliError
 */
export async function readFiles(
  paths: readonly string[],
  output: Output,
): Promise<readonly KubeObject[]> {
  const { objects } = await readLocatedFiles(paths, output);
  return objects.map(({ object }) => object);
}

/** Like {@link readFiles}, with the texts of the files and the places of the objects. @throws CliError */
export async function readLocatedFiles(
  paths: readonly string[],
  output: Output,
): Promise<{
  readonly objects: readonly LocatedObject[];
  readonly manifests: readonly DefinitionManifest[];
}> {
  const manifests = await loadManifests(paths, { mayBeEmpty: true });
  const read = manifests.map(readManifest);
  const objects = read.flatMap((each) => each.objects);
  if (objects.length === 0) throw new CliError(`There is no object in ${paths.join(', ')}`);
  const warnings = read.flatMap(({ diagnostics }) => diagnostics);
  printDiagnostics(warnings, manifests, output);
  return { objects, manifests };
}

/** @throws CliError with the first error */
function readManifest({ file, text }: DefinitionManifest): ReadObjects {
  const read = readObjects(text, file);
  const mistake = read.diagnostics.find(({ severity }) => severity === 'error');
  if (mistake === undefined) return read;
  const { hint, ...found } = mistake;
  throw new CliError(diagnosticText(found), hint === undefined ? {} : { hint });
}
