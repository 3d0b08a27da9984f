import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock, settle } from '../../../test/support/fake-clock.ts';
import { QuietCluster } from '../../../test/support/fakes/quiet-cluster.ts';
import { freshMetrics } from '../../../test/support/silent-telemetry.ts';
import { locateThing } from '../../../test/support/thing-plan.ts';
import { KubeError, type ResourceType } from '../../kube/roles.ts';
import { definitionLabel, managedByLabel } from '../../reconcile/index.ts';
import { createLogger } from '../../telemetry/index.ts';
import { gvkOf } from '../../util/gvk.ts';
import { orAborted } from '../../util/or-aborted.ts';
import { createSystemRandom } from '../../util/random.ts';
import { ViewBell } from '../view-bell.ts';
import { DefinitionRunner, type DefinitionRunnerOptions } from './definition-runner.ts';

/** A cluster that answers the first question of a definition with a failure. */
class RefusingCluster extends QuietCluster {
  #error: Error;

  constructor(error: Error, types: readonly ResourceType[] = []) {
    super(types);
    this.#error = error;
  }

  override fetchKindSchema(): Promise<never> {
    return Promise.reject(this.#error);
  }
}

function run(
  error: Error,
  cluster = new RefusingCluster(error),
  options: Partial<DefinitionRunnerOptions> = {},
) {
  const clock = new FakeClock();
  const log: { readonly level: string; readonly msg: string }[] = [];
  const destination = { write: (line: string) => log.push(JSON.parse(line)) };
  const metrics = freshMetrics();
  const runner = new DefinitionRunner({
    wanted: { located: locateThing('  children: []\n') },
    bell: new ViewBell(clock),
    cluster,
    clock,
    random: createSystemRandom(),
    logger: createLogger({ level: 'debug', destination }),
    metrics,
    ...options,
  });
  const stopper = new AbortController();
  const ended = runner.run(stopper.signal);
  return { clock, log, metrics, runner, ended, stop: () => stopper.abort() };
}

const some = { hasStatus: true, verbs: [] };
const crdType: ResourceType = {
  gvk: gvkOf('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
  plural: 'customresourcedefinitions',
  namespaced: false,
  ...some,
};
const thingType: ResourceType = {
  gvk: gvkOf('apps.example.com/v1', 'Thing'),
  plural: 'things',
  namespaced: true,
  ...some,
};
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'things.apps.example.com',
    labels: { [managedByLabel]: 'homeostat', [definitionLabel]: 'thing' },
  },
  spec: {
    group: 'apps.example.com',
    scope: 'Namespaced',
    names: { kind: 'Thing', plural: 'things' },
    versions: [{ name: 'v1', storage: true, served: true }],
  },
  status: { conditions: [{ type: 'Established', status: 'True' }] },
};
const thing = {
  apiVersion: 'apps.example.com/v1',
  kind: 'Thing',
  metadata: { name: 'one', namespace: 'default', finalizers: ['homeostat.dev/thing'] },
};

