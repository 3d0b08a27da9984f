import type { DesiredDefinition } from '#runtime';
import { changedPaths } from '#util/changed-paths.ts';
import { deepEqual } from '#util/deep-equal.ts';

/** If there are more paths, the rest is only counted. */
const maxListedPaths = 4;

/** Sentences about the changes between two sets of definitions. */
export function definitionChanges(
  before: readonly DesiredDefinition[],
  after: readonly DesiredDefinition[],
): readonly string[] {
  const old = new Map(before.map((desired) => [nameOf(desired), desired]));
  const names = new Set(after.map(nameOf));
  return [
    ...after.flatMap((desired) => changesOf(old.get(nameOf(desired)), desired)),
    ...before
      .filter((desired) => !names.has(nameOf(desired)))
      .map(
        (desired) => `Operator "${nameOf(desired)}" was removed; its resources and children stay`,
      ),
    ...after
      .filter(({ rejection }) => rejection !== undefined)
      .filter((desired) => !deepEqual(desired.rejection, old.get(nameOf(desired))?.rejection))
      .map((desired) => `Operator "${nameOf(desired)}" keeps its previous revision`),
  ];
}

function changesOf(
  before: DesiredDefinition | undefined,
  { located }: DesiredDefinition,
): readonly string[] {
  const { name, revision } = located.definition;
  if (before === undefined) return [`Operator "${name}" is new`];
  if (before.located.definition.revision === revision) return [];
  const paths = changedPaths(before.located.document.spec, located.document.spec);
  const shown = paths.slice(0, maxListedPaths).join(', ');
  const more = paths.length > maxListedPaths ? ` and ${paths.length - maxListedPaths} more` : '';
  return [`Operator "${name}" changed: ${shown}${more}`];
}

function nameOf({ located }: DesiredDefinition): string {
  return located.definition.name;
}
