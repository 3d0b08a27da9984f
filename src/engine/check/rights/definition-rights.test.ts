import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledPlural, bundledSchemas } from '#compile';
import { recordKeysName } from '#util/stored-names.ts';
import { shippedText, thingDefinition } from '../../../../test/support/definitions.ts';
import { checkDefinitions } from '../check-definitions.ts';
import { definitionRights } from './definition-rights.ts';

function rightsOf(...texts: readonly string[]) {
  const files = texts.map((text, index) => ({ file: `${index}.yaml`, text }));
  const { accepted, diagnostics } = checkDefinitions(files, { schemas: bundledSchemas() });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, []);
  return definitionRights(
    accepted.map(({ plan }) => plan),
    bundledPlural,
  );
}

/** What may be done to a resource, as `verbs [names] @namespaces`. */
function allowed(
  { rules }: ReturnType<typeof definitionRights>,
  apiGroup: string,
  resource: string,
) {
  return rules
    .filter((rule) => rule.apiGroup === apiGroup && rule.resource === resource)
    .map(({ verbs, names, namespaces }) =>
      [
        verbs.join(' '),
        ...(names === undefined ? [] : [`[${names.join(' ')}]`]),
        ...(namespaces === undefined ? [] : [`@${namespaces.join(' ')}`]),
      ].join(' '),
    );
}

const group = 'mine.example.com';
const mine = (body: string) => rightsOf(thingDefinition('mine', body));

const configMap = `  children:
    - id: config
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ metadata.name }" }, data: { a: YQ== } }
`;

