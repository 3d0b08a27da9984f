import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, post, thing, things } from './requests.ts';

const three = ['a', 'b', 'c'].map((name, index) =>
  post(
    configMaps,
    configMap(
      { n: String(index) },
      { name, labels: { app: name, tier: index < 2 ? 'low' : 'high' } },
    ),
    { status: 201 },
  ),
);

function selected(labelSelector: string, names: readonly string[]): ContractCase {
  const query = encodeURIComponent(labelSelector);
  return {
    ranked: [40],
    name: `the label selector "${labelSelector}" finds ${names.join(', ') || 'nothing'}`,
    steps: [
      ...three,
      get(`${configMaps}?labelSelector=${query}`, {
        status: 200,
        body: { items: names.map((name) => ({ metadata: { name } })) },
      }),
    ],
  };
}

export const lists: readonly ContractCase[] = [
  {
    name: 'a list is ordered by name; items of built-in kinds do not repeat the kind',
    steps: [
      post(configMaps, configMap({}, { name: 'b' }), { status: 201 }),
      post(configMaps, configMap({}, { name: 'a' }), { status: 201 }),
      get(configMaps, {
        status: 200,
        body: {
          kind: 'ConfigMapList',
          items: [{ metadata: { name: 'a' } }, { metadata: { name: 'b' } }],
        },
      }),
      post(things, thing({}, { name: 'b' }), { status: 201 }),
      get(things, { status: 200, body: { kind: 'ThingList', items: [{ kind: 'Thing' }] } }),
      get('/apis/$(group)/v1/things?fieldSelector=metadata.namespace%3D$(ns)', {
        status: 200,
        body: { items: [{}] },
      }),
    ],
  },
  selected('app=a', ['a']),
  selected('app==a', ['a']),
  selected('app!=a', ['b', 'c']),
  selected('app in (a,b)', ['a', 'b']),
  selected('app notin (a, b)', ['c']),
  selected('app', ['a', 'b', 'c']),
  selected('!app', []),
  selected('tier=low,app!=a', ['b']),
  selected('none!=a', ['a', 'b', 'c']),
  selected('none notin (a)', ['a', 'b', 'c']),
  selected('app=', []),
  selected('', ['a', 'b', 'c']),
  ...[
    'app in',
    'app in (',
    '=a',
    'app=a,',
    'a b',
    'app in (a',
    'app=ä',
    'app!',
    ',app',
    'a/b/c=d',
    'app=a=b',
    'app>x',
  ].map(
    (labelSelector): ContractCase => ({
      name: `"${labelSelector}" is no label selector`,
      ranked: [40],
      steps: [
        get(`${configMaps}?labelSelector=${encodeURIComponent(labelSelector)}`, { status: 400 }),
      ],
    }),
  ),
  {
    name: 'field selectors know names and namespaces',
    ranked: [40],
    steps: [
      ...three,
      get(`${configMaps}?fieldSelector=metadata.name%3Db`, {
        status: 200,
        body: { items: [{ metadata: { name: 'b' } }] },
      }),
      get(`${configMaps}?fieldSelector=metadata.name!%3Db`, {
        status: 200,
        body: { items: [{}, {}] },
      }),
      get(`${configMaps}?fieldSelector=metadata.name%3Db,metadata.namespace%3Dother`, {
        status: 200,
        body: { items: [] },
      }),
      get(`${configMaps}?fieldSelector=data.n%3D1`, {
        status: 400,
        message: /is not a known field selector/,
      }),
      get(`${configMaps}?fieldSelector=nonsense`, { status: 400 }),
      get(`${things}?fieldSelector=spec.size%3D1`, { status: 400 }),
    ],
  },
  {
    name: 'Secrets can be selected by type',
    ranked: [40],
    steps: [
      post(
        '/api/v1/namespaces/$(ns)/secrets',
        { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, type: 'demo.io/t' },
        { status: 201 },
      ),
      get('/api/v1/namespaces/$(ns)/secrets?fieldSelector=type%3Ddemo.io/t', {
        status: 200,
        body: { items: [{}] },
      }),
      get('/api/v1/namespaces/$(ns)/secrets?fieldSelector=type%3DOpaque', {
        status: 200,
        body: { items: [] },
      }),
    ],
  },
  {
    name: 'only metadata can be asked for',
    ranked: [51],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      get(
        `${things}/x`,
        { status: 200, body: { kind: 'PartialObjectMetadata', spec: null } },
        { headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' } },
      ),
      get(
        things,
        { status: 200, body: { kind: 'PartialObjectMetadataList', items: [{ spec: null }] } },
        { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } },
      ),
      post(configMaps, configMap({ a: '1' }), { status: 201 }),
      get(
        configMaps,
        { status: 200, body: { kind: 'PartialObjectMetadataList' } },
        { headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' } },
      ),
      get(`${configMaps}/x`, { status: 406 }, { headers: { accept: 'text/html' } }),
    ],
  },
];
