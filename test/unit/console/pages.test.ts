import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { parseYaml } from '../../../src/definition/index.ts';
import type { KubeObject } from '../../../src/util/kube-object.ts';
import { BackendError, type ConsoleBackend } from '../../../src/web/index.ts';
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
const site = '#/resources/web.example.com/v1alpha1/WebApp/default/site';
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
    assert.match(text, /database Database 1\/1 [0-9a-f]{10} Ready/);
    assert.match(text, /web-app WebApp 1\/1 [0-9a-f]{10} Ready/);
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
    assert.match(text, /when \$exists\(spec\.host\)/);
    assert.match(text, /1 apiVersion: homeostat\.dev\/v1alpha1/);
    assert.match(html, /<title>line \d+, when: \$exists\(spec\.host\)/);
  });

  for (const [tab, expected] of [
    ['source', /printed from the object in the cluster, no errors/],
    ['resources', /WebApp default\/site Ready/],
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

  test('a narrow window shows the tree as a list', async () => {
    assert.match(await app.render(site, { isNarrow: true }), /<ul class="tree list">/);
  });

  test('a child has what is wanted, with the expressions and what they read', async () => {
    const text = await textAt(`${site}?${deployment}`);
    assert.match(
      text,
      /spec\.template\.spec\.containers\[name=.*\]\.image "nginx:1\.29" homeostat\/web-app/,
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

  test('a read-only console has no action', async () => {
    const html = await app.render(site, { info: { canEdit: false } });
    assert.doesNotMatch(html, /Reconcile now|Pause|Delete this object/);
    assert.match(textOf(html), /read-only/);
  });

  test('what does not exist is said, with a way back', async () => {
    assert.match(await textAt('#/definitions/none'), /There is no definition "none"/);
    assert.match(
      await textAt('#/resources/web.example.com/v1alpha1/WebApp/default/none'),
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
