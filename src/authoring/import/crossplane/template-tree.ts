import { isJsonObject, type Json } from '#util/json.ts';
import { literalExpression, objectExpression } from '../cel/jsonata.ts';
import { escapedText, expressionText, literalText, templateText } from '../template-text.ts';
import { everyItem, type PathStep } from './field-path.ts';
import { guarded, type Value } from './value.ts';

/** A manifest that patches change: it becomes the template of a child. */
export type Tree =
  | { readonly kind: 'literal'; readonly value: Json }
  | {
      readonly kind: 'map';
      readonly fields: ReadonlyMap<string, Tree>;
      /** Patches have made it: it does not exist without one of its fields. */
      readonly isCreated?: boolean;
    }
  /** `more` are lists whose items follow. */
  | {
      readonly kind: 'list';
      readonly items: readonly Tree[];
      readonly more: readonly Value[];
      readonly isCreated?: boolean;
    }
  /** `otherwise` where the value is missing. */
  | { readonly kind: 'value'; readonly value: Value; readonly otherwise: Tree | undefined }
  /** Maps, of which later ones have precedence. */
  | { readonly kind: 'merged'; readonly maps: readonly Tree[] };

export function treeOf(value: Json | undefined): Tree {
  if (Array.isArray(value)) return { kind: 'list', items: value.map(treeOf), more: [] };
  if (!isJsonObject(value)) return { kind: 'literal', value: value ?? null };
  const fields = Object.entries(value).map(([key, each]) => [key, treeOf(each)] as const);
  return { kind: 'map', fields: new Map(fields) };
}

/** A patch does not fit the manifest. */
export class NoPlaceError extends Error {}

/** The tree with another value at a path; missing fields above it are created. @throws NoPlaceError */
export function withTreeAt(
  tree: Tree | undefined,
  [first, ...rest]: readonly PathStep[],
  change: (old: Tree | undefined) => Tree,
): Tree {
  if (first === undefined) return change(tree);
  if (typeof first === 'string') return withField(tree, first, rest, change);
  const items = tree?.kind === 'list' ? tree.items : [];
  if (tree !== undefined && tree.kind !== 'list')
    throw new NoPlaceError('The field is no list in the base');
  const more = tree?.more ?? [];
  if (first === everyItem) {
    if (items.length === 0) throw new NoPlaceError('"[*]" finds no items in the base');
    return { kind: 'list', items: items.map((each) => withTreeAt(each, rest, change)), more };
  }
  const length = Math.max(items.length, Number(first) + 1);
  const all = Array.from({ length }, (_, index): Tree => items[index] ?? treeOf(null));
  return {
    kind: 'list',
    more,
    isCreated: tree === undefined || tree.isCreated === true,
    items: all.map((each, index) =>
      index === first ? withTreeAt(items[index], rest, change) : each,
    ),
  };
}

function withField(
  tree: Tree | undefined,
  name: string,
  rest: readonly PathStep[],
  change: (old: Tree | undefined) => Tree,
): Tree {
  if (tree?.kind === 'value' || tree?.kind === 'merged') {
    const maps = tree.kind === 'merged' ? tree.maps : [tree];
    const over = withTreeAt(undefined, [name, ...rest], change);
    return { kind: 'merged', maps: [...maps, over] };
  }
  const isMap = tree === undefined || tree.kind === 'map';
  if (!isMap && !(tree.kind === 'literal' && tree.value === null))
    throw new NoPlaceError(`The base has no map for "${name}"`);
  const fields = new Map(tree?.kind === 'map' ? tree.fields : []);
  fields.set(name, withTreeAt(fields.get(name), rest, change));
  const isCreated = tree?.kind === 'map' ? tree.isCreated === true : true;
  return { kind: 'map', fields, isCreated };
}

export function treeAt(tree: Tree | undefined, steps: readonly PathStep[]): Tree | undefined {
  return steps.reduce<Tree | undefined>((each, at) => {
    if (each?.kind === 'map' && typeof at === 'string') return each.fields.get(at);
    return each?.kind === 'list' && typeof at === 'number' ? each.items[at] : undefined;
  }, tree);
}

/** What must hold so that a created tree exists: one of these. Undefined: it exists in any case. */
function existenceTests(tree: Tree): readonly string[] | undefined {
  if (tree.kind === 'value')
    return tree.otherwise === undefined && tree.value.needs.length > 0
      ? [tree.value.needs.map((each) => `$exists(${each})`).join(' and ')]
      : undefined;
  if (tree.kind !== 'map' && tree.kind !== 'list') return undefined;
  if (tree.isCreated !== true || (tree.kind === 'list' && tree.more.length > 0)) return undefined;
  const parts = tree.kind === 'map' ? [...tree.fields.values()] : tree.items;
  const tests = parts.map(existenceTests);
  return tests.every((each) => each !== undefined) ? [...new Set(tests.flat())] : undefined;
}

/** The template of a child: maps and lists that patches create are left out without their values, but for labels. */
export function childTemplateOf(tree: Tree, name = ''): Json {
  const tests = tree.kind === 'value' ? undefined : existenceTests(tree);
  if (tests !== undefined && name !== 'labels' && name !== 'annotations')
    return expressionText(`${tests.join(' or ')} ? ${expressionOf(tree)}`);
  if (tree.kind === 'map')
    return Object.fromEntries(
      [...tree.fields].map(([key, each]) => [escapedText(key), childTemplateOf(each, key)]),
    );
  if (tree.kind !== 'list') return templateOf(tree);
  return [...tree.items.map((each) => childTemplateOf(each)), ...spreadsOf(tree.more)];
}

function spreadsOf(more: readonly Value[]): readonly string[] {
  return more.map((each) => `\${... ${guarded(each).text} }`);
}

/** The tree as a template. */
export function templateOf(tree: Tree): Json {
  switch (tree.kind) {
    case 'literal':
      return typeof tree.value === 'string' ? literalText(tree.value) : tree.value;
    case 'map':
      return Object.fromEntries(
        [...tree.fields].map(([key, each]) => [escapedText(key), templateOf(each)]),
      );
    case 'list':
      return [...tree.items.map(templateOf), ...spreadsOf(tree.more)];
    case 'value':
      return valueTemplate(tree);
    default:
      return expressionText(expressionOf(tree));
  }
}

function valueTemplate(tree: Tree & { readonly kind: 'value' }): Json {
  const { needs, parts, type } = tree.value;
  if (needs.length === 0 && parts !== undefined) return templateText(parts);
  const text = expressionText(expressionOf(tree));
  // A missing list is an empty one, and a field that a read lacks is waited for, unless the expression says otherwise.
  const isOptional = tree.otherwise === undefined && needs.length > 0;
  const isOfRead = needs.some((path) => path.startsWith('reads.'));
  return isOptional && (type.kind === 'list' || isOfRead) ? text.replace('${', '${?') : text;
}

/** The tree as one expression. */
export function expressionOf(tree: Tree): string {
  switch (tree.kind) {
    case 'literal':
      return literalExpression(tree.value);
    case 'map':
      return objectExpression([...tree.fields].map(([key, each]) => [key, expressionOf(each)]));
    case 'list': {
      const items = `[${tree.items.map(expressionOf).join(', ')}]`;
      return tree.more.reduce((list, each) => `$append(${list}, ${guarded(each).text})`, items);
    }
    case 'merged':
      return `$merge([${tree.maps.map(expressionOf).join(', ')}])`;
    default:
      return guarded(tree.value, tree.otherwise && expressionOf(tree.otherwise)).text;
  }
}
