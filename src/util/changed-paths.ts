import { isJsonObject } from './json.ts';

/**
 * Paths at which two JSON trees differ: `children.deployment.template.spec.replicas`. List items are identified by
 * `id` or `name`.
 */
export function changedPaths(before: unknown, after: unknown): readonly string[] {
  const paths: string[] = [];
  compare({ before, after, path: '' }, paths);
  return paths;
}

interface Place {
  readonly before: unknown;
  readonly after: unknown;
  readonly path: string;
}

function compare({ before, after, path }: Place, into: string[]): void {
  if (Object.is(before, after)) return;
  const [left, right] = [partsOf(before), partsOf(after)];
  if (left === undefined || right === undefined) {
    into.push(path);
    return;
  }
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const at = path === '' ? name : `${path}.${name}`;
    compare({ before: left.get(name), after: right.get(name), path: at }, into);
  }
}

/** Undefined: neither an object nor a list. */
function partsOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map(value.map((item, at) => [itemName(item, at), item]));
  return isJsonObject(value) ? new Map(Object.entries(value)) : undefined;
}

function itemName(item: unknown, at: number): string {
  const { id, name } = isJsonObject(item) ? item : {};
  if (typeof id === 'string') return id;
  return typeof name === 'string' ? name : String(at);
}
