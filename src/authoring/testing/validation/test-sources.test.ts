import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { createOperatorTestParser } from '#definition';
import { readTestSources } from './test-sources.ts';

describe('simulation/test-sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-'));
  after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'tests'));
  const definition = join(folder, 'web.yaml');
  writeFileSync(definition, '');

  for (const [what, path, loaded, missing] of [
    ['relative to its folder', '../web.yaml', [definition], []],
    ['absolute', definition, [definition], []],
    ['missing', '/none.yaml', [], ['There is no file "/none.yaml"']],
  ] as const)
    test(`a path in a test may be ${what}`, async () => {
      const text = `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: web }
spec: { definitions: ["${path}"], steps: [{ name: first, expect: [] }] }
`;
      const file = join(folder, 'tests/web.yaml');
      const [found] = createOperatorTestParser().parse(text, file).tests;
      assert.ok(found);
      const read: string[] = [];
      const sources = await readTestSources(found, async (place) => {
        read.push(place);
        return [];
      });
      assert.deepEqual(read, loaded);
      assert.deepEqual(
        sources.rejected.map(({ message }) => message),
        missing,
      );
    });
});
