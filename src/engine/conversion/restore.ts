import { isJsonObject, jsonLength } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { digestOfValue, identityOfStep, type Loss, type LossStep } from './loss.ts';
import {
  fieldNode,
  fits,
  identities,
  identityOf,
  type ListNode,
  type SchemaNode,
} from './schema-node.ts';

/**
 * Applies losses to a converted object: each of them only if the conversion still returns what it returned then, and if the value fits the
 * schema. Returns a new object; the given one shares parts with others and is not changed.
 */
export function restore(object: object, losses: readonly Loss[], root: SchemaNode): object {
  if (losses.length === 0) return object;
  const restorer = new Restorer(object, root);
  for (const loss of losses) if (loss.order === undefined) restorer.apply(loss);
  restorer.removeItems();
  for (const loss of losses) if (loss.order !== undefined) restorer.sort(loss, loss.order);
  return restorer.object;
}

type Container = Record<string, unknown> | unknown[];

/** In the place of an item that is removed from its list when all losses are applied: not one by one, which takes quadratic time. */
const removed = Symbol('removed');

class Restorer {
  readonly #holder: { root: unknown };
  readonly #root: SchemaNode;
  /** Copies that belong to this restorer. */
  readonly #own = new WeakSet<object>();
  /** Positions of items by identity, of lists that have not changed since. */
  readonly #positions = new WeakMap<object, Map<string, number>>();
  readonly #shrunk = new Set<unknown[]>();
  readonly #sorted = new Set<unknown[]>();
  /** How much may still be compared by digests. */
  #comparable: number;

  constructor(object: object, root: SchemaNode) {
    this.#holder = { root: object };
    this.#root = root;
    // Losses are in different places. Those of a client that forges them may be inside each other, and each would be a digest of all of it.
    this.#comparable = 2 * jsonLength(object);
  }

  get object(): object {
    return this.#holder.root as object;
  }

