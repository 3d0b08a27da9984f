import { type SchemaType, throughLists } from '../schema/schema-type.ts';
import type { CompiledTemplate, SlotReference } from '../template/template.ts';

/** Why a field is missing although its schema makes sure of it: an optional object above it is missing. */
export interface OptionalParents {
  /** The optional objects above it that may be missing, outermost first: `spec`, `spec.limits`. */
  readonly parents: readonly (readonly string[])[];
  /** What makes sure of it where they exist. */
  readonly by: 'default' | 'required';
}

/** Finds the optional objects above a field of the resource. Undefined: the field is optional itself, or its absence is expected. */
export type FindOptionalParents = (path: readonly string[]) => OptionalParents | undefined;

/** Fields that every object has. */
const alwaysPresent: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Kubernetes applies a default, and checks a required field, only below a parent that exists. An optional object below `spec` with
 * required fields is a common form, so only defaults count there. The definition may test for an object, as in `$exists(spec.tls)`:
 * then it expects that it is missing.
 */
export function createOptionalParents(
  resource: SchemaType,
  templates: readonly CompiledTemplate[],
): FindOptionalParents {
  let tested: ReadonlySet<string> | undefined;
  return (path) => {
    const found = optionalParents(resource, path);
    if (found === undefined) return undefined;
    tested ??= testedObjects(templates, 'resource');
    return found.parents.some((parent) => tested?.has(parent.join('.'))) ? undefined : found;
  };
}

/** The optional objects in the items of a list of the resource. */
export interface ItemParents {
  /** The path of the list. */
  readonly list: readonly string[];
  /** For a path below `$item`. */
  readonly parentsOf: FindOptionalParents;
}

/**
 * As {@link createOptionalParents}, for the fields of `$item`: only defaults count. Undefined: the elements are not a list of the resource.
 * @param templates those of the child
 */
export function createItemParents(
  resource: SchemaType,
  forEach: CompiledTemplate,
  templates: readonly CompiledTemplate[],
): ItemParents | undefined {
  const list = listOf(forEach);
  const item = list && itemTypeAt(resource, list);
  if (list === undefined || item === undefined) return undefined;
  let tested: ReadonlySet<string> | undefined;
  const parentsOf: FindOptionalParents = (path) => {
    const found = optionalParents(item, path);
    if (found?.by !== 'default') return undefined;
    tested ??= testedObjects(templates, 'item');
    return found.parents.some((parent) => tested?.has(parent.join('.'))) ? undefined : found;
  };
  return { list, parentsOf };
}

/** The path of `${ spec.disks }`, also with an empty list as its default. */
function listOf({ root, slots }: CompiledTemplate): readonly string[] | undefined {
  const leaf = root.kind === 'slot' ? slots[root.slot]?.leaf : undefined;
  if (leaf?.kind !== 'value') return undefined;
  const { references, source } = leaf.expression;
  const [reference] = references;
  if (reference?.root !== 'resource' || references.length > 1) return undefined;
  const written = source.replace(/\?\?\s*\[\s*\]\s*$/, '').trim();
  return written === reference.path.join('.') ? reference.path : undefined;
}

function itemTypeAt(resource: SchemaType, path: readonly string[]): SchemaType | undefined {
  const list = path.reduce<SchemaType | undefined>(
    (type, step) => (type?.kind === 'struct' ? type.fields.get(step)?.type : undefined),
    resource,
  );
  return list?.kind === 'list' ? list.item : undefined;
}

function optionalParents(
  resource: SchemaType,
  path: readonly string[],
): OptionalParents | undefined {
  const [root] = path;
  if (root === undefined || alwaysPresent.has(root) || path.length < 2) return undefined;
  let parents: (readonly string[])[] = [];
  let type: SchemaType | undefined = resource;
  for (const [index, step] of path.entries()) {
    if (type?.kind !== 'struct') return undefined;
    const field = type.fields.get(step);
    if (field === undefined) return undefined;
    const isRequired = type.required.includes(step);
    const hasDefault = field.defaultValue !== undefined;
    if (index === path.length - 1) {
      if (parents.length === 0) return undefined;
      if (hasDefault) return { parents, by: 'default' };
      const isBelowRoot = parents.length === 1 && parents[0]?.length === 1 && root !== 'status';
      return isRequired && isBelowRoot ? { parents, by: 'required' } : undefined;
    }
    if (!isRequired && !hasDefault) parents.push(path.slice(0, index + 1));
    // Items of a list exist.
    if (field.type.kind === 'list') parents = [];
    type = throughLists(field.type);
  }
  return undefined;
}

/** The objects that the definition reads as a whole; of the fields of the root, only those whose existence it tests. */
function testedObjects(
  templates: readonly CompiledTemplate[],
  root: 'resource' | 'item',
): ReadonlySet<string> {
  const tested = new Set<string>();
  for (const each of templates.flatMap(({ references }) => references)) {
    const { reference } = each;
    if (reference.root !== root || reference.path.length === 0) continue;
    const isField = root === 'resource' && reference.path.length === 1;
    if (!isField || testsExistence(each)) tested.add(reference.path.join('.'));
  }
  return tested;
}

/** `$exists(spec)`, `spec ?? {}`, `{{#if spec}}`. A hash or a copy of the object does not expect that it is missing. */
function testsExistence({ slot, reference: { offset, path } }: SlotReference): boolean {
  const { text } = slot;
  const before = text.slice(0, offset).trimEnd();
  const behind = text.slice(offset + path.join('.').length).trimStart();
  return (
    /(?:\$(?:exists|boolean|not)\(|#(?:if|unless|with))$/.test(before) || behind.startsWith('?')
  );
}
