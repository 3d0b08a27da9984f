import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { definitionPath as pathOf, useDefinitionObjects } from '../support/definition-objects.ts';
import { conditionOf, customKind, statusOf, thing, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { installedMap, installing, installOf, isReady } from '../support/installing.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

const mapPath = (namespace: string, name: string) =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const removes = '  removalPolicy: Delete\n';
const textOf = (map: KubeObject | undefined) =>
  (map?.data as { readonly text?: string } | undefined)?.text;

shared.describe('integration/install', () => {
  const { apply, untilReady, untilReason, runtime, begin } = useDefinitionObjects(shared, launch);
  const untilMap = (namespace: string, name: string, text = 'one') =>
    shared.client().untilObject(mapPath(namespace, name), (map) => textOf(map) === text);
  const untilGone = (path: string) =>
    shared.client().untilObject(path, (each) => each === undefined);
  const namesOf = (object: KubeObject | undefined) =>
    (installOf(object).children ?? []).map((child) => child.name);

  test('objects exist before the first resource, are on record, and nothing is sent at rest', async () => {
    const namespace = await shared.namespace();
    const role = `
    - id: viewRole
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: ClusterRole
        metadata: { name: "\${ definition.metadata.name }-view", labels: { rbac.authorization.k8s.io/aggregate-to-view: "true" } }
        rules: [{ apiGroups: [first.example.com], resources: [things], verbs: [get] }]`;
    await apply(
      installing(
        'first',
        `${role}${installedMap('board', namespace, { more: 'after: [viewRole]' })}`,
      ),
    );
    const ready = await untilReady('first');
    const map = await untilMap(namespace, 'first-board');
    assert.equal(map?.metadata.ownerReferences, undefined);
    assert.equal(map?.metadata.labels?.['homeostat.dev/definition'], 'first.install');
    assert.deepEqual(namesOf(ready), ['first-view', 'first-board']);
    assert.deepEqual(installOf(ready).childInventory, [
      `ConfigMap ${namespace}/first-board`,
      'rbac.authorization.k8s.io/ClusterRole first-view',
    ]);
    assert.equal(installOf(ready).definitionRevision, statusOf(ready).revision);
    await shared.audit.quiet(3_000);
    const since = shared.audit.mark();
    await shared.audit.quiet(3_000);
    assert.deepEqual(shared.audit.atRest({ since }), []);
    // A line may arrive after the status.
    await runtime().whenLogged('Reconciled');
    const lines = runtime().entries.filter(
      ({ msg, name }) => msg === 'Reconciled' && name === 'first',
    );
    assert.deepEqual(
      [...new Set(lines.map((line) => `${line.definition} ${line.kind} ${'namespace' in line}`))],
      ['first OperatorDefinition false'],
    );
  });

  test('an edit of an object is reverted, and a deleted one is created again', async () => {
    const namespace = await shared.namespace();
    const path = mapPath(namespace, 'drift-a');
    await apply(installing('drift', installedMap('a', namespace)));
    await untilReady('drift');
    const first = await untilMap(namespace, 'drift-a');
    await shared.client().patch(path, { data: { text: 'another' } });
    await shared
      .client()
      .untilObject(
        path,
        (map) =>
          map?.metadata.resourceVersion !== first?.metadata.resourceVersion &&
          textOf(map) === 'one',
      );
    await shared.client().delete(path);
    await shared
      .client()
      .untilObject(path, (map) => map !== undefined && map.metadata.uid !== first?.metadata.uid);
  });

  test('an object that leaves, is renamed or moves is deleted; the others stay', async () => {
    const [here, there] = [await shared.namespace(), await shared.namespace()];
    const entries = (...maps: readonly string[]) => installing('edited', maps.join(''));
    await apply(
      entries(
        installedMap('stays', here),
        installedMap('leaves', here),
        installedMap('renamed', here),
        installedMap('moves', here),
      ),
    );
    await untilReady('edited');
    const stays = await untilMap(here, 'edited-stays');
    await apply(
      entries(
        installedMap('stays', here),
        installedMap('renamed', here, { name: 'other' }),
        installedMap('moves', there),
      ),
    );
    for (const name of ['leaves', 'renamed', 'moves'])
      await untilGone(mapPath(here, `edited-${name}`));
    await untilMap(here, 'edited-other');
    await untilMap(there, 'edited-moves');
    const after = await shared.client().get(mapPath(here, 'edited-stays'));
    assert.equal(after?.metadata.resourceVersion, stays?.metadata.resourceVersion);
    const ready = await shared
      .client()
      .untilObject(pathOf('edited'), (object) => isReady(object) && namesOf(object).length === 3);
    const recorded = [
      `ConfigMap ${here}/edited-other`,
      `ConfigMap ${here}/edited-stays`,
      `ConfigMap ${there}/edited-moves`,
    ];
    assert.deepEqual(installOf(ready).childInventory, recorded.sort());
  });

  test('a definition without "install" any more deletes them, and its status forgets them', async () => {
    const namespace = await shared.namespace();
    await apply(installing('emptied', installedMap('a', namespace)));
    await untilReady('emptied');
    await apply(installing('emptied', ''));
    await untilGone(mapPath(namespace, 'emptied-a'));
    await shared
      .client()
      .untilObject(
        pathOf('emptied'),
        (object) => isReady(object) && statusOf(object).install === undefined,
      );
  });

  test('a rejected edit keeps what is installed', async () => {
    const namespace = await shared.namespace();
    await apply(installing('rejected', installedMap('a', namespace)));
    await untilReady('rejected');
    const map = await untilMap(namespace, 'rejected-a');
    await apply(installing('rejected', installedMap('b', namespace, { text: '"${ spec.size }"' })));
    const rejected = await untilReason('rejected', 'Rejected');
    assert.match(
      conditionOf(rejected)?.message ?? '',
      /have no resource: "spec\.size" cannot be read/,
    );
    await shared.audit.quiet(1_000);
    const after = await shared.client().get(mapPath(namespace, 'rejected-a'));
    assert.equal(after?.metadata.resourceVersion, map?.metadata.resourceVersion);
    assert.equal(await shared.client().get(mapPath(namespace, 'rejected-b')), undefined);
  });

  test('more objects than fit are reported, and those that exist stay', async () => {
    const namespace = await shared.namespace();
    const list = (last: number) =>
      installing(
        'many',
        installedMap('board', namespace, {
          name: 'board-${ $item }',
          more: `forEach: "\${ [1..${last}] }"`,
        }),
      );
    await apply(list(2));
    await untilReady('many');
    await apply(list(201));
    const full = await untilReason('many', 'InstallNotReady');
    assert.match(
      conditionOf(full)?.message ?? '',
      /LimitReached.*Expected at most 200 children, found "201"/,
    );
    assert.deepEqual(installOf(full).childInventory, [
      `ConfigMap ${namespace}/many-board-1`,
      `ConfigMap ${namespace}/many-board-2`,
    ]);
    for (const index of [1, 2]) await untilMap(namespace, `many-board-${index}`);
    await apply(list(2));
    await untilReady('many');
  });

  test('an object of another owner is not taken; when it is deleted, the definition continues', async () => {
    const namespace = await shared.namespace();
    const path = mapPath(namespace, 'foreign-a');
    const theirs = await shared.client().create(mapPath(namespace, '').slice(0, -1), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'foreign-a' },
      data: { text: 'theirs' },
    });
    await apply(installing('foreign', installedMap('a', namespace)));
    const conflict = await untilReason('foreign', 'InstallNotReady');
    assert.match(conditionOf(conflict)?.message ?? '', /^Conflict: /);
    await shared.audit.quiet(1_000);
    const kept = await shared.client().get(path);
    assert.equal(kept?.metadata.resourceVersion, theirs.metadata.resourceVersion);
    await shared.client().delete(path);
    await untilMap(namespace, 'foreign-a');
    await untilReady('foreign');
  });

  test('of two definitions that install the same object, the second one reports a conflict', async () => {
    const namespace = await shared.namespace();
    const same = `
    - id: a
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: same, namespace: ${namespace} }, data: { text: one } }`;
    await apply(installing('owner', same));
    await untilReady('owner');
    await apply(installing('second', same));
    const conflict = await untilReason('second', 'InstallNotReady');
    assert.match(conditionOf(conflict)?.message ?? '', /^Conflict: /);
    const map = await untilMap(namespace, 'same');
    assert.equal(map?.metadata.labels?.['homeostat.dev/definition'], 'owner.install');
  });

  test('a forged record takes and deletes nothing of others', async () => {
    const namespace = await shared.namespace();
    const theirs = ['plain', 'labelled', 'installed'];
    const create = (name: string, labels: Readonly<Record<string, string>>) =>
      shared.client().create(mapPath(namespace, '').slice(0, -1), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, labels },
      });
    await create('plain', {});
    await create('labelled', {
      'app.kubernetes.io/managed-by': 'homeostat',
      'homeostat.dev/definition': 'forger.install',
      'homeostat.dev/owner-uid': 'another',
    });
    const other = `
    - id: a
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: installed, namespace: ${namespace} } }`;
    await apply(installing('other', other));
    await apply(installing('forger', installedMap('a', namespace)));
    await untilReady('other');
    await untilReady('forger');
    const forged = ['forger-a', ...theirs].map((name) => `ConfigMap ${namespace}/${name}`);
    const status = { install: { childInventory: forged } };
    await shared.client().patch(`${pathOf('forger')}/status`, { status });
    await apply(installing('forger', installedMap('b', namespace)));
    await untilGone(mapPath(namespace, 'forger-a'));
    await shared
      .client()
      .untilObject(
        pathOf('forger'),
        (object) =>
          isReady(object) &&
          String(installOf(object).childInventory) === `ConfigMap ${namespace}/forger-b`,
      );
    for (const name of theirs)
      assert.ok(await shared.client().get(mapPath(namespace, name)), `${name} was deleted`);
  });

  test('a definition with the longest name has objects of its own', async () => {
    const namespace = await shared.namespace();
    const name = 'n'.repeat(63);
    const text = installing(name, installedMap('a', namespace));
    await apply(text.replace(`group: ${name}.example.com`, 'group: longest.example.com'));
    await untilReady(name);
    await untilMap(namespace, `${name}-a`);
  });

  test('a definition that is deleted and created again keeps its objects, and finds them again', async () => {
    const namespace = await shared.namespace();
    const text = installing(
      'replaced',
      `${installedMap('a', namespace)}${installedMap('b', namespace)}`,
    );
    await apply(text);
    const before = await untilReady('replaced');
    const map = await untilMap(namespace, 'replaced-a');
    await shared.client().delete(pathOf('replaced'));
    await untilGone(pathOf('replaced'));
    assert.equal(
      (await shared.client().get(mapPath(namespace, 'replaced-a')))?.metadata.uid,
      map?.metadata.uid,
    );
    await apply(text);
    const again = await untilReady('replaced');
    assert.notEqual(again?.metadata.uid, before?.metadata.uid);
    const after = await shared.client().get(mapPath(namespace, 'replaced-a'));
    assert.equal(after?.metadata.resourceVersion, map?.metadata.resourceVersion);
    assert.equal(Array.isArray(installOf(again).childInventory), true);
    await apply(installing('replaced', installedMap('b', namespace)));
    await untilGone(mapPath(namespace, 'replaced-a'));
  });

  test('an object that only carries the labels is not taken by a definition that is created again', async () => {
    const namespace = await shared.namespace();
    const text = installing('forged', installedMap('a', namespace));
    await apply(text);
    await untilReady('forged');
    const map = await untilMap(namespace, 'forged-a');
    await shared.client().delete(pathOf('forged'));
    await untilGone(pathOf('forged'));
    await shared.client().delete(mapPath(namespace, 'forged-a'));
    await shared.client().create(mapPath(namespace, '').slice(0, -1), {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'forged-a', labels: map?.metadata.labels },
      data: { text: 'theirs' },
    });
    await apply(text);
    const conflict = await untilReason('forged', 'InstallNotReady');
    assert.match(conditionOf(conflict)?.message ?? '', /^Conflict: /);
    await untilMap(namespace, 'forged-a', 'theirs');
  });

  test('with "removalPolicy: Delete" they are deleted after the children, and the definition last', async () => {
    const namespace = await shared.namespace();
    const child = `  children:
    - id: child
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }-child" } }
`;
    const kept = installedMap('kept', namespace, { more: 'deletionPolicy: Orphan' });
    await apply(installing('gone', `${installedMap('a', namespace)}${kept}`, `${child}${removes}`));
    await untilReady('gone');
    await shared.client().apply(thing('gone', namespace, {}));
    const childPath = mapPath(namespace, 'one-child');
    await shared.client().untilObject(childPath, (each) => each !== undefined);
    await shared.client().delete(pathOf('gone'));
    await untilGone(pathOf('gone'));
    assert.equal(await shared.client().get(mapPath(namespace, 'gone-a')), undefined);
    assert.equal(await shared.client().get(childPath), undefined);
    const orphan = await shared.client().get(mapPath(namespace, 'gone-kept'));
    assert.equal(orphan?.metadata.labels?.['homeostat.dev/definition'], undefined);
    assert.notEqual(await shared.client().get(thingPath('gone', namespace)), undefined);
  });

  test('more deletions than "maxDeletions" wait for an approval, also after a restart', async () => {
    const namespace = await shared.namespace();
    const maps = (count: number) =>
      Array.from({ length: count }, (_, index) => installedMap(`m${index}`, namespace)).join('');
    const limit = '  controller: { rollout: { maxDeletions: 2 } }\n';
    await apply(installing('held', maps(4), limit));
    await untilReady('held');
    await apply(installing('held', maps(1), limit));
    const held = await untilReason('held', 'DeletionsHeld');
    assert.match(conditionOf(held)?.message ?? '', /^install: /);
    await runtime().stop();
    await begin();
    await shared.audit.quiet(3_000);
    for (const id of ['m1', 'm2', 'm3']) await untilMap(namespace, `held-${id}`);
    const revision = String(statusOf(await untilReason('held', 'DeletionsHeld')).revision);
    await shared.client().patch(pathOf('held'), {
      metadata: { annotations: { 'homeostat.dev/approve-deletions': revision } },
    });
    for (const id of ['m1', 'm2', 'm3']) await untilGone(mapPath(namespace, `held-${id}`));
    await untilReady('held');
  });

  test('a kind that is not served yet is waited for', async () => {
    const group = 'later.example.com';
    const board = `
    - id: board
      template: { apiVersion: ${group}/v1, kind: Board, metadata: { name: later }, spec: { text: one } }`;
    await apply(installing('later', board));
    await untilReason('later', 'InstallNotReady');
    await shared.client().installCrd(
      customKind({
        group,
        kind: 'Board',
        scope: 'Cluster',
        properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      }),
    );
    await shared
      .client()
      .untilObject(`/apis/${group}/v1/boards/later`, (each) => each !== undefined);
    await untilReady('later');
  });

  test('a paused definition changes none of its objects', async () => {
    const namespace = await shared.namespace();
    await apply(installing('paused', installedMap('a', namespace)));
    await untilReady('paused');
    const annotate = (value: string | null) =>
      shared.client().patch(pathOf('paused'), {
        metadata: { annotations: { 'homeostat.dev/paused': value } },
      });
    await annotate('true');
    await untilReason('paused', 'Paused');
    await shared.client().patch(mapPath(namespace, 'paused-a'), { data: { text: 'by hand' } });
    await shared.audit.quiet(2_000);
    await untilMap(namespace, 'paused-a', 'by hand');
    await annotate(null);
    await untilMap(namespace, 'paused-a');
    await untilReady('paused');
  });

  test('a definition whose manifest is removed keeps its objects', async () => {
    const namespace = await shared.namespace();
    runtime().write('filed.yaml', installing('filed', installedMap('a', namespace), removes));
    await untilReady('filed');
    const map = await untilMap(namespace, 'filed-a');
    runtime().remove('filed.yaml');
    await untilReason('filed', 'Withdrawn');
    await shared.audit.quiet(2_000);
    const after = await shared.client().get(mapPath(namespace, 'filed-a'));
    assert.equal(after?.metadata.resourceVersion, map?.metadata.resourceVersion);
  });

  test('a restart writes nothing', async () => {
    const namespace = await shared.namespace();
    await apply(installing('restarted', installedMap('a', namespace)));
    await untilReady('restarted');
    await shared.audit.quiet(3_000);
    await runtime().stop();
    const since = shared.audit.mark();
    await begin();
    await shared.audit.quiet(8_000);
    // Of a slow start, the status of the definition itself says that it is starting.
    const writes = shared.audit
      .writes({ since })
      .filter(({ uri }) => uri.includes('restarted') || uri.includes(namespace))
      .filter(({ uri }) => !uri.includes('operatordefinitions.status'));
    assert.deepEqual(writes, []);
  });
});
