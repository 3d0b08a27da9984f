import type { Scope } from './leaf.ts';
import type { Meter } from './meter.ts';
import { presentValue } from './nulls.ts';

/**
 * The variable that holds the scope in JSONata's frames. Expressions cannot access it, because its name contains a
 * space.
 */
export const scopeVariable = ' scope';

/** The variable that holds the meter. */
export const meterVariable = ' meter';

/** `this` of a function that JSONata calls. */
export interface CallFocus {
  readonly environment: {
    lookup(name: string): unknown;
    readonly base: {
      /** Counts a step; throws if the limit is exceeded. */
      guardrails(): void;
      readonly meter: Meter;
    };
  };
  readonly createSequence: () => unknown[];
}

/** The scope of the evaluation that calls a function. */
export function scopeOf(focus: CallFocus): Scope {
  return focus.environment.lookup(scopeVariable) as Scope;
}

/** The meter of the evaluation that calls a function. */
export function meterOf(focus: CallFocus): Meter {
  return focus.environment.base.meter;
}

/** The variables of an evaluation without functions, by name without `$`. */
export function variablesOf(scope: Scope, meter: Meter): Record<string, unknown> {
  return {
    self: scope.self,
    item: presentValue(scope.item),
    index: scope.index,
    child: presentValue(scope.child),
    previous: presentValue(scope.previous),
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

/** Whether this is the name of a scope variable. */
export function isVariableName(name: string): name is VariableName {
  return (variableNames as readonly string[]).includes(name);
}
