import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { type Diagnostic, type LocatedObject, locate } from '#definition';
import { SampleFolder } from './samples.ts';

const root = mkdtempSync(join(tmpdir(), 'homeostat-'));
const { signal } = new AbortController();
let folder = '';

function save(file: string, ...names: readonly string[]): void {
  const texts = names.map(
    (name) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`,
  );
  writeFileSync(join(folder, file), texts.join('---\n'));
}

/** Whether the check finds a mistake in each object. */
let isRejected = false;

function mistakeIn({ object, source }: LocatedObject): Diagnostic {
  const message = `Wrong ${object.metadata.name}`;
  return locate({ code: 'unknown-field', path: '/kind', message }, source);
}

async function start() {
  const said: string[] = [];
  const samples = new SampleFolder({
    folder,
    print: (text) => said.push(text),
    hasColor: false,
    check: (objects) => (isRejected ? objects.map(mistakeIn) : []),
    applier: {
      apply: (files) => {
        for (const { name } of files) said.push(`applied ${name}`);
        return Promise.resolve();
      },
    },
  });
  await samples.start(true, signal);
  /** What is said when these files have changed. */
  const saidOf = async (...names: readonly string[]) => {
    said.length = 0;
    await samples.changed(new Set(names), signal);
    return [...said];
  };
  const saidOnRetry = async () => {
    said.length = 0;
    await samples.retry(signal);
    return [...said];
  };
  return { said, saidOf, saidOnRetry };
}

describe('dev/sample-folder', () => {
  beforeEach(() => {
    isRejected = false;
    folder = mkdtempSync(join(root, 'samples-'));
    save('a.yaml', 'one', 'two');
    save('b.yaml', 'three');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  test('a sample with a mistake is not applied; after a change of the definitions it is checked again', async () => {
    const { said, saidOf, saidOnRetry } = await start();
    isRejected = true;
    await saidOf('b.yaml');
    assert.match(said.join(), /b\.yaml:2:7: error\[unknown-field\]: Wrong three/);
    assert.deepEqual(await saidOnRetry(), [], 'an error is printed once');
    isRejected = false;
    assert.deepEqual(await saidOnRetry(), ['applied b.yaml']);
    assert.deepEqual(await saidOnRetry(), []);
  });

  test('all are applied at the start, later those that are saved', async () => {
    const { said, saidOf } = await start();
    assert.deepEqual(said, ['applied a.yaml', 'applied b.yaml']);
    assert.deepEqual(await saidOf('b.yaml'), ['applied b.yaml']);
  });

  test('the objects of a removed sample are listed, once', async () => {
    const { saidOf } = await start();
    rmSync(join(folder, 'a.yaml'));
    assert.deepEqual(await saidOf('a.yaml'), [
      'Sample "a.yaml" was removed; its objects stay: ConfigMap "one", ConfigMap "two"',
    ]);
    assert.deepEqual(await saidOf('a.yaml'), []);
  });

  test('of one that is renamed nothing is left behind', async () => {
    const { saidOf } = await start();
    rmSync(join(folder, 'b.yaml'));
    save('c.yaml', 'three');
    assert.deepEqual(await saidOf('b.yaml', 'c.yaml'), [
      'Sample "b.yaml" was removed',
      'applied c.yaml',
    ]);
  });

  test('a sample with an error is not removed', async () => {
    const { saidOf } = await start();
    writeFileSync(join(folder, 'b.yaml'), 'kind: [');
    const [mistake, ...more] = await saidOf('b.yaml');
    assert.match(mistake ?? '', /b\.yaml:1:8: error\[yaml-syntax\]/);
    assert.deepEqual(more, []);
    rmSync(join(folder, 'b.yaml'));
    assert.deepEqual(await saidOf('b.yaml'), [
      'Sample "b.yaml" was removed; its objects stay: ConfigMap "three"',
    ]);
  });
});
