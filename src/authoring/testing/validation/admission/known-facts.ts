import type { AdmissionOperation } from '#definition';
import { type CelNode, literalOf } from '#sandbox';
import { isCelNode } from './cel-nodes.ts';

/** What is known where an expression is evaluated: which requests it can be, and which values exist. */
export interface Facts {
  readonly operations: ReadonlySet<AdmissionOperation>;
  /** Paths such as `object.spec.size` and `object.metadata.labels['a']`. */
  readonly present: ReadonlySet<string>;
}

/** The path of a selection from a variable, also an optional one. Undefined: another expression. */
export function pathOf(node: CelNode): string | undefined {
  switch (node.op) {
    case 'id':
      return node.args;
    case '.':
    case '.?': {
      const [object, name] = node.args;
      const path = pathOf(object);
      return path === undefined ? undefined : `${path}.${name}`;
    }
    case '[]':
    case '[?]': {
      const [object, key] = node.args;
      const path = pathOf(object);
      const value = literalOf(key);
      return path === undefined || value === undefined ? undefined : `${path}[${value}]`;
    }
    case 'rcall': {
      // `m.orValue({})` has the keys of `m`.
      const [name, object] = node.args;
      return name === 'orValue' ? pathOf(object) : undefined;
    }
    default:
      return undefined;
  }
}

/** What is also known where a condition is true, or false. */
export function factsWhere(condition: CelNode, outcome: boolean, facts: Facts): Facts {
  switch (condition.op) {
    case '!_':
      return factsWhere(condition.args, !outcome, facts);
    case '&&':
    case '||': {
      const [left, right] = condition.args;
      const isBoth = (condition.op === '&&') === outcome;
      return isBoth
        ? factsWhere(right, outcome, factsWhere(left, outcome, facts))
        : common(factsWhere(left, outcome, facts), factsWhere(right, outcome, facts));
    }
    case 'call': {
      const [name, [argument]] = condition.args;
      return name === 'has' && outcome && argument ? withPath(argument, facts) : facts;
    }
    case 'rcall': {
      const [name, object] = condition.args;
      return name === 'hasValue' && outcome ? withPath(object, facts) : facts;
    }
    case 'in':
      return outcome ? factsOfMembership(condition.args, facts) : facts;
    case '==':
    case '!=':
      return factsOfComparison(condition.args, (condition.op === '==') === outcome, facts);
    default:
      return facts;
  }
}

/** `'key' in map`; `request.operation in ['CREATE']`. */
function factsOfMembership([element, list]: readonly CelNode[], facts: Facts): Facts {
  if (element === undefined || list === undefined) return facts;
  if (pathOf(element) === 'request.operation' && list.op === 'list')
    return withOperations(facts, (name) => list.args.some((each) => literalOf(each) === name));
  const [key, path] = [literalOf(element), pathOf(list)];
  if (key === undefined || path === undefined) return facts;
  return withPaths([...ancestorsOf(list), `${path}[${key}]`], facts);
}

/** `a == null`; `request.operation == 'CREATE'`. */
function factsOfComparison(
  [left, right]: readonly CelNode[],
  isEqual: boolean,
  facts: Facts,
): Facts {
  if (left === undefined || right === undefined) return facts;
  const [subject, value] =
    literalOf(right) === undefined ? [right, literalOf(left)] : [left, literalOf(right)];
  if (pathOf(subject) === 'request.operation')
    return withOperations(facts, (name) => (name === value) === isEqual);
  return value === null && !isEqual ? withPath(subject, facts) : facts;
}

function withOperations(facts: Facts, keeps: (requestName: string) => boolean): Facts {
  const operations = [...facts.operations].filter((each) => keeps(each.toUpperCase()));
  return { ...facts, operations: new Set(operations) };
}

function withPath(node: CelNode, facts: Facts): Facts {
  return withPaths(ancestorsOf(node), facts);
}

function withPaths(paths: readonly string[], facts: Facts): Facts {
  return { ...facts, present: new Set([...facts.present, ...paths]) };
}

/** The path of a selection and of everything that it selects from. */
function ancestorsOf(node: CelNode): readonly string[] {
  const path = pathOf(node);
  if (path === undefined) return [];
  if (node.op === 'id') return [path];
  const object =
    node.op === 'rcall' ? node.args[1] : Array.isArray(node.args) ? node.args[0] : undefined;
  return [...(isCelNode(object) ? ancestorsOf(object) : []), path];
}

function common(a: Facts, b: Facts): Facts {
  return {
    operations: new Set([...a.operations, ...b.operations]),
    present: new Set([...a.present].filter((path) => b.present.has(path))),
  };
}
