import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type RecordSubject, recordManifest, seriesOf } from '#reconcile/history/record.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  statusOf,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { createRuntimeNamespace, useHomeostat } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const startHomeostat = useHomeostat(shared);

const configs = (history: string) =>
  `  reads:\n    - { id: configs, apiVersion: v1, kind: ConfigMap, selector: all, history: ${history} }\n`;
const shown =
  "  status: { versions: \"${ history.(name & ' ' & version & ' ' & reason & ' ' & object.data.a) }\" }\n";
const wanted =
  '  vars: { wanted: "${ history[name = $$.spec.back.name and version = $$.spec.back.to] }" }\n';
const restore = (target: string, patch: string) => `${wanted}  patches:
    - id: back
      when: \${ $exists(vars.wanted) }
      once: \${ spec.back }
      create: true
      crossNamespace: true
      target: { ${target}, name: "\${ vars.wanted.name }" }
      patch: ${patch}
`;

const definitions = {
  'roles.yaml': thingDefinition(
    'roles',
    `  reads:
    - { id: roles, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, selector: { matchLabels: { journal: "yes" } }, history: {} }
${restore(
  'apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole',
  '{ rules: "${ vars.wanted.object.rules }" }',
)}  status: { versions: "\${ history.(name & ' ' & version) }" }
`,
  ),
  'maps.yaml': thingDefinition(
    'maps',
    configs('{}') +
      restore('apiVersion: v1, kind: ConfigMap', '{ data: "${ vars.wanted.object.data }" }') +
      shown,
  ),
  'apps.yaml': thingDefinition(
    'apps',
    `  reads:
    - { id: apps, apiVersion: apps/v1, kind: Deployment, selector: all, history: {} }
${restore(
  'apiVersion: "${ vars.wanted.apiVersion }", kind: "${ vars.wanted.kind }", namespace: "${ vars.wanted.namespace }"',
  '"${ vars.wanted.object }"',
).replace(
  '      crossNamespace: true\n',
  '',
)}  status: { versions: "\${ history.(name & ' ' & version) }" }
`,
  ),
  'full.yaml': thingDefinition(
    'full',
    configs('{}').replace('selector: all', 'selector: all, namespaces: "*", crossNamespace: true') +
      shown,
  ),
  'keys.yaml': thingDefinition(
    'keys',
    `  controller: { namespaces: { include: [homeostat-system] } }
  reads:
    - { id: named, apiVersion: v1, kind: Secret, name: "\${ spec.name }" }
    - { id: all, apiVersion: v1, kind: Secret, selector: all }
  children:
    - id: copy
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: copy }, data: { a: "\${ $string(reads.named.data) }" } }
  status: { versions: "\${ reads.all.metadata.name }" }
`,
  ),
  'keeper.yaml': thingDefinition(
    'keeper',
    `  controller: { namespaces: { include: [homeostat-system] } }
  patches:
    - { id: set, target: { apiVersion: v1, kind: Secret, name: "\${ spec.name }" }, patch: { data: { "9": "YQ==" } } }
`,
  ),
  'kept.yaml': thingDefinition('kept', configs('{ keep: 2 }') + shown),
};

const revisionsIn = (namespace: string, definition: string) =>
  `/apis/apps/v1/namespaces/${namespace}/controllerrevisions?labelSelector=homeostat.dev/recorded-by=${definition}`;