describe('check/rights: what a definition needs', () => {
  test('without children: to watch its resources and to write their status', () => {
    const rights = mine('  status: { a: b }\n');
    assert.deepEqual(
      rights.rules.map(({ resource, verbs }) => `${resource}: ${verbs.join(' ')}`),
      ['customresourcedefinitions: create patch', 'things: list watch', 'things/status: patch'],
    );
    assert.deepEqual(rights.notes, []);
  });

  test('its own CRD is the only one that may be written', () => {
    const rules = allowed(mine(configMap), 'apiextensions.k8s.io', 'customresourcedefinitions');
    assert.deepEqual(rules, ['create patch [things.mine.example.com]']);
  });

  for (const [what, fields, spec, isPatched] of [
    ['a time to live', '', 'ttlSecondsAfterFinished: 60', true],
    ['a spec that is computed', '', '"${ spec.job }"', true],
    ['no time to live', '', 'backoffLimit: 1', false],
    ['"runs: Always"', 'runs: Always, ', 'ttlSecondsAfterFinished: 60', false],
    ['"runs: Once"', 'runs: Once, ', 'backoffLimit: 1', true],
  ] as const)
    test(`a Job with ${what}: its resources ${isPatched ? 'may' : 'need not'} be patched`, () => {
      const given = spec.startsWith('"') ? spec : `{ ${spec}, template: "\${ spec.pod }" }`;
      const rights = mine(`  children:
    - { id: job, ${fields}template: { apiVersion: batch/v1, kind: Job, metadata: { name: a }, spec: ${given} } }
`);
      const expected = isPatched ? ['get patch list watch'] : ['list watch'];
      assert.deepEqual(
        allowed(rights, group, 'things').map((rule) => rule.split(' ').sort().join(' ')),
        expected.map((rule) => rule.split(' ').sort().join(' ')),
      );
    });

  test('with several versions its resources may be written again, and the record of stored versions trimmed', () => {
    const one = '      - name: v1\n';
    const text = thingDefinition('mine', '').replace(
      one,
      `      - { name: v0, served: true, storage: false, schema: { openAPIV3Schema: { type: object } } }\n${one}        served: true\n        storage: true\n`,
    );
    const rights = rightsOf(text);
    const status = allowed(rights, 'apiextensions.k8s.io', 'customresourcedefinitions/status');
    assert.deepEqual(status, ['patch [things.mine.example.com]']);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
  });

  test('its CRD may be deleted where it is to go with it', () => {
    const rights = rightsOf(thingDefinition('mine', '  crdPolicy: { deletion: Delete }\n'));
    const rules = allowed(rights, 'apiextensions.k8s.io', 'customresourcedefinitions');
    assert.deepEqual(rules, ['create patch delete [things.mine.example.com]']);
  });

  test('children may be watched, made, changed and deleted; their owner may be named as such', () => {
    const rights = mine(configMap);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch create patch delete']);
    assert.deepEqual(allowed(rights, group, 'things/finalizers'), ['update']);
    assert.deepEqual(allowed(rights, group, 'things'), ['list watch']);
  });

  test('Secrets are for those that make or read them', () => {
    const isSecret = ({ resource }: { readonly resource: string }) => resource === 'secrets';
    assert.equal(mine(configMap).rules.some(isSecret), false);
    const reads =
      '  reads:\n    - { id: a, apiVersion: v1, kind: Secret, name: "${ spec.secret }" }\n';
    const status = '  status: { b: "${ $exists(reads.a) }" }\n';
    assert.deepEqual(allowed(mine(reads + status), '', 'secrets'), ['list watch']);
  });

  const readsOf = (...reads: readonly string[]) =>
    `  reads:\n${reads.map((read) => `    - { apiVersion: v1, kind: Secret, ${read} }\n`).join('')}  status: { b: "\${ $exists(reads.a) }" }\n`;
  const elsewhere = 'id: a, name: a, namespace: shared, crossNamespace: true';

  for (const [what, body, ...rules] of [
    ['a written name is read everywhere', readsOf('id: a, name: a'), 'list watch [a]'],
    ['a written name and namespace are read there', readsOf(elsewhere), 'list watch [a] @shared'],
    [
      'a computed namespace can be any',
      readsOf(
        'id: a, name: a, namespace: "${ spec.n }", crossNamespace: { namespaces: ["team-*"] }',
      ),
      'list watch [a]',
    ],
    [
      'two written names are two rules',
      readsOf('id: a, name: a', 'id: b, name: b'),
      'list watch [a]',
      'list watch [b]',
    ],
    ['a computed name can be any', readsOf('id: a, name: "${ spec.a }"'), 'list watch'],
    [
      'a written name beside a computed one adds nothing',
      readsOf('id: a, name: a', 'id: b, name: "${ spec.b }"'),
      'list watch',
    ],
    [
      'a written name of a kind that is made adds nothing',
      `${readsOf(elsewhere)}${configMap.replace('kind: ConfigMap', 'kind: Secret')}`,
      'get list watch create patch delete',
    ],
  ] as const)
    test(`a read by name: ${what}`, () => {
      assert.deepEqual(allowed(mine(body), '', 'secrets'), rules);
    });

  test('a finalizer takes the right to write the resource', () => {
    const orphaning = configMap.replace(
      '- id: config',
      '- id: config\n      deletionPolicy: Orphan',
    );
    const rights = mine(orphaning);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
    // Such a child has no owner reference.
    assert.deepEqual(allowed(rights, group, 'things/finalizers'), []);
  });

  test('patches of a deletion need a finalizer, and ask whether the namespace is on its way out', () => {
    const rights = mine(`  patches:
    - id: last
      at: Deletion
      target: { apiVersion: v1, kind: ConfigMap, name: a }
      patch: { data: { a: b } }
    - id: clear
      at: Deletion
      target: { apiVersion: v1, kind: Pod, name: a }
      delete: true
`);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'namespaces'), ['get']);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'pods'), ['get list watch delete']);
  });

  test('"onDelete" asks whether the namespace is on its way out', () => {
    const rights = mine(`  onDelete:
    children:
      - id: last
        template: { apiVersion: v1, kind: ConfigMap, metadata: { name: last }, data: { a: b } }
`);
    assert.deepEqual(allowed(rights, '', 'namespaces'), ['get']);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch create patch delete']);
  });

  test('patches that are withdrawn, of a status, and that delete', () => {
    const rights = mine(`  patches:
    - id: label
      target: { apiVersion: v1, kind: ConfigMap, name: a }
      withdraw: true
      patch: { metadata: { labels: { a: b } } }
    - id: address
      target: { apiVersion: v1, kind: Service, name: a }
      status: true
      patch: { status: { loadBalancer: {} } }
    - id: restart
      target: { apiVersion: v1, kind: Pod, name: a }
      once: \${ spec.at }
      delete: true
`);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'services'), ['get list watch']);
    assert.deepEqual(allowed(rights, '', 'services/status'), ['patch']);
    assert.deepEqual(allowed(rights, '', 'pods'), ['get list watch delete']);
  });

  test('patches: of the resource itself, of others, and of those that may have to be made', () => {
    const rights = mine(`  patches:
    - id: self
      patch: { spec: { a: b } }
    - id: other
      target: { apiVersion: v1, kind: Service, name: other }
      patch: { metadata: { labels: { a: b } } }
    - id: made
      create: true
      target: { apiVersion: v1, kind: ConfigMap, name: made }
      patch: { data: { a: b } }
`);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'services'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch create patch']);
  });

  const journal = (read: string, rest = '') =>
    mine(`  reads:
    - { id: a, apiVersion: v1, kind: ConfigMap, selector: all, ${read} }
${rest}  status: { b: "\${ $count(history) }" }
`);

  test('history: records may be watched, made, marked and deleted, and what is recorded may be looked up', () => {
    const rights = journal('history: {}');
    assert.deepEqual(allowed(rights, 'apps', 'controllerrevisions'), [
      'get list watch create patch delete',
    ]);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch']);
    // Whether a resource exists whose records are found.
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch']);
  });

  test('history: the keys that sign records are one Secret, in the namespace of the runtime where it is known', () => {
    const plansOf = (controller: string) => {
      const text = thingDefinition(
        'mine',
        `  reads: [{ id: a, apiVersion: v1, kind: ConfigMap, selector: all, history: {} }]
  controller: { ${controller} }
`,
      );
      const found = checkDefinitions([{ file: 'a.yaml', text }], { schemas: bundledSchemas() });
      return found.accepted.map(({ plan }) => plan);
    };
    const keys = (controller: string, options: Parameters<typeof definitionRights>[2]) =>
      allowed(definitionRights(plansOf(controller), bundledPlural, options), '', 'secrets');
    const rule = `list watch create patch [${recordKeysName}]`;
    assert.deepEqual(keys('', {}), [rule]);
    assert.deepEqual(keys('', { namespace: 'mine' }), [`${rule} @mine`]);
    const inMembers = keys('clusters: { selector: all }', { inMembers: true });
    assert.deepEqual(inMembers, [`${rule} @kube-system`]);
    assert.deepEqual(allowed(mine(configMap), '', 'secrets'), []);
  });

  test('history of Secrets needs rights on Secrets only', () => {
    const rights = mine(
      '  reads:\n    - { id: a, apiVersion: v1, kind: Secret, selector: all, history: { secrets: true } }\n',
    );
    assert.deepEqual(allowed(rights, '', 'secrets'), ['get list watch create patch delete']);
    assert.deepEqual(allowed(rights, 'apps', 'controllerrevisions'), []);
  });

  test('history of other namespaces takes the finalizer of the resource', () => {
    const rights = journal('namespaces: "*", crossNamespace: true, history: {}');
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
  });

  test('a restore of a computed kind may write the kinds that are recorded, and marks the resource', () => {
    const rights = journal(
      'history: {}',
      `  vars: { wanted: "\${ history[version = 1] }" }
  patches:
    - id: back
      once: \${ spec.to }
      create: true
      replace: true
      target: { apiVersion: "\${ vars.wanted.apiVersion }", kind: "\${ vars.wanted.kind }", name: "\${ vars.wanted.name }" }
      patch: \${ vars.wanted.object }
`,
    );
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch create update patch']);
    assert.deepEqual(allowed(rights, group, 'things'), ['get list watch patch']);
  });

  test('a selector over namespaces watches them', () => {
    const rights = mine(`  reads:
    - id: a
      apiVersion: v1
      kind: ConfigMap
      selector: all
      namespaceSelector: { matchLabels: { a: b } }
      crossNamespace: true
  status: { b: "\${ $count(reads.a) }" }
`);
    assert.deepEqual(allowed(rights, '', 'namespaces'), ['list watch']);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['list watch']);
  });

  const forKind = (kind: string, rest = '') => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: foreign }
