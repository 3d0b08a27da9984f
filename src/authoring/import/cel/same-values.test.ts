import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfCustomResource } from '#compile';
import { createCelParser } from '#sandbox';
import { createCelEnvironment } from '#sandbox/cel/cel-environment.ts';
import { evaluate } from '../../../../test/support/compile/test-scope.ts';
import { atom } from './cel-context.ts';
import { convertCel } from './convert-cel.ts';
import { listOf, unknownType } from './value-type.ts';

const item = {
  type: 'object',
  properties: { name: { type: 'string' }, port: { type: 'integer' }, on: { type: 'boolean' } },
};
const specSchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    hosts: { type: 'array', items: { type: 'string' } },
    items: { type: 'array', items: item },
    numbers: { type: 'array', items: { type: 'integer' } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};
const instanceType = schemaOfCustomResource(
  { type: 'object', properties: { spec: specSchema } },
  { group: 'example.com', version: 'v1', kind: 'Site' },
);

/** Lists with no, one and several elements: JSONata treats one element like no list. */
const specs = [
  {
    name: 'web-1',
    count: 3,
    ratio: 2.5,
    hosts: ['a.example.com', 'b.example.com', 'c.test'],
    items: [
      { name: 'http', port: 80, on: true },
      { name: 'admin', port: 8080, on: false },
      { name: 'tls', port: 443, on: true },
    ],
    numbers: [3, 1, 2],
    labels: { app: 'web', tier: 'front' },
  },
  {
    name: 'x',
    count: 1,
    ratio: 0.5,
    hosts: ['only.test'],
    items: [{ name: 'http', port: 80, on: true }],
    numbers: [7],
    labels: { app: 'x' },
  },
  { name: '', count: 0, ratio: 0, hosts: [], items: [], numbers: [], labels: {} },
];

const web = {
  metadata: { name: 'web' },
  spec: { replicas: 2 },
  status: {
    phase: 'Ready',
    ips: ['10.0.0.1'],
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Stuck', status: 'False' },
    ],
  },
};

const parse = createCelParser();
const environment = createCelEnvironment();

function convert(cel: string): string {
  const parsed = parse(cel);
  assert.ok('node' in parsed, cel);
  const variables = new Map([
    ['schema', atom('', instanceType, 'always')],
    ['web', atom('children.web', unknownType, 'always')],
    ['pods', atom('children.pods', listOf(unknownType), 'always')],
  ]);
  return convertCel(parsed.node, { variables, notes: new Set() }).text;
}

/** What CEL gives, with numbers of JSON. Undefined: an error, such as for a missing field or index. */
function celValue(cel: string, context: Record<string, unknown>): unknown {
  try {
    return plain(environment.parse(cel)(integers(context)));
  } catch {
    return undefined;
  }
}

/** Integers of JSON are integers of CEL. */
function integers(value: unknown): Record<string, unknown> {
  return deep(value, (each) =>
    typeof each === 'number' && Number.isInteger(each) ? BigInt(each) : each,
  ) as Record<string, unknown>;
}

function plain(value: unknown): unknown {
  return deep(value, (each) => (typeof each === 'bigint' ? Number(each) : each));
}

function deep(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => deep(each, change));
  if (value instanceof Map) return deep(Object.fromEntries(value), change);
  if (typeof value !== 'object' || value === null) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, deep(each, change)]));
}

