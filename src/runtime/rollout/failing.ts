import { KubeError } from '../../kube/roles.ts';
import type { DecisionRecord } from '../../reconcile/index.ts';
import { conditionsOf } from '../../util/conditions-of.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { Verdict } from './pace.ts';

/** What goes by itself and would be so with any text: others at work at the same time, a server in trouble, a world that is on its way. */
const passing: ReadonlySet<string> = new Set([
  'already-exists',
  'conflict',
  'uid-mismatch',
  'gone',
  'too-many-requests',
  'unavailable',
  'timeout',
  'connection-lost',
  'aborted',
  'server-error',
  'unauthorized',
  'namespace-terminating',
  'waiting',
  'Waiting',
  'Terminating',
  'Paused',
]);

/** Has the pass found anything that the text of the definition may be the reason of? */
export function failingIn({ problemCodes }: DecisionRecord): boolean {
  return problemCodes.some((code) => !passing.has(code));
}

/** What a failed pass says of the text that it was made by. */
export function verdictOf(error: unknown): Verdict {
  if (!(error instanceof KubeError)) return 'failed';
  if (error.isSilence) return 'open';
  return passing.has(error.code) ? 'unclear' : 'failed';
}

/** Does the resource's own report say that somebody has to do something? */
export function isStalled(resource: KubeObject): boolean {
  return conditionsOf(resource).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
