import type { JsonObject } from '#util/json.ts';
import type { ContractCase, EventsStep, UntilStep } from '../driver/index.ts';
import { get, jsonPatch, merge, post, remove } from './requests.ts';
import {
  become,
  changed,
  daemonSets,
  imageOf,
  pods,
  podTemplate,
  untilStatus,
  workload,
} from './workload-bodies.ts';

const x = `${daemonSets}/x`;
const allPods = `${pods}?labelSelector=app%3Dx`;

function until(status: JsonObject): UntilStep {
  return untilStatus(x, status);
}

function settled(count: number, observedGeneration: number): UntilStep {
  return until({
    observedGeneration,
    currentNumberScheduled: count,
    desiredNumberScheduled: count,
    numberReady: count,
    numberAvailable: count === 0 ? null : count,
    updatedNumberScheduled: count === 0 ? null : count,
    numberUnavailable: null,
  });
}

function reported(...expect: readonly string[]): EventsStep {
  return { events: { kind: 'DaemonSet', name: 'x' }, expect };
}

const made = 'Normal SuccessfulCreate Created pod: x-pod';
const gone = 'Normal SuccessfulDelete Deleted pod: x-pod';

/** A node of the case's own, without the taint that admission gives to new ones. */
function node(name: string): ContractCase['steps'] {
  const path = `/api/v1/nodes/${name}-$(ns)`;
  const body = { metadata: { name: `${name}-$(ns)`, labels: { of: '$(ns)' } } };
  return [
    post('/api/v1/nodes', body, { status: 201, byChance: [''] }),
    jsonPatch(path, [{ op: 'add', path: '/spec/taints', value: [] }], {
      status: 200,
      byChance: [''],
    }),
  ];
}

const removeNode = (name: string) =>
  remove(`/api/v1/nodes/${name}-$(ns)`, undefined, { status: 200, byChance: [''] });
const template = podTemplate('web:1', { nodeSelector: { of: '$(ns)' } });
const create = (spec: JsonObject = {}) =>
  post(daemonSets, workload('DaemonSet', { template, ...spec }), { status: 201 });
const roll = (image: string) => merge(x, imageOf(image), changed);

/** DaemonSets as controllers bring them on. */
export const daemonSetCases: readonly ContractCase[] = [
  {
    name: 'every node that is selected has a pod, also one that comes later',
    ranked: [59],
    steps: [
      create(),
      settled(0, 1),
      ...node('a'),
      until({ desiredNumberScheduled: 1, currentNumberScheduled: 1, numberUnavailable: 1 }),
      become(1, 'running'),
      settled(1, 1),
      get(allPods, { status: 200 }),
      ...node('b'),
      become(1, 'running'),
      settled(2, 1),
      reported(made, made),
      removeNode('a'),
      removeNode('b'),
    ],
  },
  {
    name: 'a new template replaces pods node by node',
    ranked: [59],
    steps: [
      ...node('a'),
      ...node('b'),
      create(),
      become(2, 'running'),
      settled(2, 1),
      roll('web:2'),
      until({ observedGeneration: 2, updatedNumberScheduled: 1, numberUnavailable: 1 }),
      become(1, 'running'),
      until({ updatedNumberScheduled: 2, numberUnavailable: 1 }),
      become(1, 'running'),
      settled(2, 2),
      reported(made, made, gone, made, gone, made),
      removeNode('a'),
      removeNode('b'),
    ],
  },
  {
    name: 'with OnDelete pods of a DaemonSet stay until a user deletes them',
    ranked: [59],
    steps: [
      ...node('a'),
      create({ updateStrategy: { type: 'OnDelete' } }),
      become(1, 'running'),
      settled(1, 1),
      roll('web:2'),
      until({ observedGeneration: 2, updatedNumberScheduled: null, numberReady: 1 }),
      remove(allPods, undefined, { status: 200, byChance: [''] }),
      become(1, 'running'),
      settled(1, 2),
      removeNode('a'),
    ],
  },
  {
    name: 'a pod of a DaemonSet that has failed is created again',
    ranked: [59],
    steps: [
      ...node('a'),
      create(),
      become(1, 'running'),
      settled(1, 1),
      become(1, 'failed'),
      become(1, 'running'),
      settled(1, 1),
      removeNode('a'),
    ],
  },
];
