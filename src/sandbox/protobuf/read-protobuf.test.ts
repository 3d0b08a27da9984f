import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { protobufBody } from '../../../test/support/protobuf-body.ts';
import { StatusError } from '../status/status-error.ts';
import { ProtobufReader } from './read-protobuf.ts';

const reader = new ProtobufReader();

function body(object: JsonObject): Uint8Array {
  const bytes = protobufBody(object);
  assert.ok(bytes !== undefined);
  return bytes;
}

function rejection(bytes: Uint8Array): number {
  try {
    reader.read(bytes);
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
  return 200;
}

const pod: JsonObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'x',
    labels: { a: '1', '': 'empty' },
    creationTimestamp: '2026-01-01T00:00:00Z',
    ownerReferences: [{ apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u', controller: true }],
  },
  spec: {
    terminationGracePeriodSeconds: -1,
    volumes: [{ name: 'v', configMap: { name: 'm', optional: false } }],
    containers: [
      {
        name: 'c',
        args: ['a', ''],
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: '100m' } },
        livenessProbe: { httpGet: { port: 80, path: '/' }, periodSeconds: 3 },
        readinessProbe: { tcpSocket: { port: 'http' } },
      },
    ],
  },
};

describe('sandbox/protobuf/read-protobuf', () => {
  for (const [what, object] of [
    ['a pod, with what is inlined in JSON', pod],
    [
      'bytes and texts',
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's' },
        data: { a: 'AAECAw==', b: '' },
        stringData: { c: 'ä' },
      },
    ],
    [
      'micro times',
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'l' },
        spec: { renewTime: '2026-01-01T00:00:00.123456Z', leaseDurationSeconds: 15 },
      },
    ],
    [
      'raw JSON',
      {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'r' },
        data: { any: [1, { b: null }] },
        revision: 3,
      },
    ],
  ] as const) {
    test(`${what} are decoded to the same JSON`, () => {
      assert.deepEqual(reader.read(body(object)), object);
    });
  }

  test('an invalid body is rejected', () => {
    const whole = body(pod);
    assert.equal(rejection(new Uint8Array()), 400);
    assert.equal(rejection(new TextEncoder().encode('{"a":1}')), 400);
    assert.equal(rejection(whole.subarray(0, whole.length - 3)), 400);
  });

  test('a truncated body is rejected without other errors', () => {
    const whole = body(pod);
    for (let end = 0; end < whole.length; end++)
      assert.ok([200, 400, 501].includes(rejection(whole.subarray(0, end))), `cut at ${end}`);
  });

  test('a kind without a table is not modelled', () => {
    const head = new TextEncoder().encode('\n\u0004x/v1\u0012\u0001X');
    const unknown = Uint8Array.from([0x6b, 0x38, 0x73, 0, 0x0a, head.length, ...head]);
    assert.equal(rejection(unknown), 501);
  });
});
