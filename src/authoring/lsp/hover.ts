import { placeAt } from '#definition';
import { expressionCursor } from './cursor.ts';
import { expressionScope } from './expression-scope.ts';
import type { Knowledge } from './knowledge.ts';
import { describeField, describeName } from './markdown.ts';
import { documentAt, type ParsedDocument, type ParsedText } from './parsed-text.ts';
import { schemaAt } from './places.ts';

/** What is known about the text at an offset, as Markdown, with the offsets of the word. */
export interface Description {
  readonly markdown: string;
  readonly start: number;
  readonly end: number;
}

/** Describes the field, the name or the function at an offset. Undefined: nothing is known. */
export function describe(
  parsed: ParsedText,
  offset: number,
  knowledge: Knowledge,
): Description | undefined {
  const document = documentAt(parsed, offset);
  if (document === undefined) return undefined;
  return (
    (parsed.isSample ? undefined : describeExpression(parsed, offset, { document, knowledge })) ??
    describePlace(document, offset, knowledge)
  );
}

function describeExpression(
  parsed: ParsedText,
  offset: number,
  { document, knowledge }: { readonly document: ParsedDocument; readonly knowledge: Knowledge },
): Description | undefined {
  const cursor = expressionCursor(parsed, offset);
  if (cursor === undefined || cursor.name.text === '') return undefined;
  const { name, expression, steps } = cursor;
  const { text, base, start, end } = name;
  const scope = expressionScope(document, steps, knowledge.kinds);
  const path = base && [...base, text];
  const node = path && scope?.resolve(path);
  const isField = node !== undefined && !text.startsWith('$');
  if (isField && !name.isHelper)
    return { markdown: describeField(path?.join('.') ?? text, node), start, end };
  const isHandlebars = expression.language === 'handlebars';
  const known = knowledge.names.find(
    (each) => each.name === text && (each.kind === 'helper') === isHandlebars,
  );
  if (known !== undefined) return { markdown: describeName(known), start, end };
  return isField
    ? { markdown: describeField(path?.join('.') ?? text, node), start, end }
    : undefined;
}

function describePlace(
  document: ParsedDocument,
  offset: number,
  { kinds }: Knowledge,
): Description | undefined {
  const { tree } = document;
  const place = tree && placeAt(tree, offset);
  if (place === undefined || (place.at === 'value' && place.node?.kind !== 'scalar'))
    return undefined;
  const { steps } = place;
  const node = schemaAt(document, steps, kinds);
  const name = steps.findLast((step) => !/^\d+$/.test(step));
  if (node === undefined || name === undefined) return undefined;
  return { markdown: describeField(name, node), start: place.start, end: place.end };
}
