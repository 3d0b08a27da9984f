import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import type { HandmadeChild } from '../../../../test/support/fakes/handmade-plan.ts';
import { OperatorHarness } from '../../../../test/support/fakes/operator-harness.ts';
import { podSetPlan } from '../../../../test/support/fakes/podset-plan.ts';

/** A Deployment whose replicas, and whose annotation of the Pods, are those of the object. */
const leaving: HandmadeChild = {
  id: 'deployment',
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  left: [
    ['spec', 'replicas'],
    ['spec', 'template', 'metadata', 'annotations', 'cpu'],
  ],
  template: ({ resource }) => ({
    metadata: { name: resource.metadata.name },
    spec: {
      replicas: resource.spec.size,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' }, annotations: { cpu: resource.spec.cpu } },
        spec: {
          containers: [{ name: 'web', image: resource.spec.image }],
        },
      },
    },
  }),
};

interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      readonly metadata: { readonly annotations: { readonly cpu: string } };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
}

function planWith(changes: Partial<HandmadeChild> = {}): OperatorPlan {
  return podSetPlan({ children: [{ ...leaving, ...changes }] });
}

const first = { size: 3, image: 'one', cpu: '100m' };

async function started(plan: OperatorPlan): Promise<OperatorHarness> {
  const harness = new OperatorHarness(plan);
  await harness.start();
  harness.podSet('a', first);
  await harness.settle();
  harness.cluster.takeWrites();
  return harness;
}

function deployment(harness: OperatorHarness): Deployment {
  const object = harness.get('apps/v1', 'Deployment', 'a');
  assert.ok(object, 'Expected the Deployment to exist');
  return object as Deployment;
}

function fieldsOf({ spec: { replicas, template } }: Deployment) {
  return [replicas, template.spec.containers[0]?.image, template.metadata.annotations.cpu];
}

async function edit(harness: OperatorHarness, spec: object): Promise<readonly string[]> {
  const resource = harness.get('apps.example.com/v1', 'PodSet', 'a');
  assert.ok(resource);
  harness.edit(resource, { spec });
  await harness.settle();
  return harness.cluster.takeWrites().filter((write) => write.includes('Deployment'));
}

/** Another manager changes both fields. */
function takeOver(harness: OperatorHarness): void {
  const { spec } = deployment(harness);
  const metadata = { ...spec.template.metadata, annotations: { cpu: '2' } };
  const template = { ...spec.template, metadata };
  harness.edit(deployment(harness), { spec: { ...spec, replicas: 9, template } });
}

/** Another manager changes what the template has. */
function setImage(harness: OperatorHarness, image: string): void {
  const { spec } = deployment(harness);
  const containers = [{ ...spec.template.spec.containers[0], image }];
  const template = { ...spec.template, spec: { containers } };
  harness.edit(deployment(harness), { spec: { ...spec, template } });
}

describe('reconcile/child fields.leave', () => {
  test('a new object gets the values of the template, and its own are kept', async () => {
    const harness = await started(planWith());
    assert.deepEqual(fieldsOf(deployment(harness)), [3, 'one', '100m']);
    takeOver(harness);
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    assert.deepEqual(await edit(harness, { size: 5, image: 'one', cpu: '500m' }), []);
    assert.deepEqual(fieldsOf(deployment(harness)), [9, 'one', '2']);
  });

  test('what else changes is applied, and drift of it reverted', async () => {
    const harness = await started(planWith());
    takeOver(harness);
    assert.deepEqual(await edit(harness, { ...first, image: 'two' }), ['apply Deployment/a']);
    assert.deepEqual(fieldsOf(deployment(harness)), [9, 'two', '2']);
    setImage(harness, 'three');
    await harness.settle();
    assert.deepEqual(fieldsOf(deployment(harness)), [9, 'two', '2']);
  });

  test('a field that the object lacks is set', async () => {
    const harness = await started(planWith());
    const { replicas: _, ...spec } = deployment(harness).spec;
    harness.edit(deployment(harness), { spec });
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), ['apply Deployment/a']);
    assert.equal(deployment(harness).spec.replicas, 3);
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a restart, and a definition that leaves a field from now on, write nothing', async () => {
    const harness = await started(planWith({ left: [] }));
    await harness.restart(planWith());
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
    takeOver(harness);
    await harness.restart(planWith());
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('a definition that no longer leaves it applies it again', async () => {
    const harness = await started(planWith());
    takeOver(harness);
    await harness.restart(planWith({ left: [] }));
    await harness.settle();
    assert.deepEqual(fieldsOf(deployment(harness)), [3, 'one', '100m']);
  });

  test('with Recreate, a change of it recreates nothing, and a new object keeps the values of the old one', async () => {
    const harness = await started(planWith({ updateStrategy: { type: 'Recreate' } }));
    const { uid } = deployment(harness).metadata;
    takeOver(harness);
    assert.deepEqual(await edit(harness, { ...first, size: 7 }), []);
    assert.deepEqual(await edit(harness, { ...first, image: 'two' }), [
      'delete Deployment/a',
      'apply Deployment/a',
    ]);
    assert.notEqual(deployment(harness).metadata.uid, uid);
    assert.deepEqual(fieldsOf(deployment(harness)), [9, 'two', '2']);
    await harness.settle();
    assert.deepEqual(harness.cluster.takeWrites(), []);
  });

  test('while a change is held, drift is reverted and the field is kept', async () => {
    const gate: HandmadeChild = {
      id: 'gate',
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ready: ({ data }) => (data as { open?: string } | undefined)?.open === 'yes',
      template: ({ resource }) => ({
        metadata: { name: 'gate' },
        data: { open: resource.spec.open ?? 'yes' },
      }),
    };
    const held = { ...leaving, tier: 1, after: ['gate'] };
    const harness = await started(podSetPlan({ children: [gate, held] }));
    takeOver(harness);
    await harness.settle();
    assert.deepEqual(await edit(harness, { ...first, open: 'no', image: 'two' }), []);
    setImage(harness, 'three');
    await harness.settle();
    assert.deepEqual(fieldsOf(deployment(harness)), [9, 'one', '2']);
  });

  test('a rolling update does not count it', async () => {
    const elements = {
      forEach: () => ['a'],
      updateStrategy: {
        type: 'Apply' as const,
        rollingUpdate: { maxUnavailable: 1, partition: 5, order: 'Ascending' as const },
      },
    };
    const harness = await started(planWith(elements));
    takeOver(harness);
    assert.deepEqual(await edit(harness, { ...first, size: 7 }), []);
    assert.doesNotMatch(JSON.stringify(harness.status('a')), /partition/);
  });
});
