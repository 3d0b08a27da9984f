import { mutatingPolicyGvk } from '#compile';
import type { LocatedDefinition } from '#definition';
import { type GroupKind, isSameKind } from '#util/gvk.ts';
import type { SharedOptions } from '../runner-options.ts';

/**
 * Time in which an API server reads the schema of a new kind. Until then it answers 503 to requests for a kind that a policy changes: it
 * looks for new schemas every five seconds, and publishes them a moment after it serves the kind.
 */
export const schemaDelayMs = 10_000;
/** Interval of checks whether the kind is served, from the cache. */
const servedPollMs = 1_000;

/**
 * Whether the defaults of a definition wait for the schema of its kind. Groups without a dot are the API server's own.
 * @param known the kinds of its objects that exist or may exist: where there is a policy already, the schema is known
 */
export function waitsForSchema(
  { definition: { kind, admission } }: LocatedDefinition,
  known: readonly GroupKind[],
): boolean {
  const isOfServer = kind.source === 'for' && !kind.gvk.group.includes('.');
  if (isOfServer || admission === undefined || admission.defaults.length === 0) return false;
  return !known.some((each) => isSameKind(each, mutatingPolicyGvk));
}

/** Resolves when the API server can change objects of the kind. Rejects when the signal aborts. Sends no requests. */
export async function untilSchemaIsRead(
  { definition: { kind } }: LocatedDefinition,
  {
    cluster,
    clock,
    schemaDelayMs: delayMs = schemaDelayMs,
  }: Pick<SharedOptions, 'cluster' | 'clock' | 'schemaDelayMs'>,
  signal: AbortSignal,
): Promise<void> {
  while (cluster.resourceFor(kind.gvk) === undefined) await clock.sleep(servedPollMs, signal);
  if (delayMs > 0) await clock.sleep(delayMs, signal);
}
