import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import { integerOf } from '#util/exact-json.ts';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { describeFound } from '../tree.ts';
import type { InspectedNodes } from './inspect-nodes.ts';
import { isKnownTag } from './kubectl-scalars.ts';
import {
  describeScalar,
  fieldName,
  isMergeKey,
  otherReading,
  scalarValue,
  type YamlReading,
} from './scalar-value.ts';
import { maxNesting } from './text-limits.ts';

/** An error or a warning at an offset of the file. */
export interface YamlProblem {
  readonly severity: 'error' | 'warning';
  readonly code: 'yaml-syntax' | 'ambiguous-yaml';
  readonly message: string;
  readonly hint?: string | undefined;
  readonly offset: number;
  /** JSON pointer of the value; empty for syntax errors. */
  readonly path: string;
}

interface JsonTree {
  /** Null if the document exceeds the limits. */
  readonly value: Json;
  readonly problems: readonly YamlProblem[];
}

/** Nodes of one document with aliases expanded. Rejects alias bombs but not large CRDs. */
const maxNodes = 200_000;

/** Characters that aliases may add to one document. Rejects alias bombs of few nodes with long strings. */
const maxAliasCharacters = 1_000_000;

interface Conversion {
  readonly reading: YamlReading;
  readonly targets: InspectedNodes['targets'];
  readonly problems: YamlProblem[];
  /** Anchored nodes whose alias is being expanded. */
  readonly openTargets: Set<Node>;
  /** The path of the value that is being converted. Its pointer is made only for a problem. */
  readonly steps: (string | number)[];
  nodes: number;
  /** Characters of strings inside aliases. */
  aliasCharacters: number;
}

/** Converts a parsed document to plain JSON and reports YAML features that JSON does not have. */
export function toJson(
  document: Document.Parsed,
  { targets, reading }: Pick<Conversion, 'targets' | 'reading'>,
): JsonTree {
  const conversion: Conversion = {
    reading,
    targets,
    problems: [],
    openTargets: new Set(),
    steps: [],
    nodes: 0,
    aliasCharacters: 0,
  };
  const node = document.contents;
  const value = convert(node, conversion);
  if (conversion.nodes > maxNodes) {
    const message = `Expected at most ${maxNodes} values in a document, found more`;
    return { value: reportError({ node, message }, conversion), problems: conversion.problems };
  }
  if (conversion.aliasCharacters > maxAliasCharacters) {
    const message = `Expected at most ${maxAliasCharacters} characters from aliases in a document, found more`;
    return { value: reportError({ node, message }, conversion), problems: conversion.problems };
  }
  return { value, problems: conversion.problems };
}

function convert(node: unknown, conversion: Conversion): Json {
  if (++conversion.nodes > maxNodes || conversion.aliasCharacters > maxAliasCharacters) return null;
  if (isAlias(node)) return convertAlias(node, conversion);
  if (!isScalar(node) && !isSeq(node) && !isMap(node)) return null;
  if (node.tag !== undefined && !allowsTag(node, node.tag, conversion)) return null;
  if (isScalar(node)) return convertScalar(node, conversion);
  if (conversion.steps.length >= maxNesting) {
    const message = `Expected at most ${maxNesting} nested lists and maps, found more`;
    const hint = 'Write fewer levels of lists and maps';
    return reportError({ node, message, hint }, conversion);
  }
  if (isMap(node)) return convertMap(node, conversion);
  return node.items.map((item, index) => convertAt(index, item, conversion));
}

/** Definitions have no tags but those of plain JSON; kubectl ignores those that it does not know. */
function allowsTag(node: Node, tag: string, conversion: Conversion): boolean {
  if (conversion.reading === 'definition') {
    if (knownTags.has(tag)) return true;
    const message = `Tag "${tag}" is not supported`;
    reportError({ node, message, hint: 'Use plain JSON values' }, conversion);
    return false;
  }
  if (!isKnownTag(tag))
    warn(
      { node, message: `Tag "${tag}" is ignored, as by kubectl`, hint: 'Remove it' },
      conversion,
    );
  return true;
}

