import type { Token } from './tokens.ts';

/** Functions for what other languages write as methods: `text.toUpperCase()`. Arguments follow the value. */
const methods: Readonly<Record<string, string>> = {
  contains: 'contains',
  includes: 'contains',
  filter: 'filter',
  indexOf: 'contains',
  join: 'join',
  keys: 'keys',
  length: 'count',
  lower: 'lowercase',
  map: 'map',
  matches: 'matches',
  replace: 'replace',
  size: 'count',
  slice: 'substring',
  split: 'split',
  startsWith: 'matches',
  substring: 'substring',
  toLowerCase: 'lowercase',
  toString: 'string',
  toUpperCase: 'uppercase',
  trim: 'trim',
  upper: 'uppercase',
};

/** Functions for what Helm writes behind a `|`. */
const pipes: Readonly<Record<string, string>> = {
  b64dec: 'base64decode',
  b64enc: 'base64encode',
  int: 'number',
  join: 'join',
  lower: 'lowercase',
  quote: 'string',
  replace: 'replace',
  toJson: 'string',
  toString: 'string',
  trim: 'trim',
  trunc: 'substring',
  upper: 'uppercase',
};

/** The hint for a method call, such as `spec.list.join(",")`. Undefined: `at` is no method of another language. */
export function methodHint(tokens: readonly Token[], at: number): string | undefined {
  const index = tokens.findIndex(({ start }) => start === at);
  const name = tokens[index]?.text ?? '';
  const known = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (known === undefined || tokens[index - 1]?.text !== '.') return undefined;
  const value = pathBefore(tokens, index - 1);
  const rest = argumentsAfter(tokens, index + 1);
  if (value === undefined || rest === undefined) return `Write "$${known}(value, ...)"`;
  return `Write "$${known}(${[value, ...(rest === '' ? [] : [rest])].join(', ')})"`;
}

/** Functions of CEL, Go templates and other languages. */
const functions: Readonly<Record<string, string>> = {
  defined: 'exists',
  has: 'exists',
  int: 'number',
  len: 'count',
  size: 'count',
  str: 'string',
  toString: 'string',
};

/** Functions by names that other tools give them. */
const synonyms: Readonly<Record<string, string>> = {
  fromJson: 'parseJson',
  fromYaml: 'parseYaml',
  regexMatch: 'matches',
  toJson: 'json',
  toYaml: 'yaml',
  sha1sum: 'sha1',
  sha256sum: 'sha256',
  uniq: 'unique',
};

/** The function that another tool calls `name`, as Helm does; undefined if none does. */
export function foreignFunction(name: string): string | undefined {
  return Object.hasOwn(synonyms, name) ? synonyms[name] : undefined;
}

/** The hint for a function of another language, such as `len(spec.tags)`. Undefined: `at` is none. */
export function functionHint(tokens: readonly Token[], at: number): string | undefined {
  const index = tokens.findIndex(({ start }) => start === at);
  const name = tokens[index]?.text ?? '';
  const known = Object.hasOwn(functions, name) ? functions[name] : undefined;
  return known && `Write "$${known}(${argumentsAfter(tokens, index + 1) || '...'})"`;
}

/** The hint for a value of a Helm chart, `.Values.image`, or a function behind a `|`. Undefined: there is neither. */
export function helmHint(tokens: readonly Token[]): string | undefined {
  const [dot, root] = tokens;
  if (dot?.text === '.' && root !== undefined)
    return helmValueHint(root.text, fieldsFrom(tokens, 3)) ?? withoutDot(fieldsFrom(tokens, 1));
  const index = tokens.findIndex(({ text }) => text === '|');
  const name = tokens[index + 1]?.text ?? '';
  if (index < 1) return undefined;
  const value = pathBefore(tokens, index) ?? 'value';
  if (name === 'default') return `Write "${value} ?? ${tokens[index + 2]?.text ?? '...'}"`;
  if (name === 'nindent' || name === 'indent' || name === 'toYaml')
    return 'Leave it out: an expression gives a value, not text with an indentation';
  const known = Object.hasOwn(pipes, name) ? pipes[name] : undefined;
  return known && `Write "$${known}(${value})"`;
}

function withoutDot(path: string): string | undefined {
  return path === '' ? undefined : `Write "${path}", without a dot before the first name`;
}

/** The hint for a name at the root of a Helm template. `field`: the path below it. */
export function helmValueHint(root: string, field: string): string | undefined {
  switch (root) {
    case 'Values':
      return `Write "spec.${field === '' ? '...' : field}": the values of a chart are the spec of the resource`;
    case 'Release':
      return `Write "metadata.${field === 'Namespace' ? 'namespace' : 'name'}"`;
    case 'Chart':
      return 'Write the value, or put it into "vars"';
    default:
      return undefined;
  }
}

/** The path of names that begins at a token. */
function fieldsFrom(tokens: readonly Token[], start: number): string {
  const end = tokens.findIndex((token, index) => index >= start && !isPathToken(token));
  return textOf(tokens.slice(start, end < 0 ? undefined : end));
}

/** The path of names that ends before a token. Undefined: something else stands there. */
function pathBefore(tokens: readonly Token[], end: number): string | undefined {
  let start = end;
  while (start > 0 && isPathToken(tokens[start - 1])) start--;
  const path = tokens.slice(start, end);
  if (path.length === 0 || path[0]?.text === '.') return undefined;
  return path.map(({ text }) => text).join('');
}

function isPathToken(token: Token | undefined): boolean {
  return token?.kind === 'name' || token?.kind === 'variable' || token?.text === '.';
}

/** The text between the brackets of a call. Undefined: they are not closed. */
function argumentsAfter(tokens: readonly Token[], open: number): string | undefined {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    const { text = '' } = tokens[index] ?? {};
    if ('([{'.includes(text)) depth++;
    if (')]}'.includes(text)) depth--;
    if (depth === 0) return textOf(tokens.slice(open + 1, index));
  }
  return undefined;
}

function textOf(tokens: readonly Token[]): string {
  return tokens.map(({ text }) => (text === ',' ? ', ' : text)).join('');
}
