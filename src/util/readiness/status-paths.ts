import type { Gvk } from '../gvk.ts';
import { readinessRules } from './rules.ts';

/** Looked at for every kind. */
const commonStatusFields = ['observedGeneration', 'conditions'];

/** The paths below `status` that `readinessOf` looks at: a change elsewhere in the status cannot change its answer. */
export function statusPathsOfReadiness({ group, kind }: Gvk): readonly (readonly string[])[] {
  const own = readinessRules.get(`${group}/${kind}`)?.statusFields ?? [];
  return [...commonStatusFields, ...own].map((field) => ['status', field]);
}
