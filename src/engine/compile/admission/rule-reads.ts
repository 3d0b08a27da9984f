import {
  fieldAfter,
  isRoot,
  isSelected,
  literalOf,
  type MetadataReads,
  metadataReadsOf,
  tokensOf,
} from './metadata-reads.ts';

/** What a rule or the value of a default reads of an object. */
export interface RuleReads extends MetadataReads {
  /** Top-level fields that the schema of the kind does not name: it permits unknown fields at its root. */
  readonly content: readonly string[];
}

/** What a rule reads, found in its text. `contentFields` are compared anyway. */
export function ruleReadsOf(rule: string, contentFields: readonly string[]): RuleReads {
  const content = topFieldsOf(rule).filter((field) => !contentFields.includes(field));
  return { ...metadataReadsOf(rule), content };
}

/** Top-level fields that no rule can depend on alone: the server sets them, or a request of its own changes them. */
export const notContent: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'status',
]);

/** The top-level fields that a rule names: `object.data`, `object[?'data']`, `'data' in object`. */
function topFieldsOf(rule: string): readonly string[] {
  const tokens = tokensOf(rule);
  const found = new Set<string>();
  for (const [index, text] of tokens.entries()) {
    if (!isRoot(text) || isSelected(tokens, index)) continue;
    const name = selectedAt(tokens, index) ?? keyAt(tokens, index) ?? testedAt(tokens, index);
    if (name !== undefined && !notContent.has(name)) found.add(name);
  }
  return [...found].sort();
}

function selectedAt(tokens: readonly string[], index: number): string | undefined {
  const at = fieldAfter(tokens, index);
  // A macro or function of the whole object: `object.all(...)`.
  return at === undefined || tokens[at + 1] === '(' ? undefined : tokens[at];
}

function keyAt(tokens: readonly string[], index: number): string | undefined {
  if (tokens[index + 1] !== '[') return undefined;
  return literalOf(tokens[index + 2] === '?' ? tokens[index + 3] : tokens[index + 2]);
}

function testedAt(tokens: readonly string[], index: number): string | undefined {
  return tokens[index - 1] === 'in' ? literalOf(tokens[index - 2]) : undefined;
}
