import type { ChildDefinition } from '../definition/index.ts';
import type { Gvk } from '../util/gvk.ts';
import { isJsonObject } from '../util/json.ts';
import type { KindSchemas } from './kind-schemas.ts';
import { childOf, type ParsedDocument } from './parsed-text.ts';
import { servedSchema } from './places.ts';
import {
  fieldsOf,
  nodeOfFields,
  nodeOfSchema,
  pathInto,
  type SchemaNode,
  throughLists,
} from './schema-node.ts';

/** The names that an expression of a definition can use, with what they contain. */
export interface ExpressionScope {
  /** The names of the root: fields of the resource, `children`, `vars`, ... */
  readonly root: ReadonlyMap<string, SchemaNode>;
  /** The variables that have a value here: `$item`. */
  readonly variables: ReadonlyMap<string, SchemaNode>;
  /** What is at a path. Undefined: not known. */
  resolve(path: readonly string[]): SchemaNode | undefined;
}

/** Vars can read vars. */
const maxVarDepth = 10;

/** The scope of a leaf at the end of `steps`. Undefined: the definition has no name or no kind yet. */
export function expressionScope(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): ExpressionScope | undefined {
  const { parts } = document;
  const resource = servedSchema(document, kinds);
  if (parts === undefined || resource === undefined) return undefined;
  const { children, onDelete, reads, vars } = parts.definition;

  const typeOf = (gvk: Gvk, what: string): SchemaNode => {
    const node = kinds.find(gvk);
    return node === undefined ? nodeOfSchema({}, what) : { ...node, description: what };
  };
  const objects = [...children, ...(onDelete?.children ?? [])].map(
    (child) => [child.id, typeOf(child.gvk, describeChild(child))] as const,
  );
  const read = reads.map(({ id, gvk, by }) => {
    const what = by.kind === 'name' ? `The ${gvk.kind} that is read` : `The ${gvk.kind} objects`;
    return [id, typeOf(gvk, what)] as const;
  });
  const root = new Map([
    ...fieldsOf(resource),
    ['children', nodeOfFields(new Map(objects), 'The children; expressions wait for them')],
    ['observed', nodeOfFields(new Map(objects), 'The children as they are now; never waits')],
    ['reads', nodeOfFields(new Map(read), 'Other objects')],
    ['vars', nodeOfFields(new Map(), 'Named values')],
  ] as const);
  const { child } = childOf(parts, steps) ?? {};
  const variables = new Map<string, SchemaNode>([
    ['$self', resource],
    ['$definition', definitionNode],
    ['$cluster', nodeOfSchema({ type: 'string' })],
  ]);
  const [, section = ''] = steps;
  if (['conditions', 'events', 'patches'].includes(section)) variables.set('$previous', resource);

  const resolve = (path: readonly string[], depth = 0): SchemaNode | undefined => {
    const [first = '', second, ...rest] = path;
    if (first === 'vars' && second !== undefined) {
      const value = Object.hasOwn(vars, second) ? nodeOfValue(vars[second], depth + 1) : undefined;
      return value && pathInto(value, rest);
    }
    const start = first.startsWith('$') ? variables.get(first) : root.get(first);
    return start && pathInto(start, path.slice(1));
  };
  const nodeOfValue = (value: unknown, depth: number): SchemaNode => {
    if (isJsonObject(value)) {
      const fields = Object.entries(value).map(
        ([name, field]) => [name, nodeOfValue(field, depth)] as const,
      );
      return nodeOfFields(new Map(fields));
    }
    const path = depth < maxVarDepth ? plainPath(value) : undefined;
    if (path !== undefined) return resolve(path, depth) ?? nodeOfSchema({});
    const isText = typeof value === 'string' && !/\$\{/.test(value);
    return nodeOfSchema(isText ? { type: 'string' } : typeSchema(value));
  };

  root.set('vars', nodeOfFields(varsOf(vars, nodeOfValue), 'Named values'));
  if (child?.forEach !== undefined && steps.some((step) => isInsideElement.has(step))) {
    const list = plainPath(child.forEach);
    const found = list && resolve(list);
    variables.set('$item', found === undefined ? nodeOfSchema({}) : throughLists(found));
    variables.set('$index', nodeOfSchema({ type: 'integer', minimum: 0 }));
  }
  if (child !== undefined && (steps.includes('ready') || steps.includes('deleteWhen')))
    variables.set('$child', typeOf(child.gvk, describeChild(child)));
  return { root, variables, resolve };
}

/** Fields of a child that are evaluated for each element. */
const isInsideElement: ReadonlySet<string> = new Set(['template', 'ready']);

const definitionNode = nodeOfSchema({
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name of the definition.' },
    revision: { type: 'string', description: 'Hash of the definition.' },
  },
});

function varsOf(
  vars: Readonly<Record<string, unknown>>,
  nodeOfValue: (value: unknown, depth: number) => SchemaNode,
): ReadonlyMap<string, SchemaNode> {
  return new Map(Object.entries(vars).map(([name, value]) => [name, nodeOfValue(value, 1)]));
}

function describeChild({ gvk, forEach }: ChildDefinition): string {
  return forEach === undefined
    ? `The ${gvk.kind} of this child`
    : `The ${gvk.kind} objects of this child, a list`;
}

/** The path of an expression that is nothing else. */
function plainPath(value: unknown): readonly string[] | undefined {
  const path =
    typeof value === 'string' ? /^\s*\$\{\s*([\w.]+)\s*\}\s*$/.exec(value)?.[1] : undefined;
  return path?.split('.');
}

function typeSchema(value: unknown) {
  if (Array.isArray(value)) return { type: 'array' };
  return ['number', 'boolean'].includes(typeof value) ? { type: typeof value } : {};
}
