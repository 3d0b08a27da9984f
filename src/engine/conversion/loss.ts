import { canonicalJson } from '#util/canonical-json.ts';
import { deepEqual } from '#util/deep-equal.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import { eachItem, type RuleStep } from './rule-path.ts';
import { identities, identityOf, type ListNode, type SchemaNode } from './schema-node.ts';

/** One step to a preserved value: a field or key, the keys of an item, or `[item]` of a list of unique texts. */
export type LossStep = string | JsonObject | readonly [unknown];

/** A value that a conversion there and back loses. It is applied again only if the conversion back still returns the same as then. */
export interface Loss {
  readonly path: readonly LossStep[];
  /** How many steps led to a value of the conversion back: they must lead to one again, others are created. */
  readonly existing: number;
  /** The lost value. Undefined: the conversion back returns a value where there was none. */
  readonly value?: unknown;
  /** A digest of what the conversion back returned. Undefined: nothing. */
  readonly was?: string;
  /** The order of the items of a list, by the values of their keys. */
  readonly order?: readonly unknown[];
}

/** A digest of a value. Values that are nested too deep for one are all the same. */
export function digestOfValue(value: unknown): string {
  return sha256Hex(textOfValue(value) ?? '').slice(0, 12);
}

/** The value as JSON. Undefined: it is nested deeper than the stack. */
export function textOfValue(value: unknown): string | undefined {
  try {
    return canonicalJson(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Values that are nested deeper are lost as a whole: no schema is as deep. */
export const mostSteps = 100;

export interface LossOptions {
  readonly original: unknown;
  /** The original after a conversion there and back. */
  readonly returned: unknown;
  readonly node: SchemaNode;
  /** Paths that are given up. */
  readonly drop: readonly (readonly RuleStep[])[];
  /** How many are enough. @default all */
  readonly most?: number;
}

/**
 * What a conversion there and back loses, one loss for each field that has an owner of its own in server-side apply: a removed field then
 * removes its annotation, and no other. In the order of their depth.
 */
export function findLosses(options: LossOptions): readonly Loss[] {
  const { original, returned, node, drop, most = Number.POSITIVE_INFINITY } = options;
  const finder = new LossFinder(most);
  finder.compare(original, returned, { node, drop, depth: 0, existing: 0 });
  return finder.losses;
}

/** A place in both values. A chain, so that a path is built for what is lost only. */
interface Place {
  readonly node: SchemaNode;
  readonly drop: readonly (readonly RuleStep[])[];
  readonly depth: number;
  readonly existing: number;
  readonly parent?: Place;
  /** The field, or an item of the list of the parent. */
  readonly name?: string;
  readonly item?: unknown;
}

interface ListPlace extends Place {
  readonly node: ListNode;
}

function pathOf(place: Place): readonly LossStep[] {
  const steps: LossStep[] = [];
  for (let each = place; each.parent !== undefined; each = each.parent)
    steps.push(each.name ?? itemStep(each.item, each.parent.node as ListNode));
  return steps.reverse();
}

class LossFinder {
  readonly losses: Loss[] = [];
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  compare(original: unknown, returned: unknown, place: Place): void {
    // Equal parts are shared by reference: this ends most comparisons.
    if (original === returned || this.losses.length >= this.#most) return;
    const { node, drop } = place;
    if (drop.length > 0 && drop.some((each) => each.length === 0)) return;
    const isAbsent = original === undefined || (original === null && !node.isNullable);
    if (isAbsent) {
      if (returned !== undefined && returned !== null) this.#lose(place, undefined, returned);
      return;
    }
    if (this.#compareParts(original, returned, place)) return;
    if (!deepEqual(original, returned)) this.#lose(place, original, returned);
  }

  #lose(place: Place, value: unknown, returned: unknown): void {
    this.losses.push({
      path: pathOf(place),
      existing: place.existing,
      ...(value !== undefined && { value }),
      ...(returned !== undefined && { was: digestOfValue(returned) }),
    });
  }

  /** Compares the parts of a value one by one. False: the value is lost or kept as a whole. */
  #compareParts(original: unknown, returned: unknown, place: Place): boolean {
    const { node } = place;
    if (node.kind === 'scalar' || place.depth >= mostSteps) return false;
    if (node.kind === 'list') {
      if (node.listType === 'atomic' || !Array.isArray(original)) return false;
      return this.#compareItems(original, returned, place as ListPlace);
    }
    if (!isJsonObject(original)) return false;
    if (returned !== undefined && !isJsonObject(returned)) return false;
    const before = this.losses.length;
    this.#compareFields(original, returned, place);
    // An object without any field that is lost: that it existed is lost.
    if (returned === undefined && this.losses.length === before) this.#lose(place, {}, undefined);
    return true;
  }

  #compareFields(original: JsonObject, returned: JsonObject | undefined, place: Place): void {
    for (const name of Object.keys(original)) {
      const after = returned && ownField(returned, name);
      if (original[name] !== after) this.#compareField(name, original[name], after, place);
    }
    if (returned === undefined) return;
    for (const name of Object.keys(returned))
      if (!Object.hasOwn(original, name))
        this.#compareField(name, undefined, returned[name], place);
  }

  #compareField(name: string, before: unknown, after: unknown, place: Place): void {
    const { node, drop } = place;
    // The API server removes fields that the schema does not have.
    if (node.kind === 'object' && !node.isOpen && !node.fields.has(name)) return;
    this.compare(before, after, {
      node: partNode(node, name),
      drop: dropInside(drop, (step) => step === name || (step === eachItem && node.kind === 'map')),
      depth: place.depth + 1,
      existing: place.existing + (after === undefined ? 0 : 1),
      parent: place,
      name,
    });
  }

  #compareItems(original: readonly unknown[], returned: unknown, place: ListPlace): boolean {
    const { node } = place;
    const list = returned === undefined ? [] : returned;
    if (!Array.isArray(list)) return false;
    const before = identities(original, node);
    const after = identities(list, node);
    if (before === undefined || after === undefined) return false;
    if (original.length === 0 && returned === undefined) return false;
    let isInOrder = list.length <= original.length;
    for (const [identity, index] of before) {
      const found = after.get(identity);
      if (found !== index) isInOrder = false;
      this.#compareItem(original[index], found === undefined ? undefined : list[found], place);
    }
    for (const [identity, index] of after)
      if (!before.has(identity)) this.#compareItem(undefined, list[index], place);
    if (!isInOrder) this.#compareOrder(before, after, original, place);
    return true;
  }

  #compareItem(original: unknown, returned: unknown, parent: ListPlace): void {
    if (original === returned) return;
    const { node } = parent;
    const place: Place = {
      node: node.item,
      drop: dropInside(parent.drop, (each) => each === eachItem),
      depth: parent.depth + 1,
      existing: parent.existing + (returned === undefined ? 0 : 1),
      parent,
      item: original ?? returned,
    };
    if (original === undefined || returned !== undefined || node.listType === 'set') {
      this.compare(original, returned, place);
      return;
    }
    // The item itself, then its fields: each has an owner of its own.
    const step = itemStep(original, node);
    const value = isJsonObject(step) ? step : original;
    this.losses.push({ path: pathOf(place), existing: place.existing, value });
    this.compare(original, step, { ...place, existing: place.existing + 1 });
  }

  #compareOrder(
    before: ReadonlyMap<string, number>,
    after: ReadonlyMap<string, number>,
    original: readonly unknown[],
    place: ListPlace,
  ): void {
    const kept = [...after.keys()].filter((each) => before.has(each));
    const restored = [...kept, ...[...before.keys()].filter((each) => !after.has(each))];
    if (deepEqual(restored, [...before.keys()])) return;
    const order = original.map((item) => itemStep(item, place.node));
    this.losses.push({ path: pathOf(place), existing: place.existing, order });
  }
}

/** The step to an item of a list. */
export function itemStep(item: unknown, node: ListNode): JsonObject | readonly [unknown] {
  if (node.listType === 'set' || !isJsonObject(item)) return [item];
  return Object.fromEntries(node.keys.map((key) => [key, item[key]]));
}

/** What identifies the item that a step leads to. */
export function identityOfStep(step: unknown, node: ListNode): string | undefined {
  return identityOf(Array.isArray(step) ? step[0] : step, node);
}

function ownField(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function partNode(node: SchemaNode, name: string): SchemaNode {
  const any = { kind: 'any', isNullable: true } as const;
  if (node.kind === 'object') return node.fields.get(name) ?? any;
  return node.kind === 'map' ? node.item : any;
}

function dropInside(
  drop: readonly (readonly RuleStep[])[],
  isHere: (step: RuleStep | undefined) => boolean,
): readonly (readonly RuleStep[])[] {
  if (drop.length === 0) return drop;
  return drop.filter((each) => each.length > 0 && isHere(each[0])).map((each) => each.slice(1));
}
