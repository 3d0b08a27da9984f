import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { KubeObject } from '../../util/kube-object.ts';

/** Metadata that a server sets. */
const serverMetadata: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
  'ownerReferences',
]);

/** Labels and annotations that belong to the tool that created the object, not to the object. */
const toolKeys =
  /^(?:meta\.helm\.sh\/|helm\.sh\/(?:chart$|hook)|kubectl\.kubernetes\.io\/last-applied|deployment\.kubernetes\.io\/|deprecated\.daemonset\.|batch\.kubernetes\.io\/(?:controller-uid|job-name)|controller-uid$|job-name$|pv\.kubernetes\.io\/|volume\.(?:beta\.)?kubernetes\.io\/(?:storage-provisioner|selected-node))/;

/** Fields of a kind that a server or a controller fills in. Paths below the object. */
const serverFields: Readonly<Record<string, readonly string[]>> = {
  Service: [
    'spec.clusterIP',
    'spec.clusterIPs',
    'spec.ipFamilies',
    'spec.ipFamilyPolicy',
    'spec.internalTrafficPolicy',
    'spec.sessionAffinity',
  ],
  PersistentVolumeClaim: ['spec.volumeName', 'spec.volumeMode'],
  Job: ['spec.selector', 'spec.manualSelector'],
  ServiceAccount: ['secrets'],
};

/** An object as a user would write it: without what a server, a controller or the tool that applied it has added. Pure. */
export function cleanObject(object: KubeObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown };
  const metadata = Object.entries(rest.metadata)
    .filter(([name]) => !serverMetadata.has(name) && name !== 'generateName')
    .map(([name, value]) => [
      name,
      name === 'labels' || name === 'annotations' ? ownKeys(value) : value,
    ])
    .filter(([, value]) => value !== undefined);
  const cleaned = { ...rest, metadata: Object.fromEntries(metadata) } as unknown as JsonObject;
  const paths = isHeadless(object) ? [] : (serverFields[object.kind] ?? []);
  const without = paths.reduce<JsonObject>(
    (each, path) => withoutPath(each, path.split('.')),
    cleaned,
  );
  return withoutNulls(without) as unknown as KubeObject;
}

/** `clusterIP: None` is the user's choice. */
function isHeadless({ kind, ...object }: KubeObject): boolean {
  const { spec } = object as { readonly spec?: { readonly clusterIP?: unknown } };
  return kind === 'Service' && spec?.clusterIP === 'None';
}

function ownKeys(value: unknown): unknown {
  if (!isJsonObject(value)) return undefined;
  const kept = Object.entries(value).filter(
    ([key, each]) =>
      !toolKeys.test(key) && !(key === 'app.kubernetes.io/managed-by' && each === 'Helm'),
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function withoutPath(object: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  const value = object[first];
  if (rest.length > 0)
    return isJsonObject(value) ? { ...object, [first]: withoutPath(value, rest) } : object;
  const { [first]: _, ...kept } = object;
  return kept;
}

/** `creationTimestamp: null` of Pod templates, and empty maps of the same origin. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(
    kept.map(([name, each]) => [
      name,
      name === 'labels' && isJsonObject(each) ? (ownKeys(each) ?? {}) : withoutNulls(each),
    ]),
  );
}
