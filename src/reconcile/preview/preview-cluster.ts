import type { ApplyResult, Cluster, StoredObject } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { PassMetrics } from '../pass/context.ts';

/** The object of an intent, as it is now; undefined: there is none, as far as anybody knows. */
export type LookUp = (manifest: KubeObject) => StoredObject | undefined;

/** The cluster of a preview: what is read is real, what is written is answered as if it were done, and nobody hears of it. */
export function createPreviewCluster(cluster: Cluster, lookUp: LookUp): Cluster {
  return {
    name: cluster.name,
    events: { record: () => undefined },
    acquire: (query) => cluster.acquire(query),
    resourceFor: (gvk) => cluster.resourceFor(gvk),
    lookUp: (gvk, signal) => cluster.lookUp(gvk, signal),
    findKind: (kind, signal) => cluster.findKind(kind, signal),
    get: (ref, options, signal) => cluster.get(ref, options, signal),
    // Who manages a field matters only where something is refused, and nothing is.
    fieldOwners: async () => [],
    onGranted: () => () => undefined,
    apply: async (manifest, { fieldManager }) => answerOf(manifest, lookUp(manifest), fieldManager),
    editMetadata: async () => undefined,
    delete: async () => 'deleted',
  };
}

/** What a server would answer to an apply, as far as expressions may look at it: what was there, with the intent on top. */
function answerOf(
  manifest: KubeObject,
  live: StoredObject | undefined,
  fieldManager: string,
): ApplyResult {
  const { uid, resourceVersion, ...metadata } = manifest.metadata;
  const intent = { ...manifest, metadata };
  if (live === undefined || live.object.metadata.uid !== uid) {
    return { stored: { object: newborn(intent), appliedBy: [fieldManager] }, created: true };
  }
  const object = merged(live.object, intent) as KubeObject;
  const appliedBy = [...new Set([...live.appliedBy, fieldManager])];
  return { stored: { object, appliedBy }, created: false };
}

function newborn(intent: KubeObject): KubeObject {
  const { kind, metadata } = intent;
  const { group } = gvkOf(intent.apiVersion, kind);
  const uid = `preview ${group}/${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
  return { ...intent, metadata: { ...metadata, uid, resourceVersion: '1', generation: 1 } };
}

/** Maps are merged, everything else is replaced. */
function merged(live: unknown, intent: unknown): unknown {
  if (!isJsonObject(live) || !isJsonObject(intent)) return intent;
  const fields = Object.entries(intent).map(([name, value]) => [name, merged(live[name], value)]);
  return { ...live, ...Object.fromEntries(fields) };
}

const nothing = () => undefined;

/** Says nothing. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};

/** Counts nothing. */
export const silentMetrics: PassMetrics = { applies: { increment: nothing } };
