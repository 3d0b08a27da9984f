import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { resultLines } from './report.ts';
import { runTest } from './run-test.ts';
import { TestChecker } from './validation/test-checker.ts';

const parser = createOperatorTestParser();

const configMap = [
  '    template:',
  '      apiVersion: v1',
  '      kind: ConfigMap',
  '      metadata: { name: "${ metadata.name }" }',
  '      data: { cluster: "${ $cluster.name }", text: "${ spec.text }" }',
];

/** One ConfigMap in each member with the label `things`. */
const placed = thingDefinition(
  'thing',
  [
    '  reads:',
    '    - { id: clusters, apiVersion: homeostat.dev/v1alpha1, kind: Cluster, selector: { matchLabels: { things: "true" } } }',
    '  children:',
    '  - id: config',
    '    forEach: ${ reads.clusters.metadata.name }',
    '    cluster: ${ $item }',
    '    crossCluster: { selector: { matchLabels: { things: "true" } } }',
    ...configMap,
  ].join('\n'),
  { group: 'example.com' },
);

/** Runs in each member with the label `things`. */
const inMembers = thingDefinition(
  'thing',
  [
    '  children:',
    '  - id: config',
    ...configMap,
    '  controller: { clusters: { selector: { matchLabels: { things: "true" } } } }',
  ].join('\n'),
  { group: 'example.com' },
);

const member = (name: string, labels = '{ things: "true" }') =>
  `{ apiVersion: homeostat.dev/v1alpha1, kind: Cluster, metadata: { name: ${name}, labels: ${labels} } }`;
const thing =
  '{ apiVersion: example.com/v1, kind: Thing, metadata: { name: a }, spec: { text: one } }';
const config = 'apiVersion: v1, kind: ConfigMap, metadata: { name: a }';

interface Spec {
  readonly given?: readonly string[];
  readonly steps: readonly string[];
}

function parse({ given = [member('dev-1'), member('dev-2')], steps }: Spec) {
  const lines = [
    'apiVersion: homeostat.dev/v1alpha1',
    'kind: OperatorTest',
    'metadata: { name: thing }',
    'spec:',
    '  given:',
    ...given.map((object) => `    - ${object}`),
    '  steps:',
    ...steps.map((step) => `    - ${step}`),
  ];
  const { tests, diagnostics } = parser.parse(lines.join('\n'), 'thing_test.yaml');
  assert.deepEqual(diagnostics, []);
  const [only] = tests;
  assert.ok(only);
  return only;
}

/** Runs a test; returns what is printed, without its first line. */
async function run(definition: string, spec: Spec): Promise<readonly string[]> {
  const file = (text: string) => [{ file: 'thing.yaml', text }];
  const result = await runTest(parse(spec), {
    definitions: file(definition),
    loadDefinitions: async (path) => file(path),
    loadObjects: async () => [],
  });
  return resultLines(result, { hasColor: false }).slice(1);
}

