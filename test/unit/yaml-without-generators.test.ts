import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { build } from 'esbuild';
import * as library from 'yaml';
import { yamlPlugin } from '../../scripts/bundle/yaml-without-generators.ts';
import { createSeededRandom } from '../../src/simulation/seeded-random.ts';

/** The library as it is in the bundle. */
async function bundledLibrary(): Promise<typeof library> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from 'yaml';`, resolveDir: '.' },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'esm',
    plugins: [yamlPlugin()],
  });
  const text = outputFiles[0]?.text ?? '';
  assert.match(text, /this\.found = /);
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** Everything that the parser and the lexer say of a text. */
function readingOf(
  { Lexer, LineCounter, Parser, parseAllDocuments }: typeof library,
  text: string,
) {
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter, prettyErrors: false });
  return JSON.stringify({
    lexemes: [...new Lexer().lex(text)],
    tokens: [...new Parser().parse(text)],
    lines: lineCounter.lineStarts,
    errors: [...documents].map(({ errors }) => errors.map(({ code, pos }) => [code, pos])),
  });
}

const texts = globSync('{operators,test/fixtures}/**/*.{yaml,yml}').map((path) =>
  readFileSync(path, 'utf8'),
);

/** A part of a text with some of its characters replaced by those that mean something in YAML. */
function damaged(text: string, random: ReturnType<typeof createSeededRandom>): string {
  const from = Math.floor(random.fraction() * text.length);
  const characters = [...text.slice(from, from + 600)];
  const signs = [...`:-?,[]{}#&*!|>'"%@\` \n\t\r`, '---', '...', '\ufeff', '\r\n', '\u0018'];
  for (let count = Math.floor(random.fraction() * 12); count > 0; count--) {
    const at = Math.floor(random.fraction() * characters.length);
    characters[at] = signs[Math.floor(random.fraction() * signs.length)] ?? '';
  }
  return characters.join('');
}

describe('unit/yaml-without-generators', async () => {
  const bundled = await bundledLibrary();

  test('the YAML library of the bundle reads every definition of the repository like the library', () => {
    assert.ok(texts.length > 300);
    for (const text of texts)
      assert.equal(readingOf(bundled, text), readingOf(library, text), text);
  });

  test('it reads damaged texts like the library', () => {
    const random = createSeededRandom(1);
    for (const text of texts) {
      const part = damaged(text, random);
      assert.equal(readingOf(bundled, part), readingOf(library, part), part);
    }
  });

  test('it reads a text that arrives in parts like the library', () => {
    const parts = ['a: [1,\n', '  2]\nb: "x', ' y"\n--', '-\nc: |\n  text', '\n'];
    const tokensOf = ({ Parser }: typeof library) => {
      const parser = new Parser();
      return parts.flatMap((part, index) => [...parser.parse(part, index < parts.length - 1)]);
    };
    assert.deepEqual(tokensOf(bundled), tokensOf(library));
  });
});
