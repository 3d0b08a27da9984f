import { type DiagnosticCode, type Finding, positionOf } from '#definition';
import { didYouMean } from '#util/did-you-mean.ts';
import { freezeDeep, isJsonObject, pointerTo } from '#util/json.ts';
import type { LeafRecorder } from '../coverage.ts';
import type { Diagnostics } from '../diagnostics.ts';
import type { Leaf, LeafParser } from '../language/index.ts';
import {
  fieldForScalar,
  type ScalarName,
  type SchemaType,
  type StructType,
} from '../schema/schema-type.ts';
import { CoercionError, type CoercionErrorCode, coerceLiteral, typeName } from './coerce.ts';
import { fileOf, type Place } from './render-error.ts';
import {
  type CompiledTemplate,
  constant,
  type KeySlot,
  type ListItem,
  type MapEntry,
  referencesOf,
  type Slot,
  type TemplateNode,
} from './template.ts';
import { fieldBelow } from './values.ts';

export interface TemplateOptions {
  /** The YAML tree. */
  readonly tree: unknown;
  readonly pointer: string;
  /** Name in messages: `when`, `vars.labels`; empty for a manifest. */
  readonly field: string;
  readonly type: SchemaType | undefined;
  /** May messages quote values? */
  readonly quotes: boolean;
  readonly parser: LeafParser;
  readonly diagnostics: Diagnostics;
  /** The diagnostic code for unknown fields. @default 'unknown-child-field' */
  readonly unknownField?: Pick<Finding, 'code'> & { readonly hint?: string };
  /** Replaces leaves by those that record their evaluation. @default leaves are used as they are */
  readonly recordLeaf?: LeafRecorder;
}

/** Maximum depth of a template. */
const maxDepth = 100;

/** Replaces a node with errors, so that its field exists for references to it. */
const rejectedNode: TemplateNode = { kind: 'constant', value: null };

/** The current position in the tree. */
interface Location {
  readonly pointer: string;
  readonly field: string;
  readonly type: SchemaType | undefined;
  readonly depth: number;
}

/** Compiles a template against the schema of the rendered value, and reports all errors that can be found statically. */
export function compileTemplate(options: TemplateOptions): CompiledTemplate {
  return new TemplateCompilation(options).run();
}

/** One traversal of one tree. */
class TemplateCompilation {
  readonly #options: TemplateOptions;
  readonly #slots: Slot[] = [];
  #constantSize = 0;

  constructor(options: TemplateOptions) {
    this.#options = options;
  }

  run(): CompiledTemplate {
    const { tree, pointer, field, type } = this.#options;
    const root = this.#node(tree, { pointer, field, type, depth: 0 });
    this.#measure(root);
    const place = this.#place({ pointer, field: field === '' ? 'template' : field });
    const slots = this.#slots;
    const references = referencesOf(slots);
    return { root, slots, references, constantSize: this.#constantSize, pointer, place };
  }

  #node(tree: unknown, spot: Location): TemplateNode {
    if (spot.depth > maxDepth) {
      this.#report(spot, { code: 'invalid-value', message: `Expected at most ${maxDepth} levels` });
      return rejectedNode;
    }
    if (typeof tree === 'string') return this.#text(tree, spot);
    if (Array.isArray(tree)) return this.#list(tree, spot);
    if (!isJsonObject(tree)) return this.#literal(tree, spot);
    return Object.hasOwn(tree, '$literal') ? this.#verbatim(tree, spot) : this.#map(tree, spot);
  }

