import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from '#util/kube-object.ts';
import {
  configMap,
  failureOf,
  givenBy,
  noElement,
  phaseOf,
  planOfThing,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';
import type { Rendered } from '../operator-plan.ts';

/** The `data` of a rendered ConfigMap, or what came instead. */
function dataOf(rendered: Rendered<unknown>): unknown {
  return rendered.kind === 'value' ? (rendered.value as { data: unknown }).data : rendered;
}

async function renderData(data: string, spec: unknown = {}, more = ''): Promise<Rendered<unknown>> {
  const plan = planOfThing(`${more}  children:\n${configMap('child', data)}`);
  return phaseOf(plan, { resource: thing(spec) }).manifest('child', noElement);
}

describe('compile/phase: what a template gives', () => {
  const spec = { size: 3, name: 'web', on: true, list: ['a', 'b'], none: null, empty: [] };
  const rows: readonly (readonly [string, string, unknown])[] = [
    ['an expression alone gives its value', 'x: "${ spec.name }"', { x: 'web' }],
    ['numbers fit text', 'x: "${ spec.size }"', { x: '3' }],
    ['white space around an expression is ignored', 'x: "  ${ spec.name } "', { x: 'web' }],
    ['parts are put into a text', 'x: "a-${ spec.size }-${ spec.on }"', { x: 'a-3-true' }],
    [
      'numbers in a text have 15 digits',
      'x: "a-${ 0.1 + 0.2 }", b: "${ 0.1 + 0.2 }", z: "{{ default spec.none 0.30000000000000004 }}"',
      { x: 'a-0.3', b: '0.3', z: '0.3' },
    ],
    ['Handlebars gives a text', 'x: "{{ spec.name }}:{{ spec.size }}"', { x: 'web:3' }],
    ['a missing value leaves its field out', 'x: "${ spec.gone }", b: a', { b: 'a' }],
    ['null is a missing value', 'x: "${ spec.none }", b: a', { b: 'a' }],
    ['an optional expression leaves its field out', 'x: "${? spec.gone }", b: a', { b: 'a' }],
    [
      'what stands in $literal is untouched',
      'x: { $literal: "${ spec.name }" }',
      { x: '${ spec.name }' },
    ],
    ['escapes are resolved', 'x: "$${ a }", b: "\\\\{{ b }}"', { x: '${ a }', b: '{{ b }}' }],
    ['a key may be an expression', '"${ spec.name }.txt": a', { 'web.txt': 'a' }],
    ['an optional key leaves its field out', '"${? spec.gone }": a, b: a', { b: 'a' }],
  ];
  for (const [what, data, expected] of rows) {
    test(what, async () => {
      assert.deepEqual(dataOf(await renderData(data, spec)), expected);
    });
  }

  const failing: readonly (readonly [string, string, string])[] = [
    [
      'a text with a missing part',
      'x: "a-${ spec.gone }"',
      'missing-value data.x: Missing value "spec.gone"',
    ],
    [
      '& with a missing side',
      'x: \'${ "a-" & spec.gone }\'',
      'missing-value data.x: Missing value "spec.gone" in "',
    ],
    [
      'a list as a part of a text',
      'x: "a-${ spec.list }"',
      'wrong-type data.x: Expected a string, a number or a boolean from "spec.list", found a list',
    ],
    [
      'a list in a text field',
      'x: "${ spec.list }"',
      'wrong-type data.x: Expected a string at data.x, found a list',
    ],
    [
      'a key that is no text',
      '"${ spec.size }": a',
      'wrong-type data["${ spec.size }"]: Expected a string as the key, found "3"',
    ],
    [
      'a missing key',
      '"${ spec.gone }": a',
      'missing-value data["${ spec.gone }"]: Missing value of a key',
    ],
    [
      'two equal keys',
      'web: a, "${ spec.name }": b',
      'invalid-manifest data["${ spec.name }"]: Two keys are "web"',
    ],
    [
      'an evaluation that fails',
      'x: "${ $number(spec.name) }"',
      'evaluation-failed data.x: Expected a value that is a number in "$number(spec.name)"',
    ],
  ];
  for (const [what, data, message] of failing) {
    test(`${what} is an error of the child`, async () => {
      assert.ok(
        failureOf(await renderData(data, spec)).startsWith(message),
        failureOf(await renderData(data, spec)),
      );
    });
  }

  const naming = [
    ['labels: "${ spec.names }"', 'metadata.labels'],
    ['annotations: "${ spec.names }"', 'metadata.annotations'],
    ['labels: { "${ $keys(spec.names) }": x }', 'metadata.labels["${ $keys(spec.names) }"]'],
    ['annotations: { a: b, "{{ spec.key }}": x }', 'metadata.annotations["{{ spec.key }}"]'],
  ] as const;
  for (const [metadata, field] of naming) {
    const body = `{ metadata: { name: a, ${metadata} } }`;
    const key = 'homeostat.dev/deletion-policy';
    const ours = thing({ names: { [key]: 'Orphan' }, key });
    const others = thing({ names: { 'example.com/a': 'b' }, key: 'example.com/a' });

    test(`users who create a resource cannot set reserved names: ${metadata}`, async () => {
      const template = `{ apiVersion: v1, kind: ConfigMap, ${body.slice(1)}`;
      const plan = planOfThing(`  children:\n    - { id: child, template: ${template} }\n`);
      const render = (resource: KubeObject) =>
        phaseOf(plan, { resource }).manifest('child', noElement);
      const message = failureOf(await render(ours));
      assert.ok(message.startsWith(`invalid-manifest ${field}: Names under`), message);
      assert.match(message, /found "homeostat.dev\/deletion-policy" in metadata\./);
      assert.equal((await render(others)).kind, 'value');
    });

    test(`nor in a patch: ${metadata}`, async () => {
      const patch = `{ metadata: { ${metadata} } }`;
      const plan = planOfThing(`  children: []\n  patches:\n    - { id: mark, patch: ${patch} }\n`);
      const render = async (resource: KubeObject) => {
        const { reporting } = plan;
        assert.ok(reporting);
        const rendered = await reporting
          .startPhase({
            resource,
            previous: resource,
            now: '2026-01-02T03:04:05Z',
            randomText: () => 'x',
            cluster: { name: 'test', labels: {} },
          })
          .patch('mark');
        assert.ok(rendered.kind === 'value' && rendered.value[0]);
        return rendered.value[0].patch;
      };
      const message = failureOf(await render(ours));
      assert.ok(message.startsWith(`invalid-manifest patches.mark.${field}: Names under`), message);
      assert.equal((await render(others)).kind, 'value');
    });
  }

  test('a failure has the position of its leaf', async () => {
    const rendered = await renderData('first: a, x: "a-${ spec.gone }"');
    assert.equal(rendered.kind, 'failed');
    const { place } = (rendered as Extract<typeof rendered, { kind: 'failed' }>).failure;
    assert.equal(place, 'thing.yaml:19:101');
  });

  test('elements are spread into lists, and lists without a match are empty', async () => {
    const plan = planOfThing(`  children:
    - id: pod
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: pod, finalizers: "\${ spec.list[$ = 'none'] }" }
        spec:
          hostAliases: "\${? spec.gone }"
          nodeSelector: "\${ spec.gone }"
          imagePullSecrets: "\${ spec.secrets[on].{ 'name': name } }"
          containers:
            - name: main
              args: [first, "\${... spec.list }", "\${... spec.gone }", "\${... spec.one }", "\${ spec.gone }", last]
`);
    const resource = thing({
      list: ['a', 'b'],
      one: 1,
      secrets: [{ name: 's', on: true }, { name: 't' }],
    });
    const { metadata, spec: podSpec } = givenBy(
      await phaseOf(plan, { resource }).manifest('pod', noElement),
    );
    assert.deepEqual(
      { metadata, podSpec },
      {
        metadata: { name: 'pod', finalizers: [] },
        podSpec: {
          imagePullSecrets: [{ name: 's' }],
          containers: [{ name: 'main', args: ['first', 'a', 'b', '1', 'last'] }],
        },
      },
    );
  });

  test('results share nothing with the resource and constants are shared between renders', async () => {
    const plan = planOfThing(`  children:
    - id: pod
      template:
        apiVersion: v1
        kind: Pod
        metadata: { name: pod, labels: "\${ spec.labels }" }
        spec: { containers: [{ name: main, image: busybox }] }
`);
    const labels = { a: 'b' };
    const phase = phaseOf(plan, { resource: thing({ labels }) });
    const first = givenBy(await phase.manifest('pod', noElement));
    const second = givenBy(await phase.manifest('pod', noElement));
    assert.deepEqual(first.metadata.labels, labels);
    assert.notEqual(first.metadata.labels, labels);
    assert.equal(first.spec, second.spec);
    assert.ok(Object.isFrozen(first.spec));
  });

  for (const [what, spec_, message] of [
    ['missing', {}, 'missing-value metadata.name: Missing value "spec.name"'],
    [
      'empty',
      { name: '' },
      'invalid-manifest metadata.name: Expected a name at metadata.name, found ""',
    ],
    [
      'a path',
      { name: '../a' },
      'invalid-manifest metadata.name: Expected a name at metadata.name, found "../a"',
    ],
    [
      'a list',
      { name: ['a', 'b'] },
      'wrong-type metadata.name: Expected a string at metadata.name, found a list',
    ],
  ] as const) {
    test(`a name that is ${what} is an error`, async () => {
      const plan = planOfThing(
        '  children: [{ id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "${ spec.name }" } } }]\n',
      );
      const phase = phaseOf(plan, { resource: thing(spec_) });
      assert.equal(failureOf(await phase.manifest('a', noElement)), message);
    });
  }

  test('an unknown field in a computed part is an error, as it is for the server', async () => {
    const plan = planOfThing(
      '  children: [{ id: a, template: { apiVersion: v1, kind: Pod, metadata: { name: a }, spec: "${ spec.pod }" } }]\n',
    );
    const phase = phaseOf(plan, { resource: thing({ pod: { containers: [{ nmae: 'a' }] } }) });
    assert.equal(
      failureOf(await phase.manifest('a', noElement)),
      'invalid-manifest spec: Unknown field spec.containers[0].nmae. Did you mean "name"?',
    );
  });

  test('a child and a string of more than 1 MiB are rejected, and one text may have as much as a child', async () => {
    const large = 'x'.repeat(600 * 1024);
    const rendered = await renderData('a: "${ spec.x }", b: "${ spec.x }"', { x: large });
    assert.equal(failureOf(rendered), 'limit-reached template: Expected at most 1 MiB as JSON');
    const most = 'x'.repeat(1_048_000);
    for (const text of [
      '${ spec.x }',
      "${ spec.x & '' }",
      'x${ $substring(spec.x, 1) }',
      '{{ spec.x }}',
    ])
      assert.equal((await renderData(`a: "${text}"`, { x: most })).kind, 'value', text);
    for (const text of [
      '${ spec.x }${ spec.x }',
      '${ spec.x & spec.x }',
      '{{ spec.x }}{{ spec.x }}',
    ])
      assert.match(
        failureOf(await renderData(`a: "${text}"`, { x: large })),
        /^limit-reached data\.a: Expected a string of at most 1048576 characters/,
      );
  });

  test('functions that parse a string accept 256 KiB, others as much as a child may have', async () => {
    const x = 'x'.repeat(1_048_000);
    for (const text of [
      '$hash(spec.x)',
      '$sha256(spec.x)',
      '$base64encode($substring(spec.x, 0, 700000))',
    ])
      assert.equal((await renderData(`a: "\${ ${text} }"`, { x })).kind, 'value', text);
    assert.match(
      failureOf(await renderData('a: "${ $string($parseJson(spec.x)) }"', { x })),
      /^limit-reached data\.a: Expected a string of at most 262144 characters for \$parseJson/,
    );
  });

  test('several concurrent failures give one, and no rejection is unhandled', async () => {
    const rendered = await renderData(
      'a: "${ $number(spec.x) }", b: "${ $number(spec.x) }", c: "a-${ spec.gone }", d: "${ spec.list }"',
      { x: 'no number', list: [] },
    );
    assert.equal(rendered.kind, 'failed');
    // Time for an unhandled rejection to be noticed.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('values that may come from a Secret are not quoted', async () => {
    const plan = planOfThing(`  vars: { pin: "\${ reads.secret.data.pin }" }
  reads: [{ id: secret, apiVersion: v1, kind: Secret, name: a }]
  children: [{ id: a, template: { apiVersion: apps/v1, kind: Deployment, metadata: { name: a }, spec: { replicas: "\${ vars.pin }" } } }]
`);
    const phase = phaseOf(plan);
    phase.setRead('secret', present({ data: { pin: 'hunter2' } }));
    assert.equal(
      failureOf(await phase.manifest('a', noElement)),
      'wrong-type spec.replicas: Expected an integer at spec.replicas, found a string',
    );
  });
});

describe('compile/phase: Secrets', () => {
  const plan = planOfThing(`  reads:
    - { id: secret, apiVersion: v1, kind: Secret, name: a }
    - { id: other, apiVersion: v1, kind: ConfigMap, name: "\${ reads.secret.data.name }" }
  children:
    - id: each
      forEach: \${ reads.secret.data.list }
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } }
    - id: copy
      template: { apiVersion: v1, kind: Secret, metadata: { name: copy }, immutable: "\${ spec.pin }" }
`);

  test('no message contains a value of a Secret', async () => {
    const phase = phaseOf(plan, { resource: thing({ pin: 'hunter2' }) });
    phase.setRead('secret', present({ data: { name: 'hunter/2', list: ['hunter/2'] } }));
    const messages = [
      failureOf(await phase.readRequest('other')),
      failureOf(await phase.manifest('each', { item: 'hunter/2', index: 0 })),
      failureOf(await phase.manifest('copy', noElement)),
    ];
    assert.deepEqual(messages, [
      'wrong-type reads.other.name: Expected an object name at reads.other.name, found a string',
      'invalid-manifest metadata.name: Expected a name at metadata.name, found a string',
      'wrong-type immutable: Expected a boolean at immutable, found a string',
    ]);
  });
});

describe('compile/phase: names', () => {
  test('root names take precedence over fields of the resource, which $self contains', async () => {
    const plan = planOfThing(
      `  vars: { a: b }
  children:
${configMap('child', 'x: "${ vars.a }", own: "${ $self.vars.a }", name: "${ $definition.name }", c: "${ $cluster.name }"')}`,
      `
            type: object
            properties:
              vars: { type: object, x-kubernetes-preserve-unknown-fields: true }`,
    );
    const resource = { ...thing(), vars: { a: 'own' } };
    const rendered = await phaseOf(plan, { resource }).manifest('child', noElement);
    assert.deepEqual(dataOf(rendered), { x: 'b', own: 'own', name: 'thing', c: 'test' });
  });

  test('`ready` sees $child and $item; without a result it is false', async () => {
    const plan = planOfThing(
      `  children:
    - id: job
      forEach: \${ spec.names }
      ready: \${ $child.status.done = $item }
      template: { apiVersion: batch/v1, kind: Job, metadata: { name: "\${ $item }-\${ $index }" } }
    - id: gone
      ready: \${ $child.status.gone }
      template: { apiVersion: example.com/v1, kind: Own, metadata: { name: gone } }
`.replace('status.done', 'metadata.name'),
    );
    const phase = phaseOf(plan, { phase: 'reporting' });
    const child = { ...thing(), metadata: { name: 'a' } };
    const ready = (item: string) => phase.ready('job', child, { item, index: 0 });
    assert.deepEqual(await ready('a'), { kind: 'value', value: true });
    assert.deepEqual(await ready('b'), { kind: 'value', value: false });
    assert.deepEqual(await phase.ready('gone', child, noElement), { kind: 'value', value: false });
    const manifest = givenBy(await phase.manifest('job', { item: 'x', index: 4 }));
    assert.equal(manifest.metadata.name, 'x-4');
  });

  test('status reads the last written status and is coerced to its schema', async () => {
    const plan = planOfThing(
      '  status: { nodes: "${ reads.pods.metadata.name }", done: "${ status.done or spec.done }", count: "{{ spec.count }}", extra: "${ spec.extra }" }\n  reads: [{ id: pods, apiVersion: v1, kind: Pod, selector: all }]\n',
      `
            type: object
            properties:
              spec: { type: object, x-kubernetes-preserve-unknown-fields: true }
              status:
                type: object
                properties:
                  nodes: { type: array, items: { type: string } }
                  done: { type: boolean }
                  count: { type: integer }
                  extra: { type: object, properties: { a: { type: integer } } }`,
    );
    const status = async (pods: readonly unknown[], extra: unknown) =>
      phaseOf(plan, {
        phase: 'reporting',
        resource: thing({ done: false, count: 7, extra }, { done: true }),
        reads: new Map([['pods', present(pods)]]),
      }).status();
    assert.deepEqual(await status([{ metadata: { name: 'a' } }], { a: '1' }), {
      fields: { nodes: ['a'], done: true, count: 7, extra: { a: 1 } },
      failures: [],
    });
    const { fields, failures } = await status([], { b: 1 });
    assert.deepEqual(fields, { nodes: [], done: true, count: 7 });
    assert.deepEqual(
      failures.map(({ message }) => message),
      ['Unknown field status.extra.b'],
    );
  });
});
