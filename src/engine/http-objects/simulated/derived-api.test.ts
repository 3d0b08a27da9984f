import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createDefaultLeafParser } from '#compile';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { DerivedApi } from './derived-api.ts';

const base = 'http://api.a.svc/v1';
const object = (kind: string, name: string, spec: JsonObject): KubeObject => ({
  apiVersion: 'homeostat.dev/v1alpha1',
  kind,
  metadata: { name, namespace: 'a' },
  spec,
});

function apiOf(...specs: readonly JsonObject[]) {
  const objects = [
    object('HttpEndpoint', 'api', { url: base }),
    ...specs.map((spec, index) =>
      object('HttpObject', `object-${index}`, { endpoint: { name: 'api' }, ...spec }),
    ),
  ];
  const api = new DerivedApi({ objects: () => objects, parser: createDefaultLeafParser() });
  return async (method: string, path: string, body?: JsonObject) => {
    const request = { method, url: `${base}${path}`, headers: {}, maxBytes: 1e6, timeoutMs: 1e3 };
    const sent = {
      ...request,
      tls: {},
      namespace: 'a',
      ...(body && { body: JSON.stringify(body) }),
    };
    const { status, body: text } = await api.send(sent as never, new AbortController().signal);
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  };
}

describe('http-objects/simulated/derived-api', () => {
  test('answers as the code of an object expects, and stores what it sends', async () => {
    const send = apiOf({
      desired: { name: 'www' },
      observe: { path: '/records/{id}', result: '$(body.result)' },
      find: { path: '/records', results: '$(body.result)', match: ['name'] },
      create: { path: '/records' },
      update: { path: '/records/{id}' },
      delete: { path: '/records/{id}' },
      id: '$(body.result.id)',
      secret: { name: 'token', data: { token: '$(body.token)' } },
    });
    assert.equal((await send('GET', '/records/id-1')).status, 404);
    const stored = { name: 'www', id: 'id-1' };
    assert.deepEqual(await send('POST', '/records', { name: 'www' }), {
      status: 201,
      body: { result: stored, token: 'simulated' },
    });
    assert.deepEqual((await send('GET', '/records/id-1')).body, { result: stored });
    assert.deepEqual((await send('GET', '/records')).body, { result: [stored] });
    await send('PUT', '/records/id-1', { name: 'mail' });
    assert.deepEqual((await send('GET', '/records/id-1')).body.result.name, 'mail');
    assert.equal((await send('DELETE', '/records/id-1')).status, 204);
    assert.equal((await send('GET', '/records/id-1')).status, 404);
    assert.equal((await send('GET', '/others')).status, 404);
  });

  test('objects that share the path for writes differ in what they send', async () => {
    const dashboard = (uid: string) => ({
      desired: { uid },
      observe: { path: `/dashboards/${uid}` },
      create: { path: '/write' },
      update: { method: 'POST', path: '/write' },
      delete: { path: `/dashboards/${uid}` },
    });
    const send = apiOf(dashboard('a'), dashboard('b'));
    await send('POST', '/write', { uid: 'b' });
    assert.equal((await send('GET', '/dashboards/a')).status, 404);
    assert.deepEqual((await send('GET', '/dashboards/b')).body, { uid: 'b' });
  });
});
