import { parseJson } from '#util/exact-json.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { objectField, withField } from '../json-fields.ts';

/** An object at one version. Immutable; its JSON text is created once and shared. */
export class StoredObject {
  readonly namespace: string;
  readonly name: string;
  /** Its key within the collection. */
  readonly key: string;
  /** The resourceVersion of the object. */
  readonly version: number;
  readonly object: JsonObject;
  #json: string | undefined;

  constructor(object: JsonObject, version: number) {
    const metadata = objectField(object, 'metadata') ?? {};
    this.namespace = String(metadata.namespace ?? '');
    this.name = String(metadata.name ?? '');
    this.key = storeKey(this.namespace, this.name);
    this.version = version;
    const stamped = withField(metadata, 'resourceVersion', String(version));
    this.object = withField(object, 'metadata', stamped);
  }

  /** The object as JSON text. */
  json(): string {
    this.#json ??= JSON.stringify(this.object);
    return this.#json;
  }
}

/** The key of an object within its collection; sorts by namespace, then name. */
export function storeKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The resourceVersion of an object, as a number. */
export function versionOf(object: JsonObject): number {
  return Number(objectField(object, 'metadata')?.resourceVersion);
}

/** All objects at one moment. */
export interface StoreSnapshot {
  /** The version of the last change. */
  readonly version: number;
  /** Objects by collection. */
  readonly collections: ReadonlyMap<string, readonly JsonObject[]>;
}

const format = 'homeostat-world/1';

/** Serialises a snapshot; reuses the JSON text of stored objects. */
export function writeSnapshot(
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

/** @throws Error that describes the expected format */
export function readSnapshot(text: string): StoreSnapshot {
  const snapshot = parse(text);
  if (!isJsonObject(snapshot) || snapshot.format !== format)
    throw new Error(`Invalid snapshot: expected "format": "${format}"`);
  const { version, collections } = snapshot;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || !isJsonObject(collections))
    throw new Error('Invalid snapshot: expected "version" and "collections"');
  return {
    version,
    collections: new Map(
      Object.entries(collections).map(([name, objects]) => [name, parseObjects(name, objects)]),
    ),
  };
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error('Invalid snapshot: expected JSON', { cause: error });
  }
}

function parseObjects(name: string, objects: unknown): readonly JsonObject[] {
  if (Array.isArray(objects) && objects.every(isStored)) return objects;
  throw new Error(
    `Invalid snapshot: expected objects with a name and a resourceVersion in "${name}"`,
  );
}

function isStored(object: unknown): object is JsonObject {
  if (!isJsonObject(object) || !isJsonObject(object.metadata)) return false;
  const { name, resourceVersion } = object.metadata;
  return typeof name === 'string' && /^\d+$/.test(String(resourceVersion));
}
