import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { shippedText } from '../support/definitions.ts';
import { DevProcess, runUnread } from '../support/dev-process.ts';

const folders: string[] = [];
const running = new Set<DevProcess>();

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-files-'));
  folders.push(folder);
  return folder;
}

function start(folder: string, ...args: readonly string[]): DevProcess {
  const dev = new DevProcess({
    folder,
    files: { 'foobar.yaml': shippedText('foobar.yaml') },
    args,
  });
  running.add(dev);
  return dev;
}

/** It is rejected with these words, and no stack trace. */
async function assertRejected(dev: DevProcess, ...words: readonly RegExp[]): Promise<void> {
  for (const pattern of words) await dev.untilSaid(pattern);
  assert.equal(await dev.ended(), 2);
  assert.doesNotMatch(dev.output, /^ +at /m);
}

describe('integration/dev-files', () => {
  after(async () => {
    await Promise.all([...running].map((dev) => dev.stop('SIGKILL')));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  test('flags of its own sandbox are rejected together with a cluster', async () => {
    for (const flags of [
      ['--persist', 'cluster.json'],
      ['--port', '8001'],
      ['--write-kubeconfig', 'config'],
    ])
      await assertRejected(
        start(newFolder(), '--kubeconfig', 'cluster.yaml', ...flags),
        new RegExp(`'--kubeconfig <file>' cannot be used with option '${flags[0]} `),
      );
  });

  test('flags of a conversion webhook are rejected without a cluster', async () => {
    await assertRejected(
      start(newFolder(), '--webhook-url', 'https://127.0.0.1:9443'),
      /Expected --kubeconfig or --context with the flags of the conversion webhook/,
      /The sandbox converts without a webhook: leave them out/,
    );
  });

  test('a second dev in a folder is rejected, and the first one stays within reach', async () => {
    const folder = newFolder();
    const first = start(folder);
    await first.untilSaid(/Operator "foobar" is running/);
    const kubeconfig = readFileSync(first.kubeconfig, 'utf8');
    await assertRejected(
      start(folder),
      /Another Homeostat process \(\d+ on .+\) serves the kubeconfig/,
      /hint: .*--write-kubeconfig FILE/,
    );
    assert.equal(readFileSync(first.kubeconfig, 'utf8'), kubeconfig);
    const beside = start(folder, '--write-kubeconfig', 'other');
    await beside.untilSaid(/Operator "foobar" is running/);
    assert.equal(await beside.stop(), 0);
    assert.equal((await first.run('get', 'namespaces')).code, 0);
    assert.equal(await first.stop(), 0);
    assert.deepEqual(readdirSync(folder).sort(), ['.homeostat', 'operators']);
    assert.deepEqual(readdirSync(join(folder, '.homeostat')), []);
  });

  test('what a dev that was killed has left is taken over', async () => {
    const folder = newFolder();
    const args = ['--persist', 'cluster.json'];
    const first = start(folder, ...args);
    await first.untilSaid(/Operator "foobar" is running/);
    await first.stop('SIGKILL');
    const second = start(folder, ...args);
    await second.untilSaid(/Operator "foobar" is running/);
    assert.equal(await second.stop(), 0);
    assert.deepEqual(readdirSync(folder).sort(), ['.homeostat', 'cluster.json', 'operators']);
  });

  test('the kubeconfig of another cluster is never replaced', async () => {
    const folder = newFolder();
    const path = join(folder, 'config');
    writeFileSync(path, 'apiVersion: v1\nkind: Config\n');
    const dev = start(folder, '--write-kubeconfig', 'config');
    await assertRejected(
      dev,
      /Cannot write the kubeconfig to "config": the file was not written by Homeostat/,
    );
    assert.equal(readFileSync(path, 'utf8'), 'apiVersion: v1\nkind: Config\n');
  });

  test('a saved cluster is used by one dev at a time', async () => {
    const folder = newFolder();
    const first = start(folder, '--persist', 'cluster.json');
    await first.untilSaid(/Operator "foobar" is running/);
    await assertRejected(
      start(folder, '--write-kubeconfig', 'other', '--persist', 'cluster.json'),
      /Another Homeostat process \(\d+ on .+\) already uses "cluster\.json"/,
      /hint: .*--persist FILE/,
    );
    assert.equal(existsSync(join(folder, 'other.lock')), false);
    assert.equal(await first.stop(), 0);
  });

  for (const [what, path, reason] of [
    ['is not there', 'missing/cluster.json', /no such file or directory/],
    ['is a file', 'operators/foobar.yaml/cluster.json', /not a directory/],
    ['cannot be written', '/proc/cluster.json', /no such file or directory|permission denied/],
  ] as const) {
    test(`sandbox files that ${what} is rejected at the start`, async () => {
      const folder = newFolder();
      const dev = start(folder, '--persist', path);
      await assertRejected(dev, /Cannot keep the cluster in "/, reason, /hint: .*--persist/);
      assert.equal(existsSync(join(folder, 'missing')), false);
    });
  }

  test('sandbox files that cannot be saved any more is reported once, and so is its end', async () => {
    const folder = newFolder();
    const kept = join(folder, 'kept');
    mkdirSync(kept);
    const dev = start(folder, '--persist', 'kept/cluster.json');
    await dev.untilSaid(/Operator "foobar" is running/);
    // It may be saving.
    rmSync(kept, { recursive: true, maxRetries: 10 });
    const create = (name: string) => dev.run('apply', '-f', `${name}.yaml`);
    for (const name of ['one', 'two']) {
      const text = `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name} }\n`;
      writeFileSync(join(folder, `${name}.yaml`), text);
      assert.equal((await create(name)).code, 0);
    }
    await dev.untilSaid(
      /The cluster cannot be saved in "kept\/cluster\.json" \(no such file or directory\): changes after \d\d:\d\d:\d\d are lost/,
    );
    mkdirSync(kept);
    await dev.untilSaid(/The cluster is saved in "kept\/cluster\.json" again/);
    assert.equal(dev.output.match(/The cluster (?:is|cannot be) saved/g)?.length, 2);
    rmSync(kept, { recursive: true, maxRetries: 10 });
    rmSync(join(folder, 'one.yaml'));
    assert.equal((await dev.run('delete', 'configmap', 'one')).code, 0);
    assert.equal(await dev.stop(), 2);
    assert.match(dev.output, /The cluster could not be saved in .* changes after .* are lost/);
    assert.doesNotMatch(dev.output, /^ +at /m);
    assert.deepEqual(readdirSync(join(folder, '.homeostat')), []);
  });

  test('a process whose output is closed ends quietly', async () => {
    const folder = newFolder();
    const dev = start(folder);
    await dev.untilSaid(/Operator "foobar" is running/);
    for (const args of [
      ['get', 'all,namespaces', '-A'],
      ['validate', 'operators'],
      ['--help'],
      ['dev', '--write-kubeconfig', 'other', '--persist', 'cluster.json'],
    ])
      assert.equal(await runUnread(folder, args), 'exit code 141\n', args.join(' '));
    assert.deepEqual(readdirSync(folder).sort(), ['.homeostat', 'operators']);
    assert.equal(await dev.stop(), 0);
  });
});
