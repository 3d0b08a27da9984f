import { checkDefinitions, type DefinitionManifest } from '#check';
import { bundledSchemas } from '#compile';
import { KubeError } from '#kube';
import { childLabel, ownerUidLabel } from '#reconcile';
import { type RenderResult, renderResource, runResource, untilReady } from '#render';
import { TestCluster } from '#simulation';
import type { JsonObject } from '#util/json.ts';
import { conditionsOf, type KubeObject } from '#util/kube-object.ts';
import { type CreatedObject, findOverlaps, type Overlap } from './find-overlaps.ts';

export interface SideBySideOptions {
  /** One definition, without errors. */
  readonly definition: DefinitionManifest;
  /** Two resources of it in one namespace, which exists or is given. */
  readonly resources: readonly [KubeObject, KubeObject];
  /** Objects that exist before. */
  readonly given: readonly KubeObject[];
}

export interface SideBySide {
  /** The first resource, alone in a cluster. */
  readonly alone: RenderResult;
  /** What the two resources share. */
  readonly overlaps: readonly Overlap[];
  /** Why the resources are not as ready side by side as alone, for people. Undefined: they are, or they share objects. */
  readonly problem?: string;
}

/**
 * Runs two resources of a definition on simulated clusters: each alone, and if their objects have nothing in common, both in one cluster.
 * There, their Pods are checked, too.
 */
export async function renderSideBySide(options: SideBySideOptions): Promise<SideBySide> {
  const { definition, resources, given } = options;
  const render = (resource: KubeObject) =>
    renderResource({ definitions: [definition], resource, given, simulatesControllers: true });
  const [first, second] = resources;
  const alone = await render(first);
  const other = await render(second);
  const overlaps = findOverlaps(alone.children, other.children);
  if (overlaps.some(({ isMinor }) => !isMinor) || alone.children.length === 0)
    return { alone, overlaps };
  const { ready, pods } = await runBoth(options);
  const expected = [alone, other].map(({ problem }) => problem);
  const problem = ready.find((each, index) => each !== undefined && expected[index] === undefined);
  const found = findOverlaps([...alone.children, ...pods[0]], [...other.children, ...pods[1]]);
  return { alone, overlaps: found, ...(problem !== undefined && { problem }) };
}

interface Both {
  /** Why each resource is not ready. Undefined: it is. */
  readonly ready: readonly (string | undefined)[];
  /** The Pods of each. */
  readonly pods: readonly [readonly CreatedObject[], readonly CreatedObject[]];
}

async function runBoth({ definition, resources, given }: SideBySideOptions): Promise<Both> {
  const { accepted } = checkDefinitions([definition], { schemas: bundledSchemas() });
  const [checked] = accepted;
  if (checked === undefined) return { ready: [], pods: [[], []] };
  const { located } = checked;
  const [first, second] = resources;
  const options = {
    definitions: [located],
    manifests: [definition],
    given,
    resource: first,
    simulatesControllers: true,
  };
  try {
    return await runResource(options, located.definition, async ({ simulation, found }) => {
      const cluster = new TestCluster(simulation);
      await cluster.apply(second);
      const other = await untilReady(simulation, cluster, second);
      const all = await cluster.all();
      const ownedBy = (owner: JsonObject | undefined) => podsOf(all, uidOf(owner));
      return {
        ready: [found, other].map(problemOf),
        pods: [ownedBy(found), ownedBy(other)],
      };
    });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return { ready: [error.message], pods: [[], []] };
  }
}

function uidOf(object: JsonObject | undefined): string | undefined {
  return (object as unknown as KubeObject | undefined)?.metadata.uid;
}

function problemOf(found: JsonObject | undefined): string | undefined {
  const ready = conditionsOf(found).find(({ type }) => type === 'Ready');
  return ready?.status === 'True'
    ? undefined
    : String(ready?.message ?? 'It has no condition "Ready"');
}

/** The Pods that controllers have created for the children of a resource, as objects of the child. */
function podsOf(all: readonly KubeObject[], owner: string | undefined): readonly CreatedObject[] {
  const byUid = new Map(all.map((object) => [object.metadata.uid, object]));
  const rootOf = (object: KubeObject): KubeObject => {
    const controller = object.metadata.ownerReferences?.find((each) => each.controller === true);
    const above = byUid.get(controller?.uid);
    const isChild = object.metadata.labels?.[ownerUidLabel] !== undefined;
    return isChild || above === undefined ? object : rootOf(above);
  };
  return all
    .filter(({ kind }) => kind === 'Pod')
    .map((pod) => ({ pod, root: rootOf(pod) }))
    .filter(({ root }) => root.metadata.labels?.[ownerUidLabel] === owner && owner !== undefined)
    .map(({ pod, root }) => ({
      child: root.metadata.labels?.[childLabel] ?? '',
      manifest: { apiVersion: 'v1', kind: 'Pod', metadata: pod.metadata } as KubeObject,
    }));
}
