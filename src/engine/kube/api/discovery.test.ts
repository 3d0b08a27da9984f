import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gvkOf } from '#util/gvk.ts';
import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import { type ApiScript, RecordedApi } from '../../../../test/support/recorded-api.ts';
import { KubeError } from '../kube-error.ts';
import { createDiscovery } from './discovery.ts';

const never = new AbortController().signal;
const foo = gvkOf('x.example/v1', 'Foo');
const deployment = gvkOf('apps/v1', 'Deployment');

function ok(body: unknown) {
  return { status: 200, body };
}

const core = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: {},
      versions: [
        {
          version: 'v1',
          resources: [
            {
              resource: 'configmaps',
              responseKind: { group: '', version: 'v1', kind: 'ConfigMap' },
              scope: 'Namespaced',
              verbs: ['get', 'list'],
            },
          ],
        },
      ],
    },
  ],
};

const groups = {
  kind: 'APIGroupDiscoveryList',
  items: [
    {
      metadata: { name: 'apps' },
      versions: [
        {
          version: 'v1',
          freshness: 'Current',
          resources: [
            {
              resource: 'deployments',
              responseKind: { group: 'apps', version: 'v1', kind: 'Deployment' },
              scope: 'Namespaced',
              verbs: ['get'],
              subresources: [
                { subresource: 'scale', responseKind: { kind: 'Scale' } },
                { subresource: 'status', responseKind: { kind: 'Deployment' } },
              ],
            },
          ],
        },
      ],
    },
    {
      metadata: { name: 'metrics.example' },
      versions: [{ version: 'v1', freshness: 'Stale', resources: [] }],
    },
  ],
};

const fooList = {
  kind: 'APIResourceList',
  resources: [
    { name: 'foos', kind: 'Foo', namespaced: false, verbs: ['get', 'watch'] },
    { name: 'foos/status', kind: 'Foo', namespaced: false, verbs: ['patch'] },
  ],
};

const missing = new KubeError('kind-missing', '404 page not found', { status: 404 });

/** A server that serves Foo only when `hasFoo` says so. */
function script(hasFoo: () => boolean): ApiScript {
  return ({ path }) => {
    if (path === '/api') return ok(core);
    if (path === '/apis') return ok(groups);
    if (path === '/apis/x.example/v1' && hasFoo()) return ok(fooList);
    throw missing;
  };
}

