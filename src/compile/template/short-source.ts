import type { Slot } from './template.ts';

const longest = 80;

/** An expression in one line, for messages. */
export function shortSource(source: string): string {
  const line = source.replaceAll(/\s+/g, ' ');
  return line.length <= longest ? line : `${line.slice(0, longest - 3)}...`;
}

/** `Missing value "spec.on"`: of a slot without a result. */
export function missingValue(slot: Slot | undefined): string {
  if (slot?.leaf.kind !== 'value') return 'Missing value';
  return `Missing value "${shortSource(slot.leaf.expression.source)}"`;
}
