import { optionalSteps, type SchemaType } from '../schema/schema-type.ts';

/**
 * What makes sure of an optional field, as the end of a hint: `give the field a default`. A default below an object that may be missing does
 * not apply, so such an object needs one, too.
 */
export function defaultAdvice(root: SchemaType, path: readonly string[]): string {
  const steps = optionalSteps(root, path).map((each) => each.join('.'));
  const isField = steps.length === 1 && steps[0] === path.join('.');
  if (isField || steps.length === 0) return 'give the field a default';
  return `give ${steps.map((each) => `"${each}"`).join(' and ')} a default`;
}
