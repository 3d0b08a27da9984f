import {
  fieldsOf,
  isRequired,
  type LanguageName,
  literal,
  type SchemaNode,
  throughLists,
  typesOf,
  typeText,
  valuesOf,
} from '#compile';
import { definitionKind, nodeAtSteps, standardStatusSchemas } from '#definition';
import { codeScope } from './code-scope.ts';
import {
  codeCursor,
  type ExpressionCursor,
  expressionCursor,
  isInExpression,
  type YamlCursor,
  yamlCursor,
} from './cursor.ts';
import { type ExpressionScope, expressionScope } from './expression-scope.ts';
import type { Knowledge } from './knowledge.ts';
import { describeField, describeName } from './markdown.ts';
import {
  documentAt,
  isOwnText,
  type ParsedDocument,
  type ParsedText,
  parseText,
} from './parsed-text.ts';
import { schemaAt } from './places.ts';
import { CompletionItemKind } from './protocol.ts';
import { suggestedValues } from './suggested-values.ts';

/** A text that can be inserted. */
export interface Proposal {
  readonly label: string;
  readonly kind: CompletionItemKind;
  /** Type or signature, on one line. */
  readonly detail: string;
  /** Markdown. */
  readonly documentation: string;
  /** What takes the place of the word. */
  readonly text: string;
  /** Proposals are shown by rank, then by name. */
  readonly rank: number;
  /** Whether there are proposals for what follows the inserted text. */
  readonly isContinued?: boolean;
}

/** What can be written at an offset. `start` and `end` are the offsets of the word that a proposal replaces. */
export interface Proposals {
  readonly start: number;
  readonly end: number;
  readonly proposals: readonly Proposal[];
}

/** Functions whose result is not the same each time. */
const varying: ReadonlySet<string> = new Set(['$now', '$randomString']);

const nothing: Proposals = { start: 0, end: 0, proposals: [] };

/** Proposes what can be written at an offset. The text need not be valid. */
export function complete(parsed: ParsedText, offset: number, knowledge: Knowledge): Proposals {
  if (!parsed.isSample && !isOwnText(parsed.text)) return nothing;
  if (!parsed.isSample && isInExpression(parsed, offset)) {
    const document = documentAt(parsed, offset);
    return document === undefined
      ? nothing
      : completeExpression(parsed, offset, { document, knowledge });
  }
  const inCode = completeCode(parsed, offset, knowledge);
  if (inCode !== undefined) return inCode;
  const { text } = parsed;
  const cursor = yamlCursor(text, offset);
  if (cursor === undefined) return nothing;
  const { start, end } = cursor;
  const isUnfinished = cursor.at === 'key' && !cursor.isFlow && !hasColon(text, end);
  const document = documentAt(isUnfinished ? withKey(parsed, end) : parsed, offset);
  if (document === undefined) return nothing;
  const proposals =
    cursor.at === 'key'
      ? proposeKeys(cursor, text, { document, knowledge })
      : proposeValues(cursor.steps, { document, knowledge });
  return { start, end, proposals };
}

/** A key without a colon makes the parser misread what follows. */
function withKey({ text, isSample, documents }: ParsedText, end: number): ParsedText {
  const repaired = parseText(`${text.slice(0, end)}x:${text.slice(end)}`, isSample);
  return repaired.documents.length < documents.length ? { ...repaired, documents } : repaired;
}

