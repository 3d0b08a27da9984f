import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { KubeCluster } from '#kube';
import type { KubeObject } from '#util/kube-object.ts';
import { clockOf, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf, textMap, thing, thingDefinition } from '../support/definitions.ts';
import { type LiveDefinition, useLiveDefinitions } from '../support/live-definition.ts';
import { patienceMs } from '../support/patience.ts';

// Without controllers nothing but the definitions changes anything.
const shared = useControlPlane({ audit: true, controllerManager: false });

const secret = `
    - id: secret
      template:
        apiVersion: v1
        kind: Secret
        metadata: { name: "\${ metadata.name }-secret" }
        stringData: { text: "\${ spec.text }" }`;

/** No server has such a field. */
const misspelt = `
    - id: a
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec: { replicaz: 1 }`;

interface Text {
  readonly children?: string;
  readonly controller?: string;
  readonly more?: string;
}

function definition(name: string, { children = textMap('a'), controller, more = '' }: Text = {}) {
  const settings = controller === undefined ? '' : `  controller: ${controller}\n`;
  return thingDefinition(name, `  children:${children}\n${more}${settings}`);
}

/** Paced: one every hundred seconds, so that nothing but what a test does reaches a resource after the first one. */
const slow = '{ rollout: { perSecond: 0.01 } }';
const atOnce = '{ rollout: { perSecond: 0 } }';

