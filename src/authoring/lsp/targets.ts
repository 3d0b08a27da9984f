import { entryAt, nodeAtSteps, placeAt, type YamlNode } from '#definition';
import { pointerSteps } from '#util/json.ts';
import { expressionName } from './cursor.ts';
import {
  type DefinitionParts,
  documentAt,
  type ParsedDocument,
  type ParsedText,
} from './parsed-text.ts';

/** Offsets of a name in the text. */
export interface Target {
  readonly start: number;
  readonly end: number;
}

/** Where the name at an offset is defined. Undefined: it is no name, or defined elsewhere. */
export function targetAt(parsed: ParsedText, offset: number): Target | undefined {
  const document = documentAt(parsed, offset);
  const { parts, tree } = document ?? {};
  if (document === undefined || parts === undefined || tree === undefined) return undefined;
  const found = expressionName(parsed, offset);
  if (found !== undefined) {
    const { base, text } = found.name;
    const isOfInstall = placeAt(tree, offset)?.steps[1] === 'install';
    return base && targetOfPath([...base, text], { tree, parts, isOfInstall });
  }
  return targetOfPlace(document, offset, { tree, parts });
}

/**
 * All names in expressions and in `after` that mean what the name at an offset means, and its definition. The offset can be at a name or
 * at the definition. Empty: it is no name.
 */
export function referencesAt(parsed: ParsedText, offset: number): readonly Target[] {
  const isHere = ({ start, end }: Target) => start <= offset && offset <= end;
  const used = [...parsed.text.matchAll(/[\w$]+/g)].flatMap(({ index, 0: word }) => {
    const target = targetAt(parsed, index);
    return target === undefined ? [] : [{ target, start: index, end: index + word.length }];
  });
  const meant =
    targetAt(parsed, offset) ?? used.map(({ target }) => target).find((target) => isHere(target));
  if (meant === undefined) return [];
  const names = used.filter(({ target }) => target.start === meant.start);
  return [meant, ...names.map(({ start, end }) => ({ start, end }))];
}

interface Definition {
  readonly tree: YamlNode;
  readonly parts: DefinitionParts;
  /** The name is in `install`, where `children` are its objects. @default false */
  readonly isOfInstall?: boolean;
}

function targetOfPlace(
  { kind }: ParsedDocument,
  offset: number,
  definition: Definition,
): Target | undefined {
  const place = placeAt(definition.tree, offset);
  if (place === undefined || kind !== 'OperatorDefinition') return undefined;
  const { steps, node, at } = place;
  const isOfAfter = steps.at(-2) === 'after' || /\/after\/\d+\/child$/.test(steps.join('/'));
  if (isOfAfter && node?.kind === 'scalar')
    return targetOfChild(node.text, [], { ...definition, isOfInstall: steps[1] === 'install' });
  // The field of the CRD that a status field fills.
  const isStatusField = at === 'key' && steps[0] === 'spec' && steps[1] === 'status';
  return isStatusField && steps.length > 2 ? targetOfField(steps.slice(1), definition) : undefined;
}

function targetOfPath(path: readonly string[], definition: Definition): Target | undefined {
  const { tree, parts } = definition;
  const [root = '', id, ...rest] = path;
  if (root === 'children' || root === 'observed')
    return id === undefined ? undefined : targetOfChild(id, rest, definition);
  if (root === 'reads') {
    const index = parts.definition.reads.findIndex((read) => read.id === id);
    const pointer = parts.pointers.reads[index];
    return pointer === undefined ? undefined : spanAt(tree, [...pointerSteps(pointer), 'id']);
  }
  if (root === 'vars') {
    if (id === undefined) return undefined;
    return spanAt(tree, ['spec', 'vars', id, ...rest]) ?? spanAt(tree, ['spec', 'vars', id]);
  }
  return targetOfField(path, definition);
}

/** A field of the template of a child, else its id. */
function targetOfChild(
  id: string,
  field: readonly string[],
  { tree, parts: { definition, pointers }, isOfInstall = false }: Definition,
): Target | undefined {
  const { children, install = [], onDelete } = definition;
  const ids = isOfInstall ? install : [...children, ...(onDelete?.children ?? [])];
  const index = ids.findIndex((child) => child.id === id);
  const ofResource = [...pointers.children, ...pointers.onDelete];
  const pointer = (isOfInstall ? (pointers.install ?? []) : ofResource)[index];
  if (pointer === undefined) return undefined;
  const steps = pointerSteps(pointer);
  const inTemplate =
    field.length === 0 ? undefined : spanAt(tree, [...steps, 'template', ...field]);
  return inTemplate ?? valueSpan(nodeAtSteps(tree, [...steps, 'id']));
}

/** The property of the CRD schema that a path of the resource means. */
function targetOfField(
  path: readonly string[],
  { tree, parts: { definition } }: Definition,
): Target | undefined {
  const { kind } = definition;
  const versions = nodeAtSteps(tree, ['spec', 'crd', 'versions']);
  if (kind.source !== 'crd' || versions?.kind !== 'list') return undefined;
  const version = versions.items.find((item) => {
    const name = entryAt(item, 'name')?.value;
    return name?.kind === 'scalar' && name.text === kind.gvk.version;
  });
  let schema = nodeAtSteps(version, ['schema', 'openAPIV3Schema']);
  let found: Target | undefined;
  for (const name of path) {
    while (entryAt(schema, 'items')?.value !== undefined) schema = entryAt(schema, 'items')?.value;
    const entry = entryAt(entryAt(schema, 'properties')?.value, name);
    if (entry === undefined) return undefined;
    found = { start: entry.keyStart, end: entry.keyEnd };
    schema = entry.value;
  }
  return found;
}

/** The key of a field; for `id`, its value; for an item of a list, the item. */
function spanAt(tree: YamlNode, steps: readonly string[]): Target | undefined {
  const step = steps.at(-1) ?? '';
  const parent = nodeAtSteps(tree, steps.slice(0, -1));
  if (parent?.kind === 'list') return valueSpan(parent.items[Number(step)]);
  const entry = entryAt(parent, step);
  if (entry === undefined) return undefined;
  if (step === 'id') return valueSpan(entry.value);
  return { start: entry.keyStart, end: entry.keyEnd };
}

function valueSpan(node: YamlNode | undefined): Target | undefined {
  return node && { start: node.start, end: node.end };
}
