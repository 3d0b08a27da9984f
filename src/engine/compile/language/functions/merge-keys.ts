import { isJsonObject, type JsonObject } from '#util/json.ts';

/** The fields that tell the elements of a list apart. */
export interface MergeKey {
  /** Every element has it. */
  readonly field: string;
  /** Further fields, with their value where an element lacks them. */
  readonly others?: Readonly<Record<string, string>>;
}

const byName: readonly MergeKey[] = [{ field: 'name' }];
const byType: readonly MergeKey[] = [{ field: 'type' }];

/**
 * `patchMergeKey` of Kubernetes, by the name of the list. Where an apply of the server has a longer key, it is that one:
 * with `containerPort` alone, a port for TCP and one for UDP with the same number would become one. The first key that
 * all elements have counts. A test compares the table with the schemas.
 */
const mergeKeys: Readonly<Record<string, readonly MergeKey[]>> = {
  addresses: byType,
  allocatedResourcesStatus: byName,
  conditions: byType,
  containers: byName,
  drivers: byName,
  env: byName,
  ephemeralContainers: byName,
  hostAliases: [{ field: 'ip' }],
  hostIPs: [{ field: 'ip' }],
  imagePullSecrets: byName,
  initContainers: byName,
  matchConditions: byName,
  ownerReferences: [{ field: 'uid' }],
  podIPs: [{ field: 'ip' }],
  ports: [
    { field: 'containerPort', others: { protocol: 'TCP' } },
    { field: 'port', others: { protocol: 'TCP' } },
  ],
  reservedFor: [{ field: 'uid' }],
  resourceClaimStatuses: byName,
  resourceClaims: byName,
  schedulingGates: byName,
  secrets: byName,
  topologySpreadConstraints: [{ field: 'topologyKey', others: { whenUnsatisfiable: '' } }],
  variables: byName,
  volumeDevices: [{ field: 'devicePath' }],
  volumeMounts: [{ field: 'mountPath' }],
  volumes: byName,
  webhooks: byName,
  'x-kubernetes-validations': [{ field: 'rule' }],
};

/** The key of a list by its name, if all elements have it. */
export function knownMergeKey(
  name: string,
  elements: readonly unknown[],
): { readonly key: MergeKey; readonly elements: readonly JsonObject[] } | undefined {
  const candidates = Object.hasOwn(mergeKeys, name) ? (mergeKeys[name] ?? []) : [];
  for (const key of candidates) {
    const keyed = elementsWith(key, elements);
    if (keyed !== undefined) return { key, elements: keyed };
  }
  return undefined;
}

/** The elements, if all are maps with the field of the key; else undefined. */
export function elementsWith(
  { field }: MergeKey,
  elements: readonly unknown[],
): readonly JsonObject[] | undefined {
  const keyed = elements.filter(
    (each): each is JsonObject => isJsonObject(each) && isKeyValue(each[field]),
  );
  return keyed.length === elements.length ? keyed : undefined;
}

/** Equal for elements with equal keys. */
export function identityOf({ field, others = {} }: MergeKey, element: JsonObject): string {
  const further = Object.entries(others).map(([name, unset]) => element[name] ?? unset);
  return JSON.stringify([element[field], ...further]);
}

function isKeyValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
