import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseYaml, printOrderedYaml, printYaml } from '#definition';
import { createSeededRandom } from '#simulation/seeded-random.ts';
import { yamlText } from '#web/model/yaml-lines.ts';

const printers = {
  printYaml,
  printOrderedYaml,
  'yamlText of the console': (value: unknown) => `${yamlText(value)}\n`,
};

const { scalars } = JSON.parse(
  readFileSync(new URL('../fixtures/yaml/kubectl-readings.json', import.meta.url), 'utf8'),
) as { readonly scalars: readonly { readonly written: string }[] };

/** Strings that would be something else without quotes or escapes. */
const traps = [
  ...scalars.map(({ written }) => written),
  ...['0b-10', '  \n', '\t\n', 'a\n\tb', '\n\ttab', '${ open', '${ a: b', 'a\u2028b', '\u0085'],
  ...['\ufeffa', '\u007f', 'a\u2029\nb', 'a: b', 'a #b', '- a', '---', '{{ a }}', '%a', '?', '&a'],
];

const parts = [...'0123456789001__.-+eExXoObB :#\n\t', ...traps.slice(0, 40), '\u2028', 'ü', '🙂'];

function randomValues(seed: number) {
  const random = createSeededRandom(seed);
  const upTo = (count: number) => Math.floor(random.fraction() * count);
  const text = () => Array.from({ length: upTo(5) }, () => parts[upTo(parts.length)]).join('');
  const leaf = () =>
    [text, text, () => upTo(1e6), () => random.fraction(), () => null][upTo(5)]?.();
  const value = (depth: number): unknown => {
    const kind = upTo(3);
    if (depth === 0 || kind === 0) return leaf();
    const count = upTo(4);
    if (kind === 1) return Array.from({ length: count }, () => value(depth - 1));
    return Object.fromEntries(Array.from({ length: count }, () => [text(), value(depth - 1)]));
  };
  return Array.from({ length: 500 }, () => ({ value: value(3) }));
}

describe('unit/printed-yaml', () => {
  for (const [name, print] of Object.entries(printers))
    for (const reading of ['definition', 'kubectl'] as const) {
      test(`${name}: strings that look like something else stay strings, read as ${reading}`, () => {
        for (const trap of traps) {
          const value = { a: trap, [trap]: [trap, [trap, [trap]]] };
          assert.deepEqual(parseYaml(print(value), reading), value, JSON.stringify(trap));
        }
      });

      test(`${name}: random values are the same after printing and reading as ${reading}`, () => {
        for (const value of randomValues(7))
          assert.deepEqual(parseYaml(print(value), reading), value, print(value));
      });
    }
});
