import { escapedLeaf } from '#compile';
import type { KubeObject } from '#util/kube-object.ts';
import { contains, type Instance, positionOf } from './instance-name.ts';

/**
 * What a text of a manifest is. `reference`: the name of an object. `class`: the same, and most are objects of the cluster. `text`:
 * anything, such as an argument or a script.
 */
export type TextRole = 'name' | 'reference' | 'class' | 'label' | 'text';

/** A part of a text that is computed. */
interface ComputedPart {
  readonly start: number;
  readonly end: number;
  /** JSONata */
  readonly expression: string;
}

export interface ComputedText {
  readonly parts: readonly ComputedPart[];
  /** The text contains the name of the instance where it may mean something else; there it stays literal. */
  readonly isUncertain: boolean;
}

interface InstanceTextOptions {
  readonly instance: Instance;
  readonly objects: readonly KubeObject[];
  /** Namespace of the objects that is that of the resource. */
  readonly namespace: string | undefined;
}

/** Finds the name of the instance in texts. */
export class InstanceText {
  readonly instance: Instance;
  readonly #namespace: string | undefined;
  /** Names of the objects that contain that of the instance. */
  readonly #names: ReadonlySet<string>;
  readonly #services: ReadonlySet<string>;
  readonly #statefulSets: ReadonlySet<string>;

  constructor({ instance, objects, namespace }: InstanceTextOptions) {
    this.instance = instance;
    this.#namespace = namespace;
    const named = (all: readonly KubeObject[]) =>
      new Set(
        all.map(({ metadata }) => metadata.name).filter((name) => contains(name, instance.name)),
      );
    this.#names = named(objects);
    this.#services = named(objects.filter(({ kind }) => kind === 'Service'));
    this.#statefulSets = named(objects.filter(({ kind }) => kind === 'StatefulSet'));
  }

  /** Is it the name of an object of the manifests that is computed? */
  isName(text: unknown): boolean {
    return typeof text === 'string' && this.#names.has(text);
  }

  /** What of a text is computed. Pure. */
  find(text: string, role: TextRole): ComputedText {
    const tokens = tokensOf(text, this.instance.name);
    const certain = tokens.filter((token) => this.#isCertain(text, token, role));
    const parts = certain.flatMap((token) => this.#partsOf(text, token));
    const more = role === 'text' ? [...this.#environment(text), ...this.#namespaceFlags(text)] : [];
    return {
      parts: [...parts, ...more].sort((a, b) => a.start - b.start),
      isUncertain: certain.length < tokens.length,
    };
  }

  #isCertain(text: string, { at, start, end }: Token, role: TextRole): boolean {
    const { name, isDistinctive } = this.instance;
    const token = text.slice(start, end);
    if (role === 'class') return this.#names.has(text);
    if (role === 'name' || isDistinctive || this.#isOfObject(token)) return true;
    if (this.#names.has(text) && text !== name) return true;
    if (role === 'label') return text === name;
    if (role === 'reference') return at === 0 && !text.includes('/');
    return token === name && this.#services.has(name) && this.#isHost(text, start, end);
  }

  /** The name of an object other than that of the instance alone, which may be another word, or of a Pod of it. */
  #isOfObject(token: string): boolean {
    const isKnown = (name: string) => name !== this.instance.name && this.#names.has(name);
    const base = token.replace(/-\d+$/, '');
    const isPod = base !== token && this.#statefulSets.has(base);
    return isPod || isKnown(token) || isKnown(base);
  }

  /** The host of an address: `http://web:80`, `web:80`, `web.shop.svc`, or the whole text. */
  #isHost(text: string, start: number, end: number): boolean {
    const isWhole = start === 0 && end === text.length;
    if (isWhole || /(?:\/\/|@)$/.test(text.slice(0, start))) return true;
    const after = text.slice(end);
    return /^(?::\d|\.svc\b)/.test(after) || this.#startsWithNamespace(after, '.');
  }

  #startsWithNamespace(text: string, separator: string): boolean {
    const prefix = `${separator}${this.#namespace}`;
    return (
      this.#namespace !== undefined &&
      text.startsWith(prefix) &&
      !/^[-A-Za-z0-9]/.test(text.slice(prefix.length))
    );
  }

  /** The name of the instance, and the namespace beside it: `web.shop.svc`, `shop/web`, `--lock=shop/web`. */
  #partsOf(text: string, { at, start, end }: Token): readonly ComputedPart[] {
    const { name } = this.instance;
    const own = { ...partAt(at, name), expression: 'metadata.name' };
    const space = this.#namespace;
    if (space === undefined) return [own];
    const spaceAt = (position: number) => ({
      ...partAt(position, space),
      expression: 'metadata.namespace',
    });
    if (this.#startsWithNamespace(text.slice(end), '.')) return [own, spaceAt(end + 1)];
    const before = start - space.length - 1;
    const isBeside = text.slice(Math.max(before, 0), start) === `${space}/`;
    // Not the part of a path: `/shop/web`.
    const isStart = before === 0 || /[\s=,"']/.test(text[before - 1] ?? '/');
    return isBeside && isStart ? [spaceAt(before), own] : [own];
  }

  /** `--namespace=shop` */
  #namespaceFlags(text: string): readonly ComputedPart[] {
    const space = this.#namespace;
    if (space === undefined) return [];
    return [...text.matchAll(/-namespace[= ]([a-z0-9][-a-z0-9]*)/g)]
      .filter(([, found]) => found === space)
      .map(({ 0: found, index }) => ({
        ...partAt(index + found.length - space.length, space),
        expression: 'metadata.namespace',
      }));
  }

  /** The variables of a Service: `WEB_DB_SERVICE_HOST`. */
  #environment(text: string): readonly ComputedPart[] {
    const { name } = this.instance;
    return [...this.#services].flatMap((service) => {
      const variable = environmentName(service);
      const offset = positionOf(service, name);
      return [...text.matchAll(new RegExp(`\\b${variable}_(?:SERVICE_|PORT\\b|PORT_)`, 'g'))].map(
        ({ index }) => ({
          ...partAt(index + offset, name),
          expression: '$uppercase($replace(metadata.name, "-", "_"))',
        }),
      );
    });
  }
}

