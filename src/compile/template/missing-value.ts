import { shortSource } from '../language/index.ts';
import type { Slot } from './template.ts';

/** `Missing value "spec.on"`: of a slot without a result. */
export function missingValue(slot: Slot | undefined): string {
  if (slot?.leaf.kind !== 'value') return 'Missing value';
  return `Missing value "${shortSource(slot.leaf.expression.source)}"`;
}
