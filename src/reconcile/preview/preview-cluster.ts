import type { ApplyResult, Cluster, StoredObject } from '../../kube/roles.ts';
import type { Logger } from '../../telemetry/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import { isJsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';
import type { PassMetrics } from '../pass/context.ts';

/** The current object of an intent; undefined: the cache has none. */
export type LookUp = (manifest: KubeObject) => StoredObject | undefined;

/** The cluster of a preview: reads are real, writes are simulated, and Events are dropped. */
export function createPreviewCluster(cluster: Cluster, lookUp: LookUp): Cluster {
  return {
    name: cluster.name,
    labels: cluster.labels ?? {},
    events: { record: () => undefined },
    acquire: (query) => cluster.acquire(query),
    resourceFor: (gvk, member) => cluster.resourceFor(gvk, member),
    lookUp: (gvk, signal) => cluster.lookUp(gvk, signal),
    findKind: (kind, signal, member) => cluster.findKind(kind, signal, member),
    get: (ref, options, signal) => cluster.get(ref, options, signal),
    // Field managers are needed only for rejected applies.
    managedFields: async () => [],
    onGranted: () => () => undefined,
    apply: async (manifest, { fieldManager }) => answerOf(manifest, lookUp(manifest), fieldManager),
    // Previews send no patches.
    replace: async (manifest) => ({ object: manifest, appliedBy: [] }),
    editMetadata: async () => undefined,
    delete: async () => 'deleted',
  };
}

/** The simulated response to an apply: the existing object with the intent merged into it. */
function answerOf(
  manifest: KubeObject,
  live: StoredObject | undefined,
  fieldManager: string,
): ApplyResult {
  const { uid, resourceVersion, ...metadata } = manifest.metadata;
  const intent = { ...manifest, metadata };
  if (live === undefined || live.object.metadata.uid !== uid) {
    return { stored: { object: createdObject(intent), appliedBy: [fieldManager] }, created: true };
  }
  const object = merged(live.object, intent) as KubeObject;
  const appliedBy = [...new Set([...live.appliedBy, fieldManager])];
  return { stored: { object, appliedBy }, created: false };
}

function createdObject(intent: KubeObject): KubeObject {
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

/** Logs nothing. */
export const silentLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  child: () => silentLogger,
};

/** Counts nothing. */
export const silentMetrics: PassMetrics = { applies: { increment: nothing } };
