import type { Json, JsonObject } from '#util/json.ts';
import type { ContractCase, EventsStep, UntilStep } from '../driver/index.ts';
import { get, merge, post, remove } from './requests.ts';
import {
  become,
  changed,
  deployments,
  imageOf,
  pods,
  podTemplate,
  replicaSets,
  untilStatus,
  workload,
} from './workload-bodies.ts';

const x = `${deployments}/x`;

/** Until the Deployment tells this status. */
function until(status: JsonObject): UntilStep {
  return untilStatus(x, status);
}

/** The same in the middle of a rollout, where only a write in between tells that it has come on. */
function midway(status: JsonObject): UntilStep {
  return untilStatus(x, status, ['status.conditions']);
}

const available = { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable' };
const unavailable = { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable' };
const updated = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated' };
const complete = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable' };

/** A ReplicaSet of one pod, with labels of its own. */
const other: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'other' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'other' } },
    template: { ...podTemplate('web:1'), metadata: { labels: { app: 'other' } } },
  },
};

/** All of so many run the newest template. */
function untilComplete(replicas: number, observedGeneration: number): UntilStep {
  return until({
    observedGeneration,
    replicas,
    updatedReplicas: replicas,
    availableReplicas: replicas,
    unavailableReplicas: null,
    conditions: [available, complete],
  });
}

/** In how many steps a ReplicaSet comes to its size. */
const hurried = ['items.*.metadata.generation', 'items.*.status.observedGeneration'];

/** ReplicaSets by revision: what they are to have, have, and have ready. */
function sets(...items: readonly (readonly [revision: number, ...counts: number[]])[]): UntilStep {
  return {
    until: `${replicaSets}?labelSelector=app%3Dx`,
    expect: {
      status: 200,
      inOrderOf: ['metadata', 'annotations', 'deployment.kubernetes.io/revision'],
      byChance: hurried,
      body: {
        items: items.map(([revision, replicas = 0, present = replicas, ready = present]) => ({
          metadata: { annotations: { 'deployment.kubernetes.io/revision': String(revision) } },
          spec: { replicas },
          status: { replicas: present, readyReplicas: ready === 0 ? null : ready },
        })),
      } as Json,
    },
  };
}

function reported(...expect: readonly string[]): EventsStep {
  const all = expect.map((text) => `Normal ScalingReplicaSet Scaled ${text}`);
  return { events: { kind: 'Deployment', name: 'x' }, expect: all };
}

const create = (spec: JsonObject = {}) =>
  post(deployments, workload('Deployment', spec), { status: 201 });
const change = (spec: JsonObject) => merge(x, { spec }, changed);
const roll = (image: string) => merge(x, imageOf(image), changed);
const rolling = (maxSurge: number | string, maxUnavailable: number | string): JsonObject => ({
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } },
});

