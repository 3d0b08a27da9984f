import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import {
  AuditLog,
  type ControlPlane,
  startControlPlane,
  useControlPlane,
} from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { scrape, valueOfSamples } from '../support/scrape.ts';

const shared = useControlPlane({ audit: true, controllerManager: false });
const launch = useRuntimes(shared);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';
const clusters = '/apis/homeostat.dev/v1alpha1/clusters';

const text = thingDefinition(
  'backups',
  `  children:
    - id: agent
      cluster: far
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { level: "\${ spec.level }" } }
`,
);
const mapPath = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`;

shared.describe('integration/member-backups', () => {
  // With an etcd of its own: it is restored without the hub.
  let far: ControlPlane;
  let audit: AuditLog;
  let homeostat: HomeostatRuntime;

  const apply = (name: string, level: string) =>
    shared.client().apply(thing('backups', 'default', { level }, name));
  const untilLevel = (name: string, level: string) =>
    far
      .client()
      .untilObject(
        mapPath(name),
        (object) => (object?.data as { readonly level?: string })?.level === level,
      );
  const untilReady = (name: string) =>
    shared.client().untilObject(thingPath('backups', 'default', name), (object) => {
      const { status, observedGeneration } = conditionOf(object) ?? {};
      return status === 'True' && observedGeneration === object?.metadata.generation;
    });
  const deletes = (since: number) =>
    audit.entries({ since }).filter(({ verb }) => verb === 'delete');

  before(async () => {
    far = await startControlPlane({ audit: true, controllerManager: false });
    audit = new AuditLog(far);
    homeostat = launch({
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-backups', '--cluster-secrets', 'default'],
      ],
    });
    const client = shared.client();
    await client.untilList(definitions, () => true);
    await client.apply(parseYaml(text) as unknown as KubeObject);
    await client.untilList(clusters, () => true);
    const secret = { namespace: 'default', name: 'far' };
    const stringData = { kubeconfig: far.kubeconfig('operator') };
    await client.apply({ apiVersion: 'v1', kind: 'Secret', metadata: secret, stringData });
    await client.apply({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata: { name: 'far' },
      spec: { kubeconfig: { secretRef: secret } },
    });
    await client.untilList('/apis/backups.example.com/v1/things', () => true);
    await apply('one', '1');
    await untilLevel('one', '1');
    await untilReady('one');
  });
  shared.onEnd(() => far?.stop());
  after(() => homeostat?.stop());

  test('a member that is restored from a backup gets what it lacks, and nothing there is deleted', async () => {
    const backup = await far.snapshotEtcd();
    await apply('one', '2');
    await apply('two', '2');
    for (const name of ['one', 'two']) await untilLevel(name, '2');
    const mark = audit.mark();
    await far.restoreEtcd(backup);
    for (const name of ['one', 'two']) await untilLevel(name, '2');
    for (const name of ['one', 'two']) await untilReady(name);
    assert.deepEqual(deletes(mark), []);
  });

  test('after a restore of the hub, objects whose resource it does not have are reported, and never deleted', async () => {
    const backup = await shared.plane.snapshotEtcd();
    await apply('three', '3');
    await untilLevel('three', '3');
    await untilReady('three');
    // A server writes at its start: it must not reach the version before the restore.
    for (let edit = 0; edit < 200; edit += 1) {
      const metadata = { name: 'edited', namespace: 'default' };
      await shared
        .client()
        .apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { edit: String(edit) } });
    }
    const mark = audit.mark();
    await shared.plane.restoreEtcd(backup);
    const events = '/apis/events.k8s.io/v1/namespaces/default/events';
    const found = await shared
      .client()
      .untilList(events, (list) => list.some(({ reason }) => reason === 'UnknownOwners'));
    const event = found.find(({ reason }) => reason === 'UnknownOwners');
    assert.match(String(event?.note), /^Found 1 object of definition "backups" \(ConfigMap\)/);
    assert.ok(event);
    assert.equal((event.regarding as { readonly name?: string }).name, 'far');
    const labels = { definition: 'backups' };
    const families = await scrape(homeostat);
    assert.equal(valueOfSamples(families, 'homeostat_placed_objects_unknown_owner', labels), 1);
    await apply('one', '4');
    await untilLevel('one', '4');
    assert.ok(await far.client().get(mapPath('three')));
    assert.deepEqual(deletes(mark), []);
  });
});
