import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '#util/json.ts';
import { FakeClock } from '../../../../test/support/fake-clock.ts';
import type { ApiRequest } from '../client/api-client.ts';
import { KubeError } from '../kube-error.ts';
import { OutboundNotAllowedError } from './outbound-policy.ts';
import { ServiceAddresses } from './service-addresses.ts';

const { signal } = new AbortController();
const service = { namespace: 'shop', name: 'api' };

interface Objects {
  readonly spec?: JsonObject;
  readonly slices?: readonly JsonObject[];
  readonly pods?: readonly JsonObject[];
  readonly error?: Error;
}

/** By default, all Pods have the address of their name, in a network of their own. */
function confirm(
  { spec = {}, slices = [], pods = podsOf(slices), error }: Objects,
  addresses: readonly string[],
) {
  const requests: ApiRequest[] = [];
  const api = {
    async request(request: ApiRequest) {
      requests.push(request);
      if (error) throw error;
      return { status: 200, body: bodyOf(request) };
    },
    stream: () => Promise.reject(new Error('Not expected')),
  };
  function bodyOf({ path, query }: ApiRequest): JsonObject {
    if (path.endsWith('/endpointslices')) return { items: slices };
    if (!path.endsWith('/pods')) return { spec };
    // Two in an answer, whatever is asked for.
    const from = Number(query?.continue ?? 0);
    const rest = from + 2 < pods.length ? { continue: String(from + 2) } : {};
    return { metadata: rest, items: pods.slice(from, from + 2) };
  }
  return {
    requests,
    result: new ServiceAddresses({ api, clock: new FakeClock() }).confirm(
      service,
      addresses,
      signal,
    ),
  };
}

function slice(addresses: readonly string[], manager = 'endpointslice-controller.k8s.io') {
  return {
    metadata: { name: 's', labels: { 'endpointslice.kubernetes.io/managed-by': manager } },
    ports: [{ port: 8080 }],
    endpoints: addresses.map((address) => ({
      addresses: [address],
      targetRef: { kind: 'Pod', namespace: 'shop', name: address, uid: address },
    })),
  } as JsonObject;
}

function pod(address: string, status: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  return {
    metadata: { name: `pod-${address}`, namespace: 'shop', uid: address },
    spec,
    status: { podIP: address, podIPs: [{ ip: address }], hostIP: '192.0.2.1', ...status },
  };
}

function podsOf(slices: readonly JsonObject[]): readonly JsonObject[] {
  return slices.flatMap(({ endpoints }) =>
    (endpoints as unknown as readonly { readonly addresses: readonly string[] }[]).flatMap(
      ({ addresses }) => addresses.map((address) => pod(address)),
    ),
  );
}

const selector = { app: 'api' };
const normal: JsonObject = { type: 'ClusterIP', selector, clusterIPs: ['10.96.7.7', 'fd00::7'] };
const headless: JsonObject = { selector, clusterIP: 'None', clusterIPs: ['None'] };

