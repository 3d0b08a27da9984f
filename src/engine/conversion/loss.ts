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
const mostSteps = 100;

export interface LossOptions {
  readonly original: unknown;
  /** The original after a conversion there and back. */
  readonly returned: unknown;
  readonly node: SchemaNode;
  /** Paths that are given up. */
  readonly drop: readonly (readonly RuleStep[])[];
}

/**
 * What a conversion there and back loses, one loss for each field that has an owner of its own in server-side apply: a removed field then
 * removes its annotation, and no other. In the order of their depth.
 */
export function findLosses({ original, returned, node, drop }: LossOptions): readonly Loss[] {
  const finder = new LossFinder();
  finder.compare({ original, returned, node, drop, path: [], existing: 0 });
  return finder.losses;
}

interface Place extends LossOptions {
  readonly path: readonly LossStep[];
  readonly existing: number;
}

class LossFinder {
  readonly losses: Loss[] = [];

  compare(place: Place): void {
    const { original, returned, node, drop } = place;
    // Equal parts are shared by reference: this ends most comparisons.
    if (original === returned) return;
    if (drop.some((each) => each.length === 0)) return;
    const isAbsent = original === undefined || (original === null && !node.isNullable);
    if (isAbsent && (returned === undefined || returned === null)) return;
    if (isAbsent) {
      this.losses.push(this.#loss(place, undefined));
      return;
    }
    if (this.#compareParts(place)) return;
    if (!deepEqual(original, returned)) this.losses.push(this.#loss(place, original));
  }

  #loss({ path, existing, returned }: Place, value: unknown): Loss {
    return {
      path,
      existing,
      ...(value !== undefined && { value }),
      ...(returned !== undefined && { was: digestOfValue(returned) }),
    };
  }

  /** Compares the parts of a value one by one. False: the value is lost or kept as a whole. */
  #compareParts(place: Place): boolean {
    const { original, returned, node } = place;
    if (place.path.length >= mostSteps) return false;
    if (node.kind === 'list') {
      if (node.listType === 'atomic' || !Array.isArray(original)) return false;
      return this.#compareItems({ ...place, node }, original);
    }
    if (node.kind === 'scalar' || !isJsonObject(original)) return false;
    if (returned !== undefined && !isJsonObject(returned)) return false;
    const before = this.losses.length;
    this.#compareFields(place, original, returned);
    // An object without any field that is lost: that it existed is lost.
    if (returned === undefined && this.losses.length === before)
      this.losses.push(this.#loss(place, {}));
    return true;
  }

  #compareFields(place: Place, original: JsonObject, returned: JsonObject | undefined): void {
    const names = new Set([...Object.keys(original), ...Object.keys(returned ?? {})]);
    for (const name of names) this.#compareField(place, name, original, returned);
  }

  #compareField(
    place: Place,
    name: string,
    original: JsonObject,
    returned: JsonObject | undefined,
  ): void {
    const before = ownField(original, name);
    const after = returned && ownField(returned, name);
    if (before === after) return;
    const { node } = place;
    // The API server removes fields that the schema does not have.
    if (node.kind === 'object' && !node.isOpen && !node.fields.has(name)) return;
    this.compare({
      original: before,
      returned: after,
      node: partNode(node, name),
      drop: dropInside(
        place.drop,
        (step) => step === name || (step === eachItem && node.kind === 'map'),
      ),
      path: [...place.path, name],
      existing: place.existing + (after === undefined ? 0 : 1),
    });
  }

  #compareItems(place: Place & { readonly node: ListNode }, original: readonly unknown[]): boolean {
    const { node, returned } = place;
    const list = returned === undefined ? [] : returned;
    if (!Array.isArray(list)) return false;
    const before = identities(original, node);
    const after = identities(list, node);
    if (before === undefined || after === undefined) return false;
    if (original.length === 0 && returned === undefined) return false;
    for (const [identity, index] of before) {
      const found = after.get(identity);
      this.#compareItem(place, original[index], found === undefined ? undefined : list[found]);
    }
    for (const [identity, index] of after)
      if (!before.has(identity)) this.#compareItem(place, undefined, list[index]);
    this.#compareOrder(place, [...before.keys()], [...after.keys()], original);
    return true;
  }

  #compareItem(place: Place & { readonly node: ListNode }, original: unknown, returned: unknown) {
    const { node } = place;
    const step = itemStep(original ?? returned, node);
    const path = [...place.path, step];
    const existing = place.existing + (returned === undefined ? 0 : 1);
    const drop = dropInside(place.drop, (each) => each === eachItem);
    const item = { original, returned, node: node.item, drop, path, existing };
    if (original === undefined || node.listType === 'set') return this.compare(item);
    if (returned !== undefined) return this.compare(item);
    // The item itself, then its fields: each has an owner of its own.
    this.losses.push({ path, existing, value: isJsonObject(step) ? step : original });
    return this.compare({ ...item, returned: step, existing: existing + 1 });
  }

  #compareOrder(
    place: Place & { readonly node: ListNode },
    before: readonly string[],
    after: readonly string[],
    original: readonly unknown[],
  ): void {
    const kept = after.filter((each) => before.includes(each));
    const known = new Set(kept);
    const restored = [...kept, ...before.filter((each) => !known.has(each))];
    if (deepEqual(restored, before)) return;
    const order = original.map((item) => itemStep(item, place.node));
    this.losses.push({ path: place.path, existing: place.existing, order });
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
