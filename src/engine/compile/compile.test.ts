import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { definitionParser, draftsOf } from '../../../test/support/definition-parser.ts';
import {
  compileThing,
  configMap,
  locateThing,
  planOfThing,
} from '../../../test/support/thing-plan.ts';
import { compile } from './index.ts';

function tiersOf(body: string): readonly (readonly string[])[] {
  return planOfThing(body).tiers.map((tier) => tier.map(({ id }) => id));
}

describe('compile/compile: order', () => {
  test('independent children are one tier, in definition order', () => {
    assert.deepEqual(tiersOf(`  children:\n${configMap('b', '')}${configMap('a', '')}`), [
      ['b', 'a'],
    ]);
  });

  test('a chain has a tier for each link, whatever the order of definition', () => {
    const tiers = tiersOf(`  children:
${configMap('service', 'x: "${ children.deployment.metadata.uid }"')}${configMap('alone', '')}${configMap('deployment', 'x: "${ children.config.metadata.uid }"')}${configMap('config', '')}`);
    assert.deepEqual(tiers, [['alone', 'config'], ['deployment'], ['service']]);
  });

  for (const [what, more] of [
    [
      'a var',
      '  vars: { uid: "${ children.first.metadata.uid }", twice: "${ vars.uid }" }\n  children:\n',
    ],
    [
      'a read',
      '  vars: { twice: "${ reads.it.metadata.name }" }\n  reads: [{ id: it, apiVersion: v1, kind: ConfigMap, name: "${ children.first.data.name }" }]\n  children:\n',
    ],
  ] as const) {
    test(`a child depends on what it reads through ${what}`, () => {
      const body = `${more}${configMap('second', 'x: "${ vars.twice }"')}${configMap('first', '')}`;
      assert.deepEqual(tiersOf(body), [['first'], ['second']]);
    });
  }

  for (const field of ['after: [first]', "forEach: ['${ children.first.data.x }']"]) {
    test(`a child comes after what its "${field}" names`, () => {
      const body = `  children:\n${configMap('second', '', field)}${configMap('first', '')}`;
      assert.deepEqual(tiersOf(body), [['first'], ['second']]);
    });
  }

  test('a child comes after the dependencies of the readiness of an earlier child', () => {
    const body = `  children:
${configMap('third', '', 'after: [second]')}${configMap('second', '', "ready: '${ $exists(children.first.data.x) }'")}${configMap('first', '')}`;
    assert.deepEqual(tiersOf(body), [['second', 'first'], ['third']]);
  });

  test('`status` may read any children', () => {
    const body = `  children:\n${configMap('a', '')}  status: { x: "\${ children.a.data.x }" }\n`;
    assert.deepEqual(tiersOf(body), [['a']]);
  });
});

