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

  test('every source file that a README of src names exists', () => {
    const all = readdirSync('src', { recursive: true, encoding: 'utf8' });
    const readmes = all.filter((path) => path.endsWith('README.md'));
    assert.ok(readmes.length > 20);
    for (const readme of readmes) {
      const named = [...readFileSync(`src/${readme}`, 'utf8').matchAll(/`([\w./-]+\.ts)`/g)];
      const missing = named
        .map(([, path]) => path)
        .filter(
          (path) =>
            !existsSync(`./${path}`) && !all.some((file) => `/${file}`.endsWith(`/${path}`)),
        );
      assert.deepEqual(missing, [], `src/${readme}`);
    }
  });

  test('every room is explained on the page, and has a README', () => {
    const rooms = readdirSync('src', { withFileTypes: true }).filter((each) => each.isDirectory());
    for (const { name } of rooms) {
      assert.ok(page.includes(`**\`${name}\`**`), `ARCHITECTURE.md does not explain src/${name}`);
      assert.ok(existsSync(`src/${name}/README.md`), `src/${name} has no README.md`);
    }
  });
});
