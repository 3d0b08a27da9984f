import { anyType, type ListType, type SchemaType } from '#compile';
import { type Fields, isFields } from '#reconcile/intent/intent.ts';
import { haveSameKeys } from '#reconcile/intent/list-keys.ts';
import { isZero } from '#util/zero-value.ts';

/** A way in which somebody may change a live object, and what a comparison must say of it. */
export interface Mutation {
  readonly what: string;
  /** The steps to the value, in the live object. */
  readonly path: readonly (string | number)[];
  readonly expect: 'same' | 'different';
  /** The live object, changed. */
  apply(live: object): object;
}

interface Place {
  readonly want: unknown;
  readonly have: unknown;
  readonly type: SchemaType;
  readonly path: readonly (string | number)[];
  /** Inside a value that an apply replaces as a whole. */
  readonly isExact: boolean;
}

/** All mutations of a live object that covers the intent. Zeros of the intent are left alone: what they claim depends on Go's types. */
export function mutationsOf(intent: object, live: object, type: SchemaType): readonly Mutation[] {
  return [...mutationsAt({ want: intent, have: live, type, path: [], isExact: false })];
}

function* mutationsAt(place: Place): Generator<Mutation> {
  const { want, have, path } = place;
  if (isZero(want) || want === null || have === undefined || have === null) return;
  if (path.length > 0) yield removal(path);
  if (Array.isArray(want) && Array.isArray(have)) yield* listMutations(place, want, have);
  else if (isFields(want) && isFields(have)) yield* objectMutations(place, want, have);
  else yield change('changed', path, 'different', otherThan);
}

function* objectMutations(place: Place, want: Fields, have: Fields): Generator<Mutation> {
  const type = place.type.kind === 'branch' ? place.type.either : place.type;
  const isExact = place.isExact || ('atomic' in type && type.atomic);
  yield change('added a field', place.path, isExact ? 'different' : 'same', (value) => ({
    ...(value as Fields),
    addedBySomebody: 'x',
  }));
  for (const key of Object.keys(want)) {
    yield* mutationsAt({
      want: want[key],
      have: have[key],
      type: fieldType(type, key),
      path: [...place.path, key],
      isExact,
    });
  }
}

function fieldType(type: SchemaType, key: string): SchemaType {
  if (type.kind === 'struct') return type.fields.get(key)?.type ?? anyType;
  return type.kind === 'map' ? type.item : anyType;
}

function* listMutations(
  place: Place,
  want: readonly unknown[],
  have: readonly unknown[],
): Generator<Mutation> {
  const { type, path } = place;
  const list = type.kind === 'list' && !place.isExact ? type.list : 'atomic';
  const reversed = (value: unknown) => (value as unknown[]).toReversed();
  if (list === 'set') {
    yield change('reordered a set', path, 'same', reversed);
    yield change('added to a set', path, 'same', (value) => [...(value as unknown[]), 'added']);
    for (const item of want) yield removal([...path, have.indexOf(item)]);
    return;
  }
  if (list === 'atomic') {
    yield change('added to an atomic list', path, 'different', (value) => [
      ...(value as unknown[]),
      (value as unknown[])[0],
    ]);
    if (JSON.stringify(have) !== JSON.stringify(have.toReversed()))
      yield change('reordered an atomic list', path, 'different', reversed);
  } else if (want.length > 1) {
    yield change('reordered items of ours', path, 'different', reversed);
  }
  for (const [index, item] of want.entries()) {
    const at = list === 'map' ? indexByKeys(item, have, type as ListType) : index;
    const itemType = type.kind === 'list' ? type.item : type.kind === 'branch' ? type : anyType;
    yield* mutationsAt({
      want: item,
      have: have[at],
      type: itemType,
      path: [...path, at],
      isExact: list === 'atomic',
    });
  }
}

function indexByKeys(item: unknown, have: readonly unknown[], list: ListType): number {
  return have.findIndex(
    (other) => isFields(item) && isFields(other) && haveSameKeys(item, other, list),
  );
}

function otherThan(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  return typeof value === 'boolean' ? !value : `${value}x`;
}

function removal(path: readonly (string | number)[]): Mutation {
  return {
    what: 'removed',
    path,
    expect: 'different',
    apply: (live) => {
      const copy = structuredClone(live);
      const parent = valueAt(copy, path.slice(0, -1));
      const last = path.at(-1);
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete (parent as Record<string, unknown>)[String(last)];
      return copy;
    },
  };
}

function change(
  what: string,
  path: readonly (string | number)[],
  expect: Mutation['expect'],
  make: (value: unknown) => unknown,
): Mutation {
  return {
    what,
    path,
    expect,
    apply: (live) => {
      const copy = structuredClone(live);
      if (path.length === 0) return make(copy) as object;
      const parent = valueAt(copy, path.slice(0, -1)) as Record<string, unknown>;
      const last = String(path.at(-1));
      parent[last] = make(parent[last]);
      return copy;
    },
  };
}

function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string, unknown>)[step], root);
}
