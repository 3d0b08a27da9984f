import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  checkDefinitions,
  definitionRights,
  type MergedRule,
  rolesYaml,
  runtimeRights,
} from '#check';
import { bundledPlural, bundledSchemas } from '#compile';
import { parseYaml, parseYamlDocuments } from '#definition';
import type { KubeObject } from '#util/kube-object.ts';
import { type Plane, type PlaneClient, useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useRuntimes } from '../support/homeostat.ts';
import { useMembers } from '../support/members.ts';
import { patienceMs } from '../support/patience.ts';
import { untilAllowed } from '../support/rights/access.ts';
import { auditedRequests } from '../support/rights/audited-request.ts';
import { isUsedBy, rightsOfRoles, rightText } from '../support/rights/granted-rule.ts';

const user = 'limited';
const shared = useControlPlane({ audit: true, users: [user] });
const launch = useRuntimes(shared);
const definitions = '/apis/homeostat.dev/v1alpha1/operatordefinitions';

const running = thingDefinition(
  'running',
  `  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { x: "1" } } }]
  removalPolicy: Delete
  controller: { clusters: { selector: all } }
`,
);
const placing = thingDefinition(
  'placing',
  `  reads:
    - { id: source, apiVersion: v1, kind: Service, name: source, cluster: placing, optional: true }
  children:
    - id: far
      cluster: placing
      template: { apiVersion: v1, kind: Secret, metadata: { name: far }, stringData: { x: "\${ spec.x }" } }
  status: { found: "\${ $exists(reads.source) }" }
`,
);

/** The plan of one definition. */
function planOf(text: string) {
  const { accepted } = checkDefinitions([{ file: 'a.yaml', text }], { schemas: bundledSchemas() });
  const [first] = accepted;
  assert.ok(first);
  return first.plan;
}

/** Gives the user these rights, as `homeostat rights` prints them; returns the roles. */
async function grant(
  client: PlaneClient,
  name: string,
  rules: readonly MergedRule[],
): Promise<readonly KubeObject[]> {
  const serviceAccount = { namespace: 'default', name };
  const roles = parseYamlDocuments(
    rolesYaml({ name, serviceAccount, rules }),
  ) as unknown as readonly KubeObject[];
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
  for (const role of roles)
    await client.apply(role.kind.endsWith('Binding') ? { ...role, subjects } : role);
  const granted = roles.filter(({ kind }) => !kind.endsWith('Binding'));
  await untilAllowed(client, user, rightsOfRoles(granted));
  return granted;
}

/** Resolves when the audit log shows that all rights of these roles were needed, but for some that only chance needs. */
async function untilUsed(
  plane: Plane,
  roles: readonly KubeObject[],
  byChance: readonly string[] = [],
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  const missing = () => unused(plane.auditFile, roles).filter((right) => !byChance.includes(right));
  // What was seen may not be in the log yet.
  while (missing().length > 0 && performance.now() < deadline) await plane.client().sleep(100);
  assert.deepEqual(missing(), []);
}

/** The rights of these roles that no request has needed, as messages. */
function unused(auditFile: string | undefined, roles: readonly KubeObject[]): readonly string[] {
  const requests = auditedRequests(auditFile ?? '', user);
  assert.deepEqual(
    requests.filter(({ isForbidden }) => isForbidden).map(({ verb, uri }) => `${verb} ${uri}`),
    [],
  );
  return rightsOfRoles(roles)
    .filter((right) => !requests.some((request) => isUsedBy(right, request)))
    .map(rightText)
    .sort();
}

const isConflict = (object: KubeObject | undefined) => conditionOf(object)?.reason === 'Conflict';

/** An object of somebody else is in the way meanwhile: it is looked at. */
async function blockedBy(
  client: PlaneClient,
  { kind, name }: { readonly kind: string; readonly name: string },
  act: () => Promise<void>,
): Promise<void> {
  const object = { apiVersion: 'v1', kind, metadata: { name, namespace: 'default' } };
  await client.apply(object);
  await act();
  await client.delete(await client.pathOf(object));
}

