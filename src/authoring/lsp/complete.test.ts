import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { warningCodes } from '#definition';
import { editedText, operatorText, withoutCursor } from '../../../test/support/lsp/marked-text.ts';
import { complete } from './complete.ts';
import { loadKnowledge, withTexts } from './knowledge.ts';
import { parseText } from './parsed-text.ts';
import { CompletionItemKind } from './protocol.ts';

const webApp = operatorText('web-app');
const database = operatorText('database');
const appTest = operatorText('tests/web-app');
const agentTest = operatorText('clusters/tests/node-agent');
const knowledge = await loadKnowledge();

/** What is proposed at the cursor, and the word that a proposal replaces. */
function completionsAt({ text, offset }: { readonly text: string; readonly offset: number }) {
  const parsed = parseText(text);
  const known = withTexts(knowledge, [parsed, parseText(webApp)]);
  const { start, end, proposals } = complete(parsed, offset, known);
  return { word: text.slice(start, end), proposals, labels: proposals.map(({ label }) => label) };
}

const specFields = [
  ...['image', 'imagePullPolicy', 'imagePullSecrets', 'port', 'replicas', 'title', 'links'],
  ...['cacheSeconds', 'ingress', 'autoscaling'],
];

describe('lsp/complete', () => {
  const everything: readonly (readonly [
    what: string,
    text: string,
    part: string,
    written: string,
    expected: readonly string[],
  ])[] = [
    ['fields of spec', webApp, '${ spec.image }', '${ spec.||| }', specFields],
    ['fields in an expression without end', webApp, '${ spec.image }', '${ spec.|||', specFields],
    ['fields in quotes in a flow map', webApp, '"${ spec.port }"', '"${ spec.||| }"', specFields],
    ['fields in an open flow map', webApp, '"${ spec.port }" }]', '${ spec.|||', specFields],
    ['fields in Handlebars', webApp, '{{ spec.port }}', '{{ spec.po||| }}', specFields],
    ['fields of the element in a block', webApp, '{{ url }}', '{{ u||| }}', ['name', 'url']],
    [
      'fields of a member cluster of a test',
      agentTest,
      'metadata: { name: dev-2 } }',
      'metadata: { name: dev-2 }, spec: { ||| } }',
      ['kubeconfig', 'uid', 'paused'],
    ],
    [
      'what a step does with member clusters',
      agentTest,
      'clusters: { stop: dev-2 }',
      'clusters: { ||| }',
      ['stop', 'start'],
    ],
    [
      'fields of the kind of a child',
      webApp,
      'children.deployment.status.replicas',
      'children.deployment.spec.strategy.|||',
      ['rollingUpdate', 'type'],
    ],
    [
      'fields of elements in a predicate',
      database,
      'children.pod[metadata.labels.',
      'children.pod[spec.securityContext.windowsOptions.||| = 1 and metadata.labels.',
      ['gmsaCredentialSpec', 'gmsaCredentialSpecName', 'hostProcess', 'runAsUserName'],
    ],
    [
      'names of vars',
      database,
      'forEach: ${ vars.ordinals }\n      deleteWhen',
      'forEach: ${ vars.||| }\n      deleteWhen',
      ['labels', 'ordinals', 'claimSpec'],
    ],
    [
      'fields of a var that is a map',
      webApp,
      'selector: ${ vars.labels }',
      'selector: ${ vars.labels.||| }',
      ['app.kubernetes.io/name', 'app.kubernetes.io/instance'],
    ],
    [
      'ids of children',
      webApp,
      'children.config.data',
      'children.|||',
      ['config', 'deployment', 'service', 'ingress', 'autoscaler'],
    ],
    [
      'ids of other children in a flow list',
      webApp,
      '- id: service',
      '- id: service\n      after: [|||]',
      ['config', 'deployment', 'ingress', 'autoscaler'],
    ],
    [
      'ids of other children in a block list',
      webApp,
      '- id: service',
      '- id: service\n      after:\n        - c|||',
      ['config', 'deployment', 'ingress', 'autoscaler', 'child', 'element'],
    ],
    [
      'ids of other children in a map of "after"',
      webApp,
      '- id: service',
      '- id: service\n      after: [{ child: ||| }]',
      ['config', 'deployment', 'ingress', 'autoscaler'],
    ],
    [
      'which element of "after" counts',
      webApp,
      '- id: service',
      '- id: service\n      after: [{ child: config, element: ||| }]',
      ['all', 'same'],
    ],
    [
      'codes of warnings that can be accepted',
      webApp,
      'spec:',
      'spec:\n  acceptedWarnings:\n    - code: |||',
      [...warningCodes],
    ],
    [
      'values of an enum',
      webApp,
      '- id: service',
      '- id: service\n      adopt: |||',
      ['Never', 'IfUnowned'],
    ],
    [
      'values of an enum on the next line',
      webApp,
      '- id: service',
      '- id: service\n      adopt:\n        Ne|||',
      ['Never', 'IfUnowned'],
    ],
    [
      'values of an enum of a built-in kind',
      webApp,
      'pathType: Prefix',
      'pathType: |||',
      ['Exact', 'ImplementationSpecific', 'Prefix'],
    ],
    [
      'values of a boolean',
      webApp,
      '- id: service',
      '- id: service\n      when: |||',
      ['true', 'false'],
    ],
    [
      'values of an enum in quotes',
      webApp,
      '- id: service',
      '- id: service\n      adopt: "|||"',
      ['Never', 'IfUnowned'],
    ],
    ['scopes of a CRD', webApp, 'scope: Namespaced', 'scope: |||', ['Namespaced', 'Cluster']],
    [
      'types of a CRD schema',
      webApp,
      'port: { type: integer',
      'port: { type: |||',
      ['object', 'array', 'string', 'integer', 'number', 'boolean'],
    ],
    [
      'kinds of an apiVersion',
      webApp,
      'kind: Ingress',
      'kind: |||',
      ['IPAddress', 'Ingress', 'IngressClass', 'NetworkPolicy', 'ServiceCIDR'],
    ],
    [
      'fields that a manifest lacks',
      webApp,
      '          scaleTargetRef:',
      '          |||\n          scaleTargetRef:',
      ['behavior'],
    ],
    [
      'fields in a flow map',
      webApp,
      'httpGet: { path: /,',
      'httpGet: { |||path: /,',
      ['host', 'httpHeaders', 'path', 'scheme'],
    ],
    [
      'status fields that are not mapped',
      webApp,
      "    url: '${",
      "    u|||\n    xurl: '${",
      ['url'],
    ],
    ['the field at the cursor', webApp, 'pathType: Prefix', 'pathTy|||pe: Prefix', ['pathType']],
    [
      'fields of an event',
      webApp,
      '  vars:',
      '  events:\n    - |||\n  vars:',
      ['when', 'type', 'reason', 'message'],
    ],
    [
      'fields of a test',
      appTest,
      'outcome: { pods: { app.kubernetes.io/instance: site }, is: never-ready }',
      'outcome: { |||',
      ['pods', 'is'],
    ],
    [
      'fields of a resource of an open definition',
      appTest,
      'spec: { title: Hi,',
      'spec: { |||',
      specFields.filter((field) => field !== 'links'),
    ],
    [
      'kinds of documents',
      appTest,
      'kind: OperatorTest',
      'kind: |||',
      ['OperatorDefinition', 'OperatorTest', 'OperatorFuzz'],
    ],
    ['nothing directly after a colon', webApp, 'kind: Ingress', 'kind:|||', []],
    [
      'nothing directly after a colon in a flow map',
      webApp,
      'httpGet: { path: /,',
      'httpGet: { path:|||',
      [],
    ],
    ['nothing in a comment', webApp, '# Other files', '# spec|||', []],
    ['nothing in a text', webApp, 'listen {{', 'lis|||ten {{', []],
    [
      'nothing in a string of an expression',
      webApp,
      '"http://" & spec.ingress.host',
      '"spec.|||" & spec.ingress.host',
      [],
    ],
    ['nothing after an unknown path', webApp, '${ spec.image }', '${ spec.nothing.||| }', []],
    ['nothing below a computed value', webApp, '${ spec.image }', '${ $hash(spec).||| }', []],
  ];

  for (const [what, text, part, written, expected] of everything) {
    test(`proposes ${what}: ${JSON.stringify(written.slice(-40))}`, () => {
      assert.deepEqual(completionsAt(editedText(text, part, written)).labels, expected);
    });
  }

  for (const written of ['kinds: [|||]', 'kinds: [apps/v1/Dep|||]', 'kinds:\n        - |||'])
    test(`proposes the kinds that a child may have: ${JSON.stringify(written)}`, () => {
      const text = editedText(webApp, '- id: service\n', `- id: service\n      ${written}\n`);
      const { word, labels } = completionsAt(text);
      assert.equal(word, written.includes('Dep') ? 'apps/v1/Dep' : '');
      for (const kind of ['v1/ConfigMap', 'apps/v1/Deployment', 'apps/v1/StatefulSet'])
        assert.ok(labels.includes(kind), kind);
      assert.ok(labels.every((label) => /^(?:[a-z0-9.-]+\/)?v\w+\/[A-Z]\w+$/.test(label)));
    });

  test('proposes the variables and the fields of the element in a patch with forEach', () => {
    const patch = (name: string, when = 'true') => `  patches:
    - id: labels
      when: ${when}
      forEach: \${ spec.links }
      target: { apiVersion: v1, kind: ConfigMap, name: "${name}" }
      patch: { metadata: { labels: { a: b } } }
  vars:`;
    const at = (written: string) => completionsAt(editedText(webApp, '  vars:', written)).labels;
    assert.deepEqual(at(patch('${ $item.||| }')), ['name', 'url']);
    assert.ok(at(patch('${ $||| }')).includes('$index'));
    assert.ok(!at(patch('a', '${ $||| }')).includes('$item'));
  });

  for (const [place, part, written, expected] of [
    [
      'a template with forEach',
      'name: ${ metadata.name }-${ $item }\n          labels',
      'name: ${ $|||',
      ['$cluster', '$definition', '$index', '$item', '$self'],
    ],
    [
      'a child without forEach',
      'password: ${ observed.secret',
      'password: ${ $||| ',
      ['$cluster', '$definition', '$self'],
    ],
    [
      'ready',
      '      ordered: true',
      '      ready: ${ $||| }',
      ['$child', '$cluster', '$definition', '$index', '$item', '$self'],
    ],
    [
      'gate',
      '      ordered: true',
      '      gate: ${ $||| }',
      ['$cluster', '$definition', '$index', '$item', '$self'],
    ],
    [
      'a condition',
      '  onDelete:',
      '  conditions:\n    - type: A\n      status: ${ $||| }\n  onDelete:',
      ['$cluster', '$definition', '$previous', '$self'],
    ],
  ] as const) {
    test(`proposes the variables of ${place}`, () => {
      const { proposals } = completionsAt(editedText(database, part, written));
      const variables = proposals.filter(({ kind }) => kind === CompletionItemKind.Variable);
      assert.deepEqual(variables.map(({ label }) => label).sort(), expected);
    });
  }

  test('proposes functions with signature, description and example', () => {
    const { word, proposals } = completionsAt(
      editedText(webApp, '${ spec.image }', '${ $ha|||sh(spec.image) }'),
    );
    assert.equal(word, '$hash');
    const hash = proposals.find(({ label }) => label === '$hash');
    assert.equal(hash?.detail, '$hash(value)');
    assert.match(hash?.documentation ?? '', /safe in names\n\nExample: `\$hash\(spec\.image\)`$/);
    const join = proposals.find(({ label }) => label === '$join');
    assert.equal(join?.detail, '$join(list, separator?)');
    assert.ok(!proposals.some(({ label }) => label === 'spec'));
  });

  test('proposes helpers where a helper can be, and names', () => {
    const first = completionsAt(editedText(webApp, '{{ spec.port }}', '{{ |||spec.port }}')).labels;
    assert.deepEqual(
      [first.includes('json'), first.includes('spec'), first.includes('$hash')],
      [true, true, false],
    );
    const argument = completionsAt(editedText(webApp, '{{ spec.port }}', '{{json s|||}}')).labels;
    assert.deepEqual([argument.includes('json'), argument.includes('spec')], [false, true]);
  });

  for (const [what, part, written, label, inserted] of [
    [
      'a scalar',
      'port: http } }\n',
      'port: http } }\n                  workingD|||\n',
      'workingDir',
      'workingDir: ',
    ],
    [
      'a map',
      'port: http } }\n',
      'port: http } }\n                  |||\n',
      'resources',
      `resources:\n${' '.repeat(20)}`,
    ],
    [
      'a list',
      'port: http } }\n',
      'port: http } }\n                  |||\n',
      'args',
      `args:\n${' '.repeat(20)}- `,
    ],
    [
      'the first field of an item',
      '                - name: web\n',
      '                - |||\n                  name: web\n',
      'args',
      `args:\n${' '.repeat(20)}- `,
    ],
    [
      'a field in a flow map',
      'httpGet: { path: /,',
      'httpGet: { |||',
      'httpHeaders',
      'httpHeaders: ',
    ],
    ['a field with a colon', 'pathType: Prefix', '|||pathType: Prefix', 'pathType', 'pathType'],
    [
      'a name with dots',
      'selector: ${ vars.labels }',
      'selector: ${ vars.labels.||| }',
      'app.kubernetes.io/name',
      '`app.kubernetes.io/name`',
    ],
  ] as const) {
    test(`inserts ${what} as it is written`, () => {
      const { proposals } = completionsAt(editedText(webApp, part, written));
      assert.equal(proposals.find((each) => each.label === label)?.text, inserted);
    });
  }

  test('required fields come first', () => {
    const { proposals } = completionsAt(
      editedText(webApp, '  children:\n', '  children:\n    - |||\n'),
    );
    const first = proposals.filter(({ rank }) => rank === 0).map(({ label }) => label);
    assert.deepEqual(first, ['id', 'template']);
  });

  test('does not propose fields that are not supported yet', () => {
    const { labels } = completionsAt(editedText(webApp, '  vars:', '  |||\n  vars:'));
    assert.deepEqual([labels.includes('controller'), labels.includes('clusters')], [true, false]);
  });

  test('proposes fields of a document that has only begun', () => {
    const start = 'apiVersion: homeostat.dev/v1alpha1\nkind: OperatorDefinition\n';
    assert.deepEqual(completionsAt(withoutCursor(`${start}|||`)).labels, [
      'metadata',
      'spec',
      'status',
    ]);
    assert.deepEqual(completionsAt(withoutCursor(`${start}metadata: { na|||`)).word, 'na');
    assert.deepEqual(
      completionsAt(withoutCursor(`${start}spec:\n  crd:\n    names:\n      ki|||`)).labels,
      ['kind', 'plural', 'singular', 'listKind', 'shortNames', 'categories'],
    );
  });

  test('each document of a file has its own names', () => {
    const both = `${webApp}---\n${database}`;
    const { labels } = completionsAt(
      editedText(
        both,
        'replicas: "${ $count(children.pod) }"',
        'replicas: "${ $count(children.|||) }"',
      ),
    );
    assert.deepEqual(labels, ['secret', 'service', 'claim', 'keptClaim', 'pod', 'backup']);
  });

  test('a field is continued if its value has proposals: values, or fields of the map or the items', () => {
    const at = (part: string, written: string) =>
      completionsAt(editedText(webApp, part, written))
        .proposals.filter(({ isContinued }) => isContinued)
        .map(({ label }) => label);
    const ofDocument = at('kind: OperatorDefinition\n', '|||\n');
    assert.deepEqual(ofDocument, ['kind']);
    assert.deepEqual(at('kind: OperatorDefinition', '|||: OperatorDefinition'), []);
    const ofSpec = at('  vars:', '  |||\n  vars:');
    assert.ok(ofSpec.includes('patches') && ofSpec.includes('reads'));
    const ofTemplate = at('        kind: Deployment\n', '        |||\n');
    assert.ok(ofTemplate.includes('kind'));
  });
});
