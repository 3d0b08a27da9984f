import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type Json } from '#util/json.ts';
import { fieldOf, isJsonList } from '../json-fields.ts';
import {
  type FieldType,
  type ListShape,
  type MapShape,
  type ShapeName,
  shapeOf,
  typeOfField,
} from './field-type.ts';
import { fieldElement, itemElement, type PathElement } from './path-element.ts';
import { differenceWithChildren, insertPath, mutablePathSet, type PathSet } from './path-set.ts';

/** The differences between two values, as paths. */
export interface Comparison {
  readonly removed: PathSet;
  readonly modified: PathSet;
  readonly added: PathSet;
}

type Maybe = Json | undefined;

/** Compares two values of a type, path by path. */
export function compareValues(type: FieldType, before: Json, after: Json): Comparison {
  const walk = new ComparisonWalk();
  walk.compare(type, before, after);
  return walk;
}

/** The comparison without the given fields and everything below them. */
export function withoutFields(comparison: Comparison, fields: PathSet | undefined): Comparison {
  if (fields === undefined) return comparison;
  return {
    removed: differenceWithChildren(comparison.removed, fields),
    modified: differenceWithChildren(comparison.modified, fields),
    added: differenceWithChildren(comparison.added, fields),
  };
}

/** Traverses two values in parallel, for one comparison. */
class ComparisonWalk {
  readonly removed = mutablePathSet();
  readonly modified = mutablePathSet();
  readonly added = mutablePathSet();
  readonly #path: PathElement[] = [];

  compare(type: FieldType | undefined, before: Maybe, after: Maybe): void {
    if (before === after) return;
    if (type === undefined) {
      this.#leaf(before, after);
      return;
    }
    const [from, to] = [shapeOf(type, before), shapeOf(type, after)];
    if (after === undefined) this.#descend({ type, shape: from, before, after });
    else if (before === undefined || from === to || before === null || after === null)
      this.#descend({ type, shape: to, before, after });
    else {
      // The value changed its shape: its old fields are removed, its new fields are added.
      this.#descend({ type, shape: from, before, after });
      this.#descend({ type, shape: to, before, after });
    }
  }

  #descend({ type, shape, before, after }: Descent): void {
    const isLeaf = this.#intoShape({ type, shape, before, after });
    if (isLeaf) this.#leaf(before, after);
    else if (before === undefined) insertPath(this.added, this.#path);
    else if (after === undefined) insertPath(this.removed, this.#path);
  }

  /** Descends into a map or list; returns whether the value is a leaf instead. */
  #intoShape({ type, shape, before, after }: Descent): boolean {
    if (shape === 'map' && type.map !== undefined) return this.#maps(type.map, before, after);
    if (shape === 'list' && type.list !== undefined) return this.#lists(type.list, before, after);
    return true;
  }

  #leaf(before: Maybe, after: Maybe): void {
    if (before === undefined) insertPath(this.added, this.#path);
    else if (after === undefined) insertPath(this.removed, this.#path);
    else if (!deepEqual(before, after)) insertPath(this.modified, this.#path);
  }

  #maps(map: MapShape, before: Maybe, after: Maybe): boolean {
    const left = isJsonObject(before) ? before : {};
    const right = isJsonObject(after) ? after : {};
    const names = new Set([...Object.keys(left), ...Object.keys(right)]);
    if (map.atomic || names.size === 0) return true;
    for (const name of names) {
      this.#path.push(fieldElement(name));
      this.compare(typeOfField(map, name), fieldOf(left, name), fieldOf(right, name));
      this.#path.pop();
    }
    return false;
  }

  #lists(list: ListShape, before: Maybe, after: Maybe): boolean {
    const left = isJsonList(before) ? before : [];
    const right = isJsonList(after) ? after : [];
    if (list.atomic || (left.length === 0 && right.length === 0)) return true;
    const [old, now] = [groupItems(list, left), groupItems(list, right)];
    for (const step of new Set([...old.keys(), ...now.keys()])) {
      this.#path.push(step);
      this.#items(list.item, old.get(step) ?? [], now.get(step) ?? []);
      this.#path.pop();
    }
    return false;
  }

  /** The items at one path; several items with the same key count as one value. */
  #items(type: FieldType, before: readonly Json[], after: readonly Json[]): void {
    const [old] = before;
    const [now] = after;
    if (before.length <= 1 && after.length <= 1) {
      this.compare(type, old, now);
    } else if (before.length > 1 && after.length > 1) {
      if (!deepEqual(before, after)) insertPath(this.modified, this.#path);
    } else if (before.length > 1) {
      if (now !== undefined) this.compare(type, undefined, now);
      insertPath(this.removed, this.#path);
    } else {
      if (old !== undefined) this.compare(type, old, undefined);
      insertPath(this.added, this.#path);
    }
  }
}

interface Descent {
  readonly type: FieldType;
  readonly shape: ShapeName;
  readonly before: Maybe;
  readonly after: Maybe;
}

function groupItems(
  list: ListShape,
  items: readonly Json[],
): ReadonlyMap<PathElement, readonly Json[]> {
  return Map.groupBy(items, (item) => itemElement(list, item));
}
