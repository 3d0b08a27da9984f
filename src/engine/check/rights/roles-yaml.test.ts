import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseYamlDocuments } from '#definition';
import { mergeRules } from './access-rule.ts';
import { rolesYaml, rulesYaml } from './roles-yaml.ts';

const rules = mergeRules([
  {
    apiGroup: 'apps',
    resource: 'deployments',
    verbs: ['list', 'watch'],
    purpose: 'children',
    reason: 'a: "web": its children',
  },
  {
    apiGroup: '',
    resource: 'secrets',
    names: ['one'],
    verbs: ['patch', 'get'],
    purpose: 'reads',
    reason: 'b',
    namespaces: ['x', 'y'],
  },
]);
const serviceAccount = { namespace: 'system', name: 'runner' };

describe('check/rights: roles as YAML', () => {
  test('a ClusterRole, a Role for each namespace, and their bindings', () => {
    const documents = parseYamlDocuments(rolesYaml({ name: 'mine', serviceAccount, rules }));
    const subjects = [{ kind: 'ServiceAccount', ...serviceAccount }];
    const apiGroup = 'rbac.authorization.k8s.io';
    const secrets = { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'] };
    const inNamespace = (namespace: string) => [
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'Role',
        metadata: { name: 'mine', namespace },
        rules: [{ ...secrets, verbs: ['get', 'patch'] }],
      },
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'RoleBinding',
        metadata: { name: 'mine', namespace },
        roleRef: { apiGroup, kind: 'Role', name: 'mine' },
        subjects,
      },
    ];
    assert.deepEqual(documents, [
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRole',
        metadata: { name: 'mine' },
        rules: [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['list', 'watch'] }],
      },
      {
        apiVersion: `${apiGroup}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: 'mine' },
        roleRef: { apiGroup, kind: 'ClusterRole', name: 'mine' },
        subjects,
      },
      ...inNamespace('x'),
      ...inNamespace('y'),
    ]);
  });

  test('each rule stands below what it is for', () => {
    const text = rulesYaml(rules.slice(0, 1), { comment: ({ purposes }) => purposes });
    assert.equal(
      text,
      `  # a: "web": its children
  # children
  - apiGroups: ["apps"]
    resources: ["deployments"]
    verbs: ["list", "watch"]
`,
    );
  });
});
