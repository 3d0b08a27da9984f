import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, statusOf } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';

const shared = useControlPlane({ audit: true });
const startHomeostat = useHomeostat(shared);

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const applyType = 'application/apply-patch+yaml';
const schema = `
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { size: { type: string, default: small } } }
              status: { type: object, properties: { size: { type: string } } }`;

interface Versions {
  readonly old: 'stored' | 'served' | 'unserved' | 'removed';
  /** What the child says besides the size. */
  readonly text?: string;
  /** More fields of `spec`, in YAML. @default none */
  readonly more?: string;
}

/** A kind `Bucket` of which version v1alpha1 is replaced by v1beta1. */
function buckets(name: string, { old, text = 'one', more = '' }: Versions): string {
  const oldVersion = `
      - name: v1alpha1
        served: ${old !== 'unserved'}
        storage: ${old === 'stored'}
        schema:${schema}`;
  const newVersion = `
      - name: v1beta1
        served: true
        storage: true
        schema:${schema}`;
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${name}.example.com
    names: { kind: Bucket, plural: buckets }
    scope: Namespaced
    versions:${old === 'removed' ? '' : oldVersion}${old === 'stored' ? '' : newVersion}
  children:
    - id: shown
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "${text} \${ spec.size }" }
  status: { size: "${text} \${ spec.size }" }