describe('compile/compile: what is read', () => {
  const plan = planOfThing(`  vars:
    address: \${ children.web.spec.clusterIP }
    whole: \${ children.settings }
    phase: \${ status.phase }
    unused: \${ children.web.spec.type }
  reads:
    - { id: pods, apiVersion: v1, kind: Pod, selector: { matchLabels: { app: "\${ status.app }" } } }
    - { id: secret, apiVersion: v1, kind: Secret, name: a }
  children:
    - id: web
      ready: \${ $child.spec.type = "ClusterIP" and $exists($child.status.loadBalancer.ingress) and status.ok }
      template: { apiVersion: v1, kind: Service, metadata: { name: web } }
${configMap('settings', 'a: "${ vars.address }", b: "${ children.web.spec.ports[0].port }"')}${configMap('client', 'a: "${ vars.phase }", b: "${ $keys(vars.whole.data) }", c: "${ reads.pods.metadata.name }", d: "${ reads.pods.metadata.labels.a }"', 'when: true')}  status:
    ports: \${ children.web.spec.ports }
    own: \${ status.count + 1 }
    client: \${ children.client.data.a }
    all: \${ reads.pods.metadata }
`);
  const child = (id: string) => plan.children.find((each) => each.id === id);

  test('paths of a child are the shortest paths that expressions read', () => {
    assert.deepEqual(child('web')?.pathsRead.toSorted(), [
      ['spec', 'clusterIP'],
      ['spec', 'ports'],
      ['spec', 'type'],
      ['status', 'loadBalancer', 'ingress'],
    ]);
    assert.deepEqual(child('client')?.pathsRead, [['data', 'a']]);
  });

  test('a child that is read as a whole has the empty path', () => {
    assert.deepEqual(child('settings')?.pathsRead, [[]]);
    assert.deepEqual(child('settings')?.pathsReadByOthers, [[]]);
  });

  test('paths that others read exclude `status` and `ready`', () => {
    assert.deepEqual(child('web')?.pathsReadByOthers.toSorted(), [
      ['spec', 'clusterIP'],
      ['spec', 'ports', 'port'],
    ]);
    assert.deepEqual(child('client')?.pathsReadByOthers, []);
  });

  test('paths of a read', () => {
    assert.deepEqual(
      plan.reads.map(({ id, pathsRead }) => [id, pathsRead]),
      [
        ['pods', [['metadata']]],
        ['secret', []],
      ],
    );
  });

  test('status fields that something outside `status` reads', () => {
    assert.deepEqual(plan.statusPathsRead.toSorted(), [
      ['status', 'app'],
      ['status', 'ok'],
      ['status', 'phase'],
    ]);
  });

  test('properties of a child', () => {
    const plan = child('client');
    assert.ok(plan);
    const { type, template, when, pathsRead: _, pathsReadByOthers: __, ...rest } = plan;
    assert.equal(type?.kind, 'struct');
    assert.deepEqual([typeof template, when], ['object', true]);
    assert.deepEqual(rest, {
      id: 'client',
      gvk: { group: '', version: 'v1', kind: 'ConfigMap' },
      isList: false,
      hasReady: false,
      after: [],
      childrenRead: ['settings'],
      readsUsed: ['pods'],
      childrenObserved: [],
      pathsObserved: [],
      ordered: false,
      updateStrategy: { type: 'Apply' },
      adopt: 'Never',
      adoptedPolicy: 'Orphan',
      conflicts: 'Force',
      crossNamespace: false,
      deletionPolicy: 'Delete',
      hasDeleteWhen: false,
      isDetached: false,
      secrecy: 'none',
      line: 31,
      place: 'thing.yaml:31:7',
    });
    assert.deepEqual(child('settings')?.childrenRead, ['web']);
  });
});

describe('compile/compile: paths', () => {
  const schema = `
            type: object
            properties:
              spec:
                type: object
                properties:
                  "on": { type: boolean }
                  a: { type: object, properties: { x: { type: string } } }
                  b: { type: object, properties: { "y": { type: string } } }
                  items: { type: array, items: { type: object, properties: { name: { type: string } } } }
                  labels: { type: object, additionalProperties: { type: string } }
              status: { type: object, x-kubernetes-preserve-unknown-fields: true }`;
  const known = [
    'spec.items[0].name',
    'spec.labels."a.b/c"',
    'spec.*',
    'spec.items.{ "n": name }.n',
    '$map(spec.items, function($i) { $i.name })',
    '$lookup(spec.labels, "a")',
    '$merge([spec.a, {"z": 1}]).z',
    '(spec.on ? spec.a : spec.b).x',
    '(spec.on ? spec.a : {"z": 1}).z',
    '(spec.a ?? {"z": 1}).z',
    '$append(spec.items, {"z": 1}).z',
    '[spec.a, {"z": 1}].z',
    '$each(spec.a, function($v, $k) { $k })',
    'spec.items^(name).name',
    'metadata.labels."x"',
    'status.anything.at.all',
  ];
  for (const expression of known) {
    test(`"${expression}" is valid`, () => {
      assert.deepEqual(
        compileThing(`  status: { v: '\${ ${expression} }' }\n`, schema).diagnostics,
        [],
      );
    });
  }

  const unknown = [
    ['spec.items[0].nam', 'spec.items.nam'],
    ['$map(spec.items, function($i) { $i.nam })', 'spec.items.nam'],
    ['$lookup(spec, "onn")', 'spec.onn'],
    ['spec.items[nam = "a"]', 'spec.items.nam'],
    ['spec.items^(nam)', 'spec.items.nam'],
    ['(spec.on ? spec.a : spec.b).z', 'spec.a.z'],
    ['(spec.aa ?? {"z": 1}).z', 'spec.aa'],
    ['metadata.labells', 'metadata.labells'],
  ] as const;
  for (const [expression, path] of unknown) {
    test(`"${expression}" is an error`, () => {
      const { diagnostics } = compileThing(`  status: { v: '\${ ${expression} }' }\n`, schema);
      const [first] = diagnostics.filter(({ severity }) => severity === 'error');
      assert.equal(first?.code, 'unknown-path');
      assert.equal(first?.message, `Unknown field "${path}"`);
    });
  }
});

