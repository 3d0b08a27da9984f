import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import {
  bad,
  garbled,
  good,
  startRegistry,
  summary,
} from '../../../test/support/fakes/registry-world.ts';
import { ScriptedSource } from '../../../test/support/fakes/scripted-source.ts';
import { createTextCheck } from '../check-text.ts';

/** Time that work takes. */
class SlowClock extends FakeClock {
  #passedMs = 0;
  pauses = 0;

  pass(ms: number): void {
    this.#passedMs += ms;
  }

  override monotonicMs(): number {
    return super.monotonicMs() + this.#passedMs;
  }

  override sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.pauses++;
    return super.sleep(ms, signal);
  }
}

describe('runtime/registry', () => {
  test('nothing is wanted before every source has told what it has, or why it cannot', async (t) => {
    const [first, second, third] = [
      new ScriptedSource('a'),
      new ScriptedSource('b'),
      new ScriptedSource('c'),
    ];
    const { sets, look, advance, registry } = await startRegistry(t, [first, second, third]);
    first.tell({ a: good('aaa') });
    second.tell({});
    await advance(60_000);
    assert.deepEqual(sets, []);
    third.fail('forbidden');
    assert.deepEqual(summary(await look()), ['aaa@1 a']);
    assert.deepEqual(registry.sources, [
      { name: 'a', isRead: true },
      { name: 'b', isRead: true },
      { name: 'c', isRead: false, trouble: 'forbidden' },
    ]);
  });

  test('nothing is wanted before it is known what is on record', async (t) => {
    const known = Promise.withResolvers<void>();
    const source = new ScriptedSource();
    const { sets, look, advance, registry } = await startRegistry(t, [source], {
      whenKnown: () => known.promise,
    });
    source.tell({ a: good('aaa') });
    await advance(60_000);
    assert.deepEqual(sets, []);
    assert.deepEqual(registry.sources, [{ name: 'scripted', isRead: false }]);
    const origin = { source: 'configmap', ref: 'scripted/a' } as const;
    assert.equal(registry.covers(origin), false);
    known.resolve();
    assert.deepEqual(summary(await look()), ['aaa@1 a']);
    assert.deepEqual([registry.isRead, registry.covers(origin)], [true, true]);
  });

  test('a trouble of a source changes nothing, and is told until it is over', async (t) => {
    const source = new ScriptedSource();
    const { look, registry } = await startRegistry(t, [source]);
    source.tell({ a: good('aaa') });
    await look();
    source.fail('unmounted');
    assert.deepEqual(summary(await look()), ['aaa@1 a']);
    assert.deepEqual(registry.sources, [{ name: 'scripted', isRead: true, trouble: 'unmounted' }]);
    source.fail(undefined);
    assert.deepEqual(registry.sources, [{ name: 'scripted', isRead: true }]);
  });

  for (const [what, before, after, expected] of [
    ['a new version is taken', good('aaa'), good('aaa', 2), ['aaa@2 k']],
    [
      'one that is gone from its text is gone',
      `${good('aaa')}---\n${good('bbb')}`,
      good('bbb'),
      ['bbb@1 k'],
    ],
    ['of an empty text nothing is left', good('aaa'), '', []],
    ['a mistake keeps the last good version', good('aaa'), bad('aaa'), ['aaa@1! k']],
    [
      'what does not parse keeps all of them',
      `${good('aaa')}---\n${good('bbb')}`,
      garbled,
      ['aaa@1! k', 'bbb@1! k'],
    ],
    [
      'half of a text keeps the other half',
      `${good('aaa')}---\n${good('bbb')}`,
      `${good('aaa', 2)}---\n${garbled}`,
      ['aaa@1! k', 'bbb@1! k'],
    ],
    [
      'each is accepted by itself',
      `${good('aaa')}---\n${good('bbb')}`,
      `${bad('aaa')}---\n${good('bbb', 2)}`,
      ['aaa@1! k', 'bbb@2 k'],
    ],
    [
      'a mistake in one does not keep another that is gone',
      `${good('aaa')}---\n${good('bbb')}`,
      bad('aaa'),
      ['aaa@1! k'],
    ],
    [
      'a name that vanishes while an unknown one has mistakes may be that one',
      good('aaa'),
      bad('aab'),
      ['aaa@1! k'],
    ],
    [
      'a definition that has lost its kind may be the one that vanished',
      good('aaa'),
      good('aaa').replace('kind: Op', 'kind: Po'),
      ['aaa@1! k'],
    ],
    ['a renamed one is another one', good('aaa'), good('bbb'), ['bbb@1 k']],
    [
      'the first of two of one name in a text is it',
      good('aaa'),
      `${good('aaa', 2)}---\n${good('aaa', 3)}`,
      ['aaa@2 k'],
    ],
  ] as const) {
    test(what, async (t) => {
      const source = new ScriptedSource();
      const { look } = await startRegistry(t, [source]);
      source.tell({ k: before });
      await look();
      source.tell({ k: after });
      assert.deepEqual(summary(await look()), expected);
    });
  }

  test('a text that is gone takes its definitions with it, one that cannot be read does not', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    source.tell({ k: good('aaa'), l: good('bbb') });
    await look();
    source.tell({ k: { text: '', unreadable: 'permission denied' } });
    const set = await look();
    assert.deepEqual(summary(set), ['aaa@1! k']);
    assert.deepEqual(set.definitions[0]?.refusal?.diagnostics, [
      'k:1:1: Cannot be read: permission denied',
    ]);
  });

  test('what is refused is told by text, by document and as definitions to be finished', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    source.tell({ k: `${good('aaa')}---\n${bad('bbb')}`, l: garbled });
    const { refused, refusedTexts, broken } = await look();
    assert.deepEqual(
      refused?.map(({ file, definitions }) => [file, definitions]),
      [
        ['k', 1],
        ['l', 1],
      ],
    );
    assert.match(
      refused?.[0]?.diagnostics[0] ?? '',
      /^k:\d+:3: Unknown field "reeds"\. Did you mean "reads"\?$/,
    );
    assert.deepEqual(
      refusedTexts?.map(({ origin, name, document }) => [origin.ref, name, document !== undefined]),
      [
        ['k', 'bbb', true],
        ['l', undefined, false],
      ],
    );
    assert.deepEqual(
      broken?.map(({ definition }) => definition.name),
      ['bbb'],
    );
  });

  for (const word of ['..', 'a/status', 'Bad_Name', 'a.b', 'a'.repeat(64), '\ud83d', ''])
    test(`a word that can be no name is told, and is none (${JSON.stringify(word)})`, async (t) => {
      const source = new ScriptedSource();
      const { look, findings } = await startRegistry(t, [source]);
      const misnamed = good('aaa').replace('{ name: aaa }', `{ name: ${JSON.stringify(word)} }`);
      source.tell({ k: `${misnamed}---\n${good('bbb')}` });
      const { definitions, refusedTexts = [], broken } = await look();
      assert.deepEqual(
        [definitions.map(({ located }) => located.definition.name), broken],
        [['bbb'], []],
      );
      assert.deepEqual(
        refusedTexts.map(({ name, document }) => [name, document]),
        [[undefined, undefined]],
      );
      assert.match(findings[0]?.errors.join() ?? '', /^k:3:.*Expected lower-case letters/);
    });

  test('a refusal of what goes on as it was is told with the definition alone', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    source.tell({ k: good('aaa') });
    await look();
    source.tell({ k: bad('aaa') });
    const { definitions, refused, refusedTexts, broken } = await look();
    assert.match(definitions[0]?.refusal?.diagnostics[0] ?? '', /^k:\d+:3: Unknown field/);
    assert.match(definitions[0]?.refusal?.revision ?? '', /^[0-9a-f]{10}$/);
    assert.deepEqual([refused, broken, refusedTexts?.length], [[], [], 1]);
  });

  test('a warning goes with its definition while its text is taken, and with no other', async (t) => {
    const source = new ScriptedSource('a');
    const { look } = await startRegistry(t, [source]);
    const odd = thingDefinition('aaa', '  vars: { answer: no }\n');
    source.tell({ k: `${odd}---\n${good('bbb')}` });
    const warnings = async () =>
      (await look()).definitions.map(({ warnings = [] }) => warnings.join());
    const [told = '', ...others] = await warnings();
    assert.match(told, /^k:\d+:\d+: .*"no".*\. Quote it/);
    assert.deepEqual(others, ['']);
    source.tell({ k: `${bad('aaa')}---\n${good('bbb')}` });
    assert.deepEqual(await warnings(), ['', '']);
  });

  test('the mistakes of an object are told by path: nobody has seen its lines', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    const origin = { source: 'object', ref: 'aaa' } as const;
    source.tell({ k: { text: bad('aaa'), origin, file: 'operatordefinition aaa' } });
    assert.deepEqual((await look()).refused?.[0]?.diagnostics, [
      'operatordefinition aaa: spec.reeds: Unknown field "reeds". Did you mean "reads"?',
    ]);
  });

  test('a source that cannot be read does not say that what it has not told is gone', async (t) => {
    const source = new ScriptedSource('a');
    const { look, registry } = await startRegistry(t, [source]);
    source.tell({ a1: good('aaa') });
    source.fail('forbidden');
    await look();
    assert.equal(registry.covers({ source: 'configmap', ref: 'a2' }), false);
    source.fail(undefined);
    assert.equal(registry.covers({ source: 'configmap', ref: 'a2' }), true);
  });

  test('what is known beside the text goes with the definition, and may change', async (t) => {
    const source = new ScriptedSource();
    let isPaused = false;
    const known = () => new Map([['aaa', { name: 'aaa', isPaused, approvedDeletions: 'r1' }]]);
    const { look, registry } = await startRegistry(t, [source], { known });
    source.tell({ k: good('aaa') });
    const [before] = (await look()).definitions;
    assert.deepEqual([before?.isPaused, before?.approvedDeletions], [false, 'r1']);
    isPaused = true;
    registry.refresh();
    assert.equal((await look()).definitions[0]?.isPaused, true);
  });

  test('a text may pause its definition by itself', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    const annotations = '{ name: aaa, annotations: { homeostat.dev/paused: "true" } }';
    source.tell({ k: good('aaa').replace('{ name: aaa }', annotations) });
    assert.equal((await look()).definitions[0]?.isPaused, true);
  });

  test('deletions are approved by the text or by its object, whatever the other one has approved before', async (t) => {
    const source = new ScriptedSource();
    let onObject = 'r1';
    const known = () => new Map([['aaa', { name: 'aaa', approvedDeletions: onObject }]]);
    const { look, registry } = await startRegistry(t, [source], { known });
    const approving = (revision: string) =>
      good('aaa').replace(
        '{ name: aaa }',
        `{ name: aaa, annotations: { homeostat.dev/approve-deletions: "${revision}" } }`,
      );
    source.tell({ k: good('aaa') });
    const { revision = '' } = (await look()).definitions[0]?.located.definition ?? {};
    source.tell({ k: approving(revision) });
    assert.equal((await look()).definitions[0]?.approvedDeletions, revision);
    onObject = revision;
    source.tell({ k: approving('r2') });
    registry.refresh();
    assert.equal((await look()).definitions[0]?.approvedDeletions, revision);
  });

  test('an object that is being deleted is removed, also one that has mistakes; of what is none of ours it is let go', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    const removal = { children: true, crd: false };
    const object = (ref: string, text: string) => ({
      [ref]: { text, origin: { source: 'object', ref } as const, removal, sinceMs: 2 },
    });
    source.tell({
      k: good('ccc'),
      ...object('aaa', good('aaa')),
      ...object('bbb', bad('bbb')),
      ...object('ccc', good('ccc', 2)),
      ...object('ddd', 'kind: Other\n'),
    });
    const { definitions, lettingGo, broken } = await look();
    assert.deepEqual(
      definitions.map((each) => [each.located.definition.name, each.removal]),
      [
        ['ccc', undefined],
        ['aaa', removal],
        ['bbb', removal],
      ],
    );
    assert.deepEqual([lettingGo, broken], [['ccc', 'ddd'], []]);
  });

  test('a text that our own checks fail on is told, and nothing else suffers', async (t) => {
    const source = new ScriptedSource();
    const real = createTextCheck(undefined);
    const check: typeof real = (text) => {
      if (text.text.includes('version: 2')) throw new Error('a bug');
      return real(text);
    };
    const { look } = await startRegistry(t, [source], { check });
    source.tell({ k: good('aaa') });
    await look();
    source.tell({ k: good('aaa', 2), l: good('bbb') });
    const set = await look();
    assert.deepEqual(summary(set), ['aaa@1! k', 'bbb@1 l']);
    assert.match(String(set.definitions[0]?.refusal?.diagnostics), /Homeostat failed on it: a bug/);
    source.tell({ k: good('aaa', 3), l: good('bbb') });
    assert.deepEqual(summary(await look()), ['aaa@3 k', 'bbb@1 l']);
  });

  test('many edits at once are one', async (t) => {
    const source = new ScriptedSource();
    const { sets, look } = await startRegistry(t, [source]);
    source.tell({ k: good('aaa') });
    await look();
    const before = sets.length;
    for (let version = 2; version <= 51; version++) source.tell({ k: good('aaa', version) });
    assert.deepEqual(summary(await look()), ['aaa@51 k']);
    assert.equal(sets.length, before + 1);
  });

  test('many texts are checked in slices, and what changes meanwhile is looked at after them', async (t) => {
    const source = new ScriptedSource();
    const clock = new SlowClock();
    const real = createTextCheck(undefined);
    const check: typeof real = (text) => {
      clock.pass(15);
      if (text.file === 'b') source.tell({ a: good('aaa', 2) });
      return real(text);
    };
    const { sets, look } = await startRegistry(t, [source], { check }, clock);
    source.tell({ a: good('aaa'), b: good('bbb'), c: good('ccc'), d: good('ddd') });
    await look();
    assert.deepEqual(summary(await look()), ['aaa@2 a']);
    assert.deepEqual(sets.map(summary), [
      ['aaa@1 a', 'bbb@1 b', 'ccc@1 c', 'ddd@1 d'],
      ['aaa@2 a'],
    ]);
    assert.equal(clock.pauses, 1, 'after two of the four');
  });

  test('a definition whose text is the same stays the very same', async (t) => {
    const source = new ScriptedSource();
    const { look } = await startRegistry(t, [source]);
    source.tell({ k: good('aaa'), l: good('bbb') });
    const before = await look();
    source.tell({ k: good('aaa'), l: good('bbb', 2) });
    const after = await look();
    assert.equal(after.definitions[0]?.located, before.definitions[0]?.located);
    assert.notEqual(after.definitions[1]?.located, before.definitions[1]?.located);
  });

  test('mistakes are told once, and their end', async (t) => {
    const source = new ScriptedSource();
    const { look, findings } = await startRegistry(t, [source]);
    const said = () =>
      findings.splice(0).map(({ file, diagnostics }) => [file, diagnostics.length]);
    source.tell({ k: bad('aaa') });
    await look();
    assert.deepEqual(said(), [['k', 1]]);
    source.tell({ k: bad('aaa'), l: good('bbb') });
    await look();
    assert.deepEqual(said(), []);
    source.tell({ k: good('aaa') });
    await look();
    assert.deepEqual(said(), [['k', 0]]);
  });
});
