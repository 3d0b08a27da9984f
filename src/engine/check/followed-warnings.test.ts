import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bundledSchemas } from '#compile';
import { arrangeDiagnostics } from '#definition';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { createManifestCheck } from './check-manifest.ts';

const check = createManifestCheck(bundledSchemas());

const schema = `
            type: object
            required: [spec]
            properties:
              spec:
                type: object
                required: [size, text, secret, names]
                properties:
                  size: { type: integer }
                  text: { type: string }
                  secret: { type: string }
                  names: { type: array, items: { type: string } }
                  host: { type: string }
                  count: { type: integer }
                  enabled: { type: boolean }
                  hosts: { type: array, items: { type: string } }
                  a: { type: integer }
                  b: { type: integer }
                  a-b: { type: integer }
              status: { type: object, properties: { seen: { type: string } } }`;

/** The messages, without the fields that only a server requires. */
function warningsOf(text: string): readonly string[] {
  return arrangeDiagnostics(check({ file: 'a.yaml', text }).diagnostics)
    .filter(({ code, severity }) => code !== 'missing-field' || severity === 'error')
    .map(({ message }) => message);
}

const map = (value: string, more = '') =>
  `  children: [{ id: map, ${more}template: { apiVersion: v1, kind: ConfigMap, metadata: { name: map }, data: { a: "${value}" } } }]\n`;
const secret = (field: string) =>
  `  children: [{ id: s, template: { apiVersion: v1, kind: Secret, metadata: { name: s }, ${field} } }]\n`;
const read = (more: string, use: string) =>
  `  reads: [{ id: r, apiVersion: v1, kind: Secret, ${more} }]\n  status: { seen: "${use}" }\n`;
const workload = (replicas: string) => `  children:
    - id: web
      template:
        apiVersion: apps/v1
        kind: Deployment
        metadata: { name: "\${ metadata.name }" }
        spec:
          ${replicas}
          selector: { matchLabels: { app: web } }
          template:
            metadata: { labels: { app: web } }
            spec: { containers: [{ name: web, image: web, ports: [{ name: http, containerPort: 80 }] }] }
`;
const service = (port: string) => `${workload('paused: false')}    - id: service
      template: { apiVersion: v1, kind: Service, metadata: { name: web }, spec: { selector: { app: web }, ports: [{ port: 80, targetPort: ${port} }] } }
`;
const scaler = `    - id: scaler
      template:
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata: { name: "\${ metadata.name }" }
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: "\${ metadata.name }" } }
`;
const cronJob = (name: string) =>
  `  children: [{ id: job, template: { apiVersion: batch/v1, kind: CronJob, metadata: { name: '${name}' }, spec: { schedule: "0 0 * * *", jobTemplate: { spec: { template: { spec: { restartPolicy: Never, containers: [{ name: a, image: b }] } } } } } } }]\n`;
const twoMaps = (when: string) => `  children:
    - { id: one, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: one } } }
    - { id: two, ${when}, template: { apiVersion: v1, kind: ConfigMap, metadata: { name: two } } }
`;
const patch = (more: string) =>
  `  reads: [{ id: r, apiVersion: v1, kind: ConfigMap, selector: { matchLabels: { a: b } }, history: { keep: 2 } }]
  patches: [{ id: p, ${more}target: { apiVersion: v1, kind: ConfigMap, name: a }, patch: "\${ { 'data': history[0].object.data } }" }]
`;

