import { KubeError } from '../kube-error.ts';
import type { InformerQuery } from '../roles.ts';

/** Why a list or watch of a query failed. */
export function failureOf(error: unknown, query: InformerQuery): KubeError {
  if (!(error instanceof KubeError))
    return new KubeError('unexpected', 'The list or watch failed', { status: 0, cause: error });
  const found = inItsName(error, query);
  return query.isPrivate === true ? withoutWords(found) : found;
}

/** A role may allow single objects by name: what a query of one lacks is the right to that one, though the server tells of all. */
function inItsName(error: KubeError, { fieldSelector }: InformerQuery): KubeError {
  const [, name] = fieldSelector?.split('=', 2) ?? [];
  if (error.right === undefined || name === undefined) return error;
  const { code, message, causes } = error;
  const right = { ...error.right, name };
  return new KubeError(code, message, { ...answerOf(error), causes, right, cause: error });
}

/** The server quotes what it was asked for. */
function withoutWords(error: KubeError): KubeError {
  const { code, right } = error;
  return new KubeError(code, `The list or watch failed: ${code}`, {
    ...answerOf(error),
    ...(right && { right: { ...right, isPrivate: true } }),
  });
}

function answerOf({ status, reason, retryAfterSeconds }: KubeError) {
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}
