import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { asCreateError, errorFromResponse, errorFromStatus, errorFromTransport } from './errors.ts';
import type { KubeError } from './kube-error.ts';

/** As kube-apiserver 1.36 sends it. */
function status(code: number, fields: Record<string, unknown>): Record<string, unknown> {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, ...fields };
}

const uid = 'b0d0d0d0-0000-0000-0000-000000000000';
const modified =
  'the object has been modified; please apply your changes to the latest version and try again';

const answers = [
  [
    'not-found',
    'an object is not there',
    status(404, {
      message: 'configmaps "a" not found',
      reason: 'NotFound',
      details: { name: 'a', kind: 'configmaps' },
    }),
  ],
  [
    'kind-missing',
    'a resource is not served in its group',
    status(404, {
      message: 'the server could not find the requested resource',
      reason: 'NotFound',
      details: {},
    }),
  ],
  ['kind-missing', 'a group is not served', '404 page not found\n', 404],
  [
    'unavailable',
    'a server that has just started has not read its namespaces',
    status(403, {
      message: 'events.events.k8s.io "a" is forbidden: not yet ready to handle request',
      reason: 'Forbidden',
      details: { name: 'a', group: 'events.k8s.io', kind: 'events' },
    }),
  ],
  [
    'already-exists',
    'a POST of what is there',
    status(409, {
      message: 'configmaps "a" already exists',
      reason: 'AlreadyExists',
      details: { name: 'a', kind: 'configmaps' },
    }),
  ],
  [
    'conflict',
    'another version than the expected',
    status(409, {
      message: `Operation cannot be fulfilled on configmaps "a": ${modified}`,
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
    }),
  ],
  [
    'field-conflict',
    'a field belongs to another manager',
    status(409, {
      message: 'Apply failed with 1 conflict: conflict with "x": .data.a',
      reason: 'Conflict',
      details: {
        causes: [
          { reason: 'FieldManagerConflict', message: 'conflict with "x"', field: '.data.a' },
        ],
      },
    }),
  ],
  [
    'uid-mismatch',
    'an apply insists on an object that is gone',
    status(409, {
      message: `Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
      reason: 'Conflict',
      details: { name: 'a', kind: 'configmaps' },
    }),
  ],
  [
    'uid-mismatch',
    'an apply insists on an object that was recreated',
    status(422, {
      message: `ConfigMap "a" is invalid: metadata.uid: Invalid value: "${uid}": field is immutable`,
      reason: 'Invalid',
      details: {
        name: 'a',
        kind: 'ConfigMap',
        causes: [
          { reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid' },
        ],
      },
    }),
  ],
  [
    'uid-mismatch',
    'a delete insists on another object',
    status(409, {
      message: `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (${uid}) does not match the UID in record (5ed88923-610b-4039-bb4b-a5c8a06fb067). The object might have been deleted and then recreated`,
      reason: 'Conflict',
      details: { name: 'a', kind: 'ConfigMap' },
    }),
  ],
  [
    'forbidden',
    'a right is missing',
    status(403, {
      message:
        'configmaps "a" is forbidden: User "nobody" cannot get resource "configmaps" in API group "" in the namespace "default"',
      reason: 'Forbidden',
      details: { name: 'a', kind: 'configmaps' },
    }),
  ],
  [
    'denied',
    'a plugin rejects',
    status(403, {
      message:
        'pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      reason: 'Forbidden',
      details: { name: 'a', kind: 'pods' },
    }),
  ],
  [
    'denied',
    'a policy rejects with its default status',
    status(422, {
      message:
        "deployments.apps \"web\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'all' denied request: too large",
      reason: 'Invalid',
      details: { name: 'web', kind: 'deployments' },
    }),
  ],
  [
    'denied',
    'a webhook rejects with 404, without the name of an object',
    status(404, { message: 'admission webhook "a.example.com" denied the request: no' }),
  ],
  ['forbidden', 'a proxy rejects in words of its own', '<html>Forbidden</html>', 403],
  [
    'namespace-terminating',
    'its namespace is being deleted',
    status(403, {
      message:
        'configmaps "a" is forbidden: unable to create new content in namespace term because it is being terminated',
      reason: 'Forbidden',
      details: {
        name: 'a',
        kind: 'configmaps',
        causes: [{ reason: 'NamespaceTerminating', message: 'x', field: 'metadata.namespace' }],
      },
    }),
  ],
  [
    'quota-exceeded',
    'a quota is used up',
    status(403, {
      message:
        'secrets "s" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0',
      reason: 'Forbidden',
      details: { name: 's', kind: 'secrets' },
    }),
  ],
  ['unauthorized', 'an unknown token', status(401, { message: 'Unauthorized' })],
  [
    'gone',
    'a version is too old',
    status(410, { message: 'The provided continue parameter is too old', reason: 'Expired' }),
  ],
  ['too-many-requests', 'there are too many', status(429, { message: 'Too many requests' })],
  ['unavailable', 'the server is overloaded', status(503, { message: 'x' })],
  ['unavailable', 'a proxy finds no server', '<html>Bad Gateway</html>', 502],
  [
    'rejected',
    'a value is invalid',
    status(422, {
      message: 'Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1',
      reason: 'Invalid',
      details: {
        causes: [{ reason: 'FieldValueInvalid', message: 'x', field: 'spec.replicas' }],
      },
    }),
  ],
  [
    'rejected',
    'a body makes no sense',
    status(400, { message: 'invalid object type', reason: 'BadRequest' }),
  ],
  [
    'rejected',
    'an apply has a field that the schema does not know',
    status(500, {
      message:
        'failed to create typed patch object (default/d; apps/v1, Kind=Deployment): .spec.replcas: field not declared in schema',
    }),
  ],
  [
    'webhook-failed',
    'a webhook does not answer',
    status(500, {
      message:
        'Internal error occurred: failed calling webhook "a.example.com": failed to call webhook: Post "https://10.0.0.1:443/?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused',
      reason: 'InternalError',
    }),
  ],
  [
    'webhook-failed',
    'a conversion webhook does not answer',
    status(500, {
      message:
        'conversion webhook for a.example.com/v1, Kind=Thing failed: Post "https://10.0.0.1:443/?timeout=30s": dial tcp 10.0.0.1:443: connect: connection refused',
    }),
  ],
  [
    'server-error',
    'anything else fails inside the server',
    status(500, { message: 'etcdserver: leader changed', reason: 'InternalError' }),
  ],
  [
    'server-error',
    'the fields of an object have a version that its kind does not have',
    status(500, { message: 'request to convert CR to an invalid group/version: a.io/v1alpha1' }),
  ],
  [
    'too-large',
    'a body is above the limit',
    status(413, { message: 'Request entity too large: limit is 3145728' }),
  ],
  ['unexpected', 'a method is not allowed', status(405, { reason: 'MethodNotAllowed' })],
  ['unexpected', 'the answer is a redirection', '', 301],
] as const;

describe('kube/errors', () => {
  for (const [version, message] of [
    ['a.io/v1alpha1', 'request to convert CR to an invalid group/version: a.io/v1alpha1'],
    ['b.io/v1', 'a.io/v1, Kind=A is unstructured and is not suitable for converting to "b.io/v1"'],
    [undefined, 'request to convert CR from an invalid group/version: a.io/v1alpha1'],
    [undefined, 'etcdserver: leader changed'],
  ] as const)
    test(`names ${version ?? 'no version'} as the unknown version of fields for "${message}"`, () => {
      const found = errorFromResponse({ status: 500, body: status(500, { message }) });
      assert.equal(found.unknownFieldVersion, version);
    });

  for (const [code, when, body, http] of answers) {
    test(`is "${code}" when ${when}`, () => {
      const found = errorFromResponse({
        status: http ?? Number((body as { code: number }).code),
        body,
      });
      assert.equal(found.code, code);
    });
  }

  test('reads what is wrong from the one message in which an apply reports it', () => {
    const message =
      'failed to create typed patch object (default/d; apps/v1, Kind=Deployment): errors:\n  .spec.a: expected string, got &{x}\n  .spec.b[name="c"].d: field not declared in schema';
    const { causes } = errorFromResponse({ status: 500, body: status(500, { message }) });
    assert.deepEqual(causes, [
      { reason: 'FieldValueInvalid', message: 'expected string, got &{x}', field: '.spec.a' },
      {
        reason: 'FieldValueInvalid',
        message: 'field not declared in schema',
        field: '.spec.b[name="c"].d',
      },
    ]);
  });

  for (const [message, name, right] of [
    [
      'deployments.apps "web" is forbidden: User "x" cannot create resource "deployments" in API group "apps" in the namespace "team"',
      'web',
      { verb: 'create', group: 'apps', resource: 'deployments', namespace: 'team', name: 'web' },
    ],
    [
      'things.example.com "a" is forbidden: User "system:serviceaccount:ns:name" cannot patch resource "things/status" in API group "example.com" in the namespace "team": RBAC: role.rbac.authorization.k8s.io "x" not found',
      'a',
      {
        verb: 'patch',
        group: 'example.com',
        resource: 'things',
        subresource: 'status',
        namespace: 'team',
        name: 'a',
      },
    ],
    [
      'secrets is forbidden: User "x" cannot list resource "secrets" in API group "" at the cluster scope',
      undefined,
      { verb: 'list', group: '', resource: 'secrets' },
    ],
  ] as const) {
    test(`reads the right that is missing: ${right.verb} ${right.resource}`, () => {
      const body = status(403, { message, reason: 'Forbidden', details: { name } });
      const found = errorFromResponse({ status: 403, body });
      assert.equal(found.code, 'forbidden');
      assert.deepEqual(found.right, right);
    });
  }

  test('a rejection has the same words each time', () => {
    const rejection = (id: string, at: string, pointer: string) => {
      const message = `admission webhook "a.b" denied the request: at ${at} (id ${id}) for ${pointer}, 3 of 5`;
      return errorFromResponse({ status: 400, body: status(400, { message }) }).message;
    };
    const first = rejection(uid, '2026-01-02T03:04:05.678Z', '0xc0087f4f28');
    assert.equal(first, 'admission webhook "a.b" denied the request: at … (id …) for …, 3 of 5');
    const second = 'b0d0d0d0-0000-0000-0000-00000000000f';
    assert.equal(rejection(second, '2027-01-02T03:04:05Z', '0xc000000001'), first);
  });

  test('of a webhook that does not answer only the name is reported', () => {
    const message = 'failed calling webhook "a.b": Post "https://10.0.0.1:443": EOF';
    const found = errorFromResponse({ status: 500, body: status(500, { message }) });
    assert.equal(found.message, 'The API server could not call the admission webhook "a.b"');
    assert.equal(found.isPermanent, false);
  });

  for (const [why, message] of [
    [
      'failed: Post "https://10.0.0.1:443/": read tcp 10.0.0.7:51234->10.0.0.1:443: read: connection reset by peer',
      'Post "https://10.0.0.1:443/": read tcp 10.0.0.1:443: read: connection reset by peer',
    ],
    ['failed: no such field', 'no such field'],
    ['returned 2 objects, expected 1', 'returned 2 objects, expected 1'],
    ['failed, no objects returned', 'no objects returned'],
  ] as const)
    test(`a conversion webhook that ${why.slice(0, 24)}... is quoted in stable words`, () => {
      const words = `Internal error occurred: conversion webhook for a.example.com/v1, Kind=Thing ${why}`;
      const found = errorFromResponse({ status: 500, body: status(500, { message: words }) });
      assert.equal(
        found.message,
        `The conversion webhook of Thing failed for a.example.com/v1: ${message}`,
      );
      assert.equal(found.isPermanent, false);
    });

  for (const [message, isConversion] of [
    ['conversion webhook for a.example.com/v1, Kind=Thing failed: EOF', true],
    ['failed calling webhook "a.b": Post "https://10.0.0.1:443": EOF', false],
    [
      'Internal error occurred: failed calling webhook "a.b": failed to call webhook: conversion webhook for a.example.com/v1, Kind=Thing failed: EOF',
      false,
    ],
  ] as const)
    test(`whether a conversion failed: ${message.slice(0, 40)}`, () => {
      const found = errorFromResponse({ status: 500, body: status(500, { message }) });
      assert.deepEqual([found.code, found.isConversion], ['webhook-failed', isConversion]);
    });

  test('a value of a wrong type is reported without the addresses that the server may print', () => {
    const message =
      'failed to create typed patch object (default/d; apps/v1, Kind=Deployment): .spec.a: expected string, got &value{0xc0001234}';
    const found = errorFromResponse({ status: 500, body: status(500, { message }) });
    assert.equal(found.causes[0]?.message, 'expected string, got &value{…}');
  });

  test('what others use of a quota is not reported', () => {
    const rejection = (used: string) => {
      const message = `pods "a" is forbidden: exceeded quota: q, requested: pods=1,cpu=2, used: ${used}, limited: pods=5,cpu=9`;
      return errorFromResponse({ status: 403, body: status(403, { message }) });
    };
    assert.equal(rejection('pods=5,cpu=8').code, 'quota-exceeded');
    assert.equal(rejection('pods=5,cpu=8').message, rejection('pods=4,cpu=9').message);
    assert.match(
      rejection('pods=5,cpu=8').message,
      /requested: pods=1,cpu=2, limited: pods=5,cpu=9/,
    );
  });

  for (const message of [
    'Invalid value: {"matchLabels":{"a":"b"}}: field is immutable',
    'Invalid value: ["10.0.0.1"]: may not change once set',
    "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden",
    'Forbidden: pod updates may not change fields other than `spec.containers[*].image`',
    'Invalid value: "x": cannot change roleRef',
  ]) {
    test(`a field cannot be changed: ${message}`, () => {
      const causes = [
        { reason: 'FieldValueInvalid', message, field: 'spec.a' },
        { reason: 'FieldValueInvalid', message: 'Invalid value: -1', field: 'spec.b' },
      ];
      const body = status(422, { message: 'is invalid', reason: 'Invalid', details: { causes } });
      assert.deepEqual(errorFromResponse({ status: 422, body }).immutableFields, ['spec.a']);
    });
  }

  for (const [message, detail] of [
    ['Invalid value: {"matchLabels":{"a":"b: c"}}: field is immutable', 'field is immutable'],
    ['Invalid value: ["10.0.0.1"]: may not change once set', 'may not change once set'],
    [
      'Forbidden: field is immutable when `immutable` is set',
      'field is immutable when `immutable` is set',
    ],
    [
      'Forbidden: spec is immutable after creation except resources.requests for bound claims\n@@ -6,7 +6,7 @@\n-   "storage": "5Gi"\n+   "storage": "7Gi"\n',
      'spec is immutable after creation except resources.requests for bound claims',
    ],
    ['Invalid value: Value is immutable', 'Value is immutable'],
  ] as const) {
    test(`of a field that cannot be changed, neither value nor difference is reported: ${detail}`, () => {
      const causes = [{ reason: 'FieldValueForbidden', message, field: 'spec' }];
      const body = status(422, { message: 'is invalid', reason: 'Invalid', details: { causes } });
      assert.equal(errorFromResponse({ status: 422, body }).causes[0]?.detail, detail);
    });
  }

  for (const [message, denial] of [
    [
      'roles.rbac.authorization.k8s.io "r" is forbidden: user "x" (groups=["y"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      'user "x" (groups=["y"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
    ],
    [
      'clusterroles.rbac.authorization.k8s.io "agg" is forbidden: must have cluster-admin privileges to use the aggregationRule',
      'must have cluster-admin privileges to use the aggregationRule',
    ],
    [
      'pods "a" is forbidden: error looking up service account x/y',
      'error looking up service account x/y',
    ],
    ['admission webhook "a.b" denied the request: configmaps "a" is forbidden: no', undefined],
    [
      'configmaps "a" is forbidden: User "x" cannot create resource "configmaps" in API group "" in the namespace "a"',
      undefined,
    ],
  ] as const) {
    test(`a rejection has a text without the name of the object, unless it has a right or is not of the server itself: ${denial}`, () => {
      const body = status(403, { message, reason: 'Forbidden', details: { name: 'r' } });
      assert.equal(errorFromResponse({ status: 403, body }).denial, denial);
    });
  }

  test('a 404 names what does not exist', () => {
    const details = { name: 'x', group: 'a.b', kind: 'things' };
    const body = status(404, { message: 'things.a.b "x" not found', reason: 'NotFound', details });
    assert.deepEqual(errorFromResponse({ status: 404, body }).notFound, {
      group: 'a.b',
      resource: 'things',
      name: 'x',
    });
  });

  test('a conflict of managers names the manager', () => {
    const causes = [
      {
        reason: 'FieldManagerConflict',
        message: 'conflict with "kubectl-edit" using apps/v1 at 2026-01-02T03:04:05Z',
        field: '.spec.replicas',
      },
    ];
    const body = status(409, { message: 'Apply failed', reason: 'Conflict', details: { causes } });
    assert.equal(errorFromResponse({ status: 409, body }).causes[0]?.manager, 'kubectl-edit');
  });

  test("a plugin that has not heard of the owner's kind yet rejects for a while only", () => {
    const rejection = (why: string) => {
      const message = `configmaps "one" is forbidden: cannot set blockOwnerDeletion in this case because ${why}`;
      const body = status(403, { message, reason: 'Forbidden', details: { kind: 'configmaps' } });
      const { code, isPermanent } = errorFromResponse({ status: 403, body });
      return [code, isPermanent];
    };
    const unheard =
      'cannot find RESTMapping for APIVersion a.example.com/v1 Kind Thing: no matches';
    assert.deepEqual(rejection(unheard), ['denied', false]);
    assert.deepEqual(rejection('the right is missing'), ['denied', true]);
  });

  test('takes the pause from the header before that of the body', () => {
    const body = status(429, { details: { retryAfterSeconds: 7 } });
    assert.equal(errorFromResponse({ status: 429, body }).retryAfterSeconds, 7);
    assert.equal(errorFromResponse({ status: 429, body, retryAfter: '3' }).retryAfterSeconds, 3);
    assert.equal(errorFromResponse({ status: 429, body: '' }).retryAfterSeconds, undefined);
    const starting = status(403, {
      message: 'configmaps "a" is forbidden: not yet ready to handle request',
    });
    const { isUnreachable, retryAfterSeconds } = errorFromResponse({ status: 403, body: starting });
    assert.deepEqual([isUnreachable, retryAfterSeconds], [false, 1]);
  });

  test('cuts a long message at a whole character', () => {
    const { message } = errorFromResponse({
      status: 400,
      body: status(400, { message: '€'.repeat(900) }),
    });
    assert.equal(message, '€'.repeat(341));
  });

  test('a Status in a watch is read by its own code', () => {
    const found = errorFromStatus(
      status(410, { message: 'too old resource version', reason: 'Expired' }),
    );
    assert.deepEqual([found.code, found.status, found.reason], ['gone', 410, 'Expired']);
    assert.equal(errorFromStatus('nonsense').code, 'server-error');
  });

  test('only a conflict of a create is an object that exists', () => {
    const conflict = errorFromResponse({ status: 409, body: status(409, { reason: 'Conflict' }) });
    assert.equal((asCreateError(conflict) as KubeError).code, 'already-exists');
    const gone = errorFromResponse({ status: 410, body: '' });
    assert.equal(asCreateError(gone), gone);
  });

  for (const [code, cause, isWrite, wasSent] of [
    ['unavailable', 'ECONNREFUSED', true, false],
    ['unavailable', 'ENOTFOUND', true, false],
    ['unavailable', 'UND_ERR_CONNECT_TIMEOUT', true, false],
    ['unavailable', 'DEPTH_ZERO_SELF_SIGNED_CERT', true, false],
    ['unavailable', 'ECONNRESET', true, false],
    ['unavailable', 'ECONNRESET', false, true],
    ['connection-lost', 'ECONNRESET', true, true],
    ['connection-lost', 'UND_ERR_SOCKET', true, true],
    ['timeout', 'UND_ERR_HEADERS_TIMEOUT', true, true],
    ['aborted', 'UND_ERR_ABORTED', true, true],
    ['unexpected', 'HPE_INVALID_CONSTANT', false, true],
  ] as const) {
    const about = `${isWrite ? 'write' : 'read'} ${wasSent ? 'after' : 'before'} it was sent`;
    test(`${cause} of a ${about} is "${code}"`, () => {
      const error = Object.assign(new Error('x'), { code: cause });
      const found = errorFromTransport(error, { isWrite, wasSent });
      assert.deepEqual([found.code, found.status, found.cause], [code, 0, error]);
    });
  }

  test('the error of several addresses is that of the first', () => {
    const first = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const found = errorFromTransport(new AggregateError([first], 'All addresses failed'), {
      isWrite: false,
      wasSent: false,
    });
    assert.match(found.message, /ECONNREFUSED/);
  });
});
