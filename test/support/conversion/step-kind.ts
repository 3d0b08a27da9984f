import assert from 'node:assert/strict';
import type { KubeObject } from '#util/kube-object.ts';
import type { VersionUse } from './step-load.ts';

const text = '{ type: string }';
const integer = '{ type: integer }';
const specs = {
  v1alpha1: `size: ${integer}, mode: ${text}, note: ${text}`,
  v1: `replicas: ${integer}, strategy: { type: object, properties: { type: ${text} } }, comment: ${text}`,
};

const rules = `
  conversions:
    hub: v1
    versions:
      - version: v1alpha1
        fields:
          - { here: spec.size, there: spec.replicas }
          - { here: spec.mode, there: spec.strategy.type, values: { fast: Parallel, slow: Ordered } }`;

export interface StepDefinition {
  readonly name: string;
  /** With their flags. */
  readonly versions: Readonly<Partial<Record<keyof typeof specs, string>>>;
  /** What the ConfigMap of a resource shows: {@link bySize} or {@link byReplicas}. */
  readonly value: string;
  /** Another value in that ConfigMap. @default none */
  readonly mark?: string;
}

/** A definition of the kind `Dial`, with conversions if it has two versions. */
export function stepDefinition({ name, versions, value, mark }: StepDefinition): string {
  const items = Object.entries(versions).map(
    ([version, flags]) => `
      - { name: ${version}, ${flags}, schema: { openAPIV3Schema: { type: object, properties: {
          spec: { type: object, properties: { ${specs[version as keyof typeof specs]} } },
          status: { type: object, properties: { text: ${text}, old: ${integer}, new: ${integer} } } } } } }`,
  );
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${name}.example.com
    names: { kind: Dial, plural: dials }
    scope: Namespaced
    versions:${items.join('')}${items.length > 1 ? rules : ''}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ ${value} }"${mark === undefined ? '' : `, mark: "${mark}"`} }
  status: { text: "\${ ${value} }" }
`;
}

export const stored = 'served: true, storage: true';
export const served = 'served: true, storage: false';
export const unserved = 'served: false, storage: false';
export const bySize = "'size ' & $string(spec.size)";
export const byReplicas = "'replicas ' & $string(spec.replicas)";

/** Clients of v1alpha1, which own all of its fields. */
export const old: VersionUse = {
  version: 'v1alpha1',
  manager: 'old',
  spec: (round) => ({ size: round, mode: 'fast', note: `note ${round}` }),
  check: ({ size, mode, note }, round = size as number) =>
    assert.deepEqual(
      { size, mode, note },
      { size: round, mode: 'fast', note: `note ${size}` },
      'A field of v1alpha1 is lost',
    ),
};

/** Clients of v1, which own a field that v1alpha1 does not have. */
export const newer: VersionUse = {
  version: 'v1',
  manager: 'new',
  spec: (round) => ({ comment: `comment ${round}` }),
  check: ({ replicas, strategy, comment }, round) => {
    assert.equal(typeof replicas, 'number', 'replicas is lost');
    assert.deepEqual(strategy, { type: 'Parallel' });
    if (round !== undefined) assert.equal(comment, `comment ${round}`);
  },
};

interface CrdSpec {
  readonly conversion?: { readonly strategy: string };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
  }[];
}

export const crdSpecOf = (crd: KubeObject | undefined) => crd?.spec as CrdSpec | undefined;
export const isServed = (crd: KubeObject | undefined, of: string) =>
  crdSpecOf(crd)?.versions.some(({ name, served }) => name === of && served) === true;
export const storedIn = (crd: KubeObject | undefined) =>
  crdSpecOf(crd)?.versions.find(({ storage }) => storage)?.name;
export const storedVersions = (crd: KubeObject | undefined) =>
  (crd?.status as { readonly storedVersions?: readonly string[] } | undefined)?.storedVersions;

/** Whether managers own fields in this version only. */
export function isOwnedIn({ metadata }: KubeObject, version: string): boolean {
  const { managedFields = [] } = metadata as {
    readonly managedFields?: readonly { readonly apiVersion: string }[];
  };
  return managedFields.every(({ apiVersion }) => apiVersion.endsWith(`/${version}`));
}
