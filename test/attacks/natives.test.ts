import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLeafParser, WorkBudget } from '#compile/language/index.ts';
import { parseYaml, printYaml } from '#definition';

const long = 'a'.repeat(250_000);
const map = Object.fromEntries(
  Array.from({ length: 2_000 }, (_, index) => [
    `k${index}`,
    { value: index, text: `text ${index}` },
  ]),
);
const spec = {
  long,
  stars: `${'*a'.repeat(2_000)}b`,
  classes: '\\pL'.repeat(60),
  folded: `(?i)${'[A-\u{1e942}]'.repeat(3)}`,
  selector: Array.from({ length: 9_000 }, (_, index) => `k${index}=v`).join(','),
  // Equal, and not the same text.
  alike: `${'a'.repeat(249_999)}${String.fromCharCode(97)}`,
  pattern: `b${'a'.repeat(120_000)}`,
  texts: Array.from({ length: 9_999 }, (_, index) => `n${index}`),
  map,
  objects: Object.values(map),
  named: Object.keys(map).map((name) => ({ name, image: 'x' })),
  versions: '>=1.2.3 '.repeat(31),
  never: '0 0 30 2 *',
  layout: '%F'.repeat(60),
  labels: Object.fromEntries(Object.keys(map).map((key) => [key, 'v'])),
  integers: [...Array(50_000).keys()],
  mapAlike: JSON.parse(JSON.stringify(map)) as unknown,
  few: [1, 2, 3, 4, 5],
  nested: [[...Array(50_000).keys()]],
};

const parser = createLeafParser({ parseYaml, printYaml, isReady: () => true });

/** What is evaluated is charged to this: with so few steps nothing can take long, and nothing can be done often. */
function evaluate(text: string, steps: number): unknown {
  const { leaf } = parser.parse(text);
  assert.ok(leaf !== undefined && leaf.kind !== 'literal' && leaf.kind !== 'text', text);
  const limits = { steps, memoryBytes: Number.POSITIVE_INFINITY, cpuMs: Number.POSITIVE_INFINITY };
  const root = { metadata: { name: 'x' }, spec };
  return leaf.expression.evaluate({
    root,
    self: root,
    definition: { name: 'd', revision: 'r' },
    cluster: { name: 'test', labels: {} },
    now: '2026-01-01T00:00:00Z',
    randomText: (length) => 'x'.repeat(length),
    budget: new WorkBudget({ limits }),
  });
}

