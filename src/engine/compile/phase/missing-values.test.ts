import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  compileThing,
  configMap,
  noElement,
  phaseOf,
  present,
  thing,
} from '../../../../test/support/thing-plan.ts';
import type { ExpressionInput, OperatorPlan, PhaseInput, Rendered } from '../operator-plan.ts';

/** The `data` of a rendered ConfigMap, what it waits for, or the message of the failure. */
function resultOf(rendered: Rendered<unknown>): unknown {
  if (rendered.kind === 'value') return (rendered.value as { readonly data: unknown }).data;
  if (rendered.kind === 'waiting') return `waits for ${rendered.on.join(', ')}`;
  return rendered.kind === 'failed' ? rendered.failure.message : rendered.kind;
}

/** Renders a ConfigMap with this expression as `data.x`. */
async function rendered(
  plan: OperatorPlan,
  inputs: Pick<PhaseInput, 'children' | 'reads'> & { readonly spec?: unknown },
  resource = thing(inputs.spec),
): Promise<unknown> {
  const { spec: _, ...rest } = inputs;
  return resultOf(await phaseOf(plan, { resource, ...rest }).manifest('reader', noElement));
}

/** The plan of a definition, which may have warnings. */
function planOf(body: string, schema?: string): OperatorPlan {
  const { plan, diagnostics } = compileThing(body, schema);
  assert.ok(plan, JSON.stringify(diagnostics));
  return plan;
}

const off: ExpressionInput = { state: 'absent', why: '"when" of child "web" is false' };
const because = '", because "when" of child "web" is false';

function planWith(expression: string, vars = ''): OperatorPlan {
  return planOf(`${vars === '' ? '' : `  vars: ${vars}\n`}  reads:
    - { id: secret, apiVersion: v1, kind: Secret, name: secret }
    - { id: maybe, apiVersion: v1, kind: Secret, name: maybe, optional: true }
    - { id: pods, apiVersion: v1, kind: Pod, selector: { matchLabels: { a: b } } }
  children:
    - { id: web, when: "\${ spec.on ?? false }", template: { apiVersion: v1, kind: Service, metadata: { name: web } } }
    - { id: many, forEach: "\${ spec.many ?? [] }", template: { apiVersion: v1, kind: Service, metadata: { name: "\${ $item }" } } }
${configMap('reader', `x: '${expression}'`)}`);
}

