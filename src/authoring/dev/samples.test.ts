import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadSamples, parseObjects } from './samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
const yaml = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;

describe('dev/samples', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('reads files in order, several documents in each; a bad one is reported and the others count', async () => {
    writeFileSync(join(folder, 'b.yaml'), `${yaml('b1')}---\n${yaml('b2')}---\n`);
    writeFileSync(join(folder, 'a.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List' }));
    writeFileSync(join(folder, 'c.yml'), 'kind: [');
    writeFileSync(join(folder, '.hidden.yaml'), yaml('hidden'));
    writeFileSync(join(folder, 'notes.txt'), 'text');
    const mistakes: string[] = [];
    const samples = await loadSamples(folder, (message) => mistakes.push(message));
    assert.deepEqual(
      samples.map(({ name, objects }) => [name, objects.map(({ object }) => object.metadata.name)]),
      [
        ['a.json', []],
        ['b.yaml', ['b1', 'b2']],
        ['c.yml', []],
      ],
    );
    assert.deepEqual(mistakes, []);
    assert.deepEqual(
      samples.flatMap(({ name, diagnostics }) =>
        diagnostics.map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`),
      ),
      [
        'a.json:1:1: Missing field "metadata.name"',
        'c.yml:1:8: Expected "]" at the end of the list or map in brackets',
      ],
    );
  });

  test('there need not be a folder', async () => {
    assert.deepEqual(await loadSamples(join(folder, 'missing'), assert.fail), []);
  });

  test('a List is its items', () => {
    const item = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };
    const list = { apiVersion: 'v1', kind: 'List', items: [item, item] };
    assert.deepEqual(parseObjects(JSON.stringify(list)), [item, item]);
  });
});
