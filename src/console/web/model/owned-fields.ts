import { isJsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A field of an object with the managers that own it. */
export interface OwnedField {
  /** `spec.template.spec.containers[name=web].image`. */
  readonly path: string;
  /** As JSON. Undefined: the manager owns a field that the object does not have. */
  readonly value: string | undefined;
  readonly owners: readonly string[];
}

interface Entry {
  readonly manager: string;
  readonly subresource: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** All fields that managers own, in the order of the object. Pure. */
export function ownedFields(object: KubeObject): readonly OwnedField[] {
  const found = new Map<string, { value: unknown; owners: string[] }>();
  for (const { manager, subresource, fields } of entriesOf(object)) {
    const owner = subresource === '' ? manager : `${manager} (${subresource})`;
    for (const { path, value } of leaves(fields, object, '')) {
      const field = found.get(path) ?? { value, owners: [] };
      if (!field.owners.includes(owner)) field.owners.push(owner);
      found.set(path, field);
    }
  }
  return [...found]
    .map(([path, { value, owners }]) => ({
      path,
      value: value === undefined ? undefined : JSON.stringify(value),
      owners,
    }))
    .sort((a, b) => rankOf(a.path) - rankOf(b.path) || (a.path < b.path ? -1 : 1));
}

function rankOf(path: string): number {
  if (path.startsWith('spec')) return 0;
  if (path.startsWith('metadata')) return 2;
  return path.startsWith('status') ? 3 : 1;
}

function entriesOf({ metadata }: KubeObject): readonly Entry[] {
  const { managedFields } = metadata as { readonly managedFields?: unknown };
  const entries = Array.isArray(managedFields) ? managedFields.filter(isJsonObject) : [];
  return entries.flatMap(({ manager, subresource, fieldsV1 }) =>
    isJsonObject(fieldsV1)
      ? [
          {
            manager: String(manager),
            subresource: typeof subresource === 'string' ? subresource : '',
            fields: fieldsV1,
          },
        ]
      : [],
  );
}

interface Leaf {
  readonly path: string;
  readonly value: unknown;
}

/** The smallest fields of FieldsV1: `f:name` a field, `k:{...}` an item by its keys, `v:...` a value of a set, `.` the parent itself. */
function leaves(
  fields: Readonly<Record<string, unknown>>,
  value: unknown,
  path: string,
): readonly Leaf[] {
  const steps = Object.entries(fields).filter(([step]) => step !== '.');
  if (steps.length === 0) return path === '' ? [] : [{ path, value }];
  return steps.flatMap(([step, below]) => {
    const next = stepInto(step, value, path);
    return leaves(isJsonObject(below) ? below : {}, next.value, next.path);
  });
}

function stepInto(step: string, value: unknown, path: string): Leaf {
  const content = step.slice(2);
  if (step.startsWith('f:')) {
    const name = /^[A-Za-z_][\w-]*$/.test(content)
      ? `${path === '' ? '' : '.'}${content}`
      : `["${content}"]`;
    return { path: path + name, value: isJsonObject(value) ? value[content] : undefined };
  }
  const items = Array.isArray(value) ? value : [];
  if (step.startsWith('k:')) {
    const keys = parseKeys(content);
    const label = Object.entries(keys).map(([key, of]) => `${key}=${String(of)}`);
    const item = items.find(
      (each) => isJsonObject(each) && Object.entries(keys).every(([key, of]) => each[key] === of),
    );
    return { path: `${path}[${label.join(',')}]`, value: item };
  }
  return { path: `${path}[${content}]`, value: content };
}

function parseKeys(text: string): Readonly<Record<string, unknown>> {
  try {
    const keys: unknown = JSON.parse(text);
    return isJsonObject(keys) ? keys : {};
  } catch {
    return {};
  }
}
