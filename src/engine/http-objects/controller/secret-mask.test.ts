import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encodeBase64 } from '#util/base64.ts';
import { maskSecrets } from './secret-mask.ts';

describe('http-objects/controller mask', () => {
  for (const [title, text, values] of [
    ['a value that begins with another one', 'is pass1234-more', ['pass1234', 'pass1234-more']],
    ['Base64 of a value', `is ${encodeBase64('hunter2-hunter2')}`, ['hunter2-hunter2']],
    [
      'Base64 of a value with a line feed at the end',
      `is ${encodeBase64('hunter2-hunter2\n')}`,
      ['hunter2-hunter2\n'],
    ],
    ['a value in a form', 'is hunter2+%C3%A4%21', ['hunter2 ä!']],
  ] as const)
    test(`removes ${title}`, () => {
      assert.equal(maskSecrets(text, values), 'is …');
    });
});
