import { HomeostatError } from '#util/homeostat-error.ts';
import { isJsonObject, type JsonObject } from '#util/json.ts';
import { listField, objectField, stringField } from '../json-fields.ts';
import { labelValueRule, qualifiedName } from '../metadata/name-rules.ts';

type Labels = Readonly<Record<string, unknown>>;

/** Returns whether an object with these labels matches. */
type LabelMatcher = (labels: Labels) => boolean;

/** A selector with invalid syntax, with the server's message. */
export class SelectorError extends HomeostatError<'unreadable'> {
  constructor(message: string) {
    super('unreadable', message);
  }
}

type Operator = 'in' | 'notin' | 'exists' | '!' | '=' | '==' | '!=' | 'gt' | 'lt';

interface Token {
  readonly kind: 'identifier' | 'symbol' | 'end';
  readonly text: string;
}

/** Parses the `labelSelector` of a query: `a=b,c!=d,e in (f,g),!h`. @throws SelectorError */
export function parseLabelQuery(query: string): LabelMatcher {
  const tests = new LabelQueryParser(query).parse();
  return (labels) => tests.every((test) => test(labels));
}

class LabelQueryParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(query: string) {
    const found = query.matchAll(/\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/g);
    const tokens = [...found].map(
      ([, symbol, identifier = '']): Token =>
        symbol === undefined
          ? { kind: 'identifier', text: identifier }
          : { kind: 'symbol', text: symbol },
    );
    this.#tokens = [...tokens, { kind: 'end', text: '' }];
  }

  parse(): readonly LabelMatcher[] {
    const tests: LabelMatcher[] = [];
    for (;;) {
      const { kind, text } = this.#next;
      if (kind === 'end') break;
      if (kind !== 'identifier' && text !== '!')
        throw new SelectorError(`found '${text}', expected: !, identifier, or 'end of string'`);
      tests.push(this.#requirementOrError());
      const separator = this.#take();
      if (separator.kind === 'end') break;
      if (separator.text !== ',')
        throw new SelectorError(`found '${separator.text}', expected: ',' or 'end of string'`);
      const after = this.#next;
      if (after.kind !== 'identifier' && after.text !== '!')
        throw new SelectorError(`found '${after.text}', expected: identifier after ','`);
    }
    return tests;
  }

  get #next(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #take(): Token {
    const token = this.#next;
    this.#at++;
    return token;
  }

  #requirementOrError(): LabelMatcher {
    try {
      return this.#requirement();
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  #requirement(): LabelMatcher {
    const isNegated = this.#next.text === '!' && this.#next.kind === 'symbol';
    if (isNegated) this.#take();
    const { kind, text: key } = this.#take();
    if (kind !== 'identifier') throw new SelectorError(`found '${key}', expected: identifier`);
    assertRule('<nil>', key, qualifiedName(key));
    if (isNegated) return labelTest(key, '!', []);
    if (this.#next.kind === 'end' || this.#next.text === ',') return labelTest(key, 'exists', []);
    const operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
    const unique = [...new Set(values)].sort();
    for (const [index, value] of unique.entries())
      assertRule(`values[${index}][${key}]`, value, labelValueRule(value));
    return labelTest(key, operator, unique);
  }

  #operator(): Operator {
    const { text } = this.#take();
    switch (text) {
      case 'in':
      case 'notin':
      case '=':
      case '==':
      case '!=':
        return text;
      case '<':
        return 'lt';
      case '>':
        return 'gt';
      default:
        throw new SelectorError(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #value(): string {
    if (this.#next.kind === 'end' || this.#next.text === ',') return '';
    const { kind, text } = this.#take();
    if (kind !== 'identifier') throw new SelectorError(`found '${text}', expected: identifier`);
    return text;
  }

  #values(): readonly string[] {
    const open = this.#take();
    if (open.text !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    if (
      this.#next.kind === 'end' ||
      (this.#next.kind === 'symbol' && !',)'.includes(this.#next.text))
    )
      throw new SelectorError(`found '${this.#next.text}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    let isValueNext = true;
    for (;;) {
      const { kind, text } = this.#take();
      if (kind === 'end')
        throw new SelectorError(
          isValueNext ? `found '', expected: ',', or identifier` : `found '', expected: ',' or ')'`,
        );
      if (kind === 'identifier') {
        values.push(text);
        isValueNext = false;
      } else if (text === ',' || text === ')') {
        if (isValueNext) values.push('');
        if (text === ')') return values;
        isValueNext = true;
      } else throw new SelectorError(`found '${text}', expected: ',' or ')'`);
    }
  }
}

function assertRule(path: string, value: string, messages: readonly string[]): void {
  if (messages.length === 0) return;
  const text = `${path}: Invalid value: ${JSON.stringify(value)}: ${messages.join('; ')}`;
  throw new SelectorError(text);
}

function labelTest(key: string, operator: Operator, values: readonly string[]): LabelMatcher {
  const [first = ''] = values;
  const labelOf = (labels: Labels) =>
    Object.hasOwn(labels, key) ? String(labels[key]) : undefined;
  switch (operator) {
    case 'exists':
      return (labels) => labelOf(labels) !== undefined;
    case '!':
      return (labels) => labelOf(labels) === undefined;
    case '=':
    case '==':
      return (labels) => labelOf(labels) === first;
    case '!=':
      return (labels) => labelOf(labels) !== first;
    case 'in':
      return (labels) => values.includes(labelOf(labels) ?? '\0');
    case 'notin':
      return (labels) => !values.includes(labelOf(labels) ?? '\0');
    case 'gt':
    case 'lt': {
      if (!/^[+-]?\d+$/.test(first)) {
        const detail = "for 'Gt', 'Lt' operators, the value must be an integer";
        throw new SelectorError(`values[0]: Invalid value: ${JSON.stringify(first)}: ${detail}`);
      }
      const sign = operator === 'gt' ? 1 : -1;
      return (labels) => (Number(labelOf(labels)) - Number(first)) * sign > 0;
    }
  }
}

/** A label selector as query text: `app=web,tier in (a,b)`; empty when it selects everything. */
export function labelSelectorText(selector: JsonObject): string {
  const equal = Object.entries(objectField(selector, 'matchLabels') ?? {}).map(
    ([key, value]): readonly [string, string] => [key, `${key}=${value}`],
  );
  const expressions = listField(selector, 'matchExpressions')
    .filter(isJsonObject)
    .map((expression): readonly [string, string] => [
      stringField(expression, 'key') ?? '',
      requirementText(expression),
    ]);
  return [...equal, ...expressions]
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, text]) => text)
    .join(',');
}

function requirementText(expression: JsonObject): string {
  const key = stringField(expression, 'key') ?? '';
  const values = listField(expression, 'values').map(String).sort().join(',');
  switch (expression.operator) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
