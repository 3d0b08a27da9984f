import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { belowSource, folderOf, rooms } from '../../scripts/imports/rooms.ts';
import { features } from '../../scripts/measure/footprint.ts';

describe('unit/architecture', () => {
  const page = readFileSync('ARCHITECTURE.md', 'utf8');

  test('every file that the page names exists', () => {
    const named = [...page.matchAll(/(?:^\s*|`)([a-z-]+(?:\/[a-z-]+)+\.ts)\b/gm)]
      .map(([, path]) => path)
      .filter((path) => !/^(?:src|scripts|test)\//.test(path ?? ''));
    assert.ok(named.length > 40);
    assert.deepEqual(
      named.filter((path) => !existsSync(`src/${belowSource(path ?? '')}`)),
      [],
    );
  });

  test('the table of features has the folders and ceilings of the footprint', () => {
    for (const { name, own, ceiling } of features) {
      const row = `| ${name} | ${own.map((path) => `\`${path}\``).join(', ')} | ${ceiling} |`;
      assert.ok(page.includes(row), `ARCHITECTURE.md has no row that begins with ${row}`);
    }
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
    for (const room of Object.keys(rooms)) {
      const folder = `src/${folderOf(room)}`;
      assert.ok(page.includes(`**\`${room}\`**`), `ARCHITECTURE.md does not explain ${folder}`);
      assert.ok(existsSync(`${folder}/README.md`), `${folder} has no README.md`);
    }
  });

  test('signals are combined by `anySignal` alone: that of Node loses aborts', () => {
    const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'scripts/**/*.{ts,mjs}']);
    const combining = files.filter((file) =>
      readFileSync(file, 'utf8').includes(`AbortSignal.${'any'}(`),
    );
    assert.deepEqual(combining, ['src/util/any-signal.ts']);
  });
});
