import { KubeError } from '../kube-error.ts';
import type { InformerQuery } from '../roles.ts';

/** Why a list or watch of a query failed. */
export function failureOf(error: unknown, query: InformerQuery): KubeError {
  if (!(error instanceof KubeError))
    return new KubeError('unexpected', 'The list or watch failed', { status: 0, cause: error });
  return inItsName(error, query);
}

/** A role may allow single objects by name: what a query of one lacks is the right to that one, though the server tells of all. */
function inItsName(error: KubeError, { fieldSelector }: InformerQuery): KubeError {
  const { code, message, status, reason, causes, retryAfterSeconds, right } = error;
  const [, name] = fieldSelector?.split('=', 2) ?? [];
  if (right === undefined || name === undefined) return error;
  return new KubeError(code, message, {
    status,
    causes,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    right: { ...right, name },
    cause: error,
  });
}
