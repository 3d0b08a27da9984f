import type { Scope } from './leaf.ts';
import type { Meter } from './meter.ts';

/** The variable under which the scope travels through JSONata's frames. No expression can name it: it has a space. */
export const scopeVariable = ' scope';

/** The same for its meter. */
export const meterVariable = ' meter';

/** `this` of a function that JSONata calls. */
export interface CallFocus {
  readonly environment: {
    lookup(name: string): unknown;
    readonly base: {
      /** Takes a step; throws when the evaluation has taken too many. */
      guardrails(): void;
      readonly meter: Meter;
    };
  };
  readonly createSequence: () => unknown[];
}

/** The scope of the evaluation that a function is called in. */
export function scopeOf(focus: CallFocus): Scope {
  return focus.environment.lookup(scopeVariable) as Scope;
}

/** What the evaluation that a function is called in may take. */
export function meterOf(focus: CallFocus): Meter {
  return focus.environment.base.meter;
}

/** The variables of an evaluation besides functions, by the name they have behind `$`. */
export function variablesOf(scope: Scope, meter: Meter): Record<string, unknown> {
  return {
    self: scope.self,
    item: scope.item,
    index: scope.index,
    child: scope.child,
    previous: scope.previous,
    definition: scope.definition,
    cluster: scope.cluster,
    [scopeVariable]: scope,
    [meterVariable]: meter,
  };
}

/** Names of {@link variablesOf}. */
export const variableNames = [
  'self',
  'item',
  'index',
  'child',
  'previous',
  'definition',
  'cluster',
] as const;

export type VariableName = (typeof variableNames)[number];

/** Is this one of the variables of a scope? */
export function isVariableName(name: string): name is VariableName {
  return (variableNames as readonly string[]).includes(name);
}