shared.describe('integration/member-rights', () => {
  const members = useMembers(shared, ['running', 'placing']);

  const startOnHub = async (text: string) => {
    const rights = runtimeRights({ leaseName: '' });
    const client = shared.client();
    await grant(client, 'runtime', [
      ...rights.cluster,
      ...rights.clusters,
      // By name, as with `clusters.secretNames` of the chart.
      ...rights.clusterSecrets.map((rule) => ({ ...rule, names: ['running', 'placing'] })),
    ]);
    const roles = await grant(
      client,
      'definition',
      definitionRights([planOf(text)], bundledPlural).rules,
    );
    const homeostat = launch({
      user,
      flags: [
        ...['--sources', 'objects', '--namespace', 'homeostat-test'],
        ...['--runtime', 'limited', '--cluster-secrets', 'default'],
      ],
    });
    await client.untilList(definitions, () => true);
    await client.apply(parseYaml(text) as unknown as KubeObject);
    await client.untilList(members.collection, () => true);
    return { homeostat, roles };
  };

  test('a definition runs in a member with the rights that are printed for it, and needs all of them', async () => {
    const { member, memberDefinitions } = runtimeRights({ leaseName: '' });
    const client = members.client('running');
    const { rules } = definitionRights([planOf(running)], bundledPlural, { inMembers: true });
    const roles = await grant(client, 'running', [...member, ...memberDefinitions, ...rules]);
    const { homeostat } = await startOnHub(running);
    await members.register('running', { kubeconfig: members.plane('running').kubeconfig(user) });
    await members.untilReason('running', 'Running', 'Ready');
    await client.untilList('/apis/running.example.com/v1/things', () => true);
    await blockedBy(client, { kind: 'ConfigMap', name: 'one' }, async () => {
      await client.apply(thing('running', 'default', {}));
      await client.untilObject(thingPath('running', 'default'), isConflict);
    });
    await client.untilObject(thingPath('running', 'default'), (object) =>
      JSON.stringify(object?.status ?? {}).includes('AllReady'),
    );
    await shared.client().delete(`${definitions}/running`);
    await shared.client().untilGone(`${definitions}/running`);
    assert.equal(await client.get('/api/v1/namespaces/default/configmaps/one'), undefined);
    await homeostat.stop();
    await shared.client().delete(`${members.collection}/running`);
    await untilUsed(members.plane('running'), roles, [
      // When an Event is repeated.
      'ClusterRole running: patch events.events.k8s.io',
      // By an admission plugin that is on in some distributions.
      'ClusterRole running: update things/finalizers.running.example.com',
    ]);
  });

  test('objects are placed in a member with the rights that are printed for it and for the hub, and all of them are needed', async () => {
    const { member } = runtimeRights({ leaseName: '' });
    const client = members.client('placing');
    const { rules } = definitionRights([planOf(placing)], bundledPlural, { inMembers: true });
    const roles = await grant(client, 'placing', [...member, ...rules]);
    const hub = await startOnHub(placing);
    await members.register('placing', { kubeconfig: members.plane('placing').kubeconfig(user) });
    await members.untilReason('placing', 'Connected');
    await shared.client().untilList('/apis/placing.example.com/v1/things', () => true);
    const place = thingPath('placing', 'default');
    const far = '/api/v1/namespaces/default/secrets/far';
    const untilReady = () =>
      shared.client().untilObject(place, (object) => conditionOf(object)?.status === 'True');
    await blockedBy(client, { kind: 'Secret', name: 'far' }, async () => {
      await shared.client().apply(thing('placing', 'default', { x: 'a' }));
      await shared.client().untilObject(place, isConflict);
    });
    await untilReady();
    // An object that has lost a label is looked at before it is changed.
    await client.patch(far, { metadata: { labels: { 'homeostat.dev/child': 'another' } } });
    await client.untilObject(
      far,
      (object) => object?.metadata.labels?.['homeostat.dev/child'] === 'far',
    );
    await shared.client().delete(place);
    await shared.client().untilGone(place);
    assert.equal(await client.get(far), undefined);
    await hub.homeostat.stop();
    await untilUsed(members.plane('placing'), roles);
    await untilUsed(shared.plane, hub.roles, [
      // When somebody else has changed the metadata meanwhile.
      'ClusterRole definition: get things.placing.example.com',
    ]);
  });

  test('a right on the Secret that is missing on the hub is Forbidden, with the rule, until it is granted', async () => {
    const rights = runtimeRights({ leaseName: '' });
    const client = shared.client();
    const own = [...rights.cluster, ...rights.clusters];
    await grant(client, 'runtime', own);
    const homeostat = launch({
      user,
      flags: ['--sources', 'objects', '--runtime', 'limited', '--cluster-secrets', 'default'],
    });
    await members.register('placing', { kubeconfig: members.plane('placing').kubeconfig(user) });
    const found = await members.untilReason('placing', 'Forbidden');
    assert.match(
      conditionOf(found, 'Connected')?.message ?? '',
      /^The Secret cannot be read: The runtime is not allowed to list secrets in namespace "default"; grant the rule \{ apiGroups: \[""\], resources: \["secrets"\], resourceNames: \["placing"\], verbs: \["list", "watch"\] \}$/,
    );
    await grant(client, 'runtime', [...own, ...rights.clusterSecrets]);
    await members.untilReason('placing', 'Connected');
    await homeostat.stop();
  });
});
