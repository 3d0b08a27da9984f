import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { SeededRandom } from '../../../../test/support/model/seeded-random.ts';
import { patienceMs } from '../../../../test/support/patience.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import type { SourceManifest } from './definition-source.ts';
import { createDirectorySource } from './directory-source.ts';

/** An empty folder of the test's own. */
function emptyFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-source-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** Replaces what is mounted, exactly as the kubelet does. */
function mount(folder: string, version: string, files: Readonly<Record<string, string>>): void {
  const data = join(folder, `..${version}`);
  mkdirSync(data);
  write(data, files);
  symlinkSync(`..${version}`, join(folder, '..data_tmp'));
  renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  for (const name of Object.keys(files)) {
    rmSync(join(folder, name), { force: true });
    symlinkSync(join('..data', name), join(folder, name));
  }
}

/** Names and texts; of one that cannot be read the reason in brackets. */
function shown(texts: readonly SourceManifest[] | undefined): readonly string[] | undefined {
  return texts?.map(({ file, text, unreadable }) => {
    const said = unreadable === undefined ? text.trim() : `(${unreadable})`;
    return `${basename(file)}: ${said}`;
  });
}

async function follow(t: TestContext, path: string, skips: readonly string[] = []) {
  const clock = new FakeClock();
  const stopper = new AbortController();
  const reported: (readonly SourceManifest[])[] = [];
  let failure: string | undefined;
  const source = createDirectorySource({ path, clock, logger: silentLogger(), skips });
  const listener = {
    onManifests: (texts: readonly SourceManifest[]) => void reported.push(texts),
    onError: (reason: string | undefined) => {
      failure = reason;
    },
  };
  const running = source.run(listener, stopper.signal);
  t.after(async () => {
    stopper.abort();
    await running;
    assert.equal(clock.pending, 0);
  });
  /** Lets time go on, and the file system work, until that is so. */
  const until = async (isMet: () => boolean, what: string) => {
    const deadline = performance.now() + patienceMs;
    while (!isMet()) {
      assert.ok(performance.now() < deadline, `${what}: ${JSON.stringify(shown(reported.at(-1)))}`);
      await clock.advance(10);
      await new Promise(setImmediate);
    }
  };
  return {
    clock,
    reported,
    untilReported: (...expected: readonly string[]) =>
      until(
        () => JSON.stringify(shown(reported.at(-1))) === JSON.stringify(expected),
        'last reported',
      ),
    untilFailure: (pattern: RegExp) => until(() => pattern.test(failure ?? ''), `${pattern}`),
    untilMended: () => until(() => failure === undefined, 'no failure'),
    /** Long enough for several looks. */
    lookOn: async () => {
      const endMs = clock.monotonicMs() + 20_000;
      await until(() => clock.monotonicMs() >= endMs, 'time');
    },
  };
}

