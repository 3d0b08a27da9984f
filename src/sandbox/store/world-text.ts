import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { StoredObject } from './stored-object.ts';

/** All objects at one moment. */
export interface WorldSnapshot {
  /** The version of the last change. */
  readonly version: number;
  /** Objects by collection. */
  readonly collections: ReadonlyMap<string, readonly JsonObject[]>;
}

const format = 'homeostat-world/1';

/** A world as text; each object is written as it is stored, in JSON that may be there already. */
export function writeWorld(
  version: number,
  collections: Iterable<readonly [string, Iterable<StoredObject>]>,
): string {
  const parts: string[] = [];
  for (const [name, objects] of collections) {
    const texts = Array.from(objects, (stored) => stored.json());
    if (texts.length > 0) parts.push(`${JSON.stringify(name)}:[\n${texts.join(',\n')}\n]`);
  }
  return `{"format":"${format}","version":${version},"collections":{${parts.join(',')}}}\n`;
}

/** @throws Error that says what was expected. */
export function readWorld(text: string): WorldSnapshot {
  const world = parse(text);
  if (!isJsonObject(world) || world.format !== format)
    throw new Error(`Expected a world ("format": "${format}")`);
  const { version, collections } = world;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || !isJsonObject(collections))
    throw new Error('Expected a world with "version" and "collections"');
  return {
    version,
    collections: new Map(
      Object.entries(collections).map(([name, objects]) => [name, readObjects(name, objects)]),
    ),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('Expected a world, found no JSON', { cause: error });
  }
}

function readObjects(name: string, objects: unknown): readonly JsonObject[] {
  if (Array.isArray(objects) && objects.every(isStored)) return objects;
  throw new Error(`Expected objects with a name and a resourceVersion in "${name}"`);
}

function isStored(object: unknown): object is JsonObject {
  if (!isJsonObject(object) || !isJsonObject(object.metadata)) return false;
  const { name, resourceVersion } = object.metadata;
  return typeof name === 'string' && /^\d+$/.test(String(resourceVersion));
}
