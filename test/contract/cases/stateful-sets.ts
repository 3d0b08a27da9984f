import type { JsonObject } from '#util/json.ts';
import type { ContractCase, EventsStep, UntilStep } from '../driver/index.ts';
import { get, merge, post, remove } from './requests.ts';
import {
  become,
  changed,
  imageOf,
  pods,
  revisions,
  statefulSets,
  untilStatus,
  workload,
} from './workload-bodies.ts';

const x = `${statefulSets}/x`;
const allPods = `${pods}?labelSelector=app%3Dx`;

function until(status: JsonObject): UntilStep {
  return untilStatus(x, status);
}

/** Nothing is to come. */
function settled(replicas: number, observedGeneration: number): UntilStep {
  return until({
    observedGeneration,
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    currentReplicas: replicas,
    updatedReplicas: replicas,
  });
}

/** The image that each pod has, by ordinal. */
function images(...expected: readonly string[]): UntilStep {
  const items = expected.map((image, ordinal) => ({
    metadata: { name: `x-${ordinal}` },
    spec: { containers: [{ image }] },
  }));
  return { until: allPods, expect: { status: 200, body: { items } } };
}

const answer = { '': 'the sandbox tells that it is done, a real server what was deleted' };

function reported(...expect: readonly string[]): EventsStep {
  return { events: { kind: 'StatefulSet', name: 'x' }, expect };
}

const made = (name: string) =>
  `Normal SuccessfulCreate Create Pod ${name} in StatefulSet x successful`;
const gone = (name: string) =>
  `Normal SuccessfulDelete Delete Pod ${name} in StatefulSet x successful`;
const create = (spec: JsonObject = {}) =>
  post(statefulSets, workload('StatefulSet', { serviceName: 'x', ...spec }), { status: 201 });
const roll = (image: string) => merge(x, imageOf(image), changed);
const hold = (name: string, finalizers: readonly string[] | null) =>
  merge(`${pods}/${name}`, { metadata: { finalizers } }, { status: 200 });

const longName = `${'n'.repeat(52)}-x`;

