import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, type KubeErrorCode } from '#kube/roles.ts';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { builtInType } from '../../../test/support/builtin-type.ts';
import { problemOfRender, problemOfRequest, problemOfWaiting } from './failure.ts';
import { type Disclosure, publicContent } from './secrecy.ts';

const causes = [
  { reason: 'FieldValueInvalid', field: 'spec.size', message: 'Invalid value: "s3cret"' },
];

const secret: Disclosure = { secrecy: 'content', type: builtInType('apps/v1', 'Deployment') };
const named: Disclosure = { ...secret, secrecy: 'all' };

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
      const problem = problemOfRequest(error, { about: publicContent });
      assert.deepEqual([problem.reason, problem.kind], [reason, kind]);
      assert.equal(problem.error, kind === 'temporary' ? error : undefined);
    });
  }

  for (const [about, message] of [
    [publicContent, 'The API server returned an internal error: etcdserver: leader changed'],
    [secret, 'The API server returned an internal error: InternalError'],
  ] as const)
    test(`an internal error is reported with the words of the server (secrecy: ${about.secrecy})`, () => {
      const options = { status: 500, reason: 'InternalError' };
      const error = new KubeError('server-error', 'etcdserver: leader changed', options);
      assert.equal(problemOfRequest(error, { about }).message, message);
    });

  for (const [code, reason] of [
    ['namespace-terminating', 'Terminating'],
    ['quota-exceeded', 'ApplyFailed'],
  ] as const) {
    test(`${code} is ${reason}, and tried again with long delays`, () => {
      const error = new KubeError(code, 'what the server said', { status: 403 });
      const problem = problemOfRequest(error, { about: publicContent });
      assert.deepEqual(
        [problem.reason, problem.kind, problem.slowRetry, problem.error],
        [reason, 'temporary', { baseDelayMs: 5_000, maxDelayMs: 300_000 }, undefined],
      );
    });
  }

  for (const [right, text] of [
    [
      { verb: 'create', group: 'apps', resource: 'deployments', namespace: 'team', name: 'web' },
      'The runtime is not allowed to create deployments.apps in namespace "team"; grant the rule { apiGroups: ["apps"], resources: ["deployments"], verbs: ["create", "patch"] }',
    ],
    [
      { verb: 'list', group: '', resource: 'secrets' },
      'The runtime is not allowed to list secrets at the cluster scope; grant the rule { apiGroups: [""], resources: ["secrets"], verbs: ["list", "watch"] }',
    ],
    [
      { verb: 'patch', group: 'a.b', resource: 'things', subresource: 'status', namespace: 'x' },
      'The runtime is not allowed to patch things/status.a.b in namespace "x"; grant the rule { apiGroups: ["a.b"], resources: ["things/status"], verbs: ["patch"] }',
    ],
  ] as const) {
    test(`a missing right is reported with the rule that would give it: ${right.verb}`, () => {
      const error = new KubeError('forbidden', 'User "x" cannot', { status: 403, right });
      for (const about of [publicContent, secret]) {
        const problem = problemOfRequest(error, { about });
        assert.equal(problem.message, text);
        assert.equal(problem.right, right);
      }
    });
  }

  test('where the namespace may come from a Secret, a missing right is reported without it, in the log too', () => {
    const right = { verb: 'create', group: '', resource: 'configmaps', namespace: 's3cret' };
    const error = new KubeError('forbidden', 'User "x" cannot', { status: 403, right });
    const problem = problemOfRequest(error, { about: named });
    assert.match(
      problem.message,
      /^The runtime is not allowed to create configmaps in its namespace; /,
    );
    assert.deepEqual(problem.right, { ...right, isPrivate: true });
  });

  test('of a name that the definition writes the right on that one alone is asked for', () => {
    const right = { verb: 'list', group: '', resource: 'secrets', namespace: 'x', name: 'a' };
    const error = new KubeError('forbidden', 'User "x" cannot', { status: 403, right });
    const { message } = problemOfRequest(error, { about: publicContent, literalName: 'a' });
    assert.equal(
      message,
      'The runtime is not allowed to list secrets in namespace "x"; grant the rule { apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["list", "watch"] }',
    );
    const computed = problemOfRequest(error, { about: publicContent });
    assert.doesNotMatch(computed.message, /resourceNames|"a"/);
  });

  describe('of a field that cannot be changed', () => {
    const immutable = (field: string, message: string, detail: string) =>
      new KubeError('rejected', 'is invalid', {
        status: 422,
        causes: [{ reason: 'FieldValueInvalid', field, message, isImmutable: true, detail }],
      });
    const selector = immutable(
      'spec.selector',
      'Invalid value: {"a":"s3cret"}: field is immutable',
      'field is immutable',
    );

    test('the words of the server are quoted without the value, and the change is to be reverted', () => {
      assert.equal(
        problemOfRequest(selector, { about: publicContent }).message,
        'spec.selector: field is immutable; revert the change',
      );
    });

    test('the remedy of the caller follows', () => {
      const { message } = problemOfRequest(selector, {
        about: publicContent,
        immutableRemedy: 'do this',
      });
      assert.equal(message, 'spec.selector: field is immutable; do this');
    });

    test('a long text of the server does not cut the remedy off', () => {
      const { message } = problemOfRequest(immutable('spec', 'x', 'is long '.repeat(100)), {
        about: publicContent,
      });
      assert.match(message, /…; revert the change$/);
      assert.ok(message.length <= 512, message);
    });

    test('where a Secret is used, only the field is reported', () => {
      assert.equal(
        problemOfRequest(selector, { about: secret }).message,
        'spec.selector cannot be changed on an existing object; revert the change',
      );
    });
  });

  describe('of an object that a request needs besides its own', () => {
    const missing = (group: string, resource: string, gvk?: Gvk, namespace?: string) =>
      new KubeError('not-found', 'not found', {
        status: 404,
        missing: {
          group,
          resource,
          name: 'team',
          ...(gvk && { gvk }),
          ...(namespace !== undefined && { namespace }),
        },
      });
    const noNamespace = missing('', 'namespaces', gvkOf('v1', 'Namespace'));
    const noRole = missing(
      'rbac.authorization.k8s.io',
      'roles',
      gvkOf('rbac.authorization.k8s.io/v1', 'Role'),
      'x',
    );

    test('the namespace is named and watched', () => {
      const problem = problemOfRequest(noNamespace, { about: publicContent, namespace: 'team' });
      assert.deepEqual(problem, {
        reason: 'ApplyFailed',
        message: 'Namespace "team" does not exist',
        code: 'not-found',
        kind: 'temporary',
        missing: { gvk: { ...gvkOf('v1', 'Namespace'), cluster: undefined }, name: 'team' },
      });
    });

    test('a Role is named and watched, with the place of the child', () => {
      const problem = problemOfRequest(noRole, {
        about: publicContent,
        namespace: 'x',
        place: 'a.yaml:1:2',
      });
      assert.equal(problem.message, 'Role "team" does not exist (a.yaml:1:2)');
      assert.deepEqual(problem.missing, {
        gvk: { ...gvkOf('rbac.authorization.k8s.io/v1', 'Role'), cluster: undefined },
        namespace: 'x',
        name: 'team',
      });
    });

    test('a namespace in a member cluster is named with the cluster and the remedy', () => {
      const gvk = { ...gvkOf('v1', 'ConfigMap'), cluster: 'paris' };
      const { message } = problemOfRequest(noNamespace, {
        about: publicContent,
        gvk,
        namespace: 'team',
      });
      assert.equal(
        message,
        'Namespace "team" does not exist in cluster "paris"; create it, or set "metadata.namespace"',
      );
    });

    test('an object of a kind that the cluster does not serve is named, and the request is repeated', () => {
      const problem = problemOfRequest(missing('a.b', 'things'), { about: publicContent });
      assert.equal(problem.message, 'things.a.b "team" does not exist');
      assert.equal(problem.missing, undefined);
      assert.notEqual(problem.cause, undefined);
    });

    for (const [error, about, text] of [
      [noNamespace, secret, 'Namespace "team" does not exist'],
      [noNamespace, named, 'Its Namespace does not exist'],
      [noRole, secret, 'A Role does not exist'],
    ] as const) {
      test(`names that may come from a Secret are not reported: ${text}`, () => {
        const problem = problemOfRequest(error, { about, namespace: 'team' });
        assert.equal(problem.message, text);
        assert.equal(problem.missing?.isPrivate, text.includes('team') ? undefined : true);
      });
    }
  });

  test('rejections with the same text have the same cause only in one namespace', () => {
    const of = (denial: string, namespace: string) =>
      problemOfRequest(new KubeError('denied', 'x', { status: 403, denial }), {
        about: publicContent,
        namespace,
      }).cause;
    assert.equal(of('may not grant', 'a'), of('may not grant', 'a'));
    assert.notEqual(of('may not grant', 'a'), of('may not grant', 'b'));
    assert.notEqual(of('may not grant', 'a'), of('is too weak', 'a'));
  });

  test('a 403 with a retry hint is temporary', () => {
    const error = new KubeError('forbidden', 'not now', { status: 403, retryAfterSeconds: 1 });
    assert.equal(problemOfRequest(error, { about: publicContent }).kind, 'temporary');
  });

  test('the words for what is unavailable hold no address', () => {
    const error = new KubeError('unavailable', 'connect ECONNREFUSED 10.0.0.1:6443', { status: 0 });
    assert.equal(
      problemOfRequest(error, { about: publicContent }).message,
      'The API server is unavailable',
    );
  });

  test('fields and reasons of a rejection are reported', () => {
    const error = new KubeError('rejected', 'PodSet is invalid', { status: 422, causes });
    assert.equal(
      problemOfRequest(error, { about: publicContent }).message,
      'spec.size: Invalid value: "s3cret"',
    );
  });

  test('where a Secret is used, only reason and fields are', () => {
    const error = new KubeError('rejected', 'Invalid value: "s3cret"', {
      status: 422,
      reason: 'Invalid',
      causes,
    });
    assert.equal(problemOfRequest(error, { about: secret }).message, 'Invalid: spec');
  });

  test('where a Secret is used, of fields only what the schema names is reported', () => {
    const error = new KubeError('rejected', 'Invalid value: "s3cret"', {
      status: 422,
      reason: 'Invalid',
      causes: [
        'data[s3cret]',
        '.data.s3cret',
        'spec.template.spec.containers[0].image',
        '.spec.template.spec.containers[name="s3cret"].image',
        '.spec.s3cret',
        '[s3cret]',
        's3cret',
        'metadata.labels.s3cret',
      ].map((field) => ({
        reason: 'FieldValueInvalid',
        message: 'a valid key',
        field,
      })),
    });
    assert.equal(
      problemOfRequest(error, { about: secret }).message,
      'Invalid: data, spec.template.spec.containers[0].image, spec.template.spec.containers, spec, metadata.labels',
    );
    const unknown: Disclosure = { secrecy: 'content' };
    assert.equal(
      problemOfRequest(error, { about: unknown }).message,
      'Invalid: data, spec, metadata.labels',
    );
    assert.match(problemOfRequest(error, { about: publicContent }).message, /^data\[s3cret\]: /);
  });

  test('where a Secret is used, a reason that only a webhook can have given is not reported', () => {
    const error = new KubeError('denied', 's3cret', { status: 403, reason: 's3cret is weak' });
    assert.equal(problemOfRequest(error, { about: secret }).message, 'denied');
  });

  for (const about of [publicContent, secret]) {
    test(`of what the server says, 512 characters are reported at most (secrecy: ${about.secrecy})`, () => {
      const error = new KubeError('rejected', 'is invalid', {
        status: 422,
        reason: 'Invalid',
        causes: Array.from({ length: 200 }, (_, index) => ({
          reason: 'FieldValueInvalid',
          message: 'must not be empty',
          field: `spec.template.spec.containers[${index}].image`,
        })),
      });
      const { message } = problemOfRequest(error, { about });
      assert.ok(message.length <= 512 && message.length > 480, message);
      assert.match(message, / \S+…$/);
    });
  }

  test('a message without fields is cut too', () => {
    const error = new KubeError('forbidden', `denied: ${'x'.repeat(2000)}`, { status: 403 });
    const { message } = problemOfRequest(error, { about: publicContent });
    assert.deepEqual([message.length, message.at(-1)], [512, '…']);
  });

  test('a limit has a reason of its own', () => {
    const failure = {
      message: 'Expected at most 262144 bytes',
      field: 'data.text',
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

  test('what is waited for is reported once, in a stable order', () => {
    const problem = problemOfWaiting(['reads.b', 'children.a', 'reads.b']);
    assert.equal(problem.message, 'Waiting for children.a, reads.b');
    assert.deepEqual(problem.waitingFor, ['children.a', 'reads.b']);
  });
});
