import { isJsonObject, type JsonObject, objectAt, pointerTo } from '#util/json.ts';
import {
  createItemParents,
  createOptionalParents,
  type ItemParents,
} from '../analysis/optional-parents.ts';
import type { CheckContext } from '../check-context.ts';
import type { Reference } from '../language/index.ts';
import { createNeededPaths } from '../phase/reached-paths.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { CompiledTemplate, Slot } from '../template/template.ts';
import { listOfItems, type TemplateUse } from '../template-uses.ts';
import { needsValue } from './warnings.ts';

/**
 * Warns about an optional object of the schema above a field that is required, or has a default, where the definition needs the field:
 * without the object the field is missing. Each object once, in the schema of the stored version, in which resources are read.
 */
export function warnAboutOptionalParents({
  definition,
  document,
  templates,
  types,
  diagnostics,
}: CheckContext): void {
  const { kind } = definition;
  if (kind.source !== 'crd') return;
  const parentsOf = createOptionalParents(
    types.resource,
    templates.map(({ template }) => template),
  );
  const isNeeded = createNeedFinder();
  const itemsOf = createItemFinder(types.resource, templates);
  const known = new Set<string>();
  for (const { forEach, slot, reference } of templates.flatMap(referencesOf)) {
    const { root, path } = reference;
    const items = root === 'item' ? itemsOf(forEach) : undefined;
    const found = root === 'resource' ? parentsOf(path) : items?.parentsOf(path);
    if (found === undefined || !isNeeded(slot, reference)) continue;
    const list = items?.list ?? [];
    for (const parent of found.parents.map((steps) => [...list, ...steps])) {
      const name = parent.join('.');
      if (known.has(name)) continue;
      known.add(name);
      const field = [...list, ...path].join('.');
      const effect =
        found.by === 'default'
          ? `the default of "${field}" does not apply to a resource without it`
          : `a resource without it lacks "${field}", which it requires`;
      diagnostics.report({
        severity: 'warning',
        code: 'optional-parent',
        message: `"${name}" is optional: ${effect}`,
        hint: hintFor(parent, kind.schema),
        path: schemaPointer(document, parent),
        at: 'key',
      });
    }
  }
}

const referencesOf = (use: TemplateUse) =>
  use.template.references.map((each) => ({ ...each, forEach: listOfItems(use) }));

/** The lists of the resource whose items are the elements of a child or a patch. */
function createItemFinder(resource: SchemaType, uses: readonly TemplateUse[]) {
  const known = new Map<CompiledTemplate, ItemParents | undefined>();
  return (forEach: CompiledTemplate | undefined): ItemParents | undefined => {
    if (forEach === undefined) return undefined;
    if (!known.has(forEach)) {
      const own = uses.filter((use) => listOfItems(use) === forEach);
      const templates = own.map(({ template }) => template);
      known.set(forEach, createItemParents(resource, forEach, templates));
    }
    return known.get(forEach);
  };
}

/** Whether an expression needs the value of a path: it is the whole of it, an operand, an argument, or a part of a text. */
function createNeedFinder(): (slot: Slot, reference: Reference) => boolean {
  const needed = createNeededPaths();
  return (slot, reference) => {
    if (slot.leaf.kind === 'value' && slot.leaf.mode === 'optional') return false;
    if (needsValue(slot, reference)) return true;
    const name = reference.path.join('.');
    const root = reference.root === 'item' ? 'item' : '$';
    return needed(slot).all.some(
      ({ variable, steps }) => variable === root && steps.join('.') === name,
    );
  };
}

/** An empty object as the default is valid only if it needs no field that has no default itself. */
function hintFor(parent: readonly string[], schema: JsonObject): string {
  const name = parent.join('.');
  const isSpec = parent.length === 1 && name !== 'status';
  const canBeEmpty = isComplete(nodeAt(schema, parent));
  if (canBeEmpty && !isSpec) return `Add "default: {}" to "${name}" in the schema`;
  const above = parent.slice(0, -1).join('.');
  const required = `Add "required: [${parent.at(-1)}]" to the schema${above === '' ? '' : ` of "${above}"`}`;
  return canBeEmpty ? `${required}, or "default: {}" to "${name}"` : required;
}

function isComplete(node: JsonObject | undefined): boolean {
  const required = Array.isArray(node?.required) ? node.required : [];
  return required.every((name) => {
    const field = objectAt(objectAt(node, 'properties'), String(name));
    return field !== undefined && Object.hasOwn(field, 'default');
  });
}

function nodeAt(schema: JsonObject, path: readonly string[]): JsonObject | undefined {
  let node: JsonObject | undefined = schema;
  for (const step of path) {
    node = objectAt(node, 'items') ?? node;
    node = objectAt(objectAt(node, 'properties'), step);
  }
  return node;
}

/** The pointer of a field of the stored version, as it is written. */
function schemaPointer(document: JsonObject, path: readonly string[]): string {
  const crd = objectAt(objectAt(document, 'spec'), 'crd');
  const versions = Array.isArray(crd?.versions) ? crd.versions : [];
  const stored = versions.findIndex((each) => isJsonObject(each) && each.storage === true);
  const index = Math.max(stored, 0);
  let pointer = `/spec/crd/versions/${index}/schema/openAPIV3Schema`;
  const version = versions[index];
  let node = isJsonObject(version)
    ? objectAt(objectAt(version as JsonObject, 'schema'), 'openAPIV3Schema')
    : undefined;
  for (const step of path) {
    const items = objectAt(node, 'items');
    if (items !== undefined) pointer = pointerTo(pointer, 'items');
    node = objectAt(objectAt(items ?? node, 'properties'), step);
    pointer = pointerTo(pointerTo(pointer, 'properties'), step);
  }
  return pointer;
}
