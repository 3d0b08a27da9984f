/** For the tests of this folder only: what an evaluation reads. */
import type { Reference } from './leaf.ts';

/** A view of a value that notes the path of every own field that is looked at; `!` stands for "all of it". */
export function recording(value: unknown, path: readonly string[], reads: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const below = (key: string | symbol) =>
    isList || typeof key === 'symbol' ? path : [...path, key];
  const isField = (key: string | symbol) =>
    typeof key === 'string' &&
    !isList &&
    !/^(_jsonata|sequence|outerWrapper|tupleStream|then|next|arity|length)/.test(key);
  return new Proxy(value, {
    get(target, key, receiver) {
      if (isField(key)) reads.add(below(key).join('.'));
      return recording(Reflect.get(target, key, receiver), below(key), reads);
    },
    ownKeys(target) {
      if (!isList) reads.add([...path, '!'].join('.'));
      return Reflect.ownKeys(target);
    },
    getOwnPropertyDescriptor(target, key) {
      if (isField(key)) reads.add(below(key).join('.'));
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
}

const besideResource = ['children', 'observed', 'reads', 'vars'];

/** Does a reference cover what was read? */
export function isCovered(read: string, references: readonly Reference[]): boolean {
  const steps = read.split('.');
  return references.some((reference) => {
    const path = pathOf(reference);
    // The roots beside the resource are not below it.
    if (path.length === 0 && besideResource.includes(steps[0] ?? '')) return false;
    return path.every((step, index) => index >= steps.length || steps[index] === step);
  });
}

function pathOf({ root, path }: Reference): readonly string[] {
  if (root === 'resource') return path;
  return [root === 'item' ? '$item' : root, ...path];
}
