import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { ScriptedSource } from '../../../test/support/fakes/scripted-source.ts';
import { silentLogger } from '../../../test/support/silent-telemetry.ts';
import { createDefinitionParser, type LocatedDefinition } from '../../definition/index.ts';
import { createTextCheck } from '../check-text.ts';
import type { WantedSet } from '../wanted-definition.ts';
import type { KnownDefinition } from './known-definition.ts';
import { Registry, type RegistryOptions, type TextFindings } from './registry.ts';

/** A definition of that name; versions differ in a constant. */
const good = (name: string, version = 1) =>
  thingDefinition(name, `  vars: { version: ${version} }\n`);
const bad = (name: string) => thingDefinition(name, '  reeds: []\n');
const garbled = 'kind: [\n';

function located(text: string): LocatedDefinition {
  const [definition] = createDefinitionParser().parse(text, 'record').definitions;
  assert.ok(definition);
  return definition;
}

/** A name, its version, and a mark for a refusal of what the text says now. */
function summary({ definitions }: WantedSet): readonly string[] {
  return definitions.map(({ located: { definition }, refusal, origin }) => {
    const { name, vars } = definition;
    return `${name}@${vars?.version}${refusal === undefined ? '' : '!'} ${origin?.ref}`;
  });
}

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

async function startRegistry(
  t: TestContext,
  sources: readonly ScriptedSource[],
  options: Partial<RegistryOptions> = {},
  clock = new FakeClock(),
) {
  const stopper = new AbortController();
  const sets: WantedSet[] = [];
  const findings: TextFindings[] = [];
  const registry = new Registry({
    sources,
    clock,
    logger: silentLogger(),
    check: createTextCheck(undefined),
    onWanted: (wanted) => sets.push(wanted),
    onFindings: (news) => findings.push(...news),
    ...options,
  });
  const running = registry.run(stopper.signal);
  t.after(async () => {
    stopper.abort();
    await running;
    assert.equal(clock.pending, 0);
  });
  return {
    registry,
    sets,
    findings,
    /** The newest set, when everything is said. */
    async look(): Promise<WantedSet> {
      await clock.advance(100);
      const last = sets.at(-1);
      assert.ok(last, 'nothing was said');
      return last;
    },
    advance: (ms: number) => clock.advance(ms),
  };
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

  describe('one name in two texts', () => {
    const older = { text: good('aaa', 1), sinceMs: 1 };
    const newer = { text: good('aaa', 2), sinceMs: 2 };

    test("is the older one's, whichever source is asked first, and the other is told of", async (t) => {
      for (const first of [0, 1]) {
        const sources = [new ScriptedSource('x'), new ScriptedSource('y')] as const;
        const { look, findings } = await startRegistry(t, sources);
        sources[first === 0 ? 0 : 1].tell({ old: older });
        sources[first === 0 ? 1 : 0].tell({ new: newer });
        const { definitions, refused } = await look();
        assert.deepEqual(summary({ definitions }), ['aaa@1 old']);
        assert.deepEqual(
          refused?.map(({ file }) => file),
          ['new'],
        );
        const [found] = findings;
        assert.equal(found?.file, 'new');
        assert.equal(
          found?.diagnostics[0]?.message,
          'The name "aaa" is served by another definition already',
        );
        assert.equal(found?.diagnostics[0]?.hint, 'The first one is at old:3');
      }
    });

    test('stays with the one that has it when an older one gets it too, and moves without a gap', async (t) => {
      const source = new ScriptedSource();
      const { look, sets } = await startRegistry(t, [source]);
      source.tell({ new: newer });
      await look();
      source.tell({ new: newer, old: older });
      assert.deepEqual(summary(await look()), ['aaa@2 new']);
      source.tell({ old: older });
      assert.deepEqual(summary(await look()), ['aaa@1 old']);
      assert.ok(sets.every(({ definitions }) => definitions.length === 1));
    });

    test("is after a restart the one's that is on record", async (t) => {
      const source = new ScriptedSource();
      const known = (): ReadonlyMap<string, KnownDefinition> =>
        new Map([['aaa', { name: 'aaa', origin: { source: 'configmap', ref: 'new' } }]]);
      const { look } = await startRegistry(t, [source], { known });
      source.tell({ new: newer, old: older });
      assert.deepEqual(summary(await look()), ['aaa@2 new']);
    });

    test('stays with its text while that has a mistake; one that never ran has no claim', async (t) => {
      const source = new ScriptedSource();
      const { look } = await startRegistry(t, [source]);
      source.tell({ old: { text: bad('aaa'), sinceMs: 1 }, new: newer });
      assert.deepEqual(summary(await look()), ['aaa@2 new']);
      source.tell({ old: older, new: { text: bad('aaa'), sinceMs: 2 } });
      assert.deepEqual(summary(await look()), ['aaa@2! new']);
    });

    test('does not stick to the one that was read first while a source is silent', async (t) => {
      const sources = [new ScriptedSource('x'), new ScriptedSource('y')] as const;
      const { look } = await startRegistry(t, sources);
      sources[0].fail('unavailable');
      sources[1].tell({ new: newer });
      assert.deepEqual(summary(await look()), ['aaa@2 new']);
      sources[0].tell({ old: older });
      assert.deepEqual(summary(await look()), ['aaa@1 old']);
    });
  });

  describe('what only one may have', () => {
    const mapper = (name: string, isMapping: boolean) => `apiVersion: homeostat.dev/v1alpha1
kind: OperatorDefinition
metadata: { name: ${name} }
spec:
  for: { apiVersion: apps/v1, kind: Deployment }
  vars: { version: ${isMapping ? 2 : 1} }
${isMapping ? '  status: { name: "${ metadata.name }" }\n' : ''}`;

    test('is not lost to an older one that comes to want it: that one goes on without', async (t) => {
      const source = new ScriptedSource();
      const { look, findings } = await startRegistry(t, [source]);
      source.tell({ a: mapper('aaa', false), b: mapper('bbb', true) });
      await look();
      source.tell({ a: mapper('aaa', true), b: mapper('bbb', true) });
      const set = await look();
      assert.deepEqual(summary(set), ['aaa@1! a', 'bbb@2 b']);
      assert.match(set.definitions[0]?.refusal?.message ?? '', /^The status of kind/);
      assert.deepEqual(
        findings.map(({ file, diagnostics }) => [file, diagnostics.length]),
        [['a', 1]],
      );
      source.tell({ a: mapper('aaa', true) });
      assert.deepEqual(summary(await look()), ['aaa@2 a']);
    });

    test("is after a restart the one's that ran with it", async (t) => {
      const source = new ScriptedSource();
      const known = (): ReadonlyMap<string, KnownDefinition> =>
        new Map([
          ['aaa', { name: 'aaa', formerly: [located(mapper('aaa', false))] }],
          ['bbb', { name: 'bbb', formerly: [located(mapper('bbb', true))] }],
        ]);
      const { look } = await startRegistry(t, [source], { known });
      source.tell({ a: mapper('aaa', true), b: mapper('bbb', true) });
      assert.deepEqual(summary(await look()), ['aaa@1! a', 'bbb@2 b']);
    });

    test('a newcomer that wants it is refused', async (t) => {
      const source = new ScriptedSource();
      const { look } = await startRegistry(t, [source]);
      source.tell({ b: mapper('bbb', true) });
      await look();
      source.tell({ a: mapper('aaa', true), b: mapper('bbb', true) });
      const set = await look();
      assert.deepEqual(summary(set), ['bbb@2 b']);
      assert.deepEqual(
        set.refused?.map(({ file }) => file),
        ['a'],
      );
    });

    test('a CRD is decided by the cluster, with a warning', async (t) => {
      const source = new ScriptedSource();
      const { look, findings } = await startRegistry(t, [source]);
      const options = { group: 'same.example.com' };
      source.tell({
        a: thingDefinition('aaa', '', options),
        b: thingDefinition('bbb', '', options),
      });
      const { definitions, refused } = await look();
      assert.deepEqual([definitions.length, refused], [2, []]);
      assert.deepEqual(
        findings.map(({ file, diagnostics }) => [file, diagnostics[0]?.severity]),
        [['b', 'warning']],
      );
    });
  });

  describe('after a restart with a broken text', () => {
    const origin = { source: 'configmap', ref: 'k' } as const;
    const onRecord = (name: string, at: KnownDefinition['origin'] = origin): KnownDefinition => ({
      name,
      origin: at,
      formerly: [located(good(name, 7))],
    });
    const known = (...all: readonly KnownDefinition[]) => ({
      known: () => new Map(all.map((each) => [each.name, each])),
    });

    for (const [what, text, expected] of [
      ['a mistake starts from the last good revision', bad('aaa'), ['aaa@7! k']],
      ['a syntax error starts all that stood there', garbled, ['aaa@7! k', 'bbb@7! k']],
      ['a name that is in no mistake and not in the text is gone', good('aaa'), ['aaa@1 k']],
      [
        'an unknown name with mistakes may be any of them',
        `${good('aaa')}---\n${bad('bbc')}`,
        ['aaa@1 k', 'bbb@7! k'],
      ],
      ['an empty text starts nothing', '', []],
    ] as const) {
      test(what, async (t) => {
        const source = new ScriptedSource();
        const elsewhere = onRecord('ccc', { source: 'configmap', ref: 'other' });
        const options = known(onRecord('aaa'), onRecord('bbb'), elsewhere);
        const { look } = await startRegistry(t, [source], options);
        source.tell({ k: text });
        assert.deepEqual(summary(await look()), expected);
      });
    }

    test('what was started from its record goes on when the record is gone, until the text is whole', async (t) => {
      const source = new ScriptedSource();
      const record = new Map([['aaa', onRecord('aaa')]]);
      const { look, registry } = await startRegistry(t, [source], { known: () => record });
      source.tell({ k: garbled });
      assert.deepEqual(summary(await look()), ['aaa@7! k']);
      record.clear();
      registry.refresh();
      assert.deepEqual(summary(await look()), ['aaa@7! k']);
      source.tell({ k: good('bbb') });
      assert.deepEqual(summary(await look()), ['bbb@1 k']);
    });

    test('what stands in a source that cannot be read is not started', async (t) => {
      const source = new ScriptedSource();
      const { look } = await startRegistry(t, [source], known(onRecord('aaa')));
      source.fail('unavailable');
      assert.deepEqual(summary(await look()), []);
    });
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
