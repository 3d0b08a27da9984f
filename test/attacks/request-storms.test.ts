import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiRequest } from '#kube';
import { gvkOf } from '#util/gvk.ts';
import { thing, thingDefinition, thingPath } from '../support/definitions.ts';
import {
  type CountedAnswer,
  type CountedScript,
  countedCluster,
} from './support/counted-server.ts';
import { core, group, listText, mapText } from './support/hostile-objects.ts';
import { startStormHub } from './support/storm-hub.ts';

const kinds = ['ConfigMap', 'Secret', 'Pod'];
const plurals = ['configmaps', 'secrets', 'pods'];
const hourMs = 3_600_000;
/** Of one kind: pauses grow to 30 s. */
const maxInAnHour = 400;

const denied = (message: string): CountedAnswer => ({
  status: 403,
  body: { kind: 'Status', code: 403, reason: 'Forbidden', message },
});
/** As an API server without the role says it, so that the right is known. */
const deniedRight = (verb: string, path: string) =>
  denied(
    `${plurals.find((plural) => path.endsWith(plural))} is forbidden: User "hub" cannot ${verb} resource "${plurals.find((plural) => path.endsWith(plural))}" in API group "" at the cluster scope`,
  );
const expired = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
const isList = (path: string) => plurals.some((plural) => path.endsWith(plural));
const resources = plurals.map((name, at) => ({ ...core.resources[0], name, kind: kinds[at] }));

/** Discovery and lists as of an honest server. */
function honest({ path }: { readonly path: string }): CountedAnswer {
  if (isList(path)) return { status: 200, body: JSON.parse(listText(mapText('a', '{}'))) };
  if (path === '/api/v1') return { status: 200, body: { ...core, resources } };
  return { status: path.startsWith('/api') ? 200 : 404, body: group };
}

const bookmark = (version: string) =>
  JSON.stringify({ type: 'BOOKMARK', object: { metadata: { resourceVersion: version } } });
const event = (version: number, name = 'a') =>
  `{"type":"MODIFIED","object":${mapText(name, `{"version":"${version}"}`, version)}}`;

/** Runs for an hour; the requests by path. */
async function requestsInAnHour(script: CountedScript): Promise<ReadonlyMap<string, number>> {
  const { cluster, clock, requests } = countedCluster(script);
  const informers = kinds.map((kind) => cluster.acquire({ gvk: gvkOf('v1', kind) }));
  await clock.advance(hourMs);
  const counts = new Map<string, number>();
  for (const { path } of requests) counts.set(path, (counts.get(path) ?? 0) + 1);
  for (const informer of informers) informer.release();
  await cluster.close();
  return counts;
}

describe('attacks/storms: a server that answers without an end gets a request for each pause', () => {
  const cases: readonly (readonly [string, CountedScript])[] = [
    ['403 to everything', { answer: () => denied('no') }],
    [
      '403 to lists, and to reviews of rights',
      {
        answer: (request) =>
          isList(request.path)
            ? deniedRight('list', request.path)
            : request.path.includes('selfsubject')
              ? denied('no')
              : honest(request),
      },
    ],
    [
      '403 to lists, and reviews that allow them',
      {
        answer: (request) =>
          isList(request.path)
            ? deniedRight('list', request.path)
            : request.path.includes('selfsubject')
              ? { status: 201, body: { status: { allowed: true } } }
              : honest(request),
      },
    ],
    ['403 to watches', { answer: honest, watch: ({ path }) => deniedRight('watch', path) }],
    ['watches that end at once', { answer: honest, watch: () => ({ lines: [], lastsMs: 0 }) }],
    [
      'watches that end after a bookmark',
      { answer: honest, watch: () => ({ lines: [bookmark('7')], lastsMs: 0 }) },
    ],
    [
      'watches that end after an event of an unknown type',
      { answer: honest, watch: () => ({ lines: ['{"type":"NOTHING"}'], lastsMs: 0 }) },
    ],
    [
      'watches that end after a bookmark of the far future',
      { answer: honest, watch: () => ({ lines: [bookmark('9'.repeat(60))], lastsMs: 0 }) },
    ],
    [
      'watches that end after an event, with versions that grow',
      {
        answer: honest,
        watch: ({ query }) => ({
          lines: [event(Number(query.resourceVersion) + 1)],
          lastsMs: 0,
        }),
      },
    ],
    [
      'watches with an event and a line that is none',
      { answer: honest, watch: () => ({ lines: [event(8), 'nothing'] }) },
    ],
    ['410 to watches', { answer: honest, watch: () => ({ status: 410, body: expired }) }],
    [
      '410 after an event of each watch',
      {
        answer: honest,
        watch: () => ({ lines: [event(8), JSON.stringify({ type: 'ERROR', object: expired })] }),
      },
    ],
    [
      'pages whose token has always expired',
      {
        answer: (request) => {
          if (!isList(request.path)) return honest(request);
          if (request.query.continue !== undefined || request.query.limit === undefined)
            return { status: 410, body: expired };
          const page = JSON.parse(listText(mapText('a', '{}')));
          page.metadata.continue = 'token';
          return { status: 200, body: page };
        },
      },
    ],
  ];
  for (const [what, script] of cases)
    test(what, async () => {
      const counts = await requestsInAnHour(script);
      for (const [path, count] of counts)
        assert.ok(count <= maxInAnHour, `${path}: ${count} requests`);
      assert.ok(counts.size > 0);
    });
});