spec:
  for: ${kind}
${configMap}${rest}`;

  test('a kind of others: no CRD, and no status that is not mapped', () => {
    const rights = rightsOf(forKind('{ apiVersion: apps/v1, kind: StatefulSet }'));
    assert.deepEqual(allowed(rights, 'apps', 'statefulsets'), ['list watch']);
    assert.deepEqual(allowed(rights, 'apps', 'statefulsets/status'), []);
    assert.deepEqual(allowed(rights, 'apps', 'statefulsets/finalizers'), ['update']);
    assert.deepEqual(
      rights.rules.filter(({ purposes }) => purposes.includes('crd')),
      [],
    );
  });

  test('where objects are selected, one that is selected no more is asked for', () => {
    const selective =
      '{ apiVersion: apps/v1, kind: StatefulSet, selector: { matchLabels: { a: b } } }';
    assert.deepEqual(allowed(rightsOf(forKind(selective)), 'apps', 'statefulsets'), [
      'get list watch',
    ]);
  });

  test('the plural of a kind that the server does not know is guessed, and a note says so', () => {
    const body = configMap.replace('v1, kind: ConfigMap', 'x.example.com/v1, kind: Proxy');
    const { rules, notes } = mine(body);
    assert.ok(rules.some(({ resource }) => resource === 'proxies'));
    assert.deepEqual(notes, [
      'The plural of "Proxy" of "x.example.com/v1" is assumed to be "proxies"',
    ]);
  });

  test('the plural of a kind that another definition brings is known', () => {
    const child = configMap.replace('v1, kind: ConfigMap', 'other.example.com/v1, kind: Thing');
    const { notes } = rightsOf(
      thingDefinition('mine', child.replace(', data: { a: b }', '')),
      thingDefinition('other', ''),
    );
    assert.deepEqual(notes, []);
  });

  test('definitions that need the same share a rule, which names them all', () => {
    const { rules } = rightsOf(thingDefinition('a', configMap), thingDefinition('b', configMap));
    const rule = rules.filter(({ resource }) => resource === 'configmaps');
    assert.deepEqual(
      rule.map(({ reasons }) => reasons),
      [['a: its children "config"', 'b: its children "config"']],
    );
  });
});

describe('check/rights: objects behind HTTP', () => {
  const remote = (spec: string, kind = 'HttpObject') => `  children:
    - id: record
      template: { apiVersion: homeostat.dev/v1alpha1, kind: ${kind}, metadata: { name: a }, spec: ${spec} }
