import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { settle } from '../../../../test/support/fake-clock.ts';
import { configMaps, informerBench, start } from '../../../../test/support/model/informer-bench.ts';
import { kubeError } from '../../../../test/support/model/scripted-api.ts';
import { KubeError } from '../kube-error.ts';

const right = { verb: 'list', group: '', resource: 'configmaps' };
const denial = new KubeError('forbidden', 'no', { status: 403, right });

describe('kube/cache informer, what the log has', () => {
  for (const [what, error, expected] of [
    ['a server with errors', kubeError('server-error', 500), ['warn']],
    ['a missing right, which is reported for all that wait for it', denial, []],
  ] as const) {
    test(`of ${what} the log has ${expected.length === 0 ? 'nothing' : 'once'}`, async () => {
      const { api, clock, informers, log } = informerBench();
      informers.acquire(configMaps);
      for (const delayMs of [800, 1_600]) {
        (await api.nextRequest()).fail(error);
        await clock.advance(delayMs);
      }
      assert.deepEqual(
        log,
        expected.map((level) => `${level} List or watch failed, will retry`),
      );
      await informers.close();
    });
  }

  test('of an object whose name may come from a Secret neither the log nor the state says the name', async () => {
    const { api, clock, informers, lines } = informerBench();
    const query = { ...configMaps, namespace: 's3cret', fieldSelector: 'metadata.name=s3cret' };
    const informer = informers.acquire({ ...query, isPrivate: true });
    const words = 'configmaps "s3cret" in "s3cret" cannot be listed';
    const namedRight = { ...right, namespace: 's3cret' };
    for (const error of [
      new KubeError('server-error', words, { status: 500 }),
      new KubeError('forbidden', words, { status: 403, right: namedRight }),
    ]) {
      (await api.nextRequest()).fail(error);
      await clock.advance(1_600);
    }
    const { state } = informer;
    assert.ok(state.kind === 'failing');
    assert.equal(state.error.message, 'The list or watch failed: forbidden');
    assert.deepEqual(state.error.right, { ...namedRight, name: 's3cret', isPrivate: true });
    assert.equal(lines.length, 1);
    assert.doesNotMatch(lines.join(''), /s3cret/);
    await informers.close();
  });

  test('of a kind that is not there yet nothing is logged, of one that has gone it is', async () => {
    const { api, clock, discovery, informers, log } = informerBench();
    const gvk = gvkOf('demo/v1', 'PodSet');
    informers.acquire({ gvk });
    // Names of CRDs are watched meanwhile.
    (await api.nextStream()).open();
    await clock.advance(60_000);
    assert.deepEqual(log, []);
    discovery.serve('demo/v1', 'PodSet', 'podsets');
    informers.retryNow(gvk);
    const { stream } = await start(api, 7);
    stream.event('BOOKMARK', { metadata: { resourceVersion: '8' } });
    await settle();
    stream.break(kubeError('kind-missing', 404));
    await settle();
    assert.deepEqual(log, ['warn List or watch failed, will retry']);
    await informers.close();
  });
});