describe('compile/phase: a child that is not desired', () => {
  const children = new Map<string, ExpressionInput>([
    ['web', off],
    ['many', present([])],
  ]);

  for (const [expression, expected] of [
    ['${ children.web.metadata.name }', `Missing value "children.web.metadata.name${because}`],
    ['${ children.web }', `Missing value "children.web${because}`],
    ['at ${ children.web.metadata.name }', `Missing value "children.web.metadata.name${because}`],
    [
      '${ "at " & children.web.metadata.name }',
      'Missing value "children.web.metadata.name" in ""at " & children.web.metadata.name", because "when" of child "web" is false',
    ],
    [
      '{{ children.web.metadata.name }}',
      `Missing value "children.web.metadata.name" in "{{ children.web.metadata.name }}${because}`,
    ],
    [
      '${ $uppercase(children.web.metadata.name) }',
      `Missing value "$uppercase(children.web.metadata.name)${because}`,
    ],
    [
      '${ $condition(children.web, "Ready").status }',
      `Missing value "$condition(children.web, "Ready").status${because}`,
    ],
    [
      '${ spec.size = 3 ? children.web.metadata.name : "none" }',
      `Missing value "spec.size = 3 ? children.web.metadata.name : "none"${because}`,
    ],
    ['${ spec.size = 1 ? children.web.metadata.name : "none" }', { x: 'none' }],
    ['${ children.web.metadata.name ?? "none" }', { x: 'none' }],
    ['${? children.web.metadata.name }', {}],
    ['${ $string($exists(children.web)) }', { x: 'false' }],
    [
      '${ children.many[0].metadata.name }',
      'Missing value "children.many[0].metadata.name", because "forEach" of child "many" has no elements',
    ],
    ['${ $string($count(children.many)) }', { x: '0' }],
  ] as const) {
    test(`is needed by ${expression}`, async () => {
      const plan = planWith(expression.replaceAll("'", "''"));
      assert.deepEqual(await rendered(plan, { children, spec: { size: 3 } }), expected);
    });
  }

  for (const [vars, expression, expected] of [
    ['{ host: "${ children.web.metadata.name }" }', '${ vars.host }', `"vars.host${because}`],
    [
      '{ all: { host: "${ children.web.metadata.name }" } }',
      '${ $json(vars.all) }',
      '$json(vars.all)',
    ],
    ['{ all: { host: "${ children.web.metadata.name }", b: c } }', '${ vars.all.b }', { x: 'c' }],
    ['{ host: "${ children.web.metadata.name }" }', '${ vars.host ?? "none" }', { x: 'none' }],
    ['{ host: "${? children.web.metadata.name }" }', '${ vars.host }', {}],
  ] as const) {
    test(`is needed by ${expression} with ${vars}`, async () => {
      const found = await rendered(planWith(expression, vars), { children, spec: {} });
      if (typeof expected === 'object') assert.deepEqual(found, expected);
      else {
        assert.ok(String(found).includes(String(expected)), String(found));
        assert.ok(String(found).endsWith(because), String(found));
      }
    });
  }

  test('is an empty list where a list of children is needed', async () => {
    const plan = planOf(`  children:
    - { id: many, when: "\${ spec.on ?? false }", forEach: [a], template: { apiVersion: v1, kind: Service, metadata: { name: "\${ $item }" } } }
    - id: reader
      template: { apiVersion: v1, kind: Pod, metadata: { name: a }, spec: { containers: [{ name: a, image: b, args: "\${ children.many.metadata.name }" }] } }
`);
    const phase = phaseOf(plan, { children: new Map([['many', off]]) });
    const manifest = await phase.manifest('reader', noElement);
    assert.deepEqual(manifest.kind === 'value' && manifest.value.spec, {
      containers: [{ name: 'a', image: 'b', args: [] }],
    });
  });

  test('is named by `when`, `forEach` and a patch', async () => {
    const plan = planOf(`  children:
    - { id: web, when: "\${ spec.on ?? false }", template: { apiVersion: v1, kind: Service, metadata: { name: web } } }
    - { id: a, when: "\${ children.web.spec.publishNotReadyAddresses }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
    - { id: b, forEach: "\${ children.web.spec.ports }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item.name }" } } }
  patches:
    - { id: mark, target: { apiVersion: v1, kind: ConfigMap, name: m }, patch: { data: { x: "\${ children.web.metadata.name }" } } }
  conditions:
    - { type: Web, status: "\${ children.web.spec.publishNotReadyAddresses }" }
  status: { web: "\${ children.web.metadata.name }" }
`);
    const input = new Map([['web', off]]);
    const phase = phaseOf(plan, { children: input });
    for (const [each, path] of [
      [await phase.when('a'), 'children.web.spec.publishNotReadyAddresses'],
      [await phase.elements('b'), 'children.web.spec.ports'],
    ] as const)
      assert.match(
        String(resultOf(each)),
        new RegExp(`^Missing value "${path}".*${because.slice(1)}$`),
      );
    const reporting = {
      resource: thing(),
      now: '',
      randomText: () => '',
      cluster: { name: 'test', labels: {} },
      previous: thing(),
    };
    const report = plan.reporting?.startPhase({ ...reporting, children: input });
    assert.ok(report);
    const mark = await report.patch('mark');
    assert.ok(mark.kind === 'value' && mark.value[0]);
    assert.equal(
      resultOf(mark.value[0].patch),
      `Missing value "children.web.metadata.name${because}`,
    );
    const [condition] = await report.conditions();
    assert.deepEqual(condition, {
      type: 'Web',
      status: 'Unknown',
      reason: 'Unknown',
      message: `Missing value "children.web.spec.publishNotReadyAddresses${because}`,
    });
    const mapped = await phaseOf(plan, { phase: 'reporting', children: input }).status();
    assert.deepEqual(mapped, { fields: {}, failures: [] });
  });
});

