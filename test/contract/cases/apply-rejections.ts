import type { JsonObject } from '#util/json.ts';
import type { ContractCase, RequestStep } from '../driver/index.ts';
import {
  apply,
  applyType,
  configMap,
  configMaps,
  get,
  jsonPatchType,
  mergeType,
  post,
  strategicType,
  thing,
  things,
} from './requests.ts';

const x = `${things}/x`;
const absent = '11111111-1111-4111-8111-111111111111';

/** Applies that are none, or that say what may not be. */
export const applyRejections: readonly ContractCase[] = [
  {
    name: 'an apply must say who it is and what it is about',
    ranked: [55],
    steps: [
      {
        method: 'PATCH',
        path: x,
        body: thing({}),
        headers: applyType,
        expect: {
          status: 422,
          message: /fieldManager: Required value: is required for apply patch/,
        },
      },
      apply({
        to: x,
        by: 'm'.repeat(129),
        body: thing({}),
        expect: { status: 422, message: /fieldManager: Too long/ },
      }),
      ...[[], [{ manager: 'a' }]].map((managedFields) =>
        apply({
          to: x,
          by: 'a',
          body: thing({}, { managedFields }),
          expect: { status: 400, message: /^metadata\.managedFields must be nil$/ },
        }),
      ),
      apply({
        to: x,
        by: 'a',
        body: thing({}, { managedFields: null }),
        expect: { status: 201 },
      }),
      apply({ to: x, by: 'a', body: thing({}, { name: 'y' }), expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: thing({}, { namespace: 'y' }), expect: { status: 400 } }),
      apply({
        to: x,
        by: 'a',
        body: { ...thing({}), apiVersion: '$(group)/v9' },
        expect: {
          status: 400,
          message: /^invalid object type: contract\.demo\.io\/v9, Kind=Thing$/,
        },
      }),
      apply({ to: x, by: 'a', body: { ...thing({}), kind: 'Other' }, expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: { metadata: { name: 'x' } }, expect: { status: 400 } }),
      apply({ to: x, by: 'a', body: '[]', expect: { status: 400 } }),
      apply({
        to: x,
        by: 'a',
        body: '{',
        expect: { status: 400, differs: { message: 'wording of the YAML reader' } },
      }),
      apply({ to: `${things}/none/status`, by: 'a', body: thing({}), expect: { status: 404 } }),
    ],
  },
  {
    name: 'force is for applies only',
    ranked: [55],
    steps: [
      post(configMaps, configMap({}), { status: 201 }),
      ...[mergeType, jsonPatchType, strategicType].map(
        (headers): RequestStep => ({
          method: 'PATCH',
          path: `${configMaps}/x?force=true`,
          body: headers === jsonPatchType ? [] : {},
          headers,
          expect: {
            status: 422,
            message: /force: Forbidden: may not be specified for non-apply patch/,
          },
        }),
      ),
    ],
  },
  {
    name: 'an apply in a namespace that is not there is 404',
    ranked: [31],
    steps: [
      apply({
        to: '/apis/$(group)/v1/namespaces/nowhere/things/x',
        by: 'a',
        body: thing({}),
        expect: { status: 404, message: /^namespaces "nowhere" not found$/ },
      }),
      apply({
        to: '/api/v1/namespaces/nowhere/configmaps/x',
        by: 'a',
        body: configMap({}),
        expect: { status: 404, message: /^namespaces "nowhere" not found$/ },
      }),
    ],
  },
  {
    name: 'a name must be in the body',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: { apiVersion: '$(group)/v1', kind: 'Thing', spec: { size: 1 } },
        expect: { status: 400 },
      }),
    ],
  },
  ...Object.entries({
    'an unknown field': { sise: 1 },
    'a text for a number': { size: 'x' },
    'a number for a text': { title: 5 },
    'a list for a struct': { nested: [1] },
    'a struct for a list': { tags: { a: 1 } },
    'an item twice': { tags: ['a', 'a'] },
    'a port twice': { ports: [{ port: 1 }, { port: 1, protocol: 'TCP' }] },
    'an item without its key': { items: [{ value: 1 }] },
    'a null item': { items: [null] },
    'a struct for a text': { title: { a: [1, 'x'] } },
    'a text for a flag': { on: 'yes' },
  }).map(
    ([name, spec]): ContractCase => ({
      name: `${name} keeps an apply from being read`,
      ...(name.endsWith('twice') ? { ranked: [43] } : {}),
      steps: [
        apply({
          to: x,
          by: 'a',
          body: thing(spec as unknown as JsonObject),
          expect: { status: 500, message: /^failed to create typed patch object/ },
        }),
      ],
    }),
  ),
  {
    name: 'an applied value that breaks a rule is rejected',
    ranked: [42],
    steps: [
      apply({ to: x, by: 'a', body: thing({ size: 99 }), expect: { status: 422 } }),
      apply({ to: x, by: 'a', body: thing({ nested: {} }), expect: { status: 422 } }),
      apply({ to: x, by: 'a', body: thing({ target: [1] }), expect: { status: 422 } }),
      get(x, { status: 404 }),
    ],
  },
  {
    name: 'a version or uid in the body guards the apply',
    ranked: [55],
    steps: [
      apply({ to: x, by: 'a', body: thing({}, { resourceVersion: '1' }), expect: { status: 201 } }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { resourceVersion: '1' }),
        expect: { status: 409 },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 1 }, { resourceVersion: '1' }),
        force: true,
        expect: { status: 409 },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({}, { uid: absent }),
        expect: { status: 422, message: /metadata\.uid: .*field is immutable/ },
      }),
      apply({
        to: `${things}/y`,
        by: 'a',
        body: thing({}, { name: 'y', uid: absent }),
        expect: { status: 409, message: /uid mismatch: the provided object specified uid / },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({}, { resourceVersion: '1' }),
        expect: { status: 201 },
      }),
      apply({
        to: `${configMaps}/x`,
        by: 'a',
        body: configMap({ a: '1' }, { resourceVersion: '1' }),
        expect: { status: 409 },
      }),
    ],
  },
];
