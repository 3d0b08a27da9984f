import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { preservedAnnotation } from '#util/stored-names.ts';
import { withoutUnusedPreserved } from './unused-preserved.ts';

const preserved = (version: string) =>
  JSON.stringify({ version, at: ['spec', 'a'], in: 1, value: 1 });
const annotations = {
  'preserved.homeostat.dev/1': preserved('v1alpha1'),
  'preserved.homeostat.dev/2': preserved('v1beta1'),
  'preserved.homeostat.dev/3': '{}',
  'example.com/note': preserved('v1alpha1'),
  [preservedAnnotation]: 'incomplete',
};

describe('runtime/crd/conversion/unused-preserved', () => {
  for (const [what, options, expected] of [
    ['values of a removed version', { removed: ['v1alpha1'], hasRules: true }, ['1']],
    ['nothing, while its version is there', { removed: ['v2'], hasRules: true }, undefined],
    ['every value, without rules', { removed: [], hasRules: false }, ['1', '2', '3']],
  ] as const)
    test(`removes ${what}`, () => {
      const keys = expected?.map((name) => [`preserved.homeostat.dev/${name}`, null]);
      assert.deepEqual(
        withoutUnusedPreserved(annotations, options),
        keys && Object.fromEntries(keys),
      );
    });

  test('an object without annotations is not changed', () => {
    assert.equal(
      withoutUnusedPreserved(undefined, { removed: ['v1'], hasRules: false }),
      undefined,
    );
  });
});
