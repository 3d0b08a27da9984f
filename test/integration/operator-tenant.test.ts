import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { statusOf } from '../support/definitions.ts';
import { isReady, operatorSuite, type Place } from '../support/operator-suite.ts';

const shared = useControlPlane({ audit: true });
const rbac = '/apis/rbac.authorization.k8s.io/v1';

const namespace = ({ name }: Place) => `/api/v1/namespaces/tenant-${name}`;
/** An object in the namespace of the tenant. */
const within = (root: string, plural: string, object: string) => (place: Place) =>
  `${root}/namespaces/tenant-${place.name}/${plural}/${object}`;
const quota = within('/api/v1', 'resourcequotas', 'tenant');
const policy = within('/apis/networking.k8s.io/v1', 'networkpolicies', 'tenant');
const role = within(rbac, 'roles', 'tenant-member');
const memberOf = (user: string) => within(rbac, 'rolebindings', `member-${user}`);
const accessOf = (user: string) => within(rbac, 'rolebindings', `access-${user}`);

const hardOf = (object: KubeObject | undefined) =>
  (object?.spec as { readonly hard?: Readonly<Record<string, string>> } | undefined)?.hard ?? {};
const roleOf = (object: KubeObject | undefined) =>
  (object?.roleRef as { readonly name?: string } | undefined)?.name;

shared.describe('integration/operator-tenant', () => {
  const { stage } = operatorSuite(shared, {
    name: 'tenant',
    isClusterScoped: true,
    resource: {
      apiVersion: 'platform.example.com/v1alpha1',
      kind: 'Tenant',
      metadata: { name: 'team' },
      spec: { members: [{ name: 'ada', role: 'admin' }, { name: 'grace' }] },
    },
    children: [namespace, quota, policy, role, memberOf('ada'), accessOf('ada'), accessOf('grace')],
    // A namespace does not come back before all that is in it is gone.
    returning: [quota, policy, role, memberOf('ada'), accessOf('ada')],
    edits: [
      {
        what: 'a quota',
        change: { spec: { quota: { cpu: '8', pods: 7 } } },
        path: quota,
        isDone: (object) => hardOf(object)['requests.cpu'] === '8' && hardOf(object).pods === '7',
      },
      {
        what: 'a new member',
        change: { spec: { members: [{ name: 'alan', role: 'view' }] } },
        path: accessOf('alan'),
        isDone: (object) => roleOf(object) === 'view',
      },
      {
        what: 'a member that leaves',
        change: { spec: { members: [{ name: 'ada', role: 'admin' }] } },
        path: memberOf('grace'),
        isDone: (object) => object === undefined,
      },
      {
        what: 'another role, which takes another object',
        change: { spec: { members: [{ name: 'ada', role: 'view' }] } },
        path: accessOf('ada'),
        isDone: (object) => roleOf(object) === 'view',
      },
      {
        what: 'no isolation',
        change: { spec: { isolated: false } },
        path: policy,
        isDone: (object) => object === undefined,
      },
    ],
    drifts: [
      {
        what: 'a quota that a user raises',
        path: quota,
        change: { spec: { hard: { pods: '1000' } } },
        isBack: (object) => hardOf(object).pods === '50',
      },
      {
        what: 'a role that a user widens',
        path: role,
        change: { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
        isBack: (object) => JSON.stringify(object?.rules).includes('resourcequotas'),
      },
      {
        what: 'a member whom a user puts in',
        path: accessOf('ada'),
        change: { subjects: [] },
        isBack: (object) => JSON.stringify(object?.subjects ?? []).includes('ada'),
      },
      {
        what: 'a label of the namespace',
        path: namespace,
        change: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'privileged' } } },
        isBack: (object) =>
          object?.metadata.labels?.['pod-security.kubernetes.io/enforce'] === 'baseline',
      },
    ],
  });

  test('the namespace and what is in it belong to the tenant', async () => {
    const tenant = await stage();
    for (const path of [namespace, quota]) {
      const [owner] = (await tenant.client.get(path(tenant)))?.metadata.ownerReferences ?? [];
      assert.equal(owner?.uid, tenant.resource.metadata.uid);
    }
    assert.equal(statusOf(tenant.resource).members, 2);
  });

  test('a tenant without members has none, and takes them in again', async () => {
    const tenant = await stage();
    const { client, path } = tenant;
    await client.patch(path, { spec: { members: null } });
    await client.untilGone(memberOf('ada')(tenant));
    await client.patch(path, { spec: { members: [{ name: 'ada', role: 'edit' }] } });
    await client.untilObject(accessOf('ada')(tenant), (object) => roleOf(object) === 'edit');
    await client.untilObject(path, isReady);
  });
});