shared.describe('integration/reload', () => {
  const live = useLiveDefinitions(shared);

  async function begin(name: string, text: string, count: number) {
    const namespace = await shared.namespace();
    const cluster = await live.connect();
    const uses = countUses(cluster);
    const manager = live.start(cluster, name);
    const revision = manager.want(text);
    await manager.untilSettled(revision);
    const names = Array.from({ length: count }, (_, index) => `r${index}`);
    await Promise.all(names.map((each) => apply(name, namespace, each, 'one')));
    await untilRevision(name, namespace, revision, count);
    return { namespace, manager, cluster, revision, uses };
  }

  function apply(name: string, namespace: string, resource: string, text: string) {
    return shared.client().apply(thing(name, namespace, { text }, resource));
  }

  function untilRevision(name: string, namespace: string, revision: string, count: number) {
    const path = `/apis/${name}.example.com/v1/namespaces/${namespace}/things`;
    return shared
      .client()
      .untilList(
        path,
        (items) =>
          items.filter((item) => statusOf(item).definitionRevision === revision).length === count,
      );
  }

  function untilMaps(
    namespace: string,
    id: string,
    isMet: (items: readonly KubeObject[]) => boolean,
  ) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=homeostat.dev/child=${id}`;
    return shared.client().untilList(path, isMet);
  }

  const textsOf = (items: readonly KubeObject[]) =>
    items.map(({ data }) => (data as { readonly text: string }).text);

  test('existing resources follow a changed template at the pace; a new and an edited one take it at once', async () => {
    const name = 'pace';
    const { namespace, manager } = await begin(name, definition(name), 6);
    const changed = definition(name, {
      children: textMap('a', '"new ${ spec.text }"'),
      controller: slow,
    });
    const revision = manager.want(changed);
    // The first of them.
    await untilMaps(namespace, 'a', (items) => textsOf(items).includes('new one'));
    await apply(name, namespace, 'r4', 'edited');
    await apply(name, namespace, 'fresh', 'one');
    const is = (text: string) => (items: readonly KubeObject[]) => textsOf(items).includes(text);
    await untilMaps(namespace, 'a', is('new edited'));
    const items = await untilMaps(namespace, 'a', (all) => all.length === 7);
    const old = textsOf(items).filter((text) => text === 'one');
    assert.ok(old.length >= 3, `most are as they were: ${textsOf(items)}`);
    // What is not reached is still looked after, by what it was made of.
    const kept = items.find((item) => textsOf([item])[0] === 'one');
    assert.ok(kept);
    const path = `/api/v1/namespaces/${namespace}/configmaps/${kept.metadata.name}`;
    await shared.client().apply({ ...bare(kept), data: { text: 'meddled' } }, { force: true });
    await shared.client().untilObject(path, (each) => textsOf(each ? [each] : [])[0] === 'one');
    const { rollout } = await manager.until('a roll-out', (view) => view.rollout !== undefined);
    assert.equal(rollout?.to, revision);
    assert.equal(rollout?.state, 'rolling');
    assert.equal(rollout?.total, 6);
    // Faster now: the rest follows.
    const faster = manager.want(
      definition(name, { children: textMap('a', '"new ${ spec.text }"'), controller: atOnce }),
    );
    await manager.untilSettled(faster);
    await untilRevision(name, namespace, faster, 7);
    assert.deepEqual(
      new Set(textsOf(await untilMaps(namespace, 'a', () => true))),
      new Set(['new one', 'new edited']),
    );
  });

  test('a pass that has begun ends with the revision it began with, and the end is the new one', async () => {
    const name = 'midway';
    const count = 200;
    const { namespace, manager } = await begin(name, definition(name), 1);
    const names = Array.from({ length: count }, (_, index) => `m${index}`);
    const text = (word: string) =>
      definition(name, {
        children:
          textMap('a', `"${word} \${ spec.text }"`) + textMap('b', `"${word} \${ spec.text }"`),
        controller: atOnce,
      });
    const applying = Promise.all(names.map((each) => apply(name, namespace, each, 'two')));
    // While they are being made.
    await untilMaps(namespace, 'a', (items) => items.length > 20);
    manager.want(text('x'));
    await untilMaps(namespace, 'b', (items) => items.length > 20);
    const revision = manager.want(text('y'));
    await applying;
    await untilRevision(name, namespace, revision, count + 1);
    await manager.untilSettled(revision);
    for (const id of ['a', 'b']) {
      const items = await untilMaps(namespace, id, (all) => all.length === count + 1);
      assert.deepEqual(new Set(textsOf(items)), new Set(['y one', 'y two']));
    }
  });

  test('kinds are added and removed: what is new is watched and created, what is dropped is deleted and no longer watched, and others get no request', async () => {
    const name = 'kinds';
    const { namespace, manager, uses } = await begin(name, definition(name), 3);
    const before = uses();
    // Servers end the watches of a kind that was installed a moment ago, and lines may come after the events that they tell of.
    await shared.audit.quiet(5_000);
    const since = shared.audit.mark();
    const both = definition(name, { children: textMap('a') + secret, controller: atOnce });
    await manager.untilSettled(manager.want(both));
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    await shared.client().untilList(secrets, (items) => items.length === 3);
    assert.deepEqual({ ...uses(), Secret: 0 }, { ...before, Secret: 0 });
    assert.equal(uses().Secret, 1);
    const only = definition(name, { children: textMap('a'), controller: atOnce });
    await manager.untilSettled(manager.want(only));
    await shared.client().untilList(secrets, (items) => items.length === 0);
    await untilUses(uses, before);
    await shared.audit.quiet(1_000);
    const { by } = shared.audit.count({ since });
    for (const resource of ['configmaps', 'things'])
      for (const verb of ['list', 'watch', 'create', 'delete', 'get', 'update'])
        assert.equal(by[`${verb} ${resource}`] ?? 0, 0, `${verb} ${resource}`);
    assert.equal(by['patch configmaps'] ?? 0, 0);
    // Each tells twice that it has another revision.
    assert.equal(by['patch things/status'], 6, JSON.stringify(by));
  });

  test('a change that the cluster rejects leaves what runs as it is, and says why', async () => {
    const name = 'rejected';
    const { namespace, manager, revision } = await begin(name, definition(name), 2);
    const wrong = definition(name, { children: misspelt });
    const rejected = manager.want(wrong);
    const { rejection, state } = await manager.until(
      'a rejection',
      (view) => view.rejection !== undefined,
    );
    assert.equal(state.kind, 'running');
    assert.equal(rejection?.revision, rejected);
    assert.match(rejection?.diagnostics.join() ?? '', /definition\.yaml:\d+:\d+: .*replicaz/);
    await apply(name, namespace, 'fresh', 'two');
    await untilRevision(name, namespace, revision, 3);
    // A text that is right again.
    const right = manager.want(
      definition(name, { children: textMap('a', '"x"'), controller: atOnce }),
    );
    const settled = await manager.untilSettled(right);
    assert.equal(settled.rejection, undefined);
    await untilRevision(name, namespace, right, 3);
  });

  test('a change that breaks every resource breaks ten of them, and the corrected one heals', async () => {
    const name = 'broken';
    const count = 40;
    const { namespace, manager, revision } = await begin(name, definition(name), count);
    const breaks = definition(name, {
      children: textMap('a', '"${ $number(spec.text) }"'),
      controller: atOnce,
    });
    const broken = manager.want(breaks);
    const { rollout } = await manager.until(
      'the roll-out to stop',
      (view) => view.rollout?.state === 'stopped',
    );
    assert.equal(rollout?.reached, 10);
    await untilRevision(name, namespace, broken, 10);
    // Those that are not reached go on as they were; a new one takes the new text.
    const kept = await untilRevision(name, namespace, revision, count - 10);
    const left = kept.find((item) => statusOf(item).definitionRevision === revision);
    await shared
      .client()
      .delete(`/api/v1/namespaces/${namespace}/configmaps/${left?.metadata.name}-a`);
    await untilMaps(namespace, 'a', (items) => items.length === count);
    await apply(name, namespace, 'fresh', '7');
    await untilRevision(name, namespace, broken, 11);
    const healed = manager.want(
      definition(name, { children: textMap('a', '"x"'), controller: atOnce }),
    );
    await manager.untilSettled(healed);
    await untilRevision(name, namespace, healed, count + 1);
  });

  test('after a restart in the middle resources keep what they have until they are reached', async () => {
    const name = 'restarted';
    const before = definition(name);
    const { namespace, manager, cluster, revision } = await begin(name, before, 6);
    const after = (controller: string) =>
      definition(name, { children: textMap('a', '"new"'), controller });
    const next = manager.want(after(slow));
    await untilRevision(name, namespace, next, 1);
    await manager.stop();

    const again = live.start(cluster, name);
    again.want(after(slow), { formerly: [before] });
    const { rollout } = await again.until('the roll-out', (view) => view.rollout !== undefined);
    assert.equal(rollout?.from, revision);
    await apply(name, namespace, 'r5', 'edited');
    await untilMaps(
      namespace,
      'a',
      (items) => textsOf(items).filter((text) => text === 'new').length >= 2,
    );
    const items = await untilMaps(namespace, 'a', (all) => all.length === 6);
    assert.ok(textsOf(items).includes('one'), `${textsOf(items)}`);
    const last = again.want(after(atOnce));
    await again.untilSettled(last);
    await untilRevision(name, namespace, last, 6);
  });

  test('after a start the cluster may have something against the text: what ran before runs', async () => {
    const name = 'fallback';
    const good = definition(name, { controller: atOnce });
    const { namespace, manager, cluster, revision } = await begin(name, good, 1);
    await manager.stop();
    const wrong = definition(name, { children: misspelt });
    const again = live.start(cluster, name);
    const rejected = again.want(wrong, { formerly: [good] });
    const view = await again.until('the older one to run', ({ state }) => state.kind === 'running');
    assert.equal(view.revision, revision);
    assert.equal(view.rejection?.revision, rejected);
    await apply(name, namespace, 'fresh', 'two');
    await untilRevision(name, namespace, revision, 2);
    const right = again.want(
      definition(name, { children: textMap('a', '"x"'), controller: atOnce }),
    );
    await again.untilSettled(right);
    await untilRevision(name, namespace, right, 2);
  });

  test('selectors and namespaces that change: who matches no more keeps what it has, who matches now is worked on', async () => {
    const name = 'selects';
    const text = (word: string) =>
      definition(name, {
        children: textMap('a'),
        controller: `{ namespaces: { include: ["${word}-*"] }, rollout: { perSecond: 0 } }`,
      });
    const [first, second] = [
      await shared.client().createNamespace('first'),
      await shared.client().createNamespace('second'),
    ];
    const cluster = await live.connect();
    const manager = live.start(cluster, name);
    const before = manager.want(text('first'));
    await manager.untilSettled(before);
    for (const namespace of [first, second]) await apply(name, namespace, 'r', 'one');
    await untilRevision(name, first, before, 1);
    const revision = manager.want(text('second'));
    await manager.untilSettled(revision);
    await untilRevision(name, second, revision, 1);
    await untilMaps(second, 'a', (items) => items.length === 1);
    await untilMaps(first, 'a', (items) => items.length === 1);
    await untilRevision(name, first, before, 1);
  });

  test('settings are taken without a restart, and a definition that is deleted and comes back continues', async () => {
    const name = 'settings';
    const { namespace, manager, uses } = await begin(name, definition(name), 3);
    const before = uses();
    const more =
      '{ concurrency: 3, resync: 1h, retry: { initial: 1s, max: 2s }, rollout: { perSecond: 0 } }';
    const revision = manager.want(definition(name, { controller: more }));
    await manager.untilSettled(revision);
    await untilRevision(name, namespace, revision, 3);
    assert.deepEqual(uses(), before);
    manager.wantNothing();
    assert.equal(manager.view.state.kind, 'finalizing');
    assert.equal((await untilMaps(namespace, 'a', (items) => items.length === 3)).length, 3);
    await manager.untilSettled(manager.want(definition(name, { controller: more })));
    await apply(name, namespace, 'fresh', 'two');
    await untilRevision(name, namespace, revision, 4);
  });

  test('of fifty changes in a row the last one wins, and nothing is left of the others', async () => {
    const name = 'burst';
    const { namespace, manager, uses } = await begin(name, definition(name), 20);
    await shared.audit.quiet(500);
    const [before, sockets] = [uses(), openSockets()];
    let last = '';
    for (let index = 0; index < 50; index++) {
      const children = textMap('a', `"${index}"`) + (index % 3 === 0 ? secret : '');
      last = manager.want(
        definition(name, {
          children,
          controller: '{ rollout: { perSecond: 100, maxDeletions: 1000 } }',
        }),
      );
      // So that some of them are begun, and are overtaken in whatever they are at.
      if (index % 5 === 0) await untilNext(manager, last);
      if (index % 10 === 8) await manager.until('it', ({ revision }) => revision === last);
    }
    const controller = '{ rollout: { perSecond: 0, maxDeletions: 1000 } }';
    last = manager.want(definition(name, { children: textMap('a', '"end"'), controller }));
    await manager.untilSettled(last);
    await untilRevision(name, namespace, last, 20);
    const items = await untilMaps(namespace, 'a', (all) => all.length === 20);
    assert.deepEqual(new Set(textsOf(items)), new Set(['end']));
    await shared
      .client()
      .untilList(`/api/v1/namespaces/${namespace}/secrets`, (all) => all.length === 0);
    await untilUses(uses, before);
    // Requests have a pool of their own, which need not have been full. A connection that has ended closes a moment later.
    await untilFewSockets(sockets + poolSize);
  });

  test('a definition that is paused does nothing, and catches up when it continues', async () => {
    const name = 'paused';
    const { namespace, manager } = await begin(name, definition(name), 1);
    const text = definition(name, { children: textMap('a', '"x"'), controller: atOnce });
    manager.want(text, { isPaused: true });
    await manager.until('the change to be accepted', (view) => view.rollout !== undefined);
    await shared.audit.quiet(500);
    const since = shared.audit.mark();
    await apply(name, namespace, 'fresh', 'two');
    await shared.audit.quiet(1_000);
    assert.equal(shared.audit.count({ since }).writes, 0);
    const revision = manager.want(text);
    await untilRevision(name, namespace, revision, 2);
  });
});

/** What an apply of a test may send of an object. */
function bare({ apiVersion, kind, metadata: { name, namespace = '' } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace } };
}

/** How many informers of each kind are used by anybody at the moment, by kind. */
function countUses(cluster: KubeCluster): () => Readonly<Record<string, number>> {
  const uses = new Map<string, { readonly kind: string; count: number }>();
  const acquire = cluster.acquire.bind(cluster);
  cluster.acquire = (query) => {
    const key = JSON.stringify(query);
    const entry = uses.get(key) ?? { kind: query.gvk.kind, count: 0 };
    uses.set(key, entry);
    entry.count++;
    const informer = acquire(query);
    const release = informer.release.bind(informer);
    informer.release = () => {
      entry.count--;
      release();
    };
    return informer;
  };
  return () => {
    const byKind: Record<string, number> = {};
    for (const { kind, count } of uses.values())
      if (count > 0) byKind[kind] = (byKind[kind] ?? 0) + 1;
    return byKind;
  };
}

/** Resolves when what is watched is as expected. What is dropped is released a moment after the last object of it has gone. */
async function untilUses(
  uses: () => Readonly<Record<string, number>>,
  expected: Readonly<Record<string, number>>,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!isDeepStrictEqual(uses(), expected)) {
    if (performance.now() > deadline) assert.deepEqual(uses(), expected);
    await clockOf(shared.plane).sleep(50, signal);
  }
}

/** Of waits that nothing ends before their time. */
const { signal } = new AbortController();

/** Connections of `useKubeCluster` for requests. */
const poolSize = 4;

/** Resolves when no more than so many are open. */
async function untilFewSockets(most: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (openSockets() > most) {
    if (performance.now() > deadline) assert.fail(`${openSockets()} sockets, at most ${most}`);
    await clockOf(shared.plane).sleep(50, signal);
  }
}

function openSockets(): number {
  return process.getActiveResourcesInfo().filter((what) => /TCP|TLS/.test(what)).length;
}

/** Resolves when a change is being worked on, or has been. */
function untilNext(manager: LiveDefinition, revision: string) {
  return manager.until(
    'the change to be taken up',
    (view) => view.next !== undefined || view.revision === revision,
  );
}