`;
  const observing = 'endpoint: { name: api }, observe: { path: /x }';

  test('the runtime may install and serve both kinds, and reads no Secret without a reference', () => {
    const rights = mine(remote(`{ ${observing} }`));
    assert.deepEqual(rights.notes, []);
    assert.deepEqual(allowed(rights, 'homeostat.dev', 'httpendpoints'), ['get list watch patch']);
    assert.deepEqual(allowed(rights, 'homeostat.dev', 'httpobjects/status'), ['patch']);
    assert.deepEqual(allowed(rights, '', 'services'), ['get']);
    assert.deepEqual(allowed(rights, '', 'secrets'), []);
  });

  test('Secrets, ConfigMaps and accounts that are named literally are rights by name', () => {
    const inputs =
      'inputs: { a: { secretKeyRef: { name: db, key: k } }, b: { configMapKeyRef: { name: cm, key: k } } }';
    const rights = mine(
      remote(`{ ${observing}, ${inputs}, secret: { name: made, data: { t: $(result.t) } } }`),
    );
    assert.deepEqual(allowed(rights, '', 'secrets'), [
      'list watch [db]',
      'get create patch [made]',
    ]);
    assert.deepEqual(allowed(rights, '', 'configmaps'), ['list watch [cm]']);
    const login =
      'login: { path: /l, jwtField: jwt, serviceAccount: { name: robot, audience: a }, token: $(body.t) }';
    const endpoint = mine(remote(`{ url: "http://a.b.svc", auth: { ${login} } }`, 'HttpEndpoint'));
    assert.deepEqual(allowed(endpoint, '', 'serviceaccounts'), ['get [robot]']);
    assert.deepEqual(allowed(endpoint, '', 'serviceaccounts/token'), ['create [robot]']);
  });

  test('computed names are rights on all, and a note', () => {
    const inputs = 'inputs: { a: { secretKeyRef: { name: "${ metadata.name }", key: k } } }';
    const rights = mine(remote(`{ ${observing}, ${inputs} }`));
    assert.deepEqual(allowed(rights, '', 'secrets'), ['list watch']);
    assert.match(rights.notes.join(), /^mine: child "record" has computed names/);
  });

  test('a definition without these kinds has none of these rights', () => {
    const { rules } = mine(configMap);
    assert.ok(rules.every(({ purposes }) => !purposes.some((each) => each.startsWith('http'))));
  });
});

describe('check/rights: in namespaces', () => {
  const served = (include: string, body: string) =>
    mine(`${body}  controller: { namespaces: { include: ${include}, exclude: [c] } }\n`);

  test('writes stay in those that are named; watches are on the whole kind', () => {
    const rights = served('[b, a, c]', configMap);
    assert.deepEqual(allowed(rights, '', 'configmaps'), [
      'list watch',
      'get create patch delete @a b',
    ]);
    assert.deepEqual(allowed(rights, group, 'things'), ['list watch']);
    assert.deepEqual(allowed(rights, group, 'things/status'), ['patch @a b']);
  });

  for (const [what, rights] of [
    ['a glob names', served('["team-*"]', configMap)],
    [
      'a child leaves',
      served('[a]', configMap.replace('- id: config', '- id: config\n      crossNamespace: true')),
    ],
  ] as const) {
    test(`what ${what} cannot be narrowed`, () => {
      assert.deepEqual(allowed(rights, '', 'configmaps'), ['get list watch create patch delete']);
    });
  }
});

describe('check/rights: rights that are given to others', () => {
  const rbac = 'rbac.authorization.k8s.io';

  test('a tenant: the rules of its Role are held, the roles that its members may have can be bound', () => {
    const rights = rightsOf(shippedText('tenant.yaml'));
    assert.deepEqual(allowed(rights, rbac, 'clusterroles'), ['bind [admin edit view]']);
    assert.deepEqual(allowed(rights, rbac, 'roles'), ['get list watch create patch delete']);
    assert.ok(allowed(rights, '', 'resourcequotas').join().includes('get list watch'));
    assert.deepEqual(rights.notes, []);
  });

  const role = (rules: string) => `  children:
    - id: role
      template:
        apiVersion: ${rbac}/v1
        kind: Role
        metadata: { name: made }
        rules: ${rules}
