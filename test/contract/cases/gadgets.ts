import type { Json, JsonObject } from '#util/json.ts';

export const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export interface CrdOptions {
  readonly group?: string;
  readonly name?: string;
  readonly scope?: string;
  readonly names?: JsonObject;
  readonly versions?: Json;
  readonly schema?: Json;
  readonly more?: JsonObject;
  readonly annotations?: JsonObject;
}

/** A CRD of a group of the case's own, so that cases do not meet. */
export function crd(options: CrdOptions = {}): JsonObject {
  const { group = '$(ns).io', scope = 'Namespaced', more = {}, annotations } = options;
  const { name = `gadgets.${group}`, schema = { type: 'object' } } = options;
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      group,
      scope,
      names: { plural: 'gadgets', kind: 'Gadget', ...options.names },
      versions: options.versions ?? [version],
      ...more,
    },
  };
}

export const gadgets = '/apis/$(ns).io/v1/namespaces/$(ns)/gadgets';
export const whenServed = {
  status: 'a server writes it some time later',
  'metadata.managedFields': 'a server writes the status some time later',
  'metadata.resourceVersion': 'a server writes the status some time later',
};

export function gadget(spec: JsonObject): JsonObject {
  return { apiVersion: '$(ns).io/v1', kind: 'Gadget', metadata: { name: 'x' }, spec };
}

/** Objects with a size, and something else. */
export function sizes(more: JsonObject): JsonObject {
  const spec = { type: 'object', properties: { size: { type: 'integer' }, ...more } };
  return { type: 'object', properties: { spec } };
}
