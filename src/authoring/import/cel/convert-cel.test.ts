import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { schemaOfCustomResource } from '#compile';
import { createCelParser } from '#sandbox';
import { atom, NoEquivalentError } from './cel-context.ts';
import { convertCel } from './convert-cel.ts';
import { listOf, schemaOfType, textType, unknownType } from './value-type.ts';

const parse = createCelParser();
const instanceType = schemaOfCustomResource(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string' },
          size: { type: 'integer', default: 1 },
          ratio: { type: 'number' },
          on: { type: 'boolean' },
          hosts: { type: 'array', items: { type: 'string' } },
          lists: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
  { group: 'example.com', version: 'v1', kind: 'Site' },
);

function convert(text: string) {
  const parsed = parse(text);
  assert.ok('node' in parsed, text);
  const notes = new Set<string>();
  const variables = new Map([
    ['schema', atom('', instanceType, 'always')],
    ['web', atom('children.web', unknownType, 'always')],
    ['pods', atom('children.pods', listOf(unknownType), 'always')],
    ['item', atom('$item', textType, 'always')],
  ]);
  return { ...convertCel(parsed.node, { variables, notes }), notes: [...notes] };
}

describe('simulation/import/cel/convert-cel', () => {
  for (const [cel, jsonata] of [
    ['schema.spec.name', 'spec.name'],
    [
      'schema.metadata.labels["app.kubernetes.io/name"]',
      'metadata.labels.`app.kubernetes.io/name`',
    ],
    ['schema.spec.free.or', 'spec.free.`or`'],
    ['web.status.addresses[0].ip', 'children.web.status.addresses[0].ip'],
    ['schema.spec.hosts[schema.spec.size]', '($at := spec.size; spec.hosts[$at])'],
    ['schema.spec.labels[schema.spec.name]', '$lookup(spec.labels, spec.name)'],
    ['schema.spec.size + 1', 'spec.size + 1'],
    ['schema.spec.name + "-" + string(schema.spec.size + 1)', 'spec.name & "-" & (spec.size + 1)'],
    ['schema.spec.hosts + ["x"]', '$append(spec.hosts, ["x"])'],
    ['(schema.spec.size + 1) * 2', '(spec.size + 1) * 2'],
    ['schema.spec.size - (1 - 2)', 'spec.size - (1 - 2)'],
    ['schema.spec.ratio / 2.0', 'spec.ratio / 2'],
    ['-schema.spec.size', '-spec.size'],
    ['schema.spec.on == null', '$not($exists(spec.on))'],
    ['null != schema.spec.on', '$exists(spec.on)'],
    ['schema.spec.name != "x"', '$not(spec.name = "x")'],
    ['!schema.spec.on', '$not(spec.on)'],
    ['schema.spec.on && (web.a || web.b)', 'spec.on and (children.web.a or children.web.b)'],
    ['(schema.spec.on && web.a) == web.b', '(spec.on and children.web.a) = children.web.b'],
    ['schema.spec.on ? 1 : 2', 'spec.on ? 1 : 2'],
    ['schema.spec.on ? 1 : omit()', 'spec.on ? 1'],
    ['schema.spec.on ? omit() : "a"', '$not(spec.on) ? "a"'],
    ['(schema.spec.on ? 1 : 2) + 1', '(spec.on ? 1 : 2) + 1'],
    ['has(schema.spec.on)', '$exists(spec.on)'],
    ['schema.spec.?on.orValue(false)', 'spec.on ?? false'],
    ['schema.spec.?on.orValue(false) && true', '(spec.on ?? false) and true'],
    ['schema.spec.?on.hasValue()', '$exists(spec.on)'],
    ['web.?a[?0].?b', 'children.web.a[0].b'],
    ['web.?a.optMap(x, x + "!")', '($x := children.web.a; $exists($x) ? $x & "!")'],
    ['"a" in schema.spec.labels', '"a" in $keys(spec.labels)'],
    ['"a" in schema.spec.hosts', '"a" in spec.hosts'],
    ['size(schema.spec.name)', '$length(spec.name)'],
    ['schema.spec.hosts.size()', '$count(spec.hosts)'],
    ['schema.spec.labels.size()', '$count($keys(spec.labels))'],
    ['pods.map(p, p.metadata.name)', '[$map(children.pods, function($p) { $p.metadata.name })]'],
    ['pods.map(item, item.a)', '[$map(children.pods, function($itemValue) { $itemValue.a })]'],
    ['pods.filter(p, p.ok)', '[$filter(children.pods, function($p) { $p.ok })]'],
    ['pods.exists(p, p.ok)', '$count($filter(children.pods, function($p) { $p.ok })) > 0'],
    [
      'web.status.conditions.exists(c, c.type == "Ready" && c.status == "True")',
      '$condition(children.web, "Ready").status = "True"',
    ],
    [
      'schema.spec.labels.all(k, v, k != v)',
      '$count($each(spec.labels, function($v, $k) { $not($not($k = $v)) ? true })) = 0',
    ],
    ['lists.range(schema.spec.size)', '[0..spec.size - 1]'],
    ['lists.range(3)', '[0..2]'],
    ['cel.bind(x, schema.spec.name, x + x)', '($x := spec.name; $x & $x)'],
    [
      'pods.sortBy(p, p.a)',
      '[$sort(children.pods, function($left, $right) { $left.a > $right.a })]',
    ],
    ['{"a": 1, "b": schema.spec.name}', '{ "a": 1, "b": spec.name }'],
    ['{}', '{}'],
    ['schema.spec.name.matches("^a/b$")', '$contains(spec.name, /^a\\/b$/)'],
    ['schema.spec.name.matches("(?i)x")', '$contains(spec.name, /x/i)'],
    ['"%s=%d".format([schema.spec.name, 2])', 'spec.name & "=" & 2'],
    ['string(schema.spec.name)', 'spec.name'],
    ['int("3")', '$number("3")'],
    ['math.least(1, schema.spec.size)', '$min([1, spec.size])'],
    ['item', '$item'],
  ] as const) {
    test(`${cel} is ${jsonata}`, () => {
      const { text, notes } = convert(cel);
      assert.deepEqual([text, notes], [jsonata, []]);
    });
  }

  for (const [cel, jsonata, note] of [
    ['web.a + web.b', 'children.web.a & children.web.b', /types of "\+" are not known/],
    ['size(web.a)', '$count(children.web.a)', /type in "size" is not known/],
    ['schema.spec.size / 2', '$floor(spec.size / 2)', /rounded down/],
    ['hash.md5("a")', '$hash("a")', /other texts/],
    ['quantity("1Gi").add(quantity("1Mi"))', '$quantity("1Gi") + $quantity("1Mi")', /is a number/],
    ['[schema.spec.hosts]', '[spec.hosts]', /joined to one list/],
  ] as const)
    test(`${cel} is approximated`, () => {
      const { text, notes } = convert(cel);
      assert.equal(text, jsonata);
      assert.match(notes.join(), note);
    });

  for (const [cel, offset, message] of [
    ['1 + nothing', 4, /There is no variable "nothing"/],
    ['schema.spec.name + url("x").getHost()', 28, /The function "getHost" has no equivalent/],
    ['schema.other', 7, /The resource has no field "other"/],
    ['schema.spec.name.matches(schema.spec.name)', 0, /computed argument/],
    ['schema.spec.name.matches("(?P<a>b)")', 0, /syntax that JSONata lacks/],
    ['schema.spec.name.split(",", 2)', 17, /with these arguments/],
    ['"%x".format([1])', 0, /The format "%x" has no equivalent/],
    ["b'abc'", 0, /Bytes have no equivalent/],
    ['pods.map(p, p.deepMerge(p))', 14, /"deepMerge" has no equivalent/],
  ] as const)
    test(`${cel} has no equivalent, at ${offset}`, () => {
      assert.throws(
        () => convert(cel),
        (error) =>
          error instanceof NoEquivalentError &&
          error.offset === offset &&
          message.test(error.message),
      );
    });

  for (const [cel, schema] of [
    ['schema.spec.name + "x"', { type: 'string' }],
    ['schema.spec.size * 2', { type: 'integer' }],
    ['schema.spec.size * 0.5', { type: 'number' }],
    ['schema.spec.size > 1', { type: 'boolean' }],
    ['schema.spec.hosts.map(h, h.size())', { type: 'array', items: { type: 'integer' } }],
    ['schema.spec.labels', { type: 'object', additionalProperties: { type: 'string' } }],
    ['schema.spec.on ? 1 : "a"', { 'x-kubernetes-preserve-unknown-fields': true }],
    ['web.status', { 'x-kubernetes-preserve-unknown-fields': true }],
  ] as const)
    test(`the type of ${cel} is known`, () => {
      assert.deepEqual(schemaOfType(convert(cel).type), schema);
    });
});
