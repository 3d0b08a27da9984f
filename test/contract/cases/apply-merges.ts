import type { JsonObject } from '#util/json.ts';
import type { ContractCase, Expectation } from '../driver/index.ts';
import { apply, get, merge, plain, plains, post, thing, things } from './requests.ts';

const x = `${things}/x`;

interface Said {
  readonly by: string;
  readonly spec: JsonObject;
  readonly force?: boolean;
  /** @default 201 for the first, 200 after that */
  readonly status?: number;
  /** What the spec is gives, or a part of it. */
  readonly gives?: JsonObject;
  /** What is in managedFields then. */
  readonly owners?: Expectation['owners'];
}

/** Applies to a Thing one after the other. */
function applied(name: string, ranked: readonly number[], steps: readonly Said[]): ContractCase {
  return {
    name,
    ranked,
    steps: [
      ...steps.map(({ by, spec: said, force, status, gives, owners }, index) =>
        apply({
          to: x,
          by,
          body: thing(said),
          ...(force === undefined ? {} : { force }),
          expect: {
            status: status ?? (index === 0 ? 201 : 200),
            ...(gives === undefined ? {} : { body: { spec: gives } }),
            ...(owners === undefined ? {} : { owners }),
          },
        }),
      ),
      get(x, { status: 200 }),
    ],
  };
}

const tcp = (port: number) => `.spec.ports[{"port":${port},"protocol":"TCP"}]`;
const udp = (port: number) => `.spec.ports[{"port":${port},"protocol":"UDP"}]`;