describe('compile/phase: a value that another object does not have yet', () => {
  const secret = { state: 'present', value: { data: {} }, label: 'Secret "a"' } as never;
  const reads = new Map<string, ExpressionInput>([
    ['secret', secret],
    ['maybe', { state: 'absent', why: 'Secret "maybe" does not exist' }],
    ['pods', present([])],
  ]);
  const children = new Map([
    ['web', present({ metadata: { name: 'web' }, status: {} })],
    ['many', present([])],
  ]);
  const key = 'waits for reads.secret.data.key (Secret "a" does not have it)';

  for (const [expression, expected] of [
    ['${ reads.secret.data.key }', key],
    ['${ $base64decode(reads.secret.data.key) }', key],
    ['key ${ reads.secret.data.key }', key],
    [
      '${ reads.secret.data.key & "." & reads.secret.data.other }',
      `${key}, ${key.slice(10).replace('key', 'other')}`,
    ],
    ['{{ reads.secret.data.key }}', key],
    ['${ $lookup(reads.secret.data, spec.key) }', 'waits for a key of reads.secret.data'],
    ['${ reads.secret.data.key ?? "none" }', { x: 'none' }],
    ['${? reads.secret.data.key }', {}],
    ['${ reads.secret.type }', {}],
    ['of type ${ reads.secret.type }', 'waits for reads.secret.type (Secret "a" does not have it)'],
    ['${ reads.maybe.data.key }', {}],
    [
      'key ${ reads.maybe.data.key }',
      'Missing value "reads.maybe.data.key", because Secret "maybe" does not exist',
    ],
    ['${ spec.prefix & reads.secret.data.key }', /^Missing value "spec.prefix" in /],
    ['pod ${ reads.pods[0].metadata.name }', 'waits for an object of reads.pods'],
    ['${ reads.pods[0].metadata.name }', {}],
    ['${ children.web.status.loadBalancer.ingress[0].ip }', {}],
    [
      'at ${ children.web.status.loadBalancer.ingress[0].ip }',
      'waits for children.web.status.loadBalancer.ingress',
    ],
  ] as const) {
    test(`of ${expression}`, async () => {
      const found = await rendered(planWith(expression), { reads, children, spec: { key: 'tls' } });
      if (expected instanceof RegExp) assert.match(String(found), expected);
      else assert.deepEqual(found, expected);
    });
  }

  test('is waited for by `when` and `forEach`', async () => {
    const plan = planOf(`  reads:
    - { id: settings, apiVersion: v1, kind: ConfigMap, name: settings }
  children:
    - { id: a, when: "\${ reads.settings.data.on }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
    - { id: b, forEach: "\${ $split(reads.settings.data.list, ',') }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } } }
`);
    const phase = phaseOf(plan, { reads: new Map([['settings', present({ data: {} })]]) });
    assert.equal(resultOf(await phase.when('a')), 'waits for reads.settings.data.on');
    assert.equal(resultOf(await phase.elements('b')), 'waits for reads.settings.data.list');
  });

  test('is not waited for in the status', async () => {
    const plan = planOf(`  reads:
    - { id: settings, apiVersion: v1, kind: ConfigMap, name: settings }
  children:
    - { id: a, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
  status: { value: "\${ reads.settings.data.on }", text: "is \${ reads.settings.data.on }" }
`);
    const settings: ExpressionInput = { state: 'absent', why: 'reads.settings' };
    const phase = phaseOf(plan, { phase: 'reporting', reads: new Map([['settings', settings]]) });
    const { fields, failures } = await phase.status();
    assert.deepEqual(fields, {});
    assert.deepEqual(
      failures.map(({ message }) => message),
      ['Missing value "reads.settings.data.on"'],
    );
  });
});

describe('compile/phase: a field whose parent is missing', () => {
  const schema = `
            type: object
            properties:
              spec:
                type: object
                required: [size]
                properties:
                  size: { type: integer }
                  level: { type: string, default: read }
                  host: { type: string }
                  limits: { type: object, properties: { rate: { type: integer, default: 10 } } }
                  tls: { type: object, required: [name], properties: { name: { type: string }, mode: { type: string, default: strict } } }
                  list: { type: array, default: [], items: { type: string } }
`;
  const bare = { ...thing(), spec: undefined } as never;

  for (const [expression, spec, expected] of [
    [
      '${ spec.level }',
      undefined,
      'Missing value "spec.level", because the default of "spec.level" applies only where "spec" exists',
    ],
    [
      'at ${ spec.level }',
      undefined,
      'Missing value "spec.level", because the default of "spec.level" applies only where "spec" exists',
    ],
    [
      '{{ spec.level }}',
      undefined,
      'Missing value "spec.level" in "{{ spec.level }}", because the default of "spec.level" applies only where "spec" exists',
    ],
    [
      '${ $string(spec.limits.rate) }',
      undefined,
      'Missing value "$string(spec.limits.rate)", because the default of "spec.limits.rate" applies only where "spec" exists',
    ],
    [
      '${ spec.limits.rate }',
      { size: 1 },
      'Missing value "spec.limits.rate", because the default of "spec.limits.rate" applies only where "spec.limits" exists',
    ],
    [
      '${ spec.size }',
      undefined,
      'Missing value "spec.size", because "spec.size" is required only where "spec" exists',
    ],
    ['${ spec.level ?? "none" }', undefined, { x: 'none' }],
    ['${? spec.level }', undefined, {}],
    ['${ spec.host }', undefined, {}],
    ['${ spec.tls.name }', { size: 1 }, {}],
    ['${ $exists(spec.tls) ? spec.tls.mode : "off" }', { size: 1 }, { x: 'off' }],
    ['${ $exists(spec.limits) ? "a" : spec.limits.rate }', { size: 1 }, {}],
    ['${ spec.level }', { size: 1, level: 'all' }, { x: 'all' }],
  ] as const) {
    test(`is needed by ${expression} of ${JSON.stringify(spec)}`, async () => {
      const plan = planOfBare(expression, schema);
      const resource = spec === undefined ? bare : thing(spec);
      assert.deepEqual(await rendered(plan, {}, resource), expected);
    });
  }
});

