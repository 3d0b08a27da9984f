import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';

/** A value of a manifest that becomes a field of the resource: `spec.replicas=Deployment/web:spec.replicas`. */
export interface Parameter {
  /** Below the resource: `['spec', 'replicas']`. */
  readonly field: readonly string[];
  readonly kind: string;
  readonly name: string;
  /** Below the object; a list item by index, or by `name`: `['spec', 'containers', { name: 'web' }, 'image']`. */
  readonly path: readonly PathStep[];
}

export type PathStep = string | number | { readonly key: string; readonly value: string };

const form = /^(spec(?:\.[A-Za-z_]\w*)+)=([A-Z]\w*)\/([^:/]+):(.+)$/;

/** Undefined: the text has another form. Pure. */
export function parseParameter(text: string): Parameter | undefined {
  const [, field, kind, name, path] = form.exec(text) ?? [];
  if (field === undefined || kind === undefined || name === undefined || path === undefined)
    return undefined;
  const steps = parsePath(path);
  return steps && { field: field.split('.'), kind, name, path: steps };
}

/** `spec.template.spec.containers[0].image`, `containers[name=web].image`, `data["a.b"]`. */
function parsePath(text: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = [];
  const step = /\.?([^.[\]]+)|\[(\d+)\]|\[(\w+)=([^\]]+)\]|\["([^"]+)"\]/y;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (match === null) return undefined;
    const [, name, index, key, value, quoted] = match;
    if (index !== undefined) steps.push(Number(index));
    else if (key !== undefined && value !== undefined) steps.push({ key, value });
    else steps.push(name ?? quoted ?? '');
  }
  return steps.length === 0 ? undefined : steps;
}

/** The value at a path, or undefined. Pure. */
export function valueAt(object: unknown, path: readonly PathStep[]): unknown {
  return path.reduce<unknown>((value, step) => {
    if (typeof step === 'string') return isJsonObject(value) ? value[step] : undefined;
    if (!Array.isArray(value)) return undefined;
    return value[indexOf(value, step)];
  }, object);
}

/** The first step of a path that does not exist, and the fields that exist there. Pure. */
export function missingStep(
  object: unknown,
  path: readonly PathStep[],
): { readonly step: string; readonly fields: readonly string[] } | undefined {
  const at = path.findIndex((_, index) => valueAt(object, path.slice(0, index + 1)) === undefined);
  const step = path[at];
  const parent = valueAt(object, path.slice(0, at));
  return typeof step === 'string' && isJsonObject(parent)
    ? { step, fields: Object.keys(parent) }
    : undefined;
}

/** The object with another value at a path that exists. Pure. */
export function withValueAt(
  value: unknown,
  path: readonly PathStep[],
  replacement: unknown,
): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (typeof step === 'string') {
    const object = value as JsonObject;
    return { ...object, [step]: withValueAt(object[step], rest, replacement) };
  }
  const list = value as readonly unknown[];
  const at = indexOf(list, step);
  return list.map((item, index) => (index === at ? withValueAt(item, rest, replacement) : item));
}

function indexOf(list: readonly unknown[], step: Exclude<PathStep, string>): number {
  if (typeof step === 'number') return step;
  return list.findIndex((item) => isJsonObject(item) && String(item[step.key]) === step.value);
}

/** The object that a parameter names. */
export function targetOf(
  { kind, name }: Parameter,
  objects: readonly KubeObject[],
): KubeObject | undefined {
  return objects.find((each) => each.kind === kind && each.metadata.name === name);
}

/** The schema of a literal, with the literal as default. Pure. */
export function schemaOf(value: unknown): JsonObject {
  return { ...typeOf(value), default: value as JsonObject[string] };
}

function typeOf(value: unknown): JsonObject {
  if (typeof value === 'string') return { type: 'string' };
  if (typeof value === 'boolean') return { type: 'boolean' };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  if (typeof value === 'bigint') return { type: 'integer', format: 'int64' };
  if (Array.isArray(value)) return { type: 'array', items: typeOf(value[0] ?? '') };
  return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
}