  apply(loss: Loss): void {
    const { path, value, was } = loss;
    const last = path.at(-1);
    if (last === undefined || !this.#isPresent(loss)) return;
    const node = this.#nodeAt(path);
    if (node === undefined || (value !== undefined && !fits(value, node))) return;
    const current = this.#find(path);
    if (was === undefined ? isPresent(current) : !this.#isEqual(current, was)) return;
    const parent = this.#open(path.slice(0, -1));
    if (parent !== undefined) this.#write(parent, last, value, this.#nodeAt(path.slice(0, -1)));
  }

  removeItems(): void {
    for (const list of this.#shrunk) {
      const kept = list.filter((item) => item !== removed);
      list.length = 0;
      for (const item of kept) list.push(item);
      this.#positions.delete(list);
    }
  }

  #isEqual(value: unknown, digest: string): boolean {
    if (value === undefined || this.#comparable <= 0) return false;
    this.#comparable -= jsonLength(value);
    return this.#comparable >= 0 && digestOfValue(value) === digest;
  }

  /**
   * Sorts the items of a list; those without a place in the order follow as they are. Each list once: a client that forges orders may have
   * written many paths to one list.
   */
  sort(loss: Loss, order: readonly unknown[]): void {
    const node = this.#nodeAt(loss.path);
    if (node?.kind !== 'list' || !Array.isArray(this.#find(loss.path))) return;
    const list = this.#open(loss.path);
    if (!Array.isArray(list) || this.#sorted.has(list)) return;
    this.#sorted.add(list);
    const places = new Map(order.map((step, index) => [identityOfStep(step, node), index]));
    const placed = list.map((item) => ({
      item,
      place: places.get(identityOf(item, node)) ?? places.size,
    }));
    placed.sort((a, b) => a.place - b.place);
    for (const [index, { item }] of placed.entries()) list[index] = item;
    this.#positions.delete(list);
  }

  /** Do the steps still lead to values that did so when the loss was found? */
  #isPresent({ path, existing }: Loss): boolean {
    const parents = Math.min(existing, path.length - 1);
    return isPresent(this.#find(path.slice(0, parents)));
  }

  #find(path: readonly LossStep[]): unknown {
    let value: unknown = this.#holder.root;
    let node: SchemaNode | undefined = this.#root;
    for (const step of path) {
      value = this.#child(value, step, node);
      if (value === undefined) return undefined;
      node = node && partNode(node, step);
    }
    return value;
  }

  #child(value: unknown, step: LossStep, node: SchemaNode | undefined): unknown {
    if (typeof step === 'string')
      return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    if (!Array.isArray(value) || node?.kind !== 'list') return undefined;
    const index = this.#indexOf(value, step, node);
    return index === undefined ? undefined : value[index];
  }

  #indexOf(list: readonly unknown[], step: LossStep, node: ListNode): number | undefined {
    let positions = this.#positions.get(list);
    if (positions === undefined) {
      positions = new Map(identities(list, node) ?? []);
      this.#positions.set(list, positions);
    }
    return positions.get(identityOfStep(step, node) ?? '');
  }

  /** The container at a path, as a copy that may be changed; missing ones are created. Undefined: a step leads nowhere. */
  #open(path: readonly LossStep[]): Container | undefined {
    let parent: Container = this.#copy(this.#holder.root as object);
    this.#holder.root = parent;
    let node: SchemaNode | undefined = this.#root;
    for (const step of path) {
      const next = this.#openStep(parent, step, node);
      if (next === undefined) return undefined;
      parent = next;
      node = node && partNode(node, step);
    }
    return parent;
  }

  #openStep(
    parent: Container,
    step: LossStep,
    node: SchemaNode | undefined,
  ): Container | undefined {
    const found = this.#child(parent, step, node);
    if (typeof found === 'object' && found !== null) {
      if (this.#own.has(found)) return found as Container;
      const copy = this.#copy(found);
      this.#put(parent, step, copy, node);
      return copy;
    }
    // Items are created by the loss of the item itself.
    if (found !== undefined && found !== null) return undefined;
    const part = node && partNode(node, step);
    if (typeof step !== 'string' || part === undefined || Array.isArray(parent)) return undefined;
    const created: Container = part.kind === 'list' ? [] : {};
    this.#own.add(created);
    setField(parent, step, created);
    return created;
  }

  #write(parent: Container, step: LossStep, value: unknown, node: SchemaNode | undefined): void {
    if (value !== undefined) {
      this.#put(parent, step, value, node);
      return;
    }
    if (typeof step === 'string') {
      if (!Array.isArray(parent)) delete parent[step];
      return;
    }
    if (!Array.isArray(parent) || node?.kind !== 'list') return;
    const index = this.#indexOf(parent, step, node);
    if (index === undefined) return;
    parent[index] = removed;
    this.#positions.get(parent)?.delete(identityOfStep(step, node) ?? '');
    this.#shrunk.add(parent);
  }

  #put(parent: Container, step: LossStep, value: unknown, node: SchemaNode | undefined): void {
    if (typeof step === 'string') {
      if (!Array.isArray(parent)) setField(parent, step, value);
      return;
    }
    if (!Array.isArray(parent) || node?.kind !== 'list') return;
    const index = this.#indexOf(parent, step, node);
    if (index !== undefined) parent[index] = value;
    else {
      parent.push(value);
      this.#positions.get(parent)?.set(identityOfStep(step, node) ?? '', parent.length - 1);
    }
  }

  #copy(value: object): Container {
    if (this.#own.has(value)) return value as Container;
    const copy = Array.isArray(value) ? [...value] : copyOf(value);
    this.#own.add(copy);
    return copy;
  }

  #nodeAt(path: readonly LossStep[]): SchemaNode | undefined {
    let node: SchemaNode | undefined = this.#root;
    for (const step of path) node = node && partNode(node, step);
    return node;
  }
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function copyOf(value: object): Record<string, unknown> {
  const copy = {};
  for (const [name, field] of Object.entries(value)) setField(copy, name, field);
  return copy;
}

function partNode(node: SchemaNode, step: LossStep): SchemaNode | undefined {
  if (typeof step === 'string') return fieldNode(node, step);
  return node.kind === 'list' && node.listType !== 'atomic' ? node.item : undefined;
}