function convertAt(step: string | number, node: unknown, conversion: Conversion): Json {
  conversion.steps.push(step);
  const value = convert(node, conversion);
  conversion.steps.pop();
  return value;
}

const knownTags = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);

function convertAlias(node: Alias, conversion: Conversion): Json {
  const { targets, openTargets: open } = conversion;
  const target = targets.get(node);
  if (target === undefined) {
    const message = `Unknown alias "*${node.source}"`;
    return reportError({ node, message, hint: 'Quote the value if it is a string' }, conversion);
  }
  if (open.has(target))
    return reportError({ node, message: `Alias "*${node.source}" contains itself` }, conversion);
  open.add(target);
  const value = convert(target, conversion);
  open.delete(target);
  return value;
}

function convertMap(node: YAMLMap, conversion: Conversion): Json {
  const map: Record<string, Json> = {};
  const keys = new Map<string, Scalar['value']>();
  for (const { key, value } of node.items) {
    if (conversion.reading === 'kubectl' && isMergeKey(key)) {
      mergeInto(map, value as Node | null, conversion);
      continue;
    }
    const scalar = isAlias(key) ? conversion.targets.get(key) : key;
    const name = nameOf(key, scalar, conversion);
    if (name === undefined) continue;
    const written = (scalar as Scalar).value;
    // Equal keys were found before; other keys may still have the same name: `1` and `"1"`.
    if (keys.has(name) && keys.get(name) !== written)
      reportError({ node: key as Node, message: `Field "${name}" is defined twice` }, conversion);
    keys.set(name, written);
    map[name] = convertAt(name, value, conversion);
  }
  return map;
}

/** Like kubectl's library: a merged field replaces one that is written before it. The first map of a list takes precedence. */
function mergeInto(map: Record<string, Json>, node: Node | null, conversion: Conversion): void {
  const items = isSeq(node) ? node.items.toReversed() : [node];
  for (const item of items) {
    const target = isAlias(item) ? conversion.targets.get(item) : item;
    if (target !== undefined && !isMap(target)) {
      const message = 'Expected a map or a list of maps after "<<"';
      reportError({ node: item as Node | null, message }, conversion);
      return;
    }
    const fields = convert(item, conversion);
    if (isJsonObject(fields)) Object.assign(map, fields);
  }
}

/** `key`: as it is written; `target`: the node that it refers to. */
function nameOf(key: unknown, target: unknown, conversion: Conversion): string | undefined {
  const name = fieldName(target, conversion.reading);
  const error = keyError(target, name);
  if (error !== undefined) {
    reportError({ node: key as Node, ...error }, conversion);
    return undefined;
  }
  if (isAlias(key) || conversion.openTargets.size > 0)
    conversion.aliasCharacters += name?.length ?? 0;
  warnOfName(target as Scalar, name ?? '', conversion);
  return name;
}

/** A name that is not what is written, or not the same to kubectl: `1.10` is `1.1`, and `on` is `true` to kubectl. */
function warnOfName(key: Scalar, name: string, conversion: Conversion): void {
  const { source, type } = key;
  if (type !== 'PLAIN' || source === undefined) return;
  const hint = `Quote it: "${source}"`;
  const other = conversion.reading === 'definition' ? otherReading(key) : undefined;
  if (other !== undefined) {
    const message = `Plain "${source}" is ${describeScalar(key.value)} here, but ${describeScalar(other.value)} to YAML 1.1 tools such as kubectl`;
    warn({ node: key, message, hint, name }, conversion);
  } else if (source !== name && typeof key.value !== 'string') {
    const message = `Plain "${source}" is ${describeScalar(key.value)}, so the field is named "${name}"`;
    warn({ node: key, message, hint, name }, conversion);
  }
}

