import type { JsonObject } from '#util/json.ts';

/** The group of all CRDs of the suite. */
export const suiteGroup = 'contract.demo.io';

interface SuiteCrd extends JsonObject {
  readonly spec: JsonObject & {
    readonly group: string;
    readonly names: JsonObject & { readonly plural: string };
    readonly versions: readonly (JsonObject & { readonly name: string })[];
  };
}

interface SuiteCrdOptions {
  readonly kind: string;
  readonly spec: JsonObject;
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly status?: JsonObject;
  readonly versions?: readonly string[];
}

function suiteCrd(options: SuiteCrdOptions): SuiteCrd {
  const { kind, spec, scope = 'Namespaced', status, versions = ['v1'] } = options;
  const plural = `${kind.toLowerCase()}s`;
  const properties = { spec, ...(status === undefined ? {} : { status }) };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${suiteGroup}` },
    spec: {
      group: suiteGroup,
      scope,
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        ...(status === undefined ? {} : { subresources: { status: {} } }),
        schema: { openAPIV3Schema: { type: 'object', properties } },
      })),
    },
  };
}

const text = { type: 'string' };
const count = { type: 'integer' };

const thing = suiteCrd({
  kind: 'Thing',
  spec: {
    type: 'object',
    properties: {
      size: { ...count, minimum: 1, maximum: 10 },
      title: { ...text, maxLength: 5, minLength: 2, pattern: '^[a-z]+$' },
      color: { ...text, enum: ['red', 'green'] },
      level: { ...count, default: 3 },
      when: { ...text, format: 'date-time' },
      ratio: { type: 'number' },
      on: { type: 'boolean' },
      maybe: { ...text, nullable: true },
      target: { 'x-kubernetes-int-or-string': true },
      nested: {
        type: 'object',
        required: ['a'],
        properties: {
          a: text,
          b: text,
          deep: { type: 'object', properties: { x: text, y: { ...text, default: 'why' } } },
        },
      },
      closed: { type: 'object' },
      labels: { type: 'object', additionalProperties: text },
      limits: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
      tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 3 },
      args: { type: 'array', items: text, minItems: 1 },
      ports: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['port', 'protocol'],
        items: {
          type: 'object',
          required: ['port'],
          properties: { port: count, protocol: { ...text, default: 'TCP' }, name: text },
        },
      },
      items: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: { type: 'object', required: ['name'], properties: { name: text, value: count } },
      },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      template: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
    },
  },
  status: {
    type: 'object',
    properties: {
      phase: text,
      ready: count,
      conditions: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
        items: { type: 'object', required: ['type'], properties: { type: text, status: text } },
      },
    },
  },
});

const plain = suiteCrd({
  kind: 'Plain',
  spec: { type: 'object', properties: { size: count } },
});

const globe = suiteCrd({
  kind: 'Globe',
  scope: 'Cluster',
  spec: { type: 'object', properties: { size: count } },
});

const old = suiteCrd({
  kind: 'Old',
  versions: ['v1', 'v2'],
  spec: { type: 'object', properties: { size: count, title: text } },
  status: { type: 'object', properties: { phase: text } },
});

/** The CRDs that the cases use. */
export const suiteCrds: readonly SuiteCrd[] = [thing, plain, globe, old];
