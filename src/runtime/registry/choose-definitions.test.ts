import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { thingDefinition } from '../../../test/support/definitions.ts';
import {
  bad,
  garbled,
  good,
  located,
  startRegistry,
  summary,
} from '../../../test/support/fakes/registry-world.ts';
import { ScriptedSource } from '../../../test/support/fakes/scripted-source.ts';
import type { KnownDefinition } from './known-definition.ts';

describe('runtime/registry', () => {
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

    test('goes on as it ran in a text with a mistake that takes the place of another one', async (t) => {
      const source = new ScriptedSource();
      const { look, sets, findings } = await startRegistry(t, [source]);
      const broken = { text: bad('aaa'), sinceMs: 2 };
      source.tell({ old: older, new: broken });
      assert.deepEqual(summary(await look()), ['aaa@1 old']);
      const codes = findings.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code));
      assert.deepEqual(codes, ['unknown-field'], 'it has no claim beside another one');
      source.tell({ new: broken, newest: { text: bad('aaa'), sinceMs: 3 } });
      assert.deepEqual(summary(await look()), ['aaa@1! new']);
      source.tell({ newest: { text: garbled, sinceMs: 3 } });
      assert.deepEqual(summary(await look()), ['aaa@1! newest']);
      assert.ok(sets.every(({ definitions }) => definitions.length === 1));
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
});
