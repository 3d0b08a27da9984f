import { isSameKind, type LocatedDefinition } from '#definition';
import { KubeError } from '#kube/roles.ts';
import type { DesiredDefinition, Rejection } from '../desired-definition.ts';
import { errorMessage } from '../error-message.ts';
import { type Preparation, type PrepareOptions, preparePrevious } from './prepare-definition.ts';
import type { PreparedRevision } from './prepared-revision.ts';

/** The revisions to start with. */
interface PreparedStart {
  readonly kind: 'prepared';
  readonly first: PreparedRevision;
  /** Older revisions that resources may have, newest first. */
  readonly older: readonly PreparedRevision[];
  /** Why `first` is not the desired one. @default undefined: it is */
  readonly rejection?: Rejection;
}

interface PrepareStartOptions extends Pick<PrepareOptions, 'cluster' | 'coverage'> {
  /** Prepares the desired revision. */
  readonly prepare: (located: LocatedDefinition) => Promise<Preparation>;
}

/**
 * Prepares the desired revision, and the older ones that resources may have. Starts with an older one if the cluster rejects the desired
 * one. Older ones that do not compile any more are omitted: their resources take the newest.
 * @throws KubeError
 */
export async function prepareStart(
  { located, previous = [] }: DesiredDefinition,
  { prepare, ...options }: PrepareStartOptions,
  signal: AbortSignal,
): Promise<PreparedStart | Extract<Preparation, { kind: 'rejected' }>> {
  const { revision } = located.definition;
  const desired = await prepare(located).catch((error: unknown) => {
    if (signal.aborted || isUnreachable(error)) throw error;
    return { kind: 'failed', error, rejection: rejectionOf(located, error) } as const;
  });
  const older: PreparedRevision[] = [];
  for (const each of previous) {
    if (each.definition.revision === revision || !isSameKind(each, located)) continue;
    const prepared = await preparePrevious(each, options, signal);
    if (prepared !== undefined) older.push(prepared);
  }
  if (desired.kind === 'prepared') return { kind: 'prepared', first: desired.prepared, older };
  const [first, ...others] = older;
  if (first !== undefined)
    return { kind: 'prepared', first, older: others, rejection: desired.rejection };
  if (desired.kind === 'failed') throw desired.error;
  return desired;
}

/** The cluster does not take a revision for this error. */
export function rejectionOf(
  { definition: { revision } }: LocatedDefinition,
  error: unknown,
): Rejection {
  return { revision, message: errorMessage(error), diagnostics: [] };
}

/** Whether the API server does not answer: nothing is known about the revision. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof KubeError && error.isUnreachable;
}
