import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, merge, post, remove, thing, things } from './requests.ts';

const save = { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } };

export const deletes: readonly ContractCase[] = [
  {
    name: 'a plain object is gone at once',
    ranked: [24],
    steps: [
      post(configMaps, configMap({}), { status: 201 }, save),
      remove(`${configMaps}/x`, undefined, {
        status: 200,
        body: {
          kind: 'Status',
          status: 'Success',
          details: { name: 'x', kind: 'configmaps', uid: '$(uid)' },
        },
      }),
      remove(`${configMaps}/x`, undefined, { status: 404 }),
      post(things, thing({}), { status: 201 }, save),
      remove(`${things}/x`, undefined, {
        status: 200,
        body: {
          status: 'Success',
          details: { name: 'x', group: 'contract.demo.io', kind: 'things', uid: '$(uid)' },
        },
      }),
      remove(`${things}/x`, undefined, { status: 404 }),
      get(`${things}/x`, { status: 404 }),
    ],
  },
  {
    name: 'finalizers hold an object, and no more may be added',
    ranked: [22, 23, 21, 24],
    steps: [
      post(things, thing({ size: 1 }, { finalizers: ['demo.io/a', 'demo.io/b'] }), { status: 201 }),
      remove(`${things}/x`, undefined, {
        status: 200,
        body: { kind: 'Thing', metadata: { deletionGracePeriodSeconds: 0, generation: 2 } },
      }),
      remove(`${things}/x`, undefined, { status: 200 }),
      merge(
        `${things}/x`,
        { metadata: { finalizers: ['demo.io/a', 'demo.io/b', 'demo.io/c'] } },
        { status: 422, message: /no new finalizers can be added/ },
      ),
      merge(
        `${things}/x`,
        { spec: { size: 2 } },
        { status: 200, body: { metadata: { generation: 3 } } },
      ),
      merge(`${things}/x`, { metadata: { finalizers: ['demo.io/a'] } }, { status: 200 }),
      merge(`${things}/x`, { metadata: { finalizers: null } }, { status: 200 }),
      get(`${things}/x`, { status: 404 }),
    ],
  },
  {
    name: 'finalizers hold a ConfigMap, too',
    ranked: [22],
    steps: [
      post(configMaps, configMap({}, { finalizers: ['demo.io/a'] }), { status: 201 }),
      remove(`${configMaps}/x`, undefined, { status: 200 }),
      post(configMaps, configMap({}), {
        status: 409,
        message: /^object is being deleted: configmaps "x" already exists$/,
      }),
      merge(`${configMaps}/x`, { metadata: { finalizers: null } }, { status: 200 }),
      get(`${configMaps}/x`, { status: 404 }),
    ],
  },
  {
    name: 'preconditions must hold',
    ranked: [25],
    steps: [
      post(configMaps, configMap({}), { status: 201 }, save),
      remove(
        `${configMaps}/x`,
        { preconditions: { uid: '11111111-1111-4111-8111-111111111111' } },
        { status: 409 },
      ),
      remove(`${configMaps}/x`, { preconditions: { resourceVersion: '1' } }, { status: 409 }),
      get(`${configMaps}/x`, { status: 200, body: { metadata: { deletionTimestamp: null } } }),
      remove(
        `${configMaps}/x`,
        { preconditions: { uid: '$(uid)', resourceVersion: '$(rv)' } },
        { status: 200 },
      ),
      post(things, thing({}), { status: 201 }, save),
      merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 }),
      remove(
        `${things}/x`,
        { preconditions: { uid: '$(uid)', resourceVersion: '$(rv)' } },
        { status: 409, body: { reason: 'Conflict' } },
      ),
      remove(`${things}/x`, { preconditions: { uid: '$(uid)' } }, { status: 200 }),
    ],
  },
  {
    name: 'a propagation policy leaves its finalizer',
    steps: [
      post(things, thing({}), { status: 201 }),
      remove(
        `${things}/x`,
        { propagationPolicy: 'Foreground' },
        { status: 200, body: { metadata: { finalizers: ['foregroundDeletion'] } } },
      ),
      remove(`${things}/x`, { propagationPolicy: 'Background' }, { status: 200 }),
      get(`${things}/x`, { status: 404 }),
      post(things, thing({}), { status: 201 }),
      remove(`${things}/x?propagationPolicy=Orphan`, undefined, {
        status: 200,
        body: { metadata: { finalizers: ['orphan'] } },
      }),
      post(configMaps, configMap({}), { status: 201 }),
      remove(
        `${configMaps}/x`,
        { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' },
        { status: 200 },
      ),
    ],
  },
  {
    name: 'options that do not go together are rejected',
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      remove(`${configMaps}/x`, { propagationPolicy: 'Sometimes' }, { status: 422 }),
      remove(
        `${configMaps}/x`,
        { propagationPolicy: 'Orphan', orphanDependents: true },
        { status: 422 },
      ),
      remove(`${configMaps}/x`, { dryRun: ['Some'] }, { status: 422 }),
      remove(`${configMaps}/x`, '{', {
        status: 400,
        differs: { message: 'wording of the JSON reader' },
      }),
    ],
  },
  {
    name: 'a dry run deletes nothing',
    ranked: [53],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      remove(`${configMaps}/x?dryRun=All`, undefined, { status: 200 }),
      remove(`${configMaps}/x`, { dryRun: ['All'] }, { status: 200 }),
      get(`${configMaps}/x`, { status: 200 }),
    ],
  },
  {
    name: 'a collection is deleted as far as it is selected',
    steps: [
      post(configMaps, configMap({}, { name: 'a', labels: { app: 'x' } }), { status: 201 }),
      post(configMaps, configMap({}, { name: 'b', labels: { app: 'y' } }), { status: 201 }),
      post(
        configMaps,
        configMap({}, { name: 'c', labels: { app: 'x' }, finalizers: ['demo.io/a'] }),
        { status: 201 },
      ),
      remove(`${configMaps}?labelSelector=app%3Dx`, undefined, {
        status: 200,
        body: { kind: 'ConfigMapList' },
      }),
      get(`${configMaps}/a`, { status: 404 }),
      get(`${configMaps}/b`, { status: 200 }),
      get(`${configMaps}/c`, { status: 200 }),
      post(things, thing({}, { name: 'a' }), { status: 201 }),
      remove(things, undefined, { status: 200, body: { kind: 'ThingList' } }),
      get(things, { status: 200, body: { items: [] } }),
    ],
  },
  {
    name: 'a status cannot be deleted',
    steps: [
      post(things, thing({}), { status: 201 }),
      remove(`${things}/x/status`, undefined, { status: 405 }),
    ],
  },
];
