import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, post, remove, thing, things } from './requests.ts';

const three = ['a', 'b', 'c'].map((name, index) =>
  post(
    configMaps,
    configMap({ n: String(index) }, { name, labels: { tier: index < 2 ? 'low' : 'high' } }),
    { status: 201 },
  ),
);
const items = (...names: readonly string[]) => names.map((name) => ({ metadata: { name } }));
const next = { token: 'metadata.continue', rv: 'metadata.resourceVersion' };
const tooOld = {
  status: 410,
  message: /^The resourceVersion for the provided list is too old\.$/,
  body: { reason: 'Expired' },
};
const tooLarge = {
  status: 504,
  message: /^Timeout: Too large resource version: 99999999999999, current: \d+$/,
  body: {
    reason: 'Timeout',
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
  },
};

function token(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Lists of one moment: in pages, of a version, of one that is forgotten or still to come. */
export const listVersions: readonly ContractCase[] = [
  {
    name: 'pages show one state',
    ranked: [38],
    steps: [
      ...three,
      get(
        `${configMaps}?limit=1`,
        { status: 200, body: { items: items('a'), metadata: { remainingItemCount: 2 } } },
        { save: next },
      ),
      remove(`${configMaps}/c`, undefined, { status: 200 }),
      post(configMaps, configMap({}, { name: 'd' }), { status: 201 }),
      get(
        `${configMaps}?limit=1&continue=$(token)`,
        {
          status: 200,
          body: {
            items: items('b'),
            metadata: { resourceVersion: '$(rv)', remainingItemCount: 1 },
          },
        },
        { save: { second: 'metadata.continue' } },
      ),
      get(`${configMaps}?limit=1&continue=$(second)`, {
        status: 200,
        body: {
          items: items('c'),
          metadata: { resourceVersion: '$(rv)', continue: null, remainingItemCount: null },
        },
      }),
      // The rest at once, and a page once more.
      get(`${configMaps}?continue=$(token)`, { status: 200, body: { items: items('b', 'c') } }),
      get(`${configMaps}?limit=1&labelSelector=tier%3Dlow`, {
        status: 200,
        body: { items: items('a'), metadata: { remainingItemCount: null } },
      }),
      get(`${configMaps}?limit=0`, { status: 200, body: { items: items('a', 'b', 'd') } }),
      get(`${configMaps}?limit=500`, {
        status: 200,
        body: {
          items: items('a', 'b', 'd'),
          metadata: { continue: null, remainingItemCount: null },
        },
      }),
    ],
  },
  {
    name: 'pages of custom resources, and across namespaces',
    ranked: [38],
    steps: [
      ...['a', 'b', 'c'].map((name) => post(things, thing({}, { name }), { status: 201 })),
      get(
        `${things}?limit=2`,
        { status: 200, body: { items: items('a', 'b'), metadata: { remainingItemCount: 1 } } },
        { save: next },
      ),
      remove(`${things}/c`, undefined, { status: 200 }),
      get(`${things}?limit=2&continue=$(token)`, {
        status: 200,
        body: { items: items('c'), metadata: { resourceVersion: '$(rv)' } },
      }),
      ...['y', 'z'].map((name) =>
        post(things, thing({}, { name, labels: { case: '$(ns)' } }), { status: 201 }),
      ),
      get(
        '/apis/$(group)/v1/things?limit=1&labelSelector=case%3D$(ns)',
        { status: 200, body: { items: items('y') } },
        { save: next },
      ),
      get('/apis/$(group)/v1/things?limit=1&labelSelector=case%3D$(ns)&continue=$(token)', {
        status: 200,
        body: { items: items('z') },
      }),
    ],
  },
  {
    name: 'broken page tokens and numbers are rejected',
    ranked: [38],
    steps: [
      ...[
        'abc',
        '!!',
        token('hello'),
        token('{}'),
        token('{"v":"v9","rv":5,"start":"x"}'),
        token('{"v":"meta.k8s.io/v1"}'),
        token('{"v":"meta.k8s.io/v1","rv":5}'),
        token('{"v":"meta.k8s.io/v1","rv":"x","start":"x"}'),
        token('{"v":"meta.k8s.io/v1","rv":5,"start":"../x"}'),
      ].map((text) =>
        get(`${configMaps}?limit=2&continue=${text}`, {
          status: 400,
          message: /^invalid continue token: continue key is not valid: /,
        }),
      ),
      get(`${configMaps}?limit=x`, { status: 400 }),
      get(`${configMaps}?resourceVersion=x`, { status: 400 }),
    ],
  },
  {
    name: 'a version from the future is not there yet',
    ranked: [39],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      get(`${configMaps}?resourceVersion=99999999999999`, tooLarge),
      get(`${configMaps}/x?resourceVersion=99999999999999`, tooLarge),
    ],
  },
  {
    name: 'an exact version shows the state of then',
    ranked: [39],
    steps: [
      post(
        configMaps,
        configMap({ a: '1' }),
        { status: 201 },
        { save: { rv: 'metadata.resourceVersion' } },
      ),
      post(
        configMaps,
        configMap({}, { name: 'y' }),
        { status: 201 },
        { save: { later: 'metadata.resourceVersion' } },
      ),
      get(`${configMaps}?resourceVersion=$(rv)&resourceVersionMatch=Exact`, {
        status: 200,
        body: { items: [{ metadata: { name: 'x' } }], metadata: { resourceVersion: '$(rv)' } },
      }),
      get(`${configMaps}?resourceVersion=$(later)&resourceVersionMatch=NotOlderThan`, {
        status: 200,
        body: { items: [{}, {}] },
      }),
      get(`${configMaps}?resourceVersionMatch=Exact`, { status: 422 }),
      get(`${configMaps}?resourceVersion=0&resourceVersionMatch=Exact`, { status: 422 }),
      get(`${configMaps}?resourceVersion=$(rv)&resourceVersionMatch=Nearly`, { status: 422 }),
      get(`${configMaps}?sendInitialEvents=true`, { status: 422 }),
    ],
  },
  ...[
    { what: 'ConfigMaps', path: configMaps, all: '/api/v1/configmaps', body: configMap({}) },
    { what: 'custom resources', path: things, all: '/apis/$(group)/v1/things', body: thing({}) },
  ].map(
    ({ what, path, all, body }): ContractCase => ({
      name: `an exact version of ${what} that is forgotten is gone, a newer one can be had`,
      ranked: [39],
      steps: [
        post(path, body, { status: 201 }),
        get(`${path}?resourceVersion=1&resourceVersionMatch=Exact`, tooOld),
        get(`${all}?resourceVersion=1&resourceVersionMatch=Exact`, tooOld),
        // A page is of an exact version, too.
        get(`${path}?resourceVersion=1&limit=1`, tooOld),
        ...['', '&resourceVersionMatch=NotOlderThan'].map((match) =>
          get(`${path}?resourceVersion=1${match}`, { status: 200, body: { items: items('x') } }),
        ),
        get(`${path}/x?resourceVersion=1`, { status: 200 }),
      ],
    }),
  ),
  {
    name: 'a page of a state that is forgotten is gone, but the rest as it is now can be had',
    ranked: [38, 39],
    steps: [
      ...three,
      get(
        `${configMaps}?limit=1&continue=${token('{"v":"meta.k8s.io/v1","rv":1,"start":"/a\\u0000"}')}`,
        {
          status: 410,
          message:
            /^The provided continue parameter is too old to display a consistent list result\./,
          body: { reason: 'Expired' },
        },
        { save: { token: 'metadata.continue' } },
      ),
      get(
        `${configMaps}?limit=1&continue=$(token)`,
        { status: 200, body: { items: items('b'), metadata: { remainingItemCount: 1 } } },
        { save: next },
      ),
      post(configMaps, configMap({}, { name: 'd' }), { status: 201 }),
      get(`${configMaps}?limit=5&continue=$(token)`, {
        status: 200,
        body: { items: items('c'), metadata: { resourceVersion: '$(rv)' } },
      }),
    ],
  },
];
