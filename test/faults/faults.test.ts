import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { KubeObject } from '../../src/util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import {
  type EventAction,
  type Fault,
  matching,
  type ProxiedPlane,
  type RequestAction,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import {
  untilEqual,
  untilWorld,
  type World,
  type WorldOptions,
  type WorldView,
} from '../support/fault-proxy/world.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';

const shared = useControlPlane({ audit: true });

/** A read, a list of children and a chain: what the first child answers is in the second. */
const definition = thingDefinition(
  'faults',
  `  reads:
    - id: settings
      apiVersion: v1
      kind: ConfigMap
      selector: { matchLabels: { settings: shared } }
  children:
    - id: config
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data:
          greeting: \${ spec.greeting }
          setting: \${ $join(reads.settings.data.value, ",") }
    - id: parts
      forEach: \${ spec.parts }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-\${ $item }" }
        data: { part: "\${ $item }" }
    - id: deployment
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          replicas: 0
          selector: { matchLabels: { app: "\${ metadata.name }" } }
          template:
            metadata:
              labels: { app: "\${ metadata.name }" }
              annotations: { config: "\${ children.config.metadata.uid }" }
            spec: { containers: [{ name: main, image: busybox }] }
  status:
    greeting: \${ children.config.data.greeting }
    setting: \${ children.config.data.setting }
    parts: \${ $count(children.parts) }
`,
);

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

function one(namespace: string, name: string, spec: object = {}): KubeObject {
  return thing('faults', namespace, { greeting: 'hello', parts: ['x', 'y'], ...spec }, name);
}

function worldOptions(namespace: string): WorldOptions {
  return {
    client: shared.client(),
    namespace,
    collections: [
      ['/api/v1', 'configmaps'],
      ['/apis/apps/v1', 'deployments'],
      ['/apis/faults.example.com/v1', 'things'],
    ],
    reported: ['Thing'],
  };
}

async function createAll(namespace: string): Promise<void> {
  const client = shared.client();
  const metadata = { name: 'settings', namespace, labels: { settings: 'shared' } };
  await Promise.all([
    client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value: 'one' } }),
    ...names.map((name) => client.apply(one(namespace, name))),
  ]);
}

