import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPathSteps, defaultPathText } from './admission-path.ts';

describe('definition/admission-path', () => {
  for (const [path, steps] of [
    ['spec', ['spec']],
    ['spec.image', ['spec', 'image']],
    ['spec.my-field', ['spec', 'my-field']],
    ["metadata.labels['example.com/tier']", ['metadata', 'labels', 'example.com/tier']],
    ['spec.options["a.b"].c', ['spec', 'options', 'a.b', 'c']],
  ] as const)
    test(`${path} leads to ${steps.join(' > ')}`, () => {
      assert.deepEqual(defaultPathSteps(path), steps);
      assert.deepEqual(defaultPathSteps(defaultPathText(steps)), steps);
    });

  for (const path of [
    '',
    '.spec',
    'spec.',
    'spec..a',
    'spec[0]',
    'spec[]',
    "spec.['a']",
    "['a']",
    'a b',
    "a['b\nc']",
    "a['b\u0007']",
  ])
    test(`"${path}" is no path`, () => {
      assert.equal(defaultPathSteps(path), undefined);
    });
});
