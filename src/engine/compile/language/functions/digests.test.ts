import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { evaluate } from '../../../../../test/support/compile/test-scope.ts';

describe('compile/language/functions digests', () => {
  for (const name of ['sha256', 'sha1', 'md5']) {
    for (const text of ['', 'web', 'päss€\n', 'x'.repeat(10_000)]) {
      test(`$${name} of ${text.length} characters is that of other implementations`, async () => {
        const expected = createHash(name).update(text).digest('hex');
        assert.equal(await evaluate(`$${name}(spec.text)`, { spec: { text } }), expected);
      });
    }

    test(`$${name} takes strings only`, async () => {
      const root = { spec: { map: { a: 1 } } };
      assert.equal(await evaluate(`$${name}(spec.nothing)`, root), undefined);
      await assert.rejects(async () => evaluate(`$${name}(spec.map)`, root), {
        code: 'evaluation-failed',
      });
    });
  }
});
