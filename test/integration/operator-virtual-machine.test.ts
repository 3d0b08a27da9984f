import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { at, operatorSuite, type Stage } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const pod = at('/api/v1', 'pods', '-1');
const second = at('/api/v1', 'pods', '-2');

interface Machine extends KubeObject {
  readonly spec: { readonly status: string };
}

interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly {
      readonly image: string;
      readonly resources: { readonly requests: Readonly<Record<string, string>> };
    }[];
  };
}

const containerOf = (object: KubeObject | undefined) =>
  (object as Pod | undefined)?.spec.containers[0];

/** Waits until the machine says that it is complete, on that Pod. */
async function whenComplete({ client, path, name }: Stage, attempt: number): Promise<void> {
  await client.untilObject<Machine>(
    path,
    (object) => object?.spec.status === 'complete' && statusOf(object).pod === `${name}-${attempt}`,
  );
}

shared.describe('integration/operator-virtual-machine', () => {
  const { stage } = operatorSuite(shared, {
    name: 'virtual-machine',
    resource: {
      apiVersion: 'compute.example.com/v1alpha1',
      kind: 'VirtualMachine',
      metadata: { name: 'machine' },
      spec: { cpu: 1, memory: '128Mi', image: 'nginx' },
    },
    children: [pod],
    edits: [
      {
        what: 'another image replaces the Pod',
        change: { spec: { image: 'busybox' } },
        path: pod,
        isDone: (object) => containerOf(object)?.image === 'busybox',
      },
      {
        what: 'more memory replaces the Pod',
        change: { spec: { memory: '256Mi' } },
        path: pod,
        isDone: (object) => containerOf(object)?.resources.requests.memory === '256Mi',
      },
      {
        what: 'more cores replace the Pod',
        change: { spec: { cpu: 2 } },
        path: pod,
        isDone: (object) => containerOf(object)?.resources.requests.cpu === '2',
      },
      {
        what: 'set back to creating, it is created again',
        change: { spec: { status: 'creating' } },
        path: second,
        isDone: (object) => object !== undefined,
      },
    ],
    drifts: [
      {
        what: 'a label of ours that a user changes',
        path: pod,
        change: { metadata: { labels: { 'homeostat.dev/child': 'other' } } },
        isBack: (object) => object?.metadata.labels?.['homeostat.dev/child'] === 'pod',
      },
    ],
  });

  test('when its Pod runs the machine is complete, and an Event says so once', async () => {
    const machine = await stage();
    await whenComplete(machine, 1);
    const { client, namespace } = machine;
    const events = `/api/v1/namespaces/${namespace}/events`;
    const isCompletion = ({ reason }: KubeObject) => reason === 'Completed';
    await client.untilList(events, (list) => list.some(isCompletion));
    await shared.audit.quiet(1_000);
    assert.equal((await client.list(events)).filter(isCompletion).length, 1);
  });

  test('asked for again, it gets another Pod, and the one before is deleted', async () => {
    const machine = await stage();
    await whenComplete(machine, 1);
    const { client, path } = machine;
    for (const attempt of [2, 3]) {
      await client.patch(path, { spec: { status: 'creating' } });
      await whenComplete(machine, attempt);
      const pods = await client.untilList(
        `/api/v1/namespaces/${machine.namespace}/pods`,
        (list) => list.length === 1,
      );
      assert.equal(pods[0]?.metadata.name, `${machine.name}-${attempt}`);
    }
  });

  test('a Pod that runs completes its own request only', async () => {
    const machine = await stage();
    await whenComplete(machine, 1);
    const { client, path, namespace } = machine;
    // A second Pod is rejected, so the first one is all there is, and it runs.
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'full', namespace },
      spec: { hard: { pods: '1' } },
    };
    await client.apply(quota);
    await client.untilObject<KubeObject>(
      `/api/v1/namespaces/${namespace}/resourcequotas/full`,
      (object) => object !== undefined,
    );
    const { metadata } = await client.patch(path, { spec: { status: 'creating' } });
    const seen = await client.untilObject<Machine>(
      path,
      (object) =>
        statusOf(object).observedGeneration === metadata.generation &&
        statusOf(object).attempt === 2,
    );
    assert.equal(seen?.spec.status, 'creating');
  });
});
