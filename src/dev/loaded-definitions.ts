import type { Diagnostic, LocatedDefinition } from '../definition/index.ts';
import { changedPaths } from './changed-paths.ts';

/** What a reload makes of the definitions that run. */
export interface Reload {
  /** All that are to run now. */
  readonly definitions: readonly LocatedDefinition[];
  /** What has changed, in sentences. */
  readonly news: readonly string[];
}

/** More places than this are counted, not named. */
const namedPaths = 4;

/**
 * What runs after files were saved: what was accepted now, and of files with mistakes what ran before. Pure.
 */
export function planReload(
  running: readonly LocatedDefinition[],
  accepted: readonly LocatedDefinition[],
  diagnostics: readonly Diagnostic[],
): Reload {
  const broken = new Set(
    diagnostics.filter(({ severity }) => severity === 'error').map(({ file }) => file),
  );
  const names = new Set(accepted.map(nameOf));
  const kept = running.filter(
    (located) => !names.has(nameOf(located)) && broken.has(located.source.file),
  );
  const definitions = [...accepted, ...kept];
  const before = new Map(running.map((located) => [nameOf(located), located]));
  const after = new Set(definitions.map(nameOf));
  const news = [
    ...definitions.flatMap((located) => newsOf(before.get(nameOf(located)), located)),
    ...running
      .filter((located) => !after.has(nameOf(located)))
      .map((located) => `Operator "${nameOf(located)}" is gone; what it has made stays`),
    ...kept.map((located) => `Operator "${nameOf(located)}" goes on as it was`),
  ];
  return { definitions, news };
}

function newsOf(before: LocatedDefinition | undefined, now: LocatedDefinition): readonly string[] {
  const name = nameOf(now);
  if (before === undefined) return [`Operator "${name}" is new`];
  if (before.definition.revision === now.definition.revision) return [];
  const paths = changedPaths(withoutRevision(before), withoutRevision(now));
  const shown = paths.slice(0, namedPaths).join(', ');
  const more = paths.length > namedPaths ? ` and ${paths.length - namedPaths} more` : '';
  return [`Operator "${name}" has changed: ${shown}${more}`];
}

function withoutRevision({ definition }: LocatedDefinition): unknown {
  return { ...definition, revision: '' };
}

function nameOf({ definition }: LocatedDefinition): string {
  return definition.name;
}
