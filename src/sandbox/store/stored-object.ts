import type { JsonObject } from '../../util/json.ts';
import { objectField, withField } from '../json-fields.ts';

/** An object at one of its versions. Never changed; its JSON text is written once and shared by all who read it. */
export class StoredObject {
  readonly namespace: string;
  readonly name: string;
  /** Its place within its collection. */
  readonly key: string;
  /** The resourceVersion it was written at. */
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

/** The place of an object within its collection; sorts by namespace, then name. */
export function storeKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The version that an object carries. */
export function versionOf(object: JsonObject): number {
  return Number(objectField(object, 'metadata')?.resourceVersion);
}