function hasColon(text: string, end: number): boolean {
  return /^["']?[ \t]*:/.test(text.slice(end));
}

interface Context {
  readonly document: ParsedDocument;
  readonly knowledge: Knowledge;
}

function proposeKeys(
  { container, siblings, isFlow, start, end }: Extract<YamlCursor, { at: 'key' }>,
  text: string,
  { document, knowledge }: Context,
): readonly Proposal[] {
  const node = schemaAt(document, container, knowledge.kinds);
  if (node === undefined) return [];
  const fields = fieldsOf(node);
  // In place of a key the value of the map itself can be meant: an item of a list, a value on its own line.
  if (fields.size === 0)
    return siblings.length === 0 ? proposeValues(container, { document, knowledge }) : [];
  const map = nodeAtSteps(document.tree, container);
  const following = map?.kind === 'map' ? map.entries.filter(({ keyStart }) => keyStart > end) : [];
  const taken = new Set([...siblings, ...following.map(({ key }) => key)]);
  const isKey = hasColon(text, end);
  const column = start - (text.lastIndexOf('\n', start - 1) + 1);
  // An entry of `after` is an id or a map.
  const isValue = siblings.length === 0 && !isKey && typesOf(node).includes('string');
  const values = isValue ? proposeValues(container, { document, knowledge }) : [];
  const keys = [...fields]
    .filter(([name]) => !taken.has(name) && !isRejected(document, [...container, name]))
    .map(([name, field]) => ({
      ...fieldProposal(name, field),
      rank: isRequired(node, name) ? 0 : 1,
      text: isKey ? name : `${name}:${isFlow ? ' ' : beginningOf(field, column)}`,
      isContinued: !isKey && hasContent([...container, name], field, { document, knowledge }),
    }));
  return [...values, ...keys];
}

/** Whether something can be proposed for the value of a field: a value, or a field of the map or the items. */
function hasContent(
  steps: readonly string[],
  field: SchemaNode,
  { document, knowledge }: Context,
): boolean {
  return (
    valuesOf(field).length > 0 ||
    fieldsOf(throughLists(field)).size > 0 ||
    suggestedValues(document, steps, knowledge.kinds).length > 0
  );
}

/** Fields of the schemas that a definition or a sample cannot have. */
function isRejected({ kind }: ParsedDocument, steps: readonly string[]): boolean {
  // The operator writes it.
  if (kind === 'Object') return steps.length === 1 && steps[0] === 'status';
  if (kind !== definitionKind) return false;
  const [, section = '', field = ''] = steps;
  return section === 'status' && Object.hasOwn(standardStatusSchemas, field);
}

/** How the value of a field begins; `column` is that of its key. */
function beginningOf(field: SchemaNode, column: number): string {
  const indent = ' '.repeat(column + 2);
  const [type, ...others] = typesOf(field);
  if (others.length > 0) return ' ';
  if (type === 'object') return `\n${indent}`;
  return type === 'array' ? `\n${indent}- ` : ' ';
}

function proposeValues(
  steps: readonly string[],
  { document, knowledge }: Context,
): readonly Proposal[] {
  const node = schemaAt(document, steps, knowledge.kinds);
  const suggested = suggestedValues(document, steps, knowledge.kinds);
  const allowed = node === undefined ? [] : valuesOf(node).map(literal);
  const byDefault = node?.schema.default;
  const values = suggested.length > 0 ? suggested : allowed;
  const documentation = node === undefined ? '' : describeField(steps.at(-1) ?? '', node);
  return values.map((value) => ({
    label: value,
    kind: CompletionItemKind.Value,
    detail: byDefault !== undefined && literal(byDefault) === value ? 'default' : '',
    documentation,
    text: value,
    rank: 1,
  }));
}

function completeExpression(
  parsed: ParsedText,
  offset: number,
  { document, knowledge }: Context,
): Proposals {
  const cursor = expressionCursor(parsed, offset);
  if (cursor === undefined) return nothing;
  const scope = expressionScope(document, cursor.steps, knowledge.kinds);
  return scope === undefined ? nothing : completeName(cursor, scope, knowledge);
}

/** Code of an object behind HTTP: `$( … )`. Undefined: the offset is in none. */
function completeCode(
  parsed: ParsedText,
  offset: number,
  knowledge: Knowledge,
): Proposals | undefined {
  const cursor = codeCursor(parsed, offset);
  const document = cursor && documentAt(parsed, offset);
  const scope = document && codeScope(document, cursor.steps);
  if (cursor === undefined || scope === undefined) return undefined;
  // Equal answers have equal results, so code has no time and no random values.
  const names = knowledge.names.filter(({ name }) => !varying.has(name));
  return completeName(cursor, scope, { ...knowledge, names });
}

function completeName(
  { name, expression }: ExpressionCursor,
  scope: ExpressionScope,
  knowledge: Knowledge,
): Proposals {
  const { start, end, base } = name;
  if (base === undefined) return nothing;
  if (base.length > 0) {
    const node = scope.resolve(base);
    return {
      start,
      end,
      proposals: node === undefined ? [] : proposeFields(node, expression.language),
    };
  }
  const isHandlebars = expression.language === 'handlebars';
  const names = knowledge.names.filter(({ kind }) => (kind === 'helper') === isHandlebars);
  const known = names
    .filter((each) => isUsable(each, scope) && (!isHandlebars || name.isHelper))
    .map(nameProposal);
  const fields = [...scope.root].map(([field, node]) => fieldProposal(field, node));
  const isVariable = name.text.startsWith('$');
  return { start, end, proposals: isVariable ? known : [...fields, ...known] };
}

function isUsable({ kind, name }: LanguageName, { variables }: ExpressionScope): boolean {
  return kind !== 'variable' || variables.has(name);
}

function proposeFields(node: SchemaNode, language: 'jsonata' | 'handlebars'): readonly Proposal[] {
  return [...fieldsOf(throughLists(node))].map(([name, field]) => ({
    ...fieldProposal(name, field),
    text: language === 'handlebars' || /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``,
  }));
}

function fieldProposal(name: string, field: SchemaNode): Proposal {
  return {
    label: name,
    kind: CompletionItemKind.Field,
    detail: typeText(field),
    documentation: describeField(name, field),
    text: name,
    rank: 1,
  };
}

function nameProposal(name: LanguageName): Proposal {
  const isVariable = name.kind === 'variable';
  return {
    label: name.name,
    kind: isVariable ? CompletionItemKind.Variable : CompletionItemKind.Function,
    detail: name.call,
    documentation: describeName(name),
    text: name.name,
    rank: 2,
  };
}