  #literal(value: unknown, spot: Location): TemplateNode {
    try {
      const { quotes } = this.#options;
      return constant(freezeDeep(coerceLiteral(value, { ...spot, quotes })));
    } catch (error) {
      if (!(error instanceof CoercionError)) throw error;
      const { message, hint = fieldHint(value, spot.type) } = error;
      this.#report(spot, { code: this.#codeOf(error.code), message, hint });
      return rejectedNode;
    }
  }

  #codeOf(misfit: CoercionErrorCode): DiagnosticCode {
    switch (misfit) {
      case 'wrong-type':
        return 'wrong-type';
      case 'unlisted':
        return 'invalid-value';
      case 'unknown-field':
        return this.#unknownFieldOptions.code;
    }
  }

  get #unknownFieldOptions(): NonNullable<TemplateOptions['unknownField']> {
    return this.#options.unknownField ?? { code: 'unknown-child-field' };
  }

  #verbatim(tree: Readonly<Record<string, unknown>>, spot: Location): TemplateNode {
    if (Object.keys(tree).length === 1) return this.#literal(tree.$literal, spot);
    const pointer = pointerTo(spot.pointer, '$literal');
    const message = 'Expected "$literal" to be the only field of its map';
    this.#options.diagnostics.report({ code: 'invalid-value', message, path: pointer, at: 'key' });
    return rejectedNode;
  }

  #text(text: string, spot: Location): TemplateNode {
    const leaf = this.#parse(text, spot.pointer, 'value');
    if (leaf === undefined) return rejectedNode;
    if (leaf.kind === 'literal') return this.#literal(leaf.text, spot);
    if (leaf.kind === 'value' && leaf.mode === 'spread') {
      const message = 'Expected "${... }" to be an item of a list';
      this.#report(spot, { code: 'expression-syntax', message });
      return rejectedNode;
    }
    if (leaf.kind !== 'value') this.#expectText(spot);
    return { kind: 'slot', slot: this.#slot({ leaf, text, role: 'value' }, spot) };
  }

  /** Returns undefined if there are errors. */
  #parse(text: string, pointer: string, role: 'key' | 'value'): Leaf | undefined {
    if (!text.includes('${') && !text.includes('{{')) return { kind: 'literal', text };
    const { leaf, problems } = this.#options.parser.parse(text);
    for (const { offset, ...problem } of problems) {
      const at = role === 'key' ? 'key' : offset;
      this.#options.diagnostics.report({ ...problem, path: pointer, at });
    }
    return problems.some(({ severity }) => severity === 'error') ? undefined : leaf;
  }

  /** Reports a string result where a map is expected. */
  #expectText(spot: Location): void {
    const { type } = spot;
    if (type === undefined || type.kind === 'scalar' || type.kind === 'any') return;
    if (type.kind === 'branch' || type.kind === 'list') return;
    this.#mismatch(spot, type, 'a string');
  }

  #list(tree: readonly unknown[], spot: Location): TemplateNode {
    const { type } = spot;
    const known = typeForList(type);
    if (known === 'none' && type !== undefined) this.#mismatch(spot, type, 'a list');
    const inner = known === 'none' ? undefined : known;
    const items = tree.map((item, index): ListItem => {
      const below = this.#below(spot, index, inner);
      const spread = typeof item === 'string' ? this.#spread(item, below) : undefined;
      const keepsNull = type?.kind === 'list' && type.keepsNull === true;
      if (item === null && inner !== undefined && inner.kind !== 'any' && !keepsNull)
        this.#mismatch(below, inner, 'null');
      return spread ?? { node: this.#node(item, below), isSpread: false };
    });
    return constantList(items) ?? { kind: 'list', items };
  }

  #spread(text: string, spot: Location): ListItem | undefined {
    if (!text.includes('${...')) return undefined;
    const leaf = this.#parse(text, spot.pointer, 'value');
    if (leaf?.kind !== 'value' || leaf.mode !== 'spread') return undefined;
    return {
      node: { kind: 'slot', slot: this.#slot({ leaf, text, role: 'spread' }, spot) },
      isSpread: true,
    };
  }

  #map(tree: Readonly<Record<string, unknown>>, spot: Location): TemplateNode {
    const type = spot.type?.kind === 'branch' ? spot.type.either : spot.type;
    if (type?.kind === 'list' || (type?.kind === 'scalar' && !type.accepts.includes('unknown'))) {
      const hint = type.kind === 'list' ? 'Write "- " before each item' : undefined;
      this.#mismatch(spot, type, 'a map', hint);
      return this.#map(tree, { ...spot, type: undefined });
    }
    const entries = inOrderOfKeys(tree, (key, value): MapEntry => {
      const below = this.#below(spot, key, undefined);
      const keySlot = this.#key(key, below, { mapField: spot.field, mapType: type });
      if (keySlot !== undefined) return { key: keySlot, node: this.#node(value, below) };
      return { key: this.#literalKey(key), node: this.#field(value, key, { ...below, type }) };
    });
    const kept = entries.filter(({ node }) => node.kind !== 'constant' || node.value !== undefined);
    return constantMap(kept) ?? { kind: 'map', entries: kept };
  }

  /** `spot.type` is the type of the map. */
  #field(value: unknown, key: string, spot: Location): TemplateNode {
    const { type } = spot;
    if (type?.kind === 'map') {
      if (value === null && !type.keepsNull) return constant(undefined);
      return this.#node(value, { ...spot, type: type.item });
    }
    if (type?.kind !== 'struct') return this.#node(value, { ...spot, type: undefined });
    const known = type.fields.get(key);
    if (known === undefined && !type.open) this.#unknownField(type, key, spot);
    if (value === null && known?.keepsNull === false) return constant(undefined);
    return this.#node(value, { ...spot, type: known?.type });
  }

  #unknownField(type: StructType, key: string, { pointer, field }: Location): void {
    const { code, hint } = this.#unknownFieldOptions;
    this.#options.diagnostics.report({
      code,
      message: `Unknown field "${field}"`,
      hint: didYouMean(key, type.fields.keys()) ?? hint,
      path: pointer,
      at: 'key',
    });
  }

  #key(
    key: string,
    spot: Location,
    map: Pick<KeySlot, 'mapField' | 'mapType'>,
  ): KeySlot | undefined {
    const leaf = this.#parse(key, spot.pointer, 'key');
    if (leaf === undefined || leaf.kind === 'literal') return undefined;
    if (leaf.kind === 'value' && leaf.mode === 'spread') {
      const message = 'Expected "${... }" to be an item of a list';
      const { pointer } = spot;
      this.#options.diagnostics.report({
        code: 'expression-syntax',
        message,
        path: pointer,
        at: 'key',
      });
      return undefined;
    }
    const slot = this.#slot({ leaf, text: key, role: 'key' }, spot);
    return { slot, place: this.#place({ ...spot, at: 'key' }), ...map };
  }

  /** The key with escapes resolved. */
  #literalKey(key: string): string {
    if (!key.includes('${') && !key.includes('{{')) return key;
    const { leaf } = this.#options.parser.parse(key);
    return leaf?.kind === 'literal' ? leaf.text : key;
  }

  #slot(written: Pick<Slot, 'leaf' | 'text' | 'role'>, spot: Location): number {
    const isKey = written.role === 'key';
    const place = this.#place({ ...spot, at: isKey ? 'key' : 0 });
    const type = isKey ? undefined : spot.type;
    const { recordLeaf } = this.#options;
    const leaf = recordLeaf?.(written, spot.pointer) ?? written.leaf;
    this.#slots.push({ ...written, leaf, pointer: spot.pointer, place, type });
    return this.#slots.length - 1;
  }

  #below(spot: Location, step: string | number, type: SchemaType | undefined): Location {
    return {
      pointer: pointerTo(spot.pointer, step),
      field: fieldBelow(spot.field, step),
      type,
      depth: spot.depth + 1,
    };
  }

  #place({
    pointer,
    field,
    at = 'value',
  }: Pick<Location, 'pointer' | 'field'> & { readonly at?: NonNullable<Finding['at']> }): Place {
    const { source } = this.#options.diagnostics;
    // Searched for when it is read: most places are never part of a message, and an edit of a comment moves them.
    const position = () => positionOf({ path: pointer, at }, source);
    return {
      field,
      path: pointer,
      get file() {
        return fileOf(source);
      },
      get line() {
        return position().line;
      },
      get column() {
        return position().column;
      },
    };
  }

  #mismatch(spot: Location, type: SchemaType, found: string, hint?: string): void {
    const message = `Expected ${typeName(type)} at ${spot.field}, found ${found}`;
    this.#report(spot, { code: 'wrong-type', message, hint });
  }

  #report({ pointer }: Location, finding: Omit<Finding, 'path'>): void {
    this.#options.diagnostics.report({ ...finding, path: pointer });
  }

  #measure(node: TemplateNode): void {
    switch (node.kind) {
      case 'constant':
        this.#constantSize += (JSON.stringify(node.value) ?? '').length + 1;
        break;
      case 'map':
        for (const { key, node: inner } of node.entries) {
          this.#constantSize += typeof key === 'string' ? key.length + 4 : 4;
          this.#measure(inner);
        }
        break;
      case 'list':
        for (const item of node.items) this.#measure(item.node);
        break;
      case 'slot':
        this.#constantSize += 2;
        break;
    }
  }
}

