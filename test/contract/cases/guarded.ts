import type { JsonObject } from '#util/json.ts';
import type { ContractCase } from '../driver/index.ts';
import { apply, configMap, configMaps, get, merge, thing, things } from './requests.ts';

interface Guarded {
  readonly kind: string;
  readonly path: string;
  /** The body of an apply, with one value that changes. */
  body(value: number, metadata?: JsonObject): JsonObject;
}

const labels = { app: 'x' };
const kinds: readonly Guarded[] = [
  {
    kind: 'a ConfigMap',
    path: `${configMaps}/x`,
    body: (value, metadata = {}) => configMap({ a: String(value) }, metadata),
  },
  {
    kind: 'a Deployment',
    path: '/apis/apps/v1/namespaces/$(ns)/deployments/x',
    body: (replicas, metadata = {}) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x', ...metadata },
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'web:1' }] } },
      },
    }),
  },
  {
    kind: 'a custom resource',
    path: `${things}/x`,
    body: (size, metadata = {}) => thing({ size }, metadata),
  },
];

const first = { save: { first: 'metadata.resourceVersion' } };
const second = { save: { second: 'metadata.resourceVersion' } };
const old = { resourceVersion: '$(first)' };
const current = { resourceVersion: '$(second)' };
const conflict = { status: 409, message: /the object has been modified/ };
const taken = { status: 409, message: /conflict with "a"/ };

/** Applies whose body says which version they are about. */
export const guarded: readonly ContractCase[] = kinds.flatMap(({ kind, path, body }) => [
  ...[false, true].map((force): ContractCase => {
    const forced = force ? ', by force' : '';
    return {
      name: `an apply of another version of ${kind} that is not there makes it${forced}`,
      ranked: [61],
      steps: [
        apply({
          to: path,
          by: 'a',
          body: body(1, { resourceVersion: '1' }),
          force,
          expect: { status: 201, body: body(1) },
        }),
        get(path, { status: 200, body: body(1) }),
      ],
    };
  }),
  ...[false, true].map((force): ContractCase => {
    const forced = force ? ', by force' : '';
    return {
      name: `an apply of another version of ${kind} is a conflict${forced}`,
      ranked: [61],
      steps: [
        apply({ to: path, by: 'a', body: body(1), expect: { status: 201 }, ...first }),
        merge(path, { metadata: { labels: { by: 'another' } } }, { status: 200 }, second),
        apply({ to: path, by: 'a', body: body(2, old), force, expect: conflict }),
        // Whose value it is comes first, unless force takes it.
        apply({ to: path, by: 'b', body: body(2, old), force, expect: force ? conflict : taken }),
        apply({ to: path, by: 'a', body: body(1, old), force, expect: conflict }),
        get(path, { status: 200, body: body(1, current) }),
        apply({
          to: path,
          by: 'a',
          body: body(2, current),
          force,
          expect: { status: 200, body: body(2) },
        }),
      ],
    };
  }),
  {
    name: `an apply of the version of ${kind} still conflicts with other managers`,
    ranked: [61],
    steps: [
      apply({ to: path, by: 'a', body: body(1), expect: { status: 201 }, ...second }),
      apply({
        to: path,
        by: 'b',
        body: body(2, current),
        expect: taken,
      }),
      apply({
        to: path,
        by: 'b',
        body: body(2, current),
        force: true,
        expect: { status: 200, body: body(2) },
      }),
    ],
  },
]);
