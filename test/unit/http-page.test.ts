import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { http } from '#cli/commands/http.ts';
import type { Output } from '#cli/output.ts';
import { readObjects } from '#definition';
import { checkObjectsOf } from '#testing';

const root = new URL('../../', import.meta.url).pathname;
const page = readFileSync(`${root}docs/http.md`, 'utf8');
const blocks = new Map(
  [...page.matchAll(/^```yaml (\w+)\n([\s\S]*?)^```/gm)].map(([, name = '', text = '']) => [
    name,
    text,
  ]),
);
const blockOf = (name: string) => blocks.get(name) ?? assert.fail(`No block "${name}"`);

const folder = mkdtempSync(join(tmpdir(), 'homeostat-http-page-'));
after(() => rmSync(folder, { recursive: true }));

describe('docs/http.md', () => {
  for (const name of ['endpoint', 'object', 'secret', 'path', 'find'])
    test(`the ${name} of the page has no mistake`, () => {
      const { objects, diagnostics } = readObjects(blockOf(name), name);
      assert.deepEqual([...diagnostics, ...checkObjectsOf([], objects)], []);
    });

  test('lists every reason of the conditions', () => {
    const sources = ['core', 'controller'].flatMap((room) =>
      globSync(`src/engine/http-objects/${room}/*.ts`, { cwd: root })
        .filter((file) => !file.endsWith('.test.ts'))
        .map((file) => readFileSync(root + file, 'utf8')),
    );
    const forms = [
      /reason: '([A-Z]\w+)'/g,
      /(?:settled|settledObserved|failed)\(\s*(?:[\w.]+,\s*)?'([A-Z]\w+)'/g,
      /return '([A-Z]\w+)'/g,
      /^ {2}(?:\w+|'[\w-]+'): '([A-Z][a-z]\w+)',$/gm,
    ];
    const reasons = new Set(
      sources.flatMap((text) =>
        forms.flatMap((form) => [...text.matchAll(form)].map(([, name = '']) => name)),
      ),
    );
    assert.ok(reasons.has('Unreachable') && reasons.has('IdMissing'));
    // Of conditions that are true, of an Event, and of a runtime that ends.
    const unlisted = new Set(['Ready', 'CheckPassed', 'Usable', 'Aborted']);
    assert.deepEqual(
      [...reasons].filter((name) => !unlisted.has(name) && !page.includes(`\`${name}\``)),
      [],
    );
  });

  test('an id that is only in the answer is warned about', () => {
    const { objects } = readObjects(blockOf('answer'), 'answer');
    assert.deepEqual(
      checkObjectsOf([], objects).map(({ severity, path }) => [severity, path]),
      [['warning', '/spec/create']],
    );
  });

  test('the dashboard sends the requests of the page', async () => {
    const file = join(folder, 'sales.yaml');
    writeFileSync(file, `${blockOf('endpoint')}---\n${blockOf('object')}`);
    const lines: string[] = [];
    const print = (text: string) => void lines.push(text);
    const output: Output = { print, error: print, hasColor: false, isTerminal: false };
    assert.equal(await http(file, { output: 'text' }, output), 0);
    const requests = lines.join('\n').match(/^\w+ +[A-Z]+ http.*$/gm);
    assert.deepEqual(requests, [
      'check   GET http://grafana.shop.svc:3000/api/health',
      'observe GET http://grafana.shop.svc:3000/api/dashboards/uid/sales',
      'create  POST http://grafana.shop.svc:3000/api/dashboards/db',
      'update  POST http://grafana.shop.svc:3000/api/dashboards/db',
      'delete  DELETE http://grafana.shop.svc:3000/api/dashboards/uid/sales',
    ]);
  });
});