describe('attacks/storms: versions of watches that do not grow', () => {
  test('a watch continues after the newest version that it had, and objects do not become older', async () => {
    const versions: unknown[] = [];
    const { cluster, clock, lost } = countedCluster({
      answer: honest,
      watch: ({ query }) => {
        versions.push(query.resourceVersion);
        const lines = [event(12), bookmark('14'), bookmark('9'), event(11), event(13, 'b')];
        return { lines, lastsMs: 300_000, repeats: bookmark('9') };
      },
    });
    const informer = cluster.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
    await clock.advance(301_000);
    assert.deepEqual(versions, ['7', '14']);
    assert.equal(informer.get('default', 'a')?.object.metadata.resourceVersion, '12');
    assert.deepEqual(lost, []);
    informer.release();
    await cluster.close();
  });

  test('after a bookmark of the far future, an older list is a restored server', async () => {
    const { cluster, clock, lost } = countedCluster({
      answer: honest,
      watch: () => ({ lines: [bookmark('9'.repeat(60))], lastsMs: 2_000 }),
    });
    const informer = cluster.acquire({ gvk: gvkOf('v1', 'ConfigMap') });
    await clock.advance(1_000);
    assert.deepEqual(lost, []);
    await clock.advance(2_000);
    assert.deepEqual(lost, ['restored']);
    assert.equal(informer.get('default', 'a')?.object.metadata.resourceVersion, '7');
    informer.release();
    await cluster.close();
  });
});

describe('attacks/storms: a hub that rejects requests for an hour', () => {
  const definition = thingDefinition(
    'stormy',
    `  children:
    - id: map
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-map" }, data: { text: "\${ spec.text }" } }
`,
  );
  const names = ['a', 'b', 'c'];
  const mapPath = (name: string) => `/api/v1/namespaces/default/configmaps/${name}-map`;
  const textOf = (object: unknown) =>
    (object as { data?: { text?: string } } | undefined)?.data?.text;
  const isWrite = ({ method }: ApiRequest) => method !== 'GET';

  for (const [what, isHit] of [
    ['everything', () => true],
    ['writes', isWrite],
    ['reads', (request: ApiRequest) => !isWrite(request)],
    ['writes of children', ({ path }: ApiRequest) => path.includes('configmaps')],
    ['writes of the status', ({ path }: ApiRequest) => path.endsWith('/status')],
  ] as const)
    test(`403 to ${what}: a request for each pause, and all is well afterwards`, async () => {
      const hub = await startStormHub(definition);
      await hub.until(() =>
        hub.runtime.view.definitions.some(({ state }) => state.kind === 'running'),
      );
      for (const name of names) await hub.apply(thing('stormy', 'default', { text: 'one' }, name));
      await hub.until(async () => textOf(await hub.read(mapPath('c'))) === 'one');
      const counts = hub.begin((request) =>
        isHit(request) ? { status: 403, message: 'no' } : undefined,
      );
      for (const name of names) await hub.apply(thing('stormy', 'default', { text: 'two' }, name));
      await hub.remove(mapPath('a'));
      await hub.clock.advance(hourMs);
      for (const [request, count] of counts)
        assert.ok(count <= maxInAnHour, `${request}: ${count} requests`);
      assert.ok(counts.size > 0);
      hub.end();
      for (const name of names)
        await hub.until(async () => textOf(await hub.read(mapPath(name))) === 'two');
      assert.ok(await hub.read(thingPath('stormy', 'default', 'a')));
      await hub.close();
    });
});
