import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** Does a server, and not the user, set this value of the object? */
type Judge = (value: unknown, object: KubeObject) => boolean;

/**
 * By kind, the fields that a server or a controller fills in, below the object; `[]` is each item of a list. A value that a user may have
 * chosen is the server's only if it is the default, or if the object comes from a cluster.
 */
const serverFields: Readonly<Record<string, Readonly<Record<string, Judge>>>> = {
  ClusterRole: {
    // The controller copies the rules of other roles.
    rules: (_, object) => isStored(object) && 'aggregationRule' in object,
  },
  Job: {
    'spec.selector': (_, object) => !hasOwnSelector(object),
    'spec.manualSelector': equals(false),
  },
  Namespace: { 'spec.finalizers': always },
  PersistentVolume: {
    'spec.claimRef': isBoundByController,
    'spec.claimRef.uid': always,
    'spec.claimRef.resourceVersion': always,
  },
  PersistentVolumeClaim: {
    'spec.volumeName': isBoundByController,
    'spec.volumeMode': equals('Filesystem'),
  },
  Pod: {
    'spec.nodeName': isOfCluster,
    'spec.priority': isOfCluster,
    'spec.preemptionPolicy': isOfCluster,
    'spec.ephemeralContainers': always,
    'spec.volumes[]': isTokenVolume,
    'spec.containers[].volumeMounts[]': isTokenVolume,
    'spec.initContainers[].volumeMounts[]': isTokenVolume,
    'spec.tolerations[]': (value) => defaultTolerations.some((each) => deepEqual(each, value)),
  },
  Secret: {
    // The token controller writes the token of the ServiceAccount.
    data: (_, object) => 'type' in object && object.type === 'kubernetes.io/service-account-token',
  },
  Service: {
    'spec.clusterIP': (value) => value !== 'None',
    'spec.clusterIPs': always,
    'spec.ipFamilies': equals(['IPv4']),
    'spec.ipFamilyPolicy': equals('SingleStack'),
    'spec.internalTrafficPolicy': equals('Cluster'),
    'spec.sessionAffinity': equals('None'),
    'spec.ports[].nodePort': always,
    'spec.healthCheckNodePort': always,
  },
  ServiceAccount: { secrets: isOfCluster },
  StatefulSet: { 'spec.volumeClaimTemplates[].status': always },
};

/** What the API server adds to each Pod. */
const defaultTolerations: readonly unknown[] = ['not-ready', 'unreachable'].map((key) => ({
  key: `node.kubernetes.io/${key}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

/** Was the object read from a cluster? A manifest that a user wrote has no UID. Pure. */
export function isStored({ metadata }: KubeObject): boolean {
  return metadata.uid !== undefined || metadata.resourceVersion !== undefined;
}

/** The object without the fields that a server or a controller filled in. Pure. */
export function withoutServerFields(object: KubeObject, original: KubeObject): KubeObject {
  const fields = Object.entries(serverFields[object.kind] ?? {});
  return fields.reduce<unknown>(
    (each, [path, judge]) =>
      without(each, path.split(/\.|(?=\[\])/), (value) => judge(value, original)),
    object,
  ) as KubeObject;
}

function without(
  value: unknown,
  [first = '', ...rest]: readonly string[],
  isServers: (value: unknown) => boolean,
): unknown {
  if (first === '[]') {
    if (!Array.isArray(value)) return value;
    return rest.length === 0
      ? value.filter((item) => !isServers(item))
      : value.map((item) => without(item, rest, isServers));
  }
  if (!isJsonObject(value) || !(first in value)) return value;
  const { [first]: field, ...others } = value;
  if (rest.length === 0) return isServers(field) ? others : value;
  const kept = without(field, rest, isServers);
  // A list that has only items of the server is the server's.
  const isEmptied = Array.isArray(kept) && kept.length === 0 && !deepEqual(kept, field);
  return isEmptied ? others : { ...value, [first]: kept };
}

function always(): boolean {
  return true;
}

function equals(byDefault: unknown): Judge {
  return (value) => deepEqual(value, byDefault);
}

function isOfCluster(_: unknown, object: KubeObject): boolean {
  return isStored(object);
}

/** A user binds a volume to a claim by name, too; then the controller adds only the second annotation. */
function isBoundByController(_: unknown, object: KubeObject): boolean {
  const { annotations = {} } = object.metadata;
  if ('pv.kubernetes.io/bound-by-controller' in annotations) return true;
  return isStored(object) && !('pv.kubernetes.io/bind-completed' in annotations);
}

/** The volume with the token of the ServiceAccount, or its mount. */
function isTokenVolume(value: unknown, { metadata }: KubeObject): boolean {
  const { name = '' } = value as { readonly name?: string };
  return /^kube-api-access-[a-z0-9]{5}$/.test(name) && metadata.uid !== undefined;
}

function hasOwnSelector(object: KubeObject): boolean {
  const { spec } = object as { readonly spec?: { readonly manualSelector?: unknown } };
  return spec?.manualSelector === true;
}
