import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OperatorPlan } from '#compile';
import { KubeError, type KubeErrorCode } from '#kube/roles.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  type HandmadeChild,
  type HandmadePlan,
  planOf,
  type View,
} from '../../../test/support/fakes/handmade-plan.ts';
import { MemberHarness, placedPlan } from '../../../test/support/fakes/member-harness.ts';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';
import { deploymentChild, podSetPlan } from '../../../test/support/fakes/podset-plan.ts';
import { TimedOperator } from '../../../test/support/fakes/timed-operator.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';

/** When a resource runs next, and what its reconciles send: times in seconds on a fake clock. */
interface Row {
  readonly entry: string;
  readonly body: () => Promise<unknown>;
  readonly expected: unknown;
}

async function started(
  plan: OperatorPlan,
  delays: { baseDelayMs?: number; maxDelayMs?: number } = {},
) {
  const timed = new TimedOperator(new OperatorHarness(plan), delays);
  await timed.start();
  return timed;
}

/** One with a PodSet that is as desired. */
async function settled(plan: OperatorPlan, spec: unknown = { size: 1 }) {
  const timed = await started(plan);
  const podSet = timed.harness.podSet('a', spec);
  await timed.pass(1);
  timed.restart();
  return { timed, podSet };
}

function failing(verb: string, code: KubeErrorCode, more: object = {}) {
  const error = new KubeError(code, 'no', { status: 422, ...more });
  return (request: { readonly verb: string }) => (request.verb === verb ? error : undefined);
}

function objectOf(
  { harness }: TimedOperator,
  ...id: readonly [string, string, string]
): KubeObject {
  const found = harness.get(...id);
  assert.ok(found);
  return found;
}

const deployment = (timed: TimedOperator) => objectOf(timed, 'apps/v1', 'Deployment', 'a');

/** Another manager sets the replicas of the Deployment. */
function scale(timed: TimedOperator, replicas: number): void {
  const object = deployment(timed);
  const spec = { ...(object.spec as object), replicas };
  timed.harness.cluster.server.put({ ...object, spec }, 'scaler');
}

