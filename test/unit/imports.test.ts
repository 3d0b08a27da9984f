import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';
import { rooms } from '../../scripts/imports/rooms.ts';
import { wrongImports } from '../../scripts/imports/wrong-imports.ts';

describe('unit/imports', () => {
  for (const [path, imported] of [
    ['compile/a.ts', '../definition/index.ts'],
    ['compile/language/a.ts', '../../util/json.ts'],
    ['compile/language/a.ts', '../schema/anything.ts'],
    ['reconcile/a.ts', '../kube/roles.ts'],
    ['dev/a.ts', '../sandbox/node/index.ts'],
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
    ['compile/a.ts', '../runtime/index.ts', /compile may not import src\/runtime\/index.ts/],
    ['compile/a.ts', '../definition/yaml/lines.ts', /compile may not import src\/definition\/yaml/],
    ['reconcile/a.ts', '../kube/index.ts', /reconcile may not import src\/kube\/index.ts/],
    ['dev/a.ts', '../sandbox/node/serve.ts', /dev may not import src\/sandbox\/node\/serve.ts/],
    ['newroom/a.ts', '../util/json.ts', /The room "newroom" is not in/],
    ['runtime/a.ts', 'yaml', /Only src\/definition may import "yaml"/],
    ['lsp/answers.ts', 'vscode-languageserver-protocol/node', /Only src\/lsp\/protocol.ts may/],
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
        assert.ok(found.startsWith(`src/${path}:2: `), found);
        assert.deepEqual(more, []);
      }
    });
  }

  test('the table lists every room once', () => {
    const folders = readdirSync('src', { withFileTypes: true }).filter((each) =>
      each.isDirectory(),
    );
    assert.deepEqual(Object.keys(rooms).toSorted(), folders.map(({ name }) => name).toSorted());
  });
});