describe('check/followed warnings', () => {
  for (const [message, before, after] of [
    [
      '"a-b" is parsed as a subtraction',
      map('${ $string(spec.a-b) }'),
      map('${ $string(spec.`a-b`) }'),
    ],
    [
      '"!=" is false if "spec.text" is missing',
      map("${ $string(spec.text != 'a') }"),
      map("${ $string($not(spec.text = 'a')) }"),
    ],
    [
      '"in" never finds null: it is a missing value',
      map("${ $string(spec.text in [null, 'a']) }"),
      map("${ $string(spec.text = null or spec.text in ['a']) }"),
    ],
    [
      '"+" adds numbers, and one operand is a string',
      map("${ 'a' + spec.text }"),
      map("${ 'a' & spec.text }"),
    ],
    [
      `"??" uses the whole "'a' & 'b'" as the default`,
      map("${ spec.host ?? 'a' & 'b' }"),
      map("${ (spec.host ?? 'a') & 'b' }"),
    ],
    [
      `"??" uses the whole "'a' & 'b'" as the default`,
      map("${ spec.host ?? 'a' & 'b' }"),
      map("${ spec.host ?? ('a' & 'b') }"),
    ],
    [
      '["a/b"] selects no field: brackets contain an index or a condition',
      map("${ metadata.annotations['a/b'] }"),
      map('${ metadata.annotations.`a/b` }'),
    ],
    [
      '"spec.size" is an integer and never equals the string "1"',
      map("${ spec.size = '1' ? 'a' : 'b' }"),
      map("${ spec.size = 1 ? 'a' : 'b' }"),
    ],
    [
      '"spec.count" is optional, and the comparison is an error without it',
      map('a', "when: '${ spec.count > 1 }', "),
      map('a', "when: '${ (spec.count ?? 0) > 1 }', "),
    ],
    [
      '"spec.enabled" is an error if the field is missing',
      map('a', "when: '${ spec.enabled }', "),
      map('a', "when: '${ spec.enabled ?? false }', "),
    ],
    [
      '"spec.hosts" is optional, and "forEach" of child "map" fails without it',
      map('a', "forEach: '${ spec.hosts }', ").replace('name: map', "name: '${ $item }'"),
      map('a', "forEach: '${ (spec.hosts ?? []) }', ").replace('name: map', "name: '${ $item }'"),
    ],
    [
      'All elements of child "map" have the same name; two elements are an error',
      map('a', "forEach: '${ spec.names }', "),
      map('a', "forEach: '${ spec.names }', ").replace('name: map', "name: '${ $item }'"),
    ],
    [
      'Expected an integer at spec.replicas, but the result may be a fraction',
      workload('replicas: ${ spec.size / 2 }'),
      workload('replicas: ${ $floor(spec.size / 2) }'),
    ],
    [
      '"children.web.status.readyReplicas" is missing when it is zero',
      `${workload('paused: false')}  status: { seen: "\${ $string(children.web.status.readyReplicas = 1) }" }\n`,
      `${workload('paused: false')}  status: { seen: "\${ $string((children.web.status.readyReplicas ?? 0) = 1) }" }\n`,
    ],
    [
      '"spec.text" is this text, not the value at this path',
      map('spec.text'),
      map('${ spec.text }'),
    ],
    [
      '"spec.text" is this text, not the value at this path',
      map('spec.text'),
      map('spec.text').replace('"spec.text"', '{ $literal: spec.text }'),
    ],
    [
      '"when" of child "two" reads "children.one": a change of that child can delete this one',
      twoMaps('when: "${ $exists(children.one.data.a) }"'),
      twoMaps('after: [one]'),
    ],
    [
      '"$previous.spec.size" always equals "spec.size": a reconcile changes only the status',
      '  events: [{ when: "${ $previous.spec.size > 1 }", reason: Grown, message: a }]\n',
      '  events: [{ when: "${ spec.size > 1 }", reason: Grown, message: a }]\n',
    ],
    [
      '"metadata.resourceVersion" changes with every write of the status',
      map('${ metadata.resourceVersion }'),
      map('${ $string(metadata.generation) }'),
    ],
    [
      'Patch "p" would undo every edit: it restores an earlier state whenever the object differs',
      patch(''),
      patch('once: "${ spec.text }", '),
    ],
    [
      'The selector of read "r" is completely computed, so all objects of kind "Secret" are watched',
      read(
        'selector: { matchLabels: "${ { spec.text: \'a\' } }" }',
        '${ $string($count(reads.r)) }',
      ),
      read('selector: { matchLabels: { a: "${ spec.text }" } }', '${ $string($count(reads.r)) }'),
    ],
    [
      'Users who can create a Thing can read every Secret of its namespace through "status.seen"',
      read('name: "${ spec.secret }"', '${ reads.r.data.a }'),
      read('name: "${ spec.secret }"', '${ $hash(reads.r.data.a) }'),
    ],
    [
      '"data.a" of a Secret is base64, and this is a plain text',
      secret('data: { a: "${ metadata.name }" }'),
      secret('stringData: { a: "${ metadata.name }" }'),
    ],
    [
      '"data.a" of a Secret is base64, and this is a plain text',
      secret('data: { a: "${ metadata.name }" }'),
      secret('data: { a: "${ $base64encode(metadata.name) }" }'),
    ],
    [
      'HorizontalPodAutoscaler "scaler" scales this Deployment, and "replicas" sets it back in each reconcile',
      workload('replicas: 2') + scaler,
      workload('paused: false') + scaler,
    ],
    [
      'No container of Deployment "web" has a port with the name "htpp"',
      service('htpp'),
      service('http'),
    ],
    [
      'No container of Deployment "web" has a port with the name "htpp"',
      service('htpp'),
      service('80'),
    ],
    [
      'Kubernetes has no kind "ConfgMap" in "v1"',
      map('a').replace('ConfigMap', 'ConfgMap'),
      map('a'),
    ],
    [
      'ConfigMap "one" is also the object of child "one"',
      twoMaps('after: [one]').replace('name: two', 'name: one'),
      twoMaps('after: [one]'),
    ],
    [
      'The name may have 63 characters: the name of a CronJob may have 52',
      cronJob('${ $name(metadata.name, "job") }'),
      cronJob('${ $name(metadata.name, "job", { "maxLength": 52 }) }'),
    ],
  ] as const)
    test(`${message}: the warning can be followed: ${firstDifference(before, after)}`, () => {
      const definition = (body: string) => thingDefinition('thing', body, { schema });
      const found = warningsOf(definition(before));
      assert.ok(found.includes(message), found.join());
      assert.deepEqual(warningsOf(definition(after)), []);
    });

  test('a hint about defaults names the objects that need one', () => {
    const hintsOf = (enabled: string) => {
      const cache = `{ type: object, properties: { enabled: { type: boolean${enabled} } } }`;
      const spec = `{ type: object, properties: { cache: ${cache} } }`;
      const text = thingDefinition('thing', map('a', "when: '${ spec.cache.enabled }', "), {
        schema: ` { type: object, required: [spec], properties: { spec: ${spec} } }`,
      });
      return check({ file: 'a.yaml', text })
        .diagnostics.filter(({ message }) => message.includes('is an error if'))
        .map(({ hint }) => hint);
    };
    assert.deepEqual(hintsOf(', default: false'), [
      'Write "spec.cache.enabled ?? false", or give "spec.cache" a default',
    ]);
    assert.deepEqual(hintsOf(''), [
      'Write "spec.cache.enabled ?? false", or give "spec.cache" and "spec.cache.enabled" a default',
    ]);
  });

  test('a kind without a status has no version of its status, and no generation to read in its place', () => {
    const served = (kind: string) =>
      thingDefinition('thing', map('${ metadata.resourceVersion }')).replace(
        / {2}crd:[\s\S]*?(?= {2}children)/,
        `  for: { apiVersion: v1, kind: ${kind} }\n`,
      );
    assert.deepEqual(warningsOf(served('ConfigMap')), []);
    assert.deepEqual(warningsOf(served('Service')), [
      '"metadata.resourceVersion" changes with every write of the status',
    ]);
  });
});

function firstDifference(before: string, after: string): string {
  const start = [...after].findIndex((character, index) => character !== before[index]);
  return after.slice(Math.max(0, start - 10), start + 30).replaceAll('\n', ' ');
}
