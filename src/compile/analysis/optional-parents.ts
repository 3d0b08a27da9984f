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
    tested ??= testedObjects(templates);
    return found.parents.some((parent) => tested?.has(parent.join('.'))) ? undefined : found;
  };
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
function testedObjects(templates: readonly CompiledTemplate[]): ReadonlySet<string> {
  const tested = new Set<string>();
  for (const { references } of templates) {
    for (const each of references) {
      const { root, path } = each.reference;
      if (root !== 'resource' || path.length === 0) continue;
      if (path.length > 1 || testsExistence(each)) tested.add(path.join('.'));
    }
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
