import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { RecordedApi } from '../../../../test/support/recorded-api.ts';
import type { WriteThrough } from '../cache/response-delivery.ts';
import type { ApiRequest } from '../client/api-client.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import { createWriter } from './writer.ts';

const never = new AbortController().signal;
const flow = { name: 'podset', priority: 'object' } as const;
const pass = { key: 'ns/a', definition: 'podset' };
const gvk = gvkOf('v1', 'ConfigMap');
const ref = { gvk, namespace: 'ns', name: 'a' };

function object(metadata: object = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'ns', ...metadata },
  };
}

function failing(code: KubeErrorCode): never {
  throw new KubeError(code, 'x', { status: 409 });
}

/** Every apply fails until the fields have another version. */
function unknownVersion(version: string): never {
  const message = `request to convert CR to an invalid group/version: ${version}`;
  throw new KubeError('server-error', message, { status: 500, unknownFieldVersion: version });
}

/** A writer, and what it reported to the cache beside what it sent to the server, in order. */
function setUp(answer: (request: ApiRequest) => { status: number; body?: unknown }) {
  const story: string[] = [];
  const sendings: string[] = [];
  const forgotten: string[] = [];
  const type = { gvk, plural: 'configmaps', namespaced: true, hasStatus: false, verbs: [] };
  const discovery = {
    resourceFor: () => undefined,
    withPlural: () => undefined,
    lookUp: async (wanted: Gvk) => (wanted.kind === 'ConfigMap' ? type : undefined),
    forget: (wanted: Gvk) => void forgotten.push(wanted.kind),
  };
  const cache: WriteThrough = {
    begin: (_gvk, namespace, name) => {
      story.push(`begin ${namespace}/${name}`);
      const by = (token: typeof pass | undefined) =>
        token === undefined ? '' : ` by ${token.key}`;
      return {
        sending: () => void sendings.push(`${namespace}/${name}`),
        store: (stored, token) => {
          story.push(`store ${stored.metadata.uid}${by(token)}`);
          return { object: stored, cluster: undefined, appliedBy: [] };
        },
        deleting: (uid, token) => story.push(`deleting ${uid}${by(token)}`),
        gone: (uid, token) => story.push(`gone ${uid}${by(token)}`),
        end: () => story.push('end'),
      };
    },
  };
  const api = new RecordedApi((request) => {
    story.push(request.method);
    return { body: undefined, ...answer(request) };
  });
  return { writer: createWriter({ api, discovery, cache }), story, sendings, api, forgotten };
}

const applied = { flow, pass, fieldManager: 'homeostat/podset', force: false } as const;

