import { KubeError } from '../kube-error.ts';
import type { InformerQuery } from '../roles.ts';

/** State of an informer after a failed list or watch. */
export interface FailureState {
  /** Consecutive failures, this one included. */
  readonly failures: number;
  readonly hasListed: boolean;
}

/** After this number of consecutive failed resumptions with responses, the reflector lists again. */
const resumptionsBeforeList = 5;

/** Whether the watch cannot be resumed. */
export function mustListAfter(error: KubeError, failures: number): boolean {
  switch (error.code) {
    case 'too-many-requests':
    case 'connection-lost':
    case 'timeout':
    case 'unauthorized':
    case 'forbidden':
      return false;
    case 'unavailable':
    case 'server-error':
      return error.status !== 0 && failures >= resumptionsBeforeList;
    default:
      return true;
  }
}

/**
 * Log level of a failure: only the first of a series is above `debug`. Others report missing rights (`RightsWatcher`)
 * and kinds that are not served yet. `gone` is `info`: a restarted server has forgotten the version.
 */
export function levelOf(
  error: KubeError | undefined,
  { failures, hasListed }: FailureState,
): 'debug' | 'info' | 'warn' {
  const isNotServedYet = error?.code === 'kind-missing' && !hasListed;
  const isReportedElsewhere = isNotServedYet || error?.right !== undefined;
  if (isReportedElsewhere || failures > 1) return 'debug';
  return error?.code === 'gone' ? 'info' : 'warn';
}

/** The error of a failed list or watch. */
export function failureOf(error: unknown, query: InformerQuery): KubeError {
  if (!(error instanceof KubeError))
    return new KubeError('unexpected', 'The list or watch failed', { status: 0, cause: error });
  const found = withObjectName(error, query);
  return query.isPrivate === true ? withoutMessage(found) : found;
}

/**
 * A query of one object lacks the right to that object only, although the server reports the right to all: roles can
 * name single objects.
 */
function withObjectName(error: KubeError, { fieldSelector }: InformerQuery): KubeError {
  const [, name] = fieldSelector?.split('=', 2) ?? [];
  if (error.right === undefined || name === undefined) return error;
  const { code, message, causes } = error;
  const right = { ...error.right, name };
  return new KubeError(code, message, { ...responseOf(error), causes, right, cause: error });
}

/** Removes the server's message: it quotes the name. */
function withoutMessage(error: KubeError): KubeError {
  const { code, right } = error;
  return new KubeError(code, `The list or watch failed: ${code}`, {
    ...responseOf(error),
    ...(right && { right: { ...right, isPrivate: true } }),
  });
}

function responseOf({ status, reason, retryAfterSeconds }: KubeError) {
  return {
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}