describe('simulation/import/cel: both languages give the same values', () => {
  for (const cel of [
    'schema.spec.name + "-" + string(schema.spec.count + 1)',
    'schema.spec.count * 2 - 1 > 3 || schema.spec.count == 0',
    'schema.spec.count / 2',
    '(schema.spec.count + 5) % 3',
    '-schema.spec.count + 1',
    'schema.spec.count - (1 - 2)',
    'schema.spec.name != "x" ? "other" : "x"',
    'schema.spec.count > 2 ? "many" : schema.spec.count > 0 ? "one" : "none"',
    '!(schema.spec.count > 0) || schema.spec.name.startsWith("web")',
    'schema.spec.hosts',
    'schema.spec.hosts[0]',
    'schema.spec.hosts.size()',
    'size(schema.spec.name) + size(schema.spec.labels)',
    'schema.spec.hosts + ["more"]',
    'schema.spec.hosts.map(h, h + "!")',
    'schema.spec.hosts.map(h, h.size() > 8, h.upperAscii())',
    'schema.spec.items.map(i, i.port)',
    'schema.spec.items.map(i, {"containerPort": i.port, "name": i.name})',
    'schema.spec.items.filter(i, i.on)',
    'schema.spec.items.filter(i, i.on).map(i, i.name)',
    'schema.spec.items.filter(i, i.port > 9999)',
    'schema.spec.items.exists(i, i.port == 443 && i.on)',
    'schema.spec.items.all(i, i.port < 1000)',
    'schema.spec.items.exists_one(i, i.on)',
    'schema.spec.hosts.exists(h, schema.spec.name == h)',
    'schema.spec.items.map(i, schema.spec.name + "/" + i.name)',
    'schema.spec.hosts.map(h, schema.spec.items.filter(i, i.on).size())',
    '"a.example.com" in schema.spec.hosts',
    '"app" in schema.spec.labels',
    'schema.spec.labels["app"]',
    'schema.spec.labels.map(k, k)',
    'schema.spec.labels.exists(k, k == "tier")',
    'schema.spec.numbers.sum()',
    'schema.spec.numbers.max()',
    'schema.spec.numbers.min()',
    'schema.spec.hosts.join(",")',
    'schema.spec.hosts.map(h, h.split(".")[0]).join("+")',
    'schema.spec.name.replace("-", "_")',
    'schema.spec.name.matches("^[a-z]+-[0-9]$")',
    'schema.spec.name.find("[0-9]+")',
    '("  a   b " + schema.spec.name).trim()',
    'schema.spec.hosts.map(at, at + "!").map(each, each.size())',
    'schema.spec.numbers.map(at, schema.spec.numbers[at - at])',
    'schema.spec.name.contains("eb")',
    'schema.spec.name.endsWith("1")',
    'schema.spec.name.indexOf("-")',
    'has(schema.spec.nothing) || has(schema.spec.name)',
    'schema.spec.?nothing.orValue("default")',
    'schema.spec.?name.orValue("default")',
    'web.status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
    'web.status.conditions.exists(c, c.type == "Stuck" && c.status == "True")',
    'web.status.conditions.exists(c, c.type == "Gone" && c.status == "True")',
    'web.status.ips[0] + ":" + string(web.spec.replicas)',
    'web.status.phase in ["Ready", "Waiting"]',
    'web.spec.replicas == schema.spec.count - 1',
    'pods.map(p, p.metadata.name)',
    'pods.all(p, p.status.phase == "Ready") && size(pods) > 0',
    'pods.filter(p, p.spec.replicas > 2).size()',
    'cel.bind(n, schema.spec.count + 1, n * n)',
    '{"a": schema.spec.count, "b": {"c": schema.spec.name}}',
    '[schema.spec.count, 2, 3]',
    'string(schema.spec.ratio) + "x"',
    'double(schema.spec.count) / 2.0',
    'int("42") + schema.spec.count',
  ])
    test(cel, async () => {
      const jsonata = convert(cel);
      let compared = 0;
      for (const spec of specs)
        for (const pods of [[], [web], [web, web]]) {
          const metadata = { name: 'shop' };
          const expected = celValue(cel, { schema: { spec, metadata }, web, pods });
          if (expected === undefined) continue;
          const root = { spec, metadata, children: { web, pods } };
          assert.deepEqual(await evaluate(jsonata, root), expected, jsonata);
          compared++;
        }
      assert.ok(compared > 0, 'CEL gives no value');
    });
});
