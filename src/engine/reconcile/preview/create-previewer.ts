import type { ApplyResult, RoutingCluster, StoredObject } from '#kube/roles.ts';
import { metricCatalogue, silentLogger, silentMetrics } from '#telemetry/roles.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { applyChildren } from '../child/apply-tiers.ts';
import { identityOfObject, kindOf, type ObjectAt } from '../identity.ts';
import { Obstacles } from '../ledger/obstacles.ts';
import { isPaused, isTerminating } from '../ownership-claims.ts';
import { createBudget, type OperatorContext, type PassTurn } from '../pass/context.ts';
import { outdatedOf } from '../pass/feature.ts';
import { beginPass, type ChildResult, type ElementResult, type Pass } from '../pass/pass.ts';
import { createResourceState } from '../pass/resource-state.ts';
import { holdsData, pruneCandidatesOf } from '../removal/removal-rules.ts';
import { objectsToPrune } from '../run/prune.ts';
import { ResourceQueue } from '../watch/resource-queue.ts';
import { Watches } from '../watch/watches.ts';
import type { Preview, Previewer } from './preview.ts';

const nothing: Preview = { deletes: [], creates: 0, applies: 0, isComplete: true };

/**
 * Creates the previewer of a started operator. Its passes run like those of the operator, without reports or deletions, and with their own
 * dependencies, which enqueue nothing.
 */
export function createPreviewer(context: OperatorContext): Previewer {
  const silent = silentContext(context);
  return {
    async of(key, signal) {
      signal.throwIfAborted();
      const pass = begin(silent, key, signal);
      if (pass === undefined) return nothing;
      try {
        await applyChildren(pass);
        return await previewOf(pass);
      } finally {
        pass.budget.release();
      }
    },
    stop: () => silent.watches.stop(),
  };
}

function silentContext(context: OperatorContext): OperatorContext {
  const { plan, clock, others, watches: base } = context;
  const queue = new ResourceQueue({
    definition: plan.name,
    keys: () => [],
    noteEvent: () => undefined,
    enqueue: () => undefined,
  });
  const cluster = createPreviewCluster(context.cluster, base);
  const onClusterChange = others.onChange.bind(others);
  const watches = new Watches({
    plan,
    cluster,
    onClusterChange,
    clock,
    queue,
    previousKinds: [],
    base,
  });
  return {
    ...context,
    cluster,
    watches,
    logger: silentLogger,
    applies: silentMetrics.counter(metricCatalogue.applies),
    features: context.features.silent(),
    obstacles: new Obstacles({ cluster, clock, onEnded: () => undefined }),
    states: new Map(),
    deletedOwners: new Map(),
    trace: undefined,
    onDecisions: undefined,
  };
}

/** Undefined: a change of the definition deletes nothing of the resource now. */
function begin(context: OperatorContext, key: string, signal: AbortSignal): Pass | undefined {
  const resource = context.watches.resources.get(key)?.object;
  if (resource === undefined || isPaused(resource) || isTerminating(resource)) return undefined;
  const budget = createBudget(context);
  const turn: PassTurn = { signal, yieldWorker: async () => 'current', budget };
  const state = createResourceState(resource.metadata.uid ?? '');
  return beginPass(context, { key, resource, state, turn });
}

async function previewOf(pass: Pass): Promise<Preview> {
  const { context, effects } = pass;
  const { children } = effects;
  const undesired = objectsToPrune(pass, { isSettled: isKnown, includesDropped: true });
  const elements = [...children.values()].flatMap((child) => child.elements);
  const lost = elements
    .flatMap((element) => recreatedBy(context.watches, element))
    .filter((stored) => holdsData(context.plan, stored));
  const count = (kind: string) => elements.filter(({ change }) => change?.kind === kind).length;
  // Other clusters that cannot be reached are not waited for: their passes ask before they delete.
  const informers = [...context.watches.allChildren()].flatMap(({ informer, gvk }) =>
    gvk.cluster === undefined ? [informer] : [],
  );
  return {
    deletes: [
      ...pruneCandidatesOf(pass, [...undesired, ...lost]),
      ...(await outdatedOf(pass)).flatMap(({ candidates }) => candidates),
    ],
    creates: count('created'),
    applies: count('applied'),
    isComplete:
      [...children.values()].every(isKnown) &&
      informers.every(({ state }) => state.kind === 'synced'),
  };
}

/** The existing object that an element recreates. */
function recreatedBy(watches: Watches, { change, live }: ElementResult): readonly StoredObject[] {
  if (change?.kind !== 'created' || live === undefined) return [];
  const stored = currentOf(watches, live);
  return stored === undefined ? [] : [stored];
}

/** Are all desired objects of the child known? Those that only wait count too: the undesired ones are deleted once they exist. */
function isKnown({ resolution }: ChildResult): boolean {
  return resolution !== 'unknown';
}

/** The cluster of a preview: reads are real, writes are simulated, and Events are dropped. */
function createPreviewCluster(cluster: RoutingCluster, watches: Watches): RoutingCluster {
  return {
    name: cluster.name,
    labels: cluster.labels ?? {},
    events: { record: () => undefined },
    acquire: (query) => cluster.acquire(query),
    resourceFor: (gvk) => cluster.resourceFor(gvk),
    lookUp: (gvk, signal) => cluster.lookUp(gvk, signal),
    findKind: (kind, signal) => cluster.findKind(kind, signal),
    get: (ref, options, signal) => cluster.get(ref, options, signal),
    // Field managers are needed only for rejected applies.
    managedFields: async () => [],
    onGranted: () => () => undefined,
    apply: async (object, { cluster: where, fieldManager }) => {
      const written = { object, cluster: where };
      return answerOf(written, currentOf(watches, written), fieldManager);
    },
    // Previews send no patches.
    replace: async (object) => ({ object, cluster: undefined, appliedBy: [] }),
    editMetadata: async () => undefined,
    delete: async () => 'deleted',
  };
}

/** The current object of an intent; undefined: the cache has none. */
function currentOf(watches: Watches, written: ObjectAt): StoredObject | undefined {
  const { namespace, name } = written.object.metadata;
  return watches.findChildren(kindOf(written))?.informer.get(namespace, name);
}

/** The simulated response to an apply: the existing object with the intent merged into it. */
function answerOf(
  { object: manifest, cluster }: ObjectAt,
  live: StoredObject | undefined,
  fieldManager: string,
): ApplyResult {
  const { uid, resourceVersion, ...metadata } = manifest.metadata;
  const intent = { ...manifest, metadata };
  if (live === undefined || live.object.metadata.uid !== uid) {
    const object = createdObject({ object: intent, cluster });
    return { stored: { object, cluster, appliedBy: [fieldManager] }, created: true };
  }
  const object = merged(live.object, intent) as KubeObject;
  const appliedBy = [...new Set([...live.appliedBy, fieldManager])];
  return { stored: { object, cluster, appliedBy }, created: false };
}

function createdObject(intent: ObjectAt): KubeObject {
  const uid = `preview ${identityOfObject(intent)}`;
  const { object } = intent;
  return { ...object, metadata: { ...object.metadata, uid, resourceVersion: '1', generation: 1 } };
}

/** Maps are merged, everything else is replaced. */
function merged(live: unknown, intent: unknown): unknown {
  if (!isJsonObject(live) || !isJsonObject(intent)) return intent;
  const fields = Object.entries(intent).map(([name, value]) => [name, merged(live[name], value)]);
  return { ...live, ...Object.fromEntries(fields) };
}
