import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { BackendError, type ConsoleBackend, type ReconcileRecord } from '#web';
import {
  type RenderOptions,
  type SimulatedConsole,
  simulateConsole,
} from '../../support/console/simulated-console.ts';

const file = (name: string) => {
  const path = `operators/${name}.yaml`;
  return { file: path, text: readFileSync(path, 'utf8') };
};
const sample = (name: string) =>
  parseYaml(readFileSync(`operators/samples/${name}.yaml`, 'utf8')) as KubeObject;
const inDefault = (object: KubeObject): KubeObject => ({
  ...object,
  metadata: { namespace: 'default', ...object.metadata },
});
const site = '#/resources/web.example.com/v1/WebApp/default/site';
const deployment = 'node=Deployment%2Fdefault%2Fsite';

/** The text of a page: without marks and with single spaces. */
function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll(/\s+/g, ' ');
}

/** A backend with other answers. */
function changed(changes: Partial<ConsoleBackend>): NonNullable<RenderOptions['backend']> {
  return (backend) =>
    new Proxy(backend, {
      get: (target, name) => {
        const value = Reflect.get(changes, name) ?? Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
}

describe('unit/console/pages', () => {
  let app: SimulatedConsole;
  before(async () => {
    const samples = [sample('web-app'), sample('database')].map(inDefault);
    app = await simulateConsole([file('web-app'), file('database')], samples);
  });
  after(() => app.close());
  const textAt = async (hash: string, options?: RenderOptions) =>
    textOf(await app.render(hash, options));

  test('the overview has a row for each definition, with the ready resources and a link', async () => {
    const html = await app.render('#/');
    const text = textOf(html);
    assert.match(text, /database Database 1\/1 [0-9a-f]{10} \d+ s Ready/);
    assert.match(text, /web-app WebApp 1\/1 [0-9a-f]{10} \d+ s Ready/);
    assert.match(text, /Definitions 2 Resources 2 2 ready/);
    assert.match(text, /All resources are ready/);
    assert.match(html, /href="#\/definitions\/web-app"/);
  });

  test('the search leaves out what does not match', async () => {
    const text = await textAt('#/', { ui: { search: 'data' } });
    assert.match(text, /database Database/);
    assert.doesNotMatch(text, /web-app WebApp/);
    assert.match(
      await textAt('#/', { ui: { search: 'nothing' } }),
      /No definition matches "nothing"/,
    );
  });

  test('many kinds are a list to choose from, and only the lists of the chosen one are read', async () => {
    const files = Array.from({ length: 21 }, (_, at) => ({
      file: `operators/k${at}.yaml`,
      text: file('podset')
        .text.replace('name: podset', `name: k${at}`)
        .replace('kind: PodSet', `kind: Kind${at}`)
        .replace('plural: podsets', `plural: kind${at}s`)
        .replace('[ps]', `[k${at}]`),
    }));
    const many = await simulateConsole(files, []);
    try {
      const lists: string[] = [];
      const html = await many.render('#/resources?kind=Kind3', {
        backend: (backend) =>
          changed({
            request: (request, signal) => {
              lists.push(request.path);
              return backend.request(request, signal);
            },
          })(backend),
      });
      assert.match(html, /<option[^>]* selected[^>]*>Kind3<\/option>/);
      assert.equal(html.match(/<option/g)?.length, 22);
      const kinds = lists.filter((path) => path.includes('/kind'));
      assert.ok(kinds.length > 0 && kinds.every((path) => path.endsWith('/kind3s')), kinds.join());
    } finally {
      await many.close();
    }
  });

  test('the list of resources has a row for each, of one kind if the address names it', async () => {
    assert.match(
      await textAt('#/resources'),
      /Database default\/example .*WebApp default\/site Ready/,
    );
    const text = await textAt('#/resources?kind=WebApp');
    assert.match(text, /1 resource, 1 ready/);
    assert.doesNotMatch(text, /default\/example/);
    assert.match(await textAt('#/resources?only=not-ready'), /No resources/);
  });

  test('a definition has its graph and its source', async () => {
    const html = await app.render('#/definitions/web-app');
    const text = textOf(html);
    assert.match(text, /deployment Deployment/);
    assert.match(text, /when \$exists\(spec\.ingress\)/);
    assert.match(text, /1 apiVersion: homeostat\.dev\/v1alpha1/);
    assert.match(html, /<title>line \d+, when: \$exists\(spec\.ingress\)/);
  });

  for (const [tab, expected] of [
    ['source', /printed from the object in the cluster, no errors/],
    [
      'resources',
      /Versions of the kind .*v1 yes are written in it ● succeed v1alpha1 yes none is stored in it ● succeed .*Resources .*WebApp default\/site Ready/,
    ],
    ['rollout', /All resources have revision [0-9a-f]{10} \..*Conditions.*Accepted True/],
    ['rights', /deployments\.apps .*list, watch/],
    ['events', /Events/],
  ] as const)
    test(`the tab "${tab}" of a definition is complete`, async () => {
      assert.match(await textAt(`#/definitions/web-app?tab=${tab}`), expected);
    });

  test('a resource has its live tree, with the child that is not wanted and why', async () => {
    const html = await app.render(site);
    const text = textOf(html);
    for (const node of [/Deployment site .*2\/2 ready/, /ReplicaSet site-/, /Pod site-.*Running/])
      assert.match(text, node);
    assert.match(text, /HorizontalPodAutoscaler autoscaler .*Not wanted/);
    assert.match(html, /title="Its &quot;when&quot; is false"/);
    assert.match(text, /Timeline .*Ready is True/);
  });

  test('children are listed by their owner, and what controllers create for them by namespace', async () => {
    const lists = new Set<string>();
    const backend = changed({
      request: async (request, signal) => {
        const { limit, labelSelector = '' } = request.query ?? {};
        const selector = labelSelector.replace(/=.*/, '=UID');
        if (limit !== undefined) lists.add(`${request.path.replace(/.*\//, '')} ${selector}`);
        return app.service.request(request, signal);
      },
    });
    assert.match(await textAt(site, { backend }), /Deployment site .*2\/2 ready/);
    for (const list of [
      'deployments homeostat.dev/owner-uid=UID',
      'services homeostat.dev/owner-uid=UID',
      'replicasets ',
      'pods ',
    ])
      assert.ok(lists.has(list), `${list}: ${[...lists].join(', ')}`);
    assert.ok(!lists.has('deployments '), 'All Deployments are listed');
  });

  test('a narrow window shows the tree as a list', async () => {
    assert.match(await app.render(site, { isNarrow: true }), /<ul class="tree list">/);
  });

  test('a child has what is wanted, with the expressions and what they read', async () => {
    const text = await textAt(`${site}?${deployment}`);
    assert.match(
      text,
      /spec\.template\.spec\.containers\[name=.*\]\.image "nginx:1\.29" = "nginx:1\.29" homeostat\/web-app/,
    );
    assert.match(text, /spec\.replicas = 2/);
  });

  for (const [tab, expected] of [
    ['live', /apiVersion: apps\/v1 kind: Deployment/],
    ['differences', /The object is as wanted/],
    ['owners', /spec\.replicas 2 homeostat\/web-app/],
    ['events', /No Events|Reason/],
  ] as const)
    test(`the tab "${tab}" of a child is complete`, async () => {
      assert.match(await textAt(`${site}?${deployment}&detail=${tab}`), expected);
    });

  test('values of a Secret are masked', async () => {
    const secret = '#/resources/data.example.com/v1alpha1/Database/default/example';
    const { path } = await secretOf(app);
    const text = await textAt(`${secret}?node=${encodeURIComponent(path)}&detail=live`);
    assert.match(text, /The values are masked/);
    assert.match(text, /password: "\(masked, \d+ characters\)"/);
  });

  test('the editor starts with the resource as YAML, without status', async () => {
    const text = await textAt(`${site}?tab=edit`);
    assert.match(text, /What would happen/);
    assert.doesNotMatch(text, /childCounts/);
  });

  test('the page of expressions has an editor and examples', async () => {
    assert.match(
      await textAt(`${site}?tab=expressions`),
      /Expression .*Examples spec a field of the resource/,
    );
  });

  const record: ReconcileRecord = {
    number: 7,
    time: '2026-01-01T10:00:00.000Z',
    durationMs: 9.2,
    queuedMs: 3,
    trigger: {
      kind: 'event',
      text: 'Deployment default/site changed its status',
      objects: [{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'default', name: 'site' }],
    },
    revision: 'abcdef0123',
    children: [
      {
        id: 'deployment',
        kind: 'Deployment',
        apiVersion: 'apps/v1',
        namespace: 'default',
        name: 'site',
        verdict: 'applied',
        detail: 'spec.replicas',
        message: '',
        digest: 'd16e57d16e',
      },
      {
        id: 'autoscaler',
        kind: 'HorizontalPodAutoscaler',
        apiVersion: 'autoscaling/v2',
        namespace: 'default',
        name: '',
        verdict: 'waiting',
        detail: 'children.deployment',
        message: 'Waits for the Deployment',
        digest: '',
      },
    ],
    requests: [
      { verb: 'apply', object: 'Deployment default/site', code: 200, durationMs: 6 },
      { verb: 'apply', object: 'WebApp default/site/status', code: 409, durationMs: 2.5 },
    ],
    phases: [
      { name: 'reads', durationMs: 1 },
      { name: 'children', durationMs: 7 },
    ],
    status: 'failed',
    isReady: false,
    end: 'error',
    reason: 'conflict',
  };
  /** A home that records reconciles. */
  const recording = (changes: Partial<ConsoleBackend> = {}) =>
    changed({
      info: async (signal) => ({ ...(await app.service.info(signal)), hasRecords: true }),
      async *reconciles() {
        yield record;
      },
      async *queues() {
        yield { 'web-app': 12 };
      },
      ...changes,
    });

  test('the timeline lists reconciles with their cause, result and time', async () => {
    const text = await textAt(site, { backend: recording() });
    assert.match(
      text,
      /Reconciles Time Caused by .* Deployment default\/site changed its status Deployment applied, HorizontalPodAutoscaler waiting: Waits for the Deployment, failed: conflict failed 2 9\.2 ms/,
    );
    assert.doesNotMatch(text, /Timeline/);
  });

  test('a selected reconcile has its children, requests and phases, and marks what it changed', async () => {
    const html = await app.render(`${site}?reconcile=7`, { backend: recording() });
    const text = textOf(html);
    assert.match(text, /Time 9\.2 ms \(reads 1 ms, children 7 ms\) , after 3 ms in the queue/);
    assert.match(text, /Runs again error: conflict/);
    assert.match(text, /Deployment site ● applied spec\.replicas d16e57d16e/);
    assert.match(text, /autoscaler ▲ waiting children\.deployment: Waits for the Deployment -/);
    assert.match(text, /apply Deployment default\/site ● 200 6 ms/);
    assert.match(text, /apply WebApp default\/site\/status ✕ 409 2\.5 ms/);
    assert.match(html, /class="node [^"]*touched"/);
  });

  test('records that cannot be read any more are marked, and known ones stay', async () => {
    const backend = recording({
      async *reconciles() {
        yield record;
        throw new BackendError('unreachable', 'The runtime does not respond');
      },
    });
    const text = await textAt(site, { backend });
    assert.match(text, /The reconciles may be out of date: The runtime does not respond/);
    assert.match(text, /Deployment default\/site changed its status/);
  });

  test('without a reconcile and without records, the page says why', async () => {
    const none = recording({ async *reconciles() {} });
    assert.match(await textAt(site, { backend: none }), /No reconcile is recorded/);
    const problem = 'There is no Secret with a token';
    const text = await textAt(site, { info: { hasRecords: false, recordsProblem: problem } });
    assert.match(text, /Timeline There is no Secret with a token/);
  });

  test('the overview has the work queue of each definition where it is known', async () => {
    const text = await textAt('#/', { backend: recording() });
    assert.match(text, /Queue/);
    assert.match(text, /web-app WebApp 1\/1 12 /);
    assert.match(text, /database Database 1\/1 0 /);
    assert.doesNotMatch(await textAt('#/'), /Queue/);
  });

  test('without the kind Cluster there is no entry for clusters, and its page says why', async () => {
    assert.doesNotMatch(await textAt('#/'), /Clusters/);
    assert.match(
      await textAt('#/clusters'),
      /No member clusters The kind Cluster is not installed/,
    );
  });

  test('a read-only console has no action', async () => {
    const html = await app.render(site, { info: { canEdit: false } });
    assert.doesNotMatch(html, /Reconcile now|Pause|Delete this object/);
    assert.match(textOf(html), /read-only/);
  });

  test('versions that are tried, and a migration of resources, are shown with their progress', async () => {
    const version = { served: true, stored: true, storage: false, proven: false };
    const status = {
      versions: [
        { ...version, name: 'v1' },
        { ...version, name: 'v1beta1', stored: false, served: false },
        { ...version, name: 'v2', storage: true },
      ],
      migration: { version: 'v2', written: 12, total: 40 },
    };
    const backend = changed({
      request: async (request, signal) => {
        const answer = await app.service.request(request, signal);
        const { items } = (answer.body ?? {}) as { readonly items?: readonly KubeObject[] };
        if (!request.path.includes('operatordefinitions') || items === undefined) return answer;
        const withStatus = items.map((item) => ({
          ...item,
          status: { ...(item.status as object), ...status },
        }));
        return { ...answer, body: { ...(answer.body as object), items: withStatus } };
      },
    });
    assert.match(
      await textAt('#/definitions/web-app?tab=resources', { backend }),
      /12 of 40 resources are stored in v2 .*v1 yes may still be stored in it \S are tried v1beta1 no none is stored in it \S not tried v2 yes are written in it \S are tried/,
    );
  });

  test('what does not exist is said, with a way back', async () => {
    assert.match(await textAt('#/definitions/none'), /There is no definition "none"/);
    assert.match(
      await textAt('#/resources/web.example.com/v1/WebApp/default/none'),
      /There is no WebApp "default\/none" All resources of kind WebApp/,
    );
    assert.match(await textAt('#/nonsense'), /There is no such page/);
  });

  const forbidden = changed({
    request: async (request, signal) =>
      /operatordefinitions|webapps/.test(request.path)
        ? { status: 403, body: { message: 'webapps is forbidden' } }
        : app.service.request(request, signal),
  });

  test('a forbidden list names the right that is missing', async () => {
    for (const hash of ['#/', '#/resources', '#/definitions/web-app', site])
      assert.match(
        await textAt(hash, { backend: forbidden }),
        /Not permitted to read .*forbidden.*Ask an administrator/,
        hash,
      );
  });

  test('a source that cannot be read is an error with a hint', async () => {
    const backend = changed({
      definition: () => Promise.reject(new BackendError('forbidden', 'configmaps is forbidden')),
    });
    assert.match(
      await textAt('#/definitions/web-app', { backend }),
      /Cannot read the source configmaps is forbidden Ask an administrator/,
    );
  });

  test('markup in names and messages is text', async () => {
    const html = await app.render('#/', {
      ui: {
        search: '<img src=x onerror=alert(1)>',
        notice: { isError: true, text: '<b>bold</b>' },
      },
    });
    assert.doesNotMatch(html, /<img|<b>/);
    assert.match(html, /&lt;b>bold/);
  });
});

async function secretOf({ service, drive }: SimulatedConsole): Promise<{ readonly path: string }> {
  const request = { method: 'GET', path: '/api/v1/namespaces/default/secrets' } as const;
  const { body } = await drive(service.request(request, new AbortController().signal));
  const [secret] = (body as { readonly items: readonly KubeObject[] }).items;
  assert.ok(secret);
  return { path: `Secret/default/${secret.metadata.name}` };
}
