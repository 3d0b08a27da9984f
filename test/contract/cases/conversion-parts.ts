import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { converted, gadget, old, oldOne, one } from './converted-gadgets.ts';
import { gadgets } from './gadgets.ts';
import { get, jsonPatch, merge, post, put, remove } from './requests.ts';

const scaleOf = (path: string): JsonObject => ({
  subresources: {
    status: {},
    scale: { specReplicasPath: path, statusReplicasPath: '.status.replicas' },
  },
});
const scale = (replicas: number): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'x', namespace: '$(ns)' },
  spec: { replicas },
});
const table = {
  headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' },
};
const columns = (jsonPath: string): JsonObject => ({
  additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath }],
});
const limited = (field: string, maximum: number): JsonObject => {
  const spec = {
    type: 'object',
    properties: { [field]: { type: 'integer', maximum }, color: { type: 'string' } },
  };
  return { schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
};

/** What belongs to a version of a kind, or to none of them, with a webhook that converts between them. */
export const conversionParts: readonly ContractCase[] = ['v1', 'v1alpha1'].flatMap(
  (stored): readonly ContractCase[] => [
    {
      name: `an object is scaled in each version by its own path, stored in ${stored}`,
      steps: [
        ...converted(stored, {
          more: { v1: scaleOf('.spec.replicas'), v1alpha1: scaleOf('.spec.size') },
        }),
        post(gadgets, gadget('v1', { replicas: 1 }), { status: 201 }),
        get(`${oldOne}/scale`, { status: 200, body: { spec: { replicas: 1 } } }),
        put(`${oldOne}/scale`, scale(2), { status: 200, body: { spec: { replicas: 2 } } }),
        get(one, { status: 200, body: { spec: { replicas: 2 } } }),
        merge(`${one}/scale`, { spec: { replicas: 3 } }, { status: 200 }),
        get(oldOne, { status: 200, body: { spec: { size: 3 } } }),
      ],
    },
    {
      name: `columns and selectors are those of a version, stored in ${stored}`,
      steps: [
        ...converted(stored, {
          more: {
            v1: {
              ...columns('.spec.replicas'),
              selectableFields: [{ jsonPath: '.spec.replicas' }],
            },
            v1alpha1: { ...columns('.spec.size'), selectableFields: [{ jsonPath: '.spec.size' }] },
          },
        }),
        post(gadgets, gadget('v1', { replicas: 1 }), { status: 201 }),
        post(old, gadget('v1alpha1', { size: 2 }, { name: 'y' }), { status: 201 }),
        ...[gadgets, old, `${one}`, `${oldOne}`].map((path) => get(path, { status: 200 }, table)),
        get(`${gadgets}?fieldSelector=spec.replicas%3D2`, {
          status: 200,
          body: { items: [{ metadata: { name: 'y' } }] },
        }),
        get(`${old}?fieldSelector=spec.size%3D1`, {
          status: 200,
          body: { items: [{ metadata: { name: 'x' } }] },
        }),
        get(`${old}?fieldSelector=spec.replicas%3D1`, { status: 400 }),
      ],
    },
    {
      name: `values are validated by the version of the request alone, stored in ${stored}`,
      steps: [
        ...converted(stored, {
          more: { v1: limited('replicas', 10), v1alpha1: limited('size', 100) },
        }),
        post(old, gadget('v1alpha1', { size: 50 }), { status: 201 }),
        get(one, { status: 200, body: { spec: { replicas: 50 } } }),
        merge(one, { metadata: { labels: { a: 'b' } } }, { status: 200 }),
        merge(one, { spec: { color: 'red' } }, { status: 200 }),
        merge(one, { spec: { replicas: 40 } }, { status: 422 }),
        merge(oldOne, { spec: { size: 40 } }, { status: 200 }),
        merge(oldOne, { spec: { size: 400 } }, { status: 422 }),
        merge(one, { spec: { replicas: 4 } }, { status: 200 }),
      ],
    },
    {
      name: `a deletion waits for a finalizer that is removed in another version, stored in ${stored}`,
      steps: [
        ...converted(stored),
        post(old, gadget('v1alpha1', { size: 1 }, { finalizers: ['example.com/a'] }), {
          status: 201,
        }),
        remove(one, undefined, { status: 200, body: { spec: { replicas: 1 } } }),
        get(oldOne, { status: 200, body: { metadata: { finalizers: ['example.com/a'] } } }),
        merge(oldOne, { spec: { size: 2 } }, { status: 200 }),
        jsonPatch(oldOne, [{ op: 'remove', path: '/metadata/finalizers' }], { status: 200 }),
        get(one, { status: 404 }),
        post(gadgets, gadget('v1', { replicas: 1 }, { labels: { a: 'b' } }), { status: 201 }),
        post(gadgets, gadget('v1', { replicas: 1 }, { name: 'y' }), { status: 201 }),
        remove(`${old}?labelSelector=a%3Db`, undefined, { status: 200 }),
        get(gadgets, { status: 200, body: { items: [{ metadata: { name: 'y' } }] } }),
      ],
    },
    {
      name: `labels, annotations and owners belong to no version, stored in ${stored}`,
      steps: [
        ...converted(stored),
        post(
          old,
          gadget(
            'v1alpha1',
            { size: 1, extra: 'e' },
            { labels: { a: 'b' }, annotations: { c: 'd' } },
          ),
          { status: 201 },
        ),
        merge(
          one,
          { metadata: { labels: { a: null, e: 'f' }, annotations: { c: 'g' } } },
          { status: 200 },
        ),
        get(oldOne, {
          status: 200,
          body: { metadata: { labels: { e: 'f' }, annotations: { c: 'g' } }, spec: { extra: 'e' } },
        }),
        // What is preserved is in annotations: without them, it is gone.
        merge(one, { metadata: { annotations: null } }, { status: 200 }),
        get(oldOne, { status: 200, body: { spec: { size: 1 } } }),
        get(`${old}?limit=1`, { status: 200, body: { items: [{ spec: { size: 1 } }] } }),
      ],
    },
  ],
);
