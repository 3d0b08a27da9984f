import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { type AuditEntry, isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

const definitionsPath = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const definitionPath = (name: string) => `${definitionsPath}/${name}`;
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crdPath = (name: string) => `${crds}/things.${name}.example.com`;
const definitionsCrd = `${crds}/operatordefinitions.homeostat.dev`;
const definitionFinalizer = 'homeostat.dev/definition';

const map = (id: string, more = '') => `
    - id: ${id}
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-${id}"${more}
        data: { text: "\${ $string(spec.size) }" }`;

const near = map('near', ' }');
/** Without an owner reference: it needs our finalizer on the resource. */
const far = `${map('far', ', namespace: default }')}
      crossNamespace: true`;
const guarded = `${map('guarded', ' }')}
      deleteWhen: "\${ $child.metadata.labels.go = 'yes' }"`;

interface Text {
  readonly children?: string;
  readonly more?: string;
}

function definition(name: string, { children = near + far, more = '' }: Text = {}): KubeObject {
  return parseYaml(thingDefinition(name, `  children:${children}\n${more}`)) as KubeObject;
}

const abandoned = { metadata: { annotations: { 'homeostat.dev/abandon': 'true' } } };
const removesChildren = '  removalPolicy: Delete\n';
const removesCrd = '  crdPolicy: { deletion: Delete }\n';

shared.describe('integration/definition-removal', () => {
  let homeostat: HomeostatRuntime;
  before(async () => {
    homeostat = await begin();
    await shared.client().untilObject(definitionsCrd, isEstablished);
    await shared.client().untilList(definitionsPath, () => true);
  });

  async function begin(
    definitions: Readonly<Record<string, string>> = {},
    flags: readonly string[] = [],
  ) {
    const process = launch({
      definitions: { 'none.txt': '', ...definitions },
      flags: ['--sources', 'directories,configmaps,objects', ...flags],
    });
    await process.whenLogged('Starting');
    return process;
  }

  /** The definition at work, with resources `a` and `b`, which have their children. */
  async function withResources(object: KubeObject) {
    const { name } = object.metadata;
    const namespace = await shared.namespace();
    const client = shared.client();
    await client.apply(object);
    await client.untilObject(crdPath(name), isEstablished);
    for (const each of ['a', 'b'])
      await client.apply(thing(name, namespace, { size: 1 }, `${name}-${each}`));
    const path = (each: string) => thingPath(name, namespace, `${name}-${each}`);
    for (const each of ['a', 'b'])
      await client.untilObject(path(each), (found) => conditionOf(found)?.status === 'True');
    const maps = async (where = namespace) =>
      (await client.list(`/api/v1/namespaces/${where}/configmaps`))
        .map(({ metadata }) => metadata.name)
        .filter((each) => each.startsWith(`${name}-`))
        .toSorted();
    return { name, namespace, client, path, maps };
  }

  const untilMarked = (name: string) =>
    shared
      .client()
      .untilObject(
        definitionPath(name),
        (object) => object?.metadata.finalizers?.includes(definitionFinalizer) === true,
      );

  /** A definition with a patch of the deletion, its resources `a` and `b`, and the target, which has the name of the definition. */
  async function withFarewell(name: string, more: string) {
    const farewell = `  patches:
    - id: farewell
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: ${name} }
      patch: { data: { "\${ metadata.name }": "\${ children.near.data.text }" } }
`;
    const object = definition(name, { children: near, more: farewell + more });
    const found = await withResources(object);
    const { client, namespace } = found;
    await client.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace } });
    await untilMarked(name);
    return found;
  }

  test('with removalPolicy Delete the children of all resources go; the resources and the CRD stay', async () => {
    const object = definition('children', { more: removesChildren });
    const { name, client, path, maps } = await withResources(object);
    assert.deepEqual(await maps(), ['children-a-near', 'children-b-near']);
    assert.deepEqual(await maps('default'), ['children-a-far', 'children-b-far']);
    await untilMarked(name);
    await client.delete(definitionPath(name));
    await client.untilGone(definitionPath(name));
    assert.deepEqual([...(await maps()), ...(await maps('default'))], []);
    for (const each of ['a', 'b']) {
      const resource = await client.get(path(each));
      assert.equal(resource?.metadata.deletionTimestamp, undefined);
      assert.deepEqual(resource?.metadata.finalizers ?? [], []);
      const ready = conditionOf(resource);
      assert.deepEqual([ready?.status, ready?.reason], ['False', 'Terminating']);
    }
    assert.ok(isEstablished(await client.get(crdPath(name))));

    // The definition comes back and takes up what it finds.
    await client.apply(definition('children'));
    await client.untilObject(path('a'), (found) => conditionOf(found)?.status === 'True');
    assert.ok((await maps()).includes('children-a-near'));
  });

  test('with crdPolicy.deletion Delete the CRD is deleted with all resources, onDelete first', async () => {
    const onDelete = `  onDelete:
    children:
      - id: backup
        template:
          apiVersion: v1
          kind: ConfigMap
          metadata: { name: "\${ metadata.name }-backup" }
`;
    const object = definition('kind', { more: removesCrd + onDelete });
    const { name, client, path, maps } = await withResources(object);
    await untilMarked(name);
    const mark = shared.audit.mark();
    await client.delete(definitionPath(name));
    await client.untilGone(definitionPath(name));
    assert.equal(await client.get(crdPath(name)), undefined);
    assert.equal(await client.get(path('a')), undefined);
    assert.deepEqual([...(await maps()), ...(await maps('default'))], []);
    await shared.audit.untilSeen(
      (entries) =>
        ['kind-a-backup', 'kind-b-backup'].every((made) =>
          entries.some(({ name: what, verb }) => what === made && verb === 'patch'),
        ),
      { since: mark },
    );
  });

  test('both go, children under their guards; a process that is killed on the way is followed by another that continues', async () => {
    const children = near + far + guarded;
    const both = removesChildren + removesCrd;
    const { name, namespace, client, path, maps } = await withResources(
      definition('both', { children, more: both }),
    );
    await untilMarked(name);
    await client.delete(definitionPath(name));
    const reported = await client.untilObject(
      definitionPath(name),
      (object) => conditionOf(object)?.reason === 'Terminating',
    );
    assert.equal(conditionOf(reported)?.status, 'False');
    for (const each of ['a', 'b'])
      await client.untilObject(path(each), (object) =>
        /deleteWhen|guarded/.test(conditionOf(object)?.message ?? ''),
      );
    await homeostat.stop('SIGKILL');
    assert.deepEqual(await maps(), ['both-a-guarded', 'both-b-guarded']);
    homeostat = await begin();
    await homeostat.whenLogged('Uninstalling definition');
    for (const each of ['a', 'b'])
      await client.patch(`/api/v1/namespaces/${namespace}/configmaps/both-${each}-guarded`, {
        metadata: { labels: { go: 'yes' } },
      });
    await client.untilGone(definitionPath(name));
    assert.equal(await client.get(crdPath(name)), undefined);
    assert.deepEqual([...(await maps()), ...(await maps('default'))], []);
  });

  for (const [what, name, more] of [
    ['removalPolicy Delete', 'farewell', removesChildren],
    ['crdPolicy.deletion Delete', 'farewellkind', removesCrd],
    ['both', 'farewellboth', removesChildren + removesCrd],
  ] as const)
    test(`with ${what} the patches of the deletion are sent once, before the children go`, async () => {
      const { namespace, client } = await withFarewell(name, more);
      const mark = shared.audit.mark();
      await client.delete(definitionPath(name));
      await client.untilGone(definitionPath(name));
      const path = `/api/v1/namespaces/${namespace}/configmaps/${name}`;
      const board = await client.get(path);
      assert.deepEqual(board?.data, { [`${name}-a`]: '1', [`${name}-b`]: '1' });
      const writesOf = (entries: readonly AuditEntry[]) =>
        entries.filter(
          (each) => each.verb === 'patch' && each.resource === 'configmaps' && each.name === name,
        );
      await shared.audit.untilSeen((entries) => writesOf(entries).length >= 2, { since: mark });
      assert.equal(writesOf(shared.audit.entries({ since: mark })).length, 2);
    });

  test('with Retain the patches of the deletion are not sent: a resource that is deleted waits for the definition, or is skipped', async () => {
    const name = 'farewellkept';
    const { namespace, client, path } = await withFarewell(name, '');
    await client.delete(definitionPath(name));
    await client.untilObject(definitionPath(name), (object) =>
      /^2 resources have its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    for (const each of ['a', 'b']) {
      await client.delete(path(each));
      const held = await client.untilObject(
        path(each),
        (object) => conditionOf(object)?.reason === 'DefinitionBroken',
      );
      assert.match(conditionOf(held)?.message ?? '', /"at: Deletion"/);
    }
    await client.patch(path('a'), {
      metadata: { annotations: { 'homeostat.dev/skip-on-delete': 'true' } },
    });
    await client.untilGone(path('a'));
    await client.patch(definitionPath(name), abandoned);
    await client.untilGone(definitionPath(name));
    await client.untilGone(path('b'));
    const board = await client.get(`/api/v1/namespaces/${namespace}/configmaps/${name}`);
    assert.equal(board?.data, undefined);
  });

  test('without a word of Delete everything stays, and the object waits for resources that are still to be released', async () => {
    const { name, client, path, maps } = await withResources(definition('kept'));
    await untilMarked(name);
    await client.delete(definitionPath(name));
    const waiting = await client.untilObject(definitionPath(name), (object) =>
      /^2 resources have its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    assert.equal(conditionOf(waiting)?.reason, 'Terminating');
    // Its resources are not stranded behind our finalizer.
    await client.delete(path('b'));
    await client.untilGone(path('b'));
    assert.deepEqual(await maps('default'), ['kept-a-far']);
    await client.patch(definitionPath(name), abandoned);
    await client.untilGone(definitionPath(name));
    assert.deepEqual((await client.get(path('a')))?.metadata.finalizers ?? [], []);
    assert.deepEqual(await maps('default'), ['kept-a-far']);
    assert.ok(isEstablished(await client.get(crdPath(name))));
  });

  test('a file that vanishes takes nothing along, whatever it says', async () => {
    const both = removesChildren + removesCrd;
    const text = JSON.stringify(definition('file', { more: both }));
    const process = await begin({ 'file.yaml': text }, ['--runtime', 'second']);
    await process.whenLogged('Definition running');
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.untilObject(crdPath('file'), isEstablished);
    await client.apply(thing('file', namespace, { size: 1 }));
    const path = thingPath('file', namespace);
    await client.untilObject(path, (found) => conditionOf(found)?.status === 'True');
    const mirror = await client.untilObject(
      definitionPath('file'),
      (object) => object !== undefined,
    );
    // A published object that is deleted comes back.
    await client.delete(definitionPath('file'));
    await client.untilObject(
      definitionPath('file'),
      (object) => object !== undefined && object.metadata.uid !== mirror?.metadata.uid,
    );
    process.remove('file.yaml');
    await client.untilObject(definitionPath('file'), (object) =>
      /has its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    await client.patch(definitionPath('file'), abandoned);
    await client.untilGone(definitionPath('file'));
    assert.ok(isEstablished(await client.get(crdPath('file'))));
    assert.ok(await client.get(path));
    assert.ok(await client.get(`/api/v1/namespaces/${namespace}/configmaps/one-near`));
    await process.stop();
  });

  test('a definition of a kind of others that is gone when the next process starts leaves no finalizer', async () => {
    const client = shared.client();
    const [own, namespace] = [await shared.namespace(), await shared.namespace()];
    await client.installCrd(customKind({ group: 'lone.example.com', kind: 'Widget' }));
    const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: lone }
spec:
  for: { apiVersion: lone.example.com/v1, kind: Widget }
  children:
    - id: far
      crossNamespace: true
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }-far", namespace: default }
`;
    const flags = ['--namespace', own, '--runtime', 'lone'];
    const first = await begin({ 'lone.yaml': text }, flags);
    const path = `/apis/lone.example.com/v1/namespaces/${namespace}/widgets/lone`;
    await client.apply({
      apiVersion: 'lone.example.com/v1',
      kind: 'Widget',
      metadata: { name: 'lone', namespace },
    });
    await client.untilObject('/api/v1/namespaces/default/configmaps/lone-far', (object) =>
      Boolean(object),
    );
    await first.stop('SIGKILL');
    await client.delete(path);
    assert.ok((await client.get(path))?.metadata.finalizers?.length);
    const next = await begin({}, flags);
    await client.untilGone(path);
    await client.untilGone('/api/v1/namespaces/default/configmaps/lone-far');
    await client.delete(definitionPath('lone'));
    await client.untilGone(definitionPath('lone'));
    await next.stop();
  });

  test('objects of a kind of others lose their children and stay', async () => {
    const client = shared.client();
    const namespace = await shared.namespace();
    await client.installCrd(customKind({ group: 'shared.example.com', kind: 'Widget' }));
    const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: shared }
spec:
  for: { apiVersion: shared.example.com/v1, kind: Widget, selector: { matchLabels: { on: 'yes' } } }
  removalPolicy: Delete
  children:
    - id: near
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-near" } }
`;
    await client.apply(parseYaml(text) as KubeObject);
    const metadata = { name: 'one', namespace, labels: { on: 'yes' } };
    await client.apply({ apiVersion: 'shared.example.com/v1', kind: 'Widget', metadata });
    const child = `/api/v1/namespaces/${namespace}/configmaps/one-near`;
    await client.untilObject(child, (object) => object !== undefined);
    await untilMarked('shared');
    await client.delete(definitionPath('shared'));
    await client.untilGone(definitionPath('shared'));
    await client.untilGone(child);
    const path = `/apis/shared.example.com/v1/namespaces/${namespace}/widgets/one`;
    assert.deepEqual((await client.get(path))?.metadata.labels, { on: 'yes' });
  });

  test('a CRD that was taken over is never deleted, and its resources are not stranded', async () => {
    const client = shared.client();
    const spec = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const properties = { spec, status: spec };
    await client.installCrd(customKind({ group: 'taken.example.com', kind: 'Thing', properties }));
    const more = '  crdPolicy: { adopt: true, deletion: Delete }\n';
    const { name, path } = await withResources(definition('taken', { more }));
    await untilMarked(name);
    await client.delete(definitionPath(name));
    await homeostat.whenLogged('CustomResourceDefinition is kept');
    await client.untilObject(definitionPath(name), (object) =>
      /^2 resources have its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    await client.delete(path('b'));
    await client.untilGone(path('b'));
    await client.patch(definitionPath(name), abandoned);
    await client.untilGone(definitionPath(name));
    const crd = await client.get(crdPath(name));
    assert.equal(crd?.metadata.deletionTimestamp, undefined);
    assert.deepEqual((await client.get(path('a')))?.metadata.finalizers ?? [], []);
  });

  test('a definition whose CRD is gone already is deleted, too', async () => {
    const both = removesChildren + removesCrd;
    const { name, client } = await withResources(
      definition('late', { children: near, more: both }),
    );
    await untilMarked(name);
    await homeostat.stop('SIGKILL');
    await client.delete(definitionPath(name));
    await client.delete(crdPath(name));
    await client.untilGone(crdPath(name));
    homeostat = await begin();
    await client.untilGone(definitionPath(name));
    assert.equal(await client.get(crdPath(name)), undefined);
  });

  test('when the kind of all definitions is deleted everything stays', async () => {
    const both = removesChildren + removesCrd;
    const { name, client, path, maps } = await withResources(definition('all', { more: both }));
    await untilMarked(name);
    const before = await client.get(definitionsCrd);
    await client.delete(definitionsCrd);
    await client.untilObject(definitionPath(name), (object) =>
      /^2 resources have its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    for (const { metadata } of await client.list(definitionsPath))
      await client.patch(definitionPath(metadata.name), abandoned);
    await client.untilObject(definitionsCrd, (crd) => crd?.metadata.uid !== before?.metadata.uid);
    assert.ok(isEstablished(await client.get(crdPath(name))));
    assert.ok(await client.get(path('a')));
    assert.deepEqual(await maps(), ['all-a-near', 'all-b-near']);
  });

  test('everything stays also when no process runs, and the CRD is forced out of a deletion that hangs', async () => {
    const both = removesChildren + removesCrd;
    await shared.client().untilObject(definitionsCrd, isEstablished);
    await shared.client().untilList(definitionsPath, () => true);
    const { name, client, path, maps } = await withResources(definition('forced', { more: both }));
    await untilMarked(name);
    await homeostat.stop();
    await client.delete(definitionsCrd);
    await client.untilObject(
      definitionPath(name),
      (object) => object?.metadata.deletionTimestamp !== undefined,
    );
    await client.patch(definitionsCrd, { metadata: { finalizers: null } });
    await client.untilGone(definitionsCrd);
    // Times of objects are whole seconds: the kind that comes is younger than the object.
    await shared.audit.quiet(1_000);
    homeostat = await begin();
    await client.untilObject(definitionsCrd, isEstablished);
    await client.untilObject(definitionPath(name), (object) =>
      /^2 resources have its finalizer/.test(conditionOf(object)?.message ?? ''),
    );
    await client.patch(definitionPath(name), abandoned);
    await client.untilGone(definitionPath(name));
    assert.ok(isEstablished(await client.get(crdPath(name))));
    assert.ok(await client.get(path('a')));
    assert.deepEqual(await maps(), ['forced-a-near', 'forced-b-near']);
  });
});
