import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, configMap, configMaps, get, post, put, thing, things } from './requests.ts';

/** What the server makes of `web-`: no vowels, nothing that looks like something else. */
const generated = (prefix: string) => ({
  'metadata.name': new RegExp(`^${prefix}[bcdfghjklmnpqrstvwxz2456789]{5}$`),
});

const kinds = [
  {
    kind: 'a ConfigMap',
    path: configMaps,
    body: (metadata: JsonObject) => configMap({}, metadata),
  },
  { kind: 'a custom resource', path: things, body: (metadata: JsonObject) => thing({}, metadata) },
];

/** Names of objects: made up, given, mismatched, malformed. */
export const names: readonly ContractCase[] = kinds.flatMap(({ kind, path, body }) => [
  {
    name: `the name of ${kind} is made of a prefix and five characters`,
    ranked: [54],
    steps: [
      post(
        path,
        body({ name: '', generateName: 'web-' }),
        {
          status: 201,
          body: { metadata: { generateName: 'web-' } },
          generated: generated('web-'),
        },
        { save: { name: 'metadata.name', uid: 'metadata.uid' } },
      ),
      get(`${path}/$(name)`, { status: 200, body: { metadata: { uid: '$(uid)' } } }),
      post(
        path,
        body({ name: '', generateName: 'web-' }),
        { status: 201, generated: generated('web-') },
        { save: { other: 'metadata.name' } },
      ),
      get(`${path}/$(other)`, { status: 200 }),
      // The name that is given wins, whatever the prefix.
      post(path, body({ name: 'given', generateName: 'web-' }), {
        status: 201,
        body: { metadata: { name: 'given', generateName: 'web-' } },
      }),
      post(path, body({ name: '', generateName: 'a'.repeat(70) }), {
        status: 201,
        generated: generated('a{58}'),
      }),
      post(`${path}?dryRun=All`, body({ name: '', generateName: 'dry-' }), {
        status: 201,
        body: { metadata: { resourceVersion: null } },
        generated: generated('dry-'),
      }),
    ],
  },
  {
    name: `the name of ${kind} must be that of the path, its namespace, too`,
    ranked: [54],
    steps: [
      post(path, body({ name: 'x', namespace: 'other' }), {
        status: 400,
        message:
          /the namespace of the provided object does not match the namespace sent on the request/,
      }),
      post(path, body({ name: 'x', namespace: '$(ns)' }), { status: 201 }),
      put(`${path}/x`, body({ name: 'y' }), {
        status: 400,
        message: /the name of the object \(y\) does not match the name on the URL \(x\)/,
      }),
      put(`${path}/x`, body({ name: 'x', namespace: 'other' }), { status: 400 }),
      apply({ to: `${path}/x`, by: 'a', body: body({ name: 'y' }), expect: { status: 400 } }),
    ],
  },
  {
    name: `malformed names of ${kind} are rejected, and a version at birth`,
    ranked: [54],
    steps: [
      ...['A', 'a_b', '-a', 'a.', 'a..b', 'a'.repeat(254), 'ä', 'a b'].map((name) =>
        post(path, body({ name }), { status: 422, message: /metadata\.name: Invalid value/ }),
      ),
      ...['a'.repeat(253), '0', 'a.b-c.d'].map((name) =>
        post(path, body({ name }), { status: 201 }),
      ),
      apply({ to: `${path}/A_`, by: 'a', body: body({ name: 'A_' }), expect: { status: 422 } }),
      post(path, body({ name: 'born', resourceVersion: '5' }), {
        status: 500,
        message: /^resourceVersion should not be set on objects to be created$/,
      }),
      get(`${path}/born`, { status: 404 }),
    ],
  },
]);
