import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { DefinitionView } from '#runtime';
import type { KubeObject } from '#util/kube-object.ts';
import { InstantVolumes, useControlPlane } from '../support/control-plane/index.ts';
import {
  conditionOf,
  customKind,
  statusOf,
  textMap,
  thing,
  thingDefinition,
  thingPath,
} from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useLiveDefinitions } from '../support/live-definition.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);

interface ClaimOptions {
  /** @default 'claim' */
  readonly id?: string;
  /** Appended to the name of the resource. @default 'data' */
  readonly name?: string;
  /** Lines of the child. */
  readonly more?: string;
  /** @default '1Gi' */
  readonly size?: string;
}

/** One child of each kind that holds data: what is deleted with it is lost. */
const dataObjects = {
  PersistentVolumeClaim: claim(),
  PersistentVolume: child('volume', 'v1', 'PersistentVolume', {
    capacity: '{ storage: 1Gi }',
    accessModes: '[ReadWriteOnce]',
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: 'none',
    claimRef: '{ namespace: default, name: no-claim }',
    hostPath: '{ path: /nowhere }',
  }),
  Namespace: `
    - id: namespace
      crossNamespace: { namespaces: ["test-*"] }
      template:
        apiVersion: v1
        kind: Namespace
        metadata: { name: "test-\${ metadata.namespace }" }`,
  CustomResourceDefinition: `
    - id: crd
      crossNamespace: true
      template:
        apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: { name: "\${ metadata.namespace }s.held.example.com" }
        spec:
          group: held.example.com
          names: { kind: Held, plural: "\${ metadata.namespace }s" }
          scope: Namespaced
          versions:
            - { name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }`,
  StatefulSet: child('stateful', 'apps/v1', 'StatefulSet', {
    replicas: '0',
    serviceName: 'none',
    selector: '{ matchLabels: { app: held } }',
    persistentVolumeClaimRetentionPolicy: '{ whenDeleted: Delete, whenScaled: Retain }',
    template:
      '{ metadata: { labels: { app: held } }, spec: { containers: [{ name: a, image: a }] } }',
    volumeClaimTemplates:
      '[{ metadata: { name: data }, spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }]',
  }),
  VolumeSnapshot: child('snapshot', 'snapshot.storage.k8s.io/v1', 'VolumeSnapshot', {}),
  VolumeGroupSnapshot: child(
    'groupSnapshot',
    'groupsnapshot.storage.k8s.io/v1',
    'VolumeGroupSnapshot',
    {},
  ),
};

/** Cluster-scoped objects are named after the namespace of the test, too. */
function child(
  id: string,
  apiVersion: string,
  kind: string,
  spec: Readonly<Record<string, string>>,
): string {
  const fields = Object.entries(spec).map(([field, value]) => `          ${field}: ${value}\n`);
  return `
    - id: ${id}
      ready: true
      ${kind === 'PersistentVolume' ? 'crossNamespace: true' : ''}
      template:
        apiVersion: ${apiVersion}
        kind: ${kind}
        metadata: { name: "\${ metadata.namespace }-${id.toLowerCase()}" }
        spec:${fields.length === 0 ? ' {}' : `\n${fields.join('')}`}`.trimEnd();
}

/** The CRDs of snapshots are not part of a server. */
const snapshotKinds = [
  ['snapshot.storage.k8s.io', 'VolumeSnapshot'],
  ['groupsnapshot.storage.k8s.io', 'VolumeGroupSnapshot'],
].map(([group = '', kind = '']) => {
  const crd = customKind({ group, kind, properties: { spec: { type: 'object' } } });
  const annotations = { 'api-approved.kubernetes.io': 'unapproved, for a test' };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
});

/** A child that is a claim. */
function claim({ id = 'claim', name = 'data', more = '', size = '1Gi' }: ClaimOptions = {}) {
  return `
    - id: ${id}
      ${more}
      template:
        apiVersion: v1
        kind: PersistentVolumeClaim
        metadata: { name: "\${ metadata.name }-${name}" }
        spec: { accessModes: [ReadWriteOnce], storageClassName: none, resources: { requests: { storage: ${size} } } }`;
}

const isHeld = ({ rollout }: DefinitionView) => rollout?.state === 'held';

