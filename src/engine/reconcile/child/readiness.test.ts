import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ChildPlan, Phase } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import type { ElementResult } from '../pass/pass.ts';
import { readinessOfElement } from './readiness.ts';

/** The readiness of a child, by the rules of its kind. */
function readinessOf(object: KubeObject, secrecy: ChildPlan['secrecy'] = 'none') {
  const plan = { hasReady: false, secrecy } as ChildPlan;
  const result = {
    plan,
    live: { object, cluster: undefined, appliedBy: [] },
  } as unknown as ElementResult;
  return readinessOfElement({} as Phase, result);
}

function unready(apiVersion: string, message: string): KubeObject {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'Unauthorized', message }];
  return { apiVersion, kind: 'Thing', metadata: { name: 'a' }, status: { conditions } };
}

const own = 'homeostat.dev/v1alpha1';

describe('reconcile/child readiness', () => {
  for (const [name, object, secrecy, message] of [
    [
      'has the message of a kind of the runtime',
      unready(own, 'It was answered with 401'),
      'none',
      'Ready is False (Unauthorized): It was answered with 401',
    ],
    ['has no empty message', unready(own, ''), 'none', 'Ready is False (Unauthorized)'],
    [
      'has no message of a kind of others, which may change all the time',
      unready('example.com/v1', 'It failed at 12:00'),
      'none',
      'Ready is False (Unauthorized)',
    ],
    [
      'has no message of a child whose manifest has values of Secrets',
      unready(own, 'GET /hunter2 was answered with 401'),
      'content',
      'Ready is False (Unauthorized)',
    ],
    [
      'has a bounded message without control characters',
      unready(own, `\u001b[1m${'x'.repeat(400)}`),
      'none',
      `Ready is False (Unauthorized): \ufffd[1m${'x'.repeat(146)}…${'x'.repeat(149)}`,
    ],
  ] as const)
    test(`a child that is not ready ${name}`, async () => {
      assert.deepEqual(await readinessOf(object, secrecy), { state: 'Progressing', message });
    });

  test('a child that is ready has no message of its condition', async () => {
    const conditions = [{ type: 'Ready', status: 'True', message: 'All is well' }];
    assert.deepEqual(await readinessOf({ ...unready(own, ''), status: { conditions } }), {
      state: 'Ready',
      message: 'Ready',
    });
  });
});
