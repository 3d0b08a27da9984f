import { hasUnknownKeyword } from '#definition';
import { type JsonObject, objectAt } from '#util/json.ts';
import type { CheckContext } from '../check-context.ts';
import type { Reference } from '../language/index.ts';
import { positionInLeaf } from '../template/values.ts';
import { warnAboutOptionalParents } from './optional-parents.ts';

/** Warns about fields whose schema does not do what its author expects: an object that keeps nothing, a default that does not apply. */
export function warnAboutSchemas(context: CheckContext): void {
  const { definition, templates, diagnostics } = context;
  const { kind } = definition;
  if (kind.source !== 'crd') return;
  warnAboutOptionalParents(context);
  const known = new Set<string>();
  for (const { slot, reference } of templates.flatMap(({ template }) => template.references)) {
    const { root, path, offset } = reference;
    if (root !== 'resource' || path[0] !== 'spec') continue;
    const trap = closedObject(reference, kind.schema);
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

function isClosed(schema: JsonObject): boolean {
  return (
    schema.type === 'object' &&
    !hasUnknownKeyword(schema) &&
    ['properties', 'additionalProperties', preserves, embeds].every((field) => !schema[field])
  );
}

const preserves = 'x-kubernetes-preserve-unknown-fields';
const embeds = 'x-kubernetes-embedded-resource';
