import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, test } from 'node:test';

const room = import.meta.dirname;

/** A folder of the room; a file beside them is one of its own. */
function folderOf(file: string): string {
  const [first = ''] = relative(room, file).split(sep);
  return first;
}

/** By folder, the folders that its files import from, types included. */
function importsByFolder(): ReadonlyMap<string, ReadonlySet<string>> {
  const imports = new Map<string, Set<string>>();
  for (const entry of readdirSync(room, { recursive: true, encoding: 'utf8' })) {
    if (!entry.endsWith('.ts') || entry.endsWith('.test.ts')) continue;
    const file = join(room, entry);
    const found = imports.get(folderOf(file)) ?? new Set();
    imports.set(folderOf(file), found);
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/ from '(\.[^']+)'/g)) {
      const folder = folderOf(join(file, '..', path));
      if (folder !== '..' && folder !== folderOf(file)) found.add(folder);
    }
  }
  return imports;
}

/** A way from the folder back to itself; undefined: there is none. */
function cycleFrom(
  start: string,
  imports: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined {
  const seen = new Set<string>();
  const ways: (readonly string[])[] = [[start]];
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    for (const next of imports.get(way.at(-1) ?? '') ?? []) {
      if (next === start) return [...way, next];
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  }
  return undefined;
}

describe('reconcile folders', () => {
  test('import each other one way, types included', () => {
    const imports = importsByFolder();
    assert.ok(imports.get('run')?.has('pass'), 'the imports are found');
    for (const folder of imports.keys()) assert.deepEqual(cycleFrom(folder, imports), undefined);
  });
});
