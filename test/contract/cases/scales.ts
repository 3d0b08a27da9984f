import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { crds, gadgets } from './gadgets.ts';
import { apply, configMap, configMaps, get, jsonPatch, merge, post, put } from './requests.ts';

const deployments = '/apis/apps/v1/namespaces/$(ns)/deployments';
const save = { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } };

const deployment: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'x' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image: 'web:1' }] },
    },
  },
};

const { replicas: _, ...unscaledSpec } = deployment.spec as JsonObject;
const unscaled: JsonObject = { ...deployment, spec: unscaledSpec };
const replicasOf = (replicas: number): JsonObject => ({ ...deployment, spec: { replicas } });

const scale = (replicas: number, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'x', namespace: '$(ns)', ...metadata },
  spec: { replicas },
});

const whole = { type: 'integer' };
const scaledCrd: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.$(ns).io' },
  spec: {
    group: '$(ns).io',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: {
            specReplicasPath: '.spec.count',
            statusReplicasPath: '.status.count',
            labelSelectorPath: '.status.selector',
          },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { count: { ...whole, maximum: 9 }, other: whole },
              },
              status: {
                type: 'object',
                properties: { count: whole, selector: { type: 'string' } },
              },
            },
          },
        },
      },
    ],
  },
};

/** Steps at the scale of an object with two replicas, which has just been made and saved. */
function steps(path: string, replicas: string): ContractCase['steps'] {
  const [, field = ''] = replicas.split('.');
  return [
    get(`${path}/scale`, {
      status: 200,
      body: {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name: 'x', uid: '$(uid)', resourceVersion: '$(rv)' },
        spec: { replicas: 2 },
      },
    }),
    put(
      `${path}/scale`,
      scale(3, { resourceVersion: '$(rv)' }),
      { status: 200, body: { spec: { replicas: 3 } } },
      save,
    ),
    get(path, {
      status: 200,
      body: { spec: { [field]: 3 }, metadata: { generation: 2, resourceVersion: '$(rv)' } },
    }),
    put(`${path}/scale`, scale(5, { resourceVersion: '1' }), { status: 409 }),
    put(`${path}/scale`, scale(4), { status: 200, body: { spec: { replicas: 4 } } }),
    put(`${path}/scale`, scale(4, { name: 'y' }), { status: 400 }),
    merge(`${path}/scale`, { spec: { replicas: 5 } }, { status: 200 }),
    jsonPatch(`${path}/scale`, [{ op: 'replace', path: '/spec/replicas', value: 6 }], {
      status: 200,
      body: { spec: { replicas: 6 } },
    }),
    merge(`${path}/scale`, { spec: { replicas: -1 } }, { status: 422 }),
    merge(`${path}/scale?dryRun=All`, { spec: { replicas: 7 } }, { status: 200 }),
    get(path, { status: 200, body: { spec: { [field]: 6 } } }),
  ];
}

/** How many there are to be, by a resource of its own. */
export const scales: readonly ContractCase[] = [
  {
    name: 'the scale of a Deployment is read, put and patched',
    ranked: [52],
    steps: [
      post(deployments, deployment, { status: 201 }, save),
      ...steps(`${deployments}/x`, 'spec.replicas'),
    ],
  },
  {
    name: 'the scale of a custom resource is where its CRD says',
    ranked: [52],
    steps: [
      post(crds, scaledCrd, { status: 201 }),
      { until: gadgets, expect: { status: 200 } },
      post(
        gadgets,
        { apiVersion: '$(ns).io/v1', kind: 'Gadget', metadata: { name: 'x' }, spec: { count: 2 } },
        { status: 201 },
        save,
      ),
      ...steps(`${gadgets}/x`, 'spec.count'),
      merge(`${gadgets}/x/scale`, { spec: { replicas: 10 } }, { status: 422 }),
      merge(`${gadgets}/x/status`, { status: { count: 1, selector: 'app=x' } }, { status: 200 }),
      get(`${gadgets}/x/scale`, {
        status: 200,
        body: { status: { replicas: 1, selector: 'app=x' } },
      }),
    ],
  },
  {
    name: 'the scale owns replicas only if a manager owned them before',
    ranked: [52],
    steps: [
      apply({ to: `${deployments}/x`, by: 'a', body: unscaled, expect: { status: 201 } }),
      merge(`${deployments}/x/scale`, { spec: { replicas: 5 } }, { status: 200 }),
      put(`${deployments}/x/scale`, scale(6), { status: 200, body: { spec: { replicas: 6 } } }),
      apply({ to: `${deployments}/x`, by: 'b', body: replicasOf(2), expect: { status: 200 } }),
      merge(`${deployments}/x/scale`, { spec: { replicas: 7 } }, { status: 200 }),
      apply({ to: `${deployments}/x`, by: 'b', body: replicasOf(2), expect: { status: 409 } }),
    ],
  },
  {
    name: 'what has no scale cannot be scaled',
    ranked: [52],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      get(`${configMaps}/x/scale`, { status: 404 }),
      get(`${deployments}/none/scale`, { status: 404 }),
      merge(`${deployments}/none/scale`, { spec: { replicas: 1 } }, { status: 404 }),
    ],
  },
];