/** Deployments as controllers bring them on, where each step waits for the kubelet. */
export const rollouts: readonly ContractCase[] = [
  {
    name: 'a Deployment has a ReplicaSet, which has pods, and is available with them',
    ranked: [59],
    steps: [
      create({ replicas: 2 }),
      until({
        observedGeneration: 1,
        replicas: 2,
        updatedReplicas: 2,
        unavailableReplicas: 2,
        readyReplicas: null,
        conditions: [unavailable, updated],
      }),
      sets([1, 2, 2, 0]),
      become(2, 'running'),
      untilComplete(2, 1),
      sets([1, 2]),
      get(`${pods}?labelSelector=app%3Dx`, { status: 200 }),
      reported('up replica set x-hash-1 from 0 to 2'),
    ],
  },
  {
    name: 'a new template comes pod by pod, as the strategy allows',
    ranked: [59],
    steps: [
      create({ replicas: 2 }),
      become(2, 'running'),
      untilComplete(2, 1),
      sets([1, 2]),
      roll('web:2'),
      midway({
        observedGeneration: 2,
        replicas: 3,
        updatedReplicas: 1,
        availableReplicas: 2,
        unavailableReplicas: 1,
      }),
      sets([1, 2], [2, 1, 1, 0]),
      become(1, 'running'),
      midway({ replicas: 3, updatedReplicas: 2, availableReplicas: 2, unavailableReplicas: 1 }),
      sets([1, 1], [2, 2, 2, 1]),
      become(1, 'running'),
      untilComplete(2, 2),
      sets([1, 0], [2, 2]),
      reported(
        'up replica set x-hash-1 from 0 to 2',
        'up replica set x-hash-2 from 0 to 1',
        'down replica set x-hash-1 from 2 to 1',
        'up replica set x-hash-2 from 1 to 2',
        'down replica set x-hash-1 from 1 to 0',
      ),
    ],
  },
  {
    name: 'an earlier template is the newest revision when it comes back',
    ranked: [59],
    steps: [
      create(),
      become(1, 'running'),
      untilComplete(1, 1),
      sets([1, 1]),
      roll('web:2'),
      become(1, 'running'),
      untilComplete(1, 2),
      sets([1, 0], [2, 1]),
      roll('web:1'),
      become(1, 'running'),
      untilComplete(1, 3),
      sets([2, 0], [3, 1]),
      roll('web:2'),
      become(1, 'running'),
      untilComplete(1, 4),
      sets([3, 0], [4, 1]),
    ],
  },
  {
    name: 'without surge the old go first',
    ranked: [59],
    steps: [
      create({ replicas: 3, ...rolling(0, 1) }),
      become(3, 'running'),
      untilComplete(3, 1),
      sets([1, 3]),
      roll('web:2'),
      midway({ replicas: 3, updatedReplicas: 1, unavailableReplicas: 1, observedGeneration: 2 }),
      sets([1, 2], [2, 1, 1, 0]),
      become(1, 'running'),
      sets([1, 1], [2, 2, 2, 1]),
      become(1, 'running'),
      sets([1, 0], [2, 3, 3, 2]),
      become(1, 'running'),
      untilComplete(3, 2),
    ],
  },
  {
    name: 'shares of replicas are rounded up for the surge, down for what may be missing',
    ranked: [59],
    steps: [
      create({ replicas: 4, ...rolling('30%', '30%') }),
      become(4, 'running'),
      untilComplete(4, 1),
      sets([1, 4]),
      roll('web:2'),
      sets([1, 3], [2, 3, 3, 0]),
      midway({ replicas: 6, updatedReplicas: 3, availableReplicas: 3 }),
      become(3, 'running'),
      sets([1, 0], [2, 4, 4, 3]),
      become(1, 'running'),
      untilComplete(4, 2),
    ],
  },
  {
    name: 'Recreate waits until nothing of the old is left',
    ranked: [59],
    steps: [
      create({ replicas: 2, strategy: { type: 'Recreate' } }),
      become(2, 'running'),
      untilComplete(2, 1),
      sets([1, 2]),
      roll('web:2'),
      sets([1, 0], [2, 2, 2, 0]),
      until({
        observedGeneration: 2,
        replicas: 2,
        updatedReplicas: 2,
        unavailableReplicas: 2,
        conditions: [unavailable, updated],
      }),
      become(2, 'running'),
      untilComplete(2, 2),
      reported(
        'up replica set x-hash-1 from 0 to 2',
        'down replica set x-hash-1 from 2 to 0',
        'up replica set x-hash-2 from 0 to 2',
      ),
    ],
  },
  {
    name: 'a Deployment is scaled up, down and to nothing',
    ranked: [59],
    steps: [
      create(),
      become(1, 'running'),
      untilComplete(1, 1),
      sets([1, 1]),
      merge(`${x}/scale`, { spec: { replicas: 3 } }, changed),
      until({
        observedGeneration: 2,
        replicas: 3,
        availableReplicas: 1,
        unavailableReplicas: 2,
        conditions: [complete, unavailable],
      }),
      become(2, 'running'),
      until({
        replicas: 3,
        availableReplicas: 3,
        unavailableReplicas: null,
        conditions: [complete, available],
      }),
      get(`${x}/scale`, { status: 200, body: { status: { replicas: 3, selector: 'app=x' } } }),
      change({ replicas: 1 }),
      until({ observedGeneration: 3, replicas: 1, availableReplicas: 1 }),
      change({ replicas: 0 }),
      until({ observedGeneration: 4, replicas: null, availableReplicas: null }),
      sets([1, 0]),
      reported(
        'up replica set x-hash-1 from 0 to 1',
        'up replica set x-hash-1 from 1 to 3',
        'down replica set x-hash-1 from 3 to 1',
        'down replica set x-hash-1 from 1 to 0',
      ),
    ],
  },
  {
    name: 'replicas that are added in the middle of a rollout are shared out',
    ranked: [59],
    steps: [
      create({ replicas: 4, ...rolling(2, 0) }),
      become(4, 'running'),
      untilComplete(4, 1),
      sets([1, 4]),
      roll('web:2'),
      sets([1, 4], [2, 2, 2, 0]),
      change({ replicas: 8 }),
      sets([1, 7, 7, 4], [2, 3, 3, 0]),
    ],
  },
  {
    name: 'a paused Deployment is scaled, but not rolled out',
    ranked: [59],
    steps: [
      create({ paused: true, replicas: 1 }),
      until({
        observedGeneration: 1,
        conditions: [
          { type: 'Progressing', status: 'Unknown', reason: 'DeploymentPaused' },
          unavailable,
        ],
      }),
      { until: replicaSets, expect: { status: 200, body: { items: [] } } },
      change({ paused: null }),
      become(1, 'running'),
      until({ availableReplicas: 1, conditions: [available, complete] }),
      sets([1, 1]),
      change({ paused: true }),
      roll('web:2'),
      change({ replicas: 2 }),
      sets([1, 2, 2, 1]),
      until({
        observedGeneration: 5,
        replicas: 2,
        updatedReplicas: null,
        conditions: [{ type: 'Progressing', reason: 'DeploymentPaused' }, unavailable],
      }),
      become(1, 'running'),
      sets([1, 2]),
      change({ paused: false }),
      sets([1, 2], [2, 1, 1, 0]),
      become(1, 'running'),
      sets([1, 1], [2, 2, 2, 1]),
      become(1, 'running'),
      untilComplete(2, 6),
    ],
  },
  {
    name: 'a rollout that does not come on in time is reported, and comes on still',
    ranked: [59],
    steps: [
      create({ progressDeadlineSeconds: 1 }),
      until({
        conditions: [
          unavailable,
          { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
        ],
      }),
      become(1, 'running'),
      untilComplete(1, 1),
    ],
  },
  {
    name: 'pods count as available when they have been ready for long enough',
    ranked: [59],
    steps: [
      create({ minReadySeconds: 3 }),
      become(1, 'running'),
      until({ readyReplicas: 1, availableReplicas: null, conditions: [unavailable, updated] }),
      untilComplete(1, 1),
    ],
  },
  {
    name: 'no more old ReplicaSets are kept than are wanted',
    ranked: [59],
    steps: [
      create({ revisionHistoryLimit: 0 }),
      become(1, 'running'),
      untilComplete(1, 1),
      sets([1, 1]),
      roll('web:2'),
      become(1, 'running'),
      untilComplete(1, 2),
      sets([2, 1]),
    ],
  },
  {
    name: 'a pod that is deleted, or fails, is replaced',
    ranked: [59],
    steps: [
      create(),
      become(1, 'running'),
      untilComplete(1, 1),
      remove(`${pods}?labelSelector=app%3Dx`, undefined, {
        status: 200,
        byChance: [''],
      }),
      until({ availableReplicas: null, conditions: [complete, unavailable] }),
      become(1, 'running'),
      until({ availableReplicas: 1, conditions: [complete, available] }),
      become(1, 'failed'),
      until({ availableReplicas: null, conditions: [complete, unavailable] }),
      become(1, 'running'),
      until({ availableReplicas: 1, conditions: [complete, available] }),
    ],
  },
  {
    name: 'a ReplicaSet adopts pods that it selects, and reports what it makes',
    ranked: [59],
    steps: [
      post(replicaSets, other, { status: 201 }),
      post(
        pods,
        {
          apiVersion: 'v1',
          kind: 'Pod',
          ...podTemplate('web:1'),
          metadata: { name: 'x-own', labels: { app: 'x' } },
        },
        { status: 201 },
      ),
      // Its controller sees all pods in one order: it has seen `x-own` when it has
      // seen what came later. A ReplicaSet made sooner may have a pod too many, and removes any one.
      become(1, 'running', 'app=other'),
      {
        until: `${replicaSets}/other`,
        expect: { status: 200, body: { status: { readyReplicas: 1 } } },
      },
      post(replicaSets, workload('ReplicaSet', { replicas: 2 }), { status: 201 }),
      become(2, 'running'),
      {
        until: `${replicaSets}/x`,
        expect: { status: 200, body: { status: { replicas: 2, availableReplicas: 2 } } },
      },
      get(`${pods}/x-own`, {
        status: 200,
        body: { metadata: { ownerReferences: [{ kind: 'ReplicaSet', name: 'x' }] } },
      }),
      {
        events: { kind: 'ReplicaSet', name: 'x' },
        expect: ['Normal SuccessfulCreate Created pod: x-pod'],
      },
    ],
  },
];
