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
import { type Json, pointerTo } from '../../util/json.ts';
import { describeFound } from '../tree.ts';
import type { InspectedNodes } from './inspect-nodes.ts';
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
export function toJson(document: Document.Parsed, targets: InspectedNodes['targets']): JsonTree {
  const conversion: Conversion = {
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
  if (node.tag !== undefined && !knownTags.has(node.tag)) {
    const message = `Tag "${node.tag}" is not supported`;
    return reportError({ node, message, hint: 'Use plain JSON values' }, conversion);
  }
  if (isScalar(node)) return convertScalar(node, conversion);
  if (conversion.steps.length >= maxNesting) {
    const message = `Expected at most ${maxNesting} nested lists and maps, found more`;
    const hint = 'Write fewer levels of lists and maps';
    return reportError({ node, message, hint }, conversion);
  }
  if (isMap(node)) return convertMap(node, conversion);
  return node.items.map((item, index) => convertAt(index, item, conversion));
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
  for (const { key, value } of node.items) {
    const name = nameOf(key, conversion);
    if (name !== undefined) map[name] = convertAt(name, value, conversion);
  }
  return map;
}

function nameOf(node: unknown, conversion: Conversion): string | undefined {
  const key = isAlias(node) ? conversion.targets.get(node) : node;
  const error = keyError(key);
  if (error === undefined) {
    const name = String((key as Scalar).value);
    if (isAlias(node) || conversion.openTargets.size > 0) conversion.aliasCharacters += name.length;
    // Users of the CRD write the property names of its schema; other names are only used in this file.
    if (isScalar(node) && conversion.steps.at(-1) === 'properties')
      warnOfAmbiguity(node, conversion, name);
    warnOfChangedName(key as Scalar, name, conversion);
    return name;
  }
  reportError({ node: node as Node, ...error }, conversion);
  return undefined;
}

/** A field name that is a number or a boolean, as other parsers also read it: `1.10` becomes `1.1`. */
function warnOfChangedName(key: Scalar, name: string, { problems, steps }: Conversion): void {
  const { source, range, value } = key;
  const type = typeof value;
  if ((type !== 'number' && type !== 'boolean') || source === undefined || source === name) return;
  problems.push({
    severity: 'warning',
    code: 'ambiguous-yaml',
    message: `Plain "${source}" is the ${type} ${name}, so the field is named "${name}"`,
    hint: `Quote it: "${source}"`,
    offset: range?.[0] ?? 0,
    path: [...steps, name].reduce(pointerTo, ''),
  });
}

function keyError(key: unknown): Pick<YamlProblem, 'message' | 'hint'> | undefined {
  if (!isScalar(key)) {
    const isHandlebars = isMap(key) && key.flow === true;
    return {
      message: 'Expected a field name, found a map or a list',
      hint: isHandlebars ? 'A string that starts with "{{" must be quoted' : undefined,
    };
  }
  if (key.value === '<<' && key.type === 'PLAIN') {
    return {
      message: 'Merge keys ("<<") are not supported',
      hint: 'Repeat the fields, or use "vars"',
    };
  }
  // Assigning it to an object would change the prototype, here or in a library.
  if (key.value === '__proto__') return { message: 'A field cannot be named "__proto__"' };
  return undefined;
}

function convertScalar(node: Scalar, conversion: Conversion): Json {
  warnOfAmbiguity(node, conversion);
  const { value, source } = node;
  if (conversion.openTargets.size > 0) conversion.aliasCharacters += String(value).length;
  if (typeof value === 'number' && !isExact(value, source)) {
    const message = `Number ${describeFound(source ?? value)} cannot be represented exactly`;
    return reportError({ node, message, hint: 'Quote it if it is a string' }, conversion);
  }
  const isJson =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isJson ? value : null;
}

function isExact(value: number, source: string | undefined): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source ?? '');
}

/** `name`: the field whose name the scalar is. */
function warnOfAmbiguity(node: Scalar, { problems, steps }: Conversion, name?: string): void {
  if (node.type !== 'PLAIN' || node.source === undefined) return;
  const reading = yaml11Meaning(node.source);
  if (reading === undefined) return;
  const here = typeof node.value === 'string' ? 'a string' : `the number ${String(node.value)}`;
  problems.push({
    severity: 'warning',
    code: 'ambiguous-yaml',
    message: `Plain "${node.source}" is ${here} here, but ${reading} to YAML 1.1 tools such as kubectl`,
    hint: `Quote it if it is a string, else write it so that all tools read it alike`,
    offset: node.range?.[0] ?? 0,
    path: [...steps, ...(name === undefined ? [] : [name])].reduce(pointerTo, ''),
  });
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

const yaml11Patterns: readonly (readonly [RegExp, string])[] = [
  [/^(?:y|Y|yes|Yes|YES|on|On|ON)$/, 'the boolean true'],
  [/^(?:n|N|no|No|NO|off|Off|OFF)$/, 'the boolean false'],
  [/^[-+]?0[0-7]+$/, 'an octal number'],
  [/^[-+]?0o[0-7]+$/, 'a string'],
  [/^[-+]?[1-9]\d*(?::[0-5]?\d)+$/, 'a base-60 number'],
  [/^[-+]?(?:0b[01_]+|\d+_[\d_]+)$/, 'a number'],
];

/**
 * How YAML 1.1 parsers (such as kubectl's) read a plain scalar that YAML 1.2 reads differently; undefined if both agree.
 */
export function yaml11Meaning(plain: string): string | undefined {
  return yaml11Patterns.find(([pattern]) => pattern.test(plain))?.[1];
}
