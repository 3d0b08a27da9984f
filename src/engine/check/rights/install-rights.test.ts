import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledPlural, bundledSchemas } from '#compile';
import { installing } from '../../../../test/support/installing.ts';
import { checkDefinitions } from '../check-definitions.ts';
import { definitionRights } from './definition-rights.ts';

const rbac = 'rbac.authorization.k8s.io';

function rightsOf(
  entries: string,
  more = '',
  options: Parameters<typeof definitionRights>[2] = {},
) {
  const file = { file: 'thing.yaml', text: installing('thing', entries, more) };
  const { accepted, diagnostics } = checkDefinitions([file], { schemas: bundledSchemas() });
  assert.deepEqual(diagnostics, []);
  return definitionRights(
    accepted.map(({ plan }) => plan),
    bundledPlural,
    options,
  );
}

function rulesOn({ rules }: ReturnType<typeof rightsOf>, resource: string) {
  return rules
    .filter((rule) => rule.resource === resource)
    .map(({ verbs, names, namespaces }) => ({ verbs: verbs.join(' '), names, namespaces }));
}

const object = (id: string, manifest: string) => `
    - id: ${id}
      template: ${manifest}`;
const board = object(
  'board',
  '{ apiVersion: v1, kind: ConfigMap, metadata: { name: board, namespace: monitoring } }',
);

describe('check/rights/install', () => {
  test('writes are limited to literal names and namespaces', () => {
    assert.deepEqual(rulesOn(rightsOf(board), 'configmaps'), [
      { verbs: 'list watch', names: undefined, namespaces: undefined },
      { verbs: 'get create patch delete', names: ['board'], namespaces: ['monitoring'] },
    ]);
  });

  test('a computed name needs all names', () => {
    const computed = object(
      'board',
      `{ apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ definition.metadata.name }", namespace: monitoring } }`,
    );
    assert.deepEqual(rulesOn(rightsOf(computed), 'configmaps')[1], {
      verbs: 'get create patch delete',
      names: undefined,
      namespaces: ['monitoring'],
    });
  });

  test('the notes say what roles, bindings, policies and webhooks mean, and the rules of a role are needed', () => {
    const found = rightsOf(
      [
        object(
          'viewRole',
          `{ apiVersion: ${rbac}/v1, kind: ClusterRole, metadata: { name: a, labels: { ${rbac}/aggregate-to-view: "true" } }, rules: [{ apiGroups: [thing.example.com], resources: [things], verbs: [get] }] }`,
        ),
        object(
          'binding',
          `{ apiVersion: ${rbac}/v1, kind: ClusterRoleBinding, metadata: { name: a }, roleRef: { apiGroup: ${rbac}, kind: ClusterRole, name: view }, subjects: [{ apiGroup: ${rbac}, kind: Group, name: all }] }`,
        ),
        object(
          'policy',
          '{ apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: { name: a }, spec: { validations: [{ expression: "true" }] } }',
        ),
        object(
          'webhook',
          '{ apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: { name: a } }',
        ),
        board,
      ].join(''),
    );
    assert.deepEqual(found.notes, [
      'thing: object of "install" "viewRole" (ClusterRole): its rules become part of the ClusterRole "view": everyone who has such a role gets them, and the runtime must hold them',
      'thing: object of "install" "binding" (ClusterRoleBinding): it grants a role: users who may change the definition decide who has these rights',
      'thing: object of "install" "policy" (ValidatingAdmissionPolicy): it decides about the requests of all users that it matches, and may block them',
      'thing: object of "install" "webhook" (MutatingWebhookConfiguration): the API server sends requests of all users to the webhook that it names, which may reject them and read their objects',
    ]);
    assert.deepEqual(
      found.rules
        .filter(({ purposes }) => purposes.includes('granted-rules'))
        .map(({ verbs }) => verbs),
      [['get', 'list', 'watch']],
    );
    assert.deepEqual(
      rulesOn(found, 'clusterroles').filter(({ verbs }) => verbs === 'bind'),
      [{ verbs: 'bind', names: ['view'], namespaces: undefined }],
    );
  });

  test('rules and defaults for the API server are limited to their policies, and their meaning is said once', () => {
    const admission = `  admission:
    defaults: [{ path: spec.image, value: object.metadata.name }]
    rules: [{ rule: "request.name != 'a'", message: Not permitted }]
`;
    const found = rightsOf('', admission);
    assert.deepEqual(found.notes, [
      'thing: "admission" (MutatingAdmissionPolicy): it changes objects in the requests of all users that it matches',
      'thing: "admission" (ValidatingAdmissionPolicy): it decides about the requests of all users that it matches, and may block them',
    ]);
    for (const kind of ['mutating', 'validating'])
      for (const resource of [`${kind}admissionpolicies`, `${kind}admissionpolicybindings`])
        assert.deepEqual(rulesOn(found, resource), [
          { verbs: 'list watch', names: undefined, namespaces: undefined },
          {
            verbs: 'get create patch delete',
            names: ['thing.homeostat.dev'],
            namespaces: undefined,
          },
        ]);
  });

  test('a computed target of an aggregated role is not quoted', () => {
    const label = `"${rbac}/aggregate-to-\${ $item }": "true"`;
    const roles = `
    - id: roles
      forEach: [view, edit]
      template: { apiVersion: ${rbac}/v1, kind: ClusterRole, metadata: { name: "a-\${ $item }", labels: { ${label} } }, rules: [] }`;
    assert.deepEqual(rightsOf(roles).notes, [
      'thing: object of "install" "roles" (ClusterRole): its rules become part of the ClusterRoles that its labels name: everyone who has such a role gets them, and the runtime must hold them',
    ]);
  });

  test('of a definition that runs in members, only its own objects need rights on the hub', () => {
    const inMembers = '  controller: { clusters: { selector: all } }\n';
    const onHub = rightsOf(board, inMembers, { isHub: true });
    assert.deepEqual([...new Set(onHub.rules.map(({ resource }) => resource))], ['configmaps']);
    const there = rightsOf(board, inMembers, { inMembers: true });
    assert.deepEqual(rulesOn(there, 'configmaps'), []);
  });
});
