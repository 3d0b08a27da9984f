import { isJsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A field whose value only one object of a cluster can have, or should have. */
interface UniqueField {
  /** @default any */
  readonly kinds?: readonly string[];
  /** Steps joined by `.`; items of lists are `[]`. */
  readonly path: RegExp;
  /** For people. */
  readonly what: string;
  /** Two objects with the value use the same data or the same object: it is no matter of taste. @default false */
  readonly isClaim?: boolean;
  /** Why nothing is shared after all. */
  readonly isHarmless?: (value: unknown) => boolean;
}

const routes = ['HTTPRoute', 'GRPCRoute', 'TLSRoute'];

const uniqueFields: readonly UniqueField[] = [
  { kinds: ['Service'], path: /^spec\.ports\.\[\]\.nodePort$/, what: 'the node port' },
  { kinds: ['Service'], path: /^spec\.healthCheckNodePort$/, what: 'the node port' },
  { kinds: ['Service'], path: /^spec\.loadBalancerIP$/, what: 'the address' },
  { kinds: ['Service'], path: /^spec\.externalIPs\.\[\]$/, what: 'the address' },
  {
    kinds: ['Service'],
    path: /^spec\.clusterIPs?(?:\.\[\])?$/,
    what: 'the address',
    isHarmless: (value) => value === 'None',
  },
  { kinds: ['Ingress'], path: /^spec\.rules\.\[\]\.host$/, what: 'the host' },
  { kinds: routes, path: /^spec\.hostnames\.\[\]$/, what: 'the host' },
  { kinds: ['Gateway'], path: /^spec\.listeners\.\[\]\.hostname$/, what: 'the host' },
  { kinds: ['Route'], path: /^spec\.host$/, what: 'the host' },
  { path: /\bports\.\[\]\.hostPort$/, what: 'the port of the node' },
  {
    path: /\bhostNetwork$/,
    what: 'the network of the node',
    isHarmless: (value) => value !== true,
  },
  {
    kinds: ['PersistentVolumeClaim'],
    path: /^spec\.volumeName$/,
    what: 'the volume',
    isClaim: true,
  },
  { kinds: ['PersistentVolume'], path: /^spec\.claimRef\.name$/, what: 'the claim', isClaim: true },
  {
    kinds: ['PersistentVolume'],
    path: /^spec\.(?:\w+\.(?:volumeHandle|volumeID|pdName|diskURI|path)|nfs\.path)$/,
    what: 'the disk',
    isClaim: true,
  },
  { path: /\bvolumes\.\[\]\.persistentVolumeClaim\.claimName$/, what: 'the claim', isClaim: true },
  { path: /^spec\.(?:scaleTargetRef|targetRef)\.name$/, what: 'the target', isClaim: true },
  {
    kinds: ['PriorityClass'],
    path: /^globalDefault$/,
    what: 'the default of the cluster',
    isHarmless: (value) => value !== true,
  },
];

export interface UniqueValue {
  /** JSON pointer in the object. */
  readonly pointer: string;
  /** As in `--parameter`: `spec.rules[0].host`. */
  readonly path: string;
  readonly value: unknown;
  readonly what: string;
  readonly isClaim: boolean;
}

/** The values of an object that no other object of the cluster should have. Pure. */
export function uniqueValues(object: KubeObject): readonly UniqueValue[] {
  const found: UniqueValue[] = [];
  const visit = (value: unknown, place: Place): void => {
    const field = typeof value === 'object' ? undefined : fieldAt(object.kind, place.steps);
    if (field !== undefined && field.isHarmless?.(value) !== true) {
      const { pointer, path } = place;
      found.push({ pointer, path, value, what: field.what, isClaim: field.isClaim ?? false });
    }
    if (Array.isArray(value))
      value.forEach((item, index) => {
        visit(item, below(place, '[]', String(index), `[${index}]`));
      });
    else if (isJsonObject(value))
      for (const [name, each] of Object.entries(value))
        visit(each, below(place, name, name, place.path === '' ? name : `.${name}`));
  };
  visit(object, { steps: [], pointer: '', path: '' });
  return found;
}

/** Is the value at this path, with `[]` for items of lists, one that no other object should have? Pure. */
export function isUniqueField(kind: string, steps: readonly string[]): boolean {
  return fieldAt(kind, steps) !== undefined;
}

function fieldAt(kind: string, steps: readonly string[]): UniqueField | undefined {
  const path = steps.join('.');
  return uniqueFields.find(
    (each) => (each.kinds === undefined || each.kinds.includes(kind)) && each.path.test(path),
  );
}

interface Place {
  readonly steps: readonly string[];
  readonly pointer: string;
  readonly path: string;
}

function below({ steps, pointer, path }: Place, step: string, key: string, written: string): Place {
  return { steps: [...steps, step], pointer: pointerTo(pointer, key), path: path + written };
}
