import { isJsonObject } from '#util/json.ts';
import { setField } from '#util/set-field.ts';
import { fieldNode, itemNode, type SchemaNode } from './schema-node.ts';

/**
 * A value without the nulls that the API server removes: those of fields and keys that are not nullable. They occur in the partial objects that
 * server-side apply converts. Parts without any are the same ones.
 */
export function withoutNulls<T>(value: T, node: SchemaNode | undefined): T {
  if (typeof value !== 'object' || node === undefined || node.kind === 'any') return value;
  if (Array.isArray(value)) return withoutNullsInItems(value, itemNode(node)) as T;
  return isJsonObject(value) ? (withoutNullsInFields(value, node) as T) : value;
}

function withoutNullsInItems(list: readonly unknown[], node: SchemaNode | undefined): unknown {
  if (node?.kind === 'scalar') return list;
  let copy: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const item = withoutNulls(list[index], node);
    if (item === list[index]) continue;
    copy ??= [...list];
    copy[index] = item;
  }
  return copy ?? list;
}

function withoutNullsInFields(value: object, node: SchemaNode): unknown {
  const source = value as Readonly<Record<string, unknown>>;
  let changed: Map<string, unknown> | undefined;
  for (const name of Object.keys(source)) {
    const before = source[name];
    const own = fieldNode(node, name);
    const isRemoved = before === null && own !== undefined && !own.isNullable;
    const after = isRemoved ? undefined : withoutNulls(before, own);
    if (after === before) continue;
    changed ??= new Map();
    changed.set(name, after);
  }
  if (changed === undefined) return value;
  const copy = {};
  for (const name of Object.keys(source)) {
    const field = changed.has(name) ? changed.get(name) : source[name];
    if (field !== undefined) setField(copy, name, field);
  }
  return copy;
}
