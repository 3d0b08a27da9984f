import type { Scope } from './leaf.ts';

/** The variable under which the scope travels through JSONata's frames. No expression can name it: it has a space. */
export const scopeVariable = ' scope';

/** `this` of a function that JSONata calls. */
export interface CallFocus {
  readonly environment: {
    lookup(name: string): unknown;
    /** Throws when the evaluation has taken too many steps. */
    readonly base: { guardrails(): void };
  };
  readonly createSequence: () => unknown[];
}

/** The scope of the evaluation that a function is called in. */
export function scopeOf(focus: CallFocus): Scope {
  return focus.environment.lookup(scopeVariable) as Scope;
}

/** The variables of an evaluation besides functions, by the name they have behind `$`. */
export function variablesOf(scope: Scope): Record<string, unknown> {
  return {
    self: scope.self,
    item: scope.item,
    index: scope.index,
    child: scope.child,
    previous: scope.previous,
    definition: scope.definition,
    cluster: scope.cluster,
    [scopeVariable]: scope,
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
