import {
  fieldsOf,
  historySchema,
  nodeOfFields,
  nodeOfSchema,
  pathInto,
  type SchemaNode,
  throughLists,
} from '#compile';
import type { ChildDefinition, ReadDefinition, Template } from '#definition';
import type { Gvk } from '#util/gvk.ts';
import { isJsonObject } from '#util/json.ts';
import type { KindSchemas } from './knowledge.ts';
import { childOf, type ParsedDocument } from './parsed-text.ts';
import { servedSchema } from './places.ts';

/** The names that an expression of a definition can use, with what they contain. */
export interface ExpressionScope {
  /** The names of the root: fields of the resource, `children`, `vars`, ... */
  readonly root: ReadonlyMap<string, SchemaNode>;
  /** The variables that have a value here: `$item`. */
  readonly variables: ReadonlyMap<string, SchemaNode>;
  /** What is at a path. Undefined: not known. */
  resolve(path: readonly string[]): SchemaNode | undefined;
}

/** The scope of a leaf at the end of `steps`. Undefined: the definition has no name or no kind yet. */
export function expressionScope(
  document: ParsedDocument,
  steps: readonly string[],
  kinds: KindSchemas,
): ExpressionScope | undefined {
  const { parts } = document;
  const isOfInstall = steps[1] === 'install';
  const resource = isOfInstall ? installNode : servedSchema(document, kinds);
  if (parts === undefined || resource === undefined) return undefined;
  const { children, install = [], onDelete, reads, vars } = parts.definition;
  const ofResource = [...children, ...(onDelete?.children ?? [])];
  const objects = nodesOf(isOfInstall ? install : ofResource, (child) =>
    nodeOfKind(child.gvk, describeChild(child), kinds),
  );
  const lists = kinds.listReads(parts.definition);
  const read = nodesOf(reads, (each) => nodeOfKind(each.gvk, describeRead(each, lists), kinds));
  const root = new Map<string, SchemaNode>([
    ...fieldsOf(resource),
    ['children', nodeOfFields(objects, `${named(isOfInstall)}; expressions wait for them`)],
    ['observed', nodeOfFields(objects, `${named(isOfInstall)} as they are now; never waits`)],
    ['reads', nodeOfFields(read, 'Other objects')],
  ]);
  if (reads.some(({ history }) => history !== undefined)) root.set('history', historyNode);
  const values = new Map<string, SchemaNode>();
  root.set('vars', nodeOfFields(values, 'Named values'));
  const variables = new Map<string, SchemaNode>();
  const scope: ExpressionScope = {
    root,
    variables,
    resolve: ([first = '', ...rest]) => {
      const start = first.startsWith('$') ? variables.get(first) : root.get(first);
      return start && pathInto(start, rest);
    },
  };
  // Vars can read vars in any order; a second turn completes those that read a later one.
  for (let turn = 0; turn < 2; turn++)
    for (const [name, value] of Object.entries(vars)) values.set(name, nodeOfValue(value, scope));
  for (const [name, node] of variablesAt(document, steps, { resource, scope, kinds }))
    variables.set(name, node);
  return scope;
}

function named(isOfInstall: boolean): string {
  return isOfInstall ? 'The other objects of "install"' : 'The children';
}

function nodesOf<Part extends { readonly id: string }>(
  parts: readonly Part[],
  nodeOf: (part: Part) => SchemaNode,
): ReadonlyMap<string, SchemaNode> {
  return new Map(parts.map((part) => [part.id, nodeOf(part)]));
}

function nodeOfKind(gvk: Gvk, description: string, kinds: KindSchemas): SchemaNode {
  const node = kinds.find(gvk);
  return node === undefined ? nodeOfSchema({}, description) : { ...node, description };
}

