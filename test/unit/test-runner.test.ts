import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { after, describe, test } from 'node:test';
import { patienceMs } from '../support/patience.ts';

const passing = `import { test } from 'node:test'; test('passes', () => {});`;

describe('scripts/run-tests', () => {
  const root = mkdtempSync(join(tmpdir(), 'run-tests-'));
  after(() => rmSync(root, { recursive: true }));

  /** The command that runs the unit suite of a project of these test files; so many more that pass that its files share processes. */
  function commandOf(name: string, files: Readonly<Record<string, string>>) {
    const project = join(root, name);
    mkdirSync(join(project, 'src'), { recursive: true });
    mkdirSync(join(project, 'scripts'));
    symlinkSync(resolve('scripts/test'), join(project, 'scripts/test'));
    const program = join(project, 'scripts/run-tests.mjs');
    symlinkSync(resolve('scripts/run-tests.mjs'), program);
    for (let index = 0; index < 8; index++)
      writeFileSync(join(project, `src/ok-${index}.test.ts`), passing);
    for (const [file, text] of Object.entries(files))
      writeFileSync(join(project, 'src', file), text);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const flags = ['--preserve-symlinks', '--preserve-symlinks-main'];
    const options = { encoding: 'utf8', env: { ...env, NODE_OPTIONS: flags[0] } } as const;
    return { args: [...flags, program, 'unit'], options };
  }

  /** Runs it to its end. */
  function runOf(name: string, files: Readonly<Record<string, string>>, ...more: string[]) {
    const { args, options } = commandOf(name, files);
    const { status, stdout } = spawnSync(process.execPath, [...args, ...more], options);
    return { status, stdout, closing: stdout.trimEnd().split('\n').at(-1) };
  }

  test('one closing line has the counts of all suites', () => {
    const skipped = `import { test } from 'node:test'; test('waits', { skip: true }, () => {});`;
    const { status, stdout, closing } = runOf('green', { 'b.test.ts': skipped });
    assert.equal(closing, '8 passed, 0 failed, 1 skipped');
    assert.match(stdout, /^Slowest files: \d+ s src\/[\w-]+\.test\.ts, /m);
    assert.equal(stdout.split('\n').filter((line) => /^\d+ passed/.test(line)).length, 1);
    assert.equal(status, 0);
  });

  test('whatever fails in a file is a failure, and is printed', () => {
    const { status, stdout, closing } = runOf('red', {
      'fails.test.ts': `${passing} test('no', () => { throw new Error('boom') });`,
      'empty.test.ts': 'export {};',
      'unloaded.test.ts': `import './nowhere.ts';`,
      'hook.test.ts': `import { before, describe } from 'node:test'; ${passing}
        describe('d', () => { before(() => { throw new Error('in hook') }); test('x', () => {}) });`,
      'late.test.ts': `import { once } from 'node:events'; ${passing}
        test('leaves work', () => { setImmediate(() => Promise.reject(new Error('late'))) });
        test('waits for it', () => once(process, 'unhandledRejection'));`,
      'stray.test.ts': `${passing} test('strays', async () => {
        await null;
        void Promise.reject(new Error('on its way'));
        await new Promise(() => {});
      });`,
    });
    for (const report of [
      /^✖ src\/fails\.test\.ts > no\n\s+Error: boom/m,
      /^✖ src\/empty\.test\.ts\n\s+It has no tests/m,
      /^✖ src\/unloaded\.test\.ts\n.*nowhere\.ts/m,
      /^✖ src\/hook\.test\.ts > d\n\s+Error: in hook/m,
      /"leaves work".*late/,
      /^✖ src\/stray\.test\.ts > strays\n\s+Error: on its way/m,
    ])
      assert.match(stdout, report);
    // Of the hook there are two: the suite, and the test that could not run.
    assert.equal(closing, '14 passed, 7 failed, 0 skipped');
    assert.equal(status, 1);
  });

  test('a process takes the next file when it has ended one, not before', {
    skip: availableParallelism() < 2,
  }, () => {
    const names = ['b', 'c', 'd', 'e', 'f'];
    const marks = `import { existsSync, writeFileSync } from 'node:fs';
      const markOf = (name) => new URL(name, import.meta.url);`;
    const others = names.map((name) => [
      `${name}.test.ts`,
      `${passing} ${marks} test('marks', () => writeFileSync(markOf('${name}'), ''));`,
    ]);
    const { closing } = runOf('queue', {
      ...Object.fromEntries(others),
      'a.test.ts': `${passing} ${marks} const names = ${JSON.stringify(names)};
        test('is there as long as all others run', async () => {
          while (!names.every((name) => existsSync(markOf(name))))
            await new Promise((resolve) => setTimeout(resolve, 5));
        });`,
    });
    assert.equal(closing, '20 passed, 0 failed, 0 skipped');
  });

  test('a process that ends in the middle is a failure', () => {
    const text = `${passing} test('leaves', () => process.exit(0));`;
    const { status, stdout, closing } = runOf('exit', { 'b.test.ts': text });
    assert.match(stdout, /ended early \(exit code 0\), in or after src\/b\.test\.ts > leaves/);
    assert.match(closing ?? '', /^\d+ passed, 1 failed, 0 skipped$/);
    assert.equal(status, 1);
  });

  const passesTheSecondTime = `import { existsSync, writeFileSync } from 'node:fs';
    const mark = new URL('mark-of-' + import.meta.url.split('/').at(-1), import.meta.url);
    test('passes the second time', () => {
      if (existsSync(mark)) return;
      writeFileSync(mark, '');
      throw new Error('first');
    });`;

  test('a failed file is run again when that is asked for, and it is listed', () => {
    const files = { 'b.test.ts': `${passing} ${passesTheSecondTime}` };
    const { status, stdout, closing } = runOf('again', files, '--again', '1');
    assert.match(
      stdout,
      /when run again, to be mended:\n {2}! src\/b\.test\.ts > passes the second/,
    );
    assert.equal(closing, '10 passed, 0 failed, 0 skipped');
    assert.equal(status, 0);
    assert.equal(runOf('once', files).status, 1);
  });

  test('what fails again is a failure, and so are more files than may run again', () => {
    const fails = `${passing} test('no', () => { throw new Error('boom') });`;
    const flaky = `${passing} ${passesTheSecondTime}`;
    const both = runOf('fails-again', { 'b.test.ts': fails, 'c.test.ts': flaky }, '--again', '2');
    assert.match(both.stdout, /✖ src\/b\.test\.ts > no/);
    assert.equal(both.closing, '11 passed, 1 failed, 0 skipped');
    assert.equal(both.status, 1);
    const many = runOf('too-many', { 'b.test.ts': flaky, 'c.test.ts': flaky }, '--again', '1');
    assert.equal(many.closing, '10 passed, 2 failed, 0 skipped');
    assert.equal(many.status, 1);
  });

  test('a process that ended early is not run again', () => {
    const text = `${passing} test('leaves', () => process.exit(0));`;
    const { status, stdout } = runOf('exit-again', { 'b.test.ts': text }, '--again', '9');
    assert.doesNotMatch(stdout, /Running again/);
    assert.equal(status, 1);
  });

  test('runs the tests of one name only', () => {
    const text = `${passing} test('also', () => { throw new Error('not this') });`;
    const { status, closing } = runOf('named', { 'b.test.ts': text }, '--name', '^passes');
    assert.equal(closing, '9 passed, 0 failed, 0 skipped');
    assert.equal(status, 0);
  });

  for (const [processes, filters] of [
    ['shared processes', []],
    ['a process for each file', ['hangs']],
  ] as const)
    for (const name of ['SIGTERM', 'SIGINT'] as const)
      test(`${name} ends ${processes} and what they have started, and is how the runner ends`, {
        timeout: patienceMs,
      }, async (t) => {
        const folder = mkdtempSync(join(root, 'stopped-'));
        const pipe = join(folder, 'pipe');
        const launcher = resolve('test/support/control-plane/supervised-process.ts');
        const connect = `require('node:net').connect(${JSON.stringify(pipe)})`;
        const { args, options } = commandOf(relative(root, join(folder, 'project')), {
          'hangs.test.ts': `import { connect } from 'node:net'; import { test } from 'node:test';
            import { launch } from ${JSON.stringify(launcher)};
            test('hangs', async () => {
              process.on('SIGTERM', () => {});
              await launch({ command: process.execPath, args: ['-e', ${JSON.stringify(connect)}] });
              await new Promise((resolve) => connect(${JSON.stringify(pipe)}).on('close', resolve));
            });`,
        });
        const sockets: Socket[] = [];
        const server = createServer((socket) => sockets.push(socket)).listen(pipe);
        t.after(() => {
          for (const socket of sockets) socket.destroy();
          server.close();
        });
        const runner = spawn(process.execPath, [...args, ...filters], {
          ...options,
          stdio: 'ignore',
        });
        const exit = once(runner, 'exit');
        while (sockets.length < 2) await once(server, 'connection');
        const closed = sockets.map((socket) => once(socket.resume(), 'close'));
        runner.kill(name);
        assert.deepEqual(await exit, [null, name]);
        await Promise.all(closed);
      });

  test('npm sends a signal to the runner, not to a shell that starts it', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>;
    };
    const runs = Object.values(scripts).filter((script) => script.includes('run-tests.mjs'));
    assert.notEqual(runs.length, 0);
    for (const script of runs)
      assert.match(script, /(?:^| )exec node scripts\/run-tests\.mjs(?: |$)/);
  });

  test('a name that no test has is a failure', () => {
    assert.equal(runOf('nameless', { 'b.test.ts': passing }, '--name', 'nowhere').status, 1);
  });
});
