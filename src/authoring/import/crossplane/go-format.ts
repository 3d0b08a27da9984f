import { level, operand } from '../cel/jsonata.ts';
import { isInteger, shapeOf, textType } from '../cel/value-type.ts';
import type { Part } from '../template-text.ts';
import { derived, textValue, type Value } from './value.ts';

/** A text of Go's `fmt` with its values. A string: why it has no equivalent. */
export function formatText(format: string, values: readonly Value[]): Value | string {
  const parts: Part[] = [];
  const used = new Set<Value>();
  let next = 0;
  for (const [piece] of format.matchAll(/%%|%[^a-zA-Z%]*[a-zA-Z]|[^%]+|%/g)) {
    if (!piece.startsWith('%') || piece === '%%') {
      parts.push(piece === '%%' ? '%' : piece);
      continue;
    }
    const [, index] = /^%\[(\d+)\]/.exec(piece) ?? [];
    const position = index === undefined ? next : Number(index) - 1;
    next = position + 1;
    const value = values[position];
    if (value === undefined) return `"${format}" needs more values than there are`;
    const part = formatted(piece.replace(/\[\d+\]/, ''), value);
    if (typeof part === 'string') return part;
    used.add(value);
    parts.push(part);
  }
  if (used.size < new Set(values).size) return `"${format}" does not use all values`;
  return textValue(merged(parts), values);
}

/** One verb. A string: why it has no equivalent. */
function formatted(verb: string, value: Value): Value | string {
  const shape = shapeOf(value.type);
  if (shape === 'list' || shape === 'map')
    return `"${verb}" writes a ${shape} in the notation of Go`;
  if (/^%[sdvt]$/.test(verb)) return value;
  if (verb === '%q') return derived(value, `$json(${value.text})`, textType);
  if (verb === '%x' || verb === '%X')
    return isInteger(value.type)
      ? derived(value, `$formatBase(${value.text}, 16)`, textType)
      : `"${verb}" is converted for integers only`;
  const [, zero, width] = /^%(0?)(\d+)d$/.exec(verb) ?? [];
  if (width !== undefined) {
    const fill = zero === '' ? ' ' : '0';
    return derived(value, `$pad($string(${value.text}), -${width}, "${fill}")`, textType);
  }
  const [, digits] = /^%\.(\d)f$/.exec(verb) ?? [];
  if (digits === undefined) return `"${verb}" has no equivalent`;
  const picture = Number(digits) === 0 ? '0' : `0.${'0'.repeat(Number(digits))}`;
  return derived(value, `$formatNumber(${operand(value, level.sum)}, "${picture}")`, textType);
}

/** Neighbouring literals as one. */
function merged(parts: readonly Part[]): readonly Part[] {
  const all: Part[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (typeof part === 'string' && typeof last === 'string') all[all.length - 1] = last + part;
    else all.push(part);
  }
  return all;
}
