import type { Json, JsonObject } from '#util/json.ts';

/** A structural schema of a custom resource, as far as the generator reads it. */
export interface WidgetSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, WidgetSchema>>;
  readonly additionalProperties?: WidgetSchema;
  readonly items?: WidgetSchema;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
  readonly default?: Json;
  readonly format?: string;
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular';
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

const text: WidgetSchema = { type: 'string' };
const count: WidgetSchema = { type: 'integer' };
const flag: WidgetSchema = { type: 'boolean' };

function struct(properties: Readonly<Record<string, WidgetSchema>>): WidgetSchema {
  return { type: 'object', properties };
}

function listOf(items: WidgetSchema, kind?: 'atomic' | 'set'): WidgetSchema {
  return {
    type: 'array',
    items,
    ...(kind === undefined ? {} : { 'x-kubernetes-list-type': kind }),
  };
}

function listMap(keys: readonly string[], items: WidgetSchema): WidgetSchema {
  const required = keys.filter((key) => items.properties?.[key]?.default === undefined);
  return {
    type: 'array',
    items: { ...items, required },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  };
}

const env = listMap(['name'], struct({ name: text, value: text }));
const port = struct({
  port: count,
  protocol: { type: 'string', default: 'TCP' },
  name: text,
  tags: listOf(text, 'set'),
});

/** The spec of a kind that has every shape the merge tells apart. */
export const widgetSpec: WidgetSchema = struct({
  size: count,
  title: text,
  on: flag,
  level: { type: 'integer', default: 3 },
  maybe: { type: 'string', nullable: true },
  target: { 'x-kubernetes-int-or-string': true },
  labels: { type: 'object', additionalProperties: text },
  limits: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
  nested: struct({
    a: text,
    b: count,
    deep: struct({ x: text, y: { type: 'string', default: 'why' } }),
  }),
  pair: { ...struct({ left: text, right: count }), 'x-kubernetes-map-type': 'atomic' },
  tags: listOf(text, 'set'),
  args: listOf(text),
  steps: listOf(struct({ name: text, run: text }), 'atomic'),
  containers: listMap(['name'], struct({ name: text, image: text, env, args: listOf(text) })),
  ports: listMap(['port', 'protocol'], port),
  groups: {
    type: 'object',
    additionalProperties: struct({ weight: count, members: listOf(text, 'set') }),
  },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
});

/** The status, which has an endpoint of its own. */
export const widgetStatus: WidgetSchema = struct({
  phase: text,
  ready: count,
  conditions: listMap(['type'], struct({ type: text, status: text, reason: text })),
});

/** The CRD of the kind. */
export function widgetCrd(group: string): JsonObject {
  const schema = struct({ spec: widgetSpec, status: widgetStatus });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: schema as unknown as JsonObject },
        },
      ],
    },
  };
}