describe('runtime/runner/definition-runner', () => {
  test('nothing is asked before the older revisions are known, it says what they wait for, and it ends while it waits for them', async () => {
    const formers = Promise.withResolvers<void>();
    let fail = (_error: KubeError) => {};
    const whenFormersKnown = (_signal: AbortSignal, onFailure: typeof fail) => {
      fail = onFailure;
      return formers.promise;
    };
    const no = new KubeError('forbidden', 'no', { status: 403 });
    const { runner, ended, stop } = run(no, new RefusingCluster(no), { whenFormersKnown });
    await settle();
    const message = 'Its older revisions are being read';
    assert.deepEqual(runner.view.state, { kind: 'starting', message });
    fail(new KubeError('unauthorized', 'who are you', { status: 401 }));
    assert.deepEqual(runner.view.state, {
      kind: 'starting',
      message: 'The API server does not accept our credentials',
    });
    formers.resolve();
    await settle();
    assert.equal(runner.view.state.kind, 'failing');
    stop();
    await ended;
    const never = (signal: AbortSignal) => orAborted(new Promise<void>(() => {}), signal);
    const other = run(no, new RefusingCluster(no), { whenFormersKnown: never });
    await settle();
    other.stop();
    await other.ended;
    assert.equal(other.runner.view.state.kind, 'starting');
  });

  test('a right that is known to be missing is told as one, for the condition of the definition', async () => {
    const right = { verb: 'get', group: '', resource: 'things' };
    const { runner, ended, stop } = run(new KubeError('forbidden', 'no', { status: 403, right }));
    await settle();
    const { state } = runner.view;
    assert.equal(state.kind === 'failing' && state.isForbidden, true);
    stop();
    await ended;
  });

  for (const [what, error, kind] of [
    ['a server that is away', new KubeError('unavailable', 'no answer', { status: 0 }), 'starting'],
    [
      'a server that lets nobody in',
      new KubeError('unauthorized', 'who?', { status: 401 }),
      'starting',
    ],
    ['a server in trouble', new KubeError('unavailable', 'later', { status: 503 }), 'failing'],
    [
      'an overloaded server',
      new KubeError('too-many-requests', 'later', { status: 429 }),
      'failing',
    ],
    ['a missing right', new KubeError('forbidden', 'no', { status: 403 }), 'failing'],
  ] as const) {
    test(`with ${what} a definition is ${kind}, and says why`, async () => {
      const { runner, ended, stop } = run(error);
      await settle();
      const { state } = runner.view;
      assert.equal(state.kind, kind);
      const why = kind === 'starting' && error.status === 401 ? /credentials/ : error.message;
      assert.match('message' in state ? state.message : '', RegExp(why));
      stop();
      await ended;
    });
  }

  test('a definition that cannot start is told once and tried again', async () => {
    const { clock, log, ended, stop } = run(new KubeError('forbidden', 'no', { status: 403 }));
    await clock.advance(60_000);
    const levels = log.map(({ level }) => level);
    assert.equal(levels[0], 'warn');
    assert.ok(levels.length > 4);
    assert.deepEqual([...new Set(levels.slice(1))], ['debug']);
    stop();
    await ended;
    assert.equal(clock.pending, 0);
  });

  const forbidden = new KubeError('forbidden', 'no', { status: 403 });
  const silence = new KubeError('unavailable', 'no answer', { status: 0 });
  for (const [what, error, isFinished] of [
    ['comes to its end while its definition cannot start', forbidden, true],
    ['waits for a server that is away', silence, false],
  ] as const) {
    test(`a deletion ${what}`, async () => {
      const cluster = new RefusingCluster(error, [crdType, thingType]);
      cluster.server.put(crd);
      cluster.server.put(thing);
      const { namespace, name } = thing.metadata;
      cluster.server.delete(thingType.gvk, { namespace, name });
      const { ended, stop } = run(error, cluster);
      for (let rounds = 0; rounds < 20; rounds++) {
        cluster.deliver();
        await settle();
      }
      assert.equal(cluster.server.get(thingType.gvk, namespace, name) === undefined, isFinished);
      stop();
      await ended;
      assert.deepEqual(cluster.watched, []);
    });
  }

  test('an error that nobody foresaw is told as a bug', async () => {
    const { log, ended, stop } = run(new TypeError('undefined is not a function'));
    await settle();
    assert.deepEqual(
      log.map(({ level }) => level),
      ['error'],
    );
    stop();
    await ended;
  });

  test('its series are there while it lives, and go with it', async () => {
    const { runner, metrics, ended, stop } = run(new KubeError('forbidden', 'no', { status: 403 }));
    await settle();
    runner.observe();
    const text = await metrics.expose();
    assert.match(text, /^homeostat_definition_state\{definition="thing",state="failing"\} 1$/m);
    assert.match(text, /^homeostat_resources\{definition="thing",ready="True"\} 0$/m);
    stop();
    await ended;
    assert.doesNotMatch(await metrics.expose(), /"thing"/);
  });
});
