import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { locatedThing, RuntimeFakeCluster } from '../../../test/support/fakes/definition-world.ts';
import { KubeError } from '../../kube/roles.ts';
import type { Operator } from '../../reconcile/index.ts';
import { createLogger } from '../../telemetry/index.ts';
import { gvkOf } from '../../util/gvk.ts';
import { dropFormerKinds, storeAnew } from './tidy-up.ts';

const right = {
  verb: 'get',
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};
const hourMs = 60 * 60_000;

/** A logger and what it was told. */
function listeningLogger() {
  const log: { readonly level: string; readonly msg: string }[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line)) };
  return { log, logger: createLogger({ level: 'info', destination }) };
}

async function passHour(clock: FakeClock): Promise<void> {
  for (let times = 0; times < 720; times++) {
    await clock.advance(hourMs / 720);
    await settle();
  }
}

function start() {
  const cluster = new RuntimeFakeCluster();
  const clock = new FakeClock();
  const stopper = new AbortController();
  const { log, logger } = listeningLogger();
  const kept: number[] = [];
  const operator: Pick<Operator, 'hasChildren' | 'keepFormerKinds'> = {
    hasChildren: () => false,
    keepFormerKinds: (left) => void kept.push(left.length),
  };
  cluster.fault = () => new KubeError('forbidden', 'no', { status: 403, right });
  const ended = dropFormerKinds(
    { definition: locatedThing('thing').definition, cluster, clock, logger },
    { operator: operator as Operator, formerKinds: [gvkOf('v1', 'Secret')] },
    stopper.signal,
  );
  return { cluster, clock, log, kept, ended, stop: () => stopper.abort() };
}

describe('runtime/runner/tidy-up, kinds that are not made any more', () => {
  test('a record that may not be written is tried more and more rarely, and told once', async () => {
    const { cluster, clock, log, kept, ended, stop } = start();
    await passHour(clock);
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

describe('runtime/runner/tidy-up, resources that are stored in an old version', () => {
  /** A CRD with an old version on record, and a resource that the server fails to write. */
  async function startMigration(fault: KubeError) {
    const type = { plural: 'things', namespaced: true, hasStatus: true, verbs: [] };
    const cluster = new RuntimeFakeCluster([
      { gvk: gvkOf('thing.example.com/v1', 'Thing'), ...type },
    ]);
    cluster.server.put({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: {
        name: 'things.thing.example.com',
        labels: { 'homeostat.dev/definition': 'thing' },
      },
      status: { storedVersions: ['v0', 'v1'] },
    });
    cluster.server.put({
      apiVersion: 'thing.example.com/v1',
      kind: 'Thing',
      metadata: { name: 'one', namespace: 'default' },
    });
    cluster.fault = ({ verb }) => (verb === 'edit' ? fault : undefined);
    const clock = new FakeClock();
    const { log, logger } = listeningLogger();
    const { definition } = locatedThing('thing');
    const stopper = new AbortController();
    const ended = storeAnew({ definition, cluster, clock, logger }, stopper.signal);
    await settle();
    return { cluster, clock, log, ended };
  }

  const edits = ({ requests }: RuntimeFakeCluster) =>
    requests.filter(({ verb }) => verb === 'edit').length;

  test('what cannot be written is tried more and more rarely, and told once', async () => {
    const busy = new KubeError('server-error', 'no', { status: 500 });
    const { cluster, clock, log, ended } = await startMigration(busy);
    await passHour(clock);
    assert.ok(edits(cluster) < 20, `${edits(cluster)} tries in an hour`);
    cluster.fault = () => undefined;
    await passHour(clock);
    await ended;
    assert.deepEqual(
      log.map(({ level, msg }) => `${level} ${msg}`),
      [
        'warn Resources stay in an old version, will retry',
        'info Resources are stored in the new version',
      ],
    );
  });

  test('it is tried at once when the right is there', async () => {
    const denied = new KubeError('forbidden', 'no', { status: 403, right: { ...right } });
    const { cluster, clock, ended } = await startMigration(denied);
    await passHour(clock);
    const before = edits(cluster);
    cluster.fault = () => undefined;
    cluster.rights.grant();
    await settle();
    await clock.advance(5_000);
    await settle();
    await ended;
    assert.equal(edits(cluster), before + 1);
  });
});
