import type { JsonObject } from '#util/json.ts';
import type { SeededRandom } from '../../support/model/seeded-random.ts';
import { randomValue } from './random-value.ts';
import { widgetSpec, widgetStatus } from './widget-schema.ts';

export const randomGroup = 'random.demo.io';

/** A write to one Widget; the same is sent to all servers. */
export interface RandomWrite {
  readonly method: 'PATCH' | 'PUT' | 'DELETE';
  /** Below the object's path: `/status?fieldManager=a`. */
  readonly tail: string;
  readonly contentType: string;
  readonly body: JsonObject;
  /** The body is to carry the version that the writer saw last. */
  readonly isVersioned: boolean;
}

const managers = ['a', 'b', 'c', 'd'];

/** The next write: mostly applies, with updates, patches and status writes between them. */
export function randomWrite(random: SeededRandom, name: string): RandomWrite {
  const manager = random.pick(managers) ?? 'a';
  const roll = random.fraction();
  if (roll < 0.55) return apply(random, { name, manager, isStatus: false });
  if (roll < 0.63) return apply(random, { name, manager, isStatus: true });
  if (roll < 0.73) return put(random, name, manager);
  if (roll < 0.95) return merge(random, manager, roll < 0.9);
  return {
    method: 'DELETE',
    tail: '',
    contentType: 'application/json',
    body: {},
    isVersioned: false,
  };
}

interface ApplyOptions {
  readonly name: string;
  readonly manager: string;
  readonly isStatus: boolean;
}

function apply(random: SeededRandom, { name, manager, isStatus }: ApplyOptions): RandomWrite {
  const content = isStatus
    ? { status: randomValue(widgetStatus, random) }
    : { spec: randomValue(widgetSpec, random) };
  const force = random.chance(0.5);
  return {
    method: 'PATCH',
    tail: `${isStatus ? '/status' : ''}?fieldManager=${manager}&force=${force}`,
    contentType: 'application/apply-patch+yaml',
    body: { ...head(random, name), ...content },
    isVersioned: false,
  };
}

function put(random: SeededRandom, name: string, manager: string): RandomWrite {
  const content = { spec: randomValue(widgetSpec, random) };
  return {
    method: 'PUT',
    tail: `?fieldManager=${manager}`,
    contentType: 'application/json',
    body: { ...head(random, name), ...content },
    isVersioned: true,
  };
}

function merge(random: SeededRandom, manager: string, isMain: boolean): RandomWrite {
  const body = isMain
    ? { spec: randomValue(widgetSpec, random) }
    : { status: randomValue(widgetStatus, random) };
  return {
    method: 'PATCH',
    tail: `${isMain ? '' : '/status'}?fieldManager=${manager}`,
    contentType: 'application/merge-patch+json',
    body,
    isVersioned: false,
  };
}

function head(random: SeededRandom, name: string): JsonObject {
  const labels = random.chance(0.3) ? { labels: { [random.pick(['x', 'y']) ?? 'x']: '1' } } : {};
  const metadata = { name, ...labels };
  return { apiVersion: `${randomGroup}/v1`, kind: 'Widget', metadata };
}