function keyError(
  key: unknown,
  name: string | undefined,
): Pick<YamlProblem, 'message' | 'hint'> | undefined {
  if (!isScalar(key)) {
    const isHandlebars = isMap(key) && key.flow === true;
    return {
      message: 'Expected a field name, found a map or a list',
      hint: isHandlebars ? 'A string that starts with "{{" must be quoted' : undefined,
    };
  }
  if (isMergeKey(key)) {
    return {
      message: 'Merge keys ("<<") are not supported',
      hint: 'Repeat the fields, or use "vars"',
    };
  }
  if (name === undefined) {
    return {
      message: `Expected a field name, found ${describeFound(key.source)}`,
      hint: 'Quote it if it is a string',
    };
  }
  // Assigning it to an object would change the prototype, here or in a library.
  if (name === '__proto__') return { message: 'A field cannot be named "__proto__"' };
  return undefined;
}

function convertScalar(node: Scalar, conversion: Conversion): Json {
  const value = scalarValue(node, conversion.reading);
  const { source, tag } = node;
  if (value === undefined) {
    const message = `Expected a value of the tag "${tag}", found ${describeFound(source)}`;
    return reportError({ node, message }, conversion);
  }
  if (conversion.openTargets.size > 0) conversion.aliasCharacters += String(value).length;
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  if (isNumber && !isExact(value, source)) return convertInexact(node, value, conversion);
  if (conversion.reading === 'definition') warnOfAmbiguity(node, conversion);
  const isJson =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isJson ? value : null;
}

/**
 * An integer that JavaScript cannot hold as a number. Of objects it is exact up to the 64 bits of the API server, and a
 * floating-point number above, as by kubectl. A definition that holds one is rejected.
 */
function convertInexact(node: Scalar, value: number | bigint, conversion: Conversion): Json {
  const written = describeFound(node.source ?? value);
  const hint = 'Quote it if it is a string';
  if (conversion.reading === 'definition' || !Number.isFinite(Number(value)))
    return reportError(
      { node, message: `Number ${written} cannot be represented exactly`, hint },
      conversion,
    );
  const exact = typeof value === 'bigint' ? integerOf(String(value)) : undefined;
  if (exact !== undefined) return exact;
  const message = `Integer ${written} needs more than 64 bits with a sign: it becomes ${Number(value)}, as by kubectl`;
  warn({ node, message, hint }, conversion);
  return Number(value);
}

function isExact(value: number | bigint, source = ''): boolean {
  if (typeof value === 'bigint' || !Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?(?:[\d_]+|0[xob][\da-f_]+)$/i.test(source);
}

function warnOfAmbiguity(node: Scalar, conversion: Conversion): void {
  const other = otherReading(node);
  if (other === undefined) return;
  const message = `Plain "${node.source}" is ${describeScalar(node.value)} here, but ${describeScalar(other.value)} to YAML 1.1 tools such as kubectl`;
  const hint = `Quote it if it is a string: "${node.source}", else write ${String(other.value)}`;
  warn({ node, message, hint }, conversion);
}

function reportError(
  problem: Pick<YamlProblem, 'message' | 'hint'> & { readonly node: Node | null },
  { problems, steps }: Conversion,
): null {
  const { node, message, hint } = problem;
  const offset = node?.range?.[0] ?? 0;
  const path = steps.reduce<string>(pointerTo, '');
  problems.push({ severity: 'error', code: 'yaml-syntax', message, hint, offset, path });
  return null;
}

/** `name`: the field whose name the node is. */
function warn(
  problem: Pick<YamlProblem, 'message' | 'hint'> & { readonly node: Node; readonly name?: string },
  { problems, steps }: Conversion,
): void {
  const { node, message, hint, name } = problem;
  const offset = node.range?.[0] ?? 0;
  const path = [...steps, ...(name === undefined ? [] : [name])].reduce(pointerTo, '');
  problems.push({ severity: 'warning', code: 'ambiguous-yaml', message, hint, offset, path });
}