/** StatefulSets as controllers bring them on. */
export const statefulSetCases: readonly ContractCase[] = [
  {
    name: 'with a name of more than 52 characters no pod can have the label of its revision',
    steps: [
      post(
        statefulSets,
        { ...workload('StatefulSet', { serviceName: 'x' }), metadata: { name: longName } },
        { status: 201 },
      ),
      untilStatus(`${statefulSets}/${longName}`, {
        observedGeneration: 1,
        replicas: 0,
        readyReplicas: null,
        currentReplicas: null,
      }),
      get(allPods, { status: 200, body: { items: [] } }),
    ],
  },
  {
    name: 'pods come one after the other, each when the one before is ready',
    ranked: [59],
    steps: [
      create({ replicas: 3 }),
      until({ observedGeneration: 1, replicas: 1, readyReplicas: null, updatedReplicas: 1 }),
      get(`${pods}/x-1`, { status: 404 }),
      become(1, 'running'),
      until({ replicas: 2, readyReplicas: 1 }),
      get(`${pods}/x-2`, { status: 404 }),
      become(1, 'running'),
      become(1, 'running'),
      settled(3, 1),
      get(allPods, { status: 200 }),
      get(revisions, { status: 200, inOrderOf: ['revision'] }),
      reported(made('x-0'), made('x-1'), made('x-2')),
    ],
  },
  {
    name: 'the last is deleted first, and each when the previous one is deleted',
    ranked: [59],
    steps: [
      create({ replicas: 3 }),
      become(1, 'running'),
      become(1, 'running'),
      become(1, 'running'),
      settled(3, 1),
      hold('x-2', ['demo.io/hold']),
      merge(`${x}/scale`, { spec: { replicas: 1 } }, changed),
      {
        until: `${pods}/x-2`,
        expect: { status: 200, body: { metadata: { deletionGracePeriodSeconds: 0 } } },
      },
      get(`${pods}/x-1`, { status: 200, body: { metadata: { deletionTimestamp: null } } }),
      hold('x-2', null),
      { until: `${pods}/x-1`, expect: { status: 404 } },
      settled(1, 2),
      get(`${pods}/x-0`, { status: 200 }),
      reported(made('x-0'), made('x-1'), made('x-2'), gone('x-2'), gone('x-1')),
    ],
  },
  {
    name: 'a new template comes to the last pod first, and to the next when it is ready',
    ranked: [59],
    steps: [
      create({ replicas: 2 }),
      become(1, 'running'),
      become(1, 'running'),
      settled(2, 1),
      roll('web:2'),
      images('web:1', 'web:2'),
      until({ observedGeneration: 2, readyReplicas: 1, currentReplicas: 1, updatedReplicas: 1 }),
      become(1, 'running'),
      images('web:2', 'web:2'),
      until({ readyReplicas: 1, currentReplicas: null, updatedReplicas: 2 }),
      become(1, 'running'),
      settled(2, 2),
      get(revisions, { status: 200, inOrderOf: ['revision'] }),
      reported(...['x-0', 'x-1', 'x-1', 'x-0'].map(made), ...['x-1', 'x-0'].map(gone)),
    ],
  },
  {
    name: 'pods below the partition keep their template',
    ranked: [59],
    steps: [
      create({
        replicas: 3,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } },
      }),
      become(1, 'running'),
      become(1, 'running'),
      become(1, 'running'),
      settled(3, 1),
      roll('web:2'),
      images('web:1', 'web:1', 'web:2'),
      become(1, 'running'),
      until({ readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1 }),
      // One that is made anew keeps the template of its ordinal.
      remove(`${pods}/x-0`, undefined, { status: 200, differs: answer }),
      become(1, 'running'),
      until({ readyReplicas: 3, currentReplicas: 2, updatedReplicas: 1 }),
      images('web:1', 'web:1', 'web:2'),
      merge(x, { spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } }, changed),
      become(1, 'running'),
      become(1, 'running'),
      settled(3, 3),
      images('web:2', 'web:2', 'web:2'),
    ],
  },
  {
    name: 'with OnDelete a pod has the new template when a user has deleted it',
    ranked: [59],
    steps: [
      create({ replicas: 2, updateStrategy: { type: 'OnDelete' } }),
      become(1, 'running'),
      become(1, 'running'),
      until({ observedGeneration: 1, readyReplicas: 2 }),
      roll('web:2'),
      until({ observedGeneration: 2, readyReplicas: 2, updatedReplicas: null }),
      images('web:1', 'web:1'),
      remove(`${pods}/x-0`, undefined, { status: 200, differs: answer }),
      become(1, 'running'),
      until({ readyReplicas: 2, updatedReplicas: 1 }),
      images('web:2', 'web:1'),
    ],
  },
  {
    name: 'in parallel all pods come and go at once',
    ranked: [59],
    steps: [
      create({ replicas: 3, podManagementPolicy: 'Parallel' }),
      become(3, 'running'),
      settled(3, 1),
      merge(x, { spec: { replicas: 0 } }, changed),
      until({ observedGeneration: 2, replicas: 0, readyReplicas: null }),
      { until: allPods, expect: { status: 200, body: { items: [] } } },
    ],
  },
  {
    name: 'a pod that has failed is created again',
    ranked: [59],
    steps: [
      create(),
      become(1, 'running'),
      settled(1, 1),
      become(1, 'failed'),
      become(1, 'running'),
      settled(1, 1),
    ],
  },
  {
    name: 'pods have claims of their own, and numbers from where one likes',
    ranked: [59],
    steps: [
      create({
        replicas: 1,
        ordinals: { start: 5 },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      }),
      become(1, 'running'),
      settled(1, 1),
      get(`${pods}/x-5`, { status: 200 }),
      get('/api/v1/namespaces/$(ns)/persistentvolumeclaims/data-x-5', { status: 200 }),
    ],
  },
];
