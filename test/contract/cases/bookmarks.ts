import type { ContractCase } from '../driver/index.ts';
import { configMap, configMaps, get, merge, post, thing, things } from './requests.ts';

const save = { save: { rv: 'metadata.resourceVersion' } };
const added = (name = 'x') => ({ type: 'ADDED', object: { metadata: { name } } });
const initialEnd = (kind: string) => ({
  type: 'BOOKMARK',
  object: { kind, metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
});
const watchList = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

/** Bookmarks tell how far a watch is; a server sends them two seconds before its end at the latest. */
export const bookmarks: readonly ContractCase[] = [
  {
    name: 'a bookmark reports how far a watch is that has nothing to show',
    ranked: [36],
    steps: [
      get(things, { status: 200 }, save),
      {
        watch: `${things}?watch=1&resourceVersion=$(rv)&allowWatchBookmarks=true&timeoutSeconds=3&fieldSelector=metadata.name%3Dnone`,
        during: [
          post(
            things,
            thing({}),
            { status: 201 },
            { save: { newest: 'metadata.resourceVersion' } },
          ),
        ],
        events: 'all',
        expect: [
          {
            type: 'BOOKMARK',
            object: {
              kind: 'Thing',
              apiVersion: '$(group)/v1',
              metadata: { resourceVersion: '$(newest)', annotations: null, name: null },
            },
          },
        ],
      },
    ],
  },
  {
    name: 'a watch can continue from a bookmark',
    ranked: [36],
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      {
        watch: `${things}?watch=1&${watchList}&allowWatchBookmarks=true`,
        events: 2,
        expect: [added(), initialEnd('Thing')],
        save: { bookmark: '1.object.metadata.resourceVersion' },
      },
      {
        watch: `${things}?watch=1&resourceVersion=$(bookmark)`,
        during: [merge(`${things}/x`, { spec: { size: 2 } }, { status: 200 })],
        events: 1,
        expect: [{ type: 'MODIFIED', object: { spec: { size: 2 } } }],
      },
    ],
  },
  ...['', 'resourceVersion=0', watchList, `${watchList}&resourceVersion=$(rv)`].map(
    (query): ContractCase => ({
      name: `a bookmark says when the initial events are over: ${query || 'no version'}`,
      ranked: [36, 33],
      steps: [
        post(configMaps, configMap({}), { status: 201 }),
        post(configMaps, configMap({}, { name: 'y' }), { status: 201 }, save),
        {
          watch: `${configMaps}?watch=1&${query}&allowWatchBookmarks=true`,
          during: [post(configMaps, configMap({}, { name: 'z' }), { status: 201 })],
          events: 4,
          expect: [added(), added('y'), initialEnd('ConfigMap'), added('z')],
        },
        post(things, thing({}), { status: 201 }, save),
        {
          watch: `${things}?watch=1&${query}&allowWatchBookmarks=true`,
          events: 2,
          expect: [added(), initialEnd('Thing')],
        },
      ],
    }),
  ),
  {
    name: 'without initial events nothing is said of their end; without bookmarks neither',
    ranked: [36],
    steps: [
      post(things, thing({}), { status: 201 }, save),
      ...['resourceVersion=$(rv)&allowWatchBookmarks=true', 'resourceVersion=$(rv)'].map(
        (query, index) => ({
          watch: `${things}?watch=1&${query}`,
          during: [merge(`${things}/x`, { spec: { size: index + 1 } }, { status: 200 }, save)],
          events: 1,
          expect: [{ type: 'MODIFIED' }],
        }),
      ),
      {
        watch: `${things}?watch=1&resourceVersion=0`,
        during: [merge(`${things}/x`, { spec: { size: 9 } }, { status: 200 })],
        events: 2,
        expect: [added(), { type: 'MODIFIED' }],
      },
      {
        watch: `${things}?watch=1&${watchList}`,
        during: [merge(`${things}/x`, { spec: { size: 8 } }, { status: 200 })],
        events: 2,
        expect: [added(), { type: 'MODIFIED' }],
      },
    ],
  },
  {
    name: 'initial events of a version from the future are not there yet, which is reported in the watch',
    ranked: [36],
    steps: [
      {
        watch: `${configMaps}?watch=1&${watchList}&resourceVersion=99999999999999`,
        events: 'all',
        expect: [{ type: 'ERROR', object: { code: 504, reason: 'Timeout' } }],
      },
    ],
  },
  {
    name: 'options of a watch that do not go together are rejected',
    ranked: [36],
    steps: [
      get(`${configMaps}?watch=1&sendInitialEvents=true`, {
        status: 422,
        message: /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
      }),
      get(`${configMaps}?watch=1&sendInitialEvents=false`, { status: 422 }),
      get(`${configMaps}?watch=1&sendInitialEvents=true&allowWatchBookmarks=true`, { status: 422 }),
      get(`${configMaps}?watch=1&resourceVersionMatch=NotOlderThan`, {
        status: 422,
        message: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
      }),
      get(`${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=Exact`, {
        status: 422,
      }),
      get(`${things}?watch=1&sendInitialEvents=true`, { status: 422 }),
      get(`${configMaps}?watch=1&resourceVersion=abc`, { status: 500 }),
      get(`${configMaps}?watch=1&labelSelector=%3D`, { status: 400 }),
    ],
  },
];