function planOfBare(expression: string, schema: string): OperatorPlan {
  return planOf(`  children:\n${configMap('reader', `x: '${expression}'`)}`, schema);
}

describe('compile/phase: a default below a list item or the status', () => {
  const schema = `
            type: object
            properties:
              spec:
                type: object
                properties:
                  size: { type: integer }
                  disks:
                    type: array
                    items:
                      type: object
                      properties:
                        name: { type: string }
                        options: { type: object, properties: { mode: { type: string, default: fast }, size: { type: integer } } }
              status:
                type: object
                properties:
                  last: { type: object, properties: { mode: { type: string, default: slow } } }
`;
  const because = (path: string, above: string) =>
    `because the default of "${path}" applies only where "${above}" exists`;

  for (const [expression, expected] of [
    // An index or a filter may select no item at all.
    ['${ spec.disks[0].options.mode }', {}],
    ['${ spec.disks[0].options.mode ?? "none" }', { x: 'none' }],
    ['${ $string(spec.disks[0].options.size) }', {}],
    [
      '${ status.last.mode }',
      `Missing value "status.last.mode", ${because('status.last.mode', 'status.last')}`,
    ],
  ] as const)
    test(`is needed by ${expression}`, async () => {
      const plan = planOfBare(expression, schema);
      const resource = { ...thing({ size: 1, disks: [{ name: 'a' }] }), status: {} };
      assert.deepEqual(await rendered(plan, {}, resource), expected);
    });

  for (const [forEach, expression, expected] of [
    ['${ spec.disks }', '${ $item.options.mode }', 'Missing value "$item.options.mode", '],
    [
      '${ spec.disks ?? [] }',
      'mode ${ $item.options.mode }',
      'Missing value "$item.options.mode", ',
    ],
    [
      '${ spec.disks }',
      '${ $uppercase($item.options.mode) }',
      'Missing value "$uppercase($item.options.mode)", ',
    ],
    ['${ spec.disks }', '${ $item.options.mode ?? "none" }', { x: 'none' }],
    ['${ spec.disks }', '${? $item.options.mode }', {}],
    ['${ spec.disks }', '${ $exists($item.options) ? $item.options.mode : "no" }', { x: 'no' }],
    ['${ spec.disks }', '${ $item.options.size }', {}],
    // Not the schema of the resource.
    ['${ [{ "name": "a" }] }', '${ $item.options.mode }', {}],
  ] as const)
    test(`is needed by ${expression} for ${forEach}`, async () => {
      const plan = planOf(
        `  children:
    - id: disk
      forEach: '${forEach}'
      template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item.name }" }, data: { x: '${expression}' } }
`,
        schema,
      );
      const phase = phaseOf(plan, { resource: thing({ disks: [{ name: 'a' }] }) });
      const elements = await phase.elements('disk');
      const [element = noElement] = elements.kind === 'value' ? elements.value : [];
      const found = resultOf(await phase.manifest('disk', element));
      if (typeof expected === 'object') assert.deepEqual(found, expected);
      else assert.equal(found, `${expected}${because('$item.options.mode', '$item.options')}`);
    });
});

describe('compile/phase: `when` and `forEach` of a field that is null', () => {
  const plan = planOf(`  children:
    - { id: a, when: "\${ spec.on }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: a } } }
    - { id: b, forEach: "\${ spec.names }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } } }
    - { id: c, when: "\${ spec.on ?? false }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: c } } }
    - { id: d, forEach: "\${ spec.names ?? [] }", template: { apiVersion: v1, kind: ConfigMap, metadata: { name: "\${ $item }" } } }
`);

  const outcome = async (spec: unknown) => {
    const phase = phaseOf(plan, { resource: thing(spec) });
    const found = [await phase.when('a'), await phase.elements('b')];
    return [...found, await phase.when('c'), await phase.elements('d')];
  };

  test('is that of a missing field', async () => {
    const missing = await outcome({});
    assert.deepEqual(await outcome({ on: null, names: null }), missing);
    const [when, forEach, guarded, elements] = missing;
    assert.match(String(when && resultOf(when)), /^Missing value "spec\.on"/);
    assert.match(String(forEach && resultOf(forEach)), /^Missing value "spec\.names"/);
    assert.deepEqual(guarded, { kind: 'value', value: false });
    assert.deepEqual(elements, { kind: 'value', value: [] });
  });
});
