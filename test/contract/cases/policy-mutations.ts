import type { ContractCase, ContractStep, Expectation } from '../driver/index.ts';
import {
  changing,
  dry,
  map,
  maps,
  mutating,
  mutatingBinding,
  mutatingBindings,
  type PolicyOptions,
} from './policies.ts';
import { apply, get, merge, post, thing, things } from './requests.ts';

const patched = `JSONPatch{op: "add", path: "/metadata/labels", value: {"patched": "yes"}}`;

/** A policy that changes ConfigMaps, in effect, then steps. */
function mutated(
  name: string,
  expressions: readonly string[],
  steps: readonly ContractStep[],
  options: PolicyOptions & { readonly until?: Expectation } = {},
): ContractCase {
  const { until = { status: 201, body: { metadata: { labels: { patched: 'yes' } } } } } = options;
  return {
    name,
    steps: [
      post(mutating, changing(expressions, options), { status: 201 }),
      post(mutatingBindings, mutatingBinding(), { status: 201 }),
      { untilAnswer: post(dry(maps), map({ a: 'x', b: 'y' }, { name: 'probe' }), until) },
      ...steps,
    ],
  };
}

export const policyMutationCases: readonly ContractCase[] = [
  mutated(
    'a JSON patch adds, replaces and removes fields, which nobody owns then',
    [
      `[${patched}, JSONPatch{op: "replace", path: "/data/a", value: "new"}, JSONPatch{op: "remove", path: "/data/b"}]`,
    ],
    [
      post(maps, map({ a: 'x', b: 'y' }), { status: 201, body: { data: { a: 'new', b: null } } }),
      merge(
        `${maps}/x`,
        { data: { a: 'again', b: 'z' } },
        { status: 200, body: { data: { a: 'new', b: null } } },
      ),
      apply({
        to: `${maps}/y`,
        by: 'a',
        body: map({ a: 'x', b: 'y' }, { name: 'y' }),
        expect: { status: 201, body: { data: { a: 'new', b: null } } },
      }),
    ],
  ),
  mutated(
    'a key of a patch is escaped',
    [
      `[${patched}, JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("example.com/a"), value: "v"}]`,
    ],
    [
      post(maps, map({ a: 'x' }), {
        status: 201,
        body: { metadata: { annotations: { 'example.com/a': 'v' } } },
      }),
    ],
  ),
  mutated(
    'a value is an object, or computed',
    [
      `[JSONPatch{op: "add", path: "/metadata/labels", value: {"patched": "yes", "size": string(size(object.data))}}]`,
    ],
    [post(maps, map({ a: 'x' }), { status: 201, body: { metadata: { labels: { size: '1' } } } })],
  ),
  mutated(
    'a patch depends on the object and on a condition',
    [
      `has(object.metadata.labels) ? [] : [${patched}]`,
      `[JSONPatch{op: "test", path: "/data/a", value: "x"}, JSONPatch{op: "add", path: "/data/c", value: "d"}]`,
    ],
    [
      post(maps, map({ a: 'x' }), { status: 201, body: { data: { c: 'd' } } }),
      post(maps, map({ a: 'other' }, { name: 'y' }), { status: 201, body: { data: { c: null } } }),
      post(maps, map({ a: 'skip' }, { name: 'z' }), {
        status: 201,
        body: { metadata: { labels: null } },
      }),
    ],
    {
      spec: {
        matchConditions: [{ name: 'not-skipped', expression: "object.data.a != 'skip'" }],
      },
    },
  ),
  mutated(
    'variables are used in patches',
    [`[JSONPatch{op: "add", path: "/metadata/labels", value: variables.labels}]`],
    [post(maps, map({ a: 'x' }), { status: 201 })],
    { spec: { variables: [{ name: 'labels', expression: '{"patched": "yes"}' }] } },
  ),
  mutated(
    'a patch that cannot be applied denies the request',
    [`[${patched}]`, `[JSONPatch{op: "remove", path: "/data/gone"}]`],
    [
      post(maps, map({ a: 'x' }), { status: 403 }),
      post(maps, map({ a: 'x', gone: '' }), { status: 201, body: { data: { gone: null } } }),
    ],
    { until: { status: 403 } },
  ),
  mutated(
    'a patch that cannot be applied is left out where failures are ignored',
    [`[${patched}]`, `[JSONPatch{op: "remove", path: "/data/gone"}]`],
    [post(maps, map({ a: 'x' }), { status: 201 })],
    { spec: { failurePolicy: 'Ignore' } },
  ),
  mutated(
    'an expression that fails denies the request',
    [`[JSONPatch{op: "add", path: "/data/c", value: object.data.nothing}]`],
    [post(maps, map({ a: 'x' }), { status: 403 })],
    { until: { status: 403 } },
  ),
  mutated(
    'a changed object is validated',
    [`[${patched}, JSONPatch{op: "add", path: "/data/not a key!", value: ""}]`],
    [post(maps, map({ a: 'x' }), { status: 422 })],
    { until: { status: 422 } },
  ),
  mutated(
    'a policy that is invoked again sees its own changes',
    [
      `[JSONPatch{op: "add", path: "/metadata/labels", value: {"patched": "yes"}}, JSONPatch{op: "add", path: "/data/count", value: string(size(object.data)) + object.?data[?'count'].orValue("")}]`,
    ],
    [post(maps, map({ a: 'x' }), { status: 201 })],
    { spec: { reinvocationPolicy: 'IfNeeded' } },
  ),
  {
    name: 'a custom resource is changed, and gets defaults after it',
    steps: [
      post(
        mutating,
        changing(
          [
            `[JSONPatch{op: "add", path: "/metadata/labels", value: {"patched": "yes"}}, JSONPatch{op: "add", path: "/spec/level", value: 7}]`,
          ],
          { rule: { apiGroups: ['$(group)'], resources: ['things'] } },
        ),
        { status: 201 },
      ),
      post(mutatingBindings, mutatingBinding(), { status: 201 }),
      {
        untilAnswer: post(dry(things), thing({ size: 1 }), {
          status: 201,
          body: { spec: { level: 7 } },
        }),
      },
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(`${things}/x`, { spec: { level: 8 } }, { status: 200 }),
      get(`${things}/x`, { status: 200 }),
    ],
  },
];
