import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { ChunkLoader } from './chunk-loader.ts';

const chunks = {
  'first.cjs': `(function(require, importMetaUrl) {
  const { twice } = require('./second.cjs');
  const { basename } = require('node:path');
  return { answer: twice(21), file: basename(importMetaUrl), later: () => import_('./second.cjs') };
  function import_(name) { return Promise.resolve().then(() => require(name)); }
})`,
  'second.cjs': '(function() { function twice(number) { return 2 * number; } return { twice }; })',
};

describe('cli/chunk-loader', () => {
  let folder: string;
  const codeFile = () => join(folder, 'code', 'command');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'homeostat-chunks-'));
    for (const [name, text] of Object.entries(chunks)) writeFileSync(join(folder, name), text);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A run of a command. Returns how many chunks V8 has compiled. */
  function run({ hasSourceMaps = false } = {}): number {
    let compiled = 0;
    const loader = new ChunkLoader({
      folder,
      codeFile: codeFile(),
      hasSourceMaps,
      getBuiltinModule: ((name: string) => {
        const module = process.getBuiltinModule(name);
        if (name !== 'node:vm') return module;
        const { Script } = process.getBuiltinModule('node:vm');
        return {
          Script: class extends Script {
            constructor(...given: ConstructorParameters<typeof Script>) {
              super(...given);
              if (this.cachedDataRejected !== false) compiled += 1;
            }
          },
        };
      }) as typeof process.getBuiltinModule,
    });
    assert.equal(loader.load('first.cjs').answer, 42);
    assert.equal(loader.load('first.cjs').file, 'first.cjs');
    loader.store();
    return compiled;
  }

  test('a chunk has what it imports, at once or later, and runs once', async () => {
    const loader = new ChunkLoader({ folder, getBuiltinModule: process.getBuiltinModule });
    const { later } = loader.load('first.cjs') as { later: () => Promise<unknown> };
    assert.equal(await later(), loader.load('second.cjs'));
  });

  test('small chunks are in one file, and run when they are imported', () => {
    const small = `({
"second.cjs": function() { return { twice: (number) => 3 * number }; },
"unused.cjs": function() { throw new Error('not imported'); },
})`;
    writeFileSync(join(folder, 'small.cjs'), small);
    const options = { folder, getBuiltinModule: process.getBuiltinModule };
    const loader = new ChunkLoader({ ...options, smallChunks: 'small.cjs' });
    assert.equal(loader.load('first.cjs').answer, 63);
    assert.throws(() => loader.load('unused.cjs'), /not imported/);
  });

  test('the second run uses the code of the first one', () => {
    assert.equal(run(), 2);
    assert.equal(run(), 0);
  });

  test('the code is stored by the first three runs, and again when a chunk has changed', () => {
    const stored = () => readFileSync(codeFile(), 'latin1').split('\n', 1)[0] ?? '';
    for (const runs of [1, 2, 3, 3]) {
      run();
      assert.equal(JSON.parse(stored()).runs, runs);
    }
    writeFileSync(join(folder, 'second.cjs'), chunks['second.cjs'].replace('twice(', 'twice( '));
    assert.equal(run(), 1);
    assert.equal(run(), 0);
  });

  test('nothing is stored after three runs, unless a chunk is new, and without a file for the code', () => {
    const { getBuiltinModule } = process;
    const isStored = (options: { codeFile?: string }) => {
      const loader = new ChunkLoader({ folder, getBuiltinModule, ...options });
      loader.load('first.cjs');
      return loader.isStored;
    };
    for (const expected of [false, false, false, true]) {
      assert.equal(isStored({ codeFile: codeFile() }), expected);
      run();
    }
    writeFileSync(join(folder, 'second.cjs'), chunks['second.cjs'].replace('twice(', 'twice( '));
    assert.equal(isStored({ codeFile: codeFile() }), false);
    assert.equal(isStored({}), true);
  });

  test('what is no stored code is replaced', () => {
    run();
    writeFileSync(codeFile(), 'no code');
    assert.equal(run(), 2);
    assert.equal(run(), 0);
  });

  test('a folder that cannot be written is no error', () => {
    writeFileSync(join(folder, 'code'), 'in the place of the folder');
    assert.equal(run(), 2);
    assert.equal(run(), 2);
  });

  test('with source maps the chunks are modules, and no code is stored', () => {
    assert.equal(run({ hasSourceMaps: true }), 0);
    assert.equal(existsSync(codeFile()), false);
  });
});
