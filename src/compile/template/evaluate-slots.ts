import { type Expression, type Scope, shortSource } from '../language/index.ts';
import { fit } from './fit.ts';
import { describeFound } from './found-value.ts';
import { missingValue } from './missing-value.ts';
import { RenderError, renderErrorOf } from './render-error.ts';
import type { Slot } from './template.ts';
import { then } from './then.ts';

/** Characters of a text that is put together of parts. */
const longestText = 256 * 1024;
const emptyList: readonly unknown[] = Object.freeze([]);

export interface SlotOptions {
  readonly scope: Scope;
  /** May messages quote values? */
  readonly quotes: boolean;
  /** Is a missing value an error instead of leaving its field out? `${? }` stays optional. @default false */
  readonly isStrict?: boolean;
}

/**
 * Evaluates all slots of a template to values that fit their fields; undefined means that the field is left out.
 * Synchronous as long as all expressions are.
 * @throws RenderError (also as a rejection)
 */
export function evaluateSlots(
  slots: readonly Slot[],
  options: SlotOptions,
): readonly unknown[] | Promise<readonly unknown[]> {
  const values = new Array<unknown>(slots.length);
  const work: SlotWork = { slots, options, values, pending: [], isPaused: false };
  try {
    const paused = evaluateFrom(work, 0);
    if (paused !== undefined) {
      work.isPaused = true;
      work.pending.push(paused);
    }
  } catch (error) {
    // Those that are under way have nobody else to listen to them.
    void Promise.allSettled(work.pending);
    throw error;
  }
  const { pending } = work;
  if (pending.length === 0) return values;
  return (work.isPaused ? allOf(pending) : Promise.all(pending)).then(() => values);
}

interface SlotWork {
  readonly slots: readonly Slot[];
  readonly options: SlotOptions;
  readonly values: unknown[];
  /** Grows while the event loop has its turn. */
  readonly pending: Promise<void>[];
  isPaused: boolean;
}

/** Evaluates the slots from there on; goes on later where the event loop is to have its turn. */
function evaluateFrom(work: SlotWork, from: number): Promise<void> | undefined {
  const { slots, options, values, pending } = work;
  const { budget } = options.scope;
  for (let index = from; index < slots.length; index++) {
    if (budget?.isDue === true && index > from) {
      return budget.pause().then(() => evaluateFrom(work, index));
    }
    const value = evaluateSlot(slots[index] as Slot, options);
    if (value instanceof Promise) {
      const settling = value.then((settled) => {
        values[index] = settled;
      });
      // Another one may have failed by now, so that nobody listens any more.
      if (from > 0) settling.catch(() => undefined);
      pending.push(settling);
    } else values[index] = value;
  }
  return undefined;
}

/** Waits for what is added meanwhile, too. */
async function allOf(pending: readonly Promise<void>[]): Promise<void> {
  for (let known = 0; known < pending.length; ) {
    known = pending.length;
    await Promise.all(pending);
  }
}

function evaluateSlot(slot: Slot, options: SlotOptions): unknown {
  const { leaf } = slot;
  if (leaf.kind === 'text') {
    return then(evaluateParts(slot, leaf.parts, options), (text) => finish(slot, text, options));
  }
  return then(evaluate(leaf.expression, slot, options), (value) => finish(slot, value, options));
}

function evaluate(expression: Expression, slot: Slot, { scope }: SlotOptions): unknown {
  try {
    const value = expression.evaluate(scope);
    if (!(value instanceof Promise)) return value;
    return value.catch((error: unknown) => {
      throw renderErrorOf(error, slot.place);
    });
  } catch (error) {
    throw renderErrorOf(error, slot.place);
  }
}

function evaluateParts(
  slot: Slot,
  parts: readonly (string | Expression)[],
  options: SlotOptions,
): string | Promise<string> {
  const values: unknown[] = [];
  try {
    for (const part of parts) {
      values.push(typeof part === 'string' ? part : evaluate(part, slot, options));
    }
  } catch (error) {
    void Promise.allSettled(values);
    throw error;
  }
  const join = (settled: readonly unknown[]) => joinParts(slot, parts, settled);
  return values.some((value) => value instanceof Promise)
    ? Promise.all(values).then(join)
    : join(values);
}

function joinParts(
  slot: Slot,
  parts: readonly (string | Expression)[],
  values: readonly unknown[],
): string {
  let text = '';
  for (const [index, value] of values.entries()) {
    if (typeof value === 'string') text += value;
    else if (typeof value === 'number' || typeof value === 'boolean') text += String(value);
    else throw badPart(slot, parts[index], value);
    if (text.length > longestText) {
      const message = `Expected a text of at most ${longestText} characters`;
      throw new RenderError('limit-reached', message, slot.place);
    }
  }
  return text;
}

function badPart(slot: Slot, part: string | Expression | undefined, value: unknown): RenderError {
  const name = typeof part === 'object' ? shortSource(part.source) : '';
  if (value === undefined) {
    return new RenderError('missing-value', `Missing value "${name}"`, slot.place);
  }
  const found = describeFound(value, false);
  const message = `Expected a text, a number or a boolean from "${name}", found ${found}`;
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
        ? value.map((item) => fitted(slot, item, options))
        : [fitted(slot, value, options)];
    case 'value':
      if (value !== undefined) return fitted(slot, value, options);
      return slot.type?.kind === 'list' && !isOptional(slot) ? emptyList : undefined;
  }
}

function finishKey(slot: Slot, value: unknown, { quotes }: SlotOptions): string | undefined {
  if (value === undefined && isOptional(slot)) return undefined;
  if (value === undefined) {
    throw new RenderError('missing-value', 'Missing value of the key', slot.place);
  }
  if (typeof value !== 'string' || value === '__proto__') {
    const message = `Expected a text as the key, found ${describeFound(value, quotes)}`;
    throw new RenderError('wrong-type', message, slot.place);
  }
  return value;
}

function isOptional({ leaf }: Slot): boolean {
  return leaf.kind === 'value' && leaf.mode === 'optional';
}

function fitted(slot: Slot, value: unknown, { quotes }: SlotOptions): unknown {
  try {
    return fit(value, { type: slot.type, field: slot.place.field, quotes });
  } catch (error) {
    throw renderErrorOf(error, slot.place);
  }
}