/** What a var contains, as far as it is written: maps, scalars, and what a path leads to. */
function nodeOfValue(value: unknown, scope: ExpressionScope): SchemaNode {
  if (isJsonObject(value)) {
    const fields = Object.entries(value).map(
      ([name, field]) => [name, nodeOfValue(field, scope)] as const,
    );
    return nodeOfFields(new Map(fields));
  }
  if (Array.isArray(value)) return nodeOfSchema({ type: 'array' });
  const path = plainPath(value);
  if (path !== undefined) return scope.resolve(path) ?? nodeOfSchema({});
  const isComputed = typeof value === 'string' && value.includes('${');
  return nodeOfSchema(isComputed || value === null ? {} : { type: typeof value });
}

/** Where each variable has a value: as `check-names.ts` of `compile` checks it. */
function variablesAt(
  { parts }: ParsedDocument,
  steps: readonly string[],
  {
    resource,
    scope,
    kinds,
  }: {
    readonly resource: SchemaNode;
    readonly scope: ExpressionScope;
    readonly kinds: KindSchemas;
  },
): ReadonlyMap<string, SchemaNode> {
  const variables = new Map<string, SchemaNode>([
    ['$self', resource],
    ['$definition', definitionNode],
    ['$cluster', clusterNode],
  ]);
  const [, section = ''] = steps;
  if (['conditions', 'events', 'patches'].includes(section)) variables.set('$previous', resource);
  const { child, field = '' } = childOf(parts, steps) ?? {};
  const isInChild = ['template', 'ready', 'gate'].includes(field);
  const forEach = isInChild ? child?.forEach : targetsAt(parts, steps);
  if (forEach !== undefined) {
    const list = plainPath(forEach);
    const found = list && scope.resolve(list);
    variables.set('$item', found === undefined ? nodeOfSchema({}) : throughLists(found));
    variables.set('$index', nodeOfSchema({ type: 'integer', minimum: 0 }));
  }
  if (child !== undefined && ['ready', 'deleteWhen'].includes(field))
    variables.set('$child', nodeOfKind(child.gvk, describeChild(child), kinds));
  return variables;
}

/** The `forEach` of a patch, if the leaf may read its elements. */
function targetsAt(
  parts: ParsedDocument['parts'],
  [, section, index, field = '']: readonly string[],
): Template | undefined {
  if (section !== 'patches' || !['target', 'patch', 'once'].includes(field)) return undefined;
  return parts?.definition.reporting?.patches[Number(index)]?.forEach;
}

/** What objects of `install` read in place of a resource. */
const installNode = nodeOfSchema({
  type: 'object',
  properties: {
    definition: {
      type: 'object',
      description: 'The definition.',
      properties: {
        metadata: {
          type: 'object',
          description: 'Its metadata, without labels and annotations of Homeostat.',
          properties: {
            name: { type: 'string', description: 'Its name.' },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
            annotations: { type: 'object', additionalProperties: { type: 'string' } },
          },
        },
      },
    },
  },
});

const clusterNode = nodeOfSchema({
  type: 'object',
  properties: {
    name: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
});
const definitionNode = nodeOfSchema({
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name of the definition.' },
    revision: { type: 'string', description: 'Hash of the definition.' },
  },
});

const historyNode = nodeOfSchema(
  historySchema,
  'Earlier states of the objects of reads with `history`',
);

function describeChild({ gvk, forEach }: ChildDefinition): string {
  return forEach === undefined
    ? `The ${gvk.kind} of this child`
    : `The ${gvk.kind} objects of this child, a list`;
}

function describeRead({ id, gvk, by }: ReadDefinition, lists: ReadonlySet<string>): string {
  if (!lists.has(id)) return `The ${gvk.kind} that is read`;
  return by.kind === 'name'
    ? `The ${gvk.kind} objects that are read, a list in the order of their names`
    : `The ${gvk.kind} objects`;
}

/** The path of an expression that is nothing else. */
function plainPath(value: unknown): readonly string[] | undefined {
  const path =
    typeof value === 'string' ? /^\s*\$\{\s*([\w.]+)\s*\}\s*$/.exec(value)?.[1] : undefined;
  return path?.split('.');
}
