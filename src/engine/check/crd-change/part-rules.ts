/** Rules for child nodes: fields, items, map values. */
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import {
  type BreakingChange,
  type KeywordRule,
  type NodeChange,
  type NodePlace,
  nameOf,
  quoted,
} from './breaking-change.ts';

/** Schema that accepts anything. */
const anything: JsonObject = { 'x-kubernetes-preserve-unknown-fields': true };

export const checkProperties: KeywordRule = function* (_keyword, change) {
  const { place } = change;
  const before = propertiesOf(change.before, place);
  const after = propertiesOf(change.after, place);
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(name);
    const is = after.get(name);
    const inside = partPlace(place, {
      path: `${place.path}/properties`,
      step: name,
      field: place.field === '' ? name : `${place.field}.${name}`,
      isCounted: countsFields(change.after),
    });
    if (was !== undefined && is !== undefined)
      yield* change.compare({ before: was, after: is, place: inside });
    else if (is !== undefined) yield* checkAdded({ ...change, added: is, inside });
    else if (was !== undefined && place.role === 'structure')
      yield* checkRemoved(was, change.after, inside);
  }
};

/** A removed field: stored values are lost unless unknown fields are preserved; then only its defaults are missing. */
function* checkRemoved(
  removed: JsonObject,
  after: JsonObject,
  inside: NodePlace,
): Iterable<BreakingChange> {
  const isKept = after['x-kubernetes-preserve-unknown-fields'] === true;
  if (isKept && !hasDefault(removed)) return;
  const reason = isKept ? 'its defaults would be missing' : 'stored values of it would be lost';
  yield { path: inside.path, message: `${nameOf(inside)} is removed: ${reason}` };
}

/** Whether the node or a child has a default. False positives are safe: the change is rejected then. */
function hasDefault(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.some(hasDefault);
  if (!isJsonObject(schema)) return false;
  return (
    'default' in schema ||
    Object.values(schema).some((part) => part !== undefined && hasDefault(part))
  );
}

/** A new field: no values are stored unless unknown fields were preserved. */
function* checkAdded({
  before,
  after,
  place,
  compare,
  added,
  inside,
}: NodeChange & {
  readonly added: JsonObject;
  readonly inside: NodePlace;
}): Iterable<BreakingChange> {
  if (place.role === 'value') {
    yield* compare({ before: {}, after: added, place: inside });
    return;
  }
  if (before['x-kubernetes-preserve-unknown-fields'] === true) {
    yield* compare({ before: anything, after: added, place: inside });
  } else if (added.default !== undefined && (place.isCounted || countsFields(after))) {
    const message = `${nameOf(inside)} is new and has a default, which "maxProperties", "not" or similar keywords above it may reject`;
    yield { path: inside.path, message };
  }
}

export const checkItems: KeywordRule = function* (keyword, change) {
  const { after, place } = change;
  const inside = partPlace(place, {
    path: place.path,
    step: keyword,
    field: `${place.field}[]`,
    isCounted: countsFields(after),
  });
  yield* checkPart({ ...change, keyword, inside });
};

export const checkMapValues: KeywordRule = function* (keyword, change) {
  const { before, after, place } = change;
  const inside = partPlace(place, {
    path: place.path,
    step: keyword,
    field: `${place.field}.*`,
    isCounted: countsFields(after),
  });
  // An object without fields stored no values.
  const wasEmpty =
    before.properties === undefined &&
    before['x-kubernetes-preserve-unknown-fields'] !== true &&
    before['x-kubernetes-embedded-resource'] !== true;
  const isNew = before[keyword] === undefined && isJsonObject(after[keyword]);
  if (place.role === 'structure' && wasEmpty && isNew) return;
  yield* checkPart({ ...change, keyword, inside });
};

function* checkPart({
  before,
  after,
  place,
  compare,
  keyword,
  inside,
}: NodeChange & {
  readonly keyword: string;
  readonly inside: NodePlace;
}): Iterable<BreakingChange> {
  const was = before[keyword];
  const is = after[keyword];
  if (isJsonObject(was) && isJsonObject(is)) {
    yield* compare({ before: was, after: is, place: inside });
  } else if (place.role === 'value' && is === undefined) {
    return;
  } else if (place.role === 'value' && was === undefined && isJsonObject(is)) {
    yield* compare({ before: {}, after: is, place: inside });
  } else if (!deepEqual(was, is)) {
    const message = `${nameOf(place)} changes "${keyword}" from ${quoted(was)} to ${quoted(is)}`;
    yield { path: inside.path, message };
  }
}

function partPlace(
  place: NodePlace,
  part: {
    readonly path: string;
    readonly step: string;
    readonly field: string;
    readonly isCounted: boolean;
  },
): NodePlace {
  return {
    ...place,
    path: pointerTo(part.path, part.step),
    field: part.field,
    isResource: false,
    isCounted: place.isCounted || part.isCounted,
  };
}

/** Whether the node restricts the number or combination of fields. */
function countsFields(node: JsonObject): boolean {
  return ['maxProperties', 'not', 'oneOf', 'anyOf', 'allOf'].some(
    (keyword) => node[keyword] !== undefined,
  );
}

const text: JsonObject = { type: 'string' };

/** The fields of a node, with the implicit fields of a Kubernetes object. */
function propertiesOf(node: JsonObject, place: NodePlace): ReadonlyMap<string, JsonObject> {
  const own = isJsonObject(node.properties) ? node.properties : {};
  const isResource = place.isResource || node['x-kubernetes-embedded-resource'] === true;
  if (!isResource || place.role === 'value') return new Map(Object.entries(own).flatMap(mapEntry));
  const { metadata } = own;
  const written = isJsonObject(metadata) ? metadata : {};
  const inMetadata = isJsonObject(written.properties) ? written.properties : {};
  const all = {
    apiVersion: text,
    kind: text,
    ...own,
    metadata: {
      type: 'object',
      ...written,
      properties: { name: text, generateName: text, ...inMetadata },
    },
  };
  return new Map(Object.entries(all).flatMap(mapEntry));
}

function mapEntry([name, value]: readonly [string, unknown]): readonly [string, JsonObject][] {
  return isJsonObject(value) ? [[name, value]] : [];
}
