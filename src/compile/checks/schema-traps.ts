import { hasUnknownKeyword } from '../../definition/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { Reference } from '../language/index.ts';
import { type SchemaType, typeAt } from '../schema/schema-type.ts';
import { positionInLeaf } from '../template/values.ts';
import { needsValue } from './warnings.ts';

/** Warns about fields whose schema does not do what its author expects: an object that keeps nothing, a default that does not apply. */
export function warnAboutSchemas({
  definition,
  templates,
  types,
  diagnostics,
}: CheckContext): void {
  const { kind } = definition;
  if (kind.source !== 'crd') return;
  const found = templates.flatMap(({ template }) => template.references);
  const names = new Set(found.map(({ reference }) => reference.path.join('.')));
  const known = new Set<string>();
  for (const { slot, reference } of found) {
    const { root, path, offset } = reference;
    if (root !== 'resource' || path[0] !== 'spec') continue;
    const trap =
      closedObject(reference, kind.schema) ??
      (needsValue(slot, reference) ? idleDefault(reference, types.resource, names) : undefined);
    // Each field once: the schema is the place to mend.
    if (trap === undefined || known.has(path.join('.'))) continue;
    known.add(path.join('.'));
    diagnostics.report({
      severity: 'warning',
      code: 'suspicious-expression',
      ...trap,
      ...positionInLeaf(slot, offset),
    });
  }
}

interface Trap {
  readonly message: string;
  readonly hint: string;
}

/** An object without `properties`, at the path or above it. */
function closedObject({ path }: Reference, schema: JsonObject): Trap | undefined {
  let node: JsonObject | undefined = schema;
  for (const [index, step] of path.entries()) {
    node = objectAt(objectAt(node, 'properties'), step);
    if (node === undefined) return undefined;
    if (!isClosed(node)) continue;
    return {
      message: `"${path.slice(0, index + 1).join('.')}" is always empty: the API server removes fields that the schema does not name`,
      hint: 'Add "properties", "additionalProperties" or "x-kubernetes-preserve-unknown-fields: true" to its schema',
    };
  }
  return undefined;
}

function objectAt(value: JsonObject | undefined, name: string): JsonObject | undefined {
  const found = value?.[name];
  return isJsonObject(found) ? found : undefined;
}

function isClosed(schema: JsonObject): boolean {
  return (
    schema.type === 'object' &&
    !hasUnknownKeyword(schema) &&
    ['properties', 'additionalProperties', preserves, embeds].every((field) => !schema[field])
  );
}

const preserves = 'x-kubernetes-preserve-unknown-fields';
const embeds = 'x-kubernetes-embedded-resource';

/**
 * A default applies only where its parent exists. `names`: paths of the definition. One that uses the parent itself, as in
 * `$exists(spec.autoscaling)`, handles its absence.
 */
function idleDefault(
  { path }: Reference,
  resource: SchemaType,
  names: ReadonlySet<string>,
): Trap | undefined {
  const name = path.join('.');
  let parent = typeAt(resource, ['spec']);
  let withoutDefault: string | undefined;
  for (const [index, step] of path.entries()) {
    if (index === 0) continue;
    if (parent?.kind !== 'struct') return undefined;
    const field = parent.fields.get(step);
    const isSure = parent.required.includes(step) || field?.defaultValue !== undefined;
    const isLast = index === path.length - 1;
    if (withoutDefault !== undefined && names.has(withoutDefault)) return undefined;
    if (isLast && field?.defaultValue !== undefined && withoutDefault !== undefined)
      return {
        message: `"${name}" has a default, but is missing when "${withoutDefault}" is missing`,
        hint: `Add "default: {}" to "${withoutDefault}" in the schema`,
      };
    if (!isSure) withoutDefault ??= path.slice(0, index + 1).join('.');
    parent = field?.type;
  }
  return undefined;
}
