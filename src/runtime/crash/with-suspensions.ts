import type { DefinitionCrash, WantedDefinition, WantedSet } from '../wanted-definition.ts';
import type { Suspension } from './crash-guard.ts';
import type { Crash } from './crash-history.ts';

/** What a guard knows at a moment. */
export interface CrashFindings {
  readonly suspensions: readonly Suspension[];
  readonly crashes: readonly Crash[];
}

/** The set with what is not to be run marked as that, and with the crashes of each definition. Pure. */
export function withSuspensions(wanted: WantedSet, findings: CrashFindings): WantedSet {
  const { suspensions, crashes } = findings;
  if (suspensions.length + crashes.length === 0) return wanted;
  const mark = (definition: WantedDefinition): WantedDefinition => {
    const { name, revision } = definition.located.definition;
    const found = suspensions.find((each) => each.name === name && each.revision === revision);
    const own = crashes.filter((each) => each.name === name).map(toldCrash);
    return {
      ...definition,
      ...(found && { suspended: found.message }),
      ...(own.length > 0 && { crashes: own }),
    };
  };
  return { ...wanted, definitions: wanted.definitions.map(mark) };
}

/** The crashes that the object of a definition tells of. */
export function crashesOf(name: string, told: readonly DefinitionCrash[]): readonly Crash[] {
  return told.map(({ revision, time }) => ({ name, revision, atMs: Date.parse(time) }));
}

function toldCrash({ revision, atMs }: Crash): DefinitionCrash {
  return { revision, time: new Date(atMs).toISOString() };
}
