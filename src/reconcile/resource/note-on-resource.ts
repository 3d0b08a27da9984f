import { KubeError } from '../../kube/roles.ts';
import { type Problem, problemOfRequest } from '../failure.ts';
import { refOfStored } from '../identity.ts';
import { type Pass, worldWrite } from '../pass/pass.ts';
import { ofResource } from '../secrecy.ts';

/**
 * Notes on a resource what a later process has to know, in annotations of ours; null takes one off.
 * @returns what stands in the way.
 */
export async function noteOnResource(
  pass: Pass,
  annotations: Readonly<Record<string, string | null>>,
): Promise<Problem | undefined> {
  const { context, resource, did, uid, signal } = pass;
  const from = did.resource ?? resource;
  try {
    const stored = await context.cluster.editMetadata(
      refOfStored(resource),
      { ...worldWrite(pass), uid, from, change: () => ({ annotations }) },
      signal,
    );
    if (stored !== undefined) did.resource = stored.object;
    pass.did.hasWritten = true;
    return undefined;
  } catch (error) {
    if (!(error instanceof KubeError) || signal.aborted) throw error;
    return problemOfRequest(error, { about: ofResource(pass.context.plan) });
  }
}
