import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { withDescendants } from '#util/object-tree/created-kinds.ts';
import { objectState } from '#util/object-tree/object-state.ts';
import { buildTree } from '#util/object-tree/object-tree.ts';
import { treeChanges, treeLines } from './tree-lines.ts';

interface Extras {
  readonly owner?: string;
  readonly label?: string;
  readonly namespace?: string;
  readonly [field: string]: unknown;
}

/** An object whose uid is its kind and name. */
function object(kind: string, name: string, extras: Extras = {}): KubeObject {
  const { owner, label, namespace = 'ns', ...rest } = extras;
  const ownerReferences =
    owner === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Any', name: 'any', uid: owner, controller: true }];
  const labels = label === undefined ? {} : { 'homeostat.dev/owner-uid': label };
  const metadata = { name, namespace, uid: `${kind} ${name}`, ownerReferences, labels };
  return { apiVersion: 'v1', kind, metadata, ...rest };
}

const ready = (readyReplicas: number) => ({ spec: { replicas: 2 }, status: { readyReplicas } });
const set = object('PodSet', 'web');
const watched = new Set(['v1/PodSet']);
const deployment = object('Deployment', 'web', { owner: 'PodSet web', ...ready(1) });
const pods = ['b', 'a'].map((name) =>
  object('Pod', name, { owner: 'Deployment web', status: { phase: 'Running' } }),
);

describe('dev/tree', () => {
  test('shows each object below its controller, sorted, its state in a column', () => {
    const foreignObject = object('Pod', 'c', { owner: 'somebody else' });
    const config = object('ConfigMap', 'web', { label: 'PodSet web', namespace: 'other' });
    const tree = buildTree([set], [set, ...pods, deployment, foreignObject, config]);
    assert.deepEqual(treeLines(tree), [
      'PodSet ns/web',
      '├─ ConfigMap web',
      '└─ Deployment web  1/2 ready',
      '   ├─ Pod a        Running',
      '   └─ Pod b        Running',
    ]);
  });

  test('a root that belongs to another object is shown below it only', () => {
    const inner = object('PodSet', 'inner', { owner: 'PodSet web' });
    assert.deepEqual(treeLines(buildTree([inner, set], [inner, set])), [
      'PodSet ns/web',
      '└─ PodSet inner',
    ]);
  });

  test('a root that belongs to what is no root is shown all the same, also when others come between', () => {
    const tree = buildTree([deployment, ...pods], [set, deployment, ...pods]);
    assert.deepEqual(treeLines(tree), [
      'Deployment ns/web  1/2 ready',
      '├─ Pod a           Running',
      '└─ Pod b           Running',
    ]);
    const set1 = object('ReplicaSet', 'web', { owner: 'Deployment web' });
    const pod = object('Pod', 'x', { owner: 'ReplicaSet web' });
    assert.deepEqual(treeLines(buildTree([pod, deployment], [set, deployment, set1, pod])), [
      'Deployment ns/web  1/2 ready',
      '└─ ReplicaSet web  0/1 ready',
      '   └─ Pod x',
    ]);
  });

  test('ends though objects belong to each other', () => {
    const a = object('A', 'a', { owner: 'B b' });
    const b = object('B', 'b', { owner: 'A a' });
    const root = object('A', 'a');
    assert.deepEqual(treeLines(buildTree([root], [a, b])), ['A ns/a', '└─ B b']);
  });

  test('reports what came, changed and went, and nothing twice', () => {
    const first = treeChanges(new Map(), buildTree([set], [deployment]), watched);
    assert.deepEqual(first.lines, [
      '+ PodSet ns/web',
      '+ PodSet ns/web > Deployment web: 1/2 ready',
    ]);
    const better = { ...deployment, ...ready(2) };
    const second = treeChanges(first.printed, buildTree([set], [better]), watched);
    assert.deepEqual(second.lines, ['~ PodSet ns/web > Deployment web: 2/2 ready']);
    const third = treeChanges(second.printed, buildTree([set], []), watched);
    assert.deepEqual(third.lines, ['- PodSet ns/web > Deployment web']);
    assert.deepEqual(treeChanges(third.printed, buildTree([set], []), watched).lines, []);
  });

  test('objects of a kind that is no longer watched still exist, so nothing is printed', () => {
    const { printed } = treeChanges(new Map(), buildTree([set], [deployment]), watched);
    assert.deepEqual(treeChanges(printed, [], new Set()).lines, []);
    assert.deepEqual(treeChanges(printed, [], watched).lines, [
      '- PodSet ns/web',
      '- PodSet ns/web > Deployment web',
    ]);
  });

  const failing = {
    ...set,
    status: {
      conditions: [{ type: 'Ready', status: 'False', reason: 'RenderFailed', message: 'as below' }],
      children: [
        child('web', 'Deployment', { state: 'Failed', message: 'Rejected (a.yaml:1:2)' }),
        child('', 'Secret', { state: 'Failed', message: 'data.a: Missing value "spec.a"' }),
        child('later', 'Secret', { state: 'Waiting', message: 'not shown' }),
      ],
    },
  };
  function child(name: string, kind: string, state: { state: string; message: string }) {
    return { id: 'token', apiVersion: 'v1', kind, namespace: 'ns', name, ...state };
  }

  test('a failed child has its message below it, also if it does not exist', () => {
    assert.deepEqual(treeLines(buildTree([failing], [failing, deployment, ...pods])), [
      'PodSet ns/web      not Ready: RenderFailed',
      '├─ Deployment web  1/2 ready, failed',
      '│  │  Rejected (a.yaml:1:2)',
      '│  ├─ Pod a        Running',
      '│  └─ Pod b        Running',
      '└─ Secret token    failed',
      '      data.a: Missing value "spec.a"',
    ]);
  });

  test('messages wrap at the width of the terminal', () => {
    assert.deepEqual(treeLines(buildTree([failing], [failing]), 32).slice(-2), [
      '      data.a: Missing value',
      '      "spec.a"',
    ]);
  });

  test('a resource whose failure is not of a child has its message below it', () => {
    const conditions = [{ type: 'Ready', status: 'False', reason: 'LimitReached', message: 'Big' }];
    const odd = { ...set, status: { conditions } };
    assert.deepEqual(treeLines(buildTree([odd], [])), [
      'PodSet ns/web  not Ready: LimitReached',
      '   Big',
    ]);
  });

  test('reports a failed child that does not exist once, and its creation as an addition', () => {
    const first = treeChanges(new Map(), buildTree([failing], [deployment]), watched);
    assert.deepEqual(first.lines, [
      '+ PodSet ns/web: not Ready: RenderFailed',
      '+ PodSet ns/web > Deployment web: 1/2 ready, failed: Rejected (a.yaml:1:2)',
      '~ PodSet ns/web > Secret token: failed: data.a: Missing value "spec.a"',
    ]);
    const token = object('Secret', 'token', { owner: 'PodSet web' });
    const mended = buildTree([set], [token, deployment]);
    assert.deepEqual(treeChanges(first.printed, mended, watched).lines, [
      '~ PodSet ns/web',
      '~ PodSet ns/web > Deployment web: 1/2 ready',
      '+ PodSet ns/web > Secret token',
    ]);
  });

  test('follows what Kubernetes makes of the kinds of children, each kind once', () => {
    const kinds = [gvkOf('apps/v1', 'Deployment'), gvkOf('batch/v1', 'Job'), gvkOf('v1', 'Secret')];
    assert.deepEqual(withDescendants(kinds).map(gvkKey).sort(), [
      'apps/v1/Deployment',
      'apps/v1/ReplicaSet',
      'batch/v1/Job',
      'v1/Pod',
      'v1/Secret',
    ]);
  });
});

