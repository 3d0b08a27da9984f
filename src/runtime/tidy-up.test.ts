import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../test/support/fake-clock.ts';
import { locatedThing, RuntimeFakeCluster } from '../../test/support/fakes/definition-world.ts';
import { KubeError } from '../kube/roles.ts';
import type { Operator } from '../reconcile/index.ts';
import { createLogger } from '../telemetry/index.ts';
import { gvkOf } from '../util/gvk.ts';
import { dropFormerKinds } from './tidy-up.ts';

const right = {
  verb: 'get',
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};
const hourMs = 60 * 60_000;

function start() {
  const cluster = new RuntimeFakeCluster();
  const clock = new FakeClock();
  const stopper = new AbortController();
  const log: { readonly level: string; readonly msg: string }[] = [];
  const kept: number[] = [];
  const operator: Pick<Operator, 'hasChildren' | 'keepFormerKinds'> = {
    hasChildren: () => false,
    keepFormerKinds: (left) => void kept.push(left.length),
  };
  cluster.fault = () => new KubeError('forbidden', 'no', { status: 403, right });
  const ended = dropFormerKinds(
    {
      definition: locatedThing('thing').definition,
      cluster,
      clock,
      logger: createLogger({
        level: 'info',
        destination: { write: (line) => void log.push(JSON.parse(line)) },
      }),
    },
    { operator: operator as Operator, formerKinds: [gvkOf('v1', 'Secret')] },
    stopper.signal,
  );
  return { cluster, clock, log, kept, ended, stop: () => stopper.abort() };
}

describe('runtime/tidy-up, kinds that are not made any more', () => {
  test('a record that may not be written is tried more and more rarely, and told once', async () => {
    const { cluster, clock, log, kept, ended, stop } = start();
    for (let times = 0; times < 720; times++) {
      await clock.advance(hourMs / 720);
      await settle();
    }
    assert.ok(cluster.requests.length < 20, `${cluster.requests.length} requests in an hour`);
    assert.deepEqual(
      log.map(({ level, msg }) => `${level} ${msg}`),
      ['warn Former kinds stay on record, will retry'],
    );
    assert.deepEqual(kept, []);
    stop();
    await ended;
  });

  test('it is tried at once when the right is there', async () => {
    const { cluster, clock, kept, ended } = start();
    await settle();
    await clock.advance(5_000);
    await settle();
    cluster.fault = () => undefined;
    cluster.rights.grant();
    await settle();
    assert.deepEqual(kept, [0]);
    await clock.advance(5_000);
    await ended;
  });
});