/** Everything that a user may do to a resource, its children and what it reads. */
async function editAll(namespace: string): Promise<void> {
  const client = shared.client();
  const configMap = (name: string) => `/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const deployment = `/apis/apps/v1/namespaces/${namespace}/deployments/d`;
  const edited = { template: { spec: { containers: [{ name: 'main', image: 'nginx' }] } } };
  await Promise.all([
    client.apply(one(namespace, 'a', { greeting: 'good day' })),
    client.apply(one(namespace, 'b', { parts: ['y', 'z'] })),
    client.patch(configMap('settings'), { data: { value: 'two' } }),
    client.delete(configMap('c')),
    client.patch(deployment, { spec: edited }),
    client.patch(configMap('e-x'), { metadata: { labels: { 'homeostat.dev/owner-uid': null } } }),
    replace(namespace),
  ]);
}

/** Another `f` of the same name, before the garbage collector has removed what the first one had. */
async function replace(namespace: string): Promise<void> {
  const client = shared.client();
  await client.delete(thingPath('faults', namespace, 'f'));
  await client.untilGone(thingPath('faults', namespace, 'f'));
  await client.apply(one(namespace, 'f', { greeting: 'again' }));
}

/** What the edits give a reason to replace, or to delete. */
const replaced = new Set(
  ['configmaps/c', 'configmaps/b-x', 'configmaps/f', 'configmaps/f-x', 'configmaps/f-y'].concat(
    'deployments/f',
    'things/f',
  ),
);

let proxied: ProxiedPlane;
let homeostat: HomeostatProcess;
let expected: readonly World[] = [];

function createHomeostat(): HomeostatProcess {
  const { kubeconfig } = proxied;
  return new HomeostatProcess({ kubeconfig, definitions: { 'faults.yaml': definition } });
}

function isSettled(objects: WorldView['objects'], count: number): boolean {
  const things = [...objects.values()].filter(({ kind }) => kind === 'Thing');
  return (
    things.length === count &&
    things.every((object) => statusOf(object).observedGeneration === object.metadata.generation) &&
    things.every((object) => conditionOf(object)?.status === 'True')
  );
}

/** The worlds of a run without faults. */
async function faultFreeRun(): Promise<readonly World[]> {
  const namespace = await shared.namespace();
  const options = worldOptions(namespace);
  const worlds: World[] = [];
  for (const act of [createAll, editAll]) {
    await act(namespace);
    await shared.audit.quiet(3_000);
    const view = await untilWorld(
      options,
      ({ objects }) => isSettled(objects, names.length),
      (last) => assert.fail(JSON.stringify(last)),
    );
    worlds.push(view.world);
  }
  return worlds;
}

interface FaultCase {
  readonly name: string;
  /** Injected before the creations, and again before the edits. */
  readonly faults?: readonly Fault[];
  /** The faults end with the script, and not when all is as it should be. @default false */
  readonly endsWithScript?: boolean;
  /** What else happens while creations and edits are under way. */
  readonly during?: (act: () => Promise<void>, phase: number) => Promise<void>;
}

const writes = matching({ verb: ['apply', 'delete'] });
const applies = matching({ verb: 'apply', resource: ['configmaps', 'deployments'] });
const statusWrites = matching({ verb: 'apply', resource: 'things/status' });
const lists = matching({ verb: 'list' });
const watches = matching({ verb: 'watch' });

function onRequest(
  name: string,
  action: RequestAction,
  limits: Omit<Fault, 'on' | 'name' | 'action'> = {},
): Fault {
  return { on: 'request', name, action, ...limits };
}

function onEvent(
  name: string,
  action: EventAction,
  limits: Omit<Fault, 'on' | 'name' | 'action'> = {},
): Fault {
  return { on: 'event', name, action, ...limits };
}

/** Once for each of the watched kinds: a watch that failed twice in a row waits longer than a test should. */
function onEachWatch(name: string, action: EventAction): readonly Fault[] {
  return ['things', 'configmaps', 'deployments'].map((resource) =>
    onEvent(`${name} of ${resource}`, action, {
      when: matching({ verb: 'watch', resource }),
      after: 1,
      times: 1,
    }),
  );
}

const expiry = onEachWatch('ERROR 410', { kind: 'error', status: 410 });

const cases: readonly FaultCase[] = [
  {
    name: 'watches that are cut between two events',
    faults: onEachWatch('cut', { kind: 'cut', midLine: false }),
  },
  {
    name: 'watches that are cut in mid-line',
    faults: onEachWatch('cut in mid-line', { kind: 'cut', midLine: true }),
  },
  {
    name: 'watches that fall silent while their connections stay open',
    faults: [onEvent('silence', { kind: 'silence' })],
    endsWithScript: true,
  },
  {
    name: 'a cut watch is answered with 410',
    faults: [
      ...onEachWatch('cut', { kind: 'cut', midLine: false }),
      onRequest('410', { kind: 'answer', status: 410 }, { when: watches, times: 3 }),
    ],
  },
  { name: 'an ERROR event of code 410 in a watch', faults: expiry },
  {
    name: 'an ERROR event of code 500 in a watch',
    faults: onEachWatch('ERROR 500', { kind: 'error', status: 500 }),
  },
  {
    name: '410 on the list that follows',
    faults: [
      ...expiry,
      onRequest('410', { kind: 'answer', status: 410 }, { when: lists, times: 1 }),
    ],
  },
  {
    name: '410 on the second page',
    faults: [
      ...expiry,
      onRequest(
        '410',
        { kind: 'answer', status: 410 },
        { when: matching({ verb: 'list', isLaterPage: true }), times: 2 },
      ),
      onRequest(
        'small pages',
        { kind: 'paginate', pageSize: 2 },
        { when: ({ verb, path }) => verb === 'list' && path.includes('limit=') },
      ),
    ],
  },
  {
    name: '409 on applies',
    faults: [onRequest('409', { kind: 'answer', status: 409 }, { when: applies, times: 8 })],
  },
  {
    name: '409 on status writes',
    faults: [onRequest('409', { kind: 'answer', status: 409 }, { when: statusWrites, times: 5 })],
  },
  {
    name: '429 with Retry-After',
    faults: [
      onRequest(
        '429',
        { kind: 'answer', status: 429, retryAfterSeconds: 1 },
        { when: writes, times: 8 },
      ),
    ],
  },
  {
    name: 'a burst of 500',
    faults: [onRequest('500', { kind: 'answer', status: 500 }, { times: 8 })],
  },
  {
    name: 'a burst of 503 without Retry-After',
    faults: [onRequest('503', { kind: 'answer', status: 503 }, { times: 8 })],
  },
  {
    name: 'slow answers',
    faults: [onRequest('slow', { kind: 'delay', requestMs: 150, answerMs: 150 })],
  },
  {
    name: 'some writes that take two seconds',
    faults: [
      onRequest('very slow', { kind: 'delay', answerMs: 2_000 }, { when: writes, times: 3 }),
    ],
  },
  {
    name: 'connections that are reset before the request is forwarded',
    faults: [onRequest('reset', { kind: 'reset', when: 'before' }, { when: writes, times: 8 })],
  },
  {
    name: 'answers that are lost: the write was done',
    faults: [onRequest('lost', { kind: 'reset', when: 'after' }, { when: writes, times: 8 })],
  },
  {
    name: 'answers that come after the events of their writes',
    faults: [onRequest('late answer', { kind: 'delay', answerMs: 200 }, { when: writes })],
  },
  {
    name: 'watches that lag behind the answers',
    faults: [onEvent('lag', { kind: 'lag', ms: 30 })],
  },
  {
    name: 'answers of writes in another order',
    faults: [onRequest('reordered', { kind: 'reorder', count: 4 }, { when: writes, times: 24 })],
  },
  {
    name: 'events that come twice, and again after the next',
    faults: [onEvent('duplicate', { kind: 'duplicate' })],
  },
  {
    name: 'connections that are refused',
    async during(act) {
      await proxied.proxy.refuse();
      await act();
      await proxied.proxy.accept();
    },
  },
  {
    name: 'connections that are refused, and 410 on the watches afterwards',
    faults: [onRequest('410', { kind: 'answer', status: 410 }, { when: watches, times: 4 })],
    async during(act) {
      await proxied.proxy.refuse();
      await act();
      await proxied.proxy.accept();
    },
  },
  {
    name: 'the process is killed in the middle of its writes, again and again',
    during: (act, phase) => killAtWrites(phase === 0 ? [0, 2, 5, 4] : [1, 3, 4], act),
  },
];

/** Kills the process at that many writes after the one before; every other time the write is still done. */
async function killAtWrites(counts: readonly number[], act: () => Promise<void>): Promise<void> {
  const acting = act();
  for (const [index, after] of counts.entries()) {
    const victim = homeostat;
    const kill = proxied.proxy.inject({
      on: 'request',
      name: 'kill',
      when: writes,
      after,
      times: 1,
      action: {
        kind: 'call',
        async run() {
          await victim.stop('SIGKILL');
          return index % 2 === 0 ? 'forward' : 'drop';
        },
      },
    });
    await kill.untilCount(1);
    await victim.ended();
    homeostat = createHomeostat();
  }
  await Promise.all([acting, homeostat.whenReady()]);
}

/** Creations, then edits, each under the faults and each until the world is that of the run without. */
async function runUnderFaults(
  { faults = [], endsWithScript = false, during = (act) => act() }: FaultCase,
  namespace: string,
) {
  const { proxy } = proxied;
  const views: WorldView[] = [];
  const counts: string[] = [];
  for (const [phase, act] of [createAll, editAll].entries()) {
    const injected = faults.map((fault) => proxy.inject(fault));
    await during(() => act(namespace), phase);
    if (endsWithScript) proxy.clear();
    views.push(await untilEqual(worldOptions(namespace), expected[phase] ?? {}));
    proxy.clear();
    counts.push(injected.map(({ fault, count }) => `${fault.name}: ${count}`).join(', '));
    for (const { fault, count } of injected) {
      if (fault.isChance !== true) assert.ok(count > 0, `Expected "${fault.name}" to happen`);
    }
  }
  return { views, counts };
}

describe('integration/faults', { skip: shared.skip }, () => {
  before(async () => {
    proxied = await startFaultProxy(shared.plane);
    homeostat = createHomeostat();
    await homeostat.whenReady();
    // The collector looks for new kinds every 30 s only.
    await shared.plane.restartControllerManager();
    expected = await faultFreeRun();
  });
  after(async () => {
    await homeostat?.stop();
    await proxied?.proxy.stop();
  });
  // A list or watch that failed waits longer each time: no case is to pay for those before it.
  beforeEach(async () => {
    await homeostat.stop();
    homeostat = createHomeostat();
    await homeostat.whenReady();
  });
  afterEach(() => proxied.proxy.clear());

  for (const faultCase of cases) {
    test(faultCase.name, async (context) => {
      const since = shared.audit.mark();
      const namespace = await shared.namespace();
      const { views, counts } = await runUnderFaults(faultCase, namespace);
      context.diagnostic(`created: ${counts[0]}; edited: ${counts[1]}`);
      await shared.audit.quiet(3_000, { limitMs: 20_000 });
      const [first, last] = [
        views[0],
        await untilEqual(worldOptions(namespace), expected[1] ?? {}),
      ];
      const lost = Object.entries(first?.uids ?? {}).filter(
        ([key, uid]) => !replaced.has(key) && last.uids[key] !== uid,
      );
      assert.deepEqual(lost, [], 'nothing that should live was replaced');
      assert.deepEqual(deletionsSince(since, namespace), ['configmaps/b-x']);
      await assertWell();
    });
  }

  test('the API server is killed in the middle of 100 creations', async (context) => {
    const namespace = await shared.namespace();
    const kill = proxied.proxy.inject({
      on: 'request',
      name: 'kill the API server',
      when: writes,
      after: 100,
      times: 1,
      action: { kind: 'call', run: killApiServer },
    });
    const hundred = Array.from({ length: 100 }, (_, index) => `p${index}`);
    await Promise.all(hundred.map((name) => applyStubbornly(one(namespace, name))));
    await kill.untilCount(1);
    const isDone = ({ objects }: WorldView) => isSettled(objects, 100) && objects.size === 500;
    const view = await untilWorld(worldOptions(namespace), isDone, (last) =>
      assert.fail(`Only ${last?.objects.size} of 500 objects after a minute`),
    );
    context.diagnostic(`created: ${kill.fault.name}: ${kill.count}`);
    await shared.audit.quiet(3_000, { limitMs: 20_000 });
    const last = await untilWorld(worldOptions(namespace), isDone, () =>
      assert.fail('not at rest'),
    );
    assert.deepEqual(last.uids, view.uids);
    await assertWell();
  });
});

/** What the runtime has deleted, in the order of the log. */
function deletionsSince(since: number, namespace: string): readonly string[] {
  return shared.audit
    .entries({ since })
    .filter((entry) => entry.verb === 'delete' && entry.namespace === namespace)
    .filter(({ status }) => status < 300)
    .map(({ resource, name }) => `${resource}/${name}`);
}

async function assertWell(): Promise<void> {
  const answer = await fetch(`${await homeostat.url()}/readyz?verbose`);
  assert.equal(answer.status, 200, await answer.text());
}

/** SIGKILL; the write on its way is lost with it. */
async function killApiServer(): Promise<'drop'> {
  await shared.plane.restartApiServer(0);
  return 'drop';
}

/** Applies until a server answers. */
async function applyStubbornly(object: KubeObject): Promise<void> {
  const client = shared.client();
  const namespacePath = `/api/v1/namespaces/${object.metadata.namespace}`;
  for (let tries = 1; ; tries++) {
    try {
      await client.apply(object);
      return;
    } catch (error) {
      if (tries === 5) throw error;
      // The watch of the wait goes on when the server is there again.
      await client.untilObject(namespacePath, (found) => found !== undefined);
    }
  }
}
