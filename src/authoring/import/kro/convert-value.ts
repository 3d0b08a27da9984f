import type { SchemaType } from '#compile';
import { isJsonObject, type Json, pointerTo } from '#util/json.ts';
import { NoEquivalentError } from '../cel/cel-context.ts';
import { convertCel } from '../cel/convert-cel.ts';
import { textType } from '../cel/value-type.ts';
import { escapedText, literalText, type Part, templateText } from '../template-text.ts';
import { referencesOf } from './references.ts';
import { celContext, type GraphContext, type Variables } from './scope.ts';
import { invalidCel, type Piece, piecesOf } from './text-pieces.ts';

/** Where a value is in the source. */
export interface ValuePlace {
  /** `resources.web.template.spec` */
  readonly name: string;
  readonly pointer: string;
}

export interface Converted {
  readonly value: Json;
  readonly type: SchemaType;
}

/** The place of a field or an item. */
export function below({ name, pointer }: ValuePlace, key: string | number): ValuePlace {
  const suffix = typeof key === 'number' ? `[${key}]` : `.${key}`;
  return { name: `${name}${suffix}`, pointer: pointerTo(pointer, key) };
}

/**
 * Converts a tree whose texts contain CEL to one with JSONata. Each text with expressions is in the report; one that has no equivalent is
 * not in the result.
 */
export function convertValue(
  value: unknown,
  place: ValuePlace,
  variables: Variables,
  context: GraphContext,
): Json | undefined {
  if (typeof value === 'string') {
    const notes = unawaited(value, context);
    return convertText(value, place, variables, context, notes)?.value;
  }
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => {
      const converted = convertValue(item, below(place, index), variables, context);
      return converted === undefined ? [] : [converted];
    });
  if (!isJsonObject(value)) return value as Json;
  const entries = Object.entries(value).flatMap(([key, each]) => {
    const converted = convertValue(each, below(place, key), variables, context);
    return converted === undefined ? [] : [[escapedText(key), converted] as const];
  });
  return Object.fromEntries(entries);
}

/** Undefined: it has no equivalent, which is in the report. */
export function convertText(
  text: string,
  place: ValuePlace,
  variables: Variables,
  context: GraphContext,
  differences: Iterable<string> = [],
): Converted | undefined {
  const pieces = piecesOf(text);
  if (!pieces.some(({ kind }) => kind === 'expression'))
    return { value: literalText(text), type: textType };
  const notes = new Set(differences);
  const parts: Part[] = [];
  for (const piece of pieces) {
    const part = convertPiece(piece, { place, variables, context, notes });
    if (part === undefined) return undefined;
    parts.push(part);
  }
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object' && only.presence === 'zero')
    notes.add('0 while the field has no value');
  context.report.converted(place, notes);
  return { value: templateText(parts), type: typeOf(parts) };
}

/** A read has no readiness that a child could wait for. In a text, a missing part is an error that is tried again. */
function unawaited(text: string, { parse, resources }: GraphContext): readonly string[] {
  const [piece, ...others] = piecesOf(text);
  if (piece?.kind !== 'expression' || others.length > 0) return [];
  const parsed = parse(piece.cel);
  const references = 'node' in parsed ? referencesOf(parsed.node) : [];
  const isAwaited = references.some(
    ({ variable, path: [first], isRequired }) =>
      isRequired &&
      first !== undefined &&
      first !== 'metadata' &&
      resources.get(variable)?.role === 'read',
  );
  return isAwaited ? ['left out while the object lacks the field, for which kro waits'] : [];
}

interface PieceContext {
  readonly place: ValuePlace;
  readonly variables: Variables;
  readonly context: GraphContext;
  readonly notes: Set<string>;
}

function convertPiece(
  piece: Piece,
  { place, variables, context, notes }: PieceContext,
): Part | undefined {
  if (piece.kind === 'literal') return piece.text;
  const { cel, offset } = piece;
  const parsed = context.parse(cel);
  if (!('node' in parsed)) {
    context.report.leftOut(
      { ...place, offset: offset + parsed.offset },
      invalidCel(parsed.problem),
    );
    return undefined;
  }
  const own = { ...celContext(variables, context), notes };
  try {
    const result = convertCel(parsed.node, own);
    // A text in an expression is how kro writes "${" itself.
    return typeof result.literal === 'string' ? result.literal : result;
  } catch (error) {
    if (!(error instanceof NoEquivalentError)) throw error;
    context.report.leftOut({ ...place, offset: offset + error.offset }, error.message, error.hint);
    return undefined;
  }
}

/** One expression gives its own value, several parts a text. */
function typeOf(parts: readonly Part[]): SchemaType {
  const [only] = parts;
  return parts.length === 1 && typeof only === 'object' ? only.type : textType;
}
