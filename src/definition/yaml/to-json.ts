import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { Json } from '../../util/json.ts';
import { found } from '../describe-value.ts';
import { ambiguousWord } from './ambiguous-word.ts';

/** A mistake at an offset of the text. */
export interface YamlProblem {
  readonly severity: 'error' | 'warning';
  readonly code: 'yaml-syntax' | 'ambiguous-yaml';
  readonly message: string;
  readonly hint?: string | undefined;
  readonly offset: number;
}

export interface JsonTree {
  readonly value: Json;
  readonly problems: readonly YamlProblem[];
}

/** Nodes that one document may have, aliases written out: a bomb of aliases is refused, a big CRD is not. */
const mostNodes = 200_000;

/** Turns a parsed document into plain JSON and reports what YAML can say and JSON cannot. */
export function toJson(document: Document.Parsed): JsonTree {
  const problems: YamlProblem[] = [];
  const open = new Set<Node>();
  let nodes = 0;

  function convert(node: unknown): Json {
    if (++nodes > mostNodes) return null;
    if (isAlias(node)) return convertAlias(node);
    if (isScalar(node)) return convertScalar(node);
    if (isSeq(node)) return refuseTag(node) ?? node.items.map((item) => convert(item));
    if (isMap(node)) return refuseTag(node) ?? convertMap(node.items);
    return null;
  }

  function convertAlias(node: Alias): Json {
    const target = node.resolve(document);
    if (target === undefined) {
      return refuse(node, `Unknown alias "*${node.source}"`, 'Quote the value if it is a text');
    }
    if (open.has(target)) return refuse(node, `Alias "*${node.source}" holds itself`);
    open.add(target);
    const value = convert(target);
    open.delete(target);
    return value;
  }

  function convertMap(items: readonly { key: unknown; value: unknown }[]): Json {
    const fields: [string, Json][] = [];
    for (const { key, value } of items) {
      const name = keyOf(key);
      if (name !== undefined) fields.push([name, convert(value)]);
    }
    // Unlike an assignment this makes "__proto__" a field like any other.
    return Object.fromEntries(fields);
  }

  function keyOf(key: unknown): string | undefined {
    const node = isAlias(key) ? key.resolve(document) : key;
    if (!isScalar(node)) {
      const isHandlebars = isMap(node) && node.flow === true;
      refuse(
        key as Node | null,
        'Expected a field name, found a map or a list',
        isHandlebars ? 'A text that starts with "{{" must be quoted' : undefined,
      );
      return undefined;
    }
    if (node.value === '<<' && node.type === 'PLAIN') {
      refuse(node, 'Merge keys ("<<") are not supported', 'Write the fields out, or use "vars"');
      return undefined;
    }
    if (node.value === '__proto__') {
      refuse(node, 'A field cannot be named "__proto__"');
      return undefined;
    }
    return String(node.value);
  }

  function convertScalar(node: Node & { value: unknown; type?: unknown; source?: string }): Json {
    const refused = refuseTag(node);
    if (refused !== undefined) return refused;
    const { value } = node;
    warnOfAmbiguity(node);
    if (typeof value === 'number' && !isExact(value, node.source)) {
      return refuse(
        node,
        `Number ${found(node.source ?? value)} cannot be kept exactly`,
        'Quote it if it is a text',
      );
    }
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? value
      : null;
  }

  function warnOfAmbiguity(node: Node & { value: unknown; type?: unknown; source?: string }) {
    if (node.type !== 'PLAIN' || node.source === undefined) return;
    const reading = ambiguousWord(node.source);
    if (reading === undefined) return;
    problems.push({
      severity: 'warning',
      code: 'ambiguous-yaml',
      message: `Plain "${node.source}" is the ${typeof node.value} ${JSON.stringify(node.value)} here, but ${reading} to YAML 1.1 tools`,
      hint: `Write ${JSON.stringify(node.source)} in quotes if a text is meant, else spell it so that all tools agree`,
      offset: node.range?.[0] ?? 0,
    });
  }

  function refuseTag(node: Node & { tag?: string }): Json | undefined {
    if (node.tag === undefined || knownTags.has(node.tag)) return undefined;
    return refuse(node, `Tag "${node.tag}" is not supported`, 'Only plain JSON values are');
  }

  function refuse(node: Node | null, message: string, hint?: string): null {
    const offset = node?.range?.[0] ?? 0;
    problems.push({ severity: 'error', code: 'yaml-syntax', message, hint, offset });
    return null;
  }

  const value = convert(document.contents);
  if (nodes > mostNodes) {
    refuse(document.contents, `Expected at most ${mostNodes} values in a document, found more`);
  }
  return { value, problems };
}

const knownTags = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
);

function isExact(value: number, source: string | undefined): boolean {
  if (!Number.isFinite(value)) return false;
  return Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(source ?? '');
}
