import type { Finding } from '../../definition/index.ts';
import type { Slot } from './template.ts';

/** Where a character of a slot's leaf stands; of keys only the beginning is known. */
export function positionInLeaf(slot: Slot, offset: number): Required<Pick<Finding, 'path' | 'at'>> {
  return { path: slot.pointer, at: slot.role === 'key' ? 'key' : offset };
}