describe('kube/outbound Services', () => {
  for (const [title, objects, addresses, expected] of [
    ['its cluster IP', { spec: normal, slices: [slice(['10.1.0.9'])] }, ['10.96.7.7'], undefined],
    ['both of its cluster IPs', { spec: normal }, ['10.96.7.7', 'fd00:0::7'], undefined],
    [
      'the cluster IP of a server without a list',
      { spec: { selector, clusterIP: '10.96.7.7' } },
      ['10.96.7.7'],
      undefined,
    ],
    ['a Pod behind it', { spec: normal, slices: [slice(['10.1.0.9'])] }, ['10.1.0.9'], /resolves/],
    ['another address beside its own', { spec: normal }, ['10.96.7.7', '10.96.7.8'], /resolves/],
    [
      'an ExternalName',
      { spec: { type: 'ExternalName', externalName: 'x' } },
      ['10.96.7.7'],
      /ExternalName/,
    ],
    [
      'a Service without a selector',
      { spec: { clusterIPs: ['10.96.7.7'] } },
      ['10.96.7.7'],
      /selector/,
    ],
    ['an empty selector', { spec: { ...normal, selector: {} } }, ['10.96.7.7'], /selector/],
    [
      'an EndpointSlice that is written by hand',
      { spec: normal, slices: [slice(['10.1.0.9']), slice(['8.8.8.8'], 'me')] },
      ['10.96.7.7'],
      /EndpointSlice/,
    ],
    [
      'a Pod of a headless one',
      { spec: headless, slices: [slice(['10.1.0.9'])] },
      ['10.1.0.9'],
      undefined,
    ],
    [
      'another address of a headless one',
      { spec: headless, slices: [slice(['10.1.0.9'])] },
      ['10.1.0.8'],
      /resolves/,
    ],
    ['a headless one without Pods', { spec: headless }, ['10.1.0.8'], /resolves/],
    [
      'an endpoint that is no Pod',
      {
        spec: normal,
        slices: [{ ...slice([]), endpoints: [{ addresses: ['10.1.0.9'] }] }],
      },
      ['10.96.7.7'],
      /other than its Pods/,
    ],
    [
      'an endpoint of another namespace',
      {
        spec: normal,
        slices: [
          {
            ...slice([]),
            endpoints: [
              { addresses: ['10.1.0.9'], targetRef: { kind: 'Pod', namespace: 'x', uid: 'u' } },
            ],
          },
        ],
      },
      ['10.96.7.7'],
      /other than its Pods/,
    ],
  ] as const)
    test(`${title} is ${expected === undefined ? 'confirmed' : 'rejected'}`, async () => {
      const { result } = confirm(objects as Objects, addresses);
      if (expected === undefined) return void (await result);
      await assert.rejects(result, (error) => {
        assert.ok(error instanceof OutboundNotAllowedError);
        assert.match(error.message, expected);
        assert.match(error.message, /^Service "api" of namespace "shop"/);
        return true;
      });
    });

  test('asks for one Service, and for its slices', async () => {
    const { requests, result } = confirm({ spec: normal }, ['10.96.7.7']);
    await result;
    assert.deepEqual(
      requests.map(({ path, query }) => [path, query?.labelSelector]),
      [
        ['/api/v1/namespaces/shop/services/api', undefined],
        [
          '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
          'kubernetes.io/service-name=api',
        ],
        ['/api/v1/namespaces/shop/pods', 'app=api'],
      ],
    );
  });

  for (const [title, status, spec, isOfNode] of [
    ['a network of its own', {}, {}, false],
    ['hostNetwork', {}, { hostNetwork: true }, true],
    ['the address of its node', { hostIP: '10.1.0.9' }, {}, true],
    [
      'the second address of its node',
      { hostIP: '192.0.2.1', hostIPs: [{ ip: '192.0.2.1' }, { ip: '10.1.0.9' }] },
      {},
      true,
    ],
  ] as const)
    test(`a Pod with ${title} ${isOfNode ? 'has' : 'does not have'} the address of its node`, async () => {
      const pods = [pod('10.1.0.9', status, spec)];
      const { result } = confirm({ spec: normal, slices: [slice(['10.1.0.9'])], pods }, [
        '10.96.7.7',
      ]);
      assert.deepEqual(await result, [
        { address: '10.1.0.9', ports: [8080], ...(isOfNode && { podOnNode: 'pod-10.1.0.9' }) },
      ]);
    });

  test('all pages of its Pods are read', async () => {
    const addresses = ['10.1.0.1', '10.1.0.2', '10.1.0.3', '10.1.0.4', '10.1.0.5'];
    const { result, requests } = confirm({ spec: normal, slices: [slice(addresses)] }, [
      '10.96.7.7',
    ]);
    assert.deepEqual(
      (await result).map(({ address }) => address),
      addresses,
    );
    assert.equal(requests.filter(({ path }) => path.endsWith('/pods')).length, 3);
  });

  for (const [title, pods] of [
    ['no Pod', []],
    ['a Pod with another address', [pod('10.1.0.9', { podIP: '10.1.0.8', podIPs: [] })]],
  ] as const)
    test(`an address in a slice of ${title} is not confirmed, and asked for again soon`, async () => {
      const { result } = confirm({ spec: normal, slices: [slice(['10.1.0.9'])], pods }, [
        '10.96.7.7',
      ]);
      await assert.rejects(result, (error) => {
        assert.ok(error instanceof KubeError);
        assert.match(error.message, /no Pod has now/);
        return true;
      });
    });

  test('connections share what was read within a second, and no longer', async () => {
    const clock = new FakeClock();
    let reads = 0;
    let spec = normal;
    const api = {
      async request({ path }: ApiRequest) {
        reads += 1;
        return { status: 200, body: /slices$|pods$/.test(path) ? { items: [] } : { spec } };
      },
      stream: () => Promise.reject(new Error('Not expected')),
    };
    const services = new ServiceAddresses({ api, clock });
    const confirmed = () => services.confirm(service, ['10.96.7.7'], signal);
    await Promise.all([confirmed(), confirmed()]);
    spec = { type: 'ExternalName', externalName: 'x' };
    await confirmed();
    assert.equal(reads, 3);
    await clock.advance(1_000);
    await assert.rejects(confirmed(), OutboundNotAllowedError);
    assert.equal(reads, 5);
  });

  test('without the right to look, nothing is permitted', async () => {
    const error = new KubeError('forbidden', 'services is forbidden', { status: 403 });
    await assert.rejects(confirm({ error }, ['10.96.7.7']).result, OutboundNotAllowedError);
  });

  test('an API server that does not answer is no rejection', async () => {
    const error = new KubeError('unavailable', 'down', { status: 503 });
    await assert.rejects(confirm({ error }, ['10.96.7.7']).result, error);
  });
});
