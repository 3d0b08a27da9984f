import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CliError } from '#cli/exit-code.ts';
import { thingDefinition } from '../support/definitions.ts';
import { runCommand } from '../support/run-command.ts';
import { markedData, markerIn } from './support/secret-marker.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-files-'));
const at = (name: string) => join(folder, name);
const definition = at('project/thing.yaml');
const resource = at('project/one.yaml');

const testOf = (files: string) => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorTest
metadata: { name: hostile }
spec:
  ${files}
  steps: [{ name: a, expect: [{ writes: 0 }] }]
`;

/** What is no text: reading it would never end. */
const endless = {
  'a pipe': at('pipe.yaml'),
  'a link to a pipe': at('link.yaml'),
  'a device': '/dev/zero',
  'a socket': at('socket.yaml'),
};

/** Commands that read a path. */
const commands: Readonly<Record<string, (path: string) => readonly string[]>> = {
  validate: (path) => ['validate', path],
  test: (path) => ['test', path],
  render: (path) => ['render', path, resource],
  'render, the resource': (path) => ['render', definition, path],
  'render --with': (path) => ['render', definition, resource, '--with', path],
  'explain, the resource': (path) => ['explain', definition, path],
  import: (path) => ['import', path],
  'import --sync-response': (path) => ['import', definition, '--sync-response', path],
  'init --from': (path) => ['init', 'one', at('new'), '--from', path],
  'plan --against': (path) => ['plan', definition, '--against', path],
  rights: (path) => ['rights', path],
  apply: (path) => ['apply', '-f', path, '--kubeconfig', at('kubeconfig')],
};

describe('attacks/files: a named path is a regular file', () => {
  const server = createServer();
  before(async () => {
    mkdirSync(at('project/tests'), { recursive: true });
    writeFileSync(definition, thingDefinition('one', '  children: []\n'));
    writeFileSync(
      resource,
      'apiVersion: one.example.com/v1\nkind: Thing\nmetadata: { name: one }\nspec: {}\n',
    );
    const config = { clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }] };
    const contexts = [{ name: 'a', context: { cluster: 'a', user: 'a' } }];
    const users = [{ name: 'a', user: {} }];
    const kubeconfig = { ...config, contexts, users, 'current-context': 'a' };
    writeFileSync(at('kubeconfig'), JSON.stringify(kubeconfig));
    execFileSync('mkfifo', [at('pipe.yaml')]);
    symlinkSync('pipe.yaml', at('link.yaml'));
    await new Promise<void>((resolve) => server.listen(at('socket.yaml'), resolve));
  });
  after(() => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const [what, path] of Object.entries(endless))
    for (const [name, args] of Object.entries(commands))
      test(`${name}: ${what}`, () => assertIrregular(...args(path)));

  test('a file that is too large is not read', async () => {
    writeFileSync(at('large.yaml'), '');
    truncateSync(at('large.yaml'), 65 * 2 ** 20);
    await assert.rejects(runCommand('validate', at('large.yaml')), /it is larger than 64 MiB/);
  });

  for (const files of ['definitions: [../../pipe.yaml]', 'given: [{ file: ../link.yaml }]'])
    test(`test: a file of a test, ${files}`, async () => {
      const file = at('project/tests/pipe.yaml');
      symlinkSync('../pipe.yaml', at('project/link.yaml'));
      writeFileSync(file, testOf(files));
      try {
        await assertIrregular('test', file, '--outside-files');
      } finally {
        rmSync(file);
        rmSync(at('project/link.yaml'));
      }
    });
});

describe('attacks/files: a test reads only files of its tree', () => {
  const secret = at('outside/secret.yaml');
  const file = at('project/tests/hostile.yaml');
  before(() => {
    mkdirSync(at('outside'), { recursive: true });
    mkdirSync(at('project/tests'), { recursive: true });
    mkdirSync(at('project/linked'), { recursive: true });
    writeFileSync(definition, thingDefinition('one', '  children: []\n'));
    writeFileSync(secret, `password: ${markedData.word}\nkind: [${markedData.word}\n`);
    symlinkSync(secret, at('project/secret.yaml'));
    symlinkSync(secret, at('project/linked/secret.yaml'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const files of [
    `definitions: [${secret}]`,
    'definitions: [../../outside/secret.yaml]',
    'definitions: [../../outside]',
    'definitions: [../secret.yaml]',
    'definitions: [../linked]',
    `given: [{ file: ${secret} }]`,
    'given: [{ file: ../secret.yaml }]',
  ])
    test(files.replace(folder, ''), async () => {
      writeFileSync(
        file,
        testOf(`${files}${files.startsWith('given') ? '\n  definitions: [../thing.yaml]' : ''}`),
      );
      const printed = await runCommand('test', file);
      assert.match(printed, /A test reads no file outside of the current folder/);
      assert.match(printed, /1 test: 0 passed, 1 failed/);
      assert.equal(markerIn(printed), undefined);
    });

  test('with --outside-files it reads them, and files beside its folder are always read', async () => {
    writeFileSync(file, testOf('definitions: [../thing.yaml]'));
    assert.match(await runCommand('test', file), /1 test: 1 passed/);
    writeFileSync(file, testOf('definitions: [../../outside/secret.yaml]'));
    assert.doesNotMatch(await runCommand('test', file, '--outside-files'), /reads no file outside/);
  });
});

/** `plan` prints its errors itself. */
async function assertIrregular(...args: readonly string[]): Promise<void> {
  const printed = await runCommand(...args).catch((error: unknown) => {
    assert.ok(error instanceof CliError, String(error));
    return error.message;
  });
  assert.match(printed, /it is not a regular file/);
}
