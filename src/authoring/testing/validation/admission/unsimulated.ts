import type { CelNode } from '#sandbox';
import { nodesIn } from './cel-nodes.ts';

/** Libraries of API servers that the simulated one lacks. */
const libraries: readonly string[] = ['sets', 'format', 'lists', 'strings'];

/** Macros that the simulated server lacks; it takes their variables for unknown names. */
const macros: ReadonlySet<string> = new Set([
  ...['optMap', 'optFlatMap', 'transformList', 'transformMap', 'transformMapEntry'],
]);

/** Macros that it has with one variable, and an API server also with two. */
const pairs: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'existsOne']);

/** Names in an expression that an API server knows and the simulated one does not. */
export function unsimulatedNames(node: CelNode): ReadonlySet<string> {
  return new Set([...libraries, ...variablesIn(node)]);
}

function variablesIn(node: CelNode): readonly string[] {
  const inner = nodesIn(node.args).flatMap(variablesIn);
  if (node.op !== 'rcall') return inner;
  const [name, , args] = node.args;
  const isMissing = macros.has(name) || (pairs.has(name) && args.length > 2);
  const variables = isMissing ? args.slice(0, -1) : [];
  return [...variables.flatMap((each) => (each.op === 'id' ? [each.args] : [])), ...inner];
}

/** Whether a problem only says that the simulated server cannot compile the rule: no mistake of the author. */
export function isUnsimulated(message: string, names: ReadonlySet<string>): boolean {
  const [, name] = /undeclared reference to '([^']*)'/.exec(message) ?? [];
  if (name !== undefined) return names.has(name);
  return /no matching overload for '_[!=]=_' applied to '\(optional\(.*, optional\(/.test(message);
}
