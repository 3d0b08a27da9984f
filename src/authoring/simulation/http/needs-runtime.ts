import { hubKindsOf, type OperatorDefinition, usesClusters } from '#definition';
import { httpKinds } from '#http-objects/kinds/index.ts';
import type { KubeCluster } from '#kube';
import { installOwnCrd } from '#runtime';
import type { Clock } from '#util/clock.ts';
import { type Gvk, groupKindKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Whether a definition uses members, objects behind HTTP, or policies, which only the whole runtime serves. Pure. */
export function needsRuntime(definition: OperatorDefinition): boolean {
  return usesClusters(definition) || usesHttp(definition) || definition.admission !== undefined;
}

/** Whether a definition uses objects behind HTTP. Pure. */
export function usesHttp(definition: OperatorDefinition): boolean {
  return hubKindsOf(definition).some(isOwn);
}

/** Whether an object is behind HTTP, or an endpoint. Pure. */
export function isHttpKind({ apiVersion, kind }: KubeObject): boolean {
  return isOwn(gvkOf(apiVersion, kind));
}

/** Serves the kinds of objects behind HTTP. Resolves when they are served. @throws KubeError */
export async function serveHttpKinds(
  cluster: KubeCluster,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  for (const kind of httpKinds)
    if ((await cluster.lookUp(kind.gvk, signal)) === undefined)
      await installOwnCrd(kind, { cluster, clock }, signal);
}

function isOwn(gvk: Gvk): boolean {
  return httpKinds.some((own) => groupKindKey(own.gvk) === groupKindKey(gvk));
}
