import type { Json } from '#util/json.ts';
import { type FieldError, invalidField } from '../status/field-error.ts';

/** A number of pods, or a percentage: `25%`. */
export function shareErrors(share: Json | undefined, at: string): readonly FieldError[] {
  if (typeof share === 'number')
    return share >= 0 ? [] : [invalidField(at, share, 'must be greater than or equal to 0')];
  if (/^\d+%$/.test(String(share))) return [];
  const detail =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidField(at, share, detail)];
}

/** A percentage up to 100%. */
export function shareOfAllErrors(share: Json | undefined, at: string): readonly FieldError[] {
  const isTooMuch =
    typeof share === 'string' && /^\d+%$/.test(share) && Number.parseInt(share, 10) > 100;
  return isTooMuch ? [invalidField(at, share, 'must not be greater than 100%')] : [];
}

/** The number or the percentage as a number; 0 for an invalid value. */
export function shareSize(share: Json | undefined): number {
  if (typeof share === 'number') return share;
  return /^\d+%?$/.test(String(share)) ? Number.parseInt(String(share), 10) : 0;
}
