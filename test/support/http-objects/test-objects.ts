import { createLeafParser, type LeafParser } from '#compile/language/index.ts';
import type { JsonObject } from '#util/json.ts';
import type { KubeObject, ObjectMeta } from '#util/kube-object.ts';

export const apiUrl = 'http://api.shop.svc/v1';

/** A parser of code fields. */
export function codeParser(): LeafParser {
  return createLeafParser({
    parseYaml: (text) => JSON.parse(text) as unknown,
    printYaml: (value) => JSON.stringify(value),
    isReady: () => true,
  });
}

export function endpointObject(
  spec: JsonObject = {},
  metadata: Partial<ObjectMeta> = {},
): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'HttpEndpoint',
    metadata: { name: 'api', namespace: 'shop', ...metadata },
    spec: { url: apiUrl, ...spec },
  };
}

export function httpObject(spec: JsonObject, metadata: Partial<ObjectMeta> = {}): KubeObject {
  return {
    apiVersion: 'homeostat.dev/v1alpha1',
    kind: 'HttpObject',
    metadata: { name: 'www', namespace: 'shop', ...metadata },
    spec: { endpoint: { name: 'api' }, ...spec },
  };
}

/** An object whose id the server chooses, and that is found by its name. */
export const recordSpec: JsonObject = {
  params: { zone: 'z1' },
  desired: { name: 'www', content: '192.0.2.1' },
  observe: { path: '/zones/{zone}/records/{id}', result: '$(body.result)' },
  find: {
    path: '/zones/{zone}/records',
    query: { name: 'www' },
    results: '$(body.result)',
    match: ['name'],
  },
  create: { path: '/zones/{zone}/records' },
  update: { method: 'PUT', path: '/zones/{zone}/records/{id}' },
  delete: { path: '/zones/{zone}/records/{id}' },
  id: '$(result.id)',
};

/** An object that its path names. */
export const queueSpec: JsonObject = {
  params: { name: 'orders' },
  desired: { durable: true, limit: 10 },
  observe: { path: '/queues/{name}' },
  create: { method: 'PUT', path: '/queues/{name}' },
  update: { method: 'PUT', path: '/queues/{name}' },
  delete: { path: '/queues/{name}' },
};