describe('compile/compile: its result', () => {
  test('warnings do not prevent a plan', () => {
    const { plan, diagnostics } = compileThing(
      `  children:\n${configMap('a', '')}${configMap('b', '', "when: '${ $exists(children.a) }'")}`,
    );
    assert.deepEqual(
      diagnostics.map(({ severity }) => severity),
      ['warning'],
    );
    assert.ok(plan);
  });

  test('without schemas children are not checked, and values are not coerced', () => {
    const body =
      '  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a, lables: 1 } } }]\n';
    const { plan, diagnostics } = compile(locateThing(body));
    assert.deepEqual(diagnostics, []);
    assert.equal(plan?.children[0]?.type, undefined);
  });

  test('at most 100 diagnostics are reported, the first ones', () => {
    const lines = Array.from({ length: 150 }, (_, index) => `    v${index}: \${ vars.gone }\n`);
    const { diagnostics } = compileThing(`  vars:\n${lines.join('')}`);
    assert.equal(diagnostics.length, 100);
    assert.equal(diagnostics.at(-1)?.path, '/spec/vars/v99');
  });

  test('a plan is frozen, and every compile of the same definition gives an equal one', () => {
    const body = `  children:\n${configMap('a', '')}`;
    const [one, other] = [planOfThing(body), planOfThing(body)];
    const parts = [one, one.tiers, one.tiers[0], one.children, one.children[0], one.reads];
    assert.ok(parts.every((part) => Object.isFrozen(part)));
    assert.equal(one.children[0], one.tiers[0]?.[0]);
    const { startPhase: _, exampleManifests: __, ...data } = one;
    const { startPhase: ___, exampleManifests: ____, ...otherData } = other;
    assert.deepEqual(data, otherData);
  });

  test('a definition without a schema has no consequential errors', () => {
    const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: thing }
spec:
  crd:
    group: apps.example.com
    names: { kind: Thing, plural: things }
    versions: [{ name: v1, schema: { openAPIV3Schma: { type: object } } }]
  status: { a: "\${ spec.size }", b: "\${ children.gone }" }
`;
    const drafts = draftsOf(definitionParser.parse(text, 'thing.yaml'));
    assert.equal(drafts.length, 1);
    for (const draft of drafts) {
      const { diagnostics } = compile(draft);
      assert.deepEqual(
        diagnostics.map(({ code, path }) => [code, path]),
        [['unknown-name', '/spec/status/b']],
      );
    }
  });

  test('diagnostics of a rejected definition have the right positions, also after an omitted child', () => {
    const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: thing }
spec:
  crd:
    group: apps.example.com
    names: { kind: Thing, plural: things }
    versions: [{ name: v1, schema: { openAPIV3Schema: { type: object } } }]
  children:
    - { id: kindless, template: { metadata: { name: a } } }
    - { id: b, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: b }, data: { c: "\${ gone }" } } }
`;
    const places = draftsOf(definitionParser.parse(text, 'thing.yaml'))
      .flatMap((draft) => compile(draft).diagnostics)
      .map(({ path, line }) => [path, line]);
    assert.deepEqual(places, [['/spec/children/1/template/data/c', 11]]);
  });

  test('an error is reported once, not again where its value is read', () => {
    const { diagnostics } = compileThing(
      `  vars: { a: { b: "\${ spec. }", c: "\${ d" } }\n  status: { x: "\${ vars.a.b & vars.a.c }" }\n`,
    );
    assert.deepEqual(
      diagnostics.map(({ path }) => path),
      ['/spec/vars/a/b', '/spec/vars/a/c'],
    );
  });

  test('a template that is too deep is rejected', () => {
    const deep = `${'['.repeat(120)}${']'.repeat(120)}`;
    const { diagnostics } = compileThing(`  vars: { deep: ${deep} }\n`);
    assert.deepEqual(
      diagnostics.map(({ code, message }) => [code, message]),
      [['invalid-value', 'Expected at most 100 levels']],
    );
  });
});
