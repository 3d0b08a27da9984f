import { isJsonObject, type Json, type JsonObject, objectAt } from '#util/json.ts';
import { merged } from '../core/compare.ts';

/** A collection of objects as JSON APIs serve them: `GET` and `POST` on its path, other methods on an object. */
export interface CollectionSpec {
  /** `/zones/z1/records` */
  readonly path: string;
  /** Field with the key of an object. */
  readonly key: string;
  /** Who chooses the key. `client`: it is the last segment of the path of a `PUT`, or a field of a `POST`. */
  readonly idBy: 'server' | 'client';
  /** Fields that are never returned: passwords. @default none */
  readonly hidden?: readonly string[];
  /** Field that holds the object or the list in answers: `result`. @default none, the answer is the object */
  readonly envelope?: string;
  /** Field that holds the list in answers with a list: `items`. @default `envelope` */
  readonly listEnvelope?: string;
  /** Fields that a server may have only once; a second object is a conflict (409). @default none */
  readonly unique?: readonly string[];
  /** Another path whose `POST` creates or replaces an object, which is in a field of the body. @default none */
  readonly upsert?: { readonly path: string; readonly field: string };
  /** Fields that are returned only by the `POST` that creates the object. @default none */
  readonly once?: Readonly<Record<string, Json>>;
}

export interface CollectionRequest {
  readonly method: string;
  /** Below the base path, encoded. */
  readonly path: string;
  readonly query: string;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

interface Reply {
  readonly status: number;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The objects of a collection, by key. */
export class Collection {
  readonly spec: CollectionSpec;
  readonly objects = new Map<string, JsonObject>();
  readonly #idempotent = new Map<string, string>();
  #created = 0;

  constructor(spec: CollectionSpec) {
    this.spec = spec;
  }

  nextKey(): string {
    this.#created += 1;
    return `${this.spec.key}-${this.#created}`;
  }

  /** The key of an object that an earlier request with the same idempotency key created. */
  repeated(key: string | undefined): string | undefined {
    return key === undefined ? undefined : this.#idempotent.get(key);
  }

  remember(idempotencyKey: string | undefined, key: string): void {
    if (idempotencyKey !== undefined) this.#idempotent.set(idempotencyKey, key);
  }
}

/** The answer of a collection. Undefined: the path is of another one. */
export function answerOfCollection(
  collection: Collection,
  request: CollectionRequest,
): Reply | undefined {
  const { path } = collection.spec;
  if (request.path === path) return answerForAll(collection, request);
  const { upsert } = collection.spec;
  if (upsert?.path === request.path && request.method === 'POST') {
    const object = objectAt(request.body, upsert.field) ?? {};
    const key = String(object[collection.spec.key] ?? collection.nextKey());
    return stored(collection, key, { ...object, [collection.spec.key]: key });
  }
  if (!request.path.startsWith(`${path}/`)) return undefined;
  const key = decodeURIComponent(request.path.slice(path.length + 1));
  return answerForOne(collection, key, request);
}

function answerForAll(collection: Collection, request: CollectionRequest): Reply {
  const { spec } = collection;
  if (request.method === 'GET') {
    const wanted = [...new URLSearchParams(request.query)];
    const found = [...collection.objects.values()].filter((object) =>
      wanted.every(([field, value]) => String(object[field]) === value),
    );
    return reply(
      spec,
      200,
      found.map((object) => shown(spec, object)),
    );
  }
  if (request.method !== 'POST') return { status: 405, body: { message: 'Method not allowed' } };
  const idempotencyKey = request.headers['idempotency-key'];
  const repeated = collection.repeated(idempotencyKey);
  const before = repeated === undefined ? undefined : collection.objects.get(repeated);
  if (before !== undefined) return reply(spec, 201, shown(spec, before));
  const isTaken = [...collection.objects.values()].some((object) =>
    (spec.unique ?? []).some((field) => object[field] === request.body[field]),
  );
  const key = spec.idBy === 'server' ? collection.nextKey() : String(request.body[spec.key]);
  if (isTaken || collection.objects.has(key))
    return { status: 409, body: { message: 'It exists already' } };
  const object = { ...request.body, [spec.key]: key };
  collection.objects.set(key, object);
  collection.remember(idempotencyKey, key);
  return reply(spec, 201, { ...shown(spec, object), ...spec.once });
}

function answerForOne(collection: Collection, key: string, request: CollectionRequest): Reply {
  const { spec, objects } = collection;
  const object = objects.get(key);
  if (object === undefined && !(request.method === 'PUT' && spec.idBy === 'client'))
    return { status: 404, body: { message: 'Not found' } };
  switch (request.method) {
    case 'GET':
      return reply(spec, 200, shown(spec, object ?? {}));
    case 'PUT':
      return stored(collection, key, { ...request.body, [spec.key]: key });
    case 'PATCH':
      return stored(collection, key, merged(object, request.body));
    case 'DELETE':
      objects.delete(key);
      return { status: 204 };
    default:
      return { status: 405, body: { message: 'Method not allowed' } };
  }
}

function stored({ spec, objects }: Collection, key: string, object: JsonObject): Reply {
  const status = objects.has(key) ? 200 : 201;
  // Hidden fields are kept if a request omits them.
  const before = objects.get(key) ?? {};
  const hidden = (spec.hidden ?? []).filter((field) => object[field] === undefined);
  const kept = Object.fromEntries(hidden.map((field) => [field, before[field]]));
  objects.set(key, { ...kept, ...object });
  return reply(spec, status, shown(spec, object));
}

function shown({ hidden = [] }: CollectionSpec, object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !hidden.includes(name)));
}

function reply(
  { envelope, listEnvelope = envelope }: CollectionSpec,
  status: number,
  body: Json,
): Reply {
  const field = Array.isArray(body) ? listEnvelope : isJsonObject(body) ? envelope : undefined;
  return { status, body: field === undefined ? body : { [field]: body } };
}
