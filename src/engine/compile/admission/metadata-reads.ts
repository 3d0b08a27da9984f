/** Keys of a map that a rule reads; `all`: any of them. */
export type KeysRead = 'all' | readonly string[];

/** What a rule reads of the labels and annotations of an object. */
export interface MetadataReads {
  readonly labels: KeysRead;
  readonly annotations: KeysRead;
}

const token =
  /\/\/[^\n]*|[bB]?[rR](?:"""[\s\S]*?"""|'''[\s\S]*?'''|"[^"]*"|'[^']*')|(?:"""(?:[^\\]|\\[\s\S])*?"""|'''(?:[^\\]|\\[\s\S])*?'''|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]/g;

/**
 * What a rule reads of labels and annotations, found in its text: `compile` has no parser for CEL. Where the text leaves it open, all keys
 * count, so that a rule is rather evaluated once too often.
 */
export function metadataReadsOf(rule: string): MetadataReads {
  const tokens = tokensOf(rule);
  const found = { labels: new Set<string>(), annotations: new Set<string>() };
  const isTested = { labels: false, annotations: false };
  const whole = { labels: false, annotations: false };
  const readAll = () => {
    whole.labels = true;
    whole.annotations = true;
  };

  for (const [index, text] of tokens.entries()) {
    if (isSelected(tokens, index)) continue;
    if (isRoot(text)) {
      if (!isFollowedByField(tokens, index) && !isComparedWithNull(tokens, index)) readAll();
    } else if (!/^[A-Za-z_]/.test(text) || !isMetadataOf(tokens, index)) continue;
    // `object.metadata`, or of a variable of a macro.
    const at = fieldAfter(tokens, index);
    if (at === undefined || tokens[at] !== 'metadata') continue;
    const field = fieldAfter(tokens, at);
    const name = field === undefined ? undefined : tokens[field];
    if (field === undefined) readAll();
    else if (name === 'labels' || name === 'annotations') {
      const keys = keysAt(tokens, { start: index, field });
      if (keys === 'all') whole[name] = true;
      else for (const key of keys) found[name].add(key);
      if (keys.length === 0) isTested[name] = true;
    }
  }
  const keysOf = (name: 'labels' | 'annotations') =>
    // A rule that only asks whether there are any reads all of them.
    whole[name] || (isTested[name] && found[name].size === 0)
      ? ('all' as const)
      : [...found[name]].sort();
  return { labels: keysOf('labels'), annotations: keysOf('annotations') };
}

export function isRoot(text: string | undefined): boolean {
  return text === 'object' || text === 'oldObject';
}

/** Whether the name belongs to what is before it: `a.name`, `a.?name`. */
export function isSelected(tokens: readonly string[], index: number): boolean {
  const before = tokens[index - 1];
  return before === '.' || (before === '?' && tokens[index - 2] === '.');
}

/** The index of the selected field after a token: `.field`, `.?field`. */
export function fieldAfter(tokens: readonly string[], index: number): number | undefined {
  if (tokens[index + 1] !== '.') return undefined;
  const at = tokens[index + 2] === '?' ? index + 3 : index + 2;
  return /^[A-Za-z_]/.test(tokens[at] ?? '') ? at : undefined;
}

function isFollowedByField(tokens: readonly string[], index: number): boolean {
  return fieldAfter(tokens, index) !== undefined;
}

function isMetadataOf(tokens: readonly string[], index: number): boolean {
  const at = fieldAfter(tokens, index);
  return at !== undefined && tokens[at] === 'metadata';
}

function isComparedWithNull(tokens: readonly string[], index: number): boolean {
  const [first, second, third] = tokens.slice(index + 1, index + 4);
  return (first === '=' || first === '!') && second === '=' && third === 'null';
}

/** The keys that are read of the map whose name is at `field`, in a selection that begins at `start`. */
function keysAt(
  tokens: readonly string[],
  { start, field }: { readonly start: number; readonly field: number },
): KeysRead {
  let next = field + 1;
  const skip = (...expected: readonly string[]) => {
    if (!expected.every((each, index) => tokens[next + index] === each)) return false;
    next += expected.length;
    return true;
  };
  skip('.', 'orValue', '(', '{', '}', ')');
  const isTested = tokens[start - 1] === '(' && tokens[start - 2] === 'has';
  if (isTested && tokens[next] === ')' && next === field + 1) return [];
  if (tokens[start - 1] === 'in') {
    const key = literalOf(tokens[start - 2]);
    // `'a' + 'b' in labels`: the key is the sum.
    return key === undefined || tokens[start - 3] === '+' ? 'all' : [key];
  }
  if (skip('[')) {
    skip('?');
    const key = literalOf(tokens[next]);
    return key === undefined || tokens[next + 1] !== ']' ? 'all' : [key];
  }
  const selected = fieldAfter(tokens, next - 1);
  const name = selected === undefined ? undefined : tokens[selected];
  return selected === undefined || name === undefined || tokens[selected + 1] === '('
    ? 'all'
    : [name];
}

/** The text of a string without escapes. */
export function literalOf(text: string | undefined): string | undefined {
  if (text === undefined || !/^(?:"[^"\\]*"|'[^'\\]*')$/.test(text)) return undefined;
  return text.slice(1, -1);
}

/** Names that only a policy has, and no rule of a schema. */
const policyNames: ReadonlySet<string> = new Set([
  'request',
  'namespaceObject',
  'authorizer',
  'params',
  'variables',
]);

/** Whether a rule reads nothing but what a rule of a schema can read: not the request, and of `metadata` only the name. */
export function looksOnlyAtContent(rule: string): boolean {
  const tokens = tokensOf(rule);
  return tokens.every((text, index) => {
    if (isSelected(tokens, index)) return true;
    if (policyNames.has(text)) return false;
    const metadata = isMetadataOf(tokens, index) ? fieldAfter(tokens, index) : undefined;
    const field = metadata === undefined ? undefined : fieldAfter(tokens, metadata);
    if (metadata !== undefined) return field !== undefined && tokens[field] === 'name';
    return !isRoot(text) || isFollowedByField(tokens, index);
  });
}

export function tokensOf(rule: string): readonly string[] {
  return locatedTokensOf(rule).map((each) => each.token);
}

/** The tokens of an expression with their offsets, without comments. A string is one token. */
export function locatedTokensOf(
  expression: string,
): readonly { readonly token: string; readonly at: number }[] {
  return [...expression.matchAll(token)]
    .map(({ 0: text, index }) => ({ token: text, at: index }))
    .filter((each) => !each.token.startsWith('//'));
}
