import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiClient, ApiRequest } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import { listServedKinds } from './served-kinds.ts';

const flow = { name: 'test', priority: 'object' } as const;
const pods = {
  resource: 'pods',
  responseKind: { group: '', version: 'v1', kind: 'Pod' },
  scope: 'Namespaced',
  singularResource: 'pod',
  verbs: ['get', 'list'],
  shortNames: ['po'],
  categories: ['all'],
  subresources: [{ subresource: 'status' }],
};

/** A server that has aggregated discovery in one version only. */
function serverWith(version: string): Pick<ApiClient, 'request'> {
  return {
    async request({ path, accept = '' }: ApiRequest) {
      if (!accept.split(',').some((type) => type.includes(`;v=${version};`)))
        throw new KubeError('unexpected', 'only the following media types are accepted', {
          status: 406,
        });
      const items =
        path === '/api' ? [{ metadata: {}, versions: [{ version: 'v1', resources: [pods] }] }] : [];
      return { status: 200, body: { kind: 'APIGroupDiscoveryList', items }, headers: {} };
    },
  } as unknown as Pick<ApiClient, 'request'>;
}

describe('kube/api/served-kinds', () => {
  for (const version of ['v2', 'v2beta1'])
    test(`reads the kinds of a server that has only ${version}`, async () => {
      const api = serverWith(version) as ApiClient;
      const { preferred, others } = await listServedKinds(api, flow, AbortSignal.timeout(60_000));
      assert.deepEqual(others, []);
      assert.deepEqual(preferred, [
        {
          gvk: { group: '', version: 'v1', kind: 'Pod' },
          plural: 'pods',
          singular: 'pod',
          namespaced: true,
          hasStatus: true,
          verbs: ['get', 'list'],
          shortNames: ['po'],
          categories: ['all'],
        },
      ]);
    });

  test('a kind is listed in the first of its versions, and in the others apart', async () => {
    const version = (name: string) => ({
      version: name,
      resources: [{ ...pods, responseKind: { group: 'a', version: name, kind: 'Pod' } }],
    });
    const group = { metadata: { name: 'a' }, versions: [version('v1'), version('v1alpha1')] };
    const api = {
      request: async ({ path }: ApiRequest) => ({
        status: 200,
        body: { items: path === '/api' ? [] : [group] },
        headers: {},
      }),
    } as unknown as ApiClient;
    const { preferred, others } = await listServedKinds(api, flow, AbortSignal.timeout(60_000));
    const versions = [preferred, others].map((kinds) => kinds.map(({ gvk }) => gvk.version));
    assert.deepEqual(versions, [['v1'], ['v1alpha1']]);
  });
});