/** Calls and operators, none of which may be had a hundred times for what a hundred small ones cost. */
const dear = [
  '$sha256(spec.long) = "x"',
  '$sha1(spec.long) = "x"',
  '$md5(spec.long) = "x"',
  '$toIni({ "a": spec.long }) = "x"',
  '$toIni({ "a": spec.texts }) = "x"',
  '$toProperties(spec.map) = "x"',
  '$toToml(spec.map) = "x"',
  '$toToml({ "a": spec.long }) = "x"',
  '$count($keys($deepMerge(spec.map, spec.mapAlike))) = 0',
  '$count($deepMerge({ "containers": spec.named }, { "containers": spec.named }).containers) = 0',
  '$count($deepMerge({ "l": spec.named }, { "l": spec.named }, { "l": "name" }).l) = 0',
  '$semverMatches("1.2.3", spec.versions) = "x"',
  '$count($subnets("10.0.0.0/8", 24, 9999)) = 0',
  '$url("http://a?" & spec.long).host = "x"',
  '$nextTime(spec.never, "Europe/Berlin", "2026-01-01T00:00:00Z") = "x"',
  '$nextTime("0 3 * * *", "Europe/Berlin", "2026-01-01T00:00:00Z") = "x"',
  '$time("2026-01-01 00:00", "Europe/Berlin") = "x"',
  '$formatTime("2026-01-01T00:00:00Z", spec.layout, "Europe/Berlin") = "x"',
  '$glob(spec.long, spec.stars)',
  '$glob(spec.long, spec.long & "b")',
  '$matches($substring(spec.long, 0, 60000), "b$")',
  '$matches("a", spec.classes) = "x"',
  '$matches("a", spec.folded) = "x"',
  '$selects(spec.selector, spec.labels) = "x"',
  '$selects({ "matchLabels": spec.labels }, spec.labels) = "x"',
  '$count($unique(spec.texts)) = 0',
  '$count($unique(spec.objects, "text")) = 0',
  '$count($keys($groupBy(spec.objects, "text"))) = 0',
  '$count($range(9999)) = 0',
  '$count($zipIndex(spec.texts)) = 0',
  '$firstFree(spec.texts, spec.texts) = 0',
  '$firstFree(spec.integers, 1000000) = 0',
  '$uppercase(spec.long) = "x"',
  '$lowercase(spec.long) = "x"',
  '$contains(spec.long, "b")',
  '$contains(spec.long, spec.pattern)',
  '$contains($substring(spec.long, 0, 60000), /b/)',
  '$substringBefore(spec.long, "b") = "x"',
  '$substringAfter(spec.long, "b") = "x"',
  '$substring(spec.long, 5) = "x"',
  '$length(spec.long) = 1',
  '$length($pad("", 200000)) = 1',
  '$trim(spec.long) = "x"',
  '$base64encode(spec.long) = "x"',
  '$encodeUrlComponent(spec.long) = "x"',
  '$count($split(spec.long, "b")) = 0',
  '$replace(spec.long, "b", "c") = "x"',
  '$lookup(spec.nested, "none") = 1',
  'spec.nested.none = 1',
  '$count($keys(spec.map)) = 0',
  '$count(spec.map.*) = 0',
  '$count(spec.map.**) = 0',
  '$count($spread(spec.map)) = 0',
  '$count($each(spec.map, $type)) = 0',
  '$count($distinct(spec.texts)) = 0',
  '$count($sort(spec.texts)) = 0',
  '$count($reverse(spec.texts)) = 0',
  '$count($append(spec.texts, "x")) = 0',
  '$count($zip(spec.texts, spec.texts)) = 0',
  '$sum(spec.nested[0]) = 0',
  '$not(spec.texts)',
  '$join(spec.texts) = "x"',
  '$string(spec.map) = "x"',
  '$hash(spec.map) = "x"',
  '$json(spec.map) = "x"',
  '$yaml(spec.map) = "x"',
  '$count($merge([spec.map, spec.map])) = 0',
  '$clone(spec.map) = 0',
  '"n" in spec.texts',
  'spec.map = spec.mapAlike',
  'spec.long = spec.alike',
  'spec.long < spec.alike',
  '(spec.long & "x") = "x"',
  '$count([spec.texts, 1]) = 0',
  '(spec.texts ? 1 : 2) = 3',
  '(spec.texts and true) = "x"',
  'spec.texts[$$.spec.texts] = 0',
];

describe('attacks/natives', () => {
  for (const source of dear) {
    test(`${source} is charged by size`, async () => {
      const often = `\${ $count([1..200][$not(true) or (${source.replaceAll('spec.', () => '$$.spec.')})]) }`;
      // Not an error of another kind: the call itself is valid.
      await assert.rejects(async () => evaluate(often, 20_000), {
        code: /^(?:budget|limit)-exceeded$/,
      });
    });
  }

  test('the same of small values is not', async () => {
    for (const source of [
      '$uppercase("a") = "x"',
      '$contains("a", "b")',
      '$json(spec.map.k1) = "x"',
      '"n" in ["a", "b"]',
      'spec.map.k1 = spec.map.k2',
    ]) {
      const often = `\${ $count([1..200][$not(true) or (${source.replaceAll('spec.', () => '$$.spec.')})]) }`;
      assert.equal(await evaluate(often, 20_000), 0, source);
    }
  });

  for (const helper of [
    '(json ../spec.map)',
    '(yaml ../spec.map)',
    '(indent 2 ../spec.long)',
    '(base64 ../spec.long)',
    '(eq ../spec.map ../spec.mapAlike)',
    '(ne ../spec.map ../spec.mapAlike)',
    '(join ../spec.texts)',
    '(lower ../spec.long)',
    '(upper ../spec.long)',
    '(lt ../spec.long ../spec.alike)',
    '(gt ../spec.long ../spec.alike)',
  ]) {
    test(`the helper ${helper} is charged by size`, async () => {
      const text = `{{#each spec.texts}}{{#if (eq ${helper} 1)}}x{{/if}}{{/each}}`;
      await assert.rejects(async () => evaluate(text, 60_000));
      const small = text
        .replaceAll(/\.\.\/spec\.(?:map|mapAlike)\b/g, '../metadata')
        .replaceAll(/\.\.\/spec\.(?:long|alike)/g, '"a"')
        .replaceAll('(join ../spec.texts)', '(join ../spec.none)')
        .replaceAll('each spec.texts', 'each spec.few');
      if (!small.includes('none')) assert.equal(await evaluate(small, 60_000), '');
    });
  }
});
