import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

describe('unit/architecture', () => {
  const page = readFileSync('ARCHITECTURE.md', 'utf8');

  test('every file that the page names exists', () => {
    const named = [...page.matchAll(/^\s*([a-z]+(?:\/[a-z-]+)+\.ts)\b/gm)].map(([, path]) => path);
    assert.ok(named.length > 20);
    assert.deepEqual(
      named.filter((path) => !existsSync(`src/${path}`)),
      [],
    );
  });

  test('every room is explained on the page, and has a README', () => {
    const rooms = readdirSync('src', { withFileTypes: true }).filter((each) => each.isDirectory());
    for (const { name } of rooms) {
      assert.ok(page.includes(`**\`${name}\`**`), `ARCHITECTURE.md does not explain src/${name}`);
      assert.ok(existsSync(`src/${name}/README.md`), `src/${name} has no README.md`);
    }
  });
});
