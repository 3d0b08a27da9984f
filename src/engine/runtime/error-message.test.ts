import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type AccessRight, KubeError } from '#kube/roles.ts';
import { errorMessage } from './error-message.ts';

const without = (right: AccessRight) =>
  errorMessage(new KubeError('forbidden', 'forbidden', { status: 403, right }));

describe('runtime/error-message', () => {
  test('the rule for a CustomResourceDefinition has its name', () => {
    const group = 'apiextensions.k8s.io';
    const resource = 'customresourcedefinitions';
    assert.equal(
      without({ verb: 'patch', group, resource, name: 'dials.example.com' }),
      `The runtime is not allowed to patch ${resource}.${group} at the cluster scope; grant the rule { apiGroups: ["${group}"], resources: ["${resource}"], resourceNames: ["dials.example.com"], verbs: ["create", "patch"] }`,
    );
    assert.doesNotMatch(without({ verb: 'list', group, resource }), /resourceNames/);
  });

  test('names of other objects may be computed', () => {
    const right = { verb: 'patch', group: '', resource: 'secrets', namespace: 'a', name: 'b' };
    assert.doesNotMatch(without(right), /resourceNames/);
  });
});
