import { isJsonObject } from '#util/json.ts';
import { eachItem, type RuleStep } from '../rule-path.ts';
import {
  fieldNode,
  isRootField,
  itemNode,
  type ObjectNode,
  type SchemaNode,
} from '../schema-node.ts';

type Paths = readonly (readonly RuleStep[])[];

/** An object without what a conversion may lose: fields that are given up, and nulls that the API server removes. */
export function comparable(object: unknown, node: ObjectNode, drop: Paths): unknown {
  if (!isJsonObject(object)) return object;
  const fields = Object.entries(object).filter(([name]) => !isRootField(name));
  const { apiVersion, kind, metadata } = object;
  return {
    apiVersion,
    kind,
    metadata,
    ...(part(Object.fromEntries(fields), node, drop) as object),
  };
}

function part(value: unknown, node: SchemaNode | undefined, drop: Paths): unknown {
  if (node === undefined || node.kind === 'any') return value;
  if (Array.isArray(value)) {
    const inside = below(drop, (step) => step === eachItem);
    return value.map((item) => part(item, itemNode(node), inside));
  }
  if (!isJsonObject(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, field] of Object.entries(value)) {
    const own = fieldNode(node, name);
    if (own === undefined || (field === null && !own.isNullable)) continue;
    const inside = below(
      drop,
      (step) => step === name || (step === eachItem && node.kind === 'map'),
    );
    if (inside.some((path) => path.length === 0)) continue;
    kept.push([name, part(field, own, inside)]);
  }
  return Object.fromEntries(kept);
}

/** Is there an object with given up fields alone? Whether it exists in another version is given up with them. */
export function hasOnlyDropped(value: unknown, node: SchemaNode | undefined, drop: Paths): boolean {
  if (drop.length === 0 || node === undefined) return false;
  if (Array.isArray(value)) {
    const inside = below(drop, (step) => step === eachItem);
    return value.some((item) => hasOnlyDropped(item, itemNode(node), inside));
  }
  if (!isJsonObject(value)) return false;
  const fields = Object.entries(value).map(([name, field]) => ({
    field,
    own: fieldNode(node, name),
    inside: below(drop, (step) => step === name || (step === eachItem && node.kind === 'map')),
  }));
  const isNoValue = ({ field, own }: (typeof fields)[number]) => field === null && !own?.isNullable;
  const values = fields.filter((each) => !isNoValue(each));
  const kept = values.filter(({ inside }) => inside.every((path) => path.length > 0));
  if (kept.length === 0 && values.length > 0) return true;
  return kept.some(({ field, own, inside }) => hasOnlyDropped(field, own, inside));
}

function below(drop: Paths, isHere: (step: RuleStep | undefined) => boolean): Paths {
  return drop.filter((path) => isHere(path[0])).map((path) => path.slice(1));
}