`;

  test('literal rules are held, with the names that they name', () => {
    const rule = '{ apiGroups: [""], resources: [pods], resourceNames: [a], verbs: [get] }';
    assert.deepEqual(allowed(mine(role(`[${rule}]`)), '', 'pods'), ['get [a]']);
  });

  for (const rules of [
    '"${ spec.rules }"',
    '[{ apiGroups: [""], resources: ["${ spec.r }"], verbs: [get] }]',
  ])
    test(`computed rules are a note: ${rules}`, () => {
      const { rules: held, notes } = mine(role(rules));
      assert.ok(!held.some(({ purposes }) => purposes.includes('granted-rules')));
      assert.match(notes.join(), /child "role" creates a Role with computed rules/);
    });

  test('literal rules beside computed ones are held', () => {
    const rule = '{ apiGroups: [""], resources: [pods], verbs: [get] }';
    const rights = mine(role(`[${rule}, "\${ spec.rule }"]`));
    assert.deepEqual(allowed(rights, '', 'pods'), ['get']);
    assert.match(rights.notes.join(), /computed/);
  });

  const binding = (ref: string) => `  children:
    - id: binding
      template:
        apiVersion: ${rbac}/v1
        kind: RoleBinding
        metadata: { name: made }
        roleRef: { apiGroup: ${rbac}, kind: ${ref} }
        subjects: [{ apiGroup: ${rbac}, kind: User, name: a }]
