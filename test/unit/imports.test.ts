import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { belowSource, floors, folderOf, rooms } from '../../scripts/imports/rooms.ts';
import { wrongImports } from '../../scripts/imports/wrong-imports.ts';

describe('unit/imports', () => {
  for (const [path, imported] of [
    ['compile/a.ts', '#definition'],
    ['compile/language/a.ts', '#util/json.ts'],
    ['compile/language/a.ts', '../schema/anything.ts'],
    ['compile/a.ts', '../../schemas/a.json'],
    ['reconcile/a.ts', '#kube/roles.ts'],
    ['dev/a.ts', '#sandbox/node/index.ts'],
    ['definition/yaml/a.ts', 'yaml'],
    ['kube/a.ts', '@kubernetes/client-node/dist/config.js'],
    ['lsp/protocol.ts', 'vscode-languageserver-protocol/node'],
    ['http/a.ts', 'node:http'],
  ] as const) {
    test(`src/${path} may import "${imported}"`, () => {
      assert.deepEqual(wrongImports([{ path, text: `import { a } from '${imported}';\n` }]), []);
    });
  }

  for (const [path, imported, mistake] of [
    ['compile/a.ts', '#runtime', /compile may not import src\/engine\/runtime\/index.ts/],
    [
      'compile/a.ts',
      '#definition/yaml/lines.ts',
      /compile may not import src\/engine\/definition\/yaml/,
    ],
    ['reconcile/a.ts', '#kube', /reconcile may not import src\/engine\/kube\/index.ts/],
    ['dev/a.ts', '#sandbox/node/serve.ts', /dev may not import src\/sandbox\/node\/serve.ts/],
    ['newroom/a.ts', '#util/json.ts', /The room "newroom" is not in/],
    ['compile/a.ts', '../definition/index.ts', /is imported by its alias: "#definition"/],
    ['compile/a.ts', '#compile/language/a.ts', /imports are relative: not "#compile"/],
    ['runtime/a.ts', 'yaml', /Only src\/engine\/definition may import "yaml"/],
    [
      'lsp/answers.ts',
      'vscode-languageserver-protocol/node',
      /Only src\/authoring\/lsp\/protocol.ts may/,
    ],
    ['util/a.ts', 'left-pad', /The package "left-pad" is not in/],
  ] as const) {
    test(`src/${path} may not import "${imported}"`, () => {
      const ways = [
        `import { a } from '${imported}';`,
        `import type {\n  A,\n  B,\n} from '${imported}';`,
        `import '${imported}';`,
        `export { a } from '${imported}';`,
        `export type { A } from '${imported}';`,
        `const a = await import('${imported}');`,
        `type A = import('${imported}').A;`,
      ];
      for (const way of ways) {
        const [found = '', ...more] = wrongImports([{ path, text: `// first\n${way}\n` }]);
        assert.match(found, mistake, way);
        assert.ok(found.startsWith(`src/${belowSource(path)}:2: `), found);
        assert.deepEqual(more, []);
      }
    });
  }

  test('the table lists every room once', () => {
    const foldersIn = (folder: string) =>
      readdirSync(folder, { withFileTypes: true }).filter((each) => each.isDirectory());
    const folders = foldersIn('src').flatMap(({ name }) =>
      name in floors ? foldersIn(`src/${name}`).map((room) => `${name}/${room.name}`) : [name],
    );
    assert.deepEqual(Object.keys(rooms).map(folderOf).toSorted(), folders.toSorted());
  });

  test('every room has its alias in package.json', () => {
    const { imports } = JSON.parse(readFileSync('package.json', 'utf8'));
    const expected = Object.keys(rooms).flatMap((room) => {
      const folder = `./src/${folderOf(room)}`;
      const files: readonly [string, string] = [`#${room}/*`, `${folder}/*`];
      const index = `${folder}/index.ts`;
      return existsSync(index) ? [[`#${room}`, index], files] : [files];
    });
    assert.deepEqual(imports, Object.fromEntries(expected));
  });
});
