import type { Finding } from '#definition';
import { shortSource } from '../language/index.ts';
import type { Slot } from './template.ts';

const maxQuotedLength = 60;

/** Describes a value for a message: short scalars in quotes; other values, and all values of Secrets, by type. */
export function describeFound(value: unknown, quotes: boolean): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  const text = String(value);
  if (quotes && text.length <= maxQuotedLength && !/[\r\n]/.test(text)) return `"${text}"`;
  return { string: 'a string', boolean: 'a boolean' }[typeof value as string] ?? 'a number';
}

/** The message for a slot without a result: `Missing value "spec.on"`. */
export function missingValue(slot: Slot | undefined): string {
  if (slot?.leaf.kind !== 'value') return 'Missing value';
  return `Missing value "${shortSource(slot.leaf.expression.source)}"`;
}

/** The position of a character in the leaf of a slot. For keys only the start is known. */
export function positionInLeaf(slot: Slot, offset: number): Required<Pick<Finding, 'path' | 'at'>> {
  return { path: slot.pointer, at: slot.role === 'key' ? 'key' : offset };
}

/** The display name of a nested field: `spec.containers[0].image`, `metadata.labels["example.com/app"]`. */
export function fieldBelow(field: string, step: string | number): string {
  if (typeof step === 'number') return `${field}[${step}]`;
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) return `${field}["${step}"]`;
  return field === '' ? step : `${field}.${step}`;
}

/** As {@link fieldBelow}, for a computed key, which is quoted only if values may be quoted. */
export function fieldBelowKey(field: string, key: string, quotes: boolean): string {
  return quotes ? fieldBelow(field, key) : `${field}[*]`;
}