shared.describe('attacks/history: a version that Homeostat did not write does not exist', () => {
  let homeostat: HomeostatRuntime;

  before(async () => {
    await createRuntimeNamespace(shared);
    homeostat = await startHomeostat(definitions);
  });

  /** Writes a version as Homeostat would, with its labels and its field manager. */
  async function forge(
    definition: string,
    owner: KubeObject,
    {
      readId = 'configs',
      version = 1,
      state,
    }: { readId?: string; version?: number; state: KubeObject },
  ): Promise<KubeObject> {
    const { namespace, name } = state.metadata;
    const ownerUid = owner.metadata.uid ?? '';
    const subject: RecordSubject = { ownerUid, readId, namespace, name };
    const manifest = recordManifest({
      definition,
      owner: { key: '', uid: ownerUid, resource: owner },
      readId,
      version,
      state,
      uid: 'x',
      series: seriesOf(definition, subject),
      now: '1999-01-01T00:00:00.000Z',
      clusterNamespace: 'homeostat-system',
    });
    const { resourceVersion: _, ...metadata } = manifest.metadata;
    return await shared
      .client()
      .apply({ ...manifest, metadata }, { fieldManager: `homeostat/${definition}.history` });
  }

  const versionsAt = async (path: string) =>
    [statusOf(await shared.client().get(path)).versions ?? []].flat();

  const config = (namespace: string, a: string, name = 'app'): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { a },
  });

  async function setUp(definition: string, spec: object = {}) {
    const client = shared.client();
    const namespace = await client.createNamespace('victim');
    const evil = await client.createNamespace('evil');
    const path = thingPath(definition, namespace);
    await client.apply(thing(definition, namespace, spec));
    const owner = await client.untilObject(path, (each) => conditionOf(each)?.status === 'True');
    assert.ok(owner);
    const versions = () => versionsAt(path);
    return { client, namespace, evil, path, owner, versions };
  }

  test('one in a namespace is not restored into a cluster-scoped object', async () => {
    const { client, evil, path, owner, versions } = await setUp('roles');
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    const labels = { journal: 'yes' };
    await client.apply({ apiVersion, kind: 'ClusterRole', metadata: { name: 'viewer', labels } });
    const state = {
      apiVersion,
      kind: 'ClusterRole',
      rules,
      metadata: { name: 'viewer', namespace: evil, labels },
    };
    await forge('roles', owner, { readId: 'roles', state });
    await client.patch(path, { spec: { back: { name: 'viewer', to: 1 } } });
    await shared.audit.quiet(1_000);
    const role = await client.get(`/apis/${apiVersion}/clusterroles/viewer`);
    assert.deepEqual(role?.rules ?? [], []);
    assert.deepEqual(await versions(), []);
  });

  test('one of another namespace does not become the content of an object', async () => {
    const { client, namespace, evil, path, owner, versions } = await setUp('maps');
    await client.apply(config(namespace, 'good'));
    await client.untilList(revisionsIn(namespace, 'maps'), (found) => found.length === 1);
    await forge('maps', owner, { version: 7, state: config(evil, 'forged') });
    await client.patch(path, { spec: { back: { name: 'app', to: 7 } } });
    await shared.audit.quiet(1_000);
    assert.deepEqual((await client.get(`/api/v1/namespaces/${namespace}/configmaps/app`))?.data, {
      a: 'good',
    });
    assert.deepEqual(await versions(), []);
  });

  test('one of the own namespace gives nothing that its writer may not create', async () => {
    const { client, namespace, path, owner } = await setUp('apps');
    const state = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'mine', namespace },
      spec: {
        selector: { matchLabels: { app: 'mine' } },
        template: {
          metadata: { labels: { app: 'mine' } },
          spec: { containers: [{ name: 'main', image: 'evil' }] },
        },
      },
    };
    await forge('apps', owner, { readId: 'apps', state });
    // Of a deleted object the last version is listed, too.
    await forge('apps', owner, { readId: 'apps', version: 2, state });
    await client.patch(path, { spec: { back: { name: 'mine', to: 1 } } });
    await shared.audit.quiet(1_000);
    assert.equal(
      await client.get(`/apis/apps/v1/namespaces/${namespace}/deployments/mine`),
      undefined,
    );
  });

  test('many of one namespace do not take the room of another one', async () => {
    const { client, namespace, evil, owner } = await setUp('full');
    const text = 'x'.repeat(1_000_000);
    for (let index = 0; index < 70; index++)
      await forge('full', owner, { state: config(evil, text, `big-${index}`) });
    await client.apply(config(namespace, '1'));
    await client.untilList(revisionsIn(namespace, 'full'), (found) => found.length === 1);
    await client.apply(config(namespace, '2'));
    await client.untilList(revisionsIn(namespace, 'full'), (found) => found.length === 2);
  });

  test('a huge version does not switch "keep" off', async () => {
    const { client, namespace, path, owner } = await setUp('kept');
    await client.apply(config(namespace, '1'));
    await client.untilList(revisionsIn(namespace, 'kept'), (found) => found.length === 1);
    const state = config(namespace, 'forged');
    const forged = await forge('kept', owner, { version: 999_999_999_999_999, state });
    for (const value of ['2', '3', '4', '5']) {
      await client.apply(config(namespace, value));
      await client.untilList(revisionsIn(namespace, 'kept'), (found) =>
        found.some(({ data }) => JSON.stringify(data).includes(`"${value}"`)),
      );
    }
    await client.untilObject(
      path,
      (each) =>
        JSON.stringify(statusOf(each).versions) ===
        JSON.stringify(['app 3 Changed 3', 'app 4 Changed 4']),
    );
    const left = await client.list(revisionsIn(namespace, 'kept'));
    const own = left.filter(({ metadata }) => metadata.name !== forged.metadata.name);
    assert.equal(own.length, 3);
  });

  test('a version that was changed does not count, and a forged mark of a deletion deletes nothing', async () => {
    const { client, namespace, path } = await setUp('kept');
    const records = revisionsIn(namespace, 'kept');
    for (const value of ['1', '2']) {
      await client.apply(config(namespace, value));
      await client.untilList(records, (found) => found.length === Number(value));
    }
    const [first, second] = (await client.list(records)).toSorted(
      (one, other) => Number(one.revision) - Number(other.revision),
    );
    assert.ok(first && second);
    const annotate = (record: KubeObject, annotations: object) =>
      client.patch(
        `/apis/apps/v1/namespaces/${namespace}/controllerrevisions/${record.metadata.name}`,
        {
          metadata: { annotations },
        },
      );
    await annotate(second, {
      'homeostat.dev/deleted-at': '1999-01-01T00:00:00Z',
      'homeostat.dev/deleted-signature': second.metadata.annotations?.['homeostat.dev/signature'],
    });
    await shared.audit.quiet(1_000);
    assert.deepEqual(await versionsAt(path), ['app 1 Changed 1']);
    await annotate(first, { 'homeostat.dev/recorded-at': '1999-01-01T00:00:00Z' });
    await client.untilObject(path, (each) => [statusOf(each).versions ?? []].flat().length === 0);
    assert.equal((await client.list(records)).length, 2);
  });

  test('the keys can be neither read nor written by a definition', async () => {
    const client = shared.client();
    const name = 'homeostat-history-keys';
    await setUp('kept');
    const secret = `/api/v1/namespaces/homeostat-system/secrets/${name}`;
    const before = await client.untilObject(secret, (each) => each !== undefined);
    for (const definition of ['keys', 'keeper'] as const) {
      await client.apply(thing(definition, 'homeostat-system', { name }));
      await client.untilObject(thingPath(definition, 'homeostat-system'), (each) =>
        /belongs to the Homeostat runtime/.test(conditionOf(each)?.message ?? ''),
      );
    }
    assert.deepEqual(await versionsAt(thingPath('keys', 'homeostat-system')), []);
    assert.equal(
      await client.get('/api/v1/namespaces/homeostat-system/configmaps/copy'),
      undefined,
    );
    assert.deepEqual((await client.get(secret))?.data, before?.data);
    const texts = Object.values(before?.data ?? {}).map((text) => atob(String(text)));
    const log = JSON.stringify(homeostat.entries) + homeostat.errors;
    for (const text of texts) assert.ok(!log.includes(text) && !log.includes(btoa(text)));
  });

  test('versions of a resource that does not exist any more are deleted, also when they are written again', async () => {
    const { client, namespace, evil, path, owner } = await setUp('full');
    await client.apply(config(evil, '1'));
    const own = (found: readonly KubeObject[]) =>
      found.filter(
        ({ metadata }) => metadata.labels?.['homeostat.dev/record-of'] === owner.metadata.uid,
      );
    const records = revisionsIn(evil, 'full');
    const found = await client.untilList(records, (all) => own(all).length === 1);
    const [record] = own(found);
    assert.ok(record);
    await client.delete(path);
    await client.untilGone(path);
    await client.untilList(records, (all) => own(all).length === 0);
    const { labels, annotations, name } = record.metadata;
    await client.apply(
      {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        data: record.data,
        revision: record.revision,
        metadata: {
          name,
          namespace: evil,
          ...(labels && { labels }),
          ...(annotations && { annotations }),
        },
      },
      { fieldManager: 'homeostat/full.history' },
    );
    await client.untilList(records, (all) => own(all).length === 0);
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}`));
  });
});