describe('runtime/directory-source', () => {
  test('reports the definition files of a directory by name; folders and names with a dot are skipped', async (t) => {
    const folder = emptyFolder(t);
    write(folder, {
      'b.yml': 'b\n',
      'a.yaml': 'a\n',
      'c.json': 'c',
      'notes.txt': 'n\n',
      '.hidden.yaml': 'h\n',
      'samples/d.yaml': 'd\n',
      'odd.yaml/e.yaml': 'e\n',
    });
    const { untilReported, reported } = await follow(t, folder);
    await untilReported('a.yaml: a', 'b.yml: b', 'c.json: c');
    const [first] = reported[0] ?? [];
    assert.deepEqual(first, {
      file: join(folder, 'a.yaml'),
      text: 'a\n',
      origin: { source: 'directory', ref: join(folder, 'a.yaml') },
      sinceMs: 0,
    });
  });

  test('reports what is saved, added and removed; a file that is added is younger than those of the start', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported, reported, clock } = await follow(t, folder);
    await untilReported('a.yaml: a');
    write(folder, { 'a.yaml': 'A\n', 'b.yaml': 'b\n' });
    await untilReported('a.yaml: A', 'b.yaml: b');
    const [old, young] = reported.at(-1) ?? [];
    assert.equal(old?.sinceMs, 0);
    assert.ok(young !== undefined && young.sinceMs > 0 && young.sinceMs <= clock.nowMs());
    rmSync(join(folder, 'a.yaml'));
    await untilReported('b.yaml: b');
  });

  test('what does not change is reported once', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported, reported, lookOn } = await follow(t, folder);
    await untilReported('a.yaml: a');
    await lookOn();
    assert.equal(reported.length, 1);
  });

  test('a file that is written in two steps is reported when it is whole', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported, reported, clock } = await follow(t, folder);
    await untilReported('a.yaml: a');
    writeFileSync(join(folder, 'a.yaml'), 'first: 1\nseco');
    for (let step = 0; step < 20; step++) {
      await clock.advance(10);
      await new Promise(setImmediate);
    }
    appendFileSync(join(folder, 'a.yaml'), 'nd: 2\n');
    await untilReported('a.yaml: first: 1\nsecond: 2');
    assert.deepEqual(reported.map(shown), [['a.yaml: a'], ['a.yaml: first: 1\nsecond: 2']]);
  });

  test('a file that an editor puts in place of another one is followed', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported } = await follow(t, folder);
    await untilReported('a.yaml: a');
    for (const text of ['b', 'c']) {
      write(folder, { 'a.yaml~': `${text}\n` });
      renameSync(join(folder, 'a.yaml~'), join(folder, 'a.yaml'));
      await untilReported(`a.yaml: ${text}`);
    }
  });

  test('a mounted volume that the kubelet swaps is reported whole, and may become empty', async (t) => {
    const folder = emptyFolder(t);
    mount(folder, 'v1', { 'a.yaml': 'a1\n', 'b.yaml': 'b1\n' });
    const { untilReported, reported } = await follow(t, folder);
    await untilReported('a.yaml: a1', 'b.yaml: b1');
    mount(folder, 'v2', { 'a.yaml': 'a2\n', 'b.yaml': 'b2\n' });
    rmSync(join(folder, '..v1'), { recursive: true });
    await untilReported('a.yaml: a2', 'b.yaml: b2');
    mount(folder, 'v3', {});
    for (const name of ['a.yaml', 'b.yaml']) rmSync(join(folder, name));
    rmSync(join(folder, '..v2'), { recursive: true });
    await untilReported();
    const whole = [['a.yaml: a1', 'b.yaml: b1'], ['a.yaml: a2', 'b.yaml: b2'], []];
    assert.deepEqual(reported.map(shown), whole);
  });

  test('a mounted volume that is swapped while it is read is never reported half and half', async (t) => {
    const folder = emptyFolder(t);
    const random = new SeededRandom(7);
    const names = ['a.yaml', 'b.yaml', 'c.yaml'];
    const filesOf = (version: string) =>
      Object.fromEntries(names.map((name) => [name, `${version}\n`]));
    mount(folder, 'v0', filesOf('v0'));
    const { untilReported, reported, clock } = await follow(t, folder);
    let swap = 0;
    // On a busy machine the reads are slow, and few of the swaps are reported.
    while (swap < 40 || (reported.length < 3 && swap < 1_000)) {
      swap += 1;
      mount(folder, `v${swap}`, filesOf(`v${swap}`));
      rmSync(join(folder, `..v${swap - 1}`), { recursive: true });
      for (let step = random.below(30); step > 0; step--) {
        await clock.advance(random.below(20));
        await new Promise(setImmediate);
      }
    }
    await untilReported(...names.map((name) => `${name}: v${swap}`));
    assert.ok(reported.length > 2, `reported ${reported.length} times`);
    for (const texts of reported) {
      const versions = new Set(texts.map(({ text, unreadable }) => unreadable ?? text));
      assert.deepEqual([texts.length, versions.size], [names.length, 1], shown(texts)?.join());
    }
  });

  test('a directory that is deleted is a failure until it comes back', async (t) => {
    const folder = join(emptyFolder(t), 'definitions');
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported, untilFailure, untilMended, reported } = await follow(t, folder);
    await untilReported('a.yaml: a');
    renameSync(folder, `${folder}.away`);
    await untilFailure(/^Cannot read ".*definitions": no such file or directory$/);
    assert.equal(reported.length, 1);
    write(folder, { 'a.yaml': 'b\n' });
    await untilReported('a.yaml: b');
    await untilMended();
    write(folder, { 'a.yaml': 'c\n' });
    await untilReported('a.yaml: c');
  });

  test('an empty directory in its place is a failure: something is not mounted', async (t) => {
    const folder = join(emptyFolder(t), 'definitions');
    write(folder, { 'a.yaml': 'a\n' });
    const { untilReported, untilFailure, untilMended, reported } = await follow(t, folder);
    await untilReported('a.yaml: a');
    renameSync(folder, `${folder}.away`);
    mkdirSync(folder);
    await untilFailure(/it was replaced by an empty directory$/);
    assert.equal(reported.length, 1);
    rmSync(folder, { recursive: true });
    renameSync(`${folder}.away`, folder);
    await untilMended();
    write(folder, { 'a.yaml': 'b\n' });
    await untilReported('a.yaml: b');
  });

  test('a directory that is not there at the start is a failure', async (t) => {
    const folder = join(emptyFolder(t), 'definitions');
    const { untilFailure, untilReported, reported } = await follow(t, folder);
    await untilFailure(/no such file/);
    assert.deepEqual(reported, []);
    write(folder, { 'a.yaml': 'a\n' });
    await untilReported('a.yaml: a');
  });

  test('a pipe is not waited for', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    execFileSync('mkfifo', [join(folder, 'b.yaml')]);
    const { untilReported } = await follow(t, folder);
    await untilReported('a.yaml: a', 'b.yaml: (it is not a regular file)');
    write(folder, { 'c.yaml': 'c\n' });
    await untilReported('a.yaml: a', 'b.yaml: (it is not a regular file)', 'c.yaml: c');
  });

  test('of a file that cannot be read that is reported, and the others are', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n' });
    symlinkSync('nowhere.yaml', join(folder, 'b.yaml'));
    const { untilReported } = await follow(t, folder);
    await untilReported('a.yaml: a', 'b.yaml: (no such file or directory)');
    write(folder, { 'nowhere.yaml': 'b\n' });
    await untilReported('a.yaml: a', 'b.yaml: b', 'nowhere.yaml: b');
  });

  test('the target of a link is followed, and a link to a directory that is swapped', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'v1/a.yaml': 'a1\n', 'v2/a.yaml': 'a2\n', 'v2/b.yaml': 'b2\n' });
    symlinkSync('v1', join(folder, 'current'));
    const { untilReported } = await follow(t, join(folder, 'current'));
    await untilReported('a.yaml: a1');
    symlinkSync('v2', join(folder, 'next'));
    renameSync(join(folder, 'next'), join(folder, 'current'));
    await untilReported('a.yaml: a2', 'b.yaml: b2');
    rmSync(join(folder, 'v2', 'b.yaml'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'v2', 'b.yaml'));
    write(folder, { elsewhere: 'x\n' });
    await untilReported('a.yaml: a2', 'b.yaml: x');
    write(folder, { elsewhere: 'y\n' });
    await untilReported('a.yaml: a2', 'b.yaml: y');
  });

  test('one file may be named; when it is deleted that is a failure', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n', 'b.yaml': 'b\n' });
    const { untilReported, untilFailure } = await follow(t, join(folder, 'a.yaml'));
    await untilReported('a.yaml: a');
    write(folder, { 'new.yaml': 'new\n' });
    renameSync(join(folder, 'new.yaml'), join(folder, 'a.yaml'));
    await untilReported('a.yaml: new');
    rmSync(join(folder, 'a.yaml'));
    await untilFailure(/no such file/);
    write(folder, { 'a.yaml': 'again\n' });
    await untilReported('a.yaml: again');
  });

  test('files that are known to be something else are left out', async (t) => {
    const folder = emptyFolder(t);
    write(folder, { 'a.yaml': 'a\n', 'harness.json': '{}' });
    const harness = relative(process.cwd(), join(folder, 'harness.json'));
    const { untilReported } = await follow(t, folder, [harness]);
    await untilReported('a.yaml: a');
  });
});
