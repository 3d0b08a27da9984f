import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OperatorHarness } from '../../../test/support/fakes/operator-harness.ts';
import { planOfPodSet } from '../../../test/support/podset-text.ts';
import { KubeError } from '../../kube/roles.ts';
import { gvkOf } from '../../util/gvk.ts';
import type { KubeObject } from '../../util/kube-object.ts';

const revisions = gvkOf('apps/v1', 'ControllerRevision');
const planWith = (history: string) =>
  planOfPodSet(`
  reads:
    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: ${history} }
  status: { versions: "\${ history.(version & ' ' & object.data.a) }" }
`);

async function started(history = '{ keep: 2 }') {
  const harness = new OperatorHarness(planWith(history));
  harness.podSet('one');
  const edit = (a: string) =>
    harness.cluster.server.put({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'app', namespace: 'default' },
      data: { a },
    }).object;
  edit('1');
  await harness.start();
  await harness.settle();
  return { harness, edit };
}

/** `version value`, with a mark for a deletion. */
function records({ cluster }: OperatorHarness): readonly string[] {
  return cluster.server
    .list(revisions)
    .map(({ object }) => object)
    .sort((a, b) => Number(a.revision) - Number(b.revision))
    .map(({ revision, data, metadata }) => {
      const { a } = (data as unknown as KubeObject).data as { readonly a: string };
      const isDeleted = metadata.annotations?.['homeostat.dev/deleted-at'] !== undefined;
      return `${revision} ${a}${isDeleted ? ' deleted' : ''}`;
    });
}

describe('reconcile/history recorder', () => {
  test('a change is one request, beyond "keep" two; a label that does not count is none', async () => {
    const { harness, edit } = await started();
    const writes = async (a: string) => {
      harness.cluster.takeWrites();
      edit(a);
      await harness.settle();
      const all = harness.cluster.takeWrites();
      return all
        .filter((write) => write.includes('ControllerRevision'))
        .map((write) => write.split(' ')[0]);
    };
    assert.deepEqual(await writes('2'), ['apply']);
    assert.deepEqual(await writes('2'), []);
    assert.deepEqual(await writes('3'), ['apply']);
    assert.deepEqual(await writes('4'), ['apply', 'delete']);
    assert.deepEqual(records(harness), ['2 2', '3 3', '4 4']);
  });

  test('versions of a deleted object expire', async () => {
    const { harness, edit } = await started('{ keepDeleted: 1h }');
    const object = edit('2');
    await harness.settle();
    harness.remove(object);
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2 deleted']);
    await harness.clock.advance(3_599_000);
    await harness.settle();
    assert.equal(records(harness).length, 2);
    await harness.clock.advance(2_000);
    await harness.settle();
    assert.deepEqual(records(harness), []);
  });

  test('a lower "keep" and a dropped read delete versions only as far as the guard allows', async () => {
    const { harness, edit } = await started('{ keep: 10 }');
    for (const a of ['2', '3', '4', '5']) {
      edit(a);
      await harness.settle();
    }
    assert.equal(records(harness).length, 5);
    const asked: string[] = [];
    harness.guard = {
      blockingReason: (_, objects) => {
        asked.push(...objects.map(({ childId }) => childId));
        return 'kept until they are approved';
      },
      onConverged: () => undefined,
    };
    await harness.restart(planWith('{ keep: 1 }'));
    await harness.settle();
    assert.equal(records(harness).length, 5);
    assert.deepEqual([...new Set(asked)], ['history of configs']);
    assert.match(
      harness.ready('one'),
      /3 versions are no longer kept; kept until they are approved/,
    );
    harness.guard = undefined;
    await harness.restart(planWith('{ keep: 1 }'));
    await harness.settle();
    assert.deepEqual(records(harness), ['4 4', '5 5']);
  });

  test('a record that is rejected is reported on the resource, and recorded when the server accepts it', async () => {
    const { harness, edit } = await started();
    const right = {
      verb: 'create',
      group: 'apps',
      resource: 'controllerrevisions',
      namespace: 'default',
    };
    harness.cluster.fault = ({ verb, kind }) =>
      verb === 'apply' && kind === 'ControllerRevision'
        ? new KubeError('forbidden', 'no', { status: 403, right })
        : undefined;
    edit('2');
    await harness.settle();
    assert.match(
      harness.ready('one'),
      /False Forbidden: history of ConfigMap "app": The runtime is not allowed to create controllerrevisions.apps in namespace "default"/,
    );
    harness.cluster.fault = () => undefined;
    harness.cluster.rights.grant();
    await harness.settle();
    assert.deepEqual(records(harness), ['1 1', '2 2']);
    assert.match(harness.ready('one'), /True AllReady/);
  });

  test('too many versions are throttled, with an Event', async () => {
    const { harness, edit } = await started('{ keep: 100 }');
    for (let a = 2; a <= 40; a++) {
      edit(String(a));
      await harness.settle();
    }
    assert.equal(records(harness).length, 20);
    const throttled = harness.cluster.told.filter(({ reason }) => reason === 'HistoryThrottled');
    assert.equal(throttled.length, 1);
    await harness.clock.advance(10_000);
    await harness.settle();
    assert.deepEqual(records(harness).at(-1), '21 40');
  });

  test('a definition without history watches no records', async () => {
    const harness = new OperatorHarness(planOfPodSet('  status: { a: b }\n'));
    await harness.start();
    assert.ok(!harness.cluster.watched.some(({ gvk }) => gvk.kind === 'ControllerRevision'));
  });
});
