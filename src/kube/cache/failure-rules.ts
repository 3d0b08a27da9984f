import type { KubeError } from '../kube-error.ts';

/** How an informer stands when a list or watch has failed. */
export interface Standing {
  /** In a row, this one included. */
  readonly failures: number;
  readonly hasListed: boolean;
}

/** So many failed resumptions in a row, though the server answers, and the list is taken anew: it may know why. */
const resumptionsBeforeList = 5;

/** Can a watch not go on from where it was? */
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
 * The first of a row is worth a look, the others are flow. No trouble of the connection: a right that is missing, of which `RightsWatch`
 * tells for all; a kind that has not come yet, of which those tell who wait for it; a server that has forgotten a version, by a restart say.
 */
export function levelOf(
  error: KubeError | undefined,
  { failures, hasListed }: Standing,
): 'debug' | 'info' | 'warn' {
  const isYetToCome = error?.code === 'kind-missing' && !hasListed;
  const isToldElsewhere = isYetToCome || error?.right !== undefined;
  if (isToldElsewhere || failures > 1) return 'debug';
  return error?.code === 'gone' ? 'info' : 'warn';
}
