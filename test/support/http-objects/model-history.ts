import type { Fault } from '#http-objects/simulated/simulated-api.ts';
import type { JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../model/seeded-random.ts';

/** Names of objects in the API: few, so that HttpObjects conflict. */
const names = ['a', 'b', 'c'] as const;

export type Kind = 'record' | 'queue' | 'token' | 'unnamed';
export const kinds: readonly Kind[] = ['record', 'queue', 'token', 'unnamed'];

/** The spec of an object of a kind. Each kind has a collection of its own in the API. */
export function randomSpec(kind: Kind, random: SeededRandom): JsonObject {
  const name = random.pick(names) ?? 'a';
  const content = `c${random.below(3)}`;
  const onIdentityChange = random.chance(0.5) ? 'Replace' : 'Hold';
  const common = { endpoint: { name: 'api' }, every: '1m', onIdentityChange };
  switch (kind) {
    case 'queue':
      return {
        ...common,
        params: { name },
        desired: { content },
        observe: { path: '/queues/{name}' },
        create: { method: 'PUT', path: '/queues/{name}' },
        update: { method: 'PUT', path: '/queues/{name}' },
        delete: { path: '/queues/{name}' },
        ...(random.chance(0.3) && { adopt: 'IfFound' }),
      };
    case 'record':
      return {
        ...common,
        ...byId('records', name, content),
        ...(random.chance(0.3) && { adopt: 'IfFound' }),
      };
    case 'token':
      return {
        ...common,
        ...byId('tokens', name, content),
        secret: { name: `secret-${random.below(2)}`, data: { token: '$(body.result.token)' } },
        onSecretLost: 'Recreate',
      };
    case 'unnamed': {
      const { find: _, ...spec } = byId('unnamed', name, content);
      return { ...common, ...spec };
    }
  }
}

function byId(
  collection: string,
  name: string,
  content: string,
): JsonObject & { find: JsonObject } {
  return {
    params: { name },
    desired: { name, content },
    observe: { path: `/${collection}/{id}`, result: '$(body.result)' },
    find: {
      path: `/${collection}`,
      query: { name },
      results: '$(body.result)',
      match: ['name'],
    },
    create: { path: `/${collection}` },
    update: { method: 'PUT', path: `/${collection}/{id}` },
    delete: { path: `/${collection}/{id}` },
    id: '$(body.result.id)',
  };
}

/** Longest time after which a request without an answer has its effect: time-out and grace. */
const latestMs = 39_000;

/** A fault of one request. */
export function randomFault(random: SeededRandom): Fault | undefined {
  if (!random.chance(0.25)) return undefined;
  switch (random.below(8)) {
    case 0:
      return { kind: 'status', status: 429, headers: { 'retry-after': String(random.below(5)) } };
    case 1:
      return { kind: 'status', status: 503 };
    case 2:
      return { kind: 'unreachable' };
    case 3:
    case 4:
      return { kind: 'lostAnswer' };
    case 5:
      return { kind: 'timeout', effectAfterMs: random.below(latestMs) };
    case 6:
      return { kind: 'timeout' };
    default:
      return {
        kind: 'status',
        status: 404,
        headers: { 'content-type': 'text/html' },
        body: '<html>Not Found</html>',
      };
  }
}