const rows: readonly Row[] = [
  {
    entry: 'failed: growing delays, and an edit runs at once',
    async body() {
      const timed = await started(podSetPlan(), { baseDelayMs: 1_000, maxDelayMs: 10_000 });
      timed.harness.cluster.fault = failing('apply', 'server-error');
      const podSet = timed.harness.podSet('a', { size: 1 });
      await timed.pass(30);
      timed.harness.edit(podSet, { spec: { size: 2 } });
      await timed.pass(5);
      return timed.runs;
    },
    expected: [0, 1, 3, 7, 15, 25, 30],
  },
  {
    entry: 'failed, server unreachable: once the server responds again',
    async body() {
      const timed = await started(podSetPlan(), { baseDelayMs: 1_000, maxDelayMs: 1_000_000 });
      timed.harness.cluster.fault = failing('apply', 'connection-lost', { status: 0 });
      timed.harness.podSet('a', { size: 1 });
      await timed.pass(20);
      timed.harness.cluster.fault = () => undefined;
      timed.controller.retryNow();
      await timed.pass(20);
      return timed.runs;
    },
    expected: [0, 1, 3, 7, 15, 20],
  },
  {
    entry: 'slow: an exhausted quota; events run and send nothing',
    async body() {
      const timed = await started(podSetPlan());
      timed.harness.cluster.fault = failing('apply', 'quota-exceeded');
      const podSet = timed.harness.podSet('a', { size: 1 });
      await timed.pass(700, {
        each: (second) => {
          if (second === 2) timed.harness.edit(podSet, { status: { readyReplicas: 7 } });
        },
      });
      return { runs: timed.runs, sent: timed.sent('apply') };
    },
    expected: { runs: [0, 2, 12, 32, 72, 152, 312, 612], sent: [0, 12, 32, 72, 152, 312, 612] },
  },
  {
    entry: 'rejected: retry.permanent; an event runs and sends nothing, a changed intent is sent',
    async body() {
      const timed = await started(podSetPlan());
      timed.harness.cluster.fault = failing('apply', 'rejected');
      const podSet = timed.harness.podSet('a', { size: 1 });
      await timed.pass(1_300, {
        each: (second) => {
          if (second === 10) timed.harness.edit(podSet, { status: { readyReplicas: 7 } });
          if (second === 20) timed.harness.edit(podSet, { spec: { size: 2 } });
        },
      });
      return { runs: timed.runs, sent: timed.sent('apply') };
    },
    expected: { runs: [0, 10, 20, 620, 1220], sent: [0, 20, 620, 1220] },
  },
  {
    entry: 'rejected, and another manager changes the object: sent again later and later',
    async body() {
      const { timed, podSet } = await settled(podSetPlan());
      timed.harness.cluster.fault = failing('apply', 'rejected');
      timed.harness.edit(podSet, { spec: { size: 2 } });
      await timed.pass(100, {
        each: (second) => {
          const object = deployment(timed);
          const annotations = { ...object.metadata.annotations, beat: String(second) };
          const metadata = { ...object.metadata, annotations };
          timed.harness.cluster.server.put({ ...object, metadata }, 'heart');
        },
      });
      return timed.sent('apply');
    },
    expected: [0, 5, 15, 35, 75],
  },
  {
    entry: 'deletion rejected: retry.permanent, and once the right is granted',
    async body() {
      const when = ({ resource }: View) => resource.spec.on !== false;
      const { timed, podSet } = await settled(
        podSetPlan({ children: [{ ...deploymentChild, when }] }),
      );
      const right = {
        verb: 'delete',
        group: 'apps',
        resource: 'deployments',
        namespace: 'default',
      };
      timed.harness.cluster.fault = failing('delete', 'forbidden', { status: 403, right });
      timed.harness.edit(podSet, { spec: { on: false } });
      await timed.pass(700, {
        each: (second) => {
          if (second === 650) timed.harness.cluster.rights.grant();
        },
      });
      return { runs: timed.runs, sent: timed.sent('delete') };
    },
    expected: { runs: [0, 600, 650], sent: [0, 600, 650] },
  },
  {
    entry: 'contested: five reverts at once, then with growing delays',
    async body() {
      const { timed } = await settled(podSetPlan());
      await timed.pass(160, { each: (second) => scale(timed, 100 + second) });
      return timed.sent('apply');
    },
    expected: [1, 2, 3, 4, 5, 16, 36, 76, 156],
  },
  {
    entry: 'left to a manager: retry.permanent, and with a changed value',
    async body() {
      const { timed } = await settled(
        podSetPlan({ children: [{ ...deploymentChild, conflicts: 'Report' }] }),
      );
      scale(timed, 7);
      await timed.pass(700, { each: (second) => second === 100 && scale(timed, 8) });
      return { runs: timed.runs, sent: timed.sent('apply') };
    },
    expected: { runs: [0, 100, 700], sent: [0, 0, 100, 700] },
  },
  {
    entry: 'status rejected: retry.permanent, and with other fields',
    async body() {
      const mapping: HandmadePlan = { status: { phase: ({ resource }) => resource.spec.phase } };
      const timed = await started(planOf(mapping));
      timed.harness.cluster.fault = ({ verb, manifest }) =>
        verb === 'status' &&
        (manifest?.status as { phase?: string } | undefined)?.phase !== undefined
          ? new KubeError('rejected', 'no', {
              status: 422,
              causes: [{ reason: 'Invalid', field: 'status.phase', message: 'no' }],
            })
          : undefined;
      const podSet = timed.harness.podSet('a', { phase: 'Bad' });
      await timed.pass(700, {
        each: (second) => {
          if (second === 100) timed.harness.edit(podSet, { spec: { phase: 'Worse' } });
        },
      });
      return { runs: timed.runs, sent: timed.sent('status') };
    },
    expected: { runs: [0, 100, 700], sent: [0, 0, 100, 100, 700] },
  },
  {
    entry: 'replaced: one replacement of an intent in 600 s',
    async body() {
      const { timed } = await settled(
        planOfPodSet(`
  children:
    - id: map
      updateStrategy: { type: Recreate }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { text: "\${ spec.text }" } }`),
        { text: 'one' },
      );
      timed.harness.cluster.fault = ({ verb, manifest }) =>
        verb === 'apply' && manifest?.metadata.uid !== undefined
          ? new KubeError('rejected', 'data: Forbidden: field is immutable', {
              status: 422,
              causes: [
                { reason: 'Invalid', field: 'data', message: 'immutable', isImmutable: true },
              ],
            })
          : undefined;
      const meddle = () =>
        timed.harness.edit(objectOf(timed, 'v1', 'ConfigMap', 'map'), { data: { text: 'other' } });
      meddle();
      await timed.pass(1_900, { each: (second) => second % 700 === 0 && meddle() });
      return { runs: timed.runs, deleted: timed.sent('delete') };
    },
    expected: { runs: [0, 600, 700, 1300, 1400], deleted: [600, 1300] },
  },
  {
    entry: 'follow-up: a status field that the reconcile reads runs it again at once',
    async body() {
      const timed = await started(
        planOf({
          status: {
            seen: ({ resource }) => resource.spec.size,
            later: ({ resource }) => (resource.status as { seen?: number } | undefined)?.seen,
          },
          statusPathsRead: [['status', 'seen']],
        }),
      );
      timed.harness.podSet('a', { size: 1 });
      await timed.pass(60);
      return timed.runs;
    },
    expected: [0, 0],
  },
  {
    entry: 'unstable: from 1 s to 300 s; an event runs within 10 s',
    async body() {
      const timed = await started(
        planOf({
          status: {
            count: ({ resource }) =>
              ((resource.status as { count?: number } | undefined)?.count ?? 0) + 1,
          },
          statusPathsRead: [['status', 'count']],
        }),
      );
      const podSet = timed.harness.podSet('a');
      await timed.pass(130);
      timed.harness.edit(podSet, { metadata: { ...podSet.metadata, labels: { a: 'b' } } });
      await timed.pass(10);
      return timed.runs;
    },
    expected: [
      0, 0, 0, 0, 0, 0, 1, 3, 7, 15, 31, 63, 127, 130, 137, 137, 137, 137, 137, 137, 138, 140,
    ],
  },
  {
    entry: 'limits: from 5 s to 300 s; an edit runs after 5 s',
    async body() {
      const timed = await started(
        planOfPodSet(`
  controller: { limits: { steps: 1000 } }
  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { sum: "\${ $string($sum([1..5000].($ * 2))) }" } }`),
      );
      const podSet = timed.harness.podSet('a', { size: 1 });
      await timed.pass(160);
      timed.harness.edit(podSet, { spec: { size: 2 } });
      await timed.pass(12);
      return timed.runs;
    },
    expected: [0, 5, 15, 35, 75, 155, 160, 165],
  },
  {
    entry: 'many writes: after 20 of them every 10 s, and with an edit',
    async body() {
      const source = { name: 'source', namespace: 'default' };
      const mirror: HandmadeChild = {
        id: 'mirror',
        apiVersion: 'v1',
        kind: 'ConfigMap',
        readsUsed: ['source'],
        template: (view) => ({ metadata: { name: 'mirror' }, data: view.read('source')?.data }),
      };
      const read = { id: 'source', apiVersion: 'v1', kind: 'ConfigMap', name: () => 'source' };
      const timed = await started(planOf({ reads: [read], children: [mirror] }));
      const { server } = timed.harness.cluster;
      const feed = (value: number) =>
        server.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: source, data: { value } });
      feed(0);
      const podSet = timed.harness.podSet('a');
      await timed.pass(60, {
        each: (second) => {
          feed(second);
          if (second === 45) timed.harness.edit(podSet, { spec: { touched: true } });
        },
      });
      return timed.sent('apply');
    },
    expected: [
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 29, 39, 45, 46, 47, 48,
      49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
    ],
  },
  {
    entry: 'deferred: a report that a member connects waits for 20 s',
    async body() {
      const harness = new MemberHarness(
        placedPlan(`
  children:
    - id: settings
      cluster: berlin
      crossCluster: { selector: all }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: b } }
`),
      );
      harness.addMember('berlin');
      const timed = new TimedOperator(harness);
      await timed.start();
      harness.podSet('a');
      await timed.pass(1);
      timed.restart();
      harness.disconnect('berlin');
      await timed.pass(60);
      return { runs: timed.runs, reported: timed.sent('status') };
    },
    expected: { runs: [0, 0, 20], reported: [20] },
  },
  {
    entry: 'due: requeueAfter counts from each reconcile, and an event does not cancel it',
    async body() {
      const { timed, podSet } = await settled(
        planOfPodSet(`
  requeueAfter: "30s"
  status: { size: "\${ spec.size }" }`),
      );
      await timed.pass(100, {
        each: (second) => {
          if (second === 40) timed.harness.edit(podSet, { spec: { size: 2 } });
        },
      });
      return timed.runs;
    },
    expected: [29, 40, 70, 100],
  },
];

describe('reconcile: when a resource runs next', () => {
  for (const { entry, body, expected } of rows)
    test(entry, async () => {
      assert.deepEqual(await body(), expected);
    });
});
