import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { shippedText } from '../support/definitions.ts';
import { DevProcess } from '../support/dev-process.ts';
import { patienceMs } from '../support/patience.ts';

const folder = mkdtempSync(join(tmpdir(), 'homeostat-world-'));
const saved = join(folder, 'cluster.json');
const draft = join(folder, '.cluster.json.tmp');
const running = new Set<DevProcess>();

function start(): DevProcess {
  const files = {
    'podset.yaml': shippedText('podset.yaml'),
    'samples/podset.yaml': shippedText('samples/podset.yaml'),
  };
  const dev = new DevProcess({ folder, files, args: ['--persist', 'cluster.json'] });
  running.add(dev);
  return dev;
}

async function apiOf(dev: DevProcess): Promise<string> {
  const [, url = ''] = await dev.untilSaid(/(http:\/\/127\.0\.0\.1:\d+\/\w+)\/apis/);
  return url;
}

interface Item {
  readonly metadata: { readonly name: string; readonly uid: string };
}

async function list(url: string, path: string): Promise<readonly Item[]> {
  const answer = await fetch(`${url}${path}`);
  return ((await answer.json()) as { items: readonly Item[] }).items;
}

const pods = '/api/v1/namespaces/default/pods';
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Writes a few objects again and again until the server is gone. */
async function writeUntilGone(url: string): Promise<void> {
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  for (let index = 0; ; index++) {
    const name = `c-${index % 20}`;
    const data = { text: `${index} `.repeat(2_000) };
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
    const path = `${configMaps}/${name}?fieldManager=test`;
    const request = { method: 'PATCH', body: JSON.stringify(manifest), headers };
    const answer = await fetch(url + path, request).catch(() => {});
    if (answer === undefined) return;
    const text = await answer.text().catch(() => '');
    assert.ok(answer.status <= 201, text);
  }
}

/** Resolves in the middle of a save, when it has seen so many before. */
async function untilSaving(saves: number): Promise<void> {
  let seen = 0;
  for await (const { filename } of watch(folder, { signal: AbortSignal.timeout(patienceMs) })) {
    if (filename !== basename(draft) || !existsSync(draft)) continue;
    if (seen === saves) return;
    seen += 1;
  }
}

describe('integration/dev-persist', () => {
  after(async () => {
    await Promise.all([...running].map((dev) => dev.stop('SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });

  test('the snapshot of one run is that of the next, and samples are not applied again', async () => {
    const first = start();
    await first.untilSaid(/PodSet default\/example: Ready/);
    const before = await list(await apiOf(first), pods);
    assert.equal(before.length, 3);
    assert.equal(await first.stop(), 0);
    const second = start();
    await second.untilSaid(/^\+ PodSet default\/example: Ready$/m);
    assert.deepEqual(
      (await list(await apiOf(second), pods)).map(({ metadata }) => metadata.uid),
      before.map(({ metadata }) => metadata.uid),
    );
    assert.doesNotMatch(second.output, /Created|Applied/);
    assert.equal(await second.stop(), 0);
  });

  test('killed while it saves, the file is a whole snapshot', async () => {
    for (let round = 0; round < 5; round++) {
      rmSync(draft, { force: true });
      const dev = start();
      const url = await apiOf(dev);
      const writing = writeUntilGone(url);
      await Promise.race([
        untilSaving(round),
        writing.then(() => assert.fail('It ended by itself')),
      ]);
      await dev.stop('SIGKILL');
      await writing;
      const { format } = JSON.parse(readFileSync(saved, 'utf8')) as { format: string };
      assert.equal(format, 'homeostat-world/1');
    }
    const last = start();
    await last.untilSaid(/^\+ PodSet default\/example/m);
    assert.ok((await list(await apiOf(last), configMaps)).length > 0);
    assert.equal(await last.stop(), 0);
  });

  test('a snapshot that is kept beside the definitions is none of them', async () => {
    const files = { 'podset.yaml': shippedText('podset.yaml') };
    const dev = new DevProcess({ files, args: ['--persist', 'operators/cluster.json'] });
    running.add(dev);
    await dev.untilSaid(/Operator "podset" is running/);
    dev.save('foobar.yaml', shippedText('foobar.yaml'));
    await dev.untilSaid(/Operator "foobar" is running/);
    assert.doesNotMatch(dev.output, /cluster\.json/);
    assert.equal(await dev.stop(), 0);
  });

  test('a file that is no snapshot of a sandbox is rejected and left alone', async () => {
    writeFileSync(saved, '{"half": ');
    const dev = start();
    await dev.untilSaid(/Cannot restore the cluster from "cluster\.json"/);
    assert.equal(await dev.ended(), 2);
    assert.equal(readFileSync(saved, 'utf8'), '{"half": ');
  });
});
