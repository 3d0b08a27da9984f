import { type ConversionRules, type FieldRule, readRules } from '#conversion';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { conversionsAnnotation } from '#util/stored-names.ts';

/** Converts the fields of a field manager (FieldsV1), which the API server never does. */
export type FieldConversion = (fields: JsonObject, from: string) => JsonObject;

/**
 * How the fields that clients own in other versions are named in the stored one: fields that were moved get their new path, and those that
 * the stored version does not have are left out. Undefined: the CRD has no rules. Pure.
 */
export function fieldConversion(live: KubeObject, to: string): FieldConversion | undefined {
  const stored = readRules(live.metadata.annotations?.[conversionsAnnotation] ?? '');
  const rules = stored?.byDigest.get(stored.current);
  if (rules === undefined) return undefined;
  const schema = schemaOf(live, to);
  return (fields, from) => {
    const inHub = moved(fields, rulesOf(rules, from), (rule) => rule);
    const converted = moved(inHub, rulesOf(rules, to), ({ here, there, ...rule }) => ({
      ...rule,
      here: there,
      there: here,
    }));
    return known(converted, schema);
  };
}

function rulesOf({ versions }: ConversionRules, version: string): readonly FieldRule[] {
  return versions.find((each) => each.version === version)?.fields ?? [];
}

function moved(
  fields: JsonObject,
  rules: readonly FieldRule[],
  turned: (rule: FieldRule) => FieldRule,
): JsonObject {
  let rest = fields;
  const found: [readonly string[], JsonObject][] = [];
  for (const rule of rules) {
    const { here, there, as } = turned(rule);
    const from = stepsOf(here);
    const subtree = at(rest, from);
    if (subtree === undefined) continue;
    rest = without(rest, from);
    // Items of lists have other keys, and other forms other fields: their owner gets them with its next apply.
    if (as === undefined && !here.includes('[]')) found.push([stepsOf(there), subtree]);
  }
  return found.reduce((all, [path, subtree]) => withField(all, path, subtree), rest);
}

function stepsOf(path: string): readonly string[] {
  return path.split('.').map((name) => `f:${name.replace('[]', '')}`);
}

function at(fields: JsonObject, path: readonly string[]): JsonObject | undefined {
  let node: JsonObject = fields;
  for (const step of path) {
    const next = node[step];
    if (!isJsonObject(next)) return undefined;
    node = next;
  }
  return node;
}

/** Nodes that own nothing any more go, too. */
function without(fields: JsonObject, [step = '', ...path]: readonly string[]): JsonObject {
  const { [step]: child, ...others } = fields;
  if (path.length === 0 || !isJsonObject(child)) return others;
  const rest = without(child, path);
  return Object.keys(rest).length === 0 ? others : { ...others, [step]: rest };
}

function withField(
  fields: JsonObject,
  [step = '', ...path]: readonly string[],
  subtree: JsonObject,
): JsonObject {
  const child = fields[step];
  const inner = isJsonObject(child) ? child : {};
  const value = path.length === 0 ? { ...inner, ...subtree } : withField(inner, path, subtree);
  return { ...fields, [step]: value };
}

/** Only fields of this schema. What it does not describe is kept. */
function known(fields: JsonObject, schema: JsonObject): JsonObject {
  const kept = Object.entries(fields).flatMap(([step, value]) => {
    const below = schemaBelow(schema, step);
    if (below === undefined) return [];
    const inner = isJsonObject(value) ? known(value, below) : value;
    const isEmptied =
      isJsonObject(value) &&
      isJsonObject(inner) &&
      Object.keys(value).length > 0 &&
      Object.keys(inner).length === 0;
    return isEmptied ? [] : [[step, inner] as const];
  });
  return Object.fromEntries(kept);
}

/** Undefined: the schema has no such field. */
function schemaBelow(schema: JsonObject, step: string): JsonObject | undefined {
  if (!step.startsWith('f:')) return isJsonObject(schema.items) ? schema.items : {};
  const name = step.slice(2);
  const { properties, additionalProperties } = schema;
  if (!isJsonObject(properties))
    return isJsonObject(additionalProperties) ? additionalProperties : {};
  const found = properties[name];
  if (isJsonObject(found)) return found;
  const isMeta = name === 'metadata' || name === 'apiVersion' || name === 'kind';
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return isMeta || isOpen ? {} : undefined;
}

function schemaOf({ spec }: KubeObject, version: string): JsonObject {
  const versions = isJsonObject(spec) && Array.isArray(spec.versions) ? spec.versions : [];
  const found = versions.filter(isJsonObject).find(({ name }) => name === version);
  const schema = isJsonObject(found?.schema) ? found.schema.openAPIV3Schema : undefined;
  return isJsonObject(schema) ? schema : {};
}
