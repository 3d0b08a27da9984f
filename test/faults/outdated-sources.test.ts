import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { textMap, thing, thingDefinition } from '../support/definitions.ts';
import {
  type ProxiedPlane,
  type ProxiedRequest,
  startFaultProxy,
} from '../support/fault-proxy/index.ts';
import { HomeostatProcess } from '../support/homeostat-process.ts';
import { untilStatus } from '../support/scrape.ts';
import { otherFaults } from './other-faults.ts';

const [leads, follows] = ['first-replica', 'second-replica'];
const shared = useControlPlane({
  audit: true,
  controllerManager: false,
  users: [leads, follows],
});

const name = 'outdated';
const first = thingDefinition(name, `  children:${textMap('copy', '"A ${ spec.text }"')}\n`);
const second = thingDefinition(
  name,
  `  children:${textMap('copy', '"B ${ spec.text }"')}${textMap('extra')}\n`,
);
const late = thingDefinition('late', '  children: []\n');
const objectPath = (name: string) => `/apis/homeostat.dev/v1alpha1/operatordefinitions/${name}`;
const mapPath = (namespace: string, name: string) =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`;
const textOf = (object: KubeObject | undefined) =>
  (object?.data as { readonly text?: string } | undefined)?.text;

shared.describe('faults/outdated-sources', () => {
  const running = new Set<HomeostatProcess>();
  let proxied: ProxiedPlane;

  before(async () => {
    proxied = await startFaultProxy(shared.plane, follows);
    const group = 'rbac.authorization.k8s.io';
    await shared.client().apply({
      apiVersion: `${group}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'replicas' },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [leads, follows].map((name) => ({ apiGroup: group, kind: 'User', name })),
    });
  });
  after(async () => {
    await Promise.all([...running].map((process) => process.stop('SIGKILL')));
    await proxied?.proxy.stop();
  });

  function start(kubeconfig: string, namespace: string): HomeostatProcess {
    const flags = [
      ...['--sources', 'configmaps', '--namespace', namespace],
      // No Lease runs out: neither process loses it where the machine stands still.
      ...['--leader-elect', '--lease-duration', '90s'],
      ...['--renew-deadline', '60s', '--retry-period', '1s'],
    ];
    const process = new HomeostatProcess({ kubeconfig, flags });
    running.add(process);
    return process;
  }

  test(otherFaults.outdatedLeader.name, async () => {
    const [operators, namespace] = [await shared.namespace(), await shared.namespace()];
    const client = shared.client();
    const save = (data: Readonly<Record<string, string>>) =>
      client.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'definitions',
          namespace: operators,
          labels: { 'homeostat.dev/definitions': 'true' },
        },
        data,
      });
    const untilText = (text: string) =>
      client.untilObject(mapPath(namespace, 'one-copy'), (object) => textOf(object) === text);
    await save({ 'a.yaml': first });
    const leader = start(shared.plane.kubeconfigPath(leads), operators);
    await leader.whenLogged('Became leader');
    await leader.whenReady();
    const follower = start(proxied.kubeconfig, operators);
    await follower.whenLogged('Follower, another process is the leader');
    await untilStatus(follower, '/readyz', 200);
    await client.apply(thing(name, namespace, { text: 'one' }));
    await untilText('A one');

    await save({ 'a.yaml': second, 'late.yaml': late });
    await untilText('B one');
    await client.untilObject(mapPath(namespace, 'one-extra'), (object) => object !== undefined);
    const mark = { metadata: { annotations: { 'homeostat.dev/paused': 'true' } } };
    await client.untilObject(objectPath('late'), (object) => object?.status !== undefined);
    const marked = await client.patch<KubeObject>(objectPath('late'), mark);
    const asked = shared.audit.entries({ user: follows, ofDefinitions: true });
    assert.deepEqual(
      asked.filter(({ resource }) => resource !== 'leases'),
      [],
      'a follower asks for nothing but the Lease',
    );

    // The leadership changes, and the new leader cannot list what is desired.
    const isSource = ({ resource, namespace: where }: ProxiedRequest) =>
      (resource === 'configmaps' && where === operators) || resource === 'operatordefinitions';
    const held = proxied.proxy.inject({
      name: 'sources are slow',
      on: 'request',
      when: (request) => request.verb === 'list' && isSource(request),
      action: { kind: 'hold', what: 'answer' },
    });
    const since = shared.audit.mark();
    await leader.stop();
    await follower.whenLogged('Became leader');
    await held.untilCount(2);
    await client.apply(thing(name, namespace, { text: 'two' }));
    await shared.audit.quiet(1_500, { user: follows });
    const written = () =>
      shared.audit
        .entries({ user: follows, since, ofDefinitions: true })
        .filter(({ verb }) => !['get', 'list', 'watch'].includes(verb))
        .filter(({ resource }) => !['leases', 'events'].includes(resource))
        .map(({ verb, uri }) => `${verb} ${uri.replace(/\?.*/, '')}`);
    assert.deepEqual(written(), []);

    proxied.proxy.clear();
    await untilText('B two');
    await shared.audit.quiet(1_500, { user: follows, ofDefinitions: true });
    assert.deepEqual(
      written().filter((write) => !/\/things\/|\/configmaps\/one-|\/status$/.test(write)),
      [],
      'it records nothing else, and shows nothing else',
    );
    assert.deepEqual(
      written().filter((write) => write.startsWith('delete')),
      [],
    );
    const left = await client.get<KubeObject>(objectPath('late'));
    assert.equal(left?.metadata.uid, marked.metadata.uid);
    assert.equal(left?.metadata.annotations?.['homeostat.dev/paused'], 'true');
    assert.ok(await client.get(mapPath(namespace, 'one-extra')));
  });
});