/** What becomes of parts that several managers apply. */
export const applyMerges: readonly ContractCase[] = [
  applied(
    'what two say alike stays until both withdraw it',
    [7],
    [
      { by: 'a', spec: { size: 1, title: 'abc' } },
      {
        by: 'b',
        spec: { size: 1 },
        owners: { a: ['.spec.size', '.spec.title'], b: ['.spec.size'] },
      },
      {
        by: 'a',
        spec: { title: 'abc' },
        gives: { size: 1, title: 'abc' },
        owners: { a: ['.spec.title'], b: ['.spec.size'] },
      },
      { by: 'b', spec: { on: true }, gives: { size: null, title: 'abc', on: true } },
    ],
  ),
  applied(
    'what two say alike neither may change alone',
    [7],
    [
      { by: 'a', spec: { size: 1 } },
      { by: 'b', spec: { size: 1 } },
      { by: 'a', spec: { size: 2 }, status: 409 },
      {
        by: 'a',
        spec: { size: 2 },
        force: true,
        gives: { size: 2 },
        owners: { a: ['.spec.size'] },
      },
    ],
  ),
  applied(
    'a list map is merged by its keys, a key that is left out has its default',
    [9],
    [
      {
        by: 'a',
        spec: { ports: [{ port: 1 }, { port: 2, name: 'two' }] },
        gives: {
          ports: [
            { port: 1, protocol: 'TCP' },
            { port: 2, protocol: 'TCP', name: 'two' },
          ],
        },
        owners: {
          a: [`${tcp(1)}/`, `${tcp(1)}.port`, `${tcp(2)}/`, `${tcp(2)}.port`, `${tcp(2)}.name`],
        },
      },
      {
        by: 'b',
        spec: {
          ports: [
            { port: 2, protocol: 'TCP', name: 'two' },
            { port: 2, protocol: 'UDP' },
          ],
        },
        gives: { ports: [{ port: 1 }, { port: 2 }, { port: 2, protocol: 'UDP' }] },
        owners: {
          a: [`${tcp(1)}/`, `${tcp(1)}.port`, `${tcp(2)}/`, `${tcp(2)}.port`, `${tcp(2)}.name`],
          b: [
            ...['/', '.port', '.protocol', '.name'].map((part) => tcp(2) + part),
            ...['/', '.port', '.protocol'].map((part) => udp(2) + part),
          ],
        },
      },
      { by: 'a', spec: { ports: [{ port: 2, name: 'zwei' }] }, status: 409 },
      // The one item that is a's alone is removed; of the shared one a keeps its part.
      {
        by: 'a',
        spec: { ports: [{ port: 2 }] },
        gives: {
          ports: [
            { port: 2, protocol: 'TCP', name: 'two' },
            { port: 2, protocol: 'UDP' },
          ],
        },
      },
      { by: 'b', spec: { on: true }, gives: { ports: [{ port: 2, protocol: 'TCP', name: null }] } },
      { by: 'a', spec: { size: 1 }, gives: { ports: null } },
    ],
  ),
  applied(
    'fields of one item belong to several',
    [9],
    [
      { by: 'a', spec: { items: [{ name: 'x' }] } },
      { by: 'b', spec: { items: [{ name: 'x', value: 1 }] } },
      { by: 'a', spec: { items: [{ name: 'x', value: 2 }] }, status: 409 },
      { by: 'a', spec: {}, gives: { items: [{ name: 'x', value: 1 }] } },
      { by: 'b', spec: {}, gives: { items: null } },
    ],
  ),
  applied(
    'items stand in the order of the last apply',
    [13],
    [
      { by: 'a', spec: { items: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] } },
      {
        by: 'b',
        spec: { items: [{ name: 'c' }, { name: 'd' }, { name: 'a' }] },
        force: true,
        gives: { items: [{ name: 'b' }, { name: 'c' }, { name: 'd' }, { name: 'a' }] },
      },
    ],
  ),
  applied(
    'an apply of some items in their order leaves the order',
    [13],
    [
      { by: 'a', spec: { items: ['a', 'b', 'c', 'd'].map((name) => ({ name })) } },
      {
        by: 'b',
        spec: { items: ['b', 'x', 'd', 'y'].map((name) => ({ name })) },
        gives: { items: ['a', 'b', 'c', 'x', 'd', 'y'].map((name) => ({ name })) },
      },
      {
        by: 'a',
        spec: { items: ['d', 'c', 'b', 'a'].map((name) => ({ name })) },
        gives: { items: ['x', 'd', 'y', 'c', 'b', 'a'].map((name) => ({ name })) },
      },
    ],
  ),
  applied(
    'new items of another stand where its order has them',
    [13],
    [
      { by: 'a', spec: { items: [{ name: 'a' }, { name: 'b' }] } },
      {
        by: 'b',
        spec: { items: [{ name: 'n' }, { name: 'a' }, { name: 'm' }] },
        gives: { items: [{ name: 'n' }, { name: 'a' }, { name: 'b' }, { name: 'm' }] },
      },
    ],
  ),
  applied(
    'a set is united, stands in the order of the apply, and shrinks value by value',
    [10, 13],
    [
      {
        by: 'a',
        spec: { tags: ['a', 'b'] },
        owners: { a: ['.spec.tags["a"]', '.spec.tags["b"]'] },
      },
      {
        by: 'b',
        spec: { tags: ['c', 'b'] },
        gives: { tags: ['a', 'c', 'b'] },
        owners: {
          a: ['.spec.tags["a"]', '.spec.tags["b"]'],
          b: ['.spec.tags["b"]', '.spec.tags["c"]'],
        },
      },
      { by: 'a', spec: { size: 1 }, gives: { tags: ['c', 'b'] } },
      { by: 'b', spec: { tags: ['b'] }, gives: { tags: ['b'] } },
    ],
  ),
  applied(
    'atomic lists and maps are owned as one, and replaced',
    [11],
    [
      {
        by: 'a',
        spec: { args: ['a', 'b'], limits: { cpu: '1', memory: '2' } },
        owners: { a: ['.spec.args', '.spec.limits'] },
      },
      { by: 'b', spec: { limits: { disk: '9' } }, status: 409 },
      { by: 'b', spec: { args: ['a'] }, status: 409 },
      {
        by: 'b',
        spec: { limits: { memory: '2', cpu: '1' } },
        owners: { a: ['.spec.args', '.spec.limits'], b: ['.spec.limits'] },
      },
      {
        by: 'a',
        spec: { args: ['c'], limits: { cpu: '3' } },
        force: true,
        gives: { args: ['c'], limits: { cpu: '3', memory: null } },
        owners: { a: ['.spec.args', '.spec.limits'] },
      },
      { by: 'a', spec: { size: 1 }, gives: { args: null, limits: null } },
    ],
  ),
  applied(
    'free-form parts are merged key by key',
    [45],
    [
      { by: 'a', spec: { free: { a: { b: 1 }, list: [1, 2] } } },
      { by: 'b', spec: { free: { a: { c: 2 } } } },
      {
        by: 'a',
        spec: { free: { list: [3] } },
        gives: { free: { a: { c: 2, b: null }, list: [3] } },
      },
    ],
  ),
  applied(
    'defaults come after the merge and have no manager',
    [44],
    [
      {
        by: 'a',
        spec: { nested: { a: 'x', deep: {} } },
        gives: { level: 3, nested: { deep: { y: 'why' } } },
        owners: { a: ['.spec.nested.a', '.spec.nested.deep'] },
      },
      {
        by: 'b',
        spec: { nested: { deep: { y: 'other' } } },
        gives: { nested: { deep: { y: 'other' } }, level: 3 },
        owners: { a: ['.spec.nested.a', '.spec.nested.deep'], b: ['.spec.nested.deep.y'] },
      },
    ],
  ),
  applied(
    'a default comes back when its field is withdrawn',
    [44],
    [
      { by: 'a', spec: { level: 5, title: 'abc' } },
      { by: 'a', spec: { title: 'abc' }, gives: { level: 3 }, owners: { a: ['.spec.title'] } },
    ],
  ),
  {
    name: 'the last field of a struct leaves a null that the schema rejects',
    ranked: [12],
    steps: [
      post(`${plains}?fieldManager=u`, plain({}), { status: 201 }),
      apply({ to: `${plains}/x`, by: 'a', body: plain({ size: 1 }), expect: { status: 200 } }),
      apply({
        to: `${plains}/x`,
        by: 'a',
        body: { apiVersion: '$(group)/v1', kind: 'Plain', metadata: { name: 'x' } },
        expect: {
          status: 422,
          message: /: spec: Invalid value: "null": spec in body must be of type object: "null"$/,
        },
      }),
      get(`${plains}/x`, { status: 200, body: { spec: { size: 1 } } }),
      post(`${things}?fieldManager=u`, thing({ nested: { a: 'x', deep: { x: 'u' } } }), {
        status: 201,
      }),
      apply({ to: x, by: 'a', body: thing({ nested: { a: 'x' } }), expect: { status: 200 } }),
      merge(`${x}?fieldManager=u`, { spec: { nested: { deep: null } } }, { status: 200 }),
      apply({ to: x, by: 'a', body: thing({}), expect: { status: 200 } }),
    ],
  },
  {
    name: 'of more than ten updaters the oldest become one',
    steps: [
      post(`${things}?fieldManager=u0`, thing({ labels: { k0: '1' } }), { status: 201 }),
      ...Array.from({ length: 12 }, (_, index) =>
        merge(
          `${x}?fieldManager=u${index + 1}`,
          { spec: { labels: { [`k${index + 1}`]: '1' } } },
          {
            status: 200,
            differs: { 'metadata.managedFields': 'which entries are oldest depends on seconds' },
          },
        ),
      ),
    ],
  },
  {
    name: 'fields that were there before any apply belong to a manager of their own',
    steps: [
      post(things, thing({ size: 1 }), { status: 201 }),
      merge(x, { metadata: { managedFields: [{}] } }, { status: 200 }),
      apply({ to: x, by: 'a', body: thing({ title: 'abc' }), expect: { status: 200 } }),
      apply({
        to: x,
        by: 'a',
        body: thing({ size: 2 }),
        expect: { status: 409, message: /before-first-apply/ },
      }),
    ],
  },
  {
    name: 'an apply loses what is below an object without properties',
    steps: [
      apply({
        to: x,
        by: 'a',
        body: thing({ closed: { a: 1, b: { c: 2 } } }),
        expect: { status: 201, body: { spec: { closed: {} } } },
      }),
      apply({
        to: x,
        by: 'a',
        body: thing({ closed: {} }),
        expect: { status: 200, body: { spec: { closed: {} } } },
      }),
      apply({ to: x, by: 'a', body: thing({ size: 2 }), expect: { status: 200 } }),
      get(x, { status: 200 }),
    ],
  },
];