shared.describe('integration/data-deletions', () => {
  const live = useLiveDefinitions(shared);
  const storages: InstantVolumes[] = [];
  after(() => Promise.all(storages.map((storage) => storage.stop())));

  async function begin(name: string, children: string, spec: unknown = { text: 'one' }) {
    const namespace = await shared.namespace();
    const storage = new InstantVolumes(shared.client());
    storages.push(storage);
    storage.start(namespace);
    const cluster = await live.connect();
    const manager = live.start(cluster, name);
    const want = (now: string, approvedDeletions?: string) =>
      manager.want(thingDefinition(name, `  children:${now}\n`), {
        ...(approvedDeletions !== undefined && { approvedDeletions }),
      });
    await manager.untilSettled(want(children));
    await shared.client().apply(thing(name, namespace, spec));
    const untilNames = (kind: string, names: readonly string[]) =>
      shared
        .client()
        .untilList(
          `/api/v1/namespaces/${namespace}/${kind}?labelSelector=homeostat.dev/definition=${name}`,
          (items) => {
            const found = items.map(({ metadata }) => metadata.name).sort();
            return JSON.stringify(found) === JSON.stringify(names);
          },
        );
    const untilResource = (check: (object: KubeObject) => boolean) =>
      shared
        .client()
        .untilObject(thingPath(name, namespace), (object) => object !== undefined && check(object));
    return { namespace, manager, want, untilNames, untilResource };
  }

  test('a claim that a definition renames is kept until its deletion is approved', async () => {
    const name = 'renamed';
    const { namespace, manager, want, untilNames, untilResource } = await begin(name, claim());
    await untilNames('persistentvolumeclaims', ['one-data']);
    const renamed = claim({ name: 'volume' });
    const revision = want(renamed);
    const { rollout } = await manager.until('the deletion to be held', isHeld);
    assert.equal(rollout?.deletions, 1);
    assert.deepEqual(rollout?.dataObjects, [`PersistentVolumeClaim ${namespace}/one-data`]);
    assert.match(
      rollout?.message ?? '',
      new RegExp(
        `would delete 1 object, with the data of PersistentVolumeClaim ${namespace}/one-data; to approve`,
      ),
    );

    // An edited resource gets the new claim, keeps the old one, and names it.
    await shared.client().apply(thing(name, namespace, { text: 'two' }));
    await untilNames('persistentvolumeclaims', ['one-data', 'one-volume']);
    const held = await untilResource((object) => conditionOf(object)?.reason === 'DeletionsHeld');
    const kept = statusOf(held).children?.find((child) => child.name === 'one-data');
    assert.match(kept?.message ?? '', /kept until the deletions of revision/);

    want(renamed, revision);
    await untilNames('persistentvolumeclaims', ['one-volume']);
    await manager.untilSettled(revision);
  });

  test('an object of each kind that holds data is kept until its deletion is approved', async () => {
    for (const crd of snapshotKinds) await shared.client().installCrd(crd);
    const name = 'kinds';
    const all = Object.values(dataObjects).join('');
    const { namespace, manager, want, untilNames } = await begin(name, textMap('other') + all);
    await shared
      .client()
      .untilObject(thingPath(name, namespace), (object) => conditionOf(object)?.status === 'True');
    const revision = want(textMap('other'));
    const { rollout } = await manager.until('the deletions to be held', isHeld);
    assert.deepEqual(
      rollout?.dataObjects?.map((each) => each.replace(/ .*/, '')).toSorted(),
      Object.keys(dataObjects).toSorted(),
    );
    await untilNames('persistentvolumeclaims', ['one-data']);
    want(textMap('other'), revision);
    await manager.untilSettled(revision);
    await untilNames('persistentvolumeclaims', []);
  });

  test('the claims of resources that were all edited while they were held are kept over a restart, and over a change', async () => {
    const name = 'edited';
    const namespace = await shared.namespace();
    const storage = new InstantVolumes(shared.client());
    storages.push(storage);
    storage.start(namespace);
    const textOf = (options: ClaimOptions, more = '') =>
      thingDefinition(name, `  children:${claim(options)}${more}\n`);
    const start = (text: string) => launch({ definitions: { 'd.yaml': text } });
    const path = `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
    const untilHeld = () =>
      shared
        .client()
        .untilObject(path, (object) => conditionOf(object)?.reason === 'DeletionsHeld');
    const untilClaims = (...names: readonly string[]) =>
      shared
        .client()
        .untilList(`/api/v1/namespaces/${namespace}/persistentvolumeclaims`, (items) => {
          const left = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
          return (
            JSON.stringify(left.map(({ metadata }) => metadata.name).sort()) ===
            JSON.stringify(names)
          );
        });

    let homeostat = start(textOf({}));
    await homeostat.whenReady();
    await shared.client().apply(thing(name, namespace, { text: 'one' }));
    await untilClaims('one-data');
    homeostat.write('d.yaml', textOf({ name: 'volume' }));
    await untilHeld();
    await shared.client().apply(thing(name, namespace, { text: 'two' }));
    await untilClaims('one-data', 'one-volume');

    for (const text of [textOf({ name: 'volume' }), textOf({ name: 'volume' }, textMap('more'))]) {
      assert.equal(await homeostat.stop(), 0);
      homeostat = start(text);
      await homeostat.whenReady();
      await shared.client().apply(thing(name, namespace, { text: text.length }));
      await shared.audit.quiet(2_000);
      await untilClaims('one-data', 'one-volume');
      await untilHeld();
    }
    const held = await untilHeld();
    const { to = '' } = (statusOf(held).rollout ?? {}) as { readonly to?: string };
    await shared.client().patch(path, {
      metadata: { annotations: { 'homeostat.dev/approve-deletions': to } },
    });
    await untilClaims('one-volume');
    await homeostat.stop();
  });

  test('a claim whose child gets another id is kept, and nothing is asked', async () => {
    const name = 'identified';
    const { manager, want, untilNames, untilResource } = await begin(name, claim());
    const [before] = await untilNames('persistentvolumeclaims', ['one-data']);
    await manager.untilSettled(want(claim({ id: 'volume' })));
    await untilResource((object) => statusOf(object).children?.[0]?.id === 'volume');
    const [after] = await untilNames('persistentvolumeclaims', ['one-data']);
    assert.equal(after?.metadata.uid, before?.metadata.uid);
    assert.equal(after?.metadata.deletionTimestamp, undefined);
  });

  test('an object of a removed child is kept if it was declared to hold data', async () => {
    const name = 'declared';
    const state = `${textMap('state')}\n      holdsData: true`;
    const { manager, want, untilNames } = await begin(name, textMap('other') + state);
    await untilNames('configmaps', ['one-other', 'one-state']);
    const revision = want(textMap('other'));
    await manager.until('the deletion to be held', isHeld);
    await untilNames('configmaps', ['one-other', 'one-state']);
    want(textMap('other'), revision);
    await untilNames('configmaps', ['one-other']);
    await manager.untilSettled(revision);
  });

  test('an object whose child was declared to hold data later is kept, and deleted when that was taken back', async () => {
    const name = 'later';
    const state = textMap('state');
    const other = textMap('other');
    const declared = `${other}${state}\n      holdsData: true`;
    const { manager, want, untilNames } = await begin(name, other + state);
    await untilNames('configmaps', ['one-other', 'one-state']);
    await manager.untilSettled(want(declared));
    want(other);
    await manager.until('the deletion to be held', isHeld);
    await untilNames('configmaps', ['one-other', 'one-state']);
    await manager.untilSettled(want(declared));
    await manager.untilSettled(want(other + state));
    await manager.untilSettled(want(other));
    await untilNames('configmaps', ['one-other']);
  });

  test('a claim that was declared to hold no data is deleted like any object', async () => {
    const name = 'scratch';
    const scratch = claim({ id: 'scratch', name: 'scratch', more: 'holdsData: false' });
    const { manager, want, untilNames } = await begin(name, textMap('other') + scratch);
    await untilNames('persistentvolumeclaims', ['one-scratch']);
    await manager.untilSettled(want(textMap('other')));
    await untilNames('persistentvolumeclaims', []);
  });

  test('a claim that a changed template would recreate is kept until that is approved', async () => {
    const name = 'recreated';
    const recreate = 'updateStrategy: { type: Recreate }';
    const { manager, want, untilNames, untilResource, namespace } = await begin(
      name,
      claim({ more: recreate }),
    );
    const [before] = await untilNames('persistentvolumeclaims', ['one-data']);
    const smaller = claim({ more: recreate, size: '500Mi' });
    const revision = want(smaller);
    const { rollout } = await manager.until('the deletion to be held', isHeld);
    assert.deepEqual(rollout?.dataObjects, [`PersistentVolumeClaim ${namespace}/one-data`]);
    await shared.client().apply(thing(name, namespace, { text: 'two' }));
    const held = await untilResource((object) => conditionOf(object)?.reason === 'DeletionsHeld');
    assert.match(conditionOf(held)?.message ?? '', /Replacement on hold: kept until/);
    const [kept] = await untilNames('persistentvolumeclaims', ['one-data']);
    assert.equal(kept?.metadata.uid, before?.metadata.uid);

    want(smaller, revision);
    await manager.untilSettled(revision);
    await shared
      .client()
      .untilObject(
        `/api/v1/namespaces/${namespace}/persistentvolumeclaims/one-data`,
        (object) => object !== undefined && object.metadata.uid !== before?.metadata.uid,
      );
  });

  test('an element that a user removes from the resource takes its claim with it', async () => {
    const name = 'shrunk';
    const disks = claim({ name: '${ $item }', more: 'forEach: "${ spec.disks }"' });
    const { namespace, untilNames } = await begin(name, disks, { disks: ['a', 'b'] });
    await untilNames('persistentvolumeclaims', ['one-a', 'one-b']);
    await shared.client().apply(thing(name, namespace, { disks: ['a'] }));
    await untilNames('persistentvolumeclaims', ['one-a']);
  });
});
