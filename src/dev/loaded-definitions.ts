import type { LocatedDefinition } from '../definition/index.ts';
import type { WantedDefinition } from '../runtime/index.ts';
import { changedPaths } from '../util/changed-paths.ts';
import { deepEqual } from '../util/deep-equal.ts';

/** More places than this are counted, not named. */
const namedPaths = 4;

/** What has changed in the definitions that are to run, in sentences. Pure. */
export function newsOf(
  before: readonly WantedDefinition[],
  after: readonly WantedDefinition[],
): readonly string[] {
  const old = new Map(before.map((wanted) => [nameOf(wanted), wanted]));
  const names = new Set(after.map(nameOf));
  return [
    ...after.flatMap((wanted) => newsOfOne(old.get(nameOf(wanted)), wanted)),
    ...before
      .filter((wanted) => !names.has(nameOf(wanted)))
      .map((wanted) => `Operator "${nameOf(wanted)}" is gone; what it has made stays`),
    ...after
      .filter(({ refusal }) => refusal !== undefined)
      .filter((wanted) => !deepEqual(wanted.refusal, old.get(nameOf(wanted))?.refusal))
      .map((wanted) => `Operator "${nameOf(wanted)}" goes on as it was`),
  ];
}

function newsOfOne(
  before: WantedDefinition | undefined,
  { located }: WantedDefinition,
): readonly string[] {
  const { name, revision } = located.definition;
  if (before === undefined) return [`Operator "${name}" is new`];
  if (before.located.definition.revision === revision) return [];
  const paths = changedPaths(withoutRevision(before.located), withoutRevision(located));
  const shown = paths.slice(0, namedPaths).join(', ');
  const more = paths.length > namedPaths ? ` and ${paths.length - namedPaths} more` : '';
  return [`Operator "${name}" has changed: ${shown}${more}`];
}

function withoutRevision({ definition }: LocatedDefinition): unknown {
  return { ...definition, revision: '' };
}

function nameOf({ located }: WantedDefinition): string {
  return located.definition.name;
}