`;

  test('a role that is named may be bound, and no other', () => {
    const rights = mine(binding('ClusterRole, name: view'));
    assert.deepEqual(allowed(rights, rbac, 'clusterroles'), ['bind [view]']);
  });

  test('a name that is computed is a note, not a right on all roles', () => {
    const { rules, notes } = mine(binding('ClusterRole, name: "${ spec.role }"'));
    assert.ok(!rules.some(({ verbs }) => verbs.includes('bind')));
    assert.match(notes.join(), /child "binding" binds a role with a computed name/);
  });

  const given = 'mine: child "role" grants it';
  for (const [rule, warning] of [
    ['{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }', 'this grants cluster-admin'],
    [
      '{ apiGroups: ["apps"], resources: ["*"], verbs: ["get"] }',
      'a wildcard also grants resources that are added later',
    ],
    [
      '{ apiGroups: [""], resources: ["*/status"], verbs: ["get"] }',
      'a wildcard also grants resources that are added later',
    ],
    [
      `{ apiGroups: ["${rbac}"], resources: ["clusterroles"], verbs: ["escalate"] }`,
      '"escalate" allows to grant every right',
    ],
    [
      `{ apiGroups: ["${rbac}"], resources: ["clusterroles"], verbs: ["bind"] }`,
      'it can bind any role, including cluster-admin',
    ],
    [
      '{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"] }',
      'it can impersonate every user with all their rights',
    ],
    [
      '{ apiGroups: [""], resources: ["users"], resourceNames: ["eve"], verbs: ["impersonate"] }',
      'it can impersonate eve with all their rights',
    ],
  ] as const)
    test(`a warning: ${rule}`, () => {
      assert.deepEqual(mine(role(`[${rule}]`)).warnings, [`${given}: ${rule}: ${warning}`]);
    });

  test('a warning: cluster-admin is bound', () => {
    const { warnings } = mine(binding('ClusterRole, name: cluster-admin'));
    assert.equal(warnings.length, 1);
    assert.match(
      warnings.join(),
      /^mine: child "binding" grants .*cluster-admin.*: it can bind cluster-admin$/,
    );
  });

  test('no warning for rights that say what they give', () => {
    const rule = `{ apiGroups: ["${rbac}"], resources: ["clusterroles"], resourceNames: ["view"], verbs: ["bind"] }`;
    assert.deepEqual(mine(role(`[${rule}]`)).warnings, []);
    assert.deepEqual(rightsOf(shippedText('tenant.yaml')).warnings, []);
  });

  test('no one gets "escalate"', () => {
    const { rules } = rightsOf(shippedText('tenant.yaml'));
    assert.ok(!rules.some(({ verbs }) => verbs.includes('escalate') || verbs.includes('*')));
  });
});

describe('check/rights: objects that are read by name', () => {
  const read = (fields: string, more = '') =>
    mine(`  reads: [{ id: found, apiVersion: v1, kind: Secret, ${fields} }]\n${more}`);
  const inNamespaces = '  controller: { namespaces: { include: [b, a, c], exclude: [c] } }\n';
  const isComputed = (rest: string) =>
    `mine: its read "found": the names are computed, so the rule is for ${rest}; a rule with those in use as "resourceNames" is sufficient`;

  for (const [what, fields, more, rules, note] of [
    ['one name', 'name: a', '', ['list watch [a]'], undefined],
    ['a list of names', 'name: [b, a]', '', ['list watch [b a]'], undefined],
    [
      'a list of names in another namespace',
      'name: [b, a], namespace: shared, crossNamespace: true',
      '',
      ['list watch [b a] @shared'],
      undefined,
    ],
    [
      'a list of names in the namespaces of the resources',
      'name: [b, a]',
      inNamespaces,
      ['list watch [b a] @a b'],
      undefined,
    ],
    ['a computed name', 'name: "${ spec.a }"', '', ['list watch'], isComputed('all secrets')],
    ['a computed list', 'name: "${ [spec.a] }"', '', ['list watch'], isComputed('all secrets')],
    [
      'a list with one computed name',
      'name: [a, "${ spec.a }"]',
      '',
      ['list watch'],
      isComputed('all secrets'),
    ],
    [
      'a computed list in another namespace',
      'name: "${ [spec.a] }", namespace: shared, crossNamespace: true',
      '',
      ['list watch @shared'],
      isComputed('all secrets in shared'),
    ],
    [
      'a computed list in the namespaces of the resources',
      'name: "${ [spec.a] }"',
      inNamespaces,
      ['list watch @a b'],
      isComputed('all secrets in a, b'),
    ],
    [
      'a computed list in namespaces that are globs',
      'name: "${ [spec.a] }"',
      '  controller: { namespaces: { include: ["team-*"] } }\n',
      ['list watch'],
      isComputed('all secrets'),
    ],
    ['a computed selector', 'selector: "${ spec.a }"', inNamespaces, ['list watch'], undefined],
  ] as const)
    test(`${what}: ${rules[0]}`, () => {
      const rights = read(fields, more);
      assert.deepEqual(allowed(rights, '', 'secrets'), rules);
      assert.deepEqual(rights.notes, note === undefined ? [] : [note]);
    });

  test('a cluster-scoped kind has no namespace to be limited to', () => {
    const rights = mine(
      `  reads: [{ id: found, apiVersion: v1, kind: Node, name: "\${ spec.a }" }]\n${inNamespaces}`,
    );
    assert.deepEqual(allowed(rights, '', 'nodes'), ['list watch']);
  });

  test('nothing is noted where all are needed anyway', () => {
    const child = '{ apiVersion: v1, kind: Secret, metadata: { name: a } }';
    const rights = read('name: "${ spec.a }"', `  children: [{ id: made, template: ${child} }]\n`);
    assert.deepEqual(rights.notes, []);
  });
});
