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
import type { Json } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import { ambiguousWord } from './ambiguous-word.ts';
import type { InspectedNodes } from './inspect-nodes.ts';

/** A mistake at an offset of the text. */
export interface YamlProblem {
  readonly severity: 'error' | 'warning';
  readonly code: 'yaml-syntax' | 'ambiguous-yaml';
  readonly message: string;
  readonly hint?: string | undefined;
  readonly offset: number;
  /** JSON pointer of the value; empty for mistakes of the text itself. */
  readonly path: string;
}

export interface JsonTree {
  /** Null also when there is too much to read it all. */
  readonly value: Json;
  readonly problems: readonly YamlProblem[];
}

/** Nodes that one document may have, aliases written out: a bomb of aliases is refused, a big CRD is not. */
const mostNodes = 200_000;

/** Characters that the aliases of one document may add: few nodes with long texts are a bomb, too. */
const mostRepeated = 1_000_000;

interface Conversion {
  readonly targets: InspectedNodes['targets'];
  readonly problems: YamlProblem[];
  /** Anchored nodes whose alias is being written out. */
  readonly open: Set<Node>;
  nodes: number;
  /** Characters of the texts inside of aliases. */
  repeated: number;
}

/** A node and the pointer of the value that it becomes. */
interface Place<N> {
  readonly node: N;
  readonly path: string;
}

/** Turns a parsed document into plain JSON and reports what YAML can say and JSON cannot. */
export function toJson(document: Document.Parsed, targets: InspectedNodes['targets']): JsonTree {
  const conversion: Conversion = {
    targets,
    problems: [],
    open: new Set(),
    nodes: 0,
    repeated: 0,
  };
  const root = { node: document.contents, path: '' };
  const value = convert(root, conversion);
  if (conversion.nodes > mostNodes) {
    const message = `Expected at most ${mostNodes} values in a document, found more`;
    return { value: refuse({ ...root, message }, conversion), problems: conversion.problems };
  }
  if (conversion.repeated > mostRepeated) {
    const message = `Expected at most ${mostRepeated} characters by aliases in a document, found more`;
    return { value: refuse({ ...root, message }, conversion), problems: conversion.problems };
  }
  return { value, problems: conversion.problems };
}

function convert({ node, path }: Place<unknown>, conversion: Conversion): Json {
  if (++conversion.nodes > mostNodes || conversion.repeated > mostRepeated) return null;
  if (isAlias(node)) return convertAlias({ node, path }, conversion);
  if (!isScalar(node) && !isSeq(node) && !isMap(node)) return null;
  if (node.tag !== undefined && !knownTags.has(node.tag)) {
    const message = `Tag "${node.tag}" is not supported`;
    return refuse({ node, path, message, hint: 'Only plain JSON values are' }, conversion);
  }
  if (isScalar(node)) return convertScalar({ node, path }, conversion);
  if (isMap(node)) return convertMap({ node, path }, conversion);
  return node.items.map((item, index) =>
    convert({ node: item, path: pointerTo(path, index) }, conversion),
  );
}

const knownTags = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);

function convertAlias({ node, path }: Place<Alias>, conversion: Conversion): Json {
  const { targets, open } = conversion;
  const target = targets.get(node);
  if (target === undefined) {
    const message = `Unknown alias "*${node.source}"`;
    return refuse({ node, path, message, hint: 'Quote the value if it is a text' }, conversion);
  }
  if (open.has(target)) {
    return refuse({ node, path, message: `Alias "*${node.source}" holds itself` }, conversion);
  }
  open.add(target);
  const value = convert({ node: target, path }, conversion);
  open.delete(target);
  return value;
}

function convertMap({ node, path }: Place<YAMLMap>, conversion: Conversion): Json {
  const fields: [string, Json][] = [];
  for (const { key, value } of node.items) {
    const name = nameOf({ node: key, path }, conversion);
    if (name === undefined) continue;
    fields.push([name, convert({ node: value, path: pointerTo(path, name) }, conversion)]);
  }
  return Object.fromEntries(fields);
}

function nameOf({ node, path }: Place<unknown>, conversion: Conversion): string | undefined {
  const key = isAlias(node) ? conversion.targets.get(node) : node;
  const mistake = keyMistake(key);
  if (mistake === undefined) {
    const name = String((key as Scalar).value);
    if (isAlias(node) || conversion.open.size > 0) conversion.repeated += name.length;
    // Other names stay in this file; those of a schema are what the users of the CRD write.
    if (isScalar(node) && path.endsWith('/properties')) {
      warnOfAmbiguity({ node, path: pointerTo(path, name) }, conversion);
    }
    return name;
  }
  refuse({ node: node as Node, path, ...mistake }, conversion);
  return undefined;
}

function keyMistake(key: unknown): Pick<YamlProblem, 'message' | 'hint'> | undefined {
  if (!isScalar(key)) {
    const isHandlebars = isMap(key) && key.flow === true;
    return {
      message: 'Expected a field name, found a map or a list',
      hint: isHandlebars ? 'A text that starts with "{{" must be quoted' : undefined,
    };
  }
  if (key.value === '<<' && key.type === 'PLAIN') {
    return {
      message: 'Merge keys ("<<") are not supported',
      hint: 'Write the fields out, or use "vars"',
    };
  }
  // Assigned to an object it would change the prototype, here or in a library further on.
  if (key.value === '__proto__') return { message: 'A field cannot be named "__proto__"' };
  return undefined;
}

function convertScalar({ node, path }: Place<Scalar>, conversion: Conversion): Json {
  warnOfAmbiguity({ node, path }, conversion);
  const { value, source } = node;
  if (conversion.open.size > 0) conversion.repeated += String(value).length;
  if (typeof value === 'number' && !isExact(value, source)) {
    const message = `Number ${found(source ?? value)} cannot be kept exactly`;
    return refuse({ node, path, message, hint: 'Quote it if it is a text' }, conversion);
  }
  const isJson =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  return isJson ? value : null;
}

function isExact(value: number, source: string | undefined): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source ?? '');
}

function warnOfAmbiguity({ node, path }: Place<Scalar>, { problems }: Conversion): void {
  if (node.type !== 'PLAIN' || node.source === undefined) return;
  const reading = ambiguousWord(node.source);
  if (reading === undefined) return;
  const here = typeof node.value === 'string' ? 'a text' : `the number ${String(node.value)}`;
  problems.push({
    severity: 'warning',
    code: 'ambiguous-yaml',
    message: `Plain "${node.source}" is ${here} here, but ${reading} to YAML 1.1 tools such as kubectl`,
    hint: `Quote it if a text is meant, else spell it so that all tools agree`,
    offset: node.range?.[0] ?? 0,
    path,
  });
}

function refuse(
  problem: Place<Node | null> & Pick<YamlProblem, 'message' | 'hint'>,
  { problems }: Conversion,
): null {
  const { node, path, message, hint } = problem;
  const offset = node?.range?.[0] ?? 0;
  problems.push({ severity: 'error', code: 'yaml-syntax', message, hint, offset, path });
  return null;
}
