import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, merge, post, remove, thing, things } from './requests.ts';

const save = { save: { rv: 'metadata.resourceVersion' } };
const live = (type: string, name = 'x') => ({ type, object: { metadata: { name } } });

export const watches: readonly ContractCase[] = [
  {
    name: 'a watch from a version shows exactly what came later, in order',
    ranked: [32, 16],
    steps: [
      post(configMaps, configMap({ a: '1' }), { status: 201 }, save),
      merge(`${configMaps}/x`, { data: { a: '2' } }, { status: 200 }),
      merge(`${configMaps}/x`, { data: { a: '2' } }, { status: 200 }),
      post(configMaps, configMap({}, { name: 'y' }), { status: 201 }),
      remove(`${configMaps}/x`, undefined, { status: 200 }),
      {
        watch: `${configMaps}?watch=1&resourceVersion=$(rv)`,
        events: 3,
        expect: [live('MODIFIED'), live('ADDED', 'y'), live('DELETED')],
      },
    ],
  },
  {
    name: 'a watch without a version begins with what is there',
    ranked: [33],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      {
        watch: `${things}?watch=true`,
        during: [merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 })],
        events: 2,
        expect: [live('ADDED'), live('MODIFIED')],
      },
      { watch: `${things}?watch=true&resourceVersion=0`, events: 1, expect: [live('ADDED')] },
    ],
  },
  {
    name: 'the end of a finalizer is reported once, as a deletion',
    ranked: [22],
    steps: [
      get(things, { status: 200 }, save),
      {
        watch: `${things}?watch=1&resourceVersion=$(rv)`,
        during: [
          post(things, thing({ size: 1 }, { finalizers: ['demo.io/a', 'demo.io/b'] }), {
            status: 201,
          }),
          remove(`${things}/x`, undefined, { status: 200 }),
          remove(`${things}/x`, undefined, { status: 200 }),
          merge(`${things}/x`, { metadata: { finalizers: ['demo.io/b'] } }, { status: 200 }),
          merge(`${things}/x`, { metadata: { finalizers: null } }, { status: 200 }),
          post(things, thing({}, { name: 'end' }), { status: 201 }),
        ],
        events: 5,
        expect: [
          live('ADDED'),
          {
            type: 'MODIFIED',
            object: { metadata: { finalizers: ['demo.io/a', 'demo.io/b'], generation: 2 } },
          },
          { type: 'MODIFIED', object: { metadata: { finalizers: ['demo.io/b'] } } },
          // As it was before the last finalizer went.
          { type: 'DELETED', object: { metadata: { name: 'x', finalizers: ['demo.io/b'] } } },
          live('ADDED', 'end'),
        ],
      },
    ],
  },
  {
    name: 'an object that leaves the selector is deleted, one that enters is added',
    ranked: [35],
    steps: [
      get(configMaps, { status: 200 }, save),
      {
        watch: `${configMaps}?watch=1&resourceVersion=$(rv)&labelSelector=app%3Da`,
        during: [
          post(configMaps, configMap({}, { labels: { app: 'b' } }), { status: 201 }),
          merge(`${configMaps}/x`, { metadata: { labels: { app: 'a' } } }, { status: 200 }),
          merge(`${configMaps}/x`, { data: { k: 'v' } }, { status: 200 }),
          merge(`${configMaps}/x`, { metadata: { labels: { app: 'c' } } }, { status: 200 }),
          remove(`${configMaps}/x`, undefined, { status: 200 }),
        ],
        events: 3,
        expect: [live('ADDED'), live('MODIFIED'), live('DELETED')],
      },
    ],
  },
  {
    name: 'a watch of one name, and one of a namespace',
    ranked: [37],
    steps: [
      get(configMaps, { status: 200 }, save),
      post(configMaps, configMap({}, { name: 'a' }), { status: 201 }),
      post(configMaps, configMap({}, { name: 'b' }), { status: 201 }),
      {
        watch: `${configMaps}?watch=1&resourceVersion=$(rv)&fieldSelector=metadata.name%3Db`,
        events: 1,
        expect: [live('ADDED', 'b')],
      },
      {
        watch: `/api/v1/configmaps?watch=1&resourceVersion=$(rv)&fieldSelector=metadata.namespace%3D$(ns)`,
        events: 2,
        expect: [live('ADDED', 'a'), live('ADDED', 'b')],
      },
    ],
  },
  {
    name: 'timeoutSeconds ends a watch',
    ranked: [37],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      { watch: `${configMaps}?watch=1&timeoutSeconds=1`, events: 'all', expect: [live('ADDED')] },
    ],
  },
  {
    name: 'a watch of a version that is forgotten ends with an error, and a new one continues',
    ranked: [34],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }, save),
      {
        watch: `${things}?watch=1&resourceVersion=1`,
        events: 'all',
        expect: [
          {
            type: 'ERROR',
            object: { kind: 'Status', status: 'Failure', code: 410, reason: 'Expired' },
          },
        ],
      },
      {
        watch: `/apis/$(group)/v1/things?watch=1&resourceVersion=1&allowWatchBookmarks=true`,
        events: 'all',
        expect: [{ type: 'ERROR', object: { code: 410 } }],
      },
      {
        watch: `${things}?watch=1&resourceVersion=$(rv)`,
        during: [merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 })],
        events: 1,
        expect: [live('MODIFIED')],
      },
    ],
  },
  {
    name: 'a watch may show metadata only',
    ranked: [51],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      {
        watch: `${things}?watch=1`,
        headers: { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' },
        events: 1,
        expect: [{ type: 'ADDED', object: { kind: 'PartialObjectMetadata', spec: null } }],
      },
    ],
  },
];