function partAt(start: number, text: string): Omit<ComputedPart, 'expression'> {
  return { start, end: start + text.length };
}

function environmentName(service: string): string {
  return service.toUpperCase().replaceAll('-', '_').replaceAll('.', '_');
}

/** A word that contains the name of the instance, such as `web-db`. */
interface Token {
  /** Where the name of the instance begins. */
  readonly at: number;
  readonly start: number;
  readonly end: number;
}

/** The words of a text that contain a part. A word has it once: `web-web` is the object `web` of the instance `web`. */
function tokensOf(text: string, part: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = 0;
  for (;;) {
    const found = positionOf(text.slice(from), part);
    if (found < 0) return tokens;
    const at = from + found;
    const before = /[-A-Za-z0-9]*$/.exec(text.slice(from, at))?.[0].length ?? 0;
    const after = /^[-A-Za-z0-9]*/.exec(text.slice(at + part.length))?.[0].length ?? 0;
    // A hyphen at the end of a word is no part of it: `- web`, `web->db`.
    const word = text.slice(at - before, at + part.length + after);
    const start = at - before + (/^-*/.exec(word)?.[0].length ?? 0);
    const end = at + part.length + after - (/-*$/.exec(word)?.[0].length ?? 0);
    tokens.push({ at, start, end });
    from = at + part.length + after;
  }
}

/** The text as the template of a definition. Pure. */
export function templateOf(text: string, parts: readonly ComputedPart[]): unknown {
  if (parts.length === 0) return hasMarks(text) ? { $literal: text } : text;
  return withParts(text, parts);
}

/** A key of a map. Without computed parts, marks of expressions are escaped. Pure. */
export function keyOf(text: string, parts: readonly ComputedPart[]): string {
  return withParts(text, parts);
}

/** The text as an expression that gives it. Pure. */
export function expressionOf(text: string, parts: readonly ComputedPart[]): string {
  const operands: string[] = [];
  let position = 0;
  for (const { start, end, expression } of parts) {
    if (start > position) operands.push(JSON.stringify(text.slice(position, start)));
    operands.push(expression);
    position = end;
  }
  if (position < text.length) operands.push(JSON.stringify(text.slice(position)));
  return operands.join(' & ');
}

function withParts(text: string, parts: readonly ComputedPart[]): string {
  // Around a single expression, white space is ignored.
  const rest = parts.reduceRight(
    (left, { start, end }) => left.slice(0, start) + left.slice(end),
    text,
  );
  if (parts.length === 1 && rest !== '' && rest.trim() === '')
    return `\${ ${expressionOf(text, parts)} }`;
  let result = '';
  let position = 0;
  for (const { start, end, expression } of parts) {
    const before = text.slice(position, start);
    // `$${` would be an escape.
    const isDollar = before.endsWith('$');
    result += escapedLeaf(isDollar ? before.slice(0, -1) : before);
    result += isDollar ? `\${ "$" & ${expression} }` : `\${ ${expression} }`;
    position = end;
  }
  return result + escapedLeaf(text.slice(position));
}

function hasMarks(text: string): boolean {
  return /\$\{|\{\{/.test(text);
}
