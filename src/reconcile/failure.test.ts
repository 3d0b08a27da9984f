import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '../kube/roles.ts';
import { problemOfRender, problemOfRequest, problemOfWaiting } from './failure.ts';

const causes = [
  { reason: 'FieldValueInvalid', field: 'spec.size', message: 'Invalid value: "s3cret"' },
];

describe('reconcile/failure', () => {
  const rows: readonly (readonly [KubeErrorCode, string, string])[] = [
    ['rejected', 'ApplyFailed', 'permanent'],
    ['too-large', 'ApplyFailed', 'permanent'],
    ['forbidden', 'Forbidden', 'permanent'],
    ['denied', 'ApplyFailed', 'permanent'],
    ['unauthorized', 'Forbidden', 'temporary'],
    ['kind-missing', 'KindMissing', 'temporary'],
    ['conflict', 'ApplyFailed', 'temporary'],
    ['unavailable', 'ApplyFailed', 'temporary'],
    ['timeout', 'ApplyFailed', 'temporary'],
    ['connection-lost', 'ApplyFailed', 'temporary'],
  ];
  for (const [code, reason, kind] of rows) {
    test(`${code} is ${reason} and ${kind}`, () => {
      const error = new KubeError(code, 'what the server said', { status: 400 });
      const problem = problemOfRequest(error, { secret: false });
      assert.deepEqual([problem.reason, problem.kind], [reason, kind]);
      assert.equal(problem.error, kind === 'temporary' ? error : undefined);
    });
  }

  for (const [code, reason] of [
    ['namespace-terminating', 'Terminating'],
    ['quota-exceeded', 'ApplyFailed'],
  ] as const) {
    test(`${code} is ${reason}, and tried again with long delays`, () => {
      const error = new KubeError(code, 'what the server said', { status: 403 });
      const problem = problemOfRequest(error, { secret: false });
      assert.deepEqual(
        [problem.reason, problem.kind, problem.slow, problem.error],
        [reason, 'temporary', { firstMs: 5_000, mostMs: 300_000 }, undefined],
      );
    });
  }

  for (const [right, text] of [
    [
      { verb: 'create', group: 'apps', resource: 'deployments', namespace: 'team', name: 'web' },
      'The runtime may not create deployments.apps in namespace "team"; a role needs the rule { apiGroups: ["apps"], resources: ["deployments"], verbs: ["create", "patch"] }',
    ],
    [
      { verb: 'list', group: '', resource: 'secrets' },
      'The runtime may not list secrets at the cluster scope; a role needs the rule { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] }',
    ],
    [
      { verb: 'patch', group: 'a.b', resource: 'things', subresource: 'status', namespace: 'x' },
      'The runtime may not patch things/status.a.b in namespace "x"; a role needs the rule { apiGroups: ["a.b"], resources: ["things/status"], verbs: ["patch"] }',
    ],
  ] as const) {
    test(`a missing right is told with the rule that would give it: ${right.verb}`, () => {
      const error = new KubeError('forbidden', 'User "x" cannot', { status: 403, right });
      for (const secret of [false, true]) {
        const problem = problemOfRequest(error, { secret });
        assert.equal(problem.message, text);
        assert.equal(problem.right, right);
      }
    });
  }

  test('of a name that the definition writes the right on that one alone is asked for', () => {
    const right = { verb: 'list', group: '', resource: 'secrets', namespace: 'x', name: 'a' };
    const error = new KubeError('forbidden', 'User "x" cannot', { status: 403, right });
    const { message } = problemOfRequest(error, { secret: false, literalName: 'a' });
    assert.equal(
      message,
      'The runtime may not list secrets in namespace "x"; a role needs the rule { apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["list", "watch"] }',
    );
    const computed = problemOfRequest(error, { secret: false });
    assert.doesNotMatch(computed.message, /resourceNames|"a"/);
  });

  test('a field that cannot be changed is told with what to do, and without its value', () => {
    const error = new KubeError('rejected', 'is invalid', {
      status: 422,
      causes: [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.selector',
          message: 'Invalid value: {"a":"s3cret"}: field is immutable',
          isImmutable: true,
        },
      ],
    });
    for (const secret of [false, true]) {
      assert.equal(
        problemOfRequest(error, { secret }).message,
        'spec.selector cannot be changed in an object that exists: take the change back, or delete the object so that it is made anew',
      );
    }
  });

  test('a 403 with a retry hint is temporary', () => {
    const error = new KubeError('forbidden', 'not now', { status: 403, retryAfterSeconds: 1 });
    assert.equal(problemOfRequest(error, { secret: false }).kind, 'temporary');
  });

  test('the words for what is unavailable hold no address', () => {
    const error = new KubeError('unavailable', 'connect ECONNREFUSED 10.0.0.1:6443', { status: 0 });
    assert.equal(
      problemOfRequest(error, { secret: false }).message,
      'The API server is unavailable',
    );
  });

  test('fields and reasons of a refusal are told', () => {
    const error = new KubeError('rejected', 'PodSet is invalid', { status: 422, causes });
    assert.equal(
      problemOfRequest(error, { secret: false }).message,
      'spec.size: Invalid value: "s3cret"',
    );
  });

  test('where a Secret is used, only reason and fields are', () => {
    const error = new KubeError('rejected', 'Invalid value: "s3cret"', {
      status: 422,
      reason: 'Invalid',
      causes,
    });
    assert.equal(problemOfRequest(error, { secret: true }).message, 'Invalid: spec.size');
  });

  test('where a Secret is used, the keys in fields are not told', () => {
    const error = new KubeError('rejected', 'Invalid value: "s3cret"', {
      status: 422,
      reason: 'Invalid',
      causes: [
        'data[s3cret]',
        '.data.s3cret',
        'spec.hosts[0].name',
        'spec.hosts[1]',
        '[s3cret]',
        'metadata.labels.s3cret',
      ].map((field) => ({
        reason: 'FieldValueInvalid',
        message: 'a valid key',
        field,
      })),
    });
    assert.equal(
      problemOfRequest(error, { secret: true }).message,
      'Invalid: data, .data, spec.hosts, metadata.labels',
    );
    assert.match(problemOfRequest(error, { secret: false }).message, /^data\[s3cret\]: /);
  });

  for (const secret of [false, true]) {
    test(`of what the server says, 512 characters are told at most (secret: ${secret})`, () => {
      const error = new KubeError('rejected', 'is invalid', {
        status: 422,
        reason: 'Invalid',
        causes: Array.from({ length: 200 }, (_, index) => ({
          reason: 'FieldValueInvalid',
          message: 'must not be empty',
          field: `spec.field${index}`,
        })),
      });
      const { message } = problemOfRequest(error, { secret });
      assert.ok(message.length <= 512 && message.length > 480, message);
      assert.match(message, / \S+…$/);
    });
  }

  test('a message without fields is cut too', () => {
    const error = new KubeError('forbidden', `denied: ${'x'.repeat(2000)}`, { status: 403 });
    const { message } = problemOfRequest(error, { secret: false });
    assert.deepEqual([message.length, message.at(-1)], [512, '…']);
  });

  test('a limit has a reason of its own', () => {
    const failure = {
      message: 'Expected at most 262144 bytes',
      field: 'data.text',
      file: 'a.yaml',
      line: 1,
      column: 1,
    };
    assert.equal(problemOfRender({ ...failure, code: 'limit-reached' }).reason, 'LimitReached');
    assert.equal(problemOfRender({ ...failure, code: 'wrong-type' }).reason, 'RenderFailed');
    assert.equal(
      problemOfRender({ ...failure, code: 'wrong-type' }).message,
      'data.text: Expected at most 262144 bytes',
    );
    const named = { ...failure, message: 'Expected text at data.text, found "7"' };
    assert.equal(problemOfRender({ ...named, code: 'wrong-type' }).message, named.message);
  });

  test('what is waited for is told once, in a stable order', () => {
    const problem = problemOfWaiting(['reads.b', 'children.a', 'reads.b']);
    assert.equal(problem.message, 'Waiting for children.a, reads.b');
    assert.deepEqual(problem.on, ['children.a', 'reads.b']);
  });
});
