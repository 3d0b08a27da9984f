import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { createManifestCheck } from '#check/check-manifest.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import { ScriptedSource } from '../../../../test/support/fakes/scripted-source.ts';
import { bad, garbled, good } from '../../../../test/support/fakes/thing-texts.ts';
import { silentLogger } from '../../../../test/support/silent-telemetry.ts';
import { ManifestReader, type Manifests } from './manifest-reader.ts';

const check = createManifestCheck(undefined);

function follow(t: TestContext, ...sources: readonly ScriptedSource[]) {
  const clock = new FakeClock();
  const stopper = new AbortController();
  const reported: Manifests[] = [];
  const checked: string[] = [];
  const texts = new ManifestReader({
    sources,
    clock,
    logger: silentLogger(),
    check: (text) => {
      checked.push(text.file);
      return check(text);
    },
    onManifests: (now) => reported.push(now),
  });
  const running = texts.run(stopper.signal);
  t.after(async () => {
    stopper.abort(new Error('The test has ended'));
    await running;
    assert.equal(clock.pending, 0);
  });
  const names = () => reported.map(({ claims }) => [...claims.keys()].join(' '));
  return { clock, texts, reported, checked, names };
}

const at = (ref: string) => ({ source: 'configmap', ref }) as const;

describe('runtime/publish/manifest-reader', () => {
  test('says nothing before every source was looked at, then all of them together', async (t) => {
    const [one, two] = [new ScriptedSource('one'), new ScriptedSource('two')];
    const { clock, names, texts } = follow(t, one, two);
    one.tell({ 'one/a/x.yaml': good('a') });
    await clock.advance(1_000);
    assert.deepEqual(names(), []);
    assert.deepEqual(texts.sources, [
      { name: 'one', isRead: true },
      { name: 'two', isRead: false },
    ]);
    two.tell({ 'two/b/x.yaml': good('b') });
    await clock.advance(0);
    assert.deepEqual(names(), ['a b']);
  });

  test('a source that says nothing is left aside after half a minute', async (t) => {
    const [one, two] = [new ScriptedSource('one'), new ScriptedSource('two')];
    const { clock, names, reported } = follow(t, one, two);
    one.tell({ 'one/a/x.yaml': good('a') });
    await clock.advance(30_000);
    assert.deepEqual(names(), ['a']);
    assert.equal(reported[0]?.originState(at('two/b/x.yaml')), 'unknown');
  });

  test('one that cannot be read is left aside at once', async (t) => {
    const [one, two] = [new ScriptedSource('one'), new ScriptedSource('two')];
    const { clock, names, texts } = follow(t, one, two);
    one.tell({ 'one/a/x.yaml': good('a') });
    two.fail('no such directory');
    await clock.advance(0);
    assert.deepEqual(names(), ['a']);
    assert.deepEqual(texts.sources[1], {
      name: 'two',
      isRead: false,
      error: 'no such directory',
    });
  });

  test('many edits at once are one, and only what has changed is checked again', async (t) => {
    const source = new ScriptedSource('cm');
    const { clock, names, checked } = follow(t, source);
    source.tell({ 'cm/a/x.yaml': good('a'), 'cm/b/x.yaml': good('b') });
    await clock.advance(0);
    source.tell({ 'cm/a/x.yaml': good('a', 2), 'cm/b/x.yaml': good('b') });
    source.tell({ 'cm/a/x.yaml': good('a', 3), 'cm/b/x.yaml': good('b') });
    await clock.advance(50);
    assert.equal(names().length, 2);
    assert.deepEqual(checked, ['cm/a/x.yaml', 'cm/b/x.yaml', 'cm/a/x.yaml']);
  });

  test('several documents may claim one name', async (t) => {
    const source = new ScriptedSource('cm');
    const { clock, reported } = follow(t, source);
    source.tell({ 'cm/a/x.yaml': good('a'), 'cm/b/x.yaml': bad('a') });
    await clock.advance(0);
    const claims = reported[0]?.claims.get('a') ?? [];
    assert.deepEqual(
      claims.map(({ manifest, located }) => [manifest.file, located !== undefined]),
      [
        ['cm/a/x.yaml', true],
        ['cm/b/x.yaml', false],
      ],
    );
  });

  for (const [name, texts, expected] of [
    ['without mistakes', { 'cm/a/x.yaml': good('a') }, ['read', 'read', 'elsewhere']],
    ['that is empty', {}, ['read', 'read', 'elsewhere']],
    ['with a mistake', { 'cm/a/x.yaml': bad('a') }, ['unknown', 'read', 'elsewhere']],
    ['that cannot be parsed', { 'cm/a/y.yaml': garbled }, ['unknown', 'read', 'elsewhere']],
    [
      'with a text that cannot be read',
      { 'cm/a/x.yaml': { text: '', unreadable: 'permission denied' } },
      ['unknown', 'read', 'elsewhere'],
    ],
  ] as const)
    test(`a ConfigMap ${name}: what may stand in it, in another, and where nothing is read`, async (t) => {
      const source = new ScriptedSource('cm');
      const { clock, reported } = follow(t, source);
      source.tell(texts);
      await clock.advance(0);
      const refs = ['cm/a/gone.yaml', 'cm/b/gone.yaml', 'else/a/gone.yaml'];
      assert.deepEqual(
        refs.map((ref) => reported[0]?.originState(at(ref))),
        expected,
      );
    });

  test('of a directory that was empty from the start nothing is sure, until it has a text', async (t) => {
    const source = new ScriptedSource('dir');
    const { clock, reported } = follow(t, source);
    const gone = { source: 'directory', ref: 'dir/gone.yaml' } as const;
    const origin = { source: 'directory', ref: 'dir/x.yaml' } as const;
    source.tell({});
    await clock.advance(0);
    assert.equal(reported[0]?.originState(gone), 'unknown');
    source.tell({ 'dir/x.yaml': { text: good('a'), origin } });
    await clock.advance(50);
    source.tell({});
    await clock.advance(50);
    assert.deepEqual(
      reported.slice(1).map((now) => now.originState(gone)),
      ['read', 'read'],
    );
  });

  test('nothing of a source that fails is sure until it can be read again', async (t) => {
    const source = new ScriptedSource('cm');
    const { clock, reported } = follow(t, source);
    source.tell({ 'cm/a/x.yaml': good('a') });
    await clock.advance(0);
    source.fail('forbidden');
    await clock.advance(50);
    source.fail(undefined);
    await clock.advance(50);
    assert.deepEqual(
      reported.map((now) => now.originState(at('cm/b/gone.yaml'))),
      ['read', 'unknown', 'read'],
    );
    assert.deepEqual([...(reported[1]?.claims.keys() ?? [])], ['a']);
  });
});