/**
 * The entries as written, compiled in the order of their keys: of several expressions that fail, the first one is reported, and the order of
 * keys is no part of the revision. An API server returns them sorted.
 */
function inOrderOfKeys(
  tree: Readonly<Record<string, unknown>>,
  compile: (key: string, value: unknown) => MapEntry,
): readonly MapEntry[] {
  const keys = Object.keys(tree);
  const compiled = new Map(keys.toSorted().map((key) => [key, compile(key, tree[key])]));
  return keys.flatMap((key) => compiled.get(key) ?? []);
}

function typeForList(type: SchemaType | undefined): SchemaType | undefined | 'none' {
  switch (type?.kind) {
    case 'list':
      return type.item;
    case 'branch':
      return type;
    case 'struct':
    case 'map':
      return 'none';
    case 'scalar':
      return type.accepts.includes('unknown') ? undefined : 'none';
    default:
      return undefined;
  }
}

function constantList(items: readonly ListItem[]): TemplateNode | undefined {
  const values: unknown[] = [];
  for (const { node } of items) {
    if (node.kind !== 'constant') return undefined;
    if (node.value !== undefined) values.push(node.value);
  }
  return constant(Object.freeze(values));
}

function constantMap(entries: readonly MapEntry[]): TemplateNode | undefined {
  const fields: [string, unknown][] = [];
  for (const { key, node } of entries) {
    if (typeof key !== 'string' || node.kind !== 'constant') return undefined;
    fields.push([key, node.value]);
  }
  return constant(Object.freeze(Object.fromEntries(fields)));
}

/** `strategy: Recreate` stands for `strategy: { type: Recreate }`, and `port: 80` of an Ingress for `port: { number: 80 }`. */
function fieldHint(value: unknown, type: SchemaType | undefined): string | undefined {
  if (type?.kind !== 'struct' || value === null || typeof value === 'object') return undefined;
  const isName = typeof value === 'string' && /^[A-Z]\w*$/.test(value);
  const found = Number.isInteger(value) ? 'integer' : (typeof value as ScalarName);
  const field = isName && type.fields.has('type') ? 'type' : fieldForScalar(type, found);
  const isPlain = /^[\w./-]+$/.test(String(value));
  return field !== undefined && isPlain ? `Write "{ ${field}: ${value} }"` : undefined;
}
