import type { ContractCase } from '../driver/index.ts';
import { get } from './requests.ts';

function aggregated(version: string) {
  return {
    headers: {
      accept: `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList,application/json`,
    },
  };
}

const fewer = { '': 'the sandbox serves fewer groups' };

export const discoveries: readonly ContractCase[] = [
  {
    name: 'a group of CRDs is discovered in the plain form',
    steps: [
      get('/apis/$(group)', {
        status: 200,
        body: { kind: 'APIGroup', preferredVersion: { version: 'v2' } },
      }),
      get('/apis/$(group)/v1', {
        status: 200,
        body: { kind: 'APIResourceList' },
        differs: { resources: 'a hash of the storage version, and the order of kinds' },
      }),
      get('/apis/none.io', { status: 404 }),
      get('/apis/none.io/v1', { status: 404 }),
      get('/apis/$(group)/v9', { status: 404 }),
      get('/apis/$(group)/v1/none', { status: 404 }),
      get('/apis/$(group)/v1/namespaces/$(ns)/none/x', { status: 404 }),
      get('/apis/$(group)/v1/namespaces/$(ns)/things/x/none', { status: 404 }),
    ],
  },
  {
    name: 'all is discovered at once in the aggregated form',
    steps: [
      get(
        '/apis',
        {
          status: 200,
          body: { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' },
          differs: fewer,
        },
        aggregated('v2'),
      ),
      get(
        '/api',
        { status: 200, body: { kind: 'APIGroupDiscoveryList' }, differs: fewer },
        aggregated('v2'),
      ),
      get('/api', {
        status: 200,
        body: { kind: 'APIVersions', versions: ['v1'] },
        differs: { serverAddressByClientCIDRs: 'addresses' },
      }),
      get('/apis', { status: 200, body: { kind: 'APIGroupList' }, differs: fewer }),
    ],
  },
  {
    name: 'health and version are reported',
    steps: [
      get('/readyz', { status: 200 }),
      get('/livez', { status: 200 }),
      get('/healthz', { status: 200 }),
      get('/version', {
        status: 200,
        body: { major: '1', minor: '36' },
        differs: { '': 'builds differ' },
      }),
    ],
  },
  {
    name: 'OpenAPI v3 is reported by group',
    steps: [
      get('/openapi/v3', { status: 200, differs: fewer }),
      get('/openapi/v3/apis/none.io/v1', {
        status: 404,
        differs: { '': 'plain text on the server' },
      }),
    ],
  },
];
