import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { copiedPaths, parseStages, type Stage } from '../support/image/dockerfile.ts';

const [build, final, ...others] = parseStages(readFileSync('Dockerfile', 'utf8'));
const ignored = readFileSync('.dockerignore', 'utf8').split('\n');

function wordsOf(stage: Stage | undefined, name: string): readonly string[] {
  return stage?.instructions.find((each) => each.name === name)?.words ?? [];
}

function environmentOf(stage: Stage | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    wordsOf(stage, 'ENV').map((word) => {
      const at = word.indexOf('=');
      return [word.slice(0, at), word.slice(at + 1)];
    }),
  );
}

/** There is no Docker here: the stages are played with folders. */
describe('image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-image-'));
  const source = join(folder, 'src');
  const image = join(folder, 'homeostat');
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('has two stages of one base, which is named once', () => {
    assert.deepEqual([build?.name, final?.name, others], ['build', undefined, []]);
    for (const stage of [build, final]) assert.equal(wordsOf(stage, 'FROM')[0], '${NODE_IMAGE}');
  });

  test('what it copies is there, and is not kept out of the build', () => {
    const paths = [build, final].flatMap((stage) => (stage ? copiedPaths(stage) : []));
    assert.ok(paths.length > 5);
    assert.equal(
      ignored.find((line) => !line.startsWith('#')),
      '*',
    );
    for (const path of paths) {
      assert.ok(existsSync(path), path);
      const [top] = path.split('/');
      assert.ok(ignored.includes(`!${top}`), `${path} in .dockerignore`);
    }
  });

  test('has what "npm ci" runs before it runs', () => {
    const { prepare } = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
    const instructions = build?.instructions ?? [];
    const at = instructions.findIndex(({ words }) => words.slice(0, 2).join(' ') === 'npm ci');
    assert.notEqual(at, -1);
    const copied = copiedPaths({ name: undefined, instructions: instructions.slice(0, at) });
    assert.ok(copied.includes(prepare.replace(/^node /, '')), prepare);
  });

  test('runs as a number that is not root', () => {
    assert.match(wordsOf(final, 'USER').join(' '), /^[1-9]\d*:[1-9]\d*$/);
  });

  describe('built', () => {
    before(() => {
      for (const path of build ? copiedPaths(build) : []) {
        mkdirSync(dirname(join(source, path)), { recursive: true });
        cpSync(path, join(source, path), { recursive: true, filter: isSent });
      }
      // In place of `npm ci`.
      symlinkSync(resolve('node_modules'), join(source, 'node_modules'));
      const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
        cwd: source,
        encoding: 'utf8',
      });
      assert.equal(status, 0, stderr);
      mkdirSync(image);
      for (const path of final ? copiedPaths(final) : []) cpSync(path, join(image, path));
      cpSync(join(source, 'dist'), join(image, 'dist'), { recursive: true });
    });

    const run = (env: object, ...args: readonly string[]) => {
      const [command, program = '', ...fixed] = wordsOf(final, 'ENTRYPOINT');
      assert.equal(command, 'node');
      return spawnSync(
        process.execPath,
        [program.replace(/^\/homeostat\b/, image), ...fixed, ...args],
        { cwd: '/', encoding: 'utf8', env: { ...environmentOf(final), HOME: '/nowhere', ...env } },
      );
    };

    test('says its version', () => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
      assert.equal(run({}, '--version').stdout.trim(), version);
    });

    test('holds all that it needs', () => {
      const { status, stdout, stderr } = run({}, 'validate', resolve('operators'));
      assert.equal(status, 0, stderr);
      assert.match(stdout, /definition "podset" is valid/);
    });

    test('stores compiled code beside the bundle, and runs where it cannot', () => {
      const folder = join(image, 'dist/compile-cache');
      assert.equal(run({}, '--version').status, 0);
      assert.ok(readdirSync(folder).length > 0);
      rmSync(folder, { recursive: true });
      writeFileSync(folder, 'in the place of the folder');
      assert.equal(run({}, '--version').status, 0);
      assert.equal(readFileSync(folder, 'utf8'), 'in the place of the folder');
    });

    test('prints the rights of definitions', () => {
      const { status, stdout } = run({}, 'rights', resolve('operators/podset.yaml'));
      assert.equal(status, 0);
      assert.match(stdout, /resources: \["podsets"\]/);
    });

    test('takes the Node options of the Deployment, and need not start a second time', () => {
      const manifest = readFileSync('deploy/manifests/1-homeostat.yaml', 'utf8');
      const NODE_OPTIONS = /name: NODE_OPTIONS\n\s+value: (.*)/.exec(manifest)?.[1] ?? '';
      for (const options of [NODE_OPTIONS, environmentOf(final).NODE_OPTIONS])
        assert.match(options ?? '', /--max-semi-space-size=/);
      const { status, stderr } = run({ NODE_OPTIONS }, 'run', '--definitions', '/nowhere');
      assert.equal(status, 2);
      assert.match(stderr, /"\/nowhere"/);
    });
  });
});

/** As `.dockerignore` says. */
function isSent(path: string): boolean {
  return !/\.test\.ts$|\/README\.md$/.test(path);
}
