import { pointerSteps, pointerTo } from '#util/json.ts';
import type { SchemaType } from '../schema/schema-type.ts';
import type { CompiledTemplate, KeySlot, Slot, TemplateNode } from './template.ts';

/**
 * A manifest as it may be rendered: its literal parts, and examples in place of its expressions. It shows what an API server rejects
 * whatever the expressions result in.
 */
export interface ManifestExample {
  readonly manifest: unknown;
  /** Pointers of the values that an expression decides. What is not below one of them is literal. */
  readonly computed: readonly string[];
  /** Pointers of maps and lists that may have more fields or elements: those with computed keys, with spread elements, or computed. */
  readonly open: readonly string[];
  /** The pointer in the definition of a pointer in the manifest. They differ in lists with spread elements. */
  pointerOf(path: string): string;
}

/** Two examples at least, one with small and one with large numbers. Each value of an `enum` is in one of them. */
const fewest = 2;
const most = 8;
/** A limit is valid beside all literal values in one of the examples. */
const largeRound = 1;
const largeInteger = 2_147_483_647;
const largeQuantity = '1E';
/** Before a unit. */
const largeDigits = '1000000';

/** Examples that differ in the values of their expressions. */
export function examplesOf(template: CompiledTemplate): readonly ManifestExample[] {
  const values = template.slots.map(({ type }) =>
    type?.kind === 'scalar' ? (type.enum?.length ?? 0) : 0,
  );
  const count = Math.min(most, Math.max(fewest, ...values));
  return Array.from({ length: count }, (_, round) => new Example(template, round).build());
}

class Example {
  readonly #template: CompiledTemplate;
  readonly #round: number;
  readonly #computed: string[] = [];
  readonly #open: string[] = [];

  constructor(template: CompiledTemplate, round: number) {
    this.#template = template;
    this.#round = round;
  }

  build(): ManifestExample {
    const { root, pointer } = this.#template;
    return {
      manifest: this.#value(root, ''),
      computed: this.#computed,
      open: this.#open,
      pointerOf: (path) => `${pointer}${writtenPath(root, pointerSteps(path))}`,
    };
  }

  #value(node: TemplateNode, path: string): unknown {
    switch (node.kind) {
      case 'constant':
        return node.value;
      case 'slot':
        return this.#slot(this.#template.slots[node.slot], path);
      case 'map':
        return this.#map(node.entries, path);
      case 'list': {
        const literal = node.items.filter(({ isSpread }) => !isSpread);
        if (literal.length < node.items.length) this.#open.push(path);
        return literal.map(({ node: item }, index) => this.#value(item, pointerTo(path, index)));
      }
    }
  }

  #map(entries: Extract<TemplateNode, { kind: 'map' }>['entries'], path: string): unknown {
    if (entries.some(({ key }) => isComputed(key))) this.#open.push(path);
    const fields = entries.flatMap(({ key, node }): readonly (readonly [string, unknown])[] => {
      if (isComputed(key)) return [];
      const value = this.#value(node, pointerTo(path, key));
      return value === undefined ? [] : [[key, value]];
    });
    return Object.fromEntries(fields);
  }

  /** A field whose expression may have no result is absent in every second example. */
  #slot(slot: Slot | undefined, path: string): unknown {
    this.#computed.push(path);
    if (slot === undefined) return undefined;
    const { leaf, type } = slot;
    const isOptional = leaf.kind === 'value' && leaf.mode === 'optional';
    if (isOptional && this.#round % 2 === 1) return undefined;
    const isCollection = type?.kind === 'list' || type?.kind === 'map' || type?.kind === 'struct';
    if (isCollection) this.#open.push(path);
    if (leaf.kind !== 'text') return exampleOf(type, this.#round);
    const digits = this.#round === largeRound ? largeDigits : String(this.#round + 1);
    const part = isText(type) ? letterOf(this.#round) : digits;
    return leaf.parts.map((each) => (typeof each === 'string' ? each : part)).join('');
  }
}

function isComputed(key: string | KeySlot): key is KeySlot {
  return typeof key !== 'string';
}

function isText(type: SchemaType | undefined): boolean {
  if (type?.kind !== 'scalar') return true;
  return type.format !== 'quantity' && type.accepts.includes('string');
}

function letterOf(round: number): string {
  return String.fromCharCode('a'.charCodeAt(0) + round);
}

/** A value that a field of this type may have. */
function exampleOf(type: SchemaType | undefined, round: number): unknown {
  switch (type?.kind) {
    case 'list':
      return [];
    case 'map':
    case 'struct':
      return {};
    case 'scalar':
      break;
    default:
      return letterOf(round);
  }
  const { accepts, format, enum: listed } = type;
  if (listed !== undefined && listed.length > 0) return listed[round % listed.length];
  const isLarge = round === largeRound;
  if (format === 'quantity') return isLarge ? largeQuantity : String(round + 1);
  if (format === 'time') return '2000-01-01T00:00:00Z';
  if (format === 'base64') return 'YQ==';
  if (accepts.includes('integer') || accepts.includes('number'))
    return isLarge ? largeInteger : round + 1;
  return accepts.includes('boolean') ? round % 2 === 0 : letterOf(round);
}

/** The path in the template: in a list, elements that are spread have positions, too. */
function writtenPath(node: TemplateNode | undefined, [step, ...rest]: readonly string[]): string {
  if (step === undefined) return '';
  if (node?.kind === 'list') {
    const literal = node.items.flatMap(({ isSpread }, index) => (isSpread ? [] : [index]));
    const index = literal[Number(step)] ?? step;
    return `${pointerTo('', index)}${writtenPath(node.items[Number(index)]?.node, rest)}`;
  }
  const inner = node?.kind === 'map' ? node.entries.findLast(({ key }) => key === step) : undefined;
  return `${pointerTo('', step)}${writtenPath(inner?.node, rest)}`;
}
