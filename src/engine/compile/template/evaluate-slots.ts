import {
  boundedText,
  type Expression,
  roundedNumber,
  type Scope,
  shortSource,
} from '../language/index.ts';
import { coerce } from './coerce.ts';
import { MissingInput, RenderError, renderErrorOf } from './render-error.ts';
import type { Slot } from './template.ts';
import { describeFound, missingValue } from './values.ts';

const emptyList: readonly unknown[] = Object.freeze([]);

export interface SlotOptions {
  readonly scope: Scope;
  /** May messages quote values? */
  readonly quotes: boolean;
  /** A missing value is an error instead of omitting its field, except for `${? }`. @default false */
  readonly isStrict?: boolean;
  /** Decides about missing values. @default undefined: a field without a value is omitted */
  readonly missing?: MissingHandler;
}

/** Is called for slots that need a value: not for `${? }`. */
export interface MissingHandler {
  /** May throw, in place of omitting the field. */
  evaluated(slot: Slot, value: unknown): Promise<void>;
  /** A part of a value is missing: the error to throw. */
  failed(slot: Slot, error: RenderError): Promise<Error>;
}

/**
 * Evaluates all slots of a template sequentially and coerces the values to their types. Undefined: the field is omitted.
 * @throws RenderError
 */
export async function evaluateSlots(
  slots: readonly Slot[],
  options: SlotOptions,
): Promise<readonly unknown[]> {
  const { budget } = options.scope;
  const values: unknown[] = [];
  for (const slot of slots) {
    if (budget?.shouldPause === true && values.length > 0) await budget.pause();
    values.push(await evaluateSlot(slot, options));
  }
  return values;
}

async function evaluateSlot(slot: Slot, options: SlotOptions): Promise<unknown> {
  const { leaf } = slot;
  try {
    const value =
      leaf.kind === 'text'
        ? await textOf(slot, leaf.parts, options.scope)
        : await leaf.expression.evaluate(options.scope);
    if (!isOptional(slot)) await options.missing?.evaluated(slot, value);
    return finish(slot, value, options);
  } catch (error) {
    if (error instanceof MissingInput) throw error;
    const failure = renderErrorOf(error, slot.place);
    throw await explained(slot, failure, options);
  }
}

/** The error, as the handler sees it. */
export async function explained(
  slot: Slot | undefined,
  error: RenderError,
  { missing }: Pick<SlotOptions, 'missing'>,
): Promise<Error> {
  const isMissing = error.code === 'missing-value' && !error.isExplained;
  return isMissing && slot !== undefined && missing ? missing.failed(slot, error) : error;
}

async function textOf(
  slot: Slot,
  parts: readonly (string | Expression)[],
  scope: Scope,
): Promise<string> {
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : await part.evaluate(scope);
    if (typeof value === 'string') text += value;
    else if (typeof value === 'number') text += String(roundedNumber(value));
    else if (typeof value === 'boolean' || typeof value === 'bigint') text += String(value);
    else throw badPart(slot, part, value);
    boundedText(text);
  }
  return text;
}

function badPart(slot: Slot, part: string | Expression, value: unknown): RenderError {
  const name = typeof part === 'object' ? shortSource(part.source) : '';
  if (value === undefined) {
    return new RenderError('missing-value', `Missing value "${name}"`, slot.place);
  }
  const found = describeFound(value, false);
  const message = `Expected a string, a number or a boolean from "${name}", found ${found}`;
  return new RenderError('wrong-type', message, slot.place);
}

function finish(slot: Slot, value: unknown, options: SlotOptions): unknown {
  if (value === undefined && options.isStrict === true && !isOptional(slot)) {
    throw new RenderError('missing-value', missingValue(slot), slot.place);
  }
  switch (slot.role) {
    case 'key':
      return finishKey(slot, value, options);
    case 'spread':
      if (value === undefined) return emptyList;
      return Array.isArray(value)
        ? value.map((item) => coerced(slot, item, options))
        : [coerced(slot, value, options)];
    case 'value':
      if (value !== undefined) return coerced(slot, value, options);
      return slot.type?.kind === 'list' && !isOptional(slot) ? emptyList : undefined;
  }
}

function finishKey(slot: Slot, value: unknown, { quotes }: SlotOptions): string | undefined {
  if (value === undefined && isOptional(slot)) return undefined;
  if (value === undefined) {
    throw new RenderError('missing-value', 'Missing value of a key', slot.place);
  }
  if (typeof value !== 'string' || value === '__proto__') {
    const message = `Expected a string as the key, found ${describeFound(value, quotes)}`;
    throw new RenderError('wrong-type', message, slot.place);
  }
  return value;
}

function isOptional({ leaf }: Slot): boolean {
  return leaf.kind === 'value' && leaf.mode === 'optional';
}

function coerced(slot: Slot, value: unknown, { quotes }: SlotOptions): unknown {
  return coerce(value, { type: slot.type, field: slot.place.field, quotes });
}
