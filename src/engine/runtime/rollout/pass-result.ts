import type { Outcome } from '#controller';
import { KubeError } from '#kube/roles.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { transientCodes } from '../revision-operator.ts';

/**
 * Result of the first pass with the newer revision. `blocked`: not reconciled; `transient`: failed with an error that a retry may resolve.
 */
export type PassResult = 'succeeded' | 'failed' | 'blocked' | 'transient';

/** Classifies the outcome of a pass. */
export function resultOf(outcome: Outcome): PassResult {
  if (outcome.kind !== 'error') return outcome.kind === 'failed' ? 'failed' : 'succeeded';
  const { error } = outcome;
  if (!(error instanceof KubeError)) return 'failed';
  if (error.isUnreachable) return 'blocked';
  return transientCodes.has(error.code) ? 'transient' : 'failed';
}

/** Whether the resource reports `Stalled`. */
export function isStalled(resource: KubeObject): boolean {
  return conditionsOf(resource).some(({ type, status }) => type === 'Stalled' && status === 'True');
}
