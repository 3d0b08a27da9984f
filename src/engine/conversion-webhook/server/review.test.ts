import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Converted } from '#conversion';
import { convertAll, parseReview, reviewResponse } from './review.ts';

const request = { uid: 'u1', desiredAPIVersion: 'example.com/v1', objects: [{ kind: 'Dial' }] };
const review = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request };

function conversion(convert: (name: unknown) => Converted) {
  return {
    converter: {
      convert: (object: Readonly<Record<string, unknown>>) =>
        convert((object.metadata as { name?: unknown } | undefined)?.name),
    },
    ...{ definition: 'dial', group: 'example.com', kind: 'Dial', versions: ['v1', 'v2'] },
  };
}

describe('conversion-webhook/review', () => {
  for (const [what, body, message] of [
    ['text', 'x', /as JSON/],
    ['another kind', JSON.stringify({ ...review, kind: 'Pod' }), /found "Pod"/],
    [
      'v1beta1',
      JSON.stringify({ ...review, apiVersion: 'apiextensions.k8s.io/v1beta1' }),
      /v1beta1/,
    ],
    ['no request', JSON.stringify({ ...review, request: 1 }), /Expected a request/],
    ['no uid', JSON.stringify({ ...review, request: { ...request, uid: 1 } }), /"uid"/],
    [
      'objects that are none',
      JSON.stringify({ ...review, request: { ...request, objects: [1] } }),
      /list of objects/,
    ],
  ] as const)
    test(`a body with ${what} is named`, () => {
      const found = parseReview(body);
      assert.ok(typeof found === 'string');
      assert.match(found, message);
    });

  test('integers keep their digits', () => {
    const body = JSON.stringify(review).replace('"kind":"Dial"', '"big":9007199254740993');
    const found = parseReview(body);
    assert.ok(typeof found !== 'string');
    const { objects } = found;
    assert.match(reviewResponse('u1', { result: 'converted', objects }), /9007199254740993/);
  });

  test('one object that cannot be converted is named, and no object is returned', () => {
    const objects = ['a', 'b'].map((name) => ({ metadata: { namespace: 'n', name } }));
    const result = convertAll(
      { uid: 'u1', desiredApiVersion: 'example.com/v1', objects },
      conversion((name) => (name === 'b' ? { problem: 'It does not fit' } : { object: {} })),
    );
    assert.deepEqual(result, { result: 'rejected', message: 'Dial "n/b": It does not fit' });
    assert.deepEqual(JSON.parse(reviewResponse('u1', result)).response, {
      uid: 'u1',
      result: { status: 'Failure', message: 'Dial "n/b": It does not fit' },
    });
  });

  for (const desiredApiVersion of ['example.com/v3', 'other.com/v1'])
    test(`${desiredApiVersion} is not a version of the kind`, () => {
      const found = convertAll(
        { uid: 'u1', desiredApiVersion, objects: [] },
        conversion(() => ({ object: {} })),
      );
      assert.equal(found.result, 'failed');
    });
});