${more}`;
}

function bucket(group: string, name: string, size: string): KubeObject {
  const apiVersion = `${group}.example.com/v1alpha1`;
  return { apiVersion, kind: 'Bucket', metadata: { name }, spec: { size } } as KubeObject;
}

/** The entries of `managedFields`, without their times and fields: `maker Update v1 spec`. */
function managersOf(object: KubeObject | undefined): readonly string[] {
  const { managedFields = [] } = (object?.metadata ?? {}) as { managedFields?: JsonObject[] };
  return managedFields
    .map(({ manager, operation, apiVersion, fieldsV1 }) => {
      const fields = Object.keys(isJsonObject(fieldsV1) ? fieldsV1 : {}).map((key) => key.slice(2));
      return [manager, operation, String(apiVersion).split('/')[1], ...fields.sort()].join(' ');
    })
    .sort();
}

const ownStatus = (name: string) => `homeostat/${name}.status Apply v1beta1 status`;

/** A bucket that a client created in v1alpha1, and of which another one applies fields in it. */
async function writeOld(client: PlaneClient, group: string, path: string, name: string) {
  const object = bucket(group, name, 'large');
  await client.create(`${path}?fieldManager=maker`, object);
  await client.must({
    method: 'PATCH',
    path: `${path}/${name}?fieldManager=gitops`,
    body: { ...object, spec: { size: 'large' } },
    contentType: applyType,
  });
}

async function untilVersions(client: PlaneClient, group: string, versions: RegExp): Promise<void> {
  const textOf = (crd: KubeObject | undefined) => {
    const { spec, status } = (crd ?? {}) as { spec?: JsonObject; status?: JsonObject };
    const listed = (spec?.versions as JsonObject[] | undefined)?.map(
      ({ name, served }) => `${name}${served === true ? '' : ' unserved'}`,
    );
    return `${listed?.join()} stored ${(status?.storedVersions as string[] | undefined)?.join()}`;
  };
  await client.untilObject(`${crds}/buckets.${group}.example.com`, (crd) =>
    versions.test(textOf(crd)),
  );
}

shared.describe('integration/removed-version', () => {
  test('fields of a version get another one before it is removed, in all namespaces, and the status follows', async () => {
    const client = shared.client();
    const group = 'leaving';
    const homeostat = await startHomeostat({ 'a.yaml': buckets(group, { old: 'stored' }) });
    await untilVersions(client, group, /^v1alpha1 stored v1alpha1$/);
    const namespaces = [await shared.namespace(), await shared.namespace()];
    const pathIn = (namespace: string, version: string) =>
      `/apis/${group}.example.com/${version}/namespaces/${namespace}/buckets`;
    for (const namespace of namespaces)
      await writeOld(client, group, pathIn(namespace, 'v1alpha1'), 'photos');

    homeostat.write('a.yaml', buckets(group, { old: 'served' }));
    await untilVersions(client, group, /^v1alpha1,v1beta1 stored v1beta1$/);
    homeostat.write('a.yaml', buckets(group, { old: 'unserved' }));
    await untilVersions(client, group, /^v1alpha1 unserved,v1beta1/);
    homeostat.write('a.yaml', buckets(group, { old: 'removed' }));
    await untilVersions(client, group, /^v1beta1 stored v1beta1$/);
    homeostat.write('a.yaml', buckets(group, { old: 'removed', text: 'two' }));

    for (const namespace of namespaces) {
      const found = await client.untilObject(
        `${pathIn(namespace, 'v1beta1')}/photos`,
        (object) => statusOf(object ?? bucket('', '', '')).size === 'two large',
      );
      assert.deepEqual(managersOf(found), [
        'gitops Apply v1beta1 spec',
        ownStatus(group),
        'maker Update v1beta1 spec',
      ]);
      assert.equal(conditionOf(found)?.status, 'True');
    }
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(2_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
  });

  test('where another client has removed the version, the next status renames the fields, and their owners keep them', async () => {
    const client = shared.client();
    const group = 'broken';
    const namespace = await shared.namespace();
    const pathOf = (version: string) =>
      `/apis/${group}.example.com/${version}/namespaces/${namespace}/buckets`;
    const first = await startHomeostat({ 'a.yaml': buckets(group, { old: 'served' }) });
    await untilVersions(client, group, /^v1alpha1,v1beta1 stored v1beta1$/);
    await writeOld(client, group, pathOf('v1alpha1'), 'photos');
    await client.untilObject(
      `${pathOf('v1beta1')}/photos`,
      (object) => conditionOf(object)?.status === 'True',
    );
    await first.stop();
    await removeOld(client, `buckets.${group}.example.com`);
    const before = await client.get(`${pathOf('v1beta1')}/photos`);
    assert.match(managersOf(before).join(), /v1alpha1/);

    await startHomeostat({ 'a.yaml': buckets(group, { old: 'removed', text: 'two' }) });
    const after = await client.untilObject(
      `${pathOf('v1beta1')}/photos`,
      (object) => statusOf(object ?? bucket('', '', '')).size === 'two large',
    );
    assert.deepEqual(managersOf(after), [
      'gitops Apply v1beta1 spec',
      ownStatus(group),
      'maker Update v1beta1 spec',
    ]);
  });

  /** A bucket with fields of other clients in v1alpha1, of a definition that has been stopped; another client has removed that version. */
  async function brokenBucket(group: string) {
    const client = shared.client();
    const namespace = await shared.namespace();
    const pathOf = (version: string) =>
      `/apis/${group}.example.com/${version}/namespaces/${namespace}/buckets`;
    const first = await startHomeostat({ 'a.yaml': buckets(group, { old: 'served' }) });
    await untilVersions(client, group, /^v1alpha1,v1beta1 stored v1beta1$/);
    await writeOld(client, group, pathOf('v1alpha1'), 'photos');
    const path = `${pathOf('v1beta1')}/photos`;
    await client.untilObject(path, (object) => conditionOf(object)?.status === 'True');
    assert.equal(await first.stop(), 0);
    const status = { status: { size: 'frozen' } };
    await client.patch(`${path}/status?fieldManager=maker`, status);
    await removeOld(client, `buckets.${group}.example.com`);
    assert.match(managersOf(await client.get(path)).join(), /v1alpha1/);
    return { client, path };
  }

  test('a start with the same template repairs a status that is frozen, and the next one writes nothing', async () => {
    const { client, path } = await brokenBucket('frozen');
    const text = { 'a.yaml': buckets('frozen', { old: 'removed' }) };
    let homeostat = await startHomeostat(text);
    const after = await client.untilObject(path, (object) => statusOf(object).size === 'one large');
    assert.deepEqual(
      managersOf(after).filter((entry) => !entry.startsWith('homeostat/')),
      ['gitops Apply v1beta1 spec', 'maker Update v1beta1 spec'],
    );
    assert.doesNotMatch(managersOf(after).join(), /v1alpha1/);
    assert.equal(conditionOf(after)?.status, 'True');
    await shared.audit.quiet(2_000);
    const settled = await client.get(path);
    assert.equal(await homeostat.stop(), 0);
    homeostat = await startHomeostat(text);
    await shared.audit.quiet(2_000);
    const again = await client.get(path);
    assert.equal(again?.metadata.resourceVersion, settled?.metadata.resourceVersion);
    assert.equal(await homeostat.stop(), 0);
  });

  test('a finalizer is added by an apply, which renames the fields: their owners keep them', async () => {
    const { client, path } = await brokenBucket('finalized');
    const more = `  onDelete:
    children:
      - { id: last, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-last" } } }
`;
    await startHomeostat({ 'a.yaml': buckets('finalized', { old: 'removed', more }) });
    const after = await client.untilObject(
      path,
      (object) =>
        statusOf(object).size === 'one large' && object?.metadata.finalizers?.length === 1,
    );
    assert.deepEqual(
      managersOf(after).filter((entry) => !entry.startsWith('homeostat/')),
      ['gitops Apply v1beta1 spec', 'maker Update v1beta1 spec'],
    );
    assert.doesNotMatch(managersOf(after).join(), /v1alpha1/);
  });

  test('any other edit of metadata drops the owners of its fields; the values stay, and the status follows', async () => {
    const { client, path } = await brokenBucket('dropped');
    const annotations = { note: 'x' };
    await client.patch(`${path}?fieldManager=editor`, { metadata: { annotations } });
    const edited = await client.get(path);
    const others = /gitops|maker|v1alpha1/;
    assert.doesNotMatch(managersOf(edited).join(), others);
    assert.deepEqual(edited?.spec, { size: 'large' });
    await startHomeostat({ 'a.yaml': buckets('dropped', { old: 'removed' }) });
    const after = await client.untilObject(path, (object) => statusOf(object).size === 'one large');
    assert.ok(managersOf(after).includes(ownStatus('dropped')));
    assert.doesNotMatch(managersOf(after).join(), others);
    // The other clients own their fields again with their next write.
    await client.must({
      method: 'PATCH',
      path: `${path}?fieldManager=gitops&force=true`,
      body: { ...bucket('', 'photos', 'small'), apiVersion: 'dropped.example.com/v1beta1' },
      contentType: applyType,
    });
    const owned = await client.untilObject(
      path,
      (object) => statusOf(object).size === 'one small' && conditionOf(object)?.status === 'True',
    );
    assert.match(managersOf(owned).join('\n'), /^gitops Apply v1beta1 spec$/m);
  });

  test('a child of which others have removed a version is applied', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    const version = (name: string) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', properties: { size: { type: 'string' } } } },
        },
      },
    });
    await client.installCrd({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'disks.foreign.example.com' },
      spec: {
        group: 'foreign.example.com',
        names: { kind: 'Disk', plural: 'disks' },
        scope: 'Namespaced',
        versions: [version('v1alpha1'), version('v1')],
      },
    } as KubeObject);
    await startHomeostat({
      'a.yaml': buckets('owner', { old: 'removed' }).replace(
        /apiVersion: v1\n( *)kind: ConfigMap\n([^\n]*)\n.*\n/,
        'apiVersion: foreign.example.com/v1\n$1kind: Disk\n$2\n$1spec: { size: "${ spec.size }" }\n',
      ),
    });
    const path = `/apis/owner.example.com/v1beta1/namespaces/${namespace}/buckets`;
    const disk = (version: string) =>
      `/apis/foreign.example.com/${version}/namespaces/${namespace}/disks/photos`;
    await client.create(path, {
      ...bucket('', 'photos', 'small'),
      apiVersion: 'owner.example.com/v1beta1',
    });
    const isSize = (size: string) => (object: KubeObject | undefined) =>
      (object?.spec as JsonObject | undefined)?.size === size;
    await client.untilObject(disk('v1'), isSize('small'));
    await client.patch(`${disk('v1alpha1')}?fieldManager=maker`, {
      metadata: { labels: { a: 'b' } },
    });
    await removeOld(client, 'disks.foreign.example.com');

    await client.patch(`${path}/photos`, { spec: { size: 'large' } });
    const applied = await client.untilObject(disk('v1'), isSize('large'));
    assert.deepEqual(managersOf(applied), [
      'homeostat/owner Apply v1 metadata spec',
      'maker Update v1 metadata',
    ]);
    const ready = (object: KubeObject | undefined) => conditionOf(object)?.status === 'True';
    await client.untilObject(`${path}/photos`, ready);
  });
});

/** Takes v1alpha1 out of a CRD, and waits until it is not served. */
async function removeOld(client: PlaneClient, name: string): Promise<void> {
  const crd = await client.get(`${crds}/${name}`);
  const { group, names, versions } = (crd?.spec ?? {}) as {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly JsonObject[];
  };
  const kept = versions.filter((version) => version.name !== 'v1alpha1');
  await client.patch(`${crds}/${name}`, { spec: { versions: kept } });
  const old = { method: 'GET', path: `/apis/${group}/v1alpha1/${names.plural}` };
  while ((await client.request(old)).status !== 404) await client.sleep(50);
}