describe('simulation/testing members', () => {
  test('objects are expected, changed and counted in members', async () => {
    const found = await run(placed, {
      steps: [
        `{ name: create, apply: ${thing}, expect: [{ cluster: dev-1, object: { ${config}, data: { text: one } } }, { cluster: dev-2, object: { ${config} } }, { absent: { ${config} } }, { writes: { $gte: 2 } }], within: 1m }`,
        `{ name: disturb, cluster: dev-2, delete: ConfigMap/a, expect: [{ object: { ${config} } }], within: 1m }`,
        `{ name: an expression reads the cluster, cluster: dev-1, expect: [{ object: { ${config}, data: { text: "\${ objects.ConfigMap.a.data.text }" } } }] }`,
        '{ name: delete, delete: Thing/a, expect: [{ nothingLeft: true }] }',
      ],
    });
    assert.deepEqual(found, []);
  });

  test('a member stops responding, keeps what it has, and catches up', async () => {
    const edit = 'patch: { target: Thing/a, merge: { spec: { text: two } } }';
    const found = await run(placed, {
      steps: [
        `{ name: create, apply: ${thing}, expect: [{ cluster: dev-2, object: { ${config} } }], within: 1m }`,
        `{ name: stop, clusters: { stop: dev-2 }, ${edit}, expect: [{ cluster: dev-1, object: { ${config}, data: { text: two } } }, { cluster: dev-2, object: { ${config}, data: { text: one } } }, { condition: { of: Thing/a, type: Ready, status: "False", reason: ClusterUnreachable } }, { condition: { of: Cluster/dev-2, type: Connected, status: "False", reason: Unreachable } }], within: 1m }`,
        `{ name: start, clusters: { start: dev-2 }, expect: [{ cluster: dev-2, object: { ${config}, data: { text: two } } }, { condition: { of: Thing/a, type: Ready, status: "True" } }], within: 5m }`,
      ],
    });
    assert.deepEqual(found, []);
  });

  test('objects that are left in a member are named with it', async () => {
    const found = await run(placed, {
      steps: [
        `{ name: create, apply: ${thing}, expect: [{ cluster: dev-2, object: { ${config} } }, { nothingLeft: true }], within: 1m }`,
      ],
    });
    assert.match(
      found.join('\n'),
      /Objects are left: .*\/configmaps\/a in cluster "dev-1", .*\/configmaps\/a in cluster "dev-2"/,
    );
  });

  test('requests to one member fail', async () => {
    const found = await run(placed, {
      steps: [
        `{ name: create, fail: { requests: { cluster: dev-2, kind: ConfigMap }, with: 403, times: 100 }, apply: ${thing}, expect: [{ cluster: dev-1, object: { ${config} } }, { cluster: dev-2, absent: { ${config} } }] }`,
      ],
    });
    assert.deepEqual(found, []);
  });

  test('a definition with "controller.clusters" is tested in its member', async () => {
    const found = await run(inMembers, {
      given: [member('dev-1'), member('dev-2', '{}')],
      steps: [
        `{ name: create, cluster: dev-1, apply: ${thing}, expect: [{ object: { ${config}, data: { cluster: dev-1 } } }, { condition: { of: Thing/a, type: Ready, status: "True" } }] }`,
        '{ name: delete, cluster: dev-1, delete: Thing/a, expect: [{ nothingLeft: true }] }',
      ],
    });
    assert.deepEqual(found, []);
  });

  test('a member that a step adds has the kinds of its definitions', async () => {
    const found = await run(inMembers, {
      given: [member('dev-1')],
      steps: [
        `{ name: add, apply: [${member('dev-2')}, ${thing.replace('{', '{ cluster: dev-2,')}], expect: [{ cluster: dev-2, object: { ${config}, data: { cluster: dev-2 } } }] }`,
      ],
    });
    assert.deepEqual(found, []);
  });

  test('a Cluster with a kubeconfig of its own needs the Secret', async () => {
    const spec = 'spec: { kubeconfig: { secretRef: { namespace: default, name: none } } }';
    const found = await run(placed, {
      given: [member('dev-1').replace(/ }$/, `, ${spec} }`)],
      steps: [
        '{ name: start, expect: [{ condition: { of: Cluster/dev-1, type: Connected, status: "False", reason: SecretMissing } }], within: 1m }',
      ],
    });
    assert.deepEqual(found, []);
  });

  for (const [what, definition, spec, expected] of [
    [
      'an unknown cluster',
      placed,
      { steps: [`{ name: a, cluster: dev-4, apply: ${thing} }`] },
      /There is no member cluster "dev-4": Did you mean "dev-[12]"\?/,
    ],
    [
      'an unknown cluster to stop',
      placed,
      { steps: ['{ name: a, clusters: { stop: [paris] } }'] },
      /There is no member cluster "paris": Each member cluster is an object of kind "Cluster"/,
    ],
    [
      'a Cluster in a member',
      placed,
      { steps: [`{ name: a, cluster: dev-1, apply: ${member('dev-3')} }`] },
      /An object of kind "Cluster" belongs to the hub: Write "cluster: hub" beside it/,
    ],
    [
      'a definition that runs in no member',
      inMembers,
      { given: [member('dev-1', '{}')], steps: [`{ name: a, cluster: dev-1, apply: ${thing} }`] },
      /Definition "thing" runs in member clusters, and selects none of this test: Add an object/,
    ],
    [
      'an unknown field of a Cluster',
      placed,
      {
        given: [member('dev-1').replace(/ }$/, ', spec: { pausd: true } }')],
        steps: [`{ name: a, apply: ${thing} }`],
      },
      /Unknown field "pausd": Did you mean "paused"\?/,
    ],
  ] as const) {
    test(`${what} is an error with its position`, async () => {
      const load = async () => [{ file: 'thing.yaml', text: definition }];
      const checker = new TestChecker({ load });
      const parsed = parse(spec);
      const { diagnostics, files } = await checker.checkTest({ ...parsed, definitions: ['.'] });
      checker.close();
      assert.equal(files, undefined);
      const [first] = diagnostics;
      assert.match(`${first?.message}: ${first?.hint}`, expected);
      assert.ok((first?.line ?? 0) > 3);
    });
  }
});
