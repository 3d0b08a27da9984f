import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '#kube/roles.ts';
import type { Operator } from '#reconcile';
import { createLogger } from '#telemetry';
import { gvkOf } from '#util/gvk.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { RuntimeFakeCluster } from '../../../../test/support/fakes/runtime-fake-cluster.ts';
import { locatedThing } from '../../../../test/support/fakes/thing-texts.ts';
import { dropPreviousKinds, migrateResources } from './cleanup.ts';

const right = {
  verb: 'get',
  group: 'apiextensions.k8s.io',
  resource: 'customresourcedefinitions',
};
const hourMs = 60 * 60_000;

/** A logger and what it has logged. */
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

/** The kinds of a definition that it does not make any more; the test says of which there are objects. */
function start() {
  const clock = new FakeClock();
  const stopper = new AbortController();
  const [secrets, services] = [gvkOf('v1', 'Secret'), gvkOf('v1', 'Service')];
  const there = new Set([secrets, services]);
  const watched: string[] = [];
  const gone: string[] = [];
  const kindsOf = (kinds: readonly { readonly kind: string }[]) =>
    kinds.map(({ kind }) => kind).join(' ');
  const operator: Pick<Operator, 'hasChildren' | 'retainPreviousKinds'> = {
    hasChildren: (gvk) => there.has(gvk),
    retainPreviousKinds: (left) => void watched.push(kindsOf(left)),
  };
  const ended = dropPreviousKinds(
    {
      definition: locatedThing('thing').definition,
      cluster: new RuntimeFakeCluster(),
      clock,
      logger: listeningLogger().logger,
      onKindsGone: ({ children }) => void gone.push(kindsOf(children)),
    },
    { operator: operator as Operator, formerKinds: [secrets, services] },
    stopper.signal,
  );
  const stop = async () => {
    stopper.abort();
    await ended;
    assert.equal(clock.pending, 0);
  };
  return { clock, there, secrets, services, watched, gone, ended, stop };
}

describe('runtime/running/cleanup: kinds that are not made any more', () => {
  test('each is watched, and on record, until nothing of it is left', async () => {
    const { clock, there, secrets, services, watched, gone, ended } = start();
    await passHour(clock);
    assert.deepEqual([watched, gone], [[], []]);
    there.delete(secrets);
    await passHour(clock);
    assert.deepEqual([watched, gone], [['Service'], ['Secret']]);
    there.delete(services);
    await passHour(clock);
    await ended;
    assert.deepEqual(
      [watched, gone],
      [
        ['Service', ''],
        ['Secret', 'Service'],
      ],
    );
  });

  test('it ends with its definition', async () => {
    const { watched, gone, stop } = start();
    await stop();
    assert.deepEqual([watched, gone], [[], []]);
  });
});

describe('runtime/running/cleanup: resources that are stored in an old version', () => {
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
    const ended = migrateResources({ definition, cluster, clock, logger }, stopper.signal);
    await settle();
    return { cluster, clock, log, ended };
  }

  const edits = ({ requests }: RuntimeFakeCluster) =>
    requests.filter(({ verb }) => verb === 'edit').length;

  test('what cannot be written is tried more and more rarely, and reported once', async () => {
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
        'warn Resources cannot be migrated to the new storage version, will retry',
        'info Resources migrated to the new storage version',
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
