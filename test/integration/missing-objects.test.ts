import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import { useControlPlane } from '../support/control-plane/index.ts';
import { conditionOf, thing, thingDefinition, thingPath } from '../support/definitions.ts';
import { useHomeostat } from '../support/homeostat.ts';
import { grantExactly, type Rule, runtimeRules } from '../support/rights/index.ts';

const limited = 'limited';
const shared = useControlPlane({ audit: true, users: [limited] });
const startHomeostat = useHomeostat(shared);

const placed = thingDefinition(
  'placed',
  `  children:
    - id: config
      crossNamespace: { namespaces: ["*"] }
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata: { name: "\${ metadata.name }", namespace: "\${ spec.where }" }
`,
);

const granting = thingDefinition(
  'granting',
  `  children:
    - id: role
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: { name: "\${ metadata.name }" }
        rules: [{ apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, update] }]
    - id: binding
      template:
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: { name: "\${ metadata.name }" }
        roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: "\${ metadata.name }" }
        subjects: [{ kind: ServiceAccount, name: default, namespace: "\${ metadata.namespace }" }]
`,
);

const all = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'];
const rightsOfGranting: readonly Rule[] = [
  ...runtimeRules,
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: all },
  { apiGroups: ['granting.example.com'], resources: ['things', 'things/status'], verbs: all },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: all },
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings'],
    verbs: all,
  },
];
const leases: Rule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['get', 'update'],
};

/** The resource when its condition `Ready` has this reason and a message like this. */
function until(path: string, reason: string, message = /^/): Promise<KubeObject | undefined> {
  return shared.client().untilObject(path, (object) => {
    const ready = conditionOf(object);
    return ready?.reason === reason && message.test(ready.message ?? '');
  });
}

shared.describe('integration/missing-objects', () => {
  before(async () => {
    await startHomeostat({ 'placed.yaml': placed });
  });

  test('a namespace that does not exist is named and not asked for again, and the child is made when it exists', async () => {
    const namespace = await shared.namespace();
    const where = `${namespace}-later`;
    const path = thingPath('placed', namespace);
    await shared.client().apply(thing('placed', namespace, { where }));
    await until(
      path,
      'ApplyFailed',
      new RegExp(`config "one": Namespace "${where}" does not exist`),
    );
    await shared.audit.quiet(1_000);
    const mark = shared.audit.mark();
    await shared.audit.quiet(3_000);
    assert.deepEqual(shared.audit.atRest({ since: mark }), []);
    await shared.client().apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: where } });
    await until(path, 'AllReady');
  });

  test('a grant beyond own rights is quoted, the role that is missing because of it is named, and both are made when the right is given', async () => {
    const client = shared.client();
    await grantExactly(client, limited, rightsOfGranting);
    await startHomeostat({ 'granting.yaml': granting }, limited);
    const namespace = await shared.namespace();
    const path = thingPath('granting', namespace);
    await client.apply(thing('granting', namespace, {}));
    await until(path, 'ApplyFailed', /role "one": .*is attempting to grant RBAC permissions/s);
    await until(path, 'ApplyFailed', /binding "one": Role "one" does not exist/);
    await grantExactly(client, limited, [...rightsOfGranting, leases]);
    await until(path, 'AllReady');
  });
});
