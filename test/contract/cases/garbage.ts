import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, merge, post, remove } from './requests.ts';

const uid = { save: { uid: 'metadata.uid' } };
const absent = '11111111-1111-4111-8111-111111111111';

function ownedBy(name: string, owner: string, more: JsonObject = {}): JsonObject {
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner, ...more };
  return { name, ownerReferences: [reference] };
}

const owner = post(configMaps, configMap({}, { name: 'owner' }), { status: 201 }, uid);
const background = { propagationPolicy: 'Background' };
const managers = {
  'metadata.managedFields': "which of its managers writes is the server's business",
};

/** What controllers make of deletions. */
export const garbage: readonly ContractCase[] = [
  {
    name: 'dependents go with their owner',
    ranked: [26],
    steps: [
      owner,
      post(configMaps, configMap({}, ownedBy('child', '$(uid)')), { status: 201 }),
      remove(`${configMaps}/owner`, background, { status: 200 }),
      { until: `${configMaps}/child`, expect: { status: 404 } },
    ],
  },
  {
    name: 'orphans stay without the reference',
    ranked: [28],
    steps: [
      owner,
      post(configMaps, configMap({ a: '1' }, ownedBy('child', '$(uid)')), { status: 201 }),
      remove(`${configMaps}/owner`, { propagationPolicy: 'Orphan' }, { status: 200 }),
      { until: `${configMaps}/owner`, expect: { status: 404 } },
      get(`${configMaps}/child`, {
        status: 200,
        body: { metadata: { ownerReferences: null }, data: { a: '1' } },
        differs: managers,
      }),
    ],
  },
  {
    name: 'in the foreground an owner waits for what blocks it',
    ranked: [27],
    steps: [
      owner,
      post(
        configMaps,
        configMap(
          {},
          {
            ...ownedBy('child', '$(uid)', { blockOwnerDeletion: true }),
            finalizers: ['demo.io/hold'],
          },
        ),
        { status: 201 },
      ),
      remove(`${configMaps}/owner`, { propagationPolicy: 'Foreground' }, { status: 200 }),
      {
        until: `${configMaps}/child`,
        expect: { status: 200, body: { metadata: { deletionGracePeriodSeconds: 0 } } },
      },
      get(`${configMaps}/owner`, {
        status: 200,
        body: { metadata: { finalizers: ['foregroundDeletion'] } },
      }),
      merge(`${configMaps}/child`, { metadata: { finalizers: null } }, { status: 200 }),
      { until: `${configMaps}/owner`, expect: { status: 404 } },
      get(`${configMaps}/child`, { status: 404 }),
    ],
  },
  {
    name: 'an owner that was never there takes the object with it',
    ranked: [29],
    steps: [
      post(configMaps, configMap({}, ownedBy('child', absent)), { status: 201 }),
      { until: `${configMaps}/child`, expect: { status: 404 } },
    ],
  },
  {
    name: 'of two owners the one that is there keeps the object',
    ranked: [29],
    steps: [
      owner,
      post(
        configMaps,
        configMap(
          {},
          {
            name: 'child',
            ownerReferences: [
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '$(uid)' },
              { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: absent },
            ],
          },
        ),
        { status: 201 },
      ),
      {
        until: `${configMaps}/child`,
        expect: {
          status: 200,
          body: { metadata: { ownerReferences: [{ name: 'owner' }] } },
          differs: managers,
        },
      },
    ],
  },
  {
    name: 'a namespace is deleted with its content, and accepts nothing new meanwhile',
    ranked: [30],
    steps: [
      post(configMaps, configMap({}, { finalizers: ['demo.io/hold'] }), { status: 201 }),
      post(configMaps, configMap({}, { name: 'free' }), { status: 201 }),
      remove('/api/v1/namespaces/$(ns)', undefined, {
        status: 200,
        body: { status: { phase: 'Terminating' } },
      }),
      { until: `${configMaps}/free`, expect: { status: 404 } },
      post(configMaps, configMap({}, { name: 'late' }), {
        status: 403,
        message: /being terminated/,
      }),
      merge(`${configMaps}/x`, { metadata: { finalizers: null } }, { status: 200 }),
      { until: '/api/v1/namespaces/$(ns)', expect: { status: 404 } },
    ],
  },
];
