import type { DefinitionView, RuntimeView } from '../runtime/index.ts';

/** One question that readiness depends on. */
export interface Check {
  /** As in `/readyz/<name>`. */
  readonly name: string;
  /** Why not; undefined: it is well. */
  readonly failure?: string;
}

/** So long may the API server be silent: a restart of it is no reason to call this process unready. */
const patienceMs = 15_000;

/**
 * The questions, in the order in which a start answers them. A definition that is refused, that fails or that lacks a right has had
 * its say: it does not hold readiness back, since no restart and no other replica would mend it.
 */
export function readinessChecks(view: RuntimeView): readonly Check[] {
  return [
    check('api-server', silenceOf(view)),
    check('definitions', stillIn('starting', view)),
    check('informers', stillIn('syncing', view)),
    check('shutdown', view.isStopping ? 'the process is stopping' : undefined),
  ];
}

/** A line for people: `[+]` runs, `[!]` has something in its way that is its own, `[-]` is not there yet. */
export function definitionLine({ name, state, problems }: DefinitionView): string {
  const why = 'message' in state ? [state.message] : problems;
  return `${markOf(state.kind, why.length > 0)}${name} ${[state.kind, ...why].join(': ')}`;
}

function check(name: string, failure: string | undefined): Check {
  return failure === undefined ? { name } : { name, failure };
}

function silenceOf({ unreachableForMs }: RuntimeView): string | undefined {
  if (unreachableForMs < patienceMs) return undefined;
  return `no answer for ${Math.floor(unreachableForMs / 1_000)} s`;
}

function stillIn(kind: 'starting' | 'syncing', { definitions }: RuntimeView): string | undefined {
  const names = definitions.filter(({ state }) => state.kind === kind).map(({ name }) => name);
  return names.length === 0 ? undefined : `${kind}: ${names.join(', ')}`;
}

function markOf(kind: DefinitionView['state']['kind'], isHindered: boolean): string {
  if (kind === 'starting' || kind === 'syncing') return '[-]';
  return isHindered || kind !== 'running' ? '[!]' : '[+]';
}