describe('kube/discovery', () => {
  test('two requests report all groups, and known kinds cost nothing', async () => {
    const api = new RecordedApi(script(() => false));
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    assert.equal(discovery.resourceFor(deployment), undefined);
    assert.deepEqual(await discovery.lookUp(deployment, never), {
      gvk: deployment,
      plural: 'deployments',
      namespaced: true,
      hasStatus: true,
      hasScale: true,
      verbs: ['get'],
    });
    await discovery.lookUp(gvkOf('v1', 'ConfigMap'), never);
    assert.equal(discovery.resourceFor(gvkOf('v1', 'ConfigMap'))?.hasStatus, false);
    assert.deepEqual(api.lines, ['GET /api', 'GET /apis']);
  });

  test('an unknown kind is asked for in its own group version', async () => {
    let hasFoo = false;
    const api = new RecordedApi(script(() => hasFoo));
    const clock = new FakeClock();
    const discovery = createDiscovery({ api, clock });
    assert.equal(await discovery.lookUp(foo, never), undefined);
    hasFoo = true;
    const found = discovery.lookUp(foo, never);
    await clock.advance(1_000);
    assert.deepEqual(await found, {
      gvk: foo,
      plural: 'foos',
      namespaced: false,
      hasStatus: true,
      verbs: ['get', 'watch'],
    });
  });

  test('a group version is asked for by one for all: soon again at first, then once a second', async () => {
    const api = new RecordedApi(script(() => false));
    const clock = new FakeClock();
    const discovery = createDiscovery({ api, clock });
    const asked = () => api.lines.filter((line) => line === 'GET /apis/x.example/v1').length;
    const many = () =>
      Promise.all(['Foo', 'Bar', 'Foo'].map((kind) => discovery.lookUp({ ...foo, kind }, never)));
    await many();
    assert.equal(asked(), 1);
    let count = 1;
    for (const gapMs of [25, 50, 100, 200, 400, 800, 1_000, 1_000]) {
      const later = many();
      await clock.advance(gapMs - 1);
      assert.equal(asked(), count, `${gapMs} ms`);
      await clock.advance(1);
      await later;
      count += 1;
      assert.equal(asked(), count, `${gapMs} ms`);
    }
    await clock.advance(10_000);
    await many();
    const soon = many();
    await clock.advance(25);
    await soon;
    assert.equal(asked(), count + 2);
  });

  test('a stale group version is asked for, not believed', async () => {
    const api = new RecordedApi(script(() => false));
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    await discovery.lookUp(gvkOf('metrics.example/v1', 'Node'), never);
    assert.equal(api.lines.at(-1), 'GET /apis/metrics.example/v1');
  });

  test('a server without aggregated discovery is asked group by group', async () => {
    const api = new RecordedApi(({ path }) => {
      if (path === '/api') return ok({ kind: 'APIVersions', versions: ['v1'] });
      if (path === '/apis') return ok({ kind: 'APIGroupList', groups: [] });
      if (path === '/apis/x.example/v1') return ok(fooList);
      throw missing;
    });
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    assert.equal((await discovery.lookUp(foo, never))?.plural, 'foos');
  });

  test('after an invalidation a kind is asked for again, and known meanwhile', async () => {
    let hasFoo = true;
    const api = new RecordedApi(script(() => hasFoo));
    const clock = new FakeClock();
    const discovery = createDiscovery({ api, clock });
    await discovery.lookUp(foo, never);
    hasFoo = false;
    discovery.invalidate('other.example');
    assert.equal((await discovery.lookUp(foo, never))?.plural, 'foos');
    discovery.invalidate(foo.group);
    assert.equal(discovery.resourceFor(foo)?.plural, 'foos');
    await clock.advance(1_000);
    assert.equal(await discovery.lookUp(foo, never), undefined);
    assert.equal(discovery.resourceFor(foo), undefined);
  });

  test('a kind that was denied is asked for again, its neighbours stay known', async () => {
    const list = {
      ...fooList,
      resources: [...fooList.resources, { name: 'bars', kind: 'Bar', namespaced: true }],
    };
    const api = new RecordedApi(({ path }) => ok(path === '/apis/x.example/v1' ? list : groups));
    const clock = new FakeClock();
    const discovery = createDiscovery({ api, clock });
    await discovery.lookUp(foo, never);
    discovery.forget(foo);
    assert.equal(discovery.resourceFor(foo), undefined);
    assert.equal(discovery.resourceFor({ ...foo, kind: 'Bar' })?.plural, 'bars');
    const found = discovery.lookUp(foo, never);
    await clock.advance(1_000);
    assert.equal((await found)?.plural, 'foos');
  });

  test('a failure is reported and nothing is remembered of it', async () => {
    const down = new KubeError('unavailable', 'down', { status: 503 });
    const api = new RecordedApi(() => {
      throw down;
    });
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    await assert.rejects(discovery.lookUp(deployment, never), down);
    api.answerBy(script(() => false));
    assert.equal((await discovery.lookUp(deployment, never))?.plural, 'deployments');
  });

  test('one that gives up does not take the answer from the others', async () => {
    let answer: () => void = () => undefined;
    const api = new RecordedApi(
      ({ path }) =>
        new Promise((resolve) => {
          const previous = answer;
          answer = () => {
            previous();
            resolve(ok(path === '/api' ? core : groups));
          };
        }),
    );
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    const stop = new AbortController();
    const impatient = discovery.lookUp(deployment, stop.signal);
    const patient = discovery.lookUp(deployment, never);
    await settle();
    stop.abort(new Error('enough'));
    await assert.rejects(impatient, { code: 'aborted' });
    answer();
    assert.equal((await patient)?.plural, 'deployments');
    assert.equal(api.requests.length, 2);
  });

  test('a kind is found without its version, at no cost when it is known', async () => {
    const api = new RecordedApi(script(() => false));
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    const found = await discovery.findKind({ group: 'apps', kind: 'Deployment' }, never);
    assert.deepEqual(found?.gvk, deployment);
    const asked = api.requests.length;
    await discovery.findKind({ group: '', kind: 'ConfigMap' }, never);
    assert.equal(api.requests.length, asked);
  });

  test('a kind of a group that the documents leave out is asked for in its versions', async () => {
    const api = new RecordedApi(({ path }) => {
      if (path === '/apis/x.example') {
        const versions = [{ version: 'v1beta1' }, { version: 'v1' }];
        return ok({ kind: 'APIGroup', versions, preferredVersion: { version: 'v1' } });
      }
      if (path === '/apis/x.example/v1') return ok(fooList);
      return ok({ kind: 'APIVersions' });
    });
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    const found = await discovery.findKind({ group: 'x.example', kind: 'Foo' }, never);
    assert.deepEqual(found?.gvk, foo);
  });

  test('only a group that the server denies has no such kind', async () => {
    const api = new RecordedApi(({ path }) => {
      if (path !== '/apis/x.example') return ok({ kind: 'APIVersions' });
      throw new KubeError(answer, 'x', { status: answer === 'kind-missing' ? 404 : 503 });
    });
    const discovery = createDiscovery({ api, clock: new FakeClock() });
    let answer: 'kind-missing' | 'unavailable' = 'kind-missing';
    assert.equal(await discovery.findKind({ group: 'x.example', kind: 'Foo' }, never), undefined);
    answer = 'unavailable';
    await assert.rejects(discovery.findKind({ group: 'x.example', kind: 'Foo' }, never), {
      code: 'unavailable',
    });
  });
});