const condition = (type: string, status: string, reason?: string) => ({
  status: { conditions: [{ type, status, ...(reason === undefined ? {} : { reason }) }] },
});

describe('dev/tree/object-state', () => {
  for (const [kind, fields, state] of [
    ['ConfigMap', {}, ''],
    ['Deployment', { spec: { replicas: 3 }, status: {} }, '0/3 ready'],
    ['StatefulSet', { status: { readyReplicas: 1 } }, '1/1 ready'],
    ['DaemonSet', { status: { numberReady: 1, desiredNumberScheduled: 2 } }, '1/2 ready'],
    ['Pod', { status: { phase: 'Pending' } }, 'Pending'],
    [
      'Pod',
      { status: { phase: 'Running', ...condition('Ready', 'False').status } },
      'Running, not ready',
    ],
    ['Job', { status: { active: 1 } }, '1 active'],
    ['Job', condition('Complete', 'True'), 'Complete'],
    ['Job', condition('Failed', 'True'), 'Failed'],
    ['PodSet', condition('Ready', 'True', 'AllReady'), 'Ready'],
    ['PodSet', condition('Ready', 'False', 'Progressing'), 'not Ready: Progressing'],
    ['Gateway', condition('Available', 'False'), 'not Available'],
    ['Namespace', { status: { phase: 'Active' } }, 'Active'],
    ['Odd', { status: 'text', spec: [] }, ''],
  ] as const) {
    test(`a ${kind} with ${JSON.stringify(fields)} is ${JSON.stringify(state)}`, () => {
      assert.equal(objectState(object(kind, 'x', fields)), state);
    });
  }

  test('what is being deleted says so before anything else', () => {
    const going = object('Pod', 'x', { status: { phase: 'Running' } });
    const metadata = { ...going.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    assert.equal(objectState({ ...going, metadata }), 'being deleted');
  });
});
