import type { ChildDefinition, OperatorDefinition } from '../../definition/index.ts';
import { isJsonObject, type JsonObject } from '../../util/json.ts';

/** A template within a child. */
export interface TemplateOfChild {
  readonly child: ChildDefinition;
  readonly template: unknown;
}

/** `${ spec.role }`, `${ $item.role }`. */
const plainPath = /^\s*\$\{\s*([$\w]+(?:\.\w+)*)\s*\}\s*$/;
/** The same, or nothing: `${ spec.members ?? [] }`. */
const listPath = /^\s*\$\{\s*(\w+(?:\.\w+)*)\s*(?:\?\?\s*\[\s*\]\s*)?\}\s*$/;

/**
 * All texts that a template can give: the text that it is, or the values (`enum`) that the schema of the definition's own kind allows
 * at the path that it reads. Undefined: nobody can tell.
 */
export function namesOfTemplate(
  { kind }: OperatorDefinition,
  { child, template }: TemplateOfChild,
): readonly string[] | undefined {
  if (typeof template !== 'string') return undefined;
  if (!/\$\{|\{\{/.test(template)) return [template];
  const path = plainPath.exec(template)?.[1]?.split('.');
  if (kind.source !== 'crd' || path === undefined) return undefined;
  const [first, ...rest] = path;
  const schema =
    first === '$item'
      ? at(itemsOf(forEachSchema(kind.schema, child)), rest)
      : at(kind.schema, path);
  const values = schema?.enum;
  if (!Array.isArray(values) || values.length === 0) return undefined;
  return values.every((value) => typeof value === 'string') ? values : undefined;
}

function forEachSchema(root: JsonObject, { forEach }: ChildDefinition): JsonObject | undefined {
  const path = typeof forEach === 'string' ? listPath.exec(forEach)?.[1] : undefined;
  return path === undefined ? undefined : at(root, path.split('.'));
}

function at(root: JsonObject | undefined, path: readonly string[]): JsonObject | undefined {
  return path.reduce<JsonObject | undefined>((schema, name) => {
    const properties = schema?.properties;
    const property = isJsonObject(properties) ? properties[name] : undefined;
    return isJsonObject(property) ? property : undefined;
  }, root);
}

function itemsOf(schema: JsonObject | undefined): JsonObject | undefined {
  const items = schema?.items;
  return isJsonObject(items) ? items : undefined;
}
