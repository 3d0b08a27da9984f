import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { runAgainCalls } from '../../scripts/measure/calls.ts';
import { features, footprintOf, isOwnFile } from '../../scripts/measure/footprint.ts';
import { recordedCpu } from '../../scripts/measure/recorded-cpu.ts';
import { readSources } from '../../scripts/measure/source-size.ts';

describe('unit/footprint', () => {
  const sources = readSources('src');

  for (const feature of features) {
    test(`${feature.name}: no more files of the engine know it than before`, () => {
      const found = footprintOf(feature, sources);
      const { ceiling } = feature;
      assert.ok(
        found.length <= ceiling,
        `${found.length} files outside of its folder name the feature, ${ceiling} may. Register it at a seam instead:\n${found.join('\n')}`,
      );
      assert.equal(
        ceiling,
        found.length,
        `Lower the ceiling in scripts/measure/footprint.ts to ${found.length}`,
      );
      const own = sources.filter(({ path }) => isOwnFile(feature, path));
      assert.notEqual(own.length, 0, 'the folder of the feature has moved');
    });
  }

  test('code counts, and comments do not', () => {
    const [members] = features;
    assert.ok(members);
    const file = (path: string, text: string) => ({ path, text, lines: 1 });
    const found = footprintOf(members, [
      file('reconcile/a.ts', 'const members = 1;\n'),
      file('reconcile/b.ts', '/** The members. */\n  // members\n * members\nconst a = 1;\n'),
      file('reconcile/members/c.ts', 'const members = 1;\n'),
      file('console/d.ts', 'const members = 1;\n'),
    ]);
    assert.deepEqual(found, ['reconcile/a.ts']);
  });

  test('an edit of a plain PodSet executes no file of a feature', () => {
    const executed = JSON.parse(
      execFileSync(process.execPath, ['scripts/measure.ts', '--edit-path'], { encoding: 'utf8' }),
    ) as readonly string[];
    assert.ok(executed.includes('reconcile/run/run-pass.ts'), 'the profiler has seen the edit');
    const ofFeatures = executed.filter((path) => features.some((each) => isOwnFile(each, path)));
    assert.deepEqual(ofFeatures, []);
  });

  test('calls that enqueue and timers are counted, declarations and comments are not', () => {
    const text = `
      enqueue(key: string): void {
      }
      // clock.after(1, run)
      queue.enqueue(key);
      this.#enqueueAll();
      clock.after(1, () => enqueue(key));
    `;
    assert.deepEqual(runAgainCalls([{ path: 'runtime/a.ts', text, lines: 1 }]), {
      enqueues: 3,
      timers: 1,
    });
  });

  test('the recorded CPU of a resource is read from the page of results', () => {
    const page = `### W1

| peer | N | operatorCpu |
| --- | --- | --- |
| go | 100 | 0.10 (0.09 to 0.11) |
| homeostat | 100 | 0.25 (0.20 to 0.30) |
`;
    assert.deepEqual(recordedCpu(page), [['W1', 2.5]]);
  });
});
