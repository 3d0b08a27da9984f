import type { OperatorPlan } from '#compile';
import type { LocatedDefinition } from '#definition';
import type { StoredObject } from '#kube/roles.ts';
import { createOperator, type DecisionRecord } from '#reconcile';
import {
  compileOwn,
  createDefinitionViewCluster,
  definitionGvk,
  recordedInstallKinds,
  recordOf,
  servedKinds,
} from '#runtime';
import { apiVersionOf, isSameKind } from '#util/gvk.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { OwnPart } from '#util/stored-names.ts';
import { unlimitedTimeSlicer } from '#util/time-slicer.ts';
import { DryRunCluster } from './dry-run-cluster.ts';
import { EmptyInformer } from './empty-informer.ts';
import { OverlayInformer } from './overlay-informer.ts';
import type { ResourcePlan } from './plan.ts';
import type { PlanOptions } from './plan-definition.ts';
import { resourcePlan } from './resource-plan.ts';

/** What would happen to the objects of a definition itself. */
export interface InstallPlan {
  /** The definition, with the changes of its objects. */
  readonly resource: ResourcePlan;
  readonly problems: readonly string[];
  /** Whether the cluster does not have this revision: then too many deletions need an approval. */
  readonly isNew: boolean;
}

/**
 * Plans the objects of a definition itself (`install`), or its policies (`admission`): one reconcile with dry runs.
 * @returns undefined: it has none, or only given resources are planned
 * @throws KubeError when a request fails
 */
export async function planInstall(
  part: OwnPart,
  located: LocatedDefinition,
  options: PlanOptions,
  signal: AbortSignal,
): Promise<InstallPlan | undefined> {
  const { name, revision, [part]: own } = located.definition;
  if (options.resources !== undefined) return undefined;
  const cluster = new DryRunCluster(options.cluster);
  const live = await liveDefinition(name, cluster, signal);
  const recorded = recordedInstallKinds(live?.object, part);
  if (own === undefined && recorded.length === 0) return undefined;
  const { guardedNamespaces } = options;
  const about = { cluster, ...(guardedNamespaces && { guardedNamespaces }) };
  const { plan } = await compileOwn[part](located, about, signal);
  // What is wrong with it rejects the definition.
  if (plan === undefined) return undefined;
  const previous = recorded.filter(
    (kind) => !plan.children.some(({ gvk }) => isSameKind(gvk, kind)),
  );
  const previousKinds = await servedKinds(previous, cluster, signal);
  const stored = storedOf(located, live);
  const found = await reconcile({ part, plan, previousKinds, stored, cluster }, options, signal);
  const isNew = live === undefined || recordOf(live.object).revisions[0]?.revision !== revision;
  return { ...found, isNew };
}

async function liveDefinition(
  name: string,
  cluster: DryRunCluster,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  if ((await cluster.lookUp(definitionGvk, signal)) === undefined) return undefined;
  const flow = { name, priority: 'object' } as const;
  return cluster.get({ gvk: definitionGvk, name }, { flow }, signal);
}

/** The object of the definition as it would be. */
function storedOf(
  { definition: { name }, document }: LocatedDefinition,
  live: StoredObject | undefined,
): StoredObject {
  const written = isJsonObject(document.metadata) ? document.metadata : {};
  const metadata = live?.object.metadata ?? { name, uid: 'dry-run', generation: 1 };
  const status = live?.object.status;
  const object: KubeObject = {
    apiVersion: apiVersionOf(definitionGvk),
    kind: definitionGvk.kind,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, ...texts(written.labels) },
      annotations: { ...metadata.annotations, ...texts(written.annotations) },
    },
    ...(status !== undefined && { status }),
  };
  return { object, cluster: undefined, appliedBy: [] };
}

function texts(value: unknown): Readonly<Record<string, string>> {
  const map: JsonObject = isJsonObject(value) ? value : {};
  return Object.fromEntries(Object.entries(map).map(([key, text]) => [key, String(text)]));
}

interface Planned {
  readonly part: OwnPart;
  readonly plan: OperatorPlan;
  readonly previousKinds: Awaited<ReturnType<typeof servedKinds>>;
  readonly stored: StoredObject;
  readonly cluster: DryRunCluster;
}

async function reconcile(
  { part, plan, previousKinds, stored, cluster }: Planned,
  { members: _, runtimeNamespace: __, resources: ___, ...options }: PlanOptions,
  signal: AbortSignal,
): Promise<Pick<InstallPlan, 'resource' | 'problems'>> {
  const { name } = stored.object.metadata;
  let record: DecisionRecord | undefined;
  const operator = createOperator({
    ...options,
    cluster: createDefinitionViewCluster({
      cluster,
      name,
      part,
      acquireDefinitions: () =>
        new OverlayInformer(new EmptyInformer({ gvk: definitionGvk }), [stored]),
      isReadOnly: true,
      isRemoved: false,
      onReleased: () => undefined,
    }),
    plan,
    previousKinds,
    timeSlicer: unlimitedTimeSlicer,
    enqueue: () => undefined,
    onDecisions: (_key, found) => {
      record = found;
    },
  });
  await operator.start(signal);
  try {
    cluster.takeWrites();
    for (const key of operator.keys()) {
      const outcome = await operator.reconcile(key, { signal, yieldWorker: async () => 'current' });
      if (outcome.kind === 'error') throw outcome.error;
    }
    const writes = cluster.takeWrites();
    const resource = resourcePlan({ plan, resource: stored.object, writes, record });
    const problems = operator.problems().map(({ what, message }) => `${part}: ${what}: ${message}`);
    return { resource, problems };
  } finally {
    operator.stop();
  }
}
