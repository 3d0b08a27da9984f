import type { RuntimeView } from '../runtime/index.ts';

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
    check('definitions', unreadIn(view) ?? startingIn(view)),
    check('informers', syncingIn(view)),
    check('shutdown', view.isStopping ? 'the process is stopping' : undefined),
  ];
}

function check(name: string, failure: string | undefined): Check {
  return failure === undefined ? { name } : { name, failure };
}

function silenceOf({ silence }: RuntimeView): string | undefined {
  if (silence === undefined || silence.forMs < patienceMs) return undefined;
  const seconds = Math.floor(silence.forMs / 1_000);
  if (silence.kind === 'unanswered') return `no answer for ${seconds} s`;
  return `it has not accepted our credentials for ${seconds} s; renew the token or certificate of the kubeconfig or service account`;
}

/** What stands there is not run before it is read, and may be all that there is. */
function unreadIn({ unread = [] }: RuntimeView): string | undefined {
  return unread.length === 0 ? undefined : `not read yet: ${unread.join(', ')}`;
}

function startingIn({ definitions }: RuntimeView): string | undefined {
  const found = definitions.flatMap(({ name, state }) =>
    state.kind === 'starting' ? [`${name} (${state.message})`] : [],
  );
  return found.length === 0 ? undefined : `starting: ${found.join(', ')}`;
}

function syncingIn({ definitions }: RuntimeView): string | undefined {
  const names = definitions.filter(({ state }) => state.kind === 'syncing').map(({ name }) => name);
  return names.length === 0 ? undefined : `syncing: ${names.join(', ')}`;
}