describe('kube/writer', () => {
  test('an apply is one PATCH, noted before it is queued and stored before it is answered', async () => {
    const { writer, story, api } = setUp(() => ({ status: 201, body: object({ uid: 'u' }) }));
    const result = await writer.apply(object(), applied, never);
    assert.equal(result.created, true);
    assert.deepEqual(story, ['begin ns/a', 'PATCH', 'store u by ns/a', 'end']);
    assert.deepEqual(api.requests, [
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/ns/configmaps/a',
        query: { fieldManager: 'homeostat/podset', force: 'false', fieldValidation: 'Ignore' },
        contentType: 'application/apply-patch+yaml',
        body: object(),
        flow,
      },
    ]);
  });

  test('every request tells the cache when its turn has come', async () => {
    const { writer, story, sendings } = setUp(() => ({ status: 200, body: object({ uid: 'u' }) }));
    await writer.get(ref, { flow }, never);
    await writer.apply(object(), applied, never);
    await writer.delete(ref, { flow, uid: 'u' }, never);
    assert.deepEqual(
      story.filter((line) => /^[A-Z]+$/.test(line)),
      ['GET', 'PATCH', 'DELETE'],
    );
    assert.deepEqual(sendings, ['ns/a', 'ns/a', 'ns/a']);
  });

  test('a status apply is sent to the subresource', async () => {
    const { writer, api } = setUp(() => ({ status: 200, body: object() }));
    await writer.apply(object(), { ...applied, force: true, subresource: 'status' }, never);
    assert.deepEqual(api.lines, ['PATCH /api/v1/namespaces/ns/configmaps/a/status']);
    assert.equal(api.requests[0]?.query?.force, 'true');
  });

  for (const [code, metadata, subresource, expected, gone] of [
    ['conflict', { resourceVersion: '1' }, undefined, 'already-exists', undefined],
    ['conflict', { resourceVersion: '5' }, undefined, 'conflict', undefined],
    ['uid-mismatch', { uid: 'u' }, undefined, 'uid-mismatch', 'gone u by ns/a'],
    ['not-found', { uid: 'u' }, 'status', 'not-found', 'gone u by ns/a'],
    ['not-found', { uid: 'u' }, undefined, 'not-found', undefined],
    ['unavailable', { uid: 'u' }, 'status', 'unavailable', undefined],
  ] as const) {
    const about = `${JSON.stringify(metadata)} ${subresource ?? ''}`;
    test(`"${code}" of an apply with ${about} is "${expected}" and puts into the cache ${gone ?? 'nothing'}`, async () => {
      const { writer, story } = setUp(() => failing(code));
      const options = { ...applied, ...(subresource ? { subresource } : {}) };
      await assert.rejects(writer.apply(object(metadata), options, never), { code: expected });
      assert.deepEqual(story, ['begin ns/a', 'PATCH', ...(gone ? [gone] : []), 'end']);
    });
  }

  test('an answer of another object than the one insisted on is reported', async () => {
    const { writer, story } = setUp(() => ({ status: 200, body: object({ uid: 'other' }) }));
    const apply = writer.apply(object({ uid: 'u' }), applied, never);
    await assert.rejects(apply, { code: 'uid-mismatch' });
    const reported = ['store other by ns/a', 'gone u by ns/a'];
    assert.deepEqual(story, ['begin ns/a', 'PATCH', ...reported, 'end']);
  });

  test('a delete insists on the object and says how to continue', async () => {
    const { writer, api } = setUp(() => ({ status: 200, body: { kind: 'Status' } }));
    await writer.delete(ref, { flow, uid: 'u' }, never);
    await writer.delete(ref, { flow, uid: 'u', propagation: 'Foreground' }, never);
    assert.deepEqual(
      api.requests.map(({ body }) => body),
      ['Background', 'Foreground'].map((propagationPolicy) => ({
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        preconditions: { uid: 'u' },
        propagationPolicy,
      })),
    );
  });

  for (const [what, answer, outcome, reported] of [
    ['a Status', () => ({ status: 200, body: { kind: 'Status' } }), 'deleted', 'deleting u'],
    [
      'an object that is held',
      () => ({ status: 200, body: object({ deletionTimestamp: 'now' }) }),
      'deleting',
      'deleting u',
    ],
    ['the object as it was', () => ({ status: 200, body: object() }), 'deleted', 'deleting u'],
    ['404', () => failing('not-found'), 'gone', 'gone u'],
  ] as const) {
    test(`a delete that is answered with ${what} is "${outcome}"`, async () => {
      const { writer, story } = setUp(answer);
      assert.equal(await writer.delete(ref, { flow, uid: 'u' }, never), outcome);
      assert.deepEqual(story, ['begin ns/a', 'DELETE', reported, 'end']);
    });
  }

  test('a delete of a successor says so, and that the one meant is gone', async () => {
    const { writer, story } = setUp(() => failing('uid-mismatch'));
    const work = writer.delete(ref, { flow, uid: 'u' }, never);
    await assert.rejects(work, { code: 'uid-mismatch' });
    assert.deepEqual(story, ['begin ns/a', 'DELETE', 'gone u', 'end']);
  });

  test('a get stores what it finds, and what it does not find is gone', async () => {
    const there = setUp(() => ({ status: 200, body: object({ uid: 'u' }) }));
    assert.equal((await there.writer.get(ref, { flow, pass }, never))?.object.metadata.uid, 'u');
    assert.deepEqual(there.story, ['begin ns/a', 'GET', 'store u by ns/a', 'end']);
    const gone = setUp(() => failing('not-found'));
    assert.equal(await gone.writer.get(ref, { flow }, never), undefined);
    assert.deepEqual(gone.story, ['begin ns/a', 'GET', 'gone undefined', 'end']);
  });

  test('other failures of a get and a delete are reported as they are', async () => {
    const { writer, story } = setUp(() => failing('forbidden'));
    await assert.rejects(writer.get(ref, { flow }, never), { code: 'forbidden' });
    await assert.rejects(writer.delete(ref, { flow, uid: 'u' }, never), { code: 'forbidden' });
    assert.deepEqual(story, ['begin ns/a', 'GET', 'end', 'begin ns/a', 'DELETE', 'end']);
  });

  test('a kind that is not served costs no request', async () => {
    const { writer, story } = setUp(() => assert.fail('Nothing is to be asked'));
    const other = { ...object(), kind: 'Nothing' };
    await assert.rejects(writer.apply(other, applied, never), { code: 'kind-missing' });
    assert.deepEqual(story, []);
  });

  test('a path that the server denies makes its kind be looked up again', async () => {
    const { writer, forgotten } = setUp(() => failing('kind-missing'));
    await assert.rejects(writer.get(ref, { flow }, never), { code: 'kind-missing' });
    assert.deepEqual(forgotten, ['ConfigMap']);
  });

  test('an answer that is no object is not stored', async () => {
    const { writer, story } = setUp(() => ({ status: 200, body: { kind: 'Status' } }));
    await assert.rejects(writer.apply(object(), applied, never), { code: 'unexpected' });
    assert.deepEqual(story, ['begin ns/a', 'PATCH', 'end']);
  });

  test('reports who manages which fields, of what the server answers again', async () => {
    const managedFields = [
      {
        manager: 'kubectl-edit',
        operation: 'Update',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      },
      {
        manager: 'homeostat/podset',
        operation: 'Apply',
        subresource: 'status',
        fieldsV1: { 'f:status': {} },
      },
      { manager: 'odd' },
    ];
    const { writer } = setUp(() => ({
      status: 200,
      body: object({ uid: 'u', resourceVersion: '7', managedFields }),
    }));
    assert.deepEqual(await writer.managedFields(ref, { flow, pass }, never), [
      { manager: 'kubectl-edit', operation: 'Update', fields: { 'f:data': { 'f:a': {} } } },
      {
        manager: 'homeostat/podset',
        operation: 'Apply',
        subresource: 'status',
        fields: { 'f:status': {} },
      },
    ]);
  });

  test('no one manages what is not there', async () => {
    const { writer } = setUp(() => failing('not-found'));
    assert.deepEqual(await writer.managedFields(ref, { flow }, never), []);
  });

  describe('where the server knows no apply that only creates', () => {
    const onlyNew = () => object({ resourceVersion: '1' });
    const rejections = [
      [
        'rejected',
        { status: 422, causes: [{ reason: '', message: '', field: 'metadata.resourceVersion' }] },
        'is invalid',
      ],
      ['rejected', { status: 400 }, 'resourceVersion must not be set on objects to be created'],
      ['server-error', { status: 500 }, 'cannot handle resourceVersion'],
    ] as const;
    for (const [code, options, message] of rejections) {
      test(`${options.status}: it is created by a POST, then applied, from then on`, async () => {
        const post = { manager: 'homeostat/podset', operation: 'Update' };
        const apply = { manager: 'homeostat/podset', operation: 'Apply' };
        const others = { manager: 'kubectl', operation: 'Update' };
        const status = { ...post, subresource: 'status' };
        const managedFields = [post, apply, others, status];
        const made = { status: 201, body: object({ uid: 'u' }) };
        const seen = {
          status: 200,
          body: object({ uid: 'u', resourceVersion: '7', managedFields }),
        };
        let answers = [
          () => {
            throw new KubeError(code, message, options);
          },
          () => made,
          () => seen,
          () => seen,
          () => seen,
        ];
        const { writer, api } = setUp(() => answers.shift()?.() ?? failing('unexpected'));
        const result = await writer.apply(onlyNew(), applied, never);
        assert.equal(result.created, true);
        assert.deepEqual(
          api.requests.map(({ method }) => method),
          ['PATCH', 'POST', 'PATCH', 'GET', 'PATCH'],
        );
        const [, created, again, , edit] = api.requests;
        assert.deepEqual(created?.body, object());
        assert.deepEqual(again?.body, object({ uid: 'u' }));
        assert.deepEqual(edit?.body, {
          metadata: { uid: 'u', resourceVersion: '7', managedFields: [apply, others, status] },
        });
        answers = [() => made, () => made, () => made];
        await writer.apply(onlyNew(), applied, never);
        assert.deepEqual(
          api.requests.slice(5).map(({ method }) => method),
          ['POST', 'PATCH', 'GET'],
        );
      });
    }

    test('what exists is left alone', async () => {
      const answers = [
        () => {
          throw new KubeError('rejected', 'resourceVersion', { status: 400 });
        },
        () => failing('conflict'),
      ];
      const { writer, api } = setUp(() => answers.shift()?.() ?? failing('unexpected'));
      await assert.rejects(writer.apply(onlyNew(), applied, never), { code: 'already-exists' });
      assert.deepEqual(
        api.requests.map(({ method }) => method),
        ['PATCH', 'POST'],
      );
    });

    test('a rejection for another reason is handed on', async () => {
      const { writer, api } = setUp(() => failing('rejected'));
      await assert.rejects(writer.apply(onlyNew(), applied, never), { code: 'rejected' });
      assert.equal(api.requests.length, 1);
    });
  });

  describe('an apply to an object with fields of an unknown version', () => {
    const fields = (apiVersion: string) => ({ manager: 'm', operation: 'Update', apiVersion });
    const stored = (...versions: readonly string[]) =>
      object({ uid: 'u', resourceVersion: '7', managedFields: versions.map(fields) });

    test('renames them and is sent again, for one version after the other', async () => {
      const failing = ['a/v1', 'b/v1'];
      const { writer, api } = setUp(({ method, contentType }) => {
        if (method === 'GET') return { status: 200, body: stored('a/v1', 'b/v1') };
        if (contentType?.includes('merge')) return { status: 200, body: stored('v1') };
        const version = failing.shift();
        return version === undefined
          ? { status: 200, body: stored('v1') }
          : unknownVersion(version);
      });
      await writer.apply(object({ uid: 'u' }), applied, never);
      assert.deepEqual(
        api.requests.map(({ method, contentType = '' }) => [method, contentType].join(' ').trim()),
        [
          'PATCH application/apply-patch+yaml',
          'GET',
          'PATCH application/merge-patch+json',
          'PATCH application/apply-patch+yaml',
          'GET',
          'PATCH application/merge-patch+json',
          'PATCH application/apply-patch+yaml',
        ],
      );
      assert.deepEqual(api.requests[2]?.body, {
        metadata: {
          managedFields: [fields('v1'), fields('b/v1')],
          uid: 'u',
          resourceVersion: '7',
        },
      });
    });

    test('fails with the words of the server if they cannot be renamed', async () => {
      const { writer, api } = setUp(({ method }) =>
        method === 'GET' ? { status: 200, body: stored('v1') } : unknownVersion('a/v1'),
      );
      await assert.rejects(writer.apply(object({ uid: 'u' }), applied, never), {
        message: 'request to convert CR to an invalid group/version: a/v1',
      });
      assert.equal(api.requests.length, 3);
    });

    test('and that only creates finds that the object exists, and changes nothing', async () => {
      const { writer, api } = setUp(() => unknownVersion('a/v1'));
      const onlyNew = object({ resourceVersion: '1' });
      await assert.rejects(writer.apply(onlyNew, applied, never), { code: 'already-exists' });
      assert.equal(api.requests.length, 1);
    });
  });

  describe('replace', () => {
    const live = object({
      uid: 'u1',
      resourceVersion: '7',
      labels: { kept: 'yes', a: 'old' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
      managedFields: [{ manager: 'kubectl' }],
    });
    const manifest = (metadata: object) => ({
      ...object({ uid: 'u1', resourceVersion: '7', labels: { a: 'new' }, ...metadata }),
      data: { a: 'b' },
    });

    test('keeps what the manifest does not name in the metadata, and the status', async () => {
      const { writer, story, api } = setUp(() => ({
        status: 200,
        body: { ...live, data: { old: 'x' }, status: { phase: 'y' } },
      }));
      await writer.replace(manifest({}), { flow, pass, fieldManager: 'me' }, never);
      assert.deepEqual(story, [
        'begin ns/a',
        'GET',
        'store u1 by ns/a',
        'end',
        'begin ns/a',
        'PUT',
        'store u1 by ns/a',
        'end',
      ]);
      const { managedFields: _, ...metadata } = live.metadata as KubeObject['metadata'] & {
        readonly managedFields?: unknown;
      };
      assert.deepEqual(api.requests.at(-1)?.body, {
        ...live,
        metadata: { ...metadata, labels: { kept: 'yes', a: 'new' } },
        data: { a: 'b' },
        status: { phase: 'y' },
      });
      assert.equal(api.requests.at(-1)?.query?.fieldManager, 'me');
    });

    for (const [what, metadata, code] of [
      ['changed since', { resourceVersion: '6' }, 'conflict'],
      ['replaced', { uid: 'u0' }, 'uid-mismatch'],
    ] as const)
      test(`is not sent for an object that was ${what}`, async () => {
        const { writer, api } = setUp(() => ({ status: 200, body: live }));
        const options = { flow, fieldManager: 'me' };
        await assert.rejects(writer.replace(manifest(metadata), options, never), { code });
        assert.equal(api.requests.length, 1);
      });
  });
});
