import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseYaml, printYaml } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { isEstablished, useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import type { HomeostatRuntime } from '../support/homeostat-runtime.ts';
import { useMembers } from '../support/members.ts';
import { startSwitchedAddress } from '../support/switched-address.ts';

const shared = useControlPlane({ audit: true });
const launch = useRuntimes(shared);
const collection = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

/** A kind of the members, with the name and a label of the cluster in its status. */
function widgets(
  name: string,
  { color = 'red', selector = `{ matchLabels: { ${name}: "true" } }`, more = '' } = {},
): string {
  return `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  crd:
    group: ${name}.example.com
    names: { kind: Widget, plural: widgets }
    scope: Namespaced
    versions:
      - name: v1
        schema:
          openAPIV3Schema:
            type: object
            properties:
              spec: { type: object, properties: { text: { type: string } } }
              status: { type: object, properties: { cluster: { type: string }, tier: { type: string } } }
  children:
    - id: settings
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }" }
        data: { text: "\${ spec.text }", color: ${color} }
  status: { cluster: "\${ $cluster.name }", tier: "\${ $cluster.labels.tier }" }
  controller: { clusters: { selector: ${selector} } }
${more}`;
}

const widget = (definition: string, name: string, text = 'hello'): KubeObject => ({
  apiVersion: `${definition}.example.com/v1`,
  kind: 'Widget',
  metadata: { name, namespace: 'default' },
  spec: { text },
});
const widgetPath = (definition: string, name: string) =>
  `/apis/${definition}.example.com/v1/namespaces/default/widgets/${name}`;
const childPath = (name: string) => `/api/v1/namespaces/default/configmaps/${name}`;
const crdPath = (definition: string) =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${definition}.example.com`;

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (value ?? {}) as Fields;
const dataOf = (object: KubeObject | undefined) => fieldsOf(object?.data);

shared.describe('integration/member-clusters', () => {
  const members = useMembers(shared, ['east', 'west', 'other']);
  let homeostat: HomeostatRuntime;

  const start = () =>
    launch({
      flags: [
        ...['--sources', 'configmaps,objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'hub-of-tests', '--cluster-secrets', 'default'],
      ],
    });
  const apply = (text: string) => shared.client().apply(parseYaml(text) as unknown as KubeObject);
  const untilDefinition = (name: string, isWanted: (status: Fields, clusters: Fields) => boolean) =>
    shared.client().untilObject(`${collection}/${name}`, (object) => {
      const status = fieldsOf(statusOf(object));
      return isWanted(status, fieldsOf(status.clusters));
    });
  const untilRunning = (name: string, count: number) =>
    untilDefinition(name, (_, { running }) => running === count);
  const untilText = (member: string, name: string, text: string) =>
    members.client(member).untilObject(childPath(name), (object) => dataOf(object).text === text);
  const writesSince = (member: string, since: number) => members.audit(member).writes({ since });

  before(async () => {
    homeostat = start();
    await shared.client().untilList(collection, () => true);
    await apply(widgets('first'));
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.homeostat.dev';
    await shared.client().untilObject(path, isEstablished);
  });

  test('labels start and stop a definition in a member; one name exists in two members', async () => {
    await apply(widgets('labels'));
    await members.register('east', { labels: { labels: 'true', tier: 'prod' } });
    await members.register('west', { labels: { labels: 'true', tier: 'test' } });
    for (const name of ['east', 'west']) {
      await members.untilReason(name, 'Connected');
      await members.client(name).untilObject(crdPath('labels'), isEstablished);
      await members.client(name).apply(widget('labels', 'one', name));
    }
    for (const [name, tier] of [
      ['east', 'prod'],
      ['west', 'test'],
    ] as const) {
      await members.client(name).untilObject(widgetPath('labels', 'one'), (object) => {
        const status = fieldsOf(statusOf(object));
        return status.cluster === name && status.tier === tier;
      });
      assert.equal(dataOf(await members.client(name).get(childPath('one'))).text, name);
    }
    assert.equal(await shared.client().get(crdPath('labels')), undefined, 'the hub has no CRD');
    await untilDefinition(
      'labels',
      ({ instances }, { running }) => running === 2 && instances === 2,
    );

    await members.register('east', { labels: { labels: 'true', tier: 'dev' } });
    await members
      .client('east')
      .untilObject(
        widgetPath('labels', 'one'),
        (object) => fieldsOf(statusOf(object)).tier === 'dev',
      );

    await members.register('west', { labels: { tier: 'test' } });
    await untilDefinition('labels', (_, { selected }) => selected === 1);
    await members.client('west').apply(widget('labels', 'one', 'changed'));
    await members.client('east').apply(widget('labels', 'one', 'changed'));
    await untilText('east', 'one', 'changed');
    const kept = await members.client('west').get(childPath('one'));
    assert.equal(dataOf(kept).text, 'west', 'what it created stays');
  });

  test('a restart of the hub writes nothing, neither there nor in members', async () => {
    await members.untilReason('east', 'Running', 'Ready');
    // Numbers of resources are written later.
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    await homeostat.stop();
    // What it sent at its end is on record.
    for (const audit of [shared.audit, members.audit('east'), members.audit('west')])
      await audit.quiet(1_000, { ofDefinitions: true });
    const marks = ['east', 'west'].map((name) => [name, members.audit(name).mark()] as const);
    const mark = shared.audit.mark();
    homeostat = start();
    await members
      .audit('east')
      .untilSeen(
        (entries) =>
          entries.some(({ resource, verb }) => resource === 'widgets' && verb === 'watch'),
        { since: marks[0]?.[1] ?? 0 },
      );
    await members.audit('east').quiet(12_000);
    await shared.audit.quiet(12_000, { ofDefinitions: true });
    for (const [name, since] of marks) assert.deepEqual(writesSince(name, since), []);
    assert.deepEqual(shared.audit.writes({ since: mark }), []);
  });

  test('a changed definition is rolled out in every member, and older revisions are forgotten', async () => {
    await members.register('west', { labels: { labels: 'true', tier: 'test' } });
    await untilRunning('labels', 2);
    await untilText('west', 'one', 'changed');
    await apply(widgets('labels', { color: 'green' }));
    for (const name of ['east', 'west'])
      await members
        .client(name)
        .untilObject(childPath('one'), (object) => dataOf(object).color === 'green');
    await untilDefinition(
      'labels',
      ({ revisions, rollout }) => (revisions as unknown[]).length === 1 && rollout === undefined,
    );
    await members.untilReason('west', 'Running', 'Ready');
    // The definition may be written before the member.
    await shared.client().untilObject('/apis/homeostat.dev/v1alpha1/clusters/west', (cluster) => {
      const [entry] = fieldsOf(statusOf(cluster)).definitions as readonly Fields[];
      return entry?.state === 'Running' && entry.older === undefined;
    });
  });

  test('a roll-out that is stopped in a member stays so across a restart of the hub, and continues with the next change', async () => {
    const name = 'resumed';
    const text = (color: string) =>
      widgets(name, { color, selector: '{ matchLabels: { labels: "true" } }' }).replace(
        'controller: {',
        'controller: { rollout: { perSecond: 0, stopAfterFailures: 1 },',
      );
    const east = members.client('east');
    const untilColor = (child: string, color: string) =>
      east.untilObject(childPath(child), (object) => dataOf(object).color === color);
    const stateOf = (status: Fields) => fieldsOf(status.rollout).state;
    await apply(text('red'));
    await untilRunning(name, 2);
    for (const each of ['r0', 'r1', 'r2']) await east.apply(widget(name, each, 'text'));
    for (const each of ['r0', 'r1', 'r2']) await untilColor(each, 'red');
    await apply(text('"${ $string($number(spec.text)) }"'));
    const stopped = await untilDefinition(name, (status) => stateOf(status) === 'stopped');
    await members.untilReason('east', 'DefinitionsFailing', 'Ready');
    await homeostat.stop();
    homeostat = start();
    await east.apply(widget(name, 'fresh', '7'));
    await untilColor('fresh', '7');
    const after = await untilDefinition(name, (status) => stateOf(status) === 'stopped');
    for (const field of ['from', 'to', 'failed'])
      assert.deepEqual(
        fieldsOf(statusOf(after).rollout)[field],
        fieldsOf(statusOf(stopped).rollout)[field],
      );
    for (const each of ['r0', 'r1', 'r2'])
      assert.equal(dataOf(await east.get(childPath(each))).color, 'red');
    await apply(text('green'));
    for (const each of ['r0', 'r1', 'r2', 'fresh']) await untilColor(each, 'green');
    await untilDefinition(name, (status) => status.rollout === undefined);
    await shared.client().delete(`${collection}/${name}`);
    await shared.client().untilGone(`${collection}/${name}`);
  });

  test('a runtime of the member itself does not change the CRD of the hub, nor its resources', async () => {
    const east = members.client('east');
    await members.audit('east').quiet(1_000);
    const mark = members.audit('east').mark();
    const crd = await east.get(crdPath('labels'));
    const text = widgets('labels').replace(/ {2}controller: .*\n/, '');
    const local = launch({
      plane: members.plane('east'),
      definitions: { 'labels.yaml': text },
      runtime: 'local',
    });
    const found = await east.untilObject(`${collection}/labels`, (object) =>
      JSON.stringify(statusOf(object)).includes('belongs to the hub'),
    );
    assert.match(JSON.stringify(statusOf(found)), /which serves this cluster as a member/);
    await members.audit('east').quiet(3_000);
    await local.stop();
    const isOfDefinition = ({ resource, name }: { resource: string; name: string }) =>
      ['events', 'operatordefinitions', 'operatordefinitions/status'].includes(resource) ||
      name === 'operatordefinitions.homeostat.dev';
    assert.deepEqual(
      writesSince('east', mark).filter((entry) => !isOfDefinition(entry)),
      [],
    );
    const after = await east.get(crdPath('labels'));
    assert.equal(after?.metadata.resourceVersion, crd?.metadata.resourceVersion);
  });

  test('a CRD of another user in one member stops the definition there only, with the reason', async () => {
    const foreign = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.foreign.example.com' },
      spec: {
        group: 'foreign.example.com',
        names: { kind: 'Widget', plural: 'widgets' },
        scope: 'Namespaced',
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object' } },
          },
        ],
      },
    };
    await members.client('west').apply(foreign);
    await apply(widgets('foreign', { selector: 'all' }));
    const found = await untilDefinition(
      'foreign',
      (_, { running, failing }) => running === 1 && (failing as unknown[]).length === 1,
    );
    const [failure] = fieldsOf(fieldsOf(statusOf(found)).clusters).failing as readonly Fields[];
    assert.equal(failure?.cluster, 'west');
    assert.equal(failure?.reason, 'Rejected');
    assert.match(String(failure?.message), /exists and is not managed by Homeostat/);
    await members.untilReason('west', 'DefinitionsFailing', 'Ready');
    await members.client('west').delete(crdPath('foreign'));
    await untilRunning('foreign', 2);
  });

  test('a definition that another hub serves in a member is a conflict', async () => {
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/homeostat-taken';
    await members.client('west').apply({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'homeostat-taken', namespace: 'kube-system' },
      spec: { holderIdentity: 'another-hub' },
    });
    await apply(widgets('taken', { selector: 'all' }));
    const found = await untilDefinition(
      'taken',
      (_, { running, failing }) => running === 1 && (failing as unknown[]).length === 1,
    );
    const [failure] = fieldsOf(fieldsOf(statusOf(found)).clusters).failing as readonly Fields[];
    assert.deepEqual([failure?.cluster, failure?.reason], ['west', 'Conflict']);
    assert.equal(await members.client('west').get(crdPath('taken')), undefined);
    await members.client('west').delete(lease);
    await untilRunning('taken', 2);
  });

  test('a definition that another hub serves in a member can be deleted here', async () => {
    await members.client('west').apply({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'homeostat-theirs', namespace: 'kube-system' },
      spec: { holderIdentity: 'another-hub' },
    });
    await apply(widgets('theirs', { selector: 'all' }));
    await untilDefinition('theirs', (_, { failing }) => (failing as unknown[])?.length === 1);
    await shared.client().delete(`${collection}/theirs`);
    await shared.client().untilGone(`${collection}/theirs`);
  });

  test('a deleted Secret disconnects the member, a restored one connects it again', async () => {
    await shared.client().delete('/api/v1/namespaces/default/secrets/west');
    const gone = await members.untilReason('west', 'SecretMissing');
    assert.equal(fieldsOf(statusOf(gone)).uid !== undefined, true, 'its identity is kept');
    await untilDefinition(
      'labels',
      (_, { unreachable, running }) => unreachable === 1 && running === 1,
    );
    await members.client('west').apply(widget('labels', 'one', 'restored'));
    await members.register('west', { labels: { labels: 'true', tier: 'test' } });
    await members.untilReason('west', 'Connected');
    await untilText('west', 'one', 'restored');
  });

  test('a Secret with the kubeconfig of another cluster connects nothing and writes nothing there', async () => {
    const mark = members.audit('other').mark();
    const labels = { labels: 'true', tier: 'test' };
    const kubeconfig = members.plane('other').kubeconfig('operator');
    await members.register('west', { labels, kubeconfig });
    const replaced = await members.untilReason('west', 'Replaced');
    const { uid } = fieldsOf(statusOf(replaced));
    assert.match(
      JSON.stringify(statusOf(replaced)),
      new RegExp(`Expected the cluster with UID \\\\"${uid}`),
    );
    assert.deepEqual(writesSince('other', mark), []);
    await members.register('west', { labels });
    await members.untilReason('west', 'Connected');
  });

  test('the same cluster twice, the hub, a reserved name and kubeconfigs with programs are rejected', async () => {
    await members.register('again', { kubeconfig: members.plane('east').kubeconfig('operator') });
    const again = await members.untilReason('again', 'Duplicate');
    assert.match(
      JSON.stringify(statusOf(again)),
      /The cluster of \\"again\\" responds with the UID of the Cluster \\"east\\", which has recorded it/,
    );
    await members.register('itself', { kubeconfig: shared.plane.kubeconfig('operator') });
    await members.untilReason('itself', 'Duplicate');
    await members.register('hub', { kubeconfig: shared.plane.kubeconfig('operator') });
    await members.untilReason('hub', 'InvalidName');
    const config = fieldsOf(parseYaml(members.plane('other').kubeconfig('operator')));
    const exec = { command: 'sh', apiVersion: 'client.authentication.k8s.io/v1' };
    const [user] = config.users as readonly Fields[];
    const kubeconfig = printYaml({ ...config, users: [{ ...user, user: { exec } }] });
    await members.register('program', { kubeconfig });
    const program = await members.untilReason('program', 'InvalidKubeconfig');
    assert.match(
      JSON.stringify(statusOf(program)),
      /may not have \\"exec\\", which runs a program. Use a token/,
    );
    for (const name of ['again', 'itself', 'hub', 'program'])
      await shared.client().delete(`${members.collection}/${name}`);
  });

  test('an older Cluster whose Secret comes later does not take the place of a younger one before that is deleted', async () => {
    const kubeconfig = members.plane('other').kubeconfig('operator');
    const spec = { kubeconfig: { secretRef: { namespace: 'default', name: 'late' } } };
    const metadata = { name: 'late' };
    await shared.client().apply({
      apiVersion: 'homeostat.dev/v1alpha1',
      kind: 'Cluster',
      metadata,
      spec,
    });
    await members.untilReason('late', 'SecretMissing');
    await members.register('later', { kubeconfig });
    await members.untilReason('later', 'Connected');
    await members.register('late', { kubeconfig });
    const late = await members.untilReason('late', 'Duplicate');
    assert.match(
      JSON.stringify(statusOf(late)),
      /The cluster of \\"late\\" responds with the UID of the Cluster \\"later\\", which has recorded it/,
    );
    const later = await shared.client().get(`${members.collection}/later`);
    assert.match(JSON.stringify(statusOf(later)), /"reason":"Connected"/);
    await shared.client().delete(`${members.collection}/later`);
    await members.untilReason('late', 'Connected');
    await shared.client().delete(`${members.collection}/late`);
    await shared.client().untilGone(`${members.collection}/late`);
  });

  test('nothing is written in a paused member', async () => {
    const labels = { labels: 'true', tier: 'test' };
    await members.register('west', { labels, spec: { paused: true } });
    await members.untilReason('west', 'Paused', 'Ready');
    await members.audit('west').quiet(1_000);
    const mark = members.audit('west').mark();
    await members.client('west').apply(widget('labels', 'one', 'paused'));
    await members.client('east').apply(widget('labels', 'one', 'not paused'));
    await untilText('east', 'one', 'not paused');
    await members.audit('west').quiet(3_000);
    assert.deepEqual(writesSince('west', mark), []);
    await members.register('west', { labels, spec: { paused: false } });
    await untilText('west', 'one', 'paused');
  });

  test('an unreachable member stops nothing else, and catches up when it responds again', async () => {
    await members.plane('west').stopApiServer();
    await untilDefinition('labels', (_, { unreachable }) => unreachable === 1);
    await members.client('east').apply(widget('labels', 'one', 'alone'));
    await untilText('east', 'one', 'alone');
    await members.untilReason('west', 'Unreachable');
    await apply(widgets('labels', { color: 'blue' }));
    await members
      .client('east')
      .untilObject(childPath('one'), (object) => dataOf(object).color === 'blue');
    await members.plane('west').startApiServer();
    await members.untilReason('west', 'Connected');
    await members
      .client('west')
      .untilObject(childPath('one'), (object) => dataOf(object).color === 'blue');
  });

  test('another cluster behind the same address gets nothing', async () => {
    const { serverOf } = members;
    const address = await startSwitchedAddress(serverOf('west'));
    after(() => address.stop());
    const labels = { labels: 'true', tier: 'test' };
    const config = fieldsOf(parseYaml(members.plane('west').kubeconfig('operator')));
    const [entry] = config.clusters as readonly Fields[];
    const own = new URL(serverOf('west'));
    own.port = String(address.port);
    const cluster = { server: own.href, 'insecure-skip-tls-verify': true };
    const kubeconfig = printYaml({ ...config, clusters: [{ ...entry, cluster }] });
    await members.register('west', { labels, kubeconfig });
    await members.untilReason('west', 'Connected');
    await members.client('west').apply(widget('labels', 'one', 'before'));
    await untilText('west', 'one', 'before');
    const mark = members.audit('other').mark();
    address.switchTo(serverOf('other'));
    const replaced = await members.untilReason('west', 'Replaced');
    assert.match(JSON.stringify(statusOf(replaced)), /if this is right, set/);
    assert.deepEqual(writesSince('other', mark), []);
    address.switchTo(serverOf('west'));
    // A change of the kubeconfig connects again.
    await members.register('west', { labels });
    await members.untilReason('west', 'Connected');
    await untilRunning('labels', 2);
  });

  test('an uninstalled definition is removed from every member; one that is unreachable is waited for', async () => {
    await apply(
      widgets('removed', {
        selector: 'all',
        more: '  removalPolicy: Delete\n  crdPolicy: { deletion: Delete }\n',
      }),
    );
    await untilRunning('removed', 2);
    for (const name of ['east', 'west']) {
      await members.client(name).apply(widget('removed', 'two', name));
      await untilText(name, 'two', name);
    }
    await members.plane('west').stopApiServer();
    await untilDefinition('removed', (_, { unreachable }) => unreachable === 1);
    await shared.client().delete(`${collection}/removed`);
    await members.client('east').untilGone(crdPath('removed'));
    await members.client('east').untilGone(childPath('two'));
    await untilDefinition('removed', ({ conditions }) =>
      JSON.stringify(conditions).includes('Waiting for cluster \\"west\\" (unreachable)'),
    );
    await members.plane('west').startApiServer();
    await shared.client().untilGone(`${collection}/removed`);
    assert.equal(await members.client('west').get(crdPath('removed')), undefined);
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/homeostat-removed';
    assert.equal(await members.client('west').get(lease), undefined);
  });

  test('deleting its Cluster object gives a member up: nothing there is deleted and no definition waits for it', async () => {
    await apply(
      widgets('given', {
        selector: '{ matchLabels: { labels: "true" } }',
        more: '  removalPolicy: Delete\n',
      }),
    );
    await untilRunning('given', 2);
    await members.client('west').apply(widget('given', 'three', 'west'));
    await untilText('west', 'three', 'west');
    await members.plane('west').stopApiServer();
    await members.untilReason('west', 'Unreachable');
    await shared.client().delete(`${collection}/given`);
    await untilDefinition('given', ({ conditions }) =>
      JSON.stringify(conditions).includes('unreachable'),
    );
    await shared.client().delete(`${members.collection}/west`);
    await shared.client().untilGone(`${collection}/given`);
    await members.plane('west').startApiServer();
    assert.equal(dataOf(await members.client('west').get(childPath('three'))).text, 'west');
  });
});
